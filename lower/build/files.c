/* lower/build/files.c -- see files.h. */
#include "lower/build/files.h"

#include <string.h>

#include "base/file.h"
#include "base/jw.h"
#include "base/seal.h"
#include "loopstate/nest/prepare.h"
#include "lower/build/check.h"
#include "lower/c/c.h"

static int write_text(const char *path, const char *what, const struct hn_buf *text,
		      struct hn_err *err)
{
	return text->failed ? hn_fail(err, HONE_E_NOMEM, "no memory for %s", what)
			    : hn_file_replace(path, text->s, text->n, err);
}

/* What a caller of the kernel has to provide, as the header's macros say it, and which inputs it
 * reads beside what is prepared. */
static int write_facts(const char *path, const struct hn_build_answer *ans, struct hn_arena *a,
		       struct hn_err *err)
{
	const struct hn_artefact *made = &ans->artefact;
	uint32_t n = ans->tree->dag->n_input;
	bool *reads = HN_NEW_ARRAY(a, bool, n);
	struct hn_buf text;
	struct hn_jw w;
	int rc;

	hn_buf_init(&text);
	hn_jw_init(&w, &text);
	hn_jw_object(&w, NULL);
	hn_jw_uint(&w, "workspace_bytes", made->shared_bytes);
	hn_jw_uint(&w, "worker_bytes", made->per_worker_bytes);
	hn_jw_uint(&w, "prepared_bytes", made->prepared_bytes);
	hn_jw_bool(&w, "init", made->tiles);
	hn_prepare_reads(ans->tree, a, reads);
	hn_jw_list(&w, "reads");
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_bool(&w, NULL, reads[i]);
	}
	hn_jw_end(&w);
	hn_jw_end(&w);
	hn_jw_done(&w);
	rc = write_text(path, "the facts", &text, err);
	hn_buf_fini(&text);
	return rc;
}

/* The kernel as text, for people and other compilers. */
static int write_texts(const struct hn_build_files *f, const char *symbol,
		       const struct hn_build_answer *ans, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_artefact *made = &ans->artefact;
	struct hn_target target;
	struct hn_buf text;
	int rc = 0;

	hn_buf_init(&text);
	if (f->source) {
		rc = hn_target_parse(f->target, a, &target, err);
		rc = rc ? rc : hn_c_source(ans->tree, &target, symbol, made, &text, err);
		rc = rc ? rc : write_text(f->source, "C source", &text, err);
	}
	if (rc == 0 && f->ir) {
		rc = hn_file_replace(f->ir, made->ir, strlen(made->ir), err);
	}
	if (rc == 0 && f->assembly) {
		rc = hn_file_replace(f->assembly, made->assembly, strlen(made->assembly), err);
	}
	hn_buf_fini(&text);
	return rc;
}

static uint64_t larger(uint64_t x, uint64_t y)
{
	return x > y ? x : y;
}

static int write_header(const struct hn_build_files *f, const char *symbol,
			const struct hn_build_answer *ans, struct hn_err *err)
{
	struct hn_artefact made = ans->artefact;
	struct hn_buf text;

	made.shared_bytes = larger(made.shared_bytes, f->room.shared_bytes);
	made.per_worker_bytes = larger(made.per_worker_bytes, f->room.worker_bytes);
	made.prepared_bytes = larger(made.prepared_bytes, f->room.prepared_bytes);
	made.tiles = made.tiles || f->room.init;
	made.chosen = f->room.wanted;
	hn_buf_init(&text);
	hn_emit_header(ans->dag, symbol, &made, &text);
	int rc = write_text(f->header, "the header", &text, err);

	hn_buf_fini(&text);
	return rc;
}

/* One that says what it is ends in a seal, too: others than compilers may load it. */
static int write_object(const struct hn_build_files *f, const struct hn_artefact *made,
			struct hn_err *err)
{
	uint8_t seal[HN_SEAL_BYTES];
	struct hn_buf file;
	int rc;

	if (!f->header) {
		return hn_file_replace(f->object, made->object, made->object_bytes, err);
	}
	hn_buf_init(&file);
	hn_seal_make(made->object, made->object_bytes, seal);
	hn_buf_add(&file, made->object, made->object_bytes);
	hn_buf_add(&file, seal, sizeof(seal));
	rc = write_text(f->object, "the object", &file, err);
	hn_buf_fini(&file);
	return rc;
}

int hn_build_write(const struct hn_build_files *f, const char *symbol,
		   const struct hn_build_answer *ans, struct hn_arena *a, struct hn_err *err)
{
	const struct hn_artefact *made = &ans->artefact;
	int rc = 0;

	if (f->object) {
		rc = write_object(f, made, err);
	}
	if (rc == 0 && f->header) {
		rc = write_header(f, symbol, ans, err);
	}
	if (rc == 0 && f->facts) {
		rc = write_facts(f->facts, ans, a, err);
	}
	if (rc == 0 && f->check) {
		rc = hn_check_write(f->check, ans->dag, ans->tree, symbol, made, err);
	}
	return rc ? rc : write_texts(f, symbol, ans, a, err);
}
