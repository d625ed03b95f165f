/* lower/npu/product_stage.c -- what lies with the wrong numbers next to each other, transposed in the
 * unified buffer on its way to L1: images channel by channel (NCHW), weights point by point (OIHW).
 *
 * Sixteen rows of so many numbers become so many rows of sixteen: they are loaded row by row, copied to
 * matrices of 16 x 16, and these are transposed.
 */
#include "lower/npu/cube.h"

int64_t cube_stage_bytes(const struct cube *x)
{
	return 4 * x->stage * HN_NPU_BLOCK;
}

static void zeros(struct cube *x, int64_t at, int64_t blocks)
{
	for (int64_t i = 0; i < blocks / 8; i += 255) {
		hn_buf_printf(x->text, "vdup.f16 ub[" N64 "] 0 rep " N64 "\n", at + i * 256,
			      cube_least(blocks / 8 - i, 255));
	}
	if (blocks % 8 > 0) {
		hn_buf_printf(x->text, "vdup.f16 ub[" N64 "] 0 mask " N64 "\n", at + blocks / 8 * 256, blocks % 8 * 16);
	}
}

/* Blocks of 16 numbers, `from` blocks apart, to `to` blocks apart. */
void cube_copy(struct cube *x, int64_t to, int64_t to_step, int64_t from, int64_t from_step, int64_t n)
{
	int64_t whole = n / 8, left = n % 8;

	for (int64_t i = 0; i < whole; i += 255) {
		hn_buf_printf(x->text, "vcopy.f16 ub[" N64 "] ub[" N64 "] rep " N64 " bd " N64 " b0 " N64 " sd " N64
			      " s0 " N64 "\n", to + i * 8 * to_step * HN_NPU_BLOCK,
			      from + i * 8 * from_step * HN_NPU_BLOCK, cube_least(whole - i, 255), to_step, from_step,
			      8 * to_step, 8 * from_step);
	}
	if (left > 0) {
		hn_buf_printf(x->text, "vcopy.f16 ub[" N64 "] ub[" N64 "] mask " N64 " bd " N64 " b0 " N64 "\n",
			      to + whole * 8 * to_step * HN_NPU_BLOCK, from + whole * 8 * from_step * HN_NPU_BLOCK,
			      left * 16, to_step, from_step);
	}
}

struct turned { /* places of a copy of the stage: n rows of 16, and as much room */
	int64_t at, room;
};

/* n numbers of each of `rows` rows, 16 at most, `step` apart, from the `first` on. */
static struct turned turn(struct cube *x, const struct hn_npu_view *v, int reg, int64_t first, int64_t rows,
			  int64_t step, int64_t n)
{
	int64_t at = x->stage_at + x->n_stage++ % 2 * 2 * x->stage * HN_NPU_BLOCK, up = cube_up(n, 16);
	struct turned t = { at, at + x->stage * HN_NPU_BLOCK };

	if (rows < 16) {
		zeros(x, t.at, up);
	}
	hn_buf_printf(x->text, "load ub[" N64 "] a%d[r%d+" N64 "] n " N64 " burst " N64 " from " N64 " to " N64 "\n",
		      t.at, v->arg, reg, first * 2, rows, n * 2, step * 2, up * 2);
	for (int64_t r = 0; r < 16; r++) {
		cube_copy(x, t.room + r * HN_NPU_BLOCK, 16, t.at + r * up * 2, 1, up / 16);
	}
	hn_buf_printf(x->text, "vtrans.f16 ub[" N64 "] ub[" N64 "] n " N64 "\n", t.at, t.room, up / 16);
	return t;
}

/* `n` points from `point` on, of `blocks` blocks of channels from `channel` on. */
void cube_stage_image(struct cube *x, int64_t to, int64_t point, int64_t n, int64_t channel, int64_t blocks)
{
	const struct hn_npu_view *a = &x->t->a;

	for (int64_t b = 0; b < blocks; b++) {
		int64_t c = channel + b * 16, rows = cube_least(16, x->t->window->channels - c);

		for (int64_t i = 0; i < n; i += x->stage) {
			int64_t some = cube_least(x->stage, n - i);
			struct turned t = turn(x, a, CUBE_A, c * a->row + point + i, rows, a->row, some);

			hn_buf_printf(x->text, "ub2l1 l1[" N64 "] ub[" N64 "] burst " N64 "\n", to + (b * n + i) * 32,
				      t.at, some * 32);
		}
	}
}

/* Weights of a step: for each point of the window fractals of 16 channels, 16 results each. */
void cube_stage_weights(struct cube *x, const struct cube_step *s, int64_t to, int64_t channel, int64_t blocks)
{
	const struct hn_npu_window *w = x->t->window;
	const struct hn_npu_view *b = &x->t->b;
	int64_t points = w->kh * w->kw, n1 = hn_ceildiv(s->columns, 16), most = x->stage / points / 16;

	for (int64_t j = 0; j < n1; j++) {
		for (int64_t c = 0; c < blocks; c += most) {
			int64_t some = cube_least(most, blocks - c), first = channel + c * 16, high = some * 16;
			int64_t channels = cube_least(high, w->channels - first);
			int64_t rows = cube_least(16, s->columns - j * 16);
			struct turned t = turn(x, b, CUBE_B, (s->column + j * 16) * b->row + first * points, rows,
					       b->row, channels * points);

			if (channels < high) {
				zeros(x, t.room, points * high);
			}
			for (int64_t p = 0; p < points; p++) {
				cube_copy(x, t.room + p * high * HN_NPU_BLOCK, 1, t.at + p * HN_NPU_BLOCK, points, channels);
			}
			hn_buf_printf(x->text, "ub2l1 l1[" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64
				      "\n", to + (j * blocks + c) * CUBE_FRACTAL, t.room, points, high * 32, high * 32,
				      n1 * blocks * CUBE_FRACTAL);
		}
	}
}

/* Instructions, flags among them, of one image's step and of its weights. */
int64_t cube_stage_insns(const struct cube *x, int64_t points, int64_t blocks, int64_t columns)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t n = 0;

	if (x->t->a.turned) {
		n += blocks * (points / x->stage + 1) * 70;
	}
	if (w->staged) {
		n += columns / 16 * (blocks / (x->stage / (w->kh * w->kw) / 16) + 1) * (70 + 3 * w->kh * w->kw);
	}
	return n;
}
