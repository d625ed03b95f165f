/* loopstate/dag/liberty.c -- see liberty.h. */
#include "loopstate/dag/liberty.h"

#include <stdio.h>
#include <string.h>

#include "base/typo.h"
#include "loopstate/dag/law.h"
#include "loopstate/dag/mark.h"

static const char *const names[HN_N_LIBERTY] = {
#define LIBERTY(name, float32, float64, text) #name,
#include "loopstate/dag/liberties.def"
#undef LIBERTY
};

static const char *const marks[HN_N_LIBERTY] = {
#define LIBERTY(name, float32, float64, text) "no_" #name,
#include "loopstate/dag/liberties.def"
#undef LIBERTY
};

const char *hn_liberty_name(enum hn_liberty l)
{
	return names[l];
}

static int refuse(const char *word, struct hn_err *err)
{
	const char *meant = hn_typo_nearest(word, names, HN_N_LIBERTY);
	char known[200];
	size_t n = 0;

	for (uint32_t i = 0; i < HN_N_LIBERTY; i++) {
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i > 0 ? ", " : "",
				      names[i]);
	}
	return hn_fail(err, HONE_E_INVALID, "'%.40s' is no liberty%s%s%s; there are %s", word,
		       meant != NULL ? " (did you mean " : "", meant != NULL ? meant : "",
		       meant != NULL ? "?)" : "", known);
}

int hn_liberties_parse(const char *text, uint32_t *ret, struct hn_err *err)
{
	uint32_t found = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		char word[64];
		uint32_t i = 0;

		snprintf(word, sizeof(word), "%.*s", n < 63 ? (int)n : 63, p);
		while (i < HN_N_LIBERTY && strcmp(names[i], word) != 0) {
			i++;
		}
		if (i == HN_N_LIBERTY) {
			return refuse(word, err);
		}
		found |= 1u << i;
		p += n;
		if (*p == '\0') {
			break;
		}
	}
	*ret = found;
	return 0;
}

uint32_t hn_dag_forbidden(const struct hn_dag *dag)
{
	uint32_t found = hn_dag_marked(dag, HN_MARK_BITWISE) ? HN_LIBERTIES_ALL : 0;

	for (uint32_t i = 0; i < HN_N_LIBERTY && found != HN_LIBERTIES_ALL; i++) {
		found |= hn_dag_marked(dag, marks[i]) ? 1u << i : 0;
	}
	return found;
}

bool hn_dag_forbids(const struct hn_dag *dag, enum hn_liberty l)
{
	return (hn_dag_forbidden(dag) >> l & 1) != 0;
}

bool hn_dag_bitwise(const struct hn_dag *dag)
{
	return hn_dag_forbidden(dag) == HN_LIBERTIES_ALL;
}

const struct hn_dag *hn_dag_forbid(const struct hn_dag *dag, uint32_t liberties,
				   struct hn_arena *a)
{
	uint32_t before = hn_dag_forbidden(dag);

	if ((before | liberties) == HN_LIBERTIES_ALL) {
		for (uint32_t i = 0; i < HN_N_LIBERTY; i++) {
			dag = hn_dag_unmark(dag, marks[i], a);
		}
		return hn_dag_mark(dag, HN_MARK_BITWISE, a);
	}
	for (uint32_t i = 0; i < HN_N_LIBERTY; i++) {
		if ((liberties & ~before) >> i & 1) {
			dag = hn_dag_mark(dag, marks[i], a);
		}
	}
	return dag;
}

static bool is_real(const struct hn_op *op)
{
	for (uint32_t k = 0; k < op->n_out; k++) {
		if (hn_dtype_class(op->dtype[k]) == HN_CLASS_FLOAT) {
			return true;
		}
	}
	return false;
}

static void find_rounding(const struct hn_expr *e, void *ctx)
{
	bool *rounds = ctx;

	*rounds |= hn_dtype_is_narrow((enum hn_dtype)e->dtype) &&
		   (e->op == HN_EXPR_CALL || e->op == HN_EXPR_CAST ||
		    (e->op >= HN_EXPR_ADD && e->op <= HN_EXPR_DIV));
}

/* Whether a step of the reduction rounds to a narrow type; to pick one of two does not. */
static bool rounds(const struct hn_op *op)
{
	bool any = false;

	for (uint32_t k = 0; k < op->reduce->n; k++) {
		hn_expr_visit(op->reduce->result[k], find_rounding, &any);
	}
	return any;
}

static bool is_extreme(const struct hn_op *op)
{
	return op->reduce->kind == HN_COMBINE_MIN || op->reduce->kind == HN_COMBINE_MAX;
}

/* NULL, or that the task forbids the op's reduction another order. */
static const char *against_order(const struct hn_dag *dag, const struct hn_op *op)
{
	uint32_t forbidden = is_real(op) ? hn_dag_forbidden(dag) : 0;
	bool general = op->reduce->kind == HN_COMBINE_GENERAL; /* sums, extremes, or both */

	if (rounds(op)) {
		return "each step rounds to a type of 16 bits: order decides. Sum in float32";
	}
	if ((general || !is_extreme(op)) && (forbidden >> HN_LIBERTY_reassociation & 1) != 0) {
		return "the task forbids reassociation";
	}
	return (general || is_extreme(op)) && (forbidden >> HN_LIBERTY_minmax & 1) != 0
		       ? "the task forbids minmax: of a NaN, or zeros of both signs, another order gives another"
		       : NULL;
}

bool hn_keeps_order(const struct hn_dag *dag, const struct hn_op *op)
{
	return op->reduce != NULL && (!op->reduce->any_order || against_order(dag, op) != NULL);
}

const char *hn_against_parts(const struct hn_dag *dag, const struct hn_op *op)
{
	const char *why = hn_law_against_parts(op);

	return why != NULL ? why : against_order(dag, op);
}
