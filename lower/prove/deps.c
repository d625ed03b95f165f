/* lower/prove/deps.c -- the polyhedral model of a dag and its dependences.  See deps.h. */
#include "lower/prove/deps.h"

#include <isl/ctx.h>
#include <isl/space.h>
#include <stdio.h>

#include "loopstate/dag/liberty.h"

const char *hn_dep_class_name(enum hn_dep_class c)
{
	static const char *const name[HN_N_DEP] = { "flow", "init", "reduction",
						    "in-place" };

	return name[c];
}

int hn_deps_failure(isl_ctx *ctx, const char *what, struct hn_err *err)
{
	enum isl_error error = isl_ctx_last_error(ctx);
	const char *why = isl_ctx_last_error_msg(ctx);

	if (error == isl_error_none) {
		return 0;
	}
	if (error == isl_error_abort || error == isl_error_quota) {
		return hn_fail(err, HONE_E_TIMEOUT, "%s ran out of time", what);
	}
	return hn_fail(err, HONE_E_INTERNAL, "%s failed in isl: %s", what,
		       why ? why : "no reason given");
}

static void add(isl_union_map **all, isl_map *m)
{
	*all = isl_union_map_union(*all, isl_union_map_from_map(m));
}

/* Instances of two statements that touch one element; consumes both accesses. */
static isl_map *sharing(isl_map *x, isl_map *y)
{
	return isl_map_apply_range(x, isl_map_reverse(y));
}

/* [S -> R<k>[]] -> T */
static isl_map *tagged(isl_map *element, uint32_t k)
{
	char name[20];
	isl_space *space = isl_space_domain(isl_map_get_space(element));
	isl_map *tag;

	snprintf(name, sizeof(name), "R%u", k);
	space = isl_space_from_domain(space);
	space = isl_space_set_tuple_name(space, isl_dim_out, name);
	tag = isl_map_domain_map(isl_map_universe(space)); /* [S -> R] -> S */
	return isl_map_apply_range(tag, element);
}

static void add_accesses(struct hn_deps *d, const struct hn_poly_stmt *s)
{
	const struct hn_dag *dag = d->poly.tree->dag;

	d->domain = isl_union_set_union(d->domain, isl_union_set_from_set(isl_map_domain(
							   isl_map_copy(s->write))));
	add(&d->write, isl_map_copy(s->write));
	for (uint32_t k = 0; k < s->n_read; k++) {
		isl_map *element = s->read[k].element;

		add(&d->read, tagged(isl_map_copy(element), k));
		if (dag->op[s->read[k].op]->kind == HN_OP_PLACEHOLDER) {
			add(&d->live_in, isl_map_copy(element));
		}
	}
}

/* y's reads of what x writes.  Ops come in topological order: an op that read what a later
 * one writes would have it overwritten. */
static void relate_reads(struct hn_deps *d, const struct hn_poly_stmt *x,
			 const struct hn_poly_stmt *y)
{
	for (uint32_t k = 0; k < y->n_read; k++) {
		isl_map *element = y->read[k].element;

		if (y->read[k].op != x->node->stage) {
			continue;
		}
		if (x->node->stage > y->node->stage) {
			add(&d->dep[HN_DEP_IN_PLACE],
			    sharing(isl_map_copy(element), isl_map_copy(x->write)));
		} else if (x->node->stmt != HN_STMT_INIT) {
			add(&d->dep[HN_DEP_FLOW],
			    sharing(isl_map_copy(x->write), isl_map_copy(element)));
		}
	}
}

/* Instances of an update whose reduction points come one before the other as written. */
static isl_map *earlier_points(const struct hn_deps *d, const struct hn_poly_stmt *s)
{
	uint32_t n_reduce = d->poly.tree->dag->op[s->node->stage]->n_reduce;
	uint32_t n = (uint32_t)isl_map_dim(s->point, isl_dim_out);
	isl_map *points =
		isl_map_project_out(isl_map_copy(s->point), isl_dim_out, 0, n - n_reduce);

	return isl_map_lex_lt_map(isl_map_copy(points), points);
}

