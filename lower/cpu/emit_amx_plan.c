/* lower/cpu/emit_amx_plan.c -- whether tiles can do a nest that was given to them (emit_amx.h).
 *
 * Tiles read and write rows that are evenly far apart.  So each index of an access, and each
 * guard, has to be a value that stays plus what the instruction's loops add to it, evenly.  That
 * is looked at in every iteration of the loops that the index depends on: there are few.
 */
#include "lower/cpu/emit_amx.h"

#include <string.h>

#include "loopstate/expr/simplify.h"

/* -- how indices move ---------------------------------------------------------------------- */

static void stand_at(struct emit *e, const struct emit_amx *x,
		     const int64_t at[HN_INTRIN_DIMS])
{
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		e->var[x->dim[d]->loop] = (struct emit_var){ .add = at[d] };
	}
	e->epoch++;
}

/* i, less `less` (NULL = nothing), in the current space. */
static void form_of(struct emit *e, const struct hn_expr *i, const struct hn_expr *less,
		    struct hn_linear *ret)
{
	struct hn_linear y;

	hn_emit_lin_lane(e, i, 0, ret);
	if (less) {
		hn_emit_lin_lane(e, less, 0, &y);
		hn_linear_add(&e->lin, ret, &y, -1);
	}
}

/* What an iteration of each loop adds; false where it is not always the same. */
static bool moves(struct emit *e, const struct emit_amx *x, const struct hn_expr *i,
		  const struct hn_expr *less, int64_t ret[HN_INTRIN_DIMS])
{
	int64_t at[HN_INTRIN_DIMS] = { 0 }, count[HN_INTRIN_DIMS], points = 1;
	struct hn_linear first, form;

	stand_at(e, x, at);
	form_of(e, i, less, &first);
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		bool uses = hn_emit_uses_loop(e, i, x->dim[d]->loop) ||
			    (less && hn_emit_uses_loop(e, less, x->dim[d]->loop));

		count[d] = uses ? x->dim[d]->extent : 1;
		points *= count[d];
		ret[d] = 0;
		if (count[d] > 1) {
			at[d] = 1;
			stand_at(e, x, at);
			form_of(e, i, less, &form);
			ret[d] = form.c - first.c;
			at[d] = 0;
		}
	}
	for (int64_t p = 1; p < points; p++) {
		int64_t rest = p, want = first.c;

		for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
			at[d] = rest % count[d];
			rest /= count[d];
			want += ret[d] * at[d];
		}
		stand_at(e, x, at);
		form_of(e, i, less, &form);
		if (form.c != want || !hn_linear_same_terms(&first, &form)) {
			return false;
		}
	}
	return true;
}

/* -- operands ------------------------------------------------------------------------------ */

static void enter_op(struct emit *e, const struct emit_nest *n, bool enter)
{
	e->axis = enter ? n->stmt->axis : NULL;
	e->n_axis = n->op->n_spatial + n->op->n_reduce;
}

/* The distance in memory of neighbours along loop d, in elements. */
static int64_t distance(const struct emit *e, const struct emit_amx *x, uint32_t a,
			int32_t op, uint32_t d)
{
	const struct hn_buffer *b = &e->t->buffer[op];
	int64_t sum = 0;

	for (uint32_t k = 0; k < b->n_dim; k++) {
		sum += x->move[a][d][k] * b->stride[k];
	}
	return sum;
}

static bool find_moves(struct emit *e, struct emit_amx *x, uint32_t a, int32_t op,
		       const struct hn_expr *const *index)
{
	const struct hn_buffer *b = &e->t->buffer[op];
	int64_t move[HN_INTRIN_DIMS];

	if (b->swizzle.bits > 0) { /* rows are in pieces */
		return false;
	}
	for (uint32_t k = 0; k < b->n_dim; k++) {
		for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
			if (hn_expr_uses(b->min[k], x->dim[d]->loop)) {
				return false;
			}
		}
		if (!index[k]) {
			continue;
		}
		if (!hn_emit_is_index(e, index[k]) ||
		    !moves(e, x, index[k], NULL, move)) {
			return false;
		}
		for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
			x->move[a][d][k] = move[d];
		}
	}
	return true;
}

#define ANY INT64_MAX

/* Along each loop, where it has more than one iteration. */
static bool lies(const struct emit *e, const struct emit_amx *x, uint32_t a, int32_t op,
		 const int64_t want[HN_INTRIN_DIMS])
{
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		if (x->dim[d]->extent > 1 && want[d] != ANY &&
		    distance(e, x, a, op, d) != want[d]) {
			return false;
		}
	}
	return true;
}

