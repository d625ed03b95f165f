/* lower/device/device_hold_find.c -- which loops over terms have a tile of results inside that may be
 * held: one store, of an element that no other is, of a buffer that nothing else there reads. */
#include <stdlib.h>

#include "base/arith.h"
#include "lower/device/device_hold_int.h"

static bool collect(struct sum *s, const struct hn_device_node *n)
{
	bool ok = true;

	switch ((enum hn_device_kind)n->kind) {
	case HN_DEVICE_LOOP:
		ok = s->n_loop < MOST_LOOPS;
		if (ok) {
			s->loop[s->n_loop++] = n;
		}
		break;
	case HN_DEVICE_IF:
		ok = s->n_guard < MOST_GUARDS;
		if (ok) {
			s->guard[s->n_guard++] = n;
		}
		break;
	case HN_DEVICE_SEQ:
		break;
	case HN_DEVICE_STORE:
		ok = s->store == NULL && !n->async;
		s->store = n;
		break;
	default:
		return false;
	}
	for (uint32_t i = 0; i < n->n_child && ok; i++) {
		ok = collect(s, n->child[i]);
	}
	return ok;
}

struct reads {
	const struct hn_device_node *store;
	uint32_t n, others; /* loads of the element that is stored, and of others of its buffer */
	bool names;	    /* a scalar is made inside */
};

static void see_read(const struct hn_expr *e, void *ctx)
{
	struct reads *r = ctx;

	r->names |= e->op == HN_EXPR_LET;
	if (e->op == HN_EXPR_LOAD && e->ref == r->store->buffer) {
		bool same = hn_expr_equal(e->arg[0], r->store->at);

		r->n += same;
		r->others += !same;
	}
}

/* Guards read nothing, so that they may be asked earlier. */
static void see_load(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD;
}

/* Whether different turns of the loops over results are different elements: each stride passes
 * what the shorter ones span. */
static bool is_injective(struct hold *h, const struct sum *s)
{
	struct hn_affine sum = hn_affine_of(s->store->at, h->span, h->n_slot, h->a);
	int64_t stride[MOST_LOOPS], extent[MOST_LOOPS], reach = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_loop; i++) {
		for (uint32_t t = 0; t < sum.n && s->of_result[i]; t++) {
			const struct hn_expr *x = sum.term[t].atom;

			if (x->op != HN_EXPR_VAR) {
				if (hn_expr_uses(x, s->loop[i]->slot)) {
					return false;
				}
			} else if (x->ref == s->loop[i]->slot) {
				uint32_t k = n++;

				for (; k > 0 && stride[k - 1] > llabs(sum.term[t].coef); k--) {
					stride[k] = stride[k - 1];
					extent[k] = extent[k - 1];
				}
				stride[k] = llabs(sum.term[t].coef);
				extent[k] = s->loop[i]->extent;
			}
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		if (stride[k] <= reach) {
			return false;
		}
		reach += stride[k] * (extent[k] - 1);
	}
	return true;
}

static bool uses_terms(const struct sum *s, const struct hn_expr *e)
{
	bool ret = hn_expr_uses(e, s->terms->slot);

	for (uint32_t i = 0; i < s->n_loop; i++) {
		ret = ret || (!s->of_result[i] && hn_expr_uses(e, s->loop[i]->slot));
	}
	return ret;
}

/* The condition's parts one inside the other, around the children. */
static const struct hn_device_node *guarded(struct hold *h, const struct hn_expr *e,
					    uint32_t n, const struct hn_device_node *const *child)
{
	struct hn_device_node *ret = HN_NEW(h->a, struct hn_device_node);
	const struct hn_device_node **one = HN_NEW(h->a, const struct hn_device_node *);

	if (e->op == HN_EXPR_AND) {
		one[0] = guarded(h, e->arg[1], n, child);
		return guarded(h, e->arg[0], 1, one);
	}
	*ret = (struct hn_device_node){ .kind = HN_DEVICE_IF, .e = e, .n_child = n, .child = child };
	return ret;
}

/* A condition may be about results in one part, and about terms in another. */
static const struct hn_device_node *part_guards(struct hold *h, const struct hn_device_node *n)
{
	const struct hn_device_node **child =
		HN_NEW_ARRAY(h->a, const struct hn_device_node *, n->n_child);
	struct hn_device_node *ret = HN_NEW(h->a, struct hn_device_node);

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = part_guards(h, n->child[i]);
	}
	if (n->kind == HN_DEVICE_IF) {
		return guarded(h, n->e, n->n_child, child);
	}
	*ret = *n;
	ret->child = child;
	return ret;
}

bool hn_hold_is_sum(struct hold *h, const struct hn_device_node *n, struct sum *s)
{
	*s = (struct sum){ 0 };
	if (n->kind != HN_DEVICE_LOOP || n->how == HN_DEVICE_LANES || n->extent < 2) {
		return false;
	}
	n = s->terms = part_guards(h, n);
	for (uint32_t i = 0; i < n->n_child; i++) {
		if (!collect(s, n->child[i])) {
			return false;
		}
	}
	if (s->store == NULL || hn_expr_uses(s->store->at, n->slot)) {
		return false;
	}
	struct reads r = { .store = s->store };
	bool loads = false;

	hn_expr_visit(s->store->e, see_read, &r);
	hn_expr_visit(s->store->at, see_load, &loads);
	s->elements = 1;
	for (uint32_t i = 0; i < s->n_loop; i++) {
		s->of_result[i] = hn_expr_uses(s->store->at, s->loop[i]->slot);
		s->elements = s->of_result[i] ? hn_mul_sat(s->elements, s->loop[i]->extent)
					      : s->elements;
	}
	for (uint32_t i = 0; i < s->n_guard; i++) {
		hn_expr_visit(s->guard[i]->e, see_load, &loads);
		s->of_results[i] = !uses_terms(s, s->guard[i]->e);
	}
	const struct hn_device_buffer *b = &h->d->buffer[s->store->buffer];
	int64_t bytes = hn_dtype_bytes((enum hn_dtype)b->dtype);

	return r.n > 0 && r.others == 0 && !r.names && !loads && b->memory != HN_MEMORY_SHARED &&
	       s->elements * bytes <= h->most_bytes &&
	       !(b->memory == HN_MEMORY_LOCAL && b->n_elem * bytes <= h->most_bytes) &&
	       is_injective(h, s);
}
