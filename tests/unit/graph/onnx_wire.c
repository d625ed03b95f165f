/* The wire format: numbers, lengths, tags, and what is refused, by the whole message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/onnx/wire.h"

struct bytes {
	const char *s;
	size_t n;
};
#define BYTES(s) { s, sizeof(s) - 1 }

static void numbers_are_read(void **state)
{
	static const struct {
		struct bytes in;
		uint64_t value;
	} rows[] = {
		{ BYTES("\x00"), 0 },
		{ BYTES("\x01"), 1 },
		{ BYTES("\x7f"), 127 },
		{ BYTES("\x80\x01"), 128 },
		{ BYTES("\x96\x01"), 150 },
		{ BYTES("\x81\x80\x80\x00"), 1 }, /* longer than it need be */
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), INT64_MAX },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX },
		{ BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), (uint64_t)1 << 63 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_wire w = hn_wire_of(rows[i].in.s, rows[i].in.n);
		struct hn_err err = { 0 };
		uint64_t v = 77;

		assert_int_equal(hn_wire_number(&w, HN_WIRE_VARINT, &v, &err), 0);
		assert_true(v == rows[i].value);
		assert_false(hn_wire_more(&w));
	}
}

static void fields_are_read(void **state)
{
	static const char in[] = "\x08\x96\x01"			     /* 1: 150 */
				 "\x12\x03" "abc"		     /* 2: bytes */
				 "\x1d\x01\x02\x03\x04"		     /* 3: 4 bytes */
				 "\x21\x01\x02\x03\x04\x05\x06\x07\x08" /* 4: 8 bytes */
				 "\xf8\xff\xff\xff\x0f\x05"	     /* 2^29 - 1: 5 */
				 "\x2a\x00";			     /* 5: no bytes */
	static const struct {
		uint32_t number;
		enum hn_wire_type type;
		uint64_t value;
		size_t n, at;
	} rows[] = {
		{ 1, HN_WIRE_VARINT, 150, 2, 0 },
		{ 2, HN_WIRE_BYTES, 0, 3, 3 },
		{ 3, HN_WIRE_FIXED32, 0x04030201, 4, 8 },
		{ 4, HN_WIRE_FIXED64, 0x0807060504030201, 8, 13 },
		{ 536870911, HN_WIRE_VARINT, 5, 1, 22 },
		{ 5, HN_WIRE_BYTES, 0, 0, 28 },
	};
	struct hn_wire w = hn_wire_of(in, sizeof in - 1);
	struct hn_wire_field f;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		assert_true(hn_wire_more(&w));
		assert_int_equal(hn_wire_next(&w, &f, NULL), 0);
		assert_int_equal(f.number, rows[i].number);
		assert_int_equal(f.type, rows[i].type);
		assert_true(f.value == rows[i].value);
		assert_int_equal(hn_wire_left(&f.inside), rows[i].n);
		assert_int_equal(f.at, rows[i].at);
	}
	assert_false(hn_wire_more(&w));
}

#define WRONG " the file is damaged or no ONNX model"
#define SHORT " the data ends inside a number: the file is cut short or no ONNX model"

