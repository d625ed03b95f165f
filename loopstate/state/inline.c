/* loopstate/state/inline.c -- substitution of inlined stages (see inline.h).
 *
 * Relies on the dag's order: an op reads only earlier ops, so each body is substituted
 * after those it reads.  Names bound by `let` in an inlined body get fresh slots each
 * time, so that an index which holds a let name of the reader is never captured. */
#include "loopstate/state/inline.h"

#include <string.h>

#include "base/arith.h"
#include "loopstate/expr/simplify.h"

struct readers {
	bool known;
	uint32_t n;
	struct hn_reader *at;
};

struct hn_inlined {
	const struct hn_state *s;
	struct hn_arena *a;
	const struct hn_op **op; /* substituted so far; NULL = not asked for yet */
	struct readers *readers;
	uint64_t n_node; /* added to the body at hand */
	int32_t next_let;
	bool changed, over;
	const char *wraps; /* over, because of what would become what is not its value; or NULL */
	uint32_t n_axis; /* of the op at hand, with their ranges */
	struct hn_span range[HN_DAG_MAX_ITERS];
};

int32_t hn_dag_arg_of(const struct hn_dag *dag, int32_t op)
{
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		if (dag->arg[i] == op) {
			return (int32_t)i;
		}
	}
	return -1;
}

static bool is_inlined(const struct hn_state *s, int32_t stage)
{
	return s->stage[stage]->at == HN_AT_INLINED;
}

struct tally {
	uint64_t nodes;
	uint64_t uses[HN_DAG_MAX_ITERS]; /* of each axis */
	int32_t max_let;		 /* -1 = none */
};

static void tally_visit(const struct hn_expr *e, void *ctx)
{
	struct tally *t = ctx;

	t->nodes++;
	if (e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < HN_DAG_MAX_ITERS) {
		t->uses[e->ref]++;
	}
	if (e->op == HN_EXPR_LET && e->ref > t->max_let) {
		t->max_let = e->ref;
	}
}

static struct tally tally_of(const struct hn_expr *e)
{
	struct tally t = { .max_let = -1 };

	hn_expr_visit(e, tally_visit, &t);
	return t;
}

static const struct hn_expr *let_map(const struct hn_expr *e, void *ctx,
				     struct hn_arena *a)
{
	const int32_t *shift = ctx;
	bool named = e->op == HN_EXPR_LET || e->op == HN_EXPR_VAR;

	if (!named || e->ref < HN_SLOT_LET || hn_expr_is_size(e)) {
		return e;
	}
	struct hn_expr like = *e;

	like.ref += *shift;
	return hn_expr_with_args(&like, e->arg, e->n_arg, a);
}

static const struct hn_expr *index_as(const struct hn_expr *e, enum hn_dtype t,
				      struct hn_arena *a)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = (uint8_t)t };

	return e->dtype == t ? e : hn_expr_with_args(&like, &e, 1, a);
}

/* Whether e uses slot as a value, outside of the indices of loads. */
static bool uses_as_data(const struct hn_expr *e, int32_t slot)
{
	bool uses = e->op == HN_EXPR_VAR && e->ref == slot;

	for (uint32_t i = 0; i < e->n_arg && e->op != HN_EXPR_LOAD && !uses; i++) {
		uses = uses_as_data(e->arg[i], slot);
	}
	return uses;
}

/* An index may leave its type on the way where data wraps (simplify_data.c), so one that may
 * do so can not take the place of an axis that the body computes with. */
static bool stays_index(const struct hn_inlined *x, const struct hn_expr *load,
			const struct hn_expr *body)
{
	for (uint32_t d = 0; d < load->n_arg; d++) {
		const struct hn_expr *e = load->arg[d];

		if (e->n_arg > 0 && !hn_expr_is_exact(e, x->range, x->n_axis) &&
		    uses_as_data(body, (int32_t)d)) {
			return false;
		}
	}
	return true;
}

