/* each_case.h -- for every shared case (RUN_ONLY=WORD: those with the word in their name),
 * with one emitter for this machine: what full tests over the cases share.
 *
 * Without -DHONE_CASES the program ends as skipped, and ctest says so; a folder that was
 * named and is not there, or holds no case, is a failure. */
#ifndef HN_TESTS_EACH_CASE_H
#define HN_TESTS_EACH_CASE_H

#include <dirent.h>

#include "loopstate/widen.h"
#include "tests/unit/lower_run.h"

#define SKIPPED 77		 /* exit status that ctest takes for it */
#define NO_CASES "/nonexistent"	 /* what CMake gives when no folder was named */
#define EACH_MAX_INTERPRETED 1e8 /* operations */

/* Outputs to compare with: the interpreter sums in wide numbers; where it is too slow the
 * naive program must do, as boards have it (loopstate/widen.h). */
static inline void each_reference(struct hn_emitter *em, const char *name,
				  const struct hn_dag *dag, struct hn_arena *a,
				  struct run_args *ret)
{
	const struct hn_dag *wide = hn_dag_widen(dag, a);
	struct run_kernel naive;
	struct hn_err err = { 0 };

	run_args_make(dag, 7, ret);
	if (hn_dag_flops(dag) < EACH_MAX_INTERPRETED) {
		assert_int_equal(hn_interpret(dag, ret->at, &err), 0);
		return;
	}
	if (run_build(em, wide ? wide : dag, NULL, true, a, &naive, &err)) {
		fail_msg("%s: naive program: %s", name, err.msg);
	}
	assert_int_equal(naive.fn(ret->at, NULL), 0);
	run_unload(&naive);
}

static inline void each_case(void (*check)(struct hn_emitter *em,
					   const struct hn_target *host, const char *name,
					   void *ctx),
			     void *ctx)
{
	const char *only = getenv("RUN_ONLY");
	struct hn_target host;
	struct hn_emitter *em;
	struct hn_arena a;
	struct hn_err err;
	struct dirent **entry;
	uint32_t checked = 0;

	if (strcmp(HONE_CASES_DIR, NO_CASES) == 0) {
		print_message("SKIPPED: no cases; configure with -DHONE_CASES=FOLDER\n");
		exit(SKIPPED);
	}
	int n = scandir(HONE_CASES_DIR "/ansor", &entry, NULL, alphasort);

	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (int i = 0; i < n; i++) {
		if (entry[i]->d_name[0] != '.' &&
		    (!only || strstr(entry[i]->d_name, only))) {
			check(em, &host, entry[i]->d_name, ctx);
			checked++;
		}
		free(entry[i]);
	}
	if (checked == 0) {
		fail_msg("%s/ansor holds no case%s", HONE_CASES_DIR,
			 only ? " with RUN_ONLY in its name" : "");
	}
	free(entry);
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

#endif
