/* lower/npu/sized_tile.c -- the code of T rows: made of the dag with numbers, on one core and part of its
 * memories, then put to other addresses, and ordered as what is done turn after turn.
 *
 * Vectors of a tile have two slots: a turn is two tiles, so that one is loaded while the other is
 * computed.  A product has slots of its own inside, and a turn of one tile.
 */
#include <string.h>

#include "base/arith.h"
#include "lower/npu/sized.h"
#include "lower/npu/task.h"

#define ALIGN 1024 /* of what memories are halved to */
#define TIMED 9	   /* turns */
#define MOST_PRODUCT_ROWS 512

/* -- the dag of T rows ---------------------------------------------------------------------- */

static int64_t rows_of(const struct sized *s, uint32_t op, uint32_t axis, int64_t rows, int64_t otherwise)
{
	uint32_t set = sized_find(s, op, axis);

	for (uint32_t c = 0; c < s->n_class; c++) {
		if (s->class[c].set == set) {
			return c + 1 == s->n_class ? rows : 1;
		}
	}
	for (uint32_t c = 0; c < s->n_sum; c++) {
		if (s->sum[c].set == set) {
			return c + 1 == s->n_sum ? s->width : 1;
		}
	}
	return otherwise;
}

static const struct hn_op *op_of(const struct sized *s, uint32_t i, int64_t rows)
{
	const struct hn_op *from = s->dag->op[i];
	struct hn_op *op = HN_NEW(s->a, struct hn_op);
	int64_t *shape = HN_NEW_ARRAY(s->a, int64_t, from->n_dim + 1);
	uint32_t n = from->kind == HN_OP_COMPUTE ? from->n_spatial + from->n_reduce : 0;
	struct hn_axis *axis = HN_NEW_ARRAY(s->a, struct hn_axis, n + 1);

	*op = *from;
	for (uint32_t d = 0; d < from->n_dim; d++) {
		shape[d] = rows_of(s, i, d, rows, from->shape[d]);
	}
	for (uint32_t d = 0; d < n; d++) {
		axis[d] = from->axis[d];
		axis[d].extent = rows_of(s, i, d, rows, from->axis[d].extent);
	}
	op->shape = shape;
	op->axis = n > 0 ? axis : from->axis;
	op->sizes = NULL;
	op->extent = NULL;
	return op;
}

static const struct hn_dag *dag_of(const struct sized *s, int64_t rows)
{
	struct hn_dag *dag = HN_NEW(s->a, struct hn_dag);
	const struct hn_op **op = hn_arena_array(s->a, s->dag->n_op, sizeof(op[0]));

	for (uint32_t i = 0; i < s->dag->n_op; i++) {
		op[i] = op_of(s, i, rows);
	}
	*dag = *s->dag;
	dag->op = op;
	dag->sizes = NULL;
	return dag;
}

/* -- code at other addresses ---------------------------------------------------------------- */

static int64_t part_bytes(const struct sized *s, enum hn_npu_memory memory, uint32_t slots)
{
	int64_t kept = s->n_value > 0 && memory == HN_NPU_UB ? SIZED_KEPT : 0;

	return (hn_npu_memory_bytes(s->m, memory) - kept) / slots / ALIGN * ALIGN;
}

static struct hn_npu_profile profile_of(const struct sized *s, uint32_t slots)
{
	struct hn_npu_profile ret = *s->m;

	ret.cores = 1;
	ret.ub_bytes = part_bytes(s, HN_NPU_UB, slots);
	return ret;
}

static int64_t value(const struct hn_npu_number *n, const int64_t *reg)
{
	return (int64_t)((uint64_t)n->imm + (n->reg < 0 ? 0 : (uint64_t)reg[n->reg]));
}

/* What a core's registers come to; false: it is none of what generated code has. */
static bool let(const struct hn_npu_insn *in, int64_t core, int64_t *reg)
{
	int64_t x = value(&in->number[0], reg), y = value(&in->number[1], reg), v = 0;

	switch (in->op) {
	case HN_NPU_I_CORE:
		v = core;
		break;
	case HN_NPU_I_MOV:
		v = x;
		break;
	case HN_NPU_I_SADD:
		v = (int64_t)((uint64_t)x + (uint64_t)y);
		break;
	case HN_NPU_I_SSUB:
		v = (int64_t)((uint64_t)x - (uint64_t)y);
		break;
	case HN_NPU_I_SMUL:
		v = (int64_t)((uint64_t)x * (uint64_t)y);
		break;
	case HN_NPU_I_SDIV:
		v = y > 0 ? hn_floordiv(x, y) : 0;
		break;
	case HN_NPU_I_SMOD:
		v = y > 0 ? hn_floormod(x, y) : 0;
		break;
	default:
		return false;
	}
	reg[in->reg] = v;
	return true;
}

static void fix(struct hn_npu_number *n, const int64_t *reg)
{
	*n = (struct hn_npu_number){ .imm = value(n, reg), .reg = -1 };
}

