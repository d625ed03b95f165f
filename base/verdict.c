/* base/verdict.c -- see verdict.h; everything here is read from verdicts.def. */
#include "base/verdict.h"

#include <string.h>

#include "base/cdefs.h"

enum blame { BLAME_NONE, BLAME_KERNEL, BLAME_INFRA };

struct verdict_row {
	const char *name, *text;
	enum blame blame;
};

static const struct verdict_row verdict_rows[HN_N_VERDICT] = {
#define VERDICT(name_, blame_, text_)                                                    \
	[HN_VERDICT_##name_] = {.name = #name_, .text = text_, .blame = BLAME_##blame_},
#include "base/verdicts.def"
#undef VERDICT
};

static bool verdict_known(enum hn_verdict v)
{
	return (unsigned)v < HN_N_VERDICT;
}

const char *hn_verdict_name(enum hn_verdict v)
{
	return verdict_known(v) ? verdict_rows[v].name : "?";
}

const char *hn_verdict_text(enum hn_verdict v)
{
	return verdict_known(v) ? verdict_rows[v].text : "unknown verdict";
}

enum hn_verdict hn_verdict_of(const char *name)
{
	for (unsigned v = 0; name && v < HN_N_VERDICT; v++) {
		if (strcmp(verdict_rows[v].name, name) == 0) {
			return (enum hn_verdict)v;
		}
	}
	return HN_N_VERDICT;
}

bool hn_verdict_blames_kernel(enum hn_verdict v)
{
	return verdict_known(v) && verdict_rows[v].blame == BLAME_KERNEL;
}
