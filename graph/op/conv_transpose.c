/* graph/op/conv_transpose.c -- the transpose of a convolution.
 *
 * `conv_transpose` is written as a convolution of stride 1: the operand's elements are set `stride`
 * apart, zeros between and around, and the kernel is read backwards.  X is [N, C, spatial...], W is
 * [C, M / groups, kernel...].
 */
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/sum.h"
#include "graph/op/window.h"

#define LL(x) ((long long)(x))

static bool check(const struct hn_gcall *c, int64_t group)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *w = hn_gcall_in(c, 1);
	const struct hn_gvalue *bias = hn_gcall_in(c, 2);
	bool fits = x->rank >= 3 && w->rank == x->rank && group >= 1 &&
		    x->shape[1] == w->shape[0] && w->shape[0] % group == 0;

	fits = fits && (bias == NULL ||
			hn_gvalue_elements(bias) == hn_mul_sat(w->shape[1], group));
	if (!fits) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "ConvTranspose: %s, weights %s and %lld groups do not fit",
			      hn_shape_text(c->g->arena, x->rank, x->shape),
			      hn_shape_text(c->g->arena, w->rank, w->shape), LL(group));
	}
	return fits;
}

/* How the padding is dealt out that a size of the result asks for. */
static void pad_to(const struct hn_gcall *c, struct hn_window *w, uint32_t d,
		   int64_t full, int64_t size)
{
	const char *how = hn_gattr_string(c->node, "auto_pad", "NOTSET");
	int64_t total = full > size ? full - size : 0;

	w->before[d] = strcmp(how, "SAME_UPPER") == 0 ? total / 2 : total - total / 2;
	w->after[d] = total - w->before[d];
	w->out[d] = size;
}

static bool find_sizes(const struct hn_gcall *c, struct hn_window *w)
{
	const char *how = hn_gattr_string(c->node, "auto_pad", "NOTSET");
	const struct hn_gattr *shape = hn_gattr_find(c->node, "output_shape");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t more[HN_WINDOW_DIMS];

	if (!hn_window_list(c, "output_padding", w->n, 0, 0, more)) {
		return false;
	}
	if (shape != NULL && shape->n != w->n && shape->n != w->n + 2) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "ConvTranspose: output_shape of %u numbers", shape->n);
		return false;
	}
	for (uint32_t d = 0; d < w->n; d++) {
		int64_t in = x->shape[d + 2];
		int64_t full = hn_add_sat(hn_mul_sat(in - 1, w->stride[d]),
					  hn_add_sat(hn_window_reach(w, d), more[d]));

		if (shape != NULL) {
			pad_to(c, w, d, full, shape->i[shape->n - w->n + d]);
		} else if (strncmp(how, "SAME", 4) == 0) {
			pad_to(c, w, d, full, hn_mul_sat(in, w->stride[d]));
		} else {
			w->out[d] = full - w->before[d] - w->after[d];
		}
		if (w->out[d] < 1 || w->out[d] > HN_GRAPH_MAX_ELEMENTS) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "ConvTranspose to %lld elements", LL(w->out[d]));
			return false;
		}
	}
	return true;
}

int32_t hn_convtranspose_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *w = hn_gcall_in(c, 1);
	int64_t group = hn_gattr_int(c->node, "group", 1);
	struct hn_gattr attr[HN_WINDOW_ATTRS + 1];
	struct hn_window window;
	int32_t y;

	if (!check(c, group) || !hn_window_rules(c, x, w->shape + 2, &window) ||
	    !find_sizes(c, &window)) {
		return HN_BAD;
	}
	hn_window_put(&window, attr);
	attr[HN_WINDOW_ATTRS] = hn_gattr_of_ints("group", 1, &group);
	y = hn_graph_add(c->g, "conv_transpose", 2, c->node->in, HN_WINDOW_ATTRS + 1,
			 attr);
	return hn_gcall_in(c, 2) == NULL
		       ? y
		       : hn_graph_2(c->g, "Add", y,
				    hn_along(c->g, hn_gcall_arg(c, 2), 1, x->rank));
}

bool hn_convtranspose_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *w = hn_gcall_in(c, 1);
	struct hn_window window;
	enum hn_dtype t;

	if (x->dtype != w->dtype || !hn_is_float(x)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "ConvTranspose of %s and %s",
			      hn_dtype_name(x->dtype), hn_dtype_name(w->dtype));
		return false;
	}
	t = hn_sum_result(c->node, x->dtype, w->dtype);
	hn_window_get(c->node, &window);
	*ret = (struct hn_gshape){ .dtype = (uint8_t)t, .rank = x->rank };
	ret->dim[0] = x->shape[0];
	ret->dim[1] = hn_mul_sat(w->shape[1], hn_gattr_int(c->node, "group", 1));
	for (uint32_t d = 0; d < window.n; d++) {
		ret->dim[d + 2] = window.out[d];
	}
	return true;
}

