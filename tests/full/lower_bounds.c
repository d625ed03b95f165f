/* tests/full/lower_bounds.c -- boxes hold all that is read, at real sizes, judged by isl.
 *
 * For every read of a computed stage in the recorded states of the cases and in random ones
 * of the project's own programs (CPU and GPU): the set of points of the reader's nest whose index lies in the producer's domain but
 * not in its box must be empty.  Indices that isl can not say (loads, choices) are
 * counted and left out; the unit test enumerates those on small dags.  HONE_STRIDE=n
 * takes one state in n of each file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "loopstate/nest/looptree.h"
#include "sketch/sketch.h"
#include "tests/lib/each_case.h"

#define N_DRAWS 12 /* of a program and target that has no recorded states */

struct job {
	isl_ctx *isl;
	struct hn_arena a;
	const struct hn_looptree *t;
	const char *name;
	int64_t *extent; /* [n_loop] */
	bool *used;	 /* [n_loop] in the question at hand */
	uint32_t n_state, n_drawn, n_asked, n_unsayable;
};

/* ---- expressions in isl's notation */

static bool say(const struct hn_expr *e, struct hn_buf *buf);

static bool say_infix(const struct hn_expr *e, const char *op, struct hn_buf *buf)
{
	hn_buf_puts(buf, "(");
	bool ok = say(e->arg[0], buf);

	hn_buf_puts(buf, op);
	ok = ok && say(e->arg[1], buf);
	hn_buf_puts(buf, ")");
	return ok;
}

static bool say_by_number(const struct hn_expr *e, const char *before, const char *op,
			  struct hn_buf *buf)
{
	if (e->arg[1]->op != HN_EXPR_INT || e->arg[1]->u.i <= 0) {
		return false;
	}
	hn_buf_puts(buf, before);
	bool ok = say(e->arg[0], buf);

	hn_buf_printf(buf, "%s%" PRId64 ")", op, e->arg[1]->u.i);
	return ok;
}

static bool say(const struct hn_expr *e, struct hn_buf *buf)
{
	static const char *const infix[HN_N_EXPR] = {
		[HN_EXPR_ADD] = " + ", [HN_EXPR_SUB] = " - ", [HN_EXPR_EQ] = " = ",
		[HN_EXPR_LT] = " < ",  [HN_EXPR_LE] = " <= ", [HN_EXPR_GT] = " > ",
		[HN_EXPR_GE] = " >= ", [HN_EXPR_NE] = " != ", [HN_EXPR_AND] = " and ",
		[HN_EXPR_OR] = " or ",
	};

	if (infix[e->op] != NULL) {
		return say_infix(e, infix[e->op], buf);
	}
	switch (e->op) {
	case HN_EXPR_VAR:
		hn_buf_printf(buf, "l%" PRId32, e->ref);
		return true;
	case HN_EXPR_INT:
		hn_buf_printf(buf, "%" PRId64, e->u.i);
		return true;
	case HN_EXPR_MUL:
		return say_by_number(e, "(", " * ", buf);
	case HN_EXPR_FLOORDIV:
		return say_by_number(e, "floor(", " / ", buf);
	case HN_EXPR_FLOORMOD:
		return say_by_number(e, "(", " mod ", buf);
	default:
		return false;
	}
}

static void use_visit(const struct hn_expr *e, void *ctx)
{
	struct job *j = ctx;

	if (e->op == HN_EXPR_VAR && e->ref >= 0 && (uint32_t)e->ref < j->t->n_loop) {
		j->used[e->ref] = true;
	}
}

/* { [loops] : ranges and <condition> } is empty? */
static bool is_empty(struct job *j, const char *condition)
{
	struct hn_buf text;
	const char *sep = "";

	hn_buf_init(&text);
	hn_buf_puts(&text, "{ [");
	for (uint32_t k = 0; k < j->t->n_loop; k++) {
		if (j->used[k]) {
			hn_buf_printf(&text, "%sl%" PRIu32, sep, k);
			sep = ", ";
		}
	}
	hn_buf_puts(&text, "] : ");
	for (uint32_t k = 0; k < j->t->n_loop; k++) {
		if (j->used[k]) {
			hn_buf_printf(&text, "0 <= l%" PRIu32 " < %" PRId64 " and ", k,
				      j->extent[k]);
		}
	}
	hn_buf_printf(&text, "%s }", condition);
	isl_set *set = isl_set_read_from_str(j->isl, text.s);
	isl_bool empty = isl_set_is_empty(set);

	if (set == NULL || empty < 0) {
		fail_msg("%s: isl can not read %s", j->name, text.s);
	}
	isl_set_free(set);
	hn_buf_fini(&text);
	return empty == isl_bool_true;
}

