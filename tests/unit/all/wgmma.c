/* Sums that a warpgroup's instruction makes, from steps to code: the device program is verified,
 * reads back, and computes what the dag says, in any order of threads, where the interpreter looks
 * for the factors where the hardware would.  As PTX it holds the results in registers; where
 * NVIDIA's assembler is on this machine, it agrees, and does not serialise the products.  What lies
 * in another way is refused, and what is spoiled shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/gpu_case.h"
#include "tests/lib/wgmma_steps.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

static const struct {
	const char *text, *steps;
	const char *has[3]; /* in the program */
	const char *ptx;
} row[] = {
	/* both along terms, rows of 128 bytes */
	{ "f(bfloat16 A[128,128], bfloat16 B[128,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "3", "0") AHEAD("2") "]",
	  { "wgmma open wgmma_m64n8k16_bf16 columns 128 steps 4 C.local[0] A.shared[",
	    " along 128 B.shared[", "fence" },
	  "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" },
	/* the second across: its rows are two periods long */
	{ "f(bfloat16 A[128,128], bfloat16 B[128,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "3", "0") AHEAD("3") "]",
	  { "settle wgmma_m64n8k16_bf16 columns 128 C.local[0]", " along 128 B.shared[",
	    " across 128 next 8192" },
	  "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" },
	/* a product ends in the next turn */
	{ "f(bfloat16 A[128,320], bfloat16 B[320,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "3", "0") OPEN("4") "]",
	  { "settle wgmma_m64n8k16_bf16 columns 128 but last C.local[0]",
	    "settle wgmma_m64n8k16_bf16 columns 128 C.local[0]", "wait 1" },
	  "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" },
	{ "f(bfloat16 A[128,300], bfloat16 B[128,300]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(BF16, "16", "4", "16") FETCH("1", "4") TURN("1", "3", "3", "0") FETCH("3", "4")
		  TURN("3", "3", "3", "0") OPEN("3") "]",
	  { "settle wgmma_m64n8k16_bf16 columns 128 but last C.local[0]",
	    "settle wgmma_m64n8k16_bf16 columns 128 C.local[0]", "wait 0" },
	  "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" },
	/* the first across, 256 columns, no copy ahead */
	{ "f(float16 A[64,128], float16 B[64,256]) -> C { C(i,j) +=! float32(A(k,i)) * "
	  "float32(B(k,j)) }",
	  RESULTS(F16, "32", "2", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "3", "0") "]",
	  { "wgmma wgmma_m64n8k16_f16 columns 256 steps 2", " across 128 next ", "fence" },
	  "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16" },
	/* rows of 64 bytes, of 32; terms of more than one period */
	{ "f(float16 A[128,64], float16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(j,k)) }",
	  RESULTS(F16, "8", "2", "16") FETCH("1", "8") TURN("1", "3", "2", "1") FETCH("3", "8")
		  TURN("3", "3", "2", "1") AHEAD("2") "]",
	  { "columns 64 steps 2", " along 64 B.shared[", " along 64" },
	  "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" },
	{ "f(float16 A[128,64], float16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(F16, "8", "2", "16") FETCH("1", "8") TURN("1", "3", "1", "2") FETCH("3", "8")
		  TURN("3", "3", "1", "2") AHEAD("2") "]",
	  { "columns 64 steps 1", " along 32 B.shared[", " across 32 next 1024" },
	  "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" },
	{ "f(bfloat16 A[128,256], bfloat16 B[256,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
	  "float32(B(k,j)) }",
	  RESULTS(BF16, "8", "8", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
		  TURN("3", "3", "2", "1") AHEAD("2") "]",
	  { "columns 64 steps 4", " along 128 B.shared[", " across 64 next 8192" },
	  "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16" },
	/* bytes, along terms */
	{ "f(int8 A[128,256], int8 B[64,256]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(j,k)) }",
	  RESULTS(S8, "8", "4", "32") FETCH("1", "16") TURN("1", "4", "3", "0") FETCH("3", "16")
		  TURN("3", "4", "3", "0") AHEAD("2") "]",
	  { "columns 64 steps 4", " along 128 B.shared[", " along 128" },
	  "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8" },
};

