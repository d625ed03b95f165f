/* target/npu/npu_target.c -- which machine a target line means: profiles are whole machines, and a line
 * may name a smaller one, so that a schedule can be looked for that leaves room for others. */
#include <stdbool.h>

#include "target/npu/npu.h"
#include "target/target.h"

int hn_npu_profile_of_target(const struct hn_target *t, struct hn_npu_profile *ret, struct hn_err *err)
{
	int rc = hn_npu_profile_of(t->isa, ret, err);
	const struct {
		enum hn_param param;
		int64_t least, *field;
	} rows[] = {
		{ HN_PARAM_NUM_CORES, 1, &ret->cores },
		{ HN_PARAM_L1_BYTES, 512, &ret->ub_bytes },
		{ HN_PARAM_L2_BYTES, 512, &ret->l1_bytes },
		{ HN_PARAM_L3_BYTES, 1, &ret->l2_bytes },
	};

	for (size_t i = 0; i < HN_COUNT_OF(rows) && rc == 0; i++) {
		int64_t n = t->param[rows[i].param];

		if (n < rows[i].least || n > *rows[i].field) {
			rc = hn_fail(err, HONE_E_INVALID, "target: '-%s=%lld': %s has %lld, and a line may "
				     "say %lld at least", hn_param_name(rows[i].param), (long long)n,
				     t->isa, (long long)*rows[i].field, (long long)rows[i].least);
		} else {
			*rows[i].field = n;
		}
	}
	return rc;
}
