/* db/sqlite/check.c -- what opening a store looks at, before it is believed.
 *
 * The form: every page, by SQLite's own check, and that the log belongs to the file.  Until that
 * is known nothing is written, not even by closing.  Indices are made anew from the rows.
 * The rows: each against its checksum, each table against what was counted (`mark` in the store,
 * hone.mark and best.snapshot beside it).  What is missing is noted, and the store goes on.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "db/snapshot/snapshot_int.h"
#include "db/sqlite/sqlite_int.h"
#include "db/sqlite/good.h"

#define MOST_GAPS 8 /* named; more are only counted */

static const struct {
	const char *name, *id, *from, *good;
} tables[HN_N_MARK] = {
#define TABLE(name, answers, id, from, good) {#name, id, from, good},
#include "db/tables.def"
#undef TABLE
};

/* What is wrong with a value, which its row's checksum tells too, and keeps to that row. */
static bool is_of_a_row(const char *line)
{
	return strstr(line, " value in ") != NULL ||
	       strncmp(line, "CHECK constraint failed in ", 27) == 0;
}

/* The first complaint about the form; "" when there is none. */
static int form(struct hn_sqlite *db, char complaint[200], struct hn_err *err)
{
	sqlite3_stmt *s = NULL;
	int step = SQLITE_DONE, rc = 0;

	complaint[0] = '\0';
	if (sqlite3_prepare_v2(db->sql, "PRAGMA integrity_check(1000)", -1, &s, NULL) !=
	    SQLITE_OK) {
		return hn_sqlite_fail(db, err, "check the store");
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		const char *line = hn_sqlite_column(s, 0);

		if (*complaint == '\0' && strcmp(line, "ok") != 0 && !is_of_a_row(line)) {
			line += strncmp(line, "*** in database main ***\n", 25) == 0 ? 25 : 0;
			snprintf(complaint, 200, "%.*s", (int)strcspn(line, "\n"), line);
		}
	}
	if (step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "check the store");
	}
	sqlite3_finalize(s);
	return rc;
}

static int refuse(struct hn_sqlite *db, const char *complaint, struct hn_err *err)
{
	return hn_fail(err, HONE_E_CORRUPT,
		       "%s: damaged (%.150s); nothing was changed; put a copy of it back, or "
		       "move hone.sqlite and hone.sqlite-wal away: best.snapshot keeps its "
		       "answers",
		       db->path, complaint);
}

int hn_sqlite_check_form(struct hn_sqlite *db, struct hn_err *err)
{
	char complaint[200], again[200];
	int rc = form(db, complaint, err);

	if (rc != 0 || *complaint == '\0') {
		return rc;
	}
	rc = hn_sqlite_begin(db, err);
	if (rc != 0) {
		return rc;
	}
	if (sqlite3_exec(db->sql, "REINDEX", NULL, NULL, NULL) != SQLITE_OK ||
	    form(db, again, NULL) != 0 || *again != '\0') {
		rc = refuse(db, complaint, err);
	}
	rc = hn_sqlite_end(db, rc, err);
	if (rc == 0) {
		hn_db_note(&db->base, "index", complaint, HN_DB_MENDED);
	}
	return rc;
}

static int read_marks(struct hn_sqlite *db, sqlite3 *sql, struct hn_mark *ret)
{
	sqlite3_stmt *s = NULL;
	int step = SQLITE_DONE;

	*ret = (struct hn_mark){0};
	if (sqlite3_prepare_v2(sql, hn_sqlite_stmt_text(HN_SQLITE_STMT_MARKS), -1, &s, NULL) !=
	    SQLITE_OK) {
		return -HONE_E_CORRUPT;
	}
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		hn_sqlite_read_mark(s, ret);
	}
	sqlite3_finalize(s);
	(void)db;
	return step == SQLITE_DONE ? 0 : -HONE_E_CORRUPT;
}

