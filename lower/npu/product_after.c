/* lower/npu/product_after.c -- what happens to the sums: out of L0C into the unified buffer, a piece of
 * columns at a time, through the task's operations, to global memory.
 *
 * A piece lies as the sums do: columns of 16, one behind the other, each with all rows of the tile.  A
 * number for each column is spread over a repeat once, a number for each row over 16 lanes; so all
 * operations go through whole repeats.
 */
#include "lower/npu/cube.h"
#include "target/npu/npu_insn.h"

#define REPEAT 256
#define MOST_REPEATS 255

struct piece {
	const struct cube_step *s;
	int64_t column, n; /* in the tile, in the result's columns */
	int64_t n1, m1;	   /* fractals */
	int64_t base;	   /* of the copy */
	int64_t sums;	   /* in L0C */
};

static int64_t bytes_of(const struct hn_npu_value *v)
{
	return hn_dtype_bytes(v->dtype);
}

/* -- places ----------------------------------------------------------------------------- */

/* What has fewer numbers than the sums is loaded for a whole tile, to a place of its own. */
static bool is_fixed(const struct hn_npu_value *v)
{
	return v->loaded && v->shape != HN_NPU_FULL;
}

/* Spread; what is loaded lies behind it as it comes. */
static int64_t spread_bytes(const struct cube *x, const struct hn_npu_value *v, int64_t columns)
{
	switch (v->shape) {
	case HN_NPU_ONE:
		return REPEAT;
	case HN_NPU_ROW:
		return x->p->m0 * 16 * bytes_of(v);
	case HN_NPU_COLUMN:
		return columns / 16 * REPEAT;
	default:
		return x->p->m0 * columns * bytes_of(v);
	}
}

static int64_t loaded_bytes(const struct cube *x, const struct hn_npu_value *v)
{
	int64_t n = v->shape == HN_NPU_ONE ? 32 : v->shape == HN_NPU_ROW ? x->p->m0 : x->p->n0;

	return is_fixed(v) ? cube_up(n * bytes_of(v), HN_NPU_BLOCK) : 0;
}

