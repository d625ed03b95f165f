/* graph/op/resize.c -- images in other sizes, one dimension after the other.
 *
 * All that a mode, a rule of coordinates and a rounding decide is which elements a result is made of,
 * and by which weights; sizes are known, so these are tables of numbers.  A table of one element a
 * row that is linear becomes an index (`pick`), another one a gather; of several elements it is
 * `blend`: a sum over the taps k of x[index[i, k]] * weight[i, k].
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "graph/op/build.h"
#include "graph/op/rows.h"

#define LL(x) ((long long)(x))

/* How one dimension is resized. */
struct resize {
	const char *mode, *coordinates, *nearest;
	double cubic_a, otherwise; /* what lies outside of a crop */
	bool exclude_outside, antialias;
	int64_t in, out;
	double scale, start, end; /* start, end: of a crop */
};

/* -- coordinates ------------------------------------------------------------------------ */

/* Where result i lies in the operand. */
static double place(const struct resize *r, int64_t i)
{
	double x = (double)i, half = (x + 0.5) / r->scale - 0.5, in = (double)r->in;

	if (strcmp(r->coordinates, "asymmetric") == 0) {
		return x / r->scale;
	}
	if (strcmp(r->coordinates, "align_corners") == 0) {
		return r->out == 1 ? 0 : x * (in - 1) / (double)(r->out - 1);
	}
	if (strcmp(r->coordinates, "pytorch_half_pixel") == 0) {
		return r->out > 1 ? half : 0;
	}
	if (strcmp(r->coordinates, "half_pixel_symmetric") == 0) {
		return in / 2 * (1 - (double)r->out / (r->scale * in)) + half;
	}
	if (strcmp(r->coordinates, "tf_crop_and_resize") == 0) {
		return r->out > 1 ? r->start * (in - 1) + x * (r->end - r->start) *
								  (in - 1) /
								  (double)(r->out - 1)
				  : 0.5 * (r->start + r->end) * (in - 1);
	}
	return half;
}

static bool is_known(const struct resize *r)
{
	static const char *const modes[] = { "nearest", "linear", "cubic", "bilinear" };
	static const char *const coordinates[] = {
		"half_pixel",	      "asymmetric",	    "align_corners",
		"pytorch_half_pixel", "tf_crop_and_resize", "half_pixel_symmetric",
	};
	static const char *const nearest[] = { "floor", "ceil", "round_prefer_floor",
					       "round_prefer_ceil" };
	int known = 0;

	for (size_t i = 0; i < HN_COUNT_OF(modes); i++) {
		known += strcmp(modes[i], r->mode) == 0;
	}
	for (size_t i = 0; i < HN_COUNT_OF(coordinates); i++) {
		known += strcmp(coordinates[i], r->coordinates) == 0;
	}
	for (size_t i = 0; i < HN_COUNT_OF(nearest); i++) {
		known += strcmp(nearest[i], r->nearest) == 0;
	}
	return known == 3;
}

/* -- tables ----------------------------------------------------------------------------- */

static int64_t clamp(double v, int64_t n)
{
	return v < 0 ? 0 : v > (double)(n - 1) ? n - 1 : (int64_t)v;
}

static int64_t nearest(const struct resize *r, double x)
{
	if (strcmp(r->nearest, "floor") == 0) {
		return clamp(floor(x), r->in);
	}
	if (strcmp(r->nearest, "ceil") == 0) {
		return clamp(ceil(x), r->in);
	}
	return clamp(strcmp(r->nearest, "round_prefer_ceil") == 0 ? floor(x + 0.5)
								  : ceil(x - 0.5),
		     r->in);
}

/* The weight of an element at distance d. */
static double kernel(const struct resize *r, double d)
{
	double a = r->cubic_a;

	d = fabs(d);
	if (*r->mode != 'c') {
		return d < 1 ? 1 - d : 0;
	}
	return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
	       : d < 2 ? a * (((d - 5) * d + 8) * d - 4)
		       : 0;
}

/* By how much distances count less: a smaller image without aliases is made of more elements. */
static double narrowing(const struct resize *r)
{
	return r->antialias && r->scale < 1 ? r->scale : 1;
}

static int64_t taps(const struct resize *r)
{
	return 2 * (int64_t)ceil((*r->mode == 'c' ? 2 : 1) / narrowing(r));
}

/* The elements and weights of result i. */
static void put_taps(const struct resize *r, int64_t i, int64_t n, int64_t *index,
		     double *weight)
{
	double x = place(r, i), first = floor(x) - (double)(n / 2 - 1), sum = 0;

	for (int64_t k = 0; k < n; k++) {
		double at = first + (double)k;
		bool outside = at < 0 || at > (double)(r->in - 1);

		index[k] = clamp(at, r->in);
		weight[k] = r->exclude_outside && outside
				    ? 0
				    : kernel(r, (at - x) * narrowing(r));
		sum += weight[k];
	}
	for (int64_t k = 0; k < n; k++) {
		weight[k] /= sum;
	}
}

