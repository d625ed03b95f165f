/* target/named.c -- see named.h. */
#include "target/named.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/name.h"
#include "target/target.h"

#define MOST_BYTES ((size_t)1 << 16)
#define MOST_NAME 40
#define SPACE " \t\r"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

/* A word of the file in a message. */
static const char *shown(const char *word, char text[61])
{
	hn_shown(text, 61, word, strlen(word));
	return text;
}

static int check_name(const char *name, const struct hn_named *before, uint32_t n,
		      struct hn_err *err)
{
	size_t length = strlen(name);
	char text[61];

	if (length > MOST_NAME || strspn(name, NAME_LETTERS) != length) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "\"%s\" is no name: want 1 to %d letters, digits, '_', '-', '.'",
			       shown(name, text), MOST_NAME);
	}
	if (hn_target_is_kind(name)) {
		return hn_fail(err, HONE_E_CORRUPT,
			       "\"%s\" begins a target line: give it another name, in front", name);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(before[i].name, name) == 0) {
			return hn_fail(err, HONE_E_CORRUPT, "there are two called \"%s\"", name);
		}
	}
	return 0;
}

/* 1: the word is no such count. */
static int read_count(const char *word, const char *what, uint32_t most, uint32_t *ret,
		      struct hn_err *err)
{
	size_t n = strlen(what);
	char text[61], *end;
	long count;

	if (strncmp(word, what, n) != 0 || word[n] != '=') {
		return 1;
	}
	count = strtol(word + n + 1, &end, 10);
	if (end == word + n + 1 || *end != '\0' || count < 1 || count > (long)most) {
		return hn_fail(err, HONE_E_CORRUPT, "\"%s\": want %s=1 to %s=%u",
			       shown(word, text), what, what, most);
	}
	*ret = (uint32_t)count;
	return 0;
}

/* The words behind the name; `text` is cut up. */
static int read_words(char *text, struct hn_named *ret, struct hn_arena *a, struct hn_err *err)
{
	struct hn_buf line;
	char *rest = NULL;
	int rc = 0;

	hn_buf_init(&line);
	hn_buf_puts(&line, "");
	for (char *w = strtok_r(text, SPACE, &rest); w != NULL && rc == 0;
	     w = strtok_r(NULL, SPACE, &rest)) {
		rc = read_count(w, "boards", HN_BOARDS_MOST, &ret->n_boards, err);
		if (rc == 1) {
			rc = read_count(w, "builders", HN_BUILDERS_MOST, &ret->n_builders, err);
		}
		if (rc == 1) {
			hn_buf_printf(&line, "%s%s", line.n > 0 ? " " : "", w);
			rc = 0;
		}
	}
	if (rc == 0 && line.n == 0) {
		rc = hn_fail(err, HONE_E_CORRUPT, "\"%s\" has no target line behind it", ret->name);
	}
	ret->line = hn_arena_strdup(a, line.s);
	hn_buf_fini(&line);
	return rc;
}

/* 1: nothing is on this line. */
static int read_row(char *text, const struct hn_named *before, uint32_t n, struct hn_arena *a,
		    struct hn_named *ret, struct hn_err *err)
{
	char *name = text + strspn(text, SPACE), *rest = name + strcspn(name, SPACE);
	int rc;

	if (*name == '\0' || *name == '#') {
		return 1;
	}
	rest += *rest != '\0';
	*ret = (struct hn_named){ .name = hn_arena_strndup(a, name, strcspn(name, SPACE)),
				  .n_boards = 1 };
	rc = check_name(ret->name, before, n, err);
	if (rc == 0 && n == HN_NAMED_MOST) {
		rc = hn_fail(err, HONE_E_CORRUPT, "there may be %d targets, and no more",
			     HN_NAMED_MOST);
	}
	return rc != 0 ? rc : read_words(rest, ret, a, err);
}

int hn_named_read(const char *home, struct hn_arena *a, uint32_t *n, struct hn_named **ret,
		  struct hn_err *err)
{
	struct hn_named *row = HN_NEW_ARRAY(a, struct hn_named, HN_NAMED_MOST + 1);
	struct hn_buf path, text;
	uint32_t at = 0;
	char *rest;
	int rc;

	*n = 0;
	*ret = row;
	hn_buf_init(&path);
	hn_buf_init(&text);
	hn_buf_printf(&path, "%s/" HN_TARGETS_FILE, home);
	rc = hn_file_read_kept(path.s, MOST_BYTES, &text, err);
	if (rc == 0 && text.n > 0 && memchr(text.s, '\0', text.n) != NULL) {
		rc = hn_fail(err, HONE_E_CORRUPT, "%s: a text file has no zero bytes", path.s);
	}
	rest = rc == 0 && text.n > 0 ? text.s : NULL;
	for (char *line = strsep(&rest, "\n"); line != NULL && rc == 0; line = strsep(&rest, "\n")) {
		at++;
		rc = read_row(line, row, *n, a, &row[*n], err);
		*n += rc == 0;
		rc = rc < 0 ? hn_err_within(err, "%s:%u", path.s, at) : 0;
	}
	hn_buf_fini(&path);
	hn_buf_fini(&text);
	return rc == -HONE_E_NOT_FOUND ? 0 : rc;
}
