/* lower/places.c -- see places.h. */
#include "lower/places.h"

#include "base/arith.h"

#define STACK_MAX_ONE 16384
#define STACK_MAX_ALL 98304

uint64_t hn_place_bytes(const struct hn_looptree *t, uint32_t stage, uint32_t out)
{
	const struct hn_buffer *b = &t->buffer[stage];
	int64_t n = 1;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		n = hn_mul_sat(n, b->extent[d]);
	}
	n = hn_mul_sat(n, b->ring > 1 ? b->ring : 1);
	n = hn_mul_sat(n, hn_dtype_bytes(t->dag->op[stage]->dtype[out]));
	return ((uint64_t)n + 63) / 64 * 64;
}

static uint64_t all_bytes(const struct hn_looptree *t, uint32_t stage)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < t->dag->op[stage]->n_out; k++) {
		n += hn_place_bytes(t, stage, k);
		n = n > HN_EXTENT_MAX ? HN_EXTENT_MAX : n;
	}
	return n;
}

/* The end of the block it is put behind. */
static struct hn_placed behind(enum hn_place place, uint64_t bytes, uint64_t *end)
{
	struct hn_placed p = { place, *end };

	*end += bytes;
	return p;
}

int hn_places_find(const struct hn_looptree *t, bool prepares, struct hn_arena *a,
		   struct hn_places *ret, struct hn_err *err)
{
	uint64_t stack = 0;

	*ret = (struct hn_places){ .at = HN_NEW_ARRAY(a, struct hn_placed, t->dag->n_op) };
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		const struct hn_buffer *b = &t->buffer[i];
		uint64_t bytes;

		if (b->op < 0) {
			continue;
		}
		bytes = all_bytes(t, i);
		if (b->lifetime == HN_LIFETIME_ARG) {
			ret->at[i].place = HN_PLACE_ARG;
		} else if (t->prepared[i] && prepares) {
			ret->at[i] = behind(HN_PLACE_PREPARED, bytes, &ret->prepared_bytes);
		} else if (b->lifetime == HN_LIFETIME_KERNEL) {
			ret->at[i] = behind(HN_PLACE_SHARED, bytes, &ret->shared_bytes);
		} else if (bytes <= STACK_MAX_ONE && stack + bytes <= STACK_MAX_ALL) {
			ret->at[i].place = HN_PLACE_STACK;
			stack += bytes;
		} else {
			ret->at[i] = behind(HN_PLACE_WORKER, bytes, &ret->worker_bytes);
		}
		if (ret->shared_bytes > HN_EXTENT_MAX || ret->worker_bytes > HN_EXTENT_MAX ||
		    ret->prepared_bytes > HN_EXTENT_MAX) {
			return hn_fail(err, HONE_E_UNSUPPORTED, "%s: buffers larger than memory",
				       t->dag->op[i]->name);
		}
	}
	return 0;
}
