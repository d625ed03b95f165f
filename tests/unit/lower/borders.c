/* Pads and guards: the interior of a nest has none left, the borders are right. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/lib/lower_forms.h"

static uint64_t n_histories = 4; /* or argv[1] */

/* %1$d n, %2$d c, others of text_of: from the sizes below.  Pads inlined by hand, so that every history meets them. */
static const char *const forms[] = {
	/* a row of channels; pads at the ends of one loop */
	"f(float32 X[%1$d,%2$d], W[3,%2$d]) -> Y {"
	" Y(w,c) +=! (w + s >= 1 && w + s < %7$d ? X(w+s-1,c) : 0) * W(s,c)"
	" where w in 0:%1$d, s in 0:3 }",
	/* lanes along the padded dimension */
	"f(float32 X[%2$d,%1$d]) -> Y {"
	" Y(c,w) max=! (w + s >= 1 && w + s < %7$d ? X(c,w+s-1) : -3.0)"
	" where w in 0:%1$d, s in 0:3 }",
	/* both, stride 2, a window as large as the tensor */
	"f(float32 X[%1$d,%1$d,%2$d]) -> Y {"
	" Y(h,w,c) max=! (2*h+r >= 2 && 2*h+r < %8$d && 2*w+s >= 2 && 2*w+s < %1$d + "
	"2"
	" ? X(2*h+r-2,2*w+s-2,c) : -3.0)"
	" where h in 0:%3$d, w in 0:%3$d, r in 0:5, s in 0:5 }",
	/* a convolution: sums of products, pads at both ends of two loops */
	"f(float32 X[%1$d,%1$d,%2$d], W[3,3,%2$d,5]) -> Y {"
	" Y(h,w,f) +=! (h+r >= 1 && h+r < %7$d && w+s >= 1 && w+s < %7$d"
	" ? X(h+r-1,w+s-1,c) : 0) * W(r,s,c,f)"
	" where h in 0:%1$d, w in 0:%1$d, r in 0:3, s in 0:3 }",
	/* no reduction: a copy with a border, and one half from each of two tensors */
	"f(float32 X[%1$d,%2$d]) -> Y {"
	" Y(i,j) = i >= 2 && i < %8$d && j >= 1 && j < %9$d ? X(i-2,j-1) : 7.0"
	" where i in 0:%4$d, j in 0:%5$d }",
	"f(float32 X[%1$d,%2$d], Z[%1$d,%2$d]) -> Y {"
	" Y(i,j) = i < %1$d ? X(i,j) : Z(i-%1$d,j) where i in 0:%6$d, j in 0:%2$d }",
};

static const int sizes[][2] = { { 1, 1 },  { 2, 17 }, { 3, 5 },	 { 7, 16 },
				{ 9, 33 }, { 16, 8 }, { 29, 19 } };

static char *text_of(const char *form, int n, int c, struct hn_arena *a)
{
	struct hn_buf b;
	char *s;

	const int value[] = {
		n, c, (n + 1) / 2, n + 5, c + 2, 2 * n, n + 1, n + 2, c + 1
	};

	hn_buf_init(&b);
	for (const char *p = form; *p; p++) {
		if (p[0] == '%') {
			hn_buf_printf(&b, "%d", value[p[1] - '1']);
			p += 3;
		} else {
			hn_buf_printf(&b, "%c", *p);
		}
	}
	s = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
	return s;
}

static void borders(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < HN_COUNT_OF(forms); i++) {
		for (size_t k = 0; k < HN_COUNT_OF(sizes); k++) {
			struct hn_arena a;

			hn_arena_init(&a, 0);
			check_form(f, text_of(forms[i], sizes[k][0], sizes[k][1], &a), n_histories);
			hn_arena_fini(&a);
		}
	}
}

/* Pads at the ends of one loop: its ends are tiles of their own, nothing is left to ask. */
static void no_question_left(void **state)
{
	struct fixture *f = *state;
	const char *ir = ir_of(f, text_of(forms[0], 40, 32, &f->arena));

	assert_null(strstr(ir, " select "));
	assert_null(strstr(ir, "llvm.masked"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(borders, setup, teardown),
		cmocka_unit_test_setup_teardown(no_question_left, setup, teardown),
	};

	n_histories = argc > 1 ? strtoull(argv[1], NULL, 10) : n_histories;
	return cmocka_run_group_tests_name("lower borders", tests, NULL, NULL);
}
