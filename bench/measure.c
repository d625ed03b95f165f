/* bench/measure.c -- how good measurements are: trials a second, finals with a known result, and
 * the effect of compiling at the same time.
 *
 *   hone-bench measure tune [FILE...]    400 trials of each workload, by `hone tune`
 *   hone-bench measure same N [load]     finals of a schedule against itself
 *   hone-bench measure planted N [load]  ... against itself, its times taken 3 % up
 *   hone-bench measure repeat N [FILE]   the store's best candidates, again and again
 *   hone-bench measure builds N [FILE]   the best candidate's time while every core compiles,
 *                                        beside its time while none does
 *
 * All but `tune` use the candidates that HONE_HOME has of examples/matmul.txt, or of FILE.
 * `tune` puts them there. `load` keeps one core busy with another program. A planted schedule is
 * the same program, with its measured times multiplied: the noise is real, and the true result
 * is known exactly.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "bench/workload.h"
#include "daemon/final.h"
#include "daemon/workload.h"
#include "loopstate/read/dag_read.h"
#include "measure/host/sync.h"
#include "proto/addr.h"

#define TRIALS 400
#define PLANTED 1.03
#define JUDGE HN_FINAL_MATCH /* duels of a judgement */

int hn_bench_measure(const struct hn_bench_args *args);

struct venue {
	struct hn_sync *m;
	const char *key;
	struct hn_arena a;
	const char *steps[HN_FINAL_MAX_ENTRANT]; /* fastest first */
	double screened_ns[HN_FINAL_MAX_ENTRANT];
	uint32_t n_steps;
};

static void beside(char *path, size_t n, const char *name)
{
	ssize_t at = readlink("/proc/self/exe", path, n - 64);

	path[at > 0 ? at : 0] = '\0';
	if (strrchr(path, '/') != NULL) {
		*strrchr(path, '/') = '\0';
	}
	strcat(path, "/");
	strcat(path, name);
}

static double number(const struct hn_json *v, const char *key)
{
	double d = 0;

	return hn_json_double(hn_json_get(v, key), &d) ? d : 0;
}

/* One default tune; its own account of time is printed. */
static int tune(const char *file)
{
	char program[4200], command[9000], line[20000] = "", context[400];
	struct hn_json *v;
	double ms, fresh;
	FILE *p;

	beside(program, sizeof(program), "hone");
	snprintf(command, sizeof(command), "'%s' tune '%s' --trials %d --json --quiet", program,
		 file, TRIALS);
	p = popen(command, "r");
	if (p == NULL || fgets(line, sizeof(line), p) == NULL || pclose(p) != 0 ||
	    hn_json_parse("job", line, strlen(line), NULL, &v, NULL) != 0) {
		fprintf(stderr, "hone-bench: hone tune %s: it failed\n", file);
		return 1;
	}
	ms = number(v, "ms");
	if (ms <= 0) { /* a figure by another name is none */
		fprintf(stderr, "hone-bench: hone tune %s: no `ms` in %s\n", file, line);
		hn_json_free(v);
		return 1;
	}
	fresh = number(v, "trials") - number(v, "warm");
	snprintf(context, sizeof(context), "\"case\": \"%s\", \"trials\": %.0f, \"seconds\": %.2f",
		 hn_json_string(hn_json_get(v, "name")), fresh, ms * 1e-3);
	hn_bench_row("measure.rate", fresh / (ms * 1e-3), "trials/s", context);
	hn_bench_row("measure.in_kernels", 100 * number(v, "kernel_ms") / ms, "%", context);
	hn_json_free(v);
	return 0;
}

static int tune_all(const struct hn_bench_args *args)
{
	static const char *const files[] = {"matmul.txt", "resnet50-conv.json"};
	char path[4200];
	int status = 0;

	for (int i = 1; i < args->argc; i++) {
		status |= tune(args->argv[i]);
	}
	for (size_t i = 0; args->argc < 2 && i < HN_COUNT_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", args->examples, files[i]);
		status |= tune(path);
	}
	return status;
}

