/* lower/npu/vector_lanes.c -- operations lane by lane, as instructions.
 *
 * A run is what all operands go through in a row, or stay at a block of.  Either a run is the repeats
 * of an instruction, or the runs along some dimension are: whichever takes fewer instructions.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_text.h"

#define MOST_STRIDE 4095 /* blocks between repeats */

struct way { /* a dimension around runs */
	int64_t n, stride[4];
};

struct walk {
	struct vec_tile *t;
	uint16_t what;
	float scale;
	int n_operand;
	int32_t value[4];
	int64_t base[4];
	bool runs[4]; /* else it stays at a block */
	int64_t lanes, length; /* of a repeat; of a run */
	int64_t room;	       /* numbers from a run to the next, where nothing is between */
	uint32_t n_way;
	struct way way[VEC_DIMS]; /* the innermost first */
	int64_t bits; /* repeats until now: blocks of what was compared */
};

static int64_t size_of(const struct walk *w, int k)
{
	return vec_size(w->t->x, w->value[k]);
}

static enum vec_form form_of(const struct walk *w, int k)
{
	return (enum vec_form)w->t->x->v[w->value[k]].form;
}

/* One instruction: from `at` on, `step` blocks between repeats; -1: as if dense. */
static void instruction(struct walk *w, const int64_t *at, const int64_t *step, int64_t repeats,
			int64_t mask)
{
	static const char *const blocks[] = { "bd", "b0", "b1" }, *const steps[] = { "sd", "s0", "s1" };
	uint8_t kind = hn_npu_op[w->what].kind;
	struct hn_buf *text = w->t->text;
	int32_t typed = w->value[kind == HN_NPU_K_COMPARE ? 1 : 0];
	bool moved = w->what == HN_NPU_I_SEL && w->t->x->v[typed].dtype == HN_I32; /* as they are */

	hn_buf_printf(text, "%s.%s", hn_npu_op[w->what].word, moved ? "f32" : vec_type_word(w->t, typed));
	if (w->what == HN_NPU_I_CONV) {
		hn_buf_printf(text, ".%s", vec_type_word(w->t, w->value[1]));
	}
	for (int k = 0; k < w->n_operand; k++) {
		hn_buf_printf(text, " ub[%" PRId64 "]",
			      form_of(w, k) == VEC_BITS ? w->base[k] + w->bits * HN_NPU_BLOCK : at[k]);
	}
	if (kind == HN_NPU_K_SCALED || kind == HN_NPU_K_FILL) {
		hn_buf_printf(text, " %.9g", (double)w->scale);
	}
	vec_named(w->t, "rep", repeats, 1);
	vec_named(w->t, "mask", mask, -1);
	for (int k = 0; k < w->n_operand && k < 3; k++) {
		if (form_of(w, k) != VEC_BITS) {
			vec_named(w->t, blocks[k], w->runs[k], 1);
			vec_named(w->t, steps[k], step[k], -1);
		}
	}
	vec_end_line(w->t);
	w->bits += repeats;
}

/* Repeats along a run that begins at `at`. */
static void along(struct walk *w, const int64_t *at)
{
	int64_t now[4], step[4];

	for (int64_t i = 0; i < w->length;) {
		int64_t rest = w->length - i, repeats = rest / w->lanes, mask = repeats == 0 ? rest : -1;

		repeats = repeats == 0 ? 1 : repeats > VEC_REPEATS ? VEC_REPEATS : repeats;
		for (int k = 0; k < w->n_operand; k++) {
			now[k] = at[k] + (w->runs[k] ? i * size_of(w, k) : 0);
			step[k] = w->runs[k] ? -1 : 0;
		}
		instruction(w, now, step, repeats, mask);
		i += mask >= 0 ? rest : repeats * w->lanes;
	}
}

/* A repeat for each run along the way; columns of a repeat's width one after the other. */
static void across(struct walk *w, const int64_t *at, const struct way *way)
{
	int64_t now[4], step[4];

	for (int64_t i = 0; i < w->length; i += w->lanes) {
		int64_t mask = w->length - i < w->lanes ? w->length - i : -1;

		for (int64_t r = 0; r < way->n; r += VEC_REPEATS) {
			for (int k = 0; k < w->n_operand; k++) {
				now[k] = at[k] + (w->runs[k] ? i * size_of(w, k) : 0) + r * way->stride[k];
				step[k] = way->stride[k] / HN_NPU_BLOCK;
			}
			instruction(w, now, step, way->n - r < VEC_REPEATS ? way->n - r : VEC_REPEATS, mask);
		}
	}
}

