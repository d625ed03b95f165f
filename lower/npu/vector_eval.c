/* lower/npu/vector_eval.c -- the dag's ops as operations on values, from the results back.
 *
 * An op is computed so as it is read: each of its axes is a linear form of the dimensions found.  One
 * that is read in two ways is computed twice.  An argument that is read so is a load by these forms'
 * strides, whatever its own axes are: transposed, shifted, every second, one for all.
 *
 * It goes through twice: before the dimensions are ordered, to see what is loaded; and after.
 */
#include <string.h>

#include "lower/npu/vector_eval.h"

#define MOST_CUTS 24	/* of a box, one within the other */
#define MOST_APART 64	/* parts of one point each that a sum is taken apart into */
#define MOST_MADE 50000 /* values of ops that are asked for */

struct vec_made { /* a value of an op, read so */
	uint32_t op, out;
	const struct vec_line *at; /* [n_dim] */
	int32_t value;
	struct vec_made *next;
};

/* -- loads ------------------------------------------------------------------------------ */

static int32_t arg_of(const struct vec *x, uint32_t i)
{
	uint32_t k = 0;

	while (k < x->dag->n_input && x->dag->arg[k] != (int32_t)i) {
		k++;
	}
	return k < x->dag->n_input ? (int32_t)k : -1;
}

/* In a row along the last dimension, or, without it, along its only one. */
static bool is_in_a_row(const struct vec *x, const struct vec_value *v)
{
	if ((v->dims & vec_last(x)) != 0) {
		return v->stride[x->n_dim - 1] == 1;
	}
	return v->dims == 0 || ((v->dims & (v->dims - 1)) == 0 &&
				v->stride[__builtin_ctz(v->dims)] == 1);
}

static bool is_byte(enum hn_dtype t)
{
	return t == HN_BOOL || t == HN_I8 || t == HN_U8;
}

enum hn_dtype vec_carrier(enum hn_dtype t)
{
	return is_byte(t) ? HN_F16 : t;
}

