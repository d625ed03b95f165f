/* graph/op/recurrent.c -- RNN, GRU and LSTM, one step after the other.
 *
 * The length of a sequence is a number, so its steps are written out.  What depends on the inputs alone
 * is one product for all steps; a step has the product with the state, and the gates.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

#define MOST_STEPS 256
#define MOST_GATES 4

enum { X, W, R, B, LENGTHS, START_H, START_C, PEEPHOLES };

struct cell;

/* One direction. */
struct run {
	const struct hn_gcall *c;
	struct hn_graph *g;
	const struct cell *cell;
	int64_t dir, steps, batch, hidden;
	int32_t inputs;	 /* [steps, batch, gates * hidden], with biases */
	int32_t weights; /* of the state, [gates * hidden, hidden] */
	int32_t bias;	 /* that is added to its product, [gates * hidden]; or HN_NONE */
	int32_t peep[3]; /* [hidden], or HN_NONE */
	int32_t h, c_state;
	const char *act[3];
};

struct cell {
	const char *name;
	int64_t gates;
	const char *act[3]; /* when left out */
	void (*step)(struct run *r, int32_t x);
};

static int32_t fail(const struct hn_gcall *c, const char *what)
{
	return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%s %s", c->node->op->name, what);
}

/* -- gates ------------------------------------------------------------------------------ */

static int32_t gate(struct run *r, int32_t v, int64_t k)
{
	return hn_part(r->g, v, 1, k * r->hidden, r->hidden);
}

static int32_t sum(struct run *r, int32_t x, int32_t y)
{
	return x == HN_NONE ? y : y == HN_NONE ? x : hn_graph_2(r->g, "Add", x, y);
}

static int32_t times(struct run *r, int32_t x, int32_t y)
{
	return x == HN_NONE || y == HN_NONE ? HN_NONE : hn_graph_2(r->g, "Mul", x, y);
}

/* Activation k of x, which `clip` bounds. */
static int32_t active(struct run *r, uint32_t k, int32_t x)
{
	double clip = hn_gattr_float(r->c->node, "clip", 0);

	if (clip > 0 && x >= 0) {
		enum hn_dtype t = (enum hn_dtype)r->g->value[x].dtype;

		x = hn_graph_2(r->g, "minimum", x, hn_graph_scalar(r->g, t, clip));
		x = hn_graph_2(r->g, "maximum", x, hn_graph_scalar(r->g, t, -clip));
	}
	return hn_graph_1(r->g, r->act[k], x);
}

/* h R' of the weights' rows first.. of so many gates. */
static int32_t with_state(struct run *r, int32_t h, int64_t first, int64_t gates)
{
	int64_t yes = 1;
	struct hn_gattr attr = hn_gattr_of_ints("trans_b", 1, &yes);
	const int32_t in[] = { h, hn_part(r->g, r->weights, 0, first * r->hidden,
					  gates * r->hidden) };

	return hn_graph_add(r->g, "matmul", 2, in, 1, &attr);
}

static void rnn_step(struct run *r, int32_t x)
{
	r->h = active(r, 0, sum(r, x, with_state(r, r->h, 0, 1)));
}

/* Gates: update, reset, hidden. */
static void gru_step(struct run *r, int32_t x)
{
	bool before = hn_gattr_int(r->c->node, "linear_before_reset", 0) != 0;
	int32_t old = r->h, y = with_state(r, old, 0, before ? 3 : 2), z, reset, h;

	y = before ? sum(r, y, r->bias) : y;
	z = active(r, 0, sum(r, gate(r, x, 0), gate(r, y, 0)));
	reset = active(r, 0, sum(r, gate(r, x, 1), gate(r, y, 1)));
	h = before ? times(r, reset, gate(r, y, 2))
		   : with_state(r, times(r, reset, old), 2, 1);
	h = active(r, 1, sum(r, gate(r, x, 2), h));
	/* h + z (old - h) = (1 - z) h + z old */
	r->h = sum(r, h, times(r, z, hn_graph_2(r->g, "Sub", old, h)));
}

/* Gates: input, output, forget, cell; peepholes: input, output, forget. */
static void lstm_step(struct run *r, int32_t x)
{
	bool coupled = hn_gattr_int(r->c->node, "input_forget", 0) != 0;
	int32_t y = sum(r, x, with_state(r, r->h, 0, 4)), i, f, cell, o;

	i = active(r, 0, sum(r, gate(r, y, 0), times(r, r->peep[0], r->c_state)));
	f = coupled ? hn_plus(r->g, hn_scaled(r->g, i, -1), 1)
		    : active(r, 0, sum(r, gate(r, y, 2), times(r, r->peep[2], r->c_state)));
	cell = active(r, 1, gate(r, y, 3));
	r->c_state = sum(r, times(r, f, r->c_state), times(r, i, cell));
	o = active(r, 0, sum(r, gate(r, y, 1), times(r, r->peep[1], r->c_state)));
	r->h = times(r, o, hn_graph_1(r->g, r->act[2], r->c_state));
}

