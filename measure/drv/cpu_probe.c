/* cpu_probe.c -- measures the limits of this machine, in a child of its own, and tells whether a
 * time is within them.
 *
 * A probe takes seconds. A board process that is killed every second would never give an answer.
 * So one core is first asked, for a moment, whether it can do what the kernel's time needs of
 * each core: what it did once, it can do. Only if this does not show it, everything is probed.
 */
#include "measure/drv/cpu_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/board/child.h"

#define PROBE_LIMIT_NS 20000000000
#define TRIES 5 /* somebody may kill it */
#define SHOW_TRIES 10 /* of some three milliseconds, at most */
#define SHOW_BYTES 4096 /* a set that lies in any first level: nothing bounds it */

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

/* Integers and narrow floats have other limits of operations, and the same of bytes. */
static struct hn_need judged(const struct cpu_workload *w)
{
	struct hn_need need = w->need;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		enum hn_dtype t = w->tensor[i].elem;

		/* sums of these have instructions that do several terms at once */
		if (hn_dtype_class(t) != HN_CLASS_FLOAT || hn_dtype_is_narrow(t)) {
			need.flops = 0;
		}
	}
	return need;
}

/* What one core does in a moment, beside the time that is to be possible. */
struct showing {
	struct hn_probe *shared;
	const struct hn_need *need;
	double ns;
};

static bool is_within(const struct hn_probe *p, const struct hn_need *need, double ns)
{
	return ns * HN_PLAUSIBLE_MARGIN >= hn_plausible_least_ns(p, hone_pool_cpus(), need);
}

/* The larger of what is read and written, of each core. */
static double share_of(const struct hn_need *need)
{
	return fmax(need->read_bytes, need->written_bytes) / hone_pool_cpus();
}

/* Its figures are none that a probe would not pass: of one core, and of a set as large. */
static void show_child(void *ctx)
{
	struct showing *s = ctx;
	struct hn_probe p = *s->shared;
	size_t bytes = (size_t)share_of(s->need);
	struct hone_pool *pool;
	void *memory = NULL;

	if (hn_kernel_pool_new(1, NULL, NULL, &pool, NULL) != 0 ||
	    (p.n_level > 0 && posix_memalign(&memory, 64, bytes) != 0)) {
		_exit(1);
	}
	if (memory != NULL) {
		memset(memory, 1, bytes);
	}
	for (int i = 0; i < SHOW_TRIES && (i == 0 || !is_within(&p, s->need, s->ns)); i++) {
		p.fma_gflops_one = fmax(p.fma_gflops_one, hn_probe_fma_try(pool, 1));
		if (memory != NULL) {
			p.level[0].gb_s = fmax(p.level[0].gb_s,
					       hn_probe_read_try(pool, 1, memory, bytes));
		}
	}
	*s->shared = p;
	_exit(0);
}

/* Whether the machine showed in a moment, now or earlier, that the time is possible. */
static bool shown(struct cpu_board *b, const struct hn_need *need, double ns)
{
	const struct hn_child_limits limits = {.ns = PROBE_LIMIT_NS};
	struct showing s = {.shared = b->probe, .need = need, .ns = ns};
	double share = share_of(need);
	uint32_t n_level = share >= SHOW_BYTES ? 1 : 0;
	struct hn_fault_end end;
	struct hn_err err;

	if (share * hone_pool_cpus() >= (double)HN_PROBE_MEMORY_BYTES) {
		return false; /* the cores share memory's rate */
	}
	if (b->shown.n_level != n_level || b->shown.level[0].bytes != 2 * share) {
		b->shown = (struct hn_probe){.n_level = n_level,
					     .level[0].bytes = 2 * share /* half is read */};
	}
	if (b->shown.fma_gflops_one > 0 && is_within(&b->shown, need, ns)) {
		return true;
	}
	*b->probe = b->shown;
	if (hn_child_run(show_child, &s, &limits, &b->report->note, &end, &err) != 0 ||
	    end.timed_out || end.status != 0) {
		return false;
	}
	b->shown = *b->probe;
	return is_within(&b->shown, need, ns);
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
	if (b->peak.fma_gflops_one <= 0 && shown(b, &need, ns)) {
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
