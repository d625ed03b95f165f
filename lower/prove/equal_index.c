/* lower/prove/equal_index.c -- indices as linear forms and, where these differ, as isl's functions
 * on the points where they are evaluated. */
#include <isl/space.h>
#include <stdio.h>

#include "lower/prove/equal_int.h"

/* -- isl ---------------------------------------------------------------------------------- */

isl_space *hn_eq_space(const struct hn_eq *c, uint32_t n)
{
	uint32_t n_size = c->given->sizes ? c->given->sizes->n : 0;
	isl_space *space = isl_space_set_alloc(c->ctx, n_size, n);

	for (uint32_t k = 0; k < n_size; k++) {
		char name[20];

		snprintf(name, sizeof(name), "p%u", k);
		space = isl_space_set_dim_name(space, isl_dim_param, k, name);
	}
	return space;
}

static isl_set *at_most(isl_set *set, enum isl_dim_type type, unsigned k, int64_t lo, int64_t hi)
{
	set = isl_set_lower_bound_val(set, type, k, isl_val_int_from_si(isl_set_get_ctx(set), lo));
	return isl_set_upper_bound_val(set, type, k,
				       isl_val_int_from_si(isl_set_get_ctx(set), hi));
}

isl_set *hn_eq_box(const struct hn_eq *c, uint32_t n, const int32_t *dim)
{
	const struct hn_sizes *sizes = c->given->sizes;
	isl_set *set = isl_set_universe(hn_eq_space(c, n));

	for (uint32_t k = 0; sizes && k < sizes->n; k++) {
		set = at_most(set, isl_dim_param, k, sizes->size[k].lo, sizes->size[k].hi);
	}
	for (uint32_t k = 0; k < c->n_slot; k++) {
		const struct hn_eq_axis *s = &c->slot[k];

		if (dim[k] < 0) {
			continue;
		}
		set = at_most(set, isl_dim_set, (unsigned)dim[k], s->min,
			      s->min + s->extent - 1);
		if (s->form) {
			set = hn_poly_below(set, (unsigned)dim[k], s->min, s->form);
		}
	}
	return set;
}

isl_set *hn_eq_cut(struct hn_eq *c, isl_set *set, const int32_t *dim, const struct hn_expr *cond,
		   bool positive)
{
	struct hn_radix radix[HN_EQ_MAX_SLOTS];
	struct hn_poly_space s = { isl_set_get_space(set), radix, dim };

	for (uint32_t k = 0; k < c->n_slot; k++) {
		radix[k].n_digit = 1;
		radix[k].weight[0] = 1;
		radix[k].extent = c->slot[k].extent;
	}
	c->asked_isl = true;
	set = isl_set_intersect(set, hn_poly_condition(&s, cond, positive, NULL));
	isl_space_free(s.space);
	return set;
}

static void number_slots(const struct hn_eq *c, int32_t *dim)
{
	for (uint32_t k = 0; k < c->n_slot; k++) {
		dim[k] = (int32_t)k;
	}
}

static isl_set *set_of(struct hn_eq *c, const struct hn_eq_dom *dom)
{
	struct hn_eq_dom *made = (struct hn_eq_dom *)dom; /* what it caches is not seen outside */
	int32_t dim[HN_EQ_MAX_SLOTS];

	if (made->set) {
		return made->set;
	}
	number_slots(c, dim);
	made->set = dom->up ? isl_set_copy(set_of(c, dom->up)) : hn_eq_box(c, c->n_slot, dim);
	if (dom->cond) {
		made->set = hn_eq_cut(c, made->set, dim, dom->cond, dom->positive);
	}
	return made->set;
}

const struct hn_eq_dom *hn_eq_where(struct hn_eq *c, const struct hn_eq_dom *dom,
				    const struct hn_expr *cond, bool positive)
{
	struct hn_eq_dom *part = HN_NEW(c->arena, struct hn_eq_dom);

	*part = (struct hn_eq_dom){ .up = dom, .cond = cond, .positive = positive, .next = c->doms };
	c->doms = part;
	return part;
}

