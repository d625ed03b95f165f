/* Boards of OpenCL devices, with hand-written kernels on the first device that there is (PoCL where
 * there is no GPU): right ones are timed, each fault gets its class, and the board goes on.  Skipped
 * where OpenCL has no device. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/gpu_board.h"

#define HEAD                                                                             \
	"kernel void k(global const float *A, global const float *B, global float *C"
#define AT                                                                               \
	") {\n size_t i = get_global_id(1), j = get_global_id(0), at = i * 64 + j;\n"
#define SUM                                                                              \
	" float s = 0; for (int k = 0; k < 64; k++) s += A[i * 64 + k] * B[k * 64 + j];\n"
#define PLAIN HEAD AT SUM

static const char good[] = PLAIN " C[at] = s; }\n";

static const struct {
	const char *name, *code;
	int64_t workspace;
	enum hn_verdict verdict;
	const char *words;
} fault[] = {
	{"wrong", PLAIN " C[at] = s + 1; }\n", 0, HN_VERDICT_WRONG_RESULT, "elements differ"},
	{"left out", PLAIN " if (at != 77) C[at] = s; }\n", 0, HN_VERDICT_WRONG_RESULT,
	 "C[1,13]: got"},
	{"past the end", PLAIN " C[at] = s; if (at == 5) C[64 * 64] = s; }\n", 0,
	 HN_VERDICT_SEGV_GUARD, "wrote beside C"},
	{"before the start", PLAIN " C[at] = s; if (at == 5) C[-1] = s; }\n", 0,
	 HN_VERDICT_SEGV_GUARD, "wrote beside C"},
	{"an input", PLAIN " C[at] = s; if (at == 7) ((global float *)B)[3] = 0; }\n", 0,
	 HN_VERDICT_SEGV_GUARD, "write to B, an input, at byte 12"},
	{"beside an input", PLAIN " C[at] = s; if (at == 7) ((global float *)A)[64 * 64] = 0; }\n", 0,
	 HN_VERDICT_SEGV_GUARD, "wrote beside A"},
	{"beside its workspace", HEAD ", global float *W" AT SUM
	 " C[at] = s; if (at == 7) W[16] = s; }\n", 64, HN_VERDICT_SEGV_GUARD,
	 "wrote beside its own memory"},
	{"far away", PLAIN " C[at] = s; if (at == 5) *(global float *)(C + (1l << 40)) = s; }\n", 0,
	 HN_VERDICT_SEGV, "in the first run"},
	{"endless", PLAIN " volatile int go = 1; while (go) ; C[at] = s; }\n", 0, HN_VERDICT_HANG,
	 "in the first run"},
	/* the neighbour's value is read before it is there */
	{"no barrier", HEAD AT SUM
	 " local float L[64]; size_t l = get_local_id(1) * 8 + get_local_id(0);\n"
	 " L[l] = -1e9f; barrier(CLK_LOCAL_MEM_FENCE); float x = L[63 - l]; L[l] = s;\n"
	 " barrier(CLK_LOCAL_MEM_FENCE); C[at] = x < -1e8f ? s + x : s; }\n", 0,
	 HN_VERDICT_WRONG_RESULT, "elements differ"},
	{"no C", "kernel void k(global const float *A) { not C at all }\n", 0, HN_VERDICT_LOAD_FAIL,
	 "does not compile it"},
	{"another name", "kernel void other(global float *A) { A[0] = 1; }\n", 0,
	 HN_VERDICT_LOAD_FAIL, "has no kernel k"},
};

static void all_faults_have_their_class(void **state)
{
	struct hn_buf module;

	(void)state;
	hn_buf_init(&module);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(fault); i++) {
		struct hn_board_answer a;

		module_of(HN_GPU_OPENCL, "k", fault[i].code, fault[i].workspace, &module);
		a = measure(&module, NULL, 0);
		print_message("%s: %s (%s)\n", fault[i].name, hn_verdict_name(a.verdict), a.detail);
		expect(&a, fault[i].verdict, fault[i].words);
		assert_int_equal(a.n_sample, 0);
		/* the board is there, and right about others */
		module_of(HN_GPU_OPENCL, "k", good, 0, &module);
		a = measure(&module, NULL, 1); /* known to be slow: quick */
		assert_true(right(&a));
	}
	hn_buf_fini(&module);
}

#if defined(__x86_64__)
/* A race that one run in a hundred loses, by the clock of this machine: where the device is its
 * cores. */
static const char rare[] =
	PLAIN " unsigned t, x; __asm__ volatile(\"rdtsc\" : \"=a\"(t) :: \"rdx\"); x = t * 2654435761u;\n"
	      " C[at] = at == 99 && (x >> 8) % 100 == 0 ? s + 1 : s; }\n";

/* The device is this machine's cores, as its target line says (gpu_facts.c).  In a
 * process of its own, which find asks for. */
