/* loopstate/dag/dag_range.c -- proof that no load leaves its tensor.
 *
 * Walks an op's expressions with the prover of range.h.  The taken side of an `if` and
 * the source of a reduction are looked at under their condition; `select`, `and` and `or`
 * guard nothing, because both sides may be evaluated.  Disjunctions are split into cases,
 * up to a budget; past it the weaker knowledge may refuse, never accept.
 */
#include <inttypes.h>
#include <string.h>

#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/range.h"
#include "loopstate/dag/size.h"

#define MAX_PENDING 64
#define MAX_SPLITS 2000

struct walk {
	const char *what;
	const struct hn_op *const *ops;
	uint32_t i;
	struct hn_err *err;
	struct hn_range *known;
	struct hn_arena *scratch;
	const char *owner; /* "body", ... */
	uint32_t k;
	uint32_t splits;
	int rc;
};

static void check(struct walk *w, const struct hn_expr *e);

static void count_hazard(const struct hn_expr *e, void *ctx)
{
	*(bool *)ctx |= e->op == HN_EXPR_LOAD ||
			(hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
			 (e->op == HN_EXPR_DIV ||
			  (e->op >= HN_EXPR_FLOORDIV && e->op <= HN_EXPR_TRUNCMOD)));
}

static bool hazardous(const struct hn_expr *e)
{
	bool found = false;

	hn_expr_visit(e, count_hazard, &found);
	return found;
}

static void refuse_index(struct walk *w, const struct hn_expr *load, uint32_t d,
			 const struct hn_bound *b)
{
	const struct hn_op *p = w->ops[load->ref];
	bool low = b->lo < 0;
	int64_t v = low ? b->lo : b->hi;
	const char *op = w->ops[w->i]->id;

	if (b->data) {
		w->rc = hn_fail(
			w->err, HONE_E_UNSUPPORTED,
			"%s: ops[%" PRIu32 "] (%s).%s[%" PRIu32
			"].load(%s) index %" PRIu32
			": depends on data and cannot be proved to stay in 0..%" PRId64
			"; bound it with max and min",
			w->what, w->i, op, w->owner, w->k, p->id, d, p->shape[d] - 1);
		return;
	}
	if (v <= -HN_RANGE_INF || v >= HN_RANGE_INF) {
		w->rc = hn_fail(w->err, HONE_E_INVALID,
				"%s: ops[%" PRIu32 "] (%s).%s[%" PRIu32
				"].load(%s) index %" PRIu32
				": cannot be bounded, the extent is %" PRId64,
				w->what, w->i, op, w->owner, w->k, p->id, d, p->shape[d]);
		return;
	}
	w->rc = hn_fail(w->err, HONE_E_INVALID,
			"%s: ops[%" PRIu32 "] (%s).%s[%" PRIu32
			"].load(%s) index %" PRIu32 ": %s %" PRId64
			", the extent is %" PRId64
			": correct the index or guard the load with \"if\"",
			w->what, w->i, op, w->owner, w->k, p->id, d,
			b->exact ? "reaches" : "may reach", v, p->shape[d]);
}

/* Index d of a load against an extent that is a form, for all values of the sizes. */
static void check_below_extent(struct walk *w, const struct hn_expr *load, uint32_t d)
{
	const struct hn_op *p = w->ops[load->ref];
	struct hn_range_mark mark = hn_range_push(w->known);
	const struct hn_expr *past = hn_expr_binary(HN_EXPR_SUB, load->arg[d],
						    hn_op_extent(p, d), w->scratch);
	struct hn_bound b = hn_range_of(w->known, past, -HN_RANGE_INF, -1);

	if (b.hi >= 0 && !hn_range_empty(w->known)) {
		w->rc = hn_fail(
			w->err, HONE_E_INVALID,
			"%s: ops[%" PRIu32 "] (%s).%s[%" PRIu32
			"].load(%s) index %" PRIu32
			": may pass the extent for some sizes: correct the index, its "
			"range or the sizes', or guard the load with \"if\"",
			w->what, w->i, w->ops[w->i]->id, w->owner, w->k, p->id, d);
	}
	hn_range_pop(w->known, mark);
}

static void check_load(struct walk *w, const struct hn_expr *e)
{
	const struct hn_op *p = w->ops[e->ref];

	for (uint32_t d = 0; w->rc == 0 && d < e->n_arg; d++) {
		struct hn_range_mark mark = hn_range_push(w->known);
		struct hn_bound b = hn_range_of(w->known, e->arg[d], 0, p->shape[d] - 1);

		if ((b.lo < 0 || b.hi >= p->shape[d]) && !hn_range_empty(w->known)) {
			refuse_index(w, e, d, &b);
		}
		hn_range_pop(w->known, mark);
		if (w->rc == 0 && hn_op_extent(p, d) != NULL) {
			check_below_extent(w, e, d);
		}
	}
}

/* A divisor that depends on data is the data's business; one made of axes must not be 0.
 */
static void check_divisor(struct walk *w, const struct hn_expr *e)
{
	struct hn_range_mark mark = hn_range_push(w->known);
	struct hn_bound b = hn_range_of(w->known, e->arg[1], 1, HN_RANGE_INF);

	if (b.lo <= 0 && b.hi >= 0 && !b.data && !hn_range_empty(w->known)) {
		w->rc = hn_fail(
			w->err, HONE_E_INVALID,
			"%s: ops[%" PRIu32 "] (%s).%s[%" PRIu32 "]: %s: the divisor %s 0",
			w->what, w->i, w->ops[w->i]->id, w->owner, w->k,
			hn_expr_op_name(e->op), b.exact ? "reaches" : "may reach");
	}
	hn_range_pop(w->known, mark);
}

