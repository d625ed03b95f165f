/* graph/net/layout.c -- orders of dimensions. */
#include "graph/net/layout.h"

#include <string.h>

#include "graph/ir/op.h"
#include "graph/op/reshape.h"

static uint8_t at(const struct hn_gvalue *v, uint32_t k)
{
	return v->order != NULL ? v->order[k] : (uint8_t)k;
}

static const uint8_t *channels_last(struct hn_arena *a, uint32_t rank)
{
	uint8_t *order = HN_NEW_ARRAY(a, uint8_t, rank);

	for (uint32_t k = 0; k < rank; k++) {
		order[k] = (uint8_t)(k == 0 ? 0 : k + 1 < rank ? k + 1 : 1);
	}
	return order;
}

static bool is_row_major(const struct hn_gvalue *v)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < v->rank; k++) {
		uint32_t d = at(v, k);

		if (v->shape[d] != 1) { /* where dimensions of one lie changes nothing */
			if (d < before) {
				return false;
			}
			before = d;
		}
	}
	return true;
}

static bool same_shape(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	return x->rank == y->rank &&
	       (x->rank == 0 || memcmp(x->shape, y->shape, x->rank * sizeof(*x->shape)) == 0);
}

static bool is_op(const struct hn_gnode *n, const char *name)
{
	return strcmp(n->op->name, name) == 0;
}

/* The order of a transposition's result, so that it is the operand's memory; and the other way
 * round, of the operand so that the result has `order`. */
static const uint8_t *transposed(struct hn_arena *a, const struct hn_gnode *n, uint32_t rank,
				 const uint8_t *order, bool back)
{
	const struct hn_gattr *perm = hn_gattr_find(n, "perm");
	uint8_t *to = HN_NEW_ARRAY(a, uint8_t, rank);

	for (uint32_t k = 0; k < rank; k++) {
		uint32_t from = order != NULL ? order[k] : k;

		for (uint32_t d = 0; d < rank; d++) {
			if (back && d == from) {
				to[k] = (uint8_t)perm->i[d];
			} else if (!back && perm->i[d] == from) {
				to[k] = (uint8_t)d;
			}
		}
	}
	return to;
}

/* -- reshapes ----------------------------------------------------------------------------- */

/* Of each dimension of a reshape's operand and result, the block that it is in. */
struct blocks {
	uint32_t n;
	uint8_t of_x[HN_GRAPH_MAX_RANK], of_y[HN_GRAPH_MAX_RANK];
};

static struct blocks find_blocks(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	struct hn_reshape_block k = { 0, 0, 0, 0 };
	struct blocks b = { 0 };

	for (; hn_reshape_next(x, y, &k); b.n++) {
		memset(b.of_x + k.a0, (int)b.n, k.a1 - k.a0);
		memset(b.of_y + k.b0, (int)b.n, k.b1 - k.b0);
	}
	return b;
}

/* The result's order: blocks as the operand has them, the dimensions of each as they are written.
 * Those of one come first, as the batch does in images. */
static const uint8_t *reshaped(struct hn_arena *a, const struct hn_gvalue *x,
			       const struct hn_gvalue *y)
{
	const struct blocks b = find_blocks(x, y);
	uint8_t *order = HN_NEW_ARRAY(a, uint8_t, y->rank);
	bool done[HN_GRAPH_MAX_RANK] = { false };
	uint32_t n = 0;

	for (uint32_t d = 0; d < y->rank; d++) {
		if (y->shape[d] == 1) {
			order[n++] = (uint8_t)d;
			done[d] = true;
		}
	}
	for (uint32_t k = 0; k < x->rank; k++) {
		for (uint32_t d = 0; d < y->rank && x->shape[at(x, k)] != 1; d++) {
			if (!done[d] && b.of_y[d] == b.of_x[at(x, k)]) {
				order[n++] = (uint8_t)d;
				done[d] = true;
			}
		}
	}
	return order;
}

/* Blocks in the order of memory, but those of ones; false where a block does not lie together, in
 * the order in which it is written. */
static bool block_order(const struct hn_gvalue *v, const uint8_t *of, uint32_t *ret_n,
			uint8_t *ret)
{
	bool seen[2 * HN_GRAPH_MAX_RANK] = { false };
	uint32_t last = 0;

	*ret_n = 0;
	for (uint32_t k = 0; k < v->rank; k++) {
		uint32_t d = at(v, k);

		if (v->shape[d] == 1) {
			continue;
		}
		if (*ret_n > 0 && ret[*ret_n - 1] == of[d]) {
			if (d < last) {
				return false;
			}
		} else if (seen[of[d]]) {
			return false;
		} else {
			ret[(*ret_n)++] = of[d];
		}
		seen[of[d]] = true;
		last = d;
	}
	return true;
}

static bool reshape_is_alias(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	const struct blocks b = find_blocks(x, y);
	uint8_t of_x[HN_GRAPH_MAX_RANK], of_y[HN_GRAPH_MAX_RANK];
	uint32_t n, m;

	return block_order(x, b.of_x, &n, of_x) && block_order(y, b.of_y, &m, of_y) && n == m &&
	       memcmp(of_x, of_y, n) == 0;
}

