/* ort/claim.c -- whether the provider takes a graph.
 *
 * Of a network that was compiled as a whole it takes all or nothing (by regions: regions.c).  It takes a graph that is the one its compiled network was made of (the file's SHA-256), whose inputs
 * and outputs have the names, types and shapes that the network has, on a processor that it was
 * made for, and where it won a race against the runtime's own providers (race.h).  Why it does not
 * is one line in the runtime's log.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ort/graph.h"
#include "ort/provider.h"
#include "ort/race.h"

#define MOST_VALUES 1024

ort_status *provider_fail(const struct provider *p, const struct hn_err *err)
{
	char line[600];

	snprintf(line, sizeof(line), "hone: %.500s", err->msg);
	return ort_call(p->api, CreateStatus)(ORT_CODE_PROVIDER, line);
}

void provider_say(const struct provider *p, int severity, const char *fmt, ...)
{
	char line[900];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *c = line; *c != '\0'; c++) { /* a name may have lines of its own */
		*c = (unsigned char)*c < ' ' || *c == 127 ? ' ' : *c;
	}
	ort_status *status = ort_call(p->api, Logger_LogMessage)(p->logger, severity, line, __FILE__,
								 __LINE__, "hone");

	if (status != NULL) {
		ort_call(p->api, ReleaseStatus)(status);
	}
}

struct ort_library *provider_open(struct provider *p, const char *dir, const char *model,
				  struct hn_err *err)
{
	struct ort_library *l = calloc(1, sizeof(*l));
	int rc = l == NULL ? hn_fail(err, HONE_E_NOMEM, "no memory")
			   : ort_library_open(dir, model, provider_pool(p), l, err);

	if (rc != 0) {
		free(l);
	}
	return rc == 0 ? l : NULL;
}

void provider_close(struct ort_library *l)
{
	ort_library_close(l);
	free(l);
}

void provider_drop_all(struct provider *p)
{
	for (; p->n_library > 0; p->n_library--) {
		provider_close(p->library[p->n_library - 1]);
	}
	p->whole = false;
}

struct hone_pool *provider_pool(struct provider *p)
{
	p->pool = p->pool != NULL ? p->pool : hone_pool_create(p->threads);
	return p->pool;
}

/* -- inputs and outputs ------------------------------------------------------------------------ */

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
			s = ort_graph_compare(p, info[i], tensors, n_tensor, ret_same);
			n_same++;
		}
	}
	*ret_same = *ret_same && n_same == n_tensor;
	return s;
}

static ort_status *has_same_values(const struct provider *p, const struct hone_model *m,
				   const void *graph, bool *ret_same)
{
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

/* A folder that nobody named holds code: it is looked at only if others could not have put it there. */
static bool is_trusted(const struct provider *p, const char *model, const char *folder)
{
	struct hn_err err;
	struct stat st;
	bool is = *p->folder != '\0' || stat(folder, &st) != 0;

	if (!is && (st.st_uid == geteuid() || st.st_uid == 0) &&
	    ((st.st_mode & S_IWOTH) == 0 || (st.st_mode & S_ISVTX) != 0)) {
		is = true;
	}
	if (!is) {
		hn_fail(&err, HONE_E_PERMISSION, "%s is another user's, or others may write there: name it "
						 "with the option `library` if you trust it",
			folder);
		provider_say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
	}
	return is;
}

/* Whether it is faster here and right; false with a line in the log. */
static bool wins(struct provider *p, struct ort_library *l, const char *model, const char *folder)
{
	struct ort_contest race;
	struct hn_err err;

	if (p->claim == CLAIM_ALWAYS) {
		return true;
	}
	if (ort_race(p->api, p->runtime, model, folder, l, &race, &err) != 0) {
		provider_say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
		return false;
	}
	if (!(race.error <= PROVIDER_ERROR_MOST)) {
		provider_say(p, ORT_SAYS_WARNING,
		    "hone: %s is left to onnxruntime: the compiled network's answers differ by %.2g of "
		    "the largest",
		    model, race.error);
		return false;
	}
	if (race.gain < ORT_RACE_LEAST) {
		provider_say(p, ORT_SAYS_INFO,
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

/* All of it, or nothing. */
static ort_status *claim_whole(struct provider *p, const void *graph, const char *model,
			       const char *folder, void *support)
{
	struct hn_err err;
	struct ort_library *l = provider_open(p, folder, model, &err);
	bool same = false;

	if (l == NULL) {
		provider_say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
		return NULL;
	}
	ort_status *s = has_same_values(p, l->model, graph, &same);

	if (s == NULL && !same) {
		provider_say(p, ORT_SAYS_WARNING,
			     "hone: %s is left to onnxruntime: its inputs or outputs have other names, "
			     "types or shapes than what was compiled",
			     model);
	}
	if (s == NULL && same && wins(p, l, model, folder)) {
		p->library[p->n_library++] = l;
		p->whole = true;
		return take_all(p, graph, support);
	}
	provider_close(l);
	return s;
}

ort_status *provider_capability(struct ort_ep *self, const void *graph, void *support)
{
	struct provider *p = (struct provider *)self;
	char folder[PROVIDER_MOST_PATH], list[PROVIDER_MOST_PATH + 20];
	const void *parent = NULL;
	const char *model = NULL;
	ort_status *s = ort_call(p->api, Graph_GetParentNode)(graph, &parent);

	s = s ? s : ort_call(p->api, Graph_GetModelPath)(graph, &model);
	if (s != NULL || parent != NULL || p->claim == CLAIM_NEVER || p->n_library > 0) {
		return s; /* the body of a node; or the graph, once more: it is taken already */
	}
	if (model == NULL || *model == '\0') {
		provider_say(p, ORT_SAYS_WARNING,
			     "hone: a model from memory is left to onnxruntime: without its "
			     "file nobody knows what was compiled of it");
		return NULL;
	}
	find_folder(p, model, folder);
	if (!is_trusted(p, model, folder)) {
		return NULL;
	}
	snprintf(list, sizeof(list), "%s/regions.json", folder);
	return access(list, F_OK) == 0 ? provider_claim_regions(p, graph, model, folder, support)
				       : claim_whole(p, graph, model, folder, support);
}
