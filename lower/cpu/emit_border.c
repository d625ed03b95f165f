/* lower/cpu/emit_border.c -- pads at the ends of a row that lies in one register tile.
 *
 * The place of the window alone decides which points of the tile have a term, and which read a
 * pad. With one copy of the code for each place this is known to the compiler. A term that is
 * nothing (emit_zero) then costs nothing: no multiplication and no mask. So the window's loop is
 * unrolled around the loops inside it. The row is not cut into border and interior (emit_nest),
 * because the borders would be tiles of one point.
 */
#include "loopstate/dag/size.h"
#include "lower/cpu/emit_nest.h"

#define MOST_UNROLLED 8	/* iterations of a loop that meets a border */
#define MOST_COPIES 256 /* terms of the tile in the code */

/* Whether the condition, of op space, is one on d's loop and the place of a point in the
 * tile alone. */
static bool within_tile(const struct emit *e, const struct emit_nest *n,
			const struct emit_dim *d, const struct hn_expr *x)
{
	bool points = false;

	for (uint32_t i = 0; i < n->n_dim; i++) {
		const struct emit_dim *p = &n->dim[i];

		if (p != d && p->extent > 1 && hn_emit_uses_loop(e, x, p->loop)) {
			if (p->reduce || p->block < p->extent) {
				return false;
			}
			points = true;
		}
	}
	for (uint32_t l = 0; l < e->t->n_loop; l++) { /* those around the nest */
		if (e->var[l].base && hn_emit_uses_loop(e, x, (int32_t)l)) {
			return false;
		}
	}
	return points && !hn_expr_uses_size(x) && hn_emit_uses_loop(e, x, d->loop);
}

/* Whether iterations of d's loop leave out other points than each other; marks the loops of
 * these points as needing no other care. */
static bool settle_points(struct emit *e, struct emit_nest *n, const struct emit_dim *d)
{
	bool meets = false;

	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
	for (uint32_t k = 0; k < n->n_zero; k++) {
		if (!within_tile(e, n, d, n->zero[k])) {
			continue;
		}
		meets = true;
		for (uint32_t i = 0; i < n->n_dim; i++) {
			struct emit_dim *p = &n->dim[i];

			p->settled = p->settled ||
				     (!p->reduce && p->extent > 1 &&
				      hn_emit_uses_loop(e, n->zero[k], p->loop));
		}
	}
	e->axis = NULL;
	return meets;
}

void hn_emit_unroll_borders(struct emit *e, struct emit_nest *n, int64_t points)
{
	int64_t copies = points;
	bool loops = false;

	for (uint32_t i = n->tile; i < n->n_dim; i++) {
		copies *= n->dim[i].reduce ? n->dim[i].block : 1;
	}
	for (uint32_t i = n->n_dim; i-- > n->tile;) {
		struct emit_dim *d = &n->dim[i];
		bool runs = d->reduce && d->extent > d->block && d != n->across;

		/* The innermost loop stays one: its iterations read each other's values,
		 * which would all be kept in registers. */
		if (runs && loops && d->extent <= MOST_UNROLLED &&
		    copies / d->block * d->extent <= MOST_COPIES &&
		    settle_points(e, n, d)) {
			copies = copies / d->block * d->extent;
			d->block = d->extent;
		} else if (d->reduce && d->extent > 1 && d->block == d->extent) {
			settle_points(e, n, d); /* it is unrolled already */
		}
		loops = loops || runs;
	}
}
