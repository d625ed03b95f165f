/* derive_rfactor.c -- a reduction cut in two: partial results over one loop of it, then
 * the reduction of those.
 *
 * The factored loop comes out of splits and fuses of reduction axes, so the source must
 * be rewritten over the loops ("variables", state.h) that are left.  Values of variables
 * are offsets from 0; an axis adds its min.  A split that does not divide lets its parent
 * run past its extent, so each such parent gets a condition; then every variable stays in
 * its range and no element is counted twice.
 */
#include "loopstate/state/derive.h"

#include <string.h>

#include "base/arith.h"
#include "loopstate/dag/mark.h"

struct rfactor {
	const struct hn_stage *st;
	const struct hn_op *old;
	int32_t factored; /* variable */
	uint32_t position;
	bool *touched;		      /* [n_var] */
	int64_t *extent;	      /* [n_var] */
	const struct hn_expr **value; /* [n_var] over the axes of the partial op */
	struct hn_op *partial;
	struct hn_axis *axis;
};

void hn_derive_touched(const struct hn_stage *st, int32_t var, bool *touched)
{
	bool changed = true;

	memset(touched, 0, st->n_var * sizeof(*touched));
	touched[var] = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < st->n_rel; i++) {
			const struct hn_rel *r = &st->rel[i];
			bool any = touched[r->parent], all = any;

			for (uint32_t k = 0; k < r->n; k++) {
				any = any || touched[r->part[k]];
				all = all && touched[r->part[k]];
			}
			if (!any || all) {
				continue;
			}
			changed = true;
			touched[r->parent] = true;
			for (uint32_t k = 0; k < r->n; k++) {
				touched[r->part[k]] = true;
			}
		}
	}
}

static void split_extents(const struct hn_rel *r, int64_t *extent)
{
	int64_t rest = extent[r->parent];

	for (uint32_t i = 0; i + 1 < r->n; i++) {
		uint32_t k = r->inner_to_outer ? r->n - 1 - i : i;
		int64_t len = r->len[k] == HN_HOLE ? 1 : r->len[k];

		extent[r->part[k]] = len < rest ? len : rest;
		rest = hn_ceildiv(rest, len);
	}
	extent[r->part[r->inner_to_outer ? 0 : r->n - 1]] = rest;
}

static void find_extents(struct rfactor *f)
{
	for (uint32_t i = 0; i < f->old->n_spatial + f->old->n_reduce; i++) {
		f->extent[i] = f->old->axis[i].extent;
	}
	for (uint32_t i = 0; i < f->st->n_rel; i++) {
		const struct hn_rel *r = &f->st->rel[i];

		if (r->kind == HN_REL_SPLIT) {
			split_extents(r, f->extent);
			continue;
		}
		f->extent[r->parent] = 1;
		for (uint32_t k = 0; k < r->n; k++) {
			f->extent[r->parent] =
				hn_mul_sat(f->extent[r->parent], f->extent[r->part[k]]);
		}
	}
}

/* The name TVM's schedule gives a variable: i.outer, i.inner, i.j.fused. */
static void put_name(const struct rfactor *f, int32_t var, struct hn_buf *buf)
{
	if (var < (int32_t)(f->old->n_spatial + f->old->n_reduce)) {
		hn_buf_puts(buf, f->old->axis[var].name);
		return;
	}
	for (uint32_t i = 0; i < f->st->n_rel; i++) {
		const struct hn_rel *r = &f->st->rel[i];

		if (r->kind == HN_REL_FUSE && r->parent == var) {
			for (uint32_t k = 0; k < r->n; k++) {
				hn_buf_puts(buf, k > 0 ? "." : "");
				put_name(f, r->part[k], buf);
				hn_buf_puts(buf, k > 0 ? ".fused" : "");
			}
			return;
		}
		for (uint32_t k = 0; r->kind == HN_REL_SPLIT && k < r->n; k++) {
			if (r->part[k] != var) {
				continue;
			}
			uint32_t cuts = r->inner_to_outer ? r->n - 1 - k : k;
			bool last = cuts == r->n - 1; /* the rest */

			put_name(f, r->parent, buf);
			for (uint32_t c = 0; c < cuts; c++) {
				hn_buf_puts(buf, r->inner_to_outer ? ".outer" : ".inner");
			}
			if (!last) {
				hn_buf_puts(buf, r->inner_to_outer ? ".inner" : ".outer");
			}
			return;
		}
	}
}

static const char *variable_name(const struct rfactor *f, const struct hn_iter *it,
				 struct hn_arena *a)
{
	const char *name = it->name;
	struct hn_buf buf;

	hn_buf_init(&buf);
	buf.max_bytes = HN_STATE_MAX_NAME;
	put_name(f, it->var, &buf);
	if (!buf.failed && buf.n > 0) {
		name = hn_arena_strndup(a, buf.s, buf.n);
	}
	hn_buf_fini(&buf);
	return name;
}

/* Variable `var` is axis `slot` of the partial op.  A loop of one iteration is left out
 * of the expressions, as TVM does: it would hide the access pattern. */
