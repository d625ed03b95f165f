/* Models into structs: all that is read of one, data in each of its fields, and what is refused,
 * by the whole message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/onnx_dump.h"
#include "tests/lib/onnx_seeds.h"
#include "tests/lib/onnx_writer.h"

/* The model that the notation says is read, and is `expected`; or refused with that. */
static void check(const char *notation, int code, const char *expected)
{
	struct hn_onnx *o = NULL;
	struct hn_buf b, text;
	struct hn_err err = { 0 };
	int rc;

	hn_buf_init(&b);
	hn_buf_init(&text);
	put_notation(&b, notation);
	rc = hn_onnx_parse("m", b.s, b.n, &o, &err);
	if (rc == 0) {
		dump_model(&text, hn_onnx_model(o));
	}
	if (rc != -code || strcmp(rc == 0 ? text.s : err.msg, expected) != 0) {
		fail_msg("%s\nis %d\n%s\nexpected %d\n%s", notation, rc, rc == 0 ? text.s : err.msg,
			 -code, expected);
	}
	hn_onnx_close(o);
	hn_buf_fini(&text);
	hn_buf_fini(&b);
}

static void a_whole_model_is_read(void **state)
{
	(void)state;
	check(onnx_seeds[0], 0,
	      "model ir 8 version 3 by \"maker\" \"1.2\" domain \"org.me\"\n"
	      "opset \"\" 17\n"
	      "opset \"ai.onnx.ml\" 3\n"
	      "metadata \"key\" 20:612076616c75650a6f662074776f206c696e6573\n"
	      "function dom.fn\n"
	      "graph \"main\", 1 sparse\n"
	      "  input \"x\" float[N,3,-1,?,?]\n"
	      "  input \"any\" int64 of any rank\n"
	      "  input \"scalar\" int64[]\n"
	      "  input \"list\" sequence\n"
	      "  input \"none\" untyped\n"
	      "  input \"odd\" nothing\n"
	      "  output \"y\" float of any rank\n"
	      "  value \"v\" optional\n"
	      "  tensor \"w\" float[2,3] 6 24:000000000000000000000000000000000000000000000000\n"
	      "  node \"n/1:a\" my.ops.Conv:over: \"x\" \"\" \"w\" -> \"y\"\n"
	      "    attribute \"pads\" INTS f 0 i 0 s 0: 1 2 -1 5\n"
	      "    attribute \"auto\" STRING f 0 i 0 s 4:53414d45\n"
	      "    attribute \"alpha\" FLOAT f 0.5 i 0 s 0:\n"
	      "    attribute \"axis\" INT f 0 i -1 s 0:\n"
	      "  node \"\" Constant: -> \"c\"\n"
	      "    attribute \"value\" TENSOR f 0 i 0 s 0:\n"
	      "      tensor \"\" float[2] 2 8:0000803f00000040\n"
	      "  node \"\" If: \"c\" -> \"z\"\n"
	      "    attribute \"then\" GRAPH f 0 i 0 s 0:\n"
	      "      graph \"inner\"\n"
	      "        node \"\" Neg: \"y\" -> \"z\"\n"
	      "  node \"\" Many: ->\n"
	      "    attribute \"a\" FLOATS f 0 i 0 s 0: 1 2 3\n"
	      "    attribute \"b\" STRINGS f 0 i 0 s 0: 1:70 1:71\n"
	      "    attribute \"c\" TENSORS f 0 i 0 s 0:\n"
	      "      tensor \"\" int32[] 1 4:07000000\n"
	      "      tensor \"\" int64[] 1 8:0800000000000000\n"
	      "    attribute \"d\" GRAPHS f 0 i 0 s 0:\n"
	      "      graph \"g1\"\n"
	      "      graph \"g2\"\n"
	      "    attribute \"e\" TYPE_PROTO f 0 i 0 s 0:\n"
	      "    attribute \"f\" ? f 0 i 0 s 0: ref up\n");
}

