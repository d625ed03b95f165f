/* base/verdict.h -- what became of a candidate: counted, classified, never an error. */
#ifndef HN_BASE_VERDICT_H
#define HN_BASE_VERDICT_H

#include <stdbool.h>

enum hn_verdict {
#define VERDICT(name, blame, text) HN_VERDICT_##name,
#include "base/verdicts.def"
#undef VERDICT
	HN_N_VERDICT
};

/* "OK", "WRONG_RESULT", ...: the spelling on the wire and in the store. */
const char *hn_verdict_name(enum hn_verdict v);
const char *hn_verdict_text(enum hn_verdict v);

/* The verdict of that name, or HN_N_VERDICT. */
enum hn_verdict hn_verdict_of(const char *name);

/* Whether the kernel (not the infrastructure) is to blame: stored, never repeated. */
bool hn_verdict_blames_kernel(enum hn_verdict v);

#endif
