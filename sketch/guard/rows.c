/* sketch/guard/rows.c -- stages that go through the same rows, fused into one nest.
 *
 * Softmax and the normalisations read each row several times: with all of their stages
 * inside one loop over rows, a row comes from memory once.  What a row's numbers boil down to
 * (its largest, its mean) ends in a chain of a few dozen instructions that wait for each
 * other, and the pass after it waits for them: so it is done for a block of rows, as many as
 * the first cache holds, and the chains overlap.
 */
#include "base/arith.h"
#include "sketch/guard/guard_int.h"

#define MOST_ROWS 16 /* of a block: their chains of instructions are hidden */
#define FEW_ROWS 8 /* fewer fit only where rows are so long that chains do not matter */
#define BLOCKS 4   /* for each core at least */

struct group {
	uint32_t n;
	int32_t stage[64]; /* descending: consumers before producers */
	uint32_t level;	   /* leading axes in common */
	bool thin[64];	   /* a few values a row, of things that are there before the block */
	int64_t block;	   /* rows that thin stages are computed for together, a power of 2 */
	bool whole;	   /* the others too */
};

static bool member(const struct group *gr, int32_t host, int32_t stage)
{
	bool in = stage == host;

	for (uint32_t i = 0; i < gr->n; i++) {
		in = in || gr->stage[i] == stage;
	}
	return in;
}

/* Whether all readers of the stage are in the group, and it is free to join. */
static bool may_join(struct hn_guard_job *g, const struct group *gr, int32_t host,
		     int32_t stage)
{
	int32_t reader[16];

	if (g->dag->op[stage]->kind != HN_OP_COMPUTE || g->done[stage] ||
	    g->pinned[stage] || hn_guard_is_result(g, stage)) {
		return false;
	}
	uint32_t n = hn_guard_readers(g, stage, reader, HN_COUNT_OF(reader));

	for (uint32_t i = 0; i < n && i < HN_COUNT_OF(reader); i++) {
		if (!member(gr, host, reader[i])) {
			return false;
		}
	}
	return n > 0 && n <= HN_COUNT_OF(reader);
}

static void find_group(struct hn_guard_job *g, const struct hn_guard_view *v,
		       struct group *gr)
{
	const struct hn_access *acc = hn_access_analyze(g->dag, g->c.a);
	int64_t rows = 1;

	*gr = (struct group){ .level = v->n_spatial };
	for (int32_t p = v->stage - 1; p >= 0 && gr->n < HN_COUNT_OF(gr->stage); p--) {
		struct hn_guard_view pv;
		uint32_t common;

		if (!may_join(g, gr, v->stage, p) || !hn_guard_view(g, p, &pv)) {
			continue;
		}
		common = hn_access_common_outer(g->dag, acc, p, v->stage);
		rows = 1;
		for (uint32_t a = 0; a < common && a < gr->level; a++) {
			rows = hn_mul_sat(rows, v->extent[a]);
		}
		if (rows >= 2 * hn_guard_cores(g) &&
		    !hn_guard_class(g, &pv)->takes_host) {
			gr->stage[gr->n++] = p;
			gr->level = common < gr->level ? common : gr->level;
		}
	}
}

