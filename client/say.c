/* client/say.c -- see say.h. */
#include "client/say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static const struct {
	const char *theirs, *ours;
} word_row[] = {
	{ "workload", "key" },
	{ "best_ns", "median_ns" },
	{ "elapsed_ms", "ms" },
};

/* Where 0 means that it is not known. */
static const char *const unknown_at_0[] = {
	"naive_ns",   "guard_ns",     "best_ns",   "median_ns",		 "gflops",
	"speedup",    "peak_gflops",  "canary_ns", "reference_canary_ns", "expected_gain",
	"predicted_ns", "before_ns",
};

static const char *ours(const char *theirs)
{
	for (size_t i = 0; i < HN_COUNT_OF(word_row); i++) {
		if (strcmp(word_row[i].theirs, theirs) == 0) {
			return word_row[i].ours;
		}
	}
	return theirs;
}

static bool is_unknown(const char *theirs, const struct hn_json *v)
{
	double d = NAN;

	for (size_t i = 0; i < HN_COUNT_OF(unknown_at_0); i++) {
		if (strcmp(unknown_at_0[i], theirs) == 0) {
			return hn_json_double(v, &d) && d == 0;
		}
	}
	return false;
}

/* A scalar, spelled as it was; so are steps and programs. */
static void say_as_is(const struct hn_json *v, const char *name, struct hn_jw *w)
{
	struct hn_buf b;

	hn_buf_init(&b);
	hn_json_write(v, &b);
	hn_jw_json(w, name, b.s);
	hn_buf_fini(&b);
}

void hn_say(const struct hn_json *v, const char *name, struct hn_jw *w)
{
	enum hn_json_kind kind = hn_json_kind(v);

	if (kind == HN_JSON_OBJECT) {
		hn_jw_object(w, name);
		hn_say_members(v, w);
		hn_jw_end(w);
	} else if (kind == HN_JSON_ARRAY) {
		hn_jw_list(w, name);
		for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
			hn_say(c, NULL, w);
		}
		hn_jw_end(w);
	} else {
		say_as_is(v, name, w);
	}
}

void hn_say_member(const struct hn_json *member, struct hn_jw *w)
{
	const char *key = hn_json_key(member);

	if (strcmp(key, "steps") == 0 || strcmp(key, "dag") == 0) {
		say_as_is(member, key, w);
	} else if (is_unknown(key, member)) {
		hn_jw_null(w, ours(key));
	} else {
		hn_say(member, ours(key), w);
	}
}

void hn_say_members(const struct hn_json *object, struct hn_jw *w)
{
	for (const struct hn_json *c = hn_json_first(object); c != NULL; c = hn_json_next(c)) {
		hn_say_member(c, w);
	}
}

void hn_say_print(const struct hn_json *v)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_say(v, NULL, &w);
	hn_jw_done(&w);
	puts(b.s);
	hn_buf_fini(&b);
}