static void find_last(struct cube *x)
{
	const struct hn_npu_task *t = x->t;

	for (uint32_t i = 0; i < t->n_value; i++) {
		x->last[i] = -1;
		for (int k = 0; k < 2 && !t->value[i].loaded && i > 0; k++) {
			if (t->value[i].from[k] >= 0) {
				x->last[t->value[i].from[k]] = (int32_t)i;
			}
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		x->last[t->store[i].value] = (int32_t)(t->n_value + i);
	}
}

/* Rows of global memory as rows of a piece: fewer and longer bursts than columns of 16 by themselves. */
static bool is_wide(const struct hn_npu_view *v, int64_t columns)
{
	return v->block == 16 && v->lane == 1 && columns > 16;
}

/* Of float16 whose rows are next to each other instead: a piece with rows and columns exchanged, and
 * the matrices of a column of fractals. */
static int64_t turned_bytes(const struct cube *x, const struct hn_npu_view *v, int64_t columns)
{
	return v->turned ? x->p->m0 * (columns + 16) * 2 : 0;
}

/* The lowest place behind one that is taken, or 0, where nothing that lives reaches in. */
static int64_t free_place(const struct cube *x, const int64_t *bytes, uint32_t i)
{
	int64_t best = INT64_MAX;

	for (uint32_t c = 0; c <= i; c++) {
		int64_t at = c == i ? 0 : x->at[c] + bytes[c];
		bool taken = c < i && (x->last[c] < (int32_t)i || is_fixed(&x->t->value[c]));

		for (uint32_t o = 0; o < i && !taken; o++) {
			taken = x->last[o] >= (int32_t)i && !is_fixed(&x->t->value[o]) &&
				x->at[o] < at + bytes[i] && at < x->at[o] + bytes[o];
		}
		best = !taken && at < best ? at : best;
	}
	return best;
}

int64_t cube_place(struct cube *x, int64_t columns)
{
	const struct hn_npu_task *t = x->t;
	int64_t bytes[HN_NPU_MOST_VALUES], all = 0;

	find_last(x);
	x->fixed = 0;
	for (uint32_t i = 0; i < t->n_value; i++) {
		const struct hn_npu_value *v = &t->value[i];

		bytes[i] = spread_bytes(x, v, is_fixed(v) ? x->p->n0 : columns) + loaded_bytes(x, v);
		bytes[i] *= v->loaded && !is_fixed(v) && is_wide(&v->view, columns) ? 2 : 1;
		bytes[i] += turned_bytes(x, &v->view, columns);
		x->at[i] = -1;
		if (x->last[i] < 0) { /* nobody reads it: it is not made */
			bytes[i] = x->at[i] = 0;
			continue;
		}
		if (is_fixed(v)) {
			x->at[i] = x->fixed;
			x->fixed += bytes[i];
			continue;
		}
		/* lane by lane, in the place of an operand that ends here */
		for (int k = 0; k < 2 && !v->loaded && i > 0 && x->at[i] < 0; k++) {
			int32_t f = v->from[k];

			if (f >= 0 && x->last[f] == (int32_t)i && bytes[f] == bytes[i] && !is_fixed(&t->value[f]) &&
			    t->value[f].dtype == v->dtype && t->value[f].shape == v->shape) {
				x->at[i] = x->at[f];
			}
		}
		x->at[i] = x->at[i] < 0 ? free_place(x, bytes, i) : x->at[i];
		all = x->at[i] + bytes[i] > all ? x->at[i] + bytes[i] : all;
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		x->store_at[i] = all;
		all += is_wide(&t->store[i].view, columns)
			       ? x->p->m0 * columns * bytes_of(&t->value[t->store[i].value])
			       : turned_bytes(x, &t->store[i].view, columns);
	}
	return all;
}

/* -- what is loaded --------------------------------------------------------------------- */

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
	int64_t all = bytes / REPEAT, lanes = bytes % REPEAT / bytes_of(v);

	for (int64_t i = 0; i < all; i += MOST_REPEATS) {
		hn_buf_printf(x->text, "vdup.%s ub[" N64 "] 0 rep " N64 "\n", hn_npu_type_word(v->dtype),
			      at + i * REPEAT, cube_least(all - i, MOST_REPEATS));
	}
	if (lanes > 0) {
		hn_buf_printf(x->text, "vdup.%s ub[" N64 "] 0 mask " N64 "\n", hn_npu_type_word(v->dtype),
			      at + all * REPEAT, lanes);
	}
}

static void put_load(struct cube *x, int64_t to, const struct hn_npu_view *v, int reg, int64_t from, int64_t n,
		     int64_t burst, int64_t from_step, int64_t to_step)
{
	hn_buf_printf(x->text, "load ub[" N64 "] a%d[r%d+" N64 "] n " N64 " burst " N64 " from " N64 " to " N64 "\n",
		      to, v->arg, reg, from, n, burst, from_step, to_step);
}

/* Between columns of 16 and rows: eight rows a repeat, and the halves of a float32's row by turns. */
static void rearrange(struct cube *x, const struct piece *p, enum hn_dtype t, int64_t to, int64_t from,
		      bool to_rows)
{
	int64_t size = hn_dtype_bytes(t), per = size / 2, wide = p->n1 * per, reps = p->m1 * 2;

	for (int64_t k = 0; k < p->n1 * per; k++) {
		int64_t column = (k / per * p->m1 * 16 * per + k % per) * HN_NPU_BLOCK, row = k * HN_NPU_BLOCK;

		for (int64_t i = 0; i < reps; i += MOST_REPEATS) {
			int64_t c = column + i * 8 * per * HN_NPU_BLOCK, r = row + i * 8 * wide * HN_NPU_BLOCK;

			hn_buf_printf(x->text, "vcopy.%s ub[" N64 "] ub[" N64 "] rep " N64 " bd " N64 " b0 " N64 " sd "
				      N64 " s0 " N64 "\n", hn_npu_type_word(t), to + (to_rows ? r : c),
				      from + (to_rows ? c : r), cube_least(reps - i, MOST_REPEATS),
				      to_rows ? wide : per, to_rows ? per : wide, 8 * (to_rows ? wide : per),
				      8 * (to_rows ? per : wide));
		}
	}
}

