/* Expression nodes: tables, folding, substitution, printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "loopstate/expr/expr.h"

static void know_tables(void **state)
{
	(void)state;
	for (int t = 0; t < HN_N_DTYPE; t++) {
		assert_int_equal(hn_dtype_of(hn_dtype_name((enum hn_dtype)t)), t);
		assert_true(hn_dtype_bytes((enum hn_dtype)t) >= 1);
	}
	assert_int_equal(hn_dtype_of("float8"), HN_N_DTYPE);
	for (int f = 0; f < HN_N_FN; f++) {
		assert_int_equal(hn_fn_of(hn_fn_name((enum hn_fn)f)), f);
	}
	assert_int_equal(hn_fn_of("nothing"), HN_N_FN);
	assert_string_equal(hn_expr_op_name(HN_EXPR_FLOORMOD), "floormod");
}

static void assert_prints(const struct hn_expr *e, const char *text)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_expr_print(e, NULL, &b);
	assert_string_equal(b.s, text);
	hn_buf_fini(&b);
}

static void fold(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_expr *i = hn_expr_var(0, HN_I32, "i", &a),
			     *j = hn_expr_var(1, HN_I32, "j", &a);
#define K(v) hn_expr_int(v, HN_I32, &a)
#define BIN(op, x, y) hn_expr_binary(HN_EXPR_##op, x, y, &a)
	assert_prints(BIN(FLOORDIV, K(-7), K(2)), "-4");
	assert_prints(BIN(FLOORMOD, K(-7), K(2)), "1");
	assert_prints(BIN(DIV, K(-7), K(2)), "-3");
	assert_prints(BIN(TRUNCMOD, K(-7), K(2)), "-1");
	assert_prints(BIN(LT, K(1), K(2)), "true");
	assert_ptr_equal(BIN(ADD, i, K(0)), i);
	assert_ptr_equal(BIN(ADD, K(0), i), i);
	assert_ptr_equal(BIN(MUL, i, K(1)), i);
	assert_prints(BIN(MUL, i, K(0)), "0");
	assert_ptr_equal(BIN(FLOORDIV, i, K(1)), i);
	assert_prints(BIN(FLOORMOD, i, K(1)), "0");
	assert_ptr_equal(BIN(MIN, i, hn_expr_var(0, HN_I32, "i", &a)), i);
	assert_prints(BIN(EQ, i, i), "true");
	assert_prints(BIN(SUB, BIN(ADD, i, K(3)), K(5)), "i - 2");
	assert_prints(BIN(ADD, BIN(SUB, i, K(3)), K(3)), "i");
	assert_prints(BIN(DIV, i, K(0)), "i / 0");
	assert_prints(BIN(MUL, BIN(ADD, i, j), K(3)), "(i + j) * 3");
	assert_prints(BIN(SUB, i, BIN(SUB, j, K(1))), "i - (j - 1)");
	assert_prints(
		BIN(ADD, hn_expr_int(INT64_MAX, HN_I64, &a), hn_expr_int(1, HN_I64, &a)),
		"9223372036854775807 + 1");
	/* floats keep their shape: x + 0 is not x for -0, x * 0 is not 0 for nan */
	const struct hn_expr *f = hn_expr_var(0, HN_F32, "f", &a),
			     *zero = hn_expr_float(0, HN_F32, &a);

	assert_prints(BIN(ADD, f, zero), "f + 0");
	assert_prints(BIN(MUL, f, zero), "f * 0");
	assert_prints(BIN(EQ, f, f), "f == f");
	assert_int_equal(BIN(EQ, f, f)->dtype, HN_BOOL);
	hn_arena_fini(&a);
}

static void substitute(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_expr *i = hn_expr_var(0, HN_I32, "i", &a),
			     *j = hn_expr_var(1, HN_I32, "j", &a);
	const struct hn_expr *e = BIN(ADD, BIN(MUL, i, K(4)), j);
	const struct hn_expr *value[2] = { K(2), NULL };
	const struct hn_expr *s = hn_expr_substitute(e, value, 2, &a);

	assert_prints(s, "8 + j");
	assert_prints(e, "i * 4 + j");
	value[1] = i;
	value[0] = j;
	assert_prints(hn_expr_substitute(e, value, 2, &a), "j * 4 + i");
	assert_ptr_equal(hn_expr_substitute(e, value, 0, &a), e);
	assert_true(hn_expr_equal(
		hn_expr_substitute(hn_expr_substitute(e, value, 2, &a), value, 2, &a),
		e));
	assert_false(hn_expr_equal(e, s));
	assert_false(hn_expr_equal(hn_expr_float(0.0, HN_F32, &a),
				   hn_expr_float(-0.0, HN_F32, &a)));
	assert_true(hn_expr_equal(hn_expr_float(__builtin_nan(""), HN_F32, &a),
				  hn_expr_float(__builtin_nan(""), HN_F32, &a)));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(know_tables),
		cmocka_unit_test(fold),
		cmocka_unit_test(substitute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
