/* lower/prove/equal.c -- which stage is which op, stage by stage.  See equal.h. */
#include "lower/prove/equal.h"

#include <isl/set.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/size.h"
#include "lower/prove/equal_int.h"

#define UNFOLD (-2) /* as -1 in hn_eq.is, for a time */

bool hn_eq_fail(struct hn_eq *c, const char *fmt, ...)
{
	char text[500];
	va_list ap;

	if (c->why) {
		return false;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->why = hn_arena_strdup(c->arena, text);
	return false;
}

bool hn_eq_spend(struct hn_eq *c, uint64_t n)
{
	c->steps += n;
	c->gave_up = c->gave_up || c->steps > HN_EQ_MAX_STEPS || isl_ctx_aborted(c->ctx);
	return !c->gave_up || hn_eq_fail(c, "it takes too long to compare");
}

/* -- what is needed ------------------------------------------------------------------------- */

static void see_load(const struct hn_expr *e, void *ctx)
{
	struct hn_eq *c = ctx;

	if (e->op == HN_EXPR_LOAD) {
		c->live[e->ref] = true;
	}
}

static void find_live(struct hn_eq *c)
{
	const struct hn_dag *dag = c->derived;

	for (uint32_t i = 0; i < dag->n_arg; i++) {
		c->live[dag->arg[i]] = true;
	}
	for (uint32_t d = dag->n_op; d-- > 0;) {
		if (c->live[d]) {
			hn_op_visit(dag->op[d], see_load, c);
		}
	}
}

/* guess[d]: the op whose id stage d has, or the next one after it: what steps put before a stage
 * is made of it.  *ret_own[d]: it is its own. */
static void guess_ops(const struct hn_eq *c, int32_t *guess, bool *own)
{
	uint32_t n = c->derived->n_op, next = 0;

	for (uint32_t d = 0; d < n; d++) {
		const char *id = c->derived->op[d]->id;
		uint32_t o = next;

		while (o < c->given->n_op && strcmp(c->given->op[o]->id, id) != 0) {
			o++;
		}
		own[d] = o < c->given->n_op;
		guess[d] = own[d] ? (int32_t)o : -1;
		next = own[d] ? o + 1 : next;
	}
	for (uint32_t d = n - 1; d-- > 0;) {
		guess[d] = guess[d] >= 0 ? guess[d] : guess[d + 1];
	}
}

/* -- one stage ------------------------------------------------------------------------------ */

static bool same_form(const struct hn_expr *x, const struct hn_expr *y)
{
	return x == y || (x && y && hn_expr_equal(x, y));
}

/* The tensor that is made, and the points it is made at. */
static bool same_tensor(struct hn_eq *c, const struct hn_op *x, const struct hn_op *y)
{
	if (x->kind != y->kind || x->n_dim != y->n_dim || x->n_out < y->n_out) {
		return hn_eq_fail(c, "it is a tensor of another kind or rank");
	}
	for (uint32_t k = 0; k < y->n_out; k++) {
		if (x->dtype[k] != y->dtype[k]) {
			return hn_eq_fail(c, "it is of %s, not of %s", hn_dtype_name(y->dtype[k]),
					  hn_dtype_name(x->dtype[k]));
		}
	}
	for (uint32_t i = 0; i < x->n_dim; i++) {
		bool axes = x->kind != HN_OP_COMPUTE ||
			    (x->axis[i].min == y->axis[i].min &&
			     x->axis[i].extent == y->axis[i].extent);

		if (!axes || x->shape[i] != y->shape[i] ||
		    !same_form(hn_op_extent(x, i), hn_op_extent(y, i))) {
			return hn_eq_fail(c, "its dimension %u is another one", i);
		}
	}
	return true;
}

static void open_stage(struct hn_eq *c, const struct hn_op *op)
{
	c->n_slot = op->n_dim;
	for (uint32_t i = 0; i < op->n_dim; i++) {
		c->slot[i] = (struct hn_eq_axis){ op->axis[i].min, op->axis[i].extent,
						  hn_op_extent(op, i) };
	}
	c->why = NULL;
	c->asked_isl = false;
	memset(c->unfolded, 0, (c->given->n_op + c->derived->n_op) * sizeof(*c->unfolded));
}

static void close_stage(struct hn_eq *c)
{
	for (struct hn_eq_dom *d = c->doms; d; d = d->next) {
		isl_set_free(d->set);
	}
	c->doms = NULL;
}

/* As they are, or with the conditions gone that are decided on all points. */
bool hn_eq_decided(struct hn_eq *c, const struct hn_eq_dom *dom, const struct hn_expr *x,
		   const struct hn_expr *y)
{
	const char *before = c->why, *first;

	if (hn_eq_value(c, dom, x, y)) {
		return true;
	}
	first = c->why;
	c->why = before;
	if (hn_eq_value(c, dom, hn_eq_decide(c, dom, x), hn_eq_decide(c, dom, y))) {
		return true;
	}
	c->why = first;
	return false;
}

/* Output k of stage y, which does not reduce, and of op x: its body, or, `itself`, what another
 * stage was shown to make. */
static bool same_output(struct hn_eq *c, const struct hn_op *x, int32_t o, const struct hn_op *y,
			uint32_t k, bool itself)
{
	const struct hn_eq_dom *all = hn_eq_where(c, NULL, NULL, true);
	const struct hn_expr load = { .op = HN_EXPR_LOAD, .dtype = x->dtype[k], .ref = o,
				      .out = (int32_t)k };
	const struct hn_expr *slot[HN_DAG_MAX_RANK], *ex, *ey;
	const struct hn_eq_env env_x = { .value = slot, .n_value = x->n_dim };
	const struct hn_eq_env env_y = { .derived = true, .value = slot, .n_value = y->n_dim };

	for (uint32_t i = 0; i < x->n_dim; i++) {
		slot[i] = hn_eq_slot(c, i);
	}
	ex = itself ? hn_expr_with_args(&load, slot, x->n_dim, c->arena)
		    : hn_eq_expand(c, &env_x, x->body[k], false);
	ey = hn_eq_expand(c, &env_y, y->body[k], false);
	return ex && ey && hn_eq_decided(c, all, ex, ey);
}

/* Stages that were shown to be `from` are `to`. */
static void rename_shown(struct hn_eq *c, int32_t from, int32_t to)
{
	for (uint32_t e = 0; e < c->derived->n_op; e++) {
		c->is[e] = c->is[e] == from ? to : c->is[e];
	}
}

/* A stage that makes some outputs of the op is unfolded where y reads it for another. */
static bool same_body(struct hn_eq *c, const struct hn_op *x, int32_t o, const struct hn_op *y)
{
	for (uint32_t k = 0; k < y->n_out; k++) {
		if (c->known[o] && same_output(c, x, o, y, k, true)) {
			continue;
		}
		c->why = x->reduce ? c->why : NULL;
		if (x->reduce) {
			return hn_eq_fail(c, "it does not reduce as the program does");
		}
		rename_shown(c, o, UNFOLD);
		bool same = same_output(c, x, o, y, k, false);

		rename_shown(c, UNFOLD, o);
		if (!same) {
			return false;
		}
	}
	return true;
}

/* The op that stage d copies at its own axes, or -1. */
static int32_t copied(const struct hn_eq *c, const struct hn_op *y)
{
	int32_t from = -1;

	for (uint32_t k = 0; k < y->n_out && y->body; k++) {
		const struct hn_expr *e = y->body[k];

		if (e->op != HN_EXPR_LOAD || c->is[e->ref] < 0 || e->out != (int32_t)k ||
		    e->n_arg != y->n_dim || (k > 0 && c->is[e->ref] != from) ||
		    y->dtype[k] != c->given->op[c->is[e->ref]]->dtype[k]) {
			return -1;
		}
		for (uint32_t i = 0; i < e->n_arg; i++) {
			if (e->arg[i]->op != HN_EXPR_VAR || e->arg[i]->ref != (int32_t)i) {
				return -1;
			}
		}
		from = c->is[e->ref];
	}
	return from;
}

static int32_t input_of(const struct hn_eq *c, int32_t d)
{
	for (uint32_t i = 0; i < c->derived->n_input; i++) {
		if (c->derived->arg[i] == d) {
			return c->given->arg[i];
		}
	}
	return -1;
}

/* Names of what was unfolded. */
static const char *say_unfolded(struct hn_eq *c)
{
	uint32_t n_given = c->given->n_op, n = n_given + c->derived->n_op, n_said = 0;
	struct hn_buf text;
	const char *r;

	hn_buf_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		if (c->unfolded[i]) {
			const char *name = i < n_given ? c->given->op[i]->name
						       : c->derived->op[i - n_given]->name;

			hn_buf_printf(&text, "%s%.60s", n_said > 0 ? ", " : "", name);
			n_said++;
		}
	}
	r = n_said > 0 && !text.failed ? hn_arena_strndup(c->arena, text.s, text.n) : "";
	hn_buf_fini(&text);
	return r;
}

