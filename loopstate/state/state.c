/* state.c -- construction of states: the initial one, one step more, a whole replay.
 *
 * Relies on: ops of a dag are valid (dag.h), steps' apply is total once check passed.
 */
#include "loopstate/state/state.h"

#include <string.h>

#include "loopstate/state/attach.h"
#include "loopstate/state/prefetch.h"
#include "loopstate/state/state_int.h"

/* s with every `from` replaced by the shorter `to`; s itself when there is none. */
static const char *replaced(const char *s, const char *from, const char *to,
			    struct hn_arena *a)
{
	const char *hit = strstr(s, from);

	if (hit == NULL) {
		return s;
	}
	char *text = hn_arena_alloc(a, strlen(s) + 1), *end = text;
	size_t n_from = strlen(from), n_to = strlen(to);

	for (; hit != NULL; hit = strstr(s, from)) {
		memcpy(end, s, (size_t)(hit - s));
		end += hit - s;
		memcpy(end, to, n_to);
		end += n_to;
		s = hit + n_from;
	}
	memcpy(end, s, strlen(s) + 1);
	return text;
}

static const char *clean_name(const char *s, struct hn_arena *a)
{
	size_t n = strcspn(s, ".@");

	if (s[n] != 0) {
		char *copy = hn_arena_strdup(a, s);

		for (char *p = copy + n; *p != 0; p++) {
			*p = *p == '.' || *p == '@' ? '_' : *p;
		}
		s = copy;
	}
	s = replaced(s, "outer", "o", a);
	return replaced(s, "inner", "i", a);
}

const struct hn_stage *hn_stage_fresh(const struct hn_op *op, struct hn_arena *a)
{
	struct hn_stage *st = HN_NEW(a, struct hn_stage);

	st->at = HN_AT_ROOT;
	if (op->kind == HN_OP_PLACEHOLDER) {
		return st;
	}
	uint32_t n = op->n_spatial + op->n_reduce;
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, n);

	for (uint32_t i = 0; i < n; i++) {
		iter[i] = (struct hn_iter){
			.name = clean_name(op->axis[i].name, a),
			.kind = i < op->n_spatial ? HN_ITER_SPATIAL : HN_ITER_REDUCE,
			.var = (int32_t)i,
			.extent = op->axis[i].extent,
			.min = op->axis[i].min,
		};
	}
	st->n_iter = n;
	st->n_var = n;
	st->iter = iter;
	return st;
}

const struct hn_state *hn_state_init(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_state *s = HN_NEW(a, struct hn_state);
	const struct hn_stage **stage =
		HN_NEW_ARRAY(a, const struct hn_stage *, dag->n_op);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		stage[i] = hn_stage_fresh(dag->op[i], a);
	}
	s->dag = dag;
	s->access = hn_access_analyze(dag, a);
	s->root_dag = dag;
	s->trace = HN_NEW(a, struct hn_trace);
	s->n_stage = dag->n_op;
	s->stage = stage;
	s->concrete = true;
	return s;
}

/* `trace` is s's history and `step` behind it; step has been checked. */
static const struct hn_state *apply_checked(const struct hn_state *s,
					    const struct hn_step *step,
					    const struct hn_trace *trace,
					    struct hn_arena *a)
{
	struct hn_state base = *s;

	base.trace = trace;
	base.concrete = s->concrete && !hn_step_has_hole(step);
	return hn_step_ops(step->kind)->apply(&base, step, a);
}

int hn_state_apply(const struct hn_state *s, const struct hn_step *step,
		   struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	int rc = hn_step_ops(step->kind)->check(s, step, err);

	if (rc != 0) {
		return rc;
	}
	const struct hn_trace *trace = hn_trace_append(s->trace, step, a);

	*ret = apply_checked(s, trace->step[trace->n_step - 1], trace, a);
	return 0;
}

int hn_state_replay_from(const struct hn_state *s, const struct hn_trace *trace,
			 struct hn_arena *a, const struct hn_state **ret,
			 struct hn_err *err)
{
	uint32_t n = trace->n_step, first = s->trace->n_step;
	struct hn_trace *prefix = HN_NEW_ARRAY(a, struct hn_trace, n);

	hn_assert(first <= n);
	for (uint32_t i = first; i < n; i++) {
		const struct hn_step *step = trace->step[i];
		int rc = hn_step_ops(step->kind)->check(s, step, err);

		if (rc == 0 && hn_arena_over(a)) {
			rc = hn_fail(err, HONE_E_QUOTA,
				     "the state needs too much memory");
		}
		if (rc != 0) {
			hn_err_within(err, "step %u", (unsigned)i);
			return rc;
		}
		prefix[i] = (struct hn_trace){ i + 1, trace->step };
		s = apply_checked(s, step, &prefix[i], a);
	}
	*ret = s;
	return 0;
}

