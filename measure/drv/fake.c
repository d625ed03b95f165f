/* fake.c -- a board that is arithmetic: no kernel runs, and every answer follows from the
 * history, a seed and how often the board was asked.  The first driver that takes
 * histories, and the test bed of everything that can go wrong with a board.
 *
 * The machine: a roofline by the target's numbers at 2 GHz, 10 GB/s a core.  A history
 * takes the roofline's time times exp(4 m), m the mean over its steps of a hash of each
 * step in [0, 1): histories that share steps have times that are near, so a search has
 * something to follow; the naive program takes 100 times the roofline's.  With cold caches each
 * of them takes longer by what its arguments take to come from memory.
 *
 * What may go wrong is said by $HONE_TEST_FAKE, read where $HONE_TEST_HOOKS is 1:
 * "name=value,...", the rows of `knobs`.  Faults of kernels follow from the history alone,
 * so measuring one again says the same; faults of the board from its number of requests,
 * canaries included, since its process began.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "measure/board/board.h"
#include "target/target.h"

#define GHZ 2.0
#define GB_S_CORE 10.0
#define NAIVE 100
#define SPREAD 4
#define SAMPLES 10
#define CANARY_SAMPLES 25
#define CANARY_NS 1e6

_Static_assert(SAMPLES <= HN_PAIRS, "a duel's samples are pairs");

struct knob {
	double seed;	/* of everything */
	double noise;	/* relative, added to each sample: mean of an exponential */
	double wrong, crash, hang, flaky; /* shares of histories with that verdict */
	double hidden; /* share that is wrong where nobody is known to be faster: on more inputs */
	double sleep_ms; /* of wall clock, each measurement */
	double only;	/* board that the rest is about; -1 = every one */
	double drift;	/* factor on its times, ... */
	double noisy;	/* ... and share of histories that it finds NOISY, ... */
	double from, to; /* ... in requests [from, to), counted from 0 */
	double lost;	/* it ends at its every so manieth request; 0 = never */
	double stall;	/* at that request it says nothing more; 0 = never */
	double starts;	/* lost and stall: only the first so many processes */
};

static const struct {
	const char *name;
	size_t at;
	double fallback;
} knobs[] = {
#define KNOB(name, fallback) {#name, offsetof(struct knob, name), fallback}
	KNOB(seed, 0),	KNOB(noise, 0),	   KNOB(wrong, 0),   KNOB(crash, 0),
	KNOB(hang, 0),	KNOB(flaky, 0),	   KNOB(sleep_ms, 0), KNOB(only, -1),
	KNOB(drift, 1), KNOB(from, 0),	   KNOB(to, 1e18),   KNOB(lost, 0),
	KNOB(hidden, 0), KNOB(stall, 0), KNOB(starts, 1e18), KNOB(noisy, 0),
#undef KNOB
};

struct fake_workload {
	char key[80];
	double floor_ns, cold_ns; /* cold_ns: what cold caches add to any time; 0 = warm */
};

struct fake_board {
	struct hn_board_place at;
	struct knob knob;
	struct hn_probe machine;
	struct fake_workload workload[HN_BOARD_WORKLOADS];
	uint32_t n_workload; /* ever */
	uint64_t n_request;
};

static int read_knob(struct knob *k, const char *word, size_t n, struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(knobs); i++) {
		size_t m = strlen(knobs[i].name);

		if (n > m + 1 && memcmp(word, knobs[i].name, m) == 0 && word[m] == '=') {
			char *end;
			double v = strtod(word + m + 1, &end);

			if (end == word + n) {
				memcpy((char *)k + knobs[i].at, &v, sizeof v);
				return 0;
			}
		}
	}
	return hn_fail(err, HONE_E_INVALID, "HONE_TEST_FAKE: '%.*s' is nothing I know",
		       (int)n, word);
}

static int read_knobs(struct knob *k, struct hn_err *err)
{
	const char *hooks = getenv("HONE_TEST_HOOKS"), *s = getenv("HONE_TEST_FAKE");
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(knobs); i++) {
		memcpy((char *)k + knobs[i].at, &knobs[i].fallback, sizeof(double));
	}
	s = hooks != NULL && strcmp(hooks, "1") == 0 && s != NULL ? s : "";
	while (*s != '\0' && rc == 0) {
		size_t n = strcspn(s, ",");

		rc = read_knob(k, s, n, err);
		s += n + (s[n] == ',');
	}
	return rc;
}

