/* lower/cpu/emit_table.c -- a matrix of constants, written as conditions, is read from memory.
 *
 * A Winograd transform multiplies by select(r == 5 && i == 5, 1, select(r == 5 && ...)).
 * Where r and i are known in the compiler that is a number, and it is looked up instead
 * of deduced from each condition in turn; where they are not, the chain of conditions
 * would be evaluated by the kernel, and looked at by every pass of LLVM (100 ms of a
 * candidate's 200).  So its values are laid out as an array that the kernel reads.
 */
#include "lower/cpu/emit_nest.h"

#include <string.h>

#define LEAST_CHOICES 4 /* shorter chains are left as they are */
#define MOST_VALUES 1024
#define MOST_AXES 4
#define MOST_TABLES 64 /* chains looked at in a kernel */

/* An array of the values that lanes read together. */
struct row {
	struct row *next;
	uint32_t w;
	int64_t gap[EMIT_MAX_LANES];
	LLVMValueRef array;
};

struct emit_table {
	const struct hn_expr *x;
	const struct hn_op *op;
	uint32_t n_axis; /* 0 = it is no table */
	const struct hn_expr *axis[MOST_AXES];
	int64_t extent[MOST_AXES], value[MOST_AXES]; /* value: while the array is made */
	int64_t n_value;
	LLVMValueRef *entry; /* [n_value] constants, the last axis fastest */
	struct row *row;     /* arrays made of them */
};

/* -- values ---------------------------------------------------------------------------- */

static bool is_choice(const struct hn_expr *x)
{
	return x->op == HN_EXPR_SELECT || x->op == HN_EXPR_IF;
}

static bool is_number(const struct hn_expr *x)
{
	return x->op == HN_EXPR_INT || x->op == HN_EXPR_FLOAT;
}

/* Index arithmetic where the axes have their values; false when it has no rule here. */
static bool index_at(const struct emit_table *t, const struct hn_expr *x, int64_t *ret)
{
	int64_t u, v;

	if (x->op == HN_EXPR_INT) {
		*ret = x->u.i;
		return true;
	}
	for (uint32_t i = 0; x->op == HN_EXPR_VAR && i < t->n_axis; i++) {
		if (t->axis[i]->ref == x->ref) {
			*ret = t->value[i];
			return true;
		}
	}
	if (x->n_arg != 2 || !index_at(t, x->arg[0], &u) || !index_at(t, x->arg[1], &v)) {
		return false;
	}
	switch (x->op) {
	case HN_EXPR_ADD:
		return !__builtin_add_overflow(u, v, ret);
	case HN_EXPR_SUB:
		return !__builtin_sub_overflow(u, v, ret);
	case HN_EXPR_MUL:
		return !__builtin_mul_overflow(u, v, ret);
	default:
		return false;
	}
}

static bool truth_at(const struct emit_table *t, const struct hn_expr *x, bool *ret)
{
	bool p, q;
	int64_t u, v;

	if (x->op == HN_EXPR_AND || x->op == HN_EXPR_OR) {
		if (!truth_at(t, x->arg[0], &p) || !truth_at(t, x->arg[1], &q)) {
			return false;
		}
		*ret = x->op == HN_EXPR_AND ? p && q : p || q;
		return true;
	}
	if (x->op == HN_EXPR_NOT) {
		if (!truth_at(t, x->arg[0], &p)) {
			return false;
		}
		*ret = !p;
		return true;
	}
	if (x->op < HN_EXPR_EQ || x->op > HN_EXPR_GE || !index_at(t, x->arg[0], &u) ||
	    !index_at(t, x->arg[1], &v) || __builtin_sub_overflow(u, v, &u)) {
		return false;
	}
	*ret = hn_emit_decide(x->op, u, u) == 1;
	return true;
}

/* The leaf that is chosen; NULL when it cannot be told, or is not a number. */
static const struct hn_expr *number_at(const struct emit_table *t,
				       const struct hn_expr *x)
{
	bool taken;

	while (is_choice(x)) {
		if (!truth_at(t, x->arg[0], &taken)) {
			return NULL;
		}
		x = x->arg[taken ? 1 : 2];
	}
	return is_number(x) ? x : NULL;
}

/* -- which expressions are tables --------------------------------------------------------
 */

struct look {
	struct emit_table *t;
	uint32_t n_choice;
	bool good;
};

