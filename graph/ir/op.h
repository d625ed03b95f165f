/* graph/ir/op.h -- what an operator is: one row of ops.def.
 *
 * An operator is one of three things:
 *   - a rewrite: `expand` builds other operators that mean the same;
 *   - element-wise: `text` is the expression of one element, in hone's text notation (docs/dag.md);
 *   - a template: `infer` gives types and shapes of its results, `say` writes its statements.
 * Semantics are ONNX's.  Versions of an operator are normalized by `expand`, so that a template
 * has one form.
 */
#ifndef HN_GRAPH_IR_OP_H
#define HN_GRAPH_IR_OP_H

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/say.h"

/* What fusion asks (graph/fuse.h). */
enum hn_gop_class {
	HN_GOP_REWRITE,	    /* there is no node of it */
	HN_GOP_ELEMENTWISE, /* an element of the result needs one element of each operand */
	HN_GOP_VIEW,	    /* row-major, the result is the operand's memory: reshape */
	HN_GOP_INJECTIVE,   /* each element is one of the operands': transpose, slice, pad */
	HN_GOP_REDUCE,	    /* a reduction, or a window */
	HN_GOP_CONTRACT,    /* sums of products with reuse: convolution, product of matrices */
	HN_GOP_NORMALIZE,   /* reductions and what is made of them: softmax, layer norm */
};

/* The call that is being added. */
struct hn_gcall {
	struct hn_graph *g;
	const struct hn_gnode *node; /* operands and attributes */
	int32_t *out;		     /* for `expand`: its results but the first */
};

struct hn_gshape {
	uint8_t dtype;
	uint32_t rank;
	int64_t dim[HN_GRAPH_MAX_RANK];
};

struct hn_gop {
	const char *name;
	uint8_t class;
	uint8_t in_min, in_max, out_max;
	const char *attrs; /* names that it knows, blanks between */
	const char *text;
	/* Returns the first result; HN_BAD after hn_graph_fail. */
	int32_t (*expand)(const struct hn_gcall *c);
	/* Fill in `ret` for each result; false after hn_graph_fail. */
	bool (*infer)(const struct hn_gcall *c, struct hn_gshape *ret);
	void (*say)(struct hn_say *s, const struct hn_gnode *n);
};

#define HN_ANY 255 /* in_max: any number */

const struct hn_gop *hn_gop_find(const char *name); /* NULL: unknown */

/* Why there is no row of that name: refused.def's reason, or that hone does not know it. */
const char *hn_gop_why_not(const char *name);

/* Whether models may name it: hone's own operators begin with a small letter. */
static inline bool hn_gop_is_onnx(const struct hn_gop *op)
{
	const char *last = strrchr(op->name, '.');

	return op->attrs != NULL && (last != NULL || (*op->name >= 'A' && *op->name <= 'Z'));
}

/* All rows, for those who list them; *ret_n of them. */
const struct hn_gop *hn_gop_all(uint32_t *ret_n);

/* -- for rows --------------------------------------------------------------------------- */

static inline const struct hn_gvalue *hn_gcall_in(const struct hn_gcall *c, uint32_t i)
{
	return i < c->node->n_in && c->node->in[i] >= 0 ? &c->g->value[c->node->in[i]] : NULL;
}

/* Operand i of the call as a value's number, HN_NONE where it is left out. */
static inline int32_t hn_gcall_arg(const struct hn_gcall *c, uint32_t i)
{
	return i < c->node->n_in ? c->node->in[i] : HN_NONE;
}

/* A dimension that counts from the end when it is negative; false after hn_graph_fail. */
bool hn_gcall_axis(const struct hn_gcall *c, int64_t axis, uint32_t rank, uint32_t *ret);

/* The integers of constant operand i, in the graph's arena; false after hn_graph_fail. */
bool hn_gcall_ints(const struct hn_gcall *c, uint32_t i, uint32_t *ret_n, const int64_t **ret);

/* Integers that are attribute `name` or, from opset `since` on, operand i; *ret_n 0 and *ret NULL
 * where they are left out. */
bool hn_gcall_list(const struct hn_gcall *c, const char *name, int64_t since, uint32_t i,
		   uint32_t *ret_n, const int64_t **ret);

/* The shape that x and y are broadcast to, by numpy's rule. */
bool hn_gcall_broadcast(const struct hn_gcall *c, struct hn_gshape *to, const struct hn_gvalue *x);

#endif
