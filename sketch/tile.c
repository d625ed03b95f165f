/* sketch/tile.c -- multi-level tiling, shared by the rules tile and tile_fuse.
 *
 * Each letter of the structure is one level: every axis of that class gives its next
 * part, in axis order.  Axes marked no_split_at_inner stay whole and go first in the
 * innermost level. Source: Ansor, section 4.1; TVM DoMultiLevelTiling.
 */
#include "loopstate/state/intrin.h"
#include "sketch/sketch_int.h"

#define KEY "auto_scheduler_no_split_at_inner"
#define MAX_PARTS 8 /* levels of one class in a structure */

struct levels { /* where the parts of each axis stand after all splits */
	uint32_t n_axis;
	struct {
		int64_t first;	 /* position of part 0 */
		uint32_t n_part; /* 1 = not split */
		bool reduce, whole;
		bool group; /* the terms of a vector's instruction: innermost of its class */
		bool tile;  /* a loop of one on tiles: innermost of all */
	} axis[HN_DAG_MAX_ITERS];
};

static uint32_t count_letters(const char *s, char letter)
{
	uint32_t n = 0;

	for (; *s; s++) {
		n += *s == letter;
	}
	return n;
}

/* Whether the loop is its instruction's. */
static bool is_given(const struct hn_stage *st, int32_t var)
{
	bool given = false;

	for (uint32_t d = 0; st->intrin != NULL && d < HN_INTRIN_DIMS; d++) {
		given = given || st->intrin_var[d] == var;
	}
	return given;
}

/* Split every loop of the stage into its class's number of levels. */
static void split_axes(struct hn_chain *c, int32_t stage, const char *tiling,
		       struct levels *lv, int32_t *ret_step, uint32_t *ret_n)
{
	const struct hn_stage *st = c->s->stage[stage];
	const struct hn_state *s = c->s;
	int64_t open[MAX_PARTS];
	int64_t at = 0;

	for (uint32_t i = 0; i < HN_COUNT_OF(open); i++) {
		open[i] = HN_HOLE;
	}
	*ret_n = 0;
	lv->n_axis = st->n_iter;
	for (uint32_t i = 0; i < st->n_iter; i++) {
		bool reduce = st->iter[i].kind != HN_ITER_SPATIAL;
		bool given = is_given(st, st->iter[i].var);
		bool whole = given || hn_stage_attr_names(s, stage, KEY, st->iter[i].name);
		uint32_t n = whole ? 1 : count_letters(tiling, reduce ? 'R' : 'S');
		lv->axis[i].first = at;
		lv->axis[i].n_part = n;
		lv->axis[i].reduce = reduce;
		lv->axis[i].whole = whole;
		lv->axis[i].tile = given && hn_intrin_is_tile(st->intrin);
		lv->axis[i].group = given && !lv->axis[i].tile;
		if (n > 1) {
			hn_chain_split(c, stage, (int32_t)at, open, n - 1);
		}
		if (n > 1 && !reduce && !c->failed) {
			ret_step[(*ret_n)++] = (int32_t)c->s->trace->n_step - 1;
		}
		at += n;
	}
}

/* Append one level: whole axes first when it is the class's last, then part `level`, then an
 * instruction's loop. */
static uint32_t add_level(const struct levels *lv, bool reduce, uint32_t level, bool last,
			  int64_t *order, uint32_t n)
{
	for (uint32_t i = 0; last && i < lv->n_axis; i++) {
		if (lv->axis[i].whole && !lv->axis[i].group && !lv->axis[i].tile &&
		    lv->axis[i].reduce == reduce) {
			order[n++] = lv->axis[i].first;
		}
	}
	for (uint32_t i = 0; i < lv->n_axis; i++) {
		if (!lv->axis[i].whole && lv->axis[i].reduce == reduce &&
		    level < lv->axis[i].n_part) {
			order[n++] = lv->axis[i].first + level;
		}
	}
	for (uint32_t i = 0; last && i < lv->n_axis; i++) {
		if (lv->axis[i].group && lv->axis[i].reduce == reduce) {
			order[n++] = lv->axis[i].first;
		}
	}
	return n;
}

void hn_tile_stage(const struct hn_rule_ctx *ctx, struct hn_chain *c, int32_t stage,
		   int32_t ret_step[HN_DAG_MAX_ITERS], uint32_t *ret_n)
{
	const struct hn_structure *st = hn_structure_of(ctx->target);
	struct levels lv;
	int64_t order[HN_DAG_MAX_ITERS * MAX_PARTS];
	uint32_t n = 0, n_s = 0, n_r = 0;

	*ret_n = 0;
	if (!st || c->s->stage[stage]->n_iter > HN_DAG_MAX_ITERS) {
		c->failed = true;
		return;
	}
	split_axes(c, stage, st->tiling, &lv, ret_step, ret_n);
	for (const char *p = st->tiling; *p; p++) {
		uint32_t *level = *p == 'R' ? &n_r : &n_s;
		bool last = *level + 1 == count_letters(st->tiling, *p);
		n = add_level(&lv, *p == 'R', (*level)++, last, order, n);
	}
	for (uint32_t i = 0; i < lv.n_axis; i++) {
		if (lv.axis[i].tile) {
			order[n++] = lv.axis[i].first;
		}
	}
	hn_chain_reorder(c, stage, order, n);
}
