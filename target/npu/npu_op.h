/* target/npu/npu_op.h -- an instruction with its numbers known, and the memory that it touches. */
#ifndef HN_TARGET_NPU_NPU_OP_H
#define HN_TARGET_NPU_NPU_OP_H

#include "target/npu/npu_insn.h"
#include "target/npu/npu_run.h"
#include "target/npu/npu_simd.h"

/* Where its numbers are, by shape; the order is that of kinds.def. */
enum { V_REP, V_MASK, V_BITS, V_BITS2 }; /* BINARY, UNARY, SCALED, FILL, REDUCE */
enum { L_N, L_BURST, L_FROM, L_TO };	 /* LOAD, STORE, INTO_L1, FROM_L1 */
enum { F_N, F_FROM, F_TO, F_LAST };	 /* LOAD2D (transposed), DRAIN (relu) */
enum { Z_ROWS, Z_COLS, Z_FROM, Z_HEIGHT }; /* FRACTALS */
enum { P_M, P_K, P_N, P_INIT };		 /* PRODUCT */
enum { G_H, G_W, G_KH, G_KW, G_SH, G_SW, G_DH, G_DW, G_PT, G_PB, G_PL, G_PR }; /* IMAGE */
enum { I_M0, I_K0, I_M, I_K };		 /* LOAD3D */

/* How lanes of an operand of a vector instruction lie: lane i of repeat r is at
 * at + r * step + i / per * block + i % per * bytes. */
struct npu_lanes {
	int64_t at, step, block;
	int32_t bytes, per;
};

/* Bytes that it reads or writes: n1 times, s1 apart, n0 times `bytes`, s0 apart. */
struct npu_span {
	uint8_t memory;
	bool write;
	int16_t buffer;
	int64_t at, n0, s0, n1, s1, bytes;
};

static inline int64_t npu_span_end(const struct npu_span *s)
{
	return s->at + (s->n0 - 1) * s->s0 + (s->n1 - 1) * s->s1 + s->bytes;
}

#define NPU_SPANS 5
#define NPU_LANES 128 /* of a repeat, the most */

struct npu_op {
	const struct hn_npu_insn *in;
	const int64_t *image; /* LOAD3D: the numbers of the fmatrix before */
	int64_t at[HN_NPU_PLACES];
	int64_t v[HN_NPU_NUMBERS];
	uint64_t mask[NPU_LANES / 64]; /* vector: lanes that do something */
	int32_t n_lane;	    /* and how many there are up to the last */
	struct npu_lanes lane[4];
	uint32_t n_span;
	struct npu_span span[NPU_SPANS];
};

struct npu_fault {
	enum hn_npu_fault kind;
	char text[160];
};

/* Fill op of in, whose registers are `reg`; spans are made and held against the memories.
 * False: *ret says what is wrong.  npu_resolve.c, npu_span.c */
bool npu_resolve(const struct hn_npu_program *p, const struct hn_npu_profile *m,
		 const struct hn_npu_insn *in, const int64_t *reg, const int64_t *image,
		 struct npu_op *op, struct npu_fault *ret);
bool npu_spans(const struct hn_npu_program *p, const struct hn_npu_profile *m, struct npu_op *op,
	       struct npu_fault *ret);
bool npu_is_wrong(struct npu_fault *ret, enum hn_npu_fault kind, const char *fmt, ...)
	HN_PRINTF(3, 4); /* false */

/* Fractals of 16 rows hold so many columns. */
static inline int64_t npu_c0(const struct hn_npu_insn *in)
{
	return in->type[0] == HN_I8 ? 32 : 16;
}

/* Windows of an image: how many there are along each dimension. */
static inline int64_t npu_windows(int64_t size, int64_t before, int64_t behind, int64_t k,
				  int64_t stride, int64_t dilation)
{
	int64_t room = size + before + behind - (k - 1) * dilation - 1;

	return room < 0 ? 0 : room / stride + 1;
}

/* Cycles of it, `rate`: bytes a cycle of a load from the buffer.  npu_cost.c */
int64_t npu_cost(const struct hn_npu_profile *m, const struct npu_op *op, const double *rate);
/* Of its `cost`, those before the next one of its pipe may begin. */
int64_t npu_cost_until_next(const struct hn_npu_profile *m, const struct npu_op *op, const double *rate,
			    int64_t cost);

/* The numbers.  memory: base of each; gm: of each buffer.  npu_move.c, npu_vector.c, npu_cube.c */
struct npu_bases {
	uint8_t *memory[HN_NPU_N_MEMORY];
	void *const *gm;
	const struct npu_simd *simd;
	float *left, *right; /* room for what L0A and L0B have as float32 */
};
void npu_compute(const struct npu_bases *b, const struct npu_op *op);
void npu_vector(const struct npu_bases *b, const struct npu_op *op);
void npu_cube(const struct npu_bases *b, const struct npu_op *op);
void npu_image(const struct npu_bases *b, const struct npu_op *op);

#endif
