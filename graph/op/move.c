/* graph/op/move.c -- elements in other places: transpose, expand, slice, split, concat, pad. */
#include <stdio.h>
#include <string.h>

#include "graph/op/rows.h"

#define LL(x) ((long long)(x))

/* The operand's type and shape. */
static struct hn_gshape like(const struct hn_gvalue *x)
{
	struct hn_gshape s = { .dtype = x->dtype, .rank = x->rank };

	memcpy(s.dim, x->shape, x->rank * sizeof(*x->shape));
	return s;
}

/* "T2(..) = T1(..)", an element of the result from one of the operand. */
static void put_copy(struct hn_say *s, const struct hn_gnode *n,
		     const hn_say_index *index, const hn_say_index *from)
{
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_load(s, n->in[0], from);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- transpose: perm -------------------------------------------------------------------- */

int32_t hn_transpose_expand(const struct hn_gcall *c)
{
	const struct hn_gattr *given = hn_gattr_find(c->node, "perm");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t perm[HN_GRAPH_MAX_RANK];
	bool seen[HN_GRAPH_MAX_RANK] = { false }, same = true;
	struct hn_gattr attr;

	for (uint32_t d = 0; d < x->rank; d++) {
		perm[d] = given == NULL		? x->rank - 1 - d
			  : given->n == x->rank ? given->i[d]
						: -1;
		if (perm[d] < 0 || perm[d] >= x->rank || seen[perm[d]]) {
			return hn_graph_fail(
				c->g, HONE_E_INVALID,
				"Transpose: perm is no order of %u dimensions", x->rank);
		}
		seen[perm[d]] = true;
		same &= perm[d] == d;
	}
	attr = hn_gattr_of_ints("perm", x->rank, perm);
	return same ? hn_gcall_arg(c, 0)
		    : hn_graph_add(c->g, "transpose", 1, c->node->in, 1, &attr);
}

bool hn_transpose_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *perm = hn_gattr_find(c->node, "perm");
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = like(x);
	for (uint32_t d = 0; d < x->rank; d++) {
		ret->dim[d] = x->shape[perm->i[d]];
	}
	return true;
}

void hn_transpose_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gattr *perm = hn_gattr_find(n, "perm");
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, perm->n);
	for (uint32_t d = 0; d < perm->n; d++) {
		memcpy(from[perm->i[d]], index[d], sizeof(index[d]));
	}
	put_copy(s, n, index, from);
}

/* -- expand: shape ---------------------------------------------------------------------- */

int32_t hn_expand_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gshape to = { .dtype = x->dtype };
	struct hn_gvalue as = *x;
	struct hn_gattr attr;

	if (!hn_gcall_ints(c, 1, &as.rank, &as.shape)) {
		return HN_BAD;
	}
	if (as.rank > HN_GRAPH_MAX_RANK) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Expand to %u dimensions",
				     as.rank);
	}
	if (!hn_gcall_broadcast(c, &to, x) || !hn_gcall_broadcast(c, &to, &as)) {
		return HN_BAD;
	}
	attr = hn_gattr_of_ints("shape", to.rank, to.dim);
	return to.rank == x->rank &&
			       memcmp(to.dim, x->shape, to.rank * sizeof(*to.dim)) == 0
		       ? hn_gcall_arg(c, 0)
		       : hn_graph_add(c->g, "expand", 1, c->node->in, 1, &attr);
}

bool hn_expand_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *shape = hn_gattr_find(c->node, "shape");

	*ret = (struct hn_gshape){ .dtype = hn_gcall_in(c, 0)->dtype, .rank = shape->n };
	memcpy(ret->dim, shape->i, shape->n * sizeof(*shape->i));
	return true;
}

