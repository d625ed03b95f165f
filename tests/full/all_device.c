/* Device programs of all cases: every sketch for a GPU that has room on it becomes one, and it is
 * shown to have no races; the same cut down to a few elements (cropped.h) computes the dag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loopstate/dag/tolerance.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "sketch/sketch.h"
#include "tests/lib/cropped.h"
#include "tests/lib/each_case.h"

#define FILLS 2 /* of each sketch */
#define TRIES 40
#define LIMIT_MS 60000
#define FUEL 40000000

struct counts {
	struct hn_target gpu;
	uint32_t states, unfilled, undecided, cropped, right, long_ones;
};

static void fail_with(const char *what, const char *why, const struct hn_looptree *t,
		      const struct hn_device *d)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_looptree_print(t, &text);
	if (d != NULL) {
		hn_device_print(d, &text);
	}
	fputs(text.s, stderr); /* cmocka cuts long texts */
	fail_msg("%s: %s", what, why);
}

static void judge(const struct each *e, const struct hn_dag *dag, const struct hn_state *s,
		  const struct run_args *want, struct counts *n)
{
	const struct hn_device *d = NULL;
	const struct hn_looptree *t;
	struct hn_err err = { 0 };
	struct hn_arena a;
	struct run_args got;

	hn_arena_init(&a, 0);
	n->states++;
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	if (hn_device_place(t, &a, &d, &err) != 0) {
		fail_with(e->name, err.msg, t, NULL);
	}
	int64_t start = hn_clock_ns();
	int rc = hn_device_verify(d, &n->gpu, LIMIT_MS, &err);

	if (hn_clock_ns() - start > 2000000000) {
		print_message("%s: %lld ms\n", e->name, (long long)(hn_clock_ns() - start) / 1000000);
	}
	if (rc == -HONE_E_QUOTA) {
		print_message("%s: %s\n", e->name, err.msg);
		n->undecided++;
	} else if (rc != 0) {
		fail_with(e->name, err.msg, t, d);
	}
	if (want != NULL) {
		n->cropped++;
		run_args_make(dag, 7, &got);
		rc = hn_device_interpret(d, got.at, n->cropped, FUEL, &err);
		if (rc == -HONE_E_QUOTA) {
			n->long_ones++;
		} else if (rc != 0 || !(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
			fail_with(e->name, rc != 0 ? err.msg : "other numbers", t, d);
		} else {
			n->right++;
		}
		run_args_free(&got);
	}
	hn_arena_fini(&a);
}

static void judge_sketches(const struct each *e, const struct hn_dag *dag,
			   const struct run_args *want, struct counts *n)
{
	struct hn_sketches sketches;
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_sketch_generate(dag, &n->gpu, &a, &sketches, &err), 0);
	for (uint32_t k = 0; k < sketches.n; k++) {
		struct hn_rng rng = hn_rng_stream(11, 3, k, 0);
		int made = 0;

		for (int i = 0; i < TRIES && made < FILLS; i++) {
			const struct hn_state *s;

			if (hn_sketch_fill(&sketches.sketch[k], &n->gpu, &rng, &a, &s) ==
			    HN_VERDICT_OK) {
				judge(e, dag, s, want, n);
				made++;
			}
		}
		n->unfilled += made == 0;
	}
	hn_arena_fini(&a);
}

static void check(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	struct counts *n = ctx;
	const struct hn_dag *few;
	struct run_args want;
	struct hn_err err = { 0 };
	struct hn_arena a;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	judge_sketches(e, e->dag, NULL, n);
	few = crop_dag(e->dag, 4, 6, &a);
	if (hn_dag_check(e->name, few, 0, &err) == 0) {
		run_args_make(few, 7, &want);
		assert_int_equal(hn_interpret(few, want.at, &err), 0);
		judge_sketches(e, few, &want, n);
		run_args_free(&want);
	}
	hn_arena_fini(&a);
}

static void every_gpu_sketch_is_a_device_program(void **state)
{
	struct counts n = { 0 };
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda", &a, &n.gpu, &err), 0);
	each_case(check, &n);
	print_message("%u states placed and shown to have no races, but %u undecided; %u of cut programs, "
		      "%u right, %u too long; %u sketches without a fill\n",
		      n.states, n.undecided, n.cropped, n.right, n.long_ones, n.unfilled);
	assert_true(n.right > n.cropped * 9 / 10);
	assert_true(n.undecided <= n.states / 100);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_sketch_is_a_device_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
