/* tests/unit/loopstate/properties.c -- what holds for every history, on random ones.
 *
 * Steps are drawn by their field tables, so a new kind of step is drawn too; thread
 * bindings and shared memory make half of the histories GPU-like.  Each property is
 * judged on a trace; a trace that breaks one is made shorter, step by step, as long as it
 * still does, and printed with its seed (HONE_SEED=n draws that one alone,
 * HONE_HISTORIES=n as many per dag). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/step.h"
#include "tests/lib/expr_eval.h"
#include "tests/lib/looptree_dags.h"

#ifndef N_HISTORIES
#define N_HISTORIES 60 /* for each dag */
#endif

#define MAX_POINTS 2048 /* enumerated in full up to here, drawn beyond */

struct bed {
	struct hn_arena a;
	const struct hn_dag *dag;
	struct hn_rng rng;
	const char *form; /* with seed: how to draw the history at hand again */
	uint64_t seed;
	int64_t n_accepted, n_refused, n_boxes, n_points, n_shared;
};

static int64_t pick(struct bed *b, int64_t n)
{
	return (int64_t)hn_rng_below(&b->rng, (uint64_t)n);
}

static void bed_open(struct bed *b, const struct dag_form *form)
{
	char *text = strdup(form->json);
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };

	for (char *p = text; *p != 0; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	hn_arena_init(&b->a, /* budget_bytes= */ 0);
	if (hn_json_parse(form->name, text, strlen(text), NULL, &root, &err) != 0 ||
	    hn_dag_from_json(form->name, root, /* max_bytes= */ 0, &b->a, &b->dag,
			     &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_json_free(root);
	free(text);
}

/* ---- drawing steps */

/* A stage that reads `stage`, mostly. */
static int64_t draw_reader(struct bed *b, const struct hn_state *s, int32_t stage)
{
	int32_t reader[16];
	uint32_t n = hn_state_consumers(s, stage, reader, HN_COUNT_OF(reader));

	return n > 0 && n <= HN_COUNT_OF(reader) && pick(b, 8) > 0
		       ? reader[pick(b, n)]
		       : pick(b, s->n_stage + 1);
}

static int64_t draw_int(struct bed *b, const struct hn_state *s, const char *name,
			const struct hn_step *step)
{
	if (strcmp(name, "extent") == 0) {
		return 0;
	}
	if (strcmp(name, "target_stage") == 0) {
		return draw_reader(b, s, step->stage);
	}
	return pick(b, 11);
}

static void draw_list(struct bed *b, const struct hn_state *s, const char *name,
		      struct hn_step *step)
{
	int64_t *list = HN_NEW_ARRAY(&b->a, int64_t, HN_STAGE_MAX_ITERS);
	uint32_t n_iter = s->stage[step->stage]->n_iter;

	step->list = list;
	if (strcmp(name, "order") == 0) {
		step->n_list = n_iter;
		for (uint32_t k = 0; k < n_iter; k++) {
			int64_t j = pick(b, k + 1);

			list[k] = list[j];
			list[j] = k;
		}
	} else if (strcmp(name, "iters") == 0) {
		step->n_list = (uint32_t)pick(b, 4);
		list[0] = pick(b, n_iter + 1);
		for (uint32_t k = 1; k < step->n_list; k++) {
			list[k] = list[k - 1] + 1;
		}
	} else {
		step->n_list = 1 + (uint32_t)pick(b, 2);
		for (uint32_t k = 0; k < step->n_list; k++) {
			list[k] = draw_reader(b, s, step->stage);
		}
	}
}

static void draw_lens(struct bed *b, struct hn_step *step)
{
	static const int64_t lens[] = { 1, 2, 3, 4, 5, 7, 32 };
	int64_t *list = HN_NEW_ARRAY(&b->a, int64_t, 3);

	step->n_list = 1 + (uint32_t)pick(b, 3);
	step->list = list;
	for (uint32_t k = 0; k < step->n_list; k++) {
		list[k] = lens[pick(b, HN_COUNT_OF(lens))];
	}
}

static const char *draw_text(struct bed *b, const char *name)
{
	static const char *const scopes[] = { "local", "shared", "global", "nowhere" };

	return strcmp(name, "scope") == 0 ? scopes[pick(b, HN_COUNT_OF(scopes))]
					  : "auto_unroll_max_step$16";
}

static struct hn_step draw_step(struct bed *b, const struct hn_state *s)
{
	/* Those that make scopes matter, as often as all kinds together. */
	static const uint8_t often[] = { HN_STEP_annotate, HN_STEP_compute_at,
					 HN_STEP_compute_at, HN_STEP_cache_read };
	struct hn_step step = { .kind = pick(b, 2) > 0
						? often[pick(b, HN_COUNT_OF(often))]
						: (uint8_t)pick(b, HN_N_STEP),
				.stage = (int32_t)pick(b, s->n_stage) };
	const struct hn_field *f = hn_step_ops(step.kind)->field;
	uint32_t k = 0;

	for (f++; f->kind != HN_FIELD_END; f++) {
		switch (f->kind) {
		case HN_FIELD_ITER:
			step.a[k++] = pick(b, s->stage[step.stage]->n_iter + 1);
			break;
		case HN_FIELD_FLAG:
			step.a[k++] = pick(b, 2);
			break;
		case HN_FIELD_INT:
			step.a[k++] = draw_int(b, s, f->name, &step);
			break;
		case HN_FIELD_LIST:
			draw_list(b, s, f->name, &step);
			break;
		case HN_FIELD_LENS:
			draw_lens(b, &step);
			break;
		default:
			step.text = draw_text(b, f->name);
			break;
		}
	}
	return step;
}

/* ---- what must hold */

/* All of a state that steps and bounds look at, as one number. */
static uint64_t hash_state(const struct hn_state *s)
{
	uint64_t h = hn_trace_hash(s->trace) + s->n_stage;
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_state_print(s, /* delete_trivial_loops= */ false, &buf);
	for (uint32_t i = 0; i < s->n_stage; i++) {
		const struct hn_stage *st = s->stage[i];

		hn_buf_printf(&buf, "%s %d %d %d %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
			      s->dag->op[i]->id, st->at, st->at_stage, st->at_iter,
			      st->n_iter, st->n_var, st->n_rel);
		for (uint32_t r = 0; r < st->n_rel; r++) {
			hn_buf_printf(&buf, "%d:", st->rel[r].parent);
			for (uint32_t k = 0; k < st->rel[r].n; k++) {
				hn_buf_printf(&buf, " %d", st->rel[r].part[k]);
			}
		}
	}
	for (uint32_t i = 0; i < s->n_attached; i++) {
		hn_buf_printf(&buf, "%d.%d/%" PRIu32 " ", s->attached[i].stage,
			      s->attached[i].iter, s->attached[i].n);
	}
	h = h * 31 + hn_hash64(buf.s, buf.n, 1);
	hn_buf_fini(&buf);
	return h;
}

/* The trace's text read again is the trace, and written again the text. */
static bool text_is_stable(const struct hn_trace *t, struct hn_arena *a)
{
	const struct hn_trace *again = NULL;
	struct hn_buf text, twice;
	bool ok;

	hn_buf_init(&text);
	hn_buf_init(&twice);
	hn_trace_write(t, &text);
	ok = hn_trace_parse("text", text.s, text.n, a, &again, NULL) == 0 &&
	     hn_trace_equal(t, again);
	if (ok) {
		hn_trace_write(again, &twice);
		ok = text.n == twice.n && memcmp(text.s, twice.s, text.n) == 0;
	}
	hn_buf_fini(&text);
	hn_buf_fini(&twice);
	return ok;
}

/* ---- boxes */

/* Values of all loops, walked or drawn. */
struct walk {
	struct bed *b;
	struct eval x;
	const struct hn_state *s;
	const struct hn_looptree *t;
	const char *fault;
};

static int64_t extent_of(const struct walk *w, uint32_t stage, uint32_t k)
{
	return w->t->bounds->stage[stage].iter_extent[k];
}

static void draw_loops(struct walk *w)
{
	for (uint32_t i = 0; i < w->s->n_stage; i++) {
		for (uint32_t k = 0;
		     w->t->buffer[i].op >= 0 && k < w->s->stage[i]->n_iter; k++) {
			int64_t e = extent_of(w, i, k);
			int64_t v = pick(w->b, 4) == 0 ? pick(w->b, 2) * (e - 1)
						       : pick(w->b, e);

			w->x.slot[w->t->bounds->first_loop[i] + (int32_t)k] = v;
		}
	}
}

/* The next point of stage i's own loops; false after the last. */
static bool next_point(struct walk *w, uint32_t i)
{
	int64_t *slot = w->x.slot + w->t->bounds->first_loop[i];

	for (uint32_t k = w->s->stage[i]->n_iter; k-- > 0;) {
		if (++slot[k] < extent_of(w, i, k)) {
			return true;
		}
		slot[k] = 0;
	}
	return false;
}

static bool runs(struct walk *w, uint32_t i)
{
	const struct hn_stage_bounds *b = &w->t->bounds->stage[i];

	for (uint32_t g = 0; g < b->n_guard; g++) {
		if (eval_int(&w->x, b->guard[g]) == 0) {
			return false;
		}
	}
	return true;
}

/* One load of reader r, at the point where the loops stand: in the producer's domain only
 * if in its box too. */
static void check_load(struct walk *w, uint32_t r, const struct hn_expr *load)
{
	const struct hn_op *p = w->t->dag->op[load->ref];
	const struct hn_op *op = w->t->dag->op[r];
	uint32_t n = op->n_spatial + op->n_reduce;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		const struct hn_expr *e = hn_expr_substitute(
			load->arg[d], w->t->bounds->stage[r].axis_value, n, &w->b->a);
		const struct hn_region *box = &w->t->bounds->stage[load->ref].axis[d];
		int64_t v = eval_int(&w->x, e), min = eval_int(&w->x, box->min);

		if (w->x.fault[0] != 0) { /* an index out of a tensor */
			w->x.fault[0] = 0;
			continue;
		}
		w->b->n_boxes++;
		if (v >= p->axis[d].min && v < p->axis[d].min + p->axis[d].extent &&
		    (v < min || v >= min + box->extent)) {
			w->fault = "a read outside the reader's box of it";
		}
	}
}

struct load_list {
	uint32_t n;
	const struct hn_expr *load[64];
};

static void list_visit(const struct hn_expr *e, void *ctx)
{
	struct load_list *l = ctx;

	if (e->op == HN_EXPR_LOAD && l->n < HN_COUNT_OF(l->load)) {
		l->load[l->n++] = e;
	}
}

static void list_loads(const struct walk *w, uint32_t r, struct load_list *l)
{
	const struct hn_op *op = w->t->dag->op[r];

	l->n = 0;
	for (uint32_t k = 0; op->body != NULL && k < op->n_out; k++) {
		hn_expr_visit(op->body[k], list_visit, l);
	}
	for (uint32_t k = 0; op->reduce != NULL && k < op->reduce->n; k++) {
		hn_expr_visit(op->reduce->source[k], list_visit, l);
	}
}

static void check_reads(struct walk *w, uint32_t r)
{
	struct load_list l;

	list_loads(w, r, &l);
	for (uint32_t k = 0; k < l.n && w->fault == NULL; k++) {
		if (w->t->dag->op[l.load[k]->ref]->kind == HN_OP_COMPUTE) {
			check_load(w, r, l.load[k]);
		}
	}
}

/* Elements of stage i's box that lie in its domain, where the loops stand. */
static int64_t box_elements(struct walk *w, uint32_t i)
{
	const struct hn_op *op = w->t->dag->op[i];
	int64_t n = 1;

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		const struct hn_region *r = &w->t->bounds->stage[i].axis[d];
		int64_t lo = eval_int(&w->x, r->min), hi = lo + r->extent;
		int64_t end = op->axis[d].min + op->axis[d].extent;

		lo = lo < op->axis[d].min ? op->axis[d].min : lo;
		hi = hi > end ? end : hi;
		n *= hi > lo ? hi - lo : 0;
	}
	return n;
}

