/* graph/net/place.c -- see place.h.
 *
 * Parts of concatenations are placed from the last node to the first, so that a concatenation in
 * another's memory is placed before its own parts are; then aliases follow, from the first node to
 * the last.
 */
#include "graph/net/place.h"

#include <string.h>

#include "graph/ir/op.h"
#include "graph/net/layout.h"

struct work {
	struct hn_graph *g;
	struct hn_gplace *place;
	bool *is_alias;
	uint32_t *n_reader; /* of a value */
	bool *is_output;    /* a value's memory is an output's: it lies in no other */
	bool *is_viewed;    /* a reshape reads it that is its memory while it lies in a row */
	bool *is_heavy;	    /* more than moves and element-wise nodes computes it, so a step ends there */
};

static bool is_op(const struct hn_gnode *n, const char *name)
{
	return strcmp(n->op->name, name) == 0;
}

/* -- strides ------------------------------------------------------------------------------ */

/* A form of strides without dimensions of one, and with neighbours that lie in a row as one. */
struct form {
	uint32_t n;
	int64_t extent[HN_GRAPH_MAX_RANK], stride[HN_GRAPH_MAX_RANK];
};

static void simplify(const struct hn_gvalue *v, const int64_t *stride, struct form *ret)
{
	ret->n = 0;
	for (uint32_t k = 0; k < v->rank; k++) {
		int64_t extent = hn_gvalue_extent(v, k);
		uint32_t last = ret->n - 1;

		if (extent == 1) {
			continue;
		}
		if (ret->n > 0 && ret->stride[last] == extent * stride[k]) {
			ret->extent[last] *= extent;
			ret->stride[last] = stride[k];
		} else {
			ret->extent[ret->n] = extent;
			ret->stride[ret->n++] = stride[k];
		}
	}
}

/* Rows at one distance; false where it takes more than one. */
static bool find_rows(const struct hn_gvalue *v, const int64_t *stride, struct hn_grows *ret)
{
	struct form f;

	simplify(v, stride, &f);
	*ret = (struct hn_grows){ 1, 1, 1 };
	if (f.n > 0 && f.stride[f.n - 1] == 1) {
		ret->length = ret->pitch = f.extent[--f.n];
	}
	if (f.n == 1) {
		ret->n = f.extent[0];
		ret->pitch = f.stride[0];
	}
	return f.n <= 1;
}

static int64_t *strides_of(struct hn_graph *g, const struct hn_gvalue *v)
{
	int64_t *stride = HN_NEW_ARRAY(g->arena, int64_t, v->rank), step = 1;

	for (uint32_t k = v->rank; k-- > 0;) {
		stride[k] = step;
		step *= hn_gvalue_extent(v, k);
	}
	return stride;
}

/* As they are said: NULL where all lies in a row; false where there are no such rows. */
static bool settle(const struct hn_gvalue *v, const int64_t **stride)
{
	struct hn_grows rows;

	if (*stride == NULL) {
		return true;
	}
	if (!find_rows(v, *stride, &rows)) {
		return false;
	}
	*stride = rows.n == 1 ? NULL : *stride;
	return true;
}

struct hn_grows hn_gplace_rows(const struct hn_gvalue *v, const struct hn_gplace *p)
{
	struct hn_grows rows = { 1, hn_gvalue_elements(v), hn_gvalue_elements(v) };

	if (p->stride != NULL) {
		(void)find_rows(v, p->stride, &rows); /* it was placed because it has some */
	}
	return rows;
}

/* Strides of y, which is the memory of x in another shape of the same order; false: it cannot be. */
static bool reshape(const struct hn_gvalue *x, const int64_t *from, const struct hn_gvalue *y,
		    int64_t *to)
{
	struct form f;
	uint32_t k = y->rank;

	simplify(x, from, &f);
	for (uint32_t i = f.n; i-- > 0;) {
		int64_t left = f.extent[i], step = f.stride[i];

		for (; k > 0 && left % hn_gvalue_extent(y, k - 1) == 0 &&
		       (left > 1 || hn_gvalue_extent(y, k - 1) == 1);
		     k--) {
			int64_t extent = hn_gvalue_extent(y, k - 1);

			to[k - 1] = step;
			step *= extent;
			left /= extent;
		}
		if (left != 1) {
			return false;
		}
	}
	for (; k > 0; k--) { /* dimensions of one */
		to[k - 1] = 1;
	}
	return true;
}

