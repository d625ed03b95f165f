/* lower/npu/vector.c -- a dag of element-wise ops, reads by linear indices, and reductions, as a program
 * for the vector unit.  The steps are in vector_int.h.
 */
#include "lower/npu/vector_int.h"

/* What hn_npu_tuned tries others of. */
static void tell(const struct vec *x, struct hn_npu_vector_facts *facts)
{
	int32_t d = x->split[0];
	bool rows = d >= 0 && (uint32_t)d + 1 < x->n_dim;

	*facts = (struct hn_npu_vector_facts){
		.rows = rows ? x->tile[d] : 1, .columns = x->n_dim > 0 ? x->tile[x->n_dim - 1] : 1,
		.n_tile = x->n_tile, .cores = x->n_core, .ub_bytes = x->ub_bytes,
	};
}

/* Group after group.  Facts are those of the first, and the cores of all. */
static int code(const struct vec *x, struct hn_npu_vector_facts *facts, struct hn_buf *text)
{
	struct vec_groups groups;
	int64_t n_insn = 0;
	uint32_t base = 0;
	int rc = 0;

	vec_group(x, &groups);
	vec_head(x, text);
	for (uint32_t g = 0; g < groups.n && rc == 0; g++) {
		struct vec part;

		vec_group_of(x, groups.group, (uint8_t)g, &part);
		part.most_core = groups.cores[g];
		rc = vec_cores(&part);
		rc = rc ? rc : vec_place(&part);
		rc = rc ? rc : vec_code(&part, base, &n_insn, text);
		base += part.n_core;
		if (rc == 0 && g == 0) {
			tell(&part, facts);
		}
	}
	facts->cores = base;
	facts->split = x->n_split > 0;
	return rc;
}

int hn_npu_vector(const struct hn_dag *dag, const struct hn_npu_profile *m,
		  const struct hn_npu_plan *plan, struct hn_arena *a,
		  const struct hn_npu_program **ret, struct hn_npu_vector_facts *facts,
		  struct hn_err *err)
{
	struct vec *x = HN_NEW(a, struct vec);
	struct hn_npu_vector_facts all = { 0 };
	struct hn_buf text;
	int rc;

	*x = (struct vec){ .dag = dag, .m = m, .plan = plan, .a = a, .err = err,
			   .most_core = (uint32_t)m->cores };
	if (dag->n_arg > HN_NPU_MOST_BUFFERS) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%u arguments: a program has at most %d", dag->n_arg,
			       HN_NPU_MOST_BUFFERS);
	}
	rc = vec_space(x);
	rc = rc ? rc : vec_ops(x);
	rc = rc ? rc : vec_order(x);
	rc = rc ? rc : vec_ops(x);
	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	text.max_bytes = HN_NPU_TEXT_BYTES;
	rc = code(x, &all, &text);
	if (rc != 0) {
		hn_buf_fini(&text);
		return rc;
	}
	rc = hn_npu_order_text(&text, m, plan->order, a, ret, &all.order, err);
	if (rc == 0 && facts != NULL) {
		*facts = all;
	}
	return rc;
}
