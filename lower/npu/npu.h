/* lower/npu/npu.h -- programs for the NPU: from a dag, or from the sizes of a product, to code that
 * target/npu runs.
 *
 * Code is written in two steps.  The first writes instructions in an order that is right on a machine
 * that does one after the other; it knows nothing of pipes.  The second (hn_npu_order) makes it
 * right on the machine there is: by a barrier after each instruction, the naive program that others
 * are measured by, or by flags where what is touched asks for them.
 */
#ifndef HN_LOWER_NPU_NPU_H
#define HN_LOWER_NPU_NPU_H

#include "base/buf.h"
#include "loopstate/dag/dag.h"
#include "target/npu/npu.h"
#include "target/npu/npu_tiles.h"

/* AS_WRITTEN: nothing is put into it; what it becomes part of is ordered. */
enum hn_npu_order { HN_NPU_BARRIERS, HN_NPU_FLAGS, HN_NPU_AS_WRITTEN };

struct hn_npu_order_facts {
	uint32_t n_flag, n_vector_barrier; /* sets; barriers of V */
	uint32_t n_whole; /* barriers of all pipes where no flag was left */
};

/* A program without loops, conditions, flags and barriers but `barrier cores`, with them.
 * HONE_E_UNSUPPORTED: it has some.  Lines are those of the result's text.  facts: NULL is fine. */
int hn_npu_order(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		 enum hn_npu_order order, struct hn_arena *a, const struct hn_npu_program **ret,
		 struct hn_npu_order_facts *facts, struct hn_err *err) HN_NODISCARD;

/* The same of code that was written as text; `text` is freed, whatever the answer is.
 * HONE_E_UNSUPPORTED also: it has grown past HN_NPU_TEXT_BYTES. */
#define HN_NPU_TEXT_BYTES ((size_t)256 << 20)
int hn_npu_order_text(struct hn_buf *text, const struct hn_npu_profile *m, enum hn_npu_order order,
		      struct hn_arena *a, const struct hn_npu_program **ret,
		      struct hn_npu_order_facts *facts, struct hn_err *err) HN_NODISCARD;

struct hn_npu_plan {
	enum hn_npu_order order;
	uint32_t slots;	/* copies of what is loaded and stored: 1, or 2, so that both go on while
			 * something is computed */
	bool reuse;	/* values share memory when they do not live at the same time */
	int64_t tile;	/* of the dimension that cores share, rows or elements: so many at a
			 * time, fewer where that does not fit; 0 = by rule */
	const struct hn_npu_tiles *tiles; /* as a history says; NULL: by rule */
	bool apart;	/* of sizes: a barrier of all pipes behind each turn, to compare */
	const int64_t *const *lies; /* [n_op] shapes as which arguments lie in memory, of each the dag's where
				     * that is NULL; NULL: all as the dag says */
};

struct hn_npu_vector_facts {
	int64_t rows;	 /* of a tile: of what cores share, where that is not the last dimension; else 1 */
	int64_t columns; /* of a tile: of the last dimension */
	int64_t n_tile;	 /* of a core */
	uint32_t cores;
	bool split; /* a sum is taken in parts because of a border */
	int64_t ub_bytes;
	struct hn_npu_order_facts order;
};

/* A dag whose ops are element-wise, read others by linear indices, and reduce any axes: boxes of its
 * points in the unified buffer, one after the other, shared by the cores.  Buffers are the dag's
 * arguments.  HONE_E_UNSUPPORTED names the op, and what of it has no form here. */
int hn_npu_vector(const struct hn_dag *dag, const struct hn_npu_profile *m,
		  const struct hn_npu_plan *plan, struct hn_arena *a,
		  const struct hn_npu_program **ret, struct hn_npu_vector_facts *facts,
		  struct hn_err *err) HN_NODISCARD;

/* What is computed with the sums of a product, and how all of it lies: lower/npu/task.h. */
struct hn_npu_task;

/* C[m,n] = A[m,k] B[k,n], float16 with sums of float32, and C of float16 or float32, each row by
 * row; or what a task says, whose sizes these are.  What stands behind `task` is the plan. */