static void set_machine(struct hn_probe *p, const struct hn_target *t)
{
	double cores = (double)t->param[HN_PARAM_NUM_CORES];

	p->fma_gflops_one = 2 * GHZ * (double)t->param[HN_PARAM_FMA_PER_CYCLE] *
			    (double)t->param[HN_PARAM_VECTOR_UNIT_BYTES] / 4;
	p->fma_gflops_all = p->fma_gflops_one * cores;
	p->memory_gb_s = GB_S_CORE * cores;
}

static int fake_open(const struct hn_board_place *at, void **ret_board,
		     struct hn_err *err)
{
	struct fake_board *b = calloc(1, sizeof *b);
	struct hn_target t;
	struct hn_arena a;
	int rc;

	if (b == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "board: out of memory");
	}
	hn_arena_init(&a, 0);
	b->at = *at;
	rc = hn_target_parse(at->target, &a, &t, err);
	rc = rc != 0 ? rc : read_knobs(&b->knob, err);
	if (rc == 0) {
		set_machine(&b->machine, &t);
		*ret_board = b;
	} else {
		free(b);
	}
	hn_arena_fini(&a);
	return rc;
}

static void fake_close(void *board)
{
	free(board);
}

/* [0, 1), the same for the same bytes and purpose. */
static double share(const struct fake_board *b, const void *bytes, size_t n,
		    uint64_t purpose)
{
	uint64_t seed = (uint64_t)b->knob.seed * 0x9e3779b97f4a7c15 + purpose;

	return (double)(hn_hash64(bytes, n, seed) >> 11) * 0x1p-53;
}

static bool concerned(const struct fake_board *b)
{
	return b->knob.only < 0 || b->knob.only == b->at.index;
}

/* Counts the request; ends or stalls the process when that is its turn. */
static bool survives(struct fake_board *b)
{
	uint64_t n = ++b->n_request;
	bool may = concerned(b) && (double)b->at.incarnation <= b->knob.starts;

	if (may && b->knob.stall > 0 && (double)n == b->knob.stall) {
		pause();
	}
	return !(may && b->knob.lost > 0 && fmod((double)n, b->knob.lost) == 0);
}

/* This is one of the requests in which something is the matter with it. */
static bool unwell(const struct fake_board *b)
{
	double n = (double)(b->n_request - 1);

	return concerned(b) && n >= b->knob.from && n < b->knob.to;
}

/* The time as the clock says it, i-th sample of this request. */
static double sample(const struct fake_board *b, double ns, uint32_t i)
{
	uint64_t place[] = {b->n_request, b->at.index, b->at.incarnation, i};

	ns *= unwell(b) ? b->knob.drift : 1;
	return ns * (1 - b->knob.noise * log(1 - share(b, place, sizeof place, 1)));
}

static void answer(struct hn_board_answer *ret, enum hn_verdict v, const char *text)
{
	ret->verdict = v;
	ret->n_sample = 0;
	snprintf(ret->detail, sizeof ret->detail, "%.390s", text);
}

static void take_samples(const struct fake_board *b, double ns, uint32_t from, double *sample_ns,
			 struct hn_board_answer *ret)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		sample_ns[i] = sample(b, ns, from + i);
		ret->run_ns += (int64_t)sample_ns[i];
	}
}

static void samples(const struct fake_board *b, double ns, struct hn_board_answer *ret)
{
	answer(ret, HN_VERDICT_OK, "");
	ret->n_sample = SAMPLES;
	take_samples(b, ns, 0, ret->sample_ns, ret);
}

static void fake_workload(void *board, const struct hn_board_workload *w,
			  struct hn_board_answer *ret)
{
	struct fake_board *b = board;
	struct fake_workload *mine;
	double bytes = 0;

	if (!survives(b)) {
		answer(ret, HN_VERDICT_BOARD_LOST, "");
		return;
	}
	mine = &b->workload[b->n_workload++ % HN_BOARD_WORKLOADS];
	for (uint32_t i = 0; i < w->n_tensor; i++) {
		bytes += (double)w->tensor[i].bytes;
	}
	snprintf(mine->key, sizeof mine->key, "%s", w->key);
	mine->floor_ns = 1000 + w->need.flops / b->machine.fma_gflops_all +
			 bytes / b->machine.memory_gb_s;
	mine->cold_ns = w->cold ? bytes / b->machine.memory_gb_s : 0;
	samples(b, NAIVE * mine->floor_ns + mine->cold_ns, ret);
}

