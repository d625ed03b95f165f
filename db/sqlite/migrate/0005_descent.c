/* db/sqlite/migrate/0005_descent.c -- schema version 5: which program a record's was made from, by
 * what changes, and what the cost model expected of it.  Earlier versions did not say. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_descent[] =
	"ALTER TABLE record ADD COLUMN parent INTEGER;"
	"ALTER TABLE record ADD COLUMN mate INTEGER;"
	"ALTER TABLE record ADD COLUMN changes TEXT NOT NULL DEFAULT '';"
	"ALTER TABLE record ADD COLUMN predicted_ns REAL CHECK (predicted_ns > 0);"
	"ALTER TABLE record ADD COLUMN model TEXT NOT NULL DEFAULT '';";
