/* lower/device/device_roles.h -- what the parts of running roles share (device_interp_role.h).
 *
 * Each warpgroup is an actor with a place in its role, and a clock: a vector that says how far it knows
 * each of them to be.  It also knows of each mbarrier how many phases are over.
 */
#ifndef HN_LOWER_DEVICE_DEVICE_ROLES_H
#define HN_LOWER_DEVICE_DEVICE_ROLES_H

#include "lower/device/device_interp_role.h"
#include "lower/device/device_verify.h"

/* Elements that a bulk copy has filled, or will: there when phase `phase` of the mbarrier is over. */
struct filled {
	int32_t buffer;
	int64_t lo, hi, mbarrier, phase;
};

/* Elements that products of an actor have read last. */
struct was_read {
	int32_t buffer;
	int64_t lo, hi;
	int64_t actor, product; /* the last of them, counted from 1 */
	int64_t end;		/* of the actor's clock; -1: not settled */
};

struct landing {
	const struct op *o;
	int64_t at, mbarrier, bytes, from[HN_DEVICE_MAP_DIM];
};

/* Where an actor is: in child `child` of a node, in that turn. */
struct at_node {
	const struct op *o;
	int64_t child, turn;
};

struct actor {
	int64_t first, product, settled;
	int64_t clock[HN_ROLE_MOST];
	int64_t known[HN_ROLE_MBARRIERS]; /* phases that are over */
	/* of each: arrivals, the last phase that was awaited, and when; whether it ever is */
	int64_t arrived[HN_ROLE_MBARRIERS], passed[HN_ROLE_MBARRIERS],
		when[HN_ROLE_MBARRIERS];
	bool awaits[HN_ROLE_MBARRIERS];
	struct at_node stack[HN_DEVICE_MOST_DEPTH + 2];
	int64_t depth; /* 0: it has come to the end */
	bool waits;
};

struct mbarrier {
	int32_t buffer;
	/* of the phase at hand: arrivals and bytes that have not come, bytes that no bulk copy has
	 * been begun for; phases that have ended */
	int64_t at, count, missing, bytes, free, over;
	int64_t joined[HN_ROLE_MOST], given[HN_ROLE_MOST];
	int64_t joined_known[HN_ROLE_MBARRIERS], given_known[HN_ROLE_MBARRIERS];
};

struct roles {
	struct run *r;
	bool judges; /* words alone, without numbers */
	int64_t n_actor, n_mbarrier;
	struct actor *actor;	   /* [n_actor] */
	struct mbarrier *mbarrier; /* [n_mbarrier] */
	int64_t *first;		   /* [n_buffer] number of a buffer's first mbarrier; -1: none */
	uint32_t n_filled, cap_filled, n_read, cap_read, n_landing, cap_landing;
	struct filled *filled;
	struct was_read *read;
	struct landing *landing;
};

static inline const char *hn_roles_name(const struct roles *x, int32_t buffer)
{
	return x->r->d->buffer[buffer].name;
}

static inline int64_t hn_roles_value(const struct roles *x, const struct actor *a,
				     const struct hn_cell *e)
{
	return e->eval(e, x->r->frame[a->first]).i;
}

static inline int64_t hn_roles_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* device_role_phase.c: all mbarriers as the block has made them; the number of one, -1: there is none; a phase
 * ends; n arrivals of the actor; whether what it awaits is over. */
void hn_roles_begin_mbarriers(struct roles *x);
int64_t hn_roles_mbarrier(struct roles *x, int32_t buffer, int64_t at);
void hn_roles_end_phase(struct roles *x, int64_t b);
void hn_roles_arrive(struct roles *x, struct actor *a, int64_t b, int64_t n);
bool hn_roles_await(struct roles *x, struct actor *a, const struct op *o);

/* device_role_stage.c: a bulk copy begins; it lands; a product begins; products are settled. */
void hn_roles_bulk(struct roles *x, struct actor *a, const struct op *o);
void hn_roles_land(struct roles *x, struct landing l);
void hn_roles_multiply(struct roles *x, struct actor *a, const struct op *o);
void hn_roles_settle(struct roles *x, struct actor *a, const struct op *o);

#endif