void hn_expand_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t rank = s->g->value[n->out[0]].rank;
	hn_say_index index[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	hn_say_broadcast(s, n->in[0], n->out[0], 0, index);
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- slice: start, step, count, of every dimension -------------------------------------- */

struct slice {
	int64_t start[HN_GRAPH_MAX_RANK], step[HN_GRAPH_MAX_RANK],
		count[HN_GRAPH_MAX_RANK];
};

static int32_t sliced(const struct hn_gcall *c, const struct slice *k)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gattr attr[] = { hn_gattr_of_ints("start", x->rank, k->start),
				   hn_gattr_of_ints("step", x->rank, k->step),
				   hn_gattr_of_ints("count", x->rank, k->count) };
	bool all = true;

	for (uint32_t d = 0; d < x->rank; d++) {
		all &= k->start[d] == 0 && k->step[d] == 1 && k->count[d] == x->shape[d];
	}
	return all ? hn_gcall_arg(c, 0)
		   : hn_graph_add(c->g, "slice", 1, c->node->in, 3, attr);
}

static struct slice whole(const struct hn_gvalue *x)
{
	struct slice k;

	for (uint32_t d = 0; d < HN_GRAPH_MAX_RANK; d++) {
		k.start[d] = 0;
		k.step[d] = 1;
		k.count[d] = d < x->rank ? x->shape[d] : 1;
	}
	return k;
}

/* numpy's rule: ends count from the back when negative, and are cut to what is there. */
static void cut(struct slice *k, uint32_t d, int64_t extent, int64_t start, int64_t end,
		int64_t step)
{
	int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1, span;

	start = start < 0 ? (start < -extent ? low : start + extent) : start;
	end = end < 0 ? (end < -extent ? low : end + extent) : end;
	start = start < low ? low : start > high ? high : start;
	end = end < low ? low : end > high ? high : end;
	span = step > 0 ? end - start : start - end;
	k->start[d] = start;
	k->step[d] = step;
	k->count[d] = span > 0 ? (span - 1) / (step > 0 ? step : -step) + 1 : 0;
}

int32_t hn_slice_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	const int64_t *start, *end, *axes, *step;
	uint32_t n, n_end, n_axes, n_step, d;
	struct slice k = whole(x);

	if (!hn_gcall_list(c, "starts", 10, 1, &n, &start) ||
	    !hn_gcall_list(c, "ends", 10, 2, &n_end, &end) ||
	    !hn_gcall_list(c, "axes", 10, 3, &n_axes, &axes) ||
	    !hn_gcall_list(c, "", 10, 4, &n_step, &step)) {
		return HN_BAD;
	}
	if (n_end != n || (axes != NULL && n_axes != n) ||
	    (step != NULL && n_step != n)) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "Slice: lists of different lengths");
	}
	for (uint32_t i = 0; i < n; i++) {
		int64_t by = step != NULL ? step[i] : 1;

		if (!hn_gcall_axis(c, axes != NULL ? axes[i] : i, x->rank, &d)) {
			return HN_BAD;
		}
		if (by == 0 || by == INT64_MIN) {
			return hn_graph_fail(c->g, HONE_E_INVALID, "Slice: a step of 0");
		}
		cut(&k, d, x->shape[d], start[i], end[i], by);
	}
	return sliced(c, &k);
}

int32_t hn_split_expand(const struct hn_gcall *c)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	uint32_t n, n_out = c->node->n_out, axis;
	struct slice k = whole(x);
	const int64_t *sizes;
	int64_t at = 0, each;
	int32_t first = HN_BAD, v;

	if (!hn_gcall_list(c, "split", 13, 1, &n, &sizes) ||
	    !hn_gcall_axis(c, hn_gattr_int(c->node, "axis", 0), x->rank, &axis)) {
		return HN_BAD;
	}
	if (n != 0 && n != n_out) {
		return hn_graph_fail(c->g, HONE_E_INVALID,
				     "Split: %u sizes for %u results", n, n_out);
	}
	each = (x->shape[axis] + n_out - 1) / n_out;
	for (uint32_t i = 0; i < n_out; i++) {
		int64_t left = x->shape[axis] - at;

		k.start[axis] = at;
		k.count[axis] = n != 0 ? sizes[i] : each < left ? each : left;
		if (k.count[axis] < 0 || k.count[axis] > left) {
			return hn_graph_fail(c->g, HONE_E_INVALID,
					     "Split of %lld into %u parts does not fit",
					     LL(x->shape[axis]), n_out);
		}
		at += k.count[axis];
		v = sliced(c, &k);
		first = i == 0 ? v : first;
		if (i > 0) {
			c->out[i] = v;
		}
	}
	if (at != x->shape[axis]) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Split: parts of %lld in %lld",
				     LL(at), LL(x->shape[axis]));
	}
	return first;
}

