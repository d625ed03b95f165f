/* loopstate/nest/looptree.c -- the nest of a concrete state (see looptree.h).
 *
 * A stage's nest is made from the inside out: its statement, then around it loop by loop,
 * each loop holding first the nests attached there and then what was made so far.  Stage
 * numbers are a topological order, so sorting what is attached at one loop by number puts
 * producers before consumers. */
#include "loopstate/nest/looptree.h"

#include "base/arith.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/expr/simplify.h"
#include "loopstate/nest/memory.h"
#include "loopstate/nest/layout.h"
#include "loopstate/nest/prepare.h"
#include "loopstate/state/inline.h"
#include "loopstate/state/intrin.h"
#include "loopstate/state/pipeline.h"
#include "loopstate/state/prefetch.h"

struct build {
	const struct hn_state *s;
	const struct hn_dag *dag; /* inlined */
	const struct hn_bounds *b;
	struct hn_arena *a;
	uint32_t n_loop; /* ids given out */
};

static bool has_loops(const struct build *x, uint32_t i)
{
	return x->s->dag->op[i]->kind == HN_OP_COMPUTE &&
	       x->s->stage[i]->at != HN_AT_INLINED;
}

static bool is_reduction_loop(const struct hn_iter *iter)
{
	return iter->kind == HN_ITER_REDUCE || iter->kind == HN_ITER_MIXED;
}

/* Position of the outermost reduction loop of a stage, n_iter when there is none. */
static uint32_t first_reduction(const struct hn_stage *st)
{
	uint32_t k = 0;

	while (k < st->n_iter && !is_reduction_loop(&st->iter[k])) {
		k++;
	}
	return k;
}

static struct hn_node *make_stmt(struct build *x, uint32_t i, enum hn_stmt_kind kind)
{
	const struct hn_stage_bounds *b = &x->b->stage[i];
	struct hn_node *n = HN_NEW(x->a, struct hn_node);

	n->kind = HN_NODE_STMT;
	n->stmt = (uint8_t)kind;
	n->stage = (int32_t)i;
	n->loop = -1;
	n->axis = b->axis_value;
	n->n_guard = b->n_guard;
	n->guard = b->guard;
	return n;
}

static struct hn_node *make_loop(struct build *x, uint32_t i, uint32_t k)
{
	const struct hn_iter *iter = &x->s->stage[i]->iter[k];
	struct hn_node *n = HN_NEW(x->a, struct hn_node);

	n->kind = HN_NODE_LOOP;
	n->loop = x->b->first_loop[i] + (int32_t)k;
	n->extent = x->b->stage[i].iter_extent[k];
	n->ann = iter->ann;
	n->iter_kind = iter->kind;
	n->stage = (int32_t)i;
	n->unroll_max_step = x->s->stage[i]->auto_unroll_max_step;
	n->name = iter->name;
	return n;
}

/* Those of the stage's prefetches that belong to loop k and can be done here. */
static void set_prefetches(struct build *x, struct hn_node *loop, uint32_t i, uint32_t k)
{
	const struct hn_stage *st = x->s->stage[i];
	struct hn_prefetch *to = HN_NEW_ARRAY(x->a, struct hn_prefetch, st->n_prefetch);

	for (uint32_t p = 0; p < st->n_prefetch; p++) {
		const struct hn_prefetch *from = &st->prefetch[p];

		if (from->var == st->iter[k].var && from->distance < loop->extent &&
		    !hn_prefetch_why_not(x->s, (int32_t)i, k, from->operand)) {
			to[loop->n_prefetch++] = *from;
		}
	}
	loop->prefetch = to;
}

/* The stage's loop that is dimension d of its instruction; n_iter when none is any more. */
static uint32_t intrin_loop(const struct build *x, uint32_t i, enum hn_intrin_dim d)
{
	const struct hn_stage *st = x->s->stage[i];
	uint32_t k = 0;

	while (k < st->n_iter && st->iter[k].var != st->intrin_var[d]) {
		k++;
	}
	return k;
}

