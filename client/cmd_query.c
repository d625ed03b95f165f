/* client/cmd_query.c -- `hone query`: the best known schedule, from the snapshot. */
#include <stdio.h>

#include "client/best.h"

static void put_json(const struct hn_best *best, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &best->entry;
	double ns = e->best.median_ns;

	hn_buf_printf(b, "{\"workload\":\"%s\",\"name\":", e->workload.key);
	hn_buf_json_string(b, e->workload.name);
	hn_buf_puts(b, ",\"target\":");
	hn_buf_json_string(b, best->target_line);
	hn_buf_puts(b, ",\"cache\":");
	hn_buf_json_string(b, e->workload.cache);
	hn_buf_puts(b, ",\"median_ns\":");
	hn_buf_double(b, ns);
	hn_buf_puts(b, ",\"naive_ns\":");
	hn_buf_double(b, e->naive_ns);
	hn_buf_puts(b, ",\"speedup\":");
	hn_buf_double(b, ns > 0 ? e->naive_ns / ns : 0);
	hn_buf_puts(b, ",\"flops\":");
	hn_buf_double(b, e->workload.flops);
	hn_buf_puts(b, ",\"gflops\":");
	hn_buf_double(b, ns > 0 ? e->workload.flops / ns : 0);
	hn_buf_printf(b, ",\"trials\":%u,\"failed\":%u,\"steps\":%s", e->n_trial,
		      e->n_failed, e->best.steps);
	if (e->best.in_doubt) {
		hn_buf_puts(b, ",\"damage\":");
		hn_buf_json_string(b, hn_snapshot_notice(best->snapshot));
	}
	hn_buf_puts(b, "}\n");
}

static void put_text(const struct hn_best *best, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &best->entry;
	double ns = e->best.median_ns;
	char tuned[32], naive[32];

	hn_buf_printf(b, "%s  (workload %.16s%s)\n", e->workload.name, e->workload.key,
		      hn_show_cache(e->workload.cache));
	hn_buf_printf(b, "  tuned   %s, %.1f GFLOP/s\n", hn_show_time(ns, tuned),
		      ns > 0 ? e->workload.flops / ns : 0);
	if (e->naive_ns > 0) {
		hn_buf_printf(b, "  naive   %s, %.1fx slower\n",
			      hn_show_time(e->naive_ns, naive), e->naive_ns / ns);
	}
	hn_buf_printf(b, "  trials  %u, %u failed\n  target  %s\n  steps   %s\n",
		      e->n_trial, e->n_failed, best->target_line, e->best.steps);
}

int cmd_query(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_arena a;
	struct hn_best best;
	struct hn_buf b;
	const char *key;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_input_key(o, &a, &key, err);
	if (rc == 0) {
		rc = hn_best_find(o, key, &a, &best, err);
	}
	if (rc == 0) {
		hn_buf_init(&b);
		if (o->json) {
			put_json(&best, &b);
		} else {
			put_text(&best, &b);
		}
		fwrite(b.s, 1, b.n, stdout);
		hn_buf_fini(&b);
		hn_best_close(&best);
	}
	hn_arena_fini(&a);
	return rc;
}
