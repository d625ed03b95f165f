/* loopstate/nest/quick_cover.c -- what a statement computes: all of it, within bounds, and each
 * point of a reduction once.
 *
 * A guard that bounds a sum of digits inside the statement's own loops (a split that does not
 * divide) makes that sum a digit of its own, of the guard's range.  A guard that an axis's
 * domain implies leaves out nothing that exists.  Any other guard is refused.  A loop whose
 * digits could count further than it runs is bounded in the same way.
 */
#include "loopstate/nest/quick_cover.h"

#include "base/arith.h"

/* Ascending by coefficient. */
static void sort_terms(struct hn_digit_form *f)
{
	for (uint32_t i = 1; i < f->n; i++) {
		struct hn_digit_term x = f->term[i];
		uint32_t k = i;

		for (; k > 0 && f->term[k - 1].coef > x.coef; k--) {
			f->term[k] = f->term[k - 1];
		}
		f->term[k] = x;
	}
}

/* Whether the terms, ascending, take every value of [0, *ret_span]; *ret_once: none of
 * them twice.  whole: all digits are of one loop, which is bounded as such. */
static bool is_dense(const struct hn_digit_space *s, const struct hn_digit_form *f, bool whole,
		     int64_t *ret_span, bool *ret_once)
{
	int64_t reach = 0;

	*ret_once = true;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_digit *d = &s->digit[f->term[i].digit];
		int64_t coef = f->term[i].coef;

		if (coef <= 0 || coef > reach + 1 || (d->ragged && !whole)) {
			return false;
		}
		*ret_once = *ret_once && coef == reach + 1;
		reach += hn_mul_sat(coef, d->range - 1);
		if (reach >= HN_EXTENT_MAX) {
			return false;
		}
	}
	*ret_span = reach;
	return true;
}

/* *ret_mul such that f holds mul times every term of g; below 0 where f counts down. */
static bool holds(const struct hn_digit_form *f, const struct hn_digit_form *g,
		  int64_t *ret_mul)
{
	int64_t mul = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t k = 0;

		while (k < f->n && f->term[k].digit != g->term[i].digit) {
			k++;
		}
		if (k == f->n || f->term[k].coef % g->term[i].coef != 0 ||
		    (i > 0 && f->term[k].coef / g->term[i].coef != mul)) {
			return false;
		}
		mul = f->term[k].coef / g->term[i].coef;
	}
	*ret_mul = mul;
	return mul != 0;
}

/* f with the sum g as `digit`; f itself when g is no part of it. */
static const struct hn_digit_form *replace(struct hn_quick_covering *v,
					   const struct hn_digit_form *f,
					   const struct hn_digit_form *g, uint32_t digit)
{
	struct hn_digit_form *to = &v->form;
	int64_t mul;

	if (!holds(f, g, &mul) || mul < 0) {
		return f;
	}
	to->n = 0;
	to->lo = f->lo;
	to->hi = f->hi;
	if (!hn_digit_form_add(f, 1, to) || !hn_digit_form_add(g, -mul, to) ||
	    to->n == HN_DIGIT_FORM_TERMS) {
		return f;
	}
	to->lo = f->lo;
	to->hi = f->hi;
	to->term[to->n++] = (struct hn_digit_term){ digit, mul };
	return hn_digit_form_keep(to, v->c->arena);
}

static uint32_t least_depth(const struct hn_digit_space *s, const struct hn_digit_form *f)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t d = s->digit[f->term[i].digit].depth;

		least = d < least ? d : least;
	}
	return least;
}

/* The guard's sum as a digit of that range. */
static void put_digit(struct hn_quick_covering *v, struct hn_quick_guard *g, int64_t range,
		      const struct hn_digit_form **axis)
{
	struct hn_digit_space *s = &v->c->space;
	uint32_t digit = s->n_digit++;

	s->digit[digit] = (struct hn_digit){
		.range = range,
		.depth = least_depth(s, &g->g),
		.of = hn_digit_form_keep(&g->g, v->c->arena),
	};
	for (uint32_t d = 0; d < v->s->n_axis; d++) {
		const struct hn_digit_form *next = replace(v, axis[d], &g->g, digit);

		g->made = g->made || next != axis[d];
		axis[d] = next;
	}
	for (uint32_t i = 0; i < v->n_guard; i++) {
		struct hn_quick_guard *other = &v->guard[i];

		if (other != g && !other->made) {
			const struct hn_digit_form *next =
				replace(v, &other->g, &g->g, digit);

			if (next != &other->g) {
				hn_digit_form_copy(&other->g, next);
			}
		}
	}
}

