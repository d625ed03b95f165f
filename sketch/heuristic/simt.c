/* sketch/heuristic/simt.c -- heuristics of machines with blocks of threads: one for each choice of
 * tiles, stage by stage from the last to the first, each nest a kernel.
 */
#include "sketch/heuristic/simt_int.h"
#include "sketch/heuristic/warp_int.h"

#include "loopstate/nest/quick.h"
#include "loopstate/state/inline.h"

void hn_simt_cache_write(struct hn_heuristic_job *g, int32_t stage, const char *scope)
{
	hn_chain_cache_write(&g->c, stage, scope);
	hn_heuristic_inserted(g, stage, stage + 1);
}

void hn_simt_cache_read(struct hn_heuristic_job *g, int32_t stage, const char *scope,
		       int32_t reader)
{
	hn_chain_cache_read(&g->c, stage, scope, reader);
	hn_heuristic_inserted(g, stage + 1, stage);
}

void hn_simt_bind(struct hn_heuristic_job *g, int32_t stage, int32_t at, uint32_t n,
		 enum hn_ann ann)
{
	if (n > 1) {
		hn_chain_fuse(&g->c, stage, at, n);
	}
	if (n > 0 && ann != HN_ANN_NONE) {
		hn_chain_annotate(&g->c, stage, at, ann);
	}
}

/* A sum whose only reader takes it element by element is made inside that. */
static bool sum_of_reader(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct hn_heuristic_view pv;
	int32_t reader;

	for (uint32_t i = 0; i < v->n_read && !v->op->reduce; i++) {
		int32_t p = v->read[i].producer;
		const struct hn_op *op = hn_stage_op(g->c.s, p);

		if (op->kind == HN_OP_COMPUTE && op->reduce && !g->done[p] &&
		    !hn_heuristic_is_result(g, p) &&
		    hn_heuristic_readers(g, p, &reader, 1) == 1 &&
		    hn_heuristic_reads_in_step(v, p, op) && hn_heuristic_view(g, p, &pv) &&
		    (hn_warp_product(g, &pv, v->stage) || hn_simt_product(g, &pv, v->stage) ||
		     hn_simt_stream_in(g, &pv, v->stage))) {
			return true;
		}
	}
	return false;
}

static void schedule_stage(struct hn_heuristic_job *g, int32_t stage)
{
	struct hn_heuristic_view v;

	if (hn_heuristic_view(g, stage, &v) &&
	    (g->v.plain || (!sum_of_reader(g, &v) && !hn_warp_product(g, &v, stage) &&
			    !hn_simt_product(g, &v, stage) &&
			    !hn_simt_rows(g, &v)))) {
		hn_simt_stream(g, &v);
	}
}

/* The heuristic of a choice of tiles; NULL when it is not shown to be legal. */
static const struct hn_state *make(const struct hn_dag *dag, const struct hn_target *target,
				   struct hn_quick *quick, struct hn_arena *a,
				   const struct hn_heuristic_variant *v)
{
	struct hn_heuristic_job *g = HN_NEW(a, struct hn_heuristic_job);
	const struct hn_looptree *tree;

	g->target = target;
	g->v = *v;
	g->c = (struct hn_chain){ .s = hn_state_init(dag, a), .a = a };
	/* nothing is prepared on such a machine: g->depends says so */
	hn_heuristic_inline(g);
	for (uint32_t i = 0; i < g->c.s->n_stage; i++) {
		g->done[i] = g->c.s->stage[i]->at == HN_AT_INLINED;
	}
	for (int32_t i = (int32_t)g->c.s->n_stage - 1; i >= 0 && !g->c.failed; i--) {
		if (!g->done[i] && hn_stage_op(g->c.s, i)->kind == HN_OP_COMPUTE) {
			schedule_stage(g, i);
			i = (int32_t)g->c.s->n_stage;
		}
	}
	return !g->c.failed && hn_looptree_build(g->c.s, a, &tree, NULL) == 0 &&
			       hn_quick_legal(quick, tree, NULL)
		       ? g->c.s
		       : NULL;
}

/* Whether a loop of it is given to an instruction. */
static bool is_given(const struct hn_state *s)
{
	bool ret = false;

	for (uint32_t i = 0; i < s->n_stage; i++) {
		ret = ret || s->stage[i]->intrin != NULL;
	}
	return ret;
}

uint32_t hn_simt_heuristics(const struct hn_dag *dag, const struct hn_target *target,
			    bool unconfirmed, struct hn_arena *a,
			    const struct hn_state *ret[HN_HEURISTIC_MAX])
{
	struct hn_quick *quick = hn_quick_new();
	uint32_t n = 0;

	for (uint32_t i = 0;
	     i < HN_HEURISTIC_MAX || (i == HN_HEURISTIC_MAX && n == 0 && !unconfirmed); i++) {
		const struct hn_heuristic_variant v = { .place = HN_HEURISTIC_ROOT,
							.tile = (uint8_t)i,
							.unconfirmed = unconfirmed,
							.plain = i == HN_HEURISTIC_MAX };
		const struct hn_state *s = make(dag, target, quick, a, &v);

		s = s && unconfirmed && !is_given(s) ? NULL : s;
		for (uint32_t k = 0; s && k < n; k++) {
			s = hn_trace_equal(s->trace, ret[k]->trace) ? NULL : s;
		}
		if (s) {
			ret[n++] = s;
		}
	}
	hn_quick_free(quick);
	return n;
}
