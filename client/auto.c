/* client/auto.c -- see auto.h.  The first program is proved alone, and nearly always passes.
 * isl runs in hone-build, which may die of it, and for a number of operations that takes some
 * 30 ms: each of 67 shared dags needs less than 40,000, a chain of 64 products more. */
#include "client/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/prove.h"
#include "graph/net/family.h"
#include "loopstate/dag/mark.h"
#include "loopstate/dag/size.h"

#define OPERATIONS 50000

static const char *steps_of(const struct hn_trace *t, struct hn_arena *a)
{
	struct hn_buf b;
	const char *steps;

	hn_buf_init(&b);
	hn_trace_write(t, &b);
	steps = hn_arena_strndup(a, b.s, b.n);
	hn_buf_fini(&b);
	return steps;
}

/* hone-build's answer to one history.  True: it is legal, by the certificate, or, where the proof
 * takes too many operations, by what was shown before; else the reason is in err. */
static bool read_answer(struct hn_prover *p, bool shown, struct hn_arena *a,
			const char **ret_certificate, struct hn_err *err)
{
	struct hn_json *answer = NULL;
	bool legal = false;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n = getline(&line, &cap, p->answers);

	if (n <= 0) {
		hn_fail(err, HONE_E_INTERNAL, "hone-build gave no answer");
	} else if (hn_json_parse("hone-build", line, (size_t)n, NULL, &answer, err) == 0) {
		const char *verdict = hn_prover_word(answer, "verdict");

		if (strcmp(verdict, "OK") == 0) {
			*ret_certificate = hn_arena_strdup(
				a, hn_prover_word(answer, "certificate"));
			legal = true;
		} else {
			hn_fail(err, HONE_E_INTERNAL, "%s: %s", verdict,
				hn_prover_word(answer, "detail"));
			legal = shown && strcmp(verdict, "BUILD_TIMEOUT") == 0;
		}
	}
	hn_json_free(answer);
	free(line);
	return legal;
}

static bool prove(const char *dag, const char *steps, bool shown, struct hn_arena *a,
		  const char **ret_certificate, struct hn_err *err)
{
	struct hn_prover p;
	bool legal = false;

	if (hn_prover_open(&p, err) == 0) {
		hn_prover_ask(&p, dag, steps);
		legal = hn_prover_run(&p, "prove", OPERATIONS, err) == 0 &&
			read_answer(&p, shown, a, ret_certificate, err);
	}
	hn_prover_close(&p);
	return legal;
}

bool hn_auto_proves(const struct hn_input *in, const char *steps, struct hn_arena *a)
{
	const char *certificate;
	struct hn_err none;

	return prove(in->json, steps, /* shown= */ false, a, &certificate, &none);
}

int hn_auto_largest(const struct hn_dag *dag, struct hn_arena *a, const struct hn_dag **ret,
		    struct hn_err *err)
{
	int64_t value[HN_DAG_MAX_SIZES];

	for (uint32_t k = 0; dag->sizes != NULL && k < dag->sizes->n; k++) {
		value[k] = dag->sizes->size[k].hi;
	}
	return hn_dag_instantiate(dag, value, a, ret, err);
}

int hn_auto_find(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		 struct hn_best *ret, struct hn_answers *ret_answers, struct hn_err *err)
{
	struct hn_record *best = &ret->entry.best;
	const struct hn_dag *dag;
	struct hn_answers all;
	bool legal = false;

	*ret = (struct hn_best){ .entry.workload = { .key = in->key,
						     .name = in->name,
						     .dag_json = in->json,
						     .cache = hn_dag_cache(in->dag),
						     .flops = hn_dag_flops(in->dag) } };
	int rc = hn_best_target(o, a, &ret->target, &ret->target_line, err);

	ret->asked = ret->target;
	ret->asked_line = ret->target_line;
	ret->near = "";

	if (rc != 0) {
		return rc;
	}
	best->workload = in->key;
	best->target = ret->target_line;
	best->origin = "auto";
	rc = hn_auto_largest(in->dag, a, &dag, err);
	if (rc != 0) {
		return rc;
	}
	hn_answers_find(dag, &ret->target, a, &all);
	if (in->dag->sizes != NULL && !hn_family_has_weights(in->dag)) {
		hn_answers_prefer_warm(&all);
	}
	hn_fail(err, HONE_E_UNSUPPORTED, "%.40s: no automatic schedule for this kind of target",
		ret->target.kind);
	for (uint32_t i = 0; i < all.n && !legal; i++) {
		all.at[0] = all.at[i];
		best->steps = steps_of(all.at[i].trace, a);
		/* what is shown of the largest sizes proves nothing of others */
		legal = prove(in->json, best->steps, all.at[i].shown && in->dag->sizes == NULL, a,
			      &best->certificate, err);
	}
	best->proved = best->certificate != NULL;
	*ret_answers = all;
	return legal ? 0 : -err->code;
}

int hn_auto_instead(int rc, struct hn_err *err)
{
	struct hn_err why;

	if (rc != -HONE_E_NOT_FOUND) {
		return rc;
	}
	why = *err;
	return hn_fail(err, HONE_E_NOT_FOUND, "%s; --auto takes the automatic schedule", why.msg);
}
