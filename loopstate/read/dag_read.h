/* loopstate/read/dag_read.h -- a dag from text, and text from a dag, in both forms: compute-dag/1
 * (JSON) and the text notation (docs/dag.md).
 */
#ifndef HN_LOOPSTATE_READ_DAG_READ_H
#define HN_LOOPSTATE_READ_DAG_READ_H

#include "loopstate/dag/dag.h"

struct hn_json;

/* Parse compute-dag/1.  `what` names the source in messages.  Everything is checked, so that
 * a dag that exists is valid: unknown node or op, wrong number of indices, duplicate id or
 * axis name, an op reading a later one (a cycle cannot be written otherwise), extent < 1,
 * products past 2^62, an index that can leave its tensor (guards of `if` considered), types
 * that do not fit, inputs_outputs that miss an output or name an unknown op, nesting too deep.
 * HONE_E_INVALID with "what: ops[3] (conv2d).body[0]: ...". Copies all it keeps into `a`.
 *
 *   max_bytes  refuse a dag whose arguments and intermediates together need more, or any one
 *              of its tensors, with HONE_E_QUOTA; 0 = no limit
 *
 * An index that cannot be proved inside its tensor because it depends on data is
 * HONE_E_UNSUPPORTED, as are other constructs of the format that hone does not take.
 */
int hn_dag_from_json(const char *what, const struct hn_json *json, uint64_t max_bytes,
		     struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
	HN_NODISCARD;

/* Parse text in either form, told apart by the first character that is not blank ('{' = JSON).
 * A dag whose sizes are parameters is HONE_E_UNSUPPORTED: what tunes, measures and compares
 * needs numbers. */
int hn_dag_parse(const char *what, const char *text, size_t n, uint64_t max_bytes,
		 struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err) HN_NODISCARD;

/* The same, for those who take such dags (loopstate/dag/size.h). */
int hn_dag_parse_sized(const char *what, const char *text, size_t n, uint64_t max_bytes,
		       struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
	HN_NODISCARD;

/* The text notation alone; see docs/dag.md for its grammar.  Example:
 *   matmul(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }     */
int hn_dag_from_text(const char *what, const char *text, size_t n, uint64_t max_bytes,
		     struct hn_arena *a, const struct hn_dag **ret, struct hn_err *err)
	HN_NODISCARD;

/* Write compute-dag/1: one object, compact, stable. Reading it back gives an equal dag. */
void hn_dag_write_json(const struct hn_dag *dag, struct hn_buf *buf);

/* Write the text notation: a line for each op.  Reading it back gives a dag of the same key; names
 * that the notation does not take are changed, tags and hints without meaning for hone left out.
 * `name` is the computation's. */
void hn_dag_write_text(const struct hn_dag *dag, const char *name, struct hn_buf *buf);

#endif