bool hn_slice_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *count = hn_gattr_find(c->node, "count");

	*ret = like(hn_gcall_in(c, 0));
	memcpy(ret->dim, count->i, count->n * sizeof(*count->i));
	return true;
}

void hn_slice_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gattr *start = hn_gattr_find(n, "start"),
			      *step = hn_gattr_find(n, "step");
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];

	hn_say_indices(index, start->n);
	for (uint32_t d = 0; d < start->n; d++) {
		int64_t by = step->i[d];
		char scaled[64];

		if (by == 1) {
			snprintf(scaled, sizeof(scaled), "%s", "");
		} else {
			snprintf(scaled, sizeof(scaled), " * %lld",
				 LL(by < 0 ? -by : by));
		}
		if (by < 0) {
			snprintf(from[d], sizeof(from[d]), "%lld - i%u%s",
				 LL(start->i[d]), d, scaled);
		} else if (start->i[d] == 0) {
			snprintf(from[d], sizeof(from[d]), "i%u%s", d, scaled);
		} else {
			snprintf(from[d], sizeof(from[d]), "i%u%s + %lld", d, scaled,
				 LL(start->i[d]));
		}
	}
	put_copy(s, n, index, from);
}

/* -- concat: axis ----------------------------------------------------------------------- */

/* Each operand nests the statement's expression by one. */
#define CONCAT_MOST 64u

/* As many at a time as can be; returns how many are left. */
static uint32_t join(struct hn_graph *g, uint32_t n, int32_t *in,
		     const struct hn_gattr *axis)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i += CONCAT_MOST) {
		uint32_t some = n - i < CONCAT_MOST ? n - i : CONCAT_MOST;

		in[left++] = some == 1 ? in[i]
				       : hn_graph_add(g, "concat", some, in + i, 1, axis);
	}
	return left;
}

/* Operands without elements add nothing. */
int32_t hn_concat_expand(const struct hn_gcall *c)
{
	int32_t *in = HN_NEW_ARRAY(c->g->arena, int32_t, c->node->n_in);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct hn_gattr attr;
	uint32_t axis, n = 0;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", c->g->opset < 4 ? 1 : 0),
			   x->rank, &axis)) {
		return HN_BAD;
	}
	for (uint32_t i = 0; i < c->node->n_in; i++) {
		if (hn_gcall_in(c, i) != NULL &&
		    hn_gvalue_elements(hn_gcall_in(c, i)) > 0) {
			in[n++] = c->node->in[i];
		}
	}
	attr = hn_gattr_of_int(c->g->arena, "axis", axis);
	while (n > CONCAT_MOST) {
		n = join(c->g, n, in, &attr);
	}
	return n == 0	? hn_gcall_arg(c, 0)
	       : n == 1 ? in[0]
			: hn_graph_add(c->g, "concat", n, in, 1, &attr);
}

bool hn_concat_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	uint32_t axis = (uint32_t)hn_gattr_int(c->node, "axis", 0);
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	*ret = like(x);
	ret->dim[axis] = 0;
	for (uint32_t i = 0; i < c->node->n_in; i++) {
		const struct hn_gvalue *v = hn_gcall_in(c, i);
		bool fits = v->rank == x->rank && v->dtype == x->dtype;

		for (uint32_t d = 0; fits && d < x->rank; d++) {
			fits = d == axis || v->shape[d] == x->shape[d];
		}
		if (!fits) {
			hn_graph_fail(c->g, HONE_E_INVALID,
				      "Concat: %s%s and %s%s do not fit",
				      hn_dtype_name(x->dtype),
				      hn_shape_text(c->g->arena, x->rank, x->shape),
				      hn_dtype_name(v->dtype),
				      hn_shape_text(c->g->arena, v->rank, v->shape));
			return false;
		}
		ret->dim[axis] += v->shape[axis];
	}
	return true;
}

