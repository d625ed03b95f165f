/* client/netregions.c -- see netregions.h.
 *
 * A region becomes a model file of its own, DIR/region-N/region.onnx, and is compiled as any network:
 * tuned, its records are used.  ONNX Runtime races it by the same file (ort/race.c).  Regions with
 * little to compute are left: to call one costs as much.
 */
#include "client/netregions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/best.h"
#include "client/interrupt.h"
#include "client/network.h"
#include "client/place.h"
#include "graph/onnx/cut.h"
#include "graph/op/dtype.h"

#define MODEL_MAX ((size_t)4 << 30)
#define MOST_LOOKED_AT 256
#define MOST 8		 /* each is raced when a session is made */
#define LEAST_FLOPS 1e5 /* some ten microseconds of one core */

struct region {
	const struct hn_region *is;
	double flops;
	const char *path; /* its folder; NULL: it could not be compiled */
	char binary[HN_SHA256_HEX];
};

struct netregions {
	const struct hn_opts *o;
	struct hn_network net;
	struct hn_regions found;
	struct region *region; /* [n] that are compiled */
	uint32_t n;
	int (*compile)(const struct hn_opts *o, struct hn_err *err);
};

/* -- a model of each ------------------------------------------------------------------------------ */

static struct hn_onnx_cut_value *values(struct netregions *r, const struct hn_region_value *of,
					uint32_t n)
{
	struct hn_arena *a = &r->net.arena;
	struct hn_onnx_cut_value *ret = HN_NEW_ARRAY(a, struct hn_onnx_cut_value, n + 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_gvalue *v = &r->net.graph.value[of[i].value];

		ret[i] = (struct hn_onnx_cut_value){ of[i].name,
						     v->shape,
						     v->rank,
						     hn_dtype_to_onnx((enum hn_dtype)v->dtype),
						     v->data,
						     v->data != NULL ? hn_gvalue_bytes(v) : 0 };
	}
	return ret;
}

/* The one element of `fill` as often as it stands for. */
static int unfold(struct netregions *r, const struct hn_region *g, struct hn_onnx_cut_value *constant,
		  struct hn_err *err)
{
	for (uint32_t i = 0; i < g->n_constant; i++) {
		const struct hn_gvalue *v = &r->net.graph.value[g->constant[i].value];
		size_t n = (size_t)hn_gvalue_bytes(v), one = hn_dtype_bytes((enum hn_dtype)v->dtype);
		char *all;

		if (!v->fill || n <= one) {
			continue;
		}
		if (n > HN_ONNX_CUT_MOST) {
			return hn_fail(err, HONE_E_QUOTA, "constant %.80s of %zu bytes",
				       g->constant[i].name, n);
		}
		all = hn_arena_alloc(&r->net.arena, n);
		for (size_t at = 0; at < n; at += one) {
			memcpy(all + at, v->data, one);
		}
		constant[i].data = all;
	}
	return 0;
}

static int write_model(struct netregions *r, const struct hn_region *g, const char *path,
		       struct hn_err *err)
{
	struct hn_onnx_cut_value *constant = values(r, g->constant, g->n_constant);
	const struct hn_onnx_cut cut = {
		.node = g->node,
		.n_node = g->n_node,
		.initializer = g->initializer,
		.n_initializer = g->n_initializer,
		.constant = constant,
		.n_constant = g->n_constant,
		.input = values(r, g->input, g->n_input),
		.n_input = g->n_input,
		.output = values(r, g->output, g->n_output),
		.n_output = g->n_output,
	};
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = unfold(r, g, constant, err);

	rc = rc ? rc : hn_onnx_cut(r->net.onnx, &cut, &b, err);
	rc = rc ? rc : hn_file_replace(path, b.s, b.n, err);
	hn_buf_fini(&b);
	return rc;
}

/* The options of a verb that works on one region: its sizes are numbers. */
static struct hn_opts options_of(const struct netregions *r, char *path)
{
	struct hn_opts one = *r->o;

	one.arg = path;
	one.regions = false;
	one.dim.n = 0;
	return one;
}

/* -- which of them --------------------------------------------------------------------------------- */

