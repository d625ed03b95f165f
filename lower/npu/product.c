/* lower/npu/product.c -- a product of matrices on the cube, by a plan of tiles.
 *
 * Rows of A go from global memory to L1 as columns of fractals, and from there to L0A; B goes to
 * L0B with each fractal transposed.  Sums stay in L0C for all terms, then go through the unified
 * buffer, a piece at a time, to rows of C.  Each memory has slots that are taken in turn; which pipe
 * waits for which is hn_npu_order's.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "lower/npu/npu.h"
#include "target/npu/npu_insn.h"

struct product {
	const struct hn_npu_product *p;
	const struct hn_npu_profile *m;
	struct hn_buf *text;
	int64_t rows, columns;	    /* of a core */
	int64_t l1_a, l1_b, l0_a, l0_b, l0_c; /* bytes of a slot */
	int64_t piece;		    /* columns of the result in a slot of the unified buffer */
	uint32_t n_l0, n_c, n_piece;
};

#define MOST_SIZE ((int64_t)1 << 20)
#define HALF 2
#define SUM 4

static int64_t result_bytes(const struct hn_npu_product *p)
{
	return hn_dtype_bytes(p->result);
}

/* Step s of a core: tile after tile of the result, for each k1 terms after k1 terms. */
static void load(struct product *x, int64_t step)
{
	const struct hn_npu_product *p = x->p;
	int64_t steps = p->k / p->k1, tiles = x->columns / p->n0, slot = step % p->slots_l1;
	int64_t term = step % steps * p->k1, row = step / steps / tiles * p->m0;
	int64_t column = step / steps % tiles * p->n0;

	hn_buf_printf(x->text, "nd2nz.f16 l1[%" PRId64 "] A[r1+%" PRId64 "] rows %" PRId64 " cols %" PRId64
		      " from %" PRId64 "\n", slot * x->l1_a, (row * p->k + term) * HALF, p->m0, p->k1,
		      p->k * HALF);
	hn_buf_printf(x->text, "nd2nz.f16 l1[%" PRId64 "] B[r2+%" PRId64 "] rows %" PRId64 " cols %" PRId64
		      " from %" PRId64 "\n", p->slots_l1 * x->l1_a + slot * x->l1_b,
		      (term * p->n + column) * HALF, p->k1, p->n0, p->n * HALF);
}

/* k0 terms of the tile in L1, multiplied.  A row of fractals of A is next to the next one in L1 and
 * k0 / 16 apart in L0A; B's fractals of 16 terms are k1 / 16 apart in L1. */
static void multiply(struct product *x, int64_t step, int64_t term, bool init)
{
	const struct hn_npu_product *p = x->p;
	int64_t l1 = step % p->slots_l1, slot = x->n_l0++ % p->slots_l0;
	int64_t a = l1 * x->l1_a, b = p->slots_l1 * x->l1_a + l1 * x->l1_b;
	int64_t steps = p->k0 / 16, m1 = p->m0 / 16, n1 = p->n0 / 16;

	for (int64_t k = 0; k < steps; k++) {
		hn_buf_printf(x->text, "load2d.f16 l0a[%" PRId64 "] l1[%" PRId64 "] n %" PRId64 " to %" PRId64 "\n",
			      slot * x->l0_a + k * 512, a + (term / 16 + k) * m1 * 512, m1, steps);
	}
	for (int64_t k = 0; k < steps; k++) {
		hn_buf_printf(x->text, "load2d.f16 l0b[%" PRId64 "] l1[%" PRId64 "] n %" PRId64 " from %" PRId64
			      " trans 1\n", slot * x->l0_b + k * n1 * 512, b + (term / 16 + k) * 512, n1,
			      p->k1 / 16);
	}
	hn_buf_printf(x->text, "mmad.f16 l0c[%" PRId64 "] l0a[%" PRId64 "] l0b[%" PRId64 "] m %" PRId64 " k %"
		      PRId64 " n %" PRId64 "%s\n", x->n_c % p->slots_l0c * x->l0_c, slot * x->l0_a,
		      slot * x->l0_b, p->m0, p->k0, p->n0, init ? " init 1" : "");
}

/* The sums, `piece` columns at a time: rows of 16 columns each. */
static void store(struct product *x, int64_t row, int64_t column)
{
	const struct hn_npu_product *p = x->p;
	int64_t size = result_bytes(p), m1 = p->m0 / 16;

	for (int64_t c = 0; c < p->n0; c += x->piece) {
		int64_t wide = p->n0 - c < x->piece ? p->n0 - c : x->piece;
		int64_t at = x->n_piece++ % 2 * x->piece * p->m0 * size;

		hn_buf_printf(x->text, "vdrain.%s.f32 ub[%" PRId64 "] l0c[%" PRId64 "] n %" PRId64 "\n",
			      hn_npu_type_word(p->result), at,
			      x->n_c % p->slots_l0c * x->l0_c + c / 16 * m1 * 256 * SUM, wide / 16 * m1);
		for (int64_t k = 0; k < wide / 16; k++) {
			hn_buf_printf(x->text, "store C[r3+%" PRId64 "] ub[%" PRId64 "] n %" PRId64 " burst %"
				      PRId64 " to %" PRId64 "\n", (row * p->n + column + c + k * 16) * size,
				      at + k * 16 * p->m0 * size, p->m0, 16 * size, p->n * size);
		}
	}
	x->n_c++;
}

