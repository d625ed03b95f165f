/* graph/ir/fold.c -- constants computed while a graph is built. */
#include "graph/ir/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "graph/ir/memo.h"
#include "graph/ir/op.h"
#include "graph/ir/text.h"
#include "lower/lower.h"

/* Nodes are numbered anew: of a graph that is their operands and results alone.  So a constant costs
 * what its own node does, however large the graph is. */
struct alone {
	struct hn_graph g;
	struct hn_gnode n;
};

static bool all_constant(const struct hn_graph *g, const struct hn_gnode *n)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->in[i] >= 0 && g->value[n->in[i]].data == NULL) {
			return false;
		}
	}
	return n->n_in > 0;
}

/* What is made of an operand is one. */
static bool has_operand(const struct hn_graph *g, const struct hn_gnode *n)
{
	bool any = false;

	for (uint32_t i = 0; i < n->n_in; i++) {
		any |= n->in[i] >= 0 && g->value[n->in[i]].operand;
	}
	return any;
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
	return fill &&
	       (n->op->class == HN_GOP_ELEMENTWISE || n->op->class == HN_GOP_VIEW ||
		(n->op->class == HN_GOP_INJECTIVE && n->n_in == 1));
}

/* The node with its values; of `one` element each where that stands for all. */
static void set_apart(const struct hn_graph *g, const struct hn_gnode *n, bool one,
		      struct hn_arena *a, struct alone *ret)
{
	uint32_t n_value = n->n_in + n->n_out;
	struct hn_gvalue *value = HN_NEW_ARRAY(a, struct hn_gvalue, n_value);
	int32_t *number = HN_NEW_ARRAY(a, int32_t, n_value);

	for (uint32_t i = 0; i < n_value; i++) {
		int32_t v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];

		number[i] = v < 0 ? v : (int32_t)i;
		if (v >= 0) {
			value[i] = g->value[v];
			value[i].rank = one ? 0 : value[i].rank;
		}
	}
	ret->g = *g;
	ret->g.value = value;
	ret->g.n_value = n_value;
	ret->g.node = &ret->n;
	ret->n = *n;
	ret->n.in = number;
	ret->n.out = number + n->n_in;
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

static void count_node(const struct hn_expr *e, void *ctx)
{
	(void)e;
	++*(int64_t *)ctx;
}

int64_t hn_graph_work(const struct hn_dag *dag)
{
	int64_t sum = (int64_t)hn_dag_temp_bytes(dag);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		int64_t work = 0;

		if (op->kind == HN_OP_COMPUTE) {
			hn_op_visit(op, count_node, &work);
			for (uint32_t d = 0; d < op->n_spatial + op->n_reduce; d++) {
				work = hn_mul_sat(work, op->axis[d].extent);
			}
		}
		sum = hn_add_sat(sum, work);
	}
	return hn_add_sat(sum, (int64_t)hn_dag_arg_bytes(dag));
}

/* Results of a dag of constants; the memory of their elements is the graph's. */
static int evaluate(const struct alone *k, const struct hn_gtext *text,
		    const struct hn_dag *dag, struct hn_arena *a,
		    struct hn_gvalue *result, struct hn_err *err)
{
	void **arg = HN_NEW_ARRAY(a, void *, text->n_arg);
	void **copy = HN_NEW_ARRAY(a, void *, text->n_arg);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < text->n_in; i++) {
		const struct hn_gvalue *v = &k->g.value[text->arg[i]];

		arg[i] = elements_of(v, &copy[i]);
		if (arg[i] == NULL) {
			rc = hn_fail(err, HONE_E_NOMEM, "a constant of %llu bytes",
				     (unsigned long long)hn_gvalue_bytes(v));
		}
	}
	for (uint32_t i = 0; i < k->n.n_out; i++) {
		arg[text->n_in + i] = hn_arena_alloc(
			k->g.arena, hn_gvalue_bytes(&k->g.value[k->n.out[i]]));
		result[i].data = arg[text->n_in + i];
	}
	rc = rc ? rc : hn_interpret(dag, arg, err);
	for (uint32_t i = 0; i < text->n_in; i++) {
		free(copy[i]);
	}
	return rc;
}

