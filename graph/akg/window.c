/* graph/akg/window.c -- pools. */
#include <string.h>

#include "graph/akg/rows.h"
#include "graph/op/build.h"

/* How an image lies: its channels last, second, or second in blocks with the block last. */
enum lie { LAST, SECOND, BLOCKS, NO_LIE };

static enum lie lie_of(struct hn_akg_call *c, uint32_t rank)
{
	const char *layout = hn_akg_text(c, "data_layout", "NCHW");

	if (strcmp(layout, "NHWC") == 0 && rank == 4) {
		return LAST;
	}
	if (strcmp(layout, "NCHW") == 0 && rank == 4) {
		return SECOND;
	}
	return strncmp(layout, "NCHW", 4) == 0 && rank == 5 ? BLOCKS : NO_LIE;
}

static const int64_t to_second[][5] = { [LAST] = { 0, 3, 1, 2 }, [BLOCKS] = { 0, 1, 4, 2, 3 } };
static const int64_t from_second[][5] = { [LAST] = { 0, 2, 3, 1 }, [BLOCKS] = { 0, 1, 3, 4, 2 } };

/* Numbers of a list, which has as many; those given before where it is left out. */
static bool read_list(struct hn_akg_call *c, const char *name, uint32_t n, int64_t *ret)
{
	int64_t list[HN_GRAPH_MAX_INTS];
	uint32_t n_list;

	if (!hn_akg_ints(c, name, UINT32_MAX, &n_list, list)) {
		return !c->g->failed;
	}
	if (n_list != n) {
		hn_graph_fail(c->g, HONE_E_INVALID, "attribute %s has %u numbers; %u are wanted", name,
			      n_list, n);
		return false;
	}
	memcpy(ret, list, n * sizeof(*ret));
	return true;
}

static int32_t pooled(struct hn_akg_call *c, int32_t v, bool is_max)
{
	int64_t kernel[2] = { 1, 1 }, stride[2] = { 1, 1 }, pad[4] = { 0 };
	int64_t ceil_mode = hn_akg_int(c, "round_mode", 0) != 0, padding = 1;
	struct hn_gattr attr[5];

	if (hn_akg_int(c, "global", 0) != 0) {
		return hn_graph_1(c->g, is_max ? "GlobalMaxPool" : "GlobalAveragePool", v);
	}
	if (!read_list(c, "kernel_size", 2, kernel) || !read_list(c, "strides", 2, stride) ||
	    !read_list(c, "pad", 4, pad)) {
		return HN_BAD;
	}
	attr[0] = hn_gattr_of_ints("kernel_shape", 2, kernel);
	attr[1] = hn_gattr_of_ints("strides", 2, stride);
	attr[2] = hn_gattr_of_ints("pads", 4, pad); /* top, left, bottom, right, as ONNX */
	attr[3] = hn_gattr_of_ints("ceil_mode", 1, &ceil_mode);
	attr[4] = hn_gattr_of_ints("count_include_pad", 1, &padding);
	return hn_graph_add(c->g, is_max ? "MaxPool" : "AveragePool", 1, &v, is_max ? 4 : 5, attr);
}

void hn_akg_pool(struct hn_akg_call *c)
{
	const char *type = hn_akg_text(c, "pool_type", "");
	const struct hn_gvalue *x = hn_akg_in(c, 0);
	enum lie lie = lie_of(c, x->rank);
	int32_t v = c->in[0];
	int64_t shape[5];

	if (lie == NO_LIE || (strcmp(type, "max") != 0 && strcmp(type, "avg") != 0)) {
		hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "%.20s of %.20s with %u dimensions", type,
			      hn_akg_text(c, "data_layout", ""), x->rank);
		return;
	}
	v = lie == SECOND ? v : hn_transposed(c->g, v, x->rank, to_second[lie]);
	if (lie == BLOCKS && v >= 0) {
		const int64_t *s = c->g->value[v].shape;

		memcpy(shape, (const int64_t[]){ s[0], s[1] * s[2], s[3], s[4] }, 4 * sizeof(*shape));
		v = hn_reshaped(c->g, v, 4, shape);
	}
	v = v < 0 ? v : pooled(c, v, *type == 'm');
	if (lie == BLOCKS && v >= 0) {
		const int64_t *s = c->g->value[v].shape, block = x->shape[4];

		memcpy(shape, (const int64_t[]){ s[0], s[1] / block, block, s[2], s[3] }, sizeof(shape));
		v = hn_reshaped(c->g, v, 5, shape);
	}
	c->out[0] = lie == SECOND || v < 0 ? v : hn_transposed(c->g, v, x->rank, from_second[lie]);
}
