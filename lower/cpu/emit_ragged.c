/* lower/cpu/emit_ragged.c -- reduction loops that end where the reduction's condition says.
 *
 * A part `k < end` of a condition (loopstate/dag/ragged.h) holds in the first iterations of k's
 * loop.  How many these are is computed once, before the loop: in the first `full` it holds at
 * every point of the tile, from `live` on at none.  So the loop needs no test where the points
 * agree, as in a window of a pooling, and few of its iterations need masks where they do not, as
 * along the diagonal of a triangle.  What size parameters end is emit_live.c's.
 */
#include "lower/cpu/emit_nest.h"

#include "loopstate/expr/simplify.h"

#define MOST_FORMS 8   /* ends in a tile that differ by more than a constant */
#define MOST_COPIES 2  /* loops around that have a form for each part already */
#define MOST_POINTS 64 /* points in a body that may be copied */

/* An i64 and where it is known. */
struct count {
	LLVMValueRef v;
	int32_t depth;
};

static struct count combine(struct emit *e, enum hn_expr_op op, struct count x, struct count y)
{
	struct count r = { .depth = x.depth > y.depth ? x.depth : y.depth };

	if (!x.v || !y.v) {
		return x.v ? x : y;
	}
	r.v = hn_emit_place(e, HN_LINEAR_EXPR + op, x.v, y.v, r.depth);
	return r;
}

/* How a part of the condition depends on the loops, read as `less < more` or `less <= more`. */
struct part {
	int64_t sign;	     /* -1: it is written the other way round */
	int64_t slack;	     /* 1 of <= */
	int64_t coef;	     /* of the loop that it ends, in less - more; > 0 */
	int64_t least, most; /* what the loops inside add to that */
	uint32_t n_form;
	struct {
		struct hn_linear x; /* less - more at some points; c aside */
		int64_t lo, hi;	    /* c */
	} form[MOST_FORMS];
};

static bool coefficient(const struct hn_expr *g, int32_t loop, int64_t *ret)
{
	int64_t x, y;
	bool linear = hn_expr_linear(g->arg[0], loop, &x) && hn_expr_linear(g->arg[1], loop, &y);

	*ret = linear ? x - y : 0;
	return linear;
}

/* The part in loop space; NULL where an axis has no place there. */
static const struct hn_expr *in_loops(struct emit *e, const struct emit_nest *n,
				      const struct hn_expr *g)
{
	uint32_t n_axis = n->op->n_spatial + n->op->n_reduce;

	for (uint32_t i = 0; i < n_axis; i++) {
		if (hn_expr_uses(g, (int32_t)i) && !n->stmt->axis[i]) {
			return NULL;
		}
	}
	return hn_expr_substitute(g, n->stmt->axis, n_axis, e->a);
}

static bool read_loops(struct emit *e, const struct emit_nest *n, uint32_t i,
		       const struct hn_expr *g, struct part *ret)
{
	const struct hn_expr *x = in_loops(e, n, g);
	int64_t c;

	if (!x || x->n_arg != 2 || !coefficient(x, n->dim[i].loop, &c)) {
		return false;
	}
	ret->coef = c * ret->sign;
	if (ret->coef <= 0) {
		return false;
	}
	for (uint32_t k = 0; k < n->n_dim; k++) {
		const struct emit_dim *d = &n->dim[k];

		/* the loop whose iterations are lanes runs inside of all */
		if (!d->reduce || k == i || (k < i && d != n->across)) {
			continue;
		}
		if (!coefficient(x, d->loop, &c)) {
			return false;
		}
		c *= ret->sign * (d->extent - 1);
		ret->least += c < 0 ? c : 0;
		ret->most += c > 0 ? c : 0;
	}
	return true;
}

static bool add_form(struct part *r, const struct hn_linear *x)
{
	uint32_t i = 0;

	while (i < r->n_form && !hn_linear_same_terms(&r->form[i].x, x)) {
		i++;
	}
	if (i == MOST_FORMS) {
		return false;
	}
	if (i == r->n_form) {
		r->form[r->n_form].x = *x;
		r->form[r->n_form].lo = r->form[r->n_form].hi = x->c;
		r->n_form++;
	}
	r->form[i].lo = x->c < r->form[i].lo ? x->c : r->form[i].lo;
	r->form[i].hi = x->c > r->form[i].hi ? x->c : r->form[i].hi;
	return true;
}

