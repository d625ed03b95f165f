/* client/input.c -- the computation a user gave, by file or on the command line; and how
 * numbers are shown. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/name.h"
#include "client/network.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/dag/mark.h"
#include "loopstate/read/dag_read.h"
#include "proto/msg.h"

#define FILE_MAX ((size_t)64 << 20)

const char *hn_show_time(double ns, char text[32])
{
	static const struct {
		double below, scale;
		const char *unit;
	} row[] = { { 1e3, 1, "ns" },
		    { 1e6, 1e3, "us" },
		    { 1e9, 1e6, "ms" },
		    { INFINITY, 1e9, "s" } };
	size_t i = 0;
	double v;

	while (ns >= row[i].below) {
		i++;
	}
	v = ns / row[i].scale;
	snprintf(text, 32, "%.*f %s", v < 10 ? 3 : v < 100 ? 2 : 1, v, row[i].unit);
	return text;
}

const char *hn_show_age(int64_t unix_ms, char text[32])
{
	static const struct {
		double below, unit;
		const char *word;
	} row[] = { { 120, 1, "s" },
		    { 7200, 60, "min" },
		    { 172800, 3600, "h" },
		    { INFINITY, 86400, "d" } };
	double s = (double)(hn_clock_unix_ms() - unix_ms) / 1000;
	size_t i = 0;

	s = s > 0 ? s : 0;
	while (s >= row[i].below) {
		i++;
	}
	snprintf(text, 32, "%.0f %s", s / row[i].unit, row[i].word);
	return text;
}

const char *hn_show_cache(const char *cache)
{
	return strcmp(cache, "cold") == 0 ? ", cold caches" : "";
}

double hn_show_number(const struct hn_json *object, const char *key)
{
	const struct hn_json *v = object != NULL ? hn_json_get(object, key) : NULL;
	double d = 0;

	return v != NULL && hn_json_double(v, &d) ? d : 0;
}

const char *hn_show_word(const struct hn_json *object, const char *key)
{
	const char *s = hn_json_string(hn_json_get(object, key));

	return s != NULL ? s : "";
}

static bool fits_name(const char *s, size_t n)
{
	size_t i = 0, length;

	while (i < n && (length = hn_shown_length(s + i, n - i)) > 0) {
		i += length;
	}
	return n > 0 && i == n && n <= HN_LIMIT_NAME_BYTES;
}

/* As it will be shown. */
static const char *label(const char *name, struct hn_arena *a)
{
	char shown[HN_LIMIT_NAME_BYTES + 1];

	hn_shown(shown, sizeof shown, name, strlen(name));
	return hn_arena_strdup(a, shown);
}

/* The name in the text notation, the word before the first `(`; NULL: there is none. */
static const char *name_in_text(const char *s, struct hn_arena *a)
{
	size_t n = 0;

	for (s += strspn(s, " \t\r\n"); *s == '#'; s += strspn(s, " \t\r\n")) {
		s += strcspn(s, "\n");
	}
	while (isalnum((unsigned char)s[n]) || s[n] == '_') {
		n++;
	}
	return s[n + strspn(s + n, " \t")] == '(' && fits_name(s, n) ? hn_arena_strndup(a, s, n)
								      : NULL;
}

/* The member "name" of compute-dag/1. */
static const char *name_in_json(const char *s, size_t n, struct hn_arena *a)
{
	const struct hn_json_limits deep = { .max_depth = UINT32_MAX }; /* as dags are */
	struct hn_json *json = NULL;
	const char *name = NULL;

	if (hn_json_parse("dag", s, n, &deep, &json, NULL) == 0) {
		name = hn_json_string(hn_json_get(json, "name"));
		name = name != NULL && fits_name(name, strlen(name)) ? hn_arena_strdup(a, name)
								     : NULL;
	}
	hn_json_free(json);
	return name;
}

/* What to call it: as the user says, by the program's own name, or by its file's without folder
 * and ending. */
static const char *name_of(const struct hn_opts *o, const char *text, size_t n,
			   struct hn_arena *a)
{
	const char *file = o->text == NULL ? o->arg : "", *slash = strrchr(file, '/'), *own;

	if (o->name != NULL) {
		return label(o->name, a);
	}
	own = text[strspn(text, " \t\r\n")] == '{' ? name_in_json(text, n, a)
						     : name_in_text(text, a);
	if (own != NULL) {
		return own;
	}
	file = slash != NULL ? slash + 1 : file;
	n = strcspn(file, ".");
	return fits_name(file, n) && strcmp(file, "-") != 0 ? hn_arena_strndup(a, file, n)
							    : "kernel";
}

