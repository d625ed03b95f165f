/* The tiles that a history says: any lengths make a program, which fits and has no race. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

#define DRAWS 24

static const char *const dags[] = {
	"t(float16 A[200,96], float16 B[96,130]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }",
	"t(float16 A[6,48,40], float16 B[6,64,40], float32 b[64]) -> D {"
	" C(b0,i,j) +=! float32(A(b0,i,k)) * float32(B(b0,j,k)) D(b0,i,j) = max(C(b0,i,j) + b(j), 0.0) }",
	"t(float16 X[1,10,12,32], float16 W[32,3,3,32]) -> Y {"
	" Y(n,h,w,f) +=! float32(X(n,h+r,w+s,c)) * float32(W(f,r,s,c)) where h in 0:8, w in 0:10 }",
	"t(float32 A[5000,133]) -> N { M(i) max=! A(i,k) E(i,j) = exp(A(i,j) - M(i))"
	" S(i) +=! E(i,k) N(i,j) = E(i,j) / S(i) }",
	"t(float16 A[500000], float16 B[500000]) -> C { C(i) = A(i) * B(i) + float16(1) }",
	"t(float32 A[7,500,33]) -> S, B { S(j) +=! A(i,j,k) B(i,k,j) = A(i,j,k) * S(j) }",
};

static const struct hn_dag *read_dag(struct hn_arena *a, const char *text)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* Up to `most`, small ones as often as large ones. */
static int64_t length(struct hn_rng *r, uint64_t most)
{
	uint64_t n = most;

	while (n > 1 && hn_rng_below(r, 4) > 0) {
		n /= 2;
	}
	return 1 + (int64_t)hn_rng_below(r, n);
}

/* Any lengths: of one, of more than there is, and between. */
static struct hn_npu_tiles drawn(const struct hn_dag *dag, struct hn_rng *r)
{
	struct hn_npu_tiles t = { .op = hn_npu_widest(dag), .slots = 1 + (uint32_t)hn_rng_below(r, 2) };
	const struct hn_op *op = dag->op[t.op];

	t.n_axis = op->n_spatial + op->n_reduce;
	for (uint32_t i = 0; i < t.n_axis; i++) {
		uint64_t extent = (uint64_t)op->axis[i].extent;

		if (extent > 1) {
			t.axis[i].tile = length(r, 2 * extent);
			t.axis[i].times = length(r, extent);
			t.axis[i].parts = length(r, extent);
		}
	}
	return t;
}

static void check(const char *profile, const struct hn_dag *dag, const struct hn_npu_tiles *t, int64_t *cycles)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true, .tiles = t };
	const struct hn_npu_options o = { .judge = true };
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of(profile, &m, &err), 0);
	if (hn_npu_program(dag, &m, &plan, &a, &p, &err) != 0 || hn_npu_run(p, &m, &o, &a, &r, &err) != 0) {
		fail_msg("%s: %s", profile, err.msg);
	}
	*cycles = r.cycles;
	hn_arena_fini(&a);
}

static void any_lengths_make_a_program(void **state)
{
	(void)state;
	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		int64_t least = INT64_MAX, most = 0;
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *dag = read_dag(&a, dags[d]);
		for (uint64_t i = 0; i < DRAWS; i++) {
			struct hn_rng r = hn_rng_stream(3, d, i, 0);
			struct hn_npu_tiles t = drawn(dag, &r);
			int64_t cycles;

			check(i % 2 == 0 ? "dv910" : "tiny", dag, &t, &cycles);
			least = i % 2 == 0 && cycles < least ? cycles : least;
			most = i % 2 == 0 && cycles > most ? cycles : most;
		}
		print_message("%zu: %lld to %lld cycles\n", d, (long long)least, (long long)most);
		assert_true(most > least + 300); /* the tiles do decide: more than two loads wait */
		hn_arena_fini(&a);
	}
}

/* Of the smallest buffer that one slot fits in, two do not. */
static void no_room_for_two_slots(void **state)
{
	const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	m.ub_bytes = 512;
	const struct hn_dag *dag = read_dag(&a, "t(float32 A[8,8]) -> B { B(i,j) = A(j,i) * 2 }");
	assert_int_equal(hn_npu_vector(dag, &m, &plan, &a, &p, NULL, &err), -HONE_E_UNSUPPORTED);
	assert_int_equal(hn_npu_program(dag, &m, &plan, &a, &p, &err), 0);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_lengths_make_a_program),
		cmocka_unit_test(no_room_for_two_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
