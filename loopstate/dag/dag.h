/* loopstate/dag/dag.h -- ComputeDAG: what is to be computed, and nothing about how.
 *
 * Tensors and operators in topological order (an op reads only ops before it); immutable
 * after construction.  Interchange format: compute-dag/1 (docs/dag.md); a text notation for
 * people parses to the same thing (dag_text.c).  Source: Ansor, section 3; the notation is in
 * the spirit of Tensor Comprehensions.
 */
#ifndef HN_LOOPSTATE_DAG_DAG_H
#define HN_LOOPSTATE_DAG_DAG_H

#include "base/err.h"
#include "loopstate/expr/expr.h"

struct hn_buf;

enum hn_op_kind { HN_OP_PLACEHOLDER, HN_OP_COMPUTE };

enum hn_combiner {
	HN_COMBINE_NONE, /* not a reduction */
	HN_COMBINE_SUM,
	HN_COMBINE_PROD,
	HN_COMBINE_MIN,
	HN_COMBINE_MAX,
	HN_COMBINE_GENERAL /* any other, argmax for one; relaxed only where a law allows it */
};

struct hn_axis {
	const char *name;
	int64_t min;    /* first value */
	int64_t extent; /* values, >= 1 */
};

/* One reduction over an op's reduce axes; n values are carried at once (argmax has 2).
 * Where `condition` is false the source is not evaluated: the condition guards its loads. */
struct hn_reduce {
	enum hn_combiner kind;
	bool any_order;                        /* its points may be taken so (law.h) */
	uint32_t n;                            /* carried values = outputs of the op */
	const struct hn_expr *const *result;   /* [n], over slots HN_SLOT_LHS+k, HN_SLOT_RHS+k */
	const struct hn_expr *const *identity; /* [n], constants */
	const struct hn_expr *const *source;   /* [n], over the op's axes */
	const struct hn_expr *condition;       /* over the op's axes; NULL = always */
	const char *const *lhs, *const *rhs;   /* [n] names, for writing the op back */
};

/* A hint a front end left. Unknown ones are kept. */
struct hn_attr {
	const char *name;
	const char *json;          /* the value, as compact JSON text */
	uint32_t n_item;           /* when the value is a list of strings: its items */
	const char *const *item;
};

/* Integers that are given when a kernel is called, lo <= value <= hi (loopstate/dag/size.h). */
struct hn_size {
	const char *name;
	int64_t lo, hi; /* lo >= 1 */
};

struct hn_sizes {
	uint32_t n;
	const struct hn_size *size; /* size k is slot HN_SLOT_SIZE + k */
};

struct hn_op {
	const char *id;   /* unique; what loads and arguments refer to */
	const char *name; /* what previews show; may repeat */
	const char *tag;  /* "" when absent */
	uint8_t kind;     /* enum hn_op_kind */
	uint32_t n_dim;   /* rank, 0 allowed */
	const int64_t *shape;
	uint32_t n_out;         /* 1 for placeholders */
	const uint8_t *dtype;   /* [n_out], enum hn_dtype */
	uint32_t n_spatial;     /* = n_dim for computes, 0 for placeholders */
	uint32_t n_reduce;
	const struct hn_axis *axis; /* [n_spatial + n_reduce] */
	const struct hn_reduce *reduce;       /* NULL unless a reduction */
	const struct hn_expr *const *body;    /* [n_out] when reduce is NULL, else NULL */
	uint32_t n_attr;
	const struct hn_attr *attr;
	const struct hn_sizes *sizes; /* the dag's; NULL: all extents are numbers */
	const struct hn_expr *const *extent; /* [n_dim + n_reduce] forms over sizes, or numbers
					      * (NULL entries too); shape and axis have their
					      * largest values.  NULL: all are numbers */
};

