/* sketch/heuristic/place.c -- which stages of a heuristic are computed where they are read.
 *
 * Element-wise work costs less than the memory between two nests, so it goes to its
 * reader, unless that means doing something expensive again and again.  What a reduction
 * reads many times (padding before a convolution) is the variant's to place.  What constant inputs
 * alone decide is not computed where it is read, for it is computed before the first call.
 */
#include "base/arith.h"
#include "loopstate/state/inline.h"
#include "sketch/heuristic/heuristic_int.h"

#define SMALL_BODY 24 /* nodes that may be computed once for each of several readers, */
#define MUCH_AGAIN 48 /* and for all but one of them together */

struct body {
	int64_t nodes, loads;
	bool expensive, pure; /* pure: a load and nothing else */
};

/* How large bodies are is followed by arithmetic, no body is made: what is inlined stands in its
 * reader as often as it was loaded there. */
struct placing {
	struct hn_heuristic_job *g;
	struct hn_inlined *inlined; /* of g->c.s */
	struct body *body; /* [stage] with what has been inlined into it */
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

	hn_op_visit(op, body_visit, &b);
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

static struct use use_of(struct placing *p, int32_t stage, int64_t elements)
{
	const struct body *own = &p->body[stage];
	const struct hn_reader *reader;
	struct use u = { .n = hn_inlined_readers(p->inlined, stage, &reader) };

	for (uint32_t i = 0; i < u.n; i++) {
		const struct hn_op *op = hn_stage_op(p->g->c.s, reader[i].stage);
		struct body with = p->body[reader[i].stage];

		with.nodes += reader[i].loads * own->nodes;
		with.loads += reader[i].loads * own->loads;
		u.largest = with.nodes > u.largest.nodes ? with : u.largest;
		u.reduced |= op->reduce != NULL;
		u.reused |= points_of(op) / 2 >= elements;
	}
	return u;
}

/* A move that keeps neighbours neighbours may happen inside a reduction. */
static bool keeps_rows(struct hn_heuristic_job *g, int32_t stage)
{
	struct hn_heuristic_view v;

	return hn_heuristic_view(g, stage, &v) && v.n_spatial > 0 && v.n_read == 1 &&
	       (v.extent[v.n_spatial - 1] == 1 ||
		v.read[0].stride[v.n_spatial - 1] == 1);
}

static bool worth_inlining(struct placing *p, int32_t stage)
{
	struct hn_heuristic_job *g = p->g;
	const struct body *b = &p->body[stage];
	const struct hn_op *op = hn_stage_op(g->c.s, stage);

	if (b->loads == 0) {
		return true;
	}
	struct use u = use_of(p, stage, points_of(op));

	if (u.n == 0 || u.largest.nodes > HN_LARGE_BODY ||
	    u.largest.loads > HN_MANY_LOADS || (b->expensive && (u.n > 1 || u.reused)) ||
	    (u.n > 1 && (b->nodes > SMALL_BODY || (u.n - 1) * b->nodes > MUCH_AGAIN))) {
		return false;
	}
	if (!u.reduced || !u.reused || g->v.place == HN_HEURISTIC_INLINE) {
		return true;
	}
	/* terms that are zero for most remainders are left out only where they are read */
	if (g->v.place == HN_HEURISTIC_ATTACH && hn_heuristic_has_remainders(op)) {
		return true;
	}
	return b->pure && keeps_rows(g, stage);
}

static bool may_inline(struct hn_heuristic_job *g, int32_t stage)
{
	const struct hn_op *op = hn_stage_op(g->c.s, stage);

	return op->kind == HN_OP_COMPUTE && !op->reduce &&
	       !hn_heuristic_is_result(g, stage) && !hn_heuristic_is_constant(g, stage);
}

/* In its readers: the load and its indices, taken for one node each, give way to the body. */
static void take_over(struct placing *p, int32_t stage)
{
	const struct body *own = &p->body[stage];
	const struct hn_reader *reader;
	uint32_t n = hn_inlined_readers(p->inlined, stage, &reader);
	int64_t more = own->nodes - 1 - hn_stage_op(p->g->c.s, stage)->n_dim;

	for (uint32_t i = 0; i < n; i++) {
		struct body *b = &p->body[reader[i].stage];

		b->nodes += reader[i].loads * more;
		b->loads += reader[i].loads * (own->loads - 1);
	}
}

/* Last stages first, so that what reads the one at hand is settled. */
void hn_heuristic_inline(struct hn_heuristic_job *g)
{
	struct placing p = { .g = g,
			     .inlined = hn_inlined_new(g->c.s, g->c.a),
			     .body = HN_NEW_ARRAY(g->c.a, struct body, g->c.s->n_stage) };

	for (uint32_t i = 0; i < g->c.s->n_stage; i++) {
		p.body[i] = body_of(hn_stage_op(g->c.s, i));
	}
	for (int32_t i = (int32_t)g->c.s->n_stage - 1; i >= 0 && !g->c.failed; i--) {
		if (may_inline(g, i) && worth_inlining(&p, i)) {
			take_over(&p, i);
			hn_chain_inline(&g->c, i);
			hn_inlined_follow(p.inlined, g->c.s);
			g->done[i] = true;
		}
	}
	g->inlined = NULL;
}