static bool operands_lie(struct emit *e, struct emit_amx *x)
{
	const struct hn_node *s = x->n.stmt;
	int64_t terms = hn_intrin_terms(x->in);
	const int64_t want[EMIT_AMX_ACCESSES][HN_INTRIN_DIMS] = { { ANY, 0, terms, 1 },
								  { 0, terms, ANY, 1 },
								  { ANY, 1, 0, 0 } };
	bool ok = true;

	enter_op(e, &x->n, true);
	for (uint32_t k = 0; k < 2 && ok; k++) {
		const struct hn_expr *f = x->factor[k];

		ok = f->op == HN_EXPR_LOAD && find_moves(e, x, k, f->ref, f->arg) &&
		     lies(e, x, k, f->ref, want[k]);
	}
	enter_op(e, &x->n, false);
	return ok && find_moves(e, x, EMIT_AMX_RESULT, s->stage, s->axis) &&
	       lies(e, x, EMIT_AMX_RESULT, s->stage, want[EMIT_AMX_RESULT]);
}

/* -- guards -------------------------------------------------------------------------------- */

static bool read_guard(struct emit *e, const struct emit_amx *x, const struct hn_expr *g,
		       struct emit_amx_guard *ret)
{
	int64_t move[HN_INTRIN_DIMS];
	bool some[HN_INTRIN_DIMS], upwards = g->op == HN_EXPR_LT || g->op == HN_EXPR_LE;
	uint32_t n = 0;

	if (!hn_emit_compares_indices(e, g) || g->op < HN_EXPR_LT ||
	    !moves(e, x, g->arg[0], g->arg[1], move)) {
		return false;
	}
	for (uint32_t d = 0; d < HN_INTRIN_DIMS; d++) {
		some[d] = move[d] != 0;
		n += some[d];
		upwards = upwards && move[d] >= 0;
	}
	*ret = (struct emit_amx_guard){ .x = g, .of = EMIT_AMX_ALL };
	bool spatial = false;

	for (uint32_t i = 0; i < x->n.n_dim; i++) {
		bool here = x->n.dim[i].extent > 1 &&
			    hn_emit_uses_loop(e, g, x->n.dim[i].loop);

		ret->reduction = ret->reduction || (here && x->n.dim[i].reduce);
		spatial = spatial || (here && !x->n.dim[i].reduce);
	}
	if (ret->reduction && spatial) { /* other terms for other tiles of the block */
		return false;
	}
	if (n == 0) {
		return true;
	}
	if (n == 1 && (some[HN_INTRIN_M] || some[HN_INTRIN_N])) {
		ret->of = some[HN_INTRIN_M] ? EMIT_AMX_ROWS : EMIT_AMX_COLUMNS;
		ret->step = some[HN_INTRIN_M] ? move[HN_INTRIN_M] : move[HN_INTRIN_N];
		return upwards && !ret->reduction;
	}
	ret->of = EMIT_AMX_TERMS;
	ret->step = move[HN_INTRIN_TERMS];
	return upwards && !some[HN_INTRIN_M] && !some[HN_INTRIN_N] && ret->step > 0 &&
	       (x->dim[HN_INTRIN_K]->extent == 1 ||
		move[HN_INTRIN_K] == ret->step * hn_intrin_terms(x->in));
}

static bool read_guards(struct emit *e, struct emit_amx *x)
{
	const struct hn_node *s = x->n.stmt;

	x->n_guard = s->n_guard;
	x->guard = HN_NEW_ARRAY(e->a, struct emit_amx_guard, s->n_guard);
	for (uint32_t g = 0; g < s->n_guard; g++) {
		if (!read_guard(e, x, s->guard[g], &x->guard[g])) {
			return false;
		}
	}
	return true;
}

/* -- loops --------------------------------------------------------------------------------- */

/* The instruction's loops; false where there are none, or others inside of them. */
static bool find_loops(struct emit_amx *x, uint32_t *ret_first)
{
	uint32_t first = x->n.n_dim, n = 0;

	for (uint32_t i = 0; i < x->n.n_dim; i++) {
		const struct hn_node *loop = x->n.dim[i].node;

		if (loop->intrin && hn_intrin_is_tile(loop->intrin)) {
			x->in = loop->intrin;
			x->dim[loop->intrin_dim] = &x->n.dim[i];
			first = i < first ? i : first;
			n++;
		} else if (n > 0 && x->n.dim[i].extent > 1) {
			return false;
		}
	}
	*ret_first = first;
	return n == HN_INTRIN_DIMS;
}

static bool uses(const struct emit *e, const struct hn_expr *load, int32_t loop)
{
	for (uint32_t k = 0; k < load->n_arg; k++) {
		if (hn_emit_uses_loop(e, load->arg[k], loop)) {
			return true;
		}
	}
	return false;
}

static bool fits(uint32_t mt, uint32_t nt)
{
	return mt * nt <= HN_INTRIN_RESULTS;
}

