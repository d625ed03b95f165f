/* ort/race.c -- see race.h. */
#include "ort/race.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

struct race {
	const void *api;
	void *env, *options, *session, *memory;
	struct ort_library *l;
	void **in, **out; /* [n_inputs], [n_outputs] bytes */
	void **value;	  /* [n_inputs] the same as the runtime's tensors */
	const char **in_name, **out_name;
	void **result; /* [n_outputs] the runtime's */
};

static int refuse(const struct race *r, ort_status *status, const char *what, struct hn_err *err)
{
	if (status == NULL) {
		return 0;
	}
	int rc = hn_fail(err, HONE_E_INTERNAL, "onnxruntime: %s: %.300s", what,
			 ort_call(r->api, GetErrorMessage)(status));

	ort_call(r->api, ReleaseStatus)(status);
	return rc;
}

static uint64_t elements(const struct hone_model_tensor *t)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d < t->rank; d++) {
		n *= (uint64_t)t->dims[d];
	}
	return n;
}

static int open_runtime(struct race *r, const char *model, struct hn_err *err)
{
	int32_t threads = hone_pool_threads(r->l->pool);
	int rc = refuse(r, ort_call(r->api, CreateEnv)(ORT_SAYS_WARNING, "hone", &r->env),
			"environment", err);

	rc = rc ? rc
		: refuse(r, ort_call(r->api, CreateSessionOptions)(&r->options), "options", err);
	rc = rc ? rc
		: refuse(r, ort_call(r->api, SetIntraOpNumThreads)(r->options, threads), "threads",
			 err);
	rc = rc ? rc
		: refuse(r, ort_call(r->api, CreateSession)(r->env, model, r->options, &r->session),
			 "session", err);
	return rc ? rc
		  : refuse(r, ort_call(r->api, CreateCpuMemoryInfo)(0, 0, &r->memory), "memory", err);
}

static int make_tensors(struct race *r, struct hn_arena *a, struct hn_err *err)
{
	const struct hone_model *m = r->l->model;
	int rc = 0;

	r->in = HN_NEW_ARRAY(a, void *, m->n_inputs + 1);
	r->value = HN_NEW_ARRAY(a, void *, m->n_inputs + 1);
	r->in_name = HN_NEW_ARRAY(a, const char *, m->n_inputs + 1);
	r->out = HN_NEW_ARRAY(a, void *, m->n_outputs + 1);
	r->result = HN_NEW_ARRAY(a, void *, m->n_outputs + 1);
	r->out_name = HN_NEW_ARRAY(a, const char *, m->n_outputs + 1);
	for (uint32_t i = 0; i < m->n_inputs && rc == 0; i++) {
		const struct hone_model_tensor *t = &m->inputs[i];

		r->in_name[i] = t->name;
		r->in[i] = aligned_alloc(64, (t->bytes + 64) / 64 * 64);
		if (r->in[i] == NULL) {
			return hn_fail(err, HONE_E_NOMEM, "no memory for input %s", t->name);
		}
		ort_contest_fill(ort_library_type(t), r->in[i], t->bytes, elements(t), i + 1);
		rc = refuse(r,
			    ort_call(r->api, CreateTensorWithDataAsOrtValue)(
				    r->memory, r->in[i], t->bytes, t->dims, t->rank,
				    ort_library_type(t), &r->value[i]),
			    t->name, err);
	}
	for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
		r->out_name[i] = m->outputs[i].name;
		r->out[i] = aligned_alloc(64, (m->outputs[i].bytes + 64) / 64 * 64);
		if (r->out[i] == NULL) {
			rc = hn_fail(err, HONE_E_NOMEM, "no memory for output %s",
				     m->outputs[i].name);
		}
	}
	return rc;
}

static void drop_results(struct race *r)
{
	for (uint32_t i = 0; i < r->l->model->n_outputs; i++) {
		if (r->result[i] != NULL) {
			ort_call(r->api, ReleaseValue)(r->result[i]);
		}
		r->result[i] = NULL;
	}
}

