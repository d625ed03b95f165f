/* cpu_run.c -- one kernel, in the child: load, checked run, timed runs, last run.
 *   - Data that depends only on constant inputs is prepared first, and is read-only from then
 *     on.
 *   - The first run has the ends of its buffers at the guard pages, and is compared here.
 *   - The timed runs have their buffers aligned like a user's, beside ordinary memory
 *     (redzone.h). Between them, calls are checked in part (cpu_watch.c).
 *   - After the timing, a kernel that may be the best runs on each further input set
 *     (inputs.h).
 *   - The last run is on the first set again. The parent compares it, because the kernel cannot
 *     have touched the parent.
 *
 * With cold caches every timed call, and the first, begins with the kernel's data flushed
 * (flush.h): arguments, workspace, prepared block. Its code stays in the cache, and the threads
 * of the pool stay awake, as in a program that has done other work since.
 *
 * A duel is two kernels that take turns in the timing (pairs.h). Each has its own first and last
 * run. The parent compares the rival's last outputs, and the other's are compared here: both
 * were measured alone before.
 */
#include "measure/drv/cpu_call.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "measure/board/flush.h"
#include "measure/board/fpenv.h"
#include "base/loader.h"
#include "measure/board/pool.h"
#include "measure/board/sandbox.h"

#define PAGE ((size_t)4096)
#define MAX_WORKSPACE ((uint64_t)64 << 30)
#define NAIVE_RUNS 5
#define NAIVE_ENOUGH_NS 3e8

uint64_t hn_cpu_seal(const struct cpu_report *r, uint64_t token)
{
	return hn_hash64(&r->body, sizeof r->body, token);
}

enum hn_verdict hn_cpu_check(const struct cpu_workload *w, enum hn_redzone_place place,
			     uint32_t set, char *text, size_t text_bytes)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct hn_tensor *t = &w->tensor[i];
		const struct cpu_buffer *b = &w->buffer[i];
		const struct hn_redzone *g = cpu_placed(b, place);
		struct hn_mismatch m;

		if (!t->output) {
			continue;
		}
		if (!hn_redzone_intact(g)) {
			snprintf(text, text_bytes,
				 "wrote beside %.60s, within a page of it", t->name);
			return HN_VERDICT_SEGV_GUARD;
		}
		if (!hn_cpu_verify(w, i, set, g->data, 0, t->n_elem, &m)) {
			hn_mismatch_print(t, g->data, b->reference[set].data, &m, text,
					  text_bytes);
			return HN_VERDICT_WRONG_RESULT;
		}
	}
	return HN_VERDICT_OK;
}

_Noreturn void cpu_finish(struct cpu_run *run, enum hn_verdict v, const char *detail)
{
	struct cpu_report *r = run->report;

	r->body.verdict = v;
	snprintf(r->body.detail, sizeof r->body.detail, "%.*s",
		 (int)sizeof r->body.detail - 1, detail);
	r->seal = hn_cpu_seal(r, run->token);
	_exit(0);
}

static void call(void *ctx)
{
	struct calling *c = ctx;

	*c->turn = c->index;
	hn_fp_reset();
	c->returned |= c->fn(c->args, &c->env);
}

static void do_nothing(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	(void)closure;
	(void)begin;
	(void)end;
	(void)worker;
}

#define MOST_RANGES (HN_FRAME_ARGS + 2)

/* The memory of a call: arguments, in order, then workspace and prepared block. */
static uint32_t ranges_of(const struct calling *c, struct hn_flush_range range[MOST_RANGES])
{
	const struct hone_env *env = &c->env;
	uint32_t n = c->w->n_tensor;

	for (uint32_t i = 0; i < n; i++) {
		range[i] = (struct hn_flush_range){c->args[i], (size_t)c->w->tensor[i].bytes};
	}
	range[n++] = (struct hn_flush_range){env->workspace, env->workspace_bytes};
	range[n++] = (struct hn_flush_range){env->prepared, env->prepared_bytes};
	return n;
}

/* Its data in no cache; the threads that waited for that are woken again. */
static void chill(void *ctx)
{
	const struct calling *c = ctx;
	const struct hone_env *env = &c->env;
	struct hn_flush_range range[MOST_RANGES];

	hn_flush(range, ranges_of(c, range));
	if (env->parallel_for != NULL) {
		env->parallel_for(env->ctx, do_nothing, NULL, env->n_workers);
	}
}

