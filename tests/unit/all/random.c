/* Random programs under random histories: what a legal history lowers to computes the
 * same numbers as the program as written.
 *
 * Processes of their own do the work, so that a kernel that crashes or hangs is a finding
 * like any other.  A pair that fails is made smaller, history first and then the program,
 * and printed with its seed, also as two files for `hone replay`: pair-SEED/p.txt (or p.json)
 * and s.json in the working folder.  argv[1] or HONE_PAIRS=n judges as many legal pairs,
 * HONE_FIRST=n begins with seed n, HONE_SEED=n judges the pairs of one seed alone;
 * HONE_SHRINK=n makes a finding smaller for at most n seconds.
 *
 * What is refused is evaluated too (exact_eval.h): the shares of right histories that the exact
 * and the quick check refuse are printed and bounded; HONE_REFUSED=1 prints each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/looptree_trace.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/mutated.h"
#include "tests/lib/random_dags.h"
#include "tests/lib/random_runs.h"
#include "tests/lib/exact_eval.h"
#include "tests/lib/random_pairs.h"

#ifndef N_PAIRS
#define N_PAIRS 60
#endif
static uint64_t n_pairs;

#define PAIR_SECONDS 120 /* of processor time; ten times as much by the clock */
#define SHRINK_SECONDS 60
#define MAX_WORKERS 16
#define TRACE_BYTES 65536
#define REDRAWS 24 /* histories tried on a smaller program */