/* Whether data e may leave its type on the way, where an index would not; `of` has its axes. */
static bool may_leave(const struct hn_expr *e, const struct hn_op *of)
{
	struct hn_span range[HN_DAG_MAX_ITERS];
	bool divides = (e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) &&
		       e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0;
	bool picks = e->op == HN_EXPR_MIN || e->op == HN_EXPR_MAX || e->op == HN_EXPR_SELECT ||
		     e->op == HN_EXPR_IF || (e->op >= HN_EXPR_EQ && e->op <= HN_EXPR_NOT);
	bool leaves = !divides && !picks;

	for (uint32_t d = 0; d < of->n_spatial; d++) {
		range[d] = (struct hn_span){ of->axis[d].min,
					     of->axis[d].min + of->axis[d].extent - 1 };
	}
	if (e->n_arg == 0 || e->op == HN_EXPR_LOAD ||
	    hn_expr_is_exact(e, range, of->n_spatial)) {
		return false;
	}
	for (uint32_t i = 0; i < e->n_arg && !leaves; i++) {
		leaves = may_leave(e->arg[i], of);
	}
	return leaves;
}

static void see_index(const struct hn_expr *e, void *ctx)
{
	struct hn_inlined *x = ctx;

	if (e->op == HN_EXPR_LOAD && is_inlined(x->s, e->ref) &&
	    may_leave(x->op[e->ref]->body[e->out], x->op[e->ref])) {
		x->wraps = "data that may leave its type on the way would become an index";
	}
}

/* What an inlined stage computes wraps at its type; as an index it would not. */
static void see_indices(const struct hn_expr *e, void *ctx)
{
	for (uint32_t d = 0; d < e->n_arg && e->op == HN_EXPR_LOAD; d++) {
		hn_expr_visit(e->arg[d], see_index, ctx);
	}
}

static const struct hn_expr *load_map(const struct hn_expr *e, void *ctx,
				      struct hn_arena *a)
{
	struct hn_inlined *x = ctx;

	if (e->op != HN_EXPR_LOAD || !is_inlined(x->s, e->ref) || x->over) {
		return e;
	}
	const struct hn_expr *body = x->op[e->ref]->body[e->out];
	struct tally t = tally_of(body);

	x->n_node += t.nodes;
	for (uint32_t d = 0; d < e->n_arg; d++) {
		x->n_node += t.uses[d] * tally_of(e->arg[d]).nodes;
	}
	if (!stays_index(x, e, body)) {
		x->wraps = "an index that may leave its type on the way would become data";
	}
	x->over = x->n_node > HN_INLINE_MAX_NODES || x->wraps;
	if (x->over) {
		return e;
	}
	x->changed = true;
	if (t.max_let >= 0) {
		int32_t shift = x->next_let - HN_SLOT_LET;

		body = hn_expr_map(body, let_map, &shift, a);
		x->next_let += t.max_let - HN_SLOT_LET + 1;
	}
	const struct hn_expr *index[HN_DAG_MAX_RANK];

	for (uint32_t d = 0; d < e->n_arg; d++) {
		index[d] = index_as(e->arg[d], HN_I32, a);
	}
	return hn_expr_substitute(body, index, e->n_arg, a);
}

static const struct hn_expr *inline_expr(struct hn_inlined *x, const struct hn_op *op,
					 const struct hn_expr *e, struct hn_arena *a)
{
	int32_t max_let = tally_of(e).max_let;

	x->changed = false;
	x->next_let = max_let < 0 ? HN_SLOT_LET : max_let + 1;
	x->n_axis = op->n_spatial + op->n_reduce;
	for (uint32_t k = 0; k < x->n_axis; k++) {
		x->range[k].lo = op->axis[k].min;
		x->range[k].hi = op->axis[k].min + op->axis[k].extent - 1;
	}
	hn_expr_visit(e, see_indices, x);
	x->over = x->over || x->wraps;

	const struct hn_expr *r = hn_expr_map(e, load_map, x, a);

	if (!x->changed) {
		return e;
	}
	return hn_simplify_data(r, x->range, x->n_axis, a);
}

