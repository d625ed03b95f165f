/* client/netrival.h -- which way to fuse and to lay out a network: rivals of the rules, timed.
 *
 * First images lie row-major, all of them, or where steps were faster so; the fastest layout is what
 * the others are tried on (netrival_layout.c).  Each row
 * of graph/net/rivals.def makes a rival of the whole network.  Where a rival differs there is a place:
 * the steps of both that have nodes in common.  What the analytic model predicts to be far slower is
 * left as the rules say.  All have automatic schedules, and no trials: they run in turn, in one
 * process.  A place is taken where its steps are faster.  The network with all places that were taken
 * runs as a whole; what is not faster there any more is left, and the rest runs once again.  It has to
 * be faster as a whole.
 */
#ifndef HN_CLIENT_NETRIVAL_H
#define HN_CLIENT_NETRIVAL_H

#include "client/netrace.h"
#include "client/network.h"

/* Search, and keep what is found in n->choice and on disk; n->net is made anew by it.  The rivals have
 * `seconds`, and further ones are not begun then.  HONE_E_UNSUPPORTED without a linker;
 * HONE_E_CANCELLED after Ctrl-C. */
int hn_netrival_search(const char *verb, const struct hn_opts *o, struct hn_network *n,
		       double seconds, struct hn_err *err) HN_NODISCARD;

/* A line of it on standard error. */
void hn_netrival_say(const struct hn_netchoice *c);

/* Places: for each step of the two networks, of one graph, the number of its place; HN_NO_PLACE for
 * steps that both have.  netplace.c */
#define HN_NO_PLACE UINT32_MAX

struct hn_netplaces {
	uint32_t n;
	uint32_t *of[2]; /* [n_step] of each network */
};

void hn_netplaces_find(const struct hn_net *by_rule, const struct hn_net *rival, struct hn_arena *a,
		       struct hn_netplaces *ret);

/* The place of a value that the rival says something of. */
uint32_t hn_netplaces_of_value(const struct hn_netplaces *p, const struct hn_net *rival, int32_t v);

/* By how much the rival is faster there: ns of a run, medians; 0 where it is not by HN_PLACE_GAIN in
 * three of four rounds. */
#define HN_PLACE_GAIN 0.02
double hn_netplaces_gain(const struct hn_netplaces *p, uint32_t place, const struct hn_netrun run[2],
			 struct hn_arena *a);

/* 1 in plain[n_value], where nothing was said, for what steps write that gain so much in their
 * places; wide: and for what they read.  False: there is no such step.  netregion.c */
bool hn_netplaces_region(const struct hn_netplaces *p, const struct hn_net *by_rule,
			 const double *gain_ns, double least_ns, bool wide, struct hn_arena *a,
			 uint8_t *plain);

#endif