/* One index of one read: never in [lo, hi) outside the box. */
static void ask(struct job *j, uint32_t r, const struct hn_expr *index,
		const struct hn_axis *axis, const struct hn_region *box)
{
	const struct hn_stage_bounds *b = &j->t->bounds->stage[r];
	struct hn_buf at, min, text;
	bool ok = true;

	hn_buf_init(&at);
	hn_buf_init(&min);
	hn_buf_init(&text);
	for (uint32_t k = 0; k < j->t->n_loop; k++) {
		j->used[k] = false;
	}
	hn_expr_visit(index, use_visit, j);
	hn_expr_visit(box->min, use_visit, j);
	for (uint32_t g = 0; g < b->n_guard; g++) {
		hn_expr_visit(b->guard[g], use_visit, j);
		ok = ok && say(b->guard[g], &text);
		hn_buf_puts(&text, " and ");
	}
	ok = ok && say(index, &at) && say(box->min, &min);
	if (ok) {
		hn_buf_printf(&text,
			      "%" PRId64 " <= %s < %" PRId64
			      " and (%s < %s or %s >= %s + %" PRId64 ")",
			      axis->min, at.s, axis->min + axis->extent, at.s, min.s,
			      at.s, min.s, box->extent);
		j->n_asked++;
		if (!is_empty(j, text.s)) {
			fail_msg("%s: %s leaves its box: %s", j->name,
				 j->t->dag->op[r]->name, text.s);
		}
	}
	j->n_unsayable += !ok;
	hn_buf_fini(&at);
	hn_buf_fini(&min);
	hn_buf_fini(&text);
}

struct reads {
	struct job *j;
	uint32_t reader;
};

static void read_visit(const struct hn_expr *e, void *ctx)
{
	const struct reads *q = ctx;
	const struct hn_looptree *t = q->j->t;
	const struct hn_op *op = t->dag->op[q->reader];

	if (e->op != HN_EXPR_LOAD || t->dag->op[e->ref]->kind != HN_OP_COMPUTE) {
		return;
	}
	for (uint32_t d = 0; d < e->n_arg; d++) {
		const struct hn_expr *index = hn_expr_substitute(
			e->arg[d], t->bounds->stage[q->reader].axis_value,
			op->n_spatial + op->n_reduce, &q->j->a);

		ask(q->j, q->reader, index, &t->dag->op[e->ref]->axis[d],
		    &t->bounds->stage[e->ref].axis[d]);
	}
}

static void check_tree(struct job *j)
{
	const struct hn_looptree *t = j->t;

	j->extent = HN_NEW_ARRAY(&j->a, int64_t, t->n_loop);
	j->used = HN_NEW_ARRAY(&j->a, bool, t->n_loop);
	for (uint32_t i = 0; i < t->state->n_stage; i++) {
		const struct hn_stage_bounds *b = &t->bounds->stage[i];

		for (uint32_t k = 0;
		     b->iter_extent != NULL && k < t->state->stage[i]->n_iter; k++) {
			j->extent[t->bounds->first_loop[i] + (int32_t)k] =
				b->iter_extent[k];
		}
	}
	for (uint32_t i = 0; i < t->state->n_stage; i++) {
		const struct hn_op *op = t->dag->op[i];
		struct reads q = { j, i };

		if (t->bounds->stage[i].iter_extent == NULL) {
			continue;
		}
		for (uint32_t k = 0; op->body != NULL && k < op->n_out; k++) {
			hn_expr_visit(op->body[k], read_visit, &q);
		}
		for (uint32_t k = 0; op->reduce != NULL && k < op->reduce->n; k++) {
			hn_expr_visit(op->reduce->source[k], read_visit, &q);
		}
	}
}

