/* bench/call.c -- what libhone adds to a kernel: loading it, its first call, and each call.
 *
 * The kernel adds four numbers to four, so that a call is hardly more than itself.  `function` is
 * the bare function pointer, which all others are to be held against.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/seal.h"
#include "bench/bench.h"
#include "client/lib/kernel_load.h"
#include "lower/build/build.h"

#define N_CALL 1000000
#define N_TURN 9

static const char text[] = "add(float32 A[4], float32 B[4]) -> C { C(i) = A(i) + B(i) }";

static int build(const char *path, struct hn_err *err)
{
	struct hn_builder b = { 0 };
	struct hn_build_answer ans;
	const struct hn_build_request r = { .dag = text,
					    .dag_bytes = strlen(text),
					    .target = "native",
					    .symbol = "add",
					    .plant = "",
					    .naive = true,
					    .options.describe = true };
	uint8_t seal[HN_SEAL_BYTES];
	struct hn_arena a;
	struct hn_buf file;
	int rc;

	hn_arena_init(&a, 0);
	hn_buf_init(&file);
	hn_build(&b, &r, &a, &ans);
	if (ans.verdict == HN_VERDICT_OK) {
		hn_seal_make(ans.artefact.object, ans.artefact.object_bytes, seal);
		hn_buf_add(&file, ans.artefact.object, ans.artefact.object_bytes);
		hn_buf_add(&file, seal, sizeof seal);
		rc = hn_file_replace(path, file.s, file.n, err);
	} else {
		*err = ans.why;
		rc = -1;
	}
	hn_buf_fini(&file);
	hn_arena_fini(&a);
	hn_builder_fini(&b);
	return rc;
}

static _Alignas(64) float x[4], y[4], z[4];
static int64_t shape[] = { 4 };
static void *pointer[] = { x, y, z };

#define TENSOR(p)                                                                        \
	{ .data = p, .device_type = 1, .ndim = 1, .code = 2, .bits = 32, .lanes = 1, .shape = shape }
static struct hone_tensor tensor[] = { TENSOR(x), TENSOR(y), TENSOR(z) };
static const struct hone_tensor *const tensors[] = { &tensor[0], &tensor[1], &tensor[2] };

enum way { FUNCTION, POINTERS, TENSORS, N_WAY };

static const char *const way_name[N_WAY] = { "function", "pointers", "tensors" };

static double time_way(const struct hone_kernel *k, enum way w)
{
	static const struct hone_env alone = { .abi = HONE_KERNEL_ABI, .n_workers = 1 };
	int64_t start = hn_clock_ns();

	for (int i = 0; i < N_CALL; i++) {
		switch (w) {
		case FUNCTION:
			k->packed(pointer, NULL);
			break;
		case POINTERS:
			hone_kernel_call(k, NULL, pointer, NULL);
			break;
		default:
			hone_kernel_call_dlpack(k, tensors, 3, &alone, NULL);
		}
	}
	return (double)(hn_clock_ns() - start) / N_CALL;
}

static int run(const char *path)
{
	double least[N_WAY] = { 1e9, 1e9, 1e9 };
	struct hone_error error;
	struct hone_kernel *k;
	int64_t start = hn_clock_ns();

	if (hone_kernel_open(path, NULL, &k, &error) != 0 ||
	    hone_kernel_call_dlpack(k, tensors, 3, NULL, &error) != 0) {
		fprintf(stderr, "hone-bench: %s\n", error.text);
		return 1;
	}
	hn_bench_row("call.load-and-first", (double)(hn_clock_ns() - start) * 1e-6, "ms", "");
	for (int turn = 0; turn < N_TURN; turn++) {
		for (int w = 0; w < N_WAY; w++) {
			double ns = time_way(k, (enum way)w);

			least[w] = ns < least[w] ? ns : least[w];
		}
	}
	for (int w = 0; w < N_WAY; w++) {
		char name[40];

		snprintf(name, sizeof name, "call.%s", way_name[w]);
		hn_bench_row(name, least[w], "ns", "");
	}
	hone_kernel_close(k);
	return 0;
}

int hn_bench_call(const struct hn_bench_args *args);

int hn_bench_call(const struct hn_bench_args *args)
{
	char dir[] = "/tmp/hone-call-XXXXXX", path[64];
	struct hn_err err = { 0 };
	int status = 1;

	(void)args;
	if (mkdtemp(dir) == NULL) {
		return 1;
	}
	snprintf(path, sizeof path, "%s/add.o", dir);
	if (build(path, &err) == 0) {
		status = run(path);
	} else {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
	}
	hn_file_remove_tree(dir);
	return status;
}
