/* Random programs under random histories: what a legal history lowers to computes the
 * same numbers as the program as written.
 *
 * Processes of their own do the work, so that a kernel that crashes or hangs is a finding
 * like any other.  A pair that fails is made smaller, history first and then the program,
 * and printed with its seed.  HONE_PAIRS=n judges as many pairs, HONE_SEED=n the pairs of
 * one seed alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/looptree_eval.h"
#include "tests/unit/lower_edits.h"
#include "tests/unit/lower_histories.h"
#include "tests/unit/lower_run.h"
#include "tests/unit/random_dags.h"
#include "tests/unit/random_pairs.h"

#ifndef N_PAIRS
#define N_PAIRS 60
#endif
#define PAIR_SECONDS 120
#define SHRINK_SECONDS 60
#define MAX_WORKERS 16
#define TRACE_BYTES 65536
#define REDRAWS 24 /* histories tried on a smaller program */

/* Shared by the processes. */
struct board {
	struct rp_counts n[MAX_WORKERS];
	uint64_t seed[MAX_WORKERS]; /* at work on */
	uint32_t history[MAX_WORKERS];
	uint8_t verdict[MAX_WORKERS];
	char trace[TRACE_BYTES]; /* of the last failure judged while shrinking */
	char note[RP_NOTE];
};

/* A failing pair. */
struct finding {
	struct board *board;
	uint32_t tape[RD_TAPE];
	uint64_t seed;
	uint32_t history;
	char trace[TRACE_BYTES]; /* "" = draw it */
	enum rp_verdict verdict;
	int64_t until_ns;
};

/* A process whose crash is its own: cmocka catches signals to go on after them. */
static pid_t begin_process(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGABRT };
	pid_t pid = fork();

	for (size_t i = 0; i < HN_COUNT_OF(signals) && pid == 0; i++) {
		signal(signals[i], SIG_DFL);
	}
	return pid;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static bool open_tape(struct rp_bench *b, const uint32_t *tape, struct rp_program *p)
{
	struct hn_buf text;
	bool inexact;

	hn_buf_init(&text);
	rd_program(tape, RD_TAPE, &text, &inexact);
	b->n.programs++;
	b->n.inexact += inexact;
	int rc = rp_open(b, text.s, inexact, p);

	if (rc && getenv("HONE_REFUSED")) {
		fprintf(stderr, "%s\n%s\n", b->note, text.s);
	}
	b->n.refused += rc != 0;
	hn_buf_fini(&text);
	return rc == 0;
}

/* One process: every n_worker-th program from `first` on. */
static void work(struct board *board, uint32_t w, uint64_t first, uint64_t n_seed,
		 uint32_t n_worker)
{
	struct rp_bench b;

	rp_bench_open(&b);
	for (uint64_t seed = first + w; seed < first + n_seed; seed += n_worker) {
		uint32_t tape[RD_TAPE];
		struct rp_program p;

		board->seed[w] = seed;
		board->verdict[w] = RP_CRASH;
		rd_tape(seed, tape);
		if (!open_tape(&b, tape, &p)) {
			continue;
		}
		for (uint32_t h = 0; h < RP_HISTORIES; h++) {
			board->history[w] = h;
			alarm(PAIR_SECONDS);
			enum rp_verdict v = rp_pair(&b, &p, seed, h);

			if (v != RP_PASS) {
				board->verdict[w] = (uint8_t)v;
				_exit(1);
			}
		}
		rp_close(&p);
	}
	board->n[w] = b.n;
	rp_bench_close(&b);
}

/* ---- shrinking: each trial in a process of its own */

/* Replay of the text on the program; NULL when it does not fit. */
static const struct hn_state *replay(struct rp_program *p, const char *trace,
				     struct hn_arena *a)
{
	const struct hn_trace *t;
	const struct hn_state *s;
	struct hn_err err = { 0 };

	if (hn_trace_parse("history", trace, strlen(trace), a, &t, &err) ||
	    hn_state_replay(p->dag, t, a, &s, &err)) {
		return NULL;
	}
	return s;
}

static void trial_state(struct finding *f, struct rp_bench *b, struct rp_program *p,
			const struct hn_state *s, struct hn_arena *a)
{
	struct hn_buf text;

	if (s == NULL) {
		return;
	}
	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	snprintf(f->board->trace, TRACE_BYTES, "%s", text.s);
	hn_buf_fini(&text);
	enum rp_verdict v = rp_judge(b, p, s, f->seed * RP_HISTORIES + f->history, a);

	snprintf(f->board->note, RP_NOTE, "%s", b->note);
	if (v != RP_PASS) {
		_exit((int)v);
	}
}

