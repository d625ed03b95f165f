/* gpu_run.c -- one candidate on the device, in the child that has it: read, load, a checked run,
 * timed runs, further inputs, more checked runs, a last look.
 *   - A module is anybody's: it must be of the driver's form, fit the workload's arguments, and
 *     the device.
 *   - Outputs and workspace hold poison before each run that is compared, and every buffer lies
 *     between guards.
 *   - Who may be the best runs on the further inputs (inputs.h), and then up to 512 times more on
 *     the first: right answers are the same to the bit, so each of these costs little more than
 *     the run.  A race that shows in one run of a hundred is found there.
 *   - At the end the inputs must be what they were.
 *
 * A duel is two candidates that take turns in the timing, each with a first run and a last.
 */
#include "measure/drv/gpu_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/memory.h"
#include "measure/board/timing.h"

#define AGAIN 512	/* more checked runs of who may be the best, ... */
#define AGAIN_NS 1.5e9	/* ... or as many as take so long ... */
#define AGAIN_LEAST 8	/* ... but so many */

/* The answer, from the device's verdict and its words. */
static enum hn_verdict say(struct gpu_run *run, enum hn_verdict v, const char *text)
{
	run->report->body.verdict = v;
	snprintf(run->report->body.detail, sizeof run->report->body.detail, "%.390s",
		 v == HN_VERDICT_OK ? "" : text);
	return v;
}

static double left_ns(const struct gpu_run *run)
{
	return 0.9 * (double)run->limit_ns - (double)(hn_clock_ns() - run->begin_ns);
}

/* -- what a module may be ----------------------------------------------------------------- */

static enum hn_verdict check_arguments(struct gpu_run *run, const struct hn_gpu_module *m)
{
	const struct cpu_workload *w = run->w;
	bool written[HN_FRAME_ARGS] = {false};
	char text[200];

	for (uint32_t i = 0; i < m->n_buffer; i++) {
		int32_t arg = m->buffer[i].arg;

		if (arg < 0) {
			continue;
		}
		if ((uint32_t)arg >= w->n_tensor || m->buffer[i].bytes != w->tensor[arg].bytes) {
			snprintf(text, sizeof text,
				 "module: buffer %" PRIu32 " is no argument of the task", i);
			return say(run, HN_VERDICT_LOAD_FAIL, text);
		}
		written[arg] = true;
	}
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output && !written[i]) {
			snprintf(text, sizeof text, "module: no kernel writes %.60s",
				 w->tensor[i].name);
			return say(run, HN_VERDICT_LOAD_FAIL, text);
		}
	}
	return HN_VERDICT_OK;
}

/* Each kernel fits the device. */
static enum hn_verdict check_limits(struct gpu_run *run, const struct hn_gpu_module *m)
{
	const struct gpu_facts *f = run->facts;
	char text[300];

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];
		int64_t threads = k->block[0] * k->block[1] * k->block[2];
		int64_t shared = k->static_shared + k->dynamic_shared;

		if (threads > f->threads || k->block[0] > f->block[0] ||
		    k->block[1] > f->block[1] || k->block[2] > f->block[2]) {
			snprintf(text, sizeof text,
				 "kernel %s: %" PRId64 " threads of a block (%" PRId64 " x %" PRId64
				 " x %" PRId64 "), the device has at most %" PRId64,
				 k->name, threads, k->block[0], k->block[1], k->block[2],
				 f->threads);
			return say(run, HN_VERDICT_OVER_LIMIT, text);
		}
		if (k->static_shared > f->static_shared_bytes || shared > f->shared_bytes) {
			snprintf(text, sizeof text,
				 "kernel %s: %" PRId64 " bytes of shared memory, the device has at "
				 "most %" PRId64,
				 k->name, shared, f->shared_bytes);
			return say(run, HN_VERDICT_OVER_LIMIT, text);
		}
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict check_memory(struct gpu_run *run, const struct hn_gpu_module *m)
{
	char text[200], need[32], have[32];
	int64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < m->n_buffer; i++) {
		sum = hn_add_sat(sum, m->buffer[i].bytes);
		most = m->buffer[i].bytes > most ? m->buffer[i].bytes : most;
	}
	if (sum > run->facts->memory_bytes / 4 * 3 || most > run->facts->buffer_bytes) {
		hn_memory_print(sum, need, sizeof need);
		hn_memory_print(run->facts->memory_bytes, have, sizeof have);
		snprintf(text, sizeof text,
			 "its buffers take %s; it may use three quarters of the device's %s", need,
			 have);
		return say(run, HN_VERDICT_OOM, text);
	}
	return HN_VERDICT_OK;
}

