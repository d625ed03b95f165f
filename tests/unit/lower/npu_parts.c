/* Programs of parts on the NPU: of reductions to few results, and of windows over a border, cores make a
 * part of what is needed, meet, and go on. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "lower/lower.h"
#include "lower/npu/parts.h"
#include "target/npu/npu_insn.h"
#include "target/npu/npu_run.h"

struct bed {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_dag *dag;
	const struct hn_npu_program *p, *whole; /* as it is made; by one program */
	struct hn_npu_result r;
	struct hn_err err;
	void *gm[8], *want[8];
};

static const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };

static void begin(struct bed *b, const char *profile, const char *text)
{
	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &b->m, &b->err), 0);
	if (hn_dag_from_text("t", text, strlen(text), 0, &b->a, &b->dag, &b->err) != 0 ||
	    hn_npu_program(b->dag, &b->m, &plan, &b->a, &b->p, &b->err) != 0 ||
	    hn_npu_vector(b->dag, &b->m, &plan, &b->a, &b->whole, NULL, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, text);
	}
}

static void fill(struct bed *b)
{
	struct hn_rng rng = hn_rng_stream(7, 0, 0, 0);

	for (uint32_t i = 0; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];

		b->gm[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		b->want[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		for (int64_t k = 0; k < hn_op_elements(op) && i < b->dag->n_input; k++) {
			double v = (double)hn_rng_below(&rng, 17) / 8 - 1;

			hn_float_put((enum hn_dtype)op->dtype[0], b->gm[i], k, v);
			hn_float_put((enum hn_dtype)op->dtype[0], b->want[i], k, v);
		}
	}
	assert_int_equal(hn_interpret(b->dag, b->want, &b->err), 0);
}

static int64_t cycles_of(struct bed *b, const struct hn_npu_program *p)
{
	if (hn_npu_run(p, &b->m, &(struct hn_npu_options){ 0 }, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
	return b->r.cycles;
}

static void right_and_clean(struct bed *b, uint64_t seed)
{
	const struct hn_npu_options o = { .gm = b->gm, .judge = true, .seed = seed };

	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		memset(b->gm[i], 0x5a, (size_t)hn_op_bytes(b->dag->op[b->dag->arg[i]], 0));
	}
	if (hn_npu_run(b->p, &b->m, &o, &b->a, &b->r, &b->err) != 0) {
		fail_msg("%s", b->err.msg);
	}
	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];

		for (int64_t k = 0; k < hn_op_elements(op); k++) {
			double got = hn_float_get((enum hn_dtype)op->dtype[0], b->gm[i], k);
			double want = hn_float_get((enum hn_dtype)op->dtype[0], b->want[i], k);

			if (!(fabs(got - want) <= (op->dtype[0] == HN_F16 ? 2e-3 : 1e-4) * (1 + fabs(want)))) {
				fail_msg("result %u, element %lld: %g, not %g", i, (long long)k, got, want);
			}
		}
	}
}

/* meetings: `barrier cores` of each core; 0: as one program. */
static const struct {
	const char *text;
	uint32_t meetings;
	double gain; /* on dv910, at least */
} cases[] = {
	{ "p(float32 X[262144]) -> S { S() +=! X(i) }", 1, 6 },
	{ "p(float16 X[131072]) -> S { S() max=! X(i) }", 1, 2 },
	{ "p(float32 X[3,65536]) -> S { S(b) +=! X(b,i) * X(b,i) }", 1, 4 },
	{ "p(float32 X[65536]) -> Y { M() max=! X(i) E(i) = exp(X(i) - M()) S() +=! E(i) Y(i) = E(i) / S() }", 2, 3 },
	{ "p(float16 X[2,32768]) -> (Y, V) { S(b) +=! float32(X(b,i)) D(b,i) = float32(X(b,i)) - S(b) * 3.0517578125e-05 "
	  "V(b) +=! D(b,i) * D(b,i) Y(b,i) = float16(D(b,i)) }", 2, 1.5 },
	{ "p(float32 X[40,9,2048]) -> S { S(j) +=! X(i,j,k) }", 1, 2 },
	{ "p(float32 X[64,128,16], float32 Z[16]) -> Y { S(c) +=! X(i,j,c) Y(c) = max(S(c) + Z(c), 0.0) }", 1, 2 },
	/* a border goes to scratch, and windows read it there; where that is not faster they do not */
	{ "p(float32 X[14,12,8], float32 W[3,3,8,16]) -> Y { P(h,w,c) = (h >= 1 && h < 15 && w >= 1 && w < 13) ? "
	  "X(h-1,w-1,c) : 0.0  where h in 0:16, w in 0:14 Y(h,w,f) +=! P(h+r,w+s,c) * W(r,s,c,f)  where h in 0:14, w in "
	  "0:12 }", 1, 2 },
	{ "p(float16 X[2,30,21,32]) -> Y { P(n,h,w,c) = (h >= 1 && h < 31 && w >= 2 && w < 23) ? X(n,h-1,w-2,c) : -60000.0 "
	  " where h in 0:32, w in 0:25 M(n,h,w,c) max=! P(n,2*h+r,2*w+s,c)  where h in 0:15, w in 0:11, r in 0:3, s in 0:3 "
	  "Y(n,h,w,c) = M(n,h,w,c) * 0.5 }", 0, 0 },
	{ "p(float32 A[16,64], float32 B[16,64]) -> S { C(i,k) = k < 64 ? A(i,k) : B(i,k-64)  where k in 0:128 S(i) +=! "
	  "C(i,k) }", 1, 1 },
	/* nothing divides a prime; short ones; as many results as cores */
	{ "p(float32 X[65537]) -> S { S() +=! X(i) }", 0, 0 },
	{ "p(float32 X[500]) -> S { S() +=! X(i) }", 0, 0 },
	{ "p(float32 X[256,4096]) -> S { S(b) +=! X(b,i) }", 0, 0 },
};

