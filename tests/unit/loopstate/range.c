/* The prover of index bounds: what it must see, and, on random guarded indices, that what
 * it accepts never leaves the tensor when every point is tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"

static int parse(const char *text, struct hn_err *err)
{
	const struct hn_dag *dag;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = hn_dag_parse("t", text, strlen(text), 0, &a, &dag, err);

	hn_arena_fini(&a);
	return rc;
}

static void accept_sound(void **state)
{
	static const char *const good[] = {
		/* a guard on a sum of axes */
		"f(float32 A[56], W[3]) -> B { B(h) +=! (2*h + r - 1 >= 0 && 2*h + r - 1 "
		"< 56 ?"
		" A(2*h + r - 1) : 0.0) * W(r) where h in 0:29 }",
		/* the negation of a disjunction; the other side */
		"f(float32 A[9]) -> B { B(i) = i < 1 || i >= 10 ? 0.0 : A(i - 1) where i "
		"in 0:11 }",
		"f(float32 A[9]) -> B { B(i) = !(i >= 1 && i < 10) ? 0.0 : A(i - 1) "
		"where i in 0:11 }",
		/* a disjunction, case by case */
		"f(float32 A[4]) -> B { B(i) = i < 2 || i > 7 ? A((i + 2) % 10) : 0.0 "
		"where i in 0:10 }",
		/* strided writes */
		"f(float32 A[4]) -> B { B(i) = i >= 2 && i < 9 && (i - 2) % 2 == 0 ?"
		" A((i - 2) / 2) : 0.0 where i in 0:11 }",
		/* equality and its negation */
		"f(float32 A[1]) -> B { B(i) = i == 3 ? A(i - 3) : 0.0 where i in 0:9 }",
		"f(float32 A[2]) -> B { B(i) = i != 1 ? A(i / 2) : 0.0 where i in 0:3 }",
		/* reshape, clamp, gather within a clamp, a table by uint8 */
		"f(float32 A[12,128,64]) -> B { B(i,j) = A((i*768 + j)/64/128 % 12, "
		"(i*768 + j)/64 % 128,"
		" (i*768 + j) % 64) where i in 0:128, j in 0:768 }",
		"f(float32 A[9]) -> B { B(i) = A(min(max(i - 1, 0), 8)) where i in 0:11 "
		"}",
		"f(float32 A[9], int32 I[5]) -> B { B(i) = A(min(max(I(i) + 1, 0), 8)) }",
		"f(float32 A[256], uint8 I[5]) -> B { B(i) = A(int32(I(i))) }",
		"f(float32 A[10], int32 I[5]) -> B { B(i) = A(I(i) % 10) }",
		/* a select as an index takes each side under its condition */
		"f(float32 A[9]) -> B { B(i) = A(select(i > 8, 8, i)) where i in 0:11 }",
		/* reflected padding */
		"f(float32 A[9]) -> B { B(i) = A(i < 2 ? 2 - i : i > 10 ? 18 - i : i - "
		"2) where i in 0:13 }",
		/* triangle */
		"f(float32 A[9]) -> B { B(i,j) = j <= i ? A(i - j) : 0.0 where i in 0:9, "
		"j in 0:9 }",
		"f(float32 A[1]) -> B { B() = A(0) }",
	};
	struct hn_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(good); i++) {
		if (parse(good[i], &err) != 0) {
			fail_msg("%s\n  %s", good[i], err.msg);
		}
	}
}

