/* dag_form.h -- the forms of looptree_dags.h, opened. */
#ifndef HN_TESTS_DAG_FORM_H
#define HN_TESTS_DAG_FORM_H

#include <string.h>

#include "loopstate/dag/dag.h"
#include "loopstate/read/dag_read.h"

/* JSON with ' for ", or the text notation.  Needs cmocka.h before it. */
static inline const struct hn_dag *dag_form_open(const char *name, const char *form,
						 struct hn_arena *a)
{
	char *text = hn_arena_strdup(a, form);
	const struct hn_dag *dag;
	struct hn_err err = { 0 };

	for (char *c = text; *c && *text == '{'; c++) {
		*c = *c == '\'' ? '"' : *c;
	}
	if (hn_dag_parse(name, text, strlen(text), 0, a, &dag, &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
	return dag;
}

/* The same, named by itself. */
static inline const struct hn_dag *dag_open(const char *text, struct hn_arena *a)
{
	return dag_form_open(text, text, a);
}

#endif
