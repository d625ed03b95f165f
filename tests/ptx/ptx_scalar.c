/* ptx_scalar.c -- arithmetic, comparisons, conversions: what a lane does with its own registers.  Most of
 * it is rows (ptx_scalar.def).
 *
 * Functions of whole warps are loops over 32 lanes.  GCC makes one for each kind of x86 of them, the
 * fused multiplication above all. */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "tests/ptx/ptx_int.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__)
#define FAST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FAST
#endif

#define R(k) (&w->reg[in->op[k].reg])
#define ROW(name) static FAST enum ptx_did name(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)

static inline float larger(float a, float b)
{
	return a > b || b != b || (a == b && !signbit(a)) ? a : b;
}

static inline double larger64(double a, double b)
{
	return a > b || b != b || (a == b && !signbit(a)) ? a : b;
}

#define HALF(v) hn_half_to_float((uint16_t)(v))
#define BFLOAT(v) hn_bfloat_to_float((uint16_t)(v))

/* Places are read before the result is written: it may be one of them. */
#define OP1(name, text, to, of, ...)                                               \
	ROW(do_##name)                                                             \
	{                                                                          \
		union ptx_reg *r = R(0);                                           \
		const union ptx_reg *ra = R(1);                                    \
		PTX_EACH(mask, __typeof__(ra->of[0]) a = ra->of[l]; r->to[l] = (__VA_ARGS__)); \
		return PTX_DONE;                                                   \
	}
#define OP2(name, text, to, of, ...)                                               \
	ROW(do_##name)                                                             \
	{                                                                          \
		union ptx_reg *r = R(0);                                           \
		const union ptx_reg *ra = R(1), *rb = R(2);                        \
		PTX_EACH(mask, __typeof__(ra->of[0]) a = ra->of[l]; __typeof__(a) b = rb->of[l]; \
			 r->to[l] = (__VA_ARGS__));                                \
		return PTX_DONE;                                                   \
	}
#define OP3(name, text, to, of, ...)                                               \
	ROW(do_##name)                                                             \
	{                                                                          \
		union ptx_reg *r = R(0);                                           \
		const union ptx_reg *ra = R(1), *rb = R(2), *rc = R(3);            \
		PTX_EACH(mask, __typeof__(ra->of[0]) a = ra->of[l]; __typeof__(a) b = rb->of[l]; \
			 __typeof__(a) c = rc->of[l]; r->to[l] = (__VA_ARGS__));   \
		return PTX_DONE;                                                   \
	}
#include "tests/ptx/ptx_scalar.def"
#undef OP1
#undef OP2
#undef OP3

/* -- what is more than an expression ---------------------------------------------------------- */

ROW(do_mad_wide_u32)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *c = R(3);

	PTX_EACH(mask, r->w[l] = (uint64_t)a->u[l] * b->u[l] + c->w[l]);
	return PTX_DONE;
}

ROW(do_mad_wide_s32)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *c = R(3);

	PTX_EACH(mask, r->w[l] = (uint64_t)((int64_t)a->s[l] * b->s[l]) + c->w[l]);
	return PTX_DONE;
}

/* Parameters' memory is this process's. */
ROW(do_cvta_param)
{
	uint64_t base = (uint64_t)(uintptr_t)w->block->param;
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1);

	PTX_EACH(mask, r->w[l] = a->w[l] + base);
	return PTX_DONE;
}

ROW(do_shl_b64)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2);

	PTX_EACH(mask, r->w[l] = b->u[l] > 63 ? 0 : a->w[l] << b->u[l]);
	return PTX_DONE;
}

ROW(do_shr_u64)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2);

	PTX_EACH(mask, r->w[l] = b->u[l] > 63 ? 0 : a->w[l] >> b->u[l]);
	return PTX_DONE;
}

ROW(do_shr_s64)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2);

	PTX_EACH(mask, r->x[l] = a->x[l] >> (b->u[l] > 63 ? 63 : b->u[l]));
	return PTX_DONE;
}

