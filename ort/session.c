/* ort/session.c -- see session.h. */
#include "ort/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 16
#define MOST_BYTES ((uint64_t)2 << 30) /* of an input */

struct input {
	int element;
	const int64_t *dims;
	size_t rank;
	uint64_t bytes;
	void *data, *value;
};

struct contest {
	const struct ort_graph *g;
	const void *api;
	struct hn_arena arena;
	void *env, *memory;
	void *options[2], *session[2]; /* without; with */
	const char **in_name, **out_name;
	struct input *in;
	void **value;	  /* [n_in] of `in` */
	void **result[2]; /* [n_out] */
	uint32_t n_in, n_out;
};

static int refuse(const struct contest *c, ort_status *status, const char *what, struct hn_err *err)
{
	if (status == NULL) {
		return 0;
	}
	int rc = hn_fail(err, HONE_E_UNSUPPORTED, "onnxruntime: %s: %.300s", what,
			 ort_call(c->api, GetErrorMessage)(status));

	ort_call(c->api, ReleaseStatus)(status);
	return rc;
}

/* -- sessions --------------------------------------------------------------------------------------- */

static int append_hone(struct contest *c, const struct ort_session_race *r, struct hn_err *err)
{
	const void *const *all = NULL, *own[MOST_DEVICES];
	char threads[20];
	const char *const keys[] = { "library", "claim", "threads", "regions" };
	const char *const values[] = { r->folder, "always", threads, r->regions };
	size_t n = 0, n_own = 0;
	int rc = refuse(c, ort_call(c->api, GetEpDevices)(c->env, &all, &n), "devices", err);

	snprintf(threads, sizeof(threads), "%d", hone_pool_threads(c->g->p->pool));
	for (size_t i = 0; rc == 0 && i < n && n_own < MOST_DEVICES; i++) {
		if (strcmp(ort_call(c->api, EpDevice_EpName)(all[i]), PROVIDER_NAME) == 0) {
			own[n_own++] = all[i];
		}
	}
	if (rc == 0 && n_own == 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "onnxruntime has no device of hone's");
	}
	return rc ? rc
		  : refuse(c,
			   ort_call(c->api, SessionOptionsAppendExecutionProvider_V2)(
				   c->options[1], c->env, own, n_own, keys, values,
				   HN_COUNT_OF(keys)),
			   "provider", err);
}

static int open_session(struct contest *c, const struct ort_session_race *r, int with,
			struct hn_err *err)
{
	const void *api = c->api;
	int rc = refuse(c, ort_call(api, CreateSessionOptions)(&c->options[with]), "options", err);

	rc = rc ? rc
		: refuse(c,
			 ort_call(api, SetIntraOpNumThreads)(c->options[with],
							     hone_pool_threads(c->g->p->pool)),
			 "threads", err);
	for (uint32_t i = 0; i < r->n_dim && rc == 0; i++) {
		rc = refuse(c,
			    ort_call(api, AddFreeDimensionOverrideByName)(
				    c->options[with], r->dim[i].name, r->dim[i].value),
			    "sizes", err);
	}
	rc = rc || !with ? rc : append_hone(c, r, err);
	return rc ? rc
		  : refuse(c,
			   ort_call(api, CreateSession)(c->env, r->model, c->options[with],
							&c->session[with]),
			   "session", err);
}

/* -- inputs ----------------------------------------------------------------------------------------- */

static int read_shape(struct contest *c, const struct ort_value *v, struct input *in,
		      struct hn_err *err)
{
	const void *type = NULL, *tensor = NULL;
	const void *api = c->api;
	int64_t *dims;
	int rc = refuse(c, ort_call(api, GetValueInfoTypeInfo)(v->info, &type), v->name, err);

