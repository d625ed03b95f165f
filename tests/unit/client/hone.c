/* libhone: answers from a snapshot, misses that say why, a header that C89 takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "db/snapshot/snapshot.h"
#include "hone/hone.h"
#include "loopstate/read/dag_read.h"
#include "target/target.h"

static const char text[] =
	"mm(float32 A[4,8], float32 B[8,4]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";
static const char other[] =
	"mm(float32 A[4,8], float32 B[8,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }";
static char dir[64];

#define N_DAMAGED 10000

static const char *dag_text(struct hn_arena *a)
{
	const struct hn_dag *dag;
	struct hn_buf b;
	const char *ret;

	hn_buf_init(&b);
	assert_int_equal(hn_dag_parse("dag", text, strlen(text), 0, a, &dag, NULL), 0);
	hn_dag_write_json(dag, &b);
	ret = hn_arena_strdup(a, b.s);
	hn_buf_fini(&b);
	return ret;
}

static int set_up(void **state)
{
	char key[65], cold[65], path[96];
	struct hn_snapshot_entry e[2];
	struct hn_target host;
	struct hn_buf b, line;
	struct hn_arena a;
	struct hn_err err;
	int rc;

	(void)state;
	strcpy(dir, "/tmp/hone-lib-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(hone_workload_key(text, strlen(text), key, NULL), 0);
	hn_arena_init(&a, 0);
	hn_target_host(&a, &host);
	hn_buf_init(&line);
	hn_target_print(&host, &line);
	e[0] = (struct hn_snapshot_entry){
		.workload = { .key = key,
			      .name = "mm",
			      .dag_json = dag_text(&a),
			      .flops = 256,
			      .cache = "warm" },
		.best = { .workload = key,
			  .target = line.s,
			  .steps = "[]",
			  .detail = "",
			  .verdict = HN_VERDICT_OK,
			  .median_ns = 12.5,
			  .proved = true,
			  .certificate = "{}",
			  .stamp = { "h", "c", "b" } },
		.naive.ns = 100,
		.n_trial = 7,
		.n_failed = 2
	};
	assert_int_equal(hone_task_key(text, strlen(text), HONE_COLD, cold, NULL), 0);
	e[1] = e[0];
	e[1].workload.key = e[1].best.workload = cold;
	e[1].workload.cache = "cold";
	e[1].best.median_ns = 99;
	hn_buf_init(&b);
	hn_snapshot_write(e, 2, NULL, "", &b);
	snprintf(path, sizeof(path), "%s/best.snapshot", dir);
	rc = hn_file_replace(path, b.s, b.n, &err);
	hn_buf_fini(&b);
	hn_buf_fini(&line);
	hn_arena_fini(&a);
	return rc;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void test_queries(void **state)
{
	struct hone_store *store;
	struct hone_answer best;
	struct hone_error error;
	char key[65];

	(void)state;
	assert_int_equal(hone_store_open(dir, &store, &error), 0);
	assert_int_equal(hone_store_count(store), 2);
	assert_int_equal(hone_query_dag(store, text, strlen(text), NULL, &best, &error),
			 0);
	assert_true(best.median_ns == 12.5 && best.naive_ns == 100 && best.flops == 256);
	assert_int_equal(best.n_trial, 7);
	assert_int_equal(best.n_failed, 2);
	assert_string_equal(best.steps, "[]");
	assert_int_equal(hone_workload_key(text, strlen(text), key, NULL), 0);
	assert_string_equal(best.workload, key);
	assert_string_equal(best.cache, "warm");
	assert_int_equal(hone_query_key(store, key, "native", &best, &error), 0);
	assert_int_equal(hone_query_dag(store, other, strlen(other), NULL, &best, &error),
			 HONE_NOT_FOUND);
	assert_true(strlen(error.text) > 10);
	assert_string_equal(best.near, "");
	assert_int_equal(best.match, HONE_EXACT);

	/* Another machine of the same instructions is near, and says in what it differs. */
	assert_int_equal(hone_query_key(store, key, "cpu -num_cores=77", &best, &error), 0);
	assert_non_null(strstr(best.near, "num_cores "));
	assert_int_equal(best.match, HONE_CLASS);
	assert_non_null(strstr(best.near, ", here 77"));
	assert_null(strstr(best.near, "l1_bytes"));
	assert_true(best.median_ns == 12.5);
	assert_int_equal(hone_query_key(store, key, "cuda", &best, &error), HONE_NOT_FOUND);
	assert_non_null(strstr(error.text, "--target"));

	/* So is the beginning of a key, as long as it is of one only. */
	key[6] = '\0';
	assert_int_equal(hone_query_key(store, key, NULL, &best, &error), 0);
	key[3] = '\0';
	assert_int_equal(hone_query_key(store, key, NULL, &best, &error), HONE_INVALID);
	assert_int_equal(hone_query_key(store, "", NULL, &best, &error), HONE_INVALID);
	assert_int_equal(hone_query_key(store, "zzzzzz", NULL, &best, &error), HONE_INVALID);
	assert_int_equal(hone_workload_key(text, strlen(text), key, NULL), 0);
	assert_int_equal(hone_query_key(store, key, "toaster", &best, &error),
			 HONE_INVALID);
	assert_int_equal(hone_query_dag(store, "f(", 2, NULL, &best, &error),
			 HONE_INVALID);
	assert_int_equal(hone_query_dag(store, "f(", 2, NULL, &best, NULL), HONE_INVALID);
	hone_store_close(store);
	hone_store_close(NULL);
}