/* Makes the guard's sum a digit, where it lies inside the loops of an element's life. */
static void make_digit(struct hn_quick_covering *v, struct hn_quick_guard *g,
		       const struct hn_digit_form **axis)
{
	struct hn_digit_space *s = &v->c->space;
	int64_t span;
	bool once;

	sort_terms(&g->g);
	if (g->g.n == 0 || g->hi == INT64_MAX || g->hi < 0 ||
	    least_depth(s, &g->g) < v->s->life || s->n_digit == s->cap_digit ||
	    !is_dense(s, &g->g, g->own, &span, &once) || !once) {
		return;
	}
	put_digit(v, g, (g->hi < span ? g->hi : span) + 1, axis);
}

/* The loop whose first digit that is; NULL: there is none around the statement. */
static const struct hn_radix *radix_from(const struct hn_quick_covering *v, uint32_t digit)
{
	const struct hn_digit_space *s = &v->c->space;

	for (uint32_t i = 0; i < v->s->n_level; i++) {
		const struct hn_node *n = v->s->level[i].node;

		if (n->kind == HN_NODE_LOOP && s->first[n->loop] == (int32_t)digit) {
			return &s->radix[n->loop];
		}
	}
	return NULL;
}

/* A guard on how far a ragged loop's first digit counts may leave whole turns of the others alone:
 * all digits are then what they would be of a loop that is not ragged. */
static void make_whole(struct hn_quick_covering *v, const struct hn_quick_guard *g,
		       const struct hn_digit_form **axis)
{
	struct hn_digit_space *s = &v->c->space;
	uint32_t first = g->g.n == 1 ? g->g.term[0].digit : 0;
	const struct hn_radix *r = g->g.n == 1 && g->g.term[0].coef == 1 ? radix_from(v, first) : NULL;

	if (r == NULL || !s->digit[first].ragged || g->hi < 0 || g->hi >= s->digit[first].range - 1 ||
	    s->digit[first].depth < v->s->life || s->n_digit + r->n_digit > s->cap_digit) {
		return;
	}
	int64_t last = g->hi; /* g names another digit when the first is put */

	for (uint32_t k = 0; k < r->n_digit; k++) {
		struct hn_quick_guard one = { .hi = k == 0 ? last : s->digit[first + k].range - 1 };

		if (s->digit[first + k].range > 1) {
			one.g.n = 1;
			one.g.term[0] = (struct hn_digit_term){ first + k, 1 };
			put_digit(v, &one, one.hi + 1, axis);
		}
	}
}

/* Loops first, then sums of few digits: others may be sums of them. */
static void make_digits(struct hn_quick_covering *v, const struct hn_digit_form **axis)
{
	for (uint32_t i = 0; i < v->n_guard; i++) {
		make_whole(v, &v->guard[i], axis);
	}
	for (uint32_t i = 0; i < v->n_guard; i++) {
		if (v->guard[i].own) {
			make_digit(v, &v->guard[i], axis);
		}
	}
	for (uint32_t n = 1; n <= HN_DIGIT_FORM_TERMS && v->n_guard > 0; n++) {
		bool more = false;

		for (uint32_t i = 0; i < v->n_guard; i++) {
			if (v->guard[i].g.n == n && !v->guard[i].made && !v->guard[i].own) {
				make_digit(v, &v->guard[i], axis);
			}
			more = more || v->guard[i].g.n > n;
		}
		if (!more) {
			return;
		}
	}
}

/* The axis without mul times the guard's sum: its interval. False when it is no part. */
static bool rest_of(struct hn_quick_covering *v, const struct hn_digit_form *axis,
		    const struct hn_quick_guard *g, int64_t *ret_mul, int64_t *ret_lo, int64_t *ret_hi)
{
	struct hn_digit_form *f = &v->form;

	if (g->g.n == 0 || !holds(axis, &g->g, ret_mul)) {
		return false;
	}
	hn_digit_form_zero(f);
	return hn_digit_form_add(axis, 1, f) && hn_digit_form_add(&g->g, -*ret_mul, f) &&
	       hn_digit_form_range(&v->c->space, f, ret_lo, ret_hi);
}

/* Whether points in the domain never fail the guard: with axis = mul * sum + rest and axis
 * <= last, the sum is at most (last - least rest) / mul, and at least what follows from first;
 * where mul < 0, first and last change places. */
