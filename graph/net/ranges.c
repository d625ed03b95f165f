/* graph/net/ranges.c -- see ranges.h. */
#include "graph/net/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/net/family.h"
#include "graph/net/ranges_int.h"
#include "loopstate/read/dag_read.h"

static const char *const size_name[HN_NET_MAX_SIZES] = { "N0", "N1", "N2", "N3" };

/* -- forms ----------------------------------------------------------------------------------- */

/* Steps of one task read constants that lie alike. */
static void lie_alike(struct hn_ranges_box *b)
{
	const struct hn_net *net = &b->range.net;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t s = 0; s < net->n_step; s++) {
			for (uint32_t t = 0; t < net->n_step; t++) {
				const struct hn_gstep *x = &net->step[s], *y = &net->step[t];

				for (uint32_t k = 0; x->task == y->task && k < x->n_in; k++) {
					uint8_t *of = &b->lies[y->arg[k]];

					if (b->lies[x->arg[k]] == HN_RANGES_CORNER &&
					    *of != HN_RANGES_CORNER) {
						*of = HN_RANGES_CORNER;
						more = true;
					}
				}
			}
		}
	}
	for (uint32_t v = 0; v < net->g->n_value; v++) {
		b->lies[v] = b->lies[v] == HN_RANGES_CORNER ? HN_RANGES_CORNER : HN_RANGES_BEGINNING;
	}
}

/* Of what lies in a corner kernels are told the whole. */
static void fix_corners(const struct hn_ranges_finder *f, struct hn_ranges_box *b)
{
	const struct hn_net *net = &b->range.net;

	for (uint32_t s = 0; s < net->n_step; s++) {
		const struct hn_gstep *step = &net->step[s];
		const struct hn_dag *dag = net->task[step->task].dag;

		for (uint32_t k = 0; k < step->n_in; k++) {
			if (b->lies[step->arg[k]] == HN_RANGES_CORNER) {
				hn_lift_fix(&b->task[step->task], dag->op[dag->arg[k]]->id,
					    b->range.most, f->n_size);
			}
		}
	}
}

/* The forms, from the network at the largest sizes and at those below. */
static int lift(struct hn_ranges_finder *f, struct hn_ranges_box *b, const struct hn_net *below, int64_t (*size)[HN_NET_MAX_SIZES])
{
	const struct hn_net *top = &b->range.net;

	b->lies = HN_NEW_ARRAY(f->a, uint8_t, top->g->n_value + 1);
	for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
		if (below[k].g != NULL && !hn_ranges_same(top, &below[k], b->lies)) {
			return hn_ranges_other(f, b, size[k], "the network");
		}
	}
	b->task = HN_NEW_ARRAY(f->a, struct hn_lift, top->n_task + 1);
	for (uint32_t i = 0; i < top->n_task; i++) {
		const char *text[HN_LIFT_BELOW] = { NULL };

		for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
			text[k] = below[k].g != NULL ? below[k].task[i].text : NULL;
		}
		if (!hn_lift_texts(top->task[i].text, text, b->range.most, f->n_size, f->a,
				   &b->task[i])) {
			return hn_ranges_other(f, b, size[0], top->task[i].name);
		}
	}
	lie_alike(b);
	fix_corners(f, b);
	b->input = hn_ranges_shapes(f, b->range.most, top->g, false, below);
	b->output = hn_ranges_shapes(f, b->range.most, top->g, true, below);
	return 0;
}

/* The forms give what the network is at these sizes. */
static int check_point(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const struct hn_net *net,
		       const int64_t *size)
{
	const struct hn_net *top = &b->range.net;

	if (!hn_ranges_same(top, net, b->lies) ||
	    !hn_ranges_have_shapes(f, b->input, net->g, false, size) ||
	    !hn_ranges_have_shapes(f, b->output, net->g, true, size)) {
		return hn_ranges_other(f, b, size, "the network");
	}
	for (uint32_t i = 0; i < top->n_task; i++) {
		if (!hn_lift_is(&b->task[i], net->task[i].text, size, f->n_size)) {
			return hn_ranges_other(f, b, size, top->task[i].name);
		}
	}
	return 0;
}

static int check_points(struct hn_ranges_finder *f, const struct hn_ranges_box *b)
{
	int64_t size[HN_NET_MAX_SIZES];
	struct hn_arena a;
	int rc;

	memcpy(size, b->range.least, sizeof(size));
	hn_arena_init(&a, 0);
	do {
		struct hn_net net = { 0 };

		hn_arena_reset(&a);
		rc = hn_ranges_read(f, size, &a, &net);
		rc = rc ? rc : check_point(f, b, &net, size);
	} while (rc == 0 && hn_ranges_next(f, b->range.least, b->range.most, size));
	hn_arena_fini(&a);
	return rc;
}

