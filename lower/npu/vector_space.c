/* lower/npu/vector_space.c -- the space of rows and columns that the ops of a dag go through.
 *
 * The op with the most points has it.  Another op's axes are found by who reads it: an index that is
 * an axis of the reader is that axis of the space.  Extents of 1 are nowhere in it.
 */
#include <string.h>

#include "lower/npu/vector_int.h"

static const struct hn_op *op_of(const struct vec *x, uint32_t i)
{
	return x->dag->op[i];
}

static uint32_t n_axis(const struct hn_op *op)
{
	return op->n_spatial + op->n_reduce;
}

static int64_t points(const struct hn_op *op)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < n_axis(op); d++) {
		n *= op->axis[d].extent;
	}
	return n;
}

static int no(struct vec *x, const struct hn_op *op, const char *why)
{
	x->rc = x->rc ? x->rc : hn_fail(x->err, HONE_E_UNSUPPORTED, "%s: %s", op->id, why);
	return x->rc;
}

/* Whether the op has all the dimensions of the space, in order. */
static bool is_whole(const struct vec *x, const struct hn_op *op)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < n_axis(op); d++) {
		if (op->axis[d].extent > 1 && (n == x->n_dim || op->axis[d].extent != x->dim[n++])) {
			return false;
		}
	}
	return n == x->n_dim;
}

struct reader {
	struct vec *x;
	const struct hn_op *op;
	const int8_t *pos;
};

static void look(const struct hn_expr *e, void *ctx)
{
	struct reader *r = ctx;
	const struct hn_op *from;
	int8_t *pos;

	if (e->op != HN_EXPR_LOAD) {
		return;
	}
	from = op_of(r->x, (uint32_t)e->ref);
	pos = r->x->pos[e->ref];
	for (uint32_t d = 0; d < from->n_dim; d++) {
		const struct hn_expr *i = e->arg[d];
		int8_t at;

		if (from->shape[d] == 1) {
			continue;
		}
		if (i->op != HN_EXPR_VAR || (uint32_t)i->ref >= n_axis(r->op)) {
			no(r->x, r->op, "an index is no axis: only element-wise and spread reads have a form");
			return;
		}
		at = r->pos[i->ref];
		if (at < 0 || r->x->dim[at] != from->shape[d] || (pos[d] >= 0 && pos[d] != at)) {
			no(r->x, from, "it is read along different axes");
			return;
		}
		pos[d] = at;
	}
}

/* Each tensor has all rows, all columns, both or nothing, and in order. */
static void classify(struct vec *x)
{
	x->n_row_dim = x->n_dim;
	for (uint32_t i = 0; i < x->dag->n_op && x->rc == 0; i++) {
		const struct hn_op *op = op_of(x, i);
		uint32_t n = 0, first = x->n_dim, last = 0;

		for (uint32_t d = 0; d < op->n_dim; d++) {
			if (x->pos[i][d] < 0) {
				continue;
			}
			if (n > 0 && x->pos[i][d] != (int8_t)(last + 1)) {
				no(x, op, "its axes are no run of the widest op's, in order");
			}
			last = (uint32_t)x->pos[i][d];
			first = n++ == 0 ? last : first;
		}
		if (n == 0 || n == x->n_dim) {
			continue;
		}
		if (first != 0 && last != x->n_dim - 1) {
			no(x, op, "it has axes in the middle of the widest op's alone");
		}
		n = first == 0 ? n : first;
		if (x->n_row_dim != x->n_dim && x->n_row_dim != n) {
			no(x, op, "its rows end at another axis than others'");
		}
		x->n_row_dim = n;
		x->flat = false;
	}
}

int vec_space(struct vec *x)
{
	const struct hn_op *widest = NULL;

	x->pos = hn_arena_array(x->a, x->dag->n_op, sizeof(x->pos[0]));
	memset(x->pos, -1, x->dag->n_op * sizeof(x->pos[0]));
	for (uint32_t i = 0; i < x->dag->n_op; i++) {
		const struct hn_op *op = op_of(x, i);

		if (op->sizes != NULL && op->extent != NULL) {
			return no(x, op, "sizes that are parameters have no program for the NPU");
		}
		widest = op->kind == HN_OP_COMPUTE && (!widest || points(op) > points(widest)) ? op : widest;
	}
	for (uint32_t d = 0; d < n_axis(widest); d++) {
		if (widest->axis[d].extent > 1) {
			x->dim[x->n_dim++] = widest->axis[d].extent;
		}
	}
	for (uint32_t i = x->dag->n_op; i-- > 0 && x->rc == 0;) {
		const struct hn_op *op = op_of(x, i);
		struct reader r = { x, op, x->pos[i] };
		int8_t n = 0;

		if (op->kind != HN_OP_COMPUTE) {
			continue;
		}
		for (uint32_t d = 0; d < n_axis(op) && is_whole(x, op); d++) {
			if (op->axis[d].extent > 1 && x->pos[i][d] >= 0 && x->pos[i][d] != n) {
				return no(x, op, "it is read along different axes");
			}
			x->pos[i][d] = op->axis[d].extent > 1 ? n++ : -1;
		}
		hn_op_visit(op, look, &r);
		for (uint32_t d = op->n_spatial; d < n_axis(op); d++) {
			if (op->axis[d].extent > 1 && x->pos[i][d] < 0) {
				return no(x, op, "it sums over fewer points than the widest op has");
			}
		}
	}
	x->flat = true;
	classify(x);
	for (uint32_t i = 0; i < x->dag->n_op && x->rc == 0; i++) {
		const struct hn_op *op = op_of(x, i);

		for (uint32_t d = op->n_spatial; d < n_axis(op); d++) {
			if (!x->flat && x->pos[i][d] >= 0 && (uint32_t)x->pos[i][d] < x->n_row_dim) {
				return no(x, op, "it sums over other axes than the last ones");
			}
		}
	}
	x->rows = x->columns = 1;
	for (uint32_t d = 0; d < x->n_dim; d++) {
		*(d < x->n_row_dim ? &x->rows : &x->columns) *= x->dim[d];
	}
	if (x->flat) {
		x->columns = x->rows;
		x->rows = 1;
	}
	return x->rc;
}
