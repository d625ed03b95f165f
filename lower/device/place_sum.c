/* lower/device/place_sum.c -- sums that threads take together.
 *
 * Each thread sums a part of its own and stores it in shared memory.  Then half of the threads add
 * what the other half has, until one is left.  Source: TVM's LowerThreadAllreduce.
 *
 * Inside the sum there may be loops over its elements, too.  Where they are bound to numbers, each
 * number has a sum of its own.  Else a thread's part is an array of them: what follows the sum is
 * done for each element after the other, in the same shared memory.
 */
#include "base/arith.h"
#include "loopstate/nest/concurrent.h"
#include "lower/device/place_int.h"

/* Thread loops below n in which the stage's parts are combined, innermost last. */
struct parts {
	uint32_t n;
	const struct hn_node *loop[3];
};

static void find_parts(const struct hn_dag *dag, const struct hn_node *n, int32_t stage,
		       struct parts *ret)
{
	bool unused = false;

	if (n->kind == HN_NODE_LOOP && n->extent > 1 && hn_loop_combines(dag, n, stage) &&
	    ret->n < 3) {
		ret->loop[ret->n++] = n;
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (hn_place_update(dag, n->child[i], stage, &unused) != NULL) {
			find_parts(dag, n->child[i], stage, ret);
		}
	}
}

/* The loops from n down to the update that are no terms of the sum: of numbers, added to *q; and
 * others. */
static void find_elements(struct place *p, const struct hn_node *n, int32_t stage,
			  const struct bound **q, struct part *ret)
{
	bool unused = false;

	if (n->kind == HN_NODE_LOOP && n->extent > 1 && n->iter_kind != HN_ITER_REDUCE) {
		if (hn_place_is_number(n)) {
			struct bound *b = HN_NEW(p->a, struct bound);

			*b = (struct bound){ n, *q };
			*q = b;
		} else {
			if (ret->n_loop == ret->cap) {
				ret->loop =
					hn_arena_grow(p->a, ret->loop, ret->n_loop,
						      &ret->cap, sizeof(ret->loop[0]));
			}
			ret->loop[ret->n_loop++] = n;
		}
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (hn_place_update(p->t->dag, n->child[i], stage, &unused) != NULL) {
			find_elements(p, n->child[i], stage, q, ret);
		}
	}
}

static int64_t part_size(const struct part *part)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < part->n_loop; i++) {
		n = hn_mul_sat(n, part->loop[i]->extent);
	}
	return n;
}

const struct hn_expr *hn_place_part_at(struct place *p, const struct part *part)
{
	const struct hn_expr *at = hn_place_int(p, 0);

	for (uint32_t i = 0; i < part->n_loop; i++) {
		const struct hn_expr *extent = hn_place_int(p, part->loop[i]->extent);

		at = hn_place_binary(p, HN_EXPR_ADD,
				     hn_place_binary(p, HN_EXPR_MUL, at, extent),
				     p->value[part->loop[i]->loop]);
	}
	return hn_simplify(at, p->span, p->n_slot, p->a);
}

/* Whether a loop over terms below n decides. */
static bool names_terms(const struct hn_expr *e, const struct hn_node *n)
{
	bool ret = n->kind == HN_NODE_LOOP && n->extent > 1 &&
		   n->iter_kind == HN_ITER_REDUCE && hn_expr_uses(e, n->loop);

	for (uint32_t i = 0; i < n->n_child && !ret; i++) {
		ret = names_terms(e, n->child[i]);
	}
	return ret;
}

static const struct hn_expr *load_of(struct place *p, int32_t buffer,
				     const struct hn_expr *at)
{
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = p->buffer[buffer].dtype,
				      .ref = buffer };

	return hn_expr_with_args(&like, &at, 1, p->a);
}

/* numbers * extents + number, and so on: of loops that are bound to threads. */
static const struct hn_expr *number_of(struct place *p, const struct bound *q,
				       int64_t *ret_n)
{
	const struct hn_expr *sum;

	if (q == NULL) {
		*ret_n = 1;
		return hn_place_int(p, 0);
	}
	sum = number_of(p, q->up, ret_n);
	if (hn_place_runs(q->loop) != HN_RUNS_THREADS) {
		return sum;
	}
	*ret_n = hn_mul_sat(*ret_n, q->loop->extent);
	return hn_place_binary(
		p, HN_EXPR_ADD,
		hn_place_binary(p, HN_EXPR_MUL, sum, hn_place_int(p, q->loop->extent)),
		p->value[q->loop->loop]);
}

