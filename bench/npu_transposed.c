/* bench/npu_transposed.c -- the program of one published operator: a matrix of float32 in fractals (N1,
 * M1, 16, 16), times a number, as rows.  See npu_case.h.
 *
 * A core takes rows of fractals, so many of their columns at a time.  Half a row of a fractal is a block: a repeat
 * multiplies eight of them and puts them where they belong in the row.
 */
#include <inttypes.h>

#include "bench/npu.h"
#include "lower/npu/npu.h"

#define FRACTAL 1024 /* bytes of 16 x 16 float32 */
#define WIDE 32      /* fractals at a time: 32 KiB */
#define SLOT ((int64_t)WIDE * FRACTAL)

static void tile(struct hn_buf *t, int64_t m1, int64_t n1, int64_t m, int64_t n, int64_t slot)
{
	int64_t from = 512 + slot * SLOT, to = 512 + (2 + slot) * SLOT;

	hn_buf_printf(t, "load ub[%" PRId64 "] X[r1+%" PRId64 "] n %d burst %d from %" PRId64 "\n", from,
		      (n * m1 + m) * FRACTAL, WIDE, FRACTAL, m1 * FRACTAL);
	for (int64_t i = 0; i < 32; i++) {
		hn_buf_printf(t, "vmul.f32 ub[%" PRId64 "] ub[%" PRId64 "] ub[256] rep %d bd 2 b0 %d b1 0 sd 16 "
			      "s0 %d s1 0\n", to + i / 2 * WIDE * 64 + i % 2 * 32, from + i * 32, WIDE / 8,
			      FRACTAL / 32, FRACTAL / 4);
	}
	hn_buf_printf(t, "store Y[r2+%" PRId64 "] ub[%" PRId64 "] n 16 burst %d to %" PRId64 "\n",
		      (m * 16 * n1 + n) * 64, to, WIDE * 64, n1 * 64);
}

int hn_bench_npu_transposed(int64_t m1, int64_t n1, const struct hn_npu_profile *m, struct hn_arena *a,
			    const struct hn_npu_program **ret, struct hn_err *err)
{
	int64_t rows = m1 / m->cores, count = 0;
	struct hn_buf t;

	if (m1 % m->cores != 0 || n1 % WIDE != 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%" PRId64 " x %" PRId64 " fractals are no multiple of %"
			       PRId64 " x %d", m1, n1, m->cores, WIDE);
	}
	hn_buf_init(&t);
	hn_buf_printf(&t, "hnpu/1\ngm X float32[%" PRId64 "]\ngm W float32[1]\ngm Y float32[%" PRId64
		      "]\ncores 0 %" PRId64 " {\ncore r0\nmul r1 r0 %" PRId64 "\nmul r2 r0 %" PRId64 "\n",
		      m1 * n1 * 256, m1 * n1 * 256, m->cores, rows * FRACTAL, rows * n1 * FRACTAL);
	hn_buf_puts(&t, "load ub[0] W[0] burst 4\nvbrcb.f32 ub[256] ub[0]\n");
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t n = 0; n < n1; n += WIDE) {
			tile(&t, m1, n1, i, n, count++ % 2);
		}
	}
	hn_buf_puts(&t, "}\n");
	return hn_npu_order_text(&t, m, HN_NPU_FLAGS, a, ret, NULL, err);
}
