/* graph/op/reorder.c -- elements in other places: tiles, triangles, blocks of an image. */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "graph/op/build.h"
#include "graph/op/dtype.h"
#include "graph/op/rows.h"

#define LL(x) ((long long)(x))

/* -- tile: repeats ---------------------------------------------------------------------- */

int32_t hn_tile_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gattr attr;
	const int64_t *times;
	bool once = true;
	uint32_t n;

	if (!hn_gcall_ints(c, 1, &n, &times)) {
		return HN_BAD;
	}
	for (uint32_t d = 0; d < n; d++) {
		if (n != x->rank || times[d] < 0) {
			return hn_graph_fail(
				c->g, HONE_E_INVALID, "Tile: %s times %u dimensions",
				hn_shape_text(c->g->arena, n, times), x->rank);
		}
		once &= times[d] == 1;
	}
	attr = hn_gattr_of_ints("repeats", n, times);
	return once ? hn_gcall_arg(c, 0)
		    : hn_graph_add(c->g, "tile", 1, c->node->in, 1, &attr);
}

bool hn_tile_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *times = hn_gattr_find(c->node, "repeats");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = x->rank };
	for (uint32_t d = 0; d < x->rank; d++) {
		ret->dim[d] = hn_mul_sat(x->shape[d], times->i[d]);
	}
	return true;
}

void hn_tile_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	const struct hn_gattr *times = hn_gattr_find(n, "repeats");

	hn_say_indices(index, x->rank);
	for (uint32_t d = 0; d < x->rank; d++) {
		if (times->i[d] == 1) {
			snprintf(from[d], sizeof(from[d]), "i%u", d);
		} else if (x->shape[d] == 1) {
			snprintf(from[d], sizeof(from[d]), "0");
		} else {
			snprintf(from[d], sizeof(from[d]), "i%u %% %lld", d,
				 LL(x->shape[d]));
		}
	}
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- triangle: upper, k, fill ----------------------------------------------------------------- */

int32_t hn_trilu_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t upper = hn_gattr_int(c->node, "upper", 1) != 0, k = 0;
	struct hn_gattr attr[2];

	if (hn_gcall_in(c, 1) != NULL && !hn_gvalue_int(hn_gcall_in(c, 1), 0, &k)) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				     "Trilu: k is not constant");
	}
	if (x->rank < 2) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Trilu of %u dimensions",
				     x->rank);
	}
	k = k > HN_GRAPH_MAX_ELEMENTS	 ? HN_GRAPH_MAX_ELEMENTS
	    : k < -HN_GRAPH_MAX_ELEMENTS ? -HN_GRAPH_MAX_ELEMENTS
					 : k;
	attr[0] = hn_gattr_of_ints("upper", 1, &upper);
	attr[1] = hn_gattr_of_ints("k", 1, &k);
	return hn_graph_add(c->g, "triangle", 1, c->node->in, 2, attr);
}

bool hn_same_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = x->rank };
	memcpy(ret->dim, x->shape, x->rank * sizeof(*x->shape));
	return true;
}

/* The upper one keeps what is at or right of the diagonal k; elsewhere is `fill`, of floats alone. */
void hn_triangle_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	bool upper = hn_gattr_int(n, "upper", 1) != 0;
	int64_t k = hn_gattr_int(n, "k", 0);
	double fill = hn_gattr_float(n, "fill", 0);
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, x->rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = i%u - i%u %s %lld ? ", x->rank - 1, x->rank - 2,
		    upper ? ">=" : "<=", LL(k));
	hn_say_load(s, n->in[0], index);
	hn_say_text(s, " : ");
	if (fill != 0) {
		hn_say_number(s, (enum hn_dtype)x->dtype, fill);
	} else {
		hn_say_int_of(s, x->dtype, 0);
	}
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* Ones on the diagonal k: rows that count from k meet columns that count from 0. */
int32_t hn_eyelike_expand(const struct hn_gcall *c)
{
	const struct hn_gattr *to = hn_gattr_find(c->node, "dtype");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	enum hn_dtype t = to != NULL ? hn_dtype_of_onnx(hn_gattr_int(c->node, "dtype", 0))
				     : (enum hn_dtype)x->dtype;
	int32_t row, column;

	if (x->rank != 2 || t == HN_N_DTYPE) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "EyeLike of %u dimensions",
				     x->rank);
	}
	row = hn_along(c->g, hn_counting(c->g, x->shape[0]), 0, 2);
	row = hn_plus(c->g, row, (double)hn_gattr_int(c->node, "k", 0));
	column = hn_counting(c->g, x->shape[1]);
	return hn_cast_to(c->g, hn_graph_2(c->g, "Equal", row, column), t);
}

/* -- blocks of an image ----------------------------------------------------------------- */

/* A reshape, a transpose and a reshape: of rank 6 between. */
static int32_t shuffled(struct hn_graph *g, int32_t v, const int64_t six[6],
			const int64_t *perm, const int64_t four[4])
{
	v = hn_transposed(g, hn_reshaped(g, v, 6, six), 6, perm);
	return hn_reshaped(g, v, 4, four);
}

/* Blocks in front of channels (DCR) or behind them (CRD). */
static bool read_blocks(const struct hn_gcall *c, int64_t *ret, bool *ret_crd)
{
	const char *mode = hn_gattr_string(c->node, "mode", "DCR");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t b = hn_gattr_int(c->node, "blocksize", 0);
	bool to_depth = strcmp(c->node->op->name, "SpaceToDepth") == 0;
	bool fits = x->rank == 4 && b >= 1 && b <= INT16_MAX;

	fits = fits && (to_depth ? x->shape[2] % b == 0 && x->shape[3] % b == 0
				 : x->shape[1] % (b * b) == 0);
	*ret_crd = strcmp(mode, "CRD") == 0;
	if (!fits || (!*ret_crd && strcmp(mode, "DCR") != 0)) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "%s of shape %s by blocks of %lld, mode %s",
			      c->node->op->name,
			      hn_shape_text(c->g->arena, x->rank, x->shape), LL(b), mode);
		return false;
	}
	*ret = b;
	return true;
}

int32_t hn_depthtospace_expand(const struct hn_gcall *c)
{
	static const int64_t depth_first[] = { 0, 3, 4, 1, 5, 2 },
			     columns[] = { 0, 1, 4, 2, 5, 3 };
	const int64_t *x = hn_gcall_in(c, 0)->shape;
	int64_t b, depth;
	bool crd;

	if (!read_blocks(c, &b, &crd)) {
		return HN_BAD;
	}
	depth = x[1] / (b * b);
	return shuffled(c->g, hn_gcall_arg(c, 0),
			crd ? (int64_t[]){ x[0], depth, b, b, x[2], x[3] }
			    : (int64_t[]){ x[0], b, b, depth, x[2], x[3] },
			crd ? columns : depth_first,
			(int64_t[]){ x[0], depth, x[2] * b, x[3] * b });
}

int32_t hn_spacetodepth_expand(const struct hn_gcall *c)
{
	static const int64_t depth_first[] = { 0, 3, 5, 1, 2, 4 },
			     columns[] = { 0, 1, 3, 5, 2, 4 };
	const int64_t *x = hn_gcall_in(c, 0)->shape;
	int64_t b;
	bool crd;

	if (!read_blocks(c, &b, &crd)) {
		return HN_BAD;
	}
	return shuffled(c->g, hn_gcall_arg(c, 0),
			(int64_t[]){ x[0], x[1], x[2] / b, b, x[3] / b, b },
			crd ? columns : depth_first,
			(int64_t[]){ x[0], x[1] * b * b, x[2] / b, x[3] / b });
}