static bool is_implied(struct hn_quick_covering *v, const struct hn_quick_guard *g)
{
	for (uint32_t d = 0; d < v->s->n_axis; d++) {
		const struct hn_axis *x = &v->s->op->axis[d];
		int64_t mul, lo, hi;

		if (!rest_of(v, v->s->axis[d], g, &mul, &lo, &hi)) {
			continue;
		}
		int64_t last = x->min + x->extent - 1 - lo, first = hi - x->min;
		int64_t most = hn_floordiv(mul > 0 ? last : first, mul > 0 ? mul : -mul);
		int64_t least = -hn_floordiv(mul > 0 ? first : last, mul > 0 ? mul : -mul);

		if ((g->hi == INT64_MAX || most <= g->hi) &&
		    (g->lo == INT64_MIN || least >= g->lo)) {
			return true;
		}
	}
	return false;
}

static bool guards_spare(struct hn_quick_covering *v)
{
	for (uint32_t i = 0; i < v->n_guard; i++) {
		const struct hn_quick_guard *g = &v->guard[i];
		int64_t lo = 0, hi = 0;
		bool always = hn_digit_form_range(&v->c->space, &g->g, &lo, &hi) && lo >= g->lo &&
			      hi <= g->hi;

		if (!g->own && !g->made && !always && !is_implied(v, g)) {
			return hn_quick_refuse(v->c, v->s,
					       "a guard may leave out a point that is needed");
		}
	}
	return true;
}

/* Axis d inside [first, last], by its digits or by a guard. */
static bool in_domain(struct hn_quick_covering *v, uint32_t d)
{
	const struct hn_digit_form *f = v->s->axis[d];
	int64_t first = v->s->op->axis[d].min, last = first + v->s->op->axis[d].extent - 1;
	int64_t lo, hi;

	if (!hn_digit_form_range(&v->c->space, f, &lo, &hi)) {
		return false;
	}
	for (uint32_t i = 0; i < v->n_guard && (lo < first || hi > last); i++) {
		const struct hn_quick_guard *g = &v->guard[i];
		int64_t mul, rest_lo, rest_hi;

		if (!rest_of(v, v->s->raw[d], g, &mul, &rest_lo, &rest_hi) &&
		    !rest_of(v, f, g, &mul, &rest_lo, &rest_hi)) {
			continue;
		}
		int64_t times = mul > 0 ? mul : -mul;
		bool has_lo = g->lo > -HN_EXTENT_MAX / times, has_hi = g->hi < HN_EXTENT_MAX / times;

		if ((mul > 0 ? has_hi : has_lo) && mul * (mul > 0 ? g->hi : g->lo) + rest_hi < hi) {
			hi = mul * (mul > 0 ? g->hi : g->lo) + rest_hi;
		}
		if ((mul > 0 ? has_lo : has_hi) && mul * (mul > 0 ? g->lo : g->hi) + rest_lo > lo) {
			lo = mul * (mul > 0 ? g->lo : g->hi) + rest_lo;
		}
	}
	return lo >= first && hi <= last;
}

static bool in_buffer(struct hn_quick_covering *v, uint32_t d)
{
	const struct hn_buffer *b = &v->c->tree->buffer[v->s->node->stage];
	const struct hn_axis *x = &v->s->op->axis[d];
	struct hn_digit_form *f = &v->form;

	if (b->min[d]->op == HN_EXPR_INT && b->min[d]->u.i <= x->min &&
	    b->min[d]->u.i + b->extent[d] >= x->min + x->extent) {
		return true; /* it holds the whole domain */
	}
	hn_digit_form_zero(f);
	return hn_digit_form_add(v->s->axis[d], 1, f) &&
	       hn_digit_form_add_expr(&v->c->space, b->min[d], NULL, -1, f) &&
	       hn_digit_form_within(&v->c->space, f, 0, b->extent[d] - 1);
}

/* Marks the plain digits of the form; false when one has been. */
static bool mark(const struct hn_digit_space *s, const struct hn_digit_form *f, bool *seen)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_digit *d = &s->digit[f->term[i].digit];

		if (d->of ? !mark(s, d->of, seen) : seen[f->term[i].digit]) {
			return false;
		}
		seen[f->term[i].digit] = true;
	}
	return true;
}

