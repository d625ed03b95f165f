/* proto/discover.c -- rpc.discover: the rows of msgs.def as an OpenRPC 1.2 document, so
 * that the description cannot drift from what msg.c checks. */
#include "proto/msg.h"

struct field {
	uint8_t method;
	bool required;
	int64_t max;
	const char *name, *kind, *text;
};

static const struct field param_row[] = {
#define PARAM(method, spelling, kind, required, max, text)                               \
	{ HN_METHOD_##method, required, max, spelling, #kind, text },
#include "proto/msgs.def"
};

static const struct field result_row[] = {
#define RESULT(method, spelling, kind, text)                                             \
	{ HN_METHOD_##method, true, 0, spelling, #kind, text },
#include "proto/msgs.def"
};

static const char *const method_text[] = {
#define METHOD(id, spelling, text) text,
#include "proto/msgs.def"
};

static const struct {
	const char *name, *unit, *text;
	int64_t value;
} limit_row[] = {
#define LIMIT(name, value, unit, text) { #name, unit, text, value },
#include "proto/msgs.def"
};

static const char *const event_text[] = {
#define EVENT(id, spelling, droppable, text) text,
#include "proto/msgs.def"
};

/* {"type":...} of a field, its maximum with it. */
static void write_schema(struct hn_buf *b, const struct field *f)
{
	static const char *const type[][3] = {
		{ "STRING", "string", "maxLength" }, { "INT", "integer", "maximum" },
		{ "NUMBER", "number", "maximum" },   { "BOOL", "boolean", NULL },
		{ "OBJECT", "object", NULL },	     { "ARRAY", "array", NULL },
	};

	hn_buf_puts(b, "{");
	for (size_t i = 0; i < HN_COUNT_OF(type); i++) {
		if (__builtin_strcmp(type[i][0], f->kind) != 0) {
			continue;
		}
		hn_buf_printf(b, "\"type\":\"%s\"", type[i][1]);
		if (type[i][2] != NULL && f->max > 0) {
			hn_buf_printf(b, ",\"%s\":%lld", type[i][2], (long long)f->max);
		}
	}
	hn_buf_puts(b, ",\"description\":");
	hn_buf_json_string(b, f->text);
	hn_buf_puts(b, "}");
}

static void write_params(struct hn_buf *b, enum hn_method m)
{
	const char *comma = "";

	for (size_t i = 0; i < HN_COUNT_OF(param_row); i++) {
		if (param_row[i].method != m) {
			continue;
		}
		hn_buf_printf(b, "%s{\"name\":\"%s\",\"required\":%s,\"schema\":", comma,
			      param_row[i].name,
			      param_row[i].required ? "true" : "false");
		write_schema(b, &param_row[i]);
		hn_buf_puts(b, "}");
		comma = ",";
	}
}

static void write_result(struct hn_buf *b, enum hn_method m)
{
	const char *comma = "";

	hn_buf_puts(
		b,
		"{\"name\":\"result\",\"schema\":{\"type\":\"object\",\"properties\":{");
	for (size_t i = 0; i < HN_COUNT_OF(result_row); i++) {
		if (result_row[i].method != m) {
			continue;
		}
		hn_buf_printf(b, "%s\"%s\":", comma, result_row[i].name);
		write_schema(b, &result_row[i]);
		comma = ",";
	}
	hn_buf_puts(b, "}}}");
}

void hn_msg_write_discover(struct hn_buf *b)
{
	hn_buf_puts(b,
		    "{\"openrpc\":\"1.2.6\",\"info\":{\"title\":\"honed\",\"version\":");
	hn_buf_json_string(b, HONE_VERSION);
	hn_buf_puts(b, "},\"methods\":[");
	for (uint32_t m = 0; m < HN_N_METHOD; m++) {
		hn_buf_printf(
			b,
			"%s{\"name\":\"%s\",\"paramStructure\":\"by-name\",\"summary\":",
			m > 0 ? "," : "", hn_method_name((enum hn_method)m));
		hn_buf_json_string(b, method_text[m]);
		hn_buf_puts(b, ",\"params\":[");
		write_params(b, (enum hn_method)m);
		hn_buf_puts(b, "],\"result\":");
		write_result(b, (enum hn_method)m);
		hn_buf_puts(b, "}");
	}
	hn_buf_puts(b, "],\"x-events\":{");
	for (uint32_t e = 0; e < HN_N_EVENT; e++) {
		hn_buf_printf(b, "%s\"%s\":", e > 0 ? "," : "",
			      hn_event_name((enum hn_event)e));
		hn_buf_json_string(b, event_text[e]);
	}
	hn_buf_puts(b, "},\"x-limits\":{");
	for (size_t i = 0; i < HN_COUNT_OF(limit_row); i++) {
		hn_buf_printf(b,
			      "%s\"%s\":{\"value\":%lld,\"unit\":\"%s\",\"description\":",
			      i > 0 ? "," : "", limit_row[i].name,
			      (long long)limit_row[i].value, limit_row[i].unit);
		hn_buf_json_string(b, limit_row[i].text);
		hn_buf_puts(b, "}");
	}
	hn_buf_puts(b, "}}");
}
