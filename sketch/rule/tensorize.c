/* rule/tensorize.c -- a sum of products that an instruction makes is given to it: a reduction
 * axis is cut into groups of its terms, and the operand that the lanes run along is packed so
 * that a group lies side by side.  Not of Ansor's; the instructions are rows of intrins.def.
 *
 * The rule comes before tiling, which leaves the group's loop whole and innermost.  An instruction
 * on tiles takes parts of two spatial axes too: rows, along which the packed operand stands still,
 * and columns, which are the lanes'.  The rule offers what the target line says that the machine
 * has, with tiles and without: few rows fill none. */
#include "loopstate/state/intrin.h"
#include "sketch/sketch_int.h"

struct group {
	const struct hn_intrin *in;
	uint32_t axis;	 /* the reduction axis, in the op's order */
	int32_t operand; /* the stage to be packed, and its dimension that the axis moves */
	uint32_t dim;
	uint32_t rows, columns; /* axes, for an instruction on tiles */
};

static const struct hn_expr *load_of(const struct hn_expr *factor)
{
	return factor->op == HN_EXPR_IF ? load_of(factor->arg[1]) : factor;
}

/* Not under a condition: tiles have none. */
static bool are_loads(const struct hn_expr *const factor[2])
{
	return factor[0]->op == HN_EXPR_LOAD && factor[1]->op == HN_EXPR_LOAD;
}

struct search {
	int32_t slot;
	bool found;
};

static void find_slot(const struct hn_expr *e, void *ctx)
{
	struct search *s = ctx;

	s->found |= e->op == HN_EXPR_VAR && e->ref == s->slot;
}

static bool moves(const struct hn_expr *index, int32_t slot)
{
	struct search s = { .slot = slot };

	hn_expr_visit(index, find_slot, &s);
	return s.found;
}

static bool load_moves(const struct hn_expr *load, int32_t slot)
{
	bool any = false;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		any = any || moves(load->arg[d], slot);
	}
	return any;
}

/* The one dimension of the load that the axis moves, one element a step; -1 otherwise. */
static int32_t moved_dim(const struct hn_expr *load, int32_t slot)
{
	int32_t dim = -1, by;
	int64_t shift;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		if (!moves(load->arg[d], slot)) {
			continue;
		}
		if (dim >= 0 || !hn_access_const_shift(load->arg[d], &by, &shift) ||
		    by != slot) {
			return -1;
		}
		dim = (int32_t)d;
	}
	return dim;
}

/* The axis that lanes run along moves the one operand and not the other, in which the groups
 * have to lie side by side as they are. */
static bool fits_axis(const struct hn_state *s, const struct hn_op *op,
		      const struct hn_expr *const load[2], uint32_t axis, struct group *g)
{
	int32_t lanes = hn_lane_axis(op);

	for (int k = 0; k < 2 && lanes >= 0; k++) {
		const struct hn_expr *mine = load[k], *other = load[1 - k];
		int32_t dim = moved_dim(mine, (int32_t)axis);
		int32_t last = moved_dim(other, (int32_t)axis);

		if (dim >= 0 && last >= 0 && last == (int32_t)other->n_arg - 1 &&
		    moved_dim(mine, lanes) >= 0 && moved_dim(other, lanes) < 0 &&
		    hn_pack_pays(s, mine->ref, op, mine)) {
			g->operand = mine->ref;
			g->dim = (uint32_t)dim;
			g->axis = axis;
			return true;
		}
	}
	return false;
}

/* The longest axis that the one operand moves along and the other does not, for the rows of
 * tiles. */
static bool find_rows(const struct hn_op *op, const struct hn_expr *const load[2],
		      struct group *g)
{
	const struct hn_expr *packed = load[load[0]->ref == g->operand ? 0 : 1],
			     *other = load[load[0]->ref == g->operand ? 1 : 0];
	int64_t best = 1;

	g->columns = (uint32_t)hn_lane_axis(op);
	for (uint32_t i = 0; i < op->n_spatial; i++) {
		if (op->axis[i].extent > best && i != g->columns &&
		    load_moves(other, (int32_t)i) && !load_moves(packed, (int32_t)i)) {
			best = op->axis[i].extent;
			g->rows = i;
		}
	}
	return best > 1;
}

