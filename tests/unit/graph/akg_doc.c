/* docs/akg.md says what graph/akg/ops.def and refused.def say: each operator with its attributes, each
 * refusal with its reason, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/akg/call.h"
#include "graph/akg/import.h"
#include "tests/lib/doc_tables.h"

/* "| `Tile` | `multiples` |" */
static void begin_row(const struct hn_akg_row *row, struct hn_buf *b)
{
	const char *p = row->attrs;

	hn_buf_reset(b);
	hn_buf_printf(b, "| `%s` | ", row->name);
	while (*p != '\0') {
		size_t n = strcspn(p, " ");

		hn_buf_printf(b, "`%.*s` ", (int)n, p);
		p += n + (p[n] == ' ');
	}
	hn_buf_puts(b, "|");
}

/* The operators without attributes stand in text; `end` is behind them. */
static void assert_said(const char *begin, const char *end, const char *name)
{
	char word[64];
	const char *at;

	snprintf(word, sizeof(word), "`%s`", name);
	at = strstr(begin, word);
	if (at == NULL || at > end) {
		fail_msg("docs/akg.md has no %s", word);
	}
}

static uint32_t count_words(const char *begin, const char *end)
{
	uint32_t n = 0;

	for (; begin < end; begin++) {
		n += *begin == '`';
	}
	return n / 2;
}

static void the_operators_are_the_rows(void **state)
{
	const char *plain = strstr(doc.s, "Without attributes:"), *with = strstr(doc.s, "With attributes");
	const char *table_rows = table("| operator | attributes |");
	const struct hn_akg_row *row;
	uint32_t n, n_plain = 0;
	struct hn_buf b;

	(void)state;
	assert_true(plain != NULL && with != NULL);
	hn_buf_init(&b);
	row = hn_akg_rows(&n);
	for (uint32_t i = 0; i < n; i++) {
		if (*row[i].attrs == '\0') {
			assert_said(plain, with, row[i].name);
			n_plain++;
		} else {
			begin_row(&row[i], &b);
			assert_row(table_rows, b.s);
		}
	}
	assert_int_equal(count_words(plain, with), n_plain);
	assert_int_equal(count_rows(table_rows), n - n_plain);
	hn_buf_fini(&b);
}

static void the_refusals_are_the_rows(void **state)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
#define REFUSED(name, why) { name, why },
#include "graph/akg/refused.def"
#undef REFUSED
	};
	const char *rows = table("| operator | why |");
	char row[200];

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		snprintf(row, sizeof(row), "| `%s` | %s |", refused[i].name, refused[i].why);
		assert_row(rows, row);
		assert_string_equal(hn_akg_why_not(refused[i].name), refused[i].why);
	}
	assert_int_equal(count_rows(rows), HN_COUNT_OF(refused));
}

static int read_page(void **state)
{
	(void)state;
	return read_doc("docs/akg.md");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_operators_are_the_rows),
		cmocka_unit_test(the_refusals_are_the_rows),
	};

	return cmocka_run_group_tests(tests, read_page, free_doc);
}
