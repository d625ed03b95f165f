/* lower/device/place_product.c -- sums that a warp's instruction makes, from the loops of the tree.
 *
 * The loops around the instruction's own, inside the innermost reduction loop, are its block: the
 * factors' parts for all of it are loaded first, then it is multiplied.  Where the rows of a factor
 * in shared memory have 16 bytes that lie together, ldmatrix loads them, 4 matrices at a time; else
 * each lane loads what it holds.
 */
#include "base/arith.h"
#include "lower/device/device_warp.h"
#include "lower/device/place_warp_int.h"

#define MOST_BLOCK 8 /* loops */

struct product {
	struct place *p;
	const struct hn_node *block[MOST_BLOCK]; /* outermost first */
	uint32_t n_block;
	const struct hn_node *dim[HN_INTRIN_DIMS];
	const struct hn_intrin *intrin;
	const struct hn_node *stmt;
	struct {
		const struct hn_expr *load; /* of the op's axes */
		bool used[MOST_BLOCK];	    /* it moves with the loop */
		int32_t buffer;		    /* of its fragments */
	} factor[2];
};

/* The loops from n on, down to the statement; false: they are none of a product's. */
static bool find_product(struct product *x, const struct hn_node *n)
{
	while (n->kind == HN_NODE_LOOP) {
		if (n->intrin != NULL && hn_intrin_is_warp(n->intrin)) {
			x->dim[n->intrin_dim] = n;
			x->intrin = n->intrin;
		} else if (x->intrin != NULL || x->n_block == MOST_BLOCK ||
			   n->iter_kind != HN_ITER_SPATIAL || hn_place_runs(n) > HN_RUNS_ORDER) {
			return false;
		} else {
			x->block[x->n_block++] = n;
		}
		if (n->n_child != 1 || n->child[0]->init != NULL) {
			return false;
		}
		n = n->child[0];
	}
	x->stmt = n;
	return n->kind == HN_NODE_STMT && n->stmt == HN_STMT_UPDATE &&
	       x->dim[HN_INTRIN_M] != NULL && x->dim[HN_INTRIN_N] != NULL &&
	       x->dim[HN_INTRIN_TERMS] != NULL;
}

static void set(struct product *x, enum hn_intrin_dim d, const struct hn_expr *v)
{
	x->p->value[x->dim[d]->loop] = v;
}

/* The first element of a tile. */
static void set_first(struct product *x)
{
	for (enum hn_intrin_dim d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->dim[d] != NULL) {
			set(x, d, hn_place_int(x->p, 0));
		}
	}
}

/* The dimension that the factor's rows or columns are. */
static enum hn_intrin_dim side(uint32_t f)
{
	return f == 0 ? HN_INTRIN_M : HN_INTRIN_N;
}

/* Code inside loops over those of the block that `used` says, written out. */
struct nest {
	uint32_t n;
	int32_t slot[MOST_BLOCK];
	int64_t extent[MOST_BLOCK];
	const struct hn_expr *at; /* which iteration, row-major */
};

static struct nest open_nest(struct product *x, const bool *used)
{
	struct nest t = { .at = hn_place_int(x->p, 0) };

	for (uint32_t i = 0; i < x->n_block; i++) {
		const struct hn_node *l = x->block[i];

		if (l->extent == 1 || (used != NULL && !used[i])) {
			x->p->value[l->loop] = hn_place_int(x->p, 0);
			continue;
		}
		t.slot[t.n] = hn_place_slot(x->p, HN_I32, l->extent);
		t.extent[t.n] = l->extent;
		x->p->value[l->loop] = hn_place_var(x->p, t.slot[t.n]);
		t.at = sum(x->p, op_int(x->p, HN_EXPR_MUL, t.at, l->extent),
			   x->p->value[l->loop]);
		t.n++;
	}
	return t;
}

static void close_nest(struct product *x, const struct nest *t, struct code *inner,
		       struct code *c)
{
	for (uint32_t i = t->n; i-- > 0;) {
		struct code one = { 0 };

		hn_place_add(x->p, &one,
			     *hn_place_wrap(x->p,
					    (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
								     .how = HN_DEVICE_UNROLLED,
								     .slot = t->slot[i],
								     .extent = t->extent[i] },
					    inner));
		*inner = one;
	}
	for (uint32_t i = 0; i < inner->n; i++) {
		hn_place_add(x->p, c, *inner->v[i]);
	}
}

/* How the rows of 16 bytes lie that ldmatrix wants. */
enum lies { LIES_NOT, LIES_ALONG_TERMS, LIES_ACROSS };

