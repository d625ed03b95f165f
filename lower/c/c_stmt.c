/* lower/c/c_stmt.c -- statements: a guard, and elements that are set or taken into account. */
#include "lower/c/c_int.h"

const struct hn_expr *hn_c_settled(struct c *c, const struct hn_expr *e)
{
	e = hn_expr_substitute(e, c->known, c->t->n_loop, c->a);
	return hn_simplify(e, c->span, c->t->n_loop, c->a);
}

/* What a statement is about, in loop space. */
struct point {
	const struct hn_node *n;
	const struct hn_op *op;
	const struct hn_expr **axis; /* NULL entries as the node's */
};

static struct c_text body_value(struct c *c, const struct point *p, const struct hn_expr *e)
{
	e = hn_expr_substitute(e, p->axis, p->op->n_spatial + p->op->n_reduce, c->a);
	return hn_c_value(c, hn_simplify_data(e, c->span, c->t->n_loop, c->a));
}

static const char *element(struct c *c, const struct point *p, uint32_t out)
{
	return hn_c_element(c, p->n->stage, (int32_t)out, p->axis);
}

static void set(struct c *c, const struct point *p, uint32_t out, struct c_text v)
{
	hn_c_line(c, "%s = %s;", element(c, p, out),
		  hn_c_stored(c, (enum hn_dtype)p->op->dtype[out], v));
}

/* A value with a name. */
static struct c_text named(struct c *c, enum hn_dtype t, struct c_text v)
{
	const char *name = hn_c_value_name(c);

	hn_c_line(c, "const %s %s = %s;", hn_c_type(t), name, v.s);
	return (struct c_text){ name, C_ATOM };
}

/* Whether the new values depend on this part, of what is there or of what comes. */
static bool is_read(const struct hn_reduce *r, int32_t slot)
{
	bool used = false;

	for (uint32_t k = 0; k < r->n; k++) {
		used = used || hn_expr_uses(r->result[k], slot);
	}
	return used;
}

/* All values are there before the first is stored. */
static void set_all(struct c *c, const struct point *p, const struct hn_expr *const *e,
		    uint32_t n, bool constant)
{
	struct c_text *v = HN_NEW_ARRAY(c->a, struct c_text, n);

	for (uint32_t k = 0; k < n; k++) {
		v[k] = constant ? hn_c_value(c, e[k]) : body_value(c, p, e[k]);
		v[k] = n > 1 && !constant ? named(c, (enum hn_dtype)p->op->dtype[k], v[k]) : v[k];
	}
	for (uint32_t k = 0; k < n; k++) {
		set(c, p, k, v[k]);
	}
}

/* One more point of a reduction. */
static void update(struct c *c, const struct point *p)
{
	const struct hn_reduce *r = p->op->reduce;
	enum hn_dtype t = (enum hn_dtype)p->op->dtype[0];
	bool several = r->n > 1 || r->kind == HN_COMBINE_GENERAL;
	uint32_t n_bind = c->n_bind;

	if (r->kind == HN_COMBINE_SUM && r->n == 1 && hn_dtype_class(t) == HN_CLASS_FLOAT &&
	    !hn_dtype_is_narrow(t)) {
		struct c_text v = body_value(c, p, r->source[0]);

		hn_c_line(c, "%s += %s;", element(c, p, 0), v.s);
		return;
	}
	for (uint32_t k = 0; k < r->n; k++) {
		int32_t lhs = HN_SLOT_LHS + (int32_t)k, rhs = HN_SLOT_RHS + (int32_t)k;
		struct c_text v;

		t = (enum hn_dtype)p->op->dtype[k];
		if (is_read(r, lhs)) {
			v = hn_c_loaded(c, t, element(c, p, k));
			hn_c_bind(c, lhs, several ? named(c, t, v) : v);
		}
		if (is_read(r, rhs)) {
			v = body_value(c, p, r->source[k]);
			hn_c_bind(c, rhs, several ? named(c, t, v) : v);
		}
	}
	for (uint32_t k = 0; k < r->n; k++) {
		set(c, p, k, hn_c_value(c, r->result[k]));
	}
	c->n_bind = n_bind;
}

/* "if (guard) {" of those that are not always true; false where none is. */
static bool open_guard(struct c *c, const struct point *p)
{
	const struct hn_reduce *r = p->n->stmt == HN_STMT_UPDATE ? p->op->reduce : NULL;
	uint32_t n = p->n->n_guard + (r != NULL && r->condition != NULL);
	const char *all = NULL;

	for (uint32_t i = 0; i < n; i++) {
		bool own = i < p->n->n_guard;
		const struct hn_expr *g = own ? hn_c_settled(c, p->n->guard[i]) : NULL;

		if (g != NULL && g->op == HN_EXPR_INT && g->u.i != 0) {
			continue;
		}
		struct c_text x = own ? hn_c_value(c, g) : body_value(c, p, r->condition);
		const char *s = hn_c_at(c, x, C_AND);

		all = all == NULL ? s : hn_arena_printf(c->a, "%s && %s", all, s);
	}
	if (all != NULL) {
		hn_c_line(c, "if (%s) {", all);
		c->indent++;
	}
	return all != NULL;
}

void hn_c_stmt(struct c *c, const struct hn_node *n)
{
	struct point p = { .n = n, .op = c->t->dag->op[n->stage] };
	uint32_t n_axis = p.op->n_spatial + p.op->n_reduce;

	p.axis = HN_NEW_ARRAY(c->a, const struct hn_expr *, n_axis);
	for (uint32_t i = 0; i < n_axis; i++) {
		p.axis[i] = n->axis[i] != NULL ? hn_c_settled(c, n->axis[i]) : NULL;
	}
	bool guarded = open_guard(c, &p);

	if (n->stmt == HN_STMT_UPDATE) {
		update(c, &p);
	} else if (n->stmt == HN_STMT_INIT) {
		set_all(c, &p, p.op->reduce->identity, p.op->reduce->n, /* constant= */ true);
	} else {
		set_all(c, &p, p.op->body, p.op->n_out, /* constant= */ false);
	}
	if (guarded) {
		c->indent--;
		hn_c_line(c, "}");
	}
}
