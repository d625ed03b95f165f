/* Where a store may be: one process, a writable local directory, and a disk that fills
 * up. */
#include "tests/lib/db_testing.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "db/sqlite/sqlite_int.h"

static void a_missing_directory_is_made(void **state)
{
	char dir[200];

	snprintf(dir, sizeof(dir), "%s/a/b", (char *)*state);
	hn_db_close(open_store(dir));
	hn_db_close(open_store(dir));
	hn_db_close(NULL);
}

static void a_read_only_directory_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;
	char line[300];

	assert_int_equal(chmod(*state, 0555), 0);
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_PERMISSION);
	snprintf(line, sizeof(line),
		 "%s: the store directory is read-only (mode 555); make it writable or "
		 "choose "
		 "another",
		 (char *)*state);
	assert_string_equal(err.msg, line);
	assert_null(db);
}

static void a_directory_of_others_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;

	assert_int_equal(chmod(*state, 0777), 0);
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_PERMISSION);
	assert_non_null(strstr(err.msg, "others may write there (mode 777); chmod 700 it"));
	assert_int_equal(chmod(*state, 01777), 0); /* nobody can swap names there */
	hn_db_close(open_store(*state));
	if (geteuid() == 0) {
		assert_int_equal(chmod(*state, 0700), 0);
		assert_int_equal(chown(*state, 65534, 65534), 0);
		assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_PERMISSION);
		assert_non_null(strstr(err.msg, "belongs to user 65534; use a directory"));
		assert_int_equal(chown(*state, 0, 0), 0);
	}
	assert_null(db);
}

/* A store whose file goes away under it takes nothing more, and goes on when it is put back. */
static void a_file_that_went_away_is_noticed(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_record r = make_record("w1", "t1", 5), best;
	struct hn_arena a;
	char path[300], away[310];

	hn_arena_init(&a, 0);
	put_workload(db, "w1");
	append_one(db, r);
	snprintf(path, sizeof(path), "%s/hone.sqlite", (char *)*state);
	snprintf(away, sizeof(away), "%s/away", (char *)*state);
	assert_int_equal(rename(path, away), 0);
	for (int copy = 0; copy < 2; copy++) { /* gone; then another in its place */
		assert_int_equal(hn_db_append(db, &r, 1, &err), -HONE_E_STORE);
		assert_non_null(strstr(err.msg, "deleted or replaced while honed had it open"));
		assert_int_equal(hn_db_best(db, "w1", "t1", &a, &best, &err), -HONE_E_STORE);
		ASSERT_OK(hn_file_replace(path, "x", 1, &err), err);
	}
	assert_int_equal(rename(away, path), 0);
	append_one(db, r);
	assert_int_equal(count_records(db, NULL, NULL), 2);
	hn_arena_fini(&a);
	hn_db_close(db);
}

static void a_file_in_the_way_is_refused(void **state)
{
	struct hn_err err = {0};
	struct hn_db *db = NULL;
	char path[200];

	snprintf(path, sizeof(path), "%s/f", (char *)*state);
	ASSERT_OK(hn_file_replace(path, "x", 1, &err), err);
	assert_true(hn_db_open(path, &db, &err) < 0);
	assert_non_null(strstr(err.msg, path));
	snprintf(path, sizeof(path), "%s/hone.sqlite", (char *)*state);
	ASSERT_OK(hn_file_replace(path, "this is no database, but it is long", 36, &err),
		  err);
	assert_int_equal(hn_db_open(*state, &db, &err), -HONE_E_CORRUPT);
	assert_non_null(strstr(err.msg, path));
}