/* Mean over the steps; 1 when there is none. */
static double cost(const struct fake_board *b, const char *steps, size_t n)
{
	struct hn_json *v = NULL;
	struct hn_buf text;
	double sum = 0;
	size_t count = 0;

	if (hn_json_parse("steps", steps, n, NULL, &v, NULL) != 0) {
		return 1;
	}
	hn_buf_init(&text);
	for (const struct hn_json *s = hn_json_first(v); s != NULL; s = hn_json_next(s)) {
		hn_buf_reset(&text);
		hn_json_write(s, &text);
		sum += share(b, text.s, text.n, 2);
		count++;
	}
	hn_buf_fini(&text);
	hn_json_free(v);
	return count > 0 ? sum / (double)count : 1;
}

/* A fault of the kernel's own: it has it wherever and whenever it is measured. */
static bool kernel_fault(const struct fake_board *b, const struct hn_board_kernel *k,
			 struct hn_board_answer *ret)
{
	const struct {
		double part;
		enum hn_verdict verdict;
		const char *text;
	} fault[] = {
		{b->knob.wrong, HN_VERDICT_WRONG_RESULT, "as the fake board was told"},
		{b->knob.crash, HN_VERDICT_SEGV, "null pointer, as the fake board was told"},
		{b->knob.hang, HN_VERDICT_HANG, "as the fake board was told"},
		{b->knob.flaky, HN_VERDICT_NONDETERMINISTIC, "as the fake board was told"},
	};
	double u = share(b, k->object, k->object_bytes, 3);

	for (size_t i = 0; i < HN_COUNT_OF(fault); i++) {
		if (u < fault[i].part) {
			answer(ret, fault[i].verdict, fault[i].text);
			return true;
		}
		u -= fault[i].part;
	}
	return false;
}

static double time_ns(const struct fake_board *b, const struct fake_workload *w,
		      const struct hn_board_kernel *k)
{
	return w->floor_ns * exp(SPREAD * cost(b, k->object, k->object_bytes)) + w->cold_ns;
}

static void fake_measure(void *board, const struct hn_board_request *r,
			 struct hn_board_answer *ret)
{
	struct fake_board *b = board;
	const struct fake_workload *w = NULL;

	if (!survives(b)) {
		answer(ret, HN_VERDICT_BOARD_LOST, "");
		return;
	}
	for (int i = 0; i < HN_BOARD_WORKLOADS; i++) {
		w = strcmp(b->workload[i].key, r->key) == 0 ? &b->workload[i] : w;
	}
	if (w == NULL) {
		answer(ret, HN_VERDICT_NONE, "workload not known");
		return;
	}
	usleep((useconds_t)(b->knob.sleep_ms * 1000));
	if (kernel_fault(b, &r->kernel, ret)) {
		return;
	}
	if (r->best_ns <= 0 && r->rival.object == NULL &&
	    share(b, r->kernel.object, r->kernel.object_bytes, 5) < b->knob.hidden) {
		answer(ret, HN_VERDICT_WRONG_RESULT, "hidden, as the fake board was told");
		return;
	}
	if (r->rival.object != NULL && kernel_fault(b, &r->rival, ret)) {
		ret->rivals = true;
		return;
	}
	samples(b, time_ns(b, w, &r->kernel), ret);
	if (r->rival.object != NULL) {
		take_samples(b, time_ns(b, w, &r->rival), SAMPLES, ret->rival_ns, ret);
	}
	if (unwell(b) &&
	    share(b, r->kernel.object, r->kernel.object_bytes, 4) < b->knob.noisy) {
		ret->verdict = HN_VERDICT_NOISY;
		snprintf(ret->detail, sizeof ret->detail, "as the fake board was told");
	}
}

static int fake_probe(void *board, struct hn_probe *ret, struct hn_err *err)
{
	struct fake_board *b = board;

	(void)err;
	*ret = b->machine;
	return 0;
}

/* Noise only adds, so the least of many is the steady one. */
static int fake_canary(void *board, struct hn_canary *ret, struct hn_err *err)
{
	struct fake_board *b = board;

	if (!survives(b)) {
		return hn_fail(err, HONE_E_NO_BOARD, "lost, as the fake board was told");
	}
	*ret = (struct hn_canary){.ns = INFINITY};
	for (uint32_t i = 0; i < CANARY_SAMPLES; i++) {
		ret->ns = fmin(ret->ns, sample(b, CANARY_NS, i));
	}
	return 0;
}

const struct hn_board_ops hn_board_fake = {.name = "fake",
					   .cold = true,
					   .open = fake_open,
					   .close = fake_close,
					   .workload = fake_workload,
					   .measure = fake_measure,
					   .probe = fake_probe,
					   .canary = fake_canary};
