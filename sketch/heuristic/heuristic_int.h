/* sketch/heuristic/heuristic_int.h -- what the classes of heuristics share: a stage's accesses as
 * strides, a heuristic under construction, and nests of tiles.
 */
#ifndef HN_SKETCH_HEURISTIC_INT_H
#define HN_SKETCH_HEURISTIC_INT_H

#include "loopstate/dag/constant.h"
#include "sketch/heuristic.h"
#include "sketch/sketch_int.h"

#define HN_HEURISTIC_ODD INT64_MIN /* a stride that is no constant */
#define HN_HEURISTIC_MAX_STAGES (HN_DAG_MAX_OPS + 64)
#define HN_HEURISTIC_MOVES 8 /* producers that a nest computes inside itself */

/* One load of a stage, inlined producers substituted away. */
struct hn_heuristic_read {
	int32_t producer;
	const struct hn_expr *load;
	uint64_t uses; /* bit a: axis a (longer than 1) stands in an index */
	/* [axis] elements from one iteration to the next, the others at 0 */
	int64_t stride[HN_DAG_MAX_ITERS];
	/* [axis] points from the first on for which it does; less than a vector's: ODD */
	int64_t run[HN_DAG_MAX_ITERS];
};

struct hn_heuristic_view {
	int32_t stage;
	const struct hn_op *op; /* inlined producers substituted away */
	uint32_t n_spatial, n_axis;
	int64_t extent[HN_DAG_MAX_ITERS];
	/* 1, or the divisor by whose remainders the axis is to be split (phase.c) */
	int64_t phase[HN_DAG_MAX_ITERS];
	int64_t out_stride[HN_DAG_MAX_ITERS]; /* row-major; 0 for reduction axes */
	int64_t spatial, reduce; /* points of all spatial, all reduction axes */
	int64_t lanes; /* elements in a vector register; those of the widest type */
	uint32_t n_read;
	struct hn_heuristic_read *read;
};

/* Where what a reduction reads through (padding, transposition) is computed. */
enum hn_heuristic_place {
	HN_HEURISTIC_ATTACH, /* inside the reader's nest, a block at a time */
	HN_HEURISTIC_ROOT,	 /* in full, before */
	HN_HEURISTIC_INLINE, /* where it is read */
	HN_HEURISTIC_N_PLACE
};

/* Which part of a reduction runs outside the tiles; nothing but constants is packed then. */
enum hn_heuristic_cut {
	HN_HEURISTIC_CUT_NONE,
	HN_HEURISTIC_CUT_LONG, /* all but a part of the longest axis: panels for the first cache */
	HN_HEURISTIC_CUT_DEEP  /* part of the longest axis: panels for the second */
};

/* What distinguishes the heuristics of one dag. */
struct hn_heuristic_variant {
	uint8_t place; /* enum hn_heuristic_place */
	uint8_t tile;  /* 0 = the best register tile, 1 = the best of another width */
	uint8_t cut; /* enum hn_heuristic_cut; windows, when not 0: small blocks, for the first
			* cache */
	bool repack; /* pack where the rule says no, and the reverse */
	bool recut;  /* the other answer to: cut the reduction, use all cores */
	bool chain;  /* what leads to a contraction along its rows is computed with it */
	bool plain;  /* nothing inlined or packed, every nest a stream */
	bool unconfirmed; /* by instructions that no machine has confirmed (warp_units.def) */
};

/* A heuristic under construction. */
struct hn_heuristic_job {
	const struct hn_target *target;
	struct hn_chain c;
	struct hn_heuristic_variant v;
	struct hn_inlined *inlined; /* of c.s; NULL = stale */
	bool done[HN_HEURISTIC_MAX_STAGES];	  /* stages whose loops are final */
	uint8_t depends[HN_HEURISTIC_MAX_STAGES]; /* enum hn_dependence */
	bool pinned[HN_HEURISTIC_MAX_STAGES]; /* made once, in full: never moved */
};

struct hn_heuristic_nest;

struct hn_heuristic_ops {
	const char *name;
	bool (*fits)(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v);
	/* Make the nest of v's stage; `host` is the stage whose loops hold it: v->stage
	 * itself, or its one element-wise reader, to be computed with it.  Only called with
	 * another host when takes_host. */
	void (*schedule)(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			 int32_t host);
	bool takes_host;
};

