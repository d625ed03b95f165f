/* lower/build/build_main.c -- hone-build: without arguments a worker (build_worker.c); with
 * --dag it makes one object and header, and what they are to answer (check.h), prints the views
 * that are asked for, and ends; with --model it makes the object of a compiled network. */
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "lower/build/build.h"
#include "lower/build/files.h"
#include "proto/addr.h"

#define MAX_TEXT_BYTES (64u << 20)

struct command {
	const char *dag, *steps, *verify, *poly, *npu, *fuse, *model, *weights, *modules;
	struct hn_build_files files;
	bool want_tree, want_poly, want_ir, want_asm;
	struct hn_build_request request;
};

static const char usage[] =
	"usage: hone-build --dag FILE (--steps FILE|- | --naive) [--target native] "
	"[--symbol NAME]\n"
	"                  [-o FILE]  (an object; of a GPU its module, docs/device.md)\n"
	"                  [--form device|opencl|cuda|ptx]  (of a GPU: what is made of it)\n"
	"                  [--c FILE.c] [--ir FILE.ll] [--asm FILE.s]  (the same as text)\n"
	"                  [--header FILE.h] [--room N,N,N,N] [--facts FILE.json] [--check FILE] [--no-prove]\n"
	"                  [--read-soon]  (the results stay in caches: another kernel reads them)\n"
	"                  [--strides ARG:STRIDE,..;..]  (arguments that are parts of larger tensors)\n"
	"                  [--emit-tree] [--emit-poly] [--emit-ir] [--emit-asm]\n"
	"       hone-build --dag FILE (--steps FILE|- | --naive) --poly PART  (shows the "
	"polyhedral view)\n"
	"       hone-build --dag FILE --naive --npu 'PROFILE flags|barriers|tuned SLOTS'  (a program for the "
	"NPU)\n"
	"       hone-build --verify FILE [--operations N]  (a line {\"dag\", \"steps\"} a history: proves them)\n"
	"       hone-build --fuse FILE    (ops that share loops, by isl's scheduler)\n"
	"       hone-build --model FILE [--target native] [--weights FILE] [--modules DIR] -o FILE\n"
	"                  (the table of a compiled network, with its weights or without, and with the\n"
	"                  modules SYMBOL.module of a GPU's kernels)\n"
	"       hone-build                (worker: frames on descriptors 0 and 1)\n";

enum {
	OPT_DAG = 256,
	OPT_STEPS,
	OPT_TARGET,
	OPT_SYMBOL,
	OPT_HEADER,
	OPT_C,
	OPT_IR_FILE,
	OPT_ASM_FILE,
	OPT_FACTS,
	OPT_ROOM,
	OPT_CHECK,
	OPT_STRIDES,
	OPT_TREE,
	OPT_POLY,
	OPT_IR,
	OPT_ASM,
	OPT_NO_PROVE,
	OPT_FORM,
	OPT_READ_SOON,
	OPT_NAIVE,
	OPT_PLANT,
	OPT_VERIFY,
	OPT_NPU,
	OPT_FUSE,
	OPT_MODEL,
	OPT_WEIGHTS,
	OPT_MODULES,
	OPT_OPERATIONS,
	OPT_POLY_PART,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "dag", required_argument, NULL, OPT_DAG },
	{ "steps", required_argument, NULL, OPT_STEPS },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "symbol", required_argument, NULL, OPT_SYMBOL },
	{ "header", required_argument, NULL, OPT_HEADER },
	{ "c", required_argument, NULL, OPT_C },
	{ "ir", required_argument, NULL, OPT_IR_FILE },
	{ "asm", required_argument, NULL, OPT_ASM_FILE },
	{ "room", required_argument, NULL, OPT_ROOM },
	{ "facts", required_argument, NULL, OPT_FACTS },
	{ "check", required_argument, NULL, OPT_CHECK },
	{ "strides", required_argument, NULL, OPT_STRIDES },
	{ "emit-tree", no_argument, NULL, OPT_TREE },
	{ "emit-poly", no_argument, NULL, OPT_POLY },
	{ "emit-ir", no_argument, NULL, OPT_IR },
	{ "emit-asm", no_argument, NULL, OPT_ASM },
	{ "no-prove", no_argument, NULL, OPT_NO_PROVE },
	{ "form", required_argument, NULL, OPT_FORM },
	{ "read-soon", no_argument, NULL, OPT_READ_SOON },
	{ "naive", no_argument, NULL, OPT_NAIVE },
	{ "plant", required_argument, NULL, OPT_PLANT },
	{ "verify", required_argument, NULL, OPT_VERIFY },
	{ "poly", required_argument, NULL, OPT_POLY_PART },
	{ "npu", required_argument, NULL, OPT_NPU },
	{ "fuse", required_argument, NULL, OPT_FUSE },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "weights", required_argument, NULL, OPT_WEIGHTS },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "operations", required_argument, NULL, OPT_OPERATIONS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* "WORKSPACE,WORKER,PREPARED,INIT" */
