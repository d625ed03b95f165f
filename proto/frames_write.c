/* frames_write.c -- the encoder of frames: what a struct holds, as its rows say it. */
#include <inttypes.h>
#include <string.h>

#include "base/jw.h"
#include "base/name.h"
#include "proto/frames_row.h"

#define SAFE_INT (INT64_C(1) << 53) /* what is as large a reader may take for two numbers */

/* Members by their offset; of strings NULL is "". */
#define AT(type, v) (*(const type *)(v))

static const char *string(const void *v)
{
	const char *s = AT(char *, v);

	return s != NULL ? s : "";
}

static struct hn_frame_list list(const void *v)
{
	struct hn_frame_list ret;

	memcpy(&ret, v, sizeof ret);
	return ret;
}

/* What is optional and so is left out. */
static bool empty(const struct hn_frame_field *f, const void *v)
{
	switch (f->kind) {
	case HN_FIELD_BOOL:
		return !AT(bool, v);
	case HN_FIELD_INT:
		return AT(int64_t, v) == 0;
	case HN_FIELD_NUMBER:
		return AT(double, v) == 0;
	case HN_FIELD_NAME:
	case HN_FIELD_LINE:
	case HN_FIELD_TEXT:
	case HN_FIELD_JSON:
	case HN_FIELD_HASH:
		return *string(v) == '\0';
	case HN_FIELD_INTS:
	case HN_FIELD_NUMBERS:
	case HN_FIELD_MANY:
		return list(v).n == 0;
	case HN_FIELD_ONE:
		return AT(void *, v) == NULL;
	case HN_FIELD_VERDICT:
	case HN_FIELD_TYPE:
		break;
	}
	return false;
}

static void put_int(struct hn_jw *w, const char *name, int64_t v)
{
	if (v > -SAFE_INT && v < SAFE_INT) {
		hn_jw_int(w, name, v);
	} else {
		hn_jw_strf(w, name, "%" PRId64, v);
	}
}

static void put_line(struct hn_jw *w, const char *name, const char *s, uint32_t most)
{
	struct hn_buf text;

	hn_buf_init(&text);
	if (hn_buf_reserve(&text, (size_t)most + 1)) {
		hn_shown(text.s, (size_t)most + 1, s, strlen(s));
	}
	hn_jw_str(w, name, text.s);
	w->buf->failed = w->buf->failed || text.failed;
	hn_buf_fini(&text);
}

static void put_object(struct hn_jw *w, const char *name, enum hn_shape s, const void *v);

static void put_list(struct hn_jw *w, const struct hn_frame_field *f, const void *v)
{
	struct hn_frame_list l = list(v);

	hn_jw_list(w, f->name);
	for (uint32_t i = 0; i < l.n; i++) {
		const void *item = (const char *)l.at + i * hn_frame_item_bytes(f);

		if (f->kind == HN_FIELD_INTS) {
			put_int(w, NULL, AT(int64_t, item));
		} else if (f->kind == HN_FIELD_NUMBERS) {
			hn_jw_double(w, NULL, AT(double, item));
		} else {
			put_object(w, NULL, f->shape, item);
		}
	}
	hn_jw_end(w);
}

static void put(struct hn_jw *w, const struct hn_frame_field *f, const void *v)
{
	switch (f->kind) {
	case HN_FIELD_BOOL:
		hn_jw_bool(w, f->name, AT(bool, v));
		break;
	case HN_FIELD_INT:
		put_int(w, f->name, AT(int64_t, v));
		break;
	case HN_FIELD_NUMBER:
		hn_jw_double(w, f->name, AT(double, v));
		break;
	case HN_FIELD_LINE:
		put_line(w, f->name, string(v), f->most);
		break;
	case HN_FIELD_NAME:
	case HN_FIELD_TEXT:
	case HN_FIELD_HASH:
		hn_jw_str(w, f->name, string(v));
		break;
	case HN_FIELD_JSON:
		hn_jw_json(w, f->name, string(v));
		break;
	case HN_FIELD_VERDICT:
		hn_jw_str(w, f->name, hn_verdict_name(AT(enum hn_verdict, v)));
		break;
	case HN_FIELD_TYPE:
		hn_jw_str(w, f->name, hn_dtype_name(AT(enum hn_dtype, v)));
		break;
	case HN_FIELD_INTS:
	case HN_FIELD_NUMBERS:
	case HN_FIELD_MANY:
		put_list(w, f, v);
		break;
	case HN_FIELD_ONE:
		hn_assert(AT(void *, v) != NULL);
		put_object(w, f->name, f->shape, AT(void *, v));
		break;
	}
}

static void put_object(struct hn_jw *w, const char *name, enum hn_shape s, const void *v)
{
	hn_jw_object(w, name);
	for (uint32_t i = 0; i < hn_frame_n_field; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];
		const void *member = (const char *)v + f->at;

		if (f->of == s && (f->must || !empty(f, member))) {
			put(w, f, member);
		}
	}
	hn_jw_end(w);
}

void hn_frame_encode(enum hn_frame_type type, const void *v, struct hn_buf *json)
{
	struct hn_jw w;

	hn_jw_init(&w, json);
	put_object(&w, NULL, hn_frame_shape_of(type), v);
	hn_jw_done(&w);
}
