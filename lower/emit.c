/* lower/emit.c -- which emitter serves a target: the table of emits.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"

#define EMIT(kind, name) extern const struct hn_emit_ops hn_emit_##name;
#include "lower/emits.def"
#undef EMIT

static const struct row {
	const char *kind;
	const struct hn_emit_ops *ops;
} rows[] = {
#define EMIT(kind, name) { kind, &hn_emit_##name },
#include "lower/emits.def"
#undef EMIT
};

struct hn_emitter {
	const struct hn_emit_ops *ops;
	void *state;
};

int hn_emitter_new(const struct hn_target *target, struct hn_emitter **ret,
		   struct hn_err *err)
{
	struct hn_emitter *e;
	size_t i = 0;
	int rc;

	while (i < HN_COUNT_OF(rows) && strcmp(rows[i].kind, target->kind) != 0) {
		i++;
	}
	if (i == HN_COUNT_OF(rows)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "target %s: no code generator for it", target->kind);
	}
	e = calloc(1, sizeof(*e));
	if (e == NULL) {
		return hn_fail(err, HONE_E_NOMEM, "no memory for a code generator");
	}
	e->ops = rows[i].ops;
	rc = e->ops->open(target, &e->state, err);
	if (rc != 0) {
		free(e);
		return rc;
	}
	*ret = e;
	return 0;
}

void hn_emitter_free(struct hn_emitter *e)
{
	if (e != NULL) {
		e->ops->close(e->state);
		free(e);
	}
}

struct hn_emitter_facts hn_emitter_facts(const struct hn_emitter *e, struct hn_arena *a)
{
	return e->ops->facts(e->state, a);
}

const char *hn_emitter_codegen(const struct hn_emitter *e, char text[HN_CODEGEN_BYTES])
{
	struct hn_arena a;

	hn_arena_init(&a, 0);
	snprintf(text, HN_CODEGEN_BYTES, "%s/%s", e->ops->name,
		 hn_emitter_facts(e, &a).version);
	hn_arena_fini(&a);
	return text;
}

int hn_emit(struct hn_emitter *e, const struct hn_looptree *t,
	    const struct hn_emit_options *options, struct hn_arena *a,
	    struct hn_artefact *ret, struct hn_err *err)
{
	return e->ops->emit(e->state, t, options, a, ret, err);
}

int hn_emit_model(struct hn_emitter *e, const struct hn_model *m, const char *weights,
		  struct hn_arena *a, struct hn_artefact *ret, struct hn_err *err)
{
	if (e->ops->model == NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "target: its kernels are no objects that a network could call");
	}
	return e->ops->model(e->state, m, weights, a, ret, err);
}
