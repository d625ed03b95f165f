/* target/fingerprint_int.h -- the row of numbers that is hashed, for the files that write it.
 *
 * The tree is written first to last as it runs.  Invariant: place[id] is the number, from 1, of a
 * loop among those that are written; of one that runs once it is that of the loop around it
 * (0: none), which is where its locals live.
 */
#ifndef HN_TARGET_FINGERPRINT_INT_H
#define HN_TARGET_FINGERPRINT_INT_H

#include "target/fingerprint.h"
#include "target/nest.h"

struct writer {
	const struct hn_looptree *t;
	const struct hn_target *target; /* NULL = nests as they are written */
	struct hn_arena *a;
	bool in_parallel;
	int64_t *place; /* [n_loop] */
	struct hn_nest_loops loops; /* given a target */
	int64_t n_place;
	bool in_op; /* expressions are in op space (loopstate/expr.h) */
	uint64_t hash;
	uint64_t made; /* of the order in which locals get their places */
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
void hn_print_stmt(struct writer *w, const struct hn_node *n);
void hn_print_node(struct writer *w, const struct hn_node *n, int64_t around);

/* fingerprint_nest.c: write the nest that begins at n by what the code generator chooses for it;
 * false, and nothing is written, when that is not known here. */
bool hn_print_nest(struct writer *w, const struct hn_node *n, int64_t around);

#endif
