/* measure/child.h -- one function in one disposable process.
 *
 * For a single-threaded parent without heavy memory (hone-board): a fork costs about a
 * tenth of a millisecond there.  The child has its own process group, dies with its
 * parent, has resource limits and a wall-clock deadline; when run returns, nothing of it
 * is left.
 */
#ifndef HN_MEASURE_CHILD_H
#define HN_MEASURE_CHILD_H

#include "base/err.h"
#include "measure/fault.h"

/* Run body(ctx) in a child for at most limit_ns; the child ends when body returns.  note
 * is in shared memory. HONE_E_NOMEM when no process could be had. */
int hn_child_run(void (*body)(void *ctx), void *ctx, int64_t limit_ns,
		 struct hn_fault_note *note, struct hn_fault_end *ret,
		 struct hn_err *err) HN_NODISCARD;

/* Make this process the one that orphans of its children fall to, so that they are
 * reaped. */
void hn_child_adopt_orphans(void);

#endif
