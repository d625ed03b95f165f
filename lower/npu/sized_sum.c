/* lower/npu/sized_sum.c -- sizes that are summed over.
 *
 * All terms of a row are in its tile.  There is code for up to so many terms, of several numbers: that of
 * C terms serves all launches from the next smaller number on.  It is the code of exactly C, but that
 * transfers are as long as the launch says, and what stands behind a row's terms is garbage.  So a mask
 * comes into the dag, an argument of C numbers that are 1 or 0, and each sum takes what is neutral to it
 * where the mask is 0.  No one gives this argument: where a tile loads it, it is written there.
 *
 * For transfers to be told by their numbers (sized_cut.c), terms lie in the tile's dag as if a row had
 * SIZED_APART.
 */
#include "base/arith.h"
#include "lower/npu/sized.h"

#define MOST_WIDTH 16320 /* lanes that an instruction fills */

/* -- which they are ------------------------------------------------------------------------- */

bool sized_is_sum(const struct sized *s, uint32_t set)
{
	for (uint32_t k = 0; k < s->n_sum; k++) {
		if (s->sum[k].set == set) {
			return true;
		}
	}
	return false;
}

/* Whether any op has both. */
static bool meet(const struct sized *s, uint32_t one, uint32_t other)
{
	for (uint32_t i = 0; i < s->dag->n_op; i++) {
		bool has[2] = { false, false };

		for (uint32_t d = 0; d < sized_n_axis(s->dag->op[i]); d++) {
			has[0] = has[0] || sized_find(s, i, d) == one;
			has[1] = has[1] || sized_find(s, i, d) == other;
		}
		if (has[0] && has[1]) {
			return true;
		}
	}
	return false;
}

int sized_add_sum(struct sized *s, uint32_t op, uint32_t d)
{
	const struct hn_op *o = s->dag->op[op];
	uint32_t set = sized_find(s, op, d);
	const struct hn_npu_form *extent = sized_extent(s, o, d);

	if (sized_is_sum(s, set)) {
		return 0;
	}
	for (uint32_t k = 0; k < s->n_sum && extent != NULL; k++) { /* of two sums of the same length: one */
		if (hn_npu_form_equal(s->sum[k].extent, extent) && !meet(s, s->sum[k].set, set)) {
			s->parent[set] = s->sum[k].set;
			return 0;
		}
	}
	if (extent == NULL || s->n_sum == SIZED_CLASSES) {
		return sized_refuse(s, o, "its sizes are more, or in other forms, than a program for the NPU has");
	}
	s->sum[s->n_sum++] = (struct sized_class){ .extent = extent, .largest = sized_largest(o, d), .set = set };
	return 0;
}

/* Each op that has one of them has all, and sums over all of them or none; arguments have them in one order,
 * one behind the other: so they are one dimension. */
static int check(struct sized *s, uint32_t i)
{
	const struct hn_op *op = s->dag->op[i];
	uint32_t n = 0, n_reduced = 0, last = 0;

	for (uint32_t d = 0; d < sized_n_axis(op); d++) {
		uint32_t set = sized_find(s, i, d);

		if (!sized_is_sum(s, set)) {
			continue;
		}
		if (d < op->n_dim && ((n > 0 && last + 1 != d) || s->sum[n].set != set)) {
			return sized_refuse(s, op, "sizes that are summed over do not lie one behind the other, or in other "
					    "orders than in others");
		}
		n_reduced += d >= op->n_dim;
		last = d;
		n++;
	}
	return n != 0 && (n != s->n_sum || (n_reduced != 0 && n_reduced != n))
		       ? sized_refuse(s, op, "it has some of the sizes that are summed over, and not all") : 0;
}

