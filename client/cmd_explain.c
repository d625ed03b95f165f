/* client/cmd_explain.c -- `hone explain`: the best schedule, a sentence a step, then its
 * loops, then on request their machine code. */
#include <stdio.h>
#include <string.h>

#include "client/auto.h"
#include "client/explain_asm.h"
#include "loopstate/bounds.h"
#include "loopstate/step.h"

/* What there is to say, each part as it is printed or as one JSON member. */
struct explanation {
	uint32_t n_step;
	const char **step; /* a sentence each */
	struct hn_buf loops, assembly;
};

/* Sentences of all steps; *ret is the state they lead to. */
static int explain_steps(const struct hn_dag *dag, const struct hn_trace *trace,
			 struct hn_arena *a, const struct hn_state **ret,
			 struct explanation *to, struct hn_err *err)
{
	const struct hn_state *s = hn_state_init(dag, a), *next;
	struct hn_buf b;
	int rc = 0;

	hn_buf_init(&b);
	to->step = HN_NEW_ARRAY(a, const char *, trace->n_step);
	for (uint32_t i = 0; i < trace->n_step && rc == 0; i++) {
		const struct hn_step *step = trace->step[i];

		rc = hn_state_apply(s, step, a, &next, err);
		if (rc != 0) {
			hn_err_within(err, "step %u", i);
			break;
		}
		hn_buf_reset(&b);
		hn_step_ops((enum hn_step_kind)step->kind)->explain(s, step, &b);
		to->step[to->n_step++] = hn_arena_strdup(a, b.s);
		s = next;
	}
	hn_buf_fini(&b);
	*ret = s;
	return rc;
}

static int explain(const struct hn_best *best, const struct hn_dag *dag, bool assembly,
		   struct hn_arena *a, struct explanation *to, struct hn_err *err)
{
	const struct hn_snapshot_entry *e = &best->entry;
	const struct hn_trace *trace;
	const struct hn_bounds *bounds;
	const struct hn_state *s = NULL;
	int rc = hn_trace_parse("record", e->best.steps, strlen(e->best.steps), a, &trace,
				err);

	if (rc == 0) {
		rc = explain_steps(dag, trace, a, &s, to, err);
	}
	if (rc == 0) {
		rc = hn_bounds_infer(s, a, &bounds, err);
	}
	if (rc == 0) {
		hn_state_print(hn_bounds_apply(s, bounds, a),
			       /* delete_trivial_loops= */ true, &to->loops);
		if (assembly) {
			rc = hn_explain_asm(e->workload.dag_json, e->best.steps,
					    best->target_line, a, &to->assembly, err);
		}
	}
	return rc;
}

static void print_text(const struct hn_best *best, const struct explanation *x)
{
	const struct hn_snapshot_entry *e = &best->entry;
	char t[32];

	if (e->best.median_ns > 0) {
		printf("%s: %s, %.1f GFLOP/s\n\n", e->workload.name,
		       hn_show_time(e->best.median_ns, t),
		       e->workload.flops / e->best.median_ns);
	} else {
		printf("%s: the automatic schedule, not measured\n\n", e->workload.name);
	}
	for (uint32_t i = 0; i < x->n_step; i++) {
		printf("  %3u  %s\n", i, x->step[i]);
	}
	printf("\n%s%s", x->loops.s, x->assembly.n > 0 ? x->assembly.s : "");
}

static void print_json(const struct hn_best *best, const struct explanation *x,
		       struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &best->entry;

	hn_buf_puts(b, "{\"name\":");
	hn_buf_json_string(b, e->workload.name);
	hn_buf_puts(b, ",\"median_ns\":");
	hn_buf_double(b, e->best.median_ns);
	hn_buf_puts(b, ",\"gflops\":");
	hn_buf_double(b, e->best.median_ns > 0
				 ? e->workload.flops / e->best.median_ns
				 : 0);
	hn_buf_puts(b, ",\"steps\":[");
	for (uint32_t i = 0; i < x->n_step; i++) {
		hn_buf_puts(b, i > 0 ? "," : "");
		hn_buf_json_string(b, x->step[i]);
	}
	hn_buf_puts(b, "],\"loops\":");
	hn_buf_json_string(b, x->loops.s);
	if (x->assembly.n > 0) {
		hn_buf_puts(b, ",\"asm\":");
		hn_buf_json_string(b, x->assembly.s);
	}
	hn_buf_puts(b, "}\n");
	fputs(b->s, stdout);
}

int cmd_explain(const struct hn_opts *o, struct hn_err *err)
{
	const struct hn_dag *dag = NULL;
	const char *key = o->key;
	struct hn_arena a;
	struct hn_input in;
	struct hn_best best;
	struct explanation x = { 0 };
	struct hn_buf b;
	int rc = 0;

	if (o->automatic && o->key != NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "explain: --auto needs the computation, not its key");
	}
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	hn_buf_init(&x.loops);
	hn_buf_init(&x.assembly);
	if (key == NULL) {
		rc = hn_input_read(o, &a, &in, err);
		key = in.key;
		dag = in.dag;
	}
	if (rc == 0) {
		rc = o->automatic ? hn_auto_find(o, &in, &a, &best, err)
				  : hn_best_find(o, key, &a, &best, err);
	}
	if (rc == 0) {
		if (dag == NULL) {
			const char *json = best.entry.workload.dag_json;

			rc = hn_dag_parse("record", json, strlen(json), 0, &a, &dag, err);
		}
		if (rc == 0) {
			rc = explain(&best, dag, o->assembly, &a, &x, err);
		}
		if (rc == 0 && o->json) {
			print_json(&best, &x, &b);
		} else if (rc == 0) {
			print_text(&best, &x);
		}
		hn_best_close(&best);
	}
	hn_buf_fini(&x.loops);
	hn_buf_fini(&x.assembly);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	return rc;
}
