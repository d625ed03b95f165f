/* loopstate/dag/tolerance.c -- see tolerance.h. */
#include "loopstate/dag/tolerance.h"

#include <math.h>

#include "base/arith.h"
#include "loopstate/dag/access.h"
#include "loopstate/dag/sway.h"

#define OF_A_SUM                                                                         \
	8 /* roundings that a sum counts for: all but a few are the naive program's */

static int64_t own_reduction(const struct hn_op *op)
{
	int64_t n = op->n_reduce > 0 ? 1 : 0;

	for (uint32_t i = 0; i < op->n_reduce; i++) {
		n = hn_mul_sat(n, op->axis[op->n_spatial + i].extent);
	}
	return n;
}

static void count_rounding(const struct hn_expr *e, void *ctx)
{
	double *n = ctx;

	*n += hn_dtype_is_narrow((enum hn_dtype)e->dtype) &&
	      (e->op == HN_EXPR_CALL || e->op == HN_EXPR_CAST ||
	       (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_DIV));
}

static void count_in(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, count_rounding, ctx);
}

/* What is known of the values that an op makes. */
struct error {
	double length; /* the longest chain of reductions, in points */
	double wide; /* the worst type's tolerance, of those whose sums take any order */
	double narrow; /* one unit of the worst type of 16 bits */
	double n;      /* roundings to such types, along the longest chain */
};

static struct error worse(struct error x, struct error y)
{
	return (struct error){ fmax(x.length, y.length), fmax(x.wide, y.wide),
			       fmax(x.narrow, y.narrow), fmax(x.n, y.n) };
}

/* The most that a step of an integer is of the numbers it stands for: a float of many values was
 * cast to few. */
struct step {
	double size, n;
};

static void find_step(const struct hn_expr *e, void *ctx)
{
	struct step *s = ctx;
	enum hn_dtype t = (enum hn_dtype)e->dtype;

	if (e->op == HN_EXPR_CAST && hn_dtype_class(t) != HN_CLASS_FLOAT && t != HN_BOOL &&
	    hn_dtype_class((enum hn_dtype)e->arg[0]->dtype) == HN_CLASS_FLOAT) {
		s->size = fmax(s->size, ldexp(1, -hn_dtype_bits(t)));
		s->n++;
	}
}

static void add_own(const struct hn_op *op, bool sways, struct error *e)
{
	struct step step = { 0 };
	double n = 0;

	if (sways) {
		hn_op_visit(op, find_step, &step);
		e->narrow = fmax(e->narrow, step.size);
		e->n += step.n;
	}

	e->length += (double)own_reduction(op);
	for (uint32_t k = 0; k < op->n_out; k++) {
		enum hn_dtype t = (enum hn_dtype)op->dtype[k];

		e->wide = fmax(e->wide, hn_dtype_tolerance(hn_dtype_arith(t)));
		if (hn_dtype_is_narrow(t)) {
			e->narrow = fmax(e->narrow, hn_dtype_tolerance(t));
		}
	}
	hn_dag_op_exprs(op, count_in, &n);
	e->n += op->reduce != NULL && n > 0 ? OF_A_SUM : n;
}

/* Of all ops, in `a`. */
static const struct error *errors(const struct hn_dag *dag, struct hn_arena *a)
{
	const struct hn_access *access = hn_access_analyze(dag, a);
	struct error *of = HN_NEW_ARRAY(a, struct error, dag->n_op);
	enum hn_sway *sway = HN_NEW_ARRAY(a, enum hn_sway, dag->n_op);

	hn_dag_sways(dag, sway);
	for (uint32_t i = 0; i < dag->n_op; i++) {
		for (uint32_t k = 0; k < access->op[i].n_producer; k++) {
			of[i] = worse(of[i], of[access->op[i].producer[k]]);
		}
		if (dag->op[i]->kind == HN_OP_COMPUTE) {
			add_own(dag->op[i], sway[i] != HN_SWAY_NONE, &of[i]);
		}
	}
	return of;
}

static double wide_error(const struct error *e)
{
	return fmin(e->wide * sqrt(fmax(e->length, 1)), 1e-2);
}

double hn_op_tolerance(const struct hn_dag *dag, uint32_t i)
{
	struct hn_arena scratch;
	double ret;

	hn_arena_init(&scratch, 0);
	ret = wide_error(&errors(dag, &scratch)[i]);
	hn_arena_fini(&scratch);
	return ret;
}

double hn_dag_tolerance(const struct hn_dag *dag)
{
	struct hn_arena scratch;
	const struct error *of;
	double worst = 0;

	hn_arena_init(&scratch, 0);
	of = errors(dag, &scratch);
	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		const struct error *e = &of[dag->arg[i]];
		enum hn_dtype t = dag->op[dag->arg[i]]->dtype[hn_dag_arg_out(dag, i)];

		if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
			worst = fmax(worst, wide_error(e) + e->narrow * sqrt(fmax(e->n, 1)));
		}
	}
	hn_arena_fini(&scratch);
	return worst;
}
