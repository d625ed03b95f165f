/* db/sqlite/migrate/0006_model.c -- schema version 6: what a cost model has learned of a target,
 * kept from job to job.  It is made from records, so unlike them it is replaced. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_model[] =
	"CREATE TABLE model ("
	" target_id INTEGER NOT NULL REFERENCES target (id),"
	" name TEXT NOT NULL CHECK (name <> ''),"
	" text TEXT NOT NULL CHECK (text <> ''),"
	" unix_ms INTEGER NOT NULL,"
	" PRIMARY KEY (target_id, name)"
	") STRICT, WITHOUT ROWID;";