/* Place z of dimension d as the operand's place, `stride` apart: "(i2 - 3)". */
static void place(hn_say_index *ret, const struct hn_window *w, uint32_t d)
{
	int64_t front = hn_window_reach(w, d) - 1 - w->before[d];

	if (front == 0) {
		snprintf(*ret, sizeof(*ret), "i%u", d + 2);
	} else {
		snprintf(*ret, sizeof(*ret), "(i%u %c %lld)", d + 2,
			 front > 0 ? '-' : '+', LL(front > 0 ? front : -front));
	}
}

/* The operand with its zeros: returns its tensor. */
static uint32_t put_apart(struct hn_say *s, const struct hn_gnode *n,
			  const struct hn_window *w)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *y = &s->g->value[n->out[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK], at;
	uint32_t temp = hn_say_temp(s);
	const char *sign = " = ";

	hn_say_indices(index, x->rank);
	memcpy(from, index, sizeof(index));
	hn_say_text(s, "\t");
	hn_say_at(s, temp, x->rank, y->order, index);
	for (uint32_t d = 0; d < w->n; d++) {
		place(&at, w, d);
		hn_say_text(s, "%s%s >= 0 && %s < %lld", sign, at, at,
			    LL((x->shape[d + 2] - 1) * w->stride[d] + 1));
		sign = " && ";
		snprintf(from[d + 2], sizeof(from[0]), "%.100s", at);
		if (w->stride[d] != 1) {
			hn_say_text(s, " && %s %% %lld == 0", at, LL(w->stride[d]));
			snprintf(from[d + 2], sizeof(from[0]), "%.100s / %lld", at,
				 LL(w->stride[d]));
		}
	}
	hn_say_text(s, " ? ");
	hn_say_load(s, n->in[0], from);
	hn_say_text(s, " : ");
	hn_say_number(s, x->dtype, 0);
	for (uint32_t d = 0; d < x->rank; d++) {
		hn_say_range(s, index[d],
			     d < 2 ? x->shape[d]
				   : w->out[d - 2] + hn_window_reach(w, d - 2) - 1);
	}
	hn_say_end(s);
	return temp;
}

void hn_convtranspose_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *w = &s->g->value[n->in[1]];
	int64_t group = hn_gattr_int(n, "group", 1), per_in = x->shape[1] / group;
	hn_say_index index[HN_GRAPH_MAX_RANK], at[HN_GRAPH_MAX_RANK], channel = "c";
	struct hn_window window, one;
	uint32_t temp, apart;

	hn_window_get(n, &window);
	apart = put_apart(s, n, &window);
	one = window;
	hn_say_indices(index, x->rank);
	if (group > 1) {
		snprintf(channel, sizeof(channel), "i1 / %lld * %lld + c",
			 LL(w->shape[1]), LL(per_in));
	}
	for (uint32_t d = 0; d < window.n; d++) {
		one.stride[d] = 1;
		snprintf(at[d + 2], sizeof(at[0]), "%lld - k%u", LL(window.kernel[d] - 1),
			 d);
		if (window.kernel[d] == 1) {
			snprintf(at[d + 2], sizeof(at[0]), "0");
		}
	}
	snprintf(at[0], sizeof(at[0]), "%.200s", channel);
	snprintf(at[1], sizeof(at[1]), group > 1 ? "i1 %% %lld" : "i1", LL(w->shape[1]));
	temp = hn_sum_left(s, n->out[0], index);
	hn_say_text(s, " +=! ");
	hn_sum_open(s, n->out[0], x->dtype);
	hn_window_load(s, n->in[0], apart, &one, s->g->value[n->out[0]].order, "i0",
		       channel);
	hn_sum_close(s, n->out[0], x->dtype);
	hn_say_text(s, " * ");
	hn_sum_open(s, n->out[0], w->dtype);
	hn_say_load(s, n->in[1], at);
	hn_sum_close(s, n->out[0], w->dtype);
	hn_say_where(s, n->out[0], index);
	hn_window_ranges(s, &window);
	hn_say_range(s, "c", per_in);
	hn_say_end(s);
	hn_sum_end(s, n->out[0], temp, index);
}
