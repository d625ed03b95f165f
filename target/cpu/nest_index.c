/* target/cpu/nest_index.c -- how a nest's indices move with its loops: the linear forms that the
 * code generator makes of them, made without any code.
 *
 * A value is a number: 2 i + 3 for the loop at position i of the nest, else a hash of what it is
 * made of, odd when that moves with a loop of the nest.
 */
#include "target/cpu/nest.h"

#include "base/hash.h"
#include "loopstate/nest/layout.h"

struct maker {
	struct hn_linear_maker linear;
	const struct hn_looptree *t;
	const struct hn_nest *n;
	const struct hn_nest_loops *loops;
	const struct hn_expr *const *axis; /* of op space; NULL = in loop space */
	uint32_t n_axis;
	int32_t held; /* position of the loop that is at one iteration; -1 = none */
	int64_t held_at;
	bool gathers; /* data was met */
};

#define HASHED (UINT64_C(1) << 63) /* no loop's number */

static bool moves(const void *v)
{
	return (uintptr_t)v & 1;
}

static void *hashed(uint64_t kind, uint64_t x, uint64_t y, bool moving)
{
	const uint64_t row[] = { kind, x, y };

	return (void *)(uintptr_t)((hn_hash64(row, sizeof(row), 1) & ~UINT64_C(1)) |
				   HASHED | moving);
}

/* -- what values are -------------------------------------------------------------------- */

enum { NUMBER, LOOP, SIZE, DATA, OPERATION };

static void *number(void *ctx, int64_t v)
{
	(void)ctx;
	return hashed(NUMBER, (uint64_t)v, 0, false);
}

static void *place(void *ctx, uint32_t op, void *x, void *y, int32_t depth)
{
	(void)ctx;
	(void)depth;
	return hashed(OPERATION + op, (uintptr_t)x, (uintptr_t)y, moves(x) || moves(y));
}

static void loop_form(const struct maker *m, int32_t slot, struct hn_linear *ret)
{
	struct hn_linear_term term = { .coef = 1, .hi = m->loops->extent[slot] - 1 };
	uint64_t at = (uint64_t)m->loops->place[slot];
	uint32_t i = 0;

	while (i < m->n->n_loop && m->n->loop[i]->loop != slot) {
		i++;
	}
	if (term.hi < 1) {
		return;
	}
	if (i == m->n->n_loop) {
		term.v = hashed(LOOP, at, 0, false);
		term.depth = (int32_t)at;
	} else if ((int32_t)i == m->held) {
		ret->c = m->held_at;
		return;
	} else {
		term.v = (void *)(uintptr_t)(2 * i + 3);
	}
	hn_linear_add_term(&m->linear, ret, term);
}

static void data_form(struct maker *m, struct hn_linear *ret)
{
	struct hn_linear_term term = { .v = hashed(DATA, 0, 0, true),
				       .coef = 1,
				       .lo = -HN_LINEAR_RANGE,
				       .hi = HN_LINEAR_RANGE };

	m->gathers = true;
	hn_linear_add_term(&m->linear, ret, term);
}

static void variable(void *ctx, const struct hn_expr *x, struct hn_linear *ret)
{
	struct maker *m = ctx;
	const struct hn_expr *const *axis = m->axis;

	ret->n = 0;
	ret->c = 0;
	if (hn_expr_is_size(x)) {
		const struct hn_size *s = &m->t->dag->sizes->size[x->ref - HN_SLOT_SIZE];

		hn_linear_add_term(&m->linear, ret,
				   (struct hn_linear_term){
					   .v = hashed(SIZE, (uint64_t)x->ref, 0, false),
					   .coef = 1,
					   .lo = s->lo,
					   .hi = s->hi });
	} else if (axis && (uint32_t)x->ref < m->n_axis) {
		m->axis = NULL;
		hn_linear_of(&m->linear, axis[x->ref], ret);
		m->axis = axis;
	} else if (axis) {
		data_form(m, ret);
	} else {
		loop_form(m, x->ref, ret);
	}
}

static void data(void *ctx, const struct hn_expr *x, struct hn_linear *ret)
{
	struct maker *m = ctx;
	const struct hn_expr *index = hn_linear_cast(x, m->axis ? m->n_axis : UINT32_MAX);

	ret->n = 0;
	ret->c = 0;
	if (index) {
		hn_linear_of(&m->linear, index, ret);
	} else {
		data_form(m, ret);
	}
}

static const struct hn_linear_maker_ops ops = { number, place, variable, data };

static void begin(struct maker *m, const struct hn_looptree *t, const struct hn_nest *n,
		  const struct hn_nest_loops *loops)
{
	*m = (struct maker){ .linear = { .ops = &ops, .ctx = m },
			     .t = t,
			     .n = n,
			     .loops = loops,
			     .n_axis = n->op->n_spatial + n->op->n_reduce,
			     .held = -1 };
}

/* -- strides ------------------------------------------------------------------------------ */

struct access {
	struct maker *m;
	const struct hn_buffer *buffer;
	const struct hn_expr *const *index;
	const struct hn_expr *const
		*axis; /* that the index is in terms of; NULL = of loops */
};

/* Which copy of a ring. */
static void add_turn(const struct access *x, struct hn_linear *ret)
{
	const struct hn_buffer *b = x->buffer;
	struct hn_linear y;

	if (b->ring > 1) {
		x->m->axis = NULL;
		hn_linear_of(&x->m->linear, b->turn, &y);
		hn_linear_add(&x->m->linear, ret, &y, hn_layout_size(b));
	}
}

