/* graph/plan/plan.c -- the best of several ways to share and to place: plan.h. */
#include "graph/plan/plan.h"

#include <string.h>

#include "graph/plan/plan_int.h"

/* Neighbours looked at, some tenths of a second; then what there is will do. */
#define WORK_MAX ((uint64_t)1 << 21)

struct contest {
	uint32_t n; /* tensors */
	struct plan_blocks blocks[PLAN_N_SHARING];
	uint64_t bound;		 /* the least of theirs */
	uint64_t peak;		 /* of the best so far */
	uint32_t sharing, order; /* the best's */
	uint64_t *offset;	 /* of the best's blocks */
	uint64_t work;
};

static int share(const struct hn_plan_tensor *tensor, uint32_t n, struct hn_arena *a,
		 struct contest *c, struct hn_err *err)
{
	for (uint32_t k = 0; k < PLAN_N_SHARING; k++) {
		struct plan_blocks *b = &c->blocks[k];
		int rc = plan_alias(tensor, n, k, a, b, err);

		if (rc != 0) {
			return rc;
		}
		plan_busy(b, a);
		c->bound = b->bound_bytes < c->bound ? b->bound_bytes : c->bound;
	}
	return 0;
}

/* Blocks that another way makes as well are not tried again. */
static bool is_new(const struct contest *c, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++) {
		if (memcmp(c->blocks[i].in_place, c->blocks[k].in_place,
			   c->n * sizeof(bool)) == 0) {
			return false;
		}
	}
	return true;
}

static void pack(struct contest *c, uint32_t sharing, uint32_t order, struct hn_arena *a)
{
	const struct plan_blocks *b = &c->blocks[sharing];
	uint64_t *offset = HN_NEW_ARRAY(a, uint64_t, b->n);
	uint64_t peak = plan_pack(b, order, a, offset, &c->work);

	if (c->offset == NULL || peak < c->peak) {
		c->peak = peak;
		c->sharing = sharing;
		c->order = order;
		c->offset = offset;
	}
}

static void race(struct contest *c, struct hn_arena *a)
{
	for (uint32_t order = 0; order < plan_n_order(); order++) {
		for (uint32_t k = 0; k < PLAN_N_SHARING; k++) {
			bool done =
				c->offset && (c->peak == c->bound || c->work > WORK_MAX);

			if (!done && is_new(c, k) &&
			    (c->offset == NULL || c->blocks[k].bound_bytes < c->peak)) {
				pack(c, k, order, a);
			}
		}
	}
}

static void read_off(const struct contest *c, struct hn_arena *a, struct hn_plan *ret)
{
	const struct plan_blocks *b = &c->blocks[c->sharing];

	*ret = (struct hn_plan){ .offset = HN_NEW_ARRAY(a, uint64_t, c->n),
				 .in_place = HN_NEW_ARRAY(a, bool, c->n),
				 .peak_bytes = c->peak,
				 .bound_bytes = c->bound,
				 .order = plan_order_name(c->order) };
	for (uint32_t i = 0; i < c->n; i++) {
		ret->offset[i] = c->offset[b->of[i]] + b->at[i];
		ret->in_place[i] = b->in_place[i];
	}
}

int hn_plan_make(const struct hn_plan_tensor *tensor, uint32_t n, struct hn_arena *a,
		 struct hn_plan *ret, struct hn_err *err)
{
	struct contest c = { .n = n, .bound = UINT64_MAX };
	struct hn_arena scratch;
	int rc;

	if (n > HN_PLAN_MAX_TENSORS) {
		return hn_fail(err, HONE_E_QUOTA,
			       "%u tensors: a plan is made for %u at most", n,
			       HN_PLAN_MAX_TENSORS);
	}
	hn_arena_init(&scratch, 0);
	rc = share(tensor, n, &scratch, &c, err);
	if (rc == 0) {
		race(&c, &scratch);
		read_off(&c, a, ret);
	}
	hn_arena_fini(&scratch);
	return rc;
}
