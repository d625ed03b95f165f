/* graph/op/normalize.c -- reductions over rows, and what is made of the rows with them.
 *
 * `softmax` has attribute axes (ascending, the dimensions summed over) and log.  `standardize` has
 * axes, epsilon and centred: (x - mean) / sqrt(variance + epsilon), or, not centred,
 * x / sqrt(mean of squares + epsilon).  norms.c says what is written with it.
 */
#include <stdio.h>
#include <string.h>

#include "graph/op/build.h"
#include "graph/op/rows.h"

/* Before version 13 all dimensions from `axis` on are summed over, and it is 1 when left out. */
int32_t hn_softmax_expand(const struct hn_gcall *c)
{
	bool old = c->g->opset < 13;
	const struct hn_gvalue *x = hn_gcall_in(c, 0);
	int64_t axes[HN_GRAPH_MAX_RANK];
	struct hn_gattr attr[2];
	uint32_t axis;
	int32_t v;

	if (!hn_gcall_axis(c, hn_gattr_int(c->node, "axis", old ? 1 : -1), x->rank,
			   &axis)) {
		return HN_BAD;
	}
	attr[0] = hn_gattr_of_ints(
		"axes", hn_axes_from(axis, old ? x->rank : axis + 1, axes), axes);
	attr[1] = hn_gattr_of_int(c->g->arena, "log",
				  strcmp(c->node->op->name, "LogSoftmax") == 0);
	v = hn_widened(c->g, hn_gcall_arg(c, 0));
	return hn_cast_to(c->g, hn_graph_add(c->g, "softmax", 1, &v, 2, attr), x->dtype);
}

bool hn_normalize_infer(const struct hn_gcall *c, struct hn_gshape *ret)
{
	const struct hn_gvalue *x = hn_gcall_in(c, 0);

	if (hn_dtype_class(x->dtype) != HN_CLASS_FLOAT) {
		hn_graph_fail(c->g, HONE_E_INVALID, "%s of %s", c->node->op->name,
			      hn_dtype_name(x->dtype));
		return false;
	}
	*ret = (struct hn_gshape){ .dtype = x->dtype, .rank = x->rank };
	memcpy(ret->dim, x->shape, x->rank * sizeof(*x->shape));
	return true;
}

/* The dimensions that are not reduced, in the order in which they lie; and names: i_d of these,
 * r_d of the others. */
struct rows {
	uint32_t n;
	hn_say_index outer[HN_GRAPH_MAX_RANK];
	int64_t extent[HN_GRAPH_MAX_RANK];
	bool reduced[HN_GRAPH_MAX_RANK];
	hn_say_index all[HN_GRAPH_MAX_RANK];  /* i_d everywhere */
	hn_say_index each[HN_GRAPH_MAX_RANK]; /* r_d where it is reduced */
	double count;
};

static void find_rows(const struct hn_gvalue *x, const struct hn_gnode *n,
		      struct rows *ret)
{
	const struct hn_gattr *axes = hn_gattr_find(n, "axes");

	*ret = (struct rows){ .count = 1 };
	hn_say_indices(ret->all, x->rank);
	for (uint32_t i = 0; i < axes->n; i++) {
		ret->reduced[axes->i[i]] = true;
		ret->count *= (double)x->shape[axes->i[i]];
	}
	for (uint32_t k = 0; k < x->rank; k++) {
		uint32_t d = x->order != NULL ? x->order[k] : k;

		snprintf(ret->each[d], sizeof(ret->each[d]), "%c%u",
			 ret->reduced[d] ? 'r' : 'i', d);
		if (!ret->reduced[d]) {
			snprintf(ret->outer[ret->n], sizeof(ret->outer[0]), "i%u", d);
			ret->extent[ret->n++] = x->shape[d];
		}
	}
}

/* "where" of a statement over rows; with the indices that are reduced. */
static void put_ranges(struct hn_say *s, const struct hn_gvalue *x, const struct rows *r,
		       bool with_reduced)
{
	for (uint32_t i = 0; i < r->n; i++) {
		hn_say_range(s, r->outer[i], r->extent[i]);
	}
	for (uint32_t k = 0; k < x->rank && with_reduced; k++) {
		uint32_t d = x->order != NULL ? x->order[k] : k;

		if (r->reduced[d]) {
			hn_say_range(s, r->each[d], x->shape[d]);
		}
	}
	hn_say_end(s);
}

