/* The documents are held to their form, and to the tree that they speak of.
 *
 * README.md and docs/: each page says whom it is for; paragraphs, list items and lines are short;
 * links, anchors, paths and tests that are named are there.  `unit_base_prose DIR` checks another
 * tree; a second test plants faults in a tree of its own, so that the check is known to bite.
 */
#include <ctype.h>
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"

#define PAGE_MAX_BYTES ((size_t)1 << 20)
#define MOST_LINES 6
#define MOST_COLUMNS 100

/* What a path of this tree begins with. */
static const char folders[] = " .ci base bench client costmodel daemon db docs examples graph "
			      "include loopstate lower measure ort packaging proto search sketch target tests ";

enum block { NOTHING, PARAGRAPH, ITEM, TABLE, CODE };

struct prose {
	const char *root;
	struct hn_buf report; /* "file:line: what" lines */
	struct hn_buf tests;  /* tests/CMakeLists.txt */
	unsigned n_fault, n_page, n_link, n_path, n_test;
	/* the page at hand */
	const char *page;
	unsigned line;
	enum block block;
	unsigned begin, n_line; /* of the block */
	bool greeted;           /* the first paragraph is over */
};

static bool begins(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

HN_PRINTF(3, 4)
static void fault(struct prose *p, unsigned line, const char *fmt, ...)
{
	char what[500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	hn_buf_printf(&p->report, "%s:%u: %s\n", p->page, line, what);
	p->n_fault++;
}

/* Whether there is such a file or folder below the root; `pattern` may hold stars. */
static bool is_there(const struct prose *p, const char *pattern)
{
	char path[4096];
	glob_t found = { 0 };
	bool there;

	snprintf(path, sizeof(path), "%s/%s", p->root, pattern);
	there = glob(path, 0, NULL, &found) == 0;
	globfree(&found);
	return there;
}

/* An anchor is its heading in small letters, with dashes for blanks and without signs. */
static bool is_anchor_of(const char *heading, const char *anchor)
{
	for (; *heading && *heading != '\n'; heading++) {
		char c = (char)tolower((unsigned char)*heading);

		if (!isalnum((unsigned char)c) && !strchr("-_ ", c)) {
			continue;
		}
		if (*anchor++ != (c == ' ' ? '-' : c)) {
			return false;
		}
	}
	return *anchor == '\0';
}

static bool has_anchor(const struct prose *p, const char *file, const char *anchor)
{
	char path[4096];
	struct hn_err err = { 0 };
	struct hn_buf text;
	bool code = false, there = false;

	snprintf(path, sizeof(path), "%s/%s", p->root, file);
	hn_buf_init(&text);
	assert_int_equal(hn_file_read(path, PAGE_MAX_BYTES, &text, &err), 0);
	for (const char *s = text.s; s && !there; s = strchr(s, '\n')) {
		s += *s == '\n';
		code ^= begins(s, "```");
		there = !code && *s == '#' && is_anchor_of(s + strspn(s, "# "), anchor);
	}
	hn_buf_fini(&text);
	return there;
}

/* `target` is what stands in the brackets of a link. */
static void check_link(struct prose *p, const char *target)
{
	char file[600];
	const char *anchor = strchr(target, '#'), *slash = strrchr(p->page, '/');
	size_t n = anchor ? (size_t)(anchor - target) : strlen(target);

	if (strstr(target, "://")) {
		return;
	}
	p->n_link++;
	snprintf(file, sizeof(file), "%.*s%.*s", n > 0 && slash ? (int)(slash - p->page + 1) : 0,
		 p->page, n > 0 ? (int)n : (int)strlen(p->page), n > 0 ? target : p->page);
	if (!is_there(p, file)) {
		fault(p, p->line, "link to %s, which is not there", target);
	} else if (anchor && !has_anchor(p, file, anchor + 1)) {
		fault(p, p->line, "link to %s: no such heading", target);
	}
}

static bool is_row(const struct prose *p, const char *fmt, const char *name)
{
	char row[700];

	snprintf(row, sizeof(row), fmt, name);
	return p->tests.s && strstr(p->tests.s, row);
}

/* A test is a file, or a row of tests/CMakeLists.txt.  False where `word` names no test. */
static bool check_test(struct prose *p, const char *word)
{
	static const struct {
		const char *kind, *file;
	} kinds[] = {
		{"full/", "tests/full/%s.c"}, {"e2e/", "tests/e2e/%s.sh"},
		{"golden/", "tests/golden/%s.t"}, {"fuzz/", "tests/fuzz/%s.c"}, {"slow/", "%s"},
	};
	char file[600];
	const char *noun = strchr(word, '_');

	if (begins(word, "unit/")) {
		snprintf(file, sizeof(file), "tests/unit/%.*s/%s.c",
			 noun ? (int)(noun - word - 5) : 0, word + 5, noun ? noun + 1 : "");
		p->n_test++;
		if (!is_there(p, file)) {
			fault(p, p->line, "no test %s", word);
		}
		return true;
	}
	for (size_t i = 0; i < HN_COUNT_OF(kinds); i++) {
		if (!begins(word, kinds[i].kind)) {
			continue;
		}
		p->n_test++;
		snprintf(file, sizeof(file), kinds[i].file, word + strlen(kinds[i].kind));
		/* rows are "full/name;" or, of scripts that are slow, "name;" */
		if (!(begins(file, "tests/") && is_there(p, file)) && !is_row(p, "\"%s;", word) &&
		    !is_row(p, "NAME %s ", word) &&
		    !(begins(word, "slow/") && is_row(p, "\"%s;", file))) {
			fault(p, p->line, "no test %s", word);
		}
		return true;
	}
	return false;
}

/* A path of this tree, NAME and <name> standing for any. */
static void check_path(struct prose *p, const char *word)
{
	char first[100], pattern[600];
	size_t n = 0;

	snprintf(first, sizeof(first), " %.*s ", (int)strcspn(word, "/"), word);
	if (!strchr(word, '/') || !strstr(folders, first)) {
		return;
	}
	for (const char *s = word; *s && n < sizeof(pattern) - 2;) {
		size_t upper = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		size_t hole = *s == '<' ? strcspn(s, ">") + 1 : upper >= 2 ? upper : 0;

		pattern[n++] = hole > 0 ? '*' : *s;
		s += hole > 0 ? hole : 1;
	}
	pattern[n] = '\0';
	p->n_path++;
	if (!is_there(p, pattern) && !is_there(p, word)) {
		fault(p, p->line, "no file %s", word);
	}
}

/* What stands between backquotes, where it is one word. */
static void check_word(struct prose *p, const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-./*<>";

	if (word[strspn(word, letters)] == '\0' && !check_test(p, word)) {
		check_path(p, word);
	}
}

static void check_spans(struct prose *p, const char *text)
{
	char word[500];

	for (const char *s = text; *s; s++) {
		const char *end = *s == '`' ? strchr(s + 1, '`') : NULL;

		if (end) {
			snprintf(word, sizeof(word), "%.*s", (int)(end - s - 1), s + 1);
			check_word(p, word);
			s = end;
		} else if (begins(s, "](") && (end = strchr(s, ')')) != NULL) {
			snprintf(word, sizeof(word), "%.*s", (int)(end - s - 2), s + 2);
			check_link(p, word);
			s = end;
		}
	}
}

static void end_block(struct prose *p)
{
	if ((p->block == PARAGRAPH || p->block == ITEM) && p->n_line > MOST_LINES) {
		fault(p, p->begin, "%s of %u lines: %u at most",
		      p->block == ITEM ? "a list item" : "a paragraph", p->n_line, MOST_LINES);
	}
	p->greeted |= p->block == PARAGRAPH;
	p->block = NOTHING;
}

static void begin_block(struct prose *p, enum block block, const char *text)
{
	end_block(p);
	if (block == PARAGRAPH && !p->greeted && begins(p->page, "docs/") &&
	    !begins(text, "For ")) {
		fault(p, p->line, "the first paragraph says whom the page is for: 'For ...'");
	}
	p->block = block;
	p->begin = p->line;
	p->n_line = 0;
}

static bool is_item(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return begins(text, "- ") || begins(text, "* ") || (digits > 0 && begins(text + digits, ". "));
}

static unsigned columns(const char *s)
{
	unsigned n = 0;

	for (; *s; s++) {
		n += ((unsigned char)*s & 0xc0u) != 0x80u; /* UTF-8's further bytes are none */
	}
	return n;
}

/* A line outside of fenced code. */
static void check_line(struct prose *p, const char *line)
{
	size_t indent = strspn(line, " \t");
	const char *text = line + indent;

	if (*text == '\0') {
		end_block(p);
		return;
	}
	if (p->block == NOTHING && (indent >= 4 || *line == '\t')) {
		return; /* code without a fence */
	}
	if (*text == '#') {
		end_block(p);
	} else if (*text == '|') {
		begin_block(p, TABLE, text);
	} else if (is_item(text)) {
		begin_block(p, ITEM, text);
	} else if (p->block == NOTHING || p->block == TABLE) {
		begin_block(p, PARAGRAPH, text);
	}
	p->n_line++;
	if (p->block != TABLE && columns(line) > MOST_COLUMNS) {
		fault(p, p->line, "%u columns: %u at most", columns(line), MOST_COLUMNS);
	}
	check_spans(p, text);
}

static void check_page(struct prose *p, const char *page)
{
	char path[4096];
	struct hn_err err = { 0 };
	struct hn_buf text;
	bool code = false;

	snprintf(path, sizeof(path), "%s/%s", p->root, page);
	hn_buf_init(&text);
	assert_int_equal(hn_file_read(path, PAGE_MAX_BYTES, &text, &err), 0);
	p->page = page;
	p->block = NOTHING;
	p->greeted = false;
	p->line = 1;
	p->n_page++;
	for (char *s = text.s, *next; s; s = next, p->line++) {
		bool fence;

		next = strchr(s, '\n');
		if (next) {
			*next++ = '\0';
		}
		fence = begins(s + strspn(s, " \t"), "```");
		if (fence) {
			end_block(p);
			code = !code;
		} else if (!code) {
			check_line(p, s);
		}
	}
	end_block(p);
	hn_buf_fini(&text);
}

static void check_tree(struct prose *p, const char *root)
{
	struct hn_err err = { 0 };
	char pattern[4096];
	glob_t pages = { 0 };

	*p = (struct prose){.root = root};
	hn_buf_init(&p->report);
	hn_buf_init(&p->tests);
	snprintf(pattern, sizeof(pattern), "%s/tests/CMakeLists.txt", root);
	assert_int_equal(hn_file_read(pattern, PAGE_MAX_BYTES, &p->tests, &err), 0);
	check_page(p, "README.md");
	snprintf(pattern, sizeof(pattern), "%s/docs/*.md", root);
	assert_int_equal(glob(pattern, 0, NULL, &pages), 0);
	for (size_t i = 0; i < pages.gl_pathc; i++) {
		check_page(p, pages.gl_pathv[i] + strlen(root) + 1);
	}
	globfree(&pages);
}

static void check_fini(struct prose *p)
{
	hn_buf_fini(&p->report);
	hn_buf_fini(&p->tests);
}

static void pages_are_short_and_true(void **state)
{
	struct prose p;

	check_tree(&p, *state);
	if (p.n_fault > 0) {
		fputs(p.report.s, stderr); /* fail_msg cuts what is long */
		fail_msg("%u faults in the documents of %s", p.n_fault, p.root);
	}
	print_message("%u pages: %u links, %u paths, %u tests\n", p.n_page, p.n_link, p.n_path,
		      p.n_test);
	assert_true(p.n_page >= 10 && p.n_link >= 20 && p.n_path >= 50 && p.n_test >= 10);
	check_fini(&p);
}

/* A page each; what is said of it, or NULL where nothing is. */
struct plant {
	const char *text, *expected;
};

#define HEAD "# A page\n\nFor nobody.\n\n"
#define SIX "a\nb\nc\nd\ne\nf\n"
#define LONG "0123456789 0123456789 0123456789 0123456789 0123456789 "

static const struct plant plants[] = {
	{"# A page\n\nThis is it.\n", ":3: the first paragraph says whom the page is for"},
	{HEAD SIX, NULL},
	{HEAD SIX "g\n", ":5: a paragraph of 7 lines: 6 at most\n"},
	{HEAD "a\n\n" SIX "g", ":7: a paragraph of 7 lines: 6 at most\n"},
	{HEAD "- " SIX "- " SIX, NULL},
	{HEAD "- a\n- " SIX "g\n- h\n", ":6: a list item of 7 lines: 6 at most\n"},
	{HEAD "1. " SIX "g\n", ":5: a list item of 7 lines: 6 at most\n"},
	{HEAD "```\n" SIX "g\n`base/none.c`\n```\n", NULL},
	{HEAD "    a\n    " SIX, NULL},
	{HEAD "| a |\n|---|\n| b |\n| c |\n| d |\n| e |\n| f |\n", NULL},
	{HEAD "| a |\n|---|\n| `base/none.c` |\n", ":7: no file base/none.c\n"},
	{HEAD LONG LONG "\n", ":5: 110 columns: 100 at most\n"},
	{HEAD "| " LONG LONG " |\n", NULL},
	{HEAD "```\n" LONG LONG "\n```\n", NULL},
	{HEAD "[a](../README.md) [b](good.md#the-end-of-a_b) [c](https://example.org/none)\n", NULL},
	{HEAD "## There: `x`\n\n[a](#there-x)\n", NULL},
	{HEAD "[a](none.md)\n", ":5: link to none.md, which is not there\n"},
	{HEAD "[a](good.md#none)\n", ":5: link to good.md#none: no such heading\n"},
	{HEAD "[a](good.md#code)\n", ":5: link to good.md#code: no such heading\n"},
	{HEAD "[a](#none)\n", ":5: link to #none: no such heading\n"},
	{HEAD "`base/a.c` `base/` `base/NAME.c` `base/<name>.c` `base/*.c` `none/a.c` `a b/c`\n", NULL},
	{HEAD "`base/a.h`\n", ":5: no file base/a.h\n"},
	{HEAD "`base/NAME.def`\n", ":5: no file base/NAME.def\n"},
	{HEAD "`unit/base_a` `full/base_b` `full/base_c` `slow/base_c` `slow/d` `e2e/e`\n", NULL},
	{HEAD "`unit/base_none`\n", ":5: no test unit/base_none\n"},
	{HEAD "`unit/base`\n", ":5: no test unit/base\n"},
	{HEAD "`full/base_a`\n", ":5: no test full/base_a\n"},
	{HEAD "`slow/base_a`\n", ":5: no test slow/base_a\n"},
	{HEAD "`e2e/none`\n", ":5: no test e2e/none\n"},
};

static void plant_file(const char *root, const char *file, const char *text)
{
	struct hn_err err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	*strrchr(path, '/') = '\0';
	assert_int_equal(hn_file_mkdirs(path, 0700, &err), 0);
	snprintf(path, sizeof(path), "%s/%s", root, file);
	assert_int_equal(hn_file_replace(path, text, strlen(text), &err), 0);
}

static int remove_visited(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void planted_faults_are_found(void **state)
{
	char root[] = "/tmp/hone prose-XXXXXX", file[100], expected[200];
	unsigned n_expected = 0;
	struct prose p;

	(void)state;
	assert_non_null(mkdtemp(root));
	plant_file(root, "README.md", "# It\n\nSee `docs/good.md`.\n");
	plant_file(root, "docs/good.md", HEAD "## The end of a_b\n\n```\n# code\n```\n");
	plant_file(root, "base/a.c", "");
	plant_file(root, "tests/unit/base/a.c", "");
	plant_file(root, "tests/full/base_b.c", "");
	plant_file(root, "tests/e2e/e.sh", "");
	plant_file(root, "tests/CMakeLists.txt",
		   "\"full/base_c;unit_base_a\"\n\"slow/base_c;unit_base_a\"\n\"d;200\"\n");
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		snprintf(file, sizeof(file), "docs/page%zu.md", i);
		plant_file(root, file, plants[i].text);
		n_expected += plants[i].expected != NULL;
	}
	check_tree(&p, root);
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		snprintf(expected, sizeof(expected), "docs/page%zu.md%s", i,
			 plants[i].expected ? plants[i].expected : ":");
		if ((strstr(p.report.s, expected) != NULL) != (plants[i].expected != NULL)) {
			fail_msg("%s: %s\nin:\n%s",
				 plants[i].expected ? "not found" : "found without cause",
				 expected, p.report.s);
		}
	}
	if (p.n_fault != n_expected) {
		fail_msg("%u faults, %u planted:\n%s", p.n_fault, n_expected, p.report.s);
	}
	check_fini(&p);
	assert_int_equal(nftw(root, remove_visited, 16, FTW_DEPTH | FTW_PHYS), 0);
}

int main(int argc, char **argv)
{
	static char default_root[] = HONE_SOURCE_DIR;
	char *root = argc > 1 ? argv[1] : default_root;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(pages_are_short_and_true, root),
		cmocka_unit_test(planted_faults_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
