/* The snapshot: found by pair, written atomically, and hostile bytes are refused. */
#include "tests/lib/db_testing.h"

#include <math.h>

#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "db/snapshot/snapshot_int.h"

static struct hn_snapshot *open_snapshot(const char *dir)
{
	struct hn_snapshot *s = NULL;
	struct hn_err err = { 0 };

	ASSERT_OK(hn_snapshot_open(dir, &s, &err), err);
	return s;
}

static void bests_are_found_by_pair(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;

	assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_NOT_FOUND);
	put_workload(db, "w1");
	put_workload(db, "w2");
	append_one(db, make_record("w1", "t1", 500));
	append_one(db, make_record("w1", "t1", 100));
	append_one(db, make_failure("w1", "t1", HN_VERDICT_HANG));
	append_one(db, make_record("w1", "t2", 70));
	append_one(db, make_failure("w2", "t1", HN_VERDICT_HANG));
	ASSERT_OK(hn_db_put_naive(db, "w1", "t1", &(struct hn_naive){ 9000, 0.25 }, &err), err);
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	s = open_snapshot(*state);
	assert_int_equal(hn_snapshot_count(s), 2);
	ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
	assert_string_equal(e.workload.key, "w1");
	assert_string_equal(e.workload.name, "conv");
	assert_string_equal(e.workload.dag_json, "{\"ops\":[]}");
	assert_true(e.workload.flops == 1e9);
	assert_string_equal(e.best.workload, "w1");
	assert_string_equal(e.best.target, "t1");
	assert_string_equal(e.best.steps, "split s0 i0 f=8");
	assert_string_equal(e.best.stamp.codegen, "x86/llvm-22");
	assert_true(e.best.median_ns == 100);
	assert_int_equal(e.best.id, 2);
	assert_int_equal(e.best.build_ns, 11);
	assert_int_equal(e.best.run_ns, 22);
	assert_int_equal(e.best.unix_ms, 1700000000000);
	assert_true(e.best.proved && e.best.verdict == HN_VERDICT_OK);
	assert_int_equal(e.best.n_sample, 0);
	assert_null(e.best.sample_ns);
	assert_true(e.naive.ns == 9000 && fabs(e.naive.share - 0.25) < 1e-9);
	assert_int_equal(e.n_trial, 3);
	assert_int_equal(e.n_failed, 1);
	assert_int_equal(hn_snapshot_find(s, "w1", "t9", &e, &err), -HONE_E_NOT_FOUND);
	assert_string_equal(err.msg,
			    "workload w1 was not tuned for this target");
	assert_int_equal(hn_snapshot_find(s, "w9", "t1", &e, &err), -HONE_E_NOT_FOUND);
	assert_string_equal(err.msg,
			    "workload w9 was not tuned for this target");

	/* A reader keeps its map while the file is replaced. */
	append_one(db, make_record("w1", "t1", 50));
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
	assert_true(e.best.median_ns == 100);
	hn_snapshot_close(s);
	s = open_snapshot(*state);
	ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
	assert_true(e.best.median_ns == 50);
	hn_snapshot_close(s);
	hn_db_close(db);
}

/* Until something is measured the automatic schedule is kept, and never found as a best. */
static void an_automatic_schedule_gives_way(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_arena a;
	struct hn_record best;
	const char *steps;

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	ASSERT_OK(hn_db_put_automatic(db, "w1", "t1", "[1]", &err), err);
	ASSERT_OK(hn_db_put_automatic(db, "w1", "t1", "[2]", &err), err);
	assert_int_equal(hn_db_put_automatic(db, "w9", "t1", "[2]", &err), -HONE_E_NOT_FOUND);
	ASSERT_OK(hn_db_get_automatic(db, "w1", "t1", &a, &steps, &err), err);
	assert_string_equal(steps, "[2]");
	assert_int_equal(hn_db_get_automatic(db, "w1", "t2", &a, &steps, &err),
			 -HONE_E_NOT_FOUND);
	assert_int_equal(hn_db_best(db, "w1", "t1", &a, &best, &err), -HONE_E_NOT_FOUND);
	append_one(db, make_failure("w1", "t1", HN_VERDICT_HANG)); /* its count is kept beside it */
	for (int measured = 0; measured < 2; measured++) {
		if (measured == 1) {
			append_one(db, make_record("w1", "t1", 1e9));
		}
		ASSERT_OK(hn_db_write_snapshot(db, &err), err);
		s = open_snapshot(*state);
		assert_int_equal(hn_snapshot_count(s), 1);
		hn_snapshot_at(s, 0, &e);
		assert_string_equal(e.workload.key, "w1");
		assert_string_equal(e.best.target, "t1");
		assert_int_equal(e.n_trial, 1 + measured);
		assert_true(e.best.median_ns == (measured ? 1e9 : 0));
		assert_string_equal(e.best.steps, measured ? "split s0 i0 f=8" : "[2]");
		assert_int_equal(hn_snapshot_find(s, "w1", "t1", &e, &err),
				 measured ? 0 : -HONE_E_NOT_FOUND);
		hn_snapshot_close(s);
		hn_db_close(db);
		db = open_store(*state); /* its rows are sound */
		assert_int_equal(hn_db_notice(db, &(struct hn_buf){ 0 }), 0);
	}
	hn_db_close(db);
	hn_arena_fini(&a);
}

