/* loopstate/nest/prepare.c -- see prepare.h. */
#include "loopstate/nest/prepare.h"

#include "loopstate/dag/constant.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/size.h"

/* Whether nest n can run before the first call: it and all in it read constant inputs alone,
 * each other, and what runs there too, and no size that a call passes. */
struct can_prepare {
	const struct hn_dag *dag;
	const uint8_t *dependence;
	bool *there; /* [n_stage] computed before the first call */
	bool yes;
};

static void see_read(const struct hn_expr *e, void *ctx)
{
	struct can_prepare *c = ctx;

	if (e->op == HN_EXPR_LOAD) {
		c->yes = c->yes && (c->dag->op[e->ref]->kind == HN_OP_PLACEHOLDER ||
				    c->there[e->ref]);
	}
	c->yes = c->yes && !hn_expr_is_size(e);
}

static void see_value(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	(void)owner;
	(void)k;
	hn_expr_visit(e, see_read, ctx);
}

static bool has_sized_axis(const struct hn_op *op)
{
	for (uint32_t i = 0; i < op->n_dim + op->n_reduce; i++) {
		if (hn_op_extent(op, i) != NULL) {
			return true;
		}
	}
	return false;
}

/* Marks (or, with yes = false, unmarks) the stages of nest n. */
static void mark(struct can_prepare *c, const struct hn_node *n, bool yes)
{
	c->there[n->stage] = yes;
	c->yes = c->yes && c->dependence[n->stage] != HN_VARIES &&
		 !has_sized_axis(c->dag->op[n->stage]);
	for (uint32_t k = 0; k < n->n_child; k++) {
		mark(c, n->child[k], yes);
	}
}

static void see_nest(struct can_prepare *c, const struct hn_node *n)
{
	if (n->kind == HN_NODE_STMT) {
		hn_dag_op_exprs(c->dag->op[n->stage], see_value, c);
	}
	for (uint32_t k = 0; k < n->n_child && c->yes; k++) {
		see_nest(c, n->child[k]);
	}
}

static bool can_prepare(struct can_prepare *c, const struct hn_node *nest)
{
	c->yes = true;
	mark(c, nest, true);
	if (c->yes) {
		see_nest(c, nest);
	}
	if (!c->yes) {
		mark(c, nest, false);
	}
	return c->yes;
}

const bool *hn_prepare_find(const struct hn_looptree *t, struct hn_arena *a)
{
	uint32_t n = t->dag->n_op;
	uint8_t *dependence = HN_NEW_ARRAY(a, uint8_t, n);
	bool *prepared = HN_NEW_ARRAY(a, bool, n), any = false;

	for (uint32_t k = 0; k < t->root->n_child && !any; k++) {
		any = t->buffer[t->root->child[k]->stage].lifetime == HN_LIFETIME_KERNEL;
	}
	if (!any) {
		return prepared;
	}
	hn_dag_find_constant(t->dag, t->state->root_dag, dependence);
	struct can_prepare c = { t->dag, dependence, HN_NEW_ARRAY(a, bool, n), true };

	for (uint32_t k = 0; k < t->root->n_child; k++) {
		const struct hn_node *nest = t->root->child[k];

		prepared[nest->stage] = t->buffer[nest->stage].lifetime == HN_LIFETIME_KERNEL &&
					can_prepare(&c, nest);
	}
	return prepared;
}

/* -- what is left to the call ------------------------------------------------------------- */

struct reads {
	const struct hn_dag *dag;
	bool *of; /* [n_op] */
};

static void note_read(const struct hn_expr *e, void *ctx)
{
	struct reads *r = ctx;

	if (e->op == HN_EXPR_LOAD) {
		r->of[e->ref] = true;
	}
}

static void note_value(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	(void)owner;
	(void)k;
	hn_expr_visit(e, note_read, ctx);
}

static void note_nest(struct reads *r, const struct hn_node *n)
{
	if (n->kind == HN_NODE_STMT) {
		hn_dag_op_exprs(r->dag->op[n->stage], note_value, r);
	}
	for (uint32_t k = 0; k < n->n_child; k++) {
		note_nest(r, n->child[k]);
	}
}

void hn_prepare_reads(const struct hn_looptree *t, struct hn_arena *a, bool *ret)
{
	struct reads r = { t->dag, HN_NEW_ARRAY(a, bool, t->dag->n_op) };

	for (uint32_t k = 0; k < t->root->n_child; k++) {
		if (!t->prepared[t->root->child[k]->stage]) {
			note_nest(&r, t->root->child[k]);
		}
	}
	for (uint32_t i = 0; i < t->dag->n_input; i++) {
		ret[i] = r.of[t->dag->arg[i]];
	}
}