static enum hn_verdict read_module(struct gpu_run *run, int i, const void *bytes, size_t n)
{
	struct gpu_side *s = &run->side[i];
	enum hn_verdict v;

	if (hn_gpu_module_read("module", bytes, n, &run->arena, &s->module, &run->err) != 0) {
		return say(run, HN_VERDICT_LOAD_FAIL, run->err.msg);
	}
	if (s->module->form != run->ops->form) {
		return say(run, HN_VERDICT_LOAD_FAIL,
			   "module: its code is of another form than the board takes");
	}
	v = check_arguments(run, s->module);
	v = v == HN_VERDICT_OK ? check_limits(run, s->module) : v;
	return v == HN_VERDICT_OK ? check_memory(run, s->module) : v;
}

/* -- workspace ---------------------------------------------------------------------------- */

static size_t whole(const struct hn_gpu_buffer *b)
{
	return (size_t)b->bytes + 2 * GPU_GUARD;
}

static enum hn_verdict make_buffers(struct gpu_run *run, struct gpu_side *s)
{
	const struct hn_gpu_module *m = s->module;
	enum hn_verdict v = HN_VERDICT_OK;

	s->buffer = HN_NEW_ARRAY(&run->arena, struct gpu_memory *, m->n_buffer);
	for (uint32_t i = 0; i < m->n_buffer && v == HN_VERDICT_OK; i++) {
		if (m->buffer[i].arg >= 0) {
			s->buffer[i] = gpu_held_memory(run->held, (uint32_t)m->buffer[i].arg);
			continue;
		}
		v = run->ops->alloc(run->dev, m->buffer[i].bytes, &s->buffer[i], &run->err);
		if (v == HN_VERDICT_OK) {
			v = run->ops->fill(run->dev, s->buffer[i], 0, HN_REDZONE_CANARY,
					   whole(&m->buffer[i]), &run->err);
		}
	}
	return say(run, v, run->err.msg);
}

static enum hn_verdict poison_workspace(struct gpu_run *run, struct gpu_side *s, uint8_t byte)
{
	const struct hn_gpu_module *m = s->module;
	enum hn_verdict v = HN_VERDICT_OK;

	for (uint32_t i = 0; i < m->n_buffer && v == HN_VERDICT_OK; i++) {
		if (m->buffer[i].arg < 0) {
			v = run->ops->fill(run->dev, s->buffer[i], GPU_GUARD, byte,
					   (size_t)m->buffer[i].bytes, &run->err);
		}
	}
	return v;
}

static enum hn_verdict check_workspace(struct gpu_run *run, struct gpu_side *s)
{
	const struct hn_gpu_module *m = s->module;
	uint8_t guard[2][GPU_GUARD];
	enum hn_verdict v;

	for (uint32_t i = 0; i < m->n_buffer; i++) {
		size_t end = GPU_GUARD + (size_t)m->buffer[i].bytes;

		if (m->buffer[i].arg >= 0) {
			continue;
		}
		v = run->ops->read(run->dev, s->buffer[i], 0, guard[0], GPU_GUARD, &run->err);
		if (v == HN_VERDICT_OK) {
			v = run->ops->read(run->dev, s->buffer[i], end, guard[1], GPU_GUARD,
					   &run->err);
		}
		if (v != HN_VERDICT_OK) {
			return say(run, v, run->err.msg);
		}
		for (size_t k = 0; k < GPU_GUARD; k++) {
			if (guard[0][k] != HN_REDZONE_CANARY || guard[1][k] != HN_REDZONE_CANARY) {
				return say(run, HN_VERDICT_SEGV_GUARD,
					   "wrote beside its own memory");
			}
		}
	}
	return HN_VERDICT_OK;
}

static void release(struct gpu_run *run, struct gpu_side *s)
{
	if (s->program != NULL) {
		run->ops->unload(run->dev, s->program);
	}
	for (uint32_t i = 0; s->buffer != NULL && i < s->module->n_buffer; i++) {
		if (s->module->buffer[i].arg < 0 && s->buffer[i] != NULL) {
			run->ops->release(run->dev, s->buffer[i]);
		}
	}
}

/* -- runs --------------------------------------------------------------------------------- */

static enum hn_verdict load(struct gpu_run *run, struct gpu_side *s)
{
	enum hn_verdict v = make_buffers(run, s);

	if (v == HN_VERDICT_OK) {
		v = run->ops->load(run->dev, s->module, s->buffer, &s->program, &run->err);
		say(run, v, run->err.msg);
	}
	return v;
}