/* Whether the index is the loop's iteration and multiples of n. */
static bool is_run(struct place *p, const struct hn_expr *index, int32_t slot, int64_t n)
{
	struct hn_affine f = hn_affine_of(index, p->span, p->n_slot, p->a);
	bool found = false;

	for (uint32_t i = 0; i < f.n; i++) {
		const struct hn_expr *a = f.term[i].atom;

		if (a->op == HN_EXPR_VAR && a->ref == slot) {
			found = f.term[i].coef == 1;
		} else if (f.term[i].coef % n != 0) {
			return false;
		}
	}
	return found && f.c % n == 0;
}

static enum lies how_it_lies(struct product *x, uint32_t f)
{
	struct place *p = x->p;
	const struct hn_expr *e = x->factor[f].load;
	const struct hn_buffer *b = &p->t->buffer[e->ref];
	int64_t bytes = (int64_t)hn_dtype_bytes((enum hn_dtype)e->dtype);
	int64_t row = HN_WARP_ROW / bytes;
	int32_t of[2] = { hn_place_slot(p, HN_I32, x->dim[side(f)]->extent),
			  hn_place_slot(p, HN_I32, x->dim[HN_INTRIN_TERMS]->extent) };

	if (p->held[e->ref].memory != HN_MEMORY_SHARED || b->lifetime != HN_LIFETIME_LOOP ||
	    b->n_dim == 0 || (b->swizzle.bits > 0 && (INT64_C(1) << b->swizzle.unit) % row != 0)) {
		return LIES_NOT;
	}
	for (uint32_t d = 0; d + 1 < b->n_dim; d++) {
		if (b->stride[d] % row != 0) {
			return LIES_NOT;
		}
	}
	set(x, side(f), hn_place_var(p, of[0]));
	set(x, HN_INTRIN_TERMS, hn_place_var(p, of[1]));
	const struct hn_expr *last = hn_place_binary(
		p, HN_EXPR_SUB, hn_place_in_stmt(p, x->stmt, e->arg[b->n_dim - 1]),
		hn_place_value(p, b->min[b->n_dim - 1], x->stmt->stage));

	for (int k = 0; k < 2; k++) {
		bool alone = is_run(p, last, of[k], row);

		for (uint32_t d = 0; d + 1 < b->n_dim && alone; d++) {
			alone = !hn_expr_uses(hn_place_in_stmt(p, x->stmt, e->arg[d]), of[k]);
		}
		if (alone && (k == 1 || bytes == 2)) {
			return k == 1 ? LIES_ALONG_TERMS : LIES_ACROSS;
		}
	}
	return LIES_NOT;
}

/* Four matrices at once: of a left tile all, of right tiles two pairs where loop `pair` has an even
 * number of them, else one. */
static void load_by_ldmatrix(struct product *x, uint32_t f, enum lies lies, struct code *c)
{
	struct place *p = x->p;
	int64_t n = hn_warp_elements(x->intrin, (enum hn_fragment)f);
	int64_t row = HN_WARP_ROW / (int64_t)hn_dtype_bytes((enum hn_dtype)x->intrin->left);
	const struct hn_expr *l = lane(p), *in_row = op_int(p, HN_EXPR_FLOORMOD, l, 8);
	const struct hn_expr *second =
		op_int(p, HN_EXPR_FLOORMOD, op_int(p, HN_EXPR_FLOORDIV, l, 8), 2);
	const struct hn_expr *fourth = op_int(p, HN_EXPR_FLOORDIV, l, 16);
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);
	struct nest t = open_nest(x, x->factor[f].used);
	struct code inner = { 0 };
	/* which matrix is the next 8 rows (columns), and which the next `row` terms */
	const struct hn_expr *next = f == 0 ? second : NULL, *terms = f == 0 ? fourth : second;
	bool pair = f == 1 && t.n > 0 && t.extent[t.n - 1] % 2 == 0;
	const struct hn_expr *r, *k;

	if (pair) {
		uint32_t i = x->n_block;

		while (!x->factor[f].used[--i] || x->block[i]->extent == 1) {
		}
		t.extent[t.n - 1] /= 2;
		p->span[t.slot[t.n - 1]].hi = t.extent[t.n - 1] - 1;
		const struct hn_expr *two =
			op_int(p, HN_EXPR_MUL, hn_place_var(p, t.slot[t.n - 1]), 2);

		p->value[x->block[i]->loop] = sum(p, two, fourth);
		t.at = hn_place_int(p, 0);
		for (uint32_t j = 0; j < t.n; j++) {
			t.at = sum(p, op_int(p, HN_EXPR_MUL, t.at, t.extent[j]),
				   hn_place_var(p, t.slot[j]));
		}
		n *= 2;
	}
	if (lies == LIES_ALONG_TERMS) {
		r = next != NULL ? sum(p, in_row, op_int(p, HN_EXPR_MUL, next, 8)) : in_row;
		k = op_int(p, HN_EXPR_MUL, terms, row);
	} else {
		r = next != NULL ? op_int(p, HN_EXPR_MUL, next, 8) : hn_place_int(p, 0);
		k = sum(p, in_row, op_int(p, HN_EXPR_MUL, terms, 8));
	}
	set(x, side(f), r);
	set(x, HN_INTRIN_TERMS, k);
	const struct hn_expr *e = hn_place_in_stmt(p, x->stmt, x->factor[f].load);

	if (p->rc != 0) {
		return;
	}
	*w = (struct hn_device_warp){ .from = { e->ref },
				      .from_at = { e->arg[0] },
				      .n_matrix = f == 0 || pair ? 4 : 2,
				      .trans = lies == LIES_ACROSS };
	hn_place_add(p, &inner,
		     (struct hn_device_node){
			     .kind = HN_DEVICE_LDMATRIX,
			     .buffer = x->factor[f].buffer,
			     .at = hn_simplify(op_int(p, HN_EXPR_MUL, t.at, n), p->span,
					       p->n_slot, p->a),
			     .warp = w });
	close_nest(x, &t, &inner, c);
}

