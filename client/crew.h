/* client/crew.h -- independent pieces of work side by side, one thread for each core: kernels of a
 * network, each made by runs of hone-build. */
#ifndef HN_CLIENT_CREW_H
#define HN_CLIENT_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define HN_CREW_MOST 64

struct hn_crew {
	uint32_t n; /* threads */
	struct hn_arena arena[HN_CREW_MOST]; /* what each thread makes lives here */
};

void hn_crew_open(struct hn_crew *c);
void hn_crew_close(struct hn_crew *c);

/* Piece i, by one thread; what it makes in a lasts until hn_crew_close.  False: no further piece is
 * begun. */
typedef bool (*hn_crew_fn)(void *ctx, uint32_t i, struct hn_arena *a);

/* Pieces 0 to n_piece - 1. */
void hn_crew_run(struct hn_crew *c, uint32_t n_piece, hn_crew_fn fn, void *ctx);

#endif