void hn_concat_say(struct hn_say *s, const struct hn_gnode *n)
{
	uint32_t axis = (uint32_t)hn_gattr_int(n, "axis", 0);
	uint32_t rank = s->g->value[n->out[0]].rank;
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK];
	int64_t at = 0;

	hn_say_indices(index, rank);
	hn_say_left(s, n->out[0], index);
	hn_say_text(s, " = ");
	for (uint32_t i = 0; i < n->n_in; i++) {
		memcpy(from, index, sizeof(index));
		if (at > 0) {
			snprintf(from[axis], sizeof(from[axis]), "i%u - %lld", axis,
				 LL(at));
		}
		at += s->g->value[n->in[i]].shape[axis];
		if (i + 1 < n->n_in) {
			hn_say_text(s, "i%u < %lld ? ", axis, LL(at));
		}
		hn_say_load(s, n->in[i], from);
		hn_say_text(s, i + 1 < n->n_in ? " : " : "");
	}
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}

/* -- pad: before, after, mode; of x, with a value --------------------------------------- */

/* The list is an operand since version 11; of some dimensions only since 18. */
static bool read_pads(const struct hn_gcall *c, uint32_t rank, int64_t *before,
		      int64_t *after)
{
	uint32_t n, n_axes = 0, d;
	const int64_t *pads, *axes = NULL;

	if (!hn_gcall_list(c, hn_gattr_find(c->node, "paddings") ? "paddings" : "pads",
			   11, 1, &n, &pads) ||
	    !hn_gcall_list(c, "", 18, 3, &n_axes, &axes)) {
		return false;
	}
	for (d = 0; d < rank; d++) {
		before[d] = after[d] = 0;
	}
	if (n != 2 * (axes != NULL ? n_axes : rank)) {
		hn_graph_fail(c->g, HONE_E_INVALID, "Pad: %u numbers for %u dimensions",
			      n, rank);
		return false;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		if (!hn_gcall_axis(c, axes != NULL ? axes[i] : i, rank, &d)) {
			return false;
		}
		before[d] = pads[i];
		after[d] = pads[n / 2 + i];
	}
	return true;
}

static int64_t cut_off(int64_t pad)
{
	return pad >= 0 ? 0 : pad == INT64_MIN ? INT64_MAX : -pad;
}

/* What is cut off by negative numbers goes first. */
static int32_t trimmed(const struct hn_gcall *c, int64_t *before, int64_t *after)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	struct slice k = whole(x);

	for (uint32_t d = 0; d < x->rank; d++) {
		int64_t front = cut_off(before[d]), back = cut_off(after[d]);

		if (front > x->shape[d] || back > x->shape[d] - front ||
		    before[d] > INT32_MAX || after[d] > INT32_MAX) {
			return hn_graph_fail(c->g, HONE_E_INVALID,
					     "Pad: %lld and %lld at %lld", LL(before[d]),
					     LL(after[d]), LL(x->shape[d]));
		}
		k.start[d] = front;
		k.count[d] = x->shape[d] - front - back;
		before[d] = before[d] < 0 ? 0 : before[d];
		after[d] = after[d] < 0 ? 0 : after[d];
	}
	return sliced(c, &k);
}

int32_t hn_pad_expand(const struct hn_gcall *c)
{
	const char *mode = hn_gattr_string(c->node, "mode", "constant");
	int64_t before[HN_GRAPH_MAX_RANK], after[HN_GRAPH_MAX_RANK];
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int32_t in[2], value = c->g->opset >= 11 ? hn_gcall_arg(c, 2) : HN_NONE;
	struct hn_gattr attr[3];
	bool none = true;

	if (strcmp(mode, "constant") != 0 && strcmp(mode, "edge") != 0 &&
	    strcmp(mode, "reflect") != 0 && strcmp(mode, "wrap") != 0) {
		return hn_graph_fail(c->g, HONE_E_UNSUPPORTED, "Pad: mode %s", mode);
	}
	if (!read_pads(c, x->rank, before, after)) {
		return HN_BAD;
	}
	in[0] = trimmed(c, before, after);
	if (in[0] < 0) {
		return HN_BAD;
	}
	for (uint32_t d = 0; d < x->rank; d++) {
		none &= before[d] == 0 && after[d] == 0;
	}
	in[1] = value != HN_NONE ? value
				 : hn_graph_scalar(c->g, x->dtype,
						   hn_gattr_float(c->node, "value", 0));
	if (hn_gvalue_elements(&c->g->value[in[1]]) != 1) {
		return hn_graph_fail(c->g, HONE_E_INVALID, "Pad: the value is no number");
	}
	attr[0] = hn_gattr_of_ints("before", x->rank, before);
	attr[1] = hn_gattr_of_ints("after", x->rank, after);
	attr[2] = (struct hn_gattr){ .name = "mode", .kind = HN_GATTR_STRING, .s = mode };
	return none ? in[0] : hn_graph_add(c->g, "pad", 2, in, 3, attr);
}

