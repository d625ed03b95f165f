/* lower/cpu/emit_guard.c -- conditions that hold in a whole register tile.
 *
 * Guards (of lengths that do not divide), conditions of reductions, and the pads inside a body
 * compare indices. A tile is a box of points and reduction iterations. Over a box, a comparison
 * of linear forms is worst at a corner: if it holds there, it holds everywhere. Such comparisons
 * are facts, and code under them has no mask and no branch. Comparisons that depend on the place
 * of the tile are tested once for it (emit_edge).
 */
#include "lower/cpu/emit_nest.h"

#define MAX_TRIED 1024 /* points looked at one by one where a form is not linear */

/* A loop whose iterations [0, count) lie in the tile, counted from its first. */
struct span {
	struct emit_var *var;
	int64_t first, count;
};

struct box {
	uint32_t n;
	struct span *span;
};

struct finder {
	struct emit *e;
	struct emit_facts *facts;
	bool op_space;
	uint32_t cap;
};

static void enter_space(struct emit *e, const struct emit_nest *n, bool op_space)
{
	e->axis = op_space ? n->stmt->axis : NULL;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
}

bool hn_emit_is_fact(const struct emit *e, const struct hn_expr *x)
{
	for (uint32_t i = 0; i < e->n_fact; i++) {
		if (e->fact[i].x == x && e->fact[i].op_space == (e->axis != NULL)) {
			return true;
		}
	}
	return false;
}

/* -- comparisons ----------------------------------------------------------------------- */

/* Divisors are constants: evaluating it is safe anywhere. */
static bool harmless(const struct hn_expr *x)
{
	bool divides = x->op == HN_EXPR_DIV || x->op == HN_EXPR_TRUNCMOD ||
		       x->op == HN_EXPR_FLOORDIV || x->op == HN_EXPR_FLOORMOD;

	if (divides && (x->arg[1]->op != HN_EXPR_INT || x->arg[1]->u.i <= 0)) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_arg; i++) {
		if (!harmless(x->arg[i])) {
			return false;
		}
	}
	return true;
}

static void find_comparison(const struct hn_expr *x, void *ctx)
{
	struct finder *f = ctx;
	struct emit *e = f->e;

	if (!hn_emit_compares_indices(e, x) || x->op < HN_EXPR_LT || !harmless(x)) {
		return;
	}
	for (uint32_t i = 0; i < f->facts->n; i++) {
		if (f->facts->fact[i].x == x &&
		    f->facts->fact[i].op_space == f->op_space) {
			return;
		}
	}
	f->facts->fact = hn_arena_grow(e->a, f->facts->fact, f->facts->n, &f->cap,
				       sizeof(*f->facts->fact));
	f->facts->fact[f->facts->n++] = (struct emit_fact){ x, f->op_space };
}

void hn_emit_find_comparisons(struct emit *e, const struct emit_nest *n,
			      struct emit_facts *facts)
{
	const struct hn_node *s = n->stmt;
	const struct hn_reduce *r = n->op->reduce;
	struct finder f = { e, facts, false, 0 };

	*facts = (struct emit_facts){ 0 };
	enter_space(e, n, false);
	for (uint32_t i = 0; i < s->n_guard; i++) {
		hn_expr_visit(s->guard[i], find_comparison, &f);
	}
	enter_space(e, n, true);
	f.op_space = true;
	for (uint32_t k = 0; s->stmt == HN_STMT_COMPUTE && k < n->op->n_out; k++) {
		hn_expr_visit(n->op->body[k], find_comparison, &f);
	}
	for (uint32_t k = 0; s->stmt == HN_STMT_UPDATE && k < r->n; k++) {
		hn_expr_visit(r->source[k], find_comparison, &f);
	}
	if (s->stmt == HN_STMT_UPDATE && r->condition) {
		hn_expr_visit(r->condition, find_comparison, &f);
	}
	enter_space(e, n, false);
}

/* -- the worst point --------------------------------------------------------------------- */