/* The file without its log, whatever state that leaves it in. */
static int read_marks_of_file(struct hn_sqlite *db, struct hn_mark *ret)
{
	struct hn_buf uri;
	sqlite3 *sql = NULL;
	int rc = -HONE_E_CORRUPT;

	hn_buf_init(&uri);
	hn_buf_puts(&uri, "file:");
	for (const char *c = db->path; *c; c++) {
		hn_buf_printf(&uri, strchr("%?#", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	}
	hn_buf_puts(&uri, "?immutable=1");
	if (!uri.failed && sqlite3_open_v2(uri.s, &sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
					   NULL) == SQLITE_OK) {
		rc = read_marks(db, sql, ret);
	}
	sqlite3_close(sql);
	hn_buf_fini(&uri);
	return rc;
}

/* A log is never behind the file that it was written for. */
int hn_sqlite_check_log(struct hn_sqlite *db, struct hn_err *err)
{
	struct hn_mark file, both;
	char log[4200];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", db->path);
	if (stat(log, &st) != 0 || st.st_size == 0 || read_marks_of_file(db, &file) != 0 ||
	    file.store == 0) {
		return 0;
	}
	if (read_marks(db, db->sql, &both) == 0 && both.store == file.store &&
	    both.commit >= file.commit) {
		return 0;
	}
	return hn_fail(err, HONE_E_CORRUPT,
		       "%s: not the log of this store as it is now, but an older one or another "
		       "store's; nothing was changed; move it away and start again",
		       log);
}

struct scan {
	struct hn_mark_row good;
	int64_t n_row, n_new; /* all rows; those newly found damaged */
	struct hn_buf gaps;   /* row numbers that are not there */
	uint32_t n_gap;
};

static void note_gap(struct scan *c, int64_t from, int64_t to)
{
	if (from > to || ++c->n_gap > MOST_GAPS) {
		return;
	}
	hn_buf_printf(&c->gaps, "%s%lld", c->n_gap > 1 ? ", " : "", (long long)from);
	if (to > from) {
		hn_buf_printf(&c->gaps, " to %lld", (long long)to);
	}
}

static int scan(struct hn_sqlite *db, enum hn_mark_table t, struct scan *ret, struct hn_err *err)
{
	uint32_t n_noted = db->base.n_unsettled;
	int64_t expected = 1;
	sqlite3_stmt *s = NULL;
	struct hn_buf sql;
	int step = SQLITE_DONE, rc = 0;

	hn_buf_init(&sql);
	hn_buf_printf(&sql, "SELECT %s, %s.sum, %s FROM %s ORDER BY 1", tables[t].id,
		      tables[t].name, tables[t].good, tables[t].from);
	if (sqlite3_prepare_v2(db->sql, sql.s, -1, &s, NULL) != SQLITE_OK) {
		rc = hn_sqlite_fail(db, err, "check the rows");
	}
	while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(s, 0);

		note_gap(ret, expected, id - 1);
		expected = id + 1;
		ret->n_row++;
		if (sqlite3_column_int(s, 2)) {
			ret->good.n_row++;
			ret->good.last = id > ret->good.last ? id : ret->good.last;
			ret->good.digest ^= (uint64_t)sqlite3_column_int64(s, 1);
		}
	}
	if (rc == 0 && step != SQLITE_DONE) {
		rc = hn_sqlite_fail(db, err, "check the rows");
	}
	ret->n_new = db->base.n_unsettled - n_noted;
	sqlite3_finalize(s);
	hn_buf_fini(&sql);
	return rc;
}

static bool same(const struct hn_mark_row *a, const struct hn_mark_row *b)
{
	return a->n_row == b->n_row && a->digest == b->digest;
}

/* One table against what it should hold. */
static void compare(struct hn_sqlite *db, enum hn_mark_table t, struct scan *c,
		    const struct hn_mark_row *want)
{
	int64_t missing = want->n_row - c->good.n_row - c->n_new;
	struct hn_buf b;

	hn_buf_init(&b);
	if (missing > 0) {
		hn_buf_printf(&b, "%lld of %lld rows are missing", (long long)missing,
			      (long long)want->n_row);
		if (t == HN_MARK_record) {
			note_gap(c, c->good.last + 1, want->last);
			hn_buf_printf(&b, ": %s%s", c->gaps.s,
				      c->n_gap > MOST_GAPS ? " and others" : "");
		}
	} else if (c->n_new == 0) {
		hn_buf_puts(&b, "its rows are not those that were last written");
	}
	if (b.n > 0) {
		hn_db_note(&db->base, tables[t].name, b.s, HN_DB_FOUND);
	}
	hn_buf_fini(&b);
}

/* What the files beside the store say it should hold: the latest of what there is. */
static void witness(struct hn_sqlite *db, const struct hn_mark *marks, bool is_new,
		    struct hn_mark *want)
{
	struct hn_snapshot *s;
	struct hn_mark file;
	struct hn_err err;
	char detail[160];
	int rc = hn_mark_read(db->base.dir, &file, &err);

	*want = *marks;
	if (rc == 0 && file.store != marks->store) {
		snprintf(detail, sizeof(detail),
			 "hone.sqlite is not the one that hone.mark was kept of, which had %lld "
			 "records",
			 (long long)file.of[HN_MARK_record].n_row);
		hn_db_note(&db->base, "store", detail, HN_DB_FOUND);
	} else if (rc == 0 && file.commit >= marks->commit) {
		*want = file;
	} else if (rc != 0 && !is_new) {
		hn_db_note(&db->base, "hone.mark",
			   rc == -HONE_E_CORRUPT ? "damaged; written anew"
						 : "missing; written anew",
			   HN_DB_MENDED);
	}
	if (hn_snapshot_open(db->base.dir, &s, NULL) != 0) {
		return;
	}
	file = hn_snapshot_mark(s);
	if (file.store != marks->store && rc != 0 && file.store != 0) {
		snprintf(detail, sizeof(detail),
			 "hone.sqlite is not the one that best.snapshot was written from, which "
			 "had %lld records",
			 (long long)file.of[HN_MARK_record].n_row);
		hn_db_note(&db->base, "store", detail, HN_DB_FOUND);
	} else if (file.store == marks->store && file.commit > want->commit) {
		want->commit = file.commit;
		want->of[HN_MARK_record] = file.of[HN_MARK_record];
	}
	db->base.witness = s;
	db->base.witness_fresh = hn_snapshot_answers(s) == hn_mark_answers(want);
}

/* Counts are kept, not asked for; damaged ones follow from the records. */
static int mend_tally(struct hn_sqlite *db, struct scan *c, struct hn_err *err)
{
	static const char sql[] =
		"DELETE FROM tally;"
		"INSERT INTO tally (workload_id, target_id, n_trial, n_failed, sum)"
		" SELECT workload_id, target_id, count(*),"
		" sum(verdict <> 'OK'), hone_sum('tally', workload_id, target_id, count(*),"
		" sum(verdict <> 'OK')) FROM record GROUP BY workload_id, target_id;";
	int rc = hn_sqlite_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK) {
		rc = hn_sqlite_fail(db, err, "count the records anew");
	}
	rc = hn_sqlite_end(db, rc, err);
	hn_buf_fini(&c->gaps);
	*c = (struct scan){0};
	hn_buf_init(&c->gaps);
	return rc != 0 ? rc : scan(db, HN_MARK_tally, c, err);
}

