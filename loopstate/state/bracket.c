/* bracket.c -- see bracket.h.  What is moved becomes an op, "<name>.exact", and its squares are
 * summed in another, "<name>.squares". */
#include "loopstate/state/bracket.h"

#include <math.h>
#include <string.h>

#include "loopstate/dag/sway.h"
#include "loopstate/dag/tolerance.h"
#include "loopstate/state/derive.h"

/* A body, looked at from its root. */
struct look {
	const struct hn_dag *dag;
	const bool *loose;	     /* [n_op] */
	const struct hn_expr *point; /* what is moved */
	uint32_t n_point;
	double end; /* beyond it every value gives the type's own end; INFINITY: none */
	bool bad;
};

static bool is_float(const struct hn_expr *e)
{
	return hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;
}

static bool is_wide_float(const struct hn_expr *e)
{
	return is_float(e) && !hn_dtype_is_narrow((enum hn_dtype)e->dtype);
}

static bool rounds_off(const struct hn_expr *e)
{
	return e->op == HN_EXPR_CALL &&
	       (e->ref == HN_FN_floor || e->ref == HN_FN_ceil || e->ref == HN_FN_trunc ||
		e->ref == HN_FN_round || e->ref == HN_FN_nearbyint);
}

/* Whether e depends on a loose float: by a load, a function in it, or what may be contracted. */
struct dependence {
	const struct look *of;
	bool found;
};

static void find_loose(const struct hn_expr *e, void *ctx)
{
	struct dependence *d = ctx;

	d->found |= e->op == HN_EXPR_LOAD && d->of->loose[e->ref];
	d->found |= e->op == HN_EXPR_CALL && hn_dag_loose_call(d->of->dag, e);
	d->found |= is_wide_float(e) && (e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB ||
					 e->op == HN_EXPR_DIV);
	d->found |= e->op == HN_EXPR_LET; /* what it names is not followed */
}

static bool is_loose(const struct look *l, const struct hn_expr *e)
{
	struct dependence d = { .of = l };

	hn_expr_visit(e, find_loose, &d);
	return d.found;
}

/* What jumps on the way to the point: then a small error is no small error. */
static void find_jump(const struct hn_expr *e, void *ctx)
{
	bool *found = ctx;

	*found |= rounds_off(e) || (e->op == HN_EXPR_CALL && e->ref == HN_FN_fmod) ||
		  (e->op == HN_EXPR_CAST && is_float(e->arg[0]) && !is_wide_float(e)) ||
		  (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && is_float(e->arg[0])) ||
		  (is_float(e) && !is_wide_float(e) && e->op != HN_EXPR_LOAD &&
		   e->op != HN_EXPR_FLOAT && e->op != HN_EXPR_CAST) ||
		  e->op == HN_EXPR_LET;
}

static void set_point(struct look *l, const struct hn_expr *point, double end)
{
	bool jumps = false;

	hn_expr_visit(point, find_jump, &jumps);
	l->point = point;
	l->end = end;
	l->n_point++;
	l->bad |= jumps || !is_wide_float(point);
}

/* The one operand that is loose; NULL: none, or several. */
static const struct hn_expr *loose_operand(const struct look *l, const struct hn_expr *e)
{
	const struct hn_expr *ret = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_arg; i++) {
		if (is_loose(l, e->arg[i])) {
			ret = e->arg[i];
			n++;
		}
	}
	return n == 1 ? ret : NULL;
}

/* Below a cast to an integer: ends and shifts around the rounding, if it has one. */
static const struct hn_expr *rounded(const struct look *l, const struct hn_expr *e)
{
	while (e != NULL && (e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX ||
			     e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB)) {
		e = loose_operand(l, e);
	}
	return e != NULL && rounds_off(e) ? e->arg[0] : NULL;
}

static double end_of(enum hn_dtype t)
{
	return hn_dtype_class(t) == HN_CLASS_FLOAT ? hn_dtype_largest(t)
						   : ldexp(1, hn_dtype_bits(t));
}

static void look_at(struct look *l, const struct hn_expr *e);

