/* search/evolve.c -- evolution under the cost model, corrected by what was measured.
 *
 * A round: many random programs and neighbours of the best measured ones are drawn and
 * scored; the better of them have neighbours for a few generations; the best that have
 * not been out yet are asked for, a share of them at random (epsilon-greedy).
 *
 * What is measured teaches the model, where it can learn, and corrects what it says of relatives
 * in any case (search/experience.h).
 *
 * The heuristic schedules (sketch/heuristic.h) go out before anything else and are parents like any
 * other measured program.
 *
 * Invariants: elite is sorted by measured time, fastest first; its plans and traces live
 * in the space's arena (a few hundred bytes for each measured trial). Source: Ansor,
 * section 5.1; elitism and inherited bias are ours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/experience.h"
#include "search/pool.h"
#include "search/screen.h"

#define MAX_ELITE 48
#define GENERATIONS 3
#define POOL_LEAST 192 /* programs drawn in a round */
#define POOL_MOST 1536
#define POOL_PER_ASKED 24
#define PACKS 5	 /* mutations in a hundred that pack an operand more or less */
#define FADE 0.7 /* of a parent's bias that a child keeps beyond its sketch's mean */

struct measured {
	struct hn_indiv x;
	double median_ns;
};

struct hn_policy {
	struct hn_space space;
	uint32_t n_elite;
	struct measured elite[MAX_ELITE];
	struct hn_experience known;
};

static int create(const struct hn_task *task, struct hn_policy **ret, struct hn_err *err)
{
	struct hn_policy *p;
	int rc = hn_policy_new(task, sizeof *p, &p, err);

	if (rc < 0) {
		return rc;
	}
	hn_experience_init(&p->known, &p->space);
	*ret = p;
	return 0;
}

