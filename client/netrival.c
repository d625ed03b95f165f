/* client/netrival.c -- see netrival.h: rivals of how a network is fused. */
#include "client/netrival_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/best.h"
#include "client/interrupt.h"
#include "client/netmake.h"
#include "client/place.h"
#include "search/answer.h"

#define RACE_S 3
#define FAR 2 /* times as slow as the rules, as predicted: not tried */

static void say_nothing(const char *path)
{
	(void)path;
}

/* -- networks -------------------------------------------------------------------------------- */

/* Its kernels, and its library; they are of what was made last of the graph. */
static int build(struct hn_netrival *s, struct hn_netway *w, struct hn_err *err)
{
	struct hn_arena *a = &s->n->arena;
	char note[HN_LIBRARY_NOTE] = "";
	struct hn_assembly assembly;
	uint32_t number = s->n_way;
	int rc;

	s->n->net = w->net;
	w->library = hn_arena_printf(a, "%s/%u", s->dir, number);
	w->make = (struct hn_netmake){ .verb = s->verb,
				       .o = &s->o,
				       .net = s->n,
				       .dir = s->dir,
				       .n_same = number,
				       .same = s->made,
				       .prefix = hn_arena_printf(a, "r%u_", number) };
	rc = hn_netmake_kernels(&w->make, &s->crew, err);
	rc = rc ? rc : hn_netmake_library(&w->make, w->library, say_nothing, note, &assembly, err);
	if (rc == 0 && access(hn_arena_printf(a, "%s/lib" HN_PLACE_FILE ".so", w->library), R_OK) != 0) {
		rc = hn_fail(err, HONE_E_UNSUPPORTED, "%s: rival fusions need a linker: %s", s->verb,
			     note);
	}
	s->made[number] = &w->make;
	s->library[number] = w->library;
	s->n_way += rc == 0;
	return rc;
}

/* The base and another, in turn; in run[2]. */
static int race(struct hn_netrival *s, uint32_t which, struct hn_netrun run[2], struct hn_err *err)
{
	const struct hn_netrace how = { .verb = s->verb,
					.name = s->n->name,
					.n_library = s->n_way,
					.dir = s->library,
					.seconds = RACE_S,
					.target = &s->n->target };
	const uint32_t way[2] = { s->base, which };

	for (int i = 0; i < 2; i++) {
		const struct hn_net *net = &s->way[way[i]].net;
		uint32_t *from = HN_NEW_ARRAY(&s->n->arena, uint32_t, net->n_kernel);

		for (uint32_t k = 0; k < net->n_kernel; k++) {
			from[k] = way[i];
		}
		run[i] = (struct hn_netrun){ .from = from, .net = net };
	}
	int rc = hn_netrace_run(&how, 2, run, &s->n->arena, err);

	s->ran |= rc == 0;
	s->cannot = rc != 0 && !s->ran && hn_netrace_run(&how, 1, run, &s->n->arena, err) != 0;
	return rc;
}

/* -- what is tried --------------------------------------------------------------------------- */

/* Of each task, by the analytic model; 0: it knows none. */
double *hn_netrival_predict(struct hn_netrival *s, const struct hn_net *net)
{
	double *ns = HN_NEW_ARRAY(&s->n->arena, double, net->n_task);

	for (uint32_t i = 0; i < net->n_task; i++) {
		struct hn_answers answers;

		hn_answers_find(net->task[i].dag, &s->target, &s->n->arena, &answers);
		ns[i] = answers.n > 0 ? answers.at[0].predicted_ns : 0;
	}
	return ns;
}

/* Of all steps of a place; 0: not known of all. */
static double predicted(const struct hn_netway *w, const uint32_t *place, uint32_t which)
{
	double ns = 0;

	for (uint32_t i = 0; i < w->net.n_step; i++) {
		if (place[i] == which && w->task_ns[w->net.step[i].task] <= 0) {
			return 0;
		}
		ns += place[i] == which ? w->task_ns[w->net.step[i].task] : 0;
	}
	return ns;
}

/* What the rival says, where it is not predicted to be far slower; how many places that are. */
static uint32_t prune(struct hn_netrival *s, struct hn_netway *w)
{
	const struct hn_netway *by_rule = &s->way[s->base];
	uint8_t *say = HN_NEW_ARRAY(&s->n->arena, uint8_t, s->n->graph.n_value);
	bool *far;
	uint32_t n = 0;

	hn_netplaces_find(&by_rule->net, &w->net, &s->n->arena, &w->place);
	w->task_ns = hn_netrival_predict(s, &w->net);
	far = HN_NEW_ARRAY(&s->n->arena, bool, w->place.n);
	for (uint32_t i = 0; i < w->place.n; i++) {
		double rules_ns = predicted(by_rule, w->place.of[0], i);

		far[i] = rules_ns > 0 && predicted(w, w->place.of[1], i) > FAR * rules_ns;
		n += !far[i];
	}
	for (uint32_t v = 0; v < s->n->graph.n_value; v++) {
		if (w->net.part.said[v] != HN_NET_RULE) {
			uint32_t place = hn_netplaces_of_value(&w->place, &w->net, (int32_t)v);

			say[v] = place != HN_NO_PLACE && !far[place] ? w->net.part.said[v]
								      : HN_NET_RULE;
		}
	}
	w->say = say;
	return n;
}

/* What the race said of way `which`. */
void hn_netrival_note(struct hn_netrival *s, uint32_t which, const struct hn_netrun run[2],
		 struct hn_netchoice_rival *found)
{
	struct hn_arena *a = &s->n->arena;
	struct hn_netway *w = &s->way[which];