/* A store that was lost must not take the last answers with it; one that knows better counts. */
static void a_lost_store_keeps_its_answers(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	char command[300];

	put_workload(db, "w1");
	put_workload(db, "w2");
	append_one(db, make_record("w1", "t1", 100));
	append_one(db, make_record("w2", "t1", 100));
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
	snprintf(command, sizeof(command), "rm '%s'/hone.sqlite*", (char *)*state);
	assert_int_equal(system(command), 0);
	db = open_store(*state);
	put_workload(db, "w2");
	append_one(db, make_record("w2", "t1", 70));
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
	s = open_snapshot(*state);
	assert_int_equal(hn_snapshot_count(s), 2);
	ASSERT_OK(hn_snapshot_find(s, "w1", "t1", &e, &err), err);
	assert_true(e.best.median_ns == 100);
	ASSERT_OK(hn_snapshot_find(s, "w2", "t1", &e, &err), err);
	assert_true(e.best.median_ns == 70);
	hn_snapshot_close(s);
}

/* What times were taken with goes from the store into the snapshot, and is warm where nobody
 * said so. */
static void caches_are_told(void **state)
{
	static const char *const cache[] = { "cold", "warm", NULL };
	static const char *const want[] = { "cold", "warm", "warm" };
	struct hn_db *db = open_store(*state);
	struct hn_workload_row w = { .name = "n", .dag_json = "{}" };
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	char key[3][4];

	for (int i = 0; i < 3; i++) {
		snprintf(key[i], sizeof(key[i]), "w%d", i);
		w.key = key[i];
		w.cache = cache[i];
		ASSERT_OK(hn_db_put_workload(db, &w, &err), err);
		append_one(db, make_record(key[i], "t1", 100));
	}
	w.key = "w3";
	w.cache = "tepid";
	assert_true(hn_db_put_workload(db, &w, &err) < 0);
	ASSERT_OK(hn_db_write_snapshot(db, &err), err);
	hn_db_close(db);
	s = open_snapshot(*state);
	for (int i = 0; i < 3; i++) {
		ASSERT_OK(hn_snapshot_find(s, key[i], "t1", &e, &err), err);
		assert_string_equal(e.workload.cache, want[i]);
	}
	hn_snapshot_close(s);
}

/* Without the syncs of hn_file_replace, which cost seconds over thousands of files. */
static void write_bytes(const char *dir, const char *bytes, size_t n)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/best.snapshot", dir);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void many_entries_are_all_found(void **state)
{
	static struct hn_snapshot_entry entry[3000];
	static char key[3000][16];
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_buf buf;

	hn_buf_init(&buf);
	for (uint32_t n = 0; n <= 3000; n = n * 3 + 1) {
		for (uint32_t i = 0; i < n; i++) {
			snprintf(key[i], sizeof(key[i]), "w%u", i / 2);
			entry[i].workload = (struct hn_workload_row){ .key = key[i] };
			entry[i].best = make_record(key[i], i % 2 ? "t1" : "t2", i + 1);
		}
		hn_buf_reset(&buf);
		hn_snapshot_write(entry, n, NULL, "", &buf);
		assert_false(buf.failed);
		write_bytes(*state, buf.s, buf.n);
		s = open_snapshot(*state);
		assert_int_equal(hn_snapshot_count(s), n);
		for (uint32_t i = 0; i < n; i++) {
			ASSERT_OK(hn_snapshot_find(s, key[i], i % 2 ? "t1" : "t2", &e,
						   &err),
				  err);
			assert_true(e.best.median_ns == i + 1);
			assert_string_equal(e.workload.name, "");
		}
		assert_int_equal(hn_snapshot_find(s, "w", "t1", &e, &err),
				 -HONE_E_NOT_FOUND);
		hn_snapshot_close(s);
	}
	hn_buf_fini(&buf);
}

static void small_snapshot(struct hn_buf *buf)
{
	struct hn_snapshot_entry entry[3] = { 0 };

	for (int i = 0; i < 3; i++) {
		entry[i].workload = (struct hn_workload_row){ .key = i == 2 ? "w2" : "w1",
							      .name = "n",
							      .dag_json = "{}",
							      .flops = 8 };
		entry[i].best =
			make_record(entry[i].workload.key, i ? "t1" : "t2", i + 1);
	}
	hn_snapshot_write(entry, 3, NULL, "", buf);
}

