/* loopstate/dag/dag_check.c -- the rules every dag obeys, whoever built it.
 *
 * Shapes and sizes, axes, types of every node, arguments.  Indices are proved in
 * dag_range.c.  Reader and text notation call hn_dag_check_op after each op, so that
 * later ops can rely on earlier ones.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/name.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/size.h"

struct place {
	const char *what;
	uint32_t i;
	const struct hn_op *const *ops;
	struct hn_err *err;
};

#define FAIL_CODE(p, code, fmt, ...)                                                     \
	hn_fail((p)->err, code, "%s: ops[%" PRIu32 "] (%.128s)" fmt, (p)->what, (p)->i,  \
		(p)->ops[(p)->i]->id, ##__VA_ARGS__)
#define FAIL(p, ...) FAIL_CODE(p, HONE_E_INVALID, __VA_ARGS__)

#define NAME_RULE "1 to %d of " HN_NAME_RULE

static int check_names(const struct place *p)
{
	const struct hn_op *op = p->ops[p->i];
	int32_t out;

	if (!hn_name_fits(op->id, HN_DAG_MAX_NAME) ||
	    !hn_name_fits(op->name, HN_DAG_MAX_NAME)) {
		return FAIL(p, ": id and name must be " NAME_RULE, HN_DAG_MAX_NAME);
	}
	if (op->tag != NULL && !hn_label_fits(op->tag, HN_DAG_MAX_NAME * 8)) {
		return FAIL(p, ": the tag must be one line of at most %d bytes",
			    HN_DAG_MAX_NAME * 8);
	}
	for (uint32_t j = 0; j < p->i; j++) {
		if (strcmp(p->ops[j]->id, op->id) == 0) {
			return FAIL(p, ": duplicate id, ops[%" PRIu32 "] has it too", j);
		}
	}
	for (uint32_t k = 0; op->sizes != NULL && k < op->sizes->n; k++) {
		if (strcmp(op->sizes->size[k].name, op->id) == 0) {
			return FAIL(p, ": the id names a size already");
		}
	}
	if (hn_dag_find(p->ops, p->i, op->id, &out) >= 0) {
		return FAIL(p, ": the id already names an output of an op before");
	}
	return 0;
}

static int check_shape(const struct place *p)
{
	const struct hn_op *op = p->ops[p->i];

	if (op->n_dim > HN_DAG_MAX_RANK) {
		return FAIL(p, ": %" PRIu32 " dimensions, at most %d are allowed",
			    op->n_dim, HN_DAG_MAX_RANK);
	}
	for (uint32_t d = 0; d < op->n_dim; d++) {
		if (op->shape[d] < 1) {
			return FAIL(p,
				    ": shape[%" PRIu32 "]: extent %" PRId64
				    ", at least 1 is "
				    "needed",
				    d, op->shape[d]);
		}
	}
	if (op->n_out < 1 || op->n_out > HN_DAG_MAX_OUT) {
		return FAIL(p, ": %" PRIu32 " outputs, 1 to %d are allowed", op->n_out,
			    HN_DAG_MAX_OUT);
	}
	for (uint32_t k = 0; k < op->n_out; k++) {
		if (!hn_dtype_is(op->dtype[k])) {
			return FAIL(p, ": output %" PRIu32 " has no dtype that computes", k);
		}
		if (hn_op_bytes(op, k) >= HN_EXTENT_MAX) {
			return FAIL(p, ".shape: the product of the extents passes 2^62");
		}
	}
	return 0;
}

/* Extent i of the op, whose largest value is `most`. */
static int check_extent(const struct place *p, uint32_t i, int64_t most)
{
	const struct hn_op *op = p->ops[p->i];
	const struct hn_expr *form = hn_op_extent(op, i);
	int64_t lo, hi;

	if (form == NULL) {
		return 0;
	}
	if (op->sizes == NULL || !hn_size_range(op->sizes, form, &lo, &hi) || hi != most) {
		return FAIL(p, ": extent %" PRIu32 " is no form over sizes of at most "
			       "%" PRId64, i, most);
	}
	if (lo < 1) {
		return FAIL(p, ": extent %" PRIu32 " can be %" PRId64
			       ", at least 1 is needed: raise the least value of a size",
			    i, lo);
	}
	return 0;
}

static int check_extents(const struct place *p)
{
	const struct hn_op *op = p->ops[p->i];
	int rc = 0;

	for (uint32_t i = 0; i < op->n_dim + op->n_reduce && rc == 0; i++) {
		rc = check_extent(p, i, i < op->n_dim ? op->shape[i] : op->axis[i].extent);
	}
	return rc;
}

