/* lower/cpu/emit_prefetch.c -- fetch ahead what a later iteration of a loop will read.
 *
 * In iteration i of the loop every cache line is asked for once that iteration
 * i + distance reads of the operand.  Past the end it is the last iteration's: addresses
 * are those of accesses that the loop does make, so computing them overflows no more than
 * those do.  Where the code runs a block of iterations as one, the distance is rounded up
 * to whole blocks, and a rest of less than a block is not fetched.
 *
 * An address may lie outside of the tensor where the access itself is masked off.  A
 * prefetch of what is not mapped does not fault (Intel SDM, PREFETCHh; Arm ARM, PRFM), and
 * it changes no value, so legality and the interpreter take no notice of it.
 *
 * What an iteration reads is found by moving the loops inside it (`dim`): those whose
 * steps leave no line out make one run of bytes, the others repeat that run.  An operand
 * whose place is data (a gather) is passed over, as is what no cache of a core holds.
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

#include "base/arith.h"

#define MAX_DIMS 64
#define MAX_LOADS 8
#define MAX_UNROLLED 16 /* prefetches before a loop makes them */
#define MAX_PER_TILE 64 /* in an iteration of a register tile, where there is no loop */

struct run {
	int64_t first;	/* bytes from the iteration's first element, <= 0 */
	int64_t bytes;	/* from there on */
	int64_t n_line; /* prefetches that touch all of it */
	uint32_t n_dim; /* loops that repeat it, fewest bytes apart first */
	struct emit_fetch_dim dim[MAX_DIMS];
	int64_t n_repeat;
};

struct fetch {
	struct emit *e;
	const struct hn_expr *load;
	LLVMValueRef base;
	int64_t unit, line;
	uint32_t locality; /* llvm.prefetch's: 3 = nearest cache, 2 = the next */
	bool unroll;
};

struct find {
	int32_t operand;
	uint32_t n;
	const struct hn_expr *load[MAX_LOADS];
};

static void find_load(const struct hn_expr *x, void *ctx)
{
	struct find *f = ctx;

	if (x->op == HN_EXPR_LOAD && x->ref == f->operand && f->n < MAX_LOADS) {
		f->load[f->n++] = x;
	}
}

static void offset_of(struct fetch *f, struct hn_linear *ret)
{
	f->e->epoch++;
	hn_emit_offset(f->e, f->load->ref, f->load->arg, 0, ret);
}

struct along {
	struct fetch *f;
	struct emit_var *var;
	int64_t first;
};

static void offset_at(void *ctx, int64_t i, struct hn_linear *ret)
{
	struct along *x = ctx;

	x->var->add = x->first + i;
	offset_of(x->f, ret);
}

/* Bytes from one iteration of the loop to the next, judged by its first ones. */
static int64_t step_along(struct fetch *f, const struct emit_fetch_dim *d)
{
	struct emit_var *var = &f->e->var[d->loop], saved = *var;
	struct along x = { f, var, saved.add };

	f->e->dry = true;
	int64_t step = hn_linear_step(d->count, offset_at, &x);

	*var = saved;
	f->e->dry = false;
	f->e->epoch++;
	return step == HN_TILE_NONLINEAR ? step : step * f->unit;
}

static int64_t apart(int64_t step)
{
	return step == HN_TILE_NONLINEAR ? INT64_MAX : step < 0 ? -step : step;
}

/* The run of bytes, and the loops left over. */
static void find_run(struct fetch *f, const struct emit_fetch_dim *dim, uint32_t n_dim,
		     struct run *r)
{
	int64_t step[MAX_DIMS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_dim; i++) {
		int64_t s = dim[i].count > 1 ? step_along(f, &dim[i]) : 0;
		uint32_t at = n;

		if (s == 0) {
			continue;
		}
		for (; at > 0 && apart(step[at - 1]) > apart(s); at--) {
			step[at] = step[at - 1];
			r->dim[at] = r->dim[at - 1];
		}
		step[at] = s;
		r->dim[at] = dim[i];
		n++;
	}
	r->first = 0;
	r->bytes = f->unit;
	r->n_repeat = 1;
	for (uint32_t i = 0; i < n; i++) {
		int64_t most = r->bytes > f->line ? r->bytes : f->line;

		if (apart(step[i]) <= most) {
			int64_t more = apart(step[i]) * (r->dim[i].count - 1);

			r->bytes += more;
			r->first -= step[i] < 0 ? more : 0;
		} else {
			r->n_repeat = hn_mul_sat(r->n_repeat, r->dim[i].count);
			r->dim[r->n_dim++] = r->dim[i];
		}
	}
}

