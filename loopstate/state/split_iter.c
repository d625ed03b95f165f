/* split_iter.c -- one loop cut into several.
 *
 * Lengths need not divide: the rest is rounded up, and bounds.c finds the guard.  Extents
 * are worked out from the first length given (innermost when inner_to_outer); once one is
 * unknown, so is everything computed after it.
 */
#include "loopstate/state/split_iter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/attach.h"
#include "loopstate/state/state_int.h"

#define PART_NAME_BYTES 12 /* ".255" and some */

int hn_split_iter_check(const struct hn_state *s, const struct hn_step *step,
			const int64_t *len, uint32_t n_len, struct hn_err *err)
{
	int rc = hn_step_check_iter(s, step, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_stage *st = s->stage[step->stage];

	if (n_len > HN_STAGE_MAX_ITERS || st->n_iter + n_len > HN_STAGE_MAX_ITERS) {
		return hn_step_refuse(s, step, err, "more than %d iterators",
				      HN_STAGE_MAX_ITERS);
	}
	if (st->n_rel >= HN_STAGE_MAX_RELS ||
	    strlen(st->iter[step->a[0]].name) + PART_NAME_BYTES > HN_STATE_MAX_NAME) {
		return hn_step_refuse(s, step, err, "split and fused too often");
	}
	for (uint32_t i = 0; i < n_len; i++) {
		if (len[i] != HN_HOLE && (len[i] < 1 || len[i] > HN_SPLIT_MAX_LEN)) {
			return hn_step_refuse(s, step, err,
					      "length %" PRId64
					      " must lie in 1..%" PRId64,
					      len[i], (int64_t)HN_SPLIT_MAX_LEN);
		}
	}
	return 0;
}

/* The names "<parent>.0" ... of n parts, one after the other, each ended by a NUL. */
static const char *part_names(const char *parent, uint32_t n, struct hn_arena *a)
{
	size_t n_parent = strlen(parent);
	char *names = hn_arena_alloc(a, n * (n_parent + PART_NAME_BYTES)), *end = names;

	for (uint32_t k = 0; k < n; k++) {
		char digits[PART_NAME_BYTES];
		uint32_t first = sizeof(digits), rest = k;

		do {
			digits[--first] = (char)('0' + rest % 10);
			rest /= 10;
		} while (rest > 0);
		memcpy(end, parent, n_parent);
		end += n_parent;
		*end++ = '.';
		while (first < sizeof(digits)) {
			*end++ = digits[first++];
		}
		*end++ = 0;
	}
	return names;
}

/* part[k] gets extent and min; the parent's min goes to the part computed first. */
static void set_extents(const struct hn_iter *parent, const int64_t *len, uint32_t n_len,
			bool inner_to_outer, struct hn_iter *part)
{
	int64_t rest = parent->extent, min = parent->min;

	for (uint32_t i = 0; i < n_len; i++) {
		uint32_t k = inner_to_outer ? n_len - i : i;
		int64_t f = len[inner_to_outer ? n_len - 1 - i : i];

		if (f == HN_HOLE) {
			rest = HN_EXTENT_UNKNOWN;
		}
		if (rest == HN_EXTENT_UNKNOWN) {
			part[k].extent = HN_EXTENT_UNKNOWN;
			min = 0;
			continue;
		}
		part[k].extent = f;
		part[k].min = min;
		rest = hn_ceildiv(rest, f);
		min = 0;
	}
	part[inner_to_outer ? 0 : n_len].extent = rest;
	part[inner_to_outer ? 0 : n_len].min = min;
}

static void add_relation(struct hn_stage *st, int32_t parent, const int64_t *len,
			 uint32_t n_len, bool inner_to_outer, struct hn_arena *a)
{
	uint32_t n = n_len + 1, rest = inner_to_outer ? 0 : n_len;
	int64_t *part_len = hn_arena_alloc(a, n * (sizeof(int64_t) + sizeof(int32_t)));
	int32_t *part = (int32_t *)(part_len + n); /* right behind it */

	for (uint32_t k = 0; k < n; k++) {
		part[k] = (int32_t)(st->n_var + k);
		part_len[k] = k == rest ? HN_HOLE : len[inner_to_outer ? k - 1 : k];
	}
	*hn_stage_add_rel(st, a) = (struct hn_rel){
		.kind = HN_REL_SPLIT,
		.inner_to_outer = inner_to_outer,
		.n = n,
		.parent = parent,
		.part = part,
		.len = part_len,
	};
	st->n_var += n;
}

const struct hn_state *hn_split_iter_apply(const struct hn_state *s,
					   const struct hn_step *step, const int64_t *len,
					   uint32_t n_len, bool inner_to_outer,
					   struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);
	uint32_t at = (uint32_t)step->a[0], n_old = st->n_iter;
	const struct hn_iter *old = st->iter;
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, n_old + n_len);
	const char *name = part_names(old[at].name, n_len + 1, a);
	int32_t to[HN_STAGE_MAX_ITERS];

	memcpy(iter, old, at * sizeof(*iter));
	memcpy(iter + at + n_len + 1, old + at + 1, (n_old - at - 1) * sizeof(*iter));
	for (uint32_t k = 0; k <= n_len; k++) {
		iter[at + k] = (struct hn_iter){
			.name = name,
			.kind = old[at].kind,
			.ann = HN_ANN_NONE,
			.var = (int32_t)(st->n_var + k),
		};
		name += strlen(name) + 1;
	}
	set_extents(&old[at], len, n_len, inner_to_outer, iter + at);
	add_relation(st, old[at].var, len, n_len, inner_to_outer, a);
	st->iter = iter;
	st->n_iter = n_old + n_len;
	if (hn_attach_any(n, step->stage, 0)) {
		for (uint32_t i = 0; i < n_old; i++) {
			to[i] = (int32_t)(i < at ? i : i + n_len);
		}
		hn_attach_renumber(n, step->stage, to, a);
	}
	return n;
}

const struct hn_step *hn_split_iter_source(const struct hn_state *s, int64_t i)
{
	if (i < 0 || i >= s->trace->n_step || !hn_step_has(s->trace->step[i], HN_MEANS_PARTS)) {
		return NULL;
	}
	return s->trace->step[i];
}

int64_t hn_split_iter_product(const int64_t *len, uint32_t n)
{
	int64_t product = 1;

	for (uint32_t i = 0; i < n; i++) {
		if (len[i] == HN_HOLE) {
			return HN_HOLE;
		}
		product = hn_mul_sat(product, len[i]);
	}
	return product;
}
