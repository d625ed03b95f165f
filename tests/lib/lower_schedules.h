/* Histories written by hand, a line each: name, program, steps, tabs between.  Each replays,
 * is proved, lowers and computes what its program says.  The program includes <cmocka.h>
 * before this. */
#ifndef HN_TESTS_LOWER_SCHEDULES_H
#define HN_TESTS_LOWER_SCHEDULES_H

#include "base/file.h"
#include "loopstate/state/trace.h"
#include "tests/lib/lower_forms.h"

#define LIMIT_MS 60000

static inline void check_line(struct fixture *f, char *line)
{
	char *name = line, *program = strchr(line, '\t'), *steps;
	struct hn_err err = { 0 };
	const struct hn_trace *trace;
	const struct hn_looptree *t;
	const struct hn_state *s;
	const struct hn_dag *dag;
	struct run_args want;
	struct history h;
	struct hn_arena a;

	assert_non_null(program);
	*program++ = '\0';
	steps = strchr(program, '\t');
	assert_non_null(steps);
	*steps++ = '\0';
	hn_arena_init(&a, 0);
	dag = dag_open(program, &a);
	if (hn_trace_parse(name, steps, strlen(steps), &a, &trace, &err) ||
	    hn_state_replay(dag, trace, &a, &s, &err) ||
	    hn_looptree_build(s, &a, &t, &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
	if (hn_legal_check(t, LIMIT_MS, &err) != HN_VERDICT_OK) {
		fail_msg("%s: %s", name, err.msg);
	}
	form_answer(dag, &want);
	h = (struct history){ name, dag, trace, 1, &want, tolerance_of(dag), &a };
	check_history(f->em, &h, /* scalar= */ false, /* parallel= */ true);
	run_args_free(&want);
	hn_arena_fini(&a);
}

static inline void check_file(struct fixture *f, const char *path)
{
	struct hn_buf text;
	struct hn_err err = { 0 };
	uint32_t n = 0;
	char *rest;

	hn_buf_init(&text);
	if (hn_file_read(path, 1 << 20, &text, &err)) {
		fail_msg("%s", err.msg);
	}
	for (char *line = strtok_r(text.s, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] != '#') {
			check_line(f, line);
			n++;
		}
	}
	hn_buf_fini(&text);
	assert_true(n > 0);
}

#endif
