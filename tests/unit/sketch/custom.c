/* Rules of the caller's own: asked first, every answer heeded, mistakes refused. */
#include "tests/lib/sketch_util.h"

#define MATMUL "t(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"

struct script {	       /* what a scripted rule does, and how often it was asked */
	int32_t stage; /* it has something to say about; -1 = every stage */
	enum hn_rule_answer answer;
	int (*apply)(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		     int32_t stage, struct hn_rule_results *ret, struct hn_err *err);
	uint32_t asked;
};

static enum hn_rule_answer condition(void *user, const struct hn_rule_ctx *ctx,
				     const struct hn_state *s, int32_t stage)
{
	struct script *x = user;

	(void)ctx, (void)s;
	x->asked++;
	return x->stage < 0 || x->stage == stage ? x->answer : HN_RULE_SKIP;
}

static int generate(struct hn_arena *a, const struct script *script, uint32_t n,
		    struct hn_sketches *ret, struct hn_err *err)
{
	struct hn_custom_rule rule[4];
	static const char *const names[] = { "mine", "other", "third", "last" };
	struct hn_target t = target_of(a, "cpu -isa=x86-64-avx2 -num_cores=4");

	for (uint32_t i = 0; i < n; i++) {
		struct script *copy = HN_NEW(a, struct script);
		*copy = script[i];
		rule[i] = (struct hn_custom_rule){ .name = names[i],
						   .user = copy,
						   .condition = condition,
						   .apply = script[i].apply };
	}
	return hn_sketch_generate_with(dag_text(a, MATMUL), &t, rule, n, a, ret, err);
}

static int split_i(const struct hn_rule_ctx *ctx, const struct hn_state *s, int32_t stage,
		   const struct hn_state **ret, struct hn_err *err)
{
	const int64_t len[] = { 8, 2 };

	return hn_split(s, stage, 0, len, 2, /* inner_to_outer= */ true, ctx->arena, ret,
			err);
}

/* The rule of TVM's own test: as it is, or with i split, and finished. */
static int as_is_and_split(void *user, const struct hn_rule_ctx *ctx,
			   const struct hn_state *s, int32_t stage,
			   struct hn_rule_results *ret, struct hn_err *err)
{
	const struct hn_state *split;
	int rc = split_i(ctx, s, stage, &split, err);

	(void)user;
	if (rc == 0) {
		hn_rule_result_add(ret, s, -1);
		hn_rule_result_add(ret, split, -1);
	}
	return rc;
}

static void an_exclusive_rule_replaces_the_recipe(void **state)
{
	const struct script x = { -1, HN_RULE_APPLY_AND_STOP, as_is_and_split, 0 };
	struct hn_err err = { 0 };
	struct hn_sketches s;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(generate(&a, &x, 1, &s, &err), 0);
	assert_int_equal(s.n, 2);
	check_text(s.sketch[0].state, "Placeholder: A, B\n"
				      "for i (0,512)\n"
				      "  for j (0,512)\n"
				      "    for k (0,512)\n"
				      "      C = ...\n");
	check_text(s.sketch[1].state, "Placeholder: A, B\n"
				      "for i.0 (0,32)\n"
				      "  for i.1 (0,8)\n"
				      "    for i.2 (0,2)\n"
				      "      for j (0,512)\n"
				      "        for k (0,512)\n"
				      "          C = ...\n");
	assert_string_equal(s.sketch[1].rules, "mine");
	assert_true(s.sketch[1].state->concrete);
	assert_int_equal(s.sketch[1].n_hole, 0);
	hn_arena_fini(&a);
}

static int split_and_go_down(void *user, const struct hn_rule_ctx *ctx,
			     const struct hn_state *s, int32_t stage,
			     struct hn_rule_results *ret, struct hn_err *err)
{
	const struct hn_state *split;
	int rc = split_i(ctx, s, stage, &split, err);

