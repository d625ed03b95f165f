/* sketch/heuristic/simt_stream.c -- a nest element by element on a machine with blocks of threads:
 * each thread makes a vector of neighbours, and goes through all terms of a sum itself.
 */
#include "base/arith.h"
#include "loopstate/nest/bounds.h"
#include "sketch/heuristic/simt_int.h"

#define SMALL_SUM 64 /* terms that are written out */
#define ACROSS 8	 /* neighbours of a thread in what lies across: a sector of memory */

/* Neighbours lie side by side in all that moves, or stand still. */
static int64_t vector_of(const struct hn_heuristic_view *v)
{
	uint32_t last = v->n_spatial - 1;

	if (v->n_spatial == 0 || v->extent[last] % HN_SIMT_VECTOR != 0 || v->lanes < 2) {
		return 1;
	}
	for (uint32_t i = 0; i < v->n_read; i++) {
		int64_t s = v->read[i].stride[last];

		if ((s != 0 && s != 1) || v->read[i].run[last] < HN_SIMT_VECTOR) {
			return 1;
		}
	}
	return v->lanes < HN_SIMT_VECTOR ? v->lanes : HN_SIMT_VECTOR;
}

/* Threads of a block along each axis, the innermost first, how long a thread's vector is, and the
 * axis of which it takes ACROSS neighbours (-1: there is none). */
struct block {
	int64_t thread[HN_DAG_MAX_ITERS], vector;
	int32_t across;
};

/* What is read lies along another axis than what is written, as in a transpose: where a thread takes
 * neighbours along it, what memory gives at once is used at once. */
static int32_t across_of(const struct hn_heuristic_view *v)
{
	uint32_t last = v->n_spatial - 1;

	for (uint32_t i = 0; i < v->n_read && v->n_spatial > 1 && !v->op->reduce; i++) {
		for (uint32_t a = 0; a < last; a++) {
			if (v->read[i].stride[a] == 1 && v->read[i].stride[last] > 1 &&
			    v->extent[a] % ACROSS == 0) {
				return (int32_t)a;
			}
		}
	}
	return -1;
}

static void choose(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		   struct block *b)
{
	static const int16_t threads[] = { 256, 128, 512, 64 };
	int64_t cores = hn_simt_cores(g->target), n = threads[g->v.tile % HN_COUNT_OF(threads)];
	int64_t most = g->target->param[HN_PARAM_MAX_THREADS_PER_BLOCK];

	n = n < most ? n : most;
	b->vector = vector_of(v);
	b->across = b->vector == 1 && v->spatial / ACROSS >= cores * n ? across_of(v) : -1;
	/* few elements: first as many threads as there can be, then as many blocks */
	while (b->vector > 1 && v->spatial / b->vector < cores * 64) {
		b->vector /= 2;
	}
	while (n > 32 && v->spatial / b->vector / n < cores) {
		n /= 2;
	}
	for (uint32_t a = v->n_spatial; a-- > 0;) {
		int64_t own = a + 1 == v->n_spatial ? b->vector
						    : (int32_t)a == b->across ? ACROSS : 1;
		int64_t parts = hn_ceildiv(v->extent[a], own);
		int64_t t = n < parts ? n : parts;

		b->thread[a] = hn_ceildiv(parts, hn_ceildiv(parts, t));
		n /= b->thread[a];
	}
}

/* The host's loops: blocks, threads, a vector. */
static void host_loops(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       const struct block *b, int32_t host)
{
	int64_t order[3 * HN_DAG_MAX_ITERS];
	int32_t at = 0, inner[HN_DAG_MAX_ITERS], own[HN_DAG_MAX_ITERS];
	uint32_t n = 0, threads = 0, n_own = 0;

	if (v->n_spatial == 0) {
		hn_chain_fuse(&g->c, host, 0, 0);
		hn_chain_annotate(&g->c, host, 0, HN_ANN_BLOCK_X);
		return;
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		bool last = a + 1 == v->n_spatial, across = (int32_t)a == b->across;
		int64_t len[] = { b->thread[a], across ? ACROSS : b->vector };

		hn_chain_split(&g->c, host, at, len, last || across ? 2 : 1);
		order[n++] = at;
		inner[a] = at + 1;
		own[n_own] = at + 2;
		n_own += last || across;
		at += last || across ? 3 : 2;
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		order[n++] = inner[a];
		threads++;
	}
	for (uint32_t i = 0; i < n_own; i++) {
		order[n++] = own[i];
	}
	hn_chain_reorder(&g->c, host, order, n);
	hn_simt_bind(g, host, 0, v->n_spatial, HN_ANN_BLOCK_X);
	hn_simt_bind(g, host, 1, threads, HN_ANN_THREAD_X);
	if (n_own > 1) {
		hn_chain_annotate(&g->c, host, 2, HN_ANN_UNROLL);
	} else if (b->vector > 1) {
		hn_chain_annotate(&g->c, host, 2, HN_ANN_VECTORIZE);
	}
}

