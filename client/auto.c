/* client/auto.c -- see auto.h.  The first program is proved alone, and nearly always passes.
 * isl runs in hone-build, which may die of it. */
#include "client/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/builder.h"
#include "client/prove.h"
#include "loopstate/mark.h"
#include "search/auto.h"

static void read_all(FILE *f, struct hn_buf *ret)
{
	char part[4096];
	size_t n;

	rewind(f);
	while ((n = fread(part, 1, sizeof(part), f)) > 0) {
		hn_buf_add(ret, part, n);
	}
}

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

/* What hone-build --fuse prints; false when it gave up, or died. */
static bool run_scheduler(const struct hn_best *best, const struct hn_input *in,
			  struct hn_buf *ret)
{
	char path[64];
	char *argv[] = { "hone-build", "--fuse",   path,
			 "--target",   (char *)best->target_line, NULL };
	FILE *dag = tmpfile(), *answer = tmpfile();
	struct hn_err ignored;
	bool ran = false;

	if (dag && answer && fputs(in->json, dag) >= 0 && fflush(dag) == 0) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fileno(dag));
		ran = hn_builder_run("fuse", argv, fileno(answer), &ignored) == 0;
		read_all(answer, ret);
	}
	if (dag) {
		fclose(dag);
	}
	if (answer) {
		fclose(answer);
	}
	return ran;
}

/* isl's groups of ops, for programs of several nests: put before the others when the model
 * believes in it.  Whatever becomes of hone-build, the others stay. */
static uint32_t ask_scheduler(const struct hn_best *best, const struct hn_input *in,
			      struct hn_arena *a, uint32_t n, const struct hn_trace **trace)
{
	const struct hn_trace *fused;
	struct hn_json *json = NULL;
	struct hn_buf text;

	hn_buf_init(&text);
	if (run_scheduler(best, in, &text) &&
	    hn_json_parse("fuse", text.s, text.n, NULL, &json, NULL) == 0 &&
	    hn_json_get(json, "steps")) {
		hn_buf_reset(&text);
		hn_json_write(hn_json_get(json, "steps"), &text);
		if (hn_trace_parse("fuse", text.s, text.n, a, &fused, NULL) == 0 &&
		    hn_auto_prefers(in->dag, &best->target, fused, trace[0])) {
			memmove(trace + 1, trace, n * sizeof(trace[0]));
			trace[0] = fused;
			n++;
		}
	}
	hn_json_free(json);
	hn_buf_fini(&text);
	return n;
}

int hn_auto_find(const struct hn_opts *o, const struct hn_input *in, struct hn_arena *a,
		 struct hn_best *ret, struct hn_err *err)
{
	const struct hn_trace *trace[HN_AUTO_MAX + 1]; /* isl's may come first */
	struct hn_record *best = &ret->entry.best;

	*ret = (struct hn_best){ .entry.workload = { .key = in->key,
						     .name = in->name,
						     .dag_json = in->json,
						     .cache = hn_dag_cache(in->dag),
						     .flops = hn_dag_flops(in->dag) } };
	int rc = hn_best_target(o, a, &ret->target, &ret->target_line, err);

	if (rc != 0) {
		return rc;
	}
	uint32_t n = hn_auto(in->dag, &ret->target, a, trace);

	if (n > 0 && hn_auto_nests(in->dag, trace[0]) > 1) {
		n = ask_scheduler(ret, in, a, n, trace);
	}
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
