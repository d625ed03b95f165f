/* How many repeats the NPU's vector unit takes for rows that are shorter than one: blocks of a repeat are
 * eight rows, so few lanes have nothing to do.  The numbers are the interpreter's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/npu_bed.h"

static const struct hn_npu_plan plan = { .order = HN_NPU_FLAGS, .slots = 2, .reuse = true };

/* Of all cores, of instructions `op`. */
static int64_t repeats(const struct hn_npu_program *p, uint8_t op)
{
	int64_t n = 0;

	for (uint32_t s = 0; s < p->n_section; s++) {
		for (uint32_t i = 0; i < p->section[s].n_insn; i++) {
			const struct hn_npu_insn *in = &p->section[s].insn[i];

			n += in->op == op ? in->number[0].imm * p->section[s].n_core : 0;
		}
	}
	return n;
}

static int64_t repeats_of(const char *text, uint8_t op)
{
	const struct hn_npu_program *p;
	const struct hn_dag *dag;
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct npu_bed b;
	struct hn_arena a;
	int64_t n;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &b.err), 0);
	if (hn_dag_from_text("t", text, strlen(text), 0, &a, &dag, &b.err) != 0) {
		fail_msg("%s\n%s", b.err.msg, text);
	}
	assert_int_equal(npu_bed_open(&b, dag, &m, 1), 0);
	if (hn_npu_program(dag, &m, &plan, &a, &p, &b.err) != 0 || npu_bed_run(&b, p, 7, true, &a, &r) != 0 ||
	    npu_bed_compare(&b) < 0) {
		fail_msg("%s\n%s", b.err.msg, text);
	}
	n = repeats(p, op);
	npu_bed_close(&b);
	hn_arena_fini(&a);
	return n;
}

static void short_rows_share_a_repeat(void **state)
{
	static const struct {
		const char *text;
		uint8_t op;
		int64_t most; /* an eighth more than rows that have no ends would take */
	} cases[] = {
		/* a number for each row: 512 rows of 16, 64 lanes */
		{ "f(float32 X[512,16], float32 R[512]) -> C { C(i,j) = X(i,j) - R(i) }", HN_NPU_I_SUB, 144 },
		{ "f(float16 X[512,16], float16 R[512]) -> C { C(i,j) = X(i,j) - R(i) }", HN_NPU_I_SUB, 72 },
		/* a row for all, and rows that end within a block */
		{ "f(float32 X[512,16], float32 R[16]) -> C { C(i,j) = X(i,j) * R(j) }", HN_NPU_I_MUL, 144 },
		{ "f(float32 X[504,13], float32 R[504]) -> C { C(i,j) = X(i,j) - R(i) }", HN_NPU_I_SUB, 144 },
		{ "f(float16 X[504,9], float16 R[504]) -> C { C(i,j) = X(i,j) - R(i) }", HN_NPU_I_SUB, 72 },
		/* fractals: rows of 16 are a matrix's, 4 of them next to each other in memory */
		{ "f(float32 X[4,128,16], float32 R[128]) -> C { C(n,i,j) = X(n,i,j) / R(i) }", HN_NPU_I_DIV, 144 },
		/* and long ones, which fill repeats by themselves */
		{ "f(float32 X[64,128], float32 R[64]) -> C { C(i,j) = X(i,j) - R(i) }", HN_NPU_I_SUB, 144 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		int64_t n = repeats_of(cases[i].text, cases[i].op);

		if (n == 0 || n > cases[i].most) {
			fail_msg("%lld repeats, not %lld: %s", (long long)n, (long long)cases[i].most, cases[i].text);
		}
	}
}

static void sums_of_short_rows_fill_a_repeat(void **state)
{
	static const struct {
		const char *text;
		uint8_t op;
		int64_t most; /* an eighth more than all lanes take */
	} cases[] = {
		{ "f(float32 X[6000,16]) -> C { C(j) +=! X(i,j) }", HN_NPU_I_ADD, 1690 },
		{ "f(float16 X[6000,16]) -> C { C(j) max=! X(i,j) }", HN_NPU_I_MAX, 845 },
		/* two rows of 24 at a time, and rows that are not filled up */
		{ "f(float32 X[5999,24]) -> C { C(j) +=! X(i,j) }", HN_NPU_I_ADD, 3375 },
		{ "f(float32 X[4001,3]) -> C { C(j) min=! X(i,j) }", HN_NPU_I_MIN, 563 },
		/* three results, each of rows that follow each other; and a sum of two dimensions */
		{ "f(float32 X[3,2000,16]) -> C { C(b,j) +=! X(b,i,j) }", HN_NPU_I_ADD, 1690 },
		{ "f(float32 X[60,100,16]) -> C { C(j) +=! X(b,i,j) }", HN_NPU_I_ADD, 1690 },
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(cases); i++) {
		int64_t n = repeats_of(cases[i].text, cases[i].op);

		if (n == 0 || n > cases[i].most) {
			fail_msg("%lld repeats, not %lld: %s", (long long)n, (long long)cases[i].most, cases[i].text);
		}
	}
}

/* What is compared is of one row, whatever the rows that are chosen from. */
static void what_a_row_says_is_compared_once(void **state)
{
	static const char *const texts[] = {
		"f(float32 X[64,128], float32 V[128]) -> C { C(i,j) = (V(j) > 0.5 ? X(i,j) : -1.0) }",
		"f(float32 X[64,100], float32 V[100]) -> C { C(i,j) = (V(j) > 0.5 ? X(i,j) : -1.0) }",
		"f(float32 X[3,16,700], float32 V[700]) -> C { C(h,i,j) = (V(j) > 0.5 ? X(h,i,j) : V(j)) }",
		"f(float32 X[64,40], float32 V[40]) -> C { C(i,j) = (V(j) > 0.5 ? X(i,j) : -1.0) }",
	};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		int64_t n = repeats_of(texts[i], HN_NPU_I_CMPGT);

		if (n > 24) { /* two cores, a few tiles each */
			fail_msg("%lld repeats: %s", (long long)n, texts[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_rows_share_a_repeat),
		cmocka_unit_test(sums_of_short_rows_fill_a_repeat),
		cmocka_unit_test(what_a_row_says_is_compared_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
