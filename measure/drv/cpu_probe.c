/* cpu_probe.c -- what this machine can do at most, measured in a child of its own, and
 * whether a time is within it. */
#include "measure/drv/cpu_int.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "measure/child.h"

#define PROBE_LIMIT_NS 20000000000
#define TRIES 5 /* somebody may kill it */

struct probing {
	struct hn_probe *shared;
	int32_t n_workers;
};

static void probe_child(void *ctx)
{
	struct probing *p = ctx;

	if (hn_probe_run(p->n_workers, p->shared, NULL) != 0) {
		_exit(1);
	}
}

int hn_cpu_probe(void *board, struct hn_probe *ret, struct hn_err *err)
{
	struct cpu_board *b = board;
	struct probing p = {.shared = b->probe, .n_workers = hone_pool_cpus()};
	const struct hn_child_limits limits = {.ns = PROBE_LIMIT_NS};
	struct hn_fault_end end;
	int rc, n = 0;

	do {
		rc = hn_child_run(probe_child, &p, &limits, &b->report->note, &end, err);
	} while (rc == 0 && !end.timed_out && end.status != 0 && ++n < TRIES);
	if (rc != 0) {
		return rc;
	}
	if (end.timed_out || end.status != 0) {
		return hn_fail(err, HONE_E_NO_BOARD, "probe: did not end well");
	}
	/* limits are maxima: a busy moment only makes a probe too low */
	b->peak.fma_gflops_one = fmax(b->peak.fma_gflops_one, b->probe->fma_gflops_one);
	b->peak.fma_gflops_all = fmax(b->peak.fma_gflops_all, b->probe->fma_gflops_all);
	b->peak.memory_gb_s = fmax(b->peak.memory_gb_s, b->probe->memory_gb_s);
	for (uint32_t i = 0; i < HN_PROBE_LEVELS; i++) {
		b->peak.level[i].bytes =
			fmax(b->peak.level[i].bytes, b->probe->level[i].bytes);
		b->peak.level[i].gb_s = fmax(b->peak.level[i].gb_s, b->probe->level[i].gb_s);
	}
	b->peak.n_level = b->probe->n_level > b->peak.n_level ? b->probe->n_level
							      : b->peak.n_level;
	b->peak.cache_bytes = b->probe->cache_bytes;
	b->peak.fork_join_ns = b->probe->fork_join_ns;
	b->peak.timer_ns = b->probe->timer_ns;
	b->peak.sandbox = b->sandbox;
	*ret = b->peak;
	return 0;
}

/* Narrow integers have other limits of operations, and the same of bytes. */
static struct hn_need judged(const struct cpu_workload *w)
{
	struct hn_need need = w->need;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (hn_elem_class(w->tensor[i].elem) != HN_ELEM_CLASS_FLOAT) {
			need.flops = 0;
		}
	}
	return need;
}

void hn_cpu_check_plausible(struct cpu_board *b, const struct cpu_workload *w,
			    struct hn_board_answer *ret)
{
	double ns = hn_stats_median(ret->sample_ns, ret->n_sample), least = 0;
	struct hn_need need = judged(w);
	struct hn_probe p;
	struct hn_err err;

	if (need.flops <= 0 && need.read_bytes <= 0 && need.written_bytes <= 0) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		/* not probed yet, or perhaps disturbed then */
		if ((i > 0 || b->peak.fma_gflops_one <= 0) && hn_cpu_probe(b, &p, &err) != 0) {
			return;
		}
		least = hn_plausible_least_ns(&b->peak, hone_pool_cpus(), &need);
		if (ns * HN_PLAUSIBLE_MARGIN >= least) {
			return;
		}
	}
	ret->verdict = HN_VERDICT_IMPLAUSIBLE;
	snprintf(ret->detail, sizeof ret->detail,
		 "%.0f ns for %.3g operations, %.3g bytes read and %.3g written, but this "
		 "machine takes %.0f at least",
		 ns, need.flops, need.read_bytes, need.written_bytes, least);
}
