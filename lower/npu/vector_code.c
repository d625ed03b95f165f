/* lower/npu/vector_code.c -- the operations of a tile as instructions, tile after tile.
 *
 * Where all operands lie alike, one instruction goes through the whole tile.  Else it is done in
 * columns of a repeat's width: each repeat is a row, and what is spread has stride 0.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define MOST_REPEATS 255

struct tile {
	const struct vec *x;
	struct hn_buf *text;
	int64_t at, rows, columns; /* of the core: first row, or element; how many */
	int64_t padded;
	int64_t skip; /* rows of the cores before this section */
	uint32_t slot;
};

static int64_t size_of(const struct tile *t, int32_t v)
{
	return hn_dtype_bytes((enum hn_dtype)t->x->v[v].dtype);
}

static enum vec_shape shape_of(const struct tile *t, int32_t v)
{
	return (enum vec_shape)t->x->v[v].shape;
}

static int64_t address(const struct tile *t, int32_t v)
{
	const struct vec_value *w = &t->x->v[v];

	return w->at + t->slot % w->copies * w->bytes;
}

static const char *type_word(const struct tile *t, int32_t v)
{
	return hn_npu_type_word((enum hn_dtype)t->x->v[v].dtype);
}

/* What is loaded into a row fills it to its end, whatever its type. */
static bool is_filled(const struct tile *t)
{
	for (uint32_t i = 0; i < t->x->n_value; i++) {
		int64_t size = size_of(t, (int32_t)i);

		if (t->x->v[i].shape == VEC_FULL &&
		    hn_ceildiv(t->columns * size, HN_NPU_BLOCK) * HN_NPU_BLOCK != t->padded * size) {
			return false;
		}
	}
	return true;
}

static void named(const struct tile *t, const char *name, int64_t v, int64_t fallback)
{
	if (v != fallback) {
		hn_buf_printf(t->text, " %s %" PRId64, name, v);
	}
}

/* The operands of one instruction: where each begins, and its strides; -1: as if dense. */
struct operand {
	int32_t value;
	int64_t at, block, step;
};

static void instruction(const struct tile *t, const struct vec_op *op, struct operand *o, int n,
			int64_t repeats, int64_t mask)
{
	static const char *const blocks[] = { "bd", "b0", "b1" }, *const steps[] = { "sd", "s0", "s1" };
	uint8_t kind = hn_npu_op[op->what].kind;

	hn_buf_printf(t->text, "%s.%s", hn_npu_op[op->what].word,
		      type_word(t, kind == HN_NPU_K_COMPARE ? o[1].value : o[0].value));
	if (op->what == HN_NPU_I_CONV) {
		hn_buf_printf(t->text, ".%s", type_word(t, o[1].value));
	}
	for (int i = 0; i < n; i++) {
		hn_buf_printf(t->text, " ub[%" PRId64 "]", o[i].at);
	}
	if (kind == HN_NPU_K_SCALED || kind == HN_NPU_K_FILL) {
		hn_buf_printf(t->text, " %.9g", (double)op->scale);
	}
	named(t, "rep", repeats, 1);
	named(t, "mask", mask, -1);
	for (int i = 0; i < n && i < 3; i++) {
		bool bits = shape_of(t, o[i].value) == VEC_BITS;

		if (!bits) {
			named(t, blocks[i], o[i].block, 1);
			named(t, steps[i], o[i].step, -1);
		}
	}
	hn_buf_putc(t->text, '\n');
}

static int operands(const struct vec_op *op, struct operand *o)
{
	int n = 1;

	o[0] = (struct operand){ .value = op->to };
	for (int i = 0; i < 3; i++) {
		if (op->from[i] >= 0) {
			o[n++] = (struct operand){ .value = op->from[i] };
		}
	}
	return n;
}

static int64_t lanes_of(const struct tile *t, const struct operand *o, int n)
{
	int64_t most = 1;

	for (int i = 0; i < n; i++) {
		int64_t size = size_of(t, o[i].value);

		most = size > most ? size : most;
	}
	return 256 / most;
}

/* All operands lie alike: `count` numbers one after the other. */
static void run(const struct tile *t, const struct vec_op *op, int64_t count)
{
	struct operand o[4];
	int n = operands(op, o);
	int64_t lanes = lanes_of(t, o, n);

	for (int64_t i = 0; i < count;) {
		int64_t rest = count - i, repeats = rest / lanes;
		int64_t mask = repeats == 0 ? rest : -1;

		repeats = repeats == 0 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : repeats;
		for (int k = 0; k < n; k++) {
			enum vec_shape s = shape_of(t, o[k].value);
			bool one = s == VEC_ONE && k > 0;

			o[k].at = address(t, o[k].value) +
				  (one ? 0 : s == VEC_BITS ? i / lanes * HN_NPU_BLOCK : i * size_of(t, o[k].value));
			o[k].block = one ? 0 : 1;
			o[k].step = one ? 0 : -1;
		}
		instruction(t, op, o, n, repeats, mask);
		i += mask >= 0 ? rest : repeats * lanes;
	}
}

