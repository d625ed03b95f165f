/* measure/board/poison.h -- fills outputs with wrong values before a call, so that elements
 * which the call leaves out are noticed.
 *
 * Bytes that are no number (verify.h) are noticed at once. But a kernel can recognise them, and
 * may be right only when it finds them. So there are two disguises, made from the right answer
 * and random numbers:
 *   - every element is wrong by once or twice its own size (or the scale's), like the answer on
 *     other inputs;
 *   - the right answer, but for a few elements. A kernel that tests whether its answer is
 *     already there leaves these as they are.
 */
#ifndef HN_MEASURE_BOARD_POISON_H
#define HN_MEASURE_BOARD_POISON_H

#include "base/rng.h"
#include "measure/board/tensor.h"

/* Fill got[0..t->bytes) with what is wrong everywhere by any tolerance below 1.  want: the right
 * answer, of that scale (hn_verify_scale). */
void hn_poison_all(const struct hn_tensor *t, const void *want, double scale, struct hn_rng *r,
		   void *got);

/* The same of one element. */
void hn_poison_one(const struct hn_tensor *t, const void *want, double scale, struct hn_rng *r,
		   int64_t i, void *got);

/* Fill bytes[0..n) with random ones. */
void hn_poison_noise(struct hn_rng *r, void *bytes, size_t n);

#endif
