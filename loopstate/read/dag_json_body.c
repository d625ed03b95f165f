/* loopstate/read/dag_json_body.c -- reading what a compute op computes: bodies and REDUCE of
 * compute-dag/1, and the lists they are made of.
 */
#include <inttypes.h>
#include <string.h>

#include "base/name.h"
#include "loopstate/dag/law.h"
#include "loopstate/dag/ragged.h"
#include "loopstate/read/dag_json_priv.h"

#define FAIL(r, at, ...) hn_dag_read_fail(r, at, HONE_E_INVALID, __VA_ARGS__)

/* An optional list member: *ret NULL and n 0 when absent. */
int hn_dag_read_list(struct hn_dag_reader *r, const struct hn_json *obj, const char *key,
		     uint32_t max, const struct hn_json_path *at,
		     const struct hn_json **ret, uint32_t *ret_n)
{
	const struct hn_json *v = hn_json_get(obj, key);

	if (v != NULL && hn_json_kind(v) != HN_JSON_ARRAY) {
		return FAIL(r, at, "'%s' must be a list, found %s", key,
			    hn_json_kind_name(v));
	}
	if (v != NULL && hn_json_count(v) > max) {
		return FAIL(r, at,
			    "'%s' has %" PRIu32 " items, at most %" PRIu32 " are allowed",
			    key, hn_json_count(v), max);
	}
	*ret = v;
	*ret_n = v != NULL ? hn_json_count(v) : 0;
	return 0;
}

int hn_dag_need_list(struct hn_dag_reader *r, const struct hn_json *obj, const char *key,
		     uint32_t max, const struct hn_json_path *at,
		     const struct hn_json **ret, uint32_t *ret_n)
{
	int rc = hn_dag_read_list(r, obj, key, max, at, ret, ret_n);

	return rc == 0 && *ret == NULL ? FAIL(r, at, "'%s' is missing", key) : rc;
}

bool hn_dag_all_strings(const struct hn_json *v)
{
	if (hn_json_kind(v) != HN_JSON_ARRAY) {
		return false;
	}
	for (const struct hn_json *c = hn_json_first(v); c != NULL; c = hn_json_next(c)) {
		if (hn_json_string(c) == NULL) {
			return false;
		}
	}
	return true;
}

/* The list `key` of v, exactly n expressions, read in the scope of x. */
static const struct hn_expr *const *read_exprs(struct hn_expr_reader *x,
					       const struct hn_json *v, const char *key,
					       uint32_t n, const struct hn_json_path *at)
{
	struct hn_dag_reader *r = x->dag;
	const struct hn_json_path field = { at, hn_arena_printf(r->a, ".%s", key), 0,
					    NULL };
	const struct hn_json *list;
	uint32_t n_found;

	if (hn_dag_need_list(r, v, key, HN_DAG_MAX_OUT, at, &list, &n_found) != 0) {
		return NULL;
	}
	if (n_found != n) {
		(void)FAIL(r, &field, "%" PRIu32 " items, %" PRIu32 " are needed",
			   n_found, n);
		return NULL;
	}
	const struct hn_expr **ret = HN_NEW_ARRAY(r->a, const struct hn_expr *, n);
	const struct hn_json *c = hn_json_first(list);

	for (uint32_t i = 0; i < n; i++, c = hn_json_next(c)) {
		const struct hn_json_path place = { &field, NULL, i, NULL };

		ret[i] = hn_dag_read_expr(x, c, &place);
		if (ret[i] == NULL) {
			return NULL;
		}
	}
	return ret;
}

