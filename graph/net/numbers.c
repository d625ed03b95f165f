/* graph/net/numbers.c -- nodes one by one, and steps against them. */
#include "graph/net/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/rng.h"
#include "graph/ir/fold.h"
#include "graph/ir/text.h"
#include "loopstate/dag/tolerance.h"
#include "lower/lower.h"

#define SEED 31

struct node {
	struct hn_gtext text;
	const struct hn_dag *dag;
};

struct numbers {
	struct hn_net *net;
	struct hn_graph *g;
	struct hn_arena a;
	const uint8_t **order; /* [n_value] as they were chosen; the graph's are NULL meanwhile */
	struct node *node;     /* [n_node] */
	bool *long_node, *long_step; /* they are not computed */
	char **value;	       /* [n_value] row-major; malloc */
};

static void set_orders_aside(struct numbers *n)
{
	n->order = HN_NEW_ARRAY(&n->a, const uint8_t *, n->g->n_value);
	for (uint32_t v = 0; v < n->g->n_value; v++) {
		n->order[v] = n->g->value[v].order;
		n->g->value[v].order = NULL;
	}
}

static void put_orders_back(struct numbers *n)
{
	for (uint32_t v = 0; v < n->g->n_value; v++) {
		n->g->value[v].order = n->order[v];
	}
}

/* Each node as a computation of its own. */
static int say_nodes(struct numbers *n, struct hn_err *err)
{
	int rc = 0;

	n->node = HN_NEW_ARRAY(&n->a, struct node, n->g->n_node);
	for (uint32_t i = 0; rc == 0 && i < n->g->n_node; i++) {
		const struct hn_gnode *it = &n->g->node[i];
		struct node *s = &n->node[i];

		rc = hn_graph_text(n->g, "node", 1, &i, it->n_out, it->out, &n->a, &s->text, err);
		rc = rc ? rc : hn_graph_dag(&s->text, it->name, &n->a, &s->dag, err);
	}
	return rc;
}

struct cost {
	int64_t work;
	uint32_t step;
};

static int by_work(const void *x, const void *y)
{
	const struct cost *a = x, *b = y;

	return a->work != b->work ? (a->work > b->work) - (a->work < b->work)
				  : (a->step > b->step) - (a->step < b->step);
}

/* A step and its nodes. */
static int64_t work_of(const struct numbers *n, uint32_t step)
{
	const struct hn_ggroup *group = &n->net->part.group[step];
	int64_t work = hn_graph_work(n->net->task[n->net->step[step].task].dag);

	for (uint32_t i = 0; i < group->n_node; i++) {
		work = hn_add_sat(work, hn_graph_work(n->node[group->node[i]].dag));
	}
	return work;
}

/* The steps of least work are computed, as many as there may be.  Nodes of no step are aliases, and
 * cost little. */
static void choose_steps(struct numbers *n)
{
	uint32_t n_step = n->net->n_step;
	struct cost *cost = HN_NEW_ARRAY(&n->a, struct cost, n_step);
	int64_t sum = 0;

	n->long_step = HN_NEW_ARRAY(&n->a, bool, n_step);
	n->long_node = HN_NEW_ARRAY(&n->a, bool, n->g->n_node);
	for (uint32_t i = 0; i < n_step; i++) {
		cost[i] = (struct cost){ work_of(n, i), i };
	}
	qsort(cost, n_step, sizeof(*cost), by_work);
	for (uint32_t i = 0; i < n_step; i++) {
		const struct hn_ggroup *group = &n->net->part.group[cost[i].step];

		sum = hn_add_sat(sum, cost[i].work);
		n->long_step[cost[i].step] = sum > HN_NUMBERS_WORK;
		for (uint32_t k = 0; sum > HN_NUMBERS_WORK && k < group->n_node; k++) {
			n->long_node[group->node[k]] = true;
		}
	}
}

static int64_t bytes_of(const struct numbers *n)
{
	int64_t bytes = 0;

	for (uint32_t v = 0; v < n->g->n_value; v++) {
		bytes = hn_add_sat(bytes, (int64_t)hn_gvalue_bytes(&n->g->value[v]));
	}
	return bytes;
}

/* NULL: it is not too much. */
static const char *why_not(const struct numbers *n)
{
	int64_t bytes = bytes_of(n);

	return bytes <= HN_NUMBERS_BYTES
		       ? NULL
		       : hn_arena_printf(n->g->arena,
					 "the values take %.2g GB, and %.2g GB are the most",
					 (double)bytes / 1e9, (double)HN_NUMBERS_BYTES / 1e9);
}

/* -- values ------------------------------------------------------------------------------- */

