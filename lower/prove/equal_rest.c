/* lower/prove/equal_rest.c -- axes of a reduction that do not appear in its source.
 *
 * All points of such axes add the same value. So any of the parts' points may stand for any of
 * theirs; only their number must be equal. The coordinates of the parts that say nothing about
 * the other axes are made one number, and the axes are the digits of it.
 */
#include "base/arith.h"
#include "lower/prove/equal_int.h"

/* A number in the making: coordinates, the first added is the lowest, as many as are needed. */
struct rest {
	struct hn_eq *c;
	const struct hn_eq_parts *p;
	struct hn_eq_lin number;
	int64_t weight, needed; /* points so far; of the axes */
};

static bool holds(const struct hn_expr *x, const struct hn_expr *e)
{
	bool found = hn_expr_equal(x, e);

	for (uint32_t i = 0; i < x->n_arg && !found; i++) {
		found = holds(x->arg[i], e);
	}
	return found;
}

/* Whether e is in a value that is known. */
static bool told(const struct hn_eq_parts *p, const struct hn_expr *e)
{
	bool found = false;

	for (uint32_t k = 0; k < p->op->n_reduce && !found; k++) {
		found = p->value[k] && holds(p->value[k], e);
	}
	return found;
}

static void add(struct rest *r, const struct hn_expr *e, int64_t extent)
{
	if (r->weight < r->needed && !told(r->p, e)) {
		hn_eq_add(r->c, &r->number, e, r->weight);
		r->weight = hn_mul_sat(r->weight, extent);
	}
}

/* Where a value has the quotient of a number alone the remainder says nothing of it, and the
 * other way round. */
static void add_others(struct rest *r, const struct hn_expr *e)
{
	bool quotient = e->op == HN_EXPR_FLOORDIV;
	int64_t lo, hi;

	for (uint32_t i = 0; i < e->n_arg; i++) {
		add_others(r, e->arg[i]);
	}
	if ((!quotient && e->op != HN_EXPR_FLOORMOD) || e->arg[1]->op != HN_EXPR_INT) {
		return;
	}
	const struct hn_expr *other = hn_expr_binary(quotient ? HN_EXPR_FLOORMOD : HN_EXPR_FLOORDIV,
						     e->arg[0], e->arg[1], r->c->arena);

	if (hn_eq_span(r->c, other, &lo, &hi) && lo == 0) {
		add(r, other, hi + 1);
	}
}

static const struct hn_expr *number_of(struct hn_eq *c, const struct hn_eq_parts *p)
{
	const struct hn_axis *axis = &p->op->axis[p->op->n_spatial];
	uint32_t first = p->flat->n_spatial, s = first + p->flat->n_reduce;
	struct rest r = { .c = c, .p = p, .weight = 1, .needed = 1 };

	for (uint32_t k = 0; k < p->op->n_reduce; k++) {
		r.needed = p->value[k] ? r.needed : hn_mul_sat(r.needed, axis[k].extent);
	}
	while (s-- > first) {
		add(&r, hn_eq_slot(c, s), c->slot[s].extent);
	}
	for (uint32_t k = 0; k < p->op->n_reduce; k++) {
		if (p->value[k]) {
			add_others(&r, p->value[k]);
		}
	}
	return r.number.bad || r.weight > INT32_MAX ? NULL : hn_eq_of_lin(c, &r.number);
}

static const struct hn_expr *divided(struct hn_eq *c, enum hn_expr_op op, const struct hn_expr *x,
				     int64_t by)
{
	return hn_expr_binary(op, x, hn_expr_int(by, HN_I32, c->arena), c->arena);
}

void hn_eq_match_rest(struct hn_eq *c, struct hn_eq_parts *p)
{
	const struct hn_axis *axis = &p->op->axis[p->op->n_spatial];
	const struct hn_expr *number = number_of(c, p);
	uint32_t first = 0, k = p->op->n_reduce;
	int64_t weight = 1;

	while (first < k && p->value[first]) {
		first++;
	}
	while (k-- > first) {
		struct hn_eq_lin l = { .c = axis[k].min };

		if (p->value[k]) {
			continue;
		}
		if (number && weight <= INT32_MAX) {
			const struct hn_expr *digit = divided(c, HN_EXPR_FLOORDIV, number, weight);

			hn_eq_add(c, &l,
				  k == first ? digit
					     : divided(c, HN_EXPR_FLOORMOD, digit, axis[k].extent),
				  1);
		}
		p->value[k] = hn_eq_of_lin(c, &l);
		weight = hn_mul_sat(weight, axis[k].extent);
	}
}
