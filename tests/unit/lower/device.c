/* Device programs by hand: faults of each kind are refused with their reason, by the verifier and,
 * where they show, by the interpreter; the text's errors name their line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "tests/lib/gpu_bed.h"

#define LIMIT_MS 20000
#define FUEL 1000000

static int set_up(void **state)
{
	return gpu_bed(state, "cuda");
}

/* Three global tensors of 64 floats, and a kernel of 2 blocks of 8 threads. */
#define HEAD "device/1\n"                                                                        \
	     "global A float32[64] arg 0\nglobal B float32[64] arg 1\nglobal T float32[64]\n"     \
	     "shared S float32[8]\nlocal L float32[4]\n"
#define KERNEL(body) HEAD "kernel k grid 2 1 1 block 8 1 1 {\n" body "}\n"

static const struct hn_device *read_text(struct bed *b, const char *text)
{
	const struct hn_device *d;
	struct hn_err err;

	if (hn_device_parse("t", text, strlen(text), &b->a, &d, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	return d;
}

static int run(const struct hn_device *d, float *out, struct hn_err *err)
{
	static float in[64];
	void *arg[] = { in, out };

	for (int i = 0; i < 64; i++) {
		in[i] = (float)i;
	}
	return hn_device_interpret(d, arg, 0, FUEL, err);
}

/* verify, run: parts of what each says; NULL: nothing is wrong. */
static void expect(struct bed *b, const char *body, const char *verify, const char *runs)
{
	const struct hn_device *d = read_text(b, body);
	struct hn_err err = { 0 };
	float out[64];

	int rc = hn_device_verify(d, &b->gpu, LIMIT_MS, &err);

	if (verify == NULL ? rc != 0 : rc != -HONE_E_INVALID || !strstr(err.msg, verify)) {
		fail_msg("the verifier: %d (%s), expected: %s\n%s", rc, err.msg,
			 verify ? verify : "right", body);
	}
	err.msg[0] = '\0';
	rc = run(d, out, &err);
	if (runs == NULL ? rc != 0 : rc != -HONE_E_INVALID || !strstr(err.msg, runs)) {
		fail_msg("the interpreter: %d (%s), expected: %s\n%s", rc, err.msg,
			 runs ? runs : "right", body);
	}
}

#define FILL "  S[thread.x] = A[((block.x * 8) + thread.x)]\n"
#define TURN "  B[((block.x * 8) + thread.x)] = S[(7 - thread.x)]\n"

static void a_missing_barrier_is_found(void **state)
{
	struct bed *b = *state;

	expect(b, KERNEL(FILL "  barrier\n" TURN), NULL, NULL);
	expect(b, KERNEL(FILL TURN),
	       "kernel k: statement 1 writes S and statement 2 reads it: two threads may meet in an "
	       "element, with no barrier between",
	       "thread 0 reads S[7] before it is written");
	/* from an iteration to the next */
	expect(b, KERNEL("  for v6 2 {\n  " FILL "    barrier\n  " TURN "    barrier\n  }\n"), NULL,
	       NULL);
	expect(b, KERNEL("  for v6 2 {\n  " FILL "    barrier\n  " TURN "  }\n"),
	       "two threads may meet in an element, with no barrier between", "S[0] is");
	expect(b, KERNEL("  for v6 2 {\n    barrier\n  " FILL TURN "  }\n"),
	       "statement 1 writes S and statement 2 reads it", "S[7] is written by thread 7");
	/* each thread reads its own */
	expect(b, KERNEL(FILL "  B[((block.x * 8) + thread.x)] = S[thread.x]\n"), NULL, NULL);
	/* global memory, within a block */
	expect(b, KERNEL("  T[((block.x * 8) + thread.x)] = 1.0\n"
			 "  B[((block.x * 8) + thread.x)] = T[((block.x * 8) + (7 - thread.x))]\n"),
	       "statement 1 writes T and statement 2 reads it: two threads may meet in an element",
	       "thread 0 reads T[7] before it is written");
	/* one that not all come by */
	struct hn_err err;
	const struct hn_device *d;
	const char *text = KERNEL("  if (thread.x < 4) {\n    barrier\n  }\n");

	assert_int_equal(hn_device_parse("t", text, strlen(text), &b->a, &d, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "a barrier stands under a condition"));
}

static void a_race_on_each_number_is_found(void **state)
{
	static const char *const number[] = { "block.x",  "block.y",  "block.z",
					      "thread.x", "thread.y", "thread.z" };
	struct bed *b = *state;

	for (int i = 0; i < 6; i++) {
		char text[600], why[120];
		int64_t n[6] = { 1, 1, 1, 1, 1, 1 };

		n[i] = 4;
		snprintf(text, sizeof(text),
			 HEAD "kernel k grid %d %d %d block %d %d %d {\n  B[floordiv(%s, 2)] = 1.0\n}\n",
			 (int)n[0], (int)n[1], (int)n[2], (int)n[3], (int)n[4], (int)n[5], number[i]);
		snprintf(why, sizeof(why), "statement 1: two %s may write one element of B",
			 i < 3 ? "blocks" : "threads");
		expect(b, text, why, i < 3 ? "B[0] is written by one block and written by another"
					   : "B[0] is written by thread 0 and written by thread 1");
		snprintf(text, sizeof(text),
			 HEAD "kernel k grid %d %d %d block %d %d %d {\n  B[%s] = 1.0\n}\n",
			 (int)n[0], (int)n[1], (int)n[2], (int)n[3], (int)n[4], (int)n[5], number[i]);
		expect(b, text, NULL, NULL);
	}
	/* no number at all; and all but one left out */
	expect(b, KERNEL("  B[0] = 1.0\n"), "two blocks may write one element of B", "B[0] is written");
	expect(b, KERNEL("  if (thread.x < 1) {\n    B[block.x] = 1.0\n  }\n"), NULL, NULL);
	expect(b, KERNEL("  if (thread.x < 2) {\n    B[block.x] = 1.0\n  }\n"),
	       "two threads may write one element of B", "B[0] is written by thread 0");
	/* halves that meet in the middle */
	expect(b, KERNEL(FILL "  barrier\n  if (thread.x < 4) {\n"
			      "    S[thread.x] = (S[thread.x] + S[(thread.x + 4)])\n  }\n"),
	       NULL, NULL);
	expect(b, KERNEL(FILL "  barrier\n  if (thread.x < 5) {\n"
			      "    S[thread.x] = (S[thread.x] + S[(thread.x + 3)])\n  }\n"),
	       "statement 2 writes S and statement 2 reads it", "S[3] is");
}

#define FLY "  async S[thread.x] = A[((block.x * 8) + thread.x)]\n"
#define UNWAITED "before an asynchronous copy to it has been waited for"
#define FLIES "before a copy to it has been waited for"

/* Rows of 7, written by tiles of 4 that reach past their end. */
static void rows_end_where_conditions_say(void **state)
{
	static const char form[] = HEAD "kernel k grid 2 4 1 block 4 1 1 {\n"
					"  if (((block.x * 4) + thread.x) < %d) {\n"
					"    B[((block.y * 7) + ((block.x * 4) + thread.x))] = 1.0\n"
					"  }\n}\n";
	struct bed *b = *state;
	char text[700];

	snprintf(text, sizeof(text), form, 7);
	expect(b, text, NULL, NULL);
	snprintf(text, sizeof(text), form, 8);
	expect(b, text, "statement 1: two blocks may write one element of B",
	       "written by one block and written by another");
}

static void copies_are_waited_for(void **state)
{
	struct bed *b = *state;

	expect(b, KERNEL(FLY "  commit\n  wait 0\n  barrier\n" TURN), NULL, NULL);
	/* no wait, one for all but the one, none for what is in no group, the barrier before it */
	expect(b, KERNEL(FLY "  commit\n  barrier\n" TURN), "statement 2 reads S " UNWAITED, FLIES);
	expect(b, KERNEL(FLY "  commit\n  wait 1\n  barrier\n" TURN), UNWAITED, FLIES);
	expect(b, KERNEL(FLY "  wait 0\n  barrier\n" TURN), UNWAITED, FLIES);
	expect(b, KERNEL(FLY "  commit\n  barrier\n  wait 0\n" TURN), UNWAITED, "with no barrier between");
	expect(b, KERNEL(FLY "  commit\n  barrier\n" FILL "  barrier\n" TURN),
	       "statement 2 writes S " UNWAITED, FLIES);
	/* who still reads the place when the copy begins */
	expect(b, KERNEL(FILL "  barrier\n" TURN FLY "  commit\n  wait 0\n  barrier\n" TURN),
	       "two threads may meet", "with no barrier between");
	/* a group more has begun since */
	expect(b, KERNEL(FLY "  commit\n  commit\n  wait 1\n  barrier\n" TURN), NULL, NULL);
	/* in a loop, of two copies of a place: the one of this iteration, not of the next */
#define RING(first, wait, at)                                                                    \
	"device/1\nglobal A float32[64] arg 0\nglobal B float32[64] arg 1\n"                    \
	"shared S float32[16]\nkernel k grid 1 1 1 block 8 1 1 {\n"                              \
	"  async S[thread.x] = A[thread.x]\n" first "  for v6 8 {\n" wait                         \
	"    barrier\n    if (v6 < 7) {\n"                                                         \
	"      async S[(thread.x + (floormod((v6 + 1), 2) * 8))] = A[(((v6 * 8) + thread.x) + 8)]\n" \
	"    }\n    commit\n"                                                                      \
	"    B[((v6 * 8) + thread.x)] = S[((7 - thread.x) + (floormod(" at ", 2) * 8))]\n  }\n}\n"
	expect(b, RING("  commit\n", "    wait 0\n", "v6"), NULL, NULL);
	expect(b, RING("  commit\n", "    wait 1\n", "v6"), "reads S " UNWAITED, FLIES);
	expect(b, RING("", "    wait 0\n", "v6"), "reads S " UNWAITED, FLIES);
	expect(b, RING("  commit\n", "    wait 0\n", "(v6 + 1)"), "may meet", FLIES);
}

static void copies_have_a_form(void **state)
{
	struct bed *b = *state;
	static const struct {
		const char *body, *why;
	} row[] = {
		{ KERNEL("  async B[thread.x] = A[thread.x]\n"), "none from global to shared memory" },
		{ KERNEL("  async S[thread.x] = 1.0\n"), "none from global to shared memory" },
		{ KERNEL("  async S[thread.x] = (A[thread.x] + 1.0)\n"), "none from global to shared" },
		{ KERNEL("  if (thread.x < 4) {\n    commit\n  }\n"), "stands under a condition" },
		{ KERNEL("  if (thread.x < 4) {\n    wait 0\n  }\n"), "stands under a condition" },
		{ KERNEL("  wait -1\n"), "all but -1 groups" },
		{ KERNEL("  wait 65\n"), "all but 65 groups" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_device *d;
		struct hn_err err;

		assert_true(hn_device_parse("t", row[i].body, strlen(row[i].body), &b->a, &d, &err) < 0);
		if (strstr(err.msg, row[i].why) == NULL) {
			fail_msg("%s\n%s", err.msg, row[i].body);
		}
	}
}

/* Numbers at their limits: what counts them does not wrap, nor stop counting. */
static void long_programs_are_judged(void **state)
{
	struct bed *b = *state;
	const struct hn_device *d;
	struct hn_buf t;
	struct hn_err err;

	/* 2^64 blocks write one element */
	d = read_text(b, HEAD "kernel k grid 2147483648 2147483648 4 block 1 1 1 {\n"
			      "  B[0] = 1.0\n}\n");
	assert_int_equal(hn_device_verify(d, &b->gpu, LIMIT_MS, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "two blocks may write one element of B"));
	/* 2^64 threads */
	const char *many = HEAD "kernel k grid 1 1 1 block 2147483648 2147483648 4 {\n"
				"  B[0] = 1.0\n}\n";

	assert_int_equal(hn_device_parse("t", many, strlen(many), &b->a, &d, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "threads a block"));
	/* the next iteration of the outermost of many loops writes what is still read */
	hn_buf_init(&t);
	hn_buf_puts(&t, HEAD "kernel k grid 1 1 1 block 8 1 1 {\nfor v6 2 {\n");
	for (int i = 0; i < 70; i++) {
		hn_buf_printf(&t, "for v%d 1 {\n", 7 + i);
	}
	hn_buf_puts(&t, "S[thread.x] = A[thread.x]\nbarrier\nB[thread.x] = S[(7 - thread.x)]\n");
	for (int i = 0; i < 71; i++) {
		hn_buf_puts(&t, "}\n");
	}
	hn_buf_puts(&t, "}\n");
	expect(b, t.s, "two threads may meet in an element, with no barrier between", "S[0] is");
	hn_buf_fini(&t);
	/* a box that leaves 64 bits */
	const char *far = KERNEL("  copy T[0] stride 4611686018427387904 from A[0] "
				 "stride -9223372036854775808 box 2\n");

	assert_int_equal(hn_device_parse("t", far, strlen(far), &b->a, &d, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "a copy's box reaches further"));
}

static void an_index_stays_in_its_buffer(void **state)
{
	struct bed *b = *state;

	expect(b, KERNEL("  S[(thread.x + 1)] = 1.0\n"),
	       "statement 1 writes S, which has 8 elements, and its index may be another",
	       "thread 7 writes S[8], which has 8 elements");
	expect(b, KERNEL("  if (thread.x < 7) {\n    S[(thread.x + 1)] = 1.0\n  }\n"), NULL, NULL);
	expect(b, KERNEL("  L[(thread.x - 1)] = 1.0\n"), "statement 1 writes L", "thread 0 writes L[-1]");
	expect(b, KERNEL("  B[((block.x * 8) + thread.x)] = if((thread.x > 0), A[(thread.x - 1)], "
			 "0.0)\n"),
	       NULL, NULL);
	expect(b, KERNEL("  B[((block.x * 8) + thread.x)] = L[0]\n"), NULL,
	       "reads L[0] before it is written");
}

/* What data says is within bounds by what is made of it: min, max. */
static void an_index_of_data_is_bounded(void **state)
{
	struct bed *b = *state;
#define ME "((block.x * 8) + thread.x)"
#define PICK "int32(min(max(v6, 0:int64), 7:int64))"
#define THIRD "floordiv(" ME ", 3)"

	expect(b, KERNEL("  B[" ME "] = let(v6, int64(A[" ME "]), A[(" PICK " + (" THIRD " * 11))])\n"), NULL,
	       NULL);
	expect(b, KERNEL("  let v6 = int64(A[" ME "])\n  B[" ME "] = A[(" PICK " + (" THIRD " * 11))]\n"), NULL,
	       NULL);
	/* 5 * 12 + 7 */
	expect(b, KERNEL("  B[" ME "] = let(v6, int64(A[" ME "]), A[(" PICK " + (" THIRD " * 12))])\n"),
	       "statement 1 reads A, which has 64 elements, and its index may be another",
	       "reads A[67], which has 64 elements");
	expect(b, KERNEL("  B[" ME "] = let(v6, int64(A[" ME "]), A[(int32(min(v6, 7:int64)) + (" THIRD
			 " * 11))])\n"),
	       "its index may be another", NULL);
	/* a scalar that is no integer; a name that stands outside its let */
	expect(b, KERNEL("  B[" ME "] = let(v6, A[" ME "], A[int32(v6)])\n"), "its index may be another", NULL);
	expect(b, KERNEL("  let v6 = int64(A[" ME "])\n  let v7 = min(max(v6, 0:int64), 7:int64)\n"
			 "  B[" ME "] = A[int32(((v7 + v7) + v6))]\n"),
	       "its index may be another", NULL);
#undef ME
#undef PICK
#undef THIRD
}

static void there_is_room(void **state)
{
	struct bed *b = *state;

	expect(b, "device/1\nglobal B float32[2048] arg 1\nkernel k grid 1 1 1 block 1025 1 1 {\n"
		  "}\n", "1025 threads a block; cuda runs 1024", NULL);
	expect(b, "device/1\nshared S float32[12288]\nkernel k grid 1 1 1 block 1 1 1 {\n"
		  "  S[0] = 1.0\n}\n", NULL, NULL);
	expect(b, "device/1\nshared S float32[12289]\nkernel k grid 1 1 1 block 1 1 1 {\n"
		  "  S[0] = 1.0\n}\n", "49156 bytes of shared memory; cuda has 49152", NULL);
}

static void boxes_are_copied(void **state)
{
	struct bed *b = *state;
	const struct hn_device *d = read_text(
		b, HEAD "kernel k grid 1 1 1 block 1 1 1 {\n"
			"  copy S[0] stride 4 1 from A[10] stride 16 1 box 2 4\n"
			"  copy B[0] stride 1 from S[0] stride 1 box 8\n}\n");
	struct hn_err err;
	float out[64];

	assert_int_equal(hn_device_verify(d, &b->gpu, LIMIT_MS, &err), 0);
	assert_int_equal(run(d, out, &err), 0);
	for (int i = 0; i < 8; i++) {
		assert_true(out[i] == (float)(10 + i / 4 * 16 + i % 4));
	}
	expect(b, KERNEL("  copy S[0] stride 1 from A[0] stride 1 box 9\n"),
	       "statement 1 writes S, which has 8 elements", "writes S[8]");
	expect(b, KERNEL("  copy S[0] stride 1 from A[0] stride 1 box 8\n"),
	       "two threads may write one element of S", "S[0] is written by thread 0");
}

static void errors_name_their_line(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
		{ "", "t:1: expected device/1" },
		{ "device/1\nglobal A float33[4]\n", "t:2: 'float33' is no type" },
		{ "device/1\nregister A float32[4]\n", "t:2: 'register' is no space of memory" },
		{ "device/1\nwarp A float32[4]\n", "t:2: 'warp' is no space of memory" },
		{ "device/1\nglobal A float32[4]\nglobal A float32[4]\n", "t:3: 'A' is no name" },
		{ KERNEL("  C[0] = 1.0\n"), "t:8: there is no buffer 'C'" },
		{ KERNEL("  B[0] = v9\n"), "t:8: 'v9' has no value here" },
		{ KERNEL("  for v6 2 {\n    B[v6] = 1.0\n  }\n  B[v6] = 1.0\n"),
		  "kernel k: v6 has no value here" },
		{ KERNEL("  B[0] = 1\n"), "kernel k: B holds float32 and is given int32" },
		{ KERNEL("  B[0] = (1.0 + 1)\n"), "kernel k: add of float32 and int32" },
		{ KERNEL("  B[0.5] = 1.0\n"), "kernel k: an index of B is float32" },
		{ KERNEL("  B[0] = sqrt(1.0, 2.0)\n"), "kernel k: an expression" },
		{ KERNEL("  B[0] = root(1.0)\n"), "t:8: 'root' is no function" },
		{ KERNEL("  B[0] = 1.0 2\n"), "t:8: '2' stands behind what the line says" },
		{ KERNEL("  if (thread.x < 1) {\n"), "t:10: the text ends before '}'" },
		{ KERNEL("  for v6 0 {\n  }\n"), "kernel k: a loop runs 0 times" },
		{ KERNEL("  for v3 2 {\n  }\n"), "t:8: v3: variables are v6 to" },
		{ "device/1\n\001", "t:1: byte 9 is no printed ASCII" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct hn_device *d;
		struct hn_err err = { 0 };
		int rc = hn_device_parse("t", row[i].text, strlen(row[i].text), &b->a, &d, &err);

		if (rc != -HONE_E_INVALID || !strstr(err.msg, row[i].why)) {
			fail_msg("%d (%s), expected %s:\n%s", rc, err.msg, row[i].why, row[i].text);
		}
	}
}

/* Bytes lost, doubled and changed: it is read, or refused with a line, and no more. */
static void damaged_texts_are_refused(void **state)
{
	static const char text[] = KERNEL(
		FILL "  barrier\n  for v6 4 unroll {\n    let v7 = max((S[v6] * -0.5), inf)\n"
		     "    if and((v6 < 2), not(1:bool)) {\n      L[v6] = let(v8, v7, (v8 + exp(v8)))\n    }\n"
		     "  }\n  copy T[0] stride 1 from A[block.x] stride 2 box 4\n");
	struct hn_rng rng = hn_rng_stream(1, 2, 3, 4);
	uint32_t n_read = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const struct hn_device *d;
		struct hn_err err = { 0 };
		struct hn_arena a;
		char copy[sizeof(text) + 8];
		size_t n = strlen(text);

		memcpy(copy, text, n);
		for (int k = (int)hn_rng_below(&rng, 3); k >= 0; k--) {
			size_t at = hn_rng_below(&rng, n);

			if (hn_rng_below(&rng, 2)) {
				copy[at] = text[hn_rng_below(&rng, sizeof(text) - 1)];
			} else {
				memmove(copy + at, copy + at + 1, n - at - 1);
				n--;
			}
		}
		hn_arena_init(&a, 0);
		int rc = hn_device_parse("t", copy, n, &a, &d, &err);

		assert_true(rc == 0 || (rc == -HONE_E_INVALID && err.msg[0] != '\0'));
		n_read += rc == 0;
		hn_arena_fini(&a);
	}
	assert_true(n_read > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_barrier_is_found),
		cmocka_unit_test(a_race_on_each_number_is_found),
		cmocka_unit_test(rows_end_where_conditions_say),
		cmocka_unit_test(copies_are_waited_for),
		cmocka_unit_test(copies_have_a_form),
		cmocka_unit_test(long_programs_are_judged),
		cmocka_unit_test(an_index_stays_in_its_buffer),
		cmocka_unit_test(an_index_of_data_is_bounded),
		cmocka_unit_test(there_is_room),
		cmocka_unit_test(boxes_are_copied),
		cmocka_unit_test(errors_name_their_line),
		cmocka_unit_test(damaged_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
