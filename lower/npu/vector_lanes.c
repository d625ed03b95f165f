/* lower/npu/vector_lanes.c -- operations lane by lane, as instructions.
 *
 * A run is what all operands go through in a row, or stay at a block of.  Either a run is the repeats
 * of an instruction, or the runs along some dimension are, or, where runs are short, the blocks of each
 * repeat are eight of them: whichever takes fewest cycles (vector_course.c).
 */
#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_walk.h"

/* How a repeat lies: blocks from one of its blocks to the next, and which lanes do something. */
struct repeat {
	int64_t block[4], step[4]; /* step: from repeat to repeat; -1: as if dense */
	int64_t mask, bits[2];	   /* the first lanes, or, where there are bits, these */
	int64_t bits_step;	   /* of what was compared, in one row: from repeat to repeat */
};

/* One instruction: from `at` on. */
static void instruction(struct vec_walk *w, const int64_t *at, const struct repeat *r, int64_t repeats)
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
			      vec_walk_form(w, k) == VEC_BITS ? w->base[k] + w->bits * HN_NPU_BLOCK : at[k]);
	}
	if (kind == HN_NPU_K_SCALED || kind == HN_NPU_K_FILL) {
		hn_buf_printf(text, " %.9g", (double)w->scale);
	}
	vec_named(w->t, "rep", repeats, 1);
	vec_named(w->t, "mask", r->mask, -1);
	vec_named(w->t, "bits", r->bits[0], 0);
	vec_named(w->t, "bits2", r->bits[1], 0);
	for (int k = 0; k < w->n_operand && k < 3; k++) {
		if (vec_walk_form(w, k) != VEC_BITS) {
			vec_named(w->t, blocks[k], r->block[k], 1);
			vec_named(w->t, steps[k], r->step[k], -1);
		}
	}
	if (kind == HN_NPU_K_SELECT && w->one_row) {
		vec_named(w->t, "s2", r->bits_step, 1);
	}
	vec_end_line(w->t);
	w->bits += w->one_row ? 0 : repeats;
}

/* Repeats along a run that begins at `at`. */
static void along(struct vec_walk *w, const int64_t *at)
{
	int64_t now[4];

	for (int64_t i = 0; i < w->length;) {
		int64_t rest = w->length - i, repeats = rest / w->lanes;
		struct repeat r = { .mask = repeats == 0 ? rest : -1, .bits_step = 1 };

		w->bits = w->one_row ? i / w->lanes : w->bits;
		repeats = repeats == 0 ? 1 : repeats > VEC_REPEATS ? VEC_REPEATS : repeats;
		for (int k = 0; k < w->n_operand; k++) {
			now[k] = at[k] + (w->runs[k] ? i * vec_walk_size(w, k) : 0);
			r.block[k] = w->runs[k];
			r.step[k] = w->runs[k] ? -1 : 0;
		}
		instruction(w, now, &r, repeats);
		i += r.mask >= 0 ? rest : repeats * w->lanes;
	}
}

/* n repeats along the way, all like r. */
static void repeats(struct vec_walk *w, const int64_t *at, const struct vec_way *way, int64_t n,
		    const struct repeat *r)
{
	int64_t now[4];

	for (int64_t i = 0; i < n; i += VEC_REPEATS) {
		for (int k = 0; k < w->n_operand; k++) {
			now[k] = at[k] + i * way->stride[k];
		}
		instruction(w, now, r, n - i < VEC_REPEATS ? n - i : VEC_REPEATS);
	}
}

/* A repeat for each run along the way; columns of a repeat's width one after the other. */
static void across(struct vec_walk *w, const int64_t *at, const struct vec_way *way)
{
	int64_t now[4];

	for (int64_t i = 0; i < w->length; i += w->lanes) {
		struct repeat r = { .mask = w->length - i < w->lanes ? w->length - i : -1 };

		w->bits = w->one_row ? i / w->lanes : w->bits;
		for (int k = 0; k < w->n_operand; k++) {
			now[k] = at[k] + (w->runs[k] ? i * vec_walk_size(w, k) : 0);
			r.block[k] = w->runs[k];
			r.step[k] = way->stride[k] / HN_NPU_BLOCK;
		}
		repeats(w, now, way, way->n, &r);
	}
}

