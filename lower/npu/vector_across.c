/* lower/npu/vector_across.c -- operations across lanes: rows become numbers, numbers become blocks, and
 * what came from memory number by number is put together.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "lower/npu/vector_text.h"

#define MOST_STRIDE 4095 /* blocks between repeats */

static int64_t rows_of(const struct vec_tile *t, int32_t v)
{
	return vec_rows(t->x, t->x->v[v].dims, t->n);
}

/* to with= from, or (first) to = from: n repeats, `apart` blocks of the source and `to` of the result
 * between them; -1: as if dense. */
static void step(struct vec_tile *t, const struct vec_op *op, bool first, int64_t to, int64_t from, int64_t n,
		 int64_t mask, int64_t apart, int64_t apart_to)
{
	const char *type = vec_type_word(t, op->to);

	if (first) {
		hn_buf_printf(t->text, "vcopy.%s ub[%" PRId64 "] ub[%" PRId64 "]", type, to, from);
	} else {
		hn_buf_printf(t->text, "%s.%s ub[%" PRId64 "] ub[%" PRId64 "] ub[%" PRId64 "]",
			      hn_npu_op[op->with].word, type, to, to, from);
	}
	vec_named(t, "rep", n, 1);
	vec_named(t, "mask", mask, -1);
	vec_named(t, "sd", apart_to, -1);
	if (!first) {
		vec_named(t, "s0", apart_to, -1);
	}
	vec_named(t, first ? "s0" : "s1", apart, -1);
	vec_end_line(t);
}

/* Rows of one result that follow each other: as many at a time as a repeat holds, then these. */
static void rows_to_one(struct vec_tile *t, const struct vec_op *op, int64_t to, int64_t from, int64_t rows,
			int64_t row, int64_t room)
{
	int64_t size = vec_size(t->x, op->to), few = 256 / row, wide = few * row, mask = wide == 256 ? -1 : wide / size;
	int64_t rest = rows % few;

	step(t, op, true, room, from, 1, mask, -1, -1);
	for (int64_t i = 1; i < rows / few; i += VEC_REPEATS) {
		step(t, op, false, room, from + i * wide, rows / few - i < VEC_REPEATS ? rows / few - i : VEC_REPEATS,
		     mask, wide / HN_NPU_BLOCK, 0);
	}
	if (rest > 0) {
		step(t, op, false, room, from + rows / few * wide, 1, rest * row / size, -1, -1);
	}
	step(t, op, true, to, room, 1, row / size, -1, -1);
	step(t, op, false, to, room + row, few - 1, row / size, row / HN_NPU_BLOCK, 0);
}

/* Of the dimensions but the last those that the tile has more of than one. */
static uint32_t outer(const struct vec_tile *t, uint32_t dims)
{
	uint32_t ret = 0;

	for (uint32_t d = 0; d < t->x->n_dim; d++) {
		ret |= t->n[d] > 1 ? vec_bit(d) & dims & ~vec_last(t->x) : 0;
	}
	return ret;
}

bool vec_chain_rows(struct vec_tile *t, const struct vec_op *op)
{
	const struct vec *x = t->x;
	const struct vec_value *to = &x->v[op->to], *from = &x->v[op->from[0]];
	uint32_t kept = outer(t, to->dims), over = outer(t, from->dims & ~to->dims);
	int64_t row = t->padded * vec_size(x, op->to), few = row <= 128 ? 256 / row : 1, n = vec_rows(x, over, t->n);
	int64_t one, results = rows_of(t, op->to), at = vec_address(t, op->to), source = vec_address(t, op->from[0]);

	if (to->form != VEC_FULL || few < 2 || n < 2 * few || !vec_is_filled(t) ||
	    /* the dimensions that are summed over are the innermost */
	    kept >> __builtin_ctz(over) != 0) {
		return false;
	}
	/* repeats of this, and of rows one by one, of eight results at a time where there are as many */
	one = (results < 8 ? results : hn_ceildiv(results, 8) * (row / HN_NPU_BLOCK)) * n;
	if (results * (n / few + few + 4) >= one) {
		return false;
	}
	for (int64_t r = 0; r < results && t->n_insn <= HN_NPU_MOST_INSNS; r++) {
		rows_to_one(t, op, at + r * row, source + r * n * row, n, row,
			    at + x->v[to->root].bytes - to->behind);
	}
	return true;
}

/* Row by row: a row's repeats are those of an instruction, onto one. */
static void fold_rows(struct vec_tile *t, const struct vec_op *op, int64_t to, int64_t from, int64_t rows,
		      int64_t row)
{
	int64_t lanes = 256 / vec_size(t->x, op->to), whole = vec_columns(t) / lanes, rest = vec_columns(t) % lanes;

	for (int64_t r = 0; r < rows && t->n_insn <= HN_NPU_MOST_INSNS; r++, to += 256, from += row) {
		step(t, op, true, to, from, 1, -1, -1, -1);
		for (int64_t c = 1; c < whole; c += VEC_REPEATS) {
			step(t, op, false, to, from + c * 256, whole - c < VEC_REPEATS ? whole - c : VEC_REPEATS, -1,
			     -1, 0);
		}
		if (rest > 0) {
			step(t, op, false, to, from + whole * 256, 1, rest, -1, -1);
		}
	}
}

