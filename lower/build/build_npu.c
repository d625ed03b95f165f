/* lower/build/build_npu.c -- `hone-build --npu`: a computation as a program for the NPU, and how long
 * its naive program takes there.  See build.h. */
#include <stdio.h>
#include <string.h>

#include "loopstate/read/dag_read.h"
#include "lower/build/build.h"
#include "lower/npu/naive.h"
#include "lower/npu/npu.h"

#define MOST_POINTS 0x1p28 /* of a naive program by vectors, */
#define MOST_TERMS 0x1p33  /* and of a product, 4096 of which are a step of the cube */

/* Programs of a dag with sizes, one behind the other, the least demanding last. */
static int of_sizes(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		    struct hn_arena *a, struct hn_buf *ret, struct hn_err *err)
{
	const struct hn_npu_program *p[HN_NPU_SIZED_KERNELS];
	uint32_t n;
	int rc = hn_npu_sized(dag, m, plan, a, p, &n, err);

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		hn_npu_print(p[i], ret);
	}
	return rc;
}

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
	rc = rc ? rc : hn_dag_parse_sized("dag", r->dag, r->dag_bytes, 0, a, &dag, err);
	if (rc == 0 && dag->sizes != NULL && strcmp(order, "tuned") == 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "a computation with sizes is not tuned: --order flags, or "
			       "numbers for its sizes");
	}
	if (rc == 0 && dag->sizes != NULL) {
		return of_sizes(dag, &m, &plan, a, ret, err);
	}
	rc = rc ? rc : strcmp(order, "tuned") == 0 ? hn_npu_tuned(dag, &m, a, &p, err)
						  : hn_npu_program(dag, &m, &plan, a, &p, err);
	if (rc == 0) {
		hn_npu_print(p, ret);
	}
	return rc;
}

/* Whether the naive program is counted in a second or so: one of more points, or steps of the cube, is
 * not made. */
static bool is_countable(const struct hn_dag *dag)
{
	struct hn_npu_product p;
	double points = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];
		double n = op->kind == HN_OP_COMPUTE;

		for (uint32_t d = 0; d < op->n_spatial + op->n_reduce && n > 0; d++) {
			n *= (double)op->axis[d].extent;
		}
		points += n;
	}
	return points <= (hn_npu_naive_is_product(dag, &p) ? MOST_TERMS : MOST_POINTS);
}

double hn_build_counted(const char *line, const struct hn_dag *dag)
{
	const struct hn_npu_steps *steps;
	struct hn_npu_profile m;
	struct hn_target target;
	int64_t cycles = 0;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_target_parse(line, &a, &target, &err);
	rc = rc ? rc : hn_npu_profile_of_target(&target, &m, &err);
	if (rc == 0 && !is_countable(dag)) {
		rc = -HONE_E_UNSUPPORTED;
	}
	rc = rc ? rc : hn_npu_naive(dag, &m, HN_NPU_LEAST, &a, &steps, &err);
	rc = rc ? rc : hn_npu_naive_run(steps, &m, NULL, &cycles, &err);
	hn_arena_fini(&a);
	return rc == 0 ? (double)cycles * 1e3 / (double)m.mhz : 0;
}
