/* lower/npu/vector_course.c -- which way the repeats of an operation go: what takes fewest cycles. */
#include "base/arith.h"
#include "lower/npu/vector_walk.h"

#define MOST_STRIDE 4095 /* blocks between repeats */
#define MOST_APART 255	 /* and between the blocks of one */

static int64_t cycles(const struct vec_walk *w, int64_t n_insn, int64_t n_repeat)
{
	int64_t each = w->lanes == 128 ? hn_npu_op[w->what].c16 : hn_npu_op[w->what].c32;

	return hn_add_sat(hn_mul_sat(n_insn, w->t->x->m->vector_start),
			  hn_ceildiv(hn_mul_sat(hn_mul_sat(n_repeat, each), w->t->x->m->vector_percent), 100));
}

static bool reaches(const struct vec_walk *w, const struct vec_way *way, int64_t times, int64_t most)
{
	bool all = true;

	for (int k = 0; k < w->n_operand; k++) {
		all = all && way->stride[k] >= 0 && way->stride[k] * times / HN_NPU_BLOCK <= most;
	}
	return all;
}

/* Eight runs of the way can be a repeat: lanes are as wide of all operands, each run begins with a block,
 * and no two write to the same one. */
static bool has_blocks(const struct vec_walk *w, const struct vec_way *way)
{
	uint8_t kind = hn_npu_op[w->what].kind;
	bool fine = (kind == HN_NPU_K_BINARY || kind == HN_NPU_K_UNARY || kind == HN_NPU_K_SCALED) &&
		    vec_walk_size(w, 0) > 1 && way->stride[0] != 0 && reaches(w, way, 1, MOST_APART);

	for (int k = 0; k < w->n_operand; k++) {
		fine = fine && vec_walk_size(w, k) == vec_walk_size(w, 0) && vec_walk_form(w, k) != VEC_BITS &&
		       way->stride[k] % HN_NPU_BLOCK == 0;
	}
	return fine;
}

static void try_course(const struct vec_walk *w, uint32_t by, uint32_t in, int64_t n_insn, int64_t n_repeat,
		       struct vec_course *best)
{
	int64_t n = cycles(w, n_insn, n_repeat);

	if (n < best->cycles) {
		*best = (struct vec_course){ by, in, n };
	}
}

struct vec_course vec_course(const struct vec_walk *w)
{
	int64_t columns = hn_ceildiv(w->length, w->lanes), whole = w->length / w->lanes, all = 1;
	int64_t blocks = hn_ceildiv(w->length, w->lanes / VEC_BLOCKS);
	struct vec_course best = { w->n_way, w->n_way, INT64_MAX };

	for (uint32_t j = 0; j < w->n_way; j++) {
		all = hn_mul_sat(all, w->way[j].n);
	}
	try_course(w, w->n_way, w->n_way, all * (hn_ceildiv(whole, VEC_REPEATS) + (w->length % w->lanes != 0)),
		   all * columns, &best);
	for (uint32_t j = 0; j < w->n_way; j++) {
		const struct vec_way *by = &w->way[j];

		if (!reaches(w, by, 1, MOST_STRIDE)) {
			continue;
		}
		try_course(w, j, w->n_way, all / by->n * hn_ceildiv(by->n, VEC_REPEATS) * columns, all * columns,
			   &best);
		for (uint32_t i = 0; i < w->n_way; i++) {
			const struct vec_way *in = &w->way[i];
			int64_t eights = hn_ceildiv(in->n, VEC_BLOCKS), rest = all / in->n * blocks;

			if (!has_blocks(w, in) || (i == j && !reaches(w, in, VEC_BLOCKS, MOST_STRIDE))) {
				continue;
			}
			try_course(w, j, i, i != j ? rest * eights / by->n * hn_ceildiv(by->n, VEC_REPEATS)
						   : rest * (hn_ceildiv(in->n / VEC_BLOCKS, VEC_REPEATS) +
							     (in->n % VEC_BLOCKS != 0)),
				   rest * eights, &best);
		}
	}
	return best;
}
