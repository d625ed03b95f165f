/* graph/akg/move.c -- elements in other places: shapes, orders of dimensions, copies, joins. */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/import/import.h"
#include "graph/op/build.h"

/* -- shapes ----------------------------------------------------------------------------- */

/* The size that --dim gives a name; -1: none. */
static int64_t size_of(const struct hn_akg_call *c, const char *name)
{
	for (uint32_t k = 0; k < c->im->n_dim && *name != '\0'; k++) {
		if (strcmp(c->im->dim[k].name, name) == 0) {
			return c->im->dim[k].value;
		}
	}
	return -1;
}

/* Open dimensions are those of x in their order where all others, but those of one element, are the
 * same. */
static bool take_in_order(const struct hn_gvalue *x, uint32_t n, int64_t *to)
{
	int64_t found[HN_GRAPH_MAX_RANK];
	uint32_t d = 0;

	for (uint32_t k = 0; k < n; k++) {
		found[k] = to[k];
		if (to[k] == 1) {
			continue;
		}
		while (d < x->rank && x->shape[d] == 1) {
			d++;
		}
		if (d == x->rank || (to[k] != -1 && to[k] != x->shape[d])) {
			return false;
		}
		found[k] = x->shape[d++];
	}
	memcpy(to, found, n * sizeof(*to));
	return true;
}

/* The one open dimension has what is left of the elements. */
static void fill_last(const struct hn_gvalue *x, uint32_t n, int64_t *to)
{
	int64_t known = 1, all = hn_gvalue_elements(x);
	uint32_t open = n;

	for (uint32_t k = 0; k < n; k++) {
		open = to[k] == -1 ? k : open;
		known = to[k] == -1 || to[k] > all / known ? known : known * to[k];
	}
	if (open < n) {
		to[open] = all / known;
	}
}

void hn_akg_reshape(struct hn_akg_call *c)
{
	const struct hn_akg_tensor *t = &c->op->out[0];
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t to[HN_GRAPH_MAX_RANK], said[HN_GRAPH_MAX_INTS];
	uint32_t n_open = 0, n_said = 0;
	bool has = hn_akg_ints(c, "shape", 1, &n_said, said);

	for (uint32_t k = 0; k < t->rank; k++) {
		to[k] = t->shape[k];
		to[k] = to[k] == -1 && has && n_said == t->rank && said[k] > 0 ? said[k] : to[k];
		to[k] = to[k] == -1 && t->symbol != NULL ? size_of(c, t->symbol[k]) : to[k];
		n_open += to[k] == -1;
	}
	if (n_open > 1 && !take_in_order(x, t->rank, to)) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Reshape to a shape with %u open dimensions",
			      n_open);
	}
	if (!c->g->failed) {
		fill_last(x, t->rank, to);
		c->out[0] = hn_reshaped(c->g, c->in[0], t->rank, to);
	}
}

void hn_akg_expand_dims(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t to[HN_GRAPH_MAX_RANK + 1];
	uint32_t axis;

	if (hn_akg_axis(c, 1, x->rank + 1, 0, &axis)) {
		memcpy(to, x->shape, axis * sizeof(*to));
		to[axis] = 1;
		memcpy(to + axis + 1, x->shape + axis, (x->rank - axis) * sizeof(*to));
		c->out[0] = hn_reshaped(c->g, c->in[0], x->rank + 1, to);
	}
}

void hn_akg_squeeze(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t axis[HN_GRAPH_MAX_INTS], to[HN_GRAPH_MAX_RANK] = { 1 };
	bool out[HN_GRAPH_MAX_RANK] = { false };
	uint32_t n, left = 0;
	bool some = hn_akg_ints(c, "axis", 1, &n, axis) && n > 0;

	for (uint32_t k = 0; k < n; k++) {
		int64_t d = axis[k] < 0 ? axis[k] + x->rank : axis[k];

		if (d < 0 || d >= x->rank || x->shape[d] != 1) {
			hn_graph_fail(c->g, HONE_E_INVALID, "axis %lld of %s", (long long)axis[k],
				      hn_shape_text(c->g->arena, x->rank, x->shape));
			return;
		}
		out[d] = true;
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		if (some ? !out[d] : x->shape[d] != 1) {
			to[left++] = x->shape[d];
		}
	}
	c->out[0] = c->g->failed ? HN_BAD : hn_reshaped(c->g, c->in[0], left > 0 ? left : 1, to);
}

/* -- orders and copies ------------------------------------------------------------------ */

