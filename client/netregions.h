/* client/netregions.h -- a network that hone does not take as a whole, compiled by regions. */
#ifndef HN_CLIENT_NETREGIONS_H
#define HN_CLIENT_NETREGIONS_H

#include "client/cmd.h"

/* Each region of o->arg by `compile`, into a folder of its own in o->out; at last DIR/regions.json, which
 * says of which file they are. */
int hn_netregions_compile(const struct hn_opts *o,
			  int (*compile)(const struct hn_opts *o, struct hn_err *err),
			  struct hn_err *err) HN_NODISCARD;

#endif
