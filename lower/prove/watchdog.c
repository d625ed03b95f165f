/* lower/prove/watchdog.c -- a clock for isl.  See watchdog.h. */
#include "lower/prove/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct hn_watchdog {
	pthread_t thread;
	pthread_mutex_t lock; /* guards done */
	pthread_cond_t wake;
	bool done;
	int64_t limit_ns;
	clockid_t clock; /* of the watched thread: what it has computed */
	int64_t begin_ns; /* by that clock */
	isl_ctx *ctx;
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Sleep for as long as is left of its time; then see how much of that it has used. */
static void *watch(void *arg)
{
	struct hn_watchdog *w = arg;
	int64_t left = w->limit_ns;

	pthread_mutex_lock(&w->lock);
	while (!w->done && left > 0) {
		int64_t until = now_ns(CLOCK_MONOTONIC) + left;
		struct timespec t = {until / 1000000000, until % 1000000000};

		if (pthread_cond_timedwait(&w->wake, &w->lock, &t) == ETIMEDOUT) {
			left = w->begin_ns + w->limit_ns - now_ns(w->clock);
		}
	}
	if (!w->done) {
		isl_ctx_abort(w->ctx);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void destroy(struct hn_watchdog *w)
{
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	free(w);
}

struct hn_watchdog *hn_watchdog_start(isl_ctx *ctx, int64_t limit_ms)
{
	struct hn_watchdog *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;

	if (!w) {
		return NULL;
	}
	w->ctx = ctx;
	w->limit_ns = limit_ms * 1000000;
	if (pthread_getcpuclockid(pthread_self(), &w->clock) != 0) {
		w->clock = CLOCK_MONOTONIC;
	}
	w->begin_ns = now_ns(w->clock);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&w->thread, NULL, watch, w) != 0) {
		destroy(w);
		return NULL;
	}
	return w;
}

void hn_watchdog_stop(struct hn_watchdog *w)
{
	if (!w) {
		return;
	}
	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	destroy(w);
}
