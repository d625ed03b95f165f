/* db/sqlite/find.c -- one record by its number, with what it is a record of; a key by its
 * beginning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "db/sqlite/db_int.h"

int hn_db_find(struct hn_db *db, int64_t id, struct hn_arena *a, struct hn_record *ret,
	       struct hn_workload_row *ret_workload, struct hn_err *err)
{
	double *sample = NULL;
	struct hn_record r;
	sqlite3_stmt *s;
	int step, rc = hn_db_stmt(db, HN_DB_STMT_RECORD_BY_ID, &s, err);

	if (rc != 0) {
		return rc;
	}
	sqlite3_bind_int64(s, 1, id);
	step = sqlite3_step(s);
	rc = step == SQLITE_ROW	   ? hn_db_read_record(db, s, &sample, &r, err)
	     : step == SQLITE_DONE ? hn_fail(err, HONE_E_NOT_FOUND,
					     "there is no record %lld", (long long)id)
				   : hn_db_fail(db, err, "read a record");
	if (rc == 0) {
		hn_db_keep_record(&r, a);
		*ret = r;
	}
	free(sample);
	sqlite3_reset(s);
	return rc != 0 ? rc : hn_db_workload(db, ret->workload, a, ret_workload, err);
}

static int one_key(struct hn_db *db, sqlite3_stmt *s, const char *word, char key[65],
		   struct hn_err *err)
{
	struct hn_buf list;
	uint32_t n = 0;
	int step, rc = 0;

	hn_buf_init(&list);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		snprintf(key, 65, "%s", hn_db_column(s, 0));
		hn_buf_printf(&list, "%s%.16s (%.40s)", n++ > 0 ? ", " : "", key,
			      hn_db_column(s, 1));
	}
	if (step != SQLITE_DONE) {
		rc = hn_db_fail(db, err, "look for a key");
	} else if (n == 0) {
		rc = hn_fail(err, HONE_E_NOT_FOUND, "workload: no key begins with %s", word);
	} else if (n > 1) {
		rc = hn_fail(err, HONE_E_INVALID, "workload: %s is ambiguous: %s", word, list.s);
	}
	hn_buf_fini(&list);
	return rc;
}

int hn_db_key(struct hn_db *db, const char *word, char key[65], struct hn_err *err)
{
	size_t n = strlen(word);
	sqlite3_stmt *s;
	int rc;

	if (n < 4 || n > 64 || strspn(word, "0123456789abcdef") != n) {
		return hn_fail(err, HONE_E_INVALID,
			       "workload: \"%.64s\" is not the beginning of a key: at least 4 "
			       "digits from 0 to f",
			       word);
	}
	if (n == 64) {
		strcpy(key, word); /* of a workload that is not stored, too */
		return 0;
	}
	rc = hn_db_stmt(db, HN_DB_STMT_KEYS, &s, err);
	if (rc != 0) {
		return rc;
	}
	hn_db_bind(s, 1, word);
	rc = one_key(db, s, word, key, err);
	sqlite3_reset(s);
	return rc;
}
