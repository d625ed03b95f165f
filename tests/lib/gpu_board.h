/* tests/lib/gpu_board.h -- a board of a device and hand-written modules, for tests of what the board
 * does with them.  All compute C = A B of N x N floats; A, B and C are the arguments 0, 1, 2.
 */
#ifndef HN_TESTS_LIB_GPU_BOARD_H
#define HN_TESTS_LIB_GPU_BOARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "measure/board/board.h"
#include "measure/board/child.h"
#include "proto/gpu_module.h"
#include "tests/lib/measure_cc.h"

#define N 64
#define GROUP 8

static struct hn_buf naive;
static const struct hn_board_ops *ops;
static void *board;

static const char naive_code[] =
	"#include <stdint.h>\n"
	"struct hone_env;\n"
	"int32_t naive_packed(void *const *a, const struct hone_env *env) {\n"
	" const float *A = a[0], *B = a[1]; volatile float *C = a[2];\n"
	" for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) { float s = 0;\n"
	"  for (int k = 0; k < 64; k++) s += A[i * 64 + k] * B[k * 64 + j]; C[i * 64 + j] = s; }\n"
	" return 0; }\n";

/* A module of one kernel, `name`, over all of C in blocks of GROUP x GROUP; workspace: bytes of a
 * fourth buffer, 0 = it has none; shared: bytes that the launch asks for. */
static void module_with(enum hn_gpu_form form, const char *name, const char *code,
			int64_t workspace, int64_t shared, struct hn_buf *ret)
{
	static const uint32_t arg[] = {0, 1, 2, 3};
	const struct hn_gpu_buffer buffer[] = {
		{N * N * 4, 0}, {N * N * 4, 1}, {N * N * 4, 2}, {workspace, -1}};
	const struct hn_gpu_kernel kernel = {.name = name,
					     .grid = {N / GROUP, N / GROUP, 1},
					     .block = {GROUP, GROUP, 1},
					     .dynamic_shared = shared,
					     .n_arg = workspace > 0 ? 4 : 3,
					     .arg = arg};
	const struct hn_gpu_module m = {.form = form,
					.isa = "generic",
					.n_buffer = workspace > 0 ? 4 : 3,
					.buffer = buffer,
					.n_kernel = 1,
					.kernel = &kernel,
					.code = code,
					.code_bytes = strlen(code)};

	hn_buf_reset(ret);
	hn_gpu_module_write(&m, ret);
	assert_false(ret->failed);
}

static void module_of(enum hn_gpu_form form, const char *name, const char *code, int64_t workspace,
		      struct hn_buf *ret)
{
	module_with(form, name, code, workspace, 0, ret);
}

static struct hn_board_kernel kernel_of(const struct hn_buf *module)
{
	return (struct hn_board_kernel){.object = module->s,
					.object_bytes = module->n,
					.symbol = "kernel",
					.limit_ms = 2500};
}

static struct hn_board_answer measure(const struct hn_buf *module, const struct hn_buf *rival,
				      double best_ns)
{
	struct hn_board_request r = {.key = "w", .best_ns = best_ns, .kernel = kernel_of(module)};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	if (rival != NULL) {
		r.rival = kernel_of(rival);
	}
	ops->measure(board, &r, &a);
	return a;
}

static struct hn_board_answer make_workload(const char *key, bool cold)
{
	static const int64_t shape[] = {N, N};
	static const struct hn_tensor args[] = {
		{"A", HN_F32, 2, shape, false, N * N, N * N * 4},
		{"B", HN_F32, 2, shape, false, N * N, N * N * 4},
		{"C", HN_F32, 2, shape, true, N * N, N * N * 4},
	};
	struct hn_board_workload w = {.key = key,
				      .n_tensor = 3,
				      .tensor = args,
				      .seed = 5,
				      .magnitude = 30,
				      .tolerance = 1e-5,
				      .cold = cold,
				      .naive = {.object = naive.s,
						.object_bytes = naive.n,
						.symbol = "naive",
						.limit_ms = 10000}};
	struct hn_board_answer a = {.verdict = HN_VERDICT_NONE};

	ops->workload(board, &w, &a);
	return a;
}

/* OK, or right and too noisy to time. */
static bool right(const struct hn_board_answer *a)
{
	return a->verdict == HN_VERDICT_OK || a->verdict == HN_VERDICT_NOISY;
}

static void expect(const struct hn_board_answer *a, enum hn_verdict v, const char *words)
{
	if (a->verdict != v || strstr(a->detail, words) == NULL) {
		print_message("%s: %s\n", hn_verdict_name(a->verdict), a->detail);
	}
	assert_int_equal(a->verdict, v);
	assert_non_null(strstr(a->detail, words));
}

static int open_gpu_board(const char *line)
{
	struct hn_err err = {0};
	int rc;

	hn_buf_init(&naive);
	cc_bytes(naive_code, &naive);
	hn_child_adopt_orphans();
	ops = hn_board_of(line);
	rc = ops->open(&(struct hn_board_place){.target = line, .incarnation = 1}, &board, &err);
	if (rc != 0) {
		print_message("%s: %s\n", line, err.msg);
	}
	return rc;
}

#endif
