/* The toy step in a tree that has it: read, written, refused, applied, explained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "loopstate/nest/quick.h"
#include "loopstate/state/step.h"

static const char text[] = "m(float32 A[6,5], B[5,4]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";

static int replay(const char *steps, struct hn_arena *a, const struct hn_state **ret,
		  struct hn_err *err)
{
	const struct hn_dag *dag;
	const struct hn_trace *t;

	assert_int_equal(hn_dag_parse("m", text, strlen(text), 0, a, &dag, err), 0);
	assert_int_equal(hn_trace_parse("steps", steps, strlen(steps), a, &t, err), 0);
	return hn_state_replay(dag, t, a, ret, err);
}

static const char *preview(const char *steps, struct hn_arena *a)
{
	const struct hn_state *s;
	struct hn_err err;
	struct hn_buf buf;

	assert_int_equal(replay(steps, a, &s, &err), 0);
	hn_buf_init(&buf);
	hn_state_print(s, false, &buf);
	const char *r = hn_arena_strdup(a, buf.s);

	hn_buf_fini(&buf);
	return r;
}

static void two_loops_change_places(void **state)
{
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_string_equal(preview("[[\"XC\", 2, 1]]", &a), preview("[[\"RE\", 2, [0, 2, 1]]]", &a));
	assert_string_not_equal(preview("[[\"XC\", 2, 1]]", &a), preview("[]", &a));
	hn_arena_fini(&a);
}

static void the_last_loop_is_refused(void **state)
{
	const struct hn_state *s;
	struct hn_err err;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_true(replay("[[\"XC\", 2, 2]]", &a, &s, &err) < 0);
	assert_non_null(strstr(err.msg, "there is no loop inside it"));
	hn_arena_fini(&a);
}

static void it_is_written_as_it_was_read(void **state)
{
	static const char steps[] = "[[\"XC\", 2, 0], [\"XC\", 2, 1]]";
	const struct hn_state *s;
	struct hn_err err;
	struct hn_arena a;
	struct hn_buf buf;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(replay(steps, &a, &s, &err), 0);
	hn_buf_init(&buf);
	hn_trace_write(s->trace, &buf);
	assert_string_equal(buf.s, steps);
	hn_buf_reset(&buf);
	hn_step_ops(s->trace->step[0]->kind)->explain(hn_state_init(s->dag, &a), s->trace->step[0], &buf);
	assert_string_equal(buf.s, "let loop i of C and the one inside it change places");
	hn_buf_fini(&buf);
	hn_arena_fini(&a);
}

static void the_proof_follows(void **state)
{
	struct hn_quick *q = hn_quick_new();
	const struct hn_looptree *t;
	const struct hn_state *s;
	struct hn_err err;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(replay("[[\"XC\", 2, 0]]", &a, &s, &err), 0);
	assert_int_equal(hn_looptree_build(s, &a, &t, &err), 0);
	assert_true(hn_quick_legal(q, t, &err));
	hn_arena_fini(&a);
	hn_quick_free(q);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_loops_change_places),
		cmocka_unit_test(the_last_loop_is_refused),
		cmocka_unit_test(it_is_written_as_it_was_read),
		cmocka_unit_test(the_proof_follows),
	};

	return cmocka_run_group_tests_name("loopstate_swap", tests, NULL, NULL);
}
