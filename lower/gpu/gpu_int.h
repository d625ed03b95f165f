/* lower/gpu/gpu_int.h -- what the walk and the languages share.
 *
 * A value is the language's own: a text, or LLVM's.  Values of float16 and bfloat16 are float32
 * numbers that have been rounded; in memory they have their two bytes.
 */
#ifndef HN_LOWER_GPU_GPU_INT_H
#define HN_LOWER_GPU_GPU_INT_H

#include "loopstate/expr/simplify.h"
#include "lower/gpu/gpu.h"

#define HN_GPU_STATIC_SHARED 49152 /* bytes that code may declare; more is asked for at launch */
#define HN_GPU_SHARED_ALIGN 128

typedef const void *gpu_val;

/* buffer[base + c] */
struct gpu_at {
	int32_t buffer;
	gpu_val base; /* NULL: 0 */
	bool wide;    /* base is an int64, else an int32 */
	int64_t c;
	uint32_t aligned; /* elements that divide base + c: 1, 2, 4, 8 or 16 */
};

struct gpu_lang;
struct scope;

/* The turns of a consumer (lower/device/device_role.h), each of which awaits a stage, multiplies, and
 * gives back the stage of the turn before: stages come round, each `step` elements further.  The first
 * turn's is `stage`, and `phase` the parity of what it awaits. */
struct gpu_turns {
	const struct hn_device_warp *w;
	struct gpu_at sum, from[2], full, empty;
	int64_t step[2], n_stage, n_turn;
	gpu_val stage, phase; /* of int32 */
};

struct gpu {
	const struct hn_device *d;
	const struct hn_target *target;
	const struct hn_gpu_options *options;
	const struct gpu_lang *lang;
	void *own; /* the language's */
	struct hn_arena *a;
	struct hn_err *err;
	int rc; /* the first failure; what is made after it does not matter */
	bool has_async; /* copies may be asynchronous on this target */
	bool has_wgmma; /* it has warpgroups */
	uint32_t vector_bytes; /* of the widest vector that loops over lanes become; 0: they do not */
	/* the kernel at hand */
	const struct hn_device_kernel *k;
	uint32_t n_slot;
	struct hn_span *span;	      /* [n_slot] */
	const struct hn_expr **value; /* [n_slot] in an instance that is written out; NULL: none */
	gpu_val *var;		      /* [n_slot] */
	uint32_t *rank;		      /* [n_slot] loops around the place where it is known */
	uint32_t depth;		      /* loops around the place at hand */
	bool in_guard;		      /* the value at hand is a condition of statements */
	bool *whole;		      /* [n_slot] the loop is written out */
	bool *kept;		      /* [n_buffer] LOCAL: each element is a register */
	uint8_t *vector;	      /* [n_buffer] of what is kept, elements of a variable */
	bool *used, *stored;	      /* [n_buffer] */
	bool *maps;		      /* [n_map] it is used */
	bool settled;		      /* the products of the loop before are */
	int64_t *offset;	      /* [n_buffer] SHARED: in bytes, one after the other */
	int64_t shared_bytes;
	int64_t shared_align; /* of what begins shared memory */
	bool *is_matrix;      /* [n_buffer] SHARED: a warpgroup reads it */
};

#define HN_GPU_MOST_STRIPS 8 /* vectors of a loop over lanes that are written out */

/* Vectors of n float32 or float64.  spread: a scalar to all lanes; gather: of scalars; pick: the
 * lesser or the greater of each lane. */
struct gpu_vector_lang {
	gpu_val (*spread)(struct gpu *g, enum hn_dtype t, uint32_t n, gpu_val v);
	gpu_val (*gather)(struct gpu *g, enum hn_dtype t, uint32_t n, const gpu_val *v);
	gpu_val (*load)(struct gpu *g, const struct gpu_at *at, uint32_t n);
	void (*store)(struct gpu *g, const struct gpu_at *at, uint32_t n, gpu_val v);
	gpu_val (*pick)(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, uint32_t n, gpu_val x,
			gpu_val y);
	/* A variable, its next value, and its lanes as one number. */
	gpu_val (*grow)(struct gpu *g, enum hn_dtype t, uint32_t n, gpu_val v);
	void (*set)(struct gpu *g, gpu_val to, gpu_val v);
	gpu_val (*fold)(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, uint32_t n, gpu_val v);
};

