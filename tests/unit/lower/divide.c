/* Lanes divided by one value: a product with its reciprocal, right for every kind of
 * number. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <float.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/lower_run.h"

#define N 64
#define M 40

static const double special[] = {
	0.0,	   -0.0,      INFINITY, -INFINITY,  NAN,	1.0,	  3.0,
	-7.0,	   0x1p-149,  0x1p-140, 0x1p-127,   0x1.8p-126, 0x1p-126, 0x1p126,
	0x1.1p126, 0x1p127,   FLT_MAX,	-FLT_MAX,   1e-30,	1e30,	  0x1p-1074,
	0x1p-1050, 0x1p-1022, 0x1p1022, 0x1.1p1022, 0x1p1023,	DBL_MAX,
};

static double number(uint32_t i, struct hn_rng *r)
{
	return i < HN_COUNT_OF(special)
		       ? special[i]
		       : ldexp(hn_rng_unit(r) + 0.5, (int)hn_rng_below(r, 250) - 125);
}

/* Units in the last place between x and the quotient that was rounded once. */
static double apart(double got, double want, double tiny, double epsilon)
{
	if ((isnan(got) && isnan(want)) || got == want) {
		return 0;
	}
	if (!isfinite(got) || !isfinite(want)) {
		/* a quotient next to the largest number may round to infinity */
		double top = epsilon == FLT_EPSILON ? FLT_MAX : DBL_MAX;

		return fabs(isfinite(got) ? got : want) >= top * (1 - 2 * epsilon)
			       ? 0
			       : INFINITY;
	}
	double unit = fabs(want) * epsilon / 2;

	return fabs(got - want) / (unit < tiny ? tiny : unit);
}

static void quotients(bool is_double)
{
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_arena a;
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct hn_rng r = hn_rng_stream(7, 1, 2, 3);
	const struct hn_dag *dag;
	const char *text =
		is_double ? "f(float64 x[64], d[40]) -> y { y(i,j) = x(j) / d(i) }"
			  : "f(float32 x[64], d[40]) -> y { y(i,j) = x(j) / d(i) }";
	double tiny = is_double ? 0x1p-1074 : 0x1p-149, worst = 0;
	double *xd = malloc(N * 8), *dd = malloc(M * 8), *yd = malloc(N * M * 8);
	float *xf = malloc(N * 4), *df = malloc(M * 4), *yf = malloc(N * M * 4);
	void *args[3] = { is_double ? (void *)xd : xf, is_double ? (void *)dd : df,
			  is_double ? (void *)yd : yf };

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	assert_int_equal(hn_dag_parse("t", text, strlen(text), 0, &a, &dag, &err), 0);
	assert_int_equal(run_build(em, dag, NULL, false, &a, &k, &err), 0);
	for (uint32_t i = 0; i < N; i++) {
		xd[i] = number(i, &r);
		xf[i] = (float)xd[i];
	}
	for (uint32_t i = 0; i < M; i++) {
		dd[i] = number(i, &r);
		df[i] = (float)dd[i];
	}
	assert_int_equal(k.fn(args, NULL), 0);
	for (uint32_t i = 0; i < M; i++) {
		for (uint32_t j = 0; j < N; j++) {
			double got = is_double ? yd[i * N + j] : yf[i * N + j];
			double want = is_double ? xd[j] / dd[i] : xf[j] / df[i];
			double off = apart(got, want, tiny,
					   is_double ? DBL_EPSILON : FLT_EPSILON);

			if (off > 3) { /* halves of the unit at the number below */
				fail_msg("%a / %a: %a, not %a", xd[j], dd[i], got, want);
			}
			worst = off > worst ? off : worst;
		}
	}
	print_message("largest error %g halves of a unit\n", worst);
	run_unload(&k);
	hn_emitter_free(em);
	hn_arena_fini(&a);
	free(xd), free(dd), free(yd), free(xf), free(df), free(yf);
}

static void singles(void **state)
{
	(void)state;
	quotients(false);
}

static void doubles(void **state)
{
	(void)state;
	quotients(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(singles),
					    cmocka_unit_test(doubles) };

	return cmocka_run_group_tests_name("lower divide", tests, NULL, NULL);
}
