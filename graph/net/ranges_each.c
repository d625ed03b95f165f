/* graph/net/ranges_each.c -- each size is a range of its own, for kernels that are for one size.
 *
 * A GPU's launches have sizes in them, and so have the tiles that its threads fill together.  There the
 * network is read at every size for what it is; forms are found for the shapes of inputs and outputs
 * alone, which callers are told. */
#include <string.h>

#include "graph/net/ranges_int.h"

/* The range of these sizes alone, as the network is there. */
static int read_point(struct hn_ranges_finder *f, struct hn_ranges_box *b, const int64_t *size)
{
	int rc;

	memcpy(b->range.least, size, sizeof(b->range.least));
	memcpy(b->range.most, size, sizeof(b->range.most));
	b->range.net = (struct hn_net){ 0 };
	rc = hn_ranges_read(f, size, f->a, &b->range.net);
	if (rc == 0) {
		b->task = HN_NEW_ARRAY(f->a, struct hn_lift, b->range.net.n_task + 1);
	}
	return rc;
}

/* Of the largest sizes, whose forms all others have. */
static int find_shapes(struct hn_ranges_finder *f, struct hn_ranges_box *b, const int64_t *least)
{
	const int64_t *most = b->range.most;
	struct hn_net below[HN_LIFT_BELOW] = { { 0 } };
	int64_t size[HN_LIFT_BELOW][HN_NET_MAX_SIZES];
	struct hn_arena a;
	int rc;

	hn_arena_init(&a, 0);
	rc = hn_ranges_read_below(f, least, most, size, &a, below);
	if (rc == 0) {
		b->input = hn_ranges_shapes(f, most, b->range.net.g, false, below);
		b->output = hn_ranges_shapes(f, most, b->range.net.g, true, below);
	}
	hn_arena_fini(&a);
	return rc;
}

static int check_shapes(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const int64_t *size)
{
	const struct hn_graph *g = b->range.net.g;

	return hn_ranges_have_shapes(f, b->input, g, false, size) &&
			       hn_ranges_have_shapes(f, b->output, g, true, size)
		       ? 0
		       : hn_ranges_other(f, &f->box[0], size, "the shape of an input or an output");
}

int hn_ranges_each(const struct hn_net_size *size, uint32_t n_size, hn_net_at at, void *ctx,
		   struct hn_arena *a, struct hn_ranges *ret, struct hn_err *err)
{
	struct hn_ranges_finder f = { .size = size, .n_size = n_size, .at = at, .ctx = ctx, .a = a,
				      .ret = ret, .err = err };
	int64_t least[HN_NET_MAX_SIZES] = { 0 }, most[HN_NET_MAX_SIZES] = { 0 };
	int64_t point[HN_NET_MAX_SIZES];
	struct hn_ranges_box b = { 0 };
	int rc = hn_ranges_begin(&f, HN_NET_MAX_EACH, least, most);

	rc = rc ? rc : read_point(&f, &b, most);
	rc = rc ? rc : find_shapes(&f, &b, least);
	if (rc == 0) {
		hn_ranges_add(&f, &b);
	}
	memcpy(point, least, sizeof(point));
	while (rc == 0 && memcmp(point, most, sizeof(point)) != 0) {
		rc = read_point(&f, &b, point);
		rc = rc ? rc : check_shapes(&f, &b, point);
		if (rc == 0) {
			hn_ranges_add(&f, &b);
			hn_ranges_next(&f, least, most, point);
		}
	}
	return rc;
}
