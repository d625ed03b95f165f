/* float16, bfloat16 and small integers in kernels: the interpreter's bits under random histories,
 * on processors with and without conversions, and every conversion of 16 bits both ways.
 *
 * What sums in float32 is not compared to the bit, as its order is free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fenv.h>

#include "lower/interp/interp_priv.h"
#include "tests/lib/lower_forms.h"

/* Nothing here is reassociated: the bits are the interpreter's. */
static const char *const exact[] = {
	"f(float16 A[13,37], B[13,37]) -> C { C(i,j) = A(i,j) * B(i,j) + 0.1 }",
	"f(bfloat16 A[13,37], B[13,37]) -> C { C(i,j) = A(i,j) * B(i,j) + 0.1 }",
	"f(bfloat16 A[13,37], B[37]) -> C { C(i,j) = A(i,j) / B(j) - sqrt(abs(A(i,j))) }",
	"f(float16 A[13,37], B[13]) -> C { C(i,j) = max(A(i,j), 0) / B(i) }",
	"f(float16 A[13,77]) -> C { C(i) +=! A(i,k) }",
	"f(bfloat16 A[9,77], B[77,21]) -> C { C(i,j) +=! A(i,k) * B(k,j) }",
	"f(bfloat16 A[13,77]) -> C { C(i) max=! A(i,k) }",
	"f(float16 A[6,40]) -> V, I { V(i), I(i) argmax=! A(i,k), k }",
	"f(float16 A[31,33]) -> C { C(i,j) = A(j,i) where i in 0:33, j in 0:31 }",
	"f(bfloat16 A[8,70]) -> C { C(i,j) = A(i,2*j) where j in 0:35 }",
	"f(bfloat16 A[8,35]) -> C { C(i,j) = j >= 1 && j < 36 ? A(i,j-1) : 0 where j in "
	"0:37 }",
	"f(float32 A[500]) -> C { C(i) = float16(A(i) * 1000) }",
	"f(float16 A[500]) -> C { C(i) = bfloat16(A(i)) * 3 }",
	"f(int32 A[500]) -> C { C(i) = bfloat16(A(i) * 16843009) }",
	"f(float16 A[500]) -> C { C(i) = int8(A(i) * 300) }",
	"f(float32 A[500]) -> C { C(i) = uint8(A(i) * 600) }",
	"f(float32 A[500]) -> C { C(i) = int32(A(i) * 4e9) }",
	"f(float64 A[500]) -> C { C(i) = uint32(A(i) * 9e9) }",
	"f(float32 A[500], B[500], D[500]) -> C { C(i) = int32((A(i) * B(i) + D(i)) * "
	"1e8) }",
	"f(float32 A[90,7], B[90,7], D[7]) -> C {\n"
	"  T(i,j) = (A(i,j) * B(i,j) + D(j)) / D(j)\n  C(i,j) = int32(T(i,j) * 1e8) }",
	"f(uint8 A[9,60], int8 B[60,21]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) "
	"}",
	"q(uint8 A[9,60], int8 B[60,21], int32 z[21], float32 s[21]) -> Y {\n"
	"  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	"  Y(i,j) = int8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, -128), "
	"127)) }",
	"q(uint8 A[9,60], int8 B[60,21], float32 b[21], float32 s[21]) -> Y {\n"
	"  C(i,j) +=! int32(A(i,k)) * int32(B(k,j))\n"
	"  Y(i,j) = uint8(nearbyint(float32(C(i,j)) * s(j) + b(j))) }",
};

/* Sums in float32. */
static const char *const sums[] = {
	"f(bfloat16 A[9,77], B[77,21]) -> C { C(i,j) +=! float32(A(i,k)) * "
	"float32(B(k,j)) }",
	"f(float16 A[9,77], B[77,21], b[21]) -> C {\n"
	"  S(i,j) +=! float32(A(i,k)) * float32(B(k,j))\n"
	"  C(i,j) = float16(max(S(i,j) + float32(b(j)), 0)) }",
	"s(bfloat16 A[8,50]) -> C { M(i) max=! A(i,k)\n  E(i,k) = exp(A(i,k) - M(i))\n"
	"  S(i) +=! float32(E(i,k))\n  C(i,k) = bfloat16(float32(E(i,k)) / S(i)) }",
	"w(float32 A[9,60], int8 B[60,21], float32 s[21]) -> C {\n"
	"  C(i,j) +=! A(i,k) * (float32(B(k,j)) * s(j)) }",
};

