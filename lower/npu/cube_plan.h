/* lower/npu/cube_plan.h -- how plans of a product are compared: what is the same for all plans of a split over
 * cores, and the time of one.
 */
#ifndef HN_LOWER_NPU_CUBE_PLAN_H
#define HN_LOWER_NPU_CUBE_PLAN_H

#include "lower/npu/cube.h"

struct cube_split {
	const struct hn_npu_profile *m;
	const struct hn_npu_task *t;
		int64_t c0, size, unit; /* unit: terms that are in L1 together */
	int64_t rows, columns, batches, terms; /* of a core */
	bool sums;	   /* it stores sums of its terms, in float32 or int32 */
	double met;	   /* cycles of what is done when all have met */
	double operations; /* behind the sums, of each number */
	double stored;	   /* bytes of a fractal, of all that is stored, or loaded there, number by number */
	double bursts;	   /* of one of its rows; rows of several fractals are one */
};

/* product_time.c: what is done for each of the sums, whatever the tiles; a split of the plan over cores, false:
 * two cores would write to one block; the cycles of a core. */
void cube_measure(struct cube_split *s);
bool cube_is_split(struct cube_split *s, const struct hn_npu_product *p);
double cube_cycles(const struct cube_split *s, const struct hn_npu_product *p);

#endif
