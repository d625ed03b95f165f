/* ort/session.h -- a whole session with regions of hone's against one without: what counts for who
 * runs it.  A region that wins alone may lose between nodes of the runtime's.
 */
#ifndef HN_ORT_SESSION_H
#define HN_ORT_SESSION_H

#include "ort/contest.h"
#include "ort/graph.h"

#define ORT_SESSION_LEAST 1.02 /* how much faster the session has to be */

struct ort_dim {
	const char *name;
	int64_t value;
};

struct ort_session_race {
	const char *model, *folder;
	const char *regions; /* for the option of this name */
	const struct ort_dim *dim; /* that the network was compiled for */
	uint32_t n_dim;
};

/* HONE_E_UNSUPPORTED: its inputs cannot be made up, or it does not run with what was made up. */
int ort_session_contest(const struct ort_graph *g, const struct ort_session_race *r,
			struct ort_contest *ret, struct hn_err *err) HN_NODISCARD;

#endif
