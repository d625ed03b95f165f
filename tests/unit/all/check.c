/* What kernels are checked on when they are made (lower/build/check.h), and who runs it
 * (measure/board/check.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/state.h"
#include "lower/build/check.h"
#include "measure/board/check.h"
#include "proto/frame.h"

static char path[] = "/tmp/hone-check-XXXXXX";

static const struct hn_dag *parse(const char *text, struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err;

	if (hn_dag_parse_sized("t", text, strlen(text), 0, a, &dag, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

static bool is_prime(int64_t n)
{
	for (int64_t d = 2; d * d <= n; d++) {
		if (n % d == 0) {
			return false;
		}
	}
	return n > 1;
}

static void sizes_go_to_the_ends(void **state)
{
	int64_t value[HN_DAG_MAX_SIZES];
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = parse("f(N in [3, 100000], M in [1, 70], float32 A[N,M]) -> B "
					 "{ B(i,j) = A(i,j) * 2 }", &a);
	const struct hn_dag *large = parse("f(N in [1, 4096], float32 A[N,N], float32 B[N,N]) -> C "
					   "{ C(i,j) +=! A(i,k) * B(k,j) }", &a);

	for (uint32_t i = 0; i < HN_CHECK_CASES; i++) {
		hn_check_sizes(dag, i, value);
		assert_in_range(value[0], 3, 100000);
		assert_in_range(value[1], 1, 70);
		assert_true(i != 0 || (value[0] == 3 && value[1] == 1));
		assert_true(i != 1 || (value[0] == 100000 && value[1] == 70));
		assert_true(i != 3 || (is_prime(value[0]) && is_prime(value[1])));
		hn_check_sizes(large, i, value);
		assert_in_range(value[0], 1, 300); /* of each case some milliseconds */
	}
	hn_arena_fini(&a);
}

static void integers_are_of_the_whole_range(void **state)
{
	static int8_t x[4000];
	bool met[256] = { false };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	const struct hn_dag *dag = parse("f(int8 A[4000]) -> B { B(i) = A(i) }", &a);

	hn_check_fill(dag, dag->op[0], 0, 1, false, x);
	for (int i = 0; i < 4000; i++) {
		met[(uint8_t)x[i]] = true;
	}
	for (int i = 0; i < 256; i++) {
		assert_true(met[i]);
	}
	hn_check_fill(dag, dag->op[0], 0, 1, true, x);
	for (int i = 0; i < 4000; i++) {
		assert_int_not_equal(x[i], 0);
	}
	hn_arena_fini(&a);
}

