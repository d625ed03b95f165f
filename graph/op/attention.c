/* graph/op/attention.c -- ONNX's Attention: softmax(scale Q K' + mask) V, for each head.
 *
 * Heads of the query that share keys are rows of one product.  What a mask of numbers alone leaves
 * out is a comparison of indices; a row that attends to nothing is zero.
 */
#include <math.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/dtype.h"
#include "graph/op/rows.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, FILLED };

struct attention {
	const struct hn_gcall *c;
	struct hn_graph *g;
	enum hn_dtype type;
	int64_t batch, heads, shared; /* heads of Q, and of K and V */
	int64_t rows, columns, size;  /* queries, keys, length of both */
	int64_t before;		      /* keys before the first query; where nothing else says */
	int32_t before_each;	      /* the same of each of the batch, [batch,1,1,1]; or HN_NONE */
	int32_t q, k, v;
};

static int32_t not_fit(const struct attention *a, const char *what)
{
	const struct hn_gvalue *q = hn_gcall_in(a->c, Q), *k = hn_gcall_in(a->c, K);
	const struct hn_gvalue *v = hn_gcall_in(a->c, V);

	return hn_graph_fail(a->g, HONE_E_INVALID, "Attention of %s, %s and %s: %s",
			     hn_shape_text(a->g->arena, q->rank, q->shape),
			     hn_shape_text(a->g->arena, k->rank, k->shape),
			     hn_shape_text(a->g->arena, v->rank, v->shape), what);
}

/* [batch, n, heads * size] as [batch, heads, n, size]. */
static int32_t split_heads(struct attention *a, uint32_t operand, int64_t heads)
{
	const struct hn_gvalue *x = hn_gcall_in(a->c, operand);
	int32_t v = hn_gcall_arg(a->c, operand);
	const int64_t perm[] = { 0, 2, 1, 3 };

	if (x->rank == 4) {
		return v;
	}
	if (heads < 1 || x->shape[2] % heads != 0) {
		return not_fit(a, "the last dimension is no multiple of the number of heads");
	}
	const int64_t shape[] = { x->shape[0], x->shape[1], heads, x->shape[2] / heads };

	return hn_transposed(a->g, hn_reshaped(a->g, v, 4, shape), 4, perm);
}

/* What was there before, and what is new. */
static int32_t with_past(struct attention *a, uint32_t operand, int32_t v)
{
	const int32_t in[] = { hn_gcall_arg(a->c, operand), v };
	struct hn_gattr axis = hn_gattr_of_int(a->g->arena, "axis", 2);

	return hn_gcall_in(a->c, operand) == NULL ? v
						  : hn_graph_add(a->g, "Concat", 2, in, 1, &axis);
}

static bool read_operands(struct attention *a)
{
	const struct hn_gvalue *q = hn_gcall_in(a->c, Q), *k = hn_gcall_in(a->c, K);
	const struct hn_gvalue *v = hn_gcall_in(a->c, V), *past = hn_gcall_in(a->c, PAST_K);
	const struct hn_gnode *n = a->c->node;

	if (!hn_is_float(q) || k->dtype != q->dtype || !hn_is_float(v) || q->rank != k->rank ||
	    q->rank != v->rank || q->rank < 3 || q->rank > 4) {
		not_fit(a, "3 or 4 dimensions and one type are needed");
		return false;
	}
	if ((past == NULL) != (hn_gcall_in(a->c, PAST_V) == NULL) ||
	    (past != NULL && (past->rank != 4 || hn_gcall_in(a->c, FILLED) != NULL))) {
		not_fit(a, "past keys and past values come together, without lengths");
		return false;
	}
	a->type = (enum hn_dtype)q->dtype;
	a->before = past != NULL ? past->shape[2] : 0;
	a->q = split_heads(a, Q, hn_gattr_int(n, "q_num_heads", 0));
	a->k = split_heads(a, K, hn_gattr_int(n, "kv_num_heads", 0));
	a->v = split_heads(a, V, hn_gattr_int(n, "kv_num_heads", 0));
	a->k = with_past(a, PAST_K, a->k);
	a->v = with_past(a, PAST_V, a->v);
	if (a->q < 0 || a->k < 0 || a->v < 0) {
		return false;
	}
	q = &a->g->value[a->q];
	k = &a->g->value[a->k];
	v = &a->g->value[a->v];
	a->batch = q->shape[0];
	a->heads = q->shape[1];
	a->rows = q->shape[2];
	a->size = q->shape[3];
	a->shared = k->shape[1];
	a->columns = k->shape[2];
	if (k->shape[0] != a->batch || v->shape[0] != a->batch || v->shape[1] != a->shared ||
	    v->shape[2] != a->columns || k->shape[3] != a->size || a->heads % a->shared != 0) {
		not_fit(a, "batches, heads or lengths do not fit");
		return false;
	}
	return true;
}

