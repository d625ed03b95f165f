/* lower/npu/vector_code.c -- the operations of a tile as instructions, tile after tile.
 *
 * An operation is done again where one of the tiles that it is of has changed, so what all tiles have
 * in common is there from the first on.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_text.h"

int64_t vec_address(const struct vec_tile *t, int32_t v)
{
	const struct vec_value *w = &t->x->v[t->x->v[v].root];

	return w->at + w->turn % w->copies * w->bytes;
}

int64_t vec_stride(const struct vec_tile *t, int32_t v, uint32_t d)
{
	const struct vec *x = t->x;
	const struct vec_value *w = &x->v[v];
	bool full = (w->dims & vec_last(x)) != 0;
	int64_t size = vec_size(x, v), n;

	if (!vec_has(w->dims, d)) {
		return 0;
	}
	n = w->form == VEC_FULL ? t->padded * size
	    : w->form == VEC_STAGED && full ? hn_ceildiv(vec_columns(t), 8) * 8 * HN_NPU_BLOCK
	    : w->form == VEC_NUMBERS ? size : HN_NPU_BLOCK;
	if (vec_bit(d) == vec_last(x)) {
		return w->form == VEC_FULL ? size : HN_NPU_BLOCK;
	}
	for (uint32_t e = d + 1; e < x->n_dim; e++) {
		n *= vec_has(w->dims & ~vec_last(x), e) ? t->n[e] : 1;
	}
	return n;
}

const char *vec_type_word(const struct vec_tile *t, int32_t v)
{
	return hn_npu_type_word((enum hn_dtype)t->x->v[v].dtype);
}

void vec_named(const struct vec_tile *t, const char *name, int64_t v, int64_t fallback)
{
	if (v != fallback) {
		hn_buf_printf(t->text, " %s %" PRId64, name, v);
	}
}

void vec_end_line(struct vec_tile *t)
{
	hn_buf_putc(t->text, '\n');
	t->n_insn++;
}

/* -- operations ------------------------------------------------------------------------- */

static bool is_first(const struct vec_tile *t, const struct vec_op *op)
{
	for (uint32_t d = 0; d < t->x->n_dim; d++) {
		if (vec_has(op->over & t->x->tiled, d) && t->at[d] != 0) {
			return false;
		}
	}
	return true;
}

static void operation(struct vec_tile *t, uint32_t i)
{
	const struct vec_op *op = &t->x->op[i];

	switch (op->what) {
	case VEC_LOAD:
		vec_transfer(t, true, op->to);
		return;
	case VEC_STORE:
		vec_transfer(t, false, op->from[0]);
		return;
	case VEC_CHAIN:
		vec_chain(t, op);
		return;
	case VEC_FOLD:
		vec_fold(t, op);
		return;
	case VEC_TOTAL:
		if (vec_is_crossing(t->x, op)) {
			vec_total(t, op, is_first(t, op));
		}
		return;
	case VEC_GATHER:
		vec_gather(t, op);
		return;
	case HN_NPU_I_CADD:
	case HN_NPU_I_CMAX:
	case HN_NPU_I_CMIN:
		vec_reduce(t, op, op - 1);
		return;
	case HN_NPU_I_BRCB:
	case VEC_SCATTER:
		vec_to_blocks(t, op);
		return;
	default:
		vec_lanes(t, op);
	}
}

/* Whether a tile that the operation is of is another than when it was last done. */
static bool is_due(struct vec_tile *t, struct vec_op *op)
{
	struct vec *x = t->x;
	const struct vec_value *of = &x->v[op->to >= 0 && op->what != VEC_TOTAL ? op->to : op->from[0]];
	bool due = !op->done;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		int64_t key = vec_has(of->deps & x->tiled, d) ? t->at[d] : 0;

		due = due || op->key[d] != key;
		op->key[d] = key;
	}
	/* what it was made in may be another's since */
	due = due || (op->to >= 0 && !x->v[x->v[op->to].root].exclusive && !vec_is_crossing(x, op));
	due = due || (!of->persistent && op->key[VEC_DIMS] != (int64_t)t->phase);
	op->key[VEC_DIMS] = (int64_t)t->phase;
	op->done = true;
	return due;
}

