/* graph/op/matmul.c -- products of matrices.
 *
 * `matmul` multiplies [.., M, K] by [.., K, N], the dimensions in front broadcast; attributes
 * trans_a, trans_b say that the last two are exchanged.  graph/op/sum.h has its types.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/sum.h"

/* All zeros, of the product's shape. */
static int32_t product_of_nothing(const struct hn_gcall *c, const struct hn_gvalue *a,
				  const struct hn_gvalue *b)
{
	struct hn_gshape to = { .rank = a->rank > 2 ? a->rank - 2 : 0 };
	struct hn_gvalue batch = { .rank = b->rank > 2 ? b->rank - 2 : 0,
				   .shape = b->shape };
	int64_t k = b->rank > 1 ? b->shape[b->rank - 2] : b->shape[0], *shape;
	int32_t zero = hn_graph_scalar(c->g, a->dtype, 0);

	memcpy(to.dim, a->shape, to.rank * sizeof(*to.dim));
	if (a->dtype != b->dtype || a->shape[a->rank - 1] != k) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "MatMul of %s and %s does not fit",
				     hn_shape_text(c->g->arena, a->rank, a->shape),
				     hn_shape_text(c->g->arena, b->rank, b->shape));
	}
	if (!hn_gcall_broadcast(c, &to, &batch)) {
		return HN_BAD;
	}
	shape = HN_NEW_ARRAY(c->g->arena, int64_t, HN_GRAPH_MAX_RANK);
	memcpy(shape, to.dim, to.rank * sizeof(*shape));
	if (a->rank > 1) {
		shape[to.rank++] = a->shape[a->rank - 2];
	}
	if (b->rank > 1) {
		shape[to.rank++] = b->shape[b->rank - 1];
	}
	return hn_graph_const(c->g, c->g->at, a->dtype, to.rank, shape,
			      c->g->value[zero].data, true);
}

/* A vector is a matrix of one row (left) or one column (right), and the result has no such
 * dimension. */
int32_t hn_matmul_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *a = hn_gcall_in(c, 0), *b = hn_gcall_in(c, 1);
	uint32_t a_rank = a->rank, b_rank = b->rank, keep = 0;
	int32_t x = hn_gcall_arg(c, 0), y = hn_gcall_arg(c, 1), z;
	int64_t shape[HN_GRAPH_MAX_RANK];

	if (a_rank == 0 || b_rank == 0) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "MatMul of a scalar");
	}
	if (hn_gvalue_elements(a) == 0 || hn_gvalue_elements(b) == 0) {
		return product_of_nothing(c, a, b);
	}
	x = a_rank > 1 ? x : hn_reshaped(c->g, x, 2, (int64_t[]){ 1, a->shape[0] });
	y = b_rank > 1
		    ? y
		    : hn_reshaped(c->g, y, 2, (int64_t[]){ c->g->value[y].shape[0], 1 });
	z = hn_graph_2(c->g, "matmul", x, y);
	if (z < 0 || (a_rank > 1 && b_rank > 1)) {
		return z;
	}
	for (uint32_t d = 0; d < c->g->value[z].rank; d++) {
		bool row = a_rank == 1 && d == c->g->value[z].rank - 2;
		bool column = b_rank == 1 && d == c->g->value[z].rank - 1;

		if (!row && !column) {
			shape[keep++] = c->g->value[z].shape[d];
		}
	}
	return hn_reshaped(c->g, z, keep, shape);
}

