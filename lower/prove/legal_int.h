/* lower/prove/legal_int.h -- what the parts of the legality check share. */
#ifndef HN_LOWER_PROVE_LEGAL_INT_H
#define HN_LOWER_PROVE_LEGAL_INT_H

#include "lower/lower.h"
#include "lower/prove/poly.h"

struct hn_legal {
	struct hn_poly poly;
	struct hn_arena arena;
	struct hn_err *err;
	bool illegal;
};

static inline const struct hn_op *hn_legal_op(const struct hn_legal *c, int32_t op)
{
	return c->poly.tree->dag->op[op];
}

/* Records the first refusal. */
#define HN_REFUSE(c, ...)                                                                \
	do {                                                                             \
		if (!(c)->illegal) {                                                     \
			(void)hn_fail((c)->err, HONE_E_INVALID, __VA_ARGS__);            \
			(c)->illegal = true;                                             \
		}                                                                        \
	} while (0)

/* 5. Concurrent loops: refuse when iterations that run at the same time share an element. */
void hn_legal_check_loops(struct hn_legal *c, const struct hn_node *node);

#endif
