/* sketch/heuristic/wgmma_plan.c -- which tiles a product has that warpgroups make.
 *
 * All tiles are tried whose numbers the instruction has, and their time told by a closed form: what
 * is longest of the multiplications, the bytes of shared memory (copies in, and what the
 * instructions read of both factors again and again), and the bytes of the second cache; blocks
 * come in waves, the last of which may be a part of one.  A block waits for its own products in each
 * step; another block of the same multiprocessor fills that time.
 *
 * Factors come in by threads that copy, or by boxes that a warpgroup more begins (TMA).  That one's
 * threads need few registers, and no other thread is kept from its products: a step is a little shorter.
 *
 * Where there are more tiles than blocks at once, as many blocks may make them in rounds: the factors
 * of the next tile come in while results are stored, so that a block starts once.  Storing results
 * keeps its warpgroups from products all the same.
 *
 * Source: DeepSeek, "DeepGEMM", its closed rule for Hopper (bytes of both caches, waves).
 */
#include "sketch/heuristic/warp_int.h"

#include "base/arith.h"

#define GROUP 128 /* threads */
#define ROWS 64	  /* of a warpgroup */
#define CORE_REGISTERS 65536
#define CORE_SHARED 233472 /* bytes of a multiprocessor, for all its blocks, 1 KiB of each is its own */
#define BLOCK_SHARED 1024
#define MOST_REGISTERS 255
#define OTHER_REGISTERS 50
#define PRODUCTS 2048.0	   /* of 2 bytes each, a cycle, of a multiprocessor */
#define SHARED_BYTES 128.0 /* a cycle */
#define CACHE_BYTES 46.0   /* a cycle, from the second cache to a multiprocessor */
#define STEP_CYCLES 260.0  /* of a step: barrier, the first product comes in, the last one goes out */
#define OPEN_CYCLES 60.0   /* the same where the products of a step end in the next one */
#define BULK_CYCLES 30.0   /* the same where another warpgroup copies; no machine has told it */
#define PRODUCER_REGISTERS 40
#define REGISTER_UNIT 8
#define FIRST_REGISTERS 32 /* beside results, of what a block with a producer begins with */
#define START_CYCLES 1500.0
#define STORE_BYTES 16.0 /* a cycle, of results */
#define ROW_BYTES 128	 /* terms of a step */
#define MBARRIER 16 /* bytes, room between two included */
#define LEAST_STAGES 2
#define MOST_STAGES 6
#define MOST_AT_ONCE 3 /* blocks of a multiprocessor */

static int64_t groups(const struct hn_warp_shape *s)
{
	return s->rows / s->warp_rows * (s->columns / s->warp_columns);
}

static int64_t step_bytes(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	return (s->rows + s->columns) * s->terms * (int64_t)hn_dtype_bytes(p->in->left);
}

static int64_t registers(const struct hn_warp_shape *s)
{
	return s->warp_rows * s->warp_columns / GROUP + OTHER_REGISTERS;
}

/* With a producer, registers of all threads are the same at first, and dealt out. */
static int64_t by_registers_of(const struct hn_warp_shape *s)
{
	int64_t n = groups(s), most = CORE_REGISTERS / (registers(s) * n * GROUP);

	for (; s->bulk && most > 0; most--) {
		int64_t first = CORE_REGISTERS / (most * (n + 1) * GROUP) / REGISTER_UNIT *
				REGISTER_UNIT;

		if (first * (n + 1) >= n * registers(s) + PRODUCER_REGISTERS &&
		    first >= registers(s) - OTHER_REGISTERS + FIRST_REGISTERS) {
			break;
		}
	}
	return most;
}

static int64_t at_once(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	int64_t by_registers = by_registers_of(s);
	int64_t by_shared = CORE_SHARED / (step_bytes(p, s) * s->stages + BLOCK_SHARED);

	return by_registers < by_shared ? by_registers : by_shared;
}

static int64_t cores_of(const struct hn_target *t)
{
	return t->param[HN_PARAM_NUM_CORES] > 0 ? t->param[HN_PARAM_NUM_CORES] : 1;
}

static int64_t tiles(const struct hn_warp_product *p, const struct hn_warp_shape *s)
{
	const int64_t *n = p->v->extent;

	return hn_mul_sat(hn_ceildiv(n[p->rows], s->rows) * hn_ceildiv(n[p->columns], s->columns),
			  p->batch);
}

/* The numbers are the instruction's, and no tile is larger than the product: what lies in shared
 * memory would end within the tile. */
static bool fits(const struct hn_target *t, const struct hn_warp_product *p,
		 const struct hn_warp_shape *s)
{
	const int64_t *n = p->v->extent;
	int64_t bytes = step_bytes(p, s) * s->stages + (s->bulk ? 2 * MBARRIER * s->stages : 0);

	return s->rows <= n[p->rows] && s->columns <= n[p->columns] && s->terms <= n[p->terms] &&
	       s->stages >= LEAST_STAGES &&
	       bytes <= t->param[HN_PARAM_MAX_SHARED_MEMORY_PER_BLOCK] &&
	       (groups(s) + s->bulk) * GROUP <= t->param[HN_PARAM_MAX_THREADS_PER_BLOCK] &&
	       (!s->bulk || (p->boxes && s->terms < n[p->terms])) &&
	       registers(s) <= MOST_REGISTERS && at_once(p, s) >= 1 &&
	       (s->blocks == 0 || s->blocks < tiles(p, s));
}

