/* graph/ir/graph.c -- building a graph: one node at a time, never the same one twice. */
#include "graph/ir/graph.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "graph/ir/fold.h"
#include "graph/ir/op.h"

#define BUCKETS 4096u /* a power of two */

void hn_graph_init(struct hn_graph *g, struct hn_arena *a, const char *name,
		   struct hn_err *err)
{
	*g = (struct hn_graph){ .arena = a, .name = name, .err = err, .at = "" };
	g->work_left = HN_GRAPH_WORK;
	g->n_bucket = BUCKETS;
	g->bucket = HN_NEW_ARRAY(a, uint32_t, BUCKETS);
}

int32_t hn_graph_fail(struct hn_graph *g, int code, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (!g->failed) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		hn_fail(g->err, code, "%s%s%s", g->at, *g->at != '\0' ? ": " : "", text);
		g->failed = true;
	}
	return HN_BAD;
}

bool hn_graph_afford(struct hn_graph *g, int64_t work)
{
	bool enough = work <= g->work_left;

	g->work_left -= enough ? work : 0;
	return enough;
}

static int32_t add_value(struct hn_graph *g, const struct hn_gvalue *v)
{
	g->value = hn_arena_grow(g->arena, g->value, g->n_value, &g->cap_value,
				 sizeof(*g->value));
	g->value[g->n_value] = *v;
	return (int32_t)g->n_value++;
}

int32_t hn_graph_input(struct hn_graph *g, const char *name, enum hn_dtype t,
		       uint32_t rank, const int64_t *shape)
{
	return add_value(g, &(struct hn_gvalue){ .name = name,
						 .dtype = (uint8_t)t,
						 .rank = rank,
						 .shape = shape,
						 .node = -1 });
}

int32_t hn_graph_const(struct hn_graph *g, const char *name, enum hn_dtype t,
		       uint32_t rank, const int64_t *shape, const void *data, bool fill)
{
	return add_value(g, &(struct hn_gvalue){ .name = name,
						 .dtype = (uint8_t)t,
						 .rank = rank,
						 .shape = shape,
						 .data = data,
						 .fill = fill,
						 .node = -1 });
}

int32_t hn_graph_operand(struct hn_graph *g, int32_t v)
{
	struct hn_gvalue x;
	double number;

	if (v < 0 || g->value[v].data == NULL || hn_gvalue_elements(&g->value[v]) != 1 ||
	    !hn_gvalue_number(&g->value[v], 0, &number) || number == 0) {
		return v;
	}
	x = g->value[v];
	x.operand = true;
	return add_value(g, &x);
}

int32_t hn_graph_ints(struct hn_graph *g, uint32_t n, const int64_t *v)
{
	int64_t *shape = HN_NEW(g->arena, int64_t);
	int64_t *data = HN_NEW_ARRAY(g->arena, int64_t, n + 1);

	*shape = n;
	for (uint32_t i = 0; i < n; i++) {
		data[i] = v[i];
	}
	return hn_graph_const(g, g->at, HN_I64, 1, shape, data, false);
}

/* v, cut to what the integer type holds; 0 of what is no number. */
static int64_t cut(enum hn_dtype t, double v)
{
	double most = ldexp(1, hn_dtype_bits(t));

	if (isnan(v)) {
		return 0;
	}
	if (t == HN_BOOL) {
		return v != 0;
	}
	if (v >= most) { /* 2^63 and 2^64 are no int64 */
		return hn_dtype_bits(t) >= 63 ? (t == HN_U64 ? -1 : INT64_MAX)
					      : (int64_t)most - 1;
	}
	if (v < -most || (v < 0 && hn_dtype_class(t) == HN_CLASS_UNSIGNED)) {
		return hn_dtype_class(t) == HN_CLASS_UNSIGNED ? 0 : (int64_t)-most;
	}
	return t == HN_U64 ? (int64_t)(uint64_t)v : (int64_t)v;
}