/* The longest axis that can be cut into groups. */
static bool find_axis(const struct hn_state *s, const struct hn_op *op, struct group *g)
{
	const struct hn_expr *factor[2], *load[2];
	int64_t terms = hn_intrin_terms(g->in), best = terms - 1;

	if (hn_intrin_why_not(g->in, s->root_dag, op) != NULL ||
	    !hn_intrin_factors(g->in, op, factor)) {
		return false;
	}
	load[0] = load_of(factor[0]);
	load[1] = load_of(factor[1]);
	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		if (op->axis[i].extent > best && fits_axis(s, op, load, i, g)) {
			best = op->axis[i].extent;
		}
	}
	return best >= terms && (!hn_intrin_is_tile(g->in) ||
				 (are_loads(factor) && find_rows(op, load, g)));
}

/* The first instruction of its kind, on tiles or not, that does the sum. */
static bool find_group(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		       bool tiles, struct group *g)
{
	if (!hn_stage_needs_tiling(s, stage) || s->stage[stage]->n_rel > 0) {
		return false;
	}
	for (uint32_t i = 0; i < hn_intrin_count(); i++) {
		g->in = hn_intrin_at(i);
		if (hn_intrin_is_tile(g->in) == tiles && hn_target_has_intrin(ctx->target, g->in) &&
		    find_axis(s, hn_stage_op(s, stage), g)) {
			return true;
		}
	}
	return false;
}

static enum hn_rule_answer meets(const struct hn_rule_ctx *ctx, const struct hn_state *s,
				 int32_t stage)
{
	struct group g;

	return find_group(ctx, s, stage, false, &g) || find_group(ctx, s, stage, true, &g)
		       ? HN_RULE_APPLY
		       : HN_RULE_SKIP;
}

static void pack_groups(struct hn_chain *c, const struct hn_state *s, const struct group *g)
{
	int64_t len[HN_DAG_MAX_RANK];

	for (uint32_t d = 0; d < hn_stage_op(s, g->operand)->n_dim; d++) {
		len[d] = d == g->dim ? hn_intrin_terms(g->in) : 1;
	}
	hn_chain_pack(c, g->operand, len);
}

static void give_vector(struct hn_chain *c, int32_t stage, const struct group *g)
{
	int64_t terms = hn_intrin_terms(g->in), loop = g->axis + 1;

	hn_chain_split(c, stage, (int32_t)g->axis, &terms, 1);
	hn_chain_tensorize(c, stage, &loop, 1, g->in->name);
}

/* The splits are made from the last axis to the first, so that none moves another. */
static void give_tiles(struct hn_chain *c, int32_t stage, const struct group *g)
{
	const int64_t *most = g->in->most;
	bool down = g->columns > g->rows;
	uint32_t last = down ? g->columns : g->rows, first = down ? g->rows : g->columns;

	hn_chain_split(c, stage, (int32_t)g->axis, &most[HN_INTRIN_K], 2);
	hn_chain_split(c, stage, (int32_t)last, &most[down ? HN_INTRIN_N : HN_INTRIN_M], 1);
	hn_chain_split(c, stage, (int32_t)first, &most[down ? HN_INTRIN_M : HN_INTRIN_N], 1);

	int64_t loop[] = { g->rows + (down ? 1 : 2), g->columns + (down ? 2 : 1), g->axis + 3,
			   g->axis + 4 };

	hn_chain_tensorize(c, stage, loop, HN_COUNT_OF(loop), g->in->name);
	hn_chain_fragment(c, stage, HN_INTRIN_MEMORY);
}

static void derive(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   struct hn_rule_results *ret)
{
	for (int tiles = 0; tiles < 2; tiles++) {
		struct hn_chain c = { .s = s, .a = ctx->arena };
		struct group g;

		if (!find_group(ctx, s, stage, tiles, &g)) {
			continue;
		}
		pack_groups(&c, s, &g);
		(tiles ? give_tiles : give_vector)(&c, stage + 1, &g);
		hn_chain_result(&c, stage + 1, ret);
	}
}

extern const struct hn_rule_ops hn_rule_tensorize;
const struct hn_rule_ops hn_rule_tensorize = { "tensorize", meets, derive };
