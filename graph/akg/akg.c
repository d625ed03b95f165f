/* graph/akg/akg.c -- see akg.h: a file opened, and told from others. */
#include "graph/akg/akg.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "graph/akg/akg_int.h"

#define MAX_TOKENS ((uint32_t)1 << 20) /* of JSON; 64 bytes each */

struct hn_akg {
	struct hn_arena arena;
	struct hn_json *json;
	struct hn_akg_kernel kernel;
};

/* -- told from others ------------------------------------------------------------------- */

/* Behind the string that begins at s[i]; n where it does not end. */
static size_t behind_string(const char *s, size_t n, size_t i)
{
	for (i++; i < n && s[i] != '"'; i++) {
		i += s[i] == '\\';
	}
	return i < n ? i + 1 : n;
}

static bool is_own_key(const char *s, size_t n)
{
	static const char *const own[] = { "composite", "composite_graph", "op_desc", "input_desc",
					   "output_desc" };

	for (size_t i = 0; i < HN_COUNT_OF(own); i++) {
		if (strlen(own[i]) == n && memcmp(own[i], s, n) == 0) {
			return true;
		}
	}
	return false;
}

static size_t skip_blanks(const char *s, size_t n, size_t i)
{
	while (i < n && strchr(" \t\r\n", s[i]) != NULL && s[i] != '\0') {
		i++;
	}
	return i;
}

bool hn_akg_is(const char *s, size_t n)
{
	size_t i = skip_blanks(s, n, 0), depth = 0;

	if (i >= n || s[i] != '{') {
		return false;
	}
	while (i < n) {
		if (s[i] == '"') {
			size_t end = behind_string(s, n, i), colon = skip_blanks(s, n, end);

			if (depth == 1 && colon < n && s[colon] == ':' &&
			    is_own_key(s + i + 1, end - i - 2)) {
				return true;
			}
			i = end;
			continue;
		}
		depth += s[i] == '{' || s[i] == '[';
		depth -= depth > 0 && (s[i] == '}' || s[i] == ']');
		i++;
	}
	return false;
}

/* -- opened ----------------------------------------------------------------------------- */

int hn_akg_parse(const char *name, const char *text, size_t n, struct hn_akg **ret,
		 struct hn_err *err)
{
	const struct hn_json_limits limits = { .max_bytes = HN_AKG_MAX_BYTES,
					       .max_tokens = MAX_TOKENS };
	struct hn_akg *k = calloc(1, sizeof(*k));
	struct hn_err own = { 0 };
	struct hn_akg_reader r = { .err = err != NULL ? err : &own };
	int rc;

	if (k == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "%s: out of memory", name);
	}
	hn_arena_init(&k->arena, 0);
	r.arena = &k->arena;
	rc = hn_json_parse(name, text, n, &limits, &k->json, r.err);
	if (rc == 0) {
		rc = hn_akg_read(&r, k->json, &k->kernel);
		rc = rc == 0 ? 0 : hn_err_within(r.err, "%s", name);
	}
	if (rc == 0) {
		*ret = k;
	} else {
		hn_akg_close(k);
	}
	return rc;
}

int hn_akg_open(const char *path, struct hn_akg **ret, struct hn_err *err)
{
	struct hn_buf text;
	int rc;

	hn_buf_init(&text);
	rc = hn_file_read(path, HN_AKG_MAX_BYTES, &text, err);
	rc = rc ? rc : hn_akg_parse(path, text.n > 0 ? text.s : "", text.n, ret, err);
	hn_buf_fini(&text);
	return rc;
}

void hn_akg_close(struct hn_akg *k)
{
	if (k != NULL) {
		hn_json_free(k->json);
		hn_arena_fini(&k->arena);
		free(k);
	}
}

const struct hn_akg_kernel *hn_akg_kernel(const struct hn_akg *k)
{
	return &k->kernel;
}

size_t hn_akg_memory(const struct hn_akg *k)
{
	return k->arena.used_bytes;
}
