/* lower/cpu/emit_amx.c -- a sum by an instruction on tiles: the block's tiles of results stay in
 * registers over the reduction loops.
 *
 * Where all rows and columns of the block are there, its tiles are unrolled, and each factor's
 * tile is loaded once for all results that it makes.  Else the block is a loop over tiles, each
 * as small as what is left of it.  Where a guard leaves out terms, those that are there are
 * copied to the stack with zeros behind them: no shape changes while the results are in
 * registers, which would lose them, and nothing is read that is not there.
 */
#include "lower/cpu/emit_amx.h"

struct form {
	struct emit *e;
	struct emit_amx *x;
	struct emit_amx_shape shape;
	bool whole; /* the block unrolled, else one tile of it */
	bool sure;  /* guards on reductions hold */
};

/* -- places in memory ---------------------------------------------------------------------- */

/* The loops of the block stand at tile (i, j). */
static void stand_in_block(struct form *f, uint32_t i, uint32_t j)
{
	struct emit_amx *x = f->x;

	for (uint32_t k = x->n_block; f->whole && k-- > 0;) {
		struct emit_dim *d = &x->n.dim[x->n_reduce + k];
		uint32_t *at = x->by_rows[k] ? &i : &j, extent = (uint32_t)d->extent;

		f->e->var[d->loop] = (struct emit_var){ .add = *at % extent };
		*at /= extent;
	}
	f->e->epoch++;
}

static int32_t tensor_of(const struct emit_amx *x, uint32_t a)
{
	return a == EMIT_AMX_RESULT ? x->n.stmt->stage : x->factor[a]->ref;
}

static LLVMValueRef first_element(struct emit *e, const struct emit_amx *x, uint32_t a)
{
	if (a == EMIT_AMX_RESULT) {
		return hn_emit_element(e, x->n.stmt->stage, 0, x->n.stmt->axis);
	}
	e->axis = x->n.stmt->axis;
	e->n_axis = x->n.op->n_spatial + x->n.op->n_reduce;
	LLVMValueRef p = hn_emit_element(e, x->factor[a]->ref, x->factor[a]->out,
					 x->factor[a]->arg);

	e->axis = NULL;
	return p;
}

/* Bytes from a row of the access's tiles to the next. */
static LLVMValueRef stride_of(struct emit *e, const struct emit_amx *x, uint32_t a)
{
	uint32_t along = a == EMIT_AMX_RIGHT ? HN_INTRIN_K : HN_INTRIN_M;
	int32_t op = tensor_of(x, a);
	enum hn_dtype t =
		e->t->dag->op[op]->dtype[a == EMIT_AMX_RESULT ? 0 : x->factor[a]->out];
	struct hn_linear sum = { 0 };

	for (uint32_t d = 0; d < e->t->buffer[op].n_dim; d++) {
		struct hn_linear one = { .c = x->move[a][along][d] };

		if (one.c != 0) {
			hn_emit_add_index(e, op, d, &one, 1, &sum);
		}
	}
	struct hn_linear bytes = { 0 };

	hn_linear_add(&e->lin, &bytes, &sum, hn_dtype_bytes(t));
	return hn_emit_lin_value(e, &bytes);
}

/* -- counts -------------------------------------------------------------------------------- */

static LLVMValueRef least(struct emit *e, LLVMValueRef x, LLVMValueRef y)
{
	return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, x, y, ""), x, y, "");
}

/* Of `most` rows, columns or terms, the first so many for which the guard holds; what it says
 * of the first of them is all there is to say, when it is of nothing smaller. */
static LLVMValueRef count_of(struct emit *e, const struct emit_amx_guard *g, int64_t most)
{
	struct hn_linear d, last, left = { 0 };
	LLVMValueRef end = hn_emit_const(e, most), zero = hn_emit_const(e, 0);

	hn_emit_difference(e, g->x, 0, &d);
	last = d;
	last.c += g->step * (most - 1);
	if (hn_emit_judge(g->x->op, &last) == 1) {
		return end;
	}
	if (g->of == EMIT_AMX_ALL) {
		return LLVMBuildSelect(e->b, hn_emit_test(e, g->x->op, &d), end, zero,
				       "");
	}
	hn_linear_add(&e->lin, &left, &d, -1);
	left.c += g->x->op == HN_EXPR_LT ? g->step - 1 : g->step;
	LLVMValueRef n = hn_emit_lin_value(e, &left);

	n = g->step > 1 ? LLVMBuildSDiv(e->b, n, hn_emit_const(e, g->step), "") : n;
	n = least(e, n, end);
	return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, n, zero, ""), zero,
			       n, "");
}

