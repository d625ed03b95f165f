/* client/cmd_compile.c -- `hone compile`: a network as one C library (library.h), from the records
 * of the store, and from automatic schedules where it has none; no daemon.
 *
 * Kernels are made side by side, one thread for each core, by runs of hone-build.  model.json says
 * where each comes from.  Ctrl-C ends it between two kernels; then nothing was written to DIR.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/jw.h"
#include "client/interrupt.h"
#include "client/netmake.h"
#include "client/netregions.h"
#include "client/place.h"

#define MODEL_MAX ((size_t)4 << 30)

struct compile {
	const struct hn_opts *o;
	struct hn_network net;
	char dir[64]; /* temporary */
	struct hn_netmake make;
};

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
	for (uint32_t i = 0; i < c->make.n_kernel; i++) {
		const struct hn_netmade *made = &c->make.made[i];
		const struct hn_gkernel *of = made->of;
		const struct hn_kernel *k = &made->kernel;

		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", of->name);
		hn_jw_str(w, "symbol", made->symbol);
		hn_jw_str(w, "key", k->key);
		hn_jw_str(w, "strides", of->strides);
		hn_jw_uint(w, "steps_in_network", of->n_step);
		hn_jw_double(w, "flops", made->task->flops);
		hn_jw_str(w, "origin", k->record != 0 ? "record" : "automatic");
		hn_jw_int(w, "record", k->record);
		hn_jw_double(w, "median_ns", k->median_ns > 0 ? k->median_ns : NAN);
		hn_jw_double(w, "predicted_ns", k->predicted_ns > 0 ? k->predicted_ns : NAN);
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
	char *shared = hn_arena_printf((struct hn_arena *)&c->net.arena,
				       "%s/lib" HN_PLACE_FILE ".so", c->o->out);
	char of[HN_SHA256_HEX], library[HN_SHA256_HEX];
	struct hn_err ignored;
	struct hn_buf b;
	struct hn_jw w;
	int rc = hn_file_sha256(c->o->arg, MODEL_MAX, of, err);

	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", HN_PLACE_FORMAT);
	hn_jw_str(&w, "name", m->name);
	hn_jw_str(&w, "target", c->make.n_kernel > 0 ? c->make.made[0].kernel.target_line : "");
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_str(&w, "onnx", of);
	hn_jw_str(&w, "library", hn_file_sha256(shared, MODEL_MAX, library, &ignored) == 0 ? library : NULL);
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
	uint32_t stored = 0, n = c->make.n_kernel;

	for (uint32_t i = 0; i < n; i++) {
		stored += c->make.made[i].kernel.record != 0;
	}
	fprintf(stderr,
		"hone: %u steps of %u kernels, %u from records, %u scheduled automatically; %.1f MiB "
		"between steps (no plan needs less than %.1f)\n",
		made->model.n_step, n, stored, n - stored,
		(double)made->model.arena_bytes / (1 << 20),
		(double)made->arena_bound / (1 << 20));
	if (stored < n && c->o->target == NULL && !c->o->automatic) {
		say_hint(c->o);
	}
}

static int write_library(struct compile *c, struct hn_err *err)
{
	char note[HN_LIBRARY_NOTE] = "";
	struct hn_assembly made;
	int rc = hn_netmake_library(&c->make, c->o->out, c->o->json ? say_nothing : say, note, &made,
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
	c->make = (struct hn_netmake){ .verb = "compile",
				       .o = c->o,
				       .net = &c->net,
				       .dir = c->dir,
				       .choice = &c->net.choice,
				       .progress = isatty(STDERR_FILENO) == 1 };
	hn_crew_open(&crew);
	rc = hn_netmake_kernels(&c->make, &crew, err);
	rc = rc ? rc : write_library(c, err);
	hn_crew_close(&crew);
	return rc;
}

static int compile_whole(const struct hn_opts *o, struct hn_err *err)
{
	struct compile c = { .o = o, .dir = "/tmp/hone-compile-XXXXXX" };
	int rc;

	rc = hn_network_open_ranges(o, &c.net, err);
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

int cmd_compile(const struct hn_opts *o, struct hn_err *err)
{
	if (o->arg == NULL || o->out == NULL) {
		return hn_fail(err, HONE_E_INVALID, "compile: give %s%s%s",
			       o->arg == NULL ? "a FILE.onnx" : "",
			       o->arg == NULL && o->out == NULL ? " and " : "",
			       o->out == NULL ? "-o DIR, where the library shall go" : "");
	}
	return o->regions ? hn_netregions_compile(o, compile_whole, err) : compile_whole(o, err);
}