static const char *join(struct hn_eq *c, const char *parts)
{
	const char *unfolded = say_unfolded(c);

	if (*unfolded == '\0') {
		return parts ? parts : "";
	}
	return parts ? hn_arena_printf(c->arena, "%s; with %.600s unfolded", parts, unfolded)
		     : hn_arena_printf(c->arena, "of %.600s", unfolded);
}

/* Whether stage d is op o; *ret how. */
static bool show(struct hn_eq *c, int32_t d, int32_t o, struct hn_equal_row *ret)
{
	const struct hn_op *x = c->given->op[o], *y = c->derived->op[d];
	const char *parts = NULL;
	bool same;

	c->why = NULL;
	if (!same_tensor(c, x, y)) {
		return false;
	}
	open_stage(c, y);
	if (x->reduce && y->reduce) {
		same = x->n_out == y->n_out && hn_eq_reduction(c, d, o, &parts);
	} else {
		same = y->reduce ? hn_eq_fail(c, "it reduces, and the program does not")
				 : same_body(c, x, o, y);
	}
	close_stage(c);
	ret->rule = parts ? "partition" : "unfolding";
	ret->by = same ? join(c, parts) : "";
	return same;
}

static void tell(struct hn_eq *c, struct hn_equal *ret, struct hn_equal_row row, int32_t d,
		 int32_t o)
{
	row.stage = c->derived->op[d]->name;
	row.is = o >= 0 ? c->given->op[o]->name : NULL;
	((struct hn_equal_row *)ret->row)[ret->n++] = row;
}

