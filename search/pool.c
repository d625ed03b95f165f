/* search/pool.c -- see pool.h. */
#include "search/pool.h"

#include <stdatomic.h>

#include "search/screen.h"
#include "search/threads.h"

#define SHARE 8	      /* draws that a thread takes at a time */
#define SCORED 64     /* programs that a thread scores at a time */
#define PER_THREAD 32 /* draws or scores that are worth a thread */

void hn_pool_init(struct hn_pool *pool, struct hn_space *space, uint32_t cap)
{
	uint32_t n = space->task.threads > 1 ? space->task.threads : 1;

	*pool = (struct hn_pool){.cap = cap, .space = space};
	pool->n_worker = n < HN_THREADS_MAX ? n : HN_THREADS_MAX;
	hn_arena_init(&pool->arena, 0);
	pool->x = HN_NEW_ARRAY(&pool->arena, struct hn_indiv, cap);
	pool->worker = HN_NEW_ARRAY(&pool->arena, struct hn_pool_worker, pool->n_worker);
	for (uint32_t i = 0; i < pool->n_worker; i++) {
		pool->worker[i].space = *space;
		pool->worker[i].space.quick = hn_quick_new();
		pool->worker[i].space.in = &pool->in;
		hn_arena_init(&pool->worker[i].keep, 0);
		hn_arena_init(&pool->worker[i].scratch, 0);
	}
}

void hn_pool_fini(struct hn_pool *pool)
{
	for (uint32_t i = 0; i < pool->n_worker; i++) {
		hn_quick_free(pool->worker[i].space.quick);
		hn_arena_fini(&pool->worker[i].keep);
		hn_arena_fini(&pool->worker[i].scratch);
	}
	hn_hashes_fini(&pool->in);
	hn_arena_fini(&pool->arena);
}

struct batch {
	struct hn_pool *pool;
	hn_pool_make make;
	void *ctx;
	uint32_t n;
	struct hn_indiv *x; /* [n], trace NULL where nothing came of a draw */
	atomic_uint next;
};

/* On as many threads as n draws or scores are worth. */
static void run(struct hn_pool *pool, uint32_t n, void (*work)(void *ctx, uint32_t who),
		void *ctx)
{
	uint32_t worth = n / PER_THREAD + 1;

	hn_threads_run(worth < pool->n_worker ? worth : pool->n_worker, work, ctx);
}

/* What a program needs of the scratch arena, in another one. */
static void copy_indiv(const struct hn_indiv *x, struct hn_arena *a, struct hn_indiv *to)
{
	*to = *x;
	to->features = hn_features_copy(&x->features, a);
	to->trace = to->features.trace;
	if (x->plan) {
		const int64_t **len;
		struct hn_plan_stage *stage;
		to->plan = hn_plan_copy(x->sketch, x->plan, &len, &stage, a);
	}
}

static void draw(void *ctx, uint32_t who)
{
	struct batch *b = ctx;
	struct hn_pool_worker *w = &b->pool->worker[who];
	uint32_t from;

	while ((from = atomic_fetch_add(&b->next, SHARE)) < b->n) {
		uint32_t to = b->n - from < SHARE ? b->n : from + SHARE;

		for (uint32_t i = from; i < to; i++) {
			struct hn_indiv x;

			hn_arena_reset(&w->scratch);
			if (b->make(b->ctx, i, &w->space, &w->scratch, &x) ==
			    HN_VERDICT_OK) {
				copy_indiv(&x, &w->keep, &b->x[i]);
			}
		}
	}
}

void hn_pool_draw(struct hn_pool *pool, uint32_t n, hn_pool_make make, void *ctx)
{
	struct batch b = {.pool = pool, .make = make, .ctx = ctx, .n = n};

	b.x = HN_NEW_ARRAY(&pool->arena, struct hn_indiv, n);
	run(pool, n, draw, &b);
	for (uint32_t i = 0; i < n && pool->n < pool->cap; i++) {
		if (b.x[i].trace && hn_hashes_add(&pool->in, b.x[i].hash)) {
			pool->x[pool->n++] = b.x[i];
		}
	}
	pool->drawn += n;
}

struct ranking {
	struct hn_pool *pool;
	uint32_t n;
	struct hn_indiv *x; /* [n] */
	atomic_uint next;
};

static void score(void *ctx, uint32_t who)
{
	struct ranking *r = ctx;
	uint32_t from;

	(void)who;
	while ((from = atomic_fetch_add(&r->next, SCORED)) < r->n) {
		uint32_t n = r->n - from < SCORED ? r->n - from : SCORED;

		hn_space_score(r->pool->space, r->x + from, n);
	}
}

void hn_pool_rank(struct hn_pool *pool, uint32_t from, bool screen)
{
	struct hn_indiv *x = pool->x + from;
	struct hn_work *work = pool->space->task.work;
	uint32_t n = pool->n - from, kept = screen ? hn_screen(pool->space, x, n) : n;

	run(pool, kept, score, &(struct ranking){.pool = pool, .n = kept, .x = x});
	pool->n = from + kept;
	if (work) {
		work->drawn += pool->drawn;
		work->scored += n;
		work->ranked += kept;
	}
	pool->drawn = 0;
}
