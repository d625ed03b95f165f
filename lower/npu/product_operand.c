/* lower/npu/product_operand.c -- what an operation behind the sums reads from global memory, as the sums
 * lie: whole tensors, a number for each column or row, one for all.
 */
#include "lower/npu/cube_after.h"

static int reg_of(const struct cube *x, int32_t value)
{
	int reg = CUBE_RESULTS + (int)x->t->n_store;

	for (int32_t i = 0; i < value; i++) {
		reg += x->t->value[i].loaded;
	}
	return reg;
}

static void zeros(struct cube *x, const struct hn_npu_value *v, int64_t at, int64_t bytes)
{
	int64_t all = bytes / CUBE_REPEAT, lanes = bytes % CUBE_REPEAT / cube_value_bytes(v);

	for (int64_t i = 0; i < all; i += CUBE_MOST_REPEATS) {
		hn_buf_printf(x->text, "vdup.%s ub[" N64 "] 0 rep " N64 "\n", hn_npu_type_word(v->dtype),
			      at + i * CUBE_REPEAT, cube_least(all - i, CUBE_MOST_REPEATS));
	}
	if (lanes > 0) {
		hn_buf_printf(x->text, "vdup.%s ub[" N64 "] 0 mask " N64 "\n", hn_npu_type_word(v->dtype),
			      at + all * CUBE_REPEAT, lanes);
	}
}

static void put_load(struct cube *x, int64_t to, const struct hn_npu_view *v, int reg, int64_t from, int64_t n,
		     int64_t burst, int64_t from_step, int64_t to_step)
{
	hn_buf_printf(x->text, "load ub[" N64 "] a%d[r%d+" N64 "] n " N64 " burst " N64 " from " N64 " to " N64 "\n",
		      to, v->arg, reg, from, n, burst, from_step, to_step);
}

/* Between columns of 16 and rows: eight rows a repeat, and the halves of a float32's row by turns. */
void cube_rearrange(struct cube *x, const struct cube_piece *p, enum hn_dtype t, int64_t to, int64_t from,
		      bool to_rows)
{
	int64_t size = hn_dtype_bytes(t), per = size / 2, wide = p->n1 * per, reps = p->m1 * 2;

	for (int64_t k = 0; k < p->n1 * per; k++) {
		int64_t column = (k / per * p->m1 * 16 * per + k % per) * HN_NPU_BLOCK, row = k * HN_NPU_BLOCK;

		for (int64_t i = 0; i < reps; i += CUBE_MOST_REPEATS) {
			int64_t c = column + i * 8 * per * HN_NPU_BLOCK, r = row + i * 8 * wide * HN_NPU_BLOCK;

			hn_buf_printf(x->text, "vcopy.%s ub[" N64 "] ub[" N64 "] rep " N64 " bd " N64 " b0 " N64 " sd "
				      N64 " s0 " N64 "\n", hn_npu_type_word(t), to + (to_rows ? r : c),
				      from + (to_rows ? c : r), cube_least(reps - i, CUBE_MOST_REPEATS),
				      to_rows ? wide : per, to_rows ? per : wide, 8 * (to_rows ? wide : per),
				      8 * (to_rows ? per : wide));
		}
	}
}

/* Matrices of 16 rows and 16 columns, and columns of all rows, and back. */
void cube_exchange(struct cube *x, const struct cube_piece *p, int64_t fractals, int64_t turned, bool to_columns)
{
	int64_t high = p->m1 * 16, room = turned + p->n1 * 16 * high * 2;

	for (int64_t k = 0; k < p->n1; k++) {
		int64_t at = fractals + k * high * HN_NPU_BLOCK;

		if (to_columns) {
			hn_buf_printf(x->text, "vtrans.f16 ub[" N64 "] ub[" N64 "] n " N64 "\n", room, at, p->m1);
		}
		for (int64_t c = 0; c < 16; c++) {
			int64_t column = turned + (k * 16 + c) * high * 2, row = room + c * HN_NPU_BLOCK;

			cube_copy(x, to_columns ? column : row, to_columns ? 1 : 16, to_columns ? row : column,
				  to_columns ? 16 : 1, p->m1);
		}
		if (!to_columns) {
			hn_buf_printf(x->text, "vtrans.f16 ub[" N64 "] ub[" N64 "] n " N64 "\n", at, room, p->m1);
		}
	}
}

void cube_load_full(struct cube *x, const struct cube_piece *p, int32_t value)
{
	const struct hn_npu_value *v = &x->t->value[value];
	int64_t at = p->base + x->at[value];
	int reg = reg_of(x, value);
	const struct hn_npu_view *w = &v->view;
	int64_t size = cube_value_bytes(v), rows = p->s->rows;

	bool by_rows = cube_is_wide(w, p->n1 * 16);
	int64_t raw = at + (by_rows || w->turned ? cube_spread_bytes(x, v, x->piece) : 0);

	if (rows % 16 != 0 || p->n % 16 != 0) {
		zeros(x, v, raw, p->n1 * p->m1 * 256 * size);
	}
	if (by_rows) {
		put_load(x, raw, w, reg, (p->s->row * w->row + p->s->column + p->column) * size, rows, p->n * size,
			 w->row * size, p->n1 * 16 * size);
		cube_rearrange(x, p, (enum hn_dtype)v->dtype, at, raw, false);
		return;
	}
	if (w->turned) {
		put_load(x, raw, w, reg, (p->s->row + (p->s->column + p->column) * w->lane) * size, p->n, rows * size,
			 w->lane * size, p->m1 * 16 * size);
		cube_exchange(x, p, at, raw, false);
		return;
	}
	for (int64_t k = 0; k < p->n1; k++) {
		int64_t wide = cube_least(16, p->n - k * 16), to = at + k * p->m1 * 256 * size;
		int64_t from = (p->s->row * w->row + ((p->s->column + p->column) / 16 + k) * w->block) * size;

		if (w->row == 16 && wide == 16) {
			put_load(x, to, w, reg, from, 1, rows * 16 * size, 0, 0);
		} else {
			put_load(x, to, w, reg, from, rows, wide * size, w->row * size, 16 * size);
		}
	}
}

