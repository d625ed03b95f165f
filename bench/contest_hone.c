/* bench/contest_hone.c -- hone's kernel as a contender: replayed, compiled and loaded in
 * this process.  Weights are prepared before the clock starts, as the peers' are. */
#include <stdlib.h>
#include <string.h>

#include "bench/contest.h"
#include "hone/kernel.h"
#include "loopstate/nest/looptree.h"
#include "lower/lower.h"
#include "base/loader.h"

typedef int32_t (*packed_fn)(void *const *args, const struct hone_env *env);
typedef int32_t (*sized_fn)(const int64_t *sizes, void *const *args,
			    const struct hone_env *env);
typedef int32_t (*prepare_fn)(void *const *args, void *prepared,
			      const struct hone_env *env);

struct hone_kernel {
	struct hn_object *object;
	packed_fn fn;		 /* or, with sizes, a sized_fn */
	const int64_t *sizes;	 /* NULL: the dag has none */
	void *const *arg;
	void *prepared; /* ours; env reads it */
	struct hone_env env;
};

static void call_kernel(void *ctx)
{
	struct hone_kernel *k = ctx;

	if (k->sizes) {
		hn_assert(((sized_fn)(void *)k->fn)(k->sizes, k->arg, &k->env) == 0);
	} else {
		hn_assert(k->fn(k->arg, &k->env) == 0);
	}
}

static void close_kernel(void *ctx)
{
	struct hone_kernel *k = ctx;

	hn_object_free(k->object);
	free(k->env.workspace);
	free(k->prepared);
	free(k);
}

/* The artefact of these steps, proved. */
static int compile(const struct hn_dag *dag, struct hn_emitter *emitter,
		   const char *steps, struct hn_arena *a, struct hn_artefact *ret,
		   struct hn_err *err)
{
	struct hn_emit_options options = { .symbol = "hone_kernel" };
	const struct hn_looptree *tree;
	const struct hn_trace *trace;
	const struct hn_state *state;
	int rc = hn_trace_parse("steps", steps, strlen(steps), a, &trace, err);

	rc = rc ? rc : hn_state_replay(dag, trace, a, &state, err);
	if (rc == 0 && !state->concrete) {
		rc = hn_fail(err, HONE_E_INVALID, "steps: a tile size is left open");
	}
	rc = rc ? rc : hn_looptree_build(state, a, &tree, err);
	if (rc == 0 && hn_legal_check(tree, 20000, err) != HN_VERDICT_OK) {
		rc = hn_err_within(err, "steps: not proved");
	}
	return rc ? rc : hn_emit(emitter, tree, &options, a, ret, err);
}

static int make_env(const struct hn_contest *t, const struct hn_artefact *artefact,
		    struct hone_env *env, struct hn_err *err)
{
	uint64_t bytes = artefact->shared_bytes +
			 artefact->per_worker_bytes * (uint64_t)t->n_threads;

	*env = (struct hone_env){ .abi = HONE_KERNEL_ABI,
				  .n_workers = t->n_threads,
				  .workspace_bytes = bytes };
	if (bytes > 0 &&
	    posix_memalign(&env->workspace, 4096, (bytes + 63) / 64 * 64) != 0) {
		env->workspace = NULL;
		return hn_fail(err, HONE_E_NOMEM, "no memory for the workspace");
	}
	if (t->n_threads > 1) {
		env->parallel_for = hone_pool_run;
		env->ctx = t->pool;
	}
	return 0;
}

/* What constant inputs alone decide, computed once. */
static int prepare(struct hone_kernel *k, uint64_t bytes, struct hn_err *err)
{
	prepare_fn fn;

	if (bytes == 0) {
		return 0;
	}
	fn = (prepare_fn)hn_object_function(k->object, "hone_kernel_prepare_packed");
	if (fn == NULL) {
		return hn_fail(err, HONE_E_INTERNAL, "no entry point to prepare by");
	}
	if (posix_memalign(&k->prepared, 4096, bytes) != 0) {
		k->prepared = NULL;
		return hn_fail(err, HONE_E_NOMEM, "no memory for the prepared data");
	}
	hn_assert(fn(k->arg, k->prepared, &k->env) == 0);
	k->env.prepared = k->prepared;
	k->env.prepared_bytes = bytes;
	return 0;
}

int hn_contest_hone(struct hn_contest *t, struct hn_emitter *emitter, const char *name,
		    const char *steps, struct hn_err *err)
{
	return hn_contest_sized(t, emitter, name, t->dag, NULL, steps, err);
}

int hn_contest_sized(struct hn_contest *t, struct hn_emitter *emitter, const char *name,
		     const struct hn_dag *dag, const int64_t *sizes, const char *steps,
		     struct hn_err *err)
{
	struct hone_kernel *k = calloc(1, sizeof(*k));
	struct hn_artefact artefact;
	struct hn_contender *c;
	struct hn_arena a;
	int rc;

	hn_assert(k != NULL);
	k->arg = t->arg;
	k->sizes = sizes;
	hn_arena_init(&a, 0);
	rc = compile(dag, emitter, steps, &a, &artefact, err);
	rc = rc ? rc
		: hn_object_load(artefact.object, artefact.object_bytes, &k->object, err);
	if (rc == 0) {
		k->fn = (packed_fn)hn_object_function(k->object, "hone_kernel_packed");
		rc = k->fn != NULL ? make_env(t, &artefact, &k->env, err)
				   : hn_fail(err, HONE_E_INTERNAL, "no entry point");
		rc = rc ? rc : prepare(k, artefact.prepared_bytes, err);
	}
	hn_arena_fini(&a);
	if (rc != 0) {
		close_kernel(k);
		return rc;
	}
	c = hn_contest_add(t, name);
	c->ctx = k;
	c->call = call_kernel;
	c->close = close_kernel;
	if (k->env.workspace_bytes > 0) {
		hn_contender_range(c, k->env.workspace, k->env.workspace_bytes);
	}
	if (k->env.prepared_bytes > 0) {
		hn_contender_range(c, k->prepared, k->env.prepared_bytes);
	}
	return 0;
}
