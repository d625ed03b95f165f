/* proto_frames.c -- frames are read back as they were written, and nothing else is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "tests/lib/frames_rows.h"

static int decode(enum hn_frame_type type, const char *json, struct hn_arena *a, void *ret,
		  struct hn_err *err)
{
	const struct hn_frame f = { .type = (uint16_t)type,
				    .json = json,
				    .json_bytes = (uint32_t)strlen(json) };

	return hn_frame_decode(type, &f, a, ret, err);
}

static void a_frame_is_this_text(void **state)
{
	static const double ns[] = { 1.5, 2 };
	static const struct hn_frame_run run = { .verdict = HN_VERDICT_OK,
						 .detail = "one\nline",
						 .samples_ns = { 2, ns },
						 .run_ns = (INT64_C(1) << 60) + 1 };
	static const char text[] = "{\"run\":{\"verdict\":\"OK\",\"detail\":\"one line\","
				   "\"samples_ns\":[1.5,2],\"run_ns\":\"1152921504606846977\"},"
				   "\"rival_ns\":[1.5,2],\"rivals\":true}";
	struct hn_frame_measured v;
	struct hn_frame f;
	struct hn_buf json;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_frame_encode_measured(&(struct hn_frame_measured){ .run = &run,
							      .rival_ns = { 2, ns },
							      .rivals = true },
				 &json);
	assert_string_equal(json.s, text);
	f = hn_frame_of(HN_FRAME_MEASURED, 1, &json);
	assert_int_equal(hn_frame_decode_measured(&f, &a, &v, NULL), 0);
	assert_int_equal(v.run->verdict, HN_VERDICT_OK);
	assert_string_equal(v.run->detail, "one line");
	assert_int_equal(v.run->samples_ns.n, 2);
	assert_memory_equal(v.run->samples_ns.at, ns, sizeof ns);
	assert_true(v.run->run_ns == run.run_ns && v.run->kernel_ns == 0 && v.rivals);
	hn_buf_fini(&json);
	hn_arena_fini(&a);
}

/* What is optional and nothing is left out; absent it is nothing again. */
static void absent_is_nothing(void **state)
{
	struct hn_frame_workload_ready v;
	struct hn_frame_case none;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(decode(HN_FRAME_WORKLOAD_READY, "{\"run\":{\"verdict\":\"NOISY\"}}", &a,
				&v, NULL), 0);
	assert_string_equal(v.run->detail, "");
	assert_int_equal(v.run->samples_ns.n, 0);
	assert_non_null(v.run->samples_ns.at);
	assert_false(v.in_part);
	assert_int_equal(decode(HN_FRAME_CASE, "{\"why\":\"too long\"}", &a, &none, NULL), 0);
	assert_int_equal(none.args.n, 0);
	hn_arena_fini(&a);
}

/* What is to be a line is one: cleaned, and cut between characters. */
static void lines_are_cleaned_and_cut(void **state)
{
	struct hn_frame_canaried v;
	char text[2 * HN_FRAME_LINE];
	struct hn_frame f;
	struct hn_buf json;
	struct hn_arena a;

	(void)state;
	for (size_t i = 0; i + 2 < sizeof text; i += 2) {
		memcpy(text + i, "µ", 2);
	}
	text[sizeof text - 2] = '\0';
	text[1] = '\n'; /* the first is broken */
	hn_arena_init(&a, 0);
	hn_buf_init(&json);
	hn_frame_encode_canaried(&(struct hn_frame_canaried){ .verdict = HN_VERDICT_NONE,
							      .detail = text },
				 &json);
	f = hn_frame_of(HN_FRAME_CANARIED, 1, &json);
	assert_int_equal(hn_frame_decode_canaried(&f, &a, &v, NULL), 0);
	assert_int_equal(strlen(v.detail), HN_FRAME_LINE);
	assert_memory_equal(v.detail, "? µ", 4);
	hn_buf_fini(&json);
	hn_arena_fini(&a);
}

