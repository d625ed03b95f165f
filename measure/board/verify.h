/* measure/board/verify.h -- is this the reference's answer?
 *
 * Floats: |got - want| <= tolerance * max(|want|, scale), scale = RMS of the reference
 * output, so that a sum that cancels to nearly nothing is judged by the size of its
 * terms; of a type of 16 bits one unit of its subnormal numbers, which have fewer bits than the
 * tolerance is made for, is always allowed; NaN equals NaN only, an infinity only itself.  Integers and bools: exact.
 * Outputs are poisoned before a run, so that an element never written cannot pass: before the
 * first with bytes that are no number, later in disguise (poison.h).
 */
#ifndef HN_MEASURE_BOARD_VERIFY_H
#define HN_MEASURE_BOARD_VERIFY_H

#include "measure/board/tensor.h"

#define HN_POISON_FIRST 0xff  /* a NaN in every float type, -1 in the signed ones */
#define HN_POISON_SECOND 0x7f /* 3.4e38, 1.4e306, 127 */

struct hn_mismatch {
	int64_t n;     /* elements that differ */
	int64_t first; /* flat index of the first of them */
	double worst;  /* largest |got - want| / allowed, floats only; may be inf */
};

/* Root mean square of the finite elements; 0 for integer types. */
double hn_verify_scale(const struct hn_tensor *t, const void *want);

/* Compare t->n_elem elements. Returns ret->n == 0. */
bool hn_verify(const struct hn_tensor *t, const void *got, const void *want,
	       double tolerance, double scale, struct hn_mismatch *ret);

/* The largest |got - want| / max(|want|, scale) of those that are finite; 0 for integer types. */
double hn_verify_error(const struct hn_tensor *t, const void *got, const void *want, double scale);

/* hn_verify of elements [begin, end) alone. */
bool hn_verify_part(const struct hn_tensor *t, const void *got, const void *want, int64_t begin,
		    int64_t end, double tolerance, double scale, struct hn_mismatch *ret);

/* Whether elements [begin, end) lie between those of low and high, want being one of those between;
 * a NaN only where it is wanted. */
bool hn_verify_between(const struct hn_tensor *t, const void *got, const void *want, const void *low,
		       const void *high, int64_t begin, int64_t end, struct hn_mismatch *ret);

/* "C[3,0]: got 1.5, want 2.5" of the element of flat index at, its two values given, into text. */
void hn_verify_print(const struct hn_tensor *t, int64_t at, const void *got, const void *want,
		     char *text, size_t text_bytes);

/* "C[3,0]: got 1.5, want 2.5; 12 of 4096 elements differ", into text. */
void hn_mismatch_print(const struct hn_tensor *t, const void *got, const void *want,
		       const struct hn_mismatch *m, char *text, size_t text_bytes);

#endif
