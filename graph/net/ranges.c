/* graph/net/ranges.c -- see ranges.h. */
#include "graph/net/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/net/family.h"
#include "graph/net/ranges_int.h"
#include "loopstate/read/dag_read.h"

static const char *const size_name[HN_NET_MAX_SIZES] = { "N0", "N1", "N2", "N3" };

static int64_t points_of(const struct hn_ranges_finder *f, const int64_t *least, const int64_t *most)
{
	int64_t n = 1;

	for (uint32_t k = 0; k < f->n_size && n <= HN_NET_MAX_POINTS; k++) {
		int64_t m = most[k] - least[k] + 1;

		n = m > HN_NET_MAX_POINTS ? m : n * m;
	}
	return n;
}

/* "sequence = 3, batch = 1" */
static const char *point_text(const struct hn_ranges_finder *f, const int64_t *size)
{
	const char *s = "";

	for (uint32_t k = 0; k < f->n_size; k++) {
		s = hn_arena_printf(f->a, "%s%s%.60s = %" PRId64, s, k > 0 ? ", " : "",
				    f->size[k].name, size[k] * f->size[k].step);
	}
	return s;
}

static int other(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const int64_t *size, const char *what)
{
	f->other = true;
	return hn_fail(f->err, HONE_E_UNSUPPORTED,
		       "%.100s at %s is not what it is at %s with other numbers; give another range",
		       what, point_text(f, size), point_text(f, b->range.most));
}

static int read_at(struct hn_ranges_finder *f, const int64_t *size, struct hn_arena *a, struct hn_net *ret)
{
	int rc = f->at(f->ctx, size, a, ret, f->err);

	return rc == 0 ? 0 : hn_err_within(f->err, "at %s", point_text(f, size));
}

/* -- forms ----------------------------------------------------------------------------------- */

/* Of inputs, or of outputs. */
static struct hn_lift_form **shapes_of(const struct hn_ranges_finder *f, const struct hn_ranges_box *b, bool outputs,
				       const struct hn_net *below)
{
	const struct hn_graph *g = b->range.net.g;
	const int32_t *v = outputs ? g->output : g->input;
	uint32_t n = outputs ? g->n_output : g->n_input;
	struct hn_lift_form **form = HN_NEW_ARRAY(f->a, struct hn_lift_form *, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct hn_gvalue *x = &g->value[v[i]];

		form[i] = HN_NEW_ARRAY(f->a, struct hn_lift_form, x->rank + 1);
		for (uint32_t d = 0; d < x->rank; d++) {
			const int64_t *other[HN_LIFT_BELOW] = { NULL };

			for (uint32_t k = 0; k < HN_LIFT_BELOW; k++) {
				const struct hn_graph *h = below[k].g;

				other[k] = h == NULL ? NULL
						     : &h->value[outputs ? h->output[i] : h->input[i]]
								.shape[d];
			}
			form[i][d] = hn_lift_form_of(b->range.most, f->n_size, x->shape[d], other);
		}
	}
	return form;
}

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
			return other(f, b, size[k], "the network");
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
			return other(f, b, size[0], top->task[i].name);
		}
	}
	lie_alike(b);
	fix_corners(f, b);
	b->input = shapes_of(f, b, false, below);
	b->output = shapes_of(f, b, true, below);
	return 0;
}

static bool have_shapes(const struct hn_ranges_finder *f, struct hn_lift_form *const *form, uint32_t n,
			const int32_t *v, const struct hn_graph *g, const int64_t *size)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hn_gvalue *x = &g->value[v[i]];

		for (uint32_t d = 0; d < x->rank; d++) {
			if (hn_lift_value(&form[i][d], size, f->n_size) != x->shape[d]) {
				return false;
			}
		}
	}
	return true;
}

/* The forms give what the network is at these sizes. */
static int check_point(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const struct hn_net *net,
		       const int64_t *size)
{
	const struct hn_net *top = &b->range.net;

	if (!hn_ranges_same(top, net, b->lies) ||
	    !have_shapes(f, b->input, top->g->n_input, net->g->input, net->g, size) ||
	    !have_shapes(f, b->output, top->g->n_output, net->g->output, net->g, size)) {
		return other(f, b, size, "the network");
	}
	for (uint32_t i = 0; i < top->n_task; i++) {
		if (!hn_lift_is(&b->task[i], net->task[i].text, size, f->n_size)) {
			return other(f, b, size, top->task[i].name);
		}
	}
	return 0;
}

static bool next_point(const struct hn_ranges_finder *f, const struct hn_ranges_box *b, int64_t *size)
{
	for (uint32_t k = 0; k < f->n_size; k++) {
		if (size[k] < b->range.most[k]) {
			size[k]++;
			return true;
		}
		size[k] = b->range.least[k];
	}
	return false;
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
		rc = read_at(f, size, &a, &net);
		rc = rc ? rc : check_point(f, b, &net, size);
	} while (rc == 0 && next_point(f, b, size));
	hn_arena_fini(&a);
	return rc;
}

