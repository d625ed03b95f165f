/* loopstate/dag/liberty.h -- what a kernel may do with floating-point numbers, and what its task
 * forbids (liberties.def).
 *
 * A mark (mark.h) no_NAME on the dag forbids one liberty; HN_MARK_BITWISE forbids all: then the
 * numbers are the naive program's to the last bit.  Marks belong to the key, so that a task that
 * forbids more never gets the kernel of one that forbids less.
 */
#ifndef HN_LOOPSTATE_DAG_LIBERTY_H
#define HN_LOOPSTATE_DAG_LIBERTY_H

#include "loopstate/dag/dag.h"

enum hn_liberty {
#define LIBERTY(name, float32, float64, text) HN_LIBERTY_##name,
#include "loopstate/dag/liberties.def"
#undef LIBERTY
	HN_N_LIBERTY
};

#define HN_LIBERTIES_ALL ((1u << HN_N_LIBERTY) - 1)

const char *hn_liberty_name(enum hn_liberty l);

/* "contraction,zeros" as bits 1 << l; HONE_E_INVALID names the word, and the one that may have
 * been meant. */
int hn_liberties_parse(const char *text, uint32_t *ret, struct hn_err *err) HN_NODISCARD;

/* Bits of those that the dag's task forbids. */
uint32_t hn_dag_forbidden(const struct hn_dag *dag);
bool hn_dag_forbids(const struct hn_dag *dag, enum hn_liberty l);
bool hn_dag_bitwise(const struct hn_dag *dag); /* all of them */

/* The dag with these forbidden too; dag itself when they are.  All of them are one mark,
 * HN_MARK_BITWISE, so that a task has one key. */
const struct hn_dag *hn_dag_forbid(const struct hn_dag *dag, uint32_t liberties,
				   struct hn_arena *a);

/* Whether the op's reduction must take its points in the order of its axes: its combiner is not
 * known to be associative, or it is of floating-point numbers and the task forbids another
 * order. */
bool hn_keeps_order(const struct hn_dag *dag, const struct hn_op *op);

/* NULL when the op's reduction may be cut into parts (RF); else why not, for a person: its
 * combiner (law.h), or a liberty that the task forbids. */
const char *hn_against_parts(const struct hn_dag *dag, const struct hn_op *op);

#endif
