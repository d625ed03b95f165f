/* sketch/guard/place.c -- which stages of a guard are computed where they are read.
 *
 * Element-wise work costs less than the memory between two nests, so it goes to its
 * reader, unless that means doing something expensive again and again.  What a reduction
 * reads many times (padding before a convolution) is the variant's to place.  What constant inputs
 * alone decide is not computed where it is read, for it is computed before the first call.
 */
#include "base/arith.h"
#include "loopstate/inline.h"
#include "sketch/guard/guard_int.h"

#define SMALL_BODY 24 /* nodes that may be computed once for each of several readers */
#define LARGE_BODY 1024 /* nodes, */
#define MANY_LOADS 128  /* and loads, of none that grows: a chain of stencils would triple each time */

struct body {
	uint32_t nodes, loads;
	bool expensive, pure; /* pure: a load and nothing else */
};

static bool cheap_call(int32_t fn)
{
	return fn == HN_FN_sqrt || fn == HN_FN_rsqrt ||
	       (fn >= HN_FN_abs && fn <= HN_FN_trunc);
}

static void body_visit(const struct hn_expr *e, void *ctx)
{
	struct body *b = ctx;

	b->nodes++;
	b->loads += e->op == HN_EXPR_LOAD;
	b->expensive |= e->op == HN_EXPR_CALL && !cheap_call(e->ref);
}

static struct body body_of(const struct hn_op *op)
{
	struct body b = { 0 };

	for (uint32_t k = 0; op->body && k < op->n_out; k++) {
		hn_expr_visit(op->body[k], body_visit, &b);
	}
	for (uint32_t k = 0; op->reduce && k < op->reduce->n; k++) {
		hn_expr_visit(op->reduce->source[k], body_visit, &b);
	}
	b.pure = op->n_out == 1 && op->body && op->body[0]->op == HN_EXPR_LOAD;
	return b;
}

/* How the readers use the stage. */
struct use {
	uint32_t n;
	bool reduced; /* a reduction among them */
	bool reused;  /* one takes elements more than once */
	struct body largest; /* of a reader's with the stage's own in it */
};

static int64_t points_of(const struct hn_op *op)
{
	int64_t n = 1;

	for (uint32_t a = 0; a < op->n_spatial + op->n_reduce; a++) {
		n = hn_mul_sat(n, op->axis[a].extent);
	}
	return n;
}

static struct use use_of(struct hn_guard_job *g, int32_t stage, int64_t elements,
			 const struct body *own)
{
	int32_t reader[16];
	struct use u = { .n = hn_guard_readers(g, stage, reader, HN_COUNT_OF(reader)) };

	for (uint32_t i = 0; i < u.n && i < HN_COUNT_OF(reader); i++) {
		const struct hn_op_access *acc = &hn_guard_access(g)->op[reader[i]];
		const struct hn_op *op = g->dag->op[reader[i]];
		struct body with = body_of(op);

		for (uint32_t k = 0; k < acc->n_read; k++) {
			with.nodes += acc->read[k].producer == stage ? own->nodes : 0;
			with.loads += acc->read[k].producer == stage ? own->loads : 0;
		}
		u.largest = with.nodes > u.largest.nodes ? with : u.largest;
		u.reduced |= op->reduce != NULL;
		u.reused |= points_of(op) / 2 >= elements;
	}
	return u;
}

/* A move that keeps neighbours neighbours may happen inside a reduction. */
static bool keeps_rows(const struct hn_guard_view *v)
{
	return v->n_spatial > 0 && v->n_read == 1 &&
	       (v->extent[v->n_spatial - 1] == 1 ||
		v->read[0].stride[v->n_spatial - 1] == 1);
}

static bool worth_inlining(struct hn_guard_job *g, const struct hn_guard_view *v)
{
	struct body b = body_of(v->op);
	struct use u = use_of(g, v->stage, v->spatial, &b);

	if (b.loads == 0) {
		return true;
	}
	if (u.n == 0 || u.largest.nodes > LARGE_BODY ||
	    u.largest.loads > MANY_LOADS || (b.expensive && (u.n > 1 || u.reused)) ||
	    (u.n > 1 && b.nodes > SMALL_BODY)) {
		return false;
	}
	if (!u.reduced || !u.reused || g->v.place == HN_GUARD_INLINE) {
		return true;
	}
	/* terms that are zero for most remainders are left out only where they are read */
	if (g->v.place == HN_GUARD_ATTACH && hn_guard_has_remainders(v->op)) {
		return true;
	}
	return b.pure && keeps_rows(v);
}

static bool may_inline(struct hn_guard_job *g, int32_t stage)
{
	const struct hn_op *op = hn_stage_op(g->c.s, stage);

	return op->kind == HN_OP_COMPUTE && !op->reduce &&
	       !hn_guard_is_result(g, stage) && !hn_guard_is_constant(g, stage);
}

/* Views on the way see what has been inlined so far; then the whole is made anew. */
void hn_guard_inline(struct hn_guard_job *g)
{
	for (int32_t i = (int32_t)g->c.s->n_stage - 1; i >= 0 && !g->c.failed; i--) {
		struct hn_guard_view v;

		if (may_inline(g, i) && hn_guard_view(g, i, &v) &&
		    worth_inlining(g, &v)) {
			hn_chain_inline(&g->c, i);
			g->done[i] = true;
			g->dag = hn_inline_more(g->dag, hn_guard_access(g), i, g->c.a);
		}
	}
	g->dag = NULL;
}
