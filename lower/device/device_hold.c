/* lower/device/device_hold.c -- sums held in registers while their terms go by.
 *
 * A loop over terms that stands outside of loops over results reads and writes each result in each
 * of its turns.  An emitter for a CPU makes a register tile of such results itself.  A driver's
 * compiler does not: it would have to know that nothing else touches them.  So here a tile of a
 * thread's own stands for them: it is loaded before the loop, summed in, and stored behind it.
 *
 * Conditions that are about results alone stand around the whole where the least of them holds: a
 * tile that is whole has none inside, and one that is not is summed in memory, as it was.
 */
#include <string.h>

#include "lower/device/device_hold_int.h"

static int32_t new_slot(struct hold *h, int64_t extent)
{
	if (h->n_slot == h->cap_slot) {
		uint32_t cap = h->cap_slot;

		h->span = hn_arena_grow(h->a, h->span, h->n_slot, &cap, sizeof(h->span[0]));
		h->type = hn_arena_grow(h->a, h->type, h->n_slot, &h->cap_slot, sizeof(h->type[0]));
	}
	h->span[h->n_slot] = (struct hn_span){ 0, extent - 1 };
	h->type[h->n_slot] = HN_I32;
	return (int32_t)h->n_slot++;
}

static int32_t new_tile(struct hold *h, const struct sum *s)
{
	const struct hn_device_buffer *of = &h->d->buffer[s->store->buffer];
	struct hn_device_buffer tile = { .dtype = of->dtype,
					 .memory = HN_MEMORY_LOCAL,
					 .n_elem = s->elements,
					 .arg = -1 };
	struct hn_device_buffer *b = (struct hn_device_buffer *)(uintptr_t)h->d->buffer;

	tile.name = hn_arena_printf(h->a, "%s.sum%u", of->name, h->d->n_buffer);
	if (h->d->n_buffer == h->cap_buffer) {
		b = hn_arena_grow(h->a, b, h->d->n_buffer, &h->cap_buffer, sizeof(*b));
		h->d->buffer = b;
	}
	b[h->d->n_buffer] = tile;
	return (int32_t)h->d->n_buffer++;
}

enum what { TAKE, SUM, GIVE }; /* results into the tile; its sums; back */

struct copy {
	struct hold *h;
	const struct sum *s;
	enum what what;
	bool guarded; /* by those of results */
	const struct hn_expr **to; /* [n_slot of before] loops' new variables; NULL: as it was */
	uint32_t n_to;
	const struct hn_expr *at; /* in the tile */
};

static struct hn_device_node *node(struct hold *h, struct hn_device_node n)
{
	struct hn_device_node *ret = HN_NEW(h->a, struct hn_device_node);

	*ret = n;
	return ret;
}

static const struct hn_expr *tile_load(struct copy *c)
{
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = c->h->d->buffer[c->s->tile].dtype,
				      .ref = c->s->tile };

	return hn_expr_with_args(&like, &c->at, 1, c->h->a);
}

static const struct hn_expr *from_tile(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	struct copy *c = ctx;

	(void)a;
	return e->op == HN_EXPR_LOAD && e->ref == c->s->store->buffer ? tile_load(c) : e;
}

static const struct hn_expr *renamed(struct copy *c, const struct hn_expr *e)
{
	return hn_expr_substitute(e, c->to, c->n_to, c->h->a);
}

/* Row-major over the loops of results. */
static const struct hn_expr *tile_at(struct copy *c)
{
	const struct hn_expr *at = hn_expr_int(0, HN_I32, c->h->a);

	for (uint32_t i = 0; i < c->s->n_loop; i++) {
		if (c->s->of_result[i]) {
			at = hn_expr_binary(HN_EXPR_MUL, at,
					    hn_expr_int(c->s->loop[i]->extent, HN_I32, c->h->a),
					    c->h->a);
			at = hn_expr_binary(HN_EXPR_ADD, at, c->to[c->s->loop[i]->slot], c->h->a);
		}
	}
	return hn_simplify(at, c->h->span, c->h->n_slot, c->h->a);
}

static const struct hn_device_node *store_of(struct copy *c, const struct hn_device_node *n)
{
	struct hn_device_node ret = *n;
	const struct hn_expr *at = renamed(c, n->at);
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = c->h->d->buffer[n->buffer].dtype,
				      .ref = n->buffer };

	c->at = tile_at(c);
	ret.buffer = c->what == GIVE ? n->buffer : c->s->tile;
	ret.at = c->what == GIVE ? at : c->at;
	ret.e = c->what == SUM	? hn_expr_map(renamed(c, n->e), from_tile, c, c->h->a)
		: c->what == TAKE ? hn_expr_with_args(&like, &at, 1, c->h->a)
				  : tile_load(c);
	return node(c->h, ret);
}

static bool is_of_result(const struct sum *s, const struct hn_device_node *n)
{
	for (uint32_t i = 0; i < s->n_loop; i++) {
		if (s->loop[i] == n) {
			return s->of_result[i];
		}
	}
	return false;
}