static void put_left(struct hn_say *s, uint32_t temp, const struct rows *r,
		     const char *sign)
{
	hn_say_text(s, "\t");
	hn_say_at(s, temp, r->n, NULL, r->outer);
	hn_say_text(s, " %s ", sign);
}

void hn_softmax_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	uint32_t most = hn_say_temp(s), power = hn_say_temp(s), sum = hn_say_temp(s);
	bool is_log = hn_gattr_int(n, "log", 0) != 0;
	struct rows r;

	find_rows(x, n, &r);
	put_left(s, most, &r, "max=!");
	hn_say_load(s, n->in[0], r.each);
	put_ranges(s, x, &r, true);

	hn_say_text(s, "\t");
	hn_say_at(s, power, x->rank, x->order, r.all);
	hn_say_text(s, is_log ? " = " : " = exp(");
	hn_say_load(s, n->in[0], r.all);
	hn_say_text(s, " - ");
	hn_say_at(s, most, r.n, NULL, r.outer);
	hn_say_text(s, is_log ? "" : ")");
	hn_say_where(s, n->in[0], r.all);
	hn_say_end(s);

	put_left(s, sum, &r, "+=!");
	hn_say_text(s, is_log ? "exp(" : "");
	hn_say_at(s, power, x->rank, x->order, r.each);
	hn_say_text(s, is_log ? ")" : "");
	put_ranges(s, x, &r, true);

	hn_say_left(s, n->out[0], r.all);
	hn_say_text(s, " = ");
	hn_say_at(s, power, x->rank, x->order, r.all);
	hn_say_text(s, is_log ? " - log(" : " / ");
	hn_say_at(s, sum, r.n, NULL, r.outer);
	hn_say_text(s, is_log ? ")" : "");
	hn_say_where(s, n->out[0], r.all);
	hn_say_end(s);
}

/* x - mean, of one element; x where there is no mean. */
static void put_centred(struct hn_say *s, const struct hn_gnode *n, uint32_t mean,
			const struct rows *r, const hn_say_index *index)
{
	if (mean == 0) {
		hn_say_load(s, n->in[0], index);
		return;
	}
	hn_say_text(s, "(");
	hn_say_load(s, n->in[0], index);
	hn_say_text(s, " - ");
	hn_say_at(s, mean, r->n, NULL, r->outer);
	hn_say_text(s, ")");
}

/* The statements of the mean.  Returns its tensor. */
static uint32_t put_mean(struct hn_say *s, const struct hn_gnode *n, const struct rows *r)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	uint32_t sum = hn_say_temp(s), mean = hn_say_temp(s);

	put_left(s, sum, r, "+=!");
	hn_say_load(s, n->in[0], r->each);
	put_ranges(s, x, r, true);

	put_left(s, mean, r, "=");
	hn_say_at(s, sum, r->n, NULL, r->outer);
	hn_say_text(s, " * ");
	hn_say_number(s, x->dtype, 1 / r->count);
	put_ranges(s, x, r, false);
	return mean;
}

void hn_standardize_say(struct hn_say *s, const struct hn_gnode *n)
{
	const struct hn_gvalue *x = &s->g->value[n->in[0]];
	uint32_t mean, squares, factor;
	struct rows r;

	find_rows(x, n, &r);
	mean = hn_gattr_int(n, "centred", 1) != 0 ? put_mean(s, n, &r) : 0;
	squares = hn_say_temp(s);
	factor = hn_say_temp(s);

	put_left(s, squares, &r, "+=!");
	put_centred(s, n, mean, &r, r.each);
	hn_say_text(s, " * ");
	put_centred(s, n, mean, &r, r.each);
	put_ranges(s, x, &r, true);

	put_left(s, factor, &r, "=");
	hn_say_text(s, "1 / sqrt(");
	hn_say_at(s, squares, r.n, NULL, r.outer);
	hn_say_text(s, " * ");
	hn_say_number(s, x->dtype, 1 / r.count);
	hn_say_text(s, " + ");
	hn_say_number(s, x->dtype, hn_gattr_float(n, "epsilon", 1e-5));
	hn_say_text(s, ")");
	put_ranges(s, x, &r, false);

	hn_say_left(s, n->out[0], r.all);
	hn_say_text(s, " = ");
	put_centred(s, n, mean, &r, r.all);
	hn_say_text(s, " * ");
	hn_say_at(s, factor, r.n, NULL, r.outer);
	hn_say_where(s, n->out[0], r.all);
	hn_say_end(s);
}