/* -- what readers want ------------------------------------------------------------------- */

struct wish {
	bool is;
	const uint8_t *order; /* NULL: row-major */
};

/* From the last node to the first: reshapes and outputs want row-major values; element-wise nodes
 * and transpositions hand the wish on. */
static struct wish *find_wishes(struct hn_graph *g)
{
	struct wish *wish = HN_NEW_ARRAY(g->arena, struct wish, g->n_value);

	for (uint32_t i = 0; i < g->n_output; i++) {
		wish[g->output[i]].is = true;
	}
	for (uint32_t i = g->n_node; i-- > 0;) {
		const struct hn_gnode *n = &g->node[i];
		const struct wish *mine = &wish[n->out[0]];
		const struct hn_gvalue *out = &g->value[n->out[0]];

		for (uint32_t k = 0; k < n->n_in; k++) {
			struct wish *to = n->in[k] >= 0 ? &wish[n->in[k]] : NULL;

			if (to == NULL || to->is) {
				continue;
			}
			if (n->op->class == HN_GOP_VIEW) {
				to->is = true;
			} else if (mine->is && is_op(n, "transpose")) {
				*to = (struct wish){ true, transposed(g->arena, n, out->rank,
								      mine->order, true) };
			} else if (mine->is && n->op->class == HN_GOP_ELEMENTWISE &&
				   same_shape(&g->value[n->in[k]], out)) {
				*to = *mine;
			}
		}
	}
	return wish;
}

/* -- orders ------------------------------------------------------------------------------ */

/* Element-wise results, slices, joins lie as the operand that is as large. */
static const uint8_t *inherited(const struct hn_graph *g, const struct hn_gnode *n,
				const struct hn_gvalue *out)
{
	const struct hn_gvalue *best = NULL;

	for (uint32_t k = 0; k < n->n_in; k++) {
		const struct hn_gvalue *v = n->in[k] >= 0 ? &g->value[n->in[k]] : NULL;

		if (v != NULL && v->data == NULL && v->rank == out->rank &&
		    (best == NULL || hn_gvalue_elements(v) > hn_gvalue_elements(best))) {
			best = v;
		}
	}
	return best != NULL ? best->order : NULL;
}

static bool is_image_op(const struct hn_gnode *n)
{
	return hn_gattr_find(n, "kernel") != NULL; /* what has windows */
}

static const uint8_t *order_of(struct hn_graph *g, const struct hn_gnode *n,
			       const struct wish *wish, bool row_major, bool plain)
{
	const struct hn_gvalue *out = &g->value[n->out[0]];

	if (is_op(n, "transpose")) {
		return transposed(g->arena, n, out->rank, g->value[n->in[0]].order, false);
	}
	if (is_image_op(n) && out->shape[1] > 1) { /* one channel lies anywhere */
		return row_major || plain ? NULL : channels_last(g->arena, out->rank);
	}
	switch (n->op->class) {
	case HN_GOP_VIEW:
		return reshaped(g->arena, &g->value[n->in[0]], out);
	case HN_GOP_CONTRACT:
		return wish->is ? wish->order : NULL;
	default:
		return plain ? NULL : inherited(g, n, out);
	}
}

static bool is_output(const struct hn_graph *g, int32_t v)
{
	for (uint32_t i = 0; i < g->n_output; i++) {
		if (g->output[i] == v) {
			return true;
		}
	}
	return false;
}

void hn_layout_choose(struct hn_graph *g, bool row_major, const uint8_t *plain)
{
	const struct wish *wish = find_wishes(g);

	for (uint32_t i = 0; i < g->n_node; i++) {
		const struct hn_gnode *n = &g->node[i];

		for (uint32_t k = 0; k < n->n_out; k++) {
			struct hn_gvalue *v = &g->value[n->out[k]];
			bool by_itself = plain != NULL && plain[n->out[k]] != 0;

			v->order = is_output(g, n->out[k]) ? NULL
							   : order_of(g, n, &wish[n->out[k]], row_major,
								      by_itself);
			v->order = is_row_major(v) ? NULL : v->order;
		}
	}
}

bool hn_layout_is_alias(const struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gvalue *x, *y;
	const uint8_t *order;

	if (n->n_in == 0) {
		return false;
	}
	x = &g->value[n->in[0]];
	y = &g->value[n->out[0]];
	if (n->op->class == HN_GOP_VIEW) {
		return reshape_is_alias(x, y);
	}
	if (!is_op(n, "transpose")) {
		return false;
	}
	order = transposed(g->arena, n, y->rank, x->order, false);
	/* dimensions of one aside, in the same order */
	for (uint32_t k = 0, j = 0; k < y->rank; k++) {
		if (y->shape[order[k]] == 1) {
			continue;
		}
		while (y->shape[at(y, j)] == 1) {
			j++;
		}
		if (at(y, j++) != order[k]) {
			return false;
		}
	}
	return true;
}
