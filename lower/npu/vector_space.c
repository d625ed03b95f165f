/* lower/npu/vector_space.c -- the space of dimensions that the ops of a dag go through.
 *
 * Axes are one dimension where an op reads another along its own axis.  Two axes of one op never are.
 * What is read along other axes than its own is no reason against a space: it is computed once more
 * for that reader, or, of an argument, loaded by other strides (vector_eval.c).  Extents of 1 are
 * nowhere in the space.
 *
 * With the operations known, dimensions that always go together become one, and the last is chosen:
 * the one along which most of what is loaded and stored lies in a row.
 */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "lower/npu/vector_int.h"

#define APART_LOAD 3  /* cycles for a number that does not lie in a row */
#define APART_STORE 2

struct axes { /* sets of axes, by a parent each */
	struct vec *x;
	uint32_t *first; /* [n_op + 1] number of an op's first axis */
	uint32_t *parent;
};

static uint32_t n_axis(const struct hn_op *op)
{
	return op->kind == HN_OP_PLACEHOLDER ? op->n_dim : op->n_spatial + op->n_reduce;
}

static int64_t extent(const struct hn_op *op, uint32_t d)
{
	return op->kind == HN_OP_PLACEHOLDER ? op->shape[d] : op->axis[d].extent;
}

static uint32_t find(struct axes *s, uint32_t i)
{
	while (s->parent[i] != i) {
		i = s->parent[i] = s->parent[s->parent[i]];
	}
	return i;
}

/* One dimension of both, unless two axes of one op would be the same. */
static void unite(struct axes *s, uint32_t a, uint32_t b)
{
	a = find(s, a);
	b = find(s, b);
	for (uint32_t i = 0; i < s->x->dag->n_op && a != b; i++) {
		bool has[2] = { false, false };

		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
			has[0] = has[0] || find(s, k) == a;
			has[1] = has[1] || find(s, k) == b;
		}
		if (has[0] && has[1]) {
			return;
		}
	}
	s->parent[a] = b;
}

struct reader {
	struct axes *s;
	uint32_t op;
};

static void look(const struct hn_expr *e, void *ctx)
{
	struct reader *r = ctx;
	const struct hn_op *op = r->s->x->dag->op[r->op], *from;

	if (e->op != HN_EXPR_LOAD) {
		return;
	}
	from = r->s->x->dag->op[e->ref];
	for (uint32_t d = 0; d < from->n_dim; d++) {
		const struct hn_expr *i = e->arg[d];

		if (i->op == HN_EXPR_VAR && (uint32_t)i->ref < n_axis(op) && from->shape[d] > 1 &&
		    extent(op, (uint32_t)i->ref) == from->shape[d]) {
			unite(r->s, r->s->first[r->op] + (uint32_t)i->ref, r->s->first[e->ref] + d);
		}
	}
}

static int dimensions(struct axes *s)
{
	struct vec *x = s->x;
	int8_t *dim = hn_arena_alloc(x->a, s->first[x->dag->n_op] + 1);

	memset(dim, -1, s->first[x->dag->n_op] + 1);
	for (uint32_t i = x->dag->n_op; i-- > 0;) {
		const struct hn_op *op = x->dag->op[i];

		for (uint32_t d = 0; d < n_axis(op); d++) {
			uint32_t set = find(s, s->first[i] + d);

			x->home[i][d] = -1;
			if (extent(op, d) == 1 || op->kind == HN_OP_PLACEHOLDER) {
				continue;
			}
			if (dim[set] < 0) {
				if (x->n_found == VEC_DIMS) {
					return vec_no(x, op, "the dag's axes are more dimensions than a space has", "");
				}
				dim[set] = (int8_t)x->n_found;
				x->found[x->n_found++] = extent(op, d);
			}
			x->home[i][d] = dim[set];
		}
	}
	return 0;
}

int vec_space(struct vec *x)
{
	struct axes s = { .x = x };

	x->home = hn_arena_array(x->a, x->dag->n_op, sizeof(x->home[0]));
	s.first = HN_NEW_ARRAY(x->a, uint32_t, x->dag->n_op + 1);
	for (uint32_t i = 0; i < x->dag->n_op; i++) {
		const struct hn_op *op = x->dag->op[i];

		if (op->sizes != NULL && op->extent != NULL) {
			return vec_no(x, op, "sizes that are parameters have no program for the NPU", "");
		}
		s.first[i + 1] = s.first[i] + n_axis(op);
	}
	s.parent = HN_NEW_ARRAY(x->a, uint32_t, s.first[x->dag->n_op] + 1);
	for (uint32_t k = 0; k < s.first[x->dag->n_op]; k++) {
		s.parent[k] = k;
	}
	for (uint32_t i = x->dag->n_op; i-- > 0;) {
		struct reader r = { &s, i };

		if (x->dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_op_visit(x->dag->op[i], look, &r);
		}
	}
	if (dimensions(&s) != 0) {
		return x->rc;
	}
	x->n_dim = x->n_static = x->n_found;
	for (uint32_t d = 0; d < x->n_found; d++) {
		x->dim[d] = x->found[d];
		x->to[d] = x->inner[d] = (int8_t)d;
	}
	return 0;
}

