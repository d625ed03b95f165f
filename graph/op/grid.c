/* graph/op/grid.c -- GridSample: an image read at places that data say, between its elements.
 *
 * `grid_sample` takes an image [N,C,elements] and a grid [N,o..,n], both of one type of floats.  Its
 * attributes: extents, of the image; taps, the elements read along a dimension (1 nearest, 2 linear,
 * 4 cubic); padding (0 zeros: the image has one element more, which is 0; 1 border, 2 reflection);
 * align.  Which elements a place reads, and their weights, are the same for all channels: so they
 * come first, and then a sum over taps.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

#define LL(x) ((long long)(x))
#define MOST_DIMS 3

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

/* The operands as the template has them. */
static int32_t sampled(const struct hn_gcall *c, int64_t taps, int64_t padding)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t align = hn_gattr_int(c->node, "align_corners", 0) != 0;
	int64_t flat[3] = { x->shape[0], x->shape[1], 1 };
	const int64_t before[3] = { 0 }, after[3] = { 0, 0, 1 };
	struct hn_gattr attr[] = { hn_gattr_of_ints("extents", x->rank - 2, x->shape + 2),
				   hn_gattr_of_ints("taps", 1, &taps),
				   hn_gattr_of_ints("padding", 1, &padding),
				   hn_gattr_of_ints("align", 1, &align) };
	struct hn_gattr pad[] = { hn_gattr_of_ints("before", 3, before),
				  hn_gattr_of_ints("after", 3, after),
				  hn_attr_string("mode", "constant") };
	int32_t in[2] = { hn_widened(c->g, hn_gcall_arg(c, 0)) };

	for (uint32_t d = 2; d < x->rank; d++) {
		flat[2] *= x->shape[d];
	}
	in[0] = hn_reshaped(c->g, in[0], 3, flat);
	if (in[0] < 0 || flat[2] >= INT32_MAX) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "GridSample of 2^31 elements");
	}
	enum hn_dtype type = (enum hn_dtype)c->g->value[in[0]].dtype;

	if (padding == ZEROS) {
		in[1] = hn_graph_scalar(c->g, type, 0);
		in[0] = hn_graph_add(c->g, "pad", 2, in, 3, pad);
	}
	in[1] = hn_cast_to(c->g, hn_gcall_arg(c, 1), type);
	return hn_cast_to(c->g, hn_graph_add(c->g, "grid_sample", 2, in, 4, attr), x->dtype);
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
	return sampled(c, n_taps[k], padding);
}

bool hn_gridsample_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *grid = hn_gcall_in(c, 1);

	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = grid->rank };
	memcpy(ret->dim, x->shape, 2 * sizeof(*x->shape));
	memcpy(ret->dim + 2, grid->shape + 1, (grid->rank - 2) * sizeof(*x->shape));
	return true;
}

/* -- the template ----------------------------------------------------------------------- */

struct sample {
	struct hn_say *s;
	const struct hn_gnode *n;
	const struct hn_gvalue *y;
	uint32_t n_dim;
	const int64_t *extent; /* [n_dim] of the image */
	int64_t taps, padding, n_element;
	double low[MOST_DIMS], high[MOST_DIMS]; /* ends of the image */
	hn_say_index place[HN_GRAPH_MAX_RANK];	/* i0 and the result's from the third on */
	hn_say_index tap[HN_GRAPH_MAX_RANK];	/* i0, the taps, and the others */
	uint32_t at[MOST_DIMS], element, weight; /* temps */
};

static void put_place(struct sample *a, uint32_t d)
{
	hn_say_at(a->s, a->at[d], a->n_dim + 1, NULL, a->place);
}

/* The end of a statement on places; of their taps, too. */
static void end(struct sample *a, bool taps)
{
	for (uint32_t d = 0; d <= a->n_dim; d++) {
		hn_say_range(a->s, a->place[d], a->y->shape[d == 0 ? 0 : d + 1]);
	}
	for (uint32_t d = 0; d < a->n_dim && taps; d++) {
		hn_say_range(a->s, a->tap[1 + d], a->taps);
	}
	hn_say_end(a->s);
}