	(void)user;
	if (rc == 0) {
		hn_rule_result_add(ret, split, stage - 1);
	}
	return rc;
}

/* Theirs first, in their order, at the cache that the recipe adds as well. */
static void other_rules_come_first(void **state)
{
	const struct script x[] = {
		{ 2, HN_RULE_SKIP, NULL, 0 },
		{ 2, HN_RULE_APPLY, split_and_go_down, 0 },
		{ 2, HN_RULE_APPLY, split_and_go_down, 0 },
	};
	static const char *const want[] = { "other",
					    "third",
					    "tile",
					    "add_cache_write,other",
					    "add_cache_write,third",
					    "add_cache_write,tile_fuse",
					    "add_cache_write,tile_fuse" };
	struct hn_err err = { 0 };
	struct hn_sketches s;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(generate(&a, x, 3, &s, &err), 0);
	assert_int_equal(s.n, HN_COUNT_OF(want));
	for (uint32_t i = 0; i < s.n; i++) {
		assert_string_equal(s.sketch[i].rules, want[i]);
	}
	hn_arena_fini(&a);
}

static int open_split(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		      int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	const int64_t len[] = { HN_HOLE };
	const struct hn_state *split;
	int rc = hn_split(s, stage, 1, len, 1, true, ctx->arena, &split, err);

	(void)user;
	if (rc == 0) {
		hn_rule_result_add(ret, split, -1);
	}
	return rc;
}

static void holes_of_their_own_are_filled(void **state)
{
	const struct script x = { 2, HN_RULE_APPLY_AND_STOP, open_split, 0 };
	struct hn_rng rng = hn_rng_stream(1, 2, 3, 4);
	const struct hn_state *full;
	struct hn_err err = { 0 };
	struct hn_sketches s;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cpu -isa=x86-64-avx2 -num_cores=4");
	assert_int_equal(generate(&a, &x, 1, &s, &err), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sketch[0].n_hole, 1);
	assert_int_equal(s.sketch[0].hole[0].extent, 512);
	assert_int_equal(hn_sketch_fill(&s.sketch[0], &t, &rng, &a, &full),
			 HN_VERDICT_OK);
	assert_true(full->concrete);
	hn_arena_fini(&a);
}

static int inline_it(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		     int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	const struct hn_state *next;
	int rc = hn_compute_inline(s, stage, ctx->arena, &next, err);

	(void)user;
	if (rc == 0) {
		hn_rule_result_add(ret, next, stage - 1);
	}
	return rc;
}

/* Only what a tiled stage reads itself is copied: not what it reads through E. */
static void the_recipe_goes_on_from_their_states(void **state)
{
	struct script x = { 2, HN_RULE_APPLY_AND_STOP, inline_it, 0 };
	const struct hn_custom_rule rule = { "inline_E", &x, condition, inline_it };
	struct hn_err err = { 0 };
	struct hn_sketches s;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = target_of(&a, "cuda");
	const struct hn_dag *dag =
		dag_text(&a, "t(float32 A[64,64], B[64,64]) -> C {"
			     " E(i,j) = A(i,j) * 2 C(i,j) +=! E(i,k) * B(k,j) }");
	assert_int_equal(hn_sketch_generate_with(dag, &t, &rule, 1, &a, &s, &err), 0);
	assert_int_equal(s.n, 1);
	check_stages(s.sketch[0].state, "A B B.shared E C.local C");
	assert_true(x.asked > 0);
	hn_arena_fini(&a);
}

static int nothing(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		   int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	(void)user, (void)ctx, (void)s, (void)stage, (void)ret, (void)err;
	return 0;
}

static int too_many(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		    int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	(void)user, (void)ctx, (void)stage, (void)err;
	for (int i = 0; i <= HN_RULE_MAX_RESULTS; i++) {
		hn_rule_result_add(ret, s, -1);
	}
	return 0;
}

