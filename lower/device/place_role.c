/* lower/device/place_role.c -- a kernel whose copies are boxes, cut into roles (device_role.h).
 *
 * What was placed is one program of copies and products: a loop that begins the copies of its turn,
 * and multiplies.  The producer gets the loop with the copies alone, consumers all else.  Each of the
 * buffers' copies, a stage, has two mbarriers, `full` and `empty`; turn t uses stage t mod n, for the
 * (t / n)th time.
 *
 * A product alone in its turn is open to the next one, which gives back its stage.
 */
#include "base/arith.h"
#include "lower/device/device_role.h"
#include "lower/device/place_int.h"

#define CORE_REGISTERS 65536
#define CORE_SHARED 233472 /* bytes of a multiprocessor, for all its blocks */
#define BLOCK_SHARED 1024  /* that each takes for itself */
#define REGISTER_UNIT 8
#define MOST_REGISTERS 240
#define OTHER_REGISTERS 50 /* of a consumer's thread, beside its results */
#define LEAST_REGISTERS 32 /* the same of what the block begins with: ptxas asks for 26 */

struct split {
	struct place *p;
	int64_t stages;
	int32_t full, empty; /* buffers */
	int32_t slot;	     /* of the producer's turns */
};

static const struct hn_expr *op_int(struct place *p, enum hn_expr_op op, const struct hn_expr *x,
				    int64_t v)
{
	return hn_place_binary(p, op, x, hn_place_int(p, v));
}

/* The stage of turn t + more. */
static const struct hn_expr *stage_of(const struct split *x, const struct hn_expr *t, int64_t more)
{
	const struct hn_expr *sum = more > 0 ? op_int(x->p, HN_EXPR_ADD, t, more) : t;

	return op_int(x->p, HN_EXPR_FLOORMOD, sum, x->stages);
}

/* The parity of its phase of that time; more: 1 for the phase before. */
static const struct hn_expr *parity_of(const struct split *x, const struct hn_expr *t, int64_t more)
{
	const struct hn_expr *time = op_int(x->p, HN_EXPR_FLOORDIV, t, x->stages);

	time = more > 0 ? op_int(x->p, HN_EXPR_ADD, time, more) : time;
	return op_int(x->p, HN_EXPR_FLOORMOD, time, 2);
}

static void add_word(const struct split *x, enum hn_device_kind kind, int32_t buffer,
		     const struct hn_expr *at, const struct hn_expr *e, int64_t extent,
		     struct code *c)
{
	hn_place_add(x->p, c,
		     (struct hn_device_node){
			     .kind = (uint8_t)kind, .buffer = buffer, .at = at, .e = e, .extent = extent });
}

/* ---- the producer */

struct other {
	int32_t from, to;
};

static const struct hn_expr *renamed(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct other *o = ctx;

	return e->op == HN_EXPR_VAR && e->ref == o->from
		       ? hn_expr_var(o->to, (enum hn_dtype)e->dtype, NULL, a)
		       : e;
}

static void add_copy(const struct split *x, const struct hn_device_node *n,
		     const struct hn_expr *stage, struct code *c)
{
	struct place *p = x->p;
	struct other o = { p->bulk_slot, x->slot };
	struct hn_device_bulk *k = HN_NEW(p->a, struct hn_device_bulk);
	struct hn_device_node copy = *n;

	*k = *n->bulk;
	copy.bulk = k;
	copy.at = hn_expr_map(n->at, renamed, &o, p->a);
	for (uint32_t d = 0; d < p->map[k->map].n_dim; d++) {
		k->from[d] = hn_expr_map(k->from[d], renamed, &o, p->a);
	}
	k->mbarrier = x->full;
	k->mbarrier_at = stage;
	hn_place_add(p, c, copy);
}

