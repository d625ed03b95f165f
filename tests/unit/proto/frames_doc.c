/* proto_frames_doc.c -- the tables of docs/frames.md are those of proto/frames.def.
 *
 * With the argument `print` it writes them, to be put below the heading "Frames" of the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "proto/frames_row.h"

#define HEAD "\n## Frames\n\n"

static void print_limit(const struct hn_frame_field *f, long double v, struct hn_buf *b)
{
	if (f->kind == HN_FIELD_INT || f->kind == HN_FIELD_INTS) {
		hn_buf_printf(b, "%.0Lf", v);
	} else {
		hn_buf_double(b, (double)v);
	}
}

static void print_range(const struct hn_frame_field *f, struct hn_buf *b)
{
	bool open = f->high >= INT64_MAX;

	hn_buf_puts(b, open ? " from " : ", ");
	print_limit(f, f->low, b);
	if (!open) {
		hn_buf_puts(b, " to ");
		print_limit(f, f->high, b);
	}
}

static void print_kind(const struct hn_frame_field *f, struct hn_buf *b)
{
	static const char *const word[] = {
		[HN_FIELD_BOOL] = "bool",	[HN_FIELD_INT] = "integer",
		[HN_FIELD_NUMBER] = "number",	[HN_FIELD_NAME] = "name",
		[HN_FIELD_LINE] = "line",	[HN_FIELD_TEXT] = "text",
		[HN_FIELD_JSON] = "object or array", [HN_FIELD_HASH] = "SHA-256 in hex",
		[HN_FIELD_VERDICT] = "verdict", [HN_FIELD_TYPE] = "type",
		[HN_FIELD_INTS] = "integers",	[HN_FIELD_NUMBERS] = "numbers",
	};

	switch (f->kind) {
	case HN_FIELD_INT:
	case HN_FIELD_NUMBER:
		hn_buf_puts(b, word[f->kind]);
		print_range(f, b);
		break;
	case HN_FIELD_INTS:
	case HN_FIELD_NUMBERS:
		hn_buf_printf(b, "up to %" PRIu32 " %s", f->most, word[f->kind]);
		print_range(f, b);
		break;
	case HN_FIELD_NAME:
	case HN_FIELD_LINE:
	case HN_FIELD_TEXT:
	case HN_FIELD_JSON:
		hn_buf_printf(b, "%s, %" PRIu32 " bytes", word[f->kind], f->most);
		break;
	case HN_FIELD_ONE:
		hn_buf_printf(b, "[%s](#%s)", hn_frame_shape[f->shape].name,
			      hn_frame_shape[f->shape].name);
		break;
	case HN_FIELD_MANY:
		hn_buf_printf(b, "up to %" PRIu32 " [%s](#%s)", f->most,
			      hn_frame_shape[f->shape].name, hn_frame_shape[f->shape].name);
		break;
	default:
		hn_buf_puts(b, word[f->kind]);
	}
}

static void print_fields(enum hn_shape s, struct hn_buf *b)
{
	bool head = false;

	for (uint32_t i = 0; i < hn_frame_n_field; i++) {
		const struct hn_frame_field *f = &hn_frame_field[i];

		if (f->of != s) {
			continue;
		}
		if (!head) {
			hn_buf_puts(b, "\n| field | what | | meaning |\n|---|---|---|---|\n");
			head = true;
		}
		hn_buf_printf(b, "| `%s` | ", f->name);
		print_kind(f, b);
		hn_buf_printf(b, " | %s | %s |\n", f->must ? "required" : "", f->text);
	}
	for (uint32_t i = 0, n = 0; i < hn_frame_n_rule; i++) {
		if (hn_frame_rule[i].of == s) {
			hn_buf_printf(b, "%s- refused with `%s`\n", n++ == 0 ? "\n" : "",
				      hn_frame_rule[i].text);
		}
	}
}

/* Lines from byte `at` on end at a blank before column 100. */
static void wrap(struct hn_buf *b, size_t at)
{
	size_t line = at, blank = at;

	for (size_t i = at; i < b->n; i++) {
		if (i - line >= 100 && blank > line) {
			b->s[blank] = '\n';
			line = blank + 1;
		}
		blank = b->s[i] == ' ' ? i : blank;
		line = b->s[i] == '\n' ? i + 1 : line;
	}
}

static void print_shape(enum hn_shape s, struct hn_buf *b)
{
	const struct hn_frame_shape *shape = &hn_frame_shape[s];
	size_t at = b->n;

	hn_buf_printf(b, "### %s\n\n", shape->name);
	if (shape->type != HN_FRAME_NONE) {
		hn_buf_printf(b, "From %s: %s.", shape->way, shape->text);
		if (shape->reply != HN_FRAME_NONE) {
			hn_buf_printf(b, " The answer is %s.", hn_frame_name(shape->reply));
		}
		if (strcmp(shape->blob, "none") != 0) {
			hn_buf_printf(b, "\n\nBlob: %s.", shape->blob);
		}
	} else {
		hn_buf_printf(b, "%c%s.", toupper(shape->text[0]), shape->text + 1);
	}
	wrap(b, at);
	hn_buf_puts(b, "\n");
	print_fields(s, b);
	hn_buf_puts(b, "\n");
}

static void print_all(struct hn_buf *b)
{
	for (int objects = 0; objects < 2; objects++) {
		hn_buf_puts(b, objects ? "## Objects inside of frames\n\n" : "");
		for (uint32_t s = 0; s < HN_N_SHAPE; s++) {
			if ((hn_frame_shape[s].type == HN_FRAME_NONE) == objects) {
				print_shape((enum hn_shape)s, b);
			}
		}
	}
	b->s[--b->n] = '\0'; /* the blank line at the end */
}

static void the_page_is_the_table(void **state)
{
	struct hn_buf doc, want;
	const char *got;
	size_t same = 0;

	(void)state;
	hn_buf_init(&doc);
	hn_buf_init(&want);
	assert_int_equal(hn_file_read(HONE_SOURCE_DIR "/docs/frames.md", 1 << 20, &doc, NULL), 0);
	print_all(&want);
	got = strstr(doc.s, HEAD);
	assert_non_null(got);
	got += strlen(HEAD);
	while (got[same] != '\0' && got[same] == want.s[same]) {
		same++;
	}
	if (got[same] != want.s[same]) {
		while (same > 0 && want.s[same - 1] != '\n') {
			same--;
		}
		fail_msg("docs/frames.md says '%.*s', the table '%.*s'",
			 (int)strcspn(got + same, "\n"), got + same,
			 (int)strcspn(want.s + same, "\n"), want.s + same);
	}
	hn_buf_fini(&doc);
	hn_buf_fini(&want);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_is_the_table),
	};
	struct hn_buf b;

	if (argc == 2 && strcmp(argv[1], "print") == 0) {
		hn_buf_init(&b);
		print_all(&b);
		fputs(b.s, stdout);
		hn_buf_fini(&b);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