/* x is a sum of multiples of loop variables. */
static bool is_linear(const struct hn_expr *x, const struct hn_expr *const *axis)
{
	switch (x->op) {
	case HN_EXPR_INT:
		return true;
	case HN_EXPR_VAR:
		return hn_expr_is_size(x) || !axis || !axis[x->ref] || is_linear(axis[x->ref], NULL);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return is_linear(x->arg[0], axis) && is_linear(x->arg[1], axis);
	case HN_EXPR_MUL:
		return (x->arg[0]->op == HN_EXPR_INT && is_linear(x->arg[1], axis)) ||
		       (x->arg[1]->op == HN_EXPR_INT && is_linear(x->arg[0], axis));
	default:
		return false;
	}
}

/* The loops of the tile that the comparison depends on. */
static struct box box_of(struct emit *e, const struct emit_nest *n,
			 const struct hn_expr *x)
{
	struct box b = { 0, HN_NEW_ARRAY(e->a, struct span, n->n_dim + 1) };

	for (uint32_t i = 0; i < n->n_dim; i++) {
		const struct emit_dim *d = &n->dim[i];
		bool inner = d->reduce && i >= n->tile;
		int64_t count = inner ? d->extent : d->reduce ? 1 : d->now;

		if (count > 1 && hn_emit_uses_loop(e, x, d->loop)) {
			b.span[b.n++] = (struct span){ &e->var[d->loop],
						       inner ? 0 : d->base, count };
		}
	}
	return b;
}

static void take_worse(int64_t c, bool low, int64_t *worst)
{
	*worst = low == (c < *worst) ? c : *worst;
}

/* At one corner of the box. */
static bool worst_corner(struct emit *e, const struct box *b, const struct hn_expr *x,
			 bool low, struct hn_linear *ret)
{
	int64_t worst;
	struct hn_linear y;

	hn_emit_difference(e, x, 0, ret);
	worst = ret->c;
	for (uint32_t i = 0; i < b->n; i++) {
		b->span[i].var->add = b->span[i].first + 1;
		e->epoch++;
		hn_emit_difference(e, x, 0, &y);
		b->span[i].var->add = b->span[i].first;
		if (!hn_linear_same_terms(ret, &y)) {
			return false;
		}
		take_worse(worst + (y.c - ret->c) * (b->span[i].count - 1), low, &worst);
	}
	ret->c = worst;
	return true;
}

/* At any point of the box, when there are few. */
static bool worst_of_all(struct emit *e, const struct box *b, const struct hn_expr *x,
			 bool low, struct hn_linear *ret)
{
	int64_t points = 1;
	struct hn_linear y;

	for (uint32_t i = 0; i < b->n; i++) {
		points *= b->span[i].count;
		if (points > MAX_TRIED) {
			return false;
		}
	}
	hn_emit_difference(e, x, 0, ret);
	for (int64_t p = 1; p < points; p++) {
		int64_t rest = p;

		for (uint32_t i = 0; i < b->n; i++) {
			b->span[i].var->add = b->span[i].first + rest % b->span[i].count;
			rest /= b->span[i].count;
		}
		e->epoch++;
		hn_emit_difference(e, x, 0, &y);
		if (!hn_linear_same_terms(ret, &y)) {
			return false;
		}
		take_worse(y.c, low, &ret->c);
	}
	return true;
}

static bool worst_point(struct emit *e, const struct emit_nest *n,
			const struct emit_fact *f, bool low, struct hn_linear *ret)
{
	bool linear, found;

	enter_space(e, n, f->op_space);
	struct box b = box_of(e, n, f->x);

	for (uint32_t i = 0; i < b.n; i++) {
		b.span[i].var->lane = NULL;
		b.span[i].var->add = b.span[i].first;
	}
	e->epoch++;
	linear = is_linear(f->x->arg[0], e->axis) && is_linear(f->x->arg[1], e->axis);
	found = linear ? worst_corner(e, &b, f->x, low, ret)
		       : worst_of_all(e, &b, f->x, low, ret);
	for (uint32_t i = 0; i < b.n; i++) {
		b.span[i].var->add = b.span[i].first;
	}
	e->epoch++;
	enter_space(e, n, false);
	return found;
}

/* The value of the form's one term at which alone `form op 0` does not hold: a loop's last
 * block, or its first. */
