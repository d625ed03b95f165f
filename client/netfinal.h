/* client/netfinal.h -- the final of a network: which of its records it is faster with.
 *
 * Kernels are tuned one by one, with caches as their own last call left them.  In the network other
 * steps run between.  So the network is run as a whole, with all automatic schedules, with all
 * records, and with the better of the two for each kernel by the time of its steps; all in turn, in
 * one process (netrace.h).  The fastest of the three is what `hone compile` takes (netchoice.h), so
 * that records never make a network slower than its automatic schedules.
 */
#ifndef HN_CLIENT_NETFINAL_H
#define HN_CLIENT_NETFINAL_H

#include "client/network.h"

/* Hold it and keep what it finds, in n->choice and on disk; `hone` is NULL there where no kernel has a
 * record that differs from its automatic schedule.  HONE_E_UNSUPPORTED where there is no linker;
 * HONE_E_CANCELLED after Ctrl-C. */
int hn_netfinal(const char *verb, const struct hn_opts *o, struct hn_network *n,
		struct hn_err *err) HN_NODISCARD;

/* A line of it on standard error. */
void hn_netfinal_say(const struct hn_netchoice *c);

#endif
