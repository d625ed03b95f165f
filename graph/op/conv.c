/* graph/op/conv.c -- convolutions.
 *
 * `conv` has the attributes of a window (window.h), group, and padding: the number around the
 * operand.  X is [N, C, spatial...], W is [M, C / groups, kernel...]: ONNX's.  Where things lie in memory is
 * a matter of layouts (graph/layout.h).
 */
#include <stdio.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"
#include "graph/op/sum.h"
#include "graph/op/window.h"

static bool check(const struct hn_gcall *c, const struct hn_gvalue *x,
		  const struct hn_gvalue *w, int64_t group)
{
	if (x->rank < 3 || w->rank != x->rank) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s of %u and %u dimensions",
			      c->node->op->name, x->rank, w->rank);
		return false;
	}
	if (group < 1 || w->shape[0] % group != 0 || x->shape[1] != w->shape[1] * group) {
		hn_graph_fail(c->g, HONE_E_INVALID,
			      "%s: %lld channels, weights %s and %lld groups do not fit",
			      c->node->op->name, (long long)x->shape[1],
			      hn_shape_text(c->g->arena, w->rank, w->shape),
			      (long long)group);
		return false;
	}
	return true;
}

int32_t hn_conv_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *w = hn_gcall_in(c, 1);
	struct hn_gattr attr[HN_WINDOW_ATTRS + 2];
	int64_t group = hn_gattr_int(c->node, "group", 1);
	int64_t padding = hn_gattr_int(c->node, "padding", 0);
	struct hn_window window;
	int32_t y;

	if (!check(c, x, w, group) || !hn_window_read(c, x, w->shape + 2, &window)) {
		return HN_BAD;
	}
	if (hn_gcall_in(c, 2) != NULL &&
	    hn_gvalue_elements(hn_gcall_in(c, 2)) != w->shape[0]) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "%s: the bias is not one of %lld numbers",
				     c->node->op->name, (long long)w->shape[0]);
	}
	hn_window_put(&window, attr);
	attr[HN_WINDOW_ATTRS] = hn_gattr_of_ints("group", 1, &group);
	attr[HN_WINDOW_ATTRS + 1] = hn_gattr_of_ints("padding", 1, &padding);
	y = hn_graph_add(c->g, "conv", 2, c->node->in, HN_WINDOW_ATTRS + 2, attr);
	return hn_gcall_in(c, 2) == NULL
		       ? y
		       : hn_graph_2(c->g, "Add", y,
				    hn_along(c->g, hn_gcall_arg(c, 2), 1, x->rank));
}

bool hn_conv_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0), *w = hn_gcall_in(c, 1);
	enum hn_dtype t = hn_sum_result(c->node, x->dtype, w->dtype);
	struct hn_window window;

	if (t == HN_N_DTYPE) {
		hn_graph_fail(c->g, HONE_E_INVALID, "Conv of %s and %s",
			      hn_dtype_name(x->dtype), hn_dtype_name(w->dtype));
		return false;
	}
	hn_window_get(c->node, &window);
	*ret = (struct hn_gshape){ .dtype = (uint8_t)t, .rank = x->rank };
	ret->dim[0] = x->shape[0];
	ret->dim[1] = w->shape[0];
	for (uint32_t d = 0; d < window.n; d++) {
		ret->dim[d + 2] = window.out[d];
	}
	return true;
}

/* The operand's channel that output channel i1 and input channel c of its group meet. */
static void channel_of(const struct hn_gvalue *w, int64_t group, hn_say_index *ret)
{
	int64_t per_out = w->shape[0] / group, per_in = w->shape[1];
	char base[64];

	if (group == 1) {
		snprintf(*ret, sizeof(*ret), per_in == 1 ? "0" : "c");
	} else if (per_in == 1 && per_out == 1) { /* depthwise */
		snprintf(*ret, sizeof(*ret), "i1");
	} else {
		snprintf(base, sizeof(base), "i1 / %lld", (long long)per_out);
		snprintf(*ret, sizeof(*ret), per_in == 1 ? "%s" : "%s * %lld + c", base,
			 (long long)per_in);
	}
}

/* "P1(i0,i2,i3,g,m)": a result whose channels are a group and a channel of it, in the order of y. */
static void put_grouped(struct hn_say *s, uint32_t temp, const struct hn_gvalue *y,
			const hn_say_index *index, const char *group, const char *channel)
{
	hn_say_text(s, "P%u", temp);
	for (uint32_t k = 0; k < y->rank; k++) {
		uint32_t d = y->order != NULL ? y->order[k] : k;

		hn_say_text(s, k > 0 ? "," : "(");
		if (d == 1) {
			hn_say_text(s, "%s,%s", group, channel);
		} else {
			hn_say_text(s, "%s", index[d]);
		}
	}
	hn_say_text(s, ")");
}

