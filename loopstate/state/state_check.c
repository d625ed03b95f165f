/* state_check.c -- the invariants of a state, by number.
 *
 *  1. stage i is op i of the dag; the dag's arguments exist.
 *  2. a placeholder is at root and has no loops; other stages have as many variables as
 * axes or more.
 *  3. each variable is an axis or made by one relation, and used up by at most one; those
 *     not used up are exactly the iterators' variables, each once.
 *  4. each row of the attach map names an existing loop of a stage that has loops, once,
 * and holds at least one stage.
 *  5. a stage is in the map exactly once when it is attached, under the place it names;
 * that place is in a later stage (so there is no cycle).
 *  6. nothing is attached to an inlined stage.
 *  7. a prefetch names a variable of its stage and an earlier stage; TE variables of its stage.
 */
#include "loopstate/state/state.h"

#include <stdlib.h>
#include <string.h>

#include "loopstate/state/intrin.h"
#include "loopstate/state/state_int.h"

static void check_relations(const struct hn_stage *st, uint32_t n_axis)
{
	uint8_t *made = calloc((size_t)st->n_var + 1, 1),
		*used = calloc((size_t)st->n_var + 1, 1);

	hn_assert(made != NULL && used != NULL);
	hn_assert(st->n_var >= n_axis); /* 2 */
	memset(made, 1, n_axis);
	for (uint32_t i = 0; i < st->n_rel; i++) {
		const struct hn_rel *r = &st->rel[i];
		bool split = r->kind == HN_REL_SPLIT;

		hn_assert(r->parent >= 0 && (uint32_t)r->parent < st->n_var);
		hn_assert((split ? used : made)[r->parent]++ == 0); /* 3 */
		for (uint32_t k = 0; k < r->n; k++) {
			hn_assert(r->part[k] >= 0 && (uint32_t)r->part[k] < st->n_var);
			hn_assert((split ? made : used)[r->part[k]]++ == 0); /* 3 */
		}
	}
	for (uint32_t i = 0; i < st->n_iter; i++) {
		int32_t v = st->iter[i].var;

		hn_assert(v >= 0 && (uint32_t)v < st->n_var && used[v]++ == 0); /* 3 */
	}
	for (uint32_t v = 0; v < st->n_var; v++) {
		hn_assert(made[v] == 1 && used[v] == 1); /* 3 */
	}
	free(made);
	free(used);
}

static void check_prefetches(const struct hn_state *s, int32_t i)
{
	const struct hn_stage *st = s->stage[i];

	for (uint32_t k = 0; k < st->n_prefetch; k++) {
		const struct hn_prefetch *p = &st->prefetch[k];

		hn_assert(p->var >= 0 && (uint32_t)p->var < st->n_var); /* 7 */
		hn_assert(p->operand >= 0 && p->operand < i);
		hn_assert(p->distance >= 1 && p->distance <= HN_PREFETCH_MAX_DISTANCE);
	}
	for (uint32_t d = 0; st->intrin != NULL && d < HN_INTRIN_DIMS; d++) {
		hn_assert(st->intrin->most[d] == 0 ? st->intrin_var[d] == -1
						   : (uint32_t)st->intrin_var[d] < st->n_var);
	}
	hn_assert(st->pipeline.stages == 0 || (uint32_t)st->pipeline.var < st->n_var);
}

static void check_place(const struct hn_state *s, int32_t i)
{
	const struct hn_stage *st = s->stage[i];
	uint32_t hits = 0;

	for (uint32_t r = 0; r < s->n_attached; r++) {
		for (uint32_t k = 0; k < s->attached[r].n; k++) {
			if (s->attached[r].child[k] != i) {
				continue;
			}
			hits++;
			hn_assert(st->at == HN_AT_ITER); /* 5 */
			hn_assert(st->at_stage == s->attached[r].stage);
			hn_assert(s->mode == HN_REPLAY_ANSOR ||
				  st->at_iter == s->attached[r].iter);
			hn_assert(st->at_stage > i);
		}
	}
	hn_assert(hits == (st->at == HN_AT_ITER)); /* 5 */
}

void hn_state_check(const struct hn_state *s)
{
	hn_assert(s->n_stage == s->dag->n_op); /* 1 */
	for (uint32_t i = 0; i < s->dag->n_arg; i++) {
		hn_assert(s->dag->arg[i] >= 0 && (uint32_t)s->dag->arg[i] < s->n_stage);
	}
	for (uint32_t i = 0; i < s->n_stage; i++) {
		const struct hn_op *op = s->dag->op[i];

		if (op->kind == HN_OP_PLACEHOLDER) {
			hn_assert(s->stage[i]->at == HN_AT_ROOT); /* 2 */
			hn_assert(s->stage[i]->n_iter == 0);
		} else {
			check_relations(s->stage[i], op->n_spatial + op->n_reduce);
		}
		check_place(s, (int32_t)i);
		check_prefetches(s, (int32_t)i);
	}
	for (uint32_t r = 0; r < s->n_attached; r++) {
		const struct hn_attached *at = &s->attached[r];

		hn_assert(at->n > 0 && at->stage >= 0 &&
			  (uint32_t)at->stage < s->n_stage); /* 4 */
		hn_assert(at->iter >= 0 &&
			  (uint32_t)at->iter < s->stage[at->stage]->n_iter);
		hn_assert(hn_state_attached_at(s, at->stage, at->iter) == at);
		hn_assert(s->stage[at->stage]->at != HN_AT_INLINED); /* 6 */
	}
}
