/* sketch/heuristic/simt_rows.c -- sums along the data, and chains of them (softmax, normalisations),
 * on a machine with blocks of threads: a block makes a row, its threads take neighbours.
 *
 * What leads to a row is computed in the row's block: its numbers lie in shared memory, and the row
 * comes from memory once.  A sum of which there are too few for all multiprocessors is cut into
 * parts first, and the parts are summed by another kernel.
 */
#include "base/arith.h"
#include "loopstate/dag/liberty.h"
#include "sketch/heuristic/simt_int.h"

#define FEW_TERMS 32	/* a shorter sum is one thread's, but in half of the choices for rows */
#define LEAST_TERMS 4
#define BLOCKS_EACH 8	/* for each multiprocessor, of what is cut: enough loads on their way */
#define LONG_PART 512	/* terms that a part has at least, of a sum by threads together, */
#define SHORT_PART 96	/* and by each thread alone: what sums the parts is not cut again */
#define COLUMNS 1024	/* results of a block whose threads sum alone */
#define AHEAD 8		/* loads of a thread that are on their way together */
#define ROOM 40960	/* bytes of rows in shared memory */

/* How n neighbours are taken: by so many threads, so many times in a row. */
static void share(const struct hn_heuristic_job *g, int64_t n, int64_t *ret_times,
		  int64_t *ret_threads)
{
	static const int16_t most_of[] = { 256, 512, 128, 1024, 64 };
	int64_t most = most_of[g->v.tile % HN_COUNT_OF(most_of)], t = 32;

	most = most < g->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK]
		       ? most
		       : g->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK];
	while (2 * t <= most && t * AHEAD / 2 < n) {
		t *= 2;
	}
	int64_t rounds = hn_ceildiv(n, t), times = rounds < AHEAD ? rounds : AHEAD;

	while (times > 1 && rounds % times != 0) {
		times--;
	}
	*ret_times = times;
	*ret_threads = t;
}

/* The loop at `at` in rounds, a few of them written out, by threads. */
static void threads_at(struct hn_heuristic_job *g, int32_t stage, int32_t at, int64_t times,
		       int64_t threads)
{
	int64_t len[] = { times, threads };

	hn_chain_split(&g->c, stage, at, len, 2);
	hn_chain_annotate(&g->c, stage, at + 1, HN_ANN_UNROLL);
	hn_chain_annotate(&g->c, stage, at + 2, HN_ANN_THREAD_X);
}

static void fuse(struct hn_heuristic_job *g, int32_t stage, int32_t at, uint32_t n)
{
	if (n != 1) {
		hn_chain_fuse(&g->c, stage, at, n);
	}
}

/* Points of a row that the stage goes through. */
static int64_t row_points(const struct hn_heuristic_view *v, uint32_t level)
{
	int64_t n = v->reduce;

	for (uint32_t a = level; a < v->n_spatial; a++) {
		n = hn_mul_sat(n, v->extent[a]);
	}
	return n;
}

/* Loops of a stage inside a row: its terms, or its points, by threads. */
static void row_loops(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		      uint32_t first, int64_t times, int64_t threads)
{
	if (v->op->reduce) {
		fuse(g, v->stage, (int32_t)v->n_spatial, v->n_axis - v->n_spatial);
		threads_at(g, v->stage, (int32_t)v->n_spatial, times, threads);
	} else if (row_points(v, first) > 1) {
		fuse(g, v->stage, (int32_t)first, v->n_spatial - first);
		threads_at(g, v->stage, (int32_t)first, times, threads);
	}
	g->done[v->stage] = true;
}

/* What is kept of rows must have room; what has none is computed where it is read. */
static bool make_room(struct hn_heuristic_job *g, struct hn_heuristic_group *gr)
{
	int64_t bytes = 0;

	for (uint32_t i = 0; i < gr->n; i++) {
		struct hn_heuristic_view v;

		if (!hn_heuristic_view(g, gr->stage[i], &v)) {
			return false;
		}
		int64_t own = hn_mul_sat(row_points(&v, gr->level) / v.reduce, 4);

		if (bytes + own <= ROOM) {
			bytes += own;
			continue;
		}
		if (v.op->reduce) {
			return false;
		}
		hn_chain_inline(&g->c, gr->stage[i]);
		g->done[gr->stage[i]] = true;
		g->inlined = NULL;
		for (uint32_t k = i; k + 1 < gr->n; k++) {
			gr->stage[k] = gr->stage[k + 1];
		}
		gr->n--;
		i--;
	}
	return true;
}

static bool may_share(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	return !v->op->reduce || !hn_against_parts(g->c.s->root_dag, v->op);
}

