/* trace.c -- steps and traces as values: copy, compare, hash.
 *
 * Everything here is driven by the field tables of step.h: a step's unused scalars, list
 * or text never count.  Relies on nothing of a state.
 */
#include "loopstate/state/trace.h"

#include <string.h>

#include "base/hash.h"
#include "loopstate/state/step.h"

#define STEP(name, tag) extern const struct hn_step_ops hn_step_##name;
#include "loopstate/state/steps.def"
#undef STEP

static const struct hn_step_ops *const registry[HN_N_STEP] = {
#define STEP(name, tag) &hn_step_##name,
#include "loopstate/state/steps.def"
#undef STEP
};

const struct hn_step_ops *hn_step_ops(enum hn_step_kind kind)
{
	hn_assert((unsigned)kind < HN_N_STEP);
	return registry[kind];
}

enum hn_step_kind hn_step_of(const char *tag)
{
	for (uint32_t i = 0; i < HN_N_STEP; i++) {
		if (strcmp(registry[i]->tag, tag) == 0) {
			return (enum hn_step_kind)i;
		}
	}
	return HN_N_STEP;
}

const struct hn_field *hn_step_list_field(const struct hn_step *step)
{
	const struct hn_field *f = hn_step_ops(step->kind)->field;

	while (f->kind != HN_FIELD_END && f->kind != HN_FIELD_LIST && f->kind != HN_FIELD_LENS) {
		f++;
	}
	return f->kind == HN_FIELD_END ? NULL : f;
}

enum hn_meaning hn_step_scalar_means(const struct hn_step *step, uint32_t k)
{
	const struct hn_field *f = hn_step_ops(step->kind)->field;

	for (; f->kind != HN_FIELD_END; f++) {
		bool scalar = f->kind == HN_FIELD_ITER || f->kind == HN_FIELD_INT ||
			      f->kind == HN_FIELD_FLAG;

		if (scalar && k-- == 0) {
			return (enum hn_meaning)f->means;
		}
	}
	return HN_MEANS_ITSELF;
}

bool hn_step_has(const struct hn_step *step, enum hn_meaning list)
{
	const struct hn_field *f = hn_step_list_field(step);

	return f != NULL && f->means == list;
}

int32_t hn_stage_after(const struct hn_step *step, int32_t stage)
{
	enum hn_inserts inserts = (enum hn_inserts)hn_step_ops(step->kind)->inserts;

	return stage + ((inserts == HN_INSERTS_BEFORE && step->stage <= stage) ||
			(inserts == HN_INSERTS_BEHIND && step->stage < stage));
}

int32_t hn_stage_before(const struct hn_step *step, int32_t stage)
{
	return stage - (hn_step_ops(step->kind)->inserts != HN_INSERTS_NONE &&
			stage > step->stage);
}

/* What a step's table says it has beside the stage. */
struct shape {
	uint32_t n_scalar;
	bool list, holed, text;
};

static struct shape shape_of(const struct hn_step *step)
{
	const struct hn_field *f = hn_step_ops(step->kind)->field;
	struct shape sh = {0};

	for (; f->kind != HN_FIELD_END; f++) {
		switch ((enum hn_field_kind)f->kind) {
		case HN_FIELD_ITER:
		case HN_FIELD_INT:
		case HN_FIELD_FLAG:
			sh.n_scalar++;
			break;
		case HN_FIELD_LENS:
			sh.holed = true;
			sh.list = true;
			break;
		case HN_FIELD_LIST:
			sh.list = true;
			break;
		case HN_FIELD_TEXT:
			sh.text = true;
			break;
		case HN_FIELD_STAGE:
		case HN_FIELD_END:
			break;
		}
	}
	return sh;
}

const struct hn_step *hn_step_copy(const struct hn_step *step, struct hn_arena *a)
{
	struct hn_step *copy = HN_NEW(a, struct hn_step);

	*copy = *step;
	if (step->n_list > 0) {
		int64_t *list = HN_NEW_ARRAY(a, int64_t, step->n_list);

		memcpy(list, step->list, step->n_list * sizeof(*list));
		copy->list = list;
	}
	if (step->text != NULL) {
		copy->text = hn_arena_strdup(a, step->text);
	}
	return copy;
}

