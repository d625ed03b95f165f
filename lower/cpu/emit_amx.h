/* lower/cpu/emit_amx.h -- tiles in registers of their own (AMX): what the files share that plan
 * and emit a sum by an instruction on tiles (loopstate/state/intrin.h).
 *
 * Such a nest is, from the outside in: loops that are emitted like any; reduction loops over
 * which the results stay in tiles; the loops of the block, whose tiles are held together; the
 * instruction's own four.  emit_amx_plan.c finds them, emit_amx.c makes the code of what begins
 * at the reduction loops, emit_amx_op.c the instructions.
 */
#ifndef HN_LOWER_CPU_EMIT_AMX_H
#define HN_LOWER_CPU_EMIT_AMX_H

#include "loopstate/state/intrin.h"
#include "lower/cpu/emit_nest.h"

#define EMIT_AMX_ROW 64	   /* bytes */
#define EMIT_AMX_ELEM 4	   /* bytes of a result, and of a group of terms */
#define EMIT_AMX_CONFIG 64 /* bytes of a configuration */

/* Tiles held together: mt x nt results of rows x columns, of so many groups at a time. */
struct emit_amx_shape {
	uint32_t mt, nt;
	LLVMValueRef rows, columns; /* i64 */
	int64_t groups;
};

/* What a guard leaves out. */
enum emit_amx_guarded {
	EMIT_AMX_ROWS,	  /* the last rows of a tile */
	EMIT_AMX_COLUMNS, /* the last columns */
	EMIT_AMX_TERMS,	  /* the last terms of its groups */
	EMIT_AMX_ALL	  /* all of it, or nothing */
};

struct emit_amx_guard {
	const struct hn_expr *x;
	uint8_t of; /* enum emit_amx_guarded */
	int64_t step; /* what the left side less the right one grows by from one to the next */
	bool reduction; /* it depends on reduction loops */
};

enum emit_amx_access {
	EMIT_AMX_LEFT,
	EMIT_AMX_RIGHT,
	EMIT_AMX_RESULT,
	EMIT_AMX_ACCESSES
};

struct emit_amx {
	struct emit_nest n; /* from the reduction loops inwards */
	const struct hn_intrin *in;
	struct emit_dim *dim[HN_INTRIN_DIMS];
	const struct hn_expr *factor[2]; /* loads */
	uint32_t n_reduce;		 /* dims: first those, */
	uint32_t n_block;    /* then the block's; they may hold some that run once */
	const bool *by_rows; /* [n_block] its tiles are of other rows, else columns */
	uint32_t mt, nt;
	bool from_identity;
	uint32_t n_guard;
	struct emit_amx_guard *guard;
	/* What an iteration of each loop moves each index of an access by. */
	int64_t move[EMIT_AMX_ACCESSES][HN_INTRIN_DIMS][HN_DAG_MAX_RANK];
};

enum emit_amx_place {
	EMIT_AMX_NOWHERE,
	EMIT_AMX_FURTHER_IN, /* the node's loop is one around */
	EMIT_AMX_HERE
};

/* -- emit_amx_plan.c ---------------------------------------------------------------------- */

/* Whether the nest that begins at node, or a loop inside of it, is a sum that tiles do, whose
 * operands lie as they have to; where HERE, ret is filled in. */
enum emit_amx_place hn_emit_amx_find(struct emit *e, const struct hn_node *node,
				     struct emit_amx *ret);

/* -- emit_amx.c --------------------------------------------------------------------------- */

/* The same, and what begins HERE is emitted. */
enum emit_amx_place hn_emit_amx(struct emit *e, const struct hn_node *node);

/* -- emit_amx_op.c ------------------------------------------------------------------------ */

/* Registers that hold tiles of one factor while those of the other go by. */
uint32_t hn_emit_amx_held(const struct emit_amx_shape *s);

/* The tiles are of this shape from here on, until _leave: a constant one. */
void hn_emit_amx_enter(struct emit *e, const struct emit_amx_shape *shape);
void hn_emit_amx_leave(struct emit *e, const struct emit_amx_shape *shape);

/* Within, of another shape for a while, that is known when the program runs. */
void hn_emit_amx_reshape(struct emit *e, const struct emit_amx_shape *shape);
void hn_emit_amx_shape_back(struct emit *e, const struct emit_amx_shape *shape);

void hn_emit_amx_zero(struct emit *e, uint32_t tile);
void hn_emit_amx_load(struct emit *e, uint32_t tile, LLVMValueRef p, LLVMValueRef stride);
void hn_emit_amx_store(struct emit *e, uint32_t tile, LLVMValueRef p,
		       LLVMValueRef stride);
void hn_emit_amx_sum(struct emit *e, const struct hn_intrin *in, uint32_t acc,
		     uint32_t left, uint32_t right);

#endif
