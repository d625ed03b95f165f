/* tests/unit/loopstate/looptree.c -- bounds and loop trees, held against the dag's
 * meaning.
 *
 * Histories made by hand for the known dangers, then some thousands by a seeded
 * generator, on the small dags of looptree_dags.h.  Each tree is run by looptree_eval.h,
 * which checks every access, and its outputs compared with a direct evaluation of the
 * dag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"

#ifndef N_TREES
#define N_TREES 150 /* random histories for each dag */
#endif

struct bed {
	struct hn_arena a;
	const struct hn_dag *dag;
	struct eval want;
};

static void bed_open(struct bed *b, const char *name, const char *json)
{
	char *text = strdup(json);
	struct hn_json *root = NULL;
	struct hn_err err = { 0 };

	for (char *p = text; *p != 0; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	hn_arena_init(&b->a, /* budget_bytes= */ 0);
	if (hn_json_parse(name, text, strlen(text), NULL, &root, &err) != 0 ||
	    hn_dag_from_json(name, root, /* max_bytes= */ 0, &b->a, &b->dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	hn_json_free(root);
	free(text);
	eval_dag(&b->want, b->dag);
	assert_string_equal(b->want.fault, "");
}

static void bed_form(struct bed *b, const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		if (strcmp(dag_forms[i].name, name) == 0) {
			bed_open(b, name, dag_forms[i].json);
			return;
		}
	}
	fail_msg("no dag %s", name);
}

static void bed_close(struct bed *b)
{
	eval_free(&b->want);
	hn_arena_fini(&b->a);
}

/* Print all that is needed to understand a wrong tree. */
static void explain(const struct hn_state *s, const struct hn_looptree *t,
		    const char *fault)
{
	struct hn_buf buf;

	hn_buf_init(&buf);
	hn_trace_write(s->trace, &buf);
	hn_buf_puts(&buf, "\n");
	hn_state_print(s, /* delete_trivial_loops= */ false, &buf);
	hn_looptree_print(t, &buf);
	print_error("%s\n%s\n", fault, buf.s);
	hn_buf_fini(&buf);
}

/* Run it; the number of statements guarded off, or fail. */
static int64_t check_tree(struct bed *b, const struct hn_state *s,
			  const struct hn_looptree *t)
{
	struct eval got;

	eval_tree(&got, t);
	if (got.fault[0] != 0 || !eval_same(&b->want, &got)) {
		explain(s, t, got.fault);
		fail_msg("%s", got.fault);
	}
	eval_free(&got);
	return got.n_guarded;
}

static const struct hn_looptree *tree_of(struct bed *b, const struct hn_state *s)
{
	const struct hn_looptree *t = NULL;
	struct hn_err err = { 0 };

	if (hn_looptree_build(s, &b->a, &t, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return t;
}

static uint32_t count_guards(const struct hn_looptree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->bounds->n_stage; i++) {
		n += t->bounds->stage[i].n_guard;
	}
	return n;
}

/* Replay a history in record form, build, run, compare. */
static const struct hn_looptree *check_history(struct bed *b, const char *steps)
{
	const struct hn_trace *trace = NULL;
	const struct hn_state *s = NULL;
	struct hn_err err = { 0 };

	if (hn_trace_parse("test", steps, strlen(steps), &b->a, &trace, &err) != 0 ||
	    hn_state_replay(b->dag, trace, &b->a, &s, &err) != 0) {
		fail_msg("%s: %s", steps, err.msg);
	}
	const struct hn_looptree *t = tree_of(b, s);

	check_tree(b, s, t);
	return t;
}

struct history {
	const char *dag, *steps;
	int32_t guards; /* -1 = any */
};

static const struct history histories[] = {
	{ "matmul", "[]", 0 },
	{ "matmul", "[[\"SP\", 2, 0, 7, [4], 1]]", 1 },
	{ "matmul", "[[\"SP\", 2, 0, 7, [4], 0]]", 1 },
	{ "matmul", "[[\"SP\", 2, 0, 7, [7], 1], [\"SP\", 2, 2, 5, [5], 0]]", 0 },
	{ "matmul", "[[\"SP\", 2, 0, 7, [9], 1]]", 0 },
	{ "matmul", "[[\"SP\", 2, 2, 3, [2], 1], [\"RE\", 2, [2, 0, 3, 1]]]", 1 },
	/* Fuse of parts whose splits overshoot, and a split of the fused loop that does
	   too. */
	{ "matmul",
	  "[[\"SP\", 2, 0, 7, [4], 1], [\"FU\", 2, [1, 2]], [\"SP\", 2, 1, 20, [3], 1]]",
	  2 },
	{ "matmul", "[[\"FU\", 2, [0, 1, 2]], [\"SP\", 2, 0, 105, [11], 1]]", 1 },
	{ "matmul",
	  "[[\"FU\", 2, [0, 1]], [\"SP\", 2, 0, 35, [2, 3], 0], [\"RE\", 2, [3, 0, 1, "
	  "2]]]",
	  -1 },
	{ "matmul-bias-relu", "[[\"CI\", 4]]", 0 },
	{ "matmul-bias-relu",
	  "[[\"CI\", 4], [\"SP\", 5, 0, 6, [3], 1], [\"SP\", 5, 2, 8, [4], 1], "
	  "[\"RE\", 5, [0, 2, 1, 3]], [\"CA\", 3, 5, 1]]",
	  0 },
	{ "matmul-bias-relu",
	  "[[\"CI\", 4], [\"SP\", 5, 0, 6, [4], 1], [\"SP\", 5, 2, 8, [3], 1], "
	  "[\"RE\", 5, [0, 2, 1, 3]], [\"CA\", 3, 5, 1]]",
	  -1 },
	{ "matmul-bias-relu",
	  "[[\"SP\", 5, 0, 6, [2], 1], [\"CA\", 4, 5, 1], [\"CA\", 3, 4, 0], "
	  "[\"SP\", 3, 2, 4, [2], 1], [\"RE\", 3, [2, 0, 1, 3]]]",
	  0 },
	{ "conv2d-s2-dil2", "[[\"CI\", 2]]", 0 },
	{ "conv2d-s2-dil2", "[[\"CA\", 2, 3, 0]]", 0 },
	{ "conv2d-s2-dil2", "[[\"CA\", 2, 3, 1]]", 0 },
	{ "conv2d-s2-dil2", "[[\"CA\", 2, 3, 2]]", 0 },
	{ "conv2d-s2-dil2", "[[\"CA\", 2, 3, 4]]", 0 },
	{ "conv2d-s2-dil2", "[[\"CA\", 2, 3, 6]]", 0 },
	{ "conv2d-s2-dil2",
	  "[[\"SP\", 4, 1, 4, [3], 1], [\"CA\", 3, 4, 1], [\"CA\", 2, 3, 1]]", -1 },
	{ "max-pool", "[[\"SP\", 2, 0, 5, [2], 1], [\"CA\", 1, 2, 0]]", -1 },
	{ "softmax", "[[\"CI\", 2], [\"SP\", 4, 0, 5, [2], 1], [\"CA\", 3, 4, 0]]", -1 },
	{ "conv-transposed", "[[\"SP\", 3, 0, 8, [4], 1], [\"CA\", 2, 3, 0]]", 0 },
	{ "conv-transposed", "[[\"CI\", 2]]", 0 },
	{ "rank0", "[[\"SP\", 1, 0, 13, [4], 1]]", 1 },
	{ "reshape-transpose",
	  "[[\"SP\", 3, 1, 15, [3], 1], [\"CA\", 2, 3, 1], [\"CA\", 1, 2, 0]]", -1 },
	{ "stencils", "[[\"CI\", 1], [\"CI\", 2], [\"CI\", 3]]", 0 },
	{ "stencils",
	  "[[\"SP\", 4, 0, 13, [4], 1], [\"CA\", 3, 4, 0], [\"CA\", 2, 3, 0]]", -1 },
	/* The sketch of 2.4: cache write, follow the tile, attach; then with sizes that
	 * do not divide. */
	{ "matmul",
	  "[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 7, [7], 1], [\"SP\", 2, 3, 3, [3], "
	  "1], "
	  "[\"RE\", 2, [0, 3, 1, 2, 4]], [\"SP\", 3, 0, 7, [7], 1], [\"CA\", 2, 3, 0]]",
	  0 },
	{ "matmul",
	  "[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 7, [2], 1], [\"SP\", 2, 3, 3, [2], "
	  "1], "
	  "[\"RE\", 2, [3, 0, 4, 1, 2]], [\"SP\", 3, 0, 7, [4], 1], [\"SP\", 3, 2, 5, "
	  "[3], 1], "
	  "[\"RE\", 3, [0, 2, 1, 3]], [\"CA\", 2, 3, 1], [\"FU\", 3, [0, 1]], "
	  "[\"AN\", 3, 0, 3]]",
	  -1 },
	{ "norm",
	  "[[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 20, [3], 1], [\"RF\", 1, 1, 1], "
	  "[\"CA\", 1, 2, 0]]",
	  -1 },
	{ "rank0", "[[\"SP\", 1, 0, 13, [5], 1], [\"RF\", 1, 1, 0], [\"FU\", 3, []]]",
	  -1 },
	/* Panels: the operand's, of lengths that divide and do not; in a producer's reader. */
	{ "matmul", "[[\"PK\", 1, [1, 5]]]", 0 },
	{ "matmul", "[[\"PK\", 1, [2, 4]], [\"PK\", 0, [3, 1]]]", 0 },
	{ "matmul",
	  "[[\"PK\", 1, [1, 2]], [\"SP\", 3, 1, 5, [2], 1], [\"RE\", 3, [1, 3, 0, 2]], "
	  "[\"CA\", 2, 3, 0]]",
	  -1 },
	{ "conv2d-s2-dil2", "[[\"PK\", 2, [1, 1, 3, 2]], [\"CA\", 3, 4, 2]]", -1 },
	{ "let-square", "[[\"CI\", 1]]", 0 },
};

static void test_histories(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(histories); i++) {
		const struct history *h = &histories[i];
		struct bed b;

		bed_form(&b, h->dag);
		const struct hn_looptree *t = check_history(&b, h->steps);

		if (h->guards >= 0 && count_guards(t) != (uint32_t)h->guards) {
			explain(t->state, t, "guards");
			fail_msg("%s %s: %u guards, want %d", h->dag, h->steps,
				 count_guards(t), h->guards);
		}
		bed_close(&b);
	}
}

/* A stage attached where one consumer is outside, an argument attached: refused, by name.
 */
static void test_refusals(void **state)
{
	static const struct history refused[] = {
		{ "softmax", "[[\"CA\", 2, 3, 0]]", 0 },  /* e is read by out too */
		{ "stencils", "[[\"CA\", 1, 2, 0]]", 0 }, /* p is read by r too */
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		struct bed b;
		const struct hn_trace *trace = NULL;
		const struct hn_state *s = NULL;
		const struct hn_looptree *t = NULL;
		struct hn_err err = { 0 };

		bed_form(&b, refused[i].dag);
		assert_int_equal(hn_trace_parse("test", refused[i].steps,
						strlen(refused[i].steps), &b.a, &trace,
						&err),
				 0);
		if (hn_state_replay(b.dag, trace, &b.a, &s, &err) == 0) {
			assert_int_equal(hn_looptree_build(s, &b.a, &t, &err),
					 -HONE_E_INVALID);
			assert_null(t);
		}
		assert_non_null(strstr(err.msg, "stage"));
		bed_close(&b);
	}
}

/* x*x inlined thirty times over would need 2^30 nodes: refused, in bounded memory. */
static void test_growth(void **state)
{
	struct bed b;
	struct hn_buf buf;
	const struct hn_looptree *t = NULL;
	struct hn_err err = { 0 };

	(void)state;
	hn_buf_init(&buf);
	hn_buf_puts(&buf, "{'format':'compute-dag/1','ops':[" IN("t0", "[3]"));
	for (int i = 1; i <= 30; i++) {
		hn_buf_printf(
			&buf,
			",{'kind':'compute','id':'t%d','name':'t%d','tag':'',"
			"'axes':[['i',0,3]],'reduce_axes':[],'shape':[3],"
			"'dtype':['float32'],'body':[['mul',['load','t%d',['var','i']],"
			"['load','t%d',['var','i']]]]}",
			i, i, i - 1, i - 1);
	}
	hn_buf_puts(&buf, "],'inputs_outputs':['t0','t30']}");
	bed_open(&b, "squares", buf.s);
	const struct hn_state *s = hn_state_init(b.dag, &b.a);

	for (int32_t i = 1; i < 30; i++) {
		assert_int_equal(hn_compute_inline(s, i, &b.a, &s, &err), 0);
	}
	assert_int_equal(hn_looptree_build(s, &b.a, &t, &err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "inline fewer"));
	assert_true(b.a.used_bytes < (size_t)256 << 20);
	bed_close(&b);
	hn_buf_fini(&buf);
}

/* ---- random histories */

struct gen {
	struct bed *b;
	struct hn_rng rng;
	const struct hn_state *s;
};

static int32_t pick(struct gen *g, int64_t n)
{
	return (int32_t)hn_rng_below(&g->rng, (uint64_t)n);
}

static bool is_compute(const struct hn_state *s, int32_t i)
{
	return s->dag->op[i]->kind == HN_OP_COMPUTE;
}

static int32_t pick_stage(struct gen *g)
{
	int32_t i;

	do {
		i = pick(g, g->s->n_stage);
	} while (!is_compute(g->s, i));
	return i;
}

static int try_split(struct gen *g, int32_t i, const struct hn_state **ret)
{
	static const int64_t lens[] = { 1, 2, 3, 4, 5, 7, 9 };
	const struct hn_stage *st = g->s->stage[i];
	int64_t len[3];
	uint32_t n = 1 + (uint32_t)pick(g, 3);

	if (st->n_iter == 0 || st->n_iter > 10) {
		return -1;
	}
	for (uint32_t k = 0; k < n; k++) {
		len[k] = lens[pick(g, HN_COUNT_OF(lens))];
	}
	return hn_split(g->s, i, pick(g, st->n_iter), len, n, pick(g, 2), &g->b->a, ret,
			NULL);
}

static int try_fuse(struct gen *g, int32_t i, const struct hn_state **ret)
{
	const struct hn_stage *st = g->s->stage[i];
	uint32_t n = 2 + (uint32_t)pick(g, 2);

	if (st->n_iter < n) {
		return -1;
	}
	return hn_fuse(g->s, i, pick(g, st->n_iter - n + 1), n, &g->b->a, ret, NULL);
}

static int try_reorder(struct gen *g, int32_t i, const struct hn_state **ret)
{
	const struct hn_stage *st = g->s->stage[i];
	int64_t order[64];

	if (st->n_iter < 2 || st->n_iter > 64) {
		return -1;
	}
	for (uint32_t k = 0; k < st->n_iter; k++) {
		uint32_t j = (uint32_t)pick(g, k + 1);

		order[k] = order[j];
		order[j] = k;
	}
	return hn_reorder(g->s, i, order, st->n_iter, &g->b->a, ret, NULL);
}

static int try_compute_at(struct gen *g, int32_t i, const struct hn_state **ret)
{
	int32_t reader[16];
	uint32_t n = hn_state_consumers(g->s, i, reader, HN_COUNT_OF(reader));
	int32_t c = n > 0 && n <= HN_COUNT_OF(reader) && pick(g, 4) > 0
			    ? reader[pick(g, n)]
			    : i + 1 + pick(g, g->s->n_stage);

	if (c >= (int32_t)g->s->n_stage || !is_compute(g->s, c) ||
	    g->s->stage[c]->n_iter == 0) {
		return -1;
	}
	return hn_compute_at(g->s, i, c, pick(g, g->s->stage[c]->n_iter), &g->b->a, ret,
			     NULL);
}

static int try_annotate(struct gen *g, int32_t i, const struct hn_state **ret)
{
	const struct hn_stage *st = g->s->stage[i];

	if (st->n_iter == 0) {
		return -1;
	}
	return hn_annotate(g->s, i, pick(g, st->n_iter), (enum hn_ann)(1 + pick(g, 3)),
			   &g->b->a, ret, NULL);
}

static int try_rfactor(struct gen *g, int32_t i, const struct hn_state **ret)
{
	const struct hn_op *op = g->s->dag->op[i];
	const struct hn_state *split = NULL;
	int64_t len = 1 + pick(g, 4);

	if (op->n_reduce == 0 || g->s->stage[i]->n_iter != op->n_spatial + op->n_reduce) {
		return -1;
	}
	int32_t k = (int32_t)op->n_spatial + pick(g, op->n_reduce);

	if (hn_split(g->s, i, k, &len, 1, true, &g->b->a, &split, NULL) != 0) {
		return -1;
	}
	return hn_rfactor(split, i, k + pick(g, 2), pick(g, op->n_spatial + 1), &g->b->a,
			  ret, NULL);
}

static int try_pack(struct gen *g, const struct hn_state **ret)
{
	int32_t i = pick(g, g->s->n_stage);
	const struct hn_op *op = g->s->dag->op[i];
	int64_t len[HN_DAG_MAX_RANK];
	struct hn_step step = { .kind = HN_STEP_pack, .stage = i, .n_list = op->n_dim };

	for (uint32_t d = 0; d < op->n_dim; d++) {
		len[d] = 1 + pick(g, op->shape[d] < 6 ? op->shape[d] : 6);
	}
	step.list = len;
	return g->s->n_stage < 12 ? hn_state_apply(g->s, &step, &g->b->a, ret, NULL) : -1;
}

static int try_prefetch(struct gen *g, int32_t i, const struct hn_state **ret)
{
	struct hn_step step = { .kind = HN_STEP_prefetch, .stage = i };

	step.a[HN_PF_ITER] = pick(g, g->s->stage[i]->n_iter + 1);
	step.a[HN_PF_OPERAND] = pick(g, g->s->n_stage);
	step.a[HN_PF_DISTANCE] = 1 + pick(g, 3);
	return hn_state_apply(g->s, &step, &g->b->a, ret, NULL);
}

/* One random step that fits; false when the draw did not. */
static bool random_step(struct gen *g)
{
	const struct hn_state *s = NULL;
	int32_t i = pick_stage(g);
	int rc = -1;

	switch (pick(g, 18)) {
	case 17:
		rc = try_prefetch(g, i, &s);
		break;
	case 16:
		rc = try_pack(g, &s);
		break;
	case 0:
		rc = hn_cache_write(g->s, i, "local", &g->b->a, &s, NULL);
		break;
	case 1:
		rc = try_rfactor(g, i, &s);
		break;
	case 2:
		rc = hn_compute_inline(g->s, i, &g->b->a, &s, NULL);
		break;
	case 3:
	case 4:
		rc = try_fuse(g, i, &s);
		break;
	case 5:
	case 6:
		rc = try_reorder(g, i, &s);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		rc = try_compute_at(g, i, &s);
		break;
	case 11:
		rc = try_annotate(g, i, &s);
		break;
	default:
		rc = try_split(g, i, &s);
		break;
	}
	if (rc != 0) {
		return false;
	}
	hn_state_check(s);
	const struct hn_looptree *t = NULL;
	struct hn_err err = { 0 };

	rc = hn_looptree_build(s, &g->b->a, &t, &err);
	if (rc != 0) { /* only misplaced attachments may be refused */
		if (rc != -HONE_E_INVALID || strstr(err.msg, "attached") == NULL) {
			fail_msg("%s", err.msg);
		}
		return false;
	}
	g->s = s;
	return true;
}

struct tally {
	int64_t trees, attached, guarded, inlined;
};

static void count_features(const struct hn_state *s, struct tally *n)
{
	n->trees++;
	for (uint32_t i = 0; i < s->n_stage; i++) {
		n->attached += s->stage[i]->at == HN_AT_ITER;
		n->inlined += s->stage[i]->at == HN_AT_INLINED;
	}
}

/* Iterations of the whole nest, so that the evaluator is not handed a huge one. */
static bool is_small(const struct hn_looptree *t)
{
	double n = 0;

	for (uint32_t i = 0; i < t->bounds->n_stage; i++) {
		double own = 1;
		const struct hn_stage *st = t->state->stage[i];

		for (uint32_t k = 0; t->buffer[i].op >= 0 && k < st->n_iter; k++) {
			own *= t->bounds->stage[i].iter_extent != NULL
				       ? (double)t->bounds->stage[i].iter_extent[k]
				       : 1;
		}
		while (st->at == HN_AT_ITER) {
			for (int32_t k = 0; k <= st->at_iter; k++) {
				own *= (double)t->bounds->stage[st->at_stage]
					       .iter_extent[k];
			}
			st = t->state->stage[st->at_stage];
		}
		n += own;
	}
	return n < 2e5;
}

static void random_history(struct bed *b, uint64_t form, uint64_t seed, struct tally *n)
{
	struct gen g = { b, hn_rng_stream(4711, form, 0, seed),
			 hn_state_init(b->dag, &b->a) };
	int32_t n_step = 1 + pick(&g, 16);

	for (int32_t k = 0; k < 3 * n_step; k++) {
		if (random_step(&g)) {
			n_step--;
		}
		if (n_step == 0) {
			break;
		}
	}
	const struct hn_looptree *t = tree_of(b, g.s);

	if (!is_small(t)) {
		return;
	}
	n->guarded += check_tree(b, g.s, t) > 0;
	count_features(g.s, n);
}

static void test_random(void **state)
{
	const char *many = getenv("HONE_TREES");
	uint64_t n_seed = many != NULL ? strtoull(many, NULL, 10) : N_TREES;
	struct tally n = { 0 };

	(void)state;
	for (size_t f = 0; f < HN_COUNT_OF(dag_forms); f++) {
		for (uint64_t seed = 0; seed < n_seed; seed++) {
			struct bed b;

			bed_open(&b, dag_forms[f].name, dag_forms[f].json);
			random_history(&b, f, seed, &n);
			bed_close(&b);
		}
	}
	print_message("%" PRId64 " trees: %" PRId64 " attached and %" PRId64
		      " inlined stages, %" PRId64 " trees with guards that acted\n",
		      n.trees, n.attached, n.inlined, n.guarded);
	/* The generator must reach what it is for. */
	assert_true(n.trees * 10 > (int64_t)(HN_COUNT_OF(dag_forms) * n_seed) * 8);
	assert_true(n.attached * 4 > n.trees);
	assert_true(n.inlined * 20 > n.trees);
	assert_true(n.guarded * 4 > n.trees);
}

/* The text, letter for letter: conv's pad attached inside a tile that does not divide. */
static void test_text(void **state)
{
	static const char want[] =
		"arg X [9, 3]\n"
		"arg pool [5, 3]\n"
		"parallel h.0#2 (3)\n"
		"  for c#3 (3)\n"
		"    local pad [5, 1] from [h.0#2 * 4, c#3]\n"
		"    for h#0 (5)\n"
		"      for c#1 (1)\n"
		"        if h#0 + h.0#2 * 4 < 11\n"
		"          pad[h#0 + h.0#2 * 4, c#3] = if(h#0 + h.0#2 * 4 >= 1 && h#0 + "
		"h.0#2 * 4 < 10, X[h#0 + h.0#2 * 4 - 1, c#3], -1.0000000150474662e+30)\n"
		"    for h.1#4 (2)\n"
		"      if h.0#2 * 2 + h.1#4 < 5\n"
		"        pool[h.0#2 * 2 + h.1#4, c#3] = -1.0000000150474662e+30\n"
		"      for r#5 (3)\n"
		"        if h.0#2 * 2 + h.1#4 < 5\n"
		"          pool[h.0#2 * 2 + h.1#4, c#3] max= pad[(h.0#2 * 2 + h.1#4) * 2 "
		"+ r#5, c#3]\n";
	struct bed b;
	struct hn_buf buf;

	(void)state;
	hn_buf_init(&buf);
	bed_form(&b, "max-pool");
	hn_looptree_print(
		check_history(&b,
			      "[[\"SP\", 2, 0, 5, [2], 1], [\"RE\", 2, [0, 2, 1, 3]], "
			      "[\"CA\", 1, 2, 1], [\"AN\", 2, 0, 3]]"),
		&buf);
	assert_string_equal(buf.s, want);
	bed_close(&b);
	hn_buf_fini(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_growth),	  cmocka_unit_test(test_text),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
