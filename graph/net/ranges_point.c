/* graph/net/ranges_point.c -- readings of a network at sizes of its ranges. */
#include <inttypes.h>
#include <string.h>

#include "graph/net/ranges_int.h"

static int64_t points_of(const struct hn_ranges_finder *f, const int64_t *least, const int64_t *most)
{
	int64_t n = 1;

	for (uint32_t k = 0; k < f->n_size && n <= HN_NET_MAX_POINTS; k++) {
		int64_t m = most[k] - least[k] + 1;

		n = m > HN_NET_MAX_POINTS ? m : n * m;
	}
	return n;
}

int hn_ranges_begin(struct hn_ranges_finder *f, int64_t limit, int64_t *least, int64_t *most)
{
	if (f->n_size > HN_NET_MAX_SIZES) {
		return hn_fail(f->err, HONE_E_QUOTA, "%u ranges of sizes; hone takes %d", f->n_size,
			       HN_NET_MAX_SIZES);
	}
	*f->ret = (struct hn_ranges){ .n_size = f->n_size, .size = f->size };
	for (uint32_t k = 0; k < f->n_size; k++) {
		least[k] = f->size[k].least;
		most[k] = f->size[k].most;
	}
	return points_of(f, least, most) <= limit
		       ? 0
		       : hn_fail(f->err, HONE_E_QUOTA,
				 "more than %" PRId64 " combinations of sizes; give smaller ranges, or "
				 "larger steps",
				 limit);
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

int hn_ranges_other(struct hn_ranges_finder *f, const struct hn_ranges_box *b, const int64_t *size,
		    const char *what)
{
	f->other = true;
	return hn_fail(f->err, HONE_E_UNSUPPORTED,
		       "%.100s at %s is not what it is at %s with other numbers; give another range",
		       what, point_text(f, size), point_text(f, b->range.most));
}

int hn_ranges_read(struct hn_ranges_finder *f, const int64_t *size, struct hn_arena *a,
		   struct hn_net *ret)
{
	int rc = f->at(f->ctx, size, a, ret, f->err);

	return rc == 0 ? 0 : hn_err_within(f->err, "at %s", point_text(f, size));
}

bool hn_ranges_next(const struct hn_ranges_finder *f, const int64_t *least, const int64_t *most,
		    int64_t *size)
{
	for (uint32_t k = 0; k < f->n_size; k++) {
		if (size[k] < most[k]) {
			size[k]++;
			return true;
		}
		size[k] = least[k];
	}
	return false;
}

/* With sizes j and k one less, which may be one size; nothing is read where one has one value. */
static int read_below(struct hn_ranges_finder *f, const int64_t *least, const int64_t *most,
		      uint32_t j, uint32_t k, int64_t *size, struct hn_arena *a, struct hn_net *ret)
{
	memcpy(size, most, HN_NET_MAX_SIZES * sizeof(*size));
	if (least[j] == most[j] || least[k] == most[k]) {
		return 0;
	}
	size[j] = most[j] - 1;
	size[k] = most[k] - 1;
	return hn_ranges_read(f, size, a, ret);
}

int hn_ranges_read_below(struct hn_ranges_finder *f, const int64_t *least, const int64_t *most,
			 int64_t (*size)[HN_NET_MAX_SIZES], struct hn_arena *a, struct hn_net *below)
{
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < f->n_size; k++) {
		rc = read_below(f, least, most, k, k, size[k], a, &below[k]);
		for (uint32_t j = 0; rc == 0 && j < k; j++) {
			uint32_t at = hn_lift_pair(j, k);

			rc = read_below(f, least, most, j, k, size[at], a, &below[at]);
		}
	}
	return rc;
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

void hn_ranges_add(struct hn_ranges_finder *f, const struct hn_ranges_box *b)
{
	struct hn_ranges_box *to;
	struct hn_net *net;

	f->ret->range = hn_arena_grow(f->a, f->ret->range, f->ret->n, &f->cap,
				      sizeof(*f->ret->range));
	f->box = hn_arena_grow(f->a, f->box, f->ret->n, &f->cap_box, sizeof(*f->box));
	to = &f->box[f->ret->n];
	*to = *b;
	net = &to->range.net;
	for (uint32_t i = 0; i < net->n_task; i++) {
		rename_task(f, &net->task[i]);
	}
	for (uint32_t i = 0; i < net->n_kernel; i++) { /* nothing is strided: a task's one kernel */
		net->kernel[i].name = net->task[net->kernel[i].task].name;
	}
	to->range.input = hn_ranges_shape_texts(f, to->input, net->g, false);
	to->range.output = hn_ranges_shape_texts(f, to->output, net->g, true);
	f->ret->range[f->ret->n++] = to->range;
}
