/* Reductions of random programs (random_dags.h): over axes and windows, by all signs, by
 * combiners that are and are not associative or commutative, from what is neutral and what is
 * not, under conditions on indices and on data. */
#ifndef HN_TESTS_RANDOM_REDUCE_H
#define HN_TESTS_RANDOM_REDUCE_H

#include "tests/lib/random_tensors.h"

struct rd_map {
	struct rd_index out[RD_MAX_RANK + 1], red[RD_MAX_RANK];
	struct rd_index w[2 * RD_MAX_RANK + 1];
	uint32_t n_out, n_red, n_w;
	bool windows;
	char index[RD_TEXT]; /* of the tensor that is read */
};

/* One axis of the operand: kept, summed over, or a window that moves over it. */
static inline void rd_map_axis(struct rd_gen *g, const struct rd_tensor *t, uint32_t d,
			       struct rd_map *m)
{
	static const int64_t sizes[] = { 3, 2, 1, 5 };
	struct rd_index i = t->dim[d], r = t->dim[d];
	uint32_t role = rd_draw(g, 4);
	size_t at = strlen(m->index);
	int64_t size = sizes[rd_draw(g, 4)];
	int64_t stride = 1 + (rd_draw(g, 3) == 1), dilation = 1 + (rd_draw(g, 4) == 1);

	rd_print(i.name, sizeof(i.name), "i%u", d);
	rd_print(r.name, sizeof(r.name), "r%u", d);
	at += rd_print(m->index + at, sizeof(m->index) - at, "%s", d ? ", " : "");
	if (role == 2 && dilation * (size - 1) < t->dim[d].least && rd_may_grow(&i)) {
		rd_places(&i, dilation * (size - 1), stride);
		rd_number(&r, size);
		m->windows = true;
		rd_print(m->index + at, sizeof(m->index) - at, "%d*%s + %d*%s",
			 (int)stride, i.name, (int)dilation, r.name);
		m->out[m->n_out++] = i;
		m->red[m->n_red++] = r;
		return;
	}
	/* The last axis is reduced when no other is. */
	if (role == 1 || (d + 1 == t->rank && m->n_red == 0)) {
		rd_print(m->index + at, sizeof(m->index) - at, "%s", r.name);
		m->red[m->n_red++] = r;
	} else {
		rd_print(m->index + at, sizeof(m->index) - at, "%s", i.name);
		m->out[m->n_out++] = i;
	}
}

/* The weights' indices: all reduced ones mostly, some kept ones, a new one. */
static inline void rd_map_weights(struct rd_gen *g, struct rd_map *m)
{
	for (uint32_t i = 0; i < m->n_red; i++) {
		if (rd_draw(g, 6) != 1) {
			m->w[m->n_w++] = m->red[i];
		}
	}
	for (uint32_t i = 0; i < m->n_out && m->n_w < RD_MAX_RANK; i++) {
		if (rd_draw(g, 4) == 1) {
			m->w[m->n_w++] = m->out[i];
		}
	}
	if (m->n_out < RD_MAX_RANK && m->n_w < RD_MAX_RANK && rd_draw(g, 3) != 1) {
		int64_t points = rd_points(m->out, m->n_out) * rd_points(m->red, m->n_red);
		struct rd_index f = rd_index_new(g, "f", RD_MAX_POINTS / points);

		if (points * f.extent <= RD_MAX_POINTS) {
			m->out[m->n_out++] = f;
			m->w[m->n_w++] = f;
		}
	}
	rd_shuffle(g, m->w, m->n_w);
}

/* Of the first reduced index and the last kept one: triangles, windows of adaptive pooling, what
 * leaves out some of the points. */
static const char *const rd_relations[] = {
	"%1$s <= %2$s ? ",
	"%1$s + %2$s > 2 ? ",
	"(%1$s + %2$s) %% 2 == 0 ? ",
	"%1$s < (%2$s * 5 + 7) / 3 - %2$s * 5 / 3 ? ",
	"%2$s + 1 > %1$s ? ",
	"2 * %1$s < %2$s + 1 && %1$s < 2 ? ",
};

/* `condition ? `, or nothing: a mask over some of the indices, or a relation. */
static inline void rd_condition(struct rd_gen *g, const struct rd_map *m, char *ret)
{
	uint32_t form = rd_draw(g, 16);
	struct rd_index x[2 * RD_MAX_RANK + 1] = { 0 };
	char names[RD_TEXT], mask[RD_TEXT * 3];
	uint32_t n = 0;

	ret[0] = 0;
	if (form >= 5 && form < 5 + HN_COUNT_OF(rd_relations) && m->n_out > 0) {
		rd_print(ret, RD_TEXT, rd_relations[form - 5], m->red[0].name,
			 m->out[m->n_out - 1].name);
	} else if (form == 3 || form == 4) {
		for (uint32_t i = 0; i < m->n_red + m->n_out && n < RD_MAX_RANK; i++) {
			if (i == 0 || rd_draw(g, 3) == 1) {
				x[n++] = i < m->n_red ? m->red[i] : m->out[i - m->n_red];
			}
		}
		bool truth = form == 3;
		const struct rd_tensor *t = rd_input_of(g, x, n, truth ? HN_BOOL : g->type);

		rd_names(names, x, n);
		rd_access(mask, t, names, t->type);
		rd_print(ret, RD_TEXT, truth ? "%s ? " : "%s > 1 ? ", mask);
	}
}