/* Matrices of 16 rows and 16 columns, and columns of all rows, and back. */
static void turn(struct cube *x, const struct piece *p, int64_t fractals, int64_t turned, bool to_columns)
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

static void load_full(struct cube *x, const struct piece *p, const struct hn_npu_value *v, int reg, int64_t at)
{
	const struct hn_npu_view *w = &v->view;
	int64_t size = bytes_of(v), rows = p->s->rows;

	bool by_rows = is_wide(w, p->n1 * 16);
	int64_t raw = at + (by_rows || w->turned ? spread_bytes(x, v, x->piece) : 0);

	if (rows % 16 != 0 || p->n % 16 != 0) {
		zeros(x, v, raw, p->n1 * p->m1 * 256 * size);
	}
	if (by_rows) {
		put_load(x, raw, w, reg, (p->s->row * w->row + p->s->column + p->column) * size, rows, p->n * size,
			 w->row * size, p->n1 * 16 * size);
		rearrange(x, p, (enum hn_dtype)v->dtype, at, raw, false);
		return;
	}
	if (w->turned) {
		put_load(x, raw, w, reg, (p->s->row + (p->s->column + p->column) * w->lane) * size, p->n, rows * size,
			 w->lane * size, p->m1 * 16 * size);
		turn(x, p, at, raw, false);
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

static void load_column(struct cube *x, const struct piece *p, const struct hn_npu_value *v, int reg, int64_t at,
			int64_t raw)
{
	int64_t size = bytes_of(v), block = v->view.block, whole = p->n / 16, left = p->n % 16;
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
	for (int64_t c = 0; c < REPEAT; c += 16 * size) {
		hn_buf_printf(x->text, "vcopy.%s ub[" N64 "] ub[" N64 "] rep " N64 " mask 16 sd 8 s0 " N64 "\n",
			      hn_npu_type_word(v->dtype), at + c, raw, p->n1, size / 2);
	}
}

/* Numbers become blocks; of a float32 two make up the 16 lanes of a row. */
static void load_row(struct cube *x, const struct piece *p, const struct hn_npu_value *v, int reg, int64_t at,
		     int64_t raw)
{
	int64_t size = bytes_of(v), per = size / 2, all = p->m1 * 2;

	if (p->s->rows % 16 != 0) {
		zeros(x, v, raw, p->m1 * 16 * size);
	}
	put_load(x, raw, &v->view, reg, p->s->row * v->view.row * size, 1, p->s->rows * size, 0, 0);
	for (int64_t k = 0; k < per; k++) {
		for (int64_t i = 0; i < all; i += MOST_REPEATS) {
			hn_buf_printf(x->text, "vbrcb.%s ub[" N64 "] ub[" N64 "] rep " N64 " bd " N64 " sd " N64 "\n",
				      hn_npu_type_word(v->dtype), at + (i * 8 * per + k) * HN_NPU_BLOCK,
				      raw + i * 8 * size, cube_least(all - i, MOST_REPEATS), per, 8 * per);
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
	struct piece all = { .s = s, .n = s->columns, .n1 = hn_ceildiv(s->columns, 16),
			     .m1 = hn_ceildiv(s->rows, 16) };
	int64_t at = x->at[i], raw = at + spread_bytes(x, v, x->p->n0);
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
		put_load(x, raw, &v->view, reg, 0, 1, bytes_of(v), 0, 0);
		hn_buf_printf(x->text, "vbrcb.%s ub[" N64 "] ub[" N64 "]\n", hn_npu_type_word(v->dtype), at, raw);
	}
}

/* Of a piece: where a value begins. */
static int64_t place_of(const struct cube *x, const struct piece *p, int32_t i)
{
	const struct hn_npu_value *v = &x->t->value[i];

	if (!is_fixed(v)) {
		return p->base + x->at[i];
	}
	return x->at[i] + (v->shape == HN_NPU_COLUMN ? p->column / 16 * REPEAT : 0);
}

/* -- operations ------------------------------------------------------------------------- */

struct operand {
	int64_t at, step; /* step: bytes a repeat */
	const char *how;  /* named numbers */
};

/* `n` repeats of it. */
static void put(struct cube *x, const struct hn_npu_value *v, struct operand to, const struct operand *from,
		int64_t n, const char *mask)
{
	const struct hn_npu_op_row *row = &hn_npu_op[v->op];
	const char *type = hn_npu_type_word(v->dtype);

	for (int64_t i = 0; i < n; i += MOST_REPEATS) {
		hn_buf_printf(x->text, "%s.%s", row->word, type);
		if (v->op == HN_NPU_I_CONV) {
			hn_buf_printf(x->text, ".%s", hn_npu_type_word(x->t->value[v->from[0]].dtype));
		}
		hn_buf_printf(x->text, " ub[" N64 "]", to.at + i * to.step);
		for (int k = 0; k < 2 && v->from[k] >= 0; k++) {
			hn_buf_printf(x->text, " ub[" N64 "]", from[k].at + i * from[k].step);
		}
		if (row->kind == HN_NPU_K_SCALED || row->kind == HN_NPU_K_FILL) {
			hn_buf_printf(x->text, " %.9g", (double)v->scale);
		}
		hn_buf_printf(x->text, " rep " N64 "%s%s", cube_least(n - i, MOST_REPEATS), mask, to.how);
		for (int k = 0; k < 2 && v->from[k] >= 0; k++) {
			hn_buf_puts(x->text, from[k].how);
		}
		hn_buf_putc(x->text, '\n');
	}
}

static const char *const still[2] = { " s0 0", " s1 0" };
static const char *const one[2] = { " b0 0 s0 0", " b1 0 s1 0" };

/* Between types, of numbers that are spread over repeats: half of the narrower type's are read, or
 * written, at a time. */
static void convert_column(struct cube *x, const struct piece *p, const struct hn_npu_value *v, int64_t to,
			   int64_t from)
{
	int64_t parts = bytes_of(v) == 2 ? 2 : 1;

	for (int64_t i = 0; i < parts; i++) {
		struct operand of = { from, REPEAT, " s0 8" };

		put(x, v, (struct operand){ to + i * REPEAT / 2, REPEAT, " sd 8" }, &of, p->n1, "");
	}
}

static void operation(struct cube *x, const struct piece *p, int32_t i)
{
	const struct hn_npu_value *v = &x->t->value[i];
	bool conv = v->op == HN_NPU_I_CONV, by_column = false;
	int64_t lanes = conv ? 64 : REPEAT / bytes_of(v), rows = p->m1 * 16, at = p->base + x->at[i], n;

	if (v->shape == HN_NPU_COLUMN && conv) {
		convert_column(x, p, v, at, place_of(x, p, v->from[0]));
		return;
	}
	if (v->shape == HN_NPU_ONE) {
		static const char *const masks[] = { " mask 8", " mask 16" };
		struct operand from[2] = { { 0, 0, conv ? " b0 0" : "" }, { 0, 0, "" } };

		for (int k = 0; k < 2; k++) {
			from[k].at = v->from[k] < 0 ? 0 : place_of(x, p, v->from[k]);
		}
		put(x, v, (struct operand){ at, 0, "" }, from, 1, masks[bytes_of(v) == 2]);
		return;
	}
	for (int k = 0; k < 2; k++) {
		enum hn_npu_shape s = v->from[k] < 0 ? HN_NPU_ONE : x->t->value[v->from[k]].shape;

		by_column |= v->shape == HN_NPU_FULL && (s == HN_NPU_COLUMN || s == HN_NPU_ROW);
	}
	n = v->shape == HN_NPU_COLUMN ? p->n1 : v->shape == HN_NPU_ROW || by_column ? rows * 16 / lanes
										      : p->n1 * rows * 16 / lanes;
	for (int64_t c = 0; c < (by_column ? p->n1 : 1); c++) {
		struct operand from[2] = { { 0 } };

		for (int k = 0; k < 2 && v->from[k] >= 0; k++) {
			const struct hn_npu_value *f = &x->t->value[v->from[k]];
			int64_t place = place_of(x, p, v->from[k]), size = bytes_of(f);
			bool alike = f->shape == v->shape;

			from[k] = f->shape == HN_NPU_ONE ? (struct operand){ place, 0, one[k] }
				  : f->shape == HN_NPU_COLUMN && !alike
					  ? (struct operand){ place + c * REPEAT, 0, still[k] }
				  : f->shape == HN_NPU_ROW && !alike
					  ? (struct operand){ place, lanes * size, "" }
					  : (struct operand){ place + c * rows * 16 * size, lanes * size, "" };
		}
		put(x, v, (struct operand){ at + c * rows * 16 * bytes_of(v), lanes * bytes_of(v), "" }, from, n, "");
	}
}

/* -- the results ------------------------------------------------------------------------ */

static void store_value(struct cube *x, const struct piece *p, uint32_t i)
{
	const struct hn_npu_store *s = &x->t->store[i];
	const struct hn_npu_view *w = &s->view;
	int64_t size = hn_dtype_bytes(x->t->value[s->value].dtype), rows = p->s->rows;

	if (is_wide(w, p->n1 * 16)) {
		int64_t at = p->base + x->store_at[i];

		rearrange(x, p, (enum hn_dtype)x->t->value[s->value].dtype, at, p->base + x->at[s->value], true);
		hn_buf_printf(x->text, "store a%d[r%d+" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64
			      "\n", w->arg, CUBE_RESULTS + (int)i,
			      (p->s->row * w->row + p->s->column + p->column) * size, at, rows, p->n * size,
			      p->n1 * 16 * size, w->row * size);
		return;
	}
	if (w->turned) {
		int64_t at = p->base + x->store_at[i];

		turn(x, p, p->base + x->at[s->value], at, true);
		hn_buf_printf(x->text, "store a%d[r%d+" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64
			      "\n", w->arg, CUBE_RESULTS + (int)i,
			      (p->s->row + (p->s->column + p->column) * w->lane) * size, at, p->n, rows * size,
			      p->m1 * 16 * size, w->lane * size);
		return;
	}
	for (int64_t k = 0; k < p->n1; k++) {
		int64_t wide = cube_least(16, p->n - k * 16);
		int64_t to = (p->s->row * w->row + ((p->s->column + p->column) / 16 + k) * w->block) * size;
		bool dense = w->row == 16 && wide == 16;

		hn_buf_printf(x->text, "store a%d[r%d+" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64
			      "\n", w->arg, CUBE_RESULTS + (int)i, to,
			      p->base + x->at[s->value] + k * p->m1 * 256 * size, dense ? 1 : rows,
			      dense ? rows * 16 * size : wide * size, 16 * size, w->row * size);
	}
}

static void one_piece(struct cube *x, const struct piece *p)
{
	const struct hn_npu_task *t = x->t;
	bool bytes = t->dtype == HN_I8;

	for (uint32_t i = 0; i < t->n_value; i++) {
		if (x->last[i] < 0 || is_fixed(&t->value[i])) {
			continue;
		}
		if (i == 0) {
			hn_buf_printf(x->text, "vdrain.%s.%s ub[" N64 "] l0c[" N64 "] n " N64 "\n",
				      hn_npu_type_word(t->value[0].dtype), bytes ? "s32" : "f32",
				      p->base + x->at[0], p->sums, p->n1 * p->m1);
		} else if (t->value[i].loaded) {
			load_full(x, p, &t->value[i], reg_of(x, (int32_t)i), p->base + x->at[i]);
		} else {
			operation(x, p, (int32_t)i);
		}
	}
	for (uint32_t i = 0; i < t->n_store; i++) {
		store_value(x, p, i);
	}
}

void cube_store(struct cube *x, const struct cube_step *s)
{
	int64_t m1 = hn_ceildiv(s->rows, 16);

	cube_batch(x, s->batch, true);
	for (uint32_t i = 0; i < x->t->n_value; i++) {
		if (x->last[i] >= 0 && is_fixed(&x->t->value[i])) {
			load_fixed(x, s, (int32_t)i);
		}
	}
	for (int64_t c = 0; c < s->columns; c += x->piece) {
		struct piece p = { .s = s, .column = c, .n = cube_least(x->piece, s->columns - c), .m1 = m1 };

		p.n1 = hn_ceildiv(p.n, 16);
		p.base = x->fixed + x->n_piece++ % x->copies * x->ub_bytes;
		p.sums = x->n_c % x->p->slots_l0c * x->l0_c + c / 16 * m1 * 256 * CUBE_SUM;
		one_piece(x, &p);
	}
	x->n_c++;
}