static void data_is_read_from_every_field(void **state)
{
	static const struct {
		const char *tensor, *expected;
	} rows[] = {
		{ "2:1 1:2 4(1 -2)", "float[2] 2 8:0000803f000000c0" },
		{ "2:1 1:2 4=1 4=-2", "float[2] 2 8:0000803f000000c0" },
		{ "2:1 1:2 9#0000803f000000c0", "float[2] 2 8:0000803f000000c0" },
		{ "2:1 1:2 4=1 4(-2)", "float[2] 2 8:0000803f000000c0" },
		{ "2:11 4'' 10<1>", "double[] 1 8:000000000000f03f" },
		{ "2:14 1:1 4(1 2)", "complex64[1] 1 8:0000803f00000040" },
		{ "2:15 1:1 10<1 2>", "complex128[1] 1 16:000000000000f03f0000000000000040" },
		{ "2:6 1:2 5[-1 2147483647]", "int32[2] 2 8:ffffffffffffff7f" },
		{ "2:3 1:2 5[-128 127]", "int8[2] 2 2:807f" },
		{ "2:2 1:2 5[0 255]", "uint8[2] 2 2:00ff" },
		{ "2:5 1:2 5[-32768 32767]", "int16[2] 2 4:0080ff7f" },
		{ "2:4 1:1 5[65535]", "uint16[1] 1 2:ffff" },
		{ "2:9 1:2 5[0 1]", "bool[2] 2 2:0001" },
		{ "2:10 1:1 5[15360]", "float16[1] 1 2:003c" },
		{ "2:16 1:1 5[16256]", "bfloat16[1] 1 2:803f" },
		{ "2:17 1:1 5[56]", "float8e4m3fn[1] 1 1:38" },
		{ "2:22 1:3 5[33 3]", "int4[3] 3 2:2103" },
		{ "2:25 1:5 5[228 1]", "uint2[5] 5 2:e401" },
		{ "2:27 1:4 9#010203", "float6e2m3[4] 4 3:010203" },
		{ "2:7 1:3 7[-1 0 9223372036854775807]",
		  "int64[3] 3 24:ffffffffffffffff0000000000000000ffffffffffffff7f" },
		{ "2:12 1:1 11[4294967295]", "uint32[1] 1 4:ffffffff" },
		{ "2:13 1:1 11[-1]", "uint64[1] 1 8:ffffffffffffffff" },
		{ "2:8 1:2 6'ab' 6''", "string[2] 2 0: 2:6162 0:" },
		{ "2:1 1:0", "float[0] 0 0:" },
		{ "2:1 1[4611686018427387904 4611686018427387904 0]",
		  "float[4611686018427387904,4611686018427387904,0] 0 0:" },
		{ "2:1 1:2 9'' 4(1 2)", "float[2] 2 8:0000803f00000040" },
		{ "2:1 1:1 9#0000803f 9#00000040", "float[1] 1 4:00000040" },
		{ "2:1 1[2 2] 13{1'location' 2'a/b.bin'} 13{1'offset' 2'4096'} 13{1'length' "
		  "2'16'} 13{1'checksum' 2'x'} 14:1",
		  "float[2,2] 4 in \"a/b.bin\" at 4096, 16 bytes" },
	};
	char notation[500], expected[500];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		snprintf(notation, sizeof notation, "7{5{8'w' %s}}", rows[i].tensor);
		snprintf(expected, sizeof expected,
			 "model ir 0 version 0 by \"\" \"\" domain \"\"\n"
			 "graph \"\"\n  tensor \"w\" %s\n",
			 rows[i].expected);
		check(notation, 0, expected);
	}
}

/* A node in a graph in a node ..., `n` graphs in all. */
static void nest(char *notation, size_t cap, unsigned n)
{
	size_t used = (size_t)snprintf(notation, cap, "7{");

	for (unsigned i = 1; i < n; i++) {
		used += (size_t)snprintf(notation + used, cap - used, "1{5{1'body' 20:5 6{");
	}
	for (unsigned i = 1; i < n; i++) {
		used += (size_t)snprintf(notation + used, cap - used, "}}}");
	}
	snprintf(notation + used, cap - used, "}");
}