/* Everything a reader can do to a file that opened. */
static void read_everything(const struct hn_snapshot *s)
{
	struct hn_snapshot_entry e, found;
	struct hn_err err;

	for (uint32_t i = 0; i < hn_snapshot_count(s); i++) {
		hn_snapshot_at(s, i, &e);
		assert_true(strlen(e.workload.dag_json) + strlen(e.best.steps) < 100000);
		(void)!hn_snapshot_find(s, e.workload.key, e.best.target, &found, &err);
	}
	(void)!hn_snapshot_find(s, "w1", "none", &found, &err);
}

static void damage_is_refused(void **state)
{
	struct hn_rng r = hn_rng_stream(3, 0, 0, 0);
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_buf buf;

	hn_buf_init(&buf);
	small_snapshot(&buf);
	write_bytes(*state, buf.s, buf.n);
	hn_snapshot_close(open_snapshot(*state));
	for (size_t cut = 0; cut < buf.n; cut += 7) {
		write_bytes(*state, buf.s, cut);
		assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_CORRUPT);
	}
	for (int i = 0; i < 500; i++) {
		size_t at = hn_rng_below(&r, buf.n);
		char flip = (char)(1 << hn_rng_below(&r, 8));
		int rc;

		buf.s[at] ^= flip;
		write_bytes(*state, buf.s, buf.n);
		rc = hn_snapshot_open(*state, &s, &err);
		assert_true(rc == -HONE_E_CORRUPT || rc == -HONE_E_VERSION);
		buf.s[at] ^= flip;
	}
	hn_buf_fini(&buf);
}

static void put_number(char *at, uint64_t v, int n_byte)
{
	for (int b = 0; b < n_byte; b++) {
		at[b] = (char)(v >> 8 * b);
	}
}

/* Where the texts of an entry lie in the file, its checksum is made right again. */
static void seal_entry(char *file, size_t n, char *entry)
{
	for (size_t t = 0; t < HN_SNAPSHOT_N_TEXT; t++) {
		uint64_t at = hn_snapshot_u32(entry + t * HN_SNAPSHOT_TEXT_BYTES);

		if (at + hn_snapshot_u32(entry + t * HN_SNAPSHOT_TEXT_BYTES + 4) >= n) {
			return;
		}
	}
	put_number(entry + HN_SNAPSHOT_AT_ENTRY_CHECKSUM, hn_snapshot_entry_checksum(file, entry),
		   8);
}

static void seal(char *file, size_t n)
{
	uint64_t at = HN_SNAPSHOT_HEADER_BYTES + (uint64_t)HN_SNAPSHOT_SLOT_BYTES *
			      hn_snapshot_u32(file + HN_SNAPSHOT_AT_N_SLOT);

	for (uint32_t i = hn_snapshot_u32(file + HN_SNAPSHOT_AT_N_ENTRY);
	     i > 0 && at + HN_SNAPSHOT_ENTRY_BYTES <= n; i--, at += HN_SNAPSHOT_ENTRY_BYTES) {
		seal_entry(file, n, file + at);
	}
	put_number(file + HN_SNAPSHOT_AT_BYTES, n, 8);
	put_number(file + HN_SNAPSHOT_AT_CHECKSUM, hn_snapshot_checksum(file, n), 8);
}

static void forged_tables_are_refused(void **state)
{
	static const uint32_t forged[][2] = {
		/* entries, slots */
		{ 3, 0 },	   { 3, 3 },	    { 0, 1u << 20 },
		{ 3, 1u << 20 },   { 3, 1u << 31 }, { 1u << 20, 8 },
		{ 0xffffffff, 8 }, { 4, 8 },	    { 3, 0xffffffff },
	};
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_buf buf;

	hn_buf_init(&buf);
	for (size_t i = 0; i < HN_COUNT_OF(forged); i++) {
		hn_buf_reset(&buf);
		small_snapshot(&buf);
		put_number(buf.s + HN_SNAPSHOT_AT_N_ENTRY, forged[i][0], 4);
		put_number(buf.s + HN_SNAPSHOT_AT_N_SLOT, forged[i][1], 4);
		seal(buf.s, buf.n);
		write_bytes(*state, buf.s, buf.n);
		assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_CORRUPT);
	}
	hn_buf_reset(&buf);
	small_snapshot(&buf);
	seal(buf.s, buf.n);
	write_bytes(*state, buf.s, buf.n);
	hn_snapshot_close(open_snapshot(*state));
	hn_buf_fini(&buf);
}

/* With the checksum made right again, as one who means harm would: refused or harmless.
 */
