/* lower/cpu/emit_group.c -- a reduction loop done by one instruction for all its iterations
 * (loopstate/state/intrin.h).
 *
 * The loop is a dim of the tile like others, and is left out where all its terms are there: the
 * factors of a group are then loaded as one integer for each lane, or as one for all.  Where a
 * guard leaves out some of its terms, where the vector has no such instruction, and for targets
 * that have none, it stays a loop.  So nothing that computes addresses or guards knows of it.
 */
#include "lower/cpu/emit_nest.h"

#include <stdio.h>
#include <string.h>

#include "loopstate/state/intrin.h"

static bool has_width(const struct emit *e, const struct emit_nest *n)
{
	return (n->w == 4 || n->w == 8 || n->w == 16) &&
	       4 * n->w <= hn_target_has_intrin(&e->em->target, n->intrin);
}

/* Whether e, of op space, depends on the loop. */
static bool depends(const struct emit_nest *n, const struct hn_expr *e, int32_t loop,
		    bool op_space)
{
	if (e->op == HN_EXPR_VAR && op_space) {
		uint32_t n_axis = n->op->n_spatial + n->op->n_reduce;

		return (uint32_t)e->ref < n_axis &&
		       depends(n, n->stmt->axis[e->ref], loop, /* op_space= */ false);
	}
	if (e->op == HN_EXPR_VAR) {
		return e->ref == loop;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (depends(n, e->arg[i], loop, op_space)) {
			return true;
		}
	}
	return false;
}

/* The load of a factor; NULL where a condition on the way is not the same for the group. */
static const struct hn_expr *load_of(const struct emit_nest *n,
				     const struct hn_expr *factor, int32_t loop)
{
	while (factor->op == HN_EXPR_IF) {
		if (depends(n, factor->arg[0], loop, /* op_space= */ true)) {
			return NULL;
		}
		factor = factor->arg[1];
	}
	return factor;
}

/* Whether the terms of the load lie side by side; what moves it in whole groups moves it by as
 * many, when `groups` counts them. */
static bool in_groups(const struct emit_nest *n, const struct hn_expr *load,
		      const struct emit_dim *group, bool groups)
{
	for (uint32_t a = 0; a < n->n_load; a++) {
		if (n->load[a] != load) {
			continue;
		}
		for (uint32_t i = 0; groups && i < n->n_dim; i++) {
			int64_t *s = &n->dim[i].stride[a + 1];

			if (&n->dim[i] != group && *s != HN_TILE_NONLINEAR &&
			    *s % group->extent == 0) {
				*s /= group->extent;
			}
		}
		return group->stride[a + 1] == 1;
	}
	return false;
}

void hn_emit_group_find(struct emit *e, struct emit_nest *n)
{
	struct emit_dim *group = NULL;

	for (uint32_t i = 0; i < n->n_dim; i++) {
		const struct hn_node *x = n->dim[i].node;

		group = x->intrin && !hn_intrin_is_tile(x->intrin) ? &n->dim[i] : group;
	}
	if (!group || !hn_emit_is_update(n) ||
	    !hn_target_has_intrin(&e->em->target, group->node->intrin) ||
	    !hn_intrin_factors(group->node->intrin, n->op, n->factor)) {
		return;
	}
	for (int k = 0; k < 2; k++) {
		const struct hn_expr *load = load_of(n, n->factor[k], group->loop);

		if (!load || !in_groups(n, load, group, false)) {
			return;
		}
	}
	for (int k = 0; k < 2; k++) {
		in_groups(n, load_of(n, n->factor[k], group->loop), group, true);
	}
	n->group = group;
	n->intrin = group->node->intrin;
}

bool hn_emit_group_here(struct emit *e, const struct emit_tile *t, uint32_t i)
{
	struct emit_nest *n = t->n;
	struct emit_dim *d = &n->dim[i];
	int64_t full = d->extent / d->block, dead;

	if (d != n->group || n->across || !has_width(e, n)) {
		return false;
	}
	if (!t->sure) {
		hn_emit_find_trips(e, n, i, full, &full, &dead);
	}
	return full * d->block == d->extent;
}

