/* sketch/holes.c -- the open splits and packs of a sketch, and numbers taken apart into factors. */
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/inline.h"
#include "loopstate/state/intrin.h"
#include "loopstate/state/step.h"
#include "sketch/sketch_int.h"

static bool is_open(const struct hn_step *step)
{
	const struct hn_field *list = hn_step_list_field(step);

	return list != NULL && list->kind == HN_FIELD_LENS && step->n_list > 0 &&
	       step->list[0] == HN_HOLE;
}

/* The split of an rfactor, or blocks, with the lengths it had while the sketch was derived. */
static const struct hn_step *provisional(const struct hn_state *s,
					 const struct hn_step *step, struct hn_arena *a)
{
	struct hn_step *copy = HN_NEW(a, struct hn_step);

	*copy = *step;
	if (hn_step_has(step, HN_MEANS_BLOCKS)) {
		copy->list = hn_pack_provisional(s, step->stage, a);
		return copy;
	}
	int64_t *len = HN_NEW(a, int64_t);
	*len = 1;
	copy->list = len;
	copy->n_list = 1;
	return copy;
}

/* The axis that the loop runs along: its own, or, where an instruction's loops were cut from it,
 * what is left of it; -1 = a fused loop, or a part of a part. */
static int32_t axis_of(const struct hn_stage *st, const struct hn_op *op, int32_t var)
{
	if (var < (int32_t)(op->n_spatial + op->n_reduce)) {
		return var;
	}
	for (uint32_t i = 0; i < hn_intrin_splits(st) && i < st->n_rel; i++) {
		const struct hn_rel *r = &st->rel[i];

		if (r->kind == HN_REL_SPLIT && r->part[0] == var) {
			return r->parent;
		}
	}
	return -1;
}

static struct hn_hole describe(const struct hn_state *s, const struct hn_trace *t,
			       uint32_t i)
{
	const struct hn_step *step = t->step[i];
	const struct hn_stage *st = s->stage[step->stage];
	const struct hn_iter *iter = &st->iter[step->a[HN_SP_ITER]];
	const struct hn_op *op = s->dag->op[step->stage];
	struct hn_hole h = {
		.step = i,
		.stage = hn_stage_final_id(t, i, step->stage),
		.axis = axis_of(st, op, iter->var),
		.n_len = step->n_list,
		.extent = iter->extent > 1 ? iter->extent : 1,
		.role = HN_HOLE_PLAIN,
	};

	if (i + 1 < t->n_step && hn_step_ops(t->step[i + 1]->kind)->parts) {
		h.role = HN_HOLE_RFACTOR;
	} else if (iter->kind != HN_ITER_SPATIAL) {
		h.role = HN_HOLE_REDUCE;
	} else if (step->n_list > 1) {
		h.role = HN_HOLE_SPATIAL;
	}
	return h;
}

/* In each stage the last spatial axis that is longer than 1 ends innermost. */
static void mark_innermost(struct hn_hole *hole, uint32_t n)
{
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t best = i;
		for (end = i; end < n && hole[end].stage == hole[i].stage; end++) {
			bool spatial = hole[end].role == HN_HOLE_SPATIAL ||
				       hole[end].role == HN_HOLE_PLAIN;
			if (spatial && (hole[end].extent > 1 || hole[best].extent == 1)) {
				best = end;
			}
		}
		hole[best].innermost = hole[best].role == HN_HOLE_SPATIAL ||
				       hole[best].role == HN_HOLE_PLAIN;
	}
}

int hn_sketch_find_holes(struct hn_sketch *sk, const struct hn_dag *dag, int64_t longest,
			 struct hn_arena *a, struct hn_err *err)
{
	const struct hn_trace *t = sk->state->trace;
	uint32_t n_step = t ? t->n_step : 0, n = 0;
	struct hn_hole *hole = HN_NEW_ARRAY(a, struct hn_hole, n_step);
	struct hn_arena scratch;
	int rc = 0;