static void copy_parts(struct place *p, int32_t stage, const struct part *part,
		       int32_t to, const struct hn_expr *at, struct code *c)
{
	const struct hn_expr *mine = hn_place_part_at(p, part);

	for (uint32_t k = 0; k < p->t->dag->op[stage]->n_out; k++) {
		hn_place_add(p, c,
			     (struct hn_device_node){
				     .kind = HN_DEVICE_STORE,
				     .buffer = to + (int32_t)k,
				     .at = at,
				     .e = load_of(p, part->buffer + (int32_t)k, mine) });
	}
}

/* The parts of all threads in shared memory, then added in halves: thread r takes those of r + h
 * for r + h < n.  `at` is where the parts of this sum begin. */
static void add_halves(struct place *p, int32_t stage, int32_t room,
		       const struct bound *with, const struct hn_expr *at,
		       const struct hn_expr *r, int64_t n, struct draft *out)
{
	const struct hn_op *op = p->t->dag->op[stage];

	for (int64_t h = (n + 1) / 2; n > 1; n = h, h = (n + 1) / 2) {
		const struct hn_expr *mine = hn_place_binary(p, HN_EXPR_ADD, at, r),
				     *other, *source[HN_DAG_MAX_OUT];
		int32_t *slot = hn_place_begin_piece(p, with);
		struct code c = { 0 };

		other = hn_place_binary(p, HN_EXPR_ADD, mine, hn_place_int(p, h));
		for (uint32_t k = 0; k < op->n_out; k++) {
			source[k] = load_of(p, room + (int32_t)k, other);
		}
		hn_place_combine(p, stage, room, mine, source, &c);
		hn_place_under(
			p, hn_place_binary(p, HN_EXPR_LT, r, hn_place_int(p, n - h)), &c);
		hn_place_end_piece(p, with, slot, &c, -1, out);
	}
}

/* What the guards of the terms say of the element alone.  A guard of both has left out terms; it
 * tells of the element that it exists. */
static void guard_result(struct place *p, const struct hn_node *n,
			 const struct hn_node *update, const struct hn_expr *const *axis,
			 struct code *c)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	bool left_out = false;

	for (uint32_t i = 0; i < update->n_guard && p->rc == 0; i++) {
		if (names_terms(update->guard[i], n)) {
			left_out = true;
		} else {
			hn_place_under(p, hn_place_value(p, update->guard[i], n->stage),
				       c);
		}
	}
	for (uint32_t d = 0; d < op->n_spatial && left_out && p->rc == 0; d++) {
		const struct hn_expr *end =
			hn_place_int(p, op->axis[d].min + op->axis[d].extent);
		const struct hn_expr *less =
			hn_simplify(hn_place_binary(p, HN_EXPR_LT, axis[d], end), p->span,
				    p->n_slot, p->a);

		if (less->op != HN_EXPR_INT || less->u.i == 0) {
			hn_place_under(p, less, c);
		}
	}
}

/* The sum of all parts into the element, by one thread. */
static void add_result(struct place *p, const struct hn_node *n,
		       const struct hn_node *update, int32_t room, const struct bound *q,
		       const struct hn_expr *at, struct draft *out)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	const struct hn_expr *axis[HN_DAG_MAX_ITERS] = { 0 }, *source[HN_DAG_MAX_OUT],
			     *to;
	int32_t *slot = hn_place_begin_piece(p, q), dst;
	struct code c = { 0 };

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		axis[d] = hn_place_value(p, update->axis[d], n->stage);
	}
	to = hn_place_element(p, n->stage, axis, &dst);
	for (uint32_t k = 0; k < op->n_out; k++) {
		source[k] = load_of(p, room + (int32_t)k, at);
	}
	hn_place_combine(p, n->stage, dst, to, source, &c);
	guard_result(p, n, update, axis, &c);
	hn_place_end_piece(p, q, slot, &c, -1, out);
}

/* The loop, in order, around what follows; returns where that goes. */
static struct draft *loop_around(struct place *p, const struct hn_node *loop,
				 enum hn_device_how how, struct draft *out)
{
	int32_t slot = hn_place_slot(p, HN_I32, loop->extent);

	out = hn_place_draft(p, out);
	out->node = (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
					     .how = (uint8_t)how,
					     .slot = slot,
					     .extent = loop->extent };
	p->value[loop->loop] = hn_place_var(p, slot);
	return out;
}

/* Loops of virtual threads around it all: each sums for itself. */
static const struct bound *loop_virtual(struct place *p, const struct bound *q,
					struct draft **out)
{
	struct bound *copy;

