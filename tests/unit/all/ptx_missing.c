/* PTX from which one instruction is taken: each barrier, wait, commit, fence and arrival that is printed
 * is needed, and the machine for PTX finds that it is missing -- wrong numbers, a fault, or no end.  So the
 * machine sees what it is for, and kernels wait for nothing without need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sketch/heuristic.h"
#include "tests/lib/gpu_case.h"
#include "tests/lib/wgmma_steps.h"

#define ORDERS 200
#define STEPS 200000 /* of a launch that waits for what does not come */

static const char *const needed[] = {
	"bar.sync", "cp.async.wait_group", "cp.async.commit_group", "fence.proxy.async", "wgmma.fence",
	"wgmma.commit_group", "wgmma.wait_group", "mbarrier.init", "mbarrier.arrive", "@!q bra hn_wait",
	"setmaxnreg.dec",
};

static uint32_t taken[HN_COUNT_OF(needed)]; /* of each word, over all kernels */

static int set_up(void **state)
{
	return gpu_bed(state, "cuda -isa=sm_90a -max_shared_memory_per_block=232448");
}

/* Whether some order shows that the text is not right. */
static bool is_found(const struct hn_dag *dag, const struct hn_gpu_module *m, const struct run_args *want)
{
	bool found = false;

	for (uint64_t order = 0; order < ORDERS && !found; order++) {
		struct ptx_counts ran = { 0 };
		struct hn_err err = { 0 };
		struct run_args got;

		run_args_make(dag, 7, &got);
		found = ptx_run_module(m, got.at, order, STEPS, &ran, &err) != 0 ||
			!(run_difference(want, &got) <= hn_dag_tolerance(dag));
		run_args_free(&got);
	}
	return found;
}

/* Of that kernel; how many there are.  So many barriers may be spare: they are placed by whole buffers
 * (lower/device/place_sync.c). */
static uint32_t all_is_needed(struct bed *b, const char *text, const struct hn_dag *dag,
			      const struct hn_looptree *t, uint32_t spare)
{
	const struct hn_device *d;
	struct hn_gpu_module m, less;
	struct hn_err err = { 0 };
	struct run_args want;
	uint32_t n = 0, unmissed = 0;

	assert_int_equal(hn_device_place(t, &b->a, &d, &err), 0);
	assert_int_equal(gpu_case_print(d, HN_GPU_PTX, "sm_90a", &b->a, &m, &err), 0);
	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	assert_false(is_found(dag, &m, &want));
	less = m;
	for (size_t k = 0; k < HN_COUNT_OF(needed); k++) {
		for (const char *at = m.code; (at = strstr(at, needed[k])) != NULL; at++) {
			char *copy = hn_arena_strndup(&b->a, m.code, m.code_bytes);
			char *from = copy + (at - (const char *)m.code);
			struct ptx_module *read;

			while (from[-1] != '\n') { /* its guard as well */
				from--;
			}
			memset(from, ' ', strcspn(from, ";") + 1);
			less.code = copy;
			n++;
			taken[k]++;
			if (ptx_parse(copy, m.code_bytes, &b->a, &read, &err) != 0) {
				fail_msg("without %s: %s", needed[k], err.msg);
			}
			if (!is_found(dag, &less, &want)) {
				if (++unmissed <= spare && k == 0) {
					continue;
				}
				fprintf(stderr, "%.*s<-- this one%s\n", (int)(at - (const char *)m.code),
					(const char *)m.code, at);
				fail_msg("%s: nobody misses %.*s", text, (int)strcspn(at, "\n"), at);
			}
		}
	}
	run_args_free(&want);
	return n;
}

static void of_warpgroups(void **state)
{
	static const struct {
		const char *text, *steps;
	} row[] = {
		/* a warpgroup of its own begins bulk copies */
		{ "f(bfloat16 A[128,256], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(j,k)) }",
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
			  TURN("3", "3", "3", "0") ", [\"PL\", 4, 0, 3, 4]]" },
		/* a product ends in the next turn */
		{ "f(bfloat16 A[128,320], bfloat16 B[320,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(k,j)) }",
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
			  TURN("3", "3", "3", "0") OPEN("4") "]" },
		{ "f(bfloat16 A[128,128], bfloat16 B[128,128]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(j,k)) }",
		  RESULTS(BF16, "16", "4", "16") FETCH("1", "8") TURN("1", "3", "3", "0") FETCH("3", "8")
			  TURN("3", "3", "3", "0") AHEAD("2") "]" },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_dag *dag;
		const struct hn_looptree *t = gpu_case_tree(row[i].text, row[i].steps, &b->a, &dag);

		assert_in_range(all_is_needed(b, row[i].text, dag, t, 0), 8, 100);
	}
}

/* By rule: copies ahead, sums of threads. */
static void of_rules(void **state)
{
	static const struct {
		const char *text;
		uint32_t spare;
	} row[] = {
		{ "f(float32 A[96,40], float32 B[40,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }", 0 },
		{ "f(bfloat16 A[128,64], bfloat16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * "
		  "float32(B(k,j)) }", 0 },
		/* in the end one thread reads what it has written */
		{ "f(float32 A[8,200]) -> S { S(i) +=! A(i,j) }", 1 },
	};
	struct bed *b = *state;

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		const struct hn_state *rule[HN_HEURISTIC_MAX];
		const struct hn_dag *dag;
		struct hn_err err;
		uint32_t n = 0;

		assert_int_equal(hn_dag_from_text("dag", row[i].text, strlen(row[i].text), 0, &b->a, &dag, &err), 0);
		for (uint32_t k = hn_heuristics(dag, &b->gpu, &b->a, rule); k-- > 0;) {
			const struct hn_looptree *t;

			assert_int_equal(hn_looptree_build(rule[k], &b->a, &t, &err), 0);
			n += all_is_needed(b, row[i].text, dag, t, row[i].spare);
		}
		print_message("%s: %u instructions\n", row[i].text, n);
		assert_in_range(n, 5, 1000);
	}
}

/* No word is looked for in vain. */
static void each_word_was_there(void **state)
{
	(void)state;
	for (size_t k = 0; k < HN_COUNT_OF(needed); k++) {
		if (taken[k] == 0) {
			fail_msg("no kernel has %s", needed[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_warpgroups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_rules, set_up, tear_down),
		cmocka_unit_test(each_word_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
