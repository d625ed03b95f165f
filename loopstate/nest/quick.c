/* loopstate/nest/quick.c -- the quick check's walk over the tree.  See quick.h. */
#include "loopstate/nest/quick_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/nest/concurrent.h"
#include "loopstate/nest/layout.h"
#include "loopstate/nest/quick_merge.h"
#include "loopstate/nest/ring.h"

#define MAX_LEVELS 256

struct hn_quick {
	struct hn_arena arena;
};

struct walker {
	struct hn_quick_check *c;
	uint32_t n_level, n_loop;
	struct hn_quick_level level[MAX_LEVELS];
};

struct hn_quick *hn_quick_new(void)
{
	struct hn_quick *q = calloc(1, sizeof(*q));

	hn_assert(q);
	hn_arena_init(&q->arena, 0);
	return q;
}

void hn_quick_free(struct hn_quick *q)
{
	if (q) {
		hn_arena_fini(&q->arena);
		free(q);
	}
}

bool hn_quick_refuse(struct hn_quick_check *c, const struct hn_quick_stmt *s,
		     const char *why)
{
	if (c->err) {
		(void)hn_fail(c->err, HONE_E_INVALID, "stage %d (%s): %s", s->node->stage,
			      s->op->name, why);
	}
	return false;
}

static void count(const struct hn_node *n, uint32_t *stmts, uint32_t *loops)
{
	*stmts += n->kind == HN_NODE_STMT;
	*loops += hn_loop_concurrent(n);
	if (n->init) {
		count(n->init, stmts, loops);
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		count(n->child[i], stmts, loops);
	}
}

static void add_statement(struct walker *w, const struct hn_node *node)
{
	struct hn_quick_check *c = w->c;
	const struct hn_buffer *buffer = &c->tree->buffer[node->stage];
	struct hn_quick_stmt *s = &c->stmt[c->n_stmt++];
	struct hn_quick_level *level =
		HN_NEW_ARRAY(c->arena, struct hn_quick_level, w->n_level);

	*s = (struct hn_quick_stmt){ .node = node,
				     .op = c->tree->dag->op[node->stage],
				     .n_level = w->n_level,
				     .level = level,
				     .n_loop = w->n_loop };
	s->n_axis = s->op->n_spatial + (node->stmt == HN_STMT_UPDATE ? s->op->n_reduce : 0);
	for (uint32_t i = 0, loop = 0; i < w->n_level; i++) {
		level[i] = w->level[i];
		if (level[i].node->kind == HN_NODE_LOOP) {
			loop++;
			if (buffer->lifetime == HN_LIFETIME_LOOP &&
			    buffer->at_loop == level[i].node->loop) {
				s->life = loop;
			}
		}
	}
}

static bool walk(struct walker *w, const struct hn_node *n, uint32_t position)
{
	bool loop = n->kind == HN_NODE_LOOP;
	bool fits = w->n_level < MAX_LEVELS;

	if (n->init) {
		fits = fits && walk(w, n->init, position - 1);
	}
	if (!fits) {
		return false;
	}
	w->level[w->n_level++] = (struct hn_quick_level){ n, position };
	if (loop) {
		hn_digit_set_loop(&w->c->space, n->loop, w->n_loop);
		w->n_loop++;
		if (hn_loop_concurrent(n)) {
			w->c->concurrent[w->c->n_concurrent++] = n;
		}
	}
	if (n->kind == HN_NODE_STMT) {
		add_statement(w, n);
	}
	for (uint32_t i = 0; i < n->n_child && fits; i++) {
		fits = walk(w, n->child[i], 2 * i + 1);
	}
	w->n_loop -= loop;
	w->n_level--;
	return fits;
}

