/* client/cmd_compile.c -- `hone compile`: a network as one C library (library.h), from the records
 * of the store, and from automatic schedules where it has none; no daemon.
 *
 * Kernels are made side by side, one thread for each core, by runs of hone-build.  model.json says
 * where each comes from.  Ctrl-C ends it between two kernels; then nothing was written to DIR.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jw.h"
#include "client/crew.h"
#include "client/interrupt.h"
#include "client/kernel.h"
#include "client/library.h"
#include "client/network.h"
#include "client/place.h"
#include "graph/library/assemble.h"

struct made {
	struct hn_kernel kernel;
	struct hn_library_object object;
	const char *symbol;
	int rc;
	struct hn_err err;
};

struct compile {
	const struct hn_opts *o;
	struct hn_network net;
	char dir[64]; /* temporary */
	struct made *made; /* [n_kernel] */
	bool progress; /* somebody looks on */
	atomic_uint n_made;
};

/* -- kernels ------------------------------------------------------------------------------ */

static int read_object(struct compile *c, struct made *m, struct hn_arena *a)
{
	char path[256];
	struct hn_buf b;
	int rc;

	snprintf(path, sizeof(path), "%s/%.100s.o", c->dir, m->symbol);
	hn_buf_init(&b);
	rc = hn_file_read(path, (size_t)256 << 20, &b, &m->err);
	if (rc == 0) {
		void *bytes = hn_arena_alloc(a, b.n);

		memcpy(bytes, b.s, b.n);
		m->object = (struct hn_library_object){ bytes, b.n, NULL };
	}
	hn_buf_fini(&b);
	unlink(path);
	return rc;
}

/* On one line, which the next one replaces. */
static void say_progress(struct compile *c)
{
	if (c->progress) {
		fprintf(stderr, "\rhone: %u of %u kernels", ++c->n_made, c->net.net.n_kernel);
	}
}

static bool make_one(void *ctx, uint32_t i, struct hn_arena *a)
{
	struct compile *c = ctx;
	const struct hn_gkernel *kernel = &c->net.net.kernel[i];
	struct hn_opts one = hn_network_task(c->o, &c->net.net.task[kernel->task]);
	struct made *m = &c->made[i];

	m->rc = hn_interrupted() ? hn_fail(&m->err, HONE_E_CANCELLED, "stopped") : 0;
	m->rc = m->rc ? m->rc : hn_kernel_choose(&one, a, &m->kernel, &m->err);
	m->kernel.strides = kernel->strides;
	m->rc = m->rc ? m->rc
		      : hn_kernel_make("compile", &one, c->dir, m->symbol, a, &m->kernel, &m->err);
	m->rc = m->rc ? m->rc : read_object(c, m, a);
	if (m->rc != 0) {
		hn_err_within(&m->err, "%s", kernel->name);
	}
	say_progress(c);
	return m->rc == 0;
}

static void name_kernels(struct compile *c)
{
	for (uint32_t i = 0; i < c->net.net.n_kernel; i++) {
		c->made[i].symbol = hn_arena_printf(&c->net.arena, "%.40s_%.56s", c->net.name,
						    c->net.net.kernel[i].name);
	}
}

/* All of them; the error of the first that failed. */
static int make_kernels(struct compile *c, struct hn_crew *crew, struct hn_err *err)
{
	name_kernels(c);
	hn_crew_run(crew, c->net.net.n_kernel, make_one, c);
	if (c->progress) {
		fputs("\r\033[K", stderr);
	}
	for (uint32_t i = 0; i < c->net.net.n_kernel; i++) {
		if (c->made[i].rc != 0) {
			*err = c->made[i].err;
			return c->made[i].rc;
		}
	}
	return 0;
}

/* -- the library -------------------------------------------------------------------------- */

static int assemble(struct compile *c, struct hn_assembly *ret, struct hn_err *err)
{
	uint32_t n = c->net.net.n_kernel;
	struct hn_kernel_facts *facts = HN_NEW_ARRAY(&c->net.arena, struct hn_kernel_facts, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_kernel *k = &c->made[i].kernel;

		facts[i] = (struct hn_kernel_facts){ c->made[i].symbol, k->workspace_bytes,
						     k->worker_bytes, k->prepared_bytes, k->init };
	}
	return hn_assemble(&c->net.net, c->net.name, facts, &c->net.arena, ret, err);
}

static void say(const char *path)
{
	printf("%s\n", path);
}

static void say_nothing(const char *path)
{
	(void)path;
}