/* The same for all guards of a kind; those that leave all out or nothing count for columns, or,
 * on reductions, for terms. */
static LLVMValueRef count_all(struct form *f, enum emit_amx_guarded of, int64_t most)
{
	struct emit *e = f->e;
	LLVMValueRef n = hn_emit_const(e, most);

	for (uint32_t i = 0; i < f->x->n_guard; i++) {
		const struct emit_amx_guard *g = &f->x->guard[i];
		enum emit_amx_guarded as = g->of != EMIT_AMX_ALL ? g->of
					   : g->reduction	 ? EMIT_AMX_TERMS
								 : EMIT_AMX_COLUMNS;

		if (as == of) {
			n = least(e, count_of(e, g, most), n);
		}
	}
	return n;
}

/* Whether n is `most`: 1, 0, or -1 for not known. */
static int is_all(LLVMValueRef n, int64_t most)
{
	return LLVMIsAConstantInt(n) ? LLVMConstIntGetSExtValue(n) == most : -1;
}

/* -- terms that are copied ------------------------------------------------------------------ */

/* The bytes of a vector, k to the size of it, and one value less. */
static LLVMValueRef under(struct emit *e, const int64_t *number, uint32_t n,
			  LLVMValueRef limit)
{
	LLVMValueRef lane[EMIT_AMX_ROW];

	for (uint32_t k = 0; k < n; k++) {
		lane[k] = LLVMConstInt(e->i32, (uint64_t)number[k], 0);
	}
	e->n_lane = n;
	LLVMValueRef all = hn_emit_splat(
		e, (struct emit_val){ LLVMBuildTrunc(e->b, limit, e->i32, ""), false });

	e->n_lane = 1;
	return LLVMBuildICmp(e->b, LLVMIntSLT, LLVMConstVector(lane, n), all, "");
}

/* Bytes [at, at + n) of the row that is at p, those that are there, and else zeros.  row: its
 * number, i64; live: terms. */
static void copy_part(struct form *f, uint32_t a, LLVMValueRef p, LLVMValueRef row,
		      LLVMValueRef live, LLVMValueRef to, uint32_t at, uint32_t n)
{
	struct emit *e = f->e;
	int64_t terms = hn_intrin_terms(f->x->in), unit = EMIT_AMX_ELEM / terms;
	int64_t term[EMIT_AMX_ROW], column[EMIT_AMX_ROW];
	struct emit_address address = { .type = e->i8, .unit = 1, .dtype = HN_U8 };
	LLVMValueRef from = hn_emit_const(e, at), mask;

	for (uint32_t k = 0; k < n; k++) {
		int64_t byte = at + k;

		term[k] = a == EMIT_AMX_LEFT ? byte / unit : byte % EMIT_AMX_ELEM / unit;
		column[k] = byte / EMIT_AMX_ELEM;
	}
	if (a == EMIT_AMX_RIGHT) {
		LLVMValueRef before =
			LLVMBuildMul(e->b, row, hn_emit_const(e, terms), "");

		mask = under(e, term, n, LLVMBuildSub(e->b, live, before, ""));
		mask = LLVMBuildAnd(e->b, mask, under(e, column, n, f->shape.columns),
				    "");
	} else {
		mask = under(e, term, n, live);
	}
	LLVMValueRef v = hn_emit_load_row(
		e, &address, LLVMBuildGEP2(e->b, e->i8, p, &from, 1, ""), n, mask);

	LLVMSetAlignment(LLVMBuildStore(e->b, v, hn_emit_byte_at(e, to, from)), n);
}

