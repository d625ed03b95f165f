/* graph/net/rival.h -- ways to fuse and to lay out a network that are not the rules' (fuse.h,
 * layout.h).
 *
 * Rules are right most of the time.  Where they are unsure, a rival partition does otherwise
 * everywhere, and times say where it is better (client/netrival.h).  What was found is a choice: for
 * each value, whether it is cut off from its reader or computed in it against the rule.
 */
#ifndef HN_GRAPH_NET_RIVAL_H
#define HN_GRAPH_NET_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

enum hn_net_say { HN_NET_RULE, HN_NET_CUT, HN_NET_JOIN };

/* Classes are bits. */
struct hn_rival {
	const char *name, *text;
	enum hn_net_say say;
	uint32_t front, reader, behind;
	bool meets;
	bool shared; /* JOIN: also a value that others read later, or that is an output */
};

#define HN_RIVALS_MAX 16

/* None of the table: all is joined but sums of products with one another.  For machines whose
 * programs fill and empty buffers, where what lies between two ops of a tile never leaves them. */
const struct hn_rival *hn_rival_fused(void);

/* Row i of rivals.def; NULL behind the last. */
const struct hn_rival *hn_rival_at(uint32_t i);

struct hn_net_choice {
	const uint8_t *say;	      /* [n_value], enum hn_net_say; NULL: all by rule */
	const struct hn_rival *rival; /* for values that `say` is silent on; NULL: none */
	bool row_major;		      /* images too, instead of channels last */
	const uint8_t *plain;	      /* [n_value], 1: this one is row-major; NULL: none by itself */
	bool whole;		      /* no tensor is a part of another in memory (place.h) */
};

/* A value between two groups: the greatest class of the group in front, the class of the node that
 * reads it and the greatest of that one's group; whether another tensor of its shape, which some
 * other group computes, is an operand there. */
struct hn_net_edge {
	int32_t value;
	uint8_t front, reader, behind;
	bool meets;
};

/* What is said of it; choice NULL: nothing. */
enum hn_net_say hn_net_choice_say(const struct hn_net_choice *choice, const struct hn_net_edge *e);

#endif
