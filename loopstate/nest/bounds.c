/* loopstate/nest/bounds.c -- regions of stages, consumers first (see bounds.h).
 *
 * For a stage P attached at loop (C, i): the loops at and outside (C, i) stand still, all
 * others run in full; every read of P below that loop, with the reader's axes written as
 * expressions over loops, gives an interval per axis; their union is P's region.  A
 * reader's own region was found before, because stages read only earlier stages and so
 * all readers have greater numbers.
 *
 * Where an axis of the reader overshoots (a split that does not divide) and all its loops
 * run, a fresh variable that runs over the true extent stands for it: slots n_iter_all
 * ...
 */
#include "loopstate/nest/bounds.h"

#include "loopstate/dag/size.h"
#include "loopstate/nest/bounds_box.h"
#include "loopstate/nest/bounds_loops.h"
#include "loopstate/nest/bounds_scope.h"
#include "loopstate/state/inline.h"

struct infer {
	const struct hn_state *s;
	const struct hn_dag *dag; /* inlined */
	struct hn_arena *a;
	struct hn_err *err;
	uint32_t n_iter_all;  /* loops of all stages */
	uint32_t n_slot;      /* and a fresh variable for each axis of one op */
	struct hn_span *loop; /* [n_slot] */
	bool *fixed;	      /* [n_slot] for the stage at hand */
	int32_t *first_loop;
	bool extents_only;    /* values and guards are found where a region needs them */
	struct hn_stage_bounds *stage;
	struct hn_stage_loops *loops; /* [n_stage] values: of axes less their region's min */
	const bool **overshoots;      /* [n_stage][axes]: values that may pass their region's
				       * extent; NULL = not asked for yet */
	const struct hn_read **read;  /* [n_stage] the loads of each op */
	uint32_t *n_read;
};

/* A region being collected. */
struct box {
	uint32_t n_dim;
	uint32_t n_read;
	bool all[HN_DAG_MAX_RANK]; /* nothing known: the whole axis */
	struct hn_interval side[HN_DAG_MAX_RANK];
};

static bool has_loops(const struct infer *x, uint32_t i)
{
	return x->s->dag->op[i]->kind == HN_OP_COMPUTE &&
	       x->s->stage[i]->at != HN_AT_INLINED;
}

static const char *name_of(const struct infer *x, int32_t i)
{
	return x->s->dag->op[i]->name;
}

static uint32_t n_axis(const struct hn_op *op)
{
	return op->n_spatial + op->n_reduce;
}

static bool attachment_is_sane(const struct infer *x, uint32_t i)
{
	const struct hn_stage *st = x->s->stage[i];

	return st->at_stage > (int32_t)i && (uint32_t)st->at_stage < x->s->n_stage &&
	       has_loops(x, (uint32_t)st->at_stage) && st->at_iter >= 0 &&
	       (uint32_t)st->at_iter < x->s->stage[st->at_stage]->n_iter;
}

/* Is stage r inside loop (c, iter)? */
static bool is_inside(const struct infer *x, int32_t r, int32_t c, int32_t iter)
{
	if (r == c) {
		return true;
	}
	for (const struct hn_stage *st = x->s->stage[r]; st->at == HN_AT_ITER;
	     st = x->s->stage[st->at_stage]) {
		if (st->at_stage == c) {
			return st->at_iter >= iter;
		}
	}
	return false;
}

static bool uses_fixed(const struct infer *x, const struct hn_expr *e)
{
	if (e->op == HN_EXPR_VAR) {
		return e->ref >= 0 && (uint32_t)e->ref < x->n_slot && x->fixed[e->ref];
	}
	for (uint32_t k = 0; k < e->n_arg; k++) {
		if (uses_fixed(x, e->arg[k])) {
			return true;
		}
	}
	return false;
}

/* min + v, v simple already. */
static const struct hn_expr *shifted(struct infer *x, const struct hn_expr *min,
				     const struct hn_expr *v)
{
	const struct hn_term term[] = { { 1, min }, { 1, v } };
	const struct hn_affine sum = { .n = 2, .term = term };

	return min->op == HN_EXPR_INT && min->u.i == 0
		       ? v
		       : hn_simplify_sum(sum, HN_I32, x->loop, x->n_slot, x->a);
}

/* The axes of stage i in loop space. */
static int find_values(struct infer *x, uint32_t i)
{
	uint32_t n = n_axis(x->dag->op[i]);
	const struct hn_expr **value = HN_NEW_ARRAY(x->a, const struct hn_expr *, n);
	int rc = hn_stage_values(x->s, i, n, x->first_loop[i], x->loop, x->n_slot, x->a,
				 &x->loops[i], x->err);

	for (uint32_t k = 0; k < n && rc == 0; k++) {
		value[k] = shifted(x, x->stage[i].axis[k].min, x->loops[i].value[k]);
	}
	x->stage[i].axis_value = value;
	return rc;
}

