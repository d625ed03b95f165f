/* measure_wrong.c -- 200 kernels that are wrong in the ways schedules go wrong, 50 of each
 * kind: tails cut off or shifted by some elements, stores left out, stale reads, races.
 * None may be taken for right; the same programs without the fault must be.  All compute
 * C = 2 A + 1 on 1003 floats, so that every tile has a tail.
 *
 * And 80 that are right on ordinary inputs, of a second family of workloads: each passes where
 * the first set of inputs (measure/board/inputs.h) is all there is, and none passes all three.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <unistd.h>

#include "measure/board/pool.h"
#include "tests/lib/cpu_board.h"

#define N 1003
#define EACH 50

/* A family: K is 0 (no fault) or the number of the fault, 1..50; `fault` says whether the
 * element i has it. */
static const struct {
	const char *name, *code;
} family[] = {
	{"tail", "for (int i = K % 2 ? 0 : K / 2; i < (K % 2 ? N - (K + 1) / 2 : N); i++) "
		 "C[i] = 2 * A[i] + 1;"},
	{"store", "for (int i = 0; i < N; i++) if (!K || i != (K * 397) % N) "
		  "C[i] = 2 * A[i] + 1;"},
	{"stale", "int late = (*kept())++ > 0; for (int i = 0; i < N; i++) { "
		  "int at = K && i == (K * 211) % N; "
		  /* the neighbour's element, what lay there before, the last call's */
		  "if (at && K % 3 == 0) C[i] = 2 * A[i > 0 ? i - 1 : 1] + 1; "
		  "else if (at && K % 3 == 1) C[i] += 2 * A[i] + 1; "
		  "else if (at && late) ; "
		  "else C[i] = 2 * A[i] + 1; }"},
	/* parallel parts that read what another has yet to write; K = 0: one part */
	{"race", "struct both x = {A, C, K}; if (K) env->parallel_for(env->ctx, chain, &x, N); "
		 "else { x.k = 7; chain(&x, 0, N, 0); }"},
};

static const char prologue[] =
	"#include <stdint.h>\n"
	"#include \"" HONE_SOURCE_DIR "/include/hone/kernel.h\"\n"
	"#define N 1003\n"
	CC_KEPT
	"struct both { const float *A; volatile float *C; int k; };\n"
	"static void chain(void *c, int64_t b, int64_t e, int32_t w) { struct both *x = c;\n"
	" for (int64_t i = e; i-- > b;) { int64_t j = i + x->k;\n"
	"  x->C[i] = j >= N || x->C[j] == 2 * x->A[j] + 1 ? 2 * x->A[i] + 1 : 0; } }\n";


static void write_kernels(struct hn_buf *b)
{
	hn_buf_puts(b, prologue);
	for (size_t f = 0; f < HN_COUNT_OF(family); f++) {
		for (int k = 0; k <= EACH; k++) {
			hn_buf_printf(b,
				      "#define K %d\nint32_t %s_%d_packed(void *const "
				      "*args, const struct hone_env *env) { const float *A = "
				      "args[0]; volatile float *C = args[1]; %s return 0; "
				      "}\n#undef K\n",
				      k, family[f].name, k, family[f].code);
		}
	}
}

static int open_board(void **state)
{
	struct hn_buf source;

	(void)state;
	hn_buf_init(&source);
	write_kernels(&source);
	return open_cpu_board(&source);
}

static struct hn_board_kernel kernel(const char *symbol)
{
	return (struct hn_board_kernel){.object = object.s,
					.object_bytes = object.n,
					.symbol = symbol,
					.limit_ms = 2000};
}

static struct hn_board_answer measure(const char *name, int k, double best_ns)
{
	char symbol[40];
	struct hn_board_request r = {.key = "w", .best_ns = best_ns, .kernel = kernel(symbol)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	snprintf(symbol, sizeof symbol, "%s_%d", name, k);
	ops->measure(board, &r, &a);
	return a;
}

static void two_hundred_of_two_hundred(void **state)
{
	static const int64_t shape[] = {N};
	static const struct hn_tensor args[] = {
		{"A", HN_F32, 1, shape, false, N, N * 4},
		{"C", HN_F32, 1, shape, true, N, N * 4},
	};
	struct hn_board_workload w = {.key = "w",
				      .n_tensor = 2,
				      .tensor = args,
				      .seed = 5,
				      .tolerance = 1e-6,
				      .naive = kernel("store_0")};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};
	int rejected = 0, planted = 0;

