/* client/replay_gpu.c -- `hone replay` of a GPU's kernel: the module that its boards take, its code
 * as files of its own, and a manifest with the buffers and launches.
 *
 * hone-build prints each form; NVIDIA's assembler makes a cubin of the PTX, where it is in PATH. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "client/replay.h"
#include "proto/gpu_module.h"

#define MODULE_MAX ((size_t)64 << 20)
#define ASSEMBLER "ptxas"
#define ASSEMBLED HN_REPLAY_cubin

bool hn_replay_is_gpu(const struct hn_replay *r)
{
	return (r->kernel[0].target.caps & HN_CAP_MODULES) != 0;
}

static char *in_work(const struct hn_replay *r, struct hn_arena *a, const char *name)
{
	return hn_arena_printf(a, "%s/%s", r->work, name);
}

/* hone-build's module; form NULL: what the target's boards take. */
static int build(const struct hn_replay *r, struct hn_arena *a, const char *form, const char *path,
		 const struct hn_gpu_module **ret, struct hn_err *err)
{
	char *argv[] = { "hone-build",
			 "--dag",
			 in_work(r, a, "dag.json"),
			 "--steps",
			 in_work(r, a, "steps.json"),
			 "--target",
			 (char *)(uintptr_t)r->kernel[0].target_line,
			 "-o",
			 (char *)(uintptr_t)path,
			 form != NULL ? "--form" : NULL,
			 (char *)(uintptr_t)form,
			 NULL };
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = hn_builder_run("replay", argv, -1, err);

	rc = rc ? rc : hn_file_read(path, MODULE_MAX, &b, err);
	rc = rc ? rc : hn_gpu_module_read("hone-build's module", b.s, b.n, a, ret, err);
	hn_buf_fini(&b);
	return rc;
}

static int assemble(const struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	const char *isa = r->kernel[0].target.isa;
	const char *ptx = in_work(r, a, "assembled.ptx"), *out = in_work(r, a, "out.cubin");
	const struct hn_gpu_module *m = NULL;
	char path[PATH_MAX];
	char *argv[] = { ASSEMBLER, hn_arena_printf(a, "-arch=%s", isa), "-o",
			 (char *)(uintptr_t)out, (char *)(uintptr_t)ptx, NULL };
	const struct hn_program p = { .path = path, .argv = argv, .out = -1 };

	if (!hn_linker_find_program(ASSEMBLER, path)) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "replay: --as cubin needs NVIDIA's " ASSEMBLER ", which is not in PATH; "
			       "--as ptx does without, and a driver takes that, too");
	}
	int rc = build(r, a, "ptx", in_work(r, a, "assembled.module"), &m, err);

	rc = rc ? rc : hn_file_replace(ptx, m->code, m->code_bytes, err);
	return rc ? rc : hn_program_run("replay", &p, err);
}

/* Of what NVIDIA's driver takes. */
static int write_launcher(const struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_gpu_module *m = NULL;
	struct hn_buf text;
	int rc = build(r, a, "ptx", in_work(r, a, "form.module"), &m, err);

	if (rc != 0) {
		return rc;
	}
	hn_buf_init(&text);
	hn_replay_launcher(m, r->symbol, &text);
	rc = hn_file_replace(in_work(r, a, "out_launch.c"), text.s, text.n, err);
	hn_buf_fini(&text);
	return rc;
}

static int make_form(const struct hn_replay *r, struct hn_arena *a, size_t f, struct hn_err *err)
{
	const struct hn_replay_form *form = &hn_replay_form[f];
	const struct hn_gpu_module *m = NULL;

	if (f == ASSEMBLED || f == HN_REPLAY_launch) {
		return f == ASSEMBLED ? assemble(r, a, err) : write_launcher(r, a, err);
	}
	int rc = build(r, a, form->name, in_work(r, a, "form.module"), &m, err);

	return rc ? rc
		  : hn_file_replace(in_work(r, a, hn_arena_printf(a, "out%s", form->behind)),
				    m->code, m->code_bytes, err);
}

static void put_three(struct hn_jw *w, const char *name, const int64_t v[3])
{
	hn_jw_list(w, name);
	for (int d = 0; d < 3; d++) {
		hn_jw_int(w, NULL, v[d]);
	}
	hn_jw_end(w);
}

static void put_numbers(struct hn_jw *w, const char *name, const int64_t *v, uint32_t n)
{
	hn_jw_list(w, name);
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_int(w, NULL, v[i]);
	}
	hn_jw_end(w);
}

