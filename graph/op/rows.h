/* graph/op/rows.h -- the functions that rows of ops.def name, one file for each kind. */
#ifndef HN_GRAPH_OP_ROWS_H
#define HN_GRAPH_OP_ROWS_H

#include "graph/ir/op.h"

#define EXPAND(name) int32_t name(const struct hn_gcall *c)
#define INFER(name) bool name(const struct hn_gcall *c, struct hn_gshape *ret)
#define SAY(name) void name(struct hn_say *s, const struct hn_gnode *n)

/* elementwise.c */
INFER(hn_elementwise_infer);
INFER(hn_compare_infer);
INFER(hn_where_infer);
INFER(hn_cast_infer);
SAY(hn_elementwise_say);
SAY(hn_cast_say);
/* arithmetic.c */
EXPAND(hn_identity_expand);
EXPAND(hn_dropout_expand);
EXPAND(hn_variadic_expand);
EXPAND(hn_mean_expand);
EXPAND(hn_clip_expand);
EXPAND(hn_pow_expand);
EXPAND(hn_div_expand);
EXPAND(hn_gelu_expand);
EXPAND(hn_cast_expand);
EXPAND(hn_castlike_expand);
EXPAND(hn_mod_expand);
EXPAND(hn_bitshift_expand);
EXPAND(hn_isinf_expand);
EXPAND(hn_prelu_expand);
/* attention.c */
EXPAND(hn_attention_expand);
/* rotary.c */
EXPAND(hn_rotary_expand);
SAY(hn_rotary_say);
/* contrib.c */
EXPAND(hn_biasgelu_expand);
EXPAND(hn_fusedmatmul_expand);
EXPAND(hn_skiplayernorm_expand);
/* conv.c */
EXPAND(hn_conv_expand);
INFER(hn_conv_infer);
SAY(hn_conv_say);
/* conv_transpose.c */
EXPAND(hn_convtranspose_expand);
INFER(hn_convtranspose_infer);
SAY(hn_convtranspose_say);
/* einsum.c */
EXPAND(hn_einsum_expand);
INFER(hn_einsum_infer);
SAY(hn_einsum_say);
/* nbits.c */
EXPAND(hn_matmulnbits_expand);
/* grid.c */
EXPAND(hn_gridsample_expand);
INFER(hn_gridsample_infer);
SAY(hn_gridsample_say);
/* rank.c */
EXPAND(hn_topk_expand);
INFER(hn_top_infer);
SAY(hn_top_say);
/* recurrent.c */
EXPAND(hn_recurrent_expand);
/* scatter.c */
EXPAND(hn_scatternd_expand);
EXPAND(hn_scatterelements_expand);
INFER(hn_lastupdate_infer);
INFER(hn_scatterall_infer);
SAY(hn_lastupdate_say);
SAY(hn_scatterlast_say);
SAY(hn_scatterall_say);
/* quant.c */
EXPAND(hn_quantizelinear_expand);
EXPAND(hn_dequantizelinear_expand);
EXPAND(hn_dynamicquantize_expand);
EXPAND(hn_matmulinteger_expand);
EXPAND(hn_qlinearmatmul_expand);
EXPAND(hn_convinteger_expand);
EXPAND(hn_qlinearconv_expand);
INFER(hn_quantize_infer);
INFER(hn_dequantize_infer);
/* resize.c */
EXPAND(hn_resize_expand);
EXPAND(hn_upsample_expand);
INFER(hn_pick_infer);
SAY(hn_pick_say);
INFER(hn_blend_infer);
SAY(hn_blend_say);
/* matmul.c */
EXPAND(hn_gemm_expand);
EXPAND(hn_matmul_expand);
INFER(hn_matmul_infer);
SAY(hn_matmul_say);
/* pool.c */
EXPAND(hn_maxpool_expand);
EXPAND(hn_avgpool_expand);
EXPAND(hn_lppool_expand);
INFER(hn_pool_infer);
SAY(hn_pool_say);
/* reduce.c */
EXPAND(hn_reduce_expand);
EXPAND(hn_globalpool_expand);
EXPAND(hn_global_lppool_expand);
INFER(hn_reduce_infer);
SAY(hn_reduce_say);
/* normalize.c */
EXPAND(hn_softmax_expand);
INFER(hn_normalize_infer);
SAY(hn_softmax_say);
SAY(hn_standardize_say);
/* norms.c */
EXPAND(hn_layernorm_expand);
EXPAND(hn_instancenorm_expand);
EXPAND(hn_groupnorm_expand);
EXPAND(hn_meanvariance_expand);
EXPAND(hn_lpnorm_expand);
EXPAND(hn_batchnorm_expand);
EXPAND(hn_lrn_expand);
/* reshape.c */
EXPAND(hn_reshape_expand);
EXPAND(hn_flatten_expand);
EXPAND(hn_squeeze_expand);
EXPAND(hn_unsqueeze_expand);
INFER(hn_reshape_infer);
SAY(hn_reshape_say);
/* shape.c */
EXPAND(hn_shape_expand);
EXPAND(hn_size_expand);
EXPAND(hn_constantofshape_expand);
EXPAND(hn_range_expand);
/* move.c */
EXPAND(hn_transpose_expand);
EXPAND(hn_expand_expand);
EXPAND(hn_slice_expand);
EXPAND(hn_split_expand);
EXPAND(hn_concat_expand);
EXPAND(hn_pad_expand);
INFER(hn_transpose_infer);
INFER(hn_expand_infer);
INFER(hn_slice_infer);
INFER(hn_concat_infer);
INFER(hn_pad_infer);
SAY(hn_transpose_say);
SAY(hn_expand_say);
SAY(hn_slice_say);
SAY(hn_concat_say);
SAY(hn_pad_say);
/* gather.c */
EXPAND(hn_gather_expand);
INFER(hn_gather_infer);
SAY(hn_gather_say);
EXPAND(hn_gatherelements_expand);
INFER(hn_gathereach_infer);
SAY(hn_gathereach_say);
EXPAND(hn_gathernd_expand);
INFER(hn_gathernd_infer);
SAY(hn_gathernd_say);
EXPAND(hn_onehot_expand);
INFER(hn_onehot_infer);
SAY(hn_onehot_say);
/* reorder.c */
EXPAND(hn_tile_expand);
INFER(hn_tile_infer);
SAY(hn_tile_say);
EXPAND(hn_eyelike_expand);
EXPAND(hn_trilu_expand);
INFER(hn_same_infer);
SAY(hn_triangle_say);
EXPAND(hn_depthtospace_expand);
EXPAND(hn_spacetodepth_expand);
/* scan.c */
EXPAND(hn_arg_expand);
INFER(hn_arg_infer);
SAY(hn_arg_say);
EXPAND(hn_hardmax_expand);
EXPAND(hn_cumulate_expand);
SAY(hn_cumulate_say);

#undef EXPAND
#undef INFER
#undef SAY

#endif
