/* loopstate/state/step.h -- the contract of one step file under step/.
 *
 * Parse, print, equality, hash and docs are driven by .field; .check says whether the step
 * is legal on a state (never whether it is wise); .apply is total once .check passed.  What
 * sketches and the search have to know of a step is data here, too: what its fields mean, which
 * stages it makes, what it decides.  docs/adding-a-step.md shows one.
 */
#ifndef HN_LOOPSTATE_STATE_STEP_H
#define HN_LOOPSTATE_STATE_STEP_H

#include "loopstate/state/state.h"

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

/* What the numbers of a field are. */
enum hn_meaning {
	HN_MEANS_ITSELF, /* nothing beside the step */
	HN_MEANS_STAGE,	 /* another stage, or several */
	HN_MEANS_STEP,	 /* an earlier step of the trace, or several */
	HN_MEANS_EXTENT, /* how long the loop was; nobody goes by it */
	HN_MEANS_PARTS,	 /* LENS: of the parts of the loop HN_SP_ITER; HN_SP_EXTENT is there, too */
	HN_MEANS_BLOCKS	 /* LENS: of the blocks of the stage's tensor, one for each dimension */
};

struct hn_field {
	uint8_t kind; /* enum hn_field_kind */
	const char *name;
	uint8_t means; /* enum hn_meaning */
};

/* A stage of its own that a step makes. */
enum hn_inserts {
	HN_INSERTS_NONE,
	HN_INSERTS_BEFORE, /* at the place of the step's stage, which moves behind it */
	HN_INSERTS_BEHIND  /* right after it */
};

/* What the steps after a sketch decide about a stage: what a mutation edits.  A decision left
 * open (-1, n = 0) is drawn anew when the program is rebuilt. */
struct hn_plan_stage {
	int32_t at; /* -1 open; HN_AT_ROOT; HN_AT_ITER at (at_stage, at_iter) */
	/* Iterator numbering: after the sketch, before the rest. */
	int32_t at_stage, at_iter;
	int32_t strip; /* length cut from the innermost spatial loop; 0 = not cut.  On a
			* GPU: threads of a nest without tiles, vector of a fetch */
	int32_t parallel; /* how many outer loops run in parallel, fused; 0 = none */
	int32_t unroll;	  /* auto_unroll_max_step; 0 = none */
	/* One operand fetched ahead: how many iterations (0 = none), by which loop of the
	 * finished stage, which stage's values. */
	int32_t fetch, fetch_iter, fetch_operand;
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
	uint8_t inserts;     /* enum hn_inserts */
	bool caches_writes;  /* the stage it makes computes, the old one copies */
	bool groups;	     /* gives a loop to an instruction; the split before it made the loop,
			      * and a pack before that may have laid out an operand for it */
	bool parts;	     /* takes a reduction apart, by a loop that the split before it made */
	/* Writes down what it decides about its stage; `before` is the step before it, or NULL.
	 * NULL: it decides nothing of a plan. */
	void (*decide)(const struct hn_step *step, const struct hn_step *before,
		       struct hn_plan_stage *ret);
};

const struct hn_step_ops *hn_step_ops(enum hn_step_kind kind);

/* The field of the step's list; NULL when it has none. */
const struct hn_field *hn_step_list_field(const struct hn_step *step);

/* What step->a[k] means; HN_MEANS_ITSELF where it has no such field. */
enum hn_meaning hn_step_scalar_means(const struct hn_step *step, uint32_t k);

/* Whether the step has a list, and it means that. */
bool hn_step_has(const struct hn_step *step, enum hn_meaning list);

/* The number, after the step, of the stage that had `stage` before it. */
int32_t hn_stage_after(const struct hn_step *step, int32_t stage);

/* The number, before the step, of the stage that has `stage` after it; of one that the step made,
 * the step's. */
int32_t hn_stage_before(const struct hn_step *step, int32_t stage);

/* The kind with that tag, or HN_N_STEP. */
enum hn_step_kind hn_step_of(const char *tag);

#endif
