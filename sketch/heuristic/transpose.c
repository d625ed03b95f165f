/* sketch/heuristic/transpose.c -- element-wise nests that read along one axis and write along
 * another: in square tiles, so that every cache line is used whole while it is there. */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

/* The axis along which the first read that jumps along the last one is contiguous. */
static bool find_axis(const struct hn_heuristic_view *v, uint32_t *ret)
{
	for (uint32_t i = 0; v->n_spatial > 1 && i < v->n_read; i++) {
		const struct hn_heuristic_read *r = &v->read[i];
		int64_t s = r->stride[v->n_spatial - 1];

		for (uint32_t a = 0; s != 0 && s != 1 && a + 1 < v->n_spatial; a++) {
			if (r->stride[a] == 1 && v->extent[a] > 1) {
				*ret = a;
				return true;
			}
		}
	}
	return false;
}

static bool fits(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	uint32_t axis;

	(void)g;
	return !v->op->reduce && find_axis(v, &axis);
}

static void schedule(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		     int32_t host)
{
	struct hn_heuristic_nest n;
	uint32_t axis = 0, last = v->n_spatial - 1;
	int64_t line = v->lanes;

	find_axis(v, &axis);
	hn_heuristic_nest_init(&n, v);
	n.threads = hn_heuristic_threads(g, v);
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		n.block[a] = n.tile[a] = 1;
	}
	n.block[axis] = n.tile[axis] = line * (g->v.tile > 0 ? 4 : 1);
	n.block[last] = n.tile[last] = line;
	hn_heuristic_nest_build(g, v, host, &n);
}

extern const struct hn_heuristic_ops hn_heuristic_transpose;
const struct hn_heuristic_ops hn_heuristic_transpose = { "transpose", fits, schedule,
							 false };
