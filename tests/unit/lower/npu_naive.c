/* The naive program for the NPU: op after op against the interpreter of dags, for what is told to have
 * one and for drawn dags; and that other programs are faster. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "lower/lower.h"
#include "lower/npu/naive.h"
#include "target/npu/npu_run.h"

struct bed {
	struct hn_arena a;
	struct hn_npu_profile m;
	const struct hn_dag *dag;
	const struct hn_npu_steps *s;
	struct hn_err err;
	void **memory, **want; /* [n_op], [n_arg] */
	int64_t cycles;
};

static void begin(struct bed *b, const char *profile, const char *text)
{
	*b = (struct bed){ 0 };
	hn_arena_init(&b->a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &b->m, &b->err), 0);
	if (hn_dag_from_text("t", text, strlen(text), 0, &b->a, &b->dag, &b->err) != 0) {
		fail_msg("%s\n%s", b->err.msg, text);
	}
}

static void arguments(struct bed *b)
{
	struct hn_rng rng = hn_rng_stream(11, 0, 0, 0);

	b->memory = HN_NEW_ARRAY(&b->a, void *, b->dag->n_op);
	b->want = HN_NEW_ARRAY(&b->a, void *, b->dag->n_arg);
	for (uint32_t i = 0; i < b->dag->n_op; i++) {
		const struct hn_op *op = b->dag->op[i];
		int64_t n = hn_op_elements(op);

		b->memory[i] = hn_arena_alloc(&b->a, (size_t)hn_op_bytes(op, 0));
		memset(b->memory[i], 0xff, (size_t)hn_op_bytes(op, 0));
		for (int64_t k = 0; k < n && op->kind == HN_OP_PLACEHOLDER; k++) {
			float v = (float)hn_rng_unit(&rng) * 2 - 1;

			if (op->dtype[0] == HN_F16) {
				((uint16_t *)b->memory[i])[k] = hn_half_of_float(v);
			} else {
				((float *)b->memory[i])[k] = v;
			}
		}
	}
	for (uint32_t i = 0; i < b->dag->n_arg; i++) {
		size_t bytes = (size_t)hn_op_bytes(b->dag->op[b->dag->arg[i]], 0);

		b->want[i] = hn_arena_alloc(&b->a, bytes);
		memcpy(b->want[i], b->memory[b->dag->arg[i]], bytes);
	}
	assert_int_equal(hn_interpret(b->dag, b->want, &b->err), 0);
}

static void compare(const struct bed *b, const char *what)
{
	for (uint32_t i = b->dag->n_input; i < b->dag->n_arg; i++) {
		const struct hn_op *op = b->dag->op[b->dag->arg[i]];
		bool half = op->dtype[0] == HN_F16;
		const void *x = b->memory[b->dag->arg[i]], *y = b->want[i];

		for (int64_t k = 0; k < hn_op_elements(op); k++) {
			float got = half ? hn_half_to_float(((const uint16_t *)x)[k]) : ((const float *)x)[k];
			float want = half ? hn_half_to_float(((const uint16_t *)y)[k]) : ((const float *)y)[k];

			if (!(fabsf(got - want) <= (half ? 4e-3f : 4e-5f) * (1 + fabsf(want)))) {
				fail_msg("%s: result %u, element %lld: %g, not %g", what, i, (long long)k,
					 (double)got, (double)want);
			}
		}
	}
}

/* Numbers, in either tile; what both take. */
static void check(const char *profile, const char *text, int64_t *ret_least, int64_t *ret_most)
{
	int64_t cycles[2];

	for (int tile = HN_NPU_LEAST; tile <= HN_NPU_MOST; tile++) {
		struct bed b;
		int64_t timed = 0;

		begin(&b, profile, text);
		arguments(&b);
		if (hn_npu_naive(b.dag, &b.m, (enum hn_npu_tile)tile, &b.a, &b.s, &b.err) != 0 ||
		    hn_npu_naive_run(b.s, &b.m, b.memory, &b.cycles, &b.err) != 0 ||
		    hn_npu_naive_run(b.s, &b.m, NULL, &timed, &b.err) != 0) {
			fail_msg("%s\n%s", b.err.msg, text);
		}
		compare(&b, text);
		/* one core stands for all: as when each is looked at, but for the odd 512 bytes */
		assert_true(llabs(timed - b.cycles) * 50 <= b.cycles);
		cycles[tile] = timed;
		hn_arena_fini(&b.a);
	}
	*ret_least = cycles[HN_NPU_LEAST];
	*ret_most = cycles[HN_NPU_MOST];
}

static const char softmax[] =
	"s(float32 X[50,40]) -> Y { M(i) max=! X(i,j) E(i,j) = exp(X(i,j) - M(i)) S(i) +=! E(i,j) "
	"Y(i,j) = E(i,j) / S(i) }";
static const char norm[] =
	"n(float16 X[33,96], float32 G[96]) -> (Y, M) { F(i,j) = float32(X(i,j)) S(i) +=! F(i,j) "
	"M(i) = S(i) * 0.0104167 D(i,j) = F(i,j) - M(i) V(i) +=! D(i,j) * D(i,j) "
	"Y(i,j) = float16(D(i,j) * rsqrt(V(i) * 0.0104167 + 0.00001) * G(j)) }";
static const char product[] =
	"p(float16 A[48,32], float16 B[32,80]) -> Y { Y(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }";
/* what no program for the whole dag takes */
static const char after[] =
	"q(float16 A[32,32], float16 B[32,48], float32 C[48]) -> Y { P(i,j) +=! float32(A(i,k)) * "
	"float32(B(k,j)) Z(i,j) = P(i,j) + C(j) Y(i,j) = max(Z(i,j), 0.0) }";