static void forged_bytes_never_crash(void **state)
{
	struct hn_rng r = hn_rng_stream(4, 0, 0, 0);
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_buf buf;
	char *copy;
	int n_open = 0;

	hn_buf_init(&buf);
	small_snapshot(&buf);
	copy = malloc(buf.n);
	for (int i = 0; i < 3000; i++) {
		memcpy(copy, buf.s, buf.n);
		for (uint64_t k = hn_rng_below(&r, 4); k < 4; k++) {
			size_t at = 8 + hn_rng_below(&r, buf.n - 8);

			copy[at] = (char)(hn_rng_below(&r, 2) ? hn_rng_u64(&r) : 0xff);
		}
		seal(copy, buf.n);
		write_bytes(*state, copy, buf.n);
		if (hn_snapshot_open(*state, &s, &err) == 0) {
			n_open++;
			read_everything(s);
			hn_snapshot_close(s);
		}
	}
	print_message("%d of 3000 forgeries opened\n", n_open);
	assert_in_range(n_open, 100, 2900); /* both ways were walked */
	free(copy);
	hn_buf_fini(&buf);
}

/* One that is mapped reads no more than it is asked for, and no damage of that passes. */
static void entries_are_checked_when_asked_for(void **state)
{
	struct hn_snapshot_entry e;
	struct hn_err err = { 0 };
	struct hn_snapshot *s;
	struct hn_buf buf;
	uint32_t first, n, n_found = 0, n_told = 0;

	hn_buf_init(&buf);
	small_snapshot(&buf);
	for (size_t at = HN_SNAPSHOT_HEADER_BYTES; at < buf.n; at++) {
		int rc;

		buf.s[at] ^= 0x20;
		write_bytes(*state, buf.s, buf.n);
		rc = hn_snapshot_map(*state, &s, &err);
		buf.s[at] ^= 0x20;
		if (rc != 0) {
			assert_int_equal(rc, -HONE_E_CORRUPT);
			continue;
		}
		rc = hn_snapshot_find(s, "w2", "t1", &e, &err);
		if (rc == 0) {
			assert_true(e.best.median_ns == 3);
			assert_string_equal(e.best.steps, "split s0 i0 f=8");
			n_found++;
		} else {
			assert_int_equal(rc, -HONE_E_CORRUPT);
			n_told++;
		}
		hn_snapshot_close(s);
	}
	assert_in_range(n_found, 100, buf.n); /* other entries' */
	assert_in_range(n_told, 100, buf.n);
	write_bytes(*state, buf.s, buf.n);
	ASSERT_OK(hn_snapshot_map(*state, &s, &err), err);
	ASSERT_OK(hn_snapshot_range(s, "w1", &first, &n, &err), err);
	assert_int_equal(first, 0);
	assert_int_equal(n, 2);
	ASSERT_OK(hn_snapshot_range(s, "w", &first, &n, &err), err);
	assert_int_equal(n, 0);
	ASSERT_OK(hn_snapshot_lower(s, "w2", &first, &err), err);
	assert_int_equal(first, 2);
	ASSERT_OK(hn_snapshot_lower(s, "x", &first, &err), err);
	assert_int_equal(first, 3);
	hn_snapshot_close(s);
	hn_buf_fini(&buf);
}

static void directories_and_versions_are_refused(void **state)
{
	struct hn_err err = { 0 };
	struct hn_snapshot *s = NULL;
	struct hn_buf buf;
	char path[300];

	hn_buf_init(&buf);
	small_snapshot(&buf);
	buf.s[HN_SNAPSHOT_AT_VERSION] = HN_SNAPSHOT_VERSION + 1;
	write_bytes(*state, buf.s, buf.n);
	assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_VERSION);
	snprintf(path, sizeof(path), "%s/best.snapshot", (char *)*state);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_CORRUPT);
	assert_null(s);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* into which nobody writes */
	alarm(20);
	assert_int_equal(hn_snapshot_open(*state, &s, &err), -HONE_E_CORRUPT);
	alarm(0);
	assert_null(s);
	hn_buf_fini(&buf);
}

#define SNAPSHOT_TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SNAPSHOT_TEST(a_lost_store_keeps_its_answers),
		SNAPSHOT_TEST(bests_are_found_by_pair),
		SNAPSHOT_TEST(an_automatic_schedule_gives_way),
		SNAPSHOT_TEST(caches_are_told),
		SNAPSHOT_TEST(many_entries_are_all_found),
		SNAPSHOT_TEST(damage_is_refused),
		SNAPSHOT_TEST(forged_tables_are_refused),
		SNAPSHOT_TEST(forged_bytes_never_crash),
		SNAPSHOT_TEST(entries_are_checked_when_asked_for),
		SNAPSHOT_TEST(directories_and_versions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
