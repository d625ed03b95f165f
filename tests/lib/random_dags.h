/* Random programs in the text notation, over small tensors: element by element with one value
 * or two, reductions by all signs and by combiners of their own, under conditions; windows,
 * pads, other shapes, scalars, constants, sizes as parameters.  The pieces: random_tensors.h. */
#ifndef HN_TESTS_RANDOM_DAGS_H
#define HN_TESTS_RANDOM_DAGS_H

#include "tests/lib/random_reduce.h"

/* A second operand over some of the indices, or one index more. */
static inline const struct rd_tensor *rd_second(struct rd_gen *g, struct rd_index *out,
						uint32_t *n_out, char *ret_indices)
{
	struct rd_index x[RD_MAX_RANK + 1];
	uint32_t n = 0;

	for (uint32_t i = 0; i < *n_out; i++) {
		if (rd_draw(g, 3) != 1) {
			x[n++] = out[i];
		}
	}
	if (*n_out < RD_MAX_RANK && rd_draw(g, 4) == 1) {
		struct rd_index more =
			rd_index_new(g, "b", RD_MAX_ELEMENTS / rd_points(out, *n_out));

		if (rd_points(out, *n_out) * more.extent <= RD_MAX_ELEMENTS) {
			out[(*n_out)++] = more;
			x[n++] = more;
		}
	}
	rd_shuffle(g, x, n);
	rd_names(ret_indices, x, n);
	return rd_input(g, x, n);
}

/* Another tensor of the same shape, the newest first. */
static inline const struct rd_tensor *rd_twin(struct rd_gen *g, const struct rd_tensor *x)
{
	for (uint32_t i = g->n; i-- > 0;) {
		struct rd_tensor *t = &g->t[i];

		if (strcmp(t->name, x->name) != 0 && rd_same_shape(t, x)) {
			t->read = true;
			return t;
		}
	}
	return x;
}

/* How an element is made of one or two: the text (rd_write), the type of the value (0 the
 * operands', 'b' a truth value, 'u' another), the largest value as `times` that of the
 * operands (their product where it is -1) and `plus`.  What is inexact is compared with
 * nothing after: a rounding would become a choice. */
struct rd_form {
	const char *text;
	char type;
	int8_t times, plus;
	bool ranked, inexact, is_signed;
};

static inline const struct rd_form *rd_choose(struct rd_gen *g, const struct rd_form *forms,
					      uint32_t n, const struct rd_tensor *x,
					      enum hn_dtype type)
{
	uint32_t k = rd_draw(g, n);
	enum hn_dtype_class c = hn_dtype_class(type);
	bool fits = (x->rank > 0 || !forms[k].ranked) &&
		    (c == HN_CLASS_FLOAT || !forms[k].inexact) &&
		    (c != HN_CLASS_UNSIGNED || !forms[k].is_signed) &&
		    (forms[k].type != 'b' || !g->inexact);

	return &forms[fits ? k : 0];
}

static const struct rd_form rd_unary_whole[] = {
	{ .text = "$x + 1", .times = 1, .plus = 1 },
	{ .text = "max($x, 0)", .times = 1 },
	{ .text = "$x * 3", .times = 3 },
	{ .text = "1 - $x", .times = 1, .plus = 1 },
	{ .text = "i0 % 2 == 0 ? $x : 1", .times = 1, .plus = 1, .ranked = true },
	{ .text = "$x + $t(i0)", .times = 1, .plus = 64, .ranked = true },
	{ .text = "select($x > 1, $x, 0 - $x)", .times = 1 },
	{ .text = "$x > 1", .type = 'b', .plus = 1 },
	{ .text = "exp(min($x, 2))", .plus = 8, .inexact = true },
	{ .text = "sqrt(max($x, 0) + 1)", .times = 1, .plus = 1, .inexact = true },
	{ .text = "$x / (max($x, 0) + 1)", .times = 1, .plus = 1, .inexact = true },
};

/* Many of these are equal to something simpler where integers have no end, as indices, and
 * not where they wrap, as data. */
