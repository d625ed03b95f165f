/* Loops of a GPU in the checks: iterations of blocks, threads and virtual threads run at the same
 * time, threads may combine parts of a sum, and what they share is the same to all of them.
 *
 * Then random programs, half of them under sketches for a GPU, half under sketches and random
 * histories of which some loops more are bound to any number: both checks against evaluation with every access watched (looptree_trace.h).  argv[1]:
 * how many states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/nest/concurrent.h"
#include "tests/lib/looptree_trace.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/mutated.h"
#include "tests/lib/random_dags.h"
#include "tests/lib/random_runs.h"
#include "tests/lib/exact_eval.h"
#include "tests/lib/random_pairs.h"

#define LIMIT_MS 20000
#define N_STATES 120
#define N_HISTORIES 8 /* of each program */

static uint64_t n_states = N_STATES;

static const char sum[] = "f(float32 A[6,10], float32 B[10,4]) -> C { C(i,j) +=! A(i,k)*B(k,j) }";
static const char first_of[] = "f(float32 A[6,10]) -> M, I { M(i), I(i) reduce=! A(i,k), k by (a, c), "
			       "(b, d) -> max(a, b), select(a >= b, c, d) from 0.0, 0 }";
static const char in_order[] = "f(int32 A[6,10]) -> C { C(i) reduce=! A(i,k) by (a), (b) -> a - b from 0 }";
static const char bitwise[] = "f(float32 A[6,10]) -> C { @bitwise C(i) +=! A(i,k) }";

struct fixture {
	struct hn_arena a;
	struct hn_quick *quick;
};

static int set_up(void **state)
{
	static struct fixture f;

	hn_arena_init(&f.a, 0);
	f.quick = hn_quick_new();
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	hn_quick_free(f->quick);
	hn_arena_fini(&f->a);
	return 0;
}

static const struct hn_looptree *tree(struct fixture *f, const char *text, const char *steps)
{
	const struct hn_looptree *t;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err;

	if (hn_dag_parse("test", text, strlen(text), 0, &f->a, &dag, &err) ||
	    hn_trace_parse("steps", steps, strlen(steps), &f->a, &trace, &err) ||
	    hn_state_replay(dag, trace, &f->a, &s, &err) ||
	    hn_looptree_build(s, &f->a, &t, &err)) {
		fail_msg("%s: %s", steps, err.msg);
	}
	return t;
}

/* why: what the exact check says, in part; NULL: both take it. */
static void expect(struct fixture *f, const struct hn_looptree *t, const char *name,
		   const char *why)
{
	struct hn_err err = { 0 }, quick_err = { 0 };
	enum hn_verdict v = hn_legal_check(t, LIMIT_MS, &err);
	bool quick = hn_quick_legal(f->quick, t, &quick_err);

	if (why == NULL ? v != HN_VERDICT_OK : v != HN_VERDICT_ILLEGAL || !strstr(err.msg, why)) {
		fail_msg("%s: %s (%s), expected: %s", name, hn_verdict_name(v), err.msg,
			 why ? why : "legal");
	}
	if (quick != (why == NULL)) {
		fail_msg("%s: the quick check: %s", name, quick ? "legal" : quick_err.msg);
	}
}

/* The reduction's loop is bound to each number in turn. */
static void a_race_is_found_on_each_kind_of_loop(void **state)
{
	static const struct {
		const char *name, *text;
		int stage, loop;
		bool threads_combine;
	} row[] = { { "sum", sum, 2, 2, true },
		    { "first of the largest", first_of, 1, 1, false },
		    { "differences", in_order, 1, 1, false },
		    { "bitwise", bitwise, 1, 1, false } };
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		for (uint8_t ann = 1; hn_ann_known(ann); ann++) {
			char steps[80], name[80], why[80];
			enum hn_runs runs = hn_ann_rows[ann].runs;

			snprintf(steps, sizeof steps, "[[\"AN\", %d, %d, %d]]", row[i].stage,
				 row[i].loop, ann);
			snprintf(name, sizeof name, "%s, %s", row[i].name, hn_ann_keyword(ann));
			snprintf(why, sizeof why, "iterations of %s loop k share an element of",
				 hn_ann_keyword(ann));
			expect(f, tree(f, row[i].text, steps), name,
			       runs == HN_RUNS_ORDER || (runs == HN_RUNS_THREADS &&
							 row[i].threads_combine)
				       ? NULL
				       : why);
		}
	}
}

