/* cpu_watch.c -- checks calls between the first and the last, in the child, while the clock is
 * stopped.
 *
 * While a kernel is timed, each call overwrites the answer of the one before. So the outputs are
 * poisoned in disguise (poison.h) before the timing, and compared after it. Between two samples
 * a few planted elements must be gone, and a random part must be right: at most some thousand
 * elements, so that the caches hold the sample's data again after a thousandth of it.
 *
 * A kernel that may be the best makes further calls that are not timed. They go in turn over all
 * sets of inputs, and each is compared as a whole, at first with noise in the workspace. Before
 * the last run, which is on the first set, come two calls whose answers the last run must not
 * give: one on another set, in case the kernel remembers the first set's answer, and one on the
 * first set with a few elements of each input changed in place. Addresses and neighbours are
 * then the first set's own. Both are done once before, too.
 */
#include "measure/drv/cpu_call.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "measure/board/poison.h"

#define PAGE ((size_t)4096)
#define PART 1024	     /* elements compared between two samples, ... */
#define PARTS 2		     /* ... so many times; all where there are no more */
#define NOISE_BYTES ((uint64_t)64 << 20) /* of a workspace that are made noise, at most */
#define CHANGED 2	     /* elements of each input, ... */
#define DRAWS 32	     /* for one that is not the same by chance */
#define CHANGES 2	     /* ... twice: what knows its inputs by a few may know one of these; */
#define ONCE_NS 2e7	     /* once when a call takes longer, ... */
#define NEVER_NS 2e8	     /* ... and not at all */
#define MORE_CALLS 256	     /* compared one by one, ... */
#define MORE_NS 25e6	     /* ... as many as take so long on a quiet machine, ... */
#define NS_A_BYTE 0.5	     /* to poison and compare an output */
#define FORGETFUL 32	     /* ... the first of them with noise for a workspace */

static const void *wanted(const struct cpu_workload *w, uint32_t tensor, uint32_t set)
{
	return w->buffer[tensor].reference[set].data;
}

void cpu_disguise(const struct cpu_workload *w, enum hn_redzone_place place, uint32_t set,
		  struct hn_rng *r)
{
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output) {
			const struct hn_redzone *g = cpu_placed(&w->buffer[i], place);

			hn_poison_all(&w->tensor[i], wanted(w, i, set), w->buffer[i].scale[set], r,
				      g->data);
			hn_redzone_mend(g);
		}
	}
}

static void scramble(const struct calling *c, struct hn_rng *r)
{
	uint64_t n = c->env.workspace_bytes;

	hn_poison_noise(r, c->env.workspace, n < NOISE_BYTES ? n : NOISE_BYTES);
}

void cpu_watch_begin(struct cpu_run *run, struct calling *c, int n, struct cpu_watch *watch)
{
	const struct cpu_workload *w = run->w;

	*watch = (struct cpu_watch){.run = run, .rng = hn_rng_stream(run->token, 0, 0, 0)};
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		if (w->tensor[i].output) {
			watch->output[watch->n_output++] = i;
			watch->n_elem += w->tensor[i].n_elem;
		}
	}
	cpu_disguise(w, HN_REDZONE_ALIGNED, 0, &watch->rng);
	for (int i = 0; i < n; i++) {
		c[i].watch = watch;
		scramble(&c[i], &watch->rng);
	}
}

static uint32_t draw_output(struct cpu_watch *watch)
{
	return watch->output[hn_rng_below(&watch->rng, watch->n_output)];
}

/* A few elements wrong among what the last call left. */
static void plant(struct cpu_watch *watch, uint32_t set, enum hn_redzone_place place)
{
	const struct cpu_workload *w = watch->run->w;
	uint32_t n = watch->n_elem < 4 * CPU_PLANTED ? (uint32_t)watch->n_elem / 4 + 1
						     : CPU_PLANTED;

	for (watch->n = 0; watch->n < n; watch->n++) {
		uint32_t i = draw_output(watch);
		int64_t at = hn_cpu_draw(w, i, set, &watch->rng);

		hn_poison_one(&w->tensor[i], wanted(w, i, set), w->buffer[i].scale[set],
			      &watch->rng, at, cpu_placed(&w->buffer[i], place)->data);
		watch->planted[watch->n].tensor = i;
		watch->planted[watch->n].at = at;
	}
}

static bool part_right(const struct cpu_workload *w, uint32_t i, int64_t begin, int64_t end)
{
	struct hn_mismatch m;

	return hn_cpu_verify(w, i, 0, cpu_placed(&w->buffer[i], HN_REDZONE_ALIGNED)->data, begin,
			     end, &m);
}

