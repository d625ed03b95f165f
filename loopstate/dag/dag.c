/* loopstate/dag/dag.c -- small questions about a dag: sizes, attributes, names. */
#include "loopstate/dag/dag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "loopstate/dag/dag_priv.h"
#include "loopstate/dag/size.h"

int64_t hn_op_elements(const struct hn_op *op)
{
	int64_t n = 1;

	for (uint32_t d = 0; d < op->n_dim; d++) {
		n = hn_mul_sat(n, op->shape[d]);
	}
	return n;
}

int64_t hn_op_bytes(const struct hn_op *op, uint32_t out)
{
	return hn_mul_sat(hn_op_elements(op), hn_dtype_bytes(op->dtype[out]));
}

const struct hn_attr *hn_op_attr(const struct hn_op *op, const char *name)
{
	for (uint32_t i = 0; i < op->n_attr; i++) {
		if (strcmp(op->attr[i].name, name) == 0) {
			return &op->attr[i];
		}
	}
	return NULL;
}

static bool is_arg(const struct hn_dag *dag, int32_t op)
{
	for (uint32_t i = 0; i < dag->n_arg; i++) {
		if (dag->arg[i] == op) {
			return true;
		}
	}
	return false;
}

static uint64_t sum_bytes(const struct hn_dag *dag, bool args)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < dag->n_op; i++) {
		const struct hn_op *op = dag->op[i];

		if (is_arg(dag, (int32_t)i) != args) {
			continue;
		}
		for (uint32_t k = 0; k < op->n_out; k++) {
			sum += (uint64_t)hn_op_bytes(op, k);
			sum = sum > (uint64_t)HN_EXTENT_MAX ? (uint64_t)HN_EXTENT_MAX
							    : sum;
		}
	}
	return sum;
}

uint64_t hn_dag_arg_bytes(const struct hn_dag *dag)
{
	return sum_bytes(dag, /* args= */ true);
}

uint64_t hn_dag_temp_bytes(const struct hn_dag *dag)
{
	return sum_bytes(dag, /* args= */ false);
}

/* "B.v1" -> length of "B" and 1; false when it has no such ending. */
static bool split_output(const char *id, size_t *ret_n, int32_t *ret_out)
{
	const char *dot = strrchr(id, '.');

	if (dot == NULL || dot == id || dot[1] != 'v' || dot[2] < '0' || dot[2] > '9' ||
	    strspn(dot + 2, "0123456789") != strlen(dot + 2) || strlen(dot + 2) > 4) {
		return false;
	}
	*ret_n = (size_t)(dot - id);
	*ret_out = atoi(dot + 2);
	return true;
}

int32_t hn_dag_find(const struct hn_op *const *ops, uint32_t n, const char *id,
		    int32_t *ret_out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(ops[i]->id, id) == 0) {
			if (ops[i]->n_out > 1) {
				return -2;
			}
			*ret_out = 0;
			return (int32_t)i;
		}
	}
	size_t n_id;
	int32_t out;

	if (!split_output(id, &n_id, &out)) {
		return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (strlen(ops[i]->id) == n_id && memcmp(ops[i]->id, id, n_id) == 0 &&
		    (uint32_t)out < ops[i]->n_out) {
			*ret_out = out;
			return (int32_t)i;
		}
	}
	return -1;
}

const char *hn_dag_size_text(uint64_t bytes, char buf[32])
{
	static const char *const unit[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"
	};
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < HN_COUNT_OF(unit)) {
		v /= 1024;
		u++;
	}
	snprintf(buf, 32, "%.4g %s", v, unit[u]);
	return buf;
}

void hn_dag_op_exprs(const struct hn_op *op, hn_op_expr_fn fn, void *ctx)
{
	const struct hn_reduce *r = op->reduce;

	if (op->kind != HN_OP_COMPUTE) {
		return;
	}
	if (r == NULL) {
		for (uint32_t i = 0; i < op->n_out; i++) {
			fn(op->body[i], "body", i, ctx);
		}
		return;
	}
	if (r->condition != NULL) {
		fn(r->condition, "condition", 0, ctx);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		fn(r->source[i], "source", i, ctx);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		fn(r->result[i], "result", i, ctx);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		fn(r->identity[i], "identity", i, ctx);
	}
}

void hn_op_visit(const struct hn_op *op, hn_expr_visit_fn visit, void *ctx)
{
	const struct hn_reduce *r = op->reduce;

	if (r == NULL) {
		for (uint32_t i = 0; op->body != NULL && i < op->n_out; i++) {
			hn_expr_visit(op->body[i], visit, ctx);
		}
		return;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		hn_expr_visit(r->source[i], visit, ctx);
	}
	if (r->condition != NULL) {
		hn_expr_visit(r->condition, visit, ctx);
	}
}

static bool commutes(const struct hn_expr *e)
{
	return e->n_arg == 2 && e->arg[0]->op == HN_EXPR_VAR &&
	       e->arg[1]->op == HN_EXPR_VAR &&
	       e->arg[0]->ref + e->arg[1]->ref == HN_SLOT_LHS + HN_SLOT_RHS &&
	       e->arg[0]->ref != e->arg[1]->ref;
}

enum hn_combiner hn_dag_combiner_of(const struct hn_expr *const *result, uint32_t n)
{
	static const uint8_t kind[HN_N_EXPR] = {
		[HN_EXPR_ADD] = HN_COMBINE_SUM,
		[HN_EXPR_MUL] = HN_COMBINE_PROD,
		[HN_EXPR_MIN] = HN_COMBINE_MIN,
		[HN_EXPR_MAX] = HN_COMBINE_MAX,
	};

	if (n != 1 || !commutes(result[0]) || kind[result[0]->op] == HN_COMBINE_NONE) {
		return HN_COMBINE_GENERAL;
	}
	return (enum hn_combiner)kind[result[0]->op];
}

uint32_t hn_dag_arg_out(const struct hn_dag *dag, uint32_t i)
{
	uint32_t out = 0;

	for (uint32_t j = 0; j < i; j++) {
		out += dag->arg[j] == dag->arg[i];
	}
	return out;
}