/* `lanes` of each of n blocks do something. */
static void mask_blocks(const struct vec_walk *w, struct repeat *r, int64_t n, int64_t lanes)
{
	int64_t each = w->lanes / VEC_BLOCKS;

	*r->bits = r->bits[1] = 0;
	r->mask = lanes < each || n == VEC_BLOCKS ? -1 : n * each;
	for (int64_t b = 0; b < n && lanes < each; b++) {
		r->bits[b * each / 64] |= (((int64_t)1 << lanes) - 1) << b * each % 64;
	}
}

/* Short runs: the blocks of a repeat are those of eight runs along `in`; columns of a block's width one
 * after the other.  Repeats go on along `in`, or along another way. */
static void by_blocks(struct vec_walk *w, const int64_t *at, const struct vec_way *in,
		      const struct vec_way *by)
{
	int64_t each = w->lanes / VEC_BLOCKS, whole = in->n / VEC_BLOCKS, now[4];
	struct vec_way eight = { .n = whole };
	struct repeat r;

	for (int k = 0; k < w->n_operand; k++) {
		eight.stride[k] = in->stride[k] * VEC_BLOCKS;
		r.block[k] = in->stride[k] / HN_NPU_BLOCK;
		r.step[k] = (by == in ? eight.stride[k] : by->stride[k]) / HN_NPU_BLOCK;
	}
	for (int64_t i = 0; i < w->length; i += each) {
		int64_t lanes = w->length - i < each ? w->length - i : each;

		for (int64_t b = 0; b < in->n; b += b < whole * VEC_BLOCKS && by == in ? whole * VEC_BLOCKS : VEC_BLOCKS) {
			for (int k = 0; k < w->n_operand; k++) {
				now[k] = at[k] + (w->runs[k] ? i * vec_walk_size(w, k) : 0) + b * in->stride[k];
			}
			mask_blocks(w, &r, in->n - b < VEC_BLOCKS ? in->n - b : VEC_BLOCKS, lanes);
			repeats(w, now, by == in ? &eight : by,
				by != in ? by->n : b < whole * VEC_BLOCKS ? whole : 1, &r);
		}
	}
}

static void write(struct vec_walk *w)
{
	const struct vec_course c = vec_course(w);
	uint32_t n = w->n_way;
	int64_t i[VEC_DIMS] = { 0 }, at[4];

	for (;;) {
		uint32_t j = 0;

		for (int k = 0; k < w->n_operand; k++) {
			at[k] = w->base[k];
			for (uint32_t d = 0; d < n; d++) {
				at[k] += i[d] * w->way[d].stride[k];
			}
		}
		if (c.in < n) {
			by_blocks(w, at, &w->way[c.in], &w->way[c.by]);
		} else if (c.by < n) {
			across(w, at, &w->way[c.by]);
		} else {
			along(w, at);
		}
		while (j < n && (j == c.by || j == c.in || ++i[j] == w->way[j].n)) {
			i[j++] = 0;
		}
		if (j == n || w->t->n_insn > HN_NPU_MOST_INSNS) {
			return;
		}
	}
}