typedef int (*parse_fn)(const char *what, const char *text, size_t n, uint64_t max_bytes,
			struct hn_arena *a, const struct hn_dag **ret,
			struct hn_err *err);

/* --forbid and --bitwise: liberties that the task does without. */
static int forbid(const struct hn_opts *o, const struct hn_dag **dag, struct hn_arena *a,
		  struct hn_err *err)
{
	uint32_t liberties = 0;
	int rc = o->forbid != NULL ? hn_liberties_parse(o->forbid, &liberties, err) : 0;

	if (rc != 0) {
		return hn_err_within(err, "--forbid");
	}
	*dag = hn_dag_forbid(*dag, o->bitwise ? HN_LIBERTIES_ALL : liberties, a);
	return 0;
}

static int read_input(const struct hn_opts *o, parse_fn parse, struct hn_arena *a,
		      struct hn_input *ret, struct hn_err *err)
{
	const char *what = o->text != NULL ? "--text" : o->arg, *s = o->text;
	char key[HN_KEY_BYTES];
	struct hn_buf b;
	size_t n = 0;
	int rc = 0;

	if ((o->arg == NULL) == (o->text == NULL)) {
		return hn_fail(err, HONE_E_INVALID, "give a FILE or --text 'PROGRAM'%s",
			       o->arg != NULL ? ", not both" : "");
	}
	if (hn_network_is(o->arg)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%.200s: a network, which `hone model`, `hone tune` and `hone compile` "
			       "take; here a computation is wanted: `hone model FILE --as text` has its "
			       "kernels, each of which is one",
			       o->arg);
	}
	hn_buf_init(&b);
	if (o->text == NULL) {
		rc = hn_file_read(o->arg, FILE_MAX, &b, err);
		s = b.s;
	}
	if (rc == 0) {
		n = o->text != NULL ? strlen(s) : b.n;
		rc = parse(what, s, n, hn_limit_dag_bytes(), a, &ret->dag, err);
	}
	if (rc == 0) {
		ret->name = name_of(o, s, n, a);
	}
	if (rc == 0) {
		rc = forbid(o, &ret->dag, a, err);
	}
	if (rc == 0 && o->cold) {
		ret->dag = hn_dag_mark(ret->dag, HN_MARK_COLD, a);
	}
	if (rc == 0) {
		hn_dag_key(ret->dag, key);
		ret->key = hn_arena_strdup(a, key);
		hn_buf_reset(&b);
		hn_dag_write_json(ret->dag, &b);
		ret->json = hn_arena_strndup(a, b.s, b.n);
		ret->json_bytes = b.n;
	}
	hn_buf_fini(&b);
	return rc;
}

int hn_input_read(const struct hn_opts *o, struct hn_arena *a, struct hn_input *ret,
		  struct hn_err *err)
{
	return read_input(o, hn_dag_parse, a, ret, err);
}

int hn_input_key(const struct hn_opts *o, struct hn_arena *a, const char **ret,
		 struct hn_err *err)
{
	struct hn_input in;
	int rc;

	if (o->key != NULL) {
		const char *beside = o->arg != NULL	? o->arg
				     : o->text != NULL	? "--text"
				     : o->bitwise	? "--bitwise"
				     : o->forbid != NULL ? "--forbid"
				     : o->cold		? "--cold"
							: NULL;

		*ret = o->key;
		return beside == NULL ? 0
				      : hn_fail(err, HONE_E_INVALID,
						"%.60s: --key says already which task it is",
						beside);
	}
	if (o->arg == NULL && o->text == NULL) {
		return hn_fail(err, HONE_E_INVALID, "give a FILE, --text 'PROGRAM' or --key K");
	}
	rc = hn_input_read(o, a, &in, err);
	if (rc == 0) {
		*ret = in.key;
	}
	return rc;
}

int hn_input_read_sized(const struct hn_opts *o, struct hn_arena *a, struct hn_input *ret,
			struct hn_err *err)
{
	return read_input(o, hn_dag_parse_sized, a, ret, err);
}

bool hn_input_is(const char *path, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err none;
	struct hn_buf b;
	bool is;

	hn_buf_init(&b);
	is = hn_file_read_kept(path, FILE_MAX, &b, &none) == 0 &&
	     hn_dag_parse_sized(path, b.s, b.n, hn_limit_dag_bytes(), a, &dag, &none) == 0;
	hn_buf_fini(&b);
	return is;
}
