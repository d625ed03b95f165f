/* Loops over lanes as vectors of OpenCL C, for a thread that has a core to itself: programs by hand,
 * each for something that has to come out right, and what stands in the code.  Where there is an
 * OpenCL device they run on it, and give what the device interpreter does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/device/device_hold.h"
#include "lower/device/device_interp.h"
#include "lower/gpu/gpu.h"
#include "tests/lib/device_args.h"
#include "tests/lib/opencl_run.h"

#define FUEL 1000000
#define CORES "opencl -isa=opencl-cpu -num_cores=2 -vector_unit_bytes=64 -vector_registers=32"
#define HEAD "device/1\nglobal A float32[1024] arg 0\nglobal B float32[1024] arg 1\n"
#define K "kernel k0 grid 2 1 1 block 1 1 1 {\n"

static const struct program {
	const char *what, *text;
	const char *has, *lacks; /* in the code; NULL: anything */
	bool in_order;		 /* sums and picks keep theirs */
	bool held;		 /* sums are held in tiles first */
} programs[] = {
	{ "neighbours are a vector, and what is the same for all is spread",
	  HEAD K "  for v6 16 lanes {\n    B[((block.x * 16) + v6)] = ((A[((block.x * 16) + v6)] * "
		 "A[block.x]) + 1.5)\n  }\n}\n",
	  "vstore16(((vload16(0, &b0_A[(block_x * 16)]) * ((float16)(b0_A[block_x])))", "A[(block_x * 16) + 1]", false, false },
	{ "a rest is a shorter vector",
	  HEAD K "  for v6 20 lanes {\n    B[((block.x * 20) + v6)] = A[((block.x * 20) + v6)]\n  }\n}\n",
	  "vstore4(", NULL, false, false },
	{ "what lies apart is put together",
	  HEAD K "  for v6 8 lanes {\n    B[((block.x * 8) + v6)] = (A[(v6 * 3)] + A[((block.x * 8) + v6)])\n"
		 "  }\n}\n",
	  "((float8)(b0_A[0], b0_A[3], b0_A[6],", NULL, false, false },
	{ "a reversed row is no vector in memory",
	  HEAD K "  for v6 8 lanes {\n    B[((block.x * 8) + (7 - v6))] = A[((block.x * 8) + v6)]\n  }\n}\n",
	  NULL, "vstore", false, false },
	{ "a condition on the lane is asked of the ends",
	  HEAD K "  for v6 16 lanes {\n    if (((block.x * 16) + v6) < 20) {\n"
		 "      B[((block.x * 16) + v6)] = A[((block.x * 16) + v6)]\n    }\n  }\n}\n",
	  "for (i32 v6 = 0; v6 < 16; v6++)", NULL, false, false },
	{ "the rest under a condition reads where it writes",
	  HEAD "kernel k0 grid 3 1 1 block 1 1 1 {\n  for v6 2 {\n    for v7 80 lanes {\n"
	       "      if (((v6 * 80) + v7) < 143) {\n"
	       "        B[(((block.x * 143) + (v6 * 80)) + v7)] = A[(((block.x * 143) + (v6 * 80)) + v7)]\n"
	       "      }\n    }\n  }\n}\n",
	  "b1_B[((block_x * 143) + v7) + 128] = b0_A[((block_x * 143) + v7) + 128]", NULL, false, false },
	{ "neighbours in the first strips may be none in the last",
	  HEAD "kernel k0 grid 1 1 1 block 1 1 1 {\n  for v6 192 lanes {\n"
	       "    B[v6] = A[min(v6, (300 - v6))]\n  }\n}\n",
	  NULL, "vload16(0, &b0_A", false, false },
	{ "a condition that is not monotone is asked of each lane",
	  HEAD K "  for v6 16 lanes {\n    if (floormod(v6, 3) < 2) {\n"
		 "      B[((block.x * 16) + v6)] = A[((block.x * 16) + v6)]\n    }\n  }\n}\n",
	  NULL, "vstore", false, false },
	{ "arrays of a thread are variables of vectors",
	  HEAD "local L float32[32]\n" K "  for v6 2 {\n    for v7 16 lanes {\n"
	       "      L[((v6 * 16) + v7)] = A[(((block.x * 32) + (v6 * 16)) + v7)]\n    }\n  }\n"
	       "  L[5] = (L[5] + L[20])\n  for v8 2 {\n    for v9 16 lanes {\n"
	       "      B[(((block.x * 32) + (v8 * 16)) + v9)] = L[(((1 - v8) * 16) + v9)]\n    }\n  }\n}\n",
	  "b2_L_0.s5 = (b2_L_0.s5 + b2_L_1.s4);", NULL, false, false },
	{ "vectors that are no whole variable are put together",
	  HEAD "local L float32[24]\n" K "  for v6 8 lanes {\n    L[v6] = A[((block.x * 24) + v6)]\n  }\n"
	       "  for v7 16 lanes {\n    L[(v7 + 8)] = A[(((block.x * 24) + v7) + 8)]\n  }\n"
	       "  for v8 8 lanes {\n    B[((block.x * 8) + v8)] = L[(v8 + 4)]\n  }\n}\n",
	  NULL, NULL, false, false },
	{ "loops in order whose turns make neighbours are lanes",
	  HEAD K "  for v6 500 {\n    B[((block.x * 500) + v6)] = (exp(A[v6]) / (fabs(A[v6]) + 1.0))\n  }\n}\n",
	  "vstore16((exp(vload16(0, &b0_A[(v6 * 16)]))", NULL, false, false },
	{ "turns that read what turns make are not",
	  HEAD K "  for v6 100 {\n    B[(((block.x * 200) + v6) + 1)] = (B[((block.x * 200) + v6)] * 0.5)\n  }\n}\n",
	  NULL, "vstore", false, false },
	{ "sums of neighbours are taken in lanes",
	  HEAD "local S float32[1]\n" K "  S[0] = 0.25\n  for v6 333 {\n    S[0] = (S[0] + (A[((block.x * 333) + "
	       "v6)] * 0.125))\n  }\n  B[block.x] = S[0]\n}\n",
	  ".lo + ", NULL, false, false },
	{ "the greatest of neighbours, too",
	  HEAD "local S float32[1]\n" K "  S[0] = -5.0\n  for v6 77 {\n    S[0] = max(A[((block.x * 77) + v6)], "
	       "S[0])\n  }\n  B[block.x] = S[0]\n}\n",
	  "select(", NULL, false, false },
	{ "and not where the order is fixed",
	  HEAD "local S float32[1]\n" K "  S[0] = 0.25\n  for v6 333 {\n    S[0] = (S[0] + A[((block.x * 333) + "
	       "v6)])\n  }\n  B[block.x] = S[0]\n}\n",
	  NULL, "float16", true, false },
	{ "turns that go on with their own are lanes",
	  HEAD K "  for v6 3 {\n    for v7 48 {\n      B[((block.x * 48) + v7)] = (B[((block.x * 48) + v7)] + "
		 "(A[v7] * A[v6]))\n    }\n  }\n}\n",
	  "vstore16((vload16(0, &b1_B[", NULL, false, false },
	{ "a tile that is whole has no conditions",
	  HEAD "kernel k0 grid 3 1 1 block 1 1 1 {\n  for v6 32 {\n    for v7 4 {\n"
	       "      for v8 16 lanes {\n        if (((block.x * 4) + v7) < 10) {\n"
	       "          if (v8 < 15) {\n"
	       "            B[((((block.x * 4) + v7) * 16) + v8)] = (B[((((block.x * 4) + v7) * 16) + v8)] + "
	       "(A[((v7 * 32) + v6)] * A[((v6 * 16) + v8)]))\n"
	       "          }\n        }\n      }\n    }\n  }\n}\n",
	  NULL, NULL, false, true },
	{ "a tile that is whole has its sums in variables",
	  HEAD "kernel k0 grid 3 1 1 block 1 1 1 {\n  for v6 32 {\n    for v7 4 {\n"
	       "      for v8 16 lanes {\n        if (((block.x * 4) + v7) < 10) {\n"
	       "          B[((((block.x * 4) + v7) * 16) + v8)] = (B[((((block.x * 4) + v7) * 16) + v8)] + "
	       "(A[((v7 * 32) + v6)] * A[((v6 * 16) + v8)]))\n"
	       "        }\n      }\n    }\n  }\n}\n",
	  "b2_B_sum2_3 = (b2_B_sum2_3 + ", NULL, false, true },
	{ "doubles are vectors of half as many",
	  "device/1\nglobal A float64[64] arg 0\nglobal B float64[64] arg 1\n" K
	  "  for v6 16 lanes {\n    B[((block.x * 16) + v6)] = min(A[((block.x * 16) + v6)], 0.5:float64)\n"
	  "  }\n}\n",
	  "double8", NULL, false, false },
	{ "integers that lanes read stay integers",
	  "device/1\nglobal A int32[64] arg 0\nglobal B float32[64] arg 1\nlocal S int32[8]\n" K
	  "  for v6 8 {\n    S[v6] = -3\n  }\n  for v7 4 {\n    for v8 8 {\n"
	  "      S[v8] = (S[v8] + (A[((v7 * 8) + v8)] * 16777259))\n    }\n  }\n"
	  "  for v9 8 lanes {\n    B[((block.x * 8) + v9)] = float32(S[v9])\n  }\n}\n",
	  "i32 b2_S", "float8 b2_S", false, false },
	{ "a loop of some length stays one",
	  "device/1\nglobal A float32[1280] arg 0\nglobal B float32[1280] arg 1\n" K
	  "  for v6 40 {\n    for v7 16 lanes {\n"
	  "      B[(((block.x * 640) + (v6 * 16)) + v7)] = A[(((block.x * 640) + (v6 * 16)) + v7)]\n"
	  "    }\n  }\n}\n",
	  "for (i32 v6 = 0; v6 < 40; v6++)", NULL, false, false },
	{ "integers are written out",
	  "device/1\nglobal A int32[64] arg 0\nglobal B int32[64] arg 1\n" K
	  "  for v6 16 lanes {\n    B[((block.x * 16) + v6)] = (A[((block.x * 16) + v6)] + 3)\n  }\n}\n",
	  NULL, "vstore", false, false },
};

