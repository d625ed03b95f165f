/* prefetch.c -- see prefetch.h. */
#include "loopstate/state/prefetch.h"

#include <string.h>

#include "loopstate/state/state_int.h"

static bool reads(const struct hn_state *s, int32_t stage, int32_t operand)
{
	int32_t reader[HN_DAG_MAX_OPS];
	uint32_t n = hn_state_consumers(s, operand, reader, HN_DAG_MAX_OPS);

	for (uint32_t i = 0; i < n; i++) {
		if (reader[i] == stage) {
			return true;
		}
	}
	return false;
}

/* Whether the operand is made anew in each iteration of the loop. */
static bool made_inside(const struct hn_state *s, int32_t stage, uint32_t iter,
			int32_t operand)
{
	const struct hn_stage *st = s->stage[operand];

	while (st->at == HN_AT_ITER && st->at_stage != stage) {
		st = s->stage[st->at_stage];
	}
	return st->at == HN_AT_ITER && st->at_iter >= (int32_t)iter;
}

static void find_load(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD;
}

/* Whether every place the stage itself reads of the operand is known from data only: the
 * data of a later iteration may not be there yet. */
static bool read_at_loaded_places(const struct hn_state *s, int32_t stage,
				  int32_t operand)
{
	const struct hn_op_access *acc = &s->access->op[stage];
	bool any = false, all = true;

	for (uint32_t i = 0; i < acc->n_read; i++) {
		const struct hn_expr *load = acc->read[i].load;
		bool found = false;

		for (uint32_t d = 0; d < load->n_arg; d++) {
			hn_expr_visit(load->arg[d], find_load, &found);
		}
		if (acc->read[i].producer == operand) {
			any = true;
			all = all && found;
		}
	}
	return any && all;
}

const char *hn_prefetch_why_not(const struct hn_state *s, int32_t stage, uint32_t iter,
				int32_t operand)
{
	uint8_t ann = s->stage[stage]->iter[iter].ann;

	if (ann != HN_ANN_NONE && ann != HN_ANN_UNROLL) {
		return "the loop's iterations do not follow one another in one thread";
	}
	if (s->stage[operand]->at == HN_AT_INLINED) {
		return "the operand is inlined: it is in no memory";
	}
	if (!reads(s, stage, operand)) {
		return "the stage does not read the operand";
	}
	if (made_inside(s, stage, iter, operand)) {
		return "the operand is computed inside the loop";
	}
	if (read_at_loaded_places(s, stage, operand)) {
		return "the operand is read at places that are data";
	}
	return NULL;
}

void hn_prefetch_shift(struct hn_state *n, int32_t at, struct hn_arena *a)
{
	for (int32_t i = 0; i < (int32_t)n->n_stage; i++) {
		uint32_t k = n->stage[i]->n_prefetch;

		if (k == 0) {
			continue;
		}
		struct hn_prefetch *to = HN_NEW_ARRAY(a, struct hn_prefetch, k);

		memcpy(to, n->stage[i]->prefetch, k * sizeof(*to));
		for (uint32_t p = 0; p < k; p++) {
			to[p].operand += to[p].operand >= at;
			if (i > at && !reads(n, i, to[p].operand) && reads(n, i, at)) {
				to[p].operand = at;
			}
		}
		hn_state_own_stage(n, i, a)->prefetch = to;
	}
}
