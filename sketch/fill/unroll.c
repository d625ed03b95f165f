/* fill/unroll.c -- how far the code generator may unroll a reduction's nest, and the axes
 * that a front end wants unrolled whatever the search thinks.  Source: TVM InitUnroll. */
#include <stdio.h>
#include <string.h>

#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_always_unroll_inner"
#define MOST_ON_GPU 1024

const int32_t *hn_unroll_choices(uint32_t *ret_n)
{
	static const int32_t choices[] = { 0, 16, 64, 512 };

	*ret_n = HN_COUNT_OF(choices);
	return choices;
}

/* Code for threads is unrolled further. */
static int32_t draw(const struct hn_fill_ctx *ctx)
{
	uint32_t n;
	const int32_t *choices = hn_unroll_choices(&n);
	uint32_t more = (ctx->target->caps & HN_CAP_GPU_THREADS) != 0;
	uint32_t k = (uint32_t)hn_rng_below(ctx->rng, n + more);

	return k < n ? choices[k] : MOST_ON_GPU;
}

/* "eps.1" is of axis "eps"; a fused loop ("a@b@") is of none. */
static bool part_of(const char *name, const char *axis, size_t n)
{
	return strncmp(name, axis, n) == 0 && (name[n] == 0 || name[n] == '.') &&
	       !strchr(name, '@');
}

/* Unroll the innermost part of each axis the attribute names. */
static void unroll_named(struct hn_chain *c, int32_t stage)
{
	const struct hn_attr *attr = hn_op_attr(hn_stage_op(c->s, stage), KEY);

	for (uint32_t k = 0; attr && k < attr->n_item; k++) {
		size_t n = strlen(attr->item[k]);
		if (!hn_stage_attr_names(c->s, stage, KEY, attr->item[k])) {
			continue;
		}
		for (uint32_t i = c->s->stage[stage]->n_iter; i-- > 0;) {
			const struct hn_iter *it = &c->s->stage[stage]->iter[i];
			if (!part_of(it->name, attr->item[k], n)) {
				continue;
			}
			if (it->ann == HN_ANN_NONE) {
				hn_chain_annotate(c, stage, (int32_t)i, HN_ANN_UNROLL);
			}
			break;
		}
	}
}

static enum hn_verdict fill(const struct hn_fill_ctx *ctx, const struct hn_state *s,
			    const struct hn_state **ret)
{
	struct hn_chain c = { .s = s, .a = ctx->arena };

	for (int32_t i = 0; i < (int32_t)s->n_stage && !c.failed; i++) {
		if (hn_stage_op(c.s, i)->kind != HN_OP_COMPUTE ||
		    c.s->stage[i]->at == HN_AT_INLINED || c.s->stage[i]->n_iter == 0) {
			continue;
		}
		unroll_named(&c, i);
		if (hn_stage_has_reduce_iter(c.s, i)) {
			char text[40];
			int32_t want = ctx->plan->stage[i].unroll;
			snprintf(text, sizeof text, "auto_unroll_max_step$%d",
				 want >= 0 ? want : draw(ctx));
			hn_chain_pragma(&c, i, 0, hn_arena_strdup(ctx->arena, text));
		}
	}
	*ret = c.s;
	return c.failed ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

extern const struct hn_fill_ops hn_fill_unroll;
const struct hn_fill_ops hn_fill_unroll = { "unroll", fill };
