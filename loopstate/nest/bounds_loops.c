/* loopstate/nest/bounds_loops.c -- extents down the relations, values up them.
 *
 * Relations are in order of creation: a relation's inputs are axes or made by earlier
 * ones, so one pass forward knows every extent and one pass backward every value.  A
 * split whose parts cover more than its parent is guarded at the parent: any axis value
 * is then in range, also below a fuse. */
#include "loopstate/nest/bounds_loops.h"

#include "base/arith.h"
#include "loopstate/nest/bounds_scope.h"

struct ctx {
	const struct hn_stage *s;
	uint32_t i_stage; /* for sentences, with its name */
	const char *name;
	struct hn_err *err;
	struct hn_arena *a;
	int64_t *extent; /* [n_var]; 0 = not known yet */
	bool *threaded;	 /* [n_var] a loop made of it is a GPU thread's number */
	const struct hn_expr **value; /* [n_var] */
	const struct hn_span *loop;
	uint32_t n_loop;
};

static const struct hn_expr *constant(const struct ctx *x, int64_t v)
{
	return hn_expr_int(v, HN_I32, x->a);
}

static int bad_relation(const struct ctx *x, uint32_t i)
{
	return hn_fail(x->err, HONE_E_INVALID,
		       "stage %u (%s): relation %u does not fit its loops", x->i_stage,
		       x->name, i);
}

/* Splits are also how stages of one kernel agree on a number of threads, so a length
 * that threads count is kept even when it is more than there is. */
static void find_threaded(struct ctx *x)
{
	bool any = false;

	for (uint32_t i = 0; i < x->s->n_iter; i++) {
		if (hn_ann_is_thread(x->s->iter[i].ann)) {
			x->threaded[x->s->iter[i].var] = any = true;
		}
	}
	for (uint32_t i = any ? x->s->n_rel : 0; i-- > 0;) {
		const struct hn_rel *rel = &x->s->rel[i];

		for (uint32_t k = 0; k < rel->n; k++) {
			if (rel->kind == HN_REL_SPLIT) {
				x->threaded[rel->parent] |= x->threaded[rel->part[k]];
			} else {
				x->threaded[rel->part[k]] |= x->threaded[rel->parent];
			}
		}
	}
}

static int split_extents(struct ctx *x, const struct hn_rel *rel, uint32_t i)
{
	if (rel->parent < 0 || (uint32_t)rel->parent >= x->s->n_var || rel->n == 0) {
		return bad_relation(x, i);
	}
	int64_t rest = x->extent[rel->parent];

	for (uint32_t k = 0; k + 1 < rel->n && rest > 0; k++) {
		uint32_t p = rel->inner_to_outer ? rel->n - 1 - k : k;
		int64_t len = rel->len[p];

		if (len < 1) {
			return hn_fail(x->err, HONE_E_INVALID,
				       "stage %u (%s): a split length is not chosen yet",
				       x->i_stage, x->name);
		}
		x->extent[rel->part[p]] =
			len < rest || x->threaded[rel->part[p]] ? len : rest;
		rest = hn_ceildiv(rest, len);
	}
	x->extent[rel->part[rel->inner_to_outer ? 0 : rel->n - 1]] = rest;
	return rest > 0 ? 0 : bad_relation(x, i);
}

static int fuse_extents(struct ctx *x, const struct hn_rel *rel, uint32_t i)
{
	int64_t product = 1;

	for (uint32_t k = 0; k < rel->n; k++) {
		if (x->extent[rel->part[k]] <= 0) {
			return bad_relation(x, i);
		}
		product = hn_mul_sat(product, x->extent[rel->part[k]]);
	}
	x->extent[rel->parent] = product;
	return 0;
}

static int extents(struct ctx *x)
{
	find_threaded(x);
	for (uint32_t i = 0; i < x->s->n_rel; i++) {
		const struct hn_rel *rel = &x->s->rel[i];
		int rc = rel->kind == HN_REL_SPLIT ? split_extents(x, rel, i)
						   : fuse_extents(x, rel, i);

		if (rc != 0) {
			return rc;
		}
	}
	return 0;
}

static const struct hn_expr *simple(const struct ctx *x, const struct hn_expr *e)
{
	return hn_simplify(e, x->loop, x->n_loop, x->a);
}

/* p0*l1*l2 + p1*l2 + p2 ..., and the guard when that may pass the parent's extent. */
static const struct hn_expr *split_value(struct ctx *x, const struct hn_rel *rel,
					 struct hn_stage_loops *out)
{
	struct hn_term *term = HN_NEW_ARRAY(x->a, struct hn_term, rel->n);
	struct hn_affine sum = { .n = rel->n, .term = term };
	int64_t covered = 1, extent = x->extent[rel->parent];

	for (uint32_t k = rel->n; k-- > 0;) {
		if (x->value[rel->part[k]] == NULL) {
			return NULL;
		}
		term[k] = (struct hn_term){ covered, x->value[rel->part[k]] };
		covered = hn_mul_sat(covered, x->extent[rel->part[k]]);
	}
	const struct hn_expr *v = hn_simplify_sum(sum, HN_I32, x->loop, x->n_loop, x->a);

	if (covered > extent) {
		const struct hn_expr *g = simple(
			x, hn_expr_binary(HN_EXPR_LT, v, constant(x, extent), x->a));

		if (g->op != HN_EXPR_INT || g->u.i == 0) {
			out->guard[out->n_guard++] = g;
		}
	}
	return v;
}

