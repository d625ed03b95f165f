/* lower/cpu/emit_model_gpu.c -- the second table of a network for a GPU (proto/gpu_table.h): its
 * kernels' code and launches, from modules that are checked. */
#include "lower/cpu/emit_model_int.h"
#include "proto/gpu_table.h"

_Static_assert(HONE_GPU_MAX_MAPS == HN_GPU_MAX_MAPS, "proto/gpu_module.h");

/* Where the workspace's part that is buffer `until` begins; n_buffer: where it ends. */
static uint64_t workspace(const struct hn_gpu_module *m, uint32_t until)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < until; i++) {
		uint64_t bytes = m->buffer[i].arg < 0 ? (uint64_t)m->buffer[i].bytes : 0;

		at += (bytes + HONE_GPU_WORKSPACE_ALIGN - 1) / HONE_GPU_WORKSPACE_ALIGN *
		      HONE_GPU_WORKSPACE_ALIGN;
	}
	return at;
}

static LLVMValueRef place_of(const struct hn_table *t, const struct hn_gpu_module *m, uint32_t buffer)
{
	const struct hn_gpu_buffer *b = &m->buffer[buffer];
	const struct hn_table_field f[] = {
		AT(hone_gpu_arg, arg, hn_table_size(t, (uint64_t)(int64_t)b->arg)),
		AT(hone_gpu_arg, offset, hn_table_size(t, b->arg < 0 ? workspace(m, buffer) : 0)),
	};

	return STRUCTURE(t, hone_gpu_arg, f);
}

static LLVMValueRef args(const struct hn_table *t, const struct hn_gpu_module *m,
			 const struct hn_gpu_kernel *k)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, k->n_arg);

	for (uint32_t i = 0; i < k->n_arg; i++) {
		v[i] = place_of(t, m, k->arg[i]);
	}
	return hn_table_array(t, v, k->n_arg);
}

/* A module has the outermost dimension first. */
static LLVMValueRef map(const struct hn_table *t, const struct hn_gpu_module *m,
			const struct hn_gpu_map *x)
{
	LLVMValueRef size[HN_GPU_MAP_DIM], stride[HN_GPU_MAP_DIM], box[HN_GPU_MAP_DIM];

	for (uint32_t i = 0; i < x->n_dim; i++) {
		uint32_t d = x->n_dim - 1 - i;

		size[i] = hn_table_size(t, (uint64_t)x->size[d]);
		box[i] = hn_table_word(t, (uint64_t)x->box[d]);
		if (i > 0) {
			stride[i - 1] = hn_table_size(t, (uint64_t)x->stride[d]);
		}
	}
	const struct hn_table_field f[] = {
		AT(hone_gpu_map, of, place_of(t, m, x->buffer)),
		AT(hone_gpu_map, elem, hn_table_word(t, (uint64_t)x->elem)),
		AT(hone_gpu_map, swizzle, hn_table_word(t, (uint64_t)x->swizzle)),
		AT(hone_gpu_map, n_dims, hn_table_word(t, x->n_dim)),
		AT(hone_gpu_map, size, hn_table_array(t, size, x->n_dim)),
		AT(hone_gpu_map, stride, hn_table_array(t, stride, x->n_dim - 1)),
		AT(hone_gpu_map, box, hn_table_array(t, box, x->n_dim)),
	};

	return STRUCTURE(t, hone_gpu_map, f);
}

static LLVMValueRef maps(const struct hn_table *t, const struct hn_gpu_module *m,
			 const struct hn_gpu_kernel *k)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, k->n_map + 1);

	for (uint32_t i = 0; i < k->n_map; i++) {
		v[i] = map(t, m, &m->map[k->map[i]]);
	}
	return hn_table_array(t, v, k->n_map);
}

static LLVMValueRef launches(const struct hn_table *t, const struct hn_gpu_module *m)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, m->n_kernel);

	for (uint32_t i = 0; i < m->n_kernel; i++) {
		const struct hn_gpu_kernel *k = &m->kernel[i];
		const struct hn_table_field f[] = {
			AT(hone_gpu_launch, name, hn_table_text(t, k->name)),
			AT(hone_gpu_launch, args, args(t, m, k)),
			AT(hone_gpu_launch, n_args, hn_table_word(t, k->n_arg)),
			AT(hone_gpu_launch, n_maps, hn_table_word(t, k->n_map)),
			AT(hone_gpu_launch, maps, maps(t, m, k)),
			AT(hone_gpu_launch, grid, hn_table_words(t, k->grid)),
			AT(hone_gpu_launch, block, hn_table_words(t, k->block)),
			AT(hone_gpu_launch, shared_static,
			   hn_table_word(t, (uint64_t)k->static_shared)),
			AT(hone_gpu_launch, shared_asked,
			   hn_table_word(t, (uint64_t)k->dynamic_shared)),
		};

		v[i] = STRUCTURE(t, hone_gpu_launch, f);
	}
	return hn_table_array(t, v, m->n_kernel);
}