bool hn_eq_nowhere(struct hn_eq *c, const struct hn_eq_dom *dom)
{
	return isl_set_is_empty(set_of(c, dom)) == isl_bool_true;
}

bool hn_eq_is_affine_condition(const struct hn_eq *c, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_AND || e->op == HN_EXPR_OR || e->op == HN_EXPR_NOT) {
		for (uint32_t i = 0; i < e->n_arg; i++) {
			if (!hn_eq_is_affine_condition(c, e->arg[i])) {
				return false;
			}
		}
		return true;
	}
	if (e->op == HN_EXPR_INT) {
		return true;
	}
	return e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && hn_eq_exact(c, e) &&
	       hn_poly_is_affine(e->arg[0], NULL) && hn_poly_is_affine(e->arg[1], NULL);
}

/* -- linear forms ------------------------------------------------------------------------- */

static void add_number(struct hn_eq_lin *l, int64_t k, int64_t v)
{
	int64_t kv;

	l->bad = l->bad || __builtin_mul_overflow(k, v, &kv) ||
		 __builtin_add_overflow(l->c, kv, &l->c);
}

static void add_term(struct hn_eq_lin *l, int64_t k, const struct hn_expr *atom)
{
	uint32_t i = 0;

	while (i < l->n && !hn_expr_equal(l->term[i].atom, atom)) {
		i++;
	}
	if (i == HN_EQ_MAX_TERMS) {
		l->bad = true;
		return;
	}
	if (i == l->n) {
		l->term[l->n].coef = 0;
		l->term[l->n++].atom = atom;
	}
	l->bad = l->bad || __builtin_add_overflow(l->term[i].coef, k, &l->term[i].coef);
	if (l->term[i].coef == 0) {
		l->term[i] = l->term[--l->n];
	}
}

/* A conversion that keeps an index what it is. */
static bool is_nothing(const struct hn_expr *e)
{
	uint8_t from = e->n_arg == 1 ? e->arg[0]->dtype : 0;

	return e->op == HN_EXPR_CAST && !hn_eq_is_data(e) &&
	       (e->dtype == HN_I32 || e->dtype == HN_I64) && (from == HN_I32 || from == HN_I64);
}

void hn_eq_add(struct hn_eq *c, struct hn_eq_lin *l, const struct hn_expr *e, int64_t k)
{
	int64_t scaled;

	if (l->bad || !hn_eq_spend(c, 1)) {
		l->bad = true;
		return;
	}
	if (e->op == HN_EXPR_INT) {
		add_number(l, k, e->u.i);
	} else if (e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB) {
		l->bad = k == INT64_MIN;
		hn_eq_add(c, l, e->arg[0], k);
		hn_eq_add(c, l, e->arg[1], e->op == HN_EXPR_ADD || l->bad ? k : -k);
	} else if (e->op == HN_EXPR_MUL &&
		   (e->arg[0]->op == HN_EXPR_INT || e->arg[1]->op == HN_EXPR_INT)) {
		bool first = e->arg[0]->op == HN_EXPR_INT;

		l->bad = __builtin_mul_overflow(k, e->arg[!first]->u.i, &scaled);
		if (!l->bad && scaled != 0) {
			hn_eq_add(c, l, e->arg[first], scaled);
		}
	} else if (is_nothing(e)) {
		hn_eq_add(c, l, e->arg[0], k);
	} else {
		add_term(l, k, e);
	}
}

const struct hn_expr *hn_eq_of_lin(struct hn_eq *c, const struct hn_eq_lin *l)
{
	const struct hn_expr mul = { .op = HN_EXPR_MUL, .dtype = HN_I32 };
	const struct hn_expr add = { .op = HN_EXPR_ADD, .dtype = HN_I32 };
	const struct hn_expr *sum = NULL;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct hn_expr *arg[2] = { l->term[i].atom,
						 hn_expr_int(l->term[i].coef, HN_I32, c->arena) };
		const struct hn_expr *term =
			l->term[i].coef == 1 ? arg[0]
					     : hn_expr_with_args(&mul, arg, 2, c->arena);
		const struct hn_expr *both[2] = { sum, term };

		sum = sum ? hn_expr_with_args(&add, both, 2, c->arena) : term;
	}
	if (l->c != 0 || !sum) {
		const struct hn_expr *number = hn_expr_int(l->c, HN_I32, c->arena);
		const struct hn_expr *both[2] = { sum, number };

		sum = sum ? hn_expr_with_args(&add, both, 2, c->arena) : number;
	}
	return sum;
}

