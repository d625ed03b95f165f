/* ort/regions.c -- of a network that was compiled by regions, those that the provider takes.
 *
 * First each region is raced alone against the runtime on the same region's file.  Those that won, and
 * have their nodes in the runtime's graph, are then raced together: the session with them against
 * the session without.  If it is not faster, the one that saved most alone is tried by itself.  So at
 * most ten races are run, once; what was found lies in the folder.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "ort/graph.h"
#include "ort/race.h"
#include "ort/session.h"

#define FORMAT "hone-regions/1"
#define MOST_LIST ((size_t)1 << 20)
#define MOST_DIMS 64
#define MOST_NAME 40

struct region {
	char name[MOST_NAME]; /* of its folder */
	const char *binary;   /* hash of its library */
	struct ort_library *net;
	double saves_ns;
	bool take;
};

struct regions {
	struct provider *p;
	const char *model, *folder;
	struct hn_json *list;
	struct ort_dim dim[MOST_DIMS];
	uint32_t n_dim;
	struct region region[PROVIDER_MOST_REGIONS];
	uint32_t n;
	struct ort_graph graph;
};

/* -- the list --------------------------------------------------------------------------------------- */

/* A name that is no path: nothing outside of the folder is opened. */
static bool is_name(const char *s)
{
	return s != NULL && *s != '\0' && strlen(s) < MOST_NAME && strcspn(s, "/,") == strlen(s) &&
	       *s != '.';
}

static bool is_wanted(const struct provider *p, const char *name)
{
	char key[MOST_NAME + 2], all[PROVIDER_MOST_ONLY + 2];

	snprintf(key, sizeof(key), "%s,", name);
	snprintf(all, sizeof(all), "%s,", p->only);
	for (const char *s = all; (s = strstr(s, key)) != NULL; s++) {
		if (s == all || s[-1] == ',') {
			return true;
		}
	}
	return *p->only == '\0';
}

static int read_regions(struct regions *r, const char *path, struct hn_err *err)
{
	const struct hn_json *v = hn_json_first(hn_json_get(r->list, "regions"));

	if (v == NULL) {
		return hn_fail(err, HONE_E_INVALID, "%s: no list of regions", path);
	}
	for (; v != NULL; v = hn_json_next(v)) {
		const char *name = hn_json_string(hn_json_get(v, "name"));
		const char *binary = hn_json_string(hn_json_get(v, "library"));

		if (!is_name(name) || binary == NULL || r->n == PROVIDER_MOST_REGIONS) {
			return hn_fail(err, HONE_E_INVALID, "%s: not %d names of regions at most", path,
				       PROVIDER_MOST_REGIONS);
		}
		if (is_wanted(r->p, name)) {
			snprintf(r->region[r->n].name, MOST_NAME, "%s", name);
			r->region[r->n++].binary = binary;
		}
	}
	for (v = hn_json_first(hn_json_get(r->list, "dims")); v != NULL; v = hn_json_next(v)) {
		struct ort_dim d = { .name = hn_json_key(v) };

		if (r->n_dim == MOST_DIMS || d.name == NULL || !hn_json_int(v, &d.value)) {
			return hn_fail(err, HONE_E_INVALID, "%s: not %d sizes at most", path, MOST_DIMS);
		}
		r->dim[r->n_dim++] = d;
	}
	return 0;
}

static int read_list(struct regions *r, struct hn_err *err)
{
	char path[PATH_MAX], hex[HN_SHA256_HEX];
	struct hn_buf b;

	hn_buf_init(&b);
	snprintf(path, sizeof(path), "%.4000s/regions.json", r->folder);
	int rc = hn_file_read_kept(path, MOST_LIST, &b, err);

	rc = rc ? rc : hn_json_parse(path, b.s, b.n, NULL, &r->list, err);
	if (rc == 0) {
		const char *format = hn_json_string(hn_json_get(r->list, "format"));
		const char *onnx = hn_json_string(hn_json_get(r->list, "onnx"));

		if (format == NULL || strcmp(format, FORMAT) != 0 || onnx == NULL) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "%s: no list of regions as hone %s makes it: compile it again", path,
				     HONE_VERSION);
		}
		rc = rc ? rc : hn_file_sha256(r->model, ORT_FILE_MOST, hex, err);
		if (rc == 0 && strcmp(hex, onnx) != 0) {
			rc = hn_fail(err, HONE_E_INVALID,
				     "%s was made of another file than %s is now: compile it again",
				     r->folder, r->model);
		}
	}
	hn_buf_fini(&b);
	return rc ? rc : read_regions(r, path, err);
}