struct hn_dag {
	uint32_t n_op;
	const struct hn_op *const *op; /* topological order; the stage order of the initial state */
	uint32_t n_arg;
	const int32_t *arg; /* op indices: the kernel's arguments, inputs first, then outputs;
			     * an op with several outputs appears once for each, in order */
	uint32_t n_input;   /* leading args that are placeholders */
	const struct hn_sizes *sizes; /* parameters of the kernel; NULL: none */
};

#define HN_DAG_MAX_RANK 16
#define HN_DAG_MAX_OPS 1024
#define HN_DAG_MAX_ITERS 64 /* axes of one op */
#define HN_DAG_MAX_OUT 16   /* outputs of one op */
#define HN_DAG_MAX_SIZES 16 /* size parameters */
#define HN_DAG_MAX_DEPTH 250 /* nesting of one expression */
#define HN_DAG_MAX_TEXT (1 << 20) /* bytes of the text notation */

/* Check the rules that the readers of loopstate/read/dag_read.h hold a text to on a dag built in
 * memory. */
int hn_dag_check(const char *what, const struct hn_dag *dag, uint64_t max_bytes,
		 struct hn_err *err) HN_NODISCARD;

/* Floating operations of one evaluation, by Ansor's rules (dag_flops.c says them). */
double hn_dag_flops(const struct hn_dag *dag);

/* Whether its arithmetic is float32's, indices and flags aside: what a machine's float32 peak can
 * be compared with.  Every op has a float32 output, and none a float64 one; no tensor is of a
 * narrower float. */
bool hn_dag_is_float32(const struct hn_dag *dag);

/* Of those, what every call does: without a sum's terms that are zero whatever the data, and
 * without what constant inputs alone decide (loopstate/dag/constant.h).
 * An estimate, rather too low than too high; pure. */
double hn_dag_needed_flops(const struct hn_dag *dag);

/* Bytes that a call of any correct kernel must read of inputs that are not constant, and write:
 * each distinct element once, and no more than can be shown.  What stands behind a condition,
 * is multiplied by what may be zero whatever the data, or serves an op that is needed in part
 * only, counts as not read; outputs count whole. */
void hn_dag_needed_bytes(const struct hn_dag *dag, double *ret_read, double *ret_written);

/* Bytes of all arguments, and of all intermediates. Saturating. */
uint64_t hn_dag_arg_bytes(const struct hn_dag *dag);
uint64_t hn_dag_temp_bytes(const struct hn_dag *dag);

/* Elements of op's tensor (1 for rank 0), and its size in bytes for output `out`. */
int64_t hn_op_elements(const struct hn_op *op);
int64_t hn_op_bytes(const struct hn_op *op, uint32_t out);

/* Which output of its op argument i is: an op with several outputs is an argument once for
 * each, in order. */
uint32_t hn_dag_arg_out(const struct hn_dag *dag, uint32_t i);

/* Visit every expression an op owns: bodies, or sources, condition, results, identities. */
typedef void (*hn_op_expr_fn)(const struct hn_expr *e, const char *owner, uint32_t i,
			      void *ctx);
void hn_dag_op_exprs(const struct hn_op *op, hn_op_expr_fn fn, void *ctx);

/* Visit every node of what a point of the op evaluates: its bodies, or, of a reduction, the
 * sources and the condition. */
void hn_op_visit(const struct hn_op *op, hn_expr_visit_fn visit, void *ctx);

/* The attribute of that name, or NULL. */
const struct hn_attr *hn_op_attr(const struct hn_op *op, const char *name);

/* Workload key: SHA-256 over a canonical text that ignores names but not dtypes, constants,
 * structure, argument order or attributes that change what may be done (docs/dag.md). */
#define HN_KEY_BYTES 65
void hn_dag_key(const struct hn_dag *dag, char key[HN_KEY_BYTES]);

/* The same with all integers left out, extents and those in expressions: equal for dags of the
 * same ops, reads and axes in other sizes.  A history of one may fit the other. */
void hn_dag_structure_key(const struct hn_dag *dag, char key[HN_KEY_BYTES]);

#endif