/* The names of one side of a combiner, put in scope. */
static const char *const *read_params(struct hn_expr_reader *x, const struct hn_json *v,
				      const char *key, int32_t first_slot,
				      struct hn_dag_name *names,
				      const struct hn_json_path *at)
{
	struct hn_dag_reader *r = x->dag;
	const struct hn_op *op = x->at.op;
	const struct hn_json *list;
	uint32_t n;

	if (hn_dag_need_list(r, v, key, HN_DAG_MAX_OUT, at, &list, &n) != 0) {
		return NULL;
	}
	if (n != op->n_out || !hn_dag_all_strings(list)) {
		(void)FAIL(r, at, "'%s' must list %" PRIu32 " names, one per output", key,
			   op->n_out);
		return NULL;
	}
	const char **ret = HN_NEW_ARRAY(r->a, const char *, n);
	const struct hn_json *c = hn_json_first(list);

	for (uint32_t k = 0; k < n; k++, c = hn_json_next(c)) {
		if (!hn_name_fits(hn_json_string(c), HN_DAG_MAX_NAME)) {
			(void)FAIL(r, at, "'%s' must list names: 1 to %d of " HN_NAME_RULE, key,
				   HN_DAG_MAX_NAME);
			return NULL;
		}
		ret[k] = hn_arena_strdup(r->a, hn_json_string(c));
		for (const struct hn_dag_name *s = x->scope; s != NULL; s = s->up) {
			if (strcmp(s->name, ret[k]) == 0) {
				(void)FAIL(r, at, "'%s': the name '%s' is used twice",
					   key, ret[k]);
				return NULL;
			}
		}
		names[k] = (struct hn_dag_name){ x->scope, ret[k],
						 first_slot + (int32_t)k, op->dtype[k] };
		x->scope = &names[k];
	}
	return ret;
}

static int read_combiner(struct hn_dag_reader *r, const struct hn_json *v,
			 const struct hn_op *op, struct hn_reduce *red,
			 const struct hn_json_path *up)
{
	const struct hn_json_path at = { up, ".reduce", 0, NULL };
	struct hn_dag_name names[2 * HN_DAG_MAX_OUT];
	struct hn_expr_reader x = { .dag = r, .at = { op, r->op, 0, true } };

	if (v == NULL || hn_json_kind(v) != HN_JSON_OBJECT) {
		return FAIL(r, &at, "must be an object with lhs, rhs, result, identity");
	}
	red->lhs = read_params(&x, v, "lhs", HN_SLOT_LHS, names, &at);
	red->rhs = red->lhs == NULL ? NULL
				    : read_params(&x, v, "rhs", HN_SLOT_RHS,
						  names + op->n_out, &at);
	if (red->rhs == NULL ||
	    (red->result = read_exprs(&x, v, "result", op->n_out, &at)) == NULL) {
		return -HONE_E_INVALID;
	}
	x.scope = NULL;
	red->identity = read_exprs(&x, v, "identity", op->n_out, &at);
	red->kind =
		red->identity != NULL ? hn_dag_combiner_of(red->result, op->n_out) : 0;
	red->any_order = red->identity != NULL && hn_law_any_order(red);
	return red->identity != NULL ? 0 : -HONE_E_INVALID;
}

/* A condition that is always true is no condition. */
static int read_condition(struct hn_expr_reader *x, const struct hn_json *v,
			  struct hn_reduce *red, const struct hn_json_path *up)
{
	const struct hn_json_path at = { up, ".condition", 0, NULL };
	const struct hn_json *c = hn_json_get(v, "condition");

	red->condition = c != NULL ? hn_dag_read_expr(x, c, &at) : NULL;
	if (c != NULL && red->condition == NULL) {
		return -HONE_E_INVALID;
	}
	if (c != NULL && red->condition->op == HN_EXPR_INT && red->condition->u.i == 1) {
		red->condition = NULL;
	}
	red->condition = hn_ragged_both(x->dag->within, red->condition, x->dag->a);
	return 0;
}

/* Body entry k, a REDUCE. */
static int read_reduce(struct hn_expr_reader *x, const struct hn_json *v, uint32_t k,
		       struct hn_reduce *red, const struct hn_json_path *at)
{
	struct hn_dag_reader *r = x->dag;
	const struct hn_json *init, *index = hn_json_get(v, "value_index");
	uint32_t n_init;
	int64_t value_index = k;
	int rc = hn_dag_read_list(r, v, "init", HN_DAG_MAX_OUT, at, &init, &n_init);

