/* loopstate/dag/access.h -- who reads whom, and how: the questions sketch rules ask of a dag.
 *
 * Computed once per dag; immutable.  Source: TVM's AccessAnalyzer.
 */
#ifndef HN_LOOPSTATE_DAG_ACCESS_H
#define HN_LOOPSTATE_DAG_ACCESS_H

#include "loopstate/dag/dag.h"

/* One load: consumer op reads producer op at index[0..rank). Expressions are in the
 * consumer's axis space and belong to the dag. */
struct hn_read {
	int32_t producer;
	int32_t out;
	const struct hn_expr *load; /* the LOAD node; load->arg[d] are the indices */
};

struct hn_op_access {
	uint32_t n_read;
	const struct hn_read *read; /* every load, in body order */
	uint32_t n_producer;
	const int32_t *producer; /* distinct, in order of first appearance */
	uint32_t n_consumer;
	const int32_t *consumer;      /* distinct, ascending */
	bool simple_access;           /* indices are const or axis +- const */
	bool strictly_inlineable;     /* may be inlined on a CPU */
	bool needs_multi_level_tiling; /* data is reused */
	bool output;                  /* nobody reads it */
	uint8_t has_branch, has_expensive; /* if/select; exp */
};

struct hn_access {
	uint32_t n_op;
	const struct hn_op_access *op;
};

const struct hn_access *hn_access_analyze(const struct hn_dag *dag, struct hn_arena *a);

/* The same for a dag that has one op more than `before`, at position `at`: what is known
 * of ops that both share is taken over. */
const struct hn_access *hn_access_extend(const struct hn_dag *before,
					 const struct hn_access *known,
					 const struct hn_dag *dag, int32_t at,
					 struct hn_arena *a);

/* The reads and producers of one op, by itself; the rest of the result is 0. */
struct hn_op_access hn_access_reads(const struct hn_op *op, struct hn_arena *a);

/* Leading dimensions of `from`, op p of the dag, that its reader `to` walks in step; ones: those of one
 * element are, whatever index stands there. */
uint32_t hn_access_common_direct(const struct hn_op *from, int32_t p, const struct hn_op *to,
				 const struct hn_op_access *reader, bool ones);

/* Leading iterators of `op` and `target` (a direct or distant consumer) that run in step. */
uint32_t hn_access_common_outer(const struct hn_dag *dag, const struct hn_access *acc, int32_t op,
				int32_t target);

/* Whether op's value flows to target element by element through single readers. */
bool hn_access_elementwise_match(const struct hn_dag *dag, const struct hn_access *acc,
				 int32_t op, int32_t target);

/* index == axis variable +- const?  *ret_slot the axis, *ret_shift the constant. */
bool hn_access_const_shift(const struct hn_expr *index, int32_t *ret_slot, int64_t *ret_shift);

#endif
