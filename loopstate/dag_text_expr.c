/* loopstate/dag_text_expr.c -- expressions of the text notation, by recursive descent.
 *
 * Literals have no type of their own: they take the other operand's, so that `2 * A(i)`
 * reads as one expects.  / and % on integers round down.  `c ? a : b` is lazy (`if`).
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "loopstate/dag_text_priv.h"

struct val {
	const struct hn_expr *e; /* NULL: failed */
	bool loose; /* a literal, its type still open; int32 or float32 so far */
	struct hn_token at;
	uint32_t height;
};

static struct val parse_choice(struct hn_text *t);
static struct val parse_unary(struct hn_text *t);

static const struct val failed = { .e = NULL };

static bool is_float(const struct hn_expr *e)
{
	return hn_dtype_class(e->dtype) == HN_CLASS_FLOAT;
}

/* A literal as a value of type `to`. */
static bool settle(struct hn_text *t, struct val *v, enum hn_dtype to)
{
	bool real = hn_dtype_class(to) == HN_CLASS_FLOAT;

	/* A fraction that stays of its type is still to be rounded to it. */
	if (!v->loose || (v->e->dtype == to && !real)) {
		v->loose = false;
		return true;
	}
	if (is_float(v->e) && !real) {
		hn_text_fail(t, &v->at, "a fraction where %s is needed",
			     hn_dtype_name(to));
		return false;
	}
	double f = is_float(v->e) ? v->e->u.f : (double)v->e->u.i;

	double rounded = real ? hn_float_round(to, f) : f;

	if (isfinite(f) && !isfinite(rounded)) {
		hn_text_fail(t, &v->at, "%g does not fit %s", f, hn_dtype_name(to));
		return false;
	}
	v->e = real ? hn_expr_float(rounded, to, t->a) : hn_expr_int(v->e->u.i, to, t->a);
	v->loose = false;
	return true;
}

