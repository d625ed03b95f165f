/* graph/op/window.c -- where windows lie. */
#include "graph/op/window.h"

#include <stdio.h>
#include <string.h>

#define LL(x) ((long long)(x))

/* Attribute `name` with n numbers, each `otherwise` where it is left out. */
bool hn_window_list(const struct hn_gcall *c, const char *name, uint32_t n,
		    int64_t otherwise, int64_t least, int64_t *ret)
{
	const struct hn_gattr *a = hn_gattr_find(c->node, name);

	for (uint32_t d = 0; d < n; d++) {
		ret[d] = otherwise;
	}
	if (a == NULL) {
		return true;
	}
	if (a->kind != HN_GATTR_INTS || a->n != n) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: %s is not a list of %u numbers",
			      c->node->op->name, name, n);
		return false;
	}
	for (uint32_t d = 0; d < n; d++) {
		if (a->i[d] < least || a->i[d] > INT32_MAX) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%s: %s of %lld",
				      c->node->op->name, name, LL(a->i[d]));
			return false;
		}
		ret[d] = a->i[d];
	}
	return true;
}

int64_t hn_window_reach(const struct hn_window *w, uint32_t d)
{
	return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* auto_pad: SAME_UPPER, SAME_LOWER keep ceil(in / stride) results; VALID pads nothing. */
static bool auto_pad(const struct hn_gcall *c, const struct hn_gvalue *x,
		     struct hn_window *w)
{
	const char *how = hn_gattr_string(c->node, "auto_pad", "NOTSET");
	bool upper = strcmp(how, "SAME_UPPER") == 0,
	     lower = strcmp(how, "SAME_LOWER") == 0;

	if (strcmp(how, "NOTSET") == 0) {
		return true;
	}
	if (!upper && !lower && strcmp(how, "VALID") != 0) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: auto_pad %s", c->node->op->name,
			      how);
		return false;
	}
	for (uint32_t d = 0; d < w->n; d++) {
		int64_t in = x->shape[d + 2],
			out = (in + w->stride[d] - 1) / w->stride[d];
		int64_t pad = (out - 1) * w->stride[d] + hn_window_reach(w, d) - in;

		pad = pad > 0 && (upper || lower) ? pad : 0;
		w->before[d] = upper ? pad / 2 : pad - pad / 2;
		w->after[d] = pad - w->before[d];
	}
	return true;
}

/* How many windows there are.  With ceil_mode one more begins inside of the operand or its front
 * padding; the padding behind grows to hold it. */
static bool count(const struct hn_gcall *c, const struct hn_gvalue *x,
		  struct hn_window *w)
{
	bool ceil_mode = hn_gattr_int(c->node, "ceil_mode", 0) != 0;

	for (uint32_t d = 0; d < w->n; d++) {
		int64_t in = x->shape[d + 2];
		int64_t room = in + w->before[d] + w->after[d] - hn_window_reach(w, d);

		if (room < 0) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "%s: a window of %lld in a dimension of %lld",
				      c->node->op->name, LL(hn_window_reach(w, d)),
				      LL(in + w->before[d] + w->after[d]));
			return false;
		}
		w->out[d] = room / w->stride[d] + 1;
		if (ceil_mode && room % w->stride[d] != 0 &&
		    w->out[d] * w->stride[d] < in + w->before[d]) {
			w->out[d]++;
			w->after[d] += w->stride[d] - room % w->stride[d];
		}
	}
	return true;
}

bool hn_window_rules(const struct hn_gcall *c, const struct hn_gvalue *x,
		     const int64_t *kernel, struct hn_window *ret)
{
	int64_t pads[2 * HN_WINDOW_DIMS];

	if (x->rank < 3) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s: the operand has %u dimensions",
			      c->node->op->name, x->rank);
		return false;
	}
	ret->n = x->rank - 2;
	if (!hn_window_list(c, "kernel_shape", ret->n, 0, 1, ret->kernel) ||
	    !hn_window_list(c, "strides", ret->n, 1, 1, ret->stride) ||
	    !hn_window_list(c, "dilations", ret->n, 1, 1, ret->dilation) ||
	    !hn_window_list(c, "pads", 2 * ret->n, 0, 0, pads)) {
		return false;
	}
	for (uint32_t d = 0; d < ret->n; d++) {
		ret->before[d] = pads[d];
		ret->after[d] = pads[ret->n + d];
		if (kernel != NULL && ret->kernel[d] != 0 &&
		    ret->kernel[d] != kernel[d]) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "%s: kernel_shape is not that of the weights",
				      c->node->op->name);
			return false;
		}
		ret->kernel[d] = kernel != NULL ? kernel[d] : ret->kernel[d];
		if (ret->kernel[d] == 0) {
			hn_graph_fail(c->g, HONE_E_INVALID, "%s without kernel_shape",
				      c->node->op->name);
			return false;
		}
	}
	return true;
}

