/* loopstate/dag/size.c -- forms over size parameters, and dags with numbers for them. */
#include "loopstate/dag/size.h"

#include <inttypes.h>

#include "base/arith.h"
#include "loopstate/expr/simplify.h"

#define MOST ((int64_t)1 << 61)

const struct hn_expr *hn_op_extent(const struct hn_op *op, uint32_t i)
{
	const struct hn_expr *e = op->extent != NULL ? op->extent[i] : NULL;

	return e != NULL && e->op != HN_EXPR_INT ? e : NULL;
}

bool hn_op_is_sized(const struct hn_op *op)
{
	for (uint32_t d = 0; d < op->n_dim; d++) {
		if (hn_op_extent(op, d) != NULL) {
			return true;
		}
	}
	return false;
}

bool hn_expr_uses_size(const struct hn_expr *e)
{
	bool uses = hn_expr_is_size(e);

	for (uint32_t i = 0; i < e->n_arg && !uses; i++) {
		uses = hn_expr_uses_size(e->arg[i]);
	}
	return uses;
}

static bool is_constant(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT;
}

/* [lo, hi] * c. */
static bool scaled(int64_t c, int64_t *lo, int64_t *hi)
{
	int64_t x, y;

	if (__builtin_mul_overflow(*lo, c, &x) || __builtin_mul_overflow(*hi, c, &y)) {
		return false;
	}
	*lo = c < 0 ? y : x;
	*hi = c < 0 ? x : y;
	return true;
}

static bool range(const struct hn_sizes *sizes, const struct hn_expr *e, int64_t *lo,
		  int64_t *hi)
{
	int64_t l, h;

	switch (e->op) {
	case HN_EXPR_INT:
		*lo = *hi = e->u.i;
		return true;
	case HN_EXPR_VAR:
		if (!hn_expr_is_size(e) ||
		    (uint32_t)(e->ref - HN_SLOT_SIZE) >= sizes->n) {
			return false;
		}
		*lo = sizes->size[e->ref - HN_SLOT_SIZE].lo;
		*hi = sizes->size[e->ref - HN_SLOT_SIZE].hi;
		return true;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		if (!range(sizes, e->arg[0], lo, hi) ||
		    !range(sizes, e->arg[1], &l, &h) ||
		    !scaled(e->op == HN_EXPR_ADD ? 1 : -1, &l, &h)) {
			return false;
		}
		return !__builtin_add_overflow(*lo, l, lo) &&
		       !__builtin_add_overflow(*hi, h, hi);
	case HN_EXPR_MUL:
		if (!is_constant(e->arg[0]) && !is_constant(e->arg[1])) {
			return false;
		}
		return range(sizes, e->arg[is_constant(e->arg[0])], lo, hi) &&
		       scaled(e->arg[!is_constant(e->arg[0])]->u.i, lo, hi);
	case HN_EXPR_FLOORDIV:
		if (!is_constant(e->arg[1]) || e->arg[1]->u.i <= 0 ||
		    !range(sizes, e->arg[0], lo, hi)) {
			return false;
		}
		*lo = hn_floordiv(*lo, e->arg[1]->u.i);
		*hi = hn_floordiv(*hi, e->arg[1]->u.i);
		return true;
	default:
		return false;
	}
}

bool hn_size_range(const struct hn_sizes *sizes, const struct hn_expr *e, int64_t *ret_lo,
		   int64_t *ret_hi)
{
	return range(sizes, e, ret_lo, ret_hi) && *ret_lo > -MOST && *ret_hi < MOST;
}

const struct hn_expr *hn_size_form(const struct hn_expr *e, struct hn_arena *a)
{
	return hn_simplify(e, NULL, 0, a);
}

/* -- numbers for sizes ------------------------------------------------------------------ */

static const struct hn_expr *put_value(const struct hn_expr *e, void *ctx,
				       struct hn_arena *a)
{
	const int64_t *value = ctx;

