/* client/netmake.h -- a network's kernels, made side by side, and its library of them. */
#ifndef HN_CLIENT_NETMAKE_H
#define HN_CLIENT_NETMAKE_H

#include <stdatomic.h>

#include "client/crew.h"
#include "client/kernel.h"
#include "client/library.h"
#include "client/netchoice.h"
#include "client/network.h"
#include "graph/library/assemble.h"

struct hn_netmade {
	const struct hn_gkernel *of; /* of the first network that has it */
	const struct hn_gtask *task;
	struct hn_kernel kernel;
	struct hn_library_object object;
	const char *symbol;
	int rc;
	struct hn_err err;
};

struct hn_netmake {
	const char *verb;
	const struct hn_opts *o;
	struct hn_network *net;
	const char *dir;		 /* temporary, for objects */
	const struct hn_netchoice *choice; /* of records and automatic schedules; NULL: records */
	/* What of these is the same computation with the same schedule is taken from there. */
	uint32_t n_same;
	const struct hn_netmake *const *same;
	const char *prefix; /* of kernels' names, so that they differ from those of `same`; NULL: none */
	bool modules;			 /* by hn_netmake_kernels: kernels are a GPU's */
	bool progress;			 /* told on standard error, while somebody looks on */
	/* By hn_netmake_kernels.  Kernels of all ranges (graph/net/ranges.h), those that compute the
	 * same once; without ranges they are the network's, in its order */
	uint32_t n_kernel;
	struct hn_netmade *made; /* [n_kernel] */
	uint32_t **number;	 /* [range, or 1][n_kernel of its network] which of them */
	atomic_uint n_done;
};

/* Choose and make all kernels; all that they are lives in the crew.  The error is that of the first
 * that failed, with its name; HONE_E_CANCELLED after Ctrl-C. */
int hn_netmake_kernels(struct hn_netmake *m, struct hn_crew *crew, struct hn_err *err) HN_NODISCARD;

/* The library of them in the folder `dir` (client/library.h). */
int hn_netmake_library(const struct hn_netmake *m, const char *dir,
		       void (*wrote)(const char *path), char ret_note[HN_LIBRARY_NOTE],
		       struct hn_assembly *ret, struct hn_err *err) HN_NODISCARD;

#endif
