/* measure/board/probe.h -- what this machine can do at most, measured.
 *
 * Multiply-adds in float32 with independent accumulators in the widest vectors the CPU
 * has, and streaming reads of data that lies in a given cache level.  A try is a
 * millisecond or two on all workers at once; anything else that runs makes it too low, so
 * a limit is the best of many.  The clock of a core drifts by some 20 % with its
 * neighbours' load: a share of the limit means something only when both were measured in
 * turn (bench/kernels.c does).
 */
#ifndef HN_MEASURE_BOARD_PROBE_H
#define HN_MEASURE_BOARD_PROBE_H

#include <stdint.h>

#include "base/err.h"
#include "measure/board/pool.h"

#define HN_PROBE_LEVELS 3
#define HN_PROBE_MEMORY_BYTES ((size_t)256 << 20) /* the set whose rate is memory_gb_s */
#define HN_PROBE_SET(level_bytes) ((level_bytes) / 2) /* ... a level's gb_s, of one core */

struct hn_probe {
	double fma_gflops_one; /* float32, one core */
	double fma_gflops_all; /* float32, n_workers cores at once */
	double memory_gb_s;    /* read, n_workers cores at once */
	uint32_t n_level;
	struct {
		double bytes;	  /* of one core, where the level is its own; a rough
			      * figure: translation misses and neighbours of a shared level
			      * move it by a factor */
		double gb_s;	  /* read from half of it, one core */
	} level[HN_PROBE_LEVELS]; /* caches, nearest first */
	double cache_bytes;	  /* of the largest cache, as the system says; 0 = it does not */
	double fork_join_ns;	  /* an empty parallel loop on n_workers cores */
	double timer_ns;	  /* the clock's resolution */
	uint32_t sandbox; /* layers around kernels (sandbox.h); the driver's to fill */
};

/* All of the above; starts threads, so it belongs in a child. Each figure is repeated
 * until its top holds still within 1 % (some three seconds altogether on an idle machine,
 * at most ten). */
int hn_probe_run(int32_t n_workers, struct hn_probe *ret,
		 struct hn_err *err) HN_NODISCARD;

/* One try on the n_workers threads of a pool, in GFLOP/s: the pool's owner decides how
 * often, and what runs in between. */
double hn_probe_fma_try(struct hone_pool *pool, int32_t n_workers);

/* One try of reading in GB/s: worker w reads its n_workers-th part of memory[0..bytes)
 * over and over for about 2 ms, at least once.  What level that lies in is the caller's
 * choice of `bytes`; memory is 64-byte aligned and was written once. */
double hn_probe_read_try(struct hone_pool *pool, int32_t n_workers,
			 const void *memory, size_t bytes);

/* The same as single calls of known length, for who times by itself: a fixed number of
 * multiply-adds (returns the operations of all workers), and reading all of memory once. */
double hn_probe_fma_once(struct hone_pool *pool, int32_t n_workers);
void hn_probe_read_once(struct hone_pool *pool, int32_t n_workers,
			const void *memory, size_t bytes);

#endif
