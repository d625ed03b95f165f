/* tests/unit/loopstate/simplify.c -- the simplifier, ranges, intervals and coefficients
 * of index expressions: named forms by name, then random trees against plain enumeration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/nest/bounds_box.h"
#include "loopstate/expr/simplify.h"
#include "tests/lib/expr_eval.h"

#define N_VAR 4

struct bed {
	struct hn_arena a;
	struct hn_span loop[N_VAR];
	struct hn_rng rng;
};

static int64_t pick(struct bed *b, int64_t lo, int64_t hi)
{
	return lo + (int64_t)hn_rng_below(&b->rng, (uint64_t)(hi - lo + 1));
}

static const struct hn_expr *number(struct bed *b, int64_t v)
{
	return hn_expr_int(v, HN_I32, &b->a);
}

static const struct hn_expr *var(struct bed *b, int32_t slot)
{
	return hn_expr_var(slot, HN_I32, NULL, &b->a);
}

static const struct hn_expr *two(struct bed *b, enum hn_expr_op op,
				 const struct hn_expr *x, const struct hn_expr *y)
{
	return hn_expr_binary(op, x, y, &b->a);
}

static const struct hn_expr *by(struct bed *b, enum hn_expr_op op,
				const struct hn_expr *x, int64_t c)
{
	return two(b, op, x, number(b, c));
}

static const struct hn_expr *choice(struct bed *b, enum hn_expr_op op,
				    const struct hn_expr *c, const struct hn_expr *x,
				    const struct hn_expr *y)
{
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = HN_I32 };
	const struct hn_expr *arg[] = { c, x, y };

	return hn_expr_with_args(&like, arg, 3, &b->a);
}

static const struct hn_expr *random_tree(struct bed *b, int depth)
{
	static const uint8_t scale[] = { HN_EXPR_MUL,	   HN_EXPR_FLOORDIV,
					 HN_EXPR_FLOORMOD, HN_EXPR_FLOORDIV,
					 HN_EXPR_FLOORMOD, HN_EXPR_DIV,
					 HN_EXPR_TRUNCMOD };
	static const uint8_t plain[] = { HN_EXPR_ADD, HN_EXPR_ADD, HN_EXPR_ADD,
					 HN_EXPR_SUB, HN_EXPR_MIN, HN_EXPR_MAX };

	if (depth == 0 || pick(b, 0, 9) == 0) {
		return pick(b, 0, 3) == 0 ? number(b, pick(b, -9, 9))
					  : var(b, (int32_t)pick(b, 0, N_VAR - 1));
	}
	const struct hn_expr *x = random_tree(b, depth - 1);
	int64_t kind = pick(b, 0, 19);

	if (kind < 10) {
		uint8_t op = scale[pick(b, 0, HN_COUNT_OF(scale) - 1)];
		int64_t c = op == HN_EXPR_MUL ? pick(b, -6, 12) : pick(b, 1, 12);

		return by(b, op, x, c);
	}
	const struct hn_expr *y = random_tree(b, depth - 1);

	if (kind == 19) {
		enum hn_expr_op cmp = (enum hn_expr_op)pick(b, HN_EXPR_EQ, HN_EXPR_GE);

		return choice(b, kind % 2 ? HN_EXPR_SELECT : HN_EXPR_IF,
			      two(b, cmp, random_tree(b, 1), random_tree(b, 1)), x, y);
	}
	return two(b, plain[pick(b, 0, HN_COUNT_OF(plain) - 1)], x, y);
}

/* Step through all values of the variables; false after the last. */
static bool next_point(const struct bed *b, int64_t *v)
{
	for (int k = N_VAR - 1; k >= 0; k--) {
		if (++v[k] <= b->loop[k].hi) {
			return true;
		}
		v[k] = b->loop[k].lo;
	}
	return false;
}

static int64_t value_at(const struct hn_expr *e, int64_t *v)
{
	static const struct hn_dag none;
	struct eval x = { .dag = &none, .slot = v, .n_slot = N_VAR };

	return eval_int(&x, e);
}