/* Which element of the box the stage makes where its loops stand: a number below
 * `volume`. */
static int64_t element(struct walk *w, uint32_t i)
{
	const struct hn_op *op = w->t->dag->op[i];
	int64_t at = 0;

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		const struct hn_region *r = &w->t->bounds->stage[i].axis[d];
		int64_t v = eval_int(&w->x, w->t->bounds->stage[i].axis_value[d]) -
			    eval_int(&w->x, r->min);

		if (v < 0 || v >= r->extent) {
			w->fault = "a stage leaves its own box";
			return 0;
		}
		at = at * r->extent + v;
	}
	return at;
}

/* The stage's own loops make every element of its box: once through them all, checking
 * the reads on the way.  Too many points: only draws. */
static void check_stage(struct walk *w, uint32_t i)
{
	double points = 1, volume = 1;
	int64_t made = 0, want = box_elements(w, i);

	for (uint32_t k = 0; k < w->s->stage[i]->n_iter; k++) {
		points *= (double)extent_of(w, i, k);
		w->x.slot[w->t->bounds->first_loop[i] + (int32_t)k] = 0;
	}
	for (uint32_t d = 0; d < w->t->dag->op[i]->n_spatial; d++) {
		volume *= (double)w->t->bounds->stage[i].axis[d].extent;
	}
	if (points > MAX_POINTS || volume > MAX_POINTS) {
		return;
	}
	bool *seen = HN_NEW_ARRAY(&w->b->a, bool, (size_t)volume);

	do {
		w->b->n_points++;
		if (runs(w, i)) {
			int64_t at = element(w, i);

			made += !seen[at];
			seen[at] = true;
			check_reads(w, i);
		}
	} while (next_point(w, i) && w->fault == NULL);
	if (w->fault == NULL && made != want) {
		w->fault = "a stage does not make all of its box";
	}
}