/* view.c: the stage's op, inlined producers substituted away, and how it reads; NULL, false = the
 * heuristic has failed. */
const struct hn_op *hn_heuristic_op(struct hn_heuristic_job *g, int32_t stage);
bool hn_heuristic_view(struct hn_heuristic_job *g, int32_t stage, struct hn_heuristic_view *ret);
bool hn_heuristic_uses(const struct hn_expr *e, uint32_t axis);

/* How much e grows from point 0 of the axis to point 1, the others at 0; false = unknown. */
bool hn_heuristic_slope(const struct hn_expr *e, uint32_t axis, int64_t *ret);

/* phase.c: fill v->phase; conditions `x % constant == constant` in the op's body; what
 * one remainder of each axis leaves of v, lengths and points divided, false when that is
 * all of it; a nest of that, unless it cuts its reduction. */
void hn_heuristic_find_phases(struct hn_heuristic_view *v);
bool hn_heuristic_has_remainders(const struct hn_op *op);
bool hn_heuristic_one_phase(const struct hn_heuristic_view *v, struct hn_heuristic_view *ret);
void hn_heuristic_nest_phases(struct hn_heuristic_nest *n, const struct hn_heuristic_view *v);

/* The dimension of the read whose index is the axis itself; -1 = none. */
int32_t hn_heuristic_dimension(const struct hn_heuristic_read *r, uint32_t axis);

/* window.c: the innermost spatial axis along which every read stands still or goes from one
 * element to the next, and some read goes; whether spatial axis a shares an index of the read
 * with a reduction axis, so that neighbours read some of the same. */
bool hn_heuristic_unit_lanes(const struct hn_heuristic_view *v, uint32_t *ret);
bool hn_heuristic_slides(const struct hn_heuristic_view *v, const struct hn_heuristic_read *r,
		     uint32_t a);

/* terms.c: the instruction that makes v's sum, several terms of a reduction axis at once, for
 * lanes along lane_axis; false = none, or its panels do not pay.  packed: the panels are in groups
 * already. */
struct hn_heuristic_terms {
	const struct hn_intrin *in; /* NULL = none */
	uint32_t axis;
	bool packed;
};
bool hn_heuristic_find_terms(const struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, uint32_t lane_axis,
			     struct hn_heuristic_terms *ret);

/* Its operand in panels of groups, `tile` lanes a panel; returns by how many stages those of the
 * nest move up. */
int32_t hn_heuristic_term_panels(struct hn_heuristic_job *g,
				 const struct hn_heuristic_view *v, uint32_t lane_axis,
				 int64_t tile, const struct hn_heuristic_terms *t);

/* panels.c: blocks for hn_heuristic_pack so that the reduction walks through the read operand `op`
 * in order, `len` neighbours along dimension `at` innermost; false = it does already. */
bool hn_heuristic_panel_blocks(const struct hn_heuristic_view *v,
			       const struct hn_heuristic_read *r, int32_t at, int64_t len,
			       const struct hn_op *op, int64_t *block);

/* panels.c: pack the operands that move along lane_axis, `tile` neighbours of it a panel,
 * where that is needed or pays; returns by how many stages those of the nest move up. */
int32_t hn_heuristic_panels(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			uint32_t lane_axis, int64_t tile);

/* panels.c: a constant operand whose neighbours along the axis lie apart, but may be packed so that
 * they do not; pack those, as hn_heuristic_panels does, and nothing else. */
bool hn_heuristic_turns(const struct hn_heuristic_job *g, const struct hn_heuristic_read *r,
			uint32_t axis);
int32_t hn_heuristic_turn(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			  uint32_t lane_axis, int64_t tile);

/* pads.c: whether what v's stage reads depends on a condition on the axis. */
bool hn_heuristic_meets_pads(const struct hn_heuristic_view *v, uint32_t axis);

/* sets.c: of the points of a tile, so long along each of n axes, those that lose the line of the
 * read that they take their numbers from to others of the tile. */
int64_t hn_heuristic_lost_lines(const struct hn_heuristic_job *g,
				const struct hn_heuristic_read *r, uint32_t n,
				const uint32_t *axis, const int64_t *tile);