static void codes(size_t i, const struct hn_device *d, bool has_ptxas, struct hn_arena *a)
{
	static const char *const without[] = { "sm_80", "sm_90" };
	struct hn_gpu_module m;
	struct hn_err err = { 0 };

	if (gpu_case_print(d, HN_GPU_PTX, "sm_90a", a, &m, &err) != 0) {
		fail_msg("row %zu: %s", i, err.msg);
	}
	assert_non_null(strstr(m.code, row[i].ptx));
	assert_non_null(strstr(m.code, "fence.proxy.async"));
	assert_null(strstr(m.code, ".local"));
	if (has_ptxas && !gpu_case_assembles(&m, "sm_90a")) {
		fail_msg("row %zu: ptxas refuses it, or it is not all in registers\n%s", i,
			 (const char *)m.code);
	}
	for (size_t k = 0; k < HN_COUNT_OF(without); k++) {
		assert_int_equal(gpu_case_print(d, HN_GPU_PTX, without[k], a, &m, &err),
				 -HONE_E_UNSUPPORTED);
		assert_non_null(strstr(err.msg, "by warpgroups have no form"));
	}
}

static void products_are_right(void **state)
{
	struct bed *b = *state;
	bool has_ptxas = gpu_case_has_ptxas();

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		const struct hn_device *d = gpu_case_place(b, row[i].text, row[i].steps, row[i].has,
							   HN_COUNT_OF(row[i].has), &dag);

		gpu_case_runs(row[i].text, dag, d, 2);
		gpu_case_runs_ptx(row[i].text, dag, d, "sm_90a", 4);
		codes(i, d, has_ptxas, &b->a);
	}
}

static void what_has_no_form_is_refused(void **state)
{
	static const struct {
		const char *text, *steps, *why;
	} bad[] = {
		/* no swizzle; that of another width; a factor from global memory */
		{ row[0].text, RESULTS(BF16, "16", "4", "16") FETCH("1", "8") FETCH("3", "8") "]",
		  "stage 4 (C.local) is made by warpgroups, and a factor does not lie in shared "
		  "memory" },
		{ row[0].text,
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "1")
			  FETCH("3", "8") TURN("3", "3", "3", "0") "]",
		  "a factor does not lie in shared memory" },
		/* factors whose rows have different numbers of terms */
		{ row[0].text,
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "2", "1")
			  FETCH("3", "8") TURN("3", "3", "1", "2") "]",
		  "no multiple of 8 rows" },
		/* 32 threads in x */
		{ row[0].text,
		  RESULTS(BF16, "16", "4", "16") TURN("1", "3", "3", "0") TURN("3", "3", "3", "0")
		  ", [\"FU\", 1, [0, 1]], [\"SP\", 1, 0, 0, [32], 1], [\"AN\", 1, 1, 6]]",
		  "32 threads in x are no warpgroup" },
		/* 264 columns */
		{ "f(bfloat16 A[256,64], bfloat16 B[264,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(j,k)) }",
		  RESULTS(BF16, "33", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0")
			  FETCH("3", "8") TURN("3", "3", "3", "0") "]",
		  "8, 16, ... or 256 columns" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_device *d;
		const struct hn_dag *dag;
		struct hn_err err = { 0 };
		int rc = hn_device_place(gpu_case_tree(bad[i].text, bad[i].steps, &b->a, &dag),
					 &b->a, &d, &err);

		if (rc != -HONE_E_UNSUPPORTED || strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%zu: %d (%s), expected: %s", i, rc, err.msg, bad[i].why);
		}
	}
}

/* Another program: `from` is `to` wherever it stands; what the reader says. */
static int spoiled(struct bed *b, const struct hn_device *d, const char *from, const char *to,
		   const struct hn_device **ret, struct hn_err *err)
{
	struct hn_buf text, other;
	size_t n = 0;

	hn_buf_init(&text);
	hn_buf_init(&other);
	hn_device_print(d, &text);
	for (const char *s = text.s; *s != '\0';) {
		if (strncmp(s, from, strlen(from)) == 0) {
			hn_buf_puts(&other, to);
			s += strlen(from);
			n++;
		} else {
			hn_buf_putc(&other, *s++);
		}
	}
	assert_true(n > 0);
	int rc = hn_device_parse("t", other.s, other.n, &b->a, ret, err);

	hn_buf_fini(&text);
	hn_buf_fini(&other);
	return rc;
}

static const struct hn_device *placed(struct bed *b, size_t i, const struct hn_dag **dag)
{
	const struct hn_device *d;
	struct hn_err err;

	assert_int_equal(hn_device_place(gpu_case_tree(row[i].text, row[i].steps, &b->a, dag),
					 &b->a, &d, &err),
			 0);
	return d;
}

