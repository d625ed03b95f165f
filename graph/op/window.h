/* graph/op/window.h -- where windows of convolutions and pools lie. */
#ifndef HN_GRAPH_OP_WINDOW_H
#define HN_GRAPH_OP_WINDOW_H

#include "graph/ir/op.h"

#define HN_WINDOW_DIMS (HN_GRAPH_MAX_RANK - 2)

/* Of each spatial dimension. */
struct hn_window {
	uint32_t n; /* spatial dimensions: the rank without batch and channels */
	int64_t kernel[HN_WINDOW_DIMS], stride[HN_WINDOW_DIMS], dilation[HN_WINDOW_DIMS];
	int64_t before[HN_WINDOW_DIMS], after[HN_WINDOW_DIMS]; /* padding */
	int64_t said[HN_WINDOW_DIMS]; /* `after` as attributes say it; no node keeps it */
	int64_t out[HN_WINDOW_DIMS];
};

/* From ONNX's attributes; kernel[] is given where kernel != NULL (a convolution's weights), and
 * else read.  auto_pad and ceil_mode become padding.  false after hn_graph_fail. */
bool hn_window_read(const struct hn_gcall *c, const struct hn_gvalue *x,
		    const int64_t *kernel, struct hn_window *ret);

/* The same before sizes are known: kernel, stride, dilation and padding as they are written. */
bool hn_window_rules(const struct hn_gcall *c, const struct hn_gvalue *x,
		     const int64_t *kernel, struct hn_window *ret);

/* Attribute `name` with n numbers of at least `least`, each `otherwise` where it is left out. */
bool hn_window_list(const struct hn_gcall *c, const char *name, uint32_t n,
		    int64_t otherwise, int64_t least, int64_t *ret);

/* From the first to the last element of a window, both counted. */
int64_t hn_window_reach(const struct hn_window *w, uint32_t d);

/* As attributes kernel, stride, dilation, before, after, out of a node, and back. */
#define HN_WINDOW_ATTRS 6
void hn_window_put(const struct hn_window *w, struct hn_gattr attr[HN_WINDOW_ATTRS]);
void hn_window_get(const struct hn_gnode *n, struct hn_window *ret);

/* The statement of operand x with its padding, `otherwise` in it, which lies in the order of the
 * result; nothing where none is asked for.  Returns the tensor's number, or 0 for x itself. */
uint32_t hn_window_pad(struct hn_say *s, int32_t x, const struct hn_window *w,
		       double otherwise, const uint8_t *order);

/* The element of the padded x that spatial index i_d and window index k_d of `window` meet:
 * batch and channel as given. */
void hn_window_load(struct hn_say *s, int32_t x, uint32_t padded,
		    const struct hn_window *w, const uint8_t *order, const char *batch,
		    const char *channel);

/* Elements of a window. */
int64_t hn_window_points(const struct hn_window *w);

/* k0, k1, ..: ranges of the window's indices. */
void hn_window_ranges(struct hn_say *s, const struct hn_window *w);

#endif
