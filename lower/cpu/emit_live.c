/* lower/cpu/emit_live.c -- how far loops run if their extents are size parameters.
 *
 * The tree's loops have the extents of the largest sizes, with guards `form of loops < form of
 * sizes` (loopstate/dag/size.h). A guard holds for the first iterations of a loop. Let c be the
 * guard's coefficient of the loop. Iterations below ceil((sizes - other loops) / c) are alive:
 * the guard can hold there, with the inner loops at their least or at their largest. This number
 * is computed once, outside of the loop. A loop that enters a guard in another way, like a fused
 * one, runs in full, and the loops in it do not run where it is dead.
 *
 * A tile that ends past the last point computes the last point again, without a mask, and does
 * not store it.
 */
#include "lower/cpu/emit_nest.h"

#include "loopstate/dag/size.h"
#include "loopstate/expr/simplify.h"

/* An i64 and where it is known; v NULL = the loop's extent. */
struct count {
	LLVMValueRef v;
	int32_t depth;
};

bool hn_emit_is_size_guard(const struct emit *e, const struct hn_expr *g)
{
	return (g->op == HN_EXPR_LT || g->op == HN_EXPR_LE) && hn_expr_uses_size(g) &&
	       hn_emit_compares_indices(e, g);
}

/* Coefficient of a loop in the difference of the guard's sides. */
static bool coefficient(const struct hn_expr *g, int32_t loop, int64_t *ret)
{
	int64_t x, y;
	bool linear = hn_expr_linear(g->arg[0], loop, &x) &&
		      hn_expr_linear(g->arg[1], loop, &y);

	*ret = linear ? x - y : 0;
	return linear;
}

static struct count combine(struct emit *e, enum hn_expr_op op, struct count x,
			    struct count y)
{
	struct count r = { .depth = x.depth > y.depth ? x.depth : y.depth };

	r.v = hn_emit_place(e, HN_LINEAR_EXPR + op, x.v, y.v, r.depth);
	return r;
}

static struct count constant(const struct emit *e, int64_t v)
{
	return (struct count){ hn_emit_const(e, v), 0 };
}

/* A loop that runs inside of the one that is asked about: iterations from where it stands. */
struct inside {
	int32_t loop;
	int64_t extent;
};

/* Iterations of the loop for which guard g holds with the loops inside it (inner[]) at their
 * best, or their worst; false when g does not bound them so.  *ret_inner: it uses these. */
static bool guard_count(struct emit *e, const struct hn_expr *g,
			const struct hn_node *loop, const struct inside *inner,
			uint32_t n_inner, bool worst, struct count *ret, bool *ret_inner)
{
	struct emit_var saved = e->var[loop->loop];
	struct hn_linear x, y = { 0 };
	int32_t lane = e->lane;
	int64_t c, k, most = 0;
	struct count n;

	*ret_inner = false;
	if (!coefficient(g, loop->loop, &c) || c <= 0) {
		return false;
	}
	for (uint32_t i = 0; i < n_inner; i++) {
		if (!coefficient(g, inner[i].loop, &k)) {
			return false;
		}
		*ret_inner = *ret_inner || k != 0;
		if ((k > 0) == worst) {
			most += k * (inner[i].extent - 1);
		}
	}
	e->lane = 0;
	e->var[loop->loop] = (struct emit_var){ 0 };
	e->epoch++;
	hn_emit_difference(e, g, 0, &x);
	e->var[loop->loop] = saved;
	e->lane = lane;
	e->epoch++;
	/* x + most + c * l < 0  <=>  l < ceil(-(x + most) / c) */
	hn_linear_add(&e->lin, &y, &x, -1);
	y.c += c - 1 - most + (g->op == HN_EXPR_LE);
	n.v = hn_linear_value(&e->lin, &y, &n.depth);
	n = combine(e, HN_EXPR_MAX, n, constant(e, 0));
	if (c > 1) {
		n.v = hn_emit_place(e, HN_LINEAR_DIV, n.v, hn_emit_const(e, c), n.depth);
	}
	*ret = combine(e, HN_EXPR_MIN, n, constant(e, loop->extent));
	return true;
}

#define MOST_INNER 128

struct walk {
	struct emit *e;
	const struct hn_node *loop;
	struct inside inner[MOST_INNER];
	uint32_t n_inner;
	struct count all; /* of the statements so far */
	bool any, bounded; /* seen a statement; all of them are bounded */
};

