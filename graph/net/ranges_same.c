/* graph/net/ranges_same.c -- whether two networks are one but for numbers: the same steps on values
 * that differ in size. */
#include <string.h>

#include "graph/net/ranges_int.h"

/* Values of the larger network x, and which of y's they are. */
struct pairing {
	const struct hn_net *x, *y;
	int32_t *of_x, *of_y; /* [n_value]; HN_NONE: not met yet */
	uint8_t *lies; /* [n_value of x] enum hn_ranges_lies */
};

static bool pair(struct pairing *p, int32_t v, int32_t w)
{
	if (p->of_x[v] == HN_NONE && p->of_y[w] == HN_NONE) {
		p->of_x[v] = w;
		p->of_y[w] = v;
	}
	return p->of_x[v] == w && p->of_y[w] == v;
}

/* Whether constant y's elements are the first of x's, in memory. */
static bool begins(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	uint64_t n = y->fill ? hn_dtype_bytes((enum hn_dtype)y->dtype) : hn_gvalue_bytes(y);

	return x->data == y->data || memcmp(x->data, y->data, n) == 0;
}

/* Whether they are those of x at the same indices: rows are compared, and y has as many dimensions. */
static bool is_corner(const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	uint64_t unit = hn_dtype_bytes((enum hn_dtype)y->dtype), last, rows;
	const uint8_t *to = x->data, *from = y->data;
	bool same = x->rank > 0 && !x->fill && x->order == NULL && y->order == NULL;

	for (uint32_t d = 0; d < x->rank && same; d++) {
		same = y->shape[d] <= x->shape[d];
	}
	last = same ? (uint64_t)y->shape[y->rank - 1] : 0;
	rows = last > 0 ? hn_gvalue_bytes(y) / (unit * last) : 0;
	for (uint64_t r = 0; r < rows && same; r++) {
		uint64_t at = 0, stride = (uint64_t)x->shape[x->rank - 1], rest = r;

		for (uint32_t d = x->rank - 1; d-- > 0;) {
			at += rest % (uint64_t)y->shape[d] * stride;
			rest /= (uint64_t)y->shape[d];
			stride *= (uint64_t)x->shape[d];
		}
		same = memcmp(to + unit * at, from + unit * last * r, unit * last) == 0;
	}
	return same;
}

/* Whether x's constant has y's in it, and where: as was found before. */
static bool contains(struct pairing *p, int32_t v, const struct hn_gvalue *x, const struct hn_gvalue *y)
{
	if (x->fill != y->fill) {
		return false;
	}
	if (p->lies[v] != HN_RANGES_CORNER && begins(x, y)) {
		return true;
	}
	if (p->lies[v] == HN_RANGES_UNKNOWN) {
		p->lies[v] = HN_RANGES_CORNER;
	}
	return p->lies[v] == HN_RANGES_CORNER && is_corner(x, y);
}

/* Whether y's value may be in the place of x's: memory for the latter is enough, and the weight is
 * the same. */
static bool serves(struct pairing *p, int32_t v, int32_t w)
{
	const struct hn_gvalue *a = &p->x->g->value[v], *b = &p->y->g->value[w];
	const struct hn_gplace *at = &p->x->part.place[v], *to = &p->y->part.place[w];

	return pair(p, v, w) && pair(p, at->root, to->root) && at->at == to->at &&
	       at->stride == NULL && to->stride == NULL &&
	       a->dtype == b->dtype && a->rank == b->rank &&
	       hn_gvalue_bytes(a) >= hn_gvalue_bytes(b) &&
	       (a->data == NULL) == (b->data == NULL) && (a->data == NULL || contains(p, v, a, b));
}

static bool all_serve(struct pairing *p, uint32_t n, const int32_t *v, const int32_t *w)
{
	bool all = true;

	for (uint32_t i = 0; i < n && all; i++) {
		all = serves(p, v[i], w[i]);
	}
	return all;
}

static int32_t *no_pairs(uint32_t n, struct hn_arena *a)
{
	int32_t *of = HN_NEW_ARRAY(a, int32_t, n + 1);

	for (uint32_t i = 0; i < n; i++) {
		of[i] = HN_NONE;
	}
	return of;
}

bool hn_ranges_same(const struct hn_net *x, const struct hn_net *y, uint8_t *lies)
{
	struct pairing p = { x, y, no_pairs(x->g->n_value, y->g->arena),
			     no_pairs(y->g->n_value, y->g->arena), lies };
	bool same = x->n_task == y->n_task && x->n_kernel == y->n_kernel &&
		    x->n_step == y->n_step &&
		    x->g->n_input == y->g->n_input && x->g->n_output == y->g->n_output &&
		    all_serve(&p, x->g->n_input, x->g->input, y->g->input);

	for (uint32_t i = 0; same && i < x->n_step; i++) {
		const struct hn_gstep *s = &x->step[i], *t = &y->step[i];

		same = s->task == t->task && s->kernel == t->kernel && s->n_arg == t->n_arg && s->n_in == t->n_in &&
		       all_serve(&p, s->n_arg, s->arg, t->arg);
	}
	return same && all_serve(&p, x->g->n_output, x->g->output, y->g->output);
}
