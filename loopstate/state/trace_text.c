/* trace_text.c -- the record form of a trace, both ways (docs/trace.md).
 *
 * One codec for all steps: it walks the step's field table beside the record's array. The
 * spacing is Ansor's, so that a record read and written again is the same bytes.
 */
#include "loopstate/state/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "loopstate/state/step.h"

#define INT_FIELD_MAX ((int64_t)1 << 53)

static void write_list(const struct hn_step *step, struct hn_buf *buf)
{
	hn_buf_putc(buf, '[');
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_puts(buf, i > 0 ? ", " : "");
		if (step->list[i] == HN_HOLE) {
			hn_buf_puts(buf, "null");
		} else {
			hn_buf_printf(buf, "%" PRId64, step->list[i]);
		}
	}
	hn_buf_putc(buf, ']');
}

static void write_step(const struct hn_step *step, struct hn_buf *buf)
{
	const struct hn_step_ops *ops = hn_step_ops(step->kind);
	uint32_t i_scalar = 0;

	hn_buf_printf(buf, "[\"%s\"", ops->tag);
	for (const struct hn_field *f = ops->field; f->kind != HN_FIELD_END; f++) {
		hn_buf_puts(buf, ", ");
		switch ((enum hn_field_kind)f->kind) {
		case HN_FIELD_STAGE:
			hn_buf_printf(buf, "%" PRId32, step->stage);
			break;
		case HN_FIELD_LIST:
		case HN_FIELD_LENS:
			write_list(step, buf);
			break;
		case HN_FIELD_TEXT:
			hn_buf_json_string(buf, step->text);
			break;
		default:
			hn_buf_printf(buf, "%" PRId64, step->a[i_scalar++]);
			break;
		}
	}
	hn_buf_putc(buf, ']');
}

void hn_trace_write(const struct hn_trace *t, struct hn_buf *buf)
{
	hn_buf_putc(buf, '[');
	for (uint32_t i = 0; t != NULL && i < t->n_step; i++) {
		hn_buf_puts(buf, i > 0 ? ", " : "");
		write_step(t->step[i], buf);
	}
	hn_buf_putc(buf, ']');
}

/* Where a message points: the field being read. */
struct place {
	const char *tag;
	const char *field;
};

static int bad(const struct place *at, const struct hn_json *v, const char *want,
	       struct hn_err *err)
{
	return hn_fail(err, HONE_E_INVALID, "%s: %s is %s; it must be %s", at->tag,
		       at->field, hn_json_kind_name(v), want);
}

static int read_int(const struct place *at, const struct hn_json *v, int64_t low,
		    int64_t high, int64_t *ret, struct hn_err *err)
{
	int64_t x;

	if (hn_json_kind(v) != HN_JSON_NUMBER) {
		return bad(at, v, "a whole number", err);
	}
	if (!hn_json_int(v, &x)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: %s is not a whole number of at most 53 bits", at->tag,
			       at->field);
	}
	if (x < low || x > high) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: %s is %" PRId64 "; it must lie in %" PRId64
			       "..%" PRId64,
			       at->tag, at->field, x, low, high);
	}
	*ret = x;
	return 0;
}

static int read_list(const struct place *at, const struct hn_json *v, bool lens,
		     struct hn_arena *a, struct hn_step *step, struct hn_err *err)
{
	if (hn_json_kind(v) != HN_JSON_ARRAY) {
		return bad(at, v, "a list of whole numbers", err);
	}
	uint32_t n = hn_json_count(v), i = 0;

	if (n > HN_STEP_MAX_LIST) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: %s has %" PRIu32 " items; %d is the limit", at->tag,
			       at->field, n, HN_STEP_MAX_LIST);
	}
	int64_t *list = HN_NEW_ARRAY(a, int64_t, n);

	for (const struct hn_json *c = hn_json_first(v); c != NULL;
	     c = hn_json_next(c), i++) {
		if (lens && hn_json_kind(c) == HN_JSON_NULL) {
			list[i] = HN_HOLE;
			continue;
		}
		int rc = read_int(at, c, lens ? 1 : 0, INT32_MAX, &list[i], err);

		if (rc != 0) {
			return rc;
		}
	}
	step->n_list = n;
	step->list = list;
	return 0;
}

static int read_text(const struct place *at, const struct hn_json *v, struct hn_arena *a,
		     struct hn_step *step, struct hn_err *err)
{
	const char *s = hn_json_string(v);

