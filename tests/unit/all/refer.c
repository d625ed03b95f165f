/* What stands in for a naive program (lower/build/build_naive.c) has its numbers to the last bit, rounding
 * to nearest and upwards, and so has what stands in for its companion with wider sums: of chains of
 * several nests, and of random programs.  The parts that it is timed by are parts of it, and those
 * that compute a sample of its outputs give its numbers, too. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fenv.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/dag/mark.h"
#include "loopstate/state/widen.h"
#include "lower/build/build.h"
#include "search/answer.h"
#include "tests/lib/chains.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/random_dags.h"

static unsigned long n_random = 20; /* argument of the command */

static const char *const programs[] = {
	"gemm(float32 A[37,53], B[53,41], C[37,41]) -> D {"
	" T(i,j) +=! A(i,k) * B(k,j) D(i,j) = 1.5 * T(i,j) + 1.2 * C(i,j) }",
	"mm3(float32 A[31,43], B[43,37], C[37,29], D[29,41]) -> G {"
	" E(i,j) +=! A(i,k) * B(k,j) F(i,j) +=! C(i,k) * D(k,j)"
	" G(i,j) +=! E(i,k) * F(k,j) }",
	"f64(float64 A[19,203], B[203,31]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	CHAINS,
	"dot(float32 A[3,4099], B[4099]) -> c { c(i) +=! A(i,k) * B(k) }",
};

struct bench {
	struct hn_builder builder;
	struct hn_target host;
	uint32_t n, n_refer, n_wide, n_wide_fast, n_sampled;
	uint64_t n_told;
};

static const char *steps_of(const struct hn_dag *dag, const struct hn_target *host,
			    struct hn_arena *a)
{
	struct hn_answers answers;
	const char *steps;
	struct hn_buf b;

	hn_answers_find(hn_dag_mark(dag, HN_MARK_BITWISE, a), host, a, &answers);
	hn_buf_init(&b);
	hn_trace_write(answers.at[0].trace, &b);
	steps = hn_arena_strndup(a, b.s, b.n);
	hn_buf_fini(&b);
	return steps;
}

/* fast: with the histories. */
static void build(struct bench *b, const struct hn_dag *dag, bool fast, struct hn_arena *a,
		  struct hn_build_answer *ret)
{
	const struct hn_dag *wide = hn_dag_widen(dag, a);
	struct hn_build_request r = { .target = "native", .symbol = "own", .plant = "",
				      .wide = "wide", .naive = true };
	struct hn_buf json;

	if (fast) {
		r.refer = "refer";
		r.refer_steps = steps_of(dag, &b->host, a);
		r.wide_steps = wide ? steps_of(wide, &b->host, a) : NULL;
	}
	hn_buf_init(&json);
	hn_dag_write_json(dag, &json);
	r.dag = hn_arena_strndup(a, json.s, json.n);
	r.dag_bytes = json.n;
	hn_buf_fini(&json);
	memset(ret, 0, sizeof *ret);
	hn_build(&b->builder, &r, a, ret);
	if (ret->verdict != HN_VERDICT_OK) {
		fail_msg("%s", ret->why.msg);
	}
}

/* Of that name, and not scalar when fast. */
static bool has(const struct hn_build_answer *ans, const char *symbol, bool fast)
{
	for (uint32_t i = 0; i < ans->more.n; i++) {
		if (strcmp(ans->more.program[i].symbol, symbol) == 0) {
			return !fast || !ans->more.program[i].scalar;
		}
	}
	return false;
}

static void run(const struct hn_build_answer *ans, const char *symbol, int rounding,
		struct run_args *ret)
{
	struct run_kernel k = { .artefact = ans->artefact };
	int32_t workers = 3;
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = workers,
				.parallel_for = run_backwards,
				.ctx = &workers };

	run_load(&k, symbol);
	run_args_make(ans->dag, 7, ret);
	fesetround(rounding);
	assert_int_equal(k.fn(ret->at, &env), 0);
	fesetround(FE_TONEAREST);
	assert_true(run_redzones_hold(ret));
	run_unload(&k);
}