/* A stage with sums of its own beside the row's goes through them one by one. */
static bool has_many_sums(const struct hn_heuristic_view *v, uint32_t level)
{
	return v->op->reduce && row_points(v, level) / v->reduce > 4;
}

/* v's stage and a group as one kernel, of a block a row. */
static bool rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		 struct hn_heuristic_group *gr)
{
	int64_t most = row_points(v, gr->level), times, threads;
	bool fits = may_share(g, v) && !has_many_sums(v, gr->level);

	for (uint32_t i = 0; i < gr->n && fits; i++) {
		struct hn_heuristic_view pv;

		fits = hn_heuristic_view(g, gr->stage[i], &pv) && may_share(g, &pv);
		most = fits && row_points(&pv, gr->level) > most ? row_points(&pv, gr->level) : most;
		fits = fits && !has_many_sums(&pv, gr->level);
	}
	bool few = most < FEW_TERMS && (g->v.tile >= HN_HEURISTIC_MAX / 2 || most < LEAST_TERMS);

	if (!fits || few || !make_room(g, gr)) {
		return false;
	}
	share(g, most, &times, &threads);
	for (uint32_t i = 0; i < gr->n; i++) {
		struct hn_heuristic_view pv;

		hn_chain_compute_at(&g->c, gr->stage[i], v->stage, (int32_t)gr->level - 1);
		if (!hn_heuristic_view(g, gr->stage[i], &pv)) {
			return true;
		}
		row_loops(g, &pv, gr->level, times, threads);
	}
	row_loops(g, v, gr->level, times, threads);
	hn_simt_bind(g, v->stage, 0, gr->level, HN_ANN_BLOCK_X);
	return true;
}

/* The terms lie side by side, and the results do not. */
static bool along_terms(const struct hn_heuristic_view *v)
{
	uint32_t last = v->n_axis - 1, lane = v->n_spatial;

	while (lane > 0 && v->extent[lane - 1] == 1) {
		lane--;
	}
	for (uint32_t i = 0; i < v->n_read && lane > 0; i++) {
		if (v->read[i].stride[lane - 1] == 1 && v->read[i].stride[last] != 1) {
			return false;
		}
	}
	return true;
}

/* Parts of a sum as an axis of their own; the rest goes on as a sum of parts. */
static bool cut(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int64_t parts)
{
	uint32_t axis = v->n_spatial;

	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		axis = v->extent[a] > v->extent[axis] ? a : axis;
	}
	parts = parts < v->extent[axis] ? parts : v->extent[axis];

	int64_t len = hn_ceildiv(v->extent[axis], parts);

	if (len >= v->extent[axis] || len < 2) {
		return false;
	}
	hn_chain_split(&g->c, v->stage, (int32_t)axis, &len, 1);
	hn_heuristic_rfactor(g, v->stage, (int32_t)axis, 0);
	return true;
}

/* How a sum that is a nest of its own is made. */
struct way {
	bool rowwise;  /* by the threads of a block */
	int64_t parts; /* 1: it is not cut */
};

static struct way way_of(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	int64_t cores = hn_simt_cores(g->target), least, blocks, parts;
	bool may = may_share(g, v), rowwise = along_terms(v) && v->reduce >= FEW_TERMS && may;

	least = rowwise ? LONG_PART : SHORT_PART;
	blocks = rowwise ? v->spatial : v->spatial / COLUMNS;
	blocks = blocks > 0 ? blocks : 1;
	parts = blocks < 2 * cores ? hn_ceildiv(BLOCKS_EACH * cores, blocks) : 1;
	parts = parts < v->reduce / least ? parts : v->reduce / least;
	return (struct way){ rowwise, may && v->op->reduce->n == 1 && parts > 1 ? parts : 1 };
}

bool hn_simt_shares_sum(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct way w = way_of(g, v);

	return w.rowwise || w.parts > 1;
}

static bool sum(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct way w = way_of(g, v);
	int64_t times, threads;

	if (w.parts > 1 && cut(g, v, w.parts)) {
		return true; /* both are looked at again */
	}
	if (!w.rowwise) {
		return false;
	}
	share(g, v->reduce, &times, &threads);
	row_loops(g, v, 0, times, threads);
	if (v->n_spatial == 0) {
		hn_chain_fuse(&g->c, v->stage, 0, 0);
	}
	hn_simt_bind(g, v->stage, 0, v->n_spatial == 0 ? 1 : v->n_spatial, HN_ANN_BLOCK_X);
	return true;
}

bool hn_simt_rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct hn_heuristic_group gr;

	if (v->n_spatial > 0) {
		hn_heuristic_find_group(g, v, /* tiled= */ false, &gr);
		if (gr.n > 0 && gr.level > 0 && rows(g, v, &gr)) {
			return true;
		}
	}
	return v->op->reduce && sum(g, v);
}
