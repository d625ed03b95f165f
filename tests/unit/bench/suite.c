/* The bench's suite: every row is a computation with the arguments its peers expect, its
 * useful work is counted right, and its reference is the interpreter's answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cdefs.h"
#include "bench/history.h"
#include "bench/reference.h"
#include "bench/suite.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/state.h"
#include "lower/lower.h"

static const struct hn_dag *parse(const struct hn_suite_row *row, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_buf text;

	hn_buf_init(&text);
	hn_suite_text(row, &text);
	if (hn_dag_parse(row->name, text.s, text.n, 0, a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text.s);
	}
	hn_buf_fini(&text);
	return dag;
}

static uint32_t expected_args(enum hn_epilogue e)
{
	static const uint32_t n[] = {
		[PLAIN] = 3,	[BIAS] = 4,	     [BIAS_RELU] = 4, [BN_RELU] = 6,
		[BIAS_ADD] = 5, [BIAS_ADD_RELU] = 5, [BIAS_GELU] = 4
	};

	return n[e];
}

static void test_rows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		const struct hn_suite_row *row = &hn_suite[i];
		const struct hn_dag *dag;
		struct hn_arena a;
		struct hn_conv c;
		char name[100];

		hn_arena_init(&a, 0);
		dag = parse(row, &a);
		for (uint32_t k = 0; k < i; k++) {
			assert_string_not_equal(row->name, hn_suite[k].name);
		}
		if (hn_suite_conv(row, &c)) {
			const struct hn_op *y = dag->op[dag->arg[dag->n_arg - 1]];

			assert_int_equal(dag->n_arg, expected_args(c.epilogue));
			for (uint32_t d = 0; d < c.n_dim; d++) {
				snprintf(name, sizeof(name), "%s, dimension %u",
					 row->name, d);
				if (y->shape[1 + d] != c.out[d]) {
					fail_msg("%s", name);
				}
			}
			assert_int_equal(y->shape[y->n_dim - 1], c.co);
		} else if (row->class == HN_SUITE_dense) {
			assert_int_equal(dag->n_arg,
					 expected_args((enum hn_epilogue)row->p[3]));
		}
		/* what nobody can do without is not more than what is written, and where
		 * there is no padding it is the same */
		assert_true(hn_suite_useful_flops(row) <= hn_dag_flops(dag));
		hn_arena_fini(&a);
	}
}

static double useful(const char *name)
{
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (strcmp(hn_suite[i].name, name) == 0) {
			return hn_suite_useful_flops(&hn_suite[i]);
		}
	}
	fail_msg("no case %s", name);
	return 0;
}

static void test_useful(void **state)
{
	(void)state;
	assert_true(useful("matmul-512") == 2.0 * 512 * 512 * 512);
	assert_true(useful("c2d-b1-1") == 2.0 * 56 * 56 * 64 * 64);
	/* 3x3 over 14x14 with a border of 1: 40 of 42 row taps meet the input */
	assert_true(useful("c2d-b1-2") == 2.0 * 40 * 40 * 256 * 256);
	/* k4 s2 p1 on 4: each of the 16 taps meets, but one at each end */
	assert_true(useful("t2d-b1-0") == 2.0 * 14 * 14 * 512 * 256);
	assert_true(useful("nrm-b1-0") == 0);
}

/* The reference by elements equals the interpreter's, on small rows of each kind. */
static const struct hn_suite_row small[] = {
	{ "conv1d", HN_SUITE_conv1d, { 2, 9, 3, 4, 3, 2, 1 } },
	{ "grouped", HN_SUITE_conv2d, { 1, 6, 5, 4, 6, 3, 1, 1, 2, 2, BN_RELU } },
	{ "add", HN_SUITE_conv2d, { 1, 5, 5, 3, 2, 1, 2, 0, 1, 1, BIAS_ADD_RELU, 1 } },
	{ "conv3d", HN_SUITE_conv3d, { 1, 3, 4, 5, 2, 3, 3, 2, 1 } },
	{ "depthwise", HN_SUITE_depthwise, { 1, 5, 7, 3, 3, 2, 1, BIAS_RELU } },
	{ "transposed", HN_SUITE_transposed, { 1, 3, 4, 2, 3, 4, 2, 1 } },
	{ "capsule", HN_SUITE_capsule, { 1, 4, 5, 2, 3, 3, 2, 1 } },
	{ "gmm", HN_SUITE_matmul, { 2, 3, 4, 5 } },
	{ "gelu", HN_SUITE_dense, { 3, 5, 7, BIAS_GELU } },
	{ "norm", HN_SUITE_norm, { 2, 3, 5 } },
	{ "tbg", HN_SUITE_tbg, { 1, 5, 2, 3 } },
	{ "scores", HN_SUITE_scores, { 2, 3, 4, 5 } },
	{ "values", HN_SUITE_values, { 2, 3, 4, 5 } },
	{ "softmax", HN_SUITE_softmax, { 3, 7 } },
	{ "layernorm", HN_SUITE_layernorm, { 3, 7 } },
	{ "maxpool", HN_SUITE_maxpool, { 1, 5, 6, 2, 3, 2, 1 } },
	{ "avgpool", HN_SUITE_avgpool, { 1, 3, 4, 5 } },
	{ "addrelu", HN_SUITE_addrelu, { 11 } },
};

