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

/* t mod n: of so many stages; the first time n is 0, and becomes it. */
static bool is_stage(const struct hn_expr *e, int32_t slot, int64_t *n)
{
	const struct hn_expr *x;
	int64_t v;

	if (!is_of(e, HN_EXPR_FLOORMOD, &x, &v) || !is_slot(x, slot) || (*n != 0 && v != *n)) {
		return false;
	}
	*n = v;
	return true;
}

/* (t / n) mod 2 */
static bool is_parity(const struct hn_expr *e, int32_t slot, int64_t n)
{
	const struct hn_expr *x, *y;
	int64_t v, w;

	return is_of(e, HN_EXPR_FLOORMOD, &x, &v) && v == 2 &&
	       is_of(x, HN_EXPR_FLOORDIV, &y, &w) && w == n && is_slot(y, slot);
}

/* if 0 < t: arrive at the stage of the turn before, (t + n - 1) mod n */
static bool gives_back(const struct hn_device_node *n, int32_t slot, int64_t stages)
{
	const struct hn_expr *x, *y;
	int64_t v, w;

	return n->kind == HN_DEVICE_IF && n->n_child == 1 &&
	       n->child[0]->kind == HN_DEVICE_ARRIVE && n->e->op == HN_EXPR_LT &&
	       is_int(n->e->arg[0], 0) && is_slot(n->e->arg[1], slot) &&
	       is_of(n->child[0]->at, HN_EXPR_FLOORMOD, &x, &v) && v == stages &&
	       is_of(x, HN_EXPR_ADD, &y, &w) && w == stages - 1 && is_slot(y, slot);
}

/* The place of the factor in stage 0, and how far the stages are from each other. */
static bool find_factor(struct gpu *g, const struct hn_device_warp *w, int i, int32_t slot,
			struct gpu_turns *t)
{
	struct hn_affine f = hn_gpu_affine(g, w->from_at[i]);
	struct hn_term *rest = HN_NEW_ARRAY(g->a, struct hn_term, f.n + 1);
	uint32_t n_rest = 0;

	for (uint32_t k = 0; k < f.n; k++) {
		const struct hn_expr *a = f.term[k].atom;
		int64_t n = t->n_stage;

		if (!hn_expr_uses(a, slot)) {
			rest[n_rest++] = f.term[k];
		} else if (t->step[i] != 0 ||
			   !(is_stage(a, slot, &n) ||
			     (is_slot(a, slot) && t->n_turn <= t->n_stage))) {
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

bool hn_gpu_turns(struct gpu *g, const struct hn_device_node *n)
{
	struct gpu_turns t = { .n_turn = n->extent };

	if (g->lang->turns == NULL || !g->has_wgmma || n->n_child != 4 ||
	    n->child[0]->kind != HN_DEVICE_AWAIT || n->child[1]->kind != HN_DEVICE_WGMMA ||
	    n->child[2]->kind != HN_DEVICE_SETTLE || n->child[2]->extent != 1 ||
	    hn_expr_uses(n->child[1]->at, n->slot) ||
	    !is_stage(n->child[0]->at, n->slot, &t.n_stage) ||
	    !is_parity(n->child[0]->e, n->slot, t.n_stage) ||
	    !gives_back(n->child[3], n->slot, t.n_stage)) {
		return false;
	}
	t.w = n->child[1]->warp;
	if (!find_factor(g, t.w, 0, n->slot, &t) || !find_factor(g, t.w, 1, n->slot, &t)) {
		return false;
	}
	const struct hn_expr *first = hn_expr_int(0, HN_I32, g->a);

	t.sum = hn_gpu_place(g, n->child[1]->buffer, n->child[1]->at);
	t.full = hn_gpu_place(g, n->child[0]->buffer, first);
	t.empty = hn_gpu_place(g, n->child[3]->child[0]->buffer, first);
	g->lang->turns(g, &t);
	return true;
}
