/* db/sqlite/migrate/0011_automatic.c -- schema version 11: what to answer while nothing of a pair
 * is measured.  NULL: nothing. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_automatic[] =
	"ALTER TABLE tally ADD COLUMN automatic TEXT CHECK (automatic <> '');";
