/* client/cmd_explain.c -- `hone explain`: the best schedule, or any stored record: a sentence a
 * step, its loops, where its time goes by the analytic model, where it comes from; on request
 * what the models see, and machine code. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "client/ask.h"
#include "client/auto.h"
#include "client/explain.h"
#include "client/explain_asm.h"
#include "client/npu.h"
#include "loopstate/nest/bounds.h"
#include "loopstate/read/dag_read.h"

#define CALL_MS 30000
#define RECORD_MAX (1LL << 52) /* JSON's whole numbers hold more */

/* What is explained, and what there is to say of it. */
struct subject {
	struct hn_best best; /* the record, from wherever it comes */
	const struct hn_dag *dag;
	struct hn_json *doc; /* honed's answer to `lineage`; NULL */
	const struct hn_json *answer;
	struct hn_err no_answer; /* why there is none; "" = nobody was asked */
	struct hn_sentences steps;
	struct hn_buf loops, assembly;
	bool buffers; /* the NPU's: see npu */
	struct hn_npu_explained npu;
	struct hn_explain_cost cost; /* no features: see no_cost */
	struct hn_err no_cost;
	struct hn_explain_lineage lineage;
};

/* The line of ancestors of a record. */
static int ask_lineage(const struct hn_opts *o, int64_t record, struct subject *x,
		       struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_int(&w, "record", record);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = hn_ask(o, "lineage", b.s, CALL_MS, &x->doc, &x->answer, err);
	hn_buf_fini(&b);
	return rc;
}

/* The record of that number: all that is known of it is in the answer. */
static int find_record(const struct hn_opts *o, struct hn_arena *a, struct subject *x,
		       struct hn_err *err)
{
	struct hn_snapshot_entry *e = &x->best.entry;
	char *end;
	long long record = strtoll(o->record, &end, 10);

	if (!isdigit((unsigned char)o->record[0]) || *end != '\0' || record > RECORD_MAX) {
		return hn_fail(err, HONE_E_INVALID,
			       "explain: --record: \"%.40s\" is no record's number",
			       o->record);
	}
	if (o->arg != NULL || o->text != NULL || o->key != NULL || o->automatic ||
	    o->bitwise || o->forbid != NULL || o->cold) {
		return hn_fail(err, HONE_E_INVALID,
			       "explain: --record says which computation; give no other");
	}
	int rc = ask_lineage(o, record, x, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_json *self = hn_json_first(hn_json_get(x->answer, "lineage"));
	struct hn_buf b;

	hn_buf_init(&b);
	hn_json_write(hn_json_get(self, "steps"), &b);
	e->best.steps = hn_arena_strndup(a, b.s, b.n);
	hn_buf_reset(&b);
	hn_json_write(hn_json_get(x->answer, "dag"), &b);
	e->workload.dag_json = hn_arena_strndup(a, b.s, b.n);
	hn_buf_fini(&b);
	e->workload.key = hn_show_word(x->answer, "workload");
	e->workload.name = hn_show_word(x->answer, "name");
	e->workload.cache = hn_show_word(x->answer, "cache");
	e->workload.flops = hn_show_number(x->answer, "flops");
	e->best.id = record;
	e->best.verdict = hn_verdict_of(hn_show_word(self, "verdict"));
	e->best.detail = hn_show_word(self, "detail");
	e->best.median_ns = hn_show_number(self, "median_ns");
	x->best.target_line = hn_show_word(x->answer, "target");
	return hn_target_parse(x->best.target_line, a, &x->best.target, err);
}

/* The best record, or the automatic schedule, of a computation or a key. */
static int find_best(const struct hn_opts *o, struct hn_arena *a, struct subject *x,
		     struct hn_err *err)
{
	struct hn_answers answers;
	struct hn_input in;
	const char *key;
	int rc;

	if (o->automatic) {
		if (o->key != NULL) {
			return hn_fail(err, HONE_E_INVALID,
				       "explain: --auto needs the computation, not its key");
		}
		rc = hn_input_read(o, a, &in, err);
		return rc != 0 ? rc : hn_auto_find(o, &in, a, &x->best, &answers, err);
	}
	rc = hn_input_key(o, a, &key, err);
	if (rc == 0) {
		rc = hn_best_find(o, key, a, &x->best, err);
		rc = o->key == NULL ? hn_auto_instead(rc, err) : rc;
	}
	if (rc == 0 &&
	    ask_lineage(o, x->best.entry.best.id, x, &x->no_answer) != 0) {
		x->answer = NULL; /* the snapshot answers for the rest */
	}
	return rc;
}

/* A snapshot outlives its store: the record of that number may be another one. */
static void check_answer(struct subject *x, const struct hn_trace *trace)
{
	const struct hn_json *self = hn_json_first(hn_json_get(x->answer, "lineage"));
	char hash[20];

	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hn_trace_hash(trace));
	if (x->answer != NULL && strcmp(hash, hn_show_word(self, "hash")) != 0) {
		hn_fail(&x->no_answer, HONE_E_NOT_FOUND,
			"record %lld of the store is another program",
			(long long)x->best.entry.best.id);
		x->answer = NULL;
	}
}