#define RUN(more) "{\"run\":{\"verdict\":\"OK\",\"samples_ns\":[1]" more "}}"
#define OBJECT_OF(more) "{\"verdict\":\"OK\",\"object\":{" more "}}"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	enum hn_frame_type type;
	const char *json, *line;
} refused[] = {
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\"", "BUILT:1:16: the text ends here" },
	{ HN_FRAME_BUILT, "[]", "BUILT: must be an object, not an array" },
	{ HN_FRAME_BUILT, "{}", "BUILT: verdict: missing" },
	{ HN_FRAME_BUILT, "{\"verdict\":1}", "BUILT: verdict: must be a string, not a number" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"FINE\\u202e\"}", "BUILT: verdict: 'FINE?' is no verdict" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"NONE\"}", "BUILT: NONE is no answer" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"colour\":1}",
	  "BUILT: there is no field 'colour'" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"verdict\":\"OK\"}", "BUILT:1:17: the name \"verdict\" is given twice" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"build_ns\":\"soon\"}",
	  "BUILT: build_ns: must be a whole number, not a string" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"build_ns\":0.5}",
	  "BUILT: build_ns: not a whole number, or beyond 2^53 and not in digits" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"build_ns\":\"-1\"}",
	  "BUILT: build_ns: -1 is less than 0" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":-3"), "BUILT: object.bytes: -3 is less than 1" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":1e12"),
	  "BUILT: object.bytes: 1000000000000 is more than 268435456" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":1,\"byte\":1"),
	  "BUILT: object: there is no field 'byte'" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":1,\"slot\":1"),
	  "BUILT: object: slot and hash go together" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":1,\"slot\":1,\"hash\":\"../etc\""),
	  "BUILT: object.hash: not a SHA-256 in hexadecimal digits" },
	{ HN_FRAME_BUILT, OBJECT_OF("\"bytes\":262145,\"slot\":1,\"hash\":\"" HASH "\""),
	  "BUILT: object: larger than a slot" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"ILLEGAL\",\"object\":{\"bytes\":1}}",
	  "BUILT: an object goes with OK" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"slices\":[{\"points\":1,\"of\":2},7]}",
	  "BUILT: slices[1]: must be an object, not a number" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"slices\":[{\"points\":3,\"of\":2}]}",
	  "BUILT: slices[0]: points is more than of" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"slices\":[{\"points\":0.25,\"of\":2}]}",
	  "BUILT: slices[0].points: 0.25 is less than 1" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"slices\":[1,2,3,4,5,6,7,8,9]}",
	  "BUILT: slices: 9 items; at most 8" },
	{ HN_FRAME_BUILT, "{\"verdict\":\"OK\",\"detail\":\"one\\nline\"}",
	  "BUILT: detail: not one line of shown characters" },
	{ HN_FRAME_MEASURED, RUN(",\"run_ns\":true"),
	  "MEASURED: run.run_ns: must be a whole number, not a boolean" },
	{ HN_FRAME_MEASURED, "{\"run\":{\"verdict\":\"OK\"}}",
	  "MEASURED: run: samples go with OK, and with nothing else but NOISY" },
	{ HN_FRAME_MEASURED, "{\"run\":{\"verdict\":\"OK\",\"samples_ns\":[1,null]}}",
	  "MEASURED: run.samples_ns[1]: must be a number, not null" },
	{ HN_FRAME_MEASURED, "{\"run\":{\"verdict\":\"OK\",\"samples_ns\":[1,0]}}",
	  "MEASURED: run.samples_ns[1]: 0 is less than 0.001" },
	{ HN_FRAME_MEASURED, "{\"run\":{\"verdict\":\"OK\",\"samples_ns\":[1]},\"rival_ns\":[1,2]}",
	  "MEASURED: rival_ns and samples_ns are pairs" },
	{ HN_FRAME_WORKLOAD,
	  "{\"workload\":\"a b\"}",
	  "WORKLOAD: workload: not a name: letters, digits and _ $ . : @ -, the first of them a "
	  "letter, digit or _" },
	{ HN_FRAME_WORKLOAD, "{\"workload\":\"w\",\"args\":[]}",
	  "WORKLOAD: args: 0 items; at least 1" },
	{ HN_FRAME_WORKLOAD,
	  "{\"workload\":\"w\",\"args\":[{\"name\":\"A\",\"dtype\":\"quad\"}]}",
	  "WORKLOAD: args[0].dtype: 'quad' is no type" },
	{ HN_FRAME_WORKLOAD,
	  "{\"workload\":\"w\",\"args\":[{\"name\":\"A\",\"dtype\":\"float32\",\"shape\":[2,0]}]}",
	  "WORKLOAD: args[0].shape[1]: 0 is less than 1" },
	{ HN_FRAME_WORKLOAD,
	  "{\"workload\":\"w\",\"args\":[{\"name\":\"A\",\"dtype\":\"float32\",\"output\":1}]}",
	  "WORKLOAD: args[0].output: must be true or false, not a number" },
	{ HN_FRAME_BUILD, "{\"dag\":\"{}\"}",
	  "BUILD: dag: must be an object or an array, not a string" },
	{ HN_FRAME_PROBE, "{\"a\":1}", "PROBE: there is no field 'a'" },
	{ HN_FRAME_CANARIED, "{\"verdict\":\"NONE\",\"canary_ns\":5}",
	  "CANARIED: a time goes with OK" },
	{ HN_FRAME_CASE, "{}", "CASE: either why or args" },
};

