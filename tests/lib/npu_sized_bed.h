/* npu_sized_bed.h -- one program for a range of sizes: run at given ones, judged, its numbers beside the
 * interpreter's of the dag with these numbers. */
#ifndef HN_TESTS_NPU_SIZED_BED_H
#define HN_TESTS_NPU_SIZED_BED_H

#include "loopstate/dag/size.h"
#include "target/npu/npu_launch.h"
#include "tests/lib/npu_bed.h"

struct npu_sized_bed {
	const struct hn_dag *dag;
	struct hn_npu_profile m;
	const struct hn_npu_program *p[HN_NPU_SIZED_KERNELS];
	uint32_t n;
	struct hn_err err;
};

static inline int npu_sized_open(struct npu_sized_bed *b, const struct hn_dag *dag, const struct hn_npu_profile *m,
				 const struct hn_npu_plan *plan, struct hn_arena *a)
{
	*b = (struct npu_sized_bed){ .dag = dag, .m = *m };
	return hn_npu_sized(dag, m, plan, a, b->p, &b->n, &b->err);
}

/* Which kernel is taken for these sizes; -1: what is wrong is in err.  Cycles: NULL is fine. */
static inline int npu_sized_run(struct npu_sized_bed *b, const int64_t *value, uint64_t seed, int64_t *cycles)
{
	const struct hn_npu_program *p;
	const struct hn_dag *dag;
	struct hn_npu_result r;
	struct npu_bed bed;
	struct hn_arena a;
	int ret = -1;

	hn_arena_init(&a, 0);
	if (hn_npu_launch_first(b->p, b->n, value, &a, &p, &b->err) == 0 &&
	    hn_dag_instantiate(b->dag, value, &a, &dag, &b->err) == 0 &&
	    npu_bed_open(&bed, dag, &b->m, 11) == 0) {
		if (npu_bed_run(&bed, p, seed, true, &a, &r) == 0 && npu_bed_compare(&bed) > 0) {
			ret = 0;
			while (b->p[ret]->section != p->section) {
				ret++;
			}
			if (cycles != NULL) {
				*cycles = r.cycles;
			}
		}
		b->err = ret < 0 ? bed.err : b->err;
		npu_bed_close(&bed);
	}
	hn_arena_fini(&a);
	return ret;
}

#endif
