/* loopstate/read/dag_json_expr.c -- reading EXPR of compute-dag/1.
 *
 * Nodes with a fixed number of operands are read from exprops.def; the special forms have
 * a function each.  Every node is checked against its arguments as soon as it is built,
 * so the message can point into the document.
 */
#include <inttypes.h>
#include <string.h>

#include "base/name.h"
#include "loopstate/read/dag_json_priv.h"

struct hn_spot { /* where in the tree we are */
	const struct hn_json_path *at;
	uint32_t depth;
};

typedef const struct hn_expr *(*special_fn)(struct hn_expr_reader *x,
					    const struct hn_json *v, struct hn_spot spot);

static const struct hn_expr *read_node(struct hn_expr_reader *x, const struct hn_json *v,
				       struct hn_spot spot);

static const struct hn_expr *no_node(int rc)
{
	(void)rc; /* err holds it */
	return NULL;
}

#define REFUSE(x, spot, ...)                                                             \
	no_node(hn_dag_read_fail((x)->dag, (spot).at, HONE_E_INVALID, __VA_ARGS__))

static const struct hn_json *item(const struct hn_json *v, uint32_t i)
{
	const struct hn_json *c = hn_json_first(v);

	while (c != NULL && i-- > 0) {
		c = hn_json_next(c);
	}
	return c;
}

/* Read children first..first+n of v onto arg; false with err set. */
static bool read_args(struct hn_expr_reader *x, const struct hn_json *v, uint32_t first,
		      uint32_t n, struct hn_spot spot, const struct hn_expr **arg)
{
	const struct hn_json *c = item(v, first);

	for (uint32_t i = 0; i < n; i++, c = hn_json_next(c)) {
		const struct hn_json_path at = { .up = spot.at, .index = first + i };

		arg[i] = read_node(x, c, (struct hn_spot){ &at, spot.depth + 1 });
		if (arg[i] == NULL) {
			return false;
		}
	}
	return true;
}

/* The node, or NULL with err set when it does not fit its arguments. */
static const struct hn_expr *fitting(struct hn_expr_reader *x, const struct hn_expr *e,
				     struct hn_spot spot)
{
	char buf[256];
	const char *fault = hn_dag_node_fault(&x->at, e, buf, sizeof(buf));

	if (fault != NULL) {
		return REFUSE(x, spot, "%s: %s", hn_expr_op_name(e->op), fault);
	}
	return e;
}

static bool count_is(struct hn_expr_reader *x, const struct hn_json *v, uint32_t n,
		     struct hn_spot spot)
{
	if (hn_json_count(v) == n + 1) {
		return true;
	}
	REFUSE(x, spot, "%s takes %" PRIu32 " arguments, %" PRIu32 " are given",
	       hn_json_string(hn_json_first(v)), n, hn_json_count(v) - 1);
	return false;
}

/* The dtype at child i of v; HN_N_DTYPE with err set. */
static enum hn_dtype read_dtype(struct hn_expr_reader *x, const struct hn_json *v,
				uint32_t i, struct hn_spot spot)
{
	const struct hn_json *c = item(v, i);
	const char *s = c != NULL ? hn_json_string(c) : NULL;

	if (s == NULL) {
		REFUSE(x, spot, "[%" PRIu32 "] must be a dtype", i);
		return HN_N_DTYPE;
	}
	enum hn_dtype t = hn_dtype_of(s);

	if (t == HN_N_DTYPE) {
		hn_dag_read_fail(x->dag, spot.at, HONE_E_UNSUPPORTED,
				 "dtype '%.40s' is not supported%s", s,
				 hn_dag_known_types(s, x->dag->a));
	}
	return t;
}

static const char *read_name(struct hn_expr_reader *x, const struct hn_json *v,
			     uint32_t i, const char *noun, struct hn_spot spot)
{
	const struct hn_json *c = item(v, i);
	const char *s = c != NULL ? hn_json_string(c) : NULL;

	if (!hn_name_fits(s, HN_DAG_MAX_NAME)) {
		REFUSE(x, spot, "[%" PRIu32 "] must be the name of %s", i, noun);
		return NULL;
	}
	return s;
}

