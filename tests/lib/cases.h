/* tests/lib/cases.h -- whether Ansor's recordings are here (-DHONE_CASES=FOLDER), and what a test says
 * that has nothing to compare with where they are not.  Include <cmocka.h> before this. */
#ifndef HN_TESTS_LIB_CASES_H
#define HN_TESTS_LIB_CASES_H

#include <stdbool.h>
#include <string.h>

#define SKIPPED 77 /* exit status that ctest takes for it */

/* A folder that was named and is not there is no reason to skip. */
static inline bool cases_are_here(void)
{
	return strcmp(HONE_CASES_DIR, "/nonexistent") != 0; /* CMake's, when none was named */
}

/* One test of a program. */
static inline void need_cases(void)
{
	if (!cases_are_here()) {
		print_message("nothing to compare with: Ansor's recordings are not here "
			      "(-DHONE_CASES=FOLDER)\n");
		skip();
	}
}

/* A whole program's exit status, given its tests'. */
static inline int skipped_without_cases(int failed)
{
	return failed || cases_are_here() ? failed : SKIPPED;
}

#endif
