/* Lines of random expressions, over loops and over axes, against the expressions with numbers put
 * in for their loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "costmodel/line.h"

#define N_LOOP 4
#define N_VAR 6 /* one of them stands still, one is past the space */
#define N_AXIS 3

static const struct hn_expr *leaf(struct hn_rng *r, uint32_t n_var, struct hn_arena *a)
{
	return hn_rng_below(r, 4) == 0
		       ? hn_expr_int((int64_t)hn_rng_below(r, 9) - 4, HN_I32, a)
		       : hn_expr_var((int32_t)hn_rng_below(r, n_var), HN_I32, "v", a);
}

static const struct hn_expr *random_expr(struct hn_rng *r, uint32_t n_var, int depth,
					 struct hn_arena *a)
{
	static const enum hn_expr_op any[] = {HN_EXPR_ADD, HN_EXPR_ADD, HN_EXPR_SUB,
					      HN_EXPR_MIN, HN_EXPR_MAX, HN_EXPR_MUL};
	static const enum hn_expr_op by_number[] = {HN_EXPR_MUL, HN_EXPR_FLOORDIV,
						    HN_EXPR_FLOORMOD};

	if (depth == 0) {
		return leaf(r, n_var, a);
	}
	const struct hn_expr *x = random_expr(r, n_var, depth - 1, a);

	if (hn_rng_below(r, 2) == 0) {
		return hn_expr_binary(by_number[hn_rng_below(r, HN_COUNT_OF(by_number))], x,
				      hn_expr_int(1 + (int64_t)hn_rng_below(r, 9), HN_I32, a),
				      a);
	}
	return hn_expr_binary(any[hn_rng_below(r, HN_COUNT_OF(any))], x,
			      random_expr(r, n_var, depth - 1, a), a);
}

/* e with loop l at `at`, all else at 0; folding leaves a number. */
static int64_t value_at(const struct hn_expr *e, uint32_t l, int64_t at, struct hn_arena *a)
{
	const struct hn_expr *value[N_VAR];

	for (uint32_t k = 0; k < N_VAR; k++) {
		value[k] = hn_expr_int(k == l ? at : 0, HN_I32, a);
	}
	e = hn_expr_substitute(e, value, N_VAR, a);
	assert_int_equal(e->op, HN_EXPR_INT);
	return e->u.i;
}

static void check(const struct hn_line *x, const struct hn_expr *e,
		  const struct hn_node *const *loop, struct hn_arena *a)
{
	assert_true(x->base == value_at(e, N_LOOP, 0, a));
	for (uint32_t l = 0; l < N_LOOP; l++) {
		assert_true(x->base + x->one[l] == value_at(e, l, 1, a));
		assert_true(x->base + x->end[l] == value_at(e, l, loop[l]->extent - 1, a));
	}
}

static void lines_are_what_the_expressions_say(void **state)
{
	static const struct hn_node node[N_LOOP] = {
		{.extent = 1}, {.extent = 2}, {.extent = 7}, {.extent = 64}};
	const struct hn_node *loop[N_LOOP];
	const int32_t at[N_VAR - 1] = {0, 1, 2, 3, -1};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (uint32_t l = 0; l < N_LOOP; l++) {
		loop[l] = &node[l];
	}
	for (uint64_t i = 0; i < 2000; i++) {
		struct hn_rng r = hn_rng_stream(1, 2, 3, i);
		struct hn_line line[N_AXIS], index;
		const struct hn_expr *axis[N_AXIS];

		hn_arena_reset(&a);
		const struct hn_line_space loops = {N_LOOP, loop, at, NULL, N_VAR - 1, &a};
		const struct hn_line_space axes = {N_LOOP, loop, NULL, line, N_AXIS, &a};

		for (uint32_t k = 0; k < N_AXIS; k++) {
			axis[k] = random_expr(&r, N_VAR, 3, &a);
			line[k] = hn_line_zero(&loops);
			hn_line_add(&loops, axis[k], 1, &line[k]);
			check(&line[k], axis[k], loop, &a);
		}
		const struct hn_expr *e = random_expr(&r, N_AXIS, 3, &a);

		index = hn_line_zero(&axes);
		hn_line_add(&axes, e, 1, &index);
		check(&index, hn_expr_substitute(e, axis, N_AXIS, &a), loop, &a);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_what_the_expressions_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
