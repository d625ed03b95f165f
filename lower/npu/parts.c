/* lower/npu/parts.c -- reductions to fewer results than there are cores, as programs one after the other.
 *
 * Each long reduction is taken apart (rfactor): parts of its terms are reduced by themselves, and cores
 * share these.  The parts' results go to scratch.  When all have met, what needs the whole is made of
 * them, by each core that needs it.  So a softmax of one row is three programs: the greatest of parts;
 * from these the greatest, and sums of parts; from these the sum, and the results.
 */
#include <string.h>

#include "base/arith.h"
#include "loopstate/state/derive.h"
#include "lower/npu/parts.h"

#define MOST_LEVELS 8
#define FEWEST 1024 /* terms of a part: fewer take less than a meeting does */

struct parts {
	const struct hn_dag *dag; /* with the reductions taken apart */
	bool *apart;		  /* [n_op] its results go to scratch */
	uint8_t *level;		  /* [n_op] how many meetings are before what it is made of */
	struct hn_arena *a;
};

/* -- reductions taken apart ------------------------------------------------------------- */

/* How many parts of the axis, `most` at most, each as long; 1: none. */
static int64_t parts_of(int64_t extent, int64_t most)
{
	int64_t n = most < extent ? most : extent;

	while (n > 1 && extent % n != 0) {
		n--;
	}
	return n;
}

/* The reduced axis with the most parts, the outermost of several; -1: none has any.  Cores get so many of them
 * that they do not write to the same block. */
static int32_t axis_of(const struct hn_op *op, int64_t most, int64_t *ret_parts)
{
	int64_t terms = 1, per = HN_NPU_BLOCK / hn_gcd(HN_NPU_BLOCK, hn_op_bytes(op, 0) % HN_NPU_BLOCK + HN_NPU_BLOCK);
	int32_t best = -1;

	*ret_parts = 1;
	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		terms = hn_mul_sat(terms, op->axis[i].extent);
	}
	most = per * (terms / FEWEST < most ? terms / FEWEST : most);
	for (uint32_t i = op->n_spatial; i < op->n_spatial + op->n_reduce; i++) {
		int64_t n = parts_of(op->axis[i].extent, most);

		if (n > *ret_parts) {
			*ret_parts = n;
			best = (int32_t)i;
		}
	}
	return best;
}

static bool is_reduction(const struct hn_op *op)
{
	return op->reduce != NULL && op->reduce->n == 1 && op->reduce->any_order && op->reduce->condition == NULL &&
	       op->reduce->kind != HN_COMBINE_GENERAL;
}

/* Of the i-th op of the state's dag; true where it was, and it is the new i-th one then. */
static bool take_apart(const struct hn_state **s, int32_t i, int64_t most, struct hn_arena *a)
{
	const struct hn_op *op = (*s)->dag->op[i];
	const struct hn_state *split, *made;
	int64_t n = 1, len;
	int32_t axis = is_reduction(op) ? axis_of(op, most, &n) : -1;

	if (axis < 0) {
		return false;
	}
	len = op->axis[axis].extent / n;
	if (hn_split(*s, i, axis, &len, 1, true, a, &split, NULL) != 0 ||
	    hn_rfactor(split, i, axis, 0, a, &made, NULL) != 0) {
		return false;
	}
	*s = made;
	return true;
}

/* -- programs --------------------------------------------------------------------------- */

struct closure { /* what some ops are made of, up to arguments and scratch */
	const struct parts *x;
	bool *has; /* [n_op] */
	uint8_t level;
	int32_t *at; /* [n_op] in the part's dag */
};

static void see(const struct hn_expr *e, void *ctx)
{
	struct closure *c = ctx;

	if (e->op == HN_EXPR_LOAD) {
		c->has[e->ref] = true;
	}
}

struct levels {
	const struct parts *x;
	uint8_t level;
};