static bool read_room(const char *text, struct hn_build_room *ret)
{
	int init, end = 0;

	ret->wanted = sscanf(text, "%llu,%llu,%llu,%d%n", &ret->shared_bytes, &ret->worker_bytes,
			     &ret->prepared_bytes, &init, &end) == 4 &&
		      text[end] == '\0';
	ret->init = ret->wanted && init != 0;
	return ret->wanted;
}

/* 0, 1 = help was asked for, 2 = wrong usage. */
static int read_command(int argc, char **argv, struct command *c)
{
	struct hn_build_request *r = &c->request;
	int opt;

	*r = (struct hn_build_request){
		.target = "native", .symbol = "hone_kernel", .plant = "", .prove = true
	};
	while ((opt = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_DAG:
			c->dag = optarg;
			break;
		case OPT_STEPS:
			c->steps = optarg;
			break;
		case OPT_TARGET:
			r->target = optarg;
			break;
		case OPT_SYMBOL:
			r->symbol = optarg;
			break;
		case OPT_HEADER:
			c->files.header = optarg;
			r->options.describe = true;
			break;
		case OPT_C:
			c->files.source = optarg;
			break;
		case OPT_IR_FILE:
			c->files.ir = optarg;
			r->options.want_ir = true;
			break;
		case OPT_ASM_FILE:
			c->files.assembly = optarg;
			r->options.want_asm = true;
			break;
		case OPT_ROOM:
			if (!read_room(optarg, &c->files.room)) {
				return 2;
			}
			break;
		case OPT_FACTS:
			c->files.facts = optarg;
			break;
		case OPT_CHECK:
			c->files.check = optarg;
			break;
		case OPT_STRIDES:
			r->strides = optarg;
			break;
		case 'o':
			c->files.object = optarg;
			break;
		case OPT_TREE:
			c->want_tree = true;
			break;
		case OPT_POLY:
			c->want_poly = true;
			break;
		case OPT_IR:
			c->want_ir = true;
			r->options.want_ir = true;
			break;
		case OPT_ASM:
			c->want_asm = true;
			r->options.want_asm = true;
			break;
		case OPT_NO_PROVE:
			r->prove = false;
			break;
		case OPT_FORM:
			r->options.form = optarg;
			break;
		case OPT_READ_SOON:
			r->options.read_soon = true;
			break;
		case OPT_NAIVE:
			r->naive = true;
			break;
		case OPT_PLANT:
			r->plant = optarg;
			break;
		case OPT_VERIFY:
			c->verify = optarg;
			break;
		case OPT_POLY_PART:
			c->poly = optarg;
			break;
		case OPT_NPU:
			c->npu = optarg;
			break;
		case OPT_FUSE:
			c->fuse = optarg;
			break;
		case OPT_MODEL:
			c->model = optarg;
			break;
		case OPT_WEIGHTS:
			c->weights = optarg;
			break;
		case OPT_MODULES:
			c->modules = optarg;
			break;
		case OPT_OPERATIONS:
			r->operations = strtoul(optarg, NULL, 10);
			break;
		case OPT_HELP:
			return 1;
		default:
			return 2;
		}
	}
	if (c->model) {
		return optind < argc || !c->files.object ? 2 : 0;
	}
	if (c->verify || c->fuse) {
		return optind < argc ? 2 : 0;
	}
	return optind < argc || !c->dag || (!c->steps && !r->naive) ? 2 : 0;
}

static int print_views(const struct command *c, const struct hn_looptree *tree,
		       struct hn_err *err)
{
	struct hn_buf text;
	int rc = 0;

	hn_buf_init(&text);
	if (c->want_tree) {
		hn_looptree_print(tree, &text);
	}
	if (c->want_poly) {
		rc = hn_poly_print(tree, &text, err);
	}
	if (text.n > 0) {
		fputs(text.s, stdout);
	}
	hn_buf_fini(&text);
	return rc;
}

static int write_results(const struct command *c, const struct hn_build_answer *ans,
			 struct hn_arena *a, struct hn_err *err)
{
	struct hn_build_files files = c->files;
	int rc;

	files.target = c->request.target;
	rc = hn_build_write(&files, c->request.symbol, ans, a, err);

	rc = rc ? rc : print_views(c, ans->tree, err);
	if (rc == 0 && c->want_ir) {
		fputs(ans->artefact.ir, stdout);
	}
	if (rc == 0 && c->want_asm) {
		fputs(ans->artefact.assembly, stdout);
	}
	return rc;
}