static bool is_of_results(const struct sum *s, const struct hn_device_node *n)
{
	for (uint32_t i = 0; i < s->n_guard; i++) {
		if (s->guard[i] == n) {
			return s->of_results[i];
		}
	}
	return false;
}

static const struct hn_device_node *copied(struct copy *c, const struct hn_device_node *n)
{
	struct hn_device_node ret = *n;
	bool keep = true;

	if (n->kind == HN_DEVICE_STORE) {
		return store_of(c, n);
	}
	if (n->kind == HN_DEVICE_LOOP) {
		keep = c->what == SUM || is_of_result(c->s, n);
		if (keep) {
			ret.slot = new_slot(c->h, n->extent);
			c->to[n->slot] = hn_expr_var(ret.slot, HN_I32, NULL, c->h->a);
		}
	} else if (n->kind == HN_DEVICE_IF) {
		keep = is_of_results(c->s, n) ? c->guarded : c->what == SUM;
		ret.e = keep ? renamed(c, n->e) : NULL;
	}
	const struct hn_device_node **child = HN_NEW_ARRAY(c->h->a, const struct hn_device_node *,
							   n->n_child);

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = copied(c, n->child[i]);
	}
	ret.child = child;
	if (!keep) {
		ret = (struct hn_device_node){ .kind = HN_DEVICE_SEQ,
					       .n_child = n->n_child,
					       .child = child };
	}
	return node(c->h, ret);
}

static const struct hn_device_node *pass(struct hold *h, const struct sum *s, enum what what,
					 bool guarded)
{
	struct copy c = { .h = h, .s = s, .what = what, .guarded = guarded, .n_to = h->n_slot };

	c.to = HN_NEW_ARRAY(h->a, const struct hn_expr *, h->n_slot);
	return copied(&c, s->terms);
}

/* ---- conditions of results, for the tile as a whole */

/* Where the condition holds for all results, given by the loops' numbers at which it is least likely;
 * NULL: it is not told. */
static const struct hn_expr *holds_for_all(struct hold *h, const struct sum *s,
					   const struct hn_expr *e)
{
	const struct hn_expr **end = HN_NEW_ARRAY(h->a, const struct hn_expr *, h->n_slot);
	bool less = e->op == HN_EXPR_LT || e->op == HN_EXPR_LE;

	if (e->op == HN_EXPR_AND) {
		const struct hn_expr *x = holds_for_all(h, s, e->arg[0]);
		const struct hn_expr *y = x ? holds_for_all(h, s, e->arg[1]) : NULL;

		return y ? hn_expr_binary(HN_EXPR_AND, x, y, h->a) : NULL;
	}
	if ((!less && e->op != HN_EXPR_GT && e->op != HN_EXPR_GE) || e->arg[0]->dtype != HN_I32) {
		return NULL;
	}
	struct hn_affine d = hn_affine_of(
		hn_expr_binary(HN_EXPR_SUB, e->arg[0], e->arg[1], h->a), h->span, h->n_slot, h->a);

	for (uint32_t i = 0; i < s->n_loop; i++) {
		int32_t slot = s->loop[i]->slot;

		for (uint32_t t = 0; t < d.n; t++) {
			const struct hn_expr *x = d.term[t].atom;

			if (x->op != HN_EXPR_VAR && hn_expr_uses(x, slot)) {
				return NULL;
			}
			if (x->op == HN_EXPR_VAR && x->ref == slot) {
				bool last = (d.term[t].coef > 0) == less;

				end[slot] = hn_expr_int(last ? s->loop[i]->extent - 1 : 0, HN_I32,
							h->a);
			}
		}
	}
	return hn_simplify_data(hn_expr_substitute(e, end, h->n_slot, h->a), h->span, h->n_slot,
				h->a);
}

/* *ret_told: it is said when all conditions of results hold; NULL: they always do. */
static const struct hn_expr *all_hold(struct hold *h, const struct sum *s, bool *ret_told)
{
	const struct hn_expr *all = NULL;

	*ret_told = true;
	for (uint32_t i = 0; i < s->n_guard && *ret_told; i++) {
		const struct hn_expr *e =
			s->of_results[i] ? holds_for_all(h, s, s->guard[i]->e) : NULL;

		if (s->of_results[i] && e == NULL) {
			*ret_told = false;
		} else if (e != NULL && e->op != HN_EXPR_INT) {
			all = all ? hn_expr_binary(HN_EXPR_AND, all, e, h->a) : e;
		} else if (e != NULL && e->u.i == 0) {
			*ret_told = false;
		}
	}
	return all;
}

static const struct hn_device_node *seq(struct hold *h, uint32_t n,
					const struct hn_device_node *const *child,
					const struct hn_expr *when)
{
	const struct hn_device_node **all = HN_NEW_ARRAY(h->a, const struct hn_device_node *, n);

	memcpy(all, child, n * sizeof(*all));
	return node(h, (struct hn_device_node){ .kind = when ? HN_DEVICE_IF : HN_DEVICE_SEQ,
						.e = when,
						.n_child = n,
						.child = all });
}

