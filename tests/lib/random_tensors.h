/* What random programs are made of (random_dags.h): a tape of decisions, tensors and their
 * shapes, types, and texts with operands put in.
 *
 * The generator reads its decisions from a tape of numbers and 0 is always the simplest
 * choice, so a program is made smaller by making its tape smaller (the idea: MacIver and
 * Donaldson, "Test-case reduction via test-case generation", ECOOP 2020). */
#ifndef HN_TESTS_RANDOM_TENSORS_H
#define HN_TESTS_RANDOM_TENSORS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/rng.h"
#include "loopstate/expr/expr.h"

#define RD_TAPE 240
#define RD_MAX_RANK 4
#define RD_MAX_TENSORS 48
#define RD_MAX_SIZES 4
#define RD_MAX_POINTS 3000     /* of a stage's domain */
#define RD_MAX_ELEMENTS 2000   /* of a tensor */
#define RD_MAX_VALUE 4194304.0 /* whole numbers this far are sums float32 holds */
#define RD_TEXT 400
#define RD_BODY (RD_TEXT * 8)
#define RD_FORM 96
#define RD_LONG_FORM 40 /* what is longer grows no further */

/* What a program computes with, and so how its answers are compared. */
enum rd_family {
	/* Small whole numbers, and the largest value of each tensor is kept track of: any order
	 * of summation gives the same bits, unless `inexact`. */
	RD_WHOLE,
	RD_RANGE, /* integers of every type over their whole range: they wrap */
	RD_BITS	  /* floats of any bits, NaN among them, in a bitwise task */
};

/* A loop index, or a dimension of a tensor. */
struct rd_index {
	char name[8];
	int64_t extent, least; /* over all sizes; equal when it is a number */
	char form[RD_FORM];    /* its text: a number, or of sizes */
};

struct rd_tensor {
	char name[8];
	uint32_t rank;
	struct rd_index dim[RD_MAX_RANK];
	enum hn_dtype type;
	double top;	/* no element is larger (RD_WHOLE) */
	uint32_t group; /* of the tensors that one statement defines */
	bool stage, read;
};