/* What a run of it computes; 0: hone does not take it as a network of its own. */
static double work_of(struct netregions *r, const struct hn_region *g, const char *dir)
{
	char *path = hn_arena_printf(&r->net.arena, "%s/region.onnx", dir);
	struct hn_opts one = options_of(r, path);
	struct hn_network net;
	struct hn_err err;
	double flops = 0;

	if (write_model(r, g, path, &err) != 0) {
		fprintf(stderr, "hone: a region is left: %s\n", err.msg);
		return 0;
	}
	if (hn_network_open(&one, &net, &err) == 0) {
		for (uint32_t i = 0; i < net.net.n_kernel; i++) {
			const struct hn_gkernel *k = &net.net.kernel[i];

			flops += k->n_step * net.net.task[k->task].flops;
		}
	} else {
		fprintf(stderr, "hone: a region of %u nodes is left: %s\n", g->n_node, err.msg);
	}
	hn_network_close(&net);
	unlink(path);
	return flops;
}

static int by_flops(const void *x, const void *y)
{
	double a = ((const struct region *)x)->flops, b = ((const struct region *)y)->flops;

	return a < b ? 1 : -(a > b);
}

static int by_place(const void *x, const void *y)
{
	const struct region *a = x, *b = y;

	return a->is < b->is ? -1 : a->is > b->is;
}

static int choose(struct netregions *r, struct hn_err *err)
{
	char dir[] = "/tmp/hone-regions-XXXXXX";

	if (mkdtemp(dir) == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: no temporary folder", dir);
	}
	r->region = HN_NEW_ARRAY(&r->net.arena, struct region, r->found.n + 1);
	for (uint32_t i = 0; i < r->found.n && i < MOST_LOOKED_AT && !hn_interrupted(); i++) {
		const struct hn_region *g = &r->found.region[i];
		double flops = work_of(r, g, dir);

		if (flops >= LEAST_FLOPS) {
			r->region[r->n++] = (struct region){ .is = g, .flops = flops };
		}
	}
	hn_file_remove_tree(dir);
	qsort(r->region, r->n, sizeof(*r->region), by_flops);
	r->n = r->n < MOST ? r->n : MOST;
	qsort(r->region, r->n, sizeof(*r->region), by_place);
	return r->n > 0 ? 0
			: hn_fail(err, HONE_E_UNSUPPORTED,
				  "%s: %u regions, and none that would be worth a call", r->o->arg,
				  r->found.n);
}

/* -- the folder ----------------------------------------------------------------------------------- */

/* Into DIR/region-N; false, told, where it cannot be. */
static bool compile_one(struct netregions *r, uint32_t k)
{
	struct hn_arena *a = &r->net.arena;
	const struct hn_region *g = r->region[k].is;
	char *dir = hn_arena_printf(a, "%s/region-%u", r->o->out, k + 1);
	char *path = hn_arena_printf(a, "%s/region.onnx", dir);
	struct hn_opts one = options_of(r, path);
	struct hn_err err;
	int rc;

	one.out = dir;
	one.symbol = hn_arena_printf(a, "%.30s_r%u", r->net.name, k + 1);
	fprintf(stderr, "hone: region %u: %u nodes, %.3g MFLOP, %u inputs, %u outputs\n", k + 1,
		g->n_node, r->region[k].flops / 1e6, g->n_input, g->n_output);
	rc = hn_place_check(dir, r->o->force, &err);
	rc = rc ? rc : hn_file_mkdirs(dir, 0777, &err);
	rc = rc ? rc : write_model(r, g, path, &err);
	rc = rc ? rc : r->compile(&one, &err);
	rc = rc ? rc : hn_file_sha256(hn_arena_printf(a, "%s/lib" HN_PLACE_FILE ".so", dir),
				      MODEL_MAX, r->region[k].binary, &err);
	if (rc != 0) {
		fprintf(stderr, "hone: region %u is left: %s\n", k + 1, err.msg);
		unlink(path);
		rmdir(dir);
	}
	r->region[k].path = dir;
	return rc == 0;
}

/* A size that the user told is told to the runtime, too, when it is raced (ort/session.c). */
static void put_dims(const struct netregions *r, struct hn_jw *w)
{
	hn_jw_object(w, "dims");
	for (uint32_t i = 0; i < r->o->dim.n; i++) {
		const char *word = r->o->dim.word[i], *equals = strrchr(word, '=');
		char *name = hn_arena_strndup((struct hn_arena *)&r->net.arena, word,
					      (size_t)(equals - word));

		hn_jw_int(w, name, strtoll(equals + 1, NULL, 10));
	}
	hn_jw_end(w);
}

