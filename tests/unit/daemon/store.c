/* The store's thread: answers in order, one sync for many writes, an error for who earned it. */
#include "tests/lib/db_testing.h"

#include "daemon/store.h"
#include "db/mark.h"
#include "db/sqlite/sqlite_int.h"

#define N 40

struct one {
	struct hn_ask ask; /* first */
	int i;
	int64_t id, seen;
};

static int answered[3 * N], n_answered;

static void note(struct hn_ask *a)
{
	answered[n_answered++] = ((struct one *)a)->i;
}

/* One record; of number 3 two, the second of which is refused. */
static int append(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	struct one *o = (struct one *)a;
	struct hn_record r[2] = {make_record("w1", "t1", 100 + o->i),
				 make_record("nowhere", "t1", 100)};
	int rc = hn_db_append(db, r, o->i == 3 ? 2 : 1, err);

	o->id = r[0].id;
	return rc;
}

static int count(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	(void)err;
	((struct one *)a)->seen = count_records(db, "w1", "t1");
	return 0;
}

/* Holds the thread up until the loop lets go, so that what follows waits together. */
static uv_sem_t gate;

static int wait_for_gate(struct hn_ask *a, struct hn_db *db, struct hn_err *err)
{
	(void)a;
	(void)db;
	(void)err;
	uv_sem_wait(&gate);
	return 0;
}

static int64_t commits(const char *dir)
{
	struct hn_mark m;
	struct hn_err err = {0};

	ASSERT_OK(hn_mark_read(dir, &m, &err), err);
	return m.commit;
}

struct bench {
	uv_loop_t loop;
	struct hn_db *db;
	struct hn_store *st;
	struct one hold;
};

/* Open, with the thread held up. */
static void begin(struct bench *b, void *const *state)
{
	n_answered = 0;
	b->db = open_store(*state);
	put_workload(b->db, "w1");
	assert_int_equal(uv_loop_init(&b->loop), 0);
	assert_int_equal(uv_sem_init(&gate, 0), 0);
	b->st = hn_store_open(&b->loop, b->db);
	b->hold = (struct one){.ask = {.work = wait_for_gate, .done = note}, .i = -1};
	hn_store_ask(b->st, &b->hold.ask);
}

static void finish(struct bench *b)
{
	hn_store_close(b->st);
	assert_int_equal(uv_run(&b->loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&b->loop), 0);
	uv_sem_destroy(&gate);
	hn_db_close(b->db);
}

static void writes_that_wait_share_a_sync(void **state)
{
	struct one o[N];
	struct bench b;
	int64_t before;

	begin(&b, state);
	before = commits(*state);
	for (int i = 0; i < N; i++) {
		o[i] = (struct one){.ask = {.writes = true, .work = append, .done = note}, .i = i};
		hn_store_ask(b.st, &o[i].ask);
	}
	assert_int_equal(n_answered, 0); /* nobody is answered out of turn */
	uv_sem_post(&gate);
	hn_store_drain(b.st);
	assert_int_equal(commits(*state) - before, 1);
	assert_int_equal(n_answered, N + 1);
	for (int i = -1; i < N; i++) {
		assert_int_equal(answered[i + 1], i);
	}
	/* the one that was refused kept nothing, and took nobody with it */
	for (int i = 0; i < N; i++) {
		assert_int_equal(o[i].ask.rc, i == 3 ? -HONE_E_NOT_FOUND : 0);
		assert_true(i == 3 ? o[i].id == 0 : o[i].id > 0);
	}
	assert_non_null(strstr(o[3].ask.err.msg, "no workload nowhere"));
	assert_int_equal(count_records(b.db, "w1", "t1"), N - 1);
	finish(&b);
}

static void a_read_sees_what_was_asked_for_before(void **state)
{
	struct one w[3], r[3];
	struct bench b;

	begin(&b, state);
	for (int i = 0; i < 3; i++) {
		w[i] = (struct one){.ask = {.writes = true, .work = append, .done = note},
				    .i = 10 + i};
		r[i] = (struct one){.ask = {.work = count, .done = note}, .i = 20 + i};
		hn_store_ask(b.st, &w[i].ask);
		hn_store_ask(b.st, &r[i].ask);
	}
	uv_sem_post(&gate);
	hn_store_drain(b.st);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r[i].seen, i + 1);
	}
	finish(&b);
}

/* Who is answered may ask again; the loop tells by itself, without a drain. */
static struct bench *of_again;

