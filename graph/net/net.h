/* graph/net/net.h -- a network as what is tuned and what is run: tasks and steps.
 *
 * A task is a ComputeDAG.  Steps that compute the same on other data are one task, which is tuned
 * once and counts as often as it runs.  A kernel is its code for arguments that lie so: a task has
 * one for each way in which its steps' arguments are strided (place.h).  A step is the call of a
 * kernel on values of the graph.
 */
#ifndef HN_GRAPH_NET_NET_H
#define HN_GRAPH_NET_NET_H

#include "graph/ir/graph.h"
#include "graph/net/fuse.h"
#include "loopstate/dag/dag.h"

struct hn_gtask {
	const char *name;  /* "k07_conv_add_relu": a C identifier, unique in the network */
	const char *text;  /* the program in hone's notation */
	const struct hn_dag *dag;
	uint32_t n_step;   /* how often it runs */
	double flops;	   /* of one run, by Ansor's rules */
	bool sized;	   /* its dag has sizes (ranges.h) */
};

struct hn_gkernel {
	uint32_t task;
	const char *name;    /* the task's; "k07_conv_add_relu_s1" of the first strided one */
	const char *strides; /* of its arguments (loopstate/nest/strided.h); NULL: all lie in a row */
	uint32_t n_step;
};

struct hn_gstep {
	uint32_t task, kernel;
	uint32_t n_arg, n_in; /* as the task's kernel takes them: inputs first */
	const int32_t *arg;   /* values of the graph */
	const char *name;     /* of the model's node that the heaviest operator comes from */
};

struct hn_net {
	struct hn_graph *g;
	struct hn_partition part;
	uint32_t n_task, n_kernel, n_step;
	struct hn_gtask *task; /* in the order of their first steps */
	struct hn_gkernel *kernel; /* the same */
	struct hn_gstep *step; /* in the order in which they run */
};

/* Lays out, fuses and writes down; the graph is changed, and all lives in its arena.
 * HONE_E_UNSUPPORTED for a step that no ComputeDAG can be, with the node's name. */
int hn_net_make(struct hn_graph *g, struct hn_net *ret, struct hn_err *err) HN_NODISCARD;

/* The same, by a choice, whose `say` is of the values that g has after a call of one of these.  May
 * be called again and again; what is made last is the one whose orders the graph's values have. */
int hn_net_make_by(struct hn_graph *g, const struct hn_net_choice *choice, struct hn_net *ret,
		   struct hn_err *err) HN_NODISCARD;

#endif