static void tell(const struct hn_expr *e, const struct hn_expr *s)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_expr_print(e, NULL, &buf);
	hn_buf_puts(&buf, "\n  -> ");
	hn_expr_print(s, NULL, &buf);
	print_error("%s\n", buf.s);
	hn_buf_fini(&buf);
}

static void check_tree(struct bed *b, const struct hn_expr *e)
{
	const struct hn_expr *s = hn_simplify(e, b->loop, N_VAR, &b->a);
	bool fixed[N_VAR];
	struct hn_interval_env env = { b->loop, fixed, N_VAR, NULL };
	struct hn_interval box;
	int64_t v[N_VAR], lo, hi, coef[N_VAR];
	bool linear[N_VAR];

	for (int k = 0; k < N_VAR; k++) {
		fixed[k] = pick(b, 0, 1);
		v[k] = b->loop[k].lo;
		linear[k] = hn_expr_linear(s, k, &coef[k]);
	}
	assert_true(hn_expr_range(e, b->loop, N_VAR, &lo, &hi));
	bool boxed = hn_interval_of(e, &env, &b->a, &box);

	assert_true(boxed);
	do {
		int64_t want = value_at(e, v), got = value_at(s, v);
		int64_t first = value_at(box.min, v);
		bool ok = want == got && lo <= want && want <= hi && first <= want &&
			  want <= first + box.width;

		for (int k = 0; k < N_VAR && ok; k++) {
			if (linear[k] && v[k] < b->loop[k].hi) {
				v[k]++;
				ok = value_at(s, v) == got + coef[k];
				v[k]--;
			}
		}
		if (!ok) {
			tell(e, s);
			tell(box.min, s);
			fail_msg("at %ld %ld %ld %ld: want %ld, got %ld; range %ld..%ld, "
				 "interval %ld+%ld",
				 (long)v[0], (long)v[1], (long)v[2], (long)v[3],
				 (long)want, (long)got, (long)lo, (long)hi, (long)first,
				 (long)box.width);
		}
	} while (next_point(b, v));
	for (int k = 0; k < N_VAR; k++) {
		assert_true(fixed[k] || b->loop[k].lo == b->loop[k].hi ||
			    !hn_expr_uses(box.min, k));
	}
}

static void test_random(void **state)
{
	const char *many = getenv("HONE_TREES");
	uint64_t n = many != NULL ? strtoull(many, NULL, 10) * 100 : 3000;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		struct bed b = { .rng = hn_rng_stream(99, 0, 0, i) };

		hn_arena_init(&b.a, /* budget_bytes= */ 0);
		for (int k = 0; k < N_VAR; k++) {
			b.loop[k].lo = pick(&b, 0, 3) == 0 ? pick(&b, -5, 5) : 0;
			b.loop[k].hi = b.loop[k].lo + pick(&b, 0, 5);
		}
		check_tree(&b, random_tree(&b, (int)pick(&b, 1, 5)));
		/* The sums that splits make, with quotients of them: what the rules are
		 * for. */
		const struct hn_expr *sum = var(&b, 0);

		for (int32_t k = 1; k < N_VAR; k++) {
			sum = two(&b, HN_EXPR_ADD,
				  by(&b, HN_EXPR_MUL, sum, pick(&b, 1, 6)), var(&b, k));
		}
		sum = by(&b, HN_EXPR_ADD, sum, pick(&b, -4, 4));
		int64_t d = pick(&b, 1, 24), c = pick(&b, 1, 6);
		const struct hn_expr *q = by(&b, HN_EXPR_FLOORDIV, sum, d);

		check_tree(&b, q);
		check_tree(&b, by(&b, HN_EXPR_FLOORMOD, sum, d));
		check_tree(&b, by(&b, HN_EXPR_FLOORMOD, q, c));
		check_tree(&b,
			   by(&b, HN_EXPR_FLOORMOD, by(&b, HN_EXPR_FLOORMOD, sum, d), c));
		check_tree(&b,
			   by(&b, HN_EXPR_FLOORDIV, by(&b, HN_EXPR_FLOORMOD, sum, d), c));
		check_tree(&b, two(&b, HN_EXPR_ADD,
				   by(&b, HN_EXPR_MUL, by(&b, HN_EXPR_FLOORMOD, q, c), d),
				   by(&b, HN_EXPR_FLOORMOD, sum, d)));
		check_tree(&b,
			   two(&b, HN_EXPR_ADD,
			       by(&b, HN_EXPR_MUL, by(&b, HN_EXPR_FLOORDIV, sum, d * c), c),
			       by(&b, HN_EXPR_FLOORMOD, q, c)));
		hn_arena_fini(&b.a);
	}
}

