/* db/find.c -- one record by its number, with what it is a record of. */
#include <stdlib.h>

#include "db/db_int.h"

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
