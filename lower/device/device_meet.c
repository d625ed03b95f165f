/* lower/device/device_meet.c -- whether two accesses reach an element from two blocks or threads.
 *
 * Most indices are sums of digits times strides, and the strides grow as those of a positional
 * number do: each more than all smaller ones can add up to.  Then one index is one set of digits,
 * and those of the thread are among them.  Where that does not show it, instances are tried if
 * they are few, and else isl is asked.
 */
#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/val.h>
#include <stdlib.h>

#include "base/arith.h"
#include "lower/device/device_verify_int.h"

/* ---- positional numbers */

/* Digits with one stride, and by how much they may differ between the two. */
struct stride {
	int64_t c;	/* > 0 */
	int64_t lo, hi; /* b's digits from a's */
	int32_t digit;	/* which one it is, if it is to be shown equal; 0: another */
	bool mixed;	/* several have this stride */
};

struct sum {
	uint32_t n;
	struct stride s[128];
	bool full;
};

static void add_digit(struct sum *x, int64_t c, int64_t count, bool of_a, int32_t digit)
{
	uint32_t i = 0;
	int64_t size = c < 0 ? -c : c;

	if (c == 0 || count <= 1) {
		return;
	}
	while (i < x->n && x->s[i].c != size) {
		i++;
	}
	if (i == HN_COUNT_OF(x->s)) {
		x->full = true;
		return;
	}
	if (i == x->n) {
		x->s[x->n++] = (struct stride){ .c = size, .digit = digit };
	}
	if ((c > 0) == of_a) {
		x->s[i].hi = hn_add_sat(x->s[i].hi, count - 1);
	} else {
		x->s[i].lo = hn_add_sat(x->s[i].lo, count - 1);
	}
	x->s[i].mixed = x->s[i].mixed || x->s[i].digit != digit;
}

static int descending(const void *x, const void *y)
{
	int64_t a = ((const struct stride *)x)->c, b = ((const struct stride *)y)->c;

	return (a < b) - (a > b);
}

static int64_t reach_of(const struct stride *s)
{
	return hn_mul_sat(s->c, s->lo > s->hi ? s->lo : s->hi);
}

/* Whether sum of c * difference + rest is 0 only where all of ours are. */
static bool is_positional(struct sum *x, int64_t rest)
{
	int64_t below = 0;
	bool ours = false;

	qsort(x->s, x->n, sizeof(x->s[0]), descending);
	for (uint32_t i = 0; i < x->n; i++) {
		below = hn_add_sat(below, reach_of(&x->s[i]));
	}
	if (below == HN_EXTENT_MAX || rest == INT64_MIN) {
		return false; /* that or more */
	}
	if (rest != 0) {
		return below < (rest < 0 ? -rest : rest); /* they never meet */
	}
	for (uint32_t i = 0; i < x->n; i++) {
		ours = ours || x->s[i].digit != 0 || x->s[i].mixed;
	}
	for (uint32_t i = 0; i < x->n && ours; i++) {
		if (x->s[i].mixed) {
			return false;
		}
		below = 0;
		for (uint32_t k = i + 1; k < x->n; k++) {
			below = hn_add_sat(below, reach_of(&x->s[k]));
		}
		if (below >= x->s[i].c) {
			return false;
		}
		ours = false;
		for (uint32_t k = i + 1; k < x->n; k++) {
			ours = ours || x->s[k].digit != 0 || x->s[k].mixed;
		}
	}
	return true;
}

/* Digits of block, thread or a loop; false: they do not show it. */
static bool add_slot(struct sum *x, const struct verify *v, const struct access *a,
		     const struct access *b, int32_t slot, bool ours, bool same)
{
	int32_t i = a->first_dim[slot], j = b->first_dim[slot];

	for (uint32_t k = 0, end; k < v->radix[slot].n_digit; k = end) {
		uint32_t end_a = hn_verify_run(v, a, slot, k), end_b = hn_verify_run(v, b, slot, k);

		end = end_a < end_b ? end_a : end_b;
		int64_t ca = i < 0 ? 0 : a->coef[i + (int)end - 1],
			cb = j < 0 ? 0 : b->coef[j + (int)end - 1];
		int64_t na = hn_verify_run_values(v, a, slot, k, end),
			nb = hn_verify_run_values(v, b, slot, k, end);

		if (same && i >= 0 && j >= 0 && ca == cb) {
			continue;
		}
		if (ours && ((na > 1 && ca == 0) || (nb > 1 && cb == 0) ||
			     (na > 1 && nb > 1 && ca != cb))) {
			return false;
		}
		add_digit(x, ca, na, true,
			  ours ? 1 + slot * HN_RADIX_MAX_DIGITS + (int)k : 0);
		add_digit(x, cb, nb, false,
			  ours ? 1 + slot * HN_RADIX_MAX_DIGITS + (int)k : 0);
	}
	return true;
}