/* The panels among v's operands that a loop over them can make one at a time, each just
 * before it is used: they are copied as they lie, for v alone; count. */
uint32_t hn_heuristic_own_panels(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			     uint32_t lane_axis, int32_t ret[HN_HEURISTIC_MOVES]);

/* The rows of the read operand that the reduction goes through are far apart: no hardware
 * fetches them ahead, and each costs an address translation. */
bool hn_heuristic_rows_far(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       const struct hn_heuristic_read *r);

/* fetch.c: how the loops over panels go through what is broadcast along the lanes.  rows:
 * the axes that no panel uses. */
struct hn_heuristic_stream {
	int64_t again;	/* bytes, of one group where there are such, */
	int64_t passes; /* that are gone through so many times */
	int64_t bytes;	/* of all passes */
	bool stays;	/* in the second cache, or is fetched into it well enough */
};
void hn_heuristic_stream_of(const struct hn_heuristic_job *g,
			    const struct hn_heuristic_view *v,
			    const struct hn_heuristic_read *r, const bool *rows,
			    const int64_t *tile, struct hn_heuristic_stream *ret);

/* fetch.c: v's stage, whose nest is made with lanes along lane_axis, fetches ahead: panels in
 * place whose rows lie far apart; what tiles of those lengths broadcast in short pieces from
 * beyond the second cache. */
void hn_heuristic_fetch_panels(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			       uint32_t lane_axis);
/* Operands of what is behind the sums, in the host: a tile's while the one before it is computed. */
void hn_heuristic_fetch_behind(struct hn_heuristic_job *g, int32_t sums, int32_t host);
void hn_heuristic_fetch_pieces(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			       uint32_t lane_axis, const bool *rows, const int64_t *tile);

/* The stages that read `stage` other than by inlined ones; count, at most n_max written. */
uint32_t hn_heuristic_readers(struct hn_heuristic_job *g, int32_t stage, int32_t *ret,
			  uint32_t n_max);

/* heuristic.c: the class of the stage (heuristics.def). */
const struct hn_heuristic_ops *hn_heuristic_class(const struct hn_heuristic_job *g,
					  const struct hn_heuristic_view *v);

/* The read of `producer` is element by element, in the reader's own order. */
bool hn_heuristic_reads_in_step(const struct hn_heuristic_view *reader, int32_t producer,
				const struct hn_op *op);

/* simt.c: hn_heuristics, or hn_heuristics_unconfirmed, for machines with blocks of threads. */
uint32_t hn_simt_heuristics(const struct hn_dag *dag, const struct hn_target *target,
			    bool unconfirmed, struct hn_arena *a,
			    const struct hn_state *ret[HN_HEURISTIC_MAX]);

/* group.c: the stages, consumers before producers, whose readers are all v's stage or among
 * them, and the leading axes that all have in common with it; `tiled`: those too that are nests
 * of tiles of their own. */
#define HN_HEURISTIC_GROUP 64
struct hn_heuristic_group {
	uint32_t n;
	int32_t stage[HN_HEURISTIC_GROUP];
	uint32_t level;
};
void hn_heuristic_find_group(struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, bool tiled,
			     struct hn_heuristic_group *ret);

/* chain.c: v's stage, a contraction, and the chain that leads to it as one nest, a block of
 * rows at a time; false when there is none such. */
bool hn_heuristic_chain(struct hn_heuristic_job *g, const struct hn_heuristic_view *v);

/* contraction.c: whether v is one; pack its operands, returning by how many stages those of
 * the nest move up; its nest, where `block` is what one iteration of the outer loops needs of
 * `whole` and the n_move stages are computed for that, or, for the same view twice, its part of
 * another one's nest. */
bool hn_heuristic_is_contraction(const struct hn_heuristic_job *g,
				 const struct hn_heuristic_view *v);
int32_t hn_heuristic_contraction_pack(struct hn_heuristic_job *g,
				      const struct hn_heuristic_view *v);
void hn_heuristic_contraction_nest(struct hn_heuristic_job *g,
				   const struct hn_heuristic_view *whole,
				   const struct hn_heuristic_view *block,
				   const int32_t *move, uint32_t n_move);

