/* lower/prove/fuse.c -- isl's scheduler asked for groups of ops.  See fuse.h. */
#include "lower/prove/fuse.h"

#include <isl/aff.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdio.h>
#include <string.h>

#include "lower/prove/deps.h"
#include "lower/prove/watchdog.h"

const char *hn_fuse_how_name(enum hn_fuse_how how)
{
	static const char *const name[HN_N_FUSE] = { "max", "parallel", "min", "none" };

	return name[how];
}

struct fuse {
	const struct hn_dag *dag;
	const struct hn_deps *deps;
	struct hn_fused_op *op;
	bool failed;
};

/* No shift, no skew, no sums of loops: what is left is which loops go together. */
static void set_options(isl_ctx *ctx, enum hn_fuse_how how, unsigned long operations)
{
	isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
	isl_options_set_schedule_max_coefficient(ctx, 1);
	isl_options_set_schedule_max_constant_term(ctx, 0);
	isl_options_set_schedule_treat_coalescing(ctx, 0);
	isl_options_set_schedule_outer_coincidence(ctx, 1);
	isl_options_set_schedule_whole_component(ctx, how == HN_FUSE_MAX);
	isl_options_set_schedule_maximize_coincidence(ctx, how == HN_FUSE_PARALLEL);
	isl_options_set_schedule_serialize_sccs(ctx, how == HN_FUSE_MIN);
	isl_ctx_set_max_operations(ctx, operations);
}

static const struct hn_poly_stmt *stmt_of(const struct fuse *f, isl_space *space)
{
	const char *name = isl_space_get_tuple_name(space, isl_dim_set);
	unsigned id;

	return name && sscanf(name, "S%u", &id) == 1 && id < f->deps->poly.n_stmt
		       ? &f->deps->poly.stmt[id]
		       : NULL;
}

/* The one axis that the schedule's member is for its statement; -1 = it is a sum, or none. */
static int32_t axis_of(isl_aff *aff)
{
	isl_size n = isl_aff_dim(aff, isl_dim_in);
	int32_t axis = -1;

	for (isl_size i = 0; i < n; i++) {
		isl_val *c = isl_aff_get_coefficient_val(aff, isl_dim_in, (int)i);
		bool zero = isl_val_is_zero(c) == isl_bool_true;
		bool one = isl_val_is_one(c) == isl_bool_true;

		isl_val_free(c);
		if (!zero && (!one || axis >= 0)) {
			return -1;
		}
		axis = zero ? axis : (int32_t)i;
	}
	return axis;
}

struct member {
	struct fuse *f;
	uint32_t level;
	bool plain; /* of all statements so far */
};

static isl_stat note_member(isl_pw_aff *pa, void *user)
{
	struct member *m = user;
	isl_space *space = isl_space_domain(isl_pw_aff_get_space(pa));
	const struct hn_poly_stmt *s = stmt_of(m->f, space);
	int32_t axis = -1;

	if (s && isl_pw_aff_isa_aff(pa) == isl_bool_true) {
		isl_aff *aff = isl_pw_aff_as_aff(isl_pw_aff_copy(pa));

		axis = axis_of(aff);
		isl_aff_free(aff);
	}
	if (s && axis >= 0 && (uint32_t)axis < m->f->dag->op[s->node->stage]->n_spatial) {
		m->f->op[s->node->stage].axis[m->level] = (uint32_t)axis;
	} else {
		m->plain = false;
	}
	isl_space_free(space);
	isl_pw_aff_free(pa);
	return isl_stat_ok;
}

struct group {
	struct fuse *f;
	int32_t host;
	uint32_t level;
};

static isl_stat find_host(isl_set *set, void *user)
{
	struct group *g = user;
	isl_space *space = isl_set_get_space(set);
	const struct hn_poly_stmt *s = stmt_of(g->f, space);

	g->host = s && s->node->stage > g->host ? s->node->stage : g->host;
	isl_space_free(space);
	isl_set_free(set);
	return isl_stat_ok;
}

/* An op that is in two groups (its init apart from its updates) is in none. */
static isl_stat join_group(isl_set *set, void *user)
{
	struct group *g = user;
	isl_space *space = isl_set_get_space(set);
	const struct hn_poly_stmt *s = stmt_of(g->f, space);

	if (s) {
		struct hn_fused_op *op = &g->f->op[s->node->stage];
		bool other = op->host >= 0 && op->host != g->host;

		op->host = other ? s->node->stage : g->host;
		op->n = other ? 0 : g->level;
	}
	isl_space_free(space);
	isl_set_free(set);
	return isl_stat_ok;
}