/* The code of a core without registers, none where it has none; false: it has loops. */
static bool fold(struct sized *s, const struct hn_npu_program *p, uint32_t core, struct hn_npu_section *ret)
{
	const struct hn_npu_section *c = p->section;
	struct hn_npu_insn *to;
	int64_t reg[HN_NPU_REGISTERS] = { 0 };
	uint32_t n = 0, i = 0;

	while (i < p->n_section && (core < c[i].first || core >= c[i].first + c[i].n_core)) {
		i++;
	}
	*ret = (struct hn_npu_section){ .n_core = 1, .straight = true };
	if (i == p->n_section) {
		return true;
	}
	c = &c[i];
	to = HN_NEW_ARRAY(s->a, struct hn_npu_insn, (s->n_sum > 0 ? SIZED_MASK * c->n_insn : c->n_insn) + 1);
	if (!c->straight) {
		return false;
	}
	for (uint32_t j = 0; j < c->n_insn; j++) {
		struct hn_npu_insn *in = &to[n];
		uint8_t kind = hn_npu_op[c->insn[j].op].kind;

		*in = c->insn[j];
		if (kind == HN_NPU_K_LET) {
			if (!let(in, core - c->first, reg)) {
				return false;
			}
			continue;
		}
		if (kind == HN_NPU_K_BARRIER || kind == HN_NPU_K_FLAG) {
			return false;
		}
		for (uint32_t k = 0; k < hn_npu_kind[kind].n_number; k++) {
			fix(&in->number[k], reg);
		}
		for (uint32_t k = 0; k < hn_npu_kind[kind].n_place; k++) {
			fix(&in->place[k].at, reg);
		}
		n++;
	}
	if (sized_writes(s) && !sized_ragged(s, to, &n)) {
		return false;
	}
	sized_early(s, to, n);
	*ret = (struct hn_npu_section){ .n_core = 1, .insn = to, .n_insn = n, .straight = true };
	return true;
}

/* Tile after tile, each in its slot and behind its registers. */
static struct hn_npu_section in_slots(const struct sized *s, const struct hn_npu_section *c, uint32_t slots,
				      uint32_t of)
{
	struct hn_npu_insn *to = HN_NEW_ARRAY(s->a, struct hn_npu_insn, (size_t)c->n_insn * slots + 1);
	struct hn_npu_section ret = *c;

	for (uint32_t i = 0; i < c->n_insn * slots; i++) {
		uint32_t slot = i / c->n_insn;

		to[i] = c->insn[i % c->n_insn];
		for (uint32_t k = 0; k < hn_npu_kind[hn_npu_op[to[i].op].kind].n_place; k++) {
			struct hn_npu_place *at = &to[i].place[k];

			if (at->memory != HN_NPU_GM) { /* what is kept is behind all slots */
				int64_t part = part_bytes(s, (enum hn_npu_memory)at->memory, of);

				at->at.imm += at->at.imm < part ? slot * part : 0;
			} else if (s->of[at->buffer] >= 0) {
				at->at.reg = (int8_t)sized_register(s, slot, (uint32_t)s->of[at->buffer]);
			}
		}
	}
	ret.insn = to;
	ret.n_insn = c->n_insn * slots;
	return ret;
}

/* -- one length ----------------------------------------------------------------------------- */

/* The fastest plan of a product whose columns `inner` cores share, and nothing else. */
static int product_of(struct sized *s, struct hn_npu_product *p, const struct hn_npu_profile *m,
		      const struct hn_npu_program **ret)
{
	struct hn_npu_product plans[HN_NPU_MOST_PLANS];
	uint32_t n;

	p->order = HN_NPU_AS_WRITTEN;
	n = hn_npu_product_plans(m, p, HN_NPU_MOST_PLANS, plans);
	for (uint32_t i = 0; i < n; i++) {
		if (plans[i].cores_m == 1 && plans[i].cores_n == s->inner && plans[i].cores_b <= 1) {
			return hn_npu_product(&plans[i], m, s->a, ret, NULL, s->err);
		}
	}
	return hn_fail(s->err, HONE_E_UNSUPPORTED, "no plan of the product shares columns alone");
}

static int code_of(struct sized *s, int64_t rows, uint32_t slots, const struct hn_npu_program **ret, bool *one_tile)
{
	struct hn_npu_profile m = profile_of(s, slots);
	const struct hn_dag *dag = dag_of(s, rows);
	struct hn_npu_plan plan = { .order = HN_NPU_AS_WRITTEN, .slots = 1, .reuse = true };
	struct hn_npu_vector_facts facts = { .n_tile = 1 };
	struct hn_npu_product product;
	const char *why;
	int rc;

	if (!sized_writes(s) && hn_npu_task_of(dag, s->a, &product, &why)) {
		m.cores = s->inner;
		rc = product_of(s, &product, &m, ret);
	} else {
		if (sized_writes(s)) {
			dag = sized_with_written(s, dag, &plan.lies);
		}
		rc = hn_npu_vector(dag, &m, &plan, s->a, ret, &facts, s->err);
	}
	*one_tile = facts.n_tile == 1;
	return rc;
}

