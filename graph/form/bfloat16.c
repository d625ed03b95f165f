/* graph/form/bfloat16.c -- a float32 network whose products are of bfloat16.
 *
 * Sums of products have bfloat16 factors, and stay float32.  So values that are factors are rounded
 * where they are made, and lie in memory as bfloat16: all who read them read the rounded number.  So
 * does a sum that is added to another one.  What only moves elements moves the rounded ones.  All
 * else is computed in float32.
 *
 * The graph is built anew.  Constants are rounded here, once: a weight takes half the bytes.
 */
#include <string.h>

#include "base/half.h"
#include "graph/form/form.h"
#include "graph/ir/op.h"
#include "graph/op/build.h"

/* What an operator does with a rounded operand. */
enum use {
	COMPUTES, /* reads it as float32 */
	MOVES,	  /* its result is as exact as its operand: it may be rounded before or behind */
	MULTIPLIES,
};

static const uint8_t use_of_class[] = {
	[HN_GOP_REWRITE] = COMPUTES,   [HN_GOP_ELEMENTWISE] = COMPUTES,
	[HN_GOP_VIEW] = MOVES,	       [HN_GOP_INJECTIVE] = MOVES,
	[HN_GOP_REDUCE] = COMPUTES,    [HN_GOP_CONTRACT] = MULTIPLIES,
	[HN_GOP_NORMALIZE] = COMPUTES,
};

struct work {
	struct hn_graph from, *to;
	bool *is_rounded; /* of a value of `from` */
	int32_t *exact;	 /* of a value of `from`: the same in `to`, as it was computed, ... */
	int32_t *narrow; /* ... and rounded; HN_NONE where nobody asked yet */
};

static bool is_float32(const struct hn_graph *g, int32_t v)
{
	return v >= 0 && g->value[v].dtype == HN_F32;
}

static enum use use_of(const struct hn_graph *g, const struct hn_gnode *n)
{
	enum use use = use_of_class[n->op->class];

	if (!is_float32(g, n->out[0])) {
		return COMPUTES;
	}
	if (hn_gattr_int(n, "max", 0) != 0) { /* a window's largest is one of its elements */
		return MOVES;
	}
	return use == MULTIPLIES && n->n_in < 2 ? COMPUTES : use;
}

/* Whether v is a sum of products, or made of one and of constants, element by element. */
static bool is_sum(const struct hn_graph *g, int32_t v)
{
	while (v >= 0 && g->value[v].node >= 0) {
		const struct hn_gnode *n = &g->node[g->value[v].node];
		int32_t from = HN_NONE;

		if (n->op->class != HN_GOP_ELEMENTWISE) {
			return use_of(g, n) == MULTIPLIES;
		}
		for (uint32_t k = 0; k < n->n_in; k++) {
			bool computed = n->in[k] >= 0 && g->value[n->in[k]].data == NULL;

			if (computed && from != HN_NONE) {
				return false;
			}
			from = computed ? n->in[k] : from;
		}
		v = from;
	}
	return false;
}

/* Where two sums meet and nobody else reads them, one of them waits in memory for the other, which
 * is computed last and has the kernel: it is rounded. */
static void find_waiting(struct work *w)
{
	const struct hn_graph *g = &w->from;
	uint32_t *n_reader = HN_NEW_ARRAY(g->arena, uint32_t, g->n_value);

	for (uint32_t i = 0; i < g->n_output; i++) {
		n_reader[g->output[i]]++;
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		for (uint32_t k = 0; k < g->node[i].n_in; k++) {
			if (g->node[i].in[k] >= 0) {
				n_reader[g->node[i].in[k]]++;
			}
		}
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		const struct hn_gnode *n = &g->node[i];

		if (n->op->class == HN_GOP_ELEMENTWISE && n->n_in == 2 && is_sum(g, n->in[0]) &&
		    is_sum(g, n->in[1])) {
			bool first = g->value[n->in[0]].node < g->value[n->in[1]].node;
			int32_t waits = n->in[first ? 0 : 1];

			w->is_rounded[waits] = is_float32(g, waits) && n_reader[waits] == 1;
		}
	}
}

/* Readers stand behind what makes a value, so one way back finds all. */
static void find_factors(struct work *w)
{
	const struct hn_graph *g = &w->from;

	for (uint32_t i = g->n_node; i-- > 0;) {
		const struct hn_gnode *n = &g->node[i];
		enum use use = use_of(g, n);

		for (uint32_t k = 0; k < n->n_in; k++) {
			if (is_float32(g, n->in[k]) &&
			    (use == MULTIPLIES || (use == MOVES && w->is_rounded[n->out[0]]))) {
				w->is_rounded[n->in[k]] = true;
			}
		}
	}
}

/* -- values of the new graph ---------------------------------------------------------------- */

static int32_t round_constant(struct hn_graph *g, const struct hn_gvalue *v)
{
	int64_t n = v->fill ? 1 : hn_gvalue_elements(v);
	uint16_t *to = hn_arena_alloc(g->arena, (size_t)(n > 0 ? n : 1) * sizeof(*to));

	for (int64_t i = 0; i < n; i++) {
		float x; /* the file's, of any alignment */

		memcpy(&x, (const char *)v->data + (size_t)i * sizeof(x), sizeof(x));
		to[i] = hn_bfloat_of_float(x);
	}
	return hn_graph_const(g, v->name, HN_BF16, v->rank, v->shape, to, v->fill);
}

