/* db/sqlite/migrate/0004_promotion.c -- schema version 4: what finals found.  Append-only like
 * records; the latest of a pair holds. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_promotion[] =
	"CREATE TABLE promotion ("
	" id INTEGER PRIMARY KEY,"
	" workload_id INTEGER NOT NULL REFERENCES workload (id),"
	" target_id INTEGER NOT NULL REFERENCES target (id),"
	" record_id INTEGER NOT NULL REFERENCES record (id),"
	" judged_id INTEGER NOT NULL REFERENCES record (id),"
	" median_ns REAL NOT NULL CHECK (median_ns > 0),"
	" gain_lo REAL NOT NULL,"
	" gain_hi REAL NOT NULL,"
	" n_entrant INTEGER NOT NULL CHECK (n_entrant > 0),"
	" n_block INTEGER NOT NULL CHECK (n_block >= 0),"
	" unix_ms INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX promotion_latest ON promotion (workload_id, target_id, id);"
	"CREATE TRIGGER promotion_keep BEFORE DELETE ON promotion BEGIN"
	" SELECT raise(ABORT, 'promotions are append-only'); END;"
	"CREATE TRIGGER promotion_fix BEFORE UPDATE ON promotion BEGIN"
	" SELECT raise(ABORT, 'promotions are append-only'); END;";
