/* The NPU's cores: each is looked at where they differ, and they meet at `barrier cores`. */
#include <stdlib.h>

#include "tests/lib/npu_bench.h"

/* Time alone: of the slowest core, whether one stands for all or not. */
static void cores_that_differ_are_all_looked_at(void **state)
{
	static const char *const code[] = {
		"core r0\nadd r1 r0 1\nloop r2 r1\nload ub[0] A[0] burst 640\nend\n",
		"core r0\nmul r1 r0 3\nif r1 2\nload ub[0] A[0] burst 640\nend\nload ub[0] A[0] burst 640\n",
		"core r0\nadd r3 r0 1\nload ub[0] A[0] n r3 burst 6400 to 0\n",
		/* it is known behind the loop's end alone */
		"mov r1 1\nloop r2 2\nload ub[0] A[0] n r1 burst 6400 to 0\ncore r0\nadd r1 r0 1\nend\n",
		/* these are alike */
		"core r0\nmul r1 r0 2048\nloop r2 3\nmul r3 r2 512\nadd r3 r3 r1\nload ub[0] A[r3] burst 512\nend\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		struct hn_npu_result timed;
		char text[400];
		struct bench b;

		snprintf(text, sizeof(text), "hnpu/1\ngm A float16[65536]\ncores 0 2 {\n%s}\n", code[i]);
		read_text(&b, text);
		b.o.judge = true;
		run(&b);
		timed = b.r;
		b.o = (struct hn_npu_options){ 0 };
		run(&b);
		assert_int_equal(b.r.core_cycles, timed.core_cycles);
		assert_int_equal(b.r.read_bytes, timed.read_bytes);
		assert_true((b.r.n_insn < timed.n_insn) == (i == 4));
		hn_arena_fini(&b.a);
	}
}

/* Each core stores its sum, all wait, and each adds up all sums; three times, as the next round's
 * sums are of what the last one made. */
static const char meeting[] =
	"hnpu/1\ngm A float32[128]\ngm P float32[16]\ngm B float32[128]\ncores 0 2 {\ncore r0\n"
	"mul r1 r0 256\nmul r2 r0 32\nload ub[0] A[r1] burst 256\nbarrier all\nloop r3 3\n"
	"vcadd.f32 ub[1024] ub[0]\nbarrier all\nstore P[r2] ub[1024] burst 4\n"
	"barrier cores\n"
	"load ub[2048] P[0] n 2 burst 4 from 32\nbarrier all\nvadd.f32 ub[3072] ub[2048] ub[2080] mask 1\n"
	"barrier all\nvadd.f32 ub[0] ub[0] ub[3072] mask 1\nbarrier cores\nend\nstore B[r1] ub[0] burst 256\n}\n";

static void cores_wait_for_each_other(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct bench b;
		float want[2] = { 0, 0 }, first[2] = { 0, 64 };

		read_text(&b, meeting);
		b.o.seed = seed;
		for (int i = 0; i < 128; i++) {
			((float *)b.gm[0])[i] = (float)i;
			want[i / 64] += (float)i;
		}
		for (int i = 0; i < 3; i++) {
			float all = want[0] + want[1];

			for (int k = 0; k < 2; k++) {
				first[k] += all;
				want[k] += all;
			}
		}
		run(&b);
		assert_float_equal(((float *)b.gm[2])[0], first[0], 0);
		assert_float_equal(((float *)b.gm[2])[64], first[1], 0);
		assert_float_equal(((float *)b.gm[2])[65], 65, 0);
		hn_arena_fini(&b.a);
	}
}

/* Either meeting is needed: without it one core may write what another one reads. */
static void each_meeting_is_needed(void **state)
{
	(void)state;
	for (int which = 0; which < 2; which++) {
		char text[sizeof(meeting)], *at;
		struct bench b;

		memcpy(text, meeting, sizeof(text));
		at = strstr(text, "barrier cores");
		at = which == 0 ? at : strstr(at + 1, "barrier cores");
		memcpy(at, "barrier all  ", 13);
		read_text(&b, text);
		assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		assert_int_equal(b.r.fault, HN_NPU_F_RACE);
		hn_arena_fini(&b.a);
	}
}

