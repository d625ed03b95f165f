/* daemon/ring.h -- the latest events of a job, numbered, so that a client can resume. */
#ifndef HN_DAEMON_RING_H
#define HN_DAEMON_RING_H

#include "proto/msg.h"

struct hn_ring_event {
	enum hn_event type;
	char *data; /* JSON object; heap */
};

struct hn_ring {
	uint64_t next_seq; /* of the event to come; the first is 1 */
	uint32_t cap;
	struct hn_ring_event *slot; /* [cap], by seq modulo cap */
};

void hn_ring_init(struct hn_ring *r, uint32_t cap);
void hn_ring_fini(struct hn_ring *r);

/* Keep an event; the oldest goes when it is full. Returns its number. */
uint64_t hn_ring_add(struct hn_ring *r, enum hn_event type, const char *data);

/* Keep n at most from now on, the latest: for a job that has ended. n > 0. */
void hn_ring_trim(struct hn_ring *r, uint32_t n);

/* Number of the oldest event kept; next_seq when there is none. */
uint64_t hn_ring_first(const struct hn_ring *r);

/* The event of that number; NULL when it is not kept. */
const struct hn_ring_event *hn_ring_at(const struct hn_ring *r, uint64_t seq);

#endif
