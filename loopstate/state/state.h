/* loopstate/state/state.h -- LoopState: a program structure, as the replay of a trace.
 *
 * Immutable values in an arena; a step's apply shares what it does not change.  Stage i is
 * op i of the state's current dag (cache_write, cache_read and rfactor give the state a dag
 * of its own).  Ids, names, extents and attachments are those that TVM's auto_scheduler gives, so
 * that its records replay (docs/ansor-differences.md).
 */
#ifndef HN_LOOPSTATE_STATE_STATE_H
#define HN_LOOPSTATE_STATE_STATE_H

#include "loopstate/dag/access.h"
#include "loopstate/dag/dag.h"
#include "loopstate/state/ann.h"
#include "loopstate/state/trace.h"

struct hn_intrin; /* intrin.h */

enum hn_iter_kind { HN_ITER_SPATIAL, HN_ITER_REDUCE, HN_ITER_MIXED, HN_ITER_SPECIAL };

enum hn_at { HN_AT_ROOT, HN_AT_INLINED, HN_AT_ITER };

#define HN_EXTENT_UNKNOWN (-1)

/* What no step may exceed, so that hostile records stay small: loops and relations of a
 * stage, bytes of an iterator's or op's name (a loop's name holds its axes once per path to
 * them, so this bounds index expressions too), length of a split. */
#define HN_STAGE_MAX_ITERS 256
#define HN_STAGE_MAX_RELS 256
#define HN_STATE_MAX_NAME 512
#define HN_SPLIT_MAX_LEN INT32_MAX
#define HN_STAGE_MAX_PREFETCHES 16
#define HN_PREFETCH_MAX_DISTANCE 1024 /* iterations */

struct hn_iter {
	const char *name;  /* raw ("i.0@j.0@"); hn_iter_name cleans nothing more */
	uint8_t kind;      /* enum hn_iter_kind */
	uint8_t ann;       /* enum hn_ann */
	bool hidden;       /* runs, but Ansor lost sight of it: not in its preview */
	int32_t var;       /* this iterator as a variable of the stage's relations */
	int64_t extent;    /* iterations, or HN_EXTENT_UNKNOWN */
	int64_t min;       /* first value shown; 0 unless the axis says otherwise */
	const struct hn_expr *min_expr; /* loop space; NULL = min. Only after hn_bounds_apply */
};

enum hn_rel_kind { HN_REL_SPLIT, HN_REL_FUSE };

/* How variables of a stage make one another.  SPLIT: parent = parts, outermost first; len[k]
 * is the length of part k (unknown = HN_HOLE for the one that is "the rest": part 0 when
 * inner_to_outer, the last otherwise).  FUSE: part[0..n) outermost first make `parent`;
 * with n = 0 parent is a variable of one value that nothing is made of. */
struct hn_rel {
	uint8_t kind; /* enum hn_rel_kind */
	bool inner_to_outer;
	uint32_t n;
	int32_t parent; /* variable */
	const int32_t *part;
	const int64_t *len; /* SPLIT only */
};

/* While iteration i of a loop runs, fetch what iteration i + distance reads of a stage. */
struct hn_prefetch {
	int32_t var;	 /* the loop, as a variable of its stage's relations; when that is no
			  * iterator any more the prefetch has ended */
	int32_t operand; /* stage, current numbering */
	int32_t distance; /* iterations, 1..HN_PREFETCH_MAX_DISTANCE */
};

/* What is computed in a loop runs ahead of the loop's own stage (PL). */
struct hn_pipeline {
	int32_t var;	/* the loop, as hn_prefetch has it */
	uint8_t stages; /* buffers of each, of which all but one are ahead; 0 = no such loop */
	uint8_t kind;	/* enum hn_pipeline_kind */
};

/* How a machine with threads moves what is ahead; a CPU does not ask. */
enum hn_pipeline_kind {
	HN_PIPELINE_NONE,     /* as anything else */
	HN_PIPELINE_REGISTER, /* through registers: loads go before, stores behind the loop's work */
	HN_PIPELINE_ASYNC,    /* by copies that nobody waits for until they are needed */
	HN_PIPELINE_OPEN,     /* the same, one turn less ahead, so that what a warpgroup multiplies
			       * may end in the next turn */
	HN_PIPELINE_BULK,     /* by boxes that a warpgroup of its own brings in for others
			       * that multiply (a GPU's TMA) */
	HN_N_PIPELINE
};

#define HN_PIPELINE_MAX_STAGES 8

/* A buffer's elements in another order along its last dimension: chunks of 2^unit elements, of
 * which the number's lowest `bits` bits are XORed with those of (row >> shift), the row being the
 * index of dimension row_dim.  bits = 0: in their own order. */
struct hn_swizzle {
	uint8_t row_dim, unit, bits, shift;
};

/* 2^unit elements a chunk, 2^bits chunks that change places. */
#define HN_SWIZZLE_MAX_UNIT 8
#define HN_SWIZZLE_MAX_BITS 6
#define HN_SWIZZLE_MAX_SHIFT 16

