/* lower/prove/poly_ast.h -- isl's AST of a schedule tree of poly_tree.h.
 *
 * Loops, conditions, marks, and at the leaves a call S<id>(axes): the statement and the point
 * of its op that it computes (spatial axes, for updates reduction axes behind them), indices
 * pulled back through the schedule by isl.  This is the oracle of the direct path from loop
 * tree to machine code: tests walk both and compare instance by instance.
 */
#ifndef HN_LOWER_PROVE_POLY_AST_H
#define HN_LOWER_PROVE_POLY_AST_H

#include <isl/ast.h>
#include <isl/schedule.h>

#include "lower/prove/poly.h"

/* The caller's; NULL when isl failed. Does not consume the tree. */
isl_ast_node *hn_poly_ast(const struct hn_poly *p, isl_schedule *tree);

#endif