static void check_reference(const struct hn_suite_row *row)
{
	float *arg[16];
	const struct hn_dag *dag;
	struct hn_reference *r;
	struct hn_arena a;
	struct hn_err err;
	int64_t n = 0;

	hn_arena_init(&a, 0);
	dag = parse(row, &a);
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		n = hn_op_elements(dag->op[dag->arg[i]]);
		arg[i] = HN_NEW_ARRAY(&a, float, n);
		for (int64_t k = 0; k < n; k++) {
			arg[i][k] = (float)((k * 37 + (int64_t)i * 11) % 23 - 11) / 8;
		}
	}
	assert_int_equal(hn_interpret(dag, (void *const *)arg, &err), 0);
	r = hn_reference_new(dag, arg);
	for (int64_t k = 0; k < n; k++) {
		double want = arg[dag->n_arg - 1][k], got = hn_reference_at(r, dag->n_arg - 1, k);

		if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want)))) {
			fail_msg("%s[%lld]: %.9g, the interpreter has %.9g", row->name,
				 (long long)k, got, want);
		}
	}
	hn_reference_free(r);
	hn_arena_fini(&a);
}

static void test_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(small); i++) {
		check_reference(&small[i]);
	}
}

/* Every record of the log is a complete history of a case of the suite. */
static void check_log(const char *path)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hn_suite_n; i++) {
		const struct hn_trace *trace;
		const struct hn_state *s;
		struct hn_histories of;
		struct hn_err err;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		if (hn_history_of_log(path, hn_suite[i].name, &a, &of, &err) != 0) {
			assert_int_equal(err.code, HONE_E_NOT_FOUND);
		}
		for (uint32_t k = 0; k < of.n; k++, n++) {
			const char *steps = of.steps[k];

			if (hn_trace_parse("log", steps, strlen(steps), &a, &trace,
					   &err) != 0 ||
			    hn_state_replay(parse(&hn_suite[i], &a), trace, &a, &s,
					    &err) != 0) {
				fail_msg("%s: %s", hn_suite[i].name, err.msg);
			}
			assert_true(s->concrete);
		}
		hn_arena_fini(&a);
	}
	assert_true(n > 0);
}

static void test_bests(void **state)
{
	(void)state;
	check_log(HONE_SOURCE_DIR "/examples/best/suite.log");
	check_log(HONE_SOURCE_DIR "/examples/best/dense_zero.log");
}

/* Each once; of too many the latest. */
static void test_log(void **state)
{
	char path[] = "/tmp/hone-bench-XXXXXX", steps[100];
	struct hn_histories of;
	struct hn_err err;
	struct hn_arena a;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	hn_arena_init(&a, 0);
	assert_int_equal(hn_history_of_log(path, "x", &a, &of, &err), -HONE_E_NOT_FOUND);
	assert_int_equal(of.n, 0);
	for (int i = 0; i < 2 * (HN_HISTORY_MAX + 3); i++) {
		snprintf(steps, sizeof(steps), "[[\"SP\", 2, 0, 64, [%d], 1]]",
			 1 + i / 2);
		assert_int_equal(hn_history_save(path, "x", steps, 1000 - i, &err), 0);
		assert_int_equal(hn_history_save(path, "y", steps, 1, &err), 0);
	}
	assert_int_equal(hn_history_of_log(path, "x", &a, &of, &err), 0);
	assert_int_equal(of.n, HN_HISTORY_MAX);
	assert_string_equal(of.steps[0], "[[\"SP\", 2, 0, 64, [4], 1]]");
	assert_string_equal(of.steps[of.n - 1], "[[\"SP\", 2, 0, 64, [15], 1]]");
	hn_arena_fini(&a);
	close(fd);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log),    cmocka_unit_test(test_rows),
		cmocka_unit_test(test_useful), cmocka_unit_test(test_reference),
		cmocka_unit_test(test_bests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