	return hn_expr_is_size(e)
		       ? hn_expr_int(value[e->ref - HN_SLOT_SIZE], e->dtype, a)
		       : e;
}

static const struct hn_expr *const *put_all(const struct hn_expr *const *e, uint32_t n,
					    const int64_t *value, struct hn_arena *a)
{
	const struct hn_expr **to = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		to[i] = hn_expr_map(e[i], put_value, (void *)value, a);
	}
	return to;
}

/* A form's value: the one number in its range. */
static int64_t number(const struct hn_expr *form, const struct hn_sizes *given)
{
	int64_t lo = 0, hi = 0;
	bool known = hn_size_range(given, form, &lo, &hi);

	hn_assert(known && lo == hi);
	return lo;
}

static void put_extents(struct hn_op *op, const struct hn_sizes *given,
			struct hn_arena *a)
{
	int64_t *shape = HN_NEW_ARRAY(a, int64_t, op->n_dim);
	struct hn_axis *axis =
		HN_NEW_ARRAY(a, struct hn_axis, op->n_spatial + op->n_reduce);

	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		axis[i] = op->axis[i];
	}
	for (uint32_t i = 0; i < op->n_dim + op->n_reduce; i++) {
		const struct hn_expr *form = hn_op_extent(op, i);
		int64_t v = form != NULL     ? number(form, given)
			    : i < op->n_dim ? op->shape[i]
					    : op->axis[i].extent;

		if (i < op->n_dim) {
			shape[i] = v;
		}
		if (op->kind == HN_OP_COMPUTE) {
			axis[i].extent = v;
		}
	}
	op->shape = shape;
	op->axis = axis;
	op->extent = NULL;
	op->sizes = NULL;
}

static const struct hn_op *instance(const struct hn_op *op, const struct hn_sizes *given,
				    const int64_t *value, struct hn_arena *a)
{
	struct hn_op *to = HN_NEW(a, struct hn_op);

	*to = *op;
	put_extents(to, given, a);
	if (op->body != NULL) {
		to->body = put_all(op->body, op->n_out, value, a);
	}
	if (op->reduce != NULL) {
		struct hn_reduce *r = HN_NEW(a, struct hn_reduce);

		*r = *op->reduce;
		r->source = put_all(r->source, r->n, value, a);
		if (r->condition != NULL) {
			r->condition = hn_expr_map(r->condition, put_value,
						   (void *)value, a);
		}
		to->reduce = r;
	}
	return to;
}

int hn_dag_instantiate(const struct hn_dag *dag, const int64_t *value, struct hn_arena *a,
		       const struct hn_dag **ret, struct hn_err *err)
{
	const struct hn_sizes *sizes = dag->sizes;

	if (sizes == NULL) {
		*ret = dag;
		return 0;
	}
	struct hn_size *size = HN_NEW_ARRAY(a, struct hn_size, sizes->n);
	const struct hn_sizes given = { sizes->n, size };
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);
	struct hn_dag *to = HN_NEW(a, struct hn_dag);

	for (uint32_t k = 0; k < sizes->n; k++) {
		const struct hn_size *s = &sizes->size[k];

		if (value[k] < s->lo || value[k] > s->hi) {
			return hn_fail(err, HONE_E_INVALID,
				       "size %s is %" PRId64 ", it may be %" PRId64
				       " to %" PRId64,
				       s->name, value[k], s->lo, s->hi);
		}
		size[k] = (struct hn_size){ s->name, value[k], value[k] };
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		op[i] = instance(dag->op[i], &given, value, a);
	}
	*to = *dag;
	to->op = op;
	to->sizes = NULL;
	*ret = to;
	return 0;
}

int hn_dag_need_numbers(const char *what, const struct hn_dag *dag, struct hn_err *err)
{
	return dag->sizes == NULL
		       ? 0
		       : hn_fail(err, HONE_E_UNSUPPORTED,
				 "%s: its sizes are parameters (%s, ...), which only hone "
				 "replay --record and hone-build take: write numbers in "
				 "their place",
				 what, dag->sizes->size[0].name);
}
