/* lower/npu/product_plan.c -- tiles for a product, by a closed form of its time.
 *
 * Ways to split the result over cores, and a core's part into tiles of L0C of about the same size,
 * are compared.  Terms follow: as many at a time as L0A and L0B hold, and L1.  A core's time is that
 * of its slowest pipe, what passes before the cube begins, and what passes after its last sum.  Plans
 * that product_fit.c refuses are not in the list.
 */
#include "lower/npu/cube.h"

#define MOST_BYTES 1024 /* of a row's terms in L1: longer bursts gain nothing */
#define FEW 4		/* fractals: smaller tiles are of what is smaller itself */
#define HALVINGS 4	/* of the terms of a convolution that are in L1 */

struct plans { /* the best, the fastest first */
	uint32_t n, most;
	struct hn_npu_product *plan;
	double cycles[HN_NPU_MOST_PLANS];
};

struct search {
	const struct hn_npu_profile *m;
	const struct hn_npu_task *t;
	struct plans best;
	int64_t c0, size, unit; /* unit: terms that are in L1 together */
	int64_t rows, columns, batches; /* of a core */
	double operations; /* behind the sums, of each number */
	double stored;	   /* bytes of a fractal, of all that is stored, or loaded there, number by number */
	double bursts;	   /* of one of its rows; rows of several fractals are one */
};

/* -- time ------------------------------------------------------------------------------- */

/* Cycles of a byte that is read so often: the first time from memory. */
static double byte(const struct hn_npu_profile *m, double times)
{
	return 1 / times / (double)m->gm_rate + (1 - 1 / times) / (double)m->l2_rate;
}

struct transfer {
	double n, bursts, bytes;
};

static struct transfer of_view(const struct search *s, const struct hn_npu_view *v, int64_t rows,
			       int64_t columns)
{
	double blocks = (double)hn_ceildiv(columns, s->c0);
	struct transfer r = { 1, (double)rows, (double)(rows * columns * s->size) };

	if (v->row == s->c0 && v->block != s->c0) {
		r.bursts = blocks;
	} else if (v->block != s->c0) {
		r.n = blocks;
		r.bursts = blocks * (double)rows;
	}
	return r;
}

static double cycles_of(const struct search *s, struct transfer t, double times)
{
	return t.n * (double)s->m->gm_latency + t.bursts * (double)s->m->gm_gap + t.bytes * byte(s->m, times);
}

/* Sixteen rows at a time, by way of the unified buffer: as long again as their loading. */
static struct transfer staged(int64_t points, int64_t blocks)
{
	double n = (double)blocks * (1 + (double)points / 256);

	return (struct transfer){ 2 * n, 16 * n, (double)(points * blocks * 32) };
}

/* 32 columns of 128 terms at a time. */
static struct transfer staged_bytes(int64_t columns, int64_t terms)
{
	double n = (double)hn_ceildiv(columns, 32) * (double)hn_ceildiv(terms, 128);

	return (struct transfer){ 2 * n, 256 * n, (double)(columns * terms) };
}

static struct transfer left(const struct search *s, const struct cube *x)
{
	const struct hn_npu_window *w = s->t->window;
	int64_t m0 = cube_least(x->p->m0, s->rows), k1 = cube_least(x->p->k1, s->t->k);
	struct transfer r;

	if (cube_turns_a(s->t)) {
		return staged_bytes(m0, k1);
	}
	if (w != NULL && s->t->a.turned) {
		return staged(cube_image_rows(x) * w->width, x->p->k1 / s->unit);
	}
	if (w != NULL) {
		r = of_view(s, &s->t->a, cube_image_rows(x) * w->width, x->p->k1 / s->unit * s->c0);
		if (r.n == 1 && w->width % 16 != 0 && cube_zero_rows(s->t) == 0) { /* block by block */
			r.n = (double)(x->p->k1 / s->unit);
			r.bursts *= r.n;
		}
		return r;
	}
	r = s->t->a.turned ? of_view(s, &s->t->a, k1, m0) : of_view(s, &s->t->a, m0, k1);
	if (s->t->a.split > 0) {
		r.n *= 1 + (double)m0 / (double)s->t->a.split;
	}
	return r;
}

static struct transfer right(const struct search *s, const struct hn_npu_product *p)
{
	const struct hn_npu_window *w = s->t->window;
	int64_t n0 = cube_least(p->n0, s->columns), k1 = cube_least(p->k1, s->t->k);
	int64_t points = w == NULL || w->merged || cube_weights_at_once(s->t, k1) ? 1 : w->kh * w->kw;
	struct transfer r;