static void tile(struct vec_tile *t)
{
	struct vec *x = t->x;

	t->padded = vec_padded(x, vec_columns(t));
	for (uint32_t i = 0; i < x->n_op && t->n_insn <= HN_NPU_MOST_INSNS; i++) {
		if (vec_is_in(x, i, t->phase) && is_due(t, &x->op[i])) {
			if (x->op[i].to >= 0 && x->v[x->op[i].to].root == x->op[i].to) {
				x->v[x->op[i].to].turn++;
			}
			operation(t, i);
		}
	}
}

/* The next tile of the loops from `first` to before `last`; false: it was the last. */
static bool next(struct vec_tile *t, const int64_t *part, uint32_t first, uint32_t last)
{
	const struct vec *x = t->x;

	for (uint32_t k = last; k-- > first;) {
		uint32_t d = x->loop[k];

		t->at[d] += x->tile[d];
		if (t->at[d] < part[d]) {
			t->n[d] = part[d] - t->at[d] < x->tile[d] ? part[d] - t->at[d] : x->tile[d];
			return true;
		}
		t->at[d] = 0;
		t->n[d] = part[d] < x->tile[d] ? part[d] : x->tile[d];
	}
	return false;
}

/* Of n_core cores from `first` of those that share it, which begin at `base`. */
static int section(struct vec *x, uint32_t base, uint32_t first, uint32_t n_core, const int64_t *part,
		   int64_t *n_insn, struct hn_buf *text)
{
	struct vec_tile t = { .x = x, .text = text, .n_insn = *n_insn };
	int64_t inner = x->split[1] >= 0 ? x->core[x->split[1]] : 1;
	uint32_t sums = 0;

	t.skip[0] = first / inner;
	hn_buf_printf(text, "cores %u %u {\n", base + first, n_core);
	vec_registers(&t);
	for (uint32_t i = 0; i < x->n_op; i++) {
		x->op[i].done = false;
	}
	for (uint32_t d = 0; d < x->n_dim; d++) {
		t.n[d] = part[d] < x->tile[d] ? part[d] : x->tile[d];
	}
	while (sums < x->n_loop && !vec_has(x->reduced, x->loop[sums])) {
		sums++;
	}
	do {
		for (t.phase = 0; t.phase < x->n_phase; t.phase++) {
			do {
				tile(&t);
			} while (next(&t, part, sums, x->n_loop) && t.n_insn <= HN_NPU_MOST_INSNS);
		}
	} while (next(&t, part, 0, sums) && t.n_insn <= HN_NPU_MOST_INSNS);
	hn_buf_puts(text, "}\n");
	*n_insn = t.n_insn;
	return t.n_insn <= HN_NPU_MOST_INSNS
		       ? 0 : hn_fail(x->err, HONE_E_UNSUPPORTED, "it takes more than %d instructions",
				     HN_NPU_MOST_INSNS);
}

void vec_head(const struct vec *x, struct hn_buf *text)
{
	hn_buf_puts(text, HN_NPU_FORMAT "\n");
	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];
		uint32_t out = i < x->dag->n_input ? 0 : hn_dag_arg_out(x->dag, i);

		hn_buf_printf(text, "gm a%u %s[%" PRId64 "]\n", i, hn_dtype_name((enum hn_dtype)op->dtype[out]),
			      hn_op_elements(op));
	}
}

int vec_code(struct vec *x, uint32_t base, int64_t *n_insn, struct hn_buf *text)
{
	int64_t part[VEC_DIMS];
	uint32_t inner = x->split[1] >= 0 ? (uint32_t)x->core[x->split[1]] : 1, whole = x->n_core;
	int32_t d = x->split[0];
	int rc = vec_assign(x);

	memcpy(part, x->part, sizeof(part));
	if (d >= 0 && x->dim[d] % x->part[d] != 0) {
		whole -= inner;
	}
	if (rc == 0 && whole > 0) {
		rc = section(x, base, 0, whole, part, n_insn, text);
	}
	if (rc == 0 && whole < x->n_core) {
		part[d] = x->dim[d] % x->part[d];
		rc = section(x, base, whole, inner, part, n_insn, text);
	}
	return rc;
}