/* -- each alone --------------------------------------------------------------------------------------- */

static void leave(const struct regions *r, const struct region *region, int severity, const char *why)
{
	provider_say(r->p, severity, "hone: %s of %s is left to onnxruntime: %s", region->name, r->model,
		     why);
}

/* Opened, found in the graph as region `number`, and won; else a line in the log. */
static ort_status *judge(struct regions *r, uint32_t number)
{
	struct region *region = &r->region[number - 1];
	struct provider *p = r->p;
	char dir[PATH_MAX], model[PATH_MAX + 20];
	struct ort_contest race = { 0 };
	const char *why = NULL;
	struct hn_err err;

	snprintf(dir, sizeof(dir), "%.4000s/%s", r->folder, region->name);
	snprintf(model, sizeof(model), "%s/region.onnx", dir);
	region->net = provider_open(p, dir, NULL, &err);
	if (region->net != NULL && strcmp(region->net->binary, region->binary) != 0) {
		leave(r, region, ORT_SAYS_WARNING, "it was compiled at another time than the list says");
		return NULL;
	}
	if (region->net == NULL) {
		leave(r, region, ORT_SAYS_WARNING, err.msg);
		return NULL;
	}
	ort_status *s = ort_graph_match(&r->graph, region->net->model, number, &why);

	if (s != NULL || why != NULL) {
		leave(r, region, ORT_SAYS_WARNING, why != NULL ? why : "it could not be looked for");
		return s;
	}
	region->take = p->claim == CLAIM_ALWAYS;
	if (!region->take &&
	    ort_race(p->api, p->runtime, model, dir, region->net, &race, &err) != 0) {
		leave(r, region, ORT_SAYS_WARNING, err.msg);
	} else if (!region->take && !(race.error <= PROVIDER_ERROR_MOST)) {
		hn_fail(&err, HONE_E_INVALID, "its answers differ by %.2g of the largest", race.error);
		leave(r, region, ORT_SAYS_WARNING, err.msg);
	} else if (!region->take && race.gain < ORT_RACE_LEAST) {
		hn_fail(&err, HONE_E_INVALID, "%.0f us there, %.0f us compiled", race.runtime_ns / 1e3,
			race.hone_ns / 1e3);
		leave(r, region, ORT_SAYS_INFO, err.msg);
	} else {
		region->take = true;
		region->saves_ns = race.runtime_ns - race.hone_ns;
	}
	if (!region->take) {
		ort_graph_drop(&r->graph, number);
	}
	return NULL;
}

/* -- together ------------------------------------------------------------------------------------------ */

/* The names of those that are taken, and a hash of what they are. */
static uint32_t say_taken(const struct regions *r, char names[PROVIDER_MOST_ONLY],
			  char hex[HN_SHA256_HEX])
{
	struct hn_buf b;
	size_t at = 0;
	uint32_t n = 0;

	hn_buf_init(&b);
	*names = '\0';
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->region[i].take) {
			at += (size_t)snprintf(names + at, PROVIDER_MOST_ONLY - at, "%s%s",
					       n++ > 0 ? "," : "", r->region[i].name);
			hn_buf_printf(&b, "%s %s\n", r->region[i].name, r->region[i].net->binary);
		}
	}
	hn_sha256_hex(b.s, b.n, hex);
	hn_buf_fini(&b);
	return n;
}

/* Whether a session with those that are taken is faster.  One whose inputs cannot be made up is believed
 * to be: each of them won. */
