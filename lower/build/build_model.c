/* lower/build/build_model.c -- `hone-build --model`: the table of a compiled network as an object.
 * See build.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "lower/build/build.h"

#define MAX_TEXT_BYTES (64u << 20)
#define MAX_MODULE_BYTES ((size_t)64 << 20)

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

/* What a module of kernel k's is told of the step's arguments has to be what the table says. */
static int check_module(const struct hn_model_kernel *k, const struct hn_gpu_module *m,
			const struct hn_gpu_module *first, struct hn_err *err)
{
	if (m->form != first->form || strcmp(m->isa, first->isa) != 0) {
		return hn_fail(err, HONE_E_INVALID, "%s: its module is for %s %s, the first one for %s %s",
			       k->symbol, hn_gpu_forms[m->form].word, m->isa,
			       hn_gpu_forms[first->form].word, first->isa);
	}
	if (k->prepared_bytes > 0 || k->init || k->sized) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: a GPU's kernel prepares nothing, asks for nothing, and takes no sizes",
			       k->symbol);
	}
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		const struct hn_gpu_buffer *b = &m->buffer[i];

		if (b->arg >= 0 && ((uint32_t)b->arg >= k->n_arg ||
				    (uint64_t)b->bytes > k->arg_bytes[b->arg])) {
			return hn_fail(err, HONE_E_INVALID,
				       "%s: its module has argument %d of %lld bytes, the table has not",
				       k->symbol, (int)b->arg, (long long)b->bytes);
		}
	}
	return 0;
}

/* Launches have sizes in them, and so have copies. */
static int check_ranges(const struct hn_model *m, struct hn_err *err)
{
	for (uint32_t i = 0; i < m->n_range; i++) {
		for (uint32_t k = 0; k < m->n_size; k++) {
			if (m->range[i].least[k] != m->range[i].most[k]) {
				return hn_fail(err, HONE_E_INVALID,
					       "ranges[%u]: %lld to %lld, but a GPU's kernels are for "
					       "one size", i, (long long)m->range[i].least[k],
					       (long long)m->range[i].most[k]);
			}
		}
	}
	return 0;
}

static int read_module(const struct hn_model_kernel *k, const char *folder, struct hn_arena *a,
		       const struct hn_gpu_module **ret, struct hn_err *err)
{
	char *path = hn_arena_printf(a, "%s/%s.module", folder, k->symbol);
	struct hn_buf b;

	hn_buf_init(&b);
	int rc = hn_file_read(path, MAX_MODULE_BYTES, &b, err);

	rc = rc ? rc : hn_gpu_module_read(path, b.s, b.n, a, ret, err);
	hn_buf_fini(&b);
	return rc;
}

/* Those of a network for a GPU: FOLDER/SYMBOL.module of each kernel. */
static int read_modules(struct hn_model *m, const char *folder, struct hn_arena *a,
			struct hn_err *err)
{
	const struct hn_gpu_module **module =
		HN_NEW_ARRAY(a, const struct hn_gpu_module *, m->n_kernel);
	int rc = check_ranges(m, err);

	for (uint32_t i = 0; i < m->n_kernel && rc == 0; i++) {
		rc = read_module(&m->kernel[i], folder, a, &module[i], err);
		rc = rc ? rc : check_module(&m->kernel[i], module[i], module[0], err);
	}
	m->module = module;
	return rc;
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

int hn_build_model(const struct hn_build_model *x, struct hn_err *err)
{
	const struct hn_model *read;
	struct hn_model m;
	struct hn_buf text;
	struct hn_arena a;

	hn_buf_init(&text);
	hn_arena_init(&a, 0);
	int rc = hn_file_read(x->path, MAX_TEXT_BYTES, &text, err);

	rc = rc ? rc : hn_model_read(x->path, text.s, text.n, &a, &read, err);
	if (rc == 0) {
		m = *read;
		rc = x->modules != NULL ? read_modules(&m, x->modules, &a, err) : 0;
		rc = rc ? rc : emit(&m, x->target, x->weights, x->object, &a, err);
	}
	hn_arena_fini(&a);
	hn_buf_fini(&text);
	return rc;
}
