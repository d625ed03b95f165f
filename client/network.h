/* client/network.h -- a network that the user gave: a model file, read, laid out and fused. */
#ifndef HN_CLIENT_NETWORK_H
#define HN_CLIENT_NETWORK_H

#include "base/hash.h"
#include "client/cmd.h"
#include "client/netchoice.h"
#include "graph/akg/akg.h"
#include "graph/import/regions.h"
#include "graph/net/ranges.h"
#include "graph/onnx/onnx.h"
#include "target/target.h"

struct hn_network {
	struct hn_arena arena;
	struct hn_onnx *onnx; /* the weights lie in it; NULL: it is a kernel of AKG */
	struct hn_akg *akg;   /* or this */
	struct hn_graph graph;
	struct hn_net net; /* by the choice; of the largest sizes, where there are ranges */
	bool fused;	   /* for a machine of buffers: all but products is one kernel, and no other
			    * way is searched for */
	struct hn_ranges ranges; /* n = 0: there are none, it is one for numbers */
	char key[HN_SHA256_HEX]; /* of the network by rule (netchoice.h); of none with ranges */
	struct hn_netchoice choice; /* what is stored of it; nothing with --auto, or with ranges */
	struct hn_target target;
	bool modules; /* for a GPU: its kernels take no strided arguments, and none that lies anywhere */
	const char *name; /* a C identifier, from --symbol or the file's name */
};

/* Whether the file is a network: by its name's ending, or a fused operator of AKG by its content. */
bool hn_network_is(const char *path);

/* Read o->arg with the sizes of o->dim, in the form of o->dtype.  What hone does not take is told on standard error, all of
 * it, one line for each operator and reason; then the error is the sum of it. */
int hn_network_open(const struct hn_opts *o, struct hn_network *ret,
		    struct hn_err *err) HN_NODISCARD;
/* The same where o->dim may have ranges, NAME=LEAST..MOST; `net` is of the first. */
int hn_network_open_ranges(const struct hn_opts *o, struct hn_network *ret,
			   struct hn_err *err) HN_NODISCARD;

/* The regions of a network that hone does not take as a whole; `net` is of none. */
int hn_network_regions(const struct hn_opts *o, struct hn_network *ret, struct hn_regions *regions,
		       struct hn_err *err) HN_NODISCARD;

/* "sequence = 17..64, batch = 1..1" */
const char *hn_network_range(const struct hn_network *n, const struct hn_net_range *r,
			     struct hn_arena *a);

/* Lay out and fuse as n->choice says. */
int hn_network_follow(struct hn_network *n, struct hn_err *err) HN_NODISCARD;

void hn_network_close(struct hn_network *n); /* after a failed open, too */

/* The options of a verb that works on one task: its text and name in the place of the file. */
struct hn_opts hn_network_task(const struct hn_opts *o, const struct hn_gtask *task);

/* A task's name with the network's in front. */
const char *hn_network_label(const struct hn_network *n, const struct hn_gtask *task,
			     struct hn_arena *a);

#endif
