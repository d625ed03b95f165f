/* Lineage: a candidate names the measured program it was made from, or the sample, and what was
 * changed since; the same seed and the same results give the same names. */
#include "tests/lib/search_dags.h"

#include <math.h>

#include "base/rng.h"
#include "search/search_int.h"

#define ROUNDS 5
#define BATCH 48

struct search {
	struct hn_arena a;
	struct hn_target target;
	struct hn_candidate c[ROUNDS * BATCH];
	uint32_t n;
};

/* A machine whose speed depends on the program alone, and that likes heuristics: they have
 * children. */
static double pretend_ns(const struct hn_candidate *c)
{
	struct hn_rng r = hn_rng_stream(hn_trace_hash(c->trace), 7, 7, 7);

	double heuristic = strcmp(c->origin, "guard") == 0 ? 0.2 : 1;

	return heuristic * 1e9 / c->score * exp(0.6 * (hn_rng_unit(&r) - 0.5));
}

/* Some rounds of ask and tell; all that was asked for stays in s->c, oldest first. */
static void run(struct search *s, const char *policy, const char *model, uint64_t seed)
{
	const struct hn_policy_ops *ops = hn_policy_ops(policy);
	struct hn_policy *p;
	struct hn_err err = { 0 };

	hn_arena_init(&s->a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2 -l1_bytes=32768 "
					 "-l2_bytes=524288 -l3_bytes=33554432",
					 &s->a, &s->target, NULL),
			 0);
	struct hn_task task = { .dag = dag_matmul(&s->a, 512, 384, 256),
				.target = &s->target,
				.seed = seed,
				.model = model };

	assert_int_equal(ops->create(&task, &p, &err), 0);
	s->n = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct hn_candidate *c = s->c + s->n;
		struct hn_told told[BATCH];
		uint32_t got = ops->ask(p, BATCH, &s->a, c);

		for (uint32_t i = 0; i < got; i++) {
			told[i] = (struct hn_told){ c[i].trace, HN_VERDICT_OK,
						    pretend_ns(&c[i]) };
		}
		ops->tell(p, told, got);
		s->n += got;
	}
	ops->destroy(p);
}

/* The candidate with that history among the first n. */
static const struct hn_candidate *find(const struct search *s, uint32_t n, uint64_t hash)
{
	for (uint32_t i = 0; i < n; i++) {
		if (hn_trace_hash(s->c[i].trace) == hash) {
			return &s->c[i];
		}
	}
	return NULL;
}

static void same_lineage(const struct hn_lineage *x, const struct hn_lineage *y)
{
	assert_true(x->parent[0] == y->parent[0] && x->parent[1] == y->parent[1]);
	assert_int_equal(x->n, y->n);
	for (uint32_t i = 0; i < x->n; i++) {
		assert_string_equal(x->change[i], y->change[i]);
	}
}

static void the_same_seed_gives_the_same_lineage(void **state)
{
	static struct search s, t;

	(void)state;
	run(&s, "evolve", "analytic", 3);
	run(&t, "evolve", "analytic", 3);
	assert_int_equal(s.n, ROUNDS * BATCH);
	assert_int_equal(t.n, s.n);
	for (uint32_t i = 0; i < s.n; i++) {
		same_lineage(&s.c[i].lineage, &t.c[i].lineage);
	}
	hn_arena_fini(&s.a);
	hn_arena_fini(&t.a);
}

/* A line ends in a heuristic or a sample: what has a parent was made by mutations, the last of them
 * its origin, from a program that was told before, unless the line begins with a sample. */
static void lines_begin_with_heuristics_and_samples(void **state)
{
	static struct search s;
	uint32_t measured = 0, drawn = 0;

	(void)state;
	run(&s, "evolve", "analytic", 3);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct hn_lineage *l = &s.c[i].lineage;
		bool root = strcmp(s.c[i].origin, "guard") == 0 ||
			    strcmp(s.c[i].origin, "sample") == 0;

		assert_true(root == (l->parent[0] == 0));
		assert_in_range(l->n, root ? 0 : 1, HN_LINEAGE_CHANGES);
		if (root) {
			continue;
		}
		bool sampled = strcmp(l->change[0], "sample") == 0;
		/* told before: at the latest in the round before this one */
		bool told = find(&s, i / BATCH * BATCH, l->parent[0]) != NULL;

		assert_string_equal(l->change[l->n - 1], s.c[i].origin);
		assert_true(told != sampled);
		measured += told;
		drawn += sampled;
	}
	assert_true(measured > 20 && drawn > 20);
	hn_arena_fini(&s.a);
}

