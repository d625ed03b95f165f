/* lower/device/place_role.c -- a kernel whose copies are boxes, cut into roles (device_role.h).
 *
 * What was placed is one program of copies and products: a loop that begins the copies of its turn,
 * and multiplies.  The producer gets the loop with the copies alone, consumers all else.  Each of the
 * buffers' copies, a stage, has two mbarriers, `full` and `empty`; turn t uses stage t mod n, for the
 * (t / n)th time.
 *
 * A product alone in its turn is open to the next one, which gives back its stage.
 *
 * Loops may stand around that loop: the block makes several tiles, one after the other.  Both roles
 * have them, and turns are counted on over them.  So the producer begins the copies of the next tile
 * while consumers store the one before.  What nothing is stored of is left out (place_role_when.c).
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

#define MOST_LOOPS 8 /* around the copies, that loop included */

struct split {
	struct place *p;
	int64_t stages;
	int32_t full, empty; /* buffers */
	bool found;	     /* the loop that has the copies */
	/* slots of loops as consumers have them, and the producer */
	uint32_t n_loop;
	int32_t from[MOST_LOOPS], to[MOST_LOOPS];
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

static int32_t add_slot(struct split *x, const struct hn_device_node *loop)
{
	x->from[x->n_loop] = loop->slot;
	x->to[x->n_loop] = hn_place_slot(x->p, HN_I32, loop->extent);
	return x->to[x->n_loop++];
}

static const struct hn_expr *rename_loop(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct split *x = ctx;

	for (uint32_t i = 0; i < x->n_loop && e->op == HN_EXPR_VAR; i++) {
		if (e->ref == x->from[i]) {
			return hn_expr_var(x->to[i], (enum hn_dtype)e->dtype, NULL, a);
		}
	}
	return e;
}

static const struct hn_expr *renamed(const struct split *x, const struct hn_expr *e)
{
	return hn_expr_map(e, rename_loop, (void *)(uintptr_t)x, x->p->a);
}

static void add_copy(const struct split *x, const struct hn_device_node *n,
		     const struct hn_expr *stage, struct code *c)
{
	struct place *p = x->p;
	struct hn_device_bulk *k = HN_NEW(p->a, struct hn_device_bulk);
	struct hn_device_node copy = *n;

	*k = *n->bulk;
	copy.bulk = k;
	copy.at = renamed(x, n->at);
	for (uint32_t d = 0; d < p->map[k->map].n_dim; d++) {
		k->from[d] = renamed(x, k->from[d]);
	}
	k->mbarrier = x->full;
	k->mbarrier_at = stage;
	hn_place_add(p, c, copy);
}

static void add_producer(struct split *x, const struct hn_device_node *loop, struct code *c)
{
	struct place *p = x->p;
	int32_t slot = add_slot(x, loop);
	const struct hn_expr *t = renamed(x, p->bulk_turn), *stage = stage_of(x, t, 0);
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
							     .slot = slot,
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
	const struct hn_expr *before = stage_of(x, p->bulk_turn, x->stages - 1);
	struct hn_device_node open = *product;
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);
	struct code back = { 0 };

	*w = *product->warp;
	w->open = true;
	open.warp = w;
	hn_place_add(p, turn, open);
	add_settle(p, product, 1, turn);
	add_word(x, HN_DEVICE_ARRIVE, x->empty, before, NULL, 0, &back);
	hn_place_under(p, hn_place_binary(p, HN_EXPR_LT, hn_place_int(p, 0), t), &back);
	hn_place_add(p, turn, *back.v[0]);
}

static const struct hn_expr *last_turn(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct hn_device_node *loop = ctx;

	return e->op == HN_EXPR_VAR && e->ref == loop->slot
		       ? hn_expr_int(loop->extent - 1, (enum hn_dtype)e->dtype, a)
		       : e;
}

static void add_turns(const struct split *x, const struct hn_device_node *loop, struct code *c)
{
	struct place *p = x->p;
	const struct hn_expr *t = p->bulk_turn, *stage = stage_of(x, t, 0);
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
	if (!open) {
		return;
	}
	add_settle(p, last, 0, c);
	if (x->n_loop > 1) { /* the producer goes on to the next tile */
		t = hn_expr_map(t, last_turn, (void *)(uintptr_t)loop, p->a);
		add_word(x, HN_DEVICE_ARRIVE, x->empty, stage_of(x, t, 0), NULL, 0, c);
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

static bool has_copies(const struct hn_device_node *n)
{
	bool any = n->kind == HN_DEVICE_BULK;

	for (uint32_t i = 0; i < n->n_child && !any; i++) {
		any = has_copies(n->child[i]);
	}
	return any;
}

/* What stands in `n`: the kernel's code, or a loop around its copies. */
static void deal_code(struct split *x, const struct hn_device_node *n, struct code *producer,
		      struct code *consumer)
{
	struct place *p = x->p;

	for (uint32_t i = 0; i < n->n_child; i++) {
		const struct hn_device_node *loop = n->child[i];
		struct code below[HN_DEVICE_N_ROLE] = { { 0 }, { 0 } };

		if (loop->kind != HN_DEVICE_LOOP || !has_copies(loop) || x->n_loop == MOST_LOOPS) {
			hn_place_add(p, consumer, *loop);
		} else if (loop->slot == p->bulk_slot) {
			add_producer(x, loop, producer);
			add_turns(x, loop, consumer);
			x->found = true;
		} else {
			struct hn_device_node around = *loop;
			int32_t slot = add_slot(x, loop);
			const struct hn_expr *when = hn_place_role_when(p, loop);

			around.how = HN_DEVICE_ROLLED;
			deal_code(x, loop, &below[HN_DEVICE_PRODUCER], &below[HN_DEVICE_CONSUMER]);
			if (when != NULL) {
				hn_place_under(p, renamed(x, when), &below[HN_DEVICE_PRODUCER]);
				hn_place_under(p, when, &below[HN_DEVICE_CONSUMER]);
			}
			hn_place_add(p, consumer,
				     *hn_place_wrap(p, around, &below[HN_DEVICE_CONSUMER]));
			around.slot = slot;
			hn_place_add(p, producer,
				     *hn_place_wrap(p, around, &below[HN_DEVICE_PRODUCER]));
		}
	}
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
	deal_code(&x, n, &producer, &consumer);
	if (!x.found) {
		hn_place_refuse(p, p->bulk_of, "is made by warpgroups, and more than loops stand around "
					       "its bulk copies, or more than seven");
	}
	add_role(p, HN_DEVICE_PRODUCER, registers[HN_DEVICE_PRODUCER], &producer, &all);
	add_role(p, HN_DEVICE_CONSUMER, registers[HN_DEVICE_CONSUMER], &consumer, &all);
	p->block[1]++;
	return hn_place_wrap(p, *n, &all);
}
