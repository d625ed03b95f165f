/* ort/compute.c -- the graph that was taken, as the runtime calls it. */
#include <stdlib.h>
#include <string.h>

#include "ort/provider.h"

struct compute {
	struct ort_compute is;
	struct provider *p;
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
	const struct hone_model_tensor *t = &c->p->library.model->inputs[c->in[i]];
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
	const struct hone_model_tensor *t = &c->p->library.model->outputs[c->out[i]];
	void *value = NULL;
	ort_status *s = ort_call(c->p->api, KernelContext_GetOutput)(context, i, t->dims, t->rank,
								     &value);

	return s ? s : ort_call(c->p->api, GetTensorMutableData)(value, &out[c->out[i]]);
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
	if (s == NULL && ort_library_run(&c->p->library, in, out) != 0) {
		s = fail(c->p, "could not be run", c->p->library.model->name);
	}
	return s;
}

/* The network's numbers of the node's inputs or outputs, by their names. */
static ort_status *number(const struct provider *p, const void **info, size_t n,
			  const struct hone_model_tensor *t, uint32_t n_tensor, uint32_t *ret)
{
	ort_status *s = NULL;

	if (n != n_tensor) {
		return fail(p, "has other inputs or outputs than were claimed", p->library.model->name);
	}
	for (size_t i = 0; i < n && s == NULL; i++) {
		const char *name = "";
		uint32_t at = 0;

		s = ort_call(p->api, GetValueInfoName)(info[i], &name);
		while (at < n_tensor && strcmp(t[at].name, name) != 0) {
			at++;
		}
		ret[i] = at;
		if (s == NULL && at == n_tensor) {
			s = fail(p, "is nothing of the network's", name);
		}
	}
	return s;
}

static ort_status *number_all(struct compute *c, const void *node)
{
	const struct hone_model *m = c->p->library.model;
	const void *info[HONE_MODEL_MAX_ARGS];
	size_t n = 0;
	ort_status *s = ort_call(c->p->api, Node_GetNumInputs)(node, &n);

	s = s || n <= HONE_MODEL_MAX_ARGS ? s : fail(c->p, "has too many inputs", m->name);
	s = s ? s : ort_call(c->p->api, Node_GetInputs)(node, info, n);
	s = s ? s : number(c->p, info, n, m->inputs, m->n_inputs, c->in);
	c->n_in = (uint32_t)n;
	s = s ? s : ort_call(c->p->api, Node_GetNumOutputs)(node, &n);
	s = s || n <= HONE_MODEL_MAX_ARGS ? s : fail(c->p, "has too many outputs", m->name);
	s = s ? s : ort_call(c->p->api, Node_GetOutputs)(node, info, n);
	s = s ? s : number(c->p, info, n, m->outputs, m->n_outputs, c->out);
	c->n_out = (uint32_t)n;
	return s;
}

static void drop(struct compute *c)
{
	if (c != NULL) {
		free(c->in);
		free(c->out);
	}
	free(c);
}

ort_status *provider_compile(struct ort_ep *self, const void **graphs, const void **nodes, size_t n,
			     struct ort_compute **computes, void **context_nodes)
{
	struct provider *p = (struct provider *)self;
	struct compute *c = calloc(1, sizeof(*c));

	(void)graphs, (void)context_nodes;
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
	ort_status *s = n == 1 ? number_all(c, nodes[0])
			       : fail(p, "was not taken as a whole", p->library.model->name);

	if (s != NULL) {
		drop(c);
		return s;
	}
	computes[0] = &c->is;
	return NULL;
}

void provider_release(struct ort_ep *self, struct ort_compute **computes, size_t n)
{
	(void)self;
	for (size_t i = 0; i < n; i++) {
		drop((struct compute *)computes[i]);
	}
}
