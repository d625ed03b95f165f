/* lower/cpu/emit_past.c -- stores of results that bypass the caches.
 *
 * A store to a line that no cache holds fetches the line first. If the kernel's data exceeds the
 * caches, nearly every store does this: a third of the traffic of x + y. A non-temporal store of
 * a whole line does not (measured on 12 MB: 0.8 of the time; on 3 MB, which the caches hold, 1.5
 * times). So results bypass the caches if this kernel does not read them again and its arguments
 * exceed the caches of the cores that run it.
 *
 * In a network the next kernel reads them. It finds in the cache that all cores share what did not
 * bypass it, so there only results bypass it that are a large part of it. MobileNet-V2, with
 * results of up to 4.8 MB, takes 0.88 of the time. A convolution of VGG-19 with 12.8 MB takes 1.4
 * times as long when they do not bypass, and what reads them is no faster.
 *
 * The instruction needs an address on a vector's boundary, and the ABI promises only an
 * element's. That offsets are such multiples is known here. The beginning of the argument is
 * tested at run time, once for all stores of a tile: they wait until its end.
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

#include "base/arith.h"

#define LINE 64
#define SHARE 4 /* of the shared cache: a quarter is still there when the results are read */
#define MOST_TERMS 128 /* of a reduction: beyond, stores are not what takes the time */

struct find {
	int32_t op;
	bool found;
};

static void find_load(const struct hn_expr *x, void *ctx)
{
	struct find *f = ctx;

	f->found = f->found || (x->op == HN_EXPR_LOAD && x->ref == f->op);
}

/* Whether any stage loads what the op stores; a reduction's own sum is not a load. */
static bool is_read(const struct emit *e, int32_t op)
{
	struct find f = { op, false };

	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		hn_op_visit(e->t->dag->op[i], find_load, &f);
	}
	return f.found;
}

static bool exceeds_caches(const struct emit *e)
{
	const int64_t *p = e->em->target.param;
	int64_t cores = e->in_parallel ? p[HN_PARAM_NUM_CORES] : 1;

	return (int64_t)hn_dag_arg_bytes(e->t->dag) >
	       hn_mul_sat(p[HN_PARAM_L2_BYTES], cores);
}

/* The results are still in the cache that all cores share when another kernel reads them. */
static bool found_later(const struct emit *e, int32_t op)
{
	return e->opt->read_soon && hn_op_bytes(e->t->dag->op[op], 0) <=
					    e->em->target.param[HN_PARAM_L3_BYTES] / SHARE;
}

bool hn_emit_goes_past(const struct emit *e, const struct emit_nest *n)
{
	int64_t terms = 1;

	for (uint32_t i = 0; i < n->n_dim; i++) {
		terms = hn_mul_sat(terms, n->dim[i].reduce ? n->dim[i].extent : 1);
	}
	return !e->opt->scalar && strncmp(e->em->target.isa, "x86-64-", 7) == 0 &&
	       e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES] == LINE &&
	       e->buffer[n->stmt->stage].place == HN_PLACE_ARG &&
	       (n->stmt->stmt == HN_STMT_COMPUTE ||
		(hn_emit_is_update(n) && n->from_identity && terms <= MOST_TERMS)) &&
	       exceeds_caches(e) && !is_read(e, n->stmt->stage) &&
	       !found_later(e, n->stmt->stage);
}

/* Every offset is a whole number of lines, wherever the loops stand. */
static bool on_lines(const struct hn_linear *at, int64_t unit)
{
	bool on = hn_mul_sat(at->c, unit) % LINE == 0;

	for (uint32_t i = 0; i < at->n; i++) {
		on = on && hn_mul_sat(at->t[i].coef, unit) % LINE == 0;
	}
	return on;
}

bool hn_emit_store_later(struct emit *e, const struct emit_address *x, LLVMValueRef p,
			 LLVMValueRef v)
{
	if (!e->nest || !e->nest->past || e->n_lane * x->unit % LINE != 0 ||
	    !on_lines(&x->lane[0], x->unit)) {
		return false;
	}
	e->later = hn_arena_grow(e->a, e->later, e->n_later, &e->cap_later,
				 sizeof(*e->later));
	e->later[e->n_later++] = (struct emit_later){ x->base, p, v, (uint32_t)x->unit };
	return true;
}

/* All bases begin on lines. */
static LLVMValueRef bases_on_lines(struct emit *e)
{
	LLVMValueRef all = NULL;

	for (uint32_t i = 0; i < e->n_later; i++) {
		if (i > 0 && e->later[i].base == e->later[i - 1].base) {
			continue;
		}
		LLVMValueRef at = LLVMBuildPtrToInt(e->b, e->later[i].base, e->i64, "");

		all = all ? LLVMBuildOr(e->b, all, at, "") : at;
	}
	LLVMValueRef low = LLVMBuildAnd(e->b, all, hn_emit_const(e, LINE - 1), "");

	return LLVMBuildICmp(e->b, LLVMIntEQ, low, hn_emit_const(e, 0), "");
}

static void store_all(struct emit *e, bool past)
{
	unsigned kind = LLVMGetMDKindIDInContext(e->ctx, "nontemporal", 11);
	LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, 0));
	LLVMMetadataRef node = LLVMMDNodeInContext2(e->ctx, &one, 1);

	for (uint32_t i = 0; i < e->n_later; i++) {
		LLVMValueRef s = LLVMBuildStore(e->b, e->later[i].value, e->later[i].at);

		LLVMSetAlignment(s, past ? LINE : e->later[i].unit);
		if (past) {
			LLVMSetMetadata(s, kind, LLVMMetadataAsValue(e->ctx, node));
		}
	}
}

void hn_emit_store_now(struct emit *e)
{
	if (e->n_later == 0) {
		return;
	}
	LLVMBasicBlockRef past = hn_emit_block(e, "past"), plain = hn_emit_block(e, "in");
	LLVMBasicBlockRef join = hn_emit_block(e, "stored");

	LLVMBuildCondBr(e->b, bases_on_lines(e), past, plain);
	LLVMPositionBuilderAtEnd(e->b, past);
	store_all(e, true);
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, plain);
	store_all(e, false);
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, join);
	e->n_later = 0;
	e->epoch++;
	e->fn->past = true;
}

void hn_emit_past_fence(struct emit *e)
{
	static const char name[] = "llvm.x86.sse.sfence";

	if (!e->fn->past) {
		return;
	}
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(
		e->mod, LLVMLookupIntrinsicID(name, sizeof(name) - 1), NULL, 0);

	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, NULL, 0, "");
}