/* Layouts and orders that are not the hardware's are other numbers, where they are not refused. */
static void what_is_spoiled_shows(void **state)
{
	static const struct {
		size_t row;
		const char *from, *to;
		const char *why; /* NULL: other numbers */
	} bad[] = {
		{ 1, "next 8192", "next 4096", NULL },
		{ 5, "along 64", "along 128", "before it is written" },
		{ 0, "columns 128", "columns 120", NULL },
		{ 0, "steps 4", "steps 3", NULL },
		{ 0, "along 128 B", "along 64 B", "than its factor's rows have" },
		{ 0, "fence\n", "\n", "no fence before it" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_dag *dag;
		const struct hn_device *d = placed(b, bad[i].row, &dag);
		struct run_args want, got;
		struct hn_err err = { 0 };

		if (spoiled(b, d, bad[i].from, bad[i].to, &d, &err) != 0) {
			if (bad[i].why == NULL || strstr(err.msg, bad[i].why) == NULL) {
				fail_msg("%zu: %s", i, err.msg);
			}
			continue;
		}
		run_args_make(dag, 7, &want);
		run_args_make(dag, 7, &got);
		assert_int_equal(hn_interpret(dag, want.at, &err), 0);
		if (hn_device_interpret(d, got.at, 0, FUEL, &err) != 0
			    ? bad[i].why == NULL || strstr(err.msg, bad[i].why) == NULL
			    : bad[i].why != NULL ||
				      run_difference(&want, &got) <= hn_dag_tolerance(dag)) {
			fail_msg("%zu: nothing shows (%s)", i, err.msg);
		}
		run_args_free(&want);
		run_args_free(&got);
	}
}

/* Without nodes of the kind, or of them those alone whose `extent` is `only` (-1: all). */
static const struct hn_device_node *without(const struct hn_device_node *n, enum hn_device_kind kind,
					    int64_t only, struct hn_arena *a)
{
	struct hn_device_node *ret = HN_NEW(a, struct hn_device_node);
	const struct hn_device_node **child =
		HN_NEW_ARRAY(a, const struct hn_device_node *, n->n_child + 1);

	*ret = *n;
	ret->n_child = 0;
	ret->child = child;
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (n->child[i]->kind != kind || (only >= 0 && n->child[i]->extent != only)) {
			child[ret->n_child++] = without(n->child[i], kind, only, a);
		}
	}
	return ret;
}

/* What the verifier refuses by the order of nodes, the interpreter finds in the run. */
static void what_is_missing_is_found(void **state)
{
	static const struct {
		size_t row;
		enum hn_device_kind kind;
		int64_t only;
		const char *why;
	} bad[] = { { 0, HN_DEVICE_FENCE, -1, "with no fence and barrier since" },
		    { 0, HN_DEVICE_WAIT, -1, "before a copy to it has been waited for" },
		    { 0, HN_DEVICE_BARRIER, -1, "no barrier between" },
		    { 0, HN_DEVICE_SETTLE, -1, "before a product of its warpgroup is settled" },
		    /* the turn before; the last one */
		    { 2, HN_DEVICE_SETTLE, 1, "has settled the product that reads it" },
		    { 2, HN_DEVICE_SETTLE, 0, "before a product of its warpgroup is settled" } };
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(bad); i++) {
		const struct hn_dag *dag;
		const struct hn_device *d = placed(b, bad[i].row, &dag);
		struct hn_device_kernel k = d->kernel[0];
		struct hn_device other = *d;
		struct run_args got;
		struct hn_err err = { 0 };

		k.body = without(k.body, bad[i].kind, bad[i].only, &b->a);
		other.kernel = &k;
		assert_int_not_equal(hn_device_verify(&other, &b->gpu, LIMIT_MS, &err), 0);
		run_args_make(dag, 7, &got);
		if (hn_device_interpret(&other, got.at, 0, FUEL, &err) == 0 ||
		    strstr(err.msg, bad[i].why) == NULL) {
			fail_msg("%zu: %s", i, err.msg);
		}
		run_args_free(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_right),
		cmocka_unit_test(what_has_no_form_is_refused),
		cmocka_unit_test(what_is_spoiled_shows),
		cmocka_unit_test(what_is_missing_is_found),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