	rc = rc ? rc : refuse(c, ort_call(api, CastTypeInfoToTensorInfo)(type, &tensor), v->name, err);
	if (rc == 0 && tensor == NULL) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "input %s is no tensor", v->name);
	}
	rc = rc ? rc : refuse(c, ort_call(api, GetTensorElementType)(tensor, &in->element), v->name, err);
	rc = rc ? rc : refuse(c, ort_call(api, GetDimensionsCount)(tensor, &in->rank), v->name, err);
	if (rc != 0 || in->rank > 64) {
		return rc ? rc : hn_fail(err, HONE_E_UNSUPPORTED, "input %s", v->name);
	}
	in->dims = dims = HN_NEW_ARRAY(&c->arena, int64_t, in->rank + 1);
	rc = refuse(c, ort_call(api, GetDimensions)(tensor, dims, in->rank), v->name, err);
	in->bytes = ort_element_bytes(in->element);
	for (size_t d = 0; d < in->rank && rc == 0; d++) {
		if (dims[d] < 1 || (uint64_t)dims[d] > MOST_BYTES / (in->bytes + 1)) {
			return hn_fail(err, HONE_E_UNSUPPORTED, "input %s has a size that is open",
				       v->name);
		}
		in->bytes *= (uint64_t)dims[d];
	}
	return rc;
}

static int make_input(struct contest *c, const struct ort_value *v, struct input *in, uint64_t seed,
		      struct hn_err *err)
{
	void *allocator = NULL;
	int rc = read_shape(c, v, in, err);

	if (rc == 0 && in->element == ORT_STRING) { /* they are empty */
		rc = refuse(c, ort_call(c->api, GetAllocatorWithDefaultOptions)(&allocator), v->name,
			    err);
		return rc ? rc
			  : refuse(c,
				   ort_call(c->api, CreateTensorAsOrtValue)(
					   allocator, in->dims, in->rank, in->element, &in->value),
				   v->name, err);
	}
	if (rc == 0 && in->bytes == 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "input %s has elements of type %d", v->name,
			     in->element);
	}
	in->data = rc == 0 ? aligned_alloc(64, (in->bytes + 64) / 64 * 64) : NULL;
	if (rc == 0 && in->data == NULL) {
		rc = hn_fail(err, HONE_E_NOMEM, "no memory for input %s", v->name);
	}
	if (rc == 0) {
		ort_contest_fill(in->element, in->data, in->bytes,
				 in->bytes / ort_element_bytes(in->element), seed);
		rc = refuse(c,
			    ort_call(c->api, CreateTensorWithDataAsOrtValue)(
				    c->memory, in->data, in->bytes, in->dims, in->rank, in->element,
				    &in->value),
			    v->name, err);
	}
	return rc;
}

static int make_inputs(struct contest *c, struct hn_err *err)
{
	const struct ort_graph *g = c->g;
	int rc = 0;

	c->in = HN_NEW_ARRAY(&c->arena, struct input, g->n_input + 1);
	c->in_name = HN_NEW_ARRAY(&c->arena, const char *, g->n_input + 1);
	c->value = HN_NEW_ARRAY(&c->arena, void *, g->n_input + 1);
	c->out_name = HN_NEW_ARRAY(&c->arena, const char *, g->n_output + 1);
	c->result[0] = HN_NEW_ARRAY(&c->arena, void *, g->n_output + 1);
	c->result[1] = HN_NEW_ARRAY(&c->arena, void *, g->n_output + 1);
	for (uint32_t i = 0; i < g->n_input && rc == 0; i++) {
		bool constant = false;

		rc = refuse(c,
			    ort_call(c->api, ValueInfo_IsConstantInitializer)(g->input[i].info,
									      &constant),
			    g->input[i].name, err);
		if (rc == 0 && !constant) {
			rc = make_input(c, &g->input[i], &c->in[c->n_in], i + 1, err);
			c->in_name[c->n_in] = g->input[i].name;
			c->value[c->n_in] = c->in[c->n_in].value;
			c->n_in++;
		}
	}
	for (; c->n_out < g->n_output; c->n_out++) {
		c->out_name[c->n_out] = g->output[c->n_out].name;
	}
	return rc;
}

/* -- runs ------------------------------------------------------------------------------------------- */

static void drop_results(struct contest *c, int with)
{
	for (uint32_t i = 0; i < c->n_out && c->result[with] != NULL; i++) {
		if (c->result[with][i] != NULL) {
			ort_call(c->api, ReleaseValue)(c->result[with][i]);
		}
		c->result[with][i] = NULL;
	}
}

