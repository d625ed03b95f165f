/* Device programs made from GPU states: they compute what the dag says, in any order of threads,
 * and no two threads meet in an element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/dag/tolerance.h"
#include "loopstate/read/dag_read.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "sketch/sketch.h"
#include "tests/lib/gpu_bed.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/random_dags.h"
#include "tests/lib/thread_sums.h"

#define N_RANDOM 40
#define FUEL 20000000
#define LIMIT_MS 20000

static uint64_t n_random = N_RANDOM;

struct counts {
	uint32_t states, unsupported, right, long_ones, laid_out;
};

static int set_up(void **state)
{
	return gpu_bed(state, "cuda");
}

static void fail_with(const char *what, const char *why, const struct hn_looptree *t,
		      const struct hn_device *d)
{
	struct hn_buf text;

	fprintf(stderr, "%s: %s\n", what, why);
	hn_buf_init(&text);
	hn_looptree_print(t, &text);
	if (d != NULL) {
		hn_device_print(d, &text);
	}
	fputs(text.s, stderr); /* cmocka cuts long texts */
	fail_msg("%s: %s", what, why);
}

static void reads_back(const struct hn_device *d, struct hn_arena *a)
{
	const struct hn_device *again;
	struct hn_buf text, twice;
	struct hn_err err;

	hn_buf_init(&text);
	hn_buf_init(&twice);
	hn_device_print(d, &text);
	if (hn_device_parse("text", text.s, text.n, a, &again, &err) != 0) {
		fail_msg("%s in\n%s", err.msg, text.s);
	}
	hn_device_print(again, &twice);
	assert_string_equal(text.s, twice.s);
	hn_buf_fini(&text);
	hn_buf_fini(&twice);
}

