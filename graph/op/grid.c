/* graph/op/grid.c -- GridSample: an image read at places that data say, between its elements.
 *
 * `grid_sample` takes x [N,C,d..] and a grid [N,o..,n], both of one type of floats.  Its attributes:
 * taps, the elements read along a dimension (1 nearest, 2 linear, 4 cubic); padding (0 zeros,
 * 1 border, 2 reflection); align.  First, for each dimension, come the place, the indices of its taps
 * and their weights; then a sum over taps.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

enum { ZEROS, BORDER, REFLECTION };

static int64_t find_word(const char *const *words, uint32_t n, const char *s)
{
	for (uint32_t k = 0; k < n; k++) {
		if (strcmp(words[k], s) == 0) {
			return k;
		}
	}
	return -1;
}

int32_t hn_gridsample_expand(const struct hn_gcall *c)
{
	static const char *const paddings[] = { "zeros", "border", "reflection" };
	static const char *const modes[] = { "nearest", "linear", "cubic", "bilinear", "bicubic" };
	static const int64_t n_taps[] = { 1, 2, 4, 2, 4 };
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *grid = hn_gcall_in(c, 1);
	const char *mode = hn_gattr_string(c->node, "mode", "linear");
	const char *pad = hn_gattr_string(c->node, "padding_mode", "zeros");
	int64_t k = find_word(modes, HN_COUNT_OF(modes), mode);
	int64_t padding = find_word(paddings, HN_COUNT_OF(paddings), pad);
	int64_t align = hn_gattr_int(c->node, "align_corners", 0) != 0;
	int32_t in[2];

	if (k < 0 || padding < 0) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "GridSample: mode %.40s, padding %.40s",
				     mode, pad);
	}
	if (x->rank < 3 || x->rank > 5 || grid->rank != x->rank || !hn_is_float(x) ||
	    !hn_is_float(grid) || grid->shape[0] != x->shape[0] ||
	    grid->shape[x->rank - 1] != x->rank - 2) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "GridSample of %s%s by %s",
				     hn_dtype_name(x->dtype),
				     hn_shape_text(c->g->arena, x->rank, x->shape),
				     hn_shape_text(c->g->arena, grid->rank, grid->shape));
	}
	struct hn_gattr attr[] = { hn_gattr_of_ints("taps", 1, &n_taps[k]),
				   hn_gattr_of_ints("padding", 1, &padding),
				   hn_gattr_of_ints("align", 1, &align) };

	in[0] = hn_widened(c->g, hn_gcall_arg(c, 0));
	in[1] = in[0] < 0 ? HN_BAD
			  : hn_cast_to(c->g, hn_gcall_arg(c, 1), c->g->value[in[0]].dtype);
	return hn_cast_to(c->g, hn_graph_add(c->g, "grid_sample", 2, in, 3, attr), x->dtype);
}

bool hn_gridsample_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *grid = hn_gcall_in(c, 1);

	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = x->rank };
	memcpy(ret->dim, x->shape, 2 * sizeof(*x->shape));
	memcpy(ret->dim + 2, grid->shape + 1, (x->rank - 2) * sizeof(*x->shape));
	return true;
}

/* One dimension of the image. */
struct along {
	struct hn_say *s;
	const struct hn_gnode *n;
	uint32_t rank; /* of the places: i0 and the result's dimensions from the third on */
	hn_say_index at[HN_GRAPH_MAX_RANK]; /* these, and the tap's */
	int64_t taps, padding, extent;
	double low, high; /* ends of the image */
	uint32_t place, index, weight; /* temps */
};

static void left(struct along *a, uint32_t temp, bool tap)
{
	hn_say_text(a->s, "\t");
	hn_say_at(a->s, temp, a->rank + tap, NULL, a->at);
	hn_say_text(a->s, " = ");
}

static void right(struct along *a, bool tap)
{
	const struct hn_gvalue *y = &a->s->g->value[a->n->out[0]];

	for (uint32_t d = 0; d < a->rank; d++) {
		hn_say_range(a->s, a->at[d], y->shape[d == 0 ? 0 : d + 1]);
	}
	if (tap) {
		hn_say_range(a->s, a->at[a->rank], a->taps);
	}
	hn_say_end(a->s);
}

/* v thrown back at both ends, as often as it takes. */
static void put_reflected(struct along *a, const char *v)
{
	double range = a->high - a->low;

	if (range <= 0) {
		hn_say_text(a->s, "(%s * 0 + %.1f)", v, a->low);
		return;
	}
	hn_say_text(a->s,
		    "(let r = abs(%s - %.1f) in let n = floor(r / %.1f) in"
		    " select(n - 2 * floor(n / 2) == 0, r - n * %.1f + %.1f, %.1f - (r - n * %.1f)))",
		    v, a->low, range, range, a->low, a->high, range);
}

static void say_place(struct along *a, uint32_t d)
{
	hn_say_index at[HN_GRAPH_MAX_RANK];
	bool align = hn_gattr_int(a->n, "align", 0) != 0;

	memcpy(at, a->at, sizeof(at));
	snprintf(at[a->rank], sizeof(at[0]), "%u", a->rank - 2 - d); /* the last one comes first */
	left(a, a->place, false);
	hn_say_text(a->s, "let v = %s", a->taps == 1 ? "nearbyint(" : "(");
	hn_say_text(a->s, "%s", align ? "(" : "((");
	hn_say_load(a->s, a->n->in[1], at);
	if (align) {
		hn_say_text(a->s, " + 1) / 2 * %lld) in ", (long long)a->extent - 1);
	} else {
		hn_say_text(a->s, " + 1) * %lld - 1) / 2) in ", (long long)a->extent);
	}
	hn_say_text(a->s, "select(v >= %.1f && v <= %.1f, v, ", a->low, a->high);
	if (a->padding == BORDER) {
		hn_say_text(a->s, "min(max(v, 0), %lld)", (long long)a->extent - 1);
	} else if (a->padding == REFLECTION) {
		put_reflected(a, "v");
	} else {
		hn_say_text(a->s, "v");
	}
	hn_say_text(a->s, ")");
	right(a, false);
}

