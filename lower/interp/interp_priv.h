/* lower/interp/interp_priv.h -- expressions as closures, for the reference interpreter.
 *
 * A cell is a function and its operands; evaluating calls down the tree.  Floats are
 * computed in double, integers in int64 and wrapped to their type.  A load whose indices
 * are sums of axes becomes one cell with an address polynomial.
 *
 * What C leaves undefined has a value here, and is counted in frame[-1]: a quotient by zero or
 * out of range.
 */
#ifndef HN_LOWER_INTERP_INTERP_PRIV_H
#define HN_LOWER_INTERP_INTERP_PRIV_H

#include "loopstate/dag/dag.h"
#include "lower/interp/interp.h"

union hn_value {
	double f;  /* float types */
	int64_t i; /* all others; bool is 0 or 1 */
};

struct hn_cell;
typedef union hn_value (*hn_eval_fn)(const struct hn_cell *c, union hn_value *frame);

struct hn_interp_term {
	int32_t slot;
	int64_t stride; /* elements */
};

/* An op whose elements are computed when they are first asked for (interp_part.c). */
struct hn_lazy {
	int64_t n_elem;
	uint8_t *done; /* a bit for each element; NULL: all are there */
	uint8_t *bad;  /* the same: it rests on what C leaves undefined */
	void (*make)(struct hn_lazy *l, int64_t at);
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
	const struct hn_interp_term *term;
	uint32_t n_index; /* gathers: index cells and strides */
	const struct hn_cell *const *index;
	const int64_t *stride;
	struct hn_lazy *lazy; /* loads: who makes what is not there yet; NULL: all is */
};

/* Where things are.  Frame slots: axes, 2 * n_out combiner arguments, then lets. */
struct hn_compile {
	const struct hn_dag *dag;
	void *const *const *data; /* data[op][out] */
	uint32_t n_axis, n_out;
	uint32_t n_frame; /* grows with lets */
	uint32_t n_cell;  /* grows with each */
	enum hn_interp_floats floats;
	const bool *decided; /* [op] (loopstate/dag/decided.h): rounded in any case */
	struct hn_lazy *const *lazy; /* [op]; NULL: every op is computed as a whole, in order */
	/* NULL; or makes the cell of a load, whose ref and indices mean what the caller's program
	 * says (lower/device/device_interp.c): dag, data and lazy are not asked then */
	const struct hn_cell *(*load)(struct hn_compile *c, const struct hn_expr *e);
	void *load_ctx;
	struct hn_arena *a;
};

/* An index: int32 sums and products do not wrap. */
const struct hn_cell *hn_interp_compile_index(struct hn_compile *c, const struct hn_expr *e);
const struct hn_cell *hn_interp_compile(struct hn_compile *c, const struct hn_expr *e);

/* interp_sum.c: the cell of e, whose type is set, where it is a sum of multiples or a quotient by a
 * number, and does not wrap; false: it is not.  Its place in the frame, of a variable. */
bool hn_interp_sum(struct hn_compile *c, const struct hn_expr *e, bool index, struct hn_cell *cell);
int32_t hn_interp_slot(struct hn_compile *c, int32_t slot);

/* data[op][out] from the arguments; what is none of them is allocated, zeros, into `own`, which
 * has room for HN_DAG_MAX_OUT of each op and is the caller's to free, after a failure too.
 * HONE_E_NOMEM. */
int hn_interp_place(const struct hn_dag *dag, void *const *arg, struct hn_arena *a, void ***data,
		    void **own, uint32_t *n_own, struct hn_err *err) HN_NODISCARD;

/* One op, ready to be computed. */
struct hn_machine {
	const struct hn_op *op;
	void *const *out; /* [n_out] */
	union hn_value *frame;
	const struct hn_cell *body[HN_DAG_MAX_OUT]; /* or the sources */
	const struct hn_cell *result[HN_DAG_MAX_OUT];
	const struct hn_cell *identity[HN_DAG_MAX_OUT];
	const struct hn_cell *condition; /* NULL: always */
	bool wide;	/* floats are */
	uint32_t n_cell; /* of a body, or of an update */
	int64_t *fuel;	/* cells that may yet be computed: a reduction ends when it is below 0 */
};

/* Ready an op of c->dag; fuel is the caller's. */
void hn_machine_init(struct hn_compile *c, uint32_t i_op, int64_t *fuel, struct hn_machine *ret);

/* Compute the element at the place that the frame's spatial axes name, its flat index being at. */
void hn_machine_element(const struct hn_machine *m, int64_t at);

/* The function of a node without loads or names; NULL for the special forms. */
hn_eval_fn hn_interp_node_fn(enum hn_expr_op op, enum hn_dtype operand);
union hn_value hn_interp_call(const struct hn_cell *c, union hn_value *frame);
union hn_value hn_interp_cast(const struct hn_cell *c, union hn_value *frame);

int64_t hn_interp_wrap(int64_t v, enum hn_dtype t);
union hn_value hn_interp_get(const void *base, enum hn_dtype t, int64_t at);
void hn_interp_put(void *base, enum hn_dtype t, int64_t at, union hn_value v);

#endif