static const struct cell cells[] = {
	{ "RNN", 1, { "Tanh" }, rnn_step },
	{ "GRU", 3, { "Sigmoid", "Tanh" }, gru_step },
	{ "LSTM", 4, { "Sigmoid", "Tanh", "Tanh" }, lstm_step },
};

/* -- operands --------------------------------------------------------------------------- */

/* Operand k of direction dir: without that dimension. */
static int32_t of_direction(struct run *r, int32_t v, int64_t dir)
{
	if (v < 0) {
		return v;
	}
	v = hn_part(r->g, v, 0, dir, 1);
	return v < 0 ? v : hn_reshaped(r->g, v, r->g->value[v].rank - 1, r->g->value[v].shape + 1);
}

static int32_t operand(struct run *r, uint32_t k)
{
	return of_direction(r, hn_gcall_arg(r->c, k), r->dir);
}

/* A state that a sequence begins with: [batch, hidden]. */
static int32_t start(struct run *r, uint32_t k, enum hn_dtype t)
{
	const int64_t perm[] = { 1, 0, 2 };
	int64_t *shape = HN_NEW_ARRAY(r->g->arena, int64_t, 2);
	int32_t v = hn_gcall_arg(r->c, k), zero;

	if (v != HN_NONE) {
		v = hn_gattr_int(r->c->node, "layout", 0) != 0 ? hn_transposed(r->g, v, 3, perm) : v;
		return of_direction(r, v, r->dir);
	}
	zero = hn_graph_scalar(r->g, t, 0);
	shape[0] = r->batch;
	shape[1] = r->hidden;
	return hn_graph_const(r->g, r->g->at, t, 2, shape, r->g->value[zero].data, true);
}

/* Names of activations are words; those of a direction follow those of the one before. */
static bool read_activations(struct run *r)
{
	static const char *const known[] = { "Tanh", "Sigmoid", "Relu", "Softsign", "Softplus" };
	const char *words = hn_gattr_string(r->c->node, "activations", "");
	uint32_t n = 0, skip;

	while (n < 3 && r->cell->act[n] != NULL) {
		r->act[n] = r->cell->act[n];
		n++;
	}
	skip = (uint32_t)r->dir * n;
	for (uint32_t k = 0; *words != '\0' && k < skip + n; k++) {
		size_t len = strcspn(words, " ");
		const char *name = NULL;

		for (size_t j = 0; j < HN_COUNT_OF(known); j++) {
			name = strncmp(words, known[j], len) == 0 && known[j][len] == '\0' ? known[j]
											   : name;
		}
		if (name == NULL) {
			fail(r->c, "with an activation other than Tanh, Sigmoid, Relu, Softsign, "
				   "Softplus");
			return false;
		}
		if (k >= skip) {
			r->act[k - skip] = name;
		}
		words += len + (words[len] == ' ');
	}
	return true;
}

/* The inputs' product of all steps, and what else a direction needs. */
static void prepare(struct run *r, int32_t x)
{
	int64_t n = r->cell->gates * r->hidden, yes = 1;
	bool apart = strcmp(r->cell->name, "GRU") == 0 &&
		     hn_gattr_int(r->c->node, "linear_before_reset", 0) != 0;
	struct hn_gattr attr = hn_gattr_of_ints("trans_b", 1, &yes);
	const int32_t in[] = { x, operand(r, W) };
	int32_t bias = operand(r, B), peep = operand(r, PEEPHOLES);
	enum hn_dtype t = (enum hn_dtype)r->g->value[x].dtype;

	r->weights = operand(r, R);
	r->inputs = hn_graph_add(r->g, "matmul", 2, in, 1, &attr);
	r->bias = bias == HN_NONE ? HN_NONE : hn_part(r->g, bias, 0, n, n);
	if (bias != HN_NONE) {
		r->inputs = sum(r, r->inputs, hn_part(r->g, bias, 0, 0, n));
		r->inputs = apart ? r->inputs : sum(r, r->inputs, r->bias);
	}
	for (int64_t k = 0; k < 3; k++) {
		r->peep[k] = peep == HN_NONE ? HN_NONE
					     : hn_part(r->g, peep, 0, k * r->hidden, r->hidden);
	}
	r->h = start(r, START_H, t);
	r->c_state = strcmp(r->cell->name, "LSTM") == 0 ? start(r, START_C, t) : HN_NONE;
}

