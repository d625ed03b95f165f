/* sketch/sketch.c -- the derivation: rules are asked stage by stage, last to first,
 * breadth first, so that sketches come out in the order of Ansor.
 *
 * Invariant: a wave never grows past MAX_WAVE by more than one rule's results; where
 * there is no room left a state goes on by its first derivation alone, so that a dag of a
 * thousand reductions ends too.
 */
#include "sketch/sketch.h"

#include <string.h>

#include "sketch/sketch_int.h"

#define MAX_WAVE 512
#define ROUNDS_A_STAGE 16 /* looks at one stage, also at those that rules add */
#define MAX_BYTES                                                                        \
	((size_t)256 << 20) /* past this only the last state of a wave goes on */

struct item {
	const struct hn_state *state;
	int32_t stage; /* to look at next; -1 = finished */
	const char *rules;
};

struct wave {
	uint32_t n, cap;
	struct item *item;
};

static void push(struct wave *w, struct item item, struct hn_arena *a)
{
	w->item = hn_arena_grow(a, w->item, w->n, &w->cap, sizeof(*w->item));
	w->item[w->n++] = item;
}

static const char *add_name(const char *rules, const char *name, struct hn_arena *a)
{
	if (strcmp(name, "skip") == 0) {
		return rules;
	}
	return *rules ? hn_arena_printf(a, "%s,%s", rules, name) : name;
}

struct generation {
	struct hn_rule_ctx ctx;
	const struct hn_dag *dag;
	const struct hn_structure *recipe;
	const struct hn_custom_rule *custom;
	uint32_t n_custom;
};

/* Put what a rule derived into `next`, which may grow to n_max; false when it is full. */
static bool keep(const struct generation *g, const struct item *from, const char *rule,
		 const struct hn_rule_results *out, uint32_t n_max, struct wave *next)
{
	for (uint32_t k = 0; k < out->n; k++) {
		push(next,
		     (struct item){ .state = out->item[k].state,
				    .stage = out->item[k].next_stage,
				    .rules = add_name(from->rules, rule, g->ctx.arena) },
		     g->ctx.arena);
		if (next->n >= n_max) {
			return false;
		}
	}
	return true;
}

static int check_custom(const struct generation *g, const struct hn_custom_rule *rule,
			const struct item *from, const struct hn_rule_results *out,
			struct hn_err *err)
{
	if (out->n > HN_RULE_MAX_RESULTS) {
		return hn_fail(err, HONE_E_QUOTA,
			       "rule '%.60s': %u results at once: at most %d", rule->name,
			       out->n, HN_RULE_MAX_RESULTS);
	}
	for (uint32_t k = 0; k < out->n; k++) {
		const struct hn_rule_result *r = &out->item[k];
		if (!r->state || r->state->root_dag != g->dag) {
			return hn_fail(err, HONE_E_INVALID,
				       "rule '%.60s': result %u is no state of this dag",
				       rule->name, k);
		}
		if (r->next_stage < -1 || r->next_stage >= (int32_t)r->state->n_stage) {
			return hn_fail(err, HONE_E_INVALID,
				       "rule '%.60s': result %u: next stage %d of %u: "
				       "give -1 to end",
				       rule->name, k, r->next_stage, r->state->n_stage);
		}
		if (r->state == from->state && r->next_stage >= from->stage) {
			return hn_fail(
				err, HONE_E_INVALID,
				"rule '%.60s': result %u leaves stage %d as it was "
				"and goes on at %d: take a step or go down",
				rule->name, k, from->stage, r->next_stage);
		}
	}
	return 0;
}

