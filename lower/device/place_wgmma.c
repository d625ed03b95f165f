/* lower/device/place_wgmma.c -- sums that a warpgroup's instruction makes, from the loops of the
 * tree.
 *
 * The instruction's own loops make 64 rows, 8 columns and a few terms.  Of those around them that
 * nothing else is in, one goes through neighbouring columns, and one through neighbouring terms:
 * they become part of one node (device_wgmma.h).  The others stand around it, written out.
 *
 * The factors lie in shared memory, swizzled (SW) in chunks of 16 bytes, in periods of 32, 64 or 128
 * bytes.  Where a row of the stage is longer than a period, the stage is stored in blocks of as many
 * columns: all rows of the first, then all of the next.
 */
#include "base/arith.h"
#include "lower/device/device_wgmma.h"
#include "lower/device/place_warp_int.h"

#define MOST_LOOPS 8
#define CHUNK 16      /* bytes */
#define LINE 128      /* bytes of shared memory that all banks hold */

struct group {
	struct place *p;
	const struct hn_intrin *in;
	const struct hn_node *stmt;
	const struct hn_node *loop[MOST_LOOPS], *own[HN_INTRIN_DIMS];
	int32_t slot[MOST_LOOPS], own_slot[HN_INTRIN_DIMS];
	uint32_t n_loop;
	uint32_t column, step; /* of the loops; n_loop: there is none */
	const struct hn_expr *load[2];
	struct hn_device_matrix lies[2];
};

/* The loops from n on, down to the statement; false: they are none of a warpgroup's product. */
static bool find_group(struct group *x, const struct hn_node *n)
{
	while (n->kind == HN_NODE_LOOP) {
		if (n->intrin != NULL && hn_intrin_is_warpgroup(n->intrin)) {
			x->own[n->intrin_dim] = n;
			x->in = n->intrin;
		} else if (x->in != NULL || x->n_loop == MOST_LOOPS ||
			   hn_place_runs(n) > HN_RUNS_ORDER) {
			return false;
		} else {
			x->loop[x->n_loop++] = n;
		}
		if (n->n_child != 1 || n->child[0]->init != NULL) {
			return false;
		}
		n = n->child[0];
	}
	x->stmt = n;
	return n->kind == HN_NODE_STMT && n->stmt == HN_STMT_UPDATE &&
	       x->own[HN_INTRIN_M] != NULL && x->own[HN_INTRIN_N] != NULL &&
	       x->own[HN_INTRIN_TERMS] != NULL;
}

static void make_slots(struct group *x)
{
	for (uint32_t i = 0; i < x->n_loop; i++) {
		x->slot[i] = hn_place_slot(x->p, HN_I32, x->loop[i]->extent);
	}
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		x->own_slot[d] = x->own[d] == NULL
					 ? -1
					 : hn_place_slot(x->p, HN_I32, x->own[d]->extent);
	}
}

/* All loops run: each is its variable. */
static void set_running(struct group *x)
{
	for (uint32_t i = 0; i < x->n_loop; i++) {
		x->p->value[x->loop[i]->loop] = hn_place_var(x->p, x->slot[i]);
	}
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->own[d] != NULL) {
			x->p->value[x->own[d]->loop] = hn_place_var(x->p, x->own_slot[d]);
		}
	}
}

/* The first element of the node's: the loops that it takes are at their beginning, the step at
 * that one. */
static void set_first(struct group *x, int64_t step)
{
	set_running(x);
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->own[d] != NULL) {
			x->p->value[x->own[d]->loop] = hn_place_int(x->p, 0);
		}
	}
	for (uint32_t i = 0; i < x->n_loop; i++) {
		if (i == x->column || i == x->step || x->loop[i]->extent == 1) {
			x->p->value[x->loop[i]->loop] =
				hn_place_int(x->p, i == x->step ? step : 0);
		}
	}
}

/* How far the form moves with the variable; false: by no constant. */
static bool moves(const struct hn_affine *f, int32_t slot, int64_t *ret)
{
	*ret = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hn_expr *a = f->term[i].atom;

		if (a->op == HN_EXPR_VAR && a->ref == slot) {
			*ret = f->term[i].coef;
		} else if (hn_expr_uses(a, slot)) {
			return false;
		}
	}
	return true;
}

/* Index d of the factor within its buffer. */
static struct hn_affine index_of(struct group *x, uint32_t f, uint32_t d)
{
	struct place *p = x->p;
	const struct hn_expr *e = x->load[f];
	const struct hn_expr *at = hn_place_binary(
		p, HN_EXPR_SUB, hn_place_in_stmt(p, x->stmt, e->arg[d]),
		hn_place_value(p, p->t->buffer[e->ref].min[d], x->stmt->stage));

	return hn_affine_of(at, p->span, p->n_slot, p->a);
}

static uint32_t rank(const struct group *x, uint32_t f)
{
	return x->p->t->buffer[x->load[f]->ref].n_dim;
}

/* The one dimension of the factor that the instruction's loop goes along, element by element; -1:
 * there is none, or several. */
