/* lower/build/build.c -- from a history of steps to an object file.  Requests are hostile:
 * whatever is wrong with one is told as a verdict.  See build.h. */
#include "lower/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "loopstate/nest/strided.h"
#include "loopstate/read/dag_read.h"
#include "lower/names.h"
#include "lower/prove/poly_show.h"

#define PROVE_LIMIT_MS 10000
#define SHOW_LIMIT_MS 10000 /* each part */

static const struct {
	const char *name;
	enum hn_plant plant;
} plants[] = {
	{ "", HN_PLANT_NONE },
	{ "hang", HN_PLANT_HANG },
	{ "oob", HN_PLANT_OUT_OF_BOUNDS },
	{ "div0", HN_PLANT_DIVIDE_BY_ZERO },
	{ "wrong", HN_PLANT_WRONG_RESULT },
	{ "nobarrier", HN_PLANT_NO_BARRIER },
};

static int find_plant(const struct hn_builder *b, const char *name, enum hn_plant *ret,
		      struct hn_err *err)
{
	for (size_t i = 0; i < HN_COUNT_OF(plants); i++) {
		if (strcmp(plants[i].name, name) != 0) {
			continue;
		}
		if (i > 0 && !b->hooks) {
			return hn_fail(
				err, HONE_E_PERMISSION,
				"plant: only a builder started with HONE_TEST_HOOKS=1 "
				"plants faults");
		}
		*ret = plants[i].plant;
		return 0;
	}
	return hn_fail(err, HONE_E_INVALID, "plant: unknown fault '%.60s'", name);
}

static int check_symbol(const char *s, struct hn_err *err)
{
	size_t n = strlen(s);
	bool good = n > 0 && n <= 200 && !(s[0] >= '0' && s[0] <= '9');

	for (size_t i = 0; i < n && good; i++) {
		good = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		       (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
	}
	if (good && hn_name_is_taken(s)) {
		return hn_fail(err, HONE_E_INVALID,
			       "symbol '%.60s' is a word of C, or a function of its library "
			       "or of hone's pool: name the kernel otherwise (--symbol)",
			       s);
	}
	return good ? 0
		    : hn_fail(err, HONE_E_INVALID, "symbol '%.60s' is not a C identifier",
			      s);
}

static int ready_emitter(struct hn_builder *b, const char *line, struct hn_arena *a,
			 struct hn_err *err)
{
	struct hn_target target, host;

	if (b->emitter && strcmp(b->target, line) == 0) {
		return 0;
	}
	int rc = hn_target_parse(line, a, &target, err);

	if (rc) {
		return rc;
	}
	hn_emitter_free(b->emitter);
	free(b->target);
	b->emitter = NULL;
	b->target = strdup(line);
	rc = hn_emitter_new(&target, &b->emitter, err);
	hn_target_host(a, &host);
	if (rc == 0 && b->selftest && hn_target_runs_on(&target, &host)) {
		rc = hn_selftest(b->emitter, b->selftest, err);
	}
	if (rc) {
		hn_emitter_free(b->emitter);
		b->emitter = NULL;
	}
	return rc;
}

/* *ret = the time since start; the time now. */
static int64_t lap(int64_t start, int64_t *ret)
{
	int64_t now = hn_clock_ns();

	*ret = now - start;
	return now;
}

/* The loop tree that is asked for. */
static int make_tree(const struct hn_build_request *r, struct hn_arena *a,
		     struct hn_build_answer *ans)
{
	const struct hn_trace *trace;
	const struct hn_state *state;
	struct hn_err *err = &ans->why;
	int64_t start = hn_clock_ns();
	int rc = hn_dag_parse_sized("dag", r->dag, r->dag_bytes, 0, a, &ans->dag, err);

	start = lap(start, &ans->ns.dag);
	if (rc) {
		return rc;
	}
	state = hn_state_init(ans->dag, a);
	if (!r->naive) {
		rc = hn_trace_parse("steps", r->steps, r->steps_bytes, a, &trace, err);
		if (rc == 0 && !hn_trace_complete(trace)) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "steps: a decision is still open");
		}
		rc = rc ? rc : hn_state_replay(ans->dag, trace, a, &state, err);
	}
	start = lap(start, &ans->ns.replay);
	rc = rc ? rc : hn_looptree_build(state, a, &ans->tree, err);
	if (rc == 0 && r->strides != NULL && *r->strides != '\0') {
		rc = hn_looptree_stride(ans->tree, r->strides, a, &ans->tree, err);
	}
	lap(start, &ans->ns.tree);
	return rc;
}

static enum hn_verdict prove(const struct hn_build_request *r, struct hn_arena *a,
			     struct hn_build_answer *ans)
{
	const struct hn_legal_limits limits = { .ms = PROVE_LIMIT_MS,
						.operations = r->operations };
	struct hn_buf text;

	hn_buf_init(&text);
	enum hn_verdict v =
		hn_legal_certify(ans->tree, &limits, &text, &ans->why);

