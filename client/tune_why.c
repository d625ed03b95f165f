/* client/tune_why.c -- why no candidate of a job was correct, in a line: the first reason of the kind of
 * failure that most had.  `hone why-failed` has all of them. */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "client/say.h"
#include "client/tune.h"

#define CALL_MS 5000

/* Of the classes that name a candidate, the one of most. */
static const struct hn_json *commonest(const struct hn_json *answer)
{
	const struct hn_json *best = NULL;
	double most = 0;

	for (const struct hn_json *c = hn_json_first(hn_json_get(answer, "classes")); c != NULL;
	     c = hn_json_next(c)) {
		const struct hn_json *first = hn_json_first(hn_json_get(c, "examples"));
		double n = hn_show_number(c, "count");

		if (n > most && first != NULL && *hn_show_word(first, "detail") != '\0') {
			most = n;
			best = c;
		}
	}
	return best;
}

void hn_tune_why(struct hn_link *link, const char *job, char *ret, size_t cap)
{
	const struct hn_json *answer, *c;
	struct hn_json *doc;
	struct hn_buf params;
	struct hn_err err;
	struct hn_jw w;

	ret[0] = '\0';
	if (job == NULL) {
		return;
	}
	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "job", job);
	hn_jw_end(&w);
	hn_jw_done(&w);
	if (hn_link_call(link, "failures", params.s, CALL_MS, &doc, &answer, &err) == 0) {
		c = commonest(answer);
		if (c != NULL) {
			int n = snprintf(ret, cap, "; %.40s, first: %.300s", hn_show_word(c, "verdict"),
					 hn_show_word(hn_json_first(hn_json_get(c, "examples")), "detail"));

			hn_shown(ret, cap, ret, (size_t)n < cap ? (size_t)n : cap - 1);
		}
		hn_json_free(doc);
	}
	hn_buf_fini(&params);
}
