/* sketch_util.h -- what the tests of sketches share: dags from the text notation, hints
 * on their ops, targets, and checks of previews and steps. */
#ifndef HN_TESTS_SKETCH_UTIL_H
#define HN_TESTS_SKETCH_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "loopstate/read/dag_read.h"
#include "sketch/sketch.h"

static inline const struct hn_dag *dag_text(struct hn_arena *a, const char *text)
{
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	if (hn_dag_parse("test", text, strlen(text), 0, a, &dag, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return dag;
}

/* The dag with a list attribute of n axis names on the op of that name. */
static inline const struct hn_dag *dag_hint(struct hn_arena *a, const struct hn_dag *dag,
					    const char *op, const char *key,
					    const char *const *axis, uint32_t n)
{
	struct hn_dag *to = HN_NEW(a, struct hn_dag);
	const struct hn_op **ops = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);
	struct hn_attr *attr = HN_NEW(a, struct hn_attr);
	bool found = false;

	*attr = (struct hn_attr){ .name = key, .json = "[]", .n_item = n, .item = axis };
	*to = *dag;
	to->op = ops;
	for (uint32_t i = 0; i < dag->n_op; i++) {
		ops[i] = dag->op[i];
		if (strcmp(dag->op[i]->name, op) == 0) {
			struct hn_op *copy = HN_NEW(a, struct hn_op);
			*copy = *dag->op[i];
			copy->n_attr = 1;
			copy->attr = attr;
			ops[i] = copy;
			found = true;
		}
	}
	assert_true(found);
	return to;
}

static inline struct hn_target target_of(struct hn_arena *a, const char *text)
{
	struct hn_target t;
	struct hn_err err = { 0 };

	if (hn_target_parse(text, a, &t, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return t;
}

static inline struct hn_sketches
sketches_of(const struct hn_dag *dag, const struct hn_target *t, struct hn_arena *a)
{
	struct hn_sketches s;
	struct hn_err err = { 0 };

	if (hn_sketch_generate(dag, t, a, &s, &err) < 0) {
		fail_msg("%s", err.msg);
	}
	return s;
}

static inline void check_text(const struct hn_state *s, const char *want)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_state_print(s, /* delete_trivial_loops= */ true, &text);
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

static inline void check_steps(const struct hn_state *s, const char *want)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_trace_write(s->trace, &text);
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

/* The names of stages, joined: "A A.shared C". */
static inline void check_stages(const struct hn_state *s, const char *want)
{
	struct hn_buf text;

	hn_buf_init(&text);
	for (uint32_t i = 0; i < s->n_stage; i++) {
		hn_buf_printf(&text, "%s%s", i > 0 ? " " : "", s->dag->op[i]->name);
	}
	assert_string_equal(text.s, want);
	hn_buf_fini(&text);
}

#endif
