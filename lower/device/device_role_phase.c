/* lower/device/device_role_phase.c -- phases of mbarriers, and who knows that they are over.
 *
 * A phase that ends hands on what all who arrived knew; who has awaited it knows that.  Which phase an
 * arrival or a wait is of must be known, not luck: else it is a fault, whatever came first here.
 */
#include <inttypes.h>
#include <string.h>

#include "lower/device/device_roles.h"

/* The mbarrier's number; -1: there is none. */
int64_t hn_roles_mbarrier(struct roles *x, int32_t buffer, int64_t at)
{
	int64_t n = x->r->d->buffer[buffer].n_elem;

	if (at < 0 || at >= n || x->mbarrier[x->first[buffer] + at].count == 0) {
		hn_interp_fault(x->r, "%s[%" PRId64 "] is no mbarrier that was made",
				hn_roles_name(x, buffer), at);
		return -1;
	}
	return x->first[buffer] + at;
}

void hn_roles_end_phase(struct roles *x, int64_t b)
{
	struct mbarrier *m = &x->mbarrier[b];

	for (int64_t i = 0; i < x->n_actor; i++) {
		const struct actor *a = &x->actor[i];

		if (a->awaits[b] && (a->passed[b] < m->over || m->joined[i] < a->when[b])) {
			hn_interp_fault(x->r,
					"phase %" PRId64 " of %s[%" PRId64
					"] may end before warpgroup %" PRId64
					" has seen the end of the one before",
					m->over, hn_roles_name(x, m->buffer), m->at, i);
		}
	}
	m->over++;
	m->missing = m->count;
	memcpy(m->given, m->joined, sizeof(m->given));
	memcpy(m->given_known, m->joined_known, sizeof(m->given_known));
	m->given_known[b] = m->over;
}

void hn_roles_arrive(struct roles *x, struct actor *a, int64_t b, int64_t n)
{
	struct mbarrier *m = &x->mbarrier[b];
	int64_t me = a - x->actor;

	if (a->known[b] != a->arrived[b] || m->over != a->arrived[b]) {
		hn_interp_fault(x->r,
				"warpgroup %" PRId64 " arrives at %s[%" PRId64
				"] before it knows that phase %" PRId64 " is over",
				me, hn_roles_name(x, m->buffer), m->at, a->arrived[b] - 1);
		return;
	}
	m->missing -= n;
	if (m->missing < 0) {
		hn_interp_fault(x->r, "%s[%" PRId64 "] has more arrivals in phase %" PRId64
				" than its count of %" PRId64,
				hn_roles_name(x, m->buffer), m->at, m->over, m->count);
		return;
	}
	a->arrived[b]++;
	for (int64_t i = 0; i < x->n_actor; i++) {
		m->joined[i] = hn_roles_most(m->joined[i], a->clock[i]);
	}
	for (int64_t i = 0; i < x->n_mbarrier; i++) {
		m->joined_known[i] = hn_roles_most(m->joined_known[i], a->known[i]);
	}
	a->clock[me]++;
	if (m->missing == 0 && m->bytes == 0) {
		hn_roles_end_phase(x, b);
	}
}

/* Whether the actor goes on. */
bool hn_roles_await(struct roles *x, struct actor *a, const struct op *o)
{
	int64_t b = hn_roles_mbarrier(x, o->n->buffer, hn_roles_value(x, a, o->at));
	int64_t parity = hn_roles_value(x, a, o->e), me = a - x->actor;

	if (b < 0) {
		return false;
	}
	struct mbarrier *m = &x->mbarrier[b];

	if (parity != 0 && parity != 1) {
		hn_interp_fault(x->r, "the parity of %s[%" PRId64 "] is %" PRId64,
				hn_roles_name(x, m->buffer), m->at, parity);
		return false;
	}
	/* phases that have to be over, the fewest from what it knows on */
	int64_t want = a->known[b] + ((a->known[b] & 1) == parity);

	if (m->over < want) {
		return false;
	}
	if (m->over > want) {
		hn_interp_fault(x->r,
				"warpgroup %" PRId64 " waits at %s[%" PRId64 "] for parity %" PRId64
				", and %" PRId64 " phases may be over, or %" PRId64,
				me, hn_roles_name(x, m->buffer), m->at, parity, want, m->over);
		return false;
	}
	a->passed[b] = want;
	if (want > a->known[b]) {
		for (int64_t i = 0; i < x->n_actor; i++) {
			a->clock[i] = hn_roles_most(a->clock[i], m->given[i]);
		}
		for (int64_t i = 0; i < x->n_mbarrier; i++) {
			a->known[i] = hn_roles_most(a->known[i], m->given_known[i]);
		}
	}
	a->when[b] = ++a->clock[me];
	return true;
}

void hn_roles_begin_mbarriers(struct roles *x)
{
	struct run *r = x->r;

	x->n_mbarrier = 0;
	for (uint32_t i = 0; i < r->d->n_buffer; i++) {
		const struct hn_device_buffer *b = &r->d->buffer[i];

		x->first[i] = x->n_mbarrier;
		if (r->arrivals[i] == NULL) {
			continue;
		}
		for (int64_t k = 0; k < b->n_elem; k++) {
			int64_t count = r->arrivals[i][k];

			x->mbarrier[x->n_mbarrier++] = (struct mbarrier){
				.buffer = (int32_t)i, .at = k, .count = count, .missing = count
			};
		}
	}
}

void hn_interp_mbarrier(struct run *r, const struct op *o, union hn_value *frame)
{
	int64_t at = o->at->eval(o->at, frame).i, n = r->d->buffer[o->n->buffer].n_elem;

	if (r->thread != 0) {
		return; /* one of them makes it */
	}
	if (at < 0 || at >= n || r->arrivals[o->n->buffer][at] != 0) {
		hn_interp_fault(r, "%s[%" PRId64 "] is made an mbarrier twice, or there is none",
				r->d->buffer[o->n->buffer].name, at);
		return;
	}
	r->arrivals[o->n->buffer][at] = o->n->extent;
}

void hn_interp_forget_mbarriers(struct run *r)
{
	for (uint32_t i = 0; i < r->d->n_buffer; i++) {
		if (r->arrivals[i] != NULL) {
			memset(r->arrivals[i], 0,
			       (size_t)r->d->buffer[i].n_elem * sizeof(r->arrivals[i][0]));
		}
	}
}