/* Floats from -1 to 1; integers are 0 or 1: they may be places in a table, or a mask. */
static void draw(enum hn_dtype t, int64_t n, struct hn_rng *r, char *at)
{
	uint32_t size = hn_dtype_bytes(t);

	for (int64_t i = 0; i < n; i++) {
		if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
			hn_float_put(t, at, i, 2 * hn_rng_unit(r) - 1);
		} else {
			at[i * size] = (char)hn_rng_below(r, 2); /* little-endian */
		}
	}
}

static void copy_constant(const struct hn_gvalue *v, char *to)
{
	size_t bytes = hn_gvalue_bytes(v), one = v->fill ? hn_dtype_bytes(v->dtype) : bytes;

	for (size_t i = 0; i < bytes; i += one) {
		memcpy(to + i, v->data, one);
	}
}

/* Memory for all; constants and inputs have their elements, and so has what is not computed. */
static int make_values(struct numbers *n, struct hn_err *err)
{
	n->value = HN_NEW_ARRAY(&n->a, char *, n->g->n_value);
	for (uint32_t k = 0; k < n->g->n_value; k++) {
		const struct hn_gvalue *v = &n->g->value[k];
		struct hn_rng r = hn_rng_stream(SEED, 0, 0, k);

		n->value[k] = calloc(1, hn_gvalue_bytes(v) + 1);
		if (n->value[k] == NULL) {
			return hn_fail(err, HONE_E_NOMEM, "no memory for %llu bytes of a value",
				       (unsigned long long)hn_gvalue_bytes(v));
		}
		if (v->data != NULL) {
			copy_constant(v, n->value[k]);
		} else if (v->node < 0 || n->long_node[v->node]) {
			draw((enum hn_dtype)v->dtype, hn_gvalue_elements(v), &r, n->value[k]);
		}
	}
	return 0;
}

static int run_nodes(struct numbers *n, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n->g->n_node; i++) {
		const struct node *s = &n->node[i];
		void **arg = HN_NEW_ARRAY(&n->a, void *, s->text.n_arg);

		for (uint32_t k = 0; k < s->text.n_arg; k++) {
			arg[k] = n->value[s->text.arg[k]];
		}
		rc = n->long_node[i] ? 0 : hn_interpret(s->dag, arg, err);
	}
	return rc;
}

/* -- steps -------------------------------------------------------------------------------- */

/* Where the element of flat row-major index `at` lies in the order of v. */
static int64_t place_of(const struct hn_gvalue *v, int64_t at)
{
	int64_t index[HN_GRAPH_MAX_RANK], to = 0;

	if (v->order == NULL) {
		return at;
	}
	for (uint32_t d = v->rank; d-- > 0;) {
		index[d] = at % v->shape[d];
		at /= v->shape[d];
	}
	for (uint32_t k = 0; k < v->rank; k++) {
		to = to * v->shape[v->order[k]] + index[v->order[k]];
	}
	return to;
}

/* Where in its root's memory the element of memory place `at` of value k lies. */
static int64_t root_place_of(const struct numbers *n, int32_t k, int64_t at)
{
	const struct hn_gplace *p = &n->net->part.place[k];
	const struct hn_gvalue *v = &n->g->value[k];
	int64_t to = p->at;

	if (p->stride == NULL) {
		return to + at;
	}
	for (uint32_t d = v->rank; d-- > 0; at /= hn_gvalue_extent(v, d)) {
		to += at % hn_gvalue_extent(v, d) * p->stride[d];
	}
	return to;
}

/* A value's memory as kernels have it, but in a row; malloc.  Its elements are those of the memory
 * that it lies in. */
static char *lay_out(const struct numbers *n, int32_t k)
{
	int32_t r = n->net->part.place[k].root;
	const struct hn_gvalue *v = &n->g->value[k], *root = &n->g->value[r];
	uint32_t size = hn_dtype_bytes((enum hn_dtype)v->dtype);
	char *all = calloc(1, hn_gvalue_bytes(root) + 1), *to = calloc(1, hn_gvalue_bytes(v) + 1);

	for (int64_t i = 0; all != NULL && i < hn_gvalue_elements(root); i++) {
		memcpy(all + place_of(root, i) * size, n->value[r] + i * size, size);
	}
	for (int64_t i = 0; all != NULL && to != NULL && i < hn_gvalue_elements(v); i++) {
		memcpy(to + i * size, all + root_place_of(n, k, i) * size, size);
	}
	free(all);
	return to;
}