/* A loop stays an instruction's where it is run by nobody else. */
static bool intrin_fits(const struct build *x, uint32_t i, enum hn_intrin_dim d, uint32_t k)
{
	const struct hn_stage *st = x->s->stage[i];
	bool lanes = d == HN_INTRIN_M || d == HN_INTRIN_N;

	return k < st->n_iter &&
	       (st->iter[k].ann == HN_ANN_NONE || st->iter[k].ann == HN_ANN_UNROLL ||
		(lanes && st->iter[k].ann == HN_ANN_VECTORIZE)) &&
	       hn_intrin_takes(st->intrin, d, x->b->stage[i].iter_extent[k]);
}

/* The instruction of the stage, when all its loops are there still.  Inlining since the step may
 * have made other factors of what the stage read. */
static const struct hn_intrin *intrin_of(const struct build *x, uint32_t i)
{
	const struct hn_intrin *in = x->s->stage[i]->intrin;

	if (in == NULL || hn_intrin_why_not(in, x->s->root_dag, x->dag->op[i]) != NULL) {
		return NULL;
	}
	for (uint32_t k = 0; k < hn_intrin_n_dim(in); k++) {
		enum hn_intrin_dim d = hn_intrin_dim(in, k);

		if (!intrin_fits(x, i, d, intrin_loop(x, i, d))) {
			return NULL;
		}
	}
	return in;
}

/* Say of the nest's loop k that it is the instruction's, where it is. */
static void set_intrin(const struct build *x, struct hn_node *loop, uint32_t i, uint32_t k,
		       const struct hn_intrin *in)
{
	for (uint32_t n = 0; in != NULL && n < hn_intrin_n_dim(in); n++) {
		if (intrin_loop(x, i, hn_intrin_dim(in, n)) == k) {
			loop->intrin = in;
			loop->intrin_dim = (uint8_t)hn_intrin_dim(in, n);
			loop->held = hn_memory_of_scope(x->s->stage[i]->scope) == HN_MEMORY_TILE;
		}
	}
}

static void one_child(struct build *x, struct hn_node *n, const struct hn_node *child)
{
	const struct hn_node **list = HN_NEW_ARRAY(x->a, const struct hn_node *, 1);

	list[0] = child;
	n->n_child = 1;
	n->child = list;
}

/* A loop of reductions alone has no copy in the init nest. */
static bool is_copied(const struct hn_iter *iter)
{
	return iter->kind != HN_ITER_REDUCE;
}

/* Whether the init may ignore this guard: it speaks of reduction loops, which init lacks.
 */
static bool is_reduction_guard(const struct build *x, uint32_t i, const struct hn_expr *g)
{
	const struct hn_stage *st = x->s->stage[i];

	for (uint32_t k = 0; k < st->n_iter; k++) {
		if (!is_copied(&st->iter[k]) &&
		    hn_expr_uses(g, x->b->first_loop[i] + (int32_t)k)) {
			return true;
		}
	}
	return false;
}

/* The INIT statement, loops of the stage replaced by their copies (value[], NULL =
 * itself). */
static struct hn_node *make_init_stmt(struct build *x, uint32_t i,
				      const struct hn_expr *const *value,
				      uint32_t n_value)
{
	const struct hn_op *op = x->dag->op[i];
	struct hn_node *n = make_stmt(x, i, HN_STMT_INIT);
	const struct hn_expr **axis =
		HN_NEW_ARRAY(x->a, const struct hn_expr *, op->n_spatial + op->n_reduce);
	const struct hn_expr **guard =
		HN_NEW_ARRAY(x->a, const struct hn_expr *, n->n_guard);
	uint32_t n_guard = 0;

	for (uint32_t d = 0; d < op->n_spatial; d++) {
		axis[d] = hn_expr_substitute(n->axis[d], value, n_value, x->a);
	}
	for (uint32_t g = 0; g < n->n_guard; g++) {
		if (!is_reduction_guard(x, i, n->guard[g])) {
			guard[n_guard++] =
				hn_expr_substitute(n->guard[g], value, n_value, x->a);
		}
	}
	n->axis = axis;
	n->n_guard = n_guard;
	n->guard = guard;
	return n;
}

