/* frames_read.c -- the decoder of frames: every field is held to its row. */
#include <inttypes.h>
#include <string.h>

#include "base/jw.h"
#include "base/name.h"
#include "proto/frames_row.h"

/* Room for a few fields that no row knows, so that they are refused by name. */
#define MORE_BYTES 1024
#define MORE_TOKENS 64
#define MOST_TOKENS 4000000 /* with a whole computation in it; some 250 MB while it is read */

/* Where a value is, for messages: the frame, or a member or an item of what is above. */
struct place {
	const struct place *up;
	const char *name; /* NULL: an item */
	uint32_t index;
};

struct reading {
	struct hn_arena *a;
	struct hn_err *err;
};

static void print_place(const struct place *at, struct hn_buf *b)
{
	if (at->up != NULL) {
		print_place(at->up, b);
	}
	if (at->name == NULL) {
		hn_buf_printf(b, "[%" PRIu32 "]", at->index);
	} else {
		hn_buf_printf(b, "%s%s", at->up == NULL	      ? ""
					 : at->up->up == NULL ? ": "
							      : ".", at->name);
	}
}

static int refuse(struct reading *r, const struct place *at, const char *fmt, ...)
	HN_PRINTF(3, 4);

static int refuse(struct reading *r, const struct place *at, const char *fmt, ...)
{
	struct hn_buf b;
	va_list ap;

	hn_buf_init(&b);
	print_place(at, &b);
	hn_buf_puts(&b, ": ");
	va_start(ap, fmt);
	hn_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	int rc = hn_fail(r->err, HONE_E_CORRUPT, "%s", b.s);

	hn_buf_fini(&b);
	return rc;
}

static int refuse_kind(struct reading *r, const struct place *at, const char *wanted,
		       const struct hn_json *v)
{
	return refuse(r, at, "must be %s, not %s", wanted, hn_json_kind_name(v));
}

static void print_number(const struct hn_frame_field *f, long double v, struct hn_buf *b)
{
	if (f->kind == HN_FIELD_INT || f->kind == HN_FIELD_INTS) {
		hn_buf_printf(b, "%.0Lf", v);
	} else {
		hn_buf_double(b, (double)v);
	}
}

static int check_range(struct reading *r, const struct place *at,
		       const struct hn_frame_field *f, long double v)
{
	struct hn_buf b;
	int rc = 0;

	hn_buf_init(&b);
	print_number(f, v, &b);
	hn_buf_puts(&b, v < f->low ? " is less than " : " is more than ");
	print_number(f, v < f->low ? f->low : f->high, &b);
	if (v < f->low || v > f->high) {
		rc = refuse(r, at, "%s", b.s);
	}
	hn_buf_fini(&b);
	return rc;
}

static int read_int(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		    const struct hn_json *v, int64_t *ret)
{
	if (hn_json_int(v, ret)) {
		return check_range(r, at, f, *ret);
	}
	return hn_json_kind(v) == HN_JSON_NUMBER
		       ? refuse(r, at, "not a whole number, or beyond 2^53 and not in digits")
		       : refuse_kind(r, at, "a whole number", v);
}

static int read_number(struct reading *r, const struct place *at,
		       const struct hn_frame_field *f, const struct hn_json *v, double *ret)
{
	return hn_json_double(v, ret) ? check_range(r, at, f, *ret)
				      : refuse_kind(r, at, "a number", v);
}

/* Whether the text is what its kind asks for; NULL, or what is wrong. */
static const char *fault_of(enum hn_field_kind kind, const char *s)
{
	switch (kind) {
	case HN_FIELD_NAME:
		return hn_name_fits(s, SIZE_MAX) ? NULL : "not a name: " HN_NAME_RULE;
	case HN_FIELD_LINE:
		return hn_label_fits(s, SIZE_MAX) ? NULL : "not one line of shown characters";
	case HN_FIELD_HASH:
		return strlen(s) == HN_SHA256_HEX - 1 &&
				       strspn(s, "0123456789abcdef") == HN_SHA256_HEX - 1
			       ? NULL
			       : "not a SHA-256 in hexadecimal digits";
	default:
		return NULL;
	}
}

static int read_string(struct reading *r, const struct place *at,
		       const struct hn_frame_field *f, const struct hn_json *v, const char **ret)
{
	const char *s = hn_json_string(v);

	if (s == NULL) {
		return refuse_kind(r, at, "a string", v);
	}
	if (strlen(s) > f->most) {
		return refuse(r, at, "%zu bytes; at most %" PRIu32, strlen(s), f->most);
	}
	const char *fault = fault_of(f->kind, s);

	if (fault != NULL) {
		return refuse(r, at, "%s", fault);
	}
	*ret = hn_arena_strdup(r->a, s);
	return 0;
}