/* -- one dimension ---------------------------------------------------------------------- */

/* Numbers mul, add, div with index[i] = (i * mul + add) / div, where there are such. */
static bool is_linear(const struct resize *r, const int64_t *index, int64_t ret[3])
{
	int64_t common = hn_gcd(r->in, r->out), mul = r->in / common,
		div = r->out / common;
	int64_t low = 0, high = div - 1;

	for (int64_t i = 0; i < r->out; i++) {
		int64_t least = index[i] * div - i * mul;

		low = least > low ? least : low;
		high = least + div - 1 < high ? least + div - 1 : high;
	}
	ret[0] = mul;
	ret[1] = low;
	ret[2] = div;
	return low <= high;
}

static int32_t list(struct hn_graph *g, enum hn_dtype t, int64_t n, int64_t k,
		    const void *data)
{
	int64_t *shape = HN_NEW_ARRAY(g->arena, int64_t, 2);

	shape[0] = n;
	shape[1] = k;
	return hn_graph_const(g, g->at, t, k == 0 ? 1 : 2, shape, data, false);
}

static int32_t resize_nearest(struct hn_graph *g, int32_t v, uint32_t axis,
			      const struct resize *r)
{
	int64_t *index = HN_NEW_ARRAY(g->arena, int64_t, (size_t)r->out), linear[3];
	struct hn_gattr attr[] = { hn_gattr_of_int(g->arena, "axis", axis),
				   hn_gattr_of_ints("linear", 3, linear),
				   hn_gattr_of_ints("count", 1, &r->out) };

	for (int64_t i = 0; i < r->out; i++) {
		index[i] = nearest(r, place(r, i));
	}
	if (is_linear(r, index, linear)) {
		return hn_graph_add(g, "pick", 1, &v, 3, attr);
	}
	return hn_graph_add(g, "Gather", 2,
			    (int32_t[]){ v, list(g, HN_I64, r->out, 0, index) }, 1, attr);
}

static int32_t resize_smooth(struct hn_graph *g, int32_t v, uint32_t axis,
			     const struct resize *r)
{
	int64_t k = taps(r),
		*index = HN_NEW_ARRAY(g->arena, int64_t, (size_t)(r->out * k));
	double *weight = HN_NEW_ARRAY(g->arena, double, (size_t)(r->out * k));
	struct hn_gattr attr = hn_gattr_of_int(g->arena, "axis", axis);
	int32_t w;

	for (int64_t i = 0; i < r->out; i++) {
		put_taps(r, i, k, index + i * k, weight + i * k);
	}
	w = hn_cast_to(g, list(g, HN_F64, r->out, k, weight), g->value[v].dtype);
	return hn_graph_add(g, "blend", 3,
			    (int32_t[]){ v, list(g, HN_I64, r->out, k, index), w }, 1,
			    &attr);
}

/* What lies outside of a crop is one number. */
static int32_t fill_outside(struct hn_graph *g, int32_t v, uint32_t axis,
			    const struct resize *r)
{
	bool *inside = HN_NEW_ARRAY(g->arena, bool, (size_t)r->out), all = true;
	int32_t mask, number;

	for (int64_t i = 0; i < r->out; i++) {
		double x = place(r, i);

		inside[i] = x >= 0 && x <= (double)(r->in - 1);
		all &= inside[i];
	}
	if (v < 0 || all || strcmp(r->coordinates, "tf_crop_and_resize") != 0) {
		return v;
	}
	mask = hn_along(g, list(g, HN_BOOL, r->out, 0, inside), axis, g->value[v].rank);
	number = hn_graph_scalar(g, g->value[v].dtype, r->otherwise);
	return hn_graph_add(g, "Where", 3, (int32_t[]){ mask, v, number }, 0, NULL);
}

static int32_t resize_axis(struct hn_graph *g, int32_t v, uint32_t axis,
			   const struct resize *r)
{
	bool near = strcmp(r->mode, "nearest") == 0;

	if (v < 0 || (r->in == r->out && r->scale == 1 &&
		      strcmp(r->coordinates, "tf_crop_and_resize") != 0)) {
		return v;
	}
	if (r->in < 1 || r->out < 1 || r->out > INT32_MAX || !(r->scale > 1e-6) ||
	    !hn_graph_afford(g, hn_mul_sat(r->out, 32 * (near ? 1 : taps(r))))) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED,
				     "Resize of %lld to %lld elements", LL(r->in),
				     LL(r->out));
	}
	if (!near && !hn_is_float(&g->value[v])) {
		return hn_graph_fail(g, HONE_E_UNSUPPORTED, "Resize: mode %s of %s",
				     r->mode, hn_dtype_name(g->value[v].dtype));
	}
	v = near ? resize_nearest(g, v, axis, r) : resize_smooth(g, v, axis, r);
	return fill_outside(g, v, axis, r);
}

