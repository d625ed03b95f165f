/* lower/npu/product_time.c -- a closed form of a product's time, by which its plans are compared.
 *
 * A core's time is that of its slowest pipe, what passes before the cube begins, what passes after its
 * last sum, and what is done when all cores have met.
 */
#include "lower/npu/cube_plan.h"

/* Cycles of a byte that is read so often: the first time from memory. */
static double byte(const struct hn_npu_profile *m, double times)
{
	return 1 / times / (double)m->gm_rate + (1 - 1 / times) / (double)m->l2_rate;
}

struct transfer {
	double n, bursts, bytes;
};

static struct transfer of_view(const struct cube_split *s, const struct hn_npu_view *v, int64_t rows,
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

static double greater(double x, double y)
{
	return x > y ? x : y;
}

static double cycles_of(const struct cube_split *s, struct transfer t, double times)
{
	/* memory is asked before it has answered, so that it is waited for once: by all plans */
	return greater(t.n * (double)s->m->gm_interval, t.bytes * byte(s->m, times)) +
	       t.bursts * (double)s->m->gm_gap;
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

static struct transfer left(const struct cube_split *s, const struct cube *x)
{
	const struct hn_npu_window *w = s->t->window;
	int64_t m0 = cube_least(x->p->m0, s->rows), k1 = cube_least(x->p->k1, s->terms);
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

static struct transfer right(const struct cube_split *s, const struct hn_npu_product *p)
{
	const struct hn_npu_window *w = s->t->window;
	int64_t n0 = cube_least(p->n0, s->columns), k1 = cube_least(p->k1, s->terms);
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

double cube_cycles(const struct cube_split *s, const struct hn_npu_product *p)
{
	const struct hn_npu_profile *m = s->m;
	struct cube x = { .p = p, .m = m, .t = s->t };
	double tiles_m = (double)hn_ceildiv(s->rows, p->m0), tiles_n = (double)hn_ceildiv(s->columns, p->n0);
	double tiles = (double)s->batches * tiles_m * tiles_n, steps = (double)hn_ceildiv(s->terms, p->k1);
	double m1 = (double)hn_ceildiv(s->rows, 16), n1 = (double)hn_ceildiv(s->columns, 16);
	double k1 = (double)hn_ceildiv(s->terms, s->c0), all = (double)s->batches;
	double of_a = cycles_of(s, left(s, &x), tiles_n * (double)p->cores_n);
	double of_b = cycles_of(s, right(s, p), tiles_m * (double)p->cores_m *
				(has_batch(&s->t->b) ? 1 : (double)(s->batches * cube_cores_b(p))));
	double load = of_a * (steps > 1 ? tiles * steps : all * tiles_m) +
		      of_b * (steps > 1 || tiles_n > 1 ? tiles * steps : has_batch(&s->t->b) ? all : 1);
	double fill = all * k1 * (m1 * tiles_n * (double)m->l0a_cycles + n1 * tiles_m * (double)m->l0b_cycles);
	double cube = all * m1 * n1 * k1 + tiles * (double)hn_ceildiv(s->terms, p->k0);
	double given = 2 * tiles * (double)hn_ceildiv(s->terms, p->k0) *
		       (8 + greater(1, (double)cube_least(p->k0 / s->c0, p->m0 / 16)) +
			(double)cube_least(p->k0 / s->c0, p->n0 / 16));
	double drain = 4 * all * m1 * n1, operations = s->sums ? 0 : s->operations;
	double stored = s->sums ? 256 * CUBE_SUM : s->stored, bursts = s->sums ? 0 : s->bursts;
	double vector = drain * (1 + operations) + (s->sums ? 0 : all * m1 * n1 * stored / 256);
	double tile = (double)(hn_ceildiv(cube_least(p->m0, s->rows), 16) * hn_ceildiv(cube_least(p->n0, s->columns), 16));
	double of_a_fractal = stored / (double)m->gm_rate + 16 * bursts;
	double store = all * m1 * n1 * of_a_fractal, most;

	cube += p->slots_l0c == 1 ? drain : 0;
	most = greater(greater(load, cube), greater(greater(fill, given), greater(vector, store)));
	/* pipes wait for each other now and then: of two plans the one that asks less of all is taken */
	return most + (load + cube + fill + given + vector + store) / 16 + of_a + of_b + s->met +
	       tile * (4 * (1 + operations) + of_a_fractal);
}

/* Each line of an edge is a burst of 32 or 64 bytes, in and out. */
static double edges_of(const struct cube_split *s, const struct cube *x)
{
	const struct hn_npu_profile *m = s->m;
	double all = (double)m->meeting;

	for (uint32_t i = 0; i < s->t->n_store && x->edges; i++) {
		double lines = (double)(s->t->store[i].view.turned ? x->columns : x->rows);

		all += x->edge[i] ? (double)s->batches * 2 * ((double)m->gm_latency + lines * (double)(2 + m->gm_gap)) : 0;
	}
	return x->edges ? all : 0;
}

static double second_of(const struct cube *x)
{
	struct hn_npu_product p;
	struct cube y;
	double cycles = cube_second(x, &y, &p);

	return cycles < 0 ? cycles : cycles + (double)x->m->meeting;
}

bool cube_is_split(struct cube_split *s, const struct hn_npu_product *p)
{
	struct cube x = { .p = p, .m = s->m, .t = s->t };

	if (!cube_share(&x)) {
		return false;
	}
	s->batches = x.batches;
	s->rows = cube_least(x.rows, s->t->m);
	s->columns = cube_least(x.columns, s->t->n);
	s->terms = cube_least(x.terms, s->t->k);
	s->sums = x.n_sums > 1;
	s->met = s->sums ? second_of(&x) : edges_of(s, &x);
	return s->met >= 0;
}

/* What is done for each of the sums, whatever the tiles. */
void cube_measure(struct cube_split *s)
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
