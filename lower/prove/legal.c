/* lower/prove/legal.c -- exact legality of a loop tree (tier T1).
 *
 * Invariants proved, each by a function of its own, all on the model of poly.h:
 *   1. bounds      no access leaves the buffer that holds its tensor, no two elements of a
 *                  buffer lie in one place, and nothing outside an op's domain is computed;
 *   2. coverage    every element that is read (or is an output) has been computed: all its
 *                  points, and each point of a reduction exactly once per lifetime;
 *   3. order       init before update before consumer, producer before consumer, and no buffer
 *                  is filled again before all that was in it has been read;
 *   4. sequence    a combiner that is not known to be associative and commutative keeps the
 *                  order of the naive program, and so does every one of a bitwise task;
 *   5. concurrency loops whose iterations run at the same time carry no dependence
 *                  (legal_loops.c), and what threads share is the same to each (concurrent.h);
 *   6. equality    the dag that the tree is of computes what the task's does (equal.h).
 * Prefetches of loops (looptree.h) write nothing and may read anything: they are not
 * looked at.  What holds for the over-approximated accesses holds for the real ones: a tree that is
 * refused may be legal where an access is not quasi-affine, never the other way round.
 */
#include "lower/prove/legal_int.h"

#include <inttypes.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdio.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/dag/size.h"
#include "loopstate/nest/concurrent.h"
#include "loopstate/nest/layout.h"
#include "loopstate/nest/ring.h"
#include "lower/prove/certify.h"
#include "lower/prove/equal.h"
#include "lower/prove/poly_aff.h"
#include "lower/prove/poly_isolate.h"
#include "lower/prove/watchdog.h"

/* 1. Bounds. */

/* Coordinate d of box in [min, min + extent); form, when not NULL, is the extent. */
static isl_set *bound(isl_set *box, uint32_t d, int64_t min, int64_t extent,
		      const struct hn_expr *form)
{
	isl_ctx *ctx = isl_set_get_ctx(box);

	box = isl_set_lower_bound_val(box, isl_dim_set, d, isl_val_int_from_si(ctx, min));
	if (form) {
		return hn_poly_below(box, d, min, form);
	}
	return isl_set_upper_bound_val(box, isl_dim_set, d,
				       isl_val_int_from_si(ctx, min + extent - 1));
}

static isl_set *buffer_box(struct hn_legal *c, int32_t op)
{
	const struct hn_buffer *buffer = &c->poly.tree->buffer[op];
	const struct hn_op *o = hn_legal_op(c, op);
	isl_set *box = isl_set_universe(hn_poly_set_space(&c->poly, buffer->n_dim));

	for (uint32_t d = 0; d < buffer->n_dim; d++) {
		box = bound(box, d, 0, buffer->extent[d],
			    buffer->lifetime == HN_LIFETIME_ARG ? hn_op_extent(o, d) : NULL);
	}
	return box;
}

static void check_slot(struct hn_legal *c, isl_map *slot, int32_t op,
		       const struct hn_poly_stmt *s, const char *what)
{
	if (!slot) {
		return; /* shown by intervals, or a failure that is counted */
	}
	isl_set *touched = isl_map_range(isl_map_copy(slot));
	isl_set *box = buffer_box(c, op);

	if (isl_set_is_subset(touched, box) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): %s outside the buffer that holds %s",
			  s->node->stage, hn_legal_op(c, s->node->stage)->name, what,
			  hn_legal_op(c, op)->name);
	}
	isl_set_free(touched);
	isl_set_free(box);
}

/* { T[x] : x within the op's shape }; with_reduce appends the reduction axes. */
static isl_set *whole_tensor(struct hn_legal *c, int32_t op, uint32_t n_before,
			     bool with_reduce)
{
	const struct hn_op *o = hn_legal_op(c, op);
	uint32_t n = o->n_spatial + (with_reduce ? o->n_reduce : 0);
	char name[20];

	snprintf(name, sizeof(name), "T%" PRId32, op);
	isl_space *space = hn_poly_set_space(&c->poly, n_before + n);
	isl_set *set = isl_set_universe(
		isl_space_set_tuple_name(space, isl_dim_set, name));

	set = isl_set_intersect_params(set, hn_poly_context(&c->poly));

	for (uint32_t i = 0; i < n; i++) {
		set = bound(set, n_before + i, o->axis[i].min, o->axis[i].extent,
			    hn_op_extent(o, i));
	}
	return set;
}