/* The nest that gives every element of the stage below loop `first` its identity.  A loop
 * that mixes spatial and reduction axes is copied too: an element is then set more than
 * once, all before the first update. */
static const struct hn_node *make_init(struct build *x, uint32_t i, uint32_t first)
{
	const struct hn_stage *st = x->s->stage[i];
	uint32_t first_slot = (uint32_t)x->b->first_loop[i];
	const struct hn_expr **value =
		HN_NEW_ARRAY(x->a, const struct hn_expr *, first_slot + st->n_iter);
	struct hn_node **copy = HN_NEW_ARRAY(x->a, struct hn_node *, st->n_iter);

	for (uint32_t k = first; k < st->n_iter; k++) {
		if (!is_copied(&st->iter[k])) {
			continue;
		}
		bool keeps = st->iter[k].ann == HN_ANN_VECTORIZE ||
			     st->iter[k].ann == HN_ANN_UNROLL;

		copy[k] = make_loop(x, i, k);
		copy[k]->loop = (int32_t)x->n_loop++;
		copy[k]->ann = keeps ? st->iter[k].ann : HN_ANN_NONE;
		value[first_slot + k] =
			hn_expr_var(copy[k]->loop, HN_I32, st->iter[k].name, x->a);
	}
	struct hn_node *n = make_init_stmt(x, i, value, first_slot + st->n_iter);

	for (uint32_t k = st->n_iter; k-- > first;) {
		if (copy[k] != NULL) {
			one_child(x, copy[k], n);
			n = copy[k];
		}
	}
	return n;
}

static struct hn_node *make_nest(struct build *x, uint32_t i);

static bool is_attached_at(const struct build *x, uint32_t child, uint32_t stage,
			   uint32_t k)
{
	const struct hn_stage *st = x->s->stage[child];

	return st->at == HN_AT_ITER && st->at_stage == (int32_t)stage &&
	       st->at_iter == (int32_t)k && has_loops(x, child);
}

/* How far ahead runs what is attached at loop k of stage i: no further than the loop is long. */
static int32_t ahead_in(const struct build *x, uint32_t i, uint32_t k)
{
	const struct hn_pipeline *p = &x->s->stage[i]->pipeline;
	int64_t extent = x->b->stage[i].iter_extent[k];

	if (p->stages == 0 || p->var != x->s->stage[i]->iter[k].var ||
	    hn_pipeline_why_not(x->s, (int32_t)i, k) != NULL) {
		return 0;
	}
	return p->stages <= extent ? p->stages - 1 : (int32_t)extent - 1;
}

/* Put what is attached at loop k of stage i, and then `body`, into the loop. */
static void fill_loop(struct build *x, struct hn_node *loop, uint32_t i, uint32_t k,
		      const struct hn_node *body)
{
	int32_t ahead = ahead_in(x, i, k);
	uint32_t n = 1;

	for (uint32_t c = 0; c < i; c++) {
		n += is_attached_at(x, c, i, k);
	}
	const struct hn_node **list = HN_NEW_ARRAY(x->a, const struct hn_node *, n);

	loop->child = list;
	for (uint32_t c = 0; c < i && n > 1; c++) {
		if (is_attached_at(x, c, i, k)) {
			struct hn_node *nest = make_nest(x, c);

			nest->ahead = ahead;
			list[loop->n_child++] = nest;
		}
	}
	loop->pipeline = ahead > 0 ? x->s->stage[i]->pipeline.kind : 0;
	list[loop->n_child++] = body;
}