static struct hn_linear_known fails_at(uint8_t op, const struct hn_linear *form)
{
	const struct hn_linear_term *t = &form->t[0];

	for (int at_lo = 0; form->n == 1 && at_lo < 2; at_lo++) {
		int64_t v = at_lo ? t->lo : t->hi, beside = at_lo ? v + 1 : v - 1;
		int64_t d = form->c + t->coef * v, next = form->c + t->coef * beside;

		if (hn_emit_decide(op, d, d) == 0 && hn_emit_decide(op, next, next)) {
			return (struct hn_linear_known){ t->v, v };
		}
	}
	return (struct hn_linear_known){ 0 };
}

LLVMValueRef hn_emit_holds_everywhere(struct emit *e, const struct emit_nest *n,
				      const struct emit_fact *f,
				      struct hn_linear_known *ret_edge)
{
	uint8_t op = f->x->op;
	struct hn_linear x;

	*ret_edge = (struct hn_linear_known){ 0 };
	if (!worst_point(e, n, f, op == HN_EXPR_GE || op == HN_EXPR_GT, &x)) {
		return NULL;
	}
	int known = hn_emit_judge(op, &x);

	if (known >= 0) {
		return LLVMConstInt(e->i1, (unsigned)known, 0);
	}
	*ret_edge = fails_at(op, &x);
	return hn_emit_test(e, op, &x);
}

/* -- border and interior ------------------------------------------------------------------
 */

/* The comparison depends on dim i's loop and on reduction loops inside the tile alone. */
static bool of_one_loop(struct emit *e, const struct emit_nest *n, uint32_t i,
			const struct emit_fact *f)
{
	bool uses = false, others = false;

	enter_space(e, n, f->op_space);
	for (uint32_t k = 0; k < n->n_dim; k++) {
		const struct emit_dim *d = &n->dim[k];
		bool inner = d->reduce && k >= n->tile;

		if (d->extent > 1 && !inner && hn_emit_uses_loop(e, f->x, d->loop)) {
			uses = uses || k == i;
			others = others || k != i;
		}
	}
	enter_space(e, n, false);
	return uses && !others;
}

/* Whether all the comparisons hold for every reduction iteration where dim i is at v. */
static bool holds_at(struct emit *e, const struct emit_nest *n, uint32_t i, int64_t v,
		     const struct emit_facts *all)
{
	bool holds = true;

	e->var[n->dim[i].loop] = (struct emit_var){ .add = v };
	for (uint32_t k = 0; k < all->n && holds; k++) {
		struct hn_linear_known edge;
		LLVMValueRef c = hn_emit_holds_everywhere(e, n, &all->fact[k], &edge);

		holds = c && LLVMIsAConstantInt(c) && LLVMConstIntGetZExtValue(c);
	}
	e->var[n->dim[i].loop] = (struct emit_var){ 0 };
	return holds;
}

#define MAX_BORDER 8 /* iterations at either end that become tiles of their own */

bool hn_emit_find_interior(struct emit *e, const struct emit_nest *n, uint32_t i,
			   int64_t *begin, int64_t *end)
{
	struct emit_facts all = { 0 };
	int64_t extent = n->dim[i].extent, lo = 0, hi = extent;
	uint32_t kept = 0;

	*begin = 0;
	*end = extent;
	hn_emit_find_comparisons(e, n, &all);
	for (uint32_t k = 0; k < all.n; k++) {
		if (of_one_loop(e, n, i, &all.fact[k])) {
			all.fact[kept++] = all.fact[k];
		}
	}
	all.n = kept;
	while (kept && lo < hi && lo <= MAX_BORDER && !holds_at(e, n, i, lo, &all)) {
		lo++;
	}
	while (kept && lo < hi && extent - hi <= MAX_BORDER &&
	       !holds_at(e, n, i, hi - 1, &all)) {
		hi--;
	}
	if (lo > MAX_BORDER || extent - hi > MAX_BORDER || hi - lo < extent / 2 ||
	    hi - lo == extent) {
		return false;
	}
	*begin = lo;
	*end = hi;
	return true;
}
