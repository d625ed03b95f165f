/* What a warp does together: products and loads of matrices give what the published layouts say,
 * and faults of each kind are refused by the verifier and, where they show, by the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/device/device_warp.h"
#include "tests/lib/gpu_bed.h"

#define LIMIT_MS 20000
#define FUEL 1000000

static int set_up(void **state)
{
	return gpu_bed(state, "cuda");
}

static const struct hn_device *read_text(struct bed *b, const char *text)
{
	const struct hn_device *d, *again;
	struct hn_buf one, two;
	struct hn_err err;

	if (hn_device_parse("t", text, strlen(text), &b->a, &d, &err) != 0) {
		fail_msg("%s\n%s", err.msg, text);
	}
	hn_buf_init(&one);
	hn_buf_init(&two);
	hn_device_print(d, &one);
	assert_int_equal(hn_device_parse("t", one.s, one.n, &b->a, &again, &err), 0);
	hn_device_print(again, &two);
	assert_string_equal(one.s, two.s);
	hn_buf_fini(&one);
	hn_buf_fini(&two);
	return d;
}

/* ---- layouts */

/* As the ISA's pages have them, one table for each shape: of a lane's element, row and column. */
struct at {
	int64_t row, column;
};

static struct at left_16(int64_t g, int64_t t, int64_t i) /* m16n8k16: a0 .. a7 */
{
	return (struct at){ (i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8,
			    i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8 };
}

static struct at right_16(int64_t g, int64_t t, int64_t i) /* b0 .. b3 */
{
	return (struct at){ i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g };
}

static struct at left_32(int64_t g, int64_t t, int64_t i) /* m16n8k32: a0 .. a15 */
{
	return (struct at){ (i >= 0 && i < 4) || (i >= 8 && i < 12) ? g : g + 8,
			    i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16 };
}

static struct at right_32(int64_t g, int64_t t, int64_t i) /* b0 .. b7 */
{
	return (struct at){ i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g };
}

static struct at sum_8(int64_t g, int64_t t, int64_t i) /* c0 .. c3 */
{
	return (struct at){ i < 2 ? g : g + 8, t * 2 + (i & 1) };
}

static struct at left_8(int64_t g, int64_t t, int64_t i) /* m16n8k8: a0 .. a3 */
{
	return (struct at){ i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4 };
}

static struct at right_8(int64_t g, int64_t t, int64_t i) /* b0, b1 */
{
	return (struct at){ i == 0 ? t : t + 4, g };
}

static void lanes_hold_what_is_published(void **state)
{
	static const struct {
		const char *name;
		int64_t n[3];
		struct at (*at[3])(int64_t g, int64_t t, int64_t i);
	} row[] = {
		{ "mma_m16n8k16_bf16", { 8, 4, 4 }, { left_16, right_16, sum_8 } },
		{ "mma_m16n8k16_f16", { 8, 4, 4 }, { left_16, right_16, sum_8 } },
		{ "mma_m16n8k32_s8", { 16, 8, 4 }, { left_32, right_32, sum_8 } },
		{ "mma_m16n8k8_tf32x3", { 4, 2, 4 }, { left_8, right_8, sum_8 } },
	};
	uint32_t n_warp = 0;

	(void)state;
	for (uint32_t i = 0; i < hn_intrin_count(); i++) {
		n_warp += hn_intrin_at(i)->of == HN_INTRIN_OF_WARP;
	}
	assert_int_equal(n_warp, HN_COUNT_OF(row));
	for (size_t r = 0; r < HN_COUNT_OF(row); r++) {
		const struct hn_intrin *in = hn_intrin_of(row[r].name);

		for (int w = 0; w < 3; w++) {
			assert_int_equal(hn_warp_elements(in, (enum hn_fragment)w), row[r].n[w]);
			for (int64_t k = 0; k < HN_WARP * row[r].n[w]; k++) {
				int64_t l = k / row[r].n[w], e = k % row[r].n[w], y, x;
				struct at want = row[r].at[w](l / 4, l % 4, e);

				hn_warp_element(in, (enum hn_fragment)w, l, e, &y, &x);
				assert_int_equal(y, want.row);
				assert_int_equal(x, want.column);
			}
		}
	}
}

/* The nearest of 11 bits, ties away from zero; a product in parts is off by a few 2^-22. */
static void parts_are_of_11_bits(void **state)
{
	static const double row[][2] = {
		{ 1, 1 },
		{ 1 + 0x1p-10, 1 + 0x1p-10 },
		{ 1 + 0x1p-11, 1 + 0x1p-10 },
		{ -1 - 0x1p-11, -1 - 0x1p-10 },
		{ 1 + 0x1p-11 - 0x1p-23, 1 },
		{ 2 - 0x1p-23, 2 },
		{ 0, 0 },
	};
	const struct hn_intrin *in = hn_intrin_of("mma_m16n8k8_tf32x3");
	struct hn_warp_lane lane[HN_WARP];
	double worst = 0;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		assert_true(hn_warp_tf32(row[i][0]) == row[i][1]);
	}
	for (int i = 0; i < 1000; i++) { /* one term that is not 0 */
		double x = (double)(float)(1 + i * 0.000997), y = (double)(float)(2 - i * 0.00091);

		memset(lane, 0, sizeof(lane));
		lane[0].left[0].f = x;
		lane[0].right[0].f = y;
		hn_warp_mma(in, lane);
		worst = fmax(worst, fabs(lane[0].sum[0].f - x * y) / (x * y));
	}
	assert_true(worst > 0 && worst < 0x1p-20);
}

