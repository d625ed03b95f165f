/* loopstate/read/dag_text_infer.c -- sizes of indices, from the tensors they index.
 *
 * An index that stands alone in a dimension (A(i, ...)) has that dimension's extent, and
 * all such uses must agree.  The others follow from sums of known ones: in X(2*h + r),
 * with r known, h is the largest that stays inside.  Loads under a condition are asked
 * only for indices that stand alone and are not known otherwise.  `where` overrides. That
 * nothing leaves its tensor is proved later, for every load.
 */
#include <inttypes.h>

#include "base/arith.h"
#include "loopstate/dag/size.h"
#include "loopstate/read/dag_text_priv.h"

struct sum { /* coef . index + shift */
	int64_t coef[HN_DAG_MAX_ITERS];
	int64_t shift;
};

#define MAX_COEF ((int64_t)1 << 30)

/* An index of the statement, not a size and no name that `let` gave. */
static bool is_index(const struct hn_expr *e)
{
	return e->op == HN_EXPR_VAR && e->ref < HN_SLOT_LHS;
}

/* sum += times * e; false when e is no sum of indices. */
static bool add(struct sum *s, const struct hn_expr *e, int64_t times)
{
	if (times > MAX_COEF || times < -MAX_COEF) {
		return false;
	}
	switch (e->op) {
	case HN_EXPR_VAR:
		if (!is_index(e)) {
			return false;
		}
		s->coef[e->ref] += times;
		return s->coef[e->ref] <= MAX_COEF && s->coef[e->ref] >= -MAX_COEF;
	case HN_EXPR_INT:
		if (e->u.i > MAX_COEF || e->u.i < -MAX_COEF) {
			return false;
		}
		s->shift += times * e->u.i;
		return true;
	case HN_EXPR_ADD:
		return add(s, e->arg[0], times) && add(s, e->arg[1], times);
	case HN_EXPR_SUB:
		return add(s, e->arg[0], times) && add(s, e->arg[1], -times);
	case HN_EXPR_MUL:
		for (int k = 0; k < 2; k++) {
			const struct hn_expr *c = e->arg[k];

			if (c->op == HN_EXPR_INT && c->u.i <= MAX_COEF &&
			    c->u.i >= -MAX_COEF) {
				return add(s, e->arg[1 - k], times * c->u.i);
			}
		}
		return false;
	default:
		return false;
	}
}

static bool same_form(const struct hn_expr *x, const struct hn_expr *y)
{
	return x == NULL || y == NULL ? x == y : hn_expr_equal(x, y);
}

static void infer_alone(struct hn_text *t, const struct hn_text_load *load, uint32_t d)
{
	struct hn_text_index *x = &t->index[load->e->arg[d]->ref];
	int64_t extent = t->op[load->e->ref]->shape[d];
	const struct hn_expr *form = hn_op_extent(t->op[load->e->ref], d);

	if (x->stated || (load->guarded && x->settled)) {
		return;
	}
	if (x->extent == 0) {
		x->extent = extent;
		x->form = form;
		x->at = load->at;
	} else if (x->extent == extent && !same_form(x->form, form)) {
		hn_text_fail(t, &load->at,
			     "index '%s' runs over another size here than at %" PRIu32
			     ":%" PRIu32 ": state it with `where %s in 0:n`",
			     x->name, x->at.line, x->at.col, x->name);
	} else if (x->extent != extent) {
		hn_text_fail(t, &load->at,
			     "index '%s' runs over %" PRId64 " here and over %" PRId64
			     " at %" PRIu32 ":%" PRIu32
			     ": the sizes do not agree; state it with `where %s in 0:n`",
			     x->name, extent, x->extent, x->at.line, x->at.col, x->name);
	}
}

/* The extent that one load leaves the only unknown index of dimension d; 0: says nothing.
 */
static int64_t extent_left(struct hn_text *t, const struct hn_text_load *load, uint32_t d,
			   uint32_t *ret_index)
{
	struct sum s = { .shift = 0 };
	uint32_t n_unknown = 0;

	if (!add(&s, load->e->arg[d], 1)) {
		return 0;
	}
	for (uint32_t i = 0; i < t->n_index; i++) {
		if (s.coef[i] != 0 && t->index[i].extent == 0) {
			*ret_index = i;
			n_unknown++;
		}
	}
	if (n_unknown != 1 || t->index[*ret_index].ragged != NULL) {
		return 0;
	}
	int64_t c = s.coef[*ret_index];
	__int128 room =
		c > 0 ? (__int128)t->op[load->e->ref]->shape[d] - 1 - s.shift : s.shift;

	for (uint32_t i = 0; i < t->n_index; i++) {
		const struct hn_text_index *x = &t->index[i];
		bool far_end = (s.coef[i] > 0) == (c > 0);
		__int128 v = far_end ? (__int128)x->min + x->extent - 1 : x->min;

		if (i != *ret_index && s.coef[i] != 0) {
			room += (__int128)(c > 0 ? -s.coef[i] : s.coef[i]) * v;
		}
	}
	c = c < 0 ? -c : c;
	return room < 0 ? -1 : room > HN_EXTENT_MAX ? 0 : (int64_t)(room / c) + 1;
}