static void bind_axis(struct rfactor *f, int32_t var, uint32_t slot, struct hn_arena *a)
{
	const struct hn_axis *axis = &f->axis[slot];

	f->value[var] = f->touched[var] && axis->extent == 1
				? hn_expr_int(0, HN_I32, a)
				: hn_expr_var((int32_t)slot, HN_I32, axis->name, a);
}

/* Axes of the partial op: spatial ones with the factored one among them; untouched
 * reduction axes; the other loops of the touched ones, in loop order. */
static void make_axes(struct rfactor *f, struct hn_arena *a)
{
	const struct hn_op *old = f->old;
	uint32_t slot = old->n_spatial + 1;

	f->axis = HN_NEW_ARRAY(a, struct hn_axis, slot + old->n_reduce + f->st->n_iter);
	for (uint32_t d = 0; d < old->n_spatial; d++) {
		uint32_t to = d + (d >= f->position);

		f->axis[to] = old->axis[d];
		bind_axis(f, (int32_t)d, to, a);
	}
	for (uint32_t d = 0; d < old->n_reduce; d++) {
		uint32_t var = old->n_spatial + d;

		if (!f->touched[var]) {
			f->axis[slot] = old->axis[var];
			bind_axis(f, (int32_t)var, slot++, a);
		}
	}
	for (uint32_t i = 0; i < f->st->n_iter; i++) {
		const struct hn_iter *it = &f->st->iter[i];

		if (!f->touched[it->var]) {
			continue;
		}
		uint32_t to = it->var == f->factored ? f->position : slot++;

		f->axis[to] = (struct hn_axis){
			.name = variable_name(f, it, a),
			.extent = f->extent[it->var],
		};
		bind_axis(f, it->var, to, a);
	}
	f->partial->axis = f->axis;
	f->partial->n_spatial = old->n_spatial + 1;
	f->partial->n_reduce = slot - f->partial->n_spatial;
}

static const struct hn_expr *both(const struct hn_expr *x, const struct hn_expr *y,
				  struct hn_arena *a)
{
	return x == NULL ? y : hn_expr_binary(HN_EXPR_AND, x, y, a);
}

static void note_load(const struct hn_expr *e, void *ctx)
{
	bool *loads = ctx;

	*loads = *loads || e->op == HN_EXPR_LOAD;
}

/* in_range and x.  Both sides of `and` may be evaluated, and past the range x has nothing to
 * load: what loads is asked only within it. */
static const struct hn_expr *within(const struct hn_expr *in_range, const struct hn_expr *x,
				    struct hn_arena *a)
{
	const struct hn_expr like = { .op = HN_EXPR_IF, .dtype = HN_BOOL };
	const struct hn_expr *arg[] = { in_range, x, hn_expr_int(0, HN_BOOL, a) };
	bool loads = false;

	hn_expr_visit(x, note_load, &loads);
	return both(in_range, loads && in_range ? hn_expr_with_args(&like, arg, 3, a) : x, a);
}

static const struct hn_expr *apply_int(enum hn_expr_op op, const struct hn_expr *x,
				       int64_t v, struct hn_arena *a)
{
	return hn_expr_binary(op, x, hn_expr_int(v, HN_I32, a), a);
}

/* parent = ((p0 * e1 + p1) * e2 + p2) ...; returns the condition that it is in range, or
 * NULL when it always is. */
static const struct hn_expr *join_split(struct rfactor *f, const struct hn_rel *r,
					struct hn_arena *a)
{
	const struct hn_expr *v = f->value[r->part[0]];
	int64_t reach = f->extent[r->part[0]];

	for (uint32_t k = 1; k < r->n; k++) {
		v = apply_int(HN_EXPR_MUL, v, f->extent[r->part[k]], a);
		v = hn_expr_binary(HN_EXPR_ADD, v, f->value[r->part[k]], a);
		reach = hn_mul_sat(reach, f->extent[r->part[k]]);
	}
	f->value[r->parent] = v;
	return reach > f->extent[r->parent]
		       ? apply_int(HN_EXPR_LT, v, f->extent[r->parent], a)
		       : NULL;
}

/* part_k = parent / (product of inner extents) % extent_k; the outermost needs no
 * modulus. */
static void cut_fuse(struct rfactor *f, const struct hn_rel *r, struct hn_arena *a)
{
	int64_t stride = 1;

	for (uint32_t k = r->n; k-- > 0;) {
		int64_t extent = f->extent[r->part[k]];
		const struct hn_expr *v =
			apply_int(HN_EXPR_FLOORDIV, f->value[r->parent], stride, a);

		f->value[r->part[k]] =
			k > 0 ? apply_int(HN_EXPR_FLOORMOD, v, extent, a) : v;
		stride = hn_mul_sat(stride, extent);
	}
}

/* Values of all touched variables, from the loops up; the condition under which they are
 * those of an iteration (NULL = always).  Relations are in order of creation, so
 * backwards each finds what it needs. */