static bool wins_together(struct regions *r)
{
	const struct hn_json *onnx = hn_json_get(r->list, "onnx");
	char names[PROVIDER_MOST_ONLY], hex[HN_SHA256_HEX], path[PATH_MAX];
	struct ort_contest race = { 0 };
	struct hn_err err;
	uint32_t n = say_taken(r, names, hex);
	const struct ort_contest_key key = { r->p->runtime, hn_json_string(onnx), hex,
					     hone_pool_threads(r->p->pool) };
	const struct ort_session_race of = { r->model, r->folder, names, r->dim, r->n_dim };

	snprintf(path, sizeof(path), "%.4000s/race-%.8s.json", r->folder, hex);
	if (n == 0) {
		return false;
	}
	if (!ort_contest_read(path, &key, &race)) {
		int rc = ort_session_contest(&r->graph, &of, &race, &err);

		if (rc != 0) {
			provider_say(r->p, ORT_SAYS_INFO,
				     "hone: %s: the session could not be raced, so the races of its regions "
				     "count: %s",
				     r->model, err.msg);
			race = (struct ort_contest){ .gain = ORT_SESSION_LEAST };
		} else {
			ort_contest_keep(path, &key, &race);
		}
	}
	if (!(race.error <= PROVIDER_ERROR_MOST)) {
		provider_say(r->p, ORT_SAYS_WARNING,
			     "hone: %s: with %s answers differ by %.2g of the largest", r->model, names,
			     race.error);
		return false;
	}
	if (race.gain < ORT_SESSION_LEAST) {
		provider_say(r->p, ORT_SAYS_INFO, "hone: %s: %.0f us, with %s %.0f us", r->model,
			     race.runtime_ns / 1e3, names, race.hone_ns / 1e3);
	}
	return race.gain >= ORT_SESSION_LEAST;
}

static void take_only(struct regions *r, uint32_t which)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->region[i].take && i != which) {
			ort_graph_drop(&r->graph, i + 1);
			r->region[i].take = false;
		}
	}
}

static void choose(struct regions *r)
{
	uint32_t best = r->n, n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->region[i].take) {
			n++;
			best = best == r->n || r->region[i].saves_ns > r->region[best].saves_ns ? i : best;
		}
	}
	if (wins_together(r)) {
		return;
	}
	take_only(r, n > 1 ? best : r->n);
	if (n > 1 && !wins_together(r)) {
		take_only(r, r->n);
	}
}

/* -- taken ---------------------------------------------------------------------------------------------- */

static ort_status *fuse(struct regions *r, uint32_t number, void *support)
{
	const struct ort_fusion whole = { .version = ORT_VERSION_NEEDED, .drop_constants = true };
	const void **nodes = HN_NEW_ARRAY(&r->graph.arena, const void *, r->graph.n_node + 1);
	size_t n = 0;

	for (uint32_t i = 0; i < r->graph.n_node; i++) {
		if (r->graph.node[i].region == number) {
			nodes[n++] = r->graph.node[i].node;
		}
	}
	r->p->library[r->p->n_library++] = r->region[number - 1].net;
	r->region[number - 1].net = NULL;
	return ort_call(r->p->ep_api, EpGraphSupportInfo_AddNodesToFuse)(support, nodes, n, &whole);
}

static ort_status *claim(struct regions *r, const void *graph, void *support)
{
	ort_status *s = ort_graph_open(r->p, graph, &r->graph);

	for (uint32_t i = 0; i < r->n && s == NULL; i++) {
		s = judge(r, i + 1);
	}
	if (s == NULL && r->p->claim != CLAIM_ALWAYS) {
		choose(r);
	}
	for (uint32_t i = 0; i < r->n && s == NULL; i++) {
		s = r->region[i].take ? fuse(r, i + 1, support) : NULL;
	}
	return s;
}

ort_status *provider_claim_regions(struct provider *p, const void *graph, const char *model,
				   const char *folder, void *support)
{
	struct regions r = { .p = p, .model = model, .folder = folder };
	ort_status *s = NULL;
	struct hn_err err;

	if (read_list(&r, &err) != 0) {
		provider_say(p, ORT_SAYS_WARNING, "hone: %s is left to onnxruntime: %s", model, err.msg);
	} else {
		s = claim(&r, graph, support);
		ort_graph_close(&r.graph);
	}
	for (uint32_t i = 0; i < r.n; i++) {
		if (r.region[i].net != NULL) {
			provider_close(r.region[i].net);
		}
	}
	hn_json_free(r.list);
	return s;
}
