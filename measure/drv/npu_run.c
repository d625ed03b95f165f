/* npu_run.c -- one candidate on the simulated NPU, in a child: read, a run that is compared and judged,
 * and further inputs for one that may be the best.
 *   - A program is anybody's: it must be text that is read, have the workload's arguments, and store
 *     to results alone.  Its addresses are the machine's to check.
 *   - The first run computes on the first inputs, over poison, and looks for races.  What is found of
 *     one order of the pipes holds for all, so one run is enough.
 *   - Its time is cycles of the machine's model: the same each time, whoever has the processor.
 *
 * The two of a duel were compared and judged before, and are timed alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "measure/board/sandbox.h"
#include "measure/drv/npu_int.h"

/* Who is to blame is the program; how, its fault says. */
static const enum hn_verdict verdicts[HN_NPU_N_FAULT] = {
	[HN_NPU_FINE] = HN_VERDICT_OVER_LIMIT, /* more cores or memory than there are */
	[HN_NPU_F_NUMBER] = HN_VERDICT_ILL,
	[HN_NPU_F_BOUNDS] = HN_VERDICT_SEGV,
	[HN_NPU_F_ALIGN] = HN_VERDICT_BUS,
	[HN_NPU_F_UNWRITTEN] = HN_VERDICT_NONDETERMINISTIC,
	[HN_NPU_F_RACE] = HN_VERDICT_NONDETERMINISTIC,
	[HN_NPU_F_TWICE] = HN_VERDICT_NONDETERMINISTIC,
	[HN_NPU_F_LEFT] = HN_VERDICT_NONDETERMINISTIC,
	[HN_NPU_F_DEADLOCK] = HN_VERDICT_HANG,
	[HN_NPU_F_BUDGET] = HN_VERDICT_HANG,
};

uint64_t npu_seal(const struct npu_report *r, uint64_t token)
{
	return hn_hash64(&r->body, sizeof r->body, token);
}

double npu_ns(const struct hn_npu_profile *m, int64_t cycles)
{
	return (double)cycles * 1e3 / (double)m->mhz;
}

static enum hn_verdict say(struct npu_run *run, enum hn_verdict v, const char *text)
{
	run->report->body.verdict = v;
	snprintf(run->report->body.detail, sizeof run->report->body.detail, "%.390s", text);
	return v;
}

/* -- what a program may be ---------------------------------------------------------------- */

static enum hn_verdict check_arguments(struct npu_run *run, const struct hn_npu_program *p)
{
	const struct cpu_workload *w = run->w;
	char text[300];

	if (p->n_buffer != w->n_tensor) {
		snprintf(text, sizeof text, "program: it has %u buffers, the task %u arguments",
			 p->n_buffer, w->n_tensor);
		return say(run, HN_VERDICT_LOAD_FAIL, text);
	}
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct hn_npu_buffer *b = &p->buffer[i];
		const struct hn_tensor *t = &w->tensor[i];

		if (b->bytes != t->bytes || b->dtype != t->elem) {
			snprintf(text, sizeof text,
				 "program: buffer %.60s, %s[%lld], is no argument of the task, which has "
				 "%.60s, %s[%lld], there", b->name, hn_dtype_name(b->dtype),
				 (long long)b->n_elem, t->name, hn_dtype_name(t->elem),
				 (long long)t->n_elem);
			return say(run, HN_VERDICT_LOAD_FAIL, text);
		}
	}
	return HN_VERDICT_OK;
}

/* Inputs are shared with later candidates. */
static enum hn_verdict check_stores(struct npu_run *run, const struct hn_npu_program *p)
{
	char text[200];

