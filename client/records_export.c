/* client/records_export.c -- `hone records export`: the best of the store as a line of a log.
 *
 * A schedule of Ansor's steps alone is a record of v0.6, which Ansor reads, too; one with a step of
 * hone's own is of version hone-1 (docs/records.md).
 */
#include "client/records.h"

#include <stdio.h>
#include <string.h>

#include "client/best.h"
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

static void print_record(const struct hn_input *in, const struct hn_best *best,
			 const struct hn_trace *trace)
{
	const struct hn_record_number cost = { .value = best->entry.best.median_ns * 1e-9 };
	bool cpu = strcmp(best->target.kind, "cpu") == 0;
	struct hn_log_record r = { .workload_key = in->key,
				   .target = cpu ? TARGET : best->target.kind,
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
	hn_record_write(&r, &b);
	puts(b.s);
	hn_buf_fini(&b);
	if (strcmp(r.version, "hone-1") == 0) {
		fputs("hone: it has a step of hone's own, which Ansor does not read\n", stderr);
	}
}

int hn_records_export(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_trace *trace;
	struct hn_opts of = *o;
	struct hn_best best;
	struct hn_input in;
	struct hn_arena a;

	of.arg = o->arg2;
	of.arg2 = NULL;
	of.n_arg = o->n_arg > 0 ? o->n_arg - 1 : 0;
	of.args = o->args + (o->n_arg > 0);
	hn_arena_init(&a, 0);
	int rc = hn_input_read(&of, &a, &in, err);

	rc = rc ? rc : hn_best_find(&of, in.key, &a, &best, err);
	if (rc == 0) {
		const char *steps = best.entry.best.steps;

		rc = best.entry.best.median_ns > 0
			     ? hn_trace_parse("steps", steps, strlen(steps), &a, &trace, err)
			     : hn_fail(err, HONE_E_NOT_FOUND, "%s: nothing was measured of it",
				       in.name);
		if (rc == 0) {
			print_record(&in, &best, trace);
		}
		hn_best_close(&best);
	}
	hn_arena_fini(&a);
	return rc;
}
