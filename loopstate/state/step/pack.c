/* step/pack.c -- PK: the readers of an operand read a copy of it in blocks, so that what
 * an inner loop walks through lies side by side.  Not of Ansor's. */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "base/arith.h"
#include "loopstate/state/derive.h"
#include "loopstate/state/state_int.h"

static void find_load(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD;
}

/* An index is used twice by each block; were it a load itself, packing what it loads would
 * double it again, and so on. */
static bool read_at_loaded_places(const struct hn_state *s, int32_t stage)
{
	const struct hn_op_access *acc = &s->access->op[stage];
	bool found = false;

	for (uint32_t c = 0; c < acc->n_consumer; c++) {
		const struct hn_op_access *by = &s->access->op[acc->consumer[c]];

		for (uint32_t i = 0; i < by->n_read; i++) {
			const struct hn_expr *load = by->read[i].load;

			for (uint32_t d = 0;
			     by->read[i].producer == stage && d < load->n_arg; d++) {
				hn_expr_visit(load->arg[d], find_load, &found);
			}
		}
	}
	return found;
}

static int check_lens(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	const struct hn_op *op = hn_state_op(s, step->stage);
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)op->dtype[0]);
	uint32_t n_dim = op->n_dim;

	if (step->n_list != op->n_dim) {
		return hn_step_refuse(s, step, err,
				      "%" PRIu32 " block lengths for %" PRIu32
				      " dimensions",
				      step->n_list, op->n_dim);
	}
	for (uint32_t d = 0; d < op->n_dim; d++) {
		int64_t len = step->list[d];

		if (len < 1 || len > op->shape[d]) {
			return hn_step_refuse(s, step, err,
					      "block length %" PRIu32
					      " must be chosen in 1..%" PRId64,
					      d, op->shape[d]);
		}
		n_dim += len > 1;
		bytes = hn_mul_sat(bytes, hn_mul_sat(hn_ceildiv(op->shape[d], len), len));
	}
	if (n_dim == op->n_dim) {
		return hn_step_refuse(s, step, err, "no dimension is blocked");
	}
	if (n_dim > HN_DAG_MAX_RANK || bytes >= HN_EXTENT_MAX) {
		return hn_step_refuse(s, step, err, "packed it is too large");
	}
	return 0;
}

static int pack_check(const struct hn_state *s, const struct hn_step *step,
		      struct hn_err *err)
{
	if (step->stage < 0 || (uint32_t)step->stage >= s->n_stage) {
		return hn_step_refuse(s, step, err, "there are %" PRIu32 " stages",
				      s->n_stage);
	}
	if (s->access->op[step->stage].n_consumer == 0) {
		return hn_step_refuse(s, step, err, "nobody reads it");
	}
	if (hn_state_op(s, step->stage)->n_out != 1) {
		return hn_step_refuse(s, step, err, "it has several outputs");
	}
	if (s->stage[step->stage]->at == HN_AT_ITER) {
		return hn_step_refuse(s, step, err,
				      "it is computed inside a reader; pack it first");
	}
	if (read_at_loaded_places(s, step->stage)) {
		return hn_step_refuse(s, step, err, "it is read at places that are data");
	}
	int rc = hn_step_check_room(s, step, err);

	return rc != 0 ? rc : check_lens(s, step, err);
}

static const struct hn_state *pack_apply(const struct hn_state *s,
					 const struct hn_step *step, struct hn_arena *a)
{
	return hn_state_insert(s, hn_derive_pack(s, step->stage, step->list, a),
			       step->stage + 1, a);
}

static void pack_explain(const struct hn_state *s, const struct hn_step *step,
			 struct hn_buf *buf)
{
	hn_buf_printf(buf, "copy %s into blocks of ", hn_state_op(s, step->stage)->name);
	for (uint32_t i = 0; i < step->n_list; i++) {
		hn_buf_printf(buf, "%s%" PRId64, i > 0 ? " x " : "", step->list[i]);
	}
	hn_buf_puts(buf, " for all its readers");
}

const struct hn_step_ops hn_step_pack = {
	.tag = "PK",
	.name = "pack",
	.field = { { HN_FIELD_STAGE, "stage" }, { HN_FIELD_LENS, "blocks", HN_MEANS_BLOCKS } },
	.check = pack_check,
	.apply = pack_apply,
	.explain = pack_explain,
	.te = NULL, /* a te schedule cannot change a layout */
	.inserts = HN_INSERTS_BEHIND,
};
