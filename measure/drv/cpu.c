/* cpu.c -- the board that is this machine's cores.
 *
 * Holds the buffers and references of the latest workloads (struct cpu_workload) in
 * memory that children inherit at the same addresses: inputs and references sealed,
 * outputs shared.  Every run of a kernel, the naive one too, and every probe is a child
 * of its own (child.h).
 */
#include "measure/drv/cpu_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arith.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "measure/board/child.h"
#include "measure/board/pool.h"
#include "measure/board/sandbox.h"
#include "measure/board/timing.h"

#define PAGE ((size_t)4096)
#define BRACKET_NS 3e8 /* of a reference: a bracket is two runs like it, on each set */
#define RUNS 8 /* of a kernel whose process is killed again and again */
#define FIRST_PAUSE_NS 1000000 /* between them, doubled each time */
/* What a child may take beside the kernel's own: the object, loaded and as it came, the thread
 * pool's stacks and its malloc's. */
#define CHILD_BYTES ((int64_t)1 << 30)
#define THREAD_BYTES ((int64_t)160 << 20)
#define PROBE_BYTES ((sizeof(struct hn_probe) + 63) / 64 * 64)

static void workload_free(struct cpu_workload *w)
{
	if (w == NULL) {
		return;
	}
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		hn_redzone_unmap(&w->buffer[i].exact);
		hn_redzone_unmap(&w->buffer[i].aligned);
		for (uint32_t set = 0; set < HN_INPUT_SETS; set++) {
			hn_redzone_unmap(&w->buffer[i].further[set]);
			hn_redzone_unmap(&w->buffer[i].reference[set]);
			hn_redzone_unmap(&w->buffer[i].bracket[0][set]);
			hn_redzone_unmap(&w->buffer[i].bracket[1][set]);
		}
	}
	hn_arena_fini(&w->arena);
	free(w);
}

static int map_shared(struct cpu_board *b, struct hn_err *err)
{
	size_t inner =
		(sizeof(struct cpu_report) + PROBE_BYTES + PAGE - 1) /
		PAGE * PAGE;
	uint8_t *at = mmap(NULL, inner + 2 * PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	if (at == MAP_FAILED || mprotect(at + PAGE, inner, PROT_READ | PROT_WRITE) != 0) {
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	b->report = (struct cpu_report *)(at + PAGE);
	b->probe = (struct hn_probe *)(at + PAGE + inner - PROBE_BYTES);
	return 0;
}

int hn_cpu_open(struct cpu_board **ret, struct hn_err *err)
{
	struct cpu_board *b = calloc(1, sizeof *b);
	int rc;

	if (b == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	b->stolen_ns = hn_cpu_stolen_ns;
	rc = map_shared(b, err);
	if (rc != 0) {
		free(b);
		return rc;
	}
	*ret = b;
	return 0;
}

static int cpu_open(const struct hn_board_place *at, void **ret_board,
		    struct hn_err *err)
{
	struct cpu_board *b = NULL;
	int rc = hn_cpu_open(&b, err);

	(void)at;
	if (rc == 0) {
		b->sandbox = hn_sandbox_enter_process(HN_SANDBOX_ALL) | hn_sandbox_try();
		*ret_board = b;
	}
	return rc;
}

static void cpu_close(void *board)
{
	struct cpu_board *b = board;

	for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
		workload_free(b->workload[i]);
	}
	free(b);
}

static void answer(struct hn_board_answer *ret, enum hn_verdict v, const char *text)
{
	ret->verdict = v;
	snprintf(ret->detail, sizeof ret->detail, "%.390s", text);
}

/* What a process running this kernel adds to the buffers. */
static int64_t workspace_bytes(const struct hn_board_kernel *k, int32_t n_workers)
{
	int64_t own = k->per_worker_bytes < INT64_MAX ? (int64_t)k->per_worker_bytes : INT64_MAX;
	int64_t all = k->shared_bytes < INT64_MAX ? (int64_t)k->shared_bytes : INT64_MAX;
	int64_t once = k->prepared_bytes < INT64_MAX ? (int64_t)k->prepared_bytes : INT64_MAX;

	return hn_add_sat(hn_add_sat(all, once), hn_mul_sat(own, n_workers));
}

/* What the buffers of these arguments take for so many input sets, whole pages and redzones;
 * held: with brackets of those outputs that have some. */
static int64_t buffer_bytes(uint32_t n, const struct hn_tensor *t, uint32_t n_set, bool held)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n && sum < HN_TENSOR_MAX_BYTES; i++) {
		int64_t one = (t[i].bytes + (int64_t)PAGE - 1) / (int64_t)PAGE * (int64_t)PAGE +
			      2 * (int64_t)PAGE;

		bool bracket = held && t[i].output && hn_cpu_is_held(&t[i]);

		sum += one * (n_set * (bracket ? 3 : 1) + (t[i].bytes % 64 != 0) + t[i].output);
	}
	return sum;
}