static const struct hn_expr *read_var(struct hn_expr_reader *x, const struct hn_json *v,
				      struct hn_spot spot)
{
	const char *s;

	if (!count_is(x, v, 1, spot) ||
	    (s = read_name(x, v, 1, "a variable", spot)) == NULL) {
		return NULL;
	}
	for (const struct hn_dag_name *n = x->scope; n != NULL; n = n->up) {
		if (strcmp(n->name, s) == 0) {
			return hn_expr_var(n->slot, n->dtype, n->name, x->dag->a);
		}
	}
	return REFUSE(x, spot, "variable '%s' is not %s", s,
		      x->at.combiner ? "an argument of the combiner"
				     : "an axis of this op");
}

static const struct hn_expr *read_int(struct hn_expr_reader *x, const struct hn_json *v,
				      struct hn_spot spot)
{
	int64_t i;
	bool b;
	enum hn_dtype t;

	if (!count_is(x, v, 2, spot) || (t = read_dtype(x, v, 2, spot)) == HN_N_DTYPE) {
		return NULL;
	}
	if (t == HN_BOOL && hn_json_bool(item(v, 1), &b)) {
		i = b;
	} else if (!hn_json_int(item(v, 1), &i)) {
		return REFUSE(x, spot, "int needs a whole number of at most 64 bits");
	}
	return fitting(x, hn_expr_int(i, t, x->dag->a), spot);
}

static bool special_float(const char *s, double *ret)
{
	static const struct {
		const char *name;
		double v;
	} table[] = { { "inf", __builtin_inf() },
		      { "-inf", -__builtin_inf() },
		      { "nan", __builtin_nan("") } };

	for (size_t i = 0; s != NULL && i < HN_COUNT_OF(table); i++) {
		if (strcmp(s, table[i].name) == 0) {
			*ret = table[i].v;
			return true;
		}
	}
	return false;
}

static const struct hn_expr *read_float(struct hn_expr_reader *x, const struct hn_json *v,
					struct hn_spot spot)
{
	double f;
	enum hn_dtype t;

	if (!count_is(x, v, 2, spot) || (t = read_dtype(x, v, 2, spot)) == HN_N_DTYPE) {
		return NULL;
	}
	if (!hn_json_double(item(v, 1), &f) &&
	    !special_float(hn_json_string(item(v, 1)), &f)) {
		return REFUSE(x, spot,
			      "float needs a number, or \"inf\", \"-inf\", \"nan\"");
	}
	const struct hn_expr *e = fitting(x, hn_expr_float(f, t, x->dag->a), spot);

	/* The value a constant has is the rounded one, wherever it is evaluated. */
	return e != NULL ? hn_expr_float(hn_float_round(t, f), t, x->dag->a) : NULL;
}

static bool later_op(const struct hn_dag_reader *r, const char *id)
{
	const struct hn_json *op = hn_json_first(r->ops);

	for (; op != NULL; op = hn_json_next(op)) {
		const char *s = NULL;

		if (hn_json_kind(op) == HN_JSON_OBJECT) {
			s = hn_json_string(hn_json_get(op, "id"));
			s = s != NULL ? s : hn_json_string(hn_json_get(op, "name"));
		}
		if (s != NULL && strncmp(s, id, strlen(s)) == 0 &&
		    (id[strlen(s)] == '\0' || id[strlen(s)] == '.')) {
			return true;
		}
	}
	return false;
}

static const struct hn_expr *refuse_load(struct hn_expr_reader *x, const char *id,
					 int32_t found, struct hn_spot spot)
{
	if (found == -2) {
		return REFUSE(x, spot,
			      "load: '%s' has several outputs; say '%s.v0', '%s.v1'", id,
			      id, id);
	}
	if (strcmp(id, x->at.op->id) == 0) {
		return REFUSE(x, spot, "load: the op reads itself (a cycle)");
	}
	if (later_op(x->dag, id)) {
		return REFUSE(x, spot,
			      "load: reads '%s', which comes later (a cycle, or ops out "
			      "of order)",
			      id);
	}
	return REFUSE(x, spot, "load: there is no op '%s'", id);
}

