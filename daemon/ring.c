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
	uint64_t first = r->next_seq > r->cap ? r->next_seq - r->cap : 1;

	return first > r->floor ? first : r->floor;
}

void hn_ring_trim(struct hn_ring *r, uint32_t n)
{
	uint64_t seq = hn_ring_first(r);

	for (; seq + n < r->next_seq; seq++) {
		struct hn_ring_event *e = &r->slot[seq % r->cap];

		free(e->data);
		e->data = NULL;
	}
	r->floor = seq;
}

const struct hn_ring_event *hn_ring_at(const struct hn_ring *r, uint64_t seq)
{
	if (seq < hn_ring_first(r) || seq >= r->next_seq) {
		return NULL;
	}
	return &r->slot[seq % r->cap];
}