/* The node, checked; its place is `at`. */
static struct val make(struct hn_text *t, const struct hn_expr *like,
		       const struct val *arg, uint32_t n, const struct hn_token *at)
{
	/* Every name is in scope by construction; sizes come later. */
	const struct hn_op scope = { .n_spatial = HN_DAG_MAX_ITERS,
				     .n_out = HN_DAG_MAX_OUT,
				     .dtype = t->side_type,
				     .sizes = hn_text_sizes(t) };
	const struct hn_node_place place = { &scope, t->op, t->n_op, t->side[1] != NULL };
	const struct hn_expr *e[HN_DAG_MAX_RANK];
	struct val ret = { .at = *at, .height = 1 };
	char buf[256];

	for (uint32_t i = 0; i < n; i++) {
		e[i] = arg[i].e;
		ret.height = arg[i].height >= ret.height ? arg[i].height + 1 : ret.height;
	}
	if (ret.height > HN_DAG_MAX_DEPTH) {
		hn_text_fail(t, at, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return failed;
	}
	ret.e = hn_expr_with_args(like, e, n, t->a);
	const char *fault = hn_dag_node_fault(&place, ret.e, buf, sizeof(buf));

	if (fault != NULL) {
		hn_text_fail(t, at, "%s", fault);
		return failed;
	}
	return ret;
}

/* Literals take the type of the value beside them. */
static bool unify(struct hn_text *t, struct val *x, struct val *y)
{
	if (x->loose && y->loose) {
		enum hn_dtype to = is_float(x->e) ? x->e->dtype : y->e->dtype;

		return settle(t, x, to) && settle(t, y, to);
	}
	return x->loose ? settle(t, x, y->e->dtype) : settle(t, y, x->e->dtype);
}

/* Two literals: their value, still a literal. */
static struct val fold_literals(struct hn_text *t, enum hn_expr_op op, struct val x,
				struct val y, const struct hn_token *at)
{
	bool real = is_float(x.e) || is_float(y.e);
	double a = is_float(x.e) ? x.e->u.f : (double)x.e->u.i;
	double b = is_float(y.e) ? y.e->u.f : (double)y.e->u.i;
	double v = op == HN_EXPR_ADD   ? a + b
		   : op == HN_EXPR_SUB ? a - b
		   : op == HN_EXPR_MUL ? a * b
				       : a / b;
	struct val ret = { .loose = true, .at = *at, .height = 1 };

	if (real) {
		ret.e = hn_expr_float(v, HN_F32, t->a);
		return ret;
	}
	if (op == HN_EXPR_DIV) {
		hn_text_fail(
			t, at,
			"a quotient of two whole numbers: write 1.0/3 or the result");
		return failed;
	}
	ret.e = hn_expr_binary(op, x.e, y.e, t->a);
	if (ret.e->op != HN_EXPR_INT) {
		hn_text_fail(t, at, "the number is too large");
		return failed;
	}
	return ret;
}

const struct hn_text_binary hn_text_binaries[] = {
	{ "||", 1, HN_EXPR_OR, HN_EXPR_OR },
	{ "&&", 2, HN_EXPR_AND, HN_EXPR_AND },
	{ "==", 3, HN_EXPR_EQ, HN_EXPR_EQ },
	{ "!=", 3, HN_EXPR_NE, HN_EXPR_NE },
	{ "<=", 4, HN_EXPR_LE, HN_EXPR_LE },
	{ ">=", 4, HN_EXPR_GE, HN_EXPR_GE },
	{ "<", 4, HN_EXPR_LT, HN_EXPR_LT },
	{ ">", 4, HN_EXPR_GT, HN_EXPR_GT },
	{ "+", 5, HN_EXPR_ADD, HN_EXPR_ADD },
	{ "-", 5, HN_EXPR_SUB, HN_EXPR_SUB },
	{ "*", 6, HN_EXPR_MUL, HN_EXPR_MUL },
	{ "/", 6, HN_EXPR_DIV, HN_EXPR_FLOORDIV },
	{ "%", 6, HN_EXPR_FLOORMOD, HN_EXPR_FLOORMOD },
};
const uint32_t hn_text_n_binary = HN_COUNT_OF(hn_text_binaries);

const struct hn_text_pair hn_text_pairs[] = {
	{ "min", HN_EXPR_MIN },
	{ "max", HN_EXPR_MAX },
	{ "div", HN_EXPR_DIV },
	{ "truncmod", HN_EXPR_TRUNCMOD },
	{ "floordiv", HN_EXPR_FLOORDIV },
	{ "floormod", HN_EXPR_FLOORMOD },
};
const uint32_t hn_text_n_pair = HN_COUNT_OF(hn_text_pairs);

static struct val join(struct hn_text *t, const struct hn_text_binary *row, struct val x,
		       struct val y, const struct hn_token *at)
{
	bool arith = row->level >= 5;

	if (x.loose && y.loose && arith && row->floats != HN_EXPR_FLOORMOD) {
		return fold_literals(t, row->floats, x, y, at);
	}
	if (!unify(t, &x, &y)) {
		return failed;
	}
	struct hn_expr like = { .op = (uint8_t)(is_float(x.e) ? row->floats : row->ints),
				.dtype = arith ? x.e->dtype : HN_BOOL };
	const struct val arg[2] = { x, y };

	return make(t, &like, arg, 2, at);
}

static const struct hn_text_binary *binary_here(const struct hn_text *t, int level)
{
	for (uint32_t i = 0; i < hn_text_n_binary; i++) {
		if (hn_text_binaries[i].level >= level && t->tok.kind == HN_TOKEN_SIGN &&
		    hn_text_is(t, hn_text_binaries[i].sign)) {
			return &hn_text_binaries[i];
		}
	}
	return NULL;
}

/* Operators of at least `level`, left to right. */
static struct val parse_binary(struct hn_text *t, int level)
{
	struct val x = parse_unary(t);
	const struct hn_text_binary *row;

	while (x.e != NULL && (row = binary_here(t, level)) != NULL) {
		struct hn_token at = t->tok;

		hn_text_next(t);
		struct val y = parse_binary(t, row->level + 1);

		x = y.e != NULL ? join(t, row, x, y, &at) : failed;
	}
	return x;
}

static struct val choose(struct hn_text *t, enum hn_expr_op op, struct val arg[3],
			 const struct hn_token *at)
{
	if (!unify(t, &arg[1], &arg[2])) {
		return failed;
	}
	const struct hn_expr like = { .op = (uint8_t)op, .dtype = arg[1].e->dtype };

	return make(t, &like, arg, 3, at);
}

/* cond `?` e [ `:` e ].  Without the other side, where *ret_condition may take it, cond goes there
 * and what follows in the statement stays under it. */
static struct val parse_choice_or(struct hn_text *t, const struct hn_expr **ret_condition)
{
	if (++t->depth > HN_TEXT_MAX_DEPTH) {
		hn_text_fail(t, &t->tok, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return failed;
	}
	struct val arg[3] = { parse_binary(t, 1), failed, failed };
	struct hn_token at = t->tok;

	if (arg[0].e != NULL && hn_text_take(t, "?")) {
		t->guard_depth++;
		arg[1] = parse_choice(t);
		if (arg[1].e != NULL && ret_condition != NULL && !hn_text_is(t, ":")) {
			*ret_condition = arg[0].e;
			t->depth--;
			return arg[1];
		}
		if (arg[1].e != NULL && hn_text_want(t, ":")) {
			arg[2] = parse_choice(t);
		}
		t->guard_depth--;
		arg[0] = arg[2].e != NULL ? choose(t, HN_EXPR_IF, arg, &at) : failed;
	}
	t->depth--;
	return arg[0];
}

static struct val parse_choice(struct hn_text *t)
{
	return parse_choice_or(t, NULL);
}

/* "(" e, e, ... ")" onto arg; the count, or -1. */
static int parse_list(struct hn_text *t, struct val *arg, int max)
{
	int n = 0;

	if (!hn_text_want(t, "(")) {
		return -1;
	}
	while (!hn_text_take(t, ")")) {
		if (n == max) {
			hn_text_fail(t, &t->tok, "more than %d arguments", max);
		}
		if (t->rc != 0 || (n > 0 && !hn_text_want(t, ","))) {
			return -1;
		}
		arg[n] = parse_choice(t);
		if (arg[n++].e == NULL) {
			return -1;
		}
	}
	return n;
}

static bool room_for_load(struct hn_text *t, const struct hn_token *at)
{
	if (t->n_load < t->max_load) {
		return true;
	}
	if (t->max_load == HN_TEXT_MAX_LOADS) {
		hn_text_fail(t, at, "more than %d loads in a statement", HN_TEXT_MAX_LOADS);
		return false;
	}
	uint32_t max = t->max_load > 0 ? 2 * t->max_load : 64;
	struct hn_text_load *load = HN_NEW_ARRAY(t->a, struct hn_text_load, max);

	if (t->n_load > 0) {
		memcpy(load, t->load, t->n_load * sizeof(*load));
	}
	t->load = load;
	t->max_load = max;
	return true;
}

static struct val parse_load(struct hn_text *t, int32_t op, int32_t out,
			     const struct hn_token *at)
{
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = t->op[op]->dtype[out],
				      .ref = op,
				      .out = out };
	struct val arg[HN_DAG_MAX_RANK];
	int n = 0;

	if (t->op[op]->n_dim > 0 || hn_text_is(t, "(")) {
		n = parse_list(t, arg, HN_DAG_MAX_RANK);
	}
	for (int i = 0; i < n; i++) {
		if (!settle(t, &arg[i], HN_I32)) {
			return failed;
		}
	}
	struct val v = n < 0 ? failed : make(t, &like, arg, (uint32_t)n, at);

	if (v.e != NULL && !room_for_load(t, at)) {
		return failed;
	}
	if (v.e != NULL) {
		t->load[t->n_load++] =
			(struct hn_text_load){ v.e, t->guard_depth > 0, *at };
	}
	return v;
}

static struct val parse_cast(struct hn_text *t, enum hn_dtype to,
			     const struct hn_token *at)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = (uint8_t)to };
	struct val arg[1];
	int n = parse_list(t, arg, 1);

	if (n != 1) {
		hn_text_fail(t, at, "a conversion takes one value");
		return failed;
	}
	if (arg[0].loose &&
	    (!is_float(arg[0].e) || hn_dtype_class(to) == HN_CLASS_FLOAT)) {
		return settle(t, &arg[0], to) ? arg[0] : failed;
	}
	arg[0].loose = false;
	return make(t, &like, arg, 1, at);
}