/* A power of two that every address the run may begin at is a multiple of; buffers begin
 * on 64 bytes. */
static int64_t alignment(struct fetch *f, const struct run *r)
{
	struct hn_linear x;
	int64_t g = 64;

	f->e->dry = true;
	offset_of(f, &x);
	g = hn_gcd(g, x.c * f->unit + r->first);
	for (uint32_t i = 0; i < x.n; i++) {
		g = hn_gcd(g, x.t[i].coef * f->unit);
	}
	for (uint32_t i = 0; i < r->n_dim; i++) {
		int64_t s = step_along(f, &r->dim[i]);

		g = hn_gcd(g, s == HN_TILE_NONLINEAR ? 1 : s);
	}
	f->e->dry = false;
	f->e->epoch++;
	return g;
}

static void count_lines(struct fetch *f, struct run *r)
{
	int64_t g = alignment(f, r), whole = hn_ceildiv(r->bytes, f->line);
	bool straddles = g < f->line && (r->bytes - 1) % f->line >= g;

	r->n_line = whole + straddles;
}

static void prefetch_at(struct fetch *f, LLVMValueRef p)
{
	struct emit *e = f->e;
	unsigned id = LLVMLookupIntrinsicID("llvm.prefetch", strlen("llvm.prefetch"));
	LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->mod, id, &e->ptr, 1);
	LLVMValueRef arg[4] = { p, LLVMConstInt(e->i32, /* read */ 0, 0),
				LLVMConstInt(e->i32, f->locality, 0),
				LLVMConstInt(e->i32, /* data */ 1, 0) };

	LLVMBuildCall2(e->b, LLVMGlobalGetValueType(fn), fn, arg, 4, "");
}

static LLVMValueRef bytes_on(struct fetch *f, LLVMValueRef p, LLVMValueRef bytes)
{
	return LLVMBuildGEP2(f->e->b, f->e->i8, p, &bytes, 1, "");
}

/* The lines of one run: its first byte, one a line on, and its last byte. */
static void fetch_run(struct fetch *f, const struct run *r)
{
	struct emit *e = f->e;
	struct hn_linear x;

	offset_of(f, &x);
	LLVMValueRef p = hn_emit_lin_address(e, f->base, e->buffer[f->load->ref].depth,
					     &x, f->unit, /* inbounds= */ false);

	if (f->unroll || r->n_line <= MAX_UNROLLED) {
		for (int64_t k = 0; k < r->n_line; k++) {
			int64_t at = k * f->line < r->bytes ? k * f->line : r->bytes - 1;

			prefetch_at(f, bytes_on(f, p, hn_emit_const(e, r->first + at)));
		}
		return;
	}
	struct emit_loop loop;

	p = bytes_on(f, p, hn_emit_const(e, r->first));
	hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, r->n_line - 1), 0,
			   NULL, &loop);
	prefetch_at(f,
		    bytes_on(f, p,
			     LLVMBuildMul(e->b, loop.iv, hn_emit_const(e, f->line), "")));
	hn_emit_loop_end(e, &loop, NULL);
	prefetch_at(f, bytes_on(f, p, hn_emit_const(e, r->bytes - 1)));
}

/* Repeat the run over loops 0..n, the outermost (last) first. */
static void fetch_all(struct fetch *f, const struct run *r, uint32_t n, int64_t repeats)
{
	if (n == 0) {
		fetch_run(f, r);
		return;
	}
	struct emit *e = f->e;
	const struct emit_fetch_dim *d = &r->dim[n - 1];
	struct emit_var *var = &e->var[d->loop], saved = *var;

	if (f->unroll || var->base || repeats * r->n_line <= MAX_UNROLLED) {
		for (int64_t j = 0; j < d->count; j++) {
			var->add = saved.add + j;
			fetch_all(f, r, n - 1, repeats);
		}
	} else {
		struct emit_loop loop;

		hn_emit_loop_begin(e, hn_emit_const(e, 0), hn_emit_const(e, d->count), 0,
				   NULL, &loop);
		*var = (struct emit_var){ .base = loop.iv,
					  .mul = 1,
					  .add = saved.add,
					  .hi = d->count - 1,
					  .depth = e->fn->depth };
		fetch_all(f, r, n - 1, repeats / d->count);
		hn_emit_loop_end(e, &loop, NULL);
	}
	*var = saved;
	e->epoch++;
}

