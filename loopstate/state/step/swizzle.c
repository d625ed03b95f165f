/* step/swizzle.c -- SW: the chunks of a buffer's rows change places, from row to row.  Not of
 * Ansor's.
 *
 * A column of a row-major tile lies in one bank of a GPU's shared memory, or in one set of a
 * cache.  XORing the number of a chunk with the number of its row spreads it, and needs no
 * element more, as SA does.  Nothing but addresses changes: bounds and values are as they were.
 * Whether the buffer is made of whole periods is known when loops are placed, and tested then
 * (loopstate/nest/layout.h).
 */
#include "loopstate/state/step.h"

#include <inttypes.h>

#include "loopstate/state/state_int.h"

static int check_numbers(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	static const struct {
		int at;
		int64_t least, most;
		const char *name;
	} row[] = {
		{ HN_SW_UNIT, 0, HN_SWIZZLE_MAX_UNIT, "unit" },
		{ HN_SW_BITS, 1, HN_SWIZZLE_MAX_BITS, "bits" },
		{ HN_SW_SHIFT, 0, HN_SWIZZLE_MAX_SHIFT, "shift" },
	};

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		int64_t v = step->a[row[i].at];

		if (v < row[i].least || v > row[i].most) {
			return hn_step_refuse(s, step, err,
					      "%s %" PRId64 " must lie in %" PRId64
					      "..%" PRId64,
					      row[i].name, v, row[i].least, row[i].most);
		}
	}
	return 0;
}

static int check_shape(const struct hn_state *s, const struct hn_step *step,
		       struct hn_err *err)
{
	const struct hn_op *op = hn_state_op(s, step->stage);
	int64_t dim = step->a[HN_SW_ROW_DIM];
	int64_t period = (int64_t)1 << (step->a[HN_SW_UNIT] + step->a[HN_SW_BITS]);

	if (dim < 0 || dim + 1 >= op->n_dim) {
		return hn_step_refuse(s, step, err,
				      "dimension %" PRId64
				      " is none before the last of %" PRIu32,
				      dim, op->n_dim);
	}
	if (op->shape[op->n_dim - 1] < period) {
		return hn_step_refuse(s, step, err,
				      "its last dimension has %" PRId64
				      " elements, fewer than the %" PRId64
				      " that change places together",
				      op->shape[op->n_dim - 1], period);
	}
	if (op->shape[dim] <= (int64_t)1 << step->a[HN_SW_SHIFT]) {
		return hn_step_refuse(s, step, err,
				      "dimension %" PRId64 " has %" PRId64
				      " rows: no chunk would change its place",
				      dim, op->shape[dim]);
	}
	return 0;
}

static int swizzle_check(const struct hn_state *s, const struct hn_step *step,
			 struct hn_err *err)
{
	int rc = hn_step_check_looped(s, step, err);

	if (rc != 0) {
		return rc;
	}
	if (hn_state_is_arg(s, step->stage)) {
		return hn_step_refuse(s, step, err,
				      "it is an argument: its caller has it in order");
	}
	rc = check_numbers(s, step, err);
	return rc != 0 ? rc : check_shape(s, step, err);
}

static const struct hn_state *
swizzle_apply(const struct hn_state *s, const struct hn_step *step, struct hn_arena *a)
{
	struct hn_state *n = hn_state_dup(s, a);
	struct hn_stage *st = hn_state_own_stage(n, step->stage, a);

	st->swizzle = (struct hn_swizzle){
		.row_dim = (uint8_t)step->a[HN_SW_ROW_DIM],
		.unit = (uint8_t)step->a[HN_SW_UNIT],
		.bits = (uint8_t)step->a[HN_SW_BITS],
		.shift = (uint8_t)step->a[HN_SW_SHIFT],
	};
	return n;
}

static void swizzle_explain(const struct hn_state *s, const struct hn_step *step,
			    struct hn_buf *buf)
{
	hn_buf_printf(buf,
		      "swizzle the buffer of %s: in groups of %d, chunks of %d element%s "
		      "change "
		      "places with ",
		      hn_state_op(s, step->stage)->name, 1 << step->a[HN_SW_BITS],
		      1 << step->a[HN_SW_UNIT], step->a[HN_SW_UNIT] == 0 ? "" : "s");
	if (step->a[HN_SW_SHIFT] > 0) {
		hn_buf_printf(buf, "every %d of ", 1 << step->a[HN_SW_SHIFT]);
	}
	hn_buf_printf(buf, "dimension %" PRId64, step->a[HN_SW_ROW_DIM]);
}

const struct hn_step_ops hn_step_swizzle = {
	.tag = "SW",
	.name = "swizzle",
	.field = { { HN_FIELD_STAGE, "stage" },
		   { HN_FIELD_INT, "row_dim" },
		   { HN_FIELD_INT, "unit" },
		   { HN_FIELD_INT, "bits" },
		   { HN_FIELD_INT, "shift" } },
	.check = swizzle_check,
	.apply = swizzle_apply,
	.explain = swizzle_explain,
	.te = NULL, /* a te schedule has no such step */
};
