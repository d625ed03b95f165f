/* graph/plan/plan_busy.c -- how many bytes are alive at each step.
 *
 * Only steps in which a block begins count: between two of them blocks do but end.  They are
 * numbered, and a tree over them answers for the most of a range.
 */
#include <stdlib.h>

#include "graph/plan/plan_int.h"

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* The steps in which blocks begin, each once. */
static uint32_t begins(const struct plan_blocks *b, uint32_t *step)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		step[i] = b->block[i].first;
	}
	qsort(step, b->n, sizeof *step, by_number);
	for (uint32_t i = 0; i < b->n; i++) {
		if (n == 0 || step[n - 1] != step[i]) {
			step[n++] = step[i];
		}
	}
	return n;
}

/* How many of step[0..n) are below `limit`. */
static uint32_t n_below(const uint32_t *step, uint32_t n, uint64_t limit)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (step[mid] < limit) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

/* The most of leaves [from, to) of a tree with n leaves at tree[n..2n). */
static uint64_t most(const uint64_t *tree, uint32_t n, uint32_t from, uint32_t to)
{
	uint64_t ret = 0;

	for (from += n, to += n; from < to; from /= 2, to /= 2) {
		if (from & 1) {
			ret = tree[from] > ret ? tree[from] : ret;
			from++;
		}
		if (to & 1) {
			to--;
			ret = tree[to] > ret ? tree[to] : ret;
		}
	}
	return ret;
}

void plan_busy(struct plan_blocks *b, struct hn_arena *a)
{
	uint32_t *step = HN_NEW_ARRAY(a, uint32_t, b->n), n = begins(b, step);
	uint64_t *tree = HN_NEW_ARRAY(a, uint64_t, 2 * (size_t)n + 1), *live = tree + n;

	for (uint32_t i = 0; i < b->n; i++) {
		live[n_below(step, n, b->block[i].first)] += b->block[i].bytes;
		live[n_below(step, n, (uint64_t)b->block[i].last + 1)] -=
			b->block[i].bytes;
	}
	for (uint32_t i = 1; i < n; i++) {
		live[i] += live[i - 1];
	}
	for (uint32_t i = n; i-- > 1;) {
		tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct plan_block *is = &b->block[i];

		is->busy = most(tree, n, n_below(step, n, is->first),
				n_below(step, n, (uint64_t)is->last + 1));
		b->bound_bytes = is->busy > b->bound_bytes ? is->busy : b->bound_bytes;
	}
}