/* Combiners of one value; the last ones leave small numbers behind. */
static const char *const rd_single[] = {
	"(a), (b) -> a + b from 5",
	"(a), (b) -> select(a < b, b, a) from 0",
	"(a), (b) -> a - b from 0",
	"(a), (b) -> max(a, b) from 3",
	"(a), (b) -> a from 0",
	"(a), (b) -> b from 0",
	"(a), (b) -> b + a from 0",
	"(a), (b) -> a * b from 2",
	"(a), (b) -> a + b + a from 1",
};
#define RD_SINGLE_SMALL 7

/* Of two: the second is an index (the first ones), or of the first's type. */
static const char *const rd_double[] = {
	"(a, c), (b, d) -> a + b, max(c, d) from 0, 0",
	"(a, c), (b, d) -> select(a >= b, a, b), select(a >= b, c, d) from 0, 0",
	"(a, c), (b, d) -> max(a, b), select(a > b || (a == b && c < d), c, d) from 0, 0",
	"(a, c), (b, d) -> min(a, b), select(a < b || c < d, c, d) from 0, 0",
	"(a, c), (b, d) -> a * b, c * b + d from 1, 0",
};
#define RD_DOUBLE_INDEX 4

enum rd_sign { RD_SUM, RD_MAX, RD_MIN, RD_PRODUCT, RD_ARG, RD_ONE, RD_TWO };

/* Combiners of the program's own are as many as there are laws to break, hence often. */
static const enum rd_sign rd_signs[] = { RD_SUM, RD_ONE, RD_TWO, RD_MAX,     RD_ONE, RD_ARG,
					 RD_TWO, RD_MIN, RD_ONE, RD_PRODUCT, RD_ONE, RD_TWO };

/* A reduction of x, count elements of at most `top`; the sign and the values in body. */
static inline const char *rd_fold(struct rd_gen *g, const struct rd_map *m, enum rd_sign sign,
				  const char *x, enum hn_dtype type, double count, double top,
				  char *body, struct rd_values *made)
{
	static const char *const signs[] = { "+=!", "max=!", "min=!", "*=!" };
	bool small = g->family == RD_WHOLE;
	uint32_t k;

	*made = rd_one(type, sign == RD_SUM	  ? top * count
			     : sign == RD_PRODUCT ? (double)(1 << (int)count % 30)
						  : top);
	rd_print(body, RD_TEXT * 3, "%s", x);
	if (sign <= RD_PRODUCT) {
		return signs[sign];
	}
	if (sign == RD_ARG) {
		rd_print(body, RD_TEXT * 4, "%s, %s", x, m->red[0].name);
		*made = (struct rd_values){ 2, { type, HN_I32 }, { top, 64 } };
		return rd_draw(g, 2) ? "argmin=!" : "argmax=!";
	}
	made->top[0] = top * count + 5;
	if (sign == RD_ONE) {
		k = rd_draw(g, small ? RD_SINGLE_SMALL : HN_COUNT_OF(rd_single));
		rd_print(body, RD_TEXT * 6, "%s by %s", x, rd_single[k]);
		return "reduce=!";
	}
	k = rd_draw(g, small ? RD_DOUBLE_INDEX : HN_COUNT_OF(rd_double));
	rd_print(body, RD_TEXT * 8, "%s, %s by %s", x,
		 k < RD_DOUBLE_INDEX ? m->red[0].name : x, rd_double[k]);
	made->n = 2;
	made->type[1] = k < RD_DOUBLE_INDEX ? HN_I32 : type;
	made->top[1] = 64;
	return "reduce=!";
}

static inline void rd_reduce(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_map m = { 0 };
	enum hn_dtype type = rd_work_type(g, t);
	char x[RD_TEXT * 3], names[RD_TEXT], condition[RD_TEXT], value[RD_BODY];
	char body[RD_BODY + RD_TEXT];
	double top = t->top;
	struct rd_values made;
	bool contract = rd_draw(g, 2) == 0;
	enum rd_sign sign = contract ? RD_SUM : rd_signs[rd_draw(g, HN_COUNT_OF(rd_signs))];
	const char *text = "+=!";

	for (uint32_t d = 0; d < t->rank; d++) {
		rd_map_axis(g, t, d, &m);
	}
	rd_access(x, t, m.index, type);
	double count = (double)rd_points(m.red, m.n_red);

	if ((sign == RD_PRODUCT && g->family == RD_WHOLE && (count > 20 || g->type == HN_I32)) ||
	    (sign >= RD_ARG && g->inexact)) {
		sign = RD_SUM;
	}
	if (contract) {
		rd_map_weights(g, &m);
		char y[RD_TEXT * 3];
		const struct rd_tensor *w = rd_input(g, m.w, m.n_w);

		rd_names(names, m.w, m.n_w);
		rd_access(y, w, names, type);
		top = rd_clamp(x, top, count * w->top);
		rd_print(value, sizeof(value), "%s * %s", x, y);
		made = rd_one(type, top * count * w->top);
	} else {
		top = rd_clamp(x, top, sign == RD_PRODUCT ? RD_MAX_VALUE : count + 1);
		text = rd_fold(g, &m, sign, x, type, count, top, value, &made);
	}
	rd_condition(g, &m, condition);
	if (condition[0] && (sign == RD_MAX || sign == RD_MIN || sign == RD_ARG)) {
		made.top[0] = 2 * RD_MAX_VALUE; /* the end of the type, where no point meets it */
	}
	rd_print(body, sizeof(body), "%s%s", condition, value);
	rd_shuffle(g, m.out, m.n_out);
	rd_stage(g, m.out, m.n_out, text, body,
		 m.windows || condition[0] || rd_draw(g, 2) == 0, m.red, m.n_red, &made);
}

#endif
