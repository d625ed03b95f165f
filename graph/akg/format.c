/* graph/akg/format.c -- how the dimensions of a tensor lie: rows and columns, or fractals.
 *
 * FRACTAL_NZ of a matrix [m, n] is [n1, m1, m0, n0]: blocks of m0 rows and n0 columns, one column of
 * blocks after the other.  More dimensions stand in front.
 */
#include <string.h>

#include "graph/akg/call.h"
#include "graph/op/build.h"

#define BLOCK 16

bool hn_akg_is_fractal(const char *format)
{
	return strcmp(format, "FRACTAL_NZ") == 0;
}

/* 0, 1, .. front - 1, and the last four as they are said. */
static void order(uint32_t front, const uint32_t last[4], int64_t *perm)
{
	for (uint32_t d = 0; d < front; d++) {
		perm[d] = d;
	}
	for (uint32_t k = 0; k < 4; k++) {
		perm[front + k] = front + last[k];
	}
}

/* [.., m1, m0, n1, n0] as [.., n1, m1, m0, n0]. */
static int32_t blocks_first(struct hn_graph *g, int32_t v)
{
	int64_t perm[HN_GRAPH_MAX_RANK];
	uint32_t rank = v < 0 ? 4 : g->value[v].rank;

	order(rank - 4, (const uint32_t[]){ 2, 0, 1, 3 }, perm);
	return v < 0 ? v : hn_transposed(g, v, rank, perm);
}

static int64_t padding(int64_t n)
{
	return (BLOCK - n % BLOCK) % BLOCK;
}

/* Zeros behind the last two dimensions. */
static int32_t padded(struct hn_graph *g, int32_t v)
{
	const struct hn_gvalue *x = &g->value[v];
	int64_t pads[2 * HN_GRAPH_MAX_RANK] = { 0 };
	int32_t in[3] = { v, HN_NONE, HN_NONE };

	pads[2 * x->rank - 2] = padding(x->shape[x->rank - 2]);
	pads[2 * x->rank - 1] = padding(x->shape[x->rank - 1]);
	if (pads[2 * x->rank - 2] == 0 && pads[2 * x->rank - 1] == 0) {
		return v;
	}
	in[1] = hn_graph_ints(g, 2 * x->rank, pads);
	in[2] = hn_graph_scalar(g, (enum hn_dtype)x->dtype, 0);
	return hn_graph_add(g, "Pad", 3, in, 0, NULL);
}

int32_t hn_akg_to_fractals(struct hn_graph *g, int32_t v)
{
	int64_t shape[HN_GRAPH_MAX_RANK + 2];
	uint32_t front;

	if (v < 0 || g->value[v].rank < 2 || g->value[v].rank + 2 > HN_GRAPH_MAX_RANK) {
		return v < 0 ? v
			     : hn_graph_fail(g, HONE_E_UNSUPPORTED, "fractals of %u dimensions",
					     g->value[v].rank);
	}
	v = padded(g, v);
	if (v < 0) {
		return v;
	}
	front = g->value[v].rank - 2;
	memcpy(shape, g->value[v].shape, front * sizeof(*shape));
	for (uint32_t k = 0; k < 2; k++) {
		shape[front + 2 * k] = g->value[v].shape[front + k] / BLOCK;
		shape[front + 2 * k + 1] = BLOCK;
	}
	return blocks_first(g, hn_reshaped(g, v, front + 4, shape));
}

int32_t hn_akg_from_fractals(struct hn_graph *g, int32_t v, int64_t m, int64_t n)
{
	int64_t perm[HN_GRAPH_MAX_RANK], shape[HN_GRAPH_MAX_RANK];
	const struct hn_gvalue *x = v < 0 ? NULL : &g->value[v];
	uint32_t front;

	if (x == NULL || x->rank < 4) {
		return x == NULL ? v
				 : hn_graph_fail(g, HONE_E_INVALID, "fractals %s of %u dimensions",
						 hn_shape_text(g->arena, x->rank, x->shape), x->rank);
	}
	front = x->rank - 4;
	memcpy(shape, x->shape, front * sizeof(*shape));
	shape[front] = x->shape[front + 1] * x->shape[front + 2];
	shape[front + 1] = x->shape[front] * x->shape[front + 3];
	if (m > shape[front] || n > shape[front + 1]) {
		return hn_graph_fail(g, HONE_E_INVALID, "fractals %s hold no %lld rows and %lld columns",
				     hn_shape_text(g->arena, x->rank, x->shape), (long long)m,
				     (long long)n);
	}
	order(front, (const uint32_t[]){ 1, 2, 0, 3 }, perm);
	v = hn_reshaped(g, hn_transposed(g, v, front + 4, perm), front + 2, shape);
	v = m > 0 ? hn_part(g, v, front, 0, m) : v;
	return n > 0 ? hn_part(g, v, front + 1, 0, n) : v;
}

/* Rows and columns v beside fractals: dimensions of one element stay so. */
static int32_t laid_out_as(struct hn_graph *g, int32_t v, const struct hn_gvalue *fractal)
{
	const struct hn_gvalue *x = &g->value[v];
	const int64_t *block = fractal->shape + fractal->rank - 4;
	int64_t m = x->rank > 1 ? x->shape[x->rank - 2] : 1, n = x->shape[x->rank - 1];
	uint32_t front = x->rank > 2 ? x->rank - 2 : 0;
	int64_t shape[HN_GRAPH_MAX_RANK + 4];

	if ((m != 1 && m != block[1] * block[2]) || (n != 1 && n != block[0] * block[3]) ||
	    front + 4 > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED, "%s beside fractals %s",
				     hn_shape_text(g->arena, x->rank, x->shape),
				     hn_shape_text(g->arena, fractal->rank, fractal->shape));
	}
	memcpy(shape, x->shape, front * sizeof(*shape));
	shape[front] = m == 1 ? 1 : block[1];
	shape[front + 1] = m == 1 ? 1 : block[2];
	shape[front + 2] = n == 1 ? 1 : block[0];
	shape[front + 3] = n == 1 ? 1 : block[3];
	return blocks_first(g, hn_reshaped(g, v, front + 4, shape));
}

static bool is_rows(const char *format)
{
	return strcmp(format, "DefaultFormat") == 0 || strcmp(format, "NCHW") == 0 ||
	       strcmp(format, "ND") == 0;
}

void hn_akg_align(struct hn_akg_call *c, int32_t *in)
{
	const struct hn_gvalue *fractal = NULL;

	for (uint32_t i = 0; i < c->op->n_in; i++) {
		const struct hn_gvalue *x = &c->g->value[in[i]];

		if (hn_akg_is_fractal(c->op->in[i].format) && x->rank >= 4 &&
		    (fractal == NULL || x->rank > fractal->rank)) {
			fractal = x;
		}
	}
	if (fractal == NULL) {
		return;
	}
	const struct hn_gvalue as = *fractal; /* values move when there are more */

	for (uint32_t i = 0; i < c->op->n_in && !c->g->failed; i++) {
		if (is_rows(c->op->in[i].format) &&
		    hn_gvalue_elements(&c->g->value[in[i]]) > 1) {
			in[i] = laid_out_as(c->g, in[i], &as);
		}
	}
}
