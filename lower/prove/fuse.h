/* lower/prove/fuse.h -- which ops share their outermost loops, by isl's scheduler.
 *
 * The scheduler (Verdoolaege's, after Pluto: Bondhugula et al., PLDI 2008) looks for loops that
 * no dependence forbids and that run in parallel, for as many statements at a time as it can.  It
 * may take minutes, and neither its operations nor a dag's size bound them (16 thousand operations
 * of four ops took 200 ms, of thirteen a second), so schedules come from a rule that looks at each
 * load once (sketch/together.h), and this is what the rule is held against.  Its options leave it
 * little to try, what is element-wise is inlined before, a watchdog and a quota bound it, and it is
 * called in a process that may die.
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
