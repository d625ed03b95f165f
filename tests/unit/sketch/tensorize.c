/* Instructions as a decision: which sums the sketches give to one, and which not; that the
 * panels of a packed operand keep its groups whole; that what is drawn is legal, and that plans
 * and traces are the same thing. */
#include "tests/lib/sketch_util.h"

#include "loopstate/nest/looptree.h"
#include "loopstate/nest/quick.h"
#include "loopstate/state/intrin.h"

#define BYTES                                                                            \
	"m(uint8 A[64,128], const int8 B[128,96]) -> C"                                  \
	" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }"
#define SIGNED                                                                           \
	"m(int8 A[64,128], const int8 B[128,96]) -> C"                                   \
	" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }"
#define UNSIGNED                                                                         \
	"m(uint8 A[64,128], const uint8 B[128,96]) -> C"                                 \
	" { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }"
#define HALVES                                                                           \
	"m(bfloat16 A[64,127], const bfloat16 B[96,127]) -> C"                           \
	" { C(i,j) +=! float32(A(i,k)) * float32(B(j,k)) }"
#define CONV                                                                             \
	"c(uint8 X[14,14,32], const int8 W[3,3,32,48], const int32 z[48]) -> Y {"        \
	" P(y,x,c) = y >= 1 && y < 15 && x >= 1 && x < 15 ? X(y-1,x-1,c) : 0"            \
	" where y in 0:16, x in 0:16"                                                    \
	" C(y,x,f) +=! int32(P(y+r,x+s,c)) * int32(W(r,s,c,f))"                          \
	" Y(y,x,f) = max(C(y,x,f) + z(f), 0) }"

static struct hn_target machine(struct hn_arena *a)
{
	return target_of(a, "cpu -isa=x86-64-avx512 -mattr=+avx512vnni,+avx512bf16 "
			    "-num_cores=2");
}