static void load_column(struct cube *x, const struct cube_piece *p, const struct hn_npu_value *v, int reg, int64_t at,
			int64_t raw)
{
	int64_t size = cube_value_bytes(v), block = v->view.block, whole = p->n / 16, left = p->n % 16;
	int64_t from = p->s->column / 16 * block * size;

	if (left != 0) {
		zeros(x, v, raw, p->n1 * 16 * size);
	}
	if (whole > 0) {
		put_load(x, raw, &v->view, reg, from, whole, 16 * size, block * size, 16 * size);
	}
	if (left != 0) {
		put_load(x, raw + whole * 16 * size, &v->view, reg, from + whole * block * size, 1, left * size,
			 0, 0);
	}
	for (int64_t c = 0; c < CUBE_REPEAT; c += 16 * size) {
		hn_buf_printf(x->text, "vcopy.%s ub[" N64 "] ub[" N64 "] rep " N64 " mask 16 sd 8 s0 " N64 "\n",
			      hn_npu_type_word(v->dtype), at + c, raw, p->n1, size / 2);
	}
}

/* Numbers become blocks; of a float32 two make up the 16 lanes of a row. */
static void load_row(struct cube *x, const struct cube_piece *p, const struct hn_npu_value *v, int reg, int64_t at,
		     int64_t raw)
{
	int64_t size = cube_value_bytes(v), per = size / 2, all = p->m1 * 2;

	if (p->s->rows % 16 != 0) {
		zeros(x, v, raw, p->m1 * 16 * size);
	}
	put_load(x, raw, &v->view, reg, p->s->row * v->view.row * size, 1, p->s->rows * size, 0, 0);
	for (int64_t k = 0; k < per; k++) {
		for (int64_t i = 0; i < all; i += CUBE_MOST_REPEATS) {
			hn_buf_printf(x->text, "vbrcb.%s ub[" N64 "] ub[" N64 "] rep " N64 " bd " N64 " sd " N64 "\n",
				      hn_npu_type_word(v->dtype), at + (i * 8 * per + k) * HN_NPU_BLOCK,
				      raw + i * 8 * size, cube_least(all - i, CUBE_MOST_REPEATS), per, 8 * per);
		}
	}
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

/* What a tile needs of it, unless the one before had the same. */
static void load_fixed(struct cube *x, const struct cube_step *s, int32_t i)
{
	const struct hn_npu_value *v = &x->t->value[i];
	struct cube_piece all = { .s = s, .n = s->columns, .n1 = hn_ceildiv(s->columns, 16),
			     .m1 = hn_ceildiv(s->rows, 16) };
	int64_t at = x->at[i], raw = at + cube_spread_bytes(x, v, x->p->n0);
	int64_t key[2] = { has_batch(&v->view) ? s->batch : 0,
			   v->shape == HN_NPU_ROW ? s->row : v->shape == HN_NPU_COLUMN ? s->column : 0 };
	int reg = reg_of(x, i);

	if (key[0] == x->fixed_at[i][0] && key[1] == x->fixed_at[i][1]) {
		return;
	}
	x->fixed_at[i][0] = key[0];
	x->fixed_at[i][1] = key[1];
	if (v->shape == HN_NPU_COLUMN) {
		load_column(x, &all, v, reg, at, raw);
	} else if (v->shape == HN_NPU_ROW) {
		load_row(x, &all, v, reg, at, raw);
	} else {
		put_load(x, raw, &v->view, reg, 0, 1, cube_value_bytes(v), 0, 0);
		hn_buf_printf(x->text, "vbrcb.%s ub[" N64 "] ub[" N64 "]\n", hn_npu_type_word(v->dtype), at, raw);
	}
}

void cube_load_fixed(struct cube *x, const struct cube_step *s)
{
	for (uint32_t i = 0; i < x->t->n_value; i++) {
		if (x->last[i] >= 0 && cube_is_fixed(&x->t->value[i])) {
			load_fixed(x, s, (int32_t)i);
		}
	}
}

/* Of a piece: where a value begins. */
int64_t cube_place_of(const struct cube *x, const struct cube_piece *p, int32_t i)
{
	const struct hn_npu_value *v = &x->t->value[i];

	if (!cube_is_fixed(v)) {
		return p->base + x->at[i];
	}
	return x->at[i] + (v->shape == HN_NPU_COLUMN ? p->column / 16 * CUBE_REPEAT : 0);
}
