/* lower/npu/parts.h -- programs of several parts, behind each of which all cores meet: reductions to fewer
 * results than there are cores.
 */
#ifndef HN_LOWER_NPU_PARTS_H
#define HN_LOWER_NPU_PARTS_H

#include "lower/npu/npu.h"

enum { HN_NPU_MOST_PARTS = 32 };

/* A program behind others: all cores have done these before it begins, or this core has. */
struct hn_npu_part {
	const struct hn_npu_program *p;
	const uint32_t *buffer; /* [p->n_buffer] which of all each of its arguments is */
	bool meets;
};

/* Their code one after the other; `like` has the arguments and the scratch.  HONE_E_UNSUPPORTED: it is
 * too long.  join.c */
int hn_npu_join(const struct hn_npu_part *part, uint32_t n, const struct hn_npu_program *like, struct hn_arena *a,
		const struct hn_npu_program **ret, struct hn_err *err) HN_NODISCARD;

/* The dag by vectors, its reductions in parts that as many cores share as `most` says.
 * HONE_E_UNSUPPORTED: none of them has such parts, or one has no program.  parts.c */
int hn_npu_vector_parts(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
			int64_t most, struct hn_arena *a, const struct hn_npu_program **ret,
			struct hn_err *err) HN_NODISCARD;

/* The same with what sums read over a border, as padding, in scratch: the border is made first, and windows
 * then read it like anything else.  HONE_E_UNSUPPORTED: there is none, or it has no program.  parts.c */
int hn_npu_vector_staged(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
			 struct hn_arena *a, const struct hn_npu_program **ret,
			 struct hn_err *err) HN_NODISCARD;

#endif
