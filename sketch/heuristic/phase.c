/* sketch/heuristic/phase.c -- axes along which a condition holds for one remainder of a division
 * only.
 *
 * A transposed convolution reads `if((h + r) % 2 == 0 && ..., x[(h + r) / 2], 0)`.  Split
 * by the divisor, remainders outermost among the spatial loops and among the reductions,
 * the condition is the same throughout the nests inside: three quarters of them are nothing
 * and left out (lower/cpu/emit_zero.c), the rest are ordinary convolutions.  The sub-pixel form
 * of Shi et al., 2016.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define MOST_PHASES 8 /* more remainders than that are not worth nests of their own */

struct find {
	struct hn_heuristic_view *v;
	bool any;
};

/* x % m == constant: the axes whose steps change the remainder, spatial and reduced. */
static void remainder_of(const struct hn_expr *c, struct find *f)
{
	const struct hn_expr *x = c->arg[0];
	uint32_t spatial = 0, reduced = 0;

	if (c->op != HN_EXPR_EQ || c->arg[1]->op != HN_EXPR_INT ||
	    x->op != HN_EXPR_FLOORMOD || x->arg[1]->op != HN_EXPR_INT) {
		return;
	}
	f->any = true;
	int64_t m = x->arg[1]->u.i, slope;

	if (!f->v || m < 2 || m > MOST_PHASES) {
		return;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t a = 0; a < f->v->n_axis; a++) {
			uint32_t *n = a < f->v->n_spatial ? &spatial : &reduced;

			if (f->v->extent[a] < 2 || !hn_heuristic_uses(x->arg[0], a) ||
			    !hn_heuristic_slope(x->arg[0], a, &slope) || slope % m == 0) {
				continue;
			}
			if (pass == 0) {
				*n += 1;
			} else if (spatial > 0 && reduced > 0) {
				f->v->phase[a] = m;
			}
		}
	}
}

static void conjuncts(const struct hn_expr *c, struct find *f)
{
	if (c->op == HN_EXPR_AND) {
		conjuncts(c->arg[0], f);
		conjuncts(c->arg[1], f);
	} else if (c->n_arg == 2) {
		remainder_of(c, f);
	}
}

static void visit(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) {
		conjuncts(e->arg[0], ctx);
	}
}

void hn_heuristic_find_phases(struct hn_heuristic_view *v)
{
	struct find f = { .v = v };

	for (uint32_t a = 0; a < v->n_axis; a++) {
		v->phase[a] = 1;
	}
	if (v->op->reduce && v->op->reduce->n == 1) {
		hn_expr_visit(v->op->reduce->source[0], visit, &f);
	}
}

void hn_heuristic_nest_phases(struct hn_heuristic_nest *n,
			      const struct hn_heuristic_view *v)
{
	for (uint32_t a = 0; a < v->n_axis; a++) {
		n->phase[a] = v->phase[a];
	}
}

bool hn_heuristic_has_remainders(const struct hn_op *op)
{
	struct find f = { .v = NULL };

	for (uint32_t k = 0; op->body && k < op->n_out; k++) {
		hn_expr_visit(op->body[k], visit, &f);
	}
	return f.any;
}

bool hn_heuristic_one_phase(const struct hn_heuristic_view *v,
			    struct hn_heuristic_view *ret)
{
	bool any = false;

	*ret = *v;
	ret->spatial = ret->reduce = 1;
	for (uint32_t a = 0; a < v->n_axis; a++) {
		int64_t *points = a < v->n_spatial ? &ret->spatial : &ret->reduce;

		any = any || v->phase[a] > 1;
		ret->extent[a] = hn_ceildiv(v->extent[a], v->phase[a]);
		*points = hn_mul_sat(*points, ret->extent[a]);
	}
	return any;
}