static int write_list(const struct netregions *r, const char *path, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;
	char hex[HN_SHA256_HEX];

	int rc = hn_file_sha256(r->o->arg, MODEL_MAX, hex, err);

	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", HN_PLACE_REGIONS_FORMAT);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_str(&w, "onnx", hex);
	put_dims(r, &w);
	hn_jw_list(&w, "regions");
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->region[i].path != NULL) {
			hn_jw_object(&w, NULL);
			hn_jw_str(&w, "name", strrchr(r->region[i].path, '/') + 1);
			hn_jw_str(&w, "library", r->region[i].binary);
			hn_jw_end(&w);
		}
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	rc = hn_file_replace(path, b.s, b.n, err);
	hn_buf_fini(&b);
	if (rc == 0) {
		printf("%s\n", path);
	}
	return rc;
}

/* What is there already is a list of hone's, or no file. */
static int check_place(const struct netregions *r, const char *path, struct hn_err *err)
{
	char *whole = hn_arena_printf((struct hn_arena *)&r->net.arena, "%s/" HN_PLACE_FILE ".json",
				      r->o->out);
	struct hn_json *v = NULL;
	struct hn_buf b;
	int rc = hn_place_check(r->o->out, true, err);

	if (rc != 0) {
		return rc;
	}
	if (access(whole, F_OK) == 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: there is a network compiled as a whole: give another -o DIR", whole);
	}
	if (access(path, F_OK) != 0) {
		return 0;
	}
	hn_buf_init(&b);
	rc = hn_file_read_kept(path, 1 << 20, &b, NULL) == 0 &&
				 hn_json_parse(path, b.s, b.n, NULL, &v, NULL) == 0 &&
				 hn_json_string(hn_json_get(v, "format")) != NULL &&
				 strcmp(hn_json_string(hn_json_get(v, "format")),
					HN_PLACE_REGIONS_FORMAT) == 0
			 ? 0
			 : -HONE_E_INVALID;

	hn_json_free(v);
	hn_buf_fini(&b);
	return rc == 0 || r->o->force
		       ? 0
		       : hn_fail(err, HONE_E_INVALID,
				 "%s: there already, and not of hone; give another -o DIR, or replace it "
				 "with --force",
				 path);
}

/* A list of regions that will be made again is worth nothing from now on. */
static int drop_list(const char *path, struct hn_err *err)
{
	return unlink(path) == 0 || errno == ENOENT
		       ? 0
		       : hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
}

static int compile_all(struct netregions *r, struct hn_err *err)
{
	char *path = hn_arena_printf(&r->net.arena, "%s/" HN_PLACE_REGIONS, r->o->out);
	uint32_t n_done = 0;
	int rc = check_place(r, path, err);

	rc = rc ? rc : choose(r, err);
	rc = rc ? rc : drop_list(path, err);
	for (uint32_t k = 0; k < r->n && rc == 0; k++) {
		if (compile_one(r, k)) {
			n_done++;
		} else {
			r->region[k].path = NULL;
		}
		rc = hn_interrupted() ? hn_fail(err, HONE_E_CANCELLED, "stopped; no network was written")
				      : 0;
	}
	if (rc == 0 && n_done == 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: no region could be compiled", r->o->arg);
	}
	rc = rc ? rc : write_list(r, path, err);
	if (rc == 0) {
		fprintf(stderr, "hone: %u regions compiled, %u nodes are the runtime's\n", n_done,
			r->found.n_left);
	}
	return rc;
}

/* ONNX Runtime's provider calls them with tensors of a processor's memory and threads. */
static int check_target(const struct hn_opts *o, struct hn_err *err)
{
	struct hn_target target;
	struct hn_arena a;
	const char *line;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_best_target(o, &a, &target, &line, err);
	if (rc == 0 && (target.caps & (HN_CAP_MODULES | HN_CAP_BUFFERS)) != 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED,
			     "--regions: target %s: ONNX Runtime's provider runs regions on processors",
			     target.kind);
	}
	hn_arena_fini(&a);
	return rc;
}

int hn_netregions_compile(const struct hn_opts *o,
			  int (*compile)(const struct hn_opts *o, struct hn_err *err),
			  struct hn_err *err)
{
	struct netregions r = { .o = o, .compile = compile };
	int rc = check_target(o, err);

	if (rc != 0) {
		return rc;
	}
	rc = hn_network_regions(o, &r.net, &r.found, err);

	hn_interrupt_catch();
	rc = rc ? rc : compile_all(&r, err);
	hn_network_close(&r.net);
	return rc;
}