/* A factor's tile as it would be if the terms past the first `live` were zero; returns where. */
static LLVMValueRef copied(struct form *f, uint32_t a, LLVMValueRef live)
{
	struct emit *e = f->e;
	LLVMValueRef p = first_element(e, f->x, a), stride = stride_of(e, f->x, a);
	LLVMValueRef rows =
		a == EMIT_AMX_LEFT ? f->shape.rows : hn_emit_const(e, f->shape.groups);
	LLVMValueRef *space = &e->fn->amx_copy[a];
	uint32_t w = (uint32_t)e->em->target.param[HN_PARAM_VECTOR_UNIT_BYTES];
	struct emit_loop loop;

	w = w > EMIT_AMX_ROW ? EMIT_AMX_ROW : w;
	if (!*space) {
		*space = hn_emit_alloca(
			e, (uint64_t)EMIT_AMX_ROW * f->x->in->most[HN_INTRIN_M],
			EMIT_AMX_ROW);
	}
	hn_emit_loop_begin(e, hn_emit_const(e, 0), rows, 0, NULL, &loop);
	LLVMValueRef from = LLVMBuildMul(e->b, loop.iv, stride, "");
	LLVMValueRef to = LLVMBuildMul(e->b, loop.iv, hn_emit_const(e, EMIT_AMX_ROW), "");

	for (uint32_t at = 0; at < EMIT_AMX_ROW; at += w) {
		copy_part(f, a, LLVMBuildGEP2(e->b, e->i8, p, &from, 1, ""), loop.iv,
			  live, hn_emit_byte_at(e, *space, to), at, w);
	}
	hn_emit_loop_end(e, &loop, NULL);
	return *space;
}

/* -- the block ----------------------------------------------------------------------------- */

static uint32_t result_tile(const struct form *f, uint32_t i, uint32_t j)
{
	return i * f->shape.nt + j;
}

/* Load tile i of a factor; live NULL = all its terms are there. */
static void load_factor(struct form *f, uint32_t a, uint32_t i, uint32_t tile,
			LLVMValueRef live)
{
	struct emit *e = f->e;

	stand_in_block(f, a == EMIT_AMX_LEFT ? i : 0, a == EMIT_AMX_LEFT ? 0 : i);
	if (live) {
		hn_emit_amx_load(e, tile, copied(f, a, live),
				 hn_emit_const(e, EMIT_AMX_ROW));
	} else {
		hn_emit_amx_load(e, tile, first_element(e, f->x, a),
				 stride_of(e, f->x, a));
	}
}

/* What the reduction loops' current iteration adds to the results of some of the held side's
 * tiles, [from, to), and all of the other's. */
static void add_group(struct form *f, uint32_t from, uint32_t to, LLVMValueRef live)
{
	uint32_t mt = f->shape.mt, nt = f->shape.nt, first = mt * nt;
	bool left_held = mt <= nt;
	uint32_t n_other = left_held ? nt : mt;
	uint32_t others = first + hn_emit_amx_held(&f->shape);

	for (uint32_t o = 0; o < n_other; o++) {
		uint32_t other = others + o % (HN_INTRIN_TILES - others);

		for (uint32_t h = from; h < to; h++) {
			uint32_t held = first + h - from, i = left_held ? h : o,
				 j = left_held ? o : h;

			if (o == 0) {
				load_factor(f, left_held ? EMIT_AMX_LEFT : EMIT_AMX_RIGHT,
					    h, held, live);
			}
			if (h == from) {
				load_factor(f, left_held ? EMIT_AMX_RIGHT : EMIT_AMX_LEFT,
					    o, other, live);
			}
			hn_emit_amx_sum(f->e, f->x->in, result_tile(f, i, j),
					left_held ? held : other,
					left_held ? other : held);
		}
	}
}

/* The side with fewer tiles is held, as far as there are registers, and the other goes by in those
 * that are left. */
static void add_terms(struct form *f, LLVMValueRef live)
{
	uint32_t side = f->shape.mt <= f->shape.nt ? f->shape.mt : f->shape.nt;
	uint32_t step = hn_emit_amx_held(&f->shape);

	for (uint32_t h = 0; h < side; h += step) {
		add_group(f, h, h + step < side ? h + step : side, live);
	}
	stand_in_block(f, 0, 0);
}

