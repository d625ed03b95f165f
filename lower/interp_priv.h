/* lower/interp_priv.h -- expressions as closures, for the reference interpreter.
 *
 * A cell is a function and its operands; evaluating calls down the tree.  Floats are
 * computed in double, integers in int64 and wrapped to their type.  A load whose indices
 * are sums of axes becomes one cell with an address polynomial.
 */
#ifndef HN_LOWER_INTERP_PRIV_H
#define HN_LOWER_INTERP_PRIV_H

#include "loopstate/dag.h"

union hn_value {
	double f;  /* float types */
	int64_t i; /* all others; bool is 0 or 1 */
};

struct hn_cell;
typedef union hn_value (*hn_eval_fn)(const struct hn_cell *c, union hn_value *frame);

struct hn_term {
	int32_t slot;
	int64_t stride; /* elements */
};

struct hn_cell {
	hn_eval_fn eval;
	const struct hn_cell *arg[3];
	union hn_value v; /* constants; loads: shift in elements */
	int32_t slot;	  /* frame slot; calls: enum hn_fn */
	uint8_t type;	  /* enum hn_dtype */
	uint8_t from;	  /* casts: type of the operand */
	const void *base; /* loads */
	uint32_t n_term;
	const struct hn_term *term;
	uint32_t n_index; /* gathers: index cells and strides */
	const struct hn_cell *const *index;
	const int64_t *stride;
};

/* Where things are.  Frame slots: axes, 2 * n_out combiner arguments, then lets. */
struct hn_compile {
	const struct hn_dag *dag;
	void *const *const *data; /* data[op][out] */
	uint32_t n_axis, n_out;
	uint32_t n_frame; /* grows with lets */
	struct hn_arena *a;
};

const struct hn_cell *hn_interp_compile(struct hn_compile *c, const struct hn_expr *e);

/* The function of a node without loads or names; NULL for the special forms. */
hn_eval_fn hn_interp_node_fn(enum hn_expr_op op, enum hn_dtype operand);
union hn_value hn_interp_call(const struct hn_cell *c, union hn_value *frame);
union hn_value hn_interp_cast(const struct hn_cell *c, union hn_value *frame);

int64_t hn_interp_wrap(int64_t v, enum hn_dtype t);
union hn_value hn_interp_get(const void *base, enum hn_dtype t, int64_t at);
void hn_interp_put(void *base, enum hn_dtype t, int64_t at, union hn_value v);

#endif
