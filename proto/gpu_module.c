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

void hn_gpu_module_write(const struct hn_gpu_module *m, struct hn_buf *buf)
{
	hn_buf_printf(buf, HN_GPU_FORMAT " %s %s\n", hn_gpu_forms[m->form].word, m->isa);
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		hn_buf_printf(buf, "buffer %" PRId64 " %d\n", m->buffer[i].bytes,
			      m->buffer[i].arg);
	}
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
		hn_buf_putc(buf, '\n');
	}
	hn_buf_printf(buf, "code %zu\n", m->code_bytes);
	hn_buf_add(buf, m->code, m->code_bytes);
}
