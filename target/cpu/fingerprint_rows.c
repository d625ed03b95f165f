/* target/cpu/fingerprint_rows.c -- hashes all that the code of a nest depends on, besides its
 * loops.
 *
 * For an access this is its offset, whatever the shape of the tensor and its axes: [64][1][16]
 * is [64][16]. Axes matter where they are values themselves, mostly in conditions. If an offset
 * is no sum of loops, the rows of its axes are used instead.
 */
#include "target/cpu/fingerprint_int.h"

/* -- axes ---------------------------------------------------------------------------------- */

struct find {
	struct nest *x;
	bool compared; /* in the expression that is being visited */
};

static void find_axis(const struct hn_expr *e, struct find *f)
{
	if (e->op == HN_EXPR_VAR && (uint32_t)e->ref < f->x->n_axis) {
		f->x->number[e->ref] = 1;
		f->x->compared[e->ref] |= f->compared;
	}
}

/* Comparisons of indices are judged over the whole tile (lower/cpu/emit_cond.c). */
static void find_in(const struct hn_expr *e, struct find *f)
{
	bool compares = e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE &&
			hn_linear_is_index(e->arg[0], f->x->n_axis) &&
			hn_linear_is_index(e->arg[1], f->x->n_axis);
	struct find inside = { f->x, f->compared || compares };

	f->x->choices |= e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_IF;
	find_axis(e, f);
	for (uint32_t i = 0; i < e->n_arg && e->op != HN_EXPR_LOAD; i++) {
		find_in(e->arg[i], &inside);
	}
}

static void find_in_one(const struct hn_expr *e, void *ctx)
{
	find_in(e, ctx);
}

void hn_print_find_axes(struct writer *w, struct nest *x)
{
	struct find f = { x, false };
	int32_t n = 0;

	x->n_axis = x->n.op->n_spatial + x->n.op->n_reduce;
	x->compared = HN_NEW_ARRAY(w->a, bool, x->n_axis + 1);
	x->number = HN_NEW_ARRAY(w->a, int32_t, x->n_axis + 1);
	x->choices = x->n.stmt->n_guard > 0 ||
		     (x->n.stmt->stmt == HN_STMT_UPDATE && x->n.op->reduce->condition);
	hn_nest_exprs(&x->n, find_in_one, &f);
	for (uint32_t k = 0; k < x->n_axis; k++) {
		x->number[k] = x->number[k] ? ++n : 0;
	}
}

/* -- rows ---------------------------------------------------------------------------------- */

enum { OFFSET = -7, AXIS = -8 }; /* kinds; a guard's is its operator */

static bool add_row(struct nest *x, int64_t kind, bool compares, bool sum)
{
	x->row[x->n_row].kind = kind;
	x->row[x->n_row++].compares = compares;
	return sum;
}

static bool add_offsets(struct writer *w, struct nest *x)
{
	bool sums = true;

	for (uint32_t k = 0; k <= x->n.n_load && sums; k++) {
		sums = add_row(x, OFFSET, false,
			       hn_nest_offset(w->t, &x->n, &w->loops, k,
					      &x->row[x->n_row].x));
	}
	return sums;
}

static bool add_axes(struct writer *w, struct nest *x, bool all)
{
	bool sums = true;

	for (uint32_t k = 0; k < x->n_axis && sums; k++) {
		const struct hn_expr *e = x->n.stmt->axis[k];

		if (e && (all || x->number[k])) {
			sums = add_row(x, AXIS, x->compared[k],
				       hn_nest_linear(w->t, &x->n, &w->loops, e, NULL,
						      &x->row[x->n_row].x));
		}
	}
	return sums;
}

static bool add_guards(struct writer *w, struct nest *x)
{
	const struct hn_node *s = x->n.stmt;
	bool sums = true;

	for (uint32_t k = 0; k < s->n_guard && sums; k++) {
		const struct hn_expr *g = s->guard[k];

		sums = g->op >= HN_EXPR_EQ && g->op <= HN_EXPR_GE &&
		       add_row(x, g->op, true,
			       hn_nest_linear(w->t, &x->n, &w->loops, g->arg[0], g->arg[1],
					      &x->row[x->n_row].x));
	}
	return sums;
}

bool hn_print_find_rows(struct writer *w, struct nest *x)
{
	uint32_t n = x->n.n_loop, most = 1 + x->n.n_load + x->n_axis + x->n.stmt->n_guard;
	bool by_axes;

	x->n_row = 0;
	x->row = HN_NEW_ARRAY(w->a, struct row, most);
	x->coef = HN_NEW_ARRAY(w->a, int64_t, (size_t)most * n + 1);
	by_axes = !add_offsets(w, x);
	w->by_axes |= by_axes;
	x->n_row = by_axes ? 0 : x->n_row;
	if (!add_axes(w, x, by_axes) || !add_guards(w, x)) {
		return false;
	}
	for (uint32_t k = 0; k < x->n_row; k++) {
		for (uint32_t i = 0; i < x->row[k].x.n; i++) {
			int32_t loop = hn_nest_loop_of(&x->n, &x->row[k].x.t[i]);

			if (loop >= 0) {
				x->coef[k * n + (uint32_t)loop] = x->row[k].x.t[i].coef;
			}
		}
	}
	return true;
}

/* -- what is computed ---------------------------------------------------------------------- */

struct put {
	struct writer *w;
	const struct nest *x;
};

static void put_value(const struct hn_expr *e, void *ctx)
{
	struct put *p = ctx;
	bool axis = e->op == HN_EXPR_VAR && (uint32_t)e->ref < p->x->n_axis;

	uint32_t n_arg = e->op == HN_EXPR_LOAD ? 0 : e->n_arg;

	hn_print_leaf(p->w, e, axis ? -p->x->number[e->ref] : e->ref, n_arg);
	for (uint32_t i = 0; i < n_arg; i++) {
		put_value(e->arg[i], ctx);
	}
}

void hn_print_body(struct writer *w, const struct nest *x)
{
	struct put p = { w, x };

	hn_print_number(w, x->n.stmt->stage);
	hn_print_number(w, x->n.stmt->stmt);
	hn_print_number(w, x->n.op->reduce ? (int)x->n.op->reduce->kind : -1);
	hn_nest_exprs(&x->n, put_value, &p);
}