static void check_exact(const struct history *h, void *ctx)
{
	struct history x = *h;

	x.tolerance = 0;
	check_form_one(&x, ctx);
}

static void histories(void **state)
{
	for (size_t i = 0; i < HN_COUNT_OF(exact); i++) {
		each_history(exact[i], 6, check_exact, *state);
	}
	for (size_t i = 0; i < HN_COUNT_OF(sums); i++) {
		check_form(*state, sums[i], 6);
	}
}

/* Each 16 bits there are, and the float32 that end in them, by a kernel. */
static void every_conversion(void **state)
{
	static const struct {
		enum hn_dtype t;
		const char *to_float, *of_float;
	} row[] = {
		{ HN_F16, "f(float16 A[65536]) -> C { C(i) = float32(A(i)) }",
		  "f(float32 A[65536]) -> C { C(i) = float16(A(i)) }" },
		{ HN_BF16, "f(bfloat16 A[65536]) -> C { C(i) = float32(A(i)) }",
		  "f(float32 A[65536]) -> C { C(i) = bfloat16(A(i)) }" },
	};
	struct fixture *f = *state;
	static uint16_t half[65536];
	static float real[65536];

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		void *widens[] = { half, real }, *narrows[] = { real, half };
		struct hn_err err = { 0 };
		struct run_kernel k;

		if (run_build(f->em, dag_open(row[i].to_float, &f->arena), NULL, false,
			      &f->arena, &k, &err)) {
			fail_msg("%s", err.msg);
		}
		for (uint32_t h = 0; h < 65536; h++) {
			half[h] = (uint16_t)h;
		}
		assert_int_equal(k.fn(widens, NULL), 0);
		for (uint32_t h = 0; h < 65536; h++) {
			float want = (float)hn_float_get(row[i].t, half, h);

			assert_true(isnan(want) ? isnan(real[h])
						: hn_float_bits(want) ==
							  hn_float_bits(real[h]));
		}
		run_unload(&k);
		if (run_build(f->em, dag_open(row[i].of_float, &f->arena), NULL, false,
			      &f->arena, &k, &err)) {
			fail_msg("%s", err.msg);
		}
		/* the lower bits decide of ties: each pattern of 16 with each of some */
		for (uint32_t low = 0; low < 0x10000; low += low < 3 ? 1 : 0xfff) {
			for (uint32_t h = 0; h < 65536; h++) {
				real[h] = hn_float_of_bits(h << 16 | low);
			}
			assert_int_equal(k.fn(narrows, NULL), 0);
			for (uint32_t h = 0; h < 65536; h++) {
				uint16_t want = row[i].t == HN_F16
							? hn_half_of_float(real[h])
							: hn_bfloat_of_float(real[h]);

				if (isnan(real[h])
					    ? !isnan(hn_float_get(row[i].t, half, h))
					    : half[h] != want) {
					fail_msg("%s of %a: %04x, not %04x",
						 hn_dtype_name(row[i].t), (double)real[h],
						 half[h], want);
				}
			}
		}
		run_unload(&k);
	}
}

/* Numbers at which a cast has to choose. */
static const double special[] = {
	NAN,	 -NAN,	  INFINITY, -INFINITY, 0.0,	 -0.0,	   0x1p-149,  -0x1p-133, 0x1p-24,
	0.5,	 -0.5,	  0.999,    -0.999,    1.5,	 2.5,	   126.5,     127,	 127.5,
	127.999, 128,	  -127.5,   -128,      -128.999, -129,	   254.5,     255,	 255.5,
	256,	 32767.5, 32768,    -32768.5,  -32769,	 65504,	   65519.9,   65520,	 65536,
	-65536,	 0x1p24,  0x1p31,   -0x1p31,   0x1p32,	 -0x1p32,  0x1p63,    -0x1p63,	 0x1p64,
	1e20,	 -1e20,	  0x1.fep127, 0x1.ffp127, 2147483520.0, 4294967040.0, 1e300, -1e300
};

#define N_SPECIAL 53

/* What docs/dag.md says: towards zero, the ends past the ends, 0 of a NaN. */
static int64_t saturated(double v, enum hn_dtype t)
{
	int bits = hn_dtype_bits(t);
	bool is_signed = hn_dtype_class(t) == HN_CLASS_SIGNED;

	if (isnan(v)) {
		return 0;
	}
	v = trunc(v);
	if (v >= ldexp(1, bits)) {
		return bits == 64 ? -1 : (int64_t)(((uint64_t)1 << bits) - 1);
	}
	if (v < (is_signed ? -ldexp(1, bits) : 0)) {
		return !is_signed ? 0 : bits == 63 ? INT64_MIN : -((int64_t)1 << bits);
	}
	return v >= 0x1p63 ? (int64_t)(uint64_t)v : (int64_t)v;
}

