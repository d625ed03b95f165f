/* lower/prove/equal_parts.c -- a map from the points of a reduction to those of its parts. It is
 * guessed first, and then proved to be one to one. */
#include <isl/map.h>

#include "loopstate/expr/simplify.h"
#include "lower/prove/equal_int.h"

/* The axis of that extent that has no value yet; NULL = there is none, or, lone, several. */
static const struct hn_expr **open_axis(struct hn_eq_parts *p, int64_t extent, bool lone)
{
	const struct hn_axis *axis = &p->op->axis[p->op->n_spatial];
	const struct hn_expr **found = NULL;

	for (uint32_t k = p->op->n_reduce; k-- > 0;) {
		if (!p->value[k] && axis[k].extent == extent) {
			if (found && lone) {
				return NULL;
			}
			found = &p->value[k];
		}
	}
	return found;
}

/* `value < extent` among the conditions says what an axis without a trace in the sources is. */
static void match_range(struct hn_eq *c, struct hn_eq_parts *p, const struct hn_expr *condition,
			bool lone)
{
	const struct hn_axis *axis = &p->op->axis[p->op->n_spatial];

	if (condition->op == HN_EXPR_AND || condition->op == HN_EXPR_IF) {
		match_range(c, p, condition->arg[0], lone);
		match_range(c, p, condition->arg[1], lone);
		return;
	}
	const struct hn_expr **value =
		condition->op == HN_EXPR_LT && condition->arg[1]->op == HN_EXPR_INT
			? open_axis(p, condition->arg[1]->u.i, lone)
			: NULL;

	if (value) {
		struct hn_eq_lin l = { .c = axis[value - p->value].min };

		hn_eq_add(c, &l, condition->arg[0], 1);
		*value = l.bad ? NULL : hn_eq_of_lin(c, &l);
	}
}

/* The sources and the condition of the op, whose axes begin at slot `first`, and of its parts. */
static void match_all(struct hn_eq *c, struct hn_eq_parts *p, const struct hn_expr *const *source,
		      const struct hn_expr *condition, uint32_t first, bool below)
{
	const struct hn_expr *e = condition ? p->flat->condition : NULL;
	uint32_t n = p->op->n_reduce;

	for (uint32_t k = 0; k < p->op->reduce->n; k++) {
		hn_eq_match(c, source[k], p->flat->source[k], first, p->value, n, below);
	}
	for (; e && e->op == HN_EXPR_AND; e = e->arg[1]) {
		hn_eq_match(c, condition, e->arg[1], first, p->value, n, below);
	}
	if (e) {
		hn_eq_match(c, condition, e, first, p->value, n, below);
	}
}

bool hn_eq_find_map(struct hn_eq *c, struct hn_eq_parts *p, bool below)
{
	const struct hn_expr *value[HN_DAG_MAX_ITERS], *source[HN_DAG_MAX_OUT], *condition;
	uint32_t first = c->n_slot, n = p->op->n_reduce;
	uint64_t n_axis = p->op->n_spatial + n;
	bool *unfolded = c->unfolded;
	bool ok;

	if (!hn_eq_add_slots(c, p->op)) {
		return false;
	}
	for (uint32_t i = 0; i < n_axis; i++) {
		value[i] = hn_eq_slot(c, i < p->op->n_spatial ? i : first + i - p->op->n_spatial);
	}
	c->unfolded = HN_NEW_ARRAY(c->arena, bool, c->given->n_op + c->derived->n_op);
	ok = hn_eq_expand_reduce(c, false, p->op, value, source, &condition);
	c->unfolded = unfolded;
	if (ok) {
		match_all(c, p, source, condition, first, /* below= */ false);
		if (p->flat->condition) {
			match_range(c, p, p->flat->condition, /* lone= */ true);
		}
		if (below) {
			match_all(c, p, source, condition, first, /* below= */ true);
		}
		if (p->flat->condition) {
			match_range(c, p, p->flat->condition, /* lone= */ false);
		}
		hn_eq_match_rest(c, p);
	}
	c->n_slot = first;
	return ok;
}

static const struct hn_expr *compare(struct hn_eq *c, enum hn_expr_op op,
				     const struct hn_expr *x, const struct hn_expr *y)
{
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = HN_BOOL };
	const struct hn_expr *arg[2] = { x, y };

	return hn_expr_with_args(&like, arg, 2, c->arena);
}