static int build(struct hn_builder *b, const struct command *c, struct hn_arena *a,
		 struct hn_build_answer *ans)
{
	hn_build(b, &c->request, a, ans);
	return ans->verdict == HN_VERDICT_OK ? write_results(c, ans, a, &ans->why) : 1;
}

static int show(const struct command *c, struct hn_arena *a, struct hn_err *err)
{
	struct hn_buf text;

	hn_buf_init(&text);
	int rc = c->npu ? hn_build_npu(&c->request, c->npu, a, &text, err)
			: hn_build_show(&c->request, c->poly, a, &text, err);

	if (rc == 0) {
		fputs(text.s, stdout);
	}
	hn_buf_fini(&text);
	return rc;
}

static int one_shot(struct hn_builder *b, struct command *c)
{
	struct hn_build_answer ans = { .verdict = HN_VERDICT_BUILD_FAIL };
	struct hn_buf dag, steps;
	struct hn_arena a;

	hn_buf_init(&dag);
	hn_buf_init(&steps);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(c->dag, MAX_TEXT_BYTES, &dag, &ans.why);

	if (rc == 0 && c->steps) {
		rc = hn_file_read(c->steps, MAX_TEXT_BYTES, &steps, &ans.why);
	}
	c->request.dag = dag.s;
	c->request.dag_bytes = dag.n;
	c->request.steps = steps.s;
	c->request.steps_bytes = steps.n;
	c->request.any_form = c->files.header == NULL && c->files.check == NULL && c->files.facts == NULL &&
			      c->files.source == NULL;
	if (rc == 0) {
		rc = c->poly || c->npu ? show(c, &a, &ans.why) : build(b, c, &a, &ans);
	}
	if (rc) {
		bool blamed = ans.verdict != HN_VERDICT_OK &&
			      ans.verdict != HN_VERDICT_BUILD_FAIL;

		fprintf(stderr, "hone-build: %s%s%s\n",
			blamed ? hn_verdict_name(ans.verdict) : "", blamed ? ": " : "",
			ans.why.msg);
	}
	hn_buf_fini(&dag);
	hn_buf_fini(&steps);
	hn_arena_fini(&a);
	return rc ? (ans.why.code ? 10 + ans.why.code : 1) : 0;
}

/* What needs no computation and history, and fails with one line. */
static int answer(const struct command *c)
{
	const struct hn_build_model model = { c->model, c->request.target, c->weights, c->modules,
					      c->files.object };
	struct hn_err err = { 0 };
	int rc = c->verify  ? hn_build_verify(c->verify, c->request.operations, &err)
		 : c->model ? hn_build_model(&model, &err)
			    : hn_build_fuse(c->fuse, &err);

	if (rc) {
		fprintf(stderr, "hone-build: %s\n", err.msg);
	}
	return rc ? 10 + err.code : 0;
}

/* hone-board lies beside this program; false where nobody knows where that is, or where the
 * store is. */
static bool find_place(struct hn_buf *board, struct hn_buf *home, struct hn_selftest_place *ret)
{
	struct hn_err err = { 0 };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self);

	while (n > 0 && self[n - 1] != '/') {
		n--;
	}
	if (n <= 0 || hn_addr_home(NULL, home, &err) != 0) {
		return false;
	}
	hn_buf_printf(board, "%.*shone-board", (int)n, self);
	*ret = (struct hn_selftest_place){ .board = board->s, .home = home->s };
	return !board->failed && !home->failed;
}

int main(int argc, char **argv)
{
	const char *hooks = getenv("HONE_TEST_HOOKS");
	struct hn_builder b = { .hooks = hooks && strcmp(hooks, "1") == 0 };
	struct hn_selftest_place place;
	struct hn_buf board, home;
	struct command c = { 0 };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	hn_buf_init(&board);
	hn_buf_init(&home);
	b.selftest = find_place(&board, &home, &place) ? &place : NULL;
	if (argc < 2) {
		rc = hn_build_serve(&b);
	} else {
		rc = read_command(argc, argv, &c);
		if (c.files.check && b.hooks && getenv("HONE_TEST_PLANT")) {
			c.request.plant = getenv("HONE_TEST_PLANT");
		}
		if (rc) {
			fputs(usage, rc == 1 ? stdout : stderr);
			return rc == 1 ? 0 : 2;
		}
		rc = c.verify || c.fuse || c.model ? answer(&c) : one_shot(&b, &c);
	}
	hn_builder_fini(&b);
	hn_buf_fini(&board);
	hn_buf_fini(&home);
	return rc;
}