static struct hn_node *make_nest(struct build *x, uint32_t i)
{
	const struct hn_stage *st = x->s->stage[i];
	bool reduces = x->dag->op[i]->reduce != NULL;
	uint32_t first = reduces ? first_reduction(st) : st->n_iter;
	struct hn_node *n = make_stmt(x, i, reduces ? HN_STMT_UPDATE : HN_STMT_COMPUTE);
	const struct hn_intrin *in = intrin_of(x, i);

	if (reduces && first == st->n_iter) {
		n->init = make_init(x, i, first);
	}
	for (uint32_t k = st->n_iter; k-- > 0;) {
		struct hn_node *loop = make_loop(x, i, k);

		set_prefetches(x, loop, i, k);
		set_intrin(x, loop, i, k, in);
		fill_loop(x, loop, i, k, n);
		n = loop;
		if (reduces && k == first) {
			n->init = make_init(x, i, first);
		}
	}
	return n;
}

static const struct hn_node *make_root(struct build *x)
{
	struct hn_node *root = HN_NEW(x->a, struct hn_node);
	const struct hn_node **list =
		HN_NEW_ARRAY(x->a, const struct hn_node *, x->s->n_stage);

	root->kind = HN_NODE_SEQ;
	root->loop = -1;
	root->stage = -1;
	root->child = list;
	for (uint32_t i = 0; i < x->s->n_stage; i++) {
		if (has_loops(x, i) && x->s->stage[i]->at == HN_AT_ROOT) {
			list[root->n_child++] = make_nest(x, i);
		}
	}
	return root;
}

static void fill_strides(struct build *x, struct hn_buffer *buf)
{
	int64_t *stride = HN_NEW_ARRAY(x->a, int64_t, buf->n_dim);
	int64_t step = 1;

	for (uint32_t d = buf->n_dim; d-- > 0;) {
		stride[d] = step;
		step = hn_mul_sat(step, buf->extent[d]);
	}
	buf->stride = stride;
}

/* The tensor of stage i: what an attached stage needs of it at once, else all of it. */
static struct hn_buffer make_buffer(struct build *x, uint32_t i)
{
	const struct hn_op *op = x->dag->op[i];
	const struct hn_stage *st = x->s->stage[i];
	struct hn_buffer buf = { .op = (int32_t)i, .n_dim = op->n_dim, .at_loop = -1 };
	int64_t *extent = HN_NEW_ARRAY(x->a, int64_t, op->n_dim);
	const struct hn_expr **min =
		HN_NEW_ARRAY(x->a, const struct hn_expr *, op->n_dim);
	bool local = st->at == HN_AT_ITER && has_loops(x, i);

	for (uint32_t d = 0; d < op->n_dim; d++) {
		int64_t first = op->kind == HN_OP_COMPUTE ? op->axis[d].min : 0;

		extent[d] = local ? x->b->stage[i].axis[d].extent : op->shape[d];
		min[d] = local ? x->b->stage[i].axis[d].min
			       : hn_expr_int(first, HN_I32, x->a);
	}
	buf.arg = hn_dag_arg_of(x->dag, (int32_t)i);
	buf.lifetime = buf.arg >= 0 ? HN_LIFETIME_ARG
		    : local	 ? HN_LIFETIME_LOOP
				 : HN_LIFETIME_KERNEL;
	if (local) {
		buf.at_loop = x->b->first_loop[st->at_stage] + st->at_iter;
		buf.ring = 1 + ahead_in(x, (uint32_t)st->at_stage, (uint32_t)st->at_iter);
	}
	if (buf.ring > 1) {
		buf.turn = hn_expr_binary(HN_EXPR_FLOORMOD,
					  hn_expr_var(buf.at_loop, HN_I32, NULL, x->a),
					  hn_expr_int(buf.ring, HN_I32, x->a), x->a);
	}
	buf.extent = extent;
	buf.min = min;
	buf.swizzle = st->swizzle;
	fill_strides(x, &buf);
	return buf;
}