/* With sizes j and k one less, which may be one size; nothing is read where one has one value. */
static int read_below(struct hn_ranges_finder *f, const struct hn_ranges_box *b, uint32_t j,
		      uint32_t k, int64_t *size, struct hn_arena *a, struct hn_net *ret)
{
	const struct hn_net_range *r = &b->range;

	memcpy(size, r->most, sizeof(r->most));
	if (r->least[j] == r->most[j] || r->least[k] == r->most[k]) {
		return 0;
	}
	size[j] = r->most[j] - 1;
	size[k] = r->most[k] - 1;
	return read_at(f, size, a, ret);
}

static int lift_box(struct hn_ranges_finder *f, struct hn_ranges_box *b)
{
	struct hn_net below[HN_LIFT_BELOW] = { { 0 } };
	int64_t size[HN_LIFT_BELOW][HN_NET_MAX_SIZES];
	struct hn_arena a;
	int rc = read_at(f, b->range.most, f->a, &b->range.net);

	hn_arena_init(&a, 0);
	for (uint32_t k = 0; rc == 0 && k < f->n_size; k++) {
		rc = read_below(f, b, k, k, size[k], &a, &below[k]);
		for (uint32_t j = 0; rc == 0 && j < k; j++) {
			uint32_t at = hn_lift_pair(j, k);

			rc = read_below(f, b, j, k, size[at], &a, &below[at]);
		}
	}
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

static const char *const **form_texts(const struct hn_ranges_finder *f, struct hn_lift_form *const *form,
				      uint32_t n, const int32_t *v, const struct hn_graph *g)
{
	const char *const **ret = HN_NEW_ARRAY(f->a, const char *const *, n);
	const char *name[HN_NET_MAX_SIZES];
	int64_t step[HN_NET_MAX_SIZES];

	for (uint32_t k = 0; k < f->n_size; k++) {
		name[k] = f->size[k].name;
		step[k] = f->size[k].step;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = g->value[v[i]].rank;
		const char **text = HN_NEW_ARRAY(f->a, const char *, rank + 1);

		for (uint32_t d = 0; d < rank; d++) {
			struct hn_buf b;

			hn_buf_init(&b);
			hn_lift_write_form(&form[i][d], name, step, f->n_size, &b);
			text[d] = hn_arena_strndup(f->a, b.s, b.n);
			hn_buf_fini(&b);
		}
		ret[i] = text;
	}
	return ret;
}

/* Names are unique in all ranges: those of the second begin with r1_. */
static void rename_task(const struct hn_ranges_finder *f, struct hn_gtask *t)
{
	const char *rest = t->text + strlen(t->name);

	if (f->ret->n > 0) {
		t->name = hn_arena_printf(f->a, "r%u_%s", f->ret->n, t->name);
		t->text = hn_arena_printf(f->a, "%s%s", t->name, rest);
	}
}

static int finish(struct hn_ranges_finder *f, struct hn_ranges_box *b)
{
	struct hn_net *net = &b->range.net;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < net->n_task; i++) {
		rc = b->task[i].sized ? hn_ranges_make_sized(f, b, i) : 0;
		rename_task(f, &net->task[i]);
	}
	if (rc != 0) {
		return rc;
	}
	for (uint32_t i = 0; i < net->n_kernel; i++) { /* nothing is strided: a task's one kernel */
		net->kernel[i].name = net->task[net->kernel[i].task].name;
	}
	b->range.input = form_texts(f, b->input, net->g->n_input, net->g->input, net->g);
	b->range.output = form_texts(f, b->output, net->g->n_output, net->g->output, net->g);
	f->ret->range = hn_arena_grow(f->a, f->ret->range, f->ret->n, &f->cap,
				      sizeof(*f->ret->range));
	f->box = hn_arena_grow(f->a, f->box, f->ret->n, &f->cap_box, sizeof(*f->box));
	f->box[f->ret->n] = *b;
	f->ret->range[f->ret->n++] = b->range;
	return 0;
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

	*ret = (struct hn_ranges){ .n_size = n_size, .size = size };
	if (n_size > HN_NET_MAX_SIZES) {
		return hn_fail(err, HONE_E_QUOTA, "%u ranges of sizes; hone takes %d", n_size,
			       HN_NET_MAX_SIZES);
	}
	for (uint32_t k = 0; k < n_size; k++) {
		least[k] = size[k].least;
		most[k] = size[k].most;
	}
	if (points_of(&f, least, most) > HN_NET_MAX_POINTS) {
		return hn_fail(err, HONE_E_QUOTA,
			       "more than %d combinations of sizes; give smaller ranges",
			       HN_NET_MAX_POINTS);
	}
	int rc = find(&f, least, most);

	if (rc == 0) {
		hn_ranges_share_weights(&f);
	}
	return rc ? rc : hn_family_cut(ret, a, err);
}