static void check_domain(struct hn_legal *c, const struct hn_poly_stmt *s)
{
	int32_t op = s->node->stage;
	uint32_t n_before =
		hn_poly_dims(&c->poly, s, hn_poly_lifetime(c->poly.tree, op, s));
	bool update = s->node->stmt == HN_STMT_UPDATE; /* its reduction axes count too */
	isl_set *written = isl_map_range(isl_map_copy(update ? s->point : s->write));
	isl_set *domain = whole_tensor(c, op, n_before, update);

	if (isl_set_is_subset(written, domain) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): computes points outside its domain", op,
			  hn_legal_op(c, op)->name);
	}
	isl_set_free(written);
	isl_set_free(domain);
}

/* The maps of poly.h end at an element's index; this says that an element is a place. */
static void check_layouts(struct hn_legal *c)
{
	for (uint32_t op = 0; op < c->poly.tree->dag->n_op; op++) {
		const struct hn_buffer *buffer = &c->poly.tree->buffer[op];
		const char *why = buffer->op >= 0 ? hn_layout_why_not(buffer) : NULL;

		if (why) {
			HN_REFUSE(c, "stage %u (%s): its buffer can not be swizzled: %s", op,
				  hn_legal_op(c, (int32_t)op)->name, why);
		}
	}
}

static void check_bounds(struct hn_legal *c)
{
	check_layouts(c);
	for (uint32_t i = 0; i < c->poly.n_stmt && !c->illegal; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];

		check_slot(c, s->slot, s->node->stage, s, "writes");
		if (!s->in_shape) {
			check_domain(c, s);
		}
		for (uint32_t k = 0; k < s->n_read; k++) {
			check_slot(c, s->read[k].slot, s->read[k].op, s, "reads");
		}
	}
}

/* 2. Coverage. */

static bool is_output(const struct hn_legal *c, int32_t op)
{
	const struct hn_dag *dag = c->poly.tree->dag;

	for (uint32_t i = dag->n_input; i < dag->n_arg; i++) {
		if (dag->arg[i] == op) {
			return true;
		}
	}
	return false;
}

/* Everything of `op` that somebody reads or that leaves the kernel; NULL when nothing. */
static isl_set *needed_elements(struct hn_legal *c, int32_t op)
{
	isl_set *needed = is_output(c, op) ? whole_tensor(c, op, 0, false) : NULL;

	for (uint32_t i = 0; i < c->poly.n_stmt; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];

		for (uint32_t k = 0; k < s->n_read; k++) {
			isl_set *range;

			if (s->read[k].op != op) {
				continue;
			}
			range = isl_map_range(isl_map_copy(s->read[k].element));
			needed = needed ? isl_set_union(needed, range) : range;
		}
	}
	return needed;
}

static void check_written(struct hn_legal *c, const struct hn_poly_stmt *s,
			  isl_set *needed)
{
	isl_set *written = isl_map_range(isl_map_copy(s->write));
	const char *what = s->node->stmt == HN_STMT_INIT ? "initialised" : "computed";

	if (isl_set_is_subset(needed, written) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): an element is read that has not been %s",
			  s->node->stage, hn_legal_op(c, s->node->stage)->name, what);
	}
	isl_set_free(written);
}

