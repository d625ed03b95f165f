/* loopstate/nest/quick_merge.c -- loops that are only counted together, as one.  See
 * quick_merge.h. */
#include "loopstate/nest/quick_merge.h"

#include "base/arith.h"
#include "loopstate/expr/simplify.h"
#include "loopstate/state/ann.h"

struct merge {
	const struct hn_looptree *t;
	struct hn_arena *a;
	int32_t *with;	   /* [n_loop] towards the set of loops that are counted together */
	bool *counted;	   /* [n_loop] by a set's first loop: a division counts the set */
	bool *holds;	   /* [n_loop] a buffer lives in its iterations */
	int32_t *into;	   /* [n_loop] the loop that takes its place */
	struct hn_span *span; /* [n_loop] */
	const struct hn_expr **value; /* [n_loop] by the merged loop; NULL: as it was */
	uint32_t n_merged;
};

/* The loops of one expression. */
struct loops {
	struct merge *m;
	int32_t first; /* -1: none yet */
	bool several;
};

static int32_t set_of(struct merge *m, int32_t loop)
{
	while (m->with[loop] != loop) {
		loop = m->with[loop] = m->with[m->with[loop]]; /* shorter next time */
	}
	return loop;
}

static bool is_loop(const struct merge *m, const struct hn_expr *e)
{
	return e->op == HN_EXPR_VAR && e->ref >= 0 && (uint32_t)e->ref < m->t->n_loop;
}

static void join_loop(const struct hn_expr *e, void *ctx)
{
	struct loops *x = ctx;

	if (!is_loop(x->m, e)) {
		return;
	}
	int32_t set = set_of(x->m, e->ref);

	if (x->first < 0) {
		x->first = set;
	} else if (set != x->first) {
		x->several = true;
		x->m->counted[x->first] = x->m->counted[x->first] || x->m->counted[set];
		x->m->with[set] = x->first;
	}
}

static struct loops join(struct merge *m, const struct hn_expr *e)
{
	struct loops x = { m, -1, false };

	hn_expr_visit(e, join_loop, &x);
	return x;
}

static void join_division(const struct hn_expr *e, void *ctx)
{
	if ((e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) &&
	    e->arg[1]->op == HN_EXPR_INT) {
		struct merge *m = ctx;
		struct loops x = join(m, e->arg[0]);

		if (x.first >= 0) {
			m->counted[x.first] = true;
		}
	}
}

static void find_counted(const struct hn_expr *e, void *ctx)
{
	struct loops *x = ctx;

	x->several = x->several || (is_loop(x->m, e) && x->m->counted[set_of(x->m, e->ref)]);
}

/* A guard bounds what a division counts: then the rest of its loops belong to it. */
static void join_guard(struct merge *m, const struct hn_expr *e)
{
	struct loops x = { m, -1, false };

	hn_expr_visit(e, find_counted, &x);
	if (x.several) {
		(void)join(m, e);
	}
}

static uint32_t n_axis(const struct merge *m, const struct hn_node *n)
{
	if (n->kind != HN_NODE_STMT) {
		return 0; /* the root is of no stage */
	}
	const struct hn_op *op = m->t->dag->op[n->stage];

	return op->n_spatial + op->n_reduce;
}

static void divisions_of(struct merge *m, const struct hn_node *n)
{
	if (n->kind == HN_NODE_LOOP) {
		m->span[n->loop] = (struct hn_span){ 0, n->extent - 1 };
	}
	for (uint32_t i = 0; i < n_axis(m, n); i++) {
		if (n->axis[i]) {
			hn_expr_visit(n->axis[i], join_division, m);
		}
	}
	for (uint32_t i = 0; i < n->n_guard; i++) {
		hn_expr_visit(n->guard[i], join_division, m);
	}
	if (n->init) {
		divisions_of(m, n->init);
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		divisions_of(m, n->child[i]);
	}
}

static void guards_of(struct merge *m, const struct hn_node *n)
{
	for (uint32_t i = 0; i < n->n_guard; i++) {
		join_guard(m, n->guard[i]);
	}
	if (n->init) {
		guards_of(m, n->init);
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		guards_of(m, n->child[i]);
	}
}

/* Who runs both loops as one: no less at the same time than each.  Numbers of a GPU's grid
 * become PARALLEL: all iterations at once, and none may add up what the others have summed. */