void hn_akg_transpose(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t perm[HN_GRAPH_MAX_INTS];
	uint32_t n;

	if (!hn_akg_ints(c, "perm", 1, &n, perm)) {
		c->out[0] = hn_graph_1(c->g, "Transpose", c->in[0]);
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		perm[k] += perm[k] < 0 ? x->rank : 0;
	}
	c->out[0] = hn_transposed(c->g, c->in[0], n, perm);
}

/* A dimension that is -1 stays as it is. */
void hn_akg_broadcast(struct hn_akg_call *c)
{
	const struct hn_akg_tensor *t = &c->op->out[0];
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t to[HN_GRAPH_MAX_INTS];
	int32_t in[2] = { c->in[0] };
	uint32_t n;

	if (!hn_akg_ints(c, "shape", 1, &n, to)) {
		n = t->rank;
		memcpy(to, t->shape, n * sizeof(*to));
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t behind = n - k;

		to[k] = to[k] != -1 ? to[k] : behind > x->rank ? 1 : x->shape[x->rank - behind];
		if (to[k] < 1) {
			hn_graph_fail(c->g, HONE_E_INVALID, "shape with %lld", (long long)to[k]);
		}
	}
	if (n > HN_GRAPH_MAX_RANK) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "a shape of %u dimensions", n);
	}
	if (!c->g->failed) {
		in[1] = hn_graph_ints(c->g, n, to);
		c->out[0] = hn_graph_add(c->g, "Expand", 2, in, 0, NULL);
	}
}

/* The shorter of shape and list is filled with ones in front. */
void hn_akg_tile(struct hn_akg_call *c)
{
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	int64_t times[HN_GRAPH_MAX_INTS], all[HN_GRAPH_MAX_RANK], to[HN_GRAPH_MAX_RANK];
	uint32_t n, rank;
	int32_t in[2];

	if (!hn_akg_ints(c, "multiples", 1, &n, times)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "it has no multiples");
		return;
	}
	rank = n > x->rank ? n : x->rank;
	if (rank > HN_GRAPH_MAX_RANK) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%u dimensions", rank);
		return;
	}
	for (uint32_t k = 0; k < rank; k++) { /* from the last */
		to[rank - 1 - k] = k < x->rank ? x->shape[x->rank - 1 - k] : 1;
		all[rank - 1 - k] = k < n ? times[n - 1 - k] : 1;
	}
	in[0] = hn_reshaped(c->g, c->in[0], rank, to);
	in[1] = hn_graph_ints(c->g, rank, all);
	c->out[0] = hn_graph_add(c->g, "Tile", 2, in, 0, NULL);
}

/* -- joins and parts -------------------------------------------------------------------- */

void hn_akg_concat(struct hn_akg_call *c)
{
	enum hn_dtype t = (enum hn_dtype)hn_akg_in(c, 0)->dtype;
	struct hn_gattr attr;
	uint32_t axis;

	for (uint32_t k = 0; k < c->op->n_in; k++) {
		if (hn_akg_in(c, k)->dtype != t) {
			hn_graph_fail(c->g, HONE_E_INVALID, "operands of several types");
		}
	}
	if (!c->g->failed && hn_akg_axis(c, UINT32_MAX, hn_akg_in(c, 0)->rank, 0, &axis)) {
		attr = hn_gattr_of_int(c->g->arena, "axis", axis);
		c->out[0] = hn_graph_add(c->g, "Concat", c->op->n_in, c->in, 1, &attr);
	}
}

void hn_akg_split(struct hn_akg_call *c)
{
	int64_t sizes[HN_GRAPH_MAX_INTS];
	int32_t in[2] = { c->in[0] };
	struct hn_gattr attr;
	uint32_t axis, n;

	if (!hn_akg_axis(c, UINT32_MAX, hn_akg_in(c, 0)->rank, 0, &axis)) {
		return;
	}
	attr = hn_gattr_of_int(c->g->arena, "axis", axis);
	if (hn_akg_ints(c, "size_splits", UINT32_MAX, &n, sizes) && n > 0) {
		in[1] = hn_graph_ints(c->g, n, sizes);
	} else if (hn_akg_in(c, 0)->shape[axis] % c->op->n_out != 0) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%lld elements in %u parts",
			      (long long)hn_akg_in(c, 0)->shape[axis], c->op->n_out);
	}
	if (!c->g->failed) {
		hn_graph_call(c->g, "Split", n > 0 ? 2 : 1, in, 1, &attr, c->op->n_out, c->out);
	}
}
