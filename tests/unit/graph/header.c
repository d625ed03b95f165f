/* The header of a compiled network: its words, letter by letter, and that any compiler takes it,
 * whatever the network's author called its tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "graph/library/header.h"
#include "tests/lib/model_small.h"

static const char expected[] =
	"/* small: a network compiled by hone, 3 steps of 2 kernels.  See hone/model.h "
	"for how to\n"
	" * run it, and hone/pool.h for threads.\n *\n"
	" *   in[0]: float32[64, 64]  \"x\"\n"
	" *   out[0]: float32[64, 64]  \"the answer\"\n *\n"
	" * Its weights are the file model.weights.\n */\n"
	"#ifndef HONE_COMPILED_small_H\n#define HONE_COMPILED_small_H\n\n"
	"#include \"hone/model.h\"\n\n"
	"#define small_N_INPUTS 1\n#define small_N_OUTPUTS 1\n#define small_N_STEPS 3\n\n"
	"#define small_INPUT_0_BYTES UINT64_C(16384)\n"
	"#define small_OUTPUT_0_BYTES UINT64_C(16384)\n"
	"#define small_WEIGHTS_BYTES UINT64_C(32768)\n"
	"#define small_PREPARED_BYTES UINT64_C(32768)\n\n"
	"/* Bytes of the arena that serve so many workers, at least 1; small_arena_bytes "
	"may say "
	"less. */\n"
	"#define small_ARENA_BYTES(n_workers) \\\n"
	"\t(UINT64_C(16384) + (uint64_t)(n_workers) * UINT64_C(64))\n\n"
	"#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
	"extern const struct hone_model small_model;\n"
	"uint64_t small_arena_bytes(int32_t n_workers);\n"
	"int32_t small_prepare(const void *weights, void *prepared, void *arena, const "
	"struct "
	"hone_env *env);\n";

static void words_are_these(void **state)
{
	struct hn_buf b;
	struct ms s;

	(void)state;
	hn_buf_init(&b);
	ms_make(&s, MS_ALL);
	hn_model_header(&s.m, "model", /* embedded= */ false, /* gpu= */ false, &b);
	assert_memory_equal(b.s, expected, strlen(expected));
	hn_buf_fini(&b);
}

static void embedded_weights_are_declared(void **state)
{
	struct hn_buf b;
	struct ms s;

	(void)state;
	hn_buf_init(&b);
	ms_make(&s, MS_ALL);
	hn_model_header(&s.m, "model", /* embedded= */ true, /* gpu= */ false, &b);
	assert_non_null(strstr(b.s, " * Its weights are small_weights.\n */"));
	assert_non_null(strstr(b.s, "\nextern const unsigned char small_weights[]; "));
	assert_null(strstr(b.s, "model.weights"));
	hn_buf_fini(&b);
}

/* Nothing of this machine's but the inputs and outputs; two functions more, where it is one. */
static void a_gpu_has_the_arena(void **state)
{
	struct hn_buf b;
	struct ms s;

	(void)state;
	hn_buf_init(&b);
	ms_make(&s, MS_ALL);
	hn_model_header(&s.m, "model", /* embedded= */ false, /* gpu= */ true, &b);
	assert_non_null(strstr(b.s, "#define small_ARENA_BYTES(n_workers) UINT64_C(0)"));
	assert_non_null(strstr(b.s, "\nint32_t small_release(void *prepared);\n"));
	assert_non_null(strstr(b.s, "\nconst char *small_error(void);\n"));
	b.n = 0;
	hn_model_header(&s.m, "model", /* embedded= */ false, /* gpu= */ false, &b);
	assert_null(strstr(b.s, "small_release"));
	hn_buf_fini(&b);
}

static void any_names_compile(void **state)
{
	static const char *const by[] = { "-x c -std=c89 -pedantic-errors", "-x c++" };
	struct hn_err err = { 0 };
	struct hn_buf b;
	struct ms s;

	(void)state;
	hn_buf_init(&b);
	ms_make(&s, MS_ALL);
	s.input.name = "*/ #error /* // \" ?\?/";
	s.output.name = "/layer/*/*/\\";
	assert_int_equal(hn_model_check(&s.m, &err), 0);
	hn_model_header(&s.m, "model", /* embedded= */ false, /* gpu= */ false, &b);
	for (size_t i = 0; i < HN_COUNT_OF(by); i++) {
		char command[500];

		snprintf(command, sizeof command,
			 "'" HONE_CC
			 "' %s -Wall -Wextra -Werror -Wno-long-long -fsyntax-only "
			 "-I'" HONE_SOURCE_DIR "/include' - 2>&1",
			 by[i]);
		FILE *cc = popen(command, "w");

		assert_non_null(cc);
		fputs(b.s, cc);
		assert_int_equal(pclose(cc), 0);
	}
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_these),
		cmocka_unit_test(embedded_weights_are_declared),
		cmocka_unit_test(a_gpu_has_the_arena),
		cmocka_unit_test(any_names_compile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
