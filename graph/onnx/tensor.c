/* graph/onnx/tensor.c -- a tensor's data, from whichever field holds it.
 *
 * ONNX has raw_data, five fields of numbers, one of strings, and files beside the model.  What is
 * made of all but strings is the same: n_bytes of elements in little endian, where they lie if
 * they lie so, else in the arena.  Old exporters write float_data, whose wire form is the bytes
 * themselves. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "graph/onnx/onnx_int.h"

enum data_field {
	NO_DATA = 0,
	FLOAT_DATA = 4,
	INT32_DATA = 5,
	INT64_DATA = 7,
	DOUBLE_DATA = 10,
	UINT64_DATA = 11,
};

/* Others that hold data. */
#define SEGMENT 3
#define STRING_DATA 6
#define RAW_DATA 9
#define EXTERNAL_DATA 13

struct element {
	const char *word;
	uint8_t bits, unit_bytes;
	uint8_t field; /* enum data_field */
	int64_t least, most;
};

static const struct element elements[] = {
#define TYPE(number, name, word, bits, unit, field, least, most)                         \
	[number] = { word, bits, unit, field, least, most },
#include "graph/onnx/types.def"
#undef TYPE
};

static const struct {
	uint8_t field;
	const char *name;
} data_fields[] = {
	{ FLOAT_DATA, "float_data" },	{ INT32_DATA, "int32_data" },
	{ INT64_DATA, "int64_data" },	{ DOUBLE_DATA, "double_data" },
	{ UINT64_DATA, "uint64_data" }, { STRING_DATA, "string_data" },
	{ RAW_DATA, "raw_data" },	{ EXTERNAL_DATA, "external_data" },
};

static const struct element *element_of(int32_t dtype)
{
	return dtype > 0 && dtype < (int32_t)HN_COUNT_OF(elements) ? &elements[dtype]
								   : NULL;
}

const char *hn_onnx_dtype_name(int32_t dtype)
{
	const struct element *e = element_of(dtype);

	return e ? e->word : "?";
}

int hn_onnx_dtype_bits(int32_t dtype)
{
	const struct element *e = element_of(dtype);

	return e ? e->bits : -1;
}

HN_PRINTF(3, 4)
static int refuse(struct onnx_reader *r, const struct hn_onnx_tensor *t, const char *fmt,
		  ...)
{
	char why[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return hn_fail(r->err, HONE_E_INVALID, "byte %llu: %s", (unsigned long long)t->at,
		       why);
}

/* ---- how many ---- */

static int count_elements(struct onnx_reader *r, struct hn_onnx_tensor *t)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		if (t->dims[i] < 0) {
			return refuse(r, t, "dims[%u] is %lld, and no size is negative",
				      i, (long long)t->dims[i]);
		}
		n = hn_mul_sat(n, t->dims[i]);
	}
	t->n_element = n;
	return n < HN_EXTENT_MAX ? 0 : refuse(r, t, "its dims multiply to 2^62 or more");
}

static int count_bytes(struct onnx_reader *r, struct hn_onnx_tensor *t,
		       const struct element *e)
{
	int64_t bits = hn_mul_sat(t->n_element, e->bits);

	if (bits == HN_EXTENT_MAX) {
		return refuse(r, t, "its dims multiply to 2^62 bits or more");
	}
	t->n_bytes = (uint64_t)hn_ceildiv(bits, 8);
	return 0;
}

/* ---- where from ---- */

/* The one field that has data, NO_DATA if none has. */
static int find_field(struct onnx_reader *r, const struct hn_onnx_tensor *t,
		      const uint64_t *n, unsigned *ret_field, const char **ret_name)
{
	unsigned n_found = 0;

	*ret_field = NO_DATA;
	*ret_name = "no field";
	for (size_t i = 0; i < HN_COUNT_OF(data_fields); i++) {
		unsigned field = data_fields[i].field;

		if (n[field] == 0 || (field == RAW_DATA && t->raw_data.n == 0)) {
			continue;
		}
		if (n_found++ > 0) {
			return refuse(r, t, "data in %s and in %s: which counts?",
				      *ret_name, data_fields[i].name);
		}
		*ret_field = field;
		*ret_name = data_fields[i].name;
	}
	return 0;
}

