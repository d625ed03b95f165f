/* loopstate/dag/access.c -- see access.h.
 *
 * Everything is computed once, from the loads in the bodies.  The order of producers is
 * the order of first load in a left-to-right walk with inner loads first, which is also
 * the order Ansor numbers stages by.
 */
#include "loopstate/dag/access.h"

#include <string.h>

#include "loopstate/dag/dag_priv.h"

bool hn_access_const_shift(const struct hn_expr *index, int32_t *ret_slot,
			   int64_t *ret_shift)
{
	const struct hn_expr *var = index;
	int64_t shift = 0;

	if (index->op == HN_EXPR_ADD || index->op == HN_EXPR_SUB) {
		bool swap = index->op == HN_EXPR_ADD && index->arg[0]->op == HN_EXPR_INT;
		const struct hn_expr *c = index->arg[swap ? 0 : 1];

		var = index->arg[swap ? 1 : 0];
		if (c->op != HN_EXPR_INT) {
			return false;
		}
		shift = index->op == HN_EXPR_SUB ? -c->u.i : c->u.i;
	}
	if (var->op != HN_EXPR_VAR || var->ref < 0 || var->ref >= HN_SLOT_LHS) {
		return false;
	}
	*ret_slot = var->ref;
	*ret_shift = shift;
	return true;
}

struct gather {
	struct hn_read *read;
	uint32_t room; /* reads beyond are only counted */
	uint32_t n;
	bool branch, expensive;
};

static void gather_expr(const struct hn_expr *e, struct gather *g)
{
	for (uint32_t i = 0; i < e->n_arg; i++) {
		gather_expr(e->arg[i], g);
	}
	if (e->op == HN_EXPR_LOAD) {
		if (g->n < g->room) {
			g->read[g->n] = (struct hn_read){ e->ref, e->out, e };
		}
		g->n++;
	}
	g->branch |= e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF;
	g->expensive |= e->op == HN_EXPR_CALL && e->ref == HN_FN_exp;
}

static void gather_owned(const struct hn_expr *e, const char *owner, uint32_t k,
			 void *ctx)
{
	(void)owner;
	(void)k;
	gather_expr(e, ctx);
}

#define FEW_READS 32

struct hn_op_access hn_access_reads(const struct hn_op *op, struct hn_arena *a)
{
	struct hn_op_access acc = { 0 };
	struct hn_read few[FEW_READS];
	struct gather g = { .read = few, .room = FEW_READS };

	hn_dag_op_exprs(op, gather_owned, &g);
	struct hn_read *read = HN_NEW_ARRAY(a, struct hn_read, g.n);

	if (g.n > FEW_READS) {
		g = (struct gather){ .read = read, .room = g.n };
		hn_dag_op_exprs(op, gather_owned, &g);
	} else if (g.n > 0) {
		memcpy(read, few, g.n * sizeof(*read));
	}
	acc.has_branch = g.branch;
	acc.has_expensive = g.expensive;
	acc.n_read = g.n;
	acc.read = read;

	int32_t *producer = HN_NEW_ARRAY(a, int32_t, g.n);

	for (uint32_t i = 0; i < g.n; i++) {
		uint32_t j = 0;

		while (j < acc.n_producer && producer[j] != read[i].producer) {
			j++;
		}
		if (j == acc.n_producer) {
			producer[acc.n_producer++] = read[i].producer;
		}
	}
	acc.producer = producer;
	return acc;
}

struct simplicity {
	bool simple, missing, duplicated, same_order;
};

/* How one load uses the op's spatial axes. */
static struct simplicity judge(const struct hn_op *op, const struct hn_expr *load)
{
	struct simplicity s = { .simple = true, .same_order = true };
	uint32_t used[HN_DAG_MAX_ITERS] = { 0 };
	int32_t slot, last = -1;
	int64_t shift;

