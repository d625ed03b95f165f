/* lower/device/place_warp.c -- sums that a warp's instruction makes (TE, device_warp.h).
 *
 * In the loop tree one thread computes a tile of results, and holds it.  In the program the 32
 * threads of a warp do: numbers of the tree's threads in y and z are those of warps, and x is the
 * lane.  The tile lies in fragments, a part in each lane.
 *
 * The loops around the instruction's own, inside the innermost reduction loop, are its block: the
 * factors' parts for all of it are loaded first, then it is multiplied.  What else is done with the
 * results, before and behind, is done by the lane that holds them: where a loop of 16 runs through
 * a tile's rows, or one of 8 through its columns, each lane runs through its own alone.
 */
#include "lower/device/device_warp.h"
#include "lower/device/place_int.h"

#include "base/arith.h"

/* ---- before a nest is placed */

struct look {
	struct place *p;
	const struct hn_node *stmt;
	bool any;
};

static const struct hn_expr *less_min(struct place *p, int32_t stage, uint32_t d,
				      const struct hn_expr *x)
{
	return hn_place_binary(p, HN_EXPR_SUB, x, p->t->buffer[stage].min[d]);
}

/* The loop whose iterations are the tile's rows (or columns) where the index moves by one from each
 * to the next, and by whole tiles with all other loops; -1: there is none. */
static int32_t digit_loop(struct place *p, const struct hn_expr *index, int64_t unit)
{
	struct hn_affine f = hn_affine_of(index, p->loop_span, p->t->n_loop, p->a);
	int32_t ret = -1;

	for (uint32_t i = 0; i < f.n; i++) {
		const struct hn_expr *x = f.term[i].atom;

		if (f.term[i].coef % unit == 0) {
			continue;
		}
		if (f.term[i].coef != 1 || x->op != HN_EXPR_VAR || ret >= 0 ||
		    p->loop_span[x->ref].hi != unit - 1) {
			return -1;
		}
		ret = x->ref;
	}
	return f.c % unit == 0 ? ret : -1;
}

/* A touch of the stage's results at these indices, in loop space. */
static void see_touch(struct place *p, int32_t stage, const struct hn_expr *const *axis,
		      int32_t by)
{
	const struct fragment *f = &p->fragment[stage];

	for (uint32_t i = 0; i < 2; i++) {
		enum digit digit = i == 0 ? DIGIT_ROW : DIGIT_COLUMN;
		int64_t unit = f->intrin->most[i == 0 ? HN_INTRIN_M : HN_INTRIN_N];
		int32_t loop = digit_loop(
			p, less_min(p, stage, f->dim[i], axis[f->dim[i]]), unit);

		if (loop < 0 || (p->digit[loop] != DIGIT_NONE && p->digit[loop] != digit)) {
			hn_place_refuse(p, by,
					"touches what a warp holds of %s in no loop of %lld "
					"through a tile",
					p->t->dag->op[stage]->name, (long long)unit);
			return;
		}
		p->digit[loop] = (uint8_t)digit;
	}
}

static const struct hn_expr *in_loops(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct look *l = ctx;

	(void)a;
	return e->op == HN_EXPR_VAR && e->ref < HN_SLOT_LHS && l->stmt->axis[e->ref] != NULL
		       ? l->stmt->axis[e->ref]
		       : e;
}

static void see_load(const struct hn_expr *e, void *ctx)
{
	const struct look *l = ctx;
	const struct hn_expr *axis[HN_DAG_MAX_RANK];

	if (e->op != HN_EXPR_LOAD || l->p->fragment[e->ref].intrin == NULL) {
		return;
	}
	for (uint32_t d = 0; d < e->n_arg; d++) {
		axis[d] = hn_expr_map(e->arg[d], in_loops, ctx, l->p->a);
	}
	see_touch(l->p, e->ref, axis, l->stmt->stage);
}

static void see_value(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, see_load, ctx);
}

static void see_statements(struct place *p, const struct hn_node *n)
{
	struct look l = { .p = p, .stmt = n };

	if (n->init != NULL) {
		see_statements(p, n->init);
	}
	if (n->kind == HN_NODE_STMT) {
		if (p->fragment[n->stage].intrin != NULL && n->stmt == HN_STMT_INIT) {
			see_touch(p, n->stage, n->axis, n->stage);
		}
		hn_dag_op_exprs(p->t->dag->op[n->stage], see_value, &l);
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		see_statements(p, n->child[i]);
	}
}

