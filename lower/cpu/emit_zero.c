/* lower/cpu/emit_zero.c -- leaves out terms of a reduction that are nothing.
 *
 * A padded or transposed convolution sums products with a factor that is the constant zero where
 * a condition fails: `if(c, x[...], 0) * w[...]`. A padded pooling takes the largest of values
 * that are the least possible where a condition fails. Such a term leaves the accumulator as it
 * is (if the other factor is finite: liberty `zeros`, docs/math.md). So it is skipped where c is
 * known to fail, and so is one that the reduction's own condition leaves out. What is known of c at all points of the tile is tested once, at the outermost
 * reduction loop inside which it does not change.
 *
 * Source of the idea: the index-set splitting of direct convolutions at their borders. The
 * sub-pixel form of a transposed convolution (Shi et al., 2016) is a special case.
 */
#include "lower/cpu/emit_nest.h"

#define MAX_TERMS 32
#define LEAST_WORK 8   /* vector operations that a test must be able to save */
#define MOST_COPIES 2  /* nested tests that make two forms of what they enclose */
#define MOST_POINTS 64 /* points in a body that may be copied */

static bool is_zero(const struct hn_expr *x)
{
	return (x->op == HN_EXPR_FLOAT && x->u.f == 0) ||
	       (x->op == HN_EXPR_INT && x->u.i == 0) ||
	       (x->op == HN_EXPR_CAST && is_zero(x->arg[0]));
}

static bool same_constant(const struct hn_expr *x, const struct hn_expr *y)
{
	return (x->op == HN_EXPR_FLOAT && y->op == HN_EXPR_FLOAT && x->u.f == y->u.f) ||
	       (x->op == HN_EXPR_INT && y->op == HN_EXPR_INT && x->u.i == y->u.i);
}

static void add_conjuncts(struct emit_nest *n, const struct hn_expr *c)
{
	if (c->op == HN_EXPR_AND) {
		add_conjuncts(n, c->arg[0]);
		add_conjuncts(n, c->arg[1]);
	} else if (n->n_zero < MAX_TERMS) {
		n->zero[n->n_zero++] = c;
	}
}

/* Conditions without which x is `none` (zero, when x may be a product). */
static void find(struct emit_nest *n, const struct hn_expr *x, const struct hn_expr *none)
{
	switch (x->op) {
	case HN_EXPR_IF:
	case HN_EXPR_SELECT:
		if (none ? same_constant(x->arg[2], none) : is_zero(x->arg[2])) {
			add_conjuncts(n, x->arg[0]);
			find(n, x->arg[1], none);
		}
		break;
	case HN_EXPR_MUL:
		if (!none) {
			find(n, x->arg[0], NULL);
			find(n, x->arg[1], NULL);
		}
		break;
	case HN_EXPR_CAST:
		if (!none) {
			find(n, x->arg[0], NULL);
		}
		break;
	default:
		break;
	}
}

void hn_emit_zero_find(struct emit *e, struct emit_nest *n)
{
	const struct hn_reduce *r = n->op->reduce;

	n->n_zero = n->n_within = 0;
	if (n->stmt->stmt != HN_STMT_UPDATE) {
		return;
	}
	n->zero = HN_NEW_ARRAY(e->a, const struct hn_expr *, MAX_TERMS);
	if (r->condition) {
		add_conjuncts(n, r->condition);
		n->n_within = n->n_zero;
	}
	if (r->n != 1) {
		return;
	}
	if (r->kind == HN_COMBINE_SUM && hn_emit_may(e, HN_LIBERTY_zeros)) {
		find(n, r->source[0], NULL);
	} else if ((r->kind == HN_COMBINE_MAX || r->kind == HN_COMBINE_MIN) &&
		   hn_emit_may(e, HN_LIBERTY_minmax)) {
		find(n, r->source[0], r->identity[0]);
	}
}

bool hn_emit_is_assumed(const struct emit *e, const struct hn_expr *x)
{
	const struct emit_nest *n = e->nest;

	for (uint32_t i = 0; n && n->zero_true >> i; i++) {
		if ((n->zero_true >> i & 1) && n->zero[i] == x &&
		    e->axis == n->stmt->axis) {
			return true;
		}
	}
	return false;
}

/* Whether g changes in the reduction loops from dim i inwards. */
static bool changes_inside(const struct emit *e, const struct emit_nest *n, uint32_t i,
			   const struct hn_expr *g)
{
	for (uint32_t k = 0; k < n->n_dim; k++) {
		const struct emit_dim *d = &n->dim[k];

		if (d->reduce && d->extent > 1 && (k >= i || d == n->across) &&
		    hn_emit_uses_loop(e, g, d->loop)) {
			return true;
		}
	}
	return false;
}

bool hn_emit_adds_nothing(struct emit *e, const struct emit_nest *n, uint32_t i)
{
	for (uint32_t k = 0; k < n->n_zero; k++) {
		if ((i == EMIT_THE_TERM || !changes_inside(e, n, i, n->zero[k])) &&
		    hn_emit_known_here(e, n->zero[k]) == 0) {
			return true;
		}
	}
	return false;
}

/* Vector operations done from dim i inwards, at most `most`. */
static int64_t work_inside(struct emit_nest *n, uint32_t i, int64_t most)
{
	int64_t work = hn_emit_count_points(n);

	for (uint32_t k = i; k < n->n_dim && work < most; k++) {
		work *= n->dim[k].reduce ? n->dim[k].extent : 1;
	}
	return work;
}

/* Iterations emitted one after the other in the body of dims i and inwards. */
static int64_t copies_inside(const struct emit_nest *n, uint32_t i)
{
	int64_t copies = 1;

	for (uint32_t k = i; k < n->n_dim; k++) {
		copies *= n->dim[k].reduce ? n->dim[k].block : 1;
	}
	return copies;
}

static LLVMValueRef both(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	return x ? LLVMBuildAnd(e->b, x, y, "") : y;
}

void hn_emit_zero_test(struct emit *e, struct emit_nest *n, uint32_t i, bool every,
		       struct emit_zero *ret)
{
	bool worth = n->n_zero && work_inside(n, i, LEAST_WORK) >= LEAST_WORK;
	bool copy = n->zero_copies < MOST_COPIES &&
		    hn_emit_count_points(n) * copies_inside(n, i) <= MOST_POINTS;

	*ret = (struct emit_zero){ .old_true = n->zero_true, .old_seen = n->zero_seen };
	for (uint32_t k = 0; worth && k < n->n_zero && !ret->never; k++) {
		uint64_t bit = UINT64_C(1) << k;
		LLVMValueRef v = NULL;

		e->axis = n->stmt->axis;
		e->n_axis = n->op->n_spatial + n->op->n_reduce;
		if (n->zero_seen & bit || hn_emit_is_fact(e, n->zero[k]) ||
		    changes_inside(e, n, i, n->zero[k])) {
			continue;
		}
		n->zero_seen |= bit;
		switch (hn_emit_over_tile(e, n, n->zero[k], i, every, &v)) {
		case EMIT_NEVER:
			ret->never = true;
			break;
		case EMIT_SAME:
			ret->any = both(e, ret->any, v);
			n->zero_true |= bit;
			break;
		case EMIT_ALWAYS:
			n->zero_true |= bit;
			break;
		case EMIT_MIXED:
			if (copy) {
				ret->all = both(e, ret->all, v);
				ret->if_all |= bit;
			}
			break;
		default:
			break;
		}
	}
	e->axis = NULL;
}
