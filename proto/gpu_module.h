/* proto/gpu_module.h -- a program for a GPU as one artefact: who made it hands it to who runs it.
 *
 * hone-build writes it and a board reads it, in another process.  So all that a driver has to be
 * told stands in it: the buffers, and the kernels in the order of their launches.  The head is
 * text, one line each; behind the last line is the code, as many bytes as that line says:
 *
 *     module/1 ptx sm_80
 *     buffer 15360 0                     bytes, and the argument that it is
 *     buffer 4096 -1                     -1: workspace, contents undefined before the first kernel
 *     map 0 elem 2 dims 2 size 128 256 stride 512 2 box 128 64 swizzle 128
 *     kernel k0 grid 30 1 1 block 32 1 1 shared 128 0 args 1 0 maps 0
 *     code 1234
 *
 * `shared`: bytes of a block that the code declares itself, and bytes that the launch has to ask
 * for.  `args`: numbers of the buffers that are the kernel's parameters, in order.  A buffer lies at
 * a multiple of HN_GPU_ALIGN bytes.
 *
 * `map`: a tensor map, of a buffer: bytes of an element; elements of each dimension, the last of which
 * lie side by side, bytes from one to the next, and elements of the box that one copy brings; bytes in
 * which chunks of 16 change places, 0: they do not.  `maps`: numbers of those that are parameters
 * behind the buffers, HN_GPU_MAP_BYTES each, at a multiple of HN_GPU_MAP_ALIGN.  A kernel without any
 * has no such word.
 */
#ifndef HN_PROTO_GPU_MODULE_H
#define HN_PROTO_GPU_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define HN_GPU_FORMAT "module/1"
#define HN_GPU_ALIGN 16
#define HN_GPU_MAX_BUFFERS 1024
#define HN_GPU_MAX_KERNELS 1024
#define HN_GPU_MAX_ARGS 256	     /* of the task, and of a kernel */
#define HN_GPU_MAX_NAME 63	     /* bytes of a kernel's name, and of the isa */
#define HN_GPU_MAX_BYTES (1LL << 40) /* of a buffer */
#define HN_GPU_MAX_SHARED (1 << 20)  /* bytes of a block */
#define HN_GPU_MAX_THREADS 1024	     /* of a block */
#define HN_GPU_MAX_GRID 0x7fffffff   /* blocks in a dimension */
#define HN_GPU_MAX_CODE (32 << 20)
#define HN_GPU_MAX_MAPS 64
#define HN_GPU_MAP_DIM 5
#define HN_GPU_MAP_BYTES 128
#define HN_GPU_MAP_ALIGN 64
#define HN_GPU_MAP_CHUNK 16	   /* bytes: strides and rows of boxes are multiples */
#define HN_GPU_MAP_BOX 256	   /* elements of a box in a dimension, at most */
#define HN_GPU_MAP_SIZE (1LL << 32)   /* elements of a dimension, at most */
#define HN_GPU_MAP_STRIDE (1LL << 40) /* bytes, less */

enum hn_gpu_form {
#define GPU_FORM(name, word, text, suffix) HN_GPU_##name,
#include "proto/gpu_forms.def"
#undef GPU_FORM
	HN_GPU_N_FORM
};

struct hn_gpu_form_row {
	const char *word;
	bool text; /* its code is text: no byte of it is 0 */
	const char *suffix;
};

extern const struct hn_gpu_form_row hn_gpu_forms[HN_GPU_N_FORM];

/* The form of that word; HN_GPU_N_FORM: none. */
enum hn_gpu_form hn_gpu_form_of(const char *word);

struct hn_gpu_buffer {
	int64_t bytes; /* at least 1 */
	int32_t arg;   /* of the task; -1: workspace.  No two are one argument */
};

struct hn_gpu_map {
	uint32_t buffer;
	int64_t elem; /* bytes: 1, 2, 4 or 8 */
	uint32_t n_dim;
	int64_t size[HN_GPU_MAP_DIM], stride[HN_GPU_MAP_DIM], box[HN_GPU_MAP_DIM];
	int64_t swizzle; /* 0, 32, 64 or 128 */
};

struct hn_gpu_kernel {
	const char *name; /* a C name, no other kernel's */
	int64_t grid[3];  /* blocks */
	int64_t block[3]; /* threads of each */
	int64_t static_shared, dynamic_shared; /* bytes */
	uint32_t n_arg;
	const uint32_t *arg; /* [n_arg] buffers */
	uint32_t n_map;
	const uint32_t *map; /* [n_map] maps */
};

struct hn_gpu_module {
	enum hn_gpu_form form;
	const char *isa; /* of the target that it is made for: "sm_80" */
	uint32_t n_buffer;
	const struct hn_gpu_buffer *buffer;
	uint32_t n_map;
	const struct hn_gpu_map *map;
	uint32_t n_kernel; /* at least 1 */
	const struct hn_gpu_kernel *kernel;
	const void *code;
	size_t code_bytes; /* at least 1; a NUL that does not count follows what was read */
};

/* 0, or HONE_E_INVALID with one line that names what is wrong. */
int hn_gpu_module_check(const struct hn_gpu_module *m, struct hn_err *err) HN_NODISCARD;

/* Head and code; m is as hn_gpu_module_check wants it. */
void hn_gpu_module_write(const struct hn_gpu_module *m, struct hn_buf *buf);

/* Read what anybody may have written; all of the result lies in the arena.  HONE_E_INVALID with
 * "what:line: ..."; what is taken is as hn_gpu_module_check wants it. */
int hn_gpu_module_read(const char *what, const void *bytes, size_t n, struct hn_arena *a,
		       const struct hn_gpu_module **ret, struct hn_err *err) HN_NODISCARD;

#endif