int32_t hn_graph_scalar(struct hn_graph *g, enum hn_dtype t, double v)
{
	void *data = hn_arena_alloc(g->arena, sizeof(double));

	if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
		hn_float_put(t, data, 0, v);
	} else {
		int64_t i = cut(
			t, v); /* little endian, so a narrower type is its first bytes */

		memcpy(data, &i, sizeof(i));
	}
	return hn_graph_const(g, g->at, t, 0, data, data, false); /* it has no shape to read */
}

/* -- equal nodes ------------------------------------------------------------------------ */

static bool same_attr(const struct hn_gattr *x, const struct hn_gattr *y)
{
	if (x->kind != y->kind || x->n != y->n || strcmp(x->name, y->name) != 0) {
		return false;
	}
	if (x->n == 0 && x->kind != HN_GATTR_STRING) {
		return true;
	}
	switch (x->kind) {
	case HN_GATTR_INTS:
		return memcmp(x->i, y->i, x->n * sizeof(*x->i)) == 0;
	case HN_GATTR_FLOATS:
		return memcmp(x->f, y->f, x->n * sizeof(*x->f)) == 0;
	default:
		return strcmp(x->s, y->s) == 0;
	}
}

/* Constants of few elements are equal when these are. */
static bool same_value(const struct hn_graph *g, int32_t x, int32_t y)
{
	const struct hn_gvalue *p, *q;

	if (x == y || x < 0 || y < 0) {
		return x == y;
	}
	p = &g->value[x];
	q = &g->value[y];
	return p->data != NULL && q->data != NULL && p->dtype == q->dtype &&
	       p->rank == q->rank &&
	       (p->rank == 0 ||
		memcmp(p->shape, q->shape, p->rank * sizeof(*p->shape)) == 0) &&
	       p->fill == q->fill && p->operand == q->operand &&
	       (p->data == q->data ||
		((p->fill || hn_gvalue_bytes(p) <= 64) &&
		 memcmp(p->data, q->data,
			p->fill ? hn_dtype_bytes(p->dtype) : hn_gvalue_bytes(p)) == 0));
}

static bool same_node(const struct hn_graph *g, const struct hn_gnode *x,
		      const struct hn_gnode *y)
{
	if (x->op != y->op || x->n_in != y->n_in || x->n_out != y->n_out ||
	    x->n_attr != y->n_attr) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_in; i++) {
		if (!same_value(g, x->in[i], y->in[i])) {
			return false;
		}
	}
	for (uint32_t i = 0; i < x->n_attr; i++) {
		if (!same_attr(&x->attr[i], &y->attr[i])) {
			return false;
		}
	}
	return true;
}

/* Of the operator and the operands that are computed: enough to tell most nodes apart. */
static uint32_t *bucket_of(struct hn_graph *g, const struct hn_gnode *n)
{
	uint64_t h = (uint64_t)(uintptr_t)n->op; /* where it lies decides no result */

	for (uint32_t i = 0; i < n->n_in; i++) {
		bool computed = n->in[i] >= 0 && g->value[n->in[i]].data == NULL;

		h = (h ^ (computed ? (uint64_t)n->in[i] + 1 : 0)) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return &g->bucket[h & (g->n_bucket - 1)];
}

/* Nodes of one bucket are a chain; 0 ends it.  A model that makes it long finds fewer of them. */
static const struct hn_gnode *find_equal(struct hn_graph *g, const struct hn_gnode *n)
{
	uint32_t steps = 0;

	for (uint32_t i = *bucket_of(g, n); i != 0 && steps++ < 256;
	     i = g->node[i - 1].next) {
		if (same_node(g, n, &g->node[i - 1])) {
			return &g->node[i - 1];
		}
	}
	return NULL;
}

/* -- nodes ------------------------------------------------------------------------------ */

static const struct hn_gattr *copy_attrs(struct hn_arena *a, uint32_t n,
					 const struct hn_gattr *from)
{
	struct hn_gattr *to = HN_NEW_ARRAY(a, struct hn_gattr, n);

	for (uint32_t i = 0; i < n; i++) {
		to[i] = from[i];
		if (from[i].n == 0 && from[i].kind != HN_GATTR_STRING) {
			to[i].i = HN_NEW(a, int64_t); /* nothing, but somewhere */
			to[i].f = HN_NEW(a, double);
			continue;
		}
		if (from[i].kind == HN_GATTR_INTS) {
			int64_t *v = HN_NEW_ARRAY(a, int64_t, from[i].n);

			memcpy(v, from[i].i, from[i].n * sizeof(*v));
			to[i].i = v;
		} else if (from[i].kind == HN_GATTR_FLOATS) {
			double *v = HN_NEW_ARRAY(a, double, from[i].n);

			memcpy(v, from[i].f, from[i].n * sizeof(*v));
			to[i].f = v;
		} else {
			to[i].s = hn_arena_strdup(a, from[i].s);
		}
	}
	return to;
}

static bool check_call(struct hn_graph *g, const struct hn_gnode *n)
{
	const struct hn_gop *op = n->op;

	if (n->n_in < op->in_min || (op->in_max != HN_ANY && n->n_in > op->in_max) ||
	    n->n_out > op->out_max) {
		hn_graph_fail(g, HONE_E_INVALID, "%s with %u operands and %u results",
			      op->name, n->n_in, n->n_out);
		return false;
	}
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->in[i] < 0 && i < op->in_min) {
			hn_graph_fail(g, HONE_E_INVALID, "%s: operand %u is left out",
				      op->name, i);
			return false;
		}
	}
	return true;
}

