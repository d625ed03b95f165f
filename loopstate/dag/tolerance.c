/* loopstate/dag/tolerance.c -- see tolerance.h. */
#include "loopstate/dag/tolerance.h"

#include <math.h>

#include "base/arith.h"
#include "loopstate/dag/access.h"

static int64_t own_reduction(const struct hn_op *op)
{
	int64_t n = op->n_reduce > 0 ? 1 : 0;

	for (uint32_t i = 0; i < op->n_reduce; i++) {
		n = hn_mul_sat(n, op->axis[op->n_spatial + i].extent);
	}
	return n;
}

double hn_dag_tolerance(const struct hn_dag *dag)
{
	struct hn_arena scratch;
	const struct hn_access *access;
	double *length, *factor, worst = 0;

	hn_arena_init(&scratch, 0);
	access = hn_access_analyze(dag, &scratch);
	length = HN_NEW_ARRAY(&scratch, double, dag->n_op);
	factor = HN_NEW_ARRAY(&scratch, double, dag->n_op);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		for (uint32_t k = 0; k < op->n_out; k++) {
			factor[i] = fmax(factor[i], hn_dtype_tolerance(op->dtype[k]));
		}
		for (uint32_t k = 0; k < access->op[i].n_producer; k++) {
			length[i] = fmax(length[i], length[access->op[i].producer[k]]);
		}
		length[i] += (double)own_reduction(op);
	}
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		int32_t op = dag->arg[i];

		worst = fmax(worst, factor[op] * sqrt(fmax(length[op], 1)));
	}
	hn_arena_fini(&scratch);
	return fmin(worst, 1e-2);
}
