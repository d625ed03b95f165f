/* lower/device/place_int.h -- what the parts of placing a loop tree on a device share.
 *
 * A nest at root becomes a kernel.  Its loops that are bound to numbers (of blocks, threads,
 * virtual threads) disappear; what is below them runs where the numbers are in their range. 
 * `struct bound` is the list of those around a place.  Code falls into pieces: a piece is what each
 * thread runs from end to end, and all of a block's threads pass from one piece to the next
 * together.
 */
#ifndef HN_LOWER_DEVICE_PLACE_INT_H
#define HN_LOWER_DEVICE_PLACE_INT_H

#include "loopstate/expr/simplify.h"
#include "lower/device/device.h"

/* Bound loops around a place, innermost first. */
struct bound {
	const struct hn_node *loop;
	const struct bound *up;
};

/* A pipelined loop around code, and whether that is ahead in it: it then touches another copy of
 * the loop's rings than the rest of the same turn does. */
struct phase {
	int32_t loop;
	bool ahead;
	const struct phase *up;
};

/* Code that is being made: a node, and for the nodes that threads pass together their children. */
struct draft {
	struct hn_device_node node;
	bool piece;
	int32_t stage; /* whose loop, or statements; -1: an init's, or nobody's alone */
	int32_t loop;  /* of the tree, whose turns these are and that holds rings; -1: none */
	bool first;    /* they are those before its iteration 0 */
	const struct phase *phase;
	uint32_t n, cap;
	struct draft **child;  /* unless a piece */
	struct walked *walked; /* place_sync.c's */
};

/* What each thread has summed of a sum that threads take together: an element for each iteration
 * of the loops inside the sum that one thread runs through. */
struct part {
	int32_t buffer; /* of its first output; the others follow */
	uint32_t n_loop, cap;
	const struct hn_node **loop; /* outermost first */
};

/* Where a stage's tensor lies. */
enum { HN_HELD_UNKNOWN, HN_HELD_YES, HN_HELD_NO };
struct held {
	bool made;
	int32_t buffer; /* of its first output; the others follow */
	uint8_t memory; /* enum hn_memory */
	const struct bound
		*at; /* loops around the one that holds it; NULL: none, or at root */
	bool threads_inside; /* some thread's loop stands between that and an access */
	uint8_t full; /* HN_HELD: all of the box is written before it is read */
	uint8_t zero; /* HN_HELD: 0 where it reaches past the tensor's end */
	int64_t block; /* elements of the last dimension whose columns of rows follow each other, as
			* warpgroups read it; 0: rows are whole */
};

/* Loops through a tile that a warp holds (place_warp.c). */
enum digit { DIGIT_NONE, DIGIT_ROW, DIGIT_COLUMN };

/* Results that a warp holds: by which instruction, and which dimensions are its rows and columns. */
struct fragment {
	const struct hn_intrin *intrin; /* NULL: no warp does */
	uint32_t dim[2];
};

struct place {
	const struct hn_looptree *t;
	struct hn_arena *a;
	struct hn_err *err;
	int rc; /* the first failure; what is made after it does not matter */
	struct hn_device_buffer *buffer;
	uint32_t n_buffer, cap_buffer;
	struct held *held;	      /* [n_stage] */
	const struct hn_expr **value; /* [n_loop] of the tree's loops; NULL: none here */
	const struct part **part;     /* [n_stage] while threads sum it; NULL: none */
	const struct hn_expr *when;   /* condition on turns that the code at hand is under; NULL: none */
	const struct phase *phase;
	bool async;	  /* copies into shared memory need not be there yet */
	uint32_t n_async; /* such copies so far */
	struct fragment *fragment; /* [n_stage] */
	uint8_t *digit;		   /* [n_loop] enum digit */
	struct hn_span *loop_span; /* [n_loop] */
	int32_t open_slot;	   /* of the kernel's loop whose products may end in the next turn; -1: none */
	int64_t team;		   /* threads that make the kernel's products together; 0: it has none */
	bool warp;		   /* the code at hand is a warp's: all lanes run it */
	bool in_mma;		   /* an index is of the first element of a tile */
	int32_t bulk_slot;	   /* of the kernel's loop whose copies a warpgroup of its own begins; -1: none */
	int32_t bulk_loop;	   /* of the tree: the same loop, */
	int64_t bulk_stages;	   /* copies of each buffer that it fills, */
	const struct hn_expr *bulk_turn; /* and its turn, counted on over the loops around it */
	const struct hn_expr *around;	 /* turn of the loops around the code at hand; NULL: there are none */
	uint32_t first_buffer;	   /* of the kernel's own */
	int32_t bulk_of;	   /* the stage whose loop it is */
	uint32_t n_map, cap_map;
	struct hn_device_map *map;
	int32_t *loop_stage; /* [n_loop] whose loop of the tree it is */
	/* of the statement at hand: indices of swizzled buffers, and what they were before */
	uint32_t n_turned;
	const struct hn_expr *turned[8], *straight[8];
	int32_t lane_slot;  /* of the loop over lanes around the code at hand, */
	int64_t lane_extent; /* as long as that; 0: there is none */
	/* the kernel at hand */
	bool over_cores; /* its blocks are a loop over cores: each has its own of what is attached */
	int64_t grid[3], block[3];
	struct hn_span *span; /* [n_slot] values of each slot */
	uint8_t *type;
	uint32_t n_slot, cap_slot;
};