static int read_json(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		     const struct hn_json *v, const char **ret)
{
	struct hn_buf b;
	int rc = 0;

	if (hn_json_kind(v) != HN_JSON_OBJECT && hn_json_kind(v) != HN_JSON_ARRAY) {
		return refuse_kind(r, at, "an object or an array", v);
	}
	hn_buf_init(&b);
	hn_json_write(v, &b);
	if (b.failed) {
		rc = hn_fail(r->err, HONE_E_NOMEM, "%s: no memory", f->name);
	} else if (b.n > f->most) {
		rc = refuse(r, at, "%zu bytes; at most %" PRIu32, b.n, f->most);
	} else {
		*ret = hn_arena_strndup(r->a, b.s, b.n);
	}
	hn_buf_fini(&b);
	return rc;
}

/* A word of one of the closed lists: all that is told of it is whether it is there. */
static int read_word(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		     const struct hn_json *v, void *ret)
{
	const char *s = hn_json_string(v);
	bool verdict = f->kind == HN_FIELD_VERDICT, known;
	char shown[48];

	if (s == NULL) {
		return refuse_kind(r, at, "a string", v);
	}
	if (verdict) {
		*(enum hn_verdict *)ret = hn_verdict_of(s);
		known = *(enum hn_verdict *)ret != HN_N_VERDICT;
	} else {
		*(enum hn_dtype *)ret = hn_dtype_of(s);
		known = *(enum hn_dtype *)ret != HN_N_DTYPE;
	}
	hn_shown(shown, sizeof shown, s, strlen(s));
	return known ? 0 : refuse(r, at, "'%s' is no %s", shown, verdict ? "verdict" : "type");
}

static int read_object(struct reading *r, const struct place *at, enum hn_shape s,
		       const struct hn_json *v, void *ret);

static int read_item(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		     const struct hn_json *v, void *ret)
{
	return f->kind == HN_FIELD_INTS	     ? read_int(r, at, f, v, ret)
	       : f->kind == HN_FIELD_NUMBERS ? read_number(r, at, f, v, ret)
					     : read_object(r, at, f->shape, v, ret);
}

static int read_list(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		     const struct hn_json *v, void *ret)
{
	size_t bytes = hn_frame_item_bytes(f);
	struct hn_frame_list l = { .n = 0 };
	int rc = 0;

	if (hn_json_kind(v) != HN_JSON_ARRAY) {
		return refuse_kind(r, at, "an array", v);
	}
	uint32_t n = hn_json_count(v);

	if (n > f->most || (f->must && n == 0)) {
		return refuse(r, at, "%" PRIu32 " items; %s %" PRIu32, n,
			      n == 0 ? "at least" : "at most", n == 0 ? 1 : f->most);
	}
	char *item = hn_arena_array(r->a, n, bytes);

	for (const struct hn_json *c = hn_json_first(v); rc == 0 && c; c = hn_json_next(c)) {
		const struct place here = { .up = at, .index = l.n };

		rc = read_item(r, &here, f, c, item + bytes * l.n++);
	}
	l.at = item;
	memcpy(ret, &l, sizeof l);
	return rc;
}

static int read_field(struct reading *r, const struct place *at, const struct hn_frame_field *f,
		      const struct hn_json *v, void *ret)
{
	switch (f->kind) {
	case HN_FIELD_BOOL:
		return hn_json_bool(v, ret) ? 0 : refuse_kind(r, at, "true or false", v);
	case HN_FIELD_INT:
		return read_int(r, at, f, v, ret);
	case HN_FIELD_NUMBER:
		return read_number(r, at, f, v, ret);
	case HN_FIELD_NAME:
	case HN_FIELD_LINE:
	case HN_FIELD_TEXT:
	case HN_FIELD_HASH:
		return read_string(r, at, f, v, ret);
	case HN_FIELD_JSON:
		return read_json(r, at, f, v, ret);
	case HN_FIELD_VERDICT:
	case HN_FIELD_TYPE:
		return read_word(r, at, f, v, ret);
	case HN_FIELD_INTS:
	case HN_FIELD_NUMBERS:
	case HN_FIELD_MANY:
		return read_list(r, at, f, v, ret);
	case HN_FIELD_ONE:
		break;
	}
	void *one = hn_arena_alloc(r->a, hn_frame_shape[f->shape].bytes);

	*(const void **)ret = one;
	return read_object(r, at, f->shape, v, one);
}

static bool is_string(enum hn_field_kind kind)
{
	return kind == HN_FIELD_NAME || kind == HN_FIELD_LINE || kind == HN_FIELD_TEXT ||
	       kind == HN_FIELD_JSON || kind == HN_FIELD_HASH;
}

