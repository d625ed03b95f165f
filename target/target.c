/* target/target.c -- targets as text: lookup in targets.def, the canonical line, its
 * parser.
 *
 * Relies on: every row names a distinct isa, so that the isa alone finds kind and family.
 */
#include "target/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "target/named.h"
#include "target/target_int.h"

struct row {
	const char *kind, *isa, *family;
	int32_t level;
	uint32_t caps;
	struct set {
		int32_t param;
		int64_t value;
	} set[HN_N_PARAM];
};

static const struct row rows[] = {
#define SET(name, value) { HN_PARAM_##name + 1, value },
#define TARGET(kind, isa, family, level, caps, sets)                                     \
	{ kind, isa, family, level, caps, { sets } },
#include "target/targets.def"
#undef TARGET
#undef SET
};

static const struct {
	int64_t fallback, least, greatest;
} params[] = {
#define PARAM(name, unit, fallback, least, greatest, text) { fallback, least, greatest },
#include "target/params.def"
#undef PARAM
};

const char *hn_param_name(enum hn_param p)
{
	static const char *const names[] = {
		"num_cores",
		"vector_unit_bytes",
		"cache_line_bytes",
		"max_shared_memory_per_block",
		"max_local_memory_per_block",
		"max_threads_per_block",
		"max_vthread_extent",
		"warp_size",
		"vector_registers",
		"fma_per_cycle",
		"fma_latency",
		"l1_bytes",
		"l2_bytes",
		"l3_bytes",
	};

	_Static_assert(HN_COUNT_OF(names) == HN_N_PARAM,
		       "one name for each row of params.def");
	return (unsigned)p < HN_N_PARAM ? names[p] : "?";
}

static const struct row *row_of_isa(const char *isa)
{
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].isa, isa) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

static const struct row *row_of_kind(const char *kind)
{
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].kind, kind) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

bool hn_target_is_kind(const char *word)
{
	return strcmp(word, "native") == 0 || row_of_kind(word) != NULL;
}

static void take_row(const struct row *row, struct hn_target *ret)
{
	*ret = (struct hn_target){ .kind = row->kind,
				   .isa = row->isa,
				   .caps = row->caps };
	for (int p = 0; p < HN_N_PARAM; p++) {
		ret->param[p] = params[p].fallback;
	}
	for (int i = 0; i < HN_N_PARAM && row->set[i].param > 0; i++) {
		ret->param[row->set[i].param - 1] = row->set[i].value;
	}
}

bool hn_target_rank(const char *isa, const char **ret_family, int32_t *ret_level)
{
	const struct row *row = row_of_isa(isa);

	if (row) {
		*ret_family = row->family;
		*ret_level = row->level;
	}
	return row != NULL;
}

bool hn_target_of_isa(const char *isa, struct hn_target *ret)
{
	const struct row *row = row_of_isa(isa);

	if (row) {
		take_row(row, ret);
	}
	return row != NULL;
}

void hn_target_print(const struct hn_target *t, struct hn_buf *buf)
{
	hn_buf_printf(buf, "%s -isa=%s", t->kind, t->isa);
	if (hn_target_features_of_isa(t->isa) != 0) {
		hn_buf_puts(buf, " -mattr=");
		hn_target_features_print(t->features, buf);
	}
	for (int p = 0; p < HN_N_PARAM; p++) {
		hn_buf_printf(buf, " -%s=%lld", hn_param_name(p), (long long)t->param[p]);
	}
}

void hn_target_print_isa(const struct hn_target *t, struct hn_buf *buf)
{
	hn_buf_printf(buf, "%s%s", t->isa, t->features != 0 ? " " : "");
	hn_target_features_print(t->features, buf);
}

bool hn_target_runs_on(const struct hn_target *t, const struct hn_target *host)
{
	const struct row *have = row_of_isa(host->isa), *need = row_of_isa(t->isa);

	if (!have || !need || strcmp(have->kind, need->kind) != 0 ||
	    (t->features & ~host->features) != 0) {
		return false;
	}
	if (have == need) {
		return t->param[HN_PARAM_VECTOR_UNIT_BYTES] <=
		       host->param[HN_PARAM_VECTOR_UNIT_BYTES];
	}
	return strcmp(have->family, need->family) == 0 && need->level <= have->level;
}

