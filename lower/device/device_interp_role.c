/* lower/device/device_interp_role.c -- roles, run one word at a time (device_role.h).
 *
 * An actor runs until it waits for an mbarrier's phase.  In which order actors run, and when bulk copies
 * land, depends on the order asked for.  What is found does not: see device_role_phase.c and
 * device_role_stage.c.
 */
#include <inttypes.h>

#include "lower/device/device_roles.h"

static void push(struct actor *a, const struct op *o)
{
	a->stack[a->depth++] = (struct at_node){ o, 0, 0 };
}

static void set_turn(struct roles *x, struct actor *a, const struct op *o, int64_t turn)
{
	int64_t n = x->judges ? 1 : HN_WARPGROUP;

	for (int64_t t = 0; t < n; t++) {
		x->r->frame[a->first + t][o->n->slot].i = turn;
	}
}

/* What threads do each for itself. */
static void run_threads(struct roles *x, const struct actor *a, const struct op *o)
{
	for (int64_t t = 0; t < HN_WARPGROUP && !x->judges; t++) {
		x->r->thread = a->first + t;
		hn_interp_thread(x->r, o, x->r->frame[x->r->thread]);
	}
}

/* A node that the actor comes to; false: it waits there. */
static bool begin_node(struct roles *x, struct actor *a, const struct op *o)
{
	int64_t b;

	x->r->fuel--;
	if (!o->steps) {
		run_threads(x, a, o);
		return true;
	}
	switch ((enum hn_device_kind)o->n->kind) {
	case HN_DEVICE_AWAIT:
		return hn_roles_await(x, a, o);
	case HN_DEVICE_ARRIVE:
	case HN_DEVICE_EXPECT:
		b = hn_roles_mbarrier(x, o->n->buffer, hn_roles_value(x, a, o->at));
		if (b >= 0 && o->n->kind == HN_DEVICE_EXPECT) {
			x->mbarrier[b].bytes += o->n->extent;
			x->mbarrier[b].free += o->n->extent;
		}
		if (b >= 0) {
			hn_roles_arrive(x, a, b, o->n->kind == HN_DEVICE_EXPECT ? 1 : HN_ROLE_WARPS);
		}
		return true;
	case HN_DEVICE_BULK:
		hn_roles_bulk(x, a, o);
		return true;
	case HN_DEVICE_WGMMA:
		hn_roles_multiply(x, a, o);
		return true;
	case HN_DEVICE_SETTLE:
		hn_roles_settle(x, a, o);
		return true;
	case HN_DEVICE_IF:
		if (hn_roles_value(x, a, o->e) != 0) {
			push(a, o);
		}
		return true;
	case HN_DEVICE_LOOP:
		set_turn(x, a, o, 0);
		push(a, o);
		return true;
	default:
		push(a, o);
		return true;
	}
}

/* One node; whether it was one. */
static bool step(struct roles *x, struct actor *a)
{
	struct at_node *at = &a->stack[a->depth - 1];
	const struct hn_device_node *n = at->o->n;

	if (at->child == n->n_child && n->kind == HN_DEVICE_LOOP && ++at->turn < n->extent) {
		set_turn(x, a, at->o, at->turn);
		at->child = 0;
	}
	if (at->child == n->n_child) {
		a->depth--;
		return true;
	}
	const struct op *o = at->o->child[at->child++];

	if (begin_node(x, a, o)) {
		return true;
	}
	at->child--;
	return false;
}

/* How many steps an actor may make before the others: all, or one. */
static bool run_actors(struct roles *x)
{
	bool any = false, all = x->r->order % 3 != 2;

	for (int64_t i = 0; i < x->n_actor; i++) {
		/* the producer is the last one */
		struct actor *a = &x->actor[x->r->order % 3 == 0 ? x->n_actor - 1 - i : i];
		bool on = a->depth > 0;

		while (on && a->depth > 0 && x->r->fault[0] == '\0' && x->r->fuel >= 0) {
			on = step(x, a);
			any = any || on;
			on = on && all;
		}
	}
	return any;
}

