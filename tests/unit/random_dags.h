/* Random programs in the text notation, over small tensors.
 *
 * The generator reads its decisions from a tape of numbers and 0 is always the simplest
 * choice, so a program is made smaller by making its tape smaller (the idea: MacIver and
 * Donaldson, "Test-case reduction via test-case generation", ECOOP 2020).  Inputs hold
 * small whole numbers and the largest value of each tensor is kept track of: unless
 * `inexact`, every intermediate is a whole number that float32 holds, so any order of
 * summation gives the same bits. */
#ifndef HN_TESTS_RANDOM_DAGS_H
#define HN_TESTS_RANDOM_DAGS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/rng.h"

#define RD_TAPE 160
#define RD_MAX_RANK 4
#define RD_MAX_TENSORS 32
#define RD_MAX_POINTS 3000     /* of a stage's domain */
#define RD_MAX_ELEMENTS 2000   /* of a tensor */
#define RD_MAX_VALUE 4194304.0 /* whole numbers this far are sums float32 holds */
#define RD_TEXT 400

struct rd_tensor {
	char name[8];
	uint32_t rank;
	int64_t extent[RD_MAX_RANK];
	double top; /* no element is larger */
	bool stage, read;
};

/* A loop index of the stage at hand. */
struct rd_index {
	char name[8];
	int64_t extent;
};

struct rd_gen {
	const uint32_t *tape;
	uint32_t n_tape, at;
	bool integer, wide, inexact;
	uint32_t n, n_input, n_stage;
	struct rd_tensor t[RD_MAX_TENSORS];
	struct hn_buf params, body;
};

/* snprintf that never cuts off; the length. */
__attribute__((format(printf, 3, 4))) static inline size_t rd_print(char *ret, size_t n,
								    const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	int length = vsnprintf(ret, n, fmt, list);
	va_end(list);
	if (length < 0 || (size_t)length >= n) {
		abort();
	}
	return (size_t)length;
}

static inline uint32_t rd_draw(struct rd_gen *g, uint32_t n)
{
	uint32_t v = g->at < g->n_tape ? g->tape[g->at] : 0;

	g->at++;
	return v % n;
}

static inline int64_t rd_extent(struct rd_gen *g)
{
	static const int64_t extents[] = { 1, 2, 3, 5, 7, 8, 13, 16, 17, 3, 5, 7 };

	return extents[rd_draw(g, HN_COUNT_OF(extents))];
}

static inline int64_t rd_points(const struct rd_index *x, uint32_t n)
{
	int64_t product = 1;

	for (uint32_t i = 0; i < n; i++) {
		product *= x[i].extent;
	}
	return product;
}

static inline void rd_shuffle(struct rd_gen *g, struct rd_index *x, uint32_t n)
{
	if (rd_draw(g, 2) == 0) {
		return;
	}
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = rd_draw(g, i);
		struct rd_index old = x[i - 1];

		x[i - 1] = x[j];
		x[j] = old;
	}
}

/* ---- tensors */

static inline struct rd_tensor *rd_input(struct rd_gen *g, const struct rd_index *x,
					 uint32_t rank)
{
	struct rd_tensor *t = &g->t[g->n++];

	*t = (struct rd_tensor){ .rank = rank, .top = g->integer ? 3 : 2, .read = true };
	rd_print(t->name, sizeof(t->name), "A%u", g->n_input++);
	hn_buf_printf(&g->params, "%s%s", g->n_input > 1 ? ", " : "", t->name);
	for (uint32_t i = 0; i < rank; i++) {
		t->extent[i] = x[i].extent;
		hn_buf_printf(&g->params, "%s%d%s", i ? "," : "[", (int)x[i].extent,
			      i + 1 == rank ? "]" : "");
	}
	return t;
}

static inline void rd_names(char *ret, const struct rd_index *x, uint32_t n)
{
	size_t at = 0;

	ret[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		at += rd_print(ret + at, RD_TEXT - at, "%s%s", i ? "," : "", x[i].name);
	}
}

/* `name(i,j)`, or `name` of a scalar. */
static inline void rd_access(char *ret, const struct rd_tensor *t, const char *indices)
{
	rd_print(ret, RD_TEXT * 2, t->rank ? "%s(%s)" : "%s", t->name, indices);
}

