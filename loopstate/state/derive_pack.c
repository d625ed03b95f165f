/* derive_pack.c -- an operand copied into panels, and its readers led there.
 *
 * Source: the packed panels of BLIS (Van Zee, van de Geijn 2015), said as an op whose
 * indices are quasi-affine, so that bounds, legality and emission need no rule for it. */
#include "loopstate/state/derive.h"

#include "base/arith.h"
#include "loopstate/dag/size.h"

struct pack {
	int32_t to; /* the packed op */
	const struct hn_op *from;
	const int64_t *len;
	uint32_t n_dim; /* of the packed op */
};

/* An op's first value along a dimension: a computed op may count from elsewhere. */
static int64_t first_of(const struct hn_op *op, uint32_t d)
{
	return op->kind == HN_OP_COMPUTE ? op->axis[d].min : 0;
}

static const struct hn_expr *int_op(enum hn_expr_op op, const struct hn_expr *x,
				    int64_t y, struct hn_arena *a)
{
	return hn_expr_binary(op, x, hn_expr_int(y, (enum hn_dtype)x->dtype, a), a);
}

/* from[x] -> pack[x / len.., x % len..]; of a dimension kept whole, x itself, which a
 * condition may have to show to lie in it. */
static const struct hn_expr *lead_load(const struct hn_expr *e, void *ctx,
				       struct hn_arena *a)
{
	const struct pack *p = ctx;
	const struct hn_expr *index[HN_DAG_MAX_RANK];
	uint32_t n_block = p->from->n_dim, n = n_block;

	if (e->op != HN_EXPR_LOAD || e->ref != p->to) {
		return e;
	}
	for (uint32_t d = 0; d < n_block; d++) {
		const struct hn_expr *x =
			int_op(HN_EXPR_SUB, e->arg[d], first_of(p->from, d), a);

		bool whole = p->len[d] >= p->from->shape[d];

		index[d] = whole ? hn_expr_int(0, (enum hn_dtype)x->dtype, a)
				 : int_op(HN_EXPR_FLOORDIV, x, p->len[d], a);
		if (p->len[d] > 1) {
			index[n++] = whole ? x
					   : int_op(HN_EXPR_FLOORMOD, x, p->len[d], a);
		}
	}
	return hn_expr_with_args(e, index, n, a);
}

static const struct hn_expr *zero_of(enum hn_dtype t, struct hn_arena *a)
{
	return hn_dtype_class(t) == HN_CLASS_FLOAT ? hn_expr_float(0, t, a)
						   : hn_expr_int(0, t, a);
}

/* Where the operand ends along dimension d, if a block of len may go past it; else NULL. */
static const struct hn_expr *end_of(const struct hn_op *op, uint32_t d, int64_t len,
				    struct hn_arena *a)
{
	const struct hn_expr *form = hn_op_extent(op, d);

	if (form != NULL) {
		/* blocks of one, and a dimension kept whole, end where it does */
		return len > 1 && len < op->shape[d] ? form : NULL;
	}
	return op->shape[d] % len != 0 ? hn_expr_int(op->shape[d], HN_I32, a) : NULL;
}

/* What the packed op holds at its axes: 0 beyond the operand's end. */
static const struct hn_expr *pack_body(const struct pack *p, int32_t from,
				       const struct hn_axis *axis, struct hn_arena *a)
{
	const struct hn_op *op = p->from;
	const struct hn_expr *index[HN_DAG_MAX_RANK], *inside = NULL;
	enum hn_dtype t = (enum hn_dtype)op->dtype[0];

	for (uint32_t d = 0, in = op->n_dim; d < op->n_dim; d++) {
		const struct hn_expr *x =
			hn_expr_var((int32_t)d, HN_I32, axis[d].name, a);

		x = int_op(HN_EXPR_MUL, x, p->len[d], a);
		if (p->len[d] > 1) {
			x = hn_expr_binary(
				HN_EXPR_ADD, x,
				hn_expr_var((int32_t)in, HN_I32, axis[in].name, a), a);
			in++;
		}
		const struct hn_expr *end = end_of(op, d, p->len[d], a);

		if (end != NULL) {
			const struct hn_expr *c = hn_expr_binary(HN_EXPR_LT, x, end, a);

			inside = inside == NULL
					 ? c
					 : hn_expr_binary(HN_EXPR_AND, inside, c, a);
		}
		index[d] = int_op(HN_EXPR_ADD, x, first_of(op, d), a);
	}
	const struct hn_expr *load = hn_derive_load(from, 0, t, index, op->n_dim, a);

	if (inside == NULL) {
		return load;
	}
	const struct hn_expr like = { .op = HN_EXPR_IF, .dtype = (uint8_t)t };
	const struct hn_expr *arg[3] = { inside, load, zero_of(t, a) };

	return hn_expr_with_args(&like, arg, 3, a);
}