int hn_state_replay_as(const struct hn_dag *dag, const struct hn_trace *trace,
		       enum hn_replay_mode mode, struct hn_arena *a,
		       const struct hn_state **ret, struct hn_err *err)
{
	struct hn_state *start = HN_NEW(a, struct hn_state);

	*start = *hn_state_init(dag, a);
	start->mode = (uint8_t)mode;
	return hn_state_replay_from(start, trace, a, ret, err);
}

int hn_state_replay(const struct hn_dag *dag, const struct hn_trace *trace,
		    struct hn_arena *a, const struct hn_state **ret, struct hn_err *err)
{
	return hn_state_replay_as(dag, trace, HN_REPLAY_RIGHT, a, ret, err);
}

struct hn_state *hn_state_dup(const struct hn_state *s, struct hn_arena *a)
{
	size_t n_table = s->n_stage * sizeof(s->stage[0]);
	struct hn_state *n = hn_arena_alloc(a, sizeof(*n) + n_table);

	*n = *s;
	n->stage = memcpy(n + 1, s->stage, n_table); /* right behind it */
	return n;
}

struct hn_stage *hn_state_own_stage(struct hn_state *n, int32_t i, struct hn_arena *a)
{
	struct hn_stage *st = HN_NEW(a, struct hn_stage);

	*st = *n->stage[i];
	((const struct hn_stage **)n->stage)[i] = st;
	return st;
}

struct hn_iter *hn_stage_own_iters(struct hn_stage *st, uint32_t n_room,
				   struct hn_arena *a)
{
	struct hn_iter *iter = HN_NEW_ARRAY(a, struct hn_iter, n_room);
	uint32_t n = st->n_iter < n_room ? st->n_iter : n_room;

	if (n > 0) {
		memcpy(iter, st->iter, n * sizeof(*iter));
	}
	st->iter = iter;
	return iter;
}

struct hn_rel *hn_stage_add_rel(struct hn_stage *st, struct hn_arena *a)
{
	struct hn_rel *rel = HN_NEW_ARRAY(a, struct hn_rel, st->n_rel + 1);

	if (st->n_rel > 0) {
		memcpy(rel, st->rel, st->n_rel * sizeof(*rel));
	}
	st->rel = rel;
	return &rel[st->n_rel++];
}

void hn_stage_forget_extents(struct hn_stage *st, struct hn_arena *a)
{
	struct hn_iter *iter = hn_stage_own_iters(st, st->n_iter, a);

	for (uint32_t i = 0; i < st->n_iter; i++) {
		iter[i].extent = HN_EXTENT_UNKNOWN;
		iter[i].min = 0;
		iter[i].min_expr = NULL;
	}
}

struct hn_state *hn_state_insert(const struct hn_state *s, const struct hn_dag *dag,
				 int32_t at, struct hn_arena *a)
{
	struct hn_state *n = HN_NEW(a, struct hn_state);
	const struct hn_stage **stage =
		HN_NEW_ARRAY(a, const struct hn_stage *, dag->n_op);
	uint32_t i_at = (uint32_t)at;

	hn_assert(dag->n_op == s->n_stage + 1 && i_at <= s->n_stage);
	memcpy(stage, s->stage, i_at * sizeof(const struct hn_stage *));
	memcpy(stage + i_at + 1, s->stage + i_at,
	       (s->n_stage - i_at) * sizeof(const struct hn_stage *));
	stage[at] = hn_stage_fresh(dag->op[at], a);
	*n = *s;
	n->dag = dag;
	n->access = hn_access_extend(s->dag, s->access, dag, at, a);
	n->n_stage = dag->n_op;
	n->stage = stage;
	hn_attach_shift(n, at, a);
	hn_prefetch_shift(n, at, a);
	return n;
}

void hn_state_refresh(struct hn_state *n, int32_t i, struct hn_arena *a)
{
	const struct hn_stage *old = n->stage[i];

	((const struct hn_stage **)n->stage)[i] = hn_stage_fresh(n->dag->op[i], a);

	struct hn_stage *st = hn_state_own_stage(n, i, a);

	st->scope = old->scope;
	if (old->at == HN_AT_ITER) {
		st->at = old->at;
		st->at_stage = old->at_stage;
		st->at_iter = old->at_iter;
		hn_stage_forget_extents(st, a);
	}
}