static int explain(const struct hn_opts *o, struct hn_arena *a, struct subject *x,
		   struct hn_err *err)
{
	const struct hn_snapshot_entry *e = &x->best.entry;
	const char *json = e->workload.dag_json;
	const struct hn_trace *trace;
	const struct hn_bounds *bounds;
	const struct hn_state *s = NULL;
	int rc = hn_dag_parse("record", json, strlen(json), 0, a, &x->dag, err);

	rc = rc != 0 ? rc : hn_trace_parse("record", e->best.steps, strlen(e->best.steps), a,
					   &trace, err);
	rc = rc != 0 ? rc : hn_explain_steps(x->dag, trace, a, &x->steps, &s, err);
	rc = rc != 0 ? rc : hn_bounds_infer(s, a, &bounds, err);
	if (rc != 0) {
		return rc;
	}
	hn_state_print(hn_bounds_apply(s, bounds, a), /* delete_trivial_loops= */ true,
		       &x->loops);
	if (hn_explain_cost(s, &x->best.target, a, &x->cost, &x->no_cost) != 0) {
		x->cost = (struct hn_explain_cost){ 0 };
	}
	check_answer(x, trace);
	if (x->answer != NULL) {
		hn_explain_lineage(x->answer, x->dag, a, &x->lineage);
	}
	x->buffers = hn_npu_is(&x->best.target);
	if (x->buffers) {
		hn_npu_explain(json, e->best.steps, x->best.target_line, o->as != NULL, a, &x->npu);
		return o->as != NULL && x->npu.refused.code != 0
			       ? hn_fail(err, x->npu.refused.code, "%s", x->npu.refused.msg)
			       : 0;
	}
	return o->assembly ? hn_explain_asm(json, e->best.steps, x->best.target_line, a,
					    &x->assembly, err)
			   : 0;
}

/* --as picture is of a machine whose pipes can be seen. */
static int check_form(const struct hn_opts *o, const struct subject *x, struct hn_err *err)
{
	if (o->as != NULL && (o->json || o->assembly || o->features || o->all)) {
		return hn_fail(err, HONE_E_INVALID, "explain: --as %.40s is the whole answer: leave out --json, --asm, "
			       "--features and --all", o->as);
	}
	if (o->as == NULL || (strcmp(o->as, "picture") == 0 && hn_npu_is(&x->best.target))) {
		return 0;
	}
	return hn_fail(err, HONE_E_INVALID, "explain: --as %.40s: there is picture, of targets of kind npu",
		       o->as);
}

#define SAME 0.005 /* share of a time */

/* Runs are timed with warm caches mostly, where the model's order of programs knows none. */
static void put_warm(const struct subject *x, struct hn_buf *b)
{
	double ns = x->best.entry.best.median_ns, warm = x->cost.warm_ns;
	char t[32];

	if (strcmp(x->best.entry.workload.cache, "cold") != 0 && fabs(warm / x->cost.predicted_ns - 1) > SAME) {
		hn_buf_printf(b, "  with warm caches %9s  as runs are timed", hn_show_time(warm, t));
		hn_buf_printf(b, ns > 0 ? ": measured is %.2f of that\n" : "\n", ns / warm);
	}
}

/* What was predicted of it, against what it takes. */
static void put_prediction(const struct subject *x, struct hn_buf *b)
{
	const struct hn_ancestor *self = x->lineage.n > 0 ? x->lineage.x : NULL;
	double ns = x->best.entry.best.median_ns, now = x->cost.predicted_ns;
	double then = self ? self->predicted_ns : 0;
	char t[32];

	if (x->buffers && x->npu.refused.code != 0) {
		hn_buf_puts(b, "  predicted now   nothing: it has no program for the NPU\n");
	} else if (now > 0) {
		hn_buf_printf(b, "  predicted now   %10s  by the analytic model",
			      hn_show_time(now, t));
		hn_buf_printf(b, ns > 0 ? ": measured is %.2f of that\n" : "\n", ns / now);
		put_warm(x, b);
	} else {
		hn_buf_printf(b, "  predicted now   nothing: %s\n", x->no_cost.msg);
	}
	if (then > 0) {
		hn_buf_printf(b, "  predicted then  %10s  by the %s model, when it was asked for",
			      hn_show_time(then, t), self->model);
		hn_buf_printf(b, ns > 0 ? ": measured is %.2f of that\n" : "\n", ns / then);
	} else if (self) {
		hn_buf_printf(b, "  predicted then  %s\n",
			      *self->model != '\0' ? "no time: the model knows none"
						   : "not kept");
	}
}

