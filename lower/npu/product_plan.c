/* lower/npu/product_plan.c -- tiles for a product, by a closed form of its time.
 *
 * All ways to split the result over cores, and a core's part into tiles of L0C, that divide the sizes
 * are compared.  Terms follow: as many at a time as L0A and L0B hold, and L1.  A core's time is that
 * of its slowest pipe, what passes before the cube begins, and what passes after its last sum.
 */
#include "base/arith.h"
#include "lower/npu/npu.h"

#define HALF 2
#define SUM 4
#define MOST_TERMS 512 /* in L1: longer bursts gain nothing */

/* The greatest multiple of `step` that divides n and is at most `most`; step does divide n. */
static int64_t divisor(int64_t n, int64_t step, int64_t most)
{
	int64_t best = step;

	for (int64_t d = step; d <= n && d <= most; d += step) {
		best = n % d == 0 ? d : best;
	}
	return best;
}

static int64_t lesser(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Terms at a time; the cube begins when the first of L1 are there, so there are eight or more. */
static void terms(const struct hn_npu_profile *m, struct hn_npu_product *p)
{
	int64_t l0 = lesser(m->l0a_bytes / (p->m0 * HALF * p->slots_l0),
			    m->l0b_bytes / (p->n0 * HALF * p->slots_l0));
	int64_t l1 = m->l1_bytes / ((p->m0 + p->n0) * HALF * p->slots_l1);

	p->k0 = divisor(p->k, 16, l0);
	p->k1 = divisor(p->k, p->k0, lesser(lesser(l1, MOST_TERMS), p->k / 8));
}

/* Cycles of a byte that is read so often: the first time from memory. */
static double byte(const struct hn_npu_profile *m, double times)
{
	return 1 / times / (double)m->gm_rate + (1 - 1 / times) / (double)m->l2_rate;
}

static double cycles(const struct hn_npu_profile *m, const struct hn_npu_product *p)
{
	double rows = (double)(p->m / p->cores_m), columns = (double)(p->n / p->cores_n), k = (double)p->k;
	double tiles = rows / (double)p->m0 * (columns / (double)p->n0);
	double first = (double)p->k1 * HALF * ((double)p->m0 * byte(m, columns / (double)p->n0 *
								    (double)p->cores_n) +
					       (double)p->n0 * byte(m, rows / (double)p->m0 *
								    (double)p->cores_m)) +
		       2 * (double)m->gm_latency;
	double load = tiles * k / (double)p->k1 *
		      (first + (double)m->gm_gap * (double)(p->m0 + p->k1));
	double fill = tiles * k / 16 * ((double)p->m0 / 16 * (double)m->l0a_cycles +
					(double)p->n0 / 16 * (double)m->l0b_cycles);
	double cube = rows / 16 * columns / 16 * k / 16 + tiles * k / (double)p->k0;
	double last = (double)(p->m0 * p->n0) * SUM / (double)m->gm_rate + (double)(p->m0 * p->n0 / 16);
	double most = load > cube ? load : cube;

	return (fill > most ? fill : most) + first + last;
}

struct plans { /* the best, the fastest first */
	uint32_t n, most;
	struct hn_npu_product *plan;
	double cycles[HN_NPU_MOST_PLANS];
};

static void keep(struct plans *b, const struct hn_npu_product *p, double t)
{
	uint32_t i = b->n < b->most ? b->n++ : b->most - 1;

	if (i == b->most - 1 && b->cycles[i] <= t && b->cycles[i] > 0) {
		return;
	}
	for (; i > 0 && b->cycles[i - 1] > t; i--) {
		b->cycles[i] = b->cycles[i - 1];
		b->plan[i] = b->plan[i - 1];
	}
	b->cycles[i] = t;
	b->plan[i] = *p;
}

static void tiles(const struct hn_npu_profile *m, const struct hn_npu_product *from, struct plans *best)
{
	struct hn_npu_product p = *from;
	int64_t rows = p.m / p.cores_m, columns = p.n / p.cores_n;

	for (p.m0 = 16; p.m0 <= rows; p.m0 += 16) {
		if (rows % p.m0 != 0 || p.m0 * 16 * HALF * p.slots_l0 > m->l0a_bytes) {
			continue;
		}
		for (p.n0 = 16; p.n0 <= columns && p.m0 * p.n0 * SUM <= m->l0c_bytes; p.n0 += 16) {
			if (columns % p.n0 != 0 || p.n0 * 16 * HALF * p.slots_l0 > m->l0b_bytes) {
				continue;
			}
			terms(m, &p);
			keep(best, &p, cycles(m, &p));
		}
	}
}

uint32_t hn_npu_product_plans(const struct hn_npu_profile *m, const struct hn_npu_product *p,
			      uint32_t most, struct hn_npu_product *ret)
{
	struct plans best = { .most = most, .plan = ret };
	struct hn_npu_product from = *p;

	from.slots_l1 = from.slots_l0 = 2;
	from.slots_l0c = 1;
	for (from.cores_m = 1; from.cores_m <= m->cores; from.cores_m++) {
		for (from.cores_n = 1; from.cores_m * from.cores_n <= m->cores; from.cores_n++) {
			if (p->m % (from.cores_m * 16) == 0 && p->n % (from.cores_n * 16) == 0 &&
			    p->k % 16 == 0) {
				tiles(m, &from, &best);
			}
		}
	}
	return best.n;
}

void hn_npu_product_plan(const struct hn_npu_profile *m, struct hn_npu_product *p)
{
	struct hn_npu_product best;

	if (hn_npu_product_plans(m, p, 1, &best) > 0) {
		*p = best;
	}
}