/* Arguments of a term of index arithmetic are indices, those of any other data. */
static bool same_term(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		      const struct hn_expr *y)
{
	if (x->op < HN_EXPR_ADD || x->op > HN_EXPR_TRUNCMOD) {
		return hn_eq_value(c, dom, x, y);
	}
	return hn_eq_index(c, dom, x->arg[0], y->arg[0]) &&
	       hn_eq_index(c, dom, x->arg[1], y->arg[1]);
}

/* Terms that are equal, though not written alike: one term. */
static void join_terms(struct hn_eq *c, const struct hn_eq_dom *dom, struct hn_eq_lin *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		for (uint32_t j = i + 1; j < l->n; j++) {
			const struct hn_expr *x = l->term[i].atom, *y = l->term[j].atom;

			if (x->op != y->op || hn_poly_is_affine(x, NULL) ||
			    !same_term(c, dom, x, y)) {
				continue;
			}
			l->bad = l->bad || __builtin_add_overflow(l->term[i].coef, l->term[j].coef,
								  &l->term[i].coef);
			l->term[j--] = l->term[--l->n];
		}
	}
	for (uint32_t i = l->n; i-- > 0;) {
		if (l->term[i].coef == 0) {
			l->term[i] = l->term[--l->n];
		}
	}
}

/* Whether the sum is 0 at all points: nowhere anything else. */
static bool is_zero(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_eq_lin *l)
{
	const struct hn_expr like = { .op = HN_EXPR_NE, .dtype = HN_BOOL };
	const struct hn_expr *arg[2] = { hn_eq_of_lin(c, l), hn_expr_int(0, HN_I64, c->arena) };

	if (l->n == 0 || !hn_poly_is_affine(arg[0], NULL)) {
		return l->n == 0 && l->c == 0;
	}
	return hn_eq_nowhere(
		c, hn_eq_where(c, dom, hn_expr_with_args(&like, arg, 2, c->arena), true));
}

static bool is_number(const struct hn_expr *e)
{
	return e->dtype == HN_I32 || e->dtype == HN_I64;
}

bool hn_eq_alike(struct hn_eq *c, const struct hn_expr *x, const struct hn_expr *y)
{
	struct hn_eq_lin l = { 0 };

	if (hn_expr_equal(x, y)) {
		return true;
	}
	if (x->op != y->op || x->dtype != HN_BOOL || y->dtype != HN_BOOL || x->n_arg == 0) {
		return false;
	}
	if (x->op == HN_EXPR_AND || x->op == HN_EXPR_OR || x->op == HN_EXPR_NOT) {
		for (uint32_t i = 0; i < x->n_arg; i++) {
			if (!hn_eq_alike(c, x->arg[i], y->arg[i])) {
				return false;
			}
		}
		return true;
	}
	if (x->op < HN_EXPR_EQ || x->op > HN_EXPR_GE || !is_number(x->arg[0]) ||
	    !is_number(y->arg[0])) {
		return false;
	}
	hn_eq_add(c, &l, x->arg[0], 1);
	hn_eq_add(c, &l, x->arg[1], -1);
	hn_eq_add(c, &l, y->arg[0], -1);
	hn_eq_add(c, &l, y->arg[1], 1);
	return !l.bad && l.n == 0 && l.c == 0;
}

bool hn_eq_index(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		 const struct hn_expr *y)
{
	struct hn_eq_lin l = { 0 };
	const char *before = c->why;

	if (hn_expr_equal(x, y)) {
		return true;
	}
	hn_eq_add(c, &l, x, 1);
	hn_eq_add(c, &l, y, -1);
	if (!l.bad && l.n > 1) {
		join_terms(c, dom, &l);
	}
	if (l.bad || !is_zero(c, dom, &l)) {
		return false;
	}
	c->why = before; /* terms that were tried in vain */
	return true;
}
