/* proto/model_write.c -- a compiled network as text: proto/model.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/jw.h"
#include "proto/model.h"

static void put_tensors(struct hn_jw *w, const char *name,
			const struct hn_model_tensor *t, uint32_t n)
{
	hn_jw_list(w, name);
	for (uint32_t i = 0; i < n; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", t[i].name);
		hn_jw_str(w, "dtype", hn_dtype_name(t[i].dtype));
		hn_jw_list(w, "shape");
		for (uint32_t d = 0; d < t[i].n_dim; d++) {
			hn_jw_int(w, NULL, t[i].dim[d]);
		}
		hn_jw_end(w);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

/* Arguments [first, end): their bytes, or [rows, bytes, pitch]. */
static void put_sizes(struct hn_jw *w, const char *name, const struct hn_model_kernel *k,
		      uint32_t first, uint32_t end)
{
	hn_jw_list(w, name);
	for (uint32_t i = first; i < end; i++) {
		const struct hn_model_rows *rows = k->rows != NULL ? &k->rows[i] : NULL;

		if (rows == NULL || rows->n == 0) {
			hn_jw_uint(w, NULL, k->arg_bytes[i]);
			continue;
		}
		hn_jw_list(w, NULL);
		hn_jw_uint(w, NULL, rows->n);
		hn_jw_uint(w, NULL, rows->bytes);
		hn_jw_uint(w, NULL, rows->pitch);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static void put_kernel(struct hn_jw *w, const struct hn_model_kernel *k)
{
	hn_jw_object(w, NULL);
	hn_jw_str(w, "symbol", k->symbol);
	hn_jw_str(w, "name", k->name);
	put_sizes(w, "inputs", k, 0, k->n_in);
	put_sizes(w, "outputs", k, k->n_in, k->n_arg);
	hn_jw_list(w, "constant");
	for (uint32_t i = 0; i < k->n_in; i++) {
		if (k->constant[i]) {
			hn_jw_uint(w, NULL, i);
		}
	}
	hn_jw_end(w);
	hn_jw_uint(w, "prepared_bytes", k->prepared_bytes);
	hn_jw_uint(w, "workspace_bytes", k->workspace_bytes);
	hn_jw_uint(w, "worker_bytes", k->worker_bytes);
	hn_jw_bool(w, "init", k->init);
	if (k->sized) {
		hn_jw_bool(w, "sized", true);
	}
	hn_jw_end(w);
}

static void put_arg(struct hn_jw *w, const struct hone_model_arg *arg)
{
	hn_jw_list(w, NULL);
	hn_jw_str(w, NULL, hn_model_place_name(arg->place));
	if (arg->place == HONE_MODEL_INPUT || arg->place == HONE_MODEL_OUTPUT) {
		hn_jw_uint(w, NULL, arg->index);
	}
	if (arg->place != HONE_MODEL_NOWHERE) {
		hn_jw_uint(w, NULL, arg->offset);
	}
	hn_jw_end(w);
}

static void put_step(struct hn_jw *w, const struct hn_model *m,
		     const struct hn_model_step *s)
{
	const struct hn_model_kernel *k = &m->kernel[s->kernel];

	hn_jw_object(w, NULL);
	hn_jw_str(w, "name", s->name);
	hn_jw_uint(w, "kernel", s->kernel);
	hn_jw_list(w, "args");
	for (uint32_t i = 0; i < k->n_arg; i++) {
		put_arg(w, &s->arg[i]);
	}
	hn_jw_end(w);
	if (k->prepared_bytes > 0) {
		hn_jw_uint(w, "prepared", s->prepared);
		hn_jw_bool(w, "stored", s->stored);
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

/* What a network without sizes does not have. */
static void put_ranges(struct hn_jw *w, const struct hn_model *m)
{
	hn_jw_list(w, "sizes");
	for (uint32_t i = 0; i < m->n_size; i++) {
		hn_jw_object(w, NULL);
		hn_jw_str(w, "name", m->size[i].name);
		hn_jw_int(w, "least", m->size[i].least);
		hn_jw_int(w, "most", m->size[i].most);
		hn_jw_int(w, "step", m->size[i].step);
		hn_jw_end(w);
	}
	hn_jw_end(w);
	hn_jw_list(w, "ranges");
	for (uint32_t i = 0; i < m->n_range; i++) {
		hn_jw_object(w, NULL);
		put_numbers(w, "least", m->range[i].least, m->n_size);
		put_numbers(w, "most", m->range[i].most, m->n_size);
		hn_jw_uint(w, "first", m->range[i].first);
		hn_jw_uint(w, "steps", m->range[i].n);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

void hn_model_write(const struct hn_model *m, struct hn_buf *buf)
{
	char stamp[17];
	struct hn_jw w;

	hn_jw_init(&w, buf);
	hn_jw_object(&w, NULL);
	hn_jw_str(&w, "format", HN_MODEL_FORMAT);
	hn_jw_str(&w, "name", m->name);
	hn_jw_uint(&w, "weights_bytes", m->weights_bytes);
	snprintf(stamp, sizeof stamp, "%016" PRIx64, m->stamp);
	hn_jw_str(&w, "stamp", stamp);
	hn_jw_uint(&w, "prepared_bytes", m->prepared_bytes);
	hn_jw_uint(&w, "arena_bytes", m->arena_bytes);
	put_tensors(&w, "inputs", m->input, m->n_input);
	put_tensors(&w, "outputs", m->output, m->n_output);
	hn_jw_list(&w, "kernels");
	for (uint32_t i = 0; i < m->n_kernel; i++) {
		put_kernel(&w, &m->kernel[i]);
	}
	hn_jw_end(&w);
	hn_jw_list(&w, "steps");
	for (uint32_t i = 0; i < m->n_step; i++) {
		put_step(&w, m, &m->step[i]);
	}
	hn_jw_end(&w);
	if (m->n_size > 0) {
		put_ranges(&w, m);
	}
	hn_jw_end(&w);
	hn_jw_done(&w);
	hn_buf_putc(buf, '\n');
}
