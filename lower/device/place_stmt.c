/* lower/device/place_stmt.c -- statements of a loop tree in a kernel's variables: axes become
 * indices, indices of tensors become flat ones of buffers. */
#include <string.h>

#include "base/arith.h"
#include "loopstate/nest/layout.h"
#include "lower/device/place_int.h"

struct rewrite {
	struct place *p;
	int32_t stage; /* for messages */
	const struct hn_expr *const
		*axis; /* [op's axes] in kernel slots; NULL: e is in loop space */
	const struct hn_expr *const *lhs, *const *rhs; /* of a combiner */
	int32_t let[64]; /* slots of its lets; 0 = none yet */
};

static int32_t let_slot(struct rewrite *r, int32_t slot, enum hn_dtype type)
{
	uint32_t k = (uint32_t)(slot - HN_SLOT_LET);

	if (k >= HN_COUNT_OF(r->let)) {
		hn_place_refuse(r->p, r->stage, "has more than %zu names",
				HN_COUNT_OF(r->let));
		return 0;
	}
	if (r->let[k] == 0) {
		r->let[k] = hn_place_slot(r->p, type, 0);
	}
	return r->let[k];
}

static const struct hn_expr *variable(struct rewrite *r, const struct hn_expr *e)
{
	const struct hn_expr *v = NULL;

	if (e->ref >= HN_SLOT_SIZE) {
		hn_place_refuse(r->p, r->stage, "has sizes that are parameters");
	} else if (e->ref >= HN_SLOT_LET) {
		return hn_expr_var(let_slot(r, e->ref, e->dtype), e->dtype, NULL,
				   r->p->a);
	} else if (e->ref >= HN_SLOT_RHS) {
		v = r->rhs[e->ref - HN_SLOT_RHS];
	} else if (e->ref >= HN_SLOT_LHS) {
		v = r->lhs[e->ref - HN_SLOT_LHS];
	} else {
		v = r->axis != NULL ? r->axis[e->ref] : r->p->value[e->ref];
	}
	if (v == NULL) {
		hn_place_refuse(r->p, r->stage,
				"is computed by threads together, and reads what is each "
				"one's own");
		return e;
	}
	return v->dtype == e->dtype || v->op != HN_EXPR_INT
		       ? v
		       : hn_expr_int(v->u.i, e->dtype, r->p->a);
}

static const struct hn_expr *load(struct rewrite *r, const struct hn_expr *e)
{
	int32_t buffer;
	const struct hn_expr *at = hn_place_element(r->p, e->ref, e->arg, &buffer);
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = e->dtype,
				      .ref = buffer + e->out };

	return hn_expr_with_args(&like, &at, 1, r->p->a);
}

static const struct hn_expr *rewrite_node(const struct hn_expr *e, void *ctx,
					  struct hn_arena *a)
{
	struct rewrite *r = ctx;

	if (r->p->rc != 0) {
		return e;
	}
	if (e->op == HN_EXPR_VAR) {
		return variable(r, e);
	}
	if (e->op == HN_EXPR_LOAD) {
		return load(r, e);
	}
	if (e->op == HN_EXPR_LET) {
		struct hn_expr like = *e;

		like.ref = let_slot(r, e->ref, e->arg[0]->dtype);
		like.u.name = NULL;
		return hn_expr_with_args(&like, e->arg, e->n_arg, a);
	}
	return e;
}

/* The numbers of lets are an expression's own: another one of the statement may have them, too, as
 * where one body was inlined into both. */
static const struct hn_expr *rewritten(struct rewrite *r, const struct hn_expr *e)
{
	memset(r->let, 0, sizeof(r->let));
	return hn_expr_map(e, rewrite_node, r, r->p->a);
}

const struct hn_expr *hn_place_value(struct place *p, const struct hn_expr *e,
				     int32_t stage)
{
	struct rewrite r = { .p = p, .stage = stage };

	return rewritten(&r, e);
}

/* The number of the copy that lies in this iteration of the loops that hold it, times how many
 * elements a copy has; *ret_n = how many copies. */
