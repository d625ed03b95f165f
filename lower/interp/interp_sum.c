/* lower/interp/interp_sum.c -- sums of multiples as one cell, and quotients by a number.
 *
 * Indices are mostly such sums: a cell for each plus and times, and for each variable, takes most of
 * an interpreter's time.  All is computed modulo 2^64, as the nodes by themselves are; so only what
 * does not wrap to a narrower type is taken together.
 */
#include "base/arith.h"
#include "lower/interp/interp_priv.h"

struct sum {
	struct hn_compile *c;
	bool index;
	uint64_t shift;
	uint32_t n_term, cap_term, n_part, cap_part, cap_times;
	struct hn_interp_term *term;
	/* what is no variable, and how many times it is added */
	const struct hn_cell **part;
	int64_t *times;
};

static inline uint64_t of_terms(const struct hn_cell *c, const union hn_value *frame)
{
	uint64_t at = (uint64_t)c->v.i;

	for (uint32_t i = 0; i < c->n_term; i++) {
		at += (uint64_t)c->term[i].stride * (uint64_t)frame[c->term[i].slot].i;
	}
	return at;
}

static union hn_value eval_terms(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = (int64_t)of_terms(c, frame) };
}

static union hn_value eval_sum(const struct hn_cell *c, union hn_value *frame)
{
	uint64_t at = of_terms(c, frame);

	for (uint32_t i = 0; i < c->n_index; i++) {
		at += (uint64_t)c->stride[i] * (uint64_t)c->index[i]->eval(c->index[i], frame).i;
	}
	return (union hn_value){ .i = (int64_t)at };
}

static union hn_value eval_quotient(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = hn_floordiv(c->arg[0]->eval(c->arg[0], frame).i, c->v.i) };
}

static union hn_value eval_rest(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = hn_floormod(c->arg[0]->eval(c->arg[0], frame).i, c->v.i) };
}

/* Of a number that is a power of two. */
static union hn_value eval_low_bits(const struct hn_cell *c, union hn_value *frame)
{
	return (union hn_value){ .i = c->arg[0]->eval(c->arg[0], frame).i & (c->v.i - 1) };
}

static bool is_whole(const struct hn_expr *e, bool index)
{
	return e->dtype == HN_I64 || e->dtype == HN_U64 || (index && e->dtype == HN_I32);
}

static void add_term(struct sum *s, int32_t slot, uint64_t times)
{
	uint32_t i = 0;

	while (i < s->n_term && s->term[i].slot != slot) {
		i++;
	}
	if (i == s->n_term) {
		s->term = hn_arena_grow(s->c->a, s->term, i, &s->cap_term, sizeof(s->term[0]));
		s->term[s->n_term++] = (struct hn_interp_term){ .slot = slot };
	}
	s->term[i].stride = (int64_t)((uint64_t)s->term[i].stride + times);
}

/* What is no sum: a cell of its own. */
static void add_part(struct sum *s, const struct hn_expr *e, uint64_t times)
{
	uint32_t n = s->n_part++;

	s->part = hn_arena_grow(s->c->a, s->part, n, &s->cap_part, sizeof(s->part[0]));
	s->times = hn_arena_grow(s->c->a, s->times, n, &s->cap_times, sizeof(s->times[0]));
	s->times[n] = (int64_t)times;
	s->part[n] = s->index ? hn_interp_compile_index(s->c, e) : hn_interp_compile(s->c, e);
}

static bool is_times(const struct hn_expr *e)
{
	return e->op == HN_EXPR_MUL &&
	       (e->arg[0]->op == HN_EXPR_INT || e->arg[1]->op == HN_EXPR_INT);
}

static void add(struct sum *s, const struct hn_expr *e, uint64_t times)
{
	bool whole = is_whole(e, s->index);

	if (whole && e->op == HN_EXPR_INT) {
		s->shift += times * (uint64_t)e->u.i;
	} else if (whole && e->op == HN_EXPR_VAR) {
		add_term(s, hn_interp_slot(s->c, e->ref), times);
	} else if (whole && (e->op == HN_EXPR_ADD || e->op == HN_EXPR_SUB)) {
		add(s, e->arg[0], times);
		add(s, e->arg[1], e->op == HN_EXPR_ADD ? times : 0 - times);
	} else if (whole && is_times(e)) {
		int number = e->arg[0]->op == HN_EXPR_INT ? 0 : 1;

		s->c->n_cell++;
		add(s, e->arg[1 - number], times * (uint64_t)e->arg[number]->u.i);
	} else {
		add_part(s, e, times); /* which counts itself */
		return;
	}
	s->c->n_cell++;
}

static bool compile_quotient(struct hn_compile *c, const struct hn_expr *e, bool index,
			     struct hn_cell *cell)
{
	int64_t y = e->arg[1]->op == HN_EXPR_INT ? e->arg[1]->u.i : 0;

	if (y <= 0 || hn_dtype_class((enum hn_dtype)e->dtype) != HN_CLASS_SIGNED) {
		return false;
	}
	cell->eval = e->op == HN_EXPR_FLOORDIV ? eval_quotient
		     : (y & (y - 1)) == 0      ? eval_low_bits
					       : eval_rest;
	cell->arg[0] = index ? hn_interp_compile_index(c, e->arg[0])
			     : hn_interp_compile(c, e->arg[0]);
	cell->v.i = y;
	c->n_cell++;
	return true;
}

bool hn_interp_sum(struct hn_compile *c, const struct hn_expr *e, bool index, struct hn_cell *cell)
{
	struct sum s = { .c = c, .index = index };

	if (!is_whole(e, index)) {
		return false;
	}
	if (e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) {
		return compile_quotient(c, e, index, cell);
	}
	if (e->op != HN_EXPR_ADD && e->op != HN_EXPR_SUB && !is_times(e)) {
		return false;
	}
	c->n_cell--; /* the caller has counted it */
	add(&s, e, 1);
	cell->v.i = (int64_t)s.shift;
	cell->term = s.term;
	cell->n_term = s.n_term;
	cell->index = s.part;
	cell->stride = s.times;
	cell->n_index = s.n_part;
	cell->eval = s.n_part == 0 ? eval_terms : eval_sum;
	return true;
}