static void rise(const struct hn_expr *e, void *ctx)
{
	struct levels *l = ctx;

	if (e->op == HN_EXPR_LOAD) {
		uint8_t level = (uint8_t)(l->x->level[e->ref] + l->x->apart[e->ref]);

		l->level = level > l->level ? level : l->level;
	}
}

static uint8_t find_levels(struct parts *x)
{
	uint8_t most = 0;

	for (uint32_t i = 0; i < x->dag->n_op; i++) {
		struct levels l = { x, 0 };

		if (x->dag->op[i]->kind == HN_OP_COMPUTE) {
			hn_op_visit(x->dag->op[i], rise, &l);
		}
		x->level[i] = l.level;
		most = l.level > most ? l.level : most;
		if (most >= MOST_LEVELS) {
			break;
		}
	}
	return most;
}

static const struct hn_expr *redirect(const struct hn_expr *e, void *ctx, struct hn_arena *a)
{
	const struct closure *c = ctx;
	struct hn_expr *copy;

	if (e->op != HN_EXPR_LOAD) {
		return e;
	}
	copy = (struct hn_expr *)(uintptr_t)hn_expr_with_args(e, e->arg, e->n_arg, a);
	copy->ref = c->at[e->ref];
	return copy;
}

/* It comes from global memory: an argument, or what an earlier part stored. */
static bool is_given(const struct closure *c, uint32_t i)
{
	return c->x->dag->op[i]->kind == HN_OP_PLACEHOLDER || (c->x->apart[i] && c->x->level[i] < c->level);
}

static bool is_result(const struct parts *x, uint32_t i)
{
	bool is = x->apart[i];

	for (uint32_t k = x->dag->n_input; k < x->dag->n_arg && !is; k++) {
		is = x->dag->arg[k] == (int32_t)i;
	}
	return is;
}

/* The i-th op is a result of the level, and as many cores can share it as `like`. */
static bool is_alike(const struct parts *x, uint32_t i, uint32_t like)
{
	const struct hn_op *op = x->dag->op[i], *of = x->dag->op[like];

	return op->kind == HN_OP_COMPUTE && is_result(x, i) && x->level[i] == x->level[like] && op->n_dim == of->n_dim &&
	       (op->n_dim == 0 || memcmp(op->shape, of->shape, op->n_dim * sizeof(op->shape[0])) == 0);
}

/* The dag of a result, and of those like it; ret_op: of the whole one, for each argument. */
static const struct hn_dag *dag_of(const struct parts *x, uint32_t like, const int32_t **ret_op)
{
	uint32_t n = x->dag->n_op, n_op = 0, n_arg = 0;
	struct closure c = { .x = x, .has = HN_NEW_ARRAY(x->a, bool, n), .level = x->level[like],
			     .at = HN_NEW_ARRAY(x->a, int32_t, n) };
	const struct hn_op **op = HN_NEW_ARRAY(x->a, const struct hn_op *, n);
	int32_t *arg = HN_NEW_ARRAY(x->a, int32_t, n), *of = HN_NEW_ARRAY(x->a, int32_t, n);
	struct hn_dag *d = HN_NEW(x->a, struct hn_dag);

	for (uint32_t i = n; i-- > 0;) {
		c.has[i] |= is_alike(x, i, like);
		if (c.has[i] && !is_given(&c, i)) {
			hn_op_visit(x->dag->op[i], see, &c);
		}
	}
	for (int given = 1; given >= 0; given--) {
		for (uint32_t i = 0; i < n; i++) {
			const struct hn_op *from = x->dag->op[i];
			struct hn_op *placeholder;

			if (!c.has[i] || is_given(&c, i) != (bool)given) {
				continue;
			}
			c.at[i] = (int32_t)n_op;
			if (given == 0) {
				op[n_op++] = hn_derive_map(from, redirect, &c, x->a);
				continue;
			}
			placeholder = HN_NEW(x->a, struct hn_op);
			*placeholder = (struct hn_op){ .id = from->id, .name = from->name, .tag = "",
						       .kind = HN_OP_PLACEHOLDER, .n_dim = from->n_dim,
						       .shape = from->shape, .n_out = 1, .dtype = from->dtype };
			op[n_op] = placeholder;
			of[n_arg] = (int32_t)i;
			arg[n_arg++] = (int32_t)n_op++;
		}
	}
	*d = (struct hn_dag){ .op = op, .arg = arg, .n_op = n_op, .n_input = n_arg };
	for (uint32_t i = 0; i < n; i++) {
		if (is_alike(x, i, like)) {
			of[n_arg] = (int32_t)i;
			arg[n_arg++] = c.at[i];
		}
	}
	d->n_arg = n_arg;
	*ret_op = of;
	return d;
}

