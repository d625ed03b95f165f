/* lower/device/place_survey.c -- before a nest is placed: its grid, and where its tensors lie. */
#include "loopstate/nest/bounds_scope.h"
#include "lower/device/place_int.h"

struct survey {
	struct place *p;
	const struct bound *around;	   /* of the statement at hand */
	const struct hn_node *const *path; /* all loops around it, outermost first */
	uint32_t n_path;
};

/* Whether a thread's loop stands between the loop that holds the stage's tensor and here. */
static void survey_access(const struct survey *v, int32_t stage)
{
	const struct hn_buffer *b = &v->p->t->buffer[stage];

	for (uint32_t i = v->n_path;
	     b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP && i-- > 0;) {
		if (v->path[i]->loop == b->at_loop) {
			return;
		}
		if (hn_place_runs(v->path[i]) == HN_RUNS_THREADS) {
			v->p->held[stage].threads_inside = true;
		}
	}
}

static void survey_load(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_LOAD) {
		survey_access(ctx, e->ref);
	}
}

static void survey_value(const struct hn_expr *e, const char *owner, uint32_t i,
			 void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, survey_load, ctx);
}

#define MOST_LOOPS 512 /* within each other */

static void survey_node(struct survey *v, const struct hn_node *n)
{
	struct place *p = v->p;
	const struct bound *around = v->around;
	uint32_t n_path = v->n_path;

	if (n->init != NULL) {
		survey_node(v, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		survey_access(v, n->stage);
		if (n->stmt != HN_STMT_INIT) { /* that reads nothing, and stands outside */
			hn_dag_op_exprs(p->t->dag->op[n->stage], survey_value, v);
		}
	}
	if (n->kind == HN_NODE_LOOP) {
		p->loop_stage[n->loop] = n->stage;
		if (n_path == MOST_LOOPS) {
			hn_place_refuse(p, n->stage,
					"has more than %d loops within each other",
					MOST_LOOPS);
			return;
		}
		((const struct hn_node **)(uintptr_t)v->path)[v->n_path++] = n;
		if (hn_place_runs(n) >= HN_RUNS_BLOCKS) {
			struct bound *b = HN_NEW(p->a, struct bound);

			*b = (struct bound){ n, v->around };
			v->around = b;
		}
		if (hn_place_is_number(n)) {
			int64_t *count =
				hn_place_runs(n) == HN_RUNS_BLOCKS ? p->grid : p->block;

			count += hn_place_dim(n);
			*count = n->extent > *count ? n->extent : *count;
		}
		for (uint32_t i = 0; i < p->t->dag->n_op; i++) {
			const struct hn_buffer *b = &p->t->buffer[i];

			if (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP &&
			    b->at_loop == n->loop) {
				p->held[i].at = v->around;
			}
		}
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		survey_node(v, n->child[i]);
	}
	v->around = around;
	v->n_path = n_path;
}

/* What is one thread's alone is local to it. */
static void choose_memories(struct place *p)
{
	for (uint32_t i = 0; i < p->t->dag->n_op; i++) {
		const struct hn_buffer *b = &p->t->buffer[i];
		struct held *h = &p->held[i];
		bool served = false;

		if (b->op < 0 || b->lifetime != HN_LIFETIME_LOOP) {
			continue;
		}
		/* a copy for each iteration, but of what they share */
		const struct bound **link = &h->at;

		for (const struct bound *x = h->at; x != NULL; x = x->up) {
			if (hn_place_serves(p, (int32_t)i, x->loop)) {
				served |= hn_place_runs(x->loop) == HN_RUNS_THREADS;
			} else {
				struct bound *copy = HN_NEW(p->a, struct bound);

				*copy = *x;
				*link = copy;
				link = &copy->up;
			}
		}
		*link = NULL;
		h->memory = h->threads_inside || served ? HN_MEMORY_SHARED : HN_MEMORY_LOCAL;
	}
}

void hn_place_survey(struct place *p, const struct hn_node *nest)
{
	const struct hn_node **path =
		HN_NEW_ARRAY(p->a, const struct hn_node *, MOST_LOOPS);
	struct survey v = { .p = p, .path = path };

	survey_node(&v, nest);
	choose_memories(p);
	hn_place_warp_survey(p, nest);
}
