/* daemon/boards.c -- the boards as JSON, for stats. */
#include "daemon/daemon.h"

#include "measure/board/sandbox.h"

void hn_board_write_probe(const struct hn_probe_result *p, struct hn_jw *w)
{
	char layers[64];

	hn_jw_object(w, "probe");
	hn_jw_str(w, "sandbox", hn_sandbox_print(p->sandbox, layers, sizeof layers));
	hn_jw_double(w, "fma_gflops_one", p->fma_gflops_one);
	hn_jw_double(w, "fma_gflops_all", p->fma_gflops_all);
	hn_jw_double(w, "memory_gb_s", p->memory_gb_s);
	hn_jw_double(w, "fork_join_ns", p->fork_join_ns);
	hn_jw_double(w, "timer_ns", p->timer_ns);
	hn_jw_list(w, "levels");
	for (uint32_t i = 0; i < p->n_level; i++) {
		hn_jw_object(w, NULL);
		hn_jw_uint(w, "level", i + 1);
		hn_jw_double(w, "bytes", p->level[i].bytes);
		hn_jw_double(w, "gb_s", p->level[i].gb_s);
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

static void write_board(const struct hn_served *at, uint32_t i, struct hn_jw *w)
{
	struct hn_board_state s = hn_measurer_board(at->measurer, i);

	hn_jw_object(w, NULL);
	hn_jw_uint(w, "board", i);
	hn_jw_str(w, "target", at->name);
	hn_jw_str(w, "state", s.state);
	hn_jw_str(w, "health", s.health);
	hn_jw_str(w, "why", s.why);
	hn_jw_uint(w, "measured", s.n_measured);
	hn_jw_uint(w, "lost", s.n_lost);
	hn_jw_uint(w, "quarantined", s.n_quarantine);
	hn_jw_int(w, "retry_ms", s.retry_ms);
	hn_jw_double(w, "canary_ns", s.canary_ns);
	hn_jw_double(w, "reference_canary_ns", s.reference_ns);
	hn_jw_double(w, "canary_allowed", s.canary_allowed);
	if (s.probed) {
		hn_board_write_probe(&s.probe, w);
	}
	hn_jw_end(w);
}

static uint32_t n_live(const struct hn_served *at)
{
	uint32_t n = 0;

	for (const struct hn_job *j = at->daemon->jobs; j != NULL; j = j->next) {
		n += j->served == at && !hn_job_ended(j);
	}
	return n;
}

static void write_target(const struct hn_served *at, struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "name", at->name);
	hn_jw_str(w, "target", at->line);
	hn_jw_str(w, "board", at->board_name);
	hn_jw_uint(w, "boards", at->n_boards);
	hn_jw_uint(w, "jobs_live", n_live(at));
	hn_jw_end(w);
}

void hn_board_write_all(const struct hn_daemon *d, struct hn_jw *w)
{
	uint64_t n_by_frame = 0;

	hn_jw_list(w, "targets");
	for (uint32_t i = 0; i < d->n_served; i++) {
		write_target(&d->served[i], w);
	}
	hn_jw_end(w);
	hn_jw_list(w, "boards");
	for (uint32_t i = 0; i < d->n_served; i++) {
		const struct hn_served *at = &d->served[i];

		for (uint32_t b = 0; at->measurer != NULL && b < at->n_boards; b++) {
			write_board(at, b, w);
		}
		n_by_frame += at->measurer != NULL ? hn_measurer_n_by_frame(at->measurer) : 0;
	}
	hn_jw_end(w);
	hn_jw_uint(w, "objects_by_frame", n_by_frame);
}