/* ---- a product, from rows in shared memory */

#define HEAD                                                                                     \
	"device/1\nglobal A bfloat16[256] arg 0\nglobal B bfloat16[128] arg 1\n"                 \
	"global C float32[128] arg 2\nshared S bfloat16[256]\nshared T bfloat16[128]\n"          \
	"local F bfloat16[8]\nlocal G bfloat16[4]\nlocal R float32[4]\n"                         \
	"kernel k grid 1 1 1 block 32 1 1 {\n"
#define FILL                                                                                     \
	"  for v6 8 {\n    S[((thread.x * 8) + v6)] = A[((thread.x * 8) + v6)]\n  }\n"            \
	"  for v7 4 {\n    T[((thread.x * 4) + v7)] = B[((thread.x * 4) + v7)]\n  }\n"
#define ZERO "  for v8 4 {\n    R[v8] = 0.0\n  }\n"
#define LEFT                                                                                     \
	"  ldmatrix x4 F[0] from S[((floormod(thread.x, 16) * 16) + (floordiv(thread.x, 16) * "   \
	"8))]\n"
/* B as columns of 16 terms, or as 16 rows of 8 columns */
#define RIGHT                                                                                    \
	"  ldmatrix x2 G[0] from T[((floormod(thread.x, 8) * 16) + "                              \
	"(floormod(floordiv(thread.x, 8), 2) * 8))]\n"
#define RIGHT_ROWS "  ldmatrix x2 trans G[0] from T[(floormod(thread.x, 16) * 8)]\n"
#define PRODUCT "  mma mma_m16n8k16_bf16 R[0] F[0] G[0]\n"
#define KEEP                                                                                     \
	"  for v9 2 {\n    for v10 2 {\n      C[((((floordiv(thread.x, 4) + (v9 * 8)) * 8) + "    \
	"(floormod(thread.x, 4) * 2)) + v10)] = R[((v9 * 2) + v10)]\n    }\n  }\n}\n"

struct numbers {
	uint16_t a[256], b[128];
	float c[128];
};