/* One call whose outputs were poisoned, compared. byte: as gpu_held_poison's. */
static enum hn_verdict checked_run(struct gpu_run *run, struct gpu_side *s, uint32_t set, int byte,
				   struct hn_rng *rng, bool same, double *ret_ns)
{
	enum hn_verdict v = gpu_held_inputs(run->held, set, &run->err);
	char text[400];

	v = v == HN_VERDICT_OK ? gpu_held_poison(run->held, byte, set, rng, &run->err) : v;
	v = v == HN_VERDICT_OK
		    ? poison_workspace(run, s, byte < 0 ? HN_POISON_SECOND : (uint8_t)byte)
		    : v;
	if (v != HN_VERDICT_OK) {
		/* nothing of it has run since the device was well */
		return say(run, v == HN_VERDICT_OOM ? v : HN_VERDICT_RUN_LOST, run->err.msg);
	}
	v = run->ops->run(run->dev, s->program, 1, false, false, ret_ns, &run->err);
	if (v != HN_VERDICT_OK) {
		return say(run, v, run->err.msg);
	}
	run->report->body.kernel_ns += (int64_t)*ret_ns;
	v = gpu_held_compare(run->held, set, same, text, sizeof text);
	say(run, v, text);
	if (v == HN_VERDICT_WRONG_RESULT &&
	    gpu_held_unharmed(run->held, text, sizeof text) == HN_VERDICT_SEGV_GUARD) {
		v = say(run, HN_VERDICT_SEGV_GUARD, text); /* that is why it is wrong */
	}
	return v;
}

/* The first call of a program may compile it further: its time is the second's, where it is long
 * enough to matter. */
static enum hn_verdict first_run(struct gpu_run *run, struct gpu_side *s, struct hn_rng *rng)
{
	enum hn_verdict v = checked_run(run, s, 0, HN_POISON_FIRST, rng, false, &s->first_ns);

	if (v == HN_VERDICT_OK) {
		v = run->ops->run(run->dev, s->program, 1, false, false, &s->first_ns, &run->err);
		say(run, v, run->err.msg);
	}
	return v;
}

/* Wrong where it was right before. */
static enum hn_verdict changed(struct gpu_run *run, enum hn_verdict v)
{
	char text[400];

	if (v != HN_VERDICT_WRONG_RESULT) {
		return v;
	}
	snprintf(text, sizeof text, "right at first, wrong at last: %.300s",
		 run->report->body.detail);
	return say(run, HN_VERDICT_NONDETERMINISTIC, text);
}

static enum hn_verdict run_sets(struct gpu_run *run, struct hn_rng *rng)
{
	enum hn_verdict v = HN_VERDICT_OK;
	char text[400], on[60];
	double ns;

	for (uint32_t set = 1; set < HN_INPUT_SETS && v == HN_VERDICT_OK; set++) {
		if (!run->w->set[set].used) {
			continue;
		}
		v = checked_run(run, &run->side[0], set, HN_POISON_SECOND, rng, false, &ns);
		if (v == HN_VERDICT_WRONG_RESULT) {
			hn_inputs_print(&run->w->set[set].inputs, on, sizeof on);
			snprintf(text, sizeof text, "%.320s; inputs: %s", run->report->body.detail,
				 on);
			say(run, v, text);
		}
	}
	return v;
}

static enum hn_verdict run_again(struct gpu_run *run, struct hn_rng *rng)
{
	static const uint8_t byte[] = {HN_POISON_FIRST, HN_POISON_SECOND, 0};
	double spare = left_ns(run) / 2, ns;
	int64_t begin = hn_clock_ns();
	enum hn_verdict v = HN_VERDICT_OK;

	spare = spare < AGAIN_NS ? spare : AGAIN_NS;
	for (int i = 0; i < AGAIN && v == HN_VERDICT_OK; i++) {
		if (i >= AGAIN_LEAST && (double)(hn_clock_ns() - begin) > spare) {
			break;
		}
		v = changed(run, checked_run(run, &run->side[0], 0, byte[i % 3], rng, true, &ns));
	}
	return v;
}

static bool may_be_best(const struct gpu_run *run)
{
	const double *sample = run->report->body.sample_ns;

	return run->best_ns <= 0 ||
	       hn_stats_median(sample, run->report->body.n_sample) < run->best_ns;
}

static enum hn_verdict last_run(struct gpu_run *run, struct hn_rng *rng)
{
	enum hn_verdict v = HN_VERDICT_OK;
	char text[400];
	double ns;

