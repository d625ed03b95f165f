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
#define MAX_BYTES                                                                        \
	((size_t)256 << 20) /* past this only the last state of a wave goes on */

#define RULE(name) extern const struct hn_rule_ops hn_rule_##name;
#include "sketch/rules.def"
#undef RULE

static const struct {
	const char *kind;
	const struct hn_rule_ops *rule;
} recipe[] = {
#define STRUCTURE(kind, tiling, follow)
#define RECIPE(kind, name) { kind, &hn_rule_##name },
#include "sketch/recipes.def"
#undef RECIPE
#undef STRUCTURE
};

static const struct hn_structure structures[] = {
#define STRUCTURE(kind, tiling, follow) { kind, tiling, follow },
#define RECIPE(kind, name)
#include "sketch/recipes.def"
#undef RECIPE
#undef STRUCTURE
};

const struct hn_structure *hn_structure_of(const struct hn_target *target)
{
	for (size_t i = 0; i < HN_COUNT_OF(structures); i++) {
		if (strcmp(structures[i].kind, target->kind) == 0) {
			return &structures[i];
		}
	}
	return NULL;
}

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
	if (w->n == w->cap) {
		uint32_t cap = w->cap ? 2 * w->cap : 16;
		struct item *bigger = HN_NEW_ARRAY(a, struct item, cap);
		if (w->n > 0) {
			memcpy(bigger, w->item, w->n * sizeof *bigger);
		}
		w->item = bigger;
		w->cap = cap;
	}
	w->item[w->n++] = item;
}

static const char *add_name(const char *rules, const char *name, struct hn_arena *a)
{
	if (strcmp(name, "skip") == 0) {
		return rules;
	}
	return *rules ? hn_arena_printf(a, "%s,%s", rules, name) : name;
}

/* Ask every rule of the recipe about one state; what they derive goes to `next`, which
 * may grow to n_max. */
static void derive(const struct hn_rule_ctx *ctx, const struct item *from, uint32_t n_max,
		   struct wave *next)
{
	for (size_t i = 0; i < HN_COUNT_OF(recipe); i++) {
		const struct hn_rule_ops *rule = recipe[i].rule;
		if (strcmp(recipe[i].kind, ctx->target->kind) != 0) {
			continue;
		}
		enum hn_rule_answer answer = rule->meets(ctx, from->state, from->stage);
		if (answer == HN_RULE_SKIP) {
			continue;
		}
		struct hn_rule_results out = { 0 };
		rule->derive(ctx, from->state, from->stage, &out);
		for (uint32_t k = 0; k < out.n; k++) {
			push(next,
			     (struct item){ .state = out.item[k].state,
					    .stage = out.item[k].next_stage,
					    .rules = add_name(from->rules, rule->name,
							      ctx->arena) },
			     ctx->arena);
			if (next->n >= n_max) {
				return;
			}
		}
		if (answer == HN_RULE_APPLY_AND_STOP && out.n > 0) {
			return;
		}
	}
}

/* Splits made for an rfactor get their lengths back as holes; the loops stay as they are.
 */
static const struct hn_state *open_rfactor(const struct hn_state *s, struct hn_arena *a)
{
	const struct hn_trace *t = s->trace;
	bool opened = false;

	for (uint32_t i = 1; t && i < t->n_step; i++) {
		if (t->step[i]->kind != HN_STEP_rfactor ||
		    t->step[i - 1]->kind != HN_STEP_split) {
			continue;
		}
		struct hn_step *step = HN_NEW(a, struct hn_step);
		int64_t *len = HN_NEW(a, int64_t);
		*len = HN_HOLE;
		*step = *t->step[i - 1];
		step->list = len;
		step->n_list = 1;
		t = hn_trace_with(t, i - 1, step, a);
		opened = true;
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

int hn_sketch_generate(const struct hn_dag *dag, const struct hn_target *target,
		       struct hn_arena *a, struct hn_sketches *ret, struct hn_err *err)
{
	struct hn_rule_ctx ctx = { .target = target, .arena = a };
	struct wave now = { 0 }, done = { 0 };
	size_t start = a->used_bytes;

	if (!hn_structure_of(target)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "target: no sketch recipe for kind '%.100s': tune for cpu",
			       target->kind);
	}
	push(&now,
	     (struct item){ .state = hn_state_init(dag, a),
			    .stage = (int32_t)dag->n_op - 1,
			    .rules = "" },
	     a);
	while (now.n > 0) {
		struct wave next = { 0 };
		for (uint32_t i = 0; i < now.n; i++) {
			if (now.item[i].stage < 0) {
				push(&done, now.item[i], a);
			} else {
				uint32_t to_come = now.n - i - 1;
				derive(&ctx, &now.item[i],
				       to_come < MAX_WAVE ? MAX_WAVE - to_come : 0,
				       &next);
			}
		}
		now = next;
		if (now.n > 1 && a->used_bytes - start > MAX_BYTES) {
			now.item += now.n - 1;
			now.n = 1;
		}
	}
	struct hn_sketch *out = HN_NEW_ARRAY(a, struct hn_sketch, done.n);
	for (uint32_t i = 0; i < done.n; i++) {
		out[i].state = open_rfactor(done.item[i].state, a);
		out[i].rules = done.item[i].rules;
		int rc = hn_sketch_find_holes(&out[i], dag, a, err);
		if (rc < 0) {
			return rc;
		}
	}
	*ret = (struct hn_sketches){ .n = done.n, .sketch = out };
	return 0;
}
