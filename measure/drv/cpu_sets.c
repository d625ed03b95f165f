/* cpu_sets.c -- the further input sets of a workload (inputs.h): contents and references.
 *
 * A set is used only if every right kernel passes on it. The naive program shows this in two
 * ways. It runs without overflow, division by zero or an invalid operation, by the flags of the
 * floating-point unit, so no infinity or NaN arises on the way. And its answers with upward
 * rounding, in its own types, are within the tolerance of the reference, so those of another
 * order of summation are too (Kahan's test for roundoff, "How futile are mindless assessments of
 * roundoff", 2006). Otherwise a milder filling is tried, and then the set is left out, with the
 * reason. A second seed alone is as good as the first and needs no such test.
 *
 * The cost is the run that makes the reference (cpu_refer.c) and one run of the naive program
 * for each filling, side by side. If this takes long, a sample of the answers is used
 * (cpu_sample.c). If there is no sample, or memory is short, there are no such sets.
 */
#include "measure/drv/cpu_call.h"

#include <inttypes.h>
#include <stdio.h>

#include "measure/board/pool.h"
#include "measure/board/timing.h"

/* What makes one reference: by the naive program, and by those in its stead, which are that fast so
 * that the first trial comes soon. */
#define SLOW_NS 5e9
#define SLOW_FAST_NS 1.5e9

/* Two programs run side by side, each on one, or those that are fast on all. */
static int32_t refer_workers(const struct cpu_workload *w)
{
	int32_t cores = hone_pool_cpus();

	return w->refer_ns > 0 || cores < 2 ? cores : 2;
}

static void drop_inputs(struct cpu_workload *w, uint32_t set)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		hn_redzone_unmap(&w->buffer[i].further[set]);
		w->buffer[i].further[set] = (struct hn_redzone){0};
	}
}

static int map_set(struct cpu_workload *w, uint32_t set, struct hn_err *err)
{
	const struct hn_inputs *in = &w->set[set].inputs;
	int rc = 0;

	for (uint32_t i = 0; i < w->n_tensor && rc == 0; i++) {
		const struct hn_tensor *t = &w->tensor[i];
		struct cpu_buffer *b = &w->buffer[i];

		if (!t->output) {
			rc = hn_cpu_map_input(w, i, in, HN_REDZONE_EXACT, &b->further[set], err);
		} else if (b->reference[set].region == NULL) {
			rc = hn_redzone_map((size_t)t->bytes, HN_REDZONE_ALIGNED,
					  &b->reference[set], err);
		}
	}
	return rc;
}

/* Whether the references and the outputs, of the naive program rounding upwards, are the same
 * answer.  Integers that are settled are computed by every kernel as they are written, and what
 * is held between two others has its own bound: what another rounding makes of them is nobody's. */
static bool steady(struct cpu_workload *w, uint32_t set)
{
	bool ret = true;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct hn_tensor *t = &w->tensor[i];
		struct hn_mismatch m;

		if (!t->output) {
			continue;
		}
		w->buffer[i].scale[set] = hn_verify_scale(t, w->buffer[i].reference[set].data);
		bool held = hn_cpu_is_held(t) &&
			    (w->has_bracket || (w->settled && hn_dtype_class(t->elem) != HN_CLASS_FLOAT));

		if (!held) {
			ret &= hn_cpu_verify(w, i, set, cpu_placed(&w->buffer[i], HN_REDZONE_EXACT)->data,
					     0, t->n_elem, &m);
		}
	}
	return ret;
}

/* Why this filling does not serve; NULL when it does. */
static const char *objection(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
			     const struct hn_board_workload *from, double naive_ns)
{
	struct cpu_run run = {.w = w, .kernel = &from->naive,
			      .rival = w->refer_ns > 0 ? NULL : &from->naive,
			      .made_of = from, .reference = true, .naive_ns = naive_ns,
			      .n_workers = refer_workers(w), .set = set};
	struct hn_board_answer a;
	struct hn_err err;

	if (map_set(w, set, &err) != 0) {
		return "memory is short";
	}
	if (w->set[set].sampled) {
		hn_cpu_sample(b, w, set, from, &a);
	} else {
		hn_cpu_run_child(b, &run, &a);
	}
	w->lost |= a.verdict == HN_VERDICT_RUN_LOST;
	if (a.verdict != HN_VERDICT_OK) {
		return "the naive program fails on it";
	}
	bool raised = b->report->body.raised != 0, same = steady(w, set); /* which sets the scale */

	if (w->set[set].inputs.kind != HN_INPUTS_PLAIN && (raised || !same)) {
		return raised ? "the naive program leaves the range of numbers on it"
			      : "the naive program's rounding shows on it";
	}
	return !w->has_bracket || hn_cpu_bracket(b, w, set, from) ? NULL
								  : "the naive program fails on it";
}

static bool seal(struct cpu_workload *w, uint32_t set)
{
	struct hn_err err;
	int rc = 0;

	for (uint32_t i = 0; i < w->n_tensor && rc == 0; i++) {
		if (w->tensor[i].output) {
			rc = hn_redzone_seal(&w->buffer[i].reference[set], &err);
		}
	}
	return rc == 0;
}

/* The fillings of each further set: a sharp one, and the milder one that is tried after it. */
static const struct {
	enum hn_inputs_kind kind, mild;
} fillings[HN_INPUT_SETS] = {
	[1] = {HN_INPUTS_ZEROS, HN_INPUTS_PLAIN},
	[2] = {HN_INPUTS_EXTREMES, HN_INPUTS_EXTREMES}, /* up to the magnitude, up to 1 */
	[3] = {HN_INPUTS_WHOLE, HN_INPUTS_WHOLE},
	[4] = {HN_INPUTS_TIES, HN_INPUTS_TIES},
	[5] = {HN_INPUTS_TINY, HN_INPUTS_TINY},
};

