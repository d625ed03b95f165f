/* costmodel/ansor_access.c -- what a store's accesses touch, loop by loop: bytes, cache lines,
 * reuse, and the operations for each byte.
 *
 * Touched is a box: along each dimension from the least index to the greatest, over all accesses
 * of the statement to that buffer, while the loops outside stand at 0.
 */
#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "costmodel/ansor_int.h"

/* The innermost loop that leaves the buffer in place, or in which an earlier store touches it. */
struct reuse {
	enum hn_ansor_column kind; /* of slot 0 */
	double iter, bytes, count;
};

struct slot { /* the numbers of one buffer */
	const struct hn_ansor_access *access;
	double bytes, unique_bytes, lines, unique_lines, stride;
	struct reuse reuse;
};

static bool uses(const struct hn_ansor_access *a, int32_t loop)
{
	for (uint32_t i = 0; i < a->n_index; i++) {
		for (uint32_t d = 0; d < a->n_dim; d++) {
			if (hn_expr_uses(a->index[i][d], loop)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_data(const struct hn_expr *e)
{
	bool data = e->op == HN_EXPR_LOAD;

	for (uint32_t i = 0; i < e->n_arg && !data; i++) {
		data = is_data(e->arg[i]);
	}
	return data;
}

/* The box while the loops whose span is not 0 run; the whole tensor where an index depends on
 * data. */
static void touch(const struct hn_ansor_nest *nest, struct hn_ansor_access *a,
		  const struct hn_span *span)
{
	a->touched = 1;
	for (uint32_t d = 0; d < a->n_dim; d++) {
		int64_t least = INT64_MAX, most = INT64_MIN, lo, hi;

		for (uint32_t i = 0; i < a->n_index; i++) {
			if (is_data(a->index[i][d]) ||
			    !hn_expr_range(a->index[i][d], span, nest->tree->n_loop, &lo, &hi)) {
				lo = 0;
				hi = a->shape[d] - 1;
			}
			least = lo < least ? lo : least;
			most = hi > most ? hi : most;
		}
		a->region[d] = (double)most - (double)least + 1;
		a->touched *= a->region[d];
	}
}

static void remember(struct hn_ansor_nest *nest, struct hn_ansor_loop *of,
		     const struct hn_ansor_access *a)
{
	struct hn_ansor_touch *t = of->touch;

	while (t && (t->op != a->op || t->out != a->out)) {
		t = t->next;
	}
	if (!t) {
		t = HN_NEW(nest->a, struct hn_ansor_touch);
		*t = (struct hn_ansor_touch){.op = a->op,
					     .out = a->out,
					     .first = a->touched,
					     .least = a->touched,
					     .next = of->touch};
		of->touch = t;
	}
	t->n_store++;
	t->least = fmin(t->least, a->touched);
	of->bytes += a->touched * (double)a->elem_bytes;
	of->elem_bytes += (double)a->elem_bytes;
}

/* Go outwards, loop by loop: what all accesses touch together goes to bytes[] by depth. */
static void touch_all(struct hn_ansor_nest *nest, struct hn_ansor_store *s, double *bytes)
{
	uint32_t n_slot = nest->tree->n_loop;
	struct hn_span *span = HN_NEW_ARRAY(nest->a, struct hn_span, n_slot);

	for (uint32_t i = 0; i < s->n; i++) {
		struct hn_ansor_access *a = &s->access[i];
		bool *moves = HN_NEW_ARRAY(nest->a, bool, nest->n);

		for (uint32_t l = 0; l < nest->n; l++) {
			moves[l] = uses(a, nest->loop[l]->loop);
		}
		a->moves = moves;
		a->region = HN_NEW_ARRAY(nest->a, double, a->n_dim);
		touch(nest, a, span);
	}
	for (uint32_t l = nest->n; l-- > 0;) {
		int32_t id = nest->loop[l]->loop;

		span[id] = nest->span[id];
		bytes[l] = 0;
		for (uint32_t i = 0; i < s->n; i++) {
			struct hn_ansor_access *a = &s->access[i];

			if (a->moves[l]) {
				touch(nest, a, span);
			}
			remember(nest, &nest->of[id], a);
			bytes[l] += a->touched * (double)a->elem_bytes;
		}
	}
}

/* What the loop is multiplied by in e, which names it. */
static int64_t factor(const struct hn_expr *e, int32_t loop)
{
	uint32_t in = e->n_arg;

	while (in > 0 && !hn_expr_uses(e->arg[in - 1], loop)) {
		in--;
	}
	if (in == 0) {
		return 1;
	}
	const struct hn_expr *other = e->n_arg == 2 ? e->arg[2 - in] : NULL;
	bool scaled = e->op == HN_EXPR_MUL && other->op == HN_EXPR_INT;

	return (scaled ? other->u.i : 1) * factor(e->arg[in - 1], loop);
}

/* Elements that one iteration of the loop moves the access by, in the innermost dimension that it
 * moves; the least of all indices. */
static double stride_of(const struct hn_ansor_access *a, int32_t loop)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < a->n_index; i++) {
		double row = 1;

		for (uint32_t d = a->n_dim; d-- > 0;) {
			if (hn_expr_uses(a->index[i][d], loop)) {
				least = fmin(least, row * fabs((double)factor(a->index[i][d],
									      loop)));
				break;
			}
			row *= (double)a->shape[d];
		}
	}
	return least;
}

static double lines_of(const struct hn_ansor_nest *nest, const struct hn_ansor_access *a,
		       double *ret_stride)
{
	bool defects = nest->defects == HN_ANSOR_DEFECTS;
	double still = 1, stride = a->n_dim == 0;
	uint32_t l = nest->n;

	while (stride == 0 && l-- > 0) {
		if (a->moves[l]) {
			stride = stride_of(a, nest->loop[l]->loop);
		} else {
			still *= (double)nest->loop[defects ? nest->n - 1 : l]->extent;
		}
	}
	*ret_stride = l + 1 >= nest->n ? stride : 0;
	return fmax(1, nest->points / still *
			       fmin(1, stride * (double)a->elem_bytes / nest->line_bytes));
}

/* Of the buffer of access a; region: how much of each dimension is touched. */
static double unique_lines_of(const struct hn_ansor_nest *nest, const struct hn_ansor_access *a,
			      const struct hn_ansor_access *region, double unique_bytes)
{
	uint32_t d = a->n_dim < region->n_dim ? a->n_dim : region->n_dim;
	double run = (double)a->elem_bytes;

	while (d > 0 && region->region[d - 1] != (double)a->shape[d - 1]) {
		d--;
	}
	run *= d > 0 ? (double)a->shape[d - 1] : 1;
	return fmax(1, unique_bytes / fmin(run, nest->line_bytes));
}

static const struct hn_ansor_touch *touch_of(const struct hn_ansor_loop *of,
					     const struct hn_ansor_access *a)
{
	const struct hn_ansor_touch *t = of->touch;

	while (t->op != a->op || t->out != a->out) {
		t = t->next;
	}
	return t;
}

static struct reuse reuse_of(const struct hn_ansor_nest *nest, const struct hn_ansor_access *a)
{
	double iter = 1, bytes = -1;

	for (uint32_t l = nest->n; l-- > 0;) {
		const struct hn_ansor_loop *of = &nest->of[nest->loop[l]->loop];
		double extent = (double)nest->loop[l]->extent;

		if (!a->moves[l]) {
			return (struct reuse){HN_ANSOR_B0_reuse_type_kLoopMultipleRead, iter,
					      bytes < 0 ? of->elem_bytes : bytes, extent};
		}
		iter *= extent;
		bytes = of->bytes;
		const struct hn_ansor_touch *t = touch_of(of, a);
		if (t->n_store > 1) {
			return (struct reuse){HN_ANSOR_B0_reuse_type_kSerialMultipleReadWrite,
					      t->least / extent, bytes / extent, t->n_store - 1};
		}
	}
	return (struct reuse){HN_ANSOR_B0_reuse_type_kNoReuse, 0, 0, 0};
}

static void fill(const struct hn_ansor_nest *nest, const struct hn_ansor_store *s,
		 const struct hn_ansor_access *a, struct slot *to)
{
	const struct hn_ansor_access *region =
		nest->defects == HN_ANSOR_DEFECTS ? &s->access[0] : a;
	double elem = (double)a->elem_bytes;

	*to = (struct slot){.access = a, .bytes = nest->points * elem, .unique_bytes = elem};
	to->lines = to->unique_lines = 1;
	if (nest->n > 0) {
		to->unique_bytes *= touch_of(&nest->of[nest->loop[0]->loop], a)->first;
		to->lines = lines_of(nest, a, &to->stride);
		to->unique_lines = unique_lines_of(nest, a, region, to->unique_bytes);
	}
	to->reuse = reuse_of(nest, a);
}

static void put(const struct slot *from, double *x)
{
	const struct reuse *r = &from->reuse;
	double part = r->count > 0.5 ? 1 / r->count : 2;

	x[HN_ANSOR_B0_acc_type_kRead + from->access->kind] = 1;
	x[HN_ANSOR_B0_bytes] = from->bytes;
	x[HN_ANSOR_B0_unique_bytes] = from->unique_bytes;
	x[HN_ANSOR_B0_lines] = from->lines;
	x[HN_ANSOR_B0_unique_lines] = from->unique_lines;
	x[r->kind] = 1;
	x[HN_ANSOR_B0_reuse_dis_iter] = r->iter;
	x[HN_ANSOR_B0_reuse_dis_bytes] = r->bytes;
	x[HN_ANSOR_B0_reuse_ct] = r->count;
	x[HN_ANSOR_B0_bytes_d_reuse_ct] = from->bytes * part;
	x[HN_ANSOR_B0_unique_bytes_d_reuse_ct] = from->unique_bytes * part;
	x[HN_ANSOR_B0_lines_d_reuse_ct] = from->lines * part;
	x[HN_ANSOR_B0_unique_lines_d_reuse_ct] = from->unique_lines * part;
	x[HN_ANSOR_B0_stride] = from->stride;
}

static bool before(const struct slot *x, const struct slot *y)
{
	return x->lines > y->lines || (x->lines == y->lines && x->bytes > y->bytes);
}

/* Those with the most lines, then bytes, each in a slot; of equals what is read last comes first,
 * the store last. */
static void put_slots(const struct hn_ansor_nest *nest, const struct hn_ansor_store *s, double *x)
{
	struct slot slot[HN_ANSOR_N_SLOT + 1];
	uint32_t n = 0;

	for (uint32_t i = s->n; i-- > 0;) {
		struct slot now;
		uint32_t at = n;

		fill(nest, s, &s->access[i], &now);
		for (; at > 0 && before(&now, &slot[at - 1]); at--) {
			slot[at] = slot[at - 1];
		}
		slot[at] = now;
		n += n < HN_ANSOR_N_SLOT;
	}
	for (uint32_t i = 0; i < n; i++) {
		put(&slot[i], x + i * HN_ANSOR_SLOT);
	}
}

/* Operations for each byte, as a function of the operations that the loops inwards make: straight
 * between one loop and the next, constant inside the innermost. */
static void put_curve(const struct hn_ansor_nest *nest, const struct hn_ansor_store *s,
		      const double *bytes, double *x)
{
	double ops[HN_ANSOR_MAX_LOOPS], n_op = 0;

	for (int i = HN_ANSOR_float_mad; i <= HN_ANSOR_float_otherfunc; i++) {
		n_op += s->count[i];
	}
	for (uint32_t l = nest->n; l-- > 0;) {
		ops[l] = n_op *= (double)nest->loop[l]->extent;
	}
	for (uint32_t i = 0, l = nest->n; i < 10 && nest->n > 0 && n_op > 0; i++) {
		double want = n_op * (i + 1) / 10;

		l -= i == 0;
		while (l > 0 && ops[l] < want * (1 - 1e-6)) {
			l--;
		}
		double to = ops[l] / bytes[l];
		x[HN_ANSOR_arith_intensity_curve_0 + i] = to;
		if (l + 1 < nest->n) {
			double from = ops[l + 1] / bytes[l + 1];
			x[HN_ANSOR_arith_intensity_curve_0 + i] =
				from + (to - from) * (want - ops[l + 1]) / (ops[l] - ops[l + 1]);
		}
	}
}

void hn_ansor_store_measure(struct hn_ansor_nest *nest, struct hn_ansor_store *s, double *x)
{
	double bytes[HN_ANSOR_MAX_LOOPS];

	touch_all(nest, s, bytes);
	put_slots(nest, s, x);
	put_curve(nest, s, bytes, x);
}