static bool check_shapes(const struct hn_gcall *c, const struct run *r, int64_t dirs)
{
	const struct hn_gvalue *x = hn_gcall_in(c, X), *w = hn_gcall_in(c, W), *state = hn_gcall_in(c, R);
	const struct hn_gvalue *b = hn_gcall_in(c, B), *lengths = hn_gcall_in(c, LENGTHS);
	int64_t n = r->cell->gates * r->hidden, length;
	bool fits = hn_is_float(x) && w->rank == 3 && state->rank == 3 && w->shape[0] == dirs &&
		    w->shape[1] == n && w->shape[2] == x->shape[2] && state->shape[0] == dirs &&
		    state->shape[1] == n && state->shape[2] == r->hidden &&
		    (b == NULL || (b->rank == 2 && b->shape[0] == dirs && b->shape[1] == 2 * n));

	for (uint32_t k = START_H; fits && k <= START_C; k++) {
		const struct hn_gvalue *s = hn_gcall_in(c, k);

		fits = s == NULL || (s->rank == 3 &&
				     hn_gvalue_elements(s) == dirs * r->batch * r->hidden);
	}
	if (fits && hn_gcall_in(c, PEEPHOLES) != NULL) {
		fits = hn_gcall_in(c, PEEPHOLES)->rank == 2 &&
		       hn_gvalue_elements(hn_gcall_in(c, PEEPHOLES)) == dirs * 3 * r->hidden;
	}
	if (!fits) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: operands of %s do not fit",
			      c->node->op->name, hn_shape_text(c->g->arena, x->rank, x->shape));
		return false;
	}
	for (int64_t k = 0; lengths != NULL && k < r->batch; k++) {
		if (!hn_gvalue_int(lengths, k, &length) || length != r->steps) {
			fail(c, "of sequences of different lengths");
			return false;
		}
	}
	if (r->steps > MOST_STEPS) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%s of %lld steps; hone writes out %d",
			      c->node->op->name, (long long)r->steps, MOST_STEPS);
		return false;
	}
	return true;
}

/* -- the whole -------------------------------------------------------------------------- */

static int32_t joined(struct hn_graph *g, uint32_t n, const int32_t *v, int64_t at)
{
	struct hn_gattr axis = hn_gattr_of_ints("axis", 1, &at);

	return hn_graph_add(g, "Concat", n, v, 1, &axis);
}

/* [batch, hidden] as one of a list. */
static int32_t as_item(struct run *r, int32_t v, uint32_t rank)
{
	const int64_t shape[] = { 1, 1, r->batch, r->hidden };

	return hn_reshaped(r->g, v, rank, shape + 4 - rank);
}

/* All states of a direction, [steps, 1, batch, hidden]. */
static int32_t run_steps(struct run *r, bool reverse)
{
	const int64_t shape[] = { r->batch, r->cell->gates * r->hidden };
	int32_t *h = HN_NEW_ARRAY(r->g->arena, int32_t, (size_t)r->steps);

	for (int64_t k = 0; k < r->steps; k++) {
		int64_t t = reverse ? r->steps - 1 - k : k;
		int32_t x = hn_part(r->g, r->inputs, 0, t, 1);

		r->cell->step(r, hn_reshaped(r->g, x, 2, shape));
		h[t] = as_item(r, r->h, 4);
	}
	return joined(r->g, (uint32_t)r->steps, h, 0);
}

/* Batches first, where `layout` says so. */
static int32_t laid_out(const struct hn_gcall *c, int32_t v, uint32_t rank)
{
	static const int64_t all[] = { 2, 0, 1, 3 }, last[] = { 1, 0, 2 };

	return v < 0 || hn_gattr_int(c->node, "layout", 0) == 0
		       ? v
		       : hn_transposed(c->g, v, rank, rank == 4 ? all : last);
}

int32_t hn_recurrent_expand(const struct hn_gcall *c)
{
	const char *direction = hn_gattr_string(c->node, "direction", "forward");
	int64_t dirs = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
	bool batch_first = hn_gattr_int(c->node, "layout", 0) != 0;
	const int64_t perm[] = { 1, 0, 2 };
	const struct hn_gvalue *x = hn_gcall_in(c, X);
	int32_t v = hn_gcall_arg(c, X), all[2], h[2], state[2];
	const struct cell *cell = cells;

	while (strcmp(cell->name, c->node->op->name) != 0) {
		cell++;
	}
	if (x->rank != 3 || hn_gcall_in(c, R)->rank != 3) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "%s of %u dimensions",
				     c->node->op->name, x->rank);
	}
	v = batch_first ? hn_transposed(c->g, v, 3, perm) : v;
	for (int64_t d = 0; d < dirs; d++) {
		struct run r = { .c = c, .g = c->g, .cell = cell, .dir = d,
				 .steps = x->shape[batch_first], .batch = x->shape[!batch_first],
				 .hidden = hn_gcall_in(c, R)->shape[2] };

		if (v < 0 || !check_shapes(c, &r, dirs) || !read_activations(&r)) {
			return HN_BAD;
		}
		prepare(&r, v);
		all[d] = run_steps(&r, d == 1 || strcmp(direction, "reverse") == 0);
		h[d] = as_item(&r, r.h, 3);
		state[d] = r.c_state == HN_NONE ? HN_NONE : as_item(&r, r.c_state, 3);
	}
	if (c->node->n_out > 1) {
		c->out[1] = laid_out(c, joined(c->g, (uint32_t)dirs, h, 0), 3);
	}
	if (c->node->n_out > 2) {
		c->out[2] = laid_out(c, joined(c->g, (uint32_t)dirs, state, 0), 3);
	}
	return laid_out(c, joined(c->g, (uint32_t)dirs, all, 1), 4);
}