static void refuse_unsound(void **state)
{
	static const char *const bad[] = {
		"f(float32 A[56], W[3]) -> B { B(h) +=! (2*h + r - 1 >= 0 && 2*h + r - 1 "
		"< 57 ?"
		" A(2*h + r - 1) : 0.0) * W(r) where h in 0:29 }",
		"f(float32 A[9]) -> B { B(i) = i < 1 && i >= 10 ? 0.0 : A(i - 1) where i "
		"in 0:11 }",
		"f(float32 A[4]) -> B { B(i) = i < 2 || i > 6 ? A((i + 2) % 10) : 0.0 "
		"where i in 0:10 }",
		"f(float32 A[3]) -> B { B(i) = i >= 2 && i < 9 && (i - 2) % 2 == 0 ?"
		" A((i - 2) / 2) : 0.0 where i in 0:11 }",
		"f(float32 A[2]) -> B { B(i) = i != 1 ? A(i / 2) : 0.0 where i in 0:5 }",
		"f(float32 A[9]) -> B { B(i) = A(min(max(i - 1, 0), 9)) where i in 0:11 "
		"}",
		"f(float32 A[9], int32 I[5]) -> B { B(i) = A(I(i)) }",
		"f(float32 A[255], uint8 I[5]) -> B { B(i) = A(int32(I(i))) }",
		"f(float32 A[9]) -> B { B(i) = A(select(i > 9, 8, i)) where i in 0:11 }",
		"f(float32 A[9]) -> B { B(i,j) = j <= i ? A(i - j - 1) : 0.0 where i in "
		"0:9, j in 0:9 }",
		/* narrow sums wrap: 0 - 1 is 255 */
		"f(float32 A[9], uint8 I[5]) -> B { B(i) = A(int32(I(i) % 2 - 1) + 1) }",
		/* a coefficient too large for a fact: of a * 2^40 <= i only i >= 0 is known */
		"f(float32 A[11]) -> B { B(a,i) = int64(a) * 1099511627776 <= int64(i) ? "
		"A(i - 9) : 0.0 where a in 0:2, i in 0:20 }",
		/* && evaluates both sides */
		"f(float32 A[9]) -> B { B(i) = i >= 1 && A(i - 1) > 0 ? 1.0 : 0.0 where "
		"i in 0:9 }",
	};
	struct hn_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		if (parse(bad[i], &err) == 0) {
			fail_msg("accepted: %s", bad[i]);
		}
	}
}

/* Random index arithmetic and guards over two axes, and their value at a point. */
struct gen {
	struct hn_rng rng;
	struct hn_arena *a;
};

static const struct hn_expr *node2(struct gen *g, enum hn_expr_op op, enum hn_dtype t,
				   const struct hn_expr *x, const struct hn_expr *y)
{
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = (uint8_t)t };
	const struct hn_expr *arg[2] = { x, y };

	return hn_expr_with_args(&like, arg, 2, g->a);
}

static const struct hn_expr *gen_int(struct gen *g, int depth)
{
	static const enum hn_expr_op ops[] = {
		HN_EXPR_ADD, HN_EXPR_SUB,      HN_EXPR_ADD,	 HN_EXPR_SUB,
		HN_EXPR_MUL, HN_EXPR_FLOORDIV, HN_EXPR_FLOORMOD, HN_EXPR_MIN,
		HN_EXPR_MAX, HN_EXPR_DIV,      HN_EXPR_TRUNCMOD,
	};
	uint64_t pick = hn_rng_below(&g->rng, 10);

	if (depth == 0 || pick < 3) {
		return pick == 0 ? hn_expr_int((int64_t)hn_rng_below(&g->rng, 7) - 3,
					       HN_I32, g->a)
				 : hn_expr_var((int32_t)hn_rng_below(&g->rng, 2), HN_I32,
					       NULL, g->a);
	}
	enum hn_expr_op op = ops[hn_rng_below(&g->rng, HN_COUNT_OF(ops))];
	bool constant = op == HN_EXPR_FLOORDIV || op == HN_EXPR_FLOORMOD ||
			op == HN_EXPR_DIV || op == HN_EXPR_TRUNCMOD ||
			(op == HN_EXPR_MUL && pick < 9);
	const struct hn_expr *y =
		constant
			? hn_expr_int(1 + (int64_t)hn_rng_below(&g->rng, 4), HN_I32, g->a)
			: gen_int(g, depth - 1);

	return node2(g, op, HN_I32, gen_int(g, depth - 1), y);
}

static const struct hn_expr *gen_bool(struct gen *g, int depth)
{
	uint64_t pick = hn_rng_below(&g->rng, 8);

	if (depth > 0 && pick < 5) {
		return node2(g, pick < 4 ? HN_EXPR_AND : HN_EXPR_OR, HN_BOOL,
			     gen_bool(g, depth - 1), gen_bool(g, depth - 1));
	}
	if (depth > 0 && pick == 5) {
		const struct hn_expr like = { .op = HN_EXPR_NOT, .dtype = HN_BOOL };
		const struct hn_expr *arg = gen_bool(g, depth - 1);

		return hn_expr_with_args(&like, &arg, 1, g->a);
	}
	enum hn_expr_op op = HN_EXPR_EQ + (enum hn_expr_op)hn_rng_below(&g->rng, 6);

	return node2(g, op, HN_BOOL, gen_int(g, 1),
		     hn_expr_int((int64_t)hn_rng_below(&g->rng, 12) - 3, HN_I32, g->a));
}