static void check_reduced(struct hn_legal *c, const struct hn_poly_stmt *s,
			  isl_set *needed)
{
	int32_t op = s->node->stage;
	uint32_t n_before =
		hn_poly_dims(&c->poly, s, hn_poly_lifetime(c->poly.tree, op, s));
	isl_set *points = isl_map_range(isl_map_copy(s->point));
	isl_set *all = isl_set_add_dims(isl_set_copy(needed), isl_dim_set,
					hn_legal_op(c, op)->n_reduce);
	isl_set *box = whole_tensor(c, op, n_before, true);

	all = isl_set_set_tuple_id(all, isl_set_get_tuple_id(points));
	all = isl_set_intersect(all, box);
	if (isl_set_is_subset(all, points) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): a point of its reduction is left out", op,
			  hn_legal_op(c, op)->name);
	}
	isl_set_free(all);
	isl_set_free(points);
	if (!c->illegal && !s->injective && isl_map_is_injective(s->point) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): a point of its reduction is counted twice",
			  op, hn_legal_op(c, op)->name);
	}
}

static void check_coverage(struct hn_legal *c)
{
	const struct hn_dag *dag = c->poly.tree->dag;

	for (uint32_t op = 0; op < dag->n_op && !c->illegal; op++) {
		isl_set *needed;
		uint32_t n_writer = 0;
		uint32_t n_init = 0;

		if (dag->op[op]->kind == HN_OP_PLACEHOLDER) {
			continue;
		}
		needed = needed_elements(c, (int32_t)op);
		for (uint32_t i = 0; i < c->poly.n_stmt && needed; i++) {
			const struct hn_poly_stmt *s = &c->poly.stmt[i];

			if (s->node->stage != (int32_t)op) {
				continue;
			}
			n_writer++;
			n_init += s->node->stmt == HN_STMT_INIT;
			check_written(c, s, needed);
			if (s->node->stmt == HN_STMT_UPDATE) {
				check_reduced(c, s, needed);
			}
		}
		if (needed && n_writer == 0) {
			HN_REFUSE(c, "stage %u (%s): read but never computed", op,
				  dag->op[op]->name);
		}
		if (needed && dag->op[op]->reduce && n_init == 0) {
			HN_REFUSE(c, "stage %u (%s): its reduction is never initialised",
				  op, dag->op[op]->name);
		}
		isl_set_free(needed);
	}
}

/* 3. Order.  Instances of x must all run before the instances of y they share an element
 * with: refuse when a pair runs the other way round. */

static isl_map *first_dims(isl_map *m, uint32_t n_common)
{
	isl_map *project;
	uint32_t n = (uint32_t)isl_map_dim(m, isl_dim_in);

	project = isl_map_project_out(m, isl_dim_in, n_common, n - n_common);
	return isl_map_reset_tuple_id(project, isl_dim_in);
}

/* m of the first n loops' coordinates; where some of the last of them is ahead of the rest, those of
 * the turn instead. */
static isl_map *in_turns(const struct hn_legal *c, isl_map *m, const struct hn_poly_stmt *s,
			 uint32_t n)
{
	struct hn_buf text;
	isl_map *turns;

	if (n == 0 || !hn_ring_uneven(s->loop[n - 1])) {
		return m;
	}
	hn_buf_init(&text);
	hn_buf_puts(&text, "{ [");
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < c->poly.radix[s->loop[i]->loop].n_digit; k++) {
			hn_buf_printf(&text, "%sl%d_%u", i + k > 0 ? ", " : "", s->loop[i]->loop,
				      k);
		}
	}
	hn_buf_puts(&text, "] -> [");
	for (uint32_t i = 0; i < n; i++) {
		hn_buf_puts(&text, i > 0 ? ", " : "");
		hn_poly_put_turn(&c->poly, s, i, &text);
	}
	hn_buf_puts(&text, "] }");
	turns = text.failed ? NULL : isl_map_read_from_str(c->poly.ctx, text.s);
	hn_buf_fini(&text);
	return isl_map_apply_domain(m, turns);
}

