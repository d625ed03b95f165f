/* client/netcheck.h -- the answer of `hone check`: what is known of each kernel of a network. */
#ifndef HN_CLIENT_NETCHECK_H
#define HN_CLIENT_NETCHECK_H

#include "client/kernel.h"
#include "client/network.h"
#include "graph/net/numbers.h"

/* enum, its word for programs. */
#define HN_NETCHECK_RESULTS(X)                                                                     \
	X(RIGHT, "right")	/* on all inputs that it was run on */                             \
	X(WRONG, "wrong")	/* check.wrong says where */                                       \
	X(NOT_RUN, "not run")	/* check.why says why */                                           \
	X(FAILED, "failed")	/* it could not be made; err says why */

enum hn_netcheck_result {
#define X(name, word) HN_NETCHECK_##name,
	HN_NETCHECK_RESULTS(X)
#undef X
	HN_NETCHECK_N
};

struct hn_netcheck_kernel {
	const struct hn_gtask *task;
	struct hn_kernel kernel;
	enum hn_netcheck_result result;
	struct hn_err err;
};

struct hn_netcheck {
	const struct hn_network *net;
	uint32_t n_kernel; /* net.n_task */
	struct hn_netcheck_kernel *kernel;
	uint32_t count[HN_NETCHECK_N];	   /* kernels of each result */
	const struct hn_netcheck_kernel *worst; /* of the largest error; NULL: none was compared */
	/* Of layouts and fusion, [net.n_step]; NULL: they were not computed, and why. */
	const struct hn_step_numbers *step;
	const char *why_no_step;
	uint32_t n_step_wrong; /* further off than their kernels may be */
};

/* Whether a step's numbers are not its nodes'. */
bool hn_netcheck_step_wrong(const struct hn_step_numbers *s);

const char *hn_netcheck_word(enum hn_netcheck_result r);

/* netcheck_show.c: on standard output. */
void hn_netcheck_table(const struct hn_netcheck *c);
void hn_netcheck_json(const struct hn_netcheck *c);

#endif
