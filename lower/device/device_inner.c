/* lower/device/device_inner.c -- accesses in digits of their own, where the kernel's do not fit.
 *
 * A kernel's digits are those of one chain of divisors for each variable, and one access may divide by
 * others than the rest: digits are chosen again, for it alone or for two.
 *
 * What threads fill together has the number of an element, thread + threads * turn, taken apart by
 * divisions that no single loop's digits follow.  As a variable of its own it has digits.  Any of its values
 * counts as possible, whatever thread and turn are elsewhere: so this shows bounds, not who meets whom.
 */
#include "base/arith.h"
#include "loopstate/expr/simplify.h"
#include "lower/device/device_verify_int.h"

#define MOST_SUMS 8
#define MOST_VALUES (INT64_C(1) << 40)

struct sums {
	const struct verify *v;
	uint32_t n;
	const struct hn_expr *sum[MOST_SUMS];
	int64_t extent[MOST_SUMS];
};

/* The sum's slot; -1: it has none. */
static int32_t slot_of(struct sums *s, const struct hn_expr *e)
{
	uint32_t n_slot = s->v->k->n_slot, i = 0;
	int64_t lo, hi;

	while (i < s->n && !hn_expr_equal(s->sum[i], e)) {
		i++;
	}
	if (i == s->n) {
		if (s->n == MOST_SUMS || !hn_expr_range(e, s->v->span, n_slot, &lo, &hi) || lo < 0 ||
		    hi >= MOST_VALUES) {
			return -1;
		}
		s->extent[s->n] = hi + 1;
		s->sum[s->n++] = e;
	}
	return (int32_t)(n_slot + i);
}

static const struct hn_expr *name_sum(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	bool divides = (e->op == HN_EXPR_FLOORDIV || e->op == HN_EXPR_FLOORMOD) &&
		       e->arg[1]->op == HN_EXPR_INT && e->arg[1]->u.i > 0;
	const struct hn_expr *x = divides ? e->arg[0] : NULL;
	int32_t slot = x != NULL && (x->op == HN_EXPR_ADD || x->op == HN_EXPR_MUL) ? slot_of(ctx, x) : -1;

	return slot < 0 ? e
			: hn_expr_binary(e->op, hn_expr_var(slot, (enum hn_dtype)x->dtype, NULL, a),
					 e->arg[1], a);
}

/* In conditions `sum < number`, too, where that sum is divided somewhere. */
static const struct hn_expr *name_compared(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct sums *s = ctx;
	uint32_t i = 0;

	while (e->op == HN_EXPR_LT && i < s->n && !hn_expr_equal(s->sum[i], e->arg[0])) {
		i++;
	}
	return e->op != HN_EXPR_LT || i == s->n
		       ? e
		       : hn_expr_binary(e->op,
					hn_expr_var((int32_t)(s->v->k->n_slot + i),
						    (enum hn_dtype)e->arg[0]->dtype, NULL, a),
					e->arg[1], a);
}

static const struct holds *name_in(struct sums *s, const struct holds *h, hn_expr_map_fn name,
				   struct hn_arena *a)
{
	if (h == NULL) {
		return NULL;
	}
	struct holds *ret = HN_NEW(a, struct holds);

	*ret = *h;
	ret->e = hn_expr_map(h->e, name, s, a);
	ret->up = name_in(s, h->up, name, a);
	return ret;
}

/* Digits from the divisions in these accesses alone, and all else that follows. */
static void renumber(struct verify *v, struct access *const *x, uint32_t n)
{
	const struct hn_expr **e = NULL;
	uint32_t n_expr = 0, cap = 0;

	for (uint32_t i = 0; i < n; i++) {
		e = hn_arena_grow(&v->arena, e, n_expr, &cap, sizeof(e[0]));
		e[n_expr++] = x[i]->at;
		for (const struct holds *h = x[i]->holds; h != NULL; h = h->up) {
			e = hn_arena_grow(&v->arena, e, n_expr, &cap, sizeof(e[0]));
			e[n_expr++] = h->e;
		}
	}
	v->radix = hn_radix_of_variables(v->extent, v->k->n_slot, e, n_expr, &v->arena);
	for (uint32_t i = 0; i < n; i++) {
		int32_t *first = HN_NEW_ARRAY(&v->arena, int32_t, v->k->n_slot);

		x[i]->n_dim = 0;
		for (uint32_t s = 0; s < v->k->n_slot; s++) {
			first[s] = x[i]->first_dim[s] >= 0 ? (int32_t)x[i]->n_dim : -1;
			x[i]->n_dim += first[s] >= 0 ? v->radix[s].n_digit : 0;
		}
		x[i]->n_dim += x[i]->copy != NULL ? x[i]->copy->n_dim : 0;
		x[i]->first_dim = first;
		x[i]->at0 = 0;
		hn_verify_sums(v, x[i]);
	}
}

bool hn_verify_inner(const struct verify *v, const struct access *a, struct verify *ret_v,
		     struct access *ret_a)
{
	struct sums s = { .v = v };
	struct hn_arena *arena = &ret_v->arena;
	uint32_t n = v->k->n_slot;

	*ret_v = *v;
	*ret_a = *a;
	hn_arena_init(arena, 0);
	ret_a->at = hn_expr_map(a->at, name_sum, &s, arena);
	ret_a->holds = name_in(&s, a->holds, name_sum, arena);
	ret_a->holds = name_in(&s, ret_a->holds, name_compared, arena);
	if (s.n == 0) {
		return false;
	}
	struct hn_device_kernel *k = HN_NEW(arena, struct hn_device_kernel);

	*k = *v->k;
	k->n_slot += s.n;
	ret_v->k = k;
	ret_v->extent = HN_NEW_ARRAY(arena, int64_t, k->n_slot);
	ret_a->first_dim = HN_NEW_ARRAY(arena, int32_t, k->n_slot);
	for (uint32_t i = 0; i < k->n_slot; i++) {
		ret_v->extent[i] = i < n ? v->extent[i] : s.extent[i - n];
		ret_a->first_dim[i] = i < n ? a->first_dim[i] : 0;
	}
	renumber(ret_v, &ret_a, 1);
	return true;
}

void hn_verify_pair(const struct verify *v, const struct access *a, const struct access *b,
		    struct verify *ret_v, struct access *ret)
{
	struct access *const both[2] = { &ret[0], &ret[1] };

	*ret_v = *v;
	ret[0] = *a;
	ret[1] = *b;
	hn_arena_init(&ret_v->arena, 0);
	renumber(ret_v, both, 2);
}
