/* The tables of docs/dag.md say what the tables of the code say: types, nodes, functions, each
 * with its arity, all of them and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopstate/expr/expr.h"
#include "tests/lib/doc_tables.h"

static void types(void **state)
{
	const char *rows = table("| type | bytes |");

	(void)state;
	for (int t = 0; t < HN_N_DTYPE; t++) {
		char row[100];

		snprintf(row, sizeof(row), "| `%s` | %" PRIu32 " | `%s` |",
			 hn_dtype_name((enum hn_dtype)t), hn_dtype_bytes((enum hn_dtype)t),
			 hn_dtype_c_name((enum hn_dtype)t));
		assert_row(rows, row);
	}
	assert_int_equal(count_rows(rows), HN_N_DTYPE);
}

static void nodes(void **state)
{
	static const int arity[HN_N_EXPR] = {
#define EXPR(name, text, n, kind) [HN_EXPR_##name] = n,
#include "loopstate/expr/exprops.def"
#undef EXPR
	};
	const char *rows = table("| node | operands |");

	(void)state;
	for (int op = 0; op < HN_N_EXPR; op++) {
		char row[100];

		snprintf(row, sizeof(row), "| `%s` | ", hn_expr_op_name((enum hn_expr_op)op));
		if (arity[op] >= 0) {
			snprintf(row + strlen(row), sizeof(row) - strlen(row), "%d |", arity[op]);
		}
		assert_row(rows, row);
	}
	assert_int_equal(count_rows(rows), HN_N_EXPR);
}

/* Names in backquotes, and at the end of the row their arity. */
static void functions(void **state)
{
	const char *at = table("| function | arguments |");
	unsigned n = 0;

	(void)state;
	for (; *at == '|'; at = strchr(at, '\n') + 1) {
		const char *end = strchr(at, '\n');
		uint32_t arity = (uint32_t)strtoul(end - 3, NULL, 10);

		for (const char *name = at; (name = strchr(name, '`')) != NULL && name < end;) {
			char word[40];
			size_t length = strcspn(++name, "`");

			snprintf(word, sizeof(word), "%.*s", (int)length, name);
			assert_int_not_equal(hn_fn_of(word), HN_N_FN);
			assert_int_equal(hn_fn_arity(hn_fn_of(word)), arity);
			name += length + 1;
			n++;
		}
	}
	assert_int_equal(n, HN_N_FN);
}

static int read_page(void **state)
{
	(void)state;
	return read_doc("docs/dag.md");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types),
		cmocka_unit_test(nodes),
		cmocka_unit_test(functions),
	};

	return cmocka_run_group_tests(tests, read_page, free_doc);
}