static int32_t rounded(struct work *w, int32_t v)
{
	if (w->narrow[v] == HN_NONE) {
		struct hn_gvalue of = w->to->value[w->exact[v]];

		w->narrow[v] = of.data != NULL ? round_constant(w->to, &of)
					       : hn_cast_to(w->to, w->exact[v], HN_BF16);
	}
	return w->narrow[v];
}

/* As float32: of what is computed and rounded the rounded number, so that memory holds it once. */
static int32_t widened(struct work *w, int32_t v)
{
	bool once = w->is_rounded[v] && w->from.value[v].node >= 0;

	return once || w->exact[v] == HN_NONE ? hn_cast_to(w->to, rounded(w, v), HN_F32)
					      : w->exact[v];
}

/* -- nodes ---------------------------------------------------------------------------------- */

static const struct hn_gattr *sum_in_float32(struct work *w, const struct hn_gnode *n)
{
	struct hn_gattr *attr = HN_NEW_ARRAY(w->to->arena, struct hn_gattr, n->n_attr + 1);

	memcpy(attr, n->attr, n->n_attr * sizeof(*attr));
	attr[n->n_attr] = hn_gattr_of_int(w->to->arena, "sum", HN_F32);
	return attr;
}

static void add_node(struct work *w, const struct hn_gnode *n)
{
	int32_t *in = HN_NEW_ARRAY(w->to->arena, int32_t, n->n_in);
	int32_t *out = HN_NEW_ARRAY(w->to->arena, int32_t, n->n_out);
	enum use use = use_of(&w->from, n);
	bool moves = use == MOVES && w->is_rounded[n->out[0]];
	bool narrow = moves || use == MULTIPLIES;

	for (uint32_t k = 0; k < n->n_in; k++) {
		in[k] = n->in[k] < 0 ? n->in[k]
			: narrow && is_float32(&w->from, n->in[k]) ? rounded(w, n->in[k])
			: is_float32(&w->from, n->in[k])	   ? widened(w, n->in[k])
								   : w->exact[n->in[k]];
	}
	w->to->at = n->name;
	hn_graph_call(w->to, n->op->name, n->n_in, in, n->n_attr + (use == MULTIPLIES),
		      use == MULTIPLIES ? sum_in_float32(w, n) : n->attr, n->n_out, out);
	for (uint32_t k = 0; k < n->n_out; k++) {
		(moves ? w->narrow : w->exact)[n->out[k]] = out[k];
		if (w->is_rounded[n->out[k]] && !w->to->failed) {
			rounded(w, n->out[k]); /* here, so that it is of this node's kernel */
		}
	}
}

/* Inputs and constants, as they are. */
static void add_leaves(struct work *w)
{
	for (uint32_t v = 0; v < w->from.n_value; v++) {
		const struct hn_gvalue *x = &w->from.value[v];

		w->exact[v] = w->narrow[v] = HN_NONE;
		if (x->data != NULL) {
			w->exact[v] = hn_graph_const(w->to, x->name, x->dtype, x->rank, x->shape,
						     x->data, x->fill);
			w->to->value[w->exact[v]].operand = x->operand;
		}
	}
	for (uint32_t i = 0; i < w->from.n_input; i++) {
		const struct hn_gvalue *x = &w->from.value[w->from.input[i]];

		w->exact[w->from.input[i]] =
			hn_graph_input(w->to, x->name, x->dtype, x->rank, x->shape);
		w->to->input[i] = w->exact[w->from.input[i]];
	}
}

void hn_form_bfloat16(struct hn_graph *g)
{
	struct work w = { .from = *g, .to = g };
	uint32_t n = g->n_value;

	hn_graph_init(g, w.from.arena, w.from.name, w.from.err);
	g->opset = w.from.opset;
	g->work_left = w.from.work_left;
	g->simplify = w.from.simplify;
	g->input = w.from.input;
	g->n_input = w.from.n_input;
	w.is_rounded = HN_NEW_ARRAY(g->arena, bool, n);
	w.exact = HN_NEW_ARRAY(g->arena, int32_t, n);
	w.narrow = HN_NEW_ARRAY(g->arena, int32_t, n);
	w.from.input = HN_NEW_ARRAY(g->arena, int32_t, g->n_input);
	memcpy(w.from.input, g->input, g->n_input * sizeof(*g->input));
	find_waiting(&w);
	find_factors(&w);
	add_leaves(&w);
	for (uint32_t i = 0; i < w.from.n_node && !g->failed; i++) {
		add_node(&w, &w.from.node[i]);
	}
	g->at = "";
	g->output = w.from.output;
	g->output_name = w.from.output_name;
	g->n_output = w.from.n_output;
	for (uint32_t i = 0; i < g->n_output && !g->failed; i++) {
		int32_t v = w.from.output[i];

		g->output[i] = w.exact[v] != HN_NONE ? w.exact[v] : widened(&w, v);
	}
	hn_graph_sweep(g);
}
