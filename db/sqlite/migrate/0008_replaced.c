/* db/sqlite/migrate/0008_replaced.c -- schema version 8: whom a promotion replaced.  Earlier
 * versions did not say. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_replaced[] =
	"ALTER TABLE promotion ADD COLUMN replaced_id INTEGER REFERENCES record (id);";
