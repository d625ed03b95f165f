/* graph/ir/fold.c -- constants computed while a graph is built. */
#include "graph/ir/fold.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/op.h"
#include "graph/ir/text.h"
#include "lower/lower.h"

/* More elements than this are left to the compiled network (its prepared data). */
#define FOLD_MAX ((int64_t)1 << 27)

static bool all_constant(const struct hn_graph *g, const struct hn_gnode *n)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->in[i] >= 0 && g->value[n->in[i]].data == NULL) {
			return false;
		}
	}
	return n->n_in > 0;
}

/* Whether equal elements give equal elements, whatever the shapes are. */
static bool keeps_fill(const struct hn_graph *g, const struct hn_gnode *n)
{
	bool fill = false;

	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct hn_gvalue *v = n->in[i] >= 0 ? &g->value[n->in[i]] : NULL;

		if (v != NULL && !v->fill && hn_gvalue_elements(v) != 1) {
			return false;
		}
		fill |= v != NULL && v->fill;
	}
	return fill && (n->op->class == HN_GOP_ELEMENTWISE || n->op->class == HN_GOP_VIEW ||
			(n->op->class == HN_GOP_INJECTIVE && n->n_in == 1));
}

/* A graph in which all values of the node are one element. */
static struct hn_graph shrunk(const struct hn_graph *g, const struct hn_gnode *n,
			      struct hn_arena *a)
{
	struct hn_graph one = *g;

	one.value = HN_NEW_ARRAY(a, struct hn_gvalue, g->n_value);
	memcpy(one.value, g->value, g->n_value * sizeof(*g->value));
	for (uint32_t i = 0; i < n->n_in + n->n_out; i++) {
		int32_t v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];

		if (v >= 0) {
			one.value[v].rank = 0;
		}
	}
	return one;
}

/* All elements of a constant; of one that is filled, or lies unaligned in a file, a copy, which the
 * caller frees. */
static void *elements_of(const struct hn_gvalue *v, void **ret_copy)
{
	size_t one = hn_dtype_bytes(v->dtype), bytes = hn_gvalue_bytes(v);
	bool fill = v->fill && bytes > one;
	char *copy;

	if (!fill && (uintptr_t)v->data % one == 0) {
		return (void *)v->data;
	}
	copy = malloc(bytes);
	for (size_t i = 0; copy != NULL && i < bytes; i += fill ? one : bytes) {
		memcpy(copy + i, v->data, fill ? one : bytes);
	}
	*ret_copy = copy;
	return copy;
}

/* The results of node `number` of `g`; the memory of their elements is the graph's. */
static int compute(const struct hn_graph *g, uint32_t number, struct hn_arena *keep,
		   struct hn_arena *a, struct hn_gvalue *result, struct hn_err *err)
{
	const struct hn_gnode *n = &g->node[number];
	const struct hn_dag *dag;
	struct hn_gtext text;
	void **arg, **copy;
	int rc = hn_graph_text(g, "constant", 1, &number, n->n_out, n->out, a, &text, err);

	rc = rc ? rc : hn_graph_dag(&text, "constant", a, &dag, err);
	if (rc != 0) {
		return rc;
	}
	arg = HN_NEW_ARRAY(a, void *, text.n_arg);
	copy = HN_NEW_ARRAY(a, void *, text.n_arg);
	for (uint32_t i = 0; rc == 0 && i < text.n_in; i++) {
		arg[i] = elements_of(&g->value[text.arg[i]], &copy[i]);
		if (arg[i] == NULL) {
			rc = hn_fail(err, HONE_E_NOMEM, "a constant of %llu bytes",
				     (unsigned long long)hn_gvalue_bytes(
					     &g->value[text.arg[i]]));
		}
	}
	for (uint32_t k = 0; k < n->n_out; k++) {
		arg[text.n_in + k] = hn_arena_alloc(keep, hn_gvalue_bytes(&g->value[n->out[k]]));
		result[k].data = arg[text.n_in + k];
	}
	rc = rc ? rc : hn_interpret(dag, arg, err);
	for (uint32_t i = 0; i < text.n_in; i++) {
		free(copy[i]);
	}
	return rc;
}

static bool worth_it(const struct hn_graph *g, const struct hn_gnode *n)
{
	for (uint32_t i = 0; i < n->n_in + n->n_out; i++) {
		int32_t v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];

		if (v >= 0 && hn_gvalue_elements(&g->value[v]) > FOLD_MAX) {
			return false;
		}
	}
	return true;
}

bool hn_graph_fold(struct hn_graph *g, const struct hn_gnode *n)
{
	struct hn_gvalue result[HN_GRAPH_MAX_OUT] = { { .data = NULL } };
	struct hn_graph with = *g;
	struct hn_arena a;
	bool fill;
	int rc;

	if (!all_constant(g, n) || strcmp(n->op->name, "copy") == 0) { /* asked for in place */
		return false;
	}
	fill = keeps_fill(g, n);
	if (!fill && !worth_it(g, n)) {
		return false;
	}
	hn_arena_init(&a, 0);
	if (fill) {
		with = shrunk(g, n, &a);
	}
	with.node = (struct hn_gnode *)n;
	rc = compute(&with, 0, g->arena, &a, result, g->err);
	hn_arena_fini(&a);
	if (rc != 0) {
		g->failed = true;
		hn_err_within(g->err, "%s: %s of constants", g->at, n->op->name);
		return false;
	}
	for (uint32_t k = 0; k < n->n_out; k++) {
		struct hn_gvalue *v = &g->value[n->out[k]];

		v->node = -1;
		v->data = result[k].data;
		v->fill = fill && hn_gvalue_elements(v) > 1;
	}
	return true;
}
