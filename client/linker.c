/* client/linker.c -- see linker.h. */
#include "client/linker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/builder.h"

#define MOST_WORDS 40
#define FALLBACK_PATH "/usr/local/bin:/usr/bin:/bin"

enum whose { OWN, ANY };

static const struct row {
	const char *name;
	enum whose whose;
	const char *words[HN_LINK_N];
} rows[] = {
#define LINKER(name, whose, join, share, compile)                                        \
	{ name, whose, { join, share, compile } },
#include "client/linkers.def"
#undef LINKER
};

/* What the tools of a family of processors are called with in front. */
static const struct {
	const char *isa, *prefix;
} families[] = {
	{ "x86-64-", "x86_64-linux-gnu-" },
	{ "aarch64-", "aarch64-linux-gnu-" },
};

/* The first program of that name in PATH; false where there is none. */
static bool find_program(const char *prefix, const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	struct stat st;

	for (dirs = dirs ? dirs : FALLBACK_PATH; *dirs != '\0';) {
		int n = (int)strcspn(dirs, ":");
		int k = snprintf(path, PATH_MAX, "%.*s/%s%s", n, dirs, prefix, name);

		if (n > 0 && k < PATH_MAX && stat(path, &st) == 0 &&
		    S_ISREG(st.st_mode) && access(path, X_OK) == 0) {
			return true;
		}
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

bool hn_linker_find_program(const char *name, char path[PATH_MAX])
{
	return find_program("", name, path);
}

/* NULL: a family whose tools nobody knows. */
static const char *prefix_of(const struct hn_target *target)
{
	struct hn_target host;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	bool own = hn_target_is_akin(target, &host);

	hn_arena_fini(&a);
	for (size_t i = 0; i < HN_COUNT_OF(families) && !own; i++) {
		if (strncmp(target->isa, families[i].isa, strlen(families[i].isa)) == 0) {
			return families[i].prefix;
		}
	}
	return own ? "" : NULL;
}

/* Who compiles, links with the system's libraries as well: for a library they come first. */
static bool suits(const struct row *r, enum hn_linker_work work, bool first)
{
	bool compiles = *r->words[HN_LINK_COMPILE] != '\0';

	return *r->words[work] != '\0' && (work != HN_LINK_SHARE || compiles == first);
}

static void find_one(const char *prefix, enum hn_linker_work work, struct hn_linker *ret)
{
	ret->row[work] = -1;
	for (size_t i = 0; i < 2 * HN_COUNT_OF(rows) && ret->row[work] < 0; i++) {
		const struct row *r = &rows[i % HN_COUNT_OF(rows)];
		const char *front = r->whose == ANY ? "" : prefix;

		if (suits(r, work, i < HN_COUNT_OF(rows)) && front != NULL &&
		    find_program(front, r->name, ret->path[work])) {
			ret->row[work] = (int)(r - rows);
		}
	}
}

void hn_linker_find(const struct hn_target *target, struct hn_linker *ret)
{
	const char *prefix = prefix_of(target);

	for (enum hn_linker_work w = 0; w < HN_LINK_N; w++) {
		find_one(prefix, w, ret);
	}
}

/* What stands for %x. */
static const char *value_of(char x, const struct hn_linking *what)
{
	switch (x) {
	case 'o':
		return what->out;
	case 'i':
		return what->in;
	case 'n':
		return what->name;
	case 'e':
		return what->exports;
	default:
		hn_bug(__FILE__, __LINE__, "linkers.def: no such %x");
	}
}

static void put_words(const char *words, const struct hn_linking *what,
		      struct hn_buf *ret)
{
	for (; *words != '\0'; words++) {
		if (*words == '%') {
			hn_buf_puts(ret, value_of(*++words, what));
		} else {
			hn_buf_putc(ret, *words);
		}
	}
}

void hn_linker_words(const struct hn_linker *l, enum hn_linker_work work,
		     const struct hn_linking *what, struct hn_buf *ret)
{
	int row = l->row[work];

	for (int i = 0; row < 0; i++) {
		row = suits(&rows[i], work, true) ? i : -1;
	}
	hn_buf_printf(ret, "%s ",
		      hn_linker_can(l, work) ? strrchr(l->path[work], '/') + 1
					     : rows[row].name);
	put_words(rows[row].words[work], what, ret);
}

int hn_linker_run(const struct hn_linker *l, enum hn_linker_work work,
		  const struct hn_linking *what, const char *verb, struct hn_err *err)
{
	char *argv[MOST_WORDS + 1] = { NULL }, *save = NULL;
	struct hn_buf words;
	uint32_t n = 0;

	hn_buf_init(&words);
	hn_linker_words(l, work, what, &words);
	if (words.failed) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for the linker's words");
	}
	for (char *w = strtok_r(words.s, " ", &save); w && n < MOST_WORDS;
	     w = strtok_r(NULL, " ", &save)) {
		argv[n++] = w;
	}
	const struct hn_program p = {
		.path = l->path[work], .argv = argv, .dir = what->dir, .out = -1
	};
	int rc = hn_program_run(verb, &p, err);

	hn_buf_fini(&words);
	return rc;
}