/* A row's repeats become one, if there are more: to = from, then to with= the next. */
void vec_fold(struct vec_tile *t, const struct vec_op *op)
{
	int64_t size = vec_size(t->x, op->to), lanes = 256 / size, row = t->padded * size;
	int64_t columns = vec_columns(t), rows = rows_of(t, op->to), repeats = hn_ceildiv(columns, lanes);
	int64_t to = vec_address(t, op->to), from = vec_address(t, op->from[0]);

	if (columns <= lanes) {
		return;
	}
	if (row / HN_NPU_BLOCK > MOST_STRIDE || rows * 3 < repeats * hn_ceildiv(rows, VEC_REPEATS)) {
		fold_rows(t, op, to, from, rows, row);
		return;
	}
	for (int64_t c = 0; c < repeats; c++) {
		int64_t mask = columns - c * lanes < lanes ? columns - c * lanes : -1;

		for (int64_t r = 0; r < rows; r += VEC_REPEATS) {
			step(t, op, c == 0, to + r * 256, from + c * 256 + r * row,
			     rows - r < VEC_REPEATS ? rows - r : VEC_REPEATS, mask, row / HN_NPU_BLOCK, -1);
		}
	}
}

/* Each row's repeat, or its row where that is one, becomes a number. */
void vec_reduce(struct vec_tile *t, const struct vec_op *op, const struct vec_op *before)
{
	int64_t size = vec_size(t->x, op->to), lanes = 256 / size, columns = vec_columns(t);
	bool folded = columns > lanes;
	int64_t step = folded ? 8 : t->padded * size / HN_NPU_BLOCK, rows = rows_of(t, op->to);
	int64_t from = vec_address(t, folded ? op->from[0] : before->from[0]), to = vec_address(t, op->to);

	for (int64_t r = 0; r < rows; r += VEC_REPEATS) {
		hn_buf_printf(t->text, "%s.%s ub[%" PRId64 "] ub[%" PRId64 "]", hn_npu_op[op->what].word,
			      vec_type_word(t, op->to), to + r * size, from + r * step * HN_NPU_BLOCK);
		vec_named(t, "rep", rows - r < VEC_REPEATS ? rows - r : VEC_REPEATS, 1);
		vec_named(t, "mask", folded ? -1 : columns, -1);
		vec_named(t, "s0", folded ? -1 : step, -1);
		vec_end_line(t);
	}
}

static void blocks(struct vec_tile *t, const struct vec_op *op, int64_t to, int64_t from, int64_t n)
{
	int64_t size = vec_size(t->x, op->to);

	for (int64_t r = 0; r < n; r += 8 * VEC_REPEATS) {
		int64_t few = n - r < 8 * VEC_REPEATS ? n - r : 8 * VEC_REPEATS;

		hn_buf_printf(t->text, "vbrcb.%s ub[%" PRId64 "] ub[%" PRId64 "]", size == 4 ? "f32" : "f16",
			      to + r * HN_NPU_BLOCK, from + r * size);
		vec_named(t, "rep", hn_ceildiv(few, 8), 1);
		vec_end_line(t);
	}
}

/* A block for each number; of rows, so many for each that they are whole repeats. */
void vec_to_blocks(struct vec_tile *t, const struct vec_op *op)
{
	const struct vec_value *v = &t->x->v[op->from[0]];
	int64_t rows = rows_of(t, op->from[0]), columns = vec_columns(t);
	int64_t room = hn_ceildiv(columns, 8) * 8, to = vec_address(t, op->to), from = vec_address(t, op->from[0]);

	if (v->form != VEC_FULL) {
		blocks(t, op, to, from, v->dims == 0 ? 8 : rows);
	} else if (columns == t->padded) {
		blocks(t, op, to, from, rows * columns);
	} else {
		for (int64_t r = 0; r < rows && t->n_insn <= HN_NPU_MOST_INSNS; r++) {
			blocks(t, op, to + r * room * HN_NPU_BLOCK, from + r * t->padded * vec_size(t->x, op->to),
			       columns);
		}
	}
}

static void across(struct vec_tile *t, const char *word, const char *type, int64_t to, int64_t from,
		   int64_t repeats, int64_t mask, int64_t step)
{
	hn_buf_printf(t->text, "%s.%s ub[%" PRId64 "] ub[%" PRId64 "]", word, type, to, from);
	vec_named(t, "rep", repeats, 1);
	vec_named(t, "mask", mask, -1);
	vec_named(t, "s0", step, -1);
	vec_end_line(t);
}

/* n blocks, of a number and zeros each, become numbers; the last eight reach back over others. */
static void together(struct vec_tile *t, const struct vec_op *op, int64_t to, int64_t from, int64_t n)
{
	int64_t size = vec_size(t->x, op->to), eights = n / 8;
	const char *type = vec_type_word(t, op->to);

	for (int64_t r = 0; r < eights; r += VEC_REPEATS) {
		across(t, "vcgadd", type, to + r * 8 * size, from + r * 256,
		       eights - r < VEC_REPEATS ? eights - r : VEC_REPEATS, -1, -1);
	}
	if (eights > 0 && n % 8 != 0) {
		across(t, "vcgadd", type, to + (n - 8) * size, from + (n - 8) * HN_NPU_BLOCK, 1, -1, -1);
	} else if (eights == 0) {
		across(t, "vcadd", type, to, from, n, 1, 1);
	}
}

void vec_gather(struct vec_tile *t, const struct vec_op *op)
{
	int64_t rows = rows_of(t, op->to), columns = vec_columns(t), size = vec_size(t->x, op->to);
	int64_t room = hn_ceildiv(columns, 8) * 8, to = vec_address(t, op->to), from = vec_address(t, op->from[0]);

	if (t->x->v[op->to].form != VEC_FULL) {
		together(t, op, to, from, rows);
	} else if (columns == t->padded) {
		together(t, op, to, from, rows * columns);
	} else {
		for (int64_t r = 0; r < rows && t->n_insn <= HN_NPU_MOST_INSNS; r++) {
			together(t, op, to + r * t->padded * size, from + r * room * HN_NPU_BLOCK, columns);
		}
	}
}