static int check_tensor_bytes(const struct place *p, uint64_t max_bytes)
{
	const struct hn_op *op = p->ops[p->i];
	char need[32], limit[32];

	for (uint32_t k = 0; max_bytes != 0 && k < op->n_out; k++) {
		uint64_t bytes = (uint64_t)hn_op_bytes(op, k);

		if (bytes > max_bytes) {
			return FAIL_CODE(p, HONE_E_QUOTA,
					 ": the tensor needs %s (%" PRIu64
					 " bytes), the limit is %s (%" PRIu64 " bytes)",
					 hn_dag_size_text(bytes, need), bytes,
					 hn_dag_size_text(max_bytes, limit), max_bytes);
		}
	}
	return 0;
}

static int check_axis(const struct place *p, uint32_t i)
{
	const struct hn_op *op = p->ops[p->i];
	const struct hn_axis *axis = &op->axis[i];
	bool spatial = i < op->n_spatial;
	const char *list = spatial ? "axes" : "reduce_axes";
	uint32_t at = spatial ? i : i - op->n_spatial;

	if (!hn_name_fits(axis->name, HN_DAG_MAX_NAME)) {
		return FAIL(p, ".%s[%" PRIu32 "]: the name must be " NAME_RULE, list, at,
			    HN_DAG_MAX_NAME);
	}
	for (uint32_t j = 0; j < i; j++) {
		if (strcmp(op->axis[j].name, axis->name) == 0) {
			return FAIL(p, ".%s[%" PRIu32 "]: duplicate axis name '%s'", list,
				    at, axis->name);
		}
	}
	for (uint32_t k = 0; op->sizes != NULL && k < op->sizes->n; k++) {
		if (strcmp(op->sizes->size[k].name, axis->name) == 0) {
			return FAIL(p, ".%s[%" PRIu32 "]: '%s' names a size already",
				    list, at, axis->name);
		}
	}
	if (axis->extent < 1) {
		return FAIL(p,
			    ".%s[%" PRIu32 "] (%s): extent %" PRId64
			    ", at least 1 is needed",
			    list, at, axis->name, axis->extent);
	}
	if (axis->min < -HN_EXTENT_MAX / 2 || axis->min > HN_EXTENT_MAX / 2 ||
	    axis->extent > HN_EXTENT_MAX / 2) {
		return FAIL(p, ".%s[%" PRIu32 "] (%s): passes 2^61", list, at,
			    axis->name);
	}
	if (spatial && axis->min != 0) {
		return FAIL_CODE(p, HONE_E_UNSUPPORTED,
				 ".axes[%" PRIu32 "] (%s): starts at %" PRId64
				 ", spatial axes start at 0",
				 at, axis->name, axis->min);
	}
	if (spatial && axis->extent != op->shape[i]) {
		return FAIL(p,
			    ".axes[%" PRIu32 "] (%s): extent %" PRId64 ", shape[%" PRIu32
			    "] is %" PRId64,
			    at, axis->name, axis->extent, i, op->shape[i]);
	}
	return 0;
}

static int check_axes(const struct place *p)
{
	const struct hn_op *op = p->ops[p->i];
	int64_t product = 1;

	if (op->kind == HN_OP_PLACEHOLDER) {
		return op->n_spatial + op->n_reduce == 0
			       ? 0
			       : FAIL(p, ": placeholders have no axes");
	}
	if (op->n_spatial != op->n_dim) {
		return FAIL(p, ".axes: %" PRIu32 " axes for %" PRIu32 " dimensions",
			    op->n_spatial, op->n_dim);
	}
	if (op->n_spatial + op->n_reduce > HN_DAG_MAX_ITERS) {
		return FAIL(p, ": more than %d axes", HN_DAG_MAX_ITERS);
	}
	for (uint32_t i = 0; i < op->n_spatial + op->n_reduce; i++) {
		int rc = check_axis(p, i);

		if (rc != 0) {
			return rc;
		}
		product = hn_mul_sat(product, op->axis[i].extent);
	}
	if (product >= HN_EXTENT_MAX) {
		return FAIL(p, ": the product of all axes' extents passes 2^62");
	}
	if ((op->n_reduce > 0) != (op->reduce != NULL)) {
		return FAIL(p, ": %s",
			    op->reduce != NULL
				    ? "reduces over no axis: 'reduce_axes' is empty"
				    : "has reduce_axes, but its body reduces nothing");
	}
	return 0;
}

struct type_walk {
	const struct place *p;
	struct hn_node_place at;
	int rc;
};

