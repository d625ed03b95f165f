/* graph/akg/table.c -- the table of AKG's operators. */
#include <string.h>

#include "graph/akg/akg_int.h"
#include "graph/akg/import.h"
#include "graph/akg/rows.h"
#include "graph/ir/op.h"

static const struct hn_akg_row rows[] = {
#define OP(name, build, as, in_min, in_max, complex, attrs)                              \
	{ name, build, as, in_min, in_max, HN_AKG_##complex, attrs },
#include "graph/akg/ops.def"
#undef OP
};

const struct hn_akg_row *hn_akg_rows(uint32_t *ret_n)
{
	*ret_n = HN_COUNT_OF(rows);
	return rows;
}

const struct hn_akg_row *hn_akg_row_find(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

const char *hn_akg_why_not(const char *op)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
#define REFUSED(name, why) { name, why },
#include "graph/akg/refused.def"
#undef REFUSED
	};

	for (size_t i = 0; i < HN_COUNT_OF(refused); i++) {
		if (strcmp(refused[i].name, op) == 0) {
			return refused[i].why;
		}
	}
	return "not an operator that hone has";
}

static bool is_word_of(const char *words, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = words; n > 0 && (p = strstr(p, name)) != NULL; p += n) {
		if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
			return true;
		}
	}
	return false;
}

bool hn_akg_is_known_attr(const char *op, const char *attr)
{
	static const char *const hints[] = {
#define HINT(name) name,
#include "graph/akg/hints.def"
#undef HINT
	};
	const struct hn_akg_row *row = hn_akg_row_find(op);

	for (size_t i = 0; i < HN_COUNT_OF(hints); i++) {
		if (strcmp(hints[i], attr) == 0) {
			return true;
		}
	}
	return row == NULL || is_word_of(row->attrs, attr);
}