struct gpu_lang {
	bool unrolls; /* loops are written out by the walk; else its compiler is asked to */
	/* Statements of a kernel whose arrays are registers; that a loop may become which the
	 * program says is written out, and any other. */
	int64_t most_written, most_unrolled, most_short;

	void (*begin)(struct gpu *g);
	void (*begin_kernel)(struct gpu *g);
	void (*end_kernel)(struct gpu *g);
	void (*end)(struct gpu *g, struct hn_gpu_module *ret);
	void (*close)(struct gpu *g); /* frees what `begin` made */

	/* Values.  binary: of two operands of that type, comparisons too; exact: it is known that
	 * the result fits.  cast: types that arithmetic is done in.  round: of float32 to a
	 * narrower type. */
	gpu_val (*number)(struct gpu *g, enum hn_dtype t, int64_t v);
	gpu_val (*real)(struct gpu *g, enum hn_dtype t, double v);
	gpu_val (*binary)(struct gpu *g, enum hn_expr_op op, enum hn_dtype t, gpu_val x, gpu_val y,
			  bool exact);
	gpu_val (*not)(struct gpu *g, gpu_val x);
	gpu_val (*cast)(struct gpu *g, enum hn_dtype to, enum hn_dtype from, gpu_val x);
	gpu_val (*round)(struct gpu *g, enum hn_dtype to, gpu_val x);
	gpu_val (*call)(struct gpu *g, enum hn_fn fn, enum hn_dtype t, const gpu_val *x);
	gpu_val (*select)(struct gpu *g, enum hn_dtype t, gpu_val c, gpu_val x, gpu_val y);

	/* One side or the other is computed: what is made between `choose` and `otherwise`, or
	 * between that and `chosen`. */
	void *(*choose)(struct gpu *g, enum hn_dtype t, gpu_val c);
	void (*otherwise)(struct gpu *g, void *choice, gpu_val x);
	gpu_val (*chosen)(struct gpu *g, void *choice, gpu_val y);

	gpu_val (*load)(struct gpu *g, const struct gpu_at *at);
	gpu_val (*name)(struct gpu *g, enum hn_dtype t, gpu_val v); /* computed here, once */

	void (*store)(struct gpu *g, const struct gpu_at *at, gpu_val v);
	void (*copy)(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
		     uint32_t bytes); /* asynchronous: 4, 8 or 16, aligned so */
	void (*commit)(struct gpu *g);
	void (*wait)(struct gpu *g, int64_t n);
	void (*barrier)(struct gpu *g);
	/* of a warp (lower/device/device_warp.h); NULL: the language has none */
	void (*ldmatrix)(struct gpu *g, const struct gpu_at *to, const struct gpu_at *from,
			 uint32_t n, bool trans);
	void (*mma)(struct gpu *g, const struct hn_intrin *in, const struct gpu_at *sum,
		    const struct gpu_at *left, const struct gpu_at *right);
	/* of a warpgroup (lower/device/device_wgmma.h), as above */
	void (*wgmma)(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		      const struct gpu_at from[2]);
	void (*settle)(struct gpu *g, const struct hn_device_warp *w, const struct gpu_at *sum,
		       int64_t but);
	void (*fence)(struct gpu *g);
	/* of roles, as above: all of NULL but `turns` alone, or none.  All threads come by `mbarrier`,
	 * those of the role by `registers`, `await`, `arrive` and `turns`, one thread by `expect` and
	 * `bulk`, whose numbers are of int32. */
	void (*mbarrier)(struct gpu *g, const struct gpu_at *at, int64_t count);
	void (*registers)(struct gpu *g, int64_t n, bool more);
	void (*await)(struct gpu *g, const struct gpu_at *at, gpu_val parity);
	void (*arrive)(struct gpu *g, const struct gpu_at *at);
	void (*expect)(struct gpu *g, const struct gpu_at *at, int64_t bytes);
	void (*bulk)(struct gpu *g, int32_t map, const struct gpu_at *to, const gpu_val *from,
		     const struct gpu_at *mbarrier);
	void (*turns)(struct gpu *g, const struct gpu_turns *t);
	/* written_out: its compiler should, and the walk does not */
	void (*begin_loop)(struct gpu *g, int32_t slot, int64_t extent, bool written_out);
	void (*end_loop)(struct gpu *g, int32_t slot, int64_t extent);
	void (*begin_if)(struct gpu *g, gpu_val c);
	void (*end_if)(struct gpu *g);
	/* binary on +, -, *, / and call take vectors, too; NULL: the language has none */
	const struct gpu_vector_lang *vector;
};

