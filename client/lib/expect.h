/* client/lib/expect.h -- what a schedule is expected to take on a machine where nobody measured it. */
#ifndef HN_CLIENT_LIB_EXPECT_H
#define HN_CLIENT_LIB_EXPECT_H

#include "target/target.h"

struct hn_expect {
	const char *dag, *steps; /* JSON */
	bool cold;
	double median_ns; /* as it was measured on `there`; 0: nowhere */
	const struct hn_target *there, *here;
};

/* *ret_ns: the analytic model's time on `here`; and where there is a median, this times by how much
 * the model finds `here` slower than `there`: what it is wrong about is then wrong of both.
 * HONE_E_UNSUPPORTED for programs that the model does not look at. */
int hn_expect(const struct hn_expect *x, struct hn_arena *a, double *ret_ns,
	      struct hn_err *err) HN_NODISCARD;

#endif