static void same_bits(const char *text, const struct hn_build_answer *x, const char *x_symbol,
		      const struct hn_build_answer *y, const char *y_symbol, int rounding)
{
	struct run_args want, got;

	run(x, x_symbol, rounding, &want);
	run(y, y_symbol, rounding, &got);
	for (uint32_t i = 0; i < want.n; i++) {
		if (memcmp(want.at[i], got.at[i], want.bytes[i]) != 0) {
			fail_msg("%s: %s has other bits than %s", text, y_symbol, x_symbol);
		}
	}
	run_args_free(&want);
	run_args_free(&got);
}

/* What is computed of the outputs is what the whole program computes; whatever lay there before. */
static void sampled(struct bench *b, const char *text, const struct hn_build_answer *whole,
		    double most, struct hn_arena *a)
{
	const struct hn_looptree *sample[HN_SAMPLE_MAX];
	uint32_t n = hn_sample(whole->tree, most, a, sample);
	struct run_args want, got[2];
	uint64_t told = 0;

	run(whole, "own", FE_TONEAREST, &want);
	for (uint32_t i = 0; i < n; i++) {
		struct hn_build_answer part = { .dag = whole->dag };
		struct hn_emit_options o = { .symbol = "part", .scalar = true };
		struct run_kernel k;
		struct hn_err err = { 0 };

		assert_int_equal(hn_emit(b->builder.emitter, sample[i], &o, a, &part.artefact, &err),
				 0);
		k = (struct run_kernel){ .artefact = part.artefact };
		run_load(&k, "part");
		for (int p = 0; p < 2; p++) {
			run_args_make(whole->dag, 7, &got[p]);
			for (uint32_t t = whole->dag->n_input; t < want.n; t++) {
				memset(got[p].at[t], p == 0 ? 0xff : 0x7f, want.bytes[t]);
			}
			assert_int_equal(k.fn(got[p].at, NULL), 0);
			assert_true(run_redzones_hold(&got[p]));
		}
		for (uint32_t t = whole->dag->n_input; t < want.n; t++) {
			uint32_t size = hn_dtype_bytes(want.dtype[t]), n_here = 0;

			for (size_t at = 0; at < want.bytes[t]; at += size) {
				const char *p = (char *)got[0].at[t] + at;

				if (memcmp(p, (char *)got[1].at[t] + at, size) != 0) {
					continue;
				}
				n_here++;
				if (memcmp(p, (char *)want.at[t] + at, size) != 0) {
					fail_msg("%s: sample %u has other bits", text, i);
				}
			}
			if (n_here == 0) {
				fail_msg("%s: sample %u has nothing of output %u", text, i, t);
			}
			told += n_here;
		}
		run_unload(&k);
		run_args_free(&got[0]);
		run_args_free(&got[1]);
	}
	run_args_free(&want);
	b->n_sampled += n > 0;
	b->n_told += told;
}

static void check(struct bench *b, const char *text)
{
	struct hn_build_answer slow, fast;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err), 0);
	build(b, dag, false, &a, &slow);
	build(b, dag, true, &a, &fast);
	sampled(b, text, &slow, b->n % 2 == 0 ? 30000 : 8000, &a);
	b->n++;
	if (has(&fast, "refer", true)) {
		b->n_refer++;
		same_bits(text, &slow, "own", &fast, "refer", FE_TONEAREST);
		same_bits(text, &slow, "own", &fast, "refer", FE_UPWARD);
	}
	b->n_wide += has(&slow, "wide", false);
	if (has(&fast, "wide", true)) {
		b->n_wide_fast++;
		same_bits(text, &slow, "wide", &fast, "wide", FE_TONEAREST);
	}
	hn_arena_fini(&a);
}

/* Nearly all are proved: what is not has a slow reference. */
static void nearly_all(const struct bench *b)
{
	print_message("%u programs, %u have a fast reference; %u with wider sums, %u fast; "
		      "%u samples, %llu elements\n",
		      b->n, b->n_refer, b->n_wide, b->n_wide_fast, b->n_sampled,
		      (unsigned long long)b->n_told);
	assert_true(20 * (b->n - b->n_sampled) <= b->n);
	assert_true(20 * (b->n - b->n_refer) <= b->n);
	assert_true(20 * (b->n_wide - b->n_wide_fast) <= b->n_wide);
}

