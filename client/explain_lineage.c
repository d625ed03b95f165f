/* client/explain_lineage.c -- a record's ancestors, a line each: what was changed of the one
 * before, what was predicted, what was measured. */
#include "client/explain.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "client/cmd.h"

#define SHOWN 3 /* differences on a line */

static const char *copy(const struct hn_json *v, const char *key, struct hn_arena *a)
{
	return hn_arena_strdup(a, hn_show_word(v, key));
}

static struct hn_ancestor read_one(const struct hn_json *v, struct hn_arena *a)
{
	const struct hn_json *parent = hn_json_first(hn_json_get(v, "parents"));
	const struct hn_json *mate = parent ? hn_json_next(parent) : NULL;

	return (struct hn_ancestor){
		.record = (int64_t)hn_show_number(v, "record"),
		.hash = copy(v, "hash", a),
		.origin = copy(v, "origin", a),
		.changes = copy(v, "changes", a),
		.model = copy(v, "model", a),
		.mate = mate ? copy(mate, "hash", a) : "",
		.mate_record = mate ? (int64_t)hn_show_number(mate, "record") : 0,
		.verdict = copy(v, "verdict", a),
		.predicted_ns = hn_show_number(v, "predicted_ns"),
		.median_ns = hn_show_number(v, "median_ns"),
	};
}

static bool read_steps(const struct hn_json *v, const struct hn_dag *dag, struct hn_arena *a,
		       struct hn_sentences *ret)
{
	const struct hn_json *steps = hn_json_get(v, "steps");
	const struct hn_state *s;
	const struct hn_trace *t;
	struct hn_err ignored;

	return steps && hn_trace_from_json("record", steps, a, &t, &ignored) == 0 &&
	       hn_explain_steps(dag, t, a, ret, &s, &ignored) == 0;
}

/* An origin in words for people: records keep an older word for one of them. */
static const char *origin_of(const struct hn_ancestor *x)
{
	return strcmp(x->origin, "guard") == 0 ? "heuristic schedule" : x->origin;
}

/* Why the oldest of the line has none before it. */
static const char *end_of(const struct hn_ancestor *x, const struct hn_json *v, bool whole,
			  struct hn_arena *a)
{
	const struct hn_json *parent = hn_json_first(hn_json_get(v, "parents"));

	if (!whole) {
		return "older ones are left out: the line is too long for one answer";
	}
	if (parent) {
		return hn_arena_printf(a, "before it: program %s, %s",
				       hn_show_word(parent, "hash"),
				       strncmp(x->changes, "sample", 6) == 0
					       ? "a sample that was not measured itself"
					       : "which is not in this store");
	}
	if (*x->origin == '\0' || strncmp(x->origin, "mutate:", 7) == 0) {
		return "before it: not kept by the version of hone that found it";
	}
	if (strcmp(x->origin, "near") == 0) {
		return "before it: a record of a near workload";
	}
	return hn_arena_printf(a, "before it: nothing, it is a %s", origin_of(x));
}

void hn_explain_lineage(const struct hn_json *answer, const struct hn_dag *dag,
			struct hn_arena *a, struct hn_explain_lineage *ret)
{
	const struct hn_json *list = hn_json_get(answer, "lineage");
	uint32_t n = hn_json_count(list), i = 0;
	struct hn_ancestor *x = HN_NEW_ARRAY(a, struct hn_ancestor, n);
	struct hn_sentences now = { 0 }, before;
	bool known = false, whole = false;

	*ret = (struct hn_explain_lineage){ .x = x, .end = "" };
	hn_json_bool(hn_json_get(answer, "whole"), &whole);
	for (const struct hn_json *v = hn_json_first(list); v; v = hn_json_next(v), i++) {
		bool readable = read_steps(v, dag, a, &before);

		x[i] = read_one(v, a);
		if (i > 0 && known && readable) {
			x[i - 1].differences = hn_explain_diff(&before, &now, a);
		}
		known = readable;
		now = before;
		ret->end = end_of(&x[i], v, whole, a);
	}
	ret->n = i;
}

static void put_time(struct hn_buf *b, double ns, const char *otherwise)
{
	char t[32];

	hn_buf_printf(b, " %10s", ns > 0 ? hn_show_time(ns, t) : otherwise);
}

static void put_how(struct hn_buf *b, const struct hn_ancestor *x)
{
	hn_buf_printf(b, "  %s", *x->changes != '\0'  ? x->changes
				 : *x->origin != '\0' ? origin_of(x)
						      : "not kept");
	if (x->mate_record > 0) {
		hn_buf_printf(b, " (other parent: record %lld)", (long long)x->mate_record);
	} else if (*x->mate != '\0') {
		hn_buf_printf(b, " (other parent: %s)", x->mate);
	}
	for (uint32_t i = 0; i < x->differences.n && i < SHOWN; i++) {
		hn_buf_printf(b, "%s %s", i > 0 ? ";" : ":", x->differences.text[i]);
	}
	if (x->differences.n > SHOWN) {
		hn_buf_printf(b, "; and %u more", x->differences.n - SHOWN);
	}
	hn_buf_putc(b, '\n');
}

void hn_explain_lineage_text(const struct hn_explain_lineage *l, struct hn_buf *b)
{
	hn_buf_printf(b, "\nlineage, youngest first\n  %-8s %10s %10s  %s\n", "record",
		      "predicted", "measured", "how it came from the next line");
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hn_ancestor *x = &l->x[i];

		hn_buf_printf(b, "  %-8lld", (long long)x->record);
		put_time(b, x->predicted_ns, "not kept");
		put_time(b, x->median_ns, x->verdict);
		put_how(b, x);
	}
	hn_buf_printf(b, "  %s\n", l->end);
}

/* A record's number, or that there is none. */
static void put_record(struct hn_jw *w, const char *name, int64_t record)
{
	if (record > 0) {
		hn_jw_int(w, name, record);
	} else {
		hn_jw_null(w, name);
	}
}

static void write_ancestor(const struct hn_ancestor *x, struct hn_jw *w)
{
	hn_jw_object(w, NULL);
	put_record(w, "record", x->record);
	hn_jw_str(w, "hash", x->hash);
	hn_jw_str(w, "origin", x->origin);
	hn_jw_str(w, "changes", x->changes);
	hn_jw_str(w, "mate", *x->mate != '\0' ? x->mate : NULL);
	put_record(w, "mate_record", x->mate_record);
	hn_jw_str(w, "model", x->model);
	hn_jw_double(w, "predicted_ns", x->predicted_ns > 0 ? x->predicted_ns : NAN);
	hn_jw_str(w, "verdict", x->verdict);
	hn_jw_double(w, "median_ns", x->median_ns > 0 ? x->median_ns : NAN);
	hn_jw_list(w, "differences");
	for (uint32_t i = 0; i < x->differences.n; i++) {
		hn_jw_str(w, NULL, x->differences.text[i]);
	}
	hn_jw_end(w);
	hn_jw_end(w);
}

void hn_explain_lineage_json(const struct hn_explain_lineage *l, struct hn_jw *w)
{
	hn_jw_list(w, "lineage");
	for (uint32_t i = 0; i < l->n; i++) {
		write_ancestor(&l->x[i], w);
	}
	hn_jw_end(w);
	hn_jw_str(w, "lineage_end", l->end);
}
