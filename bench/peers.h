/* bench/peers.h -- the libraries of peers.def, as far as they are there. */
#ifndef HN_BENCH_PEERS_H
#define HN_BENCH_PEERS_H

#include "bench/bench.h"
#include "bench/contest.h"

/* Before anything else; may start the program anew. */
void hn_peers_prepare(const struct hn_bench_args *args);

/* Name on standard error those that this program was built without: that one, or any (NULL). */
void hn_peers_note(const char *bench, const char *only);

/* Everything that they have for this case, as contenders. */
void hn_peers_enter(struct hn_contest *t);

#endif
