/* lower/npu/product_by.c -- a product's plan as a history says it (target/npu/npu_tiles.h).
 *
 * Axes of the dag are rows, columns, terms or batch of the task, so their tiles multiply up to the
 * plan's.  What does not fit is halved until it does: a mutation may make any length, and no candidate
 * is refused for it.
 */
#include "lower/npu/cube.h"

#define ROUNDS 100 /* of halving: a plan has some ten lengths of a few bits each */

struct lengths { /* of the axes of one role */
	int64_t tile, times, parts;
};

static struct lengths of_role(const struct hn_npu_task *t, const struct hn_npu_tiles *tiles,
			      enum hn_npu_role role)
{
	struct lengths n = { 1, 1, 1 };

	for (uint32_t i = 0; i < tiles->n_axis; i++) {
		const struct hn_npu_cut *c = &tiles->axis[i];

		if (t->role[i] == role && c->tile > 0) {
			n.tile = hn_mul_sat(n.tile, c->tile);
			n.times = hn_mul_sat(n.times, c->times);
			n.parts = hn_mul_sat(n.parts, c->parts > 0 ? c->parts : 1);
		}
	}
	return n;
}

/* A multiple of `step` for n points, no more than `all` need, nor than what is multiplied at once. */
static int64_t whole(int64_t n, int64_t step, int64_t all)
{
	int64_t most = cube_least(cube_up(all, step), 4080 / step * step);

	return n > most ? most : cube_up(n < 1 ? 1 : n, step);
}

static int64_t half(int64_t n, int64_t step)
{
	return n > step ? cube_up(n / 2, step) < n ? cube_up(n / 2, step) : n - step : n;
}

/* The next smaller plan: fewer terms in L1, then in L0, then smaller tiles, then fewer cores. */
static bool shrink(struct hn_npu_product *p, int64_t c0, int64_t of_k1)
{
	if (p->k1 > of_k1 && p->k1 > p->k0) {
		p->k1 = half(p->k1, of_k1);
	} else if (p->k0 > c0) {
		p->k0 = half(p->k0, c0);
	} else if (p->slots_l0c > 1) {
		p->slots_l0c = 1;
	} else if (p->m0 > 16 || p->n0 > 16) {
		*(p->m0 >= p->n0 ? &p->m0 : &p->n0) = half(p->m0 >= p->n0 ? p->m0 : p->n0, 16);
	} else if (p->cores_k > 1) {
		p->cores_k = 1;
	} else if (p->cores_n > 1) {
		p->cores_n /= 2;
	} else if (p->cores_m > 1) {
		p->cores_m /= 2;
	} else if (p->cores_b > 1) {
		p->cores_b /= 2;
	} else {
		return false;
	}
	return true;
}

void hn_npu_product_by(const struct hn_npu_profile *m, const struct hn_npu_tiles *tiles,
		       struct hn_npu_product *p)
{
	const struct hn_npu_task *t = p->task;
	struct lengths rows = of_role(t, tiles, HN_NPU_ROLE_ROW), columns = of_role(t, tiles, HN_NPU_ROLE_COLUMN);
	struct lengths terms = of_role(t, tiles, HN_NPU_ROLE_TERM);
	int64_t c0 = hn_npu_c0(t), of_k1 = cube_unit(t);
	struct hn_npu_product by = *p;

	by.m0 = whole(rows.tile, 16, t->m);
	by.n0 = whole(columns.tile, 16, t->n);
	by.k0 = whole(terms.tile, c0, t->k);
	by.k1 = cube_up(cube_least(hn_mul_sat(by.k0, terms.times), cube_up(t->k, of_k1)), of_k1);
	by.cores_m = cube_least(rows.parts, cube_least(hn_ceildiv(t->m, 16), m->cores));
	by.cores_n = cube_least(columns.parts, cube_least(hn_ceildiv(t->n, 16), m->cores / by.cores_m));
	by.cores_b = cube_least(hn_npu_batches(t), m->cores / (by.cores_m * by.cores_n));
	by.edges = true;
	by.cores_k = cube_least(cube_cores_k(p), m->cores / (by.cores_m * by.cores_n * by.cores_b));
	by.slots_l1 = by.slots_l0 = by.slots_l0c = tiles->slots;
	for (int i = 0; i < ROUNDS; i++) {
		struct cube x = { .p = &by, .m = m, .t = t };

		if (cube_fit(&x) == NULL) {
			*p = by;
			return;
		}
		if (!shrink(&by, c0, of_k1)) {
			return;
		}
	}
}