static void add_producer(const struct split *x, const struct hn_device_node *loop, struct code *c)
{
	struct place *p = x->p;
	const struct hn_expr *t = hn_place_var(p, x->slot), *stage = stage_of(x, t, 0);
	struct code turn = { 0 };
	int64_t bytes = 0;

	for (uint32_t i = 0; i < loop->n_child; i++) {
		if (loop->child[i]->kind == HN_DEVICE_BULK) {
			const struct hn_device_map *m = &p->map[loop->child[i]->bulk->map];

			bytes += hn_map_box(m) *
				 (int64_t)hn_dtype_bytes((enum hn_dtype)p->buffer[m->buffer].dtype);
		}
	}
	add_word(x, HN_DEVICE_AWAIT, x->empty, stage, parity_of(x, t, 1), 0, &turn);
	add_word(x, HN_DEVICE_EXPECT, x->full, stage, NULL, bytes, &turn);
	for (uint32_t i = 0; i < loop->n_child; i++) {
		if (loop->child[i]->kind == HN_DEVICE_BULK) {
			add_copy(x, loop->child[i], stage, &turn);
		}
	}
	hn_place_add(p, c,
		     *hn_place_wrap(p,
				    (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
							     .slot = x->slot,
							     .extent = loop->extent },
				    &turn));
}

/* ---- consumers */

static void add_settle(struct place *p, const struct hn_device_node *product, int64_t but,
		       struct code *c)
{
	struct hn_device_node settle = *product;

	settle.kind = HN_DEVICE_SETTLE;
	settle.extent = but;
	hn_place_add(p, c, settle);
}

/* The turn's product, open; the stage of the turn before is empty when that one's is settled. */
static void add_open(const struct split *x, const struct hn_device_node *product, struct code *turn)
{
	struct place *p = x->p;
	const struct hn_expr *t = hn_place_var(p, p->bulk_slot);
	struct hn_device_node open = *product;
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);
	struct code back = { 0 };

	*w = *product->warp;
	w->open = true;
	open.warp = w;
	hn_place_add(p, turn, open);
	add_settle(p, product, 1, turn);
	add_word(x, HN_DEVICE_ARRIVE, x->empty, stage_of(x, t, x->stages - 1), NULL, 0, &back);
	hn_place_under(p, hn_place_binary(p, HN_EXPR_LT, hn_place_int(p, 0), t), &back);
	hn_place_add(p, turn, *back.v[0]);
}

static void add_turns(const struct split *x, const struct hn_device_node *loop, struct code *c)
{
	struct place *p = x->p;
	const struct hn_expr *t = hn_place_var(p, p->bulk_slot), *stage = stage_of(x, t, 0);
	const struct hn_device_node *last = loop->child[loop->n_child - 1];
	struct code turn = { 0 };
	uint32_t n_other = 0;

	for (uint32_t i = 0; i < loop->n_child; i++) {
		n_other += loop->child[i]->kind != HN_DEVICE_BULK;
	}
	bool open = n_other == 1 && last->kind == HN_DEVICE_WGMMA &&
		    !hn_expr_uses(last->at, p->bulk_slot);

	add_word(x, HN_DEVICE_AWAIT, x->full, stage, parity_of(x, t, 0), 0, &turn);
	for (uint32_t i = 0; i < loop->n_child && !open; i++) {
		if (loop->child[i]->kind != HN_DEVICE_BULK) {
			hn_place_add(p, &turn, *loop->child[i]);
		}
	}
	if (open) {
		add_open(x, last, &turn);
	} else {
		add_word(x, HN_DEVICE_ARRIVE, x->empty, stage, NULL, 0, &turn);
	}
	hn_place_add(p, c, *hn_place_wrap(p, *loop, &turn));
	if (open) {
		add_settle(p, last, 0, c);
	}
}

/* ---- the kernel */