/* One more dimension around: part of the run, or of the way before, where that makes no difference. */
static void add_way(struct vec_walk *w, bool filled, int64_t n, const int64_t *stride)
{
	struct vec_way *before = w->n_way > 0 ? &w->way[w->n_way - 1] : NULL;
	bool merges = true;

	for (int k = 0; k < w->n_operand; k++) {
		int64_t run = w->runs[k] ? w->room * vec_walk_size(w, k) : 0;

		merges = merges && (vec_walk_form(w, k) == VEC_BITS ? before != NULL || !w->one_row :
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
static void go(struct vec_walk *w, uint32_t dims, const int64_t *n, bool filled)
{
	struct vec *x = w->t->x;
	int64_t widest = 1;

	for (int k = 0; k < w->n_operand; k++) {
		widest = vec_walk_size(w, k) > widest && vec_walk_form(w, k) != VEC_BITS ? vec_walk_size(w, k) : widest;
	}
	w->lanes = widest > 1 ? 256 / widest : 128;
	w->n_way = 0;
	for (uint32_t d = x->n_dim; d-- > 0;) {
		int64_t stride[4] = { 0 };

		if (!vec_has(dims & ~vec_last(x), d)) {
			continue;
		}
		for (int k = 0; k < w->n_operand; k++) {
			stride[k] = vec_walk_form(w, k) == VEC_BITS ? 0 : vec_stride(w->t, w->value[k], d);
		}
		add_way(w, filled, n[d], stride);
	}
	write(w);
}

bool vec_is_filled(const struct vec_tile *t)
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

static struct vec_walk walk_of(struct vec_tile *t, uint16_t what, float scale, int32_t to,
			       const int32_t *from)
{
	struct vec_walk w = { .t = t, .what = what, .scale = scale, .n_operand = 1, .value = { to } };

	for (int k = 0; k < 3; k++) {
		if (from[k] >= 0) {
			w.value[w.n_operand++] = from[k];
		}
	}
	for (int k = 0; k < w.n_operand; k++) {
		const struct vec_value *v = &t->x->v[w.value[k]];

		w.base[k] = vec_address(t, w.value[k]);
		w.one_row = w.one_row || (what == HN_NPU_I_SEL && v->form == VEC_BITS && v->dims != t->x->v[to].dims);
	}
	return w;
}

/* Which of its operands run, and how far, by what the result is. */
static void begin(struct vec_walk *w, enum vec_form form, int typed)
{
	const struct vec *x = w->t->x;
	int64_t size = vec_walk_size(w, typed);

	for (int k = 0; k < w->n_operand; k++) {
		enum vec_form f = vec_walk_form(w, k);

		w->runs[k] = f == VEC_BITS ? true
			     : form == VEC_SPREAD ? k == 0 || (vec_walk_size(w, k) == size && x->v[w->value[k]].dims != 0)
						  : f == form;
	}
	w->length = form == VEC_FULL	  ? vec_columns(w->t)
		    : form == VEC_NUMBERS ? vec_rows(x, x->v[w->value[0]].dims, w->t->n)
					  : HN_NPU_BLOCK / size;
	w->room = form == VEC_FULL ? w->t->padded : w->length;
}

void vec_lanes(struct vec_tile *t, const struct vec_op *op)
{
	struct vec_walk w = walk_of(t, op->what, op->scale, op->to, op->from);
	bool compares = hn_npu_op[op->what].kind == HN_NPU_K_COMPARE;
	enum vec_form form = compares ? (enum vec_form)op->with : (enum vec_form)t->x->v[op->to].form;

	begin(&w, form, compares ? 1 : 0);
	if (compares && t->x->v[w.value[1]].dims == 0 && t->x->v[w.value[2]].dims != 0) {
		begin(&w, form, 2);
	}
	go(&w, form == VEC_NUMBERS ? 0 : t->x->v[op->to].dims, t->n, form != VEC_FULL || vec_is_filled(t));
}

/* from's slices, `skip` bytes behind its first on, become one with `to`; one: the first of them. */
static void slices(struct vec_tile *t, const struct vec_op *op, uint16_t what, int64_t skip, uint32_t dims,
		   const int64_t *n)
{
	const int32_t from[3] = { what == HN_NPU_I_COPY ? op->from[0] : op->to,
				  what == HN_NPU_I_COPY ? -1 : op->from[0], -1 };
	struct vec_walk w = walk_of(t, what, 0, op->to, from);

	w.base[w.n_operand - 1] += skip;
	begin(&w, (enum vec_form)t->x->v[op->to].form, 0);
	for (int k = 0; k < w.n_operand; k++) {
		w.runs[k] = true;
	}
	go(&w, dims, n, t->x->v[op->to].form != VEC_FULL || vec_is_filled(t));
}

/* The first slice, then, for each dimension, those that begin with another than its first. */
void vec_chain(struct vec_tile *t, const struct vec_op *op)
{
	const struct vec *x = t->x;
	uint32_t kept = x->v[op->to].dims, over = x->v[op->from[0]].dims & ~kept, behind = 0;
	int64_t n[VEC_DIMS];

	if (vec_chain_rows(t, op)) {
		return;
	}
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