static bool is_target(const struct hn_text *t, const char *name)
{
	for (uint32_t k = 0; k < t->n_target; k++) {
		if (strcmp(t->target[k], name) == 0) {
			return true;
		}
	}
	return false;
}

static const struct hn_text_pair *pair_of(const char *name)
{
	for (uint32_t i = 0; i < hn_text_n_pair; i++) {
		if (strcmp(hn_text_pairs[i].name, name) == 0) {
			return &hn_text_pairs[i];
		}
	}
	return NULL;
}

/* The functions of calls.def and of this notation; tensors are meant, too, but not listed. */
static const char *known_functions(const struct hn_text *t, const char *word)
{
	size_t n = 0, n_more = 0, max = HN_N_FN + HN_COUNT_OF(hn_text_pairs) + 1;
	const char **name = HN_NEW_ARRAY(t->a, const char *, max + t->n_op);

	for (int i = 0; i < HN_N_FN; i++) {
		name[n++] = hn_fn_name((enum hn_fn)i);
	}
	for (uint32_t i = 0; i < hn_text_n_pair; i++) {
		name[n++] = hn_text_pairs[i].name;
	}
	name[n++] = "select";
	for (uint32_t i = 0; i < t->n_op; i++) {
		name[n + n_more++] = t->op[i]->id;
	}
	return hn_dag_known(word, "functions", name, n, n_more, t->a);
}

