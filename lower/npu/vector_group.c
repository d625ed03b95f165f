/* lower/npu/vector_group.c -- which cores make which results.
 *
 * Cores share a dimension that all of their results have.  Where no dimension is in all, as where a
 * border has results of its own or one result is a sum over what another keeps, results are parted:
 * each group has its own cores and its own program, and computes again what it needs of the others.
 */
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define FEW 4 /* a part of the cores that is too few */

static bool is_of(const struct vec *x, const uint8_t *group, uint32_t i, uint8_t g)
{
	return x->op[i].what == VEC_STORE && group[i] == g;
}

void vec_group_of(const struct vec *x, const uint8_t *group, uint8_t g, struct vec *ret)
{
	bool *needs = HN_NEW_ARRAY(x->a, bool, x->n_value + 1), *does = HN_NEW_ARRAY(x->a, bool, x->n_op + 1);
	int32_t *to = HN_NEW_ARRAY(x->a, int32_t, x->n_value + 1);

	*ret = *x;
	ret->v = HN_NEW_ARRAY(x->a, struct vec_value, x->n_value + 1);
	ret->op = HN_NEW_ARRAY(x->a, struct vec_op, x->n_op + 1);
	ret->n_value = ret->n_op = 0;
	for (uint32_t i = x->n_op; i-- > 0;) {
		const struct vec_op *op = &x->op[i];

		does[i] = op->to >= 0 ? needs[op->to] : is_of(x, group, i, g);
		for (int k = 0; k < 3 && does[i]; k++) {
			if (op->from[k] >= 0) {
				needs[op->from[k]] = true;
			}
		}
	}
	for (uint32_t i = 0; i < x->n_value; i++) {
		to[i] = needs[i] ? (int32_t)ret->n_value : -1;
		if (needs[i]) {
			ret->v[ret->n_value] = x->v[i];
			ret->v[ret->n_value++].stored = false;
		}
	}
	for (uint32_t i = 0; i < x->n_op; i++) {
		struct vec_op op = x->op[i];

		if (!does[i]) {
			continue;
		}
		op.to = op.to >= 0 ? to[op.to] : op.to;
		for (int k = 0; k < 3; k++) {
			op.from[k] = op.from[k] >= 0 ? to[op.from[k]] : op.from[k];
		}
		if (op.what == VEC_STORE) { /* of others that they need nothing is stored */
			ret->v[op.from[0]].stored = true;
		}
		ret->op[ret->n_op++] = op;
	}
	ret->cap_value = x->n_value + 1;
	ret->cap_op = x->n_op + 1;
}

/* Others may store to the blocks before and behind each row of it. */
static bool is_apart(const struct vec *x, const struct vec_value *v, int64_t size)
{
	int64_t row = size;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		if (vec_has(v->dims, d) && v->stride[d] == 1) {
			row = x->dim[d] * size;
		} else if (vec_has(v->dims, d) && v->stride[d] * size % HN_NPU_BLOCK != 0) {
			return false;
		}
	}
	return row % HN_NPU_BLOCK == 0 && v->offset * size % HN_NPU_BLOCK == 0;
}

/* Whether no two groups store to one block. */
static bool are_apart(const struct vec *x, const uint8_t *group)
{
	for (uint32_t i = 0; i < x->n_op; i++) {
		for (uint32_t k = i + 1; k < x->n_op && x->op[i].what == VEC_STORE; k++) {
			int32_t a = x->op[i].from[0], b = x->op[k].from[0];

			if (x->op[k].what == VEC_STORE && group[i] != group[k] && x->v[a].arg == x->v[b].arg &&
			    (!is_apart(x, &x->v[a], vec_size(x, a)) || !is_apart(x, &x->v[b], vec_size(x, b)))) {
				return false;
			}
		}
	}
	return true;
}

/* Cores that share what the group stores; *work: points of that. */
static uint32_t cores_of(const struct vec *x, const uint8_t *group, uint8_t g, double *work)
{
	struct vec part;

	vec_group_of(x, group, g, &part);
	*work = 0;
	for (uint32_t i = 0; i < part.n_op; i++) {
		*work += part.op[i].what == VEC_STORE ? vec_points(&part, part.v[part.op[i].from[0]].dims) : 0;
	}
	return vec_cores(&part) == 0 ? part.n_core : 1;
}

/* Of those in group g the ones that have a dimension which twice as many cores can share, the most points
 * of them, stay; the others become group g + 1. */
static bool take_apart(const struct vec *x, uint8_t *group, uint8_t g, uint32_t n_core)
{
	uint8_t *with = HN_NEW_ARRAY(x->a, uint8_t, x->n_op + 1), *best = NULL;
	double most = 0, work;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		bool rest = false;

		memcpy(with, group, x->n_op);
		for (uint32_t i = 0; i < x->n_op; i++) {
			if (is_of(x, group, i, g) && !vec_has(x->v[x->op[i].from[0]].dims, d)) {
				with[i] = (uint8_t)(g + 1);
				rest = true;
			}
		}
		if (rest && cores_of(x, with, g, &work) >= 2 * n_core && work > most) {
			most = work;
			best = best == NULL ? HN_NEW_ARRAY(x->a, uint8_t, x->n_op + 1) : best;
			memcpy(best, with, x->n_op);
		}
	}
	if (best != NULL) {
		memcpy(group, best, x->n_op);
	}
	return best != NULL;
}

/* Each has one core at least, more as it has more points. */
static void share(struct vec_groups *ret, const double *work)
{
	double all = 0;
	uint32_t left = ret->most_core - ret->n;

	for (uint32_t g = 0; g < ret->n; g++) {
		all += work[g];
	}
	for (uint32_t g = 0; g < ret->n; g++) {
		ret->cores[g] = 1 + (uint32_t)((double)left * (work[g] / all));
	}
}

void vec_group(const struct vec *x, struct vec_groups *ret)
{
	double work[VEC_GROUPS];
	uint32_t n_core;

	*ret = (struct vec_groups){ .n = 1, .most_core = x->most_core, .group = HN_NEW_ARRAY(x->a, uint8_t, x->n_op + 1) };
	ret->cores[0] = x->most_core;
	while (ret->n < VEC_GROUPS && ret->n < x->most_core) {
		n_core = cores_of(x, ret->group, (uint8_t)(ret->n - 1), work);
		if (n_core > (x->most_core + FEW - 1) / FEW || !take_apart(x, ret->group, (uint8_t)(ret->n - 1), n_core)) {
			break;
		}
		ret->n++;
	}
	if (ret->n > 1 && !are_apart(x, ret->group)) {
		memset(ret->group, 0, x->n_op);
		ret->n = 1;
	}
	for (uint32_t g = 0; g < ret->n && ret->n > 1; g++) {
		cores_of(x, ret->group, (uint8_t)g, &work[g]);
	}
	if (ret->n > 1) {
		share(ret, work);
	}
}
