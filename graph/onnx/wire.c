/* graph/onnx/wire.c -- see wire.h. */
#include "graph/onnx/wire.h"

#define VARINT_MAX_BYTES 10
#define SHORT_MAX_BYTES                                                                  \
	5 /* of a tag or a length: more is read by some and refused by others */
#define LAST_VARINT_BYTE 1 /* most that the tenth byte may hold: bit 63 */

struct hn_wire hn_wire_of(const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	return (struct hn_wire){ .at = at, .end = n > 0 ? at + n : at, .base = at };
}

const char *hn_wire_word(enum hn_wire_type type)
{
	switch (type) {
	case HN_WIRE_VARINT:
		return "a number";
	case HN_WIRE_FIXED64:
		return "8 bytes";
	case HN_WIRE_FIXED32:
		return "4 bytes";
	case HN_WIRE_BYTES:
		break;
	}
	return "bytes with their length";
}

static int cut_short(uint64_t at, struct hn_err *err)
{
	return hn_fail(
		err, HONE_E_INVALID,
		"byte %llu: the data ends inside a number: the file is cut short or no "
		"ONNX model",
		(unsigned long long)at);
}

static int read_varint(struct hn_wire *w, uint64_t *ret, struct hn_err *err)
{
	uint64_t at = hn_wire_at(w), v = 0;

	for (unsigned i = 0; i < VARINT_MAX_BYTES && hn_wire_more(w); i++) {
		uint8_t byte = *w->at++;

		if (i == VARINT_MAX_BYTES - 1 && byte > LAST_VARINT_BYTE) {
			return hn_fail(
				err, HONE_E_INVALID,
				"byte %llu: a number of more than 64 bits: the file is "
				"damaged or no ONNX model",
				(unsigned long long)at);
		}
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*ret = v;
			return 0;
		}
	}
	return cut_short(at, err);
}

/* A tag or a length. */
static int read_short(struct hn_wire *w, uint64_t *ret, struct hn_err *err)
{
	const uint8_t *begin = w->at;
	uint64_t at = hn_wire_at(w);
	int rc = read_varint(w, ret, err);

	if (rc == 0 && w->at - begin > SHORT_MAX_BYTES) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "byte %llu: a tag or length of more than %d bytes: the file "
			     "is damaged "
			     "or no ONNX model",
			     (unsigned long long)at, SHORT_MAX_BYTES);
	}
	return rc;
}

static int read_fixed(struct hn_wire *w, size_t n, uint64_t *ret, struct hn_err *err)
{
	uint64_t v = 0;

	if (hn_wire_left(w) < n) {
		return cut_short(hn_wire_at(w), err);
	}
	for (size_t i = 0; i < n; i++) {
		v |= (uint64_t)w->at[i] << (8 * i);
	}
	w->at += n;
	*ret = v;
	return 0;
}

static size_t fixed_bytes(enum hn_wire_type type)
{
	return type == HN_WIRE_FIXED64 ? 8 : 4;
}

int hn_wire_number(struct hn_wire *w, enum hn_wire_type type, uint64_t *ret,
		   struct hn_err *err)
{
	return type == HN_WIRE_VARINT ? read_varint(w, ret, err)
				      : read_fixed(w, fixed_bytes(type), ret, err);
}

/* The field's number and type. */
static int read_tag(struct hn_wire *w, struct hn_wire_field *f, struct hn_err *err)
{
	uint64_t tag = 0;
	int rc = read_short(w, &tag, err);
	unsigned type = tag & 7;

	if (rc != 0) {
		return rc;
	}
	if (type == 3 || type == 4) {
		return hn_fail(err, HONE_E_INVALID,
			       "byte %llu: a group (wire type %u), which ONNX has none "
			       "of: the file "
			       "is damaged or no ONNX model",
			       (unsigned long long)f->at, type);
	}
	if (tag >> 3 == 0 || tag > UINT32_MAX || type > HN_WIRE_FIXED32) {
		return hn_fail(err, HONE_E_INVALID,
			       "byte %llu: no field begins here (number %llu, wire type "
			       "%u): the "
			       "file is damaged or no ONNX model",
			       (unsigned long long)f->at, (unsigned long long)(tag >> 3),
			       type);
	}
	f->number = (uint32_t)(tag >> 3);
	f->type = (enum hn_wire_type)type;
	return 0;
}

static int read_bytes(struct hn_wire *w, struct hn_wire_field *f, struct hn_err *err)
{
	uint64_t n = 0;
	int rc = read_short(w, &n, err);

	if (rc != 0) {
		return rc;
	}
	if (n > hn_wire_left(w)) {
		return hn_fail(err, HONE_E_INVALID,
			       "byte %llu: field %u of %llu bytes where %zu are left: "
			       "the file is "
			       "cut short or damaged",
			       (unsigned long long)f->at, f->number,
			       (unsigned long long)n, hn_wire_left(w));
	}
	f->inside = (struct hn_wire){ w->at, w->at + n, w->base };
	w->at += n;
	return 0;
}

int hn_wire_next(struct hn_wire *w, struct hn_wire_field *ret, struct hn_err *err)
{
	struct hn_wire_field f = { .at = hn_wire_at(w) };
	int rc = read_tag(w, &f, err);

	if (rc == 0 && f.type == HN_WIRE_BYTES) {
		rc = read_bytes(w, &f, err);
	} else if (rc == 0) {
		f.inside = (struct hn_wire){ w->at, w->at, w->base };
		rc = hn_wire_number(w, f.type, &f.value, err);
		f.inside.end = w->at;
	}
	if (rc == 0) {
		*ret = f;
	}
	return rc;
}

/* Every number of seven-bit pieces ends with a byte below 0x80. */
static int count_varints(const struct hn_wire *w, uint64_t *ret, struct hn_err *err)
{
	uint64_t n = 0;

	for (const uint8_t *p = w->at; p < w->end; p++) {
		n += *p < 0x80;
	}
	if (hn_wire_more(w) && w->end[-1] >= 0x80) {
		return cut_short((uint64_t)(w->end - 1 - w->base), err);
	}
	*ret = n;
	return 0;
}

int hn_wire_count(const struct hn_wire_field *field, enum hn_wire_type type,
		  uint64_t *ret, struct hn_err *err)
{
	size_t n = hn_wire_left(&field->inside);

	if (field->type != type && field->type != HN_WIRE_BYTES) {
		return hn_fail(err, HONE_E_INVALID, "byte %llu: %s where %s is wanted",
			       (unsigned long long)field->at, hn_wire_word(field->type),
			       hn_wire_word(type));
	}
	if (type == HN_WIRE_VARINT) {
		return count_varints(&field->inside, ret, err);
	}
	if (n % fixed_bytes(type) != 0) {
		return cut_short((uint64_t)(field->inside.end - field->inside.base), err);
	}
	*ret = n / fixed_bytes(type);
	return 0;
}