static void add_some_terms(struct form *f)
{
	struct emit *e = f->e;
	int64_t all = f->shape.groups * hn_intrin_terms(f->x->in);
	LLVMValueRef live = f->sure ? NULL : count_all(f, EMIT_AMX_TERMS, all);

	if (!live || is_all(live, all) == 1) {
		add_terms(f, NULL);
		return;
	}
	LLVMBasicBlockRef full = hn_emit_block(e, "full"),
			  some = hn_emit_block(e, "some"),
			  join = hn_emit_block(e, "join");

	LLVMBuildCondBr(e->b,
			LLVMBuildICmp(e->b, LLVMIntEQ, live, hn_emit_const(e, all), ""),
			full, some);
	LLVMPositionBuilderAtEnd(e->b, full);
	e->epoch++;
	if (is_all(live, all) != 0) {
		add_terms(f, NULL);
	}
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, some);
	e->epoch++;
	LLVMBasicBlockRef past = hn_emit_when(e, hn_emit_more_than(e, live, 0));

	add_terms(f, live);
	hn_emit_end_when(e, past);
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, join);
	e->epoch++;
}

static void reduction(struct form *f, uint32_t i);

/* Iterations [begin, end) of dim i. */
static void reduction_part(struct form *f, uint32_t i, int64_t begin, int64_t end)
{
	struct emit *e = f->e;
	struct emit_dim *d = &f->x->n.dim[i];
	struct emit_loop loop;

	if (begin == end) {
		return;
	}
	if (end - begin == 1) {
		e->var[d->loop] = (struct emit_var){ .add = begin };
		e->epoch++;
		reduction(f, i + 1);
	} else {
		hn_emit_loop_begin(e, hn_emit_const(e, begin), hn_emit_const(e, end), 0,
				   NULL, &loop);
		e->var[d->loop] = (struct emit_var){ .base = loop.iv,
						     .mul = 1,
						     .lo = begin,
						     .hi = end - 1,
						     .depth = e->fn->depth };
		hn_emit_fetch_ahead(e, &f->x->n, i);
		reduction(f, i + 1);
		hn_emit_loop_end(e, &loop, NULL);
	}
	e->var[d->loop] = (struct emit_var){ 0 };
	e->epoch++;
}

static void reduction(struct form *f, uint32_t i)
{
	bool sure = f->sure;
	int64_t full, dead;

	if (i == f->x->n_reduce) {
		add_some_terms(f);
		return;
	}
	full = dead = f->x->n.dim[i].extent;
	if (!sure) {
		hn_emit_find_trips(f->e, &f->x->n, i, full, &full, &dead);
	}
	f->sure = true;
	reduction_part(f, i, 0, full);
	f->sure = sure;
	reduction_part(f, i, full, dead);
}

/* All of it, for the tiles of the form. */
static void emit_form(struct form *f)
{
	struct emit *e = f->e;

	for (uint32_t i = 0; i < f->shape.mt; i++) {
		for (uint32_t j = 0; j < f->shape.nt; j++) {
			if (f->x->from_identity) {
				hn_emit_amx_zero(e, result_tile(f, i, j));
				continue;
			}
			stand_in_block(f, i, j);
			hn_emit_amx_load(e, result_tile(f, i, j),
					 first_element(e, f->x, EMIT_AMX_RESULT),
					 stride_of(e, f->x, EMIT_AMX_RESULT));
		}
	}
	stand_in_block(f, 0, 0);
	reduction(f, 0);
	for (uint32_t i = 0; i < f->shape.mt; i++) {
		for (uint32_t j = 0; j < f->shape.nt; j++) {
			stand_in_block(f, i, j);
			hn_emit_amx_store(e, result_tile(f, i, j),
					  first_element(e, f->x, EMIT_AMX_RESULT),
					  stride_of(e, f->x, EMIT_AMX_RESULT));
		}
	}
	stand_in_block(f, 0, 0);
}

/* -- borders ------------------------------------------------------------------------------- */

/* i1: no guard leaves out a row or a column of the block; NULL = none does anywhere. */
static LLVMValueRef is_whole(struct emit *e, struct emit_amx *x)
{
	LLVMValueRef all = NULL;

	for (uint32_t i = 0; i < x->n_guard; i++) {
		const struct emit_fact fact = { x->guard[i].x, false };
		struct hn_linear_known edge;

		if (x->guard[i].reduction) {
			continue;
		}
		LLVMValueRef c = hn_emit_holds_everywhere(e, &x->n, &fact, &edge);

		c = c ? c : LLVMConstInt(e->i1, 0, 0);
		if (!LLVMIsAConstantInt(c) || !LLVMConstIntGetZExtValue(c)) {
			all = all ? LLVMBuildAnd(e->b, all, c, "") : c;
		}
	}
	return all;
}

