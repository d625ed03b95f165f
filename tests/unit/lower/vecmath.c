/* Vector functions against libm in double: the error each row of vecmath.def states, the
 * specials, and the same bits whatever the width.
 *
 * The inputs are all float32 bit patterns that are multiples of a stride, and every pattern near
 * the places where something changes.  Arguments: the stride (1 = all 2^32), and a function when
 * only that one is wanted. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/file.h"
#include "loopstate/read/dag_read.h"
#include "tests/lib/lower_run.h"

#define N_BLOCK 4109 /* a tail in every width */
#define N_THREAD 2

static uint64_t stride = 65537;
static const char *only;

static double rsqrt_ref(double x)
{
	return 1 / sqrt(x);
}

static double sigmoid_ref(double x)
{
	return 1 / (1 + exp(-x));
}

#define sigmoid sigmoid_ref
#define rsqrt rsqrt_ref
static const struct row {
	const char *name;
	double max_ulp;
	double (*ref)(double);
} rows[] = {
#define VECMATH(name, ulp, how) { #name, ulp, name },
#include "target/cpu/vecmath.def"
#undef VECMATH
};
#undef sigmoid
#undef rsqrt

#define N_ROW HN_COUNT_OF(rows)

/* Around these (and their negatives) results overflow, become subnormal or saturate, or code
 * changes its way. */
static const float places[] = {
	0.0F,	  0x1p-149F,  0x1p-126F, 0x1p-24F,  0x1p-12F,  0.3465736F, 0.5F,
	2.0F / 3, 0.70710677F, 1.0F,	 4.0F / 3, 1.4142135F, 2.0F,	   3.919F,
	3.93F,	  8.66434F,   9.0109F,	 9.25F,	    17.33F,    38.0F,	   64.0F,
	87.3365F, 88.72284F,  89.0F,	 103.27893F, 103.97208F, 104.0F,    126.0F,
	127.0F,	  128.0F,     129.0F,	 148.0F,    149.0F,    150.0F,	   151.0F,
	0x1p23F,  0x1p24F,    0x1p64F,	 0x1p127F,  INFINITY,
};

#define NEAR 300 /* patterns on each side */

struct worst {
	double ulp;
	float at;
	uint64_t n_wrong; /* zero's sign, infinity, NaN */
	float wrong, wrong_got;
};

static float from_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, 4);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

/* Distance from the true value in its binade's ulps; -1 when no distance is allowed. What
 * overflows counts as 2^128. */
static double distance(float got, double want)
{
	double top = 0x1p128;
	int exponent;

	if (isnan(want) || isnan(got)) {
		return isnan(want) && isnan(got) ? 0 : -1;
	}
	if (!signbit(want) != !signbit(got)) {
		return -1;
	}
	if (isinf(want) || want == 0) {
		return (double)got == want ? 0 : -1;
	}
	double w = fabs(want) < top ? fabs(want) : top;
	double g = isinf(got) ? top : fabs((double)got);

	frexp(w, &exponent);
	exponent = exponent < -125 ? -125 : exponent > 128 ? 128 : exponent;
	return ldexp(fabs(g - w), 24 - exponent);
}

static void note(struct worst *w, const struct row *row, float x, float got)
{
	double d = distance(got, row->ref((double)x));

	if (d < 0 && w->n_wrong++ == 0) {
		w->wrong = x;
		w->wrong_got = got;
	}
	if (d > w->ulp) {
		w->ulp = d;
		w->at = x;
	}
}

static const struct hn_dag *dag_of(const char *fn, const char *type, uint32_t n,
				   struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_err err;
	char text[128];

	snprintf(text, sizeof(text), "f(%s x[%u]) -> y { y(i) = %s(x(i)) }", type, n, fn);
	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err)) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* The kernel of one function for one width of vectors. */
