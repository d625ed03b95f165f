/* lower/npu/product_load.c -- the factors of a product on their way: global memory to L1 as columns of
 * fractals, L1 to L0A and L0B, and the cube.
 *
 * Where a factor lies transposed, its fractals are transposed on the way to L0.  Windows of an image
 * become rows of the left factor there.  What lies in L1 already is not loaded again.
 */
#include "lower/npu/cube.h"
#include "target/npu/npu_insn.h"

#define MOST_ROWS 16384 /* of an nd2nz */

/* Elements behind the first one of a view. */
static int64_t place(const struct cube *x, const struct hn_npu_view *v, int64_t row, int64_t column)
{
	return row * v->row + column / x->c0 * v->block;
}

/* `nc` columns of `nr` rows, from the `first` element on behind what register `reg` points at; columns of
 * fractals are `height` rows apart in L1. */
static void bring(struct cube *x, const struct hn_npu_view *v, int reg, int64_t to, int64_t first, int64_t nr,
		  int64_t nc, int64_t height)
{
	int64_t from = first * x->size, blocks = hn_ceildiv(nc, x->c0);
	const char *type = hn_npu_type_word(x->t->dtype);

	if (v->row == x->c0 && nc % x->c0 == 0 && (nr % 16 == 0 || height == nr)) {
		hn_buf_printf(x->text, "load l1[" N64 "] a%d[r%d+" N64 "] n " N64 " burst " N64 " from " N64
			      " to " N64 "\n", to, v->arg, reg, from, blocks, nr * 32, v->block * x->size,
			      height * 32);
		return;
	}
	if (v->block == x->c0 && height % 16 == 0 && nr <= MOST_ROWS && height <= MOST_ROWS) {
		hn_buf_printf(x->text, "nd2nz.%s l1[" N64 "] a%d[r%d+" N64 "] rows " N64 " cols " N64 " from " N64
			      " height " N64 "\n", type, to, v->arg, reg, from, nr, nc, v->row * x->size,
			      height);
		return;
	}
	/* rows that are filled up to 16 may reach into the next column, which comes after */
	for (int64_t b = 0; b < blocks; b++) {
		for (int64_t i = 0; i < nr; i += MOST_ROWS) {
			hn_buf_printf(x->text, "nd2nz.%s l1[" N64 "] a%d[r%d+" N64 "] rows " N64 " cols " N64
				      " from " N64 "\n", type, to + (b * height + i) * 32, v->arg, reg,
				      from + (b * v->block + i * v->row) * x->size, cube_least(nr - i, MOST_ROWS),
				      cube_least(nc - b * x->c0, x->c0), v->row * x->size);
		}
	}
}

/* Fractals (i, k) from i * si + k * sk to i * ti + k * tk. */
static void fractals(struct cube *x, const char *memory, int64_t to, int64_t from, int64_t n_i, int64_t si,
		     int64_t ti, int64_t n_k, int64_t sk, int64_t tk, bool turned)
{
	bool by_i = n_i < n_k;
	int64_t outer = by_i ? n_i : n_k, n = by_i ? n_k : n_i;

	if (si == sk * n_k && ti == tk * n_k) {
		outer = 1;
		n = n_i * n_k;
		by_i = true;
	} else if (sk == si * n_i && tk == ti * n_i) {
		outer = 1;
		n = n_i * n_k;
		by_i = false;
	}
	for (int64_t o = 0; o < outer; o++) {
		hn_buf_printf(x->text, "load2d.%s %s[" N64 "] l1[" N64 "] n " N64 " from " N64 " to " N64 "%s\n",
			      hn_npu_type_word(x->t->dtype), memory,
			      to + o * (by_i ? ti : tk) * CUBE_FRACTAL, from + o * (by_i ? si : sk) * CUBE_FRACTAL,
			      n, by_i ? sk : si, by_i ? tk : ti, turned ? " trans 1" : "");
	}
}

/* The rows of the image that the windows of a step read, from row *ret_from on. */
static int64_t image_rows(const struct cube *x, const struct cube_step *s, int64_t *ret_from,
			  int64_t *ret_above, int64_t *ret_need)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t row = x->part[1].first + s->row, y0 = row / w->wide, y1 = (row + s->rows - 1) / w->wide;
	int64_t from = y0 * w->sh - w->top;

	*ret_need = (y1 - y0) * w->sh + (w->kh - 1) * w->dh + 1;
	*ret_above = from < 0 ? -from : 0;
	*ret_from = from < 0 ? 0 : from;
	return cube_least(from + *ret_need, w->height) - *ret_from;
}