bool sized_is_product(const struct sized *s)
{
	struct hn_npu_product p;
	const char *why;

	return !sized_writes(s) && hn_npu_task_of(dag_of(s, 2), s->a, &p, &why);
}

/* Of a row and a column there is nothing for the cube to do. */
static bool is_matrices(struct sized *s)
{
	const struct hn_dag *dag = dag_of(s, 2);
	const int64_t *const *lies;
	struct hn_npu_product p;
	const char *why;

	if (s->n_value > 0 && s->n_sum == 0) {
		dag = sized_with_written(s, dag, &lies);
	}
	return sized_writes(s) && hn_npu_task_of(dag, s->a, &p, &why) && p.m > 1 && p.n > 1;
}

/* One tile of a core by itself. */
static int alone(struct sized *s, const struct hn_npu_section *one, struct hn_npu_section *ret)
{
	struct hn_npu_order_facts facts = { 0 };
	struct hn_arena own; /* what is known of memories is large */
	struct npu_order o = { .p = s->apart, .m = s->m, .s = one, .a = &own, .facts = &facts };
	int rc;

	hn_arena_init(&own, 0);
	rc = npu_order_walk(&o, s->plan->order, s->err);
	if (rc == 0) {
		struct hn_npu_section made = npu_order_section(&o, s->plan->order);
		struct hn_npu_insn *to = HN_NEW_ARRAY(s->a, struct hn_npu_insn, made.n_insn + 1);

		memcpy(to, made.insn, made.n_insn * sizeof(to[0]));
		*ret = made;
		ret->insn = to;
	}
	hn_arena_fini(&own);
	return rc;
}

static int make(struct sized *s, int64_t rows, uint32_t slots, bool *ret_whole)
{
	struct sized_tile *t = &s->tile[s->n_tile];
	const struct hn_npu_program *p;
	struct hn_npu_section plain, turn;
	int rc = code_of(s, rows, slots, &p, ret_whole);

	if (rc == 0 && !*ret_whole && s->n_sum > 0) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "%lld terms of a size that is summed over do not fit in the unified "
			       "buffer, with what is computed of them: a program for the NPU holds all of a row",
			       (long long)s->width);
	}
	if (rc != 0 || (!*ret_whole && rows > 1)) {
		return rc;
	}
	*t = (struct sized_tile){ .rows = rows, .slots = slots };
	t->turns = HN_NEW_ARRAY(s->a, struct npu_turns, s->inner);
	for (uint32_t i = 0; i < s->inner && rc == 0; i++) {
		if (!fold(s, p, i, &plain)) {
			return hn_fail(s->err, HONE_E_UNSUPPORTED, "code of %lld rows cannot be for any sizes", (long long)rows);
		}
		turn = in_slots(s, &plain, slots, slots);
		rc = npu_order_turns(s->apart, s->m, &turn, s->plan->order, !s->plan->apart, s->a, &t->turns[i], s->err);
		if (rc == 0 && slots > 1) {
			turn = in_slots(s, &plain, 1, slots);
			rc = alone(s, &turn, &t->single);
			t->alone = rc == 0 ? sized_turns(s, &(struct npu_turns){ .body = t->single.insn, .n_body = t->single.n_insn }, 1) : 0;
		}
	}
	if (rc != 0) {
		return rc;
	}
	/* cores of a product have as many columns each, but for the last */
	t->first = sized_turns(s, &t->turns[0], 1);
	t->next = (sized_turns(s, &t->turns[0], TIMED) - t->first) / (TIMED - 1);
	s->n_tile++;
	return 0;
}

/* 1, 2, 3, 4, 6, 8, 12, 16 ... rows, as long as a tile holds them; of a product 1, 2, 4, 8 ... */
static int lengths(struct sized *s, uint32_t slots)
{
	bool product = sized_is_product(s);
	int64_t rows = 1, step = 1;
	bool whole = true;
	int rc = 0;

	s->n_tile = 0;
	while (rc == 0 && whole && rows <= s->most_rows && (!product || rows <= MOST_PRODUCT_ROWS) &&
	       s->n_tile < SIZED_TILES) {
		struct hn_err ignored, *err = s->err;
		bool first = s->n_tile == 0;

		s->err = first ? err : &ignored;
		rc = make(s, rows, slots, &whole);
		s->err = err;
		if (rc != 0 && !first) {
			break;
		}
		rows += product ? rows : step;
		step = rows >= 4 && (rows & (rows - 1)) == 0 ? rows / 2 : step;
	}
	return s->n_tile > 0 ? 0 : rc;
}

int sized_tiles(struct sized *s)
{
	bool two = s->plan->slots > 1 && !sized_is_product(s);
	int rc;

	if (is_matrices(s)) {
		return hn_fail(s->err, HONE_E_UNSUPPORTED, "a product of matrices whose terms are a size, or that is computed with "
			       "one: a program for the NPU needs a number there");
	}
	s->tile = HN_NEW_ARRAY(s->a, struct sized_tile, SIZED_TILES);
	rc = lengths(s, two ? 2 : 1);
	return rc == -HONE_E_UNSUPPORTED && two ? lengths(s, 1) : rc;
}