bool hn_target_is_akin(const struct hn_target *t, const struct hn_target *other)
{
	const struct row *a = row_of_isa(t->isa), *b = row_of_isa(other->isa);

	return a && b && strcmp(a->kind, b->kind) == 0 && strcmp(a->family, b->family) == 0;
}

/* The next word of *text, copied; NULL at the end. */
static char *next_word(const char **text, struct hn_arena *a)
{
	const char *s = *text + strspn(*text, " \t\r\n");
	size_t n = strcspn(s, " \t\r\n");

	*text = s + n;
	return n > 0 ? hn_arena_strndup(a, s, n) : NULL;
}

static int set_word(const char *word, struct hn_target *t, struct hn_err *err)
{
	const char *eq = strchr(word, '=');

	if (strncmp(word, "-mattr=", 7) == 0) {
		return hn_target_features_parse(word + 7, t, err);
	}
	for (int p = 0; eq && word[0] == '-' && p < HN_N_PARAM; p++) {
		const char *name = hn_param_name(p);

		if (strlen(name) != (size_t)(eq - word - 1) ||
		    strncmp(name, word + 1, strlen(name)) != 0) {
			continue;
		}
		char *end = NULL;
		errno = 0;
		long long v = strtoll(eq + 1, &end, 10);
		if (end == eq + 1 || *end || errno || v < params[p].least ||
		    v > params[p].greatest) {
			return hn_fail(
				err, HONE_E_INVALID,
				"target: '%.100s': want a whole number from %lld to %lld",
				word, (long long)params[p].least,
				(long long)params[p].greatest);
		}
		t->param[p] = v;
		return 0;
	}
	return hn_fail(
		err, HONE_E_INVALID,
		"target: unknown word '%.100s': want -isa=NAME, -mattr=+FEATURE,... or "
		"-PARAMETER=NUMBER",
		word);
}

/* Values that no single parameter's range can refuse. */
static int check_whole(const struct hn_target *t, struct hn_err *err)
{
	int64_t bytes = t->param[HN_PARAM_VECTOR_UNIT_BYTES];

	if (bytes & (bytes - 1)) {
		return hn_fail(err, HONE_E_INVALID,
			       "target: '-vector_unit_bytes=%lld': want a power of two",
			       (long long)bytes);
	}
	if ((t->caps & HN_CAP_THREADS) && t->param[HN_PARAM_NUM_CORES] < 1) {
		return hn_fail(err, HONE_E_INVALID,
			       "target: '-num_cores=%lld': a %s has at least 1",
			       (long long)t->param[HN_PARAM_NUM_CORES], t->kind);
	}
	return 0;
}

/* The isa named somewhere in the line, or NULL. */
static const char *find_isa(const char *text, struct hn_arena *a)
{
	const char *found = NULL;

	for (char *w = next_word(&text, a); w; w = next_word(&text, a)) {
		if (strncmp(w, "-isa=", 5) == 0) {
			found = w + 5;
		}
	}
	return found;
}

/* What a line may begin with: "native, cpu, ...". */
static void list_kinds(char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "native");

	for (size_t i = 0; i < HN_COUNT_OF(rows) && n < size; i++) {
		if (row_of_kind(rows[i].kind) == &rows[i]) {
			n += (size_t)snprintf(to + n, size - n, ", %s", rows[i].kind);
		}
	}
}

static int unknown_kind(const char *kind, struct hn_err *err)
{
	char kinds[160];

	list_kinds(kinds, sizeof(kinds));
	return hn_fail(err, HONE_E_INVALID, "target: unknown kind '%.100s': want one of %s", kind,
		       kinds);
}

static int choose_row(const char *kind, const char *isa, const struct hn_target *host,
		      struct hn_target *ret, struct hn_err *err)
{
	bool native = strcmp(kind, "native") == 0;
	const struct row *row = isa ? row_of_isa(isa) : row_of_kind(kind);

	if (!native && !row_of_kind(kind)) {
		return unknown_kind(kind, err);
	}
	if (isa && (!row || strcmp(row->kind, native ? host->kind : kind) != 0)) {
		return hn_fail(err, HONE_E_INVALID,
			       "target: '-isa=%.100s': no isa of a %.100s", isa,
			       native ? host->kind : kind);
	}
	if (isa ? strcmp(isa, host->isa) == 0 : native || strcmp(kind, host->kind) == 0) {
		*ret = *host;
	} else {
		take_row(row, ret);
	}
	return 0;
}