static void the_latest_core_says_when(void **state)
{
	static const char text[] =
		"hnpu/1\ngm A float16[65536]\ncores 0 1 {\nload ub[0] A[0] burst 640\nbarrier cores\n"
		"load ub[0] A[0] burst 640\n}\ncores 1 1 {\nload ub[0] A[0] burst 32768\nbarrier cores\n}\n";
	struct bench b;

	(void)state;
	read_text(&b, text);
	b.o.gm = NULL;
	run(&b);
	assert_int_equal(b.r.core_cycles, 2 + 1024 + 260 + 2 + 130 + 10);
	hn_arena_fini(&b.a);
	/* of a core that is alone, and of one that the others wait for in vain */
	read_text(&b, "hnpu/1\ncores 0 1 {\nbarrier cores\n}\n");
	run(&b);
	assert_int_equal(b.r.core_cycles, 260);
	hn_arena_fini(&b.a);
	read_text(&b, "hnpu/1\ncores 0 2 {\ncore r0\nif r0 1\nbarrier cores\nend\n}\n");
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_int_equal(b.r.fault, HN_NPU_F_DEADLOCK);
	assert_int_equal(b.r.line, 5);
	hn_arena_fini(&b.a);
}

/* Each core hands the other its numbers through scratch, which no caller gives. */
static const char exchange[] =
	"hnpu/1\ngm A float32[16]\ngm B float32[16]\nscratch W float32[16]\ncores 0 2 {\ncore r0\n"
	"mul r1 r0 32\nsub r2 32 r1\nload ub[0] A[r1] burst 32\nbarrier all\nstore W[r1] ub[0] burst 32\n"
	"barrier cores\nload ub[32] W[r2] burst 32\nbarrier all\nstore B[r1] ub[32] burst 32\n}\n";

static void scratch_is_shared_and_begins_empty(void **state)
{
	static const char alone[] = "hnpu/1\nscratch W float32[16]\ncores 0 1 {\nload ub[0] W[0] burst 64\n}\n";
	char text[sizeof(exchange)];
	struct bench b;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		read_text(&b, exchange);
		assert_true(b.p->n_buffer == 2 && b.p->n_scratch == 1);
		b.o.seed = seed;
		for (int i = 0; i < 16; i++) {
			((float *)b.gm[0])[i] = (float)i;
		}
		run(&b);
		for (int i = 0; i < 16; i++) {
			assert_float_equal(((float *)b.gm[1])[i], (float)((i + 8) % 16), 0);
		}
		hn_arena_fini(&b.a);
	}
	memcpy(text, exchange, sizeof(text));
	memcpy(strstr(text, "barrier cores"), "barrier all  ", 13);
	read_text(&b, text);
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_true(b.r.fault == HN_NPU_F_RACE || b.r.fault == HN_NPU_F_UNWRITTEN);
	hn_arena_fini(&b.a);
	/* what is one core's own may be unwritten, before and behind a meeting */
	for (int met = 0; met < 2; met++) {
		snprintf(text, sizeof(text), "%.*s%s%s", 41, alone, met ? "barrier cores\n" : "", alone + 41);
		read_text(&b, text);
		assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
		assert_int_equal(b.r.fault, HN_NPU_F_UNWRITTEN);
		assert_non_null(strstr(b.err.msg, "block 0 of W"));
		hn_arena_fini(&b.a);
	}
}

/* Meetings of large buffers are work. */
static void meetings_end(void **state)
{
	struct bench b;

	(void)state;
	read_text(&b, "hnpu/1\ngm A int8[67108864]\ncores 0 2 {\nloop r1 1000000\nbarrier cores\nend\n}\n");
	b.o.gm = NULL;
	b.o.most = 1 << 20;
	assert_int_equal(hn_npu_run(b.p, &b.m, &b.o, &b.a, &b.r, &b.err), -HONE_E_INVALID);
	assert_int_equal(b.r.fault, HN_NPU_F_BUDGET);
	hn_arena_fini(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_that_differ_are_all_looked_at),
		cmocka_unit_test(cores_wait_for_each_other),
		cmocka_unit_test(each_meeting_is_needed),
		cmocka_unit_test(the_latest_core_says_when),
		cmocka_unit_test(scratch_is_shared_and_begins_empty),
		cmocka_unit_test(meetings_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