/* -- what is known of the graph ----------------------------------------------------------- */

static void survey(struct work *w)
{
	struct hn_graph *g = w->g;

	for (uint32_t i = 0; i < g->n_output; i++) {
		w->is_output[g->output[i]] = true;
	}
	for (uint32_t i = g->n_node; i-- > 0;) {
		const struct hn_gnode *n = &g->node[i];

		for (uint32_t k = 0; k < n->n_in; k++) {
			w->n_reader[n->in[k] >= 0 ? n->in[k] : 0] += n->in[k] >= 0;
		}
		w->is_alias[i] = hn_layout_is_alias(g, n);
		if (w->is_alias[i]) {
			w->is_output[n->in[0]] |= w->is_output[n->out[0]];
			w->is_viewed[n->in[0]] |= n->op->class == HN_GOP_VIEW;
		}
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		const struct hn_gnode *n = &g->node[i];
		bool heavy = n->op->class > HN_GOP_INJECTIVE;

		for (uint32_t k = 0; k < n->n_in; k++) { /* what it joins, or is */
			bool joins = n->op->class == HN_GOP_ELEMENTWISE && n->in[k] >= 0 &&
				     w->n_reader[n->in[k]] == 1 &&
				     hn_gvalue_elements(&g->value[n->in[k]]) ==
					     hn_gvalue_elements(&g->value[n->out[0]]);

			heavy |= (joins || w->is_alias[i]) && w->is_heavy[n->in[k]];
		}
		for (uint32_t k = 0; k < n->n_out; k++) {
			w->is_heavy[n->out[k]] = heavy;
		}
	}
}

static bool same_order(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	for (uint32_t k = 0; k < x->rank; k++) {
		if ((x->order != NULL ? x->order[k] : k) != (y->order != NULL ? y->order[k] : k)) {
			return false;
		}
	}
	return true;
}

/* It is in memory as a whole, whoever reads it. */
static bool is_made(const struct work *w, int32_t v)
{
	return w->g->value[v].node < 0 || w->is_heavy[v] || w->n_reader[v] > 1;
}

/* Which dimension of memory that is. */
static uint32_t dim_of(const struct hn_gvalue *v, uint32_t axis)
{
	uint32_t k = 0;

	while ((v->order != NULL ? v->order[k] : k) != axis) {
		k++;
	}
	return k;
}

static const int64_t *strides_at(struct work *w, int32_t v)
{
	const struct hn_gplace *p = &w->place[v];

	return p->stride != NULL ? p->stride : strides_of(w->g, &w->g->value[v]);
}

/* -- concatenations ----------------------------------------------------------------------- */

/* Whether what computes v may write it among others, with these strides. */
static bool may_lie_in(struct work *w, int32_t v, const struct hn_gvalue *whole,
		       const int64_t *stride)
{
	const struct hn_gvalue *x = &w->g->value[v];

	return x->node >= 0 && !w->is_alias[x->node] && w->g->node[x->node].n_out == 1 &&
	       !w->is_output[v] && w->place[v].root == v && same_order(x, whole) &&
	       settle(x, &stride) && (stride == NULL || !w->is_viewed[v]);
}

