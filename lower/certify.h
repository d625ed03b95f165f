/* lower/certify.h -- what a proof of legality leaves behind: what was checked, by what, and
 * the order it was checked for. */
#ifndef HN_LOWER_CERTIFY_H
#define HN_LOWER_CERTIFY_H

#include <isl/union_map.h>

#include "base/buf.h"
#include "lower/poly.h"

#define HN_CERTIFICATE_FORMAT "hone-certificate/1"

/* { S0[loops] -> [time]; ... }: for each statement of the model its place in the order of the
 * tree, coordinates of text and loops in turn, padded with zeros to one length.  NULL when
 * isl failed.  The caller frees it. */
isl_union_map *hn_poly_schedule(const struct hn_poly *p);

/* One JSON object: format, versions of hone and isl, the checks, whether the order of sums
 * was free, what each statement does, and the schedule map as isl text.  Nonzero when isl failed. */
int hn_certificate_write(const struct hn_poly *p, struct hn_buf *ret);

#endif
