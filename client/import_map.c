/* client/import_map.c -- MAP: which computation a workload key of a log means.
 *
 * A log has keys alone.  MAP has an object on each line: a key, and the computation as compute-dag/1,
 * as text or in a file (docs/records.md).  It is the user's own, so one bad line of it refuses it
 * whole.
 */
#include "client/import.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "proto/msg.h"

#define MAP_BYTES ((size_t)256 << 20)
#define MAP_LINES 65536
#define KEY_BYTES 16384 /* as submit takes (proto/msgs.def) */

static int by_key(const void *x, const void *y)
{
	const struct hn_import_task *a = x, *b = y;

	int c = strcmp(a->key, b->key);

	return c != 0 ? c : (a->place > b->place) - (a->place < b->place);
}

struct hn_import_task *hn_import_find(const struct hn_import *im, const char *key)
{
	uint32_t lo = 0, hi = im->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = strcmp(im->task[mid].key, key);

		if (c == 0) {
			return &im->task[mid];
		}
		lo = c < 0 ? mid + 1 : lo;
		hi = c < 0 ? hi : mid;
	}
	return NULL;
}

/* `file` as it is named in MAP: from MAP's folder on. */
static const char *path_of(const char *map, const char *file, struct hn_arena *a)
{
	const char *slash = strrchr(map, '/');

	return *file == '/' || slash == NULL
		       ? file
		       : hn_arena_printf(a, "%.*s%s", (int)(slash - map + 1), map, file);
}

/* Where the computation stands: its own line, or the member "text" or "file". */
static int find_input(const struct hn_opts *o, const struct hn_json *v, const char *line,
		      struct hn_arena *a, struct hn_opts *ret, struct hn_err *err)
{
	const char *text = hn_json_string(hn_json_get(v, "text"));
	const char *file = hn_json_string(hn_json_get(v, "file"));
	const char *name = hn_json_string(hn_json_get(v, "name"));
	bool is_dag = hn_json_get(v, "ops") != NULL;

	if (!is_dag && (text == NULL) == (file == NULL)) {
		return hn_fail(err, HONE_E_INVALID,
			       "want an object: compute-dag/1 with `workload_key`, or `workload_key` "
			       "and either `text` or `file`");
	}
	*ret = (struct hn_opts){ .text = is_dag	? line
					 : text ? hn_arena_strdup(a, text)
						: NULL,
				 .forbid = o->forbid,
				 .bitwise = o->bitwise,
				 .cold = o->cold,
				 .name = name != NULL && *name != '\0' ? hn_arena_strdup(a, name)
								       : NULL };
	ret->arg = is_dag || text ? NULL : hn_arena_strdup(a, path_of(o->map, file, a));
	return 0;
}

static int read_entry(const struct hn_opts *o, const char *line, struct hn_import *im,
		      struct hn_import_task *t, struct hn_err *err)
{
	const struct hn_json_limits deep = { .max_depth = UINT32_MAX }; /* as dags are */
	struct hn_json *v = NULL;
	struct hn_opts of;
	int rc = hn_json_parse("entry", line, strlen(line), &deep, &v, err);
	const char *key = rc == 0 ? hn_json_string(hn_json_get(v, "workload_key")) : NULL;

	if (rc == 0 && (key != NULL ? *key == '\0' || strlen(key) > KEY_BYTES
				    : hn_json_get(v, "workload_key") != NULL)) {
		rc = hn_fail(err, HONE_E_INVALID, "workload_key: want a text of 1 to %d bytes",
			     KEY_BYTES);
	}
	rc = rc ? rc : find_input(o, v, line, &im->a, &of, err);
	rc = rc ? rc : hn_input_read(&of, &im->a, &t->in, err);
	if (rc == 0) { /* without one, the lines are hone's own */
		t->key = key != NULL ? hn_arena_strdup(&im->a, key) : t->in.key;
	}
	hn_json_free(v);
	return rc;
}

static int read_line(const struct hn_opts *o, const char *line, uint64_t place,
		     struct hn_import *im, struct hn_err *err)
{
	struct hn_import_task t = { .place = place };
	int rc;

	line += strspn(line, " \t\r");
	if (*line == '\0' || *line == '#') {
		return 0;
	}
	rc = im->n == MAP_LINES ? hn_fail(err, HONE_E_QUOTA, "more than %d computations", MAP_LINES)
				: read_entry(o, line, im, &t, err);
	if (rc != 0) {
		return hn_err_within(err, "%.200s:%llu", o->map, (unsigned long long)place);
	}
	im->task = hn_arena_grow(&im->a, im->task, im->n, &im->cap, sizeof(t));
	im->task[im->n++] = t;
	return 0;
}

static int sort(const struct hn_opts *o, struct hn_import *im, struct hn_err *err)
{
	if (im->n == 0) {
		return hn_fail(err, HONE_E_INVALID, "%.200s: no computation in it", o->map);
	}
	qsort(im->task, im->n, sizeof(*im->task), by_key);
	for (uint32_t i = 1; i < im->n; i++) {
		if (strcmp(im->task[i - 1].key, im->task[i].key) == 0) {
			return hn_fail(err, HONE_E_INVALID, "%.200s:%llu: the key of line %llu once more",
				       o->map, (unsigned long long)im->task[i].place,
				       (unsigned long long)im->task[i - 1].place);
		}
	}
	return 0;
}

int hn_import_map(const struct hn_opts *o, struct hn_import *im, struct hn_err *err)
{
	uint64_t place = 0;
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_file_read(o->map, MAP_BYTES, &b, err);
	if (rc == 0 && b.n > 0 && memchr(b.s, '\0', b.n) != NULL) {
		rc = hn_fail(err, HONE_E_INVALID, "%.200s: a NUL byte, which no text has", o->map);
	}
	for (char *at = b.s, *next; rc == 0 && b.n > 0 && at != NULL; at = next) {
		next = strchr(at, '\n');
		if (next != NULL) {
			*next++ = '\0';
		}
		rc = read_line(o, at, ++place, im, err);
	}
	hn_buf_fini(&b);
	return rc ? rc : sort(o, im, err);
}