int32_t hn_gemm_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *a = hn_gcall_in(c, 0), *b = hn_gcall_in(c, 1);
	int64_t trans_a = hn_gattr_int(c->node, "transA", 0) != 0;
	int64_t trans_b = hn_gattr_int(c->node, "transB", 0) != 0;
	struct hn_gattr attr[] = { hn_gattr_of_ints("trans_a", 1, &trans_a),
				   hn_gattr_of_ints("trans_b", 1, &trans_b) };
	int32_t y;

	if (a->rank != 2 || b->rank != 2 ||
	    !(hn_is_float(a) || hn_dtype_bits(a->dtype) >= 31)) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "Gemm of no matrices of numbers");
	}
	y = hn_graph_add(c->g, "matmul", 2, c->node->in, 2, attr);
	y = hn_scaled(c->g, y, hn_gattr_float(c->node, "alpha", 1));
	return hn_gcall_in(c, 2) == NULL
		       ? y
		       : hn_graph_2(c->g, "Add", y,
				    hn_scaled(c->g, hn_gcall_arg(c, 2),
					      hn_gattr_float(c->node, "beta", 1)));
}

/* Rows, columns of a matrix as it is multiplied. */
static int64_t side(const struct hn_gvalue *v, uint32_t which, bool exchanged)
{
	return v->shape[v->rank - 2 + (which ^ (exchanged ? 1u : 0u))];
}

bool hn_matmul_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *a = hn_gcall_in(c, 0), *b = hn_gcall_in(c, 1);
	bool trans_a = hn_gattr_int(c->node, "trans_a", 0);
	bool trans_b = hn_gattr_int(c->node, "trans_b", 0);
	enum hn_dtype t = hn_sum_result(c->node, a->dtype, b->dtype);
	struct hn_gvalue batch = *b;

	if (t == HN_N_DTYPE || a->rank < 2 || b->rank < 2 ||
	    side(a, 1, trans_a) != side(b, 0, trans_b)) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "a product of %s%s and %s%s does not fit",
			      hn_dtype_name(a->dtype),
			      hn_shape_text(c->g->arena, a->rank, a->shape),
			      hn_dtype_name(b->dtype),
			      hn_shape_text(c->g->arena, b->rank, b->shape));
		return false;
	}
	*ret = (struct hn_gshape){ .dtype = (uint8_t)t, .rank = a->rank - 2 };
	memcpy(ret->dim, a->shape, ret->rank * sizeof(*a->shape));
	batch.rank -= 2;
	if (!hn_gcall_broadcast(c, ret, &batch)) {
		return false;
	}
	ret->dim[ret->rank++] = side(a, 0, trans_a);
	ret->dim[ret->rank++] = side(b, 1, trans_b);
	return true;
}

/* An operand's element: the batch dimensions of the result, then two names. */
static void put_operand(struct hn_say *s, int32_t v, int32_t out,
			const hn_say_index *index, const char *row, const char *column,
			bool exchanged)
{
	uint32_t out_rank = s->g->value[out].rank;
	hn_say_index at[HN_GRAPH_MAX_RANK];

	memcpy(at, index, sizeof(at));
	snprintf(at[out_rank - 2], sizeof(at[0]), "%s", exchanged ? column : row);
	snprintf(at[out_rank - 1], sizeof(at[0]), "%s", exchanged ? row : column);
	hn_sum_open(s, out, s->g->value[v].dtype);
	hn_say_broadcast(s, v, out, 2, at);
	hn_sum_close(s, out, s->g->value[v].dtype);
}

void hn_matmul_say(struct hn_say *s, const struct hn_gnode *n)
{
	bool trans_a = hn_gattr_int(n, "trans_a", 0),
	     trans_b = hn_gattr_int(n, "trans_b", 0);
	uint32_t rank = s->g->value[n->out[0]].rank, temp;
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, rank);
	temp = hn_sum_left(s, n->out[0], index);
	hn_say_text(s, " +=! ");
	put_operand(s, n->in[0], n->out[0], index, index[rank - 2], "k", trans_a);
	hn_say_text(s, " * ");
	put_operand(s, n->in[1], n->out[0], index, "k", index[rank - 1], trans_b);
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "k", side(&s->g->value[n->in[0]], 1, trans_a));
	hn_say_end(s);
	hn_sum_end(s, n->out[0], temp, index);
}