static void build(const char *fn, const char *type, int64_t bytes, bool scalar,
		  struct hn_arena *a, struct run_kernel *ret)
{
	struct hn_target target;
	struct hn_emitter *em;
	struct hn_err err;

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_target_host(a, &target);
	if (bytes) {
		target.param[HN_PARAM_VECTOR_UNIT_BYTES] = bytes;
	}
	if (hn_emitter_new(&target, &em, &err) ||
	    run_build(em, dag_of(fn, type, N_BLOCK, a), NULL, scalar, a, ret, &err)) {
		fail_msg("%s: %s", fn, err.msg);
	}
	hn_emitter_free(em);
}

static void call(const struct run_kernel *k, float *x, float *y)
{
	void *args[2] = { x, y };

	assert_int_equal(k->fn(args, NULL), 0);
}

struct share {
	const struct run_kernel *k;
	const struct row *row;
	uint64_t first, step; /* in patterns */
	struct worst worst;
	pthread_t thread;
};

static void *sweep(void *ctx)
{
	struct share *s = ctx;
	float x[N_BLOCK], y[N_BLOCK];

	for (uint64_t at = s->first; at < UINT64_C(1) << 32; at += s->step * N_BLOCK) {
		for (uint32_t i = 0; i < N_BLOCK; i++) {
			x[i] = from_bits((uint32_t)(at + s->step * i));
		}
		call(s->k, x, y);
		for (uint32_t i = 0; i < N_BLOCK; i++) {
			note(&s->worst, s->row, x[i], y[i]);
		}
	}
	return NULL;
}

static void merge(struct worst *w, const struct worst *part)
{
	if (part->ulp > w->ulp) {
		w->ulp = part->ulp;
		w->at = part->at;
	}
	if (part->n_wrong) {
		w->n_wrong += part->n_wrong;
		w->wrong = part->wrong;
		w->wrong_got = part->wrong_got;
	}
}

static void check_worst(const struct row *row, const struct worst *w)
{
	if (w->n_wrong) {
		fail_msg("%s(%a) = %a: wrong (%llu of the kind)", row->name,
			 (double)w->wrong, (double)w->wrong_got,
			 (unsigned long long)w->n_wrong);
	}
	if (w->ulp > row->max_ulp) {
		fail_msg("%s(%a): %.4f ulp, stated %.2f", row->name, (double)w->at,
			 w->ulp, row->max_ulp);
	}
}

static void sweep_all(const struct row *row)
{
	struct hn_arena a;
	struct run_kernel k;
	struct share s[N_THREAD] = { 0 };
	struct worst w = { 0 };

	hn_arena_init(&a, 0);
	build(row->name, "float32", 0, false, &a, &k);
	for (uint32_t i = 0; i < N_THREAD; i++) {
		s[i].k = &k;
		s[i].row = row;
		s[i].first = i * stride;
		s[i].step = N_THREAD * stride;
		assert_int_equal(pthread_create(&s[i].thread, NULL, sweep, &s[i]), 0);
	}
	for (uint32_t i = 0; i < N_THREAD; i++) {
		pthread_join(s[i].thread, NULL);
		merge(&w, &s[i].worst);
	}
	print_message("%-8s %.4f ulp at %a\n", row->name, w.ulp, (double)w.at);
	check_worst(row, &w);
	run_unload(&k);
	hn_arena_fini(&a);
}

static void test_stated_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROW; i++) {
		if (!only || strcmp(only, rows[i].name) == 0) {
			sweep_all(&rows[i]);
		}
	}
}

/* Patterns near places[], and NaNs. */
static uint32_t near_places(float *x)
{
	static const uint32_t nans[] = { 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff,
					 0x7fffffff };
	uint32_t n = 0;

	for (size_t p = 0; p < HN_COUNT_OF(places); p++) {
		uint32_t at = bits_of(places[p]);

		for (int32_t d = -NEAR; d <= NEAR; d++) {
			uint32_t u = at + (uint32_t)d;

			u = u > 0x7f800000u ? 0 : u;
			x[n++] = from_bits(u);
			x[n++] = from_bits(u | 0x80000000u);
		}
	}
	for (size_t p = 0; p < HN_COUNT_OF(nans); p++) {
		x[n++] = from_bits(nans[p]);
	}
	while (n % N_BLOCK) {
		x[n++] = 1;
	}
	return n;
}

