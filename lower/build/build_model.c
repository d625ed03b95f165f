/* lower/build/build_model.c -- `hone-build --model`: the table of a compiled network as an object.
 * See build.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "lower/build/build.h"

#define MAX_TEXT_BYTES (64u << 20)

/* The file by a name that any assembler takes: of the open descriptor. */
static int open_weights(const struct hn_model *m, const char *path, struct hn_arena *a,
			const char **ret, struct hn_err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0) {
		return hn_fail(err, HONE_E_IO, "%s: %s", path, strerror(errno));
	}
	if ((uint64_t)st.st_size != m->weights_bytes) {
		return hn_fail(err, HONE_E_CORRUPT, "%s: %lld bytes, not weights_bytes", path,
			       (long long)st.st_size);
	}
	if (m->weights_bytes > HN_MODEL_MAX_EMBEDDED) {
		return hn_fail(err, HONE_E_QUOTA, "%s: %.1f GiB of weights: at most 1 can be in an object",
			       path, (double)m->weights_bytes / (1 << 30));
	}
	*ret = hn_arena_printf(a, "/proc/self/fd/%d", fd); /* open to the end of the process */
	return 0;
}

static int emit(const struct hn_model *m, const char *line, const char *weights,
		const char *object, struct hn_arena *a, struct hn_err *err)
{
	struct hn_emitter *emitter;
	struct hn_artefact made;
	struct hn_target target;
	int rc = hn_target_parse(line, a, &target, err);

	rc = rc ? rc : hn_emitter_new(&target, &emitter, err);
	if (rc != 0) {
		return rc;
	}
	rc = weights != NULL ? open_weights(m, weights, a, &weights, err) : 0;
	rc = rc ? rc : hn_emit_model(emitter, m, weights, a, &made, err);
	rc = rc ? rc : hn_file_replace(object, made.object, made.object_bytes, err);
	hn_emitter_free(emitter);
	return rc;
}

int hn_build_model(const char *path, const char *target, const char *weights, const char *object,
		   struct hn_err *err)
{
	const struct hn_model *m;
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(path, MAX_TEXT_BYTES, &text, err);

	rc = rc ? rc : hn_model_read(path, text.s, text.n, &a, &m, err);
	rc = rc ? rc : emit(m, target, weights, object, &a, err);
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	return rc;
}