/* Its value with the axes put in: folding does the arithmetic. */
static int64_t value_at(const struct hn_expr *e, int64_t i, int64_t j, struct hn_arena *a)
{
	if (e->op == HN_EXPR_NOT) {
		return !value_at(e->arg[0], i, j, a);
	}
	if (e->op == HN_EXPR_VAR || e->op == HN_EXPR_INT) {
		return e->op == HN_EXPR_INT ? e->u.i : e->ref == 0 ? i : j;
	}
	const struct hn_expr *v = hn_expr_binary(
		e->op, hn_expr_int(value_at(e->arg[0], i, j, a), HN_I32, a),
		hn_expr_int(value_at(e->arg[1], i, j, a), HN_I32, a), a);

	assert_int_equal(v->op, HN_EXPR_INT);
	return v->u.i;
}

/* B(i,j) = if guard then A(index) else 0 over 7 x 5, A of 9. */
static struct hn_dag *guarded_dag(struct gen *g, const struct hn_expr *guard,
				  const struct hn_expr *index)
{
	static const int64_t shape_a[] = { 9 }, shape_b[] = { 7, 5 };
	static const uint8_t f32[] = { HN_F32 };
	static const struct hn_axis axis[] = { { "i", 0, 7 }, { "j", 0, 5 } };
	static const int32_t arg[] = { 0, 1 };
	const struct hn_expr load = { .op = HN_EXPR_LOAD, .dtype = HN_F32 };
	const struct hn_expr choose = { .op = HN_EXPR_IF, .dtype = HN_F32 };
	const struct hn_expr *side[3] = { guard,
					  hn_expr_with_args(&load, &index, 1, g->a),
					  hn_expr_float(0, HN_F32, g->a) };
	const struct hn_expr **body = HN_NEW(g->a, const struct hn_expr *);
	struct hn_op *op = HN_NEW_ARRAY(g->a, struct hn_op, 2);
	const struct hn_op **ops = HN_NEW_ARRAY(g->a, const struct hn_op *, 2);
	struct hn_dag *dag = HN_NEW(g->a, struct hn_dag);

	body[0] = hn_expr_with_args(&choose, side, 3, g->a);
	op[0] = (struct hn_op){ .id = "A",
				.name = "A",
				.tag = "",
				.n_dim = 1,
				.shape = shape_a,
				.n_out = 1,
				.dtype = f32 };
	op[1] = (struct hn_op){ .id = "B",
				.name = "B",
				.tag = "",
				.kind = HN_OP_COMPUTE,
				.n_dim = 2,
				.shape = shape_b,
				.n_out = 1,
				.dtype = f32,
				.n_spatial = 2,
				.axis = axis,
				.body = body };
	ops[0] = &op[0];
	ops[1] = &op[1];
	*dag = (struct hn_dag){
		.n_op = 2, .op = ops, .n_arg = 2, .arg = arg, .n_input = 1
	};
	return dag;
}

static bool stays_inside(const struct hn_expr *guard, const struct hn_expr *index,
			 struct hn_arena *a)
{
	for (int64_t i = 0; i < 7; i++) {
		for (int64_t j = 0; j < 5; j++) {
			int64_t at =
				value_at(guard, i, j, a) ? value_at(index, i, j, a) : 0;

			if (at < 0 || at >= 9) {
				return false;
			}
		}
	}
	return true;
}

static void never_accept_wrong(void **state)
{
	uint32_t n_inside = 0, n_accepted = 0;

	(void)state;
	for (uint64_t k = 0; k < 3000; k++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		struct gen g = { hn_rng_stream(7, 0, 0, k), &a };
		const struct hn_expr *guard = gen_bool(&g, 2), *index = gen_int(&g, 3);
		bool inside = stays_inside(guard, index, &a);
		struct hn_err err = { 0 };
		int rc = hn_dag_check("t", guarded_dag(&g, guard, index), 0, &err);

		if (rc == 0 && !inside) {
			struct hn_buf b;

			hn_buf_init(&b);
			hn_expr_print(guard, NULL, &b);
			hn_buf_puts(&b, " ? ");
			hn_expr_print(index, NULL, &b);
			fail_msg("%llu: accepted %s", (unsigned long long)k, b.s);
		}
		n_inside += inside;
		n_accepted += rc == 0;
		hn_arena_fini(&a);
	}
	/* Sound is easy by refusing all: most of what is right must be seen to be. */
	print_message("%u of %u seen\n", n_accepted, n_inside);
	assert_true(n_inside > 300);
	assert_true(n_accepted > n_inside * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept_sound),
		cmocka_unit_test(refuse_unsound),
		cmocka_unit_test(never_accept_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