/* A new stage over `out`; `red` are its reduced indices; `sized`: say all ranges. */
static inline void rd_stage(struct rd_gen *g, const struct rd_index *out, uint32_t n_out,
			    const char *sign, const char *body, bool sized,
			    const struct rd_index *red, uint32_t n_red, double top)
{
	struct rd_tensor *t = &g->t[g->n++];
	char names[RD_TEXT];
	const char *sep = "where";

	*t = (struct rd_tensor){ .rank = n_out, .top = top, .stage = true };
	rd_print(t->name, sizeof(t->name), "s%u", g->n_stage++);
	rd_names(names, out, n_out);
	hn_buf_printf(&g->body, n_out ? "\t%s(%s) " : "\t%s%s ", t->name, names);
	hn_buf_printf(&g->body, "%s %s", sign, body);
	for (uint32_t i = 0; i < n_out; i++) {
		t->extent[i] = out[i].extent;
	}
	for (uint32_t i = 0; i < n_out + n_red && sized; i++) {
		const struct rd_index *x = i < n_out ? &out[i] : &red[i - n_out];

		hn_buf_printf(&g->body, " %s %s in 0:%d", sep, x->name, (int)x->extent);
		sep = ",";
	}
	hn_buf_puts(&g->body, "\n");
}

/* An index for each dimension. */
static inline void rd_axes(const struct rd_tensor *t, struct rd_index *ret)
{
	for (uint32_t i = 0; i < t->rank; i++) {
		rd_print(ret[i].name, sizeof(ret[i].name), "i%u", i);
		ret[i].extent = t->extent[i];
	}
}

/* Keeps values small: `text` becomes its clamp when `top` times `factor` is too much. */
static inline double rd_clamp(char *text, double top, double factor)
{
	char old[RD_TEXT * 2];

	if (top * factor <= RD_MAX_VALUE) {
		return top;
	}
	rd_print(old, sizeof(old), "%s", text);
	rd_print(text, RD_TEXT * 3, "max(min(%s, 2), -2)", old);
	return 2;
}

/* ---- stages */

/* A second operand over some of the indices, or one index more. */
static inline bool rd_second(struct rd_gen *g, struct rd_index *out, uint32_t *n_out,
			     char *ret, double *ret_top)
{
	struct rd_index x[RD_MAX_RANK];
	char names[RD_TEXT];
	uint32_t n = 0;

	for (uint32_t i = 0; i < *n_out; i++) {
		if (rd_draw(g, 3) != 1) {
			x[n++] = out[i];
		}
	}
	if (*n_out < RD_MAX_RANK && rd_draw(g, 4) == 1) {
		struct rd_index more = { "b", rd_extent(g) };

		if (rd_points(out, *n_out) * more.extent <= RD_MAX_ELEMENTS) {
			out[(*n_out)++] = more;
			x[n++] = more;
		}
	}
	rd_shuffle(g, x, n);
	const struct rd_tensor *t = rd_input(g, x, n);

	rd_names(names, x, n);
	rd_access(ret, t, names);
	*ret_top = t->top;
	return true;
}

/* Another tensor of the same shape, the newest first. */
static inline const char *rd_twin(struct rd_gen *g, const struct rd_tensor *x,
				  double *ret_top)
{
	for (uint32_t i = g->n; i-- > 0;) {
		struct rd_tensor *t = &g->t[i];

		if (t != x && t->rank == x->rank &&
		    memcmp(t->extent, x->extent, sizeof(x->extent)) == 0) {
			t->read = true;
			*ret_top = t->top;
			return t->name;
		}
	}
	*ret_top = x->top;
	return x->name;
}

static inline void rd_binary(struct rd_gen *g, const char *x, double x_top, const char *y,
			     double y_top, char *ret, double *ret_top)
{
	static const char *const forms[] = { "%s + %s", "%s - %s", "%s * %s",
					     "max(%s, %s)", "min(%s, %s)" };
	char p[RD_TEXT * 3], q[RD_TEXT * 3];
	uint32_t form = rd_draw(g, HN_COUNT_OF(forms));

	rd_print(p, sizeof(p), "%s", x);
	rd_print(q, sizeof(q), "%s", y);
	if (form == 2) {
		x_top = rd_clamp(p, x_top, y_top);
		y_top = rd_clamp(q, y_top, x_top);
	}
	x_top = rd_clamp(p, x_top, 2);
	y_top = rd_clamp(q, y_top, 2);
	/* The forms hold two %s each. */
	const char *cut = strstr(forms[form], "%s");
	const char *next = strstr(cut + 2, "%s");

	rd_print(ret, RD_TEXT * 8, "%.*s%s%.*s%s%s", (int)(cut - forms[form]),
		 forms[form], p, (int)(next - cut - 2), cut + 2, q, next + 2);
	*ret_top = form == 2 ? x_top * y_top : x_top + y_top;
}

