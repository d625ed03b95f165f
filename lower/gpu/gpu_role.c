/* lower/gpu/gpu_role.c -- words of roles (lower/device/device_role.h), for all languages that have them. */
#include "lower/device/device_role.h"
#include "lower/gpu/gpu_int.h"

#define REGISTER_UNIT 8

static const struct hn_device_node *role_of(const struct hn_device_kernel *k, enum hn_device_role role)
{
	const struct hn_device_node *ret = NULL;

	for (uint32_t i = 0; i < k->body->n_child; i++) {
		const struct hn_device_node *n = k->body->child[i];

		ret = n->kind == HN_DEVICE_ROLE && n->how == role ? n : ret;
	}
	return ret;
}

int64_t hn_gpu_registers(const struct hn_device_kernel *k)
{
	const struct hn_device_node *one = role_of(k, HN_DEVICE_PRODUCER),
				    *other = role_of(k, HN_DEVICE_CONSUMER);

	if (one == NULL || other == NULL) {
		return 0;
	}
	int64_t groups = k->block[1], all = one->extent + (groups - 1) * other->extent;

	return (all + groups * REGISTER_UNIT - 1) / (groups * REGISTER_UNIT) * REGISTER_UNIT;
}

/* One thread of the producer does all that it says. */
static void role(struct gpu *g, const struct hn_device_node *n, hn_gpu_children *walk,
		 struct scope *s)
{
	const struct hn_expr *first = hn_expr_binary(
		HN_EXPR_LT, hn_expr_var(HN_DEVICE_THREAD, HN_I32, NULL, g->a),
		hn_expr_int(1, HN_I32, g->a), g->a);

	g->lang->begin_if(g, hn_gpu_guard(g, n->e));
	g->lang->registers(g, n->extent, n->extent >= hn_gpu_registers(g->k));
	if (n->how == HN_DEVICE_PRODUCER) {
		g->lang->begin_if(g, hn_gpu_guard(g, first));
	}
	walk(g, s, n);
	if (n->how == HN_DEVICE_PRODUCER) {
		g->lang->end_if(g);
	}
	g->lang->end_if(g);
}

static void bulk(struct gpu *g, const struct hn_device_node *n)
{
	const struct hn_device_bulk *b = n->bulk;
	struct gpu_at to = hn_gpu_place(g, n->buffer, n->at);
	struct gpu_at on = hn_gpu_place(g, b->mbarrier, b->mbarrier_at);
	gpu_val from[HN_DEVICE_MAP_DIM];

	for (uint32_t d = 0; d < g->d->map[b->map].n_dim; d++) {
		from[d] = hn_gpu_index(g, hn_gpu_here(g, b->from[d]), false);
	}
	g->lang->bulk(g, b->map, &to, from, &on);
}

void hn_gpu_word(struct gpu *g, const struct hn_device_node *n, hn_gpu_children *walk,
		 struct scope *s)
{
	struct gpu_at at;

	if (g->lang->bulk == NULL || !g->has_wgmma) {
		hn_gpu_refuse(g, HONE_E_UNSUPPORTED,
			      "roles of warpgroups have no form in this language, or for %s",
			      g->target->isa);
		return;
	}
	if (n->kind == HN_DEVICE_ROLE) {
		role(g, n, walk, s);
		return;
	}
	if (n->kind == HN_DEVICE_BULK) {
		bulk(g, n);
		return;
	}
	at = hn_gpu_place(g, n->buffer, n->at);
	if (n->kind == HN_DEVICE_MBARRIER) {
		g->lang->mbarrier(g, &at, n->extent);
	} else if (n->kind == HN_DEVICE_EXPECT) {
		g->lang->expect(g, &at, n->extent);
	} else if (n->kind == HN_DEVICE_ARRIVE) {
		g->lang->arrive(g, &at);
	} else {
		g->lang->await(g, &at, hn_gpu_index(g, hn_gpu_here(g, n->e), false));
	}
}

/* ---- a consumer's turns */

static bool is_int(const struct hn_expr *e, int64_t v)
{
	return e->op == HN_EXPR_INT && e->u.i == v;
}

static bool is_of(const struct hn_expr *e, enum hn_expr_op op, const struct hn_expr **x, int64_t *v)
{
	if (e->op != op || e->arg[1]->op != HN_EXPR_INT) {
		return false;
	}
	*x = e->arg[0];
	*v = e->arg[1]->u.i;
	return true;
}

static bool is_slot(const struct hn_expr *e, int32_t slot)
{
	return e->op == HN_EXPR_VAR && e->ref == slot;
}

/* How turns are counted: `before` came before the loop's first, in loops around it. */
struct count {
	struct gpu *g;
	int32_t slot;
	int64_t n; /* stages */
	struct hn_affine before;
};

/* e is the loop's turn and a number that does not change in it. */
static bool is_turn(const struct count *x, const struct hn_expr *e, struct hn_affine *before)
{
	struct hn_affine f = hn_gpu_affine(x->g, e);
	struct hn_term *rest = HN_NEW_ARRAY(x->g->a, struct hn_term, f.n + 1);
	uint32_t n = 0, n_turn = 0;

	for (uint32_t i = 0; i < f.n; i++) {
		bool turn = is_slot(f.term[i].atom, x->slot) && f.term[i].coef == 1;

		if (!turn && hn_expr_uses(f.term[i].atom, x->slot)) {
			return false;
		}
		n_turn += turn;
		rest[n] = f.term[i];
		n += !turn;
	}
	*before = (struct hn_affine){ f.c, n, rest };
	return n_turn == 1;
}

