/* Texts whose numbers depend on sizes: forms that are found, what they give at other sizes, and
 * texts that differ in more than numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "graph/net/lift.h"

static const char *const name[] = { "N0", "N1" };
static const int64_t most[] = { 8, 512 };

/* Lifted from the texts at 8 x 512, 7 x 512 and 8 x 511 (NULL: one size has one value). */
static bool lift(const char *at, const char *first, const char *second, struct hn_arena *a,
		 struct hn_lift *ret)
{
	const char *below[HN_LIFT_BELOW] = { first, second };

	return hn_lift_texts(at, below, most, 2, a, ret);
}

static void forms(void **state)
{
	struct hn_arena a;
	struct hn_lift l;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_true(lift("T1[8,12,512,0.5] i0 in 0:1025, t < 511 T12(i2) * 4",
			 "T1[7,12,512,0.5] i0 in 0:1025, t < 511 T12(i2) * 3",
			 "T1[8,12,511,0.5] i0 in 0:1023, t < 510 T12(i2) * 4", &a, &l));
	assert_true(l.sized);
	hn_lift_write(&l, name, 2, "int64", &b);
	assert_string_equal(b.s, "T1[N0,12,N1,0.5] i0 in 0:2 * N1 + 1, t < int64(N1 - 1) T12(i2) * "
				 "int64(N0 - 4)");
	assert_true(hn_lift_is(&l, "T1[5,12,3,0.5] i0 in 0:7, t < 2 T12(i2) * 1",
			       (const int64_t[]){ 5, 3 }, 2));
	assert_false(hn_lift_is(&l, "T1[5,12,3,0.5] i0 in 0:6, t < 2 T12(i2) * 1",
				(const int64_t[]){ 5, 3 }, 2));
	assert_false(hn_lift_is(&l, "T1[5,12,3,0.5] i0 in 0:7, t < 2 T12(i2) * 1 more",
				(const int64_t[]){ 5, 3 }, 2));
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* Products of two sizes, from the text where both are one less. */
static void products(void **state)
{
	const char *below[HN_LIFT_BELOW] = { "T(7168)", "T(8176)" };
	static const int64_t step[] = { 32, 4 };
	struct hn_arena a;
	struct hn_lift l;
	struct hn_buf b;

	(void)state;
	below[hn_lift_pair(0, 1)] = "T(7154)";
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_true(hn_lift_texts("T(8192)", below, most, 2, &a, &l));
	hn_lift_write(&l, name, 2, "", &b);
	assert_string_equal(b.s, "T((2 * N0 * N1))");
	assert_true(hn_lift_is(&l, "T(6)", (const int64_t[]){ 3, 1 }, 2));
	hn_buf_reset(&b);
	hn_lift_write_form(&l.piece[1].form, name, step, 2, &b); /* of pixels, not of steps */
	assert_string_equal(b.s, "N0 * N1 / 64");
	below[hn_lift_pair(0, 1)] = "T(7155)"; /* and some of the sizes themselves */
	assert_true(hn_lift_texts("T(8192)", below, most, 2, &a, &l));
	assert_true(hn_lift_is(&l, "T(7155)", (const int64_t[]){ 7, 511 }, 2));
	assert_true(hn_lift_is(&l, "T(8192)", most, 2));
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* Factors of means: as doubles and as float32, but no other number. */
static void reciprocals(void **state)
{
	static const char *const other[][2] = {
		{ "x * float32(0.3)", "x * float32(0.4)" },
		{ "x * float64(0.125)", "x * float64(0.14285714285714285)" },
		{ "x * float32(0.125)", "x * float32(0.14285714285714285) + 1" },
		{ "x * float32(0.125)", "x * float32(0)" },
		{ "x * float32(0.125)", "x * float32(y)" },
	};
	struct hn_arena a;
	struct hn_lift l;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_true(lift("x * float32(0.0001220703125)", "x * float32(0.00013950892857142856)", NULL, &a, &l));
	hn_lift_write(&l, name, 2, "", &b);
	assert_string_equal(b.s, "x * float32(1 / float32(1024 * int64(N0)))");
	assert_true(hn_lift_is(&l, "x * float32(0.00048828125)", (const int64_t[]){ 2, 0 }, 2));
	assert_false(hn_lift_is(&l, "x * float32(0.00048828126)", (const int64_t[]){ 2, 0 }, 2));
	/* float32's nearest to 1 / 24 and 1 / 21 */
	assert_true(lift("x * float32(0.0416666679084301)", "x * float32(0.0476190485060215)", NULL,
			 &a, &l));
	hn_buf_reset(&b);
	hn_lift_write(&l, name, 2, "", &b);
	assert_string_equal(b.s, "x * float32(1 / float32(3 * int64(N0)))");
	for (size_t i = 0; i < HN_COUNT_OF(other); i++) {
		assert_false(lift(other[i][0], other[i][1], NULL, &a, &l));
	}
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

/* A mask of which less is read keeps its extents where it is declared, and nowhere else. */
static void fixed(void **state)
{
	struct hn_arena a;
	struct hn_lift l;
	struct hn_buf b;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&b);
	assert_true(lift("f(bool T5[1,8,8], bool T55[8]) T5[i] where j in 0:8",
			 "f(bool T5[1,7,7], bool T55[7]) T5[i] where j in 0:7", NULL, &a, &l));
	hn_lift_fix(&l, "T5", most, 2);
	hn_lift_write(&l, name, 2, "", &b);
	assert_string_equal(b.s, "f(bool T5[1,8,8], bool T55[N0]) T5[i] where j in 0:N0");
	assert_true(hn_lift_is(&l, "f(bool T5[1,3,3], bool T55[3]) T5[i] where j in 0:3",
			       (const int64_t[]){ 3, 512 }, 2));
	assert_false(hn_lift_is(&l, "f(bool T5[1,3,4], bool T55[3]) T5[i] where j in 0:3",
				(const int64_t[]){ 3, 512 }, 2));
	hn_buf_fini(&b);
	hn_arena_fini(&a);
}

static void no_sizes(void **state)
{
	struct hn_arena a;
	struct hn_lift l;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(lift("A[8] B[08]", NULL, "A[8] B[08]", &a, &l));
	assert_false(l.sized);
	assert_true(hn_lift_is(&l, "A[8] B[08]", most, 2));
	hn_arena_fini(&a);
}

/* Names, floats and words are no numbers. */
static void other_texts(void **state)
{
	static const char *const pair[][2] = {
		{ "T1[8]", "T2[8]" }, { "x * 0.125", "x * 0.142" }, { "A[8]", "A[8] B" },
		{ "A[8] B", "A[8]" }, { "A[8]", "A[N]" },	    { "A(i)", "A(3)" },
	};
	struct hn_arena a;
	struct hn_lift l;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		assert_false(lift(pair[i][0], pair[i][1], NULL, &a, &l));
	}
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forms), cmocka_unit_test(products),
					    cmocka_unit_test(reciprocals), cmocka_unit_test(fixed),
					    cmocka_unit_test(no_sizes),
					    cmocka_unit_test(other_texts) };

	return cmocka_run_group_tests_name("graph lift", tests, NULL, NULL);
}
