/* db/sqlite/migrate/0007_cache.c -- schema version 7: the caches that all times of a workload were
 * taken with.  Earlier versions knew warm ones alone. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_cache[] =
	"ALTER TABLE workload ADD COLUMN cache TEXT NOT NULL DEFAULT 'warm'"
	" CHECK (cache IN ('warm', 'cold'));";