/* The dimension of a loop's number: 0 to 2. */
uint32_t hn_place_dim(const struct hn_node *loop);

static inline enum hn_runs hn_place_runs(const struct hn_node *n)
{
	return n->kind == HN_NODE_LOOP && n->extent > 1 ? hn_ann_rows[n->ann].runs
							: HN_RUNS_ORDER;
}

/* Whether the loop is bound to a block's or thread's number. */
static inline bool hn_place_is_number(const struct hn_node *n)
{
	return hn_place_runs(n) == HN_RUNS_BLOCKS || hn_place_runs(n) == HN_RUNS_THREADS;
}

/* place_cores.c: the nest with blocks in place of cores; p->over_cores says whether there are any. */
const struct hn_node *hn_place_over_blocks(struct place *p, const struct hn_node *n);

/* Whether the iterations of the bound loop have one copy of the stage's tensor between them. */
bool hn_place_serves(const struct place *p, int32_t stage, const struct hn_node *loop);

const struct hn_expr *hn_place_int(struct place *p, int64_t v);
const struct hn_expr *hn_place_binary(struct place *p, enum hn_expr_op op,
				      const struct hn_expr *x, const struct hn_expr *y);
int32_t hn_place_slot(struct place *p, enum hn_dtype type, int64_t extent);
const struct hn_expr *hn_place_var(struct place *p, int32_t slot);
int32_t hn_place_buffer(struct place *p, const char *name, enum hn_dtype type,
			enum hn_memory memory, int64_t n_elem, int32_t arg);

/* Remember the first failure. */
HN_PRINTF(3, 4)
void hn_place_refuse(struct place *p, int32_t stage, const char *fmt, ...);

/* place_stmt.c: a loop-space expression in the kernel's slots, the element of a stage's output
 * that these axis values name, and code.  Lists grow in the arena. */
struct code {
	uint32_t n, cap;
	const struct hn_device_node **v;
};

const struct hn_expr *hn_place_value(struct place *p, const struct hn_expr *e,
				     int32_t stage);
const struct hn_expr *hn_place_element(struct place *p, int32_t stage,
				       const struct hn_expr *const *axis,
				       int32_t *ret_buffer);
void hn_place_add(struct place *p, struct code *c, struct hn_device_node node);
/* A loop or condition around what `c` holds. */
const struct hn_device_node *hn_place_wrap(struct place *p, struct hn_device_node node,
					   struct code *c);
/* What `c` holds, where the condition holds. */
void hn_place_under(struct place *p, const struct hn_expr *condition, struct code *c);
/* A subtree without bound loops of blocks and threads, without its own init. */
void hn_place_code(struct place *p, const struct hn_node *n, struct code *c);
/* The stores of one update of stage's element by what `dst` (and source) hold: dst = dst (+)
 * src. */
void hn_place_combine(struct place *p, int32_t stage, int32_t dst,
		      const struct hn_expr *at, const struct hn_expr *const *source,
		      struct code *c);
void hn_place_stmt(struct place *p, const struct hn_node *n, struct code *c);

/* An expression of the op's axes, where the statement runs; the element that it writes. */
const struct hn_expr *hn_place_in_stmt(struct place *p, const struct hn_node *stmt,
				       const struct hn_expr *e);
const struct hn_expr *hn_place_result(struct place *p, const struct hn_node *stmt,
				      int32_t *ret_buffer);

/* place_warp.c: what the nest has of a warp's; whether n touches it; the value of a loop through a
 * tile whose iterations of the lane's own `slot` counts. */
