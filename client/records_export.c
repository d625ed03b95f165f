/* client/records_export.c -- `hone records export`: the best of the store as a line of a log; or the
 * bests of all computations of MAP (import.h), under the keys by which another tuner knows them.
 *
 * A schedule of Ansor's steps alone is a record of v0.6, which Ansor reads, too; one with a step of
 * hone's own is of version hone-1 (docs/records.md).
 */
#include "client/records.h"

#include <stdio.h>
#include <string.h>

#include "client/best.h"
#include "client/import.h"
#include "loopstate/record/record.h"
#include "loopstate/state/step.h"

/* As TVM calls a CPU that it makes code for with LLVM. */
#define TARGET "llvm -keys=cpu"

static bool is_ansors(const struct hn_trace *t)
{
	bool all = true;

	for (uint32_t i = 0; i < t->n_step; i++) {
		all = all && hn_step_ops(t->step[i]->kind)->te != NULL;
	}
	return all;
}

/* Ansor knows processors and cuda by a word; what only hone reads says which machine it is. */
static void put_target(const struct hn_target *t, struct hn_buf *b)
{
	bool ansors = strcmp(t->kind, "cpu") == 0 || strcmp(t->kind, "cuda") == 0;

	if (ansors) {
		hn_buf_puts(b, strcmp(t->kind, "cpu") == 0 ? TARGET : t->kind);
	} else {
		hn_buf_printf(b, "%s -isa=%s", t->kind, t->isa);
	}
}

static void print_record(const char *key, const char *name, const struct hn_best *best,
			 const struct hn_trace *trace)
{
	const struct hn_record_number cost = { .value = best->entry.best.median_ns * 1e-9 };
	struct hn_buf line;
	struct hn_log_record r = { .workload_key = key,
				   .n_hardware = HN_RECORD_N_HARDWARE,
				   .host = "",
				   .has_inputs = true,
				   .trace = trace,
				   .n_cost = 1,
				   .cost = &cost,
				   .all_cost = cost,
				   .timestamp = { .value = (double)best->entry.best.unix_ms / 1000 },
				   .version = is_ansors(trace) ? "v0.6" : "hone-1",
				   .n_member = 3,
				   .member = { HN_RECORD_INPUT, HN_RECORD_RESULT, HN_RECORD_VERSION } };
	struct hn_buf b;

	for (uint32_t i = 0; i < HN_RECORD_N_HARDWARE; i++) {
		r.hardware[i] = best->target.param[i];
	}
	hn_buf_init(&b);
	hn_buf_init(&line);
	put_target(&best->target, &line);
	r.target = line.s;
	hn_record_write(&r, &b);
	puts(b.s);
	hn_buf_fini(&line);
	hn_buf_fini(&b);
	if (strcmp(r.version, "hone-1") == 0) {
		fprintf(stderr,
			"hone: %s: it has a step of hone's own, which Ansor does not read\n", name);
	}
}

static int export_one(const struct hn_opts *o, const char *key, const struct hn_input *in,
		      struct hn_arena *a, struct hn_err *err)
{
	const struct hn_trace *trace;
	struct hn_best best;
	int rc = hn_best_find(o, in->key, a, &best, err);

	if (rc == 0) {
		const char *steps = best.entry.best.steps;

		rc = best.entry.best.median_ns > 0
			     ? hn_trace_parse("steps", steps, strlen(steps), a, &trace, err)
			     : hn_fail(err, HONE_E_NOT_FOUND, "%s: nothing was measured of it",
				       in->name);
		if (rc == 0) {
			print_record(key, in->name, &best, trace);
		}
		hn_best_close(&best);
	}
	return rc;
}

/* Those of MAP in the order of its keys; one that the store has nothing of is told and left
 * out. */
static int export_map(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_import im = { 0 };
	uint32_t n = 0;
	int rc;

	hn_arena_init(&im.a, 0);
	rc = hn_import_map(o, &im, err);
	for (uint32_t i = 0; rc == 0 && i < im.n; i++) {
		rc = export_one(o, im.task[i].key, &im.task[i].in, &im.a, err);
		n += rc == 0;
		if (rc == -HONE_E_NOT_FOUND) {
			fprintf(stderr, "hone: %s:%llu: %s\n", o->map,
				(unsigned long long)im.task[i].place, err->msg);
			rc = 0;
		}
	}
	hn_arena_fini(&im.a);
	return rc == 0 && n == 0 ? hn_fail(err, HONE_E_NOT_FOUND,
					   "%s: the store has nothing of its computations", o->map)
				 : rc;
}

int hn_records_export(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_opts of = *o;
	struct hn_input in;
	struct hn_arena a;
	int rc;

	if (o->map != NULL && (o->arg2 != NULL || o->text != NULL)) {
		return hn_fail(err, HONE_E_INVALID, "export: a computation or --dag MAP, not both");
	}
	if (o->map != NULL) {
		return export_map(o, err);
	}
	of.arg = o->arg2;
	of.arg2 = NULL;
	of.n_arg = o->n_arg > 0 ? o->n_arg - 1 : 0;
	of.args = o->args + (o->n_arg > 0);
	hn_arena_init(&a, 0);
	rc = hn_input_read(&of, &a, &in, err);
	rc = rc ? rc : export_one(&of, in.key, &in, &a, err);
	hn_arena_fini(&a);
	return rc;
}