struct pending {
	const struct hn_expr *e;
	const struct hn_expr *less_than; /* not NULL: e < less_than */
	bool holds;
};

static void under_pending(struct walk *w, const struct pending *list, uint32_t n,
			  const struct hn_expr *body);

/* Either one or the other: look at the body under each. */
static void split(struct walk *w, struct pending *list, uint32_t n,
		  const struct pending side[2], const struct hn_expr *body)
{
	w->splits++;
	for (int k = 0; k < 2 && w->rc == 0; k++) {
		struct hn_range_mark mark = hn_range_push(w->known);

		list[n] = side[k];
		under_pending(w, list, n + 1, body);
		hn_range_pop(w->known, mark);
	}
}

/* Two cases of condition c; false when it is none. */
static bool cases_of(const struct pending *c, struct pending side[2])
{
	const struct hn_expr *e = c->e;
	bool either =
		(e->op == HN_EXPR_OR && c->holds) || (e->op == HN_EXPR_AND && !c->holds);
	bool differ =
		(e->op == HN_EXPR_NE && c->holds) || (e->op == HN_EXPR_EQ && !c->holds);

	if (c->less_than != NULL) {
		return false;
	}
	if (either) {
		side[0] = (struct pending){ e->arg[0], NULL, c->holds };
		side[1] = (struct pending){ e->arg[1], NULL, c->holds };
		return true;
	}
	if (differ && hn_dtype_class(e->arg[0]->dtype) != HN_CLASS_FLOAT) {
		side[0] = (struct pending){ e->arg[0], e->arg[1], true };
		side[1] = (struct pending){ e->arg[1], e->arg[0], true };
		return true;
	}
	return false;
}

static void under_pending(struct walk *w, const struct pending *given, uint32_t n,
			  const struct hn_expr *body)
{
	struct pending list[MAX_PENDING], side[2];

	memcpy(list, given, n * sizeof(*list));
	while (n > 0 && !hn_range_empty(w->known)) {
		struct pending c = list[--n];
		bool both = c.less_than == NULL && ((c.e->op == HN_EXPR_AND && c.holds) ||
						    (c.e->op == HN_EXPR_OR && !c.holds));

		if (c.less_than != NULL) {
			hn_range_assume_less(w->known, c.e, c.less_than);
		} else if (c.e->op == HN_EXPR_NOT) {
			list[n++] = (struct pending){ c.e->arg[0], NULL, !c.holds };
		} else if (both && n + 2 < MAX_PENDING) {
			list[n++] = (struct pending){ c.e->arg[1], NULL, c.holds };
			list[n++] = (struct pending){ c.e->arg[0], NULL, c.holds };
		} else if (w->splits < MAX_SPLITS && n + 2 < MAX_PENDING &&
			   cases_of(&c, side)) {
			split(w, list, n, side, body);
			return;
		} else {
			hn_range_assume(w->known, c.e, c.holds);
		}
	}
	if (!hn_range_empty(w->known)) {
		check(w, body);
	}
}

static void check_under(struct walk *w, const struct hn_expr *cond, bool holds,
			const struct hn_expr *body)
{
	const struct pending first = { cond, NULL, holds };
	struct hn_range_mark mark = hn_range_push(w->known);

	if (hazardous(body)) {
		under_pending(w, &first, 1, body);
	}
	hn_range_pop(w->known, mark);
}

static void check_let(struct walk *w, const struct hn_expr *e)
{
	struct hn_range_mark mark = hn_range_push(w->known);

	check(w, e->arg[0]);
	hn_range_bind(w->known, e->ref, e->arg[0]);
	check(w, e->arg[1]);
	hn_range_pop(w->known, mark);
}

static void check(struct walk *w, const struct hn_expr *e)
{
	if (w->rc != 0) {
		return;
	}
	if (e->op == HN_EXPR_IF) {
		check(w, e->arg[0]);
		check_under(w, e->arg[0], true, e->arg[1]);
		if (w->rc == 0) {
			check_under(w, e->arg[0], false, e->arg[2]);
		}
		return;
	}
	if (e->op == HN_EXPR_LET) {
		check_let(w, e);
		return;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		check(w, e->arg[i]);
	}
	if (w->rc == 0 && e->op == HN_EXPR_LOAD) {
		check_load(w, e);
	}
	if (w->rc == 0 && hn_dtype_class(e->dtype) != HN_CLASS_FLOAT &&
	    (e->op == HN_EXPR_DIV ||
	     (e->op >= HN_EXPR_FLOORDIV && e->op <= HN_EXPR_TRUNCMOD))) {
		check_divisor(w, e);
	}
}

static void check_owned(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	struct walk *w = ctx;
	const struct hn_reduce *red = w->ops[w->i]->reduce;

	w->owner = owner;
	w->k = k;
	if (w->rc != 0 || !hazardous(e)) {
		return;
	}
	if (red != NULL && red->condition != NULL && strcmp(owner, "source") == 0) {
		check_under(w, red->condition, true, e);
	} else {
		check(w, e);
	}
}

int hn_dag_check_range(const char *what, const struct hn_op *const *ops, uint32_t i,
		       struct hn_err *err)
{
	struct walk w = { .what = what, .ops = ops, .i = i, .err = err };
	struct hn_arena scratch;

	hn_arena_init(&scratch, 0);
	w.scratch = &scratch;
	w.known = hn_range_new(ops[i], &scratch);
	hn_dag_op_exprs(ops[i], check_owned, &w);
	hn_range_free(w.known);
	hn_arena_fini(&scratch);
	return w.rc;
}
