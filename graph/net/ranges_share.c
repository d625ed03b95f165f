/* graph/net/ranges_share.c -- one kernel, and one layout of its weights, for a range and for the size
 * 1 beside it.
 *
 * Weights are laid out for a kernel.  Where the size 1 is a range of its own, its products are mostly
 * those of the other sizes all the same: what differs is a transpose that moves nothing.
 */
#include <string.h>

#include "graph/net/family.h"
#include "graph/net/ranges_int.h"
#include "loopstate/dag/constant.h"

static bool is_point(const struct hn_ranges_finder *f, const struct hn_net_range *r)
{
	bool point = true;

	for (uint32_t k = 0; k < f->n_size; k++) {
		point = point && r->least[k] == r->most[k];
	}
	return point;
}

/* No constant of the point's is a part of the range's, and too short for its kernel. */
static bool same_weights(const struct hn_dag *point, const struct hn_dag *range)
{
	bool same = point->n_arg == range->n_arg;

	for (uint32_t i = 0; same && i < point->n_arg; i++) {
		same = !hn_dag_arg_is_constant(range, i) ||
		       hn_op_bytes(point->op[point->arg[i]], 0) ==
			       hn_op_bytes(range->op[range->arg[i]], 0);
	}
	return same;
}

/* The task of the largest range that is t at the point, whatever it is called; HN_NONE: none is. */
static int32_t task_for(const struct hn_ranges_finder *f, const struct hn_net_range *point,
			const struct hn_gtask *t)
{
	const struct hn_ranges_box *b = &f->box[0];

	for (uint32_t u = 0; u < b->range.net.n_task; u++) {
		const char *text = hn_arena_printf(f->a, "%s%s", b->range.net.task[u].name,
						   t->text + strlen(t->name));

		if (b->task[u].sized && hn_lift_is(&b->task[u], text, point->least, f->n_size)) {
			return (int32_t)u;
		}
	}
	return HN_NONE;
}

/* The task's sizes go down to the point's, unless it is no program there. */
static bool widen(struct hn_ranges_finder *f, const struct hn_net_range *point, uint32_t u)
{
	struct hn_ranges_box wide = f->box[0];
	struct hn_gtask *task = &wide.range.net.task[u], before = *task;

	for (uint32_t k = 0; k < f->n_size; k++) {
		int64_t least = task->dag->sizes->size[k].lo;

		wide.range.least[k] = point->least[k] < least ? point->least[k] : least;
	}
	if (hn_ranges_make_sized(f, &wide, u) != 0) {
		*task = before;
		return false;
	}
	return true;
}

void hn_ranges_share_weights(struct hn_ranges_finder *f)
{
	struct hn_net *all = &f->ret->range[0].net;

	for (uint32_t i = 1; i < f->ret->n; i++) {
		struct hn_net_range *r = &f->ret->range[i];
		struct hn_net *net = &r->net;

		for (uint32_t t = 0; is_point(f, r) && t < net->n_task; t++) {
			int32_t u = hn_family_has_weights(net->task[t].dag)
					    ? task_for(f, r, &net->task[t])
					    : HN_NONE;

			if (u == HN_NONE || !same_weights(net->task[t].dag, all->task[u].dag) ||
			    !widen(f, r, (uint32_t)u)) {
				continue;
			}
			net->task[t].name = all->task[u].name;
			net->task[t].text = all->task[u].text;
			net->task[t].dag = all->task[u].dag;
			net->task[t].sized = true;
			for (uint32_t k = 0; k < net->n_kernel; k++) {
				net->kernel[k].name = net->task[net->kernel[k].task].name;
			}
		}
	}
}
