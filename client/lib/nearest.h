/* client/lib/nearest.h -- finds the answer of the snapshot that the user means: by the beginning of
 * a key, and by a target or a near one. */
#ifndef HN_CLIENT_LIB_NEAREST_H
#define HN_CLIENT_LIB_NEAREST_H

#include "base/buf.h"
#include "db/snapshot/snapshot.h"
#include "target/target.h"

#define HN_PREFIX_LEAST 4 /* digits of a key, or of an id with its letter */

/* The one stored key that begins with `word`, which has at least HN_PREFIX_LEAST digits.  A whole
 * key stands for itself.  HONE_E_INVALID lists those that it could be, HONE_E_NOT_FOUND says that
 * there is none. */
int hn_nearest_key(const struct hn_snapshot *s, const char *word, char key[65],
		   struct hn_err *err) HN_NODISCARD;

/* How near an answer is, best first. */
enum hn_match {
	HN_MATCH_EXACT,	    /* measured on this very target */
	HN_MATCH_CLASS,	    /* on another of the same instruction set and features: numbers differ */
	HN_MATCH_NEAREST,   /* on another that lacks features that are here */
	HN_MATCH_AUTOMATIC, /* nothing is measured: the schedule by rule */
};

struct hn_nearest {
	struct hn_snapshot_entry entry;
	enum hn_match match;
	uint64_t differs; /* of the other machine; bit i: in number i below */
	struct hn_target have;
};

/* The numbers of a target that may differ: its parameters, then its features (1 = it has it). */
enum { HN_N_NUMBER = HN_N_PARAM + HN_N_TARGET_FEATURE };

const char *hn_nearest_name(uint32_t i);
int64_t hn_nearest_number(const struct hn_target *t, uint32_t i);

/* The record of this very target (whose canonical line is `line`), or, of the same kind and
 * instruction set with other parameters, and no feature that is lacking here, the one nearest to
 * it: the sum of the ratios' logarithms, and 1 for each feature.
 * HONE_E_NOT_FOUND says in a line what there is instead.  `have` lives in a. */
int hn_nearest_find(const struct hn_snapshot *s, const char *key, const struct hn_target *target,
		    const char *line, struct hn_arena *a, struct hn_nearest *ret,
		    struct hn_err *err) HN_NODISCARD;

/* Whether what is best for the target of `line` is an answer for `asked`, exact or near. */
bool hn_nearest_serves(const char *line, const struct hn_target *asked, struct hn_arena *a);

/* "num_cores 2, here 4; l2_bytes 524288, here 1048576"; nothing when exact. */
void hn_nearest_print(const struct hn_nearest *n, const struct hn_target *asked, struct hn_buf *b);

#endif
