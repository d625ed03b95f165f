/* lower/prove/legal_loops.c -- legality of loops whose iterations run at the same time: invariant 5
 * of legal.c.
 */
#include "loopstate/nest/concurrent.h"
#include "lower/prove/legal_int.h"

/* Within one iteration of the loops outside, every element that is
 * written is touched by one iteration only. */

/* { [element, outer loops] -> [v] } of one access of s under its loop at depth `depth`.
 */
static isl_map *touching_iterations(const struct hn_legal *c,
				    const struct hn_poly_stmt *s, isl_map *element,
				    uint32_t depth)
{
	uint32_t first = hn_poly_dims(&c->poly, s, depth);
	uint32_t end = hn_poly_dims(&c->poly, s, depth + 1);
	isl_set *domain = isl_map_domain(isl_map_copy(element));
	isl_map *loops = isl_set_identity(isl_set_copy(domain));
	uint32_t n = (uint32_t)isl_map_dim(loops, isl_dim_out);
	isl_map *outer;
	isl_map *v;

	loops = isl_map_reset_tuple_id(loops, isl_dim_out);
	v = isl_map_project_out(isl_map_copy(loops), isl_dim_out, end, n - end);
	v = isl_map_project_out(v, isl_dim_out, 0, first);
	outer = isl_map_project_out(loops, isl_dim_out, first, n - first);
	isl_set_free(domain);
	return isl_map_apply_domain(
		v, isl_map_flat_range_product(isl_map_copy(element), outer));
}

static int depth_of(const struct hn_poly_stmt *s, const struct hn_node *loop)
{
	for (uint32_t i = 0; i < s->n_loop; i++) {
		if (s->loop[i] == loop) {
			return (int)i;
		}
	}
	return -1;
}

static isl_map *unite(isl_map *all, isl_map *more)
{
	return all ? isl_map_union(all, more) : more;
}

/* Accesses to op's buffer under `loop`: writes and all. NULL where there are none. */
static void gather_touches(struct hn_legal *c, const struct hn_node *loop, int32_t op,
			   isl_map **ret_writes, isl_map **ret_all)
{
	*ret_writes = NULL;
	*ret_all = NULL;
	for (uint32_t i = 0; i < c->poly.n_stmt; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];
		int depth = depth_of(s, loop);

		if (depth < 0) {
			continue;
		}
		if (s->node->stage == op) {
			isl_map *m = touching_iterations(c, s, s->write, (uint32_t)depth);

			*ret_writes = unite(*ret_writes, isl_map_copy(m));
			*ret_all = unite(*ret_all, m);
		}
		for (uint32_t k = 0; k < s->n_read; k++) {
			if (s->read[k].op == op) {
				*ret_all = unite(*ret_all,
						 touching_iterations(c, s,
								     s->read[k].element,
								     (uint32_t)depth));
			}
		}
	}
}

/* Whether the buffer is made anew within each iteration of `loop`, so that none share it.
 */
static bool private_to(const struct hn_legal *c, const struct hn_node *loop, int32_t op)
{
	for (uint32_t i = 0; i < c->poly.n_stmt; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];
		int depth = depth_of(s, loop);

		if (s->node->stage == op && depth >= 0) {
			return hn_poly_lifetime(c->poly.tree, op, s) > (uint32_t)depth;
		}
	}
	return true; /* not written under the loop */
}

/* Whether the op's points that share an element under the loop are parts of one reduction, which
 * threads combine when all have summed theirs. */
static bool is_combined(const struct hn_legal *c, const struct hn_node *loop, int32_t op)
{
	bool ret = hn_loop_combines(c->poly.tree->dag, loop, op);

	for (uint32_t i = 0; i < c->poly.n_stmt && ret; i++) {
		const struct hn_poly_stmt *s = &c->poly.stmt[i];

		ret = s->node->stage != op || s->node->stmt == HN_STMT_UPDATE ||
		      depth_of(s, loop) < 0;
	}
	return ret;
}

static void check_concurrent(struct hn_legal *c, const struct hn_node *loop)
{
	for (uint32_t op = 0; op < c->poly.tree->dag->n_op && !c->illegal; op++) {
		isl_map *writes;
		isl_map *all;

		if (private_to(c, loop, (int32_t)op) || is_combined(c, loop, (int32_t)op)) {
			continue;
		}
		gather_touches(c, loop, (int32_t)op, &writes, &all);
		all = isl_map_intersect_domain(all, isl_map_domain(writes));
		if (isl_map_is_single_valued(all) == isl_bool_false) {
			HN_REFUSE(c,
				  "stage %d (%s): iterations of %s loop %s share an "
				  "element "
				  "of %s",
				  loop->stage, hn_legal_op(c, loop->stage)->name,
				  hn_ann_keyword(loop->ann), loop->name, hn_legal_op(c, (int32_t)op)->name);
		}
		isl_map_free(all);
	}
}

void hn_legal_check_loops(struct hn_legal *c, const struct hn_node *node)
{
	if (c->illegal) {
		return;
	}
	if (hn_loop_concurrent(node)) {
		check_concurrent(c, node);
	}
	if (node->init) {
		hn_legal_check_loops(c, node->init);
	}
	for (uint32_t i = 0; i < node->n_child; i++) {
		hn_legal_check_loops(c, node->child[i]);
	}
}
