/* proto/model.h -- a compiled network as data, and as the text that hone-build makes its table
 * from (include/hone/model.h).
 *
 * The text is one JSON object; docs/model-library.md has its members.  Everything in it is held
 * against everything else: an argument lies within what it lies in, nothing is written that is
 * only read, prepared blocks do not overlap, no two functions have one name.  So what hone-build
 * makes of it can be wrong only in what the kernels compute.
 */
#ifndef HN_PROTO_MODEL_H
#define HN_PROTO_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/dtype.h"
#include "base/err.h"
#include "hone/model.h"
#include "proto/gpu_module.h"

#define HN_MODEL_FORMAT "hone-model/2"
#define HN_MODEL_ALIGN 64
#define HN_MODEL_PAGE 4096
#define HN_MODEL_MAX_EMBEDDED ((uint64_t)1 << 30) /* of weights: objects are addressed by 32 bits */
#define HN_MODEL_MAX_BYTES ((uint64_t)1 << 50) /* of anything */
#define HN_MODEL_MAX_NAME 100 /* of the network and of kernels, which are C names */
#define HN_MODEL_MAX_LABEL 400
#define HN_MODEL_MAX_RANK 16
#define HN_MODEL_MAX_SIZES ((uint32_t)HONE_MODEL_MAX_SIZES)
#define HN_MODEL_MAX_RANGES 1024u
#define HN_MODEL_MAX_TENSORS 4096u /* inputs, and outputs */
#define HN_MODEL_MAX_KERNELS 65536u
#define HN_MODEL_MAX_STEPS (1u << 17)
#define HN_MODEL_MAX_OUT 64u /* outputs of a kernel; arguments: HONE_MODEL_MAX_ARGS */
#define HN_MODEL_MAX_ALL_ARGS (1u << 20) /* of all steps */

struct hn_model_tensor {
	const char *name; /* a label (base/name.h) */
	enum hn_dtype dtype;
	uint32_t n_dim;
	const int64_t *dim; /* at least 1 each; where sizes decide, the largest */
	const char *const *form; /* [n_dim] what sizes make of it, as "2 * batch"; NULL: numbers.
				  * For the header alone: the text has none */
};

/* An argument that is a part of a larger tensor: rows, further apart than they are long. */
struct hn_model_rows {
	uint64_t n, bytes; /* of each */
	uint64_t pitch;	   /* bytes from one to the next */
};

struct hn_model_kernel {
	const char
		*symbol; /* its functions are SYMBOL_packed, and SYMBOL_prepare_packed and
			     * SYMBOL_init where it has them */
	const char *name; /* a label, for profiles */
	uint32_t n_in, n_arg;
	const uint64_t *arg_bytes; /* [n_arg] inputs, then outputs: from the first to the last */
	const struct hn_model_rows *rows; /* [n_arg] n is 0 of one in a row; NULL: all are */
	const bool *constant;	   /* [n_in] the same in every run */
	uint64_t prepared_bytes;   /* 0: it prepares nothing */
	uint64_t workspace_bytes, worker_bytes;
	bool init;
	bool sized; /* SYMBOL_packed takes the model's sizes first */
};

struct hn_model_size {
	const char *name; /* a label */
	int64_t least, most, step;
};

/* The steps [first, first + n) are for these sizes. */
struct hn_model_range {
	const int64_t *least, *most; /* [n_size] */
	uint32_t first, n;
};

struct hn_model_step {
	const char *name; /* a label, for profiles */
	uint32_t kernel;
	const struct hone_model_arg *arg; /* [n_arg of the kernel] */
	/* Offset of its block; steps of one kernel with the same constant arguments may share
	 * it.  Stored: it was made beforehand, and the offset is in weights. */
	uint64_t prepared;
	bool stored;
};

struct hn_model {
	const char *name; /* what its functions begin with */
	uint32_t n_input, n_output, n_kernel, n_step;
	const struct hn_model_tensor *input, *output;
	const struct hn_model_kernel *kernel;
	const struct hn_model_step *step;
	uint64_t weights_bytes, prepared_bytes, arena_bytes;
	uint64_t stamp; /* of the weights (hone/model.h); 0: there are none, or nobody looks */
	uint32_t n_size, n_range; /* 0: all steps run, and no kernel takes sizes */
	const struct hn_model_size *size;
	const struct hn_model_range *range; /* the first that fits is run */
	/* [n_kernel] of a network for a GPU, which hone-build reads beside the text; NULL: kernels are
	 * functions. */
	const struct hn_gpu_module *const *module;
};

uint64_t hn_model_tensor_bytes(const struct hn_model_tensor *t);

/* From the first byte of the first row to the last of the last; a sum past 2^62 is 2^62. */
uint64_t hn_model_rows_span(const struct hn_model_rows *r);

/* Whether it may be a network's or a kernel's name: at most HN_MODEL_MAX_NAME letters, digits and
 * _, beginning with a letter and not with hone_. */
bool hn_model_name_fits(const char *s);

/* Whether it makes sense.  HONE_E_INVALID or HONE_E_QUOTA, naming the place as the text has it:
 * "steps[3].args[1]: ...". */
int hn_model_check(const struct hn_model *m, struct hn_err *err) HN_NODISCARD;

/* Of a checked one: whether step i is the first that its prepared block serves, and has to make it;
 * [n_step]. */
const bool *hn_model_prepares(const struct hn_model *m, struct hn_arena *a);

/* "input", "output", "arena", "weights", "nowhere" (enum hone_model_place). */
const char *hn_model_place_name(uint32_t place);

/* Append the text, of a checked one. */
void hn_model_write(const struct hn_model *m, struct hn_buf *buf);

/* Parse text[0..n) and check it.  `what` names it in messages. */
int hn_model_read(const char *what, const char *text, size_t n, struct hn_arena *a,
		  const struct hn_model **ret, struct hn_err *err) HN_NODISCARD;

#endif
