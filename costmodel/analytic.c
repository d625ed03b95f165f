/* costmodel/analytic.c -- a roofline over the loop tree: no training, the same answer
 * always.
 *
 * Time of a statement = the slowest of instructions and the traffic of each cache level,
 * plus a share of the others (they overlap, not fully); statements add up.  The score is
 * runs per second on a core of 3 GHz: to be compared within one task, not believed.
 */
#include <math.h>
#include <stdlib.h>

#include "base/arith.h"
#include "costmodel/analytic_int.h"

#define HZ 3e9
#define L2_BYTES_PER_CYCLE 32.0 /* one core */
#define L3_BYTES_PER_CYCLE 12.0
#define MEM_BYTES_PER_CYCLE 5.0
#define MEM_BYTES_PER_CYCLE_ALL 8.0 /* all cores together */
#define OVERLAP 0.2		    /* share of what does not bind that still costs */
#define FORK_CYCLES 9000.0	    /* waking the workers and joining them */
#define TASK_CYCLES 80.0	    /* handing out one parallel iteration */

struct hn_model {
	struct hn_target target; /* kind and isa are not read */
	struct hn_arena arena;	 /* scratch of one prediction */
};

struct walk {
	const struct hn_model *model;
	const struct hn_looptree *tree;
	struct hn_arena *a;
	const struct hn_node *path[HN_VIEW_MAX_LOOPS];
	uint32_t n;
	struct hn_view view;
	double cycles;
	bool hopeless;
};

/* How many times faster the parallel loop runs than one core. */
static double speedup(const struct hn_view *v, const struct hn_target *t)
{
	int64_t cores = t->param[HN_PARAM_NUM_CORES];

	if (v->parallel < 0 || cores < 2) {
		return 1;
	}
	int64_t n = v->loop[v->parallel]->extent;
	return (double)n / (double)hn_ceildiv(n, cores);
}

static double stmt_cycles(struct walk *w)
{
	const struct hn_target *t = &w->model->target;
	double fast = speedup(&w->view, t);
	double part[4], sum = 0, most = 0;

	struct hn_traffic traffic = hn_view_traffic(&w->view, t, w->a);
	part[0] = hn_view_compute_cycles(&w->view, t) / fast;
	part[1] = traffic.bytes[0] / L2_BYTES_PER_CYCLE / fast;
	part[2] = traffic.bytes[1] / L3_BYTES_PER_CYCLE / fast;
	part[3] = traffic.bytes[2] /
		  fmin(MEM_BYTES_PER_CYCLE * fast,
		       fmax(MEM_BYTES_PER_CYCLE_ALL, MEM_BYTES_PER_CYCLE));
	for (int i = 0; i < 4; i++) {
		sum += part[i];
		most = part[i] > most ? part[i] : most;
	}
	return most + OVERLAP * (sum - most);
}

static void visit(struct walk *w, const struct hn_node *node);

static void visit_children(struct walk *w, const struct hn_node *node)
{
	for (uint32_t i = 0; i < node->n_child && !w->hopeless; i++) {
		visit(w, node->child[i]);
	}
}

static void visit_loop(struct walk *w, const struct hn_node *node)
{
	if (w->n == HN_VIEW_MAX_LOOPS) {
		w->hopeless = true;
		return;
	}
	if (node->ann == HN_ANN_PARALLEL) {
		double runs = 1;
		for (uint32_t l = 0; l < w->n; l++) {
			runs *= (double)w->path[l]->extent;
		}
		w->cycles += runs * (FORK_CYCLES + TASK_CYCLES * (double)node->extent);
	}
	w->path[w->n++] = node;
	visit_children(w, node);
	w->n--;
}

/* All but what is computed before the first call. */
static void visit_root(struct walk *w, const struct hn_node *root)
{
	for (uint32_t i = 0; i < root->n_child && !w->hopeless; i++) {
		if (!w->tree->prepared[root->child[i]->stage]) {
			visit(w, root->child[i]);
		}
	}
}

static void visit(struct walk *w, const struct hn_node *node)
{
	if (node->init) {
		visit(w, node->init);
	}
	switch ((enum hn_node_kind)node->kind) {
	case HN_NODE_SEQ:
		visit_root(w, node);
		break;
	case HN_NODE_LOOP:
		visit_loop(w, node);
		break;
	case HN_NODE_STMT:
		if (hn_view_make(w->tree, node, w->path, w->n, w->a, &w->view)) {
			w->cycles += stmt_cycles(w);
		} else {
			w->hopeless = true;
		}
		break;
	}
}

static struct hn_model *create(const struct hn_target *target, uint64_t seed)
{
	struct hn_model *m = calloc(1, sizeof *m);

	(void)seed;
	hn_assert(m);
	m->target = *target;
	m->target.kind = m->target.isa = "";
	hn_arena_init(&m->arena, 0);
	return m;
}

static void destroy(struct hn_model *m)
{
	if (m) {
		hn_arena_fini(&m->arena);
		free(m);
	}
}

static void predict(struct hn_model *m, const struct hn_looptree *const *tree, uint32_t n,
		    double *score)
{
	for (uint32_t i = 0; i < n; i++) {
		hn_arena_reset(&m->arena);
		struct walk *w = HN_NEW(&m->arena, struct walk);
		w->model = m;
		w->tree = tree[i];
		w->a = &m->arena;
		visit(w, tree[i]->root);
		score[i] = w->hopeless || !isfinite(w->cycles) ? -INFINITY
							       : HZ / (w->cycles + 1000);
	}
}

extern const struct hn_model_ops hn_model_analytic;
const struct hn_model_ops hn_model_analytic = {
	.name = "analytic", .create = create, .destroy = destroy, .predict = predict};