static int run(struct contest *c, int with, struct hn_err *err)
{
	drop_results(c, with);
	return refuse(c,
		      ort_call(c->api, Run)(c->session[with], NULL, c->in_name,
					    (const void *const *)c->value, c->n_in, c->out_name,
					    c->n_out, c->result[with]),
		      "run", err);
}

static int run_without(void *ctx, struct hn_err *err)
{
	return run(ctx, 0, err);
}

static int run_with(void *ctx, struct hn_err *err)
{
	return run(ctx, 1, err);
}

/* Of an output: its elements' type, how many there are, and where. */
static int read_result(struct contest *c, void *value, int *element, size_t *n, size_t *bytes, void **data,
		       struct hn_err *err)
{
	void *info = NULL;
	int rc = refuse(c, ort_call(c->api, GetTensorTypeAndShape)(value, &info), "output", err);

	rc = rc ? rc : refuse(c, ort_call(c->api, GetTensorElementType)(info, element), "output", err);
	if (info != NULL) {
		ort_call(c->api, ReleaseTensorTypeAndShapeInfo)(info);
	}
	*n = *bytes = 0;
	*data = NULL;
	if (rc != 0 || *element == ORT_STRING) {
		return rc;
	}
	rc = refuse(c, ort_call(c->api, GetTensorSizeInBytes)(value, bytes), "output", err);
	rc = rc ? rc : refuse(c, ort_call(c->api, GetTensorMutableData)(value, data), "output", err);
	*n = ort_element_bytes(*element) > 0 ? *bytes / ort_element_bytes(*element) : 0;
	return rc;
}

static int compare(struct contest *c, double *ret_error, struct hn_err *err)
{
	int rc = run(c, 0, err);

	rc = rc ? rc : run(c, 1, err);
	for (uint32_t i = 0; i < c->n_out && rc == 0; i++) {
		int element[2];
		size_t n[2], bytes[2];
		void *data[2];

		for (int k = 0; k < 2 && rc == 0; k++) {
			rc = read_result(c, c->result[k][i], &element[k], &n[k], &bytes[k], &data[k], err);
		}
		if (rc == 0) {
			*ret_error = fmax(*ret_error,
					  element[0] != element[1] || bytes[0] != bytes[1]
						  ? INFINITY
						  : ort_contest_difference(element[0], n[0], data[0],
									   data[1]));
		}
	}
	return rc;
}

static void close_all(struct contest *c)
{
	for (int with = 0; with < 2; with++) {
		drop_results(c, with);
		if (c->session[with] != NULL) {
			ort_call(c->api, ReleaseSession)(c->session[with]);
		}
		if (c->options[with] != NULL) {
			ort_call(c->api, ReleaseSessionOptions)(c->options[with]);
		}
	}
	for (uint32_t i = 0; i < c->n_in; i++) {
		if (c->in[i].value != NULL) {
			ort_call(c->api, ReleaseValue)(c->in[i].value);
		}
		free(c->in[i].data);
	}
	if (c->memory != NULL) {
		ort_call(c->api, ReleaseMemoryInfo)(c->memory);
	}
	if (c->env != NULL) {
		ort_call(c->api, ReleaseEnv)(c->env);
	}
	hn_arena_fini(&c->arena);
}

int ort_session_contest(const struct ort_graph *g, const struct ort_session_race *r,
			struct ort_contest *ret, struct hn_err *err)
{
	static int (*const runs[])(void *, struct hn_err *) = { run_without, run_with };
	struct contest c = { .g = g, .api = g->p->api };

	*ret = (struct ort_contest){ 0 };
	hn_arena_init(&c.arena, 0);
	int rc = refuse(&c, ort_call(c.api, CreateEnv)(ORT_SAYS_WARNING, "hone", &c.env),
			"environment", err);

	rc = rc ? rc : refuse(&c, ort_call(c.api, CreateCpuMemoryInfo)(0, 0, &c.memory), "memory", err);
	rc = rc ? rc : make_inputs(&c, err);
	rc = rc ? rc : open_session(&c, r, 0, err);
	rc = rc ? rc : open_session(&c, r, 1, err);
	rc = rc ? rc : compare(&c, &ret->error, err);
	rc = rc ? rc : ort_contest_run(runs, &c, hone_pool_threads(g->p->pool), ret, err);
	close_all(&c);
	return rc;
}
