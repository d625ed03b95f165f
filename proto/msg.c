/* proto/msg.c -- reading and writing JSON-RPC messages; the tables of msgs.def. */
#include "proto/msg.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "base/jw.h"

static const char *const method_name[] = {
#define METHOD(id, spelling, text) spelling,
#include "proto/msgs.def"
};

static const struct {
	const char *name;
	bool droppable;
} event_row[] = {
#define EVENT(id, spelling, droppable, text) { spelling, droppable },
#include "proto/msgs.def"
};

enum param_kind { STRING, INT, NUMBER, BOOL, OBJECT, ARRAY, ANY };

struct param {
	uint8_t method, kind;
	bool required;
	int64_t max;
	const char *name;
};

static const struct param param_row[] = {
#define PARAM(method, spelling, kind, required, max, text)                               \
	{ HN_METHOD_##method, kind, required, max, spelling },
#include "proto/msgs.def"
};

const char *hn_method_name(enum hn_method m)
{
	return m < HN_N_METHOD ? method_name[m] : "?";
}

enum hn_method hn_method_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < HN_N_METHOD && strcmp(name, method_name[i]) != 0; i++) {
	}
	return (enum hn_method)i;
}

const char *hn_event_name(enum hn_event e)
{
	return e < HN_N_EVENT ? event_row[e].name : "?";
}

enum hn_event hn_event_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < HN_N_EVENT && strcmp(name, event_row[i].name) != 0; i++) {
	}
	return (enum hn_event)i;
}

bool hn_event_droppable(enum hn_event e)
{
	return e < HN_N_EVENT && event_row[e].droppable;
}

uint64_t hn_limit_dag_bytes(void)
{
	struct hn_memory m;

	hn_memory_read("", &m);
	return (uint64_t)m.limit / 4;
}

/* The id as JSON text; false when it is of a kind or length that JSON-RPC or we refuse.
 */
static bool read_id(const struct hn_json *v, char *id, size_t cap)
{
	struct hn_buf b;
	bool fits;

	if (hn_json_kind(v) != HN_JSON_STRING && hn_json_kind(v) != HN_JSON_NUMBER &&
	    hn_json_kind(v) != HN_JSON_NULL) {
		return false;
	}
	hn_buf_init(&b);
	hn_json_write(v, &b);
	fits = !b.failed && b.n < cap;
	if (fits) {
		memcpy(id, b.s, b.n + 1);
	}
	hn_buf_fini(&b);
	return fits;
}

static int read_fault(const struct hn_json *v, struct hn_msg *ret, struct hn_err *err)
{
	if (hn_json_kind(v) != HN_JSON_OBJECT ||
	    !hn_json_int(hn_json_get(v, "code"), &ret->fault_code) ||
	    hn_json_string(hn_json_get(v, "message")) == NULL) {
		return hn_fail(err, HONE_E_INVALID, "error: needs a code and a message");
	}
	ret->kind = HN_MSG_FAULT;
	ret->fault_text = hn_json_string(hn_json_get(v, "message"));
	return 0;
}

/* What the object is, by JSON-RPC's rules; ret->id is filled in already when it is valid.
 */
static int classify(const struct hn_json *doc, const struct hn_json *id,
		    struct hn_msg *ret, struct hn_err *err)
{
	const char *version = hn_json_string(hn_json_get(doc, "jsonrpc"));
	const struct hn_json *method = hn_json_get(doc, "method");
	const struct hn_json *params = hn_json_get(doc, "params");

	if (version == NULL || strcmp(version, "2.0") != 0) {
		return hn_fail(err, HONE_E_INVALID, "jsonrpc: must be \"2.0\"");
	}
	if (method != NULL) {
		ret->method = hn_json_string(method);
		if (ret->method == NULL) {
			return hn_fail(err, HONE_E_INVALID, "method: must be a string");
		}
		if (params != NULL && hn_json_kind(params) != HN_JSON_OBJECT) {
			return hn_fail(err, HONE_E_INVALID,
				       "params: must be an object, not %s",
				       hn_json_kind_name(params));
		}
		ret->params = params;
		ret->kind = id != NULL ? HN_MSG_REQUEST : HN_MSG_NOTIFY;
		return 0;
	}
	if (id != NULL && hn_json_get(doc, "error") != NULL) {
		return read_fault(hn_json_get(doc, "error"), ret, err);
	}
	ret->result = hn_json_get(doc, "result");
	if (id == NULL || ret->result == NULL) {
		return hn_fail(err, HONE_E_INVALID, "neither a request nor a reply");
	}
	ret->kind = HN_MSG_RESULT;
	return 0;
}

int hn_msg_read(const char *line, size_t n, size_t max_bytes, struct hn_json **ret_doc,
		struct hn_msg *ret, int *ret_rpc, struct hn_err *err)
{
	struct hn_json_limits limits = { .max_bytes = max_bytes,
					 .max_depth = HN_LIMIT_LINE_DEPTH,
					 .max_tokens = HN_LIMIT_LINE_TOKENS };
	const struct hn_json *id;
	struct hn_json *doc;
	int rc;