static void check_cast(struct fixture *f, enum hn_dtype from, enum hn_dtype to, bool scalar)
{
	static double in[N_SPECIAL + 11], got[N_SPECIAL + 11]; /* room for any type */
	void *arg[] = { in, got };
	struct run_kernel k;
	struct hn_err err = { 0 };
	char text[120];

	snprintf(text, sizeof text, "f(%s A[%d]) -> C { C(i) = %s(A(i)) }", hn_dtype_name(from),
		 N_SPECIAL, hn_dtype_name(to));
	for (int i = 0; i < N_SPECIAL; i++) {
		hn_float_put(from, in, i, special[i]);
	}
	if (run_build(f->em, dag_open(text, &f->arena), NULL, scalar, &f->arena, &k, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(k.fn(arg, NULL), 0);
	run_unload(&k);
	for (int i = 0; i < N_SPECIAL; i++) {
		double v = hn_float_get(from, in, i);
		int64_t x = hn_interp_get(got, to, i).i, want = saturated(v, to);

		if (x != want) {
			fail_msg("%s of %a, %s: %lld, not %lld", text, v, scalar ? "naive" : "vectors",
				 (long long)x, (long long)want);
		}
	}
	/* the interpreter has the same */
	assert_int_equal(hn_interpret(dag_open(text, &f->arena), arg, &err), 0);
	for (int i = 0; i < N_SPECIAL; i++) {
		assert_int_equal(hn_interp_get(got, to, i).i,
				 saturated(hn_float_get(from, in, i), to));
	}
}

static void casts_saturate(void **state)
{
	static const enum hn_dtype from[] = { HN_F16, HN_BF16, HN_F32, HN_F64 };
	static const enum hn_dtype to[] = { HN_I8, HN_U8, HN_I16, HN_U16,
					    HN_I32, HN_U32, HN_I64, HN_U64 };

	assert_int_equal(HN_COUNT_OF(special), N_SPECIAL);
	for (size_t i = 0; i < HN_COUNT_OF(from); i++) {
		for (size_t k = 0; k < HN_COUNT_OF(to); k++) {
			check_cast(*state, from[i], to[k], /* scalar= */ true);
			check_cast(*state, from[i], to[k], /* scalar= */ false);
		}
	}
}

/* Floats around the ends of every integer type, infinities and NaNs among them, by vectors. */
static void every_end(void **state)
{
	enum { N = 4096 };
	static const struct {
		enum hn_dtype t;
		double low, high;
	} to[] = { { HN_I8, -128, 127 },	  { HN_U8, 0, 255 },
		   { HN_I16, -32768, 32767 },	  { HN_U16, 0, 65535 },
		   { HN_I32, -0x1p31, 0x1p31 - 1 }, { HN_U32, 0, 0x1p32 - 1 } };
	struct fixture *f = *state;
	static double wide[N];
	static float real[N];
	static uint32_t out[N];

	for (size_t i = 0; i < HN_COUNT_OF(to); i++) {
		for (int form = 0; form < 4; form++) {
			bool is_wide = form & 1, clamps = form & 2;
			struct hn_rng r = hn_rng_stream(3, i, (uint64_t)form, 0);
			void *args[] = { is_wide ? (void *)wide : (void *)real, out };
			struct hn_err err = { 0 };
			struct run_kernel k;
			char text[256];

			/* a NaN becomes the least, where the program clamps */
			snprintf(text, sizeof text, "f(%s A[%d]) -> C { C(i) = %s(%s) }",
				 is_wide ? "float64" : "float32", N, hn_dtype_name(to[i].t),
				 clamps ? "min(max(A(i), -7), 100)" : "A(i)");
			if (run_build(f->em, dag_open(text, &f->arena), NULL, false, &f->arena,
				      &k, &err)) {
				fail_msg("%s", err.msg);
			}
			for (uint32_t n = 0; n < N; n++) {
				double at = n % 3 == 0 ? to[i].low : n % 3 == 1 ? to[i].high : 0;
				double by = hn_rng_unit(&r) * (n % 5 == 0 ? 4 : n % 5 == 1 ? 1e3
										  : 1e12);

				wide[n] = n % 64 == 0	? NAN
					  : n % 64 == 1 ? (n & 64 ? INFINITY : -INFINITY)
					  : n % 64 == 2 ? at
							: at + (n & 8 ? by : -by);
				real[n] = (float)wide[n];
			}
			assert_int_equal(k.fn(args, NULL), 0);
			for (uint32_t n = 0; n < N; n++) {
				double x = is_wide ? wide[n] : (double)real[n];
				double low = to[i].low, high = to[i].high;

				if (clamps) {
					x = x > -7 ? x : -7;
					x = x < 100 ? x : 100;
				}
				double want = isnan(x)	  ? 0
					      : x <= low  ? low
					      : x >= high ? high
							  : trunc(x);

				if (run_element(out, to[i].t, n) != want) {
					fail_msg("%s of %a: %g, not %g", hn_dtype_name(to[i].t), x,
						 run_element(out, to[i].t, n), want);
				}
			}
			run_unload(&k);
		}
	}
}

/* In whatever mode the caller is: boards ask upwards what rounding comes to. */
static void nearbyint_is_to_even(void **state)
{
	struct fixture *f = *state;
	float in[8] = { 0.5f, 1.5f, 2.5f, 2.3f, -0.5f, -1.5f, -2.5f, -2.3f }, got[8];
	static const float want[8] = { 0, 2, 2, 2, 0, -2, -2, -2 };
	void *arg[] = { in, got };
	struct run_kernel k;
	struct hn_err err = { 0 };

	if (f->host.param[HN_PARAM_VECTOR_UNIT_BYTES] <= 16) {
		print_message("without SSE4.1 nearbyint is libm's, which heeds the mode\n");
		skip();
	}
	if (run_build(f->em, dag_open("f(float32 A[8]) -> C { C(i) = nearbyint(A(i)) }", &f->arena),
		      NULL, true, &f->arena, &k, &err)) {
		fail_msg("%s", err.msg);
	}
	for (int mode = 0; mode < 2; mode++) {
		fesetround(mode == 0 ? FE_TONEAREST : FE_UPWARD);
		int32_t rc = k.fn(arg, NULL);

		fesetround(FE_TONEAREST);
		assert_int_equal(rc, 0);
		for (int i = 0; i < 8; i++) {
			assert_true(got[i] == want[i]);
		}
	}
	run_unload(&k);
}

#ifdef LOWER_FORMS_X86
static int setup_if(void **state, const char *line, bool has)
{
	if (has) {
		return setup_on(state, line);
	}
	*state = NULL;
	return 0;
}

static int setup_avx2(void **state)
{
	return setup_if(state, "cpu -isa=x86-64-avx2 -vector_unit_bytes=32",
			__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static int setup_baseline(void **state)
{
	return setup_on(state, "cpu -isa=x86-64-baseline -vector_unit_bytes=16");
}

static int end_if(void **state)
{
	return *state != NULL ? teardown(state) : 0;
}

static void run_if(void **state, void (*test)(void **state))
{
	if (*state == NULL) {
		print_message("this processor has no AVX2\n");
		skip();
	}
	test(state);
}

static void histories_if(void **state)
{
	run_if(state, histories);
}

static void casts_saturate_if(void **state)
{
	run_if(state, casts_saturate);
}

static void every_conversion_if(void **state)
{
	run_if(state, every_conversion);
}

static void every_end_if(void **state)
{
	run_if(state, every_end);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(histories, setup, teardown),
		cmocka_unit_test_setup_teardown(every_conversion, setup, teardown),
		cmocka_unit_test_setup_teardown(every_end, setup, teardown),
		cmocka_unit_test_setup_teardown(casts_saturate, setup, teardown),
		cmocka_unit_test_setup_teardown(nearbyint_is_to_even, setup, teardown),
#ifdef LOWER_FORMS_X86
		cmocka_unit_test_setup_teardown(histories_if, setup_avx2, end_if),
		cmocka_unit_test_setup_teardown(every_conversion_if, setup_avx2, end_if),
		cmocka_unit_test_setup_teardown(every_end_if, setup_avx2, end_if),
		cmocka_unit_test_setup_teardown(every_end, setup_baseline, teardown),
		cmocka_unit_test_setup_teardown(casts_saturate_if, setup_avx2, end_if),
		cmocka_unit_test_setup_teardown(casts_saturate, setup_baseline, teardown),
		cmocka_unit_test_setup_teardown(histories, setup_baseline, teardown),
		cmocka_unit_test_setup_teardown(every_conversion, setup_baseline,
						teardown),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
