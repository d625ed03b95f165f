/* lower/device/place_overlap.c -- products of warpgroups go on while threads begin the next copies.
 *
 * What is ahead in a pipeline is placed before what its turn computes.  A warpgroup would begin its
 * product when its threads have begun all copies, and the tensor cores wait that long.  Between a
 * barrier and a product the order of copies and product is free: another thread's copies may come
 * before or behind this one's product already.  So the product comes first, open, and is settled
 * where it was.
 *
 * In a pipeline whose copies are one turn less ahead (kind 3 of PL) it is open to the next turn, which
 * settles it when its own product has begun: the tensor cores have always work.
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

/* Where in the list products stand, [first, end), and the copies before them, from `copies` on, behind
 * a barrier. */
struct found {
	uint32_t copies, first, end;
};

static bool find(struct place *p, const struct hn_device_node *n, struct found *ret)
{
	const struct hn_device device = { .n_buffer = p->n_buffer, .buffer = p->buffer };
	uint32_t i = 0;

	while (i < n->n_child && n->child[i]->kind != HN_DEVICE_WGMMA) {
		i++;
	}
	*ret = (struct found){ i, i, i };
	while (ret->end < n->n_child && n->child[ret->end]->kind == HN_DEVICE_WGMMA) {
		ret->end++;
	}
	while (ret->copies > 0 && hn_wgmma_may_pass(&device, n->child[ret->copies - 1])) {
		ret->copies--;
	}
	return i < n->n_child && ret->copies < i && ret->copies > 0 &&
	       n->child[ret->copies - 1]->kind == HN_DEVICE_BARRIER;
}

/* Whether the loop's one product may end in the next turn: nothing else is done in it. */
static bool goes_on(struct place *p, const struct hn_device_node *n)
{
	struct found f;
	bool ok = n->kind == HN_DEVICE_LOOP && n->slot == p->open_slot && find(p, n, &f) &&
		  f.end == n->n_child && f.end == f.first + 1 &&
		  !hn_expr_uses(n->child[f.first]->at, n->slot);

	for (uint32_t i = 0; ok && i < f.copies; i++) {
		uint8_t kind = n->child[i]->kind;

		ok = kind == HN_DEVICE_WAIT || kind == HN_DEVICE_FENCE || kind == HN_DEVICE_BARRIER;
	}
	return ok;
}

static void add_settled(struct place *p, const struct hn_device_node *n, int64_t but, struct code *c)
{
	struct hn_device_node settle = *n;

	settle.kind = HN_DEVICE_SETTLE;
	settle.extent = but;
	hn_place_add(p, c, settle);
}

static const struct hn_device_node *open_loop(struct place *p, const struct hn_device_node *n)
{
	struct code c = { 0 };
	struct found f;

	(void)find(p, n, &f);
	for (uint32_t i = 0; i < f.first; i++) {
		if (i == f.copies) {
			add_open(p, n, f.first, f.end, &c);
			add_settled(p, n->child[f.first], 1, &c);
		}
		hn_place_add(p, &c, *n->child[i]);
	}
	return hn_place_wrap(p, *n, &c);
}

const struct hn_device_node *hn_place_overlap(struct place *p, const struct hn_device_node *n)
{
	struct code c = { 0 };
	struct found f;
	bool moves = find(p, n, &f);

	for (uint32_t i = 0; i < n->n_child; i++) {
		const struct hn_device_node *x = n->child[i];

		if (moves && i == f.copies) {
			add_open(p, n, f.first, f.end, &c);
		}
		if (moves && i == f.first) {
			add_settles(p, n, f.first, f.end, &c);
			i = f.end - 1;
		} else if (goes_on(p, x)) {
			hn_place_add(p, &c, *open_loop(p, x));
			add_settled(p, x->child[x->n_child - 1], 0, &c);
		} else {
			hn_place_add(p, &c, *hn_place_overlap(p, x));
		}
	}
	return hn_place_wrap(p, *n, &c);
}