/* Arguments as the dag has them, then what goes to scratch; ret_at: of each op. */
static int put_buffers(const struct parts *x, struct hn_npu_program *p, uint32_t *ret_at, struct hn_err *err)
{
	struct hn_npu_buffer *b = HN_NEW_ARRAY(x->a, struct hn_npu_buffer, x->dag->n_arg + x->dag->n_op);
	int64_t scratch = 0;

	*p = (struct hn_npu_program){ .what = "code", .n_buffer = x->dag->n_arg, .buffer = b };
	for (uint32_t i = 0; i < x->dag->n_arg; i++) {
		const struct hn_op *op = x->dag->op[x->dag->arg[i]];

		b[i] = (struct hn_npu_buffer){ .name = hn_arena_printf(x->a, "a%u", i), .dtype = op->dtype[0],
					       .n_elem = hn_op_elements(op), .bytes = hn_op_bytes(op, 0) };
		ret_at[x->dag->arg[i]] = i;
	}
	for (uint32_t i = 0; i < x->dag->n_op; i++) {
		const struct hn_op *op = x->dag->op[i];

		if (!x->apart[i]) {
			continue;
		}
		ret_at[i] = p->n_buffer + p->n_scratch;
		b[ret_at[i]] = (struct hn_npu_buffer){ .name = hn_arena_printf(x->a, "w%u", p->n_scratch++),
						       .dtype = op->dtype[0], .n_elem = hn_op_elements(op),
						       .bytes = hn_op_bytes(op, 0) };
		scratch = hn_add_sat(scratch, hn_op_bytes(op, 0));
	}
	return p->n_buffer + p->n_scratch <= HN_NPU_MOST_BUFFERS && scratch <= HN_NPU_MOST_SCRATCH
		       ? 0 : hn_fail(err, HONE_E_UNSUPPORTED, "parts of its reductions are more than scratch holds");
}

/* The program of a result, behind the n that there are. */
static int one(struct parts *x, uint32_t like, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
	       const uint32_t *at, struct hn_npu_part *ret, struct hn_err *err)
{
	const int32_t *of;
	const struct hn_dag *d = dag_of(x, like, &of);
	uint32_t *buffer = HN_NEW_ARRAY(x->a, uint32_t, d->n_arg + 1);

	for (uint32_t i = 0; i < d->n_arg; i++) {
		buffer[i] = at[of[i]];
	}
	ret->buffer = buffer;
	return hn_npu_vector(d, m, plan, x->a, &ret->p, NULL, err);
}

static int join(struct parts *x, uint8_t n_level, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
		const struct hn_npu_program **ret, struct hn_err *err)
{
	struct hn_npu_part part[HN_NPU_MOST_PARTS] = { { 0 } };
	uint32_t *at = HN_NEW_ARRAY(x->a, uint32_t, x->dag->n_op), n = 0, first = 0;
	struct hn_npu_program like;
	int rc = put_buffers(x, &like, at, err);

	for (uint8_t l = 0; l < n_level; l++, first = n) {
		for (uint32_t i = 0; i < x->dag->n_op && rc == 0; i++) {
			uint32_t before = 0;

			while (before < i && !is_alike(x, before, i)) {
				before++;
			}
			if (before < i || x->level[i] != l || !is_alike(x, i, i)) {
				continue;
			}
			if (n == HN_NPU_MOST_PARTS) {
				return hn_fail(err, HONE_E_UNSUPPORTED, "its results are too many for parts");
			}
			part[n].meets = n == first;
			rc = one(x, i, m, plan, at, &part[n++], err);
		}
	}
	return rc ? rc : hn_npu_join(part, n, &like, x->a, ret, err);
}

