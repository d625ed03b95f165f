/* client/cmd_ls.c -- `hone ls`: what the store holds, from the snapshot. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "client/best.h"
#include "client/lib/nearest.h"
#include "client/show.h"
#include "proto/addr.h"
#include "target/named.h"

#define KEY_DIGITS 12
#define REST 59 /* columns between the name and the target */
#define NAME_LEAST 10
#define CUT ".." /* behind a name that the terminal has no room for */

struct listing {
	struct hn_snapshot_entry *entry; /* sorted by name, then by key and target */
	uint32_t n;
	struct hn_named *named; /* their lines canonical */
	uint32_t n_named;
};

static int by_name(const void *x, const void *y)
{
	const struct hn_snapshot_entry *a = x, *b = y;
	int c = strcmp(a->workload.name, b->workload.name);

	c = c != 0 ? c : strcmp(a->workload.key, b->workload.key);
	return c != 0 ? c : strcmp(a->best.target, b->best.target);
}

/* The name that HOME/targets gives a target line; NULL: none. */
static const char *name_of(const struct listing *l, const char *line)
{
	for (uint32_t i = 0; i < l->n_named; i++) {
		if (strcmp(l->named[i].line, line) == 0) {
			return l->named[i].name;
		}
	}
	return NULL;
}

/* Its name, or "x86-64-avx2 x2": instruction set and cores; the whole line is `hone query`'s. */
static const char *machine(const struct listing *l, const char *line, struct hn_arena *a)
{
	const char *name = name_of(l, line);
	struct hn_target t;

	if (name != NULL) {
		return name;
	}

	if (hn_target_parse(line, a, &t, NULL) != 0) {
		return line;
	}
	return t.param[HN_PARAM_NUM_CORES] > 0
		       ? hn_arena_printf(a, "%s x%lld", t.isa,
					 (long long)t.param[HN_PARAM_NUM_CORES])
		       : t.isa;
}

/* The last column: the machine, and what is odd about the row. */
static const char *target_text(const struct listing *l, const struct hn_snapshot_entry *e,
			       struct hn_arena *a)
{
	bool cold = strcmp(e->workload.cache, "cold") == 0;

	return hn_arena_printf(a, "%s%s%s", machine(l, e->best.target, a), cold ? ", cold" : "",
			       e->best.median_ns == 0		? ", not measured"
			       : *e->best.certificate == '\0' ? ", not proved"
							       : "");
}

/* As wide as the longest name; on a terminal, as far as that has room beside the rest. */
static int name_width(const struct listing *l, const char *const *target)
{
	int width = NAME_LEAST, rest = 0, room;

	for (uint32_t i = 0; i < l->n; i++) {
		int n = (int)strlen(l->entry[i].workload.name), t = (int)strlen(target[i]);

		width = n > width ? n : width;
		rest = t > rest ? t : rest;
	}
	if (!isatty(STDOUT_FILENO)) {
		return width;
	}
	room = hn_show_columns(STDOUT_FILENO) - REST - rest;
	return room < NAME_LEAST ? NAME_LEAST : width < room ? width : room;
}

static void put_name(const char *name, int width, struct hn_buf *b)
{
	bool whole = strlen(name) <= (size_t)width;

	hn_buf_printf(b, "%-*.*s%s", whole ? width : 0, whole ? width : width - (int)strlen(CUT), name,
		      whole ? "" : CUT);
}

static void put_text(const struct listing *l, struct hn_arena *a, struct hn_buf *b)
{
	const char **target = HN_NEW_ARRAY(a, const char *, l->n);
	int width;
	char t[3][32];

	for (uint32_t i = 0; i < l->n; i++) {
		target[i] = target_text(l, &l->entry[i], a);
	}
	width = name_width(l, target);
	hn_buf_printf(b, "%-*s %-*s %9s %9s %7s %6s %8s  %s\n", width, "NAME", KEY_DIGITS, "KEY",
		      "TUNED", "NAIVE", "FASTER", "TRIALS", "AGO", "TARGET");
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hn_snapshot_entry *e = &l->entry[i];
		double ns = e->best.median_ns;

		put_name(e->workload.name, width, b);
		hn_buf_printf(b, " %-*.*s %9s", KEY_DIGITS, KEY_DIGITS, e->workload.key,
			      ns > 0 ? hn_show_time(ns, t[0]) : "-");
		if (e->naive.ns > 0 && ns > 0) {
			hn_buf_printf(b, " %9s %6.1fx", hn_show_time(e->naive.ns, t[1]),
				      e->naive.ns / ns);
		} else {
			hn_buf_printf(b, " %9s %7s", "-", "-");
		}
		hn_buf_printf(b, " %6u %8s  %s\n", e->n_trial,
			      ns > 0 ? hn_show_age(e->best.unix_ms, t[2]) : "-", target[i]);
	}
}

