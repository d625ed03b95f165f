/* proto/gpu_module.c -- a GPU's module as bytes: written, and what it must be. */
#include "proto/gpu_module.h"

#include <inttypes.h>
#include <string.h>

const struct hn_gpu_form_row hn_gpu_forms[HN_GPU_N_FORM] = {
#define GPU_FORM(name, word, text, suffix) { word, text, suffix },
#include "proto/gpu_forms.def"
#undef GPU_FORM
};

enum hn_gpu_form hn_gpu_form_of(const char *word)
{
	uint32_t i = 0;

	while (i < HN_GPU_N_FORM && strcmp(hn_gpu_forms[i].word, word) != 0) {
		i++;
	}
	return (enum hn_gpu_form)i;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		if (!is_letter(s[i]) && (i == 0 || s[i] < '0' || s[i] > '9')) {
			return false;
		}
	}
	return n > 0 && n <= HN_GPU_MAX_NAME;
}

static bool is_isa(const char *s)
{
	return s[0] != '\0' && strlen(s) <= HN_GPU_MAX_NAME &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(s);
}

static bool is_launch(const struct hn_gpu_kernel *k)
{
	int64_t threads = 1;

	for (int d = 0; d < 3; d++) {
		if (k->grid[d] < 1 || k->grid[d] > HN_GPU_MAX_GRID || k->block[d] < 1 ||
		    k->block[d] > HN_GPU_MAX_THREADS) {
			return false;
		}
		threads *= k->block[d];
	}
	return threads <= HN_GPU_MAX_THREADS;
}

static bool is_shared(const struct hn_gpu_kernel *k)
{
	return k->static_shared >= 0 && k->static_shared <= HN_GPU_MAX_SHARED &&
	       k->dynamic_shared >= 0 && k->dynamic_shared <= HN_GPU_MAX_SHARED;
}

static int check_buffers(const struct hn_gpu_module *m, struct hn_err *err)
{
	bool seen[HN_GPU_MAX_ARGS] = { false };

	for (uint32_t i = 0; i < m->n_buffer; i++) {
		const struct hn_gpu_buffer *b = &m->buffer[i];

		if (b->bytes < 1 || b->bytes > HN_GPU_MAX_BYTES || b->arg < -1 ||
		    b->arg >= HN_GPU_MAX_ARGS) {
			return hn_fail(err, HONE_E_INVALID,
				       "buffer %u: %" PRId64 " bytes, argument %d: outside of the "
				       "limits", i, b->bytes, b->arg);
		}
		if (b->arg >= 0 && seen[b->arg]) {
			return hn_fail(err, HONE_E_INVALID,
				       "buffer %u: argument %d is another buffer already", i,
				       b->arg);
		}
		if (b->arg >= 0) {
			seen[b->arg] = true;
		}
	}
	return 0;
}

static const char *why_no_map(const struct hn_gpu_module *m, const struct hn_gpu_map *x)
{
	int64_t reach = 0;

	if (x->buffer >= m->n_buffer || x->n_dim < 1 || x->n_dim > HN_GPU_MAP_DIM) {
		return "it is of no buffer, or has not 1 to 5 dimensions";
	}
	if ((x->elem != 1 && x->elem != 2 && x->elem != 4 && x->elem != 8) ||
	    (x->swizzle != 0 && x->swizzle != 32 && x->swizzle != 64 && x->swizzle != 128)) {
		return "an element has 1, 2, 4 or 8 bytes, and a swizzle 0, 32, 64 or 128";
	}
	for (uint32_t i = 0; i < x->n_dim; i++) {
		bool last = i + 1 == x->n_dim;

		if (x->size[i] < 1 || x->size[i] > HN_GPU_MAP_SIZE || x->box[i] < 1 ||
		    x->box[i] > HN_GPU_MAP_BOX || x->stride[i] < 1 ||
		    x->stride[i] >= HN_GPU_MAP_STRIDE) {
			return "a size, a stride or the box is outside of the limits";
		}
		if (last ? x->stride[i] != x->elem : x->stride[i] % HN_GPU_MAP_CHUNK != 0) {
			return "strides are multiples of 16 bytes, that of the last dimension is an "
			       "element";
		}
		/* at most 2^72: in doubles, far from what matters */
		if ((double)(x->size[i] - 1) * (double)x->stride[i] > (double)HN_GPU_MAX_BYTES) {
			return "it reaches past the end of its buffer";
		}
		reach += (x->size[i] - 1) * x->stride[i];
	}
	if (reach + x->elem > m->buffer[x->buffer].bytes) {
		return "it reaches past the end of its buffer";
	}
	int64_t row = x->box[x->n_dim - 1] * x->elem;

	return row % HN_GPU_MAP_CHUNK != 0 || (x->swizzle > 0 && row > x->swizzle)
		       ? "rows of its box are no multiples of 16 bytes, or longer than its swizzle"
		       : NULL;
}