static uint32_t meetings_of(const struct hn_npu_program *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->section[0].n_insn; i++) {
		n += p->section[0].insn[i].op == HN_NPU_I_BARRIER && p->section[0].insn[i].pipe[0] == HN_NPU_CORES;
	}
	return n;
}

static void long_reductions_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases) * 2; i++) {
		struct bed b;
		double gain;

		begin(&b, i % 2 ? "tiny" : "dv910", cases[i / 2].text);
		fill(&b);
		gain = (double)cycles_of(&b, b.whole) / (double)cycles_of(&b, b.p);
		if (i % 2 == 0 && (meetings_of(b.p) != cases[i / 2].meetings || gain < cases[i / 2].gain)) {
			fail_msg("%s: %u meetings, %.2f times as fast", cases[i / 2].text, meetings_of(b.p), gain);
		}
		right_and_clean(&b, 0);
		right_and_clean(&b, i + 1);
		hn_arena_fini(&b.a);
	}
}

/* What is printed is read again, with its scratch. */
static void text_is_the_same_program(void **state)
{
	const struct hn_npu_program *again;
	struct hn_buf text, second;
	struct bed b;

	(void)state;
	begin(&b, "dv910", cases[3].text);
	hn_buf_init(&text);
	hn_buf_init(&second);
	hn_npu_print(b.p, &text);
	assert_int_equal(hn_npu_parse("t", text.s, text.n, &b.a, &again, &b.err), 0);
	hn_npu_print(again, &second);
	assert_string_equal(text.s, second.s);
	assert_true(again->n_buffer == 2 && again->n_scratch == 2);
	for (uint32_t i = 0; i < again->n_section; i++) {
		assert_int_equal(again->section[i].insn[0].line, b.p->section[i].insn[0].line);
	}
	hn_buf_fini(&text);
	hn_buf_fini(&second);
	hn_arena_fini(&b.a);
}

/* Each meeting is needed. */
static void without_a_meeting_it_is_a_race(void **state)
{
	struct hn_npu_options judged = { .judge = true };

	(void)state;
	for (int which = 0; which < 2; which++) {
		const struct hn_npu_program *spoiled;
		struct hn_buf text;
		struct bed b;
		char *at;

		begin(&b, "tiny", cases[3].text);
		hn_buf_init(&text);
		hn_npu_print(b.p, &text);
		assert_true(meetings_of(b.p) == 2);
		at = text.s;
		for (int i = 0; (at = strstr(at + 1, "barrier cores")) != NULL; i++) {
			memcpy(at, i % 2 == which ? "barrier all  " : "barrier cores", 13);
		}
		assert_int_equal(hn_npu_parse("t", text.s, text.n, &b.a, &spoiled, &b.err), 0);
		assert_int_equal(hn_npu_run(spoiled, &b.m, &judged, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		assert_true(b.r.fault == HN_NPU_F_RACE || b.r.fault == HN_NPU_F_UNWRITTEN);
		hn_buf_fini(&text);
		hn_arena_fini(&b.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_reductions_are_right),
		cmocka_unit_test(text_is_the_same_program),
		cmocka_unit_test(without_a_meeting_it_is_a_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
