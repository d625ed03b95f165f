/* loopstate/dag/mark.h -- attributes that make a dag a task of its own.
 *
 * A mark is an attribute whose presence is all that counts; on any op it holds for the whole
 * dag.  It belongs to the key (attrs.def), so that records and bests of the marked task and of
 * the plain one never mix, and it goes wherever the dag goes: into the store, to
 * builders, into what is exported.
 */
#ifndef HN_LOOPSTATE_DAG_MARK_H
#define HN_LOOPSTATE_DAG_MARK_H

#include "loopstate/dag/dag.h"

#define HN_MARK_BITWISE "bitwise" /* the naive program's numbers to the bit: liberty.h */
/* Of measuring alone: each call finds its data in memory, in no cache.  The same programs are
 * legal and are lowered to the same code. */
#define HN_MARK_COLD "cold"

/* What its times are to be taken with, as records say it: "cold" or "warm" caches. */
const char *hn_dag_cache(const struct hn_dag *dag);

bool hn_dag_marked(const struct hn_dag *dag, const char *mark);

/* The dag with the mark on each of its computations; dag itself when it has one. */
const struct hn_dag *hn_dag_mark(const struct hn_dag *dag, const char *mark, struct hn_arena *a);

/* Of the op's attributes the marks alone: what is derived from it is of the same task. */
void hn_op_keep_marks(struct hn_op *op, struct hn_arena *a);

/* The dag without the mark on any op; dag itself when it has none. */
const struct hn_dag *hn_dag_unmark(const struct hn_dag *dag, const char *mark, struct hn_arena *a);

#endif