int hn_target_parse_on(const struct hn_target *host, const char *text, struct hn_arena *a,
		    struct hn_target *ret, struct hn_err *err)
{
	struct hn_target t;
	const char *rest = text;
	const char *kind = next_word(&rest, a);

	if (!kind) {
		return hn_fail(err, HONE_E_INVALID,
			       "target: empty: want native, or KIND -isa=NAME ...");
	}
	int rc = choose_row(kind, find_isa(rest, a), host, &t, err);
	if (rc < 0) {
		return rc;
	}
	for (char *w = next_word(&rest, a); w; w = next_word(&rest, a)) {
		if (strncmp(w, "-isa=", 5) == 0) {
			continue;
		}
		rc = set_word(w, &t, err);
		if (rc < 0) {
			return rc;
		}
	}
	rc = check_whole(&t, err);
	if (rc < 0) {
		return rc;
	}
	t.kind = hn_arena_strdup(a, t.kind);
	t.isa = hn_arena_strdup(a, t.isa);
	*ret = t;
	return 0;
}

int hn_target_parse(const char *text, struct hn_arena *a, struct hn_target *ret,
		    struct hn_err *err)
{
	struct hn_target host;

	hn_target_host(a, &host);
	return hn_target_parse_on(&host, text, a, ret, err);
}

/* What was measured of this machine, into *host; lines that begin with # are for people. */
static int read_machine(const char *home, struct hn_arena *a, struct hn_target *host,
			struct hn_err *err)
{
	struct hn_target measured;
	struct hn_buf path, text;
	const char *line;
	int rc;

	hn_buf_init(&path);
	hn_buf_init(&text);
	hn_buf_printf(&path, "%s/" HN_TARGET_MACHINE, home);
	rc = hn_file_read_kept(path.s, 1 << 16, &text, err);
	for (line = text.s; rc == 0 && *line == '#'; line += *line == '\n') {
		line += strcspn(line, "\n");
	}
	rc = rc != 0 ? rc : hn_target_parse_on(host, line, a, &measured, err);
	if (rc == 0 && strcmp(measured.isa, host->isa) == 0) {
		*host = measured;
	} else if (rc == -HONE_E_NOT_FOUND) {
		rc = 0;
	} else if (rc != 0) {
		hn_err_within(err, "%s", path.s);
		rc = hn_fail(err, HONE_E_CORRUPT, "%s", err->msg);
	}
	hn_buf_fini(&path);
	hn_buf_fini(&text);
	return rc;
}

/* Its line, where the text is one of the names in `home`; else the text. */
static int unname(const char *home, const char *text, struct hn_arena *a, const char **ret,
		  struct hn_err *err)
{
	struct hn_named *named;
	uint32_t n = 0;
	const char *names = "";
	int rc = 0;

	*ret = text;
	if (*text == '\0' || strpbrk(text, " \t") != NULL || hn_target_is_kind(text)) {
		return 0;
	}
	rc = hn_named_read(home, a, &n, &named, err);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		if (strcmp(named[i].name, text) == 0) {
			*ret = named[i].line;
			return 0;
		}
		names = hn_arena_printf(a, "%s%s%s", names, i > 0 ? ", " : "", named[i].name);
	}
	if (rc == 0 && n > 0) {
		char kinds[160];

		list_kinds(kinds, sizeof(kinds));
		rc = hn_fail(err, HONE_E_INVALID,
			     "target: '%.100s' is no kind (%s) and no name in %.300s/" HN_TARGETS_FILE
			     " (%.500s)",
			     text, kinds, home, names);
	}
	return rc;
}

int hn_target_parse_at(const char *home, const char *text, struct hn_arena *a,
		       struct hn_target *ret, struct hn_err *err)
{
	struct hn_target host;
	int rc;

	hn_target_host(a, &host);
	rc = read_machine(home, a, &host, err);
	rc = rc != 0 ? rc : unname(home, text, a, &text, err);
	return rc != 0 ? rc : hn_target_parse_on(&host, text, a, ret, err);
}
