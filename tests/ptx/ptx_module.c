/* ptx_module.c -- runs the kernels of a module as hone hands it to a board: buffers, tensor maps, launches
 * (proto/gpu_module.h). */
#include <stdlib.h>
#include <string.h>

#include "proto/gpu_module.h"
#include "tests/ptx/ptx.h"

#define MAX_PARAMETERS (HN_GPU_MAX_ARGS + HN_GPU_MAX_MAPS)

/* Dimensions come from the outermost; a map's are from the innermost. */
static void make_map(const struct hn_gpu_map *m, void *at, struct ptx_map *to)
{
	*to = (struct ptx_map){ .at = at, .rank = (uint8_t)m->n_dim, .bytes = (uint8_t)m->elem,
				.swizzle = (uint8_t)m->swizzle };
	for (uint32_t d = 0; d < m->n_dim; d++) {
		uint32_t i = m->n_dim - 1 - d;

		to->size[i] = (uint64_t)m->size[d];
		to->box[i] = (uint16_t)m->box[d];
		if (i > 0) {
			to->stride[i - 1] = (uint64_t)m->stride[d];
		}
	}
}

static int run_kernel(const struct ptx_module *p, const struct hn_gpu_module *m,
		      const struct hn_gpu_kernel *k, const struct ptx_range *buffer, uint64_t seed,
		      uint64_t steps, struct ptx_counts *counts, struct hn_err *err)
{
	struct ptx_launch l = { .kernel = k->name, .shared = (uint32_t)k->dynamic_shared,
				.range = buffer, .n_range = m->n_buffer, .seed = seed,
				.steps = steps };
	struct ptx_map map[HN_GPU_MAX_MAPS];
	void *param[MAX_PARAMETERS], *address[MAX_PARAMETERS];

	for (int i = 0; i < 3; i++) {
		l.grid[i] = (uint32_t)k->grid[i];
		l.block[i] = (uint32_t)k->block[i];
	}
	for (uint32_t i = 0; i < k->n_arg; i++) {
		address[i] = buffer[k->arg[i]].at;
		param[i] = &address[i];
	}
	for (uint32_t i = 0; i < k->n_map; i++) {
		const struct hn_gpu_map *x = &m->map[k->map[i]];

		make_map(x, buffer[x->buffer].at, &map[i]);
		param[k->n_arg + i] = &map[i];
	}
	l.param = param;
	return ptx_run(p, &l, counts, err);
}

int ptx_run_module(const struct hn_gpu_module *m, void *const *arg, uint64_t seed, uint64_t steps,
		   struct ptx_counts *counts, struct hn_err *err)
{
	struct ptx_range *buffer = calloc(m->n_buffer + 1, sizeof *buffer);
	struct ptx_module *p;
	struct hn_arena a;

	hn_arena_init(&a, 0);
	int rc = ptx_parse(m->code, m->code_bytes, &a, &p, err);

	for (uint32_t i = 0; i < m->n_buffer; i++) {
		size_t bytes = ((size_t)m->buffer[i].bytes + 127) / 128 * 128;

		/* arguments are copied: a buffer is aligned as a driver's is */
		buffer[i].bytes = (uint64_t)m->buffer[i].bytes;
		buffer[i].at = aligned_alloc(128, bytes);
		memset(buffer[i].at, 0xdb, bytes);
		if (m->buffer[i].arg >= 0) {
			memcpy(buffer[i].at, arg[m->buffer[i].arg], buffer[i].bytes);
		}
	}
	for (uint32_t i = 0; i < m->n_kernel && rc == 0; i++) {
		rc = run_kernel(p, m, &m->kernel[i], buffer, seed + i, steps, counts, err);
	}
	for (uint32_t i = 0; i < m->n_buffer; i++) {
		if (m->buffer[i].arg >= 0) {
			memcpy(arg[m->buffer[i].arg], buffer[i].at, buffer[i].bytes);
		}
		free(buffer[i].at);
	}
	free(buffer);
	hn_arena_fini(&a);
	return rc;
}