static void look_at(const struct hn_expr *x, void *ctx)
{
	struct look *l = ctx;
	struct emit_table *t = l->t;
	uint32_t n_axis = t->op->n_spatial + t->op->n_reduce;

	l->n_choice += is_choice(x);
	if (x->op == HN_EXPR_LOAD || x->op == HN_EXPR_CALL || x->op == HN_EXPR_LET) {
		l->good = false;
	}
	if (x->op != HN_EXPR_VAR || !l->good) {
		return;
	}
	for (uint32_t i = 0; i < t->n_axis; i++) {
		if (t->axis[i]->ref == x->ref) {
			return;
		}
	}
	if ((uint32_t)x->ref >= n_axis || t->n_axis == MOST_AXES) {
		l->good = false;
		return;
	}
	t->extent[t->n_axis] = t->op->axis[x->ref].extent;
	t->axis[t->n_axis++] = x;
}

static bool fill(struct emit *e, struct emit_table *t)
{
	LLVMTypeRef type = hn_emit_type(e, t->x->dtype);
	int64_t n = 1;

	for (uint32_t i = 0; i < t->n_axis; i++) {
		if (t->extent[i] > MOST_VALUES || n * t->extent[i] > MOST_VALUES) {
			return false;
		}
		n *= t->extent[i];
	}
	t->n_value = n;
	t->entry = HN_NEW_ARRAY(e->a, LLVMValueRef, n);
	for (int64_t k = 0; k < n; k++) {
		int64_t rest = k;

		for (uint32_t i = t->n_axis; i-- > 0;) {
			t->value[i] = rest % t->extent[i];
			rest /= t->extent[i];
		}
		const struct hn_expr *c = number_at(t, t->x);

		if (!c) {
			return false;
		}
		t->entry[k] = c->op == HN_EXPR_FLOAT
				      ? LLVMConstReal(type, c->u.f)
				      : LLVMConstInt(type, (uint64_t)c->u.i, 1);
	}
	return true;
}

static struct emit_table *table_of(struct emit *e, const struct hn_expr *x)
{
	struct look l = { .good = true };

	for (uint32_t i = 0; i < e->n_table; i++) {
		if (e->table[i].x == x && e->table[i].op == e->nest->op) {
			return &e->table[i];
		}
	}
	if (e->n_table == MOST_TABLES) {
		return NULL;
	}
	if (!e->table) {
		e->table = HN_NEW_ARRAY(e->a, struct emit_table, MOST_TABLES);
	}
	l.t = &e->table[e->n_table++];
	*l.t = (struct emit_table){ .x = x, .op = e->nest->op };
	hn_expr_visit(x, look_at, &l);
	if (!l.good || l.n_choice < LEAST_CHOICES || !fill(e, l.t)) {
		l.t->n_axis = 0;
	}
	return l.t;
}

/* -- reading it ------------------------------------------------------------------------ */

/* Which entry, in lane k; false when an axis may lie outside, as at an edge. */
static bool place_of(struct emit *e, const struct emit_table *t, uint32_t k,
		     struct hn_linear *ret)
{
	int64_t stride = 1, lo, hi;
	struct hn_linear f;

	*ret = (struct hn_linear){ 0 };
	for (uint32_t i = t->n_axis; i-- > 0;) {
		hn_emit_lin_lane(e, t->axis[i], k, &f);
		hn_linear_range(&f, &lo, &hi);
		if (lo < 0 || hi >= t->extent[i]) {
			return false;
		}
		hn_linear_add(&e->lin, ret, &f, stride);
		stride *= t->extent[i];
	}
	return true;
}