/* What was measured, and elsewhere in proportion: a machine that multiplies slower takes
 * longer. */
static void test_expectations(void **state)
{
	struct hone_store *store;
	struct hone_answer best, other_store = { 0 };
	struct hone_error error;
	char key[65];
	double here = 0, slow = 0;

	(void)state;
	assert_int_equal(hone_store_open(dir, &store, &error), 0);
	assert_int_equal(hone_workload_key(text, strlen(text), key, NULL), 0);
	assert_int_equal(hone_query_key(store, key, NULL, &best, &error), 0);
	assert_int_equal(hone_expect(store, &best, NULL, &here, &error), 0);
	assert_true(here == 12.5);
	assert_int_equal(hone_expect(store, &best, "native -fma_latency=40 -fma_per_cycle=1",
				     &slow, &error),
			 0);
	assert_true(slow > here);
	best.steps = "[[\"SP\"]]";
	assert_int_equal(hone_expect(store, &best, NULL, &here, &error), HONE_INVALID);
	other_store.workload = "no such key";
	assert_int_equal(hone_expect(store, &other_store, NULL, &here, &error), HONE_NOT_FOUND);
	hone_store_close(store);
}

/* The same computation under other conditions is another task; one nobody tuned is a miss. */
static void test_tasks(void **state)
{
	struct hone_store *store;
	struct hone_answer best;
	struct hone_error error;
	char key[65], plain[65];

	(void)state;
	assert_int_equal(hone_store_open(dir, &store, &error), 0);
	assert_int_equal(hone_task_key(text, strlen(text), HONE_COLD, key, &error), 0);
	assert_int_equal(hone_query_key(store, key, NULL, &best, &error), 0);
	assert_true(best.median_ns == 99);
	assert_string_equal(best.cache, "cold");
	assert_int_equal(hone_task_key(text, strlen(text), HONE_COLD | HONE_BITWISE, key, &error),
			 0);
	assert_int_equal(hone_query_key(store, key, NULL, &best, &error), HONE_NOT_FOUND);
	assert_int_equal(hone_task_key(text, strlen(text), 0, key, &error), 0);
	assert_int_equal(hone_workload_key(text, strlen(text), plain, &error), 0);
	assert_string_equal(key, plain);
	assert_int_equal(hone_task_key(text, strlen(text), HONE_NO_ZEROS, key, &error), 0);
	assert_string_not_equal(key, plain);
	assert_int_equal(hone_task_key(text, strlen(text), HONE_BITWISE, plain, &error), 0);
	assert_string_not_equal(key, plain);
	assert_int_equal(hone_task_key(text, strlen(text), 0x1fc, key, &error), 0);
	assert_string_equal(key, plain);
	assert_int_equal(hone_task_key(text, strlen(text), 512, key, &error), HONE_INVALID);
	assert_non_null(strstr(error.text, "marks: 0x200"));
	hone_store_close(store);
}

