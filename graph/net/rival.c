/* graph/net/rival.c -- see rival.h. */
#include "graph/net/rival.h"

#include <stddef.h>

#include "base/cdefs.h"
#include "graph/ir/op.h"

#define ONLY(class) (1u << HN_GOP_##class)
#define HEAVY (ONLY(REDUCE) | ONLY(CONTRACT) | ONLY(NORMALIZE))
#define ANY (~0u)

static const struct hn_rival rivals[] = {
#define RIVAL(name, say, front, reader, behind, meets, text)                                      \
	{ #name, text, HN_NET_##say, front, reader, behind, meets, false },
#include "graph/net/rivals.def"
#undef RIVAL
};

_Static_assert(HN_COUNT_OF(rivals) <= HN_RIVALS_MAX, "HN_RIVALS_MAX");

const struct hn_rival *hn_rival_at(uint32_t i)
{
	return i < HN_COUNT_OF(rivals) ? &rivals[i] : NULL;
}

const struct hn_rival *hn_rival_fused(void)
{
	static const struct hn_rival fused = { "fused", "one kernel, but for sums of products", HN_NET_JOIN,
					       ~ONLY(CONTRACT), ~ONLY(CONTRACT), ~ONLY(CONTRACT), false, true };

	return &fused;
}

enum hn_net_say hn_net_choice_say(const struct hn_net_choice *choice, const struct hn_net_edge *e)
{
	const struct hn_rival *r = choice != NULL ? choice->rival : NULL;

	if (choice != NULL && choice->say != NULL && choice->say[e->value] != HN_NET_RULE) {
		return choice->say[e->value];
	}
	return r != NULL && (r->front >> e->front & 1) != 0 && (r->reader >> e->reader & 1) != 0 &&
			       (r->behind >> e->behind & 1) != 0 && (!r->meets || e->meets)
		       ? r->say
		       : HN_NET_RULE;
}
