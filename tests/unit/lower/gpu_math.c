/* Functions in PTX against libm in double: it runs on a machine for PTX
 * (tests/ptx/ptx.h).  Arguments are of all sizes, with the special ones among them; a result that
 * is a NaN, infinite or zero has to be so, with its sign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "tests/lib/lower_run.h"
#include "tests/ptx/ptx.h"

#define N 16384

static double sigmoid_of(double x)
{
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double rsqrt_of(double x)
{
	return 1 / sqrt(x);
}

/* Functions of one argument, and the most units in the last place. */
static const struct row {
	const char *name, *type;
	double (*ref)(double);
	double ulp;
} rows[] = {
	{ "exp", "float32", exp, 1 },	  { "log", "float32", log, 1 },
	{ "tanh", "float32", tanh, 3 },	  { "erf", "float32", erf, 1.5 },
	{ "sin", "float32", sin, 0.51 },  { "cos", "float32", cos, 0.51 },
	{ "tan", "float32", tan, 0.51 },  { "sinh", "float32", sinh, 0.51 },
	{ "cosh", "float32", cosh, 0.51 }, { "exp", "float64", exp, 2 },
	{ "exp2", "float64", exp2, 2 },	  { "log", "float64", log, 2 },
	{ "log2", "float64", log2, 3 },	  { "log10", "float64", log10, 3 },
	{ "rsqrt", "float64", rsqrt_of, 1.5 }, { "sigmoid", "float64", sigmoid_of, 3 },
};

static const double special[] = { 0,	   1,	  -1,	 2,	   0.5,	    3,	   1e-30, 1e-40,
				  1e38,	   0x1p30, 0x1p31, 16367173.0, 88.8, -103.5, 709.9, -745.2,
				  INFINITY, 1e-310, 7,	 10,	   0x1p24,  0x1p25, 1.5,  NAN };

/* Bit patterns at random, and numbers of usual size. */
static double draw(struct hn_rng *rng, bool wide, uint64_t i)
{
	if (i < 2 * HN_COUNT_OF(special)) {
		return i % 2 ? -special[i / 2] : special[i / 2];
	}
	if (i % 2 == 0) {
		return (hn_rng_unit(rng) - 0.5) * (i % 8 == 0 ? 1000 : 8);
	}
	union {
		uint64_t i;
		double d;
	} u = { hn_rng_u64(rng) };
	union {
		uint32_t i;
		float f;
	} v = { (uint32_t)u.i };

	return wide ? u.d : (double)v.f;
}

static double spacing(double want, bool wide)
{
	int e;

	(void)frexp(want, &e);
	return ldexp(1, wide ? (e < -1021 ? -1021 : e) - 53 : (e < -125 ? -125 : e) - 24);
}

/* In units in the last place; infinite where a special result is another. */
static double distance(double got, double want, bool wide)
{
	double most = wide ? 0 : 0x1p128 - 0x1p103; /* half way to what would be past the largest */

	if (!wide && fabs(want) >= most) {
		want = copysign(INFINITY, want);
	}
	if (isnan(want) || isnan(got)) {
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	}
	if (isinf(want) || isinf(got)) {
		return got == want ? 0 : INFINITY;
	}
	if (want == 0) {
		return got == 0 && signbit(got) == signbit(want) ? 0 : INFINITY;
	}
	return fabs(got - want) / spacing(want, wide);
}

static void run_text(const char *text, void *const *arg)
{
	struct hn_gpu_options how = { .contracts = true };
	struct ptx_counts ran = { 0 };
	const struct hn_device *d;
	struct hn_target target;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_target_parse("cuda -isa=sm_80", &a, &target, &err) != 0 ||
	    hn_device_parse("t", text, strlen(text), &a, &d, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_PTX, &target, &how, &a, &m, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	if (ptx_run_module(&m, arg, 7, 0, &ran, &err) != 0) {
		fail_msg("%s\n%s", err.msg, (const char *)m.code);
	}
	hn_arena_fini(&a);
}

static double get(const void *array, bool wide, uint64_t i)
{
	return wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void put(void *array, bool wide, uint64_t i, double v)
{
	if (wide) {
		((double *)array)[i] = v;
	} else {
		((float *)array)[i] = (float)v;
	}
}

static void functions_of_one(void **state)
{
	static double x[N], y[N];

	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(rows); k++) {
		bool wide = strcmp(rows[k].type, "float64") == 0;
		struct hn_rng rng = hn_rng_stream(1, k, 2, 3);
		double worst = 0;
		char text[400];

		for (uint64_t i = 0; i < N; i++) {
			put(x, wide, i, draw(&rng, wide, i));
		}
		snprintf(text, sizeof(text),
			 "device/1\nglobal A %s[%d] arg 0\nglobal B %s[%d] arg 1\n"
			 "kernel k0 grid %d 1 1 block 64 1 1 {\n  B[((block.x * 64) + thread.x)] = "
			 "%s(A[((block.x * 64) + thread.x)])\n}\n",
			 rows[k].type, N, rows[k].type, N, N / 64, rows[k].name);
		run_text(text, (void *const[]){ x, y });
		for (uint64_t i = 0; i < N; i++) {
			double u = get(x, wide, i), v = get(y, wide, i);
			double far = distance(v, rows[k].ref(u), wide);

			worst = far > worst ? far : worst;
			if (!(far <= rows[k].ulp)) {
				fail_msg("%s of %s at %a: %a, not %a (%g ulp)", rows[k].name,
					 rows[k].type, u, v, rows[k].ref(u), far);
			}
		}
		print_message("%s of %s: %.2f ulp\n", rows[k].name, rows[k].type, worst);
	}
}

/* Of two, every special one with every other, then others. */
static void functions_of_two(void **state)
{
	static const struct {
		const char *name;
		double (*ref)(double, double);
		double ulp;
	} two[] = { { "pow", pow, 0.51 }, { "fmod", fmod, 0 } };
	static float x[N], y[N], z[N];
	uint64_t n = 2 * HN_COUNT_OF(special);

	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(two); k++) {
		struct hn_rng rng = hn_rng_stream(3, 1, 4, 1);
		double worst = 0;
		char text[400];

		for (uint64_t i = 0; i < N; i++) {
			x[i] = (float)draw(&rng, false, i < n * n ? i / n : i);
			y[i] = (float)draw(&rng, false, i < n * n ? i % n : i);
			y[i] = i >= n * n && i % 3 == 0 ? truncf(y[i]) : y[i];
		}
		snprintf(text, sizeof(text),
			 "device/1\nglobal A float32[%d] arg 0\nglobal B float32[%d] arg 1\n"
			 "global C float32[%d] arg 2\nkernel k0 grid %d 1 1 block 64 1 1 {\n"
			 "  C[((block.x * 64) + thread.x)] = %s(A[((block.x * 64) + thread.x)], "
			 "B[((block.x * 64) + thread.x)])\n}\n",
			 N, N, N, N / 64, two[k].name);
		run_text(text, (void *const[]){ x, y, z });
		for (uint64_t i = 0; i < N; i++) {
			double want = two[k].ref((double)x[i], (double)y[i]);
			double far = distance((double)z[i],
					      fabs(want) < 0x1p-150 ? copysign(0, want) : want, false);

			worst = far > worst ? far : worst;
			if (!(far <= two[k].ulp)) {
				fail_msg("%s(%a, %a): %a, not %a (%g ulp)", two[k].name, (double)x[i],
					 (double)y[i], (double)z[i], want, far);
			}
		}
		print_message("%s of float32: %.2f ulp\n", two[k].name, worst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one),
		cmocka_unit_test(functions_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
