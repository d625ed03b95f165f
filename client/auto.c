/* client/auto.c -- see auto.h.  The first program is proved alone, and nearly always passes. */
#include "client/auto.h"

#include <stdlib.h>
#include <string.h>

#include "client/prove.h"
#include "search/auto.h"

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

/* hone-build's answer to one history: the certificate, or NULL with the reason in err. */
static const char *read_answer(struct hn_prover *p, struct hn_arena *a, struct hn_err *err)
{
	const char *certificate = NULL;
	struct hn_json *answer = NULL;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n = getline(&line, &cap, p->answers);

	if (n <= 0) {
		hn_fail(err, HONE_E_INTERNAL, "hone-build gave no answer");
	} else if (hn_json_parse("hone-build", line, (size_t)n, NULL, &answer, err) == 0) {
		if (strcmp(hn_prover_word(answer, "verdict"), "OK") == 0) {
			certificate = hn_arena_strdup(
				a, hn_prover_word(answer, "certificate"));
		} else {
			hn_fail(err, HONE_E_INTERNAL, "%s: %s",
				hn_prover_word(answer, "verdict"),
				hn_prover_word(answer, "detail"));
		}
	}
	hn_json_free(answer);
	free(line);
	return certificate;
}

static const char *prove(const char *dag, const char *steps, struct hn_arena *a,
			 struct hn_err *err)
{
	const char *certificate = NULL;
	struct hn_prover p;

	if (hn_prover_open(&p, err) == 0) {
		hn_prover_ask(&p, dag, steps);
		if (hn_prover_run(&p, "prove", err) == 0) {
			certificate = read_answer(&p, a, err);
		}
	}
	hn_prover_close(&p);
	return certificate;
}

int hn_auto_find(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		 struct hn_best *ret, struct hn_err *err)
{
	const struct hn_trace *trace[HN_AUTO_MAX];
	struct hn_record *best = &ret->entry.best;

	*ret = (struct hn_best){ .entry.workload = { .key = in->key,
						     .name = in->name,
						     .dag_json = in->json,
						     .flops = hn_dag_flops(in->dag) } };
	int rc = hn_best_target(o, a, &ret->target, &ret->target_line, err);

	if (rc != 0) {
		return rc;
	}
	uint32_t n = hn_auto(in->dag, &ret->target, a, trace);

	best->workload = in->key;
	best->target = ret->target_line;
	best->origin = "auto";
	hn_fail(err, HONE_E_UNSUPPORTED, "%.40s: no automatic schedule for this kind of target",
		ret->target.kind);
	for (uint32_t i = 0; i < n && best->certificate == NULL; i++) {
		best->steps = steps_of(trace[i], a);
		best->certificate = prove(in->json, best->steps, a, err);
	}
	best->proved = best->certificate != NULL;
	return best->proved ? 0 : -err->code;
}
