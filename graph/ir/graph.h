/* graph/ir/graph.h -- a network: values, and the nodes that compute them.
 *
 * The level above ComputeDAGs.  A value is a tensor of known shape; a node is one operator (a row
 * of graph/op/ops.def) on values that come before it.  A graph is built by hn_graph_add, which
 * infers shapes, computes what depends on constants alone, and finds equal nodes again; so a graph
 * is in three-address form and free of common subexpressions at any time.
 *
 * Errors are sticky: after one every call does nothing and returns HN_BAD, and g->err says what was
 * wrong.  So code that builds several nodes checks once, at the end.
 *
 * A value without elements (a dimension is 0) is a constant: no node computes or reads it.
 *
 * Shapes have numbers only.  A symbolic dimension of a model gets its number before (import.h).
 */
#ifndef HN_GRAPH_IR_GRAPH_H
#define HN_GRAPH_IR_GRAPH_H

#include "base/arena.h"
#include "base/dtype.h"
#include "base/err.h"

#define HN_GRAPH_MAX_RANK 8
#define HN_GRAPH_MAX_OUT 64			 /* results of a node */
#define HN_GRAPH_MAX_INTS 64			 /* a list that shapes depend on */
#define HN_GRAPH_MAX_ELEMENTS ((int64_t)1 << 40) /* of a value */
#define HN_GRAPH_MAX_ELEMENTS_TEXT "2^40 elements"
/* Expressions that are evaluated, and bytes that are read and written, for all constants of a graph
 * together: half a minute at worst. */
#define HN_GRAPH_WORK ((int64_t)1 << 29)
#define HN_NONE (-1) /* in place of a value: an operand that is left out */
#define HN_BAD (-2)  /* the result of a call that failed */

struct hn_gop; /* graph/ir/op.h */

struct hn_gvalue {
	const char *name; /* the model's, any UTF-8; for messages */
	uint8_t dtype;	  /* enum hn_dtype */
	uint32_t rank;
	const int64_t *shape;
	const void *data; /* of a constant: its elements, row-major; NULL: it is none */
	bool fill;	  /* the one element at `data` stands for all */
	bool lasts;	  /* data are the same, and there, in all readings of the model (memo.h) */
	/* Of a constant of one element: equal computations differ in it, so it is an operand of
	 * theirs, not a number in their text. */
	bool operand;
	int32_t node;	  /* computes it; -1: an input, or a constant */
	/* The order in which dimensions lie in memory, outermost first; NULL: as they are written.
	 * Chosen by graph/layout.h. */
	const uint8_t *order;
};

enum hn_gattr_kind { HN_GATTR_INTS, HN_GATTR_FLOATS, HN_GATTR_STRING };

struct hn_gattr {
	const char *name;
	uint8_t kind; /* enum hn_gattr_kind; one number is a list of one */
	uint32_t n;
	const int64_t *i;
	const double *f;
	const char *s;
};

struct hn_gnode {
	const struct hn_gop *op;
	const char *name; /* the model's node that it comes from; for messages */
	uint32_t n_in, n_out, n_attr;
	const int32_t *in;  /* values, or HN_NONE */
	const int32_t *out; /* values */
	const struct hn_gattr *attr;
	uint32_t next; /* graph.c: the next of its bucket, from 1 */
	bool live;     /* graph.c: while it sweeps */
};

struct hn_graph {
	struct hn_arena *arena; /* all below lives here */
	const char *name;
	struct hn_gvalue *value;
	uint32_t n_value, cap_value;
	struct hn_gnode *node; /* an order in which they may be computed */
	uint32_t n_node, cap_node;
	int32_t *input, *output;
	const char **output_name; /* of the model; a value may be an output twice */
	uint32_t n_input, n_output;
	int64_t opset; /* of the operators that are being added (ONNX's default domain) */
	const char *at; /* the node that is being imported: the name of what it adds */
	struct hn_err *err; /* of the first failure */
	bool failed;
	int64_t work_left; /* of HN_GRAPH_WORK */
	/* A value that equals the node's one result, made otherwise, or HN_NONE (graph/pass); NULL:
	 * nodes stay as they are added. */
	int32_t (*simplify)(struct hn_graph *g, const struct hn_gnode *n);
	struct hn_memo *memo; /* NULL: the model is read once */
	uint32_t *bucket;  /* nodes by hash, to find equal ones */
	uint32_t n_bucket;
};