/* What goes before each timed call of this workload's kernels. */
static void (*chill_of(const struct cpu_workload *w))(void *ctx)
{
	return w->cold ? chill : NULL;
}

double cpu_one_call(struct calling *c)
{
	int64_t begin;

	if (c->w->cold) {
		chill(c);
	}
	begin = hn_clock_ns();
	call(c);
	return (double)(hn_clock_ns() - begin);
}

/* Memory between redzones, its end at most 63 bytes before the second. */
static uint8_t *map_redzoned(uint64_t bytes)
{
	size_t tail = (bytes + 63) / 64 * 64, inner = (tail + PAGE - 1) / PAGE * PAGE;
	uint8_t *at = mmap(NULL, inner + 2 * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED || mprotect(at + PAGE, inner, PROT_READ | PROT_WRITE) != 0) {
		return NULL;
	}
	memset(at + PAGE, HN_POISON_FIRST, inner);
	return at + PAGE + inner - tail;
}

static void arm_thread(void *ctx)
{
	(void)ctx;
	hn_fault_arm_thread();
}

/* The threads that run parallel loops, all started; NULL where there is one. */
static struct hone_pool *make_pool(struct cpu_run *run)
{
	struct hone_pool *pool = NULL;
	struct hn_err err;

	if (run->n_workers > 1) {
		if (hn_kernel_pool_new(run->n_workers, arm_thread, NULL, &pool, &err) !=
		    0) {
			cpu_finish(run, HN_VERDICT_NOISY, err.msg);
		}
		/* what a thread does at first is no kernel's business */
		hone_pool_run(pool, do_nothing, NULL, run->n_workers);
	}
	return pool;
}

static void make_env(struct cpu_run *run, struct calling *c, struct hone_pool *pool)
{
	const struct hn_board_kernel *k = c->kernel;
	struct hone_env *env = &c->env;
	uint64_t bytes;

	*env = (struct hone_env){ .abi = HONE_KERNEL_ABI, .n_workers = run->n_workers };
	if (k->shared_bytes > MAX_WORKSPACE ||
	    k->per_worker_bytes > MAX_WORKSPACE / (uint64_t)run->n_workers) {
		cpu_finish(run, HN_VERDICT_OOM, "the workspace is too large");
	}
	bytes = k->shared_bytes + k->per_worker_bytes * (uint64_t)run->n_workers;
	if (bytes > 0) {
		env->workspace = map_redzoned(bytes);
		env->workspace_bytes = bytes;
		if (env->workspace == NULL) {
			cpu_finish(run, HN_VERDICT_OOM, "no memory for the workspace");
		}
	}
	if (pool != NULL) {
		env->parallel_for = hone_pool_run;
		env->ctx = pool;
	}
}

/* NULL when the object has no such function. */
static void *function(const struct hn_object *object, const char *symbol, const char *suffix)
{
	char name[256];

	snprintf(name, sizeof name, "%s%s", symbol, suffix);
	return (void *)hn_object_function(object, name);
}

static void *own_function(struct cpu_run *run, const struct calling *c,
			  const struct hn_object *object, const char *suffix)
{
	void *fn = function(object, c->kernel->symbol, suffix);

	if (fn == NULL) {
		cpu_finish(run, HN_VERDICT_LOAD_FAIL,
		       "object: the kernel's symbol is not in it");
	}
	return fn;
}

/* What the naive program's object may hold beside it. */
static void load_companions(const struct hn_board_workload *from, struct calling *c,
			    const struct hn_object *object)
{
	char name[200];

	if (from->wide != NULL) {
		c->wide = (packed_fn)function(object, from->wide, "_packed");
	}
	if (from->refer != NULL) {
		c->refer = (packed_fn)function(object, from->refer, "_packed");
	}
	for (uint32_t i = 0; from->part != NULL && i < from->parts.n; i++) {
		snprintf(name, sizeof name, "%.150s%u", from->part, i);
		c->part[i] = (packed_fn)function(object, name, "_packed");
	}
	for (uint32_t i = 0; from->sample != NULL && i < HN_SAMPLES; i++) {
		snprintf(name, sizeof name, "%.150s%u", from->sample, i);
		c->sample[i] = (packed_fn)function(object, name, "_packed");
	}
	for (uint32_t i = 0; from->bracket != NULL && i < 2; i++) {
		snprintf(name, sizeof name, "%.150s%u", from->bracket, i);
		c->bracket[i] = (packed_fn)function(object, name, "_packed");
	}
}