static void look_at_cast(struct look *l, const struct hn_expr *e)
{
	const struct hn_expr *x = e->arg[0];
	enum hn_dtype t = (enum hn_dtype)e->dtype;

	if (is_wide_float(x) && !is_wide_float(e)) {
		const struct hn_expr *point = is_float(e) ? NULL : rounded(l, x);

		set_point(l, point != NULL ? point : x, end_of(t));
	} else if (!is_float(x) && !is_float(e) &&
		   hn_dtype_bits(t) < hn_dtype_bits((enum hn_dtype)x->dtype)) {
		l->bad = true; /* it wraps */
	} else {
		look_at(l, x);
	}
}

/* Down to where the loose float becomes something else; all on the way is monotone. */
static void look_at(struct look *l, const struct hn_expr *e)
{
	const struct hn_expr *x;

	if (!is_loose(l, e)) {
		return;
	}
	switch (e->op) {
	case HN_EXPR_CAST:
		look_at_cast(l, e);
		return;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MUL:
		/* bytes wrap */
		l->bad |= !is_float(e) && hn_dtype_bytes((enum hn_dtype)e->dtype) < 4;
		break;
	case HN_EXPR_DIV:
		l->bad |= !is_float(e) || is_loose(l, e->arg[1]);
		break;
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		break;
	default:
		l->bad = true;
		return;
	}
	x = loose_operand(l, e);
	if (x == NULL) {
		l->bad = true;
	} else {
		look_at(l, x);
	}
}

/* ---- which ops */

static void find_rounding(const struct hn_expr *e, void *ctx)
{
	bool *found = ctx;

	*found |= (is_float(e) && !is_wide_float(e) && e->op != HN_EXPR_LOAD &&
		   e->op != HN_EXPR_FLOAT) ||
		  (e->op == HN_EXPR_CAST && is_float(e->arg[0]) && !is_float(e));
}

/* Of loose floats; and which ops it reads. */
struct reading {
	const bool *rough;
	bool rounds, reads_rough;
};

static void look_at_op(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	struct reading *r = ctx;

	(void)owner;
	(void)i;
	hn_expr_visit(e, find_rounding, &r->rounds);
}

static void find_rough(const struct hn_expr *e, void *ctx)
{
	struct reading *r = ctx;

	r->reads_rough |= e->op == HN_EXPR_LOAD && r->rough[e->ref];
}

/* Whether op i reads what was rounded to few bits of loose floats; rough[i]: it, or what it reads,
 * was. */
static bool reads_rough(const struct hn_dag *dag, const bool *loose, uint32_t i,
			bool *rough)
{
	struct reading r = { .rough = rough };

	rough[i] = false;
	if (dag->op[i]->kind != HN_OP_COMPUTE) {
		return false;
	}
	hn_op_visit(dag->op[i], find_rough, &r);
	hn_dag_op_exprs(dag->op[i], look_at_op, &r);
	rough[i] = r.reads_rough || (loose[i] && r.rounds);
	return r.reads_rough;
}

static bool is_output(const struct hn_dag *dag, uint32_t i)
{
	for (uint32_t k = dag->n_input; k < dag->n_arg; k++) {
		if (dag->arg[k] == (int32_t)i) {
			return true;
		}
	}
	return false;
}

/* An output of few bits, or an integer, that last bits can decide. */
static bool is_undecided(const struct hn_dag *dag, const bool *loose,
			 const enum hn_sway *sway, uint32_t i)
{
	bool ret = false;

	for (uint32_t k = 0; k < dag->op[i]->n_out && is_output(dag, i); k++) {
		enum hn_dtype t = (enum hn_dtype)dag->op[i]->dtype[k];

		ret |= hn_dtype_class(t) == HN_CLASS_FLOAT
			       ? hn_dtype_is_narrow(t) && loose[i]
			       : sway[i] != HN_SWAY_NONE;
	}
	return ret;
}

/* ---- the dag */

static const struct hn_expr *replaced(const struct hn_expr *e, const struct hn_expr *from,
				      const struct hn_expr *to, struct hn_arena *a)
{
	const struct hn_expr *arg[HN_DAG_MAX_RANK + 3];
	bool any = false;

	if (e == from) {
		return to;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		arg[i] = replaced(e->arg[i], from, to, a);
		any |= arg[i] != e->arg[i];
	}
	return any ? hn_expr_with_args(e, arg, e->n_arg, a) : e;
}

