/* hone/load.h -- libhone: load a kernel from the files that `hone replay` writes, and call it.
 *
 *     struct hone_kernel *kernel;
 *     const struct hone_tensor *args[] = { &a, &b, &c };
 *
 *     if (hone_kernel_open("out/mm.o", NULL, &kernel, &error) != 0 ||
 *         hone_kernel_call_dlpack(kernel, args, 3, NULL, &error) != 0) {
 *             fprintf(stderr, "%s\n", error.text);
 *     }
 *
 * No compiler, no linker, no file but the one.  What it is for stands in the object itself, and
 * what the machine or the arguments lack is refused with the reason, before anything of it runs.
 * Nothing runs when libhone is loaded: it has no constructors.  Any number of threads may call one
 * kernel.  C89 but for <stdint.h>.
 */
#ifndef HONE_LOAD_H
#define HONE_LOAD_H

#include "hone/hone.h"
#include "hone/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hone_kernel;

/* Load `path`: NAME.o; or NAME.json, the manifest beside it, which then must say the same as the
 * object; or libNAME.so.  `workload`: the key that it must be of, or NULL for any.
 * HONE_CORRUPT: cut short or changed; HONE_UNSUPPORTED: for a processor that this one is not, or a
 * file of another kind; HONE_INVALID: of another workload, or a manifest that says something else;
 * HONE_VERSION_MISMATCH: of a later hone. */
int hone_kernel_open(const char *path, const char *workload, struct hone_kernel **ret,
		     struct hone_error *error);
/* How to make one; zeros are fine. */
struct hone_build {
	const char *home;     /* of the store; NULL: as hone_store_open */
	const char *programs; /* the folder of hone's programs; NULL: PATH */
	const char *dir;      /* where the files stay; NULL: they go at once */
	const char *symbol;   /* what they and the kernel are called; NULL: kernel */
	const char *target;   /* a target line; NULL: this machine */
	int automatic;	      /* not 0: the schedule by rule, of which no store needs to know */
};

/* Make the kernel of the best stored schedule of a computation (compute-dag/1 or text, a string),
 * and load it.  It runs `hone replay` and waits, some tenths of a second. */
int hone_kernel_build(const char *text, const struct hone_build *how, struct hone_kernel **ret,
		      struct hone_error *error);

/* NULL is fine.  Nobody may be in a call of it. */
void hone_kernel_close(struct hone_kernel *kernel);

/* What the object says of itself: one line of JSON (docs/libhone.md).  It lives as long as the
 * kernel does. */
const char *hone_kernel_info(const struct hone_kernel *kernel);

/* What hone_env.workspace should have for so many workers, and hone_env.prepared; 0 = nothing. */
uint64_t hone_kernel_workspace_bytes(const struct hone_kernel *kernel, int32_t n_workers);
uint64_t hone_kernel_prepared_bytes(const struct hone_kernel *kernel);

/* A tensor, as DLPack lays it out (DLTensor, the same in all its versions).  Of a DLManagedTensor
 * it is the first member, of a DLManagedTensorVersioned the last. */
struct hone_tensor {
	void *data;
	int32_t device_type; /* 1: the CPU */
	int32_t device_id;
	int32_t ndim;
	uint8_t code; /* 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool */
	uint8_t bits;
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides; /* in elements; NULL: row-major, without gaps */
	uint64_t byte_offset;
};

/* Call it with n tensors in the order of its arguments.  Each is looked at: null, device, element
 * type, rank, extents, strides, alignment, and whether an output lies over another argument.
 * HONE_INVALID says which argument it is and what is wrong, and nothing was touched.
 * `env` as for the kernel itself, or NULL: a pool of libhone's own, with a thread for each CPU;
 * a call while another has it runs on its caller alone. */
int hone_kernel_call_dlpack(const struct hone_kernel *kernel,
			    const struct hone_tensor *const *tensors, int32_t n,
			    const struct hone_env *env, struct hone_error *error);

/* The same without a call: 0, or what would be refused. */
int hone_kernel_check_dlpack(const struct hone_kernel *kernel,
			     const struct hone_tensor *const *tensors, int32_t n,
			     struct hone_error *error);

/* Call it with pointers, unchecked: NAME_packed of hone/kernel.h, and what that answers.  sizes: of
 * a kernel that has size parameters, else not looked at. */
int32_t hone_kernel_call(const struct hone_kernel *kernel, const int64_t *sizes,
			 void *const *args, const struct hone_env *env);

/* Fill hone_kernel_prepared_bytes at `prepared`: NAME_prepare_packed. */
int32_t hone_kernel_prepare(const struct hone_kernel *kernel, void *const *args, void *prepared,
			    const struct hone_env *env);

/* Whether a file of hone's that holds code is whole and as it was written (HONE_CORRUPT): for
 * those who load a shared library by other means. */
int hone_file_check(const char *path, struct hone_error *error);

/* Whether this machine runs what was made for a target line, as manifests have it (HONE_UNSUPPORTED). */
int hone_target_check(const char *target, struct hone_error *error);

#ifdef __cplusplus
}
#endif

#endif
