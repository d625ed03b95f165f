/* db/sqlite/migrate/0002_origin.c -- schema version 2: how a record's program was found.  Records
 * of version 1 did not say. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_origin[] =
	"ALTER TABLE record ADD COLUMN origin TEXT NOT NULL DEFAULT '';";
