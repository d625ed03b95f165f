/* target/npu/npu_launch.c -- values for a program's sizes, held against what it is for. */
#include "target/npu/npu_launch.h"

#include <string.h>

#include "target/npu/npu_form.h"

static bool holds(const struct hn_npu_where *w, const int64_t *value)
{
	int64_t x, y;

	if (!hn_npu_form_value(w->left, value, &x) || !hn_npu_form_value(w->right, value, &y)) {
		return false;
	}
	return w->relation == HN_NPU_EQ ? x == y : w->relation == HN_NPU_LE ? x <= y : x >= y;
}

/* "M 17, N 3" */
static void put_values(const struct hn_npu_program *p, const int64_t *value, struct hn_buf *b)
{
	for (uint32_t i = 0; i < p->n_size; i++) {
		hn_buf_printf(b, "%s%s %lld", i > 0 ? ", " : "", p->size[i].name, (long long)value[i]);
	}
}

static int no_such_sizes(const struct hn_npu_program *p, const struct hn_npu_where *w, const int64_t *value,
			 struct hn_err *err)
{
	struct hn_buf b, c;
	int rc;

	hn_buf_init(&b);
	hn_buf_init(&c);
	put_values(p, value, &b);
	hn_npu_where_print(p, w, &c);
	rc = hn_fail(err, HONE_E_INVALID, "%s: it is for sizes where %.200s, which does not hold of %.200s",
		     p->what, c.s, b.s);
	hn_buf_fini(&b);
	hn_buf_fini(&c);
	return rc;
}

static int lengths(const struct hn_npu_program *p, const int64_t *value, struct hn_npu_buffer *to,
		   struct hn_err *err)
{
	for (uint32_t i = 0; i < p->n_buffer + p->n_scratch; i++) {
		to[i] = p->buffer[i];
		if (to[i].length == NULL) {
			continue;
		}
		if (!hn_npu_form_value(to[i].length, value, &to[i].n_elem) || to[i].n_elem < 1 ||
		    to[i].n_elem > HN_NPU_MOST_BYTES / hn_dtype_bytes(to[i].dtype)) {
			return hn_fail(err, HONE_E_INVALID, "%s: of these sizes buffer %s has no length of 1 byte "
				       "to %lld", p->what, to[i].name, (long long)HN_NPU_MOST_BYTES);
		}
		to[i].bytes = to[i].n_elem * hn_dtype_bytes(to[i].dtype);
	}
	return 0;
}

int hn_npu_launch(const struct hn_npu_program *p, const int64_t *value, struct hn_arena *a,
		  const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_program *made = HN_NEW(a, struct hn_npu_program);
	struct hn_npu_buffer *buffer = HN_NEW_ARRAY(a, struct hn_npu_buffer,
						    p->n_buffer + p->n_scratch + 1);
	int64_t *copy = HN_NEW_ARRAY(a, int64_t, p->n_size + 1);
	int rc;

	for (uint32_t i = 0; i < p->n_size; i++) {
		const struct hn_npu_size *s = &p->size[i];

		if (value[i] < s->lo || value[i] > s->hi) {
			return hn_fail(err, HONE_E_INVALID, "%s: %s is %lld, and it is for %lld to %lld", p->what,
				       s->name, (long long)value[i], (long long)s->lo, (long long)s->hi);
		}
		copy[i] = value[i];
	}
	for (uint32_t i = 0; i < p->n_where; i++) {
		if (!holds(&p->where[i], value)) {
			return no_such_sizes(p, &p->where[i], value, err);
		}
	}
	rc = lengths(p, value, buffer, err);
	if (rc != 0) {
		return rc;
	}
	*made = *p;
	made->buffer = buffer;
	made->value = copy;
	*ret = made;
	return 0;
}

int hn_npu_launch_first(const struct hn_npu_program *const *p, uint32_t n, const int64_t *value,
			struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	int rc = hn_fail(err, HONE_E_INVALID, "there is no program");

	for (uint32_t i = 0; i < n; i++) {
		rc = hn_npu_launch(p[i], value, a, ret, err);
		if (rc == 0) {
			return 0;
		}
	}
	return rc;
}

/* Where the next program begins, at a line's begin; `end`: there is none. */
static const char *next_program(const char *s, const char *end)
{
	static const char format[] = HN_NPU_FORMAT;

	while (s < end) {
		const char *line = memchr(s, '\n', (size_t)(end - s));

		s = line == NULL ? end : line + 1;
		if ((size_t)(end - s) >= sizeof(format) - 1 && memcmp(s, format, sizeof(format) - 1) == 0) {
			return s;
		}
	}
	return end;
}

static bool same_sizes(const struct hn_npu_program *p, const struct hn_npu_program *q)
{
	bool same = p->n_size == q->n_size;

	for (uint32_t i = 0; i < p->n_size && same; i++) {
		same = strcmp(p->size[i].name, q->size[i].name) == 0;
	}
	return same;
}

int hn_npu_parse_kernels(const char *what, const char *text, size_t n, uint32_t most, struct hn_arena *a,
			 const struct hn_npu_program **ret, uint32_t *ret_n, struct hn_err *err)
{
	const char *end = text + n, *s = text, *next;

	*ret_n = 0;
	/* comments may stand in front of the first */
	next = n >= sizeof(HN_NPU_FORMAT) - 1 && memcmp(text, HN_NPU_FORMAT, sizeof(HN_NPU_FORMAT) - 1) == 0
		       ? text : next_program(text, end);
	next = next_program(next, end);
	do {
		struct hn_buf name;
		int rc;

		if (*ret_n == most) {
			return hn_fail(err, HONE_E_INVALID, "%s: more than %u programs", what, most);
		}
		hn_buf_init(&name);
		hn_buf_puts(&name, what);
		if (s != text) {
			hn_buf_printf(&name, ", program %u", *ret_n + 1);
		}
		rc = hn_npu_parse(name.s, s, (size_t)(next - s), a, &ret[*ret_n], err);
		hn_buf_fini(&name);
		if (rc != 0) {
			return rc;
		}
		if (!same_sizes(ret[0], ret[*ret_n])) {
			return hn_fail(err, HONE_E_INVALID, "%s: program %u has other sizes than the first", what,
				       *ret_n + 1);
		}
		++*ret_n;
		s = next;
		next = next_program(next, end);
	} while (s < end);
	return 0;
}
