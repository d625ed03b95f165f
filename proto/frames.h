/* proto/frames.h -- each frame as a struct, with its encoder and its decoder; made of frames.def.
 *
 *	struct hn_frame_probed v = {.verdict = HN_VERDICT_OK, .memory_gb_s = 40};
 *	hn_frame_encode_probed(&v, &json);
 *	rc = hn_frame_decode_probed(&frame, &arena, &v, &err);
 *
 * A decoder believes nothing: fields of another kind, out of their range, missing, or unknown to
 * the table are refused with one line that says frame, field and reason, such as "BUILT:
 * object.bytes: -3 is less than 1".  An unknown one is refused because both sides are made of one
 * table: it can only be a mistake, and an optional field under a wrong name would be lost without
 * a word.  Memory is bounded by the rows before a byte of the text is looked at.
 *
 * What a decoder returns lives in its arena, strings and lists are never NULL, and values are
 * within the limits of their rows.  An encoder leaves out what is optional and 0, "", false or
 * NULL; it never fails, but what it writes of values outside of the limits is refused by the
 * decoder.
 */
#ifndef HN_PROTO_FRAMES_H
#define HN_PROTO_FRAMES_H

#include <float.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "base/verdict.h"
#include "proto/frame.h"
#include "proto/slot.h"

enum {
#define LIMIT(name, value, text) HN_FRAME_##name = (value),
#include "proto/frames.def"
};

#define HN_C_BOOL bool
#define HN_C_INT(low, high) int64_t
#define HN_C_NUMBER(low, high) double
#define HN_C_NAME(most) const char *
#define HN_C_LINE(most) const char *
#define HN_C_TEXT(most) const char *
#define HN_C_JSON(most) const char *
#define HN_C_HASH const char *
#define HN_C_VERDICT enum hn_verdict
#define HN_C_TYPE enum hn_dtype
#define HN_C_LIST(type)                                                                        \
	struct {                                                                               \
		uint32_t n;                                                                    \
		type *at;                                                                      \
	}
#define HN_C_INTS(low, high, most) HN_C_LIST(const int64_t)
#define HN_C_NUMBERS(low, high, most) HN_C_LIST(const double)
#define HN_C_ONE(object) const struct hn_frame_##object *
#define HN_C_MANY(object, most) HN_C_LIST(const struct hn_frame_##object)

#define FRAME(ID, name, reply, way, blob, text) struct hn_frame_##name {
#define OBJECT(name, text) struct hn_frame_##name {
#define FIELD(of, name, kind, need, text) HN_C_##kind name;
#define END(name) };
#include "proto/frames.def"

/* By type; use the ones below, which know the struct. */
void hn_frame_encode(enum hn_frame_type type, const void *v, struct hn_buf *json);
int hn_frame_decode(enum hn_frame_type type, const struct hn_frame *f, struct hn_arena *a,
		    void *ret, struct hn_err *err) HN_NODISCARD;

/* Append the JSON; or read a frame of this type: HONE_E_CORRUPT with the line, HONE_E_NOMEM. */
#define FRAME(ID, name, reply, way, blob, text)                                                \
	static inline void hn_frame_encode_##name(const struct hn_frame_##name *v,             \
						  struct hn_buf *json)                         \
	{                                                                                      \
		hn_frame_encode(HN_FRAME_##ID, v, json);                                       \
	}                                                                                      \
	HN_NODISCARD static inline int hn_frame_decode_##name(                                 \
		const struct hn_frame *f, struct hn_arena *a, struct hn_frame_##name *ret,     \
		struct hn_err *err)                                                            \
	{                                                                                      \
		return hn_frame_decode(HN_FRAME_##ID, f, a, ret, err);                         \
	}
#include "proto/frames.def"

/* A frame with this JSON and no blob yet, which is borrowed. */
static inline struct hn_frame hn_frame_of(enum hn_frame_type type, uint64_t request,
					  const struct hn_buf *json)
{
	return (struct hn_frame){ .type = (uint16_t)type,
				  .request = request,
				  .json = json->s,
				  .json_bytes = (uint32_t)json->n };
}

#endif
