/* client/netchoice.h -- what was decided of a whole network: HOME/networks/KEY.json.
 *
 * A record that is faster alone may be slower inside the network, so the final of a network
 * (netfinal.h) runs both as it runs.  What it found is a fact of this network on this target, and
 * is kept in a file of the store's folder: who was compared, the times, when, by which hone.  It is
 * replaced as a whole.  `hone compile` reads it, so the same store gives the same library.
 *
 * The name is the SHA-256 of the network (the keys of its kernels in order, and which step reads
 * what) and of the target line.  Weights are not in it: other weights take the same time.
 */
#ifndef HN_CLIENT_NETCHOICE_H
#define HN_CLIENT_NETCHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct hn_network;
struct hn_opts;

/* A kernel that has a record and another automatic schedule; times are of all its steps in a run
 * of the network. */
struct hn_netchoice_kernel {
	const char *name;
	int64_t record;
	double record_ns, automatic_ns;
	bool declined; /* the record: the automatic schedule is taken */
};

/* A rival way to fuse or lay out (graph/net/rival.h) that was timed beside the rules'. */
struct hn_netchoice_rival {
	const char *name;
	uint32_t n_place, n_taken; /* where it differs, and where it was better */
	double rules_ns, ns;	    /* of a run, median */
};

struct hn_netchoice {
	/* How the network is fused and laid out (netrival.h); `searched`: rivals were timed. */
	bool searched, row_major;
	uint8_t *plain; /* [n_value] 1: row-major by itself; NULL: none is */
	uint8_t *say;	/* [n_value] enum hn_net_say; NULL: all by rule */
	uint32_t n_value, n_rival;
	struct hn_netchoice_rival *rival;
	double rules_ns, fused_ns; /* of a run by the rules, and with all places that were taken */
	/* Records (netfinal.h). */
	const char *hone; /* its version; NULL: nothing was decided */
	int64_t unix_ms;
	uint32_t n_thread, n_round;
	double records_ns, automatic_ns, chosen_ns; /* of a run; medians */
	uint32_t n_kernel;
	struct hn_netchoice_kernel *kernel;
};

/* Of a network by rule: its key, and what is known of it, n->choice; in its arena.  Nothing with
 * --auto, or where there is no file.  A file that makes no sense counts as none, and a line on
 * standard error says so. */
int hn_netchoice_read(const struct hn_opts *o, struct hn_network *n,
		      struct hn_err *err) HN_NODISCARD;

/* Keep n->choice in the place of what was there. */
int hn_netchoice_write(const struct hn_opts *o, struct hn_network *n,
		       struct hn_err *err) HN_NODISCARD;

/* Whether it is laid out and fused by the rules alone. */
static inline bool hn_netchoice_by_rule(const struct hn_netchoice *c)
{
	return c->say == NULL && c->plain == NULL && !c->row_major;
}

/* The record of that kernel which is not taken; 0: none.  c NULL: nothing was decided. */
int64_t hn_netchoice_declined(const struct hn_netchoice *c, const char *kernel);

/* The file's text, without a newline. */
int hn_netchoice_text(const struct hn_opts *o, struct hn_network *n, struct hn_buf *ret,
		      struct hn_err *err) HN_NODISCARD;

#endif
