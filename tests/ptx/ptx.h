/* tests/ptx/ptx.h -- a machine for PTX: it reads a module's text and runs its kernels on this
 * processor, so that what is printed for NVIDIA's GPUs is tried where there is none.
 *
 * It is written from NVIDIA's description of the instructions alone, and shares nothing with the
 * printers and with the interpreter of device programs: what two readers of one page agree on is
 * likely what the page says.  It knows the instructions that hone's kernels have, refuses others by
 * name, and checks more than a GPU does: each access lies in an array and at its alignment; warps
 * change at random; what is asynchronous comes at once, or as late as it may; shared memory and
 * registers hold no zeros to begin with; warpgroups' products read nothing that no fence made
 * visible; a launch ends, or is said to hang.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA 8.5. */
#ifndef HN_TESTS_PTX_PTX_H
#define HN_TESTS_PTX_PTX_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct ptx_module;

/* Global memory that a kernel may touch. */
struct ptx_range {
	void *at;
	uint64_t bytes;
	bool constant; /* a store is a fault */
};

struct ptx_launch {
	const char *kernel;
	uint32_t grid[3], block[3];
	uint32_t shared; /* bytes of dynamic shared memory */
	void **param;	 /* a pointer to the value of each parameter, as in cuLaunchKernel */
	const struct ptx_range *range;
	uint32_t n_range;
	uint64_t seed;	/* of the order of warps, and of when asynchronous things come */
	uint64_t steps; /* of all warps together, at most; 0: no limit */
};

/* What ran: numbers of warps' instructions. */
struct ptx_counts {
	uint64_t steps, products; /* all; of tensor cores */
	uint64_t bulk_bytes;	  /* brought by bulk copies */
};

/* The module of `text`, in the arena; the text need not stay.  Negative: not understood, and err says
 * which line. */
int ptx_parse(const char *text, size_t n, struct hn_arena *a, struct ptx_module **module,
	      struct hn_err *err);

/* Names of its kernels, in their order; NULL behind the last. */
const char *ptx_kernel(const struct ptx_module *m, uint32_t i);

/* Bytes of a kernel's i-th parameter; 0: it has none of that number. */
uint32_t ptx_parameter(const struct ptx_module *m, const char *kernel, uint32_t i);

/* Runs one kernel to its end.  Negative: a fault, and err says the line, the block and the lane, or
 * that it hangs.  What it wrote before a fault stays written. */
int ptx_run(const struct ptx_module *m, const struct ptx_launch *l, struct ptx_counts *counts,
	    struct hn_err *err);

struct hn_gpu_module;

/* Runs all kernels of a module in PTX on its arguments' memory, arg[i] for argument i, in the order of
 * its launches; workspaces hold no zeros at first.  No argument counts as constant.  `steps`: of a launch. */
int ptx_run_module(const struct hn_gpu_module *m, void *const *arg, uint64_t seed, uint64_t steps,
		   struct ptx_counts *counts, struct hn_err *err);

/* What cuTensorMapEncodeTiled makes of its arguments for this machine: 128 bytes, at a multiple of
 * 64.  Ranks 1 to 5; sizes, strides and boxes from the innermost dimension, strides in bytes from the
 * second on. */
struct ptx_map {
	_Alignas(64) char *at;
	uint64_t size[5], stride[4];
	uint16_t box[5];
	uint8_t rank, bytes; /* of an element */
	uint8_t swizzle;     /* bytes of the span: 0 (none), 32, 64, 128 */
};
_Static_assert(sizeof(struct ptx_map) <= 128, "a tensor map has 128 bytes");

#endif
