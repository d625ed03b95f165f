/* Messages: what is accepted, what is refused and how, and that writers and readers
 * agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/msg.h"

struct bad_line {
	const char *line;
	int rpc;
	const char *says; /* part of the message */
	const char *id;
};

static const struct bad_line bad[] = {
	{ "", HN_RPC_PARSE, "", "null" },
	{ "{", HN_RPC_PARSE, "request:1:", "null" },
	{ "[]", HN_RPC_REQUEST, "batches are refused", "null" },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", HN_RPC_REQUEST,
	  "batches", "null" },
	{ "7", HN_RPC_REQUEST, "must be one JSON-RPC object", "null" },
	{ "{\"id\":1,\"method\":\"ping\"}", HN_RPC_REQUEST, "jsonrpc", "1" },
	{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", HN_RPC_REQUEST, "jsonrpc",
	  "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}", HN_RPC_REQUEST, "method",
	  "\"a\"" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}",
	  HN_RPC_REQUEST, "params: must be an object, not an array", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", HN_RPC_REQUEST,
	  "id:", "null" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}", HN_RPC_REQUEST, "neither", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"result\":1}", HN_RPC_REQUEST, "neither", "null" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"x\"}}", HN_RPC_REQUEST,
	  "error:", "1" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", HN_RPC_PARSE,
	  "id", "null" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x", HN_RPC_PARSE,
	  "request:1:", "null" },
};

static void test_bad_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct hn_json *doc = NULL;
		struct hn_msg m;
		struct hn_err err;
		int rpc = 0;

		assert_true(hn_msg_read(bad[i].line, strlen(bad[i].line), 0, &doc, &m,
					&rpc, &err) < 0);
		assert_null(doc);
		assert_int_equal(rpc, bad[i].rpc);
		assert_string_equal(m.id, bad[i].id);
		if (strstr(err.msg, bad[i].says) == NULL) {
			fail_msg("%s: said \"%s\", not \"%s\"", bad[i].line, err.msg,
				 bad[i].says);
		}
	}
}

/* An id is echoed letter for letter, but never one long enough to be a burden. */
static void test_ids(void **state)
{
	char line[400], big[HN_LIMIT_ID_BYTES + 40];
	static const char *const good[] = { "0",       "-3",	    "9007199254740992",
					    "\"a b\"", "\"\\\"q\"", "null" };
	struct hn_json *doc;
	struct hn_msg m;
	struct hn_err err;
	int rpc;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(good); i++) {
		snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", good[i]);
		assert_int_equal(hn_msg_read(line, strlen(line), 0, &doc, &m, &rpc, &err),
				 0);
		assert_int_equal(m.kind, HN_MSG_REQUEST);
		assert_string_equal(m.id, good[i]);
		hn_json_free(doc);
	}
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"ping\"}", big);
	assert_int_equal(hn_msg_read(line, strlen(line), 0, &doc, &m, &rpc, &err),
			 -HONE_E_INVALID);
}

static void test_depth_and_size(void **state)
{
	struct hn_buf b;
	struct hn_json *doc;
	struct hn_msg m;
	struct hn_err err;
	int rpc;

	(void)state;
	hn_buf_init(&b);
	hn_buf_puts(
		&b,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":");
	for (int i = 0; i < HN_LIMIT_LINE_DEPTH + 1; i++) {
		hn_buf_putc(&b, '[');
	}
	for (int i = 0; i < HN_LIMIT_LINE_DEPTH + 1; i++) {
		hn_buf_putc(&b, ']');
	}
	hn_buf_puts(&b, "}}");
	assert_true(hn_msg_read(b.s, b.n, 0, &doc, &m, &rpc, &err) < 0);
	hn_buf_reset(&b);
	hn_buf_puts(&b, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	assert_int_equal(hn_msg_read(b.s, b.n, 10, &doc, &m, &rpc, &err), -HONE_E_QUOTA);
	hn_buf_fini(&b);
}

static int check(enum hn_method method, const char *params, struct hn_err *err)
{
	struct hn_json *json = NULL;
	int rc;

	*err = (struct hn_err){ 0 };
	if (params != NULL) {
		assert_int_equal(
			hn_json_parse("t", params, strlen(params), NULL, &json, err), 0);
	}
	rc = hn_msg_check(method, json, err);
	hn_json_free(json);
	return rc;
}

static void test_params(void **state)
{
	static const struct {
		enum hn_method method;
		const char *params, *says;
	} row[] = {
		{ HN_METHOD_job_get, NULL, "job.get: job: missing" },
		{ HN_METHOD_job_get, "{\"job\":5}",
		  "job.get: job: must be a string, not a number" },
		{ HN_METHOD_job_get,
		  "{\"job\":"
		  "\"0123456789012345678901234567890123456789012345678901234567890123456"
		  "\"}",
		  "job.get: job: longer than 64 bytes" },
		{ HN_METHOD_submit, "{\"trials\":-1}",
		  "submit: trials: -1 is not within" },
		{ HN_METHOD_submit, "{\"trials\":1.5}",
		  "submit: trials: must be a whole number" },
		{ HN_METHOD_submit, "{\"seconds\":1e99}",
		  "submit: seconds: must be within" },
		{ HN_METHOD_submit, "{\"dag\":[]}",
		  "submit: dag: must be an object, not an array" },
		{ HN_METHOD_job_cancel, "{\"job\":\"j\",\"release\":1}",
		  "release: must be true or false" },
		{ HN_METHOD_hello, "{\"protocol\":1}",
		  "hello: protocol: must be an array" },
	};
	struct hn_err err;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		assert_true(check(row[i].method, row[i].params, &err) < 0);
		if (strstr(err.msg, row[i].says) == NULL) {
			fail_msg("said \"%s\", not \"%s\"", err.msg, row[i].says);
		}
	}
	assert_int_equal(check(HN_METHOD_ping, NULL, &err), 0);
	assert_int_equal(check(HN_METHOD_ping, "{\"unknown\":1}", &err), 0);
	assert_int_equal(check(HN_METHOD_submit, "{\"trials\":0,\"seconds\":2.5}", &err),
			 0);
}