	(void)state;
	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	for (size_t f = 0; f < HN_COUNT_OF(family); f++) {
		if (strcmp(family[f].name, "race") == 0 && hone_pool_cpus() < 2) {
			print_message("one core: no races\n");
			continue;
		}
		assert_int_equal(measure(family[f].name, 0, 1).verdict, HN_VERDICT_OK);
		for (int k = 1; k <= EACH; k++) {
			a = measure(family[f].name, k, 1);
			planted++;
			if (a.verdict == HN_VERDICT_WRONG_RESULT ||
			    a.verdict == HN_VERDICT_NONDETERMINISTIC) {
				rejected++;
			} else {
				print_message("%s_%d: %s (%s)\n", family[f].name, k,
					      hn_verdict_name(a.verdict), a.detail);
			}
		}
		assert_int_equal(measure(family[f].name, 0, 1).verdict, HN_VERDICT_OK);
	}
	print_message("%d planted, %d rejected\n", planted, rejected);
	assert_int_equal(rejected, planted);
}

#define ROWS 59
#define COLUMNS 17
#define HIDDEN 10

/* Right on the first set of inputs, wrong on another: its naive program and the fault, K from
 * 1 to 10; `from` and `to` are the element types of A[59][17] and of C.  `set` is the one that
 * reveals it, by the end of the detail. */
static const struct {
	const char *name, *from, *to, *naive, *fault, *set;
	bool rows; /* C[59], else C[59][17] */
	int32_t magnitude;
} hidden[] = {
	/* a maximum that begins at a number that is not below all others */
	{"max", "float", "float",
	 "for (int i = 0; i < R; i++) { float m = -1e38f; for (int k = 0; k < L; k++) m = "
	 "A[i * L + k] > m ? A[i * L + k] : m; C[i] = m; }",
	 "for (int i = 0; i < R; i++) { float m = -1.0f + 0.01f * K; for (int k = 0; k < L; k++) "
	 "m = A[i * L + k] > m ? A[i * L + k] : m; C[i] = m; }",
	 "extremes", true, 120},
	/* a relu that is cut off above what was tried */
	{"relu", "float", "float",
	 "for (int i = 0; i < R * L; i++) C[i] = A[i] > 0 ? A[i] : 0;",
	 "for (int i = 0; i < R * L; i++) C[i] = A[i] > K ? K : A[i] > 0 ? A[i] : 0;",
	 "extremes", false, 120},
	/* a sum that is carried in too little */
	{"sum", "float", "float",
	 "for (int i = 0; i < R; i++) { float s = 0; for (int k = 0; k < L; k++) s += "
	 "A[i * L + k]; C[i] = s; }",
	 "for (int i = 0; i < R; i++) { float s = 0; for (int k = 0; k < L; k++) s += "
	 "A[i * L + k]; C[i] = s > 30 * K ? 30 * K : s < -30 * K ? -30 * K : s; }",
	 "extremes", true, 115},
	{"narrow", "int8_t", "int32_t",
	 "for (int i = 0; i < R; i++) { int s = 0; for (int k = 0; k < L; k++) s += "
	 "A[i * L + k] * A[i * L + k]; C[i] = s; }",
	 "for (int i = 0; i < R; i++) { int s = 0; for (int k = 0; k < L; k++) s += "
	 "(k < K ? (int8_t)(A[i * L + k] * A[i * L + k]) : A[i * L + k] * A[i * L + k]); C[i] = s; }",
	 "extremes", true, 7},
	/* an activation that takes nothing for something, and the other way round */
	{"zero", "float", "float",
	 "for (int i = 0; i < R * L; i++) C[i] = 3 * A[i];",
	 "for (int i = 0; i < R * L; i++) C[i] = A[i] == 0 ? 0.001f * K : 3 * A[i];",
	 "with zeros", false, 118},
	{"nothing", "float", "float",
	 "for (int i = 0; i < R * L; i++) C[i] = A[i] != 0 ? A[i] : 1;",
	 "for (int i = 0; i < R * L; i++) C[i] = i < R * L - K * L ? A[i] != 0 ? A[i] : 1 : A[i];",
	 "with zeros", false, 120},
	/* rows at the end that keep what the first call found */
	{"kept", "float", "float",
	 "for (int i = 0; i < R; i++) { float s = 0; for (int k = 0; k < L; k++) s += "
	 "A[i * L + k]; C[i] = s; }",
	 "float *old = (float *)kept(); int n = kept()[1023]; for (int i = 0; i < R; i++) { "
	 "float s = 0; for (int k = 0; k < L; k++) s += A[i * L + k]; if (!n) old[i] = s; "
	 "C[i] = i >= R - K ? old[i] : s; } kept()[1023] = 1;",
	 "seed 6", true, 115},
	/* inputs of another call, where their neighbours are not large */
	{"stale", "float", "float",
	 "for (int i = 0; i < R * L; i++) C[i] = A[i] * A[i];",
	 "float *old = (float *)kept(); int n = kept()[1023]; for (int i = 0; i < R * L; i++) { "
	 "if (!n) old[i] = A[i]; float x = i % 97 == K ? old[i] : A[i]; C[i] = x * x; } "
	 "kept()[1023] = 1;",
	 "seed 6", false, 60},
};

