/* Cells of sums and quotients against the expressions themselves: random trees over variables of both
 * signs, as indices and as data, numbers near the ends of 64 bits among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arith.h"
#include "base/rng.h"
#include "lower/interp/interp_priv.h"

#define N_SLOT 4

static int64_t number(struct hn_rng *r)
{
	static const int64_t some[] = { 0, 1, 2, 3, 7, 8, 64, 1 << 20, -1, -5, INT64_MAX, INT64_MIN };

	return hn_rng_below(r, 2) ? some[hn_rng_below(r, HN_COUNT_OF(some))]
				  : (int64_t)hn_rng_below(r, 100) - 50;
}

static const struct hn_expr *draw(struct hn_rng *r, enum hn_dtype t, uint32_t depth, struct hn_arena *a)
{
	static const enum hn_expr_op ops[] = { HN_EXPR_ADD, HN_EXPR_ADD, HN_EXPR_SUB, HN_EXPR_MUL,
					       HN_EXPR_FLOORDIV, HN_EXPR_FLOORMOD, HN_EXPR_MIN };
	enum hn_expr_op op = ops[hn_rng_below(r, HN_COUNT_OF(ops))];

	if (depth == 0 || hn_rng_below(r, 5) == 0) {
		return hn_rng_below(r, 3) == 0
			       ? hn_expr_int(t == HN_I32 ? (int32_t)number(r) : number(r), t, a)
			       : hn_expr_var((int32_t)hn_rng_below(r, N_SLOT), t, NULL, a);
	}
	bool divides = op == HN_EXPR_FLOORDIV || op == HN_EXPR_FLOORMOD;
	const struct hn_expr *x = draw(r, t, depth - 1, a);
	const struct hn_expr *y =
		divides ? hn_expr_int(1 + (int64_t)hn_rng_below(r, 70), t, a)
		: op == HN_EXPR_MUL && hn_rng_below(r, 2) ? hn_expr_int((int32_t)number(r), t, a)
							  : draw(r, t, depth - 1, a);

	return op == HN_EXPR_MUL && hn_rng_below(r, 2) ? hn_expr_binary(op, y, x, a)
						       : hn_expr_binary(op, x, y, a);
}

static int64_t wrapped(int64_t x, const struct hn_expr *e, bool index)
{
	return e->dtype == HN_I32 && !index ? (int64_t)(int32_t)(uint32_t)(uint64_t)x : x;
}

static int64_t value(const struct hn_expr *e, const union hn_value *frame, bool index)
{
	if (e->op == HN_EXPR_INT) {
		return e->u.i;
	}
	if (e->op == HN_EXPR_VAR) {
		return frame[e->ref].i;
	}
	int64_t x = value(e->arg[0], frame, index), y = value(e->arg[1], frame, index);

	switch (e->op) {
	case HN_EXPR_ADD:
		return wrapped((int64_t)((uint64_t)x + (uint64_t)y), e, index);
	case HN_EXPR_SUB:
		return wrapped((int64_t)((uint64_t)x - (uint64_t)y), e, index);
	case HN_EXPR_MUL:
		return wrapped((int64_t)((uint64_t)x * (uint64_t)y), e, index);
	case HN_EXPR_FLOORDIV:
		return wrapped(hn_floordiv(x, y), e, index);
	case HN_EXPR_FLOORMOD:
		return hn_floormod(x, y);
	default:
		return x < y ? x : y;
	}
}

static void cells_are_their_expressions(void **state)
{
	struct hn_rng r = hn_rng_stream(5, 0, 0, 0);
	uint32_t n_sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 4000; i++) {
		enum hn_dtype t = i % 2 ? HN_I64 : HN_I32;
		bool index = i / 2 % 2;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		struct hn_compile c = { .n_axis = N_SLOT, .n_frame = N_SLOT, .a = &a };
		const struct hn_expr *e = draw(&r, t, 5, &a);
		const struct hn_cell *cell = index ? hn_interp_compile_index(&c, e)
						   : hn_interp_compile(&c, e);

		n_sum += cell->n_term + cell->n_index > 1;
		for (int k = 0; k < 8; k++) {
			union hn_value frame[N_SLOT + 1] = { { .i = 0 } };

			for (int s = 0; s < N_SLOT; s++) {
				int64_t x = number(&r);

				frame[s + 1].i = t == HN_I32 ? (int32_t)x : x;
			}
			assert_int_equal(cell->eval(cell, frame + 1).i, value(e, frame + 1, index));
		}
		hn_arena_fini(&a);
	}
	assert_true(n_sum > 500);
}

/* What a budget counts does not depend on what is taken together. */
static void each_node_is_counted(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_compile c = { .n_axis = N_SLOT, .n_frame = N_SLOT, .a = &a };
	const struct hn_expr *x = hn_expr_var(0, HN_I64, NULL, &a), *y = hn_expr_var(1, HN_I64, NULL, &a);
	const struct hn_expr *four = hn_expr_int(4, HN_I64, &a);
	const struct hn_expr *e = hn_expr_binary(HN_EXPR_ADD, hn_expr_binary(HN_EXPR_MUL, x, four, &a),
						 hn_expr_binary(HN_EXPR_FLOORDIV, y, four, &a), &a);

	(void)hn_interp_compile_index(&c, e);
	assert_int_equal(c.n_cell, 7);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_their_expressions),
		cmocka_unit_test(each_node_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
