/* Modules for a GPU as bytes: what is written reads back as it was, what makes no sense is refused
 * with its place, and no bytes crash the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "proto/gpu_module.h"

#define CODE "__kernel void k0(void) {}\n"
#define BUFFERS "buffer 15360 0\nbuffer 4096 -1\nbuffer 8 2\n"
#define K0 "kernel k0 grid 30 1 1 block 32 1 1 shared 128 0 args 1 0\n"
#define K1 "kernel k1 grid 1 65535 1 block 1 1 1024 shared 0 65536 args\n"
#define MAP "map 0 elem 2 dims 2 size 60 128 stride 256 2 box 64 64 swizzle 128\n"
#define K2 "kernel k2 grid 1 1 1 block 1 1 1 shared 0 0 args 0 maps 0\n"
#define WITH_MAP(map) "module/1 ptx sm_90a\n" BUFFERS map K2 "code 1\nx"
#define GOOD "module/1 opencl generic\n" BUFFERS K0 K1 "code 26\n" CODE

static int read_text(const char *text, size_t n, struct hn_arena *a,
		     const struct hn_gpu_module **ret, struct hn_err *err)
{
	return hn_gpu_module_read("t", text, n, a, ret, err);
}

static void comes_back(void **state)
{
	const struct hn_gpu_module *m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf text;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	assert_int_equal(read_text(GOOD, strlen(GOOD), &a, &m, &err), 0);
	assert_int_equal(m->form, HN_GPU_OPENCL);
	assert_string_equal(m->isa, "generic");
	assert_int_equal(m->n_buffer, 3);
	assert_int_equal(m->buffer[1].arg, -1);
	assert_int_equal(m->n_kernel, 2);
	assert_int_equal(m->kernel[0].n_arg, 2);
	assert_int_equal(m->kernel[0].arg[0], 1);
	assert_int_equal(m->kernel[1].grid[1], 65535);
	assert_int_equal(m->kernel[1].dynamic_shared, 65536);
	assert_string_equal(m->code, CODE);
	hn_gpu_module_write(m, &text);
	assert_string_equal(text.s, GOOD);
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* Maps stand between buffers and kernels. */
static void maps_come_back(void **state)
{
	const struct hn_gpu_module *m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf text;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&text);
	assert_int_equal(read_text(WITH_MAP(MAP), strlen(WITH_MAP(MAP)), &a, &m, &err), 0);
	assert_int_equal(m->n_map, 1);
	assert_int_equal(m->map[0].n_dim, 2);
	assert_int_equal(m->map[0].stride[0], 256);
	assert_int_equal(m->map[0].swizzle, 128);
	assert_int_equal(m->kernel[0].n_map, 1);
	assert_int_equal(m->kernel[0].map[0], 0);
	hn_gpu_module_write(m, &text);
	assert_string_equal(text.s, WITH_MAP(MAP));
	hn_buf_fini(&text);
	hn_arena_fini(&a);
}

/* Code that is no text keeps all of its bytes. */
static void binary_comes_back(void **state)
{
	static const char text[] = "module/1 cubin sm_90\nkernel k grid 1 1 1 block 1 1 1 shared 0 "
				   "0 args\ncode 4\na\0b\n";
	const struct hn_gpu_module *m;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct hn_buf out;

	(void)state;
	hn_arena_init(&a, 0);
	hn_buf_init(&out);
	assert_int_equal(read_text(text, sizeof(text) - 1, &a, &m, &err), 0);
	assert_int_equal(m->code_bytes, 4);
	assert_memory_equal(m->code, "a\0b\n", 5);
	hn_gpu_module_write(m, &out);
	assert_int_equal(out.n, sizeof(text) - 1);
	assert_memory_equal(out.s, text, out.n);
	hn_buf_fini(&out);
	hn_arena_fini(&a);
}

/* Nothing at all is read as little text is. */
static void no_bytes_are_refused(void **state)
{
	const struct hn_gpu_module *m;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(read_text(NULL, 0, &a, &m, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "t:1: no line"));
	hn_arena_fini(&a);
}

