/* Fingerprints: histories of one program agree, whatever they differ in that nothing reads;
 * those of different programs do not. */
#include "state_util.h"

#include "loopstate/fingerprint.h"

#define TEXT "mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"

static uint64_t print_of(const char *steps, struct hn_arena *a)
{
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_from_text("t", TEXT, strlen(TEXT), 0, a, &dag, &err) < 0 ||
	    hn_trace_parse("t", steps, strlen(steps), a, &trace, &err) < 0 ||
	    hn_state_replay(dag, trace, a, &s, &err) < 0 ||
	    hn_looptree_build(s, a, &tree, &err) < 0) {
		fail_msg("%s: %s", steps, err.msg);
	}
	return hn_fingerprint(tree, a);
}

/* i in 4 x 16, k in 8 x 8, the inner i inside */
#define SPLIT_I "[\"SP\", 2, 0, 64, [16], 1]"
#define SPLIT_K "[\"SP\", 2, 3, 64, [8], 1]"
#define BASE SPLIT_I ", " SPLIT_K

static const struct {
	const char *x, *y;
	bool same;
} pairs[] = {
	/* a loop that runs once, wherever it stands */
	{ "[]", "[[\"SP\", 2, 0, 64, [1], 1]]", true },
	{ "[]", "[[\"SP\", 2, 0, 64, [64], 1]]", true },
	{ "[[\"SP\", 2, 0, 64, [1], 1], [\"RE\", 2, [0, 2, 1, 3]]]", "[]", true },
	/* an unroll limit below its loop, or on a loop that reduces nothing */
	{ "[" BASE "]", "[" BASE ", [\"PR\", 2, 0, \"auto_unroll_max_step$4\"]]", true },
	{ "[" BASE ", [\"PR\", 2, 0, \"auto_unroll_max_step$16\"]]",
	  "[" BASE ", [\"PR\", 2, 0, \"auto_unroll_max_step$32\"]]", true },
	/* one that covers a reduction */
	{ "[" BASE "]", "[" BASE ", [\"PR\", 2, 0, \"auto_unroll_max_step$16\"]]", false },
	/* lengths, order, annotations, prefetches and their distance */
	{ "[]", "[" SPLIT_I "]", false },
	{ "[" SPLIT_I "]", "[[\"SP\", 2, 0, 64, [8], 1]]", false },
	{ "[]", "[[\"RE\", 2, [1, 0, 2]]]", false },
	{ "[]", "[[\"AN\", 2, 0, 3]]", false },
	{ "[]", "[[\"AN\", 2, 1, 2]]", false },
	{ "[]", "[[\"PF\", 2, 2, 1, 4]]", false },
	{ "[[\"PF\", 2, 2, 0, 4]]", "[[\"PF\", 2, 2, 1, 4]]", false },
	{ "[[\"PF\", 2, 2, 1, 8]]", "[[\"PF\", 2, 2, 1, 4]]", false },
	/* another stage, and where it is computed */
	{ "[]", "[[\"CHW\", 2, \"local\"]]", false },
	{ "[[\"CHW\", 2, \"local\"]]", "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 0]]", false },
	{ "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 1]]",
	  "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 0]]", false },
	/* the loop a value lives in runs once: it might as well live around it */
	{ "[[\"CHW\", 2, \"local\"], [\"SP\", 3, 1, 64, [64], 1], [\"CA\", 2, 3, 1]]",
	  "[[\"CHW\", 2, \"local\"], [\"CA\", 2, 3, 0]]", true },
};

static void tells_programs_apart(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(pairs); i++) {
		uint64_t x = print_of(pairs[i].x, &a), y = print_of(pairs[i].y, &a);

		if ((x == y) != pairs[i].same) {
			fail_msg("%s and %s: %s", pairs[i].x, pairs[i].y,
				 pairs[i].same ? "differ" : "agree");
		}
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tells_programs_apart) };

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
