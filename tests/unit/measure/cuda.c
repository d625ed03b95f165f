/* Boards of CUDA devices, with a driver that has no device (tests/mock/cuda_driver.c): what can go
 * wrong with a device, its driver and its kernels gets its class, the board comes back, and is right
 * about the next kernel. */
#include <unistd.h>

#include "tests/lib/gpu_board.h"

static const struct {
	const char *code; /* what the mock does; hostile where it is no word of its */
	enum hn_verdict verdict;
	const char *words;
} fault[] = {
	{"// mock:wrong", HN_VERDICT_WRONG_RESULT, "C[1,13]: got"},
	{"// mock:rare", HN_VERDICT_NONDETERMINISTIC, "C[1,13]: got"},
	{"// mock:past", HN_VERDICT_SEGV_GUARD, "wrote beside C"},
	{"// mock:input", HN_VERDICT_SEGV_GUARD, "write to B, an input, at byte 12"},
	{"// mock:endless", HN_VERDICT_HANG, "in the first run"},
	{"// mock:late", HN_VERDICT_HANG, "error 702"},
	{"// mock:illegal", HN_VERDICT_SEGV, "error 700"},
	{"// mock:misaligned", HN_VERDICT_BUS, "error 716"},
	{"// mock:trap", HN_VERDICT_ILL, "error 715"},
	{"// mock:crash", HN_VERDICT_SEGV, "in the first run"},
	{"// mock:lost", HN_VERDICT_RUN_LOST, "?[31mmock error ? (error 999)"},
	{"// mock:serial", HN_VERDICT_LOAD_FAIL, "wgmma instructions wait"},
	{"no word", HN_VERDICT_LOAD_FAIL, "does not compile it: ????"},
};

static void expect_good(void)
{
	struct hn_board_answer a;
	struct hn_buf module;

	hn_buf_init(&module);
	module_of(HN_GPU_PTX, "k", "// mock:matmul", 0, &module);
	a = measure(&module, NULL, 1); /* known to be slow: quick */
	assert_true(right(&a));
	assert_true(a.n_sample > 0 && a.sample_ns[0] > 0);
	assert_string_equal(a.state, "1980 MHz, memory 2619 MHz, 412 W, 54 C");
	hn_buf_fini(&module);
}

static void all_faults_have_their_class(void **state)
{
	struct hn_buf module;

	(void)state;
	hn_buf_init(&module);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(fault); i++) {
		struct hn_board_answer a;

		module_of(HN_GPU_PTX, "k", fault[i].code, 0, &module);
		a = measure(&module, NULL, 0);
		print_message("%s: %s (%s)\n", fault[i].code, hn_verdict_name(a.verdict), a.detail);
		/* what is rare may show on one of the further inputs first, and is wrong there */
		bool further = fault[i].verdict == HN_VERDICT_NONDETERMINISTIC &&
			       a.verdict == HN_VERDICT_WRONG_RESULT &&
			       strstr(a.detail, "; inputs: ") != NULL;

		expect(&a, further ? HN_VERDICT_WRONG_RESULT : fault[i].verdict, fault[i].words);
		assert_int_equal(a.n_sample, 0);
		for (const char *s = a.detail; *s != '\0'; s++) {
			assert_true(*s >= ' ' && *s <= '~');
		}
		expect_good();
	}
	hn_buf_fini(&module);
}

/* Its answer is had by a successor, and nobody hears of it. */
static void one_loss_is_no_answer(void **state)
{
	char path[] = "/tmp/hone-mock-XXXXXX";
	struct hn_board_answer a;
	struct hn_buf module;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
	/* the child inherits it: a new one, for a new workload */
	assert_int_equal(setenv("MOCK_CUDA_STATE", path, 1), 0);
	assert_int_equal(make_workload("w", true).verdict, HN_VERDICT_OK);
	hn_buf_init(&module);
	module_of(HN_GPU_PTX, "k", "// mock:lost-once", 0, &module);
	a = measure(&module, NULL, 0);
	assert_true(right(&a));
	assert_int_equal(unlink(path), 0); /* it was lost */
	hn_buf_fini(&module);
}

static void limits_are_the_devices(void **state)
{
	struct hn_board_answer a;
	struct hn_buf module;

	(void)state;
	hn_buf_init(&module);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	/* more than a kernel has without asking: the board asks */
	module_with(HN_GPU_PTX, "k", "// mock:matmul", 0, 200000, &module);
	a = measure(&module, NULL, 1);
	assert_true(right(&a));
	module_with(HN_GPU_PTX, "k", "// mock:matmul", 0, 300000, &module);
	a = measure(&module, NULL, 1);
	expect(&a, HN_VERDICT_OVER_LIMIT, "300000 bytes of shared memory, the device has at most 232448");
	/* the driver has less memory than it says */
	module_of(HN_GPU_PTX, "k", "// mock:matmul", (int64_t)2 << 30, &module);
	a = measure(&module, NULL, 1);
	expect(&a, HN_VERDICT_OOM, "error 2");
	module_of(HN_GPU_PTX, "other", "// mock:matmul", 0, &module);
	a = measure(&module, NULL, 1);
	expect(&a, HN_VERDICT_LOAD_FAIL, "has no kernel other");
	module_of(HN_GPU_OPENCL, "k", "// mock:matmul", 0, &module);
	a = measure(&module, NULL, 1);
	expect(&a, HN_VERDICT_LOAD_FAIL, "another form");
	expect_good();
	hn_buf_fini(&module);
}