static const struct rd_form rd_unary_range[] = {
	{ .text = "$x + $c" },
	{ .text = "max($x, $c)" },
	{ .text = "$x * $c" },
	{ .text = "$c - $x" },
	{ .text = "min($x + $c, $x)" },
	{ .text = "$x / $d" },
	{ .text = "$x % $d" },
	{ .text = "$x / $d / $d" },
	{ .text = "$x * 6 / 3" },
	{ .text = "$x * $d / $d" },
	{ .text = "($x + $d) / $d" },
	{ .text = "($x * $d + $c) % $d" },
	{ .text = "max($x - $c, $x)" },
	{ .text = "min($x * $d, $x * $d + $c)" },
	{ .text = "div($x, $d)" },
	{ .text = "truncmod($x, $d)" },
	{ .text = "i0 % 2 == 0 ? $x : $c", .ranked = true },
	{ .text = "$x + $t(i0)", .ranked = true },
	{ .text = "select($x > $c, $x, $c - $x)" },
	{ .text = "abs($x)", .is_signed = true },
	{ .text = "$u($x)", .type = 'u' },
	{ .text = "$u($x + $c)", .type = 'u' },
	{ .text = "$u($x * $c - $x)", .type = 'u' },
	{ .text = "$x > $c", .type = 'b' },
	{ .text = "$x + $d > $x", .type = 'b' },
	{ .text = "let t = $x * $c in t + t / $d" },
};

static const struct rd_form rd_unary_bits[] = {
	{ .text = "$x + $c" },
	{ .text = "max($x, $c)" },
	{ .text = "$x * $c" },
	{ .text = "$c - $x" },
	{ .text = "$c / $x" },
	{ .text = "$x / 3" },
	{ .text = "$x - $x * $c" },
	{ .text = "select($x > $c, $x, $c - $x)" },
	{ .text = "i0 % 2 == 0 ? $x : $c", .ranked = true },
	{ .text = "sqrt($x)" },
	{ .text = "exp($x)" },
	{ .text = "abs($x)" },
	{ .text = "floor($x)" },
	{ .text = "round($x)" },
	{ .text = "$u($x)", .type = 'u' },
	{ .text = "$x > $c", .type = 'b' },
};

static const struct rd_form rd_binary_whole[] = {
	{ .text = "$x + $y", .times = 1 },
	{ .text = "$x - $y", .times = 1 },
	{ .text = "$x * $y", .times = -1 },
	{ .text = "max($x, $y)", .times = 1 },
	{ .text = "min($x, $y)", .times = 1 },
	{ .text = "$x < $y", .type = 'b', .plus = 1 },
};

static const struct rd_form rd_binary_range[] = {
	{ .text = "$x + $y" },
	{ .text = "$x - $y" },
	{ .text = "$x * $y" },
	{ .text = "max($x, $y)" },
	{ .text = "min($x, $y)" },
	{ .text = "$x < $y", .type = 'b' },
	{ .text = "$x / max($y, 1)" },
	{ .text = "$x % max($y, 1)" },
	{ .text = "min($x + $y, $x)" },
	{ .text = "$u($x + $y)", .type = 'u' },
	{ .text = "$y > 0 ? $x / $y : 0" },
	{ .text = "$x == $y", .type = 'b' },
};

static const struct rd_form rd_binary_bits[] = {
	{ .text = "$x + $y" },
	{ .text = "$x - $y" },
	{ .text = "$x * $y" },
	{ .text = "max($x, $y)" },
	{ .text = "min($x, $y)" },
	{ .text = "$x < $y", .type = 'b' },
	{ .text = "$x / $y" },
	{ .text = "$x * $y + $x" },
	{ .text = "select($x < $y, $y, $x)" },
};

