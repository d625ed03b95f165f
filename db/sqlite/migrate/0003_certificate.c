/* db/sqlite/migrate/0003_certificate.c -- schema version 3: what was proved of a record.  A table
 * of its own, because records never change and a proof may be made anew (`hone verify`).
 * Records of earlier versions have none. */
#include "db/sqlite/migrate/steps.h"

const char hn_sqlite_migrate_certificate[] =
	"CREATE TABLE certificate ("
	" record_id INTEGER PRIMARY KEY REFERENCES record (id),"
	" json TEXT NOT NULL CHECK (json <> ''),"
	" unix_ms INTEGER NOT NULL) STRICT;";
