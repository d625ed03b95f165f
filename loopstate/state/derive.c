/* derive.c -- one op more in a dag: the shift of all later ops, and the two caches. */
#include "loopstate/state/derive.h"

#include <string.h>

/* How loads change: ops >= at move up; `from` (or nothing, -1), first output, is read
 * from `to` instead. */
struct redirect {
	int32_t at;
	int32_t from, to;
};

static const struct hn_expr *redirect_load(const struct hn_expr *e, void *ctx,
					   struct hn_arena *a)
{
	const struct redirect *r = ctx;
	int32_t ref = e->ref;

	if (e->op != HN_EXPR_LOAD) {
		return e;
	}
	if (ref >= r->at) {
		ref++;
	} else if (ref == r->from && e->out == 0) {
		ref = r->to;
	}
	if (ref == e->ref) {
		return e;
	}
	struct hn_expr like;

	memcpy(&like, e, sizeof(like));
	like.ref = ref;
	return hn_expr_with_args(&like, e->arg, e->n_arg, a);
}

static const struct hn_expr *const *map_all(const struct hn_expr *const *e, uint32_t n,
					    hn_expr_map_fn map, void *ctx,
					    struct hn_arena *a)
{
	const struct hn_expr **to = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		to[i] = hn_expr_map(e[i], map, ctx, a);
	}
	return to;
}

const struct hn_op *hn_derive_map(const struct hn_op *op, hn_expr_map_fn map, void *ctx,
				  struct hn_arena *a)
{
	struct hn_op *copy = HN_NEW(a, struct hn_op);

	*copy = *op;
	if (op->reduce == NULL) {
		copy->body = map_all(op->body, op->n_out, map, ctx, a);
		return copy;
	}
	struct hn_reduce *reduce = HN_NEW(a, struct hn_reduce);

	*reduce = *op->reduce;
	reduce->source = map_all(reduce->source, reduce->n, map, ctx, a);
	if (reduce->condition != NULL) {
		reduce->condition = hn_expr_map(reduce->condition, map, ctx, a);
	}
	copy->reduce = reduce;
	return copy;
}

static bool is_reader(int32_t op, const int64_t *reader, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (reader[i] == op) {
			return true;
		}
	}
	return false;
}

static bool reads_moved(const struct hn_op_access *acc, int32_t at)
{
	for (uint32_t i = 0; i < acc->n_producer; i++) {
		if (acc->producer[i] >= at) {
			return true;
		}
	}
	return false;
}

struct hn_dag *hn_derive_shift(const struct hn_state *state, int32_t at,
			       const int64_t *reader, uint32_t n_reader,
			       const struct hn_op ***ret_op, struct hn_arena *a)
{
	const struct hn_dag *old = state->dag;
	struct hn_dag *dag = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, old->n_op + 1);
	int32_t *arg = HN_NEW_ARRAY(a, int32_t, old->n_arg);

	for (int32_t i = 0; i < (int32_t)old->n_op; i++) {
		bool redirected = is_reader(i, reader, n_reader);
		struct redirect r = {at, redirected ? at - 1 : -1, at};
		const struct hn_op **slot = &op[i + (i >= at)];

		if (redirected || reads_moved(&state->access->op[i], at)) {
			*slot = hn_derive_map(old->op[i], redirect_load, &r, a);
		} else {
			*slot = old->op[i];
		}
	}
	for (uint32_t i = 0; i < old->n_arg; i++) {
		arg[i] = old->arg[i] + (old->arg[i] >= at);
	}
	*dag = *old;
	dag->n_op = old->n_op + 1;
	dag->op = op;
	dag->arg = arg;
	*ret_op = op;
	return dag;
}

static bool has_id(const struct hn_dag *dag, const char *id)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (strcmp(dag->op[i]->id, id) == 0) {
			return true;
		}
	}
	return false;
}

const char *hn_derive_id(const struct hn_dag *dag, const char *base, struct hn_arena *a)
{
	const char *id = base;

	for (unsigned k = 2; has_id(dag, id); k++) {
		id = hn_arena_printf(a, "%s$%u", base, k);
	}
	return id;
}

const char *hn_derive_join(const char *x, const char *y, struct hn_arena *a)
{
	size_t n = strlen(x);
	char *text = hn_arena_alloc(a, n + strlen(y) + 1);

	memcpy(text, x, n);
	memcpy(text + n, y, strlen(y) + 1);
	return text;
}

static const char *const axis_name[HN_DAG_MAX_RANK] = { "ax0",  "ax1",  "ax2",  "ax3",
						    "ax4",  "ax5",  "ax6",  "ax7",
						    "ax8",  "ax9",  "ax10", "ax11",
						    "ax12", "ax13", "ax14", "ax15" };

struct hn_axis *hn_derive_axes(const int64_t *shape, uint32_t n, uint32_t n_room,
			       struct hn_arena *a)
{
	struct hn_axis *axis = HN_NEW_ARRAY(a, struct hn_axis, n_room);

	hn_assert(n <= HN_COUNT_OF(axis_name));
	for (uint32_t i = 0; i < n; i++) {
		axis[i].name = axis_name[i];
		axis[i].extent = shape[i];
	}
	return axis;
}

const struct hn_expr *hn_derive_load(int32_t op, uint32_t out, uint8_t dtype,
				     const struct hn_expr *const *index, uint32_t n,
				     struct hn_arena *a)
{
	const struct hn_expr like = {
		.op = HN_EXPR_LOAD, .dtype = dtype, .ref = op, .out = (int32_t)out};

