/* lower/device/place_guard.c -- where the guards of a statement need not stand.
 *
 * A length that does not divide its loop leaves iterations past the end, and the tree guards each
 * statement in them.  In a thread's inner loops that is a comparison for each multiplication.  But
 * what lies in shared memory or is a thread's own is a box as large as the tile.  Where it has no
 * element it may hold any number, for what is stored at last is guarded:
 *
 *   - a copy into shared memory writes 0 there, so that the whole box is written;
 *   - what a thread makes of such boxes for itself needs no guards of results;
 *   - where it would read past a box that ends with its tensor, it reads the last element again;
 *   - a sum of products of two numbers that are both 0 past the last term needs none of terms.
 *
 * Nothing here is trusted: the verifier looks at each access anew.
 */
#include "lower/device/place_int.h"

/* Whether the flat index lies in the buffer whatever the loops' numbers are.  A swizzle changes
 * places within rows alone. */
static bool inside(struct place *p, int32_t buffer, const struct hn_expr *at)
{
	int64_t lo, hi;

	for (uint32_t i = 0; i < p->n_turned; i++) {
		if (hn_expr_equal(at, p->turned[i])) {
			at = p->straight[i];
			break;
		}
	}

	return hn_expr_range(at, p->span, p->n_slot, &lo, &hi) && lo >= 0 &&
	       hi < p->buffer[buffer].n_elem;
}

static const struct held *holder(const struct place *p, int32_t buffer)
{
	for (uint32_t i = 0; i < p->t->dag->n_op; i++) {
		if (p->held[i].made && p->held[i].buffer == buffer) {
			return &p->held[i];
		}
	}
	return NULL;
}

/* All that is loaded is there, in memory of the block's or the thread's own. */
static bool loads_full(struct place *p, const struct hn_expr *e)
{
	bool ok = e->op != HN_EXPR_FLOORDIV && e->op != HN_EXPR_FLOORMOD &&
		  e->op != HN_EXPR_TRUNCMOD; /* of data: they may divide by 0 */

	if (e->op == HN_EXPR_LOAD) {
		const struct held *h = holder(p, e->ref);

		return h && h->memory != HN_MEMORY_GLOBAL && h->full == HN_HELD_YES &&
		       inside(p, e->ref, e->arg[0]);
	}
	for (uint32_t i = 0; i < e->n_arg && ok; i++) {
		ok = loads_full(p, e->arg[i]);
	}
	return ok;
}

static bool is_true(const struct hn_expr *e)
{
	return e->op == HN_EXPR_INT && e->u.i != 0;
}

/* Whether the guard is about terms: it names what a reduction axis does. */
static bool of_terms(const struct place *p, const struct hn_node *n, const struct hn_expr *guard)
{
	const struct hn_op *op = p->t->dag->op[n->stage];

	for (uint32_t d = op->n_spatial; d < op->n_spatial + op->n_reduce; d++) {
		for (uint32_t l = 0; n->axis[d] != NULL && l < p->t->n_loop; l++) {
			if (hn_expr_uses(n->axis[d], (int32_t)l) && hn_expr_uses(guard, (int32_t)l)) {
				return true;
			}
		}
	}
	return false;
}

/* Past the guard `index < end` the load, of the stage's own terms, is past its tensor's end, where
 * that holds 0. */
static bool zero_past(struct place *p, const struct hn_node *n, const struct hn_expr *guard,
		      const struct hn_expr *load)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	const struct hn_expr *axis[HN_DAG_MAX_ITERS] = { NULL };

	while (load->op == HN_EXPR_CAST) { /* 0 is 0 in all types */
		load = load->arg[0];
	}
	if (load->op != HN_EXPR_LOAD) {
		return false;
	}
	const struct held *h = &p->held[load->ref];
	const struct hn_op *of = p->t->dag->op[load->ref];

	if (h->zero != HN_HELD_YES || guard->op != HN_EXPR_LT ||
	    guard->arg[1]->op != HN_EXPR_INT) {
		return false;
	}
	for (uint32_t d = 0; d < op->n_spatial + op->n_reduce; d++) {
		axis[d] = n->axis[d] ? hn_place_value(p, n->axis[d], n->stage) : NULL;
	}
	for (uint32_t d = 0; d < load->n_arg && p->rc == 0; d++) {
		const struct hn_expr *at = hn_expr_substitute(load->arg[d], axis,
							      op->n_spatial + op->n_reduce, p->a);
		const struct hn_expr *more = hn_simplify(
			hn_place_binary(p, HN_EXPR_SUB, at, guard->arg[0]), p->span, p->n_slot, p->a);

		if (more->op == HN_EXPR_INT &&
		    guard->arg[1]->u.i + more->u.i == of->axis[d].min + of->shape[d]) {
			return true;
		}
	}
	return false;
}

