/* sketch/heuristic/view.c -- a stage's accesses as strides, found by trying them out.
 *
 * An index may be any integer expression (a group's floordiv, a reshape's floormod), so
 * its strides are read off its values at the first points of each axis instead of off its
 * form.  A guess that is wrong further out costs speed, not correctness.
 */
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/inline.h"
#include "sketch/heuristic/heuristic_int.h"

#define PROBES 1024 /* points tried along an axis */

struct point {
	int64_t at[HN_DAG_MAX_ITERS];
	bool unknown;
};

static int64_t value_at(const struct hn_expr *e, struct point *p);

static int64_t binary_at(const struct hn_expr *e, struct point *p)
{
	int64_t x = value_at(e->arg[0], p), y = value_at(e->arg[1], p);

	switch (e->op) {
	case HN_EXPR_ADD:
		return (int64_t)((uint64_t)x + (uint64_t)y);
	case HN_EXPR_SUB:
		return (int64_t)((uint64_t)x - (uint64_t)y);
	case HN_EXPR_MUL:
		return (int64_t)((uint64_t)x * (uint64_t)y);
	case HN_EXPR_MIN:
		return x < y ? x : y;
	case HN_EXPR_MAX:
		return x > y ? x : y;
	case HN_EXPR_FLOORDIV:
	case HN_EXPR_FLOORMOD:
		if (y > 0) {
			return e->op == HN_EXPR_FLOORDIV ? hn_floordiv(x, y)
							 : hn_floormod(x, y);
		}
		break;
	default:
		break;
	}
	p->unknown = true;
	return 0;
}

static int64_t value_at(const struct hn_expr *e, struct point *p)
{
	if (e->op == HN_EXPR_INT) {
		return e->u.i;
	}
	if (e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < HN_DAG_MAX_ITERS) {
		return p->at[e->ref];
	}
	if (e->op == HN_EXPR_CAST && e->n_arg == 1) {
		return value_at(e->arg[0], p);
	}
	if (e->n_arg == 2 && e->op != HN_EXPR_LET) {
		return binary_at(e, p);
	}
	p->unknown = true;
	return 0;
}

/* Elements from the start of the tensor. */
static int64_t offset_at(const struct hn_op *of, const struct hn_expr *load,
			 struct point *p)
{
	uint64_t offset = 0;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		offset = offset * (uint64_t)of->shape[d] +
			 (uint64_t)value_at(load->arg[d], p);
	}
	return (int64_t)offset;
}

static bool linear(const struct hn_expr *e)
{
	switch (e->op) {
	case HN_EXPR_INT:
	case HN_EXPR_VAR:
		return true;
	case HN_EXPR_ADD:
	case HN_EXPR_SUB:
		return linear(e->arg[0]) && linear(e->arg[1]);
	case HN_EXPR_MUL:
		return (linear(e->arg[0]) && e->arg[1]->op == HN_EXPR_INT) ||
		       (e->arg[0]->op == HN_EXPR_INT && linear(e->arg[1]));
	default:
		return false;
	}
}

/* How many points tell the strides: two where no index is other than a sum. */
static int64_t probes_of(const struct hn_expr *load)
{
	for (uint32_t d = 0; d < load->n_arg; d++) {
		if (!linear(load->arg[d])) {
			return PROBES;
		}
	}
	return 2;
}

/* The stride along the axis, and for how many points from the first on it holds. */
static int64_t stride_of(const struct hn_op *of, const struct hn_expr *load,
			 uint32_t axis, int64_t extent, int64_t *ret_run)
{
	struct point p = { { 0 }, false };
	int64_t most = probes_of(load), n = extent < most ? extent : most;
	int64_t first = offset_at(of, load, &p), stride = 0;

	for (int64_t i = 1; i < n; i++) {
		p.at[axis] = i;
		int64_t step = offset_at(of, load, &p) - first;

		if (i == 1) {
			stride = step;
		} else if (step != stride * i) {
			*ret_run = i;
			return stride;
		}
	}
	*ret_run = p.unknown ? 1 : extent;
	return stride;
}

struct find_axis {
	uint32_t axis;
	bool found;
};

static void find_visit(const struct hn_expr *e, void *ctx)
{
	struct find_axis *f = ctx;

	f->found |= e->op == HN_EXPR_VAR && e->ref == (int32_t)f->axis;
}

bool hn_heuristic_uses(const struct hn_expr *e, uint32_t axis)
{
	struct find_axis f = { axis, false };

	hn_expr_visit(e, find_visit, &f);
	return f.found;
}

bool hn_heuristic_slope(const struct hn_expr *e, uint32_t axis, int64_t *ret)
{
	struct point p = { { 0 }, false };
	int64_t first = value_at(e, &p);

	p.at[axis] = 1;
	*ret = value_at(e, &p) - first;
	return !p.unknown;
}