/* Its text and its dag, in a. */
static int say(const struct alone *k, struct hn_arena *a, struct hn_gtext *ret_text,
	       const struct hn_dag **ret, struct hn_err *err)
{
	static const uint32_t first = 0;
	int rc = hn_graph_text(&k->g, "it", 1, &first, k->n.n_out, k->n.out, a, ret_text,
			       err);

	return rc ? rc : hn_graph_dag(ret_text, "it", a, ret, err);
}

/* *ret_done stays false where it is too much work. */
static int compute(struct hn_graph *g, const struct alone *k, struct hn_arena *a,
		   struct hn_gvalue *result, bool *ret_done, struct hn_err *err)
{
	const struct hn_dag *dag;
	struct hn_gtext text;
	int rc = say(k, a, &text, &dag, err);

	if (rc != 0 || !hn_graph_afford(g, hn_graph_work(dag))) {
		return rc;
	}
	*ret_done = true;
	if (g->memo != NULL && hn_memo_find(g->memo, &k->g, &text, k->n.n_out, result)) {
		return 0;
	}
	rc = evaluate(k, &text, dag, a, result, err);
	if (rc == 0 && g->memo != NULL) {
		hn_memo_keep(g->memo, &k->g, &text, k->n.n_out, result);
	}
	return rc;
}

/* A copy is asked for in place.  A matrix of bytes that is multiplied by a scale stays one: rules
 * (graph/pass) put the bytes into sums of integers. */
static bool is_to_stay(const struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &g->value[n->in[0]];

	return strcmp(n->op->name, "copy") == 0 ||
	       (strcmp(n->op->name, "dequantize") == 0 && x->rank > 1 &&
		hn_dtype_bytes(x->dtype) == 1);
}

static void fail_within(struct hn_graph *g, const struct hn_gnode *n)
{
	g->failed = true;
	hn_err_within(g->err, "%s%s%s", g->at, *g->at != '\0' ? ": " : "", n->op->name);
}

bool hn_graph_check(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_dag *dag;
	struct hn_gtext text;
	struct hn_arena a;
	struct alone k;
	int rc;

	hn_arena_init(&a, 0);
	set_apart(g, n, /* one= */ false, &a, &k);
	rc = say(&k, &a, &text, &dag, g->err);
	hn_arena_fini(&a);
	if (rc != 0) {
		fail_within(g, n);
	}
	return rc == 0;
}

bool hn_graph_fold(struct hn_graph *g, const struct hn_gnode *n)
{
	struct hn_gvalue result[HN_GRAPH_MAX_OUT] = { { .data = NULL } };
	bool fill, done = false;
	struct hn_arena a;
	struct alone k;
	int rc;

	if (!all_constant(g, n) || is_to_stay(g, n)) {
		return false;
	}
	fill = keeps_fill(g, n);
	hn_arena_init(&a, 0);
	set_apart(g, n, fill, &a, &k);
	rc = compute(g, &k, &a, result, &done, g->err);
	hn_arena_fini(&a);
	if (rc != 0) {
		g->failed = true;
		hn_err_within(g->err, "%s%s%s of constants", g->at,
			      *g->at != '\0' ? ": " : "", n->op->name);
		return false;
	}
	for (uint32_t i = 0; i < n->n_out && done; i++) {
		struct hn_gvalue *v = &g->value[n->out[i]];

		v->node = -1;
		v->data = result[i].data;
		v->lasts = result[i].lasts;
		v->fill = fill && hn_gvalue_elements(v) > 1;
		v->operand = hn_gvalue_elements(v) == 1 && has_operand(g, n);
	}
	return done;
}
