/* lower/build/build_npu.c -- `hone-build --npu`: a computation as a program for the NPU.  See
 * build.h. */
#include <stdio.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "lower/npu/npu.h"

int hn_build_npu(const struct hn_build_request *r, const char *words, struct hn_arena *a,
		 struct hn_buf *ret, struct hn_err *err)
{
	struct hn_npu_plan plan = { .reuse = true };
	const struct hn_npu_program *p;
	struct hn_npu_profile m;
	const struct hn_dag *dag;
	char profile[40], order[20];
	int rc, end = 0;

	if (sscanf(words, "%39s %19s %u%n", profile, order, &plan.slots, &end) != 3 ||
	    words[end] != '\0' || plan.slots < 1 || plan.slots > 4 ||
	    (strcmp(order, "flags") != 0 && strcmp(order, "barriers") != 0 &&
	     strcmp(order, "tuned") != 0)) {
		return hn_fail(err, HONE_E_INVALID, "--npu '%.60s': a profile, flags, barriers or tuned, and "
			       "1 to 4 slots", words);
	}
	plan.order = strcmp(order, "barriers") == 0 ? HN_NPU_BARRIERS : HN_NPU_FLAGS;
	rc = hn_npu_profile_of(profile, &m, err);
	rc = rc ? rc : hn_dag_parse("dag", r->dag, r->dag_bytes, 0, a, &dag, err);
	rc = rc ? rc : strcmp(order, "tuned") == 0 ? hn_npu_tuned(dag, &m, a, &p, err)
						  : hn_npu_program(dag, &m, &plan, a, &p, err);
	if (rc == 0) {
		hn_npu_print(p, ret);
	}
	return rc;
}
