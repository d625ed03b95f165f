/* lower/npu/vector_cores.c -- which part of the space each core has.
 *
 * Cores share dimensions that every result has, and that nothing sums over.  They get so much of one
 * at a time that no two of them write to a block of global memory.  Where one has too few for all
 * cores, a second is shared too, evenly.  Where there is none, one core does it all.
 */
#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define ALONG_ROWS 256 /* numbers of a row that a core gets a multiple of */

/* What a core gets a multiple of; 0: cores cannot share it. */
static int64_t unit(const struct vec *x, uint32_t d)
{
	int64_t most = vec_bit(d) == vec_last(x) ? ALONG_ROWS : 1;

	if (vec_has(x->reduced, d)) {
		return 0;
	}
	for (uint32_t i = 0; i < x->n_value; i++) {
		const struct vec_value *v = &x->v[i];
		int64_t size = vec_size(x, (int32_t)i), n;

		if (!v->stored) {
			continue;
		}
		if (!vec_has(v->dims, d)) {
			return 0;
		}
		/* what is behind one part in memory begins with a block */
		for (uint32_t e = 0; e < x->n_dim; e++) {
			if (vec_has(v->dims, e) && v->stride[e] > v->stride[d] &&
			    v->stride[e] * size % HN_NPU_BLOCK != 0) {
				return 0;
			}
		}
		if (v->offset / v->stride[d] * v->stride[d] * size % HN_NPU_BLOCK != 0) {
			return 0;
		}
		n = HN_NPU_BLOCK / hn_gcd(HN_NPU_BLOCK, v->stride[d] * size % HN_NPU_BLOCK == 0
								 ? HN_NPU_BLOCK
								 : v->stride[d] * size % HN_NPU_BLOCK);
		most = n > most ? n : most;
	}
	return most;
}

static int64_t part_of(const struct vec *x, uint32_t d, int64_t step, int64_t cores)
{
	return hn_ceildiv(hn_ceildiv(x->dim[d], step), cores) * step;
}

/* The outermost of those that nearly most cores can share. */
static void first(struct vec *x)
{
	int64_t most = 1;

	for (uint32_t d = x->n_dim; d-- > 0;) {
		int64_t step = unit(x, d), part, n;

		if (step == 0) {
			continue;
		}
		part = part_of(x, d, step, x->most_core);
		n = hn_ceildiv(x->dim[d], part);
		if (n > 1 && n * 4 >= most * 3) {
			most = n > most ? n : most;
			x->split[0] = (int32_t)d;
			x->part[d] = part < x->dim[d] ? part : x->dim[d];
			x->core[d] = n;
		}
	}
}

static void second(struct vec *x)
{
	uint32_t d = (uint32_t)x->split[0];
	int64_t left = x->most_core / x->core[d], most = 1;

	for (uint32_t e = 0; e < x->n_dim; e++) {
		int64_t step = e == d ? 0 : unit(x, e);

		for (int64_t n = left; step > 0 && n > most; n--) {
			if (x->dim[e] % n == 0 && x->dim[e] / n % step == 0) {
				most = n;
				x->split[1] = (int32_t)e;
			}
		}
	}
	if (most > 1) {
		x->core[x->split[1]] = most;
		x->part[x->split[1]] = x->dim[x->split[1]] / most;
	}
}

/* A dimension of ops that are computed along others alone, as a reshape between them is: nothing goes
 * through it. */
static void drop_unused(struct vec *x)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < x->n_value; i++) {
		used |= x->v[i].dims | x->v[i].deps;
	}
	for (uint32_t i = 0; i < x->n_op; i++) {
		used |= x->op[i].what == VEC_TOTAL ? x->op[i].over : 0;
	}
	for (uint32_t d = 0; d < x->n_dim; d++) {
		x->dim[d] = vec_has(used, d) ? x->dim[d] : 1;
	}
}

int vec_cores(struct vec *x)
{
	drop_unused(x);
	x->reduced = 0;
	x->split[0] = x->split[1] = -1;
	for (uint32_t i = 0; i < x->n_op; i++) {
		x->reduced |= x->op[i].what == VEC_TOTAL ? x->op[i].over : 0;
	}
	for (uint32_t d = 0; d < x->n_dim; d++) {
		x->core[d] = 1;
		x->part[d] = x->dim[d];
	}
	first(x);
	for (uint32_t d = 0; d < x->n_dim; d++) { /* of those looked at on the way */
		if ((int32_t)d != x->split[0]) {
			x->core[d] = 1;
			x->part[d] = x->dim[d];
		}
	}
	if (x->split[0] >= 0) {
		second(x);
	}
	x->n_core = 1;
	for (uint32_t d = 0; d < x->n_dim; d++) {
		x->n_core *= (uint32_t)x->core[d];
	}
	x->step = x->split[0] < 0 ? 1 : unit(x, (uint32_t)x->split[0]);
	return 0;
}