	hn_arena_init(&scratch, 0);
	const struct hn_state *s = hn_state_init(dag, a);
	sk->start = s;
	for (uint32_t i = 0; i < n_step && rc == 0; i++) {
		const struct hn_step *step = t->step[i];
		if (is_open(step)) {
			hole[n] = hn_step_has(step, HN_MEANS_BLOCKS)
					  ? hn_pack_hole(s, t, i, hole, n, a)
					  : describe(s, t, i);
			hole[n].longest = longest;
			if (hole[n].role == HN_HOLE_RFACTOR || hole[n].pack) {
				step = provisional(s, step, &scratch);
			}
			n++;
		}
		rc = hn_state_apply(s, step, n == 0 ? a : &scratch, &s, err);
		if (rc < 0) {
			rc = hn_err_within(err, "sketch [%s] step %u", sk->rules, i);
		}
		sk->start = rc == 0 && n == 0 ? s : sk->start;
	}
	if (rc == 0) {
		sk->start = hn_inline_ahead(sk->start, s, a);
	}
	hn_arena_fini(&scratch);
	mark_innermost(hole, n);
	sk->n_hole = n;
	sk->hole = hole;
	return rc;
}

enum hn_verdict hn_sketch_close(const struct hn_sketch *sk, const int64_t *const *len,
				struct hn_arena *a, const struct hn_state **ret)
{
	const struct hn_trace *open = sk->state->trace;
	uint32_t n = open ? open->n_step : 0;
	struct hn_trace *t = HN_NEW(a, struct hn_trace);
	const struct hn_step **step = HN_NEW_ARRAY(a, const struct hn_step *, n);
	struct hn_step *closed = HN_NEW_ARRAY(a, struct hn_step, sk->n_hole);

	for (uint32_t i = 0; i < n; i++) {
		step[i] = open->step[i];
	}
	for (uint32_t h = 0; h < sk->n_hole; h++) {
		closed[h] = *open->step[sk->hole[h].step];
		closed[h].list =
			sk->hole[h].pack ? hn_pack_blocks(sk, h, len, a) : len[h];
		step[sk->hole[h].step] = &closed[h];
	}
	t->n_step = n;
	t->step = step;
	return hn_state_replay_from(sk->start, t, a, ret, NULL) < 0
		       ? HN_VERDICT_ILLEGAL
		       : HN_VERDICT_OK;
}

uint32_t hn_divisors(int64_t n, int64_t most, int64_t *ret, uint32_t cap)
{
	uint32_t k = 0;

	for (int64_t d = 1; d <= most && d <= n && k < cap; d++) {
		if (n % d == 0) {
			ret[k++] = d;
		}
	}
	return k;
}

bool hn_divides_poorly(int64_t extent)
{
	int64_t divisor[3];

	return extent > 16 && hn_divisors(extent, HN_MAX_INNERMOST, divisor, 3) < 3;
}

/* Give `exponent` equal primes to n_part parts, uniform over all ways: bars among stars.
 */
static void share_out(int64_t prime, uint32_t exponent, uint32_t n_part,
		      struct hn_rng *rng, int64_t *part)
{
	uint32_t slots = exponent + n_part - 1, bars = n_part - 1, at = 0;

	for (uint32_t i = 0; i < slots; i++) {
		if (hn_rng_below(rng, slots - i) < bars) {
			bars--;
			at++;
		} else {
			part[at] *= prime;
		}
	}
}

void hn_factor_uniform(int64_t n, uint32_t n_part, struct hn_rng *rng, int64_t *ret)
{
	for (uint32_t i = 0; i < n_part; i++) {
		ret[i] = 1;
	}
	for (int64_t p = 2; p <= n / p && p < 65536; p++) {
		uint32_t e = 0;
		while (n % p == 0) {
			n /= p;
			e++;
		}
		if (e > 0) {
			share_out(p, e, n_part, rng, ret);
		}
	}
	if (n > 1) {
		share_out(n, 1, n_part, rng, ret);
	}
}

const int64_t *hn_tile_uniform(int64_t extent, uint32_t n_len, struct hn_rng *rng,
			       struct hn_arena *a)
{
	int64_t *part = HN_NEW_ARRAY(a, int64_t, n_len + 1);

	for (int tries = 0; tries < 64; tries++) {
		hn_factor_uniform(extent, n_len + 1, rng, part);
		if (part[n_len] <= HN_MAX_INNERMOST) {
			return part + 1;
		}
	}
	part[n_len - 1] = hn_mul_sat(part[n_len - 1], part[n_len]);
	part[n_len] = 1;
	return part + 1;
}