/* One operand and constants; false when the form is none for this type. */
static inline bool rd_unary(struct rd_gen *g, const struct rd_tensor *t, const char *x,
			    char *ret, double *ret_top)
{
	uint32_t form = rd_draw(g, 9);

	*ret_top = t->top + 1;
	if (form >= 6 && g->integer) {
		form = 1;
	}
	g->inexact = g->inexact || form >= 6;
	switch (form) {
	case 0:
		rd_print(ret, RD_TEXT * 8, "%s + 1", x);
		break;
	case 1:
		rd_print(ret, RD_TEXT * 8, "max(%s, 0)", x);
		break;
	case 2:
		*ret_top = 3 * t->top;
		rd_print(ret, RD_TEXT * 8, "%s * 3", x);
		break;
	case 3:
		rd_print(ret, RD_TEXT * 8, t->rank ? "i0 %% 2 == 0 ? %s : 1" : "1 - %s",
			 x);
		break;
	case 4:
		*ret_top = t->top + (t->rank ? (double)t->extent[0] : 1);
		rd_print(ret, RD_TEXT * 8, t->rank ? "%s + %s(i0)" : "%s + 1", x,
			 g->integer ? "int32"
			 : g->wide  ? "float64"
				    : "float32");
		break;
	case 5:
		rd_print(ret, RD_TEXT * 8, "select(%s > 1, %s, 0 - %s)", x, x, x);
		break;
	case 6:
		*ret_top = 8;
		rd_print(ret, RD_TEXT * 8, "exp(min(%s, 2))", x);
		break;
	case 7:
		rd_print(ret, RD_TEXT * 8, "sqrt(max(%s, 0) + 1)", x);
		break;
	default:
		rd_print(ret, RD_TEXT * 8, "%s / (max(%s, 0) + 1)", x, x);
	}
	return true;
}

static inline void rd_elementwise(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK + 1] = { 0 };
	char names[RD_TEXT], x[RD_TEXT * 3], y[RD_TEXT * 3], body[RD_TEXT * 8];
	uint32_t n_out = t->rank;
	double top = t->top, y_top;

	rd_axes(t, out);
	rd_names(names, out, n_out);
	rd_access(x, t, names);
	switch (rd_draw(g, 3)) {
	case 0:
		top = rd_clamp(x, top, 4);
		struct rd_tensor clamped = *t;

		clamped.top = top;
		rd_unary(g, &clamped, x, body, &top);
		break;
	case 1:
		rd_second(g, out, &n_out, y, &y_top);
		rd_binary(g, x, top, y, y_top, body, &top);
		break;
	default: {
		struct rd_tensor twin = *t;
		const char *name = rd_twin(g, t, &y_top);

		rd_print(twin.name, sizeof(twin.name), "%s", name);
		rd_access(y, &twin, names);
		rd_binary(g, x, top, y, y_top, body, &top);
	}
	}
	rd_shuffle(g, out, n_out);
	rd_stage(g, out, n_out, "=", body, true, NULL, 0, top);
}

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
	struct rd_index i = { "", t->extent[d] }, r = { "", t->extent[d] };
	uint32_t role = rd_draw(g, 4);
	size_t at = strlen(m->index);
	int64_t size = sizes[rd_draw(g, 4)];
	int64_t stride = 1 + (rd_draw(g, 3) == 1), dilation = 1 + (rd_draw(g, 4) == 1);

	rd_print(i.name, sizeof(i.name), "i%u", d);
	rd_print(r.name, sizeof(r.name), "r%u", d);
	at += rd_print(m->index + at, sizeof(m->index) - at, "%s", d ? ", " : "");
	if (role == 2 && dilation * (size - 1) < t->extent[d]) {
		i.extent = (t->extent[d] - dilation * (size - 1) - 1) / stride + 1;
		r.extent = size;
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
		struct rd_index f = { "f", rd_extent(g) };

		if (rd_points(m->out, m->n_out) * rd_points(m->red, m->n_red) *
			    f.extent <=
		    RD_MAX_POINTS) {
			m->out[m->n_out++] = f;
			m->w[m->n_w++] = f;
		}
	}
	rd_shuffle(g, m->w, m->n_w);
}