/* C1 of a step's terms: they are whole blocks of channels of all points of a window. */
static int64_t blocks_of(const struct cube *x, int64_t terms)
{
	return terms / (x->t->window->kh * x->t->window->kw * x->c0);
}

/* Rows of zeros behind `rows` of the image, unless the slot has them. */
static void put_zeros(struct cube *x, uint32_t slot, int64_t rows, int64_t high, int64_t blocks)
{
	int64_t bytes = x->t->window->width * 32;

	if (x->zeroed[slot] == rows * 65536 + blocks) {
		return;
	}
	x->zeroed[slot] = rows * 65536 + blocks;
	for (int64_t r = rows; r < high; r++) {
		hn_buf_printf(x->text, "ub2l1 l1[" N64 "] ub[" N64 "] n " N64 " burst " N64 " from 0 to " N64 "\n",
			      slot * x->l1_a + r * bytes, x->zeros_at, blocks, bytes, high * bytes);
	}
}

static void bring_image(struct cube *x, const struct cube_step *s, uint32_t slot)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t from, above, need, rows = image_rows(x, s, &from, &above, &need), to = slot * x->l1_a;
	int64_t channel = blocks_of(x, s->term) * x->c0, blocks = blocks_of(x, s->terms);
	int64_t high = cube_image_height(x, rows, blocks);

	if (x->t->a.turned) {
		cube_stage_image(x, to, from * w->width, rows * w->width, channel, blocks);
		return;
	}
	put_zeros(x, slot, rows, high, blocks);
	bring(x, &x->t->a, CUBE_A, to, place(x, &x->t->a, from * w->width, channel), rows * w->width,
	      cube_least(blocks * x->c0, w->channels - channel), high * w->width);
}

/* All points' weights are rows, or columns, of one matrix. */
bool cube_weights_at_once(const struct hn_npu_task *t, int64_t terms)
{
	const struct hn_npu_window *w = t->window;
	int64_t step = w->channels * (t->b.turned ? 1 : t->b.row);

	return terms == t->k && t->k <= MOST_ROWS && w->channels % hn_npu_c0(t) == 0 &&
	       (!t->b.turned || t->b.block == hn_npu_c0(t)) && (w->kw == 1 || w->weight_w == step) &&
	       (w->kh == 1 || w->weight_h == step * w->kw);
}

/* Weights of each point of the window by themselves. */
static void bring_weights(struct cube *x, const struct cube_step *s, int64_t to)
{
	const struct hn_npu_window *w = x->t->window;
	const struct hn_npu_view *b = &x->t->b;
	int64_t channel = blocks_of(x, s->term) * x->c0, c1 = blocks_of(x, s->terms);
	int64_t channels = cube_least(c1 * x->c0, w->channels - channel), high = cube_up(s->columns, 16);

	if (w->staged) {
		cube_stage_weights(x, s, to, channel, c1);
		return;
	}
	if (cube_weights_at_once(x->t, s->terms)) {
		int64_t terms = w->kh * w->kw * channels;

		bring(x, b, CUBE_B, to, b->turned ? place(x, b, s->column, 0) : place(x, b, 0, s->column),
		      b->turned ? s->columns : terms, b->turned ? terms : s->columns, b->turned ? high : terms);
		return;
	}
	for (int64_t i = 0; i < w->kh * w->kw; i++) {
		int64_t first = (i / w->kw * w->weight_h + i % w->kw * w->weight_w) * x->size;
		int64_t at = to + i * high * c1 * x->c0 * x->size;

		/* the point's weights begin behind what the register has */
		hn_buf_printf(x->text, "add r%d r%d " N64 "\n", CUBE_T6, CUBE_B, first);
		if (b->turned) {
			bring(x, b, CUBE_T6, at, place(x, b, s->column, channel), s->columns, channels, high);
		} else {
			bring(x, b, CUBE_T6, at, place(x, b, channel, s->column), channels, s->columns, c1 * x->c0);
		}
	}
}