/* Whether slot `loop` is the number of a thread in its block. */
static bool is_thread(const struct walk *w, int32_t loop)
{
	static const bool thread[] = { [HN_ANN_VTHREAD] = true,
				       [HN_ANN_THREAD_X] = true,
				       [HN_ANN_THREAD_Y] = true,
				       [HN_ANN_THREAD_Z] = true,
				       [HN_ANN_TENSORIZE] = false };

	for (uint32_t i = 0; i < w->s->n_stage; i++) {
		int32_t k = loop - w->t->bounds->first_loop[i];

		if (k >= 0 && k < (int32_t)w->s->stage[i]->n_iter) {
			return thread[w->s->stage[i]->iter[k].ann];
		}
	}
	return false;
}

static void thread_visit(const struct hn_expr *e, void *ctx)
{
	struct walk *w = ctx;

	if (e->op == HN_EXPR_VAR && is_thread(w, e->ref)) {
		w->fault = "shared memory that depends on the thread";
	}
}

/* What all threads of a block see does not depend on which thread looks. */
static void check_shared(struct walk *w, uint32_t i)
{
	const struct hn_stage *st = w->s->stage[i];

	if (st->scope == NULL || strcmp(st->scope, "shared") != 0) {
		return;
	}
	for (uint32_t d = 0; d < w->t->dag->op[i]->n_spatial; d++) {
		hn_expr_visit(w->t->bounds->stage[i].axis[d].min, thread_visit, w);
	}
	for (; st->at == HN_AT_ITER; st = w->s->stage[st->at_stage]) {
		for (int32_t k = 0; k <= st->at_iter; k++) {
			w->b->n_shared +=
				is_thread(w, w->t->bounds->first_loop[st->at_stage] + k);
		}
	}
}