/* In order the init's guard would do: it runs before all updates.  At once it does not. */
static void an_init_is_not_combined(void **state)
{
	struct fixture *f = *state;
	const struct hn_looptree *t = tree(f, sum, "[[\"AN\", 2, 2, 6]]");
	struct hn_looptree wrong = *t;
	struct hn_node *loop = HN_NEW(&f->a, struct hn_node), *i = HN_NEW(&f->a, struct hn_node),
		       *j = HN_NEW(&f->a, struct hn_node), *root = HN_NEW(&f->a, struct hn_node);
	const struct hn_node **child = HN_NEW_ARRAY(&f->a, const struct hn_node *, 5);

	/* root > i > j > k with an init: the init moved into k */
	*root = *t->root;
	*i = *t->root->child[0];
	*j = *i->child[0];
	*loop = *j->child[0];
	assert_non_null(loop->init);
	assert_int_equal(loop->ann, HN_ANN_THREAD_X);
	struct hn_node *init = HN_NEW(&f->a, struct hn_node);
	const struct hn_expr **first = HN_NEW_ARRAY(&f->a, const struct hn_expr *, 1);

	*init = *loop->init;
	assert_int_equal(init->kind, HN_NODE_STMT);
	assert_int_equal(init->n_guard, 0);
	first[0] = hn_expr_binary(HN_EXPR_LT, hn_expr_var(loop->loop, HN_I32, "k", &f->a),
				  hn_expr_int(1, HN_I32, &f->a), &f->a);
	init->guard = first;
	init->n_guard = 1;
	child[0] = init;
	child[1] = loop->child[0];
	loop->init = NULL;
	loop->child = child;
	loop->n_child = 2;
	child[2] = loop;
	j->child = &child[2];
	child[3] = j;
	i->child = &child[3];
	child[4] = i;
	root->child = &child[4];
	wrong.root = root;

	struct hn_err err = { 0 };

	assert_int_equal(hn_legal_check(&wrong, LIMIT_MS, &err), HN_VERDICT_ILLEGAL);
	assert_non_null(strstr(err.msg, "iterations of threadIdx.x loop k share an element of C"));
	assert_false(hn_quick_legal(f->quick, &wrong, NULL));
	loop->ann = HN_ANN_NONE;
	assert_int_equal(hn_legal_check(&wrong, LIMIT_MS, &err), HN_VERDICT_OK);
}

/* A in shared memory, filled by the threads that then read it; rows of C are threads' own. */
#define SHARED                                                                                    \
	"[[\"CHR\", 0, \"shared\", [2]], [\"AN\", 3, 0, 6], [\"CA\", 1, 3, 0], [\"AN\", 1, 0, 6]]"

static const struct hn_node *stmt_of(const struct hn_node *n, int32_t stage)
{
	const struct hn_node *ret = n->kind == HN_NODE_STMT && n->stage == stage ? n : NULL;

	for (uint32_t i = 0; i < n->n_child && ret == NULL; i++) {
		ret = stmt_of(n->child[i], stage);
	}
	return ret;
}

