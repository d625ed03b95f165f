/* The NPU's time: cycles of instructions by hand from profiles.def, and of what the second cache has. */
#include "tests/lib/npu_bench.h"

static int64_t core_cycles(const char *code)
{
	char text[2000];
	struct bench b;

	snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 1 {\n%s}\n", code);
	read_text(&b, text);
	b.o.judge = false;
	b.o.gm = NULL;
	run(&b);
	hn_arena_fini(&b.a);
	return b.r.core_cycles;
}

static void cycles_are_those_of_the_model(void **state)
{
	(void)state;
	assert_int_equal(core_cycles(""), 0);
	/* given at 2; 2 to begin, 2 a repeat */
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\n"), 2 + 2 + 20);
	assert_int_equal(core_cycles("vexp.f16 ub[0] ub[0] rep 10\n"), 2 + 2 + 40);
	/* short: latency and burst; long: rate */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 640\n"), 2 + 130 + 10);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\n"), 2 + 1024);
	assert_int_equal(core_cycles("load ub[0] A[0] n 4 burst 8192\n"), 2 + 1024 + 3);
	/* memory is asked again before it has answered; a long load keeps the next one waiting */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 512\nload ub[512] A[512] burst 512\n"),
			 2 + 38 + 130 + 8);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\nload ub[32768] A[0] burst 512\n"),
			 2 + 1024 + 130 + 8);
	/* what waits for a load waits for its answer, and so does a barrier */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 512\nset MTE2 V 0\nwait MTE2 V 0\n"
				     "vadd.f32 ub[0] ub[0] ub[0] rep 10\n"), 2 + 130 + 8 + 1 + 22);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 512\nbarrier MTE2\nload ub[512] A[512] burst 512\n"),
			 2 + 2 * (130 + 8));
	/* 4 x 2 x 3 fractals, and the cube's beginning once */
	assert_int_equal(core_cycles("mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48 init 1\n"),
			 2 + 20 + 24);
	assert_int_equal(core_cycles("mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48 init 1\n"
				     "mmad.f16 l0c[0] l0a[0] l0b[0] m 64 k 32 n 48\n"), 2 + 20 + 48);
	/* a load and a vector, one after the other and at the same time */
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\nbarrier all\n"
				     "vadd.f32 ub[0] ub[0] ub[0] rep 100\n"), 2 + 1024 + 2 + 202);
	assert_int_equal(core_cycles("load ub[0] A[0] burst 32768\n"
				     "vadd.f32 ub[32768] ub[32768] ub[32768] rep 100\n"), 2 + 1024);
	/* a barrier of all lets V finish as its own does; a second one has nothing to wait for */
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier V\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier all\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier all\nbarrier all\n"), 24 + 14);
	assert_int_equal(core_cycles("vadd.f32 ub[0] ub[0] ub[0] rep 10\nbarrier V\nbarrier all\n"), 24 + 14);
	/* the queue is full: the 33rd waits until the first has begun, the 34th for the second */
	assert_int_equal(core_cycles("loop r1 34\nload2d.f16 l0a[0] l1[0] n 100 to 0\nend\n"),
			 1 + 2 + 34 * 200);
}

/* Hundredths of the tables' cycles, of a part of one as well. */
static void cycles_are_scaled_by_the_profile(void **state)
{
	struct hn_npu_profile plain, fitted;
	struct hn_err err = { 0 };
	struct bench b;

	(void)state;
	read_text(&b, "hnpu/1\ncores 0 1 {\nvabs.f32 ub[0] ub[0] rep 3\nload2d.f16 l0b[0] l1[0] n 1\n}\n");
	b.o = (struct hn_npu_options){ 0 };
	b.m.vector_percent = 150;
	b.m.l0_percent = 130;
	run(&b);
	assert_int_equal(b.r.busy[HN_NPU_V], 2 + 5);
	assert_int_equal(b.r.busy[HN_NPU_MTE1], 6);
	hn_arena_fini(&b.a);
	assert_int_equal(hn_npu_profile_of("dv910", &plain, &err), 0);
	assert_int_equal(hn_npu_profile_of("dv910fit", &fitted, &err), 0);
	assert_int_equal(plain.ub_bytes, fitted.ub_bytes);
	assert_true(fitted.vector_percent > plain.vector_percent);
}

/* 131,072 bytes, read so often by so many cores, with a second cache of so many bytes. */
static int64_t reading(int times, int cores, int64_t cache)
{
	char text[300];
	struct bench b;

	snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 %d {\nloop r1 %d\n"
		 "load ub[0] A[0] n 4 burst 32768 to 0\nend\n}\n", cores, times);
	read_text(&b, text);
	b.o = (struct hn_npu_options){ 0 };
	b.m.l2_bytes = cache;
	run(&b);
	hn_arena_fini(&b.a);
	return b.r.core_cycles;
}

static void what_is_read_again_comes_from_the_cache(void **state)
{
	/* half of it at 32 bytes a cycle, half at 110 */
	int64_t half = 131072 / 64 + 131072 / 220 + 3;

	(void)state;
	assert_int_equal(reading(1, 1, 1 << 25), 1 + 2 + 4096 + 3);
	assert_int_equal(reading(2, 1, 1 << 25), 1 + 2 + 2 * half);
	assert_int_equal(reading(1, 2, 1 << 25), 1 + 2 + half);
	/* too large for it: once for both cores, but twice for one that reads it twice */
	assert_int_equal(reading(2, 1, 1000), 1 + 2 + 2 * 4099);
	assert_int_equal(reading(1, 2, 1000), 1 + 2 + half);
	assert_int_equal(reading(2, 2, 1000), 1 + 2 + 2 * half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_are_those_of_the_model),
		cmocka_unit_test(cycles_are_scaled_by_the_profile),
		cmocka_unit_test(what_is_read_again_comes_from_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
