/* graph/import/regions.c -- see regions.h: what is taken, and what each region reads and gives. */
#include "graph/import/regions.h"

#include <stdlib.h>
#include <string.h>

#include "graph/import/regions_int.h"
#include "graph/op/dtype.h"

#define NO_NODE (-1)

struct finder {
	struct hn_importer i;
	struct hn_names said; /* shapes of values: numbers of value_info, then of outputs */
	uint8_t *kind;
	struct hn_region_plan plan;
	struct hn_names is_output; /* of the model */
};

/* -- what is taken ------------------------------------------------------------------------------ */

static bool has_graph(const struct hn_onnx_node *n)
{
	for (uint32_t k = 0; k < n->n_attribute; k++) {
		if (n->attribute[k].g != NULL || n->attribute[k].n_graphs > 0) {
			return true;
		}
	}
	return false;
}

static void index_shapes(struct finder *f)
{
	const struct hn_onnx_graph *g = f->i.model->graph;

	hn_names_init(&f->said, f->i.n_name + g->n_value_info, f->i.g->arena);
	for (uint32_t k = 0; k < g->n_value_info; k++) {
		*hn_names_at(&f->said, g->value_info[k].name, 0) = (int32_t)k;
	}
	for (uint32_t k = 0; k < g->n_output; k++) {
		*hn_names_at(&f->said, g->output[k].name, 0) = (int32_t)(g->n_value_info + k);
	}
}

static const struct hn_onnx_value_info *shape_of(struct finder *f, const char *name)
{
	const struct hn_onnx_graph *g = f->i.model->graph;
	int32_t at = *hn_names_at(&f->said, name, NO_NODE);

	return at < 0				? NULL
	       : (uint32_t)at < g->n_value_info ? &g->value_info[at]
						: &g->output[(uint32_t)at - g->n_value_info];
}

/* 0: nobody knows. */
static int64_t size_of(const struct hn_import *im, const struct hn_onnx_dim *d)
{
	if (d->kind == HN_ONNX_DIM_VALUE) {
		return d->dim_value;
	}
	for (uint32_t k = 0; k < im->n_dim && d->kind == HN_ONNX_DIM_PARAM; k++) {
		if (strcmp(im->dim[k].name, d->dim_param) == 0) {
			return im->dim[k].value;
		}
	}
	return 0;
}

/* What a node that is left gives, as an input of what is behind it; HN_BAD: its shape is not known. */
static int32_t stand_in(struct finder *f, const char *name)
{
	const struct hn_onnx_value_info *v = shape_of(f, name);
	struct hn_graph *g = f->i.g;
	enum hn_dtype t = v != NULL && v->is_tensor ? hn_dtype_of_onnx(v->elem_type) : HN_N_DTYPE;
	int64_t *shape, n = 1;

	if (t == HN_N_DTYPE || !v->has_shape || v->n_dim > HN_GRAPH_MAX_RANK) {
		return HN_BAD;
	}
	shape = HN_NEW_ARRAY(g->arena, int64_t, v->n_dim + 1);
	for (uint32_t d = 0; d < v->n_dim; d++) {
		shape[d] = size_of(f->i.im, &v->dim[d]);
		if (shape[d] <= 0 || shape[d] > HN_GRAPH_MAX_ELEMENTS / n) {
			return HN_BAD;
		}
		n *= shape[d];
	}
	return hn_graph_input(g, name, t, v->n_dim, shape);
}

static int32_t *value_of(struct finder *f, const char *name)
{
	return hn_names_at(&f->i.name, name, HN_UNKNOWN_NAME);
}

/* What it is, from what became of its results. */
static uint8_t kind_of(struct finder *f, const struct hn_onnx_node *n)
{
	uint8_t kind = n->n_output > 0 && !has_graph(n) ? HN_REGION_CONSTANT : HN_REGION_LEFT;

	for (uint32_t k = 0; k < n->n_output && kind != HN_REGION_LEFT; k++) {
		int32_t v = *n->output[k] != '\0' ? *value_of(f, n->output[k]) : HN_NONE;

		if (v == HN_BAD || v == HN_UNKNOWN_NAME) {
			kind = HN_REGION_LEFT;
		} else if (v >= 0 && f->i.g->value[v].data == NULL) {
			kind = HN_REGION_TAKEN;
		}
	}
	return kind;
}

