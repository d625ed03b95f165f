/* lower/watchdog.c -- a clock for isl.  See watchdog.h. */
#include "lower/watchdog.h"

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
	struct timespec deadline; /* CLOCK_MONOTONIC */
	isl_ctx *ctx;
};

static void *watch(void *arg)
{
	struct hn_watchdog *w = arg;
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	while (!w->done && rc != ETIMEDOUT) {
		rc = pthread_cond_timedwait(&w->wake, &w->lock, &w->deadline);
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
	clock_gettime(CLOCK_MONOTONIC, &w->deadline);
	w->deadline.tv_sec += limit_ms / 1000;
	w->deadline.tv_nsec += limit_ms % 1000 * 1000000;
	w->deadline.tv_sec += w->deadline.tv_nsec / 1000000000;
	w->deadline.tv_nsec %= 1000000000;
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
