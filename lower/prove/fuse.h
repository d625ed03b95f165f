/* lower/prove/fuse.h -- which ops share their outermost loops, by isl's scheduler.
 *
 * The scheduler (Verdoolaege's, after Pluto: Bondhugula et al., PLDI 2008) looks for loops that
 * no dependence forbids and that run in parallel, for as many statements as possible. It may
 * take minutes. Neither a number of operations nor a dag's size bounds it: 16 thousand
 * operations took 200 ms for four ops, and a second for thirteen. So schedules come from a rule
 * that looks at each load once (sketch/together.h), and tests compare the rule with this file's
 * answer.
 *
 * Options leave the scheduler little to try, element-wise ops are inlined before, and a watchdog
 * and a quota bound it. The process that calls it may die.
 */
#ifndef HN_LOWER_PROVE_FUSE_H
#define HN_LOWER_PROVE_FUSE_H

#include <isl/ctx.h>

#include "loopstate/dag/dag.h"

/* One attempt after the other, each in an isl context of its own. */
enum hn_fuse_how {
	HN_FUSE_MAX,  /* as many ops together as possible */
	HN_FUSE_PARALLEL, /* as long as no loop is less parallel for it */
	HN_FUSE_MIN,  /* ops apart; which of their loops are parallel */
	HN_FUSE_NONE, /* isl gave up each time: every op as it is written */
	HN_N_FUSE
};
const char *hn_fuse_how_name(enum hn_fuse_how how);

struct hn_fuse_limits {
	int64_t ms;		  /* wall clock of an attempt; 0 = none */
	unsigned long operations; /* of isl in an attempt; 0 = any number. Tests inject errors so */
};

struct hn_fused_op {
	int32_t host; /* the group's last op; itself when it is alone; -1: no op of its own */
	uint32_t n;   /* loops that the group has in common, parallel and outermost first: */
	uint32_t axis[HN_DAG_MAX_ITERS]; /* these axes of the op */
};

struct hn_fusion {
	enum hn_fuse_how how;
	struct hn_fused_op *op; /* [dag->n_op] */
};

/* Groups of the dag's ops, those skip[] left out.  Never fails: what isl does not say in time
 * is NONE. */
void hn_fuse_groups(const struct hn_dag *dag, const bool *skip,
		    const struct hn_fuse_limits *limits, struct hn_arena *a,
		    struct hn_fusion *ret);

#endif
