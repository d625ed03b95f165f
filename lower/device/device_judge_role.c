/* lower/device/device_judge_role.c -- whether a kernel's roles wait for each other as they have to.
 *
 * Their words depend on no number in memory, and on the block by conditions alone (device_role.c).  So
 * a block for which these come out the same shows what another does: one of each kind is gone through.
 * What is found does not depend on the order in which warpgroups run (device_interp_role.c).  A few
 * orders are gone through all the same.
 */
#include <string.h>

#include "lower/device/device_interp_role.h"
#include "lower/device/device_verify.h"

#define MOST_WORDS (INT64_C(1) << 24)
#define ORDERS 3
#define MOST_KINDS 64

static const struct hn_cell *none(struct hn_compile *c, const struct hn_expr *e)
{
	struct hn_cell *cell = HN_NEW(c->a, struct hn_cell);

	(void)e;
	*cell = *hn_interp_compile_index(c, hn_expr_int(0, HN_I32, c->a));
	return cell;
}

static void make_frames(struct run *r, uint32_t n_frame)
{
	r->frame = HN_NEW_ARRAY(&r->arena, union hn_value *, (size_t)r->n_thread);
	for (int64_t t = 0; t < r->n_thread; t++) {
		r->frame[t] = t % HN_WARPGROUP == 0
				      ? HN_NEW_ARRAY(&r->arena, union hn_value, n_frame + 1) + 1
				      : r->frame[t - 1];
		r->frame[t][HN_DEVICE_THREAD + 1].i = t / HN_WARPGROUP;
	}
}

static const struct op *compiled(struct run *r)
{
	struct hn_compile c = { .n_axis = r->k->n_slot,
				.n_frame = r->k->n_slot,
				.load = none,
				.a = &r->arena };

	r->n_thread = r->k->block[0] * r->k->block[1] * r->k->block[2];
	const struct op *body = hn_interp_compile_node(&c, r->k->body);

	make_frames(r, c.n_frame);
	return body;
}

static int too_long(const struct run *r, struct hn_err *err)
{
	return hn_fail(err, HONE_E_QUOTA,
		       "kernel %s: too long to see whether its roles wait for each other", r->k->name);
}

/* ---- kinds of blocks */

/* A kind: the first block that is of it, and how conditions come out for it, one after the other. */
struct kinds {
	uint32_t n;
	int64_t at[MOST_KINDS][3];
	struct hn_buf came_out[MOST_KINDS];
};

static void see_block(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_VAR && e->ref < HN_DEVICE_THREAD;
}

static bool depends(const struct op *o)
{
	bool any = false;

	if (o->n->kind == HN_DEVICE_IF && o->steps) {
		hn_expr_visit(o->n->e, see_block, &any);
	}
	for (uint32_t i = 0; i < o->n->n_child && !any; i++) {
		any = depends(o->child[i]);
	}
	return any;
}

static void ask(struct run *r, const struct op *o, struct hn_buf *came_out)
{
	union hn_value *frame = r->frame[0];
	int64_t times = o->n->kind == HN_DEVICE_LOOP ? o->n->extent : 1;

	if (!depends(o)) {
		return;
	}
	if (o->n->kind == HN_DEVICE_IF) {
		bool holds = o->e->eval(o->e, frame).i != 0;

		hn_buf_putc(came_out, holds ? '1' : '0');
		times = holds;
	}
	for (int64_t v = 0; v < times && r->fuel >= 0; v++) {
		if (o->n->kind == HN_DEVICE_LOOP) {
			frame[o->n->slot].i = v;
		}
		for (uint32_t i = 0; i < o->n->n_child; i++) {
			ask(r, o->child[i], came_out);
		}
		r->fuel--;
	}
}

static void set_block(struct run *r, const int64_t *at)
{
	for (int64_t t = 0; t < r->n_thread; t += HN_WARPGROUP) {
		for (uint32_t d = 0; d < 3; d++) {
			r->frame[t][HN_DEVICE_BLOCK + d].i = at[d];
		}
	}
}

/* The block, among the kinds; more of them than there is room for are too many to see. */
static void sort_in(struct run *r, const struct op *body, const int64_t *at, struct kinds *k)
{
	struct hn_buf came_out;
	uint32_t i = 0;

	hn_buf_init(&came_out);
	hn_buf_puts(&came_out, "kind ");
	set_block(r, at);
	ask(r, body, &came_out);
	while (i < k->n && (k->came_out[i].n != came_out.n ||
			    memcmp(k->came_out[i].s, came_out.s, came_out.n) != 0)) {
		i++;
	}
	if (i < k->n) {
		hn_buf_fini(&came_out);
	} else if (k->n < MOST_KINDS) {
		memcpy(k->at[i], at, sizeof(k->at[i]));
		k->came_out[k->n++] = came_out;
	} else {
		hn_buf_fini(&came_out);
		r->fuel = -1;
	}
	r->fuel--;
}

static int find_kinds(struct run *r, struct kinds *k, struct hn_err *err)
{
	const struct op *body = compiled(r);
	const int64_t one[3] = { 1, 1, 1 }, *n = depends(body) ? r->k->grid : one;
	int64_t at[3];

	for (at[2] = 0; at[2] < n[2]; at[2]++) {
		for (at[1] = 0; at[1] < n[1]; at[1]++) {
			for (at[0] = 0; at[0] < n[0] && r->fuel >= 0; at[0]++) {
				sort_in(r, body, at, k);
			}
		}
	}
	return r->fuel < 0 ? too_long(r, err) : 0;
}

/* ---- one block */

static int judge(struct run *r, const int64_t *at, struct hn_err *err)
{
	const struct op *body = compiled(r);
	uint32_t n = 0;

	r->fences = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	r->fenced = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	hn_interp_make_roles(r);
	set_block(r, at);
	while (body->child[n]->n->kind != HN_DEVICE_ROLE) {
		hn_interp_block(r, body->child[n++]);
	}
	hn_interp_roles(r, &body->child[n], body->n->n_child - n, true);
	if (r->fault[0] != '\0') {
		return hn_fail(err, HONE_E_INVALID, "%s", r->fault);
	}
	return r->fuel < 0 ? too_long(r, err) : 0;
}

int hn_role_judge(const struct hn_device *d, const struct hn_device_kernel *k, struct hn_err *err)
{
	struct run all = { .d = d, .k = k, .fuel = MOST_WORDS };
	struct kinds kinds = { 0 };

	hn_arena_init(&all.arena, 0);
	int rc = find_kinds(&all, &kinds, err);

	hn_arena_fini(&all.arena);
	for (uint32_t i = 0; i < kinds.n * ORDERS && rc == 0; i++) {
		struct run r = { .d = d, .k = k, .fuel = MOST_WORDS, .order = i % ORDERS };

		hn_arena_init(&r.arena, 0);
		rc = judge(&r, kinds.at[i / ORDERS], err);
		hn_arena_fini(&r.arena);
	}
	for (uint32_t i = 0; i < kinds.n; i++) {
		hn_buf_fini(&kinds.came_out[i]);
	}
	return rc;
}
