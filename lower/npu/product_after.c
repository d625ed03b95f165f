/* lower/npu/product_after.c -- what happens to the sums: out of L0C into the unified buffer, a piece of
 * columns at a time, through the task's operations, to global memory.
 */
#include "lower/npu/cube_after.h"

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

	for (int64_t i = 0; i < n; i += CUBE_MOST_REPEATS) {
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
		hn_buf_printf(x->text, " rep " N64 "%s%s", cube_least(n - i, CUBE_MOST_REPEATS), mask, to.how);
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
static void convert_column(struct cube *x, const struct cube_piece *p, const struct hn_npu_value *v, int64_t to,
			   int64_t from)
{
	int64_t parts = cube_value_bytes(v) == 2 ? 2 : 1;

	for (int64_t i = 0; i < parts; i++) {
		struct operand of = { from, CUBE_REPEAT, " s0 8" };

		put(x, v, (struct operand){ to + i * CUBE_REPEAT / 2, CUBE_REPEAT, " sd 8" }, &of, p->n1, "");
	}
}

static void operation(struct cube *x, const struct cube_piece *p, int32_t i)
{
	const struct hn_npu_value *v = &x->t->value[i];
	bool conv = v->op == HN_NPU_I_CONV, by_column = false;
	int64_t lanes = conv ? 64 : CUBE_REPEAT / cube_value_bytes(v), rows = p->m1 * 16, at = p->base + x->at[i], n;

	if (v->shape == HN_NPU_COLUMN && conv) {
		convert_column(x, p, v, at, cube_place_of(x, p, v->from[0]));
		return;
	}
	if (v->shape == HN_NPU_ONE) {
		static const char *const masks[] = { " mask 8", " mask 16" };
		struct operand from[2] = { { 0, 0, conv ? " b0 0" : "" }, { 0, 0, "" } };

		for (int k = 0; k < 2; k++) {
			from[k].at = v->from[k] < 0 ? 0 : cube_place_of(x, p, v->from[k]);
		}
		put(x, v, (struct operand){ at, 0, "" }, from, 1, masks[cube_value_bytes(v) == 2]);
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
			int64_t place = cube_place_of(x, p, v->from[k]), size = cube_value_bytes(f);
			bool alike = f->shape == v->shape;

			from[k] = f->shape == HN_NPU_ONE ? (struct operand){ place, 0, one[k] }
				  : f->shape == HN_NPU_COLUMN && !alike
					  ? (struct operand){ place + c * CUBE_REPEAT, 0, still[k] }
				  : f->shape == HN_NPU_ROW && !alike
					  ? (struct operand){ place, lanes * size, "" }
					  : (struct operand){ place + c * rows * 16 * size, lanes * size, "" };
		}
		put(x, v, (struct operand){ at + c * rows * 16 * cube_value_bytes(v), lanes * cube_value_bytes(v), "" }, from, n, "");
	}
}

/* -- the results ------------------------------------------------------------------------ */

/* Bursts of a piece's store, `first` numbers of each left out. */
static void put_store(struct cube *x, uint32_t i, int64_t to, int64_t at, int64_t n, int64_t burst, int64_t from_step,
		      int64_t to_step, bool edge)
{
	int64_t first = edge ? 16 * hn_dtype_bytes(x->t->value[x->t->store[i].value].dtype) : 0;

	if (burst > first) {
		hn_buf_printf(x->text, "store a%d[r%d+" N64 "] ub[" N64 "] n " N64 " burst " N64 " from " N64 " to " N64
			      "\n", x->t->store[i].view.arg, CUBE_RESULTS + (int)i, to + first, at + first, n,
			      burst - first, from_step, to_step);
	}
}

static void store_value(struct cube *x, const struct cube_piece *p, uint32_t i)
{
	const struct hn_npu_store *s = &x->t->store[i];
	const struct hn_npu_view *w = &s->view;
	int64_t size = hn_dtype_bytes(x->t->value[s->value].dtype), rows = p->s->rows;
	bool edge = cube_is_edge(x, p, i);

	if (cube_is_wide(w, p->n1 * 16)) {
		int64_t at = p->base + x->store_at[i];

		cube_rearrange(x, p, (enum hn_dtype)x->t->value[s->value].dtype, at, p->base + x->at[s->value], true);
		if (edge) {
			cube_put_edge(x, i, p->s->row, rows, at, p->n1 * 16 * size);
		}
		put_store(x, i, (p->s->row * w->row + p->s->column + p->column) * size, at, rows, p->n * size,
			  p->n1 * 16 * size, w->row * size, edge);
		return;
	}
	if (w->turned) {
		int64_t at = p->base + x->store_at[i];

		cube_exchange(x, p, p->base + x->at[s->value], at, true);
		if (edge) {
			cube_put_edge(x, i, p->s->column + p->column, p->n, at, p->m1 * 16 * size);
		}
		put_store(x, i, (p->s->row + (p->s->column + p->column) * w->lane) * size, at, p->n, rows * size,
			  p->m1 * 16 * size, w->lane * size, edge);
		return;
	}
	for (int64_t k = 0; k < p->n1; k++) {
		int64_t wide = cube_least(16, p->n - k * 16);
		int64_t to = (p->s->row * w->row + ((p->s->column + p->column) / 16 + k) * w->block) * size;
		int64_t at = p->base + x->at[s->value] + k * p->m1 * 256 * size;
		bool dense = w->row == 16 && wide == 16;

		if (edge && k == 0) {
			cube_put_edge(x, i, p->s->row, rows, at, 16 * size);
		}
		put_store(x, i, to, at, dense ? 1 : rows, dense ? rows * 16 * size : wide * size, 16 * size, w->row * size,
			  edge && k == 0);
	}
}

static void one_piece(struct cube *x, const struct cube_piece *p)
{
	const struct hn_npu_task *t = x->t;
	bool bytes = t->dtype == HN_I8;

	for (uint32_t i = 0; i < t->n_value; i++) {
		if (x->last[i] < 0 || cube_is_fixed(&t->value[i])) {
			continue;
		}
		if (i == 0 && x->n_sums > 1) {
			cube_take_sums(x, p);
		} else if (i == 0) {
			hn_buf_printf(x->text, "vdrain.%s.%s ub[" N64 "] l0c[" N64 "] n " N64 "\n",
				      hn_npu_type_word(t->value[0].dtype), bytes ? "s32" : "f32",
				      p->base + x->at[0], p->sums, p->n1 * p->m1);
		} else if (t->value[i].loaded) {
			cube_load_full(x, p, (int32_t)i);
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
	cube_load_fixed(x, s);
	for (int64_t c = 0; c < s->columns; c += x->piece) {
		struct cube_piece p = { .s = s, .column = c, .n = cube_least(x->piece, s->columns - c), .m1 = m1 };

		p.n1 = hn_ceildiv(p.n, 16);
		p.base = x->fixed + x->n_piece++ % x->copies * x->ub_bytes;
		p.sums = x->n_c % x->p->slots_l0c * x->l0_c + c / 16 * m1 * 256 * CUBE_SUM;
		one_piece(x, &p);
	}
	x->n_c++;
}