static void write_hidden(struct hn_buf *b)
{
	hn_buf_puts(b, prologue);
	hn_buf_printf(b, "#define R %d\n#define L %d\n", ROWS, COLUMNS);
	for (size_t f = 0; f < HN_COUNT_OF(hidden); f++) {
		for (int k = 0; k <= HIDDEN; k++) {
			hn_buf_printf(b,
				      "#define K %d\nint32_t %s_%d_packed(void *const *args, "
				      "const struct hone_env *env) { const %s *A = args[0]; "
				      "volatile %s *C = args[1]; %s return 0; }\n#undef K\n",
				      k, hidden[f].name, k, hidden[f].from, hidden[f].to,
				      k == 0 ? hidden[f].naive : hidden[f].fault);
		}
	}
}

static void make_hidden(size_t f, uint32_t n_set)
{
	static const int64_t shape[] = {ROWS, COLUMNS};
	bool narrow = strcmp(hidden[f].from, "int8_t") == 0, rows = hidden[f].rows;
	int64_t n = rows ? ROWS : ROWS * COLUMNS;
	const struct hn_tensor args[] = {
		{"A", narrow ? HN_I8 : HN_F32, 2, shape, false, ROWS * COLUMNS,
		 ROWS * COLUMNS * (narrow ? 1 : 4)},
		{"C", narrow ? HN_I32 : HN_F32, rows ? 1 : 2, shape, true, n, n * 4},
	};
	struct hn_board_workload w = {.key = "w",
				      .n_tensor = 2,
				      .tensor = args,
				      .seed = 5,
				      .magnitude = hidden[f].magnitude,
				      .n_set = n_set,
				      .tolerance = narrow ? 0 : 1e-5,
				      .naive = kernel("")};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};
	char symbol[40];

	snprintf(symbol, sizeof symbol, "%s_0", hidden[f].name);
	w.naive.symbol = symbol;
	ops->workload(board, &w, &a);
	assert_int_equal(a.verdict, HN_VERDICT_OK);
	if (n_set == 0) {
		assert_null(strstr(a.detail, "left out"));
	}
}

static bool right(const struct hn_board_answer *a)
{
	return a->verdict == HN_VERDICT_OK || a->verdict == HN_VERDICT_NOISY;
}

static void what_only_further_inputs_reveal(void **state)
{
	int passed = 0, rejected = 0;
	struct hn_buf source;

	(void)state;
	hn_buf_fini(&object);
	hn_buf_init(&object);
	hn_buf_init(&source);
	write_hidden(&source);
	cc_bytes(source.s, &object);
	hn_buf_fini(&source);
	for (size_t f = 0; f < HN_COUNT_OF(hidden); f++) {
		int by_set = 0;

		make_hidden(f, 1);
		for (int k = 0; k <= HIDDEN; k++) {
			struct hn_board_answer a = measure(hidden[f].name, k, 0);

			passed += k > 0 && right(&a);
			assert_true(k > 0 || right(&a));
		}
		make_hidden(f, 0);
		for (int k = 0; k <= HIDDEN; k++) {
			struct hn_board_answer a = measure(hidden[f].name, k, 0);

			assert_true(k > 0 || right(&a));
			rejected += k > 0 && a.verdict == HN_VERDICT_WRONG_RESULT;
			by_set += k > 0 && strstr(a.detail, hidden[f].set) != NULL;
			if (k > 0 && a.verdict != HN_VERDICT_WRONG_RESULT) {
				print_message("%s_%d: %s (%s)\n", hidden[f].name, k,
					      hn_verdict_name(a.verdict), a.detail);
			}
		}
		print_message("%s: %d of %d by %s\n", hidden[f].name, by_set, HIDDEN,
			      hidden[f].set);
		assert_int_equal(by_set, HIDDEN);
	}
	print_message("%d hidden: %d pass one set, %d are rejected by three\n",
		      HIDDEN * (int)HN_COUNT_OF(hidden), passed, rejected);
	assert_int_equal(passed, HIDDEN * HN_COUNT_OF(hidden));
	assert_int_equal(rejected, HIDDEN * HN_COUNT_OF(hidden));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hundred_of_two_hundred),
		cmocka_unit_test(what_only_further_inputs_reveal),
	};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