static void what_threads_share_is_the_same_to_each(void **state)
{
	struct fixture *f = *state;
	const struct hn_looptree *t = tree(f, sum, SHARED);
	const struct hn_node *thread = t->root->child[0];
	struct hn_looptree wrong = *t;
	struct hn_node *fill = (struct hn_node *)stmt_of(t->root, 1);
	struct hn_err err = { 0 };

	assert_int_equal(thread->ann, HN_ANN_THREAD_X);
	assert_non_null(fill);
	assert_true(hn_threads_agree(t, &err));
	assert_int_equal(hn_legal_check(t, LIMIT_MS, &err), HN_VERDICT_OK);

	/* a guard that always holds, and yet asks who fills */
	const struct hn_expr *guard = hn_expr_binary(
		HN_EXPR_LT, hn_expr_var(thread->loop, HN_I32, "t", &f->a),
		hn_expr_int(thread->extent, HN_I32, &f->a), &f->a);
	const struct hn_expr **guards =
		HN_NEW_ARRAY(&f->a, const struct hn_expr *, fill->n_guard + 1);

	for (uint32_t i = 0; i < fill->n_guard; i++) {
		guards[i] = fill->guard[i];
	}
	guards[fill->n_guard] = guard;
	fill->guard = guards;
	fill->n_guard++;
	assert_int_equal(hn_legal_check(t, LIMIT_MS, &err), HN_VERDICT_ILLEGAL);
	assert_non_null(strstr(err.msg, "(A.shared): iterations of threadIdx.x loop i share its "
					"memory, and it depends on which of them fills it"));
	assert_false(hn_quick_legal(f->quick, t, NULL));
	fill->n_guard--;

	/* one element too small */
	struct hn_buffer *buffer = HN_NEW_ARRAY(&f->a, struct hn_buffer, t->state->n_stage);
	int64_t extent[2] = { t->buffer[1].extent[0], t->buffer[1].extent[1] - 1 };

	memcpy(buffer, t->buffer, t->state->n_stage * sizeof(*buffer));
	buffer[1].extent = extent;
	wrong.buffer = buffer;
	assert_int_equal(hn_legal_check(&wrong, LIMIT_MS, &err), HN_VERDICT_ILLEGAL);
	assert_false(hn_quick_legal(f->quick, &wrong, NULL));
}

static void a_number_is_one_loop(void **state)
{
	struct fixture *f = *state;

	expect(f, tree(f, sum, "[[\"AN\", 2, 0, 6], [\"AN\", 2, 1, 8]]"), "x and y", NULL);
	expect(f, tree(f, sum, "[[\"AN\", 2, 0, 4], [\"AN\", 2, 1, 4]]"), "virtual", NULL);
	expect(f, tree(f, sum, "[[\"AN\", 2, 0, 6], [\"AN\", 2, 1, 6]]"), "x and x",
	       "loops i and j, one in the other, are both threadIdx.x");
	expect(f, tree(f, sum, "[[\"AN\", 2, 0, 5], [\"AN\", 2, 1, 5]]"), "blocks",
	       "loops i and j, one in the other, are both blockIdx.x");
}

/* ---- random programs */

static const struct hn_state *bind_some(const struct hn_state *s, struct hn_rng *rng,
					struct hn_arena *a)
{
	int n_bound = 0;

	for (int tries = 0; tries < 12 && n_bound < 3; tries++) {
		int32_t stage = (int32_t)mutated_below(rng, s->n_stage);
		const struct hn_stage *st = s->stage[stage];
		enum hn_ann ann = (enum hn_ann)(HN_ANN_VECTORIZE + mutated_below(rng, 9));
		int32_t i = st->n_iter > 0 ? (int32_t)mutated_below(rng, st->n_iter) : 0;
		const struct hn_state *next;

		/* loops of one iteration have no races */
		if (st->n_iter > 0 && st->at != HN_AT_INLINED && st->iter[i].extent != 1 &&
		    hn_annotate(s, stage, i, ann, a, &next, NULL) == 0) {
			s = next;
			n_bound++;
		}
	}
	return s;
}

struct counts {
	uint64_t n, n_none, n_legal, n_race, n_quick, n_grid;
};

