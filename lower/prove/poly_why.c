/* lower/prove/poly_why.c -- broken dependences in words.  See poly_why.h.
 *
 * A dependence x -> y is carried by the outermost common loop in which its two instances
 * differ; it must be carried forward, and by no loop whose iterations run at the same time.
 * Where they differ in none the text decides.
 */
#include "lower/prove/poly_why.h"

#include <isl/aff.h>
#include <isl/space.h>
#include <stdio.h>
#include <stdlib.h>

#include "loopstate/dag/liberty.h"
#include "loopstate/nest/concurrent.h"

struct finder {
	const struct hn_deps *d;
	enum hn_dep_class c;
	struct hn_buf *out;
	uint32_t n;
};

/* One dependence between two statements, and the loops around both. */
struct pair {
	const struct hn_poly_stmt *x, *y;
	isl_map *m; /* x's instances -> y's */
	uint32_t n_loop;
	bool before; /* x comes first where the text decides */
};

static const struct hn_poly_stmt *statement(const struct hn_poly *p, isl_map *m,
					    enum isl_dim_type side)
{
	return &p->stmt[strtoul(isl_map_get_tuple_name(m, side) + 1, NULL, 10)];
}

static void put_statement(const struct finder *f, const struct hn_poly_stmt *s)
{
	hn_buf_printf(f->out, "S%u (%s %s)", s->id, hn_poly_kind(s),
		      f->d->poly.tree->dag->op[s->node->stage]->name);
}

/* Consumes `wrong`; tells of it when there is such a pair. */
static bool tell(struct finder *f, const struct pair *p, isl_map *wrong, const char *how,
		 const struct hn_node *loop)
{
	isl_bool none = isl_map_is_empty(wrong);

	if (none == isl_bool_false) {
		isl_map *one =
			isl_map_from_basic_map(isl_map_sample(isl_map_copy(wrong)));
		char *text = isl_map_to_str(one);

		hn_buf_printf(f->out, "%s dependence ", hn_dep_class_name(f->c));
		put_statement(f, p->x);
		hn_buf_puts(f->out, " -> ");
		put_statement(f, p->y);
		hn_buf_puts(f->out, how);
		if (loop) {
			hn_buf_printf(f->out, " %s (l%d)", loop->name, loop->loop);
		}
		hn_buf_printf(f->out, ": %s\n", text ? text : "");
		free(text);
		isl_map_free(one);
		f->n++;
	}
	isl_map_free(wrong);
	return none == isl_bool_false;
}

/* Whether the order of a reduction's points is none of this dag's business. */
static bool may_turn(const struct finder *f, const struct pair *p)
{
	const struct hn_dag *dag = f->d->poly.tree->dag;

	return f->c == HN_DEP_REDUCTION &&
	       !hn_keeps_order(dag, dag->op[p->x->node->stage]);
}

/* Whether they are updates of one element whose parts threads combine. */
static bool may_combine(const struct finder *f, const struct pair *p, const struct hn_node *loop)
{
	return f->c == HN_DEP_REDUCTION &&
	       hn_loop_combines(f->d->poly.tree->dag, loop, p->x->node->stage);
}

/* The pairs that differ first in digit `dim`, y's instance first (or x's). */
static isl_map *carried(const struct pair *p, uint32_t dim, bool backwards)
{
	isl_map *m = isl_map_copy(p->m);

	for (uint32_t i = 0; i < dim; i++) {
		m = isl_map_equate(m, isl_dim_in, (int)i, isl_dim_out, (int)i);
	}
	return backwards
		       ? isl_map_order_gt(m, isl_dim_in, (int)dim, isl_dim_out, (int)dim)
		       : isl_map_order_lt(m, isl_dim_in, (int)dim, isl_dim_out, (int)dim);
}

static void examine_loop(struct finder *f, const struct pair *p, uint32_t depth)
{
	const struct hn_poly *poly = &f->d->poly;
	const struct hn_node *loop = p->x->loop[depth];
	uint32_t end = hn_poly_dims(poly, p->x, depth + 1);
	bool concurrent = hn_loop_concurrent(loop);
	char how[60];
	bool told = false;

	if (concurrent && may_combine(f, p, loop)) {
		return;
	}
	snprintf(how, sizeof how, " is carried %s%s loop", concurrent ? "by " : "backwards by",
		 concurrent ? hn_ann_keyword(loop->ann) : "");
	for (uint32_t dim = hn_poly_dims(poly, p->x, depth); dim < end && !told; dim++) {
		if (concurrent || !may_turn(f, p)) {
			told = tell(f, p, carried(p, dim, true), how, loop);
		}
		if (concurrent && !told) {
			told = tell(f, p, carried(p, dim, false), how, loop);
		}
	}
}

static void examine_text(struct finder *f, const struct pair *p)
{
	uint32_t n = hn_poly_dims(&f->d->poly, p->x, p->n_loop);
	isl_map *m = isl_map_copy(p->m);

	for (uint32_t i = 0; i < n; i++) {
		m = isl_map_equate(m, isl_dim_in, (int)i, isl_dim_out, (int)i);
	}
	tell(f, p, m,
	     p->n_loop > 0 ? " runs backwards within one iteration of loop"
			   : " runs backwards: its reader's nest comes first",
	     p->n_loop > 0 ? p->x->loop[p->n_loop - 1] : NULL);
}

/* The last loop of both by turns, where one statement is ahead of the other in it and it is one
 * digit; what is told of a pair is then the turns. */
static isl_map *in_turns(const struct hn_poly *poly, isl_map *m, const struct pair *p)
{
	uint32_t last = p->n_loop - 1;

	if (p->n_loop == 0 || p->x == p->y || poly->radix[p->x->loop[last]->loop].n_digit != 1 ||
	    hn_poly_ahead(p->x, last) == hn_poly_ahead(p->y, last)) {
		return m;
	}
	int dim = (int)hn_poly_dims(poly, p->x, last);

	for (int k = 0; k < 2; k++) {
		isl_space *space = isl_map_get_space(m);

		space = k == 0 ? isl_space_domain(space) : isl_space_range(space);
		isl_multi_aff *to = isl_multi_aff_identity(isl_space_map_from_set(space));
		isl_aff *turn = isl_multi_aff_get_aff(to, dim);

		turn = isl_aff_add_constant_si(turn, -hn_poly_ahead(k == 0 ? p->x : p->y, last));
		isl_map *turns = isl_map_from_multi_aff(isl_multi_aff_set_aff(to, dim, turn));

		m = k == 0 ? isl_map_apply_domain(m, turns) : isl_map_apply_range(m, turns);
	}
	return m;
}

static isl_stat examine(isl_map *m, void *user)
{
	struct finder *f = user;
	struct pair p = { .m = m, .before = true };

	p.x = statement(&f->d->poly, m, isl_dim_in);
	p.y = statement(&f->d->poly, m, isl_dim_out);
	p.n_loop = p.x == p.y ? p.x->n_loop : hn_poly_common(p.x, p.y, &p.before);
	p.m = m = in_turns(&f->d->poly, m, &p);
	for (uint32_t depth = 0; depth < p.n_loop; depth++) {
		examine_loop(f, &p, depth);
	}
	if (!p.before) {
		examine_text(f, &p);
	}
	isl_map_free(m);
	return isl_stat_ok;
}

uint32_t hn_poly_why(const struct hn_deps *d, struct hn_buf *ret)
{
	struct finder f = { .d = d, .out = ret };

	for (f.c = 0; f.c < HN_N_DEP; f.c++) {
		(void)isl_union_map_foreach_map(d->dep[f.c], examine, &f);
	}
	return f.n;
}