/* The sum of a vector, its terms outside. */
static void sum_inside(struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
		       int32_t stage, int32_t host, int32_t at, bool vector)
{
	int64_t order[HN_DAG_MAX_ITERS];
	uint32_t n = 0;

	hn_chain_compute_at(&g->c, stage, host, at);
	for (uint32_t a = v->n_spatial; a < v->n_axis; a++) {
		order[n++] = a;
	}
	for (uint32_t a = 0; a < v->n_spatial; a++) {
		order[n++] = a;
	}
	hn_chain_reorder(&g->c, stage, order, n);
	for (uint32_t i = 0; i < n && v->reduce <= SMALL_SUM; i++) {
		if (!vector || i + 1 < n) {
			hn_chain_annotate(&g->c, stage, (int32_t)i, HN_ANN_UNROLL);
		}
	}
	if (vector) {
		hn_chain_annotate(&g->c, stage, (int32_t)n - 1, HN_ANN_VECTORIZE);
	}
	g->done[stage] = true;
}

static bool is_number(const struct hn_expr *e)
{
	bool number = e->op != HN_EXPR_LOAD && e->op != HN_EXPR_VAR;

	for (uint32_t i = 0; i < e->n_arg && number; i++) {
		number = is_number(e->arg[i]);
	}
	return number;
}

/* A choice between an element and a number. */
static bool is_padding(const struct hn_op *op)
{
	const struct hn_expr *e = op->reduce == NULL && op->n_out == 1 ? op->body[0] : NULL;

	return e != NULL && (e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) &&
	       e->arg[1]->op == HN_EXPR_LOAD && is_number(e->arg[2]);
}

/* Half of the choices: a sum of few terms pads what it reads by itself, which is a kernel less. */
static void take_padding(struct hn_heuristic_job *g, struct hn_heuristic_view *v)
{
	bool any = false;

	for (uint32_t i = 0; i < v->n_read && v->op->reduce != NULL && v->reduce <= SMALL_SUM &&
			     g->v.tile < HN_HEURISTIC_MAX / 2; i++) {
		int32_t p = v->read[i].producer, reader;
		const struct hn_op *op = hn_stage_op(g->c.s, p);

		if (op->kind == HN_OP_COMPUTE && is_padding(op) && !g->done[p] &&
		    !hn_heuristic_is_result(g, p) && hn_heuristic_readers(g, p, &reader, 1) == 1) {
			hn_chain_inline(&g->c, p);
			g->done[p] = true;
			g->inlined = NULL;
			any = true;
		}
	}
	g->c.failed = g->c.failed || (any && !hn_heuristic_view(g, v->stage, v));
}

static void build(struct hn_heuristic_job *g, const struct hn_heuristic_view *of, int32_t host)
{
	struct hn_heuristic_view own = *of;
	const struct hn_heuristic_view *v = &own;
	int32_t stage = v->stage;
	struct block b;

	take_padding(g, &own);
	choose(g, v, &b);
	if (v->op->reduce && host == stage) {
		hn_simt_cache_write(g, stage, "local");
		host = stage + 1;
	}
	host_loops(g, v, &b, host);
	g->done[host] = true;
	if (v->op->reduce) {
		sum_inside(g, v, stage, host, v->n_spatial == 0 ? 0 : 1, b.vector > 1);
	}
}

bool hn_simt_stream_in(struct hn_heuristic_job *g, const struct hn_heuristic_view *v, int32_t host)
{
	if (hn_simt_shares_sum(g, v)) {
		return false;
	}
	build(g, v, host);
	return true;
}

void hn_simt_stream(struct hn_heuristic_job *g, const struct hn_heuristic_view *v)
{
	build(g, v, v->stage);
}