static int64_t held_bytes(const struct cpu_board *b)
{
	int64_t sum = 0;

	for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
		sum += b->workload[i] != NULL ? b->workload[i]->bytes : 0;
	}
	return sum;
}

/* What a board may take: half of the smallest limit, for honed, builders and others live there,
 * too; and three quarters of what is free now, with what it could let go of. */
struct allowance {
	struct hn_memory memory;
	int64_t ever, now;
};

static struct allowance allowance(const struct cpu_board *b)
{
	struct allowance a;

	hn_memory_read("", &a.memory);
	a.ever = a.memory.limit / 2;
	a.now = hn_add_sat(a.memory.available, held_bytes(b)) / 4 * 3;
	a.now = a.now < a.ever ? a.now : a.ever;
	return a;
}

/* Why so many bytes are not to be had: how many are needed, how many there are. */
static void print_refusal(const struct allowance *a, const char *what, int64_t bytes, char *text,
			  size_t n)
{
	char need[32], may[32], whole[32];
	bool ever = bytes > a->ever;

	hn_memory_print(bytes, need, sizeof need);
	hn_memory_print(ever ? a->ever : a->now, may, sizeof may);
	hn_memory_print(ever ? a->memory.limit : a->memory.available, whole, sizeof whole);
	snprintf(text, n, "%s %s; the board may use %s, %s of the %s %s", what, need, may,
		 ever ? "half" : "three quarters", whole,
		 ever ? a->memory.limit_by : a->memory.available_by);
}

/* The slot to use next: this key's, an empty one, or the least recently used. */
static struct cpu_workload **slot_for(struct cpu_board *b, const char *key)
{
	struct cpu_workload **oldest = &b->workload[0];

	for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
		if (b->workload[i] != NULL && strcmp(b->workload[i]->key, key) == 0) {
			return &b->workload[i];
		}
	}
	for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
		if (b->workload[i] == NULL) {
			return &b->workload[i];
		}
		if (b->workload[i]->used < (*oldest)->used) {
			oldest = &b->workload[i];
		}
	}
	return oldest;
}

/* Forget workloads, oldest first, until `bytes` more are within what is allowed. */
static void make_room(struct cpu_board *b, int64_t bytes, int64_t allowed)
{
	while (hn_add_sat(bytes, held_bytes(b)) > allowed) {
		struct cpu_workload **oldest = NULL;

		for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
			struct cpu_workload **w = &b->workload[i];

			if (*w != NULL && (oldest == NULL || (*w)->used < (*oldest)->used)) {
				oldest = w;
			}
		}
		if (oldest == NULL) {
			return;
		}
		workload_free(*oldest);
		*oldest = NULL;
	}
}

int hn_cpu_map_input(const struct cpu_workload *w, uint32_t i, const struct hn_inputs *in,
		     enum hn_redzone_place place, struct hn_redzone *ret, struct hn_err *err)
{
	int rc = hn_redzone_map((size_t)w->tensor[i].bytes, place, ret, err);

	if (rc == 0) {
		hn_inputs_fill(in, &w->tensor[i], i, ret->data);
		rc = hn_redzone_seal(ret, err);
	}
	return rc;
}

static int map_buffers(struct cpu_workload *w, struct hn_err *err)
{
	const struct hn_inputs *in = &w->set[0].inputs;
	int rc = 0;

	for (uint32_t i = 0; i < w->n_tensor && rc == 0; i++) {
		const struct hn_tensor *t = &w->tensor[i];
		struct cpu_buffer *b = &w->buffer[i];
		size_t bytes = (size_t)t->bytes;
		bool both = t->bytes % 64 != 0;

		if (t->output) {
			rc = hn_redzone_map(bytes, HN_REDZONE_EXACT, &b->exact, err);
			if (rc == 0 && both) {
				rc = hn_redzone_map(bytes, HN_REDZONE_ALIGNED, &b->aligned,
						  err);
			}
			hn_redzone_settle(&b->exact);
			hn_redzone_settle(&b->aligned);
			if (rc == 0) {
				rc = hn_redzone_map(bytes, HN_REDZONE_ALIGNED,
						  &b->reference[0], err);
			}
		} else {
			rc = hn_cpu_map_input(w, i, in, HN_REDZONE_EXACT, &b->exact, err);
			if (rc == 0 && both) {
				rc = hn_cpu_map_input(w, i, in, HN_REDZONE_ALIGNED,
						      &b->aligned, err);
			}
		}
	}
	return rc;
}

