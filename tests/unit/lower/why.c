/* The words for broken dependences against the exact legality check, over random histories,
 * right ones, wrongly annotated ones and damaged ones: a legal tree breaks none, and one that
 * is refused for its order or for concurrent loops breaks one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/options.h>

#include "tests/lib/dag_form.h"
#include "tests/lib/looptree_dags.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_edits.h"
#include "tests/lib/lower_histories.h"
#include "lower/lower.h"
#include "lower/prove/poly_why.h"

#define N_HISTORIES 30
#define LIMIT_MS 20000

struct count {
	uint32_t n_legal, n_told, n_other;
};

static uint32_t tell(const struct hn_looptree *t, struct hn_buf *text)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_deps d;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	hn_arena_init(&a, 0);
	if (hn_deps_of_tree(t, ctx, &a, &d, &err)) {
		fail_msg("%s", err.msg);
	}
	uint32_t n = hn_poly_why(&d, text);

	assert_int_equal(hn_deps_failure(ctx, "isl", &err), 0);
	hn_deps_free(&d);
	hn_arena_fini(&a);
	isl_ctx_free(ctx);
	return n;
}

/* What the check refuses for the sake of a dependence, not of bounds or coverage. */
static bool is_order(const char *sentence)
{
	return strstr(sentence, "before it is complete") ||
	       strstr(sentence, "share an element") ||
	       strstr(sentence, "may not be reordered");
}

static void judge(const char *name, uint64_t seed, const struct hn_looptree *t,
		  struct count *c)
{
	struct hn_err err = { 0 };
	enum hn_verdict v = hn_legal_check(t, LIMIT_MS, &err);
	bool want = v == HN_VERDICT_ILLEGAL && is_order(err.msg);
	struct hn_buf text;

	if (v == HN_VERDICT_ILLEGAL && !want) {
		c->n_other++;
		return;
	}
	assert_true(v == HN_VERDICT_OK || want);
	hn_buf_init(&text);
	if ((tell(t, &text) > 0) != want) {
		struct hn_buf tree;

		hn_buf_init(&tree);
		hn_looptree_print(t, &tree);
		fail_msg("%s, seed %llu: the check says \"%s\", the words are \"%s\"\n%s",
			 name, (unsigned long long)seed, err.msg, text.s, tree.s);
	}
	*(want ? &c->n_told : &c->n_legal) += 1;
	hn_buf_fini(&text);
}

/* Some loop is made parallel or a vector whether it may or not. */
static const struct hn_state *annotated(const struct hn_state *s, uint64_t seed,
					struct hn_arena *a)
{
	struct draw d = { s, hn_rng_stream(seed, 7, 7, 7), a };
	const struct hn_state *next;
	int32_t stage = (int32_t)draw(&d, s->n_stage);

	if (s->stage[stage]->n_iter > 0) {
		keep(&d,
		     hn_annotate(s, stage, (int32_t)draw(&d, s->stage[stage]->n_iter),
				 draw(&d, 2) ? HN_ANN_PARALLEL : HN_ANN_VECTORIZE, a,
				 &next, NULL),
		     &next);
	}
	return d.s;
}

static void judge_history(const char *name, const struct hn_dag *dag, uint64_t seed,
			  struct count *c)
{
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	s = random_history(dag, seed, &a);
	s = seed % 3 == 1 ? annotated(s, seed, &a) : s;
	if (hn_looptree_build(s, &a, &t, &err) == 0) {
		struct hn_looptree wrong = *t;

		if (seed % 3 == 2) {
			wrong.root = edit_tree(t->root, swap_children, &a);
		}
		judge(name, seed, &wrong, c);
	}
	hn_arena_fini(&a);
}

static void agrees_with_the_check(void **state)
{
	struct count c = { 0 };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(dag_forms); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag =
			dag_form_open(dag_forms[i].name, dag_forms[i].json, &a);

		for (uint64_t seed = 0; seed < N_HISTORIES; seed++) {
			judge_history(dag_forms[i].name, dag, seed, &c);
		}
		hn_arena_fini(&a);
	}
	print_message("%u legal, %u told, %u illegal for bounds or coverage\n", c.n_legal,
		      c.n_told, c.n_other);
	assert_true(c.n_legal > 100 && c.n_told > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(agrees_with_the_check) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