/* One node and what is below it; the fault of the first wrong one. */
static const char *tree_fault(const struct hn_node_place *at, const struct hn_expr *e,
			      uint32_t depth, char *buf, size_t buf_bytes)
{
	if (depth > HN_DAG_MAX_DEPTH) {
		snprintf(buf, buf_bytes, "nested deeper than %d", HN_DAG_MAX_DEPTH);
		return buf;
	}
	for (uint32_t i = 0; i < e->n_arg; i++) {
		const char *fault = tree_fault(at, e->arg[i], depth + 1, buf, buf_bytes);

		if (fault != NULL) {
			return fault;
		}
	}
	return hn_dag_node_fault(at, e, buf, buf_bytes);
}

static void check_expr(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	struct type_walk *w = ctx;
	const struct hn_op *op = w->at.op;
	char buf[256];

	if (w->rc != 0) {
		return;
	}
	w->at.combiner = strcmp(owner, "result") == 0;
	const char *fault = tree_fault(&w->at, e, 1, buf, sizeof(buf));

	if (fault != NULL) {
		w->rc = FAIL(w->p, ".%s[%" PRIu32 "]: %s", owner, k, fault);
		return;
	}
	uint8_t want = strcmp(owner, "condition") == 0 ? HN_BOOL : op->dtype[k];

	if (e->dtype != want) {
		w->rc = FAIL(w->p, ".%s[%" PRIu32 "]: the expression is %s, %s is needed",
			     owner, k, hn_dtype_name(e->dtype), hn_dtype_name(want));
	}
}

/* The checks of shapes come first: the others rely on them. */
static int check_bodies(const struct place *p)
{
	const struct hn_op *op = p->ops[p->i];
	struct type_walk w = { .p = p, .at = { op, p->ops, p->i, false } };

	if (op->reduce != NULL && op->reduce->n != op->n_out) {
		return FAIL(p, ": reduces %" PRIu32 " values, has %" PRIu32 " outputs",
			    op->reduce->n, op->n_out);
	}
	hn_dag_op_exprs(op, check_expr, &w);
	for (uint32_t k = 0; w.rc == 0 && op->reduce != NULL && k < op->n_out; k++) {
		const struct hn_expr *id = op->reduce->identity[k];

		if (id->op != HN_EXPR_INT && id->op != HN_EXPR_FLOAT) {
			return FAIL(p, ".identity[%" PRIu32 "]: must be a constant", k);
		}
	}
	return w.rc;
}

int hn_dag_check_sizes(const char *what, const struct hn_sizes *sizes, struct hn_err *err)
{
	for (uint32_t k = 0; k < sizes->n; k++) {
		const struct hn_size *s = &sizes->size[k];

		if (!hn_name_fits(s->name, HN_DAG_MAX_NAME)) {
			return hn_fail(err, HONE_E_INVALID,
				       "%s: sizes[%" PRIu32 "]: the name must be " NAME_RULE,
				       what, k, HN_DAG_MAX_NAME);
		}
		for (uint32_t j = 0; j < k; j++) {
			if (strcmp(sizes->size[j].name, s->name) == 0) {
				return hn_fail(err, HONE_E_INVALID,
					       "%s: sizes[%" PRIu32 "]: '%s' is there twice",
					       what, k, s->name);
			}
		}
		if (s->lo < 1 || s->hi < s->lo || s->hi > INT32_MAX) {
			return hn_fail(err, HONE_E_INVALID,
				       "%s: sizes[%" PRIu32 "] (%s): from %" PRId64
				       " to %" PRId64
				       " is no range of whole numbers from 1 to 2^31 - 1",
				       what, k, s->name, s->lo, s->hi);
		}
	}
	return 0;
}

int hn_dag_check_op(const char *what, const struct hn_op *const *ops, uint32_t i,
		    uint64_t max_bytes, struct hn_err *err)
{
	const struct place p = { what, i, ops, err };
	int rc;

	if ((rc = check_names(&p)) != 0 || (rc = check_shape(&p)) != 0 ||
	    (rc = check_axes(&p)) != 0 || (rc = check_extents(&p)) != 0 ||
	    (rc = check_tensor_bytes(&p, max_bytes)) != 0) {
		return rc;
	}
	if (ops[i]->kind == HN_OP_PLACEHOLDER) {
		return 0;
	}
	if ((rc = check_bodies(&p)) != 0) {
		return rc;
	}
	return hn_dag_check_range(what, ops, i, err);
}

struct read_set {
	bool *read; /* [n_op] */
};

