/* lower/gpu/gpu_lanes_int.h -- a loop some of whose turns are made at once: what loops over lanes and
 * sums of lanes share. */
#ifndef HN_LOWER_GPU_GPU_LANES_INT_H
#define HN_LOWER_GPU_GPU_LANES_INT_H

#include "lower/gpu/gpu_int.h"

#define HN_MOST_LANES 16

struct lanes {
	struct gpu *g;
	int32_t slot;
	struct hn_span whole; /* of the slot, in lanes: while strips go by, its span counts these */
	const struct hn_expr *base; /* with `at` the first; NULL: 0 */
	int64_t at;
	uint32_t n;
	hn_gpu_children *walk; /* statements of one lane */
	struct scope *scope;
};

/* The loop's number is that of lane i; a loop of n strips, each so many lanes further. */
void hn_lanes_at(struct lanes *l, uint32_t i);
void hn_lanes_begin(struct lanes *l, int64_t n, int64_t length);
void hn_lanes_end(struct lanes *l, int64_t n);

/* Values of all lanes as a vector; the place of the first. */
gpu_val hn_lanes_value(struct lanes *l, const struct hn_expr *e);
struct gpu_at hn_lanes_place(struct lanes *l, int32_t buffer, const struct hn_expr *e);

/* There are vectors of the type; the value is one, and nothing is put together lane by lane; it reads
 * the buffer, at another index than that; it reads a variable that the lane chooses. */
bool hn_lanes_type(uint8_t t);
bool hn_lanes_is_vector(const struct gpu *g, const struct hn_expr *e, int32_t slot);
bool hn_lanes_reads(const struct hn_expr *e, int32_t buffer, const struct hn_expr *but);
bool hn_lanes_reads_variable(struct lanes *l, const struct hn_expr *e);

/* The one store in the loop; NULL: there is more, or less. */
const struct hn_device_node *hn_lanes_store(const struct hn_device_node *n);

#endif