static bool refuse(struct hn_eq *c, int32_t d, const char *op)
{
	(void)hn_fail(c->err, HONE_E_INVALID, "stage %d (%s): not shown to compute %s: %s", d,
		      c->derived->op[d]->name, op, c->why ? c->why : "no reason is known");
	return false;
}

/* A stage with an id of the program's.  Where what it copies should have been it, that one. */
static bool refuse_own(struct hn_eq *c, int32_t d)
{
	uint32_t rank = c->derived->op[d]->n_dim;

	for (int32_t e = d - 1; e >= 0 && c->why_not[e]; e--) {
		if (c->derived->op[e]->reduce && c->derived->op[e]->n_dim == rank) {
			c->why = c->why_not[e];
			d = e;
		}
	}
	return refuse(c, d, "what the program does");
}

static bool show_input(struct hn_eq *c, int32_t d)
{
	int32_t o = input_of(c, d);

	c->why = NULL;
	if (o < 0 || !same_tensor(c, c->given->op[o], c->derived->op[d])) {
		hn_eq_fail(c, "it is no argument");
		return refuse(c, d, o >= 0 ? c->given->op[o]->name : "an input");
	}
	c->is[d] = o;
	c->known[o] = true;
	return true;
}

static bool show_stage(struct hn_eq *c, int32_t d, int32_t guess, bool own, struct hn_equal *ret)
{
	const struct hn_op *op = c->derived->op[d];
	struct hn_equal_row row = { .rule = "copy", .by = "" };
	int32_t o = own ? -1 : copied(c, op);

	if (o < 0 && guess >= 0 && show(c, d, guess, &row)) {
		o = guess;
	}
	if (o < 0 && own) {
		return refuse_own(c, d);
	}
	c->why_not[d] = o < 0 ? c->why : NULL;
	c->is[d] = o;
	if (o >= 0) {
		c->known[o] = true;
	} else {
		row = (struct hn_equal_row){ .rule = "unfolding", .by = "" };
	}
	if (!own || *row.by) {
		tell(c, ret, row, d, o);
	}
	return true;
}

