/* client/netrival_take.c -- which places of rivals are taken (netrival.h). */
#include "client/netrival_int.h"

/* The place of the largest gain that is left, of all rivals; false: there is none. */
static bool next_place(const struct hn_netrival *s, uint32_t n_way, uint32_t *ret_way, uint32_t *ret_place)
{
	double most = 0;

	for (uint32_t k = 1; k < n_way; k++) {
		for (uint32_t i = 0; i < s->way[k].place.n; i++) {
			if (s->way[k].gain_ns[i] > most) {
				most = s->way[k].gain_ns[i];
				*ret_way = k;
				*ret_place = i;
			}
		}
	}
	return most > 0;
}

/* Take a place, unless one of its nodes is in a place that was taken. */
static bool take(struct hn_netrival *s, uint32_t way, uint32_t place, bool *taken_node, uint8_t *say)
{
	struct hn_netway *w = &s->way[way];

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < w->net.n_step; i++) {
			const struct hn_ggroup *group = &w->net.part.group[i];

			for (uint32_t k = 0; w->place.of[1][i] == place && k < group->n_node; k++) {
				if (pass == 0 && taken_node[group->node[k]]) {
					return false;
				}
				taken_node[group->node[k]] |= pass == 1;
			}
		}
	}
	for (uint32_t v = 0; v < s->n->graph.n_value; v++) {
		if (w->say[v] != HN_NET_RULE &&
		    hn_netplaces_of_value(&w->place, &w->net, (int32_t)v) == place) {
			say[v] = w->say[v];
		}
	}
	return true;
}

/* The best places of all rivals together; how many. */
static uint32_t collect(struct hn_netrival *s, uint8_t *say)
{
	bool *taken_node = HN_NEW_ARRAY(&s->n->arena, bool, s->n->graph.n_node);
	uint32_t way = 0, place = 0, n = 0;

	while (next_place(s, s->n_way, &way, &place)) {
		s->way[way].gain_ns[place] = 0;
		if (take(s, way, place, taken_node, say)) {
			n++;
			for (uint32_t i = 0; i < s->n_rival; i++) {
				s->rival[i].n_taken += s->way_of[i] == way;
			}
		}
	}
	return n;
}

/* What is said of places where the way is faster than the rules; how many other places it has. */
static uint32_t keep_faster(struct hn_netrival *s, uint32_t which, const uint8_t *say, uint8_t *ret)
{
	const struct hn_netway *w = &s->way[which];
	uint32_t left = 0;

	for (uint32_t i = 0; i < w->place.n; i++) {
		left += w->gain_ns[i] <= 0;
	}
	for (uint32_t v = 0; v < s->n->graph.n_value; v++) {
		uint32_t place = say[v] != HN_NET_RULE
					 ? hn_netplaces_of_value(&w->place, &w->net, (int32_t)v)
					 : HN_NO_PLACE;

		ret[v] = place != HN_NO_PLACE && w->gain_ns[place] > 0 ? say[v] : HN_NET_RULE;
	}
	return left;
}

/* Places together, as a whole beside the rules; then those that are faster there, too. */
int hn_netrival_combine(struct hn_netrival *s, struct hn_err *err)
{
	struct hn_netchoice *c = &s->n->choice;
	uint8_t *say = HN_NEW_ARRAY(&s->n->arena, uint8_t, s->n->graph.n_value);
	uint32_t left = collect(s, say);
	double least = 0;
	int rc = 0;

	for (int i = 0; rc == 0 && left > 0 && i < HN_NETRIVAL_LOOKS; i++) {
		struct hn_net_choice by = s->layout;
		struct hn_netchoice_rival found;
		struct hn_netrun run[2];
		uint32_t way;
		double slower;

		by.say = say;
		rc = hn_netrival_try_way(s, &by, &way, run, err);
		if (rc != 0 || way == 0) {
			return rc;
		}
		hn_netrival_note(s, way, run, &found);
		slower = hn_netrace_slower(run[0].ns, run[1].ns, run[0].n_round);
		if (slower < least && hn_netrace_best(run, 2) == 1) {
			least = slower;
			c->rules_ns = s->base > 0 ? c->rules_ns : found.rules_ns;
			c->fused_ns = found.ns;
			c->say = say;
			c->n_value = s->n->graph.n_value;
		}
		uint8_t *fewer = HN_NEW_ARRAY(&s->n->arena, uint8_t, s->n->graph.n_value);

		left = keep_faster(s, way, say, fewer);
		left = left < s->way[way].place.n ? left : 0; /* none is left to run */
		s->way[way].place.n = 0;
		say = fewer;
	}
	return rc;
}