/* The weights' element: of output channel `channel`, input channel c and the window's k0, k1, .. */
static void put_weight(struct hn_say *s, int32_t w, const struct hn_window *window,
		       const char *channel)
{
	hn_say_index at[HN_GRAPH_MAX_RANK];

	snprintf(at[0], sizeof(at[0]), "%s", channel);
	snprintf(at[1], sizeof(at[1]), s->g->value[w].shape[1] == 1 ? "0" : "c");
	for (uint32_t d = 0; d < window->n; d++) {
		snprintf(at[d + 2], sizeof(at[0]), window->kernel[d] == 1 ? "0" : "k%u", d);
	}
	hn_say_load(s, w, at);
}

/* An element of the operand times one of the weights, in the type in which they are summed up. */
static void put_factors(struct hn_say *s, const struct hn_gnode *n, const struct hn_window *window,
			uint32_t padded, const char *in, const char *out)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *w = &s->g->value[n->in[1]];

	hn_sum_open(s, n->out[0], x->dtype);
	hn_window_load(s, n->in[0], padded, window, s->g->value[n->out[0]].order, "i0", in);
	hn_sum_close(s, n->out[0], x->dtype);
	hn_say_text(s, " * ");
	hn_sum_open(s, n->out[0], w->dtype);
	put_weight(s, n->in[1], window, out);
	hn_sum_close(s, n->out[0], w->dtype);
}

/* Several channels in each group: the group is an axis of its own, so that all indices are linear
 * and a group's sums of products are like any others. */
static void say_groups(struct hn_say *s, const struct hn_gnode *n, const struct hn_window *window,
		       uint32_t padded, int64_t group)
{
	const struct hn_gvalue *w = &s->g->value[n->in[1]], *y = &s->g->value[n->out[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], in, out;
	long long per_out = (long long)(w->shape[0] / group), per_in = (long long)w->shape[1];
	uint32_t temp = hn_say_temp(s);

	hn_say_indices(index, y->rank);
	snprintf(in, sizeof(in), "g * %lld + c", per_in);
	snprintf(out, sizeof(out), "g * %lld + m", per_out);
	hn_say_text(s, "\t");
	put_grouped(s, temp, y, index, "g", "m");
	hn_say_text(s, " +=! ");
	put_factors(s, n, window, padded, in, out);
	for (uint32_t k = 0; k < y->rank; k++) {
		uint32_t d = y->order != NULL ? y->order[k] : k;

		if (d == 1) {
			hn_say_range(s, "g", group);
			hn_say_range(s, "m", per_out);
		} else {
			hn_say_range(s, index[d], y->shape[d]);
		}
	}
	hn_window_ranges(s, window);
	hn_say_range(s, "c", per_in);
	hn_say_end(s);

	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	snprintf(in, sizeof(in), "i1 / %lld", per_out);
	snprintf(out, sizeof(out), "i1 %% %lld", per_out);
	hn_sum_round_open(s, n->out[0]);
	put_grouped(s, temp, y, index, in, out);
	hn_sum_round_close(s, n->out[0]);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

void hn_conv_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]], *w = &s->g->value[n->in[1]];
	hn_say_index index[HN_GRAPH_MAX_RANK], channel;
	int64_t group = hn_gattr_int(n, "group", 1);
	const uint8_t *order = s->g->value[n->out[0]].order;
	struct hn_window window;
	uint32_t padded, temp;

	hn_window_get(n, &window);
	padded = hn_window_pad(s, n->in[0], &window,
			       (double)hn_gattr_int(n, "padding", 0), order);
	if (group > 1 && w->shape[1] > 1) {
		say_groups(s, n, &window, padded, group);
		return;
	}
	channel_of(w, group, &channel);
	hn_say_indices(index, x->rank);
	temp = hn_sum_left(s, n->out[0], index);
	hn_say_text(s,
		    hn_window_points(&window) == 1 && w->shape[1] == 1 ? " = " : " +=! ");
	put_factors(s, n, &window, padded, channel, "i1");
	hn_say_where(s, n->out[0], index);
	hn_window_ranges(s, &window);
	if (w->shape[1] != 1) {
		hn_say_range(s, "c", w->shape[1]);
	}
	hn_say_end(s);
	hn_sum_end(s, n->out[0], temp, index);
}