static const struct hn_expr *const *list_of(const struct hn_expr *e, struct hn_arena *a)
{
	const struct hn_expr **list = HN_NEW_ARRAY(a, const struct hn_expr *, 1);

	list[0] = e;
	return list;
}

static const uint8_t *type_of(enum hn_dtype t, struct hn_arena *a)
{
	uint8_t *ret = HN_NEW_ARRAY(a, uint8_t, 1);

	ret[0] = (uint8_t)t;
	return ret;
}

static const struct hn_expr *cast(const struct hn_expr *e, enum hn_dtype to,
				  struct hn_arena *a)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = to };

	return e->dtype == to ? e : hn_expr_with_args(&like, &e, 1, a);
}

static const struct hn_expr *call(enum hn_fn f, const struct hn_expr *e,
				  struct hn_arena *a)
{
	const struct hn_expr like = { .op = HN_EXPR_CALL, .dtype = e->dtype, .ref = f };

	return hn_expr_with_args(&like, &e, 1, a);
}

/* The element of op `at` where the axes say. */
static const struct hn_expr *own_element(const struct hn_op *like, int32_t at,
					 enum hn_dtype t, struct hn_arena *a)
{
	const struct hn_expr *index[HN_DAG_MAX_RANK];

	for (uint32_t k = 0; k < like->n_dim; k++) {
		index[k] = hn_expr_var((int32_t)k, HN_I32, like->axis[k].name, a);
	}
	return hn_derive_load(at, 0, (uint8_t)t, index, like->n_dim, a);
}

/* Room for one op at `at`, with a name that begins like the output's. */
static struct hn_dag *insert(const struct hn_dag *dag, int32_t at, const char *suffix,
			     const struct hn_op *like, struct hn_op **ret,
			     struct hn_arena *a)
{
	const char *name = hn_derive_name(dag, like->name, suffix, a);
	const struct hn_op **op;
	struct hn_dag *next = hn_derive_shift(hn_state_init(dag, a), at, NULL, 0, &op, a);
	struct hn_op *x = HN_NEW(a, struct hn_op);

	*x = *like;
	x->id = hn_derive_id(dag, name, a);
	x->name = name;
	x->tag = "";
	x->n_attr = 0;
	op[at] = x;
	*ret = x;
	return next;
}

/* The sum of all squares of op `of`, a scalar; beyond `end` they count as it. */
static void make_squares(struct hn_op *op, const struct hn_op *like, int32_t of,
			 enum hn_dtype t, double end, struct hn_arena *a)
{
	static const char *const lhs[] = { "x" }, *const rhs[] = { "y" };
	struct hn_reduce *r = HN_NEW(a, struct hn_reduce);
	const struct hn_expr *x =
		cast(call(HN_FN_abs, own_element(like, of, t, a), a), HN_F64, a);

	if (isfinite(end)) {
		x = hn_expr_binary(HN_EXPR_MIN, x, hn_expr_float(end, HN_F64, a), a);
	}
	*r = (struct hn_reduce){
		.kind = HN_COMBINE_SUM,
		.any_order = true,
		.n = 1,
		.result = list_of(
			hn_expr_binary(HN_EXPR_ADD,
				       hn_expr_var(HN_SLOT_LHS, HN_F64, lhs[0], a),
				       hn_expr_var(HN_SLOT_RHS, HN_F64, rhs[0], a), a),
			a),
		.identity = list_of(hn_expr_float(0, HN_F64, a), a),
		.source = list_of(hn_expr_binary(HN_EXPR_MUL, x, x, a), a),
		.lhs = lhs,
		.rhs = rhs,
	};
	op->dtype = type_of(HN_F64, a);
	op->body = NULL;
	op->reduce = r;
	op->n_dim = op->n_spatial = 0;
	op->n_reduce = like->n_dim;
}