static int check_kernel(const struct hn_gpu_module *m, uint32_t i, struct hn_err *err)
{
	const struct hn_gpu_kernel *k = &m->kernel[i];
	const char *why = NULL;

	if (!is_name(k->name)) {
		return hn_fail(err, HONE_E_INVALID, "kernel %u: its name is no C name of at most %d "
			       "letters", i, HN_GPU_MAX_NAME);
	}
	for (uint32_t j = 0; j < i && why == NULL; j++) {
		why = strcmp(m->kernel[j].name, k->name) == 0 ? "another kernel has its name" : NULL;
	}
	why = why != NULL || is_launch(k) ? why : "grid or block is outside of the limits";
	why = why != NULL || is_shared(k) ? why : "shared memory is outside of the limits";
	why = why != NULL || k->n_arg <= HN_GPU_MAX_ARGS ? why : "too many parameters";
	for (uint32_t j = 0; j < k->n_arg && why == NULL; j++) {
		why = k->arg[j] < m->n_buffer ? NULL : "a parameter is no buffer";
	}
	why = why != NULL || k->n_map <= HN_GPU_MAX_MAPS ? why : "too many maps";
	for (uint32_t j = 0; j < k->n_map && why == NULL; j++) {
		why = k->map[j] < m->n_map ? NULL : "a parameter is no map";
	}
	return why == NULL ? 0 : hn_fail(err, HONE_E_INVALID, "kernel %s: %s", k->name, why);
}

int hn_gpu_module_check(const struct hn_gpu_module *m, struct hn_err *err)
{
	int rc = 0;

	if ((unsigned)m->form >= HN_GPU_N_FORM || !is_isa(m->isa)) {
		return hn_fail(err, HONE_E_INVALID, "module: no such form, or no isa");
	}
	if (m->n_buffer > HN_GPU_MAX_BUFFERS || m->n_kernel < 1 ||
	    m->n_kernel > HN_GPU_MAX_KERNELS) {
		return hn_fail(err, HONE_E_INVALID,
			       "module: %u buffers (at most %d), %u kernels (1 to %d)", m->n_buffer,
			       HN_GPU_MAX_BUFFERS, m->n_kernel, HN_GPU_MAX_KERNELS);
	}
	rc = check_buffers(m, err);
	if (rc == 0 && m->n_map > HN_GPU_MAX_MAPS) {
		rc = hn_fail(err, HONE_E_INVALID, "module: %u maps (at most %d)", m->n_map,
			     HN_GPU_MAX_MAPS);
	}
	for (uint32_t i = 0; rc == 0 && i < m->n_map; i++) {
		const char *why = why_no_map(m, &m->map[i]);

		rc = why == NULL ? 0 : hn_fail(err, HONE_E_INVALID, "map %u: %s", i, why);
	}
	for (uint32_t i = 0; rc == 0 && i < m->n_kernel; i++) {
		rc = check_kernel(m, i, err);
	}
	if (rc != 0) {
		return rc;
	}
	if (m->code_bytes < 1 || m->code_bytes > HN_GPU_MAX_CODE) {
		return hn_fail(err, HONE_E_INVALID, "module: %zu bytes of code (1 to %d)",
			       m->code_bytes, HN_GPU_MAX_CODE);
	}
	if (hn_gpu_forms[m->form].text && memchr(m->code, 0, m->code_bytes) != NULL) {
		return hn_fail(err, HONE_E_INVALID, "module: its code should be text, but has a "
			       "byte 0");
	}
	return 0;
}

static void put_three(struct hn_buf *buf, const char *word, const int64_t v[3])
{
	hn_buf_printf(buf, " %s %" PRId64 " %" PRId64 " %" PRId64, word, v[0], v[1], v[2]);
}

static void put_dims(struct hn_buf *buf, const char *word, const int64_t *v, uint32_t n)
{
	hn_buf_printf(buf, " %s", word);
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_printf(buf, " %" PRId64, v[i]);
	}
}

static void put_maps(struct hn_buf *buf, const struct hn_gpu_module *m)
{
	for (uint32_t i = 0; i < m->n_map; i++) {
		const struct hn_gpu_map *x = &m->map[i];

		hn_buf_printf(buf, "map %u elem %" PRId64 " dims %u", x->buffer, x->elem, x->n_dim);
		put_dims(buf, "size", x->size, x->n_dim);
		put_dims(buf, "stride", x->stride, x->n_dim);
		put_dims(buf, "box", x->box, x->n_dim);
		hn_buf_printf(buf, " swizzle %" PRId64 "\n", x->swizzle);
	}
}

void hn_gpu_module_write(const struct hn_gpu_module *m, struct hn_buf *buf)
{
	hn_buf_printf(buf, HN_GPU_FORMAT " %s %s\n", hn_gpu_forms[m->form].word, m->isa);
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		hn_buf_printf(buf, "buffer %" PRId64 " %d\n", m->buffer[i].bytes,
			      m->buffer[i].arg);
	}
	put_maps(buf, m);
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];

		hn_buf_printf(buf, "kernel %s", k->name);
		put_three(buf, "grid", k->grid);
		put_three(buf, "block", k->block);
		hn_buf_printf(buf, " shared %" PRId64 " %" PRId64 " args", k->static_shared,
			      k->dynamic_shared);
		for (uint32_t j = 0; j < k->n_arg; j++) {
			hn_buf_printf(buf, " %u", k->arg[j]);
		}
		hn_buf_puts(buf, k->n_map > 0 ? " maps" : "");
		for (uint32_t j = 0; j < k->n_map; j++) {
			hn_buf_printf(buf, " %u", k->map[j]);
		}
		hn_buf_putc(buf, '\n');
	}
	hn_buf_printf(buf, "code %zu\n", m->code_bytes);
	hn_buf_add(buf, m->code, m->code_bytes);
}
