/* Inlining changes no bit: random chains of int32 and int64 ops over data of the whole range,
 * interpreted as they are written and with the first inlined into the others. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/inline.h"
#include "loopstate/state/state.h"
#include "lower/lower.h"

#define N 48

static uint64_t n_programs = 600; /* or argv[1] */

static uint64_t below(struct hn_rng *r, uint64_t n)
{
	return hn_rng_below(r, n);
}

static void put_leaf(struct hn_rng *r, const char *const *data, uint64_t n_data,
		     struct hn_buf *b)
{
	static const char *const number[] = { "0", "1", "3", "7", "65536", "1000000000",
					      "2147483647", "-5" };

	if (below(r, 3)) {
		hn_buf_puts(b, data[below(r, n_data)]);
	} else {
		hn_buf_puts(b, number[below(r, HN_COUNT_OF(number))]);
	}
}

/* An int32 expression. */
static void put_expr(struct hn_rng *r, const char *const *data, uint64_t n_data, int depth,
		     struct hn_buf *b)
{
	static const char *const infix[] = { "+", "-", "*", "/", "%" };
	static const char *const divisor[] = { "1", "2", "3", "8", "65536", "1000000000" };
	uint64_t form = below(r, 9);

	if (depth == 0) {
		put_leaf(r, data, n_data, b);
		return;
	}
	if (form >= 7) {
		hn_buf_puts(b, form == 7 ? "min(" : "max(");
		put_expr(r, data, n_data, depth - 1, b);
		hn_buf_puts(b, ", ");
		put_expr(r, data, n_data, depth - 1, b);
		hn_buf_putc(b, ')');
		return;
	}
	hn_buf_puts(b, form >= 5 ? "((" : "(");
	put_expr(r, data, n_data, depth - 1, b);
	if (form >= 5) { /* a choice */
		hn_buf_puts(b, form == 5 ? " < " : " >= ");
		put_expr(r, data, n_data, depth - 1, b);
		hn_buf_puts(b, ") ? ");
		put_expr(r, data, n_data, depth - 1, b);
		hn_buf_puts(b, " : ");
		put_expr(r, data, n_data, depth - 1, b);
	} else {
		hn_buf_printf(b, " %s ", infix[form]);
		if (form >= 3) {
			hn_buf_puts(b, divisor[below(r, HN_COUNT_OF(divisor))]);
		} else {
			put_expr(r, data, n_data, depth - 1, b);
		}
	}
	hn_buf_putc(b, ')');
}

static void put_program(uint64_t seed, struct hn_buf *b)
{
	static const char *const given[] = { "A(i)", "A(i)", "i", "A(47-i)" };
	static const char *const made[] = { "B(i)", "B(47-i)", "A(i)", "i" };
	struct hn_rng r = hn_rng_stream(seed, 1, 2, 3);

	hn_buf_puts(b, "t(int32 A[48]) -> (C, D, E) { B(i) = ");
	put_expr(&r, given, HN_COUNT_OF(given), 2, b);
	hn_buf_puts(b, " where i in 0:48 C(i) = ");
	put_expr(&r, made, HN_COUNT_OF(made), 2, b);
	hn_buf_puts(b, " where i in 0:48 D(i) = int64(");
	put_expr(&r, made, HN_COUNT_OF(made), 1, b);
	hn_buf_puts(b, ") where i in 0:48 E(i) = int8(B(i)) + int8(A(i)) where i in 0:48 }");
}

struct answer {
	int32_t a[N], c[N];
	int64_t d[N];
	int8_t e[N];
};

static void interpret(const char *text, const struct hn_dag *dag, struct answer *x)
{
	void *at[4] = { x->a, x->c, x->d, x->e };
	struct hn_err err = { 0 };

	for (uint32_t i = 0; i < N; i++) {
		struct hn_rng r = hn_rng_stream(i, 9, 9, 9);

		x->a[i] = i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : (int32_t)hn_rng_u64(&r);
	}
	if (hn_interpret(dag, at, &err)) {
		fail_msg("%s: %s", text, err.msg);
	}
}

