/* client/network.c -- a network that the user gave. */
#include "client/network.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"
#include "client/best.h"
#include "graph/akg/import.h"
#include "graph/form/form.h"
#include "graph/import/import.h"
#include "graph/ir/memo.h"
#include "proto/model.h"

#define ENDING ".onnx"
#define HEAD_BYTES ((size_t)64 << 10) /* of a file, that tell what it is */
#define SIZE_MAX_DIM ((int64_t)1 << 31)

static bool is_onnx(const char *path)
{
	size_t n = path != NULL ? strlen(path) : 0;

	return n > strlen(ENDING) && strcmp(path + n - strlen(ENDING), ENDING) == 0;
}

/* A pipe is not looked into: what is read would be gone. */
static bool is_akg(const char *path)
{
	int fd = path != NULL && strcmp(path, "-") != 0 ? hn_file_open(path, NULL) : -1;
	bool is = false;
	struct stat st;
	char *head;

	if (fd < 0) {
		return false;
	}
	head = malloc(HEAD_BYTES);
	if (head != NULL && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		ssize_t n = pread(fd, head, HEAD_BYTES, 0);

		is = n > 0 && hn_akg_is(head, (size_t)n);
	}
	free(head);
	close(fd);
	return is;
}

bool hn_network_is(const char *path)
{
	return is_onnx(path) || is_akg(path);
}

/* One --dim: NAME=N, NAME=LEAST..MOST, or NAME=LEAST..MOST:STEP, whose ends are multiples of the
 * step. */
struct dim {
	const char *name;
	int64_t least, most, step;
};

static bool read_number(const char *s, char **ret_end, int64_t *ret)
{
	errno = 0;
	*ret = strtoll(s, ret_end, 10);
	return *ret_end != s && errno == 0 && *ret >= 1 && *ret <= SIZE_MAX_DIM;
}

/* "batch=4", "batch=1..8", "height=32..640:32" */
static int read_dim(const char *word, struct hn_arena *a, struct dim *ret, struct hn_err *err)
{
	const char *equals = strrchr(word, '=');
	bool good;
	char *end;

	if (equals == NULL || equals == word) {
		return hn_fail(err, HONE_E_INVALID, "--dim: \"%.80s\" is not NAME=N", word);
	}
	ret->name = hn_arena_strndup(a, word, (size_t)(equals - word));
	good = read_number(equals + 1, &end, &ret->least);
	ret->most = ret->least;
	ret->step = 1;
	if (good && strncmp(end, "..", 2) == 0) {
		good = read_number(end + 2, &end, &ret->most) && ret->most >= ret->least;
		if (good && *end == ':') {
			good = read_number(end + 1, &end, &ret->step);
		}
	}
	if (!good || *end != '\0') {
		return hn_fail(err, HONE_E_INVALID,
			       "--dim: \"%.80s\": N is not a number from 1 to %lld, nor a range as 1..8 "
			       "or 32..640:32",
			       word, (long long)SIZE_MAX_DIM);
	}
	if (ret->least % ret->step != 0 || ret->most % ret->step != 0) {
		return hn_fail(err, HONE_E_INVALID,
			       "--dim: \"%.80s\": the ends are not multiples of the step, %lld", word,
			       (long long)ret->step);
	}
	return 0;
}

static int read_dims(const struct hn_opts *o, struct hn_arena *a, struct dim **ret,
		     struct hn_err *err)
{
	struct dim *dim = HN_NEW_ARRAY(a, struct dim, o->dim.n + 1);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < o->dim.n; i++) {
		rc = read_dim(o->dim.word[i], a, &dim[i], err);
	}
	*ret = dim;
	return rc;
}

#define NAME_MOST 40 /* kernels' names have it in front */

static bool is_c_name(const char *s)
{
	return strlen(s) <= NAME_MOST && hn_model_name_fits(s);
}

