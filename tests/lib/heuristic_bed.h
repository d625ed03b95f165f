/* heuristic_bed.h -- what the tests of heuristic schedules share: a target, a program, its
 * heuristics and the nests they make. */
#ifndef HN_TESTS_HEURISTIC_BED_H
#define HN_TESTS_HEURISTIC_BED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/dag_form.h"
#include "loopstate/nest/looptree.h"
#include "sketch/heuristic.h"

/* Named in full: what a line leaves out of the isa of this machine is read from the machine. */
#define CACHES " -cache_line_bytes=64 -l1_bytes=49152 -l2_bytes=1048576 -l3_bytes=4194304"
#define AVX512_OF(cores) \
	"cpu -isa=x86-64-avx512 -mattr=+avx512vnni,+avx512bf16 -num_cores=" cores \
	" -fma_per_cycle=2" CACHES
#define AVX512 AVX512_OF("4")
#define AVX2 \
	"cpu -isa=x86-64-avx2 -num_cores=4 -fma_per_cycle=2 -cache_line_bytes=64" \
	" -l1_bytes=32768 -l2_bytes=524288 -l3_bytes=4194304"

struct heuristics {
	struct hn_arena a;
	struct hn_target on;
	const struct hn_dag *dag;
	uint32_t n;
	const struct hn_state *g[HN_HEURISTIC_MAX];
};

/* A target; its parameters may be changed before heuristics_of. */
static inline void heuristics_begin(struct heuristics *x, const char *target)
{
	struct hn_err err;

	hn_arena_init(&x->a, 0);
	assert_int_equal(hn_target_parse(target, &x->a, &x->on, &err), 0);
}

static inline void heuristics_of(struct heuristics *x, const char *program)
{
	x->dag = dag_open(program, &x->a);
	x->n = hn_heuristics(x->dag, &x->on, &x->a, x->g);
}

static inline void heuristics_open(struct heuristics *x, const char *target,
				   const char *program)
{
	heuristics_begin(x, target);
	heuristics_of(x, program);
}

static inline void heuristics_end(struct heuristics *x)
{
	hn_arena_fini(&x->a);
}

/* The nests of heuristic k. */
static inline const struct hn_node *heuristics_tree(struct heuristics *x, uint32_t k)
{
	const struct hn_looptree *tree;

	assert_in_range(k, 0, x->n - 1);
	assert_int_equal(hn_looptree_build(x->g[k], &x->a, &tree, NULL), 0);
	return tree->root;
}

/* Its steps as text. */
static inline const char *heuristics_steps(struct heuristics *x, uint32_t k)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_trace_write(x->g[k]->trace, &text);
	const char *steps = hn_arena_strdup(&x->a, text.s);

	hn_buf_fini(&text);
	return steps;
}

static inline bool has_parallel(const struct hn_node *n)
{
	bool any = n->kind == HN_NODE_LOOP && n->ann == HN_ANN_PARALLEL;

	for (uint32_t i = 0; n->kind != HN_NODE_STMT && i < n->n_child; i++) {
		any = any || has_parallel(n->child[i]);
	}
	return any;
}

static inline bool has_step(const struct hn_state *s, enum hn_step_kind kind)
{
	for (uint32_t i = 0; s->trace && i < s->trace->n_step; i++) {
		if (s->trace->step[i]->kind == kind) {
			return true;
		}
	}
	return false;
}

/* Whether some heuristic has such a step. */
static inline bool any_has_step(const struct heuristics *x, enum hn_step_kind kind)
{
	bool any = false;

	for (uint32_t k = 0; k < x->n; k++) {
		any = any || has_step(x->g[k], kind);
	}
	return any;
}

static inline uint32_t loops_of_length(const struct hn_node *n, enum hn_iter_kind kind,
				       int64_t extent)
{
	bool here =
		n->kind == HN_NODE_LOOP && n->iter_kind == kind && n->extent == extent;
	uint32_t found = here;

	for (uint32_t i = 0; n->kind != HN_NODE_STMT && i < n->n_child; i++) {
		found += loops_of_length(n->child[i], kind, extent);
	}
	return found;
}

#endif
