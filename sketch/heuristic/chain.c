/* sketch/heuristic/chain.c -- a contraction and what leads to it, a block of rows at a time.
 *
 * Attention is products of each row with all keys, a softmax of the row, and a product with all
 * values; a normalisation before a dense layer is the same without the first product.  What lies
 * between them is as large as rows times columns, but a row of it depends on one row alone: so all
 * of it is computed for as many rows as the second cache holds, inside the last product's loop
 * over blocks of rows.  Source: Dao et al., "FlashAttention" (2022), without its renormalised
 * partial rows, which a cache of megabytes does not need.
 */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

#define FEW_ROWS 4 /* fewer read the other operand again too often */
#define BLOCKS 4   /* for each core at least */

/* One block of v's leading axes. */
static struct hn_heuristic_view block_of(const struct hn_heuristic_view *v,
					 uint32_t level, int64_t rows)
{
	struct hn_heuristic_view b = *v;

	b.spatial = 1;
	for (uint32_t a = 0; a < b.n_spatial; a++) {
		b.extent[a] = a + 1 == level ? rows : a < level ? 1 : v->extent[a];
		b.spatial = hn_mul_sat(b.spatial, b.extent[a]);
	}
	return b;
}

/* Rows of a block: results of the whole chain for them fill half of the second cache. */
static int64_t choose_rows(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			   const struct hn_heuristic_group *gr)
{
	struct hn_heuristic_view one = block_of(v, gr->level, 1);
	int64_t bytes = one.spatial * 4, all = 1, most = v->extent[gr->level - 1];

	for (uint32_t i = 0; i < gr->n; i++) {
		struct hn_heuristic_view pv;

		if (!hn_heuristic_view(g, gr->stage[i], &pv)) {
			return 0;
		}
		one = block_of(&pv, gr->level, 1);
		bytes += hn_mul_sat(one.spatial,
				    hn_dtype_bytes((enum hn_dtype)pv.op->dtype[0]));
	}
	for (uint32_t a = 0; a < gr->level; a++) {
		all = hn_mul_sat(all, v->extent[a]);
	}
	int64_t fit = g->target->param[HN_PARAM_L2_BYTES] / 2 / bytes;
	int64_t share = all / (BLOCKS * hn_heuristic_cores(g));

	fit = fit < share ? fit : share;
	most = most < fit ? most : fit;
	while ((most & (most - 1)) != 0) {
		most &= most - 1;
	}
	return most;
}

/* Whether the chain can be one nest: what is tiled in it are contractions. */
static bool find(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		 struct hn_heuristic_group *gr)
{
	hn_heuristic_find_group(g, v, /* tiled= */ true, gr);
	for (uint32_t i = 0; i < gr->n; i++) {
		struct hn_heuristic_view pv;

		if (!hn_heuristic_view(g, gr->stage[i], &pv) ||
		    (hn_heuristic_class(g, &pv)->takes_host &&
		     !hn_heuristic_is_contraction(g, &pv))) {
			return false;
		}
	}
	return gr->n > 0 && gr->n <= HN_HEURISTIC_MOVES && gr->level > 0 &&
	       gr->level < v->n_spatial;
}

/* Pack for all contractions; each packed operand moves the stages behind it.  Returns where
 * the last one is then, with its group. */
static int32_t pack_all(struct hn_heuristic_job *g, int32_t host, int64_t rows,
			struct hn_heuristic_group *gr)
{
	for (uint32_t i = 0; i <= gr->n && !g->c.failed; i++) {
		struct hn_heuristic_view v, b;

		if (!hn_heuristic_view(g, i < gr->n ? gr->stage[i] : host, &v)) {
			return host;
		}
		b = block_of(&v, gr->level, rows);
		if (!hn_heuristic_is_contraction(g, &v)) {
			continue;
		}
		host += hn_heuristic_contraction_pack(g, &b);
		if (g->c.failed || !hn_heuristic_view(g, host, &v)) {
			return host;
		}
		hn_heuristic_find_group(g, &v, /* tiled= */ true, gr);
	}
	return host;
}

bool hn_heuristic_chain(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	struct hn_heuristic_group gr;
	struct hn_heuristic_view whole, block;

	if (!find(g, v, &gr)) {
		return false;
	}
	int64_t rows = choose_rows(g, v, &gr);

	if (rows < FEW_ROWS) {
		return false;
	}
	int32_t host = pack_all(g, v->stage, rows, &gr);

	for (uint32_t i = 0; i < gr.n && !g->c.failed; i++) {
		if (hn_heuristic_view(g, gr.stage[i], &whole) &&
		    hn_heuristic_is_contraction(g, &whole)) {
			block = block_of(&whole, gr.level, rows);
			hn_heuristic_contraction_nest(g, &block, &block, NULL, 0);
		}
	}
	if (hn_heuristic_view(g, host, &whole)) {
		block = block_of(&whole, gr.level, rows);
		hn_heuristic_contraction_nest(g, &whole, &block, gr.stage, gr.n);
	}
	return true;
}
