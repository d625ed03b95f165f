/* daemon/workload.c -- arguments and tolerance of a workload; the seam between programs
 * and measuring, which knows no operator. */
#include "daemon/workload.h"

#include <math.h>

#include "base/arith.h"
#include "loopstate/access.h"
#include "loopstate/magnitude.h"
#include "loopstate/mark.h"

#define INPUT_SEED                                                                       \
	1 /* of the random inputs: the same for all, so that answers compare             \
	   */

static int64_t own_reduction(const struct hn_op *op)
{
	int64_t n = op->n_reduce > 0 ? 1 : 0;

	for (uint32_t i = 0; i < op->n_reduce; i++) {
		n = hn_mul_sat(n, op->axis[op->n_spatial + i].extent);
	}
	return n;
}

static double dtype_factor(enum hn_dtype t)
{
	if (hn_dtype_class(t) != HN_CLASS_FLOAT) {
		return 0;
	}
	return hn_dtype_bytes(t) >= 8 ? 1e-13 : 1e-5;
}

double hn_workload_tolerance(const struct hn_dag *dag)
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
			factor[i] = fmax(factor[i], dtype_factor(op->dtype[k]));
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

struct hn_workload hn_workload_of(const struct hn_dag *dag, const char *key,
				  const char *dag_json, struct hn_arena *a)
{
	struct hn_measure_arg *arg = HN_NEW_ARRAY(a, struct hn_measure_arg, dag->n_arg);
	double read_bytes, written_bytes;

	hn_dag_needed_bytes(dag, &read_bytes, &written_bytes);
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		arg[i] = (struct hn_measure_arg){
			.name = op->id,
			.dtype = hn_dtype_name(op->dtype[hn_dag_arg_out(dag, i)]),
			.n_dim = op->n_dim,
			.shape = op->shape,
			.output = i >= dag->n_input
		};
	}
	return (struct hn_workload){ .key = key,
				     .dag_json = dag_json,
				     .n_arg = dag->n_arg,
				     .arg = arg,
				     .flops = hn_dag_flops(dag),
				     .needed_flops = hn_dag_needed_flops(dag),
				     .float32 = hn_dag_is_float32(dag),
				     .read_bytes = read_bytes,
				     .written_bytes = written_bytes,
				     .tolerance = hn_workload_tolerance(dag),
				     .seed = INPUT_SEED,
				     .cold = hn_dag_marked(dag, HN_MARK_COLD),
				     .magnitude = hn_dag_magnitude(dag) };
}
