/* graph/op/nbits.c -- onnxruntime's MatMulNBits: a product with weights of 4 or 8 bits, in blocks.
 *
 * Weights are [N, blocks, bytes], the lower half of a byte first; each block has a scale and a zero.
 * They are unpacked to floats, which is done once where they are constant.
 */
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

enum { A, WEIGHTS, SCALES, ZEROS, ORDER, BIAS };

/* Bytes [n, k] as integers [n, k * 8 / bits]. */
static int32_t unpacked(struct hn_graph *g, int32_t v, int64_t n, int64_t k, int64_t bits)
{
	const int64_t each[] = { n, k, 1 }, all[] = { n, 2 * k };
	struct hn_gattr axis = hn_gattr_of_int(g->arena, "axis", 2);
	int32_t sixteen, half[2];

	v = hn_reshaped(g, hn_cast_to(g, v, HN_I32), 3, each);
	if (bits == 8) {
		return hn_reshaped(g, v, 2, each);
	}
	sixteen = hn_graph_scalar(g, HN_I32, 16);
	half[0] = hn_graph_2(g, "mod", v, sixteen);
	half[1] = hn_graph_2(g, "div_towards_zero", v, sixteen);
	return hn_reshaped(g, hn_graph_add(g, "Concat", 2, half, 1, &axis), 2, all);
}

/* What is taken from the weights: [N, blocks, 1], or one number. */
static int32_t zeros_of(const struct hn_gcall *c, int64_t n, int64_t blocks, int64_t bits)
{
	const struct hn_gvalue *zero = hn_gcall_in(c, ZEROS), *scale = hn_gcall_in(c, SCALES);
	const int64_t shape[] = { n, blocks, 1 };
	enum hn_dtype type = (enum hn_dtype)scale->dtype;
	int64_t bytes = (blocks * bits + 7) / 8;
	int32_t v = hn_gcall_arg(c, ZEROS);

	if (zero == NULL) {
		return hn_graph_scalar(c->g, type, bits == 4 ? 8 : 128);
	}
	if (zero->dtype == HN_U8 && hn_gvalue_elements(zero) == n * bytes) {
		v = hn_part(c->g, unpacked(c->g, v, n, bytes, bits), 1, 0, blocks);
	} else if (zero->dtype != scale->dtype || hn_gvalue_elements(zero) != n * blocks) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "MatMulNBits: zeros %s",
				     hn_shape_text(c->g->arena, zero->rank, zero->shape));
	}
	return hn_reshaped(c->g, hn_cast_to(c->g, v, type), 3, shape);
}

int32_t hn_matmulnbits_expand(const struct hn_gcall *c)
{
	int64_t n = hn_gattr_int(c->node, "N", 0), k = hn_gattr_int(c->node, "K", 0);
	int64_t bits = hn_gattr_int(c->node, "bits", 4), block = hn_gattr_int(c->node, "block_size", 0);
	const struct hn_gvalue *a = hn_gcall_in(c, A), *w = hn_gcall_in(c, WEIGHTS);
	const struct hn_gvalue *scale = hn_gcall_in(c, SCALES);
	int64_t blocks = block > 0 ? (k + block - 1) / block : 0, yes = 1;
	struct hn_gattr attr = hn_gattr_of_ints("trans_b", 1, &yes);
	const int64_t shape[] = { n, blocks, block }, one[] = { n, blocks, 1 };
	const int64_t rows[] = { n, blocks * block };
	int32_t v, in[2] = { hn_gcall_arg(c, A) };

	if ((bits != 4 && bits != 8) || hn_gcall_in(c, ORDER) != NULL) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "MatMulNBits of %lld bits%s",
				     (long long)bits,
				     hn_gcall_in(c, ORDER) != NULL ? ", columns reordered" : "");
	}
	if (n < 1 || k < 1 || blocks < 1 || n > INT32_MAX || k > INT32_MAX || block > INT32_MAX ||
	    w->dtype != HN_U8 || hn_gvalue_elements(w) != n * blocks * (block * bits / 8) ||
	    scale->dtype != a->dtype || !hn_is_float(scale) ||
	    hn_gvalue_elements(scale) != n * blocks || a->rank < 2 || a->shape[a->rank - 1] != k) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "MatMulNBits of %s and %s",
				     hn_shape_text(c->g->arena, a->rank, a->shape),
				     hn_shape_text(c->g->arena, w->rank, w->shape));
	}
	v = unpacked(c->g, hn_gcall_arg(c, WEIGHTS), n, blocks * block * bits / 8, bits);
	v = hn_reshaped(c->g, hn_cast_to(c->g, v, (enum hn_dtype)scale->dtype), 3, shape);
	v = hn_graph_2(c->g, "Sub", v, zeros_of(c, n, blocks, bits));
	v = hn_graph_2(c->g, "Mul", v, hn_reshaped(c->g, hn_gcall_arg(c, SCALES), 3, one));
	in[1] = hn_part(c->g, hn_reshaped(c->g, v, 2, rows), 1, 0, k);
	v = hn_graph_add(c->g, "matmul", 2, in, 1, &attr);
	return hn_gcall_in(c, BIAS) == NULL ? v : hn_graph_2(c->g, "Add", v, hn_gcall_arg(c, BIAS));
}
