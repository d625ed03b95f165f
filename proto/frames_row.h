/* proto/frames_row.h -- the rows of frames.def as data: for the encoder and the decoder, and for
 * the tests that hold the document and any decoded frame to them. */
#ifndef HN_PROTO_FRAMES_ROW_H
#define HN_PROTO_FRAMES_ROW_H

#include "proto/frames.h"

/* A frame, or an object inside of some. */
enum hn_shape {
#define FRAME(ID, name, reply, way, blob, text) HN_SHAPE_##name,
#define OBJECT(name, text) HN_SHAPE_##name,
#include "proto/frames.def"
	HN_N_SHAPE
};

enum hn_field_kind {
	HN_FIELD_BOOL,
	HN_FIELD_INT,
	HN_FIELD_NUMBER,
	HN_FIELD_NAME,
	HN_FIELD_LINE,
	HN_FIELD_TEXT,
	HN_FIELD_JSON,
	HN_FIELD_HASH,
	HN_FIELD_VERDICT,
	HN_FIELD_TYPE,
	HN_FIELD_INTS,
	HN_FIELD_NUMBERS,
	HN_FIELD_ONE,
	HN_FIELD_MANY,
};

struct hn_frame_field {
	enum hn_shape of;
	const char *name;
	size_t at;   /* in the struct */
	bool must;
	enum hn_field_kind kind;
	long double low, high; /* of a number or of each in a list; holds any int64_t and double */
	uint32_t most;	       /* bytes of a text, items of a list */
	enum hn_shape shape;   /* ONE, MANY: of what */
	const char *text;
};

struct hn_frame_rule {
	enum hn_shape of;
	bool (*holds)(const void *v);
	const char *text;
};

struct hn_frame_shape {
	const char *name; /* "BUILT", "object" */
	size_t bytes;	  /* of the struct */
	enum hn_frame_type type, reply; /* NONE: an object; a frame that is not answered */
	const char *way, *blob;		/* NULL: an object */
	const char *text;
};

/* Any list of the structs, as memory. */
struct hn_frame_list {
	uint32_t n;
	const void *at;
};

extern const struct hn_frame_shape hn_frame_shape[HN_N_SHAPE];
extern const struct hn_frame_field hn_frame_field[];
extern const uint32_t hn_frame_n_field;
extern const struct hn_frame_rule hn_frame_rule[];
extern const uint32_t hn_frame_n_rule;

/* The frame of that type; HN_N_SHAPE: there is none. */
enum hn_shape hn_frame_shape_of(enum hn_frame_type type);

/* Bytes of one item of a list. */
size_t hn_frame_item_bytes(const struct hn_frame_field *f);

#endif
