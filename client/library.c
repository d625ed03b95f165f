/* client/library.c -- see library.h. */
#include "client/library.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/seal.h"
#include "client/builder.h"
#include "client/interrupt.h"
#include "client/linker.h"
#include "client/packing.h"
#include "client/runtime.h"
#include "client/workdir.h"
#include "graph/library/header.h"
#include "graph/library/settle.h"
#include "proto/gpu_table.h"

#define PARTS "out.parts"
#define LIST "objects.txt"
#define EXPORTS "exports.map"
#define MODULES "modules"
#define MOST_DIR (PATH_MAX - 400)

struct making {
	const char *verb, *dir, *file;
	const struct hn_library *l;
	const char *line; /* the target of what is linked */
	const char *runtime; /* its object */
	struct hn_target target;
	struct hn_model model; /* settled */
	struct hn_weights weights;
	struct hn_packing packing; /* what weights point to */
	struct hn_linker linker;
	bool has_runtime; /* the run time is there as an object */
	bool joined, shared;
	void (*wrote)(const char *path);
	struct hn_arena *a;
	const char *work; /* temporary folder; its folder PARTS has what is linked, and out.* is what
			   * comes of it */
};

/* "WORK/name" */
static char *in_work(const struct making *x, const char *name)
{
	return hn_arena_printf(x->a, "%s/%s", x->work, name);
}

static int write_text(const struct making *x, const char *name, const struct hn_buf *b,
		      struct hn_err *err)
{
	return b->failed ? hn_fail(err, HONE_E_NOMEM, "no memory for %s", name)
			 : hn_file_replace(in_work(x, name), b->s, b->n, err);
}

static int move(const char *from, const char *to, struct hn_err *err)
{
	return rename(from, to) == 0
		       ? 0
		       : hn_fail(err, HONE_E_IO, "%s: %s", to, strerror(errno));
}

/* What the network shows, as a version script. */
static void put_exports(const struct making *x, struct hn_buf *b)
{
	static const struct {
		bool gpu; /* of a network for a GPU alone: linkers want all that is told */
		const char *word;
	} rows[] = {
#define ENTRY(word, function, letters, returns, takes) { false, #word },
#include "proto/model_entries.def"
#undef ENTRY
#define ENTRY(word, function, letters, returns, takes) { true, #word },
#include "proto/gpu_entries.def"
#undef ENTRY
	};

	hn_buf_puts(b, "{\n\tglobal:\n");
	for (size_t i = 0; i < HN_COUNT_OF(rows) && (x->l->modules || !rows[i].gpu); i++) {
		hn_buf_printf(b, "\t\t%s_%s;\n", x->model.name, rows[i].word);
	}
	if (x->l->embed) {
		hn_buf_printf(b, "\t\t%s_weights;\n", x->model.name);
	}
	hn_buf_puts(b, "\tlocal:\n\t\t*;\n};\n");
}

static void put_list(const struct making *x, struct hn_buf *b)
{
	hn_buf_printf(b, "%s.o\n", x->model.name);
	for (uint32_t i = 0; i < x->model.n_kernel && !x->l->modules; i++) {
		hn_buf_printf(b, "%s.o\n", x->model.kernel[i].symbol);
	}
	if (x->has_runtime) {
		hn_buf_printf(b, "%s\n", x->runtime);
	}
}

static int write_with(const struct making *x, const char *name,
		      void (*put)(const struct making *x, struct hn_buf *b),
		      struct hn_err *err)
{
	struct hn_buf b;

	hn_buf_init(&b);
	put(x, &b);
	int rc = write_text(x, name, &b, err);

	hn_buf_fini(&b);
	return rc;
}

static void put_model(const struct making *x, struct hn_buf *b)
{
	hn_model_write(&x->model, b);
}

static void put_header(const struct making *x, struct hn_buf *b)
{
	hn_model_header(&x->model, x->file, x->l->embed, x->l->modules, b);
}

/* The object with the table, NAME.o. */
static int build_entry(const struct making *x, struct hn_err *err)
{
	char *weights[] = { "--weights", in_work(x, "out.weights") };
	char *modules[] = { "--modules", in_work(x, MODULES) };
	char *argv[12] = { "hone-build",
			 "--model",
			 in_work(x, "model.json"),
			 "--target",
			 (char *)(uintptr_t)x->line,
			 "-o",
			 in_work(x, hn_arena_printf(x->a, PARTS "/%s.o", x->model.name)) };
	int n = 7;

	if (x->l->embed) {
		argv[n++] = weights[0];
		argv[n++] = weights[1];
	}
	if (x->l->modules) {
		argv[n++] = modules[0];
		argv[n++] = modules[1];
	}
	int rc = write_with(x, "model.json", put_model, err);

	return rc ? rc : hn_builder_run(x->verb, argv, -1, err);
}

