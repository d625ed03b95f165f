/* Drawing on several threads: the same seed and the same results give the same candidates, bit
 * for bit, on 1, 2 and 5 of them; and what the screen keeps is the better part of each sketch. */
#include "tests/lib/search_dags.h"

#include <stdatomic.h>

#include "base/rng.h"
#include "search/screen.h"
#include "search/threads.h"

#define ROUNDS 4
#define BATCH 32

static void target_of(struct hn_arena *a, struct hn_target *t)
{
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2 -l1_bytes=32768 "
					 "-l2_bytes=524288 -l3_bytes=33554432",
					 a, t, NULL),
			 0);
}

struct asked {
	uint64_t hash;
	double score;
	const char *origin;
};

/* All that a search asks for.  Times do not follow the scores, so that what is learned counts. */
static uint32_t trajectory(const struct hn_dag *dag, const struct hn_target *target,
			   const char *model, uint32_t threads, struct hn_work *work,
			   struct asked *ret)
{
	const struct hn_policy_ops *ops = hn_policy_ops("evolve");
	const struct hn_task task = {.dag = dag,
				     .target = target,
				     .seed = 3,
				     .model = model,
				     .threads = threads,
				     .work = work};
	struct hn_candidate c[BATCH];
	struct hn_told told[BATCH];
	struct hn_policy *p;
	struct hn_arena a;
	uint32_t n = 0;

	hn_arena_init(&a, 0);
	assert_int_equal(ops->create(&task, &p, NULL), 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t got = ops->ask(p, BATCH, &a, c);

		for (uint32_t i = 0; i < got; i++) {
			uint64_t hash = hn_trace_hash(c[i].trace);
			struct hn_rng r = hn_rng_stream(hash, 5, 5, 5);

			ret[n++] = (struct asked){hash, c[i].score, c[i].origin};
			told[i] = (struct hn_told){c[i].trace, HN_VERDICT_OK,
						   1e5 * (1 + hn_rng_unit(&r))};
		}
		ops->tell(p, told, got);
	}
	ops->destroy(p);
	hn_arena_fini(&a);
	return n;
}

static void threads_change_nothing(void **state)
{
	static const char *const models[] = {"analytic", "learned"};
	static struct asked one[ROUNDS * BATCH], more[ROUNDS * BATCH];
	struct hn_target target;
	struct hn_arena a;

	(void)state;
	hn_arena_init(&a, 0);
	target_of(&a, &target);
	const struct hn_dag *dags[] = {dag_conv(&a, 14, 32, 64), dag_softmax(&a, 3, 1000),
				       dag_scalar(&a)};

	for (size_t d = 0; d < HN_COUNT_OF(dags); d++) {
		for (size_t m = 0; m < HN_COUNT_OF(models); m++) {
			struct hn_work work = {0};
			uint32_t n = trajectory(dags[d], &target, models[m], 1, &work, one);

			assert_int_equal(n, d < 2 ? ROUNDS * BATCH : 1);
			assert_true(work.ranked <= work.scored && work.scored < work.drawn);
			assert_int_equal(m == 1 && d < 2, work.ranked < work.scored);
			for (uint32_t threads = 2; threads <= 5; threads += 3) {
				struct hn_work again = {0};

				assert_int_equal(trajectory(dags[d], &target, models[m],
							    threads, &again, more),
						 n);
				assert_memory_equal(one, more, n * sizeof(*one));
				assert_memory_equal(&work, &again, sizeof(work));
			}
		}
	}
	hn_arena_fini(&a);
}

static void count(void *ctx, uint32_t who)
{
	atomic_uint *calls = ctx;

	atomic_fetch_add(&calls[who], 1);
}

static void each_share_runs_once(void **state)
{
	static const uint32_t asked[] = {0, 1, 5, HN_THREADS_MAX, HN_THREADS_MAX + 7};

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(asked); i++) {
		atomic_uint calls[HN_THREADS_MAX + 8] = {0};
		uint32_t n = asked[i] < 1		? 1
			     : asked[i] < HN_THREADS_MAX ? asked[i]
							 : HN_THREADS_MAX;

		hn_threads_run(asked[i], count, calls);
		for (uint32_t k = 0; k < HN_COUNT_OF(calls); k++) {
			assert_int_equal(calls[k], k < n);
		}
	}
}

/* Programs of three sketches, one of them much slower: none is ruled out. */
static void the_screen_keeps_the_better_of_each_sketch(void **state)
{
	static const uint32_t n_of[] = {5, 1, 4};
	struct hn_sketch sketch[3] = {{0}};
	struct hn_space sp = {.learned = true};
	struct hn_indiv x[10] = {{0}};
	double cycles[10];
	uint32_t n = 0, kept[3] = {0}, first[3];

	(void)state;
	for (uint32_t k = 0; k < 3; k++) {
		first[k] = n;
		for (uint32_t i = 0; i < n_of[k]; i++, n++) {
			cycles[n] = 1e6 * (k == 2 ? 1000 : 1) * (1 + (i * 7 + 3) % 5);
			x[n].sketch = &sketch[k];
			x[n].hash = n;
			x[n].features = (struct hn_features){.n = 1, .cycles = &cycles[n]};
		}
	}
	assert_int_equal(hn_screen_share(&sp), 2);
	assert_int_equal(hn_screen(&sp, x, n), 3 + 1 + 2);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t k = (uint32_t)(x[i].sketch - sketch), faster = 0;

		for (uint32_t j = 0; j < n_of[k]; j++) {
			faster += cycles[first[k] + j] < *x[i].features.cycles;
		}
		assert_true(faster < (n_of[k] + 1) / 2);
		kept[k]++;
	}
	assert_true(kept[0] == 3 && kept[1] == 1 && kept[2] == 2);
	sp.learned = false;
	assert_int_equal(hn_screen_share(&sp), 1);
	assert_int_equal(hn_screen(&sp, x, n), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(each_share_runs_once),
		cmocka_unit_test(the_screen_keeps_the_better_of_each_sketch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
