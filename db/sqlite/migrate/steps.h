/* db/sqlite/migrate/steps.h -- the texts of migrations.def, one file each beside this one. */
#ifndef HN_DB_SQLITE_MIGRATE_STEPS_H
#define HN_DB_SQLITE_MIGRATE_STEPS_H

#define MIGRATION(version, name) extern const char hn_sqlite_migrate_##name[];
#include "db/sqlite/migrate/migrations.def"
#undef MIGRATION

#endif
