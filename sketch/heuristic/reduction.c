/* sketch/heuristic/reduction.c -- reductions along the data: lanes run over the reduced axis,
 * sums of lanes at the end.
 *
 * Many results: cores share them out.  Few: the reduction is cut into a part for each core
 * (rfactor), and the parts are summed after.
 */
#include "base/arith.h"
#include "loopstate/dag/liberty.h"
#include "sketch/heuristic/heuristic_int.h"

#define WORTH_CUTTING 65536 /* points of a reduction that pay for a second nest */

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	(void)g;
	return v->op->reduce != NULL;
}

/* The axis to cut: the outermost that has a part for each core, else the longest. */
static uint32_t axis_to_cut(const struct hn_heuristic_view *v, int64_t cores)
{
	uint32_t longest = v->n_spatial;

	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		if (v->extent[a] >= cores) {
			return a;
		}
		longest = v->extent[a] > v->extent[longest] ? a : longest;
	}
	return longest;
}

/* Parts that share out evenly and leave nothing over, when there are such. */
static int64_t parts_of(int64_t extent, int64_t cores)
{
	for (int64_t n = cores; n <= 8 * cores && n <= extent; n += cores) {
		if (extent % n == 0) {
			return n;
		}
	}
	return cores < extent ? cores : extent;
}

static void rows_nest(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		      uint32_t first)
{
	struct hn_heuristic_nest n;

	hn_heuristic_nest_init(&n, v);
	n.threads = hn_heuristic_threads(g, v);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n.block[a] = n.tile[a] = 1;
		n.outer[a] = a == 0 ? first : a <= first ? a - 1 : a;
	}
	hn_heuristic_nest_build(g, v, v->stage, &n);
}

static void cut(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	int64_t cores = hn_heuristic_cores(g);
	uint32_t axis = axis_to_cut(v, cores);
	int64_t len = hn_ceildiv(v->extent[axis], parts_of(v->extent[axis], cores));
	struct hn_heuristic_view partial;
	int32_t stage = v->stage;

	hn_chain_split(&g->c, stage, (int32_t)axis, &len, 1);
	hn_heuristic_rfactor(g, stage, (int32_t)axis, (int32_t)v->n_spatial);
	if (!g->c.failed && hn_heuristic_view(g, stage, &partial)) {
		g->done[stage + 1] = true;
		rows_nest(g, &partial, partial.n_spatial - 1);
	}
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	int64_t cores = hn_heuristic_cores(g);
	bool few =
		v->spatial < cores || (v->spatial < 4 * cores && v->spatial % cores != 0);
	bool worth = cores > 1 && v->reduce >= cores &&
		     hn_mul_sat(v->reduce, v->spatial) >= WORTH_CUTTING;

	(void)host;
	if (v->op->reduce->n == 1 && !hn_against_parts(g->c.s->root_dag, v->op) &&
	    (few && worth) != (g->v.recut && few)) {
		cut(g, v);
	} else {
		rows_nest(g, v, 0);
	}
}

extern const struct hn_heuristic_ops hn_heuristic_reduction;
const struct hn_heuristic_ops hn_heuristic_reduction = { "reduction", fits, schedule, false };
