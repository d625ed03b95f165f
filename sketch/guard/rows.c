/* sketch/guard/rows.c -- stages that go through the same rows, fused into one nest.
 *
 * Softmax and the normalisations read each row several times: with all of their stages
 * inside one loop over rows, a row comes from memory once.
 */
#include "base/arith.h"
#include "sketch/guard/guard_int.h"

struct group {
	uint32_t n, cap;
	int32_t stage[64]; /* descending: consumers before producers */
	uint32_t level;	   /* leading axes in common */
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

bool hn_guard_rows(struct hn_guard_job *g, const struct hn_guard_view *v)
{
	struct group gr;
	int64_t length[HN_DAG_MAX_ITERS];
	uint32_t fused = 0;

	if (v->n_spatial == 0 || g->v.place == HN_GUARD_ROOT ||
	    hn_guard_class(g, v)->takes_host) {
		return false;
	}
	find_group(g, v, &gr);
	if (gr.n == 0 || gr.level == 0) {
		return false;
	}
	for (uint32_t a = 0; a < gr.level; a++) {
		length[a] = v->extent[a];
	}
	if (hn_guard_threads(g, v)) {
		fused = hn_guard_share(g, length, gr.level);
	}
	if (fused > 1) {
		hn_chain_fuse(&g->c, v->stage, 0, fused);
	}
	if (fused > 0) {
		hn_chain_annotate(&g->c, v->stage, 0, HN_ANN_PARALLEL);
	}
	for (uint32_t i = 0; i < gr.n; i++) {
		hn_chain_compute_at(&g->c, gr.stage[i], v->stage,
				    (int32_t)(gr.level - (fused > 1 ? fused - 1 : 0)) -
					    1);
		g->done[gr.stage[i]] = true;
	}
	g->done[v->stage] = true;
	g->dag = NULL;
	return true;
}
