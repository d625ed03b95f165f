/* deps_judge.h -- a dag's dependences held against isl's dataflow analysis in the order the
 * dag is written in. */
#ifndef HN_TESTS_DEPS_JUDGE_H
#define HN_TESTS_DEPS_JUDGE_H

#include <isl/flow.h>
#include <isl/space.h>

#include "lower/prove/certify.h"
#include "lower/prove/deps.h"

/* Writes of the statements of these kinds (bits by enum hn_stmt_kind). */
static inline isl_union_map *writes_of(const struct hn_deps *d, unsigned kinds)
{
	isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(d->poly.ctx, 0));

	for (uint32_t i = 0; i < d->poly.n_stmt; i++) {
		const struct hn_poly_stmt *s = &d->poly.stmt[i];

		if (kinds & 1u << s->node->stmt) {
			all = isl_union_map_union(
				all, isl_union_map_from_map(isl_map_copy(s->write)));
		}
	}
	return all;
}

/* What of `source` runs before an instance of `sink` that touches the same element, by
 * isl's own analysis. */
static inline isl_union_map *analysed(const struct hn_deps *d, isl_union_map *source,
			       isl_union_map *sink)
{
	isl_union_access_info *info = isl_union_access_info_from_sink(sink);
	isl_union_map *order, *ret;
	isl_union_flow *flow;
	struct hn_buf text;

	hn_buf_init(&text);
	hn_poly_schedule(&d->poly, &text);
	order = isl_union_map_read_from_str(d->poly.ctx, text.s);
	hn_buf_fini(&text);
	info = isl_union_access_info_set_may_source(info, source);
	info = isl_union_access_info_set_schedule_map(info, order);
	flow = isl_union_access_info_compute_flow(info);
	ret = isl_union_flow_get_may_dependence(flow);
	isl_union_flow_free(flow);
	return ret;
}

#define COMPUTE (1u << HN_STMT_COMPUTE)
#define INIT (1u << HN_STMT_INIT)
#define UPDATE (1u << HN_STMT_UPDATE)

/* Consumes want. */
static inline isl_bool same_class(const struct hn_deps *d, const char *name,
				  enum hn_dep_class c, isl_union_map *want)
{
	isl_bool same = isl_union_map_is_equal(d->dep[c], want);

	if (same == isl_bool_false) {
		print_error("%s: %s dependences are %s, isl's analysis says %s\n", name,
			    hn_dep_class_name(c), isl_union_map_to_str(d->dep[c]),
			    isl_union_map_to_str(want));
	}
	isl_union_map_free(want);
	return same;
}

static inline isl_union_map *untagged_reads(const struct hn_deps *d)
{
	return isl_union_map_domain_factor_domain(isl_union_map_copy(d->read));
}

/* Whether all classes are what the analysis says; an error where isl failed. */
static inline isl_bool deps_agree(const struct hn_deps *d, const char *name)
{
	isl_bool flow = same_class(
		d, name, HN_DEP_FLOW,
		analysed(d, writes_of(d, COMPUTE | UPDATE), untagged_reads(d)));
	isl_bool init = same_class(d, name, HN_DEP_INIT,
				   analysed(d, writes_of(d, INIT), writes_of(d, UPDATE)));
	isl_bool reduction =
		same_class(d, name, HN_DEP_REDUCTION,
			   analysed(d, writes_of(d, UPDATE), writes_of(d, UPDATE)));
	isl_bool in_place = same_class(
		d, name, HN_DEP_IN_PLACE,
		analysed(d, untagged_reads(d), writes_of(d, COMPUTE | INIT | UPDATE)));

	if (!flow || !init || !reduction || !in_place) {
		return isl_bool_false;
	}
	return flow < 0 || init < 0 || reduction < 0 || in_place < 0 ? isl_bool_error
								      : isl_bool_true;
}

#endif
