/* search/exhaustive.c -- no search: every program of the task, once, in a fixed order.
 *
 * These are the programs of all plans of all sketches (search/walk.h says which choices a plan
 * has) that the quick check shows legal; first all without prefetches, then those with.
 * Programs are told apart by fingerprint (target/cpu/fingerprint.h), of which a few million are
 * remembered; in a larger space a program may come again under another history.
 * For small tasks: a matmul of 4 x 4 x 4 has thousands of programs, without prefetches.
 */

#include "search/search_int.h"
#include "search/walk.h"

#define REMEMBERED (1u << 22) /* programs; 64 MiB */

struct hn_policy {
	struct hn_space space;
	struct hn_arena arena; /* of the walk */
	struct hn_walk walk;
	bool fetches;
	uint32_t n_sketch; /* begun in this pass */
};

static int create(const struct hn_task *task, struct hn_policy **ret, struct hn_err *err)
{
	if (task->target->caps & HN_CAP_GPU_THREADS) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "policy exhaustive: walks programs of a CPU only");
	}
	struct hn_policy *p;
	int rc = hn_policy_new(task, sizeof *p, &p, err);

	if (rc < 0) {
		return rc;
	}
	hn_arena_init(&p->arena, 0);
	p->walk.ended = true;
	*ret = p;
	return 0;
}

static void destroy(struct hn_policy *p)
{
	if (p) {
		hn_arena_fini(&p->arena);
	}
	hn_policy_free(p);
}

/* The next plan of this sketch, of the next one, or of the second pass; false at the end. */
static bool next_plan(struct hn_policy *p)
{
	const struct hn_sketches *all = &p->space.sketches;

	while (!hn_walk_next(&p->walk)) {
		if (p->n_sketch == all->n && p->fetches) {
			return false;
		}
		if (p->n_sketch == all->n) {
			p->fetches = true;
			p->n_sketch = 0;
		}
		hn_arena_reset(&p->arena);
		hn_walk_init(&p->walk, &all->sketch[p->n_sketch++], p->space.task.target,
			     p->fetches, &p->arena);
	}
	return true;
}

/* Whether the walk's plan is that of a program which has not been out. */
static bool make(struct hn_policy *p, struct hn_arena *a, struct hn_indiv *ret)
{
	struct hn_rng rng = hn_rng_stream(0, 0, 0, 0); /* nothing is left to be drawn */
	struct hn_space *sp = &p->space;
	const struct hn_plan *plan = hn_walk_plan(&p->walk, a);

	if (hn_space_rebuild(sp, p->walk.sketch, plan, &rng, a, ret) != HN_VERDICT_OK ||
	    !ret->plan || !hn_walk_agrees(&p->walk, ret->plan) ||
	    hn_hashes_has(&sp->seen, ret->hash)) {
		return false;
	}
	if (sp->seen.n < REMEMBERED) {
		hn_hashes_add(&sp->seen, ret->hash);
	}
	return true;
}

static uint32_t ask(struct hn_policy *p, uint32_t n, struct hn_arena *a,
		    struct hn_candidate *ret)
{
	struct hn_arena scratch;
	uint32_t got = 0;

	hn_arena_init(&scratch, 0);
	while (got < n && next_plan(p)) {
		struct hn_indiv x;

		hn_arena_reset(&scratch);
		if ((p->fetches && !hn_walk_fetches(&p->walk)) || !make(p, &scratch, &x)) {
			continue;
		}
		hn_space_score(&p->space, &x, 1);
		ret[got++] = (struct hn_candidate){ .trace = hn_trace_copy(x.trace, a),
						    .origin = "exhaustive",
						    .score = x.score };
	}
	hn_arena_fini(&scratch);
	return got;
}

static void tell(struct hn_policy *p, const struct hn_told *told, uint32_t n)
{
	hn_space_heard(&p->space, told, n);
}

extern const struct hn_policy_ops hn_policy_exhaustive;
const struct hn_policy_ops hn_policy_exhaustive = { .name = "exhaustive",
						    .create = create,
						    .destroy = destroy,
						    .ask = ask,
						    .tell = tell };
