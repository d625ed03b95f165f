/* costmodel/features.c -- walk the loop tree: a row for each statement, with its time by a
 * roofline.
 *
 * Time of a statement = the slowest of instructions and the traffic of each cache level, plus a
 * share of the others (they overlap, not fully), plus the start of the parallel loops that begin
 * before it; statements add up.
 */
#include "costmodel/features.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "costmodel/feature_row.h"
#include "costmodel/model.h"
#include "costmodel/npu.h"
#include "costmodel/simt.h"
#include "loopstate/state/trace.h"

#define L2_BYTES_PER_CYCLE 32.0 /* one core */
#define L3_BYTES_PER_CYCLE 12.0
#define MEM_BYTES_PER_CYCLE 5.0
#define MEM_BYTES_PER_CYCLE_ALL 8.0 /* all cores together */
#define OVERLAP 0.2		    /* share of what does not bind that still costs */
#define FORK_CYCLES 9000.0	    /* waking the workers and joining them */
#define TASK_CYCLES 80.0	    /* handing out one parallel iteration */

struct walk {
	const struct hn_looptree *tree;
	const struct hn_target *target;
	struct hn_arena *a;
	const struct hn_node *path[HN_VIEW_MAX_LOOPS];
	uint32_t n_loop;
	struct hn_view view;
	double fork; /* cycles that the next statement takes over */
	uint32_t n, n_stmt; /* rows done, rows there will be */
	double *cycles, warm_cycles;
	float *x;
	bool hopeless;
	struct hn_simt_kernel *kernel; /* at hand; NULL: cores run loops */
	uint32_t n_kernel;
	struct hn_features_kernel *shape; /* [n_kernel] of those before */
};

static uint32_t count(const struct hn_node *node)
{
	uint32_t n = node->kind == HN_NODE_STMT;

	n += node->init ? count(node->init) : 0;
	for (uint32_t i = 0; i < node->n_child; i++) {
		n += count(node->child[i]);
	}
	return n;
}

/* How many times faster the parallel loop runs than one core; *ret_balance: of what is
 * possible. */
static double speedup(const struct hn_view *v, const struct hn_target *t, double *ret_balance)
{
	int64_t cores = t->param[HN_PARAM_NUM_CORES];

	*ret_balance = 1;
	if (v->parallel < 0 || cores < 2) {
		return 1;
	}
	int64_t n = v->loop[v->parallel]->extent, rounds = hn_ceildiv(n, cores);

	*ret_balance = (double)n / (double)(rounds * cores);
	return (double)n / (double)rounds;
}

/* The slowest part, and a share of the others. */
static double overlapped(const double part[4])
{
	double sum = 0, most = 0;

	for (int i = 0; i < 4; i++) {
		sum += part[i];
		most = part[i] > most ? part[i] : most;
	}
	return most + OVERLAP * (sum - most);
}

/* The same when the call before has left the data where they fit: a level that holds all of them
 * fetches none.  L1 and L2 are each core's own, and hold its share. */
static double warm(const struct walk *w, const struct hn_estimate *e, double fast)
{
	static const enum hn_param level[] = { HN_PARAM_L1_BYTES, HN_PARAM_L2_BYTES,
					       HN_PARAM_L3_BYTES };
	double part[4] = { e->part[0], e->part[1], e->part[2], e->part[3] }, bytes = 0;

	for (uint32_t i = 0; i < w->view.n_stream; i++) {
		bytes += e->traffic.cold[i * (w->view.n_loop + 1)];
	}
	for (int i = 0; i < 3; i++) {
		double share = i < 2 ? bytes / fast : bytes;

		if (share <= (double)w->target->param[level[i]]) {
			part[1 + i] = 0;
		}
	}
	return overlapped(part);
}

static void estimate(struct walk *w, struct hn_estimate *e)
{
	const struct hn_target *t = w->target;
	double fast = speedup(&w->view, t, &e->balance);

	e->compute = hn_view_compute(&w->view, t);
	e->traffic = hn_view_traffic(&w->view, t, &e->compute, w->a);
	e->part[0] = e->compute.cycles / fast;
	e->part[1] = e->traffic.level[0].bytes / L2_BYTES_PER_CYCLE / fast;
	e->part[2] = e->traffic.level[1].bytes / L3_BYTES_PER_CYCLE / fast;
	e->part[3] = e->traffic.level[2].bytes /
		     fmin(MEM_BYTES_PER_CYCLE * fast,
			  fmax(MEM_BYTES_PER_CYCLE_ALL, MEM_BYTES_PER_CYCLE));
	e->fork = w->fork;
	e->cycles = overlapped(e->part) + e->fork;
	w->warm_cycles += w->kernel ? 0 : warm(w, e, fast) + e->fork;
}

static void visit_stmt(struct walk *w, const struct hn_node *node)
{
	struct hn_estimate e;

	if (w->n == w->n_stmt ||
	    !hn_view_make(w->tree, node, w->path, w->n_loop, w->target, w->a,
			  &w->view)) {
		w->hopeless = true;
		return;
	}
	estimate(w, &e);
	if (w->kernel) {
		e.cycles = hn_simt_see(w->kernel, &w->view);
	}
	w->fork = 0;
	w->hopeless = !(e.cycles > 0) || !isfinite(e.cycles);
	hn_feature_row(&w->view, w->target, &e, w->x + (size_t)w->n * HN_N_FEATURE);
	w->cycles[w->n++] = e.cycles;
}

static void visit(struct walk *w, const struct hn_node *node);

