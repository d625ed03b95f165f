/* lower/npu/product_plan.c -- tiles for a product, by a closed form of its time (product_time.c).
 *
 * Ways to split the result, and its terms, over cores, and a core's part into tiles of L0C of about the
 * same size, are compared.  Terms follow: as many at a time as L0A and L0B hold, and L1.  Plans
 * that product_fit.c refuses are not in the list.
 */
#include "lower/npu/cube_plan.h"

#define FEW 4	   /* fractals: smaller tiles are of what is smaller itself */
#define HALVINGS 5 /* of the terms that are in L1 */

struct plans { /* the best, the fastest first */
	uint32_t n, most;
	struct hn_npu_product *plan;
	double cycles[HN_NPU_MOST_PLANS];
};

struct search {
	struct cube_split split;
	struct plans best;
};

/* -- the list --------------------------------------------------------------------------- */

/* Plans that do not fit are left out; it is asked of those alone that are fast enough. */
static void keep(struct search *s, const struct hn_npu_product *p)
{
	struct cube x = { .p = p, .m = s->split.m, .t = s->split.t };
	struct plans *b = &s->best;
	double t = cube_cycles(&s->split, p);
	uint32_t i;

	if ((b->n == b->most && b->cycles[b->n - 1] <= t) || cube_fit(&x) != NULL) {
		return;
	}
	i = b->n < b->most ? b->n++ : b->most - 1;
	for (; i > 0 && b->cycles[i - 1] > t; i--) {
		b->cycles[i] = b->cycles[i - 1];
		b->plan[i] = b->plan[i - 1];
	}
	b->cycles[i] = t;
	b->plan[i] = *p;
}

/* n in parts of about the same size, multiples of `step`, at most `most`. */
static int64_t even(int64_t n, int64_t step, int64_t most)
{
	int64_t parts = hn_ceildiv(n, most);

	return cube_up(hn_ceildiv(n, parts), step);
}

/* Terms at a time: fewer in L1 are transfers more, and the cube begins sooner. */
static void terms(struct search *s, struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->split.m;
	int64_t l0 = cube_least(m->l0a_bytes / (p->m0 * s->split.size * p->slots_l0),
				m->l0b_bytes / (p->n0 * s->split.size * p->slots_l0)) / s->split.c0 * s->split.c0;
	int64_t high = p->m0 + (s->split.t->a.split > 0 ? 16 : 0);
	int64_t l1 = m->l1_bytes / ((high + p->n0) * s->split.size * p->slots_l1), all = cube_up(s->split.terms, s->split.c0), before = 0;

	l0 = cube_least(cube_least(l0, 4064), l1 / s->split.c0 * s->split.c0);
	if (l0 < s->split.c0) {
		return;
	}
	p->k0 = even(all, s->split.c0, l0);
	l1 = cube_least(l1, all);
	for (int i = 0; i < HALVINGS; i++) {
		int64_t most = l1 >> i;

		p->k1 = even(all, p->k0, most < p->k0 ? p->k0 : most / p->k0 * p->k0);
		if (p->k1 != before) {
			keep(s, p);
		}
		before = p->k1;
	}
}

/* The same of windows: whole blocks of channels. */
static void windows(struct search *s, struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->split.m;
	struct cube x = { .p = p, .m = m, .t = s->split.t };
	int64_t l0 = cube_least(m->l0a_bytes / (p->m0 * s->split.size * p->slots_l0),
				m->l0b_bytes / (p->n0 * s->split.size * p->slots_l0)) / s->split.c0 * s->split.c0;
	int64_t image = (cube_image_rows(&x) + cube_zero_rows(s->split.t)) * s->split.t->window->width * 32;
	int64_t room = m->l1_bytes / p->slots_l1 - 2 * CUBE_FRACTAL, all = s->split.terms / s->split.unit;
	int64_t most = cube_least(all, room / (image + s->split.unit * p->n0 * s->split.size)), before = 0;

	for (int i = 0; i < HALVINGS && most >> i > 0 && l0 >= s->split.c0; i++) {
		p->k1 = even(all, 1, most >> i) * s->split.unit;
		p->k0 = even(p->k1, s->split.c0, cube_least(l0, 4064));
		if (p->k1 != before) {
			keep(s, p);
		}
		before = p->k1;
	}
}