static void copy_tensors(struct cpu_workload *w, const struct hn_board_workload *from)
{
	w->n_tensor = from->n_tensor;
	w->tensor = HN_NEW_ARRAY(&w->arena, struct hn_tensor, w->n_tensor);
	w->buffer = HN_NEW_ARRAY(&w->arena, struct cpu_buffer, w->n_tensor);
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct hn_tensor *t = &from->tensor[i];
		int64_t *shape = HN_NEW_ARRAY(&w->arena, int64_t, t->n_dim);

		memcpy(shape, t->shape, t->n_dim * sizeof *shape);
		w->tensor[i] = *t;
		w->tensor[i].shape = shape;
		w->tensor[i].name = hn_arena_strdup(&w->arena, t->name);
	}
}

static struct cpu_workload *workload_new(const struct hn_board_workload *from)
{
	struct cpu_workload *w = calloc(1, sizeof *w);

	if (w != NULL) {
		hn_arena_init(&w->arena, 0);
		w->key = hn_arena_strdup(&w->arena, from->key);
		w->tolerance = from->tolerance;
		w->need = from->need;
		w->cold = from->cold;
		w->settled = from->settled;
		w->set[0] = (struct cpu_set){.used = true,
					     .inputs = {HN_INPUTS_PLAIN, from->seed, 0}};
		copy_tensors(w, from);
	}
	return w;
}

#define RANGES (2 + HN_INPUT_SETS) /* of a buffer */

static uint32_t fault_ranges(const struct cpu_workload *w, struct hn_fault_range *range)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		const struct cpu_buffer *b = &w->buffer[i];
		const struct hn_redzone *g[RANGES] = {&b->exact, &b->aligned};

		for (size_t j = 2; j < RANGES; j++) {
			g[j] = w->tensor[i].output ? &b->reference[j - 2] : &b->further[j - 2];
		}
		for (size_t j = 0; j < RANGES; j++) {
			if (g[j]->region != NULL) {
				range[n++] = (struct hn_fault_range){
					.begin = (uint64_t)(uintptr_t)g[j]->region,
					.end = (uint64_t)(uintptr_t)g[j]->region +
					       g[j]->region_bytes,
					.data_begin = (uint64_t)(uintptr_t)g[j]->data,
					.data_end = (uint64_t)(uintptr_t)g[j]->data +
						    g[j]->bytes,
					.name = w->tensor[i].name,
					.read_only = !w->tensor[i].output || j >= 2,
				};
			}
		}
	}
	return n;
}

/* ... and where its kernels may not write. */
static uint32_t storage_ranges(const struct cpu_report *r, struct hn_fault_range *range)
{
	uint32_t n = 0;

	for (size_t i = 0; i < HN_COUNT_OF(r->storage); i++) {
		if (r->storage[i].end > r->storage[i].begin) {
			range[n++] = (struct hn_fault_range){
				.begin = r->storage[i].begin, .end = r->storage[i].end,
				.data_begin = r->storage[i].begin, .data_end = r->storage[i].end,
				.name = "its own", .read_only = true, .storage = true};
		}
	}
	return n;
}

static void judge_end(const struct cpu_run *run, const struct hn_fault_end *end,
		      struct hn_board_answer *ret)
{
	static const char *const phases[] = {"while loading", "in the first run",
					     "while timing", "on further inputs",
					     "in the last run"};
	struct hn_fault_range range[RANGES * HN_FRAME_ARGS + HN_COUNT_OF(run->report->storage)];
	uint32_t phase = run->report->phase, n = fault_ranges(run->w, range);
	char text[300];

	n += storage_ranges(run->report, range + n);
	ret->verdict = hn_fault_classify(end, &run->report->note, n, range, text, sizeof text);
	snprintf(ret->detail, sizeof ret->detail, "%s, %s", text,
		 phase < HN_COUNT_OF(phases) ? phases[phase] : "place unknown");
}

