/* client/cmd_board.c -- `hone board probe`: this machine's limits, measured and kept as the
 * parameters of its target; `hone board list`: the devices that drivers tell of, with their limits
 * and target lines. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "client/device.h"
#include "client/link.h"
#include "client/say.h"
#include "client/show.h"

#define CALL_MS 10000
#define EVERY_MS 100
#define TRIES 300 /* half a minute */

/* Ask until the probe is over. */
static int wait_for_probe(struct hn_link *link, struct hn_json **ret_doc,
			  const struct hn_json **ret, struct hn_err *err)
{
	const struct timespec pause = {.tv_nsec = EVERY_MS * 1000000};

	for (int i = 0; i < TRIES; i++) {
		int rc = hn_link_call(link, "probe", "{}", CALL_MS, ret_doc, ret, err);
		const char *state = rc == 0 ? hn_json_string(hn_json_get(*ret, "state")) : "";

		if (rc != 0 || state == NULL || strcmp(state, "open") != 0) {
			return rc;
		}
		hn_json_free(*ret_doc);
		*ret_doc = NULL;
		nanosleep(&pause, NULL);
	}
	return hn_fail(err, HONE_E_TIMEOUT, "board probe: no answer within half a minute");
}

static const char *word(const struct hn_json *v, const char *name)
{
	const char *s = hn_json_string(hn_json_get(v, name));

	return s != NULL ? s : "";
}

static void print_devices(const struct hn_json *all)
{
	for (const struct hn_json *d = hn_json_first(hn_json_get(all, "devices")); d != NULL;
	     d = hn_json_next(d)) {
		char memory[32];

		printf("%s %.0f  %s, %s\n", word(d, "kind"), hn_show_number(d, "index"),
		       word(d, "name"), word(d, "driver"));
		printf("  target  %s\n", word(d, "target"));
		printf("  limits  %.0f cores", hn_show_number(d, "cores"));
		if (hn_show_number(d, "threads") > 0) {
			printf(", %.0f threads of a block, %.0f bytes of shared memory, %s",
			       hn_show_number(d, "threads"), hn_show_number(d, "shared_bytes"),
			       hn_memory_print((int64_t)hn_show_number(d, "memory_bytes"), memory,
					       sizeof memory));
		}
		putchar('\n');
	}
	for (const struct hn_json *m = hn_json_first(hn_json_get(all, "missing")); m != NULL;
	     m = hn_json_next(m)) {
		printf("%s: none: %s\n", word(m, "kind"), word(m, "why"));
	}
}

static int list_devices(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_json *doc = NULL;
	int rc = hn_devices_ask("board list", "", &doc, err);

	if (rc == 0 && o->json) {
		hn_say_print(doc);
	} else if (rc == 0) {
		print_devices(doc);
	}
	hn_json_free(doc);
	return rc;
}

int cmd_board(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result = NULL;
	struct hn_json *doc = NULL;
	struct hn_link link;
	int rc;

	if (o->arg != NULL && strcmp(o->arg, "list") == 0) {
		return list_devices(o, err);
	}
	if (o->arg == NULL || strcmp(o->arg, "probe") != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "board: want `hone board probe` or `hone board list`");
	}
	rc = hn_link_open(o, /* start= */ true, &link, err);
	if (rc != 0) {
		return rc;
	}
	rc = wait_for_probe(&link, &doc, &result, err);
	hn_link_close(&link);
	if (rc == 0 && o->json) {
		hn_say_print(result);
	} else if (rc == 0) {
		hn_show_probe(hn_json_get(result, "probe"));
		printf("target  %s\nfile    %s\n",
		       hn_json_string(hn_json_get(result, "target")),
		       hn_json_string(hn_json_get(result, "file")));
	}
	hn_json_free(doc);
	return rc;
}