	*ret = (struct hn_msg){ .id = "null" };
	*ret_rpc = HN_RPC_PARSE;
	rc = hn_json_parse("request", line, n, &limits, &doc, err);
	if (rc != 0) {
		return rc;
	}
	*ret_rpc = HN_RPC_REQUEST;
	if (hn_json_kind(doc) != HN_JSON_OBJECT) {
		rc = hn_fail(err, HONE_E_INVALID,
			     "request: must be one JSON-RPC object, not %s (batches are "
			     "refused)",
			     hn_json_kind_name(doc));
		hn_json_free(doc);
		return rc;
	}
	id = hn_json_get(doc, "id");
	if (id != NULL && !read_id(id, ret->id, sizeof(ret->id))) {
		rc = hn_fail(
			err, HONE_E_INVALID,
			"request: id: must be a number or a string of at most %d bytes",
			HN_LIMIT_ID_BYTES);
	} else {
		rc = classify(doc, id, ret, err);
		if (rc != 0) {
			hn_err_within(err, "request");
		}
	}
	if (rc != 0) {
		hn_json_free(doc);
		return rc;
	}
	*ret_doc = doc;
	return 0;
}

static int check_value(const struct param *p, const struct hn_json *v, struct hn_err *err)
{
	static const char *const kind_text[] = { "a string",  "a whole number",
						 "a number",  "true or false",
						 "an object", "an array",
						 "" };
	double d = 0;
	int64_t i = 0;
	bool flag, ok;

	switch ((enum param_kind)p->kind) {
	case STRING:
		ok = hn_json_string(v) != NULL;
		if (ok && strlen(hn_json_string(v)) > (size_t)p->max) {
			return hn_fail(err, HONE_E_QUOTA, "%s: longer than %lld bytes",
				       p->name, (long long)p->max);
		}
		break;
	case INT:
		ok = hn_json_int(v, &i);
		break;
	case NUMBER:
		ok = hn_json_double(v, &d);
		break;
	case BOOL:
		ok = hn_json_bool(v, &flag);
		break;
	case OBJECT:
		ok = hn_json_kind(v) == HN_JSON_OBJECT;
		break;
	case ARRAY:
		ok = hn_json_kind(v) == HN_JSON_ARRAY;
		break;
	default:
		ok = true;
		break;
	}
	if (!ok) {
		return hn_fail(err, HONE_E_INVALID, "%s: must be %s, not %s", p->name,
			       kind_text[p->kind], hn_json_kind_name(v));
	}
	if (p->kind == INT && (i < 0 || i > p->max)) {
		return hn_fail(err, HONE_E_INVALID, "%s: %lld is not within 0 and %lld",
			       p->name, (long long)i, (long long)p->max);
	}
	if (p->kind == NUMBER && !(d >= 0 && d <= (double)p->max)) {
		return hn_fail(err, HONE_E_INVALID, "%s: must be within 0 and %lld",
			       p->name, (long long)p->max);
	}
	return 0;
}

int hn_msg_check(enum hn_method m, const struct hn_json *params, struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(param_row); i++) {
		const struct param *p = &param_row[i];
		const struct hn_json *v;
		int rc = 0;

		if (p->method != m) {
			continue;
		}
		v = params != NULL ? hn_json_get(params, p->name) : NULL;
		if (v != NULL) {
			rc = check_value(p, v, err);
		} else if (p->required) {
			rc = hn_fail(err, HONE_E_INVALID, "%s: missing", p->name);
		}
		if (rc != 0) {
			return hn_err_within(err, "%s", hn_method_name(m));
		}
	}
	return 0;
}

/* What every message begins with; a line ends it. */
static void begin(struct hn_jw *w, struct hn_buf *b)
{
	hn_jw_init(w, b);
	hn_jw_object(w, NULL);
	hn_jw_str(w, "jsonrpc", "2.0");
}

static void end(struct hn_jw *w)
{
	hn_jw_end(w);
	hn_jw_done(w);
	hn_buf_putc(w->buf, '\n');
}

void hn_msg_write_request(struct hn_buf *b, const char *id, const char *method,
			  const char *params)
{
	struct hn_jw w;

	begin(&w, b);
	hn_jw_written(&w, "id", id);
	hn_jw_str(&w, "method", method);
	hn_jw_written(&w, "params", params != NULL ? params : "{}");
	end(&w);
}

void hn_msg_write_result(struct hn_buf *b, const char *id, const char *result)
{
	struct hn_jw w;

	begin(&w, b);
	hn_jw_written(&w, "id", id);
	hn_jw_written(&w, "result", result);
	end(&w);
}

void hn_msg_write_fault(struct hn_buf *b, const char *id, int code, const char *text)
{
	struct hn_jw w;

	begin(&w, b);
	hn_jw_written(&w, "id", id);
	hn_jw_object(&w, "error");
	hn_jw_int(&w, "code", code);
	hn_jw_str(&w, "message", text);
	if (code > 0) {
		hn_jw_object(&w, "data");
		hn_jw_strf(&w, "name", "HONE_E_%s", hn_err_name(code));
		hn_jw_bool(&w, "retryable",
			   code == HONE_E_BUSY || code == HONE_E_TIMEOUT);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	end(&w);
}

void hn_msg_write_event(struct hn_buf *b, uint64_t subscription, const char *job,
			uint64_t seq, enum hn_event type, const char *data)
{
	struct hn_jw w;

	begin(&w, b);
	hn_jw_str(&w, "method", "hone.event");
	hn_jw_object(&w, "params");
	hn_jw_uint(&w, "subscription", subscription);
	hn_jw_str(&w, "job", job);
	hn_jw_uint(&w, "seq", seq);
	hn_jw_str(&w, "type", hn_event_name(type));
	hn_jw_written(&w, "data", data);
	hn_jw_end(&w);
	end(&w);
}
