/* fill/vectorize.c -- the innermost loop that iterates runs in vectors when it may.
 * Source: TVM InitVectorization, without its draw that never keeps what it found. */
#include "sketch/sketch_int.h"

int32_t hn_vector_iter(const struct hn_state *s, int32_t stage)
{
	const struct hn_stage *st = s->stage[stage];

	for (int32_t i = (int32_t)st->n_iter - 1; i >= 0; i--) {
		const struct hn_iter *it = &st->iter[i];
		if (it->kind != HN_ITER_SPATIAL || it->ann != HN_ANN_NONE ||
		    it->extent == HN_EXTENT_UNKNOWN ||
		    hn_state_attached_at(s, stage, i)) {
			return -1;
		}
		if (it->extent > 1) {
			return i;
		}
	}
	return -1;
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	for (int32_t i = 0; i < (int32_t)s->n_stage && !c.failed; i++) {
		if (hn_stage_op(c.s, i)->kind != HN_OP_COMPUTE ||
		    c.s->stage[i]->at == HN_AT_INLINED) {
			continue;
		}
		int32_t at = hn_vector_iter(c.s, i);
		if (at >= 0 && c.s->stage[i]->iter[at].extent <= HN_MAX_INNERMOST &&
		    (ctx->target->caps & HN_CAP_VECTOR)) {
			hn_chain_annotate(&c, i, at, HN_ANN_VECTORIZE);
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_vectorize;
const struct hn_fill_ops hn_fill_vectorize = { "vectorize", fill };
