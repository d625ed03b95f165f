/* ort/claim.c -- whether the provider takes a graph: all of it, or nothing.
 *
 * It takes a graph that is the one its compiled network was made of (the file's SHA-256), whose inputs
 * and outputs have the names, types and shapes that the network has, on a processor that it was
 * made for, and where it won a race against the runtime's own providers (race.h).  Why it does not
 * is one line in the runtime's log.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort/provider.h"
#include "ort/race.h"

#define MOST_VALUES 1024
#define ERROR_MOST 1e-2 /* of the largest element of an output */

ort_status *provider_fail(const struct provider *p, const struct hn_err *err)
{
	char line[600];

	snprintf(line, sizeof(line), "hone: %.500s", err->msg);
	return ort_call(p->api, CreateStatus)(ORT_CODE_PROVIDER, line);
}

static void say(const struct provider *p, int severity, const char *fmt, ...) HN_PRINTF(3, 4);

static void say(const struct provider *p, int severity, const char *fmt, ...)
{
	char line[900];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ort_status *status = ort_call(p->api, Logger_LogMessage)(p->logger, severity, line, __FILE__,
								 __LINE__, "hone");

	if (status != NULL) {
		ort_call(p->api, ReleaseStatus)(status);
	}
}

/* -- inputs and outputs ------------------------------------------------------------------------ */

/* One of the graph's against the network's of that name; *ret_same. */
static ort_status *compare_value(const struct provider *p, const void *info,
				 const struct hone_model_tensor *tensors, uint32_t n, bool *ret_same)
{
	const void *type = NULL, *tensor = NULL;
	int64_t dims[64];
	const char *name = "";
	size_t rank = 0;
	int element = 0;
	uint32_t at = 0;
	ort_status *s = ort_call(p->api, GetValueInfoName)(info, &name);

	s = s ? s : ort_call(p->api, GetValueInfoTypeInfo)(info, &type);
	s = s ? s : ort_call(p->api, CastTypeInfoToTensorInfo)(type, &tensor);
	*ret_same = false;
	if (s != NULL || tensor == NULL) {
		return s;
	}
	s = ort_call(p->api, GetTensorElementType)(tensor, &element);
	s = s ? s : ort_call(p->api, GetDimensionsCount)(tensor, &rank);
	if (s == NULL && rank <= HN_COUNT_OF(dims)) {
		s = ort_call(p->api, GetDimensions)(tensor, dims, rank);
	}
	while (at < n && strcmp(tensors[at].name, name) != 0) {
		at++;
	}
	if (s != NULL || at == n || rank != tensors[at].rank ||
	    element != ort_library_type(&tensors[at])) {
		return s;
	}
	*ret_same = true;
	for (size_t d = 0; d < rank; d++) {
		*ret_same = *ret_same && dims[d] == tensors[at].dims[d];
	}
	return NULL;
}

/* Whether the graph has these inputs (or outputs) and no others. */
static ort_status *compare_all(const struct provider *p, const void *const *info, size_t n,
			       const struct hone_model_tensor *tensors, uint32_t n_tensor,
			       bool *ret_same)
{
	uint32_t n_same = 0;
	ort_status *s = NULL;

	*ret_same = true;
	for (size_t i = 0; i < n && s == NULL && *ret_same; i++) {
		bool constant = false;

		s = ort_call(p->api, ValueInfo_IsConstantInitializer)(info[i], &constant);
		if (s == NULL && !constant) {
			s = compare_value(p, info[i], tensors, n_tensor, ret_same);
			n_same++;
		}
	}
	*ret_same = *ret_same && n_same == n_tensor;
	return s;
}

static ort_status *has_same_values(const struct provider *p, const void *graph, bool *ret_same)
{
	const struct hone_model *m = p->library.model;
	const void *info[MOST_VALUES];
	size_t n = 0;
	ort_status *s = ort_call(p->api, Graph_GetNumInputs)(graph, &n);

	*ret_same = false;
	if (s != NULL || n > MOST_VALUES) {
		return s;
	}
	s = ort_call(p->api, Graph_GetInputs)(graph, info, n);
	s = s ? s : compare_all(p, info, n, m->inputs, m->n_inputs, ret_same);
	if (s != NULL || !*ret_same) {
		return s;
	}
	*ret_same = false;
	s = ort_call(p->api, Graph_GetNumOutputs)(graph, &n);
	if (s != NULL || n > MOST_VALUES) {
		return s;
	}
	s = ort_call(p->api, Graph_GetOutputs)(graph, info, n);
	return s ? s : compare_all(p, info, n, m->outputs, m->n_outputs, ret_same);
}