/* The packed op's extents where sizes decide the operand's: so many blocks as have elements. */
static const struct hn_expr *const *pack_extents(const struct pack *p, const int64_t *shape,
						 struct hn_arena *a)
{
	const struct hn_expr **extent = HN_NEW_ARRAY(a, const struct hn_expr *, p->n_dim);

	for (uint32_t d = 0, in = p->from->n_dim; d < p->from->n_dim; d++) {
		const struct hn_expr *form = hn_op_extent(p->from, d);
		bool whole = p->len[d] >= p->from->shape[d];
		const struct hn_expr *blocks = hn_expr_int(shape[d], HN_I32, a);

		if (form != NULL && p->len[d] == 1) {
			blocks = form;
		} else if (form != NULL && !whole) {
			blocks = int_op(HN_EXPR_ADD, form, p->len[d] - 1, a);
			blocks = hn_size_form(int_op(HN_EXPR_FLOORDIV, blocks, p->len[d], a), a);
		}
		extent[d] = blocks;
		if (p->len[d] > 1) {
			extent[in] = form != NULL && whole ? form
							   : hn_expr_int(shape[in], HN_I32, a);
			in++;
		}
	}
	return extent;
}

static const struct hn_op *pack_op(const struct hn_state *state, const struct pack *p,
				   int32_t from, struct hn_arena *a)
{
	const struct hn_op *old = p->from;
	int64_t *shape = HN_NEW_ARRAY(a, int64_t, p->n_dim);
	const struct hn_expr **body = HN_NEW_ARRAY(a, const struct hn_expr *, 1);
	struct hn_op *op = HN_NEW(a, struct hn_op);

	for (uint32_t d = 0, in = old->n_dim; d < old->n_dim; d++) {
		shape[d] = hn_ceildiv(old->shape[d], p->len[d]);
		if (p->len[d] > 1) {
			shape[in++] = p->len[d];
		}
	}
	struct hn_axis *axis = hn_derive_axes(shape, p->n_dim, p->n_dim, a);

	body[0] = pack_body(p, from, axis, a);
	*op = (struct hn_op){
		.kind = HN_OP_COMPUTE,
		.name = hn_derive_name(state->dag, old->name, ".pack", a),
		.tag = "",
		.n_dim = p->n_dim,
		.shape = shape,
		.n_out = 1,
		.dtype = old->dtype,
		.n_spatial = p->n_dim,
		.axis = axis,
		.body = body,
		.sizes = old->sizes,
		.extent = old->sizes != NULL ? pack_extents(p, shape, a) : NULL,
	};
	op->id = hn_derive_id(state->dag, op->name, a);
	return op;
}

const struct hn_dag *hn_derive_pack(const struct hn_state *state, int32_t s,
				    const int64_t *len, struct hn_arena *a)
{
	const struct hn_op_access *acc = &state->access->op[s];
	struct pack p = { s + 1, state->dag->op[s], len, state->dag->op[s]->n_dim };
	int64_t *reader = HN_NEW_ARRAY(a, int64_t, acc->n_consumer);
	const struct hn_op **op;

	for (uint32_t d = 0; d < p.from->n_dim; d++) {
		p.n_dim += len[d] > 1;
	}
	for (uint32_t i = 0; i < acc->n_consumer; i++) {
		reader[i] = acc->consumer[i];
	}
	struct hn_dag *dag =
		hn_derive_shift(state, s + 1, reader, acc->n_consumer, &op, a);

	for (uint32_t i = 0; i < acc->n_consumer; i++) {
		const struct hn_op **slot = &op[reader[i] + 1];

		*slot = hn_derive_map(*slot, lead_load, &p, a);
	}
	op[s + 1] = pack_op(state, &p, s, a);
	return dag;
}