static void check_before(struct hn_legal *c, const struct hn_poly_stmt *x,
			 isl_map *x_element, const struct hn_poly_stmt *y,
			 isl_map *y_element)
{
	bool before;
	uint32_t n = hn_poly_common(x, y, &before);
	int32_t op = x->node->stage;
	isl_map *pairs;
	isl_map *wrong;

	int32_t lead = n > 0 ? hn_poly_ahead(x, n - 1) - hn_poly_ahead(y, n - 1) : 0;

	if (n == hn_poly_lifetime(c->poly.tree, op, x) && before && lead >= 0) {
		return; /* same lifetime, so the same common iteration: x is ahead, or the text's
			   order decides */
	}
	uint32_t n_dim = hn_poly_dims(&c->poly, x, n);

	pairs = isl_map_apply_range(
		in_turns(c, first_dims(isl_map_copy(x_element), n_dim), x, n),
		isl_map_reverse(in_turns(c, first_dims(isl_map_copy(y_element), n_dim), y, n)));
	wrong = before ? isl_map_lex_gt(isl_space_domain(isl_map_get_space(pairs)))
		       : isl_map_lex_ge(isl_space_domain(isl_map_get_space(pairs)));
	if (isl_map_is_disjoint(pairs, wrong) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): used by stage %d (%s) before it is complete",
			  op, hn_legal_op(c, op)->name, y->node->stage,
			  hn_legal_op(c, y->node->stage)->name);
	}
	isl_map_free(pairs);
	isl_map_free(wrong);
}

static void check_order(struct hn_legal *c)
{
	for (uint32_t i = 0; i < c->poly.n_stmt && !c->illegal; i++) {
		const struct hn_poly_stmt *x = &c->poly.stmt[i];

		for (uint32_t j = 0; j < c->poly.n_stmt && !c->illegal; j++) {
			const struct hn_poly_stmt *y = &c->poly.stmt[j];

			if (i != j && y->node->stage == x->node->stage &&
			    x->node->stmt == HN_STMT_INIT) {
				check_before(c, x, x->write, y, y->write);
			}
			for (uint32_t k = 0; k < y->n_read && !c->illegal; k++) {
				if (y->read[k].op == x->node->stage) {
					check_before(c, x, x->write, y,
						     y->read[k].element);
				}
			}
		}
	}
}

/* Iterations of a pipelined loop are about at the same time, and a buffer of one is filled again
 * for another. */
static void check_rings(struct hn_legal *c)
{
	const struct hn_node *loop = NULL;
	const char *why = hn_ring_why_not(c->poly.tree, c->poly.tree->root, &loop);

	if (why) {
		HN_REFUSE(c, "stage %d (%s): loop %s: %s", loop->stage,
			  hn_legal_op(c, loop->stage)->name, loop->name, why);
	}
}

/* 4. Sequence.  For combiners that may not be reordered: no two updates of one element
 * run against the lexicographic order of their reduction points. */

static void check_sequence(struct hn_legal *c, const struct hn_poly_stmt *s)
{
	uint32_t n_reduce = hn_legal_op(c, s->node->stage)->n_reduce;
	uint32_t n_point = (uint32_t)isl_map_dim(s->point, isl_dim_out);
	isl_map *reduction = isl_map_project_out(isl_map_copy(s->point), isl_dim_out, 0,
						 n_point - n_reduce);
	isl_map *time_back;
	isl_map *pairs;

	reduction = isl_map_reset_tuple_id(reduction, isl_dim_out);
	pairs = isl_map_apply_range(isl_map_copy(s->write),
				    isl_map_reverse(isl_map_copy(s->write)));
	time_back = isl_map_lex_gt(isl_space_domain(isl_map_get_space(s->write)));
	pairs = isl_map_intersect(pairs, time_back);
	pairs = isl_map_apply_domain(pairs, isl_map_copy(reduction));
	pairs = isl_map_apply_range(pairs, reduction);
	pairs = isl_map_intersect(
		pairs, isl_map_lex_lt(isl_space_domain(isl_map_get_space(pairs))));
	if (isl_map_is_empty(pairs) == isl_bool_false) {
		HN_REFUSE(c, "stage %d (%s): its combiner may not be reordered",
			  s->node->stage, hn_legal_op(c, s->node->stage)->name);
	}
	isl_map_free(pairs);
}

static void check_sequences(struct hn_legal *c)
{
	for (uint32_t i = 0; i < c->poly.n_stmt && !c->illegal; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];

		if (s->node->stmt == HN_STMT_UPDATE && s->point &&
		    hn_keeps_order(c->poly.tree->dag, hn_legal_op(c, s->node->stage))) {
			check_sequence(c, s);
		}
	}
}