static bool is_one_by_digits(const struct verify *v, const struct access *a,
			     const struct access *b, int32_t first, const struct when *w)
{
	struct sum x = { 0 };
	int64_t rest;

	if (a->coef == NULL || b->coef == NULL ||
	    __builtin_sub_overflow(a->at0, b->at0, &rest) || rest == INT64_MIN) {
		return false;
	}
	for (int32_t s = 0; s < (int32_t)v->k->n_slot; s++) {
		if (!add_slot(&x, v, a, b, s, s >= first && s < first + 3,
			      hn_verify_is_same(w, s))) {
			return false;
		}
	}
	for (uint32_t d = 0; a->copy != NULL && d < a->copy->n_dim; d++) {
		add_digit(&x, a->stride[d], a->copy->extent[d], true, 0);
	}
	for (uint32_t d = 0; b->copy != NULL && d < b->copy->n_dim; d++) {
		add_digit(&x, b->stride[d], b->copy->extent[d], false, 0);
	}
	/* a warp's reads are of threads unlike any: they may not meet at all */
	return !x.full && (rest != 0 || (!a->warp && !b->warp)) && is_positional(&x, rest);
}

/* ---- rows */

/* The row's length and what is left of a's index, where it is `row * length + x` and the condition
 * says that x is below the length.  *x is the part within the row, *row the number of the row. */
static bool find_row(struct verify *v, const struct access *a, const struct hn_expr *e,
		     struct access *x, struct access *row)
{
	int64_t length = 0;

	if (e->op != HN_EXPR_LT || e->arg[1]->op != HN_EXPR_INT) {
		return false;
	}
	x->coef = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	row->coef = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	x->count = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	row->count = HN_NEW_ARRAY(&v->arena, int64_t, a->n_dim);
	x->at0 = 0;
	if (!hn_verify_digits(v, a, e->arg[0], 1, x->coef, &x->at0) || x->at0 < 0) {
		return false;
	}
	for (uint32_t i = 0; i < a->n_dim; i++) {
		int64_t rest = 0;

		if (x->coef[i] < 0 || __builtin_sub_overflow(a->coef[i], x->coef[i], &rest)) {
			return false;
		}
		for (int64_t y = rest < 0 ? -rest : rest; y != 0;) {
			int64_t z = length % y;

			length = y;
			y = z;
		}
		row->coef[i] = rest;
	}
	for (uint32_t i = 0; i < a->n_dim; i++) {
		bool in_x = x->coef[i] != 0, in_row = row->coef[i] != 0;

		/* what the other part alone tells needs not be told here */
		x->count[i] = in_row && !in_x ? 1 : a->count[i];
		row->count[i] = in_x && !in_row ? 1 : a->count[i];
		row->coef[i] /= length > 0 ? length : 1;
	}
	return length >= e->arg[1]->u.i && length > 0;
}

/* Two instances of one access: in rows that conditions end, the row is one and the place in it. */
static bool is_one_by_rows(struct verify *v, const struct access *a, int32_t first,
			   const struct when *w, const struct hn_expr *e)
{
	struct access x = *a, row = *a;

	if (e->op == HN_EXPR_AND) {
		return is_one_by_rows(v, a, first, w, e->arg[0]) ||
		       is_one_by_rows(v, a, first, w, e->arg[1]);
	}
	return find_row(v, a, e, &x, &row) && is_one_by_digits(v, &x, &x, first, w) &&
	       is_one_by_digits(v, &row, &row, first, w);
}