/* One loop more in the block. */
static bool join_block(struct emit *e, struct emit_amx *x, const struct emit_dim *d,
		       bool *ret_by_rows)
{
	int64_t k = d->extent;

	enter_op(e, &x->n, true);
	bool left = uses(e, x->factor[0], d->loop),
	     right = uses(e, x->factor[1], d->loop);

	enter_op(e, &x->n, false);
	if (k > HN_INTRIN_RESULTS || left == right ||
	    !fits(x->mt * (left ? (uint32_t)k : 1), x->nt * (right ? (uint32_t)k : 1))) {
		return false;
	}
	x->mt *= left ? (uint32_t)k : 1;
	x->nt *= right ? (uint32_t)k : 1;
	*ret_by_rows = left;
	return true;
}

static bool runs(const struct emit_dim *d, bool reduction)
{
	return d->extent > 1 && d->reduce == reduction;
}

/* The block and the reduction loops around it, of what lies outside dim `first`; returns the dim
 * that all this begins at. */
static uint32_t choose(struct emit *e, struct emit_amx *x, uint32_t first)
{
	bool *by_rows = HN_NEW_ARRAY(e->a, bool, first + 1);
	uint32_t block = first, at;

	x->mt = x->nt = 1;
	if (!x->dim[HN_INTRIN_TERMS]->node->held) { /* a tile at a time */
		x->n_reduce = x->n_block = 0;
		x->by_rows = by_rows;
		return first;
	}
	while (block > 0 && (!runs(&x->n.dim[block - 1], true)) &&
	       (x->n.dim[block - 1].extent == 1 ||
		join_block(e, x, &x->n.dim[block - 1], &by_rows[block - 1]))) {
		block--;
	}
	at = block;
	while (at > 0 && runs(&x->n.dim[block - 1], true) &&
	       (x->n.dim[at - 1].reduce || x->n.dim[at - 1].extent == 1)) {
		at--;
	}
	if (at ==
	    block) { /* no sum goes on around: one tile, where no loop that ran once did */
		while (block < first && !x->n.dim[block].reduce) {
			block++;
		}
		at = block;
		x->mt = x->nt = 1;
		for (uint32_t i = block; i < first; i++) {
			uint32_t k = (uint32_t)x->n.dim[i].extent;

			x->mt *= by_rows[i] ? k : 1;
			x->nt *= by_rows[i] ? 1 : k;
		}
	}
	x->n_reduce = block - at;
	x->n_block = first - block;
	x->by_rows = by_rows + block;
	return at;
}

static bool starts_anew(const struct emit_amx *x)
{
	bool seen = x->n.stmt->init != NULL;

	for (uint32_t i = 0; i < x->n.n_dim; i++) {
		seen = seen || x->n.dim[i].node->init != NULL;
	}
	return seen;
}

/* While planning, loops of the nest that are not the instruction's may stand anywhere. */
static void any_iteration(struct emit *e, const struct emit_nest *n, bool any)
{
	for (uint32_t i = 0; i < n->n_dim; i++) {
		const struct emit_dim *d = &n->dim[i];
		uintptr_t word = ((uintptr_t)d->loop + 1) * 16 + 4;

		e->var[d->loop] = (struct emit_var){ 0 };
		if (any && d->extent > 1) {
			e->var[d->loop] = (struct emit_var){ .base = (LLVMValueRef)word,
							     .mul = 1,
							     .hi = d->extent - 1 };
		}
	}
	e->dry = any;
	e->n_dry = 0;
	e->epoch++;
}

static const struct hn_intrin *given(const struct hn_node *node)
{
	const struct hn_intrin *in = NULL;

	for (; node->kind == HN_NODE_LOOP; node = node->child[0]) {
		in = node->intrin ? node->intrin : in;
	}
	return in && hn_intrin_is_tile(in) ? in : NULL;
}

enum emit_amx_place hn_emit_amx_find(struct emit *e, const struct hn_node *node,
				     struct emit_amx *x)
{
	const struct hn_intrin *in = given(node);
	uint32_t first;

	if (!in || !(e->opt->model_tiles || hn_target_has_intrin(&e->em->target, in))) {
		return EMIT_AMX_NOWHERE;
	}
	memset(x, 0, sizeof *x);
	hn_emit_nest_read(e, node, &x->n);
	if (!hn_emit_is_update(&x->n) || !find_loops(x, &first) ||
	    !hn_intrin_factors(in, x->n.op, x->factor)) {
		return EMIT_AMX_NOWHERE;
	}
	any_iteration(e, &x->n, true);
	bool ok = operands_lie(e, x) && read_guards(e, x);

	any_iteration(e, &x->n, false);
	if (!ok) {
		return EMIT_AMX_NOWHERE;
	}
	x->from_identity = starts_anew(x);
	return choose(e, x, first) > 0 ? EMIT_AMX_FURTHER_IN : EMIT_AMX_HERE;
}
