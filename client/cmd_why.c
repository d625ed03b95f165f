/* client/cmd_why.c -- `hone why-failed` and `hone measure`: what failed, and one of them
 * once more. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask.h"
#include "client/best.h"
#include "client/say.h"

#define CALL_MS 30000
#define MEASURE_MS 300000

/* As hn_ask; with --json print the answer and give NULL. */
static int ask(const struct hn_opts *o, const char *method, const char *params,
	       int limit_ms, struct hn_json **ret_doc, const struct hn_json **ret,
	       struct hn_err *err)
{
	int rc = hn_ask(o, method, params, limit_ms, ret_doc, ret, err);

	if (rc == 0 && o->json) {
		hn_say_print(*ret);
		*ret = NULL;
	}
	return rc;
}

/* j and twelve digits, as submit names jobs, or the beginning of that; a file of that name is
 * reached by ./NAME, and one that is named like the beginning goes first. */
static bool names_job(const char *s)
{
	size_t n = s != NULL ? strlen(s) : 0;

	return n >= HN_PREFIX_LEAST && n <= 13 && s[0] == 'j' &&
	       strspn(s + 1, "0123456789abcdef") == n - 1 && (n == 13 || access(s, F_OK) != 0);
}

static int write_params(const struct hn_opts *o, struct hn_buf *b, struct hn_err *err)
{
	struct hn_target target;
	struct hn_arena a;
	const char *line, *key;
	struct hn_jw w;
	int rc;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	if (names_job(o->arg)) {
		hn_jw_str(&w, "job", o->arg);
		hn_jw_end(&w);
		return 0;
	}
	hn_arena_init(&a, 0);
	rc = hn_input_key(o, &a, &key, err);
	if (rc == 0) {
		hn_jw_str(&w, "workload", key);
		if (o->target != NULL) {
			rc = hn_best_target(o, &a, &target, &line, err);
			hn_jw_str(&w, "target", rc == 0 ? line : "");
		}
		hn_jw_end(&w);
	}
	hn_arena_fini(&a);
	return rc;
}

static void print_class(const struct hn_opts *o, const struct hn_json *c)
{
	const struct hn_json *all = hn_json_get(c, "examples");
	struct hn_buf steps;

	printf("\n%s: %.0f  %s\n", hn_show_word(c, "verdict"), hn_show_number(c, "count"),
	       hn_show_word(c, "text"));
	if (hn_json_count(all) == 0) {
		puts("  the board's fault, not a candidate's: none is kept; see the log of "
		     "honed and `hone boards`");
	}
	for (const struct hn_json *e = hn_json_first(all); e != NULL;
	     e = hn_json_next(e)) {
		hn_buf_init(&steps);
		hn_json_write(hn_json_get(e, "steps"), &steps);
		printf("  %s\n    again: %s%s%s\n    steps: %s\n",
		       *hn_show_word(e, "detail") != '\0' ? hn_show_word(e, "detail") : "no detail",
		       hn_show_word(e, "command"), o->home != NULL ? " --home " : "",
		       o->home != NULL ? o->home : "", steps.s);
		hn_buf_fini(&steps);
	}
}

int cmd_why_failed(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result, *list;
	struct hn_json *doc;
	struct hn_buf params;
	int rc;

	hn_buf_init(&params);
	rc = write_params(o, &params, err);
	rc = rc != 0 ? rc : ask(o, "failures", params.s, CALL_MS, &doc, &result, err);
	hn_buf_fini(&params);
	if (rc != 0) {
		return rc;
	}
	if (result != NULL) {
		list = hn_json_get(result, "classes");
		printf("%s  (workload %.16s): %.0f correct", hn_show_word(result, "name"),
		       hn_show_word(result, "workload"), hn_show_number(result, "ok"));
		puts(hn_json_count(list) == 0 ? ", nothing failed" : "");
		for (const struct hn_json *c = hn_json_first(list); c != NULL;
		     c = hn_json_next(c)) {
			print_class(o, c);
		}
	}
	hn_json_free(doc);
	return 0;
}

static void print_outcome(const char *when, const struct hn_json *r)
{
	char time[32];

	printf("  %-7s %s", when, hn_show_word(r, "verdict"));
	if (hn_show_number(r, "median_ns") > 0) {
		printf("  %s", hn_show_time(hn_show_number(r, "median_ns"), time));
	}
	printf("%s%s\n", *hn_show_word(r, "detail") != '\0' ? ": " : "", hn_show_word(r, "detail"));
}

int cmd_measure(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_json *result;
	struct hn_json *doc;
	struct hn_buf params;
	struct hn_jw w;
	char *end = NULL;
	long long record = o->arg != NULL ? strtoll(o->arg, &end, 10) : 0;
	int rc;

	if (o->arg == NULL || !isdigit((unsigned char)o->arg[0]) || *end != '\0') {
		return hn_fail(err, HONE_E_INVALID,
			       "measure: give the number of a RECORD, as `hone why-failed` "
			       "prints it");
	}
	hn_buf_init(&params);
	hn_jw_init(&w, &params);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "record", record);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = ask(o, "measure", params.s, MEASURE_MS, &doc, &result, err);
	hn_buf_fini(&params);
	if (rc != 0) {
		return rc;
	}
	if (result != NULL) {
		printf("record %lld  (workload %.16s)\n", record,
		       hn_show_word(result, "workload"));
		print_outcome("stored", hn_json_get(result, "stored"));
		print_outcome("now", result);
	}
	hn_json_free(doc);
	return 0;
}
