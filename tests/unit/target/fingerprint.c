/* Fingerprints: histories of one program agree, whatever they differ in that nothing reads;
 * those of different programs do not.  For a target so do those of one code. */
#include "tests/lib/state_util.h"

#include "loopstate/read/dag_read.h"
#include "target/cpu/fingerprint.h"

#define TEXT "mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"

static uint64_t print_in(const char *text, const char *steps,
			 const struct hn_target *target, struct hn_arena *a)
{
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_from_text("t", text, strlen(text), 0, a, &dag, &err) < 0 ||
	    hn_trace_parse("t", steps, strlen(steps), a, &trace, &err) < 0 ||
	    hn_state_replay(dag, trace, a, &s, &err) < 0 ||
	    hn_looptree_build(s, a, &tree, &err) < 0) {
		fail_msg("%s: %s", steps, err.msg);
	}
	return hn_fingerprint(tree, target, a);
}

static uint64_t print_of(const char *steps, const struct hn_target *target,
			 struct hn_arena *a)
{
	return print_in(TEXT, steps, target, a);
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
		uint64_t x = print_of(pairs[i].x, NULL, &a);
		uint64_t y = print_of(pairs[i].y, NULL, &a);

		if ((x == y) != pairs[i].same) {
			fail_msg("%s and %s: %s", pairs[i].x, pairs[i].y,
				 pairs[i].same ? "differ" : "agree");
		}
	}
	hn_arena_fini(&a);
}

/* i in 16 x 4, j in 2 x 32: a tile of 4 rows of two vectors */
#define TILE "[\"SP\", 2, 0, 64, [4], 1], [\"SP\", 2, 2, 64, [32], 1]"
#define ROWS TILE ", [\"RE\", 2, [0, 2, 4, 1, 3]]"  /* i.0 j.0 k i.1 j.1 */
#define OUTER TILE ", [\"RE\", 2, [0, 2, 1, 4, 3]]" /* i.0 j.0 i.1 k j.1 */

static const struct {
	const char *x, *y;
	bool same;
} codes[] = {
	/* loops that are held whole: before or behind the reduction, by any hint */
	{ "[" ROWS "]", "[" OUTER "]", true },
	{ "[" ROWS "]", "[" ROWS ", [\"AN\", 2, 4, 2]]", true },
	{ "[" ROWS "]", "[" ROWS ", [\"AN\", 2, 3, 1]]", true },
	/* lanes, wherever their loop stands */
	{ "[" ROWS "]", "[" TILE ", [\"RE\", 2, [0, 2, 4, 3, 1]]]", true },
	/* a limit that unrolls 64 iterations no further than 48 operations go */
	{ "[" ROWS "]", "[" ROWS ", [\"PR\", 2, 0, \"auto_unroll_max_step$16\"]]", true },
	{ "[" ROWS "]", "[" ROWS ", [\"PR\", 2, 0, \"auto_unroll_max_step$64\"]]", false },
	/* what a loop that is not made, or one that is, fetches */
	{ "[" ROWS "]", "[" ROWS ", [\"PF\", 2, 3, 0, 2]]", true },
	{ "[" ROWS "]", "[" ROWS ", [\"PF\", 2, 2, 1, 8]]", false },
	/* other rows, another order of what runs */
	{ "[" ROWS "]", "[[\"SP\", 2, 0, 64, [8], 1]]", false },
	{ "[" ROWS "]", "[" TILE ", [\"RE\", 2, [2, 0, 4, 1, 3]]]", false },
	{ "[" ROWS "]", "[" ROWS ", [\"AN\", 2, 0, 3]]", false },
};

static void tells_codes_apart(void **state)
{
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=2 "
					 "-vector_unit_bytes=64 -vector_registers=32 "
					 "-fma_per_cycle=2 -fma_latency=4",
					 &a, &target, &err),
			 0);
	for (size_t i = 0; i < HN_COUNT_OF(codes); i++) {
		uint64_t x = print_of(codes[i].x, &target, &a);
		uint64_t y = print_of(codes[i].y, &target, &a);

		if ((x == y) != codes[i].same) {
			fail_msg("%s and %s: %s", codes[i].x, codes[i].y,
				 codes[i].same ? "differ" : "agree");
		}
	}
	hn_arena_fini(&a);
}

/* A loop that is given to an instruction is another program, and other code. */
static void tells_instructions_apart(void **state)
{
	static const char bytes[] = "mm(uint8 A[64,64], const int8 B[64,64]) -> C"
				    " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }";
	static const char plain[] = "[[\"PK\", 1, [4, 1]], [\"SP\", 3, 2, 64, [4], 1]]";
	static const char given[] = "[[\"PK\", 1, [4, 1]], [\"SP\", 3, 2, 64, [4], 1],"
				    " [\"TE\", 3, [3], \"vpdpbusd\"]]";
#define TILES                                                                            \
	"[[\"PK\", 1, [4, 1]], [\"SP\", 3, 2, 64, [16, 4], 1], [\"SP\", 3, 1, 64, [16], 1],"    \
	" [\"SP\", 3, 0, 64, [16], 1], [\"TE\", 3, [1, 3, 5, 6], \"tdpbusd\"]"
	static const char stored[] = TILES "]", held[] = TILES ", [\"FR\", 3, \"tile\"]]";
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(print_in(bytes, stored, NULL, &a) != print_in(bytes, held, NULL, &a));
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx512 -num_cores=2", &a, &target,
					 &err),
			 0);
	assert_true(print_in(bytes, plain, NULL, &a) != print_in(bytes, given, NULL, &a));
	assert_true(print_in(bytes, plain, &target, &a) !=
		    print_in(bytes, given, &target, &a));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tells_programs_apart),
					    cmocka_unit_test(tells_instructions_apart),
					    cmocka_unit_test(tells_codes_apart) };

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