#define RD_CHOOSE(g, kind, x, type)                                                            \
	((g)->family == RD_WHOLE                                                               \
		 ? rd_choose(g, kind##_whole, HN_COUNT_OF(kind##_whole), x, type)              \
	 : (g)->family == RD_RANGE                                                             \
		 ? rd_choose(g, kind##_range, HN_COUNT_OF(kind##_range), x, type)              \
		 : rd_choose(g, kind##_bits, HN_COUNT_OF(kind##_bits), x, type))

/* Write `form` of the words; the type and the largest value of what it makes. */
static inline void rd_make(struct rd_gen *g, const struct rd_form *form, struct rd_words *w,
			   double top, char *ret, enum hn_dtype *ret_type, double *ret_top)
{
	w->other = form->type == 'u' ? rd_type(g) : w->type;
	rd_write(g, form->text, w, ret);
	g->inexact = g->inexact || form->inexact;
	*ret_type = form->type == 'b' ? HN_BOOL : w->other;
	*ret_top = top + form->plus;
}

/* Where a simplifier may take data for indices: x in a form of its own, in the form to come. */
static inline void rd_deepen(struct rd_gen *g, const struct rd_tensor *t, const struct rd_words *w,
			     char x[RD_BODY])
{
	char inner[RD_BODY];

	if (g->family != RD_RANGE || rd_draw(g, 2) == 0) {
		return;
	}
	const struct rd_form *form = RD_CHOOSE(g, rd_unary, t, w->type);

	rd_write(g, form->text, w, inner);
	if (form->type == 0 && strlen(inner) + 2 < RD_TEXT) {
		rd_print(x, RD_BODY, "(%s)", inner);
	}
}

static inline void rd_unary(struct rd_gen *g, const struct rd_tensor *t, const char *indices,
			    char *ret, enum hn_dtype *ret_type, double *ret_top)
{
	enum hn_dtype type = rd_work_type(g, t);
	char x[RD_BODY];
	struct rd_words w = { .x = x, .type = type };

	rd_access(x, t, indices, type);
	rd_deepen(g, t, &w, x);
	const struct rd_form *form = RD_CHOOSE(g, rd_unary, t, type);
	double top = rd_clamp(x, t->top, 4);

	rd_make(g, form, &w, top * form->times, ret, ret_type, ret_top);
}

static inline void rd_binary(struct rd_gen *g, const struct rd_tensor *t, const char *indices,
			     const struct rd_tensor *u, const char *u_indices, char *ret,
			     enum hn_dtype *ret_type, double *ret_top)
{
	enum hn_dtype type = rd_work_type(g, t);
	const struct rd_form *form = RD_CHOOSE(g, rd_binary, t, type);
	char x[RD_TEXT * 3], y[RD_TEXT * 3];
	struct rd_words w = { .x = x, .y = y, .type = type };

	rd_access(x, t, indices, type);
	rd_access(y, u, u_indices, type);
	bool product = form->times < 0;
	double x_top = rd_clamp(x, t->top, product ? 2 * u->top : 2);
	double y_top = rd_clamp(y, u->top, product ? 2 * x_top : 2);

	rd_make(g, form, &w, product ? x_top * y_top : (x_top + y_top) * form->times, ret,
		ret_type, ret_top);
}

static inline void rd_elementwise(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK + 1] = { 0 };
	struct rd_values made = { .n = 1 };
	char names[RD_TEXT], indices[RD_TEXT], body[RD_BODY * 2], more[RD_BODY];
	uint32_t n_out = t->rank;

	rd_axes(t, out);
	rd_names(names, out, n_out);
	switch (rd_draw(g, 4)) {
	case 0:
		rd_unary(g, t, names, body, &made.type[0], &made.top[0]);
		break;
	case 1: {
		const struct rd_tensor u = *rd_second(g, out, &n_out, indices);

		rd_binary(g, t, names, &u, indices, body, &made.type[0], &made.top[0]);
		break;
	}
	case 2: {
		const struct rd_tensor u = *rd_twin(g, t);

		rd_binary(g, t, names, &u, names, body, &made.type[0], &made.top[0]);
		break;
	}
	default: /* two values */
		rd_unary(g, t, names, body, &made.type[0], &made.top[0]);
		rd_unary(g, t, names, more, &made.type[1], &made.top[1]);
		rd_print(body + strlen(body), RD_BODY, ", %s", more);
		made.n = 2;
	}
	rd_shuffle(g, out, n_out);
	rd_stage(g, out, n_out, "=", body, true, NULL, 0, &made);
}

/* A zero border, or zeros between the elements. */
static inline void rd_pad(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK];
	char index[RD_TEXT] = "", test[RD_TEXT * 2] = "", body[RD_BODY], x[RD_TEXT * 3];
	enum hn_dtype type = rd_work_type(g, t);
	size_t at = 0, end = 0;

	rd_axes(t, out);
	for (uint32_t d = 0; d < t->rank; d++) {
		int lo = (int)rd_draw(g, 3), hi = (int)rd_draw(g, 3);
		bool apart = rd_draw(g, 5) == 1;
		int64_t n = t->dim[d].extent;
		const char *i = out[d].name, *sep = end ? " && " : "";
		int64_t grown = apart ? 2 * n - 1 : n + lo + hi;

		at += rd_print(index + at, sizeof(index) - at, "%s", d ? ", " : "");
		if (grown == n || !rd_may_grow(&out[d]) ||
		    rd_points(out, t->rank) / n * grown > RD_MAX_ELEMENTS) {
			at += rd_print(index + at, sizeof(index) - at, "%s", i);
			continue;
		}
		if (apart) {
			rd_spread(&out[d]);
			at += rd_print(index + at, sizeof(index) - at, "%s / 2", i);
			end += rd_print(test + end, sizeof(test) - end, "%s%s %% 2 == 0",
					sep, i);
		} else {
			rd_grow(&out[d], lo + hi);
			at += rd_print(index + at, sizeof(index) - at, "%s - %d", i, lo);
			end += rd_print(test + end, sizeof(test) - end,
					"%s%s >= %d && %s < %s + %d", sep, i, lo, i,
					t->dim[d].form, lo);
		}
	}
	rd_access(x, t, index, type);
	rd_print(body, sizeof(body), end ? "%s ? %s : 0" : "%s%s + 1", test, x);

	struct rd_values made = rd_one(type, t->top + 1);

	rd_stage(g, out, t->rank, "=", body, true, NULL, 0, &made);
}

/* Another shape by division and remainder, or an axis read backwards. */
static inline void rd_reshape(struct rd_gen *g, const struct rd_tensor *t)
{
	struct rd_index out[RD_MAX_RANK + 1];
	char index[RD_TEXT] = "", x[RD_TEXT * 3], here[RD_TEXT / 2] = "";
	uint32_t d = rd_draw(g, t->rank), form = rd_draw(g, 3), n = t->rank;
	bool number = rd_is_number(&t->dim[d]);
	int n1 = (int)t->dim[d].extent, part = 1;

	rd_axes(t, out);
	while (part * part < n1 && (n1 % part || part == 1)) {
		part++;
	}
	if (form == 1 && d + 1 < n && number && rd_is_number(&t->dim[d + 1])) {
		int n2 = (int)t->dim[d + 1].extent;

		rd_print(here, sizeof(here), "i%u / %d, i%u %% %d", d, n2, d, n2);
		rd_number(&out[d], (int64_t)n1 * n2);
		memmove(&out[d + 1], &out[d + 2], sizeof(*out) * (n - d - 2));
		n--;
	} else if (form == 2 && n < RD_MAX_RANK && number && n1 % part == 0) {
		memmove(&out[d + 2], &out[d + 1], sizeof(*out) * (n - d - 1));
		rd_number(&out[d], n1 / part);
		rd_number(&out[d + 1], part);
		rd_print(out[d + 1].name, sizeof(out[d + 1].name), "q");
		rd_print(here, sizeof(here), "i%u * %d + q", d, part);
		n++;
	} else {
		form = 0;
		rd_print(here, sizeof(here), "%s - 1 - i%u", t->dim[d].form, d);
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

	struct rd_values made = rd_one(t->type, t->top);

	rd_access(x, t, index, t->type);
	rd_shuffle(g, out, n);
	rd_stage(g, out, n, "=", x, true, NULL, 0, &made);
}

static inline void rd_step(struct rd_gen *g)
{
	/* Mostly the newest tensor. */
	uint32_t back = rd_draw(g, 4) == 1 ? rd_draw(g, g->n) : 0;
	struct rd_tensor *t = NULL;
	uint32_t kind = rd_draw(g, g->family == RD_RANGE ? 10 : 8);

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

/* What nobody reads and some else; of one statement all tensors or none. */
static inline void rd_outputs(struct rd_gen *g, struct hn_buf *ret)
{
	bool out[RD_MAX_TENSORS] = { false };
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		if (g->t[i].stage) {
			out[g->t[i].group] |= !g->t[i].read || rd_draw(g, 6) == 1;
		}
	}
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->t[i].stage && out[g->t[i].group]) {
			hn_buf_printf(ret, "%s%s", n_out++ ? ", " : "", g->t[i].name);
		}
	}
}

/* The program of a tape, in `ret`, of the family and its type; sized: some extents are
 * parameters.  *ret_inexact: its values depend on the order. */
static inline void rd_program_of(const uint32_t *tape, uint32_t n_tape, enum rd_family family,
				 bool sized, struct hn_buf *ret, bool *ret_inexact)
{
	static const enum hn_dtype whole[12] = { HN_F32, HN_I32, HN_F64, HN_F32, HN_F32, HN_F32,
						 HN_F32, HN_F32, HN_F32, HN_F32, HN_F32, HN_I32 };
	/* Half of them of a type that indices have. */
	static const enum hn_dtype range[12] = { HN_I32, HN_I8,	 HN_U8,	 HN_I32, HN_I16, HN_I64,
						 HN_U16, HN_I32, HN_U32, HN_U64, HN_I32, HN_I64 };
	struct rd_gen *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		abort();
	}
	*g = (struct rd_gen){ .tape = tape, .n_tape = n_tape, .family = family, .sized = sized };

	struct rd_index first[RD_MAX_RANK] = { 0 };
	uint32_t type = rd_draw(g, 12), n_stage = 1 + rd_draw(g, 5);
	uint32_t rank = (1 + rd_draw(g, 8)) % 5;

	g->type = family == RD_WHOLE ? whole[type]
		  : family == RD_RANGE ? range[type]
		  : type % 3 == 1      ? HN_F64
				       : HN_F32;
	hn_buf_init(&g->sizes);
	hn_buf_init(&g->params);
	hn_buf_init(&g->body);
	for (uint32_t i = 0; i < rank; i++) {
		first[i] = rd_index_new(g, "", RD_MAX_ELEMENTS / 2 / rd_points(first, i));
	}
	rd_input(g, first, rank);
	for (uint32_t i = 0; i < n_stage; i++) {
		rd_step(g);
	}
	hn_buf_printf(ret, "f(%s%s) -> (", g->sizes.s, g->params.s);
	rd_outputs(g, ret);
	hn_buf_printf(ret, ") {\n%s}\n", g->body.s);
	*ret_inexact = g->inexact;
	hn_buf_fini(&g->sizes);
	hn_buf_fini(&g->params);
	hn_buf_fini(&g->body);
	free(g);
}