static void swizzled_offset(const struct access *x, struct hn_linear *ret)
{
	const struct hn_buffer *b = x->buffer;
	struct hn_linear at[HN_DAG_MAX_RANK], min;

	for (uint32_t d = 0; d < b->n_dim; d++) {
		x->m->axis = x->axis;
		at[d] = (struct hn_linear){ 0 };
		if (x->index[d]) {
			hn_linear_of(&x->m->linear, x->index[d], &at[d]);
		}
		x->m->axis = NULL;
		hn_linear_of(&x->m->linear, b->min[d], &min);
		hn_linear_add(&x->m->linear, &at[d], &min, -1);
	}
	hn_layout_linear(&x->m->linear, b, at, ret);
}

/* In elements: the index less the buffer's lower corner. */
static void offset(const struct access *x, struct hn_linear *ret)
{
	const struct hn_buffer *b = x->buffer;
	struct hn_linear y;

	ret->n = 0;
	ret->c = 0;
	if (b->swizzle.bits > 0) {
		swizzled_offset(x, ret);
		add_turn(x, ret);
		return;
	}
	for (uint32_t d = 0; d < b->n_dim; d++) {
		x->m->axis = x->axis;
		if (x->index[d]) {
			hn_linear_of(&x->m->linear, x->index[d], &y);
			hn_linear_add(&x->m->linear, ret, &y, b->stride[d]);
		}
		x->m->axis = NULL;
		hn_linear_of(&x->m->linear, b->min[d], &y);
		hn_linear_add(&x->m->linear, ret, &y, -b->stride[d]);
	}
	add_turn(x, ret);
}

static void offset_at(void *ctx, int64_t i, struct hn_linear *ret)
{
	struct access *x = ctx;

	x->m->held_at = i;
	offset(x, ret);
}

static bool is_sum(const struct hn_nest *n, const struct hn_linear *x)
{
	bool sum = true;

	for (uint32_t i = 0; i < x->n; i++) {
		sum = sum && (hn_nest_loop_of(n, &x->t[i]) >= 0 || !moves(x->t[i].v));
	}
	return sum;
}

/* A loop's coefficient is its stride, unless it is in what is no sum, where it is looked at. */
static void find_strides(struct access *x, int64_t *stride, uint32_t n_access)
{
	const struct hn_nest *n = x->m->n;
	struct hn_linear f;

	x->m->gathers = false;
	offset(x, &f);
	for (uint32_t i = 0; i < f.n; i++) {
		int32_t loop = hn_nest_loop_of(n, &f.t[i]);

		if (loop >= 0) {
			stride[(uint32_t)loop * n_access] = f.t[i].coef;
		}
	}
	for (uint32_t i = 0; i < n->n_loop && !is_sum(n, &f); i++) {
		if (n->loop[i]->extent > 1) {
			x->m->held = (int32_t)i;
			stride[i * n_access] =
				x->m->gathers ? HN_TILE_NONLINEAR
					      : hn_linear_step(n->loop[i]->extent, offset_at, x);
		}
	}
	x->m->held = -1;
}

static struct access access_of(struct maker *m, uint32_t k)
{
	const struct hn_nest *n = m->n;
	const struct hn_expr *load = k > 0 ? n->load[k - 1] : NULL;

	return (struct access){ m, &m->t->buffer[load ? load->ref : n->stmt->stage],
				load ? load->arg : n->stmt->axis,
				load ? n->stmt->axis : NULL };
}

void hn_nest_strides(const struct hn_looptree *t, const struct hn_nest *n,
		     const struct hn_nest_loops *loops, struct hn_arena *a,
		     struct hn_tile *ret)
{
	uint32_t n_access = n->n_load + 1;
	int64_t *stride = HN_NEW_ARRAY(a, int64_t, (size_t)n_access * (n->n_loop + 1));
	struct maker m;

	begin(&m, t, n, loops);
	for (uint32_t k = 0; k < n_access; k++) {
		struct access x = access_of(&m, k);

		find_strides(&x, stride + k, n_access);
	}
	for (uint32_t i = 0; i < n->n_loop; i++) {
		ret->dim[i].stride = stride + (size_t)i * n_access;
	}
}

/* -- indices ------------------------------------------------------------------------------ */

int32_t hn_nest_loop_of(const struct hn_nest *n, const struct hn_linear_term *term)
{
	uintptr_t v = (uintptr_t)term->v;

	return v & 1 && v < 2 * (uintptr_t)n->n_loop + 3 ? (int32_t)(v / 2) - 1 : -1;
}

bool hn_nest_linear(const struct hn_looptree *t, const struct hn_nest *n,
		    const struct hn_nest_loops *loops, const struct hn_expr *x,
		    const struct hn_expr *less, struct hn_linear *ret)
{
	struct hn_linear y;
	struct maker m;

	begin(&m, t, n, loops);
	hn_linear_of(&m.linear, x, ret);
	if (less) {
		hn_linear_of(&m.linear, less, &y);
		hn_linear_add(&m.linear, ret, &y, -1);
	}
	return is_sum(n, ret);
}

bool hn_nest_offset(const struct hn_looptree *t, const struct hn_nest *n,
		    const struct hn_nest_loops *loops, uint32_t k, struct hn_linear *ret)
{
	struct maker m;

	begin(&m, t, n, loops);
	struct access x = access_of(&m, k);

	offset(&x, ret);
	return is_sum(n, ret);
}
