/* client/netrival_int.h -- a search for a better way to lay out and to fuse a network (netrival.h),
 * between its parts: layouts (netrival_layout.c), rivals of fusion (netrival.c), and what is taken of
 * them (netrival_take.c). */
#ifndef HN_CLIENT_NETRIVAL_INT_H
#define HN_CLIENT_NETRIVAL_INT_H

#include "client/netmake.h"
#include "client/netrival.h"

#define HN_NETRIVAL_LOOKS 2 /* at all places together */
#define HN_NETRIVAL_LAYOUTS 3 /* row-major, and two of parts */
#define HN_NETRIVALS (HN_RIVALS_MAX + HN_NETRIVAL_LAYOUTS)
#define HN_NETWAYS (1 + HN_NETRIVALS + HN_NETRIVAL_LOOKS) /* networks: the first is by rule */

/* A network that runs: of which all are of one graph. */
struct hn_netway {
	struct hn_net net;
	uint8_t *say; /* [n_value] where it is not by rule */
	struct hn_netmake make;
	const char *library;
	struct hn_netplaces place; /* beside the rules */
	double *gain_ns;	   /* [place.n] */
	double *task_ns;	   /* [n_task] as predicted */
};

struct hn_netrival {
	const char *verb;
	struct hn_opts o; /* automatic schedules alone */
	struct hn_network *n;
	struct hn_crew crew;
	char dir[64]; /* temporary */
	int64_t end_ns;
	struct hn_target target;
	uint32_t n_way;
	struct hn_netway way[HN_NETWAYS]; /* the first is by rule */
	const struct hn_netmake *made[HN_NETWAYS];
	const char *library[HN_NETWAYS];
	struct hn_netchoice_rival *rival;
	uint32_t n_rival, way_of[HN_NETRIVALS]; /* 0: it did not run */
	struct hn_net_choice layout; /* that rivals of fusion are tried on: by rule, or what is better */
	uint32_t base;		     /* the way of that */
	bool ran, cannot; /* some race ran; there is nothing that networks run on */
};

/* Of each task, by the analytic model; 0: it knows none. */
double *hn_netrival_predict(struct hn_netrival *s, const struct hn_net *net);

/* Make it, and run it beside the base.  *ret_way is 0 where it cannot be made or run; errors are Ctrl-C,
 * and HONE_E_UNSUPPORTED where the base does not run either. */
int hn_netrival_try_way(struct hn_netrival *s, const struct hn_net_choice *by, uint32_t *ret_way,
			struct hn_netrun run[2], struct hn_err *err) HN_NODISCARD;

/* What that race said of way `which`. */
void hn_netrival_note(struct hn_netrival *s, uint32_t which, const struct hn_netrun run[2],
		      struct hn_netchoice_rival *found);

/* The layout that all rivals of fusion are tried on. */
int hn_netrival_layouts(struct hn_netrival *s, struct hn_err *err) HN_NODISCARD;

/* Places that were faster, together. */
int hn_netrival_combine(struct hn_netrival *s, struct hn_err *err) HN_NODISCARD;

#endif
