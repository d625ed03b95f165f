/* lower/build/build_model.c -- `hone-build --model`: the table of a compiled network as an object.
 * See build.h. */
#include "base/file.h"
#include "lower/build/build.h"

#define MAX_TEXT_BYTES (64u << 20)

static int emit(const struct hn_model *m, const char *line, const char *object,
		struct hn_arena *a, struct hn_err *err)
{
	struct hn_emitter *emitter;
	struct hn_artefact made;
	struct hn_target target;
	int rc = hn_target_parse(line, a, &target, err);

	rc = rc ? rc : hn_emitter_new(&target, &emitter, err);
	if (rc != 0) {
		return rc;
	}
	rc = hn_emit_model(emitter, m, a, &made, err);
	rc = rc ? rc : hn_file_replace(object, made.object, made.object_bytes, err);
	hn_emitter_free(emitter);
	return rc;
}

int hn_build_model(const char *path, const char *target, const char *object,
		   struct hn_err *err)
{
	const struct hn_model *m;
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(path, MAX_TEXT_BYTES, &text, err);

	rc = rc ? rc : hn_model_read(path, text.s, text.n, &a, &m, err);
	rc = rc ? rc : emit(m, target, object, &a, err);
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	return rc;
}
