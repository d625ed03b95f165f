/* What the tests of the store share: a directory of their own and records to put in it.
 */
#ifndef HN_TESTS_DB_TESTING_H
#define HN_TESTS_DB_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "db/db.h"

#define ASSERT_OK(call, err)                                                             \
	do {                                                                             \
		if ((call) != 0) {                                                       \
			fail_msg("%s: %s", #call, (err).msg);                            \
		}                                                                        \
	} while (0)

static inline int make_dir(void **state)
{
	*state = strdup("/tmp/hone db-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	char command[200];

	snprintf(command, sizeof(command), "chmod -R u+w '%s' && rm -rf '%s'",
		 (char *)*state, (char *)*state);
	free(*state);
	return system(command);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

static inline struct hn_db *open_store(const char *dir)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;

	ASSERT_OK(hn_db_open(dir, &db, &err), err);
	return db;
}

static inline void put_workload(struct hn_db *db, const char *key)
{
	struct hn_err err = {0};
	struct hn_workload_row w = {
		.key = key, .name = "conv", .dag_json = "{\"ops\":[]}", .flops = 1e9};

	ASSERT_OK(hn_db_put_workload(db, &w, &err), err);
}

static const double testing_samples[] = {1000.5, 1001, 1e-3};

/* An OK record; its strings are literals. */
static inline struct hn_record make_record(const char *workload, const char *target,
					   double median_ns)
{
	return (struct hn_record){
		.workload = workload,
		.target = target,
		.steps = "split s0 i0 f=8",
		.origin = "guard",
		.verdict = HN_VERDICT_OK,
		.detail = "",
		.median_ns = median_ns,
		.n_sample = 3,
		.sample_ns = testing_samples,
		.build_ns = 11,
		.run_ns = 22,
		.unix_ms = 1700000000000,
		.proved = true,
		.certificate = "{\"format\":\"hone-certificate/1\"}",
		.stamp = {"0.1.0", "x86/llvm-22", "board-a"},
		.descent = {.parent = {0xfedcba9876543210, 3},
			    .changes = "mutate:unroll crossover",
			    .predicted_ns = 900.5,
			    .model = "learned"},
	};
}

static inline struct hn_record make_failure(const char *workload, const char *target,
					    enum hn_verdict verdict)
{
	struct hn_record r = make_record(workload, target, 0);

	r.verdict = verdict;
	r.detail = "a reason";
	r.n_sample = 0;
	r.sample_ns = NULL;
	r.proved = false;
	r.certificate = NULL;
	return r;
}

static inline int64_t append_one(struct hn_db *db, struct hn_record r)
{
	struct hn_err err = {0};

	ASSERT_OK(hn_db_append(db, &r, 1, &err), err);
	return r.id;
}

static inline int count_each(void *ctx, const struct hn_record *r)
{
	(void)r;
	++*(int *)ctx;
	return 0;
}

static inline int count_records(struct hn_db *db, const char *workload,
				const char *target)
{
	struct hn_err err = {0};
	int n = 0;

	ASSERT_OK(hn_db_records(db, workload, target, count_each, &n, &err), err);
	return n;
}

#endif