/* The file for the program as it is written, or for another that should be the same. */
static void write_file(const char *text, const char *compiled)
{
	static struct hn_emitter *emitter;
	const struct hn_looptree *tree;
	const struct hn_emit_options options = { .symbol = "k" };
	struct hn_artefact artefact;
	struct hn_target host;
	struct hn_arena a;
	struct hn_err err = { 0 };

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	if (emitter == NULL && hn_emitter_new(&host, &emitter, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	if (hn_looptree_build(hn_state_init(parse(compiled, &a), &a), &a, &tree, &err) != 0 ||
	    hn_emit(emitter, tree, &options, &a, &artefact, &err) != 0 ||
	    hn_check_write(path, parse(text, &a), NULL, "k", &artefact, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	hn_arena_fini(&a);
}

static int run_file(struct hn_buf *json)
{
	struct hn_err err = { 0 };
	int rc;

	hn_buf_reset(json);
	rc = hn_check_run(path, json, &err);
	if (rc != 0) {
		assert_true(err.msg[0] != '\0');
		assert_null(strchr(err.msg, '\n'));
	}
	return rc;
}

/* Programs, others that a wrong transform might make of them, and what is then said. */
static const struct {
	const char *text, *instead, *said;
} wrong[] = {
	{ "f(int32 A[99]) -> B { B(i) = A(i) / 65536 / 65536 }",
	  "f(int32 A[99]) -> B { B(i) = A(i) - A(i) }", "\"B[" },
	{ "f(int32 A[99]) -> B { B(i) = min(A(i) + 1000000000, A(i)) }",
	  "f(int32 A[99]) -> B { B(i) = A(i) }", "\"B[" },
	{ "f(int32 A[99]) -> B { B(i) = floordiv(A(i) * 6, 3) }",
	  "f(int32 A[99]) -> B { B(i) = A(i) * 2 }", "\"B[" },
	{ "f(int32 A[99]) -> B { B(i) = int64(A(i) + A(i)) }",
	  "f(int32 A[99]) -> B { B(i) = int64(A(i)) * 2 }", "\"B[" },
	{ "f(float32 A[99,64]) -> B { B(i) +=! A(i,k) where k in 0:64 }",
	  "f(float32 A[99,64]) -> B { B(i) +=! A(i,k) where k in 0:63 }", "\"B[0]: got " },
	/* one unit of few bits: towards zero, by way of another type, no saturation, a zero point */
	{ "f(bfloat16 A[9,30], b[9]) -> B { S(i) +=! float32(A(i,k))\n"
	  "  B(i) = bfloat16(S(i) + float32(b(i))) }",
	  "f(bfloat16 A[9,30], b[9]) -> B { S(i) +=! float32(A(i,k))\n"
	  "  T(i) = S(i) + float32(b(i))\n"
	  "  B(i) = bfloat16(abs(float32(bfloat16(T(i)))) > abs(T(i)) ? float32(bfloat16(T(i))) * "
	  "0.99609375 : T(i)) }",
	  "\"B[" },
	{ "f(float32 A[99]) -> B { B(i) = bfloat16(A(i) * 3) }",
	  "f(float32 A[99]) -> B { B(i) = bfloat16(float16(A(i) * 3)) }", "\"B[" },
	{ "f(float32 A[99]) -> B { B(i) = int8(nearbyint(A(i) * 100)) }",
	  "f(float32 A[99]) -> B { B(i) = int8(int32(nearbyint(A(i) * 100))) }", "\"B[" },
	{ "f(uint8 A[9,30], int8 B[30,5], float32 s[5]) -> Y { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(k,j))\n  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j)) * s(j)) + 3, -128), 127)) }",
	  "f(uint8 A[9,30], int8 B[30,5], float32 s[5]) -> Y { C(i,j) +=! int32(A(i,k)) * "
	  "int32(B(k,j))\n  Y(i,j) = int8(min(max(round(float32(C(i,j)) * s(j)) + 3, -128), 127)) }",
	  "\"Y[" },
	{ "f(N in [1, 50], float32 A[N]) -> B { B(i) = A(i) }",
	  "f(N in [1, 50], float32 A[N]) -> B { B(i) = i >= 37 ? 0 : A(i) }", "\"B[37]: got 0, want " },
};

static void wrong_kernels_are_found(void **state)
{
	struct hn_buf json;

	(void)state;
	hn_buf_init(&json);
	for (size_t i = 0; i < HN_COUNT_OF(wrong); i++) {
		write_file(wrong[i].text, wrong[i].text);
		assert_int_equal(run_file(&json), 0);
		if (strstr(json.s, "\"verdict\":\"OK\"") == NULL ||
		    strstr(json.s, "\"inputs\":\"ordinary\"") == NULL) {
			fail_msg("%s: %s", wrong[i].text, json.s);
		}
		write_file(wrong[i].text, wrong[i].instead);
		assert_int_equal(run_file(&json), 0);
		if (strstr(json.s, "\"WRONG_RESULT\"") == NULL ||
		    strstr(json.s, wrong[i].said) == NULL) {
			fail_msg("%s: %s", wrong[i].instead, json.s);
		}
	}
	hn_buf_fini(&json);
}

/* What the emitter makes of each integer type, up to its ends: orders, quotients, conversions. */
static void integers_of_all_types_are_right(void **state)
{
	static const char *const type[] = { "int8",  "int16",  "int32",  "int64",
					    "uint8", "uint16", "uint32", "uint64" };
	struct hn_buf text, json;

	(void)state;
	hn_buf_init(&text);
	hn_buf_init(&json);
	for (size_t i = 0; i < HN_COUNT_OF(type); i++) {
		hn_buf_reset(&text);
		hn_buf_printf(&text,
			      "f(%s A[9,37], %s B[9,37]) -> C, D, E, F, G, H, I { "
			      "C(i,j) = max(A(i,j), B(i,j)) D(i,j) = min(A(i,j), B(i,j)) "
			      "E(i,j) = A(i,j) < B(i,j) F(i,j) = B(i,j) != 0 ? floordiv(A(i,j), 7) : A(i,j) "
			      "G(i,j) = int64(A(i,j)) H(i) max=! A(i,k) I(i) min=! A(i,k) }",
			      type[i], type[i]);
		write_file(text.s, text.s);
		assert_int_equal(run_file(&json), 0);
		if (strstr(json.s, "\"OK\"") == NULL ||
		    strstr(json.s, "\"elements\":") == NULL) {
			fail_msg("%s: %s", text.s, json.s);
		}
	}
	hn_buf_fini(&text);
	hn_buf_fini(&json);
}

/* What right kernels need not agree on is not held against one. */
static void the_uncertain_is_not_compared(void **state)
{
	static const char *const text[][2] = {
		{ "f(float32 A[99]) -> B { B(i) = int8(A(i) * 1000) }", "\"elements\":" },
		{ "f(float32 A[50,99]) -> B { B(i) = A(i,0) / (A(i,0) - A(i,0)) }", "\"cases\":[]" },
		{ "f(int32 A[99]) -> B { B(i) = floordiv(A(i), A(i) - A(i)) }", "\"cases\":[]" },
		{ "f(float32 A[99]) -> B { B(i) = (A(i) * 100000000 + 1) - A(i) * 100000000 }",
		  "\"elements\":" },
	};
	struct hn_buf json;

	(void)state;
	hn_buf_init(&json);
	for (size_t i = 0; i < HN_COUNT_OF(text); i++) {
		write_file(text[i][0], text[i][0]);
		assert_int_equal(run_file(&json), 0);
		if (strstr(json.s, "\"OK\"") == NULL || strstr(json.s, text[i][1]) == NULL) {
			fail_msg("%s: %s", text[i][0], json.s);
		}
	}
	hn_buf_fini(&json);
}

/* How many inputs are tried is the computation's own: not the machine's, nor how busy it is. */
static void cases_are_of_the_dag_alone(void **state)
{
	static const struct {
		const char *text;
		uint32_t first, end;
	} want[] = {
		{ "f(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0, 3 },
		{ "f(int8 A[4000]) -> B { B(i) = A(i) }", 0, 5 },
		{ "f(float32 A[1024,512], float32 B[512,1024]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0, 1 },
		{ "f(float32 A[1048576,3]) -> B { B(i,j) = A(i,j) }", 0, 1 }, /* 24 MiB */
		{ "f(int32 A[1048576,3]) -> B { B(i,j) = A(i,j) }", 1, 2 },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		uint32_t first, end;

		hn_check_plan(parse(want[i].text, &a), &first, &end);
		assert_int_equal(first, want[i].first);
		assert_int_equal(end, want[i].end);
	}
	hn_arena_fini(&a);
}

/* A file that is none, or another's: an error in one line, or a verdict. */
static void bad_files_are_refused(void **state)
{
	struct hn_rng r = hn_rng_stream(3, 0, 0, 0);
	struct hn_buf whole, json, bad;
	struct hn_err err;

	(void)state;
	hn_buf_init(&whole);
	hn_buf_init(&json);
	hn_buf_init(&bad);
	write_file(wrong[HN_COUNT_OF(wrong) - 1].text, wrong[HN_COUNT_OF(wrong) - 1].text);
	assert_int_equal(hn_file_read(path, 1 << 24, &whole, &err), 0);
	uint32_t kernel_bytes;

	memcpy(&kernel_bytes, whole.s, 4); /* a frame's first member: of what follows its header */
	kernel_bytes += HN_FRAME_HEADER_BYTES; /* other machine code may do anything: also hang */
	for (int i = 0; i < 200; i++) {
		hn_buf_reset(&bad);
		hn_buf_add(&bad, whole.s,
			   i % 2 == 0 ? whole.n : (size_t)hn_rng_below(&r, whole.n));
		for (int k = 0; i % 2 == 0 && k < 3; k++) {
			bad.s[kernel_bytes + hn_rng_below(&r, bad.n - kernel_bytes)] ^= (char)(1 << hn_rng_below(&r, 8));
		}
		assert_int_equal(hn_file_replace(path, bad.s, bad.n, &err), 0);
		(void)run_file(&json);
	}
	assert_int_equal(hn_file_replace(path, "", 0, &err), 0);
	assert_int_not_equal(run_file(&json), 0);
	hn_buf_fini(&whole);
	hn_buf_fini(&json);
	hn_buf_fini(&bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_go_to_the_ends),
		cmocka_unit_test(integers_are_of_the_whole_range),
		cmocka_unit_test(wrong_kernels_are_found),
		cmocka_unit_test(integers_of_all_types_are_right),
		cmocka_unit_test(the_uncertain_is_not_compared),
		cmocka_unit_test(cases_are_of_the_dag_alone),
		cmocka_unit_test(bad_files_are_refused),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0) {
		return 1;
	}
	close(fd);
	rc = cmocka_run_group_tests_name("check", tests, NULL, NULL);
	unlink(path);
	return rc;
}