/* Tensor maps, as proto/gpu_module.h has them. */
static void put_maps(struct hn_jw *w, const struct hn_gpu_module *m)
{
	hn_jw_list(w, "maps");
	for (uint32_t i = 0; i < m->n_map; i++) {
		const struct hn_gpu_map *x = &m->map[i];

		hn_jw_object(w, NULL);
		hn_jw_uint(w, "buffer", x->buffer);
		hn_jw_int(w, "elem", x->elem);
		put_numbers(w, "size", x->size, x->n_dim);
		put_numbers(w, "stride", x->stride, x->n_dim);
		put_numbers(w, "box", x->box, x->n_dim);
		hn_jw_int(w, "swizzle", x->swizzle);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static void put_launches(struct hn_jw *w, const struct hn_gpu_module *m)
{
	hn_jw_list(w, "buffers");
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		hn_jw_object(w, NULL);
		hn_jw_int(w, "bytes", m->buffer[i].bytes);
		hn_jw_int(w, "arg", m->buffer[i].arg);
		hn_jw_end(w);
	}
	hn_jw_end(w);
	if (m->n_map > 0) {
		put_maps(w, m);
	}
	hn_jw_list(w, "launches");
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];

		hn_jw_object(w, NULL);
		hn_jw_str(w, "kernel", k->name);
		put_three(w, "grid", k->grid);
		put_three(w, "block", k->block);
		hn_jw_int(w, "shared", k->dynamic_shared);
		hn_jw_list(w, "buffers");
		for (uint32_t j = 0; j < k->n_arg; j++) {
			hn_jw_uint(w, NULL, k->arg[j]);
		}
		hn_jw_end(w);
		if (k->n_map > 0) { /* behind the buffers */
			hn_jw_list(w, "maps");
			for (uint32_t j = 0; j < k->n_map; j++) {
				hn_jw_uint(w, NULL, k->map[j]);
			}
			hn_jw_end(w);
		}
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

/* Names of the files behind `in`, each a member. */
static void put_files(const struct hn_replay *r, const char *in, struct hn_jw *w)
{
	hn_jw_strf(w, "module", "%s%s.module", in, r->symbol);
	for (size_t f = 0; f < HN_REPLAY_FORMS; f++) {
		if (hn_replay_has(r, f)) {
			hn_jw_strf(w, hn_replay_form[f].member, "%s%s%s", in, r->symbol,
				   hn_replay_form[f].behind);
		}
	}
}

static int write_manifest(const struct hn_replay *r, struct hn_arena *a,
			  const struct hn_gpu_module *m, struct hn_err *err)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", "hone-gpu-kernel/1");
	hn_replay_put_head(r, &w);
	put_files(r, "", &w);
	put_launches(&w, m);
	hn_jw_str(&w, "hone", HONE_VERSION);
	hn_jw_json(&w, "steps", r->kernel[0].steps);
	hn_jw_json(&w, "dag", r->in->json);
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(&b, '\n');
	int rc = hn_file_replace(in_work(r, a, "out.json"), b.s, b.n, err);

	hn_buf_fini(&b);
	return rc;
}

static int put_in_place(const struct hn_replay *r, struct hn_arena *a, const char *behind,
			struct hn_err *err)
{
	const char *from = in_work(r, a, hn_arena_printf(a, "out%s", behind));
	const char *to = hn_arena_printf(a, "%s/%s%s", r->dir, r->symbol, behind);

	if (rename(from, to) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", to, strerror(errno));
	}
	if (!r->json) {
		printf("%s\n", to);
	}
	return 0;
}

static void print_answer(const struct hn_replay *r, struct hn_arena *a)
{
	struct hn_buf b;
	struct hn_jw w;

	hn_buf_init(&b);
	hn_jw_init(&w, &b);
	hn_jw_object(&w, NULL);
	hn_replay_put_head(r, &w);
	put_files(r, hn_arena_printf(a, "%s/", r->dir), &w);
	hn_jw_strf(&w, "manifest", "%s/%s.json", r->dir, r->symbol);
	hn_jw_end(&w);
	puts(b.s);
	hn_buf_fini(&b);
}

int hn_replay_make_gpu(struct hn_replay *r, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_gpu_module *m = NULL;
	int rc = hn_file_replace(in_work(r, a, "dag.json"), r->in->json, strlen(r->in->json), err);

	rc = rc ? rc
		: hn_file_replace(in_work(r, a, "steps.json"), r->kernel[0].steps,
				  strlen(r->kernel[0].steps), err);
	rc = rc ? rc : build(r, a, NULL, in_work(r, a, "out.module"), &m, err);
	for (size_t f = 0; f < HN_REPLAY_FORMS && rc == 0; f++) {
		rc = hn_replay_has(r, f) ? make_form(r, a, f, err) : 0;
	}
	rc = rc ? rc : write_manifest(r, a, m, err);
	rc = rc ? rc : put_in_place(r, a, ".module", err);
	rc = rc ? rc : put_in_place(r, a, ".json", err);
	for (size_t f = 0; f < HN_REPLAY_FORMS && rc == 0; f++) {
		rc = hn_replay_has(r, f) ? put_in_place(r, a, hn_replay_form[f].behind, err) : 0;
	}
	if (rc == 0 && r->json) {
		print_answer(r, a);
	}
	return rc;
}