	return hn_expr_with_args(&like, index, n, a);
}

/* The first n axes as variables. */
static const struct hn_expr *const *axis_vars(const struct hn_axis *axis, uint32_t n,
					      struct hn_arena *a)
{
	const struct hn_expr **var = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		var[i] = hn_expr_var((int32_t)i, HN_I32, axis[i].name, a);
	}
	return var;
}

/* A compute op that reads all outputs of op `from` where its axes say. */
static void fill_copy(struct hn_op *op, int32_t from, struct hn_arena *a)
{
	const struct hn_expr **body = HN_NEW_ARRAY(a, const struct hn_expr *, op->n_out);
	const struct hn_expr *const *var = axis_vars(op->axis, op->n_dim, a);

	for (uint32_t k = 0; k < op->n_out; k++) {
		body[k] = hn_derive_load(from, k, op->dtype[k], var, op->n_dim, a);
	}
	op->kind = HN_OP_COMPUTE;
	op->n_spatial = op->n_dim;
	op->n_reduce = 0;
	op->reduce = NULL;
	op->body = body;
}

static const struct hn_expr *const *substitute_all(const struct hn_expr *const *e,
						   uint32_t n,
						   const struct hn_expr *const *value,
						   uint32_t n_value, struct hn_arena *a)
{
	const struct hn_expr **to = HN_NEW_ARRAY(a, const struct hn_expr *, n);

	for (uint32_t i = 0; i < n; i++) {
		to[i] = hn_expr_substitute(e[i], value, n_value, a);
	}
	return to;
}

/* The op with its spatial axes called "<axis>.c", in the expressions too. */
static struct hn_op *rename_axes(const struct hn_op *old, struct hn_arena *a)
{
	struct hn_op *op = HN_NEW(a, struct hn_op);
	uint32_t n = old->n_spatial + old->n_reduce;
	struct hn_axis *axis = HN_NEW_ARRAY(a, struct hn_axis, n);

	*op = *old;
	if (n > 0) {
		memcpy(axis, old->axis, n * sizeof(*axis));
	}
	for (uint32_t i = 0; i < old->n_spatial; i++) {
		axis[i].name = hn_derive_join(axis[i].name, ".c", a);
	}
	op->axis = axis;

	const struct hn_expr *const *var = axis_vars(axis, old->n_spatial, a);

	if (old->reduce == NULL) {
		op->body = substitute_all(old->body, old->n_out, var, old->n_spatial, a);
		return op;
	}
	struct hn_reduce *reduce = HN_NEW(a, struct hn_reduce);

	*reduce = *old->reduce;
	reduce->source =
		substitute_all(reduce->source, reduce->n, var, old->n_spatial, a);
	if (reduce->condition != NULL) {
		reduce->condition =
			hn_expr_substitute(reduce->condition, var, old->n_spatial, a);
	}
	op->reduce = reduce;
	return op;
}

const struct hn_dag *hn_derive_cache_write(const struct hn_state *state, int32_t s,
					   const char *scope, struct hn_arena *a)
{
	const struct hn_op *old = state->dag->op[s], **op;
	const char *suffix = hn_derive_join(".", scope, a);
	struct hn_dag *dag = hn_derive_shift(state, s, NULL, 0, &op, a);
	struct hn_op *cache = rename_axes(old, a), *copy = HN_NEW(a, struct hn_op);

	cache->name = hn_derive_join(old->name, suffix, a);
	cache->id = hn_derive_id(state->dag, hn_derive_join(old->id, suffix, a), a);
	*copy = *old;
	fill_copy(copy, s, a);
	op[s] = cache;
	op[s + 1] = copy;
	return dag;
}

static bool has_name(const struct hn_dag *dag, const char *name)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (strcmp(dag->op[i]->name, name) == 0) {
			return true;
		}
	}
	return false;
}

const char *hn_derive_name(const struct hn_dag *dag, const char *base, const char *suffix,
			   struct hn_arena *a)
{
	while (has_name(dag, hn_derive_join(base, suffix, a))) {
		base = hn_derive_join(base, ".d", a);
	}
	return hn_derive_join(base, suffix, a);
}

const struct hn_dag *hn_derive_cache_read(const struct hn_state *state, int32_t s,
					  const char *scope, const int64_t *reader,
					  uint32_t n, struct hn_arena *a)
{
	const struct hn_op *old = state->dag->op[s], **op;
	const char *suffix = hn_derive_join(".", scope, a);
	const char *base = hn_derive_join(old->name, old->n_out > 1 ? ".v0" : "", a);
	struct hn_dag *dag = hn_derive_shift(state, s + 1, reader, n, &op, a);
	struct hn_op *copy = HN_NEW(a, struct hn_op);

	*copy = (struct hn_op){
		.name = hn_derive_name(state->dag, base, suffix, a),
		.tag = "",
		.n_dim = old->n_dim,
		.shape = old->shape,
		.n_out = 1,
		.dtype = old->dtype,
		.axis = hn_derive_axes(old->shape, old->n_dim, old->n_dim, a),
		.sizes = old->sizes,
		.extent = old->extent,
	};
	copy->id = hn_derive_id(state->dag, copy->name, a);
	fill_copy(copy, s, a);
	op[s + 1] = copy;
	return dag;
}