static void put_json(const struct listing *l, struct hn_buf *b)
{
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_list(&w, "workloads");
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hn_snapshot_entry *e = &l->entry[i];
		double ns = e->best.median_ns > 0 ? e->best.median_ns : NAN,
		       naive = e->naive.ns > 0 ? e->naive.ns : NAN;

		hn_jw_object(&w, NULL);
		hn_jw_str(&w, "key", e->workload.key);
		hn_jw_str(&w, "name", e->workload.name);
		hn_jw_str(&w, "target", e->best.target);
		hn_jw_str(&w, "target_name", name_of(l, e->best.target));
		hn_jw_str(&w, "cache", e->workload.cache);
		if (e->best.id > 0) {
			hn_jw_int(&w, "record", e->best.id);
		} else {
			hn_jw_null(&w, "record");
		}
		hn_jw_bool(&w, "proved", *e->best.certificate != '\0');
		hn_jw_double(&w, "median_ns", ns);
		hn_jw_double(&w, "naive_ns", naive);
		hn_jw_double(&w, "speedup", naive / ns);
		hn_jw_double(&w, "flops", e->workload.flops);
		hn_jw_double(&w, "gflops", e->workload.flops / ns);
		hn_jw_uint(&w, "trials", e->n_trial);
		hn_jw_uint(&w, "failed", e->n_failed);
		hn_jw_int(&w, "unix_ms", e->best.unix_ms);
		hn_jw_end(&w);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

/* What HOME/targets calls them; a file that cannot be understood names none. */
static void read_names(const struct hn_opts *o, struct hn_arena *a, struct listing *l)
{
	struct hn_buf home, line;
	struct hn_target t;
	struct hn_err err;
	int rc;

	hn_buf_init(&home);
	hn_buf_init(&line);
	rc = hn_addr_home(o->home, &home, &err);
	rc = rc != 0 ? rc : hn_named_read(home.s, a, &l->n_named, &l->named, &err);
	for (uint32_t i = 0; i < l->n_named && rc == 0; i++) {
		rc = hn_target_parse_at(home.s, l->named[i].line, a, &t, &err);
		if (rc == 0) {
			hn_buf_reset(&line);
			hn_target_print(&t, &line);
			l->named[i].line = hn_arena_strndup(a, line.s, line.n);
		}
	}
	if (rc != 0) {
		l->n_named = 0;
		fprintf(stderr, "hone: warning: %s\n", err.msg);
	}
	hn_buf_fini(&line);
	hn_buf_fini(&home);
}

/* Those of the snapshot, of --target alone that it has an answer of. */
static int read_entries(const struct hn_opts *o, const struct hn_snapshot *s, struct hn_arena *a,
			struct listing *l, struct hn_err *err)
{
	struct hn_target asked;
	const char *line;
	uint32_t n = hn_snapshot_count(s);
	int rc = o->target != NULL ? hn_best_target(o, a, &asked, &line, err) : 0;

	l->entry = HN_NEW_ARRAY(a, struct hn_snapshot_entry, n);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct hn_snapshot_entry *e = &l->entry[l->n];

		hn_snapshot_at(s, i, e);
		l->n += o->target == NULL || hn_nearest_serves(e->best.target, &asked, a);
	}
	if (l->n > 0) {
		qsort(l->entry, l->n, sizeof *l->entry, by_name);
	}
	return rc;
}

int cmd_ls(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_snapshot *s = NULL;
	struct listing l = { .n = 0 };
	struct hn_arena a;
	struct hn_buf b;
	int rc = hn_best_open(o, &s, err);

	if (rc != 0) {
		return rc;
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	rc = read_entries(o, s, &a, &l, err);
	if (rc == 0) {
		read_names(o, &a, &l);
	}
	if (rc == 0 && o->json) {
		put_json(&l, &b);
	} else if (rc == 0 && l.n > 0) {
		put_text(&l, &a, &b);
	} else if (rc == 0) {
		hn_buf_puts(&b, hn_snapshot_count(s) == 0 ? "nothing is stored yet\n"
							   : "nothing is stored for this target yet\n");
	}
	fwrite(b.s, 1, b.n, stdout);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	hn_snapshot_close(s);
	return rc;
}
