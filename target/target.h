/* target/target.h -- hardware as data: capability bits and numbers.
 *
 * Search, sketch and cost model read these and never a target's name.  A target prints to
 * and parses from one line of text, which is also its key in the store:
 *
 *     cpu -isa=x86-64-avx512 -mattr=+avx512vnni -num_cores=2 -vector_unit_bytes=64 ...
 */
#ifndef HN_TARGET_TARGET_H
#define HN_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum hn_param {
#define PARAM(name, unit, fallback, least, greatest, text) HN_PARAM_##name,
#include "target/params.def"
#undef PARAM
	HN_N_PARAM
};

enum { HN_N_TARGET_FEATURE = 0 /* rows of features.def; bit i of a set is row i */
#define FEATURE(name, family, level, bytes, needs, word, bit, os) +1
#include "target/features.def"
#undef FEATURE
};

enum hn_cap { /* bits */
	      HN_CAP_VECTOR = 1,
	      HN_CAP_THREADS = 2,     /* parallel loops on cores */
	      HN_CAP_SHARED = 4,      /* block-shared memory */
	      HN_CAP_GPU_THREADS = 8, /* block and thread indices */
	      HN_CAP_MATRIX_UNIT = 16, /* of a warp: mma.sync and ldmatrix, where there are warps */
	      HN_CAP_BUFFERS = 32, /* it works in buffers that programs fill and empty */
	      HN_CAP_FMA = 64,
	      HN_CAP_MASKED_VECTOR = 128, /* cheap masked loads and stores */
	      HN_CAP_MODULES = 256 /* a driver loads its kernels, and nothing is prepared before */
};

struct hn_intrin;

struct hn_target {
	const char
		*kind; /* "cpu", "cuda", "npu": the row of targets.def; recipes, emitters
			* and board drivers are found by it, nothing branches on it */
	const char *isa; /* "x86-64-avx2"; the emitter's word for what may be executed */
	uint32_t caps;	 /* enum hn_cap bits */
	uint32_t features; /* what it has beside its isa; ask hn_target_has */
	int64_t param[HN_N_PARAM];
};

/* This machine, read from the CPU itself (feature bits, cores this process may use,
 * caches). */
void hn_target_host(struct hn_arena *a, struct hn_target *ret);

/* Parse the line; "native" is this machine; parameters left out take the host's value
 * when the isa is the host's, else the default; so do features, of which other machines have none.
 * HONE_E_INVALID names the word. */
int hn_target_parse(const char *text, struct hn_arena *a, struct hn_target *ret,
		    struct hn_err *err) HN_NODISCARD;

/* The same on another machine than this one, which is `host`, and without a look at this one: a
 * microsecond.  Of a canonical line all is told, and the host does not matter. */
int hn_target_parse_on(const struct hn_target *host, const char *text, struct hn_arena *a,
		       struct hn_target *ret, struct hn_err *err) HN_NODISCARD;

/* hn_target_parse for who has a store in `home`: a name that its file of targets (named.h) gives is the
 * line behind it, and what `hone board probe` measured of this machine
 * (HN_TARGET_MACHINE there) comes before what the machine says of itself, and after the
 * words of the line.  A file of another isa, or none, changes nothing.  HONE_E_CORRUPT when
 * a file cannot be understood. */
int hn_target_parse_at(const char *home, const char *text, struct hn_arena *a,
		       struct hn_target *ret, struct hn_err *err) HN_NODISCARD;

#define HN_TARGET_MACHINE "machine.target"

/* Whether a target line may begin with this word: "native", or a kind. */
bool hn_target_is_kind(const char *word);

/* The canonical line.  An isa that may have features says which, "-mattr=" when none: without the
 * word a reader of the same isa would take its own. */
void hn_target_print(const struct hn_target *t, struct hn_buf *buf);

/* What code for it is made of, for people: "x86-64-avx512 +avx512vnni,+avx512bf16". */
void hn_target_print_isa(const struct hn_target *t, struct hn_buf *buf);

/* Whether the target has the feature, a name of features.def: the widest vector in bytes that its
 * instructions take; 0 = it lacks it, or there is no such feature. */
uint32_t hn_target_has(const struct hn_target *t, const char *feature);
const char *hn_target_feature_name(uint32_t i);

/* The same of an instruction (loopstate/state/intrin.h), which needs one of its features. */
uint32_t hn_target_has_intrin(const struct hn_target *t, const struct hn_intrin *in);

/* Whether code for `t` can run on `host` (same kind, isa not above the host's, no feature that the
 * host lacks). */
bool hn_target_runs_on(const struct hn_target *t, const struct hn_target *host);

/* Whether the two are of one family of processors, of which each may run what is made for the least
 * of them. */
bool hn_target_is_akin(const struct hn_target *t, const struct hn_target *other);

const char *hn_param_name(enum hn_param p); /* lower case */

#endif
