/* daemon/boards.c -- the boards as JSON, for stats. */
#include "daemon/daemon.h"

#include "measure/sandbox.h"

static void put_number(struct hn_buf *b, const char *key, double v)
{
	hn_buf_printf(b, ",\"%s\":", key);
	hn_buf_double(b, v);
}

void hn_board_write_probe(const struct hn_probe_result *p, struct hn_buf *b)
{
	char layers[64];

	hn_buf_puts(b, ",\"probe\":{\"sandbox\":");
	hn_buf_json_string(b, hn_sandbox_print(p->sandbox, layers, sizeof layers));
	put_number(b, "fma_gflops_one", p->fma_gflops_one);
	put_number(b, "fma_gflops_all", p->fma_gflops_all);
	put_number(b, "memory_gb_s", p->memory_gb_s);
	put_number(b, "fork_join_ns", p->fork_join_ns);
	put_number(b, "timer_ns", p->timer_ns);
	hn_buf_puts(b, ",\"levels\":[");
	for (uint32_t i = 0; i < p->n_level; i++) {
		hn_buf_printf(b, "%s{\"level\":%u", i > 0 ? "," : "", i + 1);
		put_number(b, "bytes", p->level[i].bytes);
		put_number(b, "gb_s", p->level[i].gb_s);
		hn_buf_puts(b, "}");
	}
	hn_buf_puts(b, "]");
	hn_buf_puts(b, "}");
}

static void write_board(const struct hn_board_state *s, uint32_t i, struct hn_buf *b)
{
	hn_buf_printf(b, "{\"board\":%u,\"state\":\"%s\",\"health\":\"%s\",\"why\":", i,
		      s->state, s->health);
	hn_buf_json_string(b, s->why);
	hn_buf_printf(b,
		      ",\"measured\":%llu,\"lost\":%u,\"quarantined\":%u,\"retry_ms\":%lld",
		      (unsigned long long)s->n_measured, s->n_lost, s->n_quarantine,
		      (long long)s->retry_ms);
	put_number(b, "canary_ns", s->canary_ns);
	put_number(b, "reference_canary_ns", s->reference_ns);
	put_number(b, "canary_allowed", s->canary_allowed);
	if (s->probed) {
		hn_board_write_probe(&s->probe, b);
	}
	hn_buf_puts(b, "}");
}

void hn_board_write_all(const struct hn_daemon *d, struct hn_buf *b)
{
	uint32_t n = d->measurer != NULL ? hn_measurer_n_boards(d->measurer) : 0;

	hn_buf_puts(b, ",\"boards\":[");
	for (uint32_t i = 0; i < n; i++) {
		struct hn_board_state s = hn_measurer_board(d->measurer, i);

		hn_buf_puts(b, i > 0 ? "," : "");
		write_board(&s, i, b);
	}
	hn_buf_printf(b, "],\"objects_by_frame\":%llu",
		      d->measurer != NULL
			      ? (unsigned long long)hn_measurer_n_by_frame(d->measurer)
			      : 0);
}