static void refusals_name_field_and_reason(void **state)
{
	uint64_t room[64];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		struct hn_err err = { 0 };

		assert_int_equal(decode(refused[i].type, refused[i].json, &a, room, &err),
				 -HONE_E_CORRUPT);
		assert_int_equal(err.code, HONE_E_CORRUPT);
		if (strncmp(err.msg, refused[i].line, strlen(refused[i].line)) != 0) {
			fail_msg("%s: '%s'", refused[i].json, err.msg);
		}
		assert_int_equal(decode(refused[i].type, refused[i].json, &a, room, NULL),
				 -HONE_E_CORRUPT);
	}
	hn_arena_fini(&a);
}

/* A text of a thousand members, or of a megabyte, is refused before anything is made of it. */
static void memory_is_bounded(void **state)
{
	struct hn_frame_canaried v;
	struct hn_frame f = { .type = HN_FRAME_CANARIED };
	struct hn_arena a;
	struct hn_buf b;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	hn_buf_puts(&b, "{\"verdict\":\"NONE\",\"detail\":[");
	for (int i = 0; i < 500; i++) {
		hn_buf_puts(&b, "1,");
	}
	hn_buf_puts(&b, "1]}");
	f.json = b.s;
	f.json_bytes = (uint32_t)b.n;
	assert_int_equal(hn_frame_decode_canaried(&f, &a, &v, &err), -HONE_E_CORRUPT);
	assert_non_null(strstr(err.msg, "CANARIED"));
	hn_buf_reset(&b);
	hn_buf_puts(&b, "{\"verdict\":\"NONE\",\"detail\":\"");
	for (int i = 0; i < 1 << 20; i++) {
		hn_buf_putc(&b, 'a');
	}
	hn_buf_puts(&b, "\"}");
	f.json = b.s;
	f.json_bytes = (uint32_t)b.n;
	assert_int_equal(hn_frame_decode_canaried(&f, &a, &v, &err), -HONE_E_CORRUPT);
	assert_non_null(strstr(err.msg, "bytes of JSON; at most"));
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

static void another_type_is_refused(void **state)
{
	const struct hn_frame f = { .type = HN_FRAME_MEASURED, .json = "{}", .json_bytes = 2 };
	struct hn_frame_probe v;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_frame_decode_probe(&f, &a, &v, &err), -HONE_E_CORRUPT);
	assert_string_equal(err.msg, "PROBE: expected; this is MEASURED");
	hn_arena_fini(&a);
}

static void requests_have_answers(void **state)
{
	(void)state;
	assert_int_equal(hn_frame_reply(HN_FRAME_BUILD), HN_FRAME_BUILT);
	assert_int_equal(hn_frame_reply(HN_FRAME_CANARY), HN_FRAME_CANARIED);
	assert_int_equal(hn_frame_reply(HN_FRAME_BUILT), HN_FRAME_NONE);
	assert_int_equal(hn_frame_reply(HN_FRAME_NONE), HN_FRAME_NONE);
	assert_string_equal(hn_frame_name(HN_FRAME_CASE), "CASE");
	assert_string_equal(hn_frame_name(HN_FRAME_NONE), "?");
	assert_string_equal(hn_frame_name(999), "?");
}

/* ---- at random ---- */

static enum hn_shape any_frame(struct hn_rng *r)
{
	return hn_frame_shape_of((enum hn_frame_type)(1 + hn_rng_below(r, HN_N_FRAME - 1)));
}

static void draws_are_read_back(void **state)
{
	struct hn_rng r = hn_rng_stream(15, 0, 0, 0);
	struct hn_buf once, twice;
	uint64_t v[64], w[64];
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	for (int i = 0; i < 10000; i++) {
		enum hn_shape s = any_frame(&r);

		assert_true(hn_frame_shape[s].bytes <= sizeof v);
		frames_draw(s, &r, &a, v);
		hn_buf_reset(&once);
		hn_buf_reset(&twice);
		hn_frame_encode(hn_frame_shape[s].type, v, &once);
		if (decode(hn_frame_shape[s].type, once.s, &a, w, &err) != 0) {
			fail_msg("%s\n%s", err.msg, once.s);
		}
		hn_frame_encode(hn_frame_shape[s].type, w, &twice);
		assert_string_equal(once.s, twice.s);
		if (!frames_equal(s, v, w) || !frames_within(s, w)) {
			fail_msg("%s", once.s);
		}
		hn_arena_reset(&a);
	}
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}

