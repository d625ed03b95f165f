/* sketch/guard/group.c -- which stages go through the same outermost loops as a stage that reads
 * them, directly or through others. */
#include "base/arith.h"
#include "sketch/guard/guard_int.h"

static bool member(const struct hn_guard_group *gr, int32_t host, int32_t stage)
{
	bool in = stage == host;

	for (uint32_t i = 0; i < gr->n; i++) {
		in = in || gr->stage[i] == stage;
	}
	return in;
}

/* Whether all readers of the stage are in the group, and it is free to join. */
static bool may_join(struct hn_guard_job *g, const struct hn_guard_group *gr, int32_t host,
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

void hn_guard_find_group(struct hn_guard_job *g, const struct hn_guard_view *v, bool tiled,
			 struct hn_guard_group *gr)
{
	const struct hn_access *acc = hn_guard_access(g);
	int64_t rows = 1;

	*gr = (struct hn_guard_group){ .level = v->n_spatial };
	for (int32_t p = acc ? v->stage - 1 : -1; p >= 0 && gr->n < HN_COUNT_OF(gr->stage); p--) {
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
		    (tiled || !hn_guard_class(g, &pv)->takes_host)) {
			gr->stage[gr->n++] = p;
			gr->level = common < gr->level ? common : gr->level;
		}
	}
}
