/* lower/npu/vector_int.h -- a dag as a list of vector operations on values of a tile: what the files
 * of hn_npu_vector share.
 *
 * The dag's ops go through one space of dimensions.  A value has a number for each point of some of
 * them.  In global memory it lies as its argument does, by strides; in the unified buffer its
 * dimensions lie in the space's order.  A tile is a box of the space.
 */
#ifndef HN_LOWER_NPU_VECTOR_INT_H
#define HN_LOWER_NPU_VECTOR_INT_H

#include "lower/npu/npu.h"
#include "target/npu/npu_insn.h"

#define VEC_DIMS 24   /* of a space */
#define VEC_REGISTERS 28
#define VEC_PHASES 8  /* walks over the tiles of a sum, one after the other */

enum vec_form {
	VEC_FULL,    /* it has the last dimension: rows, each padded to whole blocks */
	VEC_NUMBERS, /* it has not: numbers, one next to the other */
	VEC_SPREAD,  /* it has not: a block for each number */
	VEC_STAGED,  /* a block for each number, which is its first: on the way from or to memory */
	VEC_BITS,    /* of a comparison: a block for each repeat */
	VEC_CHUNK    /* a repeat for each row: sums on their way */
};

struct vec_value {
	uint8_t form, dtype;
	uint32_t dims;	/* those it has a number for each point of */
	uint32_t deps;	/* those whose tiles it is another in */
	int32_t arg;	/* the argument that it is loaded from or stored to; -1 */
	bool loaded, stored;
	int64_t offset, stride[VEC_DIMS]; /* where it lies there, in numbers */
	/* of a tile */
	int32_t root;		   /* whose memory it has: its own, mostly */
	bool exclusive;		   /* nothing shares its memory */
	bool persistent;	   /* no walk over a sum's tiles changes it */
	uint8_t phase;		   /* the first walk that it can be made in */
	int32_t first[VEC_PHASES], last[VEC_PHASES]; /* operations that touch it; -1: none */
	int64_t bytes, at;	   /* of a copy; in the unified buffer */
	int64_t behind;		   /* of these bytes, room for sums on their way */
	uint32_t copies, turn;
	int8_t reg; /* what its core's part adds to where it lies; -1: nothing */
};

enum {
	VEC_LOAD = HN_NPU_N_OP, VEC_STORE,
	VEC_CHAIN,   /* slices of outer dimensions become one */
	VEC_FOLD,    /* the repeats of a row become one, if there are more */
	VEC_TOTAL,   /* what tiles give becomes one, if the sum is over several */
	VEC_GATHER,  /* what is staged, next to each other */
	VEC_SCATTER  /* to be staged */
};

struct vec_op {
	uint16_t what;	   /* enum hn_npu_op, or one of the above */
	int32_t to, from[3]; /* values; -1: none */
	float scale;
	uint8_t with;	   /* CHAIN, FOLD, TOTAL: what two become one by */
	uint32_t over;	   /* TOTAL: the dimensions of the sum */
	/* of a tile */
	uint8_t in;		   /* walks that it is done in, a bit each */
	int64_t key[VEC_DIMS + 1]; /* the tile that it was last done for */
	bool done;
};

/* A linear form of the dimensions as they were found. */
struct vec_line {
	int64_t c, k[VEC_DIMS];
};

/* A part of an axis of an op, as a dimension of its own. */
struct vec_side {
	uint32_t op, axis;
	int64_t from, extent;
	int8_t found;
};

/* A sum over an axis of an op is taken in two parts here, because a condition does not hold in both. */
#define VEC_SPLITS 256
struct vec_split {
	uint32_t op, axis;
	int64_t at;
};

struct vec {
	const struct hn_dag *dag;
	const struct hn_npu_profile *m;
	const struct hn_npu_plan *plan;
	struct hn_arena *a;
	struct hn_err *err;
	int rc;
	uint32_t depth; /* of expressions on the way */
	/* dimensions as they were found, and where each op's axes are; -1: extent 1 */
	uint32_t n_found, n_static, n_more; /* n_more: those behind n_static that are in use again */
	int64_t found[VEC_DIMS];
	int8_t (*home)[HN_DAG_MAX_ITERS];
	/* of the box of a result that is being computed */
	int32_t cut;	/* the found dimension that it is to be cut along; -1: none */
	int64_t cut_at; /* the first value of it that is behind the cut */
	int32_t apart_at; /* a found dimension that a sum is to be taken apart along; -1: none */
	uint32_t n_side;
	struct vec_side side[VEC_DIMS];
	struct vec_side term[VEC_DIMS]; /* of a found one that a sum is over: what of which axis it is */
	uint32_t n_split;
	struct vec_split *split_at; /* [VEC_SPLITS] */
	/* of the space: some of these became one, the last is the one along which rows lie */
	bool ordered;
	uint32_t n_dim;
	int64_t dim[VEC_DIMS];
	int8_t to[VEC_DIMS];	/* of a found one: which it is in */
	int8_t inner[VEC_DIMS]; /* of the space's: the last found one in it */
	uint32_t n_value, cap_value, n_op, cap_op;
	struct vec_value *v;
	struct vec_op *op;
	struct vec_made *made; /* vector_eval.c: values of ops, so as they are read */
	uint32_t n_made;
	/* of the program: cores that share each dimension, and what each core has of it */
	int64_t core[VEC_DIMS], part[VEC_DIMS], tile[VEC_DIMS];
	uint32_t most_core; /* that there are */
	int32_t split[2];  /* dimensions that cores share, the outer first; -1: none */
	uint32_t reduced, n_core, n_phase;
	uint32_t kept;	   /* dimensions that must not be in tiles */
	uint32_t *by;	   /* [n_value] the operation that makes it */
	bool phased;	   /* by vec_phases, with success */
	uint32_t tiled;    /* dimensions that a core goes through in tiles */
	uint32_t n_loop;
	uint8_t loop[VEC_DIMS]; /* these, outermost first; those of sums last */
	int64_t step;	   /* of the first of split: what cores get multiples of */
	int64_t padding;   /* rows are padded to a multiple of it */
	int64_t ub_bytes, n_tile;
	uint32_t n_register;
	int64_t apart[VEC_REGISTERS][2]; /* bytes between cores' parts, of each register */
};