static int32_t dim_along(struct group *x, uint32_t f, enum hn_intrin_dim of)
{
	int32_t ret = -1;

	for (uint32_t d = 0; d < rank(x, f); d++) {
		struct hn_affine at = index_of(x, f, d);
		int64_t by;

		if (!moves(&at, x->own_slot[of], &by)) {
			return -1;
		}
		if (by != 0) {
			if (by != 1 || ret >= 0) {
				return -1;
			}
			ret = (int32_t)d;
		}
	}
	return ret;
}

/* The loop that goes on where the instruction's ends, by `by` at a time in that dimension of the
 * factor alone; n_loop: there is none. */
static uint32_t loop_along(struct group *x, uint32_t f, uint32_t dim, int64_t by)
{
	for (uint32_t i = 0; i < x->n_loop; i++) {
		bool found = x->loop[i]->extent > 1;

		for (uint32_t d = 0; d < rank(x, f) && found; d++) {
			struct hn_affine at = index_of(x, f, d);
			int64_t far;

			found = moves(&at, x->slot[i], &far) && far == (d == dim ? by : 0);
		}
		if (found) {
			return i;
		}
	}
	return x->n_loop;
}

/* Elements of a row in which chunks of 16 bytes change places as a warpgroup expects it; 0: they do
 * not. */
static int64_t period(const struct hn_buffer *b, enum hn_dtype type)
{
	const struct hn_swizzle *z = &b->swizzle;
	int64_t bytes = (int64_t)hn_dtype_bytes(type);
	int64_t width = (bytes << z->unit) << z->bits;

	return z->bits > 0 && bytes << z->unit == CHUNK && width <= LINE &&
			       width << z->shift == LINE && b->n_dim >= 2 &&
			       b->stride[z->row_dim] == b->extent[b->n_dim - 1]
		       ? width / bytes
		       : 0;
}

void hn_place_wgmma_survey(struct place *p, const struct hn_node *stmt)
{
	const struct hn_op *op = p->t->dag->op[stmt->stage];
	const struct hn_expr *factor[2];

	if (!hn_intrin_factors(p->fragment[stmt->stage].intrin, op, factor)) {
		return;
	}
	for (int f = 0; f < 2; f++) {
		const struct hn_expr *e = factor[f]->op == HN_EXPR_LOAD ? factor[f]
									: factor[f]->arg[1];
		const struct hn_buffer *b = &p->t->buffer[e->ref];
		struct held *h = &p->held[e->ref];
		int64_t n = h->memory == HN_MEMORY_SHARED && b->lifetime == HN_LIFETIME_LOOP
				    ? period(b, (enum hn_dtype)e->dtype)
				    : 0;

		h->block = n > 0 && b->extent[b->n_dim - 1] > n ? n : 0;
	}
}

/* How factor f lies; false: not as a warpgroup reads it. */
static bool find_matrix(struct group *x, uint32_t f)
{
	struct place *p = x->p;
	const struct hn_expr *e = x->load[f];
	const struct hn_buffer *b = &p->t->buffer[e->ref];
	int32_t side = dim_along(x, f, f == 0 ? HN_INTRIN_M : HN_INTRIN_N);
	int32_t terms = dim_along(x, f, HN_INTRIN_TERMS), last = (int32_t)b->n_dim - 1;
	int64_t n = period(b, (enum hn_dtype)e->dtype), size = 1;

	if (p->held[e->ref].memory != HN_MEMORY_SHARED || n == 0 || side < 0 || terms < 0 ||
	    side == terms || (side != last && terms != last) ||
	    b->swizzle.row_dim != (uint32_t)(side == last ? terms : side)) {
		return false;
	}
	for (uint32_t d = 0; d < b->n_dim; d++) {
		size = hn_mul_sat(size, b->extent[d]);
	}
	x->lies[f] = (struct hn_device_matrix){
		.width = n * (int64_t)hn_dtype_bytes((enum hn_dtype)e->dtype),
		.across = side == last,
	};
	if (side == last && b->extent[last] > n) {
		x->lies[f].next = size / b->extent[last] * x->lies[f].width;
	}
	if (f == 1) {
		x->column = loop_along(x, f, (uint32_t)side, x->in->most[HN_INTRIN_N]);
	}
	uint32_t step = loop_along(x, f, (uint32_t)terms, hn_intrin_terms(x->in));

	x->step = f == 0 || step == x->step ? step : x->n_loop;
	return true;
}

/* The left factor goes down the rows, the right one along the columns; of one type they may have
 * been written in the other order. */
static bool find_factors(struct group *x)
{
	const struct hn_op *op = x->p->t->dag->op[x->stmt->stage];
	const struct hn_expr *factor[2];

	if (!hn_intrin_factors(x->in, op, factor) || factor[0]->op != HN_EXPR_LOAD ||
	    factor[1]->op != HN_EXPR_LOAD) {
		return false;
	}
	for (int turned = 0; turned < 2; turned++) {
		x->load[0] = factor[turned];
		x->load[1] = factor[1 - turned];
		if (dim_along(x, 0, HN_INTRIN_N) < 0 && dim_along(x, 1, HN_INTRIN_M) < 0 &&
		    find_matrix(x, 0) && find_matrix(x, 1)) {
			return true;
		}
	}
	return false;
}

