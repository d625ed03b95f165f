/* measure_wrong.c -- 200 kernels that are wrong in the ways schedules go wrong, 50 of each
 * kind: tails cut off or shifted by some elements, stores left out, stale reads, races.
 * None may be taken for right; the same programs without the fault must be.
 *
 * All compute C = 2 A + 1 on 1003 floats, so that every tile has a tail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "measure/board.h"
#include "measure/child.h"
#include "measure/pool.h"
#include "tests/measure_cc.h"

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
	{"stale", "static int runs; int late = runs++ > 0; for (int i = 0; i < N; i++) { "
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
	"struct both { const float *A; volatile float *C; int k; };\n"
	"static void chain(void *c, int64_t b, int64_t e, int32_t w) { struct both *x = c;\n"
	" for (int64_t i = e; i-- > b;) { int64_t j = i + x->k;\n"
	"  x->C[i] = j >= N || x->C[j] == 2 * x->A[j] + 1 ? 2 * x->A[i] + 1 : 0; } }\n";

static struct hn_buf object;
static void *board;
static const struct hn_board_ops *ops;

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
	struct hn_err err;
	bool good;

	(void)state;
	hn_buf_init(&source);
	hn_buf_init(&object);
	write_kernels(&source);
	good = cc_bytes(source.s, &object);
	hn_buf_fini(&source);
	if (!good) {
		exit(77);
	}
	hn_child_adopt_orphans();
	ops = hn_board_of("cpu");
	return ops->open(&(struct hn_board_place){.target = "cpu"}, &board, &err);
}

static int close_board(void **state)
{
	(void)state;
	ops->close(board);
	hn_buf_fini(&object);
	return 0;
}

static struct hn_board_kernel kernel(const char *symbol)
{
	return (struct hn_board_kernel){.object = object.s,
					.object_bytes = object.n,
					.symbol = symbol,
					.limit_ms = 2000};
}

static struct hn_board_answer measure(const char *name, int k)
{
	char symbol[40];
	struct hn_board_request r = {.key = "w", .best_ns = 1, .kernel = kernel(symbol)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	snprintf(symbol, sizeof symbol, "%s_%d", name, k);
	ops->measure(board, &r, &a);
	return a;
}

static void two_hundred_of_two_hundred(void **state)
{
	static const int64_t shape[] = {N};
	static const struct hn_tensor args[] = {
		{"A", HN_ELEM_F32, 1, shape, false, N, N * 4},
		{"C", HN_ELEM_F32, 1, shape, true, N, N * 4},
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
		if (strcmp(family[f].name, "race") == 0 && hn_kernel_pool_cores() < 2) {
			print_message("one core: no races\n");
			continue;
		}
		assert_int_equal(measure(family[f].name, 0).verdict, HN_VERDICT_OK);
		for (int k = 1; k <= EACH; k++) {
			a = measure(family[f].name, k);
			planted++;
			if (a.verdict == HN_VERDICT_WRONG_RESULT ||
			    a.verdict == HN_VERDICT_NONDETERMINISTIC) {
				rejected++;
			} else {
				print_message("%s_%d: %s (%s)\n", family[f].name, k,
					      hn_verdict_name(a.verdict), a.detail);
			}
		}
		assert_int_equal(measure(family[f].name, 0).verdict, HN_VERDICT_OK);
	}
	print_message("%d planted, %d rejected\n", planted, rejected);
	assert_int_equal(rejected, planted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(two_hundred_of_two_hundred)};

	return cmocka_run_group_tests(tests, open_board, close_board);
}
