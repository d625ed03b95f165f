/* lower/places.h -- in which memory each buffer of a tree lies, in machine code and in C alike: so
 * one header says for both how much workspace a call wants (include/hone/kernel.h).
 */
#ifndef HN_LOWER_PLACES_H
#define HN_LOWER_PLACES_H

#include "loopstate/nest/looptree.h"

enum hn_place {
	HN_PLACE_NONE,	   /* the stage has no buffer */
	HN_PLACE_ARG,	   /* an argument of the kernel */
	HN_PLACE_SHARED,   /* in the workspace, once for a call */
	HN_PLACE_PREPARED, /* in the prepared block */
	HN_PLACE_STACK,
	HN_PLACE_WORKER /* in each worker's part of the workspace */
};

struct hn_placed {
	uint8_t place;	 /* enum hn_place */
	uint64_t offset; /* SHARED, PREPARED, WORKER: in that block, of the stage's first output; the
			  * others follow */
};

struct hn_places {
	struct hn_placed *at; /* [n_op] */
	uint64_t shared_bytes, worker_bytes, prepared_bytes;
};

/* Bytes of the buffer of one output, a multiple of 64. */
uint64_t hn_place_bytes(const struct hn_looptree *t, uint32_t stage, uint32_t out);

/* prepares: what constant inputs alone decide goes to the prepared block.  HONE_E_UNSUPPORTED where
 * buffers are larger than any memory. */
int hn_places_find(const struct hn_looptree *t, bool prepares, struct hn_arena *a,
		   struct hn_places *ret, struct hn_err *err) HN_NODISCARD;

#endif