static void code(struct product *x)
{
	const struct hn_npu_product *p = x->p;
	int64_t steps = p->k / p->k1, tiles = x->columns / p->n0, all = x->rows / p->m0 * tiles * steps;

	hn_buf_printf(x->text, HN_NPU_FORMAT "\ngm A float16[%" PRId64 "]\ngm B float16[%" PRId64 "]\ngm C %s[%" PRId64
		      "]\ncores 0 %" PRId64 " {\n", p->m * p->k, p->k * p->n, hn_dtype_name(p->result),
		      p->m * p->n, p->cores_m * p->cores_n);
	hn_buf_printf(x->text, "core r0\ndiv r4 r0 %" PRId64 "\nmod r5 r0 %" PRId64 "\n", p->cores_n, p->cores_n);
	hn_buf_printf(x->text, "mul r1 r4 %" PRId64 "\nmul r2 r5 %" PRId64 "\nmul r3 r4 %" PRId64 "\nmul r6 r5 %"
		      PRId64 "\nadd r3 r3 r6\n", x->rows * p->k * HALF, x->columns * HALF,
		      x->rows * p->n * result_bytes(p), x->columns * result_bytes(p));
	for (int64_t step = 0; step < all; step++) {
		/* S stops at a full queue: what comes next has to be asked for before */
		if (p->slots_l1 == 1 || step == 0) {
			load(x, step);
		}
		if (p->slots_l1 > 1 && step + 1 < all) {
			load(x, step + 1);
		}
		for (int64_t k = 0; k < p->k1; k += p->k0) {
			multiply(x, step, k, step % steps == 0 && k == 0);
		}
		if (step % steps == steps - 1) {
			store(x, step / steps / tiles * p->m0, step / steps % tiles * p->n0);
		}
	}
	hn_buf_puts(x->text, "}\n");
}

static int fits(struct product *x, struct hn_err *err)
{
	const struct hn_npu_product *p = x->p;

	if (p->cores_m < 1 || p->cores_n < 1 || p->m0 < 16 || p->n0 < 16 || p->k0 < 16 || p->k1 < 16 ||
	    p->slots_l0 < 1 || p->slots_l1 < 1 || p->slots_l0c < 1 ||
	    (p->result != HN_F16 && p->result != HN_F32)) {
		return hn_fail(err, HONE_E_INVALID, "plan: tiles of 16 and slots of 1 at least, and a result "
			       "of float16 or float32");
	}
	if (p->m < 16 || p->n < 16 || p->k < 16 || p->m > MOST_SIZE || p->n > MOST_SIZE || p->k > MOST_SIZE) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a product of %lld x %lld x %lld: sizes are 16 to %lld",
			       (long long)p->m, (long long)p->n, (long long)p->k, (long long)MOST_SIZE);
	}
	if (p->m % (p->cores_m * p->m0) != 0 || p->n % (p->cores_n * p->n0) != 0 || p->k % p->k1 != 0 ||
	    p->k1 % p->k0 != 0 || (p->m0 | p->n0 | p->k0 | p->k1) % 16 != 0 ||
	    p->cores_m * p->cores_n > x->m->cores) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "plan: tiles %lld x %lld x %lld of %lld on %lld x %lld "
			       "cores do not divide %lld x %lld x %lld", (long long)p->m0, (long long)p->n0,
			       (long long)p->k0, (long long)p->k1, (long long)p->cores_m,
			       (long long)p->cores_n, (long long)p->m, (long long)p->n, (long long)p->k);
	}
	x->rows = p->m / p->cores_m;
	x->columns = p->n / p->cores_n;
	if (x->rows / p->m0 * (x->columns / p->n0) * (p->k / 16) > HN_NPU_MOST_INSNS / 8) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a product whose tiles are too many for one program");
	}
	x->l1_a = p->m0 * p->k1 * HALF;
	x->l1_b = p->n0 * p->k1 * HALF;
	x->l0_a = p->m0 * p->k0 * HALF;
	x->l0_b = p->n0 * p->k0 * HALF;
	x->l0_c = p->m0 * p->n0 * SUM;
	x->piece = p->n0;
	while (x->piece > 16 && 2 * x->piece * p->m0 * result_bytes(p) > x->m->ub_bytes) {
		x->piece = hn_ceildiv(x->piece / 16, 2) * 16;
	}
	if ((x->l1_a + x->l1_b) * p->slots_l1 > x->m->l1_bytes || x->l0_a * p->slots_l0 > x->m->l0a_bytes ||
	    x->l0_b * p->slots_l0 > x->m->l0b_bytes || x->l0_c * p->slots_l0c > x->m->l0c_bytes ||
	    2 * x->piece * p->m0 * result_bytes(p) > x->m->ub_bytes) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "plan: its tiles do not fit into the buffers of %s",
			       x->m->name);
	}
	return 0;
}

int hn_npu_product(const struct hn_npu_product *p, const struct hn_npu_profile *m, struct hn_arena *a,
		   const struct hn_npu_program **ret, struct hn_npu_order_facts *facts,
		   struct hn_err *err)
{
	struct product x = { .p = p, .m = m };
	struct hn_buf text;
	int rc = fits(&x, err);

	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	text.max_bytes = HN_NPU_TEXT_BYTES;
	x.text = &text;
	code(&x);
	return hn_npu_order_text(&text, m, p->order, a, ret, facts, err);
}
