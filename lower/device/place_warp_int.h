/* lower/device/place_warp_int.h -- expressions that both parts of placing a warp's sums write. */
#ifndef HN_LOWER_DEVICE_PLACE_WARP_INT_H
#define HN_LOWER_DEVICE_PLACE_WARP_INT_H

#include "lower/device/place_int.h"

static inline const struct hn_expr *lane(struct place *p)
{
	return hn_place_var(p, HN_DEVICE_THREAD);
}

static inline const struct hn_expr *op_int(struct place *p, enum hn_expr_op op,
				    const struct hn_expr *x, int64_t v)
{
	return hn_place_binary(p, op, x, hn_place_int(p, v));
}

static inline const struct hn_expr *sum(struct place *p, const struct hn_expr *x,
				 const struct hn_expr *y)
{
	return hn_place_binary(p, HN_EXPR_ADD, x, y);
}

#endif
