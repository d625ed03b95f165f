/* search/threads.c -- see threads.h. */
#include "search/threads.h"

#include <pthread.h>
#include <stdbool.h>

struct share {
	void (*work)(void *ctx, uint32_t who);
	void *ctx;
	uint32_t who;
	bool started;
	pthread_t thread;
};

static void *run(void *arg)
{
	struct share *s = arg;

	s->work(s->ctx, s->who);
	return NULL;
}

void hn_threads_run(uint32_t n, void (*work)(void *ctx, uint32_t who), void *ctx)
{
	struct share share[HN_THREADS_MAX];

	n = n < HN_THREADS_MAX ? n : HN_THREADS_MAX;
	for (uint32_t i = 1; i < n; i++) {
		share[i] = (struct share){.work = work, .ctx = ctx, .who = i};
		share[i].started = pthread_create(&share[i].thread, NULL, run, &share[i]) == 0;
	}
	work(ctx, 0);
	for (uint32_t i = 1; i < n; i++) {
		if (share[i].started) {
			pthread_join(share[i].thread, NULL);
		} else {
			run(&share[i]);
		}
	}
}
