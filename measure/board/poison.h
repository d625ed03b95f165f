/* measure/board/poison.h -- what lies in an output before a call, so that what the call leaves out
 * shows.
 *
 * Bytes that are no number (verify.h) show it at once, and can be recognised: a kernel that works
 * only when it finds them passes.  So there are two disguises, both made from the right answer and
 * random numbers: every element wrong, each by once or twice its own size (or the scale's), as the
 * answer on other inputs would be; or the right answer but for a few elements, which a kernel that
 * looks whether its answer is there already leaves as they are.
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