/* Whether neighbouring columns are neighbours in what a thread holds, wherever the step is. */
static bool holds_columns(struct group *x)
{
	struct place *p = x->p;
	int32_t buffer;
	int64_t by;

	set_running(x);
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->own[d] != NULL) {
			p->value[x->own[d]->loop] = hn_place_int(p, 0);
		}
	}
	p->in_mma = true;
	const struct hn_expr *at = hn_place_result(p, x->stmt, &buffer);

	p->in_mma = false;
	struct hn_affine f = hn_affine_of(at, p->span, p->n_slot, p->a);

	return x->column == x->n_loop ||
	       (moves(&f, x->slot[x->column], &by) &&
		by == hn_warp_elements(x->in, HN_FRAGMENT_SUM));
}

/* Whether the product may be made in whole tiles, past the ends of loops too. */
static bool is_whole(struct group *x)
{
	struct place *p = x->p;
	struct guards g = { 0 };
	int32_t buffer;

	set_first(x, 0);
	p->in_mma = true;
	const struct hn_expr *at = hn_place_result(p, x->stmt, &buffer);

	p->in_mma = false;
	set_running(x);
	const struct hn_expr *value = hn_place_in_stmt(
		p, x->stmt, p->t->dag->op[x->stmt->stage]->reduce->source[0]);

	hn_place_guards(p, x->stmt, at, buffer, &value, 1, &g);
	return g.n == 0;
}

/* The steps from `step` on. */
static void add_node(struct group *x, int64_t step, int64_t n_step, struct code *c)
{
	struct place *p = x->p;
	struct hn_device_warp *w = HN_NEW(p->a, struct hn_device_warp);
	int32_t buffer;

	w->intrin = x->in;
	w->columns = x->in->most[HN_INTRIN_N] *
		     (x->column < x->n_loop ? x->loop[x->column]->extent : 1);
	w->steps = n_step;
	set_first(x, step);
	for (uint32_t f = 0; f < 2 && p->rc == 0; f++) {
		const struct hn_expr *e = hn_place_in_stmt(p, x->stmt, x->load[f]);

		w->lies[f] = x->lies[f];
		w->from[f] = e->ref;
		w->from_at[f] = e->arg[0];
	}
	p->in_mma = true;
	const struct hn_expr *at = hn_place_result(p, x->stmt, &buffer);

	p->in_mma = false;
	const struct hn_device device = { .buffer = p->buffer };
	struct hn_device_node n = {
		.kind = HN_DEVICE_WGMMA, .buffer = buffer, .at = at, .warp = w
	};

	if (p->rc == 0 && hn_warp_why_not(&device, &n) != NULL) {
		hn_place_refuse(p, x->stmt->stage, "is made by warpgroups: %s",
				hn_warp_why_not(&device, &n));
	}
	hn_place_add(p, c, n);
}

static void add_nodes(struct group *x, struct code *c)
{
	struct place *p = x->p;
	int64_t all = x->step < x->n_loop ? x->loop[x->step]->extent : 1, most = HN_WGMMA_STEPS;

	for (uint32_t f = 0; f < 2; f++) {
		int64_t bytes = hn_intrin_terms(x->in) * (int64_t)hn_dtype_bytes(x->in->left);
		int64_t n = x->lies[f].across ? most : x->lies[f].width / bytes;

		most = n < most ? n : most;
	}
	most = most < 1 ? 1 : most;
	for (int64_t k = 0; k < all && p->rc == 0; k += most) {
		add_node(x, k, all - k < most ? all - k : most, c);
	}
}

bool hn_place_wgmma(struct place *p, const struct hn_node *n, struct code *c)
{
	struct group x = { .p = p };
	struct code inner = { 0 };

	if (!find_group(&x, n)) {
		return false;
	}
	make_slots(&x);
	x.column = x.step = x.n_loop;
	set_running(&x);
	if (!find_factors(&x)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warpgroups, and a factor does not lie in shared "
				"memory as they read it (CHR, SW)");
		return true;
	}
	if (!holds_columns(&x)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warpgroups, and its columns are not side by side");
		return true;
	}
	if (x.stmt->n_guard > 0 && !is_whole(&x)) {
		hn_place_refuse(p, x.stmt->stage,
				"is made by warpgroups, and its loops end within a tile that is "
				"not filled with 0");
		return true;
	}
	add_nodes(&x, &inner);
	for (uint32_t i = x.n_loop; i-- > 0;) {
		if (i != x.column && i != x.step && x.loop[i]->extent > 1) {
			struct hn_device_node loop = { .kind = HN_DEVICE_LOOP,
						       .how = HN_DEVICE_UNROLLED,
						       .slot = x.slot[i],
						       .extent = x.loop[i]->extent };
			struct code one = { 0 };

			hn_place_add(p, &one, *hn_place_wrap(p, loop, &inner));
			inner = one;
		}
	}
	for (uint32_t i = 0; i < inner.n; i++) {
		hn_place_add(p, c, *inner.v[i]);
	}
	return true;
}