static int lift_box(struct hn_ranges_finder *f, struct hn_ranges_box *b)
{
	struct hn_net below[HN_LIFT_BELOW] = { { 0 } };
	int64_t size[HN_LIFT_BELOW][HN_NET_MAX_SIZES];
	struct hn_arena a;
	int rc = hn_ranges_read(f, b->range.most, f->a, &b->range.net);

	hn_arena_init(&a, 0);
	rc = rc ? rc : hn_ranges_read_below(f, b->range.least, b->range.most, size, &a, below);
	rc = rc ? rc : lift(f, b, below, size);
	hn_arena_fini(&a);
	return rc;
}

/* -- what is made of them ------------------------------------------------------------------ */

static const char *sized_text(const struct hn_ranges_finder *f, const struct hn_ranges_box *b, uint32_t i,
			      const char *type)
{
	const char *name = b->range.net.task[i].name, *head, *s;
	struct hn_buf body;

	hn_buf_init(&body);
	hn_lift_write(&b->task[i], size_name, f->n_size, type, &body);
	head = hn_arena_printf(f->a, "%s(", name);
	for (uint32_t k = 0; k < f->n_size; k++) {
		head = hn_arena_printf(f->a, "%s%s in [%" PRId64 ", %" PRId64 "], ", head,
				       size_name[k], b->range.least[k], b->range.most[k]);
	}
	s = hn_arena_printf(f->a, "%s%s", head, body.s + strlen(name) + 1);
	hn_buf_fini(&body);
	return s;
}

/* The task as a dag of sizes.  Numbers in expressions have the type of what they stand beside, a
 * size has one of its own: int32, or it is converted. */
int hn_ranges_make_sized(struct hn_ranges_finder *f, struct hn_ranges_box *b, uint32_t i)
{
	static const char *const type[] = { "", "int64" };
	struct hn_gtask *task = &b->range.net.task[i];
	int rc = HONE_E_INVALID;

	for (size_t k = 0; k < HN_COUNT_OF(type) && rc != 0; k++) {
		task->text = sized_text(f, b, i, type[k]);
		rc = hn_dag_parse_sized(task->name, task->text, strlen(task->text), 0, f->a,
					&task->dag, f->err);
	}
	if (rc != 0) {
		f->err->code = HONE_E_UNSUPPORTED;
		return hn_err_within(f->err, "a range of sizes");
	}
	task->sized = true;
	return 0;
}

static int finish(struct hn_ranges_finder *f, struct hn_ranges_box *b)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->range.net.n_task; i++) {
		rc = b->task[i].sized ? hn_ranges_make_sized(f, b, i) : 0;
	}
	if (rc == 0) {
		hn_ranges_add(f, b);
	}
	return rc;
}

/* -- ranges ------------------------------------------------------------------------------- */

/* The range, or two of it: where a size is 1, and where it is more. */
static int find(struct hn_ranges_finder *f, const int64_t *least, const int64_t *most)
{
	struct hn_ranges_box b = { 0 };
	int rc;

	memcpy(b.range.least, least, sizeof(b.range.least));
	memcpy(b.range.most, most, sizeof(b.range.most));
	f->other = false;
	rc = lift_box(f, &b);
	rc = rc ? rc : check_points(f, &b);
	if (rc == 0) {
		return finish(f, &b);
	}
	for (uint32_t k = 0; k < f->n_size && f->other; k++) {
		if (least[k] == 1 && most[k] > 1) {
			int64_t more[HN_NET_MAX_SIZES], one[HN_NET_MAX_SIZES];

			memcpy(more, least, sizeof(more));
			memcpy(one, most, sizeof(one));
			more[k] = 2;
			one[k] = 1;
			rc = find(f, more, most);
			return rc ? rc : find(f, least, one);
		}
	}
	return rc;
}

int hn_ranges_find(const struct hn_net_size *size, uint32_t n_size, hn_net_at at, void *ctx,
		   struct hn_arena *a, struct hn_ranges *ret, struct hn_err *err)
{
	struct hn_ranges_finder f = { .size = size, .n_size = n_size, .at = at, .ctx = ctx, .a = a,
			    .ret = ret, .err = err };
	int64_t least[HN_NET_MAX_SIZES] = { 0 }, most[HN_NET_MAX_SIZES] = { 0 };

	int rc = hn_ranges_begin(&f, HN_NET_MAX_POINTS, least, most);

	rc = rc ? rc : find(&f, least, most);
	if (rc == 0) {
		hn_ranges_share_weights(&f);
	}
	return rc ? rc : hn_family_cut(ret, a, err);
}