/* ---- the cases */

static struct hn_json *read_json(const char *path)
{
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };
	struct hn_buf buf;

	hn_buf_init(&buf);
	if (hn_file_read(path, (size_t)1 << 28, &buf, &err) != 0 ||
	    hn_json_parse(path, buf.s, buf.n, NULL, &root, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_buf_fini(&buf);
	return root;
}

static void check_steps(struct job *j, const struct hn_dag *dag, const struct hn_trace *steps)
{
	const struct hn_state *s = NULL;
	struct hn_err err = { 0 };

	if (hn_state_replay(dag, steps, &j->a, &s, &err) != 0 ||
	    hn_looptree_build(s, &j->a, &j->t, &err) != 0) {
		fail_msg("%s: %s", j->name, err.msg);
	}
	check_tree(j);
	j->n_state++;
}

static void check_record(struct job *j, const struct hn_dag *dag, const char *record)
{
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };
	const struct hn_trace *trace = NULL;

	hn_arena_init(&j->a, /* budget_bytes= */ 0);
	assert_int_equal(
		hn_json_parse(j->name, record, strlen(record), NULL, &root, &err), 0);
	const struct hn_json *in = hn_json_first(hn_json_get(root, "i"));
	const struct hn_json *steps = hn_json_next(hn_json_first(hn_json_next(in)));

	if (hn_trace_from_json(j->name, steps, &j->a, &trace, &err) != 0) {
		fail_msg("%s: %s", j->name, err.msg);
	}
	check_steps(j, dag, trace);
	hn_json_free(root);
	hn_arena_fini(&j->a);
}

static void check_recorded(struct job *j, const struct each *e, const char *target)
{
	const char *text = getenv("HONE_STRIDE");
	uint32_t stride = text != NULL && atoi(text) > 0 ? (uint32_t)atoi(text) : 1;
	uint32_t n = 0;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.json", e->folder, target);
	struct hn_json *file = read_json(path);

	j->name = path;
	for (const struct hn_json *st = hn_json_first(hn_json_get(file, "states"));
	     st != NULL; st = hn_json_next(st)) {
		if (n++ % stride == 0) {
			check_record(j, e->dag, hn_json_string(hn_json_get(st, "record")));
		}
	}
	hn_json_free(file);
}

static void check_drawn(struct job *j, const struct each *e, const struct hn_target *target)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };

	j->name = e->name;
	hn_arena_init(&j->a, /* budget_bytes= */ 0);
	assert_int_equal(hn_sketch_generate(e->dag, target, &j->a, &sketches, &err), 0);
	for (uint32_t i = 0; i < N_DRAWS; i++) {
		struct hn_rng rng = hn_rng_stream(9, i, 0, 0);
		const struct hn_state *s;

		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], target, &rng, &j->a, &s) ==
			    HN_VERDICT_OK &&
		    s->trace != NULL) {
			check_steps(j, e->dag, s->trace);
			j->n_drawn++;
		}
	}
	hn_arena_fini(&j->a);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct hn_target gpu;
	struct hn_err err;
	struct hn_arena a;

	(void)em;
	if (e->folder != NULL) {
		check_recorded(ctx, e, "llvm");
		check_recorded(ctx, e, "cuda");
		return;
	}
	hn_arena_init(&a, /* budget_bytes= */ 0);
	assert_int_equal(hn_target_parse("cuda", &a, &gpu, &err), 0);
	check_drawn(ctx, e, host);
	check_drawn(ctx, e, &gpu);
	hn_arena_fini(&a);
}

static void test_cases(void **state)
{
	struct job j = { .isl = isl_ctx_alloc() };

	(void)state;
	isl_options_set_on_error(j.isl, ISL_ON_ERROR_CONTINUE);
	each_case(check_case, &j);
	print_message("%u states (%u drawn): %u indices in their boxes, %u not sayable\n",
		      j.n_state, j.n_drawn, j.n_asked, j.n_unsayable);
	assert_true(j.n_drawn > 0);
	assert_true(j.n_asked > j.n_state);
	assert_true(j.n_unsayable * 10 < j.n_asked);
	isl_ctx_free(j.isl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
