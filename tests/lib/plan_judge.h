/* Whether a memory plan is right, by doing what the program would do: memory in cells, each of
 * which knows what was last written to it.  It shares nothing with the planner, and is slow. */
#ifndef HN_TESTS_PLAN_JUDGE_H
#define HN_TESTS_PLAN_JUDGE_H

#include <stdio.h>
#include <stdlib.h>

#include "graph/plan/plan.h"

#define PJ_CELL 16 /* bytes; sizes and places of slices are multiples */

struct pj_cell {
	uint32_t root; /* plus 1; 0: nothing was written */
	uint64_t k;    /* cell of the root */
};

struct pj {
	const struct hn_plan_tensor *t;
	const struct hn_plan *plan;
	uint32_t n;
	struct pj_cell *memory;
	uint64_t n_cell;
	char *why; /* [200] */
};

static inline uint32_t pj_root(const struct pj *j, uint32_t i, uint64_t *ret_at)
{
	*ret_at = 0;
	while (j->t[i].alias == HN_PLAN_SLICE) {
		*ret_at += j->t[i].at;
		i = j->t[i].of;
	}
	*ret_at /= PJ_CELL;
	return i;
}

/* Whether cells [from, to) of tensor i hold what was written. */
static inline bool pj_intact(const struct pj *j, uint32_t i, uint64_t from, uint64_t to)
{
	uint64_t at, base = j->plan->offset[i] / PJ_CELL;
	uint32_t root = pj_root(j, i, &at);

	for (uint64_t k = from; k < to; k++) {
		const struct pj_cell *c = &j->memory[base + k];

		if (c->root != root + 1 || c->k != at + k) {
			return false;
		}
	}
	return true;
}

static inline uint64_t pj_cells(const struct pj *j, uint32_t i)
{
	return j->t[i].bytes / PJ_CELL;
}

/* What tensor i shares with an older one of its root is still there when i begins. */
static inline bool pj_inherits(const struct pj *j, uint32_t i)
{
	uint64_t at, other;
	uint32_t root = pj_root(j, i, &at);

	for (uint32_t k = 0; k < j->n; k++) {
		if (j->t[k].first < j->t[i].first && pj_root(j, k, &other) == root) {
			uint64_t from = other > at ? other : at;
			uint64_t end = at + pj_cells(j, i),
				 end_k = other + pj_cells(j, k);
			uint64_t to = end < end_k ? end : end_k;

			if (from < to && !pj_intact(j, k, from - other, to - other)) {
				return false;
			}
		}
	}
	return true;
}

static inline void pj_write(const struct pj *j, uint32_t i)
{
	uint64_t at, base = j->plan->offset[i] / PJ_CELL;
	uint32_t root = pj_root(j, i, &at);

	for (uint64_t k = 0; k < pj_cells(j, i); k++) {
		j->memory[base + k] = (struct pj_cell){ root + 1, at + k };
	}
}

/* After step s has written: tensor i is whole, but for what took its place. */
static inline bool pj_survives(const struct pj *j, uint32_t i, uint32_t s)
{
	uint64_t n = pj_cells(j, i), gone = 0;

	for (uint32_t k = 0; k < j->n && j->t[i].last == s; k++) {
		if (j->plan->in_place[k] && j->t[k].first == s && j->t[k].of == i &&
		    j->plan->offset[k] == j->plan->offset[i]) {
			gone = pj_cells(j, k);
		}
	}
	return gone > n ? false : pj_intact(j, i, gone, n);
}

static inline bool pj_step(const struct pj *j, uint32_t s)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const struct hn_plan_tensor *t = &j->t[i];

		if (t->first < s && s <= t->last && !pj_intact(j, i, 0, pj_cells(j, i))) {
			snprintf(j->why, 200, "step %u: tensor %u was overwritten before",
				 s, i);
			return false;
		}
		if (t->first == s && !pj_inherits(j, i)) {
			snprintf(j->why, 200,
				 "step %u: parts of tensor %u were overwritten", s, i);
			return false;
		}
	}
	for (uint32_t i = 0; i < j->n; i++) {
		if (j->t[i].first == s) {
			pj_write(j, i);
		}
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const struct hn_plan_tensor *t = &j->t[i];

		if (t->first <= s && s <= t->last && !pj_survives(j, i, s)) {
			snprintf(j->why, 200, "step %u: tensor %u is overwritten", s, i);
			return false;
		}
	}
	return true;
}

/* Sizes, places and alignment. */
static inline bool pj_fits(const struct pj *j, uint32_t i)
{
	const struct hn_plan_tensor *t = &j->t[i];
	uint64_t offset = j->plan->offset[i];

	if (offset > j->plan->peak_bytes || t->bytes > j->plan->peak_bytes - offset) {
		snprintf(j->why, 200, "tensor %u: past the end", i);
		return false;
	}
	if (t->alias == HN_PLAN_SLICE ? offset != j->plan->offset[t->of] + t->at
				      : offset % HN_PLAN_ALIGN != 0) {
		snprintf(j->why, 200, "tensor %u: at a wrong offset", i);
		return false;
	}
	return true;
}

static inline bool pj_judge(const struct hn_plan_tensor *t, uint32_t n,
			    const struct hn_plan *plan, char why[200])
{
	struct pj j = { .t = t, .plan = plan, .n = n, .why = why };
	uint32_t last = 0;
	bool right = true;

	j.n_cell = plan->peak_bytes / PJ_CELL;
	j.memory = calloc(j.n_cell + 1, sizeof *j.memory);
	why[0] = '\0';
	for (uint32_t i = 0; i < n && right; i++) {
		last = t[i].last > last ? t[i].last : last;
		right = pj_fits(&j, i);
	}
	for (uint32_t s = 0; s <= last && right && n > 0; s++) {
		right = pj_step(&j, s);
	}
	free(j.memory);
	return right;
}

#endif