/* Each lane its own elements, 4 bytes at a time. */
static void load_by_lanes(struct product *x, uint32_t f, struct code *c)
{
	struct place *p = x->p;
	int64_t n = hn_warp_elements(x->intrin, (enum hn_fragment)f);
	int64_t packed = hn_warp_packed(x->intrin->left);
	struct nest t = open_nest(x, x->factor[f].used);
	int32_t word = hn_place_slot(p, HN_I32, n / packed),
		of = packed > 1 ? hn_place_slot(p, HN_I32, packed) : -1;
	const struct hn_expr *in_word = of >= 0 ? hn_place_var(p, of) : hn_place_int(p, 0);
	const struct hn_expr *w = hn_place_var(p, word);
	const struct hn_expr *first =
		sum(p,
		    op_int(p, HN_EXPR_MUL, op_int(p, HN_EXPR_FLOORMOD, lane(p), 4), packed),
		    in_word);
	struct code inner = { 0 }, one = { 0 };

	if (f == 0) {
		set(x, HN_INTRIN_M,
		    sum(p, op_int(p, HN_EXPR_FLOORDIV, lane(p), 4),
			op_int(p, HN_EXPR_MUL, op_int(p, HN_EXPR_FLOORMOD, w, 2), 8)));
		w = op_int(p, HN_EXPR_FLOORDIV, w, 2);
	} else {
		set(x, HN_INTRIN_N, op_int(p, HN_EXPR_FLOORDIV, lane(p), 4));
	}
	set(x, HN_INTRIN_TERMS, sum(p, first, op_int(p, HN_EXPR_MUL, w, 4 * packed)));
	const struct hn_expr *e = hn_place_in_stmt(p, x->stmt, x->factor[f].load);
	const struct hn_expr *at =
		sum(p, op_int(p, HN_EXPR_MUL, t.at, n),
		    sum(p, op_int(p, HN_EXPR_MUL, hn_place_var(p, word), packed), in_word));

	hn_place_add(p, &inner,
		     (struct hn_device_node){
			     .kind = HN_DEVICE_STORE,
			     .buffer = x->factor[f].buffer,
			     .at = hn_simplify(at, p->span, p->n_slot, p->a),
			     .e = e });
	if (of >= 0) {
		hn_place_add(p, &one,
			     *hn_place_wrap(p,
					    (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
								     .how = HN_DEVICE_LANES,
								     .slot = of,
								     .extent = packed },
					    &inner));
		inner = one;
		one = (struct code){ 0 };
	}
	hn_place_add(p, &one,
		     *hn_place_wrap(p,
				    (struct hn_device_node){ .kind = HN_DEVICE_LOOP,
							     .how = HN_DEVICE_UNROLLED,
							     .slot = word,
							     .extent = n / packed },
				    &inner));
	close_nest(x, &t, &one, c);
}

/* Whether the factor moves with that loop of the instruction's. */
static bool moves_with(struct product *x, const struct hn_expr *factor, enum hn_intrin_dim d)
{
	struct place *p = x->p;
	struct nest all = open_nest(x, NULL);
	int32_t slot = hn_place_slot(p, HN_I32, x->dim[d]->extent);

	(void)all;
	set_first(x);
	set(x, d, hn_place_var(p, slot));
	const struct hn_expr *e = hn_place_in_stmt(p, x->stmt, factor);

	return p->rc == 0 && hn_expr_uses(e->arg[0], slot);
}

/* The left factor goes down the rows, the right one along the columns; of one type they may have
 * been written in the other order. */
static bool find_sides(struct product *x, const struct hn_expr *factor[2])
{
	int first = x->intrin->left == x->intrin->right &&
		    !moves_with(x, factor[0], HN_INTRIN_M);

	for (int f = 0; f < 2; f++) {
		x->factor[f].load = factor[f ^ first];
		if (moves_with(x, x->factor[f].load, side((uint32_t)!f))) {
			return false;
		}
	}
	return true;
}

