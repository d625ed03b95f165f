/* lower/interp/interp.h -- single elements of a dag as it is written, by the reference interpreter.
 *
 * hn_interpret (lower.h) computes all there is.  Where that takes too long, here an element is
 * computed with what it needs of others, each once; what was computed is kept.
 */
#ifndef HN_LOWER_INTERP_INTERP_H
#define HN_LOWER_INTERP_INTERP_H

#include "loopstate/dag/dag.h"

enum hn_interp_floats {
	/* float32 is double between loads and stores, as in hn_interpret; but not where an integer
	 * is decided (loopstate/dag/decided.h), and narrower types are rounded always */
	HN_INTERP_WIDE,
	HN_INTERP_ROUNDED, /* each operation is rounded to its type: the program's own numbers */
};

enum hn_interp_result {
	HN_INTERP_OK,
	HN_INTERP_UNDEFINED, /* on the way was what C leaves undefined: no kernel need have the value */
	HN_INTERP_LONG,	     /* it takes more cells than it may, or too long a chain of ops */
};

struct hn_interp;

/* arg[] are the dag's arguments, the caller's for as long as *ret is; outputs are all zeros, and
 * hold what was computed.  HONE_E_NOMEM, HONE_E_UNSUPPORTED for sizes that are parameters. */
int hn_interp_open(const struct hn_dag *dag, void *const *arg, enum hn_interp_floats floats,
		   struct hn_interp **ret, struct hn_err *err) HN_NODISCARD;

/* Compute the element of flat index `at` of op's outputs, with at most *fuel nodes of
 * expressions, from which those that it took are taken. */
enum hn_interp_result hn_interp_element(struct hn_interp *in, uint32_t op, int64_t at, int64_t *fuel);

/* Nodes of expressions that all elements of the dag take together, as double: they may be many. */
double hn_interp_cells(const struct hn_interp *in);

void hn_interp_close(struct hn_interp *in); /* NULL is fine */

#endif
