/* lower/cpu/emit_access.c -- how each access of a nest moves along each loop: what the choice of
 * lanes and of the register tile is made from.
 *
 * Strides are read off the linear forms of offsets at a loop's first iterations, dry: no
 * code is made.
 */
#include "lower/cpu/emit_nest.h"

/* Offset of access a (0 = output, else load a - 1). */
static void access_offset(struct emit *e, struct emit_nest *n, uint32_t a,
			  struct hn_linear *ret)
{
	if (a == 0) {
		e->axis = NULL;
		hn_emit_offset(e, n->stmt->stage, n->stmt->axis, 0, ret);
		return;
	}
	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
	hn_emit_offset(e, n->load[a - 1]->ref, n->load[a - 1]->arg, 0, ret);
	e->axis = NULL;
}

struct along {
	struct emit *e;
	struct emit_nest *n;
	struct emit_dim *d;
	uint32_t a;
};

static void offset_at(void *ctx, int64_t i, struct hn_linear *ret)
{
	struct along *x = ctx;

	x->e->var[x->d->loop] = (struct emit_var){ .add = i };
	x->e->epoch++;
	access_offset(x->e, x->n, x->a, ret);
}

/* How access a moves along d, judged by its first iterations. */
static int64_t stride_along(struct emit *e, struct emit_nest *n, struct emit_dim *d,
			    uint32_t a)
{
	struct emit_var saved = e->var[d->loop];
	struct along x = { e, n, d, a };
	int64_t stride = hn_linear_step(d->extent, offset_at, &x);

	e->var[d->loop] = saved;
	return stride;
}

void hn_emit_find_strides(struct emit *e, struct emit_nest *n)
{
	e->dry = true;
	e->lane = 0;
	e->n_lane = e->n_active = 1;
	for (uint32_t i = 0; i < n->n_dim; i++) {
		struct emit_dim *d = &n->dim[i];

		e->var[d->loop] = (struct emit_var){ 0 };
		if (d->extent > 1) {
			uintptr_t word = ((uintptr_t)d->loop + 1) * 16 + 4;

			e->var[d->loop] = (struct emit_var){ .base = (LLVMValueRef)word,
							     .mul = 1,
							     .hi = d->extent - 1 };
		}
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		struct emit_dim *d = &n->dim[i];

		d->stride = HN_NEW_ARRAY(e->a, int64_t, n->n_load + 1);
		for (uint32_t a = 0; d->extent > 1 && a <= n->n_load; a++) {
			d->stride[a] = stride_along(e, n, d, a);
		}
	}
	for (uint32_t i = 0; i < n->n_dim; i++) {
		e->var[n->dim[i].loop] = (struct emit_var){ 0 };
	}
	e->dry = false;
	e->n_dry = 0;
	e->epoch++;
}