static inline void rd_reduce(struct rd_gen *g, const struct rd_tensor *t)
{
	static const char *const signs[] = { "+=!", "max=!", "min=!", "*=!" };
	struct rd_map m = { 0 };
	char x[RD_TEXT * 3], names[RD_TEXT], body[RD_TEXT * 8];
	double top = t->top;
	bool contract = rd_draw(g, 3) != 1;
	uint32_t sign = contract ? 0 : rd_draw(g, 4);

	for (uint32_t d = 0; d < t->rank; d++) {
		rd_map_axis(g, t, d, &m);
	}
	rd_access(x, t, m.index);
	double count = (double)rd_points(m.red, m.n_red);

	if (sign == 3 && (count > 20 || g->integer)) {
		sign = 0;
	}
	if (contract) {
		rd_map_weights(g, &m);
		char y[RD_TEXT * 3];
		const struct rd_tensor *w = rd_input(g, m.w, m.n_w);

		rd_names(names, m.w, m.n_w);
		rd_access(y, w, names);
		top = rd_clamp(x, top, count * w->top);
		top *= count * w->top;
		rd_print(body, sizeof(body), "%s * %s", x, y);
	} else {
		top = rd_clamp(x, top, sign == 3 ? RD_MAX_VALUE : sign == 0 ? count : 1);
		top = sign == 0	  ? top * count
		      : sign == 3 ? (double)(1 << (int)count)
				  : top;
		rd_print(body, sizeof(body), "%s", x);
	}
	rd_shuffle(g, m.out, m.n_out);
	rd_stage(g, m.out, m.n_out, signs[sign], body, m.windows || rd_draw(g, 2) == 0,
		 m.red, m.n_red, top);
}

/* A zero border, or zeros between the elements. */
static inline void rd_pad(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK];
	char index[RD_TEXT] = "", test[RD_TEXT] = "", body[RD_TEXT * 8], x[RD_TEXT * 3];
	size_t at = 0, end = 0;

	rd_axes(t, out);
	for (uint32_t d = 0; d < t->rank; d++) {
		int lo = (int)rd_draw(g, 3), hi = (int)rd_draw(g, 3);
		bool apart = rd_draw(g, 5) == 1;
		int n = (int)t->extent[d];
		const char *i = out[d].name, *sep = end ? " && " : "";
		int64_t grown = apart ? 2 * n - 1 : n + lo + hi;

		at += rd_print(index + at, sizeof(index) - at, "%s", d ? ", " : "");
		if (grown == n || rd_points(out, t->rank) / n * grown > RD_MAX_ELEMENTS) {
			at += rd_print(index + at, sizeof(index) - at, "%s", i);
			continue;
		}
		out[d].extent = grown;
		if (apart) {
			at += rd_print(index + at, sizeof(index) - at, "%s / 2", i);
			end += rd_print(test + end, sizeof(test) - end, "%s%s %% 2 == 0",
					sep, i);
		} else {
			at += rd_print(index + at, sizeof(index) - at, "%s - %d", i, lo);
			end += rd_print(test + end, sizeof(test) - end,
					"%s%s >= %d && %s < %d", sep, i, lo, i, lo + n);
		}
	}
	rd_access(x, t, index);
	rd_print(body, sizeof(body), end ? "%s ? %s : 0" : "%s%s + 1", test, x);
	rd_stage(g, out, t->rank, "=", body, true, NULL, 0, t->top + 1);
}

