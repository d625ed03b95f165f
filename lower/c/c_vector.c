/* lower/c/c_vector.c -- values of a register tile: what is the same in all lanes is a scalar, and what
 * lies side by side one vector of the compiler's (GCC's and clang's vector_size).
 *
 * Of both kinds what is read again at other points of the tile has a name; C's rules make an operator
 * on a scalar and a vector one on vectors.
 */
#include <string.h>

#include "lower/c/c_tile.h"

/* Number of the load among the nest's; each is there once. */
static uint32_t load_of(const struct c_tile *x, const struct hn_expr *e)
{
	uint32_t k = 0;

	while (k < x->nest.n_load && x->nest.load[k] != e) {
		k++;
	}
	hn_assert(k < x->nest.n_load);
	return k + 1;
}

static bool is_lane(const struct c_tile *x, int32_t loop)
{
	for (uint32_t i = 0; i < x->n_dim; i++) {
		if (x->dim[i].chain >= 0 && x->dim[i].loop->loop == loop) {
			return true;
		}
	}
	return false;
}

struct lanes {
	const struct c_tile *x;
	bool any;
};

static void find_lane(const struct hn_expr *e, void *ctx)
{
	struct lanes *l = ctx;

	l->any = l->any || (e->op == HN_EXPR_VAR && is_lane(l->x, e->ref));
}

/* e, of op space, is another thing in each lane. */
static bool moves(const struct c_tile *x, const struct hn_expr *e)
{
	struct lanes l = { x, false };
	bool any = false;

	if (x->width == 1) {
		return false;
	}
	if (e->op == HN_EXPR_LOAD) {
		return x->reach[load_of(x, e)].moves;
	}
	if (e->op == HN_EXPR_VAR && e->ref >= 0 &&
	    (uint32_t)e->ref < x->nest.op->n_spatial + x->nest.op->n_reduce) {
		hn_expr_visit(x->nest.stmt->axis[e->ref], find_lane, &l);
		return l.any;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		any = any || moves(x, e->arg[i]);
	}
	return any;
}

static bool fits(const struct c_tile *x, const struct hn_expr *e, bool inside)
{
	const struct c_reach *r;
	bool all = e->op != HN_EXPR_LET;

	if (!moves(x, e)) {
		for (uint32_t i = 0; i < e->n_arg && e->op != HN_EXPR_LOAD; i++) {
			all = all && fits(x, e->arg[i], inside);
		}
		return all;
	}
	if ((enum hn_dtype)e->dtype != x->t) {
		return false;
	}
	switch (e->op) {
	case HN_EXPR_LOAD:
		r = &x->reach[load_of(x, e)];
		return r->exact && r->lane == 1;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
	case HN_EXPR_MUL:
	case HN_EXPR_DIV:
		return fits(x, e->arg[0], inside) && fits(x, e->arg[1], inside);
	case HN_EXPR_SELECT:
	case HN_EXPR_IF: /* which becomes an `if` of its own lines */
		return !inside && !moves(x, e->arg[0]) && fits(x, e->arg[0], inside) &&
		       fits(x, e->arg[1], true) && fits(x, e->arg[2], true);
	default:
		return false;
	}
}

bool hn_c_vector_fits(const struct c_tile *x, const struct hn_expr *e)
{
	return fits(x, e, /* inside= */ false);
}

/* -- text ------------------------------------------------------------------------------------ */

static const struct hn_expr *here(struct c_tile *x, const struct hn_expr *e)
{
	struct c *c = x->c;

	e = hn_expr_substitute(e, x->axis, x->nest.op->n_spatial + x->nest.op->n_reduce, c->a);
	return hn_simplify_data(e, c->span, c->t->n_loop, c->a);
}

/* What has that text in the body; NULL. */
static const char *name_of(const struct c_tile *x, const char *text)
{
	for (uint32_t i = 0; i < x->n_named; i++) {
		if (strcmp(x->named[i].text, text) == 0) {
			return x->named[i].name;
		}
	}
	return NULL;
}

static void note(struct c_tile *x, const char *text, const char *name)
{
	x->named = hn_arena_grow(x->c->a, x->named, x->n_named, &x->cap_named, sizeof(*x->named));
	x->named[x->n_named++] = (struct c_named){ text, name };
}

