/* lower/build/check_inputs.c -- sizes and inputs that kernels are checked on.  See check.h. */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "base/draw.h"
#include "loopstate/dag/magnitude.h"
#include "loopstate/dag/size.h"
#include "loopstate/state/intrin.h"
#include "lower/build/check.h"
#include "lower/interp/interp_priv.h"

#define SEED 11
#define POINTS 2e7 /* of a case with sizes of ours: some milliseconds */

enum kind { ORDINARY, FULL, LARGE, SCALED, TIES, TINY, N_KIND };

/* For types of at most 16 bits, whose ends and ties are near; and for others. */
static const enum kind narrow[] = { ORDINARY, SCALED, LARGE, TIES, TINY };
static const enum kind wide[] = { ORDINARY, FULL, LARGE };

static bool is_narrow(const struct hn_dag *dag)
{
	bool ret = false;

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		enum hn_dtype t = dag->op[dag->arg[i]]->dtype[hn_dag_arg_out(dag, i)];

		ret |= t != HN_BOOL && hn_dtype_bits(t) < hn_dtype_bits(HN_F32);
	}
	return ret;
}

uint32_t hn_check_kinds(const struct hn_dag *dag)
{
	return is_narrow(dag) ? HN_COUNT_OF(narrow) : HN_COUNT_OF(wide);
}

static enum kind kind_of(const struct hn_dag *dag, uint32_t i)
{
	return is_narrow(dag) ? narrow[i % HN_COUNT_OF(narrow)] : wide[i % HN_COUNT_OF(wide)];
}

double hn_check_points(const struct hn_dag *dag)
{
	double sum = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		double n = (double)hn_op_elements(op);

		for (uint32_t k = 0; k < op->n_reduce; k++) {
			n *= (double)op->axis[op->n_spatial + k].extent;
		}
		sum += n;
	}
	return sum;
}

static bool is_prime(int64_t n)
{
	for (int64_t d = 2; d * d <= n; d++) {
		if (n % d == 0) {
			return false;
		}
	}
	return n > 1;
}

/* The largest prime from lo to n, or n. */
static int64_t prime_below(int64_t n, int64_t lo)
{
	for (int64_t p = n; p >= lo && p > n - 1000; p--) {
		if (is_prime(p)) {
			return p;
		}
	}
	return n;
}

static int64_t draw(struct hn_rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)hn_rng_below(r, (uint64_t)(hi - lo) + 1);
}

static bool too_long(const struct hn_dag *dag, const int64_t *value)
{
	const struct hn_dag *one;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	bool ret = hn_dag_instantiate(dag, value, &a, &one, &err) == 0 && hn_check_points(one) > POINTS;

	hn_arena_fini(&a);
	return ret;
}

/* The size that is farthest above its least one is made half of it. */
static bool shrink(const struct hn_sizes *s, int64_t *value)
{
	uint32_t most = 0;

	for (uint32_t k = 1; k < s->n; k++) {
		if (value[k] - s->size[k].lo > value[most] - s->size[most].lo) {
			most = k;
		}
	}
	int64_t above = value[most] - s->size[most].lo;

	value[most] = s->size[most].lo + above / 2;
	return above > 0;
}

void hn_check_sizes(const struct hn_dag *dag, uint32_t i, int64_t *value)
{
	struct hn_rng r = hn_rng_stream(SEED, 1, 0, i);
	const struct hn_sizes *s = dag->sizes;

	for (uint32_t k = 0; k < s->n; k++) {
		int64_t lo = s->size[k].lo, hi = s->size[k].hi;
		int64_t near = hn_add_sat(lo, 200) < hi ? lo + 200 : hi;

		value[k] = i == 0   ? lo
			   : i == 1 ? hi
			   : i == 2 ? draw(&r, lo, near)
			   : i == 3 ? draw(&r, lo, hi)
				    : draw(&r, 0, 1) == 0 ? lo : draw(&r, lo, near);
	}
	while (too_long(dag, value) && shrink(s, value)) {
	}
	for (uint32_t k = 0; k < s->n && (i == 2 || i == 3); k++) {
		value[k] = prime_below(value[k], s->size[k].lo);
	}
}

static int64_t whole(struct hn_rng *r, enum kind kind, enum hn_dtype t)
{
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;

	if (t == HN_BOOL) {
		return (int64_t)hn_rng_below(r, 2);
	}
	if (kind == ORDINARY || kind == TIES || kind == TINY) {
		return (int64_t)hn_rng_below(r, 9) - (is_signed ? 4 : 0);
	}
	return hn_draw_integer(r, t);
}

/* What the floats of a case depend on. */
struct drawing {
	enum kind kind;
	int32_t magnitude; /* LARGE */
	bool tiny, subnormals;
};

static double real(struct hn_rng *r, const struct drawing *d, enum hn_dtype t)
{
	double v = 2 * hn_rng_unit(r) - 1;
	int most = hn_dtype_inputs_exponent(t);

	switch (d->kind) {
	case LARGE:
		return ldexp(v, d->magnitude < most ? d->magnitude : most);
	case FULL:
		return hn_rng_below(r, 16) == 0 ? copysign(0, v)
						: ldexp(v, (int)hn_rng_below(r, 17) - 8);
	case SCALED:
		return hn_rng_below(r, 16) == 0 ? copysign(0, v) : hn_draw_scale(r);
	case TIES:
		return hn_draw_tie(r);
	case TINY:
		return d->tiny ? hn_draw_tiny(r, t, d->subnormals) : v;
	default:
		return v;
	}
}

void hn_check_fill(const struct hn_dag *dag, const struct hn_op *op, uint32_t index, uint32_t i,
		   bool divides, void *bytes)
{
	struct hn_rng r = hn_rng_stream(SEED, 2, i, index);
	enum hn_dtype t = op->dtype[0];
	int64_t n = hn_op_elements(op);
	struct drawing d = { .kind = kind_of(dag, i), .tiny = index % 2 == 0 };

	d.magnitude = d.kind == LARGE ? hn_dag_magnitude(dag) : 0;
	d.subnormals = d.kind == TINY && !hn_dag_may_flush(dag);
	for (int64_t at = 0; at < n; at++) {
		union hn_value v;

		if (hn_dtype_class(t) == HN_CLASS_FLOAT) {
			v.f = real(&r, &d, t);
		} else {
			v.i = whole(&r, d.kind, t);
			v.i = divides && v.i == 0 && t != HN_BOOL ? 1 : v.i;
		}
		hn_interp_put(bytes, t, at, v);
	}
}

const char *hn_check_inputs(const struct hn_dag *dag, uint32_t i)
{
	static const char *const word[N_KIND] = {
		[ORDINARY] = "ordinary",
		[FULL] = "all integers, floats of 2^-8 to 2^8 and zeros",
		[LARGE] = "all integers, floats as large as the arithmetic carries",
		[SCALED] = "all integers, floats of 2^-20 to 2 and zeros",
		[TIES] = "ties of roundings to few bits",
		[TINY] = "floats as small as the types have",
	};

	return word[kind_of(dag, i)];
}
