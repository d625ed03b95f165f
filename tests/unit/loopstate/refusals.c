/* What steps refuse, in their words, and what damaged or hostile histories cannot do. */
#include "tests/lib/state_util.h"

#include "base/rng.h"
#include "tests/lib/dag_form.h"

static const struct {
	const char *steps, *message;
} bad[] = {
	{"[\"SP\", 9, 0, 0, [2], 1]", "SP stage 9 iter 0: there are 4 stages"},
	{"[\"SP\", 0, 0, 0, [2], 1]",
	 "SP stage 0 (A) iter 0: a placeholder has no loops"},
	{"[\"SP\", 2, 3, 0, [2], 1]", "SP stage 2 (C) iter 3: the stage has 3 iterators"},
	{"[\"RE\", 2, [0, 1]]", "RE stage 2 (C): the order names 2 iterators"},
	{"[\"RE\", 2, [0, 1, 1]]", "RE stage 2 (C): the order must name each of 0..2"},
	{"[\"RE\", 2, [0, 1, 3]]", "RE stage 2 (C): the order must name each of 0..2"},
	{"[\"FU\", 2, [0, 2]]", "FU stage 2 (C): iterators must be neighbours"},
	{"[\"FU\", 2, [2, 3]]", "FU stage 2 (C): iterator 3: the stage has 3"},
	{"[\"AN\", 2, 0, 12]", "AN stage 2 (C) iter 0: unknown annotation 12"},
	{"[\"PR\", 2, 0, \"debug_skip_region\"]",
	 "PR stage 2 (C) iter 0: unknown pragma"},
	{"[\"PR\", 2, 0, \"auto_unroll_max_step$99999999999999999999\"]",
	 "PR stage 2 (C) iter 0: \"auto_unroll_max_step$99999999999999999999\": "
	 "the num"},
	{"[\"PR\", 2, 0, \"auto_unroll_max_step$\"]", "PR stage 2 (C) iter 0: \"auto_u"},
	{"[\"PR\", 2, 0, \"auto_unroll_max_step$-4\"]", "PR stage 2 (C) iter 0: \"auto_"},
	{"[\"CA\", 2, 2, 0]", "CA stage 2 (C): target 2 (C) does not read it"},
	{"[\"CA\", 2, 0, 0]", "CA stage 2 (C): target 0 (A) does not read it"},
	{"[\"CA\", 3, 2, 0]", "CA stage 3 (D): an output is computed in full"},
	{"[\"CA\", 2, 3, 2]", "CA stage 2 (C): iterator 2: target 3 (D) has 2"},
	{"[\"CA\", 2, 99, 0]", "CA stage 2 (C): target 99: there are 4 stages"},
	{"[\"CI\", 2]", "CI stage 2 (C): a reduction cannot be inlined"},
	{"[\"CI\", 3]", "CI stage 3 (D): an output cannot be inlined"},
	{"[\"CI\", 0]", "CI stage 0 (A): a placeholder has no loops"},
	{"[\"CR\", 1]", "CR stage 1 (B): a placeholder has no loops"},
	{"[\"SA\", 2, 0, 0, 4]", "SA stage 2 (C) iter 0: factor 0 must lie in"},
	{"[\"FSP\", 2, 0, 0, 1]",
	 "FSP stage 2 (C) iter 0: step 0 is not an earlier split"},
	{"[\"FFSP\", 2, 0, [7], 0, 1]", "FFSP stage 2 (C) iter 0: step 7 is not an e"},
	{"[\"CHW\", 0, \"local\"]", "CHW stage 0 (A): a placeholder has no loops"},
	{"[\"CHW\", 2, \"a b\"]", "CHW stage 2 (C): a scope is 1..32 letters"},
	{"[\"CHR\", 0, \"shared\", []]", "CHR stage 0 (A): name at least one reader"},
	{"[\"CHR\", 0, \"shared\", [3]]", "CHR stage 0 (A): stage 3 does not read it"},
	{"[\"CHR\", 0, \"shared\", [2, 2]]", "CHR stage 0 (A): stage 2 is named twice"},
	{"[\"CHR\", 0, \"shared\", [77]]", "CHR stage 0 (A): stage 77 does not read it"},
	{"[\"RF\", 2, 0, 0]", "RF stage 2 (C) iter 0: i is not a reduction loop"},
	{"[\"RF\", 3, 0, 0]", "RF stage 3 (D) iter 0: i is not a reduction loop"},
	{"[\"RF\", 2, 2, 3]", "RF stage 2 (C) iter 2: position 3 must lie in 0..2"},
	{"[\"RF\", 2, 2, 2]", "RF stage 2 (C) iter 2: it is the only reduction loop"},
	{"[\"PF\", 2, 3, 1, 1]", "PF stage 2 (C) iter 3: the stage has 3 iterators"},
	{"[\"PF\", 0, 0, 1, 1]", "PF stage 0 (A) iter 0: a placeholder has no loops"},
	{"[\"PF\", 2, 0, 4, 1]", "PF stage 2 (C) iter 0: operand 4: there are 4 stages"},
	{"[\"PF\", 2, 0, 1, 0]", "PF stage 2 (C) iter 0: distance 0 must lie in 1..1024"},
	{"[\"PF\", 2, 0, 1, 1025]", "PF stage 2 (C) iter 0: distance 1025 must lie in 1..1024"},
	{"[\"PF\", 2, 0, 2, 1]", "PF stage 2 (C) iter 0: operand 2 (C): the stage does not read the operand"},
	{"[\"PF\", 3, 0, 0, 1]", "PF stage 3 (D) iter 0: operand 0 (A): the stage does not read the operand"},
	{"[\"PF\", 2, 0, 3, 1]", "PF stage 2 (C) iter 0: operand 3 (D): the stage does not read the operand"},
	{"[\"SW\", 0, 0, 0, 1, 0]", "SW stage 0 (A): a placeholder has no loops"},
	{"[\"SW\", 3, 0, 0, 1, 0]", "SW stage 3 (D): it is an argument"},
	{"[\"SW\", 2, 1, 0, 1, 0]", "SW stage 2 (C): dimension 1 is none before the last of 2"},
	{"[\"SW\", 2, 0, 9, 1, 0]", "SW stage 2 (C): unit 9 must lie in 0..8"},
	{"[\"SW\", 2, 0, 0, 0, 0]", "SW stage 2 (C): bits 0 must lie in 1..6"},
	{"[\"SW\", 2, 0, 0, 7, 0]", "SW stage 2 (C): bits 7 must lie in 1..6"},
	{"[\"SW\", 2, 0, 0, 1, 17]", "SW stage 2 (C): shift 17 must lie in 0..16"},
	{"[\"SW\", 2, 0, 1, 3, 0]", "SW stage 2 (C): its last dimension has 8 elements, fewer than the 16"},
	{"[\"SW\", 2, 0, 0, 3, 3]", "SW stage 2 (C): dimension 0 has 8 rows: no chunk"},
	{"[\"PL\", 3, 0, 1, 0]", "PL stage 3 (D) iter 0: 1 stages must lie in 2..8"},
	{"[\"PL\", 3, 0, 9, 0]", "PL stage 3 (D) iter 0: 9 stages must lie in 2..8"},
	{"[\"PL\", 3, 0, 2, 5]", "PL stage 3 (D) iter 0: kind 5 must lie in 0..4"},
	{"[\"PL\", 3, 0, 2, 0]", "PL stage 3 (D) iter 0: no stage is computed in the loop"},
	{"[\"PL\", 3, 2, 2, 0]", "PL stage 3 (D) iter 2: the stage has 2 iterators"},
	/* after others */
	{"[\"CA\", 2, 3, 0], [\"PL\", 3, 1, 2, 0]", "PL stage 3 (D) iter 1: no stage is computed"},
	{"[\"CA\", 2, 3, 0], [\"AN\", 3, 0, 3], [\"PL\", 3, 0, 2, 0]",
	 "PL stage 3 (D) iter 0: the loop's iterations do not follow one another"},
	{"[\"CA\", 2, 3, 0], [\"PL\", 3, 0, 2, 0], [\"PL\", 3, 0, 3, 0]",
	 "PL stage 3 (D) iter 0: a loop of the stage is pipelined already"},
	{"[\"SW\", 2, 0, 0, 3, 0], [\"CHW\", 2, \"l\"]", "CHW stage 2 (C): its loops have been"},
	{"[\"AN\", 2, 0, 3], [\"PF\", 2, 0, 1, 1]",
	 "PF stage 2 (C) iter 0: operand 1 (B): the loop's iterations do not follow"},
	{"[\"AN\", 2, 2, 2], [\"PF\", 2, 2, 1, 1]", "PF stage 2 (C) iter 2: operand 1 (B): the loop's iterations do not"},
	{"[\"CA\", 2, 3, 0], [\"PF\", 3, 0, 2, 1]",
	 "PF stage 3 (D) iter 0: operand 2 (C): the operand is computed inside the loop"},
	{"[\"CHW\", 3, \"l\"], [\"CI\", 3], [\"PF\", 4, 0, 3, 1]",
	 "PF stage 4 (D) iter 0: operand 3 (D.l): the operand is inlined"},
	{"[\"PF\", 2, 2, 1, 1], [\"PF\", 2, 2, 1, 2]",
	 "PF stage 2 (C) iter 2: the loop fetches the operand already"},
	{"[\"PF\", 2, 2, 1, 1], [\"CHW\", 2, \"l\"]",
	 "CHW stage 2 (C): its loops have been"},
	{"[\"PF\", 2, 2, 1, 1], [\"SP\", 2, 2, 8, [2], 1], [\"RF\", 2, 2, 0]",
	 "RF stage 2 (C) iter 2: its other loops"},
	{"[\"FU\", 2, [1, 2]], [\"RF\", 2, 1, 0]", "RF stage 2 (C) iter 1: j@k@ is not"},
	{"[\"AN\", 2, 0, 3], [\"SP\", 2, 2, 8, [2], 1], [\"RF\", 2, 2, 0]",
	 "RF stage 2 (C) iter 2: its other loops"},
	{"[\"AN\", 2, 0, 3], [\"CHW\", 2, \"l\"]",
	 "CHW stage 2 (C): its loops have been"},
	{"[\"CA\", 2, 3, 0], [\"FU\", 3, [0, 1]]", "FU stage 3 (D): stage 2 is attached"},
	{"[\"CHW\", 3, \"l\"], [\"CI\", 3], [\"SP\", 3, 0, 8, [2], 1]",
	 "SP stage 3 (D.l) iter 0: the stage is inlined"},
	{"[\"CHW\", 3, \"l\"], [\"CI\", 3], [\"CA\", 2, 3, 0]",
	 "CA stage 2 (C): target 3 (D.l) is inlined"},
	{"[\"CHW\", 3, \"l\"], [\"CA\", 2, 3, 0], [\"CI\", 3]",
	 "CI stage 3 (D.l): other stages are attached"},
	{"[\"SP\", 2, 0, 8, [2147483647], 1], [\"SP\", 2, 2, 8, [2147483647], "
	 "1], "
	 "[\"SP\", 2, 4, 8, [2147483647], 1], [\"FU\", 2, [0, 1, 2, 3, 4, 5]]",
	 "FU stage 2 (C): the fused loop is longer than 2^62"},
};