/* The forms of all points, with the loop and those inside of it at 0. */
static bool read_points(struct emit *e, struct emit_nest *n, const struct hn_expr *g,
			struct part *r)
{
	uint32_t n_point = hn_emit_count_points(n);
	bool ok = true;

	for (uint32_t p = 0; p < n_point && ok; p++) {
		hn_emit_set_point(e, n, p);
		for (uint32_t k = 0; k < e->n_active && ok; k++) {
			struct hn_linear x, y = { 0 };

			hn_emit_difference(e, g, k, &x);
			hn_linear_add(&e->lin, &y, &x, r->sign);
			ok = add_form(r, &y);
		}
	}
	hn_emit_no_point(e, n);
	return ok;
}

/* Iterations in which the part holds at every point (worst), or at some. */
static struct count iterations(struct emit *e, const struct part *r, const struct emit_dim *d,
			       bool worst)
{
	struct count all = { 0 };

	for (uint32_t i = 0; i < r->n_form; i++) {
		struct hn_linear y = { 0 };
		struct count n;

		/* x + inside + coef * l < slack  <=>  l < ceil((slack - x - inside) / coef) */
		hn_linear_add(&e->lin, &y, &r->form[i].x, -1);
		y.c = r->coef - 1 + r->slack - (worst ? r->form[i].hi + r->most : r->form[i].lo + r->least);
		n.v = hn_linear_value(&e->lin, &y, &n.depth);
		all = combine(e, worst ? HN_EXPR_MIN : HN_EXPR_MAX, all, n);
	}
	all = combine(e, HN_EXPR_MAX, all, (struct count){ hn_emit_const(e, 0), 0 });
	if (r->coef > 1) {
		all.v = hn_emit_place(e, HN_LINEAR_DIV, all.v, hn_emit_const(e, r->coef),
				      all.depth);
	}
	return combine(e, HN_EXPR_MIN, all, (struct count){ hn_emit_const(e, d->extent), 0 });
}

static bool read_part(struct emit *e, struct emit_nest *n, uint32_t i, const struct hn_expr *g,
		      struct part *ret)
{
	bool less = g->op == HN_EXPR_LT || g->op == HN_EXPR_LE, ok;

	*ret = (struct part){ .sign = less ? 1 : -1,
			      .slack = g->op == HN_EXPR_LE || g->op == HN_EXPR_GE };
	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
	ok = g->op >= HN_EXPR_LT && hn_emit_compares_indices(e, g) && !hn_emit_is_fact(e, g) &&
	     hn_emit_uses_loop(e, g, n->dim[i].loop) && read_loops(e, n, i, g, ret) &&
	     read_points(e, n, g, ret);
	e->axis = NULL;
	return ok;
}

/* Iterations emitted one after the other in the body of dims i and inwards, at all points. */
static int64_t copies(struct emit_nest *n, uint32_t i)
{
	int64_t copies = hn_emit_count_points(n);

	for (uint32_t k = i; k < n->n_dim; k++) {
		copies *= n->dim[k].reduce ? n->dim[k].block : 1;
	}
	return copies;
}

bool hn_emit_ragged_trips(struct emit *e, struct emit_nest *n, uint32_t i,
			  struct emit_ragged *ret)
{
	bool copy = n->zero_copies < MOST_COPIES && copies(n, i) <= MOST_POINTS;
	struct count full = { 0 }, live = { 0 };
	struct part r;

	*ret = (struct emit_ragged){ .exact = true };
	for (uint32_t k = 0; k < n->n_within; k++) {
		uint64_t bit = UINT64_C(1) << k;

		if (n->zero_true & bit || !read_part(e, n, i, n->zero[k], &r)) {
			continue;
		}
		ret->holds |= bit;
		ret->exact = ret->exact && r.n_form == 1 && r.form[0].lo == r.form[0].hi &&
			     r.least == r.most;
		full = combine(e, HN_EXPR_MIN, full, iterations(e, &r, &n->dim[i], true));
		live = combine(e, HN_EXPR_MIN, live, iterations(e, &r, &n->dim[i], false));
	}
	if (!full.v) {
		return false;
	}
	ret->live = live.v;
	ret->full = ret->exact || copy ? full.v : NULL;
	ret->depth = full.depth > live.depth ? full.depth : live.depth;
	return true;
}
