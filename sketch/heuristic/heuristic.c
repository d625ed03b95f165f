/* sketch/heuristic/heuristic.c -- the heuristics of a dag: one for each variant, stage by stage
 * from the last to the first.  What each class of nests does is in heuristic/. */
#include "sketch/heuristic.h"

#include <string.h>

#include "loopstate/nest/looptree.h"
#include "loopstate/state/inline.h"
#include "sketch/heuristic/heuristic_int.h"

#define HEURISTIC(name) extern const struct hn_heuristic_ops hn_heuristic_##name;
#include "sketch/heuristic/heuristics.def"
#undef HEURISTIC

static const struct hn_heuristic_ops *const classes[] = {
#define HEURISTIC(name) &hn_heuristic_##name,
#include "sketch/heuristic/heuristics.def"
#undef HEURISTIC
};

/* In the order of what most dags are fastest with. */
static const struct hn_heuristic_variant variants[] = {
	{ .place = HN_HEURISTIC_INLINE },
	{ .place = HN_HEURISTIC_ATTACH },
	{ .place = HN_HEURISTIC_INLINE, .cut = HN_HEURISTIC_CUT_DEEP },
	{ .place = HN_HEURISTIC_ROOT },
	{ .place = HN_HEURISTIC_ATTACH, .chain = true },
	{ .place = HN_HEURISTIC_ATTACH, .cut = HN_HEURISTIC_CUT_LONG },
	{ .place = HN_HEURISTIC_INLINE, .repack = true },
	{ .place = HN_HEURISTIC_ROOT, .repack = true },
	{ .place = HN_HEURISTIC_ATTACH, .tile = 1 },
	{ .place = HN_HEURISTIC_INLINE, .tile = 1 },
	{ .place = HN_HEURISTIC_ROOT, .tile = 1 },
	{ .place = HN_HEURISTIC_ATTACH, .recut = true },
	{ .place = HN_HEURISTIC_ATTACH, .repack = true },
};

#define MOST_STAGES 320 /* of all variants: a dag of more than 24 ops gets fewer of them */

const struct hn_heuristic_ops *hn_heuristic_class(const struct hn_heuristic_job *g,
					  const struct hn_heuristic_view *v)
{
	uint32_t i = 0, last = HN_COUNT_OF(classes) - 1;

	while (i < last && (g->v.plain || !classes[i]->fits(g, v))) {
		i++;
	}
	return classes[i];
}

bool hn_heuristic_reads_in_step(const struct hn_heuristic_view *reader, int32_t producer,
				const struct hn_op *op)
{
	bool any = false;

	if (reader->op->reduce || op->n_dim != reader->n_spatial) {
		return false;
	}
	for (uint32_t d = 0; d < op->n_dim; d++) {
		if (op->shape[d] != reader->extent[d]) {
			return false;
		}
	}
	for (uint32_t i = 0; i < reader->n_read; i++) {
		const struct hn_heuristic_read *r = &reader->read[i];

		for (uint32_t a = 0; r->producer == producer && a < op->n_dim; a++) {
			if (reader->extent[a] > 1 &&
			    (r->stride[a] != reader->out_stride[a] ||
			     r->run[a] < reader->extent[a])) {
				return false;
			}
		}
		any = any || r->producer == producer;
	}
	return any;
}

/* Read i is the first of its producer. */
static bool first_read(const struct hn_heuristic_view *v, uint32_t i)
{
	uint32_t k = 0;

	while (v->read[k].producer != v->read[i].producer) {
		k++;
	}
	return k == i;
}

/* A producer to be computed inside the tiles of `reader`, its one reader. */
static bool find_guest(struct hn_heuristic_job *g, const struct hn_heuristic_view *reader,
		       struct hn_heuristic_view *ret)
{
	for (uint32_t i = 0; i < reader->n_read; i++) {
		int32_t p = reader->read[i].producer, only;
		const struct hn_op *op = hn_stage_op(g->c.s, p);

		if (op->kind == HN_OP_COMPUTE && !g->done[p] && first_read(reader, i) &&
		    !hn_heuristic_is_result(g, p) && !hn_heuristic_is_constant(g, p) &&
		    hn_heuristic_readers(g, p, &only, 1) == 1 &&
		    hn_heuristic_reads_in_step(reader, p, op) && hn_heuristic_view(g, p, ret) &&
		    hn_heuristic_class(g, ret)->takes_host) {
			return true;
		}
	}
	return false;
}

static void schedule_stage(struct hn_heuristic_job *g, int32_t stage)
{
	struct hn_heuristic_view v, guest;

	if (!hn_heuristic_view(g, stage, &v)) {
		return;
	}
	if (g->v.plain) {
		hn_heuristic_class(g, &v)->schedule(g, &v, stage);
	} else if (find_guest(g, &v, &guest)) {
		hn_heuristic_class(g, &guest)->schedule(g, &guest, stage);
	} else if (!hn_heuristic_rows(g, &v)) {
		hn_heuristic_class(g, &v)->schedule(g, &v, stage);
	}
}

