/* measure/board/parts.h -- what a long naive program is timed by: parts of it that were made with
 * it (lower/build/slice.h).  Each is called like the program itself. */
#ifndef HN_MEASURE_BOARD_PARTS_H
#define HN_MEASURE_BOARD_PARTS_H

#include "base/json.h"
#include "base/jw.h"

#define HN_PARTS 8

/* The program takes the sum of the parts' times of / points; none: it is timed whole. */
struct hn_parts {
	uint32_t n;
	double points[HN_PARTS], of[HN_PARTS]; /* runs of statements: the part's, and those of
						* what it stands for; 0 < points <= of */
};

/* The member "slices" of an object, [[points, of], ...], when there are any. */
void hn_parts_write(const struct hn_parts *p, struct hn_jw *w);

/* From such a member; none when it is absent.  False: it makes no sense. */
bool hn_parts_read(const struct hn_json *object, struct hn_parts *ret);

/* How much of the program they are: 1 when it is timed whole. */
double hn_parts_share(const struct hn_parts *p);

#endif