/* Rows that lie a few at a time: what each transfer fills up to 16 rows the next one writes again, and
 * the last one has 16 rows to reach into. */
static void bring_rows(struct cube *x, const struct cube_step *s, int64_t to)
{
	const struct hn_npu_view *a = &x->t->a;
	int64_t high = cube_up(s->rows, 16), height = high + 16, row = x->part[1].first + s->row;
	int64_t last = cube_least((row + s->rows - 1) % a->split + 1, s->rows); /* rows of the last transfer */

	if (s->rows - last + cube_up(last, 16) < high) { /* which does not reach so far */
		bring(x, a, CUBE_A, to + (high - 16) * 32, place(x, a, 0, s->term), 1, s->terms, height);
	}
	for (int64_t done = 0, n; done < s->rows; done += n) {
		int64_t r = row + done;

		n = cube_least(a->split - r % a->split, s->rows - done);
		bring(x, a, CUBE_A, to + done * 32, r / a->split * a->outer + place(x, a, r % a->split, s->term), n,
		      s->terms, height);
	}
}

static bool is_held(struct cube_held *h, int64_t key)
{
	bool held = h->n > 0 && h->key == key;

	h->key = key;
	h->n += !held;
	return held;
}

static int64_t at_b(const struct cube *x, uint32_t slot)
{
	return x->p->slots_l1 * x->l1_a + slot * x->l1_b;
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

void cube_load(struct cube *x, int64_t number, const struct cube_step *s)
{
	const struct hn_npu_task *t = x->t;
	int64_t steps = hn_ceildiv(t->k, x->p->k1), step = s->term / x->p->k1;
	int64_t batch = has_batch(&t->a) ? s->batch : 0, of_b = has_batch(&t->b) ? s->batch : 0;
	bool a = is_held(&x->a, (batch * hn_ceildiv(t->m, 16) + s->row / 16) * steps + step);
	bool b = is_held(&x->b, (of_b * hn_ceildiv(t->n, 16) + s->column / 16) * steps + step);
	uint32_t slot_a = (x->a.n - 1) % x->p->slots_l1, slot_b = (x->b.n - 1) % x->p->slots_l1;
	int64_t c0 = x->c0;

	x->slot_a[number % 2] = slot_a;
	x->slot_b[number % 2] = slot_b;
	if (!a || !b) {
		cube_batch(x, s->batch, false);
	}
	if (!a && t->window != NULL) {
		bring_image(x, s, slot_a);
	} else if (!a && cube_turns_a(t)) {
		cube_bring_bytes(x, &t->a, CUBE_A, slot_a * x->l1_a, s->row, s->rows, s->term, s->terms);
	} else if (!a && t->a.turned) {
		bring(x, &t->a, CUBE_A, slot_a * x->l1_a, place(x, &t->a, s->term, s->row), s->terms, s->rows,
		      cube_up(s->terms, 16));
	} else if (!a && t->a.split > 0) {
		bring_rows(x, s, slot_a * x->l1_a);
	} else if (!a) {
		bring(x, &t->a, CUBE_A, slot_a * x->l1_a, place(x, &t->a, s->row, s->term), s->rows, s->terms,
		      cube_up(s->rows, 16));
	}
	if (!b && t->window != NULL && !t->window->merged) {
		bring_weights(x, s, at_b(x, slot_b));
	} else if (!b && cube_turns_b(t)) {
		cube_bring_bytes(x, &t->b, CUBE_B, at_b(x, slot_b), s->column, s->columns, s->term, s->terms);
	} else if (!b && t->b.turned) {
		bring(x, &t->b, CUBE_B, at_b(x, slot_b), place(x, &t->b, s->column, s->term), s->columns, s->terms,
		      cube_up(s->columns, 16));
	} else if (!b) {
		bring(x, &t->b, CUBE_B, at_b(x, slot_b), place(x, &t->b, s->term, s->column), s->terms, s->columns,
		      cube_up(s->terms, c0));
	}
}

/* Terms [k, k + nk) of the step, in fractals, to L0A. */
static void left(struct cube *x, const struct cube_step *s, int64_t to, int64_t from, int64_t k, int64_t nk)
{
	int64_t m1 = hn_ceildiv(s->rows, 16);

	if (x->t->window != NULL) {
		hn_buf_printf(x->text, "load3d.%s l0a[" N64 "] l1[" N64 "] m0 " N64 " k0 " N64 " m " N64 " k " N64
			      "\n", hn_npu_type_word(x->t->dtype), to, from,
			      (x->part[1].first + s->row) % x->t->window->wide, k, m1, nk);
	} else if (x->t->a.turned && !cube_turns_a(x->t)) {
		int64_t k1 = hn_ceildiv(s->terms, 16);

		fractals(x, "l0a", to, from + k * CUBE_FRACTAL, m1, k1, nk, nk, 1, 1, true);
	} else {
		int64_t high = m1 + (x->t->a.split > 0);

		fractals(x, "l0a", to, from + k * high * CUBE_FRACTAL, m1, 1, nk, nk, high, 1, false);
	}
}

static void weights(struct cube *x, const struct cube_step *s, int64_t to, int64_t from, int64_t k, int64_t nk)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t n1 = hn_ceildiv(s->columns, 16), c1 = blocks_of(x, s->terms), points = w->kh * w->kw;

	bool whole = !x->t->b.turned && !w->staged && cube_weights_at_once(x->t, s->terms);

	for (int64_t i = k; i < k + nk; i++) {
		int64_t at = i % points * (whole ? 1 : n1) * c1 + i / points * (x->t->b.turned ? n1 : 1);

		fractals(x, "l0b", to + (i - k) * n1 * CUBE_FRACTAL, from + at * CUBE_FRACTAL, n1,
			 x->t->b.turned ? 1 : whole ? points * c1 : c1, 1, 1, 1, 1, !x->t->b.turned);
	}
}