/* ---- numbers one by one ---- */

static bool fits(const struct element *e, uint64_t v)
{
	return e->least < 0 ? (int64_t)v >= e->least && (int64_t)v <= e->most
			    : v <= (uint64_t)e->most;
}

static int put_unit(struct onnx_reader *r, const struct hn_onnx_tensor *t,
		    const struct element *e, uint64_t v, uint8_t *to)
{
	if (!fits(e, v)) {
		return refuse(r, t, "%lld in its data is no %s", (long long)v, e->word);
	}
	for (unsigned i = 0; i < e->unit_bytes; i++) {
		to[i] = (uint8_t)(v >> (8 * i));
	}
	return 0;
}

static enum hn_wire_type unit_wire(const struct element *e)
{
	return e->field == FLOAT_DATA	 ? HN_WIRE_FIXED32
	       : e->field == DOUBLE_DATA ? HN_WIRE_FIXED64
					 : HN_WIRE_VARINT;
}

static int put_units(struct onnx_reader *r, const struct hn_onnx_tensor *t,
		     const struct element *e, struct hn_wire in, uint8_t **to)
{
	int rc = 0;

	while (rc == 0 && hn_wire_more(&in)) {
		uint64_t v = 0;

		rc = hn_wire_number(&in, unit_wire(e), &v, r->err);
		rc = rc == 0 ? put_unit(r, t, e, v, *to) : rc;
		*to += e->unit_bytes;
	}
	return rc;
}

/* The numbers lie in one piece as they are wanted: floats, packed. */
static bool take_in_place(struct hn_onnx_tensor *t, const struct element *e,
			  struct hn_wire w)
{
	struct hn_wire_field f;

	while (unit_wire(e) != HN_WIRE_VARINT && hn_wire_more(&w) &&
	       hn_wire_next(&w, &f, NULL) == 0) {
		if (f.number == e->field && hn_wire_left(&f.inside) == t->n_bytes) {
			t->raw_data = (struct hn_onnx_bytes){ f.inside.at, t->n_bytes };
			return true;
		}
	}
	return false;
}

static int take_numbers(struct onnx_reader *r, struct hn_onnx_tensor *t,
			const struct element *e, struct hn_wire w)
{
	uint8_t *made, *to;
	int rc = 0;

	if (take_in_place(t, e, w)) {
		return 0;
	}
	made = to = onnx_take(r, t->n_bytes, 1);
	if (!made) {
		return -HONE_E_QUOTA;
	}
	while (rc == 0 && hn_wire_more(&w)) {
		struct hn_wire_field f;

		rc = hn_wire_next(&w, &f, r->err);
		rc = rc == 0 && f.number == e->field ? put_units(r, t, e, f.inside, &to)
						     : rc;
	}
	t->raw_data = (struct hn_onnx_bytes){ made, t->n_bytes };
	return rc;
}

/* ---- data in another file ---- */

static int read_offset(struct onnx_reader *r, const struct hn_onnx_tensor *t,
		       const struct hn_onnx_entry *e, uint64_t *ret)
{
	bool is_number = e->value.n > 0;
	uint64_t v = 0;

	for (uint64_t i = 0; i < e->value.n && is_number; i++) {
		unsigned digit = (unsigned)e->value.at[i] - '0';

		is_number = digit <= 9 && !__builtin_mul_overflow(v, 10, &v) &&
			    !__builtin_add_overflow(v, digit, &v);
	}
	*ret = v;
	return is_number
		       ? 0
		       : refuse(r, t, "external_data: %s is no number of bytes", e->key);
}

static const struct hn_onnx_entry *find_entry(const struct hn_onnx_tensor *t,
					      const char *key, uint32_t *ret_n)
{
	const struct hn_onnx_entry *found = NULL;

	for (uint32_t i = 0; i < t->n_external_data; i++) {
		if (strcmp(t->external_data[i].key, key) == 0) {
			found = &t->external_data[i];
			*ret_n += 1;
		}
	}
	return found;
}

static const char *text_of(struct onnx_reader *r, const struct hn_onnx_entry *e)
{
	struct hn_wire in = { e->value.at, e->value.at + e->value.n, r->base };

	return onnx_text(r, "location", in, hn_wire_at(&in));
}