static void expect(struct bed *b, const struct hn_expr *e, const struct hn_expr *want)
{
	const struct hn_expr *s = hn_simplify(e, b->loop, N_VAR, &b->a);

	if (!hn_expr_equal(s, want)) {
		tell(e, s);
		fail_msg("not as wanted");
	}
}

static void test_forms(void **state)
{
	struct bed b = { .loop = { { 0, 6 }, { 0, 3 }, { 0, 4 }, { 2, 2 } } };

	(void)state;
	hn_arena_init(&b.a, /* budget_bytes= */ 0);
	const struct hn_expr *i = var(&b, 0), *j = var(&b, 1), *k = var(&b, 2);
	const struct hn_expr *ij = two(&b, HN_EXPR_ADD, by(&b, HN_EXPR_MUL, i, 4), j);
	const struct hn_expr *f = two(&b, HN_EXPR_ADD, by(&b, HN_EXPR_MUL, ij, 5), k);

	expect(&b, by(&b, HN_EXPR_FLOORDIV, ij, 4), i);
	expect(&b, by(&b, HN_EXPR_FLOORMOD, ij, 4), j);
	expect(&b, by(&b, HN_EXPR_FLOORDIV, by(&b, HN_EXPR_FLOORDIV, f, 5), 4), i);
	expect(&b, by(&b, HN_EXPR_FLOORMOD, by(&b, HN_EXPR_FLOORDIV, f, 5), 4), j);
	expect(&b, by(&b, HN_EXPR_FLOORMOD, f, 5), k);
	expect(&b, var(&b, 3), number(&b, 2));
	expect(&b, by(&b, HN_EXPR_LT, ij, 28), hn_expr_int(1, HN_BOOL, &b.a));
	expect(&b, by(&b, HN_EXPR_LT, ij, 27), by(&b, HN_EXPR_LT, ij, 27));
	/* A fused loop taken apart and put together again. */
	const struct hn_expr *g = var(&b, 0);
	const struct hn_expr *again = two(
		&b, HN_EXPR_ADD, by(&b, HN_EXPR_MUL, by(&b, HN_EXPR_FLOORDIV, g, 3), 3),
		by(&b, HN_EXPR_FLOORMOD, g, 3));

	expect(&b, again, g);
	/* In three digits, of which the one in the middle forgets the least. */
	const struct hn_expr *t = two(&b, HN_EXPR_ADD, g, by(&b, HN_EXPR_MUL, j, 4));
	const struct hn_expr *middle =
		by(&b, HN_EXPR_FLOORMOD, by(&b, HN_EXPR_FLOORDIV, t, 2), 3);

	again = two(&b, HN_EXPR_ADD, by(&b, HN_EXPR_MUL, by(&b, HN_EXPR_FLOORDIV, t, 6), 6),
		    two(&b, HN_EXPR_ADD, by(&b, HN_EXPR_MUL, middle, 2),
			by(&b, HN_EXPR_FLOORMOD, t, 2)));
	expect(&b, again, t);
	/* Past 64 bits nothing is changed. */
	const struct hn_expr *big = by(&b, HN_EXPR_MUL, i, INT64_MAX / 2);

	big = by(&b, HN_EXPR_MUL, two(&b, HN_EXPR_ADD, big, j), 4);
	expect(&b, big, big);
	hn_arena_fini(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