/* What a tape's program is: its first number says it. */
struct rd_kind {
	enum rd_family family;
	bool sized;
	bool renamed; /* its tensors bear each other's names; ids are what they were */
};

static inline struct rd_kind rd_kind(const uint32_t *tape)
{
	static const struct rd_kind kinds[] = {
		{ .family = RD_WHOLE },
		{ .family = RD_RANGE },
		{ .family = RD_BITS },
		{ .family = RD_WHOLE, .sized = true },
		{ .family = RD_RANGE, .sized = true },
		{ .family = RD_WHOLE },
		{ .family = RD_RANGE },
		{ .family = RD_RANGE },
	};
	struct rd_kind k = kinds[tape[0] % HN_COUNT_OF(kinds)];

	k.renamed = tape[0] / HN_COUNT_OF(kinds) % 4 == 1;
	return k;
}

static inline void rd_program_any(const uint32_t *tape, uint32_t n_tape, struct hn_buf *ret,
				  bool *ret_inexact)
{
	struct rd_kind k = rd_kind(tape);

	rd_program_of(tape + 1, n_tape - 1, k.family, k.sized, ret, ret_inexact);
}

/* Of whole numbers, for all that compares in any order. */
static inline void rd_program(const uint32_t *tape, uint32_t n_tape, struct hn_buf *ret,
			      bool *ret_inexact)
{
	rd_program_of(tape, n_tape, RD_WHOLE, false, ret, ret_inexact);
}

static inline void rd_tape(uint64_t seed, uint32_t *ret)
{
	struct hn_rng r = hn_rng_stream(seed, 77, 0, 0);

	for (uint32_t i = 0; i < RD_TAPE; i++) {
		ret[i] = (uint32_t)(hn_rng_u64(&r) >> 40);
	}
}

#endif
