/* widen.c -- see widen.h.  A sum parts as by a cached write (derive.h): the first half becomes
 * float64, the second converts. */
#include "loopstate/state/widen.h"

#include <string.h>

#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/liberty.h"
#include "loopstate/state/derive.h"

static bool gains(const struct hn_op *op)
{
	return op->reduce != NULL && op->n_out == 1 && op->dtype[0] == HN_F32 &&
	       (op->reduce->kind == HN_COMBINE_SUM || op->reduce->kind == HN_COMBINE_PROD);
}

/* What an op reads and does. */
struct look {
	const bool *of_sum; /* [n_op]: it depends on a sum that gains */
	bool reads, decides;
};

static bool is_float(const struct hn_expr *e)
{
	return hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;
}

/* Whether the node's value may jump where its operand hardly moves. */
static bool jumps(const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_EQ:
	case HN_EXPR_NE:
	case HN_EXPR_LT:
	case HN_EXPR_LE:
	case HN_EXPR_GT:
	case HN_EXPR_GE:
		return is_float(e->arg[0]);
	case HN_EXPR_CAST:
		return is_float(e->arg[0]) && !is_float(e);
	case HN_EXPR_CALL:
		return e->ref == HN_FN_floor || e->ref == HN_FN_ceil || e->ref == HN_FN_trunc ||
		       e->ref == HN_FN_round || e->ref == HN_FN_nearbyint || e->ref == HN_FN_fmod;
	default:
		return false;
	}
}

static void look_at_node(const struct hn_expr *e, void *ctx)
{
	struct look *l = ctx;

	l->reads |= e->op == HN_EXPR_LOAD && l->of_sum[e->ref];
	l->decides |= jumps(e);
}

static void look_at(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, look_at_node, ctx);
}

/* Whether there are sums that gain, none of them decides anything, and there is room. */
static bool worthwhile(const struct hn_dag *dag)
{
	bool of_sum[HN_DAG_MAX_OPS] = { false };
	uint32_t n = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		struct look l = { .of_sum = of_sum };

		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_dag_op_exprs(dag->op[i], look_at, &l);
		}
		if (l.reads && l.decides) {
			return false;
		}
		n += gains(dag->op[i]);
		of_sum[i] = l.reads || gains(dag->op[i]);
	}
	return n > 0 && dag->n_op + n <= HN_DAG_MAX_OPS;
}

static const struct hn_expr *convert(const struct hn_expr *e, enum hn_dtype to,
				     struct hn_arena *a)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = to };

	return hn_expr_with_args(&like, &e, 1, a);
}

/* The float32 expression in float64: arithmetic all the way down, what it is made of
 * converted. */
static const struct hn_expr *wide(const struct hn_expr *e, struct hn_arena *a)
{
	const struct hn_expr *arg[3];
	uint32_t first;
	struct hn_expr like;

	switch (e->op) {
	case HN_EXPR_FLOAT:
		return hn_expr_float(e->u.f, HN_F64, a);
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MUL:
	case HN_EXPR_DIV:
	case HN_EXPR_MIN:
	case HN_EXPR_MAX:
		first = 0;
		break;
	case HN_EXPR_SELECT:
	case HN_EXPR_IF:
	case HN_EXPR_LET: /* the condition; the value, that its name stands for */
		first = 1;
		break;
	default:
		return convert(e, HN_F64, a);
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		arg[i] = i < first ? e->arg[i] : wide(e->arg[i], a);
	}
	memcpy(&like, e, sizeof like);
	like.dtype = HN_F64;
	return hn_expr_with_args(&like, arg, e->n_arg, a);
}

/* One expression as a list. */
static const struct hn_expr *const *list_of(const struct hn_expr *e, struct hn_arena *a)
{
	const struct hn_expr **list = HN_NEW_ARRAY(a, const struct hn_expr *, 1);

	list[0] = e;
	return list;
}

static const uint8_t wide_type[] = { HN_F64 };

static const struct hn_op *wide_sum(const struct hn_op *old, struct hn_arena *a)
{
	struct hn_op *op = HN_NEW(a, struct hn_op);
	struct hn_reduce *r = HN_NEW(a, struct hn_reduce);
	bool sum = old->reduce->kind == HN_COMBINE_SUM;

	*op = *old;
	*r = *old->reduce;
	op->dtype = wide_type;
	op->reduce = r;
	r->source = list_of(wide(r->source[0], a), a);
	r->identity = list_of(wide(r->identity[0], a), a);
	r->result = list_of(hn_expr_binary(sum ? HN_EXPR_ADD : HN_EXPR_MUL,
					   hn_expr_var(HN_SLOT_LHS, HN_F64, r->lhs[0], a),
					   hn_expr_var(HN_SLOT_RHS, HN_F64, r->rhs[0], a), a),
			    a);
	return op;
}

/* The copy of the sum that a cached write leaves, which has to convert what it loads. */
static const struct hn_op *rounded(const struct hn_op *copy, struct hn_arena *a)
{
	struct hn_op *op = HN_NEW(a, struct hn_op);
	struct hn_expr like;

	*op = *copy;
	memcpy(&like, copy->body[0], sizeof like);
	like.dtype = HN_F64;
	op->body = list_of(convert(hn_expr_with_args(&like, copy->body[0]->arg,
						     copy->body[0]->n_arg, a),
				   HN_F32, a),
			   a);
	return op;
}

static const struct hn_dag *part(const struct hn_dag *old, int32_t i, struct hn_arena *a)
{
	const struct hn_dag *parted =
		hn_derive_cache_write(hn_state_init(old, a), i, "wide", a);
	struct hn_dag *dag = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, parted->n_op);

	memcpy(op, parted->op, parted->n_op * sizeof(*op));
	op[i] = wide_sum(op[i], a);
	op[i + 1] = rounded(op[i + 1], a);
	*dag = *parted;
	dag->op = op;
	return dag;
}

const struct hn_dag *hn_dag_widen(const struct hn_dag *dag, struct hn_arena *a)
{
	if (hn_dag_forbids(dag, HN_LIBERTY_reassociation) || !worthwhile(dag)) {
		return NULL;
	}
	for (uint32_t i = dag->n_op; i-- > 0;) {
		if (gains(dag->op[i])) {
			dag = part(dag, (int32_t)i, a);
		}
	}
	return dag;
}
