/* lower/prove/poly_show.h -- what `hone poly` prints of a loop tree. */
#ifndef HN_LOWER_PROVE_POLY_SHOW_H
#define HN_LOWER_PROVE_POLY_SHOW_H

#include "base/err.h"
#include "loopstate/nest/looptree.h"

/* One part, or all of them under their names:
 *   statements    domains, order, accesses (hn_poly_print), one isl object a line
 *   dependences   "CLASS MAP" a line (deps.h), over the tree's instances
 *   schedule      the schedule tree (poly_tree.h), isl's YAML
 *   ast           isl's AST of it as C, for reading
 *   legality      "legal", or T1's sentence and the dependences that are broken
 * Texts of isl read back as equal objects; the AST has no reader, it follows from the
 * schedule.  Each part has an isl of its own and limit_ms of wall time; one that ran out says so
 * in its place.  HONE_E_INVALID when `part` is none of these. */
int hn_poly_show(const struct hn_looptree *t, const char *part, int64_t limit_ms,
		 struct hn_buf *ret, struct hn_err *err) HN_NODISCARD;

#endif