/* The band's leading members that are parallel and one axis of every statement. */
static uint32_t common_level(struct fuse *f, isl_schedule_node *band)
{
	isl_multi_union_pw_aff *partial = isl_schedule_node_band_get_partial_schedule(band);
	isl_size n = isl_schedule_node_band_n_member(band);
	struct member m = { f, 0, true };

	for (isl_size i = 0; i < n && m.plain && i < HN_DAG_MAX_ITERS; i++) {
		isl_union_pw_aff *one;

		if (isl_schedule_node_band_member_get_coincident(band, (int)i) !=
		    isl_bool_true) {
			break;
		}
		one = isl_multi_union_pw_aff_get_union_pw_aff(partial, (int)i);
		if (isl_union_pw_aff_foreach_pw_aff(one, note_member, &m) < 0) {
			f->failed = true;
		}
		isl_union_pw_aff_free(one);
		m.level += m.plain;
	}
	isl_multi_union_pw_aff_free(partial);
	return m.level;
}

static void note_band(struct fuse *f, isl_schedule_node *band)
{
	isl_union_set *domain = isl_schedule_node_get_domain(band);
	struct group g = { f, -1, common_level(f, band) };

	if (!domain || isl_union_set_foreach_set(domain, find_host, &g) < 0 ||
	    isl_union_set_foreach_set(domain, join_group, &g) < 0) {
		f->failed = true;
	}
	isl_union_set_free(domain);
}

/* The outermost bands; what has none (no loops at all) is alone. */
static isl_bool note_node(isl_schedule_node *node, void *user)
{
	if (isl_schedule_node_get_type(node) != isl_schedule_node_band) {
		return isl_bool_true;
	}
	note_band(user, node);
	return isl_bool_false;
}

static isl_union_set *live_domain(const struct hn_deps *d, const bool *skip)
{
	isl_union_set *live = isl_union_set_empty(isl_space_params_alloc(d->poly.ctx, 0));

	for (uint32_t i = 0; i < d->poly.n_stmt; i++) {
		if (!skip[d->poly.stmt[i].node->stage]) {
			live = isl_union_set_union(
				live, isl_union_set_from_set(isl_map_domain(
					      isl_map_copy(d->poly.stmt[i].write))));
		}
	}
	return live;
}

static isl_union_map *within(isl_union_map *dep, isl_union_set *live)
{
	dep = isl_union_map_intersect_domain(dep, isl_union_set_copy(live));
	return isl_union_map_intersect_range(dep, isl_union_set_copy(live));
}

/* Order keeps what must hold; parallel loops carry no dependence of any class. */
static isl_schedule *schedule(const struct hn_deps *d, const bool *skip)
{
	isl_union_set *live = live_domain(d, skip);
	isl_union_map *valid = within(hn_deps_validity(d), live);
	isl_union_map *all = within(isl_union_map_copy(d->dep[HN_DEP_REDUCTION]), live);
	isl_union_map *flow = within(isl_union_map_copy(d->dep[HN_DEP_FLOW]), live);
	isl_schedule_constraints *c = isl_schedule_constraints_on_domain(live);

	all = isl_union_map_union(all, isl_union_map_copy(valid));
	c = isl_schedule_constraints_set_validity(c, valid);
	c = isl_schedule_constraints_set_coincidence(c, all);
	c = isl_schedule_constraints_set_proximity(c, flow);
	return isl_schedule_constraints_compute_schedule(c);
}

static void reset(struct fuse *f)
{
	for (uint32_t i = 0; i < f->dag->n_op; i++) {
		f->op[i] = (struct hn_fused_op){ .host = -1 };
	}
	f->failed = false;
}

/* One attempt: false when isl did not answer. */
static bool attempt(struct fuse *f, const bool *skip, enum hn_fuse_how how,
		    const struct hn_fuse_limits *limits, struct hn_arena *a)
{
	isl_ctx *ctx = isl_ctx_alloc();
	struct hn_watchdog *dog;
	struct hn_deps deps;

	set_options(ctx, how, limits->operations);
	dog = limits->ms > 0 ? hn_watchdog_start(ctx, limits->ms) : NULL;
	reset(f);
	f->deps = &deps;
	if (hn_deps_build(f->dag, ctx, a, &deps, NULL) == 0) {
		isl_schedule *s = schedule(&deps, skip);

		if (!s || isl_schedule_foreach_schedule_node_top_down(s, note_node, f) < 0) {
			f->failed = true;
		}
		isl_schedule_free(s);
	} else {
		f->failed = true;
	}
	hn_watchdog_stop(dog);
	hn_deps_free(&deps);
	isl_ctx_free(ctx);
	f->deps = NULL;
	return !f->failed;
}

void hn_fuse_groups(const struct hn_dag *dag, const bool *skip,
		    const struct hn_fuse_limits *limits, struct hn_arena *a,
		    struct hn_fusion *ret)
{
	struct fuse f = { .dag = dag,
			  .op = HN_NEW_ARRAY(a, struct hn_fused_op, dag->n_op) };

	ret->how = HN_FUSE_MAX;
	while (ret->how < HN_FUSE_NONE && !attempt(&f, skip, ret->how, limits, a)) {
		ret->how++;
	}
	if (ret->how == HN_FUSE_NONE) {
		reset(&f);
	}
	for (uint32_t i = 0; i < dag->n_op; i++) {
		if (f.op[i].host < 0 && !skip[i] && dag->op[i]->kind == HN_OP_COMPUTE) {
			f.op[i].host = (int32_t)i;
		}
	}
	ret->op = f.op;
}
