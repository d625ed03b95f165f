/* lower/prove/equal_reduce.c -- a reduction that is one, or several in each other, against one of
 * the task's dag.
 *
 * Stage d may reduce what another stage has reduced (RF): of the same combiner and identity, the
 * two are one reduction over the axes of both, under the conditions of both.  With the laws of
 * law.h the order of its points does not count, and those left out count as none; so it is op o's
 * reduction when
 *   1. a map gives, at each point of o's spatial axes, each point of o's reduction box to exactly
 *      one of the parts' box, guards for ends that parts stick out over aside (isl);
 *   2. elsewhere in the parts' box, and past those ends, their condition does not hold;
 *   3. where the map leads, the conditions hold at the same points, and there
 *   4. the sources are equal.
 * Where the axes are the same and nothing is nested, the map is the identity, the points come in
 * the same order, and no law is needed.
 */
#include <string.h>

#include "lower/prove/equal_int.h"

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/size.h"

bool hn_eq_add_slots(struct hn_eq *c, const struct hn_op *op)
{
	if (c->n_slot + op->n_reduce > HN_EQ_MAX_SLOTS) {
		return hn_eq_fail(c, "it has more axes than are compared");
	}
	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		c->slot[c->n_slot++] = (struct hn_eq_axis){ op->axis[i].min, op->axis[i].extent,
							    hn_op_extent(op, i) };
	}
	return true;
}

const struct hn_expr *hn_eq_both(struct hn_eq *c, const struct hn_expr *x,
				  const struct hn_expr *y)
{
	const struct hn_expr like = { .op = HN_EXPR_AND, .dtype = HN_BOOL, .n_arg = 2 };
	const struct hn_expr *arg[2] = { x, y };

	return !x ? y : !y ? x : hn_eq_data(c, &like, arg);
}

bool hn_eq_expand_reduce(struct hn_eq *c, bool derived, const struct hn_op *op,
		   const struct hn_expr *const *value, const struct hn_expr **source,
		   const struct hn_expr **condition)
{
	const struct hn_eq_env env = { .derived = derived, .value = value,
				       .n_value = op->n_spatial + op->n_reduce };

	*condition = NULL;
	if (op->reduce->condition) {
		*condition = hn_eq_expand(c, &env, op->reduce->condition, false);
		if (!*condition) {
			return false;
		}
	}
	for (uint32_t k = 0; k < op->reduce->n; k++) {
		source[k] = hn_eq_expand(c, &env, op->reduce->source[k], false);
		if (!source[k]) {
			return false;
		}
	}
	return true;
}

bool hn_eq_is_guard(const struct hn_expr *e)
{
	return e->op == HN_EXPR_IF && e->arg[2]->op == HN_EXPR_INT && e->arg[2]->u.i == 0;
}

static bool same_combiner(const struct hn_reduce *x, const struct hn_reduce *y)
{
	bool same = x->n == y->n;

	for (uint32_t k = 0; k < x->n && same; k++) {
		same = hn_expr_equal(x->result[k], y->result[k]) &&
		       hn_expr_equal(x->identity[k], y->identity[k]);
	}
	return same;
}

/* The stage that all sources load, each its own output, at one place; NULL when there is none. */
static const struct hn_op *part_of(const struct hn_eq *c, const struct hn_reduce *r,
				   const struct hn_eq_flat *f)
{
	const struct hn_expr *first = f->source[0];

	for (uint32_t k = 0; k < r->n; k++) {
		const struct hn_expr *e = f->source[k];

		if (e->op != HN_EXPR_LOAD || (uint32_t)e->ref < c->given->n_op ||
		    e->ref != first->ref || e->out != (int32_t)k) {
			return NULL;
		}
		for (uint32_t d = 0; d < e->n_arg; d++) {
			if (!hn_expr_equal(e->arg[d], first->arg[d])) {
				return NULL;
			}
		}
	}
	return c->derived->op[(uint32_t)first->ref - c->given->n_op];
}

