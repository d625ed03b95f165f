/* each_case.h -- for every shared case (RUN_ONLY=WORD: those with the word in their name),
 * with one emitter for this machine: what full tests over the cases share. */
#ifndef HN_TESTS_EACH_CASE_H
#define HN_TESTS_EACH_CASE_H

#include <dirent.h>

#include "tests/unit/lower_run.h"

/* Skips the test when the cases are not there. */
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
	int n = scandir(HONE_CASES_DIR "/ansor", &entry, NULL, alphasort);

	if (n < 0) {
		print_message("SKIPPED: no cases; configure with -DHONE_CASES=FOLDER\n");
		skip();
	}
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	assert_int_equal(hn_emitter_new(&host, &em, &err), 0);
	for (int i = 0; i < n; i++) {
		if (entry[i]->d_name[0] != '.' &&
		    (!only || strstr(entry[i]->d_name, only))) {
			check(em, &host, entry[i]->d_name, ctx);
		}
		free(entry[i]);
	}
	free(entry);
	hn_emitter_free(em);
	hn_arena_fini(&a);
}

#endif