static enum hn_verdict conclude(struct hn_legal *c, bool gave_up, isl_ctx *ctx)
{
	enum isl_error error = isl_ctx_last_error(ctx);

	if (gave_up || error == isl_error_abort || error == isl_error_quota) {
		(void)hn_fail(c->err, HONE_E_TIMEOUT,
			      "the legality check ran out of time");
		return HN_VERDICT_BUILD_TIMEOUT;
	}
	if (error != isl_error_none || c->poly.n_error) {
		const char *why = isl_ctx_last_error_msg(ctx);

		(void)hn_fail(c->err, HONE_E_INTERNAL,
			      "the legality check failed in isl: %s",
			      why ? why : "no reason given");
		return HN_VERDICT_BUILD_FAIL;
	}
	if (c->poly.n_inexact) {
		(void)hn_fail(
			c->err, HONE_E_UNSUPPORTED,
			"the legality check cannot model this history: an axis is not "
			"quasi-affine in its loops");
		return HN_VERDICT_BUILD_FAIL;
	}
	return c->illegal ? HN_VERDICT_ILLEGAL : HN_VERDICT_OK;
}

enum hn_verdict hn_legal_check(const struct hn_looptree *t, int64_t limit_ms,
			       struct hn_err *err)
{
	const struct hn_legal_limits limits = { .ms = limit_ms };

	return hn_legal_certify(t, &limits, NULL, err);
}

/* equal: its rows lie in `a`. */
static enum hn_verdict check(const struct hn_looptree *t, const struct hn_legal_limits *limits,
			     struct hn_buf *certificate, struct hn_arena *a,
			     struct hn_equal *equal, struct hn_err *err)
{
	struct hn_legal c = { .err = err };
	struct hn_watchdog *dog = NULL;
	isl_ctx *ctx = isl_ctx_alloc();
	enum hn_verdict verdict;

	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	isl_ctx_set_max_operations(ctx, limits->operations);
	if (limits->ms > 0) {
		dog = hn_watchdog_start(ctx, limits->ms);
	}
	hn_arena_init(&c.arena, 0);
	hn_poly_build(t, ctx, &c.arena, &c.poly);
	if (!c.poly.n_error && !c.poly.n_inexact) {
		check_bounds(&c);
		check_coverage(&c);
		check_order(&c);
		check_rings(&c);
		check_sequences(&c);
		hn_legal_check_loops(&c, t->root);
	}
	c.illegal = c.illegal || !hn_threads_agree(t, err);
	if (!c.illegal && !c.poly.n_error && !c.poly.n_inexact &&
	    t->dag != t->state->root_dag) {
		c.illegal = !hn_equal_dags(t->state->root_dag, t->dag, ctx, a, equal, err);
	}
	if (certificate && !c.illegal && !c.poly.n_error && !c.poly.n_inexact) {
		c.poly.n_error += hn_certificate_write(&c.poly, equal, certificate) != 0;
	}
	hn_watchdog_stop(dog);
	verdict = conclude(&c, equal->gave_up, ctx);
	hn_poly_free(&c.poly);
	hn_arena_fini(&c.arena);
	isl_ctx_free(ctx);
	return verdict;
}

enum hn_verdict hn_legal_show(const struct hn_looptree *t, int64_t limit_ms, struct hn_arena *a,
			      struct hn_equal *ret, struct hn_err *err)
{
	const struct hn_legal_limits limits = { .ms = limit_ms };

	*ret = (struct hn_equal){ 0 };
	return check(t, &limits, NULL, a, ret, err);
}

enum hn_verdict hn_legal_certify(const struct hn_looptree *t, const struct hn_legal_limits *limits,
				 struct hn_buf *certificate, struct hn_err *err)
{
	struct hn_equal equal = { 0 };
	struct hn_arena a;
	enum hn_verdict verdict;

	hn_arena_init(&a, 0);
	verdict = check(t, limits, certificate, &a, &equal, err);
	hn_arena_fini(&a);
	return verdict;
}