/* What the writers write, the reader reads back. */
static void test_round_trip(void **state)
{
	struct hn_buf b;
	struct hn_json *doc;
	struct hn_msg m;
	struct hn_err err;
	int rpc;

	(void)state;
	hn_buf_init(&b);
	hn_msg_write_request(&b, "7", "job.get", "{\"job\":\"j\"}");
	assert_int_equal(b.s[b.n - 1], '\n');
	assert_int_equal(hn_msg_read(b.s, b.n - 1, 0, &doc, &m, &rpc, &err), 0);
	assert_int_equal(m.kind, HN_MSG_REQUEST);
	assert_int_equal(hn_method_of(m.method), HN_METHOD_job_get);
	assert_string_equal(hn_json_string(hn_json_get(m.params, "job")), "j");
	hn_json_free(doc);
	hn_buf_reset(&b);
	hn_msg_write_result(&b, "\"x\"", "null");
	assert_int_equal(hn_msg_read(b.s, b.n - 1, 0, &doc, &m, &rpc, &err), 0);
	assert_int_equal(m.kind, HN_MSG_RESULT);
	assert_string_equal(m.id, "\"x\"");
	hn_json_free(doc);
	hn_buf_reset(&b);
	hn_msg_write_fault(&b, "3", HONE_E_BUSY, "a \"quoted\"\nline");
	assert_null(memchr(b.s, '\n', b.n - 1));
	assert_int_equal(hn_msg_read(b.s, b.n - 1, 0, &doc, &m, &rpc, &err), 0);
	assert_int_equal(m.kind, HN_MSG_FAULT);
	assert_int_equal(m.fault_code, HONE_E_BUSY);
	assert_string_equal(m.fault_text, "a \"quoted\"\nline");
	hn_json_free(doc);
	hn_buf_reset(&b);
	hn_msg_write_event(&b, 4, "j1", 9, HN_EVENT_best, "{\"a\":1}");
	assert_int_equal(hn_msg_read(b.s, b.n - 1, 0, &doc, &m, &rpc, &err), 0);
	assert_int_equal(m.kind, HN_MSG_NOTIFY);
	assert_int_equal(hn_event_of(hn_json_string(hn_json_get(m.params, "type"))),
			 HN_EVENT_best);
	hn_json_free(doc);
	hn_buf_fini(&b);
}

/* Every method and parameter is in the document, and the document is JSON. */
static void test_discover(void **state)
{
	const struct hn_json *method;
	struct hn_json *doc;
	struct hn_buf b;
	struct hn_err err;
	uint32_t n = 0;

	(void)state;
	hn_buf_init(&b);
	hn_msg_write_discover(&b);
	assert_int_equal(hn_json_parse("discover", b.s, b.n, NULL, &doc, &err), 0);
	for (method = hn_json_first(hn_json_get(doc, "methods")); method != NULL;
	     method = hn_json_next(method)) {
		const char *name = hn_json_string(hn_json_get(method, "name"));

		assert_int_equal(hn_method_of(name), n);
		if (n == HN_METHOD_submit) {
			assert_int_equal(hn_json_count(hn_json_get(method, "params")), 12);
		}
		n++;
	}
	assert_int_equal(n, HN_N_METHOD);
	hn_json_free(doc);
	hn_buf_fini(&b);
}

static void feed(struct hn_lines *l, const char *s, size_t n)
{
	memcpy(hn_lines_room(l, n), s, n);
	hn_lines_commit(l, n);
}

static void test_lines(void **state)
{
	const char *line;
	struct hn_lines l;
	struct hn_err err;
	size_t n;

	(void)state;
	hn_lines_init(&l, 10);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 0);
	feed(&l, "ab\r\n\ncd", 7);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 1);
	assert_int_equal(n, 2);
	assert_memory_equal(line, "ab", 2);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 1);
	assert_int_equal(n, 0);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 0);
	feed(&l, "efghi", 5);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 0);
	feed(&l, "jk\n", 3);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), 1);
	assert_int_equal(n, 9);
	assert_memory_equal(line, "cdefghijk", 9);
	feed(&l, "0123456789", 10);
	assert_int_equal(hn_lines_next(&l, &line, &n, &err), -HONE_E_QUOTA);
	hn_lines_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_lines),      cmocka_unit_test(test_ids),
		cmocka_unit_test(test_depth_and_size), cmocka_unit_test(test_params),
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_discover),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