/* Whole texts, and a part of the line that says so. */
static const struct bad {
	const char *text, *says;
} bad[] = {
	{ "", "t:1: no line" },
	{ "module/1 opencl generic", "t:1: no line" },
	{ "module/2 opencl generic\n", "t:1: module/1 is wanted" },
	{ "module/1 spirv generic\n", "t:1: the form" },
	{ "module/1 opencl\n", "t:1: an isa" },
	{ "module/1 opencl generic x\n", "t:1: the line's end" },
	{ "module/1 opencl a/b\n" K1 "code 1\nx", "t: module: no such form, or no isa" },
	{ "module/1 opencl generic\n" BUFFERS "code 1\nx", "0 kernels" },
	{ "module/1 opencl generic\n" K1, "t:3: no line" },
	{ "module/1 opencl generic\n" K1 "code 2\nx", "t:3: code of 2 bytes, but 1 follow" },
	{ "module/1 opencl generic\n" K1 "code 1\nxy", "t:3: code of 1 bytes, but 2 follow" },
	{ "module/1 opencl generic\n" K1 "code -1\nx", "t:3: code of -1" },
	{ "module/1 opencl generic\n" K1 "code 0\n", "0 bytes of code" },
	{ "module/1 opencl generic\n" K1 "code 01\nx", "t:3: a number" },
	{ "module/1 opencl generic\n" K1 BUFFERS "code 1\nx", "t:3: a buffer, then a kernel" },
	{ "module/1 opencl generic\n" K1 K1 "code 1\nx", "kernel k1: another kernel" },
	{ "module/1 opencl generic\n" K0 "code 1\nx", "kernel k0: a parameter is no buffer" },
	{ "module/1 opencl generic\nbuffer 0 1\n" K1 "code 1\nx", "buffer 0: 0 bytes" },
	{ "module/1 opencl generic\nbuffer -8 1\n" K1 "code 1\nx", "buffer 0: -8 bytes" },
	{ "module/1 opencl generic\nbuffer 1099511627777 1\n" K1 "code 1\nx", "outside" },
	{ "module/1 opencl generic\nbuffer 9999999999999999 1\n" K1 "code 1\nx", "t:2: a number" },
	{ "module/1 opencl generic\nbuffer 8 256\n" K1 "code 1\nx", "t:2: the number of an arg" },
	{ "module/1 opencl generic\nbuffer 8 -2\n" K1 "code 1\nx", "t:2: the number of an arg" },
	{ "module/1 opencl generic\nbuffer 8 -0\n" K1 "code 1\nx", "t:2: a number" },
	{ "module/1 opencl generic\nbuffer 8 1\nbuffer 8 1\n" K1 "code 1\nx",
	  "buffer 1: argument 1 is another" },
	{ "module/1 opencl generic\nkernel 0k grid 1 1 1 block 1 1 1 shared 0 0 args\ncode 1\nx",
	  "kernel 0: its name" },
	{ "module/1 opencl generic\nkernel k grid 0 1 1 block 1 1 1 shared 0 0 args\ncode 1\nx",
	  "kernel k: grid or block" },
	{ "module/1 opencl generic\nkernel k grid 1 1 2147483648 block 1 1 1 shared 0 0 args\n"
	  "code 1\nx", "kernel k: grid or block" },
	{ "module/1 opencl generic\nkernel k grid 1 1 1 block 32 33 1 shared 0 0 args\ncode 1\nx",
	  "kernel k: grid or block" },
	{ "module/1 opencl generic\nkernel k grid 1 1 1 block 1 1 1 shared 0 1048577 args\n"
	  "code 1\nx", "kernel k: shared memory" },
	{ "module/1 opencl generic\nkernel k grid 1 1 1 block 1 1 1 shared -1 0 args\ncode 1\nx",
	  "kernel k: shared memory" },
	{ "module/1 opencl generic\nkernel k grid 1 1 block 1 1 1 shared 0 0 args\ncode 1\nx",
	  "t:2: a number" },
	{ "module/1 opencl generic\nkernel k grid 1 1 1 block 1 1 1 shared 0 0 args -1\ncode 1\nx",
	  "t:2: the number of a buffer" },
	{ "module/1 opencl generic\nkernel k grid 1 1 1 block 1 1 1 shared 0 0\ncode 1\nx",
	  "t:2: args is wanted" },
#define BAD_MAP(line, says) { WITH_MAP("map " line "\n"), says }
	BAD_MAP("3 elem 2 dims 1 size 8 stride 2 box 8 swizzle 0", "map 0: it is of no buffer"),
	BAD_MAP("-1 elem 2 dims 1 size 8 stride 2 box 8 swizzle 0", "t:5: the number of a buffer"),
	BAD_MAP("0 elem 2 dims 6 size 8 stride 2 box 8 swizzle 0", "t:5: the number of a buffer"),
	BAD_MAP("0 elem 3 dims 1 size 8 stride 2 box 8 swizzle 0", "1, 2, 4 or 8 bytes"),
	BAD_MAP("0 elem 2 dims 1 size 8 stride 2 box 8 swizzle 16", "0, 32, 64 or 128"),
	BAD_MAP("0 elem 2 dims 1 size 0 stride 2 box 8 swizzle 0", "outside of the limits"),
	BAD_MAP("0 elem 2 dims 1 size 8 stride 4 box 8 swizzle 0", "multiples of 16 bytes"),
	BAD_MAP("0 elem 2 dims 1 size 8 stride 2 box 257 swizzle 0", "outside of the limits"),
	BAD_MAP("0 elem 2 dims 1 size 8 stride 2 box 4 swizzle 0", "rows of its box"),
	BAD_MAP("0 elem 2 dims 1 size 80 stride 2 box 64 swizzle 64", "rows of its box"),
	BAD_MAP("0 elem 2 dims 2 size 8 8 stride 24 2 box 8 8 swizzle 0", "multiples of 16 bytes"),
	BAD_MAP("0 elem 2 dims 2 size 61 128 stride 256 2 box 8 8 swizzle 0", "past the end"),
	BAD_MAP("0 elem 2 dims 2 size 4294967296 8 stride 1099511627760 2 box 8 8 swizzle 0",
		"past the end"),
	BAD_MAP("0 elem 2 dims 2 size 8 stride 16 2 box 8 8 swizzle 0", "t:5: a number"),
	{ "module/1 ptx sm_90a\n" BUFFERS K2 "code 1\nx", "kernel k2: a parameter is no map" },
	{ "module/1 ptx sm_90a\n" BUFFERS MAP "buffer 8 1\n" K2 "code 1\nx", "t:6: a buffer, then" },
	{ "module/1 ptx sm_90a\n" BUFFERS MAP "kernel k grid 1 1 1 block 1 1 1 shared 0 0 args 0 mapsx "
	  "0\ncode 1\nx", "t:6: maps is wanted" },
};

