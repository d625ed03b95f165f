/* measure/board/redzone.h -- buffers that cannot be left unnoticed: a redzone on either side.
 *
 * A buffer's pages come from a memory file and lie between two inaccessible pages.  Its
 * end touches the second of them (EXACT: any element size, what checked runs use) or the last
 * 64-byte line before it (ALIGNED: what timed runs use); the slack before and behind the
 * data holds canary bytes.  A sealed file can never be written again, by anybody,
 * mprotect or not.
 *
 * While a kernel is timed, the two pages are ordinary memory, as what lies beside a user's data
 * mostly is.  Lanes that are masked off read and write nothing, but where they are inaccessible the
 * processor takes hundreds of cycles to find that out: kernels whose last vector reaches past the
 * end of an array, as it does where channels are odd, took up to twice their time.
 */
#ifndef HN_MEASURE_BOARD_REDZONE_H
#define HN_MEASURE_BOARD_REDZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum hn_redzone_place { HN_REDZONE_EXACT, HN_REDZONE_ALIGNED };

struct hn_redzone {
	uint8_t *region; /* guard page, pages, guard page */
	size_t region_bytes;
	uint8_t *data;
	size_t bytes;
	int fd; /* -1 once sealed or when anonymous */
};

#define HN_REDZONE_CANARY 0xd5

/* Map a writable buffer of `bytes` zeros between redzones, canaries set.  HONE_E_NOMEM. */
int hn_redzone_map(size_t bytes, enum hn_redzone_place place, struct hn_redzone *ret,
		 struct hn_err *err) HN_NODISCARD;
void hn_redzone_unmap(struct hn_redzone *g); /* zeroed ones are fine */

/* Make it read-only for good. Same address. */
int hn_redzone_seal(struct hn_redzone *g, struct hn_err *err) HN_NODISCARD;

/* Give up the descriptor of one that will never be sealed; unmapped ones are fine. */
void hn_redzone_settle(struct hn_redzone *g);

/* Whether the slack is as it was made. */
bool hn_redzone_intact(const struct hn_redzone *g);

/* Make the slack as it was, after a kernel that was caught writing there. */
void hn_redzone_mend(const struct hn_redzone *g);

/* From now on what lies beside these bytes (of a hn_redzone, or others between two inaccessible
 * pages of their own) is a page of zeros, in this process; false when there is no memory. */
bool hn_redzone_open(const void *data, size_t bytes) HN_NODISCARD;

/* It is inaccessible again; false when it was written to. */
bool hn_redzone_shut(const void *data, size_t bytes) HN_NODISCARD;

/* Bring the pages into this process now, not at the first touch. */
void hn_redzone_populate(const struct hn_redzone *g, bool writing);

#endif