static int write_kernels(const struct making *x, struct hn_err *err)
{
	int rc = x->l->modules ? hn_file_mkdirs(in_work(x, MODULES), 0777, err) : 0;

	for (uint32_t i = 0; i < x->model.n_kernel && rc == 0; i++) {
		char *name = hn_arena_printf(x->a, x->l->modules ? MODULES "/%s.module" : PARTS "/%s.o",
					     x->model.kernel[i].symbol);

		rc = hn_file_replace(in_work(x, name), x->l->object[i].bytes,
				     x->l->object[i].n_bytes, err);
	}
	return rc;
}

static enum hn_runtime_with goes_with(const struct making *x)
{
	return x->l->modules ? HN_RUNTIME_GPU : HN_RUNTIME_NETWORK;
}

static void say_nothing(const char *path)
{
	(void)path;
}

/* The run time: an object of ours, or made from the source where a compiler is there. */
static int get_runtime(struct making *x, struct hn_err *err)
{
	const struct hn_linking source = { .dir = x->work,
					   .out = PARTS "/hone_model.o",
					   .in = "hone_model.c" };
	int rc = hn_runtime_write(x->work, &x->target, goes_with(x), say_nothing, err);

	x->has_runtime = !hn_runtime_is_source(&x->target);
	if (rc == 0 && x->has_runtime) {
		rc = move(in_work(x, x->runtime),
			  in_work(x, hn_arena_printf(x->a, PARTS "/%s", x->runtime)), err);
	} else if (rc == 0 && hn_linker_can(&x->linker, HN_LINK_COMPILE)) {
		rc = hn_linker_run(&x->linker, HN_LINK_COMPILE, &source, x->verb, err);
		x->has_runtime = rc == 0;
	}
	return rc;
}

static struct hn_linking joining(const struct making *x, const char *out)
{
	return (struct hn_linking){ .dir = in_work(x, PARTS),
				    .out = out,
				    .in = "@" LIST };
}

static struct hn_linking sharing(const struct making *x, const char *out)
{
	return (struct hn_linking){ .dir = in_work(x, PARTS),
				    .out = out,
				    .in = "@" LIST,
				    .name = hn_arena_printf(x->a, "lib%s.so", x->file),
				    .exports = EXPORTS };
}

static int link_all(struct making *x, struct hn_err *err)
{
	const struct hn_linking join = joining(x, "../out.o"),
				share = sharing(x, "../out.so");
	int rc = write_with(x, PARTS "/" LIST, put_list, err);

	rc = rc ? rc : write_with(x, PARTS "/" EXPORTS, put_exports, err);
	x->joined = hn_linker_can(&x->linker, HN_LINK_JOIN);
	x->shared = hn_linker_can(&x->linker, HN_LINK_SHARE) && x->has_runtime;
	if (rc == 0 && x->joined) {
		rc = hn_linker_run(&x->linker, HN_LINK_JOIN, &join, x->verb, err);
	}
	if (rc == 0 && x->shared) {
		rc = hn_linker_run(&x->linker, HN_LINK_SHARE, &share, x->verb, err);
		rc = rc ? rc : hn_seal_file(in_work(x, "out.so"), err);
	}
	return rc;
}

/* -- without a linker ----------------------------------------------------------------- */

static void put_how(const struct making *x, struct hn_buf *b)
{
	char *o = hn_arena_printf(x->a, "../%s.o", x->file);
	char *so = hn_arena_printf(x->a, "../lib%s.so", x->file);
	const struct hn_linking join = joining(x, o), share = sharing(x, so);

	hn_buf_printf(b,
		      "These are the parts of %s.o and lib%s.so: hone found no linker to "
		      "join them\n"
		      "(ld, ld.lld, cc or gcc in PATH).  In this folder,\n\n    ",
		      x->file, x->file);
	hn_linker_words(&x->linker, HN_LINK_JOIN, &join, b);
	hn_buf_puts(b, "\n    ");
	hn_linker_words(&x->linker, HN_LINK_SHARE, &share, b);
	hn_buf_printf(b,
		      "\n\nmake them.  A program may also be linked with the parts:\n\n"
		      "    cc -I.. program.c @%s ../hone_pool.o -lm -lpthread%s\n",
		      LIST, x->l->modules ? " -ldl" : "");
	if (!x->has_runtime) {
		hn_buf_puts(b, "\nThe list lacks the run time, to be compiled from "
			       "../hone_model.c.\n");
	}
}

/* -- the result ----------------------------------------------------------------------- */

/* The result's files: from "out" and what is behind it to their names.  What is not made now is
 * removed: it would be another network's. */