static void right(struct cube *x, const struct cube_step *s, int64_t to, int64_t from, int64_t k, int64_t nk)
{
	int64_t n1 = hn_ceildiv(s->columns, 16);

	if (x->t->window != NULL && !x->t->window->merged) {
		weights(x, s, to, from, k, nk);
	} else if (x->t->b.turned || cube_turns_b(x->t)) {
		fractals(x, "l0b", to, from + k * n1 * CUBE_FRACTAL, n1, 1, 1, nk, n1, n1, false);
	} else {
		fractals(x, "l0b", to, from + k * CUBE_FRACTAL, n1, hn_ceildiv(s->terms, 16), 1, nk, 1, n1, true);
	}
}

static void put_image(struct cube *x, const struct cube_step *s)
{
	const struct hn_npu_window *w = x->t->window;
	int64_t from, above, need, rows = image_rows(x, s, &from, &above, &need);
	int64_t high = cube_image_height(x, rows, blocks_of(x, s->terms)), below = need - above - high;
	int64_t behind = (w->wide - 1) * w->sw + (w->kw - 1) * w->dw + 1 - w->left - w->width;

	hn_buf_printf(x->text, "fmatrix h " N64 " w " N64 " kh " N64 " kw " N64 " sh " N64 " sw " N64 " dh " N64
		      " dw " N64 " pt " N64 " pb " N64 " pl " N64 " pr " N64 "\n", high, w->width, w->kh, w->kw,
		      w->sh, w->sw, w->dh, w->dw, above, below < 0 ? 0 : below, w->left,
		      behind < 0 ? 0 : behind);
}

void cube_multiply(struct cube *x, int64_t number, const struct cube_step *s)
{
	int64_t a = x->slot_a[number % 2] * x->l1_a, b = at_b(x, x->slot_b[number % 2]);
	int64_t all = hn_ceildiv(s->terms, x->c0), most = x->p->k0 / x->c0;

	if (x->t->window != NULL) {
		put_image(x, s);
	}
	for (int64_t k = 0; k < all; k += most) {
		int64_t nk = cube_least(most, all - k), slot = x->n_l0++ % x->p->slots_l0;

		left(x, s, slot * x->l0_a, a, k, nk);
		right(x, s, slot * x->l0_b, b, k, nk);
		hn_buf_printf(x->text, "mmad.%s l0c[" N64 "] l0a[" N64 "] l0b[" N64 "] m " N64 " k " N64 " n " N64
			      "%s\n", hn_npu_type_word(x->t->dtype), x->n_c % x->p->slots_l0c * x->l0_c,
			      slot * x->l0_a, slot * x->l0_b, s->rows, nk * x->c0, s->columns,
			      s->first && k == 0 ? " init 1" : "");
	}
}