/* As it was, for the tiles at an end. */
static const struct hn_device_node *rolled(struct hold *h, const struct hn_device_node *n)
{
	struct hn_device_node ret = *n;
	const struct hn_device_node **child =
		HN_NEW_ARRAY(h->a, const struct hn_device_node *, n->n_child);

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = rolled(h, n->child[i]);
	}
	ret.child = child;
	if (n->kind == HN_DEVICE_LOOP && n->how != HN_DEVICE_LANES) {
		ret.how = HN_DEVICE_ROLLED;
	}
	return node(h, ret);
}

static const struct hn_device_node *hold_sum(struct hold *h, struct sum *s)
{
	const struct hn_device_node *part[3], *both[2];
	bool told;
	const struct hn_expr *whole = all_hold(h, s, &told);

	s->tile = new_tile(h, s);
	for (int i = 0; i < 3; i++) {
		part[i] = pass(h, s, (enum what)i, !told);
	}
	if (whole == NULL || !told) {
		return seq(h, 3, part, NULL);
	}
	const struct hn_expr *not = hn_expr_with_args(
		&(struct hn_expr){ .op = HN_EXPR_NOT, .dtype = whole->dtype }, &whole, 1, h->a);

	both[0] = seq(h, 3, part, whole);
	part[0] = rolled(h, s->terms);
	both[1] = seq(h, 1, part, not);
	return seq(h, 2, both, NULL);
}

static const struct hn_device_node *visit(struct hold *h, const struct hn_device_node *n)
{
	struct sum s;

	if (n->kind == HN_DEVICE_LOOP) {
		h->span[n->slot] = (struct hn_span){ 0, n->extent - 1 };
	}
	if (hn_hold_is_sum(h, n, &s)) {
		for (uint32_t i = 0; i < s.n_loop; i++) {
			h->span[s.loop[i]->slot] = (struct hn_span){ 0, s.loop[i]->extent - 1 };
		}
		return hold_sum(h, &s);
	}
	if (n->n_child == 0) {
		return n;
	}
	const struct hn_device_node **child =
		HN_NEW_ARRAY(h->a, const struct hn_device_node *, n->n_child);
	struct hn_device_node ret = *n;

	for (uint32_t i = 0; i < n->n_child; i++) {
		child[i] = visit(h, n->child[i]);
	}
	ret.child = child;
	return node(h, ret);
}

static void hold_kernel(struct hold *h, struct hn_device_kernel *k)
{
	h->k = k;
	h->n_slot = h->cap_slot = k->n_slot;
	h->type = HN_NEW_ARRAY(h->a, uint8_t, k->n_slot);
	h->span = HN_NEW_ARRAY(h->a, struct hn_span, k->n_slot);
	memcpy(h->type, k->type, k->n_slot);
	for (uint32_t s = 0; s < k->n_slot; s++) {
		int64_t n = s < HN_DEVICE_THREAD  ? k->grid[s]
			    : s < HN_DEVICE_FIRST ? k->block[s - HN_DEVICE_THREAD]
						  : 0;

		h->span[s] = n > 0 ? (struct hn_span){ 0, n - 1 }
				   : (struct hn_span){ -HN_SPAN_MAX, HN_SPAN_MAX };
	}
	k->body = visit(h, k->body);
	k->n_slot = h->n_slot;
	k->type = h->type;
}

const struct hn_device *hn_device_hold_sums(const struct hn_device *d, int64_t most_bytes,
					    struct hn_arena *a)
{
	struct hold h = { .a = a, .most_bytes = most_bytes, .cap_buffer = d->n_buffer };
	struct hn_device_kernel *k = HN_NEW_ARRAY(a, struct hn_device_kernel, d->n_kernel);
	struct hn_device_buffer *b = HN_NEW_ARRAY(a, struct hn_device_buffer, d->n_buffer);

	h.d = HN_NEW(a, struct hn_device);
	*h.d = *d;
	memcpy(b, d->buffer, d->n_buffer * sizeof(*b));
	memcpy(k, d->kernel, d->n_kernel * sizeof(*k));
	h.d->buffer = b;
	h.d->kernel = k;
	for (uint32_t i = 0; i < d->n_kernel; i++) {
		hold_kernel(&h, &k[i]);
	}
	return h.d;
}

int hn_device_place_for(const struct hn_looptree *t, const struct hn_target *target,
			struct hn_arena *a, const struct hn_device **ret, struct hn_err *err)
{
	int rc = hn_device_place(t, a, ret, err);

	if (rc == 0 && (target->caps & HN_CAP_GPU_THREADS) == 0) {
		*ret = hn_device_hold_sums(*ret,
					   target->param[HN_PARAM_VECTOR_REGISTERS] *
						   target->param[HN_PARAM_VECTOR_UNIT_BYTES],
					   a);
	}
	return rc;
}
