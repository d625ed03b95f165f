/* bench/machine.c -- see machine.h.
 *
 * Addresses are read off the tree by evaluating indices with all loops at 0 and with one at 1:
 * every access then has a base and a step for each loop.  The innermost loop that is spatial
 * and not too short runs in lanes.
 */
#include "bench/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/rng.h"
#include "loopstate/nest/layout.h"
#include "target/cpu/fingerprint.h"

#define GHZ 3.0
#define POINTS 2048	     /* of each statement that are run */
#define MOST_LOOPS 64
#define MOST_ACCESSES 12
#define LINE 64
#define TURN 2.0	     /* cycles of a loop's turn */
#define L1_MISS 4.0	     /* cycles more for a line from level 2 */
#define L2_MISS 14.0	     /* ... and for one from memory */
#define CALL 12.0	     /* cycles of a function of one vector */
#define FORK 9000.0	     /* cycles to start and to end a parallel loop */
#define DEVIATION 0.2	     /* of a program: a tenth less to a tenth more */
#define NOISE 0.02	     /* of a measurement: at most so much more */

/* Sets of a few ways each; the least recently used way gives place. */
struct cache {
	uint32_t n_set, n_way;
	int64_t *tag;	/* [n_set][n_way] address + 1, 0 = free; most recent first */
};

struct access {
	const struct hn_buffer *buffer;
	int64_t bytes, base, step[MOST_LOOPS];
};

/* One statement and the loops around it, those of one iteration left out. */
struct nest {
	const struct hn_looptree *t;
	const struct hn_target *target;
	const struct hn_node *loop[MOST_LOOPS];
	uint32_t n_loop, n_access;
	struct access access[MOST_ACCESSES];
	double n_arith, n_call;
	int64_t *value; /* [t->n_loop] of the loops, for evaluation */
	int64_t *axis;
	struct hn_arena *arena;
};

static bool touch(struct cache *c, int64_t what)
{
	int64_t *way = c->tag + (uint64_t)what % c->n_set * c->n_way;
	uint32_t k = 0;

	while (k + 1 < c->n_way && way[k] != what + 1) {
		k++;
	}
	bool hit = way[k] == what + 1;

	memmove(way + 1, way, k * sizeof(*way));
	way[0] = what + 1;
	return hit;
}

/* Which register holds it has nothing to do with its address. */
static int64_t scatter(int64_t at)
{
	return (int64_t)(((uint64_t)at * 0x9e3779b97f4a7c15) >> 8);
}

static struct cache make_cache(uint32_t n_set, uint32_t n_way, struct hn_arena *a)
{
	return (struct cache){ n_set, n_way, HN_NEW_ARRAY(a, int64_t, (size_t)n_set * n_way) };
}

/* VAR i is value[i]; what is no number of loops is 0. */
static int64_t eval(const struct hn_expr *e, const int64_t *value, int64_t n)
{
	int64_t v = 0;

	if (e->op == HN_EXPR_VAR) {
		return e->ref < n ? value[e->ref] : 0;
	}
	if (e->op == HN_EXPR_INT) {
		return e->u.i;
	}
	if (e->n_arg == 2 && e->op != HN_EXPR_LOAD && e->op != HN_EXPR_CALL &&
	    !hn_expr_ints(e->op, eval(e->arg[0], value, n), eval(e->arg[1], value, n), &v)) {
		return 0;
	}
	return v;
}

/* Bytes from the buffer's beginning of the element that the indices name. */
static int64_t place(struct nest *n, const struct hn_buffer *b,
		     const struct hn_expr *const *index, bool op_space, int64_t bytes,
		     uint32_t n_axis)
{
	int64_t x[HN_DAG_MAX_RANK];

	for (uint32_t d = 0; d < b->n_dim; d++) {
		int64_t i = op_space ? eval(index[d], n->axis, n_axis)
				     : eval(index[d], n->value, n->t->n_loop);

		x[d] = i - eval(b->min[d], n->value, n->t->n_loop);
	}
	return hn_layout_place(b, x) * bytes;
}