/* -- the decision -------------------------------------------------------------------------------- */

/* NAME.hone beside NAME.onnx, unless an option says another. */
static void find_folder(const struct provider *p, const char *model, char *ret)
{
	size_t n = strlen(model);

	n -= n > 5 && strcmp(model + n - 5, ".onnx") == 0 ? 5 : 0;
	if (*p->folder != '\0') {
		snprintf(ret, PROVIDER_MOST_PATH, "%s", p->folder);
	} else {
		snprintf(ret, PROVIDER_MOST_PATH, "%.*s.hone", (int)n, model);
	}
}

/* Whether it is faster here and right; false with a line in the log. */
static bool wins(struct provider *p, const char *model, const char *folder)
{
	struct ort_race race;
	struct hn_err err;

	if (p->claim == CLAIM_ALWAYS) {
		return true;
	}
	if (ort_race(p->api, p->runtime, model, folder, &p->library, &race, &err) != 0) {
		say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
		return false;
	}
	if (!(race.error <= ERROR_MOST)) {
		say(p, ORT_SAYS_WARNING,
		    "hone: %s is left to onnxruntime: the compiled network's answers differ by %.2g of "
		    "the largest",
		    model, race.error);
		return false;
	}
	if (race.gain < ORT_RACE_LEAST) {
		say(p, ORT_SAYS_INFO,
		    "hone: %s is left to onnxruntime: %.0f us there, %.0f us compiled", model,
		    race.runtime_ns / 1e3, race.hone_ns / 1e3);
		return false;
	}
	return true;
}

static ort_status *take_all(struct provider *p, const void *graph, void *support)
{
	const struct ort_fusion whole = { .version = ORT_VERSION_NEEDED, .drop_constants = true };
	const void **nodes = NULL;
	size_t n = 0;
	ort_status *s = ort_call(p->api, Graph_GetNumNodes)(graph, &n);

	if (s != NULL || n == 0) {
		return s;
	}
	nodes = calloc(n, sizeof(*nodes));
	if (nodes == NULL) {
		return ort_call(p->api, CreateStatus)(ORT_CODE_FAIL, "hone: no memory");
	}
	s = ort_call(p->api, Graph_GetNodes)(graph, nodes, n);
	s = s ? s
	      : ort_call(p->ep_api, EpGraphSupportInfo_AddNodesToFuse)(support, nodes, n, &whole);
	free(nodes);
	return s;
}

ort_status *provider_capability(struct ort_ep *self, const void *graph, void *support)
{
	struct provider *p = (struct provider *)self;
	char folder[PROVIDER_MOST_PATH];
	const void *parent = NULL;
	const char *model = NULL;
	struct hn_err err;
	bool same = false;
	ort_status *s = ort_call(p->api, Graph_GetParentNode)(graph, &parent);

	s = s ? s : ort_call(p->api, Graph_GetModelPath)(graph, &model);
	if (s != NULL || parent != NULL || p->claim == CLAIM_NEVER || p->library.model != NULL) {
		return s; /* the body of a node; or the graph, once more: it is taken already */
	}
	if (model == NULL || *model == '\0') {
		say(p, ORT_SAYS_WARNING, "hone: a model from memory is left to onnxruntime: without its "
					 "file nobody knows what was compiled of it");
		return NULL;
	}
	find_folder(p, model, folder);
	if (ort_library_open(folder, model, p->threads, &p->library, &err) != 0) {
		say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
		return NULL;
	}
	s = has_same_values(p, graph, &same);
	if (s == NULL && !same) {
		say(p, ORT_SAYS_WARNING,
		    "hone: %s is left to onnxruntime: its inputs or outputs have other names, types or "
		    "shapes than what was compiled",
		    model);
	}
	if (s == NULL && same && wins(p, model, folder)) {
		return take_all(p, graph, support);
	}
	ort_library_close(&p->library);
	return s;
}