/* Put down what is so, and what was found. */
static int settle_marks(struct hn_sqlite *db, const struct hn_mark *now, struct hn_err *err)
{
	sqlite3_stmt *s;
	int rc = hn_sqlite_begin(db, err);

	if (rc != 0) {
		return rc;
	}
	for (int t = -1; rc == 0 && t < HN_N_MARK; t++) {
		rc = hn_sqlite_stmt(db, HN_SQLITE_STMT_PUT_MARK, &s, err);
		if (rc == 0) {
			hn_sqlite_bind(s, 1, t < 0 ? "commit" : tables[t].name);
			sqlite3_bind_int64(s, 2, t < 0 ? now->commit : now->of[t].n_row);
			sqlite3_bind_int64(s, 3, t < 0 ? 0 : now->of[t].last);
			sqlite3_bind_int64(s, 4, (int64_t)(t < 0 ? now->store
								 : now->of[t].digest));
			rc = hn_sqlite_run(db, s, err, "write what was counted");
		}
	}
	rc = rc != 0 ? rc : hn_sqlite_keep_damage(db, err);
	return hn_sqlite_end(db, rc, err);
}

static int scan_all(struct hn_sqlite *db, struct scan all[HN_N_MARK], struct hn_err *err)
{
	int rc = 0;

	for (int t = 0; rc == 0 && t < HN_N_MARK; t++) {
		uint32_t n = db->base.n_unsettled;

		rc = scan(db, t, &all[t], err);
		if (rc == 0 && t == HN_MARK_tally && db->base.n_unsettled > n) {
			rc = mend_tally(db, &all[t], err);
		}
	}
	return rc;
}

int hn_sqlite_check_rows(struct hn_sqlite *db, bool is_new, struct hn_err *err)
{
	struct scan all[HN_N_MARK] = {0};
	struct hn_mark marks, want, now;
	bool changed = false;
	int rc = hn_sqlite_load_damage(db, err);

	for (int t = 0; t < HN_N_MARK; t++) {
		hn_buf_init(&all[t].gaps);
	}
	rc = rc != 0 ? rc : scan_all(db, all, err);
	if (rc == 0 && read_marks(db, db->sql, &marks) != 0) {
		rc = hn_sqlite_fail(db, err, "read what was counted");
	}
	if (rc == 0) {
		witness(db, &marks, is_new, &want);
		now = want;
	}
	for (int t = 0; rc == 0 && t < HN_N_MARK; t++) {
		if (!is_new && !same(&all[t].good, &want.of[t])) {
			compare(db, t, &all[t], &want.of[t]);
		}
		now.of[t] = all[t].good;
		if (want.of[t].last > now.of[t].last) {
			now.of[t].last = want.of[t].last;
		}
		changed |= !same(&now.of[t], &marks.of[t]) ||
			   now.of[t].last != marks.of[t].last;
	}
	if (rc == 0 && (changed || now.commit != marks.commit || hn_db_has_found(&db->base))) {
		rc = settle_marks(db, &now, err);
	}
	for (int t = 0; t < HN_N_MARK; t++) {
		hn_buf_fini(&all[t].gaps);
	}
	return rc;
}