static void fetch_load(struct fetch *f, const struct emit_fetch_dim *dim, uint32_t n_dim)
{
	const struct hn_target *target = &f->e->em->target;
	struct run r = { 0 };

	for (uint32_t d = 0; d < f->load->n_arg; d++) {
		if (!hn_emit_is_index(f->e, f->load->arg[d])) {
			return;
		}
	}
	find_run(f, dim, n_dim, &r);
	count_lines(f, &r);
	int64_t lines = hn_mul_sat(r.n_repeat, r.n_line);
	int64_t bytes = hn_mul_sat(lines, f->line);

	if (bytes > target->param[HN_PARAM_L2_BYTES] ||
	    (f->unroll && lines > MAX_PER_TILE)) {
		return;
	}
	/* what fills the nearest cache would drive out what is being worked on */
	f->locality = bytes > target->param[HN_PARAM_L1_BYTES] / 4 ? 2 : 3;
	fetch_all(f, &r, r.n_dim, r.n_repeat);
}

/* min(iteration of the code + ahead, the last one), made at the head of the loop, where
 * addresses that use it are placed. */
static LLVMValueRef later(struct emit *e, const struct emit_var *now, int64_t ahead,
			  int64_t last)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
	LLVMValueRef end = hn_emit_const(e, last);

	LLVMPositionBuilderBefore(e->b, e->fn->scope[now->depth].anchor);
	LLVMValueRef v = LLVMBuildNSWAdd(e->b, now->base, hn_emit_const(e, ahead), "");

	v = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, v, end, ""), v, end,
			    "");
	LLVMPositionBuilderAtEnd(e->b, here);
	return v;
}

void hn_emit_prefetch(struct emit *e, const struct hn_node *loop,
		      const struct hn_node *stmt, const struct emit_fetch_dim *dim,
		      uint32_t n_dim, int64_t block, bool in_tile)
{
	struct emit_var *var = &e->var[loop->loop], now = *var;
	const struct hn_op *op = e->t->dag->op[stmt->stage];

	if (e->opt->scalar || n_dim > MAX_DIMS) {
		return;
	}
	for (uint32_t i = 0; i < loop->n_prefetch; i++) {
		const struct hn_prefetch *p = &loop->prefetch[i];
		struct find found = { .operand = p->operand };

		hn_op_visit(op, find_load, &found);

		*var = now;
		var->base = later(e, &now, hn_ceildiv(p->distance, block), now.hi);
		e->axis = stmt->axis;
		e->n_axis = op->n_spatial + op->n_reduce;
		for (uint32_t k = 0; k < found.n; k++) {
			const struct hn_expr *load = found.load[k];
			enum hn_dtype t = e->t->dag->op[load->ref]->dtype[load->out];
			struct fetch f = {
				.e = e,
				.load = load,
				.base = e->buffer[load->ref].base[load->out],
				.unit = hn_dtype_bytes(t),
				.line = e->em->target.param[HN_PARAM_CACHE_LINE_BYTES],
				.unroll = in_tile,
			};

			fetch_load(&f, dim, n_dim);
		}
		e->axis = NULL;
	}
	*var = now;
	e->epoch++;
}

void hn_emit_prefetch_below(struct emit *e, const struct hn_node *loop)
{
	struct emit_fetch_dim dim[MAX_DIMS];
	const struct hn_node *x = loop;
	uint32_t n = 0;

	if (loop->n_prefetch == 0) {
		return;
	}
	/* a stage's own nest is the last child of its loops */
	while (x->kind == HN_NODE_LOOP) {
		x = x->child[x->n_child - 1];
		if (x->kind == HN_NODE_LOOP && n < MAX_DIMS) {
			dim[n++] = (struct emit_fetch_dim){ x->loop, x->extent };
		}
	}
	hn_emit_prefetch(e, loop, x, dim, n, /* block= */ 1, /* in_tile= */ false);
}

/* In a tile the other dimensions are blocks. */
void hn_emit_fetch_ahead(struct emit *e, const struct emit_nest *n, uint32_t i)
{
	const struct emit_dim *d = &n->dim[i];
	bool in_tile = i >= n->tile && d->reduce;
	int64_t block = in_tile ? d->block : d->now;
	struct emit_fetch_dim *dim;
	uint32_t k = 0;

	if (d->node->n_prefetch == 0) {
		return;
	}
	dim = HN_NEW_ARRAY(e->a, struct emit_fetch_dim, n->n_dim);
	for (uint32_t j = in_tile ? 0 : i; j < n->n_dim; j++) {
		const struct emit_dim *x = &n->dim[j];
		int64_t count = in_tile && !x->reduce ? x->now : x->extent;

		if (j >= i || !x->reduce) {
			dim[k++] = (struct emit_fetch_dim){ x->loop,
							    j == i ? block : count };
		}
	}
	hn_emit_prefetch(e, d->node, n->stmt, dim, k, block, in_tile);
}