#define BYTES "f(uint8 A[8,8], int8 B[8,8]) -> C { C(i,j) "
#define HALVES "f(bfloat16 A[8,8], B[8,8]) -> C { @"

#define TILES "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbusd\"], "
/* i into 8 rows of one, k into one group of 2. */
#define EIGHT                                                                            \
	"[\"SP\", 2, 2, 8, [1, 4], 1], [\"SP\", 2, 1, 8, [8], 1], [\"SP\", 2, 0, 8, [1], 1], "  \
	"[\"TE\", 2, [1, 3, 5, 6], \"tdpbusd\"], "

/* Instructions: the program, the history. */
static const struct {
	const char *program, *steps, *message;
} bad_groups[] = {
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 2, [2], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd takes 4 terms, the loop has 8"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 2, [0], \"vpdpbusd\"]",
	 "TE stage 2 (C): i is no plain reduction loop"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 2, [2], \"vpdpbusq\"]",
	 "TE stage 2 (C): there is no instruction 'vpdpbusq'"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 0, [0], \"vpdpbusd\"]",
	 "TE stage 0 (A): a placeholder has no loops"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"], [\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): loops of the stage are given to vpdpbusd already"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"], [\"CHW\", 2, \"l\"]",
	 "CHW stage 2 (C): its loops have been"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [3], \"vdpbf16ps\"]",
	 "TE stage 2 (C): vdpbf16ps: the stage is no sum of the instruction's type"},
	{BYTES "+=! int32(A(i,k)) * int32(A(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd: its terms are no products of two converted loads"},
	{BYTES "+=! (int32(A(i,k)) - 3) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd: its terms are no products of two converted loads"},
	{BYTES "max=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd: the stage is no sum of the instruction's type"},
	{BYTES "+=! k <= i ? int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd: the stage is no sum of the instruction's type "
	 "without a condition"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 2, [3], \"vpdpbusd\"]",
	 "TE stage 2 (C): there is no iterator 3, the stage has 3"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"TE\", 2, [], \"vpdpbusd\"]",
	 "TE stage 2 (C): vpdpbusd does 1 loops, the step names 0"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 2], \"tdpbusd\"]",
	 "TE stage 2 (C): tdpbusd does 4 loops, the step names 3"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 3, 3], \"tdpbusd\"]",
	 "TE stage 2 (C): iterator 3 is named twice"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 2, 1, 3], \"tdpbusd\"]",
	 "TE stage 2 (C): k.0 is no plain spatial loop"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbusd\"]",
	 "TE stage 2 (C): tdpbusd takes 4 terms, the loop has 2"},
	{"f(uint8 A[17,8], int8 B[8,8]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbusd\"]",
	 "TE stage 2 (C): tdpbusd takes up to 16 rows, the loop has 17"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbssd\"]",
	 "TE stage 2 (C): tdpbssd: its terms are no products of two converted loads"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", "[\"FR\", 2, \"tile\"]",
	 "FR stage 2 (C): no instruction on tiles makes the stage's sum"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [4], 1], [\"TE\", 2, [3], \"vpdpbusd\"], [\"FR\", 2, \"tile\"]",
	 "FR stage 2 (C): no instruction on tiles makes the stage's sum"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", TILES "[\"FR\", 2, \"wmma\"]",
	 "FR stage 2 (C): 'wmma' is no memory of fragments: tile is"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }",
	 TILES "[\"FR\", 2, \"tile\"], [\"FR\", 2, \"tile\"]",
	 "FR stage 2 (C): its results are held already"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", /* 8 x 1, outside of the reduction, */
	 EIGHT "[\"RE\", 2, [0, 4, 2, 1, 3, 5, 6]], [\"FR\", 2, \"tile\"], "
	       "[\"FR\", 2, \"tile\"]",
	 "FR stage 2 (C): its results are held already"},
	{BYTES "+=! int32(A(i,k)) * int32(B(k,j)) }", /* and inside of it */
	 EIGHT "[\"RE\", 2, [4, 0, 2, 1, 3, 5, 6]], [\"FR\", 2, \"tile\"]",
	 "FR stage 2 (C): a block of 8 tiles; registers hold 6 beside the factors'"},
	{HALVES "no_subnormals C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [0, 1, 2, 3], \"tdpbf16ps\"]",
	 "TE stage 2 (C): tdpbf16ps: the task forbids"},
	{HALVES "no_reassociation C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [3], \"vdpbf16ps\"]",
	 "TE stage 2 (C): vdpbf16ps: the task forbids"},
	{HALVES "no_subnormals C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [3], \"vdpbf16ps\"]",
	 "TE stage 2 (C): vdpbf16ps: the task forbids"},
	{HALVES "bitwise C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	 "[\"SP\", 2, 2, 8, [2], 1], [\"TE\", 2, [3], \"vdpbf16ps\"]",
	 "TE stage 2 (C): vdpbf16ps: the task forbids"},
};

static void refuse(const struct hn_dag *dag, const char *steps, const char *message,
		   struct hn_arena *a)
{
	const struct hn_trace *t = trace_of_text(hn_arena_printf(a, "[%s]", steps), a);
	const struct hn_state *s = NULL;
	struct hn_err err = {0};
	char want[300];

	snprintf(want, sizeof(want), "step %u: %s", (unsigned)t->n_step - 1, message);
	assert_int_equal(hn_state_replay(dag, t, a, &s, &err), -HONE_E_INVALID);
	assert_null(s);
	if (strncmp(err.msg, want, strlen(want)) != 0) {
		fail_msg("%s: got \"%s\", want \"%s\"", steps, err.msg, want);
	}
	assert_int_equal(hn_state_replay(dag, t, a, &s, NULL), -HONE_E_INVALID);
}

static void test_steps_that_do_not_fit_are_refused(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(8, 8, 8, &a);

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		refuse(dag, bad[i].steps, bad[i].message, &a);
	}
	for (size_t i = 0; i < HN_COUNT_OF(bad_groups); i++) {
		refuse(dag_open(bad_groups[i].program, &a), bad_groups[i].steps,
		       bad_groups[i].message, &a);
	}
	hn_arena_fini(&a);
}

