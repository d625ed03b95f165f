/* lower/c/c_line.c -- lines, names, and the small functions that the text calls. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lower/c/c_int.h"
#include "lower/names.h"

void hn_c_refuse(struct c *c, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	if (c->rc != 0) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	c->rc = hn_fail(c->err, HONE_E_UNSUPPORTED, "C source: %s", line);
}

void hn_c_line(struct c *c, const char *fmt, ...)
{
	va_list ap;

	for (uint32_t i = 0; i < c->indent; i++) {
		hn_buf_putc(c->out, '\t');
	}
	va_start(ap, fmt);
	hn_buf_vprintf(c->out, fmt, ap);
	va_end(ap);
	hn_buf_putc(c->out, '\n');
}

/* -- names ------------------------------------------------------------------------------- */

/* What the text itself uses, and macros of common headers. */
static const char *const ours[] = {
	"args",	   "begin",   "body", "call", "closure", "end",	  "env",  "inline", "k",
	"linux",   "n",	      "need", "own",  "prepared", "shared", "sizes", "unix", "worker",
	"workers", "EOF",     "INFINITY", "NAN", "NULL",
};

static bool is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* v1, SYMBOL, SYMBOL_body1: what functions of ours name. */
static bool is_ours(const struct c *c, const char *s)
{
	size_t n = strlen(c->symbol);

	return (s[0] == 'v' && is_number(s + 1)) || strcmp(s, c->symbol) == 0 ||
	       (strncmp(s, c->symbol, n) == 0 && strncmp(s + n, "_body", 5) == 0 &&
		is_number(s + n + 5));
}

static bool is_free(const struct c *c, const char *s)
{
	size_t n = strlen(s);
	bool taken = hn_name_is_taken(s) || is_ours(c, s) || (n > 2 && strcmp(s + n - 2, "_t") == 0);

	for (size_t i = 0; i < HN_COUNT_OF(ours) && !taken; i++) {
		taken = strcmp(s, ours[i]) == 0;
	}
	for (uint32_t i = 0; i < c->t->dag->n_op && !taken; i++) {
		for (uint32_t k = 0; c->buffer[i] != NULL && k < c->t->dag->op[i]->n_out; k++) {
			taken = taken || (c->buffer[i][k] != NULL && strcmp(s, c->buffer[i][k]) == 0);
		}
	}
	for (uint32_t i = 0; i < c_n_size(c) && !taken; i++) {
		taken = c->size[i] != NULL && strcmp(s, c->size[i]) == 0;
	}
	for (uint32_t i = 0; i < c->n_open && !taken; i++) {
		taken = strcmp(s, c->loop[c->open[i]]) == 0;
	}
	return !taken;
}

#define MOST_NAME 60

const char *hn_c_name(struct c *c, const char *like)
{
	char name[MOST_NAME + 2];
	size_t n = 0;

	for (const char *p = like; *p != '\0' && n < MOST_NAME; p++) {
		if (isalnum((unsigned char)*p)) {
			if (n == 0 && isdigit((unsigned char)*p)) {
				name[n++] = 'x';
			}
			name[n++] = *p;
		} else if (n > 0 && name[n - 1] != '_') {
			name[n++] = '_';
		}
	}
	while (n > 0 && name[n - 1] == '_') {
		n--;
	}
	name[n] = '\0';
	/* no suffix would make these free */
	bool reserved = strncmp(name, "hone_", 5) == 0 || strncmp(name, "HONE_", 5) == 0;
	const char *base = hn_arena_printf(c->a, "%s%s", reserved || n == 0 ? "x" : "", name);
	const char *ret = base;

	for (uint32_t i = 2; !is_free(c, ret); i++) {
		ret = hn_arena_printf(c->a, "%s_%u", base, i);
	}
	return ret;
}

void hn_c_name_all(struct c *c)
{
	const struct hn_dag *dag = c->t->dag;

	for (uint32_t k = 0; k < c_n_size(c); k++) {
		c->size[k] = hn_c_name(c, dag->sizes->size[k].name);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (c->t->buffer[i].op < 0) {
			continue;
		}
		c->buffer[i] = HN_NEW_ARRAY(c->a, const char *, op->n_out);
		for (uint32_t k = 0; k < op->n_out; k++) {
			c->buffer[i][k] =
				hn_c_name(c, op->n_out == 1 ? op->id
							    : hn_arena_printf(c->a, "%s_v%u",
									      op->id, k));
		}
	}
}

/* -- functions in front of the kernel ------------------------------------------------------ */