/* select, the nodes of two values that have no sign, and the functions of calls.def. */
static struct val parse_function(struct hn_text *t, const char *name,
				 const struct hn_token *at)
{
	const struct hn_text_pair *pair = pair_of(name);
	bool select = strcmp(name, "select") == 0;
	enum hn_fn f = hn_fn_of(name);
	struct val arg[3];

	if (pair == NULL && !select && f == HN_N_FN) {
		if (is_target(t, name)) {
			hn_text_fail(t, at, "'%s' reads itself (a cycle)", name);
		} else {
			hn_text_fail(t, at, "there is no tensor or function '%s' up to here%s",
				     name, known_functions(t, name));
		}
		return failed;
	}
	int want = pair != NULL ? 2 : select ? 3 : (int)hn_fn_arity(f);
	int n = parse_list(t, arg, 3);

	if (n != want) {
		hn_text_fail(t, at, "%s takes %d argument%s", name, want, want > 1 ? "s" : "");
		return failed;
	}
	if (select) {
		return choose(t, HN_EXPR_SELECT, arg, at);
	}
	if (n == 2 ? !unify(t, &arg[0], &arg[1]) : !settle(t, &arg[0], HN_F32)) {
		return failed;
	}
	struct hn_expr like = { .op = pair != NULL ? (uint8_t)pair->op : HN_EXPR_CALL,
				.dtype = arg[0].e->dtype,
				.ref = pair != NULL ? 0 : (int32_t)f };

	return make(t, &like, arg, (uint32_t)n, at);
}

/* A name that is no tensor: an index; a new one is reduced over. */
static struct val parse_index(struct hn_text *t, const char *name,
			      const struct hn_token *at)
{
	uint32_t i = 0;

	while (i < t->n_index && strcmp(t->index[i].name, name) != 0) {
		i++;
	}
	if (i == t->n_index) {
		if (is_target(t, name)) {
			hn_text_fail(t, at, "'%s' reads itself (a cycle)", name);
		} else if (!t->reduces) {
			hn_text_fail(
				t, at,
				"index '%s' is bound by nothing: it is not on the left, "
				"and '=' does not reduce (+=! does)",
				name);
		} else if (i == HN_DAG_MAX_ITERS) {
			hn_text_fail(t, at, "more than %d indices", HN_DAG_MAX_ITERS);
		}
		if (t->rc != 0) {
			return failed;
		}
		t->index[t->n_index++] =
			(struct hn_text_index){ .name = name, .at = *at };
	}
	return (struct val){ hn_expr_var((int32_t)i, HN_I32, name, t->a), false, *at, 1 };
}

/* let NAME = e in e */
static struct val parse_let(struct hn_text *t, const struct hn_token *at)
{
	const char *name = hn_text_want_name(t, "a value");
	struct val arg[2] = { failed, failed };

	hn_text_want(t, "=");
	arg[0] = t->rc == 0 ? parse_choice(t) : failed;
	if (arg[0].e == NULL || !settle(t, &arg[0], is_float(arg[0].e) ? HN_F32 : HN_I32) ||
	    !hn_text_want(t, "in")) {
		return failed;
	}
	const struct hn_text_let mine = { t->let, name, HN_SLOT_LET + t->n_let++,
					  (enum hn_dtype)arg[0].e->dtype };