static void put_text(const struct hn_opts *o, const struct subject *x, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &x->best.entry;
	char t[32];

	if (e->best.median_ns > 0) {
		hn_buf_printf(b, "%s: %s, %.1f GFLOP/s%s\n", e->workload.name,
			      hn_show_time(e->best.median_ns, t),
			      e->workload.flops / e->best.median_ns,
			      hn_show_cache(e->workload.cache));
	} else if (o->automatic || e->best.verdict == HN_VERDICT_OK) {
		hn_buf_printf(b, "%s: the automatic schedule, not measured\n",
			      e->workload.name);
	} else {
		hn_buf_printf(b, "%s: %s: %s\n", e->workload.name,
			      hn_verdict_name(e->best.verdict), e->best.detail);
	}
	if (x->best.near != NULL && *x->best.near != '\0') {
		hn_buf_printf(b, "  near            measured on another machine: %s\n", x->best.near);
	}
	put_prediction(x, b);
	if (x->steps.n > 0) {
		hn_buf_putc(b, '\n');
	}
	for (uint32_t i = 0; i < x->steps.n; i++) {
		hn_buf_printf(b, "  %3u  %s\n", i, x->steps.text[i]);
	}
	hn_buf_printf(b, "\n%s", x->loops.s);
	if (x->buffers) {
		hn_npu_explain_text(&x->npu, o->assembly, b);
	} else if (x->cost.features.n > 0) {
		hn_explain_cost_text(&x->cost, b);
	}
	if (x->answer != NULL) {
		hn_explain_lineage_text(&x->lineage, b);
	} else if (x->no_answer.code != 0) {
		hn_buf_printf(b, "\nlineage: %s\n", x->no_answer.msg);
	}
	if (o->features || o->all) {
		hn_explain_features_text(&x->cost, o->all, b);
	}
	hn_buf_puts(b, x->assembly.s);
}

static void put_json(const struct hn_opts *o, const struct subject *x, struct hn_buf *b)
{
	const struct hn_snapshot_entry *e = &x->best.entry;
	double ns = e->best.median_ns > 0 ? e->best.median_ns : NAN;
	struct hn_jw w;

	hn_jw_init(&w, b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "name", e->workload.name);
	hn_jw_str(&w, "key", e->workload.key);
	hn_jw_str(&w, "target", x->best.target_line);
	hn_best_write_near(&x->best, &w);
	hn_jw_str(&w, "cache", e->workload.cache);
	if (e->best.id > 0) {
		hn_jw_int(&w, "record", e->best.id);
	} else {
		hn_jw_null(&w, "record");
	}
	hn_jw_double(&w, "median_ns", ns);
	hn_jw_double(&w, "flops", e->workload.flops);
	hn_jw_double(&w, "gflops", e->workload.flops / ns);
	hn_jw_double(&w, "predicted_ns", x->cost.predicted_ns > 0 && x->npu.refused.code == 0
						 ? x->cost.predicted_ns : NAN);
	hn_jw_double(&w, "predicted_warm_ns", x->cost.warm_ns > 0 && x->npu.refused.code == 0 ? x->cost.warm_ns
												 : NAN);
	hn_jw_json(&w, "steps", e->best.steps);
	hn_jw_list(&w, "sentences");
	for (uint32_t i = 0; i < x->steps.n; i++) {
		hn_jw_str(&w, NULL, x->steps.text[i]);
	}
	hn_jw_end(&w);
	hn_jw_str(&w, "loops", x->loops.s);
	if (x->buffers) {
		hn_npu_explain_json(&x->npu, &w);
	} else {
		hn_explain_cost_json(&x->cost, &w);
	}
	if (x->answer != NULL) {
		hn_explain_lineage_json(&x->lineage, &w);
	} else if (x->no_answer.code != 0) {
		hn_jw_null(&w, "lineage");
		hn_jw_str(&w, "lineage_end", x->no_answer.msg);
	}
	if (o->features || o->all) {
		hn_explain_features_json(&x->cost, o->all, &w);
	}
	if (x->assembly.n > 0) {
		hn_jw_str(&w, "asm", x->assembly.s);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(b, '\n');
}

int cmd_explain(const struct hn_opts *o, struct hn_err *err)
{
	struct subject *x = calloc(1, sizeof *x);
	struct hn_arena a;
	struct hn_buf b;
	int rc;

	hn_assert(x != NULL);
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	hn_buf_init(&x->loops);
	hn_buf_init(&x->assembly);
	rc = o->record != NULL ? find_record(o, &a, x, err) : find_best(o, &a, x, err);
	rc = rc != 0 ? rc : check_form(o, x, err);
	rc = rc != 0 ? rc : explain(o, &a, x, err);
	if (rc == 0 && o->as != NULL) {
		fputs(x->npu.svg.s, stdout);
	} else if (rc == 0) {
		(o->json ? put_json : put_text)(o, x, &b);
		fputs(b.s, stdout);
	}
	hn_best_close(&x->best);
	hn_json_free(x->doc);
	if (x->buffers) {
		hn_npu_explained_close(&x->npu);
	}
	hn_buf_fini(&x->assembly);
	hn_buf_fini(&x->loops);
	hn_buf_fini(&b);
	hn_arena_fini(&a);
	free(x);
	return rc;
}