/* NULL, or what is wrong with the bounds of this state. */
static const char *check_bounds(struct bed *b, const struct hn_state *s,
				const struct hn_looptree *t)
{
	struct walk w = { .b = b, .s = s, .t = t, .x = { .dag = t->dag } };
	struct tensor *none = HN_NEW_ARRAY(&b->a, struct tensor, s->n_stage);

	w.x.n_slot = t->n_loop + 1;
	w.x.slot = HN_NEW_ARRAY(&b->a, int64_t, w.x.n_slot);
	w.x.tensor = none;
	for (int round = 0; round < 4 && w.fault == NULL; round++) {
		for (uint32_t i = 0; i < s->n_stage && w.fault == NULL; i++) {
			if (t->buffer[i].op >= 0 &&
			    t->dag->op[i]->kind == HN_OP_COMPUTE) {
				draw_loops(&w);
				check_shared(&w, i);
				check_stage(&w, i);
			}
		}
	}
	for (int n = 0; n < 60 && w.fault == NULL; n++) {
		draw_loops(&w);
		for (uint32_t i = 0; i < s->n_stage && w.fault == NULL; i++) {
			if (t->buffer[i].op >= 0 &&
			    t->dag->op[i]->kind == HN_OP_COMPUTE && runs(&w, i)) {
				check_reads(&w, i);
			}
		}
	}
	return w.fault;
}

/* NULL, or what is wrong; refusals are right answers. */
static const char *judge(struct bed *b, const struct hn_trace *t)
{
	const struct hn_state *s = NULL, *again = NULL;
	const struct hn_looptree *tree = NULL;
	const struct hn_bounds *bounds = NULL;
	struct hn_err err = { 0 };

	if (!text_is_stable(t, &b->a)) {
		return "the trace's text does not read back";
	}
	if (hn_state_replay(b->dag, t, &b->a, &s, NULL) != 0) {
		return NULL;
	}
	if (hn_state_replay(b->dag, t, &b->a, &again, NULL) != 0 ||
	    hash_state(s) != hash_state(again)) {
		return "two replays differ";
	}
	uint64_t before = hash_state(s);

	if (hn_bounds_infer(s, &b->a, &bounds, &err) == 0) {
		hn_state_check(hn_bounds_apply(s, bounds, &b->a));
	}
	if (hash_state(s) != before) {
		return "bounds changed the state";
	}
	if (hn_looptree_build(s, &b->a, &tree, &err) != 0) {
		bool placed = strstr(err.msg, "attached") != NULL;

		return placed ? NULL : "no loop tree, and not for an attachment";
	}
	return check_bounds(b, s, tree);
}

