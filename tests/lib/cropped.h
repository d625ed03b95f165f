/* cropped.h -- a dag cut down until it can be evaluated by hand: the first few elements of
 * its outputs and terms of its reductions, and of all else what these read.  Bodies, and
 * with them strides, paddings and conditions, stay as they are. */
#ifndef HN_TESTS_CROPPED_H
#define HN_TESTS_CROPPED_H

#include <string.h>

#include "loopstate/dag/dag.h"
#include "loopstate/expr/simplify.h"

struct crop {
	const struct hn_dag *dag;
	struct hn_span *span; /* of the reading op's axes */
	uint32_t n_span;
	int64_t **need; /* [op][dim] elements */
};

static inline void crop_visit(const struct hn_expr *e, void *ctx)
{
	struct crop *c = ctx;

	if (e->op != HN_EXPR_LOAD) {
		return;
	}
	const struct hn_op *from = c->dag->op[e->ref];

	for (uint32_t d = 0; d < from->n_dim; d++) {
		int64_t first = from->kind == HN_OP_COMPUTE ? from->axis[d].min : 0;
		int64_t lo = 0, hi = 0, n = from->shape[d];

		if (hn_expr_range(e->arg[d], c->span, c->n_span, &lo, &hi) &&
		    hi - first + 1 < n) {
			n = hi - first + 1 > 1 ? hi - first + 1 : 1;
		}
		if (n > c->need[e->ref][d]) {
			c->need[e->ref][d] = n;
		}
	}
}

static inline void crop_reads(struct crop *c, const struct hn_op *op)
{
	for (uint32_t k = 0; k < op->n_out && op->body; k++) {
		hn_expr_visit(op->body[k], crop_visit, c);
	}
	for (uint32_t k = 0; op->reduce && k < op->reduce->n; k++) {
		hn_expr_visit(op->reduce->source[k], crop_visit, c);
	}
	if (op->reduce && op->reduce->condition) {
		hn_expr_visit(op->reduce->condition, crop_visit, c);
	}
}

/* At most most_out elements along a dimension of an output, most_reduce along an axis of a
 * reduction. */
static inline const struct hn_dag *crop_dag(const struct hn_dag *dag, int64_t most_out,
					    int64_t most_reduce, struct hn_arena *a)
{
	struct hn_dag *ret = HN_NEW(a, struct hn_dag);
	const struct hn_op **list = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);
	struct crop c = { .dag = dag, .need = HN_NEW_ARRAY(a, int64_t *, dag->n_op) };

	for (uint32_t i = 0; i < dag->n_op; i++) {
		c.need[i] = HN_NEW_ARRAY(a, int64_t, dag->op[i]->n_dim);
	}
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];

		for (uint32_t d = 0; d < op->n_dim; d++) {
			c.need[dag->arg[i]][d] =
				op->shape[d] < most_out ? op->shape[d] : most_out;
		}
	}
	for (uint32_t i = dag->n_op; i-- > 0;) {
		struct hn_op *op = HN_NEW(a, struct hn_op);
		uint32_t n_axis = dag->op[i]->n_spatial + dag->op[i]->n_reduce;
		struct hn_axis *axis = HN_NEW_ARRAY(a, struct hn_axis, n_axis);
		int64_t *shape = HN_NEW_ARRAY(a, int64_t, dag->op[i]->n_dim);

		*op = *dag->op[i];
		for (uint32_t d = 0; d < op->n_dim; d++) {
			shape[d] = c.need[i][d] ? c.need[i][d] : 1;
		}
		c.span = HN_NEW_ARRAY(a, struct hn_span, n_axis);
		c.n_span = n_axis;
		for (uint32_t k = 0; k < n_axis; k++) {
			axis[k] = op->axis[k];
			if (k < op->n_spatial) {
				axis[k].extent = shape[k];
			} else if (axis[k].extent > most_reduce) {
				axis[k].extent = most_reduce;
			}
			c.span[k] = (struct hn_span){ axis[k].min,
						      axis[k].min + axis[k].extent - 1 };
		}
		op->shape = shape;
		op->axis = axis;
		list[i] = op;
		crop_reads(&c, op);
	}
	*ret = *dag;
	ret->op = list;
	return ret;
}

#endif
