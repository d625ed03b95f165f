/* graph/op/reshape.c -- other shapes of the same elements in the same order.
 *
 * `reshape` has the attribute shape, of numbers.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/reshape.h"
#include "graph/op/rows.h"

#define LL(x) ((long long)(x))

static int32_t reshaped(const struct hn_gcall *c, uint32_t rank, const int64_t *shape)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gattr attr = hn_gattr_of_ints("shape", rank, shape);
	struct hn_gvalue to = { .rank = rank, .shape = shape };

	if (rank > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%s: %u dimensions",
				     c->node->op->name, rank);
	}
	if (hn_gvalue_elements(x) != hn_gvalue_elements(&to)) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "%s: shape %s does not become %s", c->node->op->name,
				     hn_shape_text(c->g->arena, x->rank, x->shape),
				     hn_shape_text(c->g->arena, rank, shape));
	}
	if (rank == x->rank && memcmp(shape, x->shape, rank * sizeof(*shape)) == 0) {
		return hn_gcall_arg(c, 0);
	}
	return hn_graph_add(c->g, "reshape", 1, c->node->in, 1, &attr);
}

/* -1 is what is left, and 0 the operand's dimension, unless allowzero is set. */
int32_t hn_reshape_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool zero = hn_gattr_int(c->node, "allowzero", 0) != 0;
	int64_t shape[HN_GRAPH_MAX_RANK] = { 0 }, known = 1;
	const int64_t *given;
	int32_t open = -1;
	uint32_t n;

	if (!hn_gcall_list(c, "shape", 5, 1, &n, &given)) {
		return HN_BAD;
	}
	if (n > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Reshape to %u dimensions",
				     n);
	}
	for (uint32_t d = 0; d < n; d++) {
		if (given[d] < -1 || (given[d] == -1 && open >= 0) ||
		    (given[d] == 0 && !zero && d >= x->rank)) {
			return hn_graph_fail(c->g, HONE_E_INVALID, "Reshape to %s",
					     hn_shape_text(c->g->arena, n, given));
		}
		shape[d] = given[d] == 0 && !zero ? x->shape[d] : given[d];
		open = given[d] == -1 ? (int32_t)d : open;
		known = given[d] == -1 ? known : known * shape[d];
		if (known < 0 || known > HN_GRAPH_MAX_ELEMENTS) {
			return hn_graph_fail(c->g, HONE_E_INVALID, "Reshape to %s",
					     hn_shape_text(c->g->arena, n, given));
		}
	}
	if (open >= 0) {
		shape[open] = known > 0 ? hn_gvalue_elements(x) / known : 0;
	}
	return reshaped(c, n, shape);
}

int32_t hn_flatten_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axis = hn_gattr_int(c->node, "axis", 1), shape[2] = { 1, 1 };

	axis = axis < 0 ? axis + x->rank : axis;
	if (axis < 0 || axis > (int64_t)x->rank) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "Flatten: axis of a tensor with %u dimensions",
				     x->rank);
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		shape[d >= axis] *= x->shape[d];
	}
	return reshaped(c, 2, shape);
}

int32_t hn_squeeze_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool drop[HN_GRAPH_MAX_RANK] = { false };
	int64_t shape[HN_GRAPH_MAX_RANK];
	uint32_t n, keep = 0, axis;
	const int64_t *axes;

	if (!hn_gcall_list(c, "axes", 13, 1, &n, &axes)) {
		return HN_BAD;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!hn_gcall_axis(c, axes[i], x->rank, &axis)) {
			return HN_BAD;
		}
		if (x->shape[axis] != 1) {
			return hn_graph_fail(c->g, HONE_E_INVALID,
					     "Squeeze of a dimension of %lld",
					     LL(x->shape[axis]));
		}
		drop[axis] = true;
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		if (!(n == 0 ? x->shape[d] == 1 : drop[d])) {
			shape[keep++] = x->shape[d];
		}
	}
	return reshaped(c, keep, shape);
}

