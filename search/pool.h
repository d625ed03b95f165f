/* search/pool.h -- the programs of one round, drawn by several threads.
 *
 * Draw i of a batch depends on i alone (random numbers are named by it), and what was drawn is
 * taken in the order of i, so the pool is the same, bit for bit, however many threads drew.
 *
 * Invariants: programs are in it once, and none that has been asked for or told; while threads
 * draw or score, nobody changes the space, its model, the pool or what is known.  Each thread has a workspace of its
 * own: what it makes of a draw lies in `scratch`, what comes into the pool is copied to `keep`.
 */
#ifndef HN_SEARCH_POOL_H
#define HN_SEARCH_POOL_H

#include "search/search_int.h"

struct hn_pool_worker {
	struct hn_space space; /* the task's, but for the legality check's workspace */
	struct hn_arena keep, scratch;
};

struct hn_pool {
	uint32_t n, cap;
	struct hn_indiv *x; /* [cap] */
	struct hn_hashes in;
	uint32_t drawn; /* since programs were ranked last */
	struct hn_space *space;
	struct hn_arena arena;
	uint32_t n_worker;
	struct hn_pool_worker *worker;
};

/* Make draw i in `a`, which is empty, by sp: both are this thread's. */
typedef enum hn_verdict (*hn_pool_make)(void *ctx, uint32_t i, struct hn_space *sp,
					struct hn_arena *a, struct hn_indiv *ret);

/* An empty pool for `cap` programs; the space must outlive it. */
void hn_pool_init(struct hn_pool *pool, struct hn_space *space, uint32_t cap);
void hn_pool_fini(struct hn_pool *pool);

/* Make draws 0 .. n - 1 and take up what is new, without scores.  Programs that were in the pool
 * stay where they are. */
void hn_pool_draw(struct hn_pool *pool, uint32_t n, hn_pool_make make, void *ctx);

/* Score the programs from `from` on; with `screen`, those that the screen (search/screen.h) does
 * not keep leave the pool. */
void hn_pool_rank(struct hn_pool *pool, uint32_t from, bool screen);

#endif
