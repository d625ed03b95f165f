/* graph/onnx/wire.h -- the wire format of protocol buffers, read where it lies.
 *
 * A message is a row of fields, each a number, a wire type and a value.  A cursor goes over the
 * bytes, copies nothing and allocates nothing; what a field means is its caller's affair.  All
 * bytes are a stranger's: a length is held against what is left, a number against 64 bits.
 *
 * Groups (wire types 3 and 4) are refused: ONNX has none, and they alone would need a stack to be
 * skipped.
 */
#ifndef HN_GRAPH_ONNX_WIRE_H
#define HN_GRAPH_ONNX_WIRE_H

#include <stdbool.h>

#include "base/err.h"

enum hn_wire_type {
	HN_WIRE_VARINT = 0,  /* 1 to 10 bytes, seven bits each, the lowest first */
	HN_WIRE_FIXED64 = 1, /* 8 bytes, little endian */
	HN_WIRE_BYTES = 2,   /* a varint of how many, then these bytes */
	HN_WIRE_FIXED32 = 5, /* 4 bytes, little endian */
};

struct hn_wire {
	const uint8_t *at, *end; /* what is still to be read */
	const uint8_t
		*base; /* the file's first byte, which offsets in messages count from */
};

struct hn_wire_field {
	uint32_t number; /* 1 to 2^29 - 1 */
	enum hn_wire_type type;
	uint64_t value; /* of a number: its bits */
	struct hn_wire
		inside; /* the value's bytes; of HN_WIRE_BYTES without the length */
	uint64_t at;	/* of its tag, from `base` */
};

/* A cursor over `n` bytes that are a whole file. */
struct hn_wire hn_wire_of(const void *bytes, size_t n);

static inline bool hn_wire_more(const struct hn_wire *w)
{
	return w->at < w->end;
}

static inline size_t hn_wire_left(const struct hn_wire *w)
{
	return (size_t)(w->end - w->at);
}

static inline uint64_t hn_wire_at(const struct hn_wire *w)
{
	return (uint64_t)(w->at - w->base);
}

/* The next field, of which there must be one (hn_wire_more); the cursor is behind it then.
 * HONE_E_INVALID with "byte N: what is wrong". */
int hn_wire_next(struct hn_wire *w, struct hn_wire_field *ret,
		 struct hn_err *err) HN_NODISCARD;

/* One number of that type (not HN_WIRE_BYTES) without a tag, as packed fields hold them. */
int hn_wire_number(struct hn_wire *w, enum hn_wire_type type, uint64_t *ret,
		   struct hn_err *err) HN_NODISCARD;

/* How many numbers of that type a field of a repeated member holds: one, or packed any number.
 * They are then read from field->inside by hn_wire_number, in both cases. */
int hn_wire_count(const struct hn_wire_field *field, enum hn_wire_type type,
		  uint64_t *ret, struct hn_err *err) HN_NODISCARD;

/* "a number", "bytes", "4 bytes", "8 bytes". */
const char *hn_wire_word(enum hn_wire_type type);

#endif
