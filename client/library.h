/* client/library.h -- a compiled network as a C library in a folder.
 *
 *     FILE.h        its functions, sizes, inputs and outputs
 *     FILE.o        table, kernels and run time in one object
 *     libFILE.so    the same as a shared library that shows the network's functions alone
 *     FILE.weights  the weights, to be mapped, unless they are embedded
 *     hone/, hone_pool.o, hone_model.o    what goes with every network (runtime.def)
 *
 * Of a network for a GPU the kernels are modules in FILE.o, and hone_gpu.o is what goes with it.
 *
 * Made by hone-build, which knows LLVM, and the system's linker.  Where there is no linker the
 * folder FILE.parts has the objects, and a text that says how to link them.  The result is the
 * same, byte by byte, for the same input and the same tools.
 */
#ifndef HN_CLIENT_LIBRARY_H
#define HN_CLIENT_LIBRARY_H

#include "graph/library/weights.h"
#include "proto/model.h"
#include "target/target.h"

#define HN_LIBRARY_NOTE 500 /* bytes */

/* What hone-build made of a kernel. */
struct hn_library_object {
	const void *bytes;
	size_t n_bytes;
	const bool *reads; /* [inputs] as hn_kernel has it; NULL: all */
};

struct hn_library {
	const char *file;	 /* as above; a C name */
	const char *target_line; /* for hone-build; the kernels are made for it */
	const struct hn_model
		*model; /* as hn_library_settle takes it (graph/library/settle.h) */
	uint32_t n_weight;
	const struct hn_weight *weight;
	const struct hn_library_object *object; /* [n_kernel of the model] */
	bool modules; /* objects are a GPU's modules (proto/gpu_module.h), for a program on this machine */
	bool embed; /* the weights are in the objects, as NAME_weights; there is no FILE.weights */
};

/* Write it into `dir`, which is made when it is not there, in the place of an older one.  All is
 * written into a temporary folder there and renamed when it is whole; signals that would end us
 * wait so long.  `wrote` is told the path of each file.
 *
 *   verb      for messages
 *   ret_note  "", or one line on what was not made, and why
 *
 * HONE_E_INVALID: the model makes no sense; HONE_E_IO and the like name the file; hone-build's
 * and the linker's complaints are passed on. */
int hn_library_write(const char *verb, const struct hn_library *l, const char *dir,
		     void (*wrote)(const char *path), char ret_note[HN_LIBRARY_NOTE],
		     struct hn_err *err) HN_NODISCARD;

#endif