/* The dimension whose runs are repeats; n_way: none. */
static uint32_t repeated(const struct walk *w)
{
	int64_t columns = hn_ceildiv(w->length, w->lanes), whole = w->length / w->lanes, all = 1;
	int64_t own = hn_ceildiv(whole, VEC_REPEATS) + (w->length % w->lanes != 0), least;
	uint32_t best = w->n_way;

	for (uint32_t j = 0; j < w->n_way; j++) {
		all *= w->way[j].n;
	}
	least = all * own;
	for (uint32_t j = 0; j < w->n_way; j++) {
		int64_t n = all / w->way[j].n * hn_ceildiv(w->way[j].n, VEC_REPEATS) * columns;
		bool reaches = true;

		for (int k = 0; k < w->n_operand; k++) {
			reaches = reaches && w->way[j].stride[k] / HN_NPU_BLOCK <= MOST_STRIDE;
		}
		if (reaches && n < least) {
			least = n;
			best = j;
		}
	}
	return best;
}

static void write(struct walk *w)
{
	uint32_t by = repeated(w), n = w->n_way;
	int64_t i[VEC_DIMS] = { 0 }, at[4];

	for (;;) {
		uint32_t j = 0;

		for (int k = 0; k < w->n_operand; k++) {
			at[k] = w->base[k];
			for (uint32_t d = 0; d < n; d++) {
				at[k] += i[d] * w->way[d].stride[k];
			}
		}
		if (by < n) {
			across(w, at, &w->way[by]);
		} else {
			along(w, at);
		}
		while (j < n && (j == by || ++i[j] == w->way[j].n)) {
			i[j++] = 0;
		}
		if (j == n || w->t->n_insn > HN_NPU_MOST_INSNS) {
			return;
		}
	}
}

/* One more dimension around: part of the run, or of the way before, where that makes no difference. */
static void add_way(struct walk *w, bool filled, int64_t n, const int64_t *stride)
{
	struct way *before = w->n_way > 0 ? &w->way[w->n_way - 1] : NULL;
	bool merges = true;

	for (int k = 0; k < w->n_operand; k++) {
		int64_t run = w->runs[k] ? w->room * size_of(w, k) : 0;

		merges = merges && (form_of(w, k) == VEC_BITS ||
				    stride[k] == (before != NULL ? before->stride[k] * before->n : run));
	}
	if (n == 1) {
		return;
	}
	if (merges && before != NULL) {
		before->n *= n;
	} else if (merges && filled) {
		w->length = w->room = w->room * n;
	} else {
		w->way[w->n_way].n = n;
		memcpy(w->way[w->n_way++].stride, stride, sizeof(w->way[0].stride));
	}
}

/* Through `dims` but the last, n of each; begins[k] is where operand k's first is. */
static void go(struct walk *w, uint32_t dims, const int64_t *n, bool filled)
{
	struct vec *x = w->t->x;
	int64_t widest = 1;

	for (int k = 0; k < w->n_operand; k++) {
		widest = size_of(w, k) > widest && form_of(w, k) != VEC_BITS ? size_of(w, k) : widest;
	}
	w->lanes = 256 / widest;
	w->n_way = 0;
	for (uint32_t d = x->n_dim; d-- > 0;) {
		int64_t stride[4] = { 0 };

		if (!vec_has(dims & ~vec_last(x), d)) {
			continue;
		}
		for (int k = 0; k < w->n_operand; k++) {
			stride[k] = form_of(w, k) == VEC_BITS ? 0 : vec_stride(w->t, w->value[k], d);
		}
		add_way(w, filled, n[d], stride);
	}
	write(w);
}

/* Rows are written to their ends, whatever their type. */
static bool is_filled(const struct vec_tile *t)
{
	const struct vec *x = t->x;

	for (uint32_t i = 0; i < x->n_value; i++) {
		int64_t size = vec_size(x, (int32_t)i);

		if (x->v[i].form == VEC_FULL &&
		    hn_ceildiv(vec_columns(t) * size, HN_NPU_BLOCK) * HN_NPU_BLOCK != t->padded * size) {
			return false;
		}
	}
	return true;
}