/* The product of x and the keys or values y: the heads that share y are rows of one matrix. */
static int32_t product(struct attention *a, int32_t x, int32_t y, int64_t transposed)
{
	struct hn_gattr attr = hn_gattr_of_ints("trans_b", 1, &transposed);
	int32_t in[2] = { x, y };

	if (x < 0 || y < 0) {
		return HN_BAD;
	}
	const int64_t width = a->g->value[x].shape[3];
	const int64_t narrow = a->g->value[y].shape[transposed ? 2 : 3];
	const int64_t rows[] = { a->batch, a->shared, a->heads / a->shared * a->rows, width };
	const int64_t whole[] = { a->batch, a->heads, a->rows, narrow };

	in[0] = hn_reshaped(a->g, x, 4, rows);
	return hn_reshaped(a->g, hn_graph_add(a->g, "matmul", 2, in, 1, &attr), 4, whole);
}

/* -- masks ------------------------------------------------------------------------------ */

/* x where column - row >= k (upper), or <= k; `otherwise` elsewhere. */
static int32_t band(struct hn_graph *g, int32_t x, int64_t upper, int64_t k, double otherwise)
{
	struct hn_gattr attr[] = { hn_gattr_of_ints("upper", 1, &upper),
				   hn_gattr_of_ints("k", 1, &k),
				   hn_attr_float("fill", &otherwise) };

	return hn_graph_add(g, "triangle", 1, &x, 3, attr);
}

/* The numbers of columns less those of rows, [rows, columns]. */
static int32_t distances(struct attention *a)
{
	int32_t row = hn_along(a->g, hn_counting(a->g, a->rows), 0, 2);

	return hn_graph_2(a->g, "Sub", hn_counting(a->g, a->columns), row);
}

/* x where the condition holds. */
static int32_t kept(struct attention *a, int32_t condition, int32_t x, double otherwise)
{
	if (x < 0) {
		return x;
	}
	const int32_t in[] = { condition, x,
			       hn_graph_scalar(a->g, (enum hn_dtype)a->g->value[x].dtype, otherwise) };

	return hn_graph_add(a->g, "Where", 3, in, 0, NULL);
}

/* x in the band of `is_causal` and the windows, of those columns that are filled. */
static int32_t in_band(struct attention *a, int32_t x, double otherwise)
{
	const struct hn_gnode *n = a->c->node;
	bool causal = hn_gattr_int(n, "is_causal", 0) != 0;
	int64_t left = hn_gattr_int(n, "left_window_size", -1);
	int64_t right = hn_gattr_int(n, "right_window_size", -1);

	right = causal ? 0 : right;
	if (a->before_each == HN_NONE) {
		x = right < 0 ? x : band(a->g, x, 0, a->before + right, otherwise);
		return left < 0 ? x : band(a->g, x, 1, a->before - left, otherwise);
	}
	int32_t at = right < 0 && left < 0 ? HN_NONE : distances(a), end;

	if (right >= 0) {
		end = hn_plus(a->g, a->before_each, (double)right);
		x = kept(a, hn_graph_2(a->g, "LessOrEqual", at, end), x, otherwise);
	}
	if (left >= 0) {
		end = hn_plus(a->g, a->before_each, (double)-left);
		x = kept(a, hn_graph_2(a->g, "GreaterOrEqual", at, end), x, otherwise);
	}
	/* before + rows = how many are filled */
	end = hn_plus(a->g, a->before_each, (double)a->rows);
	return kept(a, hn_graph_2(a->g, "Less", hn_counting(a->g, a->columns), end), x, otherwise);
}