extern const struct gpu_lang hn_gpu_opencl, hn_gpu_cuda, hn_gpu_ptx;

/* Remember the first failure. */
HN_PRINTF(3, 4) void hn_gpu_refuse(struct gpu *g, int code, const char *fmt, ...);

/* gpu_unroll.c: which loops are written out, and which arrays are registers. */
void hn_gpu_plan(struct gpu *g);

/* gpu_copy.c: the kernel with loops instead of its copies. */
const struct hn_device_kernel *hn_gpu_without_copies(const struct hn_device *d,
						     const struct hn_device_kernel *k,
						     struct hn_arena *a);

/* gpu_index.c: e with the values of loops that are written out; an index as terms, and its place;
 * the greatest number that is known to divide all terms and the constant, 0 where the sum is 0. */
const struct hn_expr *hn_gpu_here(struct gpu *g, const struct hn_expr *e);
struct hn_affine hn_gpu_affine(struct gpu *g, const struct hn_expr *at);
struct gpu_at hn_gpu_at(struct gpu *g, int32_t buffer, const struct hn_affine *sum);
int64_t hn_gpu_divides(const struct hn_affine *sum);
/* e as an index, of int64 where wide, else of int32. */
gpu_val hn_gpu_index(struct gpu *g, const struct hn_expr *e, bool wide);
bool hn_gpu_is_narrow_index(const struct gpu *g, const struct hn_expr *e);

/* gpu_expr.c: of what has the values of loops in it (hn_gpu_here): a value; the condition of a
 * statement, whose indices do not wrap. */
gpu_val hn_gpu_value(struct gpu *g, const struct hn_expr *e);
gpu_val hn_gpu_guard(struct gpu *g, const struct hn_expr *e);

/* gpu_lanes.c: how many lanes of a loop become one vector (1: it does not become vectors), of a type
 * and a length; of a loop of the program; such a loop, where `walk` makes the statements of one
 * lane in the scope. */
typedef void hn_gpu_children(struct gpu *g, struct scope *s, const struct hn_device_node *n);
uint32_t hn_gpu_vector(const struct gpu *g, enum hn_dtype t, int64_t extent);
uint32_t hn_gpu_lanes_of(const struct gpu *g, const struct hn_device_node *n);
void hn_gpu_lanes(struct gpu *g, const struct hn_device_node *n, uint32_t width,
		  hn_gpu_children *walk, struct scope *s);

/* The same of a loop that sums up neighbours; false: it is none such. */
bool hn_gpu_lanes_sum(struct gpu *g, const struct hn_device_node *n, hn_gpu_children *walk,
		      struct scope *scope);

/* gpu_role.c: registers of each thread that a block with roles begins with, 0: it has none; a word of
 * roles; a consumer's turns, where they are such and the language has them as one, else false. */
int64_t hn_gpu_registers(const struct hn_device_kernel *k);
void hn_gpu_word(struct gpu *g, const struct hn_device_node *n, hn_gpu_children *walk,
		 struct scope *s);
bool hn_gpu_turns(struct gpu *g, const struct hn_device_node *n);

/* gpu_walk.c */
struct gpu_at hn_gpu_place(struct gpu *g, int32_t buffer, const struct hn_expr *e);
void hn_gpu_walk(struct gpu *g);

#endif
