/* Printers of device programs: small programs by hand, each for something that a language has to get
 * right.  The PTX runs on a machine for it (tests/ptx/ptx.h) and gives what the device
 * interpreter does; the instructions that one hopes for stand in the PTX.
 *
 * With any argument, where they are on this machine: an OpenCL device runs the OpenCL C, and nvcc
 * takes the CUDA C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "lower/gpu/gpu.h"
#include "tests/lib/device_args.h"
#include "tests/lib/opencl_run.h"
#include "tests/ptx/ptx.h"

#define FUEL 10000000

struct program {
	const char *what, *text;
	const char *has, *lacks; /* in its PTX for sm_80; NULL: anything */
};

static const struct program programs[] = {
	{ "a condition within a value is as wide as its numbers",
	  "device/1\nglobal A float32[128] arg 0\nglobal B float32[1024] arg 1\n"
	  "kernel k0 grid 1 1 1 block 1024 1 1 {\n"
	  "  B[thread.x] = if(((thread.x * 16777216) < 2147483647), A[thread.x], 0.0)\n}\n",
	  NULL, NULL },
	{ "lanes are vectors",
	  "device/1\nglobal A float32[1024] arg 0\nglobal B float32[1024] arg 1\n"
	  "kernel k0 grid 4 1 1 block 64 1 1 {\n"
	  "  for v6 4 lanes {\n"
	  "    B[(((block.x * 256) + (thread.x * 4)) + v6)] = (A[(((block.x * 256) + (thread.x * 4)) + "
	  "v6)] * 2.0)\n  }\n}\n",
	  "ld.global.nc.v4", NULL },
	{ "neighbours that are not aligned are no vectors",
	  "device/1\nglobal A float32[1025] arg 0\nglobal B float32[1024] arg 1\n"
	  "kernel k0 grid 4 1 1 block 64 1 1 {\n"
	  "  for v6 4 lanes {\n"
	  "    B[(((block.x * 256) + (thread.x * 4)) + v6)] = A[((((block.x * 256) + (thread.x * 4)) + "
	  "v6) + 1)]\n  }\n}\n",
	  "st.global.v4", "ld.global.nc.v4" },
	{ "arrays of a thread are registers",
	  "device/1\nglobal A float32[256] arg 0\nglobal B float32[256] arg 1\n"
	  "local L float32[8]\nshared S float32[8]\n"
	  "kernel k0 grid 1 1 1 block 32 1 1 {\n"
	  "  for v6 8 {\n    L[v6] = A[((thread.x * 8) + v6)]\n  }\n"
	  "  for v7 8 {\n    L[v7] = (L[v7] + L[(7 - v7)])\n  }\n"
	  "  for v8 8 {\n    B[((thread.x * 8) + v8)] = L[v8]\n  }\n}\n",
	  "st.global.v4", ".local" },
	{ "an array with an index that moves is memory",
	  "device/1\nglobal A float32[256] arg 0\nglobal B float32[32] arg 1\n"
	  "local L float32[8]\n"
	  "kernel k0 grid 1 1 1 block 32 1 1 {\n"
	  "  for v6 8 {\n    L[v6] = A[((thread.x * 8) + v6)]\n  }\n"
	  "  B[thread.x] = L[floormod(thread.x, 8)]\n}\n",
	  ".local", NULL },
	{ "asynchronous copies are as wide as they are aligned",
	  "device/1\nglobal A float32[1024] arg 0\nglobal B float32[1024] arg 1\n"
	  "shared S float32[512]\n"
	  "kernel k0 grid 4 1 1 block 64 1 1 {\n"
	  "  for v6 4 lanes {\n"
	  "    if ((((block.x * 256) + (thread.x * 4)) + v6) < 1000) {\n"
	  "      async S[((thread.x * 4) + v6)] = A[(((block.x * 256) + (thread.x * 4)) + v6)]\n"
	  "    }\n  }\n"
	  "  for v7 2 lanes {\n"
	  "    async S[(((thread.x * 2) + v7) + 256)] = A[((thread.x * 2) + v7)]\n"
	  "  }\n"
	  "  async S[(thread.x + 384)] = A[((thread.x * 3) + 1)]\n"
	  "  commit\n  wait 0\n  barrier\n"
	  "  if (((block.x * 256) + (thread.x * 4)) < 1000) {\n"
	  "    for v8 4 {\n"
	  "      B[(((block.x * 256) + (thread.x * 4)) + v8)] = ((S[(447 - thread.x)] - S[(383 - thread.x)]) "
	  "+ S[((thread.x * 4) + v8)])\n"
	  "    }\n  }\n}\n",
	  "cp.async.cg.shared.global [%", NULL },
	{ "pairs of two bytes are asynchronous, single ones are not",
	  "device/1\nglobal A float16[256] arg 0\nglobal B float16[256] arg 1\nshared S float16[256]\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  for v6 2 lanes {\n    async S[((thread.x * 2) + v6)] = A[((thread.x * 2) + v6)]\n  }\n"
	  "  async S[(thread.x + 128)] = A[(thread.x + 129)]\n"
	  "  commit\n  wait 0\n  barrier\n"
	  "  B[thread.x] = (S[(63 - thread.x)] + S[(191 - thread.x)])\n}\n",
	  ", 4;", NULL },
	{ "narrow types are rounded after each operation",
	  "device/1\nglobal A float16[64] arg 0\nglobal B bfloat16[64] arg 1\n"
	  "global C float16[64] arg 2\nglobal D bfloat16[64] arg 3\n"
	  "kernel k0 grid 2 1 1 block 32 1 1 {\n"
	  "  let v6 = ((block.x * 32) + thread.x)\n"
	  "  C[v6] = ((A[v6] * A[v6]) + float16(B[v6]))\n"
	  "  D[v6] = (bfloat16(A[v6]) - (B[v6] * 3.0:bfloat16))\n}\n",
	  NULL, NULL },
	{ "integers wrap, and quotients of negative ones round down",
	  "device/1\nglobal A int32[64] arg 0\nglobal B int32[64] arg 1\nglobal C int8[64] arg 2\n"
	  "global D uint8[64] arg 3\nglobal E int64[64] arg 4\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  let v6 = (A[thread.x] * 65537)\n"
	  "  B[thread.x] = (floordiv(v6, 7) + floormod((0 - v6), 5))\n"
	  "  C[thread.x] = int8((v6 + 100))\n"
	  "  D[thread.x] = uint8((v6 - 7))\n"
	  "  E[thread.x] = (int64(v6) * 3000000000:int64)\n}\n",
	  NULL, NULL },
	{ "floats become integers at the ends of their type",
	  "device/1\nglobal A float32[64] arg 0\nglobal B int8[64] arg 1\nglobal C uint8[64] arg 2\n"
	  "global D int32[64] arg 3\nglobal E bool[64] arg 4\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  B[thread.x] = int8((A[thread.x] * 300.0))\n"
	  "  C[thread.x] = uint8((A[thread.x] * 300.0))\n"
	  "  D[thread.x] = int32((A[thread.x] * 1e20))\n"
	  "  E[thread.x] = (A[thread.x] > 0.1)\n}\n",
	  NULL, NULL },
	{ "one side alone is computed",
	  "device/1\nglobal A float32[64] arg 0\nglobal I int32[64] arg 1\nglobal B float32[64] arg 2\n"
	  "global C int32[64] arg 3\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  B[thread.x] = if((thread.x >= 32), A[(thread.x - 32)], if((thread.x < 16), A[(thread.x + "
	  "48)], 1.5))\n"
	  "  C[thread.x] = select((thread.x > 0), (I[thread.x] / thread.x), let(v6, (I[thread.x] + 1), "
	  "(v6 * v6)))\n}\n",
	  NULL, NULL },
	{ "functions",
	  "device/1\nglobal A float32[64] arg 0\nglobal B float32[64] arg 1\nglobal C float32[64] arg 2\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  let v6 = A[thread.x]\n"
	  "  B[thread.x] = ((exp(v6) + tanh(v6)) + (erf(v6) + sigmoid((v6 * 40.0))))\n"
	  "  C[thread.x] = ((log((fabs(v6) + 1.0)) + sqrt(fabs(v6))) + (floor((v6 * 9.0)) + "
	  "rsqrt((fabs(v6) + 0.5))))\n}\n",
	  NULL, "call" },
	{ "a box of elements is copied",
	  "device/1\nglobal A float32[512] arg 0\nglobal B float32[64] arg 1\nlocal L float32[12]\n"
	  "kernel k0 grid 1 1 1 block 8 1 1 {\n"
	  "  copy L[0] stride 4 1 from A[(thread.x * 40)] stride 10 2 box 3 4\n"
	  "  B[thread.x] = (L[(thread.x + 4)] - L[3])\n}\n",
	  NULL, NULL },
	{ "more than 48 KiB of shared memory is asked for at the launch",
	  "device/1\nglobal A float32[64] arg 0\nglobal B float32[64] arg 1\nshared S float32[8000]\n"
	  "shared T float32[8000]\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  S[(thread.x * 100)] = A[thread.x]\n  T[(thread.x + 7000)] = 2.0\n  barrier\n"
	  "  B[thread.x] = (S[((63 - thread.x) * 100)] * T[(7063 - thread.x)])\n}\n",
	  ".extern .shared", NULL },
	{ "indices past 2^31 are of 64 bits",
	  "device/1\nglobal A float32[64] arg 0\nglobal B float32[64] arg 1\n"
	  "kernel k0 grid 1 1 1 block 64 1 1 {\n"
	  "  B[thread.x] = A[floordiv((thread.x * 100000000), 100000000)]\n}\n",
	  "64", NULL },
	{ "loops with barriers, threads of two dimensions, several kernels",
	  "device/1\nglobal A float32[256] arg 0\nglobal W float32[256]\nglobal B float32[256] arg 1\n"
	  "shared S float32[64]\n"
	  "kernel k0 grid 2 2 1 block 8 8 1 {\n"
	  "  for v6 3 {\n    barrier\n"
	  "    S[((thread.y * 8) + thread.x)] = (A[((((block.y * 128) + (block.x * 64)) + (thread.y * "
	  "8)) + thread.x)] + float32(v6))\n"
	  "    barrier\n"
	  "    W[((((block.y * 128) + (block.x * 64)) + (thread.y * 8)) + thread.x)] = "
	  "S[((thread.x * 8) + thread.y)]\n  }\n}\n"
	  "kernel k1 grid 4 1 1 block 64 1 1 {\n"
	  "  B[((block.x * 64) + thread.x)] = (W[((block.x * 64) + thread.x)] + 1.0)\n}\n",
	  NULL, NULL },
};