#define MAX_NEAR (HN_COUNT_OF(places) * (2 * NEAR + 1) * 2 + 2 * N_BLOCK)

static bool same(float x, float y)
{
	return bits_of(x) == bits_of(y) || (isnan(x) && isnan(y));
}

static void check_widths(const struct row *row, float *x, uint32_t n)
{
	static const int64_t bytes[] = { 64, 32, 16, 8, 4 };
	static float first[MAX_NEAR], y[N_BLOCK];
	struct worst w = { 0 };
	struct hn_target host;
	struct hn_arena a;
	struct run_kernel k;
	bool seen = false;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	for (size_t b = 0; b < HN_COUNT_OF(bytes); b++) {
		if (bytes[b] > host.param[HN_PARAM_VECTOR_UNIT_BYTES]) {
			continue; /* no register of this machine */
		}
		build(row->name, "float32", bytes[b], false, &a, &k);
		for (uint32_t at = 0; at < n; at += N_BLOCK) {
			call(&k, x + at, y);
			for (uint32_t i = 0; i < N_BLOCK; i++) {
				if (!seen) {
					first[at + i] = y[i];
					note(&w, row, x[at + i], y[i]);
				} else if (!same(first[at + i], y[i])) {
					fail_msg("%s(%a): %a in the widest vectors, %a of %d bytes",
						 row->name, (double)x[at + i],
						 (double)first[at + i], (double)y[i],
						 (int)bytes[b]);
				}
			}
		}
		run_unload(&k);
		seen = true;
	}
	check_worst(row, &w);
	hn_arena_fini(&a);
}

static void test_thresholds_in_every_width(void **state)
{
	static float x[MAX_NEAR];
	uint32_t n = near_places(x);

	(void)state;
	for (size_t i = 0; i < N_ROW; i++) {
		check_widths(&rows[i], x, n);
	}
}

static bool calls_libm(const struct run_kernel *k, const char *fn)
{
	const char *p = k->artefact.object;
	size_t n = strlen(fn);

	for (size_t i = 0; i + n < k->artefact.object_bytes; i++) {
		if (memcmp(p + i, fn, n) == 0) {
			return true;
		}
	}
	return false;
}

/* The naive program is what others are compared with: it keeps libm, as float64 does. */
static void test_naive_keeps_libm(void **state)
{
	struct hn_arena a;
	struct run_kernel k;

	(void)state;
	hn_arena_init(&a, 0);
	build("erf", "float32", 0, true, &a, &k);
	assert_true(calls_libm(&k, "erff"));
	run_unload(&k);
	build("erf", "float64", 0, false, &a, &k);
	assert_true(calls_libm(&k, "erf"));
	run_unload(&k);
	build("erf", "float32", 0, false, &a, &k);
	assert_false(calls_libm(&k, "erf"));
	run_unload(&k);
	hn_arena_fini(&a);
}

/* docs/math.md has a row `| name | stated | ...` for each function. */
static void test_documented(void **state)
{
	struct hn_buf text;
	struct hn_err err;
	char row[64];

	(void)state;
	hn_buf_init(&text);
	assert_int_equal(
		hn_file_read(HONE_SOURCE_DIR "/docs/math.md", 1 << 20, &text, &err), 0);
	for (size_t i = 0; i < N_ROW; i++) {
		snprintf(row, sizeof(row), "\n| %s | %.1f | ", rows[i].name,
			 rows[i].max_ulp);
		if (!strstr(text.s, row)) {
			fail_msg("docs/math.md lacks the row '%s'", row + 1);
		}
	}
	hn_buf_fini(&text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thresholds_in_every_width),
		cmocka_unit_test(test_stated_error),
		cmocka_unit_test(test_naive_keeps_libm),
		cmocka_unit_test(test_documented),
	};

	if (argc > 1) {
		stride = strtoull(argv[1], NULL, 10);
		stride = stride ? stride : 1;
		only = argc > 2 ? argv[2] : NULL;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