static void put_junk(struct hn_jw *w, const char *name, struct hn_rng *r)
{
	static const char *const junk[] = {
		"null", "true", "-1", "-0", "1e300", "-1e300", "0.5", "1e-300", "9007199254740993",
		"268435457", "\"x\"", "\"-3\"", "\"9223372036854775807\"", "\"9223372036854775808\"",
		"\"\"", "\"a\\u202eb\"", "\"\\u0001\"", "\"OK\"", "[]", "{}", "[1]", "[[]]",
		"{\"bytes\":1}", "[{\"points\":1,\"of\":1}]", "[1,2,3,4,5,6,7,8,9,10,11,12,13]",
	};

	hn_jw_written(w, name, junk[hn_rng_below(r, HN_COUNT_OF(junk))]);
}

/* The value again, some of it changed: one in `each` members or items is dropped, named otherwise,
 * said twice, or something else. */
static void put_changed(struct hn_jw *w, const char *name, const struct hn_json *v,
			struct hn_rng *r, uint32_t each)
{
	struct hn_buf text;
	bool object;

	if (hn_rng_below(r, each) == 0) {
		put_junk(w, name, r);
		return;
	}
	object = hn_json_kind(v) == HN_JSON_OBJECT;
	if (!object && hn_json_kind(v) != HN_JSON_ARRAY) {
		hn_buf_init(&text);
		hn_json_write(v, &text);
		hn_jw_written(w, name, text.s);
		hn_buf_fini(&text);
		return;
	}
	if (object) {
		hn_jw_object(w, name);
	} else {
		hn_jw_list(w, name);
	}
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		const char *key = hn_json_key(c);
		uint64_t what = hn_rng_below(r, 4 * each);

		if (what == 1) {
			key = object ? hn_frame_field[hn_rng_below(r, hn_frame_n_field)].name : NULL;
		}
		for (uint64_t n = what == 2 ? 2 : what != 0; n > 0; n--) {
			put_changed(w, key, c, r, each);
		}
	}
	hn_jw_end(w);
}

static void change(const struct hn_buf *from, struct hn_rng *r, struct hn_buf *to)
{
	struct hn_json *v;
	struct hn_jw w;

	hn_buf_reset(to);
	if (hn_rng_below(r, 2) == 0) {
		hn_buf_puts(to, from->s);
		for (uint64_t n = 1 + hn_rng_below(r, 3); n > 0; n--) {
			char c = (char)hn_rng_below(r, 256);

			to->s[hn_rng_below(r, to->n)] =
				hn_rng_below(r, 2) == 0 ? c : "0-9.e\"\\,[]{}:"[(uint8_t)c % 13];
		}
		return;
	}
	assert_int_equal(hn_json_parse("frame", from->s, from->n, NULL, &v, NULL), 0);
	hn_jw_init(&w, to);
	put_changed(&w, NULL, v, r, 2 + (uint32_t)hn_rng_below(r, 30));
	hn_json_free(v);
}

/* Each changed frame is refused with a line of its own, or is within its limits and read back. */
static void changed_frames_are_refused_or_right(void **state)
{
	uint32_t n_of[2] = { 0, 0 };
	struct hn_rng r = hn_rng_stream(16, 0, 0, 0);
	struct hn_buf valid, bad;
	uint64_t v[64];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&valid);
	hn_buf_init(&bad);
	for (int i = 0; i < 10000; i++) {
		enum hn_shape s = any_frame(&r);
		const char *name = hn_frame_shape[s].name;

		frames_draw(s, &r, &a, v);
		hn_buf_reset(&valid);
		hn_frame_encode(hn_frame_shape[s].type, v, &valid);
		for (int k = 0; k < 20 && valid.n < 4000; k++) {
			struct hn_err err = { 0 };
			struct hn_frame f;

			change(&valid, &r, &bad);
			f = hn_frame_of(hn_frame_shape[s].type, 1, &bad);
			int rc = hn_frame_decode(hn_frame_shape[s].type, &f, &a, v, &err);

			n_of[rc == 0]++;
			if (rc == 0 ? !frames_within(s, v)
				    : rc != -HONE_E_CORRUPT ||
					      strncmp(err.msg, name, strlen(name)) != 0 ||
					      err.msg[strlen(name)] != ':' ||
					      !hn_label_fits(err.msg, sizeof err.msg)) {
				fail_msg("%s: %d '%s'", bad.s, rc, err.msg);
			}
		}
		hn_arena_reset(&a);
	}
	print_message("%u refused, %u taken\n", n_of[0], n_of[1]);
	assert_true(n_of[0] > 50000 && n_of[1] > 5000);
	hn_buf_fini(&valid);
	hn_buf_fini(&bad);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_this_text),
		cmocka_unit_test(absent_is_nothing),
		cmocka_unit_test(lines_are_cleaned_and_cut),
		cmocka_unit_test(refusals_name_field_and_reason),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(another_type_is_refused),
		cmocka_unit_test(requests_have_answers),
		cmocka_unit_test(draws_are_read_back),
		cmocka_unit_test(changed_frames_are_refused_or_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