static const struct hn_expr *read_load(struct hn_expr_reader *x, const struct hn_json *v,
				       struct hn_spot spot)
{
	const char *id = read_name(x, v, 1, "an op", spot);
	uint32_t n = hn_json_count(v) - 2;
	int32_t out;

	if (id == NULL) {
		return NULL;
	}
	int32_t p = hn_dag_find(x->at.before, x->at.n_before, id, &out);

	if (p < 0) {
		return refuse_load(x, id, p, spot);
	}
	if (n != x->at.before[p]->n_dim) {
		return REFUSE(x, spot,
			      "load(%s): %" PRIu32 " indices, the tensor has %" PRIu32
			      " dimensions",
			      id, n, x->at.before[p]->n_dim);
	}
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = x->at.before[p]->dtype[out],
				      .ref = p,
				      .out = out };
	const struct hn_expr *arg[HN_DAG_MAX_RANK];

	if (!read_args(x, v, 2, n, spot, arg)) {
		return NULL;
	}
	return fitting(x, hn_expr_with_args(&like, arg, n, x->dag->a), spot);
}

static const struct hn_expr *read_choose(struct hn_expr_reader *x,
					 const struct hn_json *v, struct hn_spot spot)
{
	struct hn_expr like = { .op = HN_EXPR_SELECT };
	const struct hn_expr *arg[3];

	if (!count_is(x, v, 3, spot) || !read_args(x, v, 1, 3, spot, arg)) {
		return NULL;
	}
	if (strcmp(hn_json_string(hn_json_first(v)), "if") == 0) {
		like.op = HN_EXPR_IF;
	}
	like.dtype = arg[1]->dtype;
	return fitting(x, hn_expr_with_args(&like, arg, 3, x->dag->a), spot);
}

static const struct hn_expr *read_cast(struct hn_expr_reader *x, const struct hn_json *v,
				       struct hn_spot spot)
{
	struct hn_expr like = { .op = HN_EXPR_CAST };
	const struct hn_expr *arg[1];
	enum hn_dtype t;

	if (!count_is(x, v, 2, spot) || (t = read_dtype(x, v, 1, spot)) == HN_N_DTYPE ||
	    !read_args(x, v, 2, 1, spot, arg)) {
		return NULL;
	}
	like.dtype = (uint8_t)t;
	return fitting(x, hn_expr_with_args(&like, arg, 1, x->dag->a), spot);
}

static const struct hn_expr *read_call(struct hn_expr_reader *x, const struct hn_json *v,
				       struct hn_spot spot)
{
	const char *name = read_name(x, v, 1, "a function", spot);
	const struct hn_expr *arg[2];

	if (name == NULL) {
		return NULL;
	}
	enum hn_fn f = hn_fn_of(name);

	if (f == HN_N_FN) {
		hn_dag_read_fail(x->dag, spot.at, HONE_E_UNSUPPORTED,
				 "call: function '%s' is not supported%s", name,
				 hn_dag_known_functions(name, x->dag->a));
		return NULL;
	}
	enum hn_dtype t = read_dtype(x, v, 2, spot);
	struct hn_expr like = { .op = HN_EXPR_CALL,
				.dtype = (uint8_t)t,
				.ref = (int32_t)f };

	if (t == HN_N_DTYPE) {
		return NULL;
	}
	if (hn_json_count(v) - 3 != hn_fn_arity(f)) {
		return REFUSE(x, spot,
			      "call: %s takes %" PRIu32 " arguments, %" PRIu32
			      " are given",
			      name, hn_fn_arity(f), hn_json_count(v) - 3);
	}
	if (!read_args(x, v, 3, hn_fn_arity(f), spot, arg)) {
		return NULL;
	}
	return fitting(x, hn_expr_with_args(&like, arg, hn_fn_arity(f), x->dag->a), spot);
}

