/* loopstate/state/te_int.h -- what step files need to say themselves in Python; nobody outside
 * loopstate/ includes it. */
#ifndef HN_LOOPSTATE_STATE_TE_INT_H
#define HN_LOOPSTATE_STATE_TE_INT_H

#include "loopstate/state/step.h"

/* Longest name of an axis. TE's names double with each fuse of fuses. */
#define HN_TE_MAX_NAME 65536

/* TE's stage: the names of its axes, in loop order, without the op's. */
struct hn_te_stage {
	uint32_t n;
	const char *const *axis;
};

struct hn_te {
	const struct hn_state *before, *after; /* the step */
	uint32_t n_stage;
	struct hn_te_stage *stage; /* `before`'s numbering until the step changes it */
	struct hn_arena *a;
	struct hn_buf *buf;
	bool failed; /* a name is too long */
};

/* The op's name as a Python word; an axis as "<op>_<axis>". */
void hn_te_put_word(struct hn_te *te, const char *name);
void hn_te_put_op(struct hn_te *te, const struct hn_state *s, int32_t stage);
void hn_te_put_name(struct hn_te *te, const struct hn_state *s, int32_t stage,
		    const char *axis);
void hn_te_put_axis(struct hn_te *te, const struct hn_state *s, int32_t stage,
		    int64_t iter);

/* "s[<op>].<verb>(" */
void hn_te_call(struct hn_te *te, int32_t stage, const char *verb);

/* "C_i, C_j" */
void hn_te_put_axes(struct hn_te *te, const struct hn_state *s, int32_t stage);

/* "C_i, C_j = tuple(C.op.axis) + tuple(C.op.reduce_axis)\n", of a stage of `after`. */
void hn_te_unpack(struct hn_te *te, int32_t stage);

/* "<x><y>"; "" and `failed` when it would be too long. */
const char *hn_te_join(struct hn_te *te, const char *x, const char *y);

/* Axes first..first + n_old of the stage become axis[0..n). */
void hn_te_replace(struct hn_te *te, int32_t stage, uint32_t first, uint32_t n_old,
		   const char *const *axis, uint32_t n);

/* Stage `at` of `after` is new, those from there on moved up by one. */
void hn_te_insert(struct hn_te *te, int32_t at);

/* The stage's axes are those of its op. */
void hn_te_refresh(struct hn_te *te, int32_t stage);

/* A split, by factors from the inside out or by parts from the outside in. */
void hn_te_split(struct hn_te *te, const struct hn_step *step, const int64_t *len,
		 uint32_t n, bool inner_to_outer);

#endif