	if (rc == 0 && n_init != 0) {
		rc = hn_dag_read_fail(
			r, at, HONE_E_UNSUPPORTED,
			"a reduction with 'init' is not supported; start from the "
			"identity and combine the rest in an op of its own");
	}
	if (rc == 0 && index != NULL &&
	    (!hn_json_int(index, &value_index) || value_index != k)) {
		rc = FAIL(r, at, "value_index must be %" PRIu32 ", the entry's place", k);
	}
	if (rc == 0) {
		red->n = x->at.op->n_out;
		rc = read_combiner(r, hn_json_get(v, "reduce"), x->at.op, red, at);
	}
	if (rc == 0) {
		rc = read_condition(x, v, red, at);
	}
	if (rc == 0) {
		red->source = read_exprs(x, v, "source", x->at.op->n_out, at);
		rc = red->source != NULL ? 0 : -HONE_E_INVALID;
	}
	return rc;
}

static bool same_reduce(const struct hn_reduce *x, const struct hn_reduce *y)
{
	bool same = (x->condition == NULL) == (y->condition == NULL) &&
		    (x->condition == NULL || hn_expr_equal(x->condition, y->condition));

	for (uint32_t k = 0; same && k < x->n; k++) {
		same = hn_expr_equal(x->result[k], y->result[k]) &&
		       hn_expr_equal(x->identity[k], y->identity[k]) &&
		       hn_expr_equal(x->source[k], y->source[k]);
	}
	return same;
}

static int read_reduces(struct hn_expr_reader *x, const struct hn_json *list,
			struct hn_op *op, const struct hn_json_path *field)
{
	struct hn_dag_reader *r = x->dag;
	const struct hn_json *c = hn_json_first(list);

	for (uint32_t k = 0; k < op->n_out; k++, c = hn_json_next(c)) {
		const struct hn_json_path at = { field, NULL, k, NULL };
		struct hn_reduce *red = HN_NEW(r->a, struct hn_reduce);

		x->n_let = 0; /* so that equal entries read to equal trees */
		if (hn_json_kind(c) != HN_JSON_OBJECT) {
			return FAIL(r, &at,
				    "a reduction must be in every entry or in none");
		}
		int rc = read_reduce(x, c, k, red, &at);

		if (rc != 0) {
			return rc;
		}
		if (op->reduce == NULL) {
			op->reduce = red;
		} else if (!same_reduce(op->reduce, red)) {
			return FAIL(r, &at, "must be the same reduction as body[0]");
		}
	}
	return 0;
}

const struct hn_dag_name *hn_dag_axis_names(const struct hn_dag_name *up,
					    const struct hn_axis *axis, uint32_t n,
					    struct hn_dag_name *names)
{
	for (uint32_t i = 0; i < n; i++) {
		names[i] = (struct hn_dag_name){ up, axis[i].name, (int32_t)i, HN_I32 };
		up = &names[i];
	}
	return up;
}

int hn_dag_read_body(struct hn_dag_reader *r, const struct hn_json *v, struct hn_op *op,
		     const struct hn_json_path *at)
{
	struct hn_dag_name *names =
		HN_NEW_ARRAY(r->a, struct hn_dag_name, op->n_spatial + op->n_reduce);
	struct hn_expr_reader x = { .dag = r, .at = { op, r->op, r->n_op, false },
				    .scope = r->size_names };
	const struct hn_json_path field = { at, ".body", 0, NULL };
	const struct hn_json *list;
	uint32_t n;
	int rc = hn_dag_need_list(r, v, "body", HN_DAG_MAX_OUT, at, &list, &n);

	if (rc != 0) {
		return rc;
	}
	if (n != op->n_out) {
		return FAIL(r, &field, "%" PRIu32 " entries for %" PRIu32 " outputs", n,
			    op->n_out);
	}
	x.scope = hn_dag_axis_names(x.scope, op->axis, op->n_spatial + op->n_reduce, names);
	if (hn_json_kind(hn_json_first(list)) == HN_JSON_OBJECT) {
		return read_reduces(&x, list, op, &field);
	}
	op->body = read_exprs(&x, v, "body", n, at);
	return op->body != NULL ? 0 : -HONE_E_INVALID;
}