/* Variables of inner loops are at 0 while the guards outside of them are asked. */
static void visit_statement(struct walk *w, const struct hn_node *stmt)
{
	struct count least = { 0 };
	bool inner;

	for (uint32_t i = 0; i < stmt->n_guard; i++) {
		struct count n;

		if (hn_emit_is_size_guard(w->e, stmt->guard[i]) &&
		    guard_count(w->e, stmt->guard[i], w->loop, w->inner, w->n_inner,
				false, &n, &inner)) {
			least = least.v ? combine(w->e, HN_EXPR_MIN, least, n) : n;
		}
	}
	w->bounded = w->bounded && least.v;
	if (w->bounded) {
		w->all = w->any ? combine(w->e, HN_EXPR_MAX, w->all, least) : least;
	}
	w->any = true;
}

static void visit(struct walk *w, const struct hn_node *node)
{
	if (!w->bounded) {
		return;
	}
	if (node->init) {
		visit(w, node->init);
	}
	if (node->kind == HN_NODE_STMT) {
		visit_statement(w, node);
		return;
	}
	if (w->n_inner == MOST_INNER) {
		w->bounded = false;
		return;
	}
	w->inner[w->n_inner++] = (struct inside){ node->loop, node->extent };
	for (uint32_t i = 0; i < node->n_child; i++) {
		visit(w, node->child[i]);
	}
	w->n_inner--;
}

LLVMValueRef hn_emit_live(struct emit *e, const struct hn_node *loop, const struct emit_nest *n,
			  uint32_t i)
{
	struct walk w = { .e = e, .loop = loop, .bounded = true };

	if (hn_emit_n_size(e) == 0) {
		return NULL;
	}
	for (uint32_t k = 0; n && k < i; k++) {
		const struct emit_dim *d = &n->dim[k];
		int64_t extent = d->reduce && k >= n->tile ? d->extent : d->now;

		if (extent > 1 && w.n_inner == MOST_INNER) {
			return NULL;
		}
		if (extent > 1) {
			w.inner[w.n_inner++] = (struct inside){ d->loop, extent };
		}
	}
	for (uint32_t k = 0; k < loop->n_child; k++) {
		visit(&w, loop->child[k]);
	}
	return w.bounded && w.any ? w.all.v : NULL;
}

bool hn_emit_live_trips(struct emit *e, const struct emit_nest *n, uint32_t i,
			struct emit_live *ret)
{
	struct inside inner[MOST_INNER];
	const struct hn_node *loop = n->dim[i].node;
	struct count full = { 0 }, live = { 0 };
	uint32_t n_inner = 0;

	/* The loop whose iterations lie in the lanes runs inside of all, wherever it stands. */
	for (uint32_t k = 0; k < n->n_dim && &n->dim[i] != n->across; k++) {
		if (n->dim[k].reduce && k != i && (k > i || &n->dim[k] == n->across)) {
			if (n_inner == MOST_INNER) {
				return false;
			}
			inner[n_inner++] =
				(struct inside){ n->dim[k].loop, n->dim[k].extent };
		}
	}
	ret->exact = true;
	for (uint32_t g = 0; g < n->stmt->n_guard; g++) {
		const struct hn_expr *x = n->stmt->guard[g];
		struct count f, l;
		bool uses;

		if (!hn_emit_on_reduction(e, n, x)) {
			continue;
		}
		if (!hn_emit_trips_plain(e, n, x) || !hn_emit_is_size_guard(e, x) ||
		    !guard_count(e, x, loop, inner, n_inner, true, &f, &uses) ||
		    !guard_count(e, x, loop, inner, n_inner, false, &l, &uses)) {
			return false;
		}
		ret->exact = ret->exact && !uses;
		full = full.v ? combine(e, HN_EXPR_MIN, full, f) : f;
		live = live.v ? combine(e, HN_EXPR_MIN, live, l) : l;
	}
	ret->full = full.v;
	ret->live = live.v;
	ret->depth = full.depth > live.depth ? full.depth : live.depth;
	return full.v != NULL;
}

bool hn_emit_steps_by_tiles(const struct emit_nest *n, const struct emit_dim *d)
{
	for (uint32_t g = 0; g < n->stmt->n_guard; g++) {
		const struct hn_expr *x = n->stmt->guard[g];
		int64_t c;

		if (hn_expr_uses_size(x) && hn_expr_uses(x, d->loop) &&
		    (x->n_arg != 2 || !coefficient(x, d->loop, &c) || c != 1)) {
			return true;
		}
	}
	return false;
}