static const struct hn_expr *read_let(struct hn_expr_reader *x, const struct hn_json *v,
				      struct hn_spot spot)
{
	const struct hn_dag_name *outer = x->scope;
	struct hn_expr like = { .op = HN_EXPR_LET };
	const struct hn_expr *arg[2];
	const char *name;

	if (!count_is(x, v, 3, spot) ||
	    (name = read_name(x, v, 1, "a let", spot)) == NULL ||
	    !read_args(x, v, 2, 1, spot, arg)) {
		return NULL;
	}
	name = hn_arena_strdup(x->dag->a, name);
	const struct hn_dag_name mine = { outer, name, HN_SLOT_LET + x->n_let++,
					  arg[0]->dtype };

	x->scope = &mine;
	bool read = read_args(x, v, 3, 1, spot, arg + 1);

	x->scope = outer;
	if (!read) {
		return NULL;
	}
	like.dtype = arg[1]->dtype;
	like.ref = mine.slot;
	like.u.name = name;
	return fitting(x, hn_expr_with_args(&like, arg, 2, x->dag->a), spot);
}

struct form {
	int arity; /* -1: special reads it */
	char result;
};

static const struct form forms[HN_N_EXPR] = {
#define EXPR(name, text, n, kind) [HN_EXPR_##name] = { n, #kind[0] },
#include "loopstate/expr/exprops.def"
#undef EXPR
};

static const special_fn specials[HN_N_EXPR] = {
	[HN_EXPR_VAR] = read_var,	[HN_EXPR_INT] = read_int,
	[HN_EXPR_FLOAT] = read_float,	[HN_EXPR_LOAD] = read_load,
	[HN_EXPR_SELECT] = read_choose, [HN_EXPR_IF] = read_choose,
	[HN_EXPR_CAST] = read_cast,	[HN_EXPR_CALL] = read_call,
	[HN_EXPR_LET] = read_let,
};

static const struct hn_expr *read_plain(struct hn_expr_reader *x, const struct hn_json *v,
					enum hn_expr_op op, struct hn_spot spot)
{
	struct hn_expr like = { .op = (uint8_t)op, .dtype = HN_BOOL };
	uint32_t n = (uint32_t)forms[op].arity;
	const struct hn_expr *arg[3];

	if (!count_is(x, v, n, spot) || !read_args(x, v, 1, n, spot, arg)) {
		return NULL;
	}
	if (forms[op].result == 'A') {
		like.dtype = arg[0]->dtype;
	}
	return fitting(x, hn_expr_with_args(&like, arg, n, x->dag->a), spot);
}

static const struct hn_expr *read_node(struct hn_expr_reader *x, const struct hn_json *v,
				       struct hn_spot spot)
{
	const struct hn_json *head = NULL;

	if (spot.depth > HN_DAG_MAX_DEPTH) {
		return REFUSE(x, spot, "nested deeper than %d", HN_DAG_MAX_DEPTH);
	}
	if (hn_json_kind(v) == HN_JSON_ARRAY) {
		head = hn_json_first(v);
	}
	const char *name = head != NULL ? hn_json_string(head) : NULL;

	if (name == NULL) {
		return REFUSE(x, spot,
			      "expected an expression, [\"node\", ...], found %s",
			      hn_json_kind_name(v));
	}
	for (int op = 0; op < HN_N_EXPR; op++) {
		if (strcmp(hn_expr_op_name((enum hn_expr_op)op), name) == 0) {
			return specials[op] != NULL
				       ? specials[op](x, v, spot)
				       : read_plain(x, v, (enum hn_expr_op)op, spot);
		}
	}
	const char *known[HN_N_EXPR];

	for (int op = 0; op < HN_N_EXPR; op++) {
		known[op] = hn_expr_op_name((enum hn_expr_op)op);
	}
	return REFUSE(x, spot, "unknown node '%.40s'%s", name,
		      hn_dag_known(name, "nodes", known, HN_N_EXPR, 0, x->dag->a));
}

const struct hn_expr *hn_dag_read_expr(struct hn_expr_reader *x, const struct hn_json *v,
				       const struct hn_json_path *at)
{
	return read_node(x, v, (struct hn_spot){ at, 1 });
}