/* Whether what v reads of the group is thin. */
static bool reads_thin(const struct group *gr, const struct hn_guard_view *v)
{
	bool thin = true;

	for (uint32_t i = 0; i < v->n_read; i++) {
		for (uint32_t k = 0; k < gr->n; k++) {
			thin = thin &&
			       (gr->stage[k] != v->read[i].producer || gr->thin[k]);
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
static int64_t row_bytes(const struct hn_guard_job *g, const struct hn_guard_view *v,
			 uint32_t level)
{
	int64_t points = v->reduce;

	for (uint32_t a = level; a < v->n_spatial; a++) {
		points = hn_mul_sat(points, v->extent[a]);
	}
	return hn_mul_sat(points, g->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / v->lanes);
}

/* The stage's values of a row are few, and all that they are made of is there already. */
static bool is_thin(const struct group *gr, const struct hn_guard_view *v)
{
	int64_t width = 1;

	for (uint32_t a = gr->level; a < v->n_spatial; a++) {
		width = hn_mul_sat(width, v->extent[a]);
	}
	return v->op->reduce && width < v->lanes && reads_thin(gr, v);
}

/* Whether all stages together are worth waking the other cores for. */
static bool worth_threads(struct hn_guard_job *g, const struct hn_guard_view *v,
			  const struct group *gr)
{
	bool worth = hn_guard_threads(g, v);

	for (uint32_t i = 0; i < gr->n && !worth; i++) {
		struct hn_guard_view pv;

		worth = hn_guard_view(g, gr->stage[i], &pv) && hn_guard_threads(g, &pv);
	}
	return worth;
}

/* Which stages are computed for a block of rows, and how many rows that is. */
static void find_block(struct hn_guard_job *g, const struct hn_guard_view *v,
		       struct group *gr)
{
	int64_t room = g->target->param[HN_PARAM_L1_BYTES] * 2 / 3, read = 1, made, rows = 1;
	bool any = false;

	made = row_bytes(g, v, gr->level);
	for (uint32_t i = gr->n; i-- > 0;) { /* producers first */
		struct hn_guard_view pv;

		if (!hn_guard_view(g, gr->stage[i], &pv)) {
			continue;
		}
		int64_t bytes = row_bytes(g, &pv, gr->level);

		gr->thin[i] = is_thin(gr, &pv);
		any = any || gr->thin[i];
		read = gr->thin[i] && bytes > read ? bytes : read;
		made += pv.op->reduce ? 0 : bytes;
	}
	for (uint32_t a = 0; a < gr->level; a++) {
		rows = hn_mul_sat(rows, v->extent[a]);
	}
	gr->block = room / read < FEW_ROWS ? 1 : room / read;
	gr->block = gr->block < MOST_ROWS ? gr->block : MOST_ROWS;
	rows /= BLOCKS * hn_guard_cores(g);
	gr->block = gr->block < rows ? gr->block : rows;
	rows = v->extent[gr->level - 1];
	gr->block = gr->block < rows ? gr->block : rows;
	gr->block = any && !g->v.cut ? power_of_2_up_to(gr->block) : 1;
	gr->whole = hn_mul_sat(gr->block, read + made) <= room;
}

/* Loops over rows, blocks of them outside; the number of those over blocks, after fusing. */
static uint32_t row_loops(struct hn_guard_job *g, const struct hn_guard_view *v,
			  const struct group *gr)
{
	int64_t length[HN_DAG_MAX_ITERS];
	uint32_t fused = 0;

	for (uint32_t a = 0; a < gr->level; a++) {
		length[a] = v->extent[a];
	}
	if (gr->block > 1) {
		hn_chain_split(&g->c, v->stage, (int32_t)gr->level - 1, &gr->block, 1);
		length[gr->level - 1] = hn_ceildiv(length[gr->level - 1], gr->block);
	}
	if (worth_threads(g, v, gr)) {
		fused = hn_guard_share(g, length, gr->level);
	}
	if (fused > 1) {
		hn_chain_fuse(&g->c, v->stage, 0, fused);
	}
	if (fused > 0) {
		hn_chain_annotate(&g->c, v->stage, 0, HN_ANN_PARALLEL);
	}
	return gr->level - (fused > 1 ? fused - 1 : 0);
}

bool hn_guard_rows(struct hn_guard_job *g, const struct hn_guard_view *v)
{
	struct group gr;

	if (v->n_spatial == 0 || g->v.place == HN_GUARD_ROOT ||
	    hn_guard_class(g, v)->takes_host) {
		return false;
	}
	find_group(g, v, &gr);
	if (gr.n == 0 || gr.level == 0) {
		return false;
	}
	find_block(g, v, &gr);
	int32_t block = (int32_t)row_loops(g, v, &gr) - 1;

	for (uint32_t i = 0; i < gr.n; i++) {
		bool row = gr.block > 1 && !gr.whole && !gr.thin[i];

		hn_chain_compute_at(&g->c, gr.stage[i], v->stage, block + row);
		g->done[gr.stage[i]] = true;
	}
	g->done[v->stage] = true;
	g->dag = NULL;
	return true;
}
