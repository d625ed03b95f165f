/* proto/frame.h -- the bytes between honed and its workers (hone-build, hone-board).
 *
 * Little-endian header, then a JSON object, then a raw blob (an object file, say):
 *
 *     OFFSET SIZE
 *          0    4  length of all that follows the header: json_bytes + blob_bytes
 *          4    2  type (enum hn_frame_type)
 *          6    2  protocol version, HN_FRAME_VERSION
 *          8    8  request number: a reply carries its request's
 *         16    4  json_bytes
 *
 * Everything from a worker is hostile: lengths are checked before memory is taken.  What is in
 * the JSON is read and written by proto/frames.h.
 */
#ifndef HN_PROTO_FRAME_H
#define HN_PROTO_FRAME_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define HN_FRAME_VERSION 3
#define HN_FRAME_HEADER_BYTES 20
#define HN_FRAME_MAX_JSON (16u << 20)
#define HN_FRAME_MAX_BLOB (256u << 20)

/* What they say, and what each carries: frames.def. */
enum hn_frame_type {
	HN_FRAME_NONE, /* no frame */
#define FRAME(ID, name, reply, way, blob, text) HN_FRAME_##ID,
#include "proto/frames.def"
	HN_N_FRAME
};

/* "BUILT", ...; "?" for a number that is none. */
const char *hn_frame_name(unsigned type);

/* The type that answers it, or HN_FRAME_NONE. */
enum hn_frame_type hn_frame_reply(enum hn_frame_type type);

struct hn_frame {
	uint16_t type;
	uint64_t request;
	const char *json; /* json_bytes, NUL-terminated by the reader */
	uint32_t json_bytes;
	const void *blob;
	uint32_t blob_bytes;
};

/* Append the frame's bytes. */
void hn_frame_write(const struct hn_frame *f, struct hn_buf *buf);

/* Take one frame from the front of bytes[0..n).  Returns bytes consumed (> 0) with *ret
 * pointing into `bytes` (which must stay, and whose json is NUL-terminated only if copied:
 * use json_bytes), 0 when more are needed (*need = total bytes of the frame when the header
 * is there, else HN_FRAME_HEADER_BYTES), or -HONE_E_CORRUPT. */
int64_t hn_frame_read(const void *bytes, size_t n, struct hn_frame *ret, size_t *need,
		      struct hn_err *err);

/* Blocking, for workers: a whole frame from/to a descriptor, EINTR and short transfers
 * handled. hn_frame_recv's frame points into buf. Returns 1 at a clean end of file, else 0 or
 * -HONE_E_IO, -HONE_E_CORRUPT. */
int hn_frame_send(int fd, const struct hn_frame *f, struct hn_err *err) HN_NODISCARD;
int hn_frame_recv(int fd, struct hn_buf *buf, struct hn_frame *ret, struct hn_err *err)
	HN_NODISCARD;

#endif
