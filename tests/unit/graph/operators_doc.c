/* docs/operators.md says what ops.def, refused.def and import.h say: each operator with its
 * attributes, each refusal with its reason, all of them and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/import/import.h"
#include "graph/ir/op.h"
#include "tests/lib/doc_tables.h"

/* "| `Elu` | `alpha` |" */
static void begin_row(const struct hn_gop *op, struct hn_buf *b)
{
	const char *p = op->attrs;

	hn_buf_reset(b);
	hn_buf_printf(b, "| `%s` | ", op->name);
	while (*p != '\0') {
		size_t n = strcspn(p, " ");

		hn_buf_printf(b, "`%.*s` ", (int)n, p);
		p += n + (p[n] == ' ');
	}
	hn_buf_puts(b, *op->attrs == '\0' ? " |" : "|");
}

static void the_operators_are_the_rows(void **state)
{
	const char *rows = table("| operator | attributes |");
	const struct hn_gop *op;
	uint32_t n, of_onnx = 0;
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	op = hn_gop_all(&n);
	for (uint32_t i = 0; i < n; i++) {
		if (hn_gop_is_onnx(&op[i])) {
			begin_row(&op[i], &b);
			assert_row(rows, b.s);
			of_onnx++;
		}
	}
	assert_int_equal(count_rows(rows), of_onnx);
	hn_buf_fini(&b);
}

static void the_refusals_are_the_rows(void **state)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
#define REFUSED(name, why) { name, why },
#include "graph/op/refused.def"
#undef REFUSED
	};
	const char *rows = table("| operator | why |");
	char row[200];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		snprintf(row, sizeof(row), "| `%s` | %s |", refused[i].name,
			 refused[i].why);
		assert_row(rows, row);
		assert_null(hn_gop_find(refused[i].name));
		assert_string_equal(hn_gop_why_not(refused[i].name), refused[i].why);
	}
	assert_int_equal(count_rows(rows), HN_COUNT_OF(refused));
}

static void the_limits_are_those_of_the_import(void **state)
{
	char text[80];

	(void)state;
	snprintf(text, sizeof(text), "opsets %d to %d of", HN_IMPORT_MIN_OPSET,
		 HN_IMPORT_MAX_OPSET);
	assert_non_null(strstr(doc.s, text));
	snprintf(text, sizeof(text), "has %d nodes at most", HN_IMPORT_MAX_NODES);
	assert_non_null(strstr(doc.s, text));
	assert_int_equal(HN_GRAPH_WORK, (int64_t)1 << 29);
	assert_non_null(strstr(doc.s, "until 2^29 expressions"));
}

static int read_page(void **state)
{
	(void)state;
	return read_doc("docs/operators.md");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_operators_are_the_rows),
		cmocka_unit_test(the_refusals_are_the_rows),
		cmocka_unit_test(the_limits_are_those_of_the_import),
	};

	return cmocka_run_group_tests(tests, read_page, free_doc);
}