/* -- the operator ----------------------------------------------------------------------- */

/* Numbers of a constant operand, of any type; false after hn_graph_fail. */
static bool read_numbers(const struct hn_gcall *c, uint32_t i, uint32_t n, double *ret)
{
	const struct hn_gvalue *v = hn_gcall_in(c, i);

	for (uint32_t k = 0; k < n; k++) {
		if (v == NULL || hn_gvalue_elements(v) != n ||
		    !hn_gvalue_number(v, k, &ret[k])) {
			hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
				      "%s: operand %u is not a constant of %u numbers: "
				      "shapes have "
				      "to be known",
				      c->node->op->name, i, n);
			return false;
		}
	}
	return true;
}

static bool has_elements(const struct hn_gcall *c, uint32_t i)
{
	return hn_gcall_in(c, i) != NULL && hn_gvalue_elements(hn_gcall_in(c, i)) > 0;
}

/* Sizes that keep the image's proportions: one scale for all dimensions. */
static void keep_proportions(const char *policy, uint32_t n, struct resize *r)
{
	bool larger = strcmp(policy, "not_smaller") == 0;
	double scale = r[0].scale;

	if (!larger && strcmp(policy, "not_larger") != 0) {
		return;
	}
	for (uint32_t k = 1; k < n; k++) {
		scale = (r[k].scale > scale) == larger ? r[k].scale : scale;
	}
	for (uint32_t k = 0; k < n; k++) {
		r[k].scale = scale;
		r[k].out = (int64_t)floor(scale * (double)r[k].in + 0.5);
	}
}

/* In float32, as a scale is one: 0.7 of 10 is 7. */
static int64_t scaled_size(int64_t in, double scale)
{
	float out = floorf((float)in * (float)scale);

	return out >= 0 && out < 1e12f ? (int64_t)out : 0;
}

/* Scales or sizes of n dimensions, from operands first + 0 and first + 1. */
static bool read_sizes(const struct hn_gcall *c, uint32_t first, uint32_t n,
		       struct resize *r)
{
	bool scales = has_elements(c, first), sizes = has_elements(c, first + 1);
	double v[HN_GRAPH_MAX_RANK];

	if (!read_numbers(c, scales || !sizes ? first : first + 1, n, v)) {
		return false;
	}
	for (uint32_t k = 0; k < n; k++) {
		if (!(v[k] > 0 && v[k] <= INT32_MAX)) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%s by %g", c->node->op->name,
				      v[k]);
			return false;
		}
		r[k].scale = scales ? v[k] : v[k] / (double)r[k].in;
		r[k].out = scales ? scaled_size(r[k].in, v[k]) : (int64_t)v[k];
	}
	if (!scales) {
		keep_proportions(
			hn_gattr_string(c->node, "keep_aspect_ratio_policy", "stretch"),
			n, r);
	}
	return true;
}

static void set_rules(const struct hn_gcall *c, struct resize *r)
{
	bool old = c->g->opset < 11;

	r->mode = hn_gattr_string(c->node, "mode", "nearest");
	r->coordinates = hn_gattr_string(c->node, "coordinate_transformation_mode",
					 old ? "asymmetric" : "half_pixel");
	r->nearest = hn_gattr_string(c->node, "nearest_mode",
				     old ? "floor" : "round_prefer_floor");
	r->cubic_a = hn_gattr_float(c->node, "cubic_coeff_a", -0.75);
	r->otherwise = hn_gattr_float(c->node, "extrapolation_value", 0);
	r->exclude_outside = hn_gattr_int(c->node, "exclude_outside", 0) != 0;
	r->antialias = hn_gattr_int(c->node, "antialias", 0) != 0;
}

/* The part of the operand that is taken: of n dimensions starts, then ends. */
static bool read_crop(const struct hn_gcall *c, uint32_t n, struct resize *r)
{
	double v[2 * HN_GRAPH_MAX_RANK];

	if (strcmp(r[0].coordinates, "tf_crop_and_resize") != 0) {
		return true;
	}
	if (hn_gcall_in(c, 1) == NULL) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "Resize without its part of the operand");
		return false;
	}
	if (!read_numbers(c, 1, 2 * n, v)) {
		return false;
	}
	for (uint32_t k = 0; k < n; k++) {
		r[k].start = v[k];
		r[k].end = v[n + k];
	}
	return true;
}