int sized_terms(struct sized *s)
{
	int64_t least = 1, terms = 8, octave = 64;
	int rc = 0;

	s->terms = hn_npu_form_number(1, s->a);
	s->most_terms = 1;
	for (uint32_t k = 0; k < s->n_sum; k++) {
		s->terms = hn_npu_form(HN_NPU_FORM_MUL, s->terms, s->sum[k].extent, s->a);
		s->most_terms = hn_mul_sat(s->most_terms, s->sum[k].largest);
	}
	for (uint32_t i = 0; i < s->dag->n_op && rc == 0; i++) {
		rc = check(s, i);
	}
	if (rc != 0) {
		return rc;
	}
	if (s->most_terms > MOST_WIDTH) {
		return sized_refuse(s, s->dag->op[s->summed[s->sum[0].set] - 1],
				    hn_arena_printf(s->a, "a size that it sums over comes to more than %d: a program for "
						    "the NPU holds all of a row", MOST_WIDTH));
	}
	if (s->terms->op == HN_NPU_FORM_SIZE) {
		least = s->size[s->terms->number].lo;
	}
	/* 8, 16, ... 64, 80, 96, 112, 128, 160, ... */
	for (s->n_width = 0; s->n_width == 0 || s->at[s->n_width - 1].terms < s->most_terms;) {
		int64_t most = s->most_terms < 8 ? s->most_terms : hn_ceildiv(s->most_terms, 16) * 16;

		if (terms >= least) {
			s->at[s->n_width++].terms = terms < most ? terms : most;
		}
		octave *= terms >= 2 * octave ? 2 : 1;
		terms += terms < 16 ? 8 : terms < 64 ? 16 : octave / 4;
	}
	return 0;
}

/* -- the dag of a tile ---------------------------------------------------------------------- */

static uint32_t n_more(const struct sized *s)
{
	return (s->n_sum > 0) + s->n_value;
}

static const struct hn_expr *load_of(const struct sized *s, uint32_t op, const struct hn_expr *index)
{
	const struct hn_expr load = { .op = HN_EXPR_LOAD, .dtype = HN_F32, .ref = (int32_t)op };

	return hn_expr_with_args(&load, &index, 1, s->a);
}

/* Ops behind those that are added, and numbers that follow from sizes as what is loaded of these. */
static const struct hn_expr *behind(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	struct sized *s = ctx;
	struct hn_expr like = *e;
	int32_t value = s->n_value > 0 ? sized_value_of(s, e) : -1;

	if (value >= 0) {
		const struct hn_expr *x = load_of(s, (s->n_sum > 0) + (uint32_t)value, hn_expr_int(0, HN_I32, a));

		return e->dtype == HN_F32 ? x : hn_expr_with_args(e, &x, 1, a);
	}
	like.ref += (int32_t)n_more(s);
	return e->op == HN_EXPR_LOAD ? hn_expr_with_args(&like, e->arg, e->n_arg, a) : e;
}

static const struct hn_expr *moved(struct sized *s, const struct hn_expr *e)
{
	return e == NULL ? NULL : hn_expr_map(e, behind, s, s->a);
}

/* What changes no result of the kind.  It is not what the reduction begins with: that may be any number. */
static const struct hn_expr *neutral_of(const struct hn_reduce *r, enum hn_dtype t, struct hn_arena *a)
{
	bool least = r->kind == HN_COMBINE_MAX, most = r->kind == HN_COMBINE_MIN;
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;
	int64_t one = r->kind == HN_COMBINE_PROD;

	if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
		double far = hn_dtype_largest(t);

		return hn_expr_float(least ? -far : most ? far : (double)one, t, a);
	}
	int64_t hi = (int64_t)((uint64_t)1 << (8 * hn_dtype_bytes(t) - is_signed)) - 1;

	return hn_expr_int(least ? (is_signed ? -hi - 1 : 0) : most ? hi : one, t, a);
}

/* The source where the mask is 1, else what is neutral. */
static const struct hn_expr *chosen(const struct sized *s, const struct hn_reduce *r, const struct hn_expr *source,
				    uint32_t axis)
{
	const struct hn_expr *index = hn_expr_var((int32_t)axis, HN_I32, NULL, s->a);
	const struct hn_expr select = { .op = HN_EXPR_SELECT, .dtype = source->dtype };
	const struct hn_expr *arg[3];

	arg[0] = hn_expr_binary(HN_EXPR_GT, load_of(s, 0, index), hn_expr_float(0.5, HN_F32, s->a), s->a);
	arg[1] = source;
	arg[2] = neutral_of(r, (enum hn_dtype)source->dtype, s->a);
	return hn_expr_with_args(&select, arg, 3, s->a);
}