void hn_place_warp_survey(struct place *p, const struct hn_node *nest);
bool hn_place_is_warp(struct place *p, const struct hn_node *n);
const struct hn_expr *hn_place_lane_value(struct place *p, enum digit digit, int32_t slot);
/* Elements that a lane holds of the stage, and the one at x[n_dim] of the buffer. */
int64_t hn_place_fragment_size(struct place *p, int32_t stage);
const struct hn_expr *hn_place_fragment(struct place *p, int32_t stage,
					const struct hn_expr *const *x);
/* The loops from n on where they are a warp's product; false: they are not. */
bool hn_place_product(struct place *p, const struct hn_node *n, struct code *c);
/* place_wgmma.c: the same of a warpgroup's; before the nest is placed, how its factors lie. */
bool hn_place_wgmma(struct place *p, const struct hn_node *n, struct code *c);
void hn_place_wgmma_survey(struct place *p, const struct hn_node *stmt);
/* place_overlap.c: the code with such products before copies that may come behind them. */
const struct hn_device_node *hn_place_overlap(struct place *p, const struct hn_device_node *n);

/* place_bulk.c: a loop whose copies a warpgroup of its own begins (PL's kind 4); place_role.c: the
 * kernel's code, cut into roles. */
void hn_place_bulk(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out);
const struct hn_device_node *hn_place_roles(struct place *p, const struct hn_device_node *n);
/* place_role_when.c: where something is stored of a turn of the loop around copies, as conditions of
 * the block and of such loops tell; NULL: they do not. */
const struct hn_expr *hn_place_role_when(struct place *p, const struct hn_device_node *loop);

/* place_guard.c: the element of another stage at the same place, if that is the op; else NULL. */
const struct hn_expr *hn_place_copied(const struct hn_op *op);

/* The guards of the statement that must stand, where it stores `value` in dst at
 * index at: conditions e; the first n_box of them say what belongs to a box.  `fill`: where the
 * others fail, it stores 0. */
struct guards {
	uint32_t n, n_box;
	bool fill;
	const struct hn_expr *e[64];
	uint32_t from[64]; /* number of the node's guard */
};
/* The guards that the statement needs; value[0] may become another that needs none. */
void hn_place_guards(struct place *p, const struct hn_node *n, const struct hn_expr *at,
		     int32_t dst, const struct hn_expr **value, uint32_t n_value,
		     struct guards *g);
/* The guard without the number of the lane, where it is the same for all of them. */
const struct hn_expr *hn_place_for_lanes(struct place *p, const struct hn_expr *guard);

/* place_survey.c: the grid, and where the tensors of the nest lie. */
void hn_place_survey(struct place *p, const struct hn_node *nest);

/* place.c: a child of a draft; code between begin and end is a piece below q, in which virtual
 * threads have the values slot[loop]; a loop and what is in it. */
struct draft *hn_place_draft(struct place *p, struct draft *to);
int32_t *hn_place_begin_piece(struct place *p, const struct bound *q);
void hn_place_end_piece(struct place *p, const struct bound *q, const int32_t *slot,
			struct code *c, int32_t stage, struct draft *out);
void hn_place_loop(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out);
/* Turn v of a loop of so many, counted on over the loops around it that threads pass together. */
const struct hn_expr *hn_place_turn(struct place *p, const struct hn_expr *v, int64_t extent);
/* place_turn.c: a loop of `extent` turns, whose number is n's value; what is ahead in it, or not. */
struct draft *hn_place_turn_loop(struct place *p, const struct hn_node *n, int64_t extent,
				 struct draft *out);
void hn_place_in_turn(struct place *p, const struct hn_node *n, const struct bound *q, bool ahead,
		      struct draft *out);
/* A loop of which some is ahead, and what is in it. */
void hn_place_turns(struct place *p, const struct hn_node *n, const struct bound *q,
		    struct draft *out);
/* n below these bound loops, into a draft. */
void hn_place_node(struct place *p, const struct hn_node *n, const struct bound *q,
		   struct draft *out);
/* The first update of the stage below n; *combines is set when threads combine in a loop around
 * it. */
const struct hn_node *hn_place_update(const struct hn_dag *dag, const struct hn_node *n,
				      int32_t stage, bool *combines);

/* place_sum.c: the element of a thread's part in this iteration. */
const struct hn_expr *hn_place_part_at(struct place *p, const struct part *part);

/* n: the outermost reduction loop of a sum whose parts threads combine. */
void hn_place_sum(struct place *p, const struct hn_node *n, const struct hn_node *update,
		  const struct bound *q, struct draft *out);

/* place_sync.c: barriers between pieces where one touches what another has written. */
const struct hn_device_node *hn_place_sync(struct place *p, struct draft *root);

#endif
