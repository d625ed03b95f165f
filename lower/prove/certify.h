/* lower/prove/certify.h -- what a proof of legality leaves behind: what was checked, by what, and
 * the order it was checked for. */
#ifndef HN_LOWER_PROVE_CERTIFY_H
#define HN_LOWER_PROVE_CERTIFY_H

#include "base/buf.h"
#include "lower/prove/equal.h"
#include "lower/prove/poly.h"

#define HN_CERTIFICATE_FORMAT "hone-certificate/1"

/* { S0[loops] -> [time] : ranges of the loops; ... } as text that isl reads: for each
 * statement of the model its place in the order of the tree, coordinates of text and loops in
 * turn, padded with zeros to one length.  Guards are left out. */
void hn_poly_schedule(const struct hn_poly *p, struct hn_buf *ret);

/* One JSON object: format, versions of hone and isl, the checks, how the
 * derived dag was shown to be the task's, what each statement does, and the schedule map as isl
 * text.  Nonzero when memory is short. */
int hn_certificate_write(const struct hn_poly *p, const struct hn_equal *equal,
			 struct hn_buf *ret);

#endif