static void note_load(const struct hn_expr *e, void *ctx)
{
	if (e->op == HN_EXPR_LOAD) {
		((struct read_set *)ctx)->read[e->ref] = true;
	}
}

static void note_reads(const struct hn_expr *e, const char *owner, uint32_t k, void *ctx)
{
	(void)owner;
	(void)k;
	hn_expr_visit(e, note_load, ctx);
}

/* Every output of every op that matters is an argument exactly once, inputs first. */
static int check_arg(const char *what, const struct hn_dag *dag, uint32_t i,
		     struct hn_err *err)
{
	int32_t op = dag->arg[i];

	if (op < 0 || (uint32_t)op >= dag->n_op) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: inputs_outputs[%" PRIu32 "]: no op %" PRId32, what, i,
			       op);
	}
	if ((i < dag->n_input) != (dag->op[op]->kind == HN_OP_PLACEHOLDER)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: inputs_outputs[%" PRIu32
			       "] (%s): inputs come first, then "
			       "outputs",
			       what, i, dag->op[op]->id);
	}
	return 0;
}

static int check_listed(const char *what, const struct hn_dag *dag, uint32_t i, bool read,
			struct hn_err *err)
{
	const struct hn_op *op = dag->op[i];
	uint32_t times = 0;

	for (uint32_t j = 0; j < dag->n_arg; j++) {
		times += dag->arg[j] == (int32_t)i;
	}
	if (times != 0 && times != op->n_out) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: inputs_outputs: '%s' is listed %" PRIu32
			       " times, has %" PRIu32 " outputs",
			       what, op->id, times, op->n_out);
	}
	if (times == 0 && (op->kind == HN_OP_PLACEHOLDER || !read)) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: inputs_outputs: '%s' is missing: %s", what, op->id,
			       op->kind == HN_OP_PLACEHOLDER
				       ? "it is an input"
				       : "nobody reads it, so it is an output");
	}
	return 0;
}

static int check_args(const char *what, const struct hn_dag *dag, struct hn_err *err)
{
	bool read[HN_DAG_MAX_OPS] = { false };
	struct read_set set = { read };
	int rc = 0;

	if (dag->n_input >= dag->n_arg) {
		return hn_fail(err, HONE_E_INVALID, "%s: inputs_outputs: no output",
			       what);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		hn_dag_op_exprs(dag->op[i], note_reads, &set);
	}
	for (uint32_t i = 0; rc == 0 && i < dag->n_arg; i++) {
		rc = check_arg(what, dag, i, err);
	}
	for (uint32_t i = 0; rc == 0 && i < dag->n_op; i++) {
		rc = check_listed(what, dag, i, read[i], err);
	}
	return rc;
}

static int check_total(const char *what, const struct hn_dag *dag, uint64_t max_bytes,
		       struct hn_err *err)
{
	uint64_t bytes = hn_dag_arg_bytes(dag) + hn_dag_temp_bytes(dag);
	char need[32], limit[32];

	if (max_bytes == 0 || bytes <= max_bytes) {
		return 0;
	}
	return hn_fail(err, HONE_E_QUOTA,
		       "%s: arguments and intermediates need %s (%" PRIu64
		       " bytes) together, the limit is %s (%" PRIu64 " bytes)",
		       what, hn_dag_size_text(bytes, need), bytes,
		       hn_dag_size_text(max_bytes, limit), max_bytes);
}

int hn_dag_check_whole(const char *what, const struct hn_dag *dag, uint64_t max_bytes,
		       struct hn_err *err)
{
	int rc = check_args(what, dag, err);

	rc = rc == 0 ? hn_dag_check_attrs(what, dag, err) : rc;
	return rc == 0 ? check_total(what, dag, max_bytes, err) : rc;
}

int hn_dag_check(const char *what, const struct hn_dag *dag, uint64_t max_bytes,
		 struct hn_err *err)
{
	int rc = 0;

	if (dag->n_op == 0 || dag->n_op > HN_DAG_MAX_OPS) {
		return hn_fail(err, HONE_E_INVALID,
			       "%s: ops: %" PRIu32 " ops, 1 to %d are "
			       "allowed",
			       what, dag->n_op, HN_DAG_MAX_OPS);
	}
	rc = dag->sizes != NULL ? hn_dag_check_sizes(what, dag->sizes, err) : 0;
	for (uint32_t i = 0; rc == 0 && i < dag->n_op; i++) {
		rc = hn_dag_check_op(what, dag->op, i, max_bytes, err);
	}
	return rc == 0 ? hn_dag_check_whole(what, dag, max_bytes, err) : rc;
}
