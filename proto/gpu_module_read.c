/* proto/gpu_module_read.c -- a GPU's module from bytes that anybody may have written.
 *
 * The first thing that is wrong ends the reading.  What a number may be is looked at by
 * hn_gpu_module_check; here only its form is, and how many of each there may be.
 */
#include <string.h>

#include "proto/gpu_module.h"

#define MAX_LINE 4096

struct reader {
	const char *what;
	const char *at, *end; /* of the bytes */
	char *word;	      /* the line's next one; NULL: no more */
	char line[MAX_LINE + 1];
	uint32_t n_line;
	struct hn_arena *a;
	struct hn_err *err;
};

/* The next line's words; a line ends in '\n', has no byte 0, and one blank between two words. */
static int next_line(struct reader *r)
{
	/* at the end of nothing there may be no pointer, which memchr does not take */
	const char *end = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
	size_t n = end != NULL ? (size_t)(end - r->at) : 0;

	r->n_line++;
	if (end == NULL || n > MAX_LINE || memchr(r->at, 0, n) != NULL) {
		return hn_fail(r->err, HONE_E_INVALID, "%s:%u: no line of text, at most %d bytes long",
			       r->what, r->n_line, MAX_LINE);
	}
	memcpy(r->line, r->at, n);
	r->line[n] = '\0';
	r->at = end + 1;
	r->word = r->line;
	return 0;
}

static const char *take(struct reader *r)
{
	char *word = r->word;
	char *end = word != NULL ? strchr(word, ' ') : NULL;

	r->word = NULL;
	if (end != NULL) {
		*end = '\0';
		r->word = end + 1;
	}
	return word;
}

static int refuse(struct reader *r, const char *wanted)
{
	return hn_fail(r->err, HONE_E_INVALID, "%s:%u: %s is wanted here", r->what, r->n_line,
		       wanted);
}

static int expect(struct reader *r, const char *wanted)
{
	const char *word = take(r);

	return word != NULL && strcmp(word, wanted) == 0 ? 0 : refuse(r, wanted);
}

static int end_line(struct reader *r)
{
	return r->word == NULL ? 0 : refuse(r, "the line's end");
}

/* Decimal, as the writer writes it: at most 15 digits, no zero before others. */
static int number(struct reader *r, int64_t *ret)
{
	const char *word = take(r);
	const char *digit = word != NULL ? word + (word[0] == '-') : "";
	size_t n = strlen(digit);
	int64_t v = 0;

	if (n < 1 || n > 15 || strspn(digit, "0123456789") != n || (n > 1 && digit[0] == '0') ||
	    (word != digit && digit[0] == '0')) {
		return refuse(r, "a number");
	}
	for (size_t i = 0; i < n; i++) {
		v = 10 * v + (digit[i] - '0');
	}
	*ret = word != digit ? -v : v;
	return 0;
}

static int three(struct reader *r, const char *word, int64_t ret[3])
{
	int rc = expect(r, word);

	for (int d = 0; d < 3 && rc == 0; d++) {
		rc = number(r, &ret[d]);
	}
	return rc;
}

static int read_head(struct reader *r, struct hn_gpu_module *m)
{
	const char *form, *isa;
	int rc = expect(r, HN_GPU_FORMAT);

	if (rc != 0) {
		return rc;
	}
	form = take(r);
	m->form = form != NULL ? hn_gpu_form_of(form) : HN_GPU_N_FORM;
	if (m->form == HN_GPU_N_FORM) {
		return refuse(r, "the form of the code (opencl, cuda, ptx, cubin)");
	}
	isa = take(r);
	if (isa == NULL) {
		return refuse(r, "an isa");
	}
	m->isa = hn_arena_strdup(r->a, isa);
	return end_line(r);
}

static int read_buffer(struct reader *r, struct hn_gpu_buffer *ret)
{
	int64_t arg = 0;
	int rc = number(r, &ret->bytes);

	rc = rc ? rc : number(r, &arg);
	if (rc == 0 && (arg < -1 || arg >= HN_GPU_MAX_ARGS)) {
		rc = refuse(r, "the number of an argument, or -1,");
	}
	ret->arg = (int32_t)arg;
	return rc ? rc : end_line(r);
}

static int dims(struct reader *r, const char *word, int64_t *ret, uint32_t n)
{
	int rc = expect(r, word);

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = number(r, &ret[i]);
	}
	return rc;
}

static int read_map(struct reader *r, struct hn_gpu_map *ret)
{
	int64_t buffer = 0, n = 0;
	int rc = number(r, &buffer);

	rc = rc ? rc : dims(r, "elem", &ret->elem, 1);
	rc = rc ? rc : dims(r, "dims", &n, 1);
	if (rc == 0 &&
	    (buffer < 0 || buffer >= HN_GPU_MAX_BUFFERS || n < 1 || n > HN_GPU_MAP_DIM)) {
		rc = refuse(r, "the number of a buffer, and 1 to 5 dimensions,");
	}
	if (rc != 0) {
		return rc;
	}
	ret->buffer = (uint32_t)buffer;
	ret->n_dim = (uint32_t)n;
	rc = dims(r, "size", ret->size, ret->n_dim);
	rc = rc ? rc : dims(r, "stride", ret->stride, ret->n_dim);
	rc = rc ? rc : dims(r, "box", ret->box, ret->n_dim);
	rc = rc ? rc : dims(r, "swizzle", &ret->swizzle, 1);
	return rc ? rc : end_line(r);
}