#define DIMS62 "4611686018427387904"

static void what_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *notation;
		int code;
		const char *message;
	} rows[] = {
		{ "", HONE_E_INVALID, "m: no graph in it: this is no ONNX model" },
		{ "1:8", HONE_E_INVALID, "m: no graph in it: this is no ONNX model" },
		{ "1'x' 7{}", HONE_E_INVALID,
		  "m: ir_version: byte 0: bytes with their length where a number is wanted" },
		{ "7{} 7{}", HONE_E_INVALID,
		  "m: graph: byte 6: it is there twice, and two readers would read two models" },
		{ "7{1{3'n' 4'Op' 5{1'a' 20:15}}}", HONE_E_INVALID,
		  "m: graph: node 0 \"n\" (Op): attribute 0 \"a\": byte 25: an attribute of a type "
		  "that is not known" },
		{ "7{1{4'Op' 5{1'a'}}}", HONE_E_INVALID,
		  "m: graph: node 0 (Op): attribute 0 \"a\": byte 22: an attribute without a type, "
		  "and not with one value" },
		{ "7{1{4'Op' 5{1'a' 2=1 3:1}}}", HONE_E_INVALID,
		  "m: graph: node 0 (Op): attribute 0 \"a\": byte 22: an attribute without a type, "
		  "and not with one value" },
		{ "7{1{5{20:4}}}", HONE_E_INVALID,
		  "m: graph: node 0: attribute 0: byte 18: an attribute that says it is a tensor "
		  "or graph, and has none" },
		{ "7{1{5{20:5}}}", HONE_E_INVALID,
		  "m: graph: node 0: attribute 0: byte 18: an attribute that says it is a tensor "
		  "or graph, and has none" },
		{ "7{1{5{5{2:1 9#00000000} 5{}}}}", HONE_E_INVALID,
		  "m: graph: node 0: attribute 0: t: byte 32: it is there twice, and two readers "
		  "would read two models" },
		{ "7{1{} 1{1'ok'} 1{1#ff}}", HONE_E_INVALID,
		  "m: graph: node 2: byte 30: input is no text: it holds a control character, or is "
		  "not UTF-8" },
		{ "7{1{3#410a42}}", HONE_E_INVALID,
		  "m: graph: node 0 \"A B\": byte 15: name is no text: it holds a control character, "
		  "or is not UTF-8" },
		{ "7{1{3#4100}}", HONE_E_INVALID,
		  "m: graph: node 0 \"A \": byte 15: name is no text: it holds a control character, "
		  "or is not UTF-8" },
		{ "7{1{3#c280}}", HONE_E_INVALID,
		  "m: graph: node 0 \"?\": byte 14: name is no text: it holds a control character, "
		  "or is not UTF-8" },
		{ "7{11{1'x' 2{1{1:1} 4{}}}}", HONE_E_INVALID,
		  "m: graph: input 0 \"x\": byte 21: a type that is two things at once" },
		{ "7{11{1'x' 2{1{2{1{1:1 2'N'}}}}}}", HONE_E_INVALID,
		  "m: graph: input 0 \"x\": dim 0: byte 39: a dimension that is two things at once" },
		{ "7{11{1'x' 2{1{1:4294967297}}}}", HONE_E_INVALID,
		  "m: graph: input 0 \"x\": elem_type: byte 27: 4294967297 does not fit 32 bits" },
		{ "7{5{8'w' 2:29}}", HONE_E_INVALID,
		  "m: graph: initializer 0 \"w\": byte 12: data type 29 of a tensor is not known" },
		{ "7{5{8'w'}}", HONE_E_INVALID,
		  "m: graph: initializer 0 \"w\": byte 12: data type 0 of a tensor is not known" },
		{ "7{5{2:1 3{}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: a segment of a tensor: only whole ones are "
		  "read" },
		{ "7{5{2:1 1[2 -1]}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: dims[1] is -1, and no size is negative" },
		{ "7{5{2:2 1[" DIMS62 " 1]}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: its dims multiply to 2^62 or more" },
		{ "7{5{2:2 1[" DIMS62 " 4]}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: its dims multiply to 2^62 or more" },
		{ "7{5{2:1 1:288230376151711744 9#00}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: its dims multiply to 2^62 bits or more" },
		{ "7{5{2:1 1[2 2]}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 0 numbers in no field, and its elements are 4 "
		  "of float" },
		{ "7{5{2:1 1[2 2] 4(1 2 3)}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 3 numbers in float_data, and its elements are "
		  "4 of float" },
		{ "7{5{2:1 1[2 2] 5[1 2 3 4]}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 4 numbers in int32_data, and its elements are "
		  "4 of float" },
		{ "7{5{2:1 1[2] 9#00}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: raw_data of 1 bytes, and its elements (2 of "
		  "float) take 8" },
		{ "7{5{2:1 1:0 9#00}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: raw_data of 1 bytes, and its elements (0 of "
		  "float) take 0" },
		{ "7{5{2:6 1:0 5:1}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 1 numbers in int32_data, and its elements are "
		  "0 of int32" },
		{ "7{5{2:6 1:1 5:1 9#00000000}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: data in int32_data and in raw_data: which "
		  "counts?" },
		{ "7{5{2:3 1:1 5:128}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 128 in its data is no int8" },
		{ "7{5{2:3 1:1 5:-129}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: -129 in its data is no int8" },
		{ "7{5{2:2 1:1 5:-1}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: -1 in its data is no uint8" },
		{ "7{5{2:9 1:1 5:2}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 2 in its data is no bool" },
		{ "7{5{2:10 1:1 5:65536}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 65536 in its data is no float16" },
		{ "7{5{2:12 1:1 11:4294967296}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 4294967296 in its data is no uint32" },
		{ "7{5{2:27 1:1 5:1}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 1 numbers in int32_data, and its elements are "
		  "1 of float6e2m3" },
		{ "7{5{2:8 1:2 6'a'}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: 1 strings, and its dims say 2" },
		{ "7{5{2:8 1:1 9#00}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: strings stand in string_data, not in "
		  "raw_data" },
		{ "7{5{2:1 1:1 14:1}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data names no location, or a key "
		  "twice" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'location' 2'b'}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data names no location, or a key "
		  "twice" },
		{ "7{5{2:1 1:1 13{1'location' 2'a'}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: data_location is 0, and the data is in "
		  "external_data" },
		{ "7{5{2:1 1:1 14:1 9#00000000}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: data_location is 1, and the data is in "
		  "raw_data" },
		{ "7{5{2:1 1:1 14:2 9#00000000}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: data_location is 2, and the data is in "
		  "raw_data" },
		{ "7{5{2:8 1:1 14:1 13{1'location' 2'a'}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: strings cannot be in another file" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'offset' 2'0x10'}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data: offset is no number of bytes" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'offset' 2''}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data: offset is no number of bytes" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'offset' 2'18446744073709551616'}}}",
		  HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data: offset is no number of bytes" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'offset' 2'99999999999999999999'}}}",
		  HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data: offset is no number of bytes" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'offset' 2'8'} 13{1'offset' 2'8'}}}",
		  HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data names no location, or a key "
		  "twice" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'length' 2'4'} 13{1'length' 2'4'}}}",
		  HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data names no location, or a key "
		  "twice" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2'a'} 13{1'length' 2'8'}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 12: external_data has 8 bytes, and its elements "
		  "take 4" },
		{ "7{5{2:1 1:1 14:1 13{1'location' 2#61ff}}}", HONE_E_INVALID,
		  "m: graph: initializer 0: byte 37: location is no text: it holds a control "
		  "character, or is not UTF-8" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		check(rows[i].notation, rows[i].code, rows[i].message);
	}
}

