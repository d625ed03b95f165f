/* cuda_ptx.c -- modules of the mock that really run, on the machine for PTX (tests/ptx/ptx.h): so a board,
 * a compiled network or a host program is tried with the kernels that hone prints.  $MOCK_CUDA_FAULTS is a
 * file that gets a line for each fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cdefs.h"
#include "tests/mock/cuda_mock.h"
#include "tests/ptx/ptx.h"

#define MOST_RANGES 4096

cuda_result cuModuleLoadDataEx(cuda_id *m, const void *image, unsigned int n, unsigned int *option,
			       void **value);

struct mock_ptx {
	struct ptx_module *module;
	struct hn_arena a;
};

static struct ptx_range range[MOST_RANGES];
static uint32_t n_range;
static uint64_t launches;

void mock_ptx_memory(void *at, size_t bytes)
{
	if (at != NULL && n_range < MOST_RANGES) {
		range[n_range++] = (struct ptx_range){.at = at, .bytes = bytes};
	}
}

void mock_ptx_forget(void *at)
{
	for (uint32_t i = 0; i < n_range; i++) {
		if (range[i].at == at) {
			range[i] = range[--n_range];
			return;
		}
	}
}

struct mock_ptx *mock_ptx_load(const char *image, char *why, size_t n)
{
	struct mock_ptx *p = calloc(1, sizeof *p);
	struct hn_err err = {0};

	hn_arena_init(&p->a, 0);
	if (ptx_parse(image, strlen(image), &p->a, &p->module, &err) == 0) {
		return p;
	}
	snprintf(why, n, "%s", err.msg);
	mock_ptx_free(p);
	return NULL;
}

void mock_ptx_free(struct mock_ptx *p)
{
	hn_arena_fini(&p->a);
	free(p);
}

/* Where a value of so many bytes lies: maps are at a multiple of 64, and pointers are small. */
static size_t place(size_t at, uint32_t bytes)
{
	return bytes > 8 ? (at + 63) / 64 * 64 : (at + 7) / 8 * 8;
}

bool mock_ptx_keep(struct mock_launch *l, void **arg)
{
	size_t at = 0;

	for (uint32_t i = 0;; i++) {
		uint32_t bytes = ptx_parameter(l->function->ptx->module, l->function->name, i);

		if (bytes == 0) {
			return true;
		}
		at = place(at, bytes);
		if (at + bytes > sizeof l->param) {
			return false;
		}
		memcpy(l->param + at, arg[i], bytes);
		at += bytes;
	}
}

static void say(const char *why)
{
	const char *path = getenv("MOCK_CUDA_FAULTS");
	FILE *f = path != NULL ? fopen(path, "a") : NULL;

	if (f != NULL) {
		fprintf(f, "%s\n", why);
		fclose(f);
	}
}

cuda_result mock_ptx_run(const struct mock_launch *l)
{
	void *param[MOCK_PARAM / 8];
	struct mock_launch kept = *l; /* at its alignment, and to be written */
	struct ptx_launch to = {.kernel = l->function->name, .shared = l->shared, .param = param,
				.range = range, .n_range = n_range, .seed = launches++};
	struct ptx_counts counts = {0};
	struct hn_err err = {0};
	size_t at = 0;

	for (uint32_t i = 0; i < HN_COUNT_OF(param); i++) {
		uint32_t bytes = ptx_parameter(l->function->ptx->module, l->function->name, i);

		at = place(at, bytes);
		param[i] = kept.param + at;
		at += bytes;
	}
	for (int i = 0; i < 3; i++) {
		to.grid[i] = l->grid[i];
		to.block[i] = l->block[i];
	}
	if (ptx_run(l->function->ptx->module, &to, &counts, &err) == 0) {
		return 0;
	}
	say(err.msg);
	return CUDA_E_ILLEGAL_ADDRESS;
}

/* What host programs call besides (`hone replay --as launch`). */
cuda_result cuModuleLoadData(cuda_id *m, const void *image);
cuda_result cuCtxSynchronize(void);

cuda_result cuModuleLoadData(cuda_id *m, const void *image)
{
	return cuModuleLoadDataEx(m, image, 0, NULL, NULL);
}

cuda_result cuCtxSynchronize(void)
{
	return mock_sticky;
}