static void load(struct cpu_run *run, struct calling *c)
{
	struct hn_object *object;
	struct hn_err err;
	const void *data;
	size_t bytes;

	if (hn_object_load(c->kernel->object, c->kernel->object_bytes, &object,
			   &err) != 0 ||
	    hn_object_freeze(object, &data, &bytes, &err) != 0) {
		cpu_finish(run, HN_VERDICT_LOAD_FAIL, err.msg);
	}
	run->report->storage[c->index].begin = (uint64_t)(uintptr_t)data;
	run->report->storage[c->index].end = (uint64_t)(uintptr_t)data + bytes;
	c->fn = (packed_fn)own_function(run, c, object, "_packed");
	if (run->reference) {
		load_companions(run->made_of, c, object);
		run->report->body.has_sample = c->sample[0] != NULL;
		run->report->body.has_bracket = c->bracket[0] != NULL && c->bracket[1] != NULL;
	}
	if (c->kernel->prepared_bytes > 0) {
		c->prepare = (prepare_fn)own_function(run, c, object, "_prepare_packed");
	}
}

void cpu_poison(const struct cpu_workload *w, enum hn_redzone_place place, int pattern)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output) {
			const struct hn_redzone *g = cpu_placed(&w->buffer[i], place);

			memset(g->data, pattern, g->bytes);
			hn_redzone_mend(g);
		}
	}
}

void **cpu_pointers(const struct cpu_workload *w, enum hn_redzone_place place, uint32_t set,
		       struct hn_arena *a)
{
	void **p = HN_NEW_ARRAY(a, void *, w->n_tensor);

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct cpu_buffer *b = &w->buffer[i];
		const struct hn_redzone *g = set > 0 && !w->tensor[i].output ? &b->further[set]
									   : cpu_placed(b, place);

		hn_redzone_populate(g, w->tensor[i].output);
		p[i] = g->data;
	}
	return p;
}

void cpu_must_have_returned(struct cpu_run *run, const struct calling *c)
{
	if (c->returned == HONE_KERNEL_NOMEM) {
		cpu_finish(run, HN_VERDICT_OOM,
		       "the kernel found no memory for its workspace");
	}
	if (c->returned != 0) {
		cpu_finish(run, HN_VERDICT_WRONG_RESULT,
		       "the kernel returned an unknown code");
	}
}

/* What the kernel need not compute in each call: made once, then read-only. */
void cpu_prepare(struct cpu_run *run, struct calling *c)
{
	uint64_t bytes = c->kernel->prepared_bytes;
	uint8_t *block = bytes <= MAX_WORKSPACE ? map_redzoned(bytes) : NULL;
	size_t tail = (bytes + 63) / 64 * 64, inner = (tail + PAGE - 1) / PAGE * PAGE;

	if (block == NULL) {
		cpu_finish(run, HN_VERDICT_OOM, "no memory for the prepared data");
	}
	hn_fp_reset();
	c->returned = c->prepare(c->args, block, &c->env);
	cpu_must_have_returned(run, c);
	if (mprotect(block + tail - inner, inner, PROT_READ) != 0) {
		cpu_finish(run, HN_VERDICT_OOM, "the prepared data cannot be protected");
	}
	c->env.prepared = block;
	c->env.prepared_bytes = bytes;
}

void cpu_time_naive(struct calling *c, double first_ns, struct hn_timing *t)
{
	double spent_ns = first_ns;

	*t = (struct hn_timing){ .n = 0 };
	if (first_ns > CPU_NAIVE_SLOW_NS) {
		t->sample_ns[t->n++] = first_ns;
		return;
	}
	while (t->n < 1 || (t->n < NAIVE_RUNS && spent_ns < NAIVE_ENOUGH_NS)) {
		t->sample_ns[t->n] = cpu_one_call(c);
		t->spent_ns += t->sample_ns[t->n];
		spent_ns += t->sample_ns[t->n++];
	}
}

static void compare(struct cpu_run *run, enum hn_redzone_place place)
{
	char text[400];
	enum hn_verdict v = hn_cpu_check(run->w, place, 0, text, sizeof text);

	if (v != HN_VERDICT_OK) {
		cpu_finish(run, v, text);
	}
}

void cpu_compute(struct cpu_run *run, struct calling *c)
{
	int64_t begin = hn_clock_ns();

	call(c);
	run->report->body.kernel_ns += hn_clock_ns() - begin;
	cpu_must_have_returned(run, c);
}

