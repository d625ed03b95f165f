/* client/netrival_layout.c -- rivals of how a network is laid out (netrival.h).
 *
 * First all images lie row-major, for it is an order that neighbours share.  That race also says which
 * steps are faster so: a convolution to 24 channels wastes lanes that run over channels, one to 256
 * does not.  So parts of the network are tried, too: the steps that gain much write row-major images,
 * and in the wider form those that they read are row-major as well.  Who meets another order at the
 * border of a part reads it as it lies; what that costs is in the race of the whole.
 */
#include <math.h>

#include "base/clock.h"
#include "client/netrival_int.h"

#define LEAST_SHARE 0.005 /* of a run, that a step gains: less is not worth a border */

/* Beside the base, which it becomes where it is faster. */
static int try_layout(struct hn_netrival *s, const char *name, const struct hn_net_choice *by,
		      struct hn_netrun run[2], uint32_t *ret_way, struct hn_err *err)
{
	struct hn_netchoice *c = &s->n->choice;
	struct hn_netchoice_rival *found = &s->rival[s->n_rival++];
	struct hn_netway *w = &s->way[s->n_way];
	int rc = hn_net_make_by(&s->n->graph, by, &w->net, err);

	*found = (struct hn_netchoice_rival){ .name = name };
	*ret_way = 0;
	if (rc == 0) {
		hn_netplaces_find(&s->way[s->base].net, &w->net, &s->n->arena, &w->place);
	}
	if (rc != 0 || w->place.n == 0) {
		return 0;
	}
	rc = hn_netrival_try_way(s, by, ret_way, run, err);
	if (*ret_way == 0) {
		return rc;
	}
	hn_netrival_note(s, *ret_way, run, found);
	w->place.n = 0; /* none is taken by itself */
	if (hn_netrace_surely(run[0].ns, run[1].ns, run[0].n_round) < log(1 - HN_PLACE_GAIN)) {
		c->rules_ns = s->base > 0 ? c->rules_ns : found->rules_ns;
		c->fused_ns = found->ns;
		s->layout = *by;
		s->base = *ret_way;
		w->task_ns = hn_netrival_predict(s, &w->net);
		found->n_taken = found->n_place;
	}
	return rc;
}

static int try_region(struct hn_netrival *s, const char *name, const uint8_t *plain,
		      struct hn_err *err)
{
	const struct hn_net_choice by = { .plain = plain, .whole = s->n->modules };
	struct hn_netrun run[2];
	uint32_t way;

	return try_layout(s, name, &by, run, &way, err);
}

/* Of what was faster in that way than by rule. */
static bool find_region(struct hn_netrival *s, uint32_t way, double least_ns, bool wide,
			uint8_t *plain)
{
	const struct hn_netway *w = &s->way[way];

	return hn_netplaces_region(&w->place, &s->way[0].net, w->gain_ns, least_ns, wide,
				   &s->n->arena, plain);
}

int hn_netrival_layouts(struct hn_netrival *s, struct hn_err *err)
{
	const struct hn_net_choice by = { .row_major = true, .whole = s->n->modules };
	uint8_t *wide = HN_NEW_ARRAY(&s->n->arena, uint8_t, s->n->graph.n_value);
	uint8_t *narrow = HN_NEW_ARRAY(&s->n->arena, uint8_t, s->n->graph.n_value);
	struct hn_netchoice *c = &s->n->choice;
	struct hn_netrun run[2];
	uint32_t way;
	int rc = try_layout(s, "row_major", &by, run, &way, err);
	double least_ns;

	if (rc == 0 && way > 0) {
		least_ns = LEAST_SHARE * hn_netrace_median(run[0].ns, run[0].n_round);
		if (hn_clock_ns() < s->end_ns && find_region(s, way, least_ns, true, wide)) {
			rc = try_region(s, "row_major_parts", wide, err);
		}
		if (rc == 0 && hn_clock_ns() < s->end_ns &&
		    find_region(s, way, least_ns, false, narrow)) {
			rc = try_region(s, "row_major_results", narrow, err);
		}
	}
	c->row_major = s->layout.row_major;
	c->plain = s->layout.plain == wide ? wide : s->layout.plain == narrow ? narrow : NULL;
	c->n_value = s->n->graph.n_value;
	return rc;
}
