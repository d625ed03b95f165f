/* What runs against isl's AST, instance by instance, over histories of every program cut
 * down: sketches filled at random, changed ones too, and random ones, whose factors need not
 * divide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/each_case.h"
#include "tests/lib/cropped.h"
#include "tests/lib/looptree_eval.h"
#include "tests/lib/lower_histories.h"
#include "tests/lib/mutated.h"
#include "tests/lib/ast_walk.h"
#include "tests/lib/ast_judge.h"

#define N_SKETCHED 6
#define N_RANDOM 6
#define LIMIT_MS 5000
#define MAX_NUMBERS 100000

static const struct hn_dag *cut_down(const struct hn_dag *dag, struct hn_arena *a)
{
	uint32_t n_dim = dag->op[dag->arg[dag->n_arg - 1]]->n_dim;
	int64_t most = n_dim > 4 ? 3 : n_dim > 2 ? 5 : 13;

	return crop_dag(dag, most, most > 5 ? 11 : 3, a);
}

static void judge(const char *name, uint64_t seed, const struct hn_looptree *t,
		  struct ast_total *total)
{
	if (t && !ast_judge(t, LIMIT_MS, MAX_NUMBERS, total)) {
		struct hn_buf text;

		hn_buf_init(&text);
		hn_looptree_print(t, &text);
		fail_msg("%s, seed %llu: not what the AST runs:\n%s", name,
			 (unsigned long long)seed, text.s);
	}
}

static const struct hn_looptree *random_tree(const struct hn_dag *dag, uint64_t seed,
					     struct hn_arena *a)
{
	const struct hn_looptree *t;
	struct hn_err err;

	return hn_looptree_build(random_history(dag, seed, a), a, &t, &err) == 0 ? t
										 : NULL;
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a, scratch;

	(void)em;
	hn_arena_init(&a, 0);
	hn_arena_init(&scratch, 0);
	const struct hn_dag *dag = cut_down(e->dag, &a);

	assert_int_equal(hn_sketch_generate_own(dag, host, &a, &sketches, &err), 0);
	for (uint64_t seed = 0; seed < N_SKETCHED; seed++) {
		hn_arena_reset(&scratch);
		judge(e->name, seed,
		      mutated_draw(dag, &sketches, host, seed, 0, &scratch).tree, ctx);
	}
	for (uint64_t seed = 0; seed < N_RANDOM; seed++) {
		hn_arena_reset(&scratch);
		judge(e->name, seed, random_tree(dag, seed, &scratch), ctx);
	}
	hn_arena_fini(&scratch);
	hn_arena_fini(&a);
}

static void runs_what_the_tree_runs(void **state)
{
	struct ast_total total = { 0 };

	(void)state;
	each_case(check_case, &total);
	ast_report(&total);
	assert_true(total.n_slow * 20 <= total.n_tree &&
		    total.n_long * 3 <= total.n_tree);
	assert_true(total.n_extended > 0 && total.n_isolated > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(runs_what_the_tree_runs) };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("isl's AST", tests, NULL, NULL);
}