static void ask_again(struct hn_ask *a)
{
	struct one *o = (struct one *)a;

	note(a);
	if (--o->i > 0) {
		hn_store_ask(of_again->st, a);
	} else {
		uv_stop(&of_again->loop);
	}
}

static void the_loop_is_told(void **state)
{
	struct one o = {.ask = {.writes = true, .work = append, .done = ask_again}, .i = 6};
	uv_timer_t alive; /* the store alone keeps no loop running */
	struct bench b;

	begin(&b, state);
	of_again = &b;
	uv_timer_init(&b.loop, &alive);
	uv_timer_start(&alive, (uv_timer_cb)abort, 20000, 0);
	hn_store_ask(b.st, &o.ask);
	uv_sem_post(&gate);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	assert_int_equal(n_answered, 7);
	assert_int_equal(count_records(b.db, "w1", "t1"), 5); /* all but number 3 */
	uv_close((uv_handle_t *)&alive, NULL);
	finish(&b);
}

/* Closing waits for what was asked. */
static void nothing_is_left_behind(void **state)
{
	struct one o[N];
	struct bench b;

	begin(&b, state);
	for (int i = 0; i < N; i++) {
		o[i] = (struct one){.ask = {.writes = true, .work = append, .done = note},
				    .i = 100 + i};
		hn_store_ask(b.st, &o[i].ask);
	}
	uv_sem_post(&gate);
	hn_store_close(b.st);
	assert_int_equal(n_answered, N + 1);
	assert_int_equal(count_records(b.db, "w1", "t1"), N);
	uv_run(&b.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b.loop), 0);
	uv_sem_destroy(&gate);
	hn_db_close(b.db);
}

/* A full disk: who is told that it is stored has it stored, and nobody else has. */
static void a_full_disk_is_told_to_each(void **state)
{
	struct one o[N];
	struct bench b;
	int n_stored = 0;

	begin(&b, state);
	assert_int_equal(sqlite3_exec(hn_sqlite_of(b.db)->sql, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
			 SQLITE_OK); /* as many as there are */
	for (int i = 0; i < N; i++) {
		o[i] = (struct one){.ask = {.writes = true, .work = append, .done = note},
				    .i = 100 + i};
		hn_store_ask(b.st, &o[i].ask);
	}
	uv_sem_post(&gate);
	hn_store_drain(b.st);
	for (int i = 0; i < N; i++) {
		n_stored += o[i].ask.rc == 0;
		if (o[i].ask.rc != 0) {
			assert_int_equal(o[i].ask.rc, -HONE_E_DISK_FULL);
			assert_int_equal(o[i].ask.err.code, HONE_E_DISK_FULL);
		}
	}
	assert_true(n_stored < N);
	assert_int_equal(count_records(b.db, "w1", "t1"), n_stored);
	assert_int_equal(sqlite3_exec(hn_sqlite_of(b.db)->sql, "PRAGMA max_page_count = 100000", NULL, NULL, NULL),
			 SQLITE_OK);
	for (int i = 0; i < N; i++) {
		if (o[i].ask.rc != 0) {
			hn_store_ask(b.st, &o[i].ask);
		}
	}
	hn_store_drain(b.st);
	assert_int_equal(count_records(b.db, "w1", "t1"), N);
	finish(&b);
}

/* A transaction that cannot be begun or ended fails for all in it. */
static void a_lost_store_is_told_to_each(void **state)
{
	struct one o[3];
	char from[200], to[200];
	struct bench b;

	begin(&b, state);
	snprintf(from, sizeof from, "%s/hone.sqlite", (char *)*state);
	snprintf(to, sizeof to, "%s/elsewhere", (char *)*state);
	assert_int_equal(rename(from, to), 0);
	for (int i = 0; i < 3; i++) {
		o[i] = (struct one){.ask = {.writes = true, .work = append, .done = note},
				    .i = 100 + i};
		hn_store_ask(b.st, &o[i].ask);
	}
	uv_sem_post(&gate);
	hn_store_drain(b.st);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(o[i].ask.rc, -HONE_E_STORE);
		assert_non_null(strstr(o[i].ask.err.msg, "deleted or replaced"));
	}
	assert_int_equal(rename(to, from), 0);
	assert_int_equal(count_records(b.db, "w1", "t1"), 0);
	finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(writes_that_wait_share_a_sync),
		STORE_TEST(a_read_sees_what_was_asked_for_before),
		STORE_TEST(the_loop_is_told),
		STORE_TEST(nothing_is_left_behind),
		STORE_TEST(a_full_disk_is_told_to_each),
		STORE_TEST(a_lost_store_is_told_to_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