static void trial(struct finding *f, const uint32_t *tape, const char *trace,
		  uint32_t redraws)
{
	struct rp_bench b;
	struct rp_program p;

	alarm(PAIR_SECONDS);
	rp_bench_open(&b);
	if (!open_tape(&b, tape, &p)) {
		_exit(RP_REFUSED);
	}
	if (trace[0]) {
		trial_state(f, &b, &p, replay(&p, trace, &p.a), &p.a);
	}
	for (uint32_t i = 0; i < redraws; i++) {
		uint64_t seed = f->seed + i / RP_HISTORIES;
		uint32_t h = (f->history + i) % RP_HISTORIES;

		trial_state(f, &b, &p, rp_history(&b, &p, seed, h, &p.a), &p.a);
	}
	_exit(RP_PASS);
}

/* Whether it fails in the same way; then f->board->trace is the history. */
static bool fails(struct finding *f, const uint32_t *tape, const char *trace,
		  uint32_t redraws)
{
	int status;
	pid_t pid = begin_process();

	if (pid == 0) {
		trial(f, tape, trace, redraws);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		return false;
	}
	enum rp_verdict v =
		WIFEXITED(status) ? (enum rp_verdict)WEXITSTATUS(status) : RP_CRASH;

	return v == f->verdict;
}

/* `[[..], [..]]` without element i; false when there is none. */
static bool without_step(const char *trace, uint32_t i, char *ret)
{
	int depth = 0;
	uint32_t k = 0;
	size_t n = 0;
	bool gone = false;

	for (const char *c = trace; *c; c++) {
		depth += *c == '[';
		bool drop = depth >= 2 && k == i;

		gone = gone || drop;
		if (!drop && !(*c == ',' && depth == 1)) {
			if (depth == 2 && *c == '[' && n > 1) {
				ret[n++] = ',';
			}
			ret[n++] = *c;
		}
		k += *c == ']' && depth == 2;
		depth -= *c == ']';
	}
	ret[n] = 0;
	return gone;
}

static void shrink_history(struct finding *f)
{
	char *less = malloc(TRACE_BYTES * 2);

	for (uint32_t i = 0; without_step(f->trace, i, less);) {
		if (hn_clock_ns() > f->until_ns) {
			break;
		}
		if (fails(f, f->tape, less, 0)) {
			snprintf(f->trace, TRACE_BYTES, "%s", f->board->trace);
			i = i > 0 ? i - 1 : 0;
		} else {
			i++;
		}
	}
	free(less);
}

/* Keep the smaller tape when it fails too, with the history at hand or a new one. */
static bool take(struct finding *f, const uint32_t *tape)
{
	if (hn_clock_ns() > f->until_ns || memcmp(tape, f->tape, sizeof(f->tape)) == 0 ||
	    !fails(f, tape, f->trace, REDRAWS)) {
		return false;
	}
	memcpy(f->tape, tape, sizeof(f->tape));
	snprintf(f->trace, TRACE_BYTES, "%s", f->board->trace);
	return true;
}

static void shrink_program(struct finding *f)
{
	uint32_t tape[RD_TAPE];

	for (uint32_t keep_n = 4; keep_n < RD_TAPE; keep_n *= 2) {
		memcpy(tape, f->tape, sizeof(tape));
		memset(tape + keep_n, 0, sizeof(tape) - keep_n * sizeof(*tape));
		if (take(f, tape)) {
			break;
		}
	}
	for (uint32_t i = 0; i < RD_TAPE; i++) {
		memcpy(tape, f->tape, sizeof(tape));
		tape[i] = 0;
		if (!take(f, tape)) {
			tape[i] = f->tape[i] % 60 > 0 ? f->tape[i] % 60 - 1 : 0;
			take(f, tape);
		}
	}
}