/* Which axes of stage r overshoot: the same for all that it reads. */
static const bool *find_overshoots(const struct infer *x, uint32_t r)
{
	uint32_t n = n_axis(x->dag->op[r]);
	bool *over = HN_NEW_ARRAY(x->a, bool, n);

	for (uint32_t k = 0; k < n; k++) {
		int64_t lo, hi;

		over[k] = !hn_expr_range(x->loops[r].value[k], x->loop, x->n_slot, &lo, &hi) ||
			  hi >= x->stage[r].axis[k].extent;
	}
	return over;
}

/* The reader's axes as seen by the stage at hand. */
static int reader_axes(struct infer *x, uint32_t r, const struct hn_expr **value)
{
	int rc = x->loops[r].value ? 0 : find_values(x, r);

	if (rc != 0) {
		return rc;
	}
	if (!x->overshoots[r]) {
		x->overshoots[r] = find_overshoots(x, r);
	}
	for (uint32_t k = 0; k < n_axis(x->dag->op[r]); k++) {
		const struct hn_region *region = &x->stage[r].axis[k];
		int32_t fresh = (int32_t)(x->n_iter_all + k);

		value[k] = x->stage[r].axis_value[k];
		if (x->overshoots[r][k] && !uses_fixed(x, x->loops[r].value[k])) {
			x->loop[fresh] = (struct hn_span){ 0, region->extent - 1 };
			value[k] = hn_expr_binary(HN_EXPR_ADD, region->min,
						  hn_expr_var(fresh, HN_I32, NULL, x->a),
						  x->a);
		}
	}
	return 0;
}

/* A read that covers the axis is the axis (TVM asks each read, not their union). */
static void cut_to_axis(const struct infer *x, const struct hn_axis *axis,
			struct hn_interval *v)
{
	int64_t lo, hi;

	if (hn_expr_range(v->min, x->loop, x->n_slot, &lo, &hi) && hi <= axis->min &&
	    lo + v->width >= axis->min + axis->extent - 1) {
		*v = (struct hn_interval){ hn_expr_int(axis->min, HN_I32, x->a),
					   axis->extent - 1 };
	}
}

static void box_add(struct infer *x, const struct hn_op *producer,
		    const struct hn_expr *load, const struct hn_expr *const *value,
		    uint32_t n_value, struct box *box)
{
	const struct hn_interval_env env = { x->loop, x->fixed, x->n_slot, x->dag->sizes };

	for (uint32_t d = 0; d < box->n_dim; d++) {
		struct hn_interval v;

		if (box->all[d] ||
		    !hn_interval_of_index(load->arg[d], value, n_value, &env, x->a, &v)) {
			box->all[d] = true;
			continue;
		}
		cut_to_axis(x, &producer->axis[d], &v);
		if (box->n_read == 0) {
			box->side[d] = v;
		} else {
			box->all[d] = !hn_interval_union(box->side[d], v, &env, x->a,
							 &box->side[d]);
		}
	}
	box->n_read++;
}

/* An op that inlining left alone has the loads that the state knows. */
static void find_loads(struct infer *x, uint32_t i)
{
	const struct hn_op *op = x->dag->op[i];
	struct hn_op_access acc = op == x->s->dag->op[i] ? x->s->access->op[i]
							 : hn_access_reads(op, x->a);

	x->n_read[i] = acc.n_read;
	x->read[i] = acc.read;
}

/* Every read of `producer` by stage r, into box. */
static int reads_of(struct infer *x, uint32_t r, uint32_t producer, struct box *box)
{
	const struct hn_expr *value[HN_DAG_MAX_ITERS];
	bool ready = false;

	for (uint32_t k = 0; k < x->n_read[r]; k++) {
		if (x->read[r][k].producer != (int32_t)producer) {
			continue;
		}
		int rc = ready ? 0 : reader_axes(x, r, value);

		if (rc != 0) {
			return rc;
		}
		ready = true;
		box_add(x, x->dag->op[producer], x->read[r][k].load, value,
			n_axis(x->dag->op[r]), box);
	}
	return 0;
}

/* One side of the box as a region, which may stick out of the axis (slices read under a
 * guard): domain_guards sees to that.  What sizes move is no wider than the axis. */
static struct hn_region side_region(const struct infer *x, const struct hn_axis *axis,
				    bool all, struct hn_interval side)
{
	if (all || (x->dag->sizes && side.width >= axis->extent)) {
		return (struct hn_region){ hn_expr_int(axis->min, HN_I32, x->a),
					   axis->extent };
	}
	return (struct hn_region){ side.min, side.width + 1 };
}

