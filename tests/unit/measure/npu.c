/* Boards of the simulated NPU, with hand-written programs: right ones are timed as the machine counts,
 * each fault gets its class and its place, and the board goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "measure/board/board.h"
#include "measure/board/child.h"
#include "target/npu/npu_run.h"
#include "tests/lib/measure_cc.h"

#define N 4096

static struct hn_buf naive;
static const struct hn_board_ops *ops;
static void *board;

/* Y = 2 X + 1 */
static const char naive_code[] =
	"#include <stdint.h>\n"
	"struct hone_env;\n"
	"int32_t naive_packed(void *const *a, const struct hone_env *env) {\n"
	" const float *X = a[0]; volatile float *Y = a[1];\n"
	" for (int i = 0; i < 4096; i++) Y[i] = X[i] * 2.0f + 1.0f; return 0; }\n";

#define ARGS "hnpu/1\ngm X float32[4096]\ngm Y float32[4096]\n"
#define HEAD ARGS "cores 0 2 {\n  core r0\n  mul r0 r0 8192\n"
#define LOAD "  load ub[0] X[r0] burst 8192\n"
#define ALL "  barrier all\n"
#define TWICE "  vmuls.f32 ub[8192] ub[0] 2 rep 32\n"
#define PLUS "  vadds.f32 ub[8192] ub[8192] 1 rep 32\n"
#define STORE "  store Y[r0] ub[8192] burst 8192\n"
#define END "}\n"

static const char good[] = HEAD LOAD ALL TWICE ALL PLUS ALL STORE END;
static const char flags[] = HEAD LOAD "  set MTE2 V 0\n  wait MTE2 V 0\n" TWICE "  barrier V\n" PLUS
				      "  set V MTE3 0\n  wait V MTE3 0\n" STORE END;

/* Its second core takes longer: it loads from an address that is no multiple of 512. */
static const char uneven[] = HEAD "  div r1 r0 256\n  load ub[0] X[r1] burst 8192\n" ALL TWICE ALL PLUS ALL
	STORE END;
static const char endless[] = HEAD "  loop r1 1000000000000\n  end\n" END;

static const struct {
	const char *name, *text;
	enum hn_verdict verdict;
	const char *words;
} fault[] = {
	{"wrong", HEAD LOAD ALL TWICE ALL STORE END, HN_VERDICT_WRONG_RESULT, "4096 of 4096 elements"},
	{"left out", HEAD LOAD ALL TWICE ALL PLUS ALL "  store Y[r0] ub[8192] burst 8160\n" END,
	 HN_VERDICT_WRONG_RESULT, "16 of 4096 elements"},
	{"wrong elsewhere", HEAD LOAD ALL "  vmaxs.f32 ub[0] ub[0] -5 rep 32\n" ALL TWICE ALL PLUS ALL
	 STORE END, HN_VERDICT_WRONG_RESULT, "inputs: extremes to 2^30"},
	{"race", HEAD LOAD TWICE ALL PLUS ALL STORE END, HN_VERDICT_NONDETERMINISTIC,
	 "program:8: race: reads block 0 of ub, which MTE2 writes"},
	{"race of cores", HEAD LOAD ALL TWICE ALL PLUS ALL "  store Y[0] ub[8192] burst 8192\n" END,
	 HN_VERDICT_NONDETERMINISTIC, "which another core writes"},
	{"unwritten", HEAD TWICE ALL PLUS ALL STORE END, HN_VERDICT_NONDETERMINISTIC, "program:7: unwritten"},
	{"set twice", HEAD "  set MTE2 V 0\n  set MTE2 V 0\n  wait MTE2 V 0\n  wait MTE2 V 0\n" END,
	 HN_VERDICT_NONDETERMINISTIC, "set twice"},
	{"left set", HEAD "  set MTE2 V 0\n" END, HN_VERDICT_NONDETERMINISTIC, "left set"},
	{"deadlock", HEAD "  wait MTE2 V 0\n" END, HN_VERDICT_HANG, "deadlock"},
	{"past an argument", HEAD "  load ub[0] X[16384] burst 32\n" END, HN_VERDICT_SEGV,
	 "program:7: out of bounds: X[16384] to 16416, of 16384 bytes"},
	{"before one", HEAD "  load ub[0] X[r0-8224] burst 32\n" END, HN_VERDICT_SEGV, "out of bounds"},
	{"past the buffer", HEAD "  load ub[65536] X[0] burst 32\n" END, HN_VERDICT_SEGV, "out of bounds"},
	{"misaligned", HEAD "  load ub[8] X[0] burst 32\n" END, HN_VERDICT_BUS, "misaligned"},
	{"division", HEAD "  div r1 1 r2\n" END, HN_VERDICT_ILL, "division by 0"},
	{"an input", HEAD LOAD ALL "  store X[r0] ub[0] burst 8192\n" END, HN_VERDICT_SEGV_GUARD,
	 "program:9: store to X, an input"},
	{"scratch of its own", ARGS "scratch W float32[4096]\ncores 0 1 {\n" "  load ub[0] X[0] burst 8192\n" ALL
	 "  store W[0] ub[0] burst 8192\n" END, HN_VERDICT_WRONG_RESULT, "4096 of 4096 elements"},
	{"scratch unwritten", ARGS "scratch W float32[4096]\ncores 0 1 {\n  load ub[0] W[64] burst 32\n" END,
	 HN_VERDICT_NONDETERMINISTIC, "program:6: unwritten: reads block 2 of W"},
	{"scratch in place of an argument", "hnpu/1\ngm X float32[4096]\nscratch Y float32[4096]\ncores 0 1 {\n}\n",
	 HN_VERDICT_LOAD_FAIL, "it has 1 buffers, the task 2 arguments"},
	{"too many cores", ARGS "cores 0 3 {\n}\n", HN_VERDICT_OVER_LIMIT, "code for core 2, and tiny has 2"},
	{"another type", "hnpu/1\ngm X int32[4096]\ngm Y float32[4096]\ncores 0 1 {\n}\n",
	 HN_VERDICT_LOAD_FAIL, "buffer X, int32[4096], is no argument"},
	{"another size", "hnpu/1\ngm X float32[4096]\ngm Y float32[68719476000]\ncores 0 1 {\n}\n",
	 HN_VERDICT_LOAD_FAIL, "program:3"},
	{"too few", "hnpu/1\ngm X float32[4096]\ncores 0 1 {\n}\n", HN_VERDICT_LOAD_FAIL,
	 "it has 1 buffers, the task 2 arguments"},
	{"no code", ARGS, HN_VERDICT_LOAD_FAIL, "no core has any code"},
	{"no instruction", ARGS "cores 0 1 {\n}\n", HN_VERDICT_WRONG_RESULT, "4096 of 4096 elements"},
	{"no program", "\x7f" "ELF", HN_VERDICT_LOAD_FAIL, "program:1"},
	{"nothing", "", HN_VERDICT_LOAD_FAIL, "program:1"},
};

