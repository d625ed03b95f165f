/* lower/device/place_sum.c -- sums that threads take together.
 *
 * Each thread sums a part of its own and stores it in shared memory.  Then half of the threads add
 * what the other half has, until one is left.  Source: TVM's LowerThreadAllreduce.
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

static bool names_below(const struct hn_expr *e, const struct hn_node *n)
{
	bool ret = n->kind == HN_NODE_LOOP && n->extent > 1 && hn_expr_uses(e, n->loop);

	for (uint32_t i = 0; i < n->n_child && !ret; i++) {
		ret = names_below(e, n->child[i]);
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

static void copy_parts(struct place *p, int32_t stage, int32_t from, int32_t to,
		       const struct hn_expr *at, struct code *c)
{
	for (uint32_t k = 0; k < p->t->dag->op[stage]->n_out; k++) {
		hn_place_add(p, c,
			     (struct hn_device_node){ .kind = HN_DEVICE_STORE,
						      .buffer = to + (int32_t)k,
						      .at = at,
						      .e = load_of(p, from + (int32_t)k,
								   hn_place_int(p, 0)) });
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
		if (names_below(update->axis[d], n)) {
			hn_place_refuse(p, n->stage,
					"is summed by threads, with loops over its "
					"elements inside");
			return;
		}
		axis[d] = hn_place_value(p, update->axis[d], n->stage);
	}
	to = hn_place_element(p, n->stage, axis, &dst);
	for (uint32_t k = 0; k < op->n_out; k++) {
		source[k] = load_of(p, room + (int32_t)k, at);
	}
	hn_place_combine(p, n->stage, dst, to, source, &c);
	for (uint32_t i = 0; i < update->n_guard && p->rc == 0; i++) {
		if (!names_below(update->guard[i], n)) {
			hn_place_under(p, hn_place_value(p, update->guard[i], n->stage),
				       &c);
		}
	}
	hn_place_end_piece(p, q, slot, &c, -1, out);
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
		int32_t slot = hn_place_slot(p, HN_I32, q->loop->extent);

		*out = hn_place_draft(p, *out);
		(*out)->node = (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
							.how = HN_DEVICE_UNROLLED,
							.slot = slot,
							.extent = q->loop->extent };
		p->value[q->loop->loop] = hn_place_var(p, slot);
		return up;
	}
	copy = HN_NEW(p->a, struct bound);
	*copy = (struct bound){ q->loop, up };
	return copy;
}

/* Each thread's part begins as the identity, in all threads: those without terms add it. */
static void begin_parts(struct place *p, int32_t stage, struct draft *out)
{
	const struct hn_op *op = p->t->dag->op[stage];
	struct draft *d = hn_place_draft(p, out);
	struct code c = { 0 };

	for (uint32_t k = 0; k < op->n_out; k++) {
		hn_place_add(
			p, &c,
			(struct hn_device_node){ .kind = HN_DEVICE_STORE,
						 .buffer = p->part[stage] + (int32_t)k,
						 .at = hn_place_int(p, 0),
						 .e = op->reduce->identity[k] });
	}
	d->piece = true;
	d->node = *hn_place_wrap(p, (struct hn_device_node){ .kind = HN_DEVICE_SEQ }, &c);
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

void hn_place_sum(struct place *p, const struct hn_node *n, const struct hn_node *update,
		  const struct bound *q, struct draft *out)
{
	struct parts parts = { 0 };
	const struct hn_expr *r = hn_place_int(p, 0), *at;
	const struct bound *with;
	int64_t n_sum, n_part = 1;

	q = loop_virtual(p, q, &out);
	with = q;
	find_parts(p->t->dag, n, n->stage, &parts);
	p->part[n->stage] = make_parts(p, n->stage, HN_MEMORY_LOCAL, "part", 1);
	begin_parts(p, n->stage, out);
	hn_place_loop(p, n, q, out);
	for (uint32_t i = 0; i < parts.n && p->rc == 0; i++) {
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
	int32_t *slot = hn_place_begin_piece(p, with);
	struct code c = { 0 };

	copy_parts(p, n->stage, p->part[n->stage], room,
		   hn_place_binary(p, HN_EXPR_ADD, at, r), &c);
	hn_place_end_piece(p, with, slot, &c, -1, out);
	add_halves(p, n->stage, room, with, at, r, n_part, out);
	p->part[n->stage] = -1;
	add_result(p, n, update, room, q, at, out);
}