	if (cube_turns_b(s->t)) {
		return staged_bytes(n0, k1);
	}
	if (w != NULL && w->staged) {
		return staged(k1 / s->c0 * 16, hn_ceildiv(n0, 16));
	}
	r = s->t->b.turned ? of_view(s, &s->t->b, n0, k1 / points) : of_view(s, &s->t->b, k1 / points, n0);
	r.n *= (double)points;
	r.bursts *= (double)points;
	r.bytes *= (double)points;
	return r;
}

static bool has_batch(const struct hn_npu_view *v)
{
	for (int d = 0; d < HN_NPU_BATCH; d++) {
		if (v->batch[d] != 0) {
			return true;
		}
	}
	return false;
}

static double greater(double x, double y)
{
	return x > y ? x : y;
}

static double cycles(const struct search *s, const struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->m;
	struct cube x = { .p = p, .m = m, .t = s->t };
	double tiles_m = (double)hn_ceildiv(s->rows, p->m0), tiles_n = (double)hn_ceildiv(s->columns, p->n0);
	double tiles = (double)s->batches * tiles_m * tiles_n, steps = (double)hn_ceildiv(s->t->k, p->k1);
	double m1 = (double)hn_ceildiv(s->rows, 16), n1 = (double)hn_ceildiv(s->columns, 16);
	double k1 = (double)hn_ceildiv(s->t->k, s->c0), all = (double)s->batches;
	double of_a = cycles_of(s, left(s, &x), tiles_n * (double)p->cores_n);
	double of_b = cycles_of(s, right(s, p), tiles_m * (double)p->cores_m *
				(has_batch(&s->t->b) ? 1 : (double)(s->batches * cube_cores_b(p))));
	double load = of_a * (steps > 1 ? tiles * steps : all * tiles_m) +
		      of_b * (steps > 1 || tiles_n > 1 ? tiles * steps : has_batch(&s->t->b) ? all : 1);
	double fill = all * k1 * (m1 * tiles_n * (double)m->l0a_cycles + n1 * tiles_m * (double)m->l0b_cycles);
	double cube = all * m1 * n1 * k1 + tiles * (double)hn_ceildiv(s->t->k, p->k0);
	double given = 2 * tiles * (double)hn_ceildiv(s->t->k, p->k0) *
		       (8 + greater(1, (double)cube_least(p->k0 / s->c0, p->m0 / 16)) +
			(double)cube_least(p->k0 / s->c0, p->n0 / 16));
	double drain = 4 * all * m1 * n1, vector = drain * (1 + s->operations) + all * m1 * n1 * s->stored / 256;
	double tile = (double)(hn_ceildiv(cube_least(p->m0, s->rows), 16) * hn_ceildiv(cube_least(p->n0, s->columns), 16));
	double of_a_fractal = s->stored / (double)m->gm_rate + 16 * s->bursts;
	double store = all * m1 * n1 * of_a_fractal, most;

	cube += p->slots_l0c == 1 ? drain : 0;
	most = greater(greater(load, cube), greater(greater(fill, given), greater(vector, store)));
	/* pipes wait for each other now and then: of two plans the one that asks less of all is taken */
	return most + (load + cube + fill + given + vector + store) / 16 + of_a + of_b +
	       tile * (4 * (1 + s->operations) + of_a_fractal);
}

/* -- the list --------------------------------------------------------------------------- */