/* Registers of each role's threads: what the block begins with, dealt out again. */
static void deal(const struct place *p, int64_t *producer, int64_t *consumer)
{
	int64_t n = p->block[1], threads = (n + 1) * HN_WARPGROUP, shared = 0, held = 0;

	for (uint32_t i = p->first_buffer; i < p->n_buffer; i++) {
		const struct hn_device_buffer *b = &p->buffer[i];
		int64_t bytes = hn_mul_sat(b->n_elem, hn_dtype_bytes((enum hn_dtype)b->dtype));

		shared += b->memory == HN_MEMORY_SHARED ? bytes : 0;
		held += b->memory == HN_MEMORY_LOCAL ? bytes / 4 : 0;
	}
	int64_t blocks = CORE_SHARED / (shared + BLOCK_SHARED);

	int64_t least = hn_ceildiv(held + LEAST_REGISTERS, REGISTER_UNIT) * REGISTER_UNIT;

	blocks = blocks < 1 ? 1 : blocks;
	*producer = n < 3 ? 40 : n == 3 ? 32 : 24;
	for (;; blocks--) {
		int64_t all = CORE_REGISTERS / (blocks * threads) / REGISTER_UNIT * REGISTER_UNIT;

		*consumer = (all * (n + 1) - *producer) / n / REGISTER_UNIT * REGISTER_UNIT;
		*consumer = *consumer < MOST_REGISTERS ? *consumer : MOST_REGISTERS;
		if ((*consumer >= held + OTHER_REGISTERS && all >= least) || blocks == 1) {
			break;
		}
	}
	if (*producer + n * *consumer < least * (n + 1) && least <= *consumer) {
		*producer = least * (n + 1) - n * *consumer;
	}
}

static void add_role(struct place *p, enum hn_device_role role, int64_t registers, struct code *body,
		     struct code *c)
{
	const struct hn_expr *e =
		op_int(p, role == HN_DEVICE_PRODUCER ? HN_EXPR_GE : HN_EXPR_LT,
		       hn_place_var(p, HN_DEVICE_THREAD + 1), p->block[1]);

	hn_place_add(p, c,
		     *hn_place_wrap(p,
				    (struct hn_device_node){ .kind = HN_DEVICE_ROLE,
							     .how = (uint8_t)role,
							     .e = e,
							     .extent = registers },
				    body));
}

static void add_mbarriers(const struct split *x, struct code *c)
{
	struct place *p = x->p;
	int32_t slot = hn_place_slot(p, HN_I32, x->stages);
	struct code each = { 0 };

	add_word(x, HN_DEVICE_MBARRIER, x->full, hn_place_var(p, slot), NULL, 1, &each);
	add_word(x, HN_DEVICE_MBARRIER, x->empty, hn_place_var(p, slot), NULL,
		 p->block[1] * HN_ROLE_WARPS, &each);
	hn_place_add(p, c,
		     *hn_place_wrap(p,
				    (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
							     .how = HN_DEVICE_UNROLLED,
							     .slot = slot,
							     .extent = x->stages },
				    &each));
	hn_place_add(p, c, (struct hn_device_node){ .kind = HN_DEVICE_FENCE });
	hn_place_add(p, c, (struct hn_device_node){ .kind = HN_DEVICE_BARRIER });
}

const struct hn_device_node *hn_place_roles(struct place *p, const struct hn_device_node *n)
{
	struct split x = { .p = p, .stages = p->bulk_stages };
	struct code all = { 0 }, producer = { 0 }, consumer = { 0 };
	int64_t registers[HN_DEVICE_N_ROLE];

	deal(p, &registers[HN_DEVICE_PRODUCER], &registers[HN_DEVICE_CONSUMER]);
	x.full = hn_place_buffer(p, "full", HN_I64, HN_MEMORY_SHARED, x.stages, -1);
	x.empty = hn_place_buffer(p, "empty", HN_I64, HN_MEMORY_SHARED, x.stages, -1);
	add_mbarriers(&x, &all);
	for (uint32_t i = 0; i < n->n_child; i++) {
		const struct hn_device_node *loop = n->child[i];

		if (loop->kind == HN_DEVICE_LOOP && loop->slot == p->bulk_slot) {
			x.slot = hn_place_slot(p, HN_I32, loop->extent);
			add_producer(&x, loop, &producer);
			add_turns(&x, loop, &consumer);
		} else {
			hn_place_add(p, &consumer, *loop);
		}
	}
	if (producer.n == 0) {
		hn_place_refuse(p, p->bulk_of, "is made by warpgroups, and loops stand around its bulk copies");
	}
	add_role(p, HN_DEVICE_PRODUCER, registers[HN_DEVICE_PRODUCER], &producer, &all);
	add_role(p, HN_DEVICE_CONSUMER, registers[HN_DEVICE_CONSUMER], &consumer, &all);
	p->block[1]++;
	return hn_place_wrap(p, *n, &all);
}