static int run(const struct hn_device *d, struct numbers *x, uint32_t order, struct hn_err *err)
{
	void *arg[] = { x->a, x->b, x->c };

	for (int i = 0; i < 256; i++) {
		hn_float_put(HN_BF16, x->a, i, (i * 37 % 101) - 50);
	}
	for (int i = 0; i < 128; i++) {
		hn_float_put(HN_BF16, x->b, i, (i * 53 % 89) - 40);
	}
	memset(x->c, 0, sizeof(x->c));
	return hn_device_interpret(d, arg, order, FUEL, err);
}

static void a_product_is_right(void **state)
{
	static const char *const text[] = {
		HEAD FILL "  barrier\n" ZERO LEFT RIGHT PRODUCT KEEP,
		HEAD FILL "  barrier\n" ZERO LEFT RIGHT_ROWS PRODUCT KEEP,
	};
	struct bed *b = *state;

	for (int rows = 0; rows < 2; rows++) {
		const struct hn_device *d = read_text(b, text[rows]);
		struct hn_err err;

		if (hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		for (uint32_t order = 0; order < 3; order++) {
			struct numbers x;

			if (run(d, &x, order, &err) != 0) {
				fail_msg("%s", err.msg);
			}
			for (int i = 0; i < 128; i++) {
				double want = 0;

				for (int k = 0; k < 16; k++) {
					want += hn_float_get(HN_BF16, x.a, i / 8 * 16 + k) *
						hn_float_get(HN_BF16, x.b,
							     rows ? k * 8 + i % 8
								  : i % 8 * 16 + k);
				}
				assert_true((double)x.c[i] == want);
			}
		}
	}
}

/* ---- faults */

/* verify, run: parts of what each says; NULL: nothing is wrong. */
static void expect(struct bed *b, const char *text, const char *verify, const char *runs)
{
	const struct hn_device *d = read_text(b, text);
	struct hn_err err = { 0 };
	struct numbers x;
	int rc = hn_device_verify(d, &b->gpu, LIMIT_MS, &err);

	if (verify == NULL ? rc != 0 : rc != -HONE_E_INVALID || !strstr(err.msg, verify)) {
		fail_msg("the verifier: %d (%s), expected: %s\n%s", rc, err.msg,
			 verify ? verify : "right", text);
	}
	err.msg[0] = '\0';
	rc = run(d, &x, 0, &err);
	if (runs == NULL ? rc != 0 : rc != -HONE_E_INVALID || !strstr(err.msg, runs)) {
		fail_msg("the interpreter: %d (%s), expected: %s\n%s", rc, err.msg,
			 runs ? runs : "right", text);
	}
}

static void faults_are_found(void **state)
{
	struct bed *b = *state;

	/* no barrier between what threads write and a warp reads */
	expect(b, HEAD FILL ZERO LEFT RIGHT PRODUCT KEEP,
	       "statement 1 writes S and statement 4 reads it: two threads may meet",
	       "S[0] is written by thread 0 and read by a warp, with no barrier between");
	/* not even where each lane names a row of its own writing */
	expect(b,
	       HEAD FILL ZERO "  ldmatrix x4 F[0] from S[(thread.x * 8)]\n  barrier\n" RIGHT PRODUCT
			       KEEP,
	       "statement 1 writes S and statement 4 reads it",
	       "S[0] is written by thread 0 and read by a warp");
	/* and the other way round */
	expect(b,
	       HEAD FILL "  barrier\n" ZERO LEFT RIGHT PRODUCT "  S[thread.x] = A[0]\n" KEEP,
	       "reads S", "S[0] is read by several threads and written by thread 0");
	/* past the end of a buffer: of shared memory, of fragments */
	expect(b,
	       HEAD FILL "  barrier\n" ZERO "  ldmatrix x4 F[0] from S[((thread.x * 8) + 8)]\n" RIGHT
			       PRODUCT KEEP,
	       "reads S, which has 256 elements", "reads S[256], which has 256 elements");
	expect(b, HEAD FILL "  barrier\n" ZERO LEFT
		       "  ldmatrix x4 G[0] from S[(thread.x * 8)]\n" PRODUCT KEEP,
	       "writes G, which has 4 elements", "writes G[4], which has 4 elements");
	expect(b,
	       HEAD FILL "  barrier\n" ZERO LEFT RIGHT
			 "  mma mma_m16n8k16_bf16 R[1] F[0] G[0]\n" KEEP,
	       "R, which has 4 elements", "R[4], which has 4 elements");
	/* before anybody has written it: the verifier does not ask for that */
	expect(b, HEAD FILL "  barrier\n" LEFT RIGHT PRODUCT KEEP, NULL,
	       "reads R[0] before it is written");
}

static void forms_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
		{ HEAD "  if (thread.x < 16) {\n  " LEFT "  }\n}\n",
		  "stands under a condition, where not all threads may come" },
		{ HEAD "  ldmatrix x4 F[0] from S[(thread.x * 4)]\n}\n",
		  "no multiple of 16 bytes" },
		{ HEAD "  ldmatrix x4 F[0] from A[(thread.x * 8)]\n}\n",
		  "ldmatrix loads from shared memory to local" },
		{ HEAD "  ldmatrix x4 R[0] from S[(thread.x * 8)]\n}\n", "keeps their type" },
		{ HEAD "  ldmatrix x3 F[0] from S[(thread.x * 8)]\n}\n", "expected 'x1'" },
		{ HEAD "  mma mma_m16n8k16_f16 R[0] F[0] G[0]\n}\n", "operands of other types" },
		{ HEAD "  mma vpdpbusd R[0] F[0] G[0]\n}\n", "no instruction of a warp's" },
		{ HEAD "  mma nothing R[0] F[0] G[0]\n}\n", "there is no instruction 'nothing'" },
		{ HEAD "  mma mma_m16n8k16_bf16 R[0] S[0] G[0]\n}\n", "mma works on local memory" },
		{ "device/1\nlocal R float32[4]\nlocal F bfloat16[8]\n"
		  "kernel k grid 1 1 1 block 16 1 1 {\n  mma mma_m16n8k16_bf16 R[0] F[0] F[0]\n}\n",
		  "no whole warps" },
		{ "device/1\nshared S int8[512]\nlocal F int8[16]\n"
		  "kernel k grid 1 1 1 block 32 1 1 {\n"
		  "  ldmatrix x4 trans F[0] from S[(thread.x * 16)]\n}\n",
		  "transposes elements of 2 bytes alone" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_device *d;
		struct hn_err err = { 0 };
		int rc = hn_device_parse("t", row[i].text, strlen(row[i].text), &b->a, &d, &err);

		if (rc != -HONE_E_INVALID || strstr(err.msg, row[i].why) == NULL) {
			fail_msg("%d (%s), expected: %s\n%s", rc, err.msg, row[i].why,
				 row[i].text);
		}
	}
}

/* Groups of asynchronous copies are waited for before a warp reads what they write. */
static void copies_are_waited_for(void **state)
{
#define COPY                                                                                     \
	"  for v6 8 {\n    async S[((thread.x * 8) + v6)] = A[((thread.x * 8) + v6)]\n  }\n"      \
	"  for v7 4 {\n    T[((thread.x * 4) + v7)] = B[((thread.x * 4) + v7)]\n  }\n  commit\n"
	struct bed *b = *state;

	expect(b, HEAD COPY "  wait 0\n  barrier\n" ZERO LEFT RIGHT PRODUCT KEEP, NULL, NULL);
	expect(b, HEAD COPY "  wait 1\n  barrier\n" ZERO LEFT RIGHT PRODUCT KEEP,
	       "before an asynchronous copy to it has been waited for",
	       "before a copy to it has been waited for");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_hold_what_is_published),
		cmocka_unit_test(parts_are_of_11_bits),
		cmocka_unit_test(a_product_is_right),
		cmocka_unit_test(faults_are_found),
		cmocka_unit_test(forms_are_refused),
		cmocka_unit_test(copies_are_waited_for),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
