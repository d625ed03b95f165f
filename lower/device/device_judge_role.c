/* lower/device/device_judge_role.c -- whether a kernel's roles wait for each other as they have to.
 *
 * Their words depend on no block and no number in memory (device_role.c).  So one block shows what all
 * do, and what is found does not depend on the order in which warpgroups run
 * (device_interp_role.c).  A few orders are gone through all the same.
 */
#include "lower/device/device_interp_role.h"
#include "lower/device/device_verify.h"

#define MOST_WORDS (INT64_C(1) << 24)
#define ORDERS 3

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

static int judge(struct run *r, struct hn_err *err)
{
	struct hn_compile c = { .n_axis = r->k->n_slot,
				.n_frame = r->k->n_slot,
				.load = none,
				.a = &r->arena };

	r->n_thread = r->k->block[0] * r->k->block[1] * r->k->block[2];
	r->fences = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	r->fenced = HN_NEW_ARRAY(&r->arena, int64_t, (size_t)r->n_thread);
	hn_interp_make_roles(r);
	const struct op *body = hn_interp_compile_node(&c, r->k->body);
	uint32_t n = 0;

	make_frames(r, c.n_frame);
	while (body->child[n]->n->kind != HN_DEVICE_ROLE) {
		hn_interp_block(r, body->child[n++]);
	}
	hn_interp_roles(r, &body->child[n], body->n->n_child - n, true);
	if (r->fault[0] != '\0') {
		return hn_fail(err, HONE_E_INVALID, "%s", r->fault);
	}
	return r->fuel < 0 ? hn_fail(err, HONE_E_QUOTA,
				     "kernel %s: too long to see whether its roles wait for each other",
				     r->k->name)
			   : 0;
}

int hn_role_judge(const struct hn_device *d, const struct hn_device_kernel *k, struct hn_err *err)
{
	int rc = 0;

	for (uint32_t order = 0; order < ORDERS && rc == 0; order++) {
		struct run r = { .d = d, .k = k, .fuel = MOST_WORDS, .order = order };

		hn_arena_init(&r.arena, 0);
		rc = judge(&r, err);
		hn_arena_fini(&r.arena);
	}
	return rc;
}
