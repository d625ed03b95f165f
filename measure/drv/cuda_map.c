/* cuda_map.c -- tensor maps of a kernel (proto/gpu_module.h), as CUDA's driver makes them: of a buffer's
 * address and sizes.  They are parameters of the launch, by value. */
#include <stdlib.h>

#include "measure/drv/cuda_int.h"

/* The driver counts dimensions from the one whose elements lie side by side, whose stride it knows. */
static cuda_result make_map(struct cuda_device *d, const struct hn_gpu_map *m, cuda_address at,
			    struct cuda_map *ret)
{
	uint64_t size[HN_GPU_MAP_DIM], stride[HN_GPU_MAP_DIM];
	uint32_t box[HN_GPU_MAP_DIM], each[HN_GPU_MAP_DIM], n = m->n_dim;

	for (uint32_t i = 0; i < n; i++) {
		size[i] = (uint64_t)m->size[n - 1 - i];
		box[i] = (uint32_t)m->box[n - 1 - i];
		each[i] = 1;
		if (i > 0) {
			stride[i - 1] = (uint64_t)m->stride[n - 1 - i];
		}
	}
	return d->api.TensorMapEncodeTiled(ret, cuda_map_type(m->elem), n, (void *)(uintptr_t)at,
					   size, stride, box, each, CUDA_MAP_INTERLEAVE_NONE,
					   cuda_map_swizzle(m->swizzle), CUDA_MAP_L2_128,
					   CUDA_MAP_FILL_ZERO);
}

enum hn_verdict cuda_make_maps(struct cuda_device *d, const struct hn_gpu_module *m,
			       const struct hn_gpu_kernel *from, struct gpu_memory *const *buffer,
			       struct cuda_kernel *k, struct hn_err *err)
{
	if (from->n_map == 0) {
		return HN_VERDICT_OK;
	}
	if (d->api.TensorMapEncodeTiled == NULL) {
		hn_fail(err, HONE_E_UNSUPPORTED,
			"CUDA: kernel %s takes tensor maps, which drivers make since CUDA 12.0",
			from->name);
		return HN_VERDICT_LOAD_FAIL;
	}
	k->map = aligned_alloc(_Alignof(struct cuda_map), from->n_map * sizeof *k->map);
	if (k->map == NULL) {
		return cuda_fail(d, CUDA_E_OUT_OF_MEMORY, "program", err);
	}
	k->n_map = from->n_map;
	for (uint32_t i = 0; i < from->n_map; i++) {
		const struct hn_gpu_map *x = &m->map[from->map[i]];
		cuda_result code = make_map(d, x, buffer[x->buffer]->part, &k->map[i]);

		if (code != 0) {
			hn_fail(err, HONE_E_INVALID,
				"CUDA: the driver makes no tensor map %u of kernel %s (error %d)", i,
				from->name, code);
			return HN_VERDICT_LOAD_FAIL;
		}
		k->arg[from->n_arg + i] = &k->map[i];
	}
	return HN_VERDICT_OK;
}