static int64_t coef_of(const struct hn_affine *f, const struct hn_expr *atom)
{
	int64_t ret = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		ret += hn_expr_equal(f->term[i].atom, atom) ? f->term[i].coef : 0;
	}
	return ret;
}

/* Whether f and g + more are one stage's turns. */
static bool are_one(const struct count *x, const struct hn_affine *f, const struct hn_affine *g,
		    int64_t more)
{
	bool ok = (f->c - g->c - more) % x->n == 0;

	for (uint32_t i = 0; i < f->n; i++) {
		ok = ok && (f->term[i].coef - coef_of(g, f->term[i].atom)) % x->n == 0;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		ok = ok && (g->term[i].coef - coef_of(f, g->term[i].atom)) % x->n == 0;
	}
	return ok;
}

/* The stage of turn t + more: that mod n. */
static bool is_stage(const struct count *x, const struct hn_expr *e, int64_t more)
{
	struct hn_affine before;
	const struct hn_expr *y;
	int64_t v;

	return is_of(e, HN_EXPR_FLOORMOD, &y, &v) && v == x->n && is_turn(x, y, &before) &&
	       are_one(x, &before, &x->before, more);
}

/* (t / n) mod 2: says how turns are counted. */
static bool is_parity(struct count *x, const struct hn_expr *e)
{
	const struct hn_expr *y, *z;
	int64_t v;

	return is_of(e, HN_EXPR_FLOORMOD, &y, &v) && v == 2 &&
	       is_of(y, HN_EXPR_FLOORDIV, &z, &x->n) && x->n > 0 && is_turn(x, z, &x->before);
}

/* if 0 < t: arrive at the stage of the turn before */
static bool gives_back(const struct count *x, const struct hn_device_node *n)
{
	return n->kind == HN_DEVICE_IF && n->n_child == 1 &&
	       n->child[0]->kind == HN_DEVICE_ARRIVE && n->e->op == HN_EXPR_LT &&
	       is_int(n->e->arg[0], 0) && is_slot(n->e->arg[1], x->slot) &&
	       is_stage(x, n->child[0]->at, -1);
}

/* The place of the factor in stage 0, and how far the stages are from each other. */
static bool find_factor(const struct count *x, const struct hn_device_warp *w, int i,
			struct gpu_turns *t)
{
	const struct hn_affine none = { 0 };
	struct gpu *g = x->g;
	struct hn_affine f = hn_gpu_affine(g, w->from_at[i]);
	struct hn_term *rest = HN_NEW_ARRAY(g->a, struct hn_term, f.n + 1);
	uint32_t n_rest = 0;

	for (uint32_t k = 0; k < f.n; k++) {
		const struct hn_expr *a = f.term[k].atom;
		/* fewer turns than stages, and as many before as come round */
		bool short_of = is_slot(a, x->slot) && t->n_turn <= x->n &&
				are_one(x, &x->before, &none, 0);

		if (!hn_expr_uses(a, x->slot)) {
			rest[n_rest++] = f.term[k];
		} else if (t->step[i] != 0 || !(is_stage(x, a, 0) || short_of)) {
			return false;
		} else {
			t->step[i] = f.term[k].coef;
		}
	}
	f.term = rest;
	f.n = n_rest;
	t->from[i] = hn_gpu_at(g, w->from[i], &f);
	return t->step[i] > 0;
}

static const struct hn_expr *first_turn(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct count *x = ctx;

	return is_slot(e, x->slot) ? hn_expr_int(0, (enum hn_dtype)e->dtype, a) : e;
}

/* What the expression is worth before the first turn. */
static gpu_val at_first(struct count *x, const struct hn_expr *e)
{
	struct gpu *g = x->g;

	e = hn_expr_map(hn_gpu_here(g, e), first_turn, x, g->a);
	return hn_gpu_index(g, hn_simplify(e, g->span, g->n_slot, g->a), false);
}

bool hn_gpu_turns(struct gpu *g, const struct hn_device_node *n)
{
	struct count x = { .g = g, .slot = n->slot };
	struct gpu_turns t = { .n_turn = n->extent };

	if (g->lang->turns == NULL || !g->has_wgmma || n->n_child != 4 ||
	    n->child[0]->kind != HN_DEVICE_AWAIT || n->child[1]->kind != HN_DEVICE_WGMMA ||
	    n->child[2]->kind != HN_DEVICE_SETTLE || n->child[2]->extent != 1 ||
	    hn_expr_uses(n->child[1]->at, n->slot) || !is_parity(&x, n->child[0]->e) ||
	    !is_stage(&x, n->child[0]->at, 0) || !gives_back(&x, n->child[3])) {
		return false;
	}
	t.w = n->child[1]->warp;
	t.n_stage = x.n;
	if (!find_factor(&x, t.w, 0, &t) || !find_factor(&x, t.w, 1, &t)) {
		return false;
	}
	const struct hn_expr *first = hn_expr_int(0, HN_I32, g->a);

	t.sum = hn_gpu_place(g, n->child[1]->buffer, n->child[1]->at);
	t.full = hn_gpu_place(g, n->child[0]->buffer, first);
	t.empty = hn_gpu_place(g, n->child[3]->child[0]->buffer, first);
	t.stage = at_first(&x, n->child[0]->at);
	t.phase = at_first(&x, n->child[0]->e);
	g->lang->turns(g, &t);
	return true;
}