ROW(do_selp32)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *p = R(3);

	PTX_EACH(mask, r->u[l] = p->u[l] & 1 ? a->u[l] : b->u[l]);
	return PTX_DONE;
}

ROW(do_selp64)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *p = R(3);

	PTX_EACH(mask, r->w[l] = p->u[l] & 1 ? a->w[l] : b->w[l]);
	return PTX_DONE;
}

/* Bits from, from + 1, ... of a number, with the sign of the last one there is (s); positions and
 * lengths are bytes. */
static uint64_t field(uint64_t v, uint32_t width, uint32_t from, uint32_t n, bool sign)
{
	uint64_t low;

	from &= 0xff;
	n &= 0xff;
	if (n == 0) {
		return 0;
	}
	uint32_t last = from + n - 1 < width - 1 ? from + n - 1 : width - 1;
	bool minus = sign && (v >> last & 1) != 0;

	low = from >= width ? 0 : v >> from;
	n = from >= width ? 0 : n < width - from ? n : width - from;
	low &= n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
	return minus ? low | (n >= 64 ? 0 : UINT64_MAX << n) : low;
}

ROW(do_bfe32)
{
	bool sign = in->how != 0;
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *c = R(3);

	PTX_EACH(mask, r->u[l] = (uint32_t)field(a->u[l], 32, b->u[l], c->u[l], sign));
	return PTX_DONE;
}

ROW(do_bfe64)
{
	bool sign = in->how != 0;
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *c = R(3);

	PTX_EACH(mask, r->w[l] = field(a->w[l], 64, b->u[l], c->u[l], sign));
	return PTX_DONE;
}

/* Any four of eight bytes; bit 3 of a choice spreads the byte's sign. */
ROW(do_prmt)
{
	union ptx_reg *r = R(0);
	const union ptx_reg *a = R(1), *b = R(2), *c = R(3);

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		uint64_t both = (uint64_t)b->u[l] << 32 | a->u[l];
		uint32_t v = 0;

		for (uint32_t i = 0; i < 4; i++) {
			uint32_t pick = c->u[l] >> 4 * i & 15;
			uint32_t byte = (uint32_t)(both >> 8 * (pick & 7)) & 0xff;

			v |= (pick & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
		}
		if (mask >> l & 1) {
			r->u[l] = v;
		}
	}
	return PTX_DONE;
}

/* Lanes of a vector into a register, or out of one: mov.b32 {a, b}, c. */
ROW(do_mov_parts)
{
	uint32_t n = in->n_op - 1, bits = in->bytes * 8U / n;
	bool out = in->op[0].group != 0;
	const struct ptx_operand *whole = &in->op[out ? n : 0], *part = &in->op[out ? 0 : 1];

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		uint64_t v = 0;

		if (!(mask >> l & 1)) {
			continue;
		}
		if (out) {
			v = in->bytes == 8 ? w->reg[whole->reg + whole->constant].w[l]
					   : w->reg[whole->reg].u[l];
			for (uint32_t i = 0; i < n; i++) {
				uint64_t x = v >> bits * i & (((uint64_t)1 << bits) - 1);

				w->reg[part[i].reg].u[l] = (uint32_t)x;
			}
			continue;
		}
		for (uint32_t i = 0; i < n; i++) {
			v |= (w->reg[part[i].reg].u[l] & (((uint64_t)1 << bits) - 1)) << bits * i;
		}
		if (in->bytes == 8) {
			w->reg[whole->reg].w[l] = v;
		} else {
			w->reg[whole->reg].u[l] = (uint32_t)v;
		}
	}
	return PTX_DONE;
}

/* -- types ------------------------------------------------------------------------------------ */

enum type { B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64, F16, BF16, F32, TF32, F64, N_TYPES };

