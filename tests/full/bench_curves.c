/* The search is as good as it was: best programs after 64, 200 and 1,000 trials on a machine
 * that is arithmetic, six workloads, seeds 1 to 10, against the stored curves; and evolution
 * beats chance.
 *
 * Without a change of the search the curves are the same to the bit on one machine.  A change
 * that pays moves them a little, up here and down there (crossover: by up to 6 % at a point, by
 * half a per cent in all): the geometric mean over the seeds may be WORSE at one point of one
 * workload, and TOGETHER over all of them, before this fails.  Chance alone is 8 % worse in all.
 * `hone-bench curves >tests/data/curves.jsonl` stores new ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "bench/curves.h"

#define STORED HONE_SOURCE_DIR "/tests/data/curves.jsonl"
#define MARGIN 1.03 /* evolution over random draws, geometric mean of the points */
#define WORSE 1.08
#define TOGETHER 1.015
#define MOST_CURVES 256

struct fixture {
	uint32_t n, n_stored;
	struct hn_curve *now, stored[MOST_CURVES];
	struct hn_json *doc[MOST_CURVES]; /* hold the stored ones' names */
};

static void read_line(struct fixture *f, const char *line, size_t n)
{
	struct hn_err err;
	struct hn_json *v;
	int64_t seed;

	if (hn_json_parse(STORED, line, n, NULL, &v, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	assert_true(f->n_stored < MOST_CURVES);
	struct hn_curve *c = &f->stored[f->n_stored];
	const struct hn_json *best = hn_json_first(hn_json_get(v, "best"));

	c->workload = hn_json_string(hn_json_get(v, "workload"));
	c->policy = hn_json_string(hn_json_get(v, "policy"));
	assert_true(hn_json_int(hn_json_get(v, "seed"), &seed));
	c->seed = (uint64_t)seed;
	for (uint32_t p = 0; p < HN_CURVE_POINTS; p++, best = hn_json_next(best)) {
		assert_true(hn_json_double(best, &c->best_ns[p]));
	}
	f->doc[f->n_stored++] = v;
}

static int set_up(void **state)
{
	static struct fixture f;
	struct hn_buf text;
	struct hn_err err;

	hn_buf_init(&text);
	if (hn_file_read(STORED, 1 << 20, &text, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	for (char *line = text.s, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		read_line(&f, line, (size_t)(end - line));
	}
	hn_buf_fini(&text);
	f.now = hn_curves_run(/* n_thread= */ 2, &f.n);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	free(f->now);
	for (uint32_t i = 0; i < f->n_stored; i++) {
		hn_json_free(f->doc[i]);
	}
	return 0;
}

/* Log of how much longer x takes than y at point p, mean over the seeds of which x is the first. */
static double log_ratio(const struct hn_curve *x, const struct hn_curve *y, uint32_t p)
{
	double sum = 0;

	for (uint32_t s = 0; s < HN_CURVE_SEEDS; s++) {
		sum += log(x[s].best_ns[p] / y[s].best_ns[p]);
	}
	return sum / HN_CURVE_SEEDS;
}

/* Whole sets of seeds, in the order of hn_curves_run. */
static void the_stored_ones_are_these(void **state)
{
	const struct fixture *f = *state;

	assert_int_equal(f->n_stored, f->n);
	assert_int_equal(f->n, 6 * 2 * HN_CURVE_SEEDS);
	for (uint32_t i = 0; i < f->n; i++) {
		assert_string_equal(f->stored[i].workload, f->now[i].workload);
		assert_string_equal(f->stored[i].policy, f->now[i].policy);
		assert_int_equal(f->stored[i].seed, f->now[i].seed);
	}
}

static void no_worse_than_stored(void **state)
{
	const struct fixture *f = *state;
	double sum = 0;
	uint32_t n = 0, n_worse = 0, n_same = 0;

	for (uint32_t i = 0; i < f->n; i += HN_CURVE_SEEDS) {
		if (strcmp(f->now[i].policy, "evolve") != 0) {
			continue;
		}
		for (uint32_t p = 0; p < HN_CURVE_POINTS; p++, n++) {
			double r = log_ratio(&f->now[i], &f->stored[i], p);

			n_same += fabs(r) < 1e-6;
			sum += r;
			if (r > log(WORSE)) {
				print_message("%s after %u trials: %.1f %% slower than stored\n",
					      f->now[i].workload, hn_curve_trials[p],
					      100 * (exp(r) - 1));
				n_worse++;
			}
		}
	}
	print_message("all together %.2f %% slower than stored; %u of %u points are the same\n",
		      100 * (exp(sum / n) - 1), n_same, n);
	assert_int_equal(n_worse, 0);
	assert_true(sum / n < log(TOGETHER));
}

/* Random draws are good here (they know vectors and registers, sketch/fill/tile.c), and after
 * 1,000 of them there is little left to find, so the margin is small.  A point of five seeds strays
 * by 1.5 to 4 %, of ten by 1 to 3 (standard deviations, from twenty): what is asked of each
 * workload is asked of its points together. */
static void evolution_beats_chance(void **state)
{
	const struct fixture *f = *state;
	uint32_t n_short = 0;

	for (uint32_t i = 0; i < f->n; i += 2 * HN_CURVE_SEEDS) {
		double sum = 0;

		for (uint32_t p = 0; p < HN_CURVE_POINTS; p++) {
			double r = log_ratio(&f->now[i + HN_CURVE_SEEDS], &f->now[i], p);

			print_message("%-14s %5u trials: %.3f\n", f->now[i].workload,
				      hn_curve_trials[p], exp(r));
			n_short += r < 0;
			sum += r;
		}
		n_short += sum / HN_CURVE_POINTS < log(MARGIN);
	}
	assert_int_equal(n_short, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stored_ones_are_these),
		cmocka_unit_test(no_worse_than_stored),
		cmocka_unit_test(evolution_beats_chance),
	};

	return cmocka_run_group_tests_name("curves", tests, set_up, tear_down);
}