static struct hn_board_kernel kernel_of(const char *text)
{
	return (struct hn_board_kernel){.object = text,
					.object_bytes = strlen(text),
					.symbol = "kernel",
					.limit_ms = 20000};
}

static struct hn_board_answer measure(const char *text, const char *rival, double best_ns)
{
	struct hn_board_request r = {.key = "w", .best_ns = best_ns, .kernel = kernel_of(text)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	if (rival != NULL) {
		r.rival = kernel_of(rival);
	}
	ops->measure(board, &r, &a);
	return a;
}

static struct hn_board_answer make_workload(int64_t n)
{
	const int64_t shape[] = {n};
	const struct hn_tensor args[] = {
		{"X", HN_F32, 1, shape, false, n, n * 4},
		{"Y", HN_F32, 1, shape, true, n, n * 4},
	};
	const struct hn_board_workload w = {.key = "w",
					    .n_tensor = 2,
					    .tensor = args,
					    .seed = 5,
					    .magnitude = 30,
					    .tolerance = 1e-5,
					    .naive = {.object = naive.s,
						      .object_bytes = naive.n,
						      .symbol = "naive",
						      .limit_ms = 10000}};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	return a;
}

static void expect(const char *name, const struct hn_board_answer *a, enum hn_verdict v,
		   const char *words)
{
	if (a->verdict != v || strstr(a->detail, words) == NULL) {
		fail_msg("%s: %s (%s)", name, hn_verdict_name(a->verdict), a->detail);
	}
}

/* What the machine says of it, in nanoseconds. */
static double simulated(const char *text)
{
	const struct hn_npu_options o = {.judge = true};
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	struct hn_npu_result r;
	struct hn_err err;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_npu_profile_of("tiny", &m, &err), 0);
	assert_int_equal(hn_npu_parse("t", text, strlen(text), &a, &p, &err), 0);
	assert_int_equal(hn_npu_run(p, &m, &o, &a, &r, &err), 0);
	hn_arena_fini(&a);
	return (double)r.cycles * 1e3 / (double)m.mhz;
}

static void right_ones_are_timed_once(void **state)
{
	static const char *const texts[] = {good, flags};

	(void)state;
	assert_int_equal(make_workload(N).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(texts); i++) {
		for (int again = 0; again < 2; again++) {
			struct hn_board_answer a = measure(texts[i], NULL, 0);

			expect("right", &a, HN_VERDICT_OK, "");
			assert_true(a.thorough && a.n_sample == 1);
			assert_true(a.sample_ns[0] == simulated(texts[i]));
			assert_non_null(strstr(a.state, "simulated: "));
		}
	}
	assert_true(simulated(flags) != simulated(good));
}