/* The mock's launch finds the address in the map, where a parameter would have it. */
static void maps_are_made(void **state)
{
	static const struct {
		const char *map, *says; /* NULL: it is right */
	} row[] = {
		{"size 64 64 stride 256 4 box 32 32 swizzle 128", NULL},
		{"size 64 64 stride 256 4 box 64 8 swizzle 32", NULL},
		/* rows that lie in each other are the driver's to refuse */
		{"size 64 64 stride 16 4 box 8 8 swizzle 0", "makes no tensor map 0 of kernel k"},
	};

	(void)state;
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		struct hn_board_answer a;
		struct hn_buf module;

		hn_buf_init(&module);
		hn_buf_printf(&module,
			      "module/1 ptx sm_90a\nbuffer 16384 0\nbuffer 16384 1\nbuffer 16384 2\n"
			      "map 2 elem 4 dims 2 %s\nkernel k grid 1 1 1 block 64 1 1 shared 0 0 "
			      "args 0 1 maps 0\ncode 14\n// mock:matmul", row[i].map);
		a = measure(&module, NULL, 1);
		if (row[i].says == NULL) {
			assert_true(right(&a));
		} else {
			expect(&a, HN_VERDICT_LOAD_FAIL, row[i].says);
		}
		hn_buf_fini(&module);
	}
}

static void duels_and_cold_caches(void **state)
{
	struct hn_board_answer a;
	struct hn_buf good, bad;

	(void)state;
	hn_buf_init(&good);
	hn_buf_init(&bad);
	module_of(HN_GPU_PTX, "k", "// mock:matmul", 0, &good);
	module_of(HN_GPU_PTX, "k", "// mock:illegal", 0, &bad);
	for (int cold = 0; cold < 2; cold++) {
		assert_int_equal(make_workload("w", cold).verdict, HN_VERDICT_OK);
		a = measure(&good, &good, 0);
		assert_true(right(&a) && a.n_sample > 0);
		assert_true(a.sample_ns[a.n_sample - 1] > 0 && a.rival_ns[a.n_sample - 1] > 0);
		a = measure(&good, &bad, 0);
		assert_true(a.verdict == HN_VERDICT_SEGV && a.rivals);
		a = measure(&good, NULL, 0);
		assert_true(right(&a) && a.thorough);
	}
	hn_buf_fini(&good);
	hn_buf_fini(&bad);
}

static void canaries_live(void **state)
{
	struct hn_canary c = {.ns = 0};
	struct hn_err err = {0};

	(void)state;
	assert_int_equal(ops->canary(board, &c, &err), 0);
	assert_true(c.ns > 0 && c.wander > 0);
}

static int cannot_open(const char *line, const char *words)
{
	struct hn_err err = {0};
	void *other = NULL;
	int rc = ops->open(&(struct hn_board_place){.target = line}, &other, &err);

	assert_int_equal(rc, -HONE_E_NO_BOARD);
	if (strstr(err.msg, words) == NULL) {
		print_message("%s\n", err.msg);
	}
	return strstr(err.msg, words) != NULL;
}

static void what_is_missing_is_said(void **state)
{
	const char *driver = getenv("HONE_CUDA_DRIVER");

	(void)state;
	setenv("MOCK_CUDA", "none", 1);
	assert_true(cannot_open("cuda", "CUDA: device 0 is asked for, there are 0"));
	setenv("MOCK_CUDA", "init", 1);
	assert_true(cannot_open("cuda", "CUDA: no device: ?[31mmock error ? (error 999)"));
	unsetenv("MOCK_CUDA");
	assert_true(cannot_open("cuda -max_shared_memory_per_block=300000",
				"-max_shared_memory_per_block=300000 is more than the device has, "
				"232448 (mock?[2J \"device\" ; rm -rf"));
	char *kept = strdup(driver);

	setenv("HONE_CUDA_DRIVER", "/nonexistent.so", 1);
	assert_true(cannot_open("cuda", "cannot be loaded: NVIDIA's driver is not installed"));
	setenv("HONE_CUDA_DRIVER", "libm.so.6", 1);
	assert_true(cannot_open("cuda", "has no cuInit: its driver is too old"));
	setenv("HONE_CUDA_DRIVER", kept, 1);
	free(kept);
}

static int open_board(void **state)
{
	(void)state;
	setenv("HONE_TEST_HOOKS", "1", 1);
	setenv("HONE_CUDA_DRIVER", HONE_MOCK_CUDA, 1);
	setenv("HONE_NVML_DRIVER", HONE_MOCK_CUDA, 1);
	return open_gpu_board("cuda");
}

static int shut_board(void **state)
{
	(void)state;
	ops->close(board);
	hn_buf_fini(&naive);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_faults_have_their_class),
		cmocka_unit_test(one_loss_is_no_answer),
		cmocka_unit_test(limits_are_the_devices),
		cmocka_unit_test(maps_are_made),
		cmocka_unit_test(duels_and_cold_caches),
		cmocka_unit_test(canaries_live),
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests(tests, open_board, shut_board);
}
