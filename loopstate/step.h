/* loopstate/step.h -- the contract of one step file under step/.
 *
 * Parse, print, equality, hash and docs are driven by .fields; .check says whether the step
 * is legal on a state (never whether it is wise); .apply is total once .check passed.
 */
#ifndef HN_LOOPSTATE_STEP_H
#define HN_LOOPSTATE_STEP_H

#include "loopstate/state.h"

struct hn_te;

enum hn_field_kind {
	HN_FIELD_END,
	HN_FIELD_STAGE,  /* step->stage; always first */
	HN_FIELD_ITER,   /* an iterator of that stage, position */
	HN_FIELD_INT,    /* any integer */
	HN_FIELD_FLAG,   /* 0 or 1 */
	HN_FIELD_LIST,   /* integers */
	HN_FIELD_LENS,   /* lengths >= 1; null in a record = HN_HOLE, not chosen yet */
	HN_FIELD_TEXT
};

struct hn_field {
	uint8_t kind; /* enum hn_field_kind */
	const char *name;
};

#define HN_STEP_MAX_FIELDS 8

struct hn_step_ops {
	const char *tag;  /* "SP" */
	const char *name; /* "split" */
	struct hn_field field[HN_STEP_MAX_FIELDS]; /* record order; ended by HN_FIELD_END */
	int (*check)(const struct hn_state *s, const struct hn_step *step, struct hn_err *err);
	const struct hn_state *(*apply)(const struct hn_state *s, const struct hn_step *step,
					struct hn_arena *a);
	/* One human sentence, for `hone explain`. */
	void (*explain)(const struct hn_state *s, const struct hn_step *step, struct hn_buf *buf);
	/* Its lines as Python schedule calls, and what they do to the names of axes
	 * (te_int.h). NULL when Ansor has no such step. */
	void (*te)(struct hn_te *te, const struct hn_step *step);
};

const struct hn_step_ops *hn_step_ops(enum hn_step_kind kind);

/* The kind with that tag, or HN_N_STEP. */
enum hn_step_kind hn_step_of(const char *tag);

#endif