/* A name for it in the body, unless it may be read only inside of a choice. */
static struct c_text named(struct c_tile *x, const char *type, struct c_text v)
{
	const char *name = x->inside ? v.s : name_of(x, v.s);

	if (name == NULL) {
		name = hn_c_value_name(x->c);
		hn_c_line(x->c, "const %s %s = %s;", type, name, v.s);
		note(x, v.s, name);
	}
	return x->inside ? v : (struct c_text){ name, C_ATOM };
}

static struct c_text scalar(struct c_tile *x, const struct hn_expr *e)
{
	const struct hn_expr *at = here(x, e);
	struct c_text v = hn_c_value(x->c, at);

	return at->op == HN_EXPR_INT || at->op == HN_EXPR_FLOAT
		       ? v
		       : named(x, hn_c_type((enum hn_dtype)e->dtype), v);
}

static struct c_text vector_at(struct c_tile *x, const char *element)
{
	return (struct c_text){ hn_arena_printf(x->c->a, "*(const %s *)&%s", x->type, element),
				C_UNARY };
}

static struct c_text load(struct c_tile *x, const struct hn_expr *e)
{
	const struct hn_expr *at = here(x, e);

	hn_assert(at->op == HN_EXPR_LOAD);
	return named(x, x->type,
		     vector_at(x, hn_c_element(x->c, at->ref, at->out, at->arg)));
}

static struct c_text infix(struct c_tile *x, const struct hn_expr *e, const char *sign,
			   enum c_level level)
{
	struct c_text l = hn_c_vector(x, e->arg[0]), r = hn_c_vector(x, e->arg[1]);

	return (struct c_text){ hn_arena_printf(x->c->a, "%s %s %s", hn_c_at(x->c, l, level), sign,
						hn_c_at(x->c, r, level + 1)),
				level };
}

/* A scalar as a vector: less 0, which changes not even a zero's sign. */
static struct c_text splat(struct c_tile *x, const struct hn_expr *e)
{
	struct c_text v = hn_c_vector(x, e);

	return moves(x, e) ? v
			   : (struct c_text){ hn_arena_printf(x->c->a, "%s - (%s){ 0 }",
							      hn_c_at(x->c, v, C_SUM), x->type),
					      C_SUM };
}

/* Lines, as C has no choice between vectors. */
static struct c_text choose(struct c_tile *x, const struct hn_expr *e)
{
	struct c_text cond = scalar(x, e->arg[0]), yes, no;
	struct c *c = x->c;

	x->inside = true;
	yes = splat(x, e->arg[1]);
	no = splat(x, e->arg[2]);
	x->inside = false;

	const char *all = hn_arena_printf(c->a, "%s ? %s : %s", cond.s, yes.s, no.s);
	const char *name = name_of(x, all);

	if (name == NULL) {
		name = hn_c_value_name(c);
		hn_c_line(c, "%s %s;", x->type, name);
		hn_c_line(c, "if (%s) {", cond.s);
		hn_c_line(c, "\t%s = %s;", name, yes.s);
		hn_c_line(c, "} else {");
		hn_c_line(c, "\t%s = %s;", name, no.s);
		hn_c_line(c, "}");
		note(x, all, name);
	}
	return (struct c_text){ name, C_ATOM };
}

struct c_text hn_c_vector(struct c_tile *x, const struct hn_expr *e)
{
	if (!moves(x, e)) {
		return scalar(x, e);
	}
	switch (e->op) {
	case HN_EXPR_LOAD:
		return load(x, e);
	case HN_EXPR_ADD:
		return infix(x, e, "+", C_SUM);
	case HN_EXPR_SUB:
		return infix(x, e, "-", C_SUM);
	case HN_EXPR_MUL:
		return infix(x, e, "*", C_PRODUCT);
	case HN_EXPR_DIV:
		return infix(x, e, "/", C_PRODUCT);
	default:
		return choose(x, e);
	}
}

const char *hn_c_vector_place(struct c_tile *x)
{
	const char *element = hn_c_element(x->c, x->nest.stmt->stage, 0, x->axis);

	return x->width == 1	       ? element
	       : x->reach[0].lane == 1 ? hn_arena_printf(x->c->a, "*(%s *)&%s", x->type, element)
				       : hn_arena_printf(x->c->a, "(&%s)[k * %lld]", element,
							 (long long)x->reach[0].lane);
}
