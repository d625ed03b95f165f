/* ort/match.c -- see graph.h: the nodes between a region's inputs and its outputs.
 *
 * Nothing is believed of the folder: nodes are taken only if all that they read is an input of the region, a
 * constant, or computed by them; if what others read of them is an output; if types and shapes are
 * those of the graph; and if no node then waits for itself.
 */
#include <stdlib.h>
#include <string.h>

#include "ort/graph.h"

#define NO_NODE UINT32_MAX

struct match {
	struct ort_graph *g;
	const struct hone_model *m;
	uint32_t number;
	bool *input_seen, *output_seen; /* [m->n_inputs], [m->n_outputs] */
	const char *why; /* NULL: all is well */
};

static uint32_t find_maker(const struct ort_graph *g, const char *name)
{
	const struct ort_made key = { .name = name };
	uint32_t low = 0, high = g->n_made;

	while (low < high) {
		uint32_t at = low + (high - low) / 2;
		int c = strcmp(g->made[at].name, key.name);

		if (c == 0) {
			return g->made[at].node;
		}
		low = c < 0 ? at + 1 : low;
		high = c < 0 ? high : at;
	}
	return NO_NODE;
}

static uint32_t find_tensor(const struct hone_model_tensor *t, uint32_t n, const char *name)
{
	uint32_t i = 0;

	while (i < n && strcmp(t[i].name, name) != 0) {
		i++;
	}
	return i;
}

static ort_status *want_same(struct match *x, const void *info, const struct hone_model_tensor *t,
			     uint32_t n)
{
	bool same = false;
	ort_status *s = ort_graph_compare(x->g->p, info, t, n, &same);

	x->why = same || x->why != NULL ? x->why
					: "its inputs or outputs have other types or shapes here";
	return s;
}

/* What a node of the region reads; *ret_maker: a node that is the region's, too. */
static ort_status *read_value(struct match *x, const struct ort_value *v, uint32_t *ret_maker)
{
	uint32_t at = find_tensor(x->m->inputs, x->m->n_inputs, v->name);
	bool constant = false;
	ort_status *s = NULL;

	*ret_maker = NO_NODE;
	if (*v->name == '\0') {
		return NULL;
	}
	if (at < x->m->n_inputs) {
		x->input_seen[at] = true;
		return want_same(x, v->info, x->m->inputs, x->m->n_inputs);
	}
	*ret_maker = find_maker(x->g, v->name);
	if (*ret_maker == NO_NODE) {
		s = ort_call(x->g->p->api, ValueInfo_IsConstantInitializer)(v->info, &constant);
		x->why = constant || x->why != NULL
				 ? x->why
				 : "the runtime made other nodes of it, which read what it does not";
	}
	return s;
}

/* From the outputs back to the inputs. */
static ort_status *mark(struct match *x)
{
	struct ort_graph *g = x->g;
	uint32_t *stack = HN_NEW_ARRAY(&g->arena, uint32_t, g->n_node + 1), n = 0;
	ort_status *s = NULL;

	for (uint32_t i = 0; i < x->m->n_outputs && x->why == NULL; i++) {
		uint32_t maker = find_maker(g, x->m->outputs[i].name);

		if (maker == NO_NODE) {
			x->why = "the runtime made other nodes of it, without its outputs";
		} else if (g->node[maker].region == 0) {
			g->node[maker].region = x->number;
			stack[n++] = maker;
		}
	}
	while (n > 0 && s == NULL && x->why == NULL) {
		const struct ort_gnode *node = &g->node[stack[--n]];

		x->why = node->n_in > node->n_own ? "the runtime has a node with a graph within there"
						  : NULL;
		for (uint32_t k = 0; k < node->n_own && s == NULL && x->why == NULL; k++) {
			uint32_t maker;

			s = read_value(x, &node->in[k], &maker);
			if (maker != NO_NODE && g->node[maker].region == 0) {
				g->node[maker].region = x->number;
				stack[n++] = maker;
			} else if (maker != NO_NODE && g->node[maker].region != x->number) {
				x->why = "it overlaps another region";
			}
		}
	}
	return s;
}

/* Someone outside, or the user, reads this value. */
static ort_status *read_outside(struct match *x, const struct ort_value *v)
{
	uint32_t maker = *v->name != '\0' ? find_maker(x->g, v->name) : NO_NODE, at;

	if (maker == NO_NODE || x->g->node[maker].region != x->number) {
		return NULL;
	}
	at = find_tensor(x->m->outputs, x->m->n_outputs, v->name);
	if (at == x->m->n_outputs) {
		x->why = "another node reads a value within it";
		return NULL;
	}
	x->output_seen[at] = true;
	return want_same(x, v->info, x->m->outputs, x->m->n_outputs);
}