static void run_once(struct cpu_board *b, struct cpu_run *run,
		     const struct hn_child_limits *limits, struct hn_board_answer *ret)
{
	struct cpu_report *r = b->report;
	struct hn_fault_end end;
	struct hn_err err;

	memset(r, 0, sizeof *r);
	ret->rivals = false;
	run->report = r;
	run->token = hn_hash64(&b->requests, sizeof b->requests, (uint64_t)hn_clock_ns());
	if (hn_child_run(hn_cpu_run, run, limits, &r->note, &end, &err) != 0) {
		answer(ret, HN_VERDICT_RUN_LOST, err.msg);
		return;
	}
	ret->rivals = r->side == 1;
	if (end.timed_out || end.status != 0 || r->seal != hn_cpu_seal(r, run->token) ||
	    r->body.n_sample > (run->rival != NULL ? HN_PAIRS : HN_STATS_MAX_SAMPLE) ||
	    r->body.verdict >= HN_N_VERDICT) {
		judge_end(run, &end, ret);
		return;
	}
	r->body.detail[sizeof r->body.detail - 1] = '\0';
	answer(ret, r->body.verdict, r->body.detail);
	ret->n_sample = ret->verdict == HN_VERDICT_OK || ret->verdict == HN_VERDICT_NOISY
				? r->body.n_sample
				: 0;
	ret->kernel_ns = r->body.kernel_ns;
	ret->thorough = r->body.thorough;
	memcpy(ret->sample_ns, r->body.sample_ns, ret->n_sample * sizeof(double));
	memcpy(ret->rival_ns, r->body.rival_ns, sizeof ret->rival_ns);
}

/* A kernel that would take more than there is does not run: the system would end it, or us. */
static bool has_memory(const struct cpu_board *b, int64_t bytes, struct hn_board_answer *ret)
{
	struct allowance a;

	if (bytes < CHILD_BYTES / 16) {
		return true;
	}
	a = allowance(b);
	ret->verdict = bytes > a.ever				? HN_VERDICT_OOM
		       : bytes > a.memory.available / 4 * 3 ? HN_VERDICT_RUN_LOST
								: HN_VERDICT_OK;
	if (ret->verdict != HN_VERDICT_OK) {
		a.now = a.memory.available / 4 * 3;
		print_refusal(&a, "its workspace takes", bytes, ret->detail, sizeof ret->detail);
	}
	return ret->verdict == HN_VERDICT_OK;
}

/* What is killed or stopped from outside says nothing, and runs again while there is time. */
void hn_cpu_run_child(struct cpu_board *b, struct cpu_run *run, struct hn_board_answer *ret)
{
	int64_t own = workspace_bytes(run->kernel, run->n_workers);
	struct hn_child_limits limits = {.ns = hn_mul_sat(run->kernel->limit_ms, 1000000)};
	int64_t begin = hn_clock_ns();

	if (run->rival != NULL) {
		own = hn_add_sat(own, workspace_bytes(run->rival, run->n_workers));
	}
	ret->n_sample = 0;
	if (!has_memory(b, own, ret)) {
		return;
	}
	limits.bytes = hn_add_sat(hn_mul_sat(own, 2),
				  hn_add_sat(CHILD_BYTES, hn_mul_sat(THREAD_BYTES, run->n_workers)));
	for (int i = 0; i < RUNS; i++) {
		if (i > 0) {
			nanosleep(&(struct timespec){.tv_nsec = FIRST_PAUSE_NS << i}, NULL);
		}
		run_once(b, run, &limits, ret);
		if (ret->verdict != HN_VERDICT_RUN_LOST || hn_clock_ns() - begin >= limits.ns) {
			return;
		}
	}
}

/* Outputs of the naive run, its last, become the reference, where it was not made in place. */
static int keep_reference(struct cpu_workload *w, bool in_place, struct hn_err *err)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		struct cpu_buffer *b = &w->buffer[i];
		int rc;

		if (!w->tensor[i].output) {
			continue;
		}
		if (!in_place) {
			memcpy(b->reference[0].data, cpu_placed(b, HN_REDZONE_ALIGNED)->data,
			       b->reference[0].bytes);
		}
		rc = hn_redzone_seal(&b->reference[0], err);
		if (rc != 0) {
			return rc;
		}
		b->scale[0] = hn_verify_scale(&w->tensor[i], b->reference[0].data);
	}
	return 0;
}

