/* Programs of several stores, each once: which time counts, and what a slow day does to it. */
#include "tests/lib/db_testing.h"

#include <math.h>

#include "base/hash.h"
#include "bench/measured.h"
#include "loopstate/read/dag_read.h"
#include "sketch/sketch.h"
#include "tests/lib/search_dags.h"

#define N 21 /* the last one is known to the second store alone */
#define SHARED 18

struct bed {
	struct hn_arena a;
	const struct hn_dag *dag;
	char key[HN_KEY_BYTES];
	const char *steps[N];
};

/* Different programs. */
static void draw(struct bed *b)
{
	struct hn_target target;
	struct hn_sketches sketches;
	struct hn_err err = {0};
	uint32_t n = 0;

	hn_arena_init(&b->a, 0);
	b->dag = dag_matmul(&b->a, 64, 64, 64);
	hn_dag_key(b->dag, b->key);
	hn_target_host(&b->a, &target);
	ASSERT_OK(hn_sketch_generate(b->dag, &target, &b->a, &sketches, &err), err);
	for (uint32_t i = 0; n < N; i++) {
		struct hn_rng rng = hn_rng_stream(1, 0, 0, i);
		const struct hn_state *s;
		struct hn_buf line;
		bool is_new = true;

		if (hn_sketch_fill(&sketches.sketch[i % sketches.n], &target, &rng, &b->a, &s) !=
		    HN_VERDICT_OK) {
			continue;
		}
		hn_buf_init(&line);
		hn_trace_write(s->trace, &line);
		for (uint32_t k = 0; k < n; k++) {
			is_new = is_new && strcmp(b->steps[k], line.s) != 0;
		}
		if (is_new) {
			b->steps[n++] = hn_arena_strdup(&b->a, line.s);
		}
		hn_buf_fini(&line);
	}
}

static struct hn_db *store(const struct bed *b, const char *dir, const char *name, char *path)
{
	struct hn_err err = {0};
	struct hn_buf json;

	snprintf(path, 200, "%s/%s", dir, name);
	struct hn_db *db = open_store(path);
	hn_buf_init(&json);
	hn_dag_write_json(b->dag, &json);
	ASSERT_OK(hn_db_put_workload(db, &(struct hn_workload_row){b->key, "mm", json.s, 1, NULL}, &err),
		  err);
	hn_buf_fini(&json);
	return db;
}

static void put(const struct bed *b, struct hn_db *db, uint32_t i, double ns, uint32_t rounds)
{
	static const double samples[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct hn_record r = make_record(b->key, "cpu", ns);

	r.steps = b->steps[i];
	r.n_sample = rounds;
	r.sample_ns = samples;
	append_one(db, r);
}

static double ns_of(const struct bed *b, const struct hn_measured *m, uint32_t i)
{
	for (uint32_t k = 0; k < m->n; k++) {
		if (m->program[k].hash == hn_hash64(b->steps[i], strlen(b->steps[i]), 0)) {
			return m->program[k].ns;
		}
	}
	fail_msg("program %u is lost", i);
	return 0;
}

/* The second day everything takes twice as long; SHARED programs tell. */
static void the_time_that_counts(void **state)
{
	struct hn_measured *m = calloc(1, sizeof *m);
	char first[200], second[200];
	struct hn_err err = {0};
	struct bed b;

	assert_non_null(m);
	draw(&b);
	struct hn_db *db = store(&b, *state, "first", first);
	for (uint32_t i = 0; i < N - 1; i++) {
		put(&b, db, i, 1000 * (i + 1), 4);
	}
	put(&b, db, 0, 900, 4);	  /* the same day: the fastest */
	put(&b, db, 19, 1, 2); /* too few samples to be one */
	hn_db_close(db);
	db = store(&b, *state, "second", second);
	put(&b, db, 0, 2 * 100, 3); /* fewer rounds than on the first day */
	put(&b, db, 1, 2 * 1800, 5);
	for (uint32_t i = 2; i < SHARED; i++) {
		put(&b, db, i, 2 * 1000 * (i + 1), 5);
	}
	put(&b, db, N - 1, 2 * 777, 3);
	hn_db_close(db);

	ASSERT_OK(hn_measured_load(m, (char *[]){first, second}, 2, &err), err);
	assert_int_equal(m->n_workload, 1);
	assert_string_equal(m->workload[0].name, "mm");
	assert_int_equal(m->n, N);
	assert_int_equal(m->first[1], N);
	assert_true(ns_of(&b, m, 0) == 900);
	assert_true(ns_of(&b, m, 1) == 1800);
	for (uint32_t i = 2; i < N - 1; i++) {
		assert_true(ns_of(&b, m, i) == 1000 * (i + 1));
	}
	assert_true(ns_of(&b, m, N - 1) == 777);
	hn_measured_fini(m);

	/* Of the second day alone, nobody knows that it was slow. */
	ASSERT_OK(hn_measured_load(m, (char *[]){second}, 1, &err), err);
	assert_int_equal(m->n, SHARED + 1);
	assert_true(ns_of(&b, m, N - 1) == 2 * 777);
	hn_measured_fini(m);
	free(m);
	hn_arena_fini(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(the_time_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
