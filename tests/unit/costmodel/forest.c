/* costmodel_forest.c -- trees as text and back, and what is predicted from them, held against a
 * walk along the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "costmodel/forest.h"

#define N_FEATURE 7
#define N_TREE 40
#define N_ROW 9 /* no multiple of those that go abreast */

/* Few values, so that many rows stand exactly at a split. */
static double draw_value(struct hn_rng *rng)
{
	return 0.25 * (double)hn_rng_below(rng, 9) - 1;
}

static void write_tree(struct hn_rng *rng, int depth, struct hn_buf *b)
{
	if (depth == HN_FOREST_DEPTH || hn_rng_below(rng, 5) == 0) {
		hn_buf_printf(b, "=%.9g", (double)(float)(hn_rng_unit(rng) - 0.5));
		return;
	}
	hn_buf_printf(b, "%u,%.9g ", (uint32_t)hn_rng_below(rng, N_FEATURE),
		      draw_value(rng));
	write_tree(rng, depth + 1, b);
	hn_buf_putc(b, ' ');
	write_tree(rng, depth + 1, b);
}

/* The value of the node at *at, which is passed over. */
static double walk(const char **at, const float *row)
{
	char *end;

	if (**at == '=') {
		double value = strtod(*at + 1, &end);

		*at = end + (*end == ' ');
		return (double)(float)value;
	}
	unsigned long feature = strtoul(*at, &end, 10);
	double split = strtod(end + 1, &end);

	*at = end + 1;
	double left = walk(at, row), right = walk(at, row);

	return (double)row[feature] < split ? left : right;
}

static void rows_take_their_ways(void **state)
{
	struct hn_forest f = { 0 };
	struct hn_buf text, again;
	float x[N_ROW * N_FEATURE];

	(void)state;
	hn_buf_init(&text);
	hn_buf_init(&again);
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct hn_rng rng = hn_rng_stream(3, seed, 0, 0);

		hn_buf_reset(&text);
		hn_forest_cut(&f, 0);
		for (int t = 0; t < N_TREE; t++) {
			size_t from = text.n;

			write_tree(&rng, 0, &text);
			hn_buf_putc(&text, '\n');
			assert_int_equal(
				hn_forest_add_line(&f, text.s + from, N_FEATURE, NULL),
				0);
		}
		hn_buf_reset(&again);
		hn_forest_write(&f, &again);
		assert_string_equal(again.s, text.s);
		for (size_t i = 0; i < N_ROW * N_FEATURE; i++) {
			x[i] = hn_rng_below(&rng, 20) == 0 ? INFINITY
							   : (float)draw_value(&rng);
		}
		for (uint32_t n = 0; n <= N_ROW; n++) {
			double sum[N_ROW + 1];

			for (uint32_t i = 0; i <= N_ROW; i++) {
				sum[i] = 100;
			}
			hn_forest_predict(&f, x, n, N_FEATURE, sum);
			for (uint32_t i = 0; i <= N_ROW; i++) {
				double want = 100;

				for (const char *at = text.s; i < n && *at != '\0';
				     at += *at == '\n') {
					want += walk(&at, x + (size_t)i * N_FEATURE);
				}
				assert_true(sum[i] == want);
			}
		}
	}
	hn_forest_fini(&f);
	hn_buf_fini(&text);
	hn_buf_fini(&again);
}

/* A chain of so many splits, each with a leaf to its left. */
static const char *chain(int depth, struct hn_buf *b)
{
	hn_buf_reset(b);
	for (int i = 0; i < depth; i++) {
		hn_buf_printf(b, "%d,0.5 =%d ", i % N_FEATURE, i);
	}
	hn_buf_puts(b, "=100");
	return b->s;
}

static void what_is_no_tree_is_refused(void **state)
{
	static const char *const bad[] = { "",		 "=",		"=x",
					   "=inf",	 "=nan",	"7,1 =1 =2",
					   "-1,1 =1 =2", "0 =1 =2",	"0,1 =1",
					   "0,1",	 "0,inf =1 =2", "0,1 =1 =2 =3",
					   "=1 =2",	 "=1x" };
	static const float row[N_FEATURE] = { 1, 1, 1, 1, 1, 1, 1 };
	struct hn_forest f = { 0 };
	struct hn_err err;
	struct hn_buf b;
	double sum = 0;

	(void)state;
	hn_buf_init(&b);
	assert_int_equal(
		hn_forest_add_line(&f, chain(HN_FOREST_DEPTH, &b), N_FEATURE, &err), 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(hn_forest_add_line(&f, bad[i], N_FEATURE, &err),
				 -HONE_E_CORRUPT);
		assert_non_null(strstr(err.msg, "no tree at"));
	}
	assert_int_equal(
		hn_forest_add_line(&f, chain(HN_FOREST_DEPTH + 1, &b), N_FEATURE, &err),
		-HONE_E_CORRUPT);
	assert_int_equal(f.n_tree, 1);
	hn_forest_predict(&f, row, 1, N_FEATURE, &sum);
	assert_true(sum == 100);
	hn_forest_fini(&f);
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_take_their_ways),
		cmocka_unit_test(what_is_no_tree_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