static int32_t same_load(const struct vec *x, const struct vec_value *v)
{
	for (uint32_t i = 0; i < x->n_value; i++) {
		const struct vec_value *w = &x->v[i];

		if (w->loaded && w->arg == v->arg && w->dims == v->dims && w->offset == v->offset &&
		    memcmp(w->stride, v->stride, sizeof(v->stride)) == 0) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* The numbers as operations take them. */
static int32_t taken(struct vec *x, int32_t v, enum hn_dtype t)
{
	struct vec_item a = { v, 0 };

	if (x->v[v].form == VEC_STAGED) {
		int32_t to = vec_new_value(x, (x->v[v].dims & vec_last(x)) != 0 ? VEC_FULL : VEC_NUMBERS,
					   (enum hn_dtype)x->v[v].dtype, x->v[v].dims);

		vec_new_op(x, VEC_GATHER, to, v, -1, -1, 0);
		a.value = to;
	}
	if (is_byte(t)) {
		a = vec_as(x, a, HN_F16);
	}
	if (t == HN_U8) { /* above 127 it has been read as negative */
		struct vec_item more = vec_unary(x, HN_NPU_I_ADDS, a, HN_F16, 256);

		a = vec_choose(x, HN_NPU_I_CMPLT, a, (struct vec_item){ -1, 0 }, HN_F16, more, a, HN_F16);
	}
	return x->v[a.value].dims == 0 ? vec_spread(x, a.value) : a.value;
}

static int32_t loaded(struct vec *x, uint32_t i, const struct vec_line *at)
{
	const struct hn_op *op = x->dag->op[i];
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];
	struct vec_value like = { .arg = arg_of(x, i) };
	int64_t lo, hi;
	bool row;
	int32_t v;

	if (like.arg < 0) {
		vec_no(x, op, "it is no argument", "");
	}
	if (t != HN_F16 && t != HN_F32 && t != HN_I32 && !is_byte(t)) {
		vec_no(x, op, "float16, float32, int32 and what has a byte have a form, not ",
		       hn_dtype_name(t));
	}
	for (uint32_t d = 0; d < op->n_dim; d++) {
		vec_line_ends(x, &at[d], &lo, &hi);
		if (lo < 0 || hi >= op->shape[d]) {
			vec_no(x, op, "it is read past its ends, behind a condition", "");
		}
	}
	if (x->rc != 0) {
		return -1;
	}
	vec_lie(x, vec_shape(x, i), op->n_dim, at, &like);
	v = same_load(x, &like);
	row = !x->ordered || is_in_a_row(x, &like);
	if (!row && t != HN_F16 && t != HN_F32) {
		vec_no(x, op, "numbers of this type that do not lie in a row have no form: ", hn_dtype_name(t));
		return -1;
	}
	if (v < 0) {
		v = vec_new_value(x, !row ? VEC_STAGED
				  : (like.dims & vec_last(x)) != 0 || !x->ordered ? VEC_FULL : VEC_NUMBERS,
				  is_byte(t) ? HN_I8 : t, like.dims);
		x->v[v].loaded = true;
		x->v[v].arg = like.arg;
		x->v[v].offset = like.offset;
		memcpy(x->v[v].stride, like.stride, sizeof(like.stride));
		vec_new_op(x, VEC_LOAD, v, -1, -1, -1, 0);
	}
	return taken(x, v, t);
}

/* -- an op that is read so -------------------------------------------------------------- */

static bool is_among(const struct vec_line *at, uint32_t n, uint32_t found)
{
	for (uint32_t d = 0; d < n; d++) {
		if (at[d].k[found] != 0) {
			return true;
		}
	}
	return false;
}

/* A dimension that nothing else has: the same each time that the dag is gone through. */
static int8_t another(struct vec *x, const struct hn_op *op, int64_t extent)
{
	uint32_t d = x->n_static + x->n_more++;

	if (d >= VEC_DIMS) {
		vec_no(x, op, "the dag's axes are more dimensions than a space has", "");
		return 0;
	}
	x->found[d] = extent;
	if (!x->ordered) {
		x->dim[d] = extent;
		x->to[d] = x->inner[d] = (int8_t)d;
		x->n_found = x->n_dim = d + 1;
	}
	return (int8_t)d;
}

static struct vec_line *axes(struct vec *x, uint32_t i, const struct vec_line *at)
{
	const struct hn_op *op = x->dag->op[i];
	uint32_t n = op->n_spatial + op->n_reduce;
	struct vec_line *ret = HN_NEW_ARRAY(x->a, struct vec_line, n + 1);

	for (uint32_t d = 0; d < n; d++) {
		if (d < op->n_spatial) {
			ret[d] = at[d];
			if (op->axis[d].min != 0) {
				vec_no(x, op, "an axis that does not begin at 0", "");
			}
			continue;
		}
		ret[d].c = op->axis[d].min;
		if (x->home[i][d] >= 0 && !vec_is_split(x, i, d)) {
			int8_t k = x->home[i][d];

			k = is_among(at, op->n_spatial, (uint32_t)k) ? another(x, op, op->axis[d].extent) : k;
			ret[d].k[(uint32_t)k] = 1;
			x->term[(uint32_t)k] = (struct vec_side){ i, d, 0, op->axis[d].extent, k };
		}
	}
	return ret;
}

int32_t vec_value_of(struct vec *x, uint32_t i, uint32_t out, const struct vec_line *at)
{
	const struct hn_op *op = x->dag->op[i];
	struct vec_made *m;
	struct vec_line *copy;
	struct vec_side terms[VEC_DIMS];
	struct vec_point p;
	struct vec_item a;

	if (op->kind == HN_OP_PLACEHOLDER) {
		return loaded(x, i, at);
	}
	if (x->n_made++ == MOST_MADE) {
		vec_no(x, op, "ops are read in too many ways", "");
		return -1;
	}
	for (m = x->made; m != NULL; m = m->next) {
		if (m->op == i && m->out == out &&
		    memcmp(m->at, at, op->n_dim * sizeof(at[0])) == 0) {
			return m->value;
		}
	}
	memcpy(terms, x->term, sizeof(terms));
	p = (struct vec_point){ x, op, i, axes(x, i, at) };
	a = x->rc != 0 ? (struct vec_item){ -1, 0 }
	    : op->reduce != NULL ? vec_reduced(&p, op) : vec_expr(&p, op->body[out]);
	if (x->rc != 0) {
		return -1;
	}
	memcpy(x->term, terms, sizeof(terms)); /* of who reads it: he may be over the same axis */
	copy = HN_NEW_ARRAY(x->a, struct vec_line, op->n_dim + 1);
	memcpy(copy, at, op->n_dim * sizeof(at[0]));
	m = HN_NEW(x->a, struct vec_made);
	*m = (struct vec_made){ .op = i, .out = out, .at = copy, .next = x->made,
				.value = a.value >= 0 ? a.value
						      : vec_constant(x, a.number,
								     vec_carrier((enum hn_dtype)op->dtype[out])) };
	x->made = m;
	return m->value;
}

/* -- results ---------------------------------------------------------------------------- */

struct box {
	int64_t from[HN_DAG_MAX_RANK], extent[HN_DAG_MAX_RANK];
};

/* The dimension of a part of an axis: the same wherever it is asked for. */
int8_t vec_side_of(struct vec *x, uint32_t i, uint32_t d, int64_t from, int64_t extent)
{
	struct vec_side *s = x->side;
	uint32_t k = 0;

	if (from == 0 && extent == x->dag->op[i]->axis[d].extent) {
		return x->home[i][d];
	}
	while (k < x->n_side && (s[k].op != i || s[k].axis != d || s[k].from != from || s[k].extent != extent)) {
		k++;
	}
	if (k == x->n_side) {
		int8_t found = another(x, x->dag->op[i], extent);

		if (x->rc != 0 || k == VEC_DIMS) {
			return 0;
		}
		s[x->n_side++] = (struct vec_side){ i, d, from, extent, found };
	}
	return s[k].found;
}

static void store(struct vec *x, uint32_t i, uint32_t out, int32_t arg, const struct box *box)
{
	const struct hn_op *op = x->dag->op[i];
	enum hn_dtype t = (enum hn_dtype)op->dtype[out];
	struct vec_line *at = HN_NEW_ARRAY(x->a, struct vec_line, op->n_dim + 1);
	struct vec_value like = { 0 };
	int32_t v;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		at[d].c = box->from[d];
		if (box->extent[d] > 1) {
			at[d].k[(uint32_t)vec_side_of(x, i, d, box->from[d], box->extent[d])] = 1;
		}
	}
	v = vec_value_of(x, i, out, at);
	if (x->rc != 0) {
		return;
	}
	vec_lie(x, vec_shape(x, i), op->n_dim, at, &like);
	if (t == HN_U8) { /* above 127 it is written as negative */
		struct vec_item a = { v, 0 }, less = vec_unary(x, HN_NPU_I_ADDS, a, HN_F16, -256);

		v = vec_choose(x, HN_NPU_I_CMPGT, a, (struct vec_item){ -1, 127 }, HN_F16, less, a,
			       HN_F16).value;
	}
	/* bytes are spread as what carries them: no instruction spreads bytes */
	v = vec_widened(x, v, like.dims);
	v = vec_as(x, (struct vec_item){ v, 0 }, is_byte(t) ? HN_I8 : t).value;
	if (x->ordered && !is_in_a_row(x, &like) && (x->v[v].form == VEC_FULL ||
						    x->v[v].form == VEC_NUMBERS)) {
		int32_t to = vec_new_value(x, VEC_STAGED, (enum hn_dtype)x->v[v].dtype, like.dims);

		if (is_byte(t)) {
			vec_no(x, op, "numbers of this type that do not lie in a row have no form: ",
			       hn_dtype_name(t));
		}
		vec_new_op(x, VEC_SCATTER, to, v, -1, -1, 0);
		v = to;
	} else if (x->v[v].loaded || x->v[v].stored) {
		v = vec_unary(x, HN_NPU_I_COPY, (struct vec_item){ v, 0 }, (enum hn_dtype)x->v[v].dtype, 0).value;
	}
	x->v[v].arg = arg;
	x->v[v].stored = true;
	x->v[v].offset = like.offset;
	memcpy(x->v[v].stride, like.stride, sizeof(like.stride));
	vec_new_op(x, VEC_STORE, -1, v, -1, -1, 0);
}

