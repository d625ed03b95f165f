/* loopstate/read/dag_text_operand.c -- what a name in an expression stands for: an element of a
 * tensor, a function, a conversion, an index, a constant, or what `let` and combiners have
 * named. */
#include "loopstate/read/dag_text_value.h"

#include <string.h>

/* "(" e, e, ... ")" onto arg; the count, or -1. */
static int parse_list(struct hn_text *t, struct hn_text_val *arg, int max)
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
		arg[n] = hn_text_choice(t);
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

static struct hn_text_val parse_load(struct hn_text *t, int32_t op, int32_t out,
				     const struct hn_token *at)
{
	const struct hn_expr like = { .op = HN_EXPR_LOAD,
				      .dtype = t->op[op]->dtype[out],
				      .ref = op,
				      .out = out };
	struct hn_text_val arg[HN_DAG_MAX_RANK];
	int n = 0;

	if (t->op[op]->n_dim > 0 || hn_text_is(t, "(")) {
		n = parse_list(t, arg, HN_DAG_MAX_RANK);
	}
	for (int i = 0; i < n; i++) {
		if (!hn_text_settle(t, &arg[i], HN_I32)) {
			return hn_text_failed;
		}
	}
	struct hn_text_val v = n < 0 ? hn_text_failed : hn_text_make(t, &like, arg, (uint32_t)n, at);

	if (v.e != NULL && !room_for_load(t, at)) {
		return hn_text_failed;
	}
	if (v.e != NULL) {
		t->load[t->n_load++] =
			(struct hn_text_load){ v.e, t->guard_depth > 0, *at };
	}
	return v;
}

static struct hn_text_val parse_cast(struct hn_text *t, enum hn_dtype to,
				     const struct hn_token *at)
{
	const struct hn_expr like = { .op = HN_EXPR_CAST, .dtype = (uint8_t)to };
	struct hn_text_val arg[1];
	int n = parse_list(t, arg, 1);

	if (n != 1) {
		hn_text_fail(t, at, "a conversion takes one value");
		return hn_text_failed;
	}
	if (arg[0].loose &&
	    (!hn_text_is_float(arg[0].e) || hn_dtype_class(to) == HN_CLASS_FLOAT)) {
		return hn_text_settle(t, &arg[0], to) ? arg[0] : hn_text_failed;
	}
	arg[0].loose = false;
	return hn_text_make(t, &like, arg, 1, at);
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
	size_t n = 0, n_more = 0, max = HN_N_FN + hn_text_n_pair + 1;
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
static struct hn_text_val parse_function(struct hn_text *t, const char *name,
					 const struct hn_token *at)
{
	const struct hn_text_pair *pair = pair_of(name);
	bool select = strcmp(name, "select") == 0;
	enum hn_fn f = hn_fn_of(name);
	struct hn_text_val arg[3];

	if (pair == NULL && !select && f == HN_N_FN) {
		if (is_target(t, name)) {
			hn_text_fail(t, at, "'%s' reads itself (a cycle)", name);
		} else {
			hn_text_fail(t, at, "there is no tensor or function '%s' up to here%s",
				     name, known_functions(t, name));
		}
		return hn_text_failed;
	}
	int want = pair != NULL ? 2 : select ? 3 : (int)hn_fn_arity(f);
	int n = parse_list(t, arg, 3);

	if (n != want) {
		hn_text_fail(t, at, "%s takes %d argument%s", name, want, want > 1 ? "s" : "");
		return hn_text_failed;
	}
	if (select) {
		return hn_text_choose(t, HN_EXPR_SELECT, arg, at);
	}
	if (n == 2 ? !hn_text_unify(t, &arg[0], &arg[1]) : !hn_text_settle(t, &arg[0], HN_F32)) {
		return hn_text_failed;
	}
	struct hn_expr like = { .op = pair != NULL ? (uint8_t)pair->op : HN_EXPR_CALL,
				.dtype = arg[0].e->dtype,
				.ref = pair != NULL ? 0 : (int32_t)f };

	return hn_text_make(t, &like, arg, (uint32_t)n, at);
}

/* A name that is no tensor: an index; a new one is reduced over. */
static struct hn_text_val parse_index(struct hn_text *t, const char *name,
				      const struct hn_token *at)
{
	uint32_t i = 0;

	while (i < t->n_index && strcmp(t->index[i].name, name) != 0) {
		i++;
	}
	if (t->outer != NULL &&
	    (&t->index[i] >= t->outer || t->outer < &t->index[t->n_spatial])) {
		hn_text_fail(t, at, "the range of '%s' cannot end at '%s', which is no index "
			     "outside of it", t->outer->name, name);
		return hn_text_failed;
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
			return hn_text_failed;
		}
		t->index[t->n_index++] =
			(struct hn_text_index){ .name = name, .at = *at };
	}
	return (struct hn_text_val){ hn_expr_var((int32_t)i, HN_I32, name, t->a), false, *at, 1 };
}