/* --symbol, or the file's name without folder and ending, made to a C name; NULL: --symbol is none. */
static const char *name_of(const struct hn_opts *o, struct hn_arena *a)
{
	const char *slash = strrchr(o->arg, '/'), *file = slash != NULL ? slash + 1 : o->arg;
	int n = (int)strcspn(file, ".");
	char *s;

	if (o->symbol != NULL) {
		return is_c_name(o->symbol) ? o->symbol : NULL;
	}
	s = hn_arena_printf(a, "net%.*s", n, file);
	for (char *p = s; *p != '\0'; p++) {
		*p = isalnum((unsigned char)*p) ? *p : '_';
	}
	s += strlen("net");
	s[strlen(s) > NAME_MOST ? NAME_MOST : strlen(s)] = '\0';
	if (!hn_model_name_fits(s)) { /* "7net", "_", "hone_x" */
		s -= strlen("net");
		s[strlen(s) > NAME_MOST ? NAME_MOST : strlen(s)] = '\0';
	}
	return s;
}

static void tell_refusals(const struct hn_import *im)
{
	char node[81], why[400];

	for (uint32_t i = 0; i < im->n_refusal; i++) {
		const struct hn_refusal *r = &im->refusal[i];

		hn_shown(node, sizeof(node), r->node, strlen(r->node));
		hn_shown(why, sizeof(why), r->why, strlen(r->why));
		fprintf(stderr, "hone: %s, %u time%s: %s; node %s\n", r->op, r->n,
			r->n > 1 ? "s, first" : "", why, node);
	}
	if (im->n_unseen > 0) {
		fprintf(stderr, "hone: %u nodes behind those were not looked at\n", im->n_unseen);
	}
}

/* The form of --dtype, or NULL. */
static int find_form(const struct hn_opts *o, struct hn_import *im, const struct hn_form **ret,
		     struct hn_err *err)
{
	*ret = o->dtype != NULL ? hn_form_find(o->dtype, err) : NULL;
	im->as_written = *ret != NULL && (*ret)->as_written;
	return o->dtype != NULL && *ret == NULL ? -err->code : 0;
}

/* What a kernel of AKG says that has no meaning here. */
static void tell_notes(const struct hn_network *of, const char *path, const struct hn_akg_kernel *k)
{
	char process[81];

	hn_shown(process, sizeof(process), k->process, strlen(k->process));
	/* AKG's "aicore" is a machine of buffers */
	if (*process != '\0' && !(of->fused && strcmp(process, "aicore") == 0)) {
		fprintf(stderr, "hone: %s: made for \"%s\", which is a hint: --target says the machine\n",
			path, process);
	}
	for (uint32_t i = 0; i < k->n_note; i++) {
		const struct hn_akg_note *n = &k->note[i];

		fprintf(stderr, "hone: %s: %s, %u time%s, has no meaning here; first %s\n", path, n->what,
			n->n, n->n > 1 ? "s" : "", n->at);
	}
}

/* In the form of --dtype. */
static int import(const struct hn_opts *o, const struct hn_network *n, struct hn_import *im,
		  struct hn_graph *g, struct hn_err *err)
{
	const struct hn_form *form;
	int rc = find_form(o, im, &form, err);

	if (rc == 0) {
		rc = n->akg != NULL ? hn_akg_import(n->akg, im, g, err)
				    : hn_graph_import(n->onnx, im, g, err);
	}
	if (rc == 0 && form != NULL) {
		form->apply(g);
		rc = g->failed ? -err->code : 0;
	}
	return rc;
}

/* What a network is read from, and for which sizes. */
struct reading {
	const struct hn_opts *o;
	struct hn_network *n;
	struct dim *dim; /* [o->dim.n] */
	struct hn_memo *memo; /* of readings for several sizes; NULL: there is one */
};

static bool is_range(const struct dim *d)
{
	return d->least < d->most;
}

/* What an import is told, with these sizes in the places of ranges. */
static struct hn_import import_of(const struct reading *r, const int64_t *size, struct hn_arena *a)
{
	struct hn_import im = { .n_dim = r->o->dim.n };

	im.dim = HN_NEW_ARRAY(a, struct hn_import_dim, im.n_dim + 1);
	for (uint32_t i = 0; i < im.n_dim; i++) {
		const struct dim *d = &r->dim[i];

		im.dim[i] = (struct hn_import_dim){ d->name, is_range(d) ? *size++ * d->step : d->least,
						    false };
	}
	return im;
}