/* What is absent: memory that is zero, but for strings and lists. */
static void set_absent(const struct hn_frame_field *f, void *ret)
{
	static const max_align_t none;

	if (is_string(f->kind)) {
		*(const char **)ret = "";
	} else if (f->kind == HN_FIELD_INTS || f->kind == HN_FIELD_NUMBERS ||
		   f->kind == HN_FIELD_MANY) {
		memcpy(ret, &(struct hn_frame_list){ .at = &none }, sizeof(struct hn_frame_list));
	}
}

/* Members that no row of the shape has. */
static int check_known(struct reading *r, const struct place *at, enum hn_shape s,
		       const struct hn_json *v)
{
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		const char *key = hn_json_key(c);
		bool known = false;
		char shown[48];

		for (uint32_t i = 0; i < hn_frame_n_field && !known; i++) {
			known = hn_frame_field[i].of == s &&
				strcmp(hn_frame_field[i].name, key) == 0;
		}
		if (!known) {
			hn_shown(shown, sizeof shown, key, strlen(key));
			return refuse(r, at, "there is no field '%s'", shown);
		}
	}
	return 0;
}

static int check_rules(struct reading *r, const struct place *at, enum hn_shape s, const void *v)
{
	for (uint32_t i = 0; i < hn_frame_n_rule; i++) {
		if (hn_frame_rule[i].of == s && !hn_frame_rule[i].holds(v)) {
			return refuse(r, at, "%s", hn_frame_rule[i].text);
		}
	}
	return 0;
}

/* ret is zero. */
static int read_object(struct reading *r, const struct place *at, enum hn_shape s,
		       const struct hn_json *v, void *ret)
{
	if (hn_json_kind(v) != HN_JSON_OBJECT) {
		return refuse_kind(r, at, "an object", v);
	}
	int rc = check_known(r, at, s, v);

	for (uint32_t i = 0; i < hn_frame_n_field && rc == 0; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];
		const struct place here = { .up = at, .name = f->name };
		void *member = (char *)ret + f->at;
		const struct hn_json *value;

		if (f->of != s) {
			continue;
		}
		set_absent(f, member);
		value = hn_json_get(v, f->name);
		if (value != NULL) {
			rc = read_field(r, &here, f, value, member);
		} else if (f->must) {
			rc = refuse(r, &here, "missing");
		}
	}
	return rc ? rc : check_rules(r, at, s, ret);
}

/* The most that a frame of these rows is, and a little more. */
struct most {
	uint64_t bytes, tokens;
	uint32_t depth;
};

static struct most most_of(enum hn_shape s)
{
	struct most sum = { .bytes = 2, .tokens = 1, .depth = 1 };

	for (uint32_t i = 0; i < hn_frame_n_field; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];
		struct most one = { .bytes = 32, .tokens = 1 };
		uint32_t n = f->kind == HN_FIELD_ONE ? 1 : f->most;

		if (f->of != s) {
			continue;
		}
		if (f->kind == HN_FIELD_ONE || f->kind == HN_FIELD_MANY) {
			one = most_of(f->shape);
			one.depth += f->kind == HN_FIELD_MANY;
		} else if (f->kind == HN_FIELD_JSON) {
			one = (struct most){ .bytes = 1, .tokens = 1, .depth = HN_JW_DEPTH };
		} else if (is_string(f->kind)) {
			one = (struct most){ .bytes = sizeof "\\u0000" - 1 };
		} else if (f->most > 0) {
			one.depth = 1;
		} else {
			n = 1;
		}
		sum.bytes += strlen(f->name) + 8 + n * (one.bytes + 1);
		sum.tokens += 3 + n * one.tokens;
		sum.depth = sum.depth > one.depth + 1 ? sum.depth : one.depth + 1;
	}
	return sum;
}

int hn_frame_decode(enum hn_frame_type type, const struct hn_frame *f, struct hn_arena *a,
		    void *ret, struct hn_err *err)
{
	enum hn_shape s = hn_frame_shape_of(type);
	const struct most most = most_of(s);
	const struct hn_json_limits limits = {
		.max_bytes = most.bytes + MORE_BYTES,
		.max_tokens = most.tokens < MOST_TOKENS ? (uint32_t)most.tokens + MORE_TOKENS
							: MOST_TOKENS,
		.max_depth = most.depth + 1,
	};
	const struct place here = { .name = hn_frame_shape[s].name };
	struct reading r = { .a = a, .err = err };
	struct hn_json *v;

	memset(ret, 0, hn_frame_shape[s].bytes);
	if (f->type != type) {
		return refuse(&r, &here, "expected; this is %s", hn_frame_name(f->type));
	}
	int rc = hn_json_parse(here.name, f->json, f->json_bytes, &limits, &v, err);

	if (rc != 0) {
		if (err != NULL && rc != -HONE_E_NOMEM) {
			err->code = HONE_E_CORRUPT;
		}
		return rc != -HONE_E_NOMEM ? -HONE_E_CORRUPT : rc;
	}
	rc = read_object(&r, &here, s, v, ret);
	hn_json_free(v);
	return rc;
}