static struct hn_trace *trace_of(uint32_t n, struct hn_arena *a,
				 const struct hn_step ***ret_step)
{
	struct hn_trace *t = HN_NEW(a, struct hn_trace);
	const struct hn_step **step = HN_NEW_ARRAY(a, const struct hn_step *, n);

	t->n_step = n;
	t->step = step;
	*ret_step = step;
	return t;
}

const struct hn_trace *hn_trace_append(const struct hn_trace *t,
				       const struct hn_step *step, struct hn_arena *a)
{
	uint32_t n = t != NULL ? t->n_step : 0;
	const struct hn_step **to;
	struct hn_trace *longer = trace_of(n + 1, a, &to);

	if (n > 0) {
		memcpy(to, t->step, n * sizeof(*to));
	}
	to[n] = hn_step_copy(step, a);
	return longer;
}

const struct hn_trace *hn_trace_copy(const struct hn_trace *t, struct hn_arena *a)
{
	const struct hn_step **to;
	struct hn_trace *copy = trace_of(t->n_step, a, &to);

	for (uint32_t i = 0; i < t->n_step; i++) {
		to[i] = hn_step_copy(t->step[i], a);
	}
	return copy;
}

const struct hn_trace *hn_trace_with(const struct hn_trace *t, uint32_t i,
				     const struct hn_step *step, struct hn_arena *a)
{
	const struct hn_step **to;
	struct hn_trace *copy = trace_of(t->n_step, a, &to);

	hn_assert(i < t->n_step);
	memcpy(to, t->step, t->n_step * sizeof(*to));
	to[i] = hn_step_copy(step, a);
	return copy;
}

static uint64_t step_hash(const struct hn_step *step, uint64_t seed)
{
	const char *tag = hn_step_ops(step->kind)->tag;
	struct shape sh = shape_of(step);
	uint64_t h = hn_hash64_word((uint64_t)step->stage, hn_hash64(tag, strlen(tag), seed));

	for (uint32_t i = 0; i < sh.n_scalar; i++) {
		h = hn_hash64_word((uint64_t)step->a[i], h);
	}
	if (sh.list) {
		h = hn_hash64_word(step->n_list, h);
		for (uint32_t i = 0; i < step->n_list; i++) {
			h = hn_hash64_word((uint64_t)step->list[i], h);
		}
	}
	if (sh.text) {
		h = hn_hash64(step->text, strlen(step->text), h);
	}
	return h;
}

uint64_t hn_trace_hash(const struct hn_trace *t)
{
	uint64_t h = 0;

	for (uint32_t i = 0; t != NULL && i < t->n_step; i++) {
		h = step_hash(t->step[i], h);
	}
	return h;
}

static bool step_equal(const struct hn_step *x, const struct hn_step *y)
{
	if (x == y) {
		return true;
	}
	if (x->kind != y->kind || x->stage != y->stage) {
		return false;
	}
	struct shape sh = shape_of(x);

	if (memcmp(x->a, y->a, sh.n_scalar * sizeof(x->a[0])) != 0) {
		return false;
	}
	if (sh.list && (x->n_list != y->n_list ||
			(x->n_list > 0 && memcmp(x->list, y->list,
						 x->n_list * sizeof(x->list[0])) != 0))) {
		return false;
	}
	return !sh.text || strcmp(x->text, y->text) == 0;
}

bool hn_trace_equal(const struct hn_trace *x, const struct hn_trace *y)
{
	uint32_t n = x != NULL ? x->n_step : 0;

	if (n != (y != NULL ? y->n_step : 0)) {
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!step_equal(x->step[i], y->step[i])) {
			return false;
		}
	}
	return true;
}

bool hn_step_has_hole(const struct hn_step *step)
{
	for (uint32_t i = 0; i < step->n_list; i++) {
		if (step->list[i] == HN_HOLE) {
			return shape_of(step).holed;
		}
	}
	return false;
}

bool hn_trace_complete(const struct hn_trace *t)
{
	for (uint32_t i = 0; i < t->n_step; i++) {
		if (hn_step_has_hole(t->step[i])) {
			return false;
		}
	}
	return true;
}
