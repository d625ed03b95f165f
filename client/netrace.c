/* client/netrace.c -- see netrace.h. */
#include "client/netrace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/builder.h"
#include "client/cmd.h"
#include "hone/pool.h"

#define ANSWER_MAX ((size_t)64 << 20)
#define MOST_ROUNDS 256

/* Of the cores that networks may have: one on a busy machine. */
static uint32_t idle_cores(void)
{
	static uint32_t n; /* one answer for all races of a run of hone */
	double load;

	if (n == 0) {
		n = (uint32_t)hone_pool_cpus();
		n = getloadavg(&load, 1) == 1 && load > n + 0.5 ? 1 : n;
	}
	return n;
}

uint32_t hn_netrace_threads(const struct hn_target *target)
{
	return (target->caps & HN_CAP_MODULES) != 0 ? 0 : idle_cores();
}

/* Whether they take time of this machine's cores. */
static bool on_cores(const struct hn_target *target)
{
	return (target->caps & HN_CAP_GPU_THREADS) == 0;
}

static void write_request(const struct hn_netrace *race, uint32_t n_run, const struct hn_netrun *run,
			  struct hn_buf *b)
{
	uint32_t n_step = 1, n_thread = hn_netrace_threads(race->target);
	bool cpu = on_cores(race->target) && idle_cores() == 1;
	struct hn_jw w;

	for (uint32_t i = 0; i < n_run; i++) {
		n_step = run[i].net->n_step > n_step ? run[i].net->n_step : n_step;
	}
	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", race->name);
	hn_jw_uint(&w, "threads", n_thread > 0 ? n_thread : 1);
	hn_jw_str(&w, "clock", cpu ? "cpu" : "wall");
	hn_jw_bool(&w, "gpu", n_thread == 0);
	hn_jw_double(&w, "seconds", race->seconds);
	hn_jw_uint(&w, "steps", n_step);
	hn_jw_list(&w, "libraries");
	for (uint32_t i = 0; i < race->n_library; i++) {
		hn_jw_str(&w, NULL, race->dir[i]);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "runs");
	for (uint32_t i = 0; i < n_run; i++) {
		hn_jw_list(&w, NULL);
		for (uint32_t k = 0; k < run[i].net->n_kernel; k++) {
			hn_jw_uint(&w, NULL, run[i].from[k]);
		}
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}

static bool read_times(const struct hn_json *v, uint32_t n_round, struct hn_arena *a,
		       const double **ret)
{
	double *ns = HN_NEW_ARRAY(a, double, n_round);
	uint32_t i = 0;

	*ret = ns;
	if (n_round == 0 || n_round > MOST_ROUNDS || hn_json_count(v) != n_round) {
		return false;
	}
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		if (!hn_json_double(c, &ns[i]) || ns[i] < 0) {
			return false;
		}
		ns[i] = ns[i] < 1 ? 1 : ns[i]; /* ratios are taken */
		i++;
	}
	return true;
}

static bool read_run(const struct hn_json *v, struct hn_arena *a, struct hn_netrun *run)
{
	const struct hn_json *steps = hn_json_get(v, "steps");
	uint32_t i = 0;

	run->n_round = hn_json_count(hn_json_get(v, "ns"));
	run->step_ns = HN_NEW_ARRAY(a, const double *, run->net->n_step);
	if (!read_times(hn_json_get(v, "ns"), run->n_round, a, &run->ns) ||
	    hn_json_count(steps) != run->net->n_step) {
		return false;
	}
	for (const struct hn_json *c = hn_json_first(steps); c != NULL; c = hn_json_next(c)) {
		if (!read_times(c, run->n_round, a, &run->step_ns[i++])) {
			return false;
		}
	}
	return true;
}

static int read_answer(const struct hn_json *v, const char *verb, uint32_t n_run,
		       struct hn_netrun *run, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_json *c = hn_json_first(hn_json_get(v, "runs"));
	uint32_t i = 0;

	if (strcmp(hn_show_word(v, "verdict"), "OK") != 0) {
		return hn_fail(err, HONE_E_INTERNAL, "%s: the network cannot be run: %s: %s", verb,
			       hn_show_word(v, "verdict"), hn_show_word(v, "detail"));
	}
	for (; i < n_run && c != NULL && read_run(c, a, &run[i]) &&
	       run[i].n_round == run[0].n_round;
	     i++) {
		c = hn_json_next(c);
	}
	return i == n_run ? 0
			  : hn_fail(err, HONE_E_INTERNAL, "%s: hone-board: an answer without times",
				    verb);
}

