/* Targets as text: the canonical line, its parser's refusals, and what runs where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "target/target.h"

static struct hn_target parse(struct hn_arena *a, const char *text)
{
	struct hn_target t;
	struct hn_err err = {0};

	if (hn_target_parse(text, a, &t, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return t;
}

static void a_line_reads_back(void **state)
{
	static const char *const lines[] = {
		"native",
		"cpu",
		"cpu -isa=x86-64-avx2 -num_cores=7",
		"cpu -isa=x86-64-avx512 -l1_bytes=1",
		"cpu -isa=x86-64-baseline",
		"cpu -isa=aarch64-neon",
		"cpu -isa=generic",
		"cuda",
		"  cuda\t-isa=sm_90   -warp_size=64 ",
	};
	struct hn_arena a;
	struct hn_buf once, twice;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&once);
	hn_buf_init(&twice);
	for (size_t i = 0; i < HN_COUNT_OF(lines); i++) {
		struct hn_target t = parse(&a, lines[i]);
		hn_buf_reset(&once);
		hn_target_print(&t, &once);
		struct hn_target u = parse(&a, once.s);
		hn_buf_reset(&twice);
		hn_target_print(&u, &twice);
		assert_string_equal(once.s, twice.s);
		assert_int_equal(t.caps, u.caps);
		assert_memory_equal(t.param, u.param, sizeof t.param);
	}
	hn_buf_fini(&once);
	hn_buf_fini(&twice);
	hn_arena_fini(&a);
}

static void every_parameter_has_its_name(void **state)
{
	static const char *const upper[] = {
#define PARAM(name, unit, fallback, least, greatest, text) #name,
#include "target/params.def"
#undef PARAM
	};

	(void)state;
	for (int p = 0; p < HN_N_PARAM; p++) {
		assert_int_equal(strcasecmp(upper[p], hn_param_name(p)), 0);
	}
}

static void refusals_name_the_word(void **state)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{"", "empty"},
		{"tpu", "tpu"},
		{"cpu -isa=sm_90", "sm_90"},
		{"cpu -isa=z80", "z80"},
		{"native -num_cores=x", "-num_cores=x"},
		{"native -num_cores=", "-num_cores="},
		{"native -num_cores=4 5", "'5'"},
		{"native -num_cores=0", "-num_cores=0"},
		{"native -num_cores=-1", "-num_cores=-1"},
		{"native -num_cores=99999999999999999999", "99999"},
		{"native -vector_unit_bytes=24", "power of two"},
		{"native -l1_bytes=-1", "-l1_bytes=-1"},
		{"native -colour=red", "-colour=red"},
		{"native cpu", "'cpu'"},
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct hn_target t;
		struct hn_err err = {0};
		assert_int_equal(hn_target_parse(bad[i].text, &a, &t, &err),
				 -HONE_E_INVALID);
		if (!strstr(err.msg, bad[i].word)) {
			fail_msg("'%s': %s", bad[i].text, err.msg);
		}
	}
	hn_arena_fini(&a);
}

static void the_host_is_sane(void **state)
{
	struct hn_arena a;
	struct hn_target t;

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &t);
	assert_string_equal(t.kind, "cpu");
	assert_true(t.param[HN_PARAM_NUM_CORES] >= 1);
	assert_true(t.param[HN_PARAM_L1_BYTES] >= 4096);
	assert_true(t.param[HN_PARAM_L2_BYTES] >= t.param[HN_PARAM_L1_BYTES]);
	assert_true(hn_target_runs_on(&t, &t));
	hn_arena_fini(&a);
}

static void keep(const char *home, const char *text)
{
	char path[200];

	snprintf(path, sizeof path, "%s/" HN_TARGET_MACHINE, home);
	assert_int_equal(hn_file_replace(path, text, strlen(text), NULL), 0);
}

/* A word of the line, then what was measured, then what the machine says. */
static void what_was_measured_comes_second(void **state)
{
	char home[] = "/tmp/hone-target-XXXXXX", text[300];
	struct hn_target host, t;
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_non_null(mkdtemp(home));
	hn_target_host(&a, &host);
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), 0);
	assert_memory_equal(t.param, host.param, sizeof t.param);
	snprintf(text, sizeof text, "# a word\n# more\ncpu -isa=%s -l3_bytes=4321\n", host.isa);
	keep(home, text);
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), 0);
	assert_int_equal(t.param[HN_PARAM_L3_BYTES], 4321);
	assert_int_equal(t.param[HN_PARAM_L1_BYTES], host.param[HN_PARAM_L1_BYTES]);
	assert_int_equal(hn_target_parse_at(home, "native -l3_bytes=99", &a, &t, &err), 0);
	assert_int_equal(t.param[HN_PARAM_L3_BYTES], 99);
	/* of another machine */
	assert_int_equal(hn_target_parse_at(home, "cuda", &a, &t, &err), 0);
	assert_true(t.param[HN_PARAM_L3_BYTES] != 4321);
	keep(home, strcmp(host.isa, "aarch64-neon") == 0 ? "cpu -isa=generic -l3_bytes=4321\n"
							 : "cpu -isa=aarch64-neon -l3_bytes=4321\n");
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), 0);
	assert_memory_equal(t.param, host.param, sizeof t.param);
	keep(home, "# only this");
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), -HONE_E_CORRUPT);
	keep(home, "cpu -l3_bytes=many");
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), -HONE_E_CORRUPT);
	assert_non_null(strstr(err.msg, HN_TARGET_MACHINE));
	snprintf(text, sizeof text, "%s/" HN_TARGET_MACHINE, home);
	unlink(text);
	/* nobody writes into this pipe */
	assert_int_equal(mkfifo(text, 0600), 0);
	alarm(20);
	assert_int_equal(hn_target_parse_at(home, "native", &a, &t, &err), -HONE_E_CORRUPT);
	alarm(0);
	unlink(text);
	rmdir(home);
	hn_arena_fini(&a);
}

static void higher_levels_run_lower_ones(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target base = parse(&a, "cpu -isa=x86-64-baseline");
	struct hn_target avx2 = parse(&a, "cpu -isa=x86-64-avx2");
	struct hn_target avx512 = parse(&a, "cpu -isa=x86-64-avx512");
	struct hn_target neon = parse(&a, "cpu -isa=aarch64-neon");
	struct hn_target gpu = parse(&a, "cuda");
	assert_true(hn_target_runs_on(&base, &avx512));
	assert_true(hn_target_runs_on(&avx2, &avx512));
	assert_true(hn_target_runs_on(&avx2, &avx2));
	assert_false(hn_target_runs_on(&avx512, &avx2));
	assert_false(hn_target_runs_on(&neon, &avx2));
	assert_false(hn_target_runs_on(&avx2, &neon));
	assert_false(hn_target_runs_on(&gpu, &avx2));
	hn_arena_fini(&a);
}

static void cuda_has_the_numbers_of_the_cases(void **state)
{
	static const int64_t want[] = {-1, 16, 64, 49152, 2147483647, 1024, 8, 32};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target t = parse(&a, "cuda");
	assert_memory_equal(t.param, want, sizeof want);
	assert_true(t.caps & HN_CAP_GPU_THREADS);
	assert_false(t.caps & HN_CAP_THREADS);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_reads_back),
		cmocka_unit_test(every_parameter_has_its_name),
		cmocka_unit_test(refusals_name_the_word),
		cmocka_unit_test(the_host_is_sane),
		cmocka_unit_test(what_was_measured_comes_second),
		cmocka_unit_test(higher_levels_run_lower_ones),
		cmocka_unit_test(cuda_has_the_numbers_of_the_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
