/* lower/device/device_open.c -- where products of warpgroups are open, and where they are settled
 * (device_wgmma.h).
 *
 * It is read off the lists: nothing that touches what a thread holds may stand between, and nothing
 * whose order with the hardware's reads is not that of a barrier.
 */
#include "lower/device/device_wgmma.h"

#include "loopstate/expr/simplify.h"

static void see_local(const struct hn_expr *e, void *ctx)
{
	const struct hn_device **d = ctx;

	if (e->op == HN_EXPR_LOAD && d[0]->buffer[e->ref].memory == HN_MEMORY_LOCAL) {
		d[1] = NULL;
	}
}

/* No index or value is what a thread holds. */
static bool holds_nothing(const struct hn_device *d, const struct hn_expr *e)
{
	const struct hn_device *ctx[2] = { d, d };

	if (e != NULL) {
		hn_expr_visit(e, see_local, (void *)ctx);
	}
	return ctx[1] != NULL;
}

bool hn_wgmma_may_pass(const struct hn_device *d, const struct hn_device_node *n)
{
	bool ok = holds_nothing(d, n->e) && holds_nothing(d, n->at);

	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_STORE:
		return ok && d->buffer[n->buffer].memory == HN_MEMORY_SHARED;
	case HN_DEVICE_COMMIT:
	case HN_DEVICE_ARRIVE: /* of a turn before */
		return true;
	case HN_DEVICE_SEQ:
	case HN_DEVICE_LOOP:
	case HN_DEVICE_IF:
		for (uint32_t i = 0; i < n->n_child && ok; i++) {
			ok = hn_wgmma_may_pass(d, n->child[i]);
		}
		return ok;
	default:
		return false;
	}
}

static bool is_open(const struct hn_device_node *n)
{
	return n->kind == HN_DEVICE_WGMMA && n->warp->open;
}

static bool settles(const struct hn_device_node *n, const struct hn_device_node *open)
{
	return n->kind == HN_DEVICE_SETTLE && n->buffer == open->buffer &&
	       n->warp->columns == open->warp->columns && n->warp->intrin == open->warp->intrin &&
	       hn_expr_equal(n->at, open->at);
}

const struct hn_device_node *hn_wgmma_open_in(const struct hn_device_node *loop)
{
	for (uint32_t i = 0; i + 1 < loop->n_child && loop->kind == HN_DEVICE_LOOP; i++) {
		if (is_open(loop->child[i]) && settles(loop->child[i + 1], loop->child[i]) &&
		    loop->child[i + 1]->extent == 1) {
			return loop->child[i];
		}
	}
	return NULL;
}

/* What the node leaves open; NULL: nothing. */
static const struct hn_device_node *left_open(const struct hn_device_node *n)
{
	return is_open(n) ? n : hn_wgmma_open_in(n);
}

/* The loop does nothing beside: copies, waits and the product at `at`. */
static bool is_turn(const struct hn_device *d, const struct hn_device_node *n, uint32_t at)
{
	bool ok = hn_wgmma_open_in(n) == n->child[at] && !hn_expr_uses(n->child[at]->at, n->slot);

	for (uint32_t i = 0; i < n->n_child && ok; i++) {
		const struct hn_device_node *x = n->child[i];

		ok = i == at || i == at + 1 || hn_wgmma_may_pass(d, x) ||
		     (i < at && (x->kind == HN_DEVICE_WAIT || x->kind == HN_DEVICE_FENCE ||
				 x->kind == HN_DEVICE_BARRIER ||
				 x->kind == HN_DEVICE_AWAIT));
	}
	return ok;
}

/* From the node `at` of the list on, which leaves something open, to where that is settled. */
static bool is_settled(const struct hn_device *d, const struct hn_device_node *n, uint32_t at)
{
	const struct hn_device_node *open = left_open(n->child[at]);

	if (n->kind == HN_DEVICE_LOOP && is_open(n->child[at]) && is_turn(d, n, at)) {
		return true; /* behind the loop */
	}
	for (uint32_t i = at + 1; i < n->n_child; i++) {
		const struct hn_device_node *x = n->child[i];

		if (settles(x, open) && x->extent == 0) {
			return true;
		}
		if (!is_open(x) && !(x->kind == HN_DEVICE_SETTLE && x->extent == 0) &&
		    !hn_wgmma_may_pass(d, x)) {
			return false;
		}
	}
	return false;
}

/* Whether what is settled at `at` of the list is open there. */
static bool was_open(const struct hn_device *d, const struct hn_device_node *n, uint32_t at)
{
	if (n->child[at]->extent == 1) {
		return at > 0 && n->kind == HN_DEVICE_LOOP && is_open(n->child[at - 1]) &&
		       is_turn(d, n, at - 1);
	}
	for (uint32_t i = at; i-- > 0 && n->child[at]->extent == 0;) {
		const struct hn_device_node *open = left_open(n->child[i]);

		if (open != NULL && settles(n->child[at], open)) {
			return true;
		}
	}
	return false;
}

const char *hn_wgmma_why_open(const struct hn_device *d, const struct hn_device_node *n)
{
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (left_open(n->child[i]) != NULL && !is_settled(d, n, i)) {
			return "an open product of a warpgroup is not settled before something "
			       "else is done";
		}
		if (n->child[i]->kind == HN_DEVICE_SETTLE && !was_open(d, n, i)) {
			return "what is settled is no open product of a warpgroup";
		}
	}
	return NULL;
}
