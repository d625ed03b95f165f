/* lower/npu/conv.c -- a convolution on the cube: windows of an image become rows of the left factor on
 * their way from L1 to L0A, so that no such matrix lies in any memory.
 *
 * Rows of the image go to L1 with all channels; weights lie there as well, or go to L0B at once.
 * What the next tile needs of either is loaded ahead, where L1 has room for two.
 * Terms of a sum are ordered by 16 channels, then the window's rows and columns, as both lie.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "lower/npu/npu.h"

#define HALF 2
#define SUM 4
#define FRACTAL 512
#define MOST_SIZE 4095

struct conv {
	const struct hn_npu_conv *c;
	const struct hn_npu_profile *m;
	struct hn_buf *text;
	int64_t c1, points, high, wide; /* points: of a sum, in fractals */
	int64_t image_bytes, weights_bytes; /* in L1, of a slot */
	int64_t l0a, l0b, l0c, ub;	 /* bytes of a slot */
	int64_t n_image, n_weights;	 /* slots in L1: image, then weights */
	int64_t image_at, weights_at;	 /* of those that are worked on */
	uint32_t n_l0, n_c;
};

static int64_t lesser(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* Rows of the image that rows [first, first + n) of the result read: first of them, how many, and
 * rows of zeros above. */
static int64_t rows_of(const struct conv *x, int64_t first, int64_t n, int64_t *ret_n, int64_t *ret_above)
{
	int64_t from = first * x->c->stride - x->c->pad;
	int64_t to = (first + n - 1) * x->c->stride - x->c->pad + x->c->window;

	*ret_above = from < 0 ? -from : 0;
	from = from < 0 ? 0 : from;
	*ret_n = lesser(to, x->c->height) - from;
	return from;
}

/* Rows of the result whose rows of the image are at most cut_h; at least one. */
static int64_t rows_at_once(const struct conv *x)
{
	int64_t n = (x->c->cut_h - x->c->window) / x->c->stride + 1;

	/* the first and the last rows need less, for they have zeros beside */
	return x->c->cut_h >= x->c->height ? x->high : n < 1 ? 1 : lesser(n, x->high);
}

static int64_t cut_rows(const struct conv *x)
{
	return hn_ceildiv(x->high, rows_at_once(x));
}

static int64_t cut_results(const struct conv *x)
{
	return hn_ceildiv(x->c->results, x->c->cut_co);
}

/* Rows [row, row + n) of the result read them. */
static void load_image(struct conv *x, int64_t tile)
{
	const struct hn_npu_conv *c = x->c;
	int64_t row = tile * rows_at_once(x), rows, above;
	int64_t from = rows_of(x, row, lesser(rows_at_once(x), x->high - row), &rows, &above);

	hn_buf_printf(x->text, "load l1[%" PRId64 "] X[%" PRId64 "] n %" PRId64 " burst %" PRId64 " from %" PRId64
		      "\n", tile % x->n_image * x->image_bytes, from * c->width * 32, x->c1,
		      rows * c->width * 32, c->height * c->width * 32);
}

static void size_of_image(struct conv *x, int64_t row, int64_t n)
{
	const struct hn_npu_conv *c = x->c;
	int64_t rows, above, below;

	(void)rows_of(x, row, n, &rows, &above);
	below = (n - 1) * c->stride + c->window - above - rows;
	hn_buf_printf(x->text, "fmatrix h %" PRId64 " w %" PRId64 " kh %" PRId64 " kw %" PRId64 " sh %" PRId64
		      " sw %" PRId64 " pt %" PRId64 " pb %" PRId64 " pl %" PRId64 " pr %" PRId64 "\n", rows,
		      c->width, c->window, c->window, c->stride, c->stride, above, below < 0 ? 0 : below,
		      c->pad, c->pad);
}

static int64_t weights_slot(const struct conv *x, int64_t i)
{
	return x->n_image * x->image_bytes + i % x->n_weights * x->weights_bytes;
}

/* Of the i-th tile of results, of all rows. */
static void load_weights(struct conv *x, int64_t i)
{
	int64_t all = x->c->results / 16, cut = x->c->cut_co / 16, co = i % cut_results(x) * cut;

	hn_buf_printf(x->text, "load l1[%" PRId64 "] W[%" PRId64 "] n %" PRId64 " burst %" PRId64 " from %" PRId64
		      "\n", weights_slot(x, i), co * FRACTAL, x->points, lesser(cut, all - co) * FRACTAL,
		      all * FRACTAL);
}

/* What the i-th of n steps reads, where it is not there yet; and what the next one does, ahead of this
 * one's work, where it has a slot of its own. */
static void ahead(struct conv *x, void (*load)(struct conv *, int64_t), int64_t i, int64_t n, int64_t slots)
{
	if (i == 0 || slots == 1) {
		load(x, i);
	}
	if (i + 1 < n && slots > 1) {
		load(x, i + 1);
	}
}

/* Weights of results [first, first + n) of terms [k, k + nk), in fractals, to L0B. */
static void weights(struct conv *x, int64_t slot, int64_t first, int64_t n, int64_t k, int64_t nk,
		    int64_t co)
{
	for (int64_t i = 0; i < nk; i++) {
		int64_t to = slot * x->l0b + i * n * FRACTAL;

		for (int64_t f = 0; f < n && x->c->bypass; f++) {
			hn_buf_printf(x->text, "load l0b[%" PRId64 "] W[%" PRId64 "] burst 512\n", to + f * FRACTAL,
				      ((k + i) * (x->c->results / 16) + first + f) * FRACTAL);
		}
		if (!x->c->bypass) {
			int64_t cut = lesser(x->c->cut_co, x->c->results - co * 16) / 16;

			hn_buf_printf(x->text, "load2d.f16 l0b[%" PRId64 "] l1[%" PRId64 "] n %" PRId64 "\n", to,
				      x->weights_at + ((k + i) * cut + first - co) * FRACTAL, n);
		}
	}
}

/* Windows [m, m + nm) of the rows in L1, results [first, first + n) fractals: sums, and the result. */
static void tile(struct conv *x, int64_t row, int64_t m, int64_t nm, int64_t first, int64_t n, int64_t co)
{
	const struct hn_npu_conv *c = x->c;
	int64_t step = c->cut_k / 16, m1 = hn_ceildiv(nm, 16), ub = x->n_c % 2 * x->ub, l0c = x->n_c % 2 * x->l0c;

	for (int64_t k = 0; k < x->points; k += step) {
		int64_t nk = lesser(step, x->points - k), slot = x->n_l0++ % 2;

		hn_buf_printf(x->text, "load3d.f16 l0a[%" PRId64 "] l1[%" PRId64 "] m0 %" PRId64 " k0 %" PRId64
			      " m %" PRId64 " k %" PRId64 "\n", slot * x->l0a, x->image_at, m, k, m1, nk);
		weights(x, slot, first, n, k, nk, co);
		hn_buf_printf(x->text, "mmad.f16 l0c[%" PRId64 "] l0a[%" PRId64 "] l0b[%" PRId64 "] m %" PRId64 " k %"
			      PRId64 " n %" PRId64 "%s\n", l0c, slot * x->l0a, slot * x->l0b, nm, nk * 16,
			      n * 16, k == 0 ? " init 1" : "");
	}
	hn_buf_printf(x->text, "vdrain.f16.f32 ub[%" PRId64 "] l0c[%" PRId64 "] n %" PRId64 "\n", ub, l0c, n * m1);
	hn_buf_printf(x->text, "store Y[%" PRId64 "] ub[%" PRId64 "] n %" PRId64 " burst %" PRId64 " from %" PRId64
		      " to %" PRId64 "\n", (first * x->high * x->wide + row * x->wide + m) * 32, ub, n, nm * 32,
		      m1 * 16 * 32, x->high * x->wide * 32);
	x->n_c++;
}

static void code(struct conv *x)
{
	const struct hn_npu_conv *c = x->c;
	int64_t rows = rows_at_once(x), all = c->results / 16, cut_co = c->cut_co / 16, cut_n = c->cut_n / 16;

	hn_buf_printf(x->text, HN_NPU_FORMAT "\ngm X float16[%" PRId64 "]\ngm W float16[%" PRId64 "]\ngm Y float16[%"
		      PRId64 "]\ncores 0 1 {\n", x->c1 * c->height * c->width * 16,
		      x->points * 16 * c->results, c->results * x->high * x->wide);
	for (int64_t row = 0, i = 0; row < x->high; row += rows) {
		int64_t n_row = lesser(rows, x->high - row), t = row / rows;

		ahead(x, load_image, t, cut_rows(x), x->n_image);
		x->image_at = t % x->n_image * x->image_bytes;
		size_of_image(x, row, n_row);
		for (int64_t co = 0; co < all; co += cut_co, i++) {
			int64_t n_co = lesser(cut_co, all - co);

			if (!c->bypass) {
				ahead(x, load_weights, i, cut_rows(x) * cut_results(x), x->n_weights);
			}
			x->weights_at = weights_slot(x, i);
			for (int64_t f = co; f < co + n_co; f += cut_n) {
				for (int64_t m = 0; m < n_row * x->wide; m += c->cut_m) {
					tile(x, row, m, lesser(c->cut_m, n_row * x->wide - m), f,
					     lesser(cut_n, co + n_co - f), co);
				}
			}
		}
	}
	hn_buf_puts(x->text, "}\n");
}

/* A second slot for the image where there is another tile of it, and for weights, where L1 has room. */
static void slots_of_l1(struct conv *x)
{
	int64_t room = x->m->l1_bytes - x->image_bytes - x->weights_bytes;

	x->n_image = cut_rows(x) > 1 && x->image_bytes <= room ? 2 : 1;
	room -= (x->n_image - 1) * x->image_bytes;
	x->n_weights = cut_rows(x) * cut_results(x) > 1 && x->weights_bytes <= room ? 2 : 1;
}

static int fits(struct conv *x, struct hn_err *err)
{
	const struct hn_npu_conv *c = x->c;
	int64_t rows, above, windows;

	if (c->channels < 1 || c->height < 1 || c->width < 1 || c->results < 16 || c->results % 16 != 0 ||
	    c->window < 1 || c->window > 255 || c->stride < 1 || c->stride > 63 || c->pad < 0 || c->pad > 255 ||
	    c->channels > MOST_SIZE || c->height > MOST_SIZE || c->width > MOST_SIZE || c->results > MOST_SIZE ||
	    c->height + 2 * c->pad < c->window || c->width + 2 * c->pad < c->window || c->pad >= c->window) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a convolution of sizes that have no form here");
	}
	if (c->cut_h < 1 || c->cut_m < 1 || c->cut_m > MOST_SIZE || c->cut_k < 16 || c->cut_n < 16 ||
	    c->cut_co < 16 || c->cut_k > MOST_SIZE || c->cut_n > MOST_SIZE || c->cut_co > MOST_SIZE ||
	    c->cut_k % 16 != 0 || c->cut_n % 16 != 0 || c->cut_co % 16 != 0) {
		return hn_fail(err, HONE_E_INVALID, "plan: tiles of 16 terms and results, and of a window or more");
	}
	x->c1 = hn_ceildiv(c->channels, 16);
	x->points = x->c1 * c->window * c->window;
	x->high = (c->height + 2 * c->pad - c->window) / c->stride + 1;
	x->wide = (c->width + 2 * c->pad - c->window) / c->stride + 1;
	(void)rows_of(x, 0, rows_at_once(x), &rows, &above);
	rows = lesser(rows + above, c->height); /* tiles in the middle have no zeros above */
	windows = hn_ceildiv(c->cut_m, 16) * 16;
	x->image_bytes = hn_ceildiv(x->c1 * rows * c->width * 32, FRACTAL) * FRACTAL;
	x->weights_bytes = c->bypass ? 0 : x->points * c->cut_co * 32;
	x->l0a = windows * c->cut_k * HALF;
	x->l0b = c->cut_n * c->cut_k * HALF;
	x->l0c = windows * c->cut_n * SUM;
	x->ub = windows * c->cut_n * HALF;
	/* a second slot where there is room */
	x->l0c = 2 * x->l0c > x->m->l0c_bytes && x->l0c <= x->m->l0c_bytes ? 0 : x->l0c;
	slots_of_l1(x);
	if (x->image_bytes + x->weights_bytes > x->m->l1_bytes ||
	    2 * x->l0a > x->m->l0a_bytes || 2 * x->l0b > x->m->l0b_bytes || 2 * x->l0c > x->m->l0c_bytes ||
	    2 * x->ub > x->m->ub_bytes) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "plan: its tiles do not fit into the buffers of %s",
			       x->m->name);
	}
	return 0;
}

int hn_npu_conv(const struct hn_npu_conv *c, const struct hn_npu_profile *m, struct hn_arena *a,
		const struct hn_npu_program **ret, struct hn_err *err)
{
	struct conv x = { .c = c, .m = m };
	struct hn_buf text;
	int rc = fits(&x, err);

	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	text.max_bytes = HN_NPU_TEXT_BYTES;
	x.text = &text;
	code(&x);
	return hn_npu_order_text(&text, m, c->order, a, ret, NULL, err);
}
