/* client/replay.h -- kernels as files in a folder: of one target, or of several, of which the one
 * that the processor can run is found when the program is loaded.
 *
 * All is written into a temporary folder there and renamed when it is whole.
 */
#ifndef HN_CLIENT_REPLAY_H
#define HN_CLIENT_REPLAY_H

#include <limits.h>

#include "client/check.h"
#include "client/linker.h"
#include "proto/gpu_module.h"
#include "target/target.h"

#define HN_REPLAY_MOST 8 /* targets */
#define HN_REPLAY_OF_GPU "--form" /* hone-build's word for forms of a GPU's kernel */
#define HN_REPLAY_OF_NPU "-" /* made here */

struct hn_replay_kernel {
	const char *target_line, *steps;
	struct hn_target target;
	double median_ns; /* 0 = unknown */
	struct hn_check check;
};

struct hn_replay {
	const struct hn_input *in;
	const char *symbol, *dir;
	bool json;
	uint32_t forms; /* bits of replay_forms.def, beside object, header and manifest */
	uint32_t n;
	struct hn_replay_kernel kernel[HN_REPLAY_MOST]; /* the first that fits is run */
	const char *work; /* the temporary folder */
};

enum {
#define FORM(id, name, member, front, behind, word, kind) HN_REPLAY_##id,
#include "client/replay_forms.def"
#undef FORM
	HN_REPLAY_FORMS
};

extern const struct hn_replay_form {
	const char *name, *member, *front, *behind, *word, *kind;
} hn_replay_form[HN_REPLAY_FORMS];

static inline bool hn_replay_has(const struct hn_replay *r, size_t form)
{
	return (r->forms >> form & 1) != 0;
}

/* -- replay_manifest.c ------------------------------------------------------------------------ */

/* "c,ir" as bits. */
int hn_replay_forms(const char *text, uint32_t *ret, struct hn_err *err) HN_NODISCARD;

/* Whether these forms can be made of these targets. */
int hn_replay_check_forms(const struct hn_replay *r, struct hn_err *err) HN_NODISCARD;

/* Whether the files may be written: what is there is an older kernel of the same computation, or
 * nothing. */
int hn_replay_check_place(const struct hn_replay *r, struct hn_err *err) HN_NODISCARD;

/* What manifests of one kernel, of a GPU's or the NPU's, begin with: names, key, target and time. */
void hn_replay_put_head(const struct hn_replay *r, struct hn_jw *w);

int hn_replay_manifest(const struct hn_replay *r, const char *path, struct hn_err *err) HN_NODISCARD;

/* --json: where the files are. */
void hn_replay_print(const struct hn_replay *r);

/* -- replay_make.c ---------------------------------------------------------------------------- */

/* Make and write them, and say where they are. */
int hn_replay_make(struct hn_replay *r, struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

/* -- replay_gpu.c: kernels that are modules (proto/gpu_module.h) ------------------------------ */

bool hn_replay_is_gpu(const struct hn_replay *r);
int hn_replay_make_gpu(struct hn_replay *r, struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

/* -- replay_npu.c: programs for the simulated NPU --------------------------------------------- */

int hn_replay_make_npu(struct hn_replay *r, struct hn_arena *a, struct hn_err *err) HN_NODISCARD;

/* -- replay_launch.c: the C source that launches it by NVIDIA's driver. */
void hn_replay_launcher(const struct hn_gpu_module *m, const char *symbol, struct hn_buf *ret);

/* -- replay_choice.c: several targets ------------------------------------------------------- */

/* The C source of the part that chooses; what any of the kernels has beside the call.  HONE_E_UNSUPPORTED for targets among which nothing can
 * choose when a program is loaded. */
int hn_replay_choice(const struct hn_replay *r, bool prepares, bool init, struct hn_buf *ret,
		     struct hn_err *err) HN_NODISCARD;

#endif