static uint8_t ann_of_both(uint8_t x, uint8_t y)
{
	if (x == y && !hn_ann_is_thread(x)) {
		return x;
	}
	return hn_ann_concurrent(x) || hn_ann_concurrent(y) ? HN_ANN_PARALLEL : y;
}

/* The one loop directly in `n` that is counted with `first`, or that runs once; NULL when there
 * is none. */
static const struct hn_node *counted_in(struct merge *m, const struct hn_node *first,
					const struct hn_node *n)
{
	const struct hn_node *next = n->n_child == 1 ? n->child[0] : NULL;
	bool loop = next != NULL && next->kind == HN_NODE_LOOP && next->init == NULL;

	return loop && !m->holds[n->loop] &&
			       (next->extent == 1 ||
				set_of(m, first->loop) == set_of(m, next->loop))
		       ? next
		       : NULL;
}

/* The loops from `first` down that become one: the last of them; extent and annotation of the
 * one. */
static const struct hn_node *run_of(struct merge *m, const struct hn_node *first,
				    int64_t *ret_extent, uint8_t *ret_ann)
{
	const struct hn_node *n = first, *next;

	*ret_extent = n->extent;
	*ret_ann = n->ann;
	while (first->extent > 1 && (next = counted_in(m, first, n)) != NULL) {
		int64_t extent = hn_mul_sat(*ret_extent, next->extent);

		if (extent > INT32_MAX) {
			break;
		}
		if (next->extent > 1) {
			*ret_ann = ann_of_both(*ret_ann, next->ann);
		}
		*ret_extent = extent;
		n = next;
	}
	return n;
}

/* Loop n is floormod(floordiv(v, inner), n->extent) of the merged loop v. */
static void set_value(struct merge *m, const struct hn_node *n, const struct hn_expr *v,
		      int64_t inner, int64_t outer)
{
	const struct hn_expr *e = hn_expr_binary(HN_EXPR_FLOORDIV, v,
						 hn_expr_int(inner, HN_I32, m->a), m->a);

	m->into[n->loop] = v->ref;
	m->value[n->loop] = outer > 1 ? hn_expr_binary(HN_EXPR_FLOORMOD, e,
						       hn_expr_int(n->extent, HN_I32, m->a), m->a)
				      : e;
}

static const struct hn_expr *rewritten(const struct merge *m, const struct hn_expr *e)
{
	if (e == NULL) {
		return NULL;
	}
	const struct hn_expr *by = hn_expr_substitute(e, m->value, m->t->n_loop, m->a);

	return by == e ? e : hn_simplify(by, m->span, m->t->n_loop, m->a);
}

static const struct hn_expr *const *rewritten_all(const struct merge *m,
						  const struct hn_expr *const *e, uint32_t n)
{
	const struct hn_expr **ret = HN_NEW_ARRAY(m->a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		ret[i] = rewritten(m, e[i]);
	}
	return ret;
}

/* The guard holds for loop < this: `loop < c`, or `floordiv(loop, k) < c`. */
static int64_t end_of(const struct hn_expr *guard, int32_t loop)
{
	const struct hn_expr *x = guard->n_arg == 2 ? guard->arg[0] : guard;
	int64_t by = 1;

	if (x->op == HN_EXPR_FLOORDIV && x->arg[1]->op == HN_EXPR_INT && x->arg[1]->u.i > 0) {
		by = x->arg[1]->u.i;
		x = x->arg[0];
	}
	bool below = (guard->op == HN_EXPR_LT || guard->op == HN_EXPR_LE) &&
		     x->op == HN_EXPR_VAR && x->ref == loop && guard->arg[1]->op == HN_EXPR_INT &&
		     guard->arg[1]->u.i >= 0;

	return below ? hn_mul_sat(by, guard->arg[1]->u.i + (guard->op == HN_EXPR_LE))
		     : HN_EXTENT_MAX;
}

/* The statements below n run for loop < *most at the utmost. */
static void most_of(const struct hn_node *n, int32_t loop, int64_t extent, int64_t *most)
{
	for (uint32_t i = 0; i < n->n_guard; i++) {
		int64_t end = end_of(n->guard[i], loop);

		extent = end < extent ? end : extent;
	}
	if (n->kind == HN_NODE_STMT) {
		*most = extent > *most ? extent : *most;
	}
	if (n->init) {
		most_of(n->init, loop, extent, most);
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		most_of(n->child[i], loop, extent, most);
	}
}