	t->let = &mine;
	arg[1] = parse_choice(t);
	t->let = mine.up;
	if (arg[1].e == NULL ||
	    !settle(t, &arg[1], is_float(arg[1].e) ? HN_F32 : HN_I32)) {
		return failed;
	}
	const struct hn_expr like = { .op = HN_EXPR_LET,
				      .dtype = arg[1].e->dtype,
				      .ref = mine.slot,
				      .u.name = name };

	return make(t, &like, arg, 2, at);
}

/* A constant that has a name. */
static struct val parse_constant(struct hn_text *t, const struct hn_token *at)
{
	static const struct {
		const char *name;
		double v;
		enum hn_dtype dtype;
	} row[] = { { "inf", __builtin_inf(), HN_F32 },
		    { "nan", __builtin_nan(""), HN_F32 },
		    { "true", 1, HN_BOOL },
		    { "false", 0, HN_BOOL } };

	for (size_t i = 0; i < HN_COUNT_OF(row); i++) {
		bool real = row[i].dtype == HN_F32;

		if (strcmp(row[i].name, at->text) == 0) {
			return (struct val){ real ? hn_expr_float(row[i].v, HN_F32, t->a)
						  : hn_expr_int(row[i].v != 0, HN_BOOL, t->a),
					     real, *at, 1 };
		}
	}
	return failed;
}

/* What has been given a name: a let, a combiner's argument, a size. */
static struct val parse_bound_name(struct hn_text *t, const struct hn_token *at)
{
	for (const struct hn_text_let *l = t->let; l != NULL; l = l->up) {
		if (strcmp(l->name, at->text) == 0) {
			return (struct val){ hn_expr_var(l->slot, l->dtype, l->name, t->a), false,
					     *at, 1 };
		}
	}
	for (uint32_t k = 0; t->side[1] != NULL && k < 2 * t->n_target; k++) {
		bool left = k < t->n_target;
		uint32_t i = left ? k : k - t->n_target;
		const char *name = t->side[left ? 0 : 1][i];

		if (strcmp(name, at->text) == 0) {
			int32_t slot = (left ? HN_SLOT_LHS : HN_SLOT_RHS) + (int32_t)i;

			return (struct val){ hn_expr_var(slot, (enum hn_dtype)t->side_type[i], name,
							 t->a),
					     false, *at, 1 };
		}
	}
	for (uint32_t k = 0; t->side[1] == NULL && k < t->sizes.n; k++) {
		if (strcmp(t->size[k].name, at->text) == 0) {
			return (struct val){ hn_expr_var(HN_SLOT_SIZE + (int32_t)k, HN_I32,
							 t->size[k].name, t->a),
					     false, *at, 1 };
		}
	}
	return failed;
}

int32_t hn_text_tensor(const struct hn_text *t, const char *name, int32_t *ret_out)
{
	for (uint32_t i = 0; i < t->n_op; i++) {
		uint32_t n = t->out_name[i] != NULL ? t->op[i]->n_out : 1;

		for (uint32_t k = 0; k < n; k++) {
			if (strcmp(n > 1 ? t->out_name[i][k] : t->op[i]->id, name) == 0) {
				*ret_out = (int32_t)k;
				return (int32_t)i;
			}
		}
	}
	return -1;
}

static struct val parse_named(struct hn_text *t)
{
	struct hn_token at = t->tok;
	enum hn_dtype type = hn_dtype_of(at.text);
	int32_t out, op = t->side[1] == NULL ? hn_text_tensor(t, at.text, &out) : -1;
	struct val v;

	hn_text_next(t);
	if (op >= 0) {
		return parse_load(t, op, out, &at);
	}
	v = parse_bound_name(t, &at);
	if (v.e != NULL) {
		return v;
	}
	for (uint32_t i = 0; i < t->n_param; i++) {
		if (!t->param[i].placed && strcmp(t->param[i].op->id, at.text) == 0) {
			hn_text_fail(t, &at, "'%s' is read before `input %s`", at.text, at.text);
			return failed;
		}
	}
	if (type != HN_N_DTYPE) {
		return parse_cast(t, type, &at);
	}
	if (hn_text_is(t, "(")) {
		return parse_function(t, at.text, &at);
	}
	v = parse_constant(t, &at);
	if (v.e != NULL) {
		return v;
	}
	if (strcmp(at.text, "let") == 0 && t->tok.kind == HN_TOKEN_NAME) {
		return parse_let(t, &at);
	}
	if (t->side[1] != NULL) {
		hn_text_fail(t, &at, "'%s' is no argument of the combiner, which names nothing else",
			     at.text);
		return failed;
	}
	if (t->in_extent) {
		hn_text_fail(t, &at,
			     "there is no size '%s': declare it as a parameter, `%s in [1, "
			     "4096]`",
			     at.text, at.text);
		return failed;
	}
	return parse_index(t, at.text, &at);
}