static const struct hn_expr *copy_of(struct place *p, int32_t stage,
				     const struct bound *b, int64_t *ret_n)
{
	const struct held *h = &p->held[stage];
	const struct hn_expr *sum;
	int64_t n;

	if (b == NULL) {
		*ret_n = 1;
		return hn_place_int(p, 0);
	}
	sum = copy_of(p, stage, b->up, &n);
	enum hn_runs runs = hn_place_runs(b->loop);
	bool copies = runs == HN_RUNS_VIRTUAL ||
		      (runs == HN_RUNS_THREADS && h->memory == HN_MEMORY_SHARED);

	*ret_n = n;
	if (!copies) {
		return sum;
	}
	if (p->value[b->loop->loop] == NULL) {
		hn_place_refuse(p, stage,
				"is each thread's own, and threads use it together");
		return sum;
	}
	*ret_n = hn_mul_sat(n, b->loop->extent);
	return hn_place_binary(
		p, HN_EXPR_ADD,
		hn_place_binary(p, HN_EXPR_MUL, sum, hn_place_int(p, b->loop->extent)),
		p->value[b->loop->loop]);
}

/* Its buffers, made when they are first asked for. */
static void make_buffers(struct place *p, int32_t stage, int64_t n_copy)
{
	const struct hn_op *op = p->t->dag->op[stage];
	const struct hn_buffer *b = &p->t->buffer[stage];
	struct held *h = &p->held[stage];
	int64_t n = n_copy;

	for (uint32_t d = 0; d < b->n_dim && p->fragment[stage].intrin == NULL; d++) {
		n = hn_mul_sat(n, b->extent[d]);
	}
	if (p->fragment[stage].intrin != NULL) {
		n = hn_mul_sat(n, hn_place_fragment_size(p, stage));
	}
	h->made = true;
	h->buffer = (int32_t)p->n_buffer;
	for (uint32_t k = 0, seen = 0; k < op->n_out; k++, seen = 0) {
		int32_t arg = -1;

		for (uint32_t i = 0; i < p->t->dag->n_arg && b->arg >= 0; i++) {
			if (p->t->dag->arg[i] == stage && seen++ == k) {
				arg = (int32_t)i;
			}
		}
		hn_place_buffer(p, op->name, op->dtype[k], h->memory, n, arg);
	}
}

/* Each is simplified first: they are written down for every bit. */
static const struct hn_expr *turned(struct place *p, const struct hn_swizzle *z,
				    const struct hn_expr *row, const struct hn_expr *last)
{
	row = hn_simplify(row, p->span, p->n_slot, p->a);
	last = hn_simplify(last, p->span, p->n_slot, p->a);
	return hn_layout_expr(z, row, last, p->a);
}

/* The stride of dimension d, where rows are `block` elements long (0: whole). */
static int64_t in_blocks(const struct hn_buffer *b, int64_t block, uint32_t d)
{
	return block > 0 && d + 1 < b->n_dim ? b->stride[d] / b->extent[b->n_dim - 1] * block
					     : b->stride[d];
}

/* How much further the element lies than in the first block of its row. */
static const struct hn_expr *block_of(struct place *p, const struct hn_expr *last, int64_t size,
				      int64_t block, int64_t width)
{
	const struct hn_expr *i = hn_place_binary(p, HN_EXPR_FLOORDIV, last, hn_place_int(p, block));

	return hn_place_binary(p, HN_EXPR_MUL, i, hn_place_int(p, size / width * block - block));
}

/* The copy of a ring that is of this turn. */
static const struct hn_expr *copy_of_turn(struct place *p, const struct hn_buffer *b, int32_t stage)
{
	return p->bulk_loop >= 0 && b->at_loop == p->bulk_loop
		       ? hn_place_binary(p, HN_EXPR_FLOORMOD, p->bulk_turn,
					 hn_place_int(p, p->bulk_stages))
		       : hn_place_value(p, b->turn, stage);
}