static void set_axes(struct nest *n, const struct hn_node *stmt, uint32_t n_axis)
{
	for (uint32_t i = 0; i < n_axis; i++) {
		n->axis[i] = stmt->axis[i] ? eval(stmt->axis[i], n->value, n->t->n_loop) : 0;
	}
}

/* Note an access: its place with all loops at 0, and how far one turn of each moves it. */
static void add_access(struct nest *n, const struct hn_node *stmt, int32_t op,
		       const struct hn_expr *const *index, bool op_space)
{
	const struct hn_op *of = n->t->dag->op[stmt->stage];
	uint32_t n_axis = of->n_spatial + of->n_reduce;
	const struct hn_buffer *b = &n->t->buffer[op];

	if (n->n_access == MOST_ACCESSES || b->op < 0) {
		return;
	}
	struct access *x = &n->access[n->n_access++];

	x->buffer = b;
	x->bytes = hn_dtype_bytes((enum hn_dtype)n->t->dag->op[op]->dtype[0]);
	set_axes(n, stmt, n_axis);
	x->base = place(n, b, index, op_space, x->bytes, n_axis);
	for (uint32_t l = 0; l < n->n_loop; l++) {
		n->value[n->loop[l]->loop] = 1;
		set_axes(n, stmt, n_axis);
		x->step[l] = place(n, b, index, op_space, x->bytes, n_axis) - x->base;
		n->value[n->loop[l]->loop] = 0;
	}
	x->base += (int64_t)op << 32; /* buffers lie far apart */
}

struct body {
	struct nest *nest;
	const struct hn_node *stmt;
};

static void find(const struct hn_expr *e, void *ctx)
{
	struct body *b = ctx;
	bool number = hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;

	if (e->op == HN_EXPR_LOAD) {
		add_access(b->nest, b->stmt, e->ref, e->arg, /* op_space= */ true);
	}
	b->nest->n_call += e->op == HN_EXPR_CALL;
	b->nest->n_arith += number && e->n_arg == 2 && e->op != HN_EXPR_LOAD;
}

static void read_stmt(struct nest *n, const struct hn_node *stmt)
{
	const struct hn_op *op = n->t->dag->op[stmt->stage];
	struct body b = { n, stmt };
	bool reduces = stmt->stmt == HN_STMT_UPDATE;

	n->axis = HN_NEW_ARRAY(n->arena, int64_t, op->n_spatial + op->n_reduce);
	n->n_arith = reduces;
	for (uint32_t k = 0; k < op->n_out && stmt->stmt != HN_STMT_INIT; k++) {
		hn_expr_visit(reduces ? op->reduce->source[k] : op->body[k], find, &b);
	}
	add_access(n, stmt, stmt->stage, stmt->axis, /* op_space= */ false);
}

/* The loop that runs in lanes, and how many; -1: none. */
static int32_t lanes_of(const struct nest *n, int64_t *ret_lanes)
{
	int64_t bytes = n->n_access > 0 ? n->access[n->n_access - 1].bytes : 4;
	int64_t most = n->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / (bytes > 0 ? bytes : 4);

	for (uint32_t l = n->n_loop; l-- > 0 && n->n_loop - l <= 3;) {
		if (n->loop[l]->iter_kind == HN_ITER_SPATIAL && n->loop[l]->extent >= 4 &&
		    n->loop[l]->ann != HN_ANN_PARALLEL) {
			*ret_lanes = n->loop[l]->extent < most ? n->loop[l]->extent : most;
			return (int32_t)l;
		}
	}
	*ret_lanes = 1;
	return -1;
}

/* Cycles of one access of `lanes` elements, `step` bytes apart. */
static double reach(struct cache *level, int64_t at, int64_t step, int64_t lanes)
{
	int64_t n = step == 0 || llabs(step) * lanes <= LINE ? 1 : lanes;
	double cycles = 0;

	n = llabs(step) * lanes <= 4 * LINE && step != 0 ? llabs(step) * lanes / LINE + 1 : n;
	for (int64_t k = 0; k < n; k++) {
		int64_t line = (at + k * (n > 1 ? step * lanes / n : 0)) / LINE;

		cycles += 0.5;
		if (!touch(&level[1], line)) {
			cycles += L1_MISS + (touch(&level[2], line) ? 0 : L2_MISS);
		}
	}
	return cycles;
}

