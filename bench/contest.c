/* bench/contest.c -- what all contenders share, and the machine's limits.
 *
 * A limit is a contender: it runs in the same rounds, at the clock the others had.
 */
#include "bench/contest.h"

#include <stdlib.h>
#include <string.h>

#include "measure/probe.h"

int64_t hn_contest_elements(const struct hn_contest *t, uint32_t i)
{
	return hn_op_elements(t->dag->op[t->dag->arg[i]]);
}

size_t hn_contest_bytes(const struct hn_contest *t)
{
	return (size_t)hn_dag_arg_bytes(t->dag);
}

struct hn_contender *hn_contest_add(struct hn_contest *t, const char *name)
{
	struct hn_contender *c = &t->contender[t->n++];

	hn_assert(t->n <= HN_RACE_MAX_CONTENDER);
	*c = (struct hn_contender){ .name = name, .ctx = t };
	for (uint32_t i = 0; i < t->dag->n_arg; i++) {
		hn_contender_range(c, t->arg[i],
				   (size_t)hn_contest_elements(t, i) * sizeof(float));
	}
	return c;
}

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

void hn_contest_limits(struct hn_contest *t, double *ret_flops)
{
	struct reading *r = malloc(sizeof(*r));
	struct hn_contender *c = hn_contest_add(t, "limit-fma");

	c->call = call_fma;
	c->limit = true;
	*ret_flops = hn_probe_fma_once(t->pool, t->n_threads);
	hn_assert(r != NULL);
	r->contest = t;
	/* whole lines for every thread, the last argument's end left out */
	r->bytes = hn_contest_bytes(t) / 256 / (size_t)t->n_threads * 256 *
		   (size_t)t->n_threads;
	r->bytes = r->bytes > 0 ? r->bytes : (size_t)256 * (size_t)t->n_threads;
	if (posix_memalign(&r->memory, 4096, r->bytes) != 0) {
		free(r);
		return;
	}
	memset(r->memory, 1, r->bytes);
	c = hn_contest_add(t, "limit-read");
	c->ctx = r;
	c->call = call_read;
	c->limit = true;
	c->close = close_read;
	c->n_range = 0;
	hn_contender_range(c, r->memory, r->bytes);
}