	for (uint32_t s = 0; s < p->n_section; s++) {
		for (uint32_t i = 0; i < p->section[s].n_insn; i++) {
			const struct hn_npu_insn *in = &p->section[s].insn[i];
			const struct hn_npu_place *to = &in->place[0];

			if (in->op == HN_NPU_I_STORE && (uint32_t)to->buffer < p->n_buffer &&
			    !run->w->tensor[to->buffer].output) {
				snprintf(text, sizeof text, "program:%u: store to %.60s, an input",
					 in->line, p->buffer[to->buffer].name);
				return say(run, HN_VERDICT_SEGV_GUARD, text);
			}
		}
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict read_program(struct npu_run *run, const struct hn_board_kernel *k,
				    struct hn_arena *a, const struct hn_npu_program **ret)
{
	struct hn_err err;
	enum hn_verdict v;

	if (hn_npu_parse("program", k->object, k->object_bytes, a, ret, &err) != 0) {
		return say(run, HN_VERDICT_LOAD_FAIL, err.msg);
	}
	v = check_arguments(run, *ret);
	return v == HN_VERDICT_OK ? check_stores(run, *ret) : v;
}

/* -- runs --------------------------------------------------------------------------------- */

static enum hn_verdict simulate(struct npu_run *run, const struct hn_npu_program *p,
				const struct hn_npu_options *o, struct hn_npu_result *ret)
{
	struct hn_arena a; /* of this run */
	struct hn_err err;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_npu_run(p, run->m, o, &a, ret, &err);
	hn_arena_fini(&a);
	return rc == 0 ? HN_VERDICT_OK : say(run, verdicts[ret->fault], err.msg);
}

static enum hn_verdict compare(struct npu_run *run, void *const *gm, uint32_t set)
{
	const struct cpu_workload *w = run->w;
	char text[400], on[60];
	struct hn_mismatch m;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (!w->tensor[i].output ||
		    hn_cpu_verify(w, i, set, gm[i], 0, w->tensor[i].n_elem, &m)) {
			continue;
		}
		hn_mismatch_print(&w->tensor[i], gm[i], w->buffer[i].reference[set].data, &m, text,
				  sizeof text - 80);
		if (set > 0) {
			hn_inputs_print(&w->set[set].inputs, on, sizeof on);
			snprintf(text + strlen(text), 70, "; inputs: %s", on);
		}
		return say(run, HN_VERDICT_WRONG_RESULT, text);
	}
	return HN_VERDICT_OK;
}

/* It computes on a set's inputs; `room` has memory for the results. */
static enum hn_verdict checked_run(struct npu_run *run, const struct hn_npu_program *p, uint32_t set,
				   void **gm, void *const *room, struct hn_npu_result *ret)
{
	const struct cpu_workload *w = run->w;
	const struct hn_npu_options o = {.gm = gm, .judge = set == 0};
	enum hn_verdict v;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct cpu_buffer *b = &w->buffer[i];

		if (w->tensor[i].output) {
			gm[i] = room[i];
			memset(gm[i], set == 0 ? HN_POISON_FIRST : HN_POISON_SECOND,
			       (size_t)w->tensor[i].bytes);
		} else {
			gm[i] = set == 0 ? b->exact.data : b->further[set].data;
		}
	}
	v = simulate(run, p, &o, ret);
	return v == HN_VERDICT_OK ? compare(run, gm, set) : v;
}

static enum hn_verdict check_one(struct npu_run *run, const struct hn_npu_program *p, struct hn_arena *a)
{
	const struct cpu_workload *w = run->w;
	void **gm = HN_NEW_ARRAY(a, void *, w->n_tensor), **room = HN_NEW_ARRAY(a, void *, w->n_tensor);
	struct hn_npu_result r;
	enum hn_verdict v;
	double ns;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		room[i] = w->tensor[i].output ? hn_arena_alloc(a, (size_t)w->tensor[i].bytes) : NULL;
	}
	run->report->phase = NPU_PHASE_RUN;
	v = checked_run(run, p, 0, gm, room, &r);
	if (v != HN_VERDICT_OK) {
		return v;
	}
	run->report->body.cycles[0] = r.cycles;
	ns = npu_ns(run->m, r.cycles);
	run->report->phase = NPU_PHASE_SETS;
	run->report->body.thorough = run->best_ns <= 0 || ns < run->best_ns;
	for (uint32_t set = 1; set < HN_INPUT_SETS && v == HN_VERDICT_OK; set++) {
		if (w->set[set].used && run->report->body.thorough) {
			v = checked_run(run, p, set, gm, room, &r);
		}
	}
	return v;
}

static enum hn_verdict time_two(struct npu_run *run, const struct hn_npu_program *const p[2])
{
	/* all cores, as when each was measured: where nothing is judged, one stands for all */
	const struct hn_npu_options o = {.judge = true};
	enum hn_verdict v = HN_VERDICT_OK;
	struct hn_npu_result r;

	run->report->phase = NPU_PHASE_RUN;
	for (uint32_t i = 0; i < 2 && v == HN_VERDICT_OK; i++) {
		run->report->side = i;
		v = simulate(run, p[i], &o, &r);
		run->report->body.cycles[i] = r.cycles;
	}
	return v;
}

void npu_run_all(void *ctx)
{
	struct npu_run *run = ctx;
	const struct hn_board_kernel *const kernel[2] = {run->kernel, run->rival};
	const struct hn_npu_program *p[2] = {NULL, NULL};
	enum hn_verdict v = HN_VERDICT_OK;
	struct hn_arena a;

	(void)hn_sandbox_enter_kernel(HN_SANDBOX_ALL);
	hn_arena_init(&a, 0);
	for (uint32_t i = 0; i < 2 && v == HN_VERDICT_OK && kernel[i] != NULL; i++) {
		run->report->side = i;
		v = read_program(run, kernel[i], &a, &p[i]);
	}
	if (v == HN_VERDICT_OK) {
		v = p[1] != NULL ? time_two(run, p) : check_one(run, p[0], &a);
	}
	if (v == HN_VERDICT_OK) {
		say(run, v, "");
	}
	hn_arena_fini(&a);
	run->report->seal = npu_seal(run->report, run->token);
}