/* Ask the caller's rules.  *ret_done: the recipe's are not to be asked any more. */
static int derive_custom(const struct generation *g, const struct item *from,
			 uint32_t n_max, struct wave *next, bool *ret_done,
			 struct hn_err *err)
{
	*ret_done = false;
	for (uint32_t i = 0; i < g->n_custom && !*ret_done; i++) {
		const struct hn_custom_rule *rule = &g->custom[i];
		enum hn_rule_answer answer =
			rule->condition(rule->user, &g->ctx, from->state, from->stage);
		struct hn_rule_results out = { 0 };
		if (answer == HN_RULE_SKIP) {
			continue;
		}
		int rc = rule->apply(rule->user, &g->ctx, from->state, from->stage, &out,
				     err);
		if (rc < 0) {
			return hn_err_within(err, "rule '%.60s' at stage %d", rule->name,
					     from->stage);
		}
		rc = check_custom(g, rule, from, &out, err);
		if (rc < 0) {
			return rc;
		}
		*ret_done = !keep(g, from, rule->name, &out, n_max, next) ||
			    answer == HN_RULE_APPLY_AND_STOP;
	}
	return 0;
}

/* Ask the recipe's rules, hone's own or Ansor's; true when no more are to be asked. */
static bool derive_recipe(const struct generation *g, bool own, const struct item *from,
			  uint32_t n_max, struct wave *next)
{
	const struct hn_rule_ops *rule;
	uint32_t at = 0;
	bool done = false;

	while (!done && (rule = hn_structure_rule(g->recipe, own, &at)) != NULL) {
		struct hn_rule_results out = { 0 };
		enum hn_rule_answer answer =
			rule->meets(&g->ctx, from->state, from->stage);
		if (answer != HN_RULE_SKIP) {
			rule->derive(&g->ctx, from->state, from->stage, &out);
			done = !keep(g, from, rule->name, &out, n_max, next) ||
			       (answer == HN_RULE_APPLY_AND_STOP && out.n > 0);
		}
	}
	return done;
}

/* Ask every rule about one state; what they derive goes to `next`, which may grow to
 * n_max. */
static int derive(const struct generation *g, const struct item *from, uint32_t n_max,
		  struct wave *next, struct hn_err *err)
{
	bool done;
	int rc = derive_custom(g, from, n_max, next, &done, err);

	if (rc == 0 && !done && g->ctx.own) {
		done = derive_recipe(g, /* own= */ true, from, n_max, next);
	}
	if (rc == 0 && !done) {
		derive_recipe(g, /* own= */ false, from, n_max, next);
	}
	return rc;
}

/* The trace with n holes instead of step i's lengths. */
static const struct hn_trace *open_step(const struct hn_trace *t, uint32_t i, uint32_t n,
					struct hn_arena *a)
{
	struct hn_step *step = HN_NEW(a, struct hn_step);
	int64_t *len = HN_NEW_ARRAY(a, int64_t, n);

	for (uint32_t k = 0; k < n; k++) {
		len[k] = HN_HOLE;
	}
	*step = *t->step[i];
	step->list = len;
	step->n_list = n;
	return hn_trace_with(t, i, step, a);
}

/* A pack whose blocks are an instruction's groups: nothing to be chosen. */
static bool is_for_groups(const struct hn_trace *t, uint32_t i)
{
	uint32_t k = i + 1;

	while (k < t->n_step && hn_step_has(t->step[k], HN_MEANS_PARTS)) {
		k++;
	}
	return k < t->n_step && k > i + 1 && hn_step_ops(t->step[k]->kind)->groups;
}

/* Splits made for an rfactor, and the blocks of hone's own packs, get their lengths back
 * as holes; the loops stay as they are. */
static const struct hn_state *open_provisional(const struct generation *g,
					       const struct hn_state *s)
{
	const struct hn_trace *t = s->trace;
	struct hn_arena *a = g->ctx.arena;
	bool opened = false;

	for (uint32_t i = 0; t && i < t->n_step; i++) {
		const struct hn_step *step = t->step[i];
		if (i > 0 && hn_step_ops(step->kind)->parts &&
		    hn_step_has(t->step[i - 1], HN_MEANS_PARTS)) {
			t = open_step(t, i - 1, 1, a);
			opened = true;
		} else if (g->ctx.own && hn_step_has(step, HN_MEANS_BLOCKS) && !is_for_groups(t, i)) {
			t = open_step(t, i, step->n_list, a);
			opened = true;
		}
	}
	if (!opened) {
		return s;
	}
	struct hn_state *copy = HN_NEW(a, struct hn_state);
	*copy = *s;
	copy->trace = t;
	copy->concrete = false;
	return copy;
}

