/* each_case.h -- for every program (RUN_ONLY=WORD: those with the word in their name), with one
 * emitter for this machine: what full tests over many programs share.
 *
 * The programs are the project's own, everywhere: the examples, the first row of each class of
 * the bench's suite, random ones; and the shared cases where -DHONE_CASES names a folder of
 * them.  A folder that was named and is not there, or holds no case, is a failure. */
#ifndef HN_TESTS_EACH_CASE_H
#define HN_TESTS_EACH_CASE_H

#include <glob.h>

#include "base/file.h"
#include "bench/suite.h"
#include "loopstate/read/dag_read.h"
#include "loopstate/state/widen.h"
#include "tests/lib/cases.h"
#include "tests/lib/lower_run.h"
#include "tests/lib/random_dags.h"

#define EACH_RANDOM 12		 /* random programs */
#define EACH_MAX_INTERPRETED 1e8 /* operations */

/* Outputs to compare with: the interpreter sums in wide numbers; where it is too slow the
 * naive program must do, as boards have it (loopstate/state/widen.h). */
static inline void each_reference(struct hn_emitter *em, const char *name,
				  const struct hn_dag *dag, struct hn_arena *a,
				  struct run_args *ret)
{
	const struct hn_dag *wide = hn_dag_widen(dag, a);
	struct run_kernel naive;
	struct hn_err err = { 0 };

	run_args_make(dag, 7, ret);
	if (hn_dag_flops(dag) < EACH_MAX_INTERPRETED) {
		assert_int_equal(hn_interpret(dag, ret->at, &err), 0);
		return;
	}
	if (run_build(em, wide ? wide : dag, NULL, true, a, &naive, &err)) {
		fail_msg("%s: naive program: %s", name, err.msg);
	}
	assert_int_equal(naive.fn(ret->at, NULL), 0);
	run_unload(&naive);
}

/* A program; `folder` is that of a recorded case, NULL of one of the project's own. */
struct each {
	const char *name, *folder;
	const struct hn_dag *dag; /* until the check returns */
};

struct each_walk {
	void (*check)(struct hn_emitter *em, const struct hn_target *host,
		      const struct each *e, void *ctx);
	void *ctx;
	struct hn_emitter *em;
	struct hn_target host;
	uint32_t n, n_case;
};

/* False when the text is no program: only random ones may be refused. */
static inline bool each_text(struct each_walk *w, const char *name, const char *folder,
			     const struct hn_buf *text, bool may_be_refused)
{
	const char *only = getenv("RUN_ONLY");
	struct each e = { name, folder, NULL };
	struct hn_err err = { 0 };
	struct hn_arena a;

	hn_arena_init(&a, 0);
	bool good = hn_dag_parse(name, text->s, text->n, 0, &a, &e.dag, &err) == 0;

	if (!good && !may_be_refused) {
		fail_msg("%s", err.msg);
	}
	if (good && (!only || strstr(name, only))) {
		w->n++;
		w->n_case += folder != NULL;
		if (w->check) {
			w->check(w->em, &w->host, &e, w->ctx);
		}
	}
	hn_arena_fini(&a);
	return good;
}

/* Files that match; the name of each is what follows its first `skip` bytes.  Their number. */
static inline size_t each_file(struct each_walk *w, const char *pattern, size_t skip, bool cases)
{
	struct hn_err err = { 0 };
	glob_t found = { 0 };
	struct hn_buf text;
	char name[300];

	int rc = glob(pattern, 0, NULL, &found);
	size_t n = rc == 0 ? found.gl_pathc : 0;

	hn_buf_init(&text);
	for (size_t i = 0; i < n; i++) {
		char *path = found.gl_pathv[i];

		hn_buf_reset(&text);
		if (hn_file_read(path, 1 << 26, &text, &err) != 0) {
			fail_msg("%s", err.msg);
		}
		if (cases) {
			*strrchr(path, '/') = '\0';
		}
		snprintf(name, sizeof(name), "%s", path + skip);
		each_text(w, name, cases ? path : NULL, &text, false);
	}
	hn_buf_fini(&text);
	globfree(&found);
	return n;
}

static inline void each_own(struct each_walk *w)
{
	static const char *const examples[] = { "examples/*.json", "examples/*.txt",
						"examples/polybench/*.dag" };
	bool had[HN_N_SUITE_CLASS] = { false }, inexact;
	uint32_t tape[RD_TAPE], n_random = 0;
	struct hn_buf text;
	char name[300];

	for (size_t i = 0; i < HN_COUNT_OF(examples); i++) {
		snprintf(name, sizeof(name), HONE_SOURCE_DIR "/%s", examples[i]);
		assert_true(each_file(w, name, strlen(HONE_SOURCE_DIR "/"), false) > 0);
	}
	hn_buf_init(&text);
	for (uint32_t i = 0; i < hn_suite_n; i++) {
		if (!had[hn_suite[i].class]) {
			had[hn_suite[i].class] = true;
			hn_buf_reset(&text);
			hn_suite_text(&hn_suite[i], &text);
			snprintf(name, sizeof(name), "suite/%s", hn_suite[i].name);
			each_text(w, name, NULL, &text, false);
		}
	}
	for (uint64_t seed = 1; n_random < EACH_RANDOM; seed++) {
		rd_tape(seed, tape);
		hn_buf_reset(&text);
		rd_program(tape, RD_TAPE, &text, &inexact);
		snprintf(name, sizeof(name), "random/%llu", (unsigned long long)seed);
		n_random += !inexact && each_text(w, name, NULL, &text, true);
	}
	hn_buf_fini(&text);
}

static inline void each_walk(struct each_walk *w)
{
	each_own(w);
	if (!cases_are_here()) {
		return;
	}
	if (each_file(w, HONE_CASES_DIR "/ansor/*/dag.json", strlen(HONE_CASES_DIR "/ansor/"),
		      true) == 0) {
		fail_msg("%s/ansor holds no case", HONE_CASES_DIR);
	}
}

/* How many there are. */
static inline uint32_t each_count(void)
{
	struct each_walk w = { .check = NULL };

	each_walk(&w);
	return w.n;
}

static inline void each_case(void (*check)(struct hn_emitter *em,
					   const struct hn_target *host,
					   const struct each *e, void *ctx),
			     void *ctx)
{
	struct each_walk w = { .check = check, .ctx = ctx };
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	hn_target_host(&a, &w.host);
	assert_int_equal(hn_emitter_new(&w.host, &w.em, &err), 0);
	each_walk(&w);
	print_message("%u programs, %u of them recorded cases%s\n", w.n, w.n_case,
		      cases_are_here() ? "" : " (none here; -DHONE_CASES=FOLDER)");
	if (w.n == 0) {
		fail_msg("no program has RUN_ONLY in its name");
	}
	hn_emitter_free(w.em);
	hn_arena_fini(&a);
}

#endif
