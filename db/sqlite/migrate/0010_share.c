/* db/sqlite/migrate/0010_share.c -- schema version 10: of how much of its iterations a naive time
 * is.  NULL: of all, or an earlier version did not say. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_share[] =
	"ALTER TABLE naive ADD COLUMN share REAL CHECK (share > 0 AND share < 1);";
