/* Acknowledged means on disk: the process is killed between appends, syncs are counted,
 * and writes and syncs are made to fail one by one.
 *
 * A killed process leaves the page cache alive, so the kill alone would pass without
 * syncs; the counting VFS is what shows that none is skipped.
 */
#include "tests/lib/db_testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "db/sqlite/sqlite_int.h"

/* A VFS in front of the real one, which counts and fails; one for the program. */
struct shim_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

static struct {
	sqlite3_vfs vfs, *real;
	sqlite3_io_methods methods;
	int n_sync, n_write;
	int fail_sync, fail_write; /* this one fails, counted down; 0 = none */
	int failure;		   /* with this code */
} shim;

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct shim_file *)f)->real;
}

static int shim_close(sqlite3_file *f)
{
	return real_of(f)->pMethods->xClose(real_of(f));
}

static int shim_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	shim.n_write++;
	if (shim.fail_write > 0 && --shim.fail_write == 0) {
		return shim.failure;
	}
	return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}

static int shim_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int shim_sync(sqlite3_file *f, int flags)
{
	shim.n_sync++;
	if (shim.fail_sync > 0 && --shim.fail_sync == 0) {
		return shim.failure;
	}
	return real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int shim_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int shim_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int shim_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int shim_reserved(sqlite3_file *f, int *held)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), held);
}

static int shim_control(sqlite3_file *f, int op, void *arg)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int shim_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int shim_device(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
		     int *out)
{
	struct shim_file *s = (struct shim_file *)f;
	int rc;

	(void)vfs;
	s->real = (sqlite3_file *)(s + 1);
	rc = shim.real->xOpen(shim.real, name, s->real, flags, out);
	s->base.pMethods = s->real->pMethods ? &shim.methods : NULL;
	return rc;
}

static void shim_install(void)
{
	shim.real = sqlite3_vfs_find(NULL);
	shim.vfs = *shim.real;
	shim.vfs.zName = "shim";
	shim.vfs.pNext = NULL;
	shim.vfs.szOsFile = (int)sizeof(struct shim_file) + shim.real->szOsFile;
	shim.vfs.xOpen = shim_open;
	/* Version 1: no shared memory, which the store must not need. */
	shim.methods = (sqlite3_io_methods){
		.iVersion = 1,
		.xClose = shim_close,
		.xRead = shim_read,
		.xWrite = shim_write,
		.xTruncate = shim_truncate,
		.xSync = shim_sync,
		.xFileSize = shim_size,
		.xLock = shim_lock,
		.xUnlock = shim_unlock,
		.xCheckReservedLock = shim_reserved,
		.xFileControl = shim_control,
		.xSectorSize = shim_sector,
		.xDeviceCharacteristics = shim_device,
	};
	assert_int_equal(sqlite3_vfs_register(&shim.vfs, /* default: */ 1), SQLITE_OK);
}

static int reset_shim(void **state)
{
	shim.n_sync = shim.n_write = shim.fail_sync = shim.fail_write = 0;
	return make_dir(state);
}

static void every_acknowledgement_is_synced(void **state)
{
	struct hn_db *db = open_store(*state);
	struct hn_err err = {0};
	struct hn_record batch[32];
	char json[20];

	put_workload(db, "w1");
	for (int i = 0; i < 20; i++) {
		int before = shim.n_sync;

		append_one(db, make_record("w1", "t1", 100 + i));
		assert_true(shim.n_sync > before);
		before = shim.n_sync;
		snprintf(json, sizeof(json), "{\"n\":%d}", i);
		ASSERT_OK(hn_db_put_job(db, "j", json, false, &err), err);
		assert_true(shim.n_sync > before);
	}
	for (int i = 0; i < 32; i++) {
		batch[i] = make_record("w1", "t1", 200 + i);
	}
	shim.n_sync = 0;
	ASSERT_OK(hn_db_append(db, batch, 32, &err), err);
	assert_in_range(shim.n_sync, 1, 2); /* one for the group, not one a record */
	assert_int_equal(batch[31].id, 52);
	hn_db_close(db);
}