/* Which axis of the box a found dimension is along; n_dim: none. */
static uint32_t axis_of(struct vec *x, uint32_t i, const struct box *box, int32_t found)
{
	const struct hn_op *op = x->dag->op[i];
	uint32_t d = 0;

	while (d < op->n_dim && (box->extent[d] == 1 || vec_side_of(x, i, d, box->from[d], box->extent[d]) != found)) {
		d++;
	}
	return d;
}

/* A sum that the condition is within becomes one of more parts; false: there is none, or of too many. */
static bool split_sum(struct vec *x)
{
	const struct vec_side *t = &x->term[x->cut >= 0 ? x->cut : x->apart_at];
	int64_t from = x->cut >= 0 ? x->cut_at : 1, to = x->cut >= 0 ? x->cut_at + 1 : t->extent;

	if (t->extent == 0 || to - from >= MOST_APART || x->n_split + (uint64_t)(to - from) > VEC_SPLITS) {
		return false;
	}
	for (; from < to; from++) {
		x->split_at[x->n_split++] = (struct vec_split){ t->op, t->axis, t->from + from };
	}
	return true;
}

/* What was made on the way has not been. */
static void back(struct vec *x, const struct vec *before)
{
	x->rc = 0;
	x->depth = before->depth;
	x->n_value = before->n_value;
	x->n_op = before->n_op;
	x->made = before->made;
	x->n_more = before->n_more;
	x->n_side = before->n_side;
	memcpy(x->term, before->term, sizeof(x->term));
	if (!x->ordered) {
		x->n_found = before->n_found;
		x->n_dim = before->n_dim;
	}
}