double hn_wgmma_cycles(const struct hn_target *t, const struct hn_warp_product *p,
		       const struct hn_warp_shape *s)
{
	const int64_t *n = p->v->extent;
	int64_t cores = cores_of(t), blocks = tiles(p, s);
	int64_t bytes = (int64_t)hn_dtype_bytes(p->in->left), most = at_once(p, s);
	int64_t rounds = hn_ceildiv(blocks, cores * most);
	int64_t together = rounds > 1 ? most : hn_ceildiv(blocks, cores);
	double fetched = (double)step_bytes(p, s);
	double read = (double)(groups(s) * (s->warp_rows + s->warp_columns) * s->terms * bytes);
	double work = (double)(s->rows * s->columns * s->terms * bytes) / 2 / PRODUCTS;
	double moved = (fetched + read) / SHARED_BYTES, cached = fetched / CACHE_BYTES;
	double one = work > moved ? work : moved, step;

	one = one > cached ? one : cached;
	step = one * (double)together;
	double alone = work + (s->bulk ? BULK_CYCLES : s->open ? OPEN_CYCLES : STEP_CYCLES);

	step = step > alone ? step : alone;
	double results = (double)(s->rows * s->columns * 4) / STORE_BYTES;

	return (double)rounds * ((double)hn_ceildiv(n[p->terms], s->terms) * step +
				 results * (double)together) +
	       (double)(s->blocks > 0 ? 1 : rounds) * START_CYCLES;
}

/* Insertion: the best first. */
static void insert(const struct hn_warp_shape *s, double time, struct hn_warp_shape *ret,
		   double *times, uint32_t *n, uint32_t n_max)
{
	uint32_t k = *n < n_max ? (*n)++ : n_max;

	for (; k > 0 && times[k - 1] > time; k--) {
		if (k < n_max) {
			times[k] = times[k - 1];
			ret[k] = ret[k - 1];
		}
	}
	if (k < n_max) {
		times[k] = time;
		ret[k] = *s;
	}
}

/* How factors come in, and when products end. */
struct way {
	bool open;   /* in the next step; of bulk copies all do */
	bool bulk;
	bool rounds; /* blocks make several tiles each */
};

/* As few blocks as make all tiles in as many rounds as there have to be. */
static int64_t blocks_in_rounds(const struct hn_target *t, const struct hn_warp_product *p,
				const struct hn_warp_shape *s)
{
	int64_t n = tiles(p, s), most = hn_mul_sat(cores_of(t), at_once(p, s));

	return hn_ceildiv(n, hn_ceildiv(n, most > 0 ? most : 1));
}

/* The best of one way. */
static uint32_t shapes(const struct hn_target *t, const struct hn_warp_product *p, struct way way,
		       struct hn_warp_shape *ret, uint32_t n_max)
{
	struct hn_warp_shape s = { .warp_rows = ROWS,
				   .terms = ROW_BYTES / (int64_t)hn_dtype_bytes(p->in->left),
				   .open = way.open,
				   .bulk = way.bulk };
	double times[HN_HEURISTIC_MAX];
	uint32_t n = 0;

	while (s.terms > p->v->extent[p->terms] && s.terms > hn_intrin_terms(p->in)) {
		s.terms /= 2;
	}
	for (s.rows = ROWS; s.rows <= 4 * ROWS; s.rows += ROWS) {
		for (s.columns = 32; s.columns <= 256; s.columns += 32) {
			int64_t stages = 0; /* of the shape before */

			s.warp_columns = s.columns;
			for (int64_t k = 1; k <= MOST_AT_ONCE; k++) {
				int64_t room = CORE_SHARED / k - BLOCK_SHARED;

				s.stages = room / step_bytes(p, &s);
				s.stages = s.stages < MOST_STAGES ? s.stages : MOST_STAGES;
				s.blocks = way.rounds ? blocks_in_rounds(t, p, &s) : 0;
				if (s.stages != stages && (!way.open || s.stages > LEAST_STAGES) && fits(t, p, &s) &&
				    at_once(p, &s) >= k) {
					stages = s.stages;
					insert(&s, hn_wgmma_cycles(t, p, &s), ret, times, &n,
					       n_max);
				}
			}
		}
	}
	return n;
}

/* Of those by bulk copies, first the ones in rounds that are better than all others. */
static uint32_t bulk_shapes(const struct hn_target *t, const struct hn_warp_product *p,
			    struct hn_warp_shape *ret, uint32_t n_max)
{
	struct hn_warp_shape other[HN_HEURISTIC_MAX];
	uint32_t n_other = shapes(t, p, (struct way){ .open = true, .bulk = true }, other, n_max);
	uint32_t most = shapes(t, p, (struct way){ .open = true, .bulk = true, .rounds = true }, ret,
			       n_max / 2), n = 0;

	while (n < most &&
	       (n_other == 0 || hn_wgmma_cycles(t, p, &ret[n]) < hn_wgmma_cycles(t, p, &other[0]))) {
		n++;
	}
	for (uint32_t i = 0; i < n_other && n < n_max; i++) {
		ret[n++] = other[i];
	}
	return n;
}

/* Half of them bring in factors by bulk copies where that can be, a quarter's products end in the next
 * step, and the others' in their own; in this order. */
uint32_t hn_wgmma_shapes(const struct hn_target *t, const struct hn_warp_product *p,
			 struct hn_warp_shape *ret, uint32_t n_max)
{
	n_max = n_max < HN_HEURISTIC_MAX ? n_max : HN_HEURISTIC_MAX;
	uint32_t n = bulk_shapes(t, p, ret, n_max / 2);

	n += shapes(t, p, (struct way){ .open = true }, &ret[n], (n_max - n) / 2);
	return n + shapes(t, p, (struct way){ .open = false }, &ret[n], n_max - n);
}