/* Columns of a repeat's width, a repeat for each row. */
static void columns(const struct tile *t, const struct vec_op *op)
{
	struct operand o[4];
	int n = operands(op, o);
	int64_t lanes = lanes_of(t, o, n);

	for (int64_t c = 0; c * lanes < t->columns; c++) {
		int64_t mask = t->columns - c * lanes < lanes ? t->columns - c * lanes : -1;

		for (int64_t r = 0; r < t->rows; r += MOST_REPEATS) {
			int64_t rows = t->rows - r < MOST_REPEATS ? t->rows - r : MOST_REPEATS;

			for (int k = 0; k < n; k++) {
				int64_t size = size_of(t, o[k].value), row = t->padded * size;
				int64_t at = address(t, o[k].value);

				switch (shape_of(t, o[k].value)) {
				case VEC_FULL:
					o[k] = (struct operand){ o[k].value, at + c * lanes * size + r * row, 1,
								 row / HN_NPU_BLOCK };
					break;
				case VEC_COLUMN:
					o[k] = (struct operand){ o[k].value, at + c * lanes * size, 1, 0 };
					break;
				case VEC_SPREAD:
					o[k] = (struct operand){ o[k].value, at + r * HN_NPU_BLOCK, 0, 1 };
					break;
				case VEC_BITS:
					o[k] = (struct operand){ o[k].value,
								 at + (c * t->rows + r) * HN_NPU_BLOCK, 1, -1 };
					break;
				default:
					o[k] = (struct operand){ o[k].value, at, 0, 0 };
				}
			}
			instruction(t, op, o, n, rows, mask);
		}
	}
}

static void lane_by_lane(const struct tile *t, const struct vec_op *op)
{
	enum vec_shape shape = shape_of(t, op->to);
	bool alike = true;

	for (int i = 0; i < 3; i++) {
		enum vec_shape s = op->from[i] < 0 ? VEC_ONE : shape_of(t, op->from[i]);

		alike = alike && (s == VEC_ONE || s == VEC_BITS || s == shape || shape == VEC_BITS);
	}
	if (shape == VEC_ONE) {
		run(t, op, HN_NPU_BLOCK / size_of(t, op->to));
	} else if (shape == VEC_ROW) {
		run(t, op, t->rows);
	} else if (shape == VEC_COLUMN) {
		run(t, op, t->columns);
	} else if (alike && (t->rows == 1 || is_filled(t))) {
		run(t, op, t->rows == 1 ? t->columns : t->rows * t->padded);
	} else {
		columns(t, op);
	}
}

/* A row's repeats become one, if there are more: to = from[0], then to op= the next. */
static void fold(const struct tile *t, const struct vec_op *op)
{
	static const uint16_t copy = HN_NPU_I_COPY;
	int64_t size = size_of(t, op->to), lanes = 256 / size, row = t->padded * size / HN_NPU_BLOCK;

	for (int64_t c = 0; t->columns > lanes && c * lanes < t->columns; c++) {
		int64_t mask = t->columns - c * lanes < lanes ? t->columns - c * lanes : -1;
		struct vec_op one = *op;

		one.what = c == 0 ? copy : op->with;
		for (int64_t r = 0; r < t->rows; r += MOST_REPEATS) {
			int64_t rows = t->rows - r < MOST_REPEATS ? t->rows - r : MOST_REPEATS;
			int64_t to = address(t, op->to) + r * 256;
			struct operand from = { op->from[0], address(t, op->from[0]) + c * 256 +
							     r * row * HN_NPU_BLOCK, 1, row };
			struct operand o[3] = { { op->to, to, 1, -1 }, { op->to, to, 1, -1 }, from };

			if (c == 0) {
				o[1] = from;
			}
			instruction(t, &one, o, c == 0 ? 2 : 3, rows, mask);
		}
	}
}

static void reduce(const struct tile *t, const struct vec_op *op, const struct vec_op *before)
{
	int64_t size = size_of(t, op->to), lanes = 256 / size;
	bool folded = t->columns > lanes;
	int32_t from = folded ? op->from[0] : before->from[0];
	int64_t step = folded ? 8 : t->padded * size / HN_NPU_BLOCK;

	for (int64_t r = 0; r < t->rows; r += MOST_REPEATS) {
		int64_t rows = t->rows - r < MOST_REPEATS ? t->rows - r : MOST_REPEATS;
		struct operand o[2] = {
			{ op->to, address(t, op->to) + r * size, 1, -1 },
			{ from, address(t, from) + r * step * HN_NPU_BLOCK, 1, folded ? -1 : step },
		};

		instruction(t, op, o, 2, rows, folded ? -1 : t->columns);
	}
}