static struct cl device;
static bool has_device, has_nvcc;

static void run_opencl(const struct program *p, const struct hn_device *d,
		       const struct hn_gpu_module *m, const struct args *want)
{
	struct args got;
	char why[2000];

	make_args(d, &got);
	if (!cl_run(&device, m, got.at, why)) {
		fail_msg("%s: %s\n%s", p->what, why, (const char *)m->code);
	}
	double far = difference(want, &got);

	if (!(far <= 2)) {
		fail_msg("%s: %g times the tolerance\n%s", p->what, far, (const char *)m->code);
	}
	free_args(&got);
}

static void compile_cuda(const struct program *p, const struct hn_gpu_module *m)
{
	char folder[] = "/tmp/hone-cuda-XXXXXX", path[100], command[300];
	struct hn_err err = { 0 };

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/k.cu", folder);
	assert_int_equal(hn_file_replace(path, m->code, m->code_bytes, &err), 0);
	snprintf(command, sizeof(command), "nvcc -arch=sm_80 -cubin %s -o %s/k.cubin", path, folder);
	int rc = system(command);

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	(void)!system(command);
	if (rc != 0) {
		fail_msg("%s: nvcc refuses\n%s", p->what, (const char *)m->code);
	}
}

static void judge(const struct program *p, const struct hn_target *target, bool look)
{
	struct hn_gpu_options how = { .contracts = true };
	struct ptx_counts ran = { 0 };
	const struct hn_device *d;
	struct hn_gpu_module m, opencl, cuda;
	struct hn_err err = { 0 };
	struct args want, got;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	if (hn_device_parse("t", p->text, strlen(p->text), &a, &d, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_PTX, target, &how, &a, &m, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_OPENCL, target, &how, &a, &opencl, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_CUDA, target, &how, &a, &cuda, &err) != 0) {
		fail_msg("%s: %s", p->what, err.msg);
	}
	make_args(d, &want);
	make_args(d, &got);
	if (hn_device_interpret(d, want.at, 0, FUEL, &err) != 0) {
		fail_msg("%s: %s", p->what, err.msg);
	}
	if (ptx_run_module(&m, got.at, 7, 0, &ran, &err) != 0) {
		fail_msg("%s: %s\n%s", p->what, err.msg, (const char *)m.code);
	}
	double far = difference(&want, &got);

	if (!(far <= 2)) {
		fail_msg("%s: %g times the tolerance\n%s", p->what, far, (const char *)m.code);
	}
	if (look && has_device && opencl.kernel[0].static_shared <= 32768) {
		run_opencl(p, d, &opencl, &want);
	}
	if (look && has_nvcc) {
		compile_cuda(p, &cuda);
	}
	if (look && p->has != NULL && strstr(m.code, p->has) == NULL) {
		fail_msg("%s: no %s in\n%s", p->what, p->has, (const char *)m.code);
	}
	if (look && p->lacks != NULL && strstr(m.code, p->lacks) != NULL) {
		fail_msg("%s: %s in\n%s", p->what, p->lacks, (const char *)m.code);
	}
	free_args(&want);
	free_args(&got);
	hn_arena_fini(&a);
}