/* $T: the type, $U: an unsigned one in which its arithmetic wraps, $N: what is behind the name. */
static const struct {
	const char *what, *text;
} helpers[] = {
	{ "add", "static inline $T hone_add_$N($T x, $T y)\n{\n\treturn ($T)(($U)x + ($U)y);\n}\n" },
	{ "sub", "static inline $T hone_sub_$N($T x, $T y)\n{\n\treturn ($T)(($U)x - ($U)y);\n}\n" },
	{ "mul", "static inline $T hone_mul_$N($T x, $T y)\n{\n\treturn ($T)(($U)x * ($U)y);\n}\n" },
	{ "abs", "static inline $T hone_abs_$N($T x)\n{\n\treturn x < 0 ? ($T)(($U)0 - ($U)x) : x;\n}\n" },
	{ "min", "static inline $T hone_min_$N($T x, $T y)\n{\n\treturn x < y ? x : y;\n}\n" },
	{ "max", "static inline $T hone_max_$N($T x, $T y)\n{\n\treturn x > y ? x : y;\n}\n" },
	{ "floordiv",
	  "static inline $T hone_floordiv_$N($T x, $T y)\n{\n\treturn ($T)(x / y - (x % y != 0 && "
	  "(x % y < 0) != (y < 0)));\n}\n" },
	{ "floormod",
	  "static inline $T hone_floormod_$N($T x, $T y)\n{\n\treturn ($T)(x % y + (x % y != 0 && "
	  "(x % y < 0) != (y < 0) ? y : 0));\n}\n" },
	/* base/half.h has the same */
	{ "bits", "static inline uint32_t hone_bits_$N(float x)\n{\n\tuint32_t b;\n\n"
		  "\tmemcpy(&b, &x, sizeof b);\n\treturn b;\n}\n\n"
		  "static inline float hone_of_bits_$N(uint32_t b)\n{\n\tfloat x;\n\n"
		  "\tmemcpy(&x, &b, sizeof x);\n\treturn x;\n}\n" },
	{ "of_bfloat16", "static inline float hone_of_bfloat16_$N(uint16_t h)\n{\n"
			 "\treturn hone_of_bits_float32((uint32_t)h << 16);\n}\n" },
	{ "to_bfloat16",
	  "/* to nearest, ties to even */\n"
	  "static inline uint16_t hone_to_bfloat16_$N(float x)\n{\n"
	  "\tuint32_t b = hone_bits_float32(x);\n"
	  "\tuint32_t number = b + 0x7fff + (b >> 16 & 1), nan = b | 0x400000;\n\n"
	  "\treturn (uint16_t)(((b & 0x7fffffff) > 0x7f800000 ? nan : number) >> 16);\n}\n" },
	{ "of_float16",
	  "static inline float hone_of_float16_$N(uint16_t h)\n{\n"
	  "\tuint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;\n"
	  "\tuint32_t number = hone_bits_float32(hone_of_bits_float32(rest << 13) * 0x1p112f);\n\n"
	  "\treturn hone_of_bits_float32(sign | (rest >= 0x7c00 ? 0x7f800000 | rest << 13 : "
	  "number));\n}\n" },
	{ "to_float16",
	  "/* to nearest, ties to even */\n"
	  "static inline uint16_t hone_to_float16_$N(float x)\n{\n"
	  "\tuint32_t b = hone_bits_float32(x), rest = b & 0x7fffffff;\n"
	  "\tuint32_t small = hone_bits_float32(hone_of_bits_float32(rest) + 0.5f) - 0x3f000000;\n"
	  "\tuint32_t number = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;\n"
	  "\tuint32_t r = rest > 0x7f800000    ? 0x7e00 | (rest >> 13 & 0x3ff)\n"
	  "\t\t     : rest >= 0x477ff000 ? 0x7c00\n"
	  "\t\t     : rest < 0x38800000  ? small\n"
	  "\t\t\t\t\t  : number;\n\n"
	  "\treturn (uint16_t)((b >> 16 & 0x8000) | r);\n}\n" },
	{ "round_bfloat16", "static inline float hone_round_bfloat16_$N(float x)\n{\n\treturn "
			    "hone_of_bfloat16_float32(hone_to_bfloat16_float32(x));\n}\n" },
	{ "round_float16", "static inline float hone_round_float16_$N(float x)\n{\n\treturn "
			   "hone_of_float16_float32(hone_to_float16_float32(x));\n}\n" },
	{ "sigmoid", "static inline $T hone_sigmoid_$N($T x)\n{\n\treturn 1 / (1 + $E(-x));\n}\n" },
};

