/* tests/unit/db/ops.c -- that a store behind db/store/ops.h need not be SQLite: a second one, in
 * memory, that can do what appending and looking up the best needs; and which places are of a
 * store at all. */
#include "tests/lib/db_testing.h"

#include <unistd.h>

#include "db/store/ops.h"

#define MOST 16

/* One workload and one target, "w" and "t". */
struct memory {
	struct hn_db base;
	struct hn_record record[MOST];
	struct hn_promotion promotion;
	uint32_t n, n_before; /* records; before this write */
	bool has_workload, has_promotion;
	uint32_t n_begun, n_ended;
};

static struct memory *memory_of(struct hn_db *db)
{
	return (struct memory *)(void *)db;
}

static int open_memory(struct hn_db *db, const char *place, struct hn_err *err)
{
	db->dir = strdup(place);
	return strcmp(place, "refused") == 0 ? hn_fail(err, HONE_E_STORE, "not here") : 0;
}

static void close_memory(struct hn_db *db)
{
	(void)db;
}

static int still(struct hn_db *db, struct hn_err *err)
{
	(void)db;
	(void)err;
	return 0;
}

static int begin(struct hn_db *db, struct hn_err *err)
{
	(void)err;
	memory_of(db)->n_begun++;
	memory_of(db)->n_before = memory_of(db)->n;
	return 0;
}

static int end(struct hn_db *db, int rc, struct hn_err *err)
{
	struct memory *m = memory_of(db);

	(void)err;
	m->n_ended++;
	m->n = rc == 0 ? m->n : m->n_before;
	return rc;
}

static int put_workload_row(struct hn_db *db, const struct hn_workload_row *w, struct hn_err *err)
{
	(void)w;
	(void)err;
	memory_of(db)->has_workload = true;
	return 0;
}

static int append(struct hn_db *db, struct hn_record *record, uint32_t n, struct hn_err *err)
{
	struct memory *m = memory_of(db);

	for (uint32_t i = 0; i < n; i++) {
		if (m->n == MOST) {
			return hn_fail(err, HONE_E_DISK_FULL, "full");
		}
		record[i].id = m->n + 1;
		m->record[m->n++] = record[i];
	}
	return 0;
}

static int put_promotion(struct hn_db *db, const struct hn_db_pair *pair,
			 const struct hn_promotion *p, struct hn_err *err)
{
	(void)pair;
	(void)err;
	memory_of(db)->promotion = *p;
	memory_of(db)->has_promotion = true;
	return 0;
}

static int pair(struct hn_db *db, const char *workload, const char *target,
		struct hn_db_pair *ret, struct hn_err *err)
{
	(void)err;
	*ret = (struct hn_db_pair){
		.workload = memory_of(db)->has_workload && strcmp(workload, "w") == 0,
		.target = strcmp(target, "t") == 0 };
	return ret->workload && ret->target ? 0 : -HONE_E_NOT_FOUND;
}

static int promotion(struct hn_db *db, const struct hn_db_pair *p, struct hn_promotion *ret,
		     struct hn_err *err)
{
	(void)p;
	(void)err;
	*ret = memory_of(db)->promotion;
	return memory_of(db)->has_promotion ? 0 : -HONE_E_NOT_FOUND;
}

static int fastest(struct hn_db *db, const struct hn_db_pair *p, int64_t after, double below,
		   int64_t *ret, struct hn_err *err)
{
	const struct memory *m = memory_of(db);
	int rc = -HONE_E_NOT_FOUND;

	(void)p;
	(void)err;
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->record[i].verdict == HN_VERDICT_OK && m->record[i].id > after &&
		    m->record[i].median_ns < below) {
			below = m->record[i].median_ns;
			*ret = m->record[i].id;
			rc = 0;
		}
	}
	return rc;
}

static int record(struct hn_db *db, int64_t id, struct hn_arena *a, struct hn_record *ret,
		  struct hn_err *err)
{
	(void)err;
	if (id < 1 || id > memory_of(db)->n) {
		return -HONE_E_NOT_FOUND;
	}
	*ret = memory_of(db)->record[id - 1];
	hn_db_keep_record(ret, a);
	return 0;
}

