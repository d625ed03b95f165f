/* lower/gpu/gpu.c -- a module of a device program: its buffers, its launches, its code. */
#include "lower/gpu/gpu_int.h"

#include <inttypes.h>
#include <string.h>

#include "base/arith.h"
#include "lower/device/device_wgmma.h"

static const struct gpu_lang *const langs[HN_GPU_N_FORM] = {
	[HN_GPU_OPENCL] = &hn_gpu_opencl,
	[HN_GPU_CUDA] = &hn_gpu_cuda,
	[HN_GPU_PTX] = &hn_gpu_ptx,
};

static int64_t bytes_of(const struct hn_device_buffer *b)
{
	return hn_mul_sat(b->n_elem, hn_dtype_bytes((enum hn_dtype)b->dtype));
}

/* All buffers of global memory, in order: buffer i of the program is module[i]. */
static uint32_t *list_buffers(struct gpu *g, struct hn_gpu_module *ret)
{
	struct hn_gpu_buffer *b = HN_NEW_ARRAY(g->a, struct hn_gpu_buffer, g->d->n_buffer);
	uint32_t *module = HN_NEW_ARRAY(g->a, uint32_t, g->d->n_buffer);

	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		if (g->d->buffer[i].memory == HN_MEMORY_GLOBAL) {
			module[i] = ret->n_buffer;
			b[ret->n_buffer++] = (struct hn_gpu_buffer){ bytes_of(&g->d->buffer[i]),
								     g->d->buffer[i].arg };
		}
	}
	ret->buffer = b;
	return module;
}

/* All maps, in order: their numbers are the program's. */
static void list_maps(struct gpu *g, const uint32_t *module, struct hn_gpu_module *ret)
{
	struct hn_gpu_map *map = HN_NEW_ARRAY(g->a, struct hn_gpu_map, g->d->n_map + 1);

	for (uint32_t i = 0; i < g->d->n_map; i++) {
		const struct hn_device_map *m = &g->d->map[i];
		int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)g->d->buffer[m->buffer].dtype);

		map[i] = (struct hn_gpu_map){ .buffer = module[m->buffer],
					      .elem = bytes,
					      .n_dim = m->n_dim,
					      .swizzle = m->swizzle };
		for (uint32_t d = 0; d < m->n_dim; d++) {
			map[i].size[d] = m->size[d];
			map[i].stride[d] = m->stride[d] * bytes;
			map[i].box[d] = m->box[d];
		}
	}
	ret->n_map = g->d->n_map;
	ret->map = map;
}

static void set_up(struct gpu *g, const struct hn_device_kernel *k)
{
	k = hn_gpu_without_copies(g->d, k, g->a);
	g->k = k;
	g->n_slot = k->n_slot;
	g->depth = 0;
	g->span = HN_NEW_ARRAY(g->a, struct hn_span, k->n_slot);
	g->value = HN_NEW_ARRAY(g->a, const struct hn_expr *, k->n_slot);
	g->var = HN_NEW_ARRAY(g->a, gpu_val, k->n_slot);
	g->rank = HN_NEW_ARRAY(g->a, uint32_t, k->n_slot);
	g->whole = HN_NEW_ARRAY(g->a, bool, k->n_slot);
	g->kept = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer);
	g->vector = HN_NEW_ARRAY(g->a, uint8_t, g->d->n_buffer);
	g->used = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer);
	g->stored = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer);
	g->maps = HN_NEW_ARRAY(g->a, bool, g->d->n_map + 1);
	g->settled = false;
	g->is_matrix = HN_NEW_ARRAY(g->a, bool, g->d->n_buffer);
	g->offset = HN_NEW_ARRAY(g->a, int64_t, g->d->n_buffer);
	for (uint32_t s = 0; s < k->n_slot; s++) {
		int64_t extent = s < HN_DEVICE_THREAD  ? k->grid[s]
				 : s < HN_DEVICE_FIRST ? k->block[s - HN_DEVICE_THREAD]
						       : 0;

		g->rank[s] = s >= HN_DEVICE_THREAD;
		g->span[s] = extent > 0 ? (struct hn_span){ 0, extent - 1 }
					: (struct hn_span){ -HN_SPAN_MAX, HN_SPAN_MAX };
	}
}