/* All states that are finished, in the order they finish. */
static int run(const struct generation *g, struct wave *done, struct hn_err *err)
{
	struct hn_arena *a = g->ctx.arena;
	size_t start = a->used_bytes;
	struct wave now = { 0 };

	push(&now,
	     (struct item){ .state = hn_state_init(g->dag, a),
			    .stage = (int32_t)g->dag->n_op - 1,
			    .rules = "" },
	     a);
	for (uint32_t round = 0; now.n > 0; round++) {
		struct wave next = { 0 };
		if (round > ROUNDS_A_STAGE * (g->dag->n_op + 4)) {
			return hn_fail(err, HONE_E_QUOTA,
				       "rules [%.200s]: no end after %u rounds: a rule "
				       "goes in circles at stage %d",
				       now.item[0].rules, round, now.item[0].stage);
		}
		for (uint32_t i = 0; i < now.n; i++) {
			uint32_t to_come = now.n - i - 1;
			if (now.item[i].stage < 0) {
				push(done, now.item[i], a);
				continue;
			}
			int rc = derive(g, &now.item[i],
					to_come < MAX_WAVE ? MAX_WAVE - to_come : 0,
					&next, err);
			if (rc < 0) {
				return rc;
			}
		}
		now = next;
		if (now.n > 1 && a->used_bytes - start > MAX_BYTES) {
			now.item += now.n - 1;
			now.n = 1;
		}
	}
	return 0;
}

static int generate(struct generation *g, struct hn_sketches *ret, struct hn_err *err)
{
	struct hn_arena *a = g->ctx.arena;
	struct wave done = { 0 };

	g->recipe = hn_structure_of(g->ctx.target);
	if (!g->recipe) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "target: no sketch recipe for kind '%.100s': tune for cpu",
			       g->ctx.target->kind);
	}
	int rc = run(g, &done, err);
	if (rc < 0) {
		return rc;
	}
	if (done.n == 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "rule '%.60s': the rules given left no sketch",
			       g->n_custom > 0 ? g->custom[0].name : "");
	}
	struct hn_sketch *out = HN_NEW_ARRAY(a, struct hn_sketch, done.n);
	for (uint32_t i = 0; i < done.n; i++) {
		out[i].state = open_provisional(g, done.item[i].state);
		out[i].rules = done.item[i].rules;
		rc = hn_sketch_find_holes(&out[i], g->dag, g->recipe->innermost, a, err);
		if (rc < 0) {
			return rc;
		}
	}
	*ret = (struct hn_sketches){ .n = done.n, .sketch = out };
	return 0;
}

int hn_sketch_generate_with(const struct hn_dag *dag, const struct hn_target *target,
			    const struct hn_custom_rule *rule, uint32_t n,
			    struct hn_arena *a, struct hn_sketches *ret,
			    struct hn_err *err)
{
	struct generation g = { .ctx = { .target = target, .arena = a },
				.dag = dag,
				.custom = rule,
				.n_custom = n };

	return generate(&g, ret, err);
}

int hn_sketch_generate_own(const struct hn_dag *dag, const struct hn_target *target,
			   struct hn_arena *a, struct hn_sketches *ret,
			   struct hn_err *err)
{
	struct generation g = { .ctx = { .target = target, .arena = a, .own = true },
				.dag = dag };

	return generate(&g, ret, err);
}

int hn_sketch_generate(const struct hn_dag *dag, const struct hn_target *target,
		       struct hn_arena *a, struct hn_sketches *ret, struct hn_err *err)
{
	return hn_sketch_generate_with(dag, target, /* rule= */ NULL, /* n= */ 0, a, ret,
				       err);
}