void hn_graph_init(struct hn_graph *g, struct hn_arena *a, const char *name,
		   struct hn_err *err);

/* Take note of a failure: one line, behind the name of the node.  Returns HN_BAD. */
int32_t hn_graph_fail(struct hn_graph *g, int code, const char *fmt, ...) HN_PRINTF(3, 4);

/* Whether so much work may still be done for constants; then it counts as done. */
bool hn_graph_afford(struct hn_graph *g, int64_t work);

/* An input, or a constant; shapes and data are not copied. */
int32_t hn_graph_input(struct hn_graph *g, const char *name, enum hn_dtype t,
		       uint32_t rank, const int64_t *shape);
int32_t hn_graph_const(struct hn_graph *g, const char *name, enum hn_dtype t,
		       uint32_t rank, const int64_t *shape, const void *data, bool fill);

/* Constant v of one element as an operand of what reads it; other values, and 0, which leaves
 * something out, as they are. */
int32_t hn_graph_operand(struct hn_graph *g, int32_t v);

/* Constants of a few numbers; copied.  The scalar is rounded to the type, and cut to its ends. */
int32_t hn_graph_ints(struct hn_graph *g, uint32_t n, const int64_t *v);
int32_t hn_graph_scalar(struct hn_graph *g, enum hn_dtype t, double v);

/* Operator `op` (a name of ops.def) on operands; its results into out[n_out].  Attributes are
 * copied. */
void hn_graph_call(struct hn_graph *g, const char *op, uint32_t n_in, const int32_t *in,
		   uint32_t n_attr, const struct hn_gattr *attr, uint32_t n_out,
		   int32_t *out);

/* The same of one result; without attributes on one operand, and on two. */
int32_t hn_graph_add(struct hn_graph *g, const char *op, uint32_t n_in, const int32_t *in,
		     uint32_t n_attr, const struct hn_gattr *attr);
int32_t hn_graph_1(struct hn_graph *g, const char *op, int32_t x);
int32_t hn_graph_2(struct hn_graph *g, const char *op, int32_t x, int32_t y);

/* Drop nodes whose results nobody needs. */
void hn_graph_sweep(struct hn_graph *g);

/* Elements of a value; a product past 2^62 is 2^62. */
int64_t hn_gvalue_elements(const struct hn_gvalue *v);
uint64_t hn_gvalue_bytes(const struct hn_gvalue *v);

/* The text "[1,64,56,56]" of a shape, in a. */
const char *hn_shape_text(struct hn_arena *a, uint32_t rank, const int64_t *shape);

/* Whether all elements of v are known, and are integers: then element i. */
bool hn_gvalue_int(const struct hn_gvalue *v, int64_t i, int64_t *ret);
/* The same of a number of any type. */
bool hn_gvalue_number(const struct hn_gvalue *v, int64_t i, double *ret);

/* -- attributes ------------------------------------------------------------------------- */

const struct hn_gattr *hn_gattr_find(const struct hn_gnode *n, const char *name);
int64_t hn_gattr_int(const struct hn_gnode *n, const char *name, int64_t otherwise);
double hn_gattr_float(const struct hn_gnode *n, const char *name, double otherwise);
const char *hn_gattr_string(const struct hn_gnode *n, const char *name,
			    const char *otherwise);

/* Write attributes down; they live as long as what they are made of. */
struct hn_gattr hn_gattr_of_int(struct hn_arena *a, const char *name, int64_t v);
struct hn_gattr hn_gattr_of_ints(const char *name, uint32_t n, const int64_t *v);

#endif