bool hn_window_read(const struct hn_gcall *c, const struct hn_gvalue *x,
		    const int64_t *kernel, struct hn_window *ret)
{
	if (!hn_window_rules(c, x, kernel, ret) || !auto_pad(c, x, ret)) {
		return false;
	}
	memcpy(ret->said, ret->after, sizeof(ret->said));
	return count(c, x, ret);
}

static const char *const names[HN_WINDOW_ATTRS] = { "kernel", "stride", "dilation",
						    "before", "after",	"out" };

static int64_t *list_of(struct hn_window *w, uint32_t k)
{
	int64_t *const list[HN_WINDOW_ATTRS] = { w->kernel, w->stride, w->dilation,
						 w->before, w->after,  w->out };

	return list[k];
}

void hn_window_put(const struct hn_window *w, struct hn_gattr attr[HN_WINDOW_ATTRS])
{
	for (uint32_t k = 0; k < HN_WINDOW_ATTRS; k++) {
		attr[k] = hn_gattr_of_ints(names[k], w->n,
					   list_of((struct hn_window *)w, k));
	}
}

void hn_window_get(const struct hn_gnode *n, struct hn_window *ret)
{
	for (uint32_t k = 0; k < HN_WINDOW_ATTRS; k++) {
		const struct hn_gattr *a = hn_gattr_find(n, names[k]);

		ret->n = a->n;
		memcpy(list_of(ret, k), a->i, a->n * sizeof(*a->i));
	}
}

uint32_t hn_window_pad(struct hn_say *s, int32_t x, const struct hn_window *w,
		       double otherwise, const uint8_t *order)
{
	const struct hn_gvalue *v = &s->g->value[x];
	hn_say_index index[HN_GRAPH_MAX_RANK], inner[HN_GRAPH_MAX_RANK];
	const char *sign = " = ";
	bool padded = false;
	uint32_t temp;

	for (uint32_t d = 0; d < w->n; d++) {
		padded |= w->before[d] > 0 || w->after[d] > 0;
	}
	if (!padded) {
		return 0;
	}
	temp = hn_say_temp(s);
	hn_say_indices(index, v->rank);
	memcpy(inner, index, sizeof(index));
	hn_say_text(s, "\t");
	hn_say_at(s, temp, v->rank, order, index);
	for (uint32_t d = 0; d < w->n; d++) {
		if (w->before[d] > 0) {
			hn_say_text(s, "%si%u >= %lld", sign, d + 2, LL(w->before[d]));
			snprintf(inner[d + 2], sizeof(inner[0]), "i%u - %lld", d + 2,
				 LL(w->before[d]));
			sign = " && ";
		}
		if (w->after[d] > 0) {
			hn_say_text(s, "%si%u < %lld", sign, d + 2,
				    LL(v->shape[d + 2] + w->before[d]));
			sign = " && ";
		}
	}
	hn_say_text(s, " ? ");
	hn_say_load(s, x, inner);
	hn_say_text(s, " : ");
	hn_say_number(s, v->dtype, otherwise);
	for (uint32_t d = 0; d < v->rank; d++) {
		hn_say_range(s, index[d],
			     v->shape[d] +
				     (d >= 2 ? w->before[d - 2] + w->after[d - 2] : 0));
	}
	hn_say_end(s);
	return temp;
}

void hn_window_load(struct hn_say *s, int32_t x, uint32_t padded,
		    const struct hn_window *w, const uint8_t *order, const char *batch,
		    const char *channel)
{
	const struct hn_gvalue *v = &s->g->value[x];
	hn_say_index index[HN_GRAPH_MAX_RANK];

	snprintf(index[0], sizeof(index[0]), "%s", batch);
	snprintf(index[1], sizeof(index[1]), "%s", channel);
	for (uint32_t d = 0; d < w->n; d++) {
		char stride[32] = "", dilation[32] = "";

		if (w->stride[d] != 1) {
			snprintf(stride, sizeof(stride), " * %lld", LL(w->stride[d]));
		}
		if (w->dilation[d] != 1) {
			snprintf(dilation, sizeof(dilation), " * %lld",
				 LL(w->dilation[d]));
		}
		if (w->kernel[d] == 1) {
			snprintf(index[d + 2], sizeof(index[0]), "i%u%s", d + 2, stride);
		} else {
			snprintf(index[d + 2], sizeof(index[0]), "i%u%s + k%u%s", d + 2,
				 stride, d, dilation);
		}
	}
	if (padded != 0) {
		hn_say_at(s, padded, v->rank, order, index);
	} else {
		hn_say_load(s, x, index);
	}
}

int64_t hn_window_points(const struct hn_window *w)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < w->n; d++) {
		n *= w->kernel[d];
	}
	return n;
}

void hn_window_ranges(struct hn_say *s, const struct hn_window *w)
{
	for (uint32_t d = 0; d < w->n; d++) {
		char index[16];

		if (w->kernel[d] != 1) {
			snprintf(index, sizeof(index), "k%u", d);
			hn_say_range(s, index, w->kernel[d]);
		}
	}
}
