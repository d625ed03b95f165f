/* target/npu/npu_tiles.h -- what a program's history decides for a machine of explicit buffers: the
 * tiles of one op, and how many copies of what is loaded there are.
 *
 * The op is the dag's widest one: its loops are cut, and the machine makes all other ops of the same
 * tiles.  So a history says little, and any is legal: the code generator chooses what it does not say,
 * and makes smaller what does not fit.  Search, cost model and code generator read it here.
 */
#ifndef HN_TARGET_NPU_NPU_TILES_H
#define HN_TARGET_NPU_NPU_TILES_H

#include "loopstate/state/state.h"
#include "target/target.h"

enum { HN_NPU_PARTS = 3 };

/* An axis cut into loops: of a tile; around it; a product's around that.  Those that there are, from
 * the innermost; 0: no such loop. */
struct hn_npu_cut {
	int64_t tile, times, parts;
};

struct hn_npu_tiles {
	int32_t op;	/* of the task's dag; -1: nothing is cut, all is by rule */
	bool product;	/* it sums products: the cube's, if they are of its types */
	uint32_t n_axis; /* the op's, spatial ones first */
	struct hn_npu_cut axis[HN_DAG_MAX_ITERS]; /* tile 0: not cut */
	uint32_t slots;	/* 2: the next tile is loaded while one is worked on */
};

/* The op with the most points, the first of several; -1: the dag computes nothing. */
int32_t hn_npu_widest(const struct hn_dag *dag);

/* What an axis is to a sum of products of two loads: of both factors, of the first, of the second, or
 * summed over. */
enum hn_npu_role { HN_NPU_ROLE_BATCH, HN_NPU_ROLE_ROW, HN_NPU_ROLE_COLUMN, HN_NPU_ROLE_TERM,
		   HN_NPU_N_ROLE };

/* Of each axis; false: it is no such sum. */
bool hn_npu_roles(const struct hn_op *op, uint8_t role[HN_DAG_MAX_ITERS]);

/* Of a state whose extents are known. */
void hn_npu_tiles_of(const struct hn_state *s, struct hn_npu_tiles *ret);

#endif
