/* measure/board/child.h -- one function in one disposable process.
 *
 * For a single-threaded parent without heavy memory (hone-board): a fork costs about a
 * tenth of a millisecond there.  The child has its own process group, dies with its
 * parent, has resource limits and a wall-clock deadline; when run returns, nothing of it
 * is left.
 */
#ifndef HN_MEASURE_BOARD_CHILD_H
#define HN_MEASURE_BOARD_CHILD_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/board/fault.h"

struct hn_child_limits {
	int64_t ns;    /* wall clock; a child that others keep from running gets up to 8 s more */
	int64_t bytes; /* of memory, over the parent's; 0 = only what all children have */
	/* The body opens a device's driver, which keeps files and maps much: it has no limit but the
	 * clock's, and what it prints is nobody's. */
	bool driver;
};

/* Run body(ctx) in a child within these limits; the child ends when body returns.  note
 * is in shared memory. HONE_E_NOMEM when no process could be had. */
int hn_child_run(void (*body)(void *ctx), void *ctx, const struct hn_child_limits *limits,
		 struct hn_fault_note *note, struct hn_fault_end *ret,
		 struct hn_err *err) HN_NODISCARD;

/* Make this process the one that orphans of its children fall to, so that they are
 * reaped. */
void hn_child_adopt_orphans(void);

#endif