/* Program, history and loop tree, from a process of its own: building them may crash. */
static void print_finding(struct finding *f)
{
	int status;

	fprintf(stderr, "%s; again: HONE_SEED=%llu; %s\n", rp_names[f->verdict],
		(unsigned long long)f->seed,
		f->verdict == RP_CRASH ? "" : f->board->note);
	pid_t pid = begin_process();

	if (pid == 0) {
		const struct hn_looptree *t;
		const struct hn_state *s;
		struct hn_err err = { 0 };
		struct rp_bench b;
		struct rp_program p;
		struct hn_buf text;
		bool inexact;

		hn_buf_init(&text);
		rd_program(f->tape, RD_TAPE, &text, &inexact);
		fprintf(stderr, "%shistory %s\n", text.s, f->trace);
		rp_bench_open(&b);
		if (rp_open(&b, text.s, inexact, &p) == 0 &&
		    (s = replay(&p, f->trace, &p.a)) != NULL &&
		    hn_looptree_build(s, &p.a, &t, &err) == 0) {
			hn_buf_reset(&text);
			hn_looptree_print(t, &text);
			fprintf(stderr, "%s\n", text.s);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void report(struct board *board, uint32_t w)
{
	struct finding *f = calloc(1, sizeof(*f));

	f->board = board;
	f->seed = board->seed[w];
	f->history = board->history[w];
	f->verdict = board->verdict[w];
	f->until_ns = hn_clock_ns() + SHRINK_SECONDS * INT64_C(1000000000);
	rd_tape(f->seed, f->tape);
	if (fails(f, f->tape, "", f->verdict == RP_CRASH ? RP_HISTORIES : 1)) {
		snprintf(f->trace, TRACE_BYTES, "%s", board->trace);
		print_finding(f);
		shrink_history(f);
		shrink_program(f);
		shrink_history(f);
		fprintf(stderr, "made smaller:\n");
		/* once more, for its note */
		fails(f, f->tape, f->trace, 0);
	} else {
		fprintf(stderr, "failed once and not again:\n");
	}
	print_finding(f);
	free(f);
}

static void add_counts(struct rp_counts *sum, const struct rp_counts *x)
{
	for (size_t i = 0; i < sizeof(*x) / sizeof(uint64_t); i++) {
		((uint64_t *)sum)[i] += ((const uint64_t *)x)[i];
	}
}

static void print_counts(const struct rp_counts *n)
{
	print_message(
		"%llu programs, %llu refused, %llu inexact; %llu pairs (%llu of "
		"sketches), "
		"%llu run, %llu unbuilt, %llu unsupported, "
		"%llu not to be reordered, %llu unknown, %llu unfilled; %llu damaged\n",
		(unsigned long long)n->programs, (unsigned long long)n->refused,
		(unsigned long long)n->inexact, (unsigned long long)n->pairs,
		(unsigned long long)n->sketched, (unsigned long long)n->run,
		(unsigned long long)n->unbuilt, (unsigned long long)n->unsupported,
		(unsigned long long)n->reordered, (unsigned long long)n->unknown,
		(unsigned long long)n->unfilled, (unsigned long long)n->damaged);
}

/* Runs the workers; the first that failed, or -1. */
static int run_workers(struct board *board, uint64_t first, uint64_t n_seed,
		       uint32_t n_worker)
{
	pid_t pid[MAX_WORKERS];
	int failed = -1;

	fflush(NULL);
	for (uint32_t w = 0; w < n_worker; w++) {
		pid[w] = begin_process();
		if (pid[w] == 0) {
			work(board, w, first, n_seed, n_worker);
			_exit(0);
		}
		assert_true(pid[w] > 0);
	}
	for (uint32_t w = 0; w < n_worker; w++) {
		int status;

		assert_int_equal(waitpid(pid[w], &status, 0), pid[w]);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			failed = failed < 0 ? (int)w : failed;
		}
	}
	return failed;
}

static void same_numbers(void **state)
{
	uint64_t n_pair = number("HONE_PAIRS", N_PAIRS);
	uint64_t n_seed = (n_pair + RP_HISTORIES - 1) / RP_HISTORIES;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n_worker = cpus < 1		 ? 1
			    : cpus > MAX_WORKERS ? MAX_WORKERS
						 : (uint32_t)cpus;
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rp_counts n = { 0 };

	(void)state;
	assert_true(board != MAP_FAILED);
	/* A few are refused or have no fill: some more. */
	n_seed = getenv("HONE_SEED") ? 1 : n_seed + n_seed / 20 + 1;
	int failed = run_workers(board, number("HONE_SEED", 1), n_seed, n_worker);

	if (failed >= 0) {
		report(board, (uint32_t)failed);
		fail();
	}
	for (uint32_t w = 0; w < n_worker; w++) {
		add_counts(&n, &board->n[w]);
	}
	print_counts(&n);
	munmap(board, sizeof(*board));
	if (n_seed == 1) {
		return;
	}
	assert_true(n.pairs >= n_pair);
	assert_true(n.refused * 10 < n.programs * 3);
	assert_true(n.run * 2 > n.pairs);
	assert_true(n.sketched * 4 > n.pairs);
	assert_true(n.unknown * 50 <= n.pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_numbers) };

	return cmocka_run_group_tests_name("random pairs", tests, NULL, NULL);
}
