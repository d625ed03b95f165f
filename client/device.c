/* client/device.c -- see device.h.
 *
 * The default line of a kind is the least machine of it (sm_70 with 48 KiB): records and schedules
 * would be for that.  Who names a kind alone means the device that is here.  Where there is none,
 * replay goes on with the default, and says so; others ask for what is stored, or are refused in a
 * line of their own. */
#include "client/device.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "client/builder.h"
#include "target/target.h"

#define MOST_BYTES ((size_t)1 << 20)

int hn_devices_ask(const char *verb, const char *kind, struct hn_json **ret, struct hn_err *err)
{
	char *argv[] = { "hone-board", "--devices", (char *)(uintptr_t)kind, NULL };
	struct hn_memory_file answer = { .fd = -1 };
	struct hn_buf b;
	int rc;

	hn_buf_init(&b);
	rc = hn_memory_file_open(verb, "", &answer, err);
	rc = rc ? rc : hn_builder_run(verb, argv, answer.fd, err);
	rc = rc ? rc : hn_file_read(answer.path, MOST_BYTES, &b, err);
	rc = rc ? rc : hn_json_parse("hone-board", b.s, b.n, NULL, ret, err);
	hn_buf_fini(&b);
	hn_memory_file_close(&answer);
	return rc;
}

/* A member of the first of a list; NULL: there is none. */
static const char *of_first(const struct hn_json *doc, const char *list, const char *member)
{
	const struct hn_json *first = hn_json_first(hn_json_get(doc, list));

	return first != NULL ? hn_json_string(hn_json_get(first, member)) : NULL;
}

static bool is_device(const char *word, struct hn_arena *a, struct hn_target *ret)
{
	return hn_target_is_kind(word) && strcmp(word, "native") != 0 &&
	       hn_target_parse(word, a, ret, NULL) == 0 && (ret->caps & HN_CAP_MODULES) != 0;
}

void hn_device_target(const char *verb, struct hn_opts *o, struct hn_arena *a)
{
	struct hn_json *doc = NULL;
	struct hn_err why = { 0 };
	struct hn_target t;
	const char *line, *missing;

	if (o->target == NULL || !is_device(o->target, a, &t)) {
		return;
	}
	int rc = hn_devices_ask(verb, o->target, &doc, &why);

	line = rc == 0 ? of_first(doc, "devices", "target") : NULL;
	if (line != NULL) {
		o->target = hn_arena_strdup(a, line);
	} else if (!o->quiet && strcmp(verb, "replay") == 0) {
		missing = rc == 0 ? of_first(doc, "missing", "why") : why.msg;
		fprintf(stderr, "hone: target %s: no such device is here (%s); taken is %s -isa=%s\n",
			o->target, missing != NULL ? missing : "none", t.kind, t.isa);
	}
	hn_json_free(doc);
}
