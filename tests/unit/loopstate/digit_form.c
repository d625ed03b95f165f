/* Linear forms over loop digits: what they claim holds at every point of random loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/nest/digit_form.h"

#define N_LOOP 3
#define N_FORM 2
#define MAX_POINTS 1000

struct nest {
	struct hn_radix radix[N_LOOP];
	int32_t first[N_LOOP];
	struct hn_digit digit[N_LOOP * HN_RADIX_MAX_DIGITS];
	struct hn_digit_space space;
	struct hn_arena *a;
	struct hn_rng rng;
};

static int64_t below(struct nest *n, uint64_t bound)
{
	return (int64_t)hn_rng_below(&n->rng, bound);
}

/* Extents of 1 to 10; the second loop has digits, its extent need not divide. */
static void make_loops(struct nest *n)
{
	n->space = (struct hn_digit_space){ n->radix, n->first, n->digit, 0, 0 };
	for (int32_t l = 0; l < N_LOOP; l++) {
		struct hn_radix *r = &n->radix[l];

		*r = (struct hn_radix){ .extent = 1 + below(n, 10) };
		if (l == 1 && r->extent > 4) {
			r->weight[r->n_digit++] = 4;
			r->weight[r->n_digit++] = 2;
		}
		r->weight[r->n_digit++] = 1;
		n->first[l] = (int32_t)n->space.n_digit;
		n->space.n_digit += r->n_digit;
		hn_digit_set_loop(&n->space, l, (uint32_t)l);
	}
}

static const struct hn_expr *number(struct nest *n, int64_t v)
{
	return hn_expr_int(v, HN_I32, n->a);
}

static const struct hn_expr *pair(struct nest *n, enum hn_expr_op op,
				  const struct hn_expr *x, int64_t v)
{
	return hn_expr_binary(op, x, number(n, v), n->a);
}

static const struct hn_expr *term(struct nest *n)
{
	const struct hn_expr *x = hn_expr_var((int32_t)below(n, N_LOOP), HN_I32, "l", n->a);

	switch (below(n, 5)) {
	case 0:
		return pair(n, HN_EXPR_FLOORDIV, x, 2 + 2 * below(n, 2));
	case 1:
		return pair(n, HN_EXPR_FLOORMOD, x, 2 + 2 * below(n, 2));
	case 2:
		x = pair(n, HN_EXPR_FLOORDIV, x, 2);
		return pair(n, HN_EXPR_FLOORMOD, x, 2);
	case 3:
		return pair(n, HN_EXPR_MUL, x, 1 + below(n, 12));
	default:
		return x;
	}
}

static const struct hn_expr *axis(struct nest *n)
{
	const struct hn_expr *e = pair(n, HN_EXPR_MUL, term(n), 1 + below(n, 10));

	for (int64_t i = below(n, 3); i > 0; i--) {
		enum hn_expr_op op = below(n, 8) ? HN_EXPR_ADD : HN_EXPR_SUB;

		e = hn_expr_binary(op, e, term(n), n->a);
	}
	return pair(n, HN_EXPR_SUB, e, below(n, 4));
}

static int64_t value(const struct hn_expr *e, const int64_t *loop)
{
	if (e->op == HN_EXPR_INT) {
		return e->u.i;
	}
	if (e->op == HN_EXPR_VAR) {
		return loop[e->ref];
	}
	int64_t x = value(e->arg[0], loop), y = value(e->arg[1], loop);

	switch (e->op) {
	case HN_EXPR_ADD:
		return x + y;
	case HN_EXPR_SUB:
		return x - y;
	case HN_EXPR_MUL:
		return x * y;
	case HN_EXPR_FLOORDIV:
		return x / y; /* of loops alone: not negative */
	default:
		return x % y;
	}
}

/* The terms alone: the form's interval is beside them. */
static int64_t at_digits(const struct nest *n, const struct hn_digit_form *f,
			 const int64_t *loop)
{
	int64_t value[N_LOOP * HN_RADIX_MAX_DIGITS], sum = 0;

	for (int32_t l = 0; l < N_LOOP; l++) {
		int64_t rest = loop[l];

		for (uint32_t k = 0; k < n->radix[l].n_digit; k++) {
			value[n->first[l] + (int32_t)k] = rest / n->radix[l].weight[k];
			rest %= n->radix[l].weight[k];
		}
	}
	for (uint32_t i = 0; i < f->n; i++) {
		sum += f->term[i].coef * value[f->term[i].digit];
	}
	return sum;
}

/* Whether the forms and the first n_known loops tell all digits apart. */
static bool tells_all(const struct nest *n, const struct hn_digit_form *f, uint32_t n_form,
		      uint32_t n_known)
{
	bool told[N_LOOP * HN_RADIX_MAX_DIGITS] = { false }, again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < n_form; i++) {
			again |= hn_digit_form_tell(&n->space, &f[i], n_known, told);
		}
	}
	for (uint32_t d = 0; d < n->space.n_digit; d++) {
		if (n->digit[d].depth >= n_known && n->digit[d].range > 1 && !told[d]) {
			return false;
		}
	}
	return true;
}