static struct hn_sketches own_sketches(const struct hn_dag *dag,
				       const struct hn_target *t, struct hn_arena *a)
{
	struct hn_sketches s;
	struct hn_err err = { 0 };

	if (hn_sketch_generate_own(dag, t, a, &s, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

/* The instruction of some stage; "" = none has one. */
static const char *intrin_of(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (s->stage[i]->intrin != NULL) {
			return s->stage[i]->intrin->name;
		}
	}
	return "";
}

static const char *offered(const char *text, const struct hn_target *t,
			   struct hn_arena *a)
{
	const struct hn_dag *dag = dag_text(a, text);
	struct hn_sketches s = own_sketches(dag, t, a), ansor = sketches_of(dag, t, a);
	const char *name = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < s.n; i++) {
		const char *one = intrin_of(s.sketch[i].state);

		n += one[0] != '\0';
		name = one[0] != '\0' ? one : name;
	}
	for (uint32_t i = 0; i < ansor.n; i++) {
		assert_string_equal(intrin_of(ansor.sketch[i].state), "");
	}
	assert_true(n < s.n); /* the others stay */
	return name;
}

static void sums_of_products_are_offered(void **state)
{
	static const struct {
		const char *text, *intrin;
	} want[] = {
		{ BYTES, "vpdpbusd" },
		{ HALVES, "vdpbf16ps" },
		{ CONV, "vpdpbusd" },
		{ "m(float32 A[64,128], const float32 B[128,96]) -> C"
		  " { C(i,j) +=! A(i,k) * B(k,j) }",
		  "" },
		{ "m(int8 A[64,128], const int8 B[128,96]) -> C"
		  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		  "vpdpbusd_s8" },
		/* there is no such instruction */
		{ "m(uint8 A[64,128], const uint8 B[128,96]) -> C"
		  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		  "" },
		/* the groups of the other factor would have to be gathered */
		{ "m(uint8 A[128,64], const int8 B[128,96]) -> C"
		  " { C(i,j) +=! int32(A(k,i)) * int32(B(k,j)) }",
		  "" },
		/* fewer terms than one group */
		{ "m(uint8 A[64,3], const int8 B[3,96]) -> C"
		  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		  "" },
		/* read often enough to be copied in each call; and not */
		{ "m(uint8 A[64,128], int8 B[128,96]) -> C"
		  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		  "vpdpbusd" },
		{ "m(uint8 A[8,128], int8 B[128,96]) -> C"
		  " { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
		  "" },
		/* the task forbids what the instruction does */
		{ "m(bfloat16 A[64,128], const bfloat16 B[128,96]) -> C { @no_subnormals"
		  " C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
		  "" },
		{ "m(bfloat16 A[64,128], const bfloat16 B[128,96]) -> C { @bitwise"
		  " C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
		  "" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a),
			 lesser = target_of(&a, "cpu -isa=x86-64-avx512 -mattr= "
						"-num_cores=2");

	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		assert_string_equal(offered(want[i].text, &t, &a), want[i].intrin);
		assert_string_equal(offered(want[i].text, &lesser, &a), "");
	}
	hn_arena_fini(&a);
}

/* Each instruction by a feature of its own, and one by any of two. */
static void features_are_asked_for(void **state)
{
	static const struct {
		const char *line, *text, *intrin;
	} want[] = {
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512vnni", BYTES, "vpdpbusd" },
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512vnni", HALVES, "" },
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512bf16", HALVES, "vdpbf16ps" },
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512bf16", BYTES, "" },
		{ "cpu -isa=x86-64-avx2 -mattr=+avxvnni", BYTES, "vpdpbusd" },
		{ "cpu -isa=x86-64-avx2 -mattr=", BYTES, "" },
		{ "cpu -isa=x86-64-baseline", BYTES, "" },
		{ "cpu -isa=aarch64-neon -mattr=+i8mm", BYTES, "usdot" },
		{ "cpu -isa=aarch64-neon -mattr=+dotprod", BYTES, "" },
		{ "cpu -isa=aarch64-neon -mattr=+dotprod", SIGNED, "sdot" },
		{ "cpu -isa=aarch64-neon -mattr=+dotprod", UNSIGNED, "udot" },
		{ "cpu -isa=aarch64-neon -mattr=+bf16", HALVES, "bfdot" },
		{ "cpu -isa=aarch64-neon", HALVES, "" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct hn_target t = target_of(&a, want[i].line);

		assert_string_equal(offered(want[i].text, &t, &a), want[i].intrin);
	}
	hn_arena_fini(&a);
}

/* Every loop that an instruction does has its terms. */
static void check_groups(const struct hn_node *n, bool *seen)
{
	if (n->kind == HN_NODE_LOOP && n->intrin != NULL) {
		assert_int_equal(n->extent, hn_intrin_terms(n->intrin));
		*seen = true;
	}
	for (uint32_t i = 0; n->kind != HN_NODE_STMT && i < n->n_child; i++) {
		check_groups(n->child[i], seen);
	}
}

/* The panels of BYTES, of 32 x 96 groups of 4, keep these whole. */
static void check_panels(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->trace->n_step; i++) {
		const struct hn_step *step = s->trace->step[i];

		if (step->kind == HN_STEP_pack && step->n_list == 3) {
			assert_int_equal(step->list[2], 4);
		}
	}
}

static void what_is_drawn_is_legal_and_comes_back(void **state)
{
	static const char *const text[] = { BYTES, HALVES, CONV };
	struct hn_quick *quick = hn_quick_new();

	(void)state;
	for (size_t p = 0; p < HN_COUNT_OF(text); p++) {
		struct hn_arena a;
		uint32_t n = 0;

		hn_arena_init(&a, 0);
		struct hn_target t = machine(&a);
		struct hn_sketches s = own_sketches(dag_text(&a, text[p]), &t, &a);

		for (uint32_t i = 0; i < 40 * s.n; i++) {
			const struct hn_sketch *sk = &s.sketch[i % s.n];
			struct hn_rng r = hn_rng_stream(5, 1, i, 0),
				      again = hn_rng_stream(6, 1, i, 0);
			const struct hn_state *st, *same;
			const struct hn_looptree *tree;
			struct hn_plan *plan;
			struct hn_err err;
			bool seen = false;

			if (intrin_of(sk->state)[0] == '\0' ||
			    hn_sketch_fill(sk, &t, &r, &a, &st) != HN_VERDICT_OK) {
				continue;
			}
			assert_int_equal(hn_looptree_build(st, &a, &tree, &err), 0);
			assert_true(hn_quick_legal(quick, tree, NULL));
			check_groups(tree->root, &seen);
			assert_true(seen);
			if (p == 0) {
				check_panels(st);
			}
			assert_true(hn_plan_of(sk, st->trace, &a, &plan));
			assert_int_equal(
				hn_sketch_rebuild(sk, plan, &t, &again, &a, &same),
				HN_VERDICT_OK);
			for (uint32_t h = 0; h < sk->n_hole; h++) {
				const struct hn_step
					*x = st->trace->step[sk->hole[h].step],
					*y = same->trace->step[sk->hole[h].step];

				assert_int_equal(x->n_list, y->n_list);
				assert_memory_equal(x->list, y->list,
						    x->n_list * sizeof *x->list);
			}
			n++;
		}
		assert_true(n >= 40);
		hn_arena_fini(&a);
	}
	hn_quick_free(quick);
}

static void groups_are_split_and_packed_first(void **state)
{
	struct hn_arena a;
	bool found = false;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = machine(&a);
	struct hn_sketches s = own_sketches(dag_text(&a, BYTES), &t, &a);

	for (uint32_t i = 0; i < s.n; i++) {
		if (strcmp(s.sketch[i].rules, "tensorize,tile,pack") == 0) {
			check_steps(s.sketch[i].state,
				    "[[\"PK\", 1, [4, 1]], [\"SP\", 3, 2, 128, [4], 1], "
				    "[\"TE\", 3, [3], \"vpdpbusd\"], "
				    "[\"SP\", 3, 0, 64, [null, null, null], 1], "
				    "[\"SP\", 3, 4, 96, [null, null, null], 1], "
				    "[\"SP\", 3, 8, 32, [null], 1], "
				    "[\"RE\", 3, [0, 4, 1, 5, 8, 2, 6, 9, 10, 3, 7]], "
				    "[\"PK\", 2, [null, null, null]], [\"CI\", 2]]");
			found = true;
		}
	}
	assert_true(found);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_products_are_offered),
		cmocka_unit_test(features_are_asked_for),
		cmocka_unit_test(groups_are_split_and_packed_first),
		cmocka_unit_test(what_is_drawn_is_legal_and_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
