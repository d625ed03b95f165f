/* proto/discover.c -- rpc.discover: the rows of msgs.def as an OpenRPC 1.2 document, so
 * that the description cannot drift from what msg.c checks. */
#include "base/jw.h"
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

/* The type of a field, its maximum with it. */
static void write_schema(struct hn_jw *w, const char *name, const struct field *f)
{
	static const char *const type[][3] = {
		{ "STRING", "string", "maxLength" }, { "INT", "integer", "maximum" },
		{ "NUMBER", "number", "maximum" },   { "BOOL", "boolean", NULL },
		{ "OBJECT", "object", NULL },	     { "ARRAY", "array", NULL },
	};

	hn_jw_object(w, name);
	for (size_t i = 0; i < HN_COUNT_OF(type); i++) {
		if (__builtin_strcmp(type[i][0], f->kind) != 0) {
			continue;
		}
		hn_jw_str(w, "type", type[i][1]);
		if (type[i][2] != NULL && f->max > 0) {
			hn_jw_int(w, type[i][2], f->max);
		}
	}
	hn_jw_str(w, "description", f->text);
	hn_jw_end(w);
}

static void write_params(struct hn_jw *w, enum hn_method m)
{
	hn_jw_list(w, "params");
	for (size_t i = 0; i < HN_COUNT_OF(param_row); i++) {
		if (param_row[i].method == m) {
			hn_jw_object(w, NULL);
			hn_jw_str(w, "name", param_row[i].name);
			hn_jw_bool(w, "required", param_row[i].required);
			write_schema(w, "schema", &param_row[i]);
			hn_jw_end(w);
		}
	}
	hn_jw_end(w);
}

static void write_result(struct hn_jw *w, enum hn_method m)
{
	hn_jw_object(w, "result");
	hn_jw_str(w, "name", "result");
	hn_jw_object(w, "schema");
	hn_jw_str(w, "type", "object");
	hn_jw_object(w, "properties");
	for (size_t i = 0; i < HN_COUNT_OF(result_row); i++) {
		if (result_row[i].method == m) {
			write_schema(w, result_row[i].name, &result_row[i]);
		}
	}
	hn_jw_end(w);
	hn_jw_end(w);
	hn_jw_end(w);
}

static void write_methods(struct hn_jw *w)
{
	hn_jw_list(w, "methods");
	for (uint32_t m = 0; m < HN_N_METHOD; m++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", hn_method_name((enum hn_method)m));
		hn_jw_str(w, "paramStructure", "by-name");
		hn_jw_str(w, "summary", method_text[m]);
		write_params(w, (enum hn_method)m);
		write_result(w, (enum hn_method)m);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

void hn_msg_write_discover(struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "openrpc", "1.2.6");
	hn_jw_object(&w, "info");
	hn_jw_str(&w, "title", "honed");
	hn_jw_str(&w, "version", HONE_VERSION);
	hn_jw_end(&w);
	write_methods(&w);
	hn_jw_object(&w, "x-events");
	for (uint32_t e = 0; e < HN_N_EVENT; e++) {
		hn_jw_str(&w, hn_event_name((enum hn_event)e), event_text[e]);
	}
	hn_jw_end(&w);
	hn_jw_object(&w, "x-limits");
	for (size_t i = 0; i < HN_COUNT_OF(limit_row); i++) {
		hn_jw_object(&w, limit_row[i].name);
		hn_jw_int(&w, "value", limit_row[i].value);
		hn_jw_str(&w, "unit", limit_row[i].unit);
		hn_jw_str(&w, "description", limit_row[i].text);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
}
