/* ort/compute.c -- the graph or the regions that were taken, as the runtime calls them. */
#include <stdlib.h>
#include <string.h>

#include "ort/provider.h"

struct compute {
	struct ort_compute is;
	struct provider *p;
	struct ort_library *l;
	uint32_t n_in, n_out;
	uint32_t *in, *out; /* the network's number of the node's i-th input, output */
};

static ort_status *create_state(struct ort_compute *self, void *context, void **state)
{
	(void)context;
	*state = self;
	return NULL;
}

static void release_state(struct ort_compute *self, void *state)
{
	(void)self, (void)state;
}

static ort_status *fail(const struct provider *p, const char *what, const char *name)
{
	struct hn_err err;

	hn_fail(&err, HONE_E_INVALID, "%s %s", name, what);
	return provider_fail(p, &err);
}

static ort_status *find_input(const struct compute *c, const void *context, uint32_t i, const void **in)
{
	const struct hone_model_tensor *t = &c->l->model->inputs[c->in[i]];
	const void *value = NULL;
	void *data = NULL;
	size_t bytes = 0;
	ort_status *s = ort_call(c->p->api, KernelContext_GetInput)(context, i, &value);

	if (s == NULL && value == NULL) {
		s = fail(c->p, "is missing", t->name);
	}
	s = s ? s : ort_call(c->p->api, GetTensorSizeInBytes)(value, &bytes);
	if (s == NULL && bytes != t->bytes) {
		s = fail(c->p, "has another shape than the network was compiled for", t->name);
	}
	s = s ? s : ort_call(c->p->api, GetTensorMutableData)((void *)(uintptr_t)value, &data);
	in[c->in[i]] = data;
	return s;
}

static ort_status *find_output(const struct compute *c, void *context, uint32_t i, void **out)
{
	const struct hone_model_tensor *t = &c->l->model->outputs[c->out[i]];
	void *value = NULL;
	ort_status *s = ort_call(c->p->api, KernelContext_GetOutput)(context, i, t->dims, t->rank,
								     &value);

	return s ? s : ort_call(c->p->api, GetTensorMutableData)(value, &out[c->out[i]]);
}

/* -- the runtime's threads -------------------------------------------------------------------------
 *
 * A region runs between nodes of the runtime's, whose threads wait for work in a loop for a while: a
 * second set of threads would take the cores from each other.  So regions run on the runtime's. */

struct loop {
	hone_body_fn body;
	void *closure;
	int64_t n;
	int32_t n_worker;
};

static void run_part(void *ctx, size_t i)
{
	const struct loop *l = ctx;
	int64_t n = l->n / l->n_worker, more = l->n % l->n_worker, k = (int64_t)i;
	int64_t begin = n * k + (k < more ? k : more), end = begin + n + (k < more);

	if (begin < end) {
		l->body(l->closure, begin, end, (int32_t)i);
	}
}

struct threads {
	const void *api, *context;
	int32_t n_worker;
};

static void run_loop(void *ctx, hone_body_fn body, void *closure, int64_t n)
{
	const struct threads *t = ctx;
	struct loop l = { body, closure, n, t->n_worker };
	ort_status *s = ort_call(t->api, KernelContext_ParallelFor)(
		t->context, run_part, (size_t)t->n_worker, (size_t)t->n_worker, &l);

	if (s != NULL) { /* nothing was run */
		ort_call(t->api, ReleaseStatus)(s);
		body(closure, 0, n, 0);
	}
}

static int32_t run(const struct compute *c, const void *context, const void *const *in,
		   void *const *out)
{
	struct threads t = { c->p->api, context, hone_pool_threads(c->l->pool) };
	struct hone_env env = { .abi = HONE_KERNEL_ABI,
				.n_workers = t.n_worker,
				.parallel_for = run_loop,
				.ctx = &t };

	return ort_library_run(c->l, in, out, c->p->whole ? NULL : &env);
}

static ort_status *compute(struct ort_compute *self, void *state, void *context)
{
	const struct compute *c = (const struct compute *)self;
	const void *in[HONE_MODEL_MAX_ARGS] = { NULL };
	void *out[HONE_MODEL_MAX_ARGS] = { NULL };
	ort_status *s = NULL;

	(void)state;
	for (uint32_t i = 0; i < c->n_in && s == NULL; i++) {
		s = find_input(c, context, i, in);
	}
	for (uint32_t i = 0; i < c->n_out && s == NULL; i++) {
		s = find_output(c, context, i, out);
	}
	if (s == NULL && run(c, context, in, out) != 0) {
		s = fail(c->p, "could not be run", c->l->model->name);
	}
	return s;
}