static void span_loops(struct gpu *g, const struct hn_device_node *n)
{
	if (n->kind == HN_DEVICE_LOOP) {
		g->span[n->slot] = (struct hn_span){ 0, n->extent - 1 };
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		span_loops(g, n->child[i]);
	}
}

/* Those that begin where buffers have to that warpgroups read, or the others. */
static void place_some(struct gpu *g, bool matrices, int64_t align)
{
	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		if (g->used[i] && g->d->buffer[i].memory == HN_MEMORY_SHARED &&
		    g->is_matrix[i] == matrices) {
			g->offset[i] = hn_ceildiv(g->shared_bytes, align) * align;
			g->shared_bytes =
				g->offset[i] + hn_ceildiv(bytes_of(&g->d->buffer[i]), 16) * 16;
			g->shared_align = matrices ? align : g->shared_align;
		}
	}
}

static void place_shared(struct gpu *g)
{
	g->shared_bytes = 0;
	g->shared_align = HN_GPU_SHARED_ALIGN;
	place_some(g, /* matrices= */ true, HN_WGMMA_ALIGN);
	place_some(g, /* matrices= */ false, 16);
}

static void print_kernel(struct gpu *g, const struct hn_device_kernel *k, const uint32_t *module,
			 struct hn_gpu_kernel *ret)
{
	uint32_t *arg;

	set_up(g, k);
	span_loops(g, g->k->body);
	hn_gpu_plan(g);
	place_shared(g);
	arg = HN_NEW_ARRAY(g->a, uint32_t, g->d->n_buffer);
	ret->name = k->name;
	memcpy(ret->grid, k->grid, sizeof(ret->grid));
	memcpy(ret->block, k->block, sizeof(ret->block));
	ret->arg = arg;
	for (uint32_t i = 0; i < g->d->n_buffer; i++) {
		if (g->used[i] && g->d->buffer[i].memory == HN_MEMORY_GLOBAL) {
			arg[ret->n_arg++] = module[i];
		}
	}
	arg = HN_NEW_ARRAY(g->a, uint32_t, g->d->n_map + 1);
	ret->map = arg;
	for (uint32_t i = 0; i < g->d->n_map; i++) {
		if (g->maps[i]) {
			arg[ret->n_map++] = i;
		}
	}
	bool at_launch = g->lang != &hn_gpu_opencl && g->shared_bytes > HN_GPU_STATIC_SHARED;

	ret->static_shared = at_launch ? 0 : g->shared_bytes;
	ret->dynamic_shared = at_launch ? g->shared_bytes : 0;
	g->lang->begin_kernel(g);
	hn_gpu_walk(g);
	g->lang->end_kernel(g);
}

int hn_gpu_print(const struct hn_device *d, enum hn_gpu_form form, const struct hn_target *target,
		 const struct hn_gpu_options *options, struct hn_arena *a,
		 struct hn_gpu_module *ret, struct hn_err *err)
{
	struct gpu g = { .d = d, .target = target, .options = options, .a = a, .err = err };
	struct hn_gpu_kernel *kernel = HN_NEW_ARRAY(a, struct hn_gpu_kernel, d->n_kernel);

	g.lang = langs[form];
	if (g.lang == NULL) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "form %s: it is assembled, not printed",
			       hn_gpu_forms[form].word);
	}
	/* threads of blocks are lanes of a GPU; a core's thread has vectors of its own */
	if (g.lang->vector != NULL && (target->caps & HN_CAP_GPU_THREADS) == 0) {
		g.vector_bytes = (uint32_t)target->param[HN_PARAM_VECTOR_UNIT_BYTES];
	}
	*ret = (struct hn_gpu_module){ .form = form, .isa = target->isa, .kernel = kernel };
	const uint32_t *module = list_buffers(&g, ret);

	list_maps(&g, module, ret);
	g.lang->begin(&g);
	for (uint32_t i = 0; i < d->n_kernel && g.rc == 0; i++) {
		print_kernel(&g, &d->kernel[i], module, &kernel[i]);
	}
	ret->n_kernel = d->n_kernel;
	if (g.rc == 0) {
		g.lang->end(&g, ret);
	}
	g.lang->close(&g);
	return g.rc != 0 ? g.rc : hn_gpu_module_check(ret, err);
}