	for (uint32_t d = 0; d < load->n_arg; d++) {
		if (load->arg[d]->op == HN_EXPR_INT) {
			continue;
		}
		if (!hn_access_const_shift(load->arg[d], &slot, &shift) ||
		    (uint32_t)slot >= op->n_spatial) {
			s.simple = false;
			return s;
		}
		used[slot]++;
		s.same_order = s.same_order && slot >= last;
		last = slot;
	}
	for (uint32_t i = 0; i < op->n_spatial; i++) {
		s.missing = s.missing || used[i] == 0;
		s.duplicated = s.duplicated || used[i] > 1;
	}
	return s;
}

static void note_var(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_VAR && e->ref >= 0 && e->ref < HN_DAG_MAX_ITERS) {
		((bool *)ctx)[e->ref] = true;
	}
}

/* Whether a spatial axis longer than 1 is used in no index of producer p. */
static bool misses_axis(const struct hn_op *op, const struct hn_op_access *acc, int32_t p)
{
	bool used[HN_DAG_MAX_ITERS] = { false };

	for (uint32_t i = 0; i < acc->n_read; i++) {
		for (uint32_t d = 0;
		     acc->read[i].producer == p && d < acc->read[i].load->n_arg; d++) {
			hn_expr_visit(acc->read[i].load->arg[d], note_var, used);
		}
	}
	for (uint32_t i = 0; i < op->n_spatial; i++) {
		if (!used[i] && op->axis[i].extent > 1) {
			return true;
		}
	}
	return false;
}

static bool reuses_data(const struct hn_op *op, const struct hn_op_access *acc)
{
	uint32_t n_missing = 0;

	if (hn_op_attr(op, "auto_scheduler_simplify_const_tensor_indices") != NULL) {
		return false;
	}
	for (uint32_t i = 0; i < acc->n_producer; i++) {
		n_missing += misses_axis(op, acc, acc->producer[i]);
	}
	return n_missing >= 2 || (n_missing >= 1 && op->n_reduce > 0);
}

static void classify(const struct hn_op *op, struct hn_op_access *acc)
{
	bool in_order = true;

	acc->simple_access = true;
	for (uint32_t i = 0; i < acc->n_read; i++) {
		struct simplicity s = judge(op, acc->read[i].load);

		acc->simple_access = acc->simple_access && s.simple;
		in_order = in_order && s.simple && !s.duplicated && s.same_order;
	}
	if (op->kind == HN_OP_PLACEHOLDER) {
		return;
	}
	acc->strictly_inlineable =
		acc->n_read == 0 || (in_order && !acc->has_branch && !acc->has_expensive);
	acc->needs_multi_level_tiling = reuses_data(op, acc);
}

/* Who reads whom, the other way round: in ascending order, for consumers are gone through so. */
static void find_consumers(struct hn_op_access *all, uint32_t n_op, struct hn_arena *a)
{
	int32_t **consumer = HN_NEW_ARRAY(a, int32_t *, n_op);

	for (uint32_t c = 0; c < n_op; c++) {
		for (uint32_t k = 0; k < all[c].n_producer; k++) {
			all[all[c].producer[k]].n_consumer++;
		}
	}
	for (uint32_t i = 0; i < n_op; i++) {
		all[i].consumer = consumer[i] = HN_NEW_ARRAY(a, int32_t, all[i].n_consumer);
	}
	for (uint32_t c = 0; c < n_op; c++) {
		for (uint32_t k = 0; k < all[c].n_producer; k++) {
			*consumer[all[c].producer[k]]++ = (int32_t)c;
		}
	}
}

static const struct hn_access *finish(struct hn_op_access *acc, uint32_t n_op,
				      struct hn_arena *a)
{
	struct hn_access *ret = HN_NEW(a, struct hn_access);

	find_consumers(acc, n_op, a);
	for (uint32_t i = 0; i < n_op; i++) {
		acc[i].output = acc[i].n_consumer == 0;
	}
	ret->n_op = n_op;
	ret->op = acc;
	return ret;
}