static const struct {
	char text[5];
	uint8_t bytes;
	bool is_signed, is_float;
} type[N_TYPES] = {
	[B8] = { "b8", 1, 0, 0 },   [U8] = { "u8", 1, 0, 0 },	  [S8] = { "s8", 1, 1, 0 },
	[B16] = { "b16", 2, 0, 0 }, [U16] = { "u16", 2, 0, 0 },   [S16] = { "s16", 2, 1, 0 },
	[B32] = { "b32", 4, 0, 0 }, [U32] = { "u32", 4, 0, 0 },   [S32] = { "s32", 4, 1, 0 },
	[B64] = { "b64", 8, 0, 0 }, [U64] = { "u64", 8, 0, 0 },   [S64] = { "s64", 8, 1, 0 },
	[F16] = { "f16", 2, 1, 1 }, [BF16] = { "bf16", 2, 1, 1 }, [F32] = { "f32", 4, 1, 1 },
	[TF32] = { "tf32", 4, 1, 1 }, [F64] = { "f64", 8, 1, 1 },
};

static int type_of(const char *word)
{
	for (int i = 0; i < N_TYPES; i++) {
		if (strcmp(type[i].text, word) == 0) {
			return i;
		}
	}
	return -1;
}

/* -- comparisons ------------------------------------------------------------------------------ */

#define COMPARISONS(X)                                                                         \
	X(eq, a == b) X(ne, !(a != a || b != b) && a != b) X(lt, a < b) X(le, a <= b)           \
	X(gt, a > b) X(ge, a >= b) X(equ, a != a || b != b || a == b) X(neu, a != b)            \
	X(ltu, !(a >= b)) X(leu, !(a > b)) X(gtu, !(a <= b)) X(geu, !(a < b))                   \
	X(num, a == a && b == b) X(nan, a != a || b != b)                                       \
	X(lo, a < b) X(ls, a <= b) X(hi, a > b) X(hs, a >= b)

enum comparison {
#define X(name, ...) CMP_##name,
	COMPARISONS(X)
#undef X
		N_COMPARISONS
};

static const char *const comparison[N_COMPARISONS] = {
#define X(name, ...) #name,
	COMPARISONS(X)
#undef X
};

#define SETP(name, as, of)                                                                  \
	ROW(do_setp_##name)                                                                 \
	{                                                                                   \
		union ptx_reg *r = R(0);                                                    \
		const union ptx_reg *ra = R(in->n_op - 2), *rb = R(in->n_op - 1);            \
		switch ((enum comparison)in->how) {                                         \
			COMPARISONS(SETP_CASE_##of)                                         \
		default:                                                                    \
			return ptx_fault(w, in, 0, "no comparison");                        \
		}                                                                           \
		return PTX_DONE;                                                            \
	}
#define SETP_CASE(cmp, as, of, ...)                                                    \
	case CMP_##cmp:                                                                \
		PTX_EACH(mask, as a = (as)ra->of[l]; as b = (as)rb->of[l]; r->u[l] = (__VA_ARGS__)); \
		break;
#define SETP_CASE_u(cmp, ...) SETP_CASE(cmp, uint32_t, u, __VA_ARGS__)
#define SETP_CASE_s(cmp, ...) SETP_CASE(cmp, int32_t, s, __VA_ARGS__)
#define SETP_CASE_w(cmp, ...) SETP_CASE(cmp, uint64_t, w, __VA_ARGS__)
#define SETP_CASE_x(cmp, ...) SETP_CASE(cmp, int64_t, x, __VA_ARGS__)
#define SETP_CASE_f(cmp, ...) SETP_CASE(cmp, float, f, __VA_ARGS__)
#define SETP_CASE_d(cmp, ...) SETP_CASE(cmp, double, d, __VA_ARGS__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtautological-compare"
SETP(u32, uint32_t, u)
SETP(s32, int32_t, s)
SETP(u64, uint64_t, w)
SETP(s64, int64_t, x)
SETP(f32, float, f)
SETP(f64, double, d)

/* Halves, by what they are as float32. */
ROW(do_setp_half)
{
	union ptx_reg wide[2], *r = R(0);
	const union ptx_reg *ra = &wide[0], *rb = &wide[1];

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t v = R(in->n_op - 2 + i)->u[l];

			wide[i].f[l] = in->as == F16 ? HALF(v) : BFLOAT(v);
		}
	}
	switch ((enum comparison)in->how) {
		COMPARISONS(SETP_CASE_f)
	default:
		return ptx_fault(w, in, 0, "no comparison");
	}
	return PTX_DONE;
}
#pragma GCC diagnostic pop