static int by_worth(const void *a, const void *b)
{
	const struct hn_indiv *x = a, *y = b;

	if (x->worth != y->worth) {
		return x->worth < y->worth ? 1 : -1;
	}
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The programs of the pool, the one expected to be fastest first. */
static void rank(struct hn_pool *pool)
{
	for (uint32_t i = 0; i < pool->n; i++) {
		struct hn_indiv *x = &pool->x[i];

		x->worth = log(fmax(x->score, 1e-300)) + x->bias;
	}
	qsort(pool->x, pool->n, sizeof *pool->x, by_worth);
}

/* Draws of one kind: samples, or neighbours of parent[i]. */
struct draws {
	const struct hn_policy *p;
	uint64_t index; /* of draw 0 */
	const struct hn_indiv *const *parent;
};

static enum hn_verdict make_sample(void *ctx, uint32_t i, struct hn_space *sp,
				   struct hn_arena *a, struct hn_indiv *ret)
{
	const struct draws *d = ctx;
	enum hn_verdict v = hn_space_sample(sp, d->index + i, a, ret);

	ret->bias = hn_experience_mean(&d->p->known, ret->sketch);
	return v;
}

static void add_samples(struct hn_policy *p, struct hn_pool *pool, uint32_t n,
			uint64_t *index)
{
	uint32_t from = pool->n, left = 2 * n + 64, room = pool->cap - from;
	uint32_t goal = from + (n < room ? n : room);

	while (pool->n < goal && left > 0) {
		struct draws d = {.p = p, .index = *index};
		uint32_t k = goal - pool->n < left ? goal - pool->n : left;

		hn_pool_draw(pool, k, make_sample, &d);
		*index += k;
		left -= k;
	}
	hn_pool_rank(pool, from, /* screen= */ pool->n == goal);
}

/* A rank drawn so that the first are likeliest. */
static uint32_t draw_rank(uint32_t n, struct hn_rng *rng)
{
	double u = hn_rng_unit(rng);

	return (uint32_t)(u * u * n);
}

/* A measured program of that sketch, the faster the likelier; NULL when none is found. */
static const struct hn_indiv *find_mate(const struct hn_policy *p,
					const struct hn_sketch *sketch, struct hn_rng *rng)
{
	uint32_t from = draw_rank(p->n_elite, rng);

	for (uint32_t i = 0; i < p->n_elite; i++) {
		const struct hn_indiv *x = &p->elite[(from + i) % p->n_elite].x;
		if (x->sketch == sketch && x->plan) {
			return x;
		}
	}
	return NULL;
}

/* One mutation of the plan, which may lead to another sketch; noted in the lineage. */
static const struct hn_plan *step_away(const struct hn_policy *p,
				       const struct hn_sketch **sketch,
				       const struct hn_plan *plan, struct hn_rng *rng,
				       struct hn_arena *a, struct hn_lineage *lineage,
				       const char **ret_origin)
{
	const struct hn_indiv *mate = NULL;

	if (p->space.n_pair > 0 && hn_rng_below(rng, 100) < PACKS) {
		plan = hn_mutate_pack(&p->space, sketch, plan, rng, a, ret_origin);
	} else {
		mate = find_mate(p, *sketch, rng);
		plan = hn_mutate(*sketch, plan, mate ? mate->plan : NULL, rng, a,
				 ret_origin);
	}
	hn_lineage_add(lineage, *ret_origin);
	if (mate && plan && strcmp(*ret_origin, "cross") == 0) {
		hn_lineage_mate(lineage, mate);
	}
	return plan;
}

/* One neighbour of parent[i]. */
static enum hn_verdict make_child(void *ctx, uint32_t i, struct hn_space *sp,
				  struct hn_arena *a, struct hn_indiv *ret)
{
	const struct draws *d = ctx;
	const struct hn_policy *p = d->p;
	const struct hn_indiv *parent = d->parent[i];
	struct hn_rng rng = hn_rng_stream(sp->task.seed, 2, sp->round, d->index + i);
	uint64_t steps = 1 + hn_rng_below(&rng, 2);
	const char *origin = "mutate:trace";
	enum hn_verdict v;

	if (!parent) {
		return HN_VERDICT_ILLEGAL;
	}
	const struct hn_sketch *sketch = parent->sketch;
	const struct hn_plan *plan = parent->plan;
	struct hn_lineage lineage = hn_lineage_from(parent);

	if (!plan) {
		v = hn_space_neighbour(sp, parent->trace, steps, &rng, a, ret);
		for (; steps > 0; steps--) {
			hn_lineage_add(&lineage, origin);
		}
	} else {
		for (; steps > 0 && plan; steps--) {
			plan = step_away(p, &sketch, plan, &rng, a, &lineage, &origin);
		}
		v = plan ? hn_space_rebuild(sp, sketch, plan, &rng, a, ret)
			 : HN_VERDICT_ILLEGAL;
	}
	ret->bias = hn_experience_mean(&p->known, sketch) +
		    FADE * (parent->bias - hn_experience_mean(&p->known, parent->sketch));
	ret->origin = origin;
	ret->lineage = lineage;
	return v;
}

/* A measured program, or one of the better ones of the pool; NULL when there are none. */
static const struct hn_indiv *draw_parent(const struct hn_policy *p,
					  const struct hn_pool *pool, uint32_t n_parent,
					  struct hn_rng *rng)
{
	bool elite = p->n_elite > 0 && (n_parent == 0 || hn_rng_below(rng, 2) == 0);

	if (elite) {
		return &p->elite[draw_rank(p->n_elite, rng)].x;
	}
	return n_parent > 0 ? &pool->x[draw_rank(n_parent, rng)] : NULL;
}

static void add_children(struct hn_policy *p, struct hn_pool *pool, uint32_t n,
			 uint64_t *index)
{
	struct hn_rng rng = hn_rng_stream(p->space.task.seed, 3, p->space.round, *index);
	const struct hn_indiv **parent =
		HN_NEW_ARRAY(&pool->arena, const struct hn_indiv *, n);
	struct draws d = {.p = p, .index = *index, .parent = parent};
	uint32_t n_parent = pool->n / 3, from = pool->n;

	rank(pool);
	for (uint32_t i = 0; i < n; i++) {
		parent[i] = draw_parent(p, pool, n_parent, &rng);
	}
	hn_pool_draw(pool, n, make_child, &d);
	*index += n;
	hn_pool_rank(pool, from, /* screen= */ true);
}

static uint32_t random_share(const struct hn_policy *p, uint32_t n, struct hn_rng *rng)
{
	double share = (p->known.all.n == 0 ? 0.25 : 0.08) * n;
	uint32_t whole = (uint32_t)share;

	return whole + (hn_rng_unit(rng) < share - whole);
}

/* Take x out to the caller, once and for ever; false when it has been out, as it is or in
 * another form. */
static bool take(struct hn_policy *p, const struct hn_indiv *x, struct hn_arena *a,
		 struct hn_candidate *ret)
{
	bool goes = hn_space_take(&p->space, x);

	if (goes) {
		*ret = hn_space_candidate(&p->space, x, a);
	}
	return goes;
}

/* The best, but of one sketch at most two thirds while little is known; the rest at
 * random. */
static uint32_t pick(struct hn_policy *p, struct hn_pool *pool, uint32_t n,
		     struct hn_arena *a, struct hn_candidate *ret)
{
	struct hn_rng rng = hn_rng_stream(p->space.task.seed, 4, p->space.round, 0);
	uint32_t n_sketch = p->space.sketches.n, got = 0;
	uint32_t greedy = n - random_share(p, n, &rng);
	uint32_t most = p->known.all.n < 32 && n_sketch > 1 ? (2 * n + 2) / 3 : n;
	uint32_t *of = calloc(n_sketch + 1, sizeof *of);

	hn_assert(of);
	rank(pool);
	for (uint32_t i = 0; i < pool->n && got < greedy; i++) {
		/* what is no sketch's counts as one more */
		uint32_t k = pool->x[i].sketch
				     ? (uint32_t)(pool->x[i].sketch -
						  p->space.sketches.sketch)
				     : n_sketch;
		if (of[k] < most && take(p, &pool->x[i], a, &ret[got])) {
			of[k]++;
			got++;
		}
	}
	for (uint32_t tries = 0; got < n && tries < 8 * n && pool->n > 0; tries++) {
		const struct hn_indiv *x = &pool->x[hn_rng_below(&rng, pool->n)];
		got += take(p, x, a, &ret[got]);
	}
	for (uint32_t i = 0; i < pool->n && got < n; i++) {
		got += take(p, &pool->x[i], a, &ret[got]);
	}
	free(of);
	return got;
}

static uint32_t ask_evolved(struct hn_policy *p, uint32_t n, struct hn_arena *a,
			    struct hn_candidate *ret)
{
	uint64_t want = (uint64_t)n * POOL_PER_ASKED, index = 0;
	uint32_t draws = want < POOL_LEAST  ? POOL_LEAST
			 : want > POOL_MOST ? POOL_MOST
					    : (uint32_t)want;
	uint32_t share = hn_screen_share(&p->space);
	struct hn_pool pool;

	hn_pool_init(&pool, &p->space, (draws > n ? draws : n) * 2 * share);
	uint32_t samples = p->n_elite > 0 ? draws / 4 : draws / 2;
	add_samples(p, &pool, (samples > n ? samples : n) * share, &index);
	for (int g = 0; g < GENERATIONS; g++) {
		add_children(p, &pool, (draws - samples) / GENERATIONS * share, &index);
	}
	uint32_t got = pick(p, &pool, n, a, ret);
	p->space.round++;
	hn_pool_fini(&pool);
	return got;
}

/* The heuristics and hints first: whatever else is found, the answer is as good as they are. */
static uint32_t ask(struct hn_policy *p, uint32_t n, struct hn_arena *a,
		    struct hn_candidate *ret)
{
	uint32_t got = hn_space_heuristics(&p->space, n, a, ret);

	return got < n ? got + ask_evolved(p, n - got, a, ret + got) : got;
}

/* Keep a deep copy of x among the fastest. */
static void keep(struct hn_policy *p, const struct hn_indiv *x, double median_ns)
{
	uint32_t at = p->n_elite;

	while (at > 0 && p->elite[at - 1].median_ns > median_ns) {
		at--;
	}
	if (at == MAX_ELITE) {
		return;
	}
	uint32_t last = p->n_elite < MAX_ELITE ? p->n_elite : MAX_ELITE - 1;
	memmove(&p->elite[at + 1], &p->elite[at], (last - at) * sizeof p->elite[0]);
	p->n_elite = last + 1;
	struct measured *m = &p->elite[at];
	m->x = *x;
	m->median_ns = median_ns;
	m->x.trace = x->features.trace;
	m->x.lineage.parent[0] = hn_trace_hash(m->x.trace); /* lines begin here */
	if (x->plan) {
		const int64_t **len;
		struct hn_plan_stage *stage;
		m->x.plan =
			hn_plan_copy(x->sketch, x->plan, &len, &stage, &p->space.arena);
	}
}

static void remember(struct hn_policy *p, const struct hn_told *told,
		     struct hn_arena *scratch)
{
	bool works = told->verdict == HN_VERDICT_OK && told->median_ns > 0;
	struct hn_indiv x;

	if (hn_space_told(&p->space, told->trace, scratch, &x) != HN_VERDICT_OK ||
	    !(works || hn_verdict_blames_kernel(told->verdict))) {
		return;
	}
	x.features = hn_experience_add(&p->known, &x, works ? told->median_ns : INFINITY);
	if (!works) {
		return;
	}
	hn_space_score(&p->space, &x, 1);
	x.bias = hn_experience_bias(&x, told->median_ns);
	keep(p, &x, told->median_ns);
}

static void tell(struct hn_policy *p, const struct hn_told *told, uint32_t n)
{
	struct hn_arena scratch;

	hn_arena_init(&scratch, 0);
	for (uint32_t i = 0; i < n; i++) {
		hn_arena_reset(&scratch);
		remember(p, &told[i], &scratch);
	}
	hn_arena_fini(&scratch);
	if (hn_experience_learn(&p->known)) {
		for (uint32_t i = 0; i < p->n_elite; i++) {
			struct measured *m = &p->elite[i];

			hn_space_score(&p->space, &m->x, 1);
			m->x.bias = hn_experience_bias(&m->x, m->median_ns);
		}
	}
}

static void hint(struct hn_policy *p, const struct hn_trace *const *trace, uint32_t n)
{
	hn_space_hint(&p->space, trace, n);
}

static bool learned(const struct hn_policy *p, struct hn_buf *buf)
{
	return p->space.learned && p->space.ops->save(p->space.model, buf);
}

extern const struct hn_policy_ops hn_policy_evolve;
const struct hn_policy_ops hn_policy_evolve = {.name = "evolve",
					       .create = create,
					       .destroy = hn_policy_free,
					       .ask = ask,
					       .tell = tell,
					       .hint = hint,
					       .learned = learned};