/* The mask, with as many columns as there are; HN_NONE: there is none. */
static int32_t read_mask(struct attention *a)
{
	const struct hn_gvalue *m = hn_gcall_in(a->c, MASK);
	int64_t *shape = HN_NEW_ARRAY(a->g->arena, int64_t, HN_GRAPH_MAX_RANK);
	int32_t in[] = { hn_gcall_arg(a->c, MASK), HN_NONE };
	struct hn_gattr axis;

	if (m == NULL) {
		return HN_NONE;
	}
	if (m->rank < 1 || (m->dtype != HN_BOOL && !hn_is_float(m))) {
		return not_fit(a, "the mask is of bool, or of floats");
	}
	int64_t given = m->shape[m->rank - 1];

	if (given >= a->columns || given == 1) {
		return in[0];
	}
	memcpy(shape, m->shape, m->rank * sizeof(*shape));
	shape[m->rank - 1] = a->columns - given;
	axis = hn_gattr_of_int(a->g->arena, "axis", m->rank - 1);
	in[1] = hn_graph_scalar(a->g, (enum hn_dtype)m->dtype, m->dtype == HN_BOOL ? 0 : -INFINITY);
	in[1] = hn_graph_const(a->g, a->g->at, (enum hn_dtype)m->dtype, m->rank, shape,
			       a->g->value[in[1]].data, true);
	return hn_graph_add(a->g, "Concat", 2, in, 1, &axis);
}

static int32_t masked(struct attention *a, int32_t x, int32_t mask)
{
	if (mask >= 0 && x >= 0) {
		x = a->g->value[mask].dtype == HN_BOOL
			    ? kept(a, mask, x, -INFINITY)
			    : hn_graph_2(a->g, "Add", x, hn_cast_to(a->g, mask, a->type));
	}
	return in_band(a, x, -INFINITY);
}

/* Whether a query may have no key at all. */
static bool may_be_empty(const struct attention *a, int32_t mask)
{
	int64_t left = hn_gattr_int(a->c->node, "left_window_size", -1);

	return mask != HN_NONE || a->before_each != HN_NONE ||
	       (left >= 0 && a->rows - 1 + a->before - left > a->columns - 1);
}

/* p, zero in rows without a key. */
static int32_t without_empty(struct attention *a, int32_t p, int32_t mask)
{
	struct hn_graph *g = a->g;
	int64_t *shape = HN_NEW_ARRAY(g->arena, int64_t, 2), last;
	int32_t some = mask, one = hn_graph_scalar(g, HN_F32, 1);

	if (mask >= 0 && g->value[mask].dtype != HN_BOOL) {
		some = hn_graph_2(g, "Greater", mask,
				  hn_graph_scalar(g, (enum hn_dtype)g->value[mask].dtype, -INFINITY));
	}
	shape[0] = a->rows;
	shape[1] = a->columns;
	one = hn_graph_const(g, g->at, HN_F32, 2, shape, g->value[one].data, true);
	some = some == HN_NONE ? one : hn_graph_2(g, "Mul", one, hn_cast_to(g, some, HN_F32));
	some = in_band(a, some, 0);
	if (some < 0) {
		return some;
	}
	last = g->value[some].rank - 1;
	some = hn_reduced(g, some, "max=!", 1, &last, true);
	return kept(a, hn_graph_2(g, "Greater", some, hn_graph_scalar(g, HN_F32, 0)), p, 0);
}

