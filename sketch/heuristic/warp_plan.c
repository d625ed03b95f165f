/* sketch/heuristic/warp_plan.c -- which tiles a product has on tensor cores.
 *
 * A few shapes are tried, and their time told by a closed form.  In each step a block multiplies
 * what it has in shared memory: that takes what is longest of the multiplications, the bytes that
 * its warps load from shared memory, and the bytes that come from the second cache, and a part of
 * the others.  Blocks come in waves.  A warp's tile of 64 x 64 has four multiplications for each load of fragments.
 *
 * Sources: DeepSeek, "DeepGEMM", its choice of tiles (waves, bytes of both caches); NVIDIA,
 * "CUTLASS", efficient_gemm.md.
 */
#include "sketch/heuristic/warp_int.h"

#include "base/arith.h"

#define WARP 32
#define CORE_REGISTERS 65536
#define CORE_SHARED 167936 /* bytes of a multiprocessor, for all its blocks */
#define MOST_REGISTERS 255
#define OTHER_REGISTERS 40	/* addresses and counters */
#define PRODUCTS 1024.0		/* of 2 bytes each, a cycle, of a multiprocessor */
#define SHARED_BYTES 128.0	/* a cycle */
#define CACHE_BYTES 48.0	/* a cycle, from the second cache to a multiprocessor */
#define START_CYCLES 1500.0	/* of a block: its first tiles come, its results go */
#define STEP_CYCLES 60.0	/* of a step: barrier, addresses */
#define HIDDEN 1.5		/* warps that wait at any time */
#define STORE_BYTES 16.0	/* a cycle, of results */
#define APART 0.25		/* of what is shorter is not done at the same time */

static const struct hn_warp_shape shapes[] = {
#define SHAPE(r, c, k, wr, wc, n) { r, c, k, wr, wc, n, .open = false }
	SHAPE(128, 256, 64, 64, 64, 3), SHAPE(128, 256, 32, 64, 64, 4),
	SHAPE(128, 256, 32, 64, 64, 3), SHAPE(256, 128, 64, 64, 64, 3),
	SHAPE(256, 128, 32, 64, 64, 4), SHAPE(256, 128, 32, 64, 64, 3),
	SHAPE(128, 128, 64, 64, 64, 3), SHAPE(128, 128, 32, 64, 64, 4),
	SHAPE(128, 128, 32, 64, 64, 3), SHAPE(128, 128, 64, 64, 32, 3),
	SHAPE(128, 128, 32, 64, 32, 4), SHAPE(128, 128, 32, 64, 64, 2),
	SHAPE(128, 64, 64, 64, 32, 4), SHAPE(128, 64, 32, 32, 64, 4),
	SHAPE(64, 128, 64, 32, 64, 4), SHAPE(64, 128, 32, 64, 32, 4), SHAPE(64, 64, 64, 32, 32, 4),
	SHAPE(64, 64, 32, 32, 32, 4), SHAPE(32, 128, 64, 32, 32, 4), SHAPE(128, 32, 64, 32, 32, 4),
	SHAPE(32, 64, 64, 32, 16, 4), SHAPE(64, 32, 64, 16, 32, 4), SHAPE(32, 32, 64, 16, 16, 4),
	SHAPE(16, 64, 64, 16, 16, 4), SHAPE(16, 32, 32, 16, 8, 4), SHAPE(128, 128, 16, 64, 64, 4),
	SHAPE(128, 128, 16, 64, 32, 4), SHAPE(128, 64, 16, 64, 32, 4),
	SHAPE(256, 64, 16, 64, 32, 3), SHAPE(64, 64, 16, 32, 32, 4),
#undef SHAPE
};

static int64_t bytes_of(const struct hn_warp_product *p)
{
	return hn_dtype_bytes(p->in->left);
}

static int64_t warps(const struct hn_warp_shape *s)
{
	return s->rows / s->warp_rows * (s->columns / s->warp_columns);
}

/* Of a factor that is cut in parts: as it is, big, small. */
static int64_t parts(const struct hn_warp_product *p)
{
	return p->in->asks != NULL ? 3 : 1;
}

