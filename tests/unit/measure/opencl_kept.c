/* Programs that an OpenCL board keeps: a text that comes again is not compiled again, the number of
 * programs and the bytes of their texts are bounded, who was used longest ago leaves first, and what
 * does not compile is not kept.  The driver is counting functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/drv/opencl_int.h"

static uint32_t n_made, n_released;
static char at[4096]; /* programs are its addresses */

static opencl_id make(opencl_id context, uint32_t n, const char **text, const size_t *bytes,
		      int32_t *ret)
{
	(void)context;
	(void)n;
	(void)text;
	(void)bytes;
	*ret = OPENCL_SUCCESS;
	return (opencl_id)(void *)&at[++n_made];
}

static int32_t release(opencl_id program)
{
	assert_non_null(program);
	n_released++;
	return OPENCL_SUCCESS;
}

static int32_t build(opencl_id program, uint32_t n, const opencl_id *device, const char *options,
		     void (*notify)(opencl_id, void *), void *ctx)
{
	(void)program;
	(void)n;
	(void)device;
	(void)options;
	(void)notify;
	(void)ctx;
	return OPENCL_SUCCESS;
}

static int32_t build_nothing(opencl_id program, uint32_t n, const opencl_id *device,
			     const char *options, void (*notify)(opencl_id, void *), void *ctx)
{
	(void)build(program, n, device, options, notify, ctx);
	return OPENCL_BUILD_PROGRAM_FAILURE;
}

static int32_t say_nothing(opencl_id program, opencl_id device, uint32_t what, size_t bytes, void *to,
			   size_t *ret)
{
	(void)program;
	(void)device;
	(void)what;
	(void)bytes;
	(void)to;
	(void)ret;
	return OPENCL_OUT_OF_RESOURCES;
}

static void open_device(struct opencl_device *d)
{
	*d = (struct opencl_device){.api = {.CreateProgramWithSource = make,
					    .BuildProgram = build,
					    .GetProgramBuildInfo = say_nothing,
					    .ReleaseProgram = release}};
	n_made = n_released = 0;
}

/* The program of a text that is the number, and as long as asked. */
static opencl_id program_of(struct opencl_device *d, uint32_t number, size_t bytes)
{
	char *text = calloc(1, bytes);
	struct hn_gpu_module m = {.code = text, .code_bytes = bytes};
	struct opencl_program p = {.n = 0};
	struct hn_err err = {0};

	assert_non_null(text);
	memcpy(text, &number, sizeof number);
	enum hn_verdict v = opencl_build(d, &p, &m, &err);

	free(text);
	return v == HN_VERDICT_OK ? p.program : NULL;
}

static void close_device(struct opencl_device *d)
{
	for (uint32_t i = 0; i < OPENCL_MOST_KEPT; i++) {
		free(d->kept[i].text);
	}
}

static void a_text_is_compiled_once(void **state)
{
	struct opencl_device d;

	(void)state;
	open_device(&d);
	opencl_id first = program_of(&d, 1, 100), second = program_of(&d, 2, 100);

	assert_non_null(first);
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(program_of(&d, 1, 100), first);
	assert_ptr_equal(program_of(&d, 2, 100), second);
	assert_ptr_not_equal(program_of(&d, 1, 101), first); /* longer by a byte: another */
	assert_int_equal(n_made, 3);
	assert_int_equal(n_released, 0);
	close_device(&d);
}

static void the_oldest_leaves(void **state)
{
	struct opencl_device d;

	(void)state;
	open_device(&d);
	opencl_id first = program_of(&d, 0, 100);

	for (uint32_t i = 1; i < 40; i++) {
		program_of(&d, i, 100);
		assert_ptr_equal(program_of(&d, 0, 100), first); /* used all the time */
		assert_true(n_made - n_released <= OPENCL_MOST_KEPT);
	}
	assert_int_equal(n_made, 40);
	program_of(&d, 39, 100);
	assert_int_equal(n_made, 40);
	program_of(&d, 1, 100);
	assert_int_equal(n_made, 41);
	close_device(&d);
}

static void texts_are_bounded(void **state)
{
	const size_t third = OPENCL_MOST_KEPT_BYTES / 3;
	struct opencl_device d;

	(void)state;
	open_device(&d);
	for (uint32_t i = 0; i < 6; i++) {
		program_of(&d, i, third);
		assert_true(n_made - n_released <= 3);
	}
	assert_non_null(program_of(&d, 7, OPENCL_MOST_KEPT_BYTES + 1)); /* alone */
	assert_int_equal(n_made - n_released, 1);
	program_of(&d, 8, 100);
	assert_int_equal(n_made - n_released, 1);
	assert_int_equal(d.kept_bytes, 100);
	close_device(&d);
}

static void what_does_not_compile_is_not_kept(void **state)
{
	struct opencl_device d;

	(void)state;
	open_device(&d);
	d.api.BuildProgram = build_nothing;
	assert_null(program_of(&d, 1, 100));
	assert_null(program_of(&d, 1, 100));
	assert_int_equal(n_made, 2);
	assert_int_equal(n_released, 2);
	close_device(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_compiled_once),
		cmocka_unit_test(the_oldest_leaves),
		cmocka_unit_test(texts_are_bounded),
		cmocka_unit_test(what_does_not_compile_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