static double number_at(enum hn_dtype t, const char *at, int64_t i)
{
	uint32_t size = hn_dtype_bytes(t), shift = 64 - 8 * size;
	uint64_t u = 0;

	if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
		return hn_float_get(t, at, i);
	}
	memcpy(&u, at + i * size, size);
	return hn_dtype_class(t) == HN_CLASS_SIGNED ? (double)((int64_t)(u << shift) >> shift)
						    : (double)u;
}

static double root_mean_square(enum hn_dtype t, const char *at, int64_t n)
{
	double sum = 0;
	int64_t finite = 0;

	for (int64_t i = 0; i < n; i++) {
		double v = number_at(t, at, i);

		sum += isfinite(v) ? v * v : 0;
		finite += isfinite(v) != 0;
	}
	return finite > 0 ? sqrt(sum / (double)finite) : 0;
}

/* How far apart two numbers are: the same, or both none, are 0 apart. */
static double share(double got, double want, double scale)
{
	if (got == want || (isnan(got) && isnan(want))) {
		return 0;
	}
	if (!isfinite(got) || !isfinite(want)) {
		return INFINITY;
	}
	return fabs(got - want) / fmax(fabs(want), scale);
}

/* The largest difference between value k and a step's result, both in memory of its layout. */
static void compare(const struct numbers *n, int32_t k, const char *right, const char *memory,
		    struct hn_step_numbers *ret)
{
	const struct hn_gvalue *v = &n->g->value[k];
	enum hn_dtype t = (enum hn_dtype)v->dtype;
	int64_t n_elem = hn_gvalue_elements(v);
	double scale = root_mean_square(t, right, n_elem);

	for (int64_t i = 0; i < n_elem; i++) {
		double want = number_at(t, right, place_of(v, i));
		double got = number_at(t, memory, place_of(v, i)), error = share(got, want, scale);

		if (error > ret->error) {
			*ret = (struct hn_step_numbers){ true, error, ret->allowed, k, i, got, want };
		}
	}
}

static int run_step(const struct numbers *n, const struct hn_gstep *s, struct hn_step_numbers *ret,
		    struct hn_arena *a, struct hn_err *err)
{
	const struct hn_dag *dag = n->net->task[s->task].dag;
	void **arg = HN_NEW_ARRAY(a, void *, s->n_arg), **right = HN_NEW_ARRAY(a, void *, s->n_arg);
	bool all = true;
	int rc;

	*ret = (struct hn_step_numbers){ .computed = true,
					 .allowed = hn_dag_tolerance(dag),
					 .value = HN_NONE };
	for (uint32_t i = 0; i < s->n_arg; i++) {
		right[i] = lay_out(n, s->arg[i]);
		arg[i] = i < s->n_in ? right[i]
				     : calloc(1, hn_gvalue_bytes(&n->g->value[s->arg[i]]) + 1);
		all &= right[i] != NULL && arg[i] != NULL;
	}
	rc = all ? hn_interpret(dag, arg, err)
		 : hn_fail(err, HONE_E_NOMEM, "%s: no memory for its arguments", s->name);
	for (uint32_t i = 0; i < s->n_arg; i++) {
		if (rc == 0 && i >= s->n_in) {
			compare(n, s->arg[i], right[i], arg[i], ret);
		}
		if (i >= s->n_in) {
			free(right[i]);
		}
		free(arg[i]);
	}
	return rc;
}

static int run_steps(struct numbers *n, const struct hn_step_numbers **ret, struct hn_err *err)
{
	struct hn_step_numbers *step =
		HN_NEW_ARRAY(n->g->arena, struct hn_step_numbers, n->net->n_step);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n->net->n_step; i++) {
		step[i].value = HN_NONE;
		rc = n->long_step[i] ? 0
				     : run_step(n, &n->net->step[i], &step[i], &n->a, err);
	}
	*ret = rc == 0 ? step : NULL;
	return rc;
}

int hn_net_numbers(struct hn_net *net, const struct hn_step_numbers **ret, const char **ret_why,
		   struct hn_err *err)
{
	struct numbers n = { .net = net, .g = net->g };
	int rc;

	*ret = NULL;
	*ret_why = NULL;
	hn_arena_init(&n.a, 0);
	set_orders_aside(&n);
	rc = say_nodes(&n, err);
	*ret_why = rc == 0 ? why_not(&n) : NULL;
	if (rc == 0 && *ret_why == NULL) {
		choose_steps(&n);
		rc = make_values(&n, err);
		rc = rc ? rc : run_nodes(&n, err);
	}
	put_orders_back(&n);
	if (rc == 0 && *ret_why == NULL) {
		rc = run_steps(&n, ret, err);
	}
	for (uint32_t v = 0; n.value != NULL && v < n.g->n_value; v++) {
		free(n.value[v]);
	}
	hn_arena_fini(&n.a);
	return rc;
}
