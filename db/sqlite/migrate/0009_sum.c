/* db/sqlite/migrate/0009_sum.c -- schema version 9: each row carries a checksum (hone_sum,
 * db/sqlite/sum.c), each table is counted in `mark`, and what was found damaged is kept in
 * `damage`.
 *
 * Rows of earlier versions get the checksum of what they are now.  The tally's trigger goes: a
 * trigger cannot say a checksum without making the schema need hone's function.
 */
#include "db/sqlite/migrate/steps.h"

#define SUMMED(table) "ALTER TABLE " #table " ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;"

/* a ^ b, in words that SQLite has */
#define XOR(a, b) "((" a " | " b ") - (" a " & " b "))"

/* `last` is the highest row number ever given; `digest` the sums of all rows, by exclusive or. */
#define COUNTED(table, id)                                                               \
	"INSERT INTO mark SELECT '" #table "', count(*), ifnull(max(" id "), 0), 0 FROM " \
	#table ";"                                                                       \
	"CREATE TRIGGER " #table "_mark_insert AFTER INSERT ON " #table " BEGIN"         \
	" UPDATE mark SET n_row = n_row + 1, last = max(last, new." id "),"             \
	" digest = " XOR("digest", "new.sum") " WHERE name = '" #table "'; END;"        \
	"CREATE TRIGGER " #table "_mark_update AFTER UPDATE ON " #table " BEGIN"         \
	" UPDATE mark SET digest = " XOR("digest", "old.sum") " WHERE name = '" #table   \
	"';"                                                                             \
	" UPDATE mark SET digest = " XOR("digest", "new.sum") " WHERE name = '" #table   \
	"'; END;"                                                                        \
	"CREATE TRIGGER " #table "_mark_delete AFTER DELETE ON " #table " BEGIN"         \
	" UPDATE mark SET n_row = n_row - 1, digest = " XOR("digest", "old.sum")         \
	" WHERE name = '" #table "'; END;"

const char hn_sqlite_migrate_sum[] =
	"DROP TRIGGER record_fix;"
	"DROP TRIGGER promotion_fix;"
	"DROP TRIGGER record_tally;"
	SUMMED(workload) SUMMED(target) SUMMED(stamp) SUMMED(record) SUMMED(certificate)
	SUMMED(promotion) SUMMED(tally) SUMMED(naive) SUMMED(model) SUMMED(job)
	"CREATE TABLE mark ("
	" name TEXT NOT NULL PRIMARY KEY,"
	" n_row INTEGER NOT NULL,"
	" last INTEGER NOT NULL,"
	" digest INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE damage ("
	" id INTEGER PRIMARY KEY,"
	" place TEXT NOT NULL,"
	" detail TEXT NOT NULL,"
	" unix_ms INTEGER NOT NULL,"
	" settled INTEGER NOT NULL CHECK (settled IN (0, 1))"
	") STRICT;"
	"INSERT INTO mark VALUES ('commit', 0, 0, random());"
	COUNTED(workload, "id") COUNTED(target, "id") COUNTED(stamp, "id") COUNTED(record, "id")
	COUNTED(certificate, "record_id") COUNTED(promotion, "id")
	COUNTED(tally, "workload_id") COUNTED(naive, "workload_id")
	COUNTED(model, "target_id") COUNTED(job, "seq")
	"UPDATE workload SET sum = hone_sum('workload', id, key, name, dag_json, flops, unix_ms,"
	" cache);"
	"UPDATE target SET sum = hone_sum('target', id, line);"
	"UPDATE stamp SET sum = hone_sum('stamp', id, hone, codegen, board);"
	"UPDATE record SET sum = hone_sum('record', record.id, workload.key, target.line,"
	" stamp.hone, stamp.codegen, stamp.board, record.steps, record.verdict, record.detail,"
	" record.median_ns, record.sample_ns, record.build_ns, record.run_ns, record.unix_ms,"
	" record.proved, record.origin, record.parent, record.mate, record.changes,"
	" record.predicted_ns, record.model) FROM workload, target, stamp"
	" WHERE workload.id = workload_id AND target.id = target_id AND stamp.id = stamp_id;"
	"UPDATE certificate SET sum = hone_sum('certificate', record_id, json, unix_ms);"
	"UPDATE promotion SET sum = hone_sum('promotion', id, workload_id, target_id, record_id,"
	" judged_id, median_ns, gain_lo, gain_hi, n_entrant, n_block, unix_ms, replaced_id);"
	"UPDATE tally SET sum = hone_sum('tally', workload_id, target_id, n_trial, n_failed);"
	"UPDATE naive SET sum = hone_sum('naive', workload_id, target_id, naive_ns, unix_ms);"
	"UPDATE model SET sum = hone_sum('model', target_id, name, text, unix_ms);"
	"UPDATE job SET sum = hone_sum('job', seq, id, json, finished, unix_ms);"
	"CREATE TRIGGER record_fix BEFORE UPDATE ON record BEGIN"
	" SELECT raise(ABORT, 'records are append-only'); END;"
	"CREATE TRIGGER promotion_fix BEFORE UPDATE ON promotion BEGIN"
	" SELECT raise(ABORT, 'promotions are append-only'); END;";
