/* search/near.c -- see near.h.
 *
 * Both dags are replayed in step, so that each split sees the extents it had and those it
 * gets.  Packs come before or behind the splits they were made for, hence two passes: the first
 * finds what the splits' lengths become.
 */
#include "search/near.h"

#include <math.h>

#include "base/arith.h"
#include "loopstate/state/step.h"

#define MAX_RENAMED 64 /* lengths that change; a history has a dozen splits */

struct carry {
	const struct hn_target *target;
	enum hn_near_fit fit;
	struct hn_arena *a;
	const struct hn_state *from, *to;
	uint32_t n; /* lengths that became others */
	int64_t was[MAX_RENAMED], is[MAX_RENAMED];
};

double hn_near_distance(const struct hn_dag *x, const struct hn_dag *y)
{
	double sum = 0;

	for (uint32_t i = 0; i < x->n_op && i < y->n_op; i++) {
		const struct hn_op *p = x->op[i], *q = y->op[i];
		for (uint32_t k = 0; k < p->n_spatial + p->n_reduce; k++) {
			sum += fabs(log2((double)p->axis[k].extent /
					 (double)q->axis[k].extent));
		}
	}
	return sum;
}

static int64_t lanes_of(const struct carry *c, int32_t stage)
{
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)c->to->dag->op[stage]->dtype[0]);

	return c->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / (bytes > 0 ? bytes : 1);
}

/* The divisor of rest nearest to len that is a multiple of grain, up to a half more or a third
 * less; len when there is none. */
static int64_t divide(int64_t len, int64_t rest, int64_t grain)
{
	int64_t best = 0;

	for (int64_t d = grain; d <= rest && 2 * d <= 3 * len; d += grain) {
		bool nearer = best == 0 || fabs(log((double)d / (double)len)) <
						   fabs(log((double)best / (double)len));
		if (rest % d == 0 && 3 * d >= 2 * len && nearer) {
			best = d;
		}
	}
	return best > 0 ? best : len;
}

static void rename_length(struct carry *c, int64_t was, int64_t is)
{
	if (was != is && was > 1 && c->n < MAX_RENAMED) {
		c->was[c->n] = was;
		c->is[c->n++] = is;
	}
}

static void fit_split(struct carry *c, const struct hn_step *old, struct hn_step *step)
{
	int64_t *len = HN_NEW_ARRAY(c->a, int64_t, step->n_list);
	int64_t was = c->from->stage[old->stage]->iter[old->a[HN_SP_ITER]].extent;
	int64_t rest = c->to->stage[old->stage]->iter[old->a[HN_SP_ITER]].extent;
	int64_t lanes = lanes_of(c, old->stage);
	bool outward = old->a[HN_SP_INNER_TO_OUTER] != 0;

	step->a[HN_SP_EXTENT] = rest > 0 ? rest : old->a[HN_SP_EXTENT];
	for (uint32_t i = 0; i < step->n_list; i++) {
		uint32_t k = outward ? step->n_list - 1 - i : i;

		len[k] = old->list[k];
		if (rest <= 0 || was == rest) {
			continue; /* not known here, or nothing to fit */
		}
		if (len[k] >= rest) {
			len[k] = rest;
		} else if (c->fit == HN_NEAR_DIVIDE && len[k] > 1) {
			bool vectors = lanes > 1 && len[k] % lanes == 0;
			len[k] = divide(len[k], rest, vectors ? lanes : 1);
		}
		was = hn_ceildiv(was, old->list[k]);
		rest = hn_ceildiv(rest, len[k]);
		rename_length(c, old->list[k], len[k]);
	}
	step->list = len;
}

static int64_t renamed(const struct carry *c, int64_t len)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->was[i] == len) {
			return c->is[i];
		}
	}
	return len;
}

/* A block that was a whole dimension stays one. */
static bool fit_pack(struct carry *c, const struct hn_step *old, struct hn_step *step)
{
	const struct hn_op *was = c->from->dag->op[old->stage];
	const struct hn_op *is = c->to->dag->op[old->stage];
	int64_t *block = HN_NEW_ARRAY(c->a, int64_t, step->n_list);

	if (was->n_dim != step->n_list || is->n_dim != step->n_list) {
		return false;
	}
	for (uint32_t d = 0; d < step->n_list; d++) {
		bool whole = old->list[d] == was->shape[d] && was->shape[d] > 1;
		int64_t len = whole ? is->shape[d] : renamed(c, old->list[d]);

		block[d] = len < is->shape[d] ? len : is->shape[d];
	}
	step->list = block;
	return true;
}

/* The step on both dags; false when one refuses it. */
static bool carry_step(struct carry *c, const struct hn_step *old)
{
	const struct hn_state *next; /* made first: the step fits what it was made for */
	struct hn_step step = *old;

	if (hn_state_apply(c->from, old, c->a, &next, NULL) < 0) {
		return false;
	}
	if (hn_step_has(old, HN_MEANS_PARTS)) {
		if ((uint32_t)old->a[HN_SP_ITER] >= c->to->stage[old->stage]->n_iter) {
			return false;
		}
		fit_split(c, old, &step);
	} else if (hn_step_has(old, HN_MEANS_BLOCKS) && !fit_pack(c, old, &step)) {
		return false;
	}
	c->from = next;
	return hn_state_apply(c->to, &step, c->a, &c->to, NULL) == 0;
}

const struct hn_trace *hn_near_carry(const struct hn_dag *from, const struct hn_trace *t,
				     const struct hn_dag *to, const struct hn_target *target,
				     enum hn_near_fit fit, struct hn_arena *a)
{
	struct carry c = { .target = target, .fit = fit, .a = a };

	if (!hn_trace_complete(t)) {
		return NULL;
	}
	for (int pass = 0; pass < 2; pass++) {
		c.from = hn_state_init(from, a);
		c.to = hn_state_init(to, a);
		for (uint32_t i = 0; i < t->n_step; i++) {
			if (!carry_step(&c, t->step[i])) {
				return NULL;
			}
		}
	}
	return c.to->trace;
}
