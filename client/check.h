/* client/check.h -- runs a new kernel that no board has measured.
 *
 * hone-build writes the right answers for a few inputs (lower/build/check.h), and hone-board
 * runs the kernel on them (measure/board/check.h). The manifest of `hone replay` and the answer
 * of `hone tune --trials 0` say which inputs were tried.
 */
#ifndef HN_CLIENT_CHECK_H
#define HN_CLIENT_CHECK_H

#include "base/jw.h"
#include "client/builder.h"
#include "client/cmd.h"

struct hn_check {
	struct hn_memory_file file; /* what hone-build writes and hone-board reads */
	const char *words[3]; /* "--check", FILE, NULL for hone-build; NULL at first: it is not run */
	const char *why;      /* it was not run; NULL: it was */
	const char *none;     /* there is no such kernel for the target: why; NULL: there is, or nobody looked */
	const char *wrong;    /* it is, "WRONG_RESULT: C[3,0]: got 1, want 2"; NULL: it is not */
	uint32_t n;	      /* inputs that it was right on */
	double n_compared, n_element; /* of the outputs, over all of them */
	double error, allowed; /* the largest difference there, and what there may be; see json.md */
	const char *cases;    /* JSON list; see docs/json.md */
};

/* Whether a kernel for this target line is to be run, and why not; strings live in a. */
int hn_check_open(const char *verb, const struct hn_opts *o, const char *target_line,
		  struct hn_arena *a, struct hn_check *ret, struct hn_err *err) HN_NODISCARD;
void hn_check_close(struct hn_check *c);

/* After hone-build was run with c->words: run the kernel.  HONE_E_INTERNAL for one that is wrong,
 * with the first element that differs. */
int hn_check_kernel(const char *verb, struct hn_check *c, struct hn_arena *a,
		    struct hn_err *err) HN_NODISCARD;

/* The member "check", and a line for people: "run here, right on 3 inputs: 417 of 786432 elements
 * compared". */
void hn_check_json(const struct hn_check *c, struct hn_jw *w);
void hn_check_text(const struct hn_check *c, struct hn_buf *b);

#endif