/* All readers of stage i, into box; refuses a reader that is not inside i's loop. */
static int collect(struct infer *x, uint32_t i, struct box *box)
{
	const struct hn_stage *st = x->s->stage[i];

	for (uint32_t r = i + 1; r < x->s->n_stage; r++) {
		uint32_t before = box->n_read;

		if (!has_loops(x, r)) {
			continue;
		}
		int rc = reads_of(x, r, i, box);

		if (rc != 0) {
			return rc;
		}
		if (box->n_read > before && st->at == HN_AT_ITER &&
		    !is_inside(x, (int32_t)r, st->at_stage, st->at_iter)) {
			return hn_fail(
				x->err, HONE_E_INVALID,
				"stage %u (%s): attached at loop %d of %s, but its "
				"consumer %s is not inside that loop",
				i, name_of(x, (int32_t)i), st->at_iter,
				name_of(x, st->at_stage), name_of(x, (int32_t)r));
		}
	}
	return 0;
}

static int check_attachment(const struct infer *x, uint32_t i, bool is_arg,
			    uint32_t n_read)
{
	const char *why = is_arg	? "it is an argument of the kernel"
			  : n_read == 0 ? "nothing reads it"
					: NULL;

	if (x->s->stage[i]->at != HN_AT_ITER || why == NULL) {
		return 0;
	}
	return hn_fail(x->err, HONE_E_INVALID, "stage %u (%s): can not be attached: %s",
		       i, name_of(x, (int32_t)i), why);
}

/* What is needed of each axis of stage i. */
static int stage_region(struct infer *x, uint32_t i, struct hn_region *region)
{
	const struct hn_op *op = x->dag->op[i];
	bool is_arg = hn_dag_arg_of(x->dag, (int32_t)i) >= 0;
	struct box box = { .n_dim = op->n_dim };

	if (x->s->stage[i]->at == HN_AT_ITER && !attachment_is_sane(x, i)) {
		return hn_fail(x->err, HONE_E_INVALID,
			       "stage %u (%s): attached where there is no loop", i,
			       op->name);
	}
	int rc = 0;

	if (!is_arg) {
		hn_scope_fix_loops(x->s, (int32_t)i, x->first_loop, x->fixed);
		rc = collect(x, i, &box);
	}
	if (rc == 0) {
		rc = check_attachment(x, i, is_arg, box.n_read);
	}
	if (rc != 0) {
		return rc;
	}
	for (uint32_t k = 0; k < n_axis(op); k++) {
		bool all = k >= op->n_spatial || is_arg || box.n_read == 0 || box.all[k];

		region[k] = side_region(x, &op->axis[k], all,
					all ? (struct hn_interval){ 0 } : box.side[k]);
	}
	return 0;
}

static void add_guard(struct infer *x, struct hn_stage_loops *loops, enum hn_expr_op op,
		      const struct hn_expr *v, const struct hn_expr *limit)
{
	const struct hn_expr *g = hn_simplify(hn_expr_binary(op, v, limit, x->a), x->loop,
					      x->n_slot, x->a);

	if (g->op != HN_EXPR_INT || g->u.i == 0) {
		loops->guard[loops->n_guard++] = g;
	}
}

/* Forget guards that value < end implies. */
static void drop_implied(struct hn_stage_loops *loops, const struct hn_expr *value,
			 int64_t end)
{
	uint32_t kept = 0;

	for (uint32_t g = 0; g < loops->n_guard; g++) {
		const struct hn_expr *x = loops->guard[g];
		bool implied = x->op == HN_EXPR_LT && x->arg[1]->op == HN_EXPR_INT &&
			       x->arg[1]->u.i >= end && hn_expr_equal(x->arg[0], value);

		if (!implied) {
			loops->guard[kept++] = x;
		}
	}
	loops->n_guard = kept;
}

/* Guards against a box that may stick out of the op's own domain: of axis k, whose box is of
 * the largest size where a size parameter decides its extent. */
static void domain_guards(struct infer *x, const struct hn_op *op, uint32_t k,
			  const struct hn_region *r, const struct hn_expr *value,
			  struct hn_stage_loops *loops)
{
	const struct hn_axis *axis = &op->axis[k];
	const struct hn_expr *min = hn_expr_int(axis->min, value->dtype, x->a);
	const struct hn_expr *form = hn_op_extent(op, k);
	int64_t lo = 0, hi = 0, end = axis->min + axis->extent;
	bool known = hn_expr_range(r->min, x->loop, x->n_slot, &lo, &hi);

	if (!known || lo < axis->min) {
		add_guard(x, loops, HN_EXPR_GE, value, min);
	}
	if (form != NULL) {
		drop_implied(loops, value, end);
		add_guard(x, loops, HN_EXPR_LT, value,
			  hn_expr_binary(HN_EXPR_ADD, form, min, x->a));
	} else if (!known || hi + r->extent > end) {
		add_guard(x, loops, HN_EXPR_LT, value,
			  hn_expr_int(end, value->dtype, x->a));
	}
}

