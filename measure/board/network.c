/* measure/board/network.c -- see network.h. */
#include "measure/board/network.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/jw.h"
#include "measure/board/child.h"
#include "measure/board/fpenv.h"
#include "measure/board/network_int.h"
#include "measure/board/pool.h"
#include "measure/board/sandbox.h"

#define REQUEST_MAX ((size_t)16 << 20)
#define RUNS_MAX 64
#define STEPS_MAX 65536
#define CALLS 3 /* of a run in a round, at least, beside one that warms it */
#define ROUND_NS 2e7 /* for which calls go on */
#define LIMIT_S 60 /* beside what was asked for: opening, preparing, the least rounds */
#define GPU_LIMIT_S 600 /* likewise, with a driver's compiler */

struct request {
	const char *name;
	int64_t n_threads;
	bool cpu; /* the clock */
	bool gpu; /* libraries open a driver */
	double seconds;
	uint32_t n_lib, n_run;
	int64_t n_step; /* of a run, at most */
	const char **dir;
	uint32_t **from, *n_from; /* of a run */
};

/* In memory that parent and child share. */
struct shared {
	struct hn_fault_note note;
	uint32_t n_round;
	char why[300]; /* "": it ran */
	uint32_t n_step[RUNS_MAX];
	double ns[];   /* [round][run][1 + step] */
};

struct work {
	struct hn_arena a;
	struct request ask;
	struct shared *shared;
	size_t shared_bytes;
	uint64_t *step_ns; /* of a call */
	double *call_ns;   /* the same with the whole call in front */
	const struct hn_netmix *last; /* that ran, or was prepared */
};

static double *times_of(const struct work *w, uint32_t round, uint32_t run)
{
	size_t width = 1 + (size_t)w->ask.n_step;

	return &w->shared->ns[(round * w->ask.n_run + run) * width];
}

/* -- the request ----------------------------------------------------------------------------- */

static int read_run(const struct hn_json *v, struct request *r, struct hn_arena *a,
		    struct hn_err *err)
{
	uint32_t n = hn_json_count(v), *from = HN_NEW_ARRAY(a, uint32_t, n);
	uint32_t i = 0;

	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c), i++) {
		int64_t library;

		if (!hn_json_int(c, &library) || library < 0 || library >= r->n_lib) {
			return hn_fail(err, HONE_E_INVALID, "runs[%u][%u]: no library", r->n_run, i);
		}
		from[i] = (uint32_t)library;
	}
	r->from[r->n_run] = from;
	r->n_from[r->n_run++] = n;
	return 0;
}

static int read_request(const struct hn_json *v, struct hn_arena *a, struct request *r,
			struct hn_err *err)
{
	const struct hn_json *libraries = hn_json_get(v, "libraries"), *runs = hn_json_get(v, "runs");
	const char *name = hn_json_string(hn_json_get(v, "name"));
	const char *clock = hn_json_string(hn_json_get(v, "clock"));
	uint32_t n_run = hn_json_count(runs);
	int rc = 0;

	if (name == NULL || clock == NULL || !hn_json_int(hn_json_get(v, "threads"), &r->n_threads) ||
	    r->n_threads < 1 || r->n_threads > 4096 ||
	    !hn_json_int(hn_json_get(v, "steps"), &r->n_step) || r->n_step < 1 ||
	    r->n_step > STEPS_MAX ||
	    !hn_json_double(hn_json_get(v, "seconds"), &r->seconds) || r->seconds < 0 ||
	    r->seconds > 3600 || hn_json_count(libraries) > HN_NETWORK_LIBRARIES || n_run < 1 ||
	    n_run > RUNS_MAX) {
		return hn_fail(err, HONE_E_INVALID, "network: no name, threads, clock, seconds, steps or runs");
	}
	r->name = hn_arena_strdup(a, name);
	r->cpu = strcmp(clock, "cpu") == 0;
	(void)hn_json_bool(hn_json_get(v, "gpu"), &r->gpu); /* not there: no */
	r->dir = HN_NEW_ARRAY(a, const char *, HN_NETWORK_LIBRARIES);
	r->from = HN_NEW_ARRAY(a, uint32_t *, n_run);
	r->n_from = HN_NEW_ARRAY(a, uint32_t, n_run);
	for (const struct hn_json *c = hn_json_first(libraries); c != NULL; c = hn_json_next(c)) {
		const char *dir = hn_json_string(c);

		r->dir[r->n_lib++] = hn_arena_strdup(a, dir != NULL ? dir : "");
	}
	for (const struct hn_json *c = hn_json_first(runs); rc == 0 && c != NULL; c = hn_json_next(c)) {
		rc = read_run(c, r, a, err);
	}
	return rc;
}

/* -- in the child ---------------------------------------------------------------------------- */