static void see_loops(struct place *p, const struct hn_node *n)
{
	if (n->init != NULL) {
		see_loops(p, n->init);
	}
	if (n->kind == HN_NODE_LOOP) {
		p->loop_span[n->loop] = (struct hn_span){ 0, n->extent - 1 };
	}
	for (uint32_t i = 0; i < n->n_child; i++) {
		see_loops(p, n->child[i]);
	}
}

/* Which of the stage's dimensions the loop moves in. */
static uint32_t dim_of(struct place *p, const struct hn_node *stmt, const struct hn_node *loop)
{
	const struct hn_op *op = p->t->dag->op[stmt->stage];

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		if (hn_expr_uses(stmt->axis[d], loop->loop)) {
			return d;
		}
	}
	hn_place_refuse(p, stmt->stage, "has rows or columns that are none of its results'");
	return 0;
}

static void see_products(struct place *p, const struct hn_node *n,
			 const struct hn_node *loop[HN_INTRIN_DIMS])
{
	bool given = n->kind == HN_NODE_LOOP && n->intrin != NULL && hn_intrin_is_warp(n->intrin);

	if (given) {
		loop[n->intrin_dim] = n;
	}
	if (n->kind == HN_NODE_STMT && n->stmt == HN_STMT_UPDATE &&
	    loop[HN_INTRIN_TERMS] != NULL && loop[HN_INTRIN_TERMS]->stage == n->stage) {
		p->fragment[n->stage] =
			(struct fragment){ loop[HN_INTRIN_TERMS]->intrin,
					   { dim_of(p, n, loop[HN_INTRIN_M]),
					     dim_of(p, n, loop[HN_INTRIN_N]) } };
		p->any_warp = true;
	}
	for (uint32_t i = 0; i < n->n_child && p->rc == 0; i++) {
		see_products(p, n->child[i], loop);
	}
	if (given) {
		loop[n->intrin_dim] = NULL;
	}
}

void hn_place_warp_survey(struct place *p, const struct hn_node *nest)
{
	const struct hn_node *loop[HN_INTRIN_DIMS] = { NULL };

	p->any_warp = false;
	see_products(p, nest, loop);
	if (!p->any_warp || p->rc != 0) {
		return;
	}
	if (p->block[0] != 1 && p->block[0] != HN_WARP) {
		hn_place_refuse(p, nest->stage,
				"is made by warps, and %lld threads in x are no warp",
				(long long)p->block[0]);
	}
	p->block[0] = HN_WARP;
	see_loops(p, nest);
	see_statements(p, nest);
	for (uint32_t i = 0; i < p->t->dag->n_op && p->rc == 0; i++) {
		const struct hn_buffer *b = &p->t->buffer[i];

		if (p->fragment[i].intrin != NULL &&
		    (b->lifetime != HN_LIFETIME_LOOP ||
		     p->held[i].memory != HN_MEMORY_LOCAL)) {
			hn_place_refuse(p, (int32_t)i,
					"is made by warps, and is no thread's own (CHW, CA)");
		}
	}
}

static void see_fragment(const struct hn_expr *e, void *ctx)
{
	struct look *l = ctx;

	l->any = l->any ||
		 (e->op == HN_EXPR_LOAD && l->p->fragment[e->ref].intrin != NULL);
}

static void see_any(const struct hn_expr *e, const char *owner, uint32_t i, void *ctx)
{
	(void)owner;
	(void)i;
	hn_expr_visit(e, see_fragment, ctx);
}

bool hn_place_is_warp(struct place *p, const struct hn_node *n)
{
	struct look l = { .p = p };

	if (!p->any_warp) {
		return false;
	}
	if (n->kind == HN_NODE_STMT) {
		l.any = p->fragment[n->stage].intrin != NULL;
		hn_dag_op_exprs(p->t->dag->op[n->stage], see_any, &l);
	}
	for (uint32_t i = 0; i < n->n_child && !l.any; i++) {
		l.any = hn_place_is_warp(p, n->child[i]);
	}
	return l.any;
}

/* ---- what lanes hold */

static const struct hn_expr *lane(struct place *p)
{
	return hn_place_var(p, HN_DEVICE_THREAD);
}

static const struct hn_expr *op_int(struct place *p, enum hn_expr_op op,
				    const struct hn_expr *x, int64_t v)
{
	return hn_place_binary(p, op, x, hn_place_int(p, v));
}

