/* loopstate/dag/sway.c -- see sway.h. */
#include "loopstate/dag/sway.h"

#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/decided.h"
#include "loopstate/dag/liberty.h"

struct look {
	const struct hn_dag *dag;
	const bool *loose;	  /* [n_op] so far */
	const enum hn_sway *sway; /* the same; NULL: not asked */
	const bool *product;	  /* the same: it multiplies, or reads what does */
	bool reads_loose, reads_product, calls, adds, multiplies, divides, casts, compares;
	enum hn_sway worst; /* of what is read */
};

static bool is_float(const struct hn_expr *e)
{
	return hn_dtype_class((enum hn_dtype)e->dtype) == HN_CLASS_FLOAT;
}

/* A float whose arithmetic is its own: narrower ones are rounded after each operation, so that no
 * two become one. */
static bool is_wide(const struct hn_expr *e)
{
	return is_float(e) && !hn_dtype_is_narrow((enum hn_dtype)e->dtype);
}

/* Rounded once, in every kernel alike. */
static bool is_exact(const struct hn_expr *e)
{
	switch (e->ref) {
	case HN_FN_abs:
	case HN_FN_fabs:
	case HN_FN_floor:
	case HN_FN_ceil:
	case HN_FN_trunc:
	case HN_FN_round:
	case HN_FN_nearbyint:
	case HN_FN_sqrt:
		return true;
	default:
		return false;
	}
}

bool hn_dag_loose_call(const struct hn_dag *dag, const struct hn_expr *e)
{
	return is_float(e) && !is_exact(e) && !hn_dag_forbids(dag, HN_LIBERTY_functions);
}

static bool rounds_off(const struct hn_expr *e)
{
	return e->ref == HN_FN_floor || e->ref == HN_FN_ceil || e->ref == HN_FN_trunc ||
	       e->ref == HN_FN_round || e->ref == HN_FN_nearbyint || e->ref == HN_FN_fmod;
}

/* Rounding to the nearest that a cast takes: one step with the cast, not another. */
static bool is_cast(const struct hn_expr *e)
{
	return e->op == HN_EXPR_CAST && is_float(e->arg[0]) && !is_float(e);
}

static void look_at_node(const struct hn_expr *e, void *ctx)
{
	struct look *l = ctx;

	switch (e->op) {
	case HN_EXPR_LOAD:
		l->reads_loose |= l->loose[e->ref];
		l->reads_product |= l->product[e->ref];
		if (l->sway != NULL && l->sway[e->ref] > l->worst) {
			l->worst = l->sway[e->ref];
		}
		break;
	case HN_EXPR_CALL:
		l->calls |= hn_dag_loose_call(l->dag, e);
		l->compares |= rounds_off(e);
		break;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		l->adds |= is_wide(e);
		break;
	case HN_EXPR_MUL:
		l->multiplies |= is_wide(e);
		break;
	case HN_EXPR_DIV:
		l->divides |= is_wide(e);
		break;
	case HN_EXPR_EQ:
	case HN_EXPR_NE:
	case HN_EXPR_LT:
	case HN_EXPR_LE:
	case HN_EXPR_GT:
	case HN_EXPR_GE:
		l->compares |= is_float(e->arg[0]);
		break;
	default:
		l->casts |= is_cast(e);
	}
}

/* nearbyint below a cast is the cast's own rounding. */
static void unwrap(const struct hn_expr *e, void *ctx)
{
	uint32_t *inside = ctx;

	if (is_cast(e)) {
		const struct hn_expr *x = e->arg[0];

		while (x->op == HN_EXPR_MIN || x->op == HN_EXPR_MAX ||
		       x->op == HN_EXPR_ADD || x->op == HN_EXPR_SUB) {
			x = x->arg[1]->op == HN_EXPR_FLOAT ? x->arg[0] : x->arg[1];
		}
		*inside += x->op == HN_EXPR_CALL && rounds_off(x);
	}
}

static void count_rounded(const struct hn_expr *e, void *ctx)
{
	uint32_t *n = ctx;

	*n += (e->op == HN_EXPR_CALL && rounds_off(e)) ||
	      (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_GE && is_float(e->arg[0]));
}

struct count {
	void (*visit)(const struct hn_expr *e, void *ctx);
	uint32_t n;
};

static void count_in(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	struct count *c = ctx;

	(void)owner;
	(void)i;
	hn_expr_visit(e, c->visit, &c->n);
}

/* Whether all that jumps in the op are casts, with the rounding that they take. */
static bool only_casts(const struct hn_op *op)
{
	struct count own = { unwrap, 0 }, all = { count_rounded, 0 };

	hn_dag_op_exprs(op, count_in, &own);
	hn_dag_op_exprs(op, count_in, &all);
	return own.n == all.n;
}

static void look_at(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, look_at_node, ctx);
}

/* What the op itself may leave open in a float's last bits.  A product that another op makes is
 * contracted where that one is inlined. */
static bool is_loose(const struct look *l, const struct hn_op *op, bool decided)
{
	uint32_t forbidden = hn_dag_forbidden(l->dag);
	bool sums = op->reduce != NULL && op->reduce->kind != HN_COMBINE_MIN &&
		    op->reduce->kind != HN_COMBINE_MAX && !hn_keeps_order(l->dag, op) &&
		    hn_dtype_class((enum hn_dtype)op->dtype[0]) == HN_CLASS_FLOAT;
	bool contracts = !decided && (forbidden >> HN_LIBERTY_contraction & 1) == 0 &&
			 (l->multiplies || l->reads_product) && l->adds;
	bool divides =
		!decided && (forbidden >> HN_LIBERTY_reciprocal & 1) == 0 && l->divides;

	return sums || contracts || divides || l->calls;
}

/* Both answers of all ops; sway NULL: the first alone. */
static void find(const struct hn_dag *dag, bool *loose, enum hn_sway *sway)
{
	bool decided[HN_DAG_MAX_OPS], product[HN_DAG_MAX_OPS] = { false };

	hn_dag_decided(dag, decided);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		struct look l = {
			.dag = dag, .loose = loose, .sway = sway, .product = product
		};

		loose[i] = false;
		if (sway != NULL) {
			sway[i] = HN_SWAY_NONE;
		}
		if (op->kind != HN_OP_COMPUTE) {
			continue;
		}
		hn_dag_op_exprs(op, look_at, &l);
		product[i] = l.multiplies || l.reads_product;
		loose[i] = l.reads_loose || is_loose(&l, op, decided[i]);
		if (sway != NULL) {
			sway[i] = l.worst;
			if (loose[i] && (l.casts || l.compares)) {
				enum hn_sway own =
					only_casts(op) ? HN_SWAY_CASTS : HN_SWAY_ANY;

				sway[i] = own > sway[i] ? own : sway[i];
			}
		}
	}
}

void hn_dag_loose(const struct hn_dag *dag, bool *ret)
{
	find(dag, ret, NULL);
}

void hn_dag_sways(const struct hn_dag *dag, enum hn_sway *ret)
{
	bool loose[HN_DAG_MAX_OPS];

	find(dag, loose, ret);
}

bool hn_dag_settled(const struct hn_dag *dag)
{
	enum hn_sway sway[HN_DAG_MAX_OPS];

	hn_dag_sways(dag, sway);
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		const struct hn_op *op = dag->op[dag->arg[i]];
		enum hn_dtype t = (enum hn_dtype)op->dtype[hn_dag_arg_out(dag, i)];

		if (hn_dtype_class(t) != HN_CLASS_FLOAT &&
		    sway[dag->arg[i]] != HN_SWAY_NONE) {
			return false;
		}
	}
	return true;
}