/* The network, with these sizes in the places of ranges; g: a new one in `a`. */
static int read_net(const struct reading *r, const int64_t *size, struct hn_arena *a,
		    const struct hn_net_choice *by, struct hn_graph *g, struct hn_net *ret,
		    struct hn_err *err)
{
	struct hn_import im = import_of(r, size, a);
	int rc;

	hn_graph_init(g, a, r->n->name, err);
	g->memo = r->memo;
	rc = import(r->o, r->n, &im, g, err);
	rc = rc ? rc : hn_net_make_by(g, by, ret, err);
	if (r->memo != NULL) { /* the first is of the largest sizes, and stays */
		hn_memo_close(r->memo);
	}
	if (rc != 0) {
		tell_refusals(&im);
		hn_err_within(err, "%s", r->o->arg);
	}
	return rc;
}

static int find_target(const struct hn_opts *o, struct hn_network *n, struct hn_err *err)
{
	const char *line;
	int rc = hn_best_target(o, &n->arena, &n->target, &line, err);

	n->modules = rc == 0 && (n->target.caps & HN_CAP_MODULES) != 0;
	n->fused = rc == 0 && (n->target.caps & HN_CAP_BUFFERS) != 0;
	return rc;
}

static int begin(const struct hn_opts *o, struct hn_network *ret, struct reading *r,
		 struct hn_err *err)
{
	int rc;

	*ret = (struct hn_network){ 0 };
	*r = (struct reading){ .o = o, .n = ret };
	hn_arena_init(&ret->arena, 0);
	if (o->arg == NULL) {
		return hn_fail(err, HONE_E_INVALID, "give a FILE.onnx, or a fused operator of AKG");
	}
	ret->name = name_of(o, &ret->arena);
	if (ret->name == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "--symbol: \"%.60s\" is no C name of at most %d characters", o->symbol,
			       NAME_MOST);
	}
	rc = find_target(o, ret, err);
	rc = rc ? rc : read_dims(o, &ret->arena, &r->dim, err);
	if (rc == 0 && !is_onnx(o->arg) && hn_input_is(o->arg, &ret->arena)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%.200s: a computation, which `hone tune`, `hone explain` and `hone replay` take; here a "
			       "network is wanted: FILE.onnx, or a fused operator of AKG", o->arg);
	}
	if (rc == 0 && (is_onnx(o->arg) || !is_akg(o->arg))) {
		return hn_onnx_open(o->arg, &ret->onnx, err);
	}
	rc = rc ? rc : hn_akg_open(o->arg, &ret->akg, err);
	if (rc == 0) {
		tell_notes(ret, o->arg, hn_akg_kernel(ret->akg));
	}
	return rc;
}

/* Of numbers alone: by what is stored of it. */
static int open_one(const struct reading *r, struct hn_err *err)
{
	const struct hn_net_choice fused = { .rival = hn_rival_fused(), .whole = true };
	struct hn_network *n = r->n;
	const struct hn_net_choice rules = { .whole = n->modules };
	int rc = read_net(r, NULL, &n->arena, n->fused ? &fused : &rules, &n->graph, &n->net, err);
	rc = rc ? rc : hn_netchoice_read(r->o, n, err);
	return rc ? rc : hn_network_follow(n, err);
}

/* HONE_E_UNSUPPORTED: a size is a range, which `who` cannot take. */
static int want_numbers(const struct reading *r, const char *who, struct hn_err *err)
{
	for (uint32_t i = 0; i < r->o->dim.n; i++) {
		if (is_range(&r->dim[i])) {
			return hn_fail(err, HONE_E_UNSUPPORTED,
				       "--dim %.80s: a range, which %s cannot take: one number is "
				       "wanted",
				       r->o->dim.word[i], who);
		}
	}
	return 0;
}

int hn_network_open(const struct hn_opts *o, struct hn_network *ret, struct hn_err *err)
{
	struct reading r;
	int rc = begin(o, ret, &r, err);

	rc = rc ? rc : want_numbers(&r, "a final", err);
	return rc ? rc : open_one(&r, err);
}