static int run_runtime(void *ctx, struct hn_err *err)
{
	struct race *r = ctx;
	const struct hone_model *m = r->l->model;

	drop_results(r);
	return refuse(r,
		      ort_call(r->api, Run)(r->session, NULL, r->in_name,
					    (const void *const *)r->value, m->n_inputs, r->out_name,
					    m->n_outputs, r->result),
		      "run", err);
}

static int run_hone(void *ctx, struct hn_err *err)
{
	struct race *r = ctx;
	int32_t rc = ort_library_run(r->l, (const void *const *)r->in, r->out, NULL);

	return rc == 0 ? 0 : hn_fail(err, HONE_E_INTERNAL, "the compiled network returned %d", rc);
}

static int compare(struct race *r, struct ort_contest *ret, struct hn_err *err)
{
	const struct hone_model *m = r->l->model;
	int rc = run_runtime(r, err);

	rc = rc ? rc : run_hone(r, err);
	for (uint32_t i = 0; i < m->n_outputs && rc == 0; i++) {
		size_t bytes = 0;
		void *theirs = NULL;

		rc = refuse(r, ort_call(r->api, GetTensorSizeInBytes)(r->result[i], &bytes),
			    m->outputs[i].name, err);
		rc = rc ? rc
			: refuse(r, ort_call(r->api, GetTensorMutableData)(r->result[i], &theirs),
				 m->outputs[i].name, err);
		if (rc == 0 && bytes != m->outputs[i].bytes) {
			rc = hn_fail(err, HONE_E_INVALID, "output %s: %zu bytes, here %llu",
				     m->outputs[i].name, bytes,
				     (unsigned long long)m->outputs[i].bytes);
		}
		if (rc == 0) {
			ret->error = fmax(ret->error,
					  ort_contest_difference(ort_library_type(&m->outputs[i]),
								 elements(&m->outputs[i]), theirs,
								 r->out[i]));
		}
	}
	return rc;
}

static void close_runtime(struct race *r)
{
	if (r->result != NULL) {
		drop_results(r);
	}
	for (uint32_t i = 0; r->value != NULL && i < r->l->model->n_inputs; i++) {
		if (r->value[i] != NULL) {
			ort_call(r->api, ReleaseValue)(r->value[i]);
		}
		free(r->in[i]);
	}
	for (uint32_t i = 0; r->out != NULL && i < r->l->model->n_outputs; i++) {
		free(r->out[i]);
	}
	if (r->memory != NULL) {
		ort_call(r->api, ReleaseMemoryInfo)(r->memory);
	}
	if (r->session != NULL) {
		ort_call(r->api, ReleaseSession)(r->session);
	}
	if (r->options != NULL) {
		ort_call(r->api, ReleaseSessionOptions)(r->options);
	}
	if (r->env != NULL) {
		ort_call(r->api, ReleaseEnv)(r->env);
	}
}

int ort_race(const void *api, const char *runtime, const char *model, const char *dir,
	     struct ort_library *l, struct ort_contest *ret, struct hn_err *err)
{
	static int (*const runs[])(void *, struct hn_err *) = { run_runtime, run_hone };
	const struct ort_contest_key key = { runtime, l->onnx, l->binary,
					     hone_pool_threads(l->pool) };
	struct race r = { .api = api, .l = l };
	char path[PATH_MAX];
	struct hn_arena a;

	snprintf(path, sizeof(path), "%.4000s/race.json", dir);
	if (ort_contest_read(path, &key, ret)) {
		return 0;
	}
	*ret = (struct ort_contest){ 0 };
	hn_arena_init(&a, 0);
	int rc = open_runtime(&r, model, err);

	rc = rc ? rc : make_tensors(&r, &a, err);
	rc = rc ? rc : compare(&r, ret, err);
	rc = rc ? rc : ort_contest_run(runs, &r, key.threads, ret, err);
	if (rc == 0) {
		ort_contest_keep(path, &key, ret);
	}
	close_runtime(&r);
	hn_arena_fini(&a);
	return rc;
}
