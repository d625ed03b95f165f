/* lower/device/place_overlap.c -- products of warpgroups go on while threads begin the next copies.
 *
 * What is ahead in a pipeline is placed before what its turn computes.  A warpgroup would begin its
 * product when its threads have begun all copies, and the tensor cores wait that long.  Between a
 * barrier and a product the order of copies and product is free: another thread's copies may come
 * before or behind this one's product already.  So the product comes first, open, and is settled
 * where it was.
 */
#include "lower/device/device_wgmma.h"
#include "lower/device/place_int.h"

static void add_settles(struct place *p, const struct hn_device_node *n, uint32_t first,
			uint32_t end, struct code *c)
{
	for (uint32_t i = first; i < end; i++) {
		struct hn_device_node settle = *n->child[i];
		bool known = false;

		for (uint32_t k = first; k < i && !known; k++) {
			known = n->child[k]->buffer == settle.buffer &&
				hn_expr_equal(n->child[k]->at, settle.at);
		}
		settle.kind = HN_DEVICE_SETTLE;
		if (!known) {
			hn_place_add(p, c, settle);
		}
	}
}

/* The products [first, end) of the list, open. */
static void add_open(struct place *p, const struct hn_device_node *n, uint32_t first, uint32_t end,
		     struct code *c)
{
	for (uint32_t i = first; i < end; i++) {
		struct hn_device_node node = *n->child[i];
		struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);

		*w = *node.warp;
		w->open = true;
		node.warp = w;
		hn_place_add(p, c, node);
	}
}

const struct hn_device_node *hn_place_overlap(struct place *p, const struct hn_device_node *n)
{
	const struct hn_device device = { .n_buffer = p->n_buffer, .buffer = p->buffer };
	uint32_t first = 0, copies, end;
	struct code c = { 0 };

	while (first < n->n_child && n->child[first]->kind != HN_DEVICE_WGMMA) {
		first++;
	}
	for (end = first; end < n->n_child && n->child[end]->kind == HN_DEVICE_WGMMA; end++) {
	}
	for (copies = first; copies > 0 && hn_wgmma_may_pass(&device, n->child[copies - 1]);
	     copies--) {
	}
	bool moves = first < n->n_child && copies < first && copies > 0 &&
		     n->child[copies - 1]->kind == HN_DEVICE_BARRIER;

	for (uint32_t i = 0; i < n->n_child; i++) {
		if (moves && i == copies) {
			add_open(p, n, first, end, &c);
		}
		if (moves && i == first) {
			add_settles(p, n, first, end, &c);
			i = end - 1;
		} else {
			hn_place_add(p, &c, *hn_place_overlap(p, n->child[i]));
		}
	}
	return hn_place_wrap(p, *n, &c);
}