static bool parts_right(struct cpu_watch *watch)
{
	const struct cpu_workload *w = watch->run->w;
	bool right = true;

	for (uint32_t k = 0; k < watch->n_output && watch->n_elem <= PARTS * PART; k++) {
		uint32_t i = watch->output[k];

		right = right && part_right(w, i, 0, w->tensor[i].n_elem);
	}
	for (int k = 0; k < PARTS && watch->n_elem > PARTS * PART; k++) {
		uint32_t i = draw_output(watch);
		int64_t n = w->tensor[i].n_elem, part = n < PART ? n : PART;
		int64_t at = hn_cpu_draw(w, i, 0, &watch->rng) - part / 2;
		int64_t begin = at < 0 ? 0 : at > n - part ? n - part : at;

		right = right && part_right(w, i, begin, begin + part);
	}
	return right;
}

/* The whole of it, for the words; ends the process when it is wrong. */
static void must_be_right(struct cpu_run *run, enum hn_redzone_place place, uint32_t set,
			  const char *when)
{
	char text[300], detail[400];
	enum hn_verdict v = hn_cpu_check(run->w, place, set, text, sizeof text);

	if (v == HN_VERDICT_WRONG_RESULT) {
		snprintf(detail, sizeof detail, "right at first, wrong %s: %s", when, text);
		cpu_finish(run, HN_VERDICT_NONDETERMINISTIC, detail);
	} else if (v != HN_VERDICT_OK) {
		cpu_finish(run, v, text);
	}
}

void cpu_watch_plant(void *ctx)
{
	struct calling *c = ctx;

	plant(c->watch, 0, HN_REDZONE_ALIGNED);
}

void cpu_watch_look(void *ctx)
{
	struct cpu_watch *watch = ((struct calling *)ctx)->watch;
	bool right = parts_right(watch);

	for (uint32_t k = 0; k < watch->n; k++) {
		int64_t at = watch->planted[k].at;

		right = right && part_right(watch->run->w, watch->planted[k].tensor, at, at + 1);
	}
	if (!right) {
		must_be_right(watch->run, HN_REDZONE_ALIGNED, 0, "while timing");
	}
}

void cpu_watch_end(struct cpu_watch *watch)
{
	must_be_right(watch->run, HN_REDZONE_ALIGNED, 0, "while timing");
}

/* One element of an input, and what it was. */
struct change {
	uint8_t *begin; /* its page, or pages, which are this process's own from now on */
	size_t bytes, size;
	uint8_t *at, old[8];
};

/* Another page in the place of a sealed one, with the same contents. */
static bool own_pages(const struct change *c)
{
	uint8_t *copy = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);

	if (copy == MAP_FAILED) {
		return false;
	}
	memcpy(copy, c->begin, c->bytes);
	return mremap(copy, c->bytes, c->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, c->begin) == c->begin;
}

/* It becomes what another element of the input is. */
static bool change_one(const struct hn_tensor *t, uint8_t *data, struct hn_rng *r,
		       struct change *c)
{
	size_t size = hn_dtype_bytes(t->elem);
	uint64_t n = (uint64_t)t->n_elem;
	const uint8_t *from = data;
	uintptr_t at, end;

	*c = (struct change){.size = size, .at = data + hn_rng_below(r, n) * size};
	for (int k = 0; k < DRAWS && memcmp(from, c->at, size) == 0; k++) {
		from = data + hn_rng_below(r, n) * size;
	}
	at = (uintptr_t)c->at;
	end = (at + size + PAGE - 1) / PAGE * PAGE;
	c->begin = c->at - at % PAGE;
	c->bytes = (size_t)(end - (uintptr_t)c->begin);
	memcpy(c->old, c->at, size);
	if (!own_pages(c)) {
		return false;
	}
	memmove(c->at, from, size);
	return mprotect(c->begin, c->bytes, PROT_READ) == 0;
}

/* A few elements of each input of a call; false when there is no memory. */
static bool change_inputs(const struct calling *c, struct hn_rng *r, struct change *change,
			  uint32_t *ret_n)
{
	const struct cpu_workload *w = c->w;

	*ret_n = 0;
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		for (int k = 0; k < CHANGED && !w->tensor[i].output; k++) {
			if (!change_one(&w->tensor[i], c->args[i], r, &change[(*ret_n)++])) {
				return false;
			}
		}
	}
	return true;
}

/* Backwards: the same element may have changed twice. */
static bool restore_inputs(const struct change *change, uint32_t n)
{
	bool restored = true;

	while (n-- > 0) {
		const struct change *c = &change[n];

		restored = restored &&
			   mprotect(c->begin, c->bytes, PROT_READ | PROT_WRITE) == 0;
		if (restored) {
			memcpy(c->at, c->old, c->size);
			restored = mprotect(c->begin, c->bytes, PROT_READ) == 0;
		}
	}
	return restored;
}

