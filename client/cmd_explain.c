/* client/cmd_explain.c -- `hone explain`: the best schedule, a sentence a step, then its
 * loops, then on request their machine code. */
#include <stdio.h>
#include <string.h>

#include "client/best.h"
#include "client/explain_asm.h"
#include "loopstate/bounds.h"
#include "loopstate/step.h"

/* Sentences of all steps; *ret is the state they lead to. */
static int explain_steps(const struct hn_dag *dag, const struct hn_trace *trace,
			 struct hn_arena *a, const struct hn_state **ret,
			 struct hn_buf *b, struct hn_err *err)
{
	const struct hn_state *s = hn_state_init(dag, a), *next;

	for (uint32_t i = 0; i < trace->n_step; i++) {
		const struct hn_step *step = trace->step[i];
		const struct hn_step_ops *ops =
			hn_step_ops((enum hn_step_kind)step->kind);

		if (hn_state_apply(s, step, a, &next, err) != 0) {
			return hn_err_within(err, "step %u", i);
		}
		hn_buf_printf(b, "  %3u  ", i);
		ops->explain(s, step, b);
		hn_buf_putc(b, '\n');
		s = next;
	}
	*ret = s;
	return 0;
}

static int explain(const struct hn_best *best, const struct hn_dag *dag,
		   struct hn_arena *a, struct hn_buf *b, struct hn_err *err)
{
	const struct hn_snapshot_entry *e = &best->entry;
	const struct hn_trace *trace;
	const struct hn_bounds *bounds;
	const struct hn_state *s = NULL;
	char t[32];
	int rc = hn_trace_parse("record", e->best.steps, strlen(e->best.steps), a, &trace,
				err);

	if (rc == 0) {
		hn_buf_printf(b, "%s: %s, %.1f GFLOP/s\n\n", e->workload.name,
			      hn_show_time(e->best.median_ns, t),
			      e->workload.flops / e->best.median_ns);
		rc = explain_steps(dag, trace, a, &s, b, err);
	}
	if (rc == 0) {
		rc = hn_bounds_infer(s, a, &bounds, err);
	}
	if (rc == 0) {
		hn_buf_putc(b, '\n');
		hn_state_print(hn_bounds_apply(s, bounds, a),
			       /* delete_trivial_loops= */ true, b);
	}
	return rc;
}

int cmd_explain(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_dag *dag = NULL;
	const char *key = o->key;
	struct hn_arena a;
	struct hn_input in;
	struct hn_best best;
	struct hn_buf b;
	int rc = 0;

	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	if (key == NULL) {
		rc = hn_input_read(o, &a, &in, err);
		key = in.key;
		dag = in.dag;
	}
	if (rc == 0) {
		rc = hn_best_find(o, key, &a, &best, err);
	}
	if (rc == 0) {
		if (dag == NULL) {
			const char *json = best.entry.workload.dag_json;

			rc = hn_dag_parse("record", json, strlen(json), 0, &a, &dag, err);
		}
		if (rc == 0) {
			rc = explain(&best, dag, &a, &b, err);
		}
		if (rc == 0 && o->assembly) {
			rc = hn_explain_asm(best.entry.workload.dag_json,
					    best.entry.best.steps, best.target_line, &a,
					    &b, err);
		}
		hn_best_close(&best);
	}
	if (rc == 0) {
		fwrite(b.s, 1, b.n, stdout);
	}
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	return rc;
}