/* let NAME = e in e */
static struct hn_text_val parse_let(struct hn_text *t, const struct hn_token *at)
{
	const char *name = hn_text_want_name(t, "a value");
	struct hn_text_val arg[2] = { hn_text_failed, hn_text_failed };

	hn_text_want(t, "=");
	arg[0] = t->rc == 0 ? hn_text_choice(t) : hn_text_failed;
	if (!hn_text_settle_open(t, &arg[0]) || !hn_text_want(t, "in")) {
		return hn_text_failed;
	}
	const struct hn_text_let mine = { t->let, name, HN_SLOT_LET + t->n_let++,
					  (enum hn_dtype)arg[0].e->dtype };

	t->let = &mine;
	arg[1] = hn_text_choice(t);
	t->let = mine.up;
	if (!hn_text_settle_open(t, &arg[1])) {
		return hn_text_failed;
	}
	const struct hn_expr like = { .op = HN_EXPR_LET,
				      .dtype = arg[1].e->dtype,
				      .ref = mine.slot,
				      .u.name = name };

	return hn_text_make(t, &like, arg, 2, at);
}

/* A constant that has a name. */
static struct hn_text_val parse_constant(struct hn_text *t, const struct hn_token *at)
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
			return (struct hn_text_val){ real ? hn_expr_float(row[i].v, HN_F32, t->a)
						  : hn_expr_int(row[i].v != 0, HN_BOOL, t->a),
					     real, *at, 1 };
		}
	}
	return hn_text_failed;
}

static struct hn_text_val variable(struct hn_text *t, int32_t slot, enum hn_dtype type,
				   const char *name, const struct hn_token *at)
{
	return (struct hn_text_val){ hn_expr_var(slot, type, name, t->a), false, *at, 1 };
}

/* What has been given a name: a let, a combiner's argument, a size. */
static struct hn_text_val parse_bound_name(struct hn_text *t, const struct hn_token *at)
{
	for (const struct hn_text_let *l = t->let; l != NULL; l = l->up) {
		if (strcmp(l->name, at->text) == 0) {
			return variable(t, l->slot, l->dtype, l->name, at);
		}
	}
	for (uint32_t k = 0; t->side[1] != NULL && k < 2 * t->n_target; k++) {
		bool left = k < t->n_target;
		uint32_t i = left ? k : k - t->n_target;
		const char *name = t->side[left ? 0 : 1][i];

		if (strcmp(name, at->text) == 0) {
			return variable(t, (left ? HN_SLOT_LHS : HN_SLOT_RHS) + (int32_t)i,
					(enum hn_dtype)t->side_type[i], name, at);
		}
	}
	for (uint32_t k = 0; t->side[1] == NULL && k < t->sizes.n; k++) {
		if (strcmp(t->size[k].name, at->text) == 0) {
			return variable(t, HN_SLOT_SIZE + (int32_t)k, HN_I32, t->size[k].name, at);
		}
	}
	return hn_text_failed;
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

struct hn_text_val hn_text_named(struct hn_text *t)
{
	struct hn_token at = t->tok;
	enum hn_dtype type = hn_dtype_of(at.text);
	int32_t out, op = t->side[1] == NULL ? hn_text_tensor(t, at.text, &out) : -1;
	struct hn_text_val v;

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
			return hn_text_failed;
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
		return hn_text_failed;
	}
	if (t->in_extent) {
		hn_text_fail(t, &at,
			     "there is no size '%s': declare it as a parameter, `%s in [1, "
			     "4096]`",
			     at.text, at.text);
		return hn_text_failed;
	}
	return parse_index(t, at.text, &at);
}