const struct hn_expr *hn_place_element(struct place *p, int32_t stage,
				       const struct hn_expr *const *axis,
				       int32_t *ret_buffer)
{
	const struct hn_buffer *b = &p->t->buffer[stage];
	struct held *h = &p->held[stage];
	int64_t n_copy, size = 1;
	const struct hn_expr *at = copy_of(p, stage, h->at, &n_copy), *straight, *straight_x;

	if (b->ring > 1) {
		n_copy = hn_mul_sat(n_copy, b->ring);
		at = hn_place_binary(p, HN_EXPR_MUL, at, hn_place_int(p, b->ring));
		at = hn_place_binary(p, HN_EXPR_ADD, at, copy_of_turn(p, b, stage));
	}
	if (!h->made) {
		make_buffers(p, stage, n_copy);
	}
	for (uint32_t d = 0; d < b->n_dim; d++) {
		size = hn_mul_sat(size, b->extent[d]);
	}
	if (p->fragment[stage].intrin != NULL) {
		size = hn_place_fragment_size(p, stage);
	}
	at = hn_place_binary(p, HN_EXPR_MUL, at, hn_place_int(p, size));
	const struct hn_expr *x[HN_DAG_MAX_RANK];

	straight = at;
	for (uint32_t d = 0; d < b->n_dim && p->rc == 0; d++) {
		const struct hn_expr *min = hn_place_value(p, b->min[d], stage);

		x[d] = hn_place_binary(p, HN_EXPR_SUB, axis[d], min);
		straight = hn_place_binary(p, HN_EXPR_ADD, straight,
					   hn_place_binary(p, HN_EXPR_MUL, x[d],
							   hn_place_int(p, b->stride[d])));
		if (p->fragment[stage].intrin != NULL) {
			continue;
		}
		straight_x = x[d];
		if (d + 1 == b->n_dim && b->swizzle.bits > 0) {
			x[d] = turned(p, &b->swizzle, x[b->swizzle.row_dim], x[d]);
		}
		at = hn_place_binary(p, HN_EXPR_ADD, at,
				     hn_place_binary(p, HN_EXPR_MUL, x[d],
						     hn_place_int(p, in_blocks(b, h->block, d))));
		if (d + 1 == b->n_dim && h->block > 0) {
			at = hn_place_binary(p, HN_EXPR_ADD, at,
					     block_of(p, straight_x, size, h->block,
						      b->extent[d]));
		}
	}
	if (p->fragment[stage].intrin != NULL && p->rc == 0) {
		at = hn_place_binary(p, HN_EXPR_ADD, at, hn_place_fragment(p, stage, x));
	}
	*ret_buffer = h->buffer;
	if (p->rc != 0) {
		return hn_place_int(p, 0);
	}
	at = hn_simplify(at, p->span, p->n_slot, p->a);
	if (b->swizzle.bits > 0 && p->n_turned < HN_COUNT_OF(p->turned)) {
		p->straight[p->n_turned] = hn_simplify(straight, p->span, p->n_slot, p->a);
		p->turned[p->n_turned++] = at;
	}
	return at;
}

void hn_place_add(struct place *p, struct code *c, struct hn_device_node node)
{
	struct hn_device_node *n = HN_NEW(p->a, struct hn_device_node);

	if (c->n == c->cap) {
		c->v = hn_arena_grow(p->a, c->v, c->n, &c->cap, sizeof(c->v[0]));
	}
	*n = node;
	c->v[c->n++] = n;
}

const struct hn_device_node *hn_place_wrap(struct place *p, struct hn_device_node node,
					   struct code *c)
{
	struct hn_device_node *n = HN_NEW(p->a, struct hn_device_node);

	node.child = c->v;
	node.n_child = c->n;
	*n = node;
	return n;
}

void hn_place_under(struct place *p, const struct hn_expr *condition, struct code *c)
{
	struct code one = { 0 };

	hn_place_add(p, &one,
		     *hn_place_wrap(p,
				    (struct hn_device_node){ .kind = HN_DEVICE_IF,
							     .e = condition },
				    c));
	*c = one;
}

/* Names for what an expression is worth, so that it is computed once. */
static const struct hn_expr *named(struct place *p, const struct hn_expr *e,
				   struct code *c)
{
	int32_t slot = hn_place_slot(p, e->dtype, 0);

	hn_place_add(
		p, c,
		(struct hn_device_node){ .kind = HN_DEVICE_LET, .slot = slot, .e = e });
	return hn_expr_var(slot, e->dtype, NULL, p->a);
}

void hn_place_combine(struct place *p, int32_t stage, int32_t dst,
		      const struct hn_expr *at, const struct hn_expr *const *source,
		      struct code *c)
{
	const struct hn_op *op = p->t->dag->op[stage];
	const struct hn_expr *lhs[HN_DAG_MAX_OUT], *rhs[HN_DAG_MAX_OUT],
		*result[HN_DAG_MAX_OUT];
	bool plain = op->reduce->kind != HN_COMBINE_GENERAL; /* names each side once */
	struct rewrite r = { .p = p, .stage = stage, .lhs = lhs, .rhs = rhs };

