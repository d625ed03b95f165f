/* lower/prove/watchdog.h -- a clock for isl, which can run for minutes.
 *
 * A second thread waits; when the time is up it calls isl_ctx_abort, and the next isl
 * call returns NULL (measured: back within a few milliseconds).  isl's own operation
 * quota is no clock: the same count took 50 ms on one input and half a minute on another.
 */
#ifndef HN_LOWER_PROVE_WATCHDOG_H
#define HN_LOWER_PROVE_WATCHDOG_H

#include <isl/ctx.h>
#include <stdint.h>

struct hn_watchdog;

/* Abort ctx after the calling thread has computed for limit_ms: a process that is stopped, or kept
 * from running, has not overrun anything. NULL when no thread can be had: then nobody
 * watches. */
struct hn_watchdog *hn_watchdog_start(isl_ctx *ctx, int64_t limit_ms);

/* Stop watching; must come before ctx is freed. NULL is fine. */
void hn_watchdog_stop(struct hn_watchdog *w);

#endif