static uint32_t count_sets(const struct hn_board_workload *from)
{
	uint32_t n = 0;

	for (uint32_t set = 0; set < HN_INPUT_SETS; set++) {
		n += hn_cpu_set_serves(set, from->n_tensor, from->tensor);
	}
	return n;
}

static void say_sets(const struct cpu_workload *w, struct hn_board_answer *ret)
{
	hn_cpu_print_sets(w, ret->detail, sizeof ret->detail);
	ret->in_part = false;
	for (uint32_t set = 0; set < HN_INPUT_SETS; set++) {
		ret->in_part |= w->set[set].used && w->set[set].sampled;
	}
}

/* What was said when it was made. */
static void answer_again(struct cpu_board *b, struct cpu_workload *w, double naive_ns,
			 struct hn_board_answer *ret)
{
	w->used = ++b->requests;
	ret->verdict = HN_VERDICT_OK;
	say_sets(w, ret);
	ret->n_sample = 1;
	ret->sample_ns[0] = naive_ns > 0 ? naive_ns : w->naive_ns;
	ret->naive_share = w->naive_share;
	ret->run_ns = 0;
}

/* The time is known: the first set's reference is still to be made. */
static void by_sample(struct cpu_board *b, struct cpu_workload *w,
		      const struct hn_board_workload *from, struct hn_board_answer *ret)
{
	double naive_ns = ret->sample_ns[0], share = b->report->body.naive_share;

	hn_cpu_sample(b, w, 0, from, ret);
	w->has_sample = ret->verdict == HN_VERDICT_OK;
	ret->n_sample = ret->verdict == HN_VERDICT_OK ? 1 : 0;
	ret->sample_ns[0] = naive_ns;
	ret->naive_share = share;
}

static void cpu_workload(void *board, const struct hn_board_workload *from,
			 struct hn_board_answer *ret)
{
	struct cpu_board *b = board;
	struct cpu_workload **slot = slot_for(b, from->key), *w;
	struct cpu_run run = {.kernel = &from->naive, .made_of = from, .reference = true,
			      .n_workers = from->refer != NULL ? hone_pool_cpus() : 1};
	struct hn_board_workload alone;
	int64_t begin = hn_clock_ns();
	struct hn_err err = {0};
	uint64_t origin = hn_cpu_origin(from);
	int64_t least = buffer_bytes(from->n_tensor, from->tensor, 1, false);
	int64_t wanted = buffer_bytes(from->n_tensor, from->tensor, count_sets(from),
				      from->bracket != NULL);
	int64_t own = workspace_bytes(&from->naive, run.n_workers);
	struct allowance may;
	char text[300];
	bool room, stands_in;

	if (*slot != NULL && strcmp((*slot)->key, from->key) == 0 && (*slot)->origin == origin) {
		answer_again(b, *slot, from->naive_ns, ret);
		return;
	}
	workload_free(*slot);
	*slot = NULL;
	may = allowance(b);
	/* a further set has two processes' worth of workspace in one (cpu_refer.c) */
	room = hn_add_sat(wanted, hn_mul_sat(own, 2)) <= may.now;
	if (hn_add_sat(least, own) > may.now) {
		print_refusal(&may, "arguments, references and workspace take",
			      hn_add_sat(least, own), text, sizeof text);
		answer(ret, HN_VERDICT_OOM, text);
		return;
	}
	w = workload_new(from);
	if (w == NULL) {
		answer(ret, HN_VERDICT_OOM, "out of memory");
		return;
	}
	w->bytes = room ? wanted : least;
	make_room(b, hn_add_sat(w->bytes, own), may.now);
	if (map_buffers(w, &err) != 0) {
		answer(ret, HN_VERDICT_OOM, err.msg);
		workload_free(w);
		return;
	}
	run.w = w;
	hn_cpu_run_child(b, &run, ret);
	stands_in = from->refer != NULL;
	if (ret->verdict == HN_VERDICT_OK && b->report->body.sampled) {
		stands_in = true;
		by_sample(b, w, from, ret);
	}
	if (ret->verdict != HN_VERDICT_OK && stands_in) {
		/* what stands in for the naive program is no reason to do without it */
		alone = *from;
		alone.refer = alone.sample = NULL;
		from = run.made_of = &alone;
		run.n_workers = 1;
		hn_cpu_run_child(b, &run, ret);
	}
	if (ret->verdict == HN_VERDICT_OK &&
	    keep_reference(w, w->set[0].sampled || b->report->body.refer_ns > 0, &err) != 0) {
		answer(ret, HN_VERDICT_OOM, err.msg);
	}
	if (ret->verdict == HN_VERDICT_OK) {
		w->wide = b->report->body.wide;
		w->refer_ns = b->report->body.refer_ns;
		w->has_sample = w->has_sample || b->report->body.has_sample;
		ret->naive_share = w->set[0].sampled ? ret->naive_share
						     : b->report->body.naive_share;
		double naive_ns = hn_stats_median(ret->sample_ns, ret->n_sample);

		w->has_bracket = b->report->body.has_bracket && room && !w->set[0].sampled &&
				 (w->refer_ns > 0 ? w->refer_ns : naive_ns) < BRACKET_NS;
		w->has_bracket = w->has_bracket && hn_cpu_bracket(b, w, 0, from);
		hn_cpu_make_sets(b, w, from, room, naive_ns);
		say_sets(w, ret);
		if (w->lost) {
			answer(ret, HN_VERDICT_RUN_LOST,
			       "the naive program's process was lost, again and again");
		}
	}
	ret->run_ns = hn_clock_ns() - begin;
	if (ret->verdict != HN_VERDICT_OK) {
		workload_free(w);
		return;
	}
	w->origin = origin;
	w->naive_ns = hn_stats_median(ret->sample_ns, ret->n_sample);
	w->naive_share = ret->naive_share;
	w->used = w->made = ++b->requests;
	*slot = w;
}