static void load_factor(struct product *x, uint32_t f, struct code *c)
{
	struct place *p = x->p;
	int64_t n = hn_warp_elements(x->intrin, (enum hn_fragment)f);
	const char *name = p->t->dag->op[x->factor[f].load->ref]->name;

	for (uint32_t i = 0; i < x->n_block; i++) {
		struct nest all = open_nest(x, NULL);
		const struct hn_expr *v = p->value[x->block[i]->loop];

		(void)all;
		set_first(x);
		const struct hn_expr *e = hn_place_in_stmt(p, x->stmt, x->factor[f].load);

		x->factor[f].used[i] = v->op == HN_EXPR_VAR && p->rc == 0 &&
				       hn_expr_uses(e->arg[0], v->ref);
		n = hn_mul_sat(n, x->factor[f].used[i] ? x->block[i]->extent : 1);
	}
	x->factor[f].buffer =
		hn_place_buffer(p, hn_arena_printf(p->a, "%s.part", name),
				(enum hn_dtype)x->factor[f].load->dtype, HN_MEMORY_LOCAL, n, -1);
	enum lies lies = how_it_lies(x, f);

	set_first(x);
	if (lies != LIES_NOT) {
		load_by_ldmatrix(x, f, lies, c);
	} else {
		load_by_lanes(x, f, c);
	}
}

static void multiply(struct product *x, struct code *c)
{
	struct place *p = x->p;
	struct nest t = open_nest(x, NULL);
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);
	struct code inner = { 0 };
	int32_t buffer;

	w->intrin = x->intrin;
	for (uint32_t f = 0; f < 2; f++) {
		const struct hn_expr *at = hn_place_int(p, 0);

		for (uint32_t i = 0; i < x->n_block; i++) {
			if (x->factor[f].used[i]) {
				at = sum(p,
					 op_int(p, HN_EXPR_MUL, at, x->block[i]->extent),
					 p->value[x->block[i]->loop]);
			}
		}
		at = op_int(p, HN_EXPR_MUL, at,
			    hn_warp_elements(x->intrin, (enum hn_fragment)f));
		w->from[f] = x->factor[f].buffer;
		w->from_at[f] = hn_simplify(at, p->span, p->n_slot, p->a);
	}
	set_first(x);
	p->in_mma = true;
	const struct hn_expr *at = hn_place_result(p, x->stmt, &buffer);

	p->in_mma = false;
	if (p->rc != 0) {
		return;
	}
	hn_place_add(p, &inner,
		     (struct hn_device_node){
			     .kind = HN_DEVICE_MMA, .buffer = buffer, .at = at, .warp = w });
	close_nest(x, &t, &inner, c);
}

/* Whether the product may be made in whole tiles, past the ends of loops too: what is read there is
 * 0, or what is made of it is not stored. */
static bool is_whole(struct product *x)
{
	struct place *p = x->p;
	const struct hn_op *op = p->t->dag->op[x->stmt->stage];
	struct nest t = open_nest(x, NULL);
	struct guards g = { 0 };
	int32_t buffer;

	(void)t;
	set_first(x);
	p->in_mma = true;
	const struct hn_expr *at = hn_place_result(p, x->stmt, &buffer);

	p->in_mma = false;
	for (enum hn_intrin_dim d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->dim[d] != NULL) {
			set(x, d,
			    hn_place_var(p, hn_place_slot(p, HN_I32, x->dim[d]->extent)));
		}
	}
	const struct hn_expr *value = hn_place_in_stmt(p, x->stmt, op->reduce->source[0]);

	hn_place_guards(p, x->stmt, at, buffer, &value, 1, &g);
	return g.n == 0;
}

bool hn_place_product(struct place *p, const struct hn_node *n, struct code *c)
{
	const struct hn_expr *factor[2];
	struct product x = { .p = p };

	if (!find_product(&x, n)) {
		return false;
	}
	const struct hn_op *op = p->t->dag->op[x.stmt->stage];

	if (!hn_intrin_factors(x.intrin, op, factor) || factor[0]->op != HN_EXPR_LOAD ||
	    factor[1]->op != HN_EXPR_LOAD) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warps, of factors that are no elements of a stage");
		return true;
	}
	if (!find_sides(&x, factor)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warps, and a factor goes along rows and columns");
		return true;
	}
	if (x.stmt->n_guard > 0 && !is_whole(&x)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warps, and its loops end within a tile that is not "
				"filled with 0");
		return true;
	}
	for (uint32_t f = 0; f < 2 && p->rc == 0; f++) {
		load_factor(&x, f, c);
	}
	if (p->rc == 0) {
		multiply(&x, c);
	}
	return true;
}