	for (uint32_t k = 0; k < op->n_out; k++) {
		const struct hn_expr like = { .op = HN_EXPR_LOAD,
					      .dtype = op->dtype[k],
					      .ref = dst + (int32_t)k };

		lhs[k] = hn_expr_with_args(&like, &at, 1, p->a);
		rhs[k] = source[k];
		if (!plain) {
			lhs[k] = named(p, lhs[k], c);
			rhs[k] = named(p, rhs[k], c);
		}
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		result[k] = rewritten(&r, op->reduce->result[k]);
		result[k] = op->n_out > 1 ? named(p, result[k], c) : result[k];
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_place_add(p, c,
			     (struct hn_device_node){ .kind = HN_DEVICE_STORE,
						      .buffer = dst + (int32_t)k,
						      .at = at,
						      .e = result[k] });
	}
}

static bool flies(const struct place *p, const struct hn_expr *e, int32_t dst)
{
	return p->async && e->op == HN_EXPR_LOAD &&
	       p->buffer[e->ref].memory == HN_MEMORY_GLOBAL &&
	       p->buffer[dst].memory == HN_MEMORY_SHARED;
}

static void see_any_load(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD;
}

static void store_one(struct place *p, int32_t dst, const struct hn_expr *at,
		      const struct hn_expr *value, struct code *c)
{
	bool async = flies(p, value, dst);

	p->n_async += async;
	hn_place_add(p, c,
		     (struct hn_device_node){ .kind = HN_DEVICE_STORE,
					      .async = async,
					      .buffer = dst,
					      .at = at,
					      .e = value });
}

/* A copy where a condition holds, and a number elsewhere (padding), can still be a copy that nobody
 * waits for. */
static bool store_either(struct place *p, int32_t dst, const struct hn_expr *at,
			 const struct hn_expr *value, struct code *c)
{
	bool loads = false;

	if ((value->op != HN_EXPR_IF && value->op != HN_EXPR_SELECT) ||
	    !flies(p, value->arg[1], dst)) {
		return false;
	}
	hn_expr_visit(value->arg[0], see_any_load, &loads);
	hn_expr_visit(value->arg[2], see_any_load, &loads);
	if (loads) {
		return false;
	}
	for (int k = 0; k < 2; k++) {
		const struct hn_expr *not = hn_expr_with_args(
			&(struct hn_expr){ .op = HN_EXPR_NOT, .dtype = value->arg[0]->dtype },
			&value->arg[0], 1, p->a);
		struct code one = { 0 };

		store_one(p, dst, at, value->arg[1 + k], &one);
		hn_place_under(p, k == 0 ? value->arg[0] : not, &one);
		hn_place_add(p, c, *one.v[0]);
	}
	return true;
}

/* What a statement stores, in a kernel's variables. */
static void values_of(struct place *p, const struct hn_op *op, const struct hn_expr *const *value,
		      struct rewrite *r, const struct hn_expr **ret)
{
	for (uint32_t k = 0; k < op->n_out; k++) {
		ret[k] = rewritten(r, value[k]);
		ret[k] = hn_simplify_data(ret[k], p->span, p->n_slot, p->a);
	}
}

static void store_all(struct place *p, const struct hn_op *op, int32_t dst,
		      const struct hn_expr *at, const struct hn_expr **v, struct code *c)
{
	for (uint32_t k = 0; k < op->n_out; k++) {
		v[k] = op->n_out > 1 ? named(p, v[k], c) : v[k];
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		if (!store_either(p, dst + (int32_t)k, at, v[k], c)) {
			store_one(p, dst + (int32_t)k, at, v[k], c);
		}
	}
}

/* Guards first to n - 1 in one condition; NULL: there is none. */
static const struct hn_expr *all_of(struct place *p, const struct guards *g, uint32_t first,
				    uint32_t n)
{
	const struct hn_expr *all = NULL;

	for (uint32_t i = first; i < n; i++) {
		const struct hn_expr *e = hn_place_for_lanes(p, g->e[i]);

		all = all == NULL ? e : hn_place_binary(p, HN_EXPR_AND, all, e);
	}
	return all;
}

/* Padding with 0 is one guard more of those where 0 is stored. */
static void merge_padding(struct guards *g, const struct hn_expr **value)
{
	const struct hn_expr *e = value[0];
	bool zero = (e->op == HN_EXPR_IF || e->op == HN_EXPR_SELECT) && g->n < HN_COUNT_OF(g->e) &&
		    ((e->arg[2]->op == HN_EXPR_FLOAT && e->arg[2]->u.f == 0) ||
		     (e->arg[2]->op == HN_EXPR_INT && e->arg[2]->u.i == 0));

	if (zero) {
		g->e[g->n++] = e->arg[0];
		value[0] = e->arg[1];
	}
}