static void numbers_are_the_interpreters(void **state)
{
	static const char *const texts[] = { softmax, norm, product, after };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		int64_t least, most;

		check("tiny", texts[i], &least, &most);
		assert_true(most < least);
	}
}

/* Chains of ops of rows, columns and all of it, drawn: each reads what is there. */
static void drawn(struct hn_rng *rng, char *text, size_t room)
{
	static const char *const functions[] = { "exp(min(%s, 2.0) * 0.5)", "abs(%s)", "max(%s, 0.25)", "(%s * 0.5 + 0.125)",
						 "(1.0 - %s)" };
	int rows = 1 + (int)hn_rng_below(rng, 40), columns = 8 + (int)hn_rng_below(rng, 80);
	int n = 2 + (int)hn_rng_below(rng, 5);
	size_t at;
	char full[24] = "X(i,j)", row[24] = "R(i)";

	at = (size_t)snprintf(text, room, "d(float32 X[%d,%d], float32 R[%d], float32 C[%d]) -> (T%d) {", rows + 8,
			      columns, rows + 8, columns, n);
	for (int k = 0; k < n; k++) {
		const char *other[] = { "X(i,j)", "C(j)", row, full };
		char value[60];

		snprintf(value, sizeof(value), functions[hn_rng_below(rng, HN_COUNT_OF(functions))], full);
		at += (size_t)snprintf(text + at, room - at, " T%d(i,j) = %s %s %s", k, value,
				       hn_rng_below(rng, 2) ? "+" : "*", other[hn_rng_below(rng, 4)]);
		snprintf(full, sizeof(full), "T%d(i,j)", k);
		if (hn_rng_below(rng, 2) != 0) {
			at += (size_t)snprintf(text + at, room - at, " S%d(i) %s %s", k,
					       hn_rng_below(rng, 2) ? "+=!" : "max=!", full);
			at += (size_t)snprintf(text + at, room - at, " N%d(i) = S%d(i) * 0.0625 + %s", k, k, row);
			snprintf(row, sizeof(row), "N%d(i)", k);
		}
	}
	snprintf(text + at, room - at, " T%d(i,j) = %s * %s + C(j) }", n, full, row);
}

static void drawn_dags_have_the_interpreters_numbers(void **state)
{
	struct hn_rng rng = hn_rng_stream(3, 0, 0, 0);

	(void)state;
	for (int i = 0; i < 60; i++) {
		int64_t least, most;
		char text[2000];

		drawn(&rng, text, sizeof(text));
		check("tiny", text, &least, &most);
	}
}

static void others_are_faster(void **state)
{
	struct bed b;
	const struct hn_npu_options o = { 0 };
	const struct hn_npu_program *p;
	struct hn_npu_result r;
	int64_t least, most;

	(void)state;
	begin(&b, "dv910",
	      "s(float32 X[4096,512]) -> Y { M(i) max=! X(i,j) E(i,j) = exp(X(i,j) - M(i)) S(i) +=! E(i,j) "
	      "Y(i,j) = E(i,j) / S(i) }");
	assert_int_equal(hn_npu_naive(b.dag, &b.m, HN_NPU_LEAST, &b.a, &b.s, &b.err), 0);
	assert_int_equal(b.s->n, 4);
	assert_int_equal(hn_npu_naive_run(b.s, &b.m, NULL, &least, &b.err), 0);
	assert_int_equal(hn_npu_naive(b.dag, &b.m, HN_NPU_MOST, &b.a, &b.s, &b.err), 0);
	assert_int_equal(hn_npu_naive_run(b.s, &b.m, NULL, &most, &b.err), 0);
	assert_int_equal(hn_npu_tuned(b.dag, &b.m, &b.a, &p, &b.err), 0);
	assert_int_equal(hn_npu_run(p, &b.m, &o, &b.a, &r, &b.err), 0);
	print_message("least tiles %lld, largest tiles %lld, tuned %lld cycles\n", (long long)least,
		      (long long)most, (long long)r.cycles);
	assert_true(r.cycles < most && most < least);
	hn_arena_fini(&b.a);
}

static void what_has_no_program_is_told(void **state)
{
	struct bed b;

	(void)state;
	begin(&b, "tiny", "t(float64 X[16,8]) -> Y { Z(i,j) = X(i,j) + 1.0 Y(i,j) = Z(i,j) * 2.0 }");
	assert_int_equal(hn_npu_naive(b.dag, &b.m, HN_NPU_LEAST, &b.a, &b.s, &b.err), -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(b.err.msg, "by itself: "));
	hn_arena_fini(&b.a);
}

static double counted(const char *text)
{
	struct bed b;
	double ns;

	begin(&b, "dv910", text);
	ns = hn_build_counted("npu", b.dag);
	hn_arena_fini(&b.a);
	return ns;
}

/* A builder answers within seconds: what would take longer is not counted. */
static void large_ones_are_not_counted(void **state)
{
	(void)state;
	assert_true(counted("f(float16 A[512,512], B[512,512]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }") > 0);
	assert_true(counted("f(float16 A[8192,8192], B[8192,8192]) -> C { "
			    "C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }") == 0);
	assert_true(counted("f(float32 A[4096,4096], B[4096,4096]) -> C { C(i,j) +=! A(i,k) * B(j,k) }") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_interpreters),
		cmocka_unit_test(drawn_dags_have_the_interpreters_numbers),
		cmocka_unit_test(others_are_faster),
		cmocka_unit_test(what_has_no_program_is_told),
		cmocka_unit_test(large_ones_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