int hn_netrace_run(const struct hn_netrace *race, uint32_t n_run, struct hn_netrun *run,
		   struct hn_arena *a, struct hn_err *err)
{
	struct hn_memory_file ask = { .fd = -1 }, answer = { .fd = -1 };
	struct hn_json *json = NULL;
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	write_request(race, n_run, run, &b);
	rc = hn_memory_file_open(race->verb, b.s, &ask, err);
	rc = rc ? rc : hn_memory_file_open(race->verb, "", &answer, err);
	if (rc == 0) {
		char *argv[] = { "hone-board", "--network", ask.path, NULL };

		hn_buf_reset(&b);
		rc = hn_builder_run(race->verb, argv, answer.fd, err);
	}
	rc = rc ? rc : hn_file_read(answer.path, ANSWER_MAX, &b, err);
	rc = rc ? rc : hn_json_parse("hone-board", b.s, b.n, NULL, &json, err);
	rc = rc ? rc : read_answer(json, race->verb, n_run, run, a, err);
	hn_json_free(json);
	hn_buf_fini(&b);
	hn_memory_file_close(&ask);
	hn_memory_file_close(&answer);
	return rc;
}

/* -- what follows ---------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static double median(double *x, uint32_t n)
{
	qsort(x, n, sizeof(*x), by_value);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static void ratios(const double *x, const double *y, uint32_t n_round, double ret[MOST_ROUNDS])
{
	for (uint32_t i = 0; i < n_round; i++) {
		ret[i] = log(y[i] / x[i]);
	}
}

double hn_netrace_slower(const double *x, const double *y, uint32_t n_round)
{
	double ratio[MOST_ROUNDS];

	ratios(x, y, n_round, ratio);
	return median(ratio, n_round);
}

double hn_netrace_surely(const double *x, const double *y, uint32_t n_round)
{
	double ratio[MOST_ROUNDS];

	ratios(x, y, n_round, ratio);
	qsort(ratio, n_round, sizeof(*ratio), by_value);
	return ratio[(3 * n_round - 1) / 4];
}

double hn_netrace_median(const double *ns, uint32_t n_round)
{
	double copy[MOST_ROUNDS];

	memcpy(copy, ns, n_round * sizeof(*ns));
	return median(copy, n_round);
}

const double *hn_netrace_task(const struct hn_netrun *run, uint32_t task, struct hn_arena *a)
{
	double *ns = HN_NEW_ARRAY(a, double, run->n_round);

	for (uint32_t i = 0; i < run->net->n_step; i++) {
		for (uint32_t r = 0; run->net->step[i].task == task && r < run->n_round; r++) {
			ns[r] += run->step_ns[i][r];
		}
	}
	return ns;
}

bool hn_netrace_mix(const struct hn_netrun run[2], const bool *open, struct hn_arena *a,
		    uint32_t *ret_which)
{
	uint32_t n[2] = { 0, 0 };

	for (uint32_t k = 0; k < run[0].net->n_task; k++) {
		ret_which[k] = open[k] && hn_netrace_slower(hn_netrace_task(&run[0], k, a),
							   hn_netrace_task(&run[1], k, a),
							   run[0].n_round) < 0;
		n[ret_which[k]] += open[k];
	}
	return n[0] > 0 && n[1] > 0;
}

uint32_t hn_netrace_best(const struct hn_netrun *run, uint32_t n_run)
{
	uint32_t best = 0;
	double least = 0;

	for (uint32_t i = 1; i < n_run; i++) {
		double slower = hn_netrace_slower(run[0].ns, run[i].ns, run[0].n_round);

		if (slower < least &&
		    hn_netrace_surely(run[0].ns, run[i].ns, run[0].n_round) < 0) {
			least = slower;
			best = i;
		}
	}
	return best;
}
