/* lower/npu/vector_phase.c -- with the tiles known: which operation is done in which walk over them.
 *
 * A sum over several tiles is there when all of them have been walked over.  What needs it is done in
 * the next walk, and what else that needs once more, unless no tile of a sum changes it.  There are few
 * walks, and none within another: a sum whose terms are sums needs one of the two to be in one tile.
 */
#include <string.h>

#include "lower/npu/vector_int.h"

bool vec_is_crossing(const struct vec *x, const struct vec_op *op)
{
	return op->what == VEC_TOTAL && (op->over & x->tiled) != 0;
}

bool vec_is_in(const struct vec *x, uint32_t i, uint32_t phase)
{
	return (x->op[i].in >> phase & 1) != 0;
}

/* The walk that it can first be done in. */
static uint32_t phase_of(const struct vec *x, const struct vec_op *op)
{
	uint32_t p = 0;

	for (int k = 0; k < 3; k++) {
		p = op->from[k] >= 0 && x->v[op->from[k]].phase > p ? x->v[op->from[k]].phase : p;
	}
	return p;
}

static void loops(struct vec *x)
{
	x->tiled = 0;
	x->n_loop = 0;
	for (int sums = 0; sums < 2; sums++) {
		for (uint32_t d = 0; d < x->n_dim; d++) {
			if (x->tile[d] < x->part[d] && vec_has(x->reduced, d) == (sums != 0)) {
				x->loop[x->n_loop++] = (uint8_t)d;
				x->tiled |= vec_bit(d);
			}
		}
	}
}

/* Whose memory each has, and what about it the tiles decide. */
static void values(struct vec *x)
{
	uint32_t inner = x->n_loop > 0 ? vec_bit(x->loop[x->n_loop - 1]) : 0;

	for (uint32_t i = 0; i < x->n_value; i++) {
		struct vec_value *v = &x->v[i];

		v->root = (int32_t)i;
		v->exclusive = v->loaded || v->stored || !x->plan->reuse ||
			       (inner != 0 && (v->deps & inner) == 0);
		v->persistent = (v->deps & x->tiled & x->reduced) == 0;
		v->copies = (v->loaded || v->stored) && (v->deps & inner) != 0 ? x->plan->slots : 1;
		v->phase = 0;
		memset(v->first, -1, sizeof(v->first));
		memset(v->last, -1, sizeof(v->last));
	}
	for (uint32_t i = 0; i < x->n_op; i++) { /* a sum of one tile is there as it is */
		const struct vec_op *op = &x->op[i];

		if (op->what == VEC_TOTAL && !vec_is_crossing(x, op)) {
			int32_t root = x->v[op->from[0]].root;

			x->v[op->to].root = root;
			x->v[root].exclusive = x->v[root].exclusive || x->v[op->to].exclusive;
			x->v[root].copies = x->v[op->to].copies > x->v[root].copies ? x->v[op->to].copies
										    : x->v[root].copies;
		}
	}
}

static void touch(struct vec *x, int32_t v, uint32_t phase, int32_t i)
{
	if (v >= 0) {
		struct vec_value *w = &x->v[x->v[v].root];

		w->first[phase] = w->first[phase] < 0 ? i : w->first[phase];
		w->last[phase] = i > w->last[phase] ? i : w->last[phase];
	}
}

static void live(struct vec *x)
{
	for (uint32_t i = 0; i < x->n_op; i++) {
		for (uint32_t p = 0; p < x->n_phase; p++) {
			const struct vec_op *op = &x->op[i];

			if (!vec_is_in(x, i, p)) {
				continue;
			}
			touch(x, op->to, p, (int32_t)i);
			for (int k = 0; k < 3; k++) {
				touch(x, op->from[k], p, (int32_t)i);
				/* rows of one repeat are reduced where they are */
				if (op->what == VEC_FOLD) {
					touch(x, op->from[k], p, (int32_t)i + 1);
				}
			}
		}
	}
}

bool vec_phases(struct vec *x)
{
	x->phased = false;
	loops(x);
	values(x);
	x->n_phase = 1;
	for (uint32_t i = 0; i < x->n_op; i++) {
		struct vec_op *op = &x->op[i];
		uint32_t p = phase_of(x, op);
		bool crossing = vec_is_crossing(x, op);

		if (p + 1 > VEC_PHASES - 1) {
			return false;
		}
		if (crossing && (x->v[op->from[0]].deps & x->tiled & x->reduced & ~op->over) != 0) {
			return false;
		}
		x->n_phase = p + 1 > x->n_phase ? p + 1 : x->n_phase;
		op->in = (uint8_t)(op->what == VEC_STORE || crossing ? 1u << p : 0);
		if (op->to >= 0) {
			x->v[op->to].phase = (uint8_t)(p + crossing);
			x->by[op->to] = i;
		}
	}
	for (uint32_t p = x->n_phase; p-- > 0;) {
		for (uint32_t i = x->n_op; i-- > 0;) {
			for (int k = 0; k < 3 && vec_is_in(x, i, p); k++) {
				int32_t f = x->op[i].from[k];
				struct vec_op *made = f >= 0 ? &x->op[x->by[f]] : NULL;

				if (made != NULL && !vec_is_crossing(x, made)) {
					made->in |= (uint8_t)(1u << (x->v[f].persistent ? phase_of(x, made) : p));
				}
			}
		}
	}
	live(x);
	x->phased = true;
	return true;
}