static const char *filled(struct c *c, const char *text, enum hn_dtype t)
{
	bool small = hn_dtype_bytes(t) < 8, is_double = hn_dtype_arith(t) == HN_F64;
	struct hn_buf b;

	hn_buf_init(&b);
	for (const char *p = text; *p != '\0'; p++) {
		if (*p != '$') {
			hn_buf_putc(&b, *p);
			continue;
		}
		switch (*++p) {
		case 'T':
			hn_buf_puts(&b, hn_c_type(t));
			break;
		case 'U':
			hn_buf_puts(&b, small ? "uint32_t" : "uint64_t");
			break;
		case 'E':
			hn_buf_puts(&b, is_double ? "exp" : "expf");
			break;
		default:
			hn_buf_puts(&b, hn_dtype_name(hn_dtype_arith(t)));
		}
	}
	const char *ret = hn_arena_strndup(c->a, b.s, b.n);

	hn_buf_fini(&b);
	return ret;
}

static void define(struct c *c, const char *name, const char *text)
{
	for (uint32_t i = 0; i < c->n_helper; i++) {
		if (strcmp(c->helper[i].name, name) == 0) {
			return;
		}
	}
	c->helper = hn_arena_grow(c->a, c->helper, c->n_helper, &c->cap_helper,
				  sizeof(*c->helper));
	c->helper[c->n_helper++] = (struct c_helper){ name, text };
}

/* Those that a helper calls come first. */
static void define_needed(struct c *c, const char *what)
{
	if (strstr(what, "float16") == NULL) {
		return;
	}
	hn_c_helper(c, "bits", HN_F32);
	if (strncmp(what, "round_", 6) == 0) {
		hn_c_helper(c, hn_arena_printf(c->a, "of_%s", what + 6), HN_F32);
		hn_c_helper(c, hn_arena_printf(c->a, "to_%s", what + 6), HN_F32);
	}
}

const char *hn_c_helper(struct c *c, const char *what, enum hn_dtype t)
{
	const char *name =
		hn_arena_printf(c->a, "hone_%s_%s", what, hn_dtype_name(hn_dtype_arith(t)));

	define_needed(c, what);
	for (size_t i = 0; i < HN_COUNT_OF(helpers); i++) {
		if (strcmp(helpers[i].what, what) == 0) {
			define(c, name, filled(c, helpers[i].text, t));
			return name;
		}
	}
	hn_bug(__FILE__, __LINE__, "helper");
}

const char *hn_c_saturating(struct c *c, enum hn_dtype to, enum hn_dtype from)
{
	const char *T = hn_dtype_c_name(to), *F = hn_c_type(from);
	const char *name = hn_arena_printf(c->a, "hone_%s_of_%s", hn_dtype_name(to),
					   hn_dtype_name(hn_dtype_arith(from)));
	bool is_signed = hn_dtype_class(to) == HN_CLASS_SIGNED;
	int bits = 8 * (int)hn_dtype_bytes(to);
	char most[32], least[40], low[24];

	snprintf(most, sizeof(most), "%sINT%d_MAX", is_signed ? "" : "U", bits);
	snprintf(least, sizeof(least), is_signed ? "INT%d_MIN" : "0", bits);
	snprintf(low, sizeof(low), is_signed ? "-0x1p%d" : "0", bits - 1);
	define(c, name,
	       hn_arena_printf(c->a,
			       "/* towards zero; past the ends, the ends; 0 for a NaN */\n"
			       "static inline %s %s(%s x)\n{\n"
			       "\treturn x >= 0x1p%d ? %s : x > %s ? (%s)x : x <= %s ? %s : 0;\n}\n",
			       T, name, F, bits - is_signed, most, low, T, low, least));
	return name;
}

const char *hn_c_vector_type(struct c *c, enum hn_dtype t, uint32_t lanes)
{
	const char *name = hn_arena_printf(c->a, "hone_%sx%u", hn_dtype_name(t), lanes);

	if (lanes == 1) {
		return hn_c_type(t);
	}
	define(c, name,
	       hn_arena_printf(c->a,
			       "typedef %s %s __attribute__((vector_size(%u), aligned(%u), "
			       "may_alias));\n",
			       hn_c_type(t), name, lanes * (uint32_t)hn_dtype_bytes(t),
			       (uint32_t)hn_dtype_bytes(t)));
	return name;
}
