/* costmodel/line.c -- see line.h. */
#include "costmodel/line.h"

#include "base/arith.h"

static int64_t plus(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t times(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x * (uint64_t)y);
}

static int64_t eval_binary(enum hn_expr_op op, int64_t x, int64_t y)
{
	switch (op) {
	case HN_EXPR_ADD:
		return plus(x, y);
	case HN_EXPR_SUB:
		return (int64_t)((uint64_t)x - (uint64_t)y);
	case HN_EXPR_MUL:
		return times(x, y);
	case HN_EXPR_DIV:
		return y > 0 ? x / y : 0;
	case HN_EXPR_FLOORDIV:
		return y > 0 ? hn_floordiv(x, y) : 0;
	case HN_EXPR_FLOORMOD:
		return y > 0 ? hn_floormod(x, y) : 0;
	case HN_EXPR_TRUNCMOD:
		return y > 0 ? x % y : 0;
	case HN_EXPR_MIN:
		return x < y ? x : y;
	case HN_EXPR_MAX:
		return x > y ? x : y;
	case HN_EXPR_EQ:
		return x == y;
	case HN_EXPR_NE:
		return x != y;
	case HN_EXPR_LT:
		return x < y;
	case HN_EXPR_LE:
		return x <= y;
	case HN_EXPR_GT:
		return x > y;
	case HN_EXPR_GE:
		return x >= y;
	case HN_EXPR_AND:
		return x && y;
	case HN_EXPR_OR:
		return x || y;
	default:
		return 0;
	}
}

/* e where its arguments are x[n_arg]. */
static int64_t value_of(const struct hn_expr *e, const int64_t *x)
{
	switch (e->n_arg) {
	case 1:
		return e->op == HN_EXPR_NOT ? !x[0] : x[0];
	case 2:
		return eval_binary(e->op, x[0], x[1]);
	case 3:
		return x[x[0] ? 1 : 2];
	default:
		return 0;
	}
}

struct hn_line hn_line_zero(const struct hn_line_space *in)
{
	int64_t *of = HN_NEW_ARRAY(in->arena, int64_t, 2 * (size_t)in->n_loop);

	return (struct hn_line){0, of, of + in->n_loop};
}

void hn_line_add_variable(const struct hn_line_space *in, int32_t var, int64_t scale,
			  struct hn_line *to)
{
	if (var < 0 || (uint32_t)var >= in->n_var) {
		return;
	}
	if (!in->line) {
		int32_t l = in->at[var];

		if (l >= 0) {
			to->one[l] = plus(to->one[l], scale);
			to->end[l] = plus(to->end[l],
					  times(scale, in->loop[l]->extent - 1));
		}
		return;
	}
	const struct hn_line *x = &in->line[var];

	to->base = plus(to->base, times(scale, x->base));
	for (uint32_t l = 0; l < in->n_loop; l++) {
		to->one[l] = plus(to->one[l], times(scale, x->one[l]));
		to->end[l] = plus(to->end[l], times(scale, x->end[l]));
	}
}

/* What is not linear: at each point from what its arguments are there. */
static void add_pointwise(const struct hn_line_space *in, const struct hn_expr *e, int64_t scale,
			  struct hn_line *to)
{
	struct hn_line arg[3];
	int64_t x[3], one[3], end[3];

	for (uint32_t i = 0; i < e->n_arg; i++) {
		arg[i] = hn_line_zero(in);
		hn_line_add(in, e->arg[i], 1, &arg[i]);
		x[i] = arg[i].base;
	}
	int64_t base = value_of(e, x);

	to->base = plus(to->base, times(scale, base));
	for (uint32_t l = 0; l < in->n_loop; l++) {
		bool moves = false;

		for (uint32_t i = 0; i < e->n_arg; i++) {
			one[i] = plus(x[i], arg[i].one[l]);
			end[i] = plus(x[i], arg[i].end[l]);
			moves |= arg[i].one[l] != 0 || arg[i].end[l] != 0;
		}
		if (moves) {
			to->one[l] = plus(to->one[l], times(scale, value_of(e, one) - base));
			to->end[l] = plus(to->end[l], times(scale, value_of(e, end) - base));
		}
	}
}

void hn_line_add(const struct hn_line_space *in, const struct hn_expr *e, int64_t scale,
		 struct hn_line *to)
{
	switch (e->op) {
	case HN_EXPR_INT:
		to->base = plus(to->base, times(scale, e->u.i));
		return;
	case HN_EXPR_VAR:
		hn_line_add_variable(in, e->ref, scale, to);
		return;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		hn_line_add(in, e->arg[0], scale, to);
		hn_line_add(in, e->arg[1], e->op == HN_EXPR_ADD ? scale : times(scale, -1),
			    to);
		return;
	case HN_EXPR_MUL:
		if (e->arg[1]->op == HN_EXPR_INT) {
			hn_line_add(in, e->arg[0], times(scale, e->arg[1]->u.i), to);
			return;
		}
		if (e->arg[0]->op == HN_EXPR_INT) {
			hn_line_add(in, e->arg[1], times(scale, e->arg[0]->u.i), to);
			return;
		}
		break;
	default:
		break;
	}
	if (e->op != HN_EXPR_LOAD && e->op != HN_EXPR_CALL && e->n_arg <= 3) {
		add_pointwise(in, e, scale, to);
	}
}
