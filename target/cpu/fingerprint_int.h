/* target/cpu/fingerprint_int.h -- the row of numbers that is hashed, for the files that write it.
 *
 * The tree is written first to last as it runs.  Invariant: place[id] is the number, from 1, of a
 * loop among those that are written; of one that runs once it is that of the loop around it
 * (0: none), which is where its locals live.
 */
#ifndef HN_TARGET_CPU_FINGERPRINT_INT_H
#define HN_TARGET_CPU_FINGERPRINT_INT_H

#include "target/cpu/fingerprint.h"
#include "target/cpu/nest.h"

struct writer {
	const struct hn_looptree *t;
	const struct hn_target *target; /* NULL = nests as they are written */
	struct hn_arena *a;
	bool in_parallel;
	int64_t *place; /* [n_loop] */
	struct hn_nest_loops loops; /* given a target */
	int64_t n_place;
	bool in_op; /* expressions are in op space (loopstate/expr/expr.h) */
	uint64_t hash;
	uint64_t made; /* of the order in which locals get their places */
	bool by_axes;  /* some statement is written by its axes, not by where its accesses lie */
	bool kinds; /* of pipelines differ: a CPU runs all alike */
};

enum rank { AROUND, /* made around the tile, */
	    INSIDE, /* or of the tile's reduction; */
	    LANES,  /* held whole, as lanes */
	    POINTS  /* or as other points */
};

/* What is made of a loop, or of several whose iterations go on in each other. */
struct made {
	bool gone; /* into another one */
	enum rank rank;
	int64_t extent, block;
	bool reduce, chain, fast, turn;
	bool bound;   /* conditions depend on it, */
	bool several; /* and on more than one loop that it is made of */
	uint32_t outer; /* position of the loop that runs, if one does, */
	uint32_t inner; /* and of the one whose iterations are this one's */
	uint32_t fastest, slowest; /* of lanes: which of the tile's chain it is made of */
	int64_t place;
};

/* An access's offset, an axis, or the difference of a guard's sides. */
struct row {
	int64_t kind;
	bool compares; /* conditions depend on it */
	struct hn_linear x;
};

struct nest {
	struct hn_nest n;
	struct hn_tile t;
	uint32_t n_axis;
	int32_t *number; /* [n_axis] from 1, of those that are values beside indices; 0 = the others */
	bool *compared;	 /* [n_axis] conditions depend on it */
	bool choices;	 /* there are conditions */
	uint32_t n_row;
	struct row *row; /* [n_row] all that the code asks of where the loops stand */
	int64_t *coef;	 /* [n_row * n_loop] */
	bool ordered;	       /* loops are written as they stand */
	struct made *made;     /* [n_loop] */
	int64_t around;
};

/* The mixing step of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t hn_mix(uint64_t hash, int64_t v)
{
	uint64_t h = (hash + 0x9e3779b97f4a7c15) ^ (uint64_t)v;

	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
	return h ^ (h >> 31);
}

/* fingerprint.c: a number more; expressions; a statement with its guards; all below a node,
 * `around` being the number of the loop around it. */
void hn_print_number(struct writer *w, int64_t v);
void hn_print_expr(struct writer *w, const struct hn_expr *e);
void hn_print_leaf(struct writer *w, const struct hn_expr *e, int64_t ref, uint32_t n_arg);
void hn_print_stmt(struct writer *w, const struct hn_node *n);
void hn_print_node(struct writer *w, const struct hn_node *n, int64_t around);

/* fingerprint_nest.c: write the nest that begins at n by what the code generator chooses for it;
 * false, and nothing is written, when that is not known here. */
bool hn_print_nest(struct writer *w, const struct hn_node *n, int64_t around);

/* fingerprint_rows.c: find out about the statement's axes; about its rows, false when one is no
 * sum; write them, and what is computed of them. */
void hn_print_find_axes(struct writer *w, struct nest *x);
bool hn_print_find_rows(struct writer *w, struct nest *x);
void hn_print_body(struct writer *w, const struct nest *x);

/* fingerprint_join.c: make one of what goes on in each other. */
void hn_print_join(struct nest *x);

#endif