static void duels_are_of_both(void **state)
{
	struct hn_board_answer a;

	(void)state;
	assert_int_equal(make_workload(N).verdict, HN_VERDICT_OK);
	a = measure(good, flags, 0);
	expect("duel", &a, HN_VERDICT_OK, "");
	assert_true(a.n_sample == 1 && a.sample_ns[0] == simulated(good) &&
		    a.rival_ns[0] == simulated(flags));
	a = measure(uneven, good, 0); /* its numbers were compared before */
	assert_true(a.verdict == HN_VERDICT_OK && a.sample_ns[0] == simulated(uneven));
	a = measure(good, "no program", 0);
	assert_true(a.verdict == HN_VERDICT_LOAD_FAIL && a.rivals);
	a = measure("no program", good, 0);
	assert_true(a.verdict == HN_VERDICT_LOAD_FAIL && !a.rivals);
}

/* What is no faster than the best, and never will be, is not compared on further inputs. */
static void slow_ones_are_let_go(void **state)
{
	struct hn_board_answer a;

	(void)state;
	assert_int_equal(make_workload(N).verdict, HN_VERDICT_OK);
	a = measure(fault[2].text, NULL, simulated(fault[2].text));
	assert_true(a.verdict == HN_VERDICT_OK && !a.thorough);
	a = measure(fault[0].text, NULL, simulated(good) / 10);
	expect("slow and wrong", &a, HN_VERDICT_WRONG_RESULT, "");
}

static void all_faults_have_their_class(void **state)
{
	(void)state;
	assert_int_equal(make_workload(N).verdict, HN_VERDICT_OK);
	for (size_t i = 0; i < HN_COUNT_OF(fault); i++) {
		struct hn_board_answer a = measure(fault[i].text, NULL, 0);

		expect(fault[i].name, &a, fault[i].verdict, fault[i].words);
		assert_int_equal(a.n_sample, 0);
		a = measure(good, NULL, 0);
		expect("the next", &a, HN_VERDICT_OK, "");
	}
}

static void time_runs_out(void **state)
{
	struct hn_board_request r = {.key = "w", .kernel = kernel_of(endless)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	(void)state;
	assert_int_equal(make_workload(N).verdict, HN_VERDICT_OK);
	r.kernel.limit_ms = 20;
	ops->measure(board, &r, &a);
	expect("endless", &a, HN_VERDICT_HANG, "in its run");
	a = measure(good, NULL, 0);
	expect("the next", &a, HN_VERDICT_OK, "");
}

static void workloads_are_bounded(void **state)
{
	struct hn_board_request r = {.key = "other", .kernel = kernel_of(good)};
	struct hn_board_answer a = make_workload(INT64_C(1) << 32);

	(void)state;
	expect("large", &a, HN_VERDICT_OOM, "the simulator looks for races in");
	ops->measure(board, &r, &a);
	assert_int_equal(a.verdict, HN_VERDICT_NONE);
}

static void lines_are_of_a_profile(void **state)
{
	struct hn_board_device d;
	struct hn_err err;
	void *other;

	(void)state;
	assert_int_equal(ops->open(&(struct hn_board_place){.target = "npu -isa=tiny -num_cores=3"},
				   &other, &err),
			 -HONE_E_INVALID);
	assert_non_null(strstr(err.msg, "tiny has 2"));
	assert_int_equal(ops->find(0, &d, &err), 0);
	assert_string_equal(d.target, "npu -isa=dv910");
	assert_int_equal(ops->find(99, &d, &err), -HONE_E_NO_BOARD);
	assert_true(hn_board_is_apart("npu") && !hn_board_is_apart("fake"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones_are_timed_once),
		cmocka_unit_test(duels_are_of_both),
		cmocka_unit_test(slow_ones_are_let_go),
		cmocka_unit_test(all_faults_have_their_class),
		cmocka_unit_test(time_runs_out),
		cmocka_unit_test(workloads_are_bounded),
		cmocka_unit_test(lines_are_of_a_profile),
	};
	const char *line = "npu -isa=tiny";
	struct hn_err err = {0};
	int rc;

	hn_buf_init(&naive);
	cc_bytes(naive_code, &naive);
	hn_child_adopt_orphans();
	ops = hn_board_of(line);
	rc = ops->open(&(struct hn_board_place){.target = line, .incarnation = 1}, &board, &err);
	if (rc != 0) {
		print_message("%s\n", err.msg);
		return 1;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	ops->close(board);
	hn_buf_fini(&naive);
	return rc;
}
