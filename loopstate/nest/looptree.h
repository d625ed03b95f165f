/* loopstate/nest/looptree.h -- a LoopState as an explicit nest of loops, statements and buffers.
 *
 * The one view that features, legality and code generation read; nobody else re-derives
 * loops.  Built from a concrete state and its bounds.  Inlined stages are gone: their bodies
 * have been substituted into their readers.
 *
 * Order of execution is the order of the tree: root stages in stage order; inside a loop
 * first the stages attached there (producers before consumers), then the rest of the stage's
 * own nest.  A reduction's `init` runs just before its outermost reduction loop.
 */
#ifndef HN_LOOPSTATE_NEST_LOOPTREE_H
#define HN_LOOPSTATE_NEST_LOOPTREE_H

#include "loopstate/nest/bounds.h"

enum hn_node_kind { HN_NODE_LOOP, HN_NODE_STMT, HN_NODE_SEQ };

enum hn_stmt_kind {
	HN_STMT_COMPUTE, /* T[axes] = body */
	HN_STMT_INIT,    /* T[axes] = identity */
	HN_STMT_UPDATE   /* T[axes] = combine(T[axes], source) where condition */
};

/* How long a tensor lives, and so how many copies of it there are.  In which memory it lies is
 * another matter (memory.h), and said of GPUs alone.  The printed words are "arg", "shared" and
 * "local". */
enum hn_lifetime {
	HN_LIFETIME_ARG,    /* an argument of the kernel */
	HN_LIFETIME_KERNEL, /* one copy for the whole kernel: stages at root that are not
			     * arguments */
	HN_LIFETIME_LOOP    /* made anew at each iteration of the loop it is attached in; private
			     * to the thread when that loop is inside a parallel one */
};

/* The tensor of one stage (placeholders included; inlined stages have none: op < 0).
 * Element [x0, x1, ...] of the op lives at sum over d of (xd - min[d]) * stride[d] elements, after
 * the swizzle (layout.h) has changed the last of these differences.  Of a ring there are several
 * copies, one behind the other: an iteration of at_loop has number `turn` to itself. */
struct hn_buffer {
	int32_t op;      /* index in tree->dag; -1 = no buffer */
	uint8_t lifetime; /* enum hn_lifetime */
	int32_t arg;     /* LIFETIME_ARG: position among the dag's arguments */
	uint32_t n_dim;
	const int64_t *extent;                /* [n_dim] elements held */
	const int64_t *stride;                /* [n_dim] elements, row-major */
	const struct hn_expr *const *min;     /* [n_dim] loop space (constants unless LOOP) */
	struct hn_swizzle swizzle;
	int32_t ring; /* LIFETIME_LOOP: copies; 0 and 1: one, made anew */
	const struct hn_expr *turn; /* loop space, of a ring: at_loop modulo ring */
	int32_t at_loop; /* LIFETIME_LOOP: loop id of the loop whose body holds it */
};

struct hn_node {
	uint8_t kind; /* enum hn_node_kind */

	/* LOOP: for (v = 0; v < extent; v++) child[0..n_child).  v is slot `loop` in
	 * expressions. */
	int32_t loop;
	int64_t extent;
	uint8_t ann;       /* enum hn_ann */
	uint8_t iter_kind; /* enum hn_iter_kind */
	int32_t stage;     /* LOOP, STMT: whose */
	int32_t unroll_max_step; /* LOOP: the stage's auto_unroll_max_step */
	const char *name;  /* LOOP: for printing */
	uint32_t n_prefetch; /* LOOP: operands to fetch ahead; 1 <= distance < extent */
	const struct hn_prefetch *prefetch;
	const struct hn_intrin *intrin; /* LOOP: done by this instruction, where the machine has it
					 * and finds its operands laid out; NULL = none */
	uint8_t intrin_dim;		/* enum hn_intrin_dim: which of its loops */
	bool held; /* LOOP of an instruction: its results stay in registers (FR), where they fit */
	/* In a loop some children may run some iterations ahead of others: in turn t, those of
	 * iteration t + ahead run, in the order of the children, so that the first turn is before
	 * iteration 0.  0 unless the loop is pipelined. */
	int32_t ahead;
	uint8_t pipeline; /* LOOP: enum hn_pipeline_kind of what is ahead in it */
	const struct hn_node *init; /* LOOP or STMT: the outermost reduction loop of its stage (or
				     * the UPDATE itself when no reduction loop is left): run this
				     * first; NULL otherwise */

	/* STMT */
	uint8_t stmt; /* enum hn_stmt_kind */
	const struct hn_expr *const *axis; /* [axes of the op] loop space; an INIT's reduction
					    * entries are NULL */
	uint32_t n_guard; /* run only when all hold; may name size parameters (size.h) */
	const struct hn_expr *const *guard;

	/* LOOP, SEQ */
	uint32_t n_child;
	const struct hn_node *const *child;
};

struct hn_looptree {
	const struct hn_state *state;
	const struct hn_dag *dag; /* the state's current dag, with inlined bodies substituted: op i
				   * is stage i still, inlined ones unread */
	const struct hn_bounds *bounds;
	uint32_t n_loop; /* loop ids are below this (init copies of loops included) */
	const struct hn_buffer *buffer; /* [n_stage] */
	const struct hn_node *root;     /* a SEQ */
	const bool *prepared; /* [n_stage] stages at root, LIFETIME_KERNEL, that depend on constant inputs
			       * alone, with all that is attached in them: these may run once,
			       * before the first call; none where sizes are parameters */
};

/* Build it.  HONE_E_INVALID, HONE_E_UNSUPPORTED with a sentence about the stage.  Pure. */
int hn_looptree_build(const struct hn_state *s, struct hn_arena *a, const struct hn_looptree **ret,
		      struct hn_err *err) HN_NODISCARD;

/* Readable text: loops with extents and annotations, statements with real index expressions,
 * buffers with lifetimes. */
void hn_looptree_print(const struct hn_looptree *t, struct hn_buf *buf);

#endif
