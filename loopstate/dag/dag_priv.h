/* loopstate/dag/dag_priv.h -- what the dag_*.c files share; nobody else includes it. */
#ifndef HN_LOOPSTATE_DAG_DAG_PRIV_H
#define HN_LOOPSTATE_DAG_DAG_PRIV_H

#include "loopstate/dag/dag.h"

#define HN_DAG_MAX_NAME 128 /* bytes of an id, a name, an axis */

/* Why node `e` does not fit its arguments, its op or the ops before it; NULL when it
 * does. The text lives in `buf`.  Arguments are taken to be right: ask bottom-up.
 *
 *   op      whose body holds e
 *   before  ops that may be read: before[0..n_before)
 *   combiner  e is part of a combiner's result: only its own arguments may be named
 */
struct hn_node_place {
	const struct hn_op *op;
	const struct hn_op *const *before;
	uint32_t n_before;
	bool combiner;
};

const char *hn_dag_node_fault(const struct hn_node_place *at, const struct hn_expr *e,
			      char *buf, size_t buf_bytes);

/* The combiner `result` is, in either operand order. */
enum hn_combiner hn_dag_combiner_of(const struct hn_expr *const *result, uint32_t n);

/* Everything hn_dag_check asks of op i, given that ops before it are right.  `what` goes
 * in front of messages, then "ops[i] (id)". */
int hn_dag_check_op(const char *what, const struct hn_op *const *ops, uint32_t i,
		    uint64_t max_bytes, struct hn_err *err) HN_NODISCARD;

/* Names and ranges of size parameters. */
int hn_dag_check_sizes(const char *what, const struct hn_sizes *sizes, struct hn_err *err)
	HN_NODISCARD;

/* That every item of a known attribute stands for something (attr.h). */
int hn_dag_check_attrs(const char *what, const struct hn_dag *dag, struct hn_err *err)
	HN_NODISCARD;

/* The rest of hn_dag_check, given that every op is right: arguments and total size. */
int hn_dag_check_whole(const char *what, const struct hn_dag *dag, uint64_t max_bytes,
		       struct hn_err *err) HN_NODISCARD;

/* Prove every load of op i inside its tensor, and every integer divisor without loads
 * nonzero (dag_range.c). */
int hn_dag_check_range(const char *what, const struct hn_op *const *ops, uint32_t i,
		       struct hn_err *err) HN_NODISCARD;

/* The op whose output `id` names: "B", or "B.v1" for one with several outputs.  -1: none;
 * -2: the op has several outputs and none is named.  Writes *ret_out only on success. */
int32_t hn_dag_find(const struct hn_op *const *ops, uint32_t n, const char *id,
		    int32_t *ret_out);

/* Behind a word that should have been one of the n `known`: what was meant, of these and of n_more
 * behind them, and "; known `noun` are ..." */
const char *hn_dag_known(const char *word, const char *noun, const char *const *known, size_t n,
			 size_t n_more, struct hn_arena *a);
const char *hn_dag_known_types(const char *word, struct hn_arena *a);
const char *hn_dag_known_functions(const char *word, struct hn_arena *a);

/* "4.0 TiB" for messages. */
const char *hn_dag_size_text(uint64_t bytes, char buf[32]);

/* dag_flops.c: operations of all elements of a computed op. */
double hn_op_flops(const struct hn_op *op);

#endif
