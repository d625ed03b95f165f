/* device_banks.c -- see device_banks.h.
 *
 * Indices are computed for each thread of each warp, in as many iterations of the loops around as
 * MOST_TURNS allows, from the first on.
 */
#include "lower/device/device_banks.h"

#include <string.h>

#include "base/arith.h"
#include "lower/device/device_verify_int.h"
#include "lower/interp/interp_priv.h"

#define WARP 32
#define BANKS 32
#define WORD 4 /* bytes of a bank at a time */
#define MOST_TURNS 4096
#define MOST_SLOTS 32

struct banks {
	struct verify v;
	struct hn_compile compile;
	union hn_value *frame;
	int64_t unit; /* bytes of an element, at least a word's */
	int64_t sum, n_turn;
	struct hn_device_banks *ret;
};

static void see_unknown(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |=
		e->op == HN_EXPR_LOAD || e->op == HN_EXPR_LET || e->op == HN_EXPR_CALL;
}

static bool is_known(const struct banks *b, const struct access *a,
		     const struct hn_expr *e)
{
	bool unknown = false;

	hn_expr_visit(e, see_unknown, &unknown);
	for (uint32_t s = 0; s < b->v.k->n_slot && !unknown; s++) {
		unknown = a->first_dim[s] < 0 && hn_expr_uses(e, (int32_t)s);
	}
	return !unknown;
}

/* What of a warp's accesses is served at once: words of one bank that are not the same. */
static int64_t turns(const int64_t *at, uint32_t n, int64_t unit)
{
	int64_t n_bank = BANKS * WORD / unit, most = 0;
	int64_t seen[WARP], load[BANKS] = { 0 };
	uint32_t n_seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < n_seen && seen[k] != at[i]) {
			k++;
		}
		if (k == n_seen) {
			int64_t *of = &load[hn_floormod(at[i], n_bank)];

			seen[n_seen++] = at[i];
			most = ++*of > most ? *of : most;
		}
	}
	return most;
}

/* The accesses of threads first, first + 1, ... that are made at once. */
static void count_threads(struct banks *b, const struct hn_cell *index,
			  const struct hn_cell *const *cond, const bool *positive,
			  uint32_t n_cond, int64_t first, int64_t n_thread, int64_t bytes)
{
	const int64_t *block = b->v.k->block;
	int64_t at[WARP];
	uint32_t n = 0;

	for (int64_t t = first;
	     t < first + n_thread && t < block[0] * block[1] * block[2]; t++) {
		bool holds = true;

		b->frame[HN_DEVICE_THREAD].i = t % block[0];
		b->frame[HN_DEVICE_THREAD + 1].i = t / block[0] % block[1];
		b->frame[HN_DEVICE_THREAD + 2].i = t / block[0] / block[1];
		for (uint32_t i = 0; i < n_cond && holds; i++) {
			holds = (cond[i]->eval(cond[i], b->frame).i != 0) == positive[i];
		}
		if (holds) {
			at[n++] = index->eval(index, b->frame).i * bytes / b->unit;
		}
	}
	if (n > 0) {
		int64_t ways = turns(at, n, b->unit);

		b->ret->ways = ways > b->ret->ways ? ways : b->ret->ways;
		b->sum += ways;
		b->n_turn++;
	}
}

/* The next iteration of the loops around; false: that was the last. */
static bool advance(const struct banks *b, const struct path *p)
{
	for (; p != NULL; p = p->up) {
		if (p->n->kind == HN_DEVICE_LOOP) {
			if (++b->frame[p->n->slot].i < p->n->extent) {
				return true;
			}
			b->frame[p->n->slot].i = 0;
		}
	}
	return false;
}

static void count_access(struct banks *b, const struct access *a, int64_t bytes)
{
	const struct hn_cell *cond[MOST_SLOTS], *index;
	const int64_t *block = b->v.k->block;
	int64_t at_once = BANKS * WORD / b->unit;
	bool positive[MOST_SLOTS];
	uint32_t n_cond = 0;

	if (a->copy != NULL || !is_known(b, a, a->at)) {
		return;
	}
	for (const struct holds *h = a->holds; h != NULL; h = h->up) {
		if (n_cond < MOST_SLOTS && is_known(b, a, h->e)) {
			positive[n_cond] = h->positive;
			cond[n_cond++] = hn_interp_compile_index(&b->compile, h->e);
		}
	}
	index = hn_interp_compile_index(&b->compile, a->at);
	memset(b->frame, 0, b->v.k->n_slot * sizeof(b->frame[0]));
	b->ret->n_access++;
	for (int turn = 0; turn == 0 || (turn < MOST_TURNS && advance(b, a->path));
	     turn++) {
		for (int64_t t = 0; t < block[0] * block[1] * block[2]; t += at_once) {
			count_threads(b, index, cond, positive, n_cond, t, at_once,
				      bytes);
		}
	}
}

void hn_device_count_banks(const struct hn_device *d, int32_t buffer,
			   struct hn_device_banks *ret)
{
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)d->buffer[buffer].dtype);
	struct banks b = { .v = { .d = d },
			   .unit = bytes > WORD ? bytes : WORD,
			   .ret = ret };

	*ret = (struct hn_device_banks){ 0 };
	hn_arena_init(&b.v.arena, 0);
	for (uint32_t k = 0; k < d->n_kernel; k++) {
		hn_verify_see(&b.v, &d->kernel[k]);
		b.compile = (struct hn_compile){ .n_axis = b.v.k->n_slot,
						 .n_frame = b.v.k->n_slot,
						 .a = &b.v.arena };
		b.frame = HN_NEW_ARRAY(&b.v.arena, union hn_value, b.v.k->n_slot + 1) + 1;
		for (uint32_t i = 0; i < b.v.n_access; i++) {
			if (b.v.access[i].buffer == buffer) {
				count_access(&b, &b.v.access[i], bytes);
			}
		}
		hn_verify_forget(&b.v);
	}
	ret->mean = b.n_turn > 0 ? (double)b.sum / (double)b.n_turn : 0;
	hn_arena_fini(&b.v.arena);
}