/* v thrown back at both ends, as often as it takes. */
static void put_reflected(struct sample *a, uint32_t d, const char *v)
{
	double low = a->low[d], high = a->high[d], range = high - low;

	if (range <= 0) {
		hn_say_text(a->s, "(%s * 0 + %.1f)", v, low);
		return;
	}
	hn_say_text(a->s,
		    "(let r = abs(%s - %.1f) in let n = floor(r / %.1f) in"
		    " select(n - 2 * floor(n / 2) == 0, r - n * %.1f + %.1f, %.1f - (r - n * %.1f)))",
		    v, low, range, range, low, high, range);
}

static void say_place(struct sample *a, uint32_t d)
{
	bool align = hn_gattr_int(a->n, "align", 0) != 0;
	hn_say_index at[HN_GRAPH_MAX_RANK];

	memcpy(at, a->place, sizeof(at));
	snprintf(at[a->n_dim + 1], sizeof(at[0]), "%u", a->n_dim - 1 - d); /* the last one first */
	a->at[d] = hn_say_temp(a->s);
	a->low[d] = align ? 0 : -0.5;
	a->high[d] = (double)a->extent[d] - (align ? 1 : 0.5);
	hn_say_text(a->s, "\t");
	put_place(a, d);
	hn_say_text(a->s, " = let v = %s(%s", a->taps == 1 ? "nearbyint" : "", align ? "(" : "((");
	hn_say_load(a->s, a->n->in[1], at);
	if (align) {
		hn_say_text(a->s, " + 1) / 2 * %lld) in ", LL(a->extent[d] - 1));
	} else {
		hn_say_text(a->s, " + 1) * %lld - 1) / 2) in ", LL(a->extent[d]));
	}
	hn_say_text(a->s, "select(v >= %.1f && v <= %.1f, v, ", a->low[d], a->high[d]);
	if (a->padding == BORDER) {
		hn_say_text(a->s, "min(max(v, 0), %lld)", LL(a->extent[d] - 1));
	} else if (a->padding == REFLECTION) {
		put_reflected(a, d, "v");
	} else {
		hn_say_text(a->s, "v");
	}
	hn_say_text(a->s, ")");
	end(a, false);
}

/* "let q1 = index in ", of the tap in dimension d. */
static void put_index(struct sample *a, uint32_t d)
{
	char v[16];

	snprintf(v, sizeof(v), "v%u", d);
	hn_say_text(a->s, "let %s = floor(", v);
	put_place(a, d);
	hn_say_text(a->s, ") + %s(%s%s) in let q%u = ", hn_dtype_name((enum hn_dtype)a->y->dtype),
		    a->tap[1 + d], a->taps == 4 ? " - 1" : "", d);
	if (a->padding == BORDER) {
		hn_say_text(a->s, "min(max(%s, 0), %lld)", v, LL(a->extent[d] - 1));
	} else if (a->padding == REFLECTION) {
		put_reflected(a, d, v);
	} else {
		hn_say_text(a->s, "%s", v);
	}
	hn_say_text(a->s, " in ");
}

static void say_elements(struct sample *a)
{
	a->element = hn_say_temp(a->s);
	hn_say_text(a->s, "\t");
	hn_say_at(a->s, a->element, 2 * a->n_dim + 1, NULL, a->tap);
	hn_say_text(a->s, " = ");
	for (uint32_t d = 0; d < a->n_dim; d++) {
		put_index(a, d);
	}
	hn_say_text(a->s, a->padding == ZEROS ? "select(" : "(");
	for (uint32_t d = 0; d < a->n_dim && a->padding == ZEROS; d++) {
		hn_say_text(a->s, "q%u >= 0 && q%u <= %lld%s", d, d, LL(a->extent[d] - 1),
			    d + 1 < a->n_dim ? " && " : ", ");
	}
	for (uint32_t d = 0; d + 1 < a->n_dim; d++) {
		hn_say_text(a->s, "(");
	}
	for (uint32_t d = 0; d < a->n_dim; d++) {
		if (d > 0) {
			hn_say_text(a->s, " * %lld + int32(q%u))", LL(a->extent[d]), d);
		} else {
			hn_say_text(a->s, "int32(q0)");
		}
	}
	if (a->padding == ZEROS) {
		hn_say_text(a->s, ", %lld", LL(a->n_element - 1));
	}
	hn_say_text(a->s, ")");
	end(a, true);
}