/* Where the map leads into the box of the op's reduction; NULL = everywhere. */
static const struct hn_expr *landing(struct hn_eq *c, const struct hn_eq_parts *p)
{
	const struct hn_axis *axis = &p->op->axis[p->op->n_spatial];
	const struct hn_expr *in = NULL;

	for (uint32_t k = 0; k < p->op->n_reduce; k++) {
		int64_t min = axis[k].min, end = min + axis[k].extent, lo, hi;
		bool known = hn_eq_span(c, p->value[k], &lo, &hi);

		if (!known || lo < min) {
			in = hn_eq_both(c, in, compare(c, HN_EXPR_GE, p->value[k],
						 hn_expr_int(min, HN_I64, c->arena)));
		}
		if (!known || hi >= end) {
			in = hn_eq_both(c, in, compare(c, HN_EXPR_LT, p->value[k],
						 hn_expr_int(end, HN_I64, c->arena)));
		}
	}
	return in;
}

/* Whether e is among the conditions that must all hold for `all`. */
static bool is_among(struct hn_eq *c, const struct hn_expr *e, const struct hn_expr *all)
{
	const char *before = c->why;

	if (!all || hn_eq_alike(c, e, all)) {
		return all != NULL;
	}
	if (all->op == HN_EXPR_AND || hn_eq_is_guard(all)) {
		return is_among(c, e, all->arg[0]) || is_among(c, e, all->arg[1]);
	}
	if (hn_eq_is_affine_condition(c, all) &&
	    hn_eq_value(c, hn_eq_where(c, NULL, NULL, true), e, all)) {
		return true;
	}
	c->why = before;
	return false;
}

/* Of what must hold for the parts' condition, what isl knows and the op does not ask. */
static const struct hn_expr *guards(struct hn_eq *c, const struct hn_expr *parts,
				    const struct hn_expr *op)
{
	if (parts->op == HN_EXPR_AND || hn_eq_is_guard(parts)) {
		const struct hn_expr *x = guards(c, parts->arg[0], op);
		const struct hn_expr *y = guards(c, parts->arg[1], op);

		return x || y ? hn_eq_both(c, x, y) : NULL;
	}
	return hn_eq_is_affine_condition(c, parts) && !is_among(c, parts, op) ? parts : NULL;
}

/* 1.  { [spatial, k] -> [parts] : k is what the parts map to } is a function on all of the box. */
bool hn_eq_is_partition(struct hn_eq *c, struct hn_eq_parts *p, const struct hn_expr *condition)
{
	uint32_t n_part = p->flat->n_reduce, n_k = p->op->n_reduce, n = 0;
	int32_t dim[HN_EQ_MAX_SLOTS], box_dim[HN_EQ_MAX_SLOTS];
	uint32_t first = c->n_slot, n_outer;
	isl_set *points, *box;
	isl_map *back;
	bool once, all;

	p->in = landing(c, p);
	if (p->flat->condition) {
		const struct hn_expr *g = guards(c, p->flat->condition, condition);

		p->in = g ? hn_eq_both(c, p->in, g) : p->in;
	}

	if (!hn_eq_add_slots(c, p->op)) {
		return false;
	}
	/* Coordinates: the spatial axes that the map uses, the op's reduction axes, the parts'. */
	for (uint32_t i = 0; i < p->flat->n_spatial; i++) {
		bool used = false;

		for (uint32_t k = 0; k < n_k; k++) {
			used = used || hn_expr_uses(p->value[k], (int32_t)i);
		}
		dim[i] = used ? (int32_t)n++ : -1;
	}
	for (uint32_t k = 0; k < n_k; k++) {
		dim[first + k] = (int32_t)n++;
	}
	n_outer = n;
	for (uint32_t i = 0; i < n_part; i++) {
		dim[p->flat->n_spatial + i] = (int32_t)n++;
	}
	for (uint32_t i = 0; i < c->n_slot; i++) {
		box_dim[i] = dim[i] < (int32_t)n_outer ? dim[i] : -1;
	}
	points = hn_eq_box(c, n, dim);
	for (uint32_t k = 0; k < n_k; k++) {
		points = hn_eq_cut(c, points, dim,
				   compare(c, HN_EXPR_EQ, hn_eq_slot(c, first + k), p->value[k]),
				   true);
	}
	if (p->in) {
		points = hn_eq_cut(c, points, dim, p->in, true);
	}
	box = hn_eq_box(c, n_outer, box_dim);
	c->n_slot = first;
	back = isl_map_move_dims(isl_map_from_range(points), isl_dim_in, 0, isl_dim_out, 0,
				 n_outer);
	once = isl_map_is_single_valued(back) == isl_bool_true;
	points = isl_map_domain(back);
	all = isl_set_is_subset(box, points) == isl_bool_true;
	isl_set_free(points);
	isl_set_free(box);
	return !once  ? hn_eq_fail(c, "a point of the reduction is in two of its parts")
	       : !all ? hn_eq_fail(c, "a point of the reduction is in none of its parts")
		      : true;
}