/* Whether the region is the axis, no more and no less: nothing to guard. */
static bool is_whole(const struct hn_region *r, const struct hn_op *op, uint32_t k)
{
	const struct hn_axis *axis = &op->axis[k];

	return r->min->op == HN_EXPR_INT && r->min->u.i == axis->min &&
	       r->extent == axis->extent && hn_op_extent(op, k) == NULL;
}

/* Guards of stage i, its values known. */
static void find_guards(struct infer *x, uint32_t i)
{
	const struct hn_op *op = x->dag->op[i];
	struct hn_stage_bounds *b = &x->stage[i];

	for (uint32_t k = 0; k < n_axis(op); k++) {
		if (!is_whole(&b->axis[k], op, k)) {
			domain_guards(x, op, k, &b->axis[k], b->axis_value[k],
				      &x->loops[i]);
		}
	}
	b->n_guard = x->loops[i].n_guard;
	b->guard = x->loops[i].guard;
}

static int infer_stage(struct infer *x, uint32_t i)
{
	uint32_t n = n_axis(x->dag->op[i]);
	struct hn_region *region = HN_NEW_ARRAY(x->a, struct hn_region, n);
	int64_t extent[HN_DAG_MAX_ITERS];
	int rc = stage_region(x, i, region);

	if (rc != 0) {
		return rc;
	}
	for (uint32_t k = 0; k < n; k++) {
		extent[k] = region[k].extent;
	}
	rc = hn_stage_extents(x->s, i, extent, n, x->first_loop[i], x->loop, x->a,
			      &x->loops[i], x->err);
	x->stage[i].axis = region;
	x->stage[i].iter_extent = x->loops[i].iter_extent;
	if (rc != 0 || x->extents_only) {
		return rc;
	}
	rc = find_values(x, i);
	if (rc == 0) {
		find_guards(x, i);
	}
	return rc;
}

static struct infer infer_make(const struct hn_state *s, struct hn_arena *a,
			       struct hn_err *err)
{
	struct infer x = { .s = s, .a = a, .err = err };

	x.first_loop = HN_NEW_ARRAY(a, int32_t, s->n_stage);
	for (uint32_t i = 0; i < s->n_stage; i++) {
		x.first_loop[i] = (int32_t)x.n_iter_all;
		x.n_iter_all += s->stage[i]->n_iter;
	}
	x.n_slot = x.n_iter_all + HN_DAG_MAX_ITERS;
	x.loop = HN_NEW_ARRAY(a, struct hn_span, x.n_slot);
	x.fixed = HN_NEW_ARRAY(a, bool, x.n_slot);
	x.stage = HN_NEW_ARRAY(a, struct hn_stage_bounds, s->n_stage);
	x.loops = HN_NEW_ARRAY(a, struct hn_stage_loops, s->n_stage);
	x.overshoots = HN_NEW_ARRAY(a, const bool *, s->n_stage);
	x.read = HN_NEW_ARRAY(a, const struct hn_read *, s->n_stage);
	x.n_read = HN_NEW_ARRAY(a, uint32_t, s->n_stage);
	return x;
}

static int infer(struct infer *x, struct hn_bounds *ret)
{
	const struct hn_state *s = x->s;

	if (!s->concrete) {
		return hn_fail(
			x->err, HONE_E_INVALID,
			"the state still has open decisions (a sketch has no bounds)");
	}
	int rc = hn_inline_dag(s, x->a, &x->dag, x->err);

	for (uint32_t i = s->n_stage; i-- > 0 && rc == 0;) {
		if (has_loops(x, i)) {
			find_loads(x, i);
			rc = infer_stage(x, i);
		}
	}
	*ret = (struct hn_bounds){ s->n_stage, x->dag, x->first_loop, x->stage };
	return rc;
}

int hn_bounds_infer(const struct hn_state *s, struct hn_arena *a,
		    const struct hn_bounds **ret, struct hn_err *err)
{
	struct infer x = infer_make(s, a, err);
	struct hn_bounds *b = HN_NEW(a, struct hn_bounds);
	int rc = infer(&x, b);

	if (rc == 0) {
		*ret = b;
	}
	return rc;
}

int hn_bounds_extents(const struct hn_state *s, struct hn_arena *a,
		      const struct hn_state **ret, struct hn_err *err)
{
	s = hn_inline_ahead(s, s, a); /* bounds are asked for again when loops are done */

	struct infer x = infer_make(s, a, err);
	struct hn_bounds b;

	x.extents_only = true;
	int rc = infer(&x, &b);

	if (rc == 0) {
		*ret = hn_bounds_apply(s, &b, a);
	}
	return rc;
}
