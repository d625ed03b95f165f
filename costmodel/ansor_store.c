/* costmodel/ansor_store.c -- the value of a store: what it computes, and what it reads.
 *
 * Indices are those of the whole tensors, however much of them is held: Ansor reads the program
 * before its buffers are cut to size.
 */
#include "costmodel/ansor_int.h"

struct reading {
	const struct hn_ansor_nest *nest;
	const struct hn_op *op;
	const struct hn_node *stmt;
	const struct hn_expr **source; /* [op->reduce->n] in loop space */
	struct hn_ansor_store *to;
};

/* Where an operation is counted: of floats, of anything else; bool_op stands for none. */
struct counted {
	uint8_t op;
	enum hn_ansor_column of_float, of_other;
};

static const struct counted table[] = {
	{HN_EXPR_ADD, HN_ANSOR_float_addsub, HN_ANSOR_int_addsub},
	{HN_EXPR_SUB, HN_ANSOR_float_addsub, HN_ANSOR_int_addsub},
	{HN_EXPR_MUL, HN_ANSOR_float_mul, HN_ANSOR_int_mul},
	{HN_EXPR_DIV, HN_ANSOR_float_divmod, HN_ANSOR_int_divmod},
	{HN_EXPR_FLOORDIV, HN_ANSOR_float_divmod, HN_ANSOR_int_divmod},
	{HN_EXPR_FLOORMOD, HN_ANSOR_float_divmod, HN_ANSOR_int_divmod},
	{HN_EXPR_TRUNCMOD, HN_ANSOR_float_divmod, HN_ANSOR_int_divmod},
	{HN_EXPR_MIN, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_MAX, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_EQ, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_NE, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_LT, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_LE, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_GT, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_GE, HN_ANSOR_float_cmp, HN_ANSOR_int_cmp},
	{HN_EXPR_AND, HN_ANSOR_bool_op, HN_ANSOR_bool_op},
	{HN_EXPR_OR, HN_ANSOR_bool_op, HN_ANSOR_bool_op},
	{HN_EXPR_NOT, HN_ANSOR_bool_op, HN_ANSOR_bool_op},
	{HN_EXPR_SELECT, HN_ANSOR_select_op, HN_ANSOR_select_op},
	{HN_EXPR_IF, HN_ANSOR_float_mathfunc, HN_ANSOR_int_mathfunc},
	{HN_EXPR_CALL, HN_ANSOR_float_mathfunc, HN_ANSOR_int_mathfunc},
};

/* By the type of what it works on; a choice or a call by the type of its result.  A division by a
 * constant is a multiplication by its inverse. */
static void count(const struct hn_expr *e, struct hn_ansor_store *to)
{
	bool inverse = e->op == HN_EXPR_DIV && e->arg[1]->op == HN_EXPR_FLOAT;
	uint8_t op = inverse ? HN_EXPR_MUL : e->op;
	bool by_result = e->op == HN_EXPR_IF || e->op == HN_EXPR_CALL;
	uint8_t type = by_result || e->n_arg == 0 ? e->dtype : e->arg[0]->dtype;
	bool of_float = hn_dtype_class((enum hn_dtype)type) == HN_CLASS_FLOAT;

	for (size_t i = 0; i < HN_COUNT_OF(table); i++) {
		if (table[i].op == op) {
			to->count[of_float ? table[i].of_float : table[i].of_other]++;
		}
	}
}

/* The store's accesses to that buffer, made when there are none yet. */
static struct hn_ansor_access *access_to(struct reading *r, int32_t op, int32_t out)
{
	struct hn_ansor_store *to = r->to;
	const struct hn_op *of = r->nest->dag->op[op];

	for (uint32_t i = 0; i < to->n; i++) {
		if (to->access[i].op == op && to->access[i].out == out) {
			return &to->access[i];
		}
	}
	to->access = hn_arena_grow(r->nest->a, to->access, to->n, &to->cap,
				   sizeof *to->access);
	struct hn_ansor_access *access = &to->access[to->n++];