	for (int i = 0; i < run->n_side && v == HN_VERDICT_OK; i++) {
		run->report->side = (uint32_t)i;
		/* in disguise, which takes this machine's time, for who may be the best */
		v = changed(run, checked_run(run, &run->side[i], 0,
					     run->report->body.thorough ? -1 : HN_POISON_SECOND, rng,
					     true, &ns));
		v = v == HN_VERDICT_OK ? check_workspace(run, &run->side[i]) : v;
	}
	return v == HN_VERDICT_OK
		       ? say(run, gpu_held_unharmed(run->held, text, sizeof text), text)
		       : v;
}

static enum hn_verdict go(struct gpu_run *run, const void *const module[2], const size_t bytes[2])
{
	struct gpu_report *r = run->report;
	struct hn_rng rng = hn_rng_stream((uint64_t)run->begin_ns, 0, 0, 0);
	enum hn_verdict v = HN_VERDICT_OK;
	double after_ns = 0;
	bool noisy = false;

	r->phase = GPU_PHASE_LOAD;
	for (int i = 0; i < run->n_side && v == HN_VERDICT_OK; i++) {
		r->side = (uint32_t)i;
		v = read_module(run, i, module[i], bytes[i]);
	}
	if (v == HN_VERDICT_OK) {
		v = gpu_held_take(run->held, run->w, &run->err);
		say(run, v, run->err.msg);
	}
	for (int i = 0; i < run->n_side && v == HN_VERDICT_OK; i++) {
		r->side = (uint32_t)i;
		v = load(run, &run->side[i]);
	}
	r->phase = GPU_PHASE_FIRST;
	for (int i = 0; i < run->n_side && v == HN_VERDICT_OK; i++) {
		r->side = (uint32_t)i;
		v = first_run(run, &run->side[i], &rng);
		after_ns += (AGAIN_LEAST + HN_INPUT_SETS) * run->side[i].first_ns;
	}
	if (v != HN_VERDICT_OK) {
		return v;
	}
	r->phase = GPU_PHASE_TIMING;
	run->begin_ns = hn_clock_ns(); /* compiling has a time of its own */
	v = gpu_time(run, left_ns(run) - after_ns, &noisy);
	if (v != HN_VERDICT_OK) {
		return say(run, v, run->err.msg);
	}
	if (run->n_side == 1 && (run->best_ns <= 0 || hn_stats_least(r->body.sample_ns,
						 r->body.n_sample) <= HN_TIMING_SLOWER * run->best_ns)) {
		r->phase = GPU_PHASE_SETS;
		v = run_sets(run, &rng);
		r->phase = GPU_PHASE_AGAIN;
		r->body.thorough = may_be_best(run);
		v = v == HN_VERDICT_OK && r->body.thorough ? run_again(run, &rng) : v;
	}
	r->phase = GPU_PHASE_LAST;
	v = v == HN_VERDICT_OK ? last_run(run, &rng) : v;
	if (v == HN_VERDICT_OK && noisy) {
		v = HN_VERDICT_NOISY;
		r->body.verdict = v;
		snprintf(r->body.detail, sizeof r->body.detail,
			 "its samples are too far apart: other programs, or the device's clock");
	}
	return v;
}

/* After these the device has to be opened anew. */
static bool leaves_device_bad(enum hn_verdict v)
{
	static const enum hn_verdict bad[] = {HN_VERDICT_SEGV, HN_VERDICT_ILL, HN_VERDICT_BUS,
					      HN_VERDICT_HANG, HN_VERDICT_STACK_OVERFLOW,
					      HN_VERDICT_RUN_LOST, HN_VERDICT_BOARD_LOST};

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		if (v == bad[i]) {
			return true;
		}
	}
	return false;
}

void gpu_run_all(struct gpu_run *run, const void *const module[2], const size_t bytes[2])
{
	struct gpu_report *r = run->report;
	enum hn_verdict v;

	run->begin_ns = hn_clock_ns();
	run->n_side = bytes[1] > 0 ? 2 : 1;
	memset(run->side, 0, sizeof run->side);
	memset(&run->err, 0, sizeof run->err);
	r->side = 0;
	hn_arena_init(&run->arena, 0);
	v = go(run, module, bytes);
	r->body.ends = leaves_device_bad(v);
	if (v != HN_VERDICT_OK && v != HN_VERDICT_NOISY) {
		r->body.n_sample = 0;
	}
	if (!r->body.ends) {
		run->ops->state(run->dev, r->body.state, sizeof r->body.state);
		release(run, &run->side[0]);
		release(run, &run->side[1]);
	}
	if (v != HN_VERDICT_OK && v != HN_VERDICT_NOISY) {
		gpu_held_forget(run->held); /* it may have written anywhere */
	}
	hn_arena_fini(&run->arena);
}