/* Splits axis d in base and inner part. */
static bool split_axis(struct hn_quick_covering *v, uint32_t d, bool *seen, bool *once,
		       const struct hn_digit_form **ret_base, int64_t *ret_span)
{
	const struct hn_digit_space *s = &v->c->space;
	const struct hn_digit_form *f = v->s->axis[d];
	const struct hn_axis *x = &v->s->op->axis[d];
	struct hn_digit_form inner, *base = &v->form;
	bool this_once;

	hn_digit_form_zero(&inner);
	hn_digit_form_zero(base);
	base->lo = base->hi = f->lo;
	for (uint32_t i = 0; i < f->n; i++) {
		struct hn_digit_form *to =
			s->digit[f->term[i].digit].depth < v->s->life ? base : &inner;

		to->term[to->n++] = f->term[i];
	}
	sort_terms(&inner);
	if (!is_dense(s, &inner, false, ret_span, &this_once) || !mark(s, &inner, seen)) {
		return false;
	}
	*once = *once && this_once;
	*ret_base = hn_digit_form_keep(base, v->c->arena);
	bool output = v->c->tree->buffer[v->s->node->stage].lifetime == HN_LIFETIME_ARG;
	bool all = output || d >= v->s->op->n_spatial;

	return !all || (base->n == 0 && base->lo <= x->min &&
			base->lo + *ret_span >= x->min + x->extent - 1);
}

/* Every loop of the statement below the life of its elements is part of some axis. */
static bool all_loops_count(const struct hn_quick_covering *v, const bool *seen)
{
	const struct hn_digit_space *s = &v->c->space;

	for (uint32_t i = 0; i < v->s->n_level; i++) {
		const struct hn_node *n = v->s->level[i].node;

		if (n->kind != HN_NODE_LOOP) {
			continue;
		}
		for (uint32_t k = 0; k < s->radix[n->loop].n_digit; k++) {
			uint32_t d = (uint32_t)s->first[n->loop] + k;

			if (s->digit[d].depth >= v->s->life && s->digit[d].range > 1 &&
			    !seen[d]) {
				return false;
			}
		}
	}
	return true;
}

static bool covers(struct hn_quick_covering *v)
{
	struct hn_quick_stmt *s = v->s;
	bool *seen = HN_NEW_ARRAY(v->c->arena, bool, v->c->space.cap_digit);
	const struct hn_digit_form **base =
		HN_NEW_ARRAY(v->c->arena, const struct hn_digit_form *, s->n_axis);
	int64_t *span = HN_NEW_ARRAY(v->c->arena, int64_t, s->n_axis);
	bool once = true;

	for (uint32_t d = 0; d < s->n_axis; d++) {
		if (!split_axis(v, d, seen, &once, &base[d], &span[d])) {
			return hn_quick_refuse(v->c, s, "it may leave out an element");
		}
	}
	s->base = base;
	s->span = span;
	if (s->node->stmt == HN_STMT_UPDATE && !(once && all_loops_count(v, seen))) {
		return hn_quick_refuse(v->c, s, "a point of its reduction may count twice");
	}
	return true;
}

bool hn_quick_cover(struct hn_quick_check *c, struct hn_quick_stmt *s)
{
	const struct hn_digit_form **raw =
		HN_NEW_ARRAY(c->arena, const struct hn_digit_form *, s->n_axis);
	const struct hn_digit_form **axis =
		HN_NEW_ARRAY(c->arena, const struct hn_digit_form *, s->n_axis);
	struct hn_quick_covering v;

	v.c = c;
	v.s = s;
	v.n_guard = 0;
	for (uint32_t d = 0; d < s->n_axis; d++) {
		hn_digit_form_zero(&v.form);
		if (!s->node->axis[d] ||
		    !hn_digit_form_add_expr(&c->space, s->node->axis[d], NULL, 1, &v.form) ||
		    v.form.lo != v.form.hi) {
			return hn_quick_refuse(c, s, "an axis is no sum of its loops");
		}
		raw[d] = axis[d] = hn_digit_form_keep(&v.form, c->arena);
	}
	s->raw = raw;
	s->axis = axis;
	if (!hn_quick_read_guards(&v)) {
		return false;
	}
	hn_quick_bound_ragged(&v);
	make_digits(&v, axis);
	for (uint32_t d = 0; d < s->n_axis; d++) {
		if (!in_domain(&v, d)) {
			return hn_quick_refuse(c, s, "it may compute points outside its domain");
		}
		if (d < s->op->n_spatial && !in_buffer(&v, d)) {
			return hn_quick_refuse(c, s, "it may write outside its buffer");
		}
	}
	return guards_spare(&v) && covers(&v);
}