static struct val parse_primary(struct hn_text *t)
{
	struct hn_token at = t->tok;
	struct val v = { .loose = true, .at = at, .height = 1 };

	if (t->rc != 0) {
		return failed;
	}
	switch (at.kind) {
	case HN_TOKEN_NAME:
		return parse_named(t);
	case HN_TOKEN_INT:
		if (at.i < 0) {
			hn_text_fail(t, &at, "not a number: '%s'", at.text);
			return failed;
		}
		v.e = hn_expr_int(at.i, HN_I32, t->a);
		hn_text_next(t);
		return v;
	case HN_TOKEN_FLOAT:
		v.e = hn_expr_float(at.f, HN_F32, t->a);
		hn_text_next(t);
		return v;
	default:
		break;
	}
	if (!hn_text_take(t, "(")) {
		hn_text_fail(t, &at, "expected an expression, found '%s'", at.text);
		return failed;
	}
	v = parse_choice(t);
	return v.e != NULL && hn_text_want(t, ")") ? v : failed;
}

static struct val negate(struct hn_text *t, struct val v, const struct hn_token *at)
{
	bool real = is_float(v.e);
	const struct hn_expr like = { .op = HN_EXPR_SUB, .dtype = v.e->dtype };
	struct val arg[2] = { { .loose = true, .at = *at, .height = 1 }, v };

	if (v.loose) {
		v.e = real ? hn_expr_float(-v.e->u.f, HN_F32, t->a)
			   : hn_expr_int(-v.e->u.i, HN_I32, t->a);
		return v;
	}
	arg[0].e = hn_expr_int(0, HN_I32, t->a);
	return unify(t, &arg[0], &arg[1]) ? make(t, &like, arg, 2, at) : failed;
}

static struct val parse_unary(struct hn_text *t)
{
	static const struct hn_expr not_like = { .op = HN_EXPR_NOT, .dtype = HN_BOOL };
	struct hn_token at = t->tok;
	bool minus = hn_text_is(t, "-");

	if (!minus && !hn_text_is(t, "!")) {
		return parse_primary(t);
	}
	if (++t->depth > HN_TEXT_MAX_DEPTH) {
		hn_text_fail(t, &at, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return failed;
	}
	hn_text_next(t);
	if (minus && t->tok.kind == HN_TOKEN_INT && t->tok.i < 0) { /* the least int64 */
		struct val least = { hn_expr_int(t->tok.i, HN_I32, t->a), true, at, 1 };

		t->depth--;
		hn_text_next(t);
		return least;
	}
	struct val v = parse_unary(t);

	t->depth--;
	if (v.e == NULL) {
		return failed;
	}
	return minus ? negate(t, v, &at) : make(t, &not_like, &v, 1, &at);
}

static const struct hn_expr *settled(struct hn_text *t, struct val v, enum hn_dtype want)
{
	if (v.e == NULL) {
		return NULL;
	}
	enum hn_dtype open = is_float(v.e) ? HN_F32 : HN_I32;

	return settle(t, &v, want != HN_N_DTYPE ? want : open) ? v.e : NULL;
}

const struct hn_expr *hn_text_expr(struct hn_text *t, enum hn_dtype want)
{
	return settled(t, parse_choice(t), want);
}

const struct hn_expr *hn_text_source(struct hn_text *t, const struct hn_expr **ret_condition)
{
	const struct hn_expr *e = settled(t, parse_choice_or(t, ret_condition), HN_N_DTYPE);
	const struct hn_expr *c = *ret_condition;

	if (c != NULL && c->op == HN_EXPR_INT && c->dtype == HN_BOOL && c->u.i != 0) {
		*ret_condition = NULL; /* always */
	}
	return e;
}
