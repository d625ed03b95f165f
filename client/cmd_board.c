/* client/cmd_board.c -- `hone board probe`: this machine's limits, measured and kept as the
 * parameters of its target. */
#include <stdio.h>
#include <string.h>
#include <time.h>

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

int cmd_board(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result = NULL;
	struct hn_json *doc = NULL;
	struct hn_link link;
	int rc;

	if (o->arg == NULL || strcmp(o->arg, "probe") != 0) {
		return hn_fail(err, HONE_E_INVALID, "board: want `hone board probe`");
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
