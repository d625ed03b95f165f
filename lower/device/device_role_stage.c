/* lower/device/device_role_stage.c -- stages: what bulk copies fill and products of warpgroups read.
 *
 * Of each range it is remembered which phase of which mbarrier says that it is there, and when who has
 * read it.  An access whose order the actor does not know is a fault.
 */
#include <inttypes.h>
#include <string.h>

#include "lower/device/device_roles.h"

static bool meets(int32_t buffer, int64_t lo, int64_t hi, int32_t other, int64_t from, int64_t to)
{
	return buffer == other && lo < to && from < hi;
}

void hn_roles_land(struct roles *x, struct landing l)
{
	struct mbarrier *m = &x->mbarrier[l.mbarrier];

	m->bytes -= l.bytes;
	if (!x->judges) {
		hn_interp_box(x->r, l.o->n, l.at, l.from);
	}
	if (m->missing == 0 && m->bytes == 0) {
		hn_roles_end_phase(x, l.mbarrier);
	}
}

/* A bulk copy of the actor's may write there: nobody reads, and the copy before is over. */
static void see_fill(struct roles *x, const struct actor *a, struct filled f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->n_read; i++) {
		const struct was_read *r = &x->read[i];

		if (meets(r->buffer, r->lo, r->hi, f.buffer, f.lo, f.hi) &&
		    (r->end < 0 || r->end > a->clock[r->actor])) {
			hn_interp_fault(x->r,
					"%s[%" PRId64 "] is filled again, and warpgroup %" PRId64
					" may still read it",
					hn_roles_name(x, f.buffer), hn_roles_most(r->lo, f.lo), r->actor);
		}
	}
	for (uint32_t i = 0; i < x->n_filled; i++) {
		const struct filled *w = &x->filled[i];

		if (!meets(w->buffer, w->lo, w->hi, f.buffer, f.lo, f.hi)) {
			x->filled[kept++] = *w;
		} else if (a->known[w->mbarrier] <= w->phase) {
			hn_interp_fault(x->r,
					"%s[%" PRId64 "] is filled again before the bulk copy "
					"before is known to be there",
					hn_roles_name(x, f.buffer), hn_roles_most(w->lo, f.lo));
		}
	}
	x->n_filled = kept;
	x->filled = hn_arena_grow(&x->r->arena, x->filled, x->n_filled, &x->cap_filled,
				  sizeof(x->filled[0]));
	x->filled[x->n_filled++] = f;
}

void hn_roles_bulk(struct roles *x, struct actor *a, const struct op *o)
{
	const struct hn_device_bulk *k = o->n->bulk;
	const struct hn_device_map *m = &x->r->d->map[k->map];
	const struct hn_device_buffer *to = &x->r->d->buffer[o->n->buffer];
	int64_t box = hn_map_box(m), bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)to->dtype);
	struct landing l = { .o = o,
			     .at = hn_roles_value(x, a, o->at),
			     .mbarrier = hn_roles_mbarrier(x, k->mbarrier, hn_roles_value(x, a, o->mbarrier_at)),
			     .bytes = box * bytes };

	if (l.mbarrier < 0) {
		return;
	}
	struct mbarrier *b = &x->mbarrier[l.mbarrier];
	struct filled f = { o->n->buffer, l.at, l.at + box, l.mbarrier, b->over };

	if (l.at < 0 || l.at > to->n_elem - box) {
		hn_interp_fault(x->r, "a bulk copy fills %s from %" PRId64 ", which has %" PRId64
				" elements", to->name, l.at, to->n_elem);
		return;
	}
	if (a->arrived[l.mbarrier] - 1 != b->over) {
		hn_interp_fault(x->r, "bytes come to %s[%" PRId64
				"] that are not expected, or for a phase that is over",
				hn_roles_name(x, b->buffer), b->at);
		return;
	}
	b->free -= l.bytes;
	if (b->free < 0) {
		hn_interp_fault(x->r, "bulk copies bring %s[%" PRId64 "] %" PRId64
				" bytes more than are expected in phase %" PRId64,
				hn_roles_name(x, b->buffer), b->at, -b->free, b->over);
		return;
	}
	see_fill(x, a, f);
	for (uint32_t i = 0; i < m->n_dim && !x->judges; i++) {
		l.from[i] = hn_roles_value(x, a, o->from[i]);
	}
	if (!x->judges) {
		hn_interp_box_flies(x->r, o->n, l.at);
	}
	if (x->r->order % 2 == 0) {
		hn_roles_land(x, l);
		return;
	}
	x->landing = hn_arena_grow(&x->r->arena, x->landing, x->n_landing, &x->cap_landing,
				   sizeof(x->landing[0]));
	x->landing[x->n_landing++] = l;
}