/* What the fuzz target and the test of damages begin with is in order. */
static void seeds_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(onnx_seeds); i++) {
		struct hn_onnx *o = NULL;
		struct hn_err err = { 0 };
		struct hn_buf b;

		hn_buf_init(&b);
		put_notation(&b, onnx_seeds[i]);
		if (hn_onnx_parse("seed", b.s, b.n, &o, &err) != 0) {
			fail_msg("%zu: %s", i, err.msg);
		}
		hn_onnx_close(o);
		hn_buf_fini(&b);
	}
}

/* ---- limits ---- */

static int parse(const struct hn_buf *b, size_t *ret_memory, struct hn_err *err)
{
	struct hn_onnx *o = NULL;
	int rc = hn_onnx_parse("m", b->s, b->n, &o, err);

	*ret_memory = rc == 0 ? hn_onnx_memory(o) : 0;
	hn_onnx_close(o);
	return rc;
}

static void graphs_are_eight_deep_at_most(void **state)
{
	char notation[1000];
	struct hn_err err = { 0 };
	struct hn_buf b;
	size_t memory;

	(void)state;
	hn_buf_init(&b);
	nest(notation, sizeof notation, HN_ONNX_MAX_DEPTH);
	put_notation(&b, notation);
	assert_int_equal(parse(&b, &memory, &err), 0);
	hn_buf_reset(&b);
	put_notation(&b, "7{1{5{20:10 11{} 11{} 11{} 11{} 11{} 11{} 11{} 11{} 11{}}}}");
	assert_int_equal(parse(&b, &memory, &err), 0); /* beside each other, not within */
	hn_buf_reset(&b);
	nest(notation, sizeof notation, HN_ONNX_MAX_DEPTH + 1);
	put_notation(&b, notation);
	assert_int_equal(parse(&b, &memory, &err), -HONE_E_QUOTA);
	assert_string_equal(err.msg, "m: attribute 0 \"body\": g: node 0: attribute 0 \"body\": "
				     "g: byte 222: graphs within graphs, deeper than 8");
	hn_buf_fini(&b);
}

