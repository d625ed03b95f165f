/* cpu_refer_fast.c -- the reference of a workload whose naive program is slow, in the child.
 *
 * The naive program's object then holds a fast program with the same bits, for all cores and
 * lanes. It is proved to add and round in the naive order (board.h: refer). The program with
 * wider sums is of the same kind. These two make what the scalar programs make in cpu_refer.c:
 * the naive program's answer with rounding to nearest or (on further sets) upwards, with the
 * exceptions that it raised, and the reference. The naive program is only timed, by its parts
 * (parts.h) if it is long. If even the fast programs take long, only the time is made, and a
 * sample is used (cpu_sample.c).
 *
 * Lanes that a program masks off may raise exceptions that the naive program does not raise. If
 * there are some, and the naive program is not long, the naive program itself is run.
 */
#include "measure/drv/cpu_call.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/board/fpenv.h"
#include "measure/board/pool.h"

#define PART_RUNS 3	   /* the least of them counts */
#define PART_SLOW_NS 5e8   /* then one is enough */
#define ASK_NAIVE_NS 3e9   /* it may take so long to say what it raises */
#define WHOLE_NS 60e9 /* of the naive program, a core: a longer one's answers are sampled */

/* A parallel loop's iterations, in the rounding mode of the run, exceptions gathered. */
struct run_mode {
	struct hone_pool *pool; /* NULL = one thread */
	int rounding;
	_Atomic int raised;
	hone_body_fn body;
	void *closure;
};

static void run_share(void *mode, int64_t begin, int64_t end, int32_t worker)
{
	struct run_mode *m = mode;

	hn_fp_reset();
	fesetround(m->rounding);
	m->body(m->closure, begin, end, worker);
	atomic_fetch_or(&m->raised, fetestexcept(HN_FP_RANGE));
}

/* hone_env.parallel_for; loops inside of loops do not come here. */
static void run_loop(void *mode, hone_body_fn body, void *closure, int64_t n)
{
	struct run_mode *m = mode;

	atomic_fetch_or(&m->raised, fetestexcept(HN_FP_RANGE));
	m->body = body;
	m->closure = closure;
	if (m->pool != NULL) {
		hone_pool_run(m->pool, run_share, m, n);
	} else {
		run_share(m, 0, n, 0);
	}
}

/* Run it; the exceptions that it raised. */
static int run_in_mode(struct cpu_run *run, const struct calling *c, packed_fn fn,
		       void *const *args, int rounding, struct hone_pool *pool)
{
	struct run_mode mode = {.pool = pool, .rounding = rounding};
	struct calling one = *c;
	int64_t begin = hn_clock_ns();

	if (one.env.parallel_for != NULL) {
		one.env.parallel_for = run_loop;
		one.env.ctx = &mode;
	}
	hn_fp_reset();
	fesetround(rounding);
	one.returned = fn(args, &one.env);
	atomic_fetch_or(&mode.raised, fetestexcept(HN_FP_RANGE));
	hn_fp_reset();
	cpu_must_have_returned(run, &one);
	run->report->body.kernel_ns += hn_clock_ns() - begin;
	return mode.raised;
}

/* What the naive program itself raises, if it can be asked; `raised` if not. */
static int raised_by_naive(struct cpu_run *run, const struct calling *c, void *const *args,
			   int rounding, int raised)
{
	if (raised == 0 || run->naive_ns > ASK_NAIVE_NS) {
		return raised;
	}
	return run_in_mode(run, c, c->fn, args, rounding, NULL);
}

static double part_ns(struct cpu_run *run, const struct calling *c, uint32_t i)
{
	struct calling part = *c;
	double least = 0;

	part.fn = c->part[i];
	for (int k = 0; k < PART_RUNS && (k == 0 || least < PART_SLOW_NS); k++) {
		double ns = cpu_one_call(&part);

		least = k == 0 || ns < least ? ns : least;
		cpu_must_have_returned(run, &part);
	}
	return least;
}

/* The naive program's time, as a sample, and how much of it is run for that: the same each time,
 * so an earlier time is of the same parts. */
static void time_naive(struct cpu_run *run, struct calling *c)
{
	const struct hn_board_workload *from = run->made_of;
	struct cpu_report *report = run->report;
	double sum = 0;

	report->body.n_sample = 1;
	report->body.naive_share = hn_parts_share(&from->parts);
	if (from->naive_ns > 0) {
		report->body.sample_ns[0] = from->naive_ns;
	} else if (from->parts.n > 0 && c->part[from->parts.n - 1] != NULL) {
		for (uint32_t i = 0; i < from->parts.n; i++) {
			const struct hn_frame_slice *part = &from->parts.part[i];

			sum += part_ns(run, c, i) * part->of / part->points;
		}
		report->body.sample_ns[0] = sum;
	} else {
		struct hn_timing t;

		c->first_ns = cpu_one_call(c);
		cpu_must_have_returned(run, c);
		cpu_time_naive(c, c->first_ns, &t);
		report->body.n_sample = t.n;
		memcpy(report->body.sample_ns, t.sample_ns, t.n * sizeof(double));
	}
	run->naive_ns = hn_stats_median(report->body.sample_ns, report->body.n_sample);
}

/* The set's inputs and its reference as outputs. */
static void **reference_of(struct cpu_run *run, struct hn_arena *a)
{
	void **p = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);

	for (uint32_t k = 0; k < run->w->n_tensor; k++) {
		if (run->w->tensor[k].output) {
			p[k] = run->w->buffer[k].reference[run->set].data;
		}
	}
	return p;
}

void hn_cpu_refer_fast(struct cpu_run *run, struct calling c[2],
				 struct hone_pool *pool, struct hn_arena *a)
{
	struct cpu_report *report = run->report;
	void **own = cpu_pointers(run->w, HN_REDZONE_EXACT, run->set, a);
	void **reference = reference_of(run, a);
	bool first = run->set == 0;
	int raised, rounding = first ? FE_TONEAREST : FE_UPWARD;
	int64_t begin;

	c->args = own;
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	if (first) {
		time_naive(run, c);
		report->body.sampled =
			c->sample[0] != NULL && run->naive_ns > WHOLE_NS * run->n_workers;
	}
	if (report->body.sampled) {
		cpu_finish(run, HN_VERDICT_OK, "");
	}
	if (c->refer == NULL) {
		return;
	}
	begin = hn_clock_ns();
	/* the first set's reference is this, unless a nearer one takes its place */
	raised = run_in_mode(run, c, c->refer, first ? reference : own, rounding, pool);
	raised = raised_by_naive(run, c, own, rounding, raised);
	report->body.wide = c->wide != NULL && raised == 0;
	if (report->body.wide) {
		run_in_mode(run, c, c->wide, reference, FE_TONEAREST, pool);
	} else if (!first) {
		run_in_mode(run, c, c->refer, reference, FE_TONEAREST, pool);
	}
	report->body.raised = raised;
	report->body.refer_ns = (double)(hn_clock_ns() - begin);
	cpu_finish(run, HN_VERDICT_OK, "");
}
