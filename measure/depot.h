/* measure/depot.h -- the shared memory that objects take from builders to boards, by slots.
 *
 * honed makes it, decides who uses which slot, and never looks inside (proto/slot.h does, in
 * the workers).  A slot is taken before a build is asked for and belongs to the builder until
 * it has answered, then to whatever keeps the artefact; it is free when the last one lets go.
 *
 * The memory is a memfd whose size is sealed, so a builder cannot make it grow.  Builders get a
 * descriptor that reads and writes, boards one that only reads.  Pages are taken when they are
 * first written, and the slot freed last is the next one taken: in use is about what is kept.
 *
 * Slots have no generation: an answer names no slot (its request does), and a board trusts the
 * hash.  One thread; no call fails but by saying so.
 */
#ifndef HN_MEASURE_DEPOT_H
#define HN_MEASURE_DEPOT_H

#include "base/cdefs.h"

#define HN_DEPOT_SLOTS 1024 /* 256 MiB at most; a final's candidates are 64 */

struct hn_depot {
	int builders_fd, boards_fd; /* -1: there is none, and no slot is ever free */
	uint32_t n_free;
	uint32_t free[HN_DEPOT_SLOTS]; /* a stack */
	uint32_t n_holder[HN_DEPOT_SLOTS];
};

/* Where the machine has no memfd the depot has no slots. */
void hn_depot_init(struct hn_depot *d);
void hn_depot_fini(struct hn_depot *d);

/* A slot with one holder, 1..HN_DEPOT_SLOTS-1; 0 = none is free. */
uint32_t hn_depot_take(struct hn_depot *d);

/* One more holder; one less.  Of slot 0 nothing happens. */
void hn_depot_hold(struct hn_depot *d, uint32_t slot);
void hn_depot_let_go(struct hn_depot *d, uint32_t slot);

#endif
