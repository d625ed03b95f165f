/* lower/npu/product_bytes.c -- factors of int8 whose terms are not next to each other, transposed in the
 * unified buffer on their way to L1.
 *
 * No instruction transposes bytes.  As float16 they are exact: 32 columns at a time become two columns
 * of matrices, these are transposed, and become bytes again, two matrices side by side.
 */
#include "lower/npu/cube.h"

#define WIDE 32 /* columns, and terms of a fractal */
#define MATRIX 512

int64_t cube_bytes_room(const struct cube *x)
{
	return 2 * x->stage * (WIDE + 2 * WIDE + 2 * WIDE);
}

/* `columns` columns, WIDE at most, of `terms` terms, which are up to x->stage. */
static void turn(struct cube *x, const struct hn_npu_view *v, int reg, int64_t to, int64_t first, int64_t columns,
		 int64_t terms, int64_t height)
{
	int64_t raw = x->stage_at + x->n_stage++ % 2 * cube_bytes_room(x) / 2, up = cube_up(terms, WIDE);
	int64_t half = raw + x->stage * WIDE, turned = half + x->stage * 2 * WIDE;

	if (terms < up) {
		hn_buf_printf(x->text, "vdup.s32 ub[" N64 "] 0 rep " N64 "\n", raw, up * WIDE / 256);
	}
	hn_buf_printf(x->text, "load ub[" N64 "] a%d[r%d+" N64 "] n " N64 " burst " N64 " from " N64 " to 32\n", raw,
		      v->arg, reg, first, terms, columns, v->row);
	hn_buf_printf(x->text, "vconv.f16.s8 ub[" N64 "] ub[" N64 "] rep " N64 " mask 32 bd " N64 " sd 1 s0 1\n", half,
		      raw, up, up);
	hn_buf_printf(x->text, "vtrans.f16 ub[" N64 "] ub[" N64 "] n " N64 "\n", turned, half, 2 * up / 16);
	for (int64_t h = 0; h < hn_ceildiv(columns, 16); h++) {
		int64_t out = half + h * up * 16;

		for (int64_t k = 0; k < up / WIDE; k++) {
			hn_buf_printf(x->text, "vconv.s8.f16 ub[" N64 "] ub[" N64 "] rep 16 mask 32 b0 16 sd 1 s0 1\n",
				      out + k * MATRIX, turned + (h * up / 16 + 2 * k) * MATRIX);
		}
		hn_buf_printf(x->text, "ub2l1 l1[" N64 "] ub[" N64 "] n " N64 " burst 512 from 512 to " N64 "\n",
			      to + h * MATRIX, out, up / WIDE, height * 32);
	}
}

/* Columns [column, column + n) of terms [term, term + terms), as a factor's fractals. */
void cube_bring_bytes(struct cube *x, const struct hn_npu_view *v, int reg, int64_t to, int64_t column, int64_t n,
		      int64_t term, int64_t terms)
{
	int64_t height = cube_up(n, 16);

	for (int64_t c = 0; c < n; c += WIDE) {
		for (int64_t k = 0; k < terms; k += x->stage) {
			turn(x, v, reg, to + (k / WIDE * height + c) * WIDE, (term + k) * v->row + column + c,
			     cube_least(WIDE, n - c), cube_least(x->stage, terms - k), height);
		}
	}
}
