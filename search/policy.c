/* search/policy.c -- the table of policies. */
#include "search/policy.h"

#include <string.h>

#define POLICY(name) extern const struct hn_policy_ops hn_policy_##name;
#include "search/policies.def"
#undef POLICY

static const struct hn_policy_ops *const policies[] = {
#define POLICY(name) &hn_policy_##name,
#include "search/policies.def"
#undef POLICY
};

const struct hn_policy_ops *hn_policy_ops(const char *name)
{
	if (strcmp(name, "guard") == 0) { /* its name in older scripts and stores */
		return &hn_policy_heuristic;
	}
	for (size_t i = 0; i < HN_COUNT_OF(policies); i++) {
		if (strcmp(policies[i]->name, name) == 0) {
			return policies[i];
		}
	}
	return NULL;
}