	if (v == HN_VERDICT_OK) {
		ans->certificate = hn_arena_strndup(a, text.s, text.n);
	}
	hn_buf_fini(&text);
	return v;
}

void hn_build_prove(const struct hn_build_request *r, struct hn_arena *a,
		    struct hn_build_answer *ans)
{
	ans->verdict = HN_VERDICT_BUILD_FAIL;
	if (make_tree(r, a, ans) == 0) {
		ans->verdict = prove(r, a, ans);
	}
}

int hn_build_show(const struct hn_build_request *r, const char *part, struct hn_arena *a,
		  struct hn_buf *ret, struct hn_err *err)
{
	struct hn_build_answer ans = { 0 };
	int rc = make_tree(r, a, &ans);

	*err = ans.why;
	return rc ? rc : hn_poly_show(ans.tree, part, SHOW_LIMIT_MS, ret, err);
}

/* Names of what goes beside a naive program. */
static int check_beside(const struct hn_build_request *r, struct hn_err *err)
{
	const char *const name[] = { r->wide, r->refer, r->slices,
				     r->samples, r->brackets };
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(name) && rc == 0; i++) {
		rc = name[i] != NULL && *name[i] != '\0' ? check_symbol(name[i], err) : 0;
	}
	return rc;
}

/* The naive program and what goes with it; without the fast ones where the emitter refuses one. */
static int emit_naive(struct hn_builder *b, const struct hn_build_request *r,
		      struct hn_emit_options *options, struct hn_arena *a,
		      struct hn_build_answer *ans)
{
	bool fast = true;
	int rc;

	do {
		rc = hn_build_naive_more(r, ans->dag, ans->tree, fast, a, &ans->more, &ans->why);
		options->n_beside = ans->more.n;
		options->beside = ans->more.program;
		rc = rc ? rc
			: hn_emit(b->emitter, ans->tree, options, a, &ans->artefact, &ans->why);
		fast = false;
	} while (rc && ans->more.fast);
	return rc;
}

void hn_build(struct hn_builder *b, const struct hn_build_request *r, struct hn_arena *a,
	      struct hn_build_answer *ans)
{
	struct hn_emit_options options = r->options;
	int64_t start = hn_clock_ns();
	int rc = find_plant(b, r->plant, &options.plant, &ans->why);

	options.symbol = r->symbol;
	options.scalar = r->naive;
	ans->verdict = HN_VERDICT_BUILD_FAIL;
	rc = rc ? rc : check_symbol(r->symbol, &ans->why);
	if (!r->no_emit) {
		rc = rc ? rc : ready_emitter(b, r->target, a, &ans->why);
	}
	rc = rc ? rc : make_tree(r, a, ans);
	if (rc == 0 && r->naive) {
		rc = check_beside(r, &ans->why);
	}
	if (rc) {
		return;
	}
	if (r->prove && !r->naive) {
		int64_t before = hn_clock_ns();
		enum hn_verdict v = prove(r, a, ans);

		lap(before, &ans->prove_ns);
		ans->ns.prove = ans->prove_ns;
		if (v != HN_VERDICT_OK) {
			ans->verdict = v;
			return;
		}
	}
	if (r->no_emit) {
		ans->build_ns = hn_clock_ns() - start - ans->prove_ns;
		ans->verdict = HN_VERDICT_OK;
		return;
	}
	int64_t before = hn_clock_ns();

	ans->codegen = hn_emitter_codegen(b->emitter, hn_arena_alloc(a, HN_CODEGEN_BYTES));
	rc = r->naive ? emit_naive(b, r, &options, a, ans)
		      : hn_emit(b->emitter, ans->tree, &options, a, &ans->artefact, &ans->why);
	if (rc == 0 && ans->artefact.form != HN_ARTEFACT_ELF && !r->any_form) {
		rc = hn_fail(&ans->why, HONE_E_UNSUPPORTED,
			     "target %.*s: its kernels are no objects that a header could declare; "
			     "`hone-build --target %.*s --dag FILE --steps FILE -o FILE` writes them",
			     (int)strcspn(r->target, " "), r->target, (int)strcspn(r->target, " "),
			     r->target);
	}
	lap(before, &ans->ns.emit);
	ans->ns.passes = ans->artefact.passes_ns;
	ans->ns.codegen = ans->artefact.codegen_ns;
	ans->ns.emit -= ans->ns.passes + ans->ns.codegen;
	ans->build_ns = hn_clock_ns() - start - ans->prove_ns;
	if (rc == 0 && r->naive && r->counts != NULL && *r->counts != '\0') {
		ans->counted_ns = hn_build_counted(r->counts, ans->dag);
	}
	if (rc == 0) {
		ans->verdict = HN_VERDICT_OK;
		ans->why.msg[0] = '\0';
	}
}

void hn_builder_fini(struct hn_builder *b)
{
	hn_emitter_free(b->emitter);
	free(b->target);
}
