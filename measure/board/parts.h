/* measure/board/parts.h -- the parts that give the time of a long naive program. They were made
 * with it (lower/build/slice.h), and each is called like the program itself. */
#ifndef HN_MEASURE_BOARD_PARTS_H
#define HN_MEASURE_BOARD_PARTS_H

#include "proto/frames.h"

#define HN_PARTS HN_FRAME_SLICES

/* The program takes the sum of the parts' times of / points; none: it is timed whole. */
struct hn_parts {
	uint32_t n;
	struct hn_frame_slice part[HN_PARTS];
};

/* How much of the program they are: 1 when it is timed whole. */
double hn_parts_share(const struct hn_parts *p);

#endif