/* Behind `args`, or behind `maps`, to the end of the line or to `end`. */
static int read_numbers(struct reader *r, uint32_t most, const char *end, uint32_t *ret, uint32_t *n)
{
	int rc = 0;

	while (rc == 0 && r->word != NULL && (end == NULL || strncmp(r->word, end, strlen(end)) != 0)) {
		int64_t i = 0;

		rc = number(r, &i);
		if (rc == 0 && (i < 0 || i >= HN_GPU_MAX_BUFFERS || *n == most)) {
			rc = refuse(r, "the number of a buffer, or map, of not too many,");
		}
		if (rc == 0) {
			ret[(*n)++] = (uint32_t)i;
		}
	}
	return rc;
}

static int read_kernel(struct reader *r, struct hn_gpu_kernel *ret)
{
	const char *name = take(r);
	uint32_t *arg = HN_NEW_ARRAY(r->a, uint32_t, HN_GPU_MAX_ARGS);
	int rc = 0;

	if (name == NULL) {
		return refuse(r, "a name");
	}
	ret->name = hn_arena_strdup(r->a, name);
	ret->arg = arg;
	rc = three(r, "grid", ret->grid);
	rc = rc ? rc : three(r, "block", ret->block);
	rc = rc ? rc : expect(r, "shared");
	rc = rc ? rc : number(r, &ret->static_shared);
	rc = rc ? rc : number(r, &ret->dynamic_shared);
	rc = rc ? rc : expect(r, "args");
	rc = rc ? rc : read_numbers(r, HN_GPU_MAX_ARGS, "maps", arg, &ret->n_arg);
	if (rc == 0 && r->word != NULL) {
		uint32_t *map = HN_NEW_ARRAY(r->a, uint32_t, HN_GPU_MAX_MAPS);

		ret->map = map;
		rc = expect(r, "maps");
		rc = rc ? rc : read_numbers(r, HN_GPU_MAX_MAPS, NULL, map, &ret->n_map);
	}
	return rc;
}

/* What is behind the head's last line, all of it. */
static int read_code(struct reader *r, struct hn_gpu_module *m)
{
	int64_t n = 0;
	int rc = number(r, &n);

	rc = rc ? rc : end_line(r);
	if (rc != 0) {
		return rc;
	}
	if (n != r->end - r->at) {
		return hn_fail(r->err, HONE_E_INVALID, "%s:%u: code of %lld bytes, but %lld follow",
			       r->what, r->n_line, (long long)n, (long long)(r->end - r->at));
	}
	char *code = hn_arena_alloc(r->a, (size_t)n + 1);

	memcpy(code, r->at, (size_t)n);
	m->code = code;
	m->code_bytes = (size_t)n;
	return 0;
}

static int read_lines(struct reader *r, struct hn_gpu_module *m)
{
	struct hn_gpu_buffer *buffer = NULL;
	struct hn_gpu_kernel *kernel = NULL;
	struct hn_gpu_map *map = NULL;
	uint32_t cap_buffer = 0, cap_kernel = 0, cap_map = 0;

	for (;;) {
		int rc = next_line(r);
		const char *word = rc == 0 ? take(r) : "";

		if (rc != 0) {
			return rc;
		}
		if (strcmp(word, "buffer") == 0 && m->n_buffer < HN_GPU_MAX_BUFFERS &&
		    m->n_kernel == 0 && m->n_map == 0) {
			buffer = hn_arena_grow(r->a, buffer, m->n_buffer, &cap_buffer,
					       sizeof(*buffer));
			m->buffer = buffer;
			rc = read_buffer(r, &buffer[m->n_buffer++]);
		} else if (strcmp(word, "map") == 0 && m->n_map < HN_GPU_MAX_MAPS &&
			   m->n_kernel == 0) {
			map = hn_arena_grow(r->a, map, m->n_map, &cap_map, sizeof(*map));
			m->map = map;
			rc = read_map(r, &map[m->n_map++]);
		} else if (strcmp(word, "kernel") == 0 && m->n_kernel < HN_GPU_MAX_KERNELS) {
			kernel = hn_arena_grow(r->a, kernel, m->n_kernel, &cap_kernel,
					       sizeof(*kernel));
			m->kernel = kernel;
			rc = read_kernel(r, &kernel[m->n_kernel++]);
		} else if (strcmp(word, "code") == 0) {
			return read_code(r, m);
		} else {
			return refuse(r, "a buffer, then a kernel, then the code, of not too many,");
		}
		if (rc != 0) {
			return rc;
		}
	}
}

int hn_gpu_module_read(const char *what, const void *bytes, size_t n, struct hn_arena *a,
		       const struct hn_gpu_module **ret, struct hn_err *err)
{
	struct reader r = { .what = what, .at = bytes, .end = (const char *)bytes + n, .a = a,
			    .err = err };
	struct hn_gpu_module *m = HN_NEW(a, struct hn_gpu_module);
	int rc = next_line(&r);

	rc = rc ? rc : read_head(&r, m);
	rc = rc ? rc : read_lines(&r, m);
	if (rc != 0) {
		return rc;
	}
	rc = hn_gpu_module_check(m, err);
	if (rc != 0) {
		return hn_err_within(err, "%s", what);
	}
	*ret = m;
	return 0;
}