struct hn_npu_product {
	int64_t m, n, k;
	enum hn_dtype result;
	const struct hn_npu_task *task; /* NULL: as above */
	int64_t cores_m, cores_n; /* how the result is split over cores */
	int64_t m0, n0;		  /* of the sums at a time: L0C */
	int64_t k0, k1;		  /* terms at a time in L0A and L0B, and in L1 */
	uint32_t slots_l1, slots_l0, slots_l0c;
	enum hn_npu_order order;
	int64_t cores_b;	  /* how the batch is split over cores; 0 is 1 */
	int64_t cores_k;	  /* how its terms are split over cores, which add up their sums when they
				   * have met; 0 is 1 */
	bool edges; /* where two cores would write to the same block, they meet between */
};

/* Tiles and cores for its sizes, by a closed form.  Where there are none that fit, nothing is set, and
 * hn_npu_product says so. */
void hn_npu_product_plan(const struct hn_npu_profile *m, struct hn_npu_product *p);

/* The best of them, at most `most` (1 to HN_NPU_MOST_PLANS), the fastest first: how many. */
#define HN_NPU_MOST_PLANS 16
uint32_t hn_npu_product_plans(const struct hn_npu_profile *m, const struct hn_npu_product *p,
			      uint32_t most, struct hn_npu_product *ret);

/* The plan, made by rule before, as these tiles say; of what does not fit the next smaller one. */
void hn_npu_product_by(const struct hn_npu_profile *m, const struct hn_npu_tiles *tiles,
		       struct hn_npu_product *p);

/* Buffers: A, B, C, or the arguments of the task's dag.  Tiles and cores need not divide the sizes.
 * HONE_E_UNSUPPORTED: tiles that do not fit, cores that would write to the same block, or too much
 * for one program. */
int hn_npu_product(const struct hn_npu_product *p, const struct hn_npu_profile *m,
		   struct hn_arena *a, const struct hn_npu_program **ret,
		   struct hn_npu_order_facts *facts, struct hn_err *err) HN_NODISCARD;

/* A convolution of one image on one core, float16: X (C1, H, W, 16), weights as fractals (C1, KH, KW,
 * CO / 16, 16 results, 16 channels), result (CO / 16, OH * OW, 16).  Its tiles are those that AKG's
 * authors name theirs by. */
struct hn_npu_conv {
	int64_t channels, height, width, results, window, stride, pad;
	int64_t cut_h;	    /* rows of the image in L1 */
	int64_t cut_co;	    /* results whose weights are in L1 */
	int64_t cut_m, cut_k, cut_n; /* windows, terms and results in L0 at a time */
	bool bypass;	    /* weights go to L0B at once, a fractal at a time */
	enum hn_npu_order order;
};

int hn_npu_conv(const struct hn_npu_conv *c, const struct hn_npu_profile *m, struct hn_arena *a,
		const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

/* A program of a dag: a product of matrices, or what goes through rows. */
int hn_npu_program(const struct hn_dag *dag, const struct hn_npu_profile *m,
		   const struct hn_npu_plan *plan, struct hn_arena *a, const struct hn_npu_program **ret,
		   struct hn_err *err) HN_NODISCARD;

/* Programs of a dag with sizes: the first that is for a launch's sizes is taken (hn_npu_launch_first), and
 * the last is for all that the dag has.  What plan says of tiles is left alone.  HONE_E_UNSUPPORTED
 * names the op that needs a number where the dag has a size.  lower/npu/sized.h */
#define HN_NPU_SIZED_KERNELS 4
int hn_npu_sized(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		 struct hn_arena *a, const struct hn_npu_program *ret[HN_NPU_SIZED_KERNELS], uint32_t *ret_n,
		 struct hn_err *err) HN_NODISCARD;

/* The same with the tiles and slots that the machine itself runs fastest, of a dozen or so. */
int hn_npu_tuned(const struct hn_dag *dag, const struct hn_npu_profile *m, struct hn_arena *a,
		 const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

/* The program's text with a fault that tests plant into it (enum hn_plant), onto ret. */
int hn_npu_plant(const struct hn_npu_program *p, const char *text, int plant, struct hn_buf *ret,
		 struct hn_err *err) HN_NODISCARD;

#endif