/* 0 where the guards of elements fail. */
static void fill_rest(struct place *p, const struct hn_op *op, int32_t dst,
		      const struct hn_expr *at, const struct guards *g, struct code *c)
{
	const struct hn_expr *holds = all_of(p, g, g->n_box, g->n);
	const struct hn_expr *zero = hn_dtype_class((enum hn_dtype)op->dtype[0]) == HN_CLASS_FLOAT
					     ? hn_expr_float(0, (enum hn_dtype)op->dtype[0], p->a)
					     : hn_expr_int(0, (enum hn_dtype)op->dtype[0], p->a);
	const struct hn_expr like = { .op = HN_EXPR_NOT, .dtype = holds->dtype };
	struct code rest = { 0 };

	store_one(p, dst, at, zero, &rest);
	hn_place_under(p, holds, c);
	hn_place_under(p, hn_expr_with_args(&like, &holds, 1, p->a), &rest);
	hn_place_add(p, c, *rest.v[0]);
	if (g->n_box > 0) {
		hn_place_under(p, all_of(p, g, 0, g->n_box), c);
	}
}

/* The op's axes in the kernel's slots, where the statement runs. */
static const struct hn_expr **axes(struct place *p, const struct hn_node *n)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	uint32_t n_axis = op->n_spatial + op->n_reduce;
	const struct hn_expr **axis =
		HN_NEW_ARRAY(p->a, const struct hn_expr *, n_axis + 1);

	p->n_turned = 0;
	for (uint32_t d = 0; d < n_axis; d++) {
		axis[d] = n->axis[d] == NULL ? NULL
					     : hn_place_value(p, n->axis[d], n->stage);
	}
	return axis;
}

const struct hn_expr *hn_place_in_stmt(struct place *p, const struct hn_node *stmt,
				       const struct hn_expr *e)
{
	struct rewrite r = { .p = p, .stage = stmt->stage, .axis = axes(p, stmt) };

	return hn_simplify_data(rewritten(&r, e), p->span, p->n_slot, p->a);
}

const struct hn_expr *hn_place_result(struct place *p, const struct hn_node *stmt,
				      int32_t *ret_buffer)
{
	return hn_place_element(p, stmt->stage, axes(p, stmt), ret_buffer);
}

void hn_place_stmt(struct place *p, const struct hn_node *n, struct code *c)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	const struct hn_expr **axis = axes(p, n);
	struct rewrite r = { .p = p, .stage = n->stage, .axis = axis };
	const struct hn_expr *at, *value[HN_DAG_MAX_OUT];
	struct code inner = { 0 };
	struct guards g;
	int32_t dst;

	if (n->stmt == HN_STMT_UPDATE && p->part[n->stage] != NULL) {
		dst = p->part[n->stage]->buffer;
		at = hn_place_part_at(p, p->part[n->stage]);
	} else {
		at = hn_place_element(p, n->stage, axis, &dst);
	}
	if (p->rc != 0) {
		return;
	}
	values_of(p, op,
		  n->stmt == HN_STMT_UPDATE ? op->reduce->source
		  : n->stmt == HN_STMT_INIT ? op->reduce->identity
					    : op->body,
		  &r, value);
	hn_place_guards(p, n, at, dst, value, op->n_out, &g);
	if (p->rc != 0) {
		return;
	}
	if (g.fill) {
		merge_padding(&g, value);
	}
	if (n->stmt == HN_STMT_UPDATE) {
		hn_place_combine(p, n->stage, dst, at, value, &inner);
		if (op->reduce->condition !=
		    NULL) { /* inside: it may read where guards hold */
			hn_place_under(
				p,
				hn_simplify_data(rewritten(&r, op->reduce->condition), p->span,
						 p->n_slot, p->a),
				&inner);
		}
	} else {
		store_all(p, op, dst, at, value, &inner);
	}
	if (g.fill) {
		fill_rest(p, op, dst, at, &g, &inner);
	} else if (g.n > 0) {
		hn_place_under(p, all_of(p, &g, 0, g.n), &inner);
	}
	for (uint32_t i = 0; i < inner.n; i++) {
		hn_place_add(p, c, *inner.v[i]);
	}
}