/* The factor's group, where its conditions hold; else zeros. */
static struct emit_val group_of(struct emit *e, const struct hn_expr *factor,
				int64_t terms)
{
	if (factor->op != HN_EXPR_IF) {
		return hn_emit_load_group(e, factor, terms);
	}
	struct emit_val c = hn_emit_value(e, factor->arg[0]), outer = e->mask;
	bool spare = e->spare;

	e->spare = false;
	e->mask = hn_emit_and(e, outer, c);
	struct emit_val v = group_of(e, factor->arg[1], terms);

	e->mask = outer;
	e->spare = spare;
	LLVMTypeRef type = LLVMTypeOf(v.v);

	type = v.vec ? LLVMGetElementType(type) : type;
	return hn_emit_select(e, c, v, (struct emit_val){ LLVMConstNull(type), false });
}

/* LLVM's function for vectors of as many lanes as `sum` has. */
static LLVMValueRef declare(struct emit *e, const struct hn_intrin *in, LLVMTypeRef sum)
{
	LLVMTypeRef type[2] = { sum };
	bool by_width = in->of == HN_INTRIN_OF_WIDTH;
	char name[64];

	if (by_width) {
		snprintf(name, sizeof name, "%s.%u", in->llvm, 32 * e->n_lane);
	} else {
		snprintf(name, sizeof name, "%s", in->llvm);
		type[1] = LLVMVectorType(in->left == HN_BF16
						 ? LLVMBFloatTypeInContext(e->ctx)
						 : hn_emit_memory_type(e, in->left),
					 e->n_lane * (uint32_t)hn_intrin_terms(in));
	}
	return LLVMGetIntrinsicDeclaration(e->mod, LLVMLookupIntrinsicID(name, strlen(name)),
					   type, by_width ? 0 : 2);
}

static LLVMValueRef call(struct emit *e, const struct hn_intrin *in, LLVMValueRef acc,
			 LLVMValueRef left, LLVMValueRef right)
{
	LLVMValueRef arg[3] = { acc, left, right };
	LLVMTypeRef type[3];
	LLVMValueRef fn = declare(e, in, LLVMTypeOf(acc));
	LLVMTypeRef shape = LLVMGlobalGetValueType(fn);

	LLVMGetParamTypes(shape, type);
	for (int k = 0; k < 3; k++) {
		arg[k] = LLVMBuildBitCast(e->b, arg[k], type[k], "");
	}
	return LLVMBuildCall2(e->b, shape, fn, arg, 3, "");
}

/* 128 in each byte of a vector like v. */
static LLVMValueRef high_bits(LLVMValueRef v)
{
	LLVMValueRef one = LLVMConstInt(LLVMGetElementType(LLVMTypeOf(v)), 0x80808080, 0);
	LLVMValueRef lane[EMIT_MAX_LANES];
	uint32_t n = LLVMGetVectorSize(LLVMTypeOf(v));

	for (uint32_t k = 0; k < n; k++) {
		lane[k] = one;
	}
	return LLVMConstVector(lane, n);
}

/* acc + (left + 128) * right - 128 * right, of signed bytes. */
static LLVMValueRef call_shifted(struct emit *e, const struct hn_intrin *in,
				 LLVMValueRef acc, LLVMValueRef left, LLVMValueRef right)
{
	LLVMValueRef bits = high_bits(left);
	LLVMValueRef added = call(e, in, LLVMConstNull(LLVMTypeOf(acc)), bits, right);

	acc = call(e, in, acc, LLVMBuildXor(e->b, left, bits, ""), right);
	return LLVMBuildSub(e->b, acc, added, "");
}

/* Whether the factors may change places: they are of one type, and nothing is added to the left. */
static bool commutes(const struct hn_intrin *in)
{
	return in->left == in->right && in->added == 0;
}

void hn_emit_group(struct emit *e, struct emit_tile *t, LLVMValueRef *acc)
{
	const struct emit_nest *n = t->n;
	struct emit_val v[2];

	e->axis = n->stmt->axis;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
	if (!hn_emit_adds_nothing(e, n, EMIT_THE_TERM)) {
		for (int k = 0; k < 2; k++) {
			v[k] = group_of(e, n->factor[k], hn_intrin_terms(n->intrin));
		}
		/* The last operand is the one that x86 broadcasts out of memory. A broadcast of its own
		 * is one of floats by then, and 28 sums by a vector of vdpbf16ps run at 0.75 of the peak
		 * with it, on a Zen 4. */
		if (!v[0].vec && commutes(n->intrin)) {
			struct emit_val left = v[0];

			v[0] = v[1];
			v[1] = left;
		}
		acc[0] = (n->intrin->added ? call_shifted : call)(
			e, n->intrin, acc[0], hn_emit_splat(e, v[0]), hn_emit_splat(e, v[1]));
	}
	e->axis = NULL;
}
