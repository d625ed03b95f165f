/* graph/pass/parts.c -- slices side by side are one slice, and a slice of a concatenation is a slice
 * of the part that it lies in.
 *
 * Cross-stage blocks split a value, and join the halves with what is computed of one: what is joined
 * is then the whole value, which can be written in place (graph/net/place.h). */
#include <string.h>

#include "graph/ir/op.h"
#include "graph/pass/pass.h"

struct slice {
	int64_t start[HN_GRAPH_MAX_RANK], step[HN_GRAPH_MAX_RANK], count[HN_GRAPH_MAX_RANK];
};

static struct slice read_slice(const struct hn_gnode *n, uint32_t rank)
{
	struct slice s;

	memcpy(s.start, hn_gattr_find(n, "start")->i, rank * sizeof(*s.start));
	memcpy(s.step, hn_gattr_find(n, "step")->i, rank * sizeof(*s.step));
	memcpy(s.count, hn_gattr_find(n, "count")->i, rank * sizeof(*s.count));
	return s;
}

static int32_t sliced(struct hn_graph *g, int32_t v, const struct slice *s)
{
	uint32_t rank = g->value[v].rank;
	struct hn_gattr attr[] = { hn_gattr_of_ints("start", rank, s->start),
				   hn_gattr_of_ints("step", rank, s->step),
				   hn_gattr_of_ints("count", rank, s->count) };
	bool all = true;

	for (uint32_t d = 0; d < rank; d++) {
		all &= s->start[d] == 0 && s->step[d] == 1 && s->count[d] == g->value[v].shape[d];
	}
	return all ? v : hn_graph_add(g, "slice", 1, &v, 3, attr);
}

/* The slice that x and, behind it along `axis`, y are; HN_NONE: they are none. */
static int32_t side_by_side(struct hn_graph *g, int32_t x, int32_t y, uint32_t axis)
{
	const struct hn_gnode *p = hn_pass_made_by(g, x, "slice");
	const struct hn_gnode *q = hn_pass_made_by(g, y, "slice");
	uint32_t rank = g->value[x].rank;
	struct slice s, t;

	if (p == NULL || q == NULL || p->in[0] != q->in[0]) {
		return HN_NONE;
	}
	s = read_slice(p, rank);
	t = read_slice(q, rank);
	for (uint32_t d = 0; d < rank; d++) {
		bool fits = s.step[d] == t.step[d] &&
			    (d == axis ? s.start[d] + s.count[d] * s.step[d] == t.start[d]
				       : s.start[d] == t.start[d] && s.count[d] == t.count[d]);

		if (!fits) {
			return HN_NONE;
		}
	}
	s.count[axis] += t.count[axis];
	return sliced(g, p->in[0], &s);
}

int32_t hn_pass_join_slices(struct hn_graph *g, const struct hn_gnode *n)
{
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0), left = 0;
	int32_t *in = HN_NEW_ARRAY(g->arena, int32_t, n->n_in);
	struct hn_gattr attr = hn_gattr_of_int(g->arena, "axis", axis);

	for (uint32_t i = 0; i < n->n_in; i++) {
		int32_t both = left > 0 ? side_by_side(g, in[left - 1], n->in[i], axis) : HN_NONE;

		if (both != HN_NONE) {
			in[left - 1] = both;
		} else {
			in[left++] = n->in[i];
		}
	}
	return left == n->n_in ? HN_NONE
	       : left == 1     ? in[0]
			       : hn_graph_add(g, "concat", left, in, 1, &attr);
}

int32_t hn_pass_slice_part(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gnode *all = hn_pass_made_by(g, n->in[0], "concat");
	struct slice s = read_slice(n, g->value[n->in[0]].rank);
	uint32_t axis = all != NULL ? (uint32_t)hn_gattr_int(all, "axis", 0) : 0;

	for (uint32_t i = 0; all != NULL && s.step[axis] == 1 && i < all->n_in; i++) {
		int64_t extent = g->value[all->in[i]].shape[axis];

		if (s.start[axis] >= 0 && s.start[axis] + s.count[axis] <= extent) {
			return sliced(g, all->in[i], &s);
		}
		s.start[axis] -= extent;
	}
	return HN_NONE;
}