/* The product of an actor reads a run of a stage: it is there, all of it. */
static void see_run(struct roles *x, struct actor *a, int32_t buffer, int64_t lo, int64_t hi,
		    bool open)
{
	int64_t covered = 0, me = a - x->actor;
	uint32_t i = 0;

	for (uint32_t k = 0; k < x->n_filled; k++) {
		const struct filled *w = &x->filled[k];

		if (!meets(w->buffer, w->lo, w->hi, buffer, lo, hi)) {
			continue;
		}
		if (a->known[w->mbarrier] <= w->phase) {
			hn_interp_fault(x->r,
					"warpgroup %" PRId64 " reads %s[%" PRId64
					"] before it knows that the bulk copy to it is there",
					me, hn_roles_name(x, buffer), hn_roles_most(lo, w->lo));
			return;
		}
		covered += (hi < w->hi ? hi : w->hi) - hn_roles_most(lo, w->lo);
	}
	if (covered < hi - lo) {
		hn_interp_fault(x->r, "warpgroup %" PRId64 " reads %s[%" PRId64 "] to %s[%" PRId64
				"], which no bulk copy has filled",
				me, hn_roles_name(x, buffer), lo, hn_roles_name(x, buffer), hi - 1);
		return;
	}
	while (i < x->n_read &&
	       (x->read[i].buffer != buffer || x->read[i].lo != lo || x->read[i].hi != hi ||
		x->read[i].actor != me)) {
		i++;
	}
	if (i == x->n_read) {
		x->read = hn_arena_grow(&x->r->arena, x->read, x->n_read, &x->cap_read,
					sizeof(x->read[0]));
		x->n_read++;
	}
	x->read[i] = (struct was_read){ buffer, lo, hi, me, a->product,
					open ? -1 : a->clock[me] };
}

void hn_roles_multiply(struct roles *x, struct actor *a, const struct op *o)
{
	const struct hn_device_warp *w = o->n->warp;
	int64_t bytes = (int64_t)hn_dtype_bytes(w->intrin->left), count;

	a->product++;
	for (int i = 0; i < 2 && x->r->fault[0] == '\0'; i++) {
		int64_t run = hn_wgmma_run(w, i, &count) / bytes;
		int64_t at = hn_roles_value(x, a, o->warp_at[i]);

		for (int64_t k = 0; k < count && x->r->fault[0] == '\0'; k++) {
			see_run(x, a, w->from[i], at, at + run, w->open);
			at += w->lies[i].next / bytes;
		}
	}
	if (!x->judges && x->r->fault[0] == '\0') {
		x->r->in_product = true;
		hn_interp_wgmma(x->r, o, a->first);
		x->r->in_product = false;
	}
}

void hn_roles_settle(struct roles *x, struct actor *a, const struct op *o)
{
	int64_t me = a - x->actor;

	a->settled = a->product - o->n->extent;
	for (uint32_t i = 0; i < x->n_read; i++) {
		struct was_read *r = &x->read[i];

		if (r->actor == me && r->end < 0 && r->product <= a->settled) {
			r->end = a->clock[me];
		}
	}
	if (!x->judges) {
		hn_interp_settle(x->r, o, a->first);
	}
}