static const struct hn_node *merged(struct merge *m, const struct hn_node *n)
{
	struct hn_node *to = HN_NEW(m->a, struct hn_node);
	const struct hn_node *last = n;
	int64_t extent = n->extent;

	*to = *n;
	if (n->init) {
		to->init = merged(m, n->init);
	}
	if (n->kind == HN_NODE_LOOP) {
		last = run_of(m, n, &extent, &to->ann);
	}
	if (last != n) {
		const struct hn_expr *v = hn_expr_var(n->loop, HN_I32, n->name, m->a);
		int64_t inner = extent, outer = 1;

		for (const struct hn_node *x = n;; x = x->child[0]) {
			inner /= x->extent;
			set_value(m, x, v, inner, outer);
			outer *= x->extent;
			if (x == last) {
				break;
			}
		}
		m->span[n->loop].hi = extent - 1;
		m->n_merged += extent > n->extent;
	}
	const struct hn_node **child = HN_NEW_ARRAY(m->a, const struct hn_node *, last->n_child);

	to->n_child = last->n_child;
	to->child = child;
	for (uint32_t i = 0; i < last->n_child; i++) {
		child[i] = merged(m, last->child[i]);
	}
	to->axis = n->axis ? rewritten_all(m, n->axis, n_axis(m, n)) : NULL;
	to->guard = rewritten_all(m, n->guard, n->n_guard);
	if (n->kind == HN_NODE_LOOP && m->counted[set_of(m, n->loop)]) {
		int64_t most = 0;

		for (uint32_t i = 0; i < to->n_child; i++) {
			most_of(child[i], n->loop, extent, &most);
		}
		to->extent = most > 0 ? most : extent;
		m->n_merged += to->extent < extent;
	}
	return to;
}

static const struct hn_buffer *merged_buffers(const struct merge *m)
{
	uint32_t n = m->t->dag->n_op;
	struct hn_buffer *ret = HN_NEW_ARRAY(m->a, struct hn_buffer, n);

	for (uint32_t i = 0; i < n; i++) {
		ret[i] = m->t->buffer[i];
		if (ret[i].op >= 0) {
			ret[i].min = rewritten_all(m, ret[i].min, ret[i].n_dim);
			if (ret[i].lifetime == HN_LIFETIME_LOOP) {
				ret[i].at_loop = m->into[ret[i].at_loop];
			}
		}
	}
	return ret;
}

static bool find_sets(struct merge *m)
{
	bool any = false;

	divisions_of(m, m->t->root);
	for (uint32_t i = 0; i < m->t->dag->n_op; i++) {
		const struct hn_buffer *b = &m->t->buffer[i];

		for (uint32_t d = 0; b->op >= 0 && d < b->n_dim; d++) {
			hn_expr_visit(b->min[d], join_division, m);
		}
		if (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP) {
			m->holds[b->at_loop] = true;
		}
	}
	for (uint32_t i = 0; i < m->t->n_loop; i++) {
		any = any || m->counted[i];
	}
	if (any) {
		guards_of(m, m->t->root);
	}
	return any;
}

const struct hn_looptree *hn_quick_merge(const struct hn_looptree *t, struct hn_arena *a)
{
	struct merge m = { .t = t, .a = a };
	struct hn_looptree *ret = HN_NEW(a, struct hn_looptree);

	m.with = HN_NEW_ARRAY(a, int32_t, t->n_loop);
	m.counted = HN_NEW_ARRAY(a, bool, t->n_loop);
	m.holds = HN_NEW_ARRAY(a, bool, t->n_loop);
	m.span = HN_NEW_ARRAY(a, struct hn_span, t->n_loop);
	m.value = HN_NEW_ARRAY(a, const struct hn_expr *, t->n_loop);
	m.into = HN_NEW_ARRAY(a, int32_t, t->n_loop);
	for (uint32_t i = 0; i < t->n_loop; i++) {
		m.with[i] = m.into[i] = (int32_t)i;
	}
	if (!find_sets(&m)) {
		return NULL;
	}
	*ret = *t;
	ret->root = merged(&m, t->root);
	if (m.n_merged == 0) {
		return NULL;
	}
	ret->buffer = merged_buffers(&m);
	return ret;
}