static bool is_one_in_rows(struct verify *v, const struct access *a, const struct access *b,
			   int32_t first, const struct when *w)
{
	bool one = false;

	if (a != b || a->coef == NULL || a->copy != NULL || a->warp) {
		return false;
	}
	for (const struct holds *h = a->holds; h != NULL && !one; h = h->up) {
		one = h->positive && is_one_by_rows(v, a, first, w, h->e);
	}
	return one;
}

/* ---- isl */

static isl_val *number(const struct verify *v, int64_t x)
{
	return isl_val_int_from_si(v->ctx, x);
}

/* Digits of the variable equal in both instances. */
static isl_map *equal(const struct verify *v, isl_map *m, const struct access *a,
		      const struct access *b, int32_t slot)
{
	for (uint32_t k = 0; k < v->radix[slot].n_digit; k++) {
		m = isl_map_equate(m, isl_dim_in, a->first_dim[slot] + (int)k,
				   isl_dim_out, b->first_dim[slot] + (int)k);
	}
	return m;
}

/* The variable one more in b's instance. */
static isl_map *next(const struct verify *v, isl_map *m, const struct access *a,
		     const struct access *b, int32_t slot)
{
	isl_local_space *ls = isl_local_space_from_space(isl_map_get_space(m));
	isl_constraint *c = isl_constraint_alloc_equality(ls);

	for (uint32_t k = 0; k < v->radix[slot].n_digit; k++) {
		int64_t w = v->radix[slot].weight[k];

		c = isl_constraint_set_coefficient_val(
			c, isl_dim_in, a->first_dim[slot] + (int)k, number(v, -w));
		c = isl_constraint_set_coefficient_val(
			c, isl_dim_out, b->first_dim[slot] + (int)k, number(v, w));
	}
	c = isl_constraint_set_constant_si(c, -1);
	return isl_map_add_constraint(m, c);
}

static isl_map *equal_numbers(const struct verify *v, isl_map *m, const struct access *a,
			      const struct access *b, int32_t first)
{
	for (int32_t s = first; s < first + 3; s++) {
		m = equal(v, m, a, b, s);
	}
	return m;
}

/* Instances of a and b that may reach one element. */
static isl_map *meet(const struct access *a, const struct access *b)
{
	if (a->reach == NULL || b->reach == NULL) {
		return isl_map_from_domain_and_range(isl_set_copy(a->domain),
						     isl_set_copy(b->domain));
	}
	return isl_map_apply_range(isl_map_copy(a->reach),
				   isl_map_reverse(isl_map_copy(b->reach)));
}

static bool is_one_by_own_digits(const struct verify *v, const struct access *a,
				 const struct access *b, int32_t first, const struct when *w)
{
	struct access own[2];
	struct verify x;

	if (a->coef != NULL && b->coef != NULL) {
		return false;
	}
	hn_verify_pair(v, a, b, &x, own);
	bool one = is_one_by_digits(&x, &own[0], &own[1], first, w);

	hn_arena_fini(&x.arena);
	return one;
}

bool hn_verify_is_one(struct verify *v, struct access *a, struct access *b, int32_t first,
		      const struct when *w)
{
	isl_map *m, *apart;
	bool ret;

	if (is_one_by_digits(v, a, b, first, w) || is_one_in_rows(v, a, b, first, w) ||
	    is_one_by_own_digits(v, a, b, first, w) ||
	    (first == HN_DEVICE_THREAD && hn_verify_is_apart(v, a, b, w))) {
		return true;
	}
	if (first == HN_DEVICE_THREAD) {
		enum counted counted = hn_verify_count(v, a, b, w);

		if (counted != COUNTED_NOT) {
			return counted == COUNTED_ONE;
		}
	}
	hn_verify_in_isl(v, a);
	hn_verify_in_isl(v, b);
	m = meet(a, b);
	if (w->one_block) {
		m = equal_numbers(v, m, a, b, HN_DEVICE_BLOCK);
	}
	for (uint32_t i = 0; i < w->n_same; i++) {
		m = equal(v, m, a, b, w->same[i]->slot);
	}
	if (w->next != NULL) {
		m = next(v, m, a, b, w->next->slot);
	}
	apart = a->warp || b->warp ? m
				   : isl_map_subtract(m, equal_numbers(v, isl_map_copy(m),
								       a, b, first));
	ret = isl_map_is_empty(apart) !=
	      isl_bool_false; /* an error is counted elsewhere */
	isl_map_free(apart);
	return ret;
}