static void test_no_store(void **state)
{
	struct hone_store *store;
	struct hone_error error;
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(hone_store_open(path, &store, &error), HONE_NOT_FOUND);
	snprintf(path, sizeof(path), "%s/best.snapshot", dir);
	assert_int_equal(hn_file_replace(path, "garbage", 7, NULL), 0);
	assert_int_equal(hone_store_open(dir, &store, &error), HONE_CORRUPT);
}

/* One question to a store that may be damaged: its answer, or a refusal. */
static bool is_right(const struct hone_store *store, const char *key, double median_ns)
{
	struct hone_answer best;
	struct hone_error error;
	int rc = hone_query_key(store, key, NULL, &best, &error);

	if (rc != 0) {
		assert_int_equal(rc, HONE_CORRUPT);
		assert_non_null(strstr(error.text, "best.snapshot: damaged"));
		return false;
	}
	assert_true(best.median_ns == median_ns);
	assert_string_equal(best.steps, "[]");
	return true;
}

static void write_snapshot(const char *bytes, size_t n)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/best.snapshot", dir);
	unlink(path); /* some file systems sync what is cut to nothing */
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Cut, or a byte is another: refused with a reason, or an answer that nothing was done to. */
static void test_damage(void **state)
{
	struct hn_rng r = hn_rng_stream(18, 1, 0, 0);
	uint32_t n_opened = 0, n_right = 0;
	struct hone_store *store;
	struct hone_error error;
	char path[96], key[65], cold[65];
	struct hn_buf b;

	(void)state;
	hn_buf_init(&b);
	snprintf(path, sizeof(path), "%s/best.snapshot", dir);
	assert_int_equal(hn_file_read(path, 1 << 20, &b, NULL), 0);
	assert_int_equal(hone_workload_key(text, strlen(text), key, NULL), 0);
	assert_int_equal(hone_task_key(text, strlen(text), HONE_COLD, cold, NULL), 0);
	for (int i = 0; i < N_DAMAGED; i++) {
		size_t at = hn_rng_below(&r, b.n);
		char was = b.s[at];
		int rc;

		b.s[at] ^= (char)(1 + hn_rng_below(&r, 255));
		write_snapshot(b.s, i % 4 == 0 ? at : b.n);
		b.s[at] = was;
		rc = hone_store_open(dir, &store, &error);
		if (rc == 0) {
			n_opened++;
			n_right += is_right(store, key, 12.5);
			n_right += is_right(store, cold, 99);
			hone_store_close(store);
		} else {
			assert_true(rc == HONE_CORRUPT || rc == HONE_VERSION_MISMATCH);
			assert_non_null(strstr(error.text, "best.snapshot"));
		}
	}
	print_message("%u of %d opened, %u answers\n", n_opened, N_DAMAGED, n_right);
	assert_in_range(n_right, 1000, n_opened);
	hn_buf_fini(&b);
}

/* Of a later hone: it says so, not that it is damaged. */
static void test_newer(void **state)
{
	char bytes[400] = "HONEBEST";
	struct hone_store *store = NULL;
	struct hone_error error;

	(void)state;
	bytes[8] = 99;
	write_snapshot(bytes, sizeof(bytes));
	assert_int_equal(hone_store_open(dir, &store, &error), HONE_VERSION_MISMATCH);
	assert_non_null(strstr(error.text, "snapshot version 99"));
	assert_null(store);
}

static void test_c89(void **state)
{
	char command[400];

	(void)state;
	snprintf(command, sizeof(command),
		 "echo '#include \"hone/hone.h\"' | '" HONE_CC "' -std=c89 -pedantic-errors -Wall "
		 "-Werror "
		 "-fsyntax-only -I'%s/include' -x c -",
		 HONE_SOURCE_DIR);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_queries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_expectations, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_store, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer, set_up, tear_down),
		cmocka_unit_test(test_c89),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
