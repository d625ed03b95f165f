/* lower/build/build_naive.c -- the further programs in a naive program's object (build.h).
 *
 * All answers are compared with the naive program's, but it is too slow for a large computation.
 * A program that adds each output's terms in the same order, and rounds each operation in the
 * same way, gives the same bits. So a history of the dag marked as bitwise
 * (loopstate/dag/liberty.h), proved like a bitwise task's candidates, replaces it on all cores
 * and lanes. The companion with wider sums is replaced in the same way. If the proof fails, the
 * scalar programs are used.
 */
#include "lower/build/build.h"

#include <string.h>

#include "loopstate/dag/mark.h"
#include "loopstate/state/bracket.h"
#include "loopstate/state/widen.h"
#include "lower/build/restrict.h"

#define PROVE_LIMIT_MS 3000 /* each */
#define SLICE_POINTS 1e7 /* of a naive program: under a tenth of a second, run some times */
#define LONG_POINTS 4e9	 /* a program that runs more statements has a sample, ... */
#define SAMPLE_POINTS 8e6 /* ... of places that take so many each */

/* The history's tree when it is legal and bitwise; else NULL. */
static const struct hn_looptree *proved(const struct hn_dag *dag, const char *steps,
					struct hn_arena *a)
{
	const struct hn_dag *marked = hn_dag_mark(dag, HN_MARK_BITWISE, a);
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *state;
	struct hn_err err;

	if (hn_trace_parse("steps", steps, strlen(steps), a, &trace, &err) != 0 ||
	    !hn_trace_complete(trace) ||
	    hn_state_replay(marked, trace, a, &state, &err) != 0 ||
	    hn_looptree_build(state, a, &tree, &err) != 0 ||
	    hn_legal_check(tree, PROVE_LIMIT_MS, &err) != HN_VERDICT_OK) {
		return NULL;
	}
	return tree;
}

static bool given(const char *text)
{
	return text != NULL && *text != '\0';
}

static void add(struct hn_naive_more *more, const char *symbol, const struct hn_looptree *tree,
		bool scalar)
{
	more->program[more->n++] = (struct hn_emit_beside){ symbol, tree, scalar };
}

static int add_wide(const struct hn_build_request *r, const struct hn_dag *dag, bool fast,
		    struct hn_arena *a, struct hn_naive_more *more, struct hn_err *err)
{
	const struct hn_dag *wide = given(r->wide) ? hn_dag_widen(dag, a) : NULL;
	const struct hn_looptree *tree = NULL;
	int rc = 0;

	if (wide == NULL) {
		return 0;
	}
	if (fast && given(r->wide_steps)) {
		tree = proved(wide, r->wide_steps, a);
	}
	bool scalar = tree == NULL;

	if (scalar) {
		rc = hn_looptree_build(hn_state_init(wide, a), a, &tree, err);
	}
	if (rc == 0) {
		more->fast |= !scalar;
		add(more, r->wide, tree, scalar);
	}
	return rc;
}

/* The i-th of several programs of that name. */
static void add_numbered(struct hn_naive_more *more, const char *name, uint32_t i,
			 const struct hn_looptree *tree, bool scalar, struct hn_arena *a)
{
	struct hn_buf symbol;

	hn_buf_init(&symbol);
	hn_buf_printf(&symbol, "%s%u", name, i);
	add(more, hn_arena_strdup(a, symbol.s), tree, scalar);
	hn_buf_fini(&symbol);
}

static void add_samples(const struct hn_build_request *r, const struct hn_looptree *naive,
			struct hn_arena *a, struct hn_naive_more *more)
{
	const struct hn_looptree *sample[HN_SAMPLE_MAX];
	uint32_t n = hn_node_points(naive->root) < LONG_POINTS
			     ? 0
			     : hn_sample(naive, SAMPLE_POINTS, a, sample);

	for (uint32_t i = 0; i < n; i++) {
		add_numbered(more, r->samples, i, sample[i], /* scalar= */ true, a);
	}
}

static void add_slices(const struct hn_build_request *r, const struct hn_looptree *naive,
		       struct hn_arena *a, struct hn_naive_more *more)
{
	struct hn_slice slice[HN_SLICE_MAX];

	more->n_slice = hn_slice(naive, SLICE_POINTS, a, slice);
	for (uint32_t i = 0; i < more->n_slice; i++) {
		add_numbered(more, r->slices, i, slice[i].tree, /* scalar= */ true, a);
		more->points[i] = slice[i].points;
		more->of[i] = slice[i].of;
	}
}

/* Of the program with wider sums, where there is one: what is converted is near the true value. */
static int add_brackets(const struct hn_build_request *r, const struct hn_dag *dag, bool fast,
			struct hn_arena *a, struct hn_naive_more *more, struct hn_err *err)
{
	const struct hn_dag *wide = hn_dag_widen(dag, a);
	int rc = 0;

	for (uint32_t side = 0; side < 2 && rc == 0; side++) {
		const struct hn_dag *moved = hn_dag_bracket(wide != NULL ? wide : dag,
							    (enum hn_bracket)side,
							    HN_BRACKET_WHOLE, a);
		const struct hn_looptree *tree = NULL;

		if (moved == NULL) {
			return 0;
		}
		if (fast && given(r->bracket_steps)) {
			tree = proved(moved, r->bracket_steps, a);
		}
		bool scalar = tree == NULL;

		if (scalar) {
			rc = hn_looptree_build(hn_state_init(moved, a), a, &tree, err);
		}
		if (rc == 0) {
			more->fast |= !scalar;
			add_numbered(more, r->brackets, side, tree, scalar, a);
		}
	}
	return rc;
}

int hn_build_naive_more(const struct hn_build_request *r, const struct hn_dag *dag,
			const struct hn_looptree *naive, bool fast, struct hn_arena *a,
			struct hn_naive_more *ret, struct hn_err *err)
{
	const struct hn_looptree *refer;

	*ret = (struct hn_naive_more){ .n = 0 };
	if (fast && given(r->refer) && given(r->refer_steps)) {
		refer = proved(dag, r->refer_steps, a);
		if (refer != NULL) {
			ret->fast = true;
			add(ret, r->refer, refer, /* scalar= */ false);
		}
	}
	if (given(r->slices)) {
		add_slices(r, naive, a, ret);
	}
	if (given(r->samples)) {
		add_samples(r, naive, a, ret);
	}
	int rc = given(r->brackets) ? add_brackets(r, dag, fast, a, ret, err) : 0;

	return rc ? rc : add_wide(r, dag, fast, a, ret, err);
}