static void a_second_process_is_refused(void **state)
{
	struct hn_db *db = open_store(*state), *second = NULL;
	struct hn_err err = {0};
	char holder[40];
	int status;
	pid_t pid;

	snprintf(holder, sizeof(holder), "in use by process %ld;", (long)getpid());
	pid = fork();
	if (pid == 0) {
		int rc = hn_db_open(*state, &second, &err);

		_exit(rc == -HONE_E_BUSY && strstr(err.msg, holder) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	hn_db_close(db);
	hn_db_close(open_store(*state));
}

static void network_file_systems_are_known(void **state)
{
	(void)state;
	assert_string_equal(hn_sqlite_place_remote(0x6969), "NFS");
	assert_string_equal(hn_sqlite_place_remote(0xff534d42), "CIFS");
	assert_string_equal(hn_sqlite_place_remote(0x65735546), "FUSE");
	assert_null(hn_sqlite_place_remote(0xef53));     /* ext4 */
	assert_null(hn_sqlite_place_remote(0x01021994)); /* tmpfs */
}

static int mount_small(const char *dir, const char *size)
{
	if (unshare(CLONE_NEWNS | (geteuid() != 0 ? CLONE_NEWUSER : 0)) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", dir, "tmpfs", 0, size) != 0) {
		return 77;
	}
	return 0;
}

/* Append records with so many bytes of steps, a commit each, until the disk is full; how many went
 * in, or -1. */
static int fill(struct hn_db *db, size_t bytes)
{
	struct hn_record r = make_record("w1", "t1", 5);
	struct hn_err err = {0};
	static char steps[20001];
	int n = 0, rc;

	put_workload(db, "w1");
	memset(steps, 'x', bytes);
	steps[bytes] = '\0';
	r.steps = steps;
	do {
		rc = hn_db_append(db, &r, 1, &err);
		n += rc == 0;
	} while (rc == 0 && n < 10000);
	if (rc != -HONE_E_DISK_FULL || !strstr(err.msg, "the disk is full")) {
		fprintf(stderr, "rc %d after %d records: %s\n", rc, n, err.msg);
		return -1;
	}
	return n;
}

/* In a child with a mount of its own; answers the exit status. */
static int fill_disk(const char *dir)
{
	struct hn_err err = {0};
	struct hn_db *db;
	int n;

	if (mount_small(dir, "size=1m") != 0) {
		return 77;
	}
	db = open_store(dir);
	n = fill(db, 19999);
	if (n < 0) {
		return 1;
	}
	if (hn_db_write_snapshot(db, &err) == 0) {
		return 2;
	}
	hn_db_close(db);
	db = open_store(dir);
	return count_records(db, NULL, NULL) == n ? 0 : 3;
}

/* The log holds each page as often as it was written, and may not take the disk for that. */
static int fill_by_small_commits(const char *dir)
{
	const int bytes = 500, disk = 2 << 20;
	struct hn_db *db;
	int n;

	if (mount_small(dir, "size=2m") != 0) {
		return 77;
	}
	db = open_store(dir);
	n = fill(db, (size_t)bytes);
	if (n * bytes < disk / 3) {
		fprintf(stderr, "full after %d records of %d bytes\n", n, bytes);
		return 1;
	}
	hn_db_close(db);
	db = open_store(dir);
	return count_records(db, NULL, NULL) == n ? 0 : 3;
}

static void in_child(int (*test)(const char *dir), const char *dir)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		_exit(test(dir));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("no mounts allowed here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void a_full_disk_loses_nothing_acknowledged(void **state)
{
	in_child(fill_disk, *state);
}

static void the_log_leaves_the_disk_to_the_store(void **state)
{
	in_child(fill_by_small_commits, *state);
}

#define PLACE_TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(a_missing_directory_is_made),
		PLACE_TEST(a_read_only_directory_is_refused),
		PLACE_TEST(a_directory_of_others_is_refused),
		PLACE_TEST(a_file_that_went_away_is_noticed),
		PLACE_TEST(a_file_in_the_way_is_refused),
		PLACE_TEST(a_second_process_is_refused),
		PLACE_TEST(network_file_systems_are_known),
		PLACE_TEST(a_full_disk_loses_nothing_acknowledged),
		PLACE_TEST(the_log_leaves_the_disk_to_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
