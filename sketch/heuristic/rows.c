/* sketch/heuristic/rows.c -- stages that go through the same rows, fused into one nest.
 *
 * Softmax and the normalisations read each row several times: with all of their stages
 * inside one loop over rows, a row comes from memory once.  What a row's numbers boil down to
 * (its largest, its mean) ends in a chain of a few dozen instructions that wait for each
 * other, and the pass after it waits for them: so it is done for a block of rows, as many as
 * the first cache holds, and the chains overlap.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define MOST_ROWS 16 /* of a block: their chains of instructions are hidden */
#define FEW_ROWS 8 /* fewer fit only where rows are so long that chains do not matter */
#define BLOCKS 4   /* for each core at least */

struct group {
	struct hn_heuristic_group g;
	bool thin[HN_HEURISTIC_GROUP]; /* a few values a row, of things that are there before the
				    * block */
	int64_t block; /* rows that thin stages are computed for together, a power of 2 */
	bool whole;    /* the others too */
};

/* Whether what v reads of the group is thin. */
static bool reads_thin(const struct group *gr, const struct hn_heuristic_view *v)
{
	bool thin = true;

	for (uint32_t i = 0; i < v->n_read; i++) {
		for (uint32_t k = 0; k < gr->g.n; k++) {
			thin = thin &&
			       (gr->g.stage[k] != v->read[i].producer || gr->thin[k]);
		}
	}
	return thin;
}

static int64_t power_of_2_up_to(int64_t n)
{
	int64_t p = 1;

	while (p <= n / 2) {
		p *= 2;
	}
	return p;
}

/* Bytes that the stage reads or makes of a row. */
static int64_t row_bytes(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			 uint32_t level)
{
	int64_t points = v->reduce;

	for (uint32_t a = level; a < v->n_spatial; a++) {
		points = hn_mul_sat(points, v->extent[a]);
	}
	return hn_mul_sat(points, g->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / v->lanes);
}

/* The stage's values of a row are few, and all that they are made of is there already. */
static bool is_thin(const struct group *gr, const struct hn_heuristic_view *v)
{
	int64_t width = 1;

	for (uint32_t a = gr->g.level; a < v->n_spatial; a++) {
		width = hn_mul_sat(width, v->extent[a]);
	}
	return v->op->reduce && width < v->lanes && reads_thin(gr, v);
}

/* Whether all stages together are worth waking the other cores for. */
static bool worth_threads(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			  const struct group *gr)
{
	bool worth = hn_heuristic_threads(g, v);

	for (uint32_t i = 0; i < gr->g.n && !worth; i++) {
		struct hn_heuristic_view pv;

		worth = hn_heuristic_view(g, gr->g.stage[i], &pv) && hn_heuristic_threads(g, &pv);
	}
	return worth;
}

/* Which stages are computed for a block of rows, and how many rows that is. */
static void find_block(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       struct group *gr)
{
	int64_t room = g->target->param[HN_PARAM_L1_BYTES] * 2 / 3, read = 1, made, rows = 1;
	bool any = false;

	made = row_bytes(g, v, gr->g.level);
	for (uint32_t i = gr->g.n; i-- > 0;) { /* producers first */
		struct hn_heuristic_view pv;

		if (!hn_heuristic_view(g, gr->g.stage[i], &pv)) {
			continue;
		}
		int64_t bytes = row_bytes(g, &pv, gr->g.level);

		gr->thin[i] = is_thin(gr, &pv);
		any = any || gr->thin[i];
		read = gr->thin[i] && bytes > read ? bytes : read;
		made += pv.op->reduce ? 0 : bytes;
	}
	for (uint32_t a = 0; a < gr->g.level; a++) {
		rows = hn_mul_sat(rows, v->extent[a]);
	}
	gr->block = room / read < FEW_ROWS ? 1 : room / read;
	gr->block = gr->block < MOST_ROWS ? gr->block : MOST_ROWS;
	rows /= BLOCKS * hn_heuristic_cores(g);
	gr->block = gr->block < rows ? gr->block : rows;
	rows = v->extent[gr->g.level - 1];
	gr->block = gr->block < rows ? gr->block : rows;
	gr->block = any && !g->v.cut ? power_of_2_up_to(gr->block) : 1;
	gr->whole = hn_mul_sat(gr->block, read + made) <= room;
}

/* Loops over rows, blocks of them outside; the number of those over blocks, after fusing. */
static uint32_t row_loops(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			  const struct group *gr)
{
	int64_t length[HN_DAG_MAX_ITERS];
	uint32_t fused = 0;

	for (uint32_t a = 0; a < gr->g.level; a++) {
		length[a] = v->extent[a];
	}
	if (gr->block > 1) {
		hn_chain_split(&g->c, v->stage, (int32_t)gr->g.level - 1, &gr->block, 1);
		length[gr->g.level - 1] = hn_ceildiv(length[gr->g.level - 1], gr->block);
	}
	if (worth_threads(g, v, gr)) {
		fused = hn_heuristic_share(g, length, gr->g.level);
	}
	if (fused > 1) {
		hn_chain_fuse(&g->c, v->stage, 0, fused);
	}
	if (fused > 0) {
		hn_chain_annotate(&g->c, v->stage, 0, HN_ANN_PARALLEL);
	}
	return gr->g.level - (fused > 1 ? fused - 1 : 0);
}

bool hn_heuristic_rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct group gr;

	if (v->n_spatial == 0 || g->v.place == HN_HEURISTIC_ROOT ||
	    hn_heuristic_class(g, v)->takes_host) {
		return false;
	}
	hn_heuristic_find_group(g, v, /* tiled= */ false, &gr.g);
	if (gr.g.n == 0 || gr.g.level == 0) {
		return false;
	}
	find_block(g, v, &gr);
	int32_t block = (int32_t)row_loops(g, v, &gr) - 1;

	for (uint32_t i = 0; i < gr.g.n; i++) {
		bool row = gr.block > 1 && !gr.whole && !gr.thin[i];

		hn_chain_compute_at(&g->c, gr.g.stage[i], v->stage, block + row);
		g->done[gr.g.stage[i]] = true;
	}
	g->done[v->stage] = true;
	return true;
}