static void put_tasks(const struct compile *c, struct hn_jw *w)
{
	hn_jw_list(w, "kernels");
	for (uint32_t i = 0; i < c->net.net.n_kernel; i++) {
		const struct hn_gkernel *of = &c->net.net.kernel[i];
		const struct hn_kernel *k = &c->made[i].kernel;

		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", of->name);
		hn_jw_str(w, "symbol", c->made[i].symbol);
		hn_jw_str(w, "key", k->key);
		hn_jw_str(w, "strides", of->strides);
		hn_jw_uint(w, "steps_in_network", of->n_step);
		hn_jw_double(w, "flops", c->net.net.task[of->task].flops);
		hn_jw_str(w, "origin", k->record != 0 ? "record" : "automatic");
		hn_jw_int(w, "record", k->record);
		hn_jw_double(w, "median_ns", k->median_ns > 0 ? k->median_ns : NAN);
		hn_jw_double(w, "predicted_ns", k->predicted_ns > 0 ? k->predicted_ns : NAN);
		/* on how many inputs depends on the time there was, and the manifest on nothing such */
		hn_jw_str(w, "not_run", k->check.why);
		hn_jw_json(w, "steps", k->steps);
		hn_jw_json(w, "dag", k->dag);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static int write_manifest(const struct compile *c, const struct hn_assembly *made,
			  struct hn_err *err)
{
	const struct hn_model *m = &made->model;
	char *path = hn_arena_printf((struct hn_arena *)&c->net.arena, "%s/" HN_PLACE_FILE ".json",
				     c->o->out);
	struct hn_buf b;
	struct hn_jw w;
	int rc;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", HN_PLACE_FORMAT);
	hn_jw_str(&w, "name", m->name);
	hn_jw_str(&w, "target", c->net.net.n_task > 0 ? c->made[0].kernel.target_line : "");
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_uint(&w, "n_steps", m->n_step);
	hn_jw_uint(&w, "arena_bytes", m->arena_bytes);
	hn_jw_uint(&w, "arena_bound_bytes", made->arena_bound);
	put_tasks(c, &w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	rc = hn_file_replace(path, b.s, b.n, err);
	if (rc == 0) {
		fputs(c->o->json ? b.s : path, stdout);
		fputs(c->o->json ? "" : "\n", stdout);
	}
	hn_buf_fini(&b);
	return rc;
}

/* The command that would make it faster, as the user would type it. */
static void say_hint(const struct hn_opts *o)
{
	fprintf(stderr, "hone: `hone tune %s", o->arg);
	for (uint32_t i = 0; i < o->dim.n; i++) {
		fprintf(stderr, " --dim %s", o->dim.word[i]);
	}
	fprintf(stderr, "%s%s", o->dtype != NULL ? " --dtype " : "",
		o->dtype != NULL ? o->dtype : "");
	fprintf(stderr, "%s%s%s` searches for faster ones\n", o->bitwise ? " --bitwise" : "",
		o->forbid != NULL ? " --forbid " : "", o->forbid != NULL ? o->forbid : "");
}

/* "57 steps of 32 kernels: 20 records, 12 automatic; ..." */
static void say_summary(const struct compile *c, const struct hn_assembly *made)
{
	uint32_t stored = 0, n = c->net.net.n_kernel;

	for (uint32_t i = 0; i < n; i++) {
		stored += c->made[i].kernel.record != 0;
	}
	fprintf(stderr,
		"hone: %u steps of %u kernels, %u from records, %u scheduled automatically; %.1f MiB "
		"between steps (no plan needs less than %.1f)\n",
		c->net.net.n_step, n, stored, n - stored,
		(double)made->model.arena_bytes / (1 << 20),
		(double)made->arena_bound / (1 << 20));
	if (stored < n && c->o->target == NULL && !c->o->automatic) {
		say_hint(c->o);
	}
}

static int write_library(struct compile *c, struct hn_err *err)
{
	uint32_t n = c->net.net.n_kernel;
	struct hn_library_object *object = HN_NEW_ARRAY(&c->net.arena, struct hn_library_object, n);
	char note[HN_LIBRARY_NOTE] = "";
	struct hn_assembly made;
	struct hn_library l;
	int rc = assemble(c, &made, err);

	for (uint32_t i = 0; i < n; i++) {
		object[i] = c->made[i].object;
		object[i].reads = c->made[i].kernel.reads;
	}
	l = (struct hn_library){ .file = HN_PLACE_FILE,
				 .target_line = c->made[0].kernel.target_line,
				 .model = &made.model,
				 .n_weight = made.n_weight,
				 .weight = made.weight,
				 .object = object,
				 .embed = c->o->embed };
	rc = rc ? rc
		: hn_library_write("compile", &l, c->o->out, c->o->json ? say_nothing : say, note,
				   err);
	rc = rc ? rc : write_manifest(c, &made, err);
	if (rc == 0) {
		say_summary(c, &made);
		if (*note != '\0') {
			fprintf(stderr, "hone: %s\n", note);
		}
	}
	return rc;
}

static int compile(struct compile *c, struct hn_err *err)
{
	struct hn_crew crew;
	int rc;

	if (c->net.net.n_task == 0) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "%s: nothing to compute: all outputs are constant",
			       c->o->arg);
	}
	c->made = HN_NEW_ARRAY(&c->net.arena, struct made, c->net.net.n_kernel);
	hn_crew_open(&crew);
	rc = make_kernels(c, &crew, err);
	rc = rc ? rc : write_library(c, err);
	hn_crew_close(&crew);
	return rc;
}

int cmd_compile(const struct hn_opts *o, struct hn_err *err)
{
	struct compile c = { .o = o, .dir = "/tmp/hone-compile-XXXXXX" };
	int rc;

	if (o->arg == NULL || o->out == NULL) {
		return hn_fail(err, HONE_E_INVALID, "compile: give %s%s%s",
			       o->arg == NULL ? "a FILE.onnx" : "",
			       o->arg == NULL && o->out == NULL ? " and " : "",
			       o->out == NULL ? "-o DIR, where the library shall go" : "");
	}
	c.progress = isatty(STDERR_FILENO) == 1;
	rc = hn_network_open(o, &c.net, err);
	rc = rc ? rc : hn_place_check(o->out, o->force, err);
	if (rc == 0 && mkdtemp(c.dir) == NULL) {
		rc = hn_fail(err, HONE_E_IO, "%s: no temporary folder", c.dir);
	} else if (rc == 0) {
		hn_interrupt_catch();
		rc = compile(&c, err);
		hn_file_remove_tree(c.dir);
	}
	if (rc != 0 && hn_interrupted()) { /* whatever it was that the signal broke */
		rc = hn_fail(err, HONE_E_CANCELLED, "stopped; no library was written");
	}
	hn_network_close(&c.net);
	return rc;
}
