/* client/best.h -- the best record of what the user asked about, from the snapshot. */
#ifndef HN_CLIENT_BEST_H
#define HN_CLIENT_BEST_H

#include "client/cmd.h"
#include "base/jw.h"
#include "client/lib/nearest.h"
#include "db/snapshot/snapshot.h"
#include "target/target.h"

struct hn_best {
	struct hn_snapshot *snapshot; /* holds the entry's strings */
	struct hn_snapshot_entry entry;
	struct hn_target target, asked; /* of the record; asked for */
	const char *target_line, *asked_line;
	uint64_t differs; /* as in nearest.h; 0: the very target asked for */
	const char *near; /* "num_cores 2, here 4", or "" */
};

/* The target of --target, or this machine. Strings in the arena. */
int hn_best_target(const struct hn_opts *o, struct hn_arena *a, struct hn_target *ret,
		   const char **ret_line, struct hn_err *err) HN_NODISCARD;

/* The directory of the store onto home (initialised).  HONE_E_NOT_FOUND when no store is in
 * it: who only reads does not make one. */
int hn_best_store(const struct hn_opts *o, struct hn_buf *home, struct hn_err *err) HN_NODISCARD;

/* The snapshot of the store. */
int hn_best_open(const struct hn_opts *o, struct hn_snapshot **ret,
		 struct hn_err *err) HN_NODISCARD;

/* Find the record of the workload that `key` is the key of, or the beginning of one, for the
 * target asked for or the nearest of its instruction set (nearest.h). */
int hn_best_find(const struct hn_opts *o, const char *key, struct hn_arena *a,
		 struct hn_best *ret, struct hn_err *err) HN_NODISCARD;
void hn_best_close(struct hn_best *b);

/* The member "near": null, or the numbers that differ. */
void hn_best_write_near(const struct hn_best *best, struct hn_jw *w);

#endif