static bool adds_zero_past(struct place *p, const struct hn_node *n, const struct hn_expr *guard)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	const struct hn_expr *e = op->reduce->source[0];

	return op->n_out == 1 && op->reduce->kind == HN_COMBINE_SUM && e->op == HN_EXPR_MUL &&
	       zero_past(p, n, guard, e->arg[0]) && zero_past(p, n, guard, e->arg[1]);
}

static void note(uint8_t *flag, bool holds)
{
	*flag = *flag == HN_HELD_NO || !holds ? HN_HELD_NO : HN_HELD_YES;
}

const struct hn_expr *hn_place_copied(const struct hn_op *op)
{
	const struct hn_expr *e = op->body ? op->body[0] : NULL;

	if (!e || e->op != HN_EXPR_LOAD || e->n_arg != op->n_dim) {
		return NULL;
	}
	for (uint32_t d = 0; d < e->n_arg; d++) {
		bool same = e->arg[d]->op == HN_EXPR_VAR && e->arg[d]->ref == (int32_t)d;

		if (!same && !(op->shape[d] == 1 && e->arg[d]->op == HN_EXPR_INT)) {
			return NULL;
		}
	}
	return e;
}

/* at, an index that has `stride` elements for each number of the guard's side, where that side does
 * not pass its end.  NULL: at is no such index. */
static const struct hn_expr *hold_back(struct place *p, const struct hn_expr *at,
				       const struct hn_expr *guard)
{
	struct hn_affine whole = hn_affine_of(at, p->span, p->n_slot, p->a), side;
	int64_t stride = 0;

	if (guard->op != HN_EXPR_LT || guard->arg[1]->op != HN_EXPR_INT ||
	    (p->lane_extent > 1 && hn_expr_uses(guard, p->lane_slot))) {
		return NULL;
	}
	side = hn_affine_of(guard->arg[0], p->span, p->n_slot, p->a);
	for (uint32_t i = 0; i < whole.n && side.n > 0; i++) {
		if (hn_expr_equal(whole.term[i].atom, side.term[0].atom) &&
		    whole.term[i].coef % side.term[0].coef == 0) {
			stride = whole.term[i].coef / side.term[0].coef;
		}
	}
	if (stride <= 0) {
		return NULL;
	}
	/* numbers that pass the guard stay, whatever else is in `at` */
	const struct hn_expr *x = guard->arg[0], *by = hn_place_int(p, stride);
	const struct hn_expr *last = hn_place_int(p, guard->arg[1]->u.i - 1);
	const struct hn_expr *rest = hn_simplify(
		hn_place_binary(p, HN_EXPR_SUB, at, hn_place_binary(p, HN_EXPR_MUL, x, by)), p->span,
		p->n_slot, p->a);

	return hn_simplify(
		hn_place_binary(p, HN_EXPR_ADD, rest,
				hn_place_binary(p, HN_EXPR_MUL,
						hn_place_binary(p, HN_EXPR_MIN, x, last), by)),
		p->span, p->n_slot, p->a);
}

/* A copy from a box that ends where its tensor does: past the guards the last element.  NULL: it is
 * none, or its indices leave the box all the same. */
static const struct hn_expr *hold_all_back(struct place *p, const struct hn_node *n,
					   const struct guards *g, const struct hn_expr *load)
{
	const struct hn_op *op = p->t->dag->op[n->stage];
	const struct held *h = load->op == HN_EXPR_LOAD ? holder(p, load->ref) : NULL;
	const struct hn_expr *at = h != NULL ? load->arg[0] : NULL;

	if (op->reduce != NULL || hn_place_copied(op) == NULL || g->n == 0 || at == NULL ||
	    h->memory != HN_MEMORY_SHARED || h->full != HN_HELD_YES) {
		return NULL;
	}
	for (uint32_t i = 0; i < g->n && at != NULL && p->rc == 0; i++) {
		at = hold_back(p, at, g->e[i]);
	}
	if (at == NULL || !inside(p, load->ref, at)) {
		return NULL;
	}
	return hn_expr_with_args(load, &at, 1, p->a);
}

/* A thread's own: the guards that do not matter go. */
static void relax_own(struct place *p, const struct hn_node *n, struct guards *g, bool there,
		      bool held_back)
{
	struct held *h = &p->held[n->stage];
	const struct hn_op *op = p->t->dag->op[n->stage];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		bool terms = n->stmt == HN_STMT_UPDATE && of_terms(p, n, n->guard[g->from[i]]);

		if (!there || (terms && !adds_zero_past(p, n, g->e[i]))) {
			g->e[kept] = g->e[i];
			g->from[kept++] = g->from[i];
		}
	}
	g->n = kept;
	if (!op->reduce) {
		const struct hn_expr *from = hn_place_copied(op);

		note(&h->full, g->n == 0);
		note(&h->zero, g->n == 0 && !held_back && from &&
				       p->held[from->ref].zero == HN_HELD_YES);
	}
}