/* Plans that do not fit are left out; it is asked of those alone that are fast enough. */
static void keep(struct search *s, const struct hn_npu_product *p)
{
	struct cube x = { .p = p, .m = s->m, .t = s->t };
	struct plans *b = &s->best;
	double t = cycles(s, p);
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

/* Terms at a time; the cube begins when the first of L1 are there, so there are eight or more. */
static void terms(struct search *s, struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->m;
	int64_t l0 = cube_least(m->l0a_bytes / (p->m0 * s->size * p->slots_l0),
				m->l0b_bytes / (p->n0 * s->size * p->slots_l0)) / s->c0 * s->c0;
	int64_t high = p->m0 + (s->t->a.split > 0 ? 16 : 0);
	int64_t l1 = m->l1_bytes / ((high + p->n0) * s->size * p->slots_l1), all = cube_up(s->t->k, s->c0);

	l0 = cube_least(cube_least(l0, 4064), l1 / s->c0 * s->c0);
	if (l0 < s->c0) {
		return;
	}
	p->k0 = even(all, s->c0, l0);
	l1 = cube_least(l1, cube_least(MOST_BYTES / s->size, all / 8));
	p->k1 = even(all, p->k0, l1 < p->k0 ? p->k0 : l1 / p->k0 * p->k0);
	keep(s, p);
}

/* The same of windows: whole blocks of channels. */
static void windows(struct search *s, struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->m;
	struct cube x = { .p = p, .m = m, .t = s->t };
	int64_t l0 = cube_least(m->l0a_bytes / (p->m0 * s->size * p->slots_l0),
				m->l0b_bytes / (p->n0 * s->size * p->slots_l0)) / s->c0 * s->c0;
	int64_t image = (cube_image_rows(&x) + cube_zero_rows(s->t)) * s->t->window->width * 32;
	int64_t room = m->l1_bytes / p->slots_l1 - 2 * CUBE_FRACTAL, all = s->t->k / s->unit;
	int64_t most = cube_least(all, room / (image + s->unit * p->n0 * s->size)), before = 0;

	for (int i = 0; i < HALVINGS && most >> i > 0 && l0 >= s->c0; i++) {
		p->k1 = even(all, 1, most >> i) * s->unit;
		p->k0 = even(p->k1, s->c0, cube_least(l0, 4064));
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
	int64_t most_m = s->m->l0a_bytes / (CUBE_FRACTAL * p.slots_l0);
	int64_t most_n = s->m->l0b_bytes / (CUBE_FRACTAL * p.slots_l0);

	for (int64_t m1 = 0; next_tile(hn_ceildiv(s->rows, 16), most_m, &m1);) {
		int64_t most = cube_least(most_n, s->m->l0c_bytes / (m1 * 1024));

		for (int64_t n1 = 0; next_tile(hn_ceildiv(s->columns, 16), most, &n1);) {
			for (p.slots_l0c = 1; p.slots_l0c <= 2 && p.slots_l0c * m1 * n1 * 1024 <= s->m->l0c_bytes;
			     p.slots_l0c++) {
				p.m0 = m1 * 16;
				p.n0 = n1 * 16;
				if (s->t->window != NULL) {
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

static void split(struct search *s, const struct hn_npu_product *from, int64_t b, int64_t m, int64_t n)
{
	struct hn_npu_product p = *from;

	p.cores_b = b;
	p.cores_m = m;
	p.cores_n = n;
	s->batches = hn_ceildiv(hn_npu_batches(s->t), b);
	s->rows = cube_least(hn_ceildiv(hn_ceildiv(s->t->m, 16), m) * 16, s->t->m);
	s->columns = cube_least(hn_ceildiv(hn_ceildiv(s->t->n, 16), n) * 16, s->t->n);
	tiles(s, p);
}

/* What is done for each of the sums, whatever the tiles. */
static void measure(struct search *s)
{
	s->operations = s->t->n_value - 1;
	for (uint32_t i = 0; i < s->t->n_value + s->t->n_store; i++) {
		bool stored = i >= s->t->n_value;
		const struct hn_npu_value *v = &s->t->value[stored ? (uint32_t)s->t->store[i - s->t->n_value].value : i];
		const struct hn_npu_view *w = stored ? &s->t->store[i - s->t->n_value].view : &v->view;

		if (stored || (v->loaded && v->shape == HN_NPU_FULL)) {
			s->stored += 256 * (double)hn_dtype_bytes(v->dtype);
			s->operations += w->turned ? 4 : 0;
			s->bursts += w->block == 16 || w->turned ? 0.25 : w->row == 16 ? 0.1 : 1;
		}
	}
}

uint32_t hn_npu_product_plans(const struct hn_npu_profile *m, const struct hn_npu_product *p,
			      uint32_t most, struct hn_npu_product *ret)
{
	struct search s = { .m = m, .t = p->task, .best = { .most = most, .plan = ret } };
	struct hn_npu_product from = *p;
	int64_t all_m, all_n, all_b;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	s.t = p->task != NULL ? p->task : hn_npu_plain_task(p, &a);
	if (s.t->m < 1 || s.t->n < 1 || s.t->k < 1) {
		hn_arena_fini(&a);
		return 0;
	}
	s.c0 = hn_npu_c0(s.t);
	s.size = hn_dtype_bytes(s.t->dtype);
	s.unit = s.t->window == NULL ? s.c0 : s.t->window->kh * s.t->window->kw * s.c0;
	measure(&s);
	from.slots_l1 = from.slots_l0 = 2;
	all_m = hn_ceildiv(s.t->m, 16);
	all_n = hn_ceildiv(s.t->n, 16);
	all_b = hn_npu_batches(s.t);
	for (int64_t b = 1; b <= m->cores && b <= all_b; b++) {
		for (int64_t i = 1; b == balanced(all_b, b) && b * i <= m->cores && i <= all_m; i++) {
			int64_t n = balanced(all_n, m->cores / b / i);

			if (i != balanced(all_m, i)) {
				continue;
			}
			split(&s, &from, b, i, n);
			if (n > 1) { /* rows whose ends two cores would share cannot be cut */
				split(&s, &from, b, i, 1);
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
