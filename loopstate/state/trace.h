/* loopstate/state/trace.h -- the genome: a history of transform steps.
 *
 * A candidate *is* its trace; a LoopState is what replaying it gives.  Steps are immutable
 * plain data.  The record form is Ansor's (`["SP", 2, 0, 512, [4, 2, 8], 1]`), read and
 * written by one codec that is driven by each step's field table, so nobody writes one by hand.
 */
#ifndef HN_LOOPSTATE_STATE_TRACE_H
#define HN_LOOPSTATE_STATE_TRACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct hn_json;

enum hn_step_kind {
#define STEP(name, tag) HN_STEP_##name,
#include "loopstate/state/steps.def"
#undef STEP
	HN_N_STEP
};

/* An open decision in a sketch: a split length not chosen yet. Never in a complete trace. */
#define HN_HOLE (-1)

#define HN_STEP_MAX_SCALARS 4

/* Limits of what is read from a record (HONE_E_INVALID beyond). */
#define HN_TRACE_MAX_STEPS 4096
#define HN_STEP_MAX_LIST 1024
#define HN_STEP_MAX_TEXT 256

struct hn_step {
	uint8_t kind;                     /* enum hn_step_kind */
	int32_t stage;                    /* position at the moment the step is applied */
	int64_t a[HN_STEP_MAX_SCALARS];   /* scalar fields after the stage, in field order */
	uint32_t n_list;
	const int64_t *list;              /* the step's one list: SP lens, RE order, FU ids, ... */
	const char *text;                 /* the step's one string: PR pragma, CHR/CHW scope */
};

/* Named places in a[] (by kind), so that readers need not count. */
enum {
	HN_AN_ITER = 0, HN_AN_ANN = 1,
	HN_PR_ITER = 0,
	HN_SP_ITER = 0, HN_SP_EXTENT = 1, HN_SP_INNER_TO_OUTER = 2,
	HN_FSP_ITER = 0, HN_FSP_SRC = 1, HN_FSP_N_SPLIT = 2,
	HN_FFSP_ITER = 0, HN_FFSP_LEVEL = 1, HN_FFSP_FACTOR = 2,
	HN_SA_ITER = 0, HN_SA_FACTOR = 1, HN_SA_OFFSET = 2,
	HN_CA_TARGET = 0, HN_CA_ITER = 1,
	HN_RF_ITER = 0, HN_RF_FACTOR_ITER = 1,
	HN_PF_ITER = 0, HN_PF_OPERAND = 1, HN_PF_DISTANCE = 2,
	HN_SW_ROW_DIM = 0, HN_SW_UNIT = 1, HN_SW_BITS = 2, HN_SW_SHIFT = 3,
	HN_PL_ITER = 0, HN_PL_STAGES = 1, HN_PL_KIND = 2
};

struct hn_trace {
	uint32_t n_step;
	const struct hn_step *const *step;
};

/* A deep copy of one step. */
const struct hn_step *hn_step_copy(const struct hn_step *step, struct hn_arena *a);

/* `t` with one step more; copies the step, shares the old ones (not their array). t may be
 * NULL (empty). */
const struct hn_trace *hn_trace_append(const struct hn_trace *t, const struct hn_step *step,
				       struct hn_arena *a);

/* Deep copy into another arena: how survivors move between generations. */
const struct hn_trace *hn_trace_copy(const struct hn_trace *t, struct hn_arena *a);

/* The same trace with step i replaced. */
const struct hn_trace *hn_trace_with(const struct hn_trace *t, uint32_t i,
				     const struct hn_step *step, struct hn_arena *a);

/* Stable over versions; equal traces hash equal. t may be NULL (empty). */
uint64_t hn_trace_hash(const struct hn_trace *t);
bool hn_trace_equal(const struct hn_trace *x, const struct hn_trace *y);

/* Whether a length of the step is a hole; whether one is left in the trace. */
bool hn_step_has_hole(const struct hn_step *step);
bool hn_trace_complete(const struct hn_trace *t);

/* `[["SP", 2, 0, 512, [4, 2, 8], 1], ...]` with Ansor's spacing; holes as null. */
void hn_trace_write(const struct hn_trace *t, struct hn_buf *buf);

/* Read that form. `what` names the source. Shapes of steps are checked here, their sense
 * against a state when they are applied. HONE_E_INVALID with "what: step 7: ...". */
int hn_trace_from_json(const char *what, const struct hn_json *steps, struct hn_arena *a,
		       const struct hn_trace **ret, struct hn_err *err) HN_NODISCARD;
int hn_trace_parse(const char *what, const char *text, size_t n, struct hn_arena *a,
		   const struct hn_trace **ret, struct hn_err *err) HN_NODISCARD;

#endif