int32_t hn_heuristic_dimension(const struct hn_heuristic_read *r, uint32_t axis)
{
	int32_t found = -1, slot;
	int64_t shift;

	for (uint32_t d = 0; d < r->load->n_arg; d++) {
		const struct hn_expr *x = r->load->arg[d];

		if (!hn_heuristic_uses(x, axis)) {
			continue;
		}
		if (found >= 0 || !hn_access_const_shift(x, &slot, &shift) ||
		    shift != 0) {
			return -1;
		}
		found = (int32_t)d;
	}
	return found;
}

struct gather {
	struct hn_heuristic_view *v;
	uint32_t room;
};

static void gather_visit(const struct hn_expr *e, void *ctx)
{
	struct gather *gather = ctx;
	struct hn_heuristic_view *v = gather->v;

	if (e->op == HN_EXPR_LOAD) {
		if (v->n_read < gather->room) {
			v->read[v->n_read].load = e;
			v->read[v->n_read].producer = e->ref;
		}
		v->n_read++;
	}
}

static void gather_reads(struct gather *gather)
{
	const struct hn_op *op = gather->v->op;

	gather->v->n_read = 0;
	hn_op_visit(op, gather_visit, gather);
}

static void measure_read(const struct hn_heuristic_job *g, const struct hn_heuristic_view *v,
			 struct hn_heuristic_read *r)
{
	const struct hn_op *of = hn_stage_op(g->c.s, r->producer);

	r->uses = 0;
	for (uint32_t a = 0; a < v->n_axis; a++) {
		bool used = false;

		for (uint32_t d = 0; d < r->load->n_arg; d++) {
			used = used || hn_heuristic_uses(r->load->arg[d], a);
		}
		r->stride[a] = 0;
		r->run[a] = v->extent[a];
		if (used && v->extent[a] > 1) {
			r->uses |= UINT64_C(1) << a;
			r->stride[a] = stride_of(of, r->load, a, v->extent[a], &r->run[a]);
			if (r->run[a] < v->extent[a] && r->run[a] < v->lanes) {
				r->stride[a] = HN_HEURISTIC_ODD;
			}
		}
	}
}

static void measure_op(const struct hn_heuristic_job *g, struct hn_heuristic_view *v)
{
	const struct hn_op *op = v->op;
	int64_t bytes = 1, stride = 1;

	v->n_spatial = op->n_spatial;
	v->n_axis = op->n_spatial + op->n_reduce;
	v->spatial = v->reduce = 1;
	for (uint32_t a = v->n_axis; a-- > 0;) {
		bool spatial = a < v->n_spatial;
		int64_t *points = spatial ? &v->spatial : &v->reduce;

		v->extent[a] = op->axis[a].extent;
		v->out_stride[a] = spatial ? stride : 0;
		stride = spatial ? hn_mul_sat(stride, v->extent[a]) : stride;
		*points = hn_mul_sat(*points, v->extent[a]);
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		int64_t b = hn_dtype_bytes((enum hn_dtype)op->dtype[k]);

		bytes = b > bytes ? b : bytes;
	}
	int64_t lanes = g->target->param[HN_PARAM_VECTOR_UNIT_BYTES] / bytes;

	v->lanes = lanes > 1 ? lanes : 1;
}

static struct hn_inlined *inlined(struct hn_heuristic_job *g)
{
	if (!g->inlined) {
		g->inlined = hn_inlined_new(g->c.s, g->c.a);
	}
	return g->inlined;
}

const struct hn_op *hn_heuristic_op(struct hn_heuristic_job *g, int32_t stage)
{
	const struct hn_op *op = g->c.failed ? NULL : hn_inlined_op(inlined(g), stage);

	g->c.failed = !op;
	return op;
}

bool hn_heuristic_view(struct hn_heuristic_job *g, int32_t stage, struct hn_heuristic_view *ret)
{
	*ret = (struct hn_heuristic_view){ .stage = stage, .op = hn_heuristic_op(g, stage) };
	struct gather gather = { ret, 0 };

	if (!ret->op) {
		return false;
	}
	measure_op(g, ret);
	hn_heuristic_find_phases(ret);
	gather_reads(&gather);
	gather.room = ret->n_read;
	ret->read = HN_NEW_ARRAY(g->c.a, struct hn_heuristic_read, gather.room);
	gather_reads(&gather);
	for (uint32_t i = 0; i < ret->n_read; i++) {
		measure_read(g, ret, &ret->read[i]);
	}
	return true;
}

uint32_t hn_heuristic_readers(struct hn_heuristic_job *g, int32_t stage, int32_t *ret,
			  uint32_t n_max)
{
	const struct hn_reader *reader;
	uint32_t n = g->c.failed ? 0 : hn_inlined_readers(inlined(g), stage, &reader);

	for (uint32_t i = 0; i < n && i < n_max; i++) {
		ret[i] = reader[i].stage;
	}
	return n;
}