static void judge_all(const char *line, bool look)
{
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse(line, &a, &target, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		judge(&programs[i], &target, look);
	}
	hn_arena_fini(&a);
}

static void programs_are_right(void **state)
{
	(void)state;
	judge_all("cuda -isa=sm_80", true);
	judge_all("cuda -isa=sm_90a", true);
}

/* Without asynchronous copies. */
static void programs_are_right_on_old_ones(void **state)
{
	(void)state;
	judge_all("cuda -isa=sm_70", false);
}

static void what_has_no_code_is_refused(void **state)
{
	static const char text[] = "device/1\nglobal A float64[1] arg 0\n"
				   "kernel k0 grid 1 1 1 block 1 1 1 {\n  A[0] = sin(A[0])\n}\n";
	struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d;
	struct hn_target target;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &target, &err), 0);
	assert_int_equal(hn_device_parse("t", text, sizeof(text) - 1, &a, &d, &err), 0);
	assert_int_equal(hn_gpu_print(d, HN_GPU_PTX, &target, &how, &a, &m, &err),
			 -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "function sin on float64"));
	assert_int_equal(hn_gpu_print(d, HN_GPU_CUBIN, &target, &how, &a, &m, &err),
			 -HONE_E_UNSUPPORTED);
	assert_int_equal(hn_target_parse("opencl", &a, &target, &err), 0);
	assert_int_equal(hn_gpu_print(d, HN_GPU_PTX, &target, &how, &a, &m, &err),
			 -HONE_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "target isa opencl"));
	hn_arena_fini(&a);
}