static int look(struct finder *f, uint32_t number)
{
	const struct hn_onnx_node *n = &f->i.model->graph->node[number];
	int rc = 0;

	for (uint32_t k = 0; k < n->n_output; k++) {
		if (hn_import_has_name(&f->i, n->output[k])) {
			return hn_fail(f->i.err, HONE_E_INVALID, "result %.80s is there already",
				       n->output[k]);
		}
	}
	rc = has_graph(n) ? 0 : hn_import_node(&f->i, n);
	f->kind[number] = kind_of(f, n);
	for (uint32_t k = 0; k < n->n_output && f->kind[number] == HN_REGION_LEFT; k++) {
		int32_t *v = *n->output[k] != '\0' ? value_of(f, n->output[k]) : NULL;

		if (v != NULL && (*v == HN_BAD || *v == HN_UNKNOWN_NAME)) {
			*v = stand_in(f, n->output[k]);
		}
	}
	return rc;
}

/* -- who reads whom ------------------------------------------------------------------------------ */

static void names_within(const struct hn_onnx_graph *g, void (*each)(void *, const char *), void *ctx)
{
	for (uint32_t i = 0; i < g->n_node; i++) {
		hn_region_names(&g->node[i], each, ctx);
	}
	for (uint32_t i = 0; i < g->n_output; i++) {
		each(ctx, g->output[i].name);
	}
}

void hn_region_names(const struct hn_onnx_node *n, void (*each)(void *, const char *), void *ctx)
{
	for (uint32_t k = 0; k < n->n_input; k++) {
		if (*n->input[k] != '\0') {
			each(ctx, n->input[k]);
		}
	}
	for (uint32_t k = 0; k < n->n_attribute; k++) {
		if (n->attribute[k].g != NULL) {
			names_within(n->attribute[k].g, each, ctx);
		}
		for (uint32_t j = 0; j < n->attribute[k].n_graphs; j++) {
			names_within(&n->attribute[k].graphs[j], each, ctx);
		}
	}
}

struct edges {
	struct finder *f;
	uint32_t to;
	bool count; /* else write */
};

static void add_edge(void *ctx, const char *name)
{
	struct edges *e = ctx;
	struct hn_region_plan *p = &e->f->plan;
	int32_t from = *hn_names_at(&p->producer, name, NO_NODE);

	if (from == NO_NODE || p->kind[from] == HN_REGION_CONSTANT ||
	    p->kind[e->to] == HN_REGION_CONSTANT) {
		return;
	}
	if (e->count) {
		p->first_reader[from + 1]++;
	} else {
		p->reader[p->first_reader[from]++] = e->to;
	}
}

static void read_edges(struct finder *f)
{
	struct hn_region_plan *p = &f->plan;
	uint32_t n = p->from->n_node;

	hn_names_init(&p->producer, f->i.n_name, p->arena);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < p->from->node[i].n_output; k++) {
			*hn_names_at(&p->producer, p->from->node[i].output[k], 0) = (int32_t)i;
		}
	}
	p->first_reader = HN_NEW_ARRAY(p->arena, uint32_t, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		hn_region_names(&p->from->node[i], add_edge, &(struct edges){ f, i, true });
	}
	for (uint32_t i = 0; i < n; i++) {
		p->first_reader[i + 1] += p->first_reader[i];
	}
	p->reader = HN_NEW_ARRAY(p->arena, uint32_t, p->first_reader[n] + 1);
	for (uint32_t i = 0; i < n; i++) {
		hn_region_names(&p->from->node[i], add_edge, &(struct edges){ f, i, false });
	}
	/* each begins where the one before ended: back by one */
	memmove(p->first_reader + 1, p->first_reader, n * sizeof(*p->first_reader));
	p->first_reader[0] = 0;
}

/* -- what a region reads and gives ---------------------------------------------------------------- */

struct border {
	struct finder *f;
	uint32_t first; /* of the group */
	struct hn_names seen;
	struct hn_region *r;
	struct hn_region_value *input, *constant;
	uint32_t *initializer;
};

static bool is_within(const struct border *b, int32_t node)
{
	return node != NO_NODE && b->f->plan.kind[node] == HN_REGION_TAKEN &&
	       b->f->plan.group[node] == b->first;
}

static void add_read(void *ctx, const char *name)
{
	struct border *b = ctx;
	struct hn_region *r = b->r;
	int32_t *seen = hn_names_at(&b->seen, name, 0);
	int32_t value = *value_of(b->f, name);
	int32_t weight = hn_import_initializer(&b->f->i, name);

	if (*seen != 0 || is_within(b, *hn_names_at(&b->f->plan.producer, name, NO_NODE))) {
		return;
	}
	*seen = 1;
	if (weight != HN_UNKNOWN_NAME) {
		b->initializer[r->n_initializer++] = (uint32_t)weight;
	} else if (b->f->i.g->value[value].data != NULL) {
		b->constant[r->n_constant++] = (struct hn_region_value){ name, value };
	} else {
		b->input[r->n_input++] = (struct hn_region_value){ name, value };
	}
}