/* What has been inlined for a variant's place: the same for all of that place. */
struct places {
	const struct hn_dag *dag;
	const struct hn_target *target;
	struct hn_arena *a;
	const struct hn_state *state[HN_HEURISTIC_N_PLACE]; /* NULL = not yet */
	struct hn_inlined *inlined[HN_HEURISTIC_N_PLACE];   /* of these */
	uint8_t depends[HN_HEURISTIC_MAX_STAGES]; /* enum hn_dependence of the dag's ops */
};

static void begin(struct hn_heuristic_job *g, struct places *p)
{
	const struct hn_state **known = &p->state[g->v.place];

	if (!*known) {
		g->c.s = hn_state_init(p->dag, p->a);
		hn_heuristic_inline(g);
		*known = g->c.s;
		p->inlined[g->v.place] = hn_inlined_new(g->c.s, p->a);
	}
	g->c.s = *known;
	g->inlined = p->inlined[g->v.place];
	for (uint32_t i = 0; i < g->c.s->n_stage; i++) {
		g->done[i] = g->c.s->stage[i]->at == HN_AT_INLINED;
	}
}

/* The heuristic of one variant; NULL when its rules do not fit this dag. */
static const struct hn_state *make(struct places *p, const struct hn_heuristic_variant *v)
{
	struct hn_heuristic_job *g = HN_NEW(p->a, struct hn_heuristic_job);
	const struct hn_looptree *tree;

	g->target = p->target;
	g->v = *v;
	g->c = (struct hn_chain){ .s = hn_state_init(p->dag, p->a), .a = p->a };
	memcpy(g->depends, p->depends, sizeof(g->depends));
	if (!v->plain) {
		begin(g, p);
	}
	/* Packing puts stages in front of the one at hand: look again from the end. */
	for (int32_t i = (int32_t)g->c.s->n_stage - 1; i >= 0 && !g->c.failed; i--) {
		if (!g->done[i] && hn_stage_op(g->c.s, i)->kind == HN_OP_COMPUTE) {
			schedule_stage(g, i);
			i = (int32_t)g->c.s->n_stage;
		}
	}
	return !g->c.failed && hn_looptree_build(g->c.s, p->a, &tree, NULL) == 0 ? g->c.s
										 : NULL;
}

#define MOST_TILED 3 /* programs on tiles: they come first */

static bool add(const struct hn_state *s, const struct hn_state **ret, uint32_t *n)
{
	for (uint32_t i = 0; s && i < *n; i++) {
		if (hn_trace_equal(s->trace, ret[i]->trace)) {
			return false;
		}
	}
	if (s) {
		ret[(*n)++] = s;
	}
	return s != NULL;
}

uint32_t hn_heuristics(const struct hn_dag *dag, const struct hn_target *target,
		   struct hn_arena *a, const struct hn_state *ret[HN_HEURISTIC_MAX])
{
	static const struct hn_heuristic_variant plain = { .place = HN_HEURISTIC_ROOT,
						       .plain = true };
	struct places p = { .dag = dag, .target = target, .a = a };
	const struct hn_state *tiled[MOST_TILED];
	uint32_t n = 0, n_tiled;

	if (target->caps & HN_CAP_GPU_THREADS) {
		return hn_simt_heuristics(dag, target, /* unconfirmed= */ false, a, ret);
	}
	if (target->caps & HN_CAP_BUFFERS) { /* the code generator's own rule */
		add(hn_state_init(dag, a), ret, &n);
		return n;
	}
	if (!(target->caps & HN_CAP_THREADS)) {
		return 0;
	}
	n_tiled = hn_heuristic_tiles(dag, target, a, tiled, MOST_TILED);
	for (uint32_t i = 0; i < n_tiled; i++) {
		add(tiled[i], ret, &n);
	}
	if (!(target->caps & HN_CAP_MODULES)) {
		hn_dag_find_constant(dag, dag, p.depends);
	}
	for (uint32_t i = 0; i < HN_COUNT_OF(variants) && n < HN_HEURISTIC_MAX - 1 &&
			     (i == 0 || (i + 1) * dag->n_op <= MOST_STAGES);
	     i++) {
		add(make(&p, &variants[i]), ret, &n);
	}
	add(make(&p, &plain), ret, &n);
	if (n == 0) {
		add(hn_state_init(dag, a), ret, &n);
	}
	return n;
}

uint32_t hn_heuristics_unconfirmed(const struct hn_dag *dag, const struct hn_target *target,
				   struct hn_arena *a,
				   const struct hn_state *ret[HN_HEURISTIC_MAX])
{
	return target->caps & HN_CAP_GPU_THREADS
		       ? hn_simt_heuristics(dag, target, /* unconfirmed= */ true, a, ret)
		       : 0;
}