static inline uint32_t vec_bit(uint32_t d)
{
	return (uint32_t)1 << d;
}

static inline bool vec_has(uint32_t dims, uint32_t d)
{
	return (dims >> d & 1) != 0;
}

/* Bit of the last dimension; 0: the space has none. */
static inline uint32_t vec_last(const struct vec *x)
{
	return x->n_dim == 0 || !x->ordered ? 0 : vec_bit(x->n_dim - 1);
}

static inline int64_t vec_size(const struct vec *x, int32_t v)
{
	return hn_dtype_bytes((enum hn_dtype)x->v[v].dtype);
}

/* As which op i lies in memory, if it is an argument. */
static inline const int64_t *vec_shape(const struct vec *x, uint32_t i)
{
	const int64_t *const *lies = x->plan->lies;

	return lies != NULL && lies[i] != NULL ? lies[i] : x->dag->op[i]->shape;
}

/* Of these dimensions; a double, for products of extents may be beyond integers. */
static inline double vec_points(const struct vec *x, uint32_t dims)
{
	double n = 1;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		n *= vec_has(dims, d) ? (double)x->dim[d] : 1;
	}
	return n;
}

int vec_no(struct vec *x, const struct hn_op *op, const char *why, const char *what);

/* vector_space.c: dimensions, and where each op's axes are; then their order. */
int vec_space(struct vec *x);
int vec_order(struct vec *x);
/* vector_eval.c: operations of all results. */
int vec_ops(struct vec *x);
/* vector_group.c: results in groups, each of which has cores of its own. */
enum { VEC_GROUPS = 8 };
struct vec_groups {
	uint32_t n, most_core, cores[VEC_GROUPS];
	uint8_t *group; /* [n_op] of a store */
};
void vec_group(const struct vec *x, struct vec_groups *ret);
/* What group g's results need. */
void vec_group_of(const struct vec *x, const uint8_t *group, uint8_t g, struct vec *ret);
/* vector_cores.c: what each core does.  vector_place.c: tiles, and addresses of values. */
int vec_cores(struct vec *x);
int vec_place(struct vec *x);
int64_t vec_padded(const struct vec *x, int64_t columns);
/* Of the dims but the last, n of each: their product. */
int64_t vec_rows(const struct vec *x, uint32_t dims, const int64_t *n);
/* vector_phase.c: with the tiles known, which operation is done in which walk. */
/* False: the tiles would need walks that there are not. */
bool vec_phases(struct vec *x);
bool vec_is_in(const struct vec *x, uint32_t i, uint32_t phase);
bool vec_is_crossing(const struct vec *x, const struct vec_op *op);
/* vector_code.c: the text: its head, and the code of cores from `base` on. */
void vec_head(const struct vec *x, struct hn_buf *text);
int vec_code(struct vec *x, uint32_t base, int64_t *n_insn, struct hn_buf *text);

/* vector_ops.c: new ones. */
int32_t vec_new_value(struct vec *x, enum vec_form form, enum hn_dtype t, uint32_t dims);
struct vec_op *vec_new_op(struct vec *x, uint16_t what, int32_t to, int32_t a, int32_t b, int32_t c,
			  float scale);

/* A value, or (value < 0) a number. */
struct vec_item {
	int32_t value;
	float number;
};

int32_t vec_constant(struct vec *x, float number, enum hn_dtype t);
struct vec_item vec_unary(struct vec *x, uint16_t what, struct vec_item a, enum hn_dtype t, float scale);
struct vec_item vec_binary(struct vec *x, uint16_t what, struct vec_item a, struct vec_item b,
			   enum hn_dtype t);
/* Where x what y holds, yes, else not; x and y are of type t, as yes and not of type u. */
struct vec_item vec_choose(struct vec *x, uint16_t what, struct vec_item a, struct vec_item b,
			   enum hn_dtype t, struct vec_item yes, struct vec_item no, enum hn_dtype u);
struct vec_item vec_as(struct vec *x, struct vec_item a, enum hn_dtype t);
/* As wide as dims say. */
int32_t vec_widened(struct vec *x, int32_t v, uint32_t dims);
int32_t vec_spread(struct vec *x, int32_t v);

/* vector_math.c: a function of one or two values; false: it has no form here. */
bool vec_call(struct vec *x, enum hn_fn fn, struct vec_item a, struct vec_item b, enum hn_dtype t,
	      struct vec_item *ret);

#endif