static int no_such_stage(void *user, const struct hn_rule_ctx *ctx,
			 const struct hn_state *s, int32_t stage,
			 struct hn_rule_results *ret, struct hn_err *err)
{
	(void)user, (void)ctx, (void)stage, (void)err;
	hn_rule_result_add(ret, s, 3);
	return 0;
}

static int stand_still(void *user, const struct hn_rule_ctx *ctx,
		       const struct hn_state *s, int32_t stage,
		       struct hn_rule_results *ret, struct hn_err *err)
{
	(void)user, (void)ctx, (void)err;
	hn_rule_result_add(ret, s, stage);
	return 0;
}

static int in_circles(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		      int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	const struct hn_state *next;
	int rc = hn_compute_root(s, stage, ctx->arena, &next, err);

	(void)user;
	if (rc == 0) {
		hn_rule_result_add(ret, next, stage);
	}
	return rc;
}

static int other_dag(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		     int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	(void)user, (void)s, (void)stage, (void)err;
	hn_rule_result_add(ret, hn_state_init(dag_text(ctx->arena, MATMUL), ctx->arena),
			   -1);
	return 0;
}

static int bad_step(void *user, const struct hn_rule_ctx *ctx, const struct hn_state *s,
		    int32_t stage, struct hn_rule_results *ret, struct hn_err *err)
{
	const struct hn_state *next;

	(void)user, (void)ret;
	return hn_split(s, stage, 7, (const int64_t[]){ 2 }, 1, true, ctx->arena, &next,
			err);
}

static void mistakes_are_refused(void **state)
{
	static const struct {
		struct script x;
		int error;
		const char *word;
	} bad[] = {
		{ { 2, HN_RULE_APPLY_AND_STOP, nothing, 0 },
		  HONE_E_INVALID,
		  "left no sketch" },
		{ { 2, HN_RULE_APPLY, too_many, 0 }, HONE_E_QUOTA, "65 results" },
		{ { 2, HN_RULE_APPLY, no_such_stage, 0 },
		  HONE_E_INVALID,
		  "next stage 3 of 3" },
		{ { 2, HN_RULE_APPLY, stand_still, 0 },
		  HONE_E_INVALID,
		  "leaves stage 2 as it was" },
		{ { 2, HN_RULE_APPLY_AND_STOP, in_circles, 0 },
		  HONE_E_QUOTA,
		  "goes in circles" },
		{ { 2, HN_RULE_APPLY, other_dag, 0 },
		  HONE_E_INVALID,
		  "no state of this dag" },
		{ { 2, HN_RULE_APPLY, bad_step, 0 }, HONE_E_INVALID, "stage 2" },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct hn_sketches s = { .n = 77 };
		struct hn_err err = { 0 };
		struct hn_arena a;
		hn_arena_init(&a, 0);
		assert_int_equal(generate(&a, &bad[i].x, 1, &s, &err), -bad[i].error);
		assert_int_equal(s.n, 77);
		if (!strstr(err.msg, bad[i].word) || !strstr(err.msg, "mine")) {
			fail_msg("bad[%zu]: '%s' lacks '%s'", i, err.msg, bad[i].word);
		}
		hn_arena_fini(&a);
	}
}

/* Not exclusive and without a result: nothing has happened. */
static void a_rule_without_results_changes_nothing(void **state)
{
	const struct script x = { -1, HN_RULE_APPLY, nothing, 0 };
	struct hn_err err = { 0 };
	struct hn_sketches s;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(generate(&a, &x, 1, &s, &err), 0);
	assert_int_equal(s.n, 3);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exclusive_rule_replaces_the_recipe),
		cmocka_unit_test(other_rules_come_first),
		cmocka_unit_test(holes_of_their_own_are_filled),
		cmocka_unit_test(the_recipe_goes_on_from_their_states),
		cmocka_unit_test(mistakes_are_refused),
		cmocka_unit_test(a_rule_without_results_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
