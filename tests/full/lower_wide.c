/* lower_wide.c -- over every program: the one that answers are compared with
 * (loopstate/state/widen.h), compiled, is the interpreter's answer but for what functions of float32
 * differ by, and nearer to it than the naive program. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "loopstate/state/widen.h"
#include "tests/lib/each_case.h"

#define MOST 3e-7 /* relative to the largest value */

struct total {
	uint32_t n, n_none, n_wrong, n_nearer;
	double worst, own_worst;
};

static double error_of(struct hn_emitter *em, const struct hn_dag *dag,
		       const struct run_args *want, struct hn_arena *a)
{
	struct run_kernel k;
	struct run_args got;
	struct hn_err err = { 0 };
	double d;

	if (run_build(em, dag, NULL, true, a, &k, &err)) {
		fail_msg("%s", err.msg);
	}
	run_args_make(dag, 7, &got);
	assert_int_equal(k.fn(got.at, NULL), 0);
	d = run_redzones_hold(&got) ? run_difference(want, &got) : INFINITY;
	run_args_free(&got);
	run_unload(&k);
	return d;
}

static void compare(struct hn_emitter *em, const char *name, const struct hn_dag *dag,
		    const struct hn_dag *wide, struct total *t, struct hn_arena *a)
{
	struct run_args want;
	struct hn_err err = { 0 };

	run_args_make(dag, 7, &want);
	assert_int_equal(hn_interpret(dag, want.at, &err), 0);
	double near = error_of(em, wide, &want, a), own = error_of(em, dag, &want, a);

	t->n++;
	t->n_nearer += near < own;
	t->n_wrong += near > MOST;
	t->worst = fmax(t->worst, near);
	t->own_worst = fmax(t->own_worst, own);
	print_message("%s: off by %g, by itself %g\n", name, near, own);
	run_args_free(&want);
}

static void check_case(struct hn_emitter *em, const struct hn_target *host,
		       const struct each *e, void *ctx)
{
	struct total *t = ctx;
	const struct hn_dag *dag = e->dag, *wide;
	const char *name = e->name;
	struct hn_arena a;

	(void)host;
	hn_arena_init(&a, 0);
	wide = hn_dag_widen(dag, &a);
	if (wide == NULL) {
		t->n_none++;
		print_message("%s: nothing to widen\n", name);
	} else if (hn_dag_flops(dag) < EACH_MAX_INTERPRETED) {
		compare(em, name, dag, wide, t, &a);
	}
	hn_arena_fini(&a);
}

static void every_case(void **state)
{
	struct total t = { 0 };

	(void)state;
	each_case(check_case, &t);
	print_message("%u cases, %u of them nearer, %u beyond %g; worst %g, by itself %g; %u have "
		      "nothing to widen\n",
		      t.n, t.n_nearer, t.n_wrong, MOST, t.worst, t.own_worst, t.n_none);
	assert_int_equal(t.n_wrong, 0);
	assert_true(t.n_nearer > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
