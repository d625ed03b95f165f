/* search/threads.h -- one function on several threads at once.
 *
 * Threads are started for the call and joined before it returns: some 30 us each, against
 * milliseconds of drawing candidates, and nothing is left behind that could disturb a
 * measurement.
 */
#ifndef HN_SEARCH_THREADS_H
#define HN_SEARCH_THREADS_H

#include <stdint.h>

#define HN_THREADS_MAX 64

/* Call work(ctx, 0) .. work(ctx, n - 1), each on a thread of its own, the first on the caller's;
 * n is cut to 1 .. HN_THREADS_MAX.  Where the system gives no thread, its share runs on the
 * caller's, later. */
void hn_threads_run(uint32_t n, void (*work)(void *ctx, uint32_t who), void *ctx);

#endif
