/* concurrent.c -- see concurrent.h. */
#include "loopstate/nest/concurrent.h"

#include "loopstate/dag/liberty.h"
#include "loopstate/nest/bounds_scope.h"

bool hn_loop_combines(const struct hn_dag *dag, const struct hn_node *loop, int32_t stage)
{
	const struct hn_op *op = dag->op[stage];

	return hn_ann_rows[loop->ann].runs == HN_RUNS_THREADS && loop->stage == stage &&
	       loop->iter_kind == HN_ITER_REDUCE && op->reduce != NULL &&
	       hn_against_parts(dag, op) == NULL;
}

/* The loops around a node, innermost first. */
struct around {
	const struct hn_node *loop;
	const struct around *next;
};

struct walker {
	const struct hn_looptree *t;
	struct hn_err *err;
	const struct hn_node *loop; /* that an expression may not name */
	bool named;
};

/* The loops around the place where the stage's tensor is held; NULL: none. */
static const struct around *outside(const struct walker *w, int32_t stage, const struct around *a)
{
	const struct hn_buffer *b = &w->t->buffer[stage];

	while (a != NULL && (b->lifetime != HN_LIFETIME_LOOP || a->loop->loop != b->at_loop)) {
		a = a->next;
	}
	return a;
}

static void see(const struct hn_expr *e, void *ctx)
{
	struct walker *w = ctx;

	w->named |= e->op == HN_EXPR_VAR && e->ref == w->loop->loop;
}

static bool names(struct walker *w, const struct hn_node *loop, const struct hn_node *stmt)
{
	const struct hn_op *op = w->t->dag->op[stmt->stage];
	const struct hn_buffer *b = &w->t->buffer[stmt->stage];

	w->loop = loop;
	w->named = false;
	for (uint32_t d = 0; d < op->n_spatial + op->n_reduce; d++) {
		if (stmt->axis[d] != NULL) {
			hn_expr_visit(stmt->axis[d], see, w);
		}
	}
	for (uint32_t i = 0; i < stmt->n_guard; i++) {
		hn_expr_visit(stmt->guard[i], see, w);
	}
	for (uint32_t d = 0; d < b->n_dim; d++) {
		hn_expr_visit(b->min[d], see, w);
	}
	return w->named;
}

static bool check_statement(struct walker *w, const struct hn_node *stmt, const struct around *a)
{
	const struct hn_state *s = w->t->state;

	for (a = outside(w, stmt->stage, a); a != NULL; a = a->next) {
		const struct hn_node *l = a->loop;

		if (l->extent > 1 && hn_scope_serves(s, stmt->stage, l->ann) &&
		    names(w, l, stmt)) {
			(void)hn_fail(w->err, HONE_E_INVALID,
				      "stage %d (%s): iterations of %s loop %s share its memory, and "
				      "it depends on which of them fills it",
				      stmt->stage, w->t->dag->op[stmt->stage]->name,
				      hn_ann_keyword(l->ann), l->name);
			return false;
		}
	}
	return true;
}

/* One loop for each number, but that of a fill of what all its threads share: it is another. */
static bool check_number(struct walker *w, const struct hn_node *loop, const struct around *a)
{
	enum hn_runs runs = hn_ann_rows[loop->ann].runs;
	const struct around *end = hn_scope_serves(w->t->state, loop->stage, loop->ann)
					   ? outside(w, loop->stage, a)
					   : NULL;

	if ((runs != HN_RUNS_BLOCKS && runs != HN_RUNS_THREADS) || loop->extent == 1) {
		return true;
	}
	while (a != end && (a->loop->ann != loop->ann || a->loop->extent == 1)) {
		a = a->next;
	}
	if (a != end) {
		(void)hn_fail(w->err, HONE_E_INVALID,
			      "stage %d (%s): loops %s and %s, one in the other, are both %s",
			      loop->stage, w->t->dag->op[loop->stage]->name, a->loop->name,
			      loop->name, hn_ann_keyword(loop->ann));
	}
	return a == end;
}

static bool check_node(struct walker *w, const struct hn_node *n, const struct around *a)
{
	struct around self = { n, a };
	bool ok = true;

	if (n->init != NULL) {
		ok = check_node(w, n->init, a);
	}
	if (n->kind == HN_NODE_LOOP) {
		ok = ok && check_number(w, n, a);
		a = &self;
	} else if (n->kind == HN_NODE_STMT) {
		ok = ok && check_statement(w, n, a);
	}
	for (uint32_t i = 0; i < n->n_child && ok; i++) {
		ok = check_node(w, n->child[i], a);
	}
	return ok;
}

bool hn_threads_agree(const struct hn_looptree *t, struct hn_err *err)
{
	struct walker w = { .t = t, .err = err };

	return check_node(&w, t->root, NULL);
}