int hn_network_regions(const struct hn_opts *o, struct hn_network *ret, struct hn_regions *regions,
		       struct hn_err *err)
{
	const struct hn_form *form;
	struct hn_import im;
	struct reading r;
	int rc = begin(o, ret, &r, err);

	rc = rc ? rc : want_numbers(&r, "a region", err);
	if (rc == 0 && ret->onnx == NULL) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: --regions takes parts of ONNX files alone",
			     o->arg);
	}
	if (rc != 0) {
		return rc;
	}
	im = import_of(&r, NULL, &ret->arena);
	hn_graph_init(&ret->graph, &ret->arena, ret->name, err);
	rc = find_form(o, &im, &form, err);
	rc = rc ? rc : hn_graph_regions(ret->onnx, &im, &ret->graph, regions, err);
	if (rc != 0) {
		return hn_err_within(err, "%s", o->arg);
	}
	tell_refusals(&im);
	return 0;
}

/* hn_net_at.  Where a part of a tensor lies in it depends on sizes, so parts are tensors of their
 * own. */
static int read_at(void *ctx, const int64_t *size, struct hn_arena *a, struct hn_net *ret,
		   struct hn_err *err)
{
	const struct reading *r = ctx;
	const struct hn_net_choice by = { .whole = true, .rival = r->n->fused ? hn_rival_fused() : NULL };

	return read_net(ctx, size, a, &by, HN_NEW(a, struct hn_graph), ret, err);
}

int hn_network_open_ranges(const struct hn_opts *o, struct hn_network *ret, struct hn_err *err)
{
	struct hn_net_size *size;
	uint32_t n = 0;
	struct reading r;
	int rc = begin(o, ret, &r, err);

	if (rc != 0) {
		return rc;
	}
	size = HN_NEW_ARRAY(&ret->arena, struct hn_net_size, o->dim.n + 1);
	for (uint32_t i = 0; i < o->dim.n; i++) {
		const struct dim *d = &r.dim[i];

		if (is_range(d)) {
			size[n++] = (struct hn_net_size){ d->name, d->least / d->step,
							  d->most / d->step, d->step };
		}
	}
	if (n == 0) {
		return open_one(&r, err);
	}
	r.memo = hn_memo_new(&ret->arena);
	rc = (ret->modules ? hn_ranges_each : hn_ranges_find)(size, n, read_at, &r, &ret->arena,
							      &ret->ranges, err);
	if (rc == 0) {
		ret->net = ret->ranges.range[0].net;
		ret->graph = *ret->net.g;
	}
	return rc;
}

int hn_network_follow(struct hn_network *n, struct hn_err *err)
{
	const struct hn_net_choice by = { .say = n->choice.say,
					  .row_major = n->choice.row_major,
					  .plain = n->choice.plain,
					  .whole = n->modules };

	return hn_netchoice_by_rule(&n->choice) ? 0 : hn_net_make_by(&n->graph, &by, &n->net, err);
}

void hn_network_close(struct hn_network *n)
{
	hn_onnx_close(n->onnx);
	hn_akg_close(n->akg);
	hn_arena_fini(&n->arena);
}

struct hn_opts hn_network_task(const struct hn_opts *o, const struct hn_gtask *task)
{
	struct hn_opts one = *o;

	one.arg = NULL;
	one.text = task->text;
	one.name = task->name;
	return one;
}

const char *hn_network_label(const struct hn_network *n, const struct hn_gtask *task,
			     struct hn_arena *a)
{
	return hn_arena_printf(a, "%s.%s", n->name, task->name);
}

const char *hn_network_range(const struct hn_network *n, const struct hn_net_range *r,
			     struct hn_arena *a)
{
	const char *s = "";

	for (uint32_t k = 0; k < n->ranges.n_size; k++) {
		const struct hn_net_size *size = &n->ranges.size[k];

		s = hn_arena_printf(a, "%s%s%.60s = %lld..%lld", s, k > 0 ? ", " : "",
				    size->name, (long long)(r->least[k] * size->step),
				    (long long)(r->most[k] * size->step));
	}
	return s;
}
