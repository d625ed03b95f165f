/* loopstate/dag/mark.c -- see mark.h. */
#include "loopstate/dag/mark.h"

#include <string.h>

static const char *const marks[] = {
	HN_MARK_BITWISE,
	HN_MARK_COLD,
#define LIBERTY(name, float32, float64, text) "no_" #name,
#include "loopstate/dag/liberties.def"
#undef LIBERTY
};

static bool is_mark(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(marks); i++) {
		if (strcmp(name, marks[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool hn_dag_marked(const struct hn_dag *dag, const char *mark)
{
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (dag->op[i]->n_attr > 0 && hn_op_attr(dag->op[i], mark)) {
			return true;
		}
	}
	return false;
}

const char *hn_dag_cache(const struct hn_dag *dag)
{
	return hn_dag_marked(dag, HN_MARK_COLD) ? "cold" : "warm";
}

static const struct hn_op *marked(const struct hn_op *op, const char *mark,
				  struct hn_arena *a)
{
	struct hn_op *ret = HN_NEW(a, struct hn_op);
	struct hn_attr *attr = HN_NEW_ARRAY(a, struct hn_attr, (size_t)op->n_attr + 1);

	for (uint32_t i = 0; i < op->n_attr; i++) {
		attr[i] = op->attr[i];
	}
	attr[op->n_attr] = (struct hn_attr){ .name = mark, .json = "true" };
	*ret = *op;
	ret->attr = attr;
	ret->n_attr = op->n_attr + 1;
	return ret;
}

static const struct hn_op *unmarked(const struct hn_op *op, const char *mark, struct hn_arena *a)
{
	struct hn_op *ret = HN_NEW(a, struct hn_op);
	struct hn_attr *attr = HN_NEW_ARRAY(a, struct hn_attr, op->n_attr);

	*ret = *op;
	ret->attr = attr;
	ret->n_attr = 0;
	for (uint32_t i = 0; i < op->n_attr; i++) {
		if (strcmp(op->attr[i].name, mark) != 0) {
			attr[ret->n_attr++] = op->attr[i];
		}
	}
	return ret;
}

void hn_op_keep_marks(struct hn_op *op, struct hn_arena *a)
{
	struct hn_attr *attr = HN_NEW_ARRAY(a, struct hn_attr, op->n_attr);
	uint32_t n = 0;

	for (uint32_t i = 0; i < op->n_attr; i++) {
		if (is_mark(op->attr[i].name)) {
			attr[n++] = op->attr[i];
		}
	}
	op->attr = attr;
	op->n_attr = n;
}

/* The dag with each op that `of` is true of changed by `change`. */
static const struct hn_dag *changed(const struct hn_dag *dag, const char *mark,
				    bool (*of)(const struct hn_op *op, const char *mark),
				    const struct hn_op *(*change)(const struct hn_op *op,
								  const char *mark,
								  struct hn_arena *a),
				    struct hn_arena *a)
{
	struct hn_dag *ret = HN_NEW(a, struct hn_dag);
	const struct hn_op **op = HN_NEW_ARRAY(a, const struct hn_op *, dag->n_op);

	for (uint32_t i = 0; i < dag->n_op; i++) {
		op[i] = of(dag->op[i], mark) ? change(dag->op[i], mark, a) : dag->op[i];
	}
	*ret = *dag;
	ret->op = op;
	return ret;
}

static bool computes(const struct hn_op *op, const char *mark)
{
	(void)mark;
	return op->kind == HN_OP_COMPUTE;
}

static bool has(const struct hn_op *op, const char *mark)
{
	return op->n_attr > 0 && hn_op_attr(op, mark) != NULL;
}

const struct hn_dag *hn_dag_mark(const struct hn_dag *dag, const char *mark, struct hn_arena *a)
{
	return hn_dag_marked(dag, mark) ? dag : changed(dag, mark, computes, marked, a);
}

const struct hn_dag *hn_dag_unmark(const struct hn_dag *dag, const char *mark, struct hn_arena *a)
{
	return hn_dag_marked(dag, mark) ? changed(dag, mark, has, unmarked, a) : dag;
}
