/* graph/akg/rows.h -- the functions that rows of ops.def name, one file for each kind. */
#ifndef HN_GRAPH_AKG_ROWS_H
#define HN_GRAPH_AKG_ROWS_H

#include "graph/akg/call.h"

#define BUILD(name) void name(struct hn_akg_call *c)

/* elementwise.c */
BUILD(hn_akg_unary);
BUILD(hn_akg_square);
BUILD(hn_akg_whole);
BUILD(hn_akg_number_is);
BUILD(hn_akg_logical);
BUILD(hn_akg_add_least);
BUILD(hn_akg_zeros);
BUILD(hn_akg_binary);
BUILD(hn_akg_floor_div);
BUILD(hn_akg_mod);
BUILD(hn_akg_compare);
BUILD(hn_akg_select);
BUILD(hn_akg_select_by);
BUILD(hn_akg_copy);
/* complex.c */
BUILD(hn_akg_mul);
BUILD(hn_akg_div);
BUILD(hn_akg_complex);
BUILD(hn_akg_part_of);
/* assign.c */
BUILD(hn_akg_assign);
BUILD(hn_akg_assign_add);
/* reduce.c */
BUILD(hn_akg_reduce);
BUILD(hn_akg_reduce_truth);
BUILD(hn_akg_arg);
BUILD(hn_akg_cumulate);
/* contract.c */
BUILD(hn_akg_matmul);
BUILD(hn_akg_conv);
/* window.c */
BUILD(hn_akg_pool);
/* move.c */
BUILD(hn_akg_reshape);
BUILD(hn_akg_expand_dims);
BUILD(hn_akg_squeeze);
BUILD(hn_akg_transpose);
BUILD(hn_akg_broadcast);
BUILD(hn_akg_tile);
BUILD(hn_akg_concat);
BUILD(hn_akg_split);
/* cut.c */
BUILD(hn_akg_strided_slice);
BUILD(hn_akg_pad);
BUILD(hn_akg_unpad);
/* layout.c */
BUILD(hn_akg_trans_data);
BUILD(hn_akg_layout);
/* index.c */
BUILD(hn_akg_gather);
BUILD(hn_akg_gather_nd);
BUILD(hn_akg_one_hot);
BUILD(hn_akg_scatter_add);
BUILD(hn_akg_segment_sum);

#undef BUILD

/* table.c: NULL, there is none. */
const struct hn_akg_row *hn_akg_row_find(const char *name);

#endif