static void transfer(const struct tile *t, bool in, int32_t v)
{
	const struct vec_value *w = &t->x->v[v];
	int64_t size = size_of(t, v), columns_all = t->x->flat ? 1 : t->x->columns;
	int64_t wide = w->shape == VEC_ROW ? 1 : columns_all, n = 1, burst;
	char place[80], buffer[80];

	burst = (w->shape == VEC_ONE ? 1 : w->shape == VEC_ROW ? t->rows : t->columns) * size;
	if (w->shape == VEC_FULL && !t->x->flat) {
		n = t->columns == t->padded ? 1 : t->rows;
		burst *= t->columns == t->padded ? t->rows : 1;
	}
	snprintf(place, sizeof(place), "ub[%" PRId64 "]", address(t, v));
	if (w->shape == VEC_COLUMN || w->shape == VEC_ONE) {
		snprintf(buffer, sizeof(buffer), "a%d[0]", w->arg);
	} else {
		snprintf(buffer, sizeof(buffer), "a%d[r%d+%" PRId64 "]", w->arg, w->arg + 1,
			 (t->at + t->skip) * wide * size);
	}
	hn_buf_printf(t->text, "%s %s %s", in ? "load" : "store", in ? place : buffer, in ? buffer : place);
	named(t, "n", n, 1);
	hn_buf_printf(t->text, " burst %" PRId64, burst);
	if (n > 1) {
		named(t, in ? "to" : "from", t->padded * size, -1);
	}
	hn_buf_putc(t->text, '\n');
}

/* A block for each row's number, or for the one that there is. */
static void spread(const struct tile *t, const struct vec_op *op)
{
	int64_t all = shape_of(t, op->to) == VEC_ONE ? 8 : t->rows;

	for (int64_t r = 0; r < all; r += 8 * MOST_REPEATS) {
		int64_t rows = all - r < 8 * MOST_REPEATS ? all - r : 8 * MOST_REPEATS;

		hn_buf_printf(t->text, "vbrcb.%s ub[%" PRId64 "] ub[%" PRId64 "]", type_word(t, op->to),
			      address(t, op->to) + r * HN_NPU_BLOCK,
			      address(t, op->from[0]) + r * size_of(t, op->to));
		named(t, "rep", hn_ceildiv(rows, 8), 1);
		hn_buf_putc(t->text, '\n');
	}
}

static void operation(const struct tile *t, uint32_t i)
{
	const struct vec_op *op = &t->x->op[i];

	switch (op->what) {
	case VEC_LOAD:
		transfer(t, true, op->to);
		return;
	case VEC_STORE:
		transfer(t, false, op->from[0]);
		return;
	case VEC_FOLD:
		fold(t, op);
		return;
	case HN_NPU_I_CADD:
	case HN_NPU_I_CMAX:
	case HN_NPU_I_CMIN:
		reduce(t, op, op - 1);
		return;
	case HN_NPU_I_BRCB:
		spread(t, op);
		return;
	default:
		lane_by_lane(t, op);
	}
}

static bool is_once(const struct vec *x, const struct vec_op *op)
{
	return op->to >= 0 && x->v[op->to].once;
}

static void section(const struct vec *x, uint32_t first, uint32_t n_core, int64_t rows,
		    struct hn_buf *text)
{
	struct tile t = { .x = x, .text = text, .padded = x->padded, .skip = (int64_t)first * x->rows_core };
	int64_t once = x->flat ? 0 : x->columns;

	hn_buf_printf(text, "cores %u %u {\ncore r0\n", first, n_core);
	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];
		int64_t all = x->flat ? x->columns : x->rows;

		hn_buf_printf(text, "mul r%u r0 %" PRId64 "\n", i + 1,
			      x->rows_core * (hn_op_bytes(op, 0) / all));
	}
	t.columns = once;
	for (uint32_t i = 0; i < x->n_op; i++) {
		if (is_once(x, &x->op[i])) {
			operation(&t, i);
		}
	}
	for (; t.at < rows; t.at += x->tile_rows, t.slot++) {
		int64_t n = rows - t.at < x->tile_rows ? rows - t.at : x->tile_rows;

		t.rows = x->flat ? 1 : n;
		t.columns = x->flat ? n : x->columns;
		for (uint32_t i = 0; i < x->n_op; i++) {
			if (!is_once(x, &x->op[i])) {
				operation(&t, i);
			}
		}
	}
	hn_buf_puts(text, "}\n");
}

void vec_code(struct vec *x, struct hn_buf *text)
{
	int64_t all = x->flat ? x->columns : x->rows, last = all - (x->n_core - 1) * x->rows_core;
	uint32_t whole = last == x->rows_core ? x->n_core : x->n_core - 1;

	hn_buf_puts(text, HN_NPU_FORMAT "\n");
	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];

		hn_buf_printf(text, "gm a%u %s[%" PRId64 "]\n", i, hn_dtype_name((enum hn_dtype)op->dtype[0]),
			      hn_op_elements(op));
	}
	if (whole > 0) {
		section(x, 0, whole, x->rows_core, text);
	}
	if (whole < x->n_core) {
		section(x, whole, 1, last, text);
	}
}