/* Of 16 bits, which lie in 32. */
ROW(do_setp_16)
{
	union ptx_reg wide[2], *r = R(0);

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t v = R(in->n_op - 2 + i)->u[l] & 0xffff;

			wide[i].s[l] = type[in->as].is_signed ? (int16_t)v : (int32_t)v;
		}
	}
	for (uint32_t l = 0; l < PTX_LANES; l++) {
		int32_t a = wide[0].s[l], b = wide[1].s[l];
		bool yes[] = { [CMP_eq] = a == b, [CMP_ne] = a != b, [CMP_lt] = a < b,
			       [CMP_le] = a <= b, [CMP_gt] = a > b,  [CMP_ge] = a >= b };

		if (in->how >= HN_COUNT_OF(yes)) {
			return ptx_fault(w, in, l, "no comparison");
		}
		if (mask >> l & 1) {
			r->u[l] = yes[in->how];
		}
	}
	return PTX_DONE;
}

/* -- conversions ------------------------------------------------------------------------------ */

enum rounding { RN, RZ, RM, RP, RNI, RZI, RMI, RPI, RNA, N_ROUNDINGS };

static const char rounding[N_ROUNDINGS][4] = { "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna" };

static double rounded(double v, enum rounding how)
{
	switch (how) {
	case RZI:
		return trunc(v);
	case RMI:
		return floor(v);
	case RPI:
		return ceil(v);
	default:
		return nearbyint(v);
	}
}

static double as_float(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t l)
{
	const union ptx_reg *r = R(1);

	switch ((enum type)in->from) {
	case F16:
		return hn_half_to_float((uint16_t)r->u[l]);
	case BF16:
		return hn_bfloat_to_float((uint16_t)r->u[l]);
	case F64:
		return r->d[l];
	default:
		return r->f[l];
	}
}

/* The low bits of an integer, with its sign, in 64. */
static int64_t as_integer(const struct ptx_warp *w, const struct ptx_insn *in, uint32_t l)
{
	const union ptx_reg *r = R(1);
	uint64_t v = type[in->from].bytes == 8 ? r->w[l] : r->u[l];
	uint32_t off = 64 - 8U * type[in->from].bytes;

	return type[in->from].is_signed ? (int64_t)(v << off) >> off : (int64_t)(v << off >> off);
}

static void put_float(struct ptx_warp *w, const struct ptx_insn *in, uint32_t l, double v)
{
	union ptx_reg *r = R(0);

	switch ((enum type)in->as) {
	case F16:
		r->u[l] = hn_half_of_float((float)v);
		break;
	case BF16:
		r->u[l] = hn_bfloat_of_float((float)v);
		break;
	case TF32:
		r->f[l] = (float)v;
		r->u[l] = isfinite(v) ? (r->u[l] + 0x1000) & ~0x1fffU : r->u[l];
		break;
	case F64:
		r->d[l] = v;
		break;
	default:
		r->f[l] = (float)v;
	}
}

/* The nearest number that the integer type has; of NaN 0. */
static void put_clamped(struct ptx_warp *w, const struct ptx_insn *in, uint32_t l, double v)
{
	uint32_t bits = 8U * type[in->as].bytes;
	double least = type[in->as].is_signed ? -ldexp(1, (int)bits - 1) : 0;
	double most = ldexp(1, (int)bits - type[in->as].is_signed); /* and less */
	union ptx_reg *r = R(0);
	uint64_t x;

	v = rounded(v, (enum rounding)in->how);
	if (v != v) {
		x = 0;
	} else if (v < least) {
		x = (uint64_t)(int64_t)least;
	} else if (v >= most) {
		x = (type[in->as].is_signed ? (uint64_t)1 << (bits - 1) : bits == 64 ? 0 : (uint64_t)1 << bits) - 1;
	} else {
		x = type[in->as].is_signed ? (uint64_t)(int64_t)v : (uint64_t)v;
	}
	if (bits == 64) {
		r->w[l] = x;
	} else {
		r->u[l] = (uint32_t)x;
	}
}