/* One tile, as small as it is where the loops of the block now stand. */
static void small_tile(struct form *f)
{
	struct emit *e = f->e;

	f->shape.rows = count_all(f, EMIT_AMX_ROWS, f->x->dim[HN_INTRIN_M]->extent);
	f->shape.columns = count_all(f, EMIT_AMX_COLUMNS, f->x->dim[HN_INTRIN_N]->extent);
	LLVMValueRef some = LLVMBuildAnd(e->b, hn_emit_more_than(e, f->shape.rows, 0),
					 hn_emit_more_than(e, f->shape.columns, 0), "");
	LLVMBasicBlockRef past = hn_emit_when(e, some);

	hn_emit_amx_reshape(e, &f->shape);
	emit_form(f);
	hn_emit_end_when(e, past);
}

static void small_tiles(struct form *f, uint32_t k)
{
	struct emit *e = f->e;
	struct emit_loop loop;

	if (k == f->x->n_block) {
		small_tile(f);
		return;
	}
	struct emit_dim *d = &f->x->n.dim[f->x->n_reduce + k];

	if (d->extent == 1) {
		small_tiles(f, k + 1);
		return;
	}
	hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, d->extent), 0, NULL,
			   &loop);
	e->var[d->loop] = (struct emit_var){
		.base = loop.iv, .mul = 1, .hi = d->extent - 1, .depth = e->fn->depth
	};
	small_tiles(f, k + 1);
	hn_emit_loop_end(e, &loop, NULL);
	e->var[d->loop] = (struct emit_var){ 0 };
	e->epoch++;
}

/* The block's loops and the instruction's are what a tile is, for what asks about tiles. */
static void hold_block(struct emit_amx *x, bool hold)
{
	for (uint32_t i = 0; i < x->n.n_dim; i++) {
		struct emit_dim *d = &x->n.dim[i];

		d->now = hold && !d->reduce ? d->extent : 1;
	}
}

static void emit_amx(struct emit *e, struct emit_amx *x)
{
	const struct emit_amx_shape whole = {
		.mt = x->mt,
		.nt = x->nt,
		.rows = hn_emit_const(e, x->dim[HN_INTRIN_M]->extent),
		.columns = hn_emit_const(e, x->dim[HN_INTRIN_N]->extent),
		.groups = x->dim[HN_INTRIN_K]->extent
	};
	struct form f = { .e = e, .x = x, .shape = whole, .whole = true };
	struct form one = { .e = e, .x = x, .shape = whole };

	one.shape.mt = one.shape.nt = 1;
	hold_block(x, true);
	hn_emit_amx_enter(e, &whole);
	LLVMValueRef c = is_whole(e, x);

	if (!c) {
		emit_form(&f);
		hn_emit_amx_leave(e, &whole);
		return;
	}
	LLVMBasicBlockRef inside = hn_emit_block(e, "inside"),
			  edge = hn_emit_block(e, "edge"),
			  join = hn_emit_block(e, "join");

	LLVMBuildCondBr(e->b, c, inside, edge);
	LLVMPositionBuilderAtEnd(e->b, inside);
	e->epoch++;
	emit_form(&f);
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, edge);
	hold_block(x, false);
	e->epoch++;
	small_tiles(&one, 0);
	hn_emit_amx_shape_back(e, &whole);
	LLVMBuildBr(e->b, join);
	LLVMPositionBuilderAtEnd(e->b, join);
	e->epoch++;
	hn_emit_amx_leave(e, &whole);
}

enum emit_amx_place hn_emit_amx(struct emit *e, const struct hn_node *node)
{
	const struct emit_nest *outer = e->nest;
	struct emit_amx x;
	enum emit_amx_place place = hn_emit_amx_find(e, node, &x);

	if (place == EMIT_AMX_HERE) {
		e->nest = &x.n;
		emit_amx(e, &x);
		e->nest = outer;
	}
	return place;
}
