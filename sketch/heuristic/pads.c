/* sketch/heuristic/pads.c -- axes along which a reduction meets padding where it reads.
 *
 * The code generator leaves out the terms that read a pad where all points of a register tile read
 * one, or where they lie in one row of the tile (lower/cpu/emit_border.c). A tile of two rows of an
 * image has neither: at the image's top each of its loads is masked, and takes six times as long.
 */
#include "sketch/heuristic/heuristic_int.h"

struct find {
	uint32_t axis;
	bool found;
};

static void visit(const struct hn_expr *e, void *ctx)
{
	struct find *f = ctx;

	f->found = f->found || ((e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) &&
				hn_heuristic_uses(e->arg[0], f->axis));
}

bool hn_heuristic_meets_pads(const struct hn_heuristic_view *v, uint32_t axis)
{
	struct find f = { .axis = axis };

	hn_op_visit(v->op, visit, &f);
	return f.found;
}