static const struct hn_trace *without(const struct hn_trace *t, uint32_t i,
				      struct hn_arena *a)
{
	const struct hn_trace *r = HN_NEW(a, struct hn_trace);

	for (uint32_t k = 0; k < t->n_step; k++) {
		r = k == i ? r : hn_trace_append(r, t->step[k], a);
	}
	return r;
}

static void fail_on(const struct bed *b, const struct hn_trace *t, const char *fault)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_trace_write(t, &buf);
	print_error("%s, HONE_SEED=%" PRIu64 ": %s\n%s\n", b->form, b->seed, fault,
		    buf.s);
	hn_buf_fini(&buf);
	fail_msg("%s", fault);
}

static void shrink_and_fail(struct bed *b, const struct hn_trace *t, const char *fault)
{
	for (uint32_t i = 0; i < t->n_step;) {
		const struct hn_trace *less = without(t, i, &b->a);
		const char *still = judge(b, less);

		if (still != NULL) {
			fault = still;
			t = less;
			i = 0;
		} else {
			i++;
		}
	}
	fail_on(b, t, fault);
}

/* Extend s by random steps; checks what each step must not do. */
static const struct hn_state *draw_history(struct bed *b, uint32_t n_step)
{
	const struct hn_state *s = hn_state_init(b->dag, &b->a);

	for (uint32_t tries = 0; tries < 60 * n_step && s->trace->n_step < n_step;
	     tries++) {
		struct hn_step step = draw_step(b, s);
		const struct hn_state *next = NULL;
		const struct hn_looptree *tree;
		uint64_t before = hash_state(s);
		bool accepted = hn_step_ops(step.kind)->check(s, &step, NULL) == 0;

		if ((hn_state_apply(s, &step, &b->a, &next, NULL) == 0) != accepted) {
			fail_on(b, hn_trace_append(s->trace, &step, &b->a),
				"check and apply disagree about the last step");
		}
		if (hash_state(s) != before) {
			fail_on(b, hn_trace_append(s->trace, &step, &b->a),
				"the last step's apply changed its input");
		}
		b->n_accepted += accepted;
		b->n_refused += !accepted;
		if (!accepted || (next->stage[0]->n_iter > 12)) {
			continue;
		}
		hn_state_check(next);
		/* A misplaced attachment would end all use of the history. */
		if (hn_looptree_build(next, &b->a, &tree, NULL) == 0) {
			s = next;
		}
	}
	return s;
}

static void one_history(struct bed *b, size_t form, uint64_t seed)
{
	bed_open(b, &dag_forms[form]);
	b->form = dag_forms[form].name;
	b->seed = seed;
	b->rng = hn_rng_stream(815, form, 0, seed);

	const struct hn_state *s = draw_history(b, 3 + (uint32_t)pick(b, 12));
	const char *fault = judge(b, s->trace);

	if (fault != NULL) {
		shrink_and_fail(b, s->trace, fault);
	}
	hn_arena_fini(&b->a);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void test_random(void **state)
{
	uint64_t n = number_from("HONE_HISTORIES", N_HISTORIES);
	uint64_t first = number_from("HONE_SEED", 0);
	struct bed b = { 0 };

	(void)state;
	n = getenv("HONE_SEED") != NULL ? 1 : n;
	for (size_t f = 0; f < HN_COUNT_OF(dag_forms); f++) {
		for (uint64_t seed = first; seed < first + n; seed++) {
			one_history(&b, f, seed);
		}
	}
	print_message("%zu dags, seeds %" PRIu64 "..%" PRIu64 ": %" PRId64
		      " steps accepted, %" PRId64 " refused; %" PRId64 " points, %" PRId64
		      " reads in boxes, %" PRId64 " thread loops around shared stages\n",
		      HN_COUNT_OF(dag_forms), first, first + n - 1, b.n_accepted,
		      b.n_refused, b.n_points, b.n_boxes, b.n_shared);
	/* The generator must reach what it is for. */
	assert_true(b.n_accepted > (int64_t)(HN_COUNT_OF(dag_forms) * n));
	assert_true(b.n_boxes > 0 && (n < N_HISTORIES || b.n_shared > 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