static const struct hn_db_ops memory_ops = {
	.bytes = sizeof(struct memory),
	.open = open_memory,
	.close = close_memory,
	.still = still,
	.begin = begin,
	.end = end,
	.put_workload = put_workload_row,
	.append = append,
	.put_promotion = put_promotion,
	.pair = pair,
	.promotion = promotion,
	.fastest = fastest,
	.record = record,
};

static double best_ns(struct hn_db *db)
{
	struct hn_err err = {0};
	struct hn_record best;
	struct hn_arena a;
	double ns;

	hn_arena_init(&a, 0);
	ASSERT_OK(hn_db_best(db, "w", "t", &a, &best, &err), err);
	ns = best.median_ns;
	hn_arena_fini(&a);
	return ns;
}

/* What a record must be and which one is the best is not the second store's to say. */
static void another_store_answers_alike(void **state)
{
	struct hn_record r[2] = {make_record("w", "t", 900), make_record("w", "t", 0)};
	struct hn_promotion p = {.record_id = 1, .judged_id = 2, .median_ns = 1000,
				 .n_entrant = 1};
	struct hn_err err = {0};
	struct hn_record best;
	struct memory *m;
	struct hn_arena a;
	struct hn_db *db;

	(void)state;
	hn_arena_init(&a, 0);
	assert_int_equal(hn_db_open_with(&memory_ops, "refused", &db, &err), -HONE_E_STORE);
	ASSERT_OK(hn_db_open_with(&memory_ops, "somewhere", &db, &err), err);
	m = memory_of(db);
	assert_int_equal(hn_db_best(db, "w", "t", &a, &best, &err), -HONE_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "no workload w in the store"));
	put_workload_row(db, NULL, &err);
	assert_int_equal(hn_db_best(db, "w", "t", &a, &best, &err), -HONE_E_NOT_FOUND);
	assert_non_null(strstr(err.msg, "no correct and proved record"));

	append_one(db, make_record("w", "t", 1000));
	append_one(db, make_record("w", "t", 980));
	assert_true(best_ns(db) == 980);
	assert_int_equal(hn_db_append(db, r, 2, &err), -HONE_E_INVALID); /* a time of 0 */
	assert_int_equal(m->n, 2);
	assert_int_equal(m->n_begun, 2);

	ASSERT_OK(hn_db_promote(db, "w", "t", &p, &err), err);
	assert_true(best_ns(db) == 1000); /* a final has judged the other */
	assert_int_equal(hn_db_promote(db, "w", "t", &p, &err), -HONE_E_BUSY);
	append_one(db, make_record("w", "t", 950));
	assert_true(best_ns(db) == 1000); /* screening's noise */
	append_one(db, make_record("w", "t", 800));
	assert_true(best_ns(db) == 800);

	for (int i = 0; i < MOST - 5; i++) {
		append_one(db, make_record("w", "t", 990));
	}
	r[1].median_ns = 1;
	assert_int_equal(hn_db_append(db, r, 2, &err), -HONE_E_DISK_FULL);
	assert_int_equal(r[0].id, 0); /* all or none */
	assert_true(best_ns(db) == 800);
	assert_int_equal(m->n_begun, m->n_ended);
	hn_db_close(db);
	hn_arena_fini(&a);
}

static void places_are_told_apart(void **state)
{
	static const char *const unknown[] = {"postgresql://me:secret@host/hone",
					      "sqlite://x", "Http2+x://", "file:///tmp/x"};
	struct hn_err err = {0};
	struct hn_db *db = NULL;
	char path[300];

	for (size_t i = 0; i < HN_COUNT_OF(unknown); i++) {
		assert_int_equal(hn_db_open(unknown[i], &db, &err), -HONE_E_UNSUPPORTED);
		assert_null(db);
		assert_null(strstr(err.msg, "secret"));
		assert_null(strchr(err.msg, '\n'));
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(unknown[i], ":"), unknown[i]);
		assert_non_null(strstr(err.msg, path));
		assert_non_null(strstr(err.msg, "give a directory"));
		snprintf(path, sizeof(path), "%.*s:", (int)strcspn(unknown[i], ":"), unknown[i]);
		assert_int_not_equal(access(path, F_OK), 0);
	}
	snprintf(path, sizeof(path), "%s/postgresql://x", (char *)*state); /* a path all the same */
	ASSERT_OK(hn_db_open(path, &db, &err), err);
	hn_db_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_store_answers_alike),
		STORE_TEST(places_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