static bool same_arguments(struct hn_eq *c)
{
	const struct hn_dag *x = c->given, *y = c->derived;
	bool same = x->n_arg == y->n_arg && x->n_input == y->n_input;

	if (!same || (hn_dag_forbidden(x) & ~hn_dag_forbidden(y)) != 0) {
		(void)hn_fail(c->err, HONE_E_INVALID,
			      same ? "the derived program forgets what the task forbids"
				   : "the derived program has other arguments");
		return false;
	}
	for (uint32_t i = x->n_input; i < x->n_arg; i++) {
		if (c->is[y->arg[i]] != x->arg[i]) {
			return refuse(c, y->arg[i], x->op[x->arg[i]]->name);
		}
	}
	return true;
}

bool hn_equal_dags(const struct hn_dag *given, const struct hn_dag *derived, isl_ctx *ctx,
		   struct hn_arena *a, struct hn_equal *ret, struct hn_err *err)
{
	uint32_t n = derived->n_op;
	struct hn_eq c = {
		.given = given,
		.derived = derived,
		.ctx = ctx,
		.arena = a,
		.err = err,
		.is = HN_NEW_ARRAY(a, int32_t, n),
		.why_not = HN_NEW_ARRAY(a, const char *, n),
		.live = HN_NEW_ARRAY(a, bool, n),
		.known = HN_NEW_ARRAY(a, bool, given->n_op),
		.unfolded = HN_NEW_ARRAY(a, bool, n + given->n_op),
	};
	int32_t *guess = HN_NEW_ARRAY(a, int32_t, n);
	bool *own = HN_NEW_ARRAY(a, bool, n);
	bool same = true;

	*ret = (struct hn_equal){ .row = HN_NEW_ARRAY(a, struct hn_equal_row, n) };
	find_live(&c);
	guess_ops(&c, guess, own);
	for (uint32_t d = 0; d < n; d++) {
		c.is[d] = -1;
	}
	for (uint32_t d = 0; d < n && same; d++) {
		if (c.live[d]) {
			same = derived->op[d]->kind == HN_OP_PLACEHOLDER
				       ? show_input(&c, (int32_t)d)
				       : show_stage(&c, (int32_t)d, guess[d], own[d], ret);
		}
	}
	same = same && same_arguments(&c);
	ret->gave_up = c.gave_up;
	return same;
}

void hn_equal_print(const struct hn_equal *e, struct hn_buf *ret)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const struct hn_equal_row *row = &e->row[i];

		hn_buf_printf(ret, "%s ", row->stage);
		hn_buf_puts(ret, row->is ? "is " : "is part of what reads it");
		hn_buf_printf(ret, "%s: %s", row->is ? row->is : "", row->rule);
		hn_buf_printf(ret, "%s%s\n", *row->by ? " " : "", row->by);
	}
}
