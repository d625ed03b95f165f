/* The bench's limits: the stream moves every byte it stands for, exponentials are counted
 * where they are, and the roofline is the slowest of what a case needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/tally.h"

#define THREADS 2

/* main.c's, which is not linked here: no row is printed. */
void hn_bench_row(const char *name, double value, const char *unit, const char *context)
{
	(void)name;
	(void)value;
	(void)unit;
	(void)context;
}

static const struct hn_suite_row *row_of(const char *name)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (strcmp(hn_suite[i].name, name) == 0) {
			return &hn_suite[i];
		}
	}
	fail_msg("no case %s", name);
	return NULL;
}

static const struct hn_dag *dag_of(const char *name, struct hn_arena *a)
{
	const struct hn_dag *dag = NULL;
	struct hn_err err = { 0 };
	struct hn_buf text;

	hn_buf_init(&text);
	hn_suite_text(row_of(name), &text);
	assert_int_equal(hn_dag_parse(name, text.s, text.n, 0, a, &dag, &err), 0);
	hn_buf_fini(&text);
	return dag;
}

/* Ratios of 0, 1, a half, a quarter, none of these, and fewer lines than a step has. */
static void test_stream_covers(void **state)
{
	static const char *const names[] = { "nrm-b1-0",   "softmax-0",	  "odd-addrelu",
					     "dep-b1-1",   "resnet50-28", "odd-depthwise",
					     "resnet50-26" };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(names); i++) {
		struct hn_contest t = { .row = row_of(names[i]), .n_threads = THREADS };
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		t.dag = dag_of(names[i], &a);
		t.arg = HN_NEW_ARRAY(&a, float *, t.dag->n_arg);
		assert_int_equal(hn_kernel_pool_new(THREADS, NULL, NULL, &t.pool, &err),
				 0);
		hn_limit_stream(&t);
		const struct hn_contender *c = &t.contender[0];
		unsigned char *written = (unsigned char *)(uintptr_t)c->range[1].at;

		assert_int_equal(t.n, 1);
		assert_true(c->limit);
		/* whole lines of the arguments, none of them missing */
		assert_true(c->range[0].bytes + c->range[1].bytes <=
			    hn_contest_bytes(&t));
		assert_true(c->range[0].bytes + c->range[1].bytes + 64 * t.dag->n_arg >
			    hn_contest_bytes(&t));
		memset(written, 0xa5, c->range[1].bytes);
		c->call(c->ctx);
		for (size_t k = 0; k < c->range[1].bytes; k++) {
			assert_int_not_equal(written[k], 0xa5);
		}
		c->close(c->ctx);
		hn_kernel_pool_free(t.pool);
		hn_arena_fini(&a);
	}
}

static void test_exponentials(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(hn_limit_count_exp(dag_of("softmax-0", &a)) == 128 * 1000);
	assert_true(hn_limit_count_exp(dag_of("bert-layernorm", &a)) == 0);
	hn_arena_fini(&a);
}

static void test_roofline(void **state)
{
	struct hn_contest t = { .n = 4 };
	struct hn_race_result r[4] = { { 3, { 10, 20, 40 } },
				       { 3, { 4, 8, 16 } },
				       { 3, { 3, 6, 12 } },
				       { 3, { 9, 18, 36 } } };
	const char *limit;

	(void)state;
	t.contender[1] = (struct hn_contender){ .name = "limit-fma",
						.limit = true,
						.amount = 0.5 };
	t.contender[2] = (struct hn_contender){ .name = "limit-read",
						.limit = true,
						.amount = 1 };
	t.contender[3] = (struct hn_contender){ .name = "limit-stream",
						.limit = true,
						.amount = 1 };
	assert_float_equal(hn_tally_share(&t, r, hn_tally_reading, &limit), 0.3, 1e-9);
	assert_string_equal(limit, "read");
	assert_float_equal(hn_tally_share(&t, r, hn_tally_roofline, &limit), 0.9, 1e-9);
	assert_string_equal(limit, "stream");
	t.contender[1].amount = 3;
	assert_float_equal(hn_tally_share(&t, r, hn_tally_roofline, &limit), 1.2, 1e-9);
	assert_string_equal(limit, "fma");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_covers),
		cmocka_unit_test(test_exponentials),
		cmocka_unit_test(test_roofline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