static void judge(const char *what, const struct hn_dag *dag, const struct hn_state *s,
		  const struct hn_target *gpu, const struct run_args *want, struct counts *n)
{
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	n->states++;
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	int rc = hn_device_place(t, &a, &d, &err);

	if (rc == -HONE_E_UNSUPPORTED) {
		n->unsupported++;
		print_message("%s: %s\n", what, err.msg);
	} else if (rc != 0) {
		fail_with(what, err.msg, t, NULL);
	}
	if (rc == 0 && hn_device_verify(d, gpu, LIMIT_MS, &err) != 0) {
		fail_with(what, err.msg, t, d);
	}
	if (rc == 0) {
		reads_back(d, &a);
	}
	for (uint32_t order = 0; order < 3 && rc == 0; order++) {
		struct run_args got;

		run_args_make(dag, 7, &got);
		rc = hn_device_interpret(d, got.at, order, FUEL, &err);
		if (rc == -HONE_E_QUOTA) {
			n->long_ones++;
		} else if (rc != 0) {
			fail_with(what, err.msg, t, d);
		} else if (!(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
			snprintf(err.msg, sizeof(err.msg), "it differs by %g",
				 run_difference(want, &got));
			fail_with(what, err.msg, t, d);
		} else {
			n->right += order == 2;
		}
		run_args_free(&got);
	}
	hn_arena_fini(&a);
}

/* The state with what its loops need computed ahead, and what threads share swizzled, where they can
 * be; NULL: nowhere. */
static const struct hn_state *laid_out(const struct hn_state *s, uint64_t seed, struct hn_arena *a)
{
	struct hn_rng rng = hn_rng_stream(seed, 7, 1, 2);
	const struct hn_looptree *t;
	bool any = false;

	for (int32_t i = 0; i < (int32_t)s->n_stage; i++) {
		const struct hn_state *next;
		struct hn_step step = { .kind = HN_STEP_swizzle, .stage = i };

		step.a[HN_SW_UNIT] = (int64_t)hn_rng_below(&rng, 3);
		step.a[HN_SW_BITS] = 1 + (int64_t)hn_rng_below(&rng, 3);
		if (s->stage[i]->scope != NULL && hn_state_apply(s, &step, a, &next, NULL) == 0 &&
		    hn_looptree_build(next, a, &t, NULL) == 0) {
			s = next;
			any = true;
		}
		step = (struct hn_step){ .kind = HN_STEP_pipeline, .stage = i };
		step.a[HN_PL_STAGES] = 2 + (int64_t)hn_rng_below(&rng, 3);
		step.a[HN_PL_KIND] = (int64_t)hn_rng_below(&rng, HN_N_PIPELINE);
		for (uint32_t k = 0; k < s->stage[i]->n_iter; k++) {
			step.a[HN_PL_ITER] = k;
			if (hn_state_apply(s, &step, a, &next, NULL) == 0) {
				s = next;
				any = true;
			}
		}
	}
	return any ? s : NULL;
}

/* n_fill programs of each sketch, as they are and laid out. */
static void judge_text(struct bed *b, const char *what, const char *text, int n_fill,
		       struct counts *n)
{
	struct hn_sketches sketches;
	const struct hn_dag *dag;
	struct run_args want;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_dag_parse(what, text, strlen(text), 0, &a, &dag, &err) ||
	    hn_sketch_generate(dag, &b->gpu, &a, &sketches, &err)) {
		fail_msg("%s", err.msg);
	}
	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	for (uint32_t k = 0; k < sketches.n; k++) {
		struct hn_rng rng = hn_rng_stream(5, 3, k, 0);
		int made = 0;

		for (int i = 0; i < 20 * n_fill && made < n_fill; i++) {
			const struct hn_state *s;

			if (hn_sketch_fill(&sketches.sketch[k], &b->gpu, &rng, &a, &s) ==
			    HN_VERDICT_OK) {
				judge(what, dag, s, &b->gpu, &want, n);
				s = laid_out(s, (uint64_t)made, &a);
				if (s != NULL) {
					judge(what, dag, s, &b->gpu, &want, n);
					n->laid_out++;
				}
				made++;
			}
		}
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

static void programs_compute_the_dag(void **state)
{
	static const struct {
		const char *name, *text;
	} row[] = {
		{ "matmul", "m(float32 A[30,64], B[64,24]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		{ "odd matmul", "m(float32 A[7,13], B[13,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		{ "bias and relu", "m(float32 A[17,20], B[20,9], b[9]) -> D "
				   "{ C(i,j) +=! A(i,k) * B(k,j) D(i,j) = max(C(i,j) + b(j), 0) }" },
		{ "padded convolution",
		  "f(float32 X[1,6,6,4], W[3,3,4,8]) -> C {"
		  " P(n,h,w,c) = h >= 1 && h < 7 && w >= 1 && w < 7 ? X(n,h-1,w-1,c) : 0"
		  "   where h in 0:8, w in 0:8"
		  " C(n,h,w,f) +=! P(n,h+r,w+t,c) * W(r,t,c,f) where h in 0:6, w in 0:6 }" },
		{ "softmax", "s(float32 A[5,100]) -> S { M(i) max=! A(i,k) E(i,k) = exp(A(i,k)-M(i))"
			     " D(i) +=! E(i,k) S(i,j) = E(i,j) / D(i) }" },
		{ "sum", "s(float32 A[300]) -> S { S +=! A(k) }" },
		{ "norm", "n(float32 A[3,40,40]) -> N { S(b) +=! A(b,i,j) * A(b,i,j)"
			  " N(b) = sqrt(S(b)) }" },
		{ "first of the largest",
		  "f(float32 A[6,70]) -> M, I { M(i), I(i) reduce=! A(i,k), k by (a, c), (b, d) -> "
		  "max(a, b), select(a >= b, c, d) from 0.0, 0 }" },
		{ "integers", "m(int8 A[20,33], B[33,12]) -> C "
			      "{ C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }" },
		{ "batch", "m(float32 A[3,8,16], B[3,16,8]) -> C { C(b,i,j) +=! A(b,i,k) * B(b,k,j) }" },
		{ "transposed", "t(float32 A[9,14]) -> B { B(i,j) = A(j,i) * 2 }" },
		{ "names in each of two results",
		  "l(int32 A[9,14]) -> (B, C) { T(i,j) = let t = A(i,j) * 2 in t * t "
		  "where i in 0:9, j in 0:14 "
		  "B(i,j), C(i,j) = T(i,j) + 1, T(i,j) * 3 where i in 0:9, j in 0:14 }" },
	};
	struct bed *b = *state;
	struct counts n = { 0 };

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		judge_text(b, row[i].name, row[i].text, 6, &n);
	}
	print_message("%u states, %u of them laid out, %u without a form, %u right in three orders, %u "
		      "too long\n",
		      n.states, n.laid_out, n.unsupported, n.right, n.long_ones);
	assert_int_equal(n.unsupported, 0);
	assert_true(n.laid_out > 20);
	assert_true(n.right > n.states * 9 / 10);
}

static void random_programs_too(void **state)
{
	struct bed *b = *state;
	struct counts n = { 0 };
	struct hn_buf text;
	bool inexact;

	hn_buf_init(&text);
	for (uint64_t seed = 1, drawn = 0; drawn < n_random; seed++) {
		uint32_t tape[RD_TAPE];
		struct hn_err err;
		struct hn_arena a;
		const struct hn_dag *dag;
		char name[40];

		rd_tape(seed, tape);
		hn_buf_reset(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		hn_arena_init(&a, 0);
		if (!inexact && hn_dag_parse("t", text.s, text.n, 0, &a, &dag, &err) == 0) {
			drawn++;
			snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
			judge_text(b, name, text.s, 2, &n);
		}
		hn_arena_fini(&a);
	}
	hn_buf_fini(&text);
	print_message("%u states, %u without a form, %u right in three orders, %u too long\n", n.states,
		      n.unsupported, n.right, n.long_ones);
}

/* A tile of the sum inside of the threads that take it together. */
static void sums_with_elements_inside(void **state)
{
	static const struct {
		const char *name, *text;
	} row[] = {
		{ "matmul", "m(float32 A[6,26], B[26,10]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" },
		{ "norm", "n(float32 A[5,11,9]) -> N { S(b) +=! A(b,i,j) * A(b,i,j)"
			  " N(b) = sqrt(S(b)) }" },
		{ "softmax", "s(float32 A[5,100]) -> S { M(i) max=! A(i,k) E(i,k) = exp(A(i,k)-M(i))"
			     " D(i) +=! E(i,k) S(i,j) = E(i,j) / D(i) }" },
		{ "two terms", "m(int32 A[7,5,6], B[5,6,4]) -> C { C(i,j) +=! A(i,k,l) * B(k,l,j) }" },
		{ "odd terms only", "m(float32 A[9,14], B[14,6]) -> C "
				    "{ C(i,j) +=! (k + i) % 2 == 1 ? A(i,k) * B(k,j) }" },
		{ "largest of a window", "p(float32 X[14]) -> P { P(i) max=! X(i+k) where k in 0:5 }" },
	};
	struct bed *b = *state;
	struct hn_quick *quick = hn_quick_new();
	struct counts n = { 0 };

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		struct run_args want;
		struct hn_err err = { 0 };
		uint32_t before = n.states;

		assert_int_equal(hn_dag_parse(row[i].name, row[i].text, strlen(row[i].text), 0, &b->a,
					      &dag, &err), 0);
		run_args_make(dag, 7, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		for (uint64_t seed = 1; seed <= 60; seed++) {
			const struct hn_state *s = ts_state(dag, quick, seed, &b->a);

			if (s != NULL) {
				judge(row[i].name, dag, s, &b->gpu, &want, &n);
			}
		}
		assert_true(n.states > before);
		run_args_free(&want);
	}
	hn_quick_free(quick);
	print_message("%u states, %u without a form, %u right in three orders, %u too long\n", n.states,
		      n.unsupported, n.right, n.long_ones);
	assert_int_equal(n.unsupported, 0);
	assert_int_equal(n.right, n.states);
}

/* The work of placing grows with the nest, not with a power of its depth. */
static void a_deep_nest_is_placed(void **state)
{
	static const char text[] = "f(float32 A[268435456,4]) -> B { B(i,j) = A(i,j) }";
	static const char steps[] =
		"[[\"SP\", 1, 0, 268435456,"
		" [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2], 1],"
		" [\"AN\", 1, 28, 6]]";
	struct bed *b = *state;
	const struct hn_trace *trace;
	const struct hn_looptree *t;
	const struct hn_device *d;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct hn_err err;

	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &b->a, &dag, &err), 0);
	assert_int_equal(hn_trace_parse("s", steps, strlen(steps), &b->a, &trace, &err), 0);
	assert_int_equal(hn_state_replay(dag, trace, &b->a, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, &b->a, &t, &err), 0);
	assert_int_equal(hn_device_place(t, &b->a, &d, &err), 0);
	assert_int_equal(hn_device_verify(d, &b->gpu, LIMIT_MS, &err), 0);
	reads_back(d, &b->a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_compute_the_dag),
		cmocka_unit_test(random_programs_too),
		cmocka_unit_test(sums_with_elements_inside),
		cmocka_unit_test(a_deep_nest_is_placed),
	};

	n_random = argc > 1 ? strtoull(argv[1], NULL, 10) : N_RANDOM;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