static const struct hn_expr *find_values(struct rfactor *f, struct hn_arena *a)
{
	const struct hn_expr *condition = NULL;

	for (uint32_t i = f->st->n_rel; i-- > 0;) {
		const struct hn_rel *r = &f->st->rel[i];

		if (r->kind == HN_REL_FUSE) {
			cut_fuse(f, r, a);
			continue;
		}
		const struct hn_expr *in_range = join_split(f, r, a);

		if (in_range != NULL) {
			condition = both(condition, in_range, a);
		}
	}
	for (uint32_t d = f->old->n_spatial; d < f->old->n_spatial + f->old->n_reduce;
	     d++) {
		if (f->touched[d] && f->old->axis[d].min != 0) {
			f->value[d] = apply_int(HN_EXPR_ADD, f->value[d],
						f->old->axis[d].min, a);
		}
	}
	return condition;
}

static const struct hn_reduce *partial_reduce(struct rfactor *f, struct hn_arena *a)
{
	const struct hn_reduce *old = f->old->reduce;
	struct hn_reduce *reduce = HN_NEW(a, struct hn_reduce);
	const struct hn_expr **source = HN_NEW_ARRAY(a, const struct hn_expr *, old->n);
	const struct hn_expr *condition = find_values(f, a);
	uint32_t n = f->old->n_spatial + f->old->n_reduce;

	*reduce = *old;
	for (uint32_t k = 0; k < old->n; k++) {
		source[k] = hn_expr_substitute(old->source[k], f->value, n, a);
	}
	if (old->condition != NULL) {
		condition = within(condition,
				   hn_expr_substitute(old->condition, f->value, n, a), a);
	}
	reduce->source = source;
	reduce->condition = condition;
	return reduce;
}

static struct hn_op *partial_op(struct rfactor *f, const struct hn_dag *dag,
				struct hn_arena *a)
{
	struct hn_op *op = f->partial;
	int64_t *shape = HN_NEW_ARRAY(a, int64_t, f->old->n_dim + 1);

	*op = *f->old;
	op->name = hn_derive_join(f->old->name, ".rf", a);
	op->id = hn_derive_id(dag, hn_derive_join(f->old->id, ".rf", a), a);
	op->tag = "";
	hn_op_keep_marks(op, a);
	make_axes(f, a);
	op->reduce = partial_reduce(f, a);
	for (uint32_t d = 0; d < op->n_spatial; d++) {
		shape[d] = op->axis[d].extent;
	}
	op->n_dim = op->n_spatial;
	op->shape = shape;
	return op;
}

static struct hn_op *final_op(const struct rfactor *f, int32_t partial,
			      struct hn_arena *a)
{
	const struct hn_op *old = f->old;
	struct hn_op *op = HN_NEW(a, struct hn_op);
	struct hn_reduce *reduce = HN_NEW(a, struct hn_reduce);
	struct hn_axis *axis = hn_derive_axes(old->shape, old->n_dim, old->n_dim + 1, a);
	const struct hn_axis *factored = &f->partial->axis[f->position];
	const struct hn_expr **index =
		HN_NEW_ARRAY(a, const struct hn_expr *, old->n_dim + 1);
	const struct hn_expr **source =
		HN_NEW_ARRAY(a, const struct hn_expr *, old->n_out);

	axis[old->n_dim] = *factored;
	axis[old->n_dim].name = hn_derive_join(factored->name, ".v", a);
	for (uint32_t d = 0; d <= old->n_dim; d++) {
		uint32_t to = d == old->n_dim ? f->position : d + (d >= f->position);

		index[to] = hn_expr_var((int32_t)d, HN_I32, axis[d].name, a);
	}
	*reduce = *old->reduce;
	for (uint32_t k = 0; k < old->n_out; k++) {
		source[k] = hn_derive_load(partial, k, old->dtype[k], index,
					   old->n_dim + 1, a);
	}
	reduce->source = source;
	reduce->condition = NULL;
	*op = *old;
	op->name = hn_derive_join(old->name, ".repl", a);
	op->tag = "";
	hn_op_keep_marks(op, a);
	op->axis = axis;
	op->n_reduce = 1;
	op->reduce = reduce;
	return op;
}

const struct hn_dag *hn_derive_rfactor(const struct hn_state *state, int32_t s,
				       int32_t iter, uint32_t position,
				       struct hn_arena *a)
{
	const struct hn_stage *st = state->stage[s];
	const struct hn_op **op;
	struct hn_dag *dag = hn_derive_shift(state, s, NULL, 0, &op, a);
	struct rfactor f = {
		.st = st,
		.old = state->dag->op[s],
		.factored = st->iter[iter].var,
		.position = position,
		.touched = HN_NEW_ARRAY(a, bool, st->n_var),
		.extent = HN_NEW_ARRAY(a, int64_t, st->n_var),
		.value = HN_NEW_ARRAY(a, const struct hn_expr *, st->n_var),
		.partial = HN_NEW(a, struct hn_op),
	};

	hn_derive_touched(st, f.factored, f.touched);
	find_extents(&f);
	op[s] = partial_op(&f, state->dag, a);
	op[s + 1] = final_op(&f, s, a);
	return dag;
}