static void bad_ones_are_refused(void **state)
{
	static const char nul[] = "module/1 ptx sm_80\n" K1 "code 1\n";

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_gpu_module *m = NULL;
		struct hn_err err = { 0 };
		struct hn_arena a;

		hn_arena_init(&a, 0);
		int rc = read_text(bad[i].text, strlen(bad[i].text), &a, &m, &err);

		if (rc != -HONE_E_INVALID || strstr(err.msg, bad[i].says) == NULL || m != NULL) {
			fail_msg("%zu: %d, \"%s\", but expected \"%s\"", i, rc, err.msg,
				 bad[i].says);
		}
		hn_arena_fini(&a);
	}
	const struct hn_gpu_module *m = NULL;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	/* the one byte of code is the NUL behind the text */
	assert_int_equal(read_text(nul, sizeof(nul), &a, &m, &err), -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "byte 0"));
	hn_arena_fini(&a);
}

/* As many as there may be, and one more. */
static void many_are_refused(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		const struct hn_gpu_module *m;
		struct hn_err err = { 0 };
		struct hn_arena a;
		struct hn_buf text;

		hn_arena_init(&a, 0);
		hn_buf_init(&text);
		hn_buf_puts(&text, "module/1 ptx sm_80\n");
		for (uint32_t i = 0; i < HN_GPU_MAX_BUFFERS + more; i++) {
			hn_buf_puts(&text, "buffer 4 -1\n");
		}
		hn_buf_puts(&text, K1 "code 1\nx");
		int rc = read_text(text.s, text.n, &a, &m, &err);

		assert_int_equal(rc, more > 0 ? -HONE_E_INVALID : 0);
		hn_buf_fini(&text);
		hn_arena_fini(&a);
	}
}

/* Bytes are changed, left out and doubled: what is taken is right in itself. */
static void damage_does_no_harm(void **state)
{
	uint32_t taken = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 20000; seed++) {
		struct hn_rng rng = hn_rng_stream(seed, 1, 2, 3);
		const struct hn_gpu_module *m;
		struct hn_err err = { 0 };
		struct hn_arena a;
		char text[2 * sizeof(GOOD)];
		size_t n = sizeof(GOOD) - 1;

		hn_arena_init(&a, 0);
		memcpy(text, GOOD, sizeof(GOOD));
		for (uint32_t i = 0; i < 1 + seed % 3 && n > 1; i++) {
			size_t at = hn_rng_below(&rng, n - 1);

			switch (hn_rng_below(&rng, 4)) {
			case 0:
				text[at] = (char)hn_rng_below(&rng, 256);
				break;
			case 1:
				text[at] = "0123456789 -\n"[hn_rng_below(&rng, 13)];
				break;
			case 2:
				memmove(text + at, text + at + 1, n - at - 1);
				n--;
				break;
			default:
				n = at + 1;
				break;
			}
		}
		if (read_text(text, n, &a, &m, &err) == 0) {
			assert_int_equal(hn_gpu_module_check(m, &err), 0);
			taken++;
		} else {
			assert_int_equal(err.code, HONE_E_INVALID);
			assert_int_equal(strncmp(err.msg, "t:", 2), 0);
			refused++;
		}
		hn_arena_fini(&a);
	}
	print_message("%u damaged modules taken, %u refused\n", taken, refused);
	assert_true(taken > 0 && refused > taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(maps_come_back),
		cmocka_unit_test(binary_comes_back),
		cmocka_unit_test(no_bytes_are_refused),
		cmocka_unit_test(bad_ones_are_refused), cmocka_unit_test(many_are_refused),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