/* Keep the fastest, one of each time: equal samples are the same bytes. */
static int on_record(void *ctx, const struct hn_record *r)
{
	struct venue *f = ctx;
	uint32_t at = f->n_steps;

	if (r->verdict != HN_VERDICT_OK || r->run_ns == 0) {
		return 0;
	}
	while (at > 0 && f->screened_ns[at - 1] > r->median_ns) {
		at--;
	}
	if (at == HN_FINAL_MAX_ENTRANT) {
		return 0;
	}
	f->n_steps += f->n_steps < HN_FINAL_MAX_ENTRANT;
	for (uint32_t i = f->n_steps - 1; i > at; i--) {
		f->steps[i] = f->steps[i - 1];
		f->screened_ns[i] = f->screened_ns[i - 1];
	}
	f->steps[at] = hn_arena_strdup(&f->a, r->steps);
	f->screened_ns[at] = r->median_ns;
	return 0;
}

static int read_candidates(struct venue *f, const char *target, struct hn_err *err)
{
	struct hn_buf home;
	struct hn_db *db;
	int rc;

	hn_buf_init(&home);
	rc = hn_addr_home(NULL, &home, err);
	rc = rc != 0 ? rc : hn_db_open(home.s, &db, err);
	if (rc == 0) {
		rc = hn_db_records(db, f->key, target, on_record, f, err);
		hn_db_close(db);
	}
	if (rc == 0 && f->n_steps < 2) {
		rc = hn_fail(err, HONE_E_NOT_FOUND,
			     "%s: no two candidates of this workload; run `hone-bench measure tune`",
			     home.s);
	}
	hn_buf_fini(&home);
	return rc;
}

/* Candidates from the store, builders and a board for them. */
static int open_all(struct venue *f, const struct hn_bench_args *args,
		    struct hn_err *err)
{
	static char build[4200], board[4200], path[4200], key[HN_KEY_BYTES];
	static char *file[1] = {path};
	struct hn_bench_args only = {.argc = 1, .argv = file};
	struct hn_bench_case *item;
	struct hn_target target;
	struct hn_buf line, json;
	struct hn_workload w;
	enum hn_verdict verdict;
	uint32_t n;
	int rc;

	if (args->argc > 2 && strcmp(args->argv[2], "load") != 0) {
		snprintf(path, sizeof(path), "%s", args->argv[2]);
	} else {
		snprintf(path, sizeof(path), "%s/matmul.txt", args->examples);
	}
	beside(build, sizeof(build), "hone-build");
	beside(board, sizeof(board), "hone-board");
	if (hn_bench_cases(&only, &f->a, &n, &item) != 0) {
		return hn_fail(err, HONE_E_NOT_FOUND, "%s: cannot be read", path);
	}
	hn_buf_init(&line);
	hn_buf_init(&json);
	hn_target_host(&f->a, &target);
	hn_target_print(&target, &line);
	hn_dag_key(item[0].dag, key);
	hn_dag_write_json(item[0].dag, &json);
	f->key = key;
	w = hn_workload_of(item[0].dag, key, hn_arena_strdup(&f->a, json.s), &f->a);
	rc = read_candidates(f, line.s, err);
	signal(SIGPIPE, SIG_IGN);
	rc = rc != 0 ? rc
		     : hn_sync_open(&(struct hn_measurer_config){.builder_path = build,
								 .board_path = board,
								 .target = line.s},
				    &f->m, err);
	verdict = rc == 0 ? hn_sync_workload(f->m, &w).verdict : HN_VERDICT_NONE;
	if (rc == 0 && verdict != HN_VERDICT_OK) {
		rc = hn_fail(err, HONE_E_INTERNAL, "the naive program: %s",
			     hn_verdict_name(verdict));
	}
	hn_buf_fini(&line);
	hn_buf_fini(&json);
	return rc;
}

/* One final; times of entrant i are taken times scale[i]. */
static struct hn_final_result hold(struct venue *f, uint32_t n,
				   const char *const *steps, const double *scale, uint64_t seed)
{
	struct hn_final_result r;
	struct hn_final state;
	uint32_t who, n_lost = 0;

	hn_final_init(&state, n, seed);
	while (n_lost < HN_FINAL_LOST && hn_final_next(&state, &who)) {
		struct hn_sync_result got = hn_sync_duel(f->m, f->key, steps[0], steps[who]);

		if (got.verdict == HN_VERDICT_OK) {
			double own = scale != NULL ? scale[0] : 1;
			double rival = scale != NULL ? scale[who] : 1;

			hn_final_tell(&state, got.log_ratio + log(rival / own),
				      got.median_ns * own, got.rival_median_ns * rival);
		} else {
			n_lost++;
		}
	}
	hn_final_judge(&state, &r);
	return r;
}

