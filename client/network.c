/* client/network.c -- a network that the user gave. */
#include "client/network.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "graph/form/form.h"
#include "graph/import/import.h"
#include "proto/model.h"

#define ENDING ".onnx"
#define SIZE_MAX_DIM ((int64_t)1 << 31)

bool hn_network_is(const char *path)
{
	size_t n = path != NULL ? strlen(path) : 0;

	return n > strlen(ENDING) && strcmp(path + n - strlen(ENDING), ENDING) == 0;
}

/* "batch=4" */
static int read_dim(const char *word, struct hn_arena *a, struct hn_import_dim *ret,
		    struct hn_err *err)
{
	const char *equals = strrchr(word, '=');
	char *end;

	if (equals == NULL || equals == word) {
		return hn_fail(err, HONE_E_INVALID, "--dim: \"%.80s\" is not NAME=N", word);
	}
	ret->name = hn_arena_strndup(a, word, (size_t)(equals - word));
	ret->value = strtoll(equals + 1, &end, 10);
	if (end == equals + 1 || *end != '\0' || ret->value < 1 || ret->value > SIZE_MAX_DIM) {
		return hn_fail(err, HONE_E_INVALID, "--dim: \"%.80s\": N is not a number from 1 to %lld", word,
			       (long long)SIZE_MAX_DIM);
	}
	return 0;
}

static int read_dims(const struct hn_opts *o, struct hn_arena *a, struct hn_import *ret,
		     struct hn_err *err)
{
	int rc = 0;

	ret->dim = HN_NEW_ARRAY(a, struct hn_import_dim, o->dim.n);
	for (; rc == 0 && ret->n_dim < o->dim.n; ret->n_dim++) {
		rc = read_dim(o->dim.word[ret->n_dim], a, &ret->dim[ret->n_dim], err);
	}
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

/* --dtype */
static int in_form(const struct hn_opts *o, struct hn_graph *g, struct hn_err *err)
{
	const struct hn_form *form = o->dtype != NULL ? hn_form_find(o->dtype, err) : NULL;

	if (form != NULL) {
		form->apply(g);
	}
	return g->failed || (form == NULL && o->dtype != NULL) ? -err->code : 0;
}

int hn_network_open(const struct hn_opts *o, struct hn_network *ret, struct hn_err *err)
{
	struct hn_import im = { 0 };
	int rc;

	*ret = (struct hn_network){ 0 };
	hn_arena_init(&ret->arena, 0);
	if (o->arg == NULL) {
		return hn_fail(err, HONE_E_INVALID, "give a FILE.onnx");
	}
	ret->name = name_of(o, &ret->arena);
	if (ret->name == NULL) {
		return hn_fail(err, HONE_E_INVALID,
			       "--symbol: \"%.60s\" is no C name of at most %d characters", o->symbol,
			       NAME_MOST);
	}
	hn_graph_init(&ret->graph, &ret->arena, ret->name, err);
	rc = read_dims(o, &ret->arena, &im, err);
	rc = rc ? rc : hn_onnx_open(o->arg, &ret->onnx, err);
	if (rc != 0) {
		return rc;
	}
	rc = hn_graph_import(ret->onnx, &im, &ret->graph, err);
	rc = rc ? rc : in_form(o, &ret->graph, err);
	rc = rc ? rc : hn_net_make(&ret->graph, &ret->net, err);
	if (rc != 0) {
		tell_refusals(&im);
		return hn_err_within(err, "%s", o->arg);
	}
	rc = hn_netchoice_read(o, ret, err);
	return rc ? rc : hn_network_follow(ret, err);
}

int hn_network_follow(struct hn_network *n, struct hn_err *err)
{
	const struct hn_net_choice by = { .say = n->choice.say, .row_major = n->choice.row_major };

	return by.say != NULL || by.row_major ? hn_net_make_by(&n->graph, &by, &n->net, err) : 0;
}

void hn_network_close(struct hn_network *n)
{
	hn_onnx_close(n->onnx);
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