static void report_wait(struct roles *x)
{
	for (int64_t i = 0; i < x->n_actor && x->r->fault[0] == '\0'; i++) {
		struct actor *a = &x->actor[i];

		if (a->depth == 0) {
			continue;
		}
		const struct at_node *at = &a->stack[a->depth - 1];
		const struct op *o = at->o->child[at->child];
		const struct mbarrier *m =
			&x->mbarrier[x->first[o->n->buffer] + hn_roles_value(x, a, o->at)];

		hn_interp_fault(x->r,
				"warpgroup %" PRId64 " waits at %s[%" PRId64 "] for ever: phase %" PRId64
				" lacks %" PRId64 " arrivals and %" PRId64 " bytes",
				i, hn_roles_name(x, m->buffer), m->at, m->over, m->missing, m->bytes);
	}
}

/* All that was copied has been waited for: no copy comes when the block has ended. */
static void see_end(struct roles *x)
{
	for (uint32_t i = 0; i < x->n_filled; i++) {
		const struct filled *f = &x->filled[i];
		bool known = false;

		for (int64_t k = 0; k < x->n_actor; k++) {
			known = known || x->actor[k].known[f->mbarrier] > f->phase;
		}
		if (!known) {
			hn_interp_fault(x->r, "the block ends before a bulk copy to %s[%" PRId64
					"] has been waited for", hn_roles_name(x, f->buffer), f->lo);
		}
	}
}

static void run_all(struct roles *x)
{
	bool on = true;

	while (on && x->r->fault[0] == '\0' && x->r->fuel >= 0) {
		on = run_actors(x);
		if (x->n_landing > 0 && (!on || x->r->order % 3 == 2)) {
			hn_roles_land(x, x->landing[--x->n_landing]);
			on = true;
		}
	}
	if (x->r->fuel >= 0) {
		report_wait(x);
	}
	if (x->r->fault[0] == '\0' && x->r->fuel >= 0) {
		see_end(x);
	}
}

static void see_awaits(struct roles *x, struct actor *a, const struct hn_device_node *n)
{
	for (int64_t i = 0; n->kind == HN_DEVICE_AWAIT && i < x->r->d->buffer[n->buffer].n_elem;
	     i++) {
		a->awaits[x->first[n->buffer] + i] = true;
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see_awaits(x, a, n->child[i]);
	}
}

void hn_interp_make_roles(struct run *r)
{
	struct roles *x = HN_NEW(&r->arena, struct roles);
	struct hn_role_use use = hn_role_use_of(r->d, r->k, &r->arena);
	int64_t n = 0;

	r->roles = x;
	r->arrivals = HN_NEW_ARRAY(&r->arena, int64_t *, r->d->n_buffer + 1);
	for (uint32_t i = 0; i < r->d->n_buffer; i++) {
		int64_t n_elem = r->d->buffer[i].n_elem;

		if ((use.buffer[i] & HN_ROLE_COUNTS) != 0) {
			r->arrivals[i] = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)n_elem);
			n += n_elem;
		}
		if (r->memory != NULL) {
			r->memory[i].by_roles = (use.buffer[i] & HN_ROLE_OWNS) != 0;
		}
	}
	if (use.words) {
		x->first = HN_NEW_ARRAY(&r->arena, int64_t, r->d->n_buffer + 1);
		x->mbarrier = HN_NEW_ARRAY(&r->arena, struct mbarrier, (size_t)n + 1);
		x->actor = HN_NEW_ARRAY(&r->arena, struct actor, (size_t)(r->n_thread / HN_WARPGROUP));
	}
}

void hn_interp_roles(struct run *r, const struct op *const *role, uint32_t n_role, bool judges)
{
	struct roles *x = r->roles;

	x->r = r;
	x->judges = judges;
	x->n_actor = r->n_thread / HN_WARPGROUP;
	x->n_filled = x->n_read = x->n_landing = 0;
	hn_roles_begin_mbarriers(x);
	for (int64_t i = 0; i < x->n_actor; i++) {
		struct actor *a = &x->actor[i];

		*a = (struct actor){ .first = i * HN_WARPGROUP };
		a->clock[i] = 1;
		for (uint32_t k = 0; k < n_role; k++) {
			if (hn_roles_value(x, a, role[k]->e) != 0) {
				push(a, role[k]);
				see_awaits(x, a, role[k]->n);
			}
		}
	}
	run_all(x);
}