struct asked {
	const char *name;
	bool is_read;
};

static void compare_name(void *ctx, const char *name)
{
	struct asked *a = ctx;

	a->is_read = a->is_read || strcmp(a->name, name) == 0;
}

/* Whether a node outside reads it, or the model gives it. */
static bool is_wanted(struct border *b, uint32_t node, const char *name)
{
	const struct hn_region_plan *p = &b->f->plan;
	struct asked a = { name, *hn_names_at(&b->f->is_output, name, 0) != 0 };

	for (uint32_t e = p->first_reader[node]; e < p->first_reader[node + 1] && !a.is_read; e++) {
		if (!is_within(b, (int32_t)p->reader[e])) {
			hn_region_names(&p->from->node[p->reader[e]], compare_name, &a);
		}
	}
	return a.is_read;
}

static int compare_numbers(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

/* The region of the group that begins at `first`; [n_in], [n_out] names at most. */
static void describe(struct finder *f, uint32_t first, uint32_t n_in, uint32_t n_out,
		     const uint32_t *node, uint32_t n_node, struct hn_region *r)
{
	struct hn_arena *a = f->plan.arena;
	struct hn_region_value *output = HN_NEW_ARRAY(a, struct hn_region_value, n_out + 1);
	struct border b = { .f = f, .first = first, .r = r };

	*r = (struct hn_region){ .node = node, .n_node = n_node, .output = output };
	r->input = b.input = HN_NEW_ARRAY(a, struct hn_region_value, n_in + 1);
	r->constant = b.constant = HN_NEW_ARRAY(a, struct hn_region_value, n_in + 1);
	r->initializer = b.initializer = HN_NEW_ARRAY(a, uint32_t, n_in + 1);
	hn_names_init(&b.seen, n_in + 1, a);
	for (uint32_t k = 0; k < n_node; k++) {
		const struct hn_onnx_node *n = &f->plan.from->node[node[k]];

		hn_region_names(n, add_read, &b);
		for (uint32_t j = 0; j < n->n_output; j++) {
			if (*n->output[j] != '\0' && is_wanted(&b, node[k], n->output[j])) {
				output[r->n_output++] = (struct hn_region_value){
					n->output[j], *value_of(f, n->output[j])
				};
			}
		}
	}
	qsort(b.initializer, r->n_initializer, sizeof(*b.initializer), compare_numbers);
}

static void describe_all(struct finder *f, struct hn_regions *ret)
{
	const struct hn_region_plan *p = &f->plan;
	uint32_t n = p->from->n_node, *node = HN_NEW_ARRAY(p->arena, uint32_t, n + 1), at = 0;

	ret->region = HN_NEW_ARRAY(p->arena, struct hn_region, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_in = 0, n_out = 0, from = at, k = i;

		ret->n_left += p->kind[i] == HN_REGION_LEFT;
		if (p->kind[i] != HN_REGION_TAKEN || p->group[i] != i) {
			continue;
		}
		do {
			n_in += p->from->node[k].n_input;
			n_out += p->from->node[k].n_output;
			node[at++] = k;
			k = p->next[k];
		} while (k != i);
		qsort(node + from, at - from, sizeof(*node), compare_numbers);
		describe(f, i, n_in, n_out, node + from, at - from, &ret->region[ret->n]);
		ret->n += ret->region[ret->n].n_output > 0;
	}
}

int hn_graph_regions(struct hn_onnx *o, struct hn_import *im, struct hn_graph *g,
		     struct hn_regions *ret, struct hn_err *err)
{
	struct finder f = { .i = { .onnx = o,
				   .model = hn_onnx_model(o),
				   .im = im,
				   .g = g,
				   .in_part = true,
				   .err = err } };
	const struct hn_onnx_graph *from = f.i.model->graph;
	int rc = hn_import_begin(&f.i);

	*ret = (struct hn_regions){ 0 };
	f.kind = HN_NEW_ARRAY(g->arena, uint8_t, from->n_node + 1);
	if (rc == 0) {
		index_shapes(&f);
		hn_names_init(&f.is_output, f.i.n_name, g->arena);
		for (uint32_t k = 0; k < from->n_output; k++) {
			*hn_names_at(&f.is_output, from->output[k].name, 1) = 1;
		}
	}
	for (uint32_t k = 0; rc == 0 && k < from->n_node; k++) {
		rc = look(&f, k);
	}
	g->err = err;
	if (rc == 0) {
		f.plan = (struct hn_region_plan){ .arena = g->arena, .from = from, .kind = f.kind };
		read_edges(&f);
		hn_region_group(&f.plan);
		describe_all(&f, ret);
	}
	return rc;
}