static const struct hn_expr *const *inline_list(struct hn_inlined *x, const struct hn_op *op,
						const struct hn_expr *const *e,
						uint32_t n, struct hn_arena *a)
{
	const struct hn_expr **r = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t k = 0; k < n; k++) {
		r[k] = inline_expr(x, op, e[k], a);
	}
	return r;
}

static const struct hn_op *inline_op(struct hn_inlined *x, const struct hn_op *op,
				     struct hn_arena *a)
{
	struct hn_op *r = HN_NEW(a, struct hn_op);

	*r = *op;
	x->n_node = 0;
	if (op->body != NULL) {
		r->body = inline_list(x, op, op->body, op->n_out, a);
	}
	if (op->reduce != NULL) {
		struct hn_reduce *red = HN_NEW(a, struct hn_reduce);

		*red = *op->reduce;
		red->source = inline_list(x, op, red->source, red->n, a);
		if (red->condition != NULL) {
			red->condition = inline_expr(x, op, red->condition, a);
		}
		r->reduce = red;
	}
	return r;
}

static int check_inlined(const struct hn_state *s, uint32_t stage, struct hn_err *err)
{
	const struct hn_op *op = s->dag->op[stage];
	const char *why = op->kind != HN_OP_COMPUTE ? "it is an input"
			  : op->body == NULL	    ? "it is a reduction"
			  : hn_dag_arg_of(s->dag, (int32_t)stage) >= 0
				  ? "it is an argument of the kernel"
				  : NULL;

	return why == NULL ? 0
			   : hn_fail(err, HONE_E_INVALID,
				     "stage %u (%s): can not be inlined: %s", stage,
				     op->name, why);
}

static bool any_inlined(const struct hn_state *s)
{
	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (is_inlined(s, (int32_t)i)) {
			return true;
		}
	}
	return false;
}

struct hn_inlined *hn_inlined_new(const struct hn_state *s, struct hn_arena *a)
{
	struct hn_inlined *x = HN_NEW(a, struct hn_inlined);

	x->s = s;
	x->a = a;
	x->op = HN_NEW_ARRAY(a, const struct hn_op *, s->n_stage);
	x->readers = HN_NEW_ARRAY(a, struct readers, s->n_stage);
	return x;
}

const struct hn_op *hn_inlined_op(struct hn_inlined *x, int32_t stage)
{
	const struct hn_op_access *acc = &x->s->access->op[stage];
	const struct hn_op *op = x->s->dag->op[stage];
	bool any = false;

	for (uint32_t k = 0; !x->op[stage] && k < acc->n_producer; k++) {
		if (is_inlined(x->s, acc->producer[k])) {
			hn_inlined_op(x, acc->producer[k]);
			any = true;
		}
	}
	if (!x->op[stage] && !x->over) {
		x->op[stage] = any ? inline_op(x, op, x->a) : op;
	}
	return x->over ? NULL : x->op[stage];
}

/* Nearly always behind all others: consumers are gone through in ascending order. */
static void add_reader(struct readers *r, int32_t stage, int64_t loads)
{
	uint32_t k = r->n;

	while (k > 0 && r->at[k - 1].stage > stage) {
		k--;
	}
	if (k > 0 && r->at[k - 1].stage == stage) {
		r->at[k - 1].loads = hn_add_sat(r->at[k - 1].loads, loads);
		return;
	}
	memmove(&r->at[k + 1], &r->at[k], (r->n - k) * sizeof(r->at[0]));
	r->at[k] = (struct hn_reader){ stage, loads };
	r->n++;
}

static int64_t loads_of(const struct hn_op_access *acc, int32_t producer)
{
	int64_t n = 0;

	for (uint32_t k = 0; k < acc->n_read; k++) {
		n += acc->read[k].producer == producer;
	}
	return n;
}