static struct cl device;
static bool has_device;

static void run(const struct program *p, const struct hn_device *d, const struct hn_gpu_module *m)
{
	struct args want, got;
	struct hn_err err = { 0 };
	char why[2000];

	make_args(d, &want);
	make_args(d, &got);
	if (hn_device_interpret(d, want.at, 0, FUEL, &err) != 0) {
		fail_msg("%s: %s", p->what, err.msg);
	}
	if (has_device && !cl_run(&device, m, got.at, why)) {
		fail_msg("%s: %s\n%s", p->what, why, (const char *)m->code);
	}
	double far = has_device ? difference(&want, &got) : 0;

	if (!(far <= 2)) {
		fail_msg("%s: %g times the tolerance\n%s", p->what, far, (const char *)m->code);
	}
	free_args(&want);
	free_args(&got);
}

static void lanes_are_vectors(void **state)
{
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse(CORES, &a, &target, &err), 0);
	for (size_t i = 0; i < HN_COUNT_OF(programs); i++) {
		const struct program *p = &programs[i];
		const struct hn_gpu_options how = { .contracts = true,
						    .sums_anyhow = !p->in_order,
						    .picks_anyhow = !p->in_order };
		const struct hn_device *d;
		struct hn_gpu_module m;

		if (hn_device_parse("t", p->text, strlen(p->text), &a, &d, &err) != 0) {
			fail_msg("%s: %s", p->what, err.msg);
		}
		d = p->held ? hn_device_hold_sums(d, 2048, &a) : d;
		if (hn_gpu_print(d, HN_GPU_OPENCL, &target, &how, &a, &m, &err) != 0) {
			fail_msg("%s: %s", p->what, err.msg);
		}
		if ((p->has != NULL && strstr(m.code, p->has) == NULL) ||
		    (p->lacks != NULL && strstr(m.code, p->lacks) != NULL)) {
			fail_msg("%s: wants \"%s\", no \"%s\"\n%s", p->what, p->has ? p->has : "",
				 p->lacks ? p->lacks : "", (const char *)m.code);
		}
		run(p, d, &m);
	}
	hn_arena_fini(&a);
}

/* Threads of blocks are a GPU's lanes. */
static void a_gpu_has_no_vectors(void **state)
{
	const struct hn_gpu_options how = { .contracts = true };
	const struct hn_device *d;
	struct hn_gpu_module m;
	struct hn_target target;
	struct hn_arena a;
	struct hn_err err = { 0 };

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("opencl", &a, &target, &err), 0);
	assert_int_equal(hn_device_parse("t", programs[0].text, strlen(programs[0].text), &a, &d, &err),
			 0);
	assert_int_equal(hn_gpu_print(d, HN_GPU_OPENCL, &target, &how, &a, &m, &err), 0);
	assert_null(strstr(m.code, "float16"));
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_are_vectors),
		cmocka_unit_test(a_gpu_has_no_vectors),
	};

	has_device = cl_open(&device);
	if (!has_device) {
		fputs("no OpenCL device: the code is read, and not run\n", stderr);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