/* The values of a node's results. */
static bool infer(struct hn_graph *g, struct hn_gnode *n)
{
	struct hn_gshape shape[HN_GRAPH_MAX_OUT] = { { .rank = 0 } };
	int32_t *out = HN_NEW_ARRAY(g->arena, int32_t, n->n_out);

	if (!n->op->infer(&(struct hn_gcall){ g, n, NULL }, shape)) {
		return false;
	}
	for (uint32_t k = 0; k < n->n_out; k++) {
		int64_t *dim = HN_NEW_ARRAY(g->arena, int64_t, shape[k].rank);
		struct hn_gvalue v = { .name = g->at,
				       .dtype = shape[k].dtype,
				       .rank = shape[k].rank,
				       .shape = dim,
				       .node = (int32_t)g->n_node };

		for (uint32_t d = 0; d < v.rank; d++) {
			dim[d] = shape[k].dim[d];
		}
		if (hn_gvalue_elements(&v) > HN_GRAPH_MAX_ELEMENTS) {
			hn_graph_fail(g, HONE_E_QUOTA, "%s makes a tensor of shape %s, more than "
					HN_GRAPH_MAX_ELEMENTS_TEXT,
				      n->op->name, hn_shape_text(g->arena, v.rank, dim));
			return false;
		}
		out[k] = add_value(g, &v);
	}
	n->out = out;
	return true;
}

static void keep(struct hn_graph *g, const struct hn_gnode *n)
{
	uint32_t *bucket = bucket_of(g, n);
	struct hn_gnode *kept;

	g->node = hn_arena_grow(g->arena, g->node, g->n_node, &g->cap_node,
				sizeof(*g->node));
	kept = &g->node[g->n_node++];
	*kept = *n;
	kept->next = *bucket;
	*bucket = g->n_node;
}

static void put_results(const struct hn_gnode *n, int32_t *out)
{
	for (uint32_t k = 0; k < n->n_out; k++) {
		out[k] = n->out[k];
	}
}

/* Results without elements are known.  Others that are made of nothing their operator knows. */
static bool is_settled(struct hn_graph *g, const struct hn_gnode *n)
{
	bool none = true;

	for (uint32_t k = 0; k < n->n_out; k++) {
		none &= hn_gvalue_elements(&g->value[n->out[k]]) == 0;
	}
	for (uint32_t k = 0; k < n->n_out && none; k++) {
		g->value[n->out[k]].node = -1;
		g->value[n->out[k]].data = "";
	}
	for (uint32_t i = 0; i < n->n_in && !none; i++) {
		if (n->in[i] >= 0 && hn_gvalue_elements(&g->value[n->in[i]]) == 0) {
			hn_graph_fail(g, HONE_E_UNSUPPORTED,
				      "%s of a tensor without elements", n->op->name);
		}
	}
	return none || g->failed;
}

