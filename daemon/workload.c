/* daemon/workload.c -- a workload's arguments; the seam between programs and measuring, which
 * knows no operator. */
#include "daemon/workload.h"

#include "loopstate/dag/magnitude.h"
#include "loopstate/dag/mark.h"
#include "loopstate/dag/sway.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/state/intrin.h"

#define INPUT_SEED                                                                       \
	1 /* of the random inputs: the same for all, so that answers compare             \
	   */

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
				     .tolerance = hn_dag_tolerance(dag),
				     .seed = INPUT_SEED,
				     .cold = hn_dag_marked(dag, HN_MARK_COLD),
				     .settled = hn_dag_settled(dag),
				     .subnormals = !hn_dag_may_flush(dag),
				     .magnitude = hn_dag_magnitude(dag) };
}
