/* costmodel/feature_row.h -- the columns of one statement. */
#ifndef HN_COSTMODEL_FEATURE_ROW_H
#define HN_COSTMODEL_FEATURE_ROW_H

#include "costmodel/analytic_int.h"
#include "costmodel/features.h"

/* What the analytic model found out about a statement. */
struct hn_estimate {
	struct hn_compute compute;
	struct hn_traffic traffic;
	double balance;	  /* how much of the cores the parallel loop keeps busy */
	double part[4];	  /* cycles: instructions, traffic of L1, L2, L3 */
	double fork;	  /* cycles of starting parallel loops */
	double cycles;	  /* of all */
};

/* Fill x[HN_N_FEATURE], but for what concerns the whole program (statements, program_part). */
void hn_feature_row(const struct hn_view *v, const struct hn_target *t,
		    const struct hn_estimate *e, float *x);

#endif