static void what_is_no_field_is_refused(void **state)
{
	static const struct {
		struct bytes in;
		const char *message;
	} rows[] = {
		{ BYTES("\x08"), "byte 1:" SHORT },
		{ BYTES("\x08\x80"), "byte 1:" SHORT },
		{ BYTES("\x80"), "byte 0:" SHORT },
		{ BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
		  "byte 1: a number of more than 64 bits:" WRONG },
		{ BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
		  "byte 1: a number of more than 64 bits:" WRONG },
		{ BYTES("\x1d\x01\x02\x03"), "byte 1:" SHORT },
		{ BYTES("\x21\x01\x02\x03\x04\x05\x06\x07"), "byte 1:" SHORT },
		{ BYTES("\x12\x04" "abc"), "byte 0: field 2 of 4 bytes where 3 are left: the file "
					   "is cut short or damaged" },
		{ BYTES("\x12\xff\xff\xff\xff\x7f" "abc"),
		  "byte 0: field 2 of 34359738367 bytes where 3 are left: the file is cut short or "
		  "damaged" },
		{ BYTES("\x12\x83\x80\x80\x80\x80\x00" "abc"),
		  "byte 1: a tag or length of more than 5 bytes:" WRONG },
		{ BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" "abc"),
		  "byte 1: a tag or length of more than 5 bytes:" WRONG },
		{ BYTES("\x88\x80\x80\x80\x80\x00\x01"),
		  "byte 0: a tag or length of more than 5 bytes:" WRONG },
		{ BYTES("\x0b\x0c"),
		  "byte 0: a group (wire type 3), which ONNX has none of:" WRONG },
		{ BYTES("\x0c"), "byte 0: a group (wire type 4), which ONNX has none of:" WRONG },
		{ BYTES("\x0e\x01"), "byte 0: no field begins here (number 1, wire type 6):" WRONG },
		{ BYTES("\x0f\x01"), "byte 0: no field begins here (number 1, wire type 7):" WRONG },
		{ BYTES("\x00\x01"), "byte 0: no field begins here (number 0, wire type 0):" WRONG },
		{ BYTES("\x80\x80\x80\x80\x10\x01"),
		  "byte 0: no field begins here (number 536870912, wire type 0):" WRONG },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_wire w = hn_wire_of(rows[i].in.s, rows[i].in.n);
		struct hn_wire_field f = { .number = 77 };
		struct hn_err err = { 0 };

		assert_int_equal(hn_wire_next(&w, &f, &err), -HONE_E_INVALID);
		assert_string_equal(err.msg, rows[i].message);
		assert_int_equal(f.number, 77);
	}
}

static void packed_numbers_are_counted(void **state)
{
	static const struct {
		struct bytes in;
		enum hn_wire_type type;
		uint64_t n;
		const char *message;
	} rows[] = {
		{ BYTES("\x08\x05"), HN_WIRE_VARINT, 1, NULL },
		{ BYTES("\x0a\x00"), HN_WIRE_VARINT, 0, NULL },
		{ BYTES("\x0a\x04\x01\x96\x01\x7f"), HN_WIRE_VARINT, 3, NULL },
		{ BYTES("\x0a\x08" "abcdefgh"), HN_WIRE_FIXED32, 2, NULL },
		{ BYTES("\x0a\x08" "abcdefgh"), HN_WIRE_FIXED64, 1, NULL },
		{ BYTES("\x0d" "abcd"), HN_WIRE_FIXED32, 1, NULL },
		{ BYTES("\x0a\x02\x01\x96"), HN_WIRE_VARINT, 0, "byte 3:" SHORT },
		{ BYTES("\x0a\x07" "abcdefg"), HN_WIRE_FIXED32, 0, "byte 9:" SHORT },
		{ BYTES("\x0a\x0c" "abcdefghijkl"), HN_WIRE_FIXED64, 0, "byte 14:" SHORT },
		{ BYTES("\x0d" "abcd"), HN_WIRE_VARINT, 0,
		  "byte 0: 4 bytes where a number is wanted" },
		{ BYTES("\x08\x05"), HN_WIRE_FIXED64, 0,
		  "byte 0: a number where 8 bytes is wanted" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_wire w = hn_wire_of(rows[i].in.s, rows[i].in.n);
		struct hn_err err = { 0 };
		struct hn_wire_field f;
		uint64_t n = 77;

		assert_int_equal(hn_wire_next(&w, &f, &err), 0);
		assert_int_equal(hn_wire_count(&f, rows[i].type, &n, &err),
				 rows[i].message ? -HONE_E_INVALID : 0);
		assert_string_equal(err.msg, rows[i].message ? rows[i].message : "");
		assert_int_equal(n, rows[i].message ? 77 : rows[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read),
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(what_is_no_field_is_refused),
		cmocka_unit_test(packed_numbers_are_counted),
	};

	return cmocka_run_group_tests_name("onnx wire", tests, NULL, NULL);
}