/* Names nothing but the stage's own loops: it is about the box, not about where the box lies. */
static bool of_box(const struct place *p, const struct hn_node *n, const struct hn_expr *guard)
{
	for (uint32_t l = 0; l < p->t->n_loop; l++) {
		if (p->loop_stage[l] != n->stage && hn_expr_uses(guard, (int32_t)l)) {
			return false;
		}
	}
	return true;
}

/* The box in shared memory: 0 where guards of elements fail; those of the box stay, first. */
static void fill_box(struct place *p, const struct hn_node *n, const struct hn_expr *at,
		     int32_t dst, struct guards *g)
{
	struct held *h = &p->held[n->stage];
	bool plain = p->t->dag->op[n->stage]->reduce == NULL && p->t->dag->op[n->stage]->n_out == 1;

	g->n_box = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		if (of_box(p, n, n->guard[g->from[i]])) {
			const struct hn_expr *e = g->e[i];
			uint32_t from = g->from[i];

			for (uint32_t k = i; k > g->n_box; k--) {
				g->e[k] = g->e[k - 1];
				g->from[k] = g->from[k - 1];
			}
			g->e[g->n_box] = e;
			g->from[g->n_box++] = from;
		}
	}
	g->fill = plain && g->n > g->n_box && (g->n_box > 0 || inside(p, dst, at));
	note(&h->full, plain && (g->fill || g->n == g->n_box));
	note(&h->zero, plain && (g->fill || g->n == g->n_box));
}

void hn_place_guards(struct place *p, const struct hn_node *n, const struct hn_expr *at,
		     int32_t dst, const struct hn_expr **value, uint32_t n_value,
		     struct guards *g)
{
	const struct held *h = &p->held[n->stage];
	bool own = p->t->buffer[n->stage].lifetime == HN_LIFETIME_LOOP &&
		   p->part[n->stage] == NULL;

	g->n = 0;
	g->fill = false;
	g->n_box = 0;
	for (uint32_t i = 0; i < n->n_guard && p->rc == 0; i++) {
		const struct hn_expr *e = hn_simplify(hn_place_value(p, n->guard[i], n->stage),
						      p->span, p->n_slot, p->a);

		if (is_true(e)) {
			continue;
		}
		if (g->n == HN_COUNT_OF(g->e)) {
			hn_place_refuse(p, n->stage, "has more than %zu guards",
					HN_COUNT_OF(g->e));
			return;
		}
		g->from[g->n] = i;
		g->e[g->n++] = e;
	}
	if (own && h->memory == HN_MEMORY_SHARED) {
		fill_box(p, n, at, dst, g);
	} else if (own && h->memory == HN_MEMORY_LOCAL) {
		bool there = inside(p, dst, at);

		for (uint32_t k = 0; k < n_value && there; k++) {
			there = loads_full(p, value[k]);
		}
		const struct hn_expr *back =
			!there && inside(p, dst, at) && n_value == 1
				? hold_all_back(p, n, g, value[0])
				: NULL;

		value[0] = back != NULL ? back : value[0];
		relax_own(p, n, g, there || back != NULL, back != NULL);
	}
}

/* ---- vectors */

struct no_lane {
	int32_t slot;
};

static const struct hn_expr *without_lane(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct no_lane *l = ctx;

	return e->op == HN_EXPR_VAR && e->ref == l->slot
		       ? hn_expr_int(0, (enum hn_dtype)e->dtype, a)
		       : e;
}

/* The same for all lanes of a vector: `index < end` where both are multiples of its length. */
const struct hn_expr *hn_place_for_lanes(struct place *p, const struct hn_expr *guard)
{
	struct no_lane l = { p->lane_slot };
	int64_t n = p->lane_extent;

	if (n <= 1 || guard->op != HN_EXPR_LT || guard->arg[1]->op != HN_EXPR_INT ||
	    !hn_expr_uses(guard, p->lane_slot) || guard->arg[1]->u.i % n != 0) {
		return guard;
	}
	const struct hn_expr *rest = hn_expr_map(guard->arg[0], without_lane, &l, p->a);
	const struct hn_expr *lane = hn_simplify(hn_place_binary(p, HN_EXPR_SUB, guard->arg[0], rest),
						 p->span, p->n_slot, p->a);
	const struct hn_expr *mod = hn_simplify(
		hn_place_binary(p, HN_EXPR_FLOORMOD, rest, hn_place_int(p, n)), p->span, p->n_slot,
		p->a);

	if (lane->op != HN_EXPR_VAR || lane->ref != p->lane_slot || mod->op != HN_EXPR_INT ||
	    mod->u.i != 0) {
		return guard;
	}
	return hn_place_binary(p, HN_EXPR_LT, hn_simplify(rest, p->span, p->n_slot, p->a),
			       guard->arg[1]);
}