static enum ptx_did do_cvt(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	bool from_float = type[in->from].is_float, to_float = type[in->as].is_float;
	union ptx_reg *r = R(0);

	for (uint32_t l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1)) {
			continue;
		}
		if (from_float && to_float) {
			double v = as_float(w, in, l);

			put_float(w, in, l, in->how >= RNI && in->how <= RPI ? rounded(v, (enum rounding)in->how) : v);
		} else if (from_float) {
			put_clamped(w, in, l, as_float(w, in, l));
		} else {
			int64_t v = as_integer(w, in, l);
			bool big = !type[in->from].is_signed && v < 0;

			if (to_float && in->as == F32) {
				r->f[l] = big ? (float)(uint64_t)v : (float)v;
			} else if (to_float) {
				put_float(w, in, l, big ? (double)(uint64_t)v : (double)v);
			} else if (type[in->as].bytes == 8) {
				r->x[l] = v;
			} else {
				/* registers may be wider than the type: the sign fills them */
				uint32_t off = 32 - 8U * type[in->as].bytes;
				uint32_t x = (uint32_t)v << off;

				r->u[l] = type[in->as].is_signed ? (uint32_t)((int32_t)x >> off) : x >> off;
			}
		}
	}
	return PTX_DONE;
}

/* Two floats into halves of a word: the first operand is the upper one. */
static enum ptx_did do_cvt_pair(struct ptx_warp *w, const struct ptx_insn *in, uint32_t mask)
{
	PTX_EACH(mask, uint16_t h[2]; for (int i = 0; i < 2; i++) {
		float v = R(1 + i)->f[l];

		h[i] = in->how != 0 ? hn_bfloat_of_float(v) : hn_half_of_float(v);
	} R(0)->u[l] = (uint32_t)h[0] << 16 | h[1]);
	return PTX_DONE;
}

/* -- which ------------------------------------------------------------------------------------ */

struct row {
	const char *text;
	ptx_do *run;
	char of;
	uint8_t how;
};

static const struct row rows[] = {
#define OP1(name, text, to, of, ...) { text, do_##name, #of[0], 0 },
#define OP2(name, text, to, of, ...) { text, do_##name, #of[0], 0 },
#define OP3(name, text, to, of, ...) { text, do_##name, #of[0], 0 },
#include "tests/ptx/ptx_scalar.def"
#undef OP1
#undef OP2
#undef OP3
	{ "cvta.param.u64", do_cvta_param, 'w', 0 },
	{ "mad.wide.u32", do_mad_wide_u32, '2', 0 },
	{ "mad.wide.s32", do_mad_wide_s32, '2', 0 },
	{ "shl.b64", do_shl_b64, '0', 0 },
	{ "shr.u64", do_shr_u64, '0', 0 },
	{ "shr.b64", do_shr_u64, '0', 0 },
	{ "shr.s64", do_shr_s64, '0', 0 },
	{ "selp.b16", do_selp32, 'u', 0 },
	{ "selp.u16", do_selp32, 'u', 0 },
	{ "selp.b32", do_selp32, 'u', 0 },
	{ "selp.u32", do_selp32, 'u', 0 },
	{ "selp.s32", do_selp32, 'u', 0 },
	{ "selp.f32", do_selp32, 'u', 0 },
	{ "selp.b64", do_selp64, '1', 0 },
	{ "selp.u64", do_selp64, '1', 0 },
	{ "selp.s64", do_selp64, '1', 0 },
	{ "selp.f64", do_selp64, '1', 0 },
	{ "bfe.u32", do_bfe32, 'u', 0 },
	{ "bfe.s32", do_bfe32, 'u', 1 },
	{ "bfe.u64", do_bfe64, '0', 0 },
	{ "bfe.s64", do_bfe64, '0', 1 },
	{ "prmt.b32", do_prmt, 'u', 0 },
};

