/* lower/prove/poly_ast.c -- isl's AST of a schedule tree.  See poly_ast.h. */
#include "lower/prove/poly_ast.h"

#include <isl/aff.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/options.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <stdlib.h>

/* S<id>[digits] -> S<id>[axes]. */
static isl_pw_multi_aff *axes_of(const struct hn_poly *p, const struct hn_poly_stmt *s)
{
	isl_map *m = isl_map_copy(s->point ? s->point : s->write);
	uint32_t n_before =
		hn_poly_dims(p, s, hn_poly_lifetime(p->tree, s->node->stage, s));

	m = isl_map_project_out(m, isl_dim_out, 0, n_before);
	m = isl_map_set_tuple_id(m, isl_dim_out, isl_map_get_tuple_id(m, isl_dim_in));
	return isl_pw_multi_aff_from_map(m);
}

/* A leaf's node, given the call isl made of instance coordinates. */
static isl_ast_node *at_domain(isl_ast_node *node, isl_ast_build *build, void *user)
{
	const struct hn_poly *p = user;
	isl_union_map *schedule = isl_ast_build_get_schedule(build);
	isl_map *when = isl_map_from_union_map(schedule); /* S[digits] -> time */
	const char *name = isl_map_get_tuple_name(when, isl_dim_in);
	isl_pw_multi_aff *instance, *axes;
	isl_ast_expr *call;

	isl_ast_node_free(node);
	if (!name) {
		isl_map_free(when);
		return NULL;
	}
	axes = axes_of(p, &p->stmt[strtoul(name + 1, NULL, 10)]);
	instance = isl_pw_multi_aff_from_map(isl_map_reverse(when));
	call = isl_ast_build_call_from_pw_multi_aff(
		build, isl_pw_multi_aff_pullback_pw_multi_aff(axes, instance));
	return isl_ast_node_alloc_user(call);
}

isl_ast_node *hn_poly_ast(const struct hn_poly *p, isl_schedule *tree)
{
	isl_ast_node *ret;
	isl_ast_build *build;

	isl_options_set_ast_build_prefer_pdiv(p->ctx, 1);
	isl_options_set_ast_build_exploit_nested_bounds(p->ctx, 1);
	isl_options_set_ast_build_detect_min_max(p->ctx, 1);
	isl_options_set_ast_build_allow_or(p->ctx, 0);
	build = isl_ast_build_alloc(p->ctx);
	build = isl_ast_build_set_at_each_domain(build, at_domain, (void *)p);
	ret = isl_ast_build_node_from_schedule(build, isl_schedule_copy(tree));
	isl_ast_build_free(build);
	return ret;
}