/* rows.c: v's stage and the producers that go through the same rows as one nest; false when
 * there are none such. */
bool hn_heuristic_rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v);

/* place.c: inline what is cheap where it is read. */
void hn_heuristic_inline(struct hn_heuristic_job *g);

/* nest.c: a stage has come in at `at`, which depends on what the stage now at `like` does; steps
 * that keep g->done in step with the stages' numbers. */
void hn_heuristic_inserted(struct hn_heuristic_job *g, int32_t at, int32_t like);
void hn_heuristic_pack(struct hn_heuristic_job *g, int32_t stage, const int64_t *block);
void hn_heuristic_rfactor(struct hn_heuristic_job *g, int32_t stage, int32_t iter, int32_t at);

/* The stage depends on constant inputs alone, or is one: computed in full it costs nothing, for
 * that is done once, before the first call (hone/kernel.h). */
bool hn_heuristic_is_constant(const struct hn_heuristic_job *g, int32_t stage);

/* An argument of the kernel: computed in full. */
bool hn_heuristic_is_result(const struct hn_heuristic_job *g, int32_t stage);

int64_t hn_heuristic_cores(const struct hn_heuristic_job *g);

/* Whether the nest is worth waking the other cores for. */
bool hn_heuristic_threads(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v);

/* How many of the n leading loops of those lengths to fuse and share out. */
uint32_t hn_heuristic_share(const struct hn_heuristic_job *g, const int64_t *length, uint32_t n);

/* Loops outside in: for each axis of the host its remainders, a part over
 * blocks, a part over tiles inside a block, the tile.  A host that is not v's stage has no
 * loops over remainders: its tiles hold all of them. */
struct hn_heuristic_nest {
	int64_t block[HN_DAG_MAX_ITERS], tile[HN_DAG_MAX_ITERS]; /* [spatial axis] */
	uint32_t outer[HN_DAG_MAX_ITERS]; /* order of the axes over blocks, */
	uint32_t inner[HN_DAG_MAX_ITERS]; /* and over tiles */
	uint32_t lane_axis;		  /* the last of the tile */
	/* [axis, reduced ones too] 1, or that of the view whose one_phase is passed */
	int64_t phase[HN_DAG_MAX_ITERS];
	/* A reduction axis of which only cut_length runs inside the tiles, the rest and, but
	 * for others_inside, the other axes outside of the loops over tiles; 0 = all of them
	 * inside. */
	uint32_t cut;
	int64_t cut_length;
	bool others_inside;
	/* An instruction makes the sum: of that reduction axis a group of terms runs innermost. */
	struct hn_heuristic_terms terms;
	bool threads;
	/* Axes of tiny constant tensors: the loops over tiles, and the reduction's, unrolled
	 * (Ansor's attribute auto_scheduler_simplify_const_tensor_indices). */
	bool constants;
	uint32_t n_move;
	int32_t move[HN_HEURISTIC_MOVES]; /* computed in the innermost loop over blocks */
};

/* Every axis whole, in the op's order, nothing moved. */
void hn_heuristic_nest_init(struct hn_heuristic_nest *n, const struct hn_heuristic_view *v);
void hn_heuristic_nest_build(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			 int32_t host, const struct hn_heuristic_nest *n);

/* Whether the stage's attribute names the axis as one that only selects constants. */
bool hn_heuristic_selects_constant(const struct hn_heuristic_job *g, int32_t stage,
			       uint32_t axis);

/* Cut the axes rows[] into blocks, outermost of n->outer first, until what is moved fits
 * the cache and the cores have enough of them.  The other axes' blocks are set already. */
void hn_heuristic_block_rows(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			 const bool *rows, struct hn_heuristic_nest *n);

/* Producers of v that can be computed inside its nest: read by it alone, not scheduled yet,
 * no reduction; at most HN_HEURISTIC_MOVES. */
uint32_t hn_heuristic_moves(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			int32_t ret[HN_HEURISTIC_MOVES]);

/* tiles.c: programs in which an instruction on tiles makes a sum, at most so many; how many. */
uint32_t hn_heuristic_tiles(const struct hn_dag *dag, const struct hn_target *target,
			    struct hn_arena *a, const struct hn_state **ret, uint32_t most);

#endif