int32_t hn_unsqueeze_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	bool new[HN_GRAPH_MAX_RANK] = { false };
	int64_t shape[HN_GRAPH_MAX_RANK];
	uint32_t n, from = 0, axis;
	const int64_t *axes;

	if (!hn_gcall_list(c, "axes", 13, 1, &n, &axes)) {
		return HN_BAD;
	}
	if (n + x->rank > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "Unsqueeze to %u dimensions", n + x->rank);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!hn_gcall_axis(c, axes[i], x->rank + n, &axis)) {
			return HN_BAD;
		}
		if (new[axis]) {
			return hn_graph_fail(c->g, HONE_E_INVALID,
					     "Unsqueeze: axis %u twice", axis);
		}
		new[axis] = true;
	}
	for (uint32_t d = 0; d < x->rank + n; d++) {
		shape[d] = new[d] ? 1 : x->shape[from++];
	}
	return reshaped(c, x->rank + n, shape);
}

bool hn_reshape_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *shape = hn_gattr_find(c->node, "shape");

	*ret = (struct hn_gshape){ .dtype = hn_gcall_in(c, 0)->dtype, .rank = shape->n };
	memcpy(ret->dim, shape->i, shape->n * sizeof(*shape->i));
	return true;
}

bool hn_reshape_next(const struct hn_gvalue *x, const struct hn_gvalue *y,
		     struct hn_reshape_block *k)
{
	int64_t p = 1, q = 1;

	k->a0 = k->a1;
	k->b0 = k->b1;
	if (k->a0 == x->rank && k->b0 == y->rank) {
		return false;
	}
	do {
		if ((p <= q && k->a1 < x->rank) || k->b1 == y->rank) {
			p *= x->shape[k->a1++];
		} else {
			q *= y->shape[k->b1++];
		}
	} while (p != q);
	return true;
}

/* The indices of x's dimensions in a block, from those of y's. */
static void put_block(const struct hn_gvalue *x, const struct hn_gvalue *y,
		      const struct hn_reshape_block *k, hn_say_index *from)
{
	int64_t stride = 1, weight = 1;
	hn_say_index flat = "";
	size_t n = 0;

	for (uint32_t d = k->b0; d < k->b1; d++) {
		weight *= y->shape[d];
	}
	for (uint32_t d = k->b0; d < k->b1; d++) {
		weight /= y->shape[d];
		if (y->shape[d] != 1 && n < sizeof(flat)) {
			n += (size_t)snprintf(flat + n, sizeof(flat) - n, "%si%u",
					      n > 0 ? " + " : "", d);
			if (weight != 1 && n < sizeof(flat)) {
				n += (size_t)snprintf(flat + n, sizeof(flat) - n,
						      " * %lld", LL(weight));
			}
		}
	}
	for (uint32_t d = k->a1; d-- > k->a0;) {
		bool first = true;

		for (uint32_t e = k->a0; e < d; e++) {
			first &= x->shape[e] == 1;
		}
		if (x->shape[d] == 1) {
			snprintf(from[d], sizeof(from[d]), "0");
		} else if (stride == 1 && first) {
			snprintf(from[d], sizeof(from[d]), "%.150s", flat);
		} else if (stride == 1) {
			snprintf(from[d], sizeof(from[d]), "(%.110s) %% %lld", flat,
				 LL(x->shape[d]));
		} else if (first) {
			snprintf(from[d], sizeof(from[d]), "(%.110s) / %lld", flat,
				 LL(stride));
		} else {
			snprintf(from[d], sizeof(from[d]), "(%.90s) / %lld %% %lld", flat,
				 LL(stride), LL(x->shape[d]));
		}
		stride *= x->shape[d];
	}
}

void hn_reshape_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *y = &s->g->value[n->out[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	struct hn_reshape_block k = { 0, 0, 0, 0 };

	hn_say_indices(index, y->rank);
	while (hn_reshape_next(x, y, &k)) {
		put_block(x, y, &k, from);
	}
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
