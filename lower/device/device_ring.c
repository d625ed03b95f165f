/* lower/device/device_ring.c -- whether two accesses are in different copies of a ring.
 *
 * A pipeline has several copies of a buffer side by side: an index is (t + k) mod n times a copy's
 * size, and a place in the copy.  What is ahead and what is read in one turn differ in k, so they
 * never meet if both stay in one copy.  isl takes long to see it where places are swizzled.
 */
#include "base/arith.h"
#include "loopstate/expr/simplify.h"
#include "lower/device/device_verify_int.h"

struct ring {
	struct hn_affine turn; /* what is taken modulo n */
	int64_t n, size;
	int64_t lo, hi; /* the place in the copy */
	bool far;	/* or past 64 bits */
};

static struct hn_affine affine(struct verify *v, const struct hn_expr *e)
{
	return hn_affine_of(e, v->span, v->k->n_slot, &v->arena);
}

static void widen(struct ring *r, int64_t c, int64_t lo, int64_t hi)
{
	int64_t least, most;

	r->far = r->far || __builtin_mul_overflow(c, c < 0 ? hi : lo, &least) ||
		 __builtin_mul_overflow(c, c < 0 ? lo : hi, &most) ||
		 __builtin_add_overflow(r->lo, least, &r->lo) ||
		 __builtin_add_overflow(r->hi, most, &r->hi);
}

/* coef += times * e in digits; false: it is no sum of them, and nothing is added. */
static bool add_digits(struct verify *v, struct access *a, const struct hn_expr *e, int64_t times)
{
	int64_t *one = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim), at0 = 0;

	if (!hn_verify_digits(v, a, e, times, one, &at0) || at0 != 0) {
		return false;
	}
	for (uint32_t i = 0; i < a->n_dim; i++) {
		if (__builtin_add_overflow(one[i], a->coef[i], &one[i])) {
			return false;
		}
	}
	a->coef = one;
	return true;
}

/* The term that says which copy; f.n: there is none. */
static uint32_t find_copy(const struct hn_affine *f)
{
	uint32_t best = f->n;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_expr *x = f->term[i].atom;

		if (x->op == HN_EXPR_FLOORMOD && x->arg[1]->op == HN_EXPR_INT && x->arg[1]->u.i > 1 &&
		    f->term[i].coef > 0 && (best == f->n || f->term[i].coef > f->term[best].coef)) {
			best = i;
		}
	}
	return best;
}

static bool find_ring(struct verify *v, const struct access *a, struct ring *r)
{
	struct hn_affine f = affine(v, a->at);
	uint32_t copy = find_copy(&f);
	struct access x = *a;
	int64_t lo, hi;

	if (copy == f.n) {
		return false;
	}
	*r = (struct ring){ .turn = affine(v, f.term[copy].atom->arg[0]),
			    .n = f.term[copy].atom->arg[1]->u.i,
			    .size = f.term[copy].coef,
			    .lo = f.c,
			    .hi = f.c };
	x.coef = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	for (uint32_t i = 0; i < f.n; i++) {
		if (i == copy || add_digits(v, &x, f.term[i].atom, f.term[i].coef)) {
			continue;
		}
		if (!hn_expr_range(f.term[i].atom, v->span, v->k->n_slot, &lo, &hi)) {
			return false;
		}
		widen(r, f.term[i].coef, lo, hi);
	}
	for (int32_t s = 0; s < (int32_t)v->k->n_slot; s++) {
		for (uint32_t k = 0, end; k < v->radix[s].n_digit && a->first_dim[s] >= 0; k = end) {
			end = hn_verify_run(v, &x, s, k);
			widen(r, x.coef[a->first_dim[s] + (int)end - 1], 0,
			      hn_verify_run_values(v, &x, s, k, end) - 1);
		}
	}
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		widen(r, a->stride[d], 0, a->copy->extent[d] - 1);
	}
	return !r->far;
}

/* Whether from one place to the other is less than a copy. */
static bool is_near(int64_t lo, int64_t hi, int64_t size)
{
	int64_t far;

	return !__builtin_sub_overflow(hi, lo, &far) && far < size;
}

/* By how many copies b is ahead of a, where that is the same in all turns. */
static bool find_distance(const struct ring *a, const struct ring *b, const struct when *w,
			  int64_t *ret)
{
	if (a->turn.n != b->turn.n || __builtin_sub_overflow(b->turn.c, a->turn.c, ret)) {
		return false;
	}
	for (uint32_t i = 0; i < a->turn.n; i++) {
		const struct hn_term *x = &a->turn.term[i], *y = &b->turn.term[i];
		bool turns = x->atom->op == HN_EXPR_VAR && hn_expr_equal(x->atom, y->atom) &&
			     x->coef == y->coef;
		bool next = turns && w->next != NULL && w->next->slot == x->atom->ref;

		if (!turns || !(next || hn_verify_is_same(w, x->atom->ref)) ||
		    (next && __builtin_add_overflow(*ret, x->coef, ret))) {
			return false;
		}
	}
	return true;
}

bool hn_verify_is_apart(struct verify *v, const struct access *a, const struct access *b,
			const struct when *w)
{
	struct ring x, y;
	int64_t distance;

	return find_ring(v, a, &x) && find_ring(v, b, &y) && x.n == y.n && x.size == y.size &&
	       find_distance(&x, &y, w, &distance) && hn_floormod(distance, x.n) != 0 &&
	       is_near(y.lo, x.hi, x.size) && is_near(x.lo, y.hi, x.size);
}