/* Cubic ones: Keys (1981), with -0.75. */
static void put_weight(struct sample *a, uint32_t d)
{
	const char *t = a->tap[1 + d];

	hn_say_text(a->s, "(let v = ");
	put_place(a, d);
	hn_say_text(a->s, " in let f = v - floor(v) in ");
	if (a->taps == 2) {
		hn_say_text(a->s, "select(%s == 0, 1 - f, f))", t);
		return;
	}
	hn_say_text(a->s,
		    "let d = select(%s == 0, f + 1, select(%s == 1, f, select(%s == 2, 1 - f, 2 - f)))"
		    " in select(%s == 1 || %s == 2, (1.25 * d - 2.25) * d * d + 1,"
		    " ((-0.75 * d + 3.75) * d - 6) * d + 3))", t, t, t, t, t);
}

static void say_weights(struct sample *a)
{
	a->weight = hn_say_temp(a->s);
	hn_say_text(a->s, "\t");
	hn_say_at(a->s, a->weight, 2 * a->n_dim + 1, NULL, a->tap);
	for (uint32_t d = 0; d < a->n_dim; d++) {
		hn_say_text(a->s, d == 0 ? " = " : " * ");
		put_weight(a, d);
	}
	end(a, true);
}

static void say_sum(struct sample *a)
{
	hn_say_index index[HN_GRAPH_MAX_RANK], from[3] = { "i0", "i1", "" };

	hn_say_indices(index, a->n_dim + 2);
	snprintf(from[2], sizeof(from[2]), "min(max(e, 0), %lld)", LL(a->n_element - 1));
	hn_say_left(a->s, a->n->out[0], index);
	hn_say_text(a->s, " +=! ");
	if (a->taps > 1) {
		hn_say_at(a->s, a->weight, 2 * a->n_dim + 1, NULL, a->tap);
		hn_say_text(a->s, " * ");
	}
	hn_say_text(a->s, "(let e = ");
	hn_say_at(a->s, a->element, 2 * a->n_dim + 1, NULL, a->tap);
	hn_say_text(a->s, " in ");
	hn_say_load(a->s, a->n->in[0], from);
	hn_say_text(a->s, ")");
	hn_say_where(a->s, a->n->out[0], index);
	for (uint32_t d = 0; d < a->n_dim; d++) {
		hn_say_range(a->s, a->tap[1 + d], a->taps);
	}
	hn_say_end(a->s);
}

void hn_gridsample_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gattr *extents = hn_gattr_find(n, "extents");
	struct sample a = { .s = s,
			    .n = n,
			    .y = &s->g->value[n->out[0]],
			    .n_dim = extents->n,
			    .extent = extents->i,
			    .taps = hn_gattr_int(n, "taps", 1),
			    .padding = hn_gattr_int(n, "padding", ZEROS),
			    .n_element = s->g->value[n->in[0]].shape[2] };

	snprintf(a.place[0], sizeof(a.place[0]), "i0");
	snprintf(a.tap[0], sizeof(a.tap[0]), "i0");
	for (uint32_t d = 0; d < a.n_dim; d++) {
		snprintf(a.place[1 + d], sizeof(a.place[0]), "i%u", d + 2);
		snprintf(a.tap[1 + d], sizeof(a.tap[0]), "t%u", d);
		snprintf(a.tap[1 + a.n_dim + d], sizeof(a.tap[0]), "i%u", d + 2);
	}
	for (uint32_t d = 0; d < a.n_dim; d++) {
		say_place(&a, d);
	}
	say_elements(&a);
	if (a.taps > 1) {
		say_weights(&a);
	}
	say_sum(&a);
}
