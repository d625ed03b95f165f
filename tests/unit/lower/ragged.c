/* Reductions that end where outer loops say: right under random histories, at odd sizes; and their
 * loops end there. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

static uint64_t n_histories = 4; /* or argv[1] */

/* %d: n, then m, twice each. */
#define ROUNDED "(((h + 1) * %1$d + %2$d - 1) / %2$d - h * %1$d / %2$d)"

static const char *const forms[] = {
	/* a triangle, a product with it, and one from the other side */
	"f(float32 A[%1$d,%1$d]) -> S { S(i) +=! A(i,k) where k in 0:i + 1 }",
	"f(float32 A[%1$d,%1$d], B[%1$d,%2$d]) -> C {"
	" C(i,j) +=! A(i,k) * B(k,j) where k in 0:i + 1 }",
	"f(float32 A[%1$d,%1$d], B[%1$d,%2$d]) -> C {"
	" C(i,j) +=! A(i,k) * B(k,j) where k in 0:%1$d - i }",
	/* prefix sums along the lanes, and the greatest so far of every second */
	"f(float32 A[%2$d,%1$d]) -> P { P(i,j) +=! A(i,k)"
	" where j in 0:%1$d, k in 0:j + 1 }",
	"f(float32 A[%2$d,%1$d]) -> P { P(i,j) max=! 2*k < %1$d ? A(i,2*k)"
	" where j in 0:%1$d, k in 0:j / 2 + 1 }",
	/* windows of adaptive pooling, sums and places */
	"f(float32 X[3,%1$d,5]) -> Y { Y(c,h,w) +=! X(c, h * %1$d / %2$d + r, w)"
	" where h in 0:%2$d, r in 0:" ROUNDED " }",
	"f(float32 X[%1$d,%1$d,3]) -> V, I { V(h,w,c), I(h,w,c) argmax=!"
	" X(h * %1$d / %2$d + r, w * %1$d / %2$d + s, c), r * %1$d + s"
	" where h in 0:%2$d, w in 0:%2$d, r in 0:" ROUNDED ","
	" s in 0:((w + 1) * %1$d + %2$d - 1) / %2$d - w * %1$d / %2$d }",
	/* causal attention's sums */
	"f(float32 Q[2,%1$d,5], K[2,%1$d,5], V[2,%1$d,3]) -> O {"
	" S(h,i,j) +=! Q(h,i,d) * K(h,j,d)\n"
	" M(h,i) max=! S(h,i,j) where j in 0:i + 1\n"
	" D(h,i) +=! exp(S(h,i,j) - M(h,i)) where j in 0:i + 1\n"
	" P(h,i,j) = exp(min(S(h,i,j) - M(h,i), 0)) / D(h,i)\n"
	" O(h,i,d) +=! P(h,i,j) * V(h,j,d) where j in 0:i + 1 }",
	/* an end that depends on another reduced index; ends that can lie below the first one */
	"f(int32 A[%1$d,%1$d,%1$d]) -> S { S(i) +=! A(i,j,k) where j in 0:i + 1, k in 0:j + 1 }",
	"f(float32 A[%1$d,%2$d]) -> S { S(i) min=! A(i,k) where k in 0:min(2*i - 1, %2$d) }",
};

static const int sizes[][2] = { { 2, 2 },  { 3, 2 },  { 5, 3 },	 { 7, 4 },
				{ 9, 17 }, { 16, 7 }, { 33, 6 }, { 40, 40 } };

static const char *text_of(const char *form, const int size[2], struct hn_arena *a)
{
	return hn_arena_printf(a, form, size[0], size[1]);
}

static void ragged(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		for (size_t k = 0; k < HN_COUNT_OF(sizes); k++) {
			struct hn_arena a;

			hn_arena_init(&a, 0);
			check_form(f, text_of(forms[i], sizes[k], &a), n_histories);
			hn_arena_fini(&a);
		}
	}
}

static uint32_t count(const char *text, const char *word)
{
	uint32_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word)) {
		n++;
	}
	return n;
}

/* A loop has two forms: one for the iterations in which the condition holds at all points.  Where the
 * condition is no end of the loop, there is one form. */
static void two_forms(void **state)
{
	static const char end[] = "f(float32 A[64,64], B[64,32]) -> C {"
				  " C(i,j) +=! k < i + 1 ? A(i,k) * B(k,j) }";
	static const char no_end[] = "f(float32 A[64,64], B[64,32]) -> C {"
				     " C(i,j) +=! k - k % 2 < i + 1 ? A(i,k) * B(k,j) }";
	struct fixture *f = *state;
	uint32_t one = count(ir_of(f, no_end), " fmul "), two = count(ir_of(f, end), " fmul ");

	assert_true(one > 0);
	assert_int_equal(two, 2 * one);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ragged, setup, teardown),
		cmocka_unit_test_setup_teardown(two_forms, setup, teardown),
	};

	n_histories = argc > 1 ? strtoull(argv[1], NULL, 10) : n_histories;
	return cmocka_run_group_tests_name("lower ragged", tests, NULL, NULL);
}