static void whole_chains(void **state)
{
	struct bench *b = *state;

	b->n = b->n_refer = b->n_wide = b->n_wide_fast = b->n_sampled = 0;
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		check(b, programs[i]);
	}
	nearly_all(b);
}

static void random_programs(void **state)
{
	struct bench *b = *state;

	b->n = b->n_refer = b->n_wide = b->n_wide_fast = b->n_sampled = 0;
	for (uint64_t seed = 1; seed <= n_random; seed++) {
		uint32_t tape[RD_TAPE];
		struct hn_buf text;
		bool inexact;

		rd_tape(seed, tape);
		hn_buf_init(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		check(b, text.s);
		hn_buf_fini(&text);
	}
	nearly_all(b);
}

/* A part of one nest computes some of its elements, and no other. */
static void parts_are_of_the_program(void **state)
{
	struct bench *b = *state;
	const char *text = "mm(float32 A[37,53], B[53,41]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";
	const double most[] = { 3 * 41 * 54, 20 * 54, 30 };
	const double points[] = { 3 * 41 * 54, 20 * 54, 30 };
	struct hn_slice slice[HN_SLICE_MAX];
	struct hn_build_answer ans;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct run_args want;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err), 0);
	build(b, dag, false, &a, &ans);
	run(&ans, "own", FE_TONEAREST, &want);
	assert_int_equal(hn_slice(ans.tree, 37 * 41 * 54, &a, slice), 0);
	for (size_t i = 0; i < HN_COUNT_OF(most); i++) {
		struct hn_build_answer part = { .dag = ans.dag };
		struct hn_emit_options o = { .symbol = "part", .scalar = true };
		struct run_args got;
		uint32_t n = 0, n_sum = 0;

		assert_int_equal(hn_slice(ans.tree, most[i], &a, slice), 1);
		assert_true(slice[0].points == points[i]);
		assert_true(slice[0].of == 37 * 41 * 54);
		assert_int_equal(hn_emit(b->builder.emitter, slice[0].tree, &o, &a,
					 &part.artefact, &err), 0);
		run_args_make(dag, 7, &got);
		memset(got.at[2], 0xff, got.bytes[2]);
		struct run_kernel k = { .artefact = part.artefact };

		run_load(&k, "part");
		assert_int_equal(k.fn(got.at, NULL), 0);
		assert_true(run_redzones_hold(&got));
		for (uint32_t at = 0; at < 37 * 41; at++) {
			float v = ((float *)got.at[2])[at];

			n += v == v;
			n_sum += v == ((float *)want.at[2])[at];
		}
		/* in the middle, where the whole program has the same; the last sums a few terms */
		assert_int_equal(n, i < 2 ? points[i] / 54 : 1);
		assert_int_equal(n_sum, i < 2 ? n : 0);
		run_unload(&k);
		run_args_free(&got);
	}
	run_args_free(&want);
	hn_arena_fini(&a);
}

/* Several nests: long ones apart, the others together, and no run of a statement is lost. */
static void parts_stand_for_all(void **state)
{
	struct bench *b = *state;
	struct hn_slice slice[HN_SLICE_MAX];
	struct hn_build_answer ans;
	const struct hn_dag *dag;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_dag_parse("t", programs[1], strlen(programs[1]), 0, &a, &dag, &err), 0);
	build(b, dag, false, &a, &ans);
	assert_int_equal(hn_slice(ans.tree, 37 * 41 * 30 + 1, &a, slice), 3);
	assert_true(slice[0].of == 31 * 37 * 44);
	assert_true(slice[1].of == 31 * 41 * 38);
	assert_true(slice[2].of == 37 * 41 * 30);
	assert_true(slice[2].points == slice[2].of);
	hn_arena_fini(&a);
}

static int open_bench(void **state)
{
	struct bench *b = calloc(1, sizeof *b);
	static struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &b->host);
	*state = b;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *b = *state;

	hn_builder_fini(&b->builder);
	free(b);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_chains),
		cmocka_unit_test(random_programs),
		cmocka_unit_test(parts_are_of_the_program),
		cmocka_unit_test(parts_stand_for_all),
	};

	n_random = argc > 1 ? strtoul(argv[1], NULL, 10) : n_random;
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