/* Whether the extent that the load leaves index i depends on sizes, and how: the dimension's
 * form less what the other indices, that are numbers, take of it.  False: it depends on them
 * in another way. */
static bool form_left(struct hn_text *t, const struct hn_text_load *load, uint32_t d,
		      uint32_t i, const struct hn_expr **ret)
{
	const struct hn_expr *form = hn_op_extent(t->op[load->e->ref], d);
	struct sum s = { .shift = 0 };
	int64_t taken;

	*ret = NULL;
	add(&s, load->e->arg[d], 1);
	taken = s.shift;
	for (uint32_t k = 0; k < t->n_index; k++) {
		const struct hn_text_index *x = &t->index[k];

		if (k == i || s.coef[k] == 0) {
			continue;
		}
		if (x->form != NULL || (form != NULL && s.coef[k] < 0)) {
			return false;
		}
		taken += s.coef[k] * (x->min + x->extent - 1);
	}
	if (form == NULL) {
		return true;
	}
	/* (form - 1 - taken) / c + 1 */
	const struct hn_expr *e = hn_expr_binary(
		HN_EXPR_SUB, form, hn_expr_int(taken + 1, HN_I32, t->a), t->a);

	e = hn_expr_binary(HN_EXPR_FLOORDIV, e, hn_expr_int(s.coef[i], HN_I32, t->a), t->a);
	*ret = hn_size_form(
		hn_expr_binary(HN_EXPR_ADD, e, hn_expr_int(1, HN_I32, t->a), t->a), t->a);
	return s.coef[i] > 0;
}

/* One round over all loads; whether an index became known. */
static bool infer_sums(struct hn_text *t)
{
	int64_t found[HN_DAG_MAX_ITERS] = { 0 };
	const struct hn_expr *form[HN_DAG_MAX_ITERS] = { NULL };
	bool any = false;

	for (uint32_t k = 0; k < t->n_load; k++) {
		const struct hn_text_load *load = &t->load[k];

		for (uint32_t d = 0; !load->guarded && d < load->e->n_arg; d++) {
			uint32_t i = 0;
			int64_t extent = extent_left(t, load, d, &i);

			if (extent < 0) {
				hn_text_fail(t, &load->at,
					     "no value of index '%s' stays inside '%s'",
					     t->index[i].name, t->op[load->e->ref]->id);
				return false;
			}
			const struct hn_expr *f = NULL;

			if (extent > 0 &&
			    (!form_left(t, load, d, i, &f) ||
			     (found[i] != 0 && !same_form(f, form[i])))) {
				hn_text_fail(t, &load->at,
					     "the range of index '%s' depends on sizes in a "
					     "way that is not inferred: state it with `where "
					     "%s in 0:n`",
					     t->index[i].name, t->index[i].name);
				return false;
			}
			if (extent > 0 && (found[i] == 0 || extent < found[i])) {
				found[i] = extent;
				form[i] = f;
				t->index[i].at = load->at;
			}
		}
	}
	for (uint32_t i = 0; i < t->n_index; i++) {
		t->index[i].extent = found[i] > 0 ? found[i] : t->index[i].extent;
		t->index[i].form = found[i] > 0 ? form[i] : t->index[i].form;
		any = any || found[i] > 0;
	}
	return any;
}

/* All loads that are, or are not, under a condition. */
static void infer_all_alone(struct hn_text *t, bool guarded)
{
	for (uint32_t k = 0; t->rc == 0 && k < t->n_load; k++) {
		const struct hn_text_load *load = &t->load[k];

		for (uint32_t d = 0;
		     t->rc == 0 && load->guarded == guarded && d < load->e->n_arg; d++) {
			const struct hn_expr *x = load->e->arg[d];

			if (is_index(x)) {
				infer_alone(t, load, d);
			}
		}
	}
	while (t->rc == 0 && (hn_text_settle_ragged(t) || infer_sums(t))) {
	}
	for (uint32_t i = 0; i < t->n_index; i++) {
		t->index[i].settled = t->index[i].extent != 0;
	}
}

void hn_text_infer(struct hn_text *t)
{
	infer_all_alone(t, /* guarded= */ false);
	infer_all_alone(t, /* guarded= */ true);
	for (uint32_t i = 0; t->rc == 0 && i < t->n_index; i++) {
		if (t->index[i].extent == 0 && t->index[i].ragged == NULL) {
			hn_text_fail(t, &t->index[i].at,
				     "index '%s' has no size: no load tells; state it "
				     "with `where %s in 0:n`",
				     t->index[i].name, t->index[i].name);
		}
	}
}
