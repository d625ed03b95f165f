/* lower/device/device_facts.c -- bounds of an index under the conditions around it, in digits.
 *
 * What reads past an edge stands under a condition on the row and one on the column.  The index is a
 * multiple of each and a rest: taking a condition as many times as its first digit counts in the index
 * leaves what intervals can tell.  isl, asked for the same, takes most of the verifier's time.
 *
 * It only ever proves: a sum of what is not negative and of facts, taken positively often, is not
 * negative.
 */
#include "base/arith.h"
#include "lower/device/device_verify_int.h"

#define MOST_FACTS 32

/* sum of coef * digit + c >= 0 */
struct fact {
	int64_t *coef, c;
};

struct facts {
	struct verify *v;
	const struct access *a;
	uint32_t n;
	struct fact fact[MOST_FACTS];
};

/* x - y - less >= 0 */
static void add(struct facts *f, const struct hn_expr *x, const struct hn_expr *y, int64_t less)
{
	struct fact new = { .coef = HN_NEW_ARRAY(&f->v->arena, int64_t, f->a->n_dim), .c = -less };

	if (f->n < MOST_FACTS && hn_verify_digits(f->v, f->a, x, 1, new.coef, &new.c) &&
	    hn_verify_digits(f->v, f->a, y, -1, new.coef, &new.c)) {
		f->fact[f->n++] = new;
	}
}

static void read(struct facts *f, const struct hn_expr *e, bool holds)
{
	const struct hn_expr *x = e->n_arg > 0 ? e->arg[0] : NULL, *y = e->n_arg > 1 ? e->arg[1] : NULL;

	if ((e->op == HN_EXPR_AND && holds) || (e->op == HN_EXPR_OR && !holds)) {
		read(f, x, holds);
		read(f, y, holds);
	} else if (e->op == HN_EXPR_NOT) {
		read(f, x, !holds);
	} else if ((e->op == HN_EXPR_LT && holds) || (e->op == HN_EXPR_GE && !holds)) {
		add(f, y, x, 1);
	} else if ((e->op == HN_EXPR_GE && holds) || (e->op == HN_EXPR_LT && !holds)) {
		add(f, x, y, 0);
	} else if ((e->op == HN_EXPR_GT && holds) || (e->op == HN_EXPR_LE && !holds)) {
		add(f, x, y, 1);
	} else if ((e->op == HN_EXPR_LE && holds) || (e->op == HN_EXPR_GT && !holds)) {
		add(f, y, x, 0);
	}
}

/* sum + c * most, for c < 0; INT64_MIN: that or less. */
static int64_t lowered(int64_t sum, int64_t c, int64_t most)
{
	int64_t far;

	return __builtin_mul_overflow(c, most, &far) || __builtin_add_overflow(sum, far, &sum) ? INT64_MIN
												: sum;
}

/* The least value that intervals of the digits leave. */
static int64_t least(const struct facts *f, const struct fact *t)
{
	struct access x = *f->a;
	int64_t sum = t->c;

	x.coef = t->coef;
	for (int32_t s = 0; s < (int32_t)f->v->k->n_slot; s++) {
		for (uint32_t k = 0, end; k < f->v->radix[s].n_digit && x.first_dim[s] >= 0; k = end) {
			end = hn_verify_run(f->v, &x, s, k);
			int64_t c = x.coef[x.first_dim[s] + (int)end - 1];

			sum = c < 0 ? lowered(sum, c, hn_verify_run_values(f->v, &x, s, k, end) - 1) : sum;
		}
	}
	for (uint32_t d = 0; x.copy != NULL && d < x.copy->n_dim; d++) {
		int64_t c = x.coef[x.n_dim - x.copy->n_dim + d];

		sum = c < 0 ? lowered(sum, c, x.copy->extent[d] - 1) : sum;
	}
	return sum;
}

static uint64_t size_of(int64_t c)
{
	return c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
}

/* ret = t without the fact, as many times as its first digit counts in t; false: that is no number of
 * times. */
static bool without(const struct facts *f, const struct fact *t, const struct fact *fact,
		    struct fact *ret)
{
	uint32_t first = 0;
	int64_t times;

	for (uint32_t i = 1; i < f->a->n_dim; i++) {
		first = size_of(fact->coef[i]) > size_of(fact->coef[first]) ? i : first;
	}
	if (f->a->n_dim == 0 || fact->coef[first] == 0 || fact->coef[first] == INT64_MIN ||
	    t->coef[first] == INT64_MIN || t->coef[first] % fact->coef[first] != 0) {
		return false;
	}
	times = t->coef[first] / fact->coef[first];
	ret->coef = HN_NEW_ARRAY(&f->v->arena, int64_t, f->a->n_dim);
	bool ok = times > 0 && !__builtin_mul_overflow(times, fact->c, &ret->c) &&
		  !__builtin_sub_overflow(t->c, ret->c, &ret->c);

	for (uint32_t i = 0; i < f->a->n_dim && ok; i++) {
		ok = !__builtin_mul_overflow(times, fact->coef[i], &ret->coef[i]) &&
		     !__builtin_sub_overflow(t->coef[i], ret->coef[i], &ret->coef[i]);
	}
	return ok;
}

/* Whether t is never negative; each fact is taken once, the one first that helps most. */
static bool is_never_negative(const struct facts *f, struct fact t)
{
	int64_t now = least(f, &t);
	bool taken[MOST_FACTS] = { false };

	for (uint32_t round = 0; round < f->n && now < 0; round++) {
		struct fact best = t;
		uint32_t at = f->n;

		for (uint32_t i = 0; i < f->n; i++) {
			struct fact rest;

			if (!taken[i] && without(f, &t, &f->fact[i], &rest) && least(f, &rest) > now) {
				now = least(f, &rest);
				best = rest;
				at = i;
			}
		}
		if (at == f->n) {
			return false;
		}
		taken[at] = true;
		t = best;
	}
	return now >= 0;
}

static bool is_bounded(struct verify *v, const struct access *a, int64_t n)
{
	struct facts f = { .v = v, .a = a };
	struct fact below = { .c = n - 1 };

	if (a->coef == NULL || __builtin_sub_overflow(below.c, a->at0, &below.c)) {
		return false;
	}
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		read(&f, h->e, h->positive);
	}
	below.coef = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	for (uint32_t i = 0; i < a->n_dim; i++) {
		if (__builtin_sub_overflow(0, a->coef[i], &below.coef[i])) {
			return false;
		}
	}
	return is_never_negative(&f, (struct fact){ a->coef, a->at0 }) && is_never_negative(&f, below);
}

bool hn_verify_is_bounded(struct verify *v, const struct access *a, int64_t n)
{
	struct verify inner;
	struct access x;

	if (is_bounded(v, a, n)) {
		return true;
	}
	bool ret = hn_verify_inner(v, a, &inner, &x) && is_bounded(&inner, &x, n);

	hn_arena_fini(&inner.arena);
	return ret;
}