bool hn_cpu_set_serves(uint32_t set, uint32_t n, const struct hn_tensor *t)
{
	return set == 0 || hn_inputs_serve(fillings[set].kind, n, t);
}

static void make_set(struct cpu_board *b, struct cpu_workload *w, uint32_t set,
		     const struct hn_board_workload *from, double naive_ns)
{
	struct cpu_set *s = &w->set[set];
	bool two = fillings[set].kind != fillings[set].mild || set == 2;

	for (int mild = 0; mild < 1 + two && !s->used; mild++) {
		s->inputs = (struct hn_inputs){
			.kind = mild ? fillings[set].mild : fillings[set].kind,
			.seed = from->seed + set,
			.magnitude = set == 2 && !mild ? from->magnitude : 0,
			.subnormals = from->subnormals};
		s->why = objection(b, w, set, from, naive_ns);
		s->used = s->why == NULL && seal(w, set);
		if (!s->used) {
			drop_inputs(w, set);
		}
	}
}

void hn_cpu_make_sets(struct cpu_board *b, struct cpu_workload *w,
		      const struct hn_board_workload *from, bool room, double naive_ns)
{
	bool slow = w->set[0].sampled ||
		    (w->refer_ns > 0 ? w->refer_ns > SLOW_FAST_NS : naive_ns > SLOW_NS);

	for (uint32_t set = 1; set < HN_INPUT_SETS; set++) {
		bool asked = from->n_set == 0 || set < from->n_set;

		if (!hn_cpu_set_serves(set, w->n_tensor, w->tensor)) {
			continue;
		}
		w->set[set].why = !asked ? "not asked for"
				  : !room ? "memory is short"
				  : slow && !w->has_sample ? "its reference takes long"
							   : NULL;
		w->set[set].sampled = slow;
		if (w->set[set].why == NULL) {
			make_set(b, w, set, from, naive_ns);
		}
	}
}

/* Of all outputs: elements whose references are known, and all. */
static void count_told(const struct cpu_workload *w, int64_t *ret_told, int64_t *ret_all)
{
	*ret_told = *ret_all = 0;
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		*ret_told += w->buffer[i].told.n_elem;
		*ret_all += w->tensor[i].output ? w->tensor[i].n_elem : 0;
	}
}

static void print_set(const struct cpu_workload *w, const struct cpu_set *s, char *text, size_t n)
{
	char what[60];
	int64_t told, all;

	hn_inputs_print(&s->inputs, what, sizeof what);
	count_told(w, &told, &all);
	if (!s->used) {
		snprintf(text, n, "left out: %s", s->why);
	} else if (s->sampled) {
		snprintf(text, n, "%s, a sample of %" PRId64 " of %" PRId64 " outputs", what, told,
			 all);
	} else {
		snprintf(text, n, "%s", what);
	}
}

void hn_cpu_print_sets(const struct cpu_workload *w, char *text, size_t text_bytes)
{
	size_t at = 0;

	for (uint32_t set = 0; set < HN_INPUT_SETS && at < text_bytes; set++) {
		char what[160];

		if (!hn_cpu_set_serves(set, w->n_tensor, w->tensor)) {
			continue;
		}
		print_set(w, &w->set[set], what, sizeof what);
		at += (size_t)snprintf(text + at, text_bytes - at, "%s%s", set > 0 ? "; " : "", what);
	}
	if (w->wide && at < text_bytes) {
		at += (size_t)snprintf(text + at, text_bytes - at, "; compared with wider sums");
	}
	if (w->has_bracket && at < text_bytes) {
		snprintf(text + at, text_bytes - at, "; what is rounded is held between two");
	}
}

/* A kernel that differs on a further set and, by now, on the first too, does not depend on the
 * inputs but on when it is called. */
static void judge_set(struct cpu_run *run, struct calling *first, uint32_t set)
{
	char on[60], text[300], again[300], detail[400];
	enum hn_verdict v =
		hn_cpu_check(run->w, HN_REDZONE_EXACT, set, text, sizeof text);

	if (v == HN_VERDICT_OK) {
		return;
	}
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	cpu_compute(run, first);
	if (hn_cpu_check(run->w, HN_REDZONE_EXACT, 0, again, sizeof again) !=
	    HN_VERDICT_OK) {
		snprintf(detail, sizeof detail, "right at first, wrong at last: %s", again);
		cpu_finish(run, HN_VERDICT_NONDETERMINISTIC, detail);
	}
	hn_inputs_print(&run->w->set[set].inputs, on, sizeof on);
	snprintf(detail, sizeof detail, "%s; inputs: %s", text, on);
	cpu_finish(run, v, detail);
}

void hn_cpu_run_sets(struct cpu_run *run, const struct calling *timed, void *const *exact,
		     struct hn_arena *a)
{
	struct calling first = *timed;
	const double *sample = run->report->body.sample_ns;
	double least = hn_stats_least(sample, run->report->body.n_sample);

	first.args = exact;
	if (run->best_ns > 0 && least > HN_TIMING_SLOWER * run->best_ns) {
		return;
	}
	for (uint32_t set = 1; set < HN_INPUT_SETS; set++) {
		struct calling c = *timed;

		if (!run->w->set[set].used) {
			continue;
		}
		c.args = cpu_pointers(run->w, HN_REDZONE_EXACT, set, a);
		cpu_disguise(run->w, HN_REDZONE_EXACT, set, &c.watch->rng);
		if (c.prepare != NULL) {
			cpu_prepare(run, &c);
		}
		cpu_compute(run, &c);
		judge_set(run, &first, set);
	}
}
