/* lower/npu/vector.c -- a dag of element-wise ops, spread rows and columns, and reductions of the
 * last axes, as a program for the vector unit.  The steps are in vector_int.h.
 */
#include "lower/npu/vector_int.h"

#define MOST_ARGS 30 /* a register each */

int hn_npu_vector(const struct hn_dag *dag, const struct hn_npu_profile *m,
		  const struct hn_npu_plan *plan, struct hn_arena *a,
		  const struct hn_npu_program **ret, struct hn_npu_vector_facts *facts,
		  struct hn_err *err)
{
	struct vec *x = HN_NEW(a, struct vec);
	struct hn_npu_order_facts order;
	struct hn_buf text;
	int rc;

	*x = (struct vec){ .dag = dag, .m = m, .plan = plan, .a = a, .err = err };
	if (dag->n_arg > MOST_ARGS) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%u arguments: %d have registers", dag->n_arg,
			       MOST_ARGS);
	}
	rc = vec_space(x);
	rc = rc ? rc : vec_ops(x);
	rc = rc ? rc : vec_place(x);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	text.max_bytes = HN_NPU_TEXT_BYTES;
	vec_code(x, &text);
	rc = hn_npu_order_text(&text, m, plan->order, a, ret, &order, err);
	if (rc == 0 && facts != NULL) {
		*facts = (struct hn_npu_vector_facts){ .rows = x->flat ? 1 : x->tile_rows,
						       .columns = x->flat ? x->tile_rows : x->columns,
						       .n_tile = x->n_tile, .ub_bytes = x->ub_bytes,
						       .order = order };
	}
	return rc;
}
