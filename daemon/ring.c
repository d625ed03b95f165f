/* daemon/ring.c -- events by number. */
#include "daemon/ring.h"

#include <stdlib.h>
#include <string.h>

void hn_ring_init(struct hn_ring *r, uint32_t cap)
{
	*r = (struct hn_ring){ .next_seq = 1, .cap = cap };
	r->slot = calloc(cap, sizeof(*r->slot));
	hn_assert(r->slot != NULL);
}

void hn_ring_fini(struct hn_ring *r)
{
	for (uint32_t i = 0; i < r->cap; i++) {
		free(r->slot[i].data);
	}
	free(r->slot);
	*r = (struct hn_ring){ .next_seq = r->next_seq };
}

uint64_t hn_ring_add(struct hn_ring *r, enum hn_event type, const char *data)
{
	struct hn_ring_event *e = &r->slot[r->next_seq % r->cap];

	free(e->data);
	e->type = type;
	e->data = strdup(data);
	hn_assert(e->data != NULL);
	return r->next_seq++;
}

uint64_t hn_ring_first(const struct hn_ring *r)
{
	return r->next_seq > r->cap ? r->next_seq - r->cap : 1;
}

void hn_ring_trim(struct hn_ring *r, uint32_t n)
{
	uint64_t kept = r->next_seq > n ? r->next_seq - n : 1;
	struct hn_ring_event *slot;

	if (n >= r->cap) {
		return;
	}
	slot = calloc(n, sizeof(*slot));
	hn_assert(slot != NULL);
	for (uint64_t seq = hn_ring_first(r); seq < r->next_seq; seq++) {
		struct hn_ring_event *e = &r->slot[seq % r->cap];

		if (seq < kept) {
			free(e->data);
		} else {
			slot[seq % n] = *e;
		}
	}
	free(r->slot);
	r->slot = slot;
	r->cap = n;
}

const struct hn_ring_event *hn_ring_at(const struct hn_ring *r, uint64_t seq)
{
	if (seq < hn_ring_first(r) || seq >= r->next_seq) {
		return NULL;
	}
	return &r->slot[seq % r->cap];
}