/* Constants of 64 bits have their second place.  `of`: u, s, f: none; w, x, d: all; 0: the first source
 * alone, 1: the first two, 2: the third. */
static void widen(struct ptx_insn *in, char of)
{
	static const struct {
		char of;
		uint32_t from, to;
	} which[] = { { 'w', 1, 9 }, { 'x', 1, 9 }, { 'd', 1, 9 }, { '0', 1, 1 }, { '1', 1, 2 }, { '2', 3, 3 } };
	struct ptx_operand *op = (struct ptx_operand *)in->op;

	for (size_t i = 0; i < HN_COUNT_OF(which); i++) {
		for (uint32_t k = which[i].from; which[i].of == of && k <= which[i].to && k < in->n_op; k++) {
			if (op[k].constant) {
				op[k].reg++;
				op[k].constant = false;
			}
		}
	}
}

static ptx_do *find_setp(struct ptx_insn *in)
{
	int t = type_of(in->word[in->n_word - 1]);

	in->how = N_COMPARISONS;
	for (uint32_t i = 0; i < N_COMPARISONS; i++) {
		in->how = strcmp(in->word[1], comparison[i]) == 0 ? (uint8_t)i : in->how;
	}
	if (in->n_word != 3 || in->n_op != 3 || t < 0 || in->how == N_COMPARISONS) {
		return NULL;
	}
	in->as = (uint8_t)t;
	if (type[t].bytes == 8) {
		widen(in, 'w');
	}
	switch ((enum type)t) {
	case B16:
	case U16:
	case S16:
		return do_setp_16;
	case B32:
	case U32:
		return do_setp_u32;
	case S32:
		return do_setp_s32;
	case B64:
	case U64:
		return do_setp_u64;
	case S64:
		return do_setp_s64;
	case F16:
	case BF16:
		return do_setp_half;
	case F32:
		return do_setp_f32;
	case F64:
		return do_setp_f64;
	default:
		return NULL;
	}
}

static ptx_do *find_cvt(struct ptx_insn *in)
{
	int from, as;

	if (in->n_word < 3) {
		return NULL;
	}
	if (in->n_op == 3) {
		bool bf = strcmp(in->name, "cvt.rn.bf16x2.f32") == 0;

		in->how = bf;
		return bf || strcmp(in->name, "cvt.rn.f16x2.f32") == 0 ? do_cvt_pair : NULL;
	}
	from = type_of(in->word[in->n_word - 1]);
	as = type_of(in->word[in->n_word - 2]);
	in->how = RN;
	for (uint32_t i = 1; i + 2 < in->n_word; i++) {
		uint32_t k = 0;

		while (k < N_ROUNDINGS && strcmp(rounding[k], in->word[i]) != 0) {
			k++;
		}
		/* no other rounding of floats is printed */
		if (k == N_ROUNDINGS || k == RZ || k == RM || k == RP || (k == RNA) != (as == TF32)) {
			return NULL;
		}
		in->how = (uint8_t)k;
	}
	if (from < 0 || as < 0 || in->n_op != 2) {
		return NULL;
	}
	in->from = (uint8_t)from;
	in->as = (uint8_t)as;
	if (type[from].bytes == 8) {
		widen(in, 'w');
	}
	return do_cvt;
}

ptx_do *ptx_find_scalar(struct ptx_insn *in)
{
	if (strcmp(in->word[0], "setp") == 0) {
		return find_setp(in);
	}
	if (strcmp(in->word[0], "cvt") == 0) {
		return find_cvt(in);
	}
	if (strcmp(in->name, "mov.b32") == 0 || strcmp(in->name, "mov.b64") == 0) {
		in->bytes = in->name[4 + 1] == '3' ? 4 : 8;
		if (in->n_op > 2) {
			return do_mov_parts;
		}
		if (in->bytes == 8) {
			widen(in, 'w');
		}
		return in->bytes == 8 ? do_mov_u64 : do_mov_u32;
	}
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].text, in->name) == 0) {
			widen(in, rows[i].of);
			in->how = rows[i].how;
			return rows[i].run;
		}
	}
	return NULL;
}