/* The network's numbers of the node's inputs or outputs, by their names; false: it is another's. */
static ort_status *number(const struct provider *p, const void **info, size_t n,
			  const struct hone_model_tensor *t, uint32_t n_tensor, uint32_t *ret,
			  bool *ret_all)
{
	ort_status *s = NULL;

	*ret_all = n == n_tensor;
	for (size_t i = 0; i < n && s == NULL && *ret_all; i++) {
		const char *name = "";
		uint32_t at = 0;

		s = ort_call(p->api, GetValueInfoName)(info[i], &name);
		while (at < n_tensor && strcmp(t[at].name, name) != 0) {
			at++;
		}
		ret[i] = at;
		*ret_all = at < n_tensor;
	}
	return s;
}

/* Whether the node is c->l. */
static ort_status *number_all(struct compute *c, const void *node, bool *ret_all)
{
	const struct hone_model *m = c->l->model;
	const void *info[HONE_MODEL_MAX_ARGS];
	size_t n = 0;
	ort_status *s = ort_call(c->p->api, Node_GetNumInputs)(node, &n);

	*ret_all = n <= HONE_MODEL_MAX_ARGS;
	if (s != NULL || !*ret_all) {
		return s;
	}
	s = ort_call(c->p->api, Node_GetInputs)(node, info, n);
	s = s ? s : number(c->p, info, n, m->inputs, m->n_inputs, c->in, ret_all);
	c->n_in = (uint32_t)n;
	s = s ? s : ort_call(c->p->api, Node_GetNumOutputs)(node, &n);
	*ret_all = *ret_all && n <= HONE_MODEL_MAX_ARGS;
	if (s != NULL || !*ret_all) {
		return s;
	}
	s = ort_call(c->p->api, Node_GetOutputs)(node, info, n);
	c->n_out = (uint32_t)n;
	return s ? s : number(c->p, info, n, m->outputs, m->n_outputs, c->out, ret_all);
}

static void drop(struct compute *c)
{
	if (c != NULL) {
		free(c->in);
		free(c->out);
	}
	free(c);
}

static ort_status *compile_one(struct provider *p, const void *node, struct ort_compute **ret)
{
	struct compute *c = calloc(1, sizeof(*c));
	ort_status *s = NULL;
	bool all = false;

	if (c != NULL) {
		c->in = calloc(HONE_MODEL_MAX_ARGS, sizeof(*c->in));
		c->out = calloc(HONE_MODEL_MAX_ARGS, sizeof(*c->out));
	}
	if (c == NULL || c->in == NULL || c->out == NULL) {
		drop(c);
		return ort_call(p->api, CreateStatus)(ORT_CODE_FAIL, "hone: no memory");
	}
	c->is = (struct ort_compute){ .version = ORT_VERSION_NEEDED,
				      .create_state = create_state,
				      .compute = compute,
				      .release_state = release_state };
	c->p = p;
	for (uint32_t i = 0; i < p->n_library && s == NULL && !all; i++) {
		c->l = p->library[i];
		s = number_all(c, node, &all);
	}
	if (s == NULL && !all) {
		s = fail(p, "has other inputs or outputs than were claimed", "a node");
	}
	if (s != NULL) {
		drop(c);
	} else {
		*ret = &c->is;
	}
	return s;
}

ort_status *provider_compile(struct ort_ep *self, const void **graphs, const void **nodes, size_t n,
			     struct ort_compute **computes, void **context_nodes)
{
	ort_status *s = NULL;

	(void)graphs, (void)context_nodes;
	for (size_t i = 0; i < n && s == NULL; i++) {
		s = compile_one((struct provider *)self, nodes[i], &computes[i]);
		for (size_t k = 0; k < i && s != NULL; k++) {
			drop((struct compute *)computes[k]);
			computes[k] = NULL;
		}
	}
	return s;
}

void provider_release(struct ort_ep *self, struct ort_compute **computes, size_t n)
{
	(void)self;
	for (size_t i = 0; i < n; i++) {
		drop((struct compute *)computes[i]);
	}
}