static void open_space(struct hn_quick_check *c, const struct hn_looptree *t)
{
	int32_t *first = HN_NEW_ARRAY(c->arena, int32_t, t->n_loop);
	uint32_t n = 0, n_stmt = 0, n_loop = 0, n_ragged = 0;

	c->tree = t;
	c->space.radix = hn_radix_of(t, c->arena);
	for (uint32_t i = 0; i < t->n_loop; i++) {
		first[i] = (int32_t)n;
		n += c->space.radix[i].n_digit;
		n_ragged += c->space.radix[i].n_digit > 1 ? c->space.radix[i].n_digit : 0;
	}
	count(t->root, &n_stmt, &n_loop);
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		const struct hn_bounds *b = t->bounds; /* a composite digit a guard */

		n += t->buffer[i].op >= 0 ? 2 * (b ? b->stage[i].n_guard : 8) : 0;
	}
	n += n_stmt * n_ragged; /* and one a loop, or one a digit of it */
	c->space.first = first;
	c->space.cap_digit = n;
	c->space.digit = HN_NEW_ARRAY(c->arena, struct hn_digit, n);
	c->stmt = HN_NEW_ARRAY(c->arena, struct hn_quick_stmt, n_stmt);
	c->concurrent = HN_NEW_ARRAY(c->arena, const struct hn_node *, n_loop);
	c->writers = HN_NEW_ARRAY(c->arena, struct hn_quick_writers, t->dag->n_op);
}

/* The statements of each op: one, or an init and an update. */
static bool find_writers(struct hn_quick_check *c)
{
	for (uint32_t i = 0; i < c->n_stmt; i++) {
		struct hn_quick_stmt *s = &c->stmt[i];
		bool init = s->node->stmt == HN_STMT_INIT;
		struct hn_quick_writers *w = &c->writers[s->node->stage];
		const struct hn_quick_stmt **place = init ? &w->init : &w->main;

		if (*place) {
			return hn_quick_refuse(c, s, "two statements compute it");
		}
		*place = s;
		if (c->tree->buffer[s->node->stage].lifetime == HN_LIFETIME_LOOP &&
		    s->life == 0) {
			return hn_quick_refuse(c, s, "computed outside the loop that holds it");
		}
	}
	for (uint32_t i = 0; i < c->n_stmt; i++) {
		const struct hn_quick_writers *w = &c->writers[c->stmt[i].node->stage];

		if (!w->main || (w->init != NULL) != (c->stmt[i].op->reduce != NULL)) {
			return hn_quick_refuse(c, &c->stmt[i],
					       "its reduction is never initialised, or never run");
		}
	}
	return true;
}

static bool outputs_computed(struct hn_quick_check *c)
{
	const struct hn_dag *dag = c->tree->dag;

	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		if (dag->op[dag->arg[i]]->kind == HN_OP_COMPUTE &&
		    !c->writers[dag->arg[i]].main) {
			if (c->err) {
				(void)hn_fail(c->err, HONE_E_INVALID,
					      "stage %d (%s): an output is never computed",
					      dag->arg[i], dag->op[dag->arg[i]]->name);
			}
			return false;
		}
	}
	return true;
}

static bool layouts_fit(struct hn_quick_check *c)
{
	for (uint32_t i = 0; i < c->n_stmt; i++) {
		const char *why = hn_layout_why_not(&c->tree->buffer[c->stmt[i].node->stage]);

		if (why) {
			return hn_quick_refuse(c, &c->stmt[i], why);
		}
	}
	return true;
}

static bool pipelines_fit(struct hn_quick_check *c)
{
	const struct hn_node *loop = NULL;
	const char *why = hn_ring_why_not(c->tree, c->tree->root, &loop);

	if (why && c->err) {
		(void)hn_fail(c->err, HONE_E_INVALID, "stage %d (%s): loop %s: %s", loop->stage,
			      c->tree->dag->op[loop->stage]->name, loop->name, why);
	}
	return why == NULL;
}

static bool check_reduction(struct hn_quick_check *c, const struct hn_quick_stmt *s)
{
	const struct hn_quick_writers *w = &c->writers[s->node->stage];

	if (s->node->stmt != HN_STMT_UPDATE) {
		return true;
	}
	if (!hn_quick_init_first(c, w->init, s)) {
		return hn_quick_refuse(c, s, "its init is not shown to run first");
	}
	if (hn_keeps_order(c->tree->dag, s->op) && !hn_quick_in_sequence(c, s)) {
		return hn_quick_refuse(c, s, "its reduction may not be reordered");
	}
	return true;
}