struct hn_stage {
	uint8_t at; /* enum hn_at */
	int32_t at_stage, at_iter; /* when at == HN_AT_ITER: where, current numbering */
	int32_t auto_unroll_max_step; /* 0 = none */
	int64_t storage_offset;       /* storage_align's offset; 0 = none */
	int64_t align_factor;
	struct hn_swizzle swizzle;    /* of its buffer */
	struct hn_pipeline pipeline;  /* of one of its loops */
	const char *scope; /* memory asked for by the cache step that made it ("local",
			    * "shared"); NULL when none did */
	uint32_t n_iter;
	const struct hn_iter *iter; /* outer -> inner */
	uint32_t n_var;             /* variables 0..n_var: the op's axes first, in axis order */
	uint32_t n_rel;
	const struct hn_rel *rel;   /* in order of creation */
	uint32_t n_prefetch;
	const struct hn_prefetch *prefetch;
	const struct hn_intrin *intrin; /* that does loops of it (TE); NULL = none */
	const int32_t *intrin_var; /* [HN_INTRIN_DIMS] these loops, as variables, -1 = it has none
				    * there; one is no iterator: TE has ended */
};

/* Stages attached at (stage, iter), in the order they were attached: where the preview
 * shows them.  That is where they are (at_iter), except in HN_REPLAY_ANSOR. */
struct hn_attached {
	int32_t stage, iter;
	uint32_t n;
	const int32_t *child;
};

/* Ansor has defects that show in what it prints for a record.  RIGHT does what the step
 * says; ANSOR repeats the defects (docs/ansor-differences.md), for records made there. */
enum hn_replay_mode { HN_REPLAY_RIGHT, HN_REPLAY_ANSOR };

struct hn_state {
	const struct hn_dag *dag;       /* current: op i is stage i */
	const struct hn_access *access; /* of dag */
	const struct hn_dag *root_dag;  /* the task's, untouched */
	const struct hn_inline_answer *inline_answer; /* of hn_inline_dag (inline.h), whether it is
						       * this state's or not; NULL = none */
	const struct hn_trace *trace;   /* how it came to be */
	uint32_t n_stage;
	const struct hn_stage *const *stage;
	uint32_t n_attached;
	const struct hn_attached *attached;
	bool concrete; /* no hole left */
	uint8_t mode;  /* enum hn_replay_mode, as asked of the replay */
};

/* The state before any step: every stage at root, one loop per axis. */
const struct hn_state *hn_state_init(const struct hn_dag *dag, struct hn_arena *a);

/* Apply one step: check, then apply.  HONE_E_INVALID with "SP stage 2 (C) iter 0: ..." when
 * the step does not fit; s is never changed. */
int hn_state_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a,
		   const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;

/* Replay a trace from the initial state. Error messages begin "step 7: ".  The state's trace
 * is `trace` itself, which must live as long.  HONE_E_QUOTA when the arena is over budget. */
int hn_state_replay(const struct hn_dag *dag, const struct hn_trace *trace, struct hn_arena *a,
		    const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;

/* The same, in a mode; hn_state_replay is HN_REPLAY_RIGHT. */
int hn_state_replay_as(const struct hn_dag *dag, const struct hn_trace *trace,
		       enum hn_replay_mode mode, struct hn_arena *a,
		       const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;

/* Go on from `s`, in its mode, whose history is the first s->trace->n_step steps of `trace`: how
 * states of one sketch share their common beginning (and a task its initial state). */
int hn_state_replay_from(const struct hn_state *s, const struct hn_trace *trace,
			 struct hn_arena *a, const struct hn_state **ret,
			 struct hn_err *err) HN_NODISCARD;

/* Convenience for rules: each builds the step and applies it; errors as above.  Iterator ids
 * are positions at that moment. */
int hn_split(const struct hn_state *s, int32_t stage, int32_t iter, const int64_t *len,
	     uint32_t n_len, bool inner_to_outer, struct hn_arena *a,
	     const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_follow_split(const struct hn_state *s, int32_t stage, int32_t iter, int32_t src_step,
		    int32_t n_split, struct hn_arena *a, const struct hn_state **ret,
		    struct hn_err *err) HN_NODISCARD;
int hn_fuse(const struct hn_state *s, int32_t stage, int32_t first, uint32_t n,
	    struct hn_arena *a, const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_reorder(const struct hn_state *s, int32_t stage, const int64_t *order, uint32_t n,
	       struct hn_arena *a, const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_annotate(const struct hn_state *s, int32_t stage, int32_t iter, enum hn_ann ann,
		struct hn_arena *a, const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_pragma(const struct hn_state *s, int32_t stage, int32_t iter, const char *text,
	      struct hn_arena *a, const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_compute_at(const struct hn_state *s, int32_t stage, int32_t target, int32_t iter,
		  struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
	HN_NODISCARD;
int hn_compute_inline(const struct hn_state *s, int32_t stage, struct hn_arena *a,
		      const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_compute_root(const struct hn_state *s, int32_t stage, struct hn_arena *a,
		    const struct hn_state **ret, struct hn_err *err) HN_NODISCARD;
int hn_cache_write(const struct hn_state *s, int32_t stage, const char *scope,
		   struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
	HN_NODISCARD;
int hn_rfactor(const struct hn_state *s, int32_t stage, int32_t iter, int32_t factor_iter,
	       struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
	HN_NODISCARD;

/* Queries that rules share (current stage numbering). */
const struct hn_attached *hn_state_attached_at(const struct hn_state *s, int32_t stage,
					       int32_t iter); /* NULL = none */
bool hn_state_stage_tiled(const struct hn_state *s, int32_t stage); /* n_iter != axes of the op */

/* Consumers of `stage`, looking through inlined stages; returns the count, at most n_max
 * written, ascending. */
uint32_t hn_state_consumers(const struct hn_state *s, int32_t stage, int32_t *ret, uint32_t n_max);

/* Ansor's preview text, letter for letter. */
void hn_state_print(const struct hn_state *s, bool delete_trivial_loops, struct hn_buf *buf);

/* Assert the invariants of the structure by number (debug and tests). */
void hn_state_check(const struct hn_state *s);

#endif