/* Sizes of tiles of n fractals, from the largest: false behind the last. */
static bool next_tile(int64_t n, int64_t most, int64_t *tile)
{
	int64_t parts;

	most = cube_least(most, n);
	if (*tile == 0) {
		*tile = most < 1 ? 0 : hn_ceildiv(n, hn_ceildiv(n, most));
		return *tile > 0;
	}
	if (*tile <= cube_least(FEW, most)) {
		return false;
	}
	parts = hn_ceildiv(n, *tile - 1);
	*tile = hn_ceildiv(n, parts);
	return true;
}

static void tiles(struct search *s, struct hn_npu_product p)
{
	int64_t most_m = s->split.m->l0a_bytes / (CUBE_FRACTAL * p.slots_l0);
	int64_t most_n = s->split.m->l0b_bytes / (CUBE_FRACTAL * p.slots_l0);

	for (int64_t m1 = 0; next_tile(hn_ceildiv(s->split.rows, 16), most_m, &m1);) {
		int64_t most = cube_least(most_n, s->split.m->l0c_bytes / (m1 * 1024));

		for (int64_t n1 = 0; next_tile(hn_ceildiv(s->split.columns, 16), most, &n1);) {
			for (p.slots_l0c = 1; p.slots_l0c <= 2 && p.slots_l0c * m1 * n1 * 1024 <= s->split.m->l0c_bytes;
			     p.slots_l0c++) {
				p.m0 = m1 * 16;
				p.n0 = n1 * 16;
				if (s->split.t->window != NULL) {
					windows(s, &p);
				} else {
					terms(s, &p);
				}
			}
		}
	}
}

/* -- cores ------------------------------------------------------------------------------ */

/* So many that each has about the same, of n parts. */
static int64_t balanced(int64_t n, int64_t cores)
{
	return hn_ceildiv(n, hn_ceildiv(n, cube_least(n, cores)));
}

static bool is_split(struct search *s, const struct hn_npu_product *p)
{
	bool is = cube_is_split(&s->split, p);

	if (is) {
		tiles(s, *p);
	}
	return is;
}

static void split(struct search *s, struct hn_npu_product p)
{
	p.edges = false;
	if (!is_split(s, &p) || s->split.batches > hn_ceildiv(hn_npu_batches(s->split.t), p.cores_b)) {
		p.edges = true;
		(void)is_split(s, &p);
	}
}

/* Terms, too, where cores are left. */
static void split_terms(struct search *s, struct hn_npu_product p, int64_t left)
{
	int64_t all = hn_ceildiv(s->split.t->k, s->split.unit);

	p.cores_k = 1;
	split(s, p);
	p.edges = false;
	for (p.cores_k = balanced(all, left); p.cores_k > 1; p.cores_k = balanced(all, p.cores_k / 2)) {
		(void)is_split(s, &p);
	}
}

uint32_t hn_npu_product_plans(const struct hn_npu_profile *m, const struct hn_npu_product *p,
			      uint32_t most, struct hn_npu_product *ret)
{
	struct search s = { .split = { .m = m }, .best = { .most = most, .plan = ret } };
	struct cube_split *x = &s.split;
	struct hn_npu_product from = *p;
	int64_t all_m, all_n, all_b;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	x->t = p->task != NULL ? p->task : hn_npu_plain_task(p, &a);
	if (x->t->m < 1 || x->t->n < 1 || x->t->k < 1) {
		hn_arena_fini(&a);
		return 0;
	}
	x->c0 = hn_npu_c0(x->t);
	x->size = hn_dtype_bytes(x->t->dtype);
	x->unit = cube_unit(x->t);
	cube_measure(x);
	from.slots_l1 = from.slots_l0 = 2;
	all_m = hn_ceildiv(x->t->m, 16);
	all_n = hn_ceildiv(x->t->n, 16);
	all_b = hn_npu_batches(x->t);
	for (int64_t b = 1; b <= m->cores && b <= all_b; b++) {
		for (int64_t i = 1; b == balanced(all_b, b) && b * i <= m->cores && i <= all_m; i++) {
			if (i != balanced(all_m, i)) {
				continue;
			}
			/* fewer than there are cores for, too: the last part may be too short for an edge */
			for (int64_t n = balanced(all_n, m->cores / b / i); n > 0; n = n > 1 ? balanced(all_n, n - 1) : 0) {
				from.cores_b = b;
				from.cores_m = i;
				from.cores_n = n;
				split_terms(&s, from, m->cores / b / i / n);
			}
		}
	}
	hn_arena_fini(&a);
	return s.best.n;
}

void hn_npu_product_plan(const struct hn_npu_profile *m, struct hn_npu_product *p)
{
	struct hn_npu_product best;

	if (hn_npu_product_plans(m, p, 1, &best) > 0) {
		*p = best;
	}
}