static const struct hn_expr *sum(struct place *p, const struct hn_expr *x,
				 const struct hn_expr *y)
{
	return hn_place_binary(p, HN_EXPR_ADD, x, y);
}

/* Of the lane's first element of a tile: row or column. */
static const struct hn_expr *lane_digit(struct place *p, enum digit digit)
{
	return digit == DIGIT_ROW
		       ? op_int(p, HN_EXPR_FLOORDIV, lane(p), 4)
		       : op_int(p, HN_EXPR_MUL, op_int(p, HN_EXPR_FLOORMOD, lane(p), 4), 2);
}

/* Elements of a tile that are this far apart are the lane's. */
static int64_t lane_step(enum digit digit)
{
	return digit == DIGIT_ROW ? 8 : 1;
}

const struct hn_expr *hn_place_lane_value(struct place *p, enum digit digit, int32_t slot)
{
	return sum(p, lane_digit(p, digit),
		   op_int(p, HN_EXPR_MUL, hn_place_var(p, slot), lane_step(digit)));
}

/* index = unit * *tile + lane's first + step * *part */
static bool take_apart(struct place *p, const struct hn_expr *index, enum digit digit,
		       int64_t unit, const struct hn_expr **tile, const struct hn_expr **part)
{
	const struct hn_expr *rest =
		p->in_mma ? index
			  : hn_place_binary(p, HN_EXPR_SUB, index, lane_digit(p, digit));
	struct hn_affine f = hn_affine_of(rest, p->span, p->n_slot, p->a);

	*tile = hn_place_int(p, f.c / unit);
	*part = hn_place_int(p, 0);
	for (uint32_t i = 0; i < f.n; i++) {
		if (f.term[i].coef % unit == 0) {
			*tile = sum(p, *tile,
				    op_int(p, HN_EXPR_MUL, f.term[i].atom,
					   f.term[i].coef / unit));
		} else if (f.term[i].coef == lane_step(digit) &&
			   f.term[i].atom->op == HN_EXPR_VAR) {
			*part = sum(p, *part, f.term[i].atom);
		} else {
			return false;
		}
	}
	return f.c % unit == 0;
}

int64_t hn_place_fragment_size(struct place *p, int32_t stage)
{
	const struct hn_buffer *b = &p->t->buffer[stage];
	const struct fragment *f = &p->fragment[stage];
	int64_t n = hn_warp_elements(f->intrin, HN_FRAGMENT_SUM);

	for (uint32_t d = 0; d < b->n_dim; d++) {
		int64_t unit = d == f->dim[0]	? f->intrin->most[HN_INTRIN_M]
			       : d == f->dim[1] ? f->intrin->most[HN_INTRIN_N]
						: 1;

		n = hn_mul_sat(n, hn_ceildiv(b->extent[d], unit));
	}
	return n;
}

const struct hn_expr *hn_place_fragment(struct place *p, int32_t stage,
					const struct hn_expr *const *x)
{
	const struct hn_buffer *b = &p->t->buffer[stage];
	const struct fragment *f = &p->fragment[stage];
	const struct hn_expr *at = hn_place_int(p, 0), *part[2] = { NULL, NULL };

	for (uint32_t d = 0; d < b->n_dim; d++) {
		const struct hn_expr *tile = x[d];
		int64_t unit = 1;

		for (uint32_t i = 0; i < 2; i++) {
			if (d != f->dim[i]) {
				continue;
			}
			unit = f->intrin->most[i == 0 ? HN_INTRIN_M : HN_INTRIN_N];
			if (!take_apart(p, x[d], i == 0 ? DIGIT_ROW : DIGIT_COLUMN, unit,
					&tile, &part[i])) {
				hn_place_refuse(p, stage,
						"is held by a warp, and touched where no lane "
						"can tell what is its own");
				return at;
			}
		}
		at = sum(p, op_int(p, HN_EXPR_MUL, at, hn_ceildiv(b->extent[d], unit)), tile);
	}
	at = op_int(p, HN_EXPR_MUL, at, hn_warp_elements(f->intrin, HN_FRAGMENT_SUM));
	at = sum(p, at, op_int(p, HN_EXPR_MUL, part[0], 2));
	return hn_simplify(sum(p, at, part[1]), p->span, p->n_slot, p->a);
}

/* ---- products */

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
	if (x.stmt->n_guard > 0) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warps, and its loops end within a tile");
		return true;
	}
	if (!find_sides(&x, factor)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warps, and a factor goes along rows and columns");
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