/* Splitting and fusing over and over doubles names (and index expressions): bounded. */
static void test_doubling_is_bounded(void **state)
{
	struct hn_arena a;
	static const int64_t two[] = {2};
	struct hn_err err = {0};
	const struct hn_state *s;
	int n = 0;

	(void)state;
	hn_arena_init(&a, 0);
	s = hn_state_init(matmul_relu(8, 8, 8, &a), &a);
	while (n < 100 && hn_split(s, 2, 0, two, 1, true, &a, &s, &err) == 0 &&
	       hn_fuse(s, 2, 0, 2, &a, &s, &err) == 0) {
		n++;
	}
	assert_in_range(n, 3, 20);
	assert_non_null(strstr(err.msg, "split and fused too often"));
	for (n = 0; n < 300 && hn_split(s, 3, 0, two, 1, true, &a, &s, &err) == 0; n++) {
	}
	assert_true(n < 300);
	for (n = 0; n < 3000 && hn_cache_write(s, 3, "local", &a, &s, &err) == 0; n++) {
	}
	assert_true(n < 3000);
	hn_arena_fini(&a);
}

static int64_t wild(struct hn_rng *r)
{
	static const int64_t value[] = {-1,	   -2,	      0,	 INT32_MAX,
					INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 40,
					64,	   1024};

	if (hn_rng_below(r, 4) == 0) {
		return value[hn_rng_below(r, HN_COUNT_OF(value))];
	}
	return (int64_t)hn_rng_below(r, 10);
}

