/* cpu_refer.c -- makes the reference that answers are compared with, in the child.
 *
 * The reference should be near the true value, so that only the kernel's rounding is judged. If
 * the naive program has a companion with sums in a wider type (board.h), the companion makes it.
 * There is one exception: the naive program leaves the range of numbers. A kernel computes in
 * the same types and has the same infinities and NaNs, but the companion may have none.
 */
#include "measure/drv/cpu_call.h"

#include <string.h>

#include "measure/board/fpenv.h"
#include "measure/board/pool.h"

/* Put the outputs of the first run where the last would have put them. */
static void copy_outputs(const struct cpu_workload *w)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output) {
			const struct hn_redzone *from =
				cpu_placed(&w->buffer[i], HN_REDZONE_EXACT);
			const struct hn_redzone *to =
				cpu_placed(&w->buffer[i], HN_REDZONE_ALIGNED);

			memmove(to->data, from->data, from->bytes);
		}
	}
}

void hn_cpu_refer_first(struct cpu_run *run, struct calling *c, double spare_ns)
{
	bool slow = c->first_ns > CPU_NAIVE_SLOW_NS;

	if (c->wide != NULL && c->raised == 0 && (!slow || spare_ns > c->first_ns)) {
		run->report->body.wide = true;
		c->fn = c->wide;
	} else if (slow) {
		copy_outputs(run->w);
		return;
	}
	cpu_last_run(run, c);
}

/* One program once, rounding to nearest (i = 0) or upwards. */
static void refer_one(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	struct calling *c = closure;

	(void)worker;
	for (int64_t i = begin; i < end; i++) {
		hn_fp_reset();
		fesetround(i == 0 ? FE_TONEAREST : FE_UPWARD);
		feclearexcept(FE_ALL_EXCEPT);
		c[i].returned = c[i].fn(c[i].args, &c[i].env);
		c[i].raised = fetestexcept(HN_FP_RANGE);
		hn_fp_reset();
	}
}

/* c[0] rounds to nearest, c[1], always the naive program, upwards. */
static void run_both(struct cpu_run *run, struct calling c[2], struct hone_pool *pool)
{
	if (pool != NULL) {
		hone_pool_run(pool, refer_one, c, 2);
	} else {
		refer_one(c, 0, 2, 0);
	}
	cpu_must_have_returned(run, &c[0]);
	cpu_must_have_returned(run, &c[1]);
}

_Noreturn void hn_cpu_refer(struct cpu_run *run, struct calling c[2],
			    struct hone_pool *pool, struct hn_arena *a)
{
	for (int i = 0; i < 2; i++) {
		void **p = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);

		for (uint32_t k = 0; k < run->w->n_tensor && i == 0; k++) {
			if (run->w->tensor[k].output) {
				p[k] = run->w->buffer[k].reference[run->set].data;
			}
		}
		c[i].args = p;
	}
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	if (c[0].wide != NULL) {
		c[0].fn = c[0].wide;
	}
	run_both(run, c, pool);
	if (c[0].wide != NULL && c[1].raised != 0) {
		c[0].fn = c[1].fn;
		refer_one(c, 0, 1, 0);
		cpu_must_have_returned(run, &c[0]);
	}
	run->report->body.raised = c[1].raised;
	run->report->body.n_sample = 0;
	cpu_finish(run, HN_VERDICT_OK, "");
}
