/* The rule for warpgroups where there are more tiles than multiprocessors: there are schedules whose
 * blocks make several tiles, in rounds, and they are verified and right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sketch/heuristic.h"
#include "sketch/heuristic/warp_int.h"
#include "tests/lib/dag_form.h"
#include "tests/lib/gpu_case.h"

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -num_cores=132 -max_shared_memory_per_block=232448");
}

static const struct hn_device *placed(struct bed *b, const char *text, const struct hn_state *s)
{
	const struct hn_looptree *t;
	const struct hn_device *d;
	struct hn_err err = { 0 };

	if (hn_looptree_build(s, &b->a, &t, &err) != 0 ||
	    hn_device_place(t, &b->a, &d, &err) != 0 ||
	    hn_device_verify(d, &b->gpu, LIMIT_MS, &err) != 0) {
		fail_msg("%s: %s", text, err.msg);
	}
	return d;
}

static void judge(struct bed *b, const char *text, const char *has, const struct hn_dag *dag,
		  const struct hn_state *s)
{
	const struct hn_device *d = placed(b, text, s);
	struct hn_buf program;

	hn_buf_init(&program);
	hn_device_print(d, &program);
	if (strstr(program.s, " roll {") == NULL || strstr(program.s, has) == NULL) {
		fail_msg("%s has no '%s'\n%s", text, has, program.s);
	}
	hn_buf_fini(&program);

	gpu_case_runs(text, dag, d, 2);
	gpu_case_runs_ptx(text, dag, d, "sm_90a", 2);
}

static bool is_in_rounds(const struct hn_trace *t)
{
	bool bulk = false, rounds = false;

	for (uint32_t i = 0; i < t->n_step; i++) {
		const struct hn_step *step = t->step[i];

		bulk = bulk || (step->kind == HN_STEP_pipeline &&
				step->a[HN_PL_KIND] == HN_PIPELINE_BULK);
		/* the loop of all tiles, cut in two behind FU */
		rounds = rounds || (i > 0 && step->kind == HN_STEP_split && step->n_list == 1 &&
				    t->step[i - 1]->kind == HN_STEP_fuse);
	}
	return bulk && rounds;
}

/* More tiles than multiprocessors: there are schedules whose blocks make several, and they are right;
 * beside them such whose blocks make one.  Where there are as many, none is in rounds. */
static void rounds_are_right(void **state)
{
	static const struct {
		const char *text, *has; /* in the program */
	} row[] = {
		{ "f(bfloat16 A[448,128], bfloat16 B[128,320]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(k,j)) }", "grid 2 1 1" },
		/* several products, an odd number; sizes that no tile divides; bytes; what follows */
		{ "f(bfloat16 A[5,128,136], bfloat16 B[5,64,136]) -> C { C(a,i,j) +=! "
		  "float32(A(a,i,k)) * float32(B(a,j,k)) }", " * 2)) < 5) {" },
		{ "f(float16 A[328,200], float16 B[200,136]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(k,j)) }", "size 200 136" },
		{ "f(int8 A[320,256], int8 B[320,256]) -> C { C(i,j) +=! int32(A(i,k)) * "
		  "int32(B(j,k)) }", "grid 2 1 1" },
		{ "f(bfloat16 A[320,128], bfloat16 B[128,320], float32 b[320]) -> D { C(i,j) +=! "
		  "float32(A(i,k)) * float32(B(k,j)) D(i,j) = bfloat16(max(C(i,j) + b(j), 0)) }",
		  "bfloat16(" },
	};
	struct bed *b = *state;
	const struct hn_target many = b->gpu;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag = dag_open(row[i].text, &b->a);
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n, n_rounds = 0, n_other = 0;

		n = hn_heuristics_unconfirmed(dag, &b->gpu, &b->a, s);
		for (uint32_t k = 0; k < n; k++) {
			assert_false(is_in_rounds(s[k]->trace));
		}
		b->gpu.param[HN_PARAM_NUM_CORES] = 2;
		n = hn_heuristics_unconfirmed(dag, &b->gpu, &b->a, s);
		for (uint32_t k = 0; k < n; k++) {
			bool in_rounds = is_in_rounds(s[k]->trace);

			if (in_rounds && n_rounds == 0) {
				judge(b, row[i].text, row[i].has, dag, s[k]);
			}
			n_rounds += in_rounds;
			n_other += !in_rounds;
		}
		b->gpu = many;
		if (n_rounds == 0 || n_other == 0) {
			fail_msg("%s: %u of %u in rounds", row[i].text, n_rounds, n);
		}
	}
}

/* More tiles than multiprocessors: the first schedule by boxes is in rounds, of as few blocks as that
 * takes, and assembles; another is not.  Where there is a tile for each, none is. */
static void large_ones_come_in_rounds(void **state)
{
	static const struct {
		const char *text;
		int64_t blocks; /* 0: none is in rounds */
	} row[] = { { "f(bfloat16 A[4096,4096], bfloat16 B[4096,4096]) -> C { C(i,j) +=! "
		      "float32(A(i,k)) * float32(B(k,j)) }", 128 },
		    /* as many as that takes, of which not all make as many tiles */
		    { "f(bfloat16 A[4096,4096], bfloat16 B[4096,11008]) -> C { C(i,j) +=! "
		      "float32(A(i,k)) * float32(B(k,j)) }", 126 },
		    { "f(bfloat16 A[4096,8192], bfloat16 B[8192,1024]) -> C { C(i,j) +=! "
		      "float32(A(i,k)) * float32(B(k,j)) }", 0 } };
	struct bed *b = *state;
	bool has_ptxas = gpu_case_has_ptxas();

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_state *s[HN_HEURISTIC_MAX];
		uint32_t n = hn_heuristics_unconfirmed(dag_open(row[i].text, &b->a), &b->gpu, &b->a,
						       s);
		const struct hn_device *d;
		struct hn_gpu_module m;
		struct hn_err err = { 0 };

		assert_true(n > 2 && !is_in_rounds(s[2]->trace));
		assert_int_equal(is_in_rounds(s[0]->trace), row[i].blocks > 0);
		if (row[i].blocks == 0) {
			continue;
		}
		d = placed(b, row[i].text, s[0]);
		assert_int_equal(gpu_case_print(d, HN_GPU_PTX, "sm_90a", &b->a, &m, &err), 0);
		assert_int_equal(d->kernel[0].grid[0], row[i].blocks);
		assert_non_null(strstr(m.code, "hn_turn_"));
		assert_true(!has_ptxas || gpu_case_assembles(&m, "sm_90a"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_are_right),
		cmocka_unit_test(large_ones_come_in_rounds),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