/* The array whose entry i is a row: of lane k, the value i + gap[k] after the first. */
static LLVMValueRef array_of(struct emit *e, struct emit_table *t, const int64_t *gap,
			     uint32_t w)
{
	LLVMTypeRef type = hn_emit_type(e, t->x->dtype);
	struct row *r = t->row;

	while (r && (r->w != w || memcmp(r->gap, gap, w * sizeof(*gap)) != 0)) {
		r = r->next;
	}
	if (r) {
		return r->array;
	}
	r = HN_NEW(e->a, struct row);
	*r = (struct row){ .next = t->row, .w = w };
	memcpy(r->gap, gap, w * sizeof(*gap));
	t->row = r;
	uint64_t n = (uint64_t)t->n_value * w;
	LLVMValueRef *entry = HN_NEW_ARRAY(e->a, LLVMValueRef, n);

	for (uint64_t i = 0; i < n; i++) {
		int64_t at = (int64_t)(i / w) + gap[i % w];

		entry[i] = t->entry[at < 0 || at >= t->n_value ? 0 : at];
	}
	r->array = LLVMAddGlobal(e->mod, LLVMArrayType2(type, n), "hone.table");
	LLVMSetInitializer(r->array, LLVMConstArray2(type, entry, n));
	LLVMSetGlobalConstant(r->array, 1);
	LLVMSetLinkage(r->array, LLVMPrivateLinkage);
	LLVMSetAlignment(r->array, 64);
	return r->array;
}

/* A row of w lanes, a value when w is 1. */
static LLVMValueRef read(struct emit *e, struct emit_table *t, const struct hn_linear *at,
			 const int64_t *gap, uint32_t w)
{
	LLVMTypeRef type = hn_emit_type(e, t->x->dtype);
	uint32_t bytes = hn_dtype_bytes(hn_dtype_arith(t->x->dtype)) * w;
	LLVMValueRef p =
		hn_emit_lin_address(e, array_of(e, t, gap, w), 0, at, bytes, true);
	LLVMValueRef v =
		LLVMBuildLoad2(e->b, w > 1 ? LLVMVectorType(type, w) : type, p, "");
	unsigned kind = LLVMGetMDKindIDInContext(e->ctx, "invariant.load", 14);
	LLVMMetadataRef none = LLVMMDNodeInContext2(e->ctx, NULL, 0);

	LLVMSetAlignment(v, bytes > 64 ? 64 : bytes);
	LLVMSetMetadata(v, kind, LLVMMetadataAsValue(e->ctx, none));
	return v;
}

static const int64_t no_gap;

/* The value of each lane apart. */
static LLVMValueRef one_by_one(struct emit *e, struct emit_table *t)
{
	LLVMTypeRef type = LLVMVectorType(hn_emit_type(e, t->x->dtype), e->n_lane);
	LLVMValueRef v = LLVMGetPoison(type);
	struct hn_linear at;

	for (uint32_t k = 0; k < e->n_active; k++) {
		if (!place_of(e, t, k, &at)) {
			return NULL;
		}
		LLVMValueRef one = at.n ? read(e, t, &at, &no_gap, 1) : t->entry[at.c];

		v = LLVMBuildInsertElement(e->b, v, one, LLVMConstInt(e->i32, k, 0), "");
	}
	return v;
}

/* The values of all lanes: one row where their places differ by what is known. */
static LLVMValueRef lanes(struct emit *e, struct emit_table *t)
{
	LLVMValueRef lane[EMIT_MAX_LANES];
	int64_t gap[EMIT_MAX_LANES];
	struct hn_linear first, at;

	for (uint32_t k = 0; k < e->n_lane; k++) {
		if (!place_of(e, t, k < e->n_active ? k : 0, &at)) {
			return NULL;
		}
		first = k == 0 ? at : first;
		if (!hn_linear_same_terms(&first, &at)) {
			return one_by_one(e, t);
		}
		gap[k] = at.c - first.c;
		lane[k] = at.n ? NULL : t->entry[at.c];
	}
	return first.n ? read(e, t, &first, gap, e->n_lane)
		       : LLVMConstVector(lane, e->n_lane);
}

struct emit_val hn_emit_from_table(struct emit *e, const struct hn_expr *x)
{
	struct emit_val none = { 0 };
	struct emit_table *t;
	struct hn_linear at;

	if (!e->axis || !e->nest || e->opt->scalar ||
	    hn_dtype_class(x->dtype) == HN_CLASS_BOOL ||
	    !(is_number(x->arg[1]) || is_choice(x->arg[1]))) {
		return none;
	}
	t = table_of(e, x);
	if (!t || t->n_axis == 0) {
		return none;
	}
	if (e->lane < 0 && hn_emit_lane_varies(e, x)) {
		return (struct emit_val){ lanes(e, t), true };
	}
	if (!place_of(e, t, 0, &at)) {
		return none;
	}
	return (struct emit_val){ at.n ? read(e, t, &at, &no_gap, 1) : t->entry[at.c],
				  false };
}
