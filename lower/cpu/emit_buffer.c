/* lower/cpu/emit_buffer.c -- where buffers live: arguments, shared buffers, workers' parts, the
 * stack. */
#include <string.h>

#include "lower/cpu/emit_int.h"

LLVMValueRef hn_emit_byte_at(struct emit *e, LLVMValueRef base, LLVMValueRef offset)
{
	return LLVMBuildInBoundsGEP2(e->b, e->i8, base, &offset, 1, "");
}

bool hn_emit_is_shared(const struct emit *e, uint32_t i)
{
	return e->buffer[i].place == HN_PLACE_SHARED || e->buffer[i].place == HN_PLACE_PREPARED;
}

uint32_t hn_emit_n_param(const struct emit *e)
{
	uint32_t n = e->t->dag->n_arg + 2 + hn_emit_n_size(e);

	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		n += hn_emit_is_shared(e, i) ? e->t->dag->op[i]->n_out : 0;
	}
	return n;
}

void hn_emit_param_attrs(struct emit *e, LLVMValueRef fn, uint32_t i)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);

	LLVMAddAttributeAtIndex(fn, i + 1, LLVMCreateEnumAttribute(e->ctx, kind, 0));
}

/* This worker's part, made once at the function's entry. */
static LLVMValueRef worker_part(struct emit *e)
{
	struct emit_fn *fn = e->fn;
	LLVMValueRef at = hn_emit_const(e, 0);

	if (fn->worker) {
		at = LLVMBuildNSWMul(e->b, LLVMBuildSExt(e->b, fn->worker, e->i64, ""),
				     hn_emit_const(e, (int64_t)e->worker_bytes), "");
	}
	return hn_emit_byte_at(e, e->workers, at);
}

static void local_addresses(struct emit *e, uint32_t i)
{
	struct emit_buffer *b = &e->buffer[i];
	uint64_t offset = b->offset;
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);

	b->depth = 0;
	for (uint32_t k = 0; k < e->t->dag->op[i]->n_out; k++) {
		uint64_t bytes = hn_place_bytes(e->t, i, k);

		if (b->place == HN_PLACE_STACK) {
			b->base[k] = hn_emit_alloca(e, bytes, 64);
		} else {
			LLVMPositionBuilderBefore(e->b, e->fn->alloca_anchor);
			b->base[k] = hn_emit_byte_at(e, worker_part(e),
						     hn_emit_const(e, (int64_t)offset));
			LLVMPositionBuilderAtEnd(e->b, here);
		}
		offset += bytes;
	}
}

void hn_emit_locals(struct emit *e, int32_t loop, bool enter)
{
	for (uint32_t i = 0; i < e->t->dag->n_op; i++) {
		const struct hn_buffer *b = &e->t->buffer[i];

		if (b->op < 0 || b->lifetime != HN_LIFETIME_LOOP || b->at_loop != loop) {
			continue;
		}
		if (enter) {
			local_addresses(e, i);
		} else {
			memset(e->buffer[i].base, 0,
			       e->t->dag->op[i]->n_out * sizeof(LLVMValueRef));
		}
	}
}
