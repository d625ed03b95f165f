/* ring.c -- see ring.h.
 *
 * In turn t the children of a loop work on iterations t + least ... t + most.  Iterations i < j of
 * one copy are `ring` or more apart.  The last turn that touches i is i - least, the first that
 * touches j is j - most: it is later where ring > most - least.
 */
#include "loopstate/nest/ring.h"

#include "loopstate/state/ann.h"

bool hn_ring_uneven(const struct hn_node *loop)
{
	bool any = false;

	for (uint32_t i = 0; i < loop->n_child; i++) {
		any = any || loop->child[i]->ahead != 0;
	}
	return any;
}

int32_t hn_ring_ahead(const struct hn_node *loop)
{
	int32_t most = 0;

	for (uint32_t i = 0; i < loop->n_child; i++) {
		most = loop->child[i]->ahead > most ? loop->child[i]->ahead : most;
	}
	return most;
}

static const char *loop_why_not(const struct hn_looptree *t, const struct hn_node *loop)
{
	int32_t most = loop->child[0]->ahead, least = most;

	for (uint32_t i = 1; i < loop->n_child; i++) {
		int32_t ahead = loop->child[i]->ahead;

		most = ahead > most ? ahead : most;
		least = ahead < least ? ahead : least;
	}
	if (most == 0 && least == 0) {
		return NULL;
	}
	if (loop->kind != HN_NODE_LOOP || hn_ann_concurrent(loop->ann)) {
		return "some of it is ahead, and its iterations do not follow one "
		       "another";
	}
	for (uint32_t i = 0; i < t->dag->n_op; i++) {
		const struct hn_buffer *b = &t->buffer[i];

		if (b->op >= 0 && b->lifetime == HN_LIFETIME_LOOP &&
		    b->at_loop == loop->loop &&
		    (b->ring > 1 ? b->ring : 1) <= most - least) {
			return "a buffer is filled again while it is needed";
		}
	}
	return NULL;
}

const char *hn_ring_why_not(const struct hn_looptree *t, const struct hn_node *n,
			    const struct hn_node **ret_loop)
{
	const char *why = n->n_child > 0 ? loop_why_not(t, n) : NULL;

	if (why != NULL) {
		*ret_loop = n;
	}
	for (uint32_t i = 0; i < n->n_child && why == NULL; i++) {
		why = hn_ring_why_not(t, n->child[i], ret_loop);
	}
	return why;
}
