/* Automatic schedules for GPUs of all cases: each program has one, and all that there are become
 * device programs without races; the same cut down to a few elements (cropped.h) computes the dag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loopstate/dag/tolerance.h"
#include "lower/device/device_interp.h"
#include "lower/device/device_verify.h"
#include "sketch/heuristic.h"
#include "tests/lib/each_cropped.h"

#define LIMIT_MS 60000
#define FUEL 40000000
#define SLOW_NS 1000000000

struct counts {
	struct hn_target gpu;
	uint32_t programs, none, slow; /* slow: a second to find all of them */
	uint32_t states, undecided, right, long_ones;
};

static void fail_with(const struct each *e, const char *why, const struct hn_state *s,
		      const struct hn_device *d)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	hn_buf_puts(&text, "\n");
	if (d != NULL) {
		hn_device_print(d, &text);
	}
	fputs(text.s, stderr); /* cmocka cuts long texts */
	fail_msg("%s: %s", e->name, why);
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
		fail_with(e, err.msg, s, NULL);
	}
	int rc = hn_device_verify(d, &n->gpu, LIMIT_MS, &err);

	if (rc == -HONE_E_QUOTA) {
		print_message("%s: %s\n", e->name, err.msg);
		n->undecided++;
	} else if (rc != 0) {
		fail_with(e, err.msg, s, d);
	}
	if (want != NULL) {
		run_args_make(dag, 7, &got);
		rc = hn_device_interpret(d, got.at, n->states, FUEL, &err);
		if (rc == -HONE_E_QUOTA) {
			n->long_ones++;
		} else if (rc != 0 || !(run_difference(want, &got) <= hn_dag_tolerance(dag))) {
			fail_with(e, rc != 0 ? err.msg : "other numbers", s, d);
		} else {
			n->right++;
		}
		run_args_free(&got);
	}
	hn_arena_fini(&a);
}

static void judge_all(const struct each *e, const struct hn_dag *dag, uint32_t most,
		      const struct run_args *want, struct counts *n)
{
	const struct hn_state *s[HN_HEURISTIC_MAX];
	int64_t start = hn_clock_ns();
	struct hn_arena a;

	hn_arena_init(&a, 0);
	uint32_t k = hn_heuristics(dag, &n->gpu, &a, s);

	n->programs++;
	n->none += k == 0;
	if (k == 0) {
		print_message("%s: no schedule\n", e->name);
	}
	n->slow += hn_clock_ns() - start > SLOW_NS;
	for (uint32_t i = 0; i < k && i < most; i++) {
		judge(e, dag, s[i], want, n);
	}
	hn_arena_fini(&a);
}

static void check(struct hn_emitter *em, const struct hn_target *host, const struct each *e,
		  void *ctx)
{
	struct counts *n = ctx;
	const struct hn_dag *few;
	struct run_args want;
	struct hn_arena a;

	(void)em;
	(void)host;
	if (e->dag->sizes != NULL) {
		return;
	}
	hn_arena_init(&a, 0);
	judge_all(e, e->dag, 1, NULL, n);
	few = each_cropped(e, &a, &want);
	if (few != NULL) {
		judge_all(e, few, HN_HEURISTIC_MAX, &want, n);
		run_args_free(&want);
	}
	hn_arena_fini(&a);
}

static void every_program_has_a_schedule(void **state)
{
	struct counts n = { 0 };
	struct hn_arena a;
	struct hn_err err;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cuda -isa=sm_90", &a, &n.gpu, &err), 0);
	each_case(check, &n);
	print_message("%u programs, %u without a schedule, %u took a second to find them; %u states, "
		      "%u undecided; %u right, %u too long\n",
		      n.programs, n.none, n.slow, n.states, n.undecided, n.right, n.long_ones);
	assert_true(n.programs > 0);
	assert_int_equal(n.none, 0);
	assert_true(n.undecided <= n.states / 50);
	assert_true(n.right > n.states / 3);
	hn_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_program_has_a_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