static void must_change(struct cpu_run *run, bool changed)
{
	if (!changed) {
		cpu_finish(run, HN_VERDICT_OOM, "no memory for other inputs");
	}
}

/* One call that nobody compares, with what it needs prepared. */
static void call_prepared(struct cpu_run *run, const struct calling *timed, void *const *args)
{
	struct calling c = *timed;

	c.args = args;
	if (c.prepare != NULL) {
		cpu_prepare(run, &c);
	}
	cpu_compute(run, &c);
}

uint32_t cpu_watch_changes(const struct calling *timed)
{
	return timed->first_ns > NEVER_NS ? 0 : timed->first_ns > ONCE_NS ? 1 : CHANGES;
}

void cpu_watch_change(struct cpu_run *run, const struct calling *timed, struct hn_arena *a)
{
	static struct change change[CHANGED * HN_FRAME_ARGS];
	uint32_t n, set = 1;

	while (set < HN_INPUT_SETS && !run->w->set[set].used) {
		set++;
	}
	if (set == HN_INPUT_SETS) {
		return;
	}
	for (uint32_t k = 0; k < cpu_watch_changes(timed); k++) {
		if (k > 0) {
			struct calling c = *timed;

			cpu_last_run(run, &c);
			must_be_right(run, HN_REDZONE_ALIGNED, 0, "in a later call");
		}
		call_prepared(run, timed, cpu_pointers(run->w, HN_REDZONE_ALIGNED, set, a));
		must_change(run, change_inputs(timed, &timed->watch->rng, change, &n));
		call_prepared(run, timed, timed->args);
		must_change(run, restore_inputs(change, n));
	}
}

/* The outputs before the k-th call: wrong everywhere, the answer but for a few, no numbers. */
static void set_outputs(struct cpu_watch *watch, uint32_t set, uint32_t k)
{
	const struct cpu_workload *w = watch->run->w;

	if (k % 3 == 2) {
		cpu_poison(w, HN_REDZONE_EXACT, HN_POISON_FIRST);
	} else if (k % 3 == 1) {
		for (uint32_t i = 0; i < watch->n_output; i++) {
			const struct hn_redzone *g = &w->buffer[watch->output[i]].exact;

			memcpy(g->data, wanted(w, watch->output[i], set), g->bytes);
		}
		plant(watch, set, HN_REDZONE_EXACT);
	} else {
		cpu_disguise(w, HN_REDZONE_EXACT, set, &watch->rng);
	}
}

static void call_once_more(struct cpu_run *run, const struct calling *timed, void **args[],
			   uint32_t set, uint32_t k)
{
	struct calling c = *timed;

	c.args = args[set];
	if (k < FORGETFUL) {
		scramble(&c, &c.watch->rng);
	}
	set_outputs(c.watch, set, k);
	cpu_compute(run, &c);
	must_be_right(run, HN_REDZONE_EXACT, set, "in a later call");
}

/* How many calls that is, each with its poison and comparison. */
static uint32_t more_calls(const struct cpu_run *run)
{
	const struct cpu_workload *w = run->w;
	double one_ns = hn_stats_median(run->report->body.sample_ns, run->report->body.n_sample);

	for (uint32_t i = 0; i < w->n_tensor; i++) {
		one_ns += w->tensor[i].output ? NS_A_BYTE * (double)w->tensor[i].bytes : 0;
	}
	return one_ns * MORE_CALLS < MORE_NS ? MORE_CALLS : (uint32_t)(MORE_NS / one_ns);
}

void cpu_watch_prove(struct cpu_run *run, const struct calling *timed, double spare_ns,
		     struct hn_arena *a)
{
	const struct cpu_workload *w = run->w;
	int64_t begin = hn_clock_ns();
	void **args[HN_INPUT_SETS] = {NULL};
	uint32_t n = more_calls(run), set = 0;

	for (uint32_t i = 0; i < HN_INPUT_SETS; i++) {
		/* what was prepared is of the first set */
		if (i == 0 || (w->set[i].used && timed->prepare == NULL)) {
			args[i] = cpu_pointers(w, HN_REDZONE_EXACT, i, a);
		}
	}
	for (uint32_t k = 0;
	     k < n && (double)(hn_clock_ns() - begin) + timed->first_ns < spare_ns; k++) {
		call_once_more(run, timed, args, set, k);
		do {
			set = (set + 1) % HN_INPUT_SETS;
		} while (args[set] == NULL);
	}
	run->report->body.thorough = true;
}