/* Parts within parts become one reduction. */
static bool flatten(struct hn_eq *c, int32_t d, struct hn_eq_flat *f)
{
	const struct hn_op *op = c->derived->op[d];
	const struct hn_expr *value[HN_EQ_MAX_SLOTS];
	const struct hn_op *part;

	f->n_spatial = op->n_spatial;
	if (!hn_eq_add_slots(c, op)) {
		return false;
	}
	for (uint32_t i = 0; i < c->n_slot; i++) {
		value[i] = hn_eq_slot(c, i);
	}
	if (!hn_eq_expand_reduce(c, true, op, value, f->source, &f->condition)) {
		return false;
	}
	while ((part = part_of(c, op->reduce, f)) != NULL && part->reduce) {
		const struct hn_expr *outer = f->condition, *load = f->source[0];
		uint32_t first = c->n_slot;

		if (!same_combiner(part->reduce, op->reduce)) {
			return hn_eq_fail(c, "its parts have another combiner or identity");
		}
		if (!hn_eq_add_slots(c, part)) {
			return false;
		}
		for (uint32_t i = 0; i < part->n_spatial; i++) {
			value[i] = load->arg[i];
		}
		for (uint32_t i = 0; i < part->n_reduce; i++) {
			value[part->n_spatial + i] = hn_eq_slot(c, first + i);
		}
		c->unfolded[load->ref] = true;
		if (!hn_eq_expand_reduce(c, true, part, value, f->source, &f->condition)) {
			return false;
		}
		f->condition = hn_eq_both(c, outer, f->condition);
		f->n_nested++;
	}
	f->n_reduce = c->n_slot - f->n_spatial;
	return true;
}

/* -- the proof ------------------------------------------------------------------------------ */

/* dom with as much of the condition as isl knows: no smaller than where it holds. */
static const struct hn_eq_dom *assume(struct hn_eq *c, const struct hn_eq_dom *dom,
				      const struct hn_expr *e)
{
	if (hn_eq_is_affine_condition(c, e)) {
		return hn_eq_where(c, dom, e, true);
	}
	if (e->op == HN_EXPR_AND || hn_eq_is_guard(e)) {
		return assume(c, assume(c, dom, e->arg[0]), e->arg[1]);
	}
	return dom;
}

static const struct hn_expr *or_always(struct hn_eq *c, const struct hn_expr *condition)
{
	return condition ? condition : hn_expr_int(1, HN_BOOL, c->arena);
}

/* 2., 3. and 4. */
static bool equal_points(struct hn_eq *c, const struct hn_eq_parts *p,
			 const struct hn_expr *const *source, const struct hn_expr *condition)
{
	const struct hn_eq_dom *all = hn_eq_where(c, NULL, NULL, true), *dom = all;
	const struct hn_eq_flat *f = p->flat;

	if (p->in) {
		const struct hn_eq_dom *out = hn_eq_where(c, all, p->in, false);

		if (!hn_eq_nowhere(c, f->condition ? assume(c, out, f->condition) : out)) {
			return hn_eq_fail(c, "what is no point of the reduction is in its parts");
		}
		dom = hn_eq_where(c, all, p->in, true);
	}
	if ((condition || f->condition) &&
	    !hn_eq_decided(c, dom, or_always(c, condition), or_always(c, f->condition))) {
		return false;
	}
	if (f->condition) {
		dom = assume(c, dom, f->condition);
	}
	for (uint32_t k = 0; k < p->op->reduce->n; k++) {
		if (!hn_eq_decided(c, dom, source[k], f->source[k])) {
			return false;
		}
	}
	return true;
}

static bool same_axes(const struct hn_op *x, const struct hn_op *y)
{
	bool same = x->n_reduce == y->n_reduce;

	for (uint32_t i = x->n_spatial; i < x->n_spatial + x->n_reduce && same; i++) {
		const struct hn_expr *fx = hn_op_extent(x, i), *fy = hn_op_extent(y, i);

		same = x->axis[i].min == y->axis[i].min &&
		       x->axis[i].extent == y->axis[i].extent &&
		       (fx == fy || (fx && fy && hn_expr_equal(fx, fy)));
	}
	return same;
}

static const char *law_of(struct hn_eq *c, const struct hn_op *op)
{
	static const char *const kind[] = {
		[HN_COMBINE_NONE] = "none", [HN_COMBINE_SUM] = "sum",
		[HN_COMBINE_PROD] = "product", [HN_COMBINE_MIN] = "minimum",
		[HN_COMBINE_MAX] = "maximum", [HN_COMBINE_GENERAL] = "combiner",
	};
	bool extreme = op->reduce->kind == HN_COMBINE_MIN || op->reduce->kind == HN_COMBINE_MAX;
	bool general = op->reduce->kind == HN_COMBINE_GENERAL;
	const char *by = "by law";

	for (uint32_t k = 0; k < op->n_out; k++) {
		if (hn_dtype_class(op->dtype[k]) == HN_CLASS_FLOAT) {
			by = general   ? "by liberties reassociation and minmax"
			     : extreme ? "by liberty minmax"
				       : "by liberty reassociation";
		}
	}
	return hn_arena_printf(c->arena, "%s of %s %s", kind[op->reduce->kind],
			       hn_dtype_name(op->dtype[0]), by);
}