static LLVMValueRef codes(const struct hn_table *t, uint64_t *ret_workspace)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, t->m->n_kernel);

	*ret_workspace = 0;
	for (uint32_t i = 0; i < t->m->n_kernel; i++) {
		const struct hn_gpu_module *m = t->m->module[i];
		uint64_t room = workspace(m, m->n_buffer);
		const struct hn_table_field f[] = {
			AT(hone_gpu_code, bytes, hn_table_bytes(t, m->code, m->code_bytes)),
			AT(hone_gpu_code, n_bytes, hn_table_size(t, m->code_bytes)),
			AT(hone_gpu_code, launches, launches(t, m)),
			AT(hone_gpu_code, n_launches, hn_table_word(t, m->n_kernel)),
		};

		v[i] = STRUCTURE(t, hone_gpu_code, f);
		*ret_workspace = room > *ret_workspace ? room : *ret_workspace;
	}
	return hn_table_array(t, v, t->m->n_kernel);
}

/* What steps of the range read of input i, or write of output i. */
static uint64_t copied(const struct hn_model *m, const struct hn_model_range *r, uint32_t place,
		       uint32_t i)
{
	uint64_t most = 0;

	for (uint32_t s = r->first; s < r->first + r->n; s++) {
		const struct hn_model_kernel *k = &m->kernel[m->step[s].kernel];

		for (uint32_t a = 0; a < k->n_arg; a++) {
			const struct hone_model_arg *arg = &m->step[s].arg[a];
			uint64_t end = arg->offset + k->arg_bytes[a];

			most = arg->place == place && arg->index == i && end > most ? end : most;
		}
	}
	return most;
}

static LLVMValueRef all_copied(const struct hn_table *t, const struct hn_model_range *r,
			       uint32_t place, uint32_t n)
{
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, n + 1);

	for (uint32_t i = 0; i < n; i++) {
		v[i] = hn_table_size(t, copied(t->m, r, place, i));
	}
	return hn_table_array(t, v, n);
}

static LLVMValueRef ranges(const struct hn_table *t)
{
	const struct hn_model *m = t->m;
	LLVMValueRef *v = HN_NEW_ARRAY(t->e->a, LLVMValueRef, m->n_range + 1);

	for (uint32_t i = 0; i < m->n_range; i++) {
		const struct hn_model_range *r = &m->range[i];
		const struct hn_table_field f[] = {
			AT(hone_gpu_range, in_bytes,
			   all_copied(t, r, HONE_MODEL_INPUT, m->n_input)),
			AT(hone_gpu_range, out_bytes,
			   all_copied(t, r, HONE_MODEL_OUTPUT, m->n_output)),
		};

		v[i] = STRUCTURE(t, hone_gpu_range, f);
	}
	return hn_table_array(t, v, m->n_range);
}

void hn_table_gpu(struct hn_table *t)
{
	const struct hn_gpu_module *m = t->m->module[0];
	uint64_t room;
	LLVMValueRef code = codes(t, &room);
	const struct hn_table_field f[] = {
		AT(hone_gpu, abi, hn_table_word(t, HONE_GPU_ABI)),
		AT(hone_gpu, form, hn_table_text(t, hn_gpu_forms[m->form].word)),
		AT(hone_gpu, isa, hn_table_text(t, m->isa)),
		AT(hone_gpu, model, t->model),
		AT(hone_gpu, codes, code),
		AT(hone_gpu, workspace_bytes, hn_table_size(t, room)),
		AT(hone_gpu, ranges, ranges(t)),
	};
	char *name = hn_arena_printf(t->e->a, "%s_gpu", t->m->name);

	t->entry = hn_table_global(t, name, STRUCTURE(t, hone_gpu, f));
	LLVMSetVisibility(t->entry, LLVMHiddenVisibility);
}