const struct hn_access *hn_access_analyze(const struct hn_dag *dag, struct hn_arena *a)
{
	struct hn_op_access *acc = HN_NEW_ARRAY(a, struct hn_op_access, dag->n_op);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		acc[i] = hn_access_reads(dag->op[i], a);
		classify(dag->op[i], &acc[i]);
	}
	return finish(acc, dag->n_op, a);
}

const struct hn_access *hn_access_extend(const struct hn_dag *before,
					 const struct hn_access *known,
					 const struct hn_dag *dag, int32_t at,
					 struct hn_arena *a)
{
	struct hn_op_access *acc = HN_NEW_ARRAY(a, struct hn_op_access, dag->n_op);

	for (int32_t i = 0; i < (int32_t)dag->n_op; i++) {
		int32_t old = i - (i > at);

		if (i != at && dag->op[i] == before->op[old]) {
			acc[i] = known->op[old];
			acc[i].n_consumer = 0;
			continue;
		}
		acc[i] = hn_access_reads(dag->op[i], a);
		classify(dag->op[i], &acc[i]);
	}
	return finish(acc, dag->n_op, a);
}

uint32_t hn_access_common_direct(const struct hn_op *from, int32_t p, const struct hn_op *to,
				 const struct hn_op_access *reader, bool ones)
{
	int32_t slot;
	int64_t shift;

	for (uint32_t d = 0; d < from->n_dim && d < to->n_spatial; d++) {
		bool in_step = from->shape[d] == to->shape[d];
		bool one = ones && from->shape[d] == 1;

		for (uint32_t i = 0; in_step && !one && i < reader->n_read; i++) {
			in_step = reader->read[i].producer != p ||
				  (hn_access_const_shift(reader->read[i].load->arg[d],
							 &slot, &shift) &&
				   slot == (int32_t)d);
		}
		if (!in_step) {
			return d;
		}
	}
	return from->n_dim < to->n_spatial ? from->n_dim : to->n_spatial;
}

/* The least over all paths of the least along a path, found backwards from the target:
 * common[i] is that of op i, or -1 when the target cannot be reached. */
uint32_t hn_access_common_outer(const struct hn_dag *dag, const struct hn_access *acc,
				int32_t op, int32_t target)
{
	int64_t common[HN_DAG_MAX_OPS];

	if (op > target) {
		return 0;
	}
	common[target] = HN_DAG_MAX_RANK;
	for (int32_t i = target - 1; i >= op; i--) {
		common[i] = -1;
		for (uint32_t k = 0; k < acc->op[i].n_consumer; k++) {
			int32_t c = acc->op[i].consumer[k];

			if (c > target || common[c] < 0) {
				continue;
			}
			int64_t here = hn_access_common_direct(dag->op[i], i, dag->op[c],
							       &acc->op[c], /* ones= */ false);

			here = here < common[c] ? here : common[c];
			common[i] = common[i] < 0 || here < common[i] ? here : common[i];
		}
	}
	int64_t own = dag->op[op]->n_dim;

	return common[op] < 0 ? 0 : (uint32_t)(common[op] < own ? common[op] : own);
}

static bool same_shape(const struct hn_op *x, const struct hn_op *y)
{
	return x->n_dim == y->n_dim &&
	       (x->n_dim == 0 ||
		memcmp(x->shape, y->shape, x->n_dim * sizeof(*x->shape)) == 0);
}

bool hn_access_elementwise_match(const struct hn_dag *dag, const struct hn_access *acc,
				 int32_t op, int32_t target)
{
	while (op != target) {
		if (acc->op[op].n_consumer != 1) {
			return false;
		}
		int32_t next = acc->op[op].consumer[0];
		const struct hn_op_access *reader = &acc->op[next];

		if (!same_shape(dag->op[op], dag->op[next])) {
			return false;
		}
		for (uint32_t i = 0; i < reader->n_read; i++) {
			struct simplicity s = judge(dag->op[next], reader->read[i].load);

			if (reader->read[i].producer == op &&
			    (!s.simple || s.missing || s.duplicated || !s.same_order)) {
				return false;
			}
		}
		op = next;
	}
	return true;
}
