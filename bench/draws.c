/* bench/draws.c -- what the same seeds give: for each workload a hash of the histories that are
 * drawn, and of the objects that are made of some of them.
 *
 * No timing.  Two builds that print the same lines draw the same programs and make the same code:
 * what a change that is meant to change nothing has to show.  Histories are fills of Ansor's
 * sketches and of hone's own, for this machine and for a GPU, and rounds of an evolution that is
 * told times that depend on the history alone.  Objects depend on this machine and its LLVM. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "bench/workload.h"
#include "loopstate/nest/looptree.h"
#include "lower/lower.h"
#include "search/policy.h"
#include "sketch/sketch.h"

#define N_FILL 24   /* of each kind of sketches */
#define N_ROUND 3   /* of the evolution, each asked for */
#define N_ASK 16    /* candidates */
#define N_OBJECT 2  /* of each workload */
#define GPU "cuda"

struct draws {
	uint32_t n;	/* histories */
	uint64_t hash;	/* of their texts, in order */
	uint32_t n_object;
	uint64_t objects;
};

static void note(struct draws *d, const struct hn_trace *t)
{
	struct hn_buf text;

	hn_buf_init(&text);
	hn_trace_write(t, &text);
	d->hash = hn_hash64(text.s, text.n, d->hash);
	d->n++;
	hn_buf_fini(&text);
}

static void compile(struct draws *d, const struct hn_state *s, struct hn_emitter *em,
		    struct hn_arena *a)
{
	const struct hn_emit_options o = { .symbol = "k" };
	const struct hn_looptree *t;
	struct hn_artefact made;
	struct hn_err err;

	if (hn_looptree_build(s, a, &t, &err) == 0 && hn_emit(em, t, &o, a, &made, &err) == 0) {
		d->objects = hn_hash64(made.object, made.object_bytes, d->objects);
		d->n_object++;
	}
}

/* em NULL: nothing is compiled. */
static int fill_all(struct draws *d, const struct hn_bench_case *item, bool own,
		    const struct hn_target *target, struct hn_emitter *em)
{
	struct hn_sketches sk;
	struct hn_arena keep, a;
	struct hn_err err;

	hn_arena_init(&keep, 0);
	int rc = own ? hn_sketch_generate_own(item->dag, target, &keep, &sk, &err)
		     : hn_sketch_generate(item->dag, target, &keep, &sk, &err);

	if (rc != 0) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
	}
	hn_arena_init(&a, 0);
	for (uint32_t i = 0; rc == 0 && sk.n > 0 && i < N_FILL; i++) {
		struct hn_rng rng = hn_rng_stream(17, own, i, 0);
		const struct hn_state *s;

		if (hn_sketch_fill(&sk.sketch[i % sk.n], target, &rng, &a, &s) == HN_VERDICT_OK) {
			note(d, s->trace);
			if (em != NULL && d->n_object < N_OBJECT) {
				compile(d, s, em, &a);
			}
		}
		hn_arena_reset(&a);
	}
	hn_arena_fini(&a);
	hn_arena_fini(&keep);
	return rc;
}

static int evolve(struct draws *d, const struct hn_bench_case *item,
		  const struct hn_target *target)
{
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	struct hn_task task = { .dag = item->dag, .target = target, .seed = 1, .model = "analytic" };
	struct hn_candidate c[N_ASK];
	struct hn_told told[N_ASK];
	struct hn_policy *p;
	struct hn_arena a;
	struct hn_err err;

	if (ops->create(&task, &p, &err)) {
		fprintf(stderr, "hone-bench: %s: %s\n", item->name, err.msg);
		return -1;
	}
	hn_arena_init(&a, 0);
	for (int i = 0; i < N_ROUND; i++) {
		uint32_t n = ops->ask(p, N_ASK, &a, c);

		for (uint32_t k = 0; k < n; k++) {
			note(d, c[k].trace);
			uint64_t ns = 100000 + (hn_trace_hash(c[k].trace) >> 40);

			told[k] = (struct hn_told){ c[k].trace, HN_VERDICT_OK, (double)ns };
		}
		ops->tell(p, told, n);
	}
	hn_arena_fini(&a);
	ops->destroy(p);
	return 0;
}

static void print(const struct hn_bench_case *item, const struct draws *d)
{
	char context[400];

	snprintf(context, sizeof(context),
		 "\"case\": \"%s\", \"histories\": \"%016" PRIx64 "\", \"objects\": %" PRIu32
		 ", \"code\": \"%016" PRIx64 "\"",
		 item->name, d->hash, d->n_object, d->objects);
	hn_bench_row("draws", d->n, "histories", context);
}

int hn_bench_draws(const struct hn_bench_args *args);

int hn_bench_draws(const struct hn_bench_args *args)
{
	struct hn_bench_case *item;
	struct hn_target host, gpu;
	struct hn_emitter *em = NULL;
	struct hn_arena arena;
	struct hn_err err;
	uint32_t n = 0;
	int status = 0;

	hn_arena_init(&arena, 0);
	hn_target_host(&arena, &host);
	if (hn_target_parse(GPU, &arena, &gpu, &err) || hn_emitter_new(&host, &em, &err)) {
		fprintf(stderr, "hone-bench: %s\n", err.msg);
		status = 1;
	} else if (hn_bench_suite(args, &arena, &n, &item)) {
		status = 1;
	}
	for (uint32_t i = 0; i < n && status == 0; i++) {
		struct draws d = { 0 };
		bool bad = fill_all(&d, &item[i], false, &host, em) ||
			   fill_all(&d, &item[i], true, &host, em) ||
			   fill_all(&d, &item[i], true, &gpu, NULL) ||
			   evolve(&d, &item[i], &host);

		status = bad;
		print(&item[i], &d);
	}
	hn_emitter_free(em);
	hn_arena_fini(&arena);
	return status;
}