static ort_status *check_borders(struct match *x)
{
	struct ort_graph *g = x->g;
	ort_status *s = NULL;

	for (uint32_t i = 0; i < g->n_node && s == NULL && x->why == NULL; i++) {
		for (uint32_t k = 0; k < g->node[i].n_in && s == NULL && x->why == NULL &&
				     g->node[i].region != x->number;
		     k++) {
			s = read_outside(x, &g->node[i].in[k]);
		}
	}
	for (uint32_t i = 0; i < g->n_output && s == NULL && x->why == NULL; i++) {
		s = read_outside(x, &g->output[i]);
	}
	for (uint32_t i = 0; i < x->m->n_inputs && x->why == NULL; i++) {
		x->why = x->input_seen[i] ? NULL : "the runtime does not read all of its inputs";
	}
	for (uint32_t i = 0; i < x->m->n_outputs && x->why == NULL; i++) {
		x->why = x->output_seen[i] ? NULL : "the runtime does not read all of its outputs";
	}
	return s;
}

/* -- whether nodes, and regions as nodes, wait for each other in no circle ---------------------------- */

static uint32_t unit_of(const struct ort_graph *g, uint32_t node)
{
	return g->node[node].region > 0 ? g->n_node + g->node[node].region : node;
}

/* Calls each(i, j): unit j waits for unit i, another one. */
static void each_edge(const struct ort_graph *g, void (*each)(void *, uint32_t, uint32_t), void *ctx)
{
	for (uint32_t i = 0; i < g->n_node; i++) {
		for (uint32_t k = 0; k < g->node[i].n_in; k++) {
			const char *name = g->node[i].in[k].name;
			uint32_t maker = *name != '\0' ? find_maker(g, name) : NO_NODE;

			if (maker != NO_NODE && unit_of(g, maker) != unit_of(g, i)) {
				each(ctx, unit_of(g, maker), unit_of(g, i));
			}
		}
	}
}

struct order {
	uint32_t *waits; /* [unit] for so many */
	uint32_t *first, *to;
};

static void count_edge(void *ctx, uint32_t from, uint32_t to)
{
	struct order *o = ctx;

	o->waits[to]++;
	o->first[from + 1]++;
}

static void put_edge(void *ctx, uint32_t from, uint32_t to)
{
	struct order *o = ctx;

	o->to[--o->first[from + 1]] = to;
}

static bool has_circle(struct ort_graph *g, uint32_t n_region)
{
	uint32_t n_unit = g->n_node + n_region + 1, n = 0, n_done = 0;
	struct order o = { .waits = HN_NEW_ARRAY(&g->arena, uint32_t, n_unit),
			   .first = HN_NEW_ARRAY(&g->arena, uint32_t, n_unit + 2) };
	uint32_t *ready = HN_NEW_ARRAY(&g->arena, uint32_t, n_unit);

	each_edge(g, count_edge, &o);
	for (uint32_t i = 0; i < n_unit; i++) {
		o.first[i + 1] += o.first[i];
	}
	o.to = HN_NEW_ARRAY(&g->arena, uint32_t, o.first[n_unit] + 1);
	o.first[n_unit + 1] = o.first[n_unit];
	each_edge(g, put_edge, &o); /* first[i + 1] is where those of i begin now */
	for (uint32_t i = 0; i < n_unit; i++) {
		if (o.waits[i] == 0) {
			ready[n++] = i;
		}
	}
	for (; n > 0; n_done++) {
		uint32_t i = ready[--n];

		for (uint32_t e = o.first[i + 1]; e < o.first[i + 2]; e++) {
			if (--o.waits[o.to[e]] == 0) {
				ready[n++] = o.to[e];
			}
		}
	}
	return n_done < n_unit;
}

void ort_graph_drop(struct ort_graph *g, uint32_t number)
{
	for (uint32_t i = 0; i < g->n_node; i++) {
		g->node[i].region = g->node[i].region == number ? 0 : g->node[i].region;
	}
}

ort_status *ort_graph_match(struct ort_graph *g, const struct hone_model *m, uint32_t number,
			    const char **why)
{
	struct match x = { .g = g,
			   .m = m,
			   .number = number,
			   .input_seen = HN_NEW_ARRAY(&g->arena, bool, m->n_inputs + 1),
			   .output_seen = HN_NEW_ARRAY(&g->arena, bool, m->n_outputs + 1) };
	ort_status *s = mark(&x);

	s = s || x.why != NULL ? s : check_borders(&x);
	if (s == NULL && x.why == NULL && has_circle(g, number)) {
		x.why = "it would wait for itself";
	}
	if (s != NULL || x.why != NULL) {
		ort_graph_drop(g, number);
	}
	*why = x.why;
	return s;
}