static int put_in_place(const struct making *x, struct hn_err *err)
{
	const struct {
		const char *front, *behind;
		bool made;
	} files[] = {
		{ "", ".weights", !x->l->embed }, { "", ".o", x->joined },
		{ "lib", ".so", x->shared }, { "", ".parts", !x->joined },
		{ "", ".h", true },
	};
	int rc = 0;

	for (size_t i = 0; i < HN_COUNT_OF(files) && rc == 0; i++) {
		char *from = in_work(x, hn_arena_printf(x->a, "out%s", files[i].behind));
		char *to = hn_arena_printf(x->a, "%s/%s%s%s", x->dir, files[i].front,
					   x->file, files[i].behind);
		struct stat st;

		if (!files[i].made || (lstat(to, &st) == 0 && S_ISDIR(st.st_mode))) {
			hn_file_remove_tree(to);
		}
		if (files[i].made) {
			rc = move(from, to, err);
		}
		if (files[i].made && rc == 0) {
			x->wrote(to);
		}
	}
	return rc;
}

static void say_what_lacks(const struct making *x, char note[HN_LIBRARY_NOTE])
{
	note[0] = '\0';
	if (!x->joined) {
		snprintf(note, HN_LIBRARY_NOTE,
			 "no linker found (ld, ld.lld, cc or gcc): %.120s.parts has the "
			 "objects, and "
			 "LINK.txt there says how to link them",
			 x->file);
	} else if (!x->has_runtime) {
		snprintf(note, HN_LIBRARY_NOTE,
			 "hone_model.c is the run time, to be compiled for %.40s and "
			 "linked to %.100s.o; "
			 "no compiler for it was found, so there is no lib%.100s.so",
			 x->target.isa, x->file, x->file);
	}
}

static int make(struct making *x, char ret_note[HN_LIBRARY_NOTE], struct hn_err *err)
{
	int rc = hn_file_mkdirs(in_work(x, PARTS), 0777, err);

	rc = rc ? rc : write_kernels(x, err);
	rc = rc || x->l->modules
		     ? rc
		     : hn_packing_make(x->verb, x->l, &x->target, x->work, in_work(x, PARTS), x->a,
				       &x->model, &x->weights, &x->packing, err);
	rc = rc ? rc
		: hn_weights_write(&x->weights, in_work(x, "out.weights"),
				   /* lasting= */ !x->l->embed, err);
	rc = rc ? rc : build_entry(x, err);
	rc = rc ? rc : get_runtime(x, err);
	rc = rc ? rc : link_all(x, err);
	rc = rc ? rc : write_with(x, "out.h", put_header, err);
	rc = rc || x->joined ? rc : write_with(x, PARTS "/LINK.txt", put_how, err);
	rc = rc ? rc
		: hn_runtime_write(x->dir, &x->target, goes_with(x), x->wrote, err);
	rc = rc ? rc : put_in_place(x, err);
	if (rc == 0) {
		say_what_lacks(x, ret_note);
	}
	return rc;
}

/* What can be told before anything is written. */
static int prepare(struct making *x, struct hn_err *err)
{
	const struct hn_library *l = x->l;
	int rc;

	x->line = l->modules ? "native" : l->target_line;
	x->runtime = l->modules ? "hone_gpu.o" : "hone_model.o";
	rc = hn_target_parse(x->line, x->a, &x->target, err);

	if (rc == 0 &&
	    (strlen(x->dir) > MOST_DIR || strlen(x->file) > HN_MODEL_MAX_NAME)) {
		rc = hn_fail(err, HONE_E_INVALID, "%s: path too long", x->verb);
	}
	rc = rc ? rc : hn_weights_plan(l->weight, l->n_weight, x->a, &x->weights, err);
	rc = rc ? rc
		: hn_library_settle(l->model, l->weight, l->n_weight, &x->weights, x->a,
				    &x->model, err);
	if (rc != 0) {
		return hn_err_within(err, "%s", x->verb);
	}
	if (l->modules) {
		x->model.prepared_bytes = HONE_GPU_PREPARED_BYTES;
	}
	hn_linker_find(&x->target, &x->linker);
	return hn_file_mkdirs(x->dir, 0777, err);
}

int hn_library_write(const char *verb, const struct hn_library *l, const char *dir,
		     void (*wrote)(const char *path), char ret_note[HN_LIBRARY_NOTE],
		     struct hn_err *err)
{
	struct hn_arena a;
	struct making x = {
		.verb = verb, .dir = dir, .file = l->file, .l = l, .wrote = wrote, .a = &a
	};
	struct hn_workdir work;
	sigset_t before;

	hn_arena_init(&a, 0);
	int rc = prepare(&x, err);

	rc = rc ? rc : hn_workdir_open(dir, &work, err);
	if (rc == 0) {
		hn_interrupt_hold(&before);
		x.work = work.path;
		rc = make(&x, ret_note, err);
		hn_packing_close(&x.packing);
		hn_workdir_close(&work);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	hn_arena_fini(&a);
	return rc;
}