static bool check_program(uint64_t seed)
{
	static struct answer want, got;
	const struct hn_dag *dag, *inlined;
	const struct hn_state *s;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf b;

	hn_buf_init(&b);
	hn_arena_init(&a, 0);
	put_program(seed, &b);
	if (hn_dag_parse("t", b.s, b.n, 0, &a, &dag, &err)) {
		if (!strstr(err.msg, "a quotient of two whole numbers") &&
		    !strstr(err.msg, "the number is too large")) {
			fail_msg("%s: %s", b.s, err.msg);
		}
		hn_arena_fini(&a);
		hn_buf_fini(&b);
		return false;
	}

	bool can = hn_compute_inline(hn_state_init(dag, &a), 1, &a, &s, NULL) == 0 &&
		   hn_inline_dag(s, &a, &inlined, NULL) == 0;

	if (can) {
		interpret(b.s, dag, &want);
		interpret(b.s, inlined, &got);
		if (memcmp(&want, &got, sizeof(want)) != 0) {
			fail_msg("%s: inlining changes the answer", b.s);
		}
	}
	hn_arena_fini(&a);
	hn_buf_fini(&b);
	return can;
}

static void no_bit_changes(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n_programs; seed++) {
		n += check_program(seed);
	}
	assert_true(2 * n > n_programs);
}

/* What indices allow is still done to them, and to numbers that stay in their type. */
static void indices_are_simplified(void **state)
{
	static const struct {
		const char *text, *has, *lacks;
	} form[] = {
		{ "t(float32 A[64]) -> C { B(i,j) = A(i * 4 + j) where i in 0:16, j in 0:4"
		  " C(i) = B(i / 4, i % 4) where i in 0:64 }",
		  "A[i]", "div" },
		{ "t(int32 A[64]) -> C { B(i) = A(i) * 6 C(i) = B(i) / 3 }",
		  "div", "* 2" },
	};

	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(form); k++) {
		const char *names[8] = { "A", "B", "C" };
		const struct hn_dag *dag, *inlined;
		const struct hn_state *s;
		struct hn_arena a;
		struct hn_buf b;

		hn_arena_init(&a, 0);
		hn_buf_init(&b);
		assert_int_equal(hn_dag_parse("t", form[k].text, strlen(form[k].text), 0, &a,
					      &dag, NULL), 0);
		assert_int_equal(hn_compute_inline(hn_state_init(dag, &a), 1, &a, &s, NULL), 0);
		assert_int_equal(hn_inline_dag(s, &a, &inlined, NULL), 0);
		hn_expr_print(inlined->op[2]->body[0], names, &b);
		if (!strstr(b.s, form[k].has) || strstr(b.s, form[k].lacks)) {
			fail_msg("%s", b.s);
		}
		hn_buf_fini(&b);
		hn_arena_fini(&a);
	}
}

/* An index is a number without end, data wraps: one that leaves int32 on the way may be an index
 * and not become data. */
static void an_index_that_leaves_is_no_data(void **state)
{
	static const struct {
		const char *text;
		bool refused;
	} form[] = {
		{ "f(int32 A[6]) -> B { s(i) = A(i) + i  B(j) = s(j * 1000000000 / 1000000000) "
		  "where j in 0:6 }", true },
		{ "f(int32 A[6]) -> B { s(i) = A(i) + 1  B(j) = s(j * 1000000000 / 1000000000) "
		  "where j in 0:6 }", false },
		{ "f(int32 A[6]) -> B { s(i) = A(i) + i  B(j) = s(j * 1000 / 1000) where j in 0:6 }",
		  false },
	};

	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(form); k++) {
		const struct hn_dag *dag, *inlined;
		const struct hn_state *s;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		if (hn_dag_parse("t", form[k].text, strlen(form[k].text), 0, &a, &dag, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		assert_int_equal(hn_compute_inline(hn_state_init(dag, &a), 1, &a, &s, NULL), 0);
		int rc = hn_inline_dag(s, &a, &inlined, &err);

		if ((rc != 0) != form[k].refused ||
		    (rc != 0 && !strstr(err.msg, "would become data"))) {
			fail_msg("%s: %s", form[k].text, rc ? err.msg : "inlined");
		}
		hn_arena_fini(&a);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_that_leaves_is_no_data),
		cmocka_unit_test(no_bit_changes),
		cmocka_unit_test(indices_are_simplified),
	};

	n_programs = argc > 1 ? (uint64_t)atoll(argv[1]) : n_programs;
	return cmocka_run_group_tests_name("inlined bodies", tests, NULL, NULL);
}