static struct walk walk_of(struct vec_tile *t, uint16_t what, float scale, int32_t to, const int32_t *from)
{
	struct walk w = { .t = t, .what = what, .scale = scale, .n_operand = 1, .value = { to } };

	for (int k = 0; k < 3; k++) {
		if (from[k] >= 0) {
			w.value[w.n_operand++] = from[k];
		}
	}
	for (int k = 0; k < w.n_operand; k++) {
		w.base[k] = vec_address(t, w.value[k]);
	}
	return w;
}

/* Which of its operands run, and how far, by what the result is. */
static void begin(struct walk *w, enum vec_form form, int typed)
{
	const struct vec *x = w->t->x;
	int64_t size = size_of(w, typed);

	for (int k = 0; k < w->n_operand; k++) {
		enum vec_form f = form_of(w, k);

		w->runs[k] = f == VEC_BITS ? true
			     : form == VEC_SPREAD ? k == 0 || (size_of(w, k) == size && x->v[w->value[k]].dims != 0)
						  : f == form;
	}
	w->length = form == VEC_FULL	  ? vec_columns(w->t)
		    : form == VEC_NUMBERS ? vec_rows(x, x->v[w->value[0]].dims, w->t->n)
					  : HN_NPU_BLOCK / size;
	w->room = form == VEC_FULL ? w->t->padded : w->length;
}

void vec_lanes(struct vec_tile *t, const struct vec_op *op)
{
	struct walk w = walk_of(t, op->what, op->scale, op->to, op->from);
	bool compares = hn_npu_op[op->what].kind == HN_NPU_K_COMPARE;
	enum vec_form form = compares ? (enum vec_form)op->with : (enum vec_form)t->x->v[op->to].form;

	begin(&w, form, compares ? 1 : 0);
	if (compares && t->x->v[w.value[1]].dims == 0 && t->x->v[w.value[2]].dims != 0) {
		begin(&w, form, 2);
	}
	go(&w, form == VEC_NUMBERS ? 0 : t->x->v[op->to].dims, t->n, form != VEC_FULL || is_filled(t));
}

/* from's slices, `skip` bytes behind its first on, become one with `to`; one: the first of them. */
static void slices(struct vec_tile *t, const struct vec_op *op, uint16_t what, int64_t skip, uint32_t dims,
		   const int64_t *n)
{
	const int32_t from[3] = { what == HN_NPU_I_COPY ? op->from[0] : op->to,
				  what == HN_NPU_I_COPY ? -1 : op->from[0], -1 };
	struct walk w = walk_of(t, what, 0, op->to, from);

	w.base[w.n_operand - 1] += skip;
	begin(&w, (enum vec_form)t->x->v[op->to].form, 0);
	for (int k = 0; k < w.n_operand; k++) {
		w.runs[k] = true;
	}
	go(&w, dims, n, t->x->v[op->to].form != VEC_FULL || is_filled(t));
}

/* The first slice, then, for each dimension, those that begin with another than its first. */
void vec_chain(struct vec_tile *t, const struct vec_op *op)
{
	const struct vec *x = t->x;
	uint32_t kept = x->v[op->to].dims, over = x->v[op->from[0]].dims & ~kept, behind = 0;
	int64_t n[VEC_DIMS];

	slices(t, op, HN_NPU_I_COPY, 0, kept, t->n);
	for (uint32_t d = x->n_dim; d-- > 0;) {
		if (!vec_has(over, d)) {
			continue;
		}
		memcpy(n, t->n, sizeof(n));
		n[d]--;
		if (n[d] > 0) {
			slices(t, op, op->with, vec_stride(t, op->from[0], d), kept | behind | vec_bit(d), n);
		}
		behind |= vec_bit(d);
	}
}

void vec_total(struct vec_tile *t, const struct vec_op *op, bool first)
{
	const int32_t copied[3] = { op->from[0], -1, -1 }, added[3] = { op->to, op->from[0], -1 };
	struct vec_op one = { .what = first ? HN_NPU_I_COPY : op->with, .to = op->to };

	memcpy(one.from, first ? copied : added, sizeof(one.from));
	vec_lanes(t, &one);
}
