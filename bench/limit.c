/* bench/limit.c -- the limits of measure/board/probe.h as contenders of a case. */
#include "bench/limit.h"

#include <stdlib.h>
#include <string.h>

#include "measure/board/probe.h"

struct reading {
	const struct hn_contest *contest;
	void *memory;
	size_t bytes;
};

static void call_fma(void *ctx)
{
	const struct hn_contest *t = ctx;

	hn_probe_fma_once(t->pool, t->n_threads);
}

static void call_read(void *ctx)
{
	const struct reading *r = ctx;

	hn_probe_read_once(r->contest->pool, r->contest->n_threads, r->memory, r->bytes);
}

static void close_read(void *ctx)
{
	struct reading *r = ctx;

	free(r->memory);
	free(r);
}

static void limit_fma(struct hn_contest *t)
{
	struct hn_contender *c = hn_contest_add(t, "limit-fma");

	c->call = call_fma;
	c->limit = true;
	c->amount = hn_suite_useful_flops(t->row) /
		    hn_probe_fma_once(t->pool, t->n_threads);
}

static void limit_read(struct hn_contest *t)
{
	struct reading *r = malloc(sizeof(*r));
	struct hn_contender *c;

	hn_assert(r != NULL);
	r->contest = t;
	/* whole lines for every thread, the last argument's end left out */
	r->bytes = hn_contest_bytes(t) / 256 / (size_t)t->n_threads * 256 *
		   (size_t)t->n_threads;
	r->bytes = r->bytes > 0 ? r->bytes : (size_t)256 * (size_t)t->n_threads;
	hn_assert(posix_memalign(&r->memory, 4096, r->bytes) == 0);
	memset(r->memory, 1, r->bytes);
	c = hn_contest_add(t, "limit-read");
	c->ctx = r;
	c->call = call_read;
	c->limit = true;
	c->amount = 1;
	c->close = close_read;
	c->n_range = 0;
	hn_contender_range(c, r->memory, r->bytes);
}

void hn_contest_limits(struct hn_contest *t)
{
	limit_fma(t);
	limit_read(t);
	hn_limit_stream(t);
	hn_limit_exp(t);
}
