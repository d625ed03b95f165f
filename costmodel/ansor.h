/* costmodel/ansor.h -- Ansor's 164 numbers of each buffer that a program stores to.
 *
 * They are what Ansor's cost model sees, read from hone's loop tree instead of lowered code.
 * hone's own features (costmodel/features.h) should be better, and are compared with these.
 * costmodel/ansor.def and docs/features-ansor.md say what each column means. Source: Ansor,
 * section 5.2; formulas: TVM v0.18.
 */
#ifndef HN_COSTMODEL_ANSOR_H
#define HN_COSTMODEL_ANSOR_H

#include "base/buf.h"
#include "loopstate/nest/looptree.h"
#include "target/target.h"

#define HN_ANSOR_MAX_LOOPS 128

enum hn_ansor_column {
#define ANSOR(group, id, name, unit, source, text) HN_ANSOR_##id,
#include "costmodel/ansor.def"
#undef ANSOR
	HN_N_ANSOR
};

/* Ansor divides the lines of an access by the extent of the innermost loop for each loop that
 * leaves it in place, instead of by that loop's; and it tells from the region of the stored buffer
 * which dimension of another is touched in full. */
enum hn_ansor_defects { HN_ANSOR_CORRECTED, HN_ANSOR_DEFECTS };

struct hn_ansor {
	uint32_t n;	     /* stored buffers, in the order of their first stores; >= 1 */
	const int32_t *op;   /* [n] whose: index in tree->dag */
	const int32_t *out;  /* [n] which of its outputs */
	const float *x;	     /* [n * HN_N_ANSOR], row by row */
};

/* Read the tree.  The rows and scratch lie in `a`.  What runs before the first call
 * (tree->prepared) has no row.  False when the program is hopeless: deeper than any real one, or
 * without a store.  Pure. */
bool hn_ansor_of(const struct hn_looptree *tree, const struct hn_target *target,
		 enum hn_ansor_defects defects, struct hn_arena *a, struct hn_ansor *ret);

/* Ansor's name of the column: "B0.unique_bytes". */
const char *hn_ansor_name(enum hn_ansor_column i);

/* A line a column, a number a buffer; the buffers' names above. */
void hn_ansor_print(const struct hn_ansor *f, const struct hn_dag *dag, struct hn_buf *buf);

/* docs/features-ansor.md. */
void hn_ansor_doc(struct hn_buf *buf);

#endif
