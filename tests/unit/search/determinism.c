/* A search is its seed and what it was told: one is run on a machine that is not its model
 * and its results are kept as a log; run again, told from that log, it asks for the same programs,
 * in the same order, expecting the same of them, byte for byte, with other threads than before. */
#include "tests/lib/search_dags.h"

#include <math.h>

#include "base/rng.h"
#include "loopstate/record/record.h"
#include "search/policy.h"

#define ROUNDS 4
#define BATCH 32

static double pretend_seconds(const struct hn_trace *t)
{
	struct hn_rng r = hn_rng_stream(hn_trace_hash(t), 5, 5, 5);

	return 1e-3 * exp(hn_rng_unit(&r));
}

/* One line of the log: the history and its time. */
static void log_result(const struct hn_trace *t, double value, struct hn_buf *log)
{
	char cost[40];

	snprintf(cost, sizeof(cost), "%.17g", value);
	struct hn_record_number seconds = { value, cost };
	struct hn_log_record r = { .workload_key = "[\"test\"]",
			       .target = "cpu",
			       .layout = -1,
			       .trace = t,
			       .n_cost = 1,
			       .cost = &seconds,
			       .all_cost = seconds,
			       .version = "hone-1",
			       .n_member = 3,
			       .member = { HN_RECORD_INPUT, HN_RECORD_RESULT, HN_RECORD_VERSION } };

	hn_record_write(&r, log);
	hn_buf_putc(log, '\n');
}

/* The log's next line must be of this history; its seconds. */
static double look_up(const struct hn_trace *t, const char **log, struct hn_arena *a)
{
	const char *end = strchr(*log, '\n');
	const struct hn_log_record *r;
	struct hn_err err;

	assert_non_null(end);
	if (hn_record_parse("log", 1, *log, (size_t)(end - *log), a, &r, &err) != 0) {
		fail_msg("%s", err.msg);
	}
	*log = end + 1;
	assert_true(hn_trace_equal(r->trace, t));
	return r->cost[0].value;
}

static void write_candidate(const struct hn_candidate *c, struct hn_buf *text)
{
	hn_buf_printf(text, "%s %a ", c->origin, c->score);
	hn_trace_write(c->trace, text);
	hn_buf_putc(text, '\n');
}

/* A whole search, told from *log when that is not NULL; what it asked for goes to `text`, what it
 * was told to `kept`. */
static void search(const char *policy, const char *model, uint64_t seed, uint32_t threads,
		   const char *log, struct hn_buf *kept, struct hn_buf *text)
{
	const struct hn_policy_ops *ops = hn_policy_ops(policy);
	struct hn_target target;
	struct hn_policy *p;
	struct hn_arena a;
	struct hn_err err;

	hn_arena_init(&a, 0);
	assert_int_equal(hn_target_parse("cpu -isa=x86-64-avx2 -num_cores=2", &a, &target, NULL),
			 0);
	struct hn_task task = {
		.dag = dag_conv(&a, 14, 32, 64),
		.target = &target,
		.seed = seed,
		.model = model,
		.threads = threads
	};

	assert_int_equal(ops->create(&task, &p, &err), 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct hn_candidate c[BATCH];
		struct hn_told told[BATCH];

		assert_int_equal(ops->ask(p, BATCH, &a, c), BATCH);
		for (int i = 0; i < BATCH; i++) {
			double seconds = log ? look_up(c[i].trace, &log, &a)
					     : pretend_seconds(c[i].trace);

			write_candidate(&c[i], text);
			log_result(c[i].trace, seconds, kept);
			told[i] = (struct hn_told){ c[i].trace, HN_VERDICT_OK,
						    seconds * 1e9 };
		}
		ops->tell(p, told, BATCH);
	}
	ops->destroy(p);
	hn_arena_fini(&a);
}

static void told_from_its_log_it_does_the_same(void **state)
{
	static const struct {
		const char *policy, *model;
	} rows[] = { { "evolve", "analytic" }, { "evolve", "learned" }, { "random", "analytic" } };

	(void)state;
	for (size_t i = 0; i < HN_COUNT_OF(rows); i++) {
		struct hn_buf text[3], log[3];

		for (int k = 0; k < 3; k++) {
			hn_buf_init(&text[k]);
			hn_buf_init(&log[k]);
		}
		search(rows[i].policy, rows[i].model, 11, 1, NULL, &log[0], &text[0]);
		search(rows[i].policy, rows[i].model, 11, 5, log[0].s, &log[1], &text[1]);
		search(rows[i].policy, rows[i].model, 12, 1, NULL, &log[2], &text[2]);
		assert_int_equal(text[0].n, text[1].n);
		assert_memory_equal(text[0].s, text[1].s, text[0].n);
		assert_string_equal(log[0].s, log[1].s);
		assert_string_not_equal(text[0].s, text[2].s); /* the seed counts */
		for (int k = 0; k < 3; k++) {
			hn_buf_fini(&text[k]);
			hn_buf_fini(&log[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_from_its_log_it_does_the_same),
	};

	return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