static void first_run(struct cpu_run *run, struct calling *c)
{
	cpu_poison(run->w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	if (c->prepare != NULL) {
		cpu_prepare(run, c);
	}
	c->first_ns = cpu_one_call(c);
	c->raised = fetestexcept(HN_FP_RANGE);
	cpu_must_have_returned(run, c);
	run->report->body.kernel_ns += (int64_t)c->first_ns;
	if (!run->reference) {
		compare(run, HN_REDZONE_EXACT);
	}
}

void cpu_last_run(struct cpu_run *run, struct calling *c)
{
	if (run->reference) {
		cpu_poison(run->w, HN_REDZONE_ALIGNED, HN_POISON_SECOND);
	} else {
		cpu_disguise(run->w, HN_REDZONE_ALIGNED, 0, &c->watch->rng);
	}
	cpu_compute(run, c);
}

/* Around the timing of n kernels, which have the same arguments: what lies beside their memory is
 * ordinary memory, too; then the redzones are back. */
static void open_redzones(struct cpu_run *run, const struct calling *c, int n)
{
	struct hn_flush_range range[MOST_RANGES];

	for (int k = 0; k < n; k++) {
		uint32_t n_range = ranges_of(&c[k], range);

		for (uint32_t i = k > 0 ? run->w->n_tensor : 0; i < n_range; i++) {
			if (range[i].bytes > 0 && !hn_redzone_open(range[i].at, range[i].bytes)) {
				cpu_finish(run, HN_VERDICT_OOM, "no memory beside the arguments");
			}
		}
	}
}

static void shut_redzones(struct cpu_run *run, const struct calling *c, int n)
{
	struct hn_flush_range range[MOST_RANGES];
	char text[200];

	for (int k = 0; k < n; k++) {
		uint32_t n_range = ranges_of(&c[k], range), n_tensor = run->w->n_tensor;

		for (uint32_t i = k > 0 ? n_tensor : 0; i < n_range; i++) {
			if (range[i].bytes == 0 || hn_redzone_shut(range[i].at, range[i].bytes)) {
				continue;
			}
			run->report->side = (uint32_t)k;
			snprintf(text, sizeof text,
				 "wrote beside %.60s, within two pages of it, while timing",
				 i < n_tensor ? run->w->tensor[i].name : "its own memory");
			cpu_finish(run, HN_VERDICT_SEGV_GUARD, text);
		}
	}
}

/* Time one kernel; true when other programs left no good time.  *ran: it was called. */
static bool time_one(struct cpu_run *run, struct calling *c, double budget_ns, bool *ran,
		     char *why, size_t n)
{
	struct cpu_report *report = run->report;
	struct hn_timing t;

	if (run->reference) {
		cpu_time_naive(c, c->first_ns, &t);
	} else {
		hn_timing_run(call, c,
			      &(struct hn_timing_plan){.first_ns = c->first_ns,
						       .best_ns = run->best_ns,
						       .budget_ns = budget_ns,
						       .n_thread = (uint32_t)run->n_workers,
						       .chill = chill_of(run->w),
						       .plant = cpu_watch_plant,
						       .look = cpu_watch_look},
			      &t);
	}
	*ran = t.ran;
	report->body.n_sample = t.n;
	report->body.kernel_ns += (int64_t)t.spent_ns;
	memcpy(report->body.sample_ns, t.sample_ns, t.n * sizeof(double));
	snprintf(why, n, "of %u samples %u were disturbed by other programs", t.n_taken,
		 t.n_dropped);
	return t.noisy;
}

static bool time_two(struct cpu_run *run, struct calling *c, double budget_ns, bool *ran,
		     char *why, size_t n)
{
	struct cpu_report *report = run->report;
	void *const ctx[2] = {&c[0], &c[1]};
	struct hn_pairs t;

	hn_pairs_run(call, ctx,
		     &(struct hn_pairs_plan){.first_ns = {c[0].first_ns, c[1].first_ns},
					     .budget_ns = budget_ns,
					     .n_thread = (uint32_t)run->n_workers,
					     .chill = chill_of(run->w),
					     .plant = cpu_watch_plant,
					     .look = cpu_watch_look},
		     &t);
	*ran = t.ran;
	report->body.n_sample = t.n;
	report->body.kernel_ns += (int64_t)t.spent_ns;
	memcpy(report->body.sample_ns, t.ns[0], t.n * sizeof(double));
	memcpy(report->body.rival_ns, t.ns[1], t.n * sizeof(double));
	snprintf(why, n, "%u pairs were disturbed by other programs, %u were not", t.n_dropped,
		 t.n);
	return t.noisy;
}

/* Runs of the kernel itself that follow the timing, at most. */
static double runs_after(const struct cpu_run *run, const struct calling *c)
{
	double n = 1;

	if (run->rival == NULL && !run->reference) {
		n += 3 * cpu_watch_changes(c);
	}
	for (uint32_t set = 1; set < HN_INPUT_SETS; set++) {
		n += run->rival == NULL && run->w->set[set].used;
	}
	return n;
}

/* Nobody is known who is faster. */
static bool may_be_best(const struct cpu_run *run)
{
	const double *sample = run->report->body.sample_ns;

	return run->best_ns <= 0 ||
	       hn_stats_median(sample, run->report->body.n_sample) < run->best_ns;
}

void hn_cpu_run(void *ctx)
{
	struct cpu_run *run = ctx;
	struct cpu_report *report = run->report;
	struct calling c[2] = {{.w = run->w, .kernel = run->kernel, .turn = &report->side},
			       {.w = run->w, .kernel = run->rival, .turn = &report->side,
				.index = 1}};
	int n = run->rival != NULL ? 2 : 1;
	struct hone_pool *pool;
	struct hn_arena a;
	void **exact, **aligned;
	char why[200];
	static struct cpu_watch watch;
	int64_t start = hn_clock_ns(), timed;
	bool noisy, ran;

	for (int i = 0; i < n; i++) {
		report->side = (uint32_t)i;
		load(run, &c[i]);
	}
	hn_arena_init(&a, 0);
	exact = cpu_pointers(run->w, HN_REDZONE_EXACT, 0, &a);
	aligned = cpu_pointers(run->w, HN_REDZONE_ALIGNED, 0, &a);
	pool = make_pool(run);
	for (int i = 0; i < n; i++) {
		make_env(run, &c[i], pool);
	}
	hn_sandbox_enter_kernel(HN_SANDBOX_ALL);
	report->phase = CPU_PHASE_FIRST;
	if (run->bracket != 0) {
		hn_cpu_run_bracket(run, c, &a);
	}
	if (run->sample != CPU_SAMPLE_NONE) {
		hn_cpu_refer_sample(run, c, pool, &a);
	}
	if (run->reference && (c->refer != NULL || (run->set == 0 && c->sample[0] != NULL))) {
		hn_cpu_refer_fast(run, c, pool, &a);
	}
	if (run->set > 0) {
		hn_cpu_refer(run, c, pool, &a);
	}
	for (int i = 0; i < n; i++) {
		report->side = (uint32_t)i;
		c[i].args = exact;
		first_run(run, &c[i]);
		c[i].args = aligned;
	}
	report->phase = CPU_PHASE_TIMING;
	/* the runs after, and a margin for a busy machine, must fit the limit too */
	double budget_ns = 0.9 * 1e6 * (double)run->kernel->limit_ms -
			   (double)(hn_clock_ns() - start) -
			   1.5 * (c[0].first_ns * runs_after(run, &c[0]) + c[1].first_ns);

	if (!run->reference) {
		cpu_watch_begin(run, c, n, &watch);
	}
	timed = hn_clock_ns();
	open_redzones(run, c, n);
	noisy = n == 2 ? time_two(run, c, budget_ns, &ran, why, sizeof why)
		       : time_one(run, c, budget_ns, &ran, why, sizeof why);
	shut_redzones(run, c, n);
	if (!run->reference && ran) { /* else the outputs are in disguise still */
		cpu_watch_end(&watch);
	}
	if (n == 1 && !run->reference) {
		bool thorough = may_be_best(run);

		report->phase = CPU_PHASE_SETS;
		hn_cpu_run_sets(run, &c[0], exact, &a);
		if (thorough) {
			cpu_watch_prove(run, &c[0], budget_ns - (double)(hn_clock_ns() - timed), &a);
			cpu_watch_change(run, &c[0], &a);
		}
	}
	report->phase = CPU_PHASE_LAST;
	if (run->reference) {
		hn_cpu_refer_first(run, &c[0], budget_ns);
	} else {
		for (int i = 0; i < n; i++) {
			cpu_last_run(run, &c[i]);
			if (i + 1 < n) {
				compare(run, HN_REDZONE_ALIGNED);
			}
		}
	}
	cpu_finish(run, noisy ? HN_VERDICT_NOISY : HN_VERDICT_OK, noisy ? why : "");
}