static void row(const char *name, const char *what, uint32_t n, uint32_t of, int64_t begin)
{
	char context[200];

	snprintf(context, sizeof(context), "\"of\": %u, \"seconds_each\": %.3f%s", of,
		 (double)(hn_clock_ns() - begin) * 1e-9 / of, what);
	hn_bench_row(name, n, "finals", context);
}

static void same(struct venue *f, uint32_t n, const char *load)
{
	const char *steps[2] = {f->steps[0], f->steps[0]};
	int64_t begin = hn_clock_ns();
	uint32_t promoted = 0, decided = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct hn_final_result r = hold(f, 2, steps, NULL, i + 1);

		promoted += r.winner == 1;
		decided += r.decided;
	}
	row("measure.same.promoted", load, promoted, n, begin);
	row("measure.same.decided", load, decided, n, begin);
}

static void planted(struct venue *f, uint32_t n, const char *load)
{
	static const double slow_comes[2] = {1, PLANTED}, slow_holds[2] = {PLANTED, 1};
	const char *steps[2] = {f->steps[0], f->steps[0]};
	int64_t begin = hn_clock_ns();
	uint32_t lost = 0, found = 0;

	for (uint32_t i = 0; i < n; i++) {
		lost += hold(f, 2, steps, slow_comes, i + 1).winner == 0;
	}
	row("measure.planted.slower_lost", load, lost, n, begin);
	begin = hn_clock_ns();
	for (uint32_t i = 0; i < n; i++) {
		found += hold(f, 2, steps, slow_holds, i + 1).winner == 1;
	}
	row("measure.planted.faster_found", load, found, n, begin);
}

/* How much slower than steps[0] is steps[who], by JUDGE duels. */
static double judged(struct venue *f, uint32_t first, uint32_t who)
{
	double ratio[JUDGE];
	uint32_t n = 0;

	for (uint32_t tries = 0; who != first && n < JUDGE && tries < 2 * JUDGE; tries++) {
		struct hn_sync_result got =
			hn_sync_duel(f->m, f->key, f->steps[first], f->steps[who]);

		if (got.verdict == HN_VERDICT_OK) {
			ratio[n++] = got.log_ratio;
		}
	}
	return n > 0 ? exp(hn_stats_median(ratio, n)) : 1;
}

/* Of n finals: how many name the same winner, or one within 1 % of it by a longer judgement. */
static void count_same(struct venue *f, const uint32_t *wins, uint32_t n)
{
	uint32_t most = 0, same = 0;
	char context[200];

	for (uint32_t i = 1; i < f->n_steps; i++) {
		most = wins[i] > wins[most] ? i : most;
	}
	for (uint32_t i = 0; i < f->n_steps; i++) {
		double slower = wins[i] > 0 ? judged(f, most, i) : INFINITY;

		if (wins[i] > 0) {
			snprintf(context, sizeof(context), "\"winner\": %u, \"wins\": %u", i,
				 wins[i]);
			hn_bench_row("measure.repeat.slower", 100 * (slower - 1), "%", context);
		}
		same += fabs(slower - 1) <= HN_FINAL_GAIN ? wins[i] : 0;
	}
	snprintf(context, sizeof(context), "\"of\": %u, \"winner\": %u", n, most);
	hn_bench_row("measure.repeat.same", same, "finals", context);
}

static void repeat(struct venue *f, uint32_t n)
{
	uint32_t wins[HN_FINAL_MAX_ENTRANT] = {0};

	for (uint32_t i = 0; i < n; i++) {
		int64_t begin = hn_clock_ns();
		struct hn_final_result r = hold(f, f->n_steps, f->steps, NULL, i + 1);
		char context[300];

		wins[r.winner]++;
		snprintf(context, sizeof(context),
			 "\"winner\": %u, \"challenger\": %u, \"gain_lo\": %.4f, \"gain_hi\": "
			 "%.4f, \"entrants\": %u, \"screened_ns\": %.0f, \"seconds\": %.2f",
			 r.winner, r.challenger, r.gain_lo, r.gain_hi, f->n_steps,
			 f->screened_ns[r.winner], (double)(hn_clock_ns() - begin) * 1e-9);
		hn_bench_row("measure.repeat.winner_ns", r.median_ns, "ns", context);
	}
	count_same(f, wins, n);
}