/* -1 where there is nothing to be read. */
static void say_index(struct along *a)
{
	left(a, a->index, true);
	hn_say_text(a->s, "let q = floor(");
	hn_say_at(a->s, a->place, a->rank, NULL, a->at);
	hn_say_text(a->s, ") + %s(t%s) in ", hn_dtype_name(a->s->g->value[a->n->in[0]].dtype),
		    a->taps == 4 ? " - 1" : "");
	if (a->padding == ZEROS) {
		hn_say_text(a->s, "select(q >= 0 && q <= %lld, int64(q), -1)",
			    (long long)a->extent - 1);
	} else if (a->padding == BORDER) {
		hn_say_text(a->s, "int64(min(max(q, 0), %lld))", (long long)a->extent - 1);
	} else {
		hn_say_text(a->s, "int64(");
		put_reflected(a, "q");
		hn_say_text(a->s, ")");
	}
	right(a, true);
}

/* Cubic ones: Keys (1981), with -0.75. */
static void say_weight(struct along *a)
{
	left(a, a->weight, true);
	hn_say_text(a->s, "let v = ");
	hn_say_at(a->s, a->place, a->rank, NULL, a->at);
	hn_say_text(a->s, " in let f = v - floor(v) in ");
	if (a->taps == 2) {
		hn_say_text(a->s, "select(t == 0, 1 - f, f)");
	} else {
		hn_say_text(a->s,
			    "let d = select(t == 0, f + 1, select(t == 1, f, select(t == 2, 1 - f,"
			    " 2 - f))) in select(t == 1 || t == 2, (1.25 * d - 2.25) * d * d + 1,"
			    " ((-0.75 * d + 3.75) * d - 6) * d + 3)");
	}
	right(a, true);
}

static void say_along(struct along *a, uint32_t d)
{
	bool align = hn_gattr_int(a->n, "align", 0) != 0;

	a->extent = a->s->g->value[a->n->in[0]].shape[2 + d];
	a->low = align ? 0 : -0.5;
	a->high = (double)a->extent - (align ? 1 : 0.5);
	a->place = hn_say_temp(a->s);
	a->index = hn_say_temp(a->s);
	say_place(a, d);
	say_index(a);
	if (a->taps > 1) {
		a->weight = hn_say_temp(a->s);
		say_weight(a);
	}
}

/* The sum over taps; what is nothing is left out. */
static void say_sum(struct hn_say *s, const struct hn_gnode *n, struct along *all, uint32_t n_dim)
{
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, n_dim + 2);
	memcpy(from, index, sizeof(from));
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " +=! ");
	for (uint32_t d = 0; d < n_dim && all[d].padding == ZEROS; d++) {
		hn_say_text(s, "%s", d > 0 ? " && " : "");
		hn_say_at(s, all[d].index, all[d].rank + 1, NULL, all[d].at);
		hn_say_text(s, " >= 0%s", d + 1 == n_dim ? " ? " : "");
	}
	for (uint32_t d = 0; d < n_dim; d++) {
		if (all[d].taps > 1) {
			hn_say_at(s, all[d].weight, all[d].rank + 1, NULL, all[d].at);
			hn_say_text(s, " * ");
		}
	}
	for (uint32_t d = 0; d < n_dim; d++) {
		hn_say_text(s, "%slet x%u = ", d == 0 ? "(" : "", d);
		hn_say_at(s, all[d].index, all[d].rank + 1, NULL, all[d].at);
		hn_say_text(s, " in ");
		snprintf(from[2 + d], sizeof(from[0]), "min(max(x%u, 0), %lld)", d,
			 (long long)all[d].extent - 1);
	}
	hn_say_load(s, n->in[0], from);
	hn_say_text(s, ")");
	hn_say_where(s, n->out[0], index);
	for (uint32_t d = 0; d < n_dim; d++) {
		hn_say_range(s, all[d].at[all[d].rank], all[d].taps);
	}
	hn_say_end(s);
}

void hn_gridsample_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t n_dim = s->g->value[n->in[0]].rank - 2;
	struct along all[3];

	for (uint32_t d = 0; d < n_dim; d++) {
		struct along *a = &all[d];

		*a = (struct along){ .s = s,
				     .n = n,
				     .rank = n_dim + 1,
				     .taps = hn_gattr_int(n, "taps", 1),
				     .padding = hn_gattr_int(n, "padding", ZEROS) };
		for (uint32_t k = 0; k <= n_dim; k++) {
			snprintf(a->at[k], sizeof(a->at[k]), "i%u", k == 0 ? 0 : k + 1);
		}
		snprintf(a->at[n_dim + 1], sizeof(a->at[0]), "t");
		say_along(a, d);
		snprintf(a->at[n_dim + 1], sizeof(a->at[0]), "t%u", d);
	}
	say_sum(s, n, all, n_dim);
}
