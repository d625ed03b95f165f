/* frames.c -- the rows of frames.def as data. */
#include "proto/frames_row.h"

#define ROW_BOOL .kind = HN_FIELD_BOOL
#define ROW_INT(l, h) .kind = HN_FIELD_INT, .low = (l), .high = (h)
#define ROW_NUMBER(l, h) .kind = HN_FIELD_NUMBER, .low = (l), .high = (h)
#define ROW_INTS(l, h, m) .kind = HN_FIELD_INTS, .low = (l), .high = (h), .most = (m)
#define ROW_NUMBERS(l, h, m) .kind = HN_FIELD_NUMBERS, .low = (l), .high = (h), .most = (m)
#define ROW_NAME(m) .kind = HN_FIELD_NAME, .most = (m)
#define ROW_LINE(m) .kind = HN_FIELD_LINE, .most = (m)
#define ROW_TEXT(m) .kind = HN_FIELD_TEXT, .most = (m)
#define ROW_JSON(m) .kind = HN_FIELD_JSON, .most = (m)
#define ROW_HASH .kind = HN_FIELD_HASH, .most = HN_SHA256_HEX - 1
#define ROW_VERDICT .kind = HN_FIELD_VERDICT
#define ROW_TYPE .kind = HN_FIELD_TYPE
#define ROW_ONE(object) .kind = HN_FIELD_ONE, .shape = HN_SHAPE_##object
#define ROW_MANY(object, m) .kind = HN_FIELD_MANY, .shape = HN_SHAPE_##object, .most = (m)
#define MUST true
#define MAY false

const struct hn_frame_shape hn_frame_shape[HN_N_SHAPE] = {
#define FRAME(ID, name, reply_, way_, blob_, text_)                                            \
	[HN_SHAPE_##name] = { #ID, sizeof(struct hn_frame_##name), HN_FRAME_##ID,              \
			      HN_FRAME_##reply_, way_, blob_, text_ },
#define OBJECT(name_, text_)                                                                   \
	[HN_SHAPE_##name_] = { .name = #name_,                                                 \
			       .bytes = sizeof(struct hn_frame_##name_),                       \
			       .text = text_ },
#include "proto/frames.def"
};

const struct hn_frame_field hn_frame_field[] = {
#define FIELD(of_, name_, kind, need, text_)                                                   \
	{ .of = HN_SHAPE_##of_,                                                                \
	  .name = #name_,                                                                      \
	  .at = offsetof(struct hn_frame_##of_, name_),                                        \
	  .must = need,                                                                        \
	  ROW_##kind,                                                                          \
	  .text = text_ },
#include "proto/frames.def"
};
const uint32_t hn_frame_n_field = HN_COUNT_OF(hn_frame_field);

#define RULE(of, name, condition, text)                                                        \
	static bool of##_##name(const void *p)                                                 \
	{                                                                                      \
		const struct hn_frame_##of *v = p;                                             \
                                                                                               \
		return condition;                                                              \
	}
#include "proto/frames.def"

const struct hn_frame_rule hn_frame_rule[] = {
#define RULE(of, name, condition, text) { HN_SHAPE_##of, of##_##name, text },
#include "proto/frames.def"
};
const uint32_t hn_frame_n_rule = HN_COUNT_OF(hn_frame_rule);

enum hn_shape hn_frame_shape_of(enum hn_frame_type type)
{
	uint32_t s = 0;

	while (s < HN_N_SHAPE && (type == HN_FRAME_NONE || hn_frame_shape[s].type != type)) {
		s++;
	}
	return (enum hn_shape)s;
}

const char *hn_frame_name(unsigned type)
{
	enum hn_shape s = hn_frame_shape_of((enum hn_frame_type)type);

	return s < HN_N_SHAPE ? hn_frame_shape[s].name : "?";
}

enum hn_frame_type hn_frame_reply(enum hn_frame_type type)
{
	enum hn_shape s = hn_frame_shape_of(type);

	return s < HN_N_SHAPE ? hn_frame_shape[s].reply : HN_FRAME_NONE;
}

size_t hn_frame_item_bytes(const struct hn_frame_field *f)
{
	return f->kind == HN_FIELD_INTS	     ? sizeof(int64_t)
	       : f->kind == HN_FIELD_NUMBERS ? sizeof(double)
					     : hn_frame_shape[f->shape].bytes;
}
