/* client/crew.c -- threads that take the next piece until none is left. */
#include "client/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct task {
	hn_crew_fn fn;
	void *ctx;
	uint32_t n_piece;
	atomic_uint next;
	atomic_bool stopped;
};

struct worker {
	struct task *task;
	struct hn_arena *arena;
	pthread_t thread;
};

void hn_crew_open(struct hn_crew *c)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	c->n = cores < 1 ? 1 : cores > HN_CREW_MOST ? HN_CREW_MOST : (uint32_t)cores;
	for (uint32_t i = 0; i < c->n; i++) {
		hn_arena_init(&c->arena[i], 0);
	}
}

void hn_crew_close(struct hn_crew *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		hn_arena_fini(&c->arena[i]);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct task *t = w->task;
	uint32_t i;

	while (!t->stopped && (i = t->next++) < t->n_piece) {
		if (!t->fn(t->ctx, i, w->arena)) {
			t->stopped = true;
		}
	}
	return NULL;
}

void hn_crew_run(struct hn_crew *c, uint32_t n_piece, hn_crew_fn fn, void *ctx)
{
	struct task task = { .fn = fn, .ctx = ctx, .n_piece = n_piece };
	struct worker w[HN_CREW_MOST];
	uint32_t started = 1; /* this thread is the first */

	for (uint32_t i = 0; i < c->n; i++) {
		w[i] = (struct worker){ .task = &task, .arena = &c->arena[i] };
	}
	for (; started < c->n && started < n_piece; started++) {
		if (pthread_create(&w[started].thread, NULL, work, &w[started]) != 0) {
			break;
		}
	}
	work(&w[0]);
	for (uint32_t i = 1; i < started; i++) {
		pthread_join(w[i].thread, NULL);
	}
}