/* A builder's work at a builder's priority, stopped as yet. */
static pid_t compile(const struct hn_bench_args *args)
{
	char program[4200], path[4200];
	pid_t pid;

	beside(program, sizeof(program), "hone-bench");
	snprintf(path, sizeof(path), "%s/resnet50-conv.json", args->examples);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "w", stdout) == NULL || nice(19) == -1) {
			_exit(1);
		}
		raise(SIGSTOP);
		execl(program, program, "lower", "--candidates", "1000000", path, (char *)NULL);
		_exit(1);
	}
	return pid;
}

/* One duel of the best with itself; its time, or 0. */
static double alone(struct venue *f, const pid_t *pid, uint32_t n, int signal)
{
	for (uint32_t i = 0; i < n; i++) {
		kill(pid[i], signal);
	}
	struct hn_sync_result got = hn_sync_duel(f->m, f->key, f->steps[0], f->steps[0]);

	return got.verdict == HN_VERDICT_OK ? got.median_ns : 0;
}

static void builds(struct venue *f, const struct hn_bench_args *args, uint32_t n)
{
	double ratio[HN_STATS_MAX_SAMPLE];
	uint32_t n_ratio = 0, n_core = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	pid_t *pid = HN_NEW_ARRAY(&f->a, pid_t, n_core);
	char context[100];

	for (uint32_t i = 0; i < n_core; i++) {
		pid[i] = compile(args);
		waitpid(pid[i], NULL, WUNTRACED);
	}
	for (uint32_t i = 0; i < n && n_ratio < HN_STATS_MAX_SAMPLE; i++) {
		bool first = i % 2 == 0; /* what drifts in a line cancels */
		double one = alone(f, pid, n_core, first ? SIGSTOP : SIGCONT);
		double two = alone(f, pid, n_core, first ? SIGCONT : SIGSTOP);

		if (one > 0 && two > 0) {
			ratio[n_ratio++] = log(first ? two / one : one / two);
		}
	}
	for (uint32_t i = 0; i < n_core; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	snprintf(context, sizeof(context), "\"of\": %u, \"timed\": %u, \"builders\": %u", n,
		 n_ratio, n_core);
	hn_bench_row("measure.builds.slower",
		     n_ratio > 0 ? 100 * (exp(hn_stats_median(ratio, n_ratio)) - 1) : INFINITY,
		     "%", context);
}

/* Leave the calling process the first of its cores alone. */
static void stay_on_first_core(void)
{
	cpu_set_t all, one;
	int core = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &all)) {
		core++;
	}
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Another program on one of our cores, until we end. */
static pid_t disturb(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		stay_on_first_core();
		for (;;) {
			__asm__ volatile("");
		}
	}
	return pid;
}

int hn_bench_measure(const struct hn_bench_args *args)
{
	const char *mode = args->argc > 0 ? args->argv[0] : "tune";
	uint32_t n = args->argc > 1 ? (uint32_t)strtoul(args->argv[1], NULL, 10) : 10;
	bool load = args->argc > 2 && strcmp(args->argv[2], "load") == 0;
	const char *context = load ? ", \"load\": \"one core\"" : "";
	struct venue f = {.m = NULL};
	struct hn_err err = {0};
	pid_t pid = 0;
	int rc;

	if (strcmp(mode, "tune") == 0) {
		return tune_all(args);
	}
	if (n == 0 || (strcmp(mode, "same") != 0 && strcmp(mode, "planted") != 0 &&
		       strcmp(mode, "repeat") != 0 && strcmp(mode, "builds") != 0)) {
		fprintf(stderr, "usage: hone-bench measure tune [FILE...] | same N [load] | "
				"planted N [load] | repeat N [FILE] | builds N [FILE]\n");
		return 2;
	}
	hn_arena_init(&f.a, 0);
	rc = open_all(&f, args, &err);
	if (rc == 0) {
		pid = load ? disturb() : 0;
		if (strcmp(mode, "same") == 0) {
			same(&f, n, context);
		} else if (strcmp(mode, "planted") == 0) {
			planted(&f, n, context);
		} else if (strcmp(mode, "builds") == 0) {
			builds(&f, args, n);
		} else {
			repeat(&f, n);
		}
	} else {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	hn_sync_close(f.m);
	hn_arena_fini(&f.a);
	return rc == 0 ? 0 : 1;
}