/* Is v one loop that stays below `extent`? */
static bool is_loop_below(const struct ctx *x, const struct hn_expr *v, int64_t extent)
{
	return v->op == HN_EXPR_VAR && v->ref >= 0 && (uint32_t)v->ref < x->n_loop &&
	       x->loop[v->ref].hi < extent;
}

/* The outermost part keeps what is left, without a remainder: a value past the end then
 * shows. */
static void fuse_values(struct ctx *x, const struct hn_rel *rel)
{
	const struct hn_expr *v = x->value[rel->parent];
	int64_t inner = 1, outer = x->extent[rel->parent];
	bool plain = is_loop_below(x, v, outer); /* then what is made here is simple */

	for (uint32_t k = rel->n; k-- > 0;) {
		int64_t extent = x->extent[rel->part[k]];
		const struct hn_expr *p =
			hn_expr_binary(HN_EXPR_FLOORDIV, v, constant(x, inner), x->a);

		outer = extent > 0 ? outer / extent : 0;
		if (k > 0 && !(plain && outer == 1)) {
			p = hn_expr_binary(HN_EXPR_FLOORMOD, p, constant(x, extent),
					   x->a);
		}
		x->value[rel->part[k]] = extent == 1 ? constant(x, 0)
					 : plain     ? p
						     : simple(x, p);
		inner = hn_mul_sat(inner, extent);
	}
}

static int values(struct ctx *x, struct hn_stage_loops *out)
{
	for (uint32_t i = x->s->n_rel; i-- > 0;) {
		const struct hn_rel *rel = &x->s->rel[i];

		if (rel->kind == HN_REL_SPLIT) {
			x->value[rel->parent] = split_value(x, rel, out);
		} else if (x->value[rel->parent] != NULL) {
			fuse_values(x, rel);
		}
		if (x->value[rel->parent] == NULL) {
			return bad_relation(x, i);
		}
	}
	return 0;
}

static bool in_range(const struct ctx *x)
{
	for (uint32_t i = 0; i < x->s->n_rel; i++) {
		const struct hn_rel *rel = &x->s->rel[i];
		bool ok = rel->parent >= 0 && (uint32_t)rel->parent < x->s->n_var;

		for (uint32_t k = 0; k < rel->n && ok; k++) {
			ok = rel->part[k] >= 0 && (uint32_t)rel->part[k] < x->s->n_var;
		}
		if (!ok) {
			return false;
		}
	}
	return true;
}

static struct ctx make_ctx(const struct hn_state *state, uint32_t i_stage, struct hn_arena *a,
			   struct hn_err *err)
{
	return (struct ctx){ .s = state->stage[i_stage],
			     .i_stage = i_stage,
			     .name = state->dag->op[i_stage]->name,
			     .err = err,
			     .a = a };
}

int hn_stage_extents(const struct hn_state *state, uint32_t i_stage,
		     const int64_t *axis_extent, uint32_t n_axis, int32_t first_loop,
		     struct hn_span *loop, struct hn_arena *a, struct hn_stage_loops *ret,
		     struct hn_err *err)
{
	struct ctx x = make_ctx(state, i_stage, a, err);
	const struct hn_stage *s = x.s;
	int64_t *iter_extent = HN_NEW_ARRAY(a, int64_t, s->n_iter);

	if (s->n_var < n_axis || !in_range(&x)) {
		return hn_fail(err, HONE_E_INVALID,
			       "stage %u (%s): its loops do not fit the op", i_stage,
			       x.name);
	}
	x.extent = HN_NEW_ARRAY(a, int64_t, s->n_var);
	x.threaded = HN_NEW_ARRAY(a, bool, s->n_var);
	for (uint32_t k = 0; k < n_axis; k++) {
		x.extent[k] = axis_extent[k];
	}
	int rc = extents(&x);

	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < s->n_iter; i++) {
		iter_extent[i] = x.extent[s->iter[i].var];
		loop[first_loop + (int32_t)i] = (struct hn_span){ 0, iter_extent[i] - 1 };
	}
	*ret = (struct hn_stage_loops){ .extent = x.extent, .iter_extent = iter_extent };
	return 0;
}

int hn_stage_values(const struct hn_state *state, uint32_t i_stage, uint32_t n_axis,
		    int32_t first_loop, const struct hn_span *loop, uint32_t n_loop,
		    struct hn_arena *a, struct hn_stage_loops *ret, struct hn_err *err)
{
	struct ctx x = make_ctx(state, i_stage, a, err);
	const struct hn_stage *s = x.s;

	x.loop = loop;
	x.n_loop = n_loop;
	x.extent = ret->extent;
	x.value = HN_NEW_ARRAY(a, const struct hn_expr *, s->n_var);
	ret->value = x.value;
	ret->guard = HN_NEW_ARRAY(a, const struct hn_expr *,
				  (size_t)s->n_rel + 2 * (size_t)n_axis);
	for (uint32_t i = 0; i < s->n_iter; i++) {
		x.value[s->iter[i].var] =
			ret->iter_extent[i] == 1
				? constant(&x, 0)
				: hn_expr_var(first_loop + (int32_t)i, HN_I32,
					      s->iter[i].name, a);
	}
	int rc = values(&x, ret);

	for (uint32_t k = 0; k < n_axis && rc == 0; k++) {
		if (x.value[k] == NULL) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "stage %u (%s): axis %u has no loop left", i_stage,
				     x.name, k);
		}
	}
	return rc;
}