/* Computed as a whole, or, where a condition says so, in two parts, or with sums in parts. */
static void boxes(struct vec *x, uint32_t i, uint32_t out, int32_t arg, struct box box, uint32_t depth)
{
	struct vec before = *x;
	struct box behind;
	uint32_t d;

	x->cut = x->apart_at = -1;
	store(x, i, out, arg, &box);
	if (x->rc == 0 || (x->cut < 0 && x->apart_at < 0)) {
		return;
	}
	d = x->cut < 0 ? x->dag->op[i]->n_dim : axis_of(x, i, &box, x->cut);
	if (d == x->dag->op[i]->n_dim) {
		if (split_sum(x)) {
			back(x, &before);
			boxes(x, i, out, arg, box, depth);
		}
		return;
	}
	if (depth == MOST_CUTS) {
		return;
	}
	behind = box;
	behind.from[d] += x->cut_at;
	behind.extent[d] -= x->cut_at;
	box.extent[d] = x->cut_at;
	back(x, &before);
	boxes(x, i, out, arg, box, depth + 1);
	if (x->rc == 0) {
		boxes(x, i, out, arg, behind, depth + 1);
	}
}

int vec_ops(struct vec *x)
{
	x->made = NULL;
	x->n_more = x->n_made = x->n_side = x->n_split = 0;
	memset(x->term, 0, sizeof(x->term));
	x->split_at = HN_NEW_ARRAY(x->a, struct vec_split, VEC_SPLITS);
	for (uint32_t i = x->dag->n_input; i < x->dag->n_arg && x->rc == 0; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];
		struct box box = { .from = { 0 } };

		for (uint32_t d = 0; d < op->n_dim; d++) {
			box.extent[d] = op->shape[d];
		}
		boxes(x, (uint32_t)x->dag->arg[i], hn_dag_arg_out(x->dag, i), (int32_t)i, box, 0);
	}
	return x->rc;
}