/* Another shape by division and remainder, or an axis read backwards. */
static inline void rd_reshape(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK + 1];
	char index[RD_TEXT] = "", x[RD_TEXT * 3];
	uint32_t d = rd_draw(g, t->rank), form = rd_draw(g, 3), n = t->rank;
	int n1 = (int)t->extent[d], part = 1;
	char here[RD_TEXT / 4] = "";

	rd_axes(t, out);
	while (part * part < n1 && (n1 % part || part == 1)) {
		part++;
	}
	if (form == 1 && d + 1 < n) {
		int n2 = (int)t->extent[d + 1];

		rd_print(here, sizeof(here), "i%u / %d, i%u %% %d", d, n2, d, n2);
		out[d].extent *= n2;
		memmove(&out[d + 1], &out[d + 2], sizeof(*out) * (n - d - 2));
		n--;
	} else if (form == 2 && n < RD_MAX_RANK && n1 % part == 0) {
		memmove(&out[d + 2], &out[d + 1], sizeof(*out) * (n - d - 1));
		out[d].extent = n1 / part;
		out[d + 1] = (struct rd_index){ "q", part };
		rd_print(here, sizeof(here), "i%u * %d + q", d, part);
		n++;
	} else {
		form = 0;
		rd_print(here, sizeof(here), "%d - i%u", n1 - 1, d);
	}
	for (uint32_t k = 0; k < t->rank; k++) {
		size_t at = strlen(index);

		if (form == 1 && k == d + 1) {
			continue;
		}
		if (k == d) {
			rd_print(index + at, sizeof(index) - at, "%s%s", k ? ", " : "",
				 here);
		} else {
			rd_print(index + at, sizeof(index) - at, "%si%u", k ? ", " : "",
				 k);
		}
	}
	rd_access(x, t, index);
	rd_shuffle(g, out, n);
	rd_stage(g, out, n, "=", x, true, NULL, 0, t->top);
}

static inline void rd_step(struct rd_gen *g)
{
	/* Mostly the newest tensor. */
	uint32_t back = rd_draw(g, 4) == 1 ? rd_draw(g, g->n) : 0;
	struct rd_tensor *t = NULL;
	uint32_t kind = rd_draw(g, 8);

	for (uint32_t i = g->n; i-- > 0 && (t == NULL || back > 0);) {
		if (g->t[i].stage || g->n_stage == 0 || back > 0) {
			back -= t != NULL && back > 0;
			t = &g->t[i];
		}
	}
	t->read = true;
	struct rd_tensor of = *t;

	if (of.rank > 0 && kind >= 2 && kind <= 4) {
		rd_reduce(g, &of);
	} else if (of.rank > 0 && kind == 5) {
		rd_pad(g, &of);
	} else if (of.rank > 0 && kind == 6) {
		rd_reshape(g, &of);
	} else {
		rd_elementwise(g, &of);
	}
}

/* The program of a tape, in `ret`; *ret_inexact: its values depend on the order. */
static inline void rd_program(const uint32_t *tape, uint32_t n_tape, struct hn_buf *ret,
			      bool *ret_inexact)
{
	struct rd_gen g = { .tape = tape, .n_tape = n_tape };
	struct rd_index first[RD_MAX_RANK] = { 0 };
	uint32_t type = rd_draw(&g, 10), n_stage = 1 + rd_draw(&g, 5);
	uint32_t rank = (1 + rd_draw(&g, 8)) % 5, n_out = 0;
	int64_t points = 1;

	hn_buf_init(&g.params);
	hn_buf_init(&g.body);
	g.integer = type == 1;
	g.wide = type == 2;
	for (uint32_t i = 0; i < rank; i++) {
		int64_t n = rd_extent(&g);

		first[i].extent = points * n <= RD_MAX_ELEMENTS / 2 ? n : 1;
		points *= first[i].extent;
	}
	rd_input(&g, first, rank);
	for (uint32_t i = 0; i < n_stage; i++) {
		rd_step(&g);
	}
	hn_buf_printf(ret, "f(%s %s) -> (",
		      g.integer ? "int32"
		      : g.wide	? "float64"
				: "float32",
		      g.params.s);
	for (uint32_t i = 0; i < g.n; i++) {
		if (g.t[i].stage && (!g.t[i].read || rd_draw(&g, 6) == 1)) {
			hn_buf_printf(ret, "%s%s", n_out++ ? ", " : "", g.t[i].name);
		}
	}
	hn_buf_printf(ret, ") {\n%s}\n", g.body.s);
	*ret_inexact = g.inexact;
	hn_buf_fini(&g.params);
	hn_buf_fini(&g.body);
}

static inline void rd_tape(uint64_t seed, uint32_t *ret)
{
	struct hn_rng r = hn_rng_stream(seed, 77, 0, 0);

	for (uint32_t i = 0; i < RD_TAPE; i++) {
		ret[i] = (uint32_t)(hn_rng_u64(&r) >> 40);
	}
}

#endif