static int32_t resize(const struct hn_gcall *c, uint32_t n, const uint32_t *axis,
		      struct resize *r)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t v = hn_gcall_arg(c, 0);

	if (n > 0 && !is_known(&r[0])) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%s: %s, %s, %s",
				     c->node->op->name, r[0].mode, r[0].coordinates,
				     r[0].nearest);
	}
	v = n > 0 && strcmp(r[0].mode, "nearest") != 0 ? hn_widened(c->g, v) : v;
	for (uint32_t k = 0; k < n; k++) {
		v = resize_axis(c->g, v, axis[k], &r[k]);
	}
	return hn_cast_to(c->g, v, x->dtype);
}

/* Version 10 has operands x and scales; later ones a crop between. */
int32_t hn_resize_expand(const struct hn_gcall *c)
{
	struct resize r[HN_GRAPH_MAX_RANK] = { { .mode = "" } };
	const struct hn_gattr *axes = hn_gattr_find(c->node, "axes");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	uint32_t n = axes != NULL ? axes->n : x->rank, axis[HN_GRAPH_MAX_RANK];

	if (n > x->rank) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "Resize of %u dimensions of %u", n, x->rank);
	}
	for (uint32_t k = 0; k < n; k++) {
		if (!hn_gcall_axis(c, axes != NULL ? axes->i[k] : k, x->rank, &axis[k])) {
			return HN_BAD;
		}
		set_rules(c, &r[k]);
		r[k].in = x->shape[axis[k]];
		if (r[k].in < 1) {
			return hn_graph_fail(c->g, HONE_E_UNSUPPORTED,
					     "Resize of a tensor without elements");
		}
	}
	if (n > 0 &&
	    (!read_crop(c, n, r) || !read_sizes(c, c->g->opset < 11 ? 1 : 2, n, r))) {
		return HN_BAD;
	}
	return resize(c, n, axis, r);
}

/* Scales are an attribute before version 9. */
int32_t hn_upsample_expand(const struct hn_gcall *c)
{
	struct resize r[HN_GRAPH_MAX_RANK] = { { .mode = "" } };
	const struct hn_gattr *scales = hn_gattr_find(c->node, "scales");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	uint32_t axis[HN_GRAPH_MAX_RANK];
	double v[HN_GRAPH_MAX_RANK];

	if (scales != NULL ? scales->kind != HN_GATTR_FLOATS || scales->n != x->rank
			   : hn_gcall_in(c, 1) == NULL) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Upsample without %u scales",
				     x->rank);
	}
	if (scales == NULL && !read_numbers(c, 1, x->rank, v)) {
		return HN_BAD;
	}
	for (uint32_t k = 0; k < x->rank; k++) {
		axis[k] = k;
		set_rules(c, &r[k]);
		r[k].coordinates = "asymmetric";
		r[k].nearest = "floor";
		r[k].in = x->shape[k];
		r[k].scale = scales != NULL ? scales->f[k] : v[k];
		r[k].out = scaled_size(r[k].in, r[k].scale);
	}
	return resize(c, x->rank, axis, r);
}

/* -- pick: axis, linear, count ---------------------------------------------------------- */

bool hn_pick_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	if (!hn_same_infer(c, ret)) {
		return false;
	}
	ret->dim[hn_gattr_int(c->node, "axis", 0)] = hn_gattr_int(c->node, "count", 0);
	return true;
}

void hn_pick_say(struct hn_say *s, const struct hn_gnode *n)
{
	const int64_t *linear = hn_gattr_find(n, "linear")->i;
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, s->g->value[n->out[0]].rank);
	memcpy(from, index, sizeof(index));
	snprintf(from[axis], sizeof(from[axis]), "(i%u * %lld + %lld) / %lld", axis,
		 LL(linear[0]), LL(linear[1]), LL(linear[2]));
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- blend: axis; of x, index [out, taps], weight [out, taps] ----------------------------- */

bool hn_blend_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	if (!hn_same_infer(c, ret)) {
		return false;
	}
	ret->dim[hn_gattr_int(c->node, "axis", 0)] = hn_gcall_in(c, 1)->shape[0];
	return true;
}

void hn_blend_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *at = &s->g->value[n->in[1]];
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK],
		tap[2] = { "", "k" };

	hn_say_indices(index, x->rank);
	memcpy(from, index, sizeof(index));
	memcpy(tap[0], index[axis], sizeof(tap[0]));
	snprintf(from[axis], sizeof(from[axis]), "min(max(t, 0), %lld)",
		 LL(x->shape[axis] - 1));
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " +=! let t = ");
	hn_say_load(s, n->in[1], tap);
	hn_say_text(s, " in ");
	hn_say_load(s, n->in[0], from);
	hn_say_text(s, " * ");
	hn_say_load(s, n->in[2], tap);
	hn_say_where(s, n->out[0], index);
	hn_say_range(s, "k", at->shape[1]);
	hn_say_end(s);
}