/* The node that is asked for, new or found again; g->failed where there is none. */
static void add_node(struct hn_graph *g, struct hn_gnode *n, int32_t *out)
{
	const struct hn_gnode *equal = find_equal(g, n);
	int32_t *in = HN_NEW_ARRAY(g->arena, int32_t, n->n_in);
	int32_t simple = g->simplify != NULL && equal == NULL ? g->simplify(g, n) : HN_NONE;

	if (equal != NULL) {
		put_results(equal, out);
		return;
	}
	if (simple != HN_NONE) {
		out[0] = simple;
		return;
	}
	memcpy(in, n->in, n->n_in * sizeof(*in));
	n->in = in;
	n->attr = copy_attrs(g->arena, n->n_attr, n->attr);
	if (!infer(g, n)) {
		return;
	}
	put_results(n, out);
	if (!is_settled(g, n) && !hn_graph_fold(g, n) && !g->failed && hn_graph_check(g, n)) {
		keep(g, n);
	}
}

void hn_graph_call(struct hn_graph *g, const char *op, uint32_t n_in, const int32_t *in,
		   uint32_t n_attr, const struct hn_gattr *attr, uint32_t n_out,
		   int32_t *out)
{
	struct hn_gnode n = { .op = hn_gop_find(op),
			      .name = g->at,
			      .n_in = n_in,
			      .in = in,
			      .n_out = n_out,
			      .n_attr = n_attr,
			      .attr = attr };

	for (uint32_t i = 0; i < n_in; i++) {
		g->failed |= in[i] == HN_BAD; /* said already */
	}
	if (n.op == NULL) {
		hn_graph_fail(g, HONE_E_UNSUPPORTED, "operator %s", op);
	}
	if (!g->failed && check_call(g, &n)) {
		if (n.op->expand != NULL) {
			out[0] = n.op->expand(&(struct hn_gcall){ g, &n, out });
		} else {
			add_node(g, &n, out);
		}
	}
	for (uint32_t k = 0; k < n_out && g->failed; k++) {
		out[k] = HN_BAD;
	}
}

int32_t hn_graph_add(struct hn_graph *g, const char *op, uint32_t n_in, const int32_t *in,
		     uint32_t n_attr, const struct hn_gattr *attr)
{
	int32_t out = HN_BAD;

	hn_graph_call(g, op, n_in, in, n_attr, attr, 1, &out);
	return out;
}

int32_t hn_graph_1(struct hn_graph *g, const char *op, int32_t x)
{
	return hn_graph_add(g, op, 1, &x, 0, NULL);
}

int32_t hn_graph_2(struct hn_graph *g, const char *op, int32_t x, int32_t y)
{
	return hn_graph_add(g, op, 2, (int32_t[]){ x, y }, 0, NULL);
}

/* -- what is needed --------------------------------------------------------------------- */

void hn_graph_sweep(struct hn_graph *g)
{
	bool *needed = HN_NEW_ARRAY(g->arena, bool, g->n_value);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->n_output; i++) {
		needed[g->output[i]] = true;
	}
	for (uint32_t i = g->n_node; i-- > 0;) {
		struct hn_gnode *n = &g->node[i];
		bool live = false;

		for (uint32_t k = 0; k < n->n_out; k++) {
			live |= needed[n->out[k]];
		}
		for (uint32_t k = 0; k < n->n_in && live; k++) {
			if (n->in[k] >= 0) {
				needed[n->in[k]] = true;
			}
		}
		n->live = live;
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		if (g->node[i].live) {
			for (uint32_t k = 0; k < g->node[i].n_out; k++) {
				g->value[g->node[i].out[k]].node = (int32_t)kept;
			}
			g->node[kept++] = g->node[i];
		}
	}
	g->n_node = kept;
	memset(g->bucket, 0,
	       g->n_bucket * sizeof(*g->bucket)); /* numbers of nodes have changed */
}