static int make_buffers(struct build *x, const struct hn_buffer **ret, struct hn_err *err)
{
	struct hn_buffer *buf = HN_NEW_ARRAY(x->a, struct hn_buffer, x->s->n_stage);

	for (uint32_t i = 0; i < x->s->n_stage; i++) {
		bool compute = x->s->dag->op[i]->kind == HN_OP_COMPUTE;

		buf[i].op = -1;
		buf[i].arg = -1;
		buf[i].at_loop = -1;
		if (compute && !has_loops(x, i)) {
			continue;
		}
		buf[i] = make_buffer(x, i);
		const char *why = hn_layout_why_not(&buf[i]);

		if (why != NULL) {
			return hn_fail(err, HONE_E_INVALID,
				       "stage %u (%s): its buffer can not be swizzled: %s", i,
				       x->s->dag->op[i]->name, why);
		}
		if (!compute && buf[i].arg < 0) {
			return hn_fail(
				err, HONE_E_INVALID,
				"stage %u (%s): an input that is no argument of the "
				"kernel has no data",
				i, x->s->dag->op[i]->name);
		}
	}
	*ret = buf;
	return 0;
}

struct surround {
	const bool *around; /* [n_loop] */
	uint32_t n_loop;
	bool escapes;
};

static void surround_visit(const struct hn_expr *e, void *ctx)
{
	struct surround *s = ctx;

	if (e->op == HN_EXPR_VAR) {
		s->escapes |=
			e->ref < 0 || (uint32_t)e->ref >= s->n_loop || !s->around[e->ref];
	}
}

/* A GPU lets a stage in a thread's own memory lie outside the loop over the threads,
 * because thread numbers are known everywhere; a nest of loops has no such thing. */
static int check_private(const struct build *x, uint32_t i, struct hn_err *err)
{
	const struct hn_op *op = x->s->dag->op[i];
	bool *around = HN_NEW_ARRAY(x->a, bool, x->n_loop);
	struct surround s = { around, x->n_loop, false };

	for (const struct hn_stage *st = x->s->stage[i]; st->at == HN_AT_ITER;
	     st = x->s->stage[st->at_stage]) {
		for (int32_t k = 0; k <= st->at_iter; k++) {
			around[x->b->first_loop[st->at_stage] + k] = true;
		}
	}
	for (uint32_t d = 0; d < op->n_spatial; d++) {
		hn_expr_visit(x->b->stage[i].axis[d].min, surround_visit, &s);
	}
	return !s.escapes
		       ? 0
		       : hn_fail(err, HONE_E_UNSUPPORTED,
				 "stage %u (%s): attached outside the thread loop whose "
				 "memory it is kept in; attach it inside that loop",
				 i, op->name);
}

int hn_looptree_build(const struct hn_state *s, struct hn_arena *a,
		      const struct hn_looptree **ret, struct hn_err *err)
{
	struct build x = { .s = s, .a = a };
	struct hn_looptree *t = HN_NEW(a, struct hn_looptree);
	int rc = hn_bounds_infer(s, a, &x.b, err);

	if (rc != 0) {
		return rc;
	}
	x.dag = x.b->dag;
	for (uint32_t i = 0; i < s->n_stage; i++) {
		x.n_loop += s->stage[i]->n_iter;
	}
	for (uint32_t i = 0; i < s->n_stage && rc == 0; i++) {
		rc = has_loops(&x, i) ? check_private(&x, i, err) : 0;
	}
	if (rc == 0) {
		rc = make_buffers(&x, &t->buffer, err);
	}
	if (rc != 0) {
		return rc;
	}
	t->state = s;
	t->dag = x.dag;
	t->bounds = x.b;
	t->root = make_root(&x);
	t->n_loop = x.n_loop;
	t->prepared = hn_prepare_find(t, a);
	*ret = t;
	return 0;
}