static void find_readers(struct hn_inlined *x, int32_t stage, struct readers *r)
{
	const struct hn_access *all = x->s->access;
	const struct hn_op_access *acc = &all->op[stage];
	const struct hn_reader *through;
	uint32_t room = acc->n_consumer;

	for (uint32_t k = 0; k < acc->n_consumer; k++) {
		int32_t c = acc->consumer[k];

		room += is_inlined(x->s, c) ? hn_inlined_readers(x, c, &through) : 0;
	}
	r->at = HN_NEW_ARRAY(x->a, struct hn_reader, room);
	for (uint32_t k = 0; k < acc->n_consumer; k++) {
		int32_t c = acc->consumer[k];
		int64_t loads = loads_of(&all->op[c], stage);
		const struct hn_reader itself = { c, 1 };
		uint32_t n = 1;

		through = &itself;
		if (is_inlined(x->s, c)) {
			n = hn_inlined_readers(x, c, &through);
		}
		for (uint32_t i = 0; i < n; i++) {
			add_reader(r, through[i].stage, hn_mul_sat(loads, through[i].loads));
		}
	}
	r->known = true;
}

uint32_t hn_inlined_readers(struct hn_inlined *x, int32_t stage, const struct hn_reader **ret)
{
	struct readers *r = &x->readers[stage];

	if (!r->known) {
		find_readers(x, stage, r);
	}
	*ret = r->at;
	return r->n;
}

void hn_inlined_follow(struct hn_inlined *x, const struct hn_state *after)
{
	x->s = after;
}

static bool is_answer_for(const struct hn_inline_answer *known, const struct hn_state *s)
{
	bool same = known && known->from == s->dag;

	for (uint32_t i = 0; i < s->n_stage && same; i++) {
		same = known->stage[i] == is_inlined(s, (int32_t)i);
	}
	return same;
}

int hn_inline_dag(const struct hn_state *s, struct hn_arena *a, const struct hn_dag **ret,
		  struct hn_err *err)
{
	if (is_answer_for(s->inline_answer, s)) {
		*ret = s->inline_answer->dag;
		return 0;
	}
	if (!any_inlined(s)) {
		*ret = s->dag;
		return 0;
	}
	struct hn_inlined *x = hn_inlined_new(s, a);

	for (uint32_t i = 0; i < s->n_stage; i++) {
		if (is_inlined(s, (int32_t)i) && check_inlined(s, i, err) != 0) {
			return -HONE_E_INVALID;
		}
		if (hn_inlined_op(x, (int32_t)i) == NULL && x->wraps) {
			return hn_fail(err, HONE_E_UNSUPPORTED,
				       "stage %u (%s): %s when its producers are inlined; inline "
				       "fewer stages",
				       i, s->dag->op[i]->name, x->wraps);
		}
		if (x->over) {
			return hn_fail(err, HONE_E_UNSUPPORTED,
				       "stage %u (%s): its body grows past %d nodes when "
				       "its producers are inlined; inline fewer stages",
				       i, s->dag->op[i]->name, HN_INLINE_MAX_NODES);
		}
	}
	struct hn_dag *dag = HN_NEW(a, struct hn_dag);

	*dag = *s->dag;
	dag->op = x->op;
	*ret = dag;
	return 0;
}

const struct hn_state *hn_inline_ahead(const struct hn_state *s, const struct hn_state *like,
				       struct hn_arena *a)
{
	const struct hn_dag *dag;

	if (s->dag != like->dag || !any_inlined(like) || is_answer_for(s->inline_answer, like) ||
	    hn_inline_dag(like, a, &dag, NULL) < 0) {
		return s;
	}
	struct hn_inline_answer *known = HN_NEW(a, struct hn_inline_answer);
	bool *stage = HN_NEW_ARRAY(a, bool, like->n_stage);
	struct hn_state *r = HN_NEW(a, struct hn_state);

	for (uint32_t i = 0; i < like->n_stage; i++) {
		stage[i] = is_inlined(like, (int32_t)i);
	}
	*known = (struct hn_inline_answer){ s->dag, stage, dag };
	*r = *s;
	r->inline_answer = known;
	return r;
}