static void relate_writes(struct hn_deps *d, const struct hn_poly_stmt *x,
			  const struct hn_poly_stmt *y)
{
	isl_map *pairs;

	if (y->node->stmt != HN_STMT_UPDATE ||
	    (x != y && x->node->stmt != HN_STMT_INIT)) {
		return;
	}
	pairs = sharing(isl_map_copy(x->write), isl_map_copy(y->write));
	if (x == y) {
		add(&d->dep[HN_DEP_REDUCTION],
		    isl_map_intersect(pairs, earlier_points(d, x)));
	} else {
		add(&d->dep[HN_DEP_INIT], pairs);
	}
}

static void relate(struct hn_deps *d)
{
	for (uint32_t i = 0; i < d->poly.n_stmt; i++) {
		const struct hn_poly_stmt *x = &d->poly.stmt[i];

		for (uint32_t j = 0; j < d->poly.n_stmt; j++) {
			const struct hn_poly_stmt *y = &d->poly.stmt[j];

			relate_reads(d, x, y);
			if (x->node->stage == y->node->stage) {
				relate_writes(d, x, y);
			}
		}
	}
}

static isl_union_map *no_map(isl_ctx *ctx)
{
	return isl_union_map_empty(isl_space_params_alloc(ctx, 0));
}

int hn_deps_of_tree(const struct hn_looptree *tree, isl_ctx *ctx, struct hn_arena *a,
		    struct hn_deps *ret, struct hn_err *err)
{
	*ret = (struct hn_deps){ 0 };
	hn_poly_build(tree, ctx, a, &ret->poly);
	ret->context = hn_poly_context(&ret->poly);
	ret->domain = isl_union_set_empty(isl_space_params_alloc(ctx, 0));
	ret->read = no_map(ctx);
	ret->write = no_map(ctx);
	ret->live_in = no_map(ctx);
	for (uint32_t c = 0; c < HN_N_DEP; c++) {
		ret->dep[c] = no_map(ctx);
	}
	for (uint32_t i = 0; i < ret->poly.n_stmt; i++) {
		add_accesses(ret, &ret->poly.stmt[i]);
	}
	relate(ret);
	return hn_deps_failure(ctx, "the polyhedral model", err);
}

int hn_deps_build(const struct hn_dag *dag, isl_ctx *ctx, struct hn_arena *a,
		  struct hn_deps *ret, struct hn_err *err)
{
	const struct hn_looptree *tree;
	int rc = hn_looptree_build(hn_state_init(dag, a), a, &tree, err);

	*ret = (struct hn_deps){ 0 };
	return rc ? rc : hn_deps_of_tree(tree, ctx, a, ret, err);
}

void hn_deps_free(struct hn_deps *d)
{
	hn_poly_free(&d->poly);
	isl_set_free(d->context);
	isl_union_set_free(d->domain);
	isl_union_map_free(d->read);
	isl_union_map_free(d->write);
	isl_union_map_free(d->live_in);
	for (uint32_t c = 0; c < HN_N_DEP; c++) {
		isl_union_map_free(d->dep[c]);
	}
}

isl_union_map *hn_deps_validity(const struct hn_deps *d)
{
	isl_union_map *all = isl_union_map_copy(d->dep[HN_DEP_FLOW]);

	all = isl_union_map_union(all, isl_union_map_copy(d->dep[HN_DEP_INIT]));
	all = isl_union_map_union(all, isl_union_map_copy(d->dep[HN_DEP_IN_PLACE]));
	for (uint32_t i = 0; i < d->poly.n_stmt; i++) {
		const struct hn_poly_stmt *s = &d->poly.stmt[i];
		const struct hn_dag *dag = d->poly.tree->dag;

		if (s->node->stmt == HN_STMT_UPDATE &&
		    hn_keeps_order(dag, dag->op[s->node->stage])) {
			isl_union_set *here = isl_union_set_from_set(
				isl_map_domain(isl_map_copy(s->write)));

			all = isl_union_map_union(
				all, isl_union_map_intersect_domain(
					     isl_union_map_copy(d->dep[HN_DEP_REDUCTION]),
					     here));
		}
	}
	return all;
}
