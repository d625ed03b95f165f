/* proto/slot.h -- how workers put an object into shared memory and get it out again.
 *
 * honed may hand its workers one piece of shared memory (measure/depot.h) as descriptor
 * HN_SLOT_FD: builders may write to it, boards only read.  It is cut into slots of
 * HN_SLOT_BYTES; a frame then carries an object's slot, length and hash in the object's place.
 * Workers look at the descriptor only when a frame names a slot: whoever is started without
 * it, on another machine say, is sent blobs and needs none of this.
 *
 * The memory is never mapped.  A copy is taken out and the copy is held against the hash, so
 * whatever a builder does to a slot later, what is loaded is what was announced; and where no
 * mapping is, no stray pointer writes, no truncation kills, and no kernel finds anything.
 */
#ifndef HN_PROTO_SLOT_H
#define HN_PROTO_SLOT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"

#define HN_SLOT_FD 3
#define HN_SLOT_BYTES (256u << 10) /* objects are 2 to 50 KB; larger ones go by frame */

/* Put bytes[0..n) into the slot and name them.  False when they do not fit or there is no such
 * memory: the object goes by frame then. */
bool hn_slot_write(int fd, uint32_t slot, const void *bytes, size_t n,
		   char ret_hash[HN_SHA256_HEX]);

/* Copy n bytes of the slot to ret, which are those of that hash or not returned:
 * HONE_E_CORRUPT when they are others, HONE_E_INVALID when n is not 1..HN_SLOT_BYTES, HONE_E_IO
 * when there is no such memory; *ret is undefined then. */
int hn_slot_read(int fd, uint32_t slot, size_t n, const char *hash, void *ret,
		 struct hn_err *err) HN_NODISCARD;

#endif
