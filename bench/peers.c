/* bench/peers.c -- see peers.h. */
#include "bench/peers.h"

#include <stdio.h>
#include <string.h>

#include "base/cdefs.h"

static const struct {
	const char *name;
	hn_peer_fn fn;
	hn_peer_prepare_fn prepare;
} peers[] = {
#define PEER(name) { #name, hn_peer_##name, hn_peer_##name##_prepare },
#include "bench/peers.def"
#undef PEER
};

/* argv of main: the words before the benchmark's own are the program and its name. */
void hn_peers_prepare(const struct hn_bench_args *args)
{
	for (size_t i = 0; i < HN_COUNT_OF(peers) && args->argv != NULL; i++) {
		if (peers[i].prepare != NULL) {
			peers[i].prepare(args->argv - 2);
		}
	}
}

void hn_peers_note(const char *bench, const char *only)
{
	for (size_t i = 0; i < HN_COUNT_OF(peers); i++) {
		if (peers[i].fn == NULL &&
		    (only == NULL || strcmp(only, peers[i].name) == 0)) {
			fprintf(stderr,
				"hone-bench: %s: built without %s, so it is not "
				"compared with: ./bootstrap bench installs it\n",
				bench, peers[i].name);
		}
	}
}

void hn_peers_enter(struct hn_contest *t)
{
	for (size_t i = 0; i < HN_COUNT_OF(peers); i++) {
		if (peers[i].fn != NULL) {
			peers[i].fn(t);
		}
	}
}
