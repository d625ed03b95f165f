/* Heuristic schedules of all classes: every dag has some, each a complete history that replays to
 * the same state; and the nests they make follow from the target's numbers. */
#include "tests/lib/heuristic_bed.h"

static const char *const programs[] = {
	"f(float32 A[1]) -> B { B() = A(0) * 2 }",
	"f(float32 A[128]) -> B { B() +=! A(k) }",
	"f(float32 A[7]) -> B { B(i) = A(i) + 1 }",
	"f(float32 A[33,65], B[65,17]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(float32 A[33,65], B[17,65]) -> C { C(i,j) +=! A(i,k) * B(j,k) }",
	"f(float32 A[65], B[65,17]) -> C { C(j) +=! A(k) * B(k,j) }",
	"f(float32 A[64,48]) -> B { B(i,j) = A(j,i) }",
	"f(float32 A[5,1000]) -> M, E { M(i) max=! A(i,k) E(i,j) = exp(A(i,j) - M(i)) }",
	"f(float32 A[1000000]) -> S { S() +=! A(k) * A(k) }",
	"f(float32 A[1,23,23,40], const W[3,3,40,24], b[24]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 24 && w >= 1 && w < 24 ? A(n,h-1,w-1,c) : 0"
	"   where h in 0:25, w in 0:25"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(r,s,c,f)"
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	"f(float32 A[9,30,64], B[64,50], D[50,20]) -> C, E {"
	" C(b,i,j) +=! A(b,i,k) * B(k,j)"
	" E(b,i,l) +=! C(b,i,j) * D(j,l) }",
	"f(float32 X[1,5,5,40], W[3,3,40,24], b[24]) -> Y {"
	" P(n,h,w,c) = h >= 1 && h < 10 && (h-1)%2==0 && w >= 1 && w < 10 && (w-1)%2==0"
	"   ? X(n,(h-1)/2,(w-1)/2,c) : 0 where h in 0:11, w in 0:11"
	" C(n,h,w,f) +=! P(n,h+r,w+s,c) * W(2-r,2-s,c,f) where h in 0:9, w in 0:9"
	" Y(n,h,w,f) = max(C(n,h,w,f) + b(f), 0) }",
	"f(int8 A[40,64], B[64,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }",
};

static void check_heuristic(const struct hn_dag *dag, const struct hn_state *s,
			    struct hn_arena *a)
{
	static const struct hn_trace none;
	const struct hn_trace *read;
	const struct hn_looptree *tree;
	const struct hn_state *again;
	struct hn_buf text;
	struct hn_err err = { 0 };

	hn_buf_init(&text);
	hn_trace_write(s->trace ? s->trace : &none, &text);
	assert_int_equal(hn_trace_parse("guard", text.s, text.n, a, &read, &err), 0);
	assert_true(hn_trace_complete(read));
	if (hn_state_replay(dag, read, a, &again, &err) != 0) {
		fail_msg("%s: %s", text.s, err.msg);
	}
	assert_true(hn_trace_equal(again->trace, s->trace ? s->trace : &none));
	assert_int_equal(hn_looptree_build(again, a, &tree, &err), 0);
	hn_state_check(again);
	hn_buf_fini(&text);
}

static void every_dag_has_heuristics(void **state)
{
	static const char *const target[] = { AVX512, AVX2, "cpu -isa=generic" };
	struct heuristics x;

	(void)state;
	for (size_t t = 0; t < HN_COUNT_OF(target); t++) {
		for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
			const struct hn_state *h[HN_HEURISTIC_MAX];

			heuristics_open(&x, target[t], programs[i]);
			assert_in_range(x.n, 1, HN_HEURISTIC_MAX);
			assert_int_equal(hn_heuristics(x.dag, &x.on, &x.a, h), x.n);
			for (uint32_t k = 0; k < x.n; k++) {
				check_heuristic(x.dag, x.g[k], &x.a);
				assert_true(hn_trace_hash(x.g[k]->trace) ==
					    hn_trace_hash(h[k]->trace));
				for (uint32_t j = 0; j < k; j++) {
					assert_false(hn_trace_equal(x.g[k]->trace,
								    x.g[j]->trace));
				}
			}
			heuristics_end(&x);
		}
	}
}

static void a_gpu_has_its_own(void **state)
{
	struct heuristics x;

	(void)state;
	heuristics_open(&x, "cuda -isa=sm_80", programs[3]);
	assert_true(x.n > 0);
	for (uint32_t i = 0; i < x.n; i++) {
		bool blocks = false, cores = false;

		for (uint32_t s = 0; s < x.g[i]->n_stage; s++) {
			const struct hn_stage *st = x.g[i]->stage[s];

			for (uint32_t k = 0; k < st->n_iter; k++) {
				blocks = blocks || st->iter[k].ann == HN_ANN_BLOCK_X;
				cores = cores || st->iter[k].ann == HN_ANN_PARALLEL;
			}
		}
		assert_true(blocks && !cores);
	}
	heuristics_end(&x);
}

static void one_core_has_no_parallel_loops(void **state)
{
	struct heuristics x;

	(void)state;
	heuristics_begin(&x, "cpu -isa=x86-64-avx2 -num_cores=1");

	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		heuristics_of(&x, programs[i]);

		for (uint32_t k = 0; k < x.n; k++) {
			assert_false(has_parallel(heuristics_tree(&x, k)));
		}
	}
	heuristics_end(&x);
}

/* The right operand of A * B^T has to be packed to be loaded as vectors; a sum of one
 * number is cut for the cores; a bias joins the convolution's tiles. */
static void steps_follow_the_accesses(void **state)
{
	static const struct {
		const char *text;
		enum hn_step_kind want;
	} of[] = {
		{ "f(float32 A[333,65], B[170,65]) -> C { C(i,j) +=! A(i,k) * B(j,k) }",
		  HN_STEP_pack },
		{ "f(float32 A[1000000]) -> S { S() +=! A(k) }", HN_STEP_rfactor },
		{ "f(float32 A[64,65], B[65,48], b[48]) -> C {"
		  " D(i,j) +=! A(i,k) * B(k,j) C(i,j) = D(i,j) + b(j) }",
		  HN_STEP_compute_at },
		{ "f(float32 A[64,1000]) -> E { M(i) max=! A(i,k)"
		  " E(i,j) = A(i,j) - M(i) }",
		  HN_STEP_compute_at },
	};
	struct heuristics x;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(of); i++) {
		heuristics_open(&x, AVX512, of[i].text);

		assert_true(x.n > 1);
		assert_true(has_step(x.g[0], of[i].want));
		assert_false(has_step(x.g[x.n - 1], of[i].want));
		heuristics_end(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dag_has_heuristics),
		cmocka_unit_test(a_gpu_has_its_own),
		cmocka_unit_test(one_core_has_no_parallel_loops),
		cmocka_unit_test(steps_follow_the_accesses),
	};

	return cmocka_run_group_tests_name("sketch heuristics", tests, NULL, NULL);
}