/* What a lane holds is in registers, which no index chooses among. */
static enum hn_device_how how(const struct place *p, const struct hn_node *n)
{
	if (p->warp && p->digit[n->loop] == DIGIT_COLUMN) {
		return HN_DEVICE_LANES;
	}
	if (p->warp && n->iter_kind == HN_ITER_SPATIAL) {
		return HN_DEVICE_UNROLLED;
	}
	return n->ann == HN_ANN_VECTORIZE			     ? HN_DEVICE_LANES
	       : n->ann == HN_ANN_UNROLL || n->ann == HN_ANN_VTHREAD ? HN_DEVICE_UNROLLED
								     : HN_DEVICE_IN_ORDER;
}

struct renamed {
	struct place *p;
	int32_t from, to; /* slots */
};

static const struct hn_expr *rename_slot(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct renamed *r = ctx;

	(void)a;
	return e->op == HN_EXPR_VAR && e->ref == r->from ? hn_place_var(r->p, r->to) : e;
}

/* Statements in which another loop takes the place of one. */
static const struct hn_device_node *rename_node(struct renamed *r, const struct hn_device_node *n)
{
	struct hn_device_node node = *n;
	struct code below = { 0 };

	for (uint32_t i = 0; i < n->n_child; i++) {
		hn_place_add(r->p, &below, *rename_node(r, n->child[i]));
	}
	node.at = n->at ? hn_expr_map(n->at, rename_slot, r, r->p->a) : NULL;
	node.e = n->e ? hn_expr_map(n->e, rename_slot, r, r->p->a) : NULL;
	return hn_place_wrap(r->p, node, &below);
}

/* A vector whose lanes all go under the same conditions goes under them as a whole. */
static void add_lanes(struct place *p, const struct hn_device_node *loop, struct code *inner,
		      struct code *c)
{
	bool same = inner->n > 0;

	for (uint32_t i = 0; i < inner->n && same; i++) {
		same = inner->v[i]->kind == HN_DEVICE_IF &&
		       !hn_expr_uses(inner->v[i]->e, loop->slot);
	}
	if (!same) {
		hn_place_add(p, c, *hn_place_wrap(p, *loop, inner));
		return;
	}
	for (uint32_t i = 0; i < inner->n; i++) {
		const struct hn_device_node *when = inner->v[i];
		struct renamed r = { p, loop->slot, loop->slot };
		struct hn_device_node own = *loop;
		struct code below = { 0 }, one = { 0 };

		if (i > 0) { /* each loop has a slot of its own */
			r.to = own.slot = hn_place_slot(p, HN_I32, loop->extent);
		}
		for (uint32_t k = 0; k < when->n_child; k++) {
			hn_place_add(p, &below, *rename_node(&r, when->child[k]));
		}
		add_lanes(p, &own, &below, &one);
		hn_place_under(p, when->e, &one);
		hn_place_add(p, c, *one.v[0]);
	}
}

void hn_place_code(struct place *p, const struct hn_node *n, struct code *c)
{
	struct code inner = { 0 };
	bool loop = n->kind == HN_NODE_LOOP && n->extent > 1;
	int64_t extent = n->extent;
	int32_t slot = 0;

	if (n->kind == HN_NODE_STMT) {
		hn_place_stmt(p, n, c);
		return;
	}
	if (n->kind == HN_NODE_LOOP && p->warp &&
	    (hn_place_product(p, n, c) || hn_place_wgmma(p, n, c))) {
		return;
	}
	if (n->kind == HN_NODE_LOOP) {
		extent = p->warp && p->digit[n->loop] != DIGIT_NONE ? 2 : n->extent;
		slot = loop ? hn_place_slot(p, HN_I32, extent) : 0;
		p->value[n->loop] =
			!loop		      ? hn_place_int(p, 0)
			: extent != n->extent ? hn_place_lane_value(
							p, (enum digit)p->digit[n->loop], slot)
					      : hn_place_var(p, slot);
	}
	if (loop) {
		p->lane_slot = slot;
		p->lane_extent = n->ann == HN_ANN_VECTORIZE ? extent : 0;
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		const struct hn_node *child = n->child[i];

		if (child->init != NULL) {
			hn_place_code(p, child->init, loop ? &inner : c);
		}
		hn_place_code(p, child, loop ? &inner : c);
	}
	if (loop) {
		struct hn_device_node node = { .kind = HN_DEVICE_LOOP,
					       .how = how(p, n),
					       .slot = slot,
					       .extent = extent };

		p->lane_extent = 0;
		if (node.how == HN_DEVICE_LANES) {
			add_lanes(p, &node, &inner, c);
		} else {
			hn_place_add(p, c, *hn_place_wrap(p, node, &inner));
		}
	}
}