/* -- their order ------------------------------------------------------------------------ */

/* Whether p and q, just inside of it, are one wherever they are. */
static bool are_one(const struct vec *x, uint32_t p, uint32_t q)
{
	for (uint32_t i = 0; i < x->n_value; i++) {
		const struct vec_value *v = &x->v[i];

		if (vec_has(v->dims, p) != vec_has(v->dims, q) ||
		    (v->arg >= 0 && vec_has(v->dims, p) && v->stride[p] / x->dim[q] != v->stride[q]) ||
		    (v->arg >= 0 && vec_has(v->dims, p) && v->stride[p] % x->dim[q] != 0)) {
			return false;
		}
	}
	return true;
}

/* p is in q from now on.  The numbers of dimensions stay until all are found. */
static void join(struct vec *x, uint32_t p, uint32_t q)
{
	x->dim[q] = hn_mul_sat(x->dim[q], x->dim[p]);
	x->dim[p] = 1;
	for (uint32_t d = 0; d < x->n_found; d++) {
		x->to[d] = x->to[d] == (int8_t)p ? (int8_t)q : x->to[d];
	}
	for (uint32_t i = 0; i < x->n_value; i++) {
		x->v[i].dims &= ~vec_bit(p);
	}
}

/* Cycles of all transfers when rows lie along `last`. */
static double cycles(const struct vec *x, uint32_t last)
{
	double sum = 0;

	for (uint32_t i = 0; i < x->n_value; i++) {
		const struct vec_value *v = &x->v[i];
		double n = vec_points(x, v->dims);
		uint32_t d = vec_has(v->dims, last) ? last : (uint32_t)__builtin_ctz(v->dims | vec_bit(VEC_DIMS));

		if (v->arg < 0 || v->dims == 0) {
			continue;
		}
		/* without the last dimension, one alone may lie in a row */
		sum += v->stride[d] == 1 && (d == last || v->dims == vec_bit(d))
			       ? n / (double)x->dim[d] : n * (v->loaded ? APART_LOAD : APART_STORE);
	}
	for (uint32_t i = 0; i < x->n_op; i++) { /* lanes of these become one by no instruction */
		const struct vec_op *op = &x->op[i];

		if (op->what == VEC_TOTAL && vec_has(op->over, last) &&
		    (op->with == HN_NPU_I_MUL || x->v[op->to].dtype == HN_I32)) {
			sum += 1e30;
		}
	}
	return sum;
}

static uint32_t last_of(const struct vec *x)
{
	uint32_t best = 0;
	double least = HUGE_VAL;

	for (uint32_t d = 0; d < x->n_dim; d++) {
		double c = cycles(x, d);

		if (x->dim[d] > 1 && c < least) {
			least = c;
			best = d;
		}
	}
	return best;
}

/* The others as the largest tensor has them; what it has not is outside of all. */
static void sort(struct vec *x, uint32_t last, uint8_t *order, uint32_t *ret_n)
{
	const struct vec_value *largest = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_value; i++) {
		if (x->v[i].arg >= 0 &&
		    (largest == NULL || vec_points(x, x->v[i].dims) > vec_points(x, largest->dims))) {
			largest = &x->v[i];
		}
	}
	for (uint32_t d = 0; d < x->n_dim; d++) {
		int64_t s = largest != NULL && vec_has(largest->dims, d) ? largest->stride[d] : INT64_MAX;
		uint32_t k = n;

		if (d == last || x->dim[d] == 1) {
			continue;
		}
		for (; k > 0; k--) {
			uint32_t e = order[k - 1];
			int64_t t = largest != NULL && vec_has(largest->dims, e) ? largest->stride[e]
										  : INT64_MAX;

			if (t >= s) {
				break;
			}
			order[k] = order[k - 1];
		}
		order[k] = (uint8_t)d;
		n++;
	}
	if (x->n_dim > 0 && x->dim[last] > 1) {
		order[n++] = (uint8_t)last;
	}
	*ret_n = n;
}

int vec_order(struct vec *x)
{
	uint8_t order[VEC_DIMS] = { 0 };
	int64_t dim[VEC_DIMS];
	int8_t at[VEC_DIMS], inner[VEC_DIMS];
	uint32_t n;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t p = 0; p < x->n_dim; p++) {
			for (uint32_t q = 0; q < x->n_dim; q++) {
				if (p != q && x->dim[p] > 1 && x->dim[q] > 1 && are_one(x, p, q)) {
					join(x, p, q);
					more = true;
				}
			}
		}
	}
	sort(x, last_of(x), order, &n);
	memset(at, -1, sizeof(at));
	for (uint32_t k = 0; k < n; k++) {
		dim[k] = x->dim[order[k]];
		inner[k] = (int8_t)order[k];
		at[order[k]] = (int8_t)k;
	}
	memcpy(x->dim, dim, sizeof(dim));
	memcpy(x->inner, inner, sizeof(inner));
	for (uint32_t d = 0; d < x->n_found; d++) {
		x->to[d] = at[x->to[d]];
	}
	x->n_dim = n;
	x->ordered = true;
	x->n_value = x->n_op = 0;
	return 0;
}