static uint64_t wall_ns(void)
{
	return (uint64_t)hn_clock_ns();
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of all threads: a driver that runs kernels on this machine's cores has its own. */
static uint64_t process_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One call, and what it took: the whole in front, then each step. */
static int call(struct work *w, const struct hn_netmix *x, const struct hone_env *env)
{
	uint64_t (*now)(void) = !w->ask.cpu ? wall_ns : w->ask.gpu ? process_ns : cpu_ns;
	uint64_t took = 0;
	int32_t rc;

	w->last = x;
	memset(w->step_ns, 0, x->model.n_steps * sizeof(*w->step_ns));
	rc = hn_netmix_run(x, env, now, &took, w->step_ns);
	for (uint32_t i = 0; i <= x->model.n_steps; i++) {
		w->call_ns[i] = (double)(i == 0 ? took : w->step_ns[i - 1]);
	}
	return rc;
}

/* A run in a round. */
static int calls(struct work *w, const struct hn_netmix *x, const struct hone_env *env, double *least)
{
	int64_t begin = hn_clock_ns();
	int rc = call(w, x, env); /* warms it */

	for (int i = 0; rc == 0 && (i < CALLS || (double)(hn_clock_ns() - begin) < ROUND_NS); i++) {
		rc = call(w, x, env);
		for (uint32_t k = 0; k <= x->model.n_steps; k++) {
			least[k] = i == 0 || w->call_ns[k] < least[k] ? w->call_ns[k] : least[k];
		}
	}
	return rc;
}

static int rounds(struct work *w, const struct hn_netmix *mix, const struct hone_env *env)
{
	int64_t begin = hn_clock_ns();
	uint32_t n = w->ask.n_run, round = 0;
	int rc = 0;

	while (rc == 0 && round < HN_NETWORK_ROUNDS &&
	       (round < HN_NETWORK_LEAST ||
		(double)(hn_clock_ns() - begin) < 1e9 * w->ask.seconds)) {
		for (uint32_t i = 0; rc == 0 && i < n; i++) {
			uint32_t run = (i + round) % n; /* each is first once */

			rc = calls(w, &mix[run], env, times_of(w, round, run));
		}
		w->shared->n_round = rc == 0 ? ++round : round;
	}
	return rc;
}

static void arm_thread(void *ctx)
{
	(void)ctx;
	hn_fault_arm_thread();
}

static void do_nothing(void *closure, int64_t begin, int64_t end, int32_t worker)
{
	(void)closure;
	(void)begin;
	(void)end;
	(void)worker;
}

/* All threads started: what one does at first is no kernel's business. */
static int make_pool(int32_t n, struct hone_pool **ret, struct hn_err *err)
{
	int rc = n > 1 ? hn_kernel_pool_new(n, arm_thread, NULL, ret, err) : 0;

	if (rc == 0 && n > 1) {
		hone_pool_run(*ret, do_nothing, NULL, n);
	}
	return rc;
}

static int open_all(struct work *w, struct hn_netmix *mix, struct hn_err *err)
{
	struct hn_netlib *lib = HN_NEW_ARRAY(&w->a, struct hn_netlib, w->ask.n_lib);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->ask.n_lib; i++) {
		rc = hn_netlib_open(w->ask.dir[i], w->ask.name, &lib[i], err);
	}
	for (uint32_t i = 0; rc == 0 && i < w->ask.n_run; i++) {
		rc = hn_netmix_make(lib, w->ask.from[i], w->ask.n_from[i],
				    (int32_t)w->ask.n_threads, &w->a, &mix[i], err);
		if (rc == 0 && (mix[i].gpu != NULL) != w->ask.gpu) {
			rc = hn_fail(err, HONE_E_INVALID, "run %u is %sfor a GPU", i,
				     w->ask.gpu ? "not " : "");
		}
		if (rc == 0 && mix[i].model.n_steps > w->ask.n_step) {
			rc = hn_fail(err, HONE_E_INVALID, "run %u has %u steps", i,
				     mix[i].model.n_steps);
		}
		w->shared->n_step[i] = rc == 0 ? mix[i].model.n_steps : 0;
	}
	w->step_ns = HN_NEW_ARRAY(&w->a, uint64_t, (size_t)w->ask.n_step);
	w->call_ns = HN_NEW_ARRAY(&w->a, double, (size_t)w->ask.n_step + 1);
	return rc;
}