static void check_value(const struct nest *n, const struct hn_digit_form *f, int64_t value,
			int64_t terms)
{
	assert_in_range(value - terms - f->lo, 0, f->hi - f->lo);
	assert_false(hn_digit_form_within(&n->space, f, value + 1, INT64_MAX));
	assert_false(hn_digit_form_within(&n->space, f, INT64_MIN, value - 1));
}

/* Every point's value lies in the form, bounds hold, and where injective is claimed
 * no two points (of those that agree in the first loop when it is known) are alike. */
static void check_claims(struct nest *n, const struct hn_expr *const *e,
			 const struct hn_digit_form *f, uint32_t n_known, bool injective)
{
	static int64_t seen[MAX_POINTS][N_FORM + 1];
	uint32_t n_seen = 0;
	int64_t p[N_LOOP];

	for (p[0] = 0; p[0] < n->radix[0].extent; p[0]++) {
		for (p[1] = 0; p[1] < n->radix[1].extent; p[1]++) {
			for (p[2] = 0; p[2] < n->radix[2].extent; p[2]++) {
				int64_t *v = seen[n_seen];

				v[N_FORM] = n_known ? p[0] : 0;
				for (uint32_t i = 0; i < N_FORM; i++) {
					v[i] = value(e[i], p);
					check_value(n, &f[i], v[i], at_digits(n, &f[i], p));
				}
				for (uint32_t k = 0; injective && k < n_seen; k++) {
					assert_true(memcmp(seen[k], v, sizeof(seen[k])));
				}
				n_seen++;
			}
		}
	}
}

static void claims_hold_at_every_point(void **state)
{
	uint32_t n_form = 0, n_injective = 0;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct nest n = { .a = &a, .rng = hn_rng_stream(3, seed, 0, 0) };
		struct hn_digit_form f[N_FORM];
		const struct hn_expr *e[N_FORM];
		bool formed = true;

		hn_arena_reset(&a);
		make_loops(&n);
		for (uint32_t i = 0; i < N_FORM; i++) {
			e[i] = axis(&n);
			hn_digit_form_zero(&f[i]);
			formed &= hn_digit_form_add_expr(&n.space, e[i], NULL, 1, &f[i]);
		}
		if (formed) {
			uint32_t n_known = (uint32_t)below(&n, 2);
			bool injective = tells_all(&n, f, N_FORM, n_known);

			check_claims(&n, e, f, n_known, injective);
			n_form++;
			n_injective += injective;
		}
	}
	assert_true(n_form > 500); /* the claims are made often enough to be tried */
	assert_true(n_injective > 50);
	hn_arena_fini(&a);
}

/* A tile's axis (4 i + j, j < 4) is injective; one step of overlap is not. */
static void tells_tiles_from_overlap(void **state)
{
	struct nest n = { .radix = { { 1, { 1 }, 3 }, { 1, { 1 }, 4 }, { 1, { 1 }, 1 } },
			  .first = { 0, 1, 2 } };
	struct hn_digit_form f = { .n = 2, .term = { { 0, 4 }, { 1, 1 } } };

	(void)state;
	n.space = (struct hn_digit_space){ n.radix, n.first, n.digit, 3, 3 };
	for (int32_t l = 0; l < N_LOOP; l++) {
		hn_digit_set_loop(&n.space, l, (uint32_t)l);
	}
	assert_true(tells_all(&n, &f, 1, 0));
	assert_true(hn_digit_form_within(&n.space, &f, 0, 11));
	assert_false(hn_digit_form_within(&n.space, &f, 0, 10));
	assert_false(hn_digit_form_within(&n.space, &f, 1, 11));
	f.hi = 1;
	assert_false(tells_all(&n, &f, 1, 0)); /* 4 i + j, or one more */
	f.hi = 0;
	f.term[0].coef = 3;
	assert_false(tells_all(&n, &f, 1, 0));
	assert_true(tells_all(&n, &f, 1, 1)); /* i is known */
	f.term[0].coef = INT64_MAX;
	assert_false(hn_digit_form_within(&n.space, &f, 0, INT64_MAX)); /* leaves 64 bits */
}

/* A loop that is not around the statement has no digits there. */
static void refuses_loops_not_in_the_space(void **state)
{
	struct nest n = { .radix = { { 1, { 1 }, 3 }, { 1, { 1 }, 4 } }, .first = { 0, -1 } };
	struct hn_digit_form f;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	n.space = (struct hn_digit_space){ n.radix, n.first, n.digit, 1, 1 };
	hn_digit_set_loop(&n.space, 0, 0);
	for (int32_t l = 0; l < 2; l++) {
		hn_digit_form_zero(&f);
		assert_int_equal(hn_digit_form_add_expr(&n.space, hn_expr_var(l, HN_I32, "l", &a),
							NULL, 1, &f),
				 l == 0);
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_hold_at_every_point),
		cmocka_unit_test(tells_tiles_from_overlap),
		cmocka_unit_test(refuses_loops_not_in_the_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