/* The root of the mean square of all elements of op `at`, whose squares are summed after it. */
static const struct hn_expr *mean_size(const struct hn_op *like, int32_t at,
				       enum hn_dtype t, struct hn_arena *a)
{
	const struct hn_expr *squares = hn_derive_load(at + 1, 0, HN_F64, NULL, 0, a);
	const struct hn_expr *mean =
		hn_expr_binary(HN_EXPR_DIV, squares,
			       hn_expr_float((double)hn_op_elements(like), HN_F64, a), a);

	return cast(call(HN_FN_sqrt, mean, a), t, a);
}

/* The element x, moved by its error, which is relative to it or to `least`. */
static const struct hn_expr *moved(const struct hn_expr *x, const struct hn_expr *least,
				   double error, enum hn_bracket side, struct hn_arena *a)
{
	const struct hn_expr *size =
		hn_expr_binary(HN_EXPR_MAX, call(HN_FN_abs, x, a), least, a);
	const struct hn_expr *by = hn_expr_float(error, (enum hn_dtype)x->dtype, a);

	return hn_expr_binary(side == HN_BRACKET_LOW ? HN_EXPR_SUB : HN_EXPR_ADD, x,
			      hn_expr_binary(HN_EXPR_MUL, size, by, a), a);
}

/* The dag with output i moved; NULL: it cannot be. */
static const struct hn_dag *move(const struct hn_dag *dag, const bool *loose, uint32_t i,
				 enum hn_bracket side, enum hn_bracket_of of,
				 struct hn_arena *a)
{
	const struct hn_op *like = dag->op[i];
	struct look l = { .dag = dag, .loose = loose };
	struct hn_op *exact, *squares, *out;
	double error = hn_op_tolerance(dag, i);
	int32_t at = (int32_t)i;

	if (like->reduce != NULL || like->n_out != 1 || dag->n_op + 2 > HN_DAG_MAX_OPS) {
		return NULL;
	}
	look_at(&l, like->body[0]);
	if (l.bad || l.n_point != 1) {
		return NULL;
	}
	enum hn_dtype t = (enum hn_dtype)l.point->dtype;
	struct hn_dag *next = insert(dag, at, ".exact", like, &exact, a);

	exact->dtype = type_of(t, a);
	exact->body = list_of(l.point, a);
	const struct hn_expr *x = own_element(like, at, t, a),
			     *least = hn_expr_float(1, t, a);

	if (of == HN_BRACKET_WHOLE) {
		next = insert(next, at + 1, ".squares", like, &squares, a);
		make_squares(squares, like, at, t, l.end, a);
		least = mean_size(like, at, t, a);
	}
	out = HN_NEW(a, struct hn_op);
	*out = *like;
	out->body = list_of(
		replaced(like->body[0], l.point, moved(x, least, error, side, a), a), a);

	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, next->n_op);

	memcpy(op, next->op, next->n_op * sizeof(*op));
	op[at + (of == HN_BRACKET_WHOLE ? 2 : 1)] = out;
	next->op = op;
	return next;
}

const struct hn_dag *hn_dag_bracket(const struct hn_dag *dag, enum hn_bracket side,
				    enum hn_bracket_of of, struct hn_arena *a)
{
	bool loose[HN_DAG_MAX_OPS], rough[HN_DAG_MAX_OPS], rereads[HN_DAG_MAX_OPS];
	enum hn_sway sway[HN_DAG_MAX_OPS];
	const struct hn_dag *ret = NULL;
	bool narrow = false;

	if (dag->sizes != NULL) {
		return NULL;
	}
	hn_dag_loose(dag, loose);
	hn_dag_sways(dag, sway);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		rereads[i] = reads_rough(dag, loose, i, rough);
	}
	for (uint32_t i = dag->n_op; i-- > 0;) { /* those before stay where they are */
		if (!is_undecided(dag, loose, sway, i)) {
			narrow |= is_output(dag, i) &&
				  dag->op[i]->kind == HN_OP_COMPUTE &&
				  hn_dtype_is_narrow((enum hn_dtype)dag->op[i]->dtype[0]);
			continue;
		}
		ret = rereads[i] ? NULL
				 : move(ret != NULL ? ret : dag, loose, i, side, of, a);
		if (ret == NULL) {
			return NULL;
		}
	}
	return ret == NULL && narrow ? dag : ret;
}