static int64_t registers(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	int64_t factors = s->warp_rows / 16 * 4 + s->warp_columns / 8 * 2;

	return s->warp_rows * s->warp_columns / WARP + factors * parts(p) + OTHER_REGISTERS;
}

static int64_t shared(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	return (s->rows + s->columns) * s->terms * bytes_of(p) * s->stages;
}

/* Tiles of it are not much larger than it is. */
static bool fills(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	const int64_t *n = p->v->extent;

	return s->rows < n[p->rows] + 16 && s->columns < n[p->columns] + 16 &&
	       s->terms < n[p->terms] + hn_intrin_terms(p->in) &&
	       s->terms % hn_intrin_terms(p->in) == 0;
}

static bool fits(const struct hn_target *t, const struct hn_warp_product *p,
		 const struct hn_warp_shape *s)
{
	return fills(p, s) && shared(p, s) <= t->param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] &&
	       warps(s) * WARP <= t->param[HN_PARAM_MAX_THREADS_PER_BLOCK] &&
	       registers(p, s) <= MOST_REGISTERS &&
	       registers(p, s) * warps(s) * WARP <= CORE_REGISTERS;
}

static double together_in(double x, double y, double z)
{
	double m = x > y ? x : y;

	m = m > z ? m : z;
	return m + APART * (x + y + z - m);
}

/* Cycles of the whole product. */
static double cycles(const struct hn_target *t, const struct hn_warp_product *p,
		     const struct hn_warp_shape *s)
{
	const int64_t *n = p->v->extent;
	int64_t cores = t->param[HN_PARAM_NUM_CORES] > 0 ? t->param[HN_PARAM_NUM_CORES] : 1;
	int64_t blocks = hn_mul_sat(hn_ceildiv(n[p->rows], s->rows) *
					    hn_ceildiv(n[p->columns], s->columns),
				    p->batch);
	int64_t steps = hn_ceildiv(n[p->terms], s->terms);
	int64_t by_registers = CORE_REGISTERS / (registers(p, s) * warps(s) * WARP);
	int64_t by_shared = CORE_SHARED / shared(p, s);
	int64_t at_once = by_registers < by_shared ? by_registers : by_shared;

	at_once = at_once > 1 ? at_once : 1;
	int64_t rounds = hn_ceildiv(blocks, cores * at_once);
	/* the last round may leave places free */
	int64_t together = rounds > 1 ? at_once : hn_ceildiv(blocks, cores);
	double width = (double)(bytes_of(p) * parts(p)) / 2;
	double work = (double)(s->rows * s->columns * s->terms) * width / PRODUCTS;
	double loaded = (double)(warps(s) * (s->warp_rows + s->warp_columns) * s->terms *
				 bytes_of(p));
	double fetched = (double)((s->rows + s->columns) * s->terms * bytes_of(p));
	double step = together_in(work, (loaded + fetched) / SHARED_BYTES, fetched / CACHE_BYTES);
	double busy = (double)(warps(s) * together);
	double results = (double)(s->rows * s->columns * 4) / STORE_BYTES;
	double one = step * (busy + HIDDEN) / busy + STEP_CYCLES / (double)together;

	return (double)rounds * (double)together *
	       ((double)steps * one + (START_CYCLES + results) / (double)together);
}

uint32_t hn_warp_shapes(const struct hn_target *t, const struct hn_warp_product *p,
			struct hn_warp_shape *ret, uint32_t n_max)
{
	double time[HN_COUNT_OF(shapes)];
	uint32_t n = 0;

	for (size_t i = 0; i < HN_COUNT_OF(shapes); i++) {
		if (!fits(t, p, &shapes[i])) {
			continue;
		}
		double mine = cycles(t, p, &shapes[i]);
		uint32_t k = n < n_max ? n++ : n_max;

		/* insertion: the best first */
		for (; k > 0 && time[k - 1] > mine; k--) {
			if (k < n_max) {
				time[k] = time[k - 1];
				ret[k] = ret[k - 1];
			}
		}
		if (k < n_max) {
			time[k] = mine;
			ret[k] = shapes[i];
		}
	}
	return n;
}