static void check_integrity(struct hn_db *db)
{
	sqlite3_stmt *s;

	assert_int_equal(
		sqlite3_prepare_v2(hn_sqlite_of(db)->sql, "PRAGMA integrity_check", -1, &s, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
}

/* Let each write, then each sync, of an append fail in turn; answers whether one did. */
static bool fail_at(const char *dir, int k, bool sync, int failure, int *acknowledged)
{
	struct hn_db *db = open_store(dir);
	struct hn_record batch[3];
	struct hn_err err = {0};
	bool failed;
	int rc;

	for (int i = 0; i < 3; i++) {
		batch[i] = make_record("w1", "t1", 100 + i);
	}
	*(sync ? &shim.fail_sync : &shim.fail_write) = k;
	shim.failure = failure;
	rc = hn_db_append(db, batch, 3, &err);
	failed = *(sync ? &shim.fail_sync : &shim.fail_write) == 0;
	shim.fail_sync = shim.fail_write = 0;
	if (rc == 0) {
		*acknowledged += 3;
	} else if (failure == SQLITE_FULL) {
		assert_int_equal(rc, -HONE_E_DISK_FULL);
		assert_int_equal(batch[0].id, 0);
		ASSERT_OK(hn_db_append(db, batch, 3, &err), err); /* room again */
		*acknowledged += 3;
	} else {
		assert_int_equal(rc, -HONE_E_STORE);
		assert_int_equal(hn_db_append(db, batch, 3, &err), -HONE_E_STORE);
		assert_non_null(strstr(err.msg, "restart"));
	}
	hn_db_close(db);
	db = open_store(dir);
	check_integrity(db);
	/* A failed sync may leave the commit readable: more than acknowledged, never
	 * less, and never part of a batch. */
	assert_in_range(count_records(db, NULL, NULL), *acknowledged,
			*acknowledged + (rc != 0 && sync ? 3 : 0));
	assert_int_equal(count_records(db, NULL, NULL) % 3, 0);
	*acknowledged = count_records(db, NULL, NULL);
	hn_db_close(db);
	return failed;
}

static void failing_writes_and_syncs_keep_the_store_whole(void **state)
{
	static const int failures[] = {SQLITE_FULL, SQLITE_IOERR_WRITE,
				       SQLITE_IOERR_FSYNC};
	struct hn_db *db = open_store(*state);
	int acknowledged = 0, n_failed = 0;

	put_workload(db, "w1");
	hn_db_close(db);
	for (size_t f = 0; f < HN_COUNT_OF(failures); f++) {
		bool sync = failures[f] == SQLITE_IOERR_FSYNC;
		int k = 1;

		while (fail_at(*state, k, sync, failures[f], &acknowledged)) {
			k++;
			n_failed++;
		}
		assert_true(k > 1);
	}
	print_message("%d faults\n", n_failed);
}

static void append_until_killed(const char *dir, int ack_fd)
{
	struct hn_db *db = open_store(dir);
	struct hn_err err = {0};

	for (int32_t i = count_records(db, NULL, NULL);; i++) {
		struct hn_record r = make_record("w1", "t1", 1000 + i);

		if (hn_db_append(db, &r, 1, &err) != 0 || r.id != i + 1 ||
		    write(ack_fd, &i, sizeof(i)) != sizeof(i)) {
			fprintf(stderr, "append %d: %s\n", i, err.msg);
			_exit(1);
		}
	}
}

static void killed_between_appends_loses_nothing(void **state)
{
	struct hn_rng r = hn_rng_stream(7, 0, 0, 0);
	struct hn_db *db = open_store(*state);
	int status, fd[2], n_total = 0;

	put_workload(db, "w1");
	hn_db_close(db);
	for (int turn = 0; turn < 12; turn++) {
		int32_t last = n_total - 1, i;
		pid_t pid;

		assert_int_equal(pipe(fd), 0);
		pid = fork();
		if (pid == 0) {
			close(fd[0]);
			append_until_killed(*state, fd[1]);
		}
		close(fd[1]);
		/* Every other turn is killed wherever it is, opening and recovery
		 * included. */
		if (turn % 2 == 0) {
			assert_int_equal(read(fd[0], &last, sizeof(last)), sizeof(last));
		}
		usleep((useconds_t)hn_rng_below(&r, 40000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(fd[0], &i, sizeof(i)) == sizeof(i)) {
			last = i;
		}
		close(fd[0]);
		db = open_store(*state);
		check_integrity(db);
		n_total = count_records(db, NULL, NULL);
		/* Committed but not yet acknowledged: at most the one under way. */
		assert_in_range(n_total, last + 1, last + 2);
		hn_db_close(db);
	}
	print_message("%d records over 12 kills\n", n_total);
	assert_true(n_total >= 6);
}

#define CRASH_TEST(name) cmocka_unit_test_setup_teardown(name, reset_shim, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CRASH_TEST(every_acknowledgement_is_synced),
		CRASH_TEST(failing_writes_and_syncs_keep_the_store_whole),
		CRASH_TEST(killed_between_appends_loses_nothing),
	};

	shim_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
