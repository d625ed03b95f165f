/* Flags around meetings of cores: what is behind one comes after all before it, in every order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower/npu/npu.h"
#include "target/npu/npu_run.h"

/* Each core's sum of 64, stored; then the sum of both, by each. */
static const char code[] =
	"hnpu/1\ngm A float32[128]\ngm P float32[16]\ngm B float32[16]\ncores 0 2 {\ncore r0\n"
	"mul r1 r0 256\nmul r2 r0 32\nload ub[0] A[r1] burst 256\nvcadd.f32 ub[256] ub[0]\n"
	"store P[r2] ub[256] burst 4\nbarrier cores\nload ub[512] P[0] n 2 burst 4 from 32\n"
	"vadd.f32 ub[256] ub[512] ub[544] mask 1\nstore B[r2] ub[256] burst 4\n}\n";

static void both_cores_have_the_sum_of_both(void **state)
{
	static const enum hn_npu_order orders[] = { HN_NPU_BARRIERS, HN_NPU_FLAGS };

	(void)state;
	for (uint64_t i = 0; i < 200; i++) {
		float a[128], p[16] = { 0 }, b[16] = { 0 };
		void *gm[] = { a, p, b };
		struct hn_npu_options o = { .gm = gm, .judge = true, .seed = i / 2 };
		const struct hn_npu_program *program;
		struct hn_npu_profile m;
		struct hn_npu_result r;
		struct hn_err err = { 0 };
		struct hn_arena arena;
		struct hn_buf text;

		for (int k = 0; k < 128; k++) {
			a[k] = (float)k;
		}
		hn_arena_init(&arena, 0);
		hn_buf_init(&text);
		hn_buf_puts(&text, code);
		assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
		if (hn_npu_order_text(&text, &m, orders[i % 2], &arena, &program, NULL, &err) != 0 ||
		    hn_npu_run(program, &m, &o, &arena, &r, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		assert_float_equal(b[0], 8128, 0);
		assert_float_equal(b[8], 8128, 0);
		hn_arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_cores_have_the_sum_of_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