/* Not what a grid can run, whatever the nest computes: refused by both checks. */
static bool is_no_grid(struct rp_bench *b, const struct hn_looptree *t, struct counts *n)
{
	struct hn_err err;

	if (hn_threads_agree(t, &err)) {
		return false;
	}
	n->n_grid++;
	assert_int_not_equal(hn_legal_check(t, LIMIT_MS, &err), HN_VERDICT_OK);
	assert_false(hn_quick_legal(b->quick, t, NULL));
	return true;
}

/* The number of a history that comes from there. */
static uint64_t history_of(enum rp_source from)
{
	uint64_t h = 0;

	while (rp_sources[h] != from) {
		h++;
	}
	return h;
}

static void judge(struct rp_bench *b, struct rp_program *p, uint64_t seed, uint64_t h,
		  struct counts *n)
{
	struct hn_rng rng = hn_rng_stream(seed, 31, h, 0);
	const struct hn_sketch *of;
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err = { 0 };
	struct hn_arena a;
	bool legal;

	hn_arena_init(&a, 0);
	s = h % 4 == 3 ? rp_more(random_history(p->dag, seed * N_HISTORIES + h, &a), seed, &a)
		       : rp_fill_sketch(b, p, &rng, &of, &a);
	s = s != NULL && h % 2 ? bind_some(s, &rng, &a) : s;
	if (s == NULL || hn_looptree_build(s, &a, &t, &err)) {
		n->n_none++;
	} else if (!is_no_grid(b, t, n)) {
		enum rp_verdict v = rp_legal(b, p, t, history_of(h % 2 ? RP_MUTATED : RP_FILL),
					     &legal);

		n->n++;
		n->n_legal += legal;
		n->n_race += strstr(b->note, "share an element") != NULL;
		n->n_quick += hn_quick_legal(b->quick, t, NULL);
		if (v != RP_PASS) {
			struct hn_buf text;

			hn_buf_init(&text);
			hn_dag_write_text(p->dag, "f", &text);
			hn_looptree_print(t, &text);
			fail_msg("seed %llu, %llu: %s: %s\n%s", (unsigned long long)seed,
				 (unsigned long long)h, rp_names[v], b->note, text.s);
		}
	}
	hn_arena_fini(&a);
}

static void checks_agree_with_evaluation(void **state)
{
	struct counts n = { 0 };
	struct rp_bench b;
	struct hn_err err;

	(void)state;
	rp_bench_open(&b);
	assert_int_equal(hn_target_parse("cuda", &b.arena, &b.host, &err), 0);
	for (uint64_t seed = 1; n.n < n_states; seed++) {
		uint32_t tape[RD_TAPE];
		struct rp_program p;

		rd_tape(seed, tape);
		if (rp_open_tape(&b, tape, &p)) {
			for (uint64_t h = 0; h < N_HISTORIES && !p.kind.sized; h++) {
				judge(&b, &p, seed, h, &n);
			}
			rp_close(&p);
		}
	}
	print_message("%llu states, %llu more without a tree, %llu that no grid runs; %llu legal, "
		      "%llu of them by the quick check; %llu races\n",
		      (unsigned long long)n.n, (unsigned long long)n.n_none,
		      (unsigned long long)n.n_grid, (unsigned long long)n.n_legal,
		      (unsigned long long)n.n_quick, (unsigned long long)n.n_race);
	rp_bench_close(&b);
	assert_true(n.n_race > n.n / 50 || n.n < 1000); /* of few states it says little */
	assert_true(n.n_legal > n.n / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_race_is_found_on_each_kind_of_loop),
		cmocka_unit_test(an_init_is_not_combined),
		cmocka_unit_test(what_threads_share_is_the_same_to_each),
		cmocka_unit_test(a_number_is_one_loop),
		cmocka_unit_test(checks_agree_with_evaluation),
	};

	n_states = argc > 1 ? strtoull(argv[1], NULL, 10) : N_STATES;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