/* -- borders ---------------------------------------------------------------------------- */

static bool loads(const struct hn_expr *e)
{
	bool found = e->op == HN_EXPR_LOAD;

	for (uint32_t i = 0; i < e->n_arg && !found; i++) {
		found = loads(e->arg[i]);
	}
	return found;
}

static void find_border(const struct hn_expr *e, void *ctx)
{
	bool *found = ctx;

	*found = *found || ((e->op == HN_EXPR_SELECT || e->op == HN_EXPR_IF) && !loads(e->arg[0]));
}

struct reading {
	struct parts *x;
	bool found;
};

/* What a sum reads, and is another where a condition on the place says so. */
static void stage_border(const struct hn_expr *e, void *ctx)
{
	struct reading *r = ctx;
	bool border = false;

	if (e->op == HN_EXPR_LOAD && r->x->dag->op[e->ref]->kind == HN_OP_COMPUTE &&
	    r->x->dag->op[e->ref]->reduce == NULL && !is_result(r->x, (uint32_t)e->ref)) {
		hn_op_visit(r->x->dag->op[e->ref], find_border, &border);
	}
	if (border) {
		r->x->apart[e->ref] = r->found = true;
	}
}

static bool has_one_result(const struct hn_dag *dag, struct hn_err *err)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->n_out != 1) {
			hn_fail(err, HONE_E_UNSUPPORTED, "%s: it has several results", dag->op[i]->id);
			return false;
		}
	}
	return true;
}

int hn_npu_vector_staged(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
			 struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct parts x = { .dag = dag, .apart = HN_NEW_ARRAY(a, bool, dag->n_op + 1),
			   .level = HN_NEW_ARRAY(a, uint8_t, dag->n_op + 1), .a = a };
	struct reading r = { &x, false };
	uint8_t last;

	if (!has_one_result(dag, err)) {
		return -HONE_E_UNSUPPORTED;
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->kind == HN_OP_COMPUTE && dag->op[i]->reduce != NULL) {
			hn_op_visit(dag->op[i], stage_border, &r);
		}
	}
	last = r.found ? find_levels(&x) : 0;
	if (last == 0 || last >= MOST_LEVELS) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "no sum reads over a border, or too many do");
	}
	return join(&x, (uint8_t)(last + 1), m, plan, ret, err);
}

int hn_npu_vector_parts(const struct hn_dag *dag, const struct hn_npu_profile *m, const struct hn_npu_plan *plan,
			int64_t most, struct hn_arena *a, const struct hn_npu_program **ret, struct hn_err *err)
{
	struct parts x = { .apart = HN_NEW_ARRAY(a, bool, HN_DAG_MAX_OPS), .a = a };
	const struct hn_state *s;
	uint32_t n_apart = 0;
	uint8_t last;

	if (!has_one_result(dag, err)) {
		return -HONE_E_UNSUPPORTED;
	}
	s = hn_state_init(dag, a);
	for (int32_t i = 0; i < (int32_t)s->dag->n_op && s->dag->n_op < HN_DAG_MAX_OPS; i++) {
		if (take_apart(&s, i, most, a)) {
			x.apart[i++] = true; /* and the next one makes the whole of it */
			n_apart++;
		}
	}
	x.dag = s->dag;
	x.level = HN_NEW_ARRAY(a, uint8_t, x.dag->n_op);
	last = find_levels(&x);
	if (n_apart == 0 || last == 0 || last >= MOST_LEVELS) {
		return hn_fail(err, HONE_E_UNSUPPORTED, "no reduction is long enough for parts, or too many are");
	}
	return join(&x, (uint8_t)(last + 1), m, plan, ret, err);
}