static void names_have_a_length(void **state)
{
	static char name[HN_ONNX_MAX_TEXT + 2];
	struct hn_err err = { 0 };
	struct hn_buf b;
	size_t memory, begin;

	(void)state;
	hn_buf_init(&b);
	for (size_t n = HN_ONNX_MAX_TEXT; n <= HN_ONNX_MAX_TEXT + 1; n++) {
		memset(name, 'x', n);
		hn_buf_reset(&b);
		begin = put_begin(&b, 7);
		put_text(&b, 2, name);
		put_end(&b, begin);
		assert_int_equal(parse(&b, &memory, &err),
				 n <= HN_ONNX_MAX_TEXT ? 0 : -HONE_E_QUOTA);
	}
	assert_string_equal(err.msg, "m: graph \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\": "
				     "byte 6: name of 4097 bytes; the most are 4096");
	hn_buf_fini(&b);
}

/* n messages of nothing, each of two bytes, in a graph's node or in the graph. */
static void put_empty(struct hn_buf *b, size_t n, bool in_node)
{
	size_t graph = put_begin(b, 7), node = in_node ? put_begin(b, 1) : 0;

	for (size_t i = 0; i < n; i++) {
		hn_buf_add(b, in_node ? "\x2a\x00" : "\x0a\x00", 2);
	}
	if (in_node) {
		put_end(b, node);
	}
	put_end(b, graph);
}

static void memory_follows_the_file(void **state)
{
	struct hn_err err = { 0 };
	struct hn_buf b;
	size_t memory;

	(void)state;
	hn_buf_init(&b);
	put_empty(&b, 10000, false);
	assert_int_equal(parse(&b, &memory, &err), 0);
	assert_true(memory <= b.n * HN_ONNX_PER_BYTE + HN_ONNX_FREE_BYTES);
	hn_buf_reset(&b);
	put_empty(&b, 100000, false);
	assert_int_equal(parse(&b, &memory, &err), -HONE_E_QUOTA);
	assert_string_equal(err.msg, "m: graph: its structure takes more than 7448768 bytes of "
				     "memory, the most for a file of 200006 bytes");
	hn_buf_reset(&b);
	put_empty(&b, HN_ONNX_MAX_NODES + 1, false);
	assert_int_equal(parse(&b, &memory, &err), -HONE_E_QUOTA);
	assert_string_equal(err.msg, "m: graph: more than 1048576 nodes");
	hn_buf_reset(&b);
	put_empty(&b, 200000, true);
	assert_int_equal(parse(&b, &memory, &err), -HONE_E_QUOTA);
	assert_string_equal(err.msg, "m: graph: node 0: its structure takes more than 13848960 "
				     "bytes of memory, the most for a file of 400012 bytes");
	hn_buf_fini(&b);
}