static void join(struct work *w, uint32_t i)
{
	const struct hn_gnode *n = &w->g->node[i];
	int32_t y = n->out[0];
	const struct hn_gvalue *whole = &w->g->value[y];
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	const int64_t *stride = strides_at(w, y);
	int64_t at = w->place[y].at, step = stride[dim_of(whole, axis)];
	bool all = true, any = false;

	for (uint32_t k = 0; k < n->n_in; k++) {
		all = all && may_lie_in(w, n->in[k], whole, stride);
		any |= is_made(w, n->in[k]);
		for (uint32_t j = 0; j < k; j++) {
			all &= n->in[j] != n->in[k];
		}
	}
	if (!all || !any) { /* what is all element-wise becomes one step with it */
		return;
	}
	w->is_alias[i] = true;
	for (uint32_t k = 0; k < n->n_in; k++) {
		const struct hn_gvalue *x = &w->g->value[n->in[k]];
		struct hn_gplace *p = &w->place[n->in[k]];

		*p = (struct hn_gplace){ w->place[y].root, at, stride };
		(void)settle(x, &p->stride);
		at += x->shape[axis] * step;
	}
}

/* -- aliases ------------------------------------------------------------------------------ */

static bool steps_by_one(const struct hn_gnode *n)
{
	const struct hn_gattr *step = hn_gattr_find(n, "step");
	bool ones = true;

	for (uint32_t d = 0; d < step->n; d++) {
		ones &= step->i[d] == 1;
	}
	return ones;
}

/* A slice of what is in memory anyway. */
static bool may_be_slice(const struct work *w, const struct hn_gnode *n)
{
	return is_op(n, "slice") && steps_by_one(n) && is_made(w, n->in[0]) &&
	       !w->is_output[n->out[0]] &&
	       same_order(&w->g->value[n->in[0]], &w->g->value[n->out[0]]);
}

static bool place_slice(struct work *w, const struct hn_gnode *n)
{
	const struct hn_gattr *start = hn_gattr_find(n, "start");
	const struct hn_gvalue *x = &w->g->value[n->in[0]];
	struct hn_gplace p = w->place[n->in[0]];

	p.stride = strides_at(w, n->in[0]);
	for (uint32_t k = 0; k < x->rank; k++) {
		p.at += start->i[x->order != NULL ? x->order[k] : k] * p.stride[k];
	}
	if (!settle(&w->g->value[n->out[0]], &p.stride)) {
		return false;
	}
	w->place[n->out[0]] = p;
	return true;
}

/* A reshape, or a transposition: the same elements in the same order. */
static bool place_view(struct work *w, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &w->g->value[n->in[0]], *y = &w->g->value[n->out[0]];
	struct hn_gplace p = w->place[n->in[0]];

	if (p.stride != NULL) {
		int64_t *stride = HN_NEW_ARRAY(w->g->arena, int64_t, y->rank);

		if (!reshape(x, p.stride, y, stride)) {
			return false;
		}
		p.stride = stride;
	}
	w->place[n->out[0]] = p;
	return true;
}

void hn_places_make(struct hn_graph *g, bool parts, struct hn_places *ret)
{
	struct work w = { .g = g,
			  .place = HN_NEW_ARRAY(g->arena, struct hn_gplace, g->n_value),
			  .is_alias = HN_NEW_ARRAY(g->arena, bool, g->n_node),
			  .n_reader = HN_NEW_ARRAY(g->arena, uint32_t, g->n_value),
			  .is_output = HN_NEW_ARRAY(g->arena, bool, g->n_value),
			  .is_viewed = HN_NEW_ARRAY(g->arena, bool, g->n_value),
			  .is_heavy = HN_NEW_ARRAY(g->arena, bool, g->n_value) };

	for (uint32_t v = 0; v < g->n_value; v++) {
		w.place[v].root = (int32_t)v;
	}
	survey(&w);
	for (uint32_t i = 0; parts && i < g->n_node; i++) {
		w.is_alias[i] |= may_be_slice(&w, &g->node[i]);
	}
	for (uint32_t i = g->n_node; parts && i-- > 0;) {
		if (is_op(&g->node[i], "concat")) {
			join(&w, i);
		}
	}
	for (uint32_t i = 0; i < g->n_node; i++) {
		const struct hn_gnode *n = &g->node[i];

		if (w.is_alias[i] && !is_op(n, "concat")) {
			w.is_alias[i] = is_op(n, "slice") ? place_slice(&w, n) : place_view(&w, n);
		}
	}
	*ret = (struct hn_places){ w.place, w.is_alias };
}
