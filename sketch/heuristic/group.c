/* sketch/heuristic/group.c -- which stages go through the same outermost loops as a stage that
 * reads them, directly or through others. */
#include "base/arith.h"
#include "sketch/heuristic/heuristic_int.h"

static bool member(const struct hn_heuristic_group *gr, int32_t host, int32_t stage)
{
	bool in = stage == host;

	for (uint32_t i = 0; i < gr->n; i++) {
		in = in || gr->stage[i] == stage;
	}
	return in;
}

/* Whether all readers of the stage are in the group, and it is free to join. */
static bool may_join(struct hn_heuristic_job *g, const struct hn_heuristic_group *gr,
		     int32_t host, int32_t stage)
{
	int32_t reader[16];

	if (hn_stage_op(g->c.s, stage)->kind != HN_OP_COMPUTE || g->done[stage] ||
	    g->pinned[stage] || hn_heuristic_is_result(g, stage)) {
		return false;
	}
	uint32_t n = hn_heuristic_readers(g, stage, reader, HN_COUNT_OF(reader));

	for (uint32_t i = 0; i < n && i < HN_COUNT_OF(reader); i++) {
		if (!member(gr, host, reader[i])) {
			return false;
		}
	}
	return n > 0 && n <= HN_COUNT_OF(reader);
}

/* The host and those that have joined it. */
struct joined {
	uint32_t n;
	struct {
		const struct hn_op *op;
		struct hn_op_access acc;
		uint32_t common; /* leading axes in common with the host, by all paths to it */
	} at[HN_HEURISTIC_GROUP + 1];
	bool *read; /* [stage] one of them reads it */
};

static void note(struct hn_heuristic_job *g, const struct hn_op *op, uint32_t common,
		 struct joined *j)
{
	struct hn_op_access acc = hn_access_reads(op, g->c.a);

	for (uint32_t k = 0; k < acc.n_producer; k++) {
		j->read[acc.producer[k]] = true;
	}
	j->at[j->n].op = op;
	j->at[j->n].acc = acc;
	j->at[j->n++].common = common;
}

/* Leading axes that the stage, all of whose readers are there, has in common with the host. */
static uint32_t common_axes(const struct joined *j, int32_t stage, const struct hn_op *op, bool ones)
{
	uint32_t common = op->n_dim;

	for (uint32_t i = 0; i < j->n; i++) {
		bool reads = false;

		for (uint32_t k = 0; k < j->at[i].acc.n_producer; k++) {
			reads = reads || j->at[i].acc.producer[k] == stage;
		}
		if (reads) {
			uint32_t here = hn_access_common_direct(op, stage, j->at[i].op,
								&j->at[i].acc, ones);

			here = here < j->at[i].common ? here : j->at[i].common;
			common = here < common ? here : common;
		}
	}
	return common;
}

void hn_heuristic_find_group(struct hn_heuristic_job *g,
			     const struct hn_heuristic_view *v, bool tiled,
			     struct hn_heuristic_group *gr)
{
	struct joined j = { .read = HN_NEW_ARRAY(g->c.a, bool, g->c.s->n_stage) };
	/* a block of threads is wide enough for a row, a core is not */
	bool wide = (g->target->caps & HN_CAP_GPU_THREADS) != 0;
	int64_t rows = 1, few = wide ? 1 : 2 * hn_heuristic_cores(g);

	*gr = (struct hn_heuristic_group){ .level = v->n_spatial };
	note(g, v->op, HN_DAG_MAX_RANK, &j);
	for (int32_t p = v->stage - 1; p >= 0 && gr->n < HN_COUNT_OF(gr->stage); p--) {
		struct hn_heuristic_view pv;
		uint32_t common;

		if (!j.read[p] || !may_join(g, gr, v->stage, p) ||
		    !hn_heuristic_view(g, p, &pv)) {
			continue;
		}
		common = common_axes(&j, p, pv.op, /* ones= */ wide);
		rows = 1;
		for (uint32_t a = 0; a < common && a < gr->level; a++) {
			rows = hn_mul_sat(rows, v->extent[a]);
		}
		if (rows >= few && (tiled || !hn_heuristic_class(g, &pv)->takes_host)) {
			gr->stage[gr->n++] = p;
			gr->level = common < gr->level ? common : gr->level;
			note(g, pv.op, common, &j);
		}
	}
}