static bool same_but_lengths(const struct hn_trace *x, const struct hn_trace *y)
{
	if (x->n_step != y->n_step) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_step; i++) {
		const struct hn_step *s = x->step[i], *t = y->step[i];

		if (s->kind != t->kind || s->stage != t->stage || s->n_list != t->n_list ||
		    memcmp(s->a, t->a, sizeof s->a) != 0) {
			return false;
		}
	}
	return true;
}

/* The parent that is named is the one it was made from: a heuristic's child (mutate:trace) is its
 * parent with other lengths, however many edits there were. */
static void the_named_parent_is_the_parent(void **state)
{
	static struct search s;
	uint32_t n = 0;

	(void)state;
	run(&s, "evolve", "analytic", 5);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct hn_lineage *l = &s.c[i].lineage;
		const struct hn_candidate *parent = find(&s, i, l->parent[0]);

		if (parent && strcmp(l->change[0], "mutate:trace") == 0) {
			assert_false(hn_trace_equal(parent->trace, s.c[i].trace));
			assert_true(same_but_lengths(parent->trace, s.c[i].trace));
			n++;
		}
	}
	assert_true(n > 5);
	hn_arena_fini(&s.a);
}

static void the_prediction_is_a_time_where_the_model_knows_times(void **state)
{
	static const struct {
		const char *name;
		bool times;
	} model[] = {{"analytic", true}, {"random", false}, {"learned", false}};
	static struct search s;

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(model); i++) {
		double ns;

		run(&s, "evolve", model[i].name, 1);
		ns = model[i].times ? 1e9 / s.c[0].score : 0;
		assert_true(s.c[0].score > 0);
		assert_true(fabs(s.c[0].predicted_ns - ns) <= 1e-12 * ns);
		assert_string_equal(s.c[0].model, model[i].name);
		hn_arena_fini(&s.a);
	}
}

/* Two parents, and more changes than have room. */
static void a_crossover_has_two_parents(void **state)
{
	const struct hn_step step = { .kind = HN_STEP_compute_root, .stage = 3 }, *steps[] = { &step };
	const struct hn_trace drawn = { 1, steps };
	struct hn_indiv measured = { .lineage.parent = { 5 } },
			sample = { .features.trace = &drawn };
	uint64_t root = hn_trace_hash(&drawn);
	struct hn_lineage l;
	struct hn_buf b;

	(void)state;
	hn_lineage_add(&sample.lineage, "sample");
	l = hn_lineage_from(&measured);
	hn_lineage_add(&l, "crossover");
	hn_lineage_mate(&l, &sample);
	assert_true(l.parent[0] == 5 && l.parent[1] == root);
	/* its own child goes on from the same two */
	struct hn_indiv child = { .features.trace = &drawn, .lineage = l };
	l = hn_lineage_from(&child);
	assert_true(l.parent[0] == 5 && l.parent[1] == root);
	for (int i = 0; i < 9; i++) {
		hn_lineage_add(&l, "mutate:tile");
	}
	hn_buf_init(&b);
	hn_lineage_write(&l, &b);
	assert_string_equal(b.s, "crossover mutate:tile mutate:tile mutate:tile mutate:tile "
				 "mutate:tile mutate:tile mutate:tile +2");
	hn_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_lineage),
		cmocka_unit_test(lines_begin_with_heuristics_and_samples),
		cmocka_unit_test(the_named_parent_is_the_parent),
		cmocka_unit_test(the_prediction_is_a_time_where_the_model_knows_times),
		cmocka_unit_test(a_crossover_has_two_parents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