static bool is_under(const struct hn_quick_stmt *s, const struct hn_node *loop)
{
	uint32_t k = 0;

	while (k < s->n_level && s->level[k].node != loop) {
		k++;
	}
	return k < s->n_level;
}

/* Whether iterations of the loop may all update an element of s. */
static bool combined(const struct hn_quick_check *c, const struct hn_quick_stmt *s,
		     const struct hn_node *loop)
{
	return s->node->stmt == HN_STMT_UPDATE &&
	       hn_loop_combines(c->tree->dag, loop, s->node->stage) &&
	       !is_under(c->writers[s->node->stage].init, loop);
}

/* Within one iteration of the loops outside, an element belongs to one iteration of the
 * loop.  Readers need no look: they share no loop with what they read below its buffer. */
static bool check_concurrent(struct hn_quick_check *c, const struct hn_node *loop)
{
	uint32_t depth = c->space.digit[c->space.first[loop->loop]].depth;

	for (uint32_t i = 0; i < c->n_stmt; i++) {
		const struct hn_quick_stmt *s = &c->stmt[i];

		if (!is_under(s, loop) || s->life > depth || combined(c, s, loop)) {
			continue; /* private to an iteration, or made of what each has */
		}
		if (!hn_quick_determined(c, s, depth, depth + 1)) {
			char why[80];

			snprintf(why, sizeof why, "iterations of a %s loop may share an element",
				 hn_ann_keyword(loop->ann));
			return hn_quick_refuse(c, s, why);
		}
	}
	return true;
}

static bool has_threads(const struct hn_quick_check *c)
{
	uint32_t i = 0;

	while (i < c->n_concurrent && !hn_ann_is_thread(c->concurrent[i]->ann)) {
		i++;
	}
	return i < c->n_concurrent;
}

static bool check(struct hn_quick_check *c)
{
	bool ok = find_writers(c) && outputs_computed(c) && layouts_fit(c) &&
		  pipelines_fit(c);

	for (uint32_t i = 0; i < c->n_stmt && ok; i++) {
		ok = hn_quick_cover(c, &c->stmt[i]);
	}
	for (uint32_t i = 0; i < c->n_stmt && ok; i++) {
		ok = check_reduction(c, &c->stmt[i]) && hn_quick_reads(c, &c->stmt[i]);
	}
	for (uint32_t i = 0; i < c->n_concurrent && ok; i++) {
		ok = check_concurrent(c, c->concurrent[i]);
	}
	return ok;
}

/* The tree as it stands, but for what its threads share; takes memory of the workspace. */
static bool check_tree(struct hn_arena *arena, const struct hn_looptree *t, bool *ret_threads,
		       struct hn_err *err)
{
	struct hn_quick_check c = { .arena = arena, .err = err };
	struct walker w;

	open_space(&c, t);
	for (uint32_t i = 0; i < t->n_loop; i++) {
		c.space.n_digit += c.space.radix[i].n_digit;
	}
	w.c = &c;
	w.n_level = w.n_loop = 0;
	if (!walk(&w, t->root, 1)) {
		if (err) {
			(void)hn_fail(err, HONE_E_UNSUPPORTED, "the tree is too deep");
		}
		return false;
	}
	*ret_threads = has_threads(&c);
	return check(&c);
}

bool hn_quick_legal(struct hn_quick *q, const struct hn_looptree *t, struct hn_err *err)
{
	if (t->dag->sizes) { /* intervals of the largest sizes prove nothing of others */
		if (err) {
			(void)hn_fail(err, HONE_E_UNSUPPORTED,
				      "its sizes are parameters: ask the exact check");
		}
		return false;
	}
	hn_arena_reset(&q->arena);

	bool threads = false, as_merged;
	bool ok = check_tree(&q->arena, t, &threads, err);

	if (!ok) {
		/* the first refusal is the one to tell: its loops are those of t */
		const struct hn_looptree *merged = hn_quick_merge(t, &q->arena);

		ok = merged != NULL && check_tree(&q->arena, merged, &as_merged, NULL);
	}
	/* of t: a merged loop no longer says which number of the grid it is */
	return ok && (!threads || hn_threads_agree(t, err));
}