/* -- points past the end ------------------------------------------------------------------ */

/* The one spatial loop of the tile, no lane, that guard g of sizes depends on, with coefficient
 * 1; NULL = there is no such.  Where a loop inside of it enters the guard otherwise, tiles are
 * reached of which no point is alive (guard_count does not bound that loop), and there is no
 * last point to take. */
static struct emit_dim *loop_of_guard(struct emit *e, const struct emit_nest *n,
				      const struct hn_expr *g)
{
	struct emit_dim *found = NULL;
	int64_t c;

	if (!hn_emit_is_size_guard(e, g) || hn_emit_on_reduction(e, n, g)) {
		return NULL;
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		struct emit_dim *d = &n->dim[i];

		if (found && !coefficient(g, d->loop, &c)) {
			return NULL;
		}
		if (d->now < 2 || !hn_expr_uses(g, d->loop)) {
			continue;
		}
		if (found || d->reduce || d->chain || !coefficient(g, d->loop, &c) || c != 1) {
			return NULL;
		}
		found = d;
	}
	return found;
}

void hn_emit_find_clamps(struct emit *e, struct emit_tile *t)
{
	const struct emit_nest *n = t->n;

	t->n_clamp = 0;
	t->clamp = HN_NEW_ARRAY(e->a, struct emit_clamp, n->stmt->n_guard + 1);
	for (uint32_t g = 0; g < n->stmt->n_guard && !n->across; g++) {
		struct emit_dim *d = loop_of_guard(e, n, n->stmt->guard[g]);
		struct count count;
		bool inner;

		if (!d || hn_emit_is_fact(e, n->stmt->guard[g]) ||
		    !guard_count(e, n->stmt->guard[g], d->node, NULL, 0, true, &count,
				 &inner)) {
			continue;
		}
		t->clamp[t->n_clamp++] = (struct emit_clamp){
			.guard = n->stmt->guard[g],
			.dim = d,
			.last = hn_emit_place(e, HN_LINEAR_ADD, count.v, hn_emit_const(e, -1),
					      count.depth),
			.depth = count.depth,
		};
	}
}

bool hn_emit_is_clamped(const struct emit_tile *t, const struct hn_expr *g)
{
	for (uint32_t i = 0; i < t->n_clamp; i++) {
		if (t->clamp[i].guard == g) {
			return true;
		}
	}
	return false;
}

void hn_emit_clamp(struct emit *e, struct emit_tile *t)
{
	for (uint32_t i = 0; i < t->n_clamp; i++) {
		struct emit_clamp *c = &t->clamp[i];
		struct emit_var *var = &e->var[c->dim->loop];
		struct hn_linear at = { .n = var->base != NULL, .c = var->add };
		struct count now, last = { c->last, c->depth };

		at.t[0] = (struct hn_linear_term){ var->base, var->mul, var->lo, var->hi,
					      var->depth };
		c->saved = *var;
		now.v = hn_linear_value(&e->lin, &at, &now.depth);
		now = combine(e, HN_EXPR_MIN, now, last);
		*var = (struct emit_var){ .base = now.v,
					  .mul = 1,
					  .hi = c->dim->extent - 1,
					  .depth = now.depth };
	}
	e->epoch++;
}

void hn_emit_unclamp(struct emit *e, struct emit_tile *t)
{
	for (uint32_t i = t->n_clamp; i-- > 0;) {
		e->var[t->clamp[i].dim->loop] = t->clamp[i].saved;
	}
	e->epoch++;
}

/* -- what runs only when something is alive ---------------------------------------------- */

LLVMBasicBlockRef hn_emit_when(struct emit *e, LLVMValueRef condition)
{
	if (!condition) {
		return NULL;
	}
	LLVMBasicBlockRef some = hn_emit_block(e, "alive"), join = hn_emit_block(e, "dead");

	LLVMBuildCondBr(e->b, condition, some, join);
	LLVMPositionBuilderAtEnd(e->b, some);
	e->epoch++;
	return join;
}

void hn_emit_end_when(struct emit *e, LLVMBasicBlockRef join)
{
	if (join) {
		LLVMBuildBr(e->b, join);
		LLVMPositionBuilderAtEnd(e->b, join);
		e->epoch++;
	}
}

LLVMValueRef hn_emit_more_than(struct emit *e, LLVMValueRef count, int64_t v)
{
	return count ? LLVMBuildICmp(e->b, LLVMIntSGT, count, hn_emit_const(e, v), "")
		     : NULL;
}