/* Lists that are small each, of what takes more room than the file has for it. */
static void memory_is_bounded_in_all(void **state)
{
	enum { N_LIST = 20, N_GRAPH = 10000 };
	struct hn_err err = { 0 };
	struct hn_buf b;
	size_t memory, graph, node, attribute;

	(void)state;
	hn_buf_init(&b);
	graph = put_begin(&b, 7);
	for (unsigned i = 0; i < N_LIST; i++) {
		node = put_begin(&b, 1);
		attribute = put_begin(&b, 5);
		put_int(&b, 20, HN_ONNX_ATTR_GRAPHS);
		for (unsigned k = 0; k < N_GRAPH; k++) {
			hn_buf_add(&b, "\x5a\x00", 2);
		}
		put_end(&b, attribute);
		put_end(&b, node);
	}
	put_end(&b, graph);
	assert_int_equal(parse(&b, &memory, &err), -HONE_E_QUOTA);
	assert_string_equal(err.msg, "m: graph: node 17: attribute 0: its structure takes more than "
				     "13858368 bytes of memory, the most for a file of 400306 bytes");
	hn_buf_fini(&b);
}

/* Weights stay where they are: raw_data, and packed floats. */
static void weights_are_not_copied(void **state)
{
	struct hn_onnx *o = NULL;
	struct hn_err err = { 0 };
	const struct hn_onnx_tensor *t;
	size_t graph, tensor, n = (size_t)1 << 20;
	struct hn_buf b;
	float *zero = calloc(n, sizeof *zero);

	(void)state;
	hn_buf_init(&b);
	graph = put_begin(&b, 7);
	for (uint32_t field = 4; field <= 9; field += 5) {
		tensor = put_begin(&b, 5);
		put_int(&b, 1, (int64_t)n);
		put_int(&b, 2, HN_ONNX_FLOAT);
		put_bytes(&b, field, zero, n * sizeof *zero);
		put_end(&b, tensor);
	}
	put_end(&b, graph);
	assert_int_equal(hn_onnx_parse("m", b.s, b.n, &o, &err), 0);
	t = hn_onnx_model(o)->graph->initializer;
	for (unsigned i = 0; i < 2; i++) {
		assert_true((const char *)t[i].raw_data.at > b.s);
		assert_true((const char *)t[i].raw_data.at + t[i].raw_data.n <= b.s + b.n);
	}
	assert_true(hn_onnx_memory(o) < 2000);
	hn_onnx_close(o);
	hn_buf_fini(&b);
	free(zero);
}

/* Without a place for the message everything is as with one. */
static void errors_need_no_place(void **state)
{
	struct hn_onnx *o = NULL;

	(void)state;
	assert_int_equal(hn_onnx_parse("m", "\x3a\x02\x0a\x01", 4, &o, NULL), -HONE_E_INVALID);
	assert_null(o);
	hn_onnx_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_model_is_read),
		cmocka_unit_test(data_is_read_from_every_field),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(seeds_are_read),
		cmocka_unit_test(graphs_are_eight_deep_at_most),
		cmocka_unit_test(names_have_a_length),
		cmocka_unit_test(memory_follows_the_file),
		cmocka_unit_test(memory_is_bounded_in_all),
		cmocka_unit_test(weights_are_not_copied),
		cmocka_unit_test(errors_need_no_place),
	};

	return cmocka_run_group_tests_name("onnx read", tests, NULL, NULL);
}