static void visit_loop(struct walk *w, const struct hn_node *node)
{
	if (w->n_loop == HN_VIEW_MAX_LOOPS) {
		w->hopeless = true;
		return;
	}
	if (node->ann == HN_ANN_PARALLEL) {
		double runs = 1;
		for (uint32_t l = 0; l < w->n_loop; l++) {
			runs *= (double)w->path[l]->extent;
		}
		w->fork += runs * (FORK_CYCLES + TASK_CYCLES * (double)node->extent);
	}
	w->path[w->n_loop++] = node;
	for (uint32_t i = 0; i < node->n_child && !w->hopeless; i++) {
		visit(w, node->child[i]);
	}
	w->n_loop--;
}

static void visit(struct walk *w, const struct hn_node *node)
{
	if (node->init) {
		visit(w, node->init);
	}
	if (w->hopeless) {
		return;
	}
	if (node->kind == HN_NODE_LOOP) {
		visit_loop(w, node);
	} else {
		visit_stmt(w, node);
	}
}

/* A nest on a machine with blocks of threads: its statements share what the kernel takes. */
static void visit_kernel(struct walk *w, const struct hn_node *nest)
{
	struct hn_simt_kernel k;
	uint32_t first = w->n;
	double sum = 0;

	hn_simt_begin(&k, w->tree, w->target, w->a);
	w->kernel = &k;
	visit(w, nest);
	for (uint32_t i = first; i < w->n; i++) {
		sum += w->cycles[i];
	}
	hn_simt_shape(&k, &w->shape[w->n_kernel]);
	w->shape[w->n_kernel].first = first;
	w->shape[w->n_kernel++].n = w->n - first;
	for (uint32_t i = first; i < w->n && !w->hopeless; i++) {
		w->cycles[i] *= hn_simt_cycles(&k) / sum;
		w->warm_cycles += w->cycles[i];
		w->x[(size_t)i * HN_N_FEATURE + HN_FEATURE_cycles] = (float)w->cycles[i];
	}
}

/* On a machine of explicit buffers the statements share what its own model says: its time at its
 * clock, in cycles of HN_MODEL_HZ. */
static void share_buffers(struct walk *w, const struct hn_npu_profile *m)
{
	struct hn_npu_tiles tiles;
	double sum = 0, all;

	hn_npu_tiles_of(w->tree->state, &tiles);
	all = hn_npu_cycles(w->tree->state->root_dag, &tiles, m) * (HN_MODEL_HZ / 1e6 / (double)m->mhz);
	for (uint32_t i = 0; i < w->n; i++) {
		sum += w->cycles[i];
	}
	for (uint32_t i = 0; i < w->n && !w->hopeless; i++) {
		w->cycles[i] *= all / sum;
		w->x[(size_t)i * HN_N_FEATURE + HN_FEATURE_cycles] = (float)w->cycles[i];
	}
	w->warm_cycles = all;
}

static void whole_program(struct walk *w)
{
	double sum = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		sum += w->cycles[i];
	}
	for (uint32_t i = 0; i < w->n; i++) {
		float *x = w->x + (size_t)i * HN_N_FEATURE;

		x[HN_FEATURE_statements] = (float)w->n;
		x[HN_FEATURE_program_part] = (float)(w->cycles[i] / sum);
	}
}

bool hn_features_of(const struct hn_looptree *tree, const struct hn_target *target,
		    struct hn_arena *a, struct hn_features *ret)
{
	const struct hn_node *root = tree->root;
	struct hn_npu_profile m;
	struct walk w; /* large: its path and view are written before they are read */

	w.tree = tree;
	w.target = target;
	w.a = a;
	w.n_loop = w.n = 0;
	w.fork = w.warm_cycles = 0;
	w.hopeless = false;
	w.kernel = NULL;
	w.n_kernel = 0;
	w.shape = target->caps & HN_CAP_GPU_THREADS ? HN_NEW_ARRAY(a, struct hn_features_kernel, root->n_child + 1)
						    : NULL;
	w.n_stmt = count(root);
	w.cycles = HN_NEW_ARRAY(a, double, w.n_stmt);
	w.x = HN_NEW_ARRAY(a, float, (size_t)w.n_stmt *HN_N_FEATURE);
	for (uint32_t i = 0; i < root->n_child && !w.hopeless; i++) {
		if (target->caps & HN_CAP_GPU_THREADS) {
			visit_kernel(&w, root->child[i]);
		} else if (!tree->prepared[root->child[i]->stage]) {
			visit(&w, root->child[i]);
		}
	}
	if ((target->caps & HN_CAP_BUFFERS) && hn_npu_profile_of(target->isa, &m, NULL) == 0) {
		share_buffers(&w, &m);
	}
	whole_program(&w);
	*ret = (struct hn_features){.trace = tree->state->trace,
				    .n = w.n,
				    .cycles = w.cycles,
				    .warm_cycles = w.warm_cycles,
				    .x = w.x,
				    .n_kernel = w.n_kernel,
				    .kernel = w.shape};
	return !w.hopeless && w.n > 0;
}

struct hn_features hn_features_copy(const struct hn_features *f, struct hn_arena *a)
{
	struct hn_features out = *f;
	double *cycles = HN_NEW_ARRAY(a, double, f->n);
	float *x = HN_NEW_ARRAY(a, float, (size_t)f->n * HN_N_FEATURE);
	struct hn_features_kernel *kernel = HN_NEW_ARRAY(a, struct hn_features_kernel, f->n_kernel + 1);

	for (uint32_t i = 0; i < f->n_kernel; i++) {
		kernel[i] = f->kernel[i];
	}
	memcpy(cycles, f->cycles, f->n * sizeof *cycles);
	memcpy(x, f->x, (size_t)f->n * HN_N_FEATURE * sizeof *x);
	out.trace = hn_trace_copy(f->trace, a);
	out.cycles = cycles;
	out.x = x;
	out.kernel = kernel;
	return out;
}