	if (q == NULL) {
		return NULL;
	}
	const struct bound *up = loop_virtual(p, q->up, out);

	if (hn_place_runs(q->loop) == HN_RUNS_VIRTUAL) {
		*out = loop_around(p, q->loop, HN_DEVICE_UNROLLED, *out);
		return up;
	}
	copy = HN_NEW(p->a, struct bound);
	*copy = (struct bound){ q->loop, up };
	return copy;
}

/* Each thread's part begins as the identity, in all threads: those without terms add it. */
static void begin_parts(struct place *p, int32_t stage, const struct part *part,
			struct draft *out)
{
	const struct hn_op *op = p->t->dag->op[stage];
	int64_t n = part_size(part);
	int32_t slot = n > 1 ? hn_place_slot(p, HN_I32, n) : 0;
	const struct hn_expr *at = n > 1 ? hn_place_var(p, slot) : hn_place_int(p, 0);
	struct draft *d = hn_place_draft(p, out);
	struct code c = { 0 };

	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_place_add(p, &c,
			     (struct hn_device_node){ .kind = HN_DEVICE_STORE,
						      .buffer = part->buffer + (int32_t)k,
						      .at = at,
						      .e = op->reduce->identity[k] });
	}
	d->piece = true;
	d->node = *hn_place_wrap(p,
				 n > 1 ? (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
								  .slot = slot,
								  .extent = n }
				       : (struct hn_device_node){ .kind = HN_DEVICE_SEQ },
				 &c);
}

static int32_t make_parts(struct place *p, int32_t stage, enum hn_memory memory,
			  const char *word, int64_t n)
{
	const struct hn_op *op = p->t->dag->op[stage];
	int32_t first = (int32_t)p->n_buffer;

	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_place_buffer(p, hn_arena_printf(p->a, "%s.%s", op->name, word),
				op->dtype[k], memory, n, -1);
	}
	return first;
}

/* What each thread has summed, into the elements: q, the numbers that have sums of their own. */
static void add_parts(struct place *p, const struct hn_node *n,
		      const struct hn_node *update, const struct part *part,
		      const struct bound *q, struct draft *out)
{
	struct parts parts = { 0 };
	const struct hn_expr *r = hn_place_int(p, 0), *at;
	const struct bound *with = q;
	int64_t n_sum, n_part = 1;

	find_parts(p->t->dag, n, n->stage, &parts);
	for (uint32_t i = 0; i < parts.n; i++) {
		struct bound *b = HN_NEW(p->a, struct bound);

		*b = (struct bound){ parts.loop[i], with };
		with = b;
		r = hn_place_binary(
			p, HN_EXPR_ADD,
			hn_place_binary(p, HN_EXPR_MUL, r,
					hn_place_int(p, parts.loop[i]->extent)),
			p->value[parts.loop[i]->loop]);
		n_part = hn_mul_sat(n_part, parts.loop[i]->extent);
	}
	at = number_of(p, q, &n_sum);
	at = hn_place_binary(p, HN_EXPR_MUL, at, hn_place_int(p, n_part));

	int32_t room = make_parts(p, n->stage, HN_MEMORY_SHARED, "parts",
				  hn_mul_sat(n_sum, n_part));

	for (uint32_t i = 0; i < part->n_loop; i++) {
		out = loop_around(p, part->loop[i], HN_DEVICE_IN_ORDER, out);
	}
	int32_t *slot = hn_place_begin_piece(p, with);
	struct code c = { 0 };

	copy_parts(p, n->stage, part, room, hn_place_binary(p, HN_EXPR_ADD, at, r), &c);
	hn_place_end_piece(p, with, slot, &c, -1, out);
	add_halves(p, n->stage, room, with, at, r, n_part, out);
	add_result(p, n, update, room, q, at, out);
}

void hn_place_sum(struct place *p, const struct hn_node *n, const struct hn_node *update,
		  const struct bound *q, struct draft *out)
{
	struct part part = { 0 };
	const struct bound *inner;

	q = inner = loop_virtual(p, q, &out);
	find_elements(p, n, n->stage, &inner, &part);
	part.buffer = make_parts(p, n->stage, HN_MEMORY_LOCAL, "part", part_size(&part));
	begin_parts(p, n->stage, &part, out);
	p->part[n->stage] = &part;
	hn_place_loop(p, n, q, out);
	p->part[n->stage] = NULL;
	if (p->rc == 0) {
		add_parts(p, n, update, &part, inner, out);
	}
}