	if (s == NULL) {
		return bad(at, v, "a string", err);
	}
	if (strlen(s) > HN_STEP_MAX_TEXT) {
		return hn_fail(err, HONE_E_INVALID, "%s: %s is longer than %d bytes",
			       at->tag, at->field, HN_STEP_MAX_TEXT);
	}
	step->text = hn_arena_strdup(a, s);
	return 0;
}

static int read_stage(const struct place *at, const struct hn_json *v,
		      struct hn_step *step, struct hn_err *err)
{
	int64_t x;
	int rc = read_int(at, v, 0, INT32_MAX, &x, err);

	if (rc == 0) {
		step->stage = (int32_t)x;
	}
	return rc;
}

static int read_field(const char *tag, const struct hn_field *f, const struct hn_json *v,
		      uint32_t *i_scalar, struct hn_arena *a, struct hn_step *step,
		      struct hn_err *err)
{
	const struct place at = {tag, f->name};

	switch ((enum hn_field_kind)f->kind) {
	case HN_FIELD_STAGE:
		return read_stage(&at, v, step, err);
	case HN_FIELD_LIST:
	case HN_FIELD_LENS:
		return read_list(&at, v, f->kind == HN_FIELD_LENS, a, step, err);
	case HN_FIELD_TEXT:
		return read_text(&at, v, a, step, err);
	case HN_FIELD_FLAG:
		return read_int(&at, v, 0, 1, &step->a[(*i_scalar)++], err);
	default:
		return read_int(&at, v, 0, INT_FIELD_MAX, &step->a[(*i_scalar)++], err);
	}
}

static uint32_t count_fields(const struct hn_step_ops *ops)
{
	uint32_t n = 0;

	while (ops->field[n].kind != HN_FIELD_END) {
		n++;
	}
	return n;
}

static int read_step(const struct hn_json *v, struct hn_arena *a,
		     const struct hn_step **ret, struct hn_err *err)
{
	const struct hn_json *c = hn_json_first(v);
	const char *tag =
		c != NULL && hn_json_kind(v) == HN_JSON_ARRAY ? hn_json_string(c) : NULL;

	if (tag == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "a step is an array that begins with its tag, like "
			       "[\"SP\", 2, 0, 512, [4, 2, 8], 1]");
	}
	enum hn_step_kind kind = hn_step_of(tag);

	if (kind == HN_N_STEP) {
		return hn_fail(err, HONE_E_INVALID, "unknown step \"%.16s\"", tag);
	}
	const struct hn_step_ops *ops = hn_step_ops(kind);
	uint32_t n = count_fields(ops), i_scalar = 0;
	struct hn_step *step = HN_NEW(a, struct hn_step);

	if (hn_json_count(v) != n + 1) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s has %" PRIu32 " items after its tag, not %" PRIu32,
			       tag, n, hn_json_count(v) - 1);
	}
	step->kind = (uint8_t)kind;
	for (uint32_t i = 0; i < n; i++) {
		c = hn_json_next(c);
		int rc = read_field(ops->tag, &ops->field[i], c, &i_scalar, a, step, err);

		if (rc != 0) {
			return rc;
		}
	}
	*ret = step;
	return 0;
}

int hn_trace_from_json(const char *what, const struct hn_json *steps, struct hn_arena *a,
		       const struct hn_trace **ret, struct hn_err *err)
{
	if (steps == NULL || hn_json_kind(steps) != HN_JSON_ARRAY) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: a trace is an array of steps, not %s", what,
			       steps != NULL ? hn_json_kind_name(steps) : "nothing");
	}
	uint32_t n = hn_json_count(steps), i = 0;

	if (n > HN_TRACE_MAX_STEPS) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: %" PRIu32 " steps; %d is the limit", what, n,
			       HN_TRACE_MAX_STEPS);
	}
	struct hn_trace *t = HN_NEW(a, struct hn_trace);
	const struct hn_step **step = HN_NEW_ARRAY(a, const struct hn_step *, n);

	for (const struct hn_json *c = hn_json_first(steps); c != NULL;
	     c = hn_json_next(c), i++) {
		int rc = read_step(c, a, &step[i], err);

		if (rc != 0) {
			hn_err_within(err, "%s: step %" PRIu32, what, i);
			return rc;
		}
	}
	t->n_step = n;
	t->step = step;
	*ret = t;
	return 0;
}

int hn_trace_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		   const struct hn_trace **ret, struct hn_err *err)
{
	struct hn_json *json;
	int rc = hn_json_parse(what, text, n, NULL, &json, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_trace_from_json(what, json, a, ret, err);
	hn_json_free(json);
	return rc;
}