static bool is_this_machine(void)
{
	struct hn_board_device device;
	struct hn_err err = { 0 };
	int status;
	pid_t child = fork();

	if (child == 0) {
		_exit(ops->find(0, &device, &err) == 0 && strstr(device.target, "-isa=opencl-cpu") != NULL
			      ? 0
			      : 1);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}

static void rare_races_are_found(void **state)
{
	struct hn_buf module;
	bool found = false;

	(void)state;
	if (!is_this_machine()) {
		print_message("the device is no processor of this machine: skipped\n");
		skip();
	}
	hn_buf_init(&module);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	module_of(HN_GPU_OPENCL, "k", rare, 0, &module);
	for (int i = 0; i < 3 && !found; i++) { /* each time, one of 200 is missed */
		struct hn_board_answer a = measure(&module, NULL, 0);

		print_message("%s (%s)\n", hn_verdict_name(a.verdict), a.detail);
		found = a.verdict == HN_VERDICT_NONDETERMINISTIC ||
			a.verdict == HN_VERDICT_WRONG_RESULT;
	}
	assert_true(found);
	hn_buf_fini(&module);
}
#endif

static void right_ones_are_timed(void **state)
{
	struct hn_buf module;
	struct hn_board_answer a;

	(void)state;
	hn_buf_init(&module);
	module_of(HN_GPU_OPENCL, "k", good, 0, &module);
	for (int cold = 0; cold < 2; cold++) {
		assert_int_equal(make_workload("w", cold).verdict, HN_VERDICT_OK);
		a = measure(&module, NULL, 0);
		assert_true(right(&a) && a.thorough);
		assert_true(a.n_sample > 0 && a.sample_ns[0] > 0 && a.run_ns > a.kernel_ns);
	}
	a = measure(&module, &module, 0);
	assert_true(right(&a));
	assert_true(a.n_sample > 0 && a.sample_ns[0] > 0 && a.rival_ns[a.n_sample - 1] > 0);
	hn_buf_fini(&module);
}

static void it_is_said_whose_fault(void **state)
{
	struct hn_buf module, bad;
	struct hn_board_answer a;

	(void)state;
	hn_buf_init(&module);
	hn_buf_init(&bad);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	module_of(HN_GPU_OPENCL, "k", good, 0, &module);
	module_of(HN_GPU_OPENCL, "k", fault[0].code, 0, &bad);
	a = measure(&module, &bad, 0);
	assert_true(a.verdict == HN_VERDICT_WRONG_RESULT && a.rivals);
	a = measure(&bad, &module, 0);
	assert_true(a.verdict == HN_VERDICT_WRONG_RESULT && !a.rivals);
	hn_buf_fini(&module);
	hn_buf_fini(&bad);
}

/* Modules are anybody's. */
static void modules_are_looked_at(void **state)
{
	static const struct {
		const char *bytes, *words;
	} bad[] = {
		{"", "module"},
		{"module/1 opencl generic\n", "module"},
		{"module/1 opencl generic\nbuffer 16384 0\nbuffer 16384 1\nbuffer 16380 2\n"
		 "kernel k grid 8 8 1 block 8 8 1 shared 0 0 args 0 1 2\ncode 1\n ",
		 "buffer 2 is no argument"},
		{"module/1 opencl generic\nbuffer 16384 0\nbuffer 16384 1\n"
		 "kernel k grid 8 8 1 block 8 8 1 shared 0 0 args 0 1\ncode 1\n ",
		 "no kernel writes C"},
		{"module/1 ptx sm_80\nbuffer 16384 2\n"
		 "kernel k grid 8 8 1 block 8 8 1 shared 0 0 args 0\ncode 1\n ",
		 "another form"},
	};
	struct hn_buf module;

	(void)state;
	hn_buf_init(&module);
	assert_int_equal(make_workload("w", false).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		struct hn_board_answer a;

		hn_buf_reset(&module);
		hn_buf_puts(&module, bad[i].bytes);
		a = measure(&module, NULL, 0);
		expect(&a, HN_VERDICT_LOAD_FAIL, bad[i].words);
	}
	hn_buf_reset(&module);
	hn_buf_puts(&module, "module/1 opencl generic\nbuffer 16384 2\nbuffer 1099511627776 -1\n"
			     "kernel k grid 8 8 1 block 8 8 1 shared 0 0 args 0\ncode 1\n ");
	struct hn_board_answer a = measure(&module, NULL, 0);

	expect(&a, HN_VERDICT_OOM, "its buffers take 1");
	hn_buf_fini(&module);
}

static int open_board(void **state)
{
	(void)state;
	return board != NULL ? 0 : -1;
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
		cmocka_unit_test(right_ones_are_timed),
		cmocka_unit_test(all_faults_have_their_class),
#if defined(__x86_64__)
		cmocka_unit_test(rare_races_are_found),
#endif
		cmocka_unit_test(it_is_said_whose_fault),
		cmocka_unit_test(modules_are_looked_at),
	};

	if (open_gpu_board("opencl") != 0) {
		print_message("no OpenCL device: skipped\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, open_board, shut_board);
}