static int take_external(struct onnx_reader *r, struct hn_onnx_tensor *t)
{
	uint32_t n_location = 0, n_offset = 0, n_length = 0;
	const struct hn_onnx_entry *location = find_entry(t, "location", &n_location),
				   *offset = find_entry(t, "offset", &n_offset),
				   *length = find_entry(t, "length", &n_length);
	struct hn_onnx_external *e = onnx_take(r, 1, sizeof *e);
	uint64_t n = t->n_bytes;
	int rc = 0;

	if (!e) {
		return -HONE_E_QUOTA;
	}
	if (n_location != 1 || n_offset > 1 || n_length > 1 ||
	    t->data_type == HN_ONNX_STRING) {
		return refuse(
			r, t,
			t->data_type == HN_ONNX_STRING
				? "strings cannot be in another file"
				: "external_data names no location, or a key twice");
	}
	e->location = location->value.n > 0 ? text_of(r, location) : "";
	rc = e->location ? 0 : -HONE_E_INVALID;
	rc = rc == 0 && offset ? read_offset(r, t, offset, &e->offset) : rc;
	rc = rc == 0 && length ? read_offset(r, t, length, &n) : rc;
	if (rc == 0 && n != t->n_bytes) {
		rc = refuse(r, t,
			    "external_data has %llu bytes, and its elements take %llu",
			    (unsigned long long)n, (unsigned long long)t->n_bytes);
	}
	t->external = e;
	return rc;
}

/* ---- all of it ---- */

static int take_strings(struct onnx_reader *r, const struct hn_onnx_tensor *t,
			unsigned field, const char *name)
{
	if (field != STRING_DATA && field != NO_DATA) {
		return refuse(r, t, "strings stand in string_data, not in %s", name);
	}
	if (t->n_string_data != t->n_element) {
		return refuse(r, t, "%u strings, and its dims say %lld", t->n_string_data,
			      (long long)t->n_element);
	}
	return 0;
}

static int take_raw(struct onnx_reader *r, const struct hn_onnx_tensor *t)
{
	return t->raw_data.n == t->n_bytes
		       ? 0
		       : refuse(r, t,
				"raw_data of %llu bytes, and its elements (%lld of %s) "
				"take %llu",
				(unsigned long long)t->raw_data.n,
				(long long)t->n_element, hn_onnx_dtype_name(t->data_type),
				(unsigned long long)t->n_bytes);
}

static int take_data(struct onnx_reader *r, const struct hn_wire *w,
		     struct hn_onnx_tensor *t, const struct element *e, const uint64_t *n)
{
	const char *name;
	unsigned field;
	int rc = find_field(r, t, n, &field, &name);

	if (rc != 0) {
		return rc;
	}
	if (field == EXTERNAL_DATA || t->data_location != 0) {
		return t->data_location == 1 &&
				       (field == EXTERNAL_DATA || field == NO_DATA)
			       ? take_external(r, t)
			       : refuse(r, t,
					"data_location is %d, and the data is in %s",
					t->data_location, name);
	}
	if (t->data_type == HN_ONNX_STRING) {
		return take_strings(r, t, field, name);
	}
	if (field == RAW_DATA || (field == NO_DATA && t->n_bytes == 0)) {
		return take_raw(r, t);
	}
	if (field != e->field || n[field] != t->n_bytes / e->unit_bytes) {
		return refuse(r, t, "%llu numbers in %s, and its elements are %lld of %s",
			      (unsigned long long)n[field], name, (long long)t->n_element,
			      e->word);
	}
	return take_numbers(r, t, e, *w);
}

int onnx_finish_tensor(struct onnx_reader *r, const struct hn_wire *w, void *to,
		       const uint64_t *n)
{
	struct hn_onnx_tensor *t = to;
	const struct element *e = element_of(t->data_type);
	int rc;

	if (!e) {
		return refuse(r, t, "data type %d of a tensor is not known",
			      t->data_type);
	}
	if (n[SEGMENT] > 0) {
		return refuse(r, t, "a segment of a tensor: only whole ones are read");
	}
	rc = count_elements(r, t);
	rc = rc == 0 ? count_bytes(r, t, e) : rc;
	return rc == 0 ? take_data(r, w, t, e, n) : rc;
}