static const struct hn_op *op_behind(struct sized *s, const struct hn_op *from, uint32_t i)
{
	struct hn_op *op = HN_NEW(s->a, struct hn_op);
	const struct hn_expr **body = hn_arena_array(s->a, from->n_out, sizeof(body[0]));

	*op = *from;
	for (uint32_t k = 0; k < from->n_out && from->body != NULL; k++) {
		body[k] = moved(s, from->body[k]);
	}
	op->body = from->body != NULL ? body : NULL;
	if (from->reduce != NULL) {
		struct hn_reduce *r = HN_NEW(s->a, struct hn_reduce);

		*r = *from->reduce;
		for (uint32_t k = 0; k < r->n; k++) {
			body[k] = moved(s, from->reduce->source[k]);
		}
		for (uint32_t d = op->n_spatial; d < op->n_spatial + op->n_reduce; d++) {
			if (s->n_sum > 0 && sized_find(s, i, d) == s->sum[s->n_sum - 1].set) {
				body[0] = chosen(s, r, body[0], d);
			}
		}
		r->source = body;
		r->condition = moved(s, from->reduce->condition);
		op->reduce = r;
	}
	return op;
}

static const int64_t *lies_of(const struct sized *s, const struct hn_op *op, uint32_t i)
{
	int64_t *shape = HN_NEW_ARRAY(s->a, int64_t, op->n_dim + 1);
	bool inside = false, far = s->rows->op != HN_NPU_FORM_NUMBER;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		uint32_t set = sized_find(s, i, d);

		if (sized_is_sum(s, set)) {
			shape[d] = set == s->sum[s->n_sum - 1].set ? SIZED_APART : 1;
			inside = true;
		} else if (inside && far && sized_class_of(s, set) >= (int32_t)s->n_outer) {
			shape[d] = set == s->class[s->n_class - 1].set ? SIZED_APART : 1;
		} else { /* what else is gone through inside of terms is a number, and is there whole */
			shape[d] = inside ? sized_largest(s->dag->op[i], d) : op->shape[d];
		}
	}
	return inside ? shape : NULL;
}

static const struct hn_op *written(const struct sized *s, const char *name, int64_t length)
{
	static const uint8_t float32 = HN_F32;
	struct hn_op *op = HN_NEW(s->a, struct hn_op);
	int64_t *shape = HN_NEW(s->a, int64_t);

	*shape = length;
	*op = (struct hn_op){ .id = name, .name = name, .tag = "", .kind = HN_OP_PLACEHOLDER, .n_dim = 1,
			      .shape = shape, .n_out = 1, .dtype = &float32 };
	return op;
}

const struct hn_dag *sized_with_written(struct sized *s, const struct hn_dag *dag, const int64_t *const **lies)
{
	struct hn_dag *ret = HN_NEW(s->a, struct hn_dag);
	uint32_t more = n_more(s);
	const struct hn_op **op = hn_arena_array(s->a, dag->n_op + more, sizeof(op[0]));
	const int64_t **shape = hn_arena_array(s->a, dag->n_op + more, sizeof(shape[0]));
	int32_t *arg = HN_NEW_ARRAY(s->a, int32_t, dag->n_arg + more);

	for (uint32_t i = 0; i < more; i++) {
		bool is_mask = i == 0 && s->n_sum > 0;

		op[i] = written(s, is_mask ? "mask" : "size", is_mask ? s->width : 1);
		shape[i] = NULL;
		arg[dag->n_input + i] = (int32_t)i;
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		op[i + more] = dag->op[i]->kind == HN_OP_COMPUTE ? op_behind(s, dag->op[i], i) : dag->op[i];
		shape[i + more] = lies_of(s, dag->op[i], i);
	}
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		arg[i < dag->n_input ? i : i + more] = dag->arg[i] + (int32_t)more;
	}
	*ret = *dag;
	ret->op = op;
	ret->n_op = dag->n_op + more;
	ret->arg = arg;
	ret->n_arg = dag->n_arg + more;
	ret->n_input = dag->n_input + more;
	*lies = shape;
	return ret;
}