static void work(void *ctx)
{
	struct work *w = ctx;
	struct hn_netmix *mix = HN_NEW_ARRAY(&w->a, struct hn_netmix, w->ask.n_run);
	struct hone_pool *pool = NULL;
	const struct hone_env *env = NULL;
	struct hn_err err = { 0 };
	int rc = open_all(w, mix, &err);

	rc = rc ? rc : make_pool((int32_t)w->ask.n_threads, &pool, &err);
	if (rc != 0) {
		snprintf(w->shared->why, sizeof w->shared->why, "%.290s", err.msg);
		return;
	}
	env = pool != NULL ? hone_pool_env(pool, 0) : NULL;
	if (!w->ask.gpu) { /* a driver opens devices, and files of its compiler's */
		hn_sandbox_enter_kernel(HN_SANDBOX_ALL);
	}
	hn_fp_reset();
	for (uint32_t i = 0; rc == 0 && i < w->ask.n_run; i++) {
		w->last = &mix[i];
		rc = hn_netmix_prepare(&mix[i], env);
	}
	rc = rc ? rc : rounds(w, mix, env);
	if (rc != 0) {
		snprintf(w->shared->why, sizeof w->shared->why, "%.290s",
			 hn_netmix_why(w->last, rc, &w->a));
	}
}

/* -- the answer ------------------------------------------------------------------------------ */

static void put_series(const struct work *w, uint32_t run, uint32_t at, const char *name,
		       struct hn_jw *j)
{
	hn_jw_list(j, name);
	for (uint32_t r = 0; r < w->shared->n_round; r++) {
		hn_jw_fixed(j, NULL, times_of(w, r, run)[at], 0);
	}
	hn_jw_end(j);
}

static void put_runs(const struct work *w, struct hn_jw *j)
{
	hn_jw_list(j, "runs");
	for (uint32_t i = 0; i < w->ask.n_run; i++) {
		hn_jw_object(j, NULL);
		put_series(w, i, 0, "ns", j);
		hn_jw_list(j, "steps");
		for (uint32_t k = 0; k < w->shared->n_step[i] && k < w->ask.n_step; k++) {
			put_series(w, i, 1 + k, NULL, j);
		}
		hn_jw_end(j);
		hn_jw_end(j);
	}
	hn_jw_end(j);
}

static void put_answer(const struct work *w, const struct hn_fault_end *end, struct hn_buf *json)
{
	enum hn_verdict v = HN_VERDICT_OK;
	char text[400] = "";
	struct hn_jw j;

	if (end->timed_out || end->status != 0) {
		v = hn_fault_classify(end, &w->shared->note, 0, NULL, text, sizeof text);
	} else if (w->shared->why[0] != '\0' || w->shared->n_round > HN_NETWORK_ROUNDS) {
		v = HN_VERDICT_LOAD_FAIL;
		snprintf(text, sizeof text, "%.300s", w->shared->why);
	}
	hn_jw_init(&j, json);
	hn_jw_object(&j, NULL);
	hn_jw_str(&j, "verdict", hn_verdict_name(v));
	hn_jw_str(&j, "detail", text);
	if (v == HN_VERDICT_OK) {
		put_runs(w, &j);
	}
	hn_jw_end(&j);
	hn_jw_done(&j);
}

static int run(struct work *w, struct hn_buf *json, struct hn_err *err)
{
	const int64_t more_s = w->ask.gpu ? GPU_LIMIT_S : LIMIT_S;
	const struct hn_child_limits limits = { .ns = (int64_t)((w->ask.seconds + more_s) * 1e9),
						.driver = w->ask.gpu };
	struct hn_fault_end end;
	int rc;

	w->shared_bytes = sizeof(*w->shared) + (size_t)HN_NETWORK_ROUNDS * w->ask.n_run *
						       (1 + (size_t)w->ask.n_step) * sizeof(double);
	w->shared = mmap(NULL, w->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (w->shared == MAP_FAILED) {
		return hn_fail(err, HONE_E_NOMEM, "network: no memory");
	}
	if (!w->ask.gpu) {
		hn_sandbox_enter_process(HN_SANDBOX_ALL);
	}
	rc = hn_child_run(work, w, &limits, &w->shared->note, &end, err);
	if (rc == 0) {
		w->shared->why[sizeof(w->shared->why) - 1] = '\0';
		put_answer(w, &end, json);
	}
	munmap(w->shared, w->shared_bytes);
	return rc;
}

int hn_network_run(const char *path, struct hn_buf *json, struct hn_err *err)
{
	struct work w = { 0 };
	struct hn_json *v = NULL;
	struct hn_buf b;
	int rc;

	hn_arena_init(&w.a, 0);
	hn_buf_init(&b);
	rc = hn_file_read(path, REQUEST_MAX, &b, err);
	rc = rc ? rc : hn_json_parse("network", b.s, b.n, NULL, &v, err);
	rc = rc ? rc : read_request(v, &w.a, &w.ask, err);
	rc = rc ? rc : run(&w, json, err);
	hn_json_free(v);
	hn_buf_fini(&b);
	hn_arena_fini(&w.a);
	return rc;
}