static void mutate(struct hn_step *step, struct hn_rng *r, struct hn_arena *a)
{
	uint32_t n = (uint32_t)hn_rng_below(r, 3) == 0 ? (uint32_t)hn_rng_below(r, 300)
						       : step->n_list;
	int64_t *list = HN_NEW_ARRAY(a, int64_t, n);

	switch (hn_rng_below(r, 5)) {
	case 0:
		step->stage = (int32_t)wild(r);
		break;
	case 1:
		step->a[hn_rng_below(r, HN_STEP_MAX_SCALARS)] = wild(r);
		break;
	case 2:
		for (uint32_t i = 0; i < n; i++) {
			list[i] = i < step->n_list ? step->list[i] : wild(r);
		}
		step->list = list;
		step->n_list = n;
		if (n > 0) {
			list[hn_rng_below(r, n)] = wild(r);
		}
		break;
	case 3:
		step->kind = (uint8_t)hn_rng_below(r, HN_N_STEP);
		break;
	default:
		step->text = hn_rng_below(r, 2) == 0 ? "auto_unroll_max_step$9" : "x.y";
		break;
	}
}

/* Random damage to legal histories: refused or applied, never a broken state. */
static void test_damaged_steps_never_break_a_state(void **state)
{
	static const char *const steps =
		"[[\"CHW\", 2, \"local\"], [\"SP\", 2, 0, 16, [2, 2], 1], [\"SP\", 2, 3, "
		"12, [2, "
		"3], 1], [\"SP\", 2, 6, 10, [4], 1], [\"RE\", 2, [0, 3, 6, 1, 4, 7, 2, "
		"5]], "
		"[\"FSP\", 3, 0, 1, 2], [\"FSP\", 3, 3, 2, 2], [\"RE\", 3, [0, 3, 1, 4, "
		"2, 5]], "
		"[\"CA\", 2, 3, 3], [\"CHR\", 0, \"shared\", [2]], [\"CA\", 1, 3, 2], "
		"[\"FU\", 4, [0, 1]], [\"AN\", 4, 0, 3], [\"CHW\", 5, \"x\"], [\"CI\", "
		"5], "
		"[\"PR\", 4, 0, \"auto_unroll_max_step$16\"], [\"SA\", 1, 0, 8, 1], "
		"[\"CR\", 1], "
		"[\"SP\", 3, 2, 3, [2], 1], [\"FU\", 3, [2, 3]], [\"RF\", 3, 2, 0], "
		"[\"PF\", 3, 2, 0, 3], [\"PK\", 1, [2, 4]], [\"PF\", 5, 1, 4, 2]]";
	struct hn_arena a, job;
	uint64_t n_applied = 0, n_refused = 0;

	(void)state;
	hn_arena_init(&job, 0);
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = matmul_relu(16, 12, 10, &job);
	const struct hn_trace *t = trace_of_text(steps, &job);

	for (uint64_t round = 0; round < 1500; round++) {
		struct hn_rng r = hn_rng_stream(7, 0, 0, round);
		const struct hn_state *s = hn_state_init(dag, &a);

		for (uint32_t i = 0; i < t->n_step; i++) {
			struct hn_step step =
				*t->step[hn_rng_below(&r, 8) == 0
						 ? hn_rng_below(&r, t->n_step)
						 : i];

			if (hn_rng_below(&r, 3) == 0) {
				mutate(&step, &r, &a);
			}
			if (hn_state_apply(s, &step, &a, &s, NULL) == 0) {
				hn_state_check(s);
				n_applied++;
			} else {
				n_refused++;
			}
		}
		struct hn_err err = {0};

		if (hn_dag_check("derived", s->dag, 0, &err) != 0) {
			fail_msg("round %u: %s", (unsigned)round, err.msg);
		}
		hn_arena_reset(&a);
	}
	assert_true(n_applied > 5000);
	assert_true(n_refused > 5000);
	hn_arena_fini(&a);
	hn_arena_fini(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_that_do_not_fit_are_refused),
		cmocka_unit_test(test_doubling_is_bounded),
		cmocka_unit_test(test_damaged_steps_never_break_a_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
