/* lower/gpu/gpu.h -- device programs printed in the languages of GPUs.
 *
 * One walk (gpu_walk.c) goes through a device program and decides what every language needs: which
 * loops are written out, how an index is put together, which asynchronous copies are one
 * instruction.  A language (struct gpu_lang, gpu_int.h) only says how each thing is written.
 */
#ifndef HN_LOWER_GPU_GPU_H
#define HN_LOWER_GPU_GPU_H

#include "lower/device/device.h"
#include "lower/lower.h"
#include "proto/gpu_module.h"

/* Processor time of LLVM's part of printing PTX; the rest is the walk. */
struct hn_gpu_times {
	int64_t passes, codegen; /* ns: verifier and passes; its instructions, as text */
};

struct hn_gpu_options {
	bool sums_anyhow, picks_anyhow; /* sums, minima and maxima may be taken in another order */
	bool contracts; /* a product and a sum may become one operation (loopstate/dag/liberty.h) */
	const char **ir; /* PTX: LLVM's text of what it was made of, in the arena; NULL: not wanted */
	struct hn_gpu_times *times; /* PTX; NULL: not wanted */
};

/* The program as a module of that form (not CUBIN, which is assembled from PTX).  It is as
 * hn_device_check wants it.  HONE_E_UNSUPPORTED names what has no form in the language. */
int hn_gpu_print(const struct hn_device *d, enum hn_gpu_form form, const struct hn_target *target,
		 const struct hn_gpu_options *options, struct hn_arena *a,
		 struct hn_gpu_module *ret, struct hn_err *err) HN_NODISCARD;

/* Put a fault into the module's text, for tests (plant.c); HONE_E_UNSUPPORTED where the form or the
 * fault has none. */
int hn_gpu_plant(struct hn_gpu_module *m, enum hn_plant plant, struct hn_arena *a,
		 struct hn_err *err) HN_NODISCARD;

#endif