struct cpu_workload *hn_cpu_find(struct cpu_board *b, const char *key)
{
	struct cpu_workload *w = *slot_for(b, key);

	return w != NULL && strcmp(w->key, key) == 0 ? w : NULL;
}

static int cpu_canary(void *board, struct hn_canary *ret, struct hn_err *err)
{
	struct cpu_board *b = board;

	(void)err;
	*ret = hn_cpu_canary(&b->canary);
	return 0;
}

static void cpu_measure(void *board, const struct hn_board_request *r,
			struct hn_board_answer *ret)
{
	struct cpu_board *b = board;
	struct cpu_workload *w = hn_cpu_find(b, r->key);
	int32_t cores = hone_pool_cpus();
	struct cpu_run run = {.w = w, .kernel = &r->kernel,
			      .rival = r->rival.object != NULL ? &r->rival : NULL,
			      .best_ns = r->best_ns};
	int64_t begin = hn_clock_ns(), stolen = b->stolen_ns();
	char text[300];

	if (w == NULL) {
		answer(ret, HN_VERDICT_NONE, "workload not known");
		return;
	}
	w->used = ++b->requests;
	run.n_workers = r->n_workers > 0 && r->n_workers < cores ? r->n_workers : cores;
	hn_cpu_run_child(b, &run, ret);
	/* a time too uncertain to tell is no excuse for a wrong answer */
	if (ret->verdict == HN_VERDICT_OK ||
	    (ret->verdict == HN_VERDICT_NOISY && b->report->phase == CPU_PHASE_LAST)) {
		enum hn_verdict v = hn_cpu_check(w, HN_REDZONE_ALIGNED, 0, text, sizeof text);

		/* the child compared the first run and found it right */
		if (v == HN_VERDICT_WRONG_RESULT) {
			ret->verdict = HN_VERDICT_NONDETERMINISTIC;
			snprintf(ret->detail, sizeof ret->detail,
				 "right at first, wrong at last: %s", text);
		} else if (v != HN_VERDICT_OK) {
			answer(ret, v, text);
		}
	}
	/* ... nor for an impossible one: noise only adds */
	if (ret->n_sample > 0 &&
	    (ret->verdict == HN_VERDICT_OK || ret->verdict == HN_VERDICT_NOISY)) {
		hn_cpu_check_plausible(b, w, ret);
	}
	if (ret->verdict == HN_VERDICT_OK) {
		hn_cpu_check_stolen(b->stolen_ns() - stolen, hn_clock_ns() - begin,
				    r->best_ns, ret);
	}
	if (ret->verdict != HN_VERDICT_OK && ret->verdict != HN_VERDICT_NOISY) {
		ret->n_sample = 0;
	}
	ret->run_ns = hn_clock_ns() - begin;
}

const struct hn_board_ops hn_board_cpu = {.name = "cpu",
					  .cold = true,
					  .open = cpu_open,
					  .close = cpu_close,
					  .workload = cpu_workload,
					  .measure = cpu_measure,
					  .probe = hn_cpu_probe,
					  .canary = cpu_canary};