static uint32_t count_of(const char *text, const char *word)
{
	uint32_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text++) {
		n++;
	}
	return n;
}

static const char *opencl_of(const char *text, struct hn_arena *a)
{
	struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d;
	struct hn_target target;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };

	assert_int_equal(hn_target_parse("opencl", a, &target, &err), 0);
	if (hn_device_parse("t", text, strlen(text), a, &d, &err) != 0 ||
	    hn_gpu_print(d, HN_GPU_OPENCL, &target, &how, a, &m, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	return m.code;
}

/* A compiler took more than ten minutes for 250 loops in one kernel, and 16 seconds for 193 barriers. */
static void loops_are_not_copied_often(void **state)
{
	static const char for_registers[] =
		"device/1\nglobal A float32[4800] arg 0\nglobal B float32[256] arg 1\n"
		"local L float32[256]\nkernel k0 grid 1 1 1 block 1 1 1 {\n"
		"  for v6 256 {\n    L[v6] = 0.0\n    for v7 300 {\n"
		"      L[v6] = (L[v6] + A[(v6 + (v7 * 15))])\n    }\n  }\n"
		"  for v8 256 {\n    B[v8] = L[v8]\n  }\n}\n";
	static const char when_asked[] =
		"device/1\nglobal A float32[4800] arg 0\nglobal B float32[8] arg 1\n"
		"local L float32[8]\nkernel k0 grid 1 1 1 block 1 1 1 {\n"
		"  for v6 8 {\n    L[v6] = 0.0\n  }\n  for v7 16 unroll {\n    for v8 8 {\n"
		"      for v9 300 {\n"
		"        L[v8] = (L[v8] + A[((v7 + v8) + (v9 * 15))])\n      }\n    }\n  }\n"
		"  for v10 8 {\n    B[v10] = L[v10]\n  }\n}\n";
	static const char with_barriers[] =
		"device/1\nglobal A float32[256] arg 0\nglobal B float32[256] arg 1\n"
		"local L float32[64]\nshared S float32[4]\n"
		"kernel k0 grid 1 1 1 block 4 1 1 {\n"
		"  for v6 64 {\n    barrier\n    S[thread.x] = A[((thread.x * 64) + v6)]\n"
		"    barrier\n    L[v6] = (S[0] + S[(3 - thread.x)])\n    barrier\n  }\n"
		"  for v7 64 {\n    B[((thread.x * 64) + v7)] = L[v7]\n  }\n}\n";
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(count_of(opencl_of(with_barriers, &a), "barrier("), 3);
	assert_true(count_of(opencl_of(for_registers, &a), "for (") <= 3);
	assert_int_equal(count_of(opencl_of(when_asked, &a), "for ("), 9);
	hn_arena_fini(&a);
}

/* Of more than 2^31 elements: neither addresses nor guards are computed in 32 bits. */
static void far_indices_are_wide(void **state)
{
	static const char text[] =
		"device/1\nglobal A int8[2500000007] arg 0\nglobal B int8[2500000007] arg 1\n"
		"kernel k0 grid 9765626 1 1 block 256 1 1 {\n"
		"  if (((block.x * 256) + thread.x) < 2500000007) {\n"
		"    B[((block.x * 256) + thread.x)] = A[((block.x * 256) + thread.x)]\n  }\n}\n";
	struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d;
	struct hn_target target;
	struct hn_gpu_module m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_non_null(strstr(opencl_of(text, &a),
			       "((((i64)block_x) * ((i64)256)) + ((i64)thread_x)) < ((i64)2500000007)"));
	assert_int_equal(hn_target_parse("cuda -isa=sm_80", &a, &target, &err), 0);
	assert_int_equal(hn_device_parse("t", text, sizeof(text) - 1, &a, &d, &err), 0);
	assert_int_equal(hn_gpu_print(d, HN_GPU_PTX, &target, &how, &a, &m, &err), 0);
	assert_non_null(strstr(m.code, "2500000006"));
	assert_null(strstr(m.code, "-1794967"));
	hn_arena_fini(&a);
}

int main(int argc, char **argv)
{
	(void)argv;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_right),
		cmocka_unit_test(programs_are_right_on_old_ones),
		cmocka_unit_test(what_has_no_code_is_refused),
		cmocka_unit_test(loops_are_not_copied_often),
		cmocka_unit_test(far_indices_are_wide),
	};

	has_device = argc > 1 && cl_open(&device);
	has_nvcc = argc > 1 && system("command -v nvcc >/dev/null") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