	*access = (struct hn_ansor_access){
		.op = op,
		.out = out,
		.elem_bytes = hn_dtype_bytes((enum hn_dtype)of->dtype[out]),
		.n_dim = of->n_dim,
		.shape = of->shape};
	return access;
}

static void add_index(struct reading *r, struct hn_ansor_access *access,
		      const struct hn_expr *const *index)
{
	access->index = hn_arena_grow(r->nest->a, access->index, access->n_index, &access->cap,
				      sizeof *access->index);
	access->index[access->n_index++] = index;
}

/* A buffer that is read and written is at its own place: the store's index says where. */
static void add_read(struct reading *r, int32_t op, int32_t out,
		     const struct hn_expr *const *index)
{
	struct hn_ansor_access *access = access_to(r, op, out);

	if (access->kind == HN_ANSOR_READ) {
		add_index(r, access, index);
	} else {
		access->kind = HN_ANSOR_READ_WRITE;
	}
}

static bool is_one(const struct hn_expr *e)
{
	return e->op == HN_EXPR_FLOAT && e->u.f == 1;
}

static void walk(struct reading *r, const struct hn_expr *e)
{
	bool operand = e->op == HN_EXPR_VAR && !hn_expr_is_size(e) && e->ref < HN_SLOT_LET;

	if (operand && e->ref >= HN_SLOT_RHS) {
		walk(r, r->source[e->ref - HN_SLOT_RHS]);
		return;
	}
	if (e->op == HN_EXPR_MUL && (is_one(e->arg[0]) || is_one(e->arg[1]))) {
		walk(r, e->arg[is_one(e->arg[0])]);
		return;
	}
	const struct hn_expr *const *arg = e->arg;
	uint32_t n_arg = e->n_arg;

	if (operand && e->ref >= HN_SLOT_LHS) {
		arg = r->stmt->axis;
		n_arg = r->op->n_spatial;
		add_read(r, r->stmt->stage, e->ref - HN_SLOT_LHS, arg);
	} else if (e->op == HN_EXPR_LOAD) {
		add_read(r, e->ref, e->out, arg);
	} else {
		count(e, r->to);
	}
	for (uint32_t i = 0; i < n_arg; i++) {
		walk(r, arg[i]);
	}
}

static const struct hn_expr *in_loops(const struct reading *r, const struct hn_expr *e)
{
	const struct hn_ansor_nest *nest = r->nest;
	uint32_t n_axis = r->op->n_spatial + r->op->n_reduce;

	e = hn_expr_substitute(e, r->stmt->axis, n_axis, nest->a);
	return hn_simplify(e, nest->span, nest->tree->n_loop, nest->a);
}

void hn_ansor_store_read(const struct hn_ansor_nest *nest, const struct hn_node *stmt,
			 uint32_t out, struct hn_ansor_store *ret)
{
	const struct hn_op *op = nest->dag->op[stmt->stage];
	struct reading r = {.nest = nest, .op = op, .stmt = stmt, .to = ret};

	*ret = (struct hn_ansor_store){0};
	struct hn_ansor_access *stored = access_to(&r, stmt->stage, (int32_t)out);

	stored->kind = HN_ANSOR_WRITE;
	add_index(&r, stored, stmt->axis);
	if (stmt->stmt == HN_STMT_UPDATE) {
		r.source = HN_NEW_ARRAY(nest->a, const struct hn_expr *, op->reduce->n);
		for (uint32_t i = 0; i < op->reduce->n; i++) {
			r.source[i] = in_loops(&r, op->reduce->source[i]);
		}
		walk(&r, op->reduce->result[out]);
	} else if (stmt->stmt == HN_STMT_COMPUTE) {
		walk(&r, in_loops(&r, op->body[out]));
	}
}
