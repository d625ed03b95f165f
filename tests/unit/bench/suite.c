/* The bench's suite: every row is a computation with the arguments its peers expect, its
 * useful work is counted right, and its answers are judged by the interpreter's. */
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
#include "bench/judge.h"
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
		[BIAS_ADD] = 5, [BIAS_ADD_RELU] = 5, [BIAS_GELU] = 4, [REQUANT] = 5
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

/* Names are different, shapes are those that the peers take from the row. */
static void test_low_rows(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < hn_low_n; i++) {
		const struct hn_suite_row *row = &hn_low[i];
		struct hn_arena a;
		struct hn_conv c;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = parse(row, &a);
		const struct hn_op *y = dag->op[dag->arg[dag->n_arg - 1]];

		for (uint32_t k = 0; k < i; k++) {
			assert_string_not_equal(row->name, hn_low[k].name);
		}
		assert_int_equal(dag->n_arg, expected_args(hn_low_epilogue(row)));
		if (hn_suite_conv(row, &c)) {
			assert_int_equal(y->shape[1], c.out[0]);
			assert_int_equal(y->shape[3], c.co);
		} else {
			assert_int_equal(y->shape[0], row->p[0]);
			assert_int_equal(y->shape[1], row->p[1]);
		}
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

/* Small rows of each kind, whose answers by the interpreter are judged. */
static const struct hn_suite_row small[] = {
	{ "conv1d", HN_SUITE_conv1d, { 2, 9, 3, 4, 3, 2, 1 }, HN_SUITE_F32 },
	{ "grouped", HN_SUITE_conv2d, { 1, 6, 5, 4, 6, 3, 1, 1, 2, 2, BN_RELU }, HN_SUITE_F32 },
	{ "add", HN_SUITE_conv2d, { 1, 5, 5, 3, 2, 1, 2, 0, 1, 1, BIAS_ADD_RELU, 1 }, HN_SUITE_F32 },
	{ "conv3d", HN_SUITE_conv3d, { 1, 3, 4, 5, 2, 3, 3, 2, 1 }, HN_SUITE_F32 },
	{ "depthwise", HN_SUITE_depthwise, { 1, 5, 7, 3, 3, 2, 1, BIAS_RELU }, HN_SUITE_F32 },
	{ "transposed", HN_SUITE_transposed, { 1, 3, 4, 2, 3, 4, 2, 1 }, HN_SUITE_F32 },
	{ "capsule", HN_SUITE_capsule, { 1, 4, 5, 2, 3, 3, 2, 1 }, HN_SUITE_F32 },
	{ "gmm", HN_SUITE_matmul, { 2, 3, 4, 5 }, HN_SUITE_F32 },
	{ "gelu", HN_SUITE_dense, { 3, 5, 7, BIAS_GELU }, HN_SUITE_F32 },
	{ "norm", HN_SUITE_norm, { 2, 3, 5 }, HN_SUITE_F32 },
	{ "tbg", HN_SUITE_tbg, { 1, 5, 2, 3 }, HN_SUITE_F32 },
	{ "scores", HN_SUITE_scores, { 2, 3, 4, 5 }, HN_SUITE_F32 },
	{ "values", HN_SUITE_values, { 2, 3, 4, 5 }, HN_SUITE_F32 },
	{ "softmax", HN_SUITE_softmax, { 3, 7 }, HN_SUITE_F32 },
	{ "layernorm", HN_SUITE_layernorm, { 3, 7 }, HN_SUITE_F32 },
	{ "maxpool", HN_SUITE_maxpool, { 1, 5, 6, 2, 3, 2, 1 }, HN_SUITE_F32 },
	{ "avgpool", HN_SUITE_avgpool, { 1, 3, 4, 5 }, HN_SUITE_F32 },
	{ "addrelu", HN_SUITE_addrelu, { 11 }, HN_SUITE_F32 },
	{ "product bf16", HN_SUITE_product, { 3, 5, 7, PLAIN }, HN_SUITE_BF16 },
	{ "relu bf16", HN_SUITE_product, { 3, 5, 7, BIAS_RELU }, HN_SUITE_BF16 },
	{ "conv bf16", HN_SUITE_conv2d, { 1, 4, 5, 2, 3, 3, 1, 1, 1, 1, BIAS_RELU }, HN_SUITE_BF16 },
	{ "product u8s8", HN_SUITE_product, { 3, 5, 7, PLAIN }, HN_SUITE_U8S8 },
	{ "quant u8s8", HN_SUITE_product, { 3, 5, 7, REQUANT }, HN_SUITE_U8S8 },
	{ "conv u8s8", HN_SUITE_conv2d, { 2, 4, 5, 2, 3, 3, 1, 1, 1, 1, REQUANT }, HN_SUITE_U8S8 },
	{ "pointwise u8s8", HN_SUITE_conv2d, { 1, 4, 5, 2, 3, 1, 1, 0, 1, 1, BIAS_RELU }, HN_SUITE_U8S8 },
};

struct answer {
	struct hn_contest *t;
	void *right;   /* the interpreter's, of the last argument */
	int64_t wrong; /* element to be spoilt; -1 = none */
	double by;     /* relative */
};

static void give(void *ctx)
{
	const struct answer *x = ctx;
	uint32_t out = x->t->dag->n_arg - 1;
	enum hn_dtype type = hn_contest_type(x->t, out);
	void *at = x->t->arg[out];

	memcpy(at, x->right, hn_contest_arg_bytes(x->t, out));
	if (x->wrong < 0) {
		return;
	}
	if (hn_dtype_class(type) == HN_CLASS_FLOAT) {
		double was = hn_float_get(type, at, x->wrong);

		hn_float_put(type, at, x->wrong, was + (fabs(was) + 1) * x->by);
	} else {
		((unsigned char *)at)[(uint64_t)x->wrong * hn_dtype_bytes(type)] ^= 1;
	}
}

static bool judged(struct hn_contest *t, void *right, int64_t wrong, double by)
{
	struct answer answer = { t, right, wrong, by };
	struct hn_contender c = { .name = "test", .ctx = &answer, .call = give };
	struct hn_judgement ret;
	struct hn_judge j;

	hn_judge_init(&j, t);
	ret = hn_judge(&j, t, &c);
	hn_judge_fini(&j, t);
	return hn_judged_right(&ret);
}

/* The interpreter's own answer is right, one that is off is not: an integer by one, a float by
 * more than its type may. */
static void check_judge(const struct hn_dag *dag)
{
	struct hn_contest t = { .dag = dag };
	uint32_t out = dag->n_arg - 1;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	hn_contest_arguments(&t, &a);
	assert_int_equal(hn_interpret(dag, t.arg, &err), 0);
	void *right = hn_arena_alloc(&a, hn_contest_arg_bytes(&t, out));

	memcpy(right, t.arg[out], hn_contest_arg_bytes(&t, out));
	assert_true(judged(&t, right, -1, 0));
	assert_false(judged(&t, right, 0, 0.5));
	assert_false(judged(&t, right, hn_contest_elements(&t, out) - 1, 0.5));
	hn_contest_drop_arguments(&t);
	hn_arena_fini(&a);
}

static void test_judge(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(small); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		check_judge(parse(&small[i], &a));
		hn_arena_fini(&a);
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
		cmocka_unit_test(test_log),    cmocka_unit_test(test_rows), cmocka_unit_test(test_low_rows),
		cmocka_unit_test(test_useful), cmocka_unit_test(test_judge),
		cmocka_unit_test(test_bests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
