/* PolyBench's kernels: each computation is parsed in the extents of the set LARGE, and with
 * the short ones of sizes.def the interpreter, hone's automatic schedule and the plain loop
 * nests that it is compared with have the same numbers. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "bench/polybench/nest.h"
#include "loopstate/read/dag_read.h"
#include "search/auto.h"
#include "tests/lib/lower_run.h"

#define TOLERANCE 2e-6 /* sums of 37 float32 in two orders */

static const struct {
	const char *file;
	void (*nest)(float *const *arg);
} kernels[] = {
#define KERNEL(name, file) { file, polybench_##name },
#include "bench/polybench/kernels.def"
#undef KERNEL
};

static const struct {
	int64_t large, small;
} sizes[] = {
#define SIZE(large, small) { large, small },
#include "bench/polybench/sizes.def"
#undef SIZE
};

/* The number at *text, and *text behind it; a short extent for a large one. */
static int64_t take_number(const char **text)
{
	char *end;
	int64_t n = strtoll(*text, &end, 10);

	*text = end;
	for (size_t i = 0; i < HN_COUNT_OF(sizes); i++) {
		if (sizes[i].large == n) {
			return sizes[i].small;
		}
	}
	return n;
}

static void shorten(const char *text, struct hn_buf *ret)
{
	char before = ' ';

	while (*text) {
		if (isdigit((unsigned char)*text) && strchr(" [,", before)) {
			hn_buf_printf(ret, "%lld", (long long)take_number(&text));
			before = '0';
		} else {
			before = *text;
			hn_buf_printf(ret, "%c", *text++);
		}
	}
}

static const struct hn_dag *parse(const char *file, bool small, struct hn_arena *a)
{
	struct hn_buf text, shorter;
	struct hn_err err = { 0 };
	const struct hn_dag *dag;
	char path[600];

	hn_buf_init(&text);
	hn_buf_init(&shorter);
	snprintf(path, sizeof(path), HONE_SOURCE_DIR "/examples/polybench/%s.dag", file);
	assert_int_equal(hn_file_read(path, 1 << 20, &text, &err), 0);
	shorten(text.s, &shorter);
	if (hn_dag_parse(path, small ? shorter.s : text.s, small ? shorter.n : text.n, 0,
			 a, &dag, &err) != 0) {
		fail_msg("%s\n%s", err.msg, shorter.s);
	}
	hn_buf_fini(&text);
	hn_buf_fini(&shorter);
	return dag;
}

static void expect_same(const char *file, const char *who, const struct run_args *want,
			struct run_args *got)
{
	double d = run_difference(want, got);

	if (!(d <= TOLERANCE) || !run_redzones_hold(got)) {
		fail_msg("%s: %s differs from the interpreter by %g, or writes beyond",
			 file, who, d);
	}
	run_args_free(got);
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		struct hn_arena a;

		hn_arena_init(&a, 0);
		const struct hn_dag *large = parse(kernels[i].file, false, &a);
		const struct hn_dag *small = parse(kernels[i].file, true, &a);

		assert_true(hn_dag_arg_bytes(large) > 256 * hn_dag_arg_bytes(small));
		for (uint32_t k = 0; k < large->n_arg; k++) {
			assert_int_equal(large->op[large->arg[k]]->dtype[0], HN_F32);
		}
		hn_arena_fini(&a);
	}
}

static void test_numbers(void **state)
{
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(kernels); i++) {
		const char *file = kernels[i].file;
		const struct hn_dag *dag = parse(file, true, &a);
		const struct hn_trace *trace[HN_AUTO_MAX];
		struct run_args want, got;
		struct run_kernel k;

		run_args_make(dag, 7, &want);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		run_args_make(dag, 7, &got);
		kernels[i].nest((float *const *)got.at);
		expect_same(file, "the loop nest", &want, &got);

		assert_true(hn_auto(dag, &host, &a, trace) > 0);
		run_args_make(dag, 7, &got);
		assert_int_equal(run_build(em, dag, trace[0], false, &a, &k, &err),
				 0);
		assert_int_equal(k.fn(got.at, NULL), 0);
		expect_same(file, "hone's schedule", &want, &got);
		run_unload(&k);
		run_args_free(&want);
	}
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers),
	};

	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	return cmocka_run_group_tests_name("polybench", tests, NULL, NULL);
}