bool hn_pad_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gattr *before = hn_gattr_find(c->node, "before"),
			      *after = hn_gattr_find(c->node, "after");

	*ret = like(hn_gcall_in(c, 0));
	for (uint32_t d = 0; d < ret->rank; d++) {
		ret->dim[d] += before->i[d] + after->i[d];
	}
	return true;
}

/* Where the element of index i lies in a dimension of `extent`, `before` padded in front.  What is
 * reflected goes to and fro, what is wrapped around begins again.  Cut, as what proves indices does
 * not follow so far. */
static void padded_index(hn_say_index *ret, const char *mode, uint32_t d, int64_t before,
			 int64_t extent)
{
	int64_t period =
		strcmp(mode, "wrap") == 0 || extent == 1 ? extent : 2 * (extent - 1);
	int64_t shift = (before + period - 1) / period * period - before;

	if (extent == 1) {
		snprintf(*ret, sizeof(*ret), "0");
	} else if (strcmp(mode, "edge") == 0) {
		snprintf(*ret, sizeof(*ret), "min(max(i%u - %lld, 0), %lld)", d,
			 LL(before), LL(extent - 1));
	} else if (strcmp(mode, "wrap") == 0) {
		snprintf(*ret, sizeof(*ret), "min(max((i%u + %lld) %% %lld, 0), %lld)", d,
			 LL(shift), LL(extent), LL(extent - 1));
	} else {
		snprintf(*ret, sizeof(*ret),
			 "min(max(min((i%u + %lld) %% %lld, %lld - (i%u + %lld) %% "
			 "%lld), 0), %lld)",
			 d, LL(shift), LL(period), LL(period), d, LL(shift), LL(period),
			 LL(extent - 1));
	}
}

void hn_pad_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gattr *before = hn_gattr_find(n, "before"),
			      *after = hn_gattr_find(n, "after");
	const char *mode = hn_gattr_string(n, "mode", "constant"), *sign = " = ";
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	hn_say_index index[HN_GRAPH_MAX_RANK], from[HN_GRAPH_MAX_RANK],
		none[HN_GRAPH_MAX_RANK];
	bool constant = strcmp(mode, "constant") == 0;

	hn_say_indices(index, x->rank);
	memcpy(from, index, sizeof(index));
	for (uint32_t d = 0; d < x->rank; d++) {
		snprintf(none[d], sizeof(none[d]), "0");
		if (before->i[d] == 0 && (constant || after->i[d] == 0)) {
			continue;
		}
		if (constant) {
			snprintf(from[d], sizeof(from[d]), "i%u - %lld", d,
				 LL(before->i[d]));
		} else {
			padded_index(&from[d], mode, d, before->i[d], x->shape[d]);
		}
	}
	hn_say_left(s, n->out[0], index);
	for (uint32_t d = 0; d < x->rank && constant; d++) {
		if (before->i[d] > 0) {
			hn_say_text(s, "%si%u >= %lld", sign, d, LL(before->i[d]));
			sign = " && ";
		}
		if (after->i[d] > 0) {
			hn_say_text(s, "%si%u < %lld", sign, d,
				    LL(before->i[d] + x->shape[d]));
			sign = " && ";
		}
	}
	hn_say_text(s, constant ? " ? " : " = ");
	hn_say_load(s, n->in[0], from);
	if (constant) {
		hn_say_text(s, " : ");
		hn_say_load(s, n->in[1], none);
	}
	hn_say_where(s, n->out[0], index);
	hn_say_end(s);
}