/* Shared by the processes. */
struct board {
	uint64_t n_legal; /* pairs that ran, of all */
	bool stop;	  /* one of them failed */
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

/* Whoever computes, or waits, for too long is killed, which is a crash. */
static void begin_pair(void)
{
	const struct itimerval most = { .it_value.tv_sec = PAIR_SECONDS };

	setitimer(ITIMER_PROF, &most, NULL);
	alarm(10 * PAIR_SECONDS);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* History h of the program. */
static enum rp_verdict judge_pair(struct rp_bench *b, struct rp_program *p, uint64_t seed,
			       uint32_t h)
{
	enum rp_verdict v = RP_PASS;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	const struct hn_state *s = rp_history(b, p, seed, h, &a);

	if (s != NULL) {
		v = rp_judge(b, p, s, seed * RP_HISTORIES + h, &a);
	}
	hn_arena_fini(&a);
	return v;
}

/* One process: every n_worker-th program from `first` on, until there were n_pair legal pairs
 * together; n_pair 0: the first program alone. */
static void work(struct board *board, uint32_t w, uint64_t first, uint64_t n_pair,
		 uint32_t n_worker)
{
	struct rp_bench b;
	bool more = n_pair > 0 || w == 0;

	rp_bench_open(&b);
	for (uint64_t seed = first + w; more; seed += n_worker) {
		uint32_t tape[RD_TAPE];
		struct rp_program p;
		uint64_t n_run = b.n.run;

		board->seed[w] = seed;
		board->verdict[w] = RP_CRASH;
		rd_tape(seed, tape);
		bool open = rp_open_tape(&b, tape, &p);

		for (uint32_t h = 0; h < RP_HISTORIES && open; h++) {
			board->history[w] = h;
			begin_pair();
			enum rp_verdict v = judge_pair(&b, &p, seed, h);

			if (v != RP_PASS) {
				board->verdict[w] = (uint8_t)v;
				_exit(1);
			}
		}
		if (open) {
			rp_close(&p);
		}
		n_run = b.n.run - n_run;
		more = __atomic_add_fetch(&board->n_legal, n_run, __ATOMIC_RELAXED) < n_pair &&
		       !__atomic_load_n(&board->stop, __ATOMIC_RELAXED);
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
			const struct hn_state *s, uint64_t seed, struct hn_arena *a)
{
	struct hn_buf text;

	if (s == NULL) {
		return;
	}
	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	snprintf(f->board->trace, TRACE_BYTES, "%s", text.s);
	hn_buf_fini(&text);
	enum rp_verdict v = rp_judge(b, p, s, seed, a);

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

	begin_pair();
	rp_bench_open(&b);
	if (!rp_open_tape(&b, tape, &p)) {
		_exit(RP_REFUSED);
	}
	if (trace[0]) {
		trial_state(f, &b, &p, replay(&p, trace, &p.a),
			    f->seed * RP_HISTORIES + f->history, &p.a);
	}
	for (uint32_t i = 0; i < redraws; i++) {
		uint64_t seed = f->seed + i / RP_HISTORIES;
		uint32_t h = (f->history + i) % RP_HISTORIES;

		trial_state(f, &b, &p, rp_history(&b, &p, seed, h, &p.a),
			    seed * RP_HISTORIES + h, &p.a);
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

/* pair-SEED/name, for `hone replay`. */
static void write_file(const struct finding *f, const char *name, const char *text)
{
	char path[100];

	snprintf(path, sizeof(path), "pair-%llu", (unsigned long long)f->seed);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "pair-%llu/%s", (unsigned long long)f->seed, name);

	FILE *file = fopen(path, "w");

	if (file != NULL) {
		fputs(text, file);
		fclose(file);
		fprintf(stderr, "%s\n", path);
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
		struct rd_kind kind = rd_kind(f->tape);

		rd_program_any(f->tape, RD_TAPE, &text, &inexact);
		fprintf(stderr, "%shistory %s\n", text.s, f->trace);
		write_file(f, "s.json", f->trace[0] ? f->trace : "[]");
		rp_bench_open(&b);
		bool open = rp_open(&b, text.s, &kind, inexact, &p) == 0;

		if (open && kind.renamed) { /* which the text notation can not say */
			hn_buf_reset(&text);
			hn_dag_write_json(p.dag, &text);
		}
		write_file(f, open && kind.renamed ? "p.json" : "p.txt", text.s);
		if (open && (s = replay(&p, f->trace, &p.a)) != NULL &&
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
	f->until_ns = hn_clock_ns() + (int64_t)number("HONE_SHRINK", SHRINK_SECONDS) * 1000000000;
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
	static const char *const what[] = {
		"programs", "refused",	   "inexact",	  "with sizes",	 "pairs",
		"of sketches", "run",	   "unbuilt",	  "unknown",	 "not to be reordered",
		"unsupported", "illegal", "damaged", "unfilled",
		"right", "of them refused by the exact check",
		"right without sizes", "of them refused by the quick check",
		"right and drawn as a search does", "of them refused by the quick check",
		"right in number alone",
	};

	for (size_t i = 0; i < HN_COUNT_OF(what); i++) {
		print_message("%s%llu %s", i ? ", " : "",
			      (unsigned long long)((const uint64_t *)n)[i], what[i]);
	}
	print_message("\n");
}

/* Runs the workers; the first that failed, or -1.  The others stop then. */
static int run_workers(struct board *board, uint64_t first, uint64_t n_pair,
		       uint32_t n_worker)
{
	pid_t pid[MAX_WORKERS];
	int failed = -1;

	fflush(NULL);
	for (uint32_t w = 0; w < n_worker; w++) {
		pid[w] = begin_process();
		if (pid[w] == 0) {
			work(board, w, first, n_pair, n_worker);
			_exit(0);
		}
		assert_true(pid[w] > 0);
	}
	for (uint32_t n = 0; n < n_worker; n++) {
		int status;
		pid_t ended = waitpid(-1, &status, 0);
		bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

		assert_true(ended > 0);
		for (uint32_t w = 0; w < n_worker && !good; w++) {
			failed = failed < 0 && pid[w] == ended ? (int)w : failed;
		}
		__atomic_store_n(&board->stop, failed >= 0, __ATOMIC_RELAXED);
	}
	return failed;
}

static void same_numbers(void **state)
{
	uint64_t one = number("HONE_SEED", 0);
	uint64_t n_pair = one ? 0 : number("HONE_PAIRS", n_pairs);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t n_worker = cpus < 1		 ? 1
			    : cpus > MAX_WORKERS ? MAX_WORKERS
						 : (uint32_t)cpus;
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rp_counts n = { 0 };

	(void)state;
	assert_true(board != MAP_FAILED);
	int failed = run_workers(board, one ? one : number("HONE_FIRST", 1), n_pair, n_worker);

	if (failed >= 0) {
		report(board, (uint32_t)failed);
		fail();
	}
	for (uint32_t w = 0; w < n_worker; w++) {
		add_counts(&n, &board->n[w]);
	}
	print_counts(&n);
	munmap(board, sizeof(*board));
	if (one) {
		return;
	}
	assert_true(n.run >= n_pair);
	assert_true(n.refused * 10 < n.programs);
	assert_true(n.run * 2 > n.pairs);
	assert_true(n.sketched * 4 > n.pairs);
	assert_true(n.sized * 10 > n.programs);
	assert_true(n.unknown * 50 <= n.pairs);
	if (n.right >= 1000) { /* shares of fewer say little */
		assert_true(n.missed <= n.unknown);
		assert_true(n.plain_missed * 50 <= n.plain);
		assert_true(n.drawn_missed * 50 <= n.drawn);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_numbers) };

	n_pairs = argc > 1 ? strtoull(argv[1], NULL, 10) : N_PAIRS;
	return cmocka_run_group_tests_name("random pairs", tests, NULL, NULL);
}
