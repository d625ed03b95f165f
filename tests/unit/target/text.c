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
		"cpu -mattr=",
		"cpu -isa=x86-64-avx512 -mattr=+avx512bf16,+avx512vnni",
		"cpu -mattr=+amx-int8 -isa=x86-64-avx512",
		"cpu -isa=x86-64-avx2 -mattr=+avxvnni",
		"cpu -isa=aarch64-neon -mattr=+dotprod,+i8mm,+bf16,+fullfp16",
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
		assert_int_equal(t.features, u.features);
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
		{"cpu -isa=x86-64-avx512 -mattr=+sse9", "unknown feature '+sse9': isa x86-64-avx512 has "
							"+avx512vnni,+avxvnni,"},
		{"cpu -isa=x86-64-avx512 -mattr=avx512vnni", "unknown feature 'avx512vnni'"},
		{"cpu -isa=x86-64-avx512 -mattr=-avx512vnni", "unknown feature '-avx512vnni'"},
		{"cpu -isa=x86-64-avx512 -mattr=+avx512vnni,", "unknown feature ''"},
		{"cpu -isa=x86-64-avx512 -mattr=,+avx512vnni", "unknown feature ''"},
		{"cpu -isa=x86-64-avx512 -mattr=+", "unknown feature '+'"},
		{"cpu -isa=x86-64-avx512 -mattr=+avx512vnn", "unknown feature '+avx512vnn'"},
		{"cpu -isa=x86-64-avx512 -mattr=+dotprod", "unknown feature '+dotprod'"},
		{"cpu -isa=x86-64-avx2 -mattr=+avx512vnni", "isa x86-64-avx2 has +avxvnni"},
		{"cpu -isa=x86-64-baseline -mattr=+avxvnni", "isa x86-64-baseline has none"},
		{"cpu -isa=aarch64-neon -mattr=+avxvnni", "has +dotprod,+i8mm,+bf16,+fullfp16"},
		{"cuda -mattr=+dotprod", "isa sm_70 has none"},
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

static const char *printed(const struct hn_target *t)
{
	static char text[400];
	struct hn_buf b;

	hn_buf_init(&b);
	hn_target_print(t, &b);
	snprintf(text, sizeof text, "%s", b.s);
	hn_buf_fini(&b);
	return text;
}

/* In the table's order, with what they need; "none" is said where there could be some. */
static void features_are_one_word(void **state)
{
	static const struct {
		const char *text, *begin;
	} want[] = {
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512bf16,+avx512vnni,+avx512bf16",
		  "cpu -isa=x86-64-avx512 -mattr=+avx512vnni,+avx512bf16 -num_cores=" },
		{ "cpu -isa=x86-64-avx512 -mattr=", "cpu -isa=x86-64-avx512 -mattr= -num_cores=" },
		{ "cpu -isa=x86-64-avx512 -mattr=+amx-bf16",
		  "cpu -isa=x86-64-avx512 -mattr=+amx-tile,+amx-bf16 -num_cores=" },
		{ "cpu -isa=x86-64-avx512 -mattr=+avx512vnni -mattr=",
		  "cpu -isa=x86-64-avx512 -mattr= -num_cores=" },
		{ "cpu -isa=x86-64-baseline", "cpu -isa=x86-64-baseline -num_cores=" },
		{ "cuda", "cuda -isa=sm_70 -num_cores=" },
	};
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	for (size_t i = 0; i < HN_COUNT_OF(want); i++) {
		struct hn_target t = parse(&a, want[i].text);

		assert_memory_equal(printed(&t), want[i].begin, strlen(want[i].begin));
	}
	struct hn_target t = parse(&a, "cpu -isa=x86-64-avx512 -mattr=+avx512vnni");

	assert_int_equal(hn_target_has(&t, "avx512vnni"), 64);
	assert_int_equal(hn_target_has(&t, "avx512bf16"), 0);
	assert_int_equal(hn_target_has(&t, "avx512"), 0);
	assert_int_equal(hn_target_has(&t, ""), 0);
	t = parse(&a, "cpu -isa=aarch64-neon -mattr=+i8mm");
	assert_int_equal(hn_target_has(&t, "i8mm"), 16);
	hn_arena_fini(&a);
}

/* Without the word this machine's; another isa's machine has none. */
static void the_host_gives_its_features(void **state)
{
	struct hn_target host, t;
	struct hn_arena a;
	char text[200];

	(void)state;
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
#if defined(__x86_64__)
	const struct {
		const char *name;
		bool has;
	} own[] = {
		{ "avx512vnni", __builtin_cpu_supports("avx512vnni") },
		{ "avx512bf16", __builtin_cpu_supports("avx512bf16") },
	};

	for (size_t i = 0; i < HN_COUNT_OF(own); i++) {
		bool wide = strcmp(host.isa, "x86-64-avx512") == 0;

		assert_int_equal(hn_target_has(&host, own[i].name) != 0, own[i].has && wide);
	}
#endif
	t = parse(&a, "native");
	assert_int_equal(t.features, host.features);
	snprintf(text, sizeof text, "cpu -isa=%s", host.isa);
	t = parse(&a, text);
	assert_int_equal(t.features, host.features);
	t = parse(&a, "native -mattr=");
	assert_int_equal(t.features, 0);
	t = parse(&a, strcmp(host.isa, "aarch64-neon") == 0 ? "cpu -isa=x86-64-avx512"
							     : "cpu -isa=aarch64-neon");
	assert_int_equal(t.features, 0);
	hn_arena_fini(&a);
}

/* A machine runs no code with a feature that it lacks, whatever its level. */
static void features_are_needed(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	struct hn_target none = parse(&a, "cpu -isa=x86-64-avx512 -mattr=");
	struct hn_target vnni = parse(&a, "cpu -isa=x86-64-avx512 -mattr=+avx512vnni");
	struct hn_target two = parse(&a, "cpu -isa=x86-64-avx512 -mattr=+avx512vnni,+avx512bf16");
	struct hn_target low = parse(&a, "cpu -isa=x86-64-avx2 -mattr=+avxvnni");
	struct hn_target both = parse(&a, "cpu -isa=x86-64-avx512 -mattr=+avxvnni");

	assert_true(hn_target_runs_on(&none, &vnni));
	assert_true(hn_target_runs_on(&vnni, &two));
	assert_true(hn_target_runs_on(&two, &two));
	assert_true(hn_target_runs_on(&low, &both));
	assert_false(hn_target_runs_on(&vnni, &none));
	assert_false(hn_target_runs_on(&two, &vnni));
	assert_false(hn_target_runs_on(&low, &two));
	hn_arena_fini(&a);
}

static void cuda_has_the_numbers_of_the_cases(void **state)
{
	/* but for the first, which they leave open: the multiprocessors of a V100 */
	static const int64_t want[] = {80, 16, 64, 49152, 2147483647, 1024, 8, 32};
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
		cmocka_unit_test(features_are_one_word),
		cmocka_unit_test(the_host_gives_its_features),
		cmocka_unit_test(features_are_needed),
		cmocka_unit_test(cuda_has_the_numbers_of_the_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