/* -- the whole -------------------------------------------------------------------------- */

static int32_t softmax(struct attention *a, int32_t x, int32_t mask)
{
	int64_t to = hn_gattr_int(a->c->node, "softmax_precision", 0);
	struct hn_gattr axis = hn_gattr_of_int(a->g->arena, "axis", -1);
	enum hn_dtype type = to == 0 ? a->type : hn_dtype_of_onnx(to);

	if (type == HN_N_DTYPE || hn_dtype_class(type) != HN_CLASS_FLOAT) {
		return not_fit(a, "softmax_precision is no type of floats");
	}
	x = hn_cast_to(a->g, x, type);
	x = hn_graph_add(a->g, "Softmax", 1, &x, 1, &axis);
	x = may_be_empty(a, mask) ? without_empty(a, x, mask) : x;
	return hn_cast_to(a->g, x, a->type);
}

/* [batch, heads, n, size] as the operands were. */
static int32_t join_heads(struct attention *a, int32_t y)
{
	const int64_t perm[] = { 0, 2, 1, 3 };

	if (y < 0 || hn_gcall_in(a->c, Q)->rank == 4) {
		return y;
	}
	const int64_t shape[] = { a->batch, a->rows, a->heads * a->g->value[y].shape[3] };

	return hn_reshaped(a->g, hn_transposed(a->g, y, 4, perm), 3, shape);
}

/* The lengths of what is filled of the keys: less the queries, the keys before them. */
static bool read_filled(struct attention *a)
{
	const struct hn_gvalue *filled = hn_gcall_in(a->c, FILLED);
	const int64_t shape[] = { a->batch, 1, 1, 1 };

	a->before_each = HN_NONE;
	if (filled == NULL) {
		return true;
	}
	if (filled->dtype != HN_I64 || hn_gvalue_elements(filled) != a->batch) {
		not_fit(a, "a length for each of the batch is needed");
		return false;
	}
	a->before_each = hn_reshaped(a->g, hn_gcall_arg(a->c, FILLED), 4, shape);
	a->before_each = hn_plus(a->g, a->before_each, (double)-a->rows);
	return a->before_each >= 0;
}

int32_t hn_attention_expand(const struct hn_gcall *c)
{
	struct attention a = { .c = c, .g = c->g };
	double cap = hn_gattr_float(c->node, "softcap", 0), scale, half;
	int32_t x[4], mask, p;

	if (!read_operands(&a) || !read_filled(&a)) {
		return HN_BAD;
	}
	mask = read_mask(&a);
	scale = hn_gattr_float(c->node, "scale", 1 / sqrt((double)a.size));
	/* of 16 bits half of it each, so that no product overflows */
	half = hn_dtype_is_narrow(a.type) ? sqrt(fabs(scale)) : 1;
	x[0] = product(&a, hn_scaled(c->g, a.q, scale / half), hn_scaled(c->g, a.k, half), 1);
	x[1] = x[0];
	if (cap > 0) {
		x[1] = hn_graph_1(c->g, "Tanh", hn_scaled(c->g, x[0], 1 / cap));
		x[1] = hn_scaled(c->g, x[1], cap);
	}
	x[2] = masked(&a, x[1], mask);
	x[3] = p = softmax(&a, x[2], mask);
	for (uint32_t i = 1; i < c->node->n_out; i++) {
		int64_t mode = hn_gattr_int(c->node, "qk_matmul_output_mode", 0);

		c->out[i] = i == 1 ? a.k : i == 2 ? a.v : x[mode < 0 || mode > 3 ? 0 : mode];
	}
	p = hn_cast_to(c->g, p, (enum hn_dtype)c->g->value[a.v].dtype);
	return join_heads(&a, product(&a, p, a.v, 0));
}
