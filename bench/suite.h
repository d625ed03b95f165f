/* bench/suite.h -- the cases of `hone-bench kernels` and `hone-bench low`: tables, and what their
 * rows mean.
 *
 * A row (suite.def, low.def) is a name, a class and numbers.  From them come hone's computation, as
 * text (suite_text.c, low_text.c), and the calls of peer libraries (peer/), so that both sides surely
 * do the same.
 */
#ifndef HN_BENCH_SUITE_H
#define HN_BENCH_SUITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define HN_SUITE_N_PARAM 13

enum hn_suite_class {
	HN_SUITE_conv1d,
	HN_SUITE_conv2d,
	HN_SUITE_conv3d,
	HN_SUITE_depthwise,
	HN_SUITE_transposed,
	HN_SUITE_capsule,
	HN_SUITE_matmul,
	HN_SUITE_dense,
	HN_SUITE_product,
	HN_SUITE_norm,
	HN_SUITE_tbg,
	HN_SUITE_scores,
	HN_SUITE_values,
	HN_SUITE_softmax,
	HN_SUITE_layernorm,
	HN_SUITE_maxpool,
	HN_SUITE_avgpool,
	HN_SUITE_addrelu,
	HN_N_SUITE_CLASS
};

/* What follows a convolution or a dense layer.  Arguments come after the weights: bias (or
 * bias, scale, offset), then the tensor that is added. */
enum hn_epilogue {
	PLAIN,
	BIAS,
	BIAS_RELU,
	BN_RELU,
	BIAS_ADD,
	BIAS_ADD_RELU,
	BIAS_GELU,
	REQUANT /* bias, then a scale for each channel: low.def */
};

/* Types of the two factors of a product or convolution: low.def. */
enum hn_suite_type { HN_SUITE_F32, HN_SUITE_BF16, HN_SUITE_U8S8, HN_N_SUITE_TYPE };

struct hn_suite_row {
	const char *name;
	enum hn_suite_class class;
	int64_t p[HN_SUITE_N_PARAM];
	enum hn_suite_type type;
};

extern const struct hn_suite_row hn_suite[];
extern const uint32_t hn_suite_n;

/* Those of low precision. */
extern const struct hn_suite_row hn_low[];
extern const uint32_t hn_low_n;

#define HN_LOW_ZERO_POINT 128 /* of a REQUANT's answers */

/* Products are class product, convolutions class conv2d; what follows is one of these. */
enum hn_epilogue hn_low_epilogue(const struct hn_suite_row *row);

/* Classes conv1d to capsule as one thing.  Spatial values have n_dim entries.  Tensors:
 * x[N, in.., CI], w[k.., CI / groups, CO], y[N, out.., CO]; depthwise has w[k.., CO];
 * a capsule puts 4x4 before its channels: x[N,H,W,4,4,CI], w[k,k,4,4,CI,CO]. */
struct hn_conv {
	uint32_t n_dim; /* 1..3 */
	int64_t n, ci, co, groups, kernel, stride, padding, dilation;
	int64_t in[3], out[3];
	enum hn_epilogue epilogue;
	bool depthwise, transposed, capsule;
};

/* False when the row is no convolution. */
bool hn_suite_conv(const struct hn_suite_row *row, struct hn_conv *ret);

/* The computation in hone's text notation (docs/dag.md); rows of low precision have their own. */
void hn_low_text(const struct hn_suite_row *row, struct hn_buf *buf);
void hn_suite_text(const struct hn_suite_row *row, struct hn_buf *buf);

/* Floating operations nobody can do without: for convolutions the multiply-adds that do
 * not meet padding or inserted zeros, for products all of them; 0 where the bytes are
 * the limit. */
double hn_suite_useful_flops(const struct hn_suite_row *row);

#endif