/* Cycles of one run of the nest's points, by running the first of them. */
static double run_nest(struct nest *n)
{
	struct cache level[3] = { make_cache(16, 2, n->arena), make_cache(64, 4, n->arena),
				  make_cache(256, 8, n->arena) };
	int64_t at[MOST_LOOPS] = { 0 }, turns[MOST_LOOPS], lanes;
	int32_t vector = lanes_of(n, &lanes);
	double all = 1, cycles = 0;
	uint32_t run = 0, l;

	for (l = 0; l < n->n_loop; l++) {
		turns[l] = hn_ceildiv(n->loop[l]->extent, (int32_t)l == vector ? lanes : 1);
		all *= (double)turns[l];
	}
	double arith = n->n_arith / (double)n->target->param[HN_PARAM_FMA_PER_CYCLE] +
		       n->n_call * CALL * (vector < 0 ? 0.3 : 1);

	for (bool more = true; more && run < POINTS; run++) {
		double moved = 0;

		for (uint32_t i = 0; i < n->n_access; i++) {
			const struct access *x = &n->access[i];
			int64_t a = x->base, step = vector < 0 ? 0 : x->step[vector];

			for (l = 0; l < n->n_loop; l++) {
				a += at[l] * x->step[l] * ((int32_t)l == vector ? lanes : 1);
			}
			moved += touch(&level[0], scatter(a)) ? 0
							      : reach(level, a, step, lanes);
		}
		cycles += moved > arith ? moved : arith;
		more = false;
		for (l = n->n_loop; l-- > 0 && !more;) {
			more = ++at[l] < turns[l];
			at[l] = more ? at[l] : 0;
			cycles += n->loop[l]->ann == HN_ANN_UNROLL ? 0 : TURN / (turns[l] < 8 ? 8 : 1);
		}
	}
	return run > 0 ? cycles / run * all : 0;
}

/* Of a nest whose outermost parallel loop has so many turns. */
static double shared_out(double cycles, const struct nest *n)
{
	int64_t cores = n->target->param[HN_PARAM_NUM_CORES];
	double outside = 1;

	for (uint32_t l = 0; l < n->n_loop; l++) {
		int64_t e = n->loop[l]->extent;

		if (n->loop[l]->ann == HN_ANN_PARALLEL) {
			return cycles * (double)hn_ceildiv(e, cores) / (double)e +
			       FORK * outside;
		}
		outside *= (double)e;
	}
	return cycles;
}

static double walk(struct nest *n, const struct hn_node *node)
{
	bool loop = node->kind == HN_NODE_LOOP && node->extent > 1 && n->n_loop < MOST_LOOPS;
	double cycles = node->init ? walk(n, node->init) : 0;

	if (node->kind == HN_NODE_STMT) {
		n->n_access = 0;
		n->n_arith = n->n_call = 0;
		read_stmt(n, node);
		return cycles + shared_out(run_nest(n), n);
	}
	if (loop) {
		n->loop[n->n_loop++] = node;
	}
	for (uint32_t k = 0; k < node->n_child; k++) {
		cycles += walk(n, node->child[k]);
	}
	n->n_loop -= loop;
	return cycles;
}

double hn_machine_ns(const struct hn_looptree *t, const struct hn_target *target,
		     uint64_t seed, uint64_t visit, struct hn_arena *a)
{
	struct nest n = { .t = t,
			  .target = target,
			  .value = HN_NEW_ARRAY(a, int64_t, t->n_loop),
			  .arena = a };
	struct hn_rng own = hn_rng_stream(seed, hn_fingerprint(t, NULL, a), 1, 0);
	struct hn_rng noise = hn_rng_stream(seed, visit, 2, 0);
	double ns = walk(&n, t->root) / GHZ;

	ns *= exp(DEVIATION * (hn_rng_unit(&own) - 0.5));
	return (1000 + ns) * (1 + NOISE * hn_rng_unit(&noise));
}
