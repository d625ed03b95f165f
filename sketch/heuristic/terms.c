/* sketch/heuristic/terms.c -- a contraction whose sum an instruction makes, several terms at once
 * (loopstate/state/intrin.h): which axis is cut into groups of terms, and the panels made of whole
 * groups.
 *
 * The operand that is broadcast has to lie in groups as it is: the axis is its last dimension.
 * The panels are a copy anyway, so they are made in groups.  Where that copy does not pay, the
 * nest stays one of plain multiplications.
 */
#include "loopstate/state/intrin.h"
#include "sketch/heuristic/heuristic_int.h"

/* The one read that moves along the lanes, and the one that does not. */
static bool two_reads(const struct hn_heuristic_view *v, uint32_t lane_axis,
		      const struct hn_heuristic_read *ret[2])
{
	ret[0] = ret[1] = NULL;
	for (uint32_t i = 0; i < v->n_read; i++) {
		ret[v->read[i].stride[lane_axis] == 0] = &v->read[i];
	}
	return v->n_read == 2 && ret[0] && ret[1];
}

static bool in_groups(const struct hn_heuristic_job *g, const struct hn_heuristic_read *panel,
		      uint32_t axis, int64_t terms)
{
	return hn_stage_is_packed(g->c.s, panel->producer) && panel->run[axis] == terms;
}

/* The longest axis of whole groups. */
static bool find_axis(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		      const struct hn_heuristic_read *const read[2],
		      struct hn_heuristic_terms *ret)
{
	int64_t best = hn_intrin_terms(ret->in) - 1;

	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		bool packed = in_groups(g, read[0], a, hn_intrin_terms(ret->in));

		if (v->extent[a] > best && read[1]->stride[a] == 1 &&
		    read[1]->run[a] == v->extent[a] &&
		    (packed || hn_heuristic_dimension(read[0], a) >= 0)) {
			best = v->extent[a];
			ret->axis = a;
			ret->packed = packed;
		}
	}
	return best >= hn_intrin_terms(ret->in);
}

bool hn_heuristic_find_terms(const struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, uint32_t lane_axis,
			     struct hn_heuristic_terms *ret)
{
	const struct hn_op *op = hn_stage_op(g->c.s, v->stage);
	const struct hn_heuristic_read *read[2];

	if (!two_reads(v, lane_axis, read)) {
		return false;
	}
	for (uint32_t i = 0; i < hn_intrin_count(); i++) {
		*ret = (struct hn_heuristic_terms){ .in = hn_intrin_at(i) };
		if (!hn_intrin_is_tile(ret->in) && hn_target_has_intrin(g->target, ret->in) &&
		    hn_intrin_why_not(ret->in, g->c.s->root_dag, op) == NULL &&
		    find_axis(g, v, read, ret)) {
			return ret->packed ||
			       (g->c.s->stage[read[0]->producer]->at == HN_AT_ROOT &&
				hn_heuristic_dimension(read[0], lane_axis) >= 0 &&
				hn_pack_pays(g->c.s, read[0]->producer, v->op,
					     read[0]->load));
		}
	}
	return false;
}

int32_t hn_heuristic_term_panels(struct hn_heuristic_job *g,
				 const struct hn_heuristic_view *v, uint32_t lane_axis,
				 int64_t tile, const struct hn_heuristic_terms *t)
{
	const struct hn_heuristic_read *read[2];
	int64_t block[HN_DAG_MAX_RANK];
	struct hn_heuristic_view now;

	if (t->packed || !two_reads(v, lane_axis, read)) {
		return 0;
	}
	int32_t operand = read[0]->producer;
	uint32_t dim = (uint32_t)hn_heuristic_dimension(read[0], t->axis);
	uint32_t rank = hn_stage_op(g->c.s, operand)->n_dim;

	for (uint32_t d = 0; d < rank; d++) {
		block[d] = d == dim ? hn_intrin_terms(t->in) : 1;
	}
	hn_heuristic_pack(g, operand, block);
	if (!hn_heuristic_view(g, v->stage + 1, &now) || !two_reads(&now, lane_axis, read) ||
	    read[0]->producer != operand + 1) {
		g->c.failed = true;
		return 1;
	}
	const struct hn_op *groups = hn_stage_op(g->c.s, operand + 1);
	int32_t at = hn_heuristic_dimension(read[0], lane_axis);

	if (at < 0 || !hn_heuristic_panel_blocks(&now, read[0], at, tile, groups, block) ||
	    2 * groups->n_dim > HN_DAG_MAX_RANK) {
		return 1; /* the groups alone are in order */
	}
	block[groups->n_dim - 1] = groups->shape[groups->n_dim - 1];
	hn_heuristic_pack(g, operand + 1, block);
	hn_chain_inline(&g->c, operand + 1); /* panels of groups: the groups alone are no copy */
	g->done[operand + 1] = true;
	g->inlined = NULL;
	return 2;
}