static const char *say_partition(struct hn_eq *c, const struct hn_op *op)
{
	struct hn_buf text;
	const char *r;

	hn_buf_init(&text);
	for (uint32_t k = 0; k < op->n_reduce; k++) {
		hn_buf_printf(&text, "%s%s", k > 0 ? ", " : "",
			      op->axis[op->n_spatial + k].name);
	}
	r = hn_arena_printf(c->arena, "of %.200s; %s", text.failed ? "" : text.s, law_of(c, op));
	hn_buf_fini(&text);
	return r;
}

static bool may_be_parts(struct hn_eq *c, const struct hn_op *op)
{
	const char *why = hn_against_parts(c->given, op);

	if (why) {
		return hn_eq_fail(c, "it may not be reduced in parts: %s", why);
	}
	if (c->given->sizes) {
		return hn_eq_fail(c, "sizes that are parameters rule out parts");
	}
	return true;
}

static bool find_parts(struct hn_eq *c, struct hn_eq_parts *p, bool below)
{
	if (!hn_eq_find_map(c, p, below)) {
		return false;
	}
	for (uint32_t k = 0; k < p->op->n_reduce; k++) {
		if (!hn_poly_is_affine(p->value[k], NULL)) {
			return hn_eq_fail(c, "how its parts are put together is not quasi-affine");
		}
	}
	return true;
}

/* Whether the sums are of the same points, of the op's axes being p->value. */
static bool same_points(struct hn_eq *c, struct hn_eq_parts *p)
{
	const struct hn_expr *value[HN_DAG_MAX_ITERS], *source[HN_DAG_MAX_OUT], *condition;
	const struct hn_op *op = p->op;

	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		value[i] = i < op->n_spatial ? hn_eq_slot(c, i) : p->value[i - op->n_spatial];
	}
	return hn_eq_expand_reduce(c, false, op, value, source, &condition) &&
	       (p->flat->n_nested == 0 || hn_eq_is_partition(c, p, condition)) &&
	       equal_points(c, p, source, condition);
}

/* Two guesses at what the op's axes are: without what lies below quotients and remainders, which
 * may have been simplified to less; and with it. */
static bool is_in_parts(struct hn_eq *c, struct hn_eq_parts *p)
{
	uint32_t n = c->given->n_op + c->derived->n_op;
	bool *unfolded = HN_NEW_ARRAY(c->arena, bool, n);
	bool same = false;

	memcpy(unfolded, c->unfolded, n * sizeof(*unfolded));
	for (int below = 0; below < 2 && !same; below++) {
		memcpy(c->unfolded, unfolded, n * sizeof(*unfolded));
		memset(p->value, 0, sizeof(p->value));
		same = find_parts(c, p, below) && same_points(c, p);
	}
	return same;
}

bool hn_eq_reduction(struct hn_eq *c, int32_t d, int32_t o, const char **ret_by)
{
	const struct hn_op *op = c->given->op[o];
	struct hn_eq_flat f = { 0 };
	struct hn_eq_parts p = { .op = op, .flat = &f };

	*ret_by = NULL;
	if (!same_combiner(op->reduce, c->derived->op[d]->reduce)) {
		return hn_eq_fail(c, "its combiner or identity is another one");
	}
	if (!flatten(c, d, &f)) {
		return false;
	}
	if (f.n_nested == 0 && !same_axes(op, c->derived->op[d])) {
		return hn_eq_fail(c, "its reduction axes are others");
	}
	if (f.n_nested > 0) {
		*ret_by = say_partition(c, op);
		return may_be_parts(c, op) && is_in_parts(c, &p);
	}
	for (uint32_t k = 0; k < op->n_reduce; k++) {
		p.value[k] = hn_eq_slot(c, op->n_spatial + k);
	}
	return same_points(c, &p);
}