	hn_netplaces_find(&s->way[s->base].net, &w->net, a, &w->place);
	found->n_place = w->place.n;
	found->rules_ns = hn_netrace_median(run[0].ns, run[0].n_round);
	found->ns = hn_netrace_median(run[1].ns, run[1].n_round);
	w->gain_ns = HN_NEW_ARRAY(a, double, w->place.n);
	for (uint32_t i = 0; i < w->place.n; i++) {
		w->gain_ns[i] = hn_netplaces_gain(&w->place, i, run, a);
	}
}

/* Beside the rules.  A rival that cannot be made or run is out; errors are Ctrl-C, and that not even the
 * rules' network can be run. */
int hn_netrival_try_way(struct hn_netrival *s, const struct hn_net_choice *by, uint32_t *ret_way,
		   struct hn_netrun run[2], struct hn_err *err)
{
	struct hn_netway *w = &s->way[s->n_way];
	int rc = hn_net_make_by(&s->n->graph, by, &w->net, err);

	*ret_way = 0;
	rc = rc ? rc : build(s, w, err);
	rc = rc ? rc : race(s, s->n_way - 1, run, err);
	*ret_way = rc == 0 ? s->n_way - 1 : 0;
	if (rc != 0) {
		w->place.n = 0; /* none is taken */
	}
	if (s->cannot && rc != -HONE_E_CANCELLED) {
		err->code = HONE_E_UNSUPPORTED;
		return -HONE_E_UNSUPPORTED;
	}
	return rc == -HONE_E_CANCELLED ? rc : 0;
}

/* One row of rivals.def. */
static int try_rival(struct hn_netrival *s, const struct hn_rival *rival, struct hn_err *err)
{
	struct hn_netchoice_rival *found = &s->rival[s->n_rival];
	uint32_t *way = &s->way_of[s->n_rival++];
	struct hn_netway *w = &s->way[s->n_way];
	struct hn_net_choice by = s->layout;
	struct hn_netrun run[2];
	int rc;

	by.rival = rival;
	*found = (struct hn_netchoice_rival){ .name = rival->name };
	if (hn_net_make_by(&s->n->graph, &by, &w->net, err) != 0 || prune(s, w) == 0) {
		return 0; /* no ComputeDAG can be such a kernel, or there is no place for it */
	}
	by = s->layout;
	by.say = w->say;
	rc = hn_netrival_try_way(s, &by, way, run, err);
	if (*way > 0) {
		hn_netrival_note(s, *way, run, found);
	}
	return rc;
}

static int search(struct hn_netrival *s, struct hn_err *err)
{
	const struct hn_net_choice by_rule = { .whole = s->n->modules };
	struct hn_netchoice *c = &s->n->choice;
	const char *line;
	int rc = hn_best_target(&s->o, &s->n->arena, &s->target, &line, err);

	*c = (struct hn_netchoice){ 0 };
	s->layout = by_rule;
	rc = rc ? rc : hn_net_make_by(&s->n->graph, &s->layout, &s->way[0].net, err);
	rc = rc ? rc : build(s, &s->way[0], err);
	if (rc == 0) {
		s->way[0].task_ns = hn_netrival_predict(s, &s->way[0].net);
	}
	rc = rc ? rc : hn_netrival_layouts(s, err);
	for (uint32_t i = 0; rc == 0 && hn_rival_at(i) != NULL && hn_clock_ns() < s->end_ns; i++) {
		rc = hn_interrupted() ? hn_fail(err, HONE_E_CANCELLED, "%s: stopped", s->verb)
				      : try_rival(s, hn_rival_at(i), err);
	}
	rc = rc ? rc : hn_netrival_combine(s, err);
	c->rival = s->rival;
	c->n_rival = s->n_rival;
	c->searched = rc == 0;
	rc = rc ? rc : hn_netchoice_write(&s->o, s->n, err);
	return rc ? rc : hn_net_make_by(&s->n->graph, &by_rule, &s->n->net, err);
}

int hn_netrival_search(const char *verb, const struct hn_opts *o, struct hn_network *n,
		       double seconds, struct hn_err *err)
{
	struct hn_netrival *s = HN_NEW_ARRAY(&n->arena, struct hn_netrival, 1);
	int rc;

	*s = (struct hn_netrival){ .verb = verb,
			      .o = *o,
			      .n = n,
			      .dir = "/tmp/hone-rival-XXXXXX",
			      .end_ns = hn_clock_ns() + (int64_t)(seconds * 1e9) };
	s->o.automatic = true;
	s->o.embed = false;
	s->rival = HN_NEW_ARRAY(&n->arena, struct hn_netchoice_rival, HN_NETRIVALS);
	if (n->net.n_task == 0) {
		return 0;
	}
	if (mkdtemp(s->dir) == NULL) {
		return hn_fail(err, HONE_E_IO, "%s: no temporary folder", s->dir);
	}
	hn_crew_open(&s->crew);
	rc = search(s, err);
	rc = rc ? rc : hn_network_follow(n, err);
	hn_crew_close(&s->crew);
	hn_file_remove_tree(s->dir);
	return rc;
}

void hn_netrival_say(const struct hn_netchoice *c)
{
	char rules[32], fused[32];
	uint32_t places = 0, taken = 0;

	for (uint32_t i = 0; i < c->n_rival; i++) {
		places += c->rival[i].n_place;
		taken += c->rival[i].n_taken;
	}
	fprintf(stderr, "hone: rival ways to lay out and fuse ran at %u places, %u are faster; ", places,
		taken);
	if (!hn_netchoice_by_rule(c)) {
		fprintf(stderr, "with them a run takes %s, by the rules %s\n",
			hn_show_time(c->fused_ns, fused), hn_show_time(c->rules_ns, rules));
	} else {
		fputs("the rules stay\n", stderr);
	}
}