struct rd_gen {
	const uint32_t *tape;
	uint32_t n_tape, at;
	enum rd_family family;
	enum hn_dtype type; /* of most tensors */
	bool sized, inexact;
	uint32_t n, n_input, n_stage, n_group, n_size;
	struct rd_index size[RD_MAX_SIZES];
	struct rd_tensor t[RD_MAX_TENSORS];
	struct hn_buf sizes, params, body;
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

/* ---- shapes */

static inline int64_t rd_extent(struct rd_gen *g)
{
	static const int64_t extents[] = { 1, 2, 3, 5, 7, 8, 13, 16, 17, 3, 5, 7 };

	return extents[rd_draw(g, HN_COUNT_OF(extents))];
}

static inline void rd_number(struct rd_index *x, int64_t n)
{
	x->extent = x->least = n;
	rd_print(x->form, sizeof(x->form), "%d", (int)n);
}

#define RD_MAX_SIZE 24

/* An extent that is a size of the program, an old or a new one.  The largest ones are often
 * multiples of what loops are split by: then forms of the parts are simplified. */
static inline void rd_size(struct rd_gen *g, struct rd_index *x)
{
	static const int64_t most[] = { 3, 12, 16, 7, RD_MAX_SIZE, 8, 17, 12 };
	int64_t hi = most[rd_draw(g, HN_COUNT_OF(most))];
	uint32_t k = rd_draw(g, g->n_size + 1);
	struct rd_index *s = &g->size[k < RD_MAX_SIZES ? k : 0];

	if (k == g->n_size && k < RD_MAX_SIZES) {
		s->extent = hi;
		s->least = rd_draw(g, 2) ? 1 : hi / 2 + 1;
		rd_print(s->form, sizeof(s->form), "N%u", k);
		hn_buf_printf(&g->sizes, "%s in [%d, %d], ", s->form, (int)s->least, (int)hi);
		g->n_size++;
	}
	x->extent = s->extent;
	x->least = s->least;
	rd_print(x->form, sizeof(x->form), "%s", s->form);
}

/* An index of an extent of its own, of at most `most` points. */
static inline struct rd_index rd_index_new(struct rd_gen *g, const char *name, int64_t most)
{
	struct rd_index x = { .name = "" };
	int64_t n = rd_extent(g);

	rd_print(x.name, sizeof(x.name), "%s", name);
	rd_number(&x, n <= most ? n : 1);
	if (g->sized && rd_draw(g, 2) == 0 && most >= RD_MAX_SIZE) {
		rd_size(g, &x);
	}
	return x;
}

static inline bool rd_is_number(const struct rd_index *x)
{
	return x->form[0] >= '0' && x->form[0] <= '9' && x->least == x->extent;
}

/* x + n */
static inline void rd_grow(struct rd_index *x, int64_t n)
{
	char old[RD_FORM];

	if (rd_is_number(x)) {
		rd_number(x, x->extent + n);
		return;
	}
	rd_print(old, sizeof(old), "%s", x->form);
	rd_print(x->form, sizeof(x->form), "%s %c %d", old, n < 0 ? '-' : '+',
		 (int)(n < 0 ? -n : n));
	x->extent += n;
	x->least += n;
}

/* The places of a window that reaches `reach` further, `stride` apart. */
static inline void rd_places(struct rd_index *x, int64_t reach, int64_t stride)
{
	char old[RD_FORM];

	if (rd_is_number(x)) {
		rd_number(x, (x->extent - reach - 1) / stride + 1);
		return;
	}
	if (stride == 1) {
		rd_grow(x, -reach);
		return;
	}
	rd_print(old, sizeof(old), "%s", x->form);
	rd_print(x->form, sizeof(x->form), "(%s - %d) / %d + 1", old, (int)reach + 1,
		 (int)stride);
	x->extent = (x->extent - reach - 1) / stride + 1;
	x->least = (x->least - reach - 1) / stride + 1;
}

/* One between each two. */
static inline void rd_spread(struct rd_index *x)
{
	char old[RD_FORM];

	if (rd_is_number(x)) {
		rd_number(x, 2 * x->extent - 1);
		return;
	}
	rd_print(old, sizeof(old), "%s", x->form);
	rd_print(x->form, sizeof(x->form), "2 * (%s) - 1", old);
	x->extent = 2 * x->extent - 1;
	x->least = 2 * x->least - 1;
}

static inline bool rd_may_grow(const struct rd_index *x)
{
	return strlen(x->form) < RD_LONG_FORM;
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

/* An index for each dimension. */
static inline void rd_axes(const struct rd_tensor *t, struct rd_index *ret)
{
	for (uint32_t i = 0; i < t->rank; i++) {
		ret[i] = t->dim[i];
		rd_print(ret[i].name, sizeof(ret[i].name), "i%u", i);
	}
}

static inline bool rd_same_shape(const struct rd_tensor *x, const struct rd_tensor *y)
{
	bool same = x->rank == y->rank;

	for (uint32_t i = 0; same && i < x->rank; i++) {
		same = strcmp(x->dim[i].form, y->dim[i].form) == 0;
	}
	return same;
}

static inline void rd_names(char *ret, const struct rd_index *x, uint32_t n)
{
	size_t at = 0;

	ret[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		at += rd_print(ret + at, RD_TEXT - at, "%s%s", i ? "," : "", x[i].name);
	}
}

/* ---- types */

/* Most are the program's; others are of its class. */
static inline enum hn_dtype rd_type(struct rd_gen *g)
{
	static const enum hn_dtype ints[] = { HN_I32, HN_I8, HN_I16, HN_I64,
					      HN_U8,  HN_U16, HN_U32, HN_U64 };

	if (g->family == RD_WHOLE || rd_draw(g, 3) != 1) {
		return g->type;
	}
	return g->family == RD_RANGE ? ints[rd_draw(g, HN_COUNT_OF(ints))]
	       : g->type == HN_F32   ? HN_F64
				     : HN_F32;
}

/* What an element of t is computed with: truth values and numbers of another class become
 * the program's. */
static inline enum hn_dtype rd_work_type(const struct rd_gen *g, const struct rd_tensor *t)
{
	bool is_float = hn_dtype_class(t->type) == HN_CLASS_FLOAT;
	bool wants_float = hn_dtype_class(g->type) == HN_CLASS_FLOAT;

	return t->type == HN_BOOL || is_float != wants_float ? g->type : t->type;
}

/* A constant beside a value of the type, from `from` on in the table; the first are small. */
static inline const char *rd_constant(struct rd_gen *g, enum hn_dtype type, uint32_t from)
{
	static const char *const whole[] = { "0", "1", "2", "3", "7", "64", "100", "1000", "32767",
					     "65536", "1000000000", "2147483647", "1099511627776" };
	static const char *const real[] = { "0", "1.5", "-3", "1e30", "0.1", "1e-40", "inf", "nan" };
	uint32_t bytes = hn_dtype_bytes(type);
	uint32_t n = bytes == 1 ? 7 : bytes == 2 ? 9 : bytes == 4 ? 12 : 13;

	return hn_dtype_class(type) == HN_CLASS_FLOAT ? real[rd_draw(g, HN_COUNT_OF(real))]
						      : whole[from + rd_draw(g, n - from)];
}

/* ---- texts */

/* `name(i,j)`, or `name` of a scalar, as a value of type `want`. */
static inline void rd_access(char *ret, const struct rd_tensor *t, const char *indices,
			     enum hn_dtype want)
{
	char plain[RD_TEXT * 2];

	rd_print(plain, sizeof(plain), t->rank ? "%s(%s)" : "%s", t->name, indices);
	if (want == t->type) {
		rd_print(ret, RD_TEXT * 3, "%s", plain);
	} else {
		rd_print(ret, RD_TEXT * 3, "%s(%s)", hn_dtype_name(want), plain);
	}
}

/* A form with its operands: $x and $y values, $c a constant and $d a divisor beside them, $t
 * their type, $u another. */
struct rd_words {
	const char *x, *y;
	enum hn_dtype type, other;
};

static inline void rd_write(struct rd_gen *g, const char *form, const struct rd_words *w,
			    char ret[RD_BODY])
{
	const char *divisor = NULL; /* one for all, so that `$x / $d / $d` is a square */
	size_t at = 0;

	for (const char *c = form; *c; c++) {
		const char *word = NULL;

		if (*c != '$') {
			at += rd_print(ret + at, RD_BODY - at, "%c", *c);
			continue;
		}
		switch (*++c) {
		case 'x':
			word = w->x;
			break;
		case 'y':
			word = w->y;
			break;
		case 't':
			word = hn_dtype_name(w->type);
			break;
		case 'u':
			word = hn_dtype_name(w->other);
			break;
		case 'c':
			word = rd_constant(g, w->type, 0);
			break;
		default:
			divisor = divisor ? divisor : rd_constant(g, w->type, 1);
			word = divisor;
		}
		at += rd_print(ret + at, RD_BODY - at, "%s", word);
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

/* ---- tensors */

static inline struct rd_tensor *rd_input_of(struct rd_gen *g, const struct rd_index *x,
					    uint32_t rank, enum hn_dtype type)
{
	struct rd_tensor *t = &g->t[g->n++];

	/* Only whole numbers are kept small. */
	*t = (struct rd_tensor){ .rank = rank, .type = type, .read = true,
				 .top = g->family != RD_WHOLE ? 0 : type == HN_I32 ? 3 : 2 };
	rd_print(t->name, sizeof(t->name), "A%u", g->n_input++);
	hn_buf_printf(&g->params, "%s%s%s %s", g->n_input > 1 ? ", " : "",
		      rd_draw(g, 5) == 1 ? "const " : "", hn_dtype_name(type), t->name);
	for (uint32_t i = 0; i < rank; i++) {
		t->dim[i] = x[i];
		hn_buf_printf(&g->params, "%s%s%s", i ? "," : "[", x[i].form,
			      i + 1 == rank ? "]" : "");
	}
	return t;
}

static inline struct rd_tensor *rd_input(struct rd_gen *g, const struct rd_index *x,
					 uint32_t rank)
{
	return rd_input_of(g, x, rank, rd_type(g));
}

/* What a statement defines: one tensor, or two. */
struct rd_values {
	uint32_t n;
	enum hn_dtype type[2];
	double top[2];
};

static inline struct rd_values rd_one(enum hn_dtype type, double top)
{
	return (struct rd_values){ .n = 1, .type = { type }, .top = { top } };
}

/* A new stage over `out`; `red` are its reduced indices; `ranges`: say them all. */
static inline void rd_stage(struct rd_gen *g, const struct rd_index *out, uint32_t n_out,
			    const char *sign, const char *body, bool ranges,
			    const struct rd_index *red, uint32_t n_red,
			    const struct rd_values *made)
{
	char names[RD_TEXT];
	const char *sep = "where";

	rd_names(names, out, n_out);
	hn_buf_puts(&g->body, "\t");
	if (g->family == RD_BITS && g->n_stage == 0) {
		hn_buf_puts(&g->body, "@bitwise ");
	}
	for (uint32_t k = 0; k < made->n; k++) {
		struct rd_tensor *t = &g->t[g->n++];

		*t = (struct rd_tensor){ .rank = n_out, .type = made->type[k], .stage = true,
					 .top = made->top[k], .group = g->n_group };
		rd_print(t->name, sizeof(t->name), "s%u", g->n_stage++);
		hn_buf_printf(&g->body, n_out ? "%s%s(%s)" : "%s%s%s", k ? ", " : "", t->name,
			      names);
		for (uint32_t i = 0; i < n_out; i++) {
			t->dim[i] = out[i];
		}
	}
	g->n_group++;
	hn_buf_printf(&g->body, " %s %s", sign, body);
	for (uint32_t i = 0; i < n_out + n_red && (ranges || g->sized); i++) {
		const struct rd_index *x = i < n_out ? &out[i] : &red[i - n_out];

		hn_buf_printf(&g->body, " %s %s in 0:%s", sep, x->name, x->form);
		sep = ",";
	}
	hn_buf_puts(&g->body, "\n");
}

#endif
