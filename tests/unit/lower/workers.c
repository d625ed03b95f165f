/* Whose part of the workspace a worker writes to: what is too large for the stack and private to an
 * iteration of a parallel loop lies in the part of the worker that runs the iteration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "tests/lib/lower_run.h"

#define N_WORKERS 3
#define N_ROWS 7
#define N_COLUMNS 8192 /* of float32: twice what lies on the stack at most */

struct workers {
	char *part; /* [N_WORKERS] of `bytes` each */
	uint64_t bytes;
	uint32_t strayed, used; /* times that another's part changed; and the own one */
};

static void run_on(struct workers *x, hone_body_fn body, void *closure, int64_t i, int32_t worker)
{
	uint64_t all = x->bytes * N_WORKERS;
	char *before = malloc(all);

	assert_non_null(before);
	memset(x->part, 0x5a, all);
	memcpy(before, x->part, all);
	body(closure, i, i + 1, worker);
	for (int32_t w = 0; w < N_WORKERS; w++) {
		bool changed = memcmp(before + (uint64_t)w * x->bytes,
				      x->part + (uint64_t)w * x->bytes, x->bytes) != 0;

		x->strayed += changed && w != worker;
		x->used += changed && w == worker;
	}
	free(before);
}

static void backwards(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	for (int64_t i = n; i-- > 0;) {
		run_on(ctx, body, closure, i, (int32_t)(i % N_WORKERS));
	}
}

static void each_writes_to_its_own(void **state)
{
	static const char text[] = "p(float32 A[7,8192]) -> C { P(i,j) = A(i,j) + 1.0\n"
				   "C(i) +=! P(i,k) * P(i,8191 - k) }";
	static const char steps[] = "[[\"CA\", 1, 2, 0], [\"AN\", 2, 0, 3]]";
	const struct hn_dag *dag;
	const struct hn_trace *trace;
	struct hn_emitter *em;
	struct hn_target host;
	struct hn_err err = { 0 };
	struct run_kernel k;
	struct run_args args;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	LLVMInitializeNativeTarget();
	LLVMInitializeNativeAsmPrinter();
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	assert_int_equal(hn_dag_parse("p", text, strlen(text), 0, &a, &dag, &err), 0);
	assert_int_equal(hn_trace_parse("steps", steps, strlen(steps), &a, &trace, &err), 0);
	if (run_build(em, dag, trace, /* scalar= */ false, &a, &k, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_true(k.artefact.per_worker_bytes >= N_COLUMNS * sizeof(float));

	uint64_t bytes = k.artefact.shared_bytes + N_WORKERS * k.artefact.per_worker_bytes;
	char *space = aligned_alloc(64, (bytes + 63) / 64 * 64);
	struct workers w = { .part = space + k.artefact.shared_bytes,
			     .bytes = k.artefact.per_worker_bytes };
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = N_WORKERS,
				.parallel_for = backwards,
				.ctx = &w,
				.workspace = space,
				.workspace_bytes = bytes };

	assert_non_null(space);
	run_args_make(dag, 1, &args);
	assert_int_equal(k.fn(args.at, &env), 0);
	assert_int_equal(w.used, N_ROWS);
	assert_int_equal(w.strayed, 0);
	assert_true(run_redzones_hold(&args));
	run_args_free(&args);
	run_unload(&k);
	free(space);
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_writes_to_its_own),
	};

	return cmocka_run_group_tests_name("lower_workers", tests, NULL, NULL);
}
